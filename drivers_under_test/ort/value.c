/* SPDX-License-Identifier: Apache-2.0 */
/** @file value.c Steps that many conversions take: quantisation, extents, layouts, activations. */
#include <math.h>

#include "convert.h"

/** Scale and zero point of a tensor, the inputs of its QuantizeLinear and DequantizeLinear. */
static void quantisation(struct or_conversion *c, const struct engine_tensor *t, int *scale, int *zero_point) {
    *scale = or_number(c, OR_FLOAT, (double)t->scale);
    *zero_point = or_number(c, or_type_of(t), t->zero_point);
}

int or_real(struct or_conversion *c, uint32_t i) {
    const struct engine_tensor *t = engine_in(&c->op, i);
    int scale, zero_point;
    if (or_real_type(t) == or_type_of(t)) return or_in(c, i);
    if (!t->channels) {
        quantisation(c, t, &scale, &zero_point);
        return or_node(c, "DequantizeLinear", or_in(c, i), scale, zero_point);
    }
    const int64_t dims[] = {t->channels};
    scale = or_constant(c, OR_FLOAT, 1, dims, t->scales, t->channels * sizeof *t->scales);
    or_attribute(c, "axis", t->channel_dim);
    return or_node(c, "DequantizeLinear", or_in(c, i), scale, OR_NOWHERE);
}

void or_store(struct or_conversion *c, uint32_t i, int value) {
    const struct engine_tensor *t = engine_out(&c->op, i);
    if (or_real_type(t) != or_type_of(t)) {
        int scale, zero_point;
        quantisation(c, t, &scale, &zero_point);
        value = or_node(c, "QuantizeLinear", value, scale, zero_point);
    }
    or_out(c, i, value);
}

int or_reshape(struct or_conversion *c, int value, const int64_t *dims, uint32_t rank) {
    return or_node(c, "Reshape", value, or_int64_list(c, dims, rank), OR_NOWHERE);
}

int or_reshape_to_out(struct or_conversion *c, int value, uint32_t i) {
    int64_t dims[OR_MOST_RANK];
    or_dims(engine_out(&c->op, i), dims);
    return or_reshape(c, value, dims, engine_out(&c->op, i)->rank);
}

int or_transpose(struct or_conversion *c, int value, const int64_t *order, uint32_t rank) {
    or_attribute_list(c, "perm", order, rank);
    return or_node(c, "Transpose", value, OR_NOWHERE, OR_NOWHERE);
}

int or_to_nchw(struct or_conversion *c, int value, bool is_nchw) {
    return is_nchw ? value : or_transpose(c, value, (const int64_t[]){0, 3, 1, 2}, 4);
}

int or_from_nchw(struct or_conversion *c, int value, bool is_nchw) {
    return is_nchw ? value : or_transpose(c, value, (const int64_t[]){0, 2, 3, 1}, 4);
}

int or_cast(struct or_conversion *c, int value, enum or_type type) {
    or_attribute(c, "to", type);
    return or_node(c, "Cast", value, OR_NOWHERE, OR_NOWHERE);
}

/** The code of a number, in float32 as NNAPI and ONNX compute it, lies in the middle between two. */
static bool is_tie(const struct engine_tensor *t, float number) {
    const float code = number / t->scale;
    return or_real_type(t) != or_type_of(t) && code - floorf(code) == 0.5f;
}

int or_activate(struct or_conversion *c, int value, int32_t code, enum or_type type) {
    const struct engine_tensor *y = engine_out(&c->op, 0);
    c->tie = c->tie || (code == ANEURALNETWORKS_FUSED_RELU1 && is_tie(y, 1)) ||
             (code == ANEURALNETWORKS_FUSED_RELU6 && is_tie(y, 6));
    switch (code) {
    case ANEURALNETWORKS_FUSED_RELU:
        return or_node(c, "Relu", value, OR_NOWHERE, OR_NOWHERE);
    case ANEURALNETWORKS_FUSED_RELU1:
        return or_node(c, "Clip", value, or_number(c, type, -1), or_number(c, type, 1));
    case ANEURALNETWORKS_FUSED_RELU6:
        return or_node(c, "Clip", value, or_number(c, type, 0), or_number(c, type, 6));
    default:
        return value;
    }
}
