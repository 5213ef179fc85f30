/* SPDX-License-Identifier: Apache-2.0 */
/** @file compute.c Operations on elements, on lines and on axes. */
#include "convert.h"

bool or_unary(struct or_conversion *c) {
    or_store(c, 0, or_node(c, c->name, or_real(c, 0), OR_NOWHERE, OR_NOWHERE));
    return true;
}

bool or_rsqrt(struct or_conversion *c) {
    const int root = or_node(c, c->name, or_real(c, 0), OR_NOWHERE, OR_NOWHERE);
    or_store(c, 0, or_node(c, "Reciprocal", root, OR_NOWHERE, OR_NOWHERE));
    return true;
}

bool or_relu(struct or_conversion *c) {
    const int32_t code = c->op.node->code == ANEURALNETWORKS_RELU    ? ANEURALNETWORKS_FUSED_RELU
                         : c->op.node->code == ANEURALNETWORKS_RELU1 ? ANEURALNETWORKS_FUSED_RELU1
                                                                     : ANEURALNETWORKS_FUSED_RELU6;
    or_store(c, 0, or_activate(c, or_real(c, 0), code, or_real_type(engine_in(&c->op, 0))));
    return true;
}

/** x * min(max(x + 3, 0), 6) / 6. ONNX's HardSwish takes x / 6 + 1 / 2 for the factor, which loses digits near -3. */
bool or_hard_swish(struct or_conversion *c) {
    const enum or_type type = or_real_type(engine_in(&c->op, 0));
    const int x = or_real(c, 0), more = or_node(c, "Add", x, or_number(c, type, 3), OR_NOWHERE);
    const int factor = or_node(c, "Clip", more, or_number(c, type, 0), or_number(c, type, 6));
    const int product = or_node(c, "Mul", x, factor, OR_NOWHERE);
    or_store(c, 0, or_node(c, "Div", product, or_number(c, type, 6), OR_NOWHERE));
    return true;
}

bool or_elu(struct or_conversion *c) {
    if (engine_in(&c->op, 1)->type != ANEURALNETWORKS_FLOAT32) return or_refuse(c, "the alpha of ELU is a float32");
    or_attribute_float(c, "alpha", engine_float(&c->op, 1, 1));
    return or_unary(c);
}

bool or_binary(struct or_conversion *c) {
    const int32_t act = engine_int(&c->op, 2, ANEURALNETWORKS_FUSED_NONE);
    const enum or_type type = or_real_type(engine_in(&c->op, 0));
    if (type == OR_INT32 && c->op.node->code == ANEURALNETWORKS_DIV)
        return or_refuse(c, "ONNX's Div rounds quotients of integers to 0");
    const int result = or_node(c, c->name, or_real(c, 0), or_real(c, 1), OR_NOWHERE);
    or_store(c, 0, or_activate(c, result, act, type));
    return true;
}

bool or_compare(struct or_conversion *c) {
    int result = or_node(c, c->name, or_real(c, 0), or_real(c, 1), OR_NOWHERE);
    if (c->op.node->code == ANEURALNETWORKS_NOT_EQUAL) result = or_node(c, "Not", result, OR_NOWHERE, OR_NOWHERE);
    or_out(c, 0, result);
    return true;
}

bool or_prelu(struct or_conversion *c) {
    const struct engine_tensor *x = engine_in(&c->op, 0), *y = engine_out(&c->op, 0);
    for (uint32_t i = 0; i < y->rank; i++)
        if (x->rank != y->rank || x->dims[i] != y->dims[i])
            return or_refuse(c, "ONNX's PRelu does not broadcast its input");
    or_store(c, 0, or_node(c, c->name, or_real(c, 0), or_real(c, 1), OR_NOWHERE));
    return true;
}

/** Its logarithm, too. beta multiplies differences from the largest number: it would lose their digits otherwise. */
bool or_softmax(struct or_conversion *c) {
    const struct engine_tensor *beta = engine_in(&c->op, 1);
    int x = or_real(c, 0);
    const int32_t axis = engine_int(&c->op, 2, -1);
    const int64_t axes[] = {axis};
    if (!beta->value) return or_refuse(c, "a parameter is no constant");
    if (beta->type != ANEURALNETWORKS_FLOAT32 || engine_float(&c->op, 1, 1) != 1.0f) {
        const int largest = or_node(c, "ReduceMax", x, or_int64_list(c, axes, 1), OR_NOWHERE);
        x = or_node(c, "Mul", or_node(c, "Sub", x, largest, OR_NOWHERE), or_in(c, 1), OR_NOWHERE);
    }
    or_attribute(c, "axis", axis);
    or_store(c, 0, or_node(c, c->name, x, OR_NOWHERE, OR_NOWHERE));
    return true;
}

/** A reduction of a value, along the axes that input 1 holds. Without axes ONNX would reduce all. */
static bool reduce(struct or_conversion *c, int value, int *result) {
    int64_t axes[2 * OR_MOST_RANK];
    uint32_t count = 0, unique = 0;
    const uint32_t rank = engine_in(&c->op, 0)->rank;
    if (!or_list(c, 1, axes, &count)) return false;
    for (uint32_t i = 0; i < count; i++) {
        const int64_t axis = axes[i] < 0 ? axes[i] + rank : axes[i];
        uint32_t k = 0;
        while (k < unique && axes[k] != axis) k++;
        if (k == unique) axes[unique++] = axis;
    }
    or_attribute(c, "keepdims", 1);
    *result = or_reshape_to_out(c, or_node(c, c->name, value, or_int64_list(c, axes, unique), OR_NOWHERE), 0);
    return true;
}

bool or_reduce(struct or_conversion *c) {
    int result;
    if (!reduce(c, or_real(c, 0), &result)) return false;
    or_store(c, 0, result);
    return true;
}

bool or_reduce_bool(struct or_conversion *c) {
    int result;
    if (!reduce(c, or_cast(c, or_in(c, 0), OR_INT32), &result)) return false;
    or_out(c, 0, or_cast(c, result, OR_BOOL));
    return true;
}

bool or_arg(struct or_conversion *c) {
    const int32_t axis = engine_int(&c->op, 1, 0);
    or_attribute(c, "axis", axis);
    or_attribute(c, "keepdims", 1);
    or_attribute(c, "select_last_index", 0);
    const int index = or_cast(c, or_node(c, c->name, or_in(c, 0), OR_NOWHERE, OR_NOWHERE), OR_INT32);
    or_out(c, 0, or_reshape_to_out(c, index, 0));
    return true;
}

/** CAST: of codes, as numbers without scale. NNAPI's saturates to bytes, ONNX's may not. */
bool or_conversion_of_type(struct or_conversion *c) {
    const enum or_type from = or_type_of(engine_in(&c->op, 0)), to = or_type_of(engine_out(&c->op, 0));
    int value = or_in(c, 0);
    if ((to == OR_UINT8 || to == OR_INT8) && from != to)
        value = to == OR_UINT8 ? or_node(c, "Clip", value, or_number(c, from, 0), or_number(c, from, 255))
                               : or_node(c, "Clip", value, or_number(c, from, -128), or_number(c, from, 127));
    or_out(c, 0, or_cast(c, value, to));
    return true;
}

bool or_quantize(struct or_conversion *c) {
    int value = or_in(c, 0);
    if (or_type_of(engine_in(&c->op, 0)) == OR_FLOAT16) value = or_cast(c, value, OR_FLOAT);
    or_store(c, 0, value);
    return true;
}

bool or_dequantize(struct or_conversion *c) {
    const int value = or_real(c, 0);
    or_out(c, 0, or_type_of(engine_out(&c->op, 0)) == OR_FLOAT16 ? or_cast(c, value, OR_FLOAT16) : value);
    return true;
}

/** One of the two matrices, transposed where its flag (input `flag`) says so. */
static int matrix(struct or_conversion *c, uint32_t i, uint32_t flag) {
    const uint32_t rank = engine_in(&c->op, i)->rank;
    int64_t order[OR_MOST_RANK];
    const int value = or_real(c, i);
    if (!engine_int(&c->op, flag, 0)) return value;
    for (uint32_t k = 0; k < rank; k++) order[k] = k;
    order[rank - 1] = rank - 2;
    order[rank - 2] = rank - 1;
    return or_transpose(c, value, order, rank);
}

bool or_batch_matmul(struct or_conversion *c) {
    const int a = matrix(c, 0, 2), b = matrix(c, 1, 3);
    or_store(c, 0, or_node(c, c->name, a, b, OR_NOWHERE));
    return true;
}

bool or_l2_normalization(struct or_conversion *c) {
    const int32_t axis = engine_int(&c->op, 1, -1);
    const int value = or_real(c, 0);
    or_attribute(c, "axis", axis);
    or_attribute(c, "p", 2);
    or_store(c, 0, or_node(c, c->name, value, OR_NOWHERE, OR_NOWHERE));
    return true;
}

/** ONNX divides alpha by the size of the window. */
bool or_lrn(struct or_conversion *c) {
    const struct engine_tensor *x = engine_in(&c->op, 0);
    const int32_t size = 2 * engine_radius(&c->op) + 1;
    if (x->rank != 4 || engine_axis(engine_int(&c->op, 5, -1), 4) != 3)
        return or_refuse(c, "ONNX normalises along the channels of images only");
    if (engine_in(&c->op, 2)->type != ANEURALNETWORKS_FLOAT32) return or_refuse(c, "the parameters of LRN are float32");
    const int value = or_to_nchw(c, or_in(c, 0), false);
    or_attribute(c, "size", size);
    or_attribute_float(c, "bias", engine_float(&c->op, 2, 0));
    or_attribute_float(c, "alpha", engine_float(&c->op, 3, 0) * (float)size);
    or_attribute_float(c, "beta", engine_float(&c->op, 4, 0));
    or_out(c, 0, or_from_nchw(c, or_node(c, c->name, value, OR_NOWHERE, OR_NOWHERE), false));
    return true;
}

bool or_instance_normalization(struct or_conversion *c) {
    const struct engine_tensor *x = engine_in(&c->op, 0);
    const bool is_nchw = engine_int(&c->op, 4, 0) != 0;
    if (engine_in(&c->op, 1)->type != ANEURALNETWORKS_FLOAT32)
        return or_refuse(c, "the parameters of InstanceNormalization are float32");
    if (!engine_constant(&c->op, 1, 3)) return or_refuse(c, "a parameter is no constant");
    const int64_t channels[] = {x->dims[is_nchw ? 1 : 3]};
    const int extent = or_int64_list(c, channels, 1);
    const int gamma = or_node(c, "Expand", or_in(c, 1), extent, OR_NOWHERE);
    const int beta = or_node(c, "Expand", or_in(c, 2), extent, OR_NOWHERE);
    const int value = or_to_nchw(c, or_in(c, 0), is_nchw);
    or_attribute_float(c, "epsilon", engine_float(&c->op, 3, 0));
    or_out(c, 0, or_from_nchw(c, or_node(c, c->name, value, gamma, beta), is_nchw));
    return true;
}

bool or_top_k(struct or_conversion *c) {
    const int64_t k[] = {engine_int(&c->op, 1, 1)};
    const int in[] = {or_in(c, 0), or_int64_list(c, k, 1)};
    or_attribute(c, "axis", -1);
    const int values = or_node_list(c, c->name, in, 2, 2);
    or_out(c, 0, values);
    or_out(c, 1, or_cast(c, values + 1, OR_INT32));
    return true;
}
