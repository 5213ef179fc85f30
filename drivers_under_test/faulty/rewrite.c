/* SPDX-License-Identifier: Apache-2.0 */
/** @file rewrite.c Rewriting attributes, scales and biases. */
#include <math.h>
#include <string.h>

#include "faulty.h"

static bool has_bias(const struct nnvts_operation *op) {
    return (op->type == ANEURALNETWORKS_CONV_2D || op->type == ANEURALNETWORKS_DEPTHWISE_CONV_2D ||
            op->type == ANEURALNETWORKS_FULLY_CONNECTED) &&
           op->input_count > 2;
}

bool rewrite_bias0(struct edit *e, struct nnvts_operation *op) {
    if (!has_bias(op)) return false;
    const struct nnvts_operand *b = edit_input(e, op, 2);
    uint32_t elem = b ? type_bytes(b->type) : 0;
    uint8_t *value = elem ? edit_value(e, b) : NULL;
    if (!value || b->location.length < elem) return false;
    memset(value, 0, elem);
    edit_replace(e, op, 2, value, b->location.length);
    return true;
}

/* ---------------------------------------------------------------- activations */

/** Changes activation `from` to `to`. */
static bool change_activation(struct edit *e, struct nnvts_operation *op, int32_t from, int32_t to) {
    int at = activation_at(e, op);
    if (at < 0 || edit_int(e, op, (uint32_t)at, -1) != from) return false;
    edit_replace_int(e, op, (uint32_t)at, to);
    return true;
}

bool rewrite_relu6(struct edit *e, struct nnvts_operation *op) {
    if (op->type == ANEURALNETWORKS_RELU6) {
        op->type = ANEURALNETWORKS_RELU;
        return true;
    }
    return change_activation(e, op, ANEURALNETWORKS_FUSED_RELU6, ANEURALNETWORKS_FUSED_RELU);
}

bool rewrite_quantised_relu(struct edit *e, struct nnvts_operation *op) {
    const struct nnvts_operand *y = edit_output(e, op, 0);
    if (!y || y->type != ANEURALNETWORKS_TENSOR_QUANT8_ASYMM || y->zero_point == 0) return false;
    return change_activation(e, op, ANEURALNETWORKS_FUSED_RELU, ANEURALNETWORKS_FUSED_NONE);
}

bool rewrite_no_activation(struct edit *e, struct nnvts_operation *op) {
    if (op->type != ANEURALNETWORKS_ADD && op->type != ANEURALNETWORKS_MUL) return false;
    for (int32_t act = ANEURALNETWORKS_FUSED_RELU; act <= ANEURALNETWORKS_FUSED_RELU6; act++)
        if (change_activation(e, op, act, ANEURALNETWORKS_FUSED_NONE)) return true;
    return false;
}

/* ----------------------------------------------------------------- attributes */

/** Replaces float scalar pos, of either float type, by one (of which the bits are given). */
static bool replace_float(struct edit *e, struct nnvts_operation *op, uint32_t pos, float v, uint16_t half) {
    const struct nnvts_operand *o = edit_input(e, op, pos);
    const void *old = o ? edit_value(e, o) : NULL, *value = NULL;
    if (!old) return false;
    if (o->type == ANEURALNETWORKS_FLOAT32) value = &v;
    if (o->type == ANEURALNETWORKS_FLOAT16) value = &half;
    if (!value || memcmp(old, value, o->location.length) == 0) return false;
    edit_replace(e, op, pos, value, o->location.length);
    return true;
}

bool rewrite_beta(struct edit *e, struct nnvts_operation *op) {
    return op->type == ANEURALNETWORKS_SOFTMAX && replace_float(e, op, 1, 1, 0x3c00);
}

bool rewrite_cell_clip(struct edit *e, struct nnvts_operation *op) {
    return op->type == ANEURALNETWORKS_LSTM && replace_float(e, op, 21, 0, 0);
}

bool rewrite_axis(struct edit *e, struct nnvts_operation *op) {
    uint32_t at = op->type == ANEURALNETWORKS_SOFTMAX                        ? 2
                  : op->type == ANEURALNETWORKS_L2_NORMALIZATION             ? 1
                  : op->type == ANEURALNETWORKS_LOCAL_RESPONSE_NORMALIZATION ? 5
                                                                             : 0;
    const struct nnvts_operand *x = edit_input(e, op, 0);
    if (!at || at >= op->input_count || !x) return false;
    int32_t axis = edit_int(e, op, at, -1), last = (int32_t)x->dimension_count - 1;
    if (axis == -1 || axis == last) return false;
    op->input_count = at;
    return true;
}

static bool clear_flag(struct edit *e, struct nnvts_operation *op, uint32_t pos) {
    if (op->type != ANEURALNETWORKS_RESIZE_BILINEAR || !edit_int(e, op, pos, 0)) return false;
    edit_replace_int(e, op, pos, 0);
    return true;
}

bool rewrite_align_corners(struct edit *e, struct nnvts_operation *op) { return clear_flag(e, op, 4); }

bool rewrite_half_pixel(struct edit *e, struct nnvts_operation *op) { return clear_flag(e, op, 5); }

/** The output gets height for width, in memory of the same size. */
bool rewrite_width_height(struct edit *e, struct nnvts_operation *op) {
    struct nnvts_operand *y = edit_output(e, op, 0);
    if (op->type != ANEURALNETWORKS_RESIZE_BILINEAR || op->input_count < 3 || y->dimension_count != 4 ||
        y->lifetime != NNVTS_SUBGRAPH_OUTPUT)
        return false;
    uint32_t height = edit_int(e, op, 3, 0) && edit_input(e, op, 3)->type == ANEURALNETWORKS_BOOL ? 2 : 1;
    uint32_t *dims = edit_alloc(e, 4 * sizeof *dims), inputs[8];
    if (!dims || op->input_count > 8 || y->dimensions[height] == y->dimensions[height + 1]) return false;
    memcpy(dims, y->dimensions, 4 * sizeof *dims);
    dims[height] = y->dimensions[height + 1];
    dims[height + 1] = y->dimensions[height];
    y->dimensions = dims;
    memcpy(inputs, op->inputs, op->input_count * sizeof *inputs);
    inputs[1] = op->inputs[2];
    inputs[2] = op->inputs[1];
    edit_set_inputs(e, op, inputs, op->input_count);
    return true;
}

bool rewrite_lrn_radius(struct edit *e, struct nnvts_operation *op) {
    if (op->type != ANEURALNETWORKS_LOCAL_RESPONSE_NORMALIZATION || op->input_count < 2) return false;
    edit_replace_int(e, op, 1, edit_int(e, op, 1, 0) + 1);
    return true;
}

bool rewrite_forget_bias(struct edit *e, struct nnvts_operation *op) {
    enum { FORGET_BIAS = 13 };
    if (op->type != ANEURALNETWORKS_LSTM) return false;
    const struct nnvts_operand *o = edit_input(e, op, FORGET_BIAS);
    uint32_t bytes = o ? operand_elems(o) * type_bytes(o->type) : 0;
    void *zeros = bytes ? edit_alloc(e, bytes) : NULL;
    if (!zeros) return false;
    edit_replace(e, op, FORGET_BIAS, zeros, bytes);
    return true;
}

/* --------------------------------------------------------------------- scales */

bool rewrite_first_scale(struct edit *e, struct nnvts_operation *op) {
    struct nnvts_operand *f = edit_input(e, op, 1);
    if (!f || f->type != ANEURALNETWORKS_TENSOR_QUANT8_SYMM_PER_CHANNEL || f->channel_quant.scale_count < 2)
        return false;
    uint32_t n = f->channel_quant.scale_count;
    float *scales = edit_alloc(e, n * sizeof *scales);
    if (!scales) return false;
    for (uint32_t i = 0; i < n; i++) scales[i] = f->channel_quant.scales[0];
    bool differ = memcmp(scales, f->channel_quant.scales, n * sizeof *scales) != 0;
    f->channel_quant.scales = scales;
    return differ;
}

/** Takes the stored numbers of model input or constant o for those of `like`. */
static bool take_scale(struct nnvts_operand *o, const struct nnvts_operand *like) {
    if (!type_is_quant8(o->type) || (o->scale == like->scale && o->zero_point == like->zero_point)) return false;
    if (o->lifetime == NNVTS_TEMPORARY_VARIABLE || o->lifetime == NNVTS_SUBGRAPH_OUTPUT) return false;
    o->scale = like->scale;
    o->zero_point = like->zero_point;
    return true;
}

bool rewrite_concat_scale(struct edit *e, struct nnvts_operation *op) {
    if (op->type != ANEURALNETWORKS_CONCATENATION) return false;
    bool any = false;
    for (uint32_t i = 0; i + 1 < op->input_count; i++) any |= take_scale(edit_input(e, op, i), edit_output(e, op, 0));
    return any;
}

bool rewrite_add_scale(struct edit *e, struct nnvts_operation *op) {
    return op->type == ANEURALNETWORKS_ADD && op->inputs[0] != op->inputs[1] &&
           take_scale(edit_input(e, op, 1), edit_input(e, op, 0));
}

bool rewrite_zero_point(struct edit *e, struct nnvts_operation *op) {
    struct nnvts_operand *x = edit_input(e, op, 0);
    bool fits = has_bias(op) || op->type == ANEURALNETWORKS_ADD || op->type == ANEURALNETWORKS_MUL ||
                op->type == ANEURALNETWORKS_DEQUANTIZE || op->type == ANEURALNETWORKS_LOGISTIC;
    if (!fits || !x || !type_is_quant8(x->type) || x->lifetime != NNVTS_SUBGRAPH_INPUT) return false;
    int32_t top = x->type == ANEURALNETWORKS_TENSOR_QUANT8_ASYMM ? UINT8_MAX : INT8_MAX;
    x->zero_point += x->zero_point == top ? -1 : 1;
    return true;
}

/** Half an output unit less in each sum makes a floor of rounding to nearest. */
bool rewrite_truncate(struct edit *e, struct nnvts_operation *op) {
    if (!has_bias(op)) return false;
    const struct nnvts_operand *x = edit_input(e, op, 0), *f = edit_input(e, op, 1), *b = edit_input(e, op, 2);
    const struct nnvts_operand *y = edit_output(e, op, 0);
    int32_t *bias = b->type == ANEURALNETWORKS_TENSOR_INT32 ? edit_value(e, b) : NULL;
    uint32_t n = b->location.length / (uint32_t)sizeof *bias;
    if (!bias || !type_is_quant8(y->type) || (f->channel_quant.scale_count && f->channel_quant.scale_count != n))
        return false;
    bool any = false;
    for (uint32_t i = 0; i < n; i++) {
        double w = (double)(f->channel_quant.scale_count ? f->channel_quant.scales[i] : f->scale);
        double half = rint(0.5 * (double)y->scale / ((double)x->scale * w));
        if (!(half >= 1 && half < 0x1p30) || bias[i] < INT32_MIN + (int32_t)half) continue;
        bias[i] -= (int32_t)half;
        any = true;
    }
    if (any) edit_replace(e, op, 2, bias, b->location.length);
    return any;
}
