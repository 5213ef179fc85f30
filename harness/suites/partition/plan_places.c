/* SPDX-License-Identifier: Apache-2.0 */
/** @file plan_places.c Where the values of a plan are: by kind, and apart from each other while they live. */
#include "harness/suites/partition/plan_check.h"

/* From the step that writes a value to the last one that reads it. */
struct life {
    bool written, crosses;
    uint32_t from, to;
};

/* A part of a graph's pool, while it is needed. */
struct claim {
    uint64_t offset, bytes;
    uint32_t from, to;
    const char *what;
    uint32_t operand;
};

struct place_walk {
    struct nnv_plan_checking *c;
    uint32_t index;
    const struct nnv_rt_graph *graph;
    const struct nnvts_subgraph *s;
    const struct nnv_rt_graph_info *info;
    struct life *life;
    struct claim *claims;
    uint32_t nclaims;
};

static void find_lives(struct place_walk *w) {
    for (uint32_t i = 0; i < w->graph->step_count; i++) {
        const struct nnv_rt_step *step = &w->graph->steps[i];
        for (uint32_t k = 0; k < step->operation_count; k++) {
            const struct nnvts_operation *op = &w->s->operations[step->operations[k]];
            for (uint32_t n = 0; n < op->output_count; n++)
                w->life[op->outputs[n]] = (struct life){true, step->kind != NNV_RT_EXECUTE, i, i};
        }
    }
    for (uint32_t i = 0; i < w->graph->step_count; i++) {
        const struct nnv_rt_step *step = &w->graph->steps[i];
        for (uint32_t k = 0; k < step->operation_count; k++) {
            const struct nnvts_operation *op = &w->s->operations[step->operations[k]];
            for (uint32_t n = 0; n < op->input_count; n++) {
                struct life *l = &w->life[op->inputs[n]];
                if (l->written && i > l->to) l->to = i;
                if (l->written && i != l->from) l->crosses = true;
            }
        }
    }
}

static void claim(struct place_walk *w, const struct nnv_rt_place *p, const char *what, uint32_t operand, uint32_t from,
                  uint32_t to) {
    if (p->kind != NNV_RT_TEMPORARY) return;
    if (p->offset > w->graph->pool_bytes || p->bytes > w->graph->pool_bytes - p->offset)
        nnv_plan_broken(w->c, "graph %u: %s of operand %u ends behind the pool of %llu bytes", w->index, what, operand,
                        (unsigned long long)w->graph->pool_bytes);
    w->claims[w->nclaims++] = (struct claim){p->offset, p->bytes, from, to, what, operand};
}

static enum nnv_rt_place_kind due_kind(const struct place_walk *w, uint32_t i) {
    const struct nnvts_operand *o = &w->s->operands[i];
    switch (o->lifetime) {
    case NNVTS_SUBGRAPH_INPUT:
        return NNV_RT_INPUT;
    case NNVTS_SUBGRAPH_OUTPUT:
        return NNV_RT_OUTPUT;
    case NNVTS_CONSTANT_COPY:
    case NNVTS_CONSTANT_REFERENCE:
        return NNV_RT_CONSTANT;
    case NNVTS_TEMPORARY_VARIABLE:
        if (!w->life[i].crosses) return NNV_RT_NOWHERE;
        return w->info->known[i] ? NNV_RT_TEMPORARY : NNV_RT_DYNAMIC;
    default:
        return NNV_RT_NOWHERE;
    }
}

static void check_place(struct place_walk *w, uint32_t i) {
    static const char *const names[] = {"nowhere", "an input", "an output", "a constant", "a temporary", "dynamic"};
    const struct nnv_rt_place *p = &w->graph->places[i];
    const struct nnvts_operand *o = &w->s->operands[i];
    const enum nnv_rt_place_kind due = due_kind(w, i);
    if (p->kind != due) {
        nnv_plan_broken(w->c, "graph %u: operand %u is %s, it has to be %s", w->index, i,
                        (unsigned)p->kind <= NNV_RT_DYNAMIC ? names[p->kind] : "lost", names[due]);
        return;
    }
    if ((due == NNV_RT_INPUT && (p->index >= w->s->input_count || w->s->inputs[p->index] != i)) ||
        (due == NNV_RT_OUTPUT && (p->index >= w->s->output_count || w->s->outputs[p->index] != i)))
        nnv_plan_broken(w->c, "graph %u: operand %u is not the graph's %s %u", w->index, i,
                        due == NNV_RT_INPUT ? "input" : "output", p->index);
    if (due == NNV_RT_TEMPORARY && p->bytes < w->info->bytes[i])
        nnv_plan_broken(w->c, "graph %u: operand %u has %llu bytes, its value %llu", w->index, i,
                        (unsigned long long)p->bytes, (unsigned long long)w->info->bytes[i]);
    if (due == NNV_RT_DYNAMIC && p->index >= w->graph->dynamic_count)
        nnv_plan_broken(w->c, "graph %u: operand %u is dynamic value %u of %u", w->index, i, p->index,
                        w->graph->dynamic_count);
    (void)o;
    claim(w, p, "the value", i, w->life[i].from, w->life[i].to);
}

/* What a WHILE passes between condition and body needs a place while it runs. */
static uint32_t carried_count(const struct place_walk *w, const struct nnv_rt_step *step) {
    return step->kind == NNV_RT_WHILE ? nnv_rt_graph_at(w->c->plan->model, step->graphs[1])->output_count : 0;
}

static void claim_carried(struct place_walk *w, uint32_t index) {
    const struct nnv_rt_step *step = &w->graph->steps[index];
    if (step->kind != NNV_RT_WHILE) return;
    claim(w, &step->verdict, "the condition's output", step->operations[0], index, index);
    for (uint32_t i = 0; i < carried_count(w, step); i++)
        for (int k = 0; k < 2; k++) claim(w, &step->carried[k][i], "what a WHILE carries", i, index, index);
}

static void check_overlaps(const struct place_walk *w) {
    for (uint32_t i = 0; i < w->nclaims; i++)
        for (uint32_t k = 0; k < i; k++) {
            const struct claim *a = &w->claims[i], *b = &w->claims[k];
            if (a->to < b->from || b->to < a->from) continue;
            if (a->offset < b->offset + b->bytes && b->offset < a->offset + a->bytes)
                nnv_plan_broken(w->c,
                                "graph %u: %s of operand %u and %s of operand %u share memory while both are needed",
                                w->index, a->what, a->operand, b->what, b->operand);
        }
}

/* Two dynamic values are never one. */
static void check_dynamic(const struct place_walk *w) {
    bool *taken = NNV_NEW(w->c->arena, bool, w->graph->dynamic_count);
    for (uint32_t i = 0; taken && i < w->s->operand_count; i++) {
        const struct nnv_rt_place *p = &w->graph->places[i];
        if (p->kind != NNV_RT_DYNAMIC || p->index >= w->graph->dynamic_count) continue;
        if (taken[p->index])
            nnv_plan_broken(w->c, "graph %u: dynamic value %u is two operands, one of them %u", w->index, p->index, i);
        taken[p->index] = true;
    }
}

void nnv_plan_check_places(struct nnv_plan_checking *c, uint32_t graph) {
    struct place_walk w = {.c = c,
                           .index = graph,
                           .graph = &c->plan->graphs[graph],
                           .s = nnv_rt_graph_at(c->plan->model, graph),
                           .info = &c->plan->model->info[graph]};
    size_t room = w.s->operand_count;
    for (uint32_t i = 0; i < w.graph->step_count; i++) room += 1 + 2 * (size_t)carried_count(&w, &w.graph->steps[i]);
    w.life = NNV_NEW(c->arena, struct life, w.s->operand_count);
    w.claims = NNV_NEW(c->arena, struct claim, room);
    if (!w.life || !w.claims) {
        nnv_plan_broken(c, NNV_OUT_OF_MEMORY);
        return;
    }
    find_lives(&w);
    for (uint32_t i = 0; i < w.s->operand_count; i++) check_place(&w, i);
    for (uint32_t i = 0; i < w.graph->step_count; i++) claim_carried(&w, i);
    check_overlaps(&w);
    check_dynamic(&w);
}
