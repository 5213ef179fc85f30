/* SPDX-License-Identifier: Apache-2.0 */
/** @file cost.h Problems of choosing devices, made by hand or at random, for tests. */
#ifndef KIT_COST_H
#define KIT_COST_H

#include "base/rng.h"
#include "compiler/byoc/cost/cost_problem.h"
#include "tests/kit/test.h"

enum { COST_NODES = 256, COST_EDGES = 1024 };

/** A problem whose nodes make one value each, in ticks. */
struct cost {
    struct nnv_arena *arena;
    struct nnv_cost_problem p;
    struct nnv_err err;
};

struct cost cost_begin(int64_t launch);

void cost_end(struct cost *c);

/** A value of producer (or NNV_COST_OUTSIDE) that costs as much in both directions. */
struct nnv_cost_value *cost_value(struct cost *c, uint32_t producer, int64_t crossing);

/** A node; target < 0: it is on the host. Its value is number n of the values that nodes make. */
uint32_t cost_node(struct cost *c, int kind, int64_t host, int64_t target);

/** The last node has this operand, whose value is v. */
void cost_edge(struct cost *c, uint32_t operand, struct nnv_cost_value *v);

/** A chain: host and target times, each value costs `crossing`; the input is from outside, the result is kept. */
struct cost cost_chain(uint32_t n, const int64_t *host, const int64_t *target, int64_t crossing, int64_t launch);

/** What a random problem is made of. */
struct cost_shape {
    uint32_t n, reach;        /**< operands are at most so far back */
    int64_t launch, crossing; /**< crossing: at most */
    int unsupported;          /**< percent */
    int kinds;
};

struct cost cost_random(const struct cost_shape *shape, uint64_t seed);

int64_t cost_solve(struct cost *c, enum nnv_cost_method method, size_t most_states, bool *on, int64_t *lower);

#endif
