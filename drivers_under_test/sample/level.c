/* SPDX-License-Identifier: Apache-2.0 */
/** @file level.c What the third level of NNAPI added to operations that the first two had. */
#include <string.h>

#include "sample.h"

enum { SPARSE = 3 };

static const struct nnvts_operand *input(const struct nnvts_subgraph *g, const struct nnvts_operation *op, uint32_t i) {
    return &g->operands[op->inputs[i]];
}

static bool is_quant8(const struct nnvts_operand *o) { return o->type == ANEURALNETWORKS_TENSOR_QUANT8_ASYMM; }

static bool is_tensor(const struct nnvts_operand *o) {
    return o->type == ANEURALNETWORKS_TENSOR_INT32 || o->type == ANEURALNETWORKS_TENSOR_FLOAT32 || is_quant8(o);
}

/** A tensor of unknown rank, or a type of scalars that came later: layouts are BOOL. */
static bool is_new(const struct nnvts_operand *o) {
    return (is_tensor(o) && o->dimension_count == 0 && o->lifetime != NNVTS_NO_VALUE) ||
           o->type == ANEURALNETWORKS_BOOL || o->type == ANEURALNETWORKS_FLOAT16;
}

static bool has_new(const struct nnvts_subgraph *g, const uint32_t *list, uint32_t count) {
    for (uint32_t i = 0; i < count; i++)
        if (is_new(&g->operands[list[i]])) return true;
    return false;
}

/** CONCATENATION: quantised inputs of the output's scale alone. */
static bool has_one_scale(const struct nnvts_subgraph *g, const struct nnvts_operation *op) {
    const struct nnvts_operand *y = &g->operands[op->outputs[0]];
    for (uint32_t i = 0; i + 1 < op->input_count && is_quant8(y); i++)
        if (input(g, op, i)->scale != y->scale || input(g, op, i)->zero_point != y->zero_point) return false;
    return true;
}

/** Convolutions and FULLY_CONNECTED: the output's scale was the largest. */
static bool has_large_scale(const struct nnvts_subgraph *g, const struct nnvts_operation *op) {
    return !is_quant8(input(g, op, 0)) ||
           g->operands[op->outputs[0]].scale > input(g, op, 0)->scale * input(g, op, 1)->scale;
}

/** LSH_PROJECTION: the old meaning of sparse, and dense. A type that is not known yet may be either. */
static bool has_old_type(const struct nnvts_model *m, const struct nnvts_operation *op) {
    const struct nnvts_operand *type = input(&m->main, op, op->input_count - 1);
    int32_t value = 0;
    if (type->lifetime == NNVTS_CONSTANT_COPY && type->type == ANEURALNETWORKS_INT32)
        memcpy(&value, (const char *)m->operand_values + type->location.offset, sizeof value);
    return value != SPARSE;
}

bool sample_is_old(const struct nnvts_model *m, const struct nnvts_operation *op) {
    const struct nnvts_subgraph *g = &m->main;
    if (has_new(g, op->inputs, op->input_count) || has_new(g, op->outputs, op->output_count)) return false;
    if (op->input_count == 0 || op->output_count == 0) return true;
    const struct nnvts_operand *x = input(g, op, 0);
    switch (op->type) {
    case ANEURALNETWORKS_CONCATENATION:
        return has_one_scale(g, op);
    case ANEURALNETWORKS_CONV_2D:
    case ANEURALNETWORKS_DEPTHWISE_CONV_2D:
    case ANEURALNETWORKS_FULLY_CONNECTED:
        return has_large_scale(g, op);
    case ANEURALNETWORKS_EMBEDDING_LOOKUP:
        return !is_quant8(&g->operands[op->outputs[0]]);
    case ANEURALNETWORKS_TANH:
    case ANEURALNETWORKS_SUB:
        return !is_quant8(x);
    case ANEURALNETWORKS_L2_NORMALIZATION:
        return !is_quant8(x) && x->dimension_count == 4;
    case ANEURALNETWORKS_LOCAL_RESPONSE_NORMALIZATION:
        return x->dimension_count == 4;
    case ANEURALNETWORKS_SOFTMAX:
        return x->dimension_count % 2 == 0;
    case ANEURALNETWORKS_LSH_PROJECTION:
        return has_old_type(m, op);
    case ANEURALNETWORKS_RESIZE_BILINEAR:
        return !is_quant8(x) && op->input_count > 1 && input(g, op, 1)->type == ANEURALNETWORKS_INT32;
    case ANEURALNETWORKS_PAD:
    case ANEURALNETWORKS_SPACE_TO_BATCH_ND:
        return !is_quant8(x) || x->zero_point == 0;
    default:
        return true;
    }
}
