/* SPDX-License-Identifier: Apache-2.0 */
/** @file window.c Layers, windows that slide over images, and other work on images. */
#include <stdlib.h>

#include "convert.h"

/** Window, strides and padding of an image [N,H,W,C], or [N,C,H,W] where the operation says so. */
struct frame {
    struct engine_window w;
    int64_t filter[2], pads[4], strides[2], dilations[2]; /**< height, width; pads: heads, then tails */
};

static uint32_t height_at(const struct frame *f) { return f->w.nchw ? 2 : 1; }
static uint32_t channels_at(const struct frame *f) { return f->w.nchw ? 1 : 3; }

/** image: what the window slides over; result: what has an element for each place. */
static void fill_frame(struct frame *f, const struct engine_tensor *image, const struct engine_tensor *result) {
    struct engine_window *w = &f->w;
    const uint32_t h = height_at(f);
    engine_window_pad(w->scheme, image->dims[h], result->dims[h], f->filter[0], w->stride_h, w->dilation_h, &w->top,
                      &w->bottom);
    engine_window_pad(w->scheme, image->dims[h + 1], result->dims[h + 1], f->filter[1], w->stride_w, w->dilation_w,
                      &w->left, &w->right);
    f->pads[0] = w->top;
    f->pads[1] = w->left;
    f->pads[2] = w->bottom;
    f->pads[3] = w->right;
    f->strides[0] = w->stride_h;
    f->strides[1] = w->stride_w;
    f->dilations[0] = w->dilation_h;
    f->dilations[1] = w->dilation_w;
}

static void frame_attributes(struct or_conversion *c, const struct frame *f) {
    or_attribute_list(c, "kernel_shape", f->filter, 2);
    or_attribute_list(c, "pads", f->pads, 4);
    or_attribute_list(c, "strides", f->strides, 2);
}

/** The filter with its axes in another order, and as numbers: it is transposed as it lies. */
static int filter_of(struct or_conversion *c, const int64_t *order, uint32_t output_channels_at) {
    const struct engine_tensor *t = engine_in(&c->op, 1);
    const int turned = or_transpose(c, or_in(c, 1), order, 4);
    if (or_type_of(t) == or_real_type(t)) return turned;
    if (!t->channels)
        return or_node(c, "DequantizeLinear", turned, or_number(c, OR_FLOAT, (double)t->scale),
                       or_number(c, or_type_of(t), t->zero_point));
    const int64_t dims[] = {t->channels};
    const int scales = or_constant(c, OR_FLOAT, 1, dims, t->scales, t->channels * sizeof *t->scales);
    or_attribute(c, "axis", output_channels_at);
    return or_node(c, "DequantizeLinear", turned, scales, OR_NOWHERE);
}

/** The bias as numbers: its codes count products of the scales of input and filter. */
static int bias_of(struct or_conversion *c) {
    const struct engine_tensor *x = engine_in(&c->op, 0), *w = engine_in(&c->op, 1), *b = engine_in(&c->op, 2);
    if (or_type_of(b) != OR_INT32) return or_in(c, 2);
    if (!w->channels)
        return or_node(c, "DequantizeLinear", or_in(c, 2), or_number(c, OR_FLOAT, (double)(x->scale * w->scale)),
                       OR_NOWHERE);
    float *scales = malloc(w->channels * sizeof *scales);
    if (!scales) {
        c->graph->nodes.failed = true;
        return OR_NOWHERE;
    }
    for (uint32_t i = 0; i < w->channels; i++) scales[i] = x->scale * w->scales[i];
    const int64_t dims[] = {w->channels};
    const int scale = or_constant(c, OR_FLOAT, 1, dims, scales, w->channels * sizeof *scales);
    free(scales);
    or_attribute(c, "axis", 0);
    return or_node(c, "DequantizeLinear", or_in(c, 2), scale, OR_NOWHERE);
}

bool or_conv(struct or_conversion *c) {
    const struct engine_tensor *x = engine_in(&c->op, 0), *w = engine_in(&c->op, 1), *y = engine_out(&c->op, 0);
    const int32_t code = c->op.node->code;
    const bool is_depthwise = code == ANEURALNETWORKS_DEPTHWISE_CONV_2D;
    const int64_t of_rows[] = {0, 3, 1, 2}, of_depthwise[] = {3, 0, 1, 2};
    struct frame f = {.filter = {w->dims[1], w->dims[2]}};
    if (!engine_window_read(&c->op, 3, code != ANEURALNETWORKS_CONV_2D, &f.w))
        return or_refuse(c, "a parameter is no constant");
    fill_frame(&f, x, y);
    const int64_t groups = is_depthwise                              ? (int64_t)x->dims[channels_at(&f)]
                           : code == ANEURALNETWORKS_GROUPED_CONV_2D ? f.w.more[0]
                                                                     : 1;
    const int image = or_to_nchw(c, or_real(c, 0), f.w.nchw);
    const int filter = filter_of(c, is_depthwise ? of_depthwise : of_rows, 0), bias = bias_of(c);
    frame_attributes(c, &f);
    or_attribute_list(c, "dilations", f.dilations, 2);
    or_attribute(c, "group", groups);
    const int sum = or_node(c, c->name, image, filter, bias);
    const int result = or_activate(c, sum, f.w.activation, or_real_type(x));
    or_store(c, 0, or_from_nchw(c, result, f.w.nchw));
    return true;
}

/** The window slides over the output. What explicit padding leaves of it at the end follows from its extents. */
bool or_transpose_conv(struct or_conversion *c) {
    const struct engine_tensor *x = engine_in(&c->op, 0), *w = engine_in(&c->op, 1), *y = engine_out(&c->op, 0);
    struct frame f = {.filter = {w->dims[1], w->dims[2]}};
    int64_t more[2];
    if (!engine_window_read(&c->op, 3, 0, &f.w)) return or_refuse(c, "a parameter is no constant");
    fill_frame(&f, y, x);
    for (uint32_t d = 0; d < 2; d++) {
        const uint32_t at = height_at(&f) + d;
        const int64_t tail = ((int64_t)x->dims[at] - 1) * f.strides[d] + f.filter[d] - f.pads[d] - y->dims[at];
        f.pads[2 + d] = tail > 0 ? tail : 0;
        more[d] = tail < 0 ? -tail : 0;
    }
    const int image = or_to_nchw(c, or_real(c, 0), f.w.nchw);
    const int filter = filter_of(c, (const int64_t[]){3, 0, 1, 2}, 1), bias = bias_of(c);
    frame_attributes(c, &f);
    or_attribute_list(c, "output_padding", more, 2);
    const int sum = or_node(c, c->name, image, filter, bias);
    const int result = or_activate(c, sum, f.w.activation, or_real_type(x));
    or_store(c, 0, or_from_nchw(c, result, f.w.nchw));
    return true;
}

bool or_fully_connected(struct or_conversion *c) {
    const struct engine_tensor *w = engine_in(&c->op, 1), *y = engine_out(&c->op, 0);
    const int64_t dims[] = {y->dims[0], w->dims[1]};
    const int32_t act = engine_int(&c->op, 3, ANEURALNETWORKS_FUSED_NONE);
    const int x = or_reshape(c, or_real(c, 0), dims, 2), filter = or_real(c, 1), bias = bias_of(c);
    or_attribute(c, "transB", 1);
    const int sum = or_node(c, c->name, x, filter, bias);
    or_store(c, 0, or_activate(c, sum, act, or_real_type(engine_in(&c->op, 0))));
    return true;
}

/** The root of the mean of squares is made of the mean. */
bool or_pool(struct or_conversion *c) {
    const struct engine_tensor *x = engine_in(&c->op, 0), *y = engine_out(&c->op, 0);
    const bool is_l2 = c->op.node->code == ANEURALNETWORKS_L2_POOL_2D;
    struct frame f = {0};
    if (!engine_window_read(&c->op, 1, 2, &f.w)) return or_refuse(c, "a parameter is no constant");
    f.filter[0] = f.w.more[1];
    f.filter[1] = f.w.more[0];
    fill_frame(&f, x, y);
    int image = or_to_nchw(c, or_real(c, 0), f.w.nchw);
    if (is_l2) image = or_node(c, "Mul", image, image, OR_NOWHERE);
    frame_attributes(c, &f);
    if (c->op.node->code != ANEURALNETWORKS_MAX_POOL_2D) or_attribute(c, "count_include_pad", 0);
    int result = or_node(c, c->name, image, OR_NOWHERE, OR_NOWHERE);
    if (is_l2) result = or_node(c, "Sqrt", result, OR_NOWHERE, OR_NOWHERE);
    result = or_activate(c, result, f.w.activation, or_real_type(x));
    or_store(c, 0, or_from_nchw(c, result, f.w.nchw));
    return true;
}

/** By the output's extents, whether they were given as such or as factors. */
bool or_resize(struct or_conversion *c) {
    const struct engine_tensor *y = engine_out(&c->op, 0);
    const bool is_nchw = engine_int(&c->op, 3, 0) != 0, nearest = c->op.node->code != ANEURALNETWORKS_RESIZE_BILINEAR;
    const bool corners = engine_int(&c->op, 4, 0) != 0, centres = engine_int(&c->op, 5, 0) != 0;
    const uint32_t h = is_nchw ? 2 : 1;
    const int64_t sizes[] = {y->dims[0], y->dims[is_nchw ? 1 : 3], y->dims[h], y->dims[h + 1]};
    if (!engine_constant(&c->op, 1, 2)) return or_refuse(c, "a parameter is no constant");
    const int image = or_to_nchw(c, or_real(c, 0), is_nchw);
    const int in[] = {image, OR_NOWHERE, OR_NOWHERE, or_int64_list(c, sizes, 4)};
    or_attribute_text(c, "mode", c->name);
    or_attribute_text(c, "coordinate_transformation_mode",
                      corners   ? "align_corners"
                      : centres ? "half_pixel"
                                : "asymmetric");
    if (nearest) or_attribute_text(c, "nearest_mode", corners || centres ? "round_prefer_ceil" : "floor");
    or_store(c, 0, or_from_nchw(c, or_node_list(c, "Resize", in, 4, 1), is_nchw));
    return true;
}

/** Space to depth, and back. */
bool or_block(struct or_conversion *c) {
    const int32_t block = engine_int(&c->op, 1, 1);
    const bool is_nchw = engine_int(&c->op, 2, 0) != 0;
    const int image = or_to_nchw(c, or_real(c, 0), is_nchw);
    or_attribute(c, "blocksize", block);
    or_store(c, 0, or_from_nchw(c, or_node(c, c->name, image, OR_NOWHERE, OR_NOWHERE), is_nchw));
    return true;
}
