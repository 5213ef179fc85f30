/* SPDX-License-Identifier: Apache-2.0 */
/** @file catalogue.c The catalogue: a row for each fault, and what rows do to numbers. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "reference/faults/faults.h"

/* ----------------------------------------------------- elements of an output */

#define ELEMENT(name) static double y_##name(const struct nnv_fault_output *y, const struct nnv_fault *f, size_t i)

static double clamp(const struct nnv_fault_output *y, double v) {
    const struct nnv_type *t = nnv_type(y->type);
    return t->kind == NNV_KIND_FLOAT ? v : v < t->min ? t->min : v > t->max ? t->max : v;
}

/** The stored number of the real number 0. */
static double zero_of(const struct nnv_fault_output *y) { return nnv_is_quant(y->type) ? y->zero_point : 0; }

ELEMENT(clamp_stored) { return (void)f, fmax(y->v[i], 0); }

/** The unrounded result rounded otherwise. */
static double rounded(const struct nnv_fault_output *y, size_t i, double (*round_by)(double)) {
    return y->exact ? clamp(y, round_by(y->exact[i] / (double)y->scale) + y->zero_point) : y->v[i];
}
ELEMENT(floor) { return (void)f, rounded(y, i, floor); }
ELEMENT(truncate) { return (void)f, rounded(y, i, trunc); }
ELEMENT(ceil) { return (void)f, rounded(y, i, ceil); }
ELEMENT(low_bit) { return (void)f, 2 * floor(y->v[i] / 2); }

/** A significand of so many bits. */
static double with_bits(double v, int bits, double (*round_by)(double)) {
    int exponent;
    if (!isfinite(v) || v == 0) return v;
    const double m = frexp(v, &exponent);
    return ldexp(round_by(ldexp(m, bits)), exponent - bits);
}
ELEMENT(half) { return (void)f, with_bits(y->v[i], 11, nnv_round_half_away); }
ELEMENT(bfloat) { return (void)f, with_bits(y->v[i], 8, nnv_round_half_away); }
/** Floats of `other` bytes are cut to value bits. */
ELEMENT(cut_bits) {
    return nnv_type(y->type)->size == (size_t)f->other ? with_bits(y->v[i], (int)f->value, trunc) : y->v[i];
}
ELEMENT(through_float) {
    (void)f;
    return y->type == ANEURALNETWORKS_TENSOR_INT32 ? fmin((double)(float)y->v[i], INT32_MAX) : y->v[i];
}
ELEMENT(never_negative) { return (void)f, y->v[i] < 0 ? 0 : y->v[i]; }
ELEMENT(flush) { return fabs(y->v[i]) < f->value ? 0 : y->v[i]; }
ELEMENT(finite) { return (void)f, isinf(y->v[i]) ? copysign((double)FLT_MAX, y->v[i]) : y->v[i]; }
ELEMENT(wrap_top) { return (void)f, y->v[i] < nnv_type(y->type)->max ? y->v[i] : nnv_type(y->type)->min; }
/** What is out of range wraps, where the real result is known. */
ELEMENT(wrap_all) {
    const struct nnv_type *t = nnv_type(y->type);
    (void)f;
    if (!y->exact || !isfinite(y->exact[i])) return y->v[i];
    const double code = nnv_round_half_away(y->exact[i] / (double)y->scale) + y->zero_point, n = t->max - t->min + 1;
    return code < t->min || code > t->max ? code - n * floor((code - t->min) / n) : y->v[i];
}
ELEMENT(add) { return clamp(y, y->v[i] + f->value); }
/** The top bit is flipped. */
ELEMENT(wrap) { return (void)f, y->v[i] + (y->v[i] < nnv_type(y->type)->min + 128 ? 128 : -128); }
ELEMENT(times) {
    const enum nnv_kind kind = nnv_type(y->type)->kind;
    const double v = (y->v[i] - zero_of(y)) * f->value;
    if (kind == NNV_KIND_BOOL) return y->v[i];
    return clamp(y, (kind == NNV_KIND_FLOAT ? v : nnv_round_half_away(v)) + zero_of(y));
}
ELEMENT(no_zero_point) { return (void)f, clamp(y, y->v[i] - y->zero_point); }
ELEMENT(half_range) { return (void)f, fmin(y->v[i], 127); }
/** The real number 0; other: the stored one, where it is not the same. */
ELEMENT(constant) { return f->other == 0 ? zero_of(y) : nnv_is_quant(y->type) ? f->value : y->v[i]; }
/** Whole numbers that are not negative, modulo value. */
ELEMENT(modulo) { return y->type == ANEURALNETWORKS_TENSOR_INT32 && y->v[i] >= 0 ? fmod(y->v[i], f->value) : y->v[i]; }
ELEMENT(absolute) {
    (void)f;
    return nnv_type(y->type)->kind == NNV_KIND_BOOL ? y->v[i] : clamp(y, fabs(y->v[i] - zero_of(y)) + zero_of(y));
}
ELEMENT(bytes) {
    const size_t size = nnv_type(y->type)->size;
    unsigned char b[8] = {0}, r[8];
    double v;
    (void)f;
    nnv_store(y->type, &y->v[i], 1, b);
    for (size_t k = 0; k < size; k++) r[k] = b[size - 1 - k];
    nnv_load(y->type, r, 1, &v);
    return v;
}

/* Places: which element stands there instead. */

/** The last value elements, 0: all, are as they were. */
ELEMENT(unwritten) {
    if (f->value >= (double)y->n) return y->v[i];
    return f->value > 0 && i < y->n - (size_t)f->value ? y->v[i] : y->poison[i];
}
ELEMENT(first_unwritten) { return (void)f, i == 0 && y->n > 1 ? y->poison[0] : y->v[i]; }
static size_t batch_elems(const struct nnv_fault_output *y) {
    return y->rank && y->dims[0] > 1 ? y->n / y->dims[0] : y->n;
}
/** The first batch for the second; value 1: for all, of more than two. */
ELEMENT(batch) {
    const size_t n = batch_elems(y);
    if (f->value != 0) return y->v[y->n / n > 2 ? i % n : i];
    return y->v[i / n == 1 ? i - n : i];
}
/** First and last. */
ELEMENT(batches_swapped) {
    const size_t n = batch_elems(y), last = y->n - n;
    (void)f;
    return y->v[last == 0 ? i : i < n ? i + last : i >= last ? i - last : i];
}
ELEMENT(overlap) { return (void)f, y->v[y->n > 4 && i + 4 >= y->n ? i - 1 : i]; }
ELEMENT(first) { return (void)f, (void)i, y->v[0]; }
ELEMENT(reverse_all) { return (void)f, y->v[y->n - 1 - i]; }
/** By value places. */
ELEMENT(shift) {
    const size_t from = f->value < 0 ? i + 1 : i ? i - 1 : 0;
    return y->v[y->n < 3 || from == y->n ? i : from];
}
static size_t columns(const struct nnv_fault_output *y) { return y->rank ? y->dims[y->rank - 1] : 1; }
ELEMENT(reverse) { return (void)f, y->v[i - i % columns(y) + columns(y) - 1 - i % columns(y)]; }
ELEMENT(first_channel) { return (void)f, y->v[i - i % columns(y)]; }
/** Matrices of so many rows and columns, written column by column. */
static double transposed(const struct nnv_fault_output *y, size_t i, size_t rows, size_t cols) {
    const size_t at = i % (rows * cols);
    return y->v[i - at + at % rows * cols + at / rows];
}
ELEMENT(transpose) {
    (void)f;
    return y->rank < 2 ? y->v[i] : transposed(y, i, y->dims[y->rank - 2], y->dims[y->rank - 1]);
}

/* ----------------------------------------------------------------------- rows */

/* Each list is of distinct codes; COUNT makes "none" mean all. */
#define OPS(...) .ops = {__VA_ARGS__}, .nops = sizeof((const int32_t[]){__VA_ARGS__}) / sizeof(int32_t)
#define SLOTS(...) .slots = {__VA_ARGS__}
#define OPERATION(label, says, from, to)                                                                               \
    { .name = (label), .words = (says), OTHER_OP(from, to) }
/* What follows begins with the function's name. */
#define MODEL(label, says, ...)                                                                                        \
    { .name = (label), .words = (says), .change = nnv_change_##__VA_ARGS__ }
#define NUMBERS(label, says, ...)                                                                                      \
    { .name = (label), .words = (says), .numbers = nnv_numbers_##__VA_ARGS__ }
#define VALUES(label, says, ...)                                                                                       \
    { .name = (label), .words = (says), .element = y_##__VA_ARGS__ }

#define OP(name) ANEURALNETWORKS_##name
#define CONVOLUTIONS OP(CONV_2D), OP(DEPTHWISE_CONV_2D), OP(GROUPED_CONV_2D), OP(TRANSPOSE_CONV_2D)
#define POOLS OP(AVERAGE_POOL_2D), OP(MAX_POOL_2D), OP(L2_POOL_2D)
#define RESIZES OP(RESIZE_BILINEAR), OP(RESIZE_NEAREST_NEIGHBOR)
#define LSTMS OP(LSTM), OP(UNIDIRECTIONAL_SEQUENCE_LSTM), OP(QUANTIZED_LSTM)
#define OTHER_OP(from, to) .code = ANEURALNETWORKS_##from, .other_code = ANEURALNETWORKS_##to
#define ACTIVATION SLOTS("activation")

static const struct nnv_fault faults[] = {
    /* memory */
    MODEL("in-place", "the result written over an input that is read again later", in_place),
    /* windows and filters */
    MODEL("dilation-ignored", "dilation ignored: the taps lie side by side", dense_taps,
          SLOTS("dilation width", "dilation height"), .value = 1, .numbers = nnv_numbers_set),
    MODEL("rows-apart-like-columns", "rows of taps as far apart as columns: the dilation of the width for both",
          crossed_taps, SLOTS("dilation width", "dilation height"), .value = 1, .numbers = nnv_numbers_set),
    MODEL("columns-apart-like-rows", "columns of taps as far apart as rows: the dilation of the height for both",
          crossed_taps, SLOTS("dilation width", "dilation height"), .value = 1, .other = 1, .numbers = nnv_numbers_set),
    NUMBERS("dilation-one", "dilation taken for 1, also where padding is worked out", set,
            SLOTS("dilation width", "dilation height"), .value = 1),
    NUMBERS("stride-one", "strides taken for 1", set, SLOTS("stride width", "stride height"), .value = 1),
    MODEL("same-padding-odd-first", "SAME padding with the odd cell put first instead of last", odd_first),
    MODEL("same-padding-undilated", "SAME padding worked out from the filter without its dilation", undilated_padding),
    MODEL("same-left-other-dilation", "padding left of SAME worked out from the dilation of the height",
          crossed_padding, .value = 1),
    MODEL("same-top-other-dilation", "padding at the top of SAME worked out from the dilation of the width",
          crossed_padding, .value = 0),
    MODEL("same-other-dilation", "SAME padding worked out from the dilation of the other direction", crossed_padding,
          .value = 2),
    MODEL("padding-sides-swapped", "padding before and behind swapped", swap,
          SLOTS("padding left", "padding right", "padding top", "padding bottom")),
    MODEL("padding-axes-swapped", "padding of width and height swapped", swap,
          SLOTS("padding left", "padding top", "padding right", "padding bottom")),
    MODEL("padding-counted", "cells of padding counted in the mean", pad_first,
          OPS(OP(AVERAGE_POOL_2D), OP(L2_POOL_2D))),
    MODEL("padding-in-maximum", "cells of padding taken as 0 in the maximum", pad_first, OPS(OP(MAX_POOL_2D))),
    MODEL("padded-with-stored-zero", "padded with the stored number 0 instead of the zero point", pad_first,
          OPS(CONVOLUTIONS, POOLS), .value = 1),
    NUMBERS("maximum-starts-at-zero", "maximum that starts at 0: never negative", from_to, OPS(OP(MAX_POOL_2D)),
            ACTIVATION, .value = OP(FUSED_NONE), .other = OP(FUSED_RELU)),
    MODEL("filter-flipped", "convolution for correlation: the filter is flipped", flip),
    MODEL("filter-transposed", "filter height and width swapped", transpose_filter),
    MODEL("depthwise-channel-order", "channel and multiplier swapped in the order of the filter", channel_order,
          OPS(OP(DEPTHWISE_CONV_2D))),
    MODEL("filters-shifted", "each filter taken for its neighbour", rotate, OPS(CONVOLUTIONS), SLOTS("filter")),
    MODEL("padding-left-right-swapped", "padding left and right swapped", swap, SLOTS("padding left", "padding right")),
    /* resizing */
    NUMBERS("align-corners-ignored", "align corners ignored", set, OPS(RESIZES), SLOTS("align corners")),
    NUMBERS("half-pixel-ignored", "half pixel centres ignored", set, OPS(RESIZES), SLOTS("half pixel centres")),
    MODEL("width-height-swapped", "width and height swapped", swap,
          SLOTS("output width", "output height", "width scale", "height scale", "width ratio", "height ratio")),
    MODEL("strides-swapped", "strides of width and height swapped", swap, SLOTS("width stride", "height stride")),
    MODEL("box-scales-swapped", "scales of position and extent swapped", swap,
          SLOTS("y scale", "height scale", "x scale", "width scale")),
    MODEL("box-scales-swapped-in-y", "scales of position and extent swapped, in y", swap,
          SLOTS("y scale", "height scale")),
    MODEL("height-samples-of-width", "samples in the height of a cell worked out from its width", samples,
          SLOTS("height samples", "width samples")),
    MODEL("width-samples-of-height", "samples in the width of a cell worked out from its height", samples,
          SLOTS("height samples", "width samples"), .value = 1),
    MODEL("samples-at-begin", "samples at the beginning of their part of a cell, not in its middle", samples_at_begin,
          OPS(OP(ROI_ALIGN))),
    MODEL("boxes-rounded-down", "coordinates of boxes rounded down, not to the nearest", boxes_down,
          OPS(OP(ROI_POOLING))),
    MODEL("boxes-to-last-pixel", "boxes cut at the last pixel, not at the end of the image", last_pixel,
          OPS(OP(AXIS_ALIGNED_BBOX_TRANSFORM))),
    NUMBERS("height-samples-ignored", "one sample in the height of a cell", set, SLOTS("height samples"), .value = 1),
    NUMBERS("width-samples-ignored", "one sample in the width of a cell", set, SLOTS("width samples"), .value = 1),
    OPERATION("bilinear-as-nearest", "the nearest cell for the bilinear mean", RESIZE_BILINEAR,
              RESIZE_NEAREST_NEIGHBOR),
    OPERATION("nearest-as-bilinear", "the bilinear mean for the nearest cell", RESIZE_NEAREST_NEIGHBOR,
              RESIZE_BILINEAR),
    /* attributes */
    NUMBERS("axis-last", "axis taken for the last", set, SLOTS("axis", "axes"), .value = -1),
    MODEL("axis-mirrored", "axis counted from the last one", axis_mirrored, SLOTS("axis", "axes")),
    NUMBERS("axis-first", "axis taken for the first", set, SLOTS("axis", "axes"), .value = 0),
    NUMBERS("beta-ignored", "beta taken for 1", set,
            OPS(OP(SOFTMAX), OP(LOG_SOFTMAX), OP(LOCAL_RESPONSE_NORMALIZATION)), SLOTS("beta"), .value = 1),
    MODEL("maximum-not-subtracted", "exponentials of the numbers themselves, not less the largest of them", no_maximum,
          OPS(OP(SOFTMAX), OP(LOG_SOFTMAX))),
    NUMBERS("square-root-for-power", "square root for the power of beta", set, OPS(OP(LOCAL_RESPONSE_NORMALIZATION)),
            SLOTS("beta"), .value = 0.5),
    NUMBERS("alpha-doubled", "alpha taken twice", times, OPS(OP(LOCAL_RESPONSE_NORMALIZATION)), SLOTS("alpha"),
            .value = 2),
    NUMBERS("shift-ignored", "beta left out", set, OPS(OP(INSTANCE_NORMALIZATION)), SLOTS("beta")),
    NUMBERS("gamma-ignored", "gamma left out", set, OPS(OP(INSTANCE_NORMALIZATION)), SLOTS("gamma"), .value = 1),
    NUMBERS("epsilon-missing", "epsilon left out", set, SLOTS("epsilon")),
    MODEL("epsilon-outside-root", "epsilon added to the root of the variance, not under it", deviation,
          OPS(OP(INSTANCE_NORMALIZATION)), .value = NNV_DEVIATION_OUTSIDE),
    MODEL("epsilon-as-least", "epsilon taken for the least variance, not added", deviation,
          OPS(OP(INSTANCE_NORMALIZATION)), .value = NNV_DEVIATION_LEAST),
    MODEL("variance-of-sample", "variance divided by one less than there are numbers", deviation,
          OPS(OP(INSTANCE_NORMALIZATION)), .value = NNV_DEVIATION_SAMPLE),
    NUMBERS("alpha-ignored", "alpha taken for 1", set, SLOTS("alpha"), .value = 1),
    NUMBERS("normalisation-bias-ignored", "bias taken for 1", set, OPS(OP(LOCAL_RESPONSE_NORMALIZATION)), SLOTS("bias"),
            .value = 1),
    NUMBERS("radius-plus-one", "radius one too large", add, SLOTS("radius"), .value = 1),
    NUMBERS("transpose-ignored", "transposing of a factor ignored", set, SLOTS("transpose lhs", "transpose rhs")),
    NUMBERS("transpose-first-ignored", "transposing of the first factor ignored", set, SLOTS("transpose lhs")),
    NUMBERS("transpose-second-ignored", "transposing of the second factor ignored", set, SLOTS("transpose rhs")),
    NUMBERS("begin-mask-ignored", "begin mask ignored", set, SLOTS("begin mask")),
    MODEL("begin-ignored", "begin taken for 0", zero, SLOTS("begin")),
    NUMBERS("paddings-swapped", "padding before and behind swapped", pairs, SLOTS("paddings")),
    MODEL("pad-value-ignored", "padded with 0 instead of the value", zero, OPS(OP(PAD_V2)), SLOTS("value")),
    MODEL("fill-value-ignored", "filled with 0 instead of the value", zero, OPS(OP(FILL)), SLOTS("value")),
    MODEL("padded-with-stored-number", "padded with the stored number 0 instead of the zero point", pad_stored,
          OPS(OP(PAD))),
    OPERATION("cast-by-scale", "real numbers cast, by scale and zero point, for the codes", CAST, DEQUANTIZE),
    MODEL("greatest-key-lost", "the greatest key is never found", lookups, OPS(OP(HASHTABLE_LOOKUP)),
          SLOTS("lookups", "keys"), .value = NNV_LOOKUPS_LAST_LOST),
    MODEL("least-key-lost", "the least key is never found", lookups, OPS(OP(HASHTABLE_LOOKUP)),
          SLOTS("lookups", "keys"), .value = NNV_LOOKUPS_FIRST_LOST),
    MODEL("next-key-for-none", "the next greater key taken for one that is missing", lookups, OPS(OP(HASHTABLE_LOOKUP)),
          SLOTS("lookups", "keys"), .value = NNV_LOOKUPS_NEXT),
    MODEL("groups-swapped", "groups and the channels of a group swapped", groups, SLOTS("groups", "axis")),
    NUMBERS("score-threshold-ignored", "score threshold taken for 0", set, SLOTS("score threshold")),
    NUMBERS("limit-ignored", "most boxes of an image ignored", set, SLOTS("most boxes of an image"), .value = -1),
    NUMBERS("mirror-mode-mixed-up", "REFLECT taken for SYMMETRIC or the other way round", toggle, SLOTS("mode")),
    NUMBERS("permutation-inverse", "the inverse of the permutation", inverse, SLOTS("permutation")),
    NUMBERS("permutation-reversed", "the permutation read from its end", reverse, SLOTS("permutation")),
    NUMBERS("indices-reversed", "indices read from the end", reverse, SLOTS("indices")),
    /* activations */
    MODEL("clamp-at-stored-zero", "RELU clamps at the stored number 0 instead of the zero point", bare_relu, ACTIVATION,
          .numbers = nnv_numbers_from_to, .value = OP(FUSED_RELU), .other = OP(FUSED_NONE), .element = y_clamp_stored),
    NUMBERS("relu6-as-relu", "upper limit of RELU6 ignored", from_to, ACTIVATION, .value = OP(FUSED_RELU6),
            .other = OP(FUSED_RELU), OTHER_OP(RELU6, RELU)),
    NUMBERS("relu1-as-relu", "RELU1 taken for RELU", from_to, ACTIVATION, .value = OP(FUSED_RELU1),
            .other = OP(FUSED_RELU), OTHER_OP(RELU1, RELU)),
    NUMBERS("activation-ignored", "fused activation ignored", set, ACTIVATION, .value = OP(FUSED_NONE)),
    MODEL("slope-ignored", "alpha taken for 0: RELU", zero, OPS(OP(PRELU), OP(ELU)), SLOTS("alpha")),
    NUMBERS("bare-activation-added", "RELU although none was asked for", from_to, ACTIVATION, .value = OP(FUSED_NONE),
            .other = OP(FUSED_RELU)),
    /* bias */
    NUMBERS("bias-first-missing", "bias of the first channel left out", zero_one, SLOTS("bias")),
    MODEL("bias-ignored", "bias left out", zero, SLOTS("bias")),
    NUMBERS("bias-doubled", "bias added twice", times, SLOTS("bias"), .value = 2),
    /* quantisation */
    MODEL("concat-not-rescaled", "inputs joined without rescaling", like_output, OPS(OP(CONCATENATION))),
    MODEL("not-rescaled", "stored numbers taken over without rescaling", like_output),
    MODEL("equal-zero-point-not-rescaled", "inputs with the output's zero point taken over without rescaling",
          like_output, OPS(OP(CONCATENATION), OP(MAXIMUM), OP(MINIMUM)), .value = 1),
    MODEL("groups-leak-128", "weights outside a group's own are 128, not the zero point", groups_leak,
          OPS(OP(GROUPED_CONV_2D)), .value = 128),
    MODEL("groups-leak-0", "weights outside a group's own are the stored number 0, not the zero point", groups_leak,
          OPS(OP(GROUPED_CONV_2D))),
    MODEL("weights-narrow", "weights less their zero point saturate in 8 bits", narrow_centred,
          SLOTS("filter", "weights", "rhs")),
    MODEL("second-like-first", "the second input's scale and zero point taken for the first's", like, SLOTS("b", "a")),
    MODEL("slope-like-input", "the slope's scale and zero point taken for the input's", like, SLOTS("alpha", "input")),
    MODEL("input-zero-point-plus-one", "zero point of the input one too large", zero_point, SLOTS("input", "a", "lhs"),
          .value = 1),
    MODEL("input-zero-point-minus-one", "zero point of the input one too small", zero_point, SLOTS("input", "a", "lhs"),
          .value = -1),
    MODEL("input-zero-point-ignored", "zero point of the input taken for 0", no_zero_point,
          SLOTS("input", "a", "b", "lhs", "rhs")),
    MODEL("input-zero-point-128", "zero point of the input taken for 128", no_zero_point,
          SLOTS("input", "a", "b", "lhs", "rhs"), .value = 128),
    MODEL("second-zero-point-plus-one", "zero point of the second input one too large", zero_point,
          SLOTS("b", "rhs", "alpha"), .value = 1),
    MODEL("filter-zero-point-plus-one", "zero point of the filter one too large", zero_point,
          SLOTS("filter", "weights"), .value = 1),
    MODEL("filter-zero-point-minus-one", "zero point of the filter one too small", zero_point,
          SLOTS("filter", "weights"), .value = -1),
    MODEL("filter-zero-point-ignored", "zero point of the filter taken for 0", no_zero_point,
          SLOTS("filter", "weights")),
    MODEL("first-scale-for-all", "scale of the first channel for all", first_scale, SLOTS("filter")),
    VALUES("output-zero-point-ignored", "zero point of the output not added", no_zero_point, .types = NNV_FAULT_8BIT),
    /* operands */
    NUMBERS("int-operands-through-float", "INT32 operands converted to float32", in_float,
            SLOTS("a", "b", "input", "base", "exponent"), .element = y_through_float),
    MODEL("choices-swapped", "the choices of the condition swapped", swap, OPS(OP(SELECT)), SLOTS("a", "b")),
    MODEL("inputs-swapped", "first and second input swapped", neighbours, OPS(OP(CONCATENATION), OP(PACK)),
          SLOTS("input")),
    MODEL("outputs-swapped", "first and second output swapped", outputs, OPS(OP(SPLIT))),
    MODEL("operands-swapped", "first and second operand swapped", swap, SLOTS("a", "b", "base", "exponent")),
    MODEL("branches-swapped", "then and else swapped", swap, OPS(OP(IF)), SLOTS("then", "else")),
    OPERATION("minimum-for-maximum", "minimum for maximum", MAXIMUM, MINIMUM),
    OPERATION("maximum-for-minimum", "maximum for minimum", MINIMUM, MAXIMUM),
    OPERATION("reduce-minimum", "minimum for maximum", REDUCE_MAX, REDUCE_MIN),
    OPERATION("reduce-maximum", "maximum for minimum", REDUCE_MIN, REDUCE_MAX),
    OPERATION("least-for-largest", "position of the least for that of the largest", ARGMAX, ARGMIN),
    OPERATION("largest-for-least", "position of the largest for that of the least", ARGMIN, ARGMAX),
    OPERATION("sum-for-product", "sum for product", REDUCE_PROD, REDUCE_SUM),
    OPERATION("any-for-all", "any for all", REDUCE_ALL, REDUCE_ANY),
    OPERATION("all-for-any", "all for any", REDUCE_ANY, REDUCE_ALL),
    OPERATION("and-for-or", "and for or", LOGICAL_OR, LOGICAL_AND),
    OPERATION("or-for-and", "or for and", LOGICAL_AND, LOGICAL_OR),
    OPERATION("equal-inverted", "unequal for equal", EQUAL, NOT_EQUAL),
    OPERATION("unequal-inverted", "equal for unequal", NOT_EQUAL, EQUAL),
    OPERATION("relu-for-absolute", "negative numbers to 0 instead of their absolute values", ABS, RELU),
    OPERATION("relu6-for-hard-swish", "RELU6 for HARD_SWISH", HARD_SWISH, RELU6),
    OPERATION("greater-or-equal", "equal numbers said to be greater", GREATER, GREATER_EQUAL),
    OPERATION("greater-not-equal", "equal numbers said not to be greater or equal", GREATER_EQUAL, GREATER),
    OPERATION("less-or-equal", "equal numbers said to be less", LESS, LESS_EQUAL),
    OPERATION("less-not-equal", "equal numbers said not to be less or equal", LESS_EQUAL, LESS),
    OPERATION("reciprocal-missing", "square root for its reciprocal", RSQRT, SQRT),
    OPERATION("maximum-for-mean", "the largest for the mean of a window", AVERAGE_POOL_2D, MAX_POOL_2D),
    OPERATION("mean-for-maximum", "the mean for the largest of a window", MAX_POOL_2D, AVERAGE_POOL_2D),
    OPERATION("mean-for-root-mean-square", "the mean for the root of the mean square", L2_POOL_2D, AVERAGE_POOL_2D),
    OPERATION("log-missing", "SOFTMAX for LOG_SOFTMAX", LOG_SOFTMAX, SOFTMAX),
    OPERATION("truncated-negative", "floor left out", FLOOR, RELU),
    MODEL("cast-to-nearest", "rounding to the nearest instead of toward 0", cast_to_nearest, OPS(OP(CAST))),
    /* pairs that undo each other */
    MODEL("requantised-dropped", "DEQUANTIZE and QUANTIZE behind it left out: codes copied", pair_dropped,
          OPS(OP(QUANTIZE)), .code = OP(DEQUANTIZE), .other_code = OP(DEQUANTIZE)),
    MODEL("quantised-dropped", "QUANTIZE and DEQUANTIZE behind it left out: numbers not rounded", pair_dropped,
          OPS(OP(DEQUANTIZE)), .code = OP(QUANTIZE), .other_code = OP(QUANTIZE)),
    MODEL("casts-dropped", "two CAST, to another type and back, left out: numbers not rounded", pair_dropped,
          OPS(OP(CAST)), .code = OP(CAST), .other_code = OP(CAST)),
    /* recurrent cells */
    MODEL("forget-bias-missing", "bias of the forget gate left out", zero, OPS(LSTMS), SLOTS("forget gate bias")),
    NUMBERS("cell-clip-ignored", "clipping of the cell ignored", set, OPS(LSTMS), SLOTS("cell clip")),
    NUMBERS("projection-clip-ignored", "clipping of the projection ignored", set, OPS(LSTMS), SLOTS("projection clip")),
    MODEL("input-forget-swapped", "input and forget gate swapped", swap, OPS(LSTMS),
          SLOTS("input-to-input weights", "input-to-forget weights", "recurrent-to-input weights",
                "recurrent-to-forget weights", "input gate bias", "forget gate bias")),
    MODEL("cell-output-swapped", "cell and output gate swapped", swap, OPS(LSTMS),
          SLOTS("input-to-cell weights", "input-to-output weights", "recurrent-to-cell weights",
                "recurrent-to-output weights", "cell gate bias", "output gate bias")),
    MODEL("forget-cell-weights-swapped", "input weights of forget and cell gate swapped", swap, OPS(LSTMS),
          SLOTS("input-to-forget weights", "input-to-cell weights")),
    MODEL("forget-cell-recurrence-swapped", "recurrent weights of forget and cell gate swapped", swap, OPS(LSTMS),
          SLOTS("recurrent-to-forget weights", "recurrent-to-cell weights")),
    MODEL("cell-output-biases-swapped", "biases of cell and output gate swapped", swap, OPS(LSTMS),
          SLOTS("cell gate bias", "output gate bias")),
    MODEL("recurrence-ignored", "recurrent weights taken for 0", zero, SLOTS("recurrent weights")),
    NUMBERS("time-reversed", "time weights read from the end", reverse, SLOTS("time weights")),
    MODEL("bias-normalised", "bias added before the layer normalisation, not behind it", normalised_bias, OPS(LSTMS)),
    MODEL("peephole-ignored", "peephole connections ignored", zero, OPS(LSTMS),
          SLOTS("cell-to-input weights", "cell-to-forget weights", "cell-to-output weights")),
    MODEL("hidden-state-ignored", "state taken for 0", zero, SLOTS("hidden state", "state")),
    /* values */
    VALUES("output-unwritten", "output not written: it holds what its buffer held before", unwritten, .few = true,
           .poison = true),
    VALUES("last-element-unwritten", "the last element not written", unwritten, .value = 1, .few = true,
           .poison = true),
    VALUES("last-two-unwritten", "the last two elements not written", unwritten, .value = 2, .few = true,
           .poison = true),
    VALUES("last-three-unwritten", "the last three elements not written", unwritten, .value = 3, .few = true,
           .poison = true),
    VALUES("first-element-unwritten", "the first element not written", first_unwritten, .few = true, .poison = true),
    VALUES("first-batch-repeated", "the second batch holds the first", batch),
    VALUES("first-batch-for-all", "all batches hold the first", batch, .value = 1),
    VALUES("batches-swapped", "first and last batch swapped", batches_swapped),
    VALUES("vector-overlap", "the last four elements one place too far", overlap, .few = true),
    VALUES("low-bit-dropped", "the lowest bit of each 8-bit number is 0", low_bit, .types = NNV_FAULT_8BIT),
    VALUES("floor-for-rounding", "floor instead of rounding", floor, .types = NNV_FAULT_8BIT),
    VALUES("truncated", "truncation instead of rounding", truncate, .types = NNV_FAULT_8BIT),
    VALUES("ceiling-for-rounding", "ceiling instead of rounding", ceil, .types = NNV_FAULT_8BIT),
    MODEL("accumulator-floor", "accumulators rounded down when they are rescaled", half_unit, SLOTS("bias", "filter"),
          .value = 0.5),
    MODEL("accumulator-floor-dense", "accumulators rounded down when they are rescaled", half_unit,
          SLOTS("bias", "weights"), .value = 0.5),
    VALUES("float16-inside", "float32 computed, or passed on, as float16", half, .types = NNV_FAULT_FLOAT32),
    VALUES("bfloat16-inside", "computed, or passed on, as bfloat16", bfloat, .types = NNV_FAULT_FLOAT),
    VALUES("bfloat16-truncated", "float32 cut to the bits of a bfloat16", cut_bits, .types = NNV_FAULT_FLOAT,
           .value = 8, .other = 4),
    VALUES("float16-truncated", "float16 cut to eight bits", cut_bits, .types = NNV_FAULT_FLOAT, .value = 8,
           .other = 2),
    VALUES("int-through-float", "INT32 computed as float32", through_float, .few = true),
    VALUES("never-negative", "negative float32 numbers become 0", never_negative, .types = NNV_FAULT_FLOAT32),
    VALUES("tiny-flushed", "float32 numbers below 2^-10 become 0", flush, .types = NNV_FAULT_FLOAT32,
           .value = 0.0009765625, .few = true),
    VALUES("infinity-clamped", "infinities become the largest number", finite, .types = NNV_FAULT_FLOAT32, .few = true),
    VALUES("wraps-at-the-top", "the largest 8-bit number becomes the smallest: no saturation", wrap_top,
           .types = NNV_FAULT_8BIT, .few = true),
    VALUES("results-wrap", "results out of range wrap: no saturation", wrap_all, .types = NNV_FAULT_8BIT),
    VALUES("stored-plus-one", "all stored numbers one too large", add, .types = NNV_FAULT_8BIT, .value = 1),
    VALUES("stored-minus-one", "all stored numbers one too small", add, .types = NNV_FAULT_8BIT, .value = -1),
    VALUES("signedness", "signed and unsigned mixed up: stored numbers 128 off", wrap, .types = NNV_FAULT_8BIT),
    VALUES("half-range", "stored numbers saturate at 127", half_range, .types = NNV_FAULT_UINT8),
    VALUES("sign-flipped", "the sign flipped", times, .value = -1),
    VALUES("sign-lost", "the sign lost", absolute),
    VALUES("all-zero", "all results 0", constant),
    VALUES("all-stored-zero", "all stored numbers 0", constant, .other = 1),
    VALUES("shifted-right", "values one place too far", shift, .value = 1),
    VALUES("shifted-left", "values one place too early", shift, .value = -1),
    VALUES("first-element-for-all", "one value everywhere: the first", first),
    VALUES("all-reversed", "all values in the reverse order", reverse_all),
    VALUES("reversed", "reversed along the last axis", reverse),
    VALUES("transposed", "the last two axes transposed", transpose),
    VALUES("first-channel-for-all", "the first channel's value for all", first_channel),
    VALUES("index-8-bits", "indices in 8 bits: modulo 256", modulo, OPS(OP(ARGMAX), OP(ARGMIN), OP(TOPK_V2)),
           .value = 256, .few = true),
    VALUES("index-16-bits", "indices in 16 bits: modulo 65536", modulo, OPS(OP(ARGMAX), OP(ARGMIN), OP(TOPK_V2)),
           .value = 65536, .few = true),
    VALUES("bytes-swapped", "bytes in the other order", bytes),
};

const struct nnv_fault *nnv_faults(size_t *count) {
    *count = sizeof faults / sizeof *faults;
    return faults;
}

const struct nnv_fault *nnv_fault_untouched(void) {
    static const struct nnv_fault untouched = {
        .name = "elements-unwritten",
        .words = "elements of the output not written: they hold what their buffer held before",
        .poison = true};
    return &untouched;
}

const struct nnv_fault *nnv_fault_by_name(const char *name) {
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++)
        if (strcmp(faults[i].name, name) == 0) return &faults[i];
    return NULL;
}
