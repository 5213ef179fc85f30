/* SPDX-License-Identifier: Apache-2.0 */
/** @file move.c Operations that move values: other places, other extents, more or fewer of them. */
#include <string.h>

#include "convert.h"

static bool one_to_one(struct tf_conversion *c) {
    tf_in(c, tf_use_in(c, 0));
    tf_out(c, tf_use_out(c, 0));
    return true;
}

bool tf_concatenation(struct tf_conversion *c) {
    const uint32_t n = c->op.node->in_count - 1;
    const struct engine_tensor *y = engine_out(&c->op, 0);
    for (uint32_t i = 0; i < n; i++)
        if (tf_is_signed8(y) && !engine_same_quant(engine_in(&c->op, i), y))
            return tf_refuse(c, "TensorFlow Lite takes one scale and zero point for all values");
    const int32_t axis = engine_int(&c->op, n, 0);
    tf_operator(c);
    tf_option(c, 0, axis);
    tf_option_byte(c, 1, ANEURALNETWORKS_FUSED_NONE);
    for (uint32_t i = 0; i < n; i++) tf_in(c, tf_use_in(c, i));
    tf_out(c, tf_use_out(c, 0));
    return true;
}

bool tf_split(struct tf_conversion *c) {
    if (!tf_need_constants(c, 1, 2)) return false;
    tf_operator(c);
    tf_option(c, 0, (int32_t)c->op.node->out_count);
    tf_in(c, tf_use_in(c, 1));
    tf_in(c, tf_use_in(c, 0));
    for (uint32_t i = 0; i < c->op.node->out_count; i++) tf_out(c, tf_use_out(c, i));
    return true;
}

bool tf_pack(struct tf_conversion *c) {
    const uint32_t n = c->op.node->in_count - 1;
    const int32_t axis = engine_int(&c->op, 0, 0);
    tf_operator(c);
    tf_option(c, 0, (int32_t)n);
    tf_option(c, 1, axis);
    for (uint32_t i = 1; i <= n; i++) tf_in(c, tf_use_in(c, i));
    tf_out(c, tf_use_out(c, 0));
    return true;
}

/** RESHAPE to the output's extents, whatever the operation gave them by. */
bool tf_to_shape(struct tf_conversion *c) {
    int32_t dims[ENGINE_MAX_RANK];
    if (!tf_need_constants(c, 1, 1)) return false;
    tf_dims(engine_out(&c->op, 0), dims);
    tf_reshape(c, tf_use_in(c, 0), tf_use_out(c, 0), engine_out(&c->op, 0)->rank, dims);
    return true;
}

bool tf_squeeze(struct tf_conversion *c) {
    const struct engine_tensor *axes = engine_in(&c->op, 1);
    const int32_t *list = axes ? engine_list(&c->op, 1) : NULL;
    if (engine_in(&c->op, 0)->count == 1) return tf_to_shape(c); /* NNAPI has no scalars here */
    tf_operator(c);
    tf_option_list(c, 0, list, list ? (uint32_t)axes->count : 0);
    return one_to_one(c);
}

bool tf_strided_slice(struct tf_conversion *c) {
    const struct engine_tensor *in = engine_in(&c->op, 0), *out = engine_out(&c->op, 0);
    const int32_t begin = engine_int(&c->op, 4, 0), end = engine_int(&c->op, 5, 0), shrink = engine_int(&c->op, 6, 0);
    if (!tf_need_constants(c, 1, 3)) return false;
    const uint32_t all = (1u << in->rank) - 1;
    const bool to_scalar = ((uint32_t)shrink & all) == all;
    int32_t dims[ENGINE_MAX_RANK];
    tf_dims(out, dims);
    const int32_t to = tf_use_out(c, 0), y = to_scalar ? tf_temporary(c, out, 0, dims) : to;
    tf_operator(c);
    tf_option(c, 0, begin);
    tf_option(c, 1, end);
    tf_option(c, 4, shrink);
    for (uint32_t i = 0; i < 4; i++) tf_in(c, tf_use_in(c, i));
    tf_out(c, y);
    if (to_scalar) tf_reshape(c, y, to, out->rank, dims);
    return true;
}

bool tf_gather(struct tf_conversion *c) {
    const int32_t axis = engine_int(&c->op, 1, 0);
    tf_operator(c);
    tf_option(c, 0, axis);
    tf_in(c, tf_use_in(c, 0));
    tf_in(c, tf_use_in(c, 2));
    tf_out(c, tf_use_out(c, 0));
    return true;
}

bool tf_pad_value(struct tf_conversion *c) {
    const struct engine_tensor *x = engine_in(&c->op, 0), *value = engine_in(&c->op, 2);
    if (!tf_need_constants(c, 1, 2)) return false;
    int32_t number;
    if (engine_is_quant(x)) { /* an INT32 holds the code */
        const int32_t code = engine_int(&c->op, 2, 0);
        const uint8_t byte = (uint8_t)code;
        number = tf_constant(c, tf_is_signed8(x) ? TF_INT8 : TF_UINT8, 0, NULL, &byte, 1);
        if (!c->model->failed) {
            c->model->tensors[number].scale = x->scale;
            c->model->tensors[number].zero_point = x->zero_point;
        }
    } else if (value->type == ANEURALNETWORKS_FLOAT32 || value->type == ANEURALNETWORKS_FLOAT16) {
        number = tf_use_in(c, 2);
    } else {
        return tf_refuse(c, "TensorFlow Lite has no such padding value");
    }
    tf_operator(c);
    tf_in(c, tf_use_in(c, 0));
    tf_in(c, tf_use_in(c, 1));
    tf_in(c, number);
    tf_out(c, tf_use_out(c, 0));
    return true;
}

bool tf_mirror_pad(struct tf_conversion *c) {
    const int32_t mode = engine_int(&c->op, 2, 0);
    if (!tf_need_constants(c, 1, 1)) return false;
    tf_operator(c);
    tf_option_byte(c, 0, mode);
    tf_in(c, tf_use_in(c, 0));
    tf_in(c, tf_use_in(c, 1));
    tf_out(c, tf_use_out(c, 0));
    return true;
}

/** Space to depth, and back. */
bool tf_block(struct tf_conversion *c) {
    const int32_t block = engine_int(&c->op, 1, 1);
    if (!tf_need_nhwc(c, 2)) return false;
    tf_operator(c);
    tf_option(c, 0, block);
    return one_to_one(c);
}

bool tf_space_to_batch(struct tf_conversion *c) { return tf_need_constants(c, 1, 2) && tf_plain(c); }

bool tf_batch_to_space(struct tf_conversion *c) {
    const int32_t crops[4] = {0};
    if (!tf_need_constants(c, 1, 1) || !tf_need_nhwc(c, 2)) return false;
    const int32_t none = tf_constant(c, TF_INT32, 2, (const int32_t[]){2, 2}, crops, sizeof crops);
    tf_operator(c);
    tf_in(c, tf_use_in(c, 0));
    tf_in(c, tf_use_in(c, 1));
    tf_in(c, none);
    tf_out(c, tf_use_out(c, 0));
    return true;
}

/** By the output's extents, whether they were given as such or as factors. */
bool tf_resize(struct tf_conversion *c) {
    const struct engine_tensor *y = engine_out(&c->op, 0);
    const int32_t size[] = {(int32_t)y->dims[1], (int32_t)y->dims[2]};
    const int32_t align_corners = engine_int(&c->op, 4, 0), half_pixel = engine_int(&c->op, 5, 0);
    const bool is_bilinear = c->op.node->code == ANEURALNETWORKS_RESIZE_BILINEAR;
    if (!tf_need_constants(c, 1, 2) || !tf_need_nhwc(c, 3)) return false;
    const int32_t sizes = tf_int32_list(c, size, 2);
    tf_operator(c);
    tf_option_byte(c, is_bilinear ? 2 : 0, align_corners);
    tf_option_byte(c, is_bilinear ? 3 : 1, half_pixel);
    tf_in(c, tf_use_in(c, 0));
    tf_in(c, sizes);
    tf_out(c, tf_use_out(c, 0));
    return true;
}

/** Channels in groups: the axis taken apart, transposed, and put together. */
bool tf_shuffle(struct tf_conversion *c) {
    const struct engine_tensor *x = engine_in(&c->op, 0);
    const int32_t groups = engine_int(&c->op, 1, 1);
    const uint32_t axis = engine_axis(engine_int(&c->op, 2, 0), x->rank);
    if (c->op.not_constant) return tf_refuse(c, "a parameter is no constant");
    const int32_t outer = (int32_t)engine_extent(x, 0, axis), inner = (int32_t)engine_extent(x, axis + 1, x->rank);
    const int32_t each = (int32_t)x->dims[axis] / groups;
    const int32_t apart[] = {outer, groups, each, inner}, turned[] = {outer, each, groups, inner};
    int32_t dims[ENGINE_MAX_RANK];
    tf_dims(x, dims);
    const int32_t a = tf_temporary(c, x, 4, apart), b = tf_temporary(c, x, 4, turned);
    const int32_t order = tf_int32_list(c, (const int32_t[]){0, 2, 1, 3}, 4);
    tf_reshape(c, tf_use_in(c, 0), a, 4, apart);
    tf_operator(c);
    tf_in(c, a);
    tf_in(c, order);
    tf_out(c, b);
    tf_reshape(c, b, tf_use_out(c, 0), x->rank, dims);
    return true;
}
