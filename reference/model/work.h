/* SPDX-License-Identifier: Apache-2.0 */
/** @file work.h How much arithmetic the operations of a model are, and how many bytes they need move at least. */
#ifndef NNV_MODEL_WORK_H
#define NNV_MODEL_WORK_H

#include "reference/model/op.h"

/** NaN: not known, as of control flow and of shapes that only values tell. */
struct nnv_op_work {
    double operations; /**< of arithmetic: a multiplication with its addition is two */
    double bytes;      /**< of tensors: each that is read, and each that is written, once */
    int32_t type;      /**< OperandCode of the first input: in what the arithmetic is done */
};

/** A convolution: each of `met` values, the results (transposed: the operand's), meets what one channel has of it. */
double nnv_work_convolution(double filter, double channels, double met);
/** Sums of products. */
double nnv_work_product(double results, double terms);

/**
 * The work of each operation of the main subgraph (noperations entries) of a valid model, and of the whole: all
 * operations; the bytes of its inputs, constants and outputs alone, since what lies between can stay in caches; and the
 * type of the operation that has most to do. What an operation does, its record's slots tell:
 * a filter meets each pixel of the output (transposed: of the input), what lies in the padding counted as well; each
 * constant matrix meets each row of the input; a window, each element of the output. Others count one for each element
 * of their largest tensor; what rounds nothing and has no window (it moves or chooses) counts none.
 */
NNV_USE_RESULT enum nnv_status nnv_model_work(const struct nnv_model *model, struct nnv_arena *arena,
                                              struct nnv_op_work *each, struct nnv_op_work *whole, struct nnv_err *err);

#endif
