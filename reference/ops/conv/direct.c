/* SPDX-License-Identifier: Apache-2.0 */
/** @file direct.c GROUPED_CONV_2D, TRANSPOSE_CONV_2D: convolutions that are summed tap by tap. */
#include <string.h>

#include "base/matmul.h"
#include "reference/ops/common.h"
#include "reference/ops/conv/conv.h"
#include "reference/ops/elementwise/fuse.h"

/* The layout ends the list of either operation's inputs. */
#define NCHW NNV_SLOT_BOOL(NNV_CONV_NCHW, "nchw")

static const struct nnv_sig sigs[] = {
    NNV_CONV_SIG(3, FLOAT32, FLOAT32, FLOAT32),
    NNV_CONV_SIG(3, FLOAT16, FLOAT16, FLOAT16),
    NNV_CONV_SIG(3, QUANT8_ASYMM, QUANT8_ASYMM, INT32),
    NNV_CONV_SIG(3, QUANT8_ASYMM, QUANT8_SYMM_PER_CHANNEL, INT32),
    NNV_CONV_SIG(4, QUANT8_ASYMM_SIGNED, QUANT8_ASYMM_SIGNED, INT32),
    NNV_CONV_SIG(4, QUANT8_ASYMM_SIGNED, QUANT8_SYMM_PER_CHANNEL, INT32),
};

/* A convolution. Channel c of group g of the input meets tap [k, p, q, c] of the output channels k of group g. */
struct direct {
    struct nnv_image_layout x, y;
    uint32_t fh, fw, groups;
    const int64_t *rows; /* [y.h, fh]: the input row that meets a tap, -1: none */
    const int64_t *cols; /* [y.w, fw] */
    double terms;        /* products in a sum, at most */
    bool winograd;
};
/* The convolution of this row, but for rows, cols and terms. */
static struct direct direct_of(const struct nnv_kernel *k, uint32_t groups) {
    const struct nnv_shape *f = nnv_in_shape(k, NNV_CONV_FILTER);
    bool nchw = nnv_int(k->call, NNV_CONV_NCHW);
    bool steps_of_1 = nnv_int(k->call, NNV_CONV_STRIDE_H) == 1 && nnv_int(k->call, NNV_CONV_STRIDE_W) == 1;
    return (struct direct){
        .x = nnv_image_of(nnv_in_shape(k, NNV_CONV_X), nchw),
        .y = nnv_image_of(nnv_out_shape(k, 0), nchw),
        .fh = f->dims[1],
        .fw = f->dims[2],
        .groups = groups,
        .winograd = f->dims[1] == 3 && f->dims[2] == 3 && steps_of_1,
    };
}

/* The filter [channel, p, q, depth] as [p, q, depth, channel]. */
static void turn_filter(const struct direct *d, const double *f, double *to) {
    const size_t taps = (size_t)d->fh * d->fw * (d->x.c / d->groups);
    for (size_t k = 0; k < d->y.c; k++)
        for (size_t t = 0; t < taps; t++) to[t * d->y.c + k] = f[k * taps + t];
}

/* Adds what a cell of the input gives to the sums of all channels; f: the turned filter at the cell's tap. */
static void add_cell(const struct direct *d, const double *cell, const double *f, double *sums) {
    const uint32_t depth = d->x.c / d->groups, share = d->y.c / d->groups;
    for (uint32_t g = 0; g < d->groups; g++)
        for (uint32_t c = 0; c < depth; c++) {
            const double v = cell[((size_t)g * depth + c) * d->x.sc], *w = f + (size_t)c * d->y.c + (size_t)g * share;
            for (uint32_t k = 0; k < share; k++) sums[g * share + k] += v * w[k];
        }
}

/* sums[position, channel], positions in the order [N,H,W], from a turned filter. */
NNV_WIDE static void sum_all(const struct direct *d, const double *x, const double *f, double *sums) {
    const size_t tap = (size_t)(d->x.c / d->groups) * d->y.c;
    memset(sums, 0, (size_t)d->y.n * d->y.h * d->y.w * d->y.c * sizeof *sums);
    for (uint32_t n = 0; n < d->y.n; n++)
        for (uint32_t i = 0; i < d->y.h; i++)
            for (uint32_t j = 0; j < d->y.w; j++, sums += d->y.c)
                for (uint32_t p = 0; p < d->fh; p++)
                    for (uint32_t q = 0; q < d->fw; q++) {
                        const int64_t row = d->rows[(size_t)i * d->fh + p], col = d->cols[(size_t)j * d->fw + q];
                        if (row < 0 || col < 0) continue;
                        add_cell(d, x + n * d->x.sn + (size_t)row * d->x.sh + (size_t)col * d->x.sw,
                                 f + ((size_t)p * d->fw + q) * tap, sums);
                    }
}

/* Writes output 0 and the multipliers. NNV_NO_MEMORY. */
static enum nnv_status sum_up(struct nnv_kernel *k, const struct direct *d, struct nnv_err *err) {
    struct nnv_linear l = {
        .x = NNV_CONV_X,
        .w = NNV_CONV_FILTER,
        .bias = NNV_CONV_BIAS,
        .positions = (size_t)d->y.n * d->y.h * d->y.w,
        .channels = d->y.c,
        .terms = d->terms,
        .y = &d->y,
        .winograd = d->winograd,
    };
    if (!nnv_linear_replays(k)) {
        const size_t taps = nnv_elems(k, NNV_CONV_FILTER);
        const double *x = nnv_units(k, NNV_CONV_X), *f;
        double *turned = NNV_NEW(k->scratch, double, taps);
        l.sums = NNV_NEW(k->scratch, double, l.positions * d->y.c);
        if (!l.sums || !turned) return nnv_no_memory(err);
        turn_filter(d, nnv_units(k, NNV_CONV_FILTER), turned);
        f = turned;
        sum_all(d, x, f, l.sums);
        if (nnv_linear_needs_abs(k)) {
            x = nnv_linear_abs(k, x, nnv_elems(k, NNV_CONV_X));
            f = nnv_linear_abs(k, f, taps);
            l.abs = NNV_NEW(k->scratch, double, l.positions * d->y.c);
            if (!x || !f || !l.abs) return nnv_no_memory(err);
            sum_all(d, x, f, l.abs);
        }
    }
    return nnv_linear_finish(k, &l, err);
}

/*
 * Sets input, filter [channels, fh, fw, depth] and bias of a sampled case, of values that put the results around the
 * activation's range, and the scalars that both operations have.
 */
static void set_sample(struct nnv_sample *s, const struct nnv_window_sample *g, uint32_t channels, uint32_t depth) {
    uint32_t dims[4];
    int act = nnv_fuse_drawn(s);
    bool relu1 = act == ANEURALNETWORKS_FUSED_RELU1;
    nnv_sample_image(dims, g->n, g->h, g->w, g->c, g->nchw);
    struct nnv_sample_arg *x = nnv_sample_tensor(s, NNV_CONV_X, 4, dims);
    x->hi = relu1 ? 0.5 : 4;
    x->lo = -x->hi;
    struct nnv_sample_arg *f = nnv_sample_tensor(s, NNV_CONV_FILTER, 4, (uint32_t[]){channels, g->fh, g->fw, depth});
    struct nnv_sample_arg *b = nnv_sample_tensor(s, NNV_CONV_BIAS, 1, &channels);
    b->hi = relu1 ? 0.5 : 3;
    b->lo = -b->hi;
    b->input = f->input = nnv_sample_is(s, "inputs");
    nnv_sample_scalar(s, NNV_CONV_ACT, act);
    nnv_sample_scalar(s, NNV_CONV_NCHW, g->nchw);
    s->form = &s->op->forms[g->scheme ? 0 : 1];
    nnv_window_set(s, &nnv_conv_rows, g, true);
    nnv_window_set(s, &nnv_conv_cols, g, false);
}

/* ----------------------------------------------------------- GROUPED_CONV_2D */

#define GROUPED_TAIL NNV_CONV_STRIDES, NNV_SLOT_INT(NNV_CONV_GROUPS, "groups", NNV_POSITIVE), NNV_CONV_ACTIVATION, NCHW
static const struct nnv_slot grouped_explicit_inputs[] = {
    NNV_CONV_TENSORS,
    NNV_CONV_PADDING(NNV_NOT_NEGATIVE),
    GROUPED_TAIL,
};
static const struct nnv_slot grouped_implicit_inputs[] = {NNV_CONV_TENSORS, NNV_CONV_PADDING_SCHEME, GROUPED_TAIL};
static const struct nnv_form grouped_forms[] = {
    NNV_FORM("implicit", grouped_implicit_inputs, nnv_conv_output),
    NNV_FORM("explicit", grouped_explicit_inputs, nnv_conv_output),
};

/* The output channels; groups must divide them, and the input channels are groups times the filter's depth. */
static enum nnv_status grouped_channels(const struct nnv_call *c, uint32_t in, uint32_t *out, struct nnv_err *err) {
    const struct nnv_shape *f = &nnv_in(c, NNV_CONV_FILTER)->shape;
    uint32_t n = nnv_dim(f, 0), depth = nnv_dim(f, 3);
    enum nnv_status st = nnv_extent_agree(c, NNV_CONV_BIAS, 0, &n, err);
    if (st) return st;
    if (nnv_known(c, NNV_CONV_GROUPS)) {
        uint32_t groups = (uint32_t)nnv_int(c, NNV_CONV_GROUPS);
        if (n != NNV_DIM_UNKNOWN && n % groups != 0)
            return nnv_fail(err, NNV_INVALID, "%u output channels can't be divided into %u groups", n, groups);
        if (in != NNV_DIM_UNKNOWN && depth != NNV_DIM_UNKNOWN && in != (uint64_t)depth * groups)
            return nnv_fail(err, NNV_INVALID, "%u input channels are not %u groups of %u, the filter's depth", in,
                            groups, depth);
    }
    *out = n;
    return NNV_OK;
}

static enum nnv_status grouped_infer(const struct nnv_call *c, struct nnv_shape *out, struct nnv_err *err) {
    return nnv_conv_infer(c, grouped_channels, out, err);
}

/* The input position of each tap of each output position. */
static enum nnv_status grouped_positions(struct nnv_kernel *k, const struct nnv_window_ids *ids, uint32_t in,
                                         uint32_t filter, uint32_t out, const int64_t **to, struct nnv_err *err) {
    struct nnv_window w;
    enum nnv_status st = nnv_window_of(k->call, ids, in, filter, "window", &w, err);
    if (st) return st;
    int64_t *t = NNV_NEW(k->scratch, int64_t, (size_t)out * filter);
    if (!t) return nnv_no_memory(err);
    for (uint32_t i = 0; i < out; i++)
        for (uint32_t p = 0; p < filter; p++) {
            int64_t at = (int64_t)i * nnv_int(k->call, ids->stride) - w.head + p;
            t[(size_t)i * filter + p] = at < in ? at : -1;
        }
    *to = t;
    return NNV_OK;
}

static enum nnv_status grouped_eval(struct nnv_kernel *k, struct nnv_err *err) {
    struct direct d = direct_of(k, (uint32_t)nnv_int(k->call, NNV_CONV_GROUPS));
    d.terms = (double)d.fh * d.fw * nnv_in_shape(k, NNV_CONV_FILTER)->dims[3];
    enum nnv_status st = grouped_positions(k, &nnv_conv_rows, d.x.h, d.fh, d.y.h, &d.rows, err);
    if (!st) st = grouped_positions(k, &nnv_conv_cols, d.x.w, d.fw, d.y.w, &d.cols, err);
    return st ? st : sum_up(k, &d, err);
}

static const char *const grouped_variants[] = {NNV_WINDOW_VARIANTS,
                                               "nchw_stride_explicit",
                                               "pointwise",
                                               "even_same",
                                               "relu",
                                               "relu1",
                                               "relu6",
                                               "winograd",
                                               "inputs",
                                               "one",
                                               "each",
                                               "large_same",
                                               NULL};

enum { GROUPS = NNV_WINDOW_DILATION, DEPTH_SHARE };
static const struct nnv_factor grouped_factors[] = {
    NNV_WINDOW_FACTORS,
    {.name = "groups", NNV_VALUES(2, 1, 3, 4, 8), NNV_SIZES(16, 17, 32, 64)},
    {.name = "share", NNV_VALUES(2, 1, 3, 4), NNV_SIZES(8, 17)}};

/* one: a single group. each: a group for each input channel. */
static void grouped_sample(struct nnv_sample *s) {
    struct nnv_window_sample g = nnv_window_draw(s, 5);
    uint32_t groups = 2 + (uint32_t)s->index % 3, depth = nnv_sample_dim(s, 2, 5), share = 3 - (uint32_t)s->index % 2;
    if (s->row) {
        groups = (uint32_t)nnv_sample_value(s, GROUPS);
        share = (uint32_t)nnv_sample_value(s, DEPTH_SHARE);
        depth = (g.c + groups - 1) / groups;
    }
    if (nnv_sample_is(s, "one")) groups = 1;
    if (nnv_sample_is(s, "each")) depth = 1;
    g.c = groups * depth;
    set_sample(s, &g, groups * share, depth);
    nnv_sample_scalar(s, NNV_CONV_GROUPS, groups);
}

/* --------------------------------------------------------- TRANSPOSE_CONV_2D */

#define TRANSPOSED_TAIL NNV_CONV_STRIDES, NNV_CONV_ACTIVATION, NCHW
static const struct nnv_slot transposed_explicit_inputs[] = {
    NNV_CONV_TENSORS,
    NNV_CONV_PADDING(NNV_ANY),
    TRANSPOSED_TAIL,
};
static const struct nnv_slot transposed_implicit_inputs[] = {
    NNV_CONV_TENSORS,
    NNV_SLOT_INTS(NNV_CONV_OUT_SHAPE, "output shape"),
    NNV_CONV_PADDING_SCHEME,
    TRANSPOSED_TAIL,
};
static const struct nnv_form transposed_forms[] = {
    NNV_FORM("implicit", transposed_implicit_inputs, nnv_conv_output),
    NNV_FORM("explicit", transposed_explicit_inputs, nnv_conv_output),
};

/* Padding where it is implicit: whatever the output lacks or has in excess, the odd cell at the tail. */
static enum nnv_status implicit_window(const struct nnv_call *c, int32_t stride, uint32_t in, uint32_t filter,
                                       uint32_t at, struct nnv_window *w, struct nnv_err *err) {
    const void *data = nnv_in(c, NNV_CONV_OUT_SHAPE)->data;
    int32_t wanted;
    if (!data) return NNV_OK;
    memcpy(&wanted, (const char *)data + at * sizeof wanted, sizeof wanted);
    int64_t full = ((int64_t)in - 1) * stride + filter, total = full - wanted;
    bool same = nnv_int(c, NNV_CONV_SCHEME) == ANEURALNETWORKS_PADDING_SAME;
    if (wanted < 1) return nnv_fail(err, NNV_INVALID, "the output shape has extent %d", wanted);
    if (in > 0 && (same ? ((int64_t)wanted + stride - 1) / stride != in : total != 0))
        return nnv_fail(err, NNV_INVALID, "%u elements, stride %d and filter %u give no output of %d", in, stride,
                        filter, wanted);
    w->out = (uint32_t)wanted;
    w->head = total > 0 ? (int32_t)(total / 2) : 0;
    return NNV_OK;
}

static enum nnv_status explicit_window(const struct nnv_call *c, const struct nnv_window_ids *ids, int32_t stride,
                                       uint32_t in, uint32_t filter, struct nnv_window *w, struct nnv_err *err) {
    if (!nnv_known(c, ids->head) || !nnv_known(c, ids->tail)) return NNV_OK;
    w->head = nnv_int(c, ids->head);
    int64_t out = ((int64_t)in - 1) * stride + filter - w->head - nnv_int(c, ids->tail);
    if (in == 0) out = 0;
    if ((in > 0 && out < 1) || out > NNV_DIM_MAX)
        return nnv_fail(err, NNV_INVALID, "the output's extent would be %lld", (long long)out);
    w->out = (uint32_t)out;
    return NNV_OK;
}

/* Output extent and leading padding of the dimension that stands at `at` in the output's shape. */
static enum nnv_status window(const struct nnv_call *c, const struct nnv_window_ids *ids, uint32_t in, uint32_t filter,
                              uint32_t at, struct nnv_window *w, struct nnv_err *err) {
    *w = (struct nnv_window){.out = NNV_DIM_UNKNOWN};
    if (in == NNV_DIM_UNKNOWN || filter == NNV_DIM_UNKNOWN || !nnv_known(c, ids->stride) ||
        !nnv_known(c, NNV_CONV_SCHEME))
        return NNV_OK;
    if (filter == 0) return nnv_fail(err, NNV_INVALID, "the filter is empty");
    int32_t stride = nnv_int(c, ids->stride);
    enum nnv_status st = nnv_in(c, NNV_CONV_SCHEME) ? implicit_window(c, stride, in, filter, at, w, err)
                                                    : explicit_window(c, ids, stride, in, filter, w, err);
    return st ? nnv_at(err, st, "%s", at == 3 || ids == &nnv_conv_cols ? "width" : "height") : NNV_OK;
}

static enum nnv_status transposed_infer(const struct nnv_call *c, struct nnv_shape *out, struct nnv_err *err) {
    const struct nnv_shape *x = &nnv_in(c, NNV_CONV_X)->shape, *f = &nnv_in(c, NNV_CONV_FILTER)->shape;
    struct nnv_shape y = nnv_image_unknown(x);
    uint32_t channels = nnv_dim(f, 0);
    uint32_t extents = 4;
    enum nnv_status st = nnv_extent_agree(c, NNV_CONV_OUT_SHAPE, 0, &extents, err);
    if (!st) st = nnv_extent_agree(c, NNV_CONV_BIAS, 0, &channels, err);
    if (!st && nnv_known(c, NNV_CONV_NCHW)) {
        struct nnv_layout l = nnv_layout_of(nnv_int(c, NNV_CONV_NCHW));
        struct nnv_window h, w;
        uint32_t depth = nnv_dim(x, l.c);
        st = nnv_extent_agree(c, NNV_CONV_FILTER, 3, &depth, err);
        if (!st) st = window(c, &nnv_conv_rows, nnv_dim(x, l.h), nnv_dim(f, 1), l.h, &h, err);
        if (!st) st = window(c, &nnv_conv_cols, nnv_dim(x, l.w), nnv_dim(f, 2), l.w, &w, err);
        if (st) return st;
        y = nnv_image_shape(x, l, channels, h.out, w.out);
    }
    if (!st) out[0] = y;
    return st;
}

/* The input position that reaches each output position through each tap. */
static enum nnv_status transposed_positions(struct nnv_kernel *k, const struct nnv_window_ids *ids, uint32_t in,
                                            uint32_t filter, uint32_t out, uint32_t at, const int64_t **to,
                                            struct nnv_err *err) {
    struct nnv_window w;
    enum nnv_status st = window(k->call, ids, in, filter, at, &w, err);
    if (st) return st;
    int64_t *t = NNV_NEW(k->scratch, int64_t, (size_t)out * filter), stride = nnv_int(k->call, ids->stride);
    if (!t) return nnv_no_memory(err);
    for (uint32_t i = 0; i < out; i++)
        for (uint32_t p = 0; p < filter; p++) {
            int64_t d = (int64_t)i + w.head - p;
            t[(size_t)i * filter + p] = d >= 0 && d % stride == 0 && d / stride < in ? d / stride : -1;
        }
    *to = t;
    return NNV_OK;
}

/* Taps of which a stride lets at most so many meet in one output position. */
static uint32_t meeting(uint32_t filter, int32_t stride) { return (filter - 1) / (uint32_t)stride + 1; }

static enum nnv_status transposed_eval(struct nnv_kernel *k, struct nnv_err *err) {
    struct nnv_layout l = nnv_layout_of(nnv_int(k->call, NNV_CONV_NCHW));
    struct direct d = direct_of(k, 1);
    d.terms = (double)meeting(d.fh, nnv_int(k->call, NNV_CONV_STRIDE_H)) *
              meeting(d.fw, nnv_int(k->call, NNV_CONV_STRIDE_W)) * d.x.c;
    enum nnv_status st = transposed_positions(k, &nnv_conv_rows, d.x.h, d.fh, d.y.h, l.h, &d.rows, err);
    if (!st) st = transposed_positions(k, &nnv_conv_cols, d.x.w, d.fw, d.y.w, l.w, &d.cols, err);
    return st ? st : sum_up(k, &d, err);
}

static const char *const transposed_variants[] = {NNV_WINDOW_VARIANTS,
                                                  "nchw_stride_valid",
                                                  "nchw_stride_explicit",
                                                  "pointwise_stride_valid",
                                                  "even_same",
                                                  "relu",
                                                  "relu1",
                                                  "relu6",
                                                  "inputs",
                                                  "wide_stride_same",
                                                  "large_stride_valid",
                                                  NULL};

/* An output extent that SAME makes of `in`, sometimes less than the greatest; VALID has but one. */
static int32_t output_extent(struct nnv_sample *s, int scheme, uint32_t in, int stride, uint32_t filter) {
    int32_t least = ((int32_t)in - 1) * stride;
    if (scheme == ANEURALNETWORKS_PADDING_VALID) return least + (int32_t)filter;
    return least + nnv_sample_int(s, 1, stride);
}

enum { FILTERS = NNV_WINDOW_DILATION };
static const struct nnv_factor transposed_factors[] = {NNV_WINDOW_FACTORS, NNV_WINDOW_FILTERS};

static void transposed_sample(struct nnv_sample *s) {
    struct nnv_window_sample g = nnv_window_draw(s, 5);
    bool large = nnv_sample_is(s, "large");
    uint32_t channels = s->row ? (uint32_t)nnv_sample_value(s, FILTERS) : nnv_sample_dim(s, 2, 6);
    if (!s->row) {
        g.h = nnv_sample_dim(s, 2, large ? 13 : 5);
        g.w = nnv_sample_dim(s, 3, large ? 11 : 7);
        if (g.h == g.w) g.w++;
    }
    if (!g.scheme) { /* enough that the paddings leave something */
        while ((int)(g.h - 1) * g.stride_h + (int)g.fh - g.top - g.bottom < 3) g.h++;
        while ((int)(g.w - 1) * g.stride_w + (int)g.fw - g.left - g.right < 3) g.w++;
    }
    set_sample(s, &g, channels, g.c);
    if (!g.scheme) return;
    const int32_t w = output_extent(s, g.scheme, g.w, g.stride_w, g.fw);
    const int32_t h = output_extent(s, g.scheme, g.h, g.stride_h, g.fh);
    uint32_t dims[4];
    nnv_sample_image(dims, g.n, (uint32_t)h, (uint32_t)w, channels, g.nchw);
    nnv_sample_ints(s, NNV_CONV_OUT_SHAPE, 4,
                    (int32_t[]){(int32_t)dims[0], (int32_t)dims[1], (int32_t)dims[2], (int32_t)dims[3]});
}

#define RECORD(NAME, KIND, FORMULA, ...)                                                                               \
    const struct nnv_op nnv_op_##NAME = {                                                                              \
        NNV_OP_NAMED(NAME),                                                                                            \
        .level = 3,                                                                                                    \
        .formula = FORMULA,                                                                                            \
        NNV_OP_FORMS(KIND##_forms),                                                                                    \
        NNV_OP_SIGS(sigs),                                                                                             \
        .rounding = NNV_ROUND_LINEAR,                                                                                  \
        .linear = true,                                                                                                \
        NNV_OP_HOOKS(KIND##_),                                                                                         \
        NNV_OP_FACTORS(KIND##_factors),                                                                                \
        __VA_ARGS__,                                                                                                   \
    }

RECORD(GROUPED_CONV_2D, grouped,
       "y[n,i,j,k] = act(bias[k] + sum over p,q,c of x[n, i*sh-top+p, j*sw-left+q, g*D+c] * filter[k,p,q,c]), "
       "D the filter's depth, g = floor(k / (channels / groups))",
       .check = nnv_conv_check, .early = NNV_EARLY_CHECK);
RECORD(TRANSPOSE_CONV_2D, transposed,
       "y[n, i*sh-top+p, j*sw-left+q, k] = act(bias[k] + sum over all i,j,p,q,c that lead there of "
       "x[n,i,j,c] * filter[k,p,q,c])",
       .check = nnv_conv_check, .early = NNV_EARLY_CHECK, .zero = NNV_ZERO_BATCH);
