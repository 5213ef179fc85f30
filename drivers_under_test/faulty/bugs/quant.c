/* SPDX-License-Identifier: Apache-2.0 */
/** @file bugs_quant.c Bugs of quantised arithmetic: zero points, scales, limits: a row each. */

#include "faulty.h"

#define CHANGE(label, operation, class, where, ...)                                                                    \
    {                                                                                                                  \
        .name = (label), .models = (class), .fires = (where), .op = ANEURALNETWORKS_##operation, .change = {           \
            __VA_ARGS__                                                                                                \
        }                                                                                                              \
    }
#define TAMPER(label, class, where, function)                                                                          \
    { .name = (label), .models = (class), .fires = (where), .op = ANY_OPERATION, .execute = (function), .spoils = "*" }

static const struct bug bugs[] = {
    CHANGE("pad-with-zero", PAD, "padding with stored 0 instead of the zero point", "PAD: zero point other than 0",
           .kind = CHANGE_PAD_ZERO),
    CHANGE("filter-zero-point-ignored", CONV_2D, "filter zero point off by one", "CONV_2D: 8-bit filter",
           .kind = CHANGE_ZERO_POINT, .at = 1, .value = 1),
    CHANGE("fc-weights-zero-point", FULLY_CONNECTED, "weights zero point off by one", "FULLY_CONNECTED: 8-bit weights",
           .kind = CHANGE_ZERO_POINT, .at = 1, .value = 1),
    CHANGE("matmul-zero-point", BATCH_MATMUL, "zero point off by one", "BATCH_MATMUL: 8 bits",
           .kind = CHANGE_ZERO_POINT, .value = 1),
    CHANGE("sub-zero-point", SUB, "second zero point off by one", "SUB: 8 bits", .kind = CHANGE_ZERO_POINT, .at = 1,
           .value = 1),
    CHANGE("tanh-zero-point", TANH, "zero point off by one", "TANH: 8 bits", .kind = CHANGE_ZERO_POINT, .value = 1),
    CHANGE("prelu-alpha-zero-point", PRELU, "alpha's zero point off by one", "PRELU: 8 bits", .kind = CHANGE_ZERO_POINT,
           .at = 1, .value = 1),
    CHANGE("transpose-conv-zero-point", TRANSPOSE_CONV_2D, "zero point off by one", "TRANSPOSE_CONV_2D: 8 bits",
           .kind = CHANGE_ZERO_POINT, .value = 1),
    CHANGE("quantize-point", QUANTIZE, "output zero point off by one", "QUANTIZE", .kind = CHANGE_OUT_POINT,
           .value = 1),
    CHANGE("add-output-point", ADD, "output zero point off by one", "ADD: 8 bits", .kind = CHANGE_OUT_POINT,
           .value = 1),
    CHANGE("conv-output-point", CONV_2D, "output zero point off by one", "CONV_2D: 8 bits", .kind = CHANGE_OUT_POINT,
           .value = -1),
    CHANGE("mul-scale-ignored", MUL, "second operand's scale taken for the first's", "MUL: unequal scales",
           .kind = CHANGE_TAKE_SCALE, .at = 1),
    CHANGE("sub-scale-ignored", SUB, "second operand's scale taken for the first's", "SUB: unequal scales",
           .kind = CHANGE_TAKE_SCALE, .at = 1),
    CHANGE("maximum-scale-ignored", MAXIMUM, "second operand's scale taken for the first's", "MAXIMUM: unequal scales",
           .kind = CHANGE_TAKE_SCALE, .at = 1),
    CHANGE("compare-scale-ignored", GREATER, "second operand's scale taken for the first's", "GREATER: unequal scales",
           .kind = CHANGE_TAKE_SCALE, .at = 1),
    CHANGE("select-scale-ignored", SELECT, "second operand's scale taken for the first's", "SELECT: unequal scales",
           .kind = CHANGE_TAKE_SCALE, .at = 2, .value = 1),
    CHANGE("prelu-scale-ignored", PRELU, "alpha's scale taken for the input's", "PRELU: unequal scales",
           .kind = CHANGE_TAKE_SCALE, .at = 1),
    CHANGE("fc-relu1-ignored", FULLY_CONNECTED, "one activation unknown", "FULLY_CONNECTED: RELU1",
           .kind = CHANGE_ACTIVATION, .value = ANEURALNETWORKS_FUSED_RELU1),
    CHANGE("depthwise-first-scale", DEPTHWISE_CONV_2D, "filter zero point off by one",
           "DEPTHWISE_CONV_2D: 8-bit filter", .kind = CHANGE_ZERO_POINT, .at = 1, .value = -1),
    TAMPER("sign-bit-flipped", "stored as unsigned what is signed", "8-bit signed outputs", tamper_signed),
    TAMPER("quant-plus-one", "rounding up for rounding to nearest", "8-bit outputs", tamper_plus_one),
    TAMPER("wraps-at-the-top", "no saturation", "8-bit outputs at the upper limit", tamper_saturation),
};
const struct bug_group bugs_quant = {bugs, sizeof bugs / sizeof *bugs};
