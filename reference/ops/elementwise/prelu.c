/* SPDX-License-Identifier: Apache-2.0 */
/** @file prelu.c PRELU. */
#include "reference/ops/elementwise/binary.h"

enum { X, ALPHA };

static const struct nnv_slot inputs[] = {
    {.id = X, .name = "input", .var = NNV_T, .rank_min = 1, .domain = NNV_DOMAIN_ALL},
    {.id = ALPHA,
     .name = "alpha",
     .var = NNV_T,
     .flags = NNV_PARAM,
     .rank_min = 1,
     .lo = -1.5,
     .hi = 2,
     .domain = NNV_DOMAIN_ALL},
};
static const struct nnv_slot outputs[] = {{.name = "output", .var = NNV_T}};

static const struct nnv_sig sigs[] = {NNV_SIG(3, FLOAT16), NNV_SIG(3, FLOAT32), NNV_SIG(3, QUANT8_ASYMM),
                                      NNV_SIG(4, QUANT8_ASYMM_SIGNED)};

static double slope(struct nnv_kernel *k, const struct nnv_pair *p) {
    bool lost = (nnv_may_vanish(k, p->x) || nnv_may_vanish(k, p->y)) && fabs(p->x * p->y) > k->eta;
    return p->x < 0 ? nnv_hazard(k, p->y * p->x, lost) : p->x;
}

/* The multiplier of a quantised element, whichever side of 0 it lies on. */
static double multiplier(struct nnv_kernel *k, const struct nnv_pair *p) {
    double m = nnv_scale(k, X, 0) / (double)k->call->out[0].operand->scale;
    return p->x < 0 ? m * nnv_scale(k, ALPHA, 0) : m;
}

static enum nnv_status eval(struct nnv_kernel *k, struct nnv_err *err) {
    (void)err;
    if (k->multiplier) nnv_pair_each(k, X, ALPHA, multiplier, k->multiplier);
    nnv_pair_each(k, X, ALPHA, slope, k->out[0]);
    return NNV_OK;
}

NNV_PAIR_RECORD(PRELU, "y = x where x >= 0, else alpha * x, input and alpha broadcast", inputs, outputs, sigs, eval,
                .rounding = NNV_ROUND_LINEAR, .linear = true, NNV_PAIR_DRAWN, NNV_SAMPLE(nnv_binary_sample));
