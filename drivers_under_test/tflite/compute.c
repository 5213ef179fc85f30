/* SPDX-License-Identifier: Apache-2.0 */
/** @file compute.c Operations on elements, on lines and on axes. */
#include "convert.h"

/** Its first input and output end the operator. */
static void one_to_one(struct tf_conversion *c) {
    tf_in(c, tf_use_in(c, 0));
    tf_out(c, tf_use_out(c, 0));
}

static void two_to_one(struct tf_conversion *c) {
    tf_in(c, tf_use_in(c, 0));
    tf_in(c, tf_use_in(c, 1));
    tf_out(c, tf_use_out(c, 0));
}

/** Both inputs have the same extents. */
static bool same_shape(const struct engine_tensor *a, const struct engine_tensor *b) {
    for (uint32_t i = 0; i < a->rank && a->rank == b->rank; i++)
        if (a->dims[i] != b->dims[i]) return false;
    return a->rank == b->rank;
}

bool tf_plain(struct tf_conversion *c) {
    const uint32_t inputs = c->row->inputs, limit = c->row->broadcast_rank;
    const struct engine_tensor *a = engine_in(&c->op, 0), *b = engine_in(&c->op, 1);
    if (c->row->constants_from && !tf_need_constants(c, c->row->constants_from, inputs - 1)) return false;
    if (limit && !c->loose && (a->rank > limit || b->rank > limit) && !same_shape(a, b))
        return tf_refuse(c, "TensorFlow Lite can't broadcast so many dimensions");
    if (c->op.node->in_count > inputs && !tf_need_nhwc(c, inputs)) return false;
    tf_operator(c);
    for (uint32_t i = 0; i < inputs && i < c->op.node->in_count; i++) tf_in(c, tf_use_in(c, i));
    for (uint32_t i = 0; i < c->op.node->out_count; i++) tf_out(c, tf_use_out(c, i));
    return true;
}

bool tf_compare(struct tf_conversion *c) {
    for (uint32_t i = 0; i < 2 && !c->loose; i++)
        if (engine_is_quant(engine_in(&c->op, i)) && engine_in(&c->op, i)->scale >= 1.0f)
            return tf_refuse(c, "TensorFlow Lite dies of comparisons of values whose scale is 1 or more");
    return tf_plain(c);
}

/** TensorFlow Lite dies of additions of bytes whose scales are 2^19 times that of the result, and more. */
static bool adds_too_much(const struct engine_operation *op) {
    enum { MOST = 1 << 19 };
    const float most = (float)MOST * engine_out(op, 0)->scale;
    const bool adds = op->node->code == ANEURALNETWORKS_ADD || op->node->code == ANEURALNETWORKS_SUB;
    return adds && engine_is_quant(engine_out(op, 0)) &&
           (engine_in(op, 0)->scale >= most || engine_in(op, 1)->scale >= most);
}

bool tf_binary(struct tf_conversion *c) {
    enum { FLOOR_DIV_OPTIONS = 65 };
    if (adds_too_much(&c->op) && !c->loose) return tf_refuse(c, "TensorFlow Lite dies of scales so far apart");
    const int32_t act = engine_int(&c->op, 2, ANEURALNETWORKS_FUSED_NONE);
    const bool is_int = engine_in(&c->op, 0)->type == ANEURALNETWORKS_TENSOR_INT32;
    if (is_int && c->op.node->code == ANEURALNETWORKS_DIV) {
        /* NNAPI rounds quotients of integers down, as this one does; DIV rounds to 0. */
        if (act != ANEURALNETWORKS_FUSED_NONE) return tf_refuse(c, "there is no activation behind FLOOR_DIV");
        tf_other_operator(c, TF_FLOOR_DIV, 1, FLOOR_DIV_OPTIONS);
    } else {
        tf_operator(c);
        tf_option_byte(c, 0, act);
    }
    two_to_one(c);
    return true;
}

bool tf_rsqrt(struct tf_conversion *c) {
    if (engine_is_quant(engine_in(&c->op, 0)) && !c->loose)
        return tf_refuse(c, "TensorFlow Lite's RSQRT of bytes fails as a whole where one value is not above 0");
    return tf_plain(c);
}

bool tf_elu(struct tf_conversion *c) {
    return engine_float(&c->op, 1, 0) == 1.0f ? tf_plain(c) : tf_refuse(c, "TensorFlow Lite's ELU has an alpha of 1");
}

/** Input i, if it is there, names the last axis; else it refuses. */
static bool need_last_axis(struct tf_conversion *c, uint32_t i) {
    const uint32_t rank = engine_in(&c->op, 0)->rank;
    return engine_axis(engine_int(&c->op, i, -1), rank) == rank - 1 ||
           tf_refuse(c, "TensorFlow Lite has it along the last axis only");
}

bool tf_softmax(struct tf_conversion *c) {
    if (!need_last_axis(c, 2)) return false;
    if (engine_in(&c->op, 1)->type != ANEURALNETWORKS_FLOAT32) return tf_refuse(c, "float16 is not computed");
    tf_operator(c);
    tf_option_float(c, 0, engine_float(&c->op, 1, 1));
    one_to_one(c);
    return true;
}

bool tf_log_softmax(struct tf_conversion *c) {
    if (!need_last_axis(c, 2)) return false;
    if (engine_float(&c->op, 1, 0) != 1.0f) return tf_refuse(c, "TensorFlow Lite's LOG_SOFTMAX has a beta of 1");
    tf_operator(c);
    one_to_one(c);
    return true;
}

bool tf_normalise(struct tf_conversion *c) {
    const bool is_lrn = c->op.node->code == ANEURALNETWORKS_LOCAL_RESPONSE_NORMALIZATION;
    if (!need_last_axis(c, is_lrn ? 5 : 1)) return false;
    if (is_lrn && engine_in(&c->op, 0)->rank != 4)
        return tf_refuse(c, "TensorFlow Lite normalises images of rank 4 only");
    tf_operator(c);
    if (is_lrn) {
        tf_option(c, 0, engine_radius(&c->op));
        for (uint16_t i = 1; i < 4; i++) tf_option_float(c, i, engine_float(&c->op, i + 1u, 0));
    } else {
        tf_option_byte(c, 0, ANEURALNETWORKS_FUSED_NONE);
    }
    one_to_one(c);
    return true;
}

/**
 * The operator's output: the operation's, or one of these extents, which tf_reshape_back then brings to it. TensorFlow
 * Lite has scalars where NNAPI has tensors of one element.
 */
static int32_t output_of(struct tf_conversion *c, uint32_t rank, const int32_t *dims) {
    return rank == engine_out(&c->op, 0)->rank ? tf_use_out(c, 0) : tf_temporary(c, engine_out(&c->op, 0), rank, dims);
}

static void reshape_back(struct tf_conversion *c, int32_t from) {
    int32_t dims[ENGINE_MAX_RANK];
    if (from == tf_use_out(c, 0)) return;
    tf_dims(engine_out(&c->op, 0), dims);
    tf_reshape(c, from, tf_use_out(c, 0), engine_out(&c->op, 0)->rank, dims);
}

bool tf_reduce(struct tf_conversion *c) {
    const struct engine_tensor *in = engine_in(&c->op, 0), *axes = engine_in(&c->op, 1);
    const int32_t *list = engine_list(&c->op, 1);
    bool keep = engine_int(&c->op, 2, 0) != 0, reduced[ENGINE_MAX_RANK] = {0};
    uint32_t left = in->rank;
    if (!list) return tf_refuse(c, "a parameter is no constant");
    for (size_t i = 0; i < axes->count; i++) {
        const uint32_t axis = engine_axis(list[i], in->rank);
        left -= !reduced[axis];
        reduced[axis] = true;
    }
    const bool to_scalar = left == 0 && !keep;
    int32_t ones[ENGINE_MAX_RANK];
    for (uint32_t i = 0; i < in->rank; i++) ones[i] = 1;
    const int32_t y = to_scalar && in->rank > 1 ? output_of(c, in->rank, ones) : tf_use_out(c, 0);
    tf_operator(c);
    tf_option_byte(c, 0, keep || to_scalar);
    tf_in(c, tf_use_in(c, 0));
    tf_in(c, tf_use_in(c, 1));
    tf_out(c, y);
    reshape_back(c, y);
    return true;
}

bool tf_arg(struct tf_conversion *c) {
    const uint32_t rank = engine_in(&c->op, 0)->rank;
    if (!tf_need_constants(c, 1, 1)) return false;
    const int32_t y = rank == 1 ? output_of(c, 0, NULL) : tf_use_out(c, 0);
    tf_operator(c);
    tf_option_byte(c, 0, TF_INT32);
    tf_in(c, tf_use_in(c, 0));
    tf_in(c, tf_use_in(c, 1));
    tf_out(c, y);
    reshape_back(c, y);
    return true;
}

bool tf_cast(struct tf_conversion *c) {
    const struct engine_tensor *in = engine_in(&c->op, 0), *out = engine_out(&c->op, 0);
    if (engine_is_quant(out) && in->type != out->type)
        return tf_refuse(c, "TensorFlow Lite's CAST to 8 bits does not saturate");
    const int32_t x = tf_use_in(c, 0), y = tf_use_out(c, 0);
    if (c->model->failed) return false;
    tf_operator(c);
    tf_option_byte(c, 0, c->model->tensors[x].type);
    tf_option_byte(c, 1, c->model->tensors[y].type);
    tf_in(c, x);
    tf_out(c, y);
    return true;
}

bool tf_fill(struct tf_conversion *c) { return tf_need_constants(c, 0, 0) && tf_plain(c); }

bool tf_batch_matmul(struct tf_conversion *c) {
    const int32_t adj_x = engine_int(&c->op, 2, 0), adj_y = engine_int(&c->op, 3, 0);
    tf_operator(c);
    tf_option_byte(c, 0, adj_x);
    tf_option_byte(c, 1, adj_y);
    two_to_one(c);
    return true;
}
