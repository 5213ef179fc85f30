/* SPDX-License-Identifier: Apache-2.0 */
/** @file bugs_legal.c No bugs: variants that differ within what the rules allow. A suite that complains is wrong. */

#include "faulty.h"

#define LEGAL(label, operation, class, where, ...)                                                                     \
    {                                                                                                                  \
        .name = (label), .models = (class), .fires = (where), .op = ANEURALNETWORKS_##operation,                       \
        .change = {__VA_ARGS__}, .legal = true                                                                         \
    }
#define ROUNDS(label, operation, class, where)                                                                         \
    {                                                                                                                  \
        .name = (label), .models = (class), .fires = (where), .op = ANEURALNETWORKS_##operation, .alone = true,        \
        .execute = tamper_towards_zero, .legal = true                                                                  \
    }

static const struct bug bugs[] = {
    LEGAL("legal-sum-commuted", ADD, "operands in the other order", "ADD: operands of one type and shape",
          .kind = CHANGE_SWAP, .value = 1),
    LEGAL("legal-product-commuted", MUL, "operands in the other order", "MUL: operands of one type and shape",
          .kind = CHANGE_SWAP, .value = 1),
    LEGAL("legal-axes-reversed", MEAN, "axes in the other order", "MEAN: two or more axes", .kind = CHANGE_REVERSE,
          .at = 1),
    LEGAL("legal-reduction-order", REDUCE_SUM, "axes in the other order", "REDUCE_SUM: two or more axes",
          .kind = CHANGE_REVERSE, .at = 1),
    ROUNDS("legal-tanh-rounds-down", TANH, "the other neighbour in float32: one unit in the last place",
           "TANH alone in a model, float32 outputs"),
    ROUNDS("legal-exp-rounds-down", EXP, "the other neighbour in float32: one unit in the last place",
           "EXP alone in a model, float32 outputs"),
    ROUNDS("legal-logistic-rounds-down", LOGISTIC, "the other neighbour in float32: one unit in the last place",
           "LOGISTIC alone in a model, float32 outputs"),
    ROUNDS("legal-conv-2d-rounds-down", CONV_2D, "the other neighbour in float32: one unit in the last place",
           "CONV_2D alone in a model, float32 outputs"),
    ROUNDS("legal-fully-connected-rounds-down", FULLY_CONNECTED,
           "the other neighbour in float32: one unit in the last place",
           "FULLY_CONNECTED alone in a model, float32 outputs"),
    ROUNDS("legal-batch-matmul-rounds-down", BATCH_MATMUL, "the other neighbour in float32: one unit in the last place",
           "BATCH_MATMUL alone in a model, float32 outputs"),
    ROUNDS("legal-softmax-rounds-down", SOFTMAX, "the other neighbour in float32: one unit in the last place",
           "SOFTMAX alone in a model, float32 outputs"),
    {.name = "legal-ties-round-down",
     .models = "ties of a quantised number to the lower neighbour instead of the upper",
     .fires = "QUANTIZE alone in a model, float32 inputs halfway between two units",
     .op = ANEURALNETWORKS_QUANTIZE,
     .alone = true,
     .execute = tamper_ties_down,
     .legal = true},
    {.name = "legal-true-is-255",
     .models = "truth stored as another value than 1: anything but 0 is true",
     .fires = "TENSOR_BOOL8 outputs",
     .op = ANY_OPERATION,
     .execute = tamper_true_255,
     .legal = true},
    {.name = "legal-prints",
     .models = "much noise on standard output and standard error",
     .fires = "models with a TANH, unless @OP says another",
     .op = ANEURALNETWORKS_TANH,
     .strike = strike_print,
     .place = STRIKE_EXECUTE,
     .legal = true},
};
const struct bug_group bugs_legal = {bugs, sizeof bugs / sizeof *bugs};
