/* SPDX-License-Identifier: Apache-2.0 */
/* Convolutions and dense layers. */
#include <inttypes.h>
#include <string.h>

#include "compiler/nnapi/convert/convert_layer.h"

/** What the attributes of a convolution say. */
struct conv {
    const char *layout;
    uint32_t o, i, h, w; /**< where these are in the weights; h of a line: NNV_RC_NONE */
    int64_t stride[2], dilation[2], pad[4], groups;
    uint32_t kernel[2], in_channels, channels;
};

/* What an absorbed nn.pad adds. */
static void add_padding(const struct nnv_rc *c, struct conv *k) {
    if (c->node->pad == NNV_RC_NONE) return;
    const struct nnv_relay_value *width = nnv_relay_attr(c->nodes[c->node->pad].e, "pad_width");
    size_t h = (size_t)(strchr(k->layout, 'H') - k->layout), w = (size_t)(strchr(k->layout, 'W') - k->layout);
    k->pad[0] += width->list[h].list[0].i;
    k->pad[1] += width->list[w].list[0].i;
    k->pad[2] += width->list[h].list[1].i;
    k->pad[3] += width->list[w].list[1].i;
}

static void find_kernel(struct nnv_rc *c, struct conv *k, const char *layout) {
    uint32_t *const at[] = {&k->o, &k->i, &k->h, &k->w};
    struct nnv_rc_shape s = nnv_rc_shape(c, nnv_rc_arg(c, 1));
    const bool line = nnv_rc_is_line(c);
    for (size_t i = 0; i < 4; i++) {
        const char *found = strlen(layout) == (line ? 3 : 4) ? strchr(layout, "OIHW"[i]) : NULL;
        *at[i] = NNV_RC_NONE;
        if (line && at[i] == &k->h) continue;
        if (!found) {
            nnv_rc_refuse(c, "kernel layout %s: only orders of OIHW", layout);
            return;
        }
        *at[i] = (uint32_t)(found - layout);
    }
    k->kernel[0] = line ? 1 : s.dims[k->h];
    k->kernel[1] = s.dims[k->w];
}

static struct conv find_conv(struct nnv_rc *c, const char *kernel_layout) {
    struct conv k = {.layout = nnv_rc_layout_attr(c, "data_layout")};
    const char *out_layout = nnv_rc_text_attr(c, "out_layout", "");
    k.groups = nnv_rc_int_attr(c, "groups", 1);
    nnv_rc_pair_attr(c, "strides", 1, k.stride);
    nnv_rc_pair_attr(c, "dilation", 1, k.dilation);
    nnv_rc_padding_attr(c, k.pad);
    if (strcmp(k.layout, "NCHW") != 0 && strcmp(k.layout, "NHWC") != 0)
        nnv_rc_refuse(c, "data layout %s: only NCHW and NHWC", k.layout);
    else if (*out_layout && strcmp(nnv_rc_layout_attr(c, "out_layout"), k.layout) != 0)
        nnv_rc_refuse(c, "out_layout %s differs from data_layout %s", out_layout, k.layout);
    if (!nnv_rc_ok(c)) return k;
    find_kernel(c, &k, nnv_rc_text_attr(c, "kernel_layout", kernel_layout));
    add_padding(c, &k);
    struct nnv_rc_shape x = nnv_rc_shape(c, nnv_rc_arg(c, 0)), y = nnv_rc_shape(c, c->node->out.v[0]);
    uint32_t at = k.layout[1] == 'C' ? 1 : x.rank - 1;
    k.in_channels = x.dims[at];
    k.channels = y.dims[at];
    return k;
}

/* Padding as large as the filter is an operation of its own: NNAPI's convolutions do not take it. */
static void pad_before(struct nnv_rc *c, struct conv *k, struct nnv_rc_layout *l) {
    bool large = false;
    for (size_t i = 0; i < 4; i++) large = large || k->pad[i] > ((int64_t)k->kernel[i % 2] - 1) * k->dilation[i % 2];
    if (!large || !nnv_rc_ok(c)) return;
    int64_t pads[8] = {0};
    double numbers[8];
    struct nnv_rc_shape shape = l->shape;
    for (size_t i = 0; i < 2; i++) {
        uint32_t at = i ? l->w : l->h;
        pads[at * 2] = k->pad[i];
        pads[at * 2 + 1] = k->pad[i + 2];
        shape.dims[at] += (uint32_t)(k->pad[i] + k->pad[i + 2]);
        k->pad[i] = k->pad[i + 2] = 0;
    }
    for (size_t i = 0; i < 8; i++) numbers[i] = (double)pads[i];
    uint32_t padded = nnv_rc_temp(c, nnv_builder_encoding(&c->b, l->in), &shape);
    NNV_RC_EMIT(c, ANEURALNETWORKS_PAD, padded, l->in,
                nnv_rc_const(c, NNV_RC_I32_TENSOR, &(struct nnv_rc_shape){2, {4, 2}}, numbers));
    l->in = padded;
    l->shape = shape;
}

/* The operands that all forms begin with. */
static uint32_t begin(struct nnv_rc *c, const struct conv *k, const struct nnv_rc_layer *layer,
                      const struct nnv_rc_layout *l, uint32_t *in) {
    const int64_t order[] = {k->pad[1], k->pad[3], k->pad[0], k->pad[2], k->stride[1], k->stride[0]};
    in[0] = l->in;
    in[1] = layer->weights;
    in[2] = layer->bias_operand;
    for (uint32_t i = 0; i < 6; i++) in[3 + i] = nnv_rc_int(c, order[i]);
    return 9;
}

static uint32_t add_dilation(struct nnv_rc *c, const struct conv *k, const struct nnv_rc_layout *l, uint32_t *in,
                             uint32_t n) {
    bool dilated = k->dilation[0] != 1 || k->dilation[1] != 1;
    if (l->flag || dilated) in[n++] = nnv_builder_bool(&c->b, l->flag);
    if (!dilated) return n;
    in[n++] = nnv_rc_int(c, k->dilation[1]);
    in[n++] = nnv_rc_int(c, k->dilation[0]);
    return n;
}

static void emit_conv(struct nnv_rc *c, struct conv *k, const struct nnv_rc_layer *layer, bool depthwise) {
    struct nnv_rc_layout l = nnv_rc_layout(c, layer->in, layer->out, k->layout, true);
    int32_t code = depthwise       ? ANEURALNETWORKS_DEPTHWISE_CONV_2D
                   : k->groups > 1 ? ANEURALNETWORKS_GROUPED_CONV_2D
                                   : ANEURALNETWORKS_CONV_2D;
    uint32_t in[16];
    pad_before(c, k, &l);
    uint32_t n = begin(c, k, layer, &l, in);
    if (depthwise) in[n++] = nnv_rc_int(c, k->channels / k->in_channels);
    if (code == ANEURALNETWORKS_GROUPED_CONV_2D) in[n++] = nnv_rc_int(c, k->groups);
    in[n++] = layer->act;
    if (code == ANEURALNETWORKS_GROUPED_CONV_2D)
        in[n++] = nnv_builder_bool(&c->b, l.flag);
    else
        n = add_dilation(c, k, &l, in, n);
    nnv_rc_emit_n(c, code, n, in, 1, &l.out);
    nnv_rc_layout_end(c, &l, layer->out);
    nnv_rc_layer_end(c, layer);
}

/* Also nn.conv1d. */
static void conv2d(struct nnv_rc *c) {
    struct conv k = find_conv(c, nnv_rc_is_line(c) ? "OIW" : "OIHW");
    if (!nnv_rc_ok(c)) return;
    bool depthwise = k.groups > 1 && k.groups == k.in_channels, dilated = k.dilation[0] != 1 || k.dilation[1] != 1;
    if (dilated && c->limit < 3)
        nnv_rc_refuse(c, "dilation needs feature level 3 (1.2), and %d is the limit", c->limit);
    if (dilated && k.groups > 1 && !depthwise)
        nnv_rc_refuse(c, "dilation in %" PRId64 " groups: GROUPED_CONV_2D has none", k.groups);
    if (!nnv_rc_ok(c)) return;
    const uint32_t plain[] = {k.o, k.h, k.w, k.i}, across[] = {k.h, k.w, k.o, k.i}, *order = depthwise ? across : plain;
    uint32_t perm[4], n = 0;
    for (size_t i = 0; i < 4; i++)
        if (order[i] != NNV_RC_NONE) perm[n++] = order[i];
    struct nnv_rc_shape s = nnv_rc_shape(c, nnv_rc_arg(c, 1));
    struct nnv_rc_weights w = {perm, {4, {s.dims[k.o], k.kernel[0], k.kernel[1], s.dims[k.i]}}, 0};
    if (depthwise) {
        w.shape = (struct nnv_rc_shape){4, {1, k.kernel[0], k.kernel[1], k.channels}};
        w.channel_dim = 3;
    }
    struct nnv_rc_layer layer = nnv_rc_layer(c, k.channels, &w);
    if (nnv_rc_ok(c)) emit_conv(c, &k, &layer, depthwise);
}

/* --------------------------------------------------- transposed convolutions */

/* Weights are [in, out, height, width] by the letters IOHW; in older programs OIHW means the same places. */
static void conv2d_transpose(struct nnv_rc *c) {
    const char *layout = nnv_rc_text_attr(c, "kernel_layout", "IOHW");
    struct conv k = find_conv(c, "IOHW");
    int64_t extra[2];
    if (!nnv_rc_ok(c)) return;
    if (strcmp(layout, "OIHW") == 0) {
        k.i = 0;
        k.o = 1;
    }
    nnv_rc_pair_attr(c, "output_padding", 0, extra);
    if (k.groups != 1) nnv_rc_refuse(c, "%" PRId64 " groups: TRANSPOSE_CONV_2D has none", k.groups);
    if (k.dilation[0] != 1 || k.dilation[1] != 1) nnv_rc_refuse(c, "dilation: TRANSPOSE_CONV_2D has none");
    k.pad[2] -= extra[0];
    k.pad[3] -= extra[1];
    const uint32_t perm[] = {k.o, k.h, k.w, k.i};
    struct nnv_rc_weights w = {perm, {4, {k.channels, k.kernel[0], k.kernel[1], k.in_channels}}, 0};
    if (!nnv_rc_ok(c)) return;
    struct nnv_rc_layer layer = nnv_rc_layer(c, k.channels, &w);
    if (!nnv_rc_ok(c)) return;
    struct nnv_rc_layout l = nnv_rc_layout(c, layer.in, layer.out, k.layout, true);
    uint32_t in[16], n = begin(c, &k, &layer, &l, in);
    in[n++] = layer.act;
    in[n++] = nnv_builder_bool(&c->b, l.flag);
    nnv_rc_emit_n(c, ANEURALNETWORKS_TRANSPOSE_CONV_2D, n, in, 1, &l.out);
    nnv_rc_layout_end(c, &l, layer.out);
    nnv_rc_layer_end(c, &layer);
}

/* ---------------------------------------------------------------- dense layers */

static void dense(struct nnv_rc *c) {
    const uint32_t perm[] = {0, 1};
    struct nnv_rc_shape x = nnv_rc_shape(c, nnv_rc_arg(c, 0)), s = nnv_rc_shape(c, nnv_rc_arg(c, 1));
    struct nnv_rc_weights w = {perm, s, 0};
    struct nnv_rc_layer layer = nnv_rc_layer(c, s.dims[0], &w);
    if (!nnv_rc_ok(c)) return;
    if (c->b.operand[layer.weights].channel.count)
        nnv_rc_refuse(c, "weights with a scale for each channel: FULLY_CONNECTED takes one scale");
    size_t elems = nnv_rc_elems(&x), rows = s.dims[1] ? elems / s.dims[1] : 0;
    struct nnv_rc_shape flat = {2, {(uint32_t)rows, s.dims[1]}}, out = {2, {(uint32_t)rows, s.dims[0]}};
    uint32_t in = x.rank == 2 ? layer.in : nnv_rc_reshaped(c, layer.in, &flat, NNV_RC_NONE), to = layer.out;
    struct nnv_rc_shape wanted = nnv_rc_operand_shape(c, layer.out);
    if (!nnv_rc_same_shape(&wanted, &out)) to = nnv_rc_temp(c, nnv_builder_encoding(&c->b, layer.out), &out);
    NNV_RC_EMIT(c, ANEURALNETWORKS_FULLY_CONNECTED, to, in, layer.weights, layer.bias_operand, layer.act);
    if (to != layer.out) nnv_rc_reshaped(c, to, &wanted, layer.out);
    nnv_rc_layer_end(c, &layer);
}

/* One matrix by another: before level 6 only where there is one of each, as a dense layer without bias. */
static void one_matmul(struct nnv_rc *c, bool turn_a, bool turn_b) {
    struct nnv_rc_shape a = nnv_rc_shape(c, nnv_rc_arg(c, 0)), b = nnv_rc_shape(c, nnv_rc_arg(c, 1)),
                        out = nnv_rc_shape(c, nnv_rc_out(c, 0));
    const uint32_t turn[] = {1, 0};
    struct nnv_rc_shape two_a = {2, {a.dims[1], a.dims[2]}}, two_b = {2, {b.dims[1], b.dims[2]}},
                        two_out = {2, {out.dims[1], out.dims[2]}}, units = {1, {out.dims[2]}};
    uint32_t x = nnv_rc_reshaped(c, nnv_rc_in(c, 0), &two_a, NNV_RC_NONE),
             w = nnv_rc_reshaped(c, nnv_rc_in(c, 1), &two_b, NNV_RC_NONE);
    if (turn_a) x = nnv_rc_transposed(c, x, turn, NNV_RC_NONE);
    if (!turn_b) w = nnv_rc_transposed(c, w, turn, NNV_RC_NONE);
    struct nnv_encoding e = nnv_rc_encoding(c, nnv_rc_out(c, 0));
    uint32_t to = nnv_rc_temp(c, e, &two_out);
    NNV_RC_EMIT(c, ANEURALNETWORKS_FULLY_CONNECTED, to, x, w, nnv_rc_filled(c, e, &units, 0), nnv_rc_act(c));
    nnv_rc_reshaped(c, to, &out, nnv_rc_result(c, 0));
}

static void batch_matmul(struct nnv_rc *c) {
    bool turn_a = nnv_rc_int_attr(c, "transpose_a", 0), turn_b = nnv_rc_int_attr(c, "transpose_b", 1);
    struct nnv_rc_shape a = nnv_rc_shape(c, nnv_rc_arg(c, 0)), b = nnv_rc_shape(c, nnv_rc_arg(c, 1));
    if (nnv_rc_type(c, nnv_rc_out(c, 0))->dtype != nnv_rc_type(c, nnv_rc_arg(c, 0))->dtype)
        nnv_rc_refuse(c, "a result of another type than the operands (out_dtype)");
    if (!nnv_rc_ok(c)) return;
    if (c->limit < 6 && a.dims[0] == 1 && b.dims[0] == 1 &&
        nnv_rc_type(c, nnv_rc_arg(c, 0))->dtype != NNV_RELAY_INT32) {
        one_matmul(c, turn_a, turn_b);
        return;
    }
    NNV_RC_EMIT(c, ANEURALNETWORKS_BATCH_MATMUL, nnv_rc_result(c, 0), nnv_rc_in(c, 0), nnv_rc_in(c, 1),
                nnv_builder_bool(&c->b, turn_a), nnv_builder_bool(&c->b, turn_b));
}

/* A product of two matrices is a dense layer whose weights may have to be transposed. */
static void matmul(struct nnv_rc *c) {
    const uint32_t turn[] = {1, 0};
    bool turn_a = nnv_rc_int_attr(c, "transpose_a", 0), turn_b = nnv_rc_int_attr(c, "transpose_b", 0);
    struct nnv_rc_shape a = nnv_rc_shape(c, nnv_rc_arg(c, 0)), out = nnv_rc_shape(c, nnv_rc_out(c, 0));
    if (a.rank != 2) nnv_rc_refuse(c, "data of %u dimensions; only matrices", a.rank);
    if (nnv_rc_type(c, nnv_rc_out(c, 0))->dtype != nnv_rc_type(c, nnv_rc_arg(c, 0))->dtype)
        nnv_rc_refuse(c, "a result of another type than the operands (out_dtype)");
    uint32_t x = nnv_rc_in(c, 0), w = nnv_rc_in(c, 1);
    if (!nnv_rc_ok(c)) return;
    if (turn_a) x = nnv_rc_transposed(c, x, turn, NNV_RC_NONE);
    if (!turn_b) w = nnv_rc_transposed(c, w, turn, NNV_RC_NONE);
    uint32_t none = nnv_rc_filled(c, nnv_rc_encoding(c, nnv_rc_out(c, 0)), &(struct nnv_rc_shape){1, {out.dims[1]}}, 0);
    NNV_RC_EMIT(c, ANEURALNETWORKS_FULLY_CONNECTED, nnv_rc_result(c, 0), x, w, none, nnv_rc_act(c));
}

#define LAYER NNV_RC_FUSES | NNV_RC_BIAS
static const struct nnv_rc_row rows[] = {
    {"nn.conv1d", conv2d, -1, NNV_RC_FLOAT, LAYER, 1, "CONV_2D, DEPTHWISE_CONV_2D, GROUPED_CONV_2D"},
    {"nn.conv2d", conv2d, -1, NNV_RC_FLOAT, LAYER, 1, "CONV_2D, DEPTHWISE_CONV_2D, GROUPED_CONV_2D"},
    {"nn.conv2d_transpose", conv2d_transpose, -1, NNV_RC_FLOAT, LAYER, 3, "TRANSPOSE_CONV_2D"},
    {"nn.dense", dense, -1, NNV_RC_FLOAT, LAYER, 1, "FULLY_CONNECTED"},
    {"nn.batch_matmul", batch_matmul, -1, NNV_RC_FLOAT | NNV_RC_I32, 0, 1, "BATCH_MATMUL, FULLY_CONNECTED"},
    {"nn.matmul", matmul, -1, NNV_RC_FLOAT, NNV_RC_FUSES, 1, "FULLY_CONNECTED, TRANSPOSE"},
    {"qnn.conv2d", conv2d, -1, NNV_RC_BYTE, LAYER | NNV_RC_QNN, 1, "CONV_2D, DEPTHWISE_CONV_2D, GROUPED_CONV_2D"},
    {"qnn.conv2d_transpose", conv2d_transpose, -1, NNV_RC_BYTE, LAYER | NNV_RC_QNN, 3, "TRANSPOSE_CONV_2D"},
    {"qnn.dense", dense, -1, NNV_RC_BYTE, LAYER | NNV_RC_QNN, 1, "FULLY_CONNECTED"},
};
const struct nnv_rc_rows nnv_rc_conv = {rows, sizeof rows / sizeof *rows};
