/* SPDX-License-Identifier: Apache-2.0 */
#include "randgraph/graph/growth.h"

#include <math.h>
#include <string.h>

/** Makes room for n more entries of size bytes behind count; false: out of memory. */
static bool growth_room(struct nnv_arena *arena, void *array, uint32_t count, uint32_t n, uint32_t *room, size_t size) {
    void **at = array;
    if (count + n <= *room) return true;
    uint32_t more = *room * 2 > count + n ? *room * 2 : count + n + 16;
    void *larger = nnv_arena_alloc(arena, more, size);
    if (!larger) return false;
    if (count) memcpy(larger, *at, count * size);
    *at = larger;
    *room = more;
    return true;
}

static bool keep_bytes(struct nnv_growth *g, struct nnv_operand *o) {
    o->dims = nnv_arena_copy(g->arena, o->dims, o->rank * sizeof *o->dims);
    if (!o->dims) return false;
    if (o->channel.count)
        o->channel.scales = nnv_arena_copy(g->arena, o->channel.scales, o->channel.count * sizeof *o->channel.scales);
    if (o->data) o->data = nnv_arena_copy(g->arena, o->data, o->bytes);
    return (!o->channel.count || o->channel.scales) && (o->data || !nnv_is_constant(o));
}

/* Deep copies of the step's referenced subgraphs, their own references counted on. */
static bool keep_subgraphs(struct nnv_growth *g, const struct nnv_model *m, uint32_t base) {
    if (!growth_room(g->arena, &g->referenced, g->nreferenced, m->nreferenced, &g->referenced_room,
                     sizeof *g->referenced))
        return false;
    for (uint32_t i = 0; i < m->nreferenced; i++) {
        struct nnv_subgraph s = m->referenced[i];
        s.operands = nnv_arena_copy(g->arena, s.operands, s.noperands * sizeof *s.operands);
        s.operations = nnv_arena_copy(g->arena, s.operations, s.noperations * sizeof *s.operations);
        s.in = nnv_arena_copy(g->arena, s.in, s.nin * sizeof *s.in);
        s.out = nnv_arena_copy(g->arena, s.out, s.nout * sizeof *s.out);
        if (!s.operands || !s.operations || !s.in || !s.out) return false;
        for (uint32_t k = 0; k < s.noperands; k++) {
            if (s.operands[k].lifetime == NNV_SUBGRAPH) s.operands[k].subgraph += base;
            if (!keep_bytes(g, &s.operands[k])) return false;
        }
        for (uint32_t k = 0; k < s.noperations; k++) {
            struct nnv_operation *o = &s.operations[k];
            o->in = nnv_arena_copy(g->arena, o->in, o->nin * sizeof *o->in);
            o->out = nnv_arena_copy(g->arena, o->out, o->nout * sizeof *o->out);
            if (!o->in || !o->out) return false;
        }
        g->referenced[g->nreferenced++] = s;
    }
    return true;
}

static bool keep_value(struct nnv_growth *g, const struct nnv_value *from, struct nnv_value *to) {
    *to = *from;
    to->data = nnv_arena_copy(g->arena, from->data, from->bytes);
    return to->data != NULL;
}

/* A result: its shape is the real one, its value is kept. */
static bool keep_output(struct nnv_growth *g, const struct nnv_graph_step *s, uint32_t i) {
    const int32_t code = s->draft.op->type;
    const struct nnv_operand *drawn = &s->draft.spec->model.main.operands[s->draft.op->out[i]];
    const struct nnv_value *value = &s->golden[i].value;
    const struct nnv_op *op = nnv_op(code);
    struct nnv_graph_value *v = &g->value[g->noperands];
    struct nnv_operand *o = &g->operand[g->noperands];
    *o = *drawn;
    o->lifetime = NNV_TEMPORARY_VARIABLE;
    if (!nnv_growth_declares(code)) o->rank = value->rank;
    o->dims =
        nnv_arena_copy(g->arena, nnv_growth_declares(code) ? drawn->dims : value->dims, o->rank * sizeof *o->dims);
    *v = (struct nnv_graph_value){.operand = g->noperands, .value = *value};
    v->value.data = nnv_arena_copy(g->arena, value->data, value->bytes);
    v->other = NNV_NEW(g->arena, struct nnv_value, g->nin);
    if (!o->dims || !v->value.data || !v->other) return false;
    for (uint32_t n = 0; n < g->nin; n++) {
        v->other[n] = s->other[n][i].value;
        v->other[n].data = nnv_arena_copy(g->arena, v->other[n].data, v->other[n].bytes);
        if (!v->other[n].data) return false;
    }
    if (s->empty && !keep_value(g, &s->empty[i].value, &v->empty)) return false;
    nnv_graph_range(o, &v->value, &v->lo, &v->hi);
    if (code == ANEURALNETWORKS_FILL) g->known = g->noperands;
    if (nnv_graph_feeds(op) && nnv_graph_tells(op, i) && !o->ignored && nnv_type(o->type)->tensor) {
        if (!growth_room(g->arena, &g->live, g->nlive, 1, &g->live_room, sizeof *g->live)) return false;
        g->live[g->nlive++] = g->noperands;
    }
    g->noperands++;
    return true;
}

/* An input that other operations may read, too: it is the only one. */
static bool keep_fan_out(struct nnv_growth *g, const struct nnv_operand *o, const struct nnv_value *value) {
    struct nnv_graph_value *v = &g->value[g->noperands];
    *v = (struct nnv_graph_value){
        .operand = g->noperands, .value = *value, .other = NNV_NEW(g->arena, struct nnv_value, 1)};
    nnv_graph_range(o, value, &v->lo, &v->hi);
    if (!v->other || !nnv_growth_perturb(o, value, g->arena, v->other) ||
        !growth_room(g->arena, &g->live, g->nlive, 1, &g->live_room, sizeof *g->live))
        return false;
    g->live[g->nlive++] = g->noperands;
    return true;
}

static bool keep_input(struct nnv_growth *g, struct nnv_graph_draft *d, uint32_t operand) {
    struct nnv_operand o = d->spec->model.main.operands[operand];
    if (!keep_bytes(g, &o)) return false;
    if (o.lifetime == NNV_SUBGRAPH) o.subgraph += g->nreferenced;
    if (o.lifetime == NNV_SUBGRAPH_INPUT) {
        const struct nnv_subgraph *m = &d->spec->model.main;
        for (uint32_t i = 0; i < m->nin; i++) {
            if (m->in[i] != operand) continue;
            g->in[g->nin] = g->noperands;
            g->inputs[g->nin] = d->spec->inputs[i];
            void *data = nnv_arena_copy(g->arena, d->spec->inputs[i].data, d->spec->inputs[i].bytes);
            if (!data) return false;
            g->inputs[g->nin].data = data;
            if (nnv_growth_from_input(g, d->op->type) && !keep_fan_out(g, &o, &g->inputs[g->nin])) return false;
            g->nin++;
        }
    }
    g->operand[g->noperands++] = o;
    return true;
}

enum nnv_status nnv_growth_keep(struct nnv_growth *g, struct nnv_graph_step *s, struct nnv_err *err) {
    struct nnv_graph_draft *d = &s->draft;
    const struct nnv_subgraph *m = &d->spec->model.main;
    const uint32_t values_room = g->operand_room;
    uint32_t *map = NNV_NEW(g->step, uint32_t, m->noperands);
    struct nnv_operation op = *d->op;
    op.in = NNV_NEW(g->arena, uint32_t, op.nin);
    op.out = NNV_NEW(g->arena, uint32_t, op.nout);
    if (!map || !op.in || !op.out ||
        !growth_room(g->arena, &g->operand, g->noperands, m->noperands, &g->operand_room, sizeof *g->operand) ||
        !growth_room(g->arena, &g->operation, g->noperations, 1, &g->operation_room, sizeof *g->operation))
        return nnv_no_memory(err);
    uint32_t room = values_room;
    if (!growth_room(g->arena, &g->value, g->noperands, g->operand_room - g->noperands, &room, sizeof *g->value))
        return nnv_no_memory(err);
    memset(map, 0xff, m->noperands * sizeof *map);
    for (uint32_t i = 0; i < op.nin; i++) {
        const uint32_t operand = d->op->in[i];
        const struct nnv_graph_value *from = d->from[operand];
        if (from && map[operand] == UINT32_MAX) {
            map[operand] = from->operand;
            g->value[from->operand].reads += nnv_graph_tells(nnv_op(op.type), 0);
        }
        if (map[operand] == UINT32_MAX) {
            map[operand] = g->noperands;
            if (!keep_input(g, d, operand)) return nnv_no_memory(err);
        }
        op.in[i] = map[operand];
    }
    for (uint32_t i = 0; i < op.nout; i++) {
        op.out[i] = g->noperands;
        if (!keep_output(g, s, i)) return nnv_no_memory(err);
    }
    g->mute += !nnv_graph_tells(nnv_op(op.type), 0);
    g->operation[g->noperations++] = op;
    if (g->noperations == 1 && g->empty) {
        g->empty = nnv_arena_copy(g->arena, g->empty, g->nin * sizeof *g->empty);
        if (!g->empty) return nnv_no_memory(err);
        for (uint32_t i = 0; i < g->nin; i++)
            if (!keep_value(g, &g->empty[i], &g->empty[i])) return nnv_no_memory(err);
    }
    return keep_subgraphs(g, &d->spec->model, g->nreferenced) ? NNV_OK : nnv_no_memory(err);
}
