/* SPDX-License-Identifier: Apache-2.0 */
/** @file model_finish.c Finishing a model: constants, run order, rules, and what drivers are to see of it. */
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "reference/model/validate.h"
#include "reference/runtime/api/model/building.h"
#include "reference/runtime/device.h"
#include "reference/runtime/log.h"
#include "reference/runtime/plan/pack.h"

enum {
    OK = ANEURALNETWORKS_NO_ERROR,
    BAD = ANEURALNETWORKS_BAD_DATA,
    NO_MEMORY = ANEURALNETWORKS_OUT_OF_MEMORY,
    CONSTANT_ALIGNMENT = 64,
};
static const char function[] = "Model_finish";

/* ------------------------------------------------------------------ constants */

static int place_constants(struct ANeuralNetworksModel *m) {
    struct nnv_rt_building *b = m->building;
    size_t total = 0;
    for (uint32_t i = 0; i < b->graph.noperands; i++)
        if (b->extra[i].pending)
            total += (b->graph.operands[i].bytes + CONSTANT_ALIGNMENT - 1) / CONSTANT_ALIGNMENT * CONSTANT_ALIGNMENT;
    if (total == 0) return OK;
    if (total > UINT32_MAX)
        return nnv_rt_error(NO_MEMORY, function,
                            "constants of %zu bytes are too many for one memory; use Model_setOperandValueFromMemory",
                            total);
    b->constants = nnv_rt_memory_shared(total);
    if (!b->constants) return NO_MEMORY;
    uint8_t *to = b->constants->memory.data;
    size_t at = 0;
    for (uint32_t i = 0; i < b->graph.noperands; i++) {
        struct nnv_operand *o = &b->graph.operands[i];
        struct nnv_rt_extra *e = &b->extra[i];
        if (!e->pending) continue;
        o->data = memcpy(to + at, e->pending, o->bytes);
        e->pending = NULL;
        e->memory = b->constants;
        e->offset = at;
        at += (o->bytes + CONSTANT_ALIGNMENT - 1) / CONSTANT_ALIGNMENT * CONSTANT_ALIGNMENT;
    }
    b->constants->memory.prot = NNVTS_PROT_READ;
    return OK;
}

/* ----------------------------------------------------------------- references */

static int collect_references(struct ANeuralNetworksModel *m) {
    struct nnv_rt_building *b = m->building;
    struct nnv_id_map set = {0};
    int result = OK;
    for (uint32_t i = 0; i < b->graph.noperands && !result; i++) {
        const struct ANeuralNetworksModel *value = b->extra[i].value;
        if (b->graph.operands[i].lifetime != NNV_SUBGRAPH) continue;
        const uint32_t known = set.count;
        b->graph.operands[i].subgraph = nnv_id_add(&set, nnv_id(value));
        bool ok = b->graph.operands[i].subgraph != NNV_MAP_NONE;
        if (ok && set.count > known) {
            set.item[known].value = (void *)(uintptr_t)value;
            for (uint32_t k = 0; ok && k < value->building->ref_count; k++)
                ok = nnv_id_put(&set, nnv_id(value->building->refs[k]), (void *)(uintptr_t)value->building->refs[k]);
        }
        if (b->depth < value->building->depth + 1) b->depth = value->building->depth + 1;
        m->has_extension = m->has_extension || value->has_extension;
        m->has_oem = m->has_oem || value->has_oem;
        if (!ok) result = NO_MEMORY;
    }
    b->ref_count = set.count;
    const struct ANeuralNetworksModel **refs = NNV_NEW(m->arena, const struct ANeuralNetworksModel *, set.count);
    for (uint32_t i = 0; refs && i < set.count; i++) refs[i] = set.item[i].value;
    b->refs = refs;
    nnv_id_free(&set);
    return refs ? result : NO_MEMORY;
}

/* ------------------------------------------------------------------- run order */

static bool is_computed(const struct nnv_operand *o) {
    return o->lifetime == NNV_TEMPORARY_VARIABLE || o->lifetime == NNV_SUBGRAPH_OUTPUT;
}

#define NOBODY UINT32_MAX /* no operation */

/* Who writes each operand; every result is written once, and nothing else is written. */
static int find_writers(const struct nnv_subgraph *g, uint32_t *writer) {
    for (uint32_t i = 0; i < g->noperands; i++) writer[i] = NOBODY;
    for (uint32_t k = 0; k < g->noperations; k++)
        for (uint32_t i = 0; i < g->operations[k].nout; i++) {
            uint32_t o = g->operations[k].out[i];
            if (!is_computed(&g->operands[o]))
                return nnv_rt_error(BAD, function, "operation %u writes operand %u, which is %s", k, o,
                                    nnv_lifetime_name(g->operands[o].lifetime));
            if (writer[o] != NOBODY)
                return nnv_rt_error(BAD, function, "operand %u is written by the operations %u and %u", o, writer[o],
                                    k);
            writer[o] = k;
        }
    for (uint32_t i = 0; i < g->noperands; i++)
        if (writer[i] == NOBODY && is_computed(&g->operands[i]))
            return nnv_rt_error(BAD, function, "operand %u is %s, but no operation writes it", i,
                                nnv_lifetime_name(g->operands[i].lifetime));
    return OK;
}

/* A walk from each operation to those whose results it reads, these first. */
struct sorting {
    const struct nnv_subgraph *g;
    const uint32_t *writer;
    uint32_t *next;  /* of each operation: the input to be looked at next, counted from 1; 0: not begun, DONE */
    uint32_t *stack; /* operations that wait for another */
    uint32_t depth;
    uint32_t *order; /* the result */
    uint32_t count;
};
#define DONE UINT32_MAX /* of sorting.next */

/* The operation whose result the topmost one still lacks; NOBODY: none. */
static int missing(struct sorting *s, uint32_t *producer) {
    uint32_t k = s->stack[s->depth - 1];
    const struct nnv_operation *op = &s->g->operations[k];
    *producer = NOBODY;
    for (; *producer == NOBODY && s->next[k] <= op->nin; s->next[k]++) {
        uint32_t o = op->in[s->next[k] - 1];
        if (!is_computed(&s->g->operands[o])) continue;
        if (s->next[s->writer[o]] == DONE) continue;
        if (s->next[s->writer[o]])
            return nnv_rt_error(BAD, function, "operation %u reads operand %u, which depends on its own result", k, o);
        *producer = s->writer[o];
    }
    return OK;
}

static int visit(struct sorting *s, uint32_t first) {
    if (s->next[first] == DONE) return OK;
    s->stack[s->depth++] = first;
    s->next[first] = 1;
    while (s->depth) {
        uint32_t producer;
        int result = missing(s, &producer);
        if (result) return result;
        if (producer != NOBODY) {
            s->next[producer] = 1;
            s->stack[s->depth++] = producer;
        } else {
            uint32_t k = s->stack[--s->depth];
            s->next[k] = DONE;
            s->order[s->count++] = k;
        }
    }
    return OK;
}

static int sort(struct ANeuralNetworksModel *m, uint32_t **added) {
    struct nnv_rt_building *b = m->building;
    const struct nnv_subgraph *g = &b->graph;
    uint32_t n = g->noperations;
    struct sorting s = {.g = g, .next = NNV_NEW(b->scratch, uint32_t, n), .stack = NNV_NEW(b->scratch, uint32_t, n)};
    uint32_t *writer = NNV_NEW(b->scratch, uint32_t, g->noperands);
    struct nnv_operation *old = nnv_arena_copy(b->scratch, g->operations, n * sizeof *old);
    s.writer = writer;
    s.order = NNV_NEW(m->arena, uint32_t, n);
    if (!s.next || !s.stack || !writer || !old || !s.order) return NO_MEMORY;
    int result = find_writers(g, writer);
    for (uint32_t k = 0; k < n && !result; k++) result = visit(&s, k);
    if (!result)
        for (uint32_t k = 0; k < n; k++) b->graph.operations[k] = old[s.order[k]];
    *added = s.order;
    nnv_arena_reset(b->scratch);
    return result;
}

/* -------------------------------------------------------------------- finish */

/* What identifyInputsAndOutputs said still holds. */
static int check_lists(const struct nnv_subgraph *g) {
    for (uint32_t i = 0; i < g->nin; i++)
        if (g->operands[g->in[i]].lifetime != NNV_SUBGRAPH_INPUT)
            return nnv_rt_error(BAD, function, "operand %u is an input of the model, but also %s", g->in[i],
                                nnv_lifetime_name(g->operands[g->in[i]].lifetime));
    for (uint32_t i = 0; i < g->nout; i++)
        if (g->operands[g->out[i]].lifetime != NNV_SUBGRAPH_OUTPUT)
            return nnv_rt_error(BAD, function, "operand %u is an output of the model, but also %s", g->out[i],
                                nnv_lifetime_name(g->operands[g->out[i]].lifetime));
    if (g->noperations == 0) return nnv_rt_error(BAD, function, "the model has no operations");
    return OK;
}

static void dump(const struct ANeuralNetworksModel *m) {
    if (!(nnv_rt_vlog_mask() & 1u << NNV_RT_LOG_MODEL)) return;
    struct nnv_text dot = {0};
    nnv_rt_model_dot(m, "model", &dot);
    char *line, *rest = dot.data;
    while (rest && (line = strsep(&rest, "\n")) != NULL)
        if (*line) nnv_rt_vlog_write(NNV_RT_LOG_MODEL, "%s", line);
    nnv_text_free(&dot);
}

static int finish(struct ANeuralNetworksModel *m) {
    uint32_t *added = NULL;
    int32_t *levels = NULL;
    int result = check_lists(&m->building->graph);
    if (!result) result = place_constants(m);
    if (!result) result = collect_references(m);
    if (!result) result = sort(m, &added);
    if (!result) result = nnv_rt_validate(m, &levels);
    if (!result) result = nnv_rt_export(m, added, levels);
    if (!result && m->level > nnv_rt_level())
        return nnv_rt_error(ANEURALNETWORKS_BAD_DATA, function, "the model is of feature level %d, the library of %d",
                            m->level, nnv_rt_level());
    return result;
}

int ANeuralNetworksModel_finish(ANeuralNetworksModel *model) {
    if (!model) return nnv_rt_error(ANEURALNETWORKS_UNEXPECTED_NULL, function, "model is NULL");
    if (model->state != NNV_RT_MODEL_BUILDING)
        return nnv_rt_error(ANEURALNETWORKS_BAD_STATE, function, "the model has been finished before");
    uint64_t since = nnv_rt_trace_begin();
    int result = finish(model);
    model->state = result ? NNV_RT_MODEL_INVALID : NNV_RT_MODEL_FINISHED;
    if (!result) dump(model);
    nnv_rt_trace_end(since, NNV_RT_TRACE_RUNTIME, "preparation", "Model_finish");
    return result;
}
