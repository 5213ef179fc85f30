/* SPDX-License-Identifier: Apache-2.0 */
/** @file choose.c What comes next in a graph that grows. */
#include "randgraph/graph/growth.h"

enum {
    PLANNED = 3, /* tries of what the plan says, before anything will do */
    SELDOM = 12, /* operations to one whose results do not tell of its inputs */
};

const struct nnv_graph_value *nnv_growth_value(struct nnv_growth *g) {
    const struct nnv_graph_value *best = NULL;
    for (int n = 0; n < 3; n++) {
        const struct nnv_graph_value *v = &g->value[g->live[nnv_rng_int(&g->rng, 0, (int64_t)g->nlive - 1)]];
        /* few operations read booleans: what they can show is soon seen */
        const bool few = g->operand[v->operand].type == ANEURALNETWORKS_TENSOR_BOOL8;
        if (few && best && !g->what->unplanned && nnv_rng_unit(&g->rng) < 0.7) continue;
        if (!best || v->reads < best->reads || (v->reads == best->reads && v->operand > best->operand)) best = v;
    }
    return best;
}

/* The profile, and what the graph is to show, allow the use. */
static bool is_wanted(const struct nnv_growth *g, const struct nnv_graph_use *use, bool first) {
    const uint32_t types = g->what->profile->types;
    if (first && types != 0 && !(types >> nnv_graph_use_type(use) & 1)) return false;
    if (!nnv_graph_tells(use->op, 0) && (first ? g->wanted > 1 : g->mute * SELDOM > g->noperations)) return false;
    if (first && g->wanted > 1 && g->what->extents == NNV_EXTENTS_EMPTY && !nnv_graph_feeds(use->op)) return false;
    return g->what->extents != NNV_EXTENTS_EMPTY || use->op->zero != NNV_ZERO_REFUSED;
}

/* The main operand can have the rank; 0: any. */
static bool has_rank(const struct nnv_growth *g, const struct nnv_graph_use *use, uint32_t rank) {
    return rank == 0 || nnv_graph_use_ranks(g->catalogue, (size_t)(use - g->catalogue->use)) >> rank & 1;
}

/* Any use whose main operand may have this type (-1: any that the profile wants) and rank (0: any), preferred ones
 * before others. */
static const struct nnv_graph_use *any_use(struct nnv_growth *g, int32_t type, uint32_t rank) {
    const struct nnv_graph_catalogue *c = g->catalogue;
    bool (*prefers)(const struct nnv_op *) = g->what->profile->prefers;
    bool choosy = prefers && nnv_rng_unit(&g->rng) < 0.6;
    const size_t first = type < 0 ? 0 : c->of_type[type], end = type < 0 ? c->count : c->of_type[type + 1];
    for (int n = 0; n < 400 && first < end; n++) {
        const struct nnv_graph_use *u = &c->use[nnv_rng_int(&g->rng, (int64_t)first, (int64_t)end - 1)];
        if (!is_wanted(g, u, type < 0) || !has_rank(g, u, rank)) continue;
        if (choosy && n < 300 && !prefers(u->op)) continue;
        return u;
    }
    return NULL;
}

/* A use of the operation for a value of this type and rank; NULL: none. */
static const struct nnv_graph_use *use_of(struct nnv_growth *g, int32_t type, uint32_t number, uint32_t rank) {
    const struct nnv_graph_ring *ring = &g->catalogue->ring[type];
    const uint32_t uses = ring->end[number] - ring->first[number];
    if (uses == 0) return NULL;
    const uint32_t start = (uint32_t)nnv_rng_int(&g->rng, 0, (int64_t)uses - 1);
    for (uint32_t i = 0; i < uses && i < 16; i++) {
        const struct nnv_graph_use *u = &g->catalogue->use[ring->first[number] + (start + i) % uses];
        if (is_wanted(g, u, false) && has_rank(g, u, rank)) return u;
    }
    return NULL;
}

/* A use of any operation that reads the type, each as likely. */
static const struct nnv_graph_use *any_operation(struct nnv_growth *g, int32_t type, uint32_t rank) {
    const struct nnv_graph_ring *ring = &g->catalogue->ring[type];
    for (int n = 0; n < 200 && ring->used > 0; n++) {
        const uint32_t number = (uint32_t)nnv_rng_int(&g->rng, 0, (int64_t)ring->used - 1);
        const struct nnv_graph_use *u = use_of(g, type, number, rank);
        if (u) return u;
    }
    return NULL;
}

/* A walk over the n things that there are takes steps of this many: it comes to all of them. */
static uint64_t stride_of(uint64_t seed, size_t n) {
    struct nnv_rng order = nnv_rng_make(seed, 0x9a7, n);
    return nnv_graph_stride(&order, n);
}

void nnv_growth_begin(struct nnv_growth *g) {
    enum { FAR = 7919 }; /* what may not begin is passed over by a leap: else what stands behind it would begin often */
    const struct nnv_graph_catalogue *c = g->catalogue;
    const struct nnv_graph_profile *p = g->what->profile;
    const uint64_t index = g->what->index, stride = stride_of(g->what->seed, c->count);
    const bool preferred = p->prefers && index % 2 == 0;
    g->first = c->count;
    for (uint64_t n = 0; n < c->count && g->first == c->count; n++) {
        const size_t at = (size_t)((index + n * FAR) % c->count * stride % c->count);
        if (is_wanted(g, &c->use[at], true) && (!preferred || p->prefers(c->use[at].op))) g->first = at;
    }
    g->plan = (struct nnv_graph_plan){.key = g->what->seed ^ nnv_hash_str(p->name),
                                      .index = index,
                                      .length = (uint32_t)(g->what->operations > 0 ? g->wanted : p->most)};
}

const struct nnv_graph_use *nnv_growth_first(struct nnv_growth *g, int try) {
    const bool any = try >= 12 || g->redraw > NNV_GRAPH_REDRAWS / 2 || g->first == g->catalogue->count;
    return any ? any_use(g, -1, 0) : &g->catalogue->use[g->first];
}

/* What the plan says; NULL: nothing. */
static const struct nnv_graph_use *planned_use(struct nnv_growth *g, const struct nnv_graph_value *from) {
    const int32_t type = g->operand[from->operand].type;
    const struct nnv_graph_profile *p = g->what->profile;
    const int number = nnv_graph_plan_next(&g->plan, g->catalogue, type, g->noperations);
    if (number < 0) return NULL;
    const struct nnv_op *op = g->catalogue->ring[type].op[number];
    if (p->prefers && !p->prefers(op) && nnv_rng_unit(&g->rng) < 0.6) return NULL;
    return use_of(g, type, (uint32_t)number, from->value.rank);
}

const struct nnv_graph_use *nnv_growth_use(struct nnv_growth *g, const struct nnv_graph_value *from, int try) {
    const int32_t type = g->operand[from->operand].type;
    const struct nnv_graph_use *u = try < PLANNED && !g->what->unplanned ? planned_use(g, from) : NULL;
    if (u) return u;
    const bool by_use = g->what->unplanned || g->what->profile->prefers || try % 2 == 1;
    return by_use ? any_use(g, type, from->value.rank) : any_operation(g, type, from->value.rank);
}
