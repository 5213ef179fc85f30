/* SPDX-License-Identifier: Apache-2.0 */
/** @file quant.c Bugs of quantised arithmetic as drivers in the field have had them. */
#include <math.h>

#include "rewire.h"

static bool is_byte(int32_t type) {
    return type == ANEURALNETWORKS_TENSOR_QUANT8_ASYMM || type == ANEURALNETWORKS_TENSOR_QUANT8_ASYMM_SIGNED;
}

static double scale_of(struct nnv_edit *e, int pos) { return (double)nnv_edit_operand(e, pos)->scale; }

/** The low bits of an input are lost: units of so many. */
static bool coarse(struct nnv_edit *e, int pos, float units) {
    const struct nnv_operand *o = nnv_edit_operand(e, pos);
    if (!is_byte(o->type) || o->rank == 0 || o->rank > 4) return false;
    struct wire w = wire_before(e, pos);
    const struct nnv_operand like = w.like;
    wire_type(&w, ANEURALNETWORKS_TENSOR_FLOAT32);
    const uint32_t x = w.value, real = WIRE(&w, DEQUANTIZE, x);
    w.like = like;
    w.like.scale *= units;
    WIRE(&w, QUANTIZE, real);
    return wire_end(&w);
}

/** The encoding of an output of the model is another. */
static bool encode_output(struct nnv_edit *e, float scale, int32_t zero_point) {
    struct nnv_operand *y = &e->spec.model.main.operands[nnv_edit_op(e)->out[0]];
    if (y->lifetime != NNV_SUBGRAPH_OUTPUT || !is_byte(y->type)) return false;
    if (y->scale == scale && y->zero_point == zero_point) return false;
    y->scale = scale;
    y->zero_point = zero_point;
    return true;
}

/* -------------------------------------------------------------------- multipliers */

CHANGE(scale_ratio) {
    (void)f;
    if (!is_byte(type_of(e))) return false;
    const double ratio = scale_of(e, 0) / scale_of(e, 1);
    return ratio >= 16 ? coarse(e, 1, 16) : ratio <= 1.0 / 16 && coarse(e, 0, 16);
}

/** A multiplier is a fraction. */
CHANGE(large_multiplier) {
    (void)f;
    if (!is_byte(type_of(e)) || nnv_edit_operand(e, 1)->channel.count) return false;
    const double unit = scale_of(e, 0) * scale_of(e, 1);
    return unit > (double)e->call->out[0].operand->scale &&
           encode_output(e, (float)unit, e->call->out[0].operand->zero_point);
}

CHANGE(slope_scales) { return (void)f, encode_output(e, (float)scale_of(e, 0), e->call->out[0].operand->zero_point); }

CHANGE(zero_point_alone) {
    const struct nnv_operand *y = e->call->out[0].operand;
    bool any = false;
    (void)f;
    for (int i = 0; i + 1 < (int)nnv_edit_op(e)->nin && is_byte(y->type); i++) {
        const struct nnv_operand *o = nnv_edit_operand(e, i);
        if (!nnv_edit_known(e, i) || o->scale != y->scale || o->zero_point == y->zero_point) continue;
        nnv_edit_own(e, i)->zero_point = y->zero_point;
        any = true;
    }
    return any;
}

/* ------------------------------------------------------------ weights and biases */

CHANGE(narrow_weights) {
    int pos;
    size_t n;
    double *v = constants(e, nnv_edit_find(e, "filter") >= 0 ? "filter" : "weights", &pos, &n);
    bool any = false;
    (void)f;
    if (!v || nnv_edit_operand(e, pos)->type != ANEURALNETWORKS_TENSOR_QUANT8_ASYMM_SIGNED) return false;
    for (size_t i = 0; i < n; i++) {
        any |= v[i] == -128;
        v[i] = fmax(v[i], -127);
    }
    if (any) nnv_edit_set_numbers(e, pos, v, n);
    return any;
}

CHANGE(short_bias) {
    int pos;
    size_t n;
    double *v = constants(e, "bias", &pos, &n);
    bool any = false;
    (void)f;
    if (!v || nnv_edit_operand(e, pos)->type != ANEURALNETWORKS_TENSOR_INT32) return false;
    for (size_t i = 0; i < n; i++) {
        any |= fabs(v[i]) > 32767;
        v[i] = fmax(fmin(v[i], 32767), -32768);
    }
    if (any) nnv_edit_set_numbers(e, pos, v, n);
    return any;
}

/** Channel i of a filter has the scale of channel from(i). */
static bool rescale(struct nnv_edit *e, uint32_t divisor, bool last) {
    const int pos = nnv_edit_find(e, "filter");
    const uint32_t n = pos >= 0 ? nnv_edit_operand(e, pos)->channel.count : 0;
    if (n < 2 || !nnv_is_constant(nnv_edit_operand(e, pos))) return false;
    struct nnv_operand *o = nnv_edit_own(e, pos);
    float *scales = nnv_edit_copy(e, o->channel.scales, n, 1, sizeof *scales);
    bool any = false;
    for (uint32_t i = 0; scales && i < n; i++) {
        const uint32_t from = !last ? i / divisor : i + 1 == n ? n - 2 : i;
        any |= o->channel.scales[from] != scales[i];
        scales[i] = o->channel.scales[from];
    }
    if (any) o->channel.scales = scales;
    return any;
}

CHANGE(odd_channel) {
    const int pos = nnv_edit_find(e, "filter");
    (void)f;
    return pos >= 0 && nnv_edit_operand(e, pos)->channel.count % 2 && rescale(e, 1, true);
}
CHANGE(scale_by_input) {
    const int32_t multiplier = attribute(e, "multiplier", 1);
    (void)f;
    return multiplier > 1 && rescale(e, (uint32_t)multiplier, false);
}

/** Scales are looked up along the first axis. */
CHANGE(first_axis_scales) {
    const struct nnv_operand *x = nnv_edit_operand(e, 0);
    const struct nnv_shape *shape = shape_of(e, 0);
    const uint32_t n = x->channel.count, dim = x->channel.dim;
    (void)f;
    if (!n || dim == 0 || !nnv_shape_known(shape)) return false;
    const size_t elems = nnv_shape_elems(shape);
    size_t inner = 1, outer = elems / shape->dims[0];
    double *ratio = NNV_NEW(e->arena, double, elems + 1);
    for (uint32_t d = dim + 1; d < shape->rank; d++) inner *= shape->dims[d];
    for (size_t i = 0; ratio && i < elems; i++)
        ratio[i] = (double)x->channel.scales[i / outer % n] / (double)x->channel.scales[i / inner % n];
    if (!ratio) return false;
    struct wire w = wire_behind(e, 0);
    const uint32_t y = w.value, none = nnv_edit_add_int(e, 0);
    WIRE(&w, MUL, y, wire_tensor(&w, shape->rank, shape->dims, ratio), none);
    return wire_end(&w);
}

/* ------------------------------------------------------------ limits and rounding */

/** The limit is 6, without the zero point. */
CHANGE(bare_six) {
    const struct nnv_operand *y = e->call->out[0].operand;
    (void)f;
    if (!is_byte(y->type) || y->zero_point <= 0) return false;
    struct wire w = wire_behind(e, 0);
    const uint32_t value = w.value;
    WIRE(&w, MINIMUM, value, wire_number(&w, round(6 / (double)y->scale)));
    return wire_end(&w);
}

/** The code of an upper bound is kept in 8 bits. */
CHANGE(wrapped_bound) {
    const struct nnv_operand *y = e->call->out[0].operand;
    const int32_t type = nnv_edit_op(e)->type, fused = attribute(e, "activation", ANEURALNETWORKS_FUSED_NONE);
    const bool six = type == ANEURALNETWORKS_RELU6 || fused == ANEURALNETWORKS_FUSED_RELU6,
               one = type == ANEURALNETWORKS_RELU1 || fused == ANEURALNETWORKS_FUSED_RELU1;
    (void)f;
    if (!is_byte(y->type) || (!six && !one)) return false;
    const struct nnv_type *t = nnv_type(y->type);
    const double codes = t->max - t->min + 1, bound = round((six ? 6 : 1) / (double)y->scale) + y->zero_point;
    if (bound <= t->max) return false;
    struct wire w = wire_behind(e, 0);
    const uint32_t value = w.value;
    WIRE(&w, MINIMUM, value, wire_number(&w, bound - codes * ceil((bound - t->max) / codes)));
    return wire_end(&w);
}

/** A value that padding gets is no code below 0. */
CHANGE(positive_value) {
    (void)f;
    return nnv_is_quant(type_of(e)) && attribute(e, "value", 0) < 0 && set_attribute(e, "value", 0);
}

CHANGE(extreme_padding) {
    const struct nnv_operand *x = nnv_edit_operand(e, 0);
    const struct nnv_fault stored = {.value = 1};
    (void)f;
    return is_byte(x->type) && x->zero_point == nnv_type(x->type)->max && nnv_change_pad_first(e, &stored);
}

CHANGE(coarse_table) { return (void)f, coarse(e, 0, 2); }

/** Computed in real numbers, and half a unit less before it is rounded. */
CHANGE(rounded_down) {
    const struct nnv_operand y = *e->call->out[0].operand;
    (void)f;
    if (!is_byte(y.type)) return false;
    struct wire behind = wire_behind(e, 0);
    struct nnv_operand *real = &e->spec.model.main.operands[behind.value];
    real->type = ANEURALNETWORKS_TENSOR_FLOAT32;
    real->scale = 0;
    real->zero_point = 0;
    wire_type(&behind, ANEURALNETWORKS_TENSOR_FLOAT32);
    const uint32_t value = behind.value, none = nnv_edit_add_int(e, 0);
    const uint32_t less = WIRE(&behind, SUB, value, wire_number(&behind, 0.4999 * (double)y.scale), none);
    behind.like = y;
    WIRE(&behind, QUANTIZE, less);
    wire_end(&behind);
    struct wire w = wire_before(e, 0);
    const uint32_t x = w.value;
    wire_type(&w, ANEURALNETWORKS_TENSOR_FLOAT32);
    WIRE(&w, DEQUANTIZE, x);
    return wire_end(&w);
}

/** Quotients of 16 bits that wrap. */
CHANGE(short_quotient) {
    (void)f;
    const struct nnv_operand *x = nnv_edit_operand(e, 0);
    const double turn = 65536 * (double)e->spec.model.main.operands[nnv_edit_op(e)->out[0]].scale;
    if (x->type != ANEURALNETWORKS_TENSOR_FLOAT32 || x->rank > 4 || !nnv_shape_known(shape_of(e, 0))) return false;
    const uint32_t none = nnv_edit_add_int(e, 0);
    struct wire w = wire_before(e, 0);
    const uint32_t in = w.value, quotient = WIRE(&w, MUL, in, wire_number(&w, 1 / turn), none);
    const uint32_t turns = WIRE(&w, FLOOR, WIRE(&w, ADD, quotient, wire_number(&w, 0.5), none));
    WIRE(&w, SUB, in, WIRE(&w, MUL, turns, wire_number(&w, turn), none), none);
    return wire_end(&w);
}

#define CONVOLUTIONS "CONV_2D,DEPTHWISE_CONV_2D,GROUPED_CONV_2D,TRANSPOSE_CONV_2D"

static const struct bug bugs[] = {
    BUG("add-scale-ratio", "the finer operand shifted to the coarser one's unit", "ADD, SUB: scales 16 times apart",
        OWN(scale_ratio), .spoils = "ADD,SUB"),
    BUG("multiplier-above-one", "a multiplier that is a fraction of 1",
        "outputs of the model whose unit is below the product of the operands' units", OWN(large_multiplier),
        .spoils = "CONV_2D,FULLY_CONNECTED,DEPTHWISE_CONV_2D,BATCH_MATMUL"),
    BUG_OF(PRELU, "prelu-not-rescaled", "the input's scale taken for the output's",
           "PRELU: outputs of the model with another scale than the input", OWN(slope_scales)),
    BUG_OF(CONCATENATION, "concat-zero-points", "inputs copied where the scales are equal",
           "CONCATENATION: equal scales, unequal zero points", OWN(zero_point_alone)),
    BUG("weights-narrow", "-128 taken for -127", "quant8_asymm_signed weights of -128", OWN(narrow_weights),
        .spoils = CONVOLUTIONS ",FULLY_CONNECTED"),
    BUG("bias-short", "biases kept in 16 bits", "INT32 biases beyond 32767", OWN(short_bias),
        .spoils = CONVOLUTIONS ",FULLY_CONNECTED"),
    BUG("per-channel-odd", "scales in pairs: the last one is its neighbour's", "an odd number of channels with scales",
        OWN(odd_channel), .spoils = CONVOLUTIONS),
    BUG_OF(DEPTHWISE_CONV_2D, "depthwise-scale-by-input", "scales looked up by input channel",
           "DEPTHWISE_CONV_2D: scales per channel, multiplier above 1", OWN(scale_by_input)),
    BUG_OF(DEQUANTIZE, "dequantize-first-axis", "scales looked up along the first axis",
           "DEQUANTIZE: scales along another axis", OWN(first_axis_scales)),
    BUG_OF(QUANTIZE, "quantize-short", "a quotient in 16 bits that wrap", "QUANTIZE: float32 beyond 32767 scales",
           OWN(short_quotient)),
    BUG_OF(RELU6, "relu6-bare-limit", "6 without the zero point", "RELU6: 8 bits, zero point above 0", OWN(bare_six)),
    BUG("activation-bound-wraps", "the code of a bound kept in 8 bits",
        "8 bits: RELU1 and RELU6, fused or not, whose bound lies beyond the codes", OWN(wrapped_bound),
        .spoils = "RELU1,RELU6,ADD,SUB,MUL,CONV_2D,DEPTHWISE_CONV_2D,FULLY_CONNECTED,MAX_POOL_2D,AVERAGE_POOL_2D"),
    BUG_OF(PAD_V2, "pad-value-positive", "codes that are never below 0", "PAD_V2: a code below 0", OWN(positive_value)),
    BUG("padding-extreme-point", "padding with stored 0", "convolutions, SAME, zero point at the upper limit",
        OWN(extreme_padding), .spoils = "CONV_2D,DEPTHWISE_CONV_2D"),
    BUG("table-of-half", "a table of 128 numbers", "LOGISTIC, TANH: 8 bits", OWN(coarse_table),
        .spoils = "LOGISTIC,TANH"),
    BUG("pool-rounds-down", "a division of integers", "AVERAGE_POOL_2D: 8 bits", OWN(rounded_down),
        .spoils = "AVERAGE_POOL_2D"),
    BUG("bilinear-rounds-down", "bits behind the point cut off", "RESIZE_BILINEAR: 8 bits", OWN(rounded_down),
        .spoils = "RESIZE_BILINEAR"),
    BUG("mean-rounds-down", "a division of integers", "MEAN: 8 bits", OWN(rounded_down), .spoils = "MEAN"),
};
const struct bug_group bugs_wild_quant = {bugs, sizeof bugs / sizeof *bugs};
