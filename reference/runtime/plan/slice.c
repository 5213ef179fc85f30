/* SPDX-License-Identifier: Apache-2.0 */
#include "reference/runtime/plan/slice.h"

#include <string.h>

#include "reference/runtime/plan/pack.h"

enum { OK = ANEURALNETWORKS_NO_ERROR, NO_MEMORY = ANEURALNETWORKS_OUT_OF_MEMORY };

/* What the slice that is being made has found out of an operand; of an older slice where `slice` differs. */
struct seen {
    uint64_t slice;
    uint32_t number; /* in the slice */
    uint32_t reads;  /* by operations of the slice */
    bool written;    /* by one of them */
};

struct nnv_rt_slicer {
    const struct nnvts_model *model;
    const struct nnvts_subgraph *graph;
    uint32_t *reads;   /* one an operand: by all operations */
    bool *is_output;   /* one an operand: of the graph */
    struct seen *seen; /* one an operand */
    uint64_t slices;   /* made so far */
    uint32_t *from;    /* one an operand of the slice: the graph's */
    uint32_t count;    /* of them */
};

struct nnv_rt_slicer *nnv_rt_slicer_new(const struct ANeuralNetworksModel *model, uint32_t graph,
                                        struct nnv_arena *arena) {
    const struct nnvts_subgraph *g = nnv_rt_graph_at(model, graph);
    struct nnv_rt_slicer *s = NNV_NEW(arena, struct nnv_rt_slicer, 1);
    if (!s) return NULL;
    *s = (struct nnv_rt_slicer){.model = &model->model, .graph = g};
    s->reads = NNV_NEW(arena, uint32_t, g->operand_count);
    s->is_output = NNV_NEW(arena, bool, g->operand_count);
    s->seen = NNV_NEW(arena, struct seen, g->operand_count);
    s->from = NNV_NEW(arena, uint32_t, g->operand_count);
    if (!s->reads || !s->is_output || !s->seen || !s->from) return NULL;
    for (uint32_t k = 0; k < g->operation_count; k++)
        for (uint32_t i = 0; i < g->operations[k].input_count; i++) s->reads[g->operations[k].inputs[i]]++;
    for (uint32_t i = 0; i < g->output_count; i++) s->is_output[g->outputs[i]] = true;
    return s;
}

/* -------------------------------------------------------------------- operands */

static struct seen *see(struct nnv_rt_slicer *s, uint32_t operand) {
    struct seen *seen = &s->seen[operand];
    if (seen->slice != s->slices) {
        *seen = (struct seen){.slice = s->slices, .number = s->count};
        s->from[s->count++] = operand;
    }
    return seen;
}

static bool is_variable(const struct nnvts_operand *o) {
    return o->lifetime == NNVTS_TEMPORARY_VARIABLE || o->lifetime == NNVTS_SUBGRAPH_INPUT ||
           o->lifetime == NNVTS_SUBGRAPH_OUTPUT;
}

static uint32_t lifetime_of(const struct nnv_rt_slicer *s, uint32_t operand) {
    const struct nnvts_operand *o = &s->graph->operands[operand];
    const struct seen *seen = &s->seen[operand];
    if (!is_variable(o)) return o->lifetime;
    if (!seen->written) return NNVTS_SUBGRAPH_INPUT;
    return s->is_output[operand] || seen->reads < s->reads[operand] ? NNVTS_SUBGRAPH_OUTPUT : NNVTS_TEMPORARY_VARIABLE;
}

/* Copies the operations with new numbers; in their order the operands are numbered. */
static int take_operations(struct nnv_rt_slicer *s, const uint32_t *operations, uint32_t count, struct nnv_arena *arena,
                           struct nnvts_subgraph *to) {
    struct nnvts_operation *list = NNV_NEW(arena, struct nnvts_operation, count);
    size_t indices = 0;
    for (uint32_t k = 0; k < count; k++) {
        const struct nnvts_operation *op = &s->graph->operations[operations[k]];
        indices += (size_t)op->input_count + op->output_count;
    }
    uint32_t *index = NNV_NEW(arena, uint32_t, indices);
    if (!list || !index) return NO_MEMORY;
    for (uint32_t k = 0; k < count; k++) {
        const struct nnvts_operation *op = &s->graph->operations[operations[k]];
        list[k] = *op;
        list[k].inputs = index;
        for (uint32_t i = 0; i < op->input_count; i++) {
            struct seen *seen = see(s, op->inputs[i]);
            seen->reads++;
            *index++ = seen->number;
        }
        list[k].outputs = index;
        for (uint32_t i = 0; i < op->output_count; i++) {
            struct seen *seen = see(s, op->outputs[i]);
            seen->written = true;
            *index++ = seen->number;
        }
    }
    to->operations = list;
    to->operation_count = count;
    return OK;
}

/* Inputs and outputs in the order in which the operations name them. */
static int take_lists(struct nnv_rt_slicer *s, struct nnv_arena *arena, struct nnv_rt_slice *out) {
    struct nnvts_subgraph *to = &out->model.main;
    const struct nnvts_operand *operands = to->operands;
    for (uint32_t i = 0; i < s->count; i++) {
        to->input_count += operands[i].lifetime == NNVTS_SUBGRAPH_INPUT;
        to->output_count += operands[i].lifetime == NNVTS_SUBGRAPH_OUTPUT;
    }
    uint32_t *inputs = NNV_NEW(arena, uint32_t, to->input_count), *in = inputs;
    uint32_t *outputs = NNV_NEW(arena, uint32_t, to->output_count), *o = outputs;
    uint32_t *from = out->inputs = NNV_NEW(arena, uint32_t, to->input_count);
    uint32_t *result = out->outputs = NNV_NEW(arena, uint32_t, to->output_count);
    if (!inputs || !outputs || !from || !result) return NO_MEMORY;
    for (uint32_t i = 0; i < s->count; i++) {
        if (operands[i].lifetime == NNVTS_SUBGRAPH_INPUT) {
            *in++ = i;
            *from++ = s->from[i];
        } else if (operands[i].lifetime == NNVTS_SUBGRAPH_OUTPUT) {
            *o++ = i;
            *result++ = s->from[i];
        }
    }
    to->inputs = inputs;
    to->outputs = outputs;
    return OK;
}

/* ------------------------------------------------------------- subgraphs below */

/* Constants, pools and subgraphs that the operands use, numbered in the order in which they are met. */
struct taking {
    const struct nnvts_model *from;
    struct nnv_rt_pack pack;
    struct nnv_id_map graphs; /* by their numbers in `from` */
};

static int take_values(struct taking *t, struct nnvts_operand *operands, uint32_t count) {
    int result = OK;
    for (uint32_t i = 0; i < count && !result; i++) {
        struct nnvts_operand *o = &operands[i];
        result = nnv_rt_pack_operand(&t->pack, t->from, o);
        if (o->lifetime != NNVTS_SUBGRAPH) continue;
        o->location.offset = nnv_id_add(&t->graphs, o->location.offset);
        if (o->location.offset == NNV_MAP_NONE) result = NO_MEMORY;
    }
    return result;
}

static int take_graphs(struct taking *t, struct nnv_arena *arena, struct nnvts_model *to) {
    int result = OK;
    struct nnvts_subgraph *list = NULL;
    uint32_t room = 0;
    for (uint32_t i = 0; i < t->graphs.count && !result; i++) { /* the set grows meanwhile */
        if (i == room) {
            struct nnvts_subgraph *longer = NNV_NEW(arena, struct nnvts_subgraph, room = room * 2 + t->graphs.count);
            if (longer && i) memcpy(longer, list, i * sizeof *list);
            if (!(list = longer)) return NO_MEMORY;
        }
        list[i] = t->from->referenced[t->graphs.item[i].key];
        struct nnvts_operand *operands =
            nnv_arena_copy(arena, list[i].operands, list[i].operand_count * sizeof *operands);
        if (!operands) return NO_MEMORY;
        result = take_values(t, operands, list[i].operand_count);
        list[i].operands = operands;
    }
    to->referenced = list;
    to->referenced_count = t->graphs.count;
    return result;
}

/* ------------------------------------------------------------------------ all */

static int take_all(struct nnv_rt_slicer *s, struct taking *t, struct nnv_arena *arena, struct nnv_rt_slice *out) {
    struct nnvts_operand *operands = NNV_NEW(arena, struct nnvts_operand, s->count);
    out->operands = nnv_arena_copy(arena, s->from, s->count * sizeof *s->from);
    if (!operands || !out->operands) return NO_MEMORY;
    for (uint32_t i = 0; i < s->count; i++) {
        operands[i] = s->graph->operands[s->from[i]];
        operands[i].lifetime = lifetime_of(s, s->from[i]);
    }
    out->model.main.operands = operands;
    out->model.main.operand_count = s->count;
    int result = take_lists(s, arena, out);
    if (!result) result = take_values(t, operands, s->count);
    if (!result) result = take_graphs(t, arena, &out->model);
    return result ? result : nnv_rt_pack_end(&t->pack, arena, &out->model);
}

int nnv_rt_slice_make(struct nnv_rt_slicer *slicer, const uint32_t *operations, uint32_t operation_count,
                      struct nnv_arena *arena, struct nnv_rt_slice *out) {
    struct taking t = {.from = slicer->model};
    *out = (struct nnv_rt_slice){.model = {.extension_count = slicer->model->extension_count,
                                           .extensions = slicer->model->extensions,
                                           .relax_float32_to_float16 = slicer->model->relax_float32_to_float16}};
    slicer->slices++;
    slicer->count = 0;
    int result = take_operations(slicer, operations, operation_count, arena, &out->model.main);
    if (!result) result = take_all(slicer, &t, arena, out);
    nnv_rt_pack_free(&t.pack);
    nnv_id_free(&t.graphs);
    return result;
}
