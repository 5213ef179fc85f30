/* SPDX-License-Identifier: Apache-2.0 */
/** @file bugs_legal.c No bugs: variants that differ within what the rules allow. A suite that complains is wrong. */

#include "faulty.h"

#define ROUNDED .alone = true, .execute = tamper_towards_zero, .legal = true

static const struct bug bugs[] = {
    BUG_OF(ADD, "legal-sum-commuted", "operands in the other order", "ADD: operands of one type and shape",
           .own = {.change = nnv_change_swap, .slots = {"a", "b"}}, .legal = true),
    BUG_OF(MUL, "legal-product-commuted", "operands in the other order", "MUL: operands of one type and shape",
           .own = {.change = nnv_change_swap, .slots = {"a", "b"}}, .legal = true),
    BUG_OF(MEAN, "legal-axes-reversed", "axes in the other order", "MEAN: two or more axes",
           .own = {.numbers = nnv_numbers_reverse, .slots = {"axes"}}, .legal = true),
    BUG_OF(REDUCE_SUM, "legal-reduction-order", "axes in the other order", "REDUCE_SUM: two or more axes",
           .own = {.numbers = nnv_numbers_reverse, .slots = {"axes"}}, .legal = true),
    BUG_OF(TANH, "legal-tanh-rounds-down", "the other neighbour in float32: one unit in the last place",
           "TANH alone in a model, float32 outputs", ROUNDED),
    BUG_OF(EXP, "legal-exp-rounds-down", "the other neighbour in float32: one unit in the last place",
           "EXP alone in a model, float32 outputs", ROUNDED),
    BUG_OF(LOGISTIC, "legal-logistic-rounds-down", "the other neighbour in float32: one unit in the last place",
           "LOGISTIC alone in a model, float32 outputs", ROUNDED),
    BUG_OF(CONV_2D, "legal-conv-2d-rounds-down", "the other neighbour in float32: one unit in the last place",
           "CONV_2D alone in a model, float32 outputs", ROUNDED),
    BUG_OF(FULLY_CONNECTED, "legal-fully-connected-rounds-down",
           "the other neighbour in float32: one unit in the last place",
           "FULLY_CONNECTED alone in a model, float32 outputs", ROUNDED),
    BUG_OF(BATCH_MATMUL, "legal-batch-matmul-rounds-down", "the other neighbour in float32: one unit in the last place",
           "BATCH_MATMUL alone in a model, float32 outputs", ROUNDED),
    BUG_OF(SOFTMAX, "legal-softmax-rounds-down", "the other neighbour in float32: one unit in the last place",
           "SOFTMAX alone in a model, float32 outputs", ROUNDED),
    BUG_OF(QUANTIZE, "legal-ties-round-down", "ties of a quantised number to the lower neighbour instead of the upper",
           "QUANTIZE alone in a model, float32 inputs halfway between two units", .alone = true,
           .execute = tamper_ties_down, .legal = true),
    BUG("legal-true-is-255", "truth stored as another value than 1: anything but 0 is true", "TENSOR_BOOL8 outputs",
        .execute = tamper_true_255, .legal = true),
    BUG_OF(TANH, "legal-prints", "much noise on standard output and standard error", WITH_TANH, .strike = strike_print,
           .place = STRIKE_EXECUTE, .legal = true),
};
const struct bug_group bugs_legal = {bugs, sizeof bugs / sizeof *bugs};
