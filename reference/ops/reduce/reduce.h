/* SPDX-License-Identifier: Apache-2.0 */
/** @file reduce.h What MEAN and the REDUCE operations share: a tensor, a set of axes, and whether they stay as 1. */
#ifndef NNV_OPS_REDUCE_H
#define NNV_OPS_REDUCE_H

#include "reference/ops/common.h"

enum { NNV_REDUCE_X, NNV_REDUCE_AXES, NNV_REDUCE_KEEP };

/** The inputs; KEEP_TYPE is that of "keep dims". */
#define NNV_REDUCE_INPUTS(KEEP_TYPE)                                                                                   \
    {.id = NNV_REDUCE_X, .name = "input", .var = NNV_T, .rank_min = 1, .rank_max = 4},                                 \
        {.id = NNV_REDUCE_AXES,                                                                                        \
         .name = "axes",                                                                                               \
         .var = NNV_FIXED,                                                                                             \
         .type = ANEURALNETWORKS_TENSOR_INT32,                                                                         \
         .flags = NNV_PARAM,                                                                                           \
         .rank_min = 1,                                                                                                \
         .rank_max = 1},                                                                                               \
    {                                                                                                                  \
        .id = NNV_REDUCE_KEEP, .name = "keep dims", .var = NNV_FIXED, .type = KEEP_TYPE, .flags = NNV_SCALAR           \
    }

/** float32, float16, quant8_asymm (level 3), quant8_asymm_signed (4): REDUCE_MAX, REDUCE_MIN. */
enum { NNV_REDUCE_SIGS = 4, NNV_REDUCE_FLOAT_SIGS = 2 };
extern const struct nnv_sig nnv_reduce_sigs[NNV_REDUCE_SIGS];
/** The form of the REDUCE operations on numbers. */
extern const struct nnv_form nnv_reduce_forms[1];

/**
 * Negative axes count from the end; an axis may stand more than once. Kept axes have extent 1; where all are
 * reduced and none is kept, the output is [1]. NNV_INVALID names an axis that is out of range.
 */
enum nnv_status nnv_reduce_infer(const struct nnv_call *c, struct nnv_shape *out, struct nnv_err *err);

/** The value of the n numbers that are reduced into one, real ones or those of nnv_units, in row-major order. */
typedef double nnv_fold(struct nnv_kernel *k, const double *v, size_t n);
/** out[e] = unit * fold(the elements of x that fall together in e); x: nnv_real or nnv_units of the input. */
NNV_USE_RESULT enum nnv_status nnv_reduce_eval(struct nnv_kernel *k, const double *x, double unit, nnv_fold *fold,
                                               struct nnv_err *err);

/** One axis (each place, from either end), several, all, an axis twice, kept axes. */
extern const char *const nnv_reduce_variants[];
/** limit: elements of the input at most. Values from lo to hi. */
void nnv_reduce_sample(struct nnv_sample *s, uint32_t limit, double lo, double hi);
/** As above, for booleans: reduces so few elements at a time that both results occur. */
void nnv_reduce_sample_few(struct nnv_sample *s);

#endif
