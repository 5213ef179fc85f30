/* SPDX-License-Identifier: Apache-2.0 */
/** @file control.c Rewriting control flow. */
#include <string.h>

#include "faulty.h"

bool rewrite_branch(struct edit *e, struct nnvts_operation *op) {
    if (op->type != ANEURALNETWORKS_IF || op->input_count < 3) return false;
    uint32_t *inputs = edit_alloc(e, op->input_count * sizeof *inputs);
    if (!inputs) return false;
    memcpy(inputs, op->inputs, op->input_count * sizeof *inputs);
    inputs[1] = op->inputs[2];
    inputs[2] = op->inputs[1];
    op->inputs = inputs;
    return true;
}

/** The referenced subgraph that input pos of op names, or NULL. */
static const struct nnvts_subgraph *subgraph(struct edit *e, const struct nnvts_operation *op, uint32_t pos) {
    const struct nnvts_operand *o = edit_input(e, op, pos);
    if (!o || o->lifetime != NNVTS_SUBGRAPH || o->location.offset >= e->model.referenced_count) return NULL;
    return &e->model.referenced[o->location.offset];
}

/** Where operand i of the condition stands in the joined subgraph: what it takes is what the body has given. */
static uint32_t place(const struct nnvts_subgraph *condition, const struct nnvts_subgraph *body, uint32_t i) {
    for (uint32_t k = 0; k < condition->input_count; k++)
        if (condition->inputs[k] == i) return k < body->output_count ? body->outputs[k] : body->inputs[k];
    return body->operand_count + i;
}

static const uint32_t *places(struct edit *e, const struct nnvts_subgraph *condition, const struct nnvts_subgraph *body,
                              const uint32_t *list, uint32_t count) {
    uint32_t *to = edit_alloc(e, count * sizeof *to);
    for (uint32_t i = 0; to && i < count; i++) to[i] = place(condition, body, list[i]);
    return to;
}

/** A subgraph that executes the body and then asks the condition of what that gave. False when out of memory. */
static bool join(struct edit *e, const struct nnvts_subgraph *condition, const struct nnvts_subgraph *body,
                 struct nnvts_subgraph *out) {
    uint32_t nb = body->operand_count, nc = condition->operand_count, ops = body->operation_count;
    struct nnvts_operand *operands = edit_alloc(e, ((size_t)nb + nc) * sizeof *operands);
    struct nnvts_operation *operations = edit_alloc(e, ((size_t)ops + condition->operation_count) * sizeof *operations);
    if (!operands || !operations) return false;
    memcpy(operands, body->operands, nb * sizeof *operands);
    memcpy(operands + nb, condition->operands, nc * sizeof *operands);
    memcpy(operations, body->operations, ops * sizeof *operations);
    memcpy(operations + ops, condition->operations, condition->operation_count * sizeof *operations);
    for (uint32_t i = 0; i < body->output_count; i++) operands[body->outputs[i]].lifetime = NNVTS_TEMPORARY_VARIABLE;
    for (uint32_t i = 0; i < condition->input_count; i++) operands[nb + condition->inputs[i]].lifetime = NNVTS_NO_VALUE;
    for (uint32_t i = 0; i < condition->operation_count; i++) {
        struct nnvts_operation *op = &operations[ops + i];
        op->inputs = places(e, condition, body, op->inputs, op->input_count);
        op->outputs = places(e, condition, body, op->outputs, op->output_count);
    }
    *out = (struct nnvts_subgraph){
        .operand_count = nb + nc,
        .operation_count = ops + condition->operation_count,
        .input_count = body->input_count,
        .output_count = condition->output_count,
        .operands = operands,
        .operations = operations,
        .inputs = body->inputs,
        .outputs = places(e, condition, body, condition->outputs, condition->output_count),
    };
    return !e->failed;
}

/** The loop ends when the condition would not hold after one more turn. */
bool rewrite_last_iteration(struct edit *e, struct nnvts_operation *op) {
    if (op->type != ANEURALNETWORKS_WHILE || op->input_count < 3) return false;
    const struct nnvts_subgraph *condition = subgraph(e, op, 0), *body = subgraph(e, op, 1);
    uint32_t n = e->model.referenced_count;
    struct nnvts_subgraph *referenced = edit_alloc(e, ((size_t)n + 1) * sizeof *referenced);
    if (!condition || !body || !referenced || !join(e, condition, body, &referenced[n])) return false;
    memcpy(referenced, e->model.referenced, n * sizeof *referenced);
    e->model.referenced = referenced;
    e->model.referenced_count = n + 1;
    edit_input(e, op, 0)->location.offset = n;
    return true;
}
