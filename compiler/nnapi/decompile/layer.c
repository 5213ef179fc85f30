/* SPDX-License-Identifier: Apache-2.0 */
/* Convolutions, dense layers and pools as Relay operators. */
#include <math.h>

#include "compiler/nnapi/decompile/in.h"

/** Window of a convolution or pool: padding top, left, bottom, right; height before width. */
struct window {
    int64_t pad[4], stride[2], size[2], dilation[2];
    uint32_t next; /**< the first input behind paddings and strides */
    bool nchw;
};

/* Padding of the scheme SAME: the odd cell is at the end. */
static void pad_same(const struct nnv_decompiler *l, struct window *w) {
    for (size_t i = 0; i < 2; i++) {
        int64_t in = nnv_dim(nnv_decompile_shape(l, 0), (uint32_t)i + (w->nchw ? 2 : 1));
        int64_t out = (in + w->stride[i] - 1) / w->stride[i], eff = (w->size[i] - 1) * w->dilation[i] + 1;
        int64_t all = (out - 1) * w->stride[i] + eff - in;
        w->pad[i] = all > 0 ? all / 2 : 0;
        w->pad[i + 2] = all > 0 ? all - all / 2 : 0;
    }
}

/* The implicit form has a padding scheme at `first`, the explicit one four paddings; then width before height. */
static bool find_window(struct nnv_decompiler *l, struct window *w, uint32_t first, bool is_explicit) {
    w->dilation[0] = w->dilation[1] = 1;
    uint32_t strides = first + (is_explicit ? 4 : 1);
    w->next = strides + 2;
    for (size_t i = 0; i < 2; i++) w->stride[1 - i] = nnv_decompile_whole(l, strides + (uint32_t)i, 1);
    for (size_t i = 0; i < 4 && is_explicit; i++) {
        static const size_t to[] = {1, 3, 0, 2};
        w->pad[to[i]] = nnv_decompile_whole(l, first + (uint32_t)i, 0);
    }
    return !l->refused && w->stride[0] > 0 && w->stride[1] > 0;
}

/* Behind the scalars that all have: the layout, and the dilations. */
static void find_rest(struct nnv_decompiler *l, struct window *w, uint32_t first, uint32_t scheme, bool is_explicit) {
    w->nchw = nnv_decompile_number(l, first, 0) != 0;
    for (uint32_t i = 0; i < 2; i++) w->dilation[1 - i] = nnv_decompile_whole(l, first + 1 + i, 1);
    if (!is_explicit && nnv_decompile_number(l, scheme, 0) == ANEURALNETWORKS_PADDING_SAME) pad_same(l, w);
}

/* ------------------------------------------------------- what layers end with */

/* Sums of int32 to the codes of the output, within the fused activation. */
static void put_sums(struct nnv_decompiler *l, struct nnv_relay_expr *sums, uint32_t act, int64_t axis) {
    const struct nnv_operand *x = nnv_decompile_operand(l, 0), *w = nnv_decompile_operand(l, 1),
                             *y = nnv_decompile_out(l, 0);
    bool is_signed = y->type == ANEURALNETWORKS_TENSOR_QUANT8_ASYMM_SIGNED;
    struct nnv_relay_expr *scale;
    if (w->channel.count) {
        float *scales = NNV_NEW(l->arena, float, w->channel.count);
        if (!scales) l->failed = true;
        for (uint32_t i = 0; scales && i < w->channel.count; i++) scales[i] = x->scale * w->channel.scales[i];
        scale = scales ? nnv_decompile_floats(l, w->channel.count, scales) : NULL;
    } else {
        scale = nnv_decompile_constant(l, NNV_RELAY_FLOAT32, (double)(x->scale * w->scale));
        axis = -1;
    }
    struct nnv_relay_expr *e = nnv_decompile_call(
        l, "qnn.requantize",
        NNV_DECOMPILE_ARGS(sums, scale, nnv_decompile_constant(l, NNV_RELAY_INT32, 0),
                           nnv_decompile_constant(l, NNV_RELAY_FLOAT32, (double)y->scale),
                           nnv_decompile_constant(l, NNV_RELAY_INT32, y->zero_point)),
        NNV_DECOMPILE_ATTRS(nnv_decompile_int("axis", axis), nnv_decompile_text("rounding", "TONEAREST"),
                            nnv_decompile_text("out_dtype", is_signed ? "int8" : "uint8")));
    int code = (int)nnv_decompile_number(l, act, 0);
    double least = nnv_type(y->type)->min, most = nnv_type(y->type)->max, zero = y->zero_point;
    double one = nnv_round_half_away(1 / (double)y->scale), six = nnv_round_half_away(6 / (double)y->scale);
    double low = code == ANEURALNETWORKS_FUSED_RELU1 ? zero - one : code ? zero : least;
    double high = code == ANEURALNETWORKS_FUSED_RELU1   ? zero + one
                  : code == ANEURALNETWORKS_FUSED_RELU6 ? zero + six
                                                        : most;
    if (code) e = nnv_decompile_clip(l, e, fmax(low, least), fmin(high, most));
    nnv_decompile_put(l, 0, e);
}

static void put_layer(struct nnv_decompiler *l, struct nnv_relay_expr *e, uint32_t act, int64_t axis) {
    e = nnv_decompile_call(l, "nn.bias_add", NNV_DECOMPILE_ARGS(e, nnv_decompile_in(l, 2)),
                           NNV_DECOMPILE_ATTRS(nnv_decompile_int("axis", axis)));
    if (nnv_is_quant(nnv_decompile_operand(l, 0)->type))
        put_sums(l, e, act, axis);
    else
        nnv_decompile_put_fused(l, act, e);
}

/* A layer's call: of the data and weights, and if they are quantised their zero points and scales. */
static struct nnv_relay_expr *layer_call(struct nnv_decompiler *l, const char *name, size_t n_attrs,
                                         const struct nnv_relay_attr *attrs) {
    const struct nnv_operand *x = nnv_decompile_operand(l, 0), *w = nnv_decompile_operand(l, 1);
    struct nnv_relay_expr *data = nnv_decompile_in(l, 0), *weights = nnv_decompile_in(l, 1);
    if (!nnv_is_quant(x->type)) return nnv_decompile_call(l, name, NNV_DECOMPILE_ARGS(data, weights), n_attrs, attrs);
    struct nnv_relay_expr *scale = w->channel.count ? nnv_decompile_floats(l, w->channel.count, w->channel.scales)
                                                    : nnv_decompile_constant(l, NNV_RELAY_FLOAT32, (double)w->scale);
    struct nnv_relay_expr *args[] = {data,
                                     weights,
                                     nnv_decompile_constant(l, NNV_RELAY_INT32, x->zero_point),
                                     nnv_decompile_constant(l, NNV_RELAY_INT32, w->zero_point),
                                     nnv_decompile_constant(l, NNV_RELAY_FLOAT32, (double)x->scale),
                                     scale};
    return nnv_decompile_call(l, name, 6, args, n_attrs, attrs);
}

/* ------------------------------------------------------------- convolutions */

static void emit_conv(struct nnv_decompiler *l, const char *name, const struct window *w, const char *kernel_layout,
                      int64_t groups, uint32_t act) {
    bool quant = nnv_is_quant(nnv_decompile_operand(l, 0)->type);
    int64_t channels = nnv_dim(nnv_decompile_out_shape(l, 0), w->nchw ? 1 : 3);
    const struct nnv_relay_attr attrs[] = {nnv_decompile_list(l, "strides", 2, w->stride),
                                           nnv_decompile_list(l, "padding", 4, w->pad),
                                           nnv_decompile_list(l, "dilation", 2, w->dilation),
                                           nnv_decompile_int("groups", groups),
                                           nnv_decompile_int("channels", channels),
                                           nnv_decompile_list(l, "kernel_size", 2, w->size),
                                           nnv_decompile_text("data_layout", w->nchw ? "NCHW" : "NHWC"),
                                           nnv_decompile_text("kernel_layout", kernel_layout),
                                           nnv_decompile_text("out_dtype", "int32")};
    const char *called = quant ? nnv_arena_printf(l->arena, "q%s", name) : name;
    if (called)
        put_layer(l, layer_call(l, called, quant ? 9 : 8, attrs), act, w->nchw ? 1 : 3);
    else
        l->failed = true;
}

static void find_size(const struct nnv_decompiler *l, struct window *w) {
    for (uint32_t i = 0; i < 2; i++) w->size[i] = nnv_dim(nnv_decompile_shape(l, 1), i + 1);
}

/* True if the input is there and no BOOL: explicit forms have more integers. */
static bool has_int(const struct nnv_decompiler *l, uint32_t i) {
    return nnv_decompile_has(l, i) && nnv_decompile_operand(l, i)->type == ANEURALNETWORKS_INT32;
}

static void conv_2d(struct nnv_decompiler *l) {
    bool depthwise = l->op->type == ANEURALNETWORKS_DEPTHWISE_CONV_2D,
         grouped = l->op->type == ANEURALNETWORKS_GROUPED_CONV_2D;
    uint32_t extra = depthwise || grouped; /* the multiplier, or the groups */
    bool is_explicit = has_int(l, 7 + extra) && has_int(l, 8 + extra);
    struct window w = {.nchw = false};
    if (!find_window(l, &w, 3, is_explicit)) return;
    uint32_t act = w.next + extra;
    find_size(l, &w);
    find_rest(l, &w, act + 1, 3, is_explicit);
    int64_t groups = grouped ? nnv_decompile_whole(l, w.next, 1) : 1;
    if (depthwise) groups = nnv_dim(nnv_decompile_shape(l, 0), w.nchw ? 1 : 3);
    emit_conv(l, "nn.conv2d", &w, depthwise ? "IHWO" : "OHWI", groups, act);
}

/* Explicit padding only: the other form has a shape as well. Weights are [out, height, width, in]. */
static void transpose_conv_2d(struct nnv_decompiler *l) {
    bool is_explicit = has_int(l, 9);
    struct window w = {.nchw = false};
    if (!is_explicit || !find_window(l, &w, 3, true)) {
        l->refused = true;
        return;
    }
    find_size(l, &w);
    w.nchw = nnv_decompile_number(l, 10, 0) != 0;
    int64_t extra[2] = {0, 0};
    for (size_t i = 0; i < 2; i++)
        if (w.pad[i + 2] < 0) {
            extra[i] = -w.pad[i + 2];
            w.pad[i + 2] = 0;
        }
    const struct nnv_relay_attr attrs[] = {
        nnv_decompile_list(l, "strides", 2, w.stride),
        nnv_decompile_list(l, "padding", 4, w.pad),
        nnv_decompile_list(l, "output_padding", 2, extra),
        nnv_decompile_int("channels", nnv_dim(nnv_decompile_out_shape(l, 0), w.nchw ? 1 : 3)),
        nnv_decompile_list(l, "kernel_size", 2, w.size),
        nnv_decompile_text("data_layout", w.nchw ? "NCHW" : "NHWC"),
        nnv_decompile_text("kernel_layout", "OHWI"),
        nnv_decompile_text("out_dtype", "int32")};
    bool quant = nnv_is_quant(nnv_decompile_operand(l, 0)->type);
    put_layer(l, layer_call(l, quant ? "qnn.conv2d_transpose" : "nn.conv2d_transpose", quant ? 8 : 7, attrs), 9,
              w.nchw ? 1 : 3);
}

/* --------------------------------------------------------------- dense layers */

static void fully_connected(struct nnv_decompiler *l) {
    int64_t units = nnv_dim(nnv_decompile_shape(l, 1), 0), size = nnv_dim(nnv_decompile_shape(l, 1), 1);
    const int64_t rows[] = {nnv_dim(nnv_decompile_out_shape(l, 0), 0), size};
    const struct nnv_relay_attr attrs[] = {nnv_decompile_int("units", units), nnv_decompile_text("out_dtype", "int32")};
    bool quant = nnv_is_quant(nnv_decompile_operand(l, 0)->type);
    struct nnv_relay_expr *data = nnv_decompile_in(l, 0);
    if (nnv_decompile_shape(l, 0)->rank != 2 || nnv_dim(nnv_decompile_shape(l, 0), 1) != (uint32_t)size)
        data = nnv_decompile_call(l, "reshape", NNV_DECOMPILE_ARGS(data),
                                  NNV_DECOMPILE_ATTRS(nnv_decompile_list(l, "newshape", 2, rows)));
    struct nnv_relay_expr *was = l->values[l->op->in[0]];
    l->values[l->op->in[0]] = data;
    struct nnv_relay_expr *e = layer_call(l, quant ? "qnn.dense" : "nn.dense", quant ? 2 : 1, attrs);
    l->values[l->op->in[0]] = was;
    put_layer(l, e, 3, 1);
}

/* --------------------------------------------------------------------- pools */

static void pool(struct nnv_decompiler *l) {
    bool is_explicit = has_int(l, 7) && has_int(l, 8), max = l->op->type == ANEURALNETWORKS_MAX_POOL_2D;
    struct window w = {.nchw = false};
    if (!find_window(l, &w, 1, is_explicit)) return;
    for (uint32_t i = 0; i < 2; i++) w.size[1 - i] = nnv_decompile_whole(l, w.next + i, 1);
    w.nchw = nnv_decompile_number(l, w.next + 3, 0) != 0;
    if (!is_explicit && nnv_decompile_number(l, 1, 0) == ANEURALNETWORKS_PADDING_SAME) pad_same(l, &w);
    bool codes = max && nnv_decompile_number(l, w.next + 2, 0) == 0; /* the largest code is the largest number */
    struct nnv_relay_expr *e = nnv_decompile_call(
        l, l->name, NNV_DECOMPILE_ARGS(codes ? nnv_decompile_in(l, 0) : nnv_decompile_real(l, 0)),
        NNV_DECOMPILE_ATTRS(nnv_decompile_list(l, "pool_size", 2, w.size),
                            nnv_decompile_list(l, "strides", 2, w.stride), nnv_decompile_list(l, "padding", 4, w.pad),
                            nnv_decompile_text("layout", w.nchw ? "NCHW" : "NHWC")));
    if (codes)
        nnv_decompile_put(l, 0, e);
    else
        nnv_decompile_put_fused(l, w.next + 2, e);
}

#define OP(name) ANEURALNETWORKS_##name
static const struct nnv_decompile_row rows[] = {
    {OP(CONV_2D), conv_2d, NULL},
    {OP(DEPTHWISE_CONV_2D), conv_2d, NULL},
    {OP(GROUPED_CONV_2D), conv_2d, NULL},
    {OP(TRANSPOSE_CONV_2D), transpose_conv_2d, NULL},
    {OP(FULLY_CONNECTED), fully_connected, NULL},
    {OP(MAX_POOL_2D), pool, "nn.max_pool2d"},
    {OP(AVERAGE_POOL_2D), pool, "nn.avg_pool2d"},
};
const struct nnv_decompile_rows nnv_decompile_layers = {rows, sizeof rows / sizeof *rows};
