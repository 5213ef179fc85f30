/* SPDX-License-Identifier: Apache-2.0 */
/** @file softmax.c SOFTMAX. */
#include "reference/eval/strip.h"
#include "reference/ops/common.h"

enum { X, BETA, AXIS };

static const struct nnv_slot inputs[] = {
    {.id = X,
     .name = "input",
     .var = NNV_T,
     .rank_min = 1,
     .rank_max = 4,
     .lo = -4,
     .hi = 4,
     NNV_EDGES(0, -0.0, 1, -1, 9, -9, 17, -17, 20, -20, 88, -88, 90, -90, 104, -104, 120, -120, 1e4, -1e4)},
    NNV_SLOT_NUMBER(BETA, "beta", NNV_POSITIVE),
    NNV_SLOT_LATE_AXIS(AXIS),
};
static const struct nnv_slot outputs[] = {{.name = "output", .var = NNV_T, .quant = NNV_Q_UNIT_256}};

static const struct nnv_sig sigs[] = {
    NNV_SIG_SCALAR(1, FLOAT32, FLOAT32),
    NNV_SIG_SCALAR(1, QUANT8_ASYMM, FLOAT32),
    NNV_SIG_SCALAR(3, FLOAT16, FLOAT16),
    NNV_SIG_SCALAR(4, QUANT8_ASYMM_SIGNED, FLOAT32),
};

/* Ranks 2 and 4 came first. */
static int level_of(const struct nnv_call *c) {
    const struct nnv_shape *x = &c->in[0].shape;
    return x->known_rank && x->rank % 2 == 1 ? 3 : 1;
}

static void line(struct nnv_kernel *k, const double *x, double *y, size_t n, size_t step, double beta) {
    double max = -INFINITY;
    nnv_two sum = {0};
    struct nnv_strip s = nnv_strip_of(k, 4 * n + 1, 0);
    for (size_t i = 0; i < n; i++) max = fmax(max, x[i * step]);
    for (size_t i = 0; i < n; i++) {
        const nnv_two z = nnv_two_round(&s, nnv_two_round(&s, nnv_two_of(x[i * step] - max)) * beta);
        const nnv_two t = nnv_two_function(&s, nnv_two_map(k, exp, z), NNV_ULPS_EXP);
        nnv_two_put(k, &y[i * step], t);
        sum += t;
    }
    sum = nnv_two_sum(&s, sum, (double)n, sum[0]);
    for (size_t i = 0; i < n; i++)
        nnv_two_put(k, &y[i * step], nnv_two_quotient(&s, nnv_two_get(k, &y[i * step]) / sum));
}

static enum nnv_status eval(struct nnv_kernel *k, struct nnv_err *err) {
    struct nnv_lines l = nnv_lines_along(k, X, AXIS);
    const double *x = nnv_real(k, X), beta = nnv_num(k->call, BETA);
    (void)err;
    for (size_t i = 0; i < nnv_line_count(&l); i++) {
        size_t at = nnv_line_at(&l, i);
        line(k, x + at, k->out[0] + at, l.n, l.inner, beta);
    }
    return NNV_OK;
}

enum { ROW_AXIS = NNV_SHAPE_OWN, ROW_BETA };
static const struct nnv_factor factors[] = {NNV_SHAPE_RANKS(4, 1, 2, 3),
                                            NNV_LINE_EXTENTS,
                                            NNV_LATE_AXIS_FACTOR,
                                            {.name = "beta", NNV_WORDS("0.75", "2", "0.25", "1.5", "1", "12")}};

static const char *const variants[] = {"rank1", "rank2", "rank3", "rank4", "axis", "large", NULL};

static void sample(struct nnv_sample *s) {
    static const double betas[] = {0.75, 2, 0.25, 1.5, 1, 12}; /* exact in float16 */
    bool axis = s->row ? !nnv_row_axis_absent(s, ROW_AXIS) : nnv_sample_is(s, "axis");
    bool large = nnv_sample_is(s, "large");
    int at = -1;
    uint32_t rank = large ? 2 : (uint32_t)s->variant + 1, dims[4];
    if (s->row) {
        rank = nnv_sample_shape(s, dims);
        at = nnv_row_axis(s, ROW_AXIS, rank);
    } else {
        if (axis) nnv_sample_axis(s->index, &rank, &at);
        nnv_sample_dims(s, rank, rank == 1 ? 20 : 300, dims);
    }
    if (large && s->index == 5) { /* more lines than 16 bits count */
        dims[0] = UINT16_MAX + 2;
        dims[1] = 2;
    }
    if (s->empty) dims[0] = 0;
    struct nnv_sample_arg *x = nnv_sample_tensor(s, X, rank, dims);
    if (large) { /* e^x overflows where the maximum is not subtracted */
        x->lo = 90;
        x->hi = 96;
    }
    nnv_sample_last_wins(s, x, 1);
    nnv_sample_scalar(s, BETA, betas[s->row ? nnv_sample_value(s, ROW_BETA) : s->index % 5]);
    if (axis) nnv_sample_scalar(s, AXIS, at);
}

const struct nnv_op nnv_op_SOFTMAX = {
    NNV_OP_NAMED(SOFTMAX),
    .level = 1,
    .formula = "y[i] = e^(beta * (x[i] - max x)) / sum over j of e^(beta * (x[j] - max x)), along axis",
    NNV_OP_FORM(inputs, outputs),
    NNV_OP_SIGS(sigs),
    .rounding = NNV_ROUND_TABLE,
    .zero = NNV_ZERO_ANY,
    .level_of = level_of,
    .infer = nnv_same_shape_infer,
    NNV_EVAL(eval),
    .variants = variants,
    NNV_OP_FACTORS(factors),
    NNV_SAMPLE(sample),
};
