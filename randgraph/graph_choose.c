/* SPDX-License-Identifier: Apache-2.0 */
/** @file graph_choose.c What comes next in a graph that grows. */
#include "randgraph/graph_growth.h"

enum { PLANNED = 3 }; /* tries of what the plan says, before anything will do */

const struct nnv_graph_value *nnv_growth_value(struct nnv_growth *g) {
    const struct nnv_graph_value *best = NULL;
    for (int n = 0; n < 3; n++) {
        const struct nnv_graph_value *v = &g->value[g->live[nnv_rng_int(&g->rng, 0, (int64_t)g->nlive - 1)]];
        if (!best || v->reads < best->reads || (v->reads == best->reads && v->operand > best->operand)) best = v;
    }
    return best;
}

/* The profile, and what the graph is to show, allow the use. */
static bool is_wanted(const struct nnv_growth *g, const struct nnv_graph_use *use, bool first) {
    const uint32_t types = g->what->profile->types;
    if (first && types != 0 && !(types >> nnv_graph_use_type(use) & 1)) return false;
    if (first && g->wanted > 1 && !nnv_graph_tells(use->op, 0)) return false;
    return g->what->extents != NNV_EXTENTS_EMPTY || use->op->zero != NNV_ZERO_REFUSED;
}

/* Any use whose main operand may have this type (-1: any that the profile wants), preferred ones before others. */
static const struct nnv_graph_use *any_use(struct nnv_growth *g, int32_t type) {
    const struct nnv_graph_catalogue *c = g->catalogue;
    bool (*prefers)(const struct nnv_op *) = g->what->profile->prefers;
    bool choosy = prefers && nnv_rng_unit(&g->rng) < 0.6;
    const size_t first = type < 0 ? 0 : c->of_type[type], end = type < 0 ? c->count : c->of_type[type + 1];
    for (int n = 0; n < 400 && first < end; n++) {
        const struct nnv_graph_use *u = &c->use[nnv_rng_int(&g->rng, (int64_t)first, (int64_t)end - 1)];
        if (!is_wanted(g, u, type < 0)) continue;
        if (choosy && n < 300 && !prefers(u->op)) continue;
        return u;
    }
    return NULL;
}

static uint64_t common_divisor(uint64_t a, uint64_t b) {
    while (b) {
        const uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

void nnv_growth_begin(struct nnv_growth *g) {
    const struct nnv_graph_catalogue *c = g->catalogue;
    const struct nnv_graph_profile *p = g->what->profile;
    const uint64_t index = g->what->index;
    struct nnv_rng order = nnv_rng_make(g->what->seed, 0x9a7, 0);
    uint64_t stride = (nnv_rng_u64(&order) % c->count) | 1;
    while (common_divisor(c->count, stride) > 1) stride += 2;
    g->first = c->count;
    for (size_t n = 0; n < c->count && g->first == c->count; n++) {
        const size_t at = (index % c->count * stride + n) % c->count;
        if (is_wanted(g, &c->use[at], true) && (!p->prefers || index % 2 == 1 || p->prefers(c->use[at].op)))
            g->first = at;
    }
    if (g->first == c->count) return;
    const uint32_t length = g->wanted > 2 ? (uint32_t)g->wanted : 2;
    g->plan = nnv_graph_plan_make(c, g->what->seed ^ nnv_hash_str(p->name), index, g->first, stride, length);
}

const struct nnv_graph_use *nnv_growth_first(struct nnv_growth *g, int try) {
    const bool any = try >= 4 || g->redraw > NNV_GRAPH_REDRAWS / 2 || g->first == g->catalogue->count;
    return any ? any_use(g, -1) : &g->catalogue->use[g->first];
}

/* What the plan says to a value that nobody has read; NULL: nothing. */
static const struct nnv_graph_use *planned_use(struct nnv_growth *g, const struct nnv_graph_value *from) {
    const int32_t type = g->operand[from->operand].type;
    const struct nnv_graph_profile *p = g->what->profile;
    if (g->what->unplanned || from->reads > 0 || g->plan.catalogue == NULL) return NULL;
    const struct nnv_op *op = nnv_graph_plan_next(&g->plan, type, from->by);
    if (!op || (p->prefers && !p->prefers(op) && nnv_rng_unit(&g->rng) < 0.6)) return NULL;
    const struct nnv_graph_ring *ring = &g->catalogue->ring[type];
    const int number = nnv_graph_ring_number(ring, op);
    if (ring->first[number] == ring->end[number]) return NULL;
    const struct nnv_graph_use *u =
        &g->catalogue->use[nnv_rng_int(&g->rng, (int64_t)ring->first[number], (int64_t)ring->end[number] - 1)];
    return is_wanted(g, u, false) ? u : NULL;
}

const struct nnv_graph_use *nnv_growth_use(struct nnv_growth *g, const struct nnv_graph_value *from, int try) {
    const struct nnv_graph_use *u = try < PLANNED ? planned_use(g, from) : NULL;
    return u ? u : any_use(g, g->operand[from->operand].type);
}
