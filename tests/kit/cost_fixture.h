/* SPDX-License-Identifier: Apache-2.0 */
/** @file cost_fixture.h Problems of choosing devices, made by hand or at random, for tests. */
#ifndef NNV_TESTS_COST_FIXTURE_H
#define NNV_TESTS_COST_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"
#include "compiler/byoc/cost/cost_problem.h"

enum { COST_NODES = 256, COST_EDGES = 1024 };

/** A problem whose nodes make one value each, in ticks. */
struct cost {
    struct nnv_arena *arena;
    struct nnv_cost_problem p;
    struct nnv_err err;
};

static inline struct cost cost_begin(int64_t launch) {
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

static inline void cost_end(struct cost *c) { nnv_arena_free(c->arena); }

/** A value of producer (or NNV_COST_OUTSIDE) that costs as much in both directions. */
static inline struct nnv_cost_value *cost_value(struct cost *c, uint32_t producer, int64_t crossing) {
    struct nnv_cost_value *v = &c->p.values[c->p.n_values++];
    *v = (struct nnv_cost_value){.producer = producer, .in = crossing, .out = crossing};
    v->users = NNV_NEW(c->arena, uint32_t, COST_NODES);
    return v;
}

static inline void cost_use(struct nnv_cost_value *v, uint32_t user) {
    if (!v->n_users || v->users[v->n_users - 1] != user) v->users[v->n_users++] = user;
}

/** A node; target < 0: it is on the host. Its value is number n of the values that nodes make. */
static inline uint32_t cost_node(struct cost *c, int kind, int64_t host, int64_t target) {
    uint32_t i = c->p.n++;
    c->p.nodes[i] = (struct nnv_cluster_node){c->p.n_edges, 0, target < 0 ? NNV_CLUSTER_ALONE : kind};
    c->p.host[i] = host;
    c->p.target[i] = target < 0 ? NNV_COST_NEVER : target;
    return i;
}

/** The last node has this operand, whose value is v. */
static inline void cost_edge(struct cost *c, uint32_t operand, struct nnv_cost_value *v) {
    c->p.edges[c->p.n_edges++] = operand;
    c->p.nodes[c->p.n - 1].count++;
    cost_use(v, c->p.n - 1);
}

/** A chain: host and target times, each value costs `crossing`; the input is from outside, the result is kept. */
static inline struct cost cost_chain(uint32_t n, const int64_t *host, const int64_t *target, int64_t crossing,
                                     int64_t launch) {
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

/** What a random problem is made of. */
struct cost_shape {
    uint32_t n, reach;        /**< operands are at most so far back */
    int64_t launch, crossing; /**< crossing: at most */
    int unsupported;          /**< percent */
    int kinds;
};

static inline struct cost cost_random(const struct cost_shape *shape, uint64_t seed) {
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

static inline int64_t cost_solve(struct cost *c, enum nnv_cost_method method, size_t most_states, bool *on,
                                 int64_t *lower) {
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

#endif
