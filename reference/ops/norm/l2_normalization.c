/* SPDX-License-Identifier: Apache-2.0 */
/** @file l2_normalization.c L2_NORMALIZATION. */
#include "reference/ops/norm/norm.h"

enum { X = NNV_NORM_X, AXIS };

static const struct nnv_slot inputs[] = {
    {.id = X, .name = "input", .var = NNV_T, .rank_min = 1, .rank_max = 4},
    NNV_NORM_AXIS(AXIS),
};
static const struct nnv_slot outputs[] = {{.name = "output", .var = NNV_T, .quant = NNV_Q_UNIT_128}};

static const struct nnv_sig sigs[] = {NNV_SIG(1, FLOAT32), NNV_SIG(3, FLOAT16), NNV_SIG(3, QUANT8_ASYMM),
                                      NNV_SIG(4, QUANT8_ASYMM_SIGNED)};

/*
 * An all-zero line gives zeros. Between that and this sum of squares the result hangs on the implementation's
 * guard against division by zero (1e-6 on the norm, 1e-12 on the sum ...).
 */
#define TINY 1e-10

/* x: numbers in units of the input's scale. */
static void line(struct nnv_kernel *k, const double *x, size_t at, struct nnv_lines l, double unit) {
    double sum = 0, surely = 0;
    bool moves = false;
    for (size_t i = 0; i < l.n; i++) {
        size_t e = at + i * l.inner;
        sum += x[e] * x[e];
        double d = nnv_spread(k, X, e) / unit, rest = fmax(fabs(x[e]) - 3 * d, 0);
        surely += rest * rest;
        moves = moves || !(d == 0);
    }
    bool hazard = (moves || sum > 0) && !(surely * unit * unit > fmax(k->eta, TINY));
    double s = nnv_round(k, nnv_sum(k, sum, (double)l.n, sum, 1));
    double norm = nnv_function(k, sqrt(fmax(s, 0)), NNV_ULPS_SQRT);
    for (size_t i = 0; i < l.n; i++) {
        size_t e = at + i * l.inner;
        double y = nnv_quotient(k, sum > 0 ? x[e] / norm : 0);
        k->out[0][e] = nnv_hazard(k, y, hazard);
    }
}

static enum nnv_status eval(struct nnv_kernel *k, struct nnv_err *err) {
    (void)err;
    struct nnv_lines l = nnv_lines_along(k, X, AXIS);
    const double *x = nnv_units(k, X); /* the result does not depend on the unit */
    for (size_t i = 0; i < nnv_line_count(&l); i++) line(k, x, nnv_line_at(&l, i), l, nnv_scale(k, X, 0));
    return NNV_OK;
}

static void sample(struct nnv_sample *s) { nnv_norm_sample(s, AXIS); }

const struct nnv_op nnv_op_L2_NORMALIZATION = {
    NNV_OP_NAMED(L2_NORMALIZATION),
    .level = 1,
    .formula = "y[i] = x[i] / sqrt(sum over j of x[j]^2), along axis; 0 where all are 0",
    NNV_OP_FORM(inputs, outputs),
    NNV_OP_SIGS(sigs),
    .rounding = NNV_ROUND_TABLE,
    .level_of = nnv_norm_level,
    .infer = nnv_same_shape_infer,
    .eval = eval,
    .variants = nnv_norm_variants,
    .sample = sample,
};
