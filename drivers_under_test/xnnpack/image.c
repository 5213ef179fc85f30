/* SPDX-License-Identifier: Apache-2.0 */
/** @file image.c Operations on whole images: mean over height and width, resizing, depth to space. */
#include <string.h>

#include "plan.h"

#define SETUP_MEAN(NAME, TYPE)                                                                                         \
    static enum xnn_status setup_##NAME(const struct xp_step *s, const void *a, const void *b, void *y,                \
                                        pthreadpool_t threads) {                                                       \
        (void)b;                                                                                                       \
        return xnn_setup_##NAME(s->op, s->batch, s->in_w, (const TYPE *)a, (TYPE *)y, threads);                        \
    }
SETUP_MEAN(global_average_pooling_nwc_f32, float)
SETUP_MEAN(global_average_pooling_nwc_qu8, uint8_t)
SETUP_MEAN(global_average_pooling_nwc_qs8, int8_t)

/** Only the axes height and width of an image, both. */
bool xp_mean(struct xp_build *b) {
    const struct engine_tensor *x = engine_in(&b->op, 0), *axes = engine_in(&b->op, 1);
    if (!engine_constant(&b->op, 1, 2) || x->rank != 4) return false;
    uint32_t set = 0;
    for (uint32_t i = 0; i < axes->count; i++) {
        int32_t axis;
        memcpy(&axis, (const char *)axes->value + i * sizeof axis, sizeof axis);
        set |= 1u << engine_axis(axis, x->rank);
    }
    return set == (1u << 1 | 1u << 2) && xp_global_average(b, ANEURALNETWORKS_FUSED_NONE);
}

bool xp_global_average(struct xp_build *b, int32_t fuse_code) {
    const struct engine_tensor *x = engine_in(&b->op, 0), *y = engine_out(&b->op, 0);
    const size_t c = x->dims[3];
    const struct xp_range r = xp_activation(fuse_code, y);
    struct xp_step *s = xp_add(b, NULL);
    s->batch = x->dims[0];
    s->in_w = (size_t)x->dims[1] * x->dims[2];
    switch (xp_kind_of(x)) {
    case XP_F32:
        return XP_MAKE(s, global_average_pooling_nwc_f32, c, c, c, r.lo, r.hi, 0);
    case XP_QU8:
        return XP_MAKE(s, global_average_pooling_nwc_qu8, c, c, c, (uint8_t)x->zero_point, x->scale,
                       (uint8_t)y->zero_point, y->scale, (uint8_t)r.qlo, (uint8_t)r.qhi, 0);
    case XP_QS8:
        return XP_MAKE(s, global_average_pooling_nwc_qs8, c, c, c, (int8_t)x->zero_point, x->scale,
                       (int8_t)y->zero_point, y->scale, (int8_t)r.qlo, (int8_t)r.qhi, 0);
    case XP_OTHER:
        break;
    }
    return false;
}

#define SETUP_RESIZE(NAME, TYPE)                                                                                       \
    static enum xnn_status setup_##NAME(const struct xp_step *s, const void *a, const void *b, void *y,                \
                                        pthreadpool_t threads) {                                                       \
        (void)b;                                                                                                       \
        return xnn_setup_##NAME(s->op, s->batch, s->in_h, s->in_w, s->out_h, s->out_w, (const TYPE *)a, (TYPE *)y,     \
                                threads);                                                                              \
    }
SETUP_RESIZE(resize_bilinear2d_nhwc_f32, float)
SETUP_RESIZE(resize_bilinear2d_nhwc_u8, uint8_t)
SETUP_RESIZE(resize_bilinear2d_nhwc_s8, int8_t)

bool xp_resize_bilinear(struct xp_build *b) {
    enum { NCHW = 3, ALIGN_CORNERS, HALF_PIXEL };
    const struct engine_tensor *x = engine_in(&b->op, 0), *y = engine_out(&b->op, 0);
    if (!engine_constant(&b->op, 1, HALF_PIXEL) || engine_int(&b->op, NCHW, 0)) return false;
    if (xp_kind_of(x) != XP_F32 && !engine_same_quant(x, y)) return false;
    const bool align = engine_int(&b->op, ALIGN_CORNERS, 0), half = engine_int(&b->op, HALF_PIXEL, 0);
    const uint32_t flags = align ? XNN_FLAG_ALIGN_CORNERS : half ? 0 : XNN_FLAG_TENSORFLOW_LEGACY_MODE;
    const size_t c = x->dims[3];
    struct xp_step *s = xp_add(b, NULL);
    s->batch = x->dims[0];
    s->in_h = x->dims[1];
    s->in_w = x->dims[2];
    s->out_h = y->dims[1];
    s->out_w = y->dims[2];
    switch (xp_kind_of(x)) {
    case XP_F32:
        return XP_MAKE(s, resize_bilinear2d_nhwc_f32, c, c, c, flags);
    case XP_QU8:
        return XP_MAKE(s, resize_bilinear2d_nhwc_u8, c, c, c, flags);
    case XP_QS8:
        return XP_MAKE(s, resize_bilinear2d_nhwc_s8, c, c, c, flags);
    case XP_OTHER:
        break;
    }
    return false;
}

XP_SETUP_2D(depth_to_space_nhwc_x32, void)

/** Elements of four bytes only. A block of one moves nothing. */
bool xp_depth_to_space(struct xp_build *b) {
    const struct engine_tensor *x = engine_in(&b->op, 0), *y = engine_out(&b->op, 0);
    if (!engine_constant(&b->op, 1, 2) || engine_int(&b->op, 2, 0)) return false;
    const int32_t block = engine_int(&b->op, 1, 1);
    if (block == 1) return xp_copy(b);
    struct xp_step *s = xp_add(b, setup_depth_to_space_nhwc_x32);
    s->batch = x->dims[0];
    s->in_h = x->dims[1];
    s->in_w = x->dims[2];
    return xp_kind_of(x) == XP_F32 &&
           XP_MAKE(s, depth_to_space_nhwc_x32, y->dims[3], x->dims[3], y->dims[3], (uint32_t)block, 0);
}
