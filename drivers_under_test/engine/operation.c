/* SPDX-License-Identifier: Apache-2.0 */
#include "operation.h"

#include <stdlib.h>
#include <string.h>

bool engine_single(const struct engine_tensor *tensors, uint32_t tensor_count, const struct engine_node *node,
                   struct engine_single *out) {
    uint32_t *in = calloc((size_t)node->in_count + 1, sizeof *in), count = 0;
    for (uint32_t i = 0; in && i < node->in_count; i++) {
        bool is_new = !tensors[node->in[i]].value;
        for (uint32_t k = 0; k < count; k++) is_new = is_new && in[k] != node->in[i];
        if (is_new) in[count++] = node->in[i];
    }
    out->in = in;
    out->graph = (struct engine_graph){.node_count = 1,
                                       .in_count = count,
                                       .out_count = node->out_count,
                                       .nodes = node,
                                       .tensors = tensors,
                                       .tensor_count = tensor_count,
                                       .in = in,
                                       .out = node->out};
    return in != NULL;
}

const struct engine_tensor *engine_in(const struct engine_operation *op, uint32_t i) {
    return i < op->node->in_count ? &op->tensors[op->node->in[i]] : NULL;
}

const struct engine_tensor *engine_out(const struct engine_operation *op, uint32_t i) {
    return &op->tensors[op->node->out[i]];
}

/** Input i if it is a constant of a type; else NULL, and not_constant if it is there. */
static const void *value_of(struct engine_operation *op, uint32_t i, int32_t type) {
    const struct engine_tensor *t = engine_in(op, i);
    if (t && t->value && t->type == type) return t->value;
    op->not_constant = op->not_constant || t;
    return NULL;
}

int32_t engine_int(struct engine_operation *op, uint32_t i, int32_t fallback) {
    const struct engine_tensor *t = engine_in(op, i);
    const bool is_bool = t && t->type == ANEURALNETWORKS_BOOL;
    const void *value = value_of(op, i, is_bool ? ANEURALNETWORKS_BOOL : ANEURALNETWORKS_INT32);
    if (value && is_bool) return *(const uint8_t *)value != 0;
    if (value) memcpy(&fallback, value, sizeof fallback);
    return fallback;
}

float engine_float(struct engine_operation *op, uint32_t i, float fallback) {
    const void *value = value_of(op, i, ANEURALNETWORKS_FLOAT32);
    if (value) memcpy(&fallback, value, sizeof fallback);
    return fallback;
}

const int32_t *engine_list(struct engine_operation *op, uint32_t i) {
    const int32_t *list = value_of(op, i, ANEURALNETWORKS_TENSOR_INT32);
    op->not_constant = op->not_constant || !list;
    return list;
}

bool engine_constant(const struct engine_operation *op, uint32_t first, uint32_t last) {
    for (uint32_t i = first; i <= last && i < op->node->in_count; i++)
        if (!engine_in(op, i)->value) return false;
    return true;
}

bool engine_is_quant(const struct engine_tensor *t) {
    return t->type == ANEURALNETWORKS_TENSOR_QUANT8_ASYMM || t->type == ANEURALNETWORKS_TENSOR_QUANT8_ASYMM_SIGNED;
}

bool engine_same_quant(const struct engine_tensor *a, const struct engine_tensor *b) {
    return a->type == b->type && a->scale == b->scale && a->zero_point == b->zero_point;
}

size_t engine_extent(const struct engine_tensor *t, uint32_t from, uint32_t to) {
    size_t product = 1;
    for (uint32_t i = from; i < to; i++) product *= t->dims[i];
    return product;
}

uint32_t engine_axis(int32_t axis, uint32_t rank) { return axis < 0 ? (uint32_t)axis + rank : (uint32_t)axis; }

int32_t engine_radius(struct engine_operation *op) {
    const struct engine_tensor *x = &op->tensors[op->node->in[0]];
    const int32_t radius = engine_int(op, 1, 0), channels = (int32_t)x->dims[x->rank - 1];
    return radius < channels ? radius : channels;
}

bool engine_window_read(struct engine_operation *op, uint32_t first, uint32_t more, struct engine_window *w) {
    const struct engine_tensor *shape = engine_in(op, first);
    uint32_t i = first + (shape && shape->type == ANEURALNETWORKS_TENSOR_INT32);
    const struct engine_tensor *t = engine_in(op, i + more + 4); /* NCHW, or a number of explicit padding */
    *w = (struct engine_window){0};
    if (t && t->type == ANEURALNETWORKS_INT32) {
        w->left = engine_int(op, i++, 0);
        w->right = engine_int(op, i++, 0);
        w->top = engine_int(op, i++, 0);
        w->bottom = engine_int(op, i++, 0);
    } else {
        w->scheme = engine_int(op, i++, 0);
    }
    w->stride_w = engine_int(op, i++, 1);
    w->stride_h = engine_int(op, i++, 1);
    for (uint32_t k = 0; k < more; k++) w->more[k] = engine_int(op, i++, 1);
    w->activation = engine_int(op, i++, ANEURALNETWORKS_FUSED_NONE);
    w->nchw = engine_int(op, i++, 0) != 0;
    w->dilation_w = engine_int(op, i++, 1);
    w->dilation_h = engine_int(op, i, 1);
    return !op->not_constant;
}

void engine_window_pad(int32_t scheme, int64_t in, int64_t out, int64_t filter, int32_t stride, int32_t dilation,
                       int32_t *head, int32_t *tail) {
    if (scheme != ANEURALNETWORKS_PADDING_SAME) return;
    const int64_t total = (out - 1) * stride + (filter - 1) * dilation + 1 - in;
    *head = total > 0 ? (int32_t)(total / 2) : 0;
    *tail = total > 0 ? (int32_t)(total - total / 2) : 0;
}
