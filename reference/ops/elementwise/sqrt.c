/* SPDX-License-Identifier: Apache-2.0 */
/** @file sqrt.c SQRT, RSQRT. */
#include "reference/ops/elementwise/unary.h"

static const struct nnv_slot inputs[] = {
    {.id = 0, .name = "input", .var = NNV_T, .rank_min = 1, .lo = 0.0625, .hi = 9, .domain = NNV_DOMAIN_POSITIVE}};

static const struct nnv_sig sqrt_sigs[] = {NNV_SIG(3, FLOAT16), NNV_SIG(3, FLOAT32)};
static const struct nnv_sig rsqrt_sigs[] = {NNV_SIG(3, FLOAT16), NNV_SIG(3, FLOAT32), NNV_SIG(7, QUANT8_ASYMM),
                                            NNV_SIG(7, QUANT8_ASYMM_SIGNED)};

/* The root of 0 is 0; but a number below the smallest normal may be taken as 0. */
static enum nnv_status eval_sqrt(struct nnv_kernel *k, struct nnv_err *err) {
    (void)err;
    const double *x = nnv_real(k, 0);
    if (nnv_noise_replay_all(k, nnv_elems(k, 0), k->out[0])) return NNV_OK;
    for (size_t e = 0, n = nnv_elems(k, 0); e < n; e++) {
        bool hazard = !(x[e] >= 2 * nnv_spread(k, 0, e)) || (x[e] > 0 && x[e] < k->eta);
        double y = k->same_inputs ? nnv_noise_replay(k) : nnv_function(k, sqrt(x[e]), NNV_ULPS_SQRT);
        k->out[0][e] = nnv_hazard(k, y, hazard);
    }
    return NNV_OK;
}

/* Quantised results of 0 and of numbers below it saturate. */
static enum nnv_status eval_rsqrt(struct nnv_kernel *k, struct nnv_err *err) {
    (void)err;
    bool quant = nnv_is_quant(k->call->sig->type[NNV_T]);
    const double *x = nnv_real(k, 0);
    if (nnv_noise_replay_all(k, nnv_elems(k, 0), k->out[0])) return NNV_OK;
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

NNV_UNARY_RECORD(SQRT, 3, "y = the square root of x", inputs, nnv_output, sqrt_sigs, eval_sqrt, NNV_ANY_RANK_SAMPLED,
                 .rounding = NNV_ROUND_TABLE);
NNV_UNARY_RECORD(RSQRT, 3, "y = 1 / the square root of x", inputs, nnv_output, rsqrt_sigs, eval_rsqrt,
                 .rounding = NNV_ROUND_TABLE, NNV_ANY_RANK_DRAWN, NNV_SAMPLE(sample_rsqrt));
