/* SPDX-License-Identifier: Apache-2.0 */
/** @file pow.c POW. */
#include "reference/ops/elementwise/binary.h"

enum { BASE, EXPONENT };

static const struct nnv_slot inputs[] = {
    {.id = BASE, .name = "base", .var = NNV_T, .rank_min = 1, .lo = 0.25, .hi = 4, .domain = NNV_DOMAIN_POSITIVE},
    {.id = EXPONENT,
     .name = "exponent",
     .var = NNV_T,
     .rank_min = 1,
     .lo = -2.5,
     .hi = 2.5,
     NNV_EDGES(0, -0.0, 0.5, -0.5, 1, -1, 1.5, 2, -2, 3, 4, 10, -17)},
};

static const struct nnv_sig sigs[] = {NNV_SIG(3, FLOAT16), NNV_SIG(3, FLOAT32)};

/* An implementation may take e^(y ln x): errors of the logarithm, of the product and of the exponential. */
static double power(struct nnv_kernel *k, const struct nnv_pair *p) {
    double v = pow(p->x, p->y), size = fabs(p->x), spread = nnv_spread(k, BASE, p->i);
    double exponent = size > 0 ? fabs(p->y * log(size)) : 0;
    bool near_0 = !(size > 2 * spread + k->eta) && (size > 0 || !(spread <= 0));
    if (k->noise)
        v = nnv_noise_add(k, v,
                          k->u_i * fabs(v) *
                                  ((2 * nnv_ulps(k, NNV_ULPS_LOG) + 1) * exponent + 2 * nnv_ulps(k, NNV_ULPS_EXP)) +
                              (v != 0 ? k->eta : 0));
    return nnv_hazard(k, v, near_0 || !isfinite(v));
}

static enum nnv_status eval(struct nnv_kernel *k, struct nnv_err *err) {
    (void)err;
    nnv_pair_each(k, BASE, EXPONENT, power, k->out[0]);
    return NNV_OK;
}

/* "square": negative bases have real powers where the exponent is an integer. */
static const char *const variants[] = {"rank1",  "rank2", "rank3", "rank4", "wide",  "one",    "row", "column",
                                       "middle", "both",  "ranks", "batch", "rank5", "square", NULL};

static void sample(struct nnv_sample *s) {
    nnv_binary_sample(s);
    if (!nnv_sample_is(s, "square")) return;
    s->arg[BASE].lo = -3;
    s->arg[BASE].hi = 3;
    s->arg[EXPONENT].lo = s->arg[EXPONENT].hi = 2 + s->index % 2;
}

NNV_PAIR_RECORD(POW, "y = base ^ exponent, base and exponent broadcast", inputs, nnv_output, sigs, eval,
                .rounding = NNV_ROUND_TABLE, .variants = variants, NNV_OP_FACTORS(nnv_pair_factors),
                NNV_SAMPLE(sample));
