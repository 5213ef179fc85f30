/* SPDX-License-Identifier: Apache-2.0 */
#include "compiler/byoc/cost/cost_state.h"

#include <string.h>

enum { WENT_IN = 1, CAME_OUT = 2 };

/* ---------------------------------------------------------------------- schedule */

/* The last node that asks for each node and value. */
struct lasts {
    uint32_t *node, *value, *since; /* since: the first node behind which a value's flags mean something */
};

static bool find_lasts(const struct nnv_cost_problem *p, struct nnv_arena *arena, struct lasts *l) {
    l->node = NNV_NEW(arena, uint32_t, p->n);
    l->value = NNV_NEW(arena, uint32_t, p->n_values);
    l->since = NNV_NEW(arena, uint32_t, p->n_values);
    if (!l->node || !l->value || !l->since) return false;
    for (uint32_t i = 0; i < p->n; i++)
        for (uint32_t k = 0; k < p->nodes[i].count; k++) l->node[p->edges[p->nodes[i].first + k]] = i;
    for (uint32_t v = 0; v < p->n_values; v++) {
        const struct nnv_cost_value *value = &p->values[v];
        if (!value->n_users) continue;
        l->value[v] = value->users[value->n_users - 1];
        l->since[v] = value->producer == NNV_COST_OUTSIDE ? value->users[0] : value->producer;
        if (value->producer != NNV_COST_OUTSIDE && l->node[value->producer] < l->value[v])
            l->node[value->producer] = l->value[v];
    }
    return true;
}

/* The list of a layer: what was there and is still used, then what came with node i. */
static bool next_nodes(struct nnv_arena *arena, const struct lasts *l, const struct nnv_cost_layer *from, uint32_t i,
                       struct nnv_cost_layer *to) {
    if (!(to->nodes = NNV_NEW(arena, uint32_t, from->n_nodes + 1))) return false;
    for (uint32_t k = 0; k < from->n_nodes; k++)
        if (l->node[from->nodes[k]] > i) to->nodes[to->n_nodes++] = from->nodes[k];
    if (l->node[i] > i) to->nodes[to->n_nodes++] = i;
    return true;
}

static bool next_values(const struct nnv_cost_problem *p, struct nnv_arena *arena, const struct lasts *l,
                        const struct nnv_cost_layer *from, uint32_t i, struct nnv_cost_layer *to) {
    if (!(to->values = NNV_NEW(arena, uint32_t, from->n_values + p->n_makes[i] + p->n_uses[i]))) return false;
    for (uint32_t k = 0; k < from->n_values; k++)
        if (l->value[from->values[k]] > i) to->values[to->n_values++] = from->values[k];
    for (int made = 0; made < 2; made++)
        for (uint32_t k = 0; k < (made ? p->n_makes : p->n_uses)[i]; k++) {
            uint32_t v = (made ? p->makes : p->uses)[i][k];
            if (l->since[v] == i && l->value[v] > i) to->values[to->n_values++] = v;
        }
    return true;
}

bool nnv_cost_schedule(const struct nnv_cost_problem *p, struct nnv_arena *arena, struct nnv_cost_schedule *out) {
    struct lasts l;
    *out = (struct nnv_cost_schedule){.layers = NNV_NEW(arena, struct nnv_cost_layer, (size_t)p->n + 1)};
    out->place = NNV_NEW(arena, uint32_t, p->n);
    out->value_place = NNV_NEW(arena, uint32_t, p->n_values);
    if (!out->layers || !out->place || !out->value_place || !find_lasts(p, arena, &l)) return false;
    for (uint32_t i = 0; i < p->n; i++) {
        struct nnv_cost_layer *from = &out->layers[i], *to = from + 1;
        if (!next_nodes(arena, &l, from, i, to) || !next_values(p, arena, &l, from, i, to)) return false;
        if (to->n_nodes > out->widest) out->widest = to->n_nodes;
        if (out->widest > NNV_COST_WIDEST) return true;
        to->stride = to->n_nodes + to->n_values + 16 * (size_t)to->n_nodes;
    }
    return true;
}

/* ------------------------------------------------------------------------ states */

/* Packed: regions of nodes, crossings of values, edge and through of each region, then host of each host node. */
void nnv_cost_unpack(const struct nnv_cost_schedule *s, uint32_t i, const uint8_t *packed, struct nnv_cost_state *out) {
    const struct nnv_cost_layer *layer = &s->layers[i];
    const uint8_t *masks = packed + layer->n_nodes + layer->n_values;
    memcpy(out->region, packed, layer->n_nodes);
    memcpy(out->crossed, packed + layer->n_nodes, layer->n_values);
    out->regions = 0;
    for (uint32_t k = 0; k < layer->n_nodes; k++)
        if (out->region[k] > out->regions) out->regions = out->region[k];
    for (uint32_t r = 1; r <= out->regions; r++, masks += 16) {
        memcpy(&out->edge[r], masks, 8);
        memcpy(&out->through[r], masks + 8, 8);
    }
    for (uint32_t k = 0; k < layer->n_nodes; k++) {
        out->host[k] = 0;
        if (out->region[k]) continue;
        memcpy(&out->host[k], masks, 8);
        masks += 8;
    }
}

/* 0: no region */
static uint64_t bit(uint32_t region) { return region ? UINT64_C(1) << (region - 1) : 0; }

/* Whether `to` depends on `from` through a third cluster. */
static bool stands_between(const struct nnv_cost_state *s, uint32_t from, uint32_t to) {
    uint64_t both = bit(from) | bit(to), todo = (s->edge[to] | s->through[to]) & ~both, seen = todo;
    if (s->through[to] & bit(from)) return true;
    while (todo) {
        uint32_t r = (uint32_t)__builtin_ctzll(todo) + 1;
        todo &= todo - 1;
        uint64_t before = s->edge[r] | s->through[r];
        if (before & bit(from)) return true;
        todo |= before & ~both & ~seen;
        seen |= before;
    }
    return false;
}

static uint64_t renamed(uint64_t mask, uint32_t from, uint32_t to) {
    return mask & bit(from) ? (mask & ~bit(from)) | bit(to) : mask;
}

/* Region a becomes a part of b; its number is free then. n: places of nodes. */
static void join(struct nnv_cost_state *s, uint32_t n, uint32_t a, uint32_t b) {
    for (uint32_t k = 0; k < n; k++) {
        if (s->region[k] == a) s->region[k] = (uint8_t)b;
        s->host[k] = renamed(s->host[k], a, b);
    }
    s->edge[b] |= s->edge[a];
    s->through[b] |= s->through[a];
    for (uint32_t r = 1; r <= s->regions; r++) {
        s->edge[r] = renamed(s->edge[r], a, b);
        s->through[r] = renamed(s->through[r], a, b);
    }
    s->edge[a] = s->through[a] = 0;
    s->edge[b] &= ~bit(b);
}

/* A region that can grow no more: what depends on it depends through it on what it depends on. */
static void close_region(struct nnv_cost_state *s, uint32_t n, uint32_t closed) {
    uint64_t before = s->edge[closed] | s->through[closed];
    for (uint32_t r = 1; r <= s->regions; r++) {
        if ((s->edge[r] | s->through[r]) & bit(closed)) s->through[r] |= before;
        s->edge[r] &= ~bit(closed);
        s->through[r] &= ~bit(closed);
    }
    for (uint32_t k = 0; k < n; k++)
        if (s->host[k] & bit(closed)) s->host[k] = (s->host[k] | before) & ~bit(closed);
    s->edge[closed] = s->through[closed] = 0;
}

/* Node i's own region, with no other node yet, then the regions of its operands that may join it. */
static uint32_t enter(const struct nnv_cost_problem *p, const struct nnv_cost_schedule *s, uint32_t i, uint32_t n,
                      struct nnv_cost_state *state) {
    const struct nnv_cluster_node *node = &p->nodes[i];
    uint32_t own = ++state->regions;
    state->edge[own] = state->through[own] = 0;
    for (uint32_t k = 0; k < node->count; k++) {
        uint32_t place = s->place[p->edges[node->first + k]];
        if (state->region[place])
            state->edge[own] |= bit(state->region[place]);
        else
            state->through[own] |= state->host[place];
    }
    state->region[n - 1] = (uint8_t)own;
    state->cost += p->target[i] + nnv_cost_launch(p, i);
    for (uint32_t k = 0; k < node->count; k++) {
        uint32_t operand = p->edges[node->first + k], other = state->region[s->place[operand]];
        if (!other || other == own || p->nodes[operand].kind != node->kind) continue;
        if (stands_between(state, other, own) || stands_between(state, own, other)) continue;
        join(state, n, other, own);
        state->cost -= nnv_cost_launch(p, i);
    }
    return own;
}

static void stay(const struct nnv_cost_problem *p, const struct nnv_cost_schedule *s, uint32_t i, uint32_t n,
                 struct nnv_cost_state *state) {
    uint64_t before = 0;
    for (uint32_t k = 0; k < p->nodes[i].count; k++) {
        uint32_t place = s->place[p->edges[p->nodes[i].first + k]];
        before |= state->region[place] ? bit(state->region[place]) : state->host[place];
    }
    state->region[n - 1] = 0;
    state->host[n - 1] = before;
    state->cost += p->host[i];
}

/* Moves what node i uses, and what of its own is kept on the host. own: its region, or 0. */
static void move(const struct nnv_cost_problem *p, const struct nnv_cost_schedule *s, uint32_t i, uint32_t own,
                 struct nnv_cost_state *state) {
    for (uint32_t k = 0; k < p->n_uses[i]; k++) {
        const struct nnv_cost_value *v = &p->values[p->uses[i][k]];
        uint8_t *crossed = &state->crossed[s->value_place[p->uses[i][k]]];
        uint32_t made = v->producer == NNV_COST_OUTSIDE ? 0 : state->region[s->place[v->producer]];
        if (made == own) continue;
        if (made && !(*crossed & CAME_OUT)) {
            state->cost += v->out;
            *crossed |= CAME_OUT;
        }
        if (own && !(*crossed & WENT_IN)) {
            state->cost += v->in;
            *crossed |= WENT_IN;
        }
    }
    for (uint32_t k = 0; own && k < p->n_makes[i]; k++) {
        const struct nnv_cost_value *v = &p->values[p->makes[i][k]];
        if (!v->kept) continue;
        state->cost += v->out;
        state->crossed[s->value_place[p->makes[i][k]]] |= CAME_OUT;
    }
}

/* A mask with the regions' new numbers. */
static uint64_t renumbered(uint64_t mask, const uint32_t *number) {
    uint64_t out = 0;
    for (; mask; mask &= mask - 1) out |= bit(number[__builtin_ctzll(mask) + 1]);
    return out;
}

/* Keeps what is still used, in the order of the next layer, with regions numbered by their first node. */
static void pack(const struct nnv_cost_schedule *s, uint32_t i, uint32_t n, struct nnv_cost_state *state,
                 uint8_t *packed) {
    const struct nnv_cost_layer *to = &s->layers[i + 1];
    uint32_t number[NNV_COST_WIDEST + 3] = {0}, old[NNV_COST_WIDEST + 3], count = 0;
    for (uint32_t k = 0; k < to->n_nodes; k++) {
        uint32_t r = state->region[s->place[to->nodes[k]]];
        if (r && !number[r]) {
            number[r] = ++count;
            old[count] = r;
        }
        packed[k] = (uint8_t)number[r];
    }
    for (uint32_t r = 1; r <= state->regions; r++)
        if (!number[r]) close_region(state, n, r);
    uint8_t *at = packed + to->n_nodes;
    for (uint32_t k = 0; k < to->n_values; k++) *at++ = state->crossed[s->value_place[to->values[k]]];
    memset(at, 0, to->stride - to->n_nodes - to->n_values);
    for (uint32_t r = 1; r <= count; r++)
        for (int through = 0; through < 2; through++, at += 8) {
            uint64_t mask = renumbered(through ? state->through[old[r]] : state->edge[old[r]], number);
            memcpy(at, &mask, 8);
        }
    for (uint32_t k = 0; k < to->n_nodes; k++) {
        if (packed[k]) continue;
        uint64_t mask = renumbered(state->host[s->place[to->nodes[k]]], number);
        memcpy(at, &mask, 8);
        at += 8;
    }
    state->regions = count;
}

void nnv_cost_step(const struct nnv_cost_problem *p, const struct nnv_cost_schedule *s, uint32_t i, bool on,
                   struct nnv_cost_state *state, uint8_t *packed) {
    const struct nnv_cost_layer *layer = &s->layers[i];
    uint32_t n = layer->n_nodes, values = layer->n_values;
    for (uint32_t k = 0; k < n; k++) s->place[layer->nodes[k]] = k;
    for (uint32_t k = 0; k < values; k++) s->value_place[layer->values[k]] = k;
    s->place[i] = n++;
    state->host[n - 1] = 0;
    for (uint32_t k = 0; k < p->n_makes[i]; k++) {
        s->value_place[p->makes[i][k]] = values;
        state->crossed[values++] = 0;
    }
    for (uint32_t k = 0; k < p->n_uses[i]; k++) {
        const struct nnv_cost_value *v = &p->values[p->uses[i][k]];
        if (v->producer != NNV_COST_OUTSIDE || v->users[0] != i) continue;
        s->value_place[p->uses[i][k]] = values;
        state->crossed[values++] = 0;
    }
    uint32_t own = 0;
    if (on)
        own = enter(p, s, i, n, state);
    else
        stay(p, s, i, n, state);
    move(p, s, i, own, state);
    pack(s, i, n, state, packed);
}
