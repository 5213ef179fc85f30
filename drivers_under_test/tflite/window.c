/* SPDX-License-Identifier: Apache-2.0 */
/** @file window.c Windows that slide over images, and fully connected layers. */
#include <stdlib.h>
#include <string.h>

#include "convert.h"

enum { SAME = 0, VALID = 1, NEITHER = -1 }; /* Padding of the file format */

/** One dimension of a window: where the image is padded. */
struct side {
    int64_t in, out, filter;
    int32_t stride, dilation, head, tail;
};

/** Explicit padding of both dimensions is what SAME would be. */
static bool is_same(const struct side *s) {
    int32_t head = 0, tail = 0;
    if (s->out != (s->in + s->stride - 1) / s->stride) return false;
    engine_window_pad(ANEURALNETWORKS_PADDING_SAME, s->in, s->out, s->filter, s->stride, s->dilation, &head, &tail);
    return s->head == head && s->tail == tail;
}

static int32_t padding_of(const struct engine_window *w, const struct side *h, const struct side *v) {
    if (w->scheme) return w->scheme == ANEURALNETWORKS_PADDING_SAME ? SAME : VALID;
    if (!h->head && !h->tail && !v->head && !v->tail) return VALID;
    return is_same(h) && is_same(v) ? SAME : NEITHER;
}

/** Dimensions of an image [N,H,W,C] and of what a window makes of it. */
static void sides(const struct engine_window *w, const struct engine_tensor *x, const struct engine_tensor *y,
                  int64_t filter_h, int64_t filter_w, struct side *h, struct side *v) {
    *h = (struct side){x->dims[2], y->dims[2], filter_w, w->stride_w, w->dilation_w, w->left, w->right};
    *v = (struct side){x->dims[1], y->dims[1], filter_h, w->stride_h, w->dilation_h, w->top, w->bottom};
}

/** PAD by zeros, which for layers is what explicit padding means. */
static int32_t pad(struct tf_conversion *c, const struct engine_tensor *x, const struct side *h, const struct side *v) {
    enum { OPTIONS_TAG = 22 };
    const int32_t pads[] = {0, 0, v->head, v->tail, h->head, h->tail, 0, 0};
    const int32_t dims[] = {(int32_t)x->dims[0], (int32_t)x->dims[1] + v->head + v->tail,
                            (int32_t)x->dims[2] + h->head + h->tail, (int32_t)x->dims[3]};
    const int32_t from = tf_use_in(c, 0), to = tf_temporary(c, x, 4, dims);
    const int32_t list = tf_constant(c, TF_INT32, 2, (const int32_t[]){4, 2}, pads, sizeof pads);
    tf_other_operator(c, TF_PAD, tf_is_signed8(x) ? 2 : 1, OPTIONS_TAG);
    tf_in(c, from);
    tf_in(c, list);
    tf_out(c, to);
    return to;
}

/**
 * The filter, which must be of the input's type. TensorFlow Lite's signed ones have no zero point: it is taken off the
 * weights, where they are constants and stay in their range. -1: it refuses.
 */
static int32_t filter_of(struct tf_conversion *c) {
    const struct engine_tensor *x = engine_in(&c->op, 0), *w = engine_in(&c->op, 1);
    if (engine_is_quant(x) ? tf_is_signed8(x) != tf_is_signed8(w) : x->type != w->type)
        return tf_refuse(c, "the filter has another type than the input") - 1;
    if (!tf_is_signed8(w) || w->zero_point == 0) return tf_use_in(c, 1);
    int32_t dims[ENGINE_MAX_RANK];
    int8_t *weights = w->value ? malloc(w->bytes) : NULL;
    bool fit = weights != NULL;
    for (size_t i = 0; fit && i < w->count; i++) {
        const int32_t weight = ((const int8_t *)w->value)[i] - w->zero_point;
        fit = weight >= INT8_MIN && weight <= INT8_MAX;
        weights[i] = (int8_t)weight;
    }
    tf_dims(w, dims);
    const int32_t filter = fit ? tf_constant(c, TF_INT8, w->rank, dims, weights, w->bytes)
                               : tf_refuse(c, "TensorFlow Lite's signed filters have no zero point") - 1;
    if (fit && !c->model->failed) c->model->tensors[filter].scale = w->scale;
    free(weights);
    return filter;
}

/** The bias of a layer: with a scale for each channel where the filter has one. */
static int32_t bias_of(struct tf_conversion *c) {
    const struct engine_tensor *x = engine_in(&c->op, 0), *w = engine_in(&c->op, 1), *b = engine_in(&c->op, 2);
    const int32_t index = tf_use_in(c, 2);
    if (c->model->failed || !w->channels || b->type != ANEURALNETWORKS_TENSOR_INT32) return index;
    struct tf_tensor *t = &c->model->tensors[index];
    float *scales = t->own ? NULL : malloc(w->channels * sizeof *scales);
    if (!scales) return index; /* shared with another layer: the first one's */
    for (uint32_t i = 0; i < w->channels; i++) scales[i] = x->scale * w->scales[i];
    t->scale = 0;
    t->channels = w->channels;
    t->channel_dim = 0;
    t->scales = t->own = scales;
    return index;
}

bool tf_conv(struct tf_conversion *c) {
    const struct engine_tensor *x = engine_in(&c->op, 0), *f = engine_in(&c->op, 1), *y = engine_out(&c->op, 0);
    const bool is_depthwise = c->op.node->code == ANEURALNETWORKS_DEPTHWISE_CONV_2D;
    const uint32_t more = c->op.node->code != ANEURALNETWORKS_CONV_2D;
    struct engine_window w;
    struct side h, v;
    if (!engine_window_read(&c->op, 3, more, &w)) return tf_refuse(c, "a parameter is no constant");
    if (w.nchw) return tf_refuse(c, "TensorFlow Lite's images have their channels last");
    const int32_t filter = filter_of(c);
    if (filter < 0) return false;
    sides(&w, x, y, f->dims[1], f->dims[2], &h, &v);
    int32_t padding = padding_of(&w, &h, &v), from = tf_use_in(c, 0);
    if (padding == NEITHER) {
        from = pad(c, x, &h, &v);
        padding = VALID;
    }
    const int32_t bias = bias_of(c);
    tf_operator(c);
    tf_option_byte(c, 0, padding);
    tf_option(c, 1, w.stride_w);
    tf_option(c, 2, w.stride_h);
    if (is_depthwise) tf_option(c, 3, w.more[0]);
    tf_option_byte(c, is_depthwise ? 4 : 3, w.activation);
    tf_option(c, is_depthwise ? 5 : 4, w.dilation_w);
    tf_option(c, is_depthwise ? 6 : 5, w.dilation_h);
    tf_in(c, from);
    tf_in(c, filter);
    tf_in(c, bias);
    tf_out(c, tf_use_out(c, 0));
    return true;
}

/** A fused activation as an operator of its own; y: the operation's output. */
static void activate(struct tf_conversion *c, int32_t activation, int32_t from, int32_t to) {
    static const int32_t builtin[] = {[ANEURALNETWORKS_FUSED_RELU] = TF_RELU,
                                      [ANEURALNETWORKS_FUSED_RELU1] = TF_RELU_N1_TO_1,
                                      [ANEURALNETWORKS_FUSED_RELU6] = TF_RELU6};
    tf_other_operator(c, builtin[activation], 1, 0);
    tf_in(c, from);
    tf_out(c, to);
}

bool tf_transpose_conv(struct tf_conversion *c) {
    const struct engine_tensor *x = engine_in(&c->op, 0), *f = engine_in(&c->op, 1), *y = engine_out(&c->op, 0);
    struct engine_window w;
    struct side h, v;
    int32_t dims[ENGINE_MAX_RANK];
    if (!engine_window_read(&c->op, 3, 0, &w)) return tf_refuse(c, "a parameter is no constant");
    if (w.nchw) return tf_refuse(c, "TensorFlow Lite's images have their channels last");
    const int32_t filter = filter_of(c);
    if (filter < 0) return false;
    sides(&w, y, x, f->dims[1], f->dims[2], &h, &v); /* the image that the window slides over is the output */
    const int32_t padding = padding_of(&w, &h, &v);
    if (padding == NEITHER) return tf_refuse(c, "explicit padding is neither SAME nor VALID");
    tf_dims(y, dims);
    const bool active = w.activation != ANEURALNETWORKS_FUSED_NONE;
    const int32_t bias = bias_of(c), out = tf_use_out(c, 0), sum = active ? tf_temporary(c, y, 4, dims) : out;
    const int32_t shape = tf_int32_list(c, dims, 4);
    tf_operator(c);
    tf_option_byte(c, 0, padding);
    tf_option(c, 1, w.stride_w);
    tf_option(c, 2, w.stride_h);
    tf_in(c, shape);
    tf_in(c, filter);
    tf_in(c, tf_use_in(c, 0));
    tf_in(c, bias);
    tf_out(c, sum);
    if (active) activate(c, w.activation, sum, out);
    return true;
}

bool tf_fully_connected(struct tf_conversion *c) {
    const int32_t act = engine_int(&c->op, 3, ANEURALNETWORKS_FUSED_NONE);
    const int32_t filter = filter_of(c);
    if (filter < 0) return false;
    tf_operator(c);
    tf_option_byte(c, 0, act);
    tf_in(c, tf_use_in(c, 0));
    tf_in(c, filter);
    tf_in(c, tf_use_in(c, 2));
    tf_out(c, tf_use_out(c, 0));
    return true;
}

bool tf_pool(struct tf_conversion *c) {
    struct engine_window w;
    struct side h, v;
    if (!engine_window_read(&c->op, 1, 2, &w)) return tf_refuse(c, "a parameter is no constant");
    if (w.nchw) return tf_refuse(c, "TensorFlow Lite's images have their channels last");
    sides(&w, engine_in(&c->op, 0), engine_out(&c->op, 0), w.more[1], w.more[0], &h, &v);
    const int32_t padding = padding_of(&w, &h, &v);
    if (padding == NEITHER) return tf_refuse(c, "explicit padding is neither SAME nor VALID");
    tf_operator(c);
    tf_option_byte(c, 0, padding);
    tf_option(c, 1, w.stride_w);
    tf_option(c, 2, w.stride_h);
    tf_option(c, 3, w.more[0]);
    tf_option(c, 4, w.more[1]);
    tf_option_byte(c, 5, w.activation);
    tf_in(c, tf_use_in(c, 0));
    tf_out(c, tf_use_out(c, 0));
    return true;
}
