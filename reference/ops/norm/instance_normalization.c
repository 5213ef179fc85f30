/* SPDX-License-Identifier: Apache-2.0 */
/** @file instance_normalization.c INSTANCE_NORMALIZATION. */
#include "reference/eval/strip.h"
#include "reference/ops/common.h"

enum { X, GAMMA, BETA, EPSILON, NCHW };

static const struct nnv_slot inputs[] = {
    {.id = X, .name = "input", .var = NNV_T, .rank_min = 4, .rank_max = 4},
    NNV_SLOT_NUMBER(GAMMA, "gamma", NNV_ANY),
    NNV_SLOT_NUMBER(BETA, "beta", NNV_ANY),
    NNV_SLOT_NUMBER(EPSILON, "epsilon", NNV_ANY),
    NNV_SLOT_BOOL(NCHW, "nchw"),
};
static const struct nnv_slot outputs[] = {{.name = "output", .var = NNV_T, .rank_min = 4, .rank_max = 4}};

static const struct nnv_sig sigs[] = {
    NNV_SIG_SCALAR(3, FLOAT32, FLOAT32),
    NNV_SIG_SCALAR(3, FLOAT16, FLOAT16),
};

/* One channel of one batch: x and y lie at its first element. */
static void channel(struct nnv_kernel *k, const struct nnv_image_layout *m, const double *x, double *y) {
    const double gamma = nnv_num(k->call, GAMMA), beta = nnv_num(k->call, BETA), eps = nnv_num(k->call, EPSILON);
    const size_t n = (size_t)m->h * m->w, step = m->sw; /* in either layout elements lie evenly */
    double all = 0, abs = 0;
    for (size_t i = 0; i < n && !k->same_inputs; i++) {
        all += x[i * step];
        abs += fabs(x[i * step]);
    }
    struct nnv_strip s = nnv_strip_of(k, 2 + n, 0);
    const nnv_two sum = k->same_inputs ? nnv_two_replay(&s) : nnv_two_sum(&s, nnv_two_of(all), (double)n, abs);
    const nnv_two mean = nnv_two_round(&s, sum / (double)n);
    nnv_two squares = {0};
    for (size_t i = 0; i < n; i++) {
        const nnv_two d = nnv_two_round(&s, x[i * step] - mean);
        nnv_two_put(k, &y[i * step], d);
        squares += d * d;
    }
    s = nnv_strip_of(k, 4 + 2 * n, 0);
    const nnv_two variance = nnv_two_round(&s, nnv_two_sum(&s, squares, (double)n, squares[0]) / (double)n);
    const nnv_two root = nnv_two_sqrt(nnv_two_round(&s, variance + eps));
    const nnv_two r = nnv_two_function(&s, 1 / root, NNV_ULPS_RSQRT);
    for (size_t i = 0; i < n; i++) {
        const nnv_two d = nnv_two_get(k, &y[i * step]);
        nnv_two_put(k, &y[i * step], nnv_two_round(&s, nnv_two_round(&s, d * r) * gamma) + beta);
    }
}

static enum nnv_status eval(struct nnv_kernel *k, struct nnv_err *err) {
    (void)err;
    struct nnv_image_layout m = nnv_image_of(nnv_in_shape(k, X), nnv_int(k->call, NCHW));
    const double *x = nnv_real(k, X);
    for (uint32_t n = 0; n < m.n; n++)
        for (uint32_t c = 0; c < m.c; c++) {
            size_t at = nnv_image_at(&m, n, 0, 0, c);
            channel(k, &m, x + at, k->out[0] + at);
        }
    return NNV_OK;
}

static const struct nnv_factor factors[] = {NNV_IMAGE_FACTORS};

static const char *const variants[] = {"nhwc", "nchw", "large", NULL};

/* Not around 0, so that the mean matters; numbers that are exact in float16. */
static void sample(struct nnv_sample *s) {
    static const double gammas[] = {1.5, -0.75, 2, 0.5}, betas[] = {-1.25, 0.5, 3}, eps[] = {0.125, 0.0078125, 1};
    bool large = nnv_sample_is(s, "large"), nchw = nnv_sample_is(s, "nchw") || (large && s->index % 2);
    uint32_t dims[4], h = nnv_sample_dim(s, 3, large ? 17 : 5), w = nnv_sample_dim(s, 4, large ? 15 : 7);
    uint32_t n = 2 + (uint32_t)s->index % 2, c = nnv_sample_dim(s, 3, 9);
    if (h == w) w++;
    if (s->row) {
        const struct nnv_row_image g = nnv_row_image(s, 0);
        n = g.n, h = g.h, w = g.w, c = g.c, nchw = g.nchw;
    }
    nnv_sample_image(dims, n, h, w, c, nchw);
    struct nnv_sample_arg *x = nnv_sample_tensor(s, X, 4, dims);
    x->lo = -2;
    x->hi = 6;
    nnv_sample_scalar(s, GAMMA, gammas[s->index % 4]);
    nnv_sample_scalar(s, BETA, betas[s->index % 3]);
    nnv_sample_scalar(s, EPSILON, eps[s->index % 3]);
    nnv_sample_scalar(s, NCHW, nchw);
}

const struct nnv_op nnv_op_INSTANCE_NORMALIZATION = {
    NNV_OP_NAMED(INSTANCE_NORMALIZATION),
    .level = 3,
    .formula = "y = gamma * (x - mean) / sqrt(variance + epsilon) + beta, mean and variance over height and width",
    NNV_OP_FORM(inputs, outputs),
    NNV_OP_SIGS(sigs),
    .rounding = NNV_ROUND_TABLE,
    .infer = nnv_same_shape_infer,
    NNV_EVAL(eval),
    .variants = variants,
    NNV_OP_FACTORS(factors),
    NNV_SAMPLE(sample),
};
