/* SPDX-License-Identifier: Apache-2.0 */
/** @file line_normalization.c L2_NORMALIZATION, LOCAL_RESPONSE_NORMALIZATION. */
#include "reference/eval/strip.h"
#include "reference/ops/common.h"

enum { X };

/* Ranks below 4 came with level 3. */
static int level_of(const struct nnv_call *c) {
    const struct nnv_shape *x = &c->in[X].shape;
    return x->known_rank && x->rank < 4 ? 3 : 1;
}

static const char *const variants[] = {"rank1", "rank2", "rank3", "rank4", "axis", NULL};

enum { ROW_AXIS = NNV_SHAPE_OWN, ROW_RADIUS, ROW_BETA };
static const struct nnv_factor l2_factors[] = {NNV_SHAPE_RANKS(4, 1, 2, 3), NNV_LINE_EXTENTS, NNV_LATE_AXIS_FACTOR};
static const struct nnv_factor lrn_factors[] = {NNV_SHAPE_FACTORS,
                                                NNV_LATE_AXIS_FACTOR,
                                                {.name = "radius", NNV_VALUES(2, 0, 1, 5, 30)},
                                                {.name = "beta", NNV_WORDS("0.75", "0.5", "1", "1.5")}};

/* Sets the input and, for "axis", the axis: all axes of all ranks from either end, one an index. */
static void sample_x(struct nnv_sample *s, int axis) {
    bool with_axis = s->row ? !nnv_row_axis_absent(s, ROW_AXIS) : nnv_sample_is(s, "axis");
    uint32_t dims[4], rank = (uint32_t)s->variant + 1;
    int at = -1;
    if (s->row) {
        rank = nnv_sample_shape(s, dims);
        at = nnv_row_axis(s, ROW_AXIS, rank);
    } else {
        if (with_axis) nnv_sample_axis(s->index, &rank, &at);
        nnv_sample_dims(s, rank, rank == 1 ? 20 : 300, dims);
    }
    nnv_sample_last_wins(s, nnv_sample_tensor(s, X, rank, dims), 1);
    if (with_axis) nnv_sample_scalar(s, axis, at);
}

/* ----------------------------------------------------------- L2_NORMALIZATION */

enum { L2_AXIS = 1 };

static const struct nnv_slot l2_inputs[] = {
    {.id = X, .name = "input", .var = NNV_T, .rank_min = 1, .rank_max = 4},
    NNV_SLOT_LATE_AXIS(L2_AXIS),
};
static const struct nnv_slot l2_outputs[] = {{.name = "output", .var = NNV_T, .quant = NNV_Q_UNIT_128}};

static const struct nnv_sig l2_sigs[] = {NNV_SIG(1, FLOAT32), NNV_SIG(3, FLOAT16), NNV_SIG(3, QUANT8_ASYMM),
                                         NNV_SIG(4, QUANT8_ASYMM_SIGNED)};

/*
 * An all-zero line gives zeros. Between that and this sum of squares the result hangs on the implementation's
 * guard against division by zero (1e-6 on the norm, 1e-12 on the sum ...).
 */
#define TINY 1e-10

/* x: numbers in units of the input's scale. */
static void l2_line(struct nnv_kernel *k, const double *x, size_t at, struct nnv_lines l, double unit) {
    struct nnv_strip hooks = nnv_strip_of(k, 3 + l.n, 0);
    double sum = k->same_inputs && hooks.hook ? hooks.hook[0].value : 0, surely = sum;
    bool moves = false;
    for (size_t i = 0; i < l.n && !k->same_inputs; i++) {
        size_t e = at + i * l.inner;
        sum += x[e] * x[e];
        double d = nnv_spread(k, X, e) / unit, rest = fmax(fabs(x[e]) - 3 * d, 0);
        surely += rest * rest;
        moves = moves || !(d == 0);
    }
    bool hazard = (moves || sum > 0) && !(surely * unit * unit > fmax(k->eta, TINY));
    const nnv_two s = nnv_two_round(&hooks, nnv_two_sum(&hooks, nnv_two_of(sum), (double)l.n, sum));
    const nnv_two norm = nnv_two_function(&hooks, (nnv_two){sqrt(fmax(s[0], 0)), sqrt(fmax(s[1], 0))}, NNV_ULPS_SQRT);
    for (size_t i = 0; i < l.n; i++) {
        size_t e = at + i * l.inner;
        nnv_two y = nnv_two_quotient(&hooks, sum > 0 ? x[e] / norm : nnv_two_of(0));
        if (hazard) y = (nnv_two){nnv_hazard(k, y[0], true), nnv_hazard(k, y[1], true)};
        nnv_two_put(k, &k->out[0][e], y);
    }
}

static enum nnv_status l2_eval(struct nnv_kernel *k, struct nnv_err *err) {
    (void)err;
    struct nnv_lines l = nnv_lines_along(k, X, L2_AXIS);
    const double *x = nnv_units(k, X); /* the result does not depend on the unit */
    for (size_t i = 0; i < nnv_line_count(&l); i++) l2_line(k, x, nnv_line_at(&l, i), l, nnv_scale(k, X, 0));
    return NNV_OK;
}

static void l2_sample(struct nnv_sample *s) { sample_x(s, L2_AXIS); }

/* ----------------------------------------------- LOCAL_RESPONSE_NORMALIZATION */

enum { RADIUS = 1, BIAS, ALPHA, BETA, LRN_AXIS };

static const struct nnv_slot lrn_inputs[] = {
    {.id = X, .name = "input", .var = NNV_T, .rank_min = 1, .rank_max = 4, .lo = -4, .hi = 4},
    NNV_SLOT_INT(RADIUS, "radius", NNV_NOT_NEGATIVE),
    NNV_SLOT_NUMBER(BIAS, "bias", NNV_ANY),
    NNV_SLOT_NUMBER(ALPHA, "alpha", NNV_ANY),
    NNV_SLOT_NUMBER(BETA, "beta", NNV_ANY),
    NNV_SLOT_LATE_AXIS(LRN_AXIS),
};

static const struct nnv_sig lrn_sigs[] = {
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
static nnv_two power(struct nnv_strip *s, nnv_two base, double exponent) {
    const double product = nnv_strip_writes(s) ? fabs(exponent * log(base[0])) : 1, y = pow(base[0], exponent);
    return nnv_two_function(s, (nnv_two){y, s->k->next ? pow(base[1], exponent) : y},
                            nnv_ulps(s->k, NNV_ULPS_EXP) + (nnv_ulps(s->k, NNV_ULPS_LOG) + 1) * fmax(1, product));
}

static void lrn_line(struct nnv_kernel *k, const double *x, double *y, struct nnv_lines l, const struct params *p) {
    int64_t n = (int64_t)l.n;
    struct nnv_strip s = nnv_strip_of(k, 5 * l.n, 0);
    for (int64_t i = 0; i < n; i++) {
        int64_t first = i > p->radius ? i - p->radius : 0, last = p->radius < n - 1 - i ? i + p->radius : n - 1;
        double squares = 0;
        for (int64_t j = first; j <= last && !k->same_inputs; j++) {
            double v = x[(size_t)j * l.inner];
            squares += v * v;
        }
        nnv_two sum = k->same_inputs ? nnv_two_replay(&s)
                                     : nnv_two_sum(&s, nnv_two_of(squares), (double)(last - first + 1), squares);
        sum = nnv_two_round(&s, sum);
        const nnv_two base = nnv_two_round(&s, p->bias + nnv_two_round(&s, p->alpha * sum));
        const nnv_two y_i = x[(size_t)i * l.inner] * power(&s, base, -p->beta);
        nnv_two_put(k, &y[(size_t)i * l.inner], nnv_two_positive(k, y_i, base));
    }
}

static enum nnv_status lrn_eval(struct nnv_kernel *k, struct nnv_err *err) {
    (void)err;
    const struct nnv_call *c = k->call;
    struct nnv_lines l = nnv_lines_along(k, X, LRN_AXIS);
    struct params p = {nnv_int(c, RADIUS), nnv_num(c, BIAS), nnv_num(c, ALPHA), nnv_num(c, BETA)};
    const double *x = nnv_real(k, X);
    for (size_t i = 0; i < nnv_line_count(&l); i++) {
        size_t at = nnv_line_at(&l, i);
        lrn_line(k, x + at, k->out[0] + at, l, &p);
    }
    return NNV_OK;
}

static void lrn_sample(struct nnv_sample *s) {
    static const int radii[] = {1, 2, 0, 5, 30};
    static const double biases[] = {1, 0.5, 2}, alphas[] = {0.25, 1, 0.0625}, betas[] = {0.75, 0.5, 1, 1.5};
    sample_x(s, LRN_AXIS);
    nnv_sample_scalar(s, RADIUS, s->row ? nnv_sample_value(s, ROW_RADIUS) : radii[s->index % 5]);
    nnv_sample_scalar(s, BIAS, biases[s->index % 3]);
    nnv_sample_scalar(s, ALPHA, alphas[s->index % 3]);
    nnv_sample_scalar(s, BETA, betas[s->row ? nnv_sample_value(s, ROW_BETA) : s->index % 4]);
}

#define RECORD(NAME, KIND, OUTPUTS, FORMULA)                                                                           \
    const struct nnv_op nnv_op_##NAME = {                                                                              \
        NNV_OP_NAMED(NAME),        .level = 1,                                                                         \
        .formula = FORMULA,        NNV_OP_FORM(KIND##_inputs, OUTPUTS),                                                \
        NNV_OP_SIGS(KIND##_sigs),  .rounding = NNV_ROUND_TABLE,                                                        \
        .level_of = level_of,      .infer = nnv_same_shape_infer,                                                      \
        NNV_EVAL(KIND##_eval),     .variants = variants,                                                               \
        NNV_SAMPLE(KIND##_sample), NNV_OP_FACTORS(KIND##_factors),                                                     \
    }

RECORD(L2_NORMALIZATION, l2, l2_outputs, "y[i] = x[i] / sqrt(sum over j of x[j]^2), along axis; 0 where all are 0");
RECORD(LOCAL_RESPONSE_NORMALIZATION, lrn, nnv_output,
       "y[i] = x[i] / (bias + alpha * sum over i-radius <= j <= i+radius of x[j]^2)^beta, along axis");
