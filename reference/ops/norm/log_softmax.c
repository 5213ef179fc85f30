/* SPDX-License-Identifier: Apache-2.0 */
/** @file log_softmax.c LOG_SOFTMAX. */
#include "reference/eval/strip.h"
#include "reference/ops/common.h"

enum { X, BETA, AXIS };

static const struct nnv_slot inputs[] = {
    {.id = X,
     .name = "input",
     .var = NNV_T,
     .rank_min = 1,
     NNV_EDGES(0, -0.0, 1, -1, 9, -9, 17, -17, 20, -20, 88, -88, 90, -90, 104, -104, 120, -120, 1e4, -1e4)},
    NNV_SLOT_NUMBER(BETA, "beta", NNV_ANY),
    NNV_SLOT_INT(AXIS, "axis", NNV_AXIS),
};
static const struct nnv_slot outputs[] = {{.name = "output", .var = NNV_T, .rank_min = 1}};

static const struct nnv_sig sigs[] = {
    NNV_SIG_SCALAR(3, FLOAT32, FLOAT32),
    NNV_SIG_SCALAR(3, FLOAT16, FLOAT16),
};

static void line(struct nnv_kernel *k, const double *x, double *y, const struct nnv_lines *l, double beta) {
    double most = x[0]; /* the x with the largest exponent */
    nnv_two sum = {0};
    struct nnv_strip s = nnv_strip_of(k, 3 * l->n + 2, 0);
    for (size_t i = 1; i < l->n; i++)
        if ((x[i * l->inner] - most) * beta > 0) most = x[i * l->inner];
    for (size_t i = 0; i < l->n; i++) {
        const nnv_two less = nnv_two_round(&s, nnv_two_of(x[i * l->inner] - most));
        const nnv_two z = nnv_two_round(&s, less * beta);
        nnv_two_put(k, &y[i * l->inner], z);
        sum += nnv_two_function(&s, nnv_two_map(k, exp, z), NNV_ULPS_EXP);
    }
    sum = nnv_two_sum(&s, sum, (double)l->n, sum[0]);
    const nnv_two log_sum = nnv_two_function(&s, nnv_two_map(k, log, sum), NNV_ULPS_LOG);
    for (size_t i = 0; i < l->n; i++) nnv_two_put(k, &y[i * l->inner], nnv_two_get(k, &y[i * l->inner]) - log_sum);
}

static enum nnv_status eval(struct nnv_kernel *k, struct nnv_err *err) {
    (void)err;
    struct nnv_lines l = nnv_lines_along(k, X, AXIS);
    const double *x = nnv_real(k, X), beta = nnv_num(k->call, BETA);
    for (size_t i = 0; i < nnv_line_count(&l); i++) {
        size_t at = nnv_line_at(&l, i);
        line(k, x + at, k->out[0] + at, &l, beta);
    }
    return NNV_OK;
}

enum { ROW_AXIS = NNV_SHAPE_OWN, ROW_BETA };
static const struct nnv_factor factors[] = {NNV_SHAPE_ANY_RANKS,
                                            NNV_LINE_EXTENTS,
                                            NNV_SIGNED_AXIS_FACTOR,
                                            {.name = "beta", NNV_WORDS("0.75", "2", "0.25", "1.5", "1")}};

static const char *const variants[] = {"axis", "rank5", "large", NULL};

static void sample(struct nnv_sample *s) {
    static const double betas[] = {0.75, 2, 0.25, 1.5, 1}; /* exact in float16 */
    uint32_t rank, dims[NNV_MAX_RANK];
    int axis;
    nnv_sample_axis(s->index, &rank, &axis);
    if (nnv_sample_is(s, "rank5")) {
        rank = 5;
        axis = s->index % 10 - 5;
    }
    if (s->row) {
        rank = nnv_sample_shape(s, dims);
        axis = nnv_row_axis(s, ROW_AXIS, rank);
    } else {
        nnv_sample_dims(s, rank, rank == 1 ? 20 : 300, dims);
    }
    int at = nnv_axis(axis, rank);
    if (dims[at] == 1) dims[at] = 3; /* else all results are 0 */
    struct nnv_sample_arg *x = nnv_sample_tensor(s, X, rank, dims);
    bool large = nnv_sample_is(s, "large"); /* e^x overflows where the maximum is not subtracted */
    x->lo = large ? 90 : -4;
    x->hi = large ? 96 : 4;
    nnv_sample_last_wins(s, x, 1);
    nnv_sample_scalar(s, BETA, betas[s->row ? nnv_sample_value(s, ROW_BETA) : s->index % 5]);
    nnv_sample_scalar(s, AXIS, axis);
}

const struct nnv_op nnv_op_LOG_SOFTMAX = {
    NNV_OP_NAMED(LOG_SOFTMAX),
    .level = 3,
    .formula = "y[i] = z[i] - ln(sum over j of e^z[j]), z[i] = beta * (x[i] - max x), along axis",
    NNV_OP_FORM(inputs, outputs),
    NNV_OP_SIGS(sigs),
    .rounding = NNV_ROUND_TABLE,
    .infer = nnv_same_shape_infer,
    NNV_EVAL(eval),
    .variants = variants,
    NNV_OP_FACTORS(factors),
    NNV_SAMPLE(sample),
};
