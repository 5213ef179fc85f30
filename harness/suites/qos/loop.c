/* SPDX-License-Identifier: Apache-2.0 */
/** @file loop.c A WHILE that ends, or does not, by the values that it is given. */
#include <string.h>

#include "harness/suites/qos/qos.h"
#include "reference/eval/eval.h"
#include "reference/model/validate.h"

static const enum nnv_lifetime IN = NNV_SUBGRAPH_INPUT, OUT = NNV_SUBGRAPH_OUTPUT;

/* All tensors hold one INT32; the model's own copies, since the builder of models knows main subgraphs alone. */
static struct nnv_operand number(uint32_t *one, enum nnv_lifetime lifetime) {
    return (struct nnv_operand){.type = ANEURALNETWORKS_TENSOR_INT32, .rank = 1, .dims = one, .lifetime = lifetime};
}

static struct nnv_operand subgraph(uint32_t index) {
    return (struct nnv_operand){.type = ANEURALNETWORKS_MODEL, .lifetime = NNV_SUBGRAPH, .subgraph = index};
}

static struct nnv_operation *use(struct nnv_arena *arena, int32_t type, uint32_t nin, const uint32_t *in,
                                 uint32_t out) {
    const struct nnv_operation op = {type, nin, 1, nnv_arena_copy(arena, in, nin * sizeof *in),
                                     nnv_arena_copy(arena, &out, sizeof out)};
    return op.in && op.out ? nnv_arena_copy(arena, &op, sizeof op) : NULL;
}

/* A subgraph of one operation, which reads the first operands and writes the last. */
static bool graph(struct nnv_arena *arena, const struct nnv_operand *operands, uint32_t count, uint32_t nin,
                  const uint32_t *in, struct nnv_operation *op, struct nnv_subgraph *out) {
    const uint32_t last = count - 1;
    *out = (struct nnv_subgraph){.noperands = count, .noperations = 1, .nin = nin, .nout = 1, .operations = op};
    out->operands = nnv_arena_copy(arena, operands, count * sizeof *operands);
    out->in = nnv_arena_copy(arena, in, nin * sizeof *in);
    out->out = nnv_arena_copy(arena, &last, sizeof last);
    return op && out->operands && out->in && out->out;
}

static bool describe(struct nnv_arena *arena, struct nnv_model *model) {
    static const int32_t none = ANEURALNETWORKS_FUSED_NONE;
    static const uint32_t first_three[] = {0, 1, 2}, arguments[] = {2, 3, 4}, all[] = {0, 1, 2, 3, 4};
    uint32_t *one = NNV_NEW(arena, uint32_t, 1);
    model->referenced = NNV_NEW(arena, struct nnv_subgraph, 2);
    if (!one || !model->referenced) return false;
    *one = 1;
    model->nreferenced = 2;
    struct nnv_operand truth = number(one, OUT);
    truth.type = ANEURALNETWORKS_TENSOR_BOOL8;
    const struct nnv_operand activation = {
        .type = ANEURALNETWORKS_INT32, .lifetime = NNV_CONSTANT_COPY, .data = &none, .bytes = sizeof none};
    const struct nnv_operand condition[] = {number(one, IN), number(one, IN), number(one, IN), truth};
    const struct nnv_operand body[] = {number(one, IN), number(one, IN), number(one, IN), activation, number(one, OUT)};
    const struct nnv_operand main[] = {subgraph(0),     subgraph(1),     number(one, IN),
                                       number(one, IN), number(one, IN), number(one, OUT)};
    return graph(arena, condition, 4, 3, first_three, use(arena, ANEURALNETWORKS_LESS, 2, first_three, 3),
                 &model->referenced[0]) &&
           graph(arena, body, 5, 3, first_three, use(arena, ANEURALNETWORKS_ADD, 3, (uint32_t[]){0, 2, 3}, 4),
                 &model->referenced[1]) &&
           graph(arena, main, 6, 3, arguments, use(arena, ANEURALNETWORKS_WHILE, 5, all, 5), &model->main);
}

static bool put(struct nnv_arena *arena, int32_t number, struct nnv_value *v) {
    int32_t *data = nnv_arena_alloc(arena, 1, sizeof number);
    if (!data) return false;
    *data = number;
    *v = (struct nnv_value){.rank = 1, .dims = {1}, .data = data, .bytes = sizeof number};
    return true;
}

enum nnv_status nnv_qos_loop(int32_t limit, int32_t step, struct nnv_arena *arena, struct nnv_spec **out,
                             struct nnv_err *err) {
    struct nnv_spec *spec = NNV_NEW(arena, struct nnv_spec, 1);
    if (!spec) return nnv_no_memory(err);
    *spec = (struct nnv_spec){.name = "loop", .inputs = NNV_NEW(arena, struct nnv_value, 3)};
    spec->outputs = NNV_NEW(arena, struct nnv_value, 1);
    /* The sum of the first steps; without steps it is never looked at. */
    const int32_t sum = step > 0 && limit > 0 ? (limit + step - 1) / step * step : 0;
    if (!spec->inputs || !spec->outputs || !put(arena, 0, &spec->inputs[0]) || !put(arena, limit, &spec->inputs[1]) ||
        !put(arena, step, &spec->inputs[2]) || !put(arena, sum, &spec->outputs[0]) || !describe(arena, &spec->model))
        return nnv_no_memory(err);
    enum nnv_status st = nnv_validate(&spec->model, arena, &spec->min_version, err);
    if (st == NNV_OK) *out = spec;
    return st;
}
