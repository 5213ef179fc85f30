/* SPDX-License-Identifier: Apache-2.0 */
/** @file local_response_normalization.c LOCAL_RESPONSE_NORMALIZATION. */
#include "reference/ops/norm/norm.h"

enum { X = NNV_NORM_X, RADIUS, BIAS, ALPHA, BETA, AXIS };

static const struct nnv_slot inputs[] = {
    {.id = X, .name = "input", .var = NNV_T, .rank_min = 1, .rank_max = 4, .lo = -4, .hi = 4},
    NNV_SLOT_INT(RADIUS, "radius", NNV_NOT_NEGATIVE),
    NNV_SLOT_NUMBER(BIAS, "bias", NNV_ANY),
    NNV_SLOT_NUMBER(ALPHA, "alpha", NNV_ANY),
    NNV_SLOT_NUMBER(BETA, "beta", NNV_ANY),
    NNV_NORM_AXIS(AXIS),
};

static const struct nnv_sig sigs[] = {
    NNV_SIG_SCALAR(1, FLOAT32, FLOAT32),
    NNV_SIG_SCALAR(3, FLOAT16, FLOAT16),
};

struct params {
    int64_t radius;
    double bias, alpha, beta;
};

/*
 * base^exponent. Accelerators compute e^(exponent * ln base): the logarithm's error of some ulps becomes an error
 * as many times larger in the result as the product is (its absolute error is the result's relative one), and the
 * exponential adds its own. A product below 1 counts as 1: near base 1 the logarithm is good to an absolute error.
 */
static double power(struct nnv_kernel *k, double base, double exponent) {
    double product = fabs(exponent * log(base));
    return nnv_function(k, pow(base, exponent), NNV_ULPS_EXP + (NNV_ULPS_LOG + 1) * fmax(1, product));
}

static void line(struct nnv_kernel *k, const double *x, double *y, struct nnv_lines l, const struct params *p) {
    int64_t n = (int64_t)l.n;
    for (int64_t i = 0; i < n; i++) {
        int64_t first = i > p->radius ? i - p->radius : 0, last = p->radius < n - 1 - i ? i + p->radius : n - 1;
        double sum = 0;
        for (int64_t j = first; j <= last; j++) {
            double v = x[(size_t)j * l.inner];
            sum += v * v;
        }
        sum = nnv_round(k, nnv_sum(k, sum, (double)(last - first + 1), sum, 1));
        double base = nnv_round(k, p->bias + nnv_round(k, p->alpha * sum));
        double y_i = x[(size_t)i * l.inner] * power(k, base, -p->beta);
        y[(size_t)i * l.inner] = nnv_hazard(k, y_i, !(base > 0));
    }
}

static enum nnv_status eval(struct nnv_kernel *k, struct nnv_err *err) {
    (void)err;
    const struct nnv_call *c = k->call;
    struct nnv_lines l = nnv_lines_along(k, X, AXIS);
    struct params p = {nnv_int(c, RADIUS), nnv_num(c, BIAS), nnv_num(c, ALPHA), nnv_num(c, BETA)};
    const double *x = nnv_real(k, X);
    for (size_t i = 0; i < nnv_line_count(&l); i++) {
        size_t at = nnv_line_at(&l, i);
        line(k, x + at, k->out[0] + at, l, &p);
    }
    return NNV_OK;
}

static void sample(struct nnv_sample *s) {
    static const int radii[] = {1, 2, 0, 5, 30};
    static const double biases[] = {1, 0.5, 2}, alphas[] = {0.25, 1, 0.0625}, betas[] = {0.75, 0.5, 1, 1.5};
    nnv_norm_sample(s, AXIS);
    nnv_sample_scalar(s, RADIUS, radii[s->index % 5]);
    nnv_sample_scalar(s, BIAS, biases[s->index % 3]);
    nnv_sample_scalar(s, ALPHA, alphas[s->index % 3]);
    nnv_sample_scalar(s, BETA, betas[s->index % 4]);
}

const struct nnv_op nnv_op_LOCAL_RESPONSE_NORMALIZATION = {
    NNV_OP_NAMED(LOCAL_RESPONSE_NORMALIZATION),
    .level = 1,
    .formula = "y[i] = x[i] / (bias + alpha * sum over i-radius <= j <= i+radius of x[j]^2)^beta, along axis",
    NNV_OP_FORM(inputs, nnv_output),
    NNV_OP_SIGS(sigs),
    .rounding = NNV_ROUND_TABLE,
    .level_of = nnv_norm_level,
    .infer = nnv_same_shape_infer,
    .eval = eval,
    .variants = nnv_norm_variants,
    .sample = sample,
};
