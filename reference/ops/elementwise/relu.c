/* SPDX-License-Identifier: Apache-2.0 */
/** @file relu.c RELU, RELU1, RELU6. */
#include "reference/ops/elementwise/unary.h"

static const struct nnv_slot relu_inputs[] = {
    {.id = 0, .name = "input", .var = NNV_T, .rank_min = 1, .rank_max = 4, .domain = NNV_DOMAIN_ALL}};
static const struct nnv_slot relu1_inputs[] = {{.id = 0,
                                                .name = "input",
                                                .var = NNV_T,
                                                .rank_min = 1,
                                                .rank_max = 4,
                                                .domain = NNV_DOMAIN_ALL,
                                                .lo = -2,
                                                .hi = 2}};
static const struct nnv_slot relu6_inputs[] = {{.id = 0,
                                                .name = "input",
                                                .var = NNV_T,
                                                .rank_min = 1,
                                                .rank_max = 4,
                                                .domain = NNV_DOMAIN_ALL,
                                                .lo = -4,
                                                .hi = 9}};
static const struct nnv_slot outputs[] = {{.name = "output", .var = NNV_T, .quant = NNV_Q_SAME}};

static const struct nnv_sig sigs[] = {NNV_SIG(1, FLOAT32), NNV_SIG(1, QUANT8_ASYMM), NNV_SIG(3, FLOAT16),
                                      NNV_SIG(4, QUANT8_ASYMM_SIGNED)};

/* NaN stays NaN: in a perturbed row it means "not compared". */
static enum nnv_status clamp(struct nnv_kernel *k, double lo, double hi) {
    const double *x = nnv_real(k, 0);
    for (size_t e = 0, n = nnv_elems(k, 0); e < n; e++) k->out[0][e] = x[e] < lo ? lo : x[e] > hi ? hi : x[e];
    return NNV_OK;
}

#define RECORD(NAME, FORMULA, INPUTS, LO, HI)                                                                          \
    static enum nnv_status eval_##NAME(struct nnv_kernel *k, struct nnv_err *err) {                                    \
        (void)err;                                                                                                     \
        return clamp(k, LO, HI);                                                                                       \
    }                                                                                                                  \
    NNV_UNARY_RECORD(NAME, 1, FORMULA, INPUTS, outputs, sigs, eval_##NAME, NNV_RANK_4_SAMPLED,                         \
                     .rounding = NNV_ROUND_NONE, .zero = NNV_ZERO_ANY, .linear = true)

RECORD(RELU, "y = max(0, x)", relu_inputs, 0, INFINITY);
RECORD(RELU1, "y = min(1, max(-1, x))", relu1_inputs, -1, 1);
RECORD(RELU6, "y = min(6, max(0, x))", relu6_inputs, 0, 6);
