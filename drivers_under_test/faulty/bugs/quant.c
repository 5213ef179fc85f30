/* SPDX-License-Identifier: Apache-2.0 */
/** @file quant.c Bugs of quantised arithmetic: zero points, scales, limits: a row each. */

#include "faulty.h"

static bool is_int8(int32_t type) { return type == ANEURALNETWORKS_TENSOR_QUANT8_ASYMM_SIGNED; }

static const struct bug bugs[] = {
    BUG_OF(PAD, "pad-with-zero", "padding with stored 0 instead of the zero point", "PAD: zero point other than 0",
           .fault = {"padded-with-stored-number"}),
    BUG_OF(CONV_2D, "filter-zero-point-ignored", "filter zero point off by one", "CONV_2D: 8-bit filter",
           .fault = {"filter-zero-point-plus-one"}),
    BUG_OF(FULLY_CONNECTED, "fc-weights-zero-point", "weights zero point off by one", "FULLY_CONNECTED: 8-bit weights",
           .fault = {"filter-zero-point-plus-one"}),
    BUG_OF(BATCH_MATMUL, "matmul-zero-point", "zero point off by one", "BATCH_MATMUL: 8 bits",
           .fault = {"input-zero-point-plus-one"}),
    BUG_OF(SUB, "sub-zero-point", "second zero point off by one", "SUB: 8 bits",
           .fault = {"second-zero-point-plus-one"}),
    BUG_OF(TANH, "tanh-zero-point", "zero point off by one", "TANH: 8 bits", .fault = {"input-zero-point-plus-one"}),
    BUG_OF(PRELU, "prelu-alpha-zero-point", "alpha's zero point off by one", "PRELU: 8 bits",
           .fault = {"second-zero-point-plus-one"}),
    BUG_OF(TRANSPOSE_CONV_2D, "transpose-conv-zero-point", "zero point off by one", "TRANSPOSE_CONV_2D: 8 bits",
           .fault = {"input-zero-point-plus-one"}),
    BUG_OF(QUANTIZE, "quantize-point", "output zero point off by one", "QUANTIZE",
           .own = {.change = nnv_change_output_zero_point, .value = 1}),
    BUG_OF(ADD, "add-output-point", "output zero point off by one", "ADD: 8 bits",
           .own = {.change = nnv_change_output_zero_point, .value = 1}),
    BUG_OF(CONV_2D, "conv-output-point", "output zero point off by one", "CONV_2D: 8 bits",
           .own = {.change = nnv_change_output_zero_point, .value = -1}),
    BUG_OF(MUL, "mul-scale-ignored", "second operand's scale taken for the first's", "MUL: unequal scales",
           .fault = {"second-like-first"}),
    BUG_OF(SUB, "sub-scale-ignored", "second operand's scale taken for the first's", "SUB: unequal scales",
           .fault = {"second-like-first"}),
    BUG_OF(MAXIMUM, "maximum-scale-ignored", "second operand's scale taken for the first's", "MAXIMUM: unequal scales",
           .fault = {"second-like-first"}),
    BUG_OF(GREATER, "compare-scale-ignored", "second operand's scale taken for the first's", "GREATER: unequal scales",
           .fault = {"second-like-first"}),
    BUG_OF(SELECT, "select-scale-ignored", "second operand's scale taken for the first's", "SELECT: unequal scales",
           .fault = {"second-like-first"}),
    BUG_OF(PRELU, "prelu-scale-ignored", "alpha's scale taken for the input's", "PRELU: unequal scales",
           .fault = {"slope-like-input"}),
    BUG_OF(FULLY_CONNECTED, "fc-relu1-ignored", "one activation unknown", "FULLY_CONNECTED: RELU1",
           .own = {.numbers = nnv_numbers_from_to, .slots = {"activation"}, .value = ANEURALNETWORKS_FUSED_RELU1}),
    BUG_OF(DEPTHWISE_CONV_2D, "depthwise-first-scale", "filter zero point off by one",
           "DEPTHWISE_CONV_2D: 8-bit filter", .fault = {"filter-zero-point-minus-one"}),
    BUG("sign-bit-flipped", "stored as unsigned what is signed", "8-bit signed outputs", .fault = {"signedness"},
        .type = is_int8, .spoils = "*"),
    BUG("quant-plus-one", "rounding up for rounding to nearest", "8-bit outputs", .fault = {"stored-plus-one"},
        .spoils = "*"),
    BUG("wraps-at-the-top", "no saturation", "8-bit outputs at the upper limit", .fault = {"wraps-at-the-top"},
        .spoils = "*"),
};
const struct bug_group bugs_quant = {bugs, sizeof bugs / sizeof *bugs};
