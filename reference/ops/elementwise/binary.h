/* SPDX-License-Identifier: Apache-2.0 */
/** @file binary.h What the broadcasting arithmetic operations share: inputs have ids 0 and 1, the activation 2. */
#ifndef NNV_OPS_BINARY_H
#define NNV_OPS_BINARY_H

#include "reference/ops/common.h"

/** int32 takes no activation. */
enum nnv_status nnv_binary_check(const struct nnv_call *c, struct nnv_err *err);
/** Output 0 is the broadcast of inputs 0 and 1. */
enum nnv_status nnv_binary_infer(const struct nnv_call *c, struct nnv_shape *out, struct nnv_err *err);
/** One element of each input: values and element numbers. */
struct nnv_pair {
    double x, y;
    size_t i, j;
};
/** to[e] = f(pair e) over the broadcast shape of inputs a and b, that of output 0; f may call hooks. */
void nnv_pair_each(struct nnv_kernel *k, int a, int b, double (*f)(struct nnv_kernel *k, const struct nnv_pair *p),
                   double *to);
/** out[e] = f(a[e], b[e]) over the broadcast shape. */
void nnv_binary_eval(struct nnv_kernel *k, int a, int b, double (*f)(double, double));
/** Equal shapes of rank 1 to 4, the ways of broadcasting, and the activations. */
extern const char *const nnv_binary_variants[];
/** The factors of operations on two broadcast tensors: those of shapes, and these. */
enum { NNV_BINARY_BROADCAST = NNV_SHAPE_OWN, NNV_BINARY_SMALLER, NNV_PAIR_FACTORS, NNV_BINARY_FACTORS };
extern const struct nnv_factor nnv_binary_factors[NNV_BINARY_FACTORS]; /**< with the activation */
extern const struct nnv_factor nnv_pair_factors[NNV_PAIR_FACTORS];     /**< without, ranks up to 5 */
void nnv_binary_sample(struct nnv_sample *s);

/** Inputs 0 and 1 of any rank, for operations without an activation. */
#define NNV_PAIR_INPUTS                                                                                                \
    {.id = 0, .name = "a", .var = NNV_T, .rank_min = 1, .domain = NNV_DOMAIN_ALL}, {                                   \
        .id = 1, .name = "b", .var = NNV_T, .rank_min = 1, .domain = NNV_DOMAIN_ALL                                    \
    }
/** The variants that go with them: no activation, ranks up to 5; drawn by nnv_binary_sample. */
extern const char *const nnv_pair_variants[];

#define NNV_PAIR_DRAWN .variants = nnv_pair_variants, NNV_OP_FACTORS(nnv_pair_factors)

/** The record of an operation of level 3 on two broadcast inputs; then what else it has. */
#define NNV_PAIR_RECORD(NAME, FORMULA, INPUTS, OUTPUTS, SIGS, EVAL, ...)                                               \
    const struct nnv_op nnv_op_##NAME = {                                                                              \
        NNV_OP_NAMED(NAME),           .level = 3,        .formula = FORMULA,                                           \
        NNV_OP_FORM(INPUTS, OUTPUTS), NNV_OP_SIGS(SIGS), .pairs = true,                                                \
        .infer = nnv_binary_infer,    NNV_EVAL(EVAL),    __VA_ARGS__,                                                  \
    }

#endif
