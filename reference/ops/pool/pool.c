/* SPDX-License-Identifier: Apache-2.0 */
/** @file pool.c AVERAGE_POOL_2D, L2_POOL_2D, MAX_POOL_2D. */
#include "reference/eval/strip.h"
#include "reference/ops/conv/window.h"
#include "reference/ops/elementwise/fuse.h"

enum { X, PAD_LEFT, PAD_RIGHT, PAD_TOP, PAD_BOTTOM, SCHEME, STRIDE_W, STRIDE_H, FILTER_W, FILTER_H, ACT, NCHW };

#define INPUT                                                                                                          \
    { .id = X, .name = "input", .var = NNV_T, .rank_min = 4, .rank_max = 4 }
#define WINDOW                                                                                                         \
    NNV_SLOT_INT(STRIDE_W, "stride width", NNV_POSITIVE), NNV_SLOT_INT(STRIDE_H, "stride height", NNV_POSITIVE),       \
        NNV_SLOT_INT(FILTER_W, "filter width", NNV_POSITIVE), NNV_SLOT_INT(FILTER_H, "filter height", NNV_POSITIVE),   \
        NNV_SLOT_INT(ACT, "activation", NNV_FUSE)
#define LAYOUT NNV_SLOT_FLAG(NCHW, "nchw", 1, 3)

static const struct nnv_slot implicit_inputs[] = {INPUT, NNV_SLOT_INT(SCHEME, "padding scheme", NNV_PADDING_CODE),
                                                  WINDOW, LAYOUT};
static const struct nnv_slot explicit_inputs[] = {
    INPUT,
    NNV_SLOT_INT(PAD_LEFT, "padding left", NNV_NOT_NEGATIVE),
    NNV_SLOT_INT(PAD_RIGHT, "padding right", NNV_NOT_NEGATIVE),
    NNV_SLOT_INT(PAD_TOP, "padding top", NNV_NOT_NEGATIVE),
    NNV_SLOT_INT(PAD_BOTTOM, "padding bottom", NNV_NOT_NEGATIVE),
    WINDOW,
    LAYOUT,
};
static const struct nnv_slot outputs[] = {
    {.name = "output", .var = NNV_T, .rank_min = 4, .rank_max = 4, .quant = NNV_Q_SAME}};

static const struct nnv_form forms[] = {
    NNV_FORM("implicit", implicit_inputs, outputs),
    NNV_FORM("explicit", explicit_inputs, outputs),
};

static const struct nnv_sig sigs[] = {NNV_SIG(1, FLOAT32), NNV_SIG(1, QUANT8_ASYMM), NNV_SIG(3, FLOAT16),
                                      NNV_SIG(4, QUANT8_ASYMM_SIGNED)};
static const struct nnv_sig float_sigs[] = {NNV_SIG(1, FLOAT32), NNV_SIG(3, FLOAT16)};

static const struct nnv_window_ids rows_ids = {SCHEME, PAD_TOP, PAD_BOTTOM, STRIDE_H, -1};
static const struct nnv_window_ids cols_ids = {SCHEME, PAD_LEFT, PAD_RIGHT, STRIDE_W, -1};

static uint32_t filter_extent(const struct nnv_call *c, int id) {
    return nnv_known(c, id) ? (uint32_t)nnv_int(c, id) : NNV_DIM_UNKNOWN;
}

static enum nnv_status windows(const struct nnv_call *c, uint32_t in_h, uint32_t in_w, struct nnv_window *h,
                               struct nnv_window *w, struct nnv_err *err) {
    enum nnv_status st = nnv_window_of(c, &rows_ids, in_h, filter_extent(c, FILTER_H), "height", h, err);
    return st ? st : nnv_window_of(c, &cols_ids, in_w, filter_extent(c, FILTER_W), "width", w, err);
}

static enum nnv_status infer(const struct nnv_call *c, struct nnv_shape *out, struct nnv_err *err) {
    const struct nnv_shape *x = &nnv_in(c, X)->shape;
    struct nnv_shape y = nnv_image_unknown(x);
    if (nnv_known(c, NCHW)) {
        struct nnv_layout l = nnv_layout_of(nnv_int(c, NCHW));
        struct nnv_window h, w;
        enum nnv_status st = windows(c, nnv_dim(x, l.h), nnv_dim(x, l.w), &h, &w, err);
        if (st) return st;
        y = nnv_image_shape(x, l, nnv_dim(x, l.c), h.out, w.out);
    }
    out[0] = y;
    return NNV_OK;
}

/* The part of window number i that lies in the tensor: the first cell and the number of cells. */
static void clip(uint32_t i, int32_t stride, int32_t head, uint32_t filter, uint32_t extent, uint32_t *first,
                 uint32_t *count) {
    int64_t begin = (int64_t)i * stride - head, end = begin + filter;
    if (begin < 0) begin = 0;
    if (end > extent) end = extent;
    *first = (uint32_t)begin;
    *count = end > begin ? (uint32_t)(end - begin) : 0;
}

/* The cells of one channel that lie both in the window and in the tensor; there is at least one. */
struct area {
    const double *cell; /**< the first, in units */
    uint32_t h, w;
    size_t sh, sw; /**< element strides */
};
/* The mean or the like of an area; it calls `hooks` hooks. */
struct pool {
    nnv_two (*of)(struct nnv_strip *s, const struct area *a);
    size_t hooks;
};
/* Padding is not counted: the divisor is the number of cells inside the tensor. */
static inline nnv_two average(struct nnv_strip *s, const struct area *a) {
    const bool counts = nnv_counts_terms(s->k), same = s->k->same_inputs;
    struct nnv_terms terms = {0};
    double sum = 0, abs = 0, n = (double)a->h * a->w;
    for (uint32_t i = 0; i < a->h && !same; i++)
        for (uint32_t j = 0; j < a->w; j++) {
            double v = a->cell[i * a->sh + j * a->sw];
            sum += v;
            abs += fabs(v);
            if (counts) nnv_terms_add(&terms, v);
        }
    const double weight = counts ? nnv_terms_end(&terms, n) : n;
    return nnv_two_round(s, (same ? nnv_two_replay(s) : nnv_two_sum(s, nnv_two_of(sum), weight, abs)) / n);
}

/* A NaN, which in a perturbed row means "not compared", wins. */
static inline nnv_two maximum(struct nnv_strip *s, const struct area *a) {
    (void)s;
    double most = a->cell[0];
    for (uint32_t i = 0; i < a->h; i++)
        for (uint32_t j = 0; j < a->w; j++) {
            double v = a->cell[i * a->sh + j * a->sw];
            if (v > most || isnan(v)) most = v;
        }
    return nnv_two_of(most);
}

static inline nnv_two root_mean_square(struct nnv_strip *s, const struct area *a) {
    const bool same = s->k->same_inputs;
    double sum = 0, n = (double)a->h * a->w;
    for (uint32_t i = 0; i < a->h && !same; i++)
        for (uint32_t j = 0; j < a->w; j++) {
            double v = a->cell[i * a->sh + j * a->sw];
            sum += v * v;
        }
    const nnv_two mean = nnv_two_round(s, (same ? nnv_two_replay(s) : nnv_two_sum(s, nnv_two_of(sum), n, sum)) / n);
    return nnv_two_function(s, nnv_two_sqrt(NNV_TWO_WHERE(~(mean < 0), mean)), NNV_ULPS_SQRT);
}

/* out = scale of the input times pool(area), for each output element; a copy of it for each pool. */
static inline __attribute__((always_inline)) enum nnv_status eval(struct nnv_kernel *k, struct pool pool,
                                                                  struct nnv_err *err) {
    const struct nnv_call *c = k->call;
    bool nchw = nnv_int(c, NCHW);
    struct nnv_image_layout x = nnv_image_of(nnv_in_shape(k, X), nchw), y = nnv_image_of(nnv_out_shape(k, 0), nchw);
    struct nnv_window h, w;
    enum nnv_status st = windows(c, x.h, x.w, &h, &w, err);
    if (st) return st;
    const double *in = nnv_units(k, X), scale = nnv_scale(k, X, 0);
    struct area a = {.sh = x.sh, .sw = x.sw};
    for (uint32_t n = 0; n < y.n; n++)
        for (uint32_t i = 0; i < y.h; i++) {
            struct nnv_strip s = nnv_strip_of(k, (size_t)y.w * y.c * pool.hooks, 0);
            for (uint32_t j = 0; j < y.w; j++) {
                uint32_t top, left;
                clip(i, nnv_int(c, STRIDE_H), h.head, filter_extent(c, FILTER_H), x.h, &top, &a.h);
                clip(j, nnv_int(c, STRIDE_W), w.head, filter_extent(c, FILTER_W), x.w, &left, &a.w);
                if (a.h == 0 || a.w == 0) return nnv_fail(err, NNV_INVALID, "window [%u,%u] lies in the padding", i, j);
                for (uint32_t ch = 0; ch < y.c; ch++) {
                    a.cell = in + nnv_image_at(&x, n, top, left, ch);
                    nnv_two_put(k, &k->out[0][nnv_image_at(&y, n, i, j, ch)], scale * pool.of(&s, &a));
                }
            }
        }
    return NNV_OK;
}

/* ------------------------------------------------------------------ samples */

static const char *const variants[] = {NNV_WINDOW_VARIANTS,
                                       "nchw_stride_explicit",
                                       "pointwise_stride_valid",
                                       "global",
                                       "relu",
                                       "relu1",
                                       "relu6",
                                       "wide",
                                       "large_same",
                                       NULL};

static const struct nnv_factor factors[] = {NNV_WINDOW_FACTORS};

static void sample(struct nnv_sample *s) {
    struct nnv_window_sample g = nnv_window_draw(s, 9);
    int act = nnv_fuse_drawn(s);
    uint32_t dims[4];
    if (nnv_sample_is(s, "global")) g.fh = g.h, g.fw = g.w, g.scheme = ANEURALNETWORKS_PADDING_VALID;
    s->form = &s->op->forms[g.scheme ? 0 : 1];
    nnv_sample_image(dims, g.n, g.h, g.w, g.c, g.nchw);
    struct nnv_sample_arg *x = nnv_sample_tensor(s, X, 4, dims);
    if (act == ANEURALNETWORKS_FUSED_RELU1) x->lo = -1.5, x->hi = 1.5;
    if (act == ANEURALNETWORKS_FUSED_RELU6) x->lo = -5, x->hi = 12;
    nnv_window_set(s, &rows_ids, &g, true);
    nnv_window_set(s, &cols_ids, &g, false);
    nnv_sample_scalar(s, FILTER_W, g.fw);
    nnv_sample_scalar(s, FILTER_H, g.fh);
    nnv_sample_scalar(s, ACT, act);
    if (g.nchw) nnv_sample_scalar(s, NCHW, g.nchw);
}

/** The record of an operation; then what else it has. */
#define RECORD(NAME, FORMULA, SIGS, POOL, HOOKS, ...)                                                                  \
    static enum nnv_status eval_##POOL(struct nnv_kernel *k, struct nnv_err *err) {                                    \
        return eval(k, (struct pool){POOL, HOOKS}, err);                                                               \
    }                                                                                                                  \
    const struct nnv_op nnv_op_##NAME = {                                                                              \
        NNV_OP_NAMED(NAME),      .level = 1,     .formula = FORMULA,    NNV_OP_FORMS(forms),  NNV_OP_SIGS(SIGS),       \
        .zero = NNV_ZERO_BATCH,  .infer = infer, NNV_EVAL(eval_##POOL), .variants = variants, NNV_SAMPLE(sample),      \
        NNV_OP_FACTORS(factors), __VA_ARGS__,                                                                          \
    }

RECORD(AVERAGE_POOL_2D,
       "y[n,i,j,c] = act(mean of x[n, i*sh-top+p, j*sw-left+q, c] over those p < fh, q < fw that lie inside x)", sigs,
       average, 2, .rounding = NNV_ROUND_RESCALE);
RECORD(L2_POOL_2D,
       "y[n,i,j,c] = act(sqrt(mean of x[n, i*sh-top+p, j*sw-left+q, c]^2 over those p < fh, q < fw inside x))",
       float_sigs, root_mean_square, 3, .rounding = NNV_ROUND_RESCALE);
RECORD(MAX_POOL_2D,
       "y[n,i,j,c] = act(largest x[n, i*sh-top+p, j*sw-left+q, c] over those p < fh, q < fw that lie inside x)", sigs,
       maximum, 0, .rounding = NNV_ROUND_NONE, .linear = true);
