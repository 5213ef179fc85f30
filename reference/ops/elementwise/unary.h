/* SPDX-License-Identifier: Apache-2.0 */
/** @file unary.h Elementwise functions of one tensor, input id 0. */
#ifndef NNV_OPS_UNARY_H
#define NNV_OPS_UNARY_H

#include "reference/ops/common.h"

/** out[e] = f(x[e]), where an implementation's f may be wrong by ulps units in the last place. */
void nnv_unary_eval(struct nnv_kernel *k, double (*f)(double), double ulps);

/** "rank1" to "rank4", "wide", "rank5": for operations that take any rank. */
extern const char *const nnv_any_rank_variants[];
extern const struct nnv_factor nnv_any_rank_factors[NNV_SHAPE_OWN];
void nnv_any_rank_sample(struct nnv_sample *s);

/** The record of an operation of one input slot and one output slot; then what else it has. */
#define NNV_UNARY_RECORD(NAME, LEVEL, FORMULA, INPUTS, OUTPUTS, SIGS, EVAL, ...)                                       \
    const struct nnv_op nnv_op_##NAME = {                                                                              \
        NNV_OP_NAMED(NAME),                                                                                            \
        .level = LEVEL,                                                                                                \
        .formula = FORMULA,                                                                                            \
        NNV_OP_FORM(INPUTS, OUTPUTS),                                                                                  \
        NNV_OP_SIGS(SIGS),                                                                                             \
        .unary = true,                                                                                                 \
        .infer = nnv_same_shape_infer,                                                                                 \
        NNV_EVAL(EVAL),                                                                                                \
        __VA_ARGS__,                                                                                                   \
    }
/** How those of ranks 1 to 4 are sampled, and those of any rank (drawn: the hook is to be given). */
#define NNV_RANK_4_SAMPLED                                                                                             \
    .variants = nnv_unary_variants, NNV_OP_FACTORS(nnv_unary_factors), NNV_SAMPLE(nnv_sample_unary)
#define NNV_ANY_RANK_DRAWN .variants = nnv_any_rank_variants, NNV_OP_FACTORS(nnv_any_rank_factors)
#define NNV_ANY_RANK_SAMPLED NNV_ANY_RANK_DRAWN, NNV_SAMPLE(nnv_any_rank_sample)

#endif
