/* SPDX-License-Identifier: Apache-2.0 */
/** @file move.c Operations that move bytes: all types alike. */
#include <string.h>

#include "plan.h"

XP_SETUP_NC(copy_nc_x8, void, void)
XP_SETUP_NC(channel_shuffle_nc_x8, void, void)
XP_SETUP_NC(channel_shuffle_nc_x32, void, void)

static size_t element_bytes(const struct engine_tensor *t) { return t->bytes / t->count; }

/** rows times bytes, which lie from_stride and to_stride apart. */
static bool add_copy(struct xp_build *b, uint32_t from, uint32_t to, size_t rows, size_t bytes, size_t from_stride,
                     size_t to_stride, size_t from_at, size_t to_at) {
    struct xp_step *s = xp_add(b, setup_copy_nc_x8);
    s->a = from;
    s->y = to;
    s->a_at = from_at;
    s->y_at = to_at;
    s->batch = rows;
    return XP_MAKE(s, copy_nc_x8, bytes, from_stride, to_stride, 0);
}

/** RESHAPE, SQUEEZE, EXPAND_DIMS: the same bytes in another shape. */
bool xp_copy(struct xp_build *b) {
    const size_t bytes = engine_out(&b->op, 0)->bytes;
    return engine_constant(&b->op, 1, b->op.node->in_count) && engine_in(&b->op, 0)->bytes == bytes &&
           add_copy(b, b->op.node->in[0], b->op.node->out[0], 1, bytes, bytes, bytes, 0, 0);
}

static bool is_quant(const struct engine_tensor *t) { return xp_kind_of(t) == XP_QU8 || xp_kind_of(t) == XP_QS8; }

bool xp_concatenation(struct xp_build *b) {
    const uint32_t last = b->op.node->in_count - 1;
    const struct engine_tensor *y = engine_out(&b->op, 0);
    if (!engine_constant(&b->op, last, last)) return false;
    const uint32_t axis = engine_axis(engine_int(&b->op, last, 0), y->rank);
    const size_t to_stride = engine_extent(y, axis, y->rank) * element_bytes(y);
    size_t at = 0;
    for (uint32_t i = 0; i < last; i++) {
        const struct engine_tensor *x = engine_in(&b->op, i);
        const size_t bytes = engine_extent(x, axis, x->rank) * element_bytes(x);
        if (is_quant(x) && !engine_same_quant(x, y)) return false;
        if (!add_copy(b, b->op.node->in[i], b->op.node->out[0], engine_extent(x, 0, axis), bytes, bytes, to_stride, 0,
                      at))
            return false;
        at += bytes;
    }
    return true;
}

bool xp_split(struct xp_build *b) {
    const struct engine_tensor *x = engine_in(&b->op, 0);
    if (!engine_constant(&b->op, 1, 2)) return false;
    const uint32_t axis = engine_axis(engine_int(&b->op, 1, 0), x->rank);
    const size_t from_stride = engine_extent(x, axis, x->rank) * element_bytes(x);
    size_t at = 0;
    for (uint32_t i = 0; i < b->op.node->out_count; i++) {
        const struct engine_tensor *y = engine_out(&b->op, i);
        const size_t bytes = engine_extent(y, axis, y->rank) * element_bytes(y);
        if (!add_copy(b, b->op.node->in[0], b->op.node->out[i], engine_extent(y, 0, axis), bytes, from_stride, bytes,
                      at, 0))
            return false;
        at += bytes;
    }
    return true;
}

#define SETUP_PAD(NAME)                                                                                                \
    static enum xnn_status setup_##NAME(const struct xp_step *s, const void *a, const void *b, void *y,                \
                                        pthreadpool_t threads) {                                                       \
        (void)b;                                                                                                       \
        return xnn_setup_##NAME(s->op, s->a_rank, s->a_dims, s->before, s->after, a, y, threads);                      \
    }
SETUP_PAD(constant_pad_nd_x32)
SETUP_PAD(constant_pad_nd_x8)

bool xp_pad(struct xp_build *b) {
    enum { X, PADDINGS, VALUE };
    const struct engine_tensor *x = engine_in(&b->op, X);
    const enum xp_kind kind = xp_kind_of(x);
    if (!engine_constant(&b->op, PADDINGS, VALUE) || kind == XP_OTHER || x->rank > XNN_MAX_TENSOR_DIMS) return false;
    if (kind != XP_F32 && !engine_same_quant(x, engine_out(&b->op, 0))) return false;
    struct xp_step *s = xp_add(b, kind == XP_F32 ? setup_constant_pad_nd_x32 : setup_constant_pad_nd_x8);
    s->a_rank = x->rank;
    for (uint32_t i = 0; i < x->rank; i++) {
        int32_t pair[2];
        memcpy(pair, (const char *)engine_in(&b->op, PADDINGS)->value + i * sizeof pair, sizeof pair);
        s->a_dims[i] = x->dims[i];
        s->before[i] = (size_t)pair[0];
        s->after[i] = (size_t)pair[1];
    }
    if (kind == XP_F32) {
        const float value = engine_float(&b->op, VALUE, 0);
        return XP_MAKE(s, constant_pad_nd_x32, &value, 0);
    }
    const uint8_t code = (uint8_t)engine_int(&b->op, VALUE, x->zero_point);
    return XP_MAKE(s, constant_pad_nd_x8, &code, 0);
}

/** Along the last dimension. One group, or groups of one, move nothing. */
bool xp_channel_shuffle(struct xp_build *b) {
    const struct engine_tensor *x = engine_in(&b->op, 0);
    if (!engine_constant(&b->op, 1, 2) || engine_axis(engine_int(&b->op, 2, 0), x->rank) != x->rank - 1) return false;
    const size_t c = x->dims[x->rank - 1], groups = (size_t)engine_int(&b->op, 1, 1);
    if (groups == 1 || groups == c) return xp_copy(b);
    struct xp_step *s = xp_add(b, NULL);
    s->batch = x->count / c;
    if (xp_kind_of(x) == XP_F32) {
        return XP_MAKE(s, channel_shuffle_nc_x32, groups, c / groups, c, c, 0);
    }
    return xp_kind_of(x) != XP_OTHER && XP_MAKE(s, channel_shuffle_nc_x8, groups, c / groups, c, c, 0);
}
