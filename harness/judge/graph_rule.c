/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/judge/graph_rule.h"

#include <stddef.h>

#include "base/type.h"

enum { SMALL = 10 }; /* operations of a small graph, at most */

static const struct nnv_graph_rule strict = {{1e-7, 1e-10, 1e-6}, {1e-4, 1e-8, 1e-3}, {0.1, 0.1, 1}};
static const struct nnv_graph_rule medium = {{1e-6, 1e-8, 1e-5}, {1e-3, 1e-5, 1e-2}, {1.2, 1.2, 2}};
static const struct nnv_graph_rule complex = {{3e-5, 1e-6, 1e-3}, {5e-3, 1e-3, 1.0}, {1.5, 1.5, 10}};
static const struct nnv_graph_rule convolution = {{4e-4, 1e-5, 2e-2}, {5e-2, 1e-2, 1.0}, {1.5, 1.5, 10}};
static const struct nnv_graph_rule small_graph = {{4e-4, 1e-5, 1e-2}, {5e-2, 1e-2, 1.0}, {2, 2, 12}};
static const struct nnv_graph_rule large_graph = {{1e-2, 1e-4, 1e-1}, {1e-1, 5e-2, 1.0}, {2, 2, 12}};

#define OP(name) ANEURALNETWORKS_##name
static const int32_t strict_ops[] = {
    OP(DEPTH_TO_SPACE),
    OP(SPACE_TO_DEPTH),
    OP(EMBEDDING_LOOKUP),
    OP(HASHTABLE_LOOKUP),
    OP(RESHAPE),
    OP(BATCH_TO_SPACE_ND),
    OP(SPACE_TO_BATCH_ND),
    OP(PAD),
    OP(PAD_V2),
    OP(TRANSPOSE),
    OP(SQUEEZE),
    OP(STRIDED_SLICE),
    OP(ARGMAX),
    OP(ARGMIN),
    OP(EQUAL),
    OP(GREATER),
    OP(GREATER_EQUAL),
    OP(LESS),
    OP(LESS_EQUAL),
    OP(NOT_EQUAL),
    OP(LOGICAL_AND),
    OP(LOGICAL_OR),
    OP(LOGICAL_NOT),
    OP(CHANNEL_SHUFFLE),
    OP(EXPAND_DIMS),
    OP(TILE),
    OP(GATHER),
    OP(SELECT),
    OP(TOPK_V2),
    OP(SLICE),
    OP(FILL),
    OP(RANK),
};
static const int32_t medium_ops[] = {
    OP(ADD),           OP(MUL),        OP(SUB),      OP(FLOOR), OP(RELU),       OP(RELU1), OP(RELU6),
    OP(CONCATENATION), OP(DEQUANTIZE), OP(QUANTIZE), OP(CAST),  OP(ABS),        OP(NEG),   OP(MAXIMUM),
    OP(MINIMUM),       OP(PRELU),      OP(SPLIT),    OP(ELU),   OP(HARD_SWISH),
};
static const int32_t convolution_ops[] = {OP(CONV_2D), OP(DEPTHWISE_CONV_2D), OP(GROUPED_CONV_2D),
                                          OP(TRANSPOSE_CONV_2D)};

static bool is_one_of(int32_t op, const int32_t *list, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (list[i] == op) return true;
    return false;
}
#define ONE_OF(op, list) is_one_of(op, list, sizeof(list) / sizeof *(list))

const struct nnv_graph_rule *nnv_graph_rule(const struct nnv_model *model) {
    uint32_t n = model->main.noperations;
    for (uint32_t i = 0; i < model->nreferenced; i++) n += model->referenced[i].noperations;
    if (n != 1) return n <= SMALL ? &small_graph : &large_graph;
    const int32_t op = model->main.operations[0].type;
    return ONE_OF(op, strict_ops)        ? &strict
           : ONE_OF(op, medium_ops)      ? &medium
           : ONE_OF(op, convolution_ops) ? &convolution
                                         : &complex;
}
