/* SPDX-License-Identifier: Apache-2.0 */
/** @file sqrt.c SQRT, RSQRT. */
#include "reference/ops/elementwise/unary.h"

static const struct nnv_slot inputs[] = {
    {.id = 0, .name = "input", .var = NNV_T, .rank_min = 1, .lo = 0.0625, .hi = 9}};
static const struct nnv_slot outputs[] = {{.name = "output", .var = NNV_T}};
static const struct nnv_form forms[] = {{"", inputs, 1, outputs, 1}};

static const struct nnv_sig sigs[] = {
    {3, {[NNV_T] = ANEURALNETWORKS_TENSOR_FLOAT16}},
    {3, {[NNV_T] = ANEURALNETWORKS_TENSOR_FLOAT32}},
    {7, {[NNV_T] = ANEURALNETWORKS_TENSOR_QUANT8_ASYMM}},
    {7, {[NNV_T] = ANEURALNETWORKS_TENSOR_QUANT8_ASYMM_SIGNED}},
};
enum { FLOAT_SIGS = 2, ALL_SIGS = 4 };

/* The root of 0 is 0; but a number below the smallest normal may be taken as 0. */
static enum nnv_status eval_sqrt(struct nnv_kernel *k, struct nnv_err *err) {
    (void)err;
    const double *x = nnv_real(k, 0);
    for (size_t e = 0, n = nnv_elems(k, 0); e < n; e++) {
        bool hazard = !(x[e] >= 2 * nnv_spread(k, 0, e)) || (x[e] > 0 && x[e] < k->eta);
        k->out[0][e] = nnv_hazard(k, nnv_function(k, sqrt(x[e]), NNV_ULPS_SQRT), hazard);
    }
    return NNV_OK;
}

/* Quantised results of 0 and of numbers below it saturate. */
static enum nnv_status eval_rsqrt(struct nnv_kernel *k, struct nnv_err *err) {
    (void)err;
    bool quant = nnv_is_quant(k->call->sig->type[NNV_T]);
    const double *x = nnv_real(k, 0);
    for (size_t e = 0, n = nnv_elems(k, 0); e < n; e++) {
        bool hazard = !(x[e] > 2 * nnv_spread(k, 0, e) + k->eta);
        double y = quant && x[e] <= 0 ? (double)INFINITY : 1 / sqrt(x[e]);
        k->out[0][e] = nnv_hazard(k, nnv_function(k, y, NNV_ULPS_RSQRT), hazard);
    }
    return NNV_OK;
}

/* Codes of 0 and below are among those of a sweep: the results' range says nothing. */
static void sample_rsqrt(struct nnv_sample *s) {
    static const float scales[] = {0.0117f, 0.023f, 0.0071f};
    nnv_any_rank_sample(s);
    s->out_scale = scales[s->index % 3];
    s->out_zero_point = s->sig->type[NNV_T] == ANEURALNETWORKS_TENSOR_QUANT8_ASYMM ? 11 : -117;
}

#define RECORD(NAME, FORMULA, NSIGS, EVAL, SAMPLE)                                                                     \
    const struct nnv_op nnv_op_##NAME = {                                                                              \
        .code = ANEURALNETWORKS_##NAME,                                                                                \
        .name = #NAME,                                                                                                 \
        .level = 3,                                                                                                    \
        .formula = FORMULA,                                                                                            \
        .forms = forms,                                                                                                \
        .nforms = 1,                                                                                                   \
        .sigs = sigs,                                                                                                  \
        .nsigs = NSIGS,                                                                                                \
        .rounding = NNV_ROUND_TABLE,                                                                                   \
        .unary = true,                                                                                                 \
        .infer = nnv_same_shape_infer,                                                                                 \
        .eval = EVAL,                                                                                                  \
        .variants = nnv_any_rank_variants,                                                                             \
        .sample = SAMPLE,                                                                                              \
    }

RECORD(SQRT, "y = the square root of x", FLOAT_SIGS, eval_sqrt, nnv_any_rank_sample);
RECORD(RSQRT, "y = 1 / the square root of x", ALL_SIGS, eval_rsqrt, sample_rsqrt);
