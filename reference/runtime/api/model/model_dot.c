/* SPDX-License-Identifier: Apache-2.0 */
/** @file model_dot.c A finished model as a graph for Graphviz. */
#include <string.h>

#include "NeuralNetworksOEM.h"
#include "base/text.h"
#include "base/type.h"
#include "reference/runtime/api/model/building.h"
#include "reference/runtime/device.h"

static void add_type(struct nnv_text *t, int32_t type) {
    static const struct {
        int32_t type;
        const char *name;
    } brief[] = {
        {ANEURALNETWORKS_FLOAT32, "F32"},       {ANEURALNETWORKS_INT32, "I32"},
        {ANEURALNETWORKS_UINT32, "U32"},        {ANEURALNETWORKS_TENSOR_FLOAT32, "TF32"},
        {ANEURALNETWORKS_TENSOR_INT32, "TI32"}, {ANEURALNETWORKS_TENSOR_QUANT8_ASYMM, "TQ8A"},
        {ANEURALNETWORKS_OEM_SCALAR, "OEM"},    {ANEURALNETWORKS_TENSOR_OEM_BYTE, "TOEMB"},
    };
    const struct nnv_type *known = nnv_type(type);
    const char *name = known ? known->name : NULL;
    for (size_t i = 0; i < sizeof brief / sizeof *brief; i++)
        if (brief[i].type == type) name = brief[i].name;
    if (name)
        nnv_text_add(t, name);
    else
        nnv_text_addf(t, "extension %d type %d", type >> 16, type & 0xffff);
}

/* Scalar constants of three types show their value. */
static void add_value(struct nnv_text *t, const struct nnv_operand *o) {
    if (!nnv_is_constant(o) || !o->data) return;
    int32_t i = 0;
    float f = 0;
    if (o->type == ANEURALNETWORKS_FLOAT32) {
        memcpy(&f, o->data, sizeof f);
        nnv_text_addf(t, " = %g", (double)f);
    } else if (o->type == ANEURALNETWORKS_INT32 || o->type == ANEURALNETWORKS_UINT32) {
        memcpy(&i, o->data, sizeof i);
        nnv_text_addf(t, o->type == ANEURALNETWORKS_INT32 ? " = %d" : " = %u", i);
    }
}

/* The place of an operand in a list, or -1. */
static int64_t *places(const struct nnv_subgraph *g, uint32_t count, const uint32_t *list, struct nnv_arena *arena) {
    int64_t *place = NNV_NEW(arena, int64_t, g->noperands);
    for (uint32_t i = 0; i < g->noperands && place; i++) place[i] = -1;
    for (uint32_t i = 0; i < count && place; i++) place[list[i]] = i;
    return place;
}

static void add_operand(struct nnv_text *t, const struct nnv_operand *o, uint32_t i, int64_t input, int64_t output) {
    static const char *const kinds[NNV_LIFETIME_COUNT] = {
        [NNV_CONSTANT_COPY] = ": COPY",
        [NNV_CONSTANT_REFERENCE] = ": REF",
        [NNV_NO_VALUE] = ": NO",
        [NNV_SUBGRAPH] = ": SUBGRAPH",
    };
    nnv_text_addf(t, "  d%u [", i);
    if (input >= 0 || output >= 0) nnv_text_add(t, "style=filled fillcolor=black fontcolor=white ");
    nnv_text_addf(t, "label=\"%u", i);
    if (input >= 0) nnv_text_addf(t, " = input[%lld]", (long long)input);
    if (output >= 0) nnv_text_addf(t, " = output[%lld]", (long long)output);
    if (kinds[o->lifetime]) nnv_text_add(t, kinds[o->lifetime]);
    nnv_text_add(t, "\\n");
    add_type(t, o->type);
    add_value(t, o);
    for (uint32_t d = 0; d < o->rank; d++) nnv_text_addf(t, "%s%u", d ? "x" : "(", o->dims[d]);
    nnv_text_addf(t, "%s\"]\n", o->rank ? ")" : "");
}

static void add_operation(struct nnv_text *t, const struct nnv_operation *op, uint32_t k) {
    const struct nnv_op *record = nnv_op(op->type);
    nnv_text_addf(t, "  n%u [shape=box ordering=%s label=\"%u: ", k, op->nin >= op->nout && op->nin > 1 ? "in" : "out",
                  k);
    if (record)
        nnv_text_add(t, record->name);
    else if (nnv_rt_is_extension(op->type))
        nnv_text_addf(t, "extension %d operation %d", op->type >> 16, op->type & 0xffff);
    else
        nnv_text_add(t, "OEM_OPERATION");
    nnv_text_add(t, "\"]\n");
    for (uint32_t i = 0; i < op->nin; i++) {
        nnv_text_addf(t, "  d%u -> n%u", op->in[i], k);
        if (op->nin > 1) nnv_text_addf(t, " [label=%u]", i);
        nnv_text_add(t, "\n");
    }
    for (uint32_t i = 0; i < op->nout; i++) {
        nnv_text_addf(t, "  n%u -> d%u", k, op->out[i]);
        if (op->nout > 1) nnv_text_addf(t, " [label=%u]", i);
        nnv_text_add(t, "\n");
    }
}

void nnv_rt_model_dot(const struct ANeuralNetworksModel *m, const char *name, struct nnv_text *out) {
    const struct nnv_subgraph *g = &m->building->graph;
    struct nnv_arena *arena = nnv_arena_new();
    int64_t *input = arena ? places(g, g->nin, g->in, arena) : NULL;
    int64_t *output = arena ? places(g, g->nout, g->out, arena) : NULL;
    nnv_text_addf(out, "// %s\ndigraph {\n", name);
    if (m->model.referenced_count)
        nnv_text_addf(out, "  // %u referenced subgraphs are not drawn\n", m->model.referenced_count);
    for (uint32_t i = 0; i < g->noperands && input && output; i++)
        add_operand(out, &g->operands[i], i, input[i], output[i]);
    for (uint32_t k = 0; k < g->noperations; k++) add_operation(out, &g->operations[k], k);
    nnv_text_add(out, "}\n");
    nnv_arena_free(arena);
}
