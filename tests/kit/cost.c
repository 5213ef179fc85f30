/* SPDX-License-Identifier: Apache-2.0 */
/** @file cost.c See cost.h. */
#include "tests/kit/cost.h"

struct cost cost_begin(int64_t launch) {
    struct cost c = {.arena = nnv_arena_new()};
    assert_non_null(c.arena);
    c.p.nodes = NNV_NEW(c.arena, struct nnv_cluster_node, COST_NODES);
    c.p.edges = NNV_NEW(c.arena, uint32_t, COST_EDGES);
    c.p.host = NNV_NEW(c.arena, int64_t, COST_NODES);
    c.p.target = NNV_NEW(c.arena, int64_t, COST_NODES);
    c.p.values = NNV_NEW(c.arena, struct nnv_cost_value, 2 * COST_NODES);
    c.p.launch = launch;
    c.p.ticks_per_us = 10;
    return c;
}

void cost_end(struct cost *c) { nnv_arena_free(c->arena); }

struct nnv_cost_value *cost_value(struct cost *c, uint32_t producer, int64_t crossing) {
    struct nnv_cost_value *v = &c->p.values[c->p.n_values++];
    *v = (struct nnv_cost_value){.producer = producer, .in = crossing, .out = crossing};
    v->users = NNV_NEW(c->arena, uint32_t, COST_NODES);
    return v;
}

static void cost_use(struct nnv_cost_value *v, uint32_t user) {
    if (!v->n_users || v->users[v->n_users - 1] != user) v->users[v->n_users++] = user;
}

uint32_t cost_node(struct cost *c, int kind, int64_t host, int64_t target) {
    uint32_t i = c->p.n++;
    c->p.nodes[i] = (struct nnv_cluster_node){c->p.n_edges, 0, target < 0 ? NNV_CLUSTER_ALONE : kind};
    c->p.host[i] = host;
    c->p.target[i] = target < 0 ? NNV_COST_NEVER : target;
    return i;
}

void cost_edge(struct cost *c, uint32_t operand, struct nnv_cost_value *v) {
    c->p.edges[c->p.n_edges++] = operand;
    c->p.nodes[c->p.n - 1].count++;
    cost_use(v, c->p.n - 1);
}

struct cost cost_chain(uint32_t n, const int64_t *host, const int64_t *target, int64_t crossing, int64_t launch) {
    struct cost c = cost_begin(launch);
    for (uint32_t i = 0; i < n; i++) {
        struct nnv_cost_value *v = cost_value(&c, i ? i - 1 : NNV_COST_OUTSIDE, crossing);
        cost_node(&c, 0, host[i], target[i]);
        if (i)
            cost_edge(&c, i - 1, v);
        else
            cost_use(v, 0);
    }
    cost_value(&c, n - 1, crossing)->kept = true;
    assert_true(nnv_cost_index(&c.p, c.arena));
    return c;
}

struct cost cost_random(const struct cost_shape *shape, uint64_t seed) {
    struct cost c = cost_begin(shape->launch);
    struct nnv_rng r = nnv_rng_make(seed, shape->n, shape->reach);
    struct nnv_cost_value *made[COST_NODES], *outside[3];
    for (int k = 0; k < 3; k++) outside[k] = cost_value(&c, NNV_COST_OUTSIDE, nnv_rng_int(&r, 0, shape->crossing));
    for (uint32_t i = 0; i < shape->n; i++) {
        bool never = nnv_rng_int(&r, 1, 100) <= shape->unsupported;
        cost_node(&c, (int)nnv_rng_int(&r, 0, shape->kinds - 1), nnv_rng_int(&r, 1, 30),
                  never ? -1 : nnv_rng_int(&r, 0, 20));
        int64_t operands = nnv_rng_int(&r, 1, 3), low = i > shape->reach ? i - shape->reach : 0;
        for (int64_t k = 0; k < operands; k++) {
            uint32_t from = (uint32_t)nnv_rng_int(&r, low, i);
            if (from == i)
                cost_use(outside[nnv_rng_int(&r, 0, 2)], i);
            else
                cost_edge(&c, from, made[from]);
        }
        made[i] = cost_value(&c, i, nnv_rng_int(&r, 0, shape->crossing));
    }
    for (uint32_t i = 0; i < shape->n; i++) made[i]->kept = !made[i]->n_users || nnv_rng_int(&r, 0, 9) == 0;
    assert_true(nnv_cost_index(&c.p, c.arena));
    return c;
}

int64_t cost_solve(struct cost *c, enum nnv_cost_method method, size_t most_states, bool *on, int64_t *lower) {
    struct nnv_cost_solution s = {.on = on};
    int64_t again = 0;
    assert_int_equal(nnv_cost_solve(&c->p, method, most_states, &s, &c->err), NNV_OK);
    /* what it says is what the choice costs */
    assert_int_equal(nnv_cost_try(&c->p, on, &again, &c->err), NNV_OK);
    assert_int_equal(s.cost, again);
    assert_true(s.lower <= s.cost);
    for (uint32_t i = 0; i < c->p.n; i++) assert_true(!on[i] || nnv_cost_can(&c->p, i));
    if (lower) *lower = s.lower;
    return s.cost;
}
