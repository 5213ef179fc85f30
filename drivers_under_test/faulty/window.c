/* SPDX-License-Identifier: Apache-2.0 */
/** @file window.c Rewriting convolutions and poolings. */
#include <string.h>

#include "faulty.h"

/** The window of a convolution or pooling. Positions are of inputs; -1: absent. */
struct window {
    bool pool, depthwise, given; /**< given: explicit padding */
    bool nchw;
    int at_pads, at_scheme, at_stride, at_act, at_nchw, at_dilation, at_multiplier;
    int32_t scheme, stride[2], filter[2], dilation[2]; /**< [0] width, [1] height */
    uint32_t in[2], out[2], channels;                  /**< of input 0 and the output; channels of input 0 */
};

static bool is_image(const struct nnvts_operand *o) { return o && o->dimension_count == 4 && operand_elems(o) > 0; }

static void take_extents(const struct nnvts_operand *o, bool nchw, uint32_t extent[2]) {
    extent[0] = o->dimensions[nchw ? 3 : 2];
    extent[1] = o->dimensions[nchw ? 2 : 1];
}

/** Positions of the inputs behind the tensors. */
static bool find_positions(struct edit *e, const struct nnvts_operation *op, struct window *w) {
    int tensors = w->pool ? 1 : 3, extras = w->pool ? 2 : w->depthwise ? 1 : 0, options = w->pool ? 1 : 3;
    int shortest = tensors + 1 + 2 + extras + 1; /* scheme, strides, extras, activation */
    int count = (int)op->input_count;
    if (count < shortest) return false;
    const struct nnvts_operand *next = edit_input(e, op, (uint32_t)shortest);
    w->given = count > shortest + options || (count >= shortest + 3 && !(next && next->type == ANEURALNETWORKS_BOOL));
    w->at_pads = w->given ? tensors : -1;
    w->at_scheme = w->given ? -1 : tensors;
    w->at_stride = tensors + (w->given ? 4 : 1);
    w->at_multiplier = w->depthwise ? w->at_stride + 2 : -1;
    w->at_act = w->at_stride + 2 + extras;
    w->at_nchw = w->at_act + 1 < count ? w->at_act + 1 : -1;
    w->at_dilation = !w->pool && w->at_act + 2 < count ? w->at_act + 2 : -1;
    return w->at_act < count;
}

static bool find_window(struct edit *e, const struct nnvts_operation *op, struct window *w) {
    *w = (struct window){.pool = op->type == ANEURALNETWORKS_AVERAGE_POOL_2D ||
                                 op->type == ANEURALNETWORKS_MAX_POOL_2D || op->type == ANEURALNETWORKS_L2_POOL_2D,
                         .depthwise = op->type == ANEURALNETWORKS_DEPTHWISE_CONV_2D};
    if (!w->pool && !w->depthwise && op->type != ANEURALNETWORKS_CONV_2D) return false;
    if (!find_positions(e, op, w)) return false;
    const struct nnvts_operand *x = edit_input(e, op, 0), *y = edit_output(e, op, 0);
    const struct nnvts_operand *f = w->pool ? NULL : edit_input(e, op, 1);
    if (!is_image(x) || !is_image(y) || (!w->pool && !is_image(f))) return false;
    w->nchw = w->at_nchw >= 0 && edit_int(e, op, (uint32_t)w->at_nchw, 0);
    take_extents(x, w->nchw, w->in);
    take_extents(y, w->nchw, w->out);
    w->channels = x->dimensions[w->nchw ? 1 : 3];
    if (w->at_scheme >= 0) w->scheme = edit_int(e, op, (uint32_t)w->at_scheme, 0);
    for (uint32_t i = 0; i < 2; i++) {
        w->stride[i] = edit_int(e, op, (uint32_t)w->at_stride + i, 1);
        w->dilation[i] = w->at_dilation < 0 ? 1 : edit_int(e, op, (uint32_t)w->at_dilation + i, 1);
        w->filter[i] = w->pool ? edit_int(e, op, (uint32_t)w->at_stride + 2 + i, 1) : (int32_t)f->dimensions[2 - i];
    }
    return w->filter[0] > 0 && w->filter[1] > 0 && w->dilation[0] > 0 && w->dilation[1] > 0;
}

int activation_at(struct edit *e, const struct nnvts_operation *op) {
    struct window w;
    switch (op->type) {
    case ANEURALNETWORKS_ADD:
    case ANEURALNETWORKS_MUL:
    case ANEURALNETWORKS_SUB:
    case ANEURALNETWORKS_DIV:
        return op->input_count > 2 ? 2 : -1;
    case ANEURALNETWORKS_FULLY_CONNECTED:
        return op->input_count > 3 ? 3 : -1;
    }
    return find_window(e, op, &w) ? w.at_act : -1;
}

/* -------------------------------------------------------------------- filters */

/** A filter [outer, height, width, inner] and what an absent weight is. */
struct filter {
    const uint8_t *data;
    uint32_t outer, height, width, inner, elem;
    uint8_t zero;
};

static bool take_filter(struct edit *e, const struct nnvts_operation *op, struct filter *f) {
    const struct nnvts_operand *o = edit_input(e, op, 1);
    f->elem = type_bytes(o->type);
    f->data = edit_value(e, o);
    f->outer = o->dimensions[0];
    f->height = o->dimensions[1];
    f->width = o->dimensions[2];
    f->inner = o->dimensions[3];
    f->zero = type_is_quant8(o->type) ? (uint8_t)o->zero_point : 0;
    return f->data && f->elem && o->location.length == (uint64_t)operand_elems(o) * f->elem;
}

/** Makes the op's filter one of other extents, all weights absent; returns where its weights go. */
static uint8_t *new_filter(struct edit *e, const struct filter *f, uint32_t height, uint32_t width, size_t *bytes) {
    *bytes = (size_t)f->outer * height * width * f->inner * f->elem;
    uint8_t *data = *bytes <= UINT32_MAX ? edit_alloc(e, *bytes) : NULL;
    if (data) memset(data, f->zero, *bytes);
    return data;
}

static void use_filter(struct edit *e, struct nnvts_operation *op, const struct filter *f, uint32_t height,
                       uint32_t width, const uint8_t *data, size_t bytes) {
    uint32_t *dims = edit_alloc(e, 4 * sizeof *dims);
    if (!dims) return;
    edit_replace(e, op, 1, data, (uint32_t)bytes);
    memcpy(dims, (uint32_t[]){f->outer, height, width, f->inner}, 4 * sizeof *dims);
    edit_input(e, op, 1)->dimensions = dims;
}

/** Taps side by side, in a window that is as large as the dilated one. */
bool rewrite_dilation(struct edit *e, struct nnvts_operation *op) {
    struct window w;
    struct filter f;
    if (!find_window(e, op, &w) || w.pool || (w.dilation[0] == 1 && w.dilation[1] == 1) || !take_filter(e, op, &f))
        return false;
    uint32_t height = (f.height - 1) * (uint32_t)w.dilation[1] + 1, width = (f.width - 1) * (uint32_t)w.dilation[0] + 1;
    size_t bytes, run = (size_t)f.width * f.inner * f.elem;
    uint8_t *data = new_filter(e, &f, height, width, &bytes);
    if (!data || (height == f.height && width == f.width)) return false;
    for (uint32_t o = 0; o < f.outer; o++)
        for (uint32_t y = 0; y < f.height; y++)
            memcpy(data + ((size_t)o * height + y) * width * f.inner * f.elem,
                   f.data + ((size_t)o * f.height + y) * run, run);
    use_filter(e, op, &f, height, width, data, bytes);
    edit_replace_int(e, op, (uint32_t)w.at_dilation, 1);
    edit_replace_int(e, op, (uint32_t)w.at_dilation + 1, 1);
    return true;
}

bool rewrite_flip(struct edit *e, struct nnvts_operation *op) {
    struct window w;
    struct filter f;
    if (!find_window(e, op, &w) || w.pool || !take_filter(e, op, &f) || f.height * f.width < 2) return false;
    size_t bytes, tap = (size_t)f.inner * f.elem, taps = (size_t)f.height * f.width;
    uint8_t *data = new_filter(e, &f, f.height, f.width, &bytes);
    if (!data) return false;
    for (uint32_t o = 0; o < f.outer; o++)
        for (size_t t = 0; t < taps; t++)
            memcpy(data + (o * taps + t) * tap, f.data + (o * taps + taps - 1 - t) * tap, tap);
    use_filter(e, op, &f, f.height, f.width, data, bytes);
    return true;
}

bool rewrite_channel_order(struct edit *e, struct nnvts_operation *op) {
    struct window w;
    struct filter f;
    if (!find_window(e, op, &w) || !w.depthwise || !take_filter(e, op, &f)) return false;
    uint32_t multiplier = (uint32_t)edit_int(e, op, (uint32_t)w.at_multiplier, 1);
    if (multiplier < 2 || w.channels < 2 || (uint64_t)multiplier * w.channels != f.inner) return false;
    size_t bytes, taps = (size_t)f.outer * f.height * f.width;
    uint8_t *data = new_filter(e, &f, f.height, f.width, &bytes);
    if (!data) return false;
    for (size_t t = 0; t < taps; t++)
        for (uint32_t c = 0; c < w.channels; c++)
            for (uint32_t m = 0; m < multiplier; m++)
                memcpy(data + (t * f.inner + c * multiplier + m) * f.elem,
                       f.data + (t * f.inner + m * w.channels + c) * f.elem, f.elem);
    use_filter(e, op, &f, f.height, f.width, data, bytes);
    return true;
}

/* -------------------------------------------------------------------- padding */

/** SAME as explicit padding with the odd cell at the head. */
bool rewrite_pads(struct edit *e, struct nnvts_operation *op) {
    struct window w;
    if (!find_window(e, op, &w) || w.given || w.scheme != ANEURALNETWORKS_PADDING_SAME) return false;
    int32_t head[2], tail[2];
    for (int i = 0; i < 2; i++) {
        int64_t total =
            ((int64_t)w.out[i] - 1) * w.stride[i] + ((int64_t)w.filter[i] - 1) * w.dilation[i] + 1 - w.in[i];
        if (total < 0) total = 0;
        tail[i] = (int32_t)(total / 2);
        head[i] = (int32_t)(total - tail[i]);
    }
    if (head[0] == tail[0] && head[1] == tail[1]) return false;
    uint32_t inputs[32], n = 0;
    if (op->input_count + 3 > sizeof inputs / sizeof *inputs) return false;
    const int32_t pads[] = {head[0], tail[0], head[1], tail[1]};
    for (uint32_t i = 0; i < op->input_count; i++) {
        if ((int)i != w.at_scheme) {
            inputs[n++] = op->inputs[i];
            continue;
        }
        for (int k = 0; k < 4; k++) inputs[n++] = edit_add_int(e, pads[k]);
    }
    edit_set_inputs(e, op, inputs, n);
    return true;
}

/** AVERAGE_POOL_2D as a depthwise convolution with equal weights, to which padding counts. */
bool rewrite_average(struct edit *e, struct nnvts_operation *op) {
    struct window w;
    if (!find_window(e, op, &w) || op->type != ANEURALNETWORKS_AVERAGE_POOL_2D ||
        edit_input(e, op, 0)->type != ANEURALNETWORKS_TENSOR_FLOAT32)
        return false;
    uint32_t *dims = edit_alloc(e, 5 * sizeof *dims), taps = (uint32_t)(w.filter[0] * w.filter[1]);
    float *weights = edit_alloc(e, (size_t)taps * w.channels * sizeof *weights);
    float *bias = edit_alloc(e, w.channels * sizeof *bias);
    if (!dims || !weights || !bias) return false;
    for (uint32_t i = 0; i < taps * w.channels; i++) weights[i] = 1.0f / (float)taps;
    memcpy(dims, (uint32_t[]){1, (uint32_t)w.filter[1], (uint32_t)w.filter[0], w.channels, w.channels},
           5 * sizeof *dims);
    const struct nnvts_operand filter = {
        .type = ANEURALNETWORKS_TENSOR_FLOAT32, .dimension_count = 4, .dimensions = dims};
    const struct nnvts_operand zeros = {
        .type = ANEURALNETWORKS_TENSOR_FLOAT32, .dimension_count = 1, .dimensions = dims + 4};
    uint32_t inputs[16], n = 0;
    inputs[n++] = op->inputs[0];
    inputs[n++] = edit_add(e, filter, weights, taps * w.channels * (uint32_t)sizeof *weights);
    inputs[n++] = edit_add(e, zeros, bias, w.channels * (uint32_t)sizeof *bias);
    for (int i = w.given ? w.at_pads : w.at_scheme; i < w.at_stride + 2; i++) inputs[n++] = op->inputs[i];
    inputs[n++] = edit_add_int(e, 1);
    inputs[n++] = op->inputs[w.at_act];
    if (w.at_nchw >= 0) inputs[n++] = op->inputs[w.at_nchw];
    edit_set_inputs(e, op, inputs, n);
    op->type = ANEURALNETWORKS_DEPTHWISE_CONV_2D;
    return true;
}

/** A maximum that starts at 0 is never negative. */
bool rewrite_max_pool(struct edit *e, struct nnvts_operation *op) {
    int at = op->type == ANEURALNETWORKS_MAX_POOL_2D ? activation_at(e, op) : -1;
    if (at < 0 || edit_int(e, op, (uint32_t)at, -1) != ANEURALNETWORKS_FUSED_NONE) return false;
    edit_replace_int(e, op, (uint32_t)at, ANEURALNETWORKS_FUSED_RELU);
    return true;
}
