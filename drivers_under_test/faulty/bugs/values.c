/* SPDX-License-Identifier: Apache-2.0 */
/** @file bugs_values.c Bugs of values: constants, gates, activations, reductions, precision: a row each. */

#include "faulty.h"

#define CHANGE(label, operation, class, where, ...)                                                                    \
    {                                                                                                                  \
        .name = (label), .models = (class), .fires = (where), .op = ANEURALNETWORKS_##operation, .change = {           \
            __VA_ARGS__                                                                                                \
        }                                                                                                              \
    }
#define TAMPER(label, class, where, function)                                                                          \
    { .name = (label), .models = (class), .fires = (where), .op = ANY_OPERATION, .execute = (function), .spoils = "*" }

/** Operations that the cpu driver does not know. */
#define REFERENCE(label, operation, class, where, ...)                                                                 \
    {                                                                                                                  \
        .name = (label), .models = (class), .fires = (where), .over = "reference", .op = ANEURALNETWORKS_##operation,  \
        .change = {                                                                                                    \
            __VA_ARGS__                                                                                                \
        }                                                                                                              \
    }

static const struct bug bugs[] = {
    CHANGE("log-softmax-beta-ignored", LOG_SOFTMAX, "beta taken for 1", "LOG_SOFTMAX: another beta",
           .kind = CHANGE_FLOAT, .at = 1, .real = 1.0f),
    CHANGE("elu-alpha-ignored", ELU, "alpha taken for 1", "ELU: another alpha", .kind = CHANGE_FLOAT, .at = 1,
           .real = 1.0f),
    CHANGE("prelu-as-relu", PRELU, "slope taken for 0", "PRELU: negative inputs", .kind = CHANGE_CODE, .at = 1,
           .value = ANEURALNETWORKS_RELU),
    CHANGE("select-swapped", SELECT, "condition the wrong way", "SELECT", .kind = CHANGE_SWAP, .at = 1, .value = 2),
    CHANGE("norm-gamma-ignored", INSTANCE_NORMALIZATION, "gamma taken for 1", "INSTANCE_NORMALIZATION: another gamma",
           .kind = CHANGE_FLOAT, .at = 1, .real = 1.0f),
    CHANGE("norm-beta-ignored", INSTANCE_NORMALIZATION, "beta taken for 0", "INSTANCE_NORMALIZATION: another beta",
           .kind = CHANGE_FLOAT, .at = 2),
    CHANGE("norm-epsilon-missing", INSTANCE_NORMALIZATION, "epsilon next to nothing", "INSTANCE_NORMALIZATION",
           .kind = CHANGE_FLOAT_BY, .at = 3, .real = 0.0009765625f),
    CHANGE("lrn-bias-ignored", LOCAL_RESPONSE_NORMALIZATION, "bias taken for 1",
           "LOCAL_RESPONSE_NORMALIZATION: another bias", .kind = CHANGE_FLOAT, .at = 2, .real = 1.0f),
    CHANGE("lrn-alpha-doubled", LOCAL_RESPONSE_NORMALIZATION, "alpha divided by another count",
           "LOCAL_RESPONSE_NORMALIZATION", .kind = CHANGE_FLOAT_BY, .at = 3, .real = 2.0f),
    CHANGE("lrn-beta-half", LOCAL_RESPONSE_NORMALIZATION, "beta taken for a square root",
           "LOCAL_RESPONSE_NORMALIZATION: another beta", .kind = CHANGE_FLOAT, .at = 4, .real = 0.5f),
    CHANGE("pad-v2-value-ignored", PAD_V2, "padding value taken for 0", "PAD_V2: integer value", .kind = CHANGE_INT,
           .at = 2),
    CHANGE("pad-v2-float-value-ignored", PAD_V2, "padding value taken for 0", "PAD_V2: float value",
           .kind = CHANGE_FLOAT, .at = 2),
    CHANGE("fill-value-ignored", FILL, "value taken for 0", "FILL: integer value", .kind = CHANGE_INT, .at = 1),
    CHANGE("lstm-gates-swapped", LSTM, "weights of forget and cell gate swapped", "LSTM", .kind = CHANGE_SWAP, .at = 2,
           .value = 3),
    CHANGE("lstm-biases-swapped", LSTM, "biases of cell and output gate swapped", "LSTM", .kind = CHANGE_SWAP, .at = 14,
           .value = 15),
    CHANGE("lstm-projection-clip-ignored", LSTM, "clipping ignored", "LSTM: projection clip", .kind = CHANGE_FLOAT,
           .at = 22),
    CHANGE("sequence-lstm-gates-swapped", UNIDIRECTIONAL_SEQUENCE_LSTM, "weights of forget and cell gate swapped",
           "UNIDIRECTIONAL_SEQUENCE_LSTM", .kind = CHANGE_SWAP, .at = 2, .value = 3),
    CHANGE("sequence-lstm-recurrence-swapped", UNIDIRECTIONAL_SEQUENCE_LSTM, "recurrent weights swapped",
           "UNIDIRECTIONAL_SEQUENCE_LSTM", .kind = CHANGE_SWAP, .at = 6, .value = 7),
    CHANGE("sequence-lstm-clip-ignored", UNIDIRECTIONAL_SEQUENCE_LSTM, "clipping ignored",
           "UNIDIRECTIONAL_SEQUENCE_LSTM: cell clip", .kind = CHANGE_FLOAT, .at = 21),
    CHANGE("rnn-activation-ignored", RNN, "activation lost", "RNN: with activation", .kind = CHANGE_INT, .at = 5),
    CHANGE("rnn-bias-missing", RNN, "bias left out", "RNN: constant bias", .kind = CHANGE_ZERO, .at = 3),
    CHANGE("rnn-state-ignored", RNN, "recurrence left out", "RNN: constant weights", .kind = CHANGE_ZERO, .at = 2),
    CHANGE("svdf-activation-ignored", SVDF, "activation lost", "SVDF: with activation", .kind = CHANGE_INT, .at = 6),
    CHANGE("svdf-time-reversed", SVDF, "time weights read from the end", "SVDF: constant weights",
           .kind = CHANGE_REVERSE, .at = 2),
    CHANGE("sequence-rnn-activation-ignored", UNIDIRECTIONAL_SEQUENCE_RNN, "activation lost",
           "UNIDIRECTIONAL_SEQUENCE_RNN: with activation", .kind = CHANGE_INT, .at = 5),
    REFERENCE("bidirectional-rnn-activation-ignored", BIDIRECTIONAL_SEQUENCE_RNN, "activation lost",
              "BIDIRECTIONAL_SEQUENCE_RNN: with activation", .kind = CHANGE_INT, .at = 12),
    CHANGE("l2-pool-as-average", L2_POOL_2D, "wrong reduction", "L2_POOL_2D", .kind = CHANGE_CODE,
           .value = ANEURALNETWORKS_AVERAGE_POOL_2D),
    CHANGE("average-pool-as-max", AVERAGE_POOL_2D, "wrong reduction", "AVERAGE_POOL_2D", .kind = CHANGE_CODE,
           .value = ANEURALNETWORKS_MAX_POOL_2D),
    CHANGE("reduce-max-as-min", REDUCE_MAX, "wrong reduction", "REDUCE_MAX", .kind = CHANGE_CODE,
           .value = ANEURALNETWORKS_REDUCE_MIN),
    CHANGE("reduce-prod-as-sum", REDUCE_PROD, "wrong reduction", "REDUCE_PROD", .kind = CHANGE_CODE,
           .value = ANEURALNETWORKS_REDUCE_SUM),
    CHANGE("reduce-all-as-any", REDUCE_ALL, "wrong reduction", "REDUCE_ALL", .kind = CHANGE_CODE,
           .value = ANEURALNETWORKS_REDUCE_ANY),
    CHANGE("maximum-as-minimum", MAXIMUM, "comparison the wrong way", "MAXIMUM", .kind = CHANGE_CODE,
           .value = ANEURALNETWORKS_MINIMUM),
    CHANGE("greater-as-greater-equal", GREATER, "equality on the wrong side", "GREATER: equal values",
           .kind = CHANGE_CODE, .value = ANEURALNETWORKS_GREATER_EQUAL),
    CHANGE("less-equal-as-less", LESS_EQUAL, "equality on the wrong side", "LESS_EQUAL: equal values",
           .kind = CHANGE_CODE, .value = ANEURALNETWORKS_LESS),
    CHANGE("equal-inverted", EQUAL, "answer inverted", "EQUAL", .kind = CHANGE_CODE,
           .value = ANEURALNETWORKS_NOT_EQUAL),
    CHANGE("or-as-and", LOGICAL_OR, "another operation of the family", "LOGICAL_OR", .kind = CHANGE_CODE,
           .value = ANEURALNETWORKS_LOGICAL_AND),
    CHANGE("sub-reversed", SUB, "operands swapped", "SUB: operands of one type and shape", .kind = CHANGE_SWAP,
           .value = 1),
    CHANGE("div-reversed", DIV, "operands swapped", "DIV: operands of one type and shape", .kind = CHANGE_SWAP,
           .value = 1),
    CHANGE("pow-reversed", POW, "operands swapped", "POW: operands of one type and shape", .kind = CHANGE_SWAP,
           .value = 1),
    CHANGE("abs-as-relu", ABS, "negative values lost", "ABS: negative values", .kind = CHANGE_CODE,
           .value = ANEURALNETWORKS_RELU),
    CHANGE("relu1-as-relu", RELU1, "limits ignored", "RELU1: values beyond 1", .kind = CHANGE_CODE,
           .value = ANEURALNETWORKS_RELU),
    CHANGE("hard-swish-as-relu6", HARD_SWISH, "another operation of the family", "HARD_SWISH", .kind = CHANGE_CODE,
           .value = ANEURALNETWORKS_RELU6),
    CHANGE("conv-activation-ignored", CONV_2D, "fused activation lost", "CONV_2D: with activation",
           .kind = CHANGE_ACTIVATION, .value = -1),
    CHANGE("fc-activation-ignored", FULLY_CONNECTED, "fused activation lost", "FULLY_CONNECTED: with activation",
           .kind = CHANGE_ACTIVATION, .value = -1),
    CHANGE("depthwise-relu1-ignored", DEPTHWISE_CONV_2D, "one activation unknown", "DEPTHWISE_CONV_2D: RELU1",
           .kind = CHANGE_ACTIVATION, .value = ANEURALNETWORKS_FUSED_RELU1),
    CHANGE("sub-activation-ignored", SUB, "fused activation lost", "SUB: with activation", .kind = CHANGE_ACTIVATION,
           .value = -1),
    CHANGE("div-activation-ignored", DIV, "fused activation lost", "DIV: with activation", .kind = CHANGE_ACTIVATION,
           .value = -1),
    CHANGE("pool-activation-ignored", MAX_POOL_2D, "fused activation lost", "MAX_POOL_2D: with activation",
           .kind = CHANGE_ACTIVATION, .value = -1),
    CHANGE("transpose-conv-bias-missing", TRANSPOSE_CONV_2D, "bias left out", "TRANSPOSE_CONV_2D: constant bias",
           .kind = CHANGE_ZERO, .at = 2),
    CHANGE("grouped-bias-missing", GROUPED_CONV_2D, "bias left out", "GROUPED_CONV_2D: constant bias",
           .kind = CHANGE_ZERO, .at = 2),
    TAMPER("bfloat16-inside", "float32 computed as bfloat16", "float32 outputs", tamper_bfloat),
    TAMPER("half-truncated", "bits of a float16 lost", "float16 outputs", tamper_half_truncated),
    TAMPER("constant-output", "one value everywhere", "all outputs", tamper_constant),
    TAMPER("elements-reversed", "written from the end", "all outputs", tamper_reverse),
    TAMPER("stale-first-element", "head of a loop not written", "all outputs", tamper_stale_head),
    TAMPER("int-through-float", "INT32 computed as float32", "INT32 outputs above 2^24", tamper_int_as_float),
    TAMPER("never-negative", "an activation too many", "float32 outputs below 0", tamper_never_negative),
    TAMPER("tiny-flushed", "small results become 0", "float32 outputs below 2^-10", tamper_flush),
    TAMPER("infinity-clamped", "infinite results become finite", "infinite float32 outputs", tamper_finite),
    TAMPER("batches-reversed", "batches in the wrong order", "outputs of two or more batches", tamper_batches_reversed),
    TAMPER("vector-overlap", "last vector written from the wrong place", "outputs of more than four elements",
           tamper_overlap),
};
const struct bug_group bugs_values = {bugs, sizeof bugs / sizeof *bugs};
