/* SPDX-License-Identifier: Apache-2.0 */
/* Convolutions: types of results, kernels, rows. */
#include <inttypes.h>
#include <string.h>

#include "base/matmul.h"
#include "compiler/relay/ops/kernel.h"

/* ------------------------------------------------------------------- types */

/* Checks channels in against the weights, and finds how many come out. */
static bool channels_of(struct nnv_relay_typing *t, int64_t in, int64_t o, int64_t i, int64_t *out) {
    int64_t groups = nnv_relay_int(t, "groups", 1), said = nnv_relay_int(t, "channels", NNV_RELAY_ANY), all = 0;
    if (groups < 1) return nnv_relay_wrong(t, "groups must be 1 or more");
    bool has_all = in >= 0 && i >= 0 && !__builtin_mul_overflow(i, groups, &all);
    *out = o;
    if (in < 0 || i < 0 || (has_all && all == in)) {
        /* weights as the layout has them */
    } else if (groups == in && o == in && !__builtin_mul_overflow(o, i, out)) {
        /* depthwise weights: for each channel in, a number of channels out */
    } else {
        return nnv_relay_wrong(t, "%" PRId64 " channels in %" PRId64 " groups, but weights for %" PRId64, in, groups,
                               i);
    }
    if (!nnv_relay_agree(said, *out))
        return nnv_relay_wrong(t, "channels is %" PRId64 ", the weights have %" PRId64, said, *out);
    if (*out >= 0 && *out % groups)
        return nnv_relay_wrong(t, "the channels can't be split in %" PRId64 " groups", groups);
    return true;
}

/* The layouts of data, weights and result; out_layout is by default that of the data. */
static bool layouts(struct nnv_relay_typing *t, struct nnv_relay_layout *data, struct nnv_relay_layout *kernel,
                    struct nnv_relay_layout *out) {
    const char *data_layout = nnv_relay_text(t, "data_layout", ""), *out_layout = nnv_relay_text(t, "out_layout", "");
    return nnv_relay_layout(t, "data_layout", data_layout, "NCHW", data) &&
           nnv_relay_layout(t, "kernel_layout", nnv_relay_text(t, "kernel_layout", ""), "OIHW", kernel) &&
           nnv_relay_layout(t, "out_layout", *out_layout ? out_layout : data_layout, "NCHW", out);
}

static const struct nnv_relay_type *infer_conv(struct nnv_relay_typing *t) {
    const struct nnv_relay_type *x = nnv_relay_images(t, 0), *w = x ? nnv_relay_images(t, 1) : NULL;
    bool qnn = t->call->n_args == 6;
    struct nnv_relay_layout l, k, o;
    int64_t dims[4], out[2], size[2];
    enum nnv_relay_dtype dtype;
    if (w == NULL || !layouts(t, &l, &k, &o)) return NULL;
    bool floats = nnv_relay_dtype_is_float(x->dtype) || nnv_relay_dtype_is_float(w->dtype);
    if (!qnn && x->dtype != w->dtype && floats)
        return nnv_relay_wrong(t, "the data and the weights are of different types");
    int64_t kernel[] = {w->dims[k.h], w->dims[k.w]}, in[] = {x->dims[l.h], x->dims[l.w]};
    if (nnv_relay_written(t->call, "kernel_size")) {
        if (!nnv_relay_pair(t, "kernel_size", 1, size)) return NULL;
        if (!nnv_relay_agree(size[0], kernel[0]) || !nnv_relay_agree(size[1], kernel[1]))
            return nnv_relay_wrong(
                t, "kernel_size is [%" PRId64 ", %" PRId64 "], the weights have [%" PRId64 ", %" PRId64 "]", size[0],
                size[1], kernel[0], kernel[1]);
    }
    if (!nnv_relay_places_2d(t, kernel, false, in, out)) return NULL;
    dims[o.first] = x->dims[l.first];
    dims[o.h] = out[0];
    dims[o.w] = out[1];
    if (!channels_of(t, x->dims[l.second], w->dims[k.first], w->dims[k.second], &dims[o.second])) return NULL;
    if (!nnv_relay_dtype_attr(t, "out_dtype", qnn ? NNV_RELAY_INT32 : x->dtype, &dtype)) return NULL;
    return nnv_relay_made_images(t, dtype, dims);
}

static bool grown(struct nnv_relay_typing *t, const int64_t *in, const int64_t *kernel, int64_t *size) {
    int64_t stride[2], dilation[2], more[2], pad[4];
    if (!nnv_relay_pair(t, "strides", 1, stride) || !nnv_relay_pair(t, "dilation", 1, dilation) ||
        !nnv_relay_pair(t, "output_padding", 0, more) || !nnv_relay_padding(t, pad))
        return false;
    for (size_t i = 0; i < 2; i++) {
        size[i] = NNV_RELAY_ANY;
        if (in[i] < 0 || kernel[i] < 0) continue;
        if (in[i] < 1 || in[i] > NNV_RELAY_MOST_EXTENT || kernel[i] < 1 || kernel[i] > NNV_RELAY_MOST_EXTENT)
            return nnv_relay_wrong(t, "an extent is out of range");
        if (more[i] >= stride[i] && more[i] >= dilation[i])
            return nnv_relay_wrong(t, "output_padding must be less than the strides");
        size[i] = (in[i] - 1) * stride[i] + (kernel[i] - 1) * dilation[i] + 1 - pad[i] - pad[i + 2] + more[i];
        if (size[i] < 1) return nnv_relay_wrong(t, "the padding leaves nothing of the result");
    }
    return true;
}

static const struct nnv_relay_type *infer_conv_transpose(struct nnv_relay_typing *t) {
    const struct nnv_relay_type *x = nnv_relay_of_rank(t, 0, 4), *w = x ? nnv_relay_of_rank(t, 1, 4) : NULL;
    const char *layout = nnv_relay_text(t, "data_layout", "NCHW"), *out_layout = nnv_relay_text(t, "out_layout", "");
    bool qnn = t->call->n_args == 6;
    int64_t dims[4], size[2], groups = nnv_relay_int(t, "groups", 1);
    struct nnv_relay_layout l, k;
    enum nnv_relay_dtype dtype;
    if (w == NULL || !nnv_relay_layout(t, "data_layout", layout, "NCHW", &l) ||
        !nnv_relay_layout(t, "kernel_layout", nnv_relay_text(t, "kernel_layout", "IOHW"), "IOHW", &k))
        return NULL;
    if (*out_layout && strcmp(out_layout, layout) != 0)
        return nnv_relay_wrong(t, "out_layout must be that of the data");
    if (!qnn && x->dtype != w->dtype) return nnv_relay_wrong(t, "the data and the weights are of different types");
    int64_t in = x->dims[l.second], i = w->dims[k.first], o = w->dims[k.second];
    if (groups < 1 || (in >= 0 && in % groups)) return nnv_relay_wrong(t, "%" PRId64 " groups", groups);
    if (in >= 0 && i >= 0 && in != i)
        return nnv_relay_wrong(t, "%" PRId64 " channels in, but weights for %" PRId64, in, i);
    if (!grown(t, (int64_t[]){x->dims[l.h], x->dims[l.w]}, (int64_t[]){w->dims[k.h], w->dims[k.w]}, size)) return NULL;
    if (o > 0 && __builtin_mul_overflow(o, groups, &o)) return nnv_relay_wrong(t, "the result is too large");
    int64_t said = nnv_relay_int(t, "channels", o);
    if (o >= 0 && said != o) return nnv_relay_wrong(t, "channels is %" PRId64 ", the weights have %" PRId64, said, o);
    dims[l.first] = x->dims[l.first];
    dims[l.second] = o;
    dims[l.h] = size[0];
    dims[l.w] = size[1];
    if (!nnv_relay_dtype_attr(t, "out_dtype", qnn ? NNV_RELAY_INT32 : x->dtype, &dtype)) return NULL;
    return nnv_relay_made(t, dtype, 4, dims);
}

/* ----------------------------------------------------------------- kernels */

enum { BLOCK = 1 << 20 }; /* elements that are gathered at a time, at most, but for one line */

/** How one convolution walks: extents and strides are those of its layouts. */
struct conv {
    int64_t n, in_h, in_w, out_h, out_w, k_h, k_w, groups, in_c, out_c; /**< in_c and out_c: of a group */
    int64_t stride[2], dilation[2], pad[4];
    int64_t x_n, x_c, x_h, x_w, y_n, y_c, y_h, y_w; /**< distances of neighbours */
    const double *x, *w;                            /**< w: [out channel][in channel of the group][h][w] */
    double *y;
};

/* ----------------------------------------------------------------- geometry */

static void data_strides(const struct nnv_relay_type *type, const struct nnv_relay_layout *l, int64_t *to) {
    int64_t s[NNV_RELAY_RANK];
    nnv_interp_strides(type, s);
    to[0] = s[l->first];
    to[1] = s[l->second];
    to[2] = s[l->h];
    to[3] = s[l->w];
}

/* The weights as [out][in of the group][h][w]. Depthwise ones are [channel][multiplier] in their letters O and I. */
static const double *weights(struct nnv_interp_op *op, const double *from, const struct nnv_relay_layout *k) {
    const struct nnv_relay_type *type = nnv_relay_as_images(&op->t, op->in[1]->type);
    if (type == NULL) return NULL;
    int64_t s[4], dims[] = {type->dims[k->first], type->dims[k->second], type->dims[k->h], type->dims[k->w]};
    double *to = nnv_interp_space(op, op->in[1]->n);
    data_strides(type, k, s);
    if (to) nnv_interp_pick(from, 4, dims, s, to);
    return to;
}

static bool geometry(struct nnv_interp_op *op, struct conv *c) {
    const struct nnv_relay_type *x = nnv_relay_as_images(&op->t, op->in[0]->type),
                                *y = nnv_relay_as_images(&op->t, op->out->type),
                                *k = nnv_relay_as_images(&op->t, op->in[1]->type);
    struct nnv_relay_layout l, o, kl;
    int64_t s[4];
    const double *w = op->in[1]->values;
    c->x = op->in[0]->values;
    if (!x || !y || !k || !layouts(&op->t, &l, &kl, &o) || !nnv_interp_centred_operands(op, kl.first, &c->x, &w) ||
        !nnv_relay_pair(&op->t, "strides", 1, c->stride) || !nnv_relay_pair(&op->t, "dilation", 1, c->dilation) ||
        !nnv_relay_padding(&op->t, c->pad))
        return false;
    data_strides(x, &l, s);
    c->x_n = s[0], c->x_c = s[1], c->x_h = s[2], c->x_w = s[3];
    data_strides(y, &o, s);
    c->y_n = s[0], c->y_c = s[1], c->y_h = s[2], c->y_w = s[3];
    c->n = x->dims[l.first], c->in_h = x->dims[l.h], c->in_w = x->dims[l.w];
    c->out_h = y->dims[o.h], c->out_w = y->dims[o.w];
    c->k_h = k->dims[kl.h], c->k_w = k->dims[kl.w];
    c->groups = nnv_relay_int(&op->t, "groups", 1);
    c->in_c = x->dims[l.second] / c->groups;
    c->out_c = y->dims[o.second] / c->groups;
    c->y = op->out->values;
    c->w = weights(op, w, &kl);
    return c->w != NULL;
}

/* ------------------------------------------------------------- convolutions */

/* One channel in and out at a time, for groups of few channels. */
static void convolve_plane(const struct conv *c, const double *x, const double *w, double *y) {
    for (int64_t kh = 0; kh < c->k_h; kh++) {
        for (int64_t kw = 0; kw < c->k_w; kw++) {
            double by = w[kh * c->k_w + kw];
            for (int64_t oh = 0; oh < c->out_h; oh++) {
                int64_t h = oh * c->stride[0] - c->pad[0] + kh * c->dilation[0];
                if (h < 0 || h >= c->in_h) continue;
                const double *line = x + h * c->x_h;
                double *to = y + oh * c->y_h;
                int64_t at = kw * c->dilation[1] - c->pad[1];
                for (int64_t ow = 0; ow < c->out_w; ow++, at += c->stride[1])
                    if (at >= 0 && at < c->in_w) to[ow * c->y_w] += by * line[at * c->x_w];
            }
        }
    }
}

static void convolve_group(const struct conv *c, const double *x, const double *w, double *y) {
    for (int64_t o = 0; o < c->out_c; o++)
        for (int64_t i = 0; i < c->in_c; i++)
            convolve_plane(c, x + i * c->x_c, w + (o * c->in_c + i) * c->k_h * c->k_w, y + o * c->y_c);
}

/* Lines of the result from `first` on: what lies under each place of the window, a line for each weight. */
static void gather(const struct conv *c, const double *x, int64_t first, int64_t lines, double *to) {
    for (int64_t i = 0; i < c->in_c; i++) {
        for (int64_t kh = 0; kh < c->k_h; kh++) {
            for (int64_t kw = 0; kw < c->k_w; kw++) {
                for (int64_t oh = first; oh < first + lines; oh++) {
                    int64_t h = oh * c->stride[0] - c->pad[0] + kh * c->dilation[0];
                    int64_t at = kw * c->dilation[1] - c->pad[1];
                    bool in = h >= 0 && h < c->in_h;
                    const double *line = in ? x + i * c->x_c + h * c->x_h : NULL;
                    for (int64_t ow = 0; ow < c->out_w; ow++, at += c->stride[1])
                        *to++ = in && at >= 0 && at < c->in_w ? line[at * c->x_w] : 0;
                }
            }
        }
    }
}

/* A group as matrix products, some lines of the result at a time. */
static bool multiply_group(struct nnv_interp_op *op, const struct conv *c, const double *x, const double *w, double *y,
                           double *under, double *product, int64_t most) {
    int64_t depth = c->in_c * c->k_h * c->k_w;
    for (int64_t first = 0; first < c->out_h; first += most) {
        int64_t lines = c->out_h - first < most ? c->out_h - first : most, width = lines * c->out_w;
        if (width > INT32_MAX || depth > INT32_MAX || c->out_c > INT32_MAX) return nnv_relay_wrong(&op->t, "too large");
        gather(c, x, first, lines, under);
        nnv_dgemm(false, (size_t)c->out_c, (size_t)width, (size_t)depth, w, under, product);
        for (int64_t o = 0; o < c->out_c; o++)
            for (int64_t h = 0; h < lines; h++)
                for (int64_t v = 0; v < c->out_w; v++)
                    y[o * c->y_c + (first + h) * c->y_h + v * c->y_w] = product[(o * lines + h) * c->out_w + v];
    }
    return true;
}

static void convolve(struct nnv_interp_op *op, const struct conv *c) {
    int64_t depth = c->in_c * c->k_h * c->k_w, line = depth * c->out_w, most = line ? BLOCK / line : 1;
    bool few = depth == 0 || (c->in_c < 4 && c->out_c < 4);
    double *under = NULL, *product = NULL;
    if (most < 1) most = 1;
    if (most > c->out_h) most = c->out_h;
    if (!few && op->out->n) {
        under = nnv_interp_space(op, (size_t)(line * most));
        product = under ? nnv_interp_space(op, (size_t)(c->out_c * c->out_w * most)) : NULL;
        if (product == NULL) return;
    }
    for (int64_t n = 0; op->out->n && n < c->n; n++) {
        for (int64_t g = 0; g < c->groups; g++) {
            const double *x = c->x + n * c->x_n + g * c->in_c * c->x_c, *w = c->w + g * c->out_c * depth;
            double *y = c->y + n * c->y_n + g * c->out_c * c->y_c;
            if (few)
                convolve_group(c, x, w, y);
            else if (!multiply_group(op, c, x, w, y, under, product, most))
                return;
        }
    }
}

/* One channel in, spread over one channel out. */
static void spread_plane(const struct conv *c, const double *x, const double *w, double *y) {
    for (int64_t i = 0; i < c->in_h * c->in_w; i++) {
        int64_t top = i / c->in_w * c->stride[0] - c->pad[0], left = i % c->in_w * c->stride[1] - c->pad[1];
        double v = x[i / c->in_w * c->x_h + i % c->in_w * c->x_w];
        for (int64_t k = 0; k < c->k_h * c->k_w; k++) {
            int64_t h = top + k / c->k_w * c->dilation[0], at = left + k % c->k_w * c->dilation[1];
            if (h >= 0 && h < c->out_h && at >= 0 && at < c->out_w) y[h * c->y_h + at * c->y_w] += v * w[k];
        }
    }
}

/* The weights are [out channel of the group][in channel][h][w]. */
static void spread(const struct conv *c) {
    int64_t size = c->k_h * c->k_w, all = c->in_c * c->groups;
    for (int64_t n = 0; n < c->n; n++)
        for (int64_t i = 0; i < all; i++)
            for (int64_t o = 0; o < c->out_c; o++)
                spread_plane(c, c->x + n * c->x_n + i * c->x_c, c->w + (o * all + i) * size,
                             c->y + n * c->y_n + (i / c->in_c * c->out_c + o) * c->y_c);
}

static void run_conv(struct nnv_interp_op *op) {
    struct conv c = {0};
    if (!geometry(op, &c)) return;
    convolve(op, &c);
    nnv_interp_wrap_all(op);
}

static void run_conv2d_transpose(struct nnv_interp_op *op) {
    struct conv c = {0};
    if (!geometry(op, &c)) return;
    spread(&c);
    nnv_interp_wrap_all(op);
}

/* -------------------------------------------------------------------- rows */

#include "compiler/relay/ops/rows.h"

#define CONV_TRANSPOSE                                                                                                 \
    {"channels", K_INT, NULL}, {"kernel_size", K_INTS, NULL}, {"strides", K_INTS, PAIR(1)},                            \
        {"padding", K_INTS, PAIR(0)}, {"output_padding", K_INTS, PAIR(0)}, {"dilation", K_INTS, PAIR(1)},              \
        {"groups", K_INT, INT(1)}, {"data_layout", K_TEXT, TEXT("NCHW")}, {"kernel_layout", K_TEXT, TEXT("IOHW")},     \
        {"out_layout", K_TEXT, TEXT("")}, {                                                                            \
        "out_dtype", K_TEXT, TEXT("")                                                                                  \
    }
#define CONV                                                                                                           \
    {"strides", K_INTS, PAIR(1)}, {"padding", K_INTS, PAIR(0)}, {"dilation", K_INTS, PAIR(1)},                         \
        {"groups", K_INT, INT(1)}, {"channels", K_INT, NULL}, {"kernel_size", K_INTS, NULL},                           \
        {"data_layout", K_TEXT, TEXT("NCHW")}, {"kernel_layout", K_TEXT, TEXT("OIHW")},                                \
        {"out_layout", K_TEXT, TEXT("")}, {                                                                            \
        "out_dtype", K_TEXT, TEXT("")                                                                                  \
    }

static const struct nnv_relay_op_row rows[] = {
    {"nn.conv1d", 2, 2, infer_conv, run_conv,
     .attrs = {{"strides", K_INTS, INT(1)},
               {"padding", K_INTS, INT(0)},
               {"dilation", K_INTS, INT(1)},
               {"groups", K_INT, INT(1)},
               {"channels", K_INT, NULL},
               {"kernel_size", K_INTS, NULL},
               {"data_layout", K_TEXT, TEXT("NCW")},
               {"kernel_layout", K_TEXT, TEXT("OIW")},
               {"out_layout", K_TEXT, TEXT("")},
               {"out_dtype", K_TEXT, TEXT("")}},
     .relax = "(data, weight, strides, padding, dilation, groups, data_layout, kernel_layout, out_layout, out_dtype)"},
    {"nn.conv2d", 2, 2, infer_conv, run_conv, .attrs = {CONV},
     .relax = "(data, weight, strides, padding, dilation, groups, data_layout, kernel_layout, out_layout, out_dtype)"},
    {"nn.conv2d_transpose", 2, 2, infer_conv_transpose, run_conv2d_transpose, .attrs = {CONV_TRANSPOSE},
     .relax = "(data, weight, strides, padding, output_padding, dilation, groups, data_layout, kernel_layout, "
              "out_layout, out_dtype)"},
    {"qnn.conv2d", 6, 6, infer_conv, run_conv, .attrs = {CONV}},
    {"qnn.conv2d_transpose", 6, 6, infer_conv_transpose, run_conv2d_transpose, .attrs = {CONV_TRANSPOSE}},
};
const struct nnv_relay_op_rows nnv_relay_conv = {rows, sizeof rows / sizeof *rows};
