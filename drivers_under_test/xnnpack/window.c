/* SPDX-License-Identifier: Apache-2.0 */
/** @file window.c Operations with a window that moves over an image: convolutions and pools. */
#include <stdlib.h>
#include <string.h>

#include "plan.h"

/** The window of an operation whose kernel has these extents, its implicit padding settled; XNNPACK has no NCHW. */
static bool settle(struct engine_window *w, const struct engine_tensor *x, const struct engine_tensor *y,
                   uint32_t kernel_h, uint32_t kernel_w) {
    engine_window_pad(w->scheme, x->dims[1], y->dims[1], kernel_h, w->stride_h, w->dilation_h, &w->top, &w->bottom);
    engine_window_pad(w->scheme, x->dims[2], y->dims[2], kernel_w, w->stride_w, w->dilation_w, &w->left, &w->right);
    return !w->nchw;
}

static void image_sizes(struct xp_step *s, const struct engine_tensor *x, const struct engine_tensor *y) {
    s->batch = x->dims[0];
    s->in_h = x->dims[1];
    s->in_w = x->dims[2];
    s->out_h = y->dims[1];
    s->out_w = y->dims[2];
}

/* ---------------------------------------------------------------------- convolutions */

/** Arguments that all convolutions begin with. */
#define WINDOW(W) (uint32_t)(W).top, (uint32_t)(W).right, (uint32_t)(W).bottom, (uint32_t)(W).left
#define STRIDES(W) (uint32_t)(W).stride_h, (uint32_t)(W).stride_w

XP_SETUP_2D(convolution2d_nhwc_f32, float)
XP_SETUP_2D(convolution2d_nhwc_qu8, uint8_t)
XP_SETUP_2D(convolution2d_nhwc_qs8, int8_t)
XP_SETUP_2D(convolution2d_nhwc_qc8, int8_t)

/** XNNPACK aborts, where asserts are compiled in, at a scale that it can't take; it refuses only what is too large. */
static bool scale_ok(const struct engine_tensor *x, float filter_scale, const struct engine_tensor *y) {
    const float least = 0x1.0p-32f, beyond = 256, scale = x->scale * filter_scale / y->scale;
    return scale >= least && scale < beyond;
}

static bool scales_ok(const struct engine_tensor *x, const struct engine_tensor *filter,
                      const struct engine_tensor *y) {
    if (xp_kind_of(x) == XP_F32) return true;
    for (uint32_t i = 0; i < filter->channels; i++)
        if (!scale_ok(x, filter->scales[i], y)) return false;
    return filter->channels || scale_ok(x, filter->scale, y);
}

struct convolution {
    struct engine_window w;
    const struct engine_tensor *x, *filter, *bias, *y;
    uint32_t kernel_h, kernel_w, groups, flags;
    size_t group_in, group_out, channels_in, channels_out;
    struct xp_range range;
};

#define GEOMETRY(V)                                                                                                    \
    WINDOW((V)->w), (V)->kernel_h, (V)->kernel_w, STRIDES((V)->w), (uint32_t)(V)->w.dilation_h,                        \
        (uint32_t)(V)->w.dilation_w, (V)->groups, (V)->group_in, (V)->group_out, (V)->channels_in, (V)->channels_out

static bool create_f32(const struct convolution *v, struct xp_step *s) {
    return XP_MAKE(s, convolution2d_nhwc_f32, GEOMETRY(v), v->filter->value, v->bias->value, v->range.lo, v->range.hi,
                   v->flags);
}

static bool create_qu8(const struct convolution *v, struct xp_step *s) {
    return XP_MAKE(s, convolution2d_nhwc_qu8, GEOMETRY(v), (uint8_t)v->x->zero_point, v->x->scale,
                   (uint8_t)v->filter->zero_point, v->filter->scale, v->filter->value, v->bias->value,
                   (uint8_t)v->y->zero_point, v->y->scale, (uint8_t)v->range.qlo, (uint8_t)v->range.qhi, v->flags);
}

/**
 * XNNPACK's signed filters have no zero point: it is taken off the weights, where they all stay in range. NULL if they
 * don't, or without memory; else to be freed, since XNNPACK keeps no reference to it.
 */
static int8_t *centred_filter(const struct engine_tensor *filter) {
    const int8_t *from = filter->value;
    int8_t *to = malloc(filter->count);
    for (size_t i = 0; to && i < filter->count; i++) {
        const int32_t w = from[i] - filter->zero_point;
        if (w < INT8_MIN || w > INT8_MAX) {
            free(to);
            return NULL;
        }
        to[i] = (int8_t)w;
    }
    return to;
}

static bool create_qs8(const struct convolution *v, struct xp_step *s) {
    int8_t *filter = centred_filter(v->filter);
    const bool ok = filter && XP_MAKE(s, convolution2d_nhwc_qs8, GEOMETRY(v), (int8_t)v->x->zero_point, v->x->scale,
                                      v->filter->scale, filter, v->bias->value, (int8_t)v->y->zero_point, v->y->scale,
                                      (int8_t)v->range.qlo, (int8_t)v->range.qhi, v->flags);
    free(filter);
    return ok;
}

static bool create_qc8(const struct convolution *v, struct xp_step *s) {
    return XP_MAKE(s, convolution2d_nhwc_qc8, GEOMETRY(v), (int8_t)v->x->zero_point, v->x->scale, v->filter->scales,
                   v->filter->value, v->bias->value, (int8_t)v->y->zero_point, v->y->scale, (int8_t)v->range.qlo,
                   (int8_t)v->range.qhi, v->flags);
}

/** Filters for each channel go with signed values only: XNNPACK has no unsigned form. */
static bool create_convolution(const struct convolution *v, struct xp_step *s) {
    const bool per_channel = v->filter->type == ANEURALNETWORKS_TENSOR_QUANT8_SYMM_PER_CHANNEL;
    switch (xp_kind_of(v->x)) {
    case XP_F32:
        return create_f32(v, s);
    case XP_QU8:
        return !per_channel && create_qu8(v, s);
    case XP_QS8:
        return per_channel ? create_qc8(v, s) : create_qs8(v, s);
    case XP_OTHER:
        break;
    }
    return false;
}

bool xp_convolution(struct xp_build *b) {
    enum { X, FILTER, BIAS, SCALARS };
    const bool depthwise = b->op.node->code == ANEURALNETWORKS_DEPTHWISE_CONV_2D;
    const bool grouped = b->op.node->code == ANEURALNETWORKS_GROUPED_CONV_2D;
    struct convolution v = {.x = engine_in(&b->op, X),
                            .filter = engine_in(&b->op, FILTER),
                            .bias = engine_in(&b->op, BIAS),
                            .y = engine_out(&b->op, 0)};
    if (!engine_constant(&b->op, FILTER, BIAS) || !engine_window_read(&b->op, SCALARS, depthwise || grouped, &v.w))
        return false;
    if (!b->loose && !scales_ok(v.x, v.filter, v.y)) return false;
    v.kernel_h = v.filter->dims[1];
    v.kernel_w = v.filter->dims[2];
    if (!settle(&v.w, v.x, v.y, v.kernel_h, v.kernel_w)) return false;
    v.channels_in = v.x->dims[3];
    v.channels_out = v.y->dims[3];
    v.groups = depthwise ? v.x->dims[3] : grouped ? (uint32_t)v.w.more[0] : 1;
    v.group_in = v.channels_in / v.groups;
    v.group_out = v.channels_out / v.groups;
    v.flags = depthwise ? XNN_FLAG_DEPTHWISE_CONVOLUTION : 0;
    v.range = xp_activation(v.w.activation, v.y);
    struct xp_step *s = xp_add(b, NULL);
    image_sizes(s, v.x, v.y);
    return create_convolution(&v, s);
}

/* ------------------------------------------------------------ transposed convolution */

#define SETUP_DECONVOLUTION(NAME, TYPE)                                                                                \
    static enum xnn_status setup_##NAME(const struct xp_step *s, const void *a, const void *b, void *y,                \
                                        pthreadpool_t threads) {                                                       \
        (void)b;                                                                                                       \
        return xnn_setup_##NAME(s->op, s->batch, s->in_h, s->in_w, (uint32_t)s->out_h, (uint32_t)s->out_w,             \
                                (const TYPE *)a, (TYPE *)y, threads);                                                  \
    }
SETUP_DECONVOLUTION(deconvolution2d_nhwc_f32, float)
SETUP_DECONVOLUTION(deconvolution2d_nhwc_qu8, uint8_t)
SETUP_DECONVOLUTION(deconvolution2d_nhwc_qs8, int8_t)

static bool create_deconvolution_qs8(const struct convolution *v, struct xp_step *s) {
    int8_t *filter = centred_filter(v->filter);
    const bool ok = filter && XP_MAKE(s, deconvolution2d_nhwc_qs8, GEOMETRY(v), (int8_t)v->x->zero_point, v->x->scale,
                                      v->filter->scale, filter, v->bias->value, (int8_t)v->y->zero_point, v->y->scale,
                                      (int8_t)v->range.qlo, (int8_t)v->range.qhi, 0);
    free(filter);
    return ok;
}

static bool create_deconvolution(const struct convolution *v, struct xp_step *s) {
    switch (xp_kind_of(v->x)) {
    case XP_F32:
        return XP_MAKE(s, deconvolution2d_nhwc_f32, GEOMETRY(v), v->filter->value, v->bias->value, v->range.lo,
                       v->range.hi, 0);
    case XP_QU8:
        return XP_MAKE(s, deconvolution2d_nhwc_qu8, GEOMETRY(v), (uint8_t)v->x->zero_point, v->x->scale,
                       (uint8_t)v->filter->zero_point, v->filter->scale, v->filter->value, v->bias->value,
                       (uint8_t)v->y->zero_point, v->y->scale, (uint8_t)v->range.qlo, (uint8_t)v->range.qhi, 0);
    case XP_QS8:
        return create_deconvolution_qs8(v, s);
    case XP_OTHER:
        break;
    }
    return false;
}

/** How much larger the output is than what input, stride, kernel and padding give; false if it is smaller. */
static bool adjustment(uint32_t in, uint32_t out, uint32_t kernel, uint32_t stride, bool same, int32_t *before,
                       int32_t *after, size_t *extra) {
    const int64_t whole = ((int64_t)in - 1) * stride + kernel;
    if (same) {
        const int64_t total = whole > out ? whole - out : 0;
        *before = (int32_t)(total / 2);
        *after = (int32_t)(total - total / 2);
    }
    const int64_t more = (int64_t)out + *before + *after - whole;
    if (more < 0 || more >= stride) return false;
    *extra = (size_t)more;
    return true;
}

bool xp_transpose_convolution(struct xp_build *b) {
    enum { X, FILTER, BIAS, SCALARS };
    struct convolution v = {.x = engine_in(&b->op, X),
                            .filter = engine_in(&b->op, FILTER),
                            .bias = engine_in(&b->op, BIAS),
                            .y = engine_out(&b->op, 0)};
    if (!engine_constant(&b->op, FILTER, b->op.node->in_count)) return false;
    if (v.filter->type == ANEURALNETWORKS_TENSOR_QUANT8_SYMM_PER_CHANNEL || !scales_ok(v.x, v.filter, v.y))
        return false;
    if (!engine_window_read(&b->op, SCALARS, 0, &v.w) || v.w.nchw) return false;
    const bool same = v.w.scheme == ANEURALNETWORKS_PADDING_SAME;
    v.range = xp_activation(v.w.activation, v.y);
    v.groups = 1;
    v.kernel_h = v.filter->dims[1];
    v.kernel_w = v.filter->dims[2];
    v.group_in = v.channels_in = v.x->dims[3];
    v.group_out = v.channels_out = v.y->dims[3];
    struct xp_step *s = xp_add(b, NULL);
    image_sizes(s, v.x, v.y);
    return adjustment(v.x->dims[1], v.y->dims[1], v.kernel_h, (uint32_t)v.w.stride_h, same, &v.w.top, &v.w.bottom,
                      &s->out_h) &&
           adjustment(v.x->dims[2], v.y->dims[2], v.kernel_w, (uint32_t)v.w.stride_w, same, &v.w.left, &v.w.right,
                      &s->out_w) &&
           create_deconvolution(&v, s);
}

/* --------------------------------------------------------------------- fully connected */

XP_SETUP_NC(fully_connected_nc_f32, float, float)
XP_SETUP_NC(fully_connected_nc_qu8, uint8_t, uint8_t)
XP_SETUP_NC(fully_connected_nc_qs8, int8_t, int8_t)

bool xp_fully_connected(struct xp_build *b) {
    const struct engine_tensor *x = engine_in(&b->op, 0), *w = engine_in(&b->op, 1), *bias = engine_in(&b->op, 2),
                               *y = engine_out(&b->op, 0);
    if (!engine_constant(&b->op, 1, 3) || w->type != x->type || (!b->loose && !scales_ok(x, w, y))) return false;
    const size_t units = w->dims[0], width = w->dims[1];
    const struct xp_range r = xp_activation(engine_int(&b->op, 3, 0), y);
    struct xp_step *s = xp_add(b, NULL);
    int8_t *centred;
    bool ok;
    s->batch = x->count / width;
    switch (xp_kind_of(x)) {
    case XP_F32:
        return XP_MAKE(s, fully_connected_nc_f32, width, units, width, units, w->value, bias->value, r.lo, r.hi, 0);
    case XP_QU8:
        return XP_MAKE(s, fully_connected_nc_qu8, width, units, width, units, (uint8_t)x->zero_point, x->scale,
                       (uint8_t)w->zero_point, w->scale, w->value, bias->value, (uint8_t)y->zero_point, y->scale,
                       (uint8_t)r.qlo, (uint8_t)r.qhi, 0);
    case XP_QS8:
        centred = centred_filter(w);
        ok = centred &&
             XP_MAKE(s, fully_connected_nc_qs8, width, units, width, units, (int8_t)x->zero_point, x->scale, w->scale,
                     centred, bias->value, (int8_t)y->zero_point, y->scale, (int8_t)r.qlo, (int8_t)r.qhi, 0);
        free(centred);
        return ok;
    case XP_OTHER:
        break;
    }
    return false;
}

/* ------------------------------------------------------------------------------- pools */

XP_SETUP_2D(max_pooling2d_nhwc_f32, float)
XP_SETUP_2D(max_pooling2d_nhwc_u8, uint8_t)
XP_SETUP_2D(max_pooling2d_nhwc_s8, int8_t)
XP_SETUP_2D(average_pooling2d_nhwc_f32, float)
XP_SETUP_2D(average_pooling2d_nhwc_qu8, uint8_t)

enum { WINDOW_W, WINDOW_H }; /* of more */

static bool read_pool(struct xp_build *b, struct engine_window *w) {
    const struct engine_tensor *x = engine_in(&b->op, 0), *y = engine_out(&b->op, 0);
    return engine_window_read(&b->op, 1, 2, w) && (xp_kind_of(x) == XP_F32 || engine_same_quant(x, y)) &&
           settle(w, x, y, (uint32_t)w->more[WINDOW_H], (uint32_t)w->more[WINDOW_W]);
}

bool xp_max_pool(struct xp_build *b) {
    const struct engine_tensor *x = engine_in(&b->op, 0), *y = engine_out(&b->op, 0);
    struct engine_window o;
    if (!read_pool(b, &o)) return false;
    const uint32_t h = (uint32_t)o.more[WINDOW_H], w = (uint32_t)o.more[WINDOW_W];
    const size_t c = x->dims[3];
    const struct xp_range r = xp_activation(o.activation, y);
    struct xp_step *s = xp_add(b, NULL);
    image_sizes(s, x, y);
    switch (xp_kind_of(x)) {
    case XP_F32:
        return XP_MAKE(s, max_pooling2d_nhwc_f32, WINDOW(o), h, w, STRIDES(o), 1, 1, c, c, c, r.lo, r.hi, 0);
    case XP_QU8:
        return XP_MAKE(s, max_pooling2d_nhwc_u8, WINDOW(o), h, w, STRIDES(o), 1, 1, c, c, c, (uint8_t)r.qlo,
                       (uint8_t)r.qhi, 0);
    case XP_QS8:
        return XP_MAKE(s, max_pooling2d_nhwc_s8, WINDOW(o), h, w, STRIDES(o), 1, 1, c, c, c, (int8_t)r.qlo,
                       (int8_t)r.qhi, 0);
    case XP_OTHER:
        break;
    }
    return false;
}

/**
 * Of quantised values, XNNPACK has no form for signed ones, but for the mean of a whole image; and it counts the cells
 * of padding.
 */
bool xp_average_pool(struct xp_build *b) {
    const struct engine_tensor *x = engine_in(&b->op, 0), *y = engine_out(&b->op, 0);
    struct engine_window o;
    if (!read_pool(b, &o)) return false;
    const uint32_t h = (uint32_t)o.more[WINDOW_H], w = (uint32_t)o.more[WINDOW_W];
    const bool padded = o.top || o.right || o.bottom || o.left;
    if (!padded && h == x->dims[1] && w == x->dims[2]) return xp_global_average(b, o.activation);
    const size_t c = x->dims[3];
    const struct xp_range r = xp_activation(o.activation, y);
    struct xp_step *s = xp_add(b, NULL);
    image_sizes(s, x, y);
    if (xp_kind_of(x) == XP_F32) {
        return XP_MAKE(s, average_pooling2d_nhwc_f32, WINDOW(o), h, w, STRIDES(o), c, c, c, r.lo, r.hi, 0);
    }
    return xp_kind_of(x) == XP_QU8 && (!padded || b->loose) &&
           XP_MAKE(s, average_pooling2d_nhwc_qu8, WINDOW(o), h, w, STRIDES(o), c, c, c, (uint8_t)x->zero_point,
                   x->scale, (uint8_t)y->zero_point, y->scale, (uint8_t)r.qlo, (uint8_t)r.qhi, 0);
}
