/* SPDX-License-Identifier: Apache-2.0 */
/** @file conv.c CONV_2D, DEPTHWISE_CONV_2D. */
#include "reference/ops/conv/conv.h"

#include <string.h>

#include "base/matmul.h"
#include "reference/ops/common.h"
#include "reference/ops/elementwise/fuse.h"

#define OPTIONS                                                                                                        \
    NNV_SLOT_FLAG(NNV_CONV_NCHW, "nchw", 1, 3),                                                                        \
        {.id = NNV_CONV_DILATION_W,                                                                                    \
         .name = "dilation width",                                                                                     \
         .var = NNV_FIXED,                                                                                             \
         .type = ANEURALNETWORKS_INT32,                                                                                \
         .flags = NNV_SCALAR,                                                                                          \
         .group = 2,                                                                                                   \
         .level = 3,                                                                                                   \
         .rule = NNV_POSITIVE,                                                                                         \
         .dflt = 1},                                                                                                   \
    {                                                                                                                  \
        .id = NNV_CONV_DILATION_H, .name = "dilation height", .var = NNV_FIXED, .type = ANEURALNETWORKS_INT32,         \
        .flags = NNV_SCALAR, .group = 2, .level = 3, .rule = NNV_POSITIVE, .dflt = 1                                   \
    }

static const struct nnv_slot conv_explicit[] = {NNV_CONV_TENSORS, NNV_CONV_PADDING(NNV_NOT_NEGATIVE), NNV_CONV_STRIDES,
                                                NNV_CONV_ACTIVATION, OPTIONS};
static const struct nnv_slot conv_implicit[] = {NNV_CONV_TENSORS, NNV_CONV_PADDING_SCHEME, NNV_CONV_STRIDES,
                                                NNV_CONV_ACTIVATION, OPTIONS};
static const struct nnv_form conv_forms[] = {
    NNV_FORM("implicit", conv_implicit, nnv_conv_output),
    NNV_FORM("explicit", conv_explicit, nnv_conv_output),
};

#define DEPTHWISE_TAIL                                                                                                 \
    NNV_CONV_STRIDES, NNV_SLOT_INT(NNV_CONV_MULTIPLIER, "multiplier", NNV_POSITIVE), NNV_CONV_ACTIVATION, OPTIONS
static const struct nnv_slot depthwise_explicit[] = {NNV_CONV_TENSORS, NNV_CONV_PADDING(NNV_NOT_NEGATIVE),
                                                     DEPTHWISE_TAIL};
static const struct nnv_slot depthwise_implicit[] = {NNV_CONV_TENSORS, NNV_CONV_PADDING_SCHEME, DEPTHWISE_TAIL};
static const struct nnv_form depthwise_forms[] = {
    NNV_FORM("implicit", depthwise_implicit, nnv_conv_output),
    NNV_FORM("explicit", depthwise_explicit, nnv_conv_output),
};

const struct nnv_slot nnv_conv_output[1] = {{.name = "output", .var = NNV_T, .rank_min = 4, .rank_max = 4}};

static const struct nnv_sig sigs[] = {
    NNV_CONV_SIG(1, FLOAT32, FLOAT32, FLOAT32),
    NNV_CONV_SIG(1, QUANT8_ASYMM, QUANT8_ASYMM, INT32),
    NNV_CONV_SIG(3, FLOAT16, FLOAT16, FLOAT16),
    NNV_CONV_SIG(3, QUANT8_ASYMM, QUANT8_SYMM_PER_CHANNEL, INT32),
    NNV_CONV_SIG(4, QUANT8_ASYMM_SIGNED, QUANT8_ASYMM_SIGNED, INT32),
    NNV_CONV_SIG(4, QUANT8_ASYMM_SIGNED, QUANT8_SYMM_PER_CHANNEL, INT32),
};

const struct nnv_window_ids nnv_conv_rows = {NNV_CONV_SCHEME, NNV_CONV_PAD_TOP, NNV_CONV_PAD_BOTTOM, NNV_CONV_STRIDE_H,
                                             NNV_CONV_DILATION_H};
const struct nnv_window_ids nnv_conv_cols = {NNV_CONV_SCHEME, NNV_CONV_PAD_LEFT, NNV_CONV_PAD_RIGHT, NNV_CONV_STRIDE_W,
                                             NNV_CONV_DILATION_W};

static bool depthwise(const struct nnv_op *op) { return op->code == ANEURALNETWORKS_DEPTHWISE_CONV_2D; }

enum nnv_status nnv_conv_check(const struct nnv_call *c, struct nnv_err *err) {
    const struct nnv_operand *w = nnv_in(c, NNV_CONV_FILTER)->operand;
    uint32_t want = depthwise(c->op) ? 3 : 0;
    if (w->type == ANEURALNETWORKS_TENSOR_QUANT8_SYMM_PER_CHANNEL && w->channel.dim != want)
        return nnv_fail(err, NNV_INVALID, "filter: the scales run along dimension %u, expected %u", w->channel.dim,
                        want);
    return NNV_OK;
}

/* The output channels, from filter, bias and (depthwise) input channels times multiplier. */
static enum nnv_status infer_channels(const struct nnv_call *c, uint32_t in, uint32_t *out, struct nnv_err *err) {
    uint32_t one = 1, n = nnv_dim(&nnv_in(c, NNV_CONV_FILTER)->shape, depthwise(c->op) ? 3 : 0);
    enum nnv_status st = nnv_extent_agree(c, NNV_CONV_BIAS, 0, &n, err);
    if (!st && !depthwise(c->op)) st = nnv_extent_agree(c, NNV_CONV_FILTER, 3, &in, err);
    if (!st && depthwise(c->op)) st = nnv_extent_agree(c, NNV_CONV_FILTER, 0, &one, err);
    if (st) return st;
    if (depthwise(c->op) && in != NNV_DIM_UNKNOWN && nnv_known(c, NNV_CONV_MULTIPLIER)) {
        uint64_t product = (uint64_t)in * (uint32_t)nnv_int(c, NNV_CONV_MULTIPLIER);
        if (n == NNV_DIM_UNKNOWN && product <= NNV_DIM_MAX) n = (uint32_t)product;
        if (n != product)
            return nnv_fail(err, NNV_INVALID, "%u input channels times multiplier %d are not %u output channels", in,
                            nnv_int(c, NNV_CONV_MULTIPLIER), n);
    }
    *out = n;
    return NNV_OK;
}

static enum nnv_status infer(const struct nnv_call *c, struct nnv_shape *out, struct nnv_err *err) {
    return nnv_conv_infer(c, infer_channels, out, err);
}

enum nnv_status nnv_conv_infer(const struct nnv_call *c,
                               enum nnv_status (*channels)(const struct nnv_call *c, uint32_t in, uint32_t *out,
                                                           struct nnv_err *err),
                               struct nnv_shape *out, struct nnv_err *err) {
    const struct nnv_shape *x = &nnv_in(c, NNV_CONV_X)->shape, *f = &nnv_in(c, NNV_CONV_FILTER)->shape;
    bool known = nnv_known(c, NNV_CONV_NCHW);
    struct nnv_layout l = nnv_layout_of(known && nnv_int(c, NNV_CONV_NCHW));
    uint32_t n = NNV_DIM_UNKNOWN;
    struct nnv_window h = {.out = NNV_DIM_UNKNOWN}, w = h;
    enum nnv_status st = channels(c, known ? nnv_dim(x, l.c) : NNV_DIM_UNKNOWN, &n, err);
    if (!st && known) st = nnv_window_of(c, &nnv_conv_rows, nnv_dim(x, l.h), nnv_dim(f, 1), "height", &h, err);
    if (!st && known) st = nnv_window_of(c, &nnv_conv_cols, nnv_dim(x, l.w), nnv_dim(f, 2), "width", &w, err);
    if (!st) out[0] = known ? nnv_image_shape(x, l, n, h.out, w.out) : nnv_image_unknown(x);
    return st;
}

/* ------------------------------------------------------------------- kernel */

/* A convolution on [N,H,W,C] data in units. */
struct conv {
    struct nnv_image_layout x, y; /* extents; strides as the operands have them */
    uint32_t fh, fw;
    int32_t top, left, sh, sw, dh, dw;
    size_t positions, taps; /* of the output; fh * fw * input channels */
};

static enum nnv_status conv_of(const struct nnv_call *c, struct conv *g, struct nnv_err *err) {
    bool nchw = nnv_int(c, NNV_CONV_NCHW);
    const struct nnv_shape *f = &nnv_in(c, NNV_CONV_FILTER)->shape;
    struct nnv_window h, w;
    *g = (struct conv){.x = nnv_image_of(&nnv_in(c, NNV_CONV_X)->shape, nchw),
                       .y = nnv_image_of(&c->out[0].shape, nchw)};
    g->fh = f->dims[1];
    g->fw = f->dims[2];
    enum nnv_status st = nnv_window_of(c, &nnv_conv_rows, g->x.h, g->fh, "height", &h, err);
    if (!st) st = nnv_window_of(c, &nnv_conv_cols, g->x.w, g->fw, "width", &w, err);
    if (st) return st;
    g->top = h.head;
    g->left = w.head;
    g->sh = nnv_int(c, NNV_CONV_STRIDE_H);
    g->sw = nnv_int(c, NNV_CONV_STRIDE_W);
    g->dh = nnv_int(c, NNV_CONV_DILATION_H);
    g->dw = nnv_int(c, NNV_CONV_DILATION_W);
    g->positions = (size_t)g->y.n * g->y.h * g->y.w;
    g->taps = (size_t)g->fh * g->fw * g->x.c;
    return NNV_OK;
}

/* The input in the order [N,H,W,C]; NULL when out of memory. */
static const double *channels_last(struct nnv_kernel *k, const struct nnv_image_layout *m, const double *x) {
    if (m->sc == 1) return x;
    double *t = NNV_NEW(k->scratch, double, (size_t)m->n * m->sn), *to = t;
    for (uint32_t n = 0; t && n < m->n; n++)
        for (uint32_t h = 0; h < m->h; h++)
            for (uint32_t w = 0; w < m->w; w++)
                for (uint32_t c = 0; c < m->c; c++) *to++ = x[nnv_image_at(m, n, h, w, c)];
    return t;
}

/* The input position of tap p of output i, or -1 outside. */
static int64_t tap(uint32_t i, int32_t stride, int32_t head, uint32_t p, int32_t dilation, uint32_t extent) {
    int64_t at = (int64_t)i * stride - head + (int64_t)p * dilation;
    return at >= 0 && at < extent ? at : -1;
}

/* Writes the taps of count output positions, in the order of the filter's, one row a position. */
static void gather(const struct conv *g, const double *x, size_t first, size_t count, double *to) {
    const size_t c = g->x.c;
    for (size_t p = first; p < first + count; p++) {
        uint32_t n = (uint32_t)(p / g->y.w / g->y.h), i = (uint32_t)(p / g->y.w % g->y.h), j = (uint32_t)(p % g->y.w);
        for (uint32_t fi = 0; fi < g->fh; fi++) {
            int64_t h = tap(i, g->sh, g->top, fi, g->dh, g->x.h), w0 = (int64_t)j * g->sw - g->left;
            if (h >= 0 && g->dw == 1 && w0 >= 0 && w0 + g->fw <= g->x.w) { /* one piece */
                memcpy(to, x + (((size_t)n * g->x.h + (size_t)h) * g->x.w + (size_t)w0) * c, g->fw * c * sizeof *to);
                to += g->fw * c;
                continue;
            }
            for (uint32_t fj = 0; fj < g->fw; fj++, to += c) {
                int64_t w = tap(j, g->sw, g->left, fj, g->dw, g->x.w);
                if (h < 0 || w < 0)
                    memset(to, 0, c * sizeof *to);
                else
                    memcpy(to, x + (((size_t)n * g->x.h + (size_t)h) * g->x.w + (size_t)w) * c, c * sizeof *to);
            }
        }
    }
}

/* sums[position, channel], by matrix products of blocks of gathered taps. */
static bool sum_dense(struct nnv_kernel *k, const struct conv *g, const double *x, const double *f, double *sums) {
    enum { BLOCK_NUMBERS = 1 << 18 };
    size_t channels = g->y.c;
    if (g->fh == 1 && g->fw == 1 && g->sh == 1 && g->sw == 1 && g->x.h == g->y.h && g->x.w == g->y.w) {
        nnv_matmul(g->positions, channels, g->taps, x, f, sums);
        return true;
    }
    size_t block = BLOCK_NUMBERS / g->taps + 1;
    if (block > g->positions) block = g->positions;
    double *rows = NNV_NEW(k->scratch, double, block * g->taps);
    if (!rows) return false;
    for (size_t p = 0; p < g->positions; p += block) {
        size_t count = g->positions - p < block ? g->positions - p : block;
        gather(g, x, p, count, rows);
        nnv_matmul(count, channels, g->taps, rows, f, sums + p * channels);
    }
    return true;
}

/* y[c * m + r] += x[c] * f[c * m + r]. */
static void add_products(const double *x, const double *f, size_t channels, size_t m, double *y) {
    if (m == 1) {
        for (size_t c = 0; c < channels; c++) y[c] += x[c] * f[c];
        return;
    }
    for (size_t c = 0; c < channels; c++)
        for (size_t r = 0; r < m; r++) y[c * m + r] += x[c] * f[c * m + r];
}

NNV_WIDE static bool sum_depthwise(struct nnv_kernel *k, const struct conv *g, const double *x, const double *f,
                                   double *sums) {
    (void)k;
    size_t m = g->y.c / g->x.c;
    for (size_t p = 0; p < g->positions; p++) {
        uint32_t n = (uint32_t)(p / g->y.w / g->y.h), i = (uint32_t)(p / g->y.w % g->y.h), j = (uint32_t)(p % g->y.w);
        for (uint32_t fi = 0; fi < g->fh; fi++) {
            int64_t h = tap(i, g->sh, g->top, fi, g->dh, g->x.h);
            for (uint32_t fj = 0; h >= 0 && fj < g->fw; fj++) {
                int64_t w = tap(j, g->sw, g->left, fj, g->dw, g->x.w);
                if (w < 0) continue;
                const double *cell = x + (((size_t)n * g->x.h + (size_t)h) * g->x.w + (size_t)w) * g->x.c;
                add_products(cell, f + ((size_t)fi * g->fw + fj) * g->y.c, g->x.c, m, sums + p * g->y.c);
            }
        }
    }
    return true;
}

/* Fills in the sums, and those of absolute values where the row needs them. */
static bool sum_all(struct nnv_kernel *k, const struct conv *g, struct nnv_linear *l) {
    bool (*sum)(struct nnv_kernel *, const struct conv *, const double *, const double *, double *) =
        depthwise(k->call->op) ? sum_depthwise : sum_dense;
    const double *f = nnv_units(k, NNV_CONV_FILTER), *x = channels_last(k, &g->x, nnv_units(k, NNV_CONV_X));
    size_t n = g->positions * g->y.c;
    bool in_place = !k->noise && g->y.sc == 1;
    l->sums = in_place ? k->out[0] : NNV_NEW(k->scratch, double, n);
    if (!x || !l->sums || !sum(k, g, x, f, l->sums)) return false;
    if (!nnv_linear_needs_abs(k)) return true;
    x = nnv_linear_abs(k, x, nnv_elems(k, NNV_CONV_X));
    f = nnv_linear_abs(k, f, nnv_elems(k, NNV_CONV_FILTER));
    l->abs = NNV_NEW(k->scratch, double, n);
    return x && f && l->abs && sum(k, g, x, f, l->abs);
}

static enum nnv_status eval(struct nnv_kernel *k, struct nnv_err *err) {
    struct conv g;
    enum nnv_status st = conv_of(k->call, &g, err);
    if (st) return st;
    bool dw = depthwise(k->call->op);
    struct nnv_linear l = {
        .x = NNV_CONV_X,
        .w = NNV_CONV_FILTER,
        .bias = NNV_CONV_BIAS,
        .positions = g.positions,
        .channels = g.y.c,
        .terms = (double)(dw ? (size_t)g.fh * g.fw : g.taps),
        .y = &g.y,
        .winograd = !dw && g.fh == 3 && g.fw == 3 && g.sh == 1 && g.sw == 1 && g.dh == 1 && g.dw == 1,
    };
    if (!nnv_linear_replays(k) && !sum_all(k, &g, &l)) return nnv_no_memory(err);
    return nnv_linear_finish(k, &l, err);
}

/* ------------------------------------------------------------------ samples */

#define VARIANTS                                                                                                       \
    NNV_WINDOW_VARIANTS, "nchw_explicit", "nchw_stride_valid", "dilation_same", "dilation_valid", "dilation_explicit", \
        "nchw_dilation_explicit", "pointwise", "pointwise_stride_valid", "even_same", "relu", "relu1", "relu6",        \
        "wide", "large_same", "inputs"
static const char *const conv_variants[] = {VARIANTS, "winograd", NULL};
static const char *const depthwise_variants[] = {VARIANTS, "multiplier", "nchw_multiplier_stride_same", NULL};

enum { FILTERS = NNV_WINDOW_DILATION + 1, MULTIPLIER = FILTERS };
static const struct nnv_factor conv_factors[] = {NNV_WINDOW_FACTORS, NNV_WINDOW_DILATIONS, NNV_WINDOW_FILTERS};
static const struct nnv_factor depthwise_factors[] = {
    NNV_WINDOW_FACTORS, NNV_WINDOW_DILATIONS, {.name = "multiplier", NNV_VALUES(1, 2, 3), NNV_SIZES(4, 8, 16, 17)}};

/* Values that put the results around the activation's range; exact: that keep sums below 2^11. */
static void set_tensors(struct nnv_sample *s, const struct nnv_window_sample *g, uint32_t channels) {
    uint32_t dims[4];
    bool dw = depthwise(s->op);
    nnv_sample_image(dims, g->n, g->h, g->w, g->c, g->nchw);
    struct nnv_sample_arg *x = nnv_sample_tensor(s, NNV_CONV_X, 4, dims);
    bool relu1 = nnv_fuse_drawn(s) == ANEURALNETWORKS_FUSED_RELU1;
    x->hi = s->exact ? (relu1 ? 1 : nnv_sample_is(s, "wide") ? 2 : 4) : relu1 ? 0.5 : 4;
    x->lo = -x->hi;
    uint32_t filter[4] = {dw ? 1 : channels, g->fh, g->fw, dw ? channels : g->c};
    struct nnv_sample_arg *f = nnv_sample_tensor(s, NNV_CONV_FILTER, 4, filter);
    f->channel_dim = dw ? 3 : 0;
    f->input = nnv_sample_is(s, "inputs");
    struct nnv_sample_arg *b = nnv_sample_tensor(s, NNV_CONV_BIAS, 1, &channels);
    b->lo = relu1 ? -0.5 : -3;
    b->hi = relu1 ? 0.5 : 3;
    b->input = f->input;
}

static void sample(struct nnv_sample *s) {
    bool dw = depthwise(s->op), wide = nnv_sample_is(s, "wide"), large = nnv_sample_is(s, "large");
    struct nnv_window_sample g = nnv_window_draw(s, dw ? 9 : 5);
    uint32_t multiplier = nnv_sample_is(s, "multiplier") ? 2 + (uint32_t)s->index % 3 : 1;
    if (s->row && dw) multiplier = (uint32_t)nnv_sample_value(s, MULTIPLIER);
    uint32_t channels = dw       ? g.c * multiplier
                        : s->row ? (uint32_t)nnv_sample_value(s, FILTERS)
                                 : nnv_sample_dim(s, 2, wide || large ? 33 : 8);
    s->form = &s->op->forms[g.scheme ? 0 : 1];
    set_tensors(s, &g, channels);
    nnv_window_set(s, &nnv_conv_rows, &g, true);
    nnv_window_set(s, &nnv_conv_cols, &g, false);
    if (dw) nnv_sample_scalar(s, NNV_CONV_MULTIPLIER, multiplier);
    nnv_sample_scalar(s, NNV_CONV_ACT, nnv_fuse_drawn(s));
    if (g.nchw || g.dilated) nnv_sample_scalar(s, NNV_CONV_NCHW, g.nchw);
}

#define RECORD(NAME, KIND, EARLY, FORMULA)                                                                             \
    const struct nnv_op nnv_op_##NAME = {                                                                              \
        NNV_OP_NAMED(NAME),      .level = 1,                                                                           \
        .formula = FORMULA,      NNV_OP_FORMS(KIND##_forms),                                                           \
        NNV_OP_SIGS(sigs),       .rounding = NNV_ROUND_LINEAR,                                                         \
        .zero = NNV_ZERO_BATCH,  .linear = true,                                                                       \
        .check = nnv_conv_check, .level_of = nnv_linear_level,                                                         \
        .infer = infer,          NNV_EVAL(eval),                                                                       \
        .early = EARLY,          .variants = KIND##_variants,                                                          \
        NNV_SAMPLE(sample),      NNV_OP_FACTORS(KIND##_factors),                                                       \
    }

RECORD(CONV_2D, conv, NNV_EARLY_CHECK | NNV_EARLY_RANKS,
       "y[n,i,j,k] = act(bias[k] + sum over p,q,c of x[n, i*sh-top+p*dh, j*sw-left+q*dw, c] * filter[k,p,q,c])");
RECORD(DEPTHWISE_CONV_2D, depthwise, NNV_EARLY_CHECK,
       "y[n,i,j,c*m+r] = act(bias[c*m+r] + sum over p,q of x[n, i*sh-top+p*dh, j*sw-left+q*dw, c] * "
       "filter[0,p,q,c*m+r]), 0 <= r < m = multiplier");
