/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file flow.h What the eval hook of control flow works with: values that are passed on unseen, in all rows at once,
 * and subgraphs that are run on them.
 *
 * All rows go through the subgraphs in lock step. Which way to go is row 0's decision; where another row would go
 * another way, an implementation might, too: all outputs of the operation are then "not compared".
 */
#ifndef NNV_EVAL_FLOW_H
#define NNV_EVAL_FLOW_H

#include "reference/eval/kernel.h"

/** A value in all rows: the actual shape and the memory behind it. Whoever holds it frees it. */
struct nnv_flow_value {
    struct nnv_shape shape;
    void *data;    /**< row 0 in the operand's type */
    double *rows;  /**< as nnv_cell's */
    double *exact; /**< as nnv_cell's */
    bool borrowed; /**< the memory is the outer subgraph's */
};

/** The value of input pos of the operation, borrowed. */
struct nnv_flow_value nnv_flow_input(const struct nnv_flow *f, uint32_t pos);
/** The subgraph that input pos of the operation, a MODEL, refers to. */
const struct nnv_subgraph *nnv_flow_subgraph(const struct nnv_flow *f, uint32_t pos);
/**
 * Runs the subgraph of input pos on as many values as it has inputs; results has room for its outputs, and is theirs on
 * success. NNV_INVALID: a value's shape is not what the subgraph declares, or what an operation in it says.
 */
NNV_USE_RESULT enum nnv_status nnv_flow_run(struct nnv_flow *f, uint32_t pos, const struct nnv_flow_value *values,
                                            struct nnv_flow_value *results, struct nnv_err *err);
/** A condition, TENSOR_BOOL8 of one element, as row 0 has it. */
NNV_USE_RESULT enum nnv_status nnv_flow_test(struct nnv_flow *f, const struct nnv_flow_value *value, bool *truth,
                                             struct nnv_err *err);
/** NNV_TIMEOUT if the operation has been running for longer than a loop may. */
NNV_USE_RESULT enum nnv_status nnv_flow_tick(const struct nnv_flow *f, struct nnv_err *err);
/** Makes *value output i of the operation, and takes it away. All tests must have been made. */
NNV_USE_RESULT enum nnv_status nnv_flow_give(struct nnv_flow *f, uint32_t i, struct nnv_flow_value *value,
                                             struct nnv_err *err);
void nnv_flow_free(struct nnv_flow_value *value);

#endif
