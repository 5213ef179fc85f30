/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file cost_state.h What a choice for the first nodes leaves to those behind them: which of the nodes that are still
 * used are on the host or in which region, how regions depend on each other, and which values have crossed. Private to
 * the search.
 *
 * A region can still grow while one of its nodes has users to come. Two such regions must not become one if a third
 * cluster stands between them; so a state knows of each region those it has an edge from, and those it depends on
 * through clusters that can grow no more (hosts, and regions without users to come).
 */
#ifndef NNV_COMPILER_COST_STATE_H
#define NNV_COMPILER_COST_STATE_H

#include "compiler/byoc/cost/cost_problem.h"

enum { NNV_COST_WIDEST = 62 }; /**< nodes that are still used, at most */

/** What is still used when node i comes: the same for all states. */
struct nnv_cost_layer {
    uint32_t *nodes, *values; /**< in order */
    uint32_t n_nodes, n_values;
    size_t stride; /**< bytes of a state */
};

struct nnv_cost_schedule {
    struct nnv_cost_layer *layers; /**< n + 1 */
    uint32_t *place;               /**< scratch by node */
    uint32_t *value_place;         /**< scratch by value */
    uint32_t widest;
};

/** False: out of memory. If widest is above NNV_COST_WIDEST, there are no layers. */
bool nnv_cost_schedule(const struct nnv_cost_problem *p, struct nnv_arena *arena, struct nnv_cost_schedule *out);

/** A state, unpacked. Regions are numbered from 1; masks have bit r - 1 for region r. */
struct nnv_cost_state {
    uint8_t region[NNV_COST_WIDEST + 2];                              /**< by place of the node; 0: host */
    uint64_t edge[NNV_COST_WIDEST + 3], through[NNV_COST_WIDEST + 3]; /**< by region */
    uint64_t host[NNV_COST_WIDEST + 2]; /**< by place of a host node: regions that it depends on, directly or through
                                           clusters that can grow no more */
    uint8_t *crossed;                   /**< by place of the value: has gone in (1), has come out (2) */
    uint32_t regions;
    int64_t cost;
};

/** Unpacks a state of layer i; crossed has room for the values of the layer and those that node i makes and meets. */
void nnv_cost_unpack(const struct nnv_cost_schedule *s, uint32_t i, const uint8_t *packed, struct nnv_cost_state *out);
/** Decides for node i, so that the state is one of layer i + 1, and packs it. The number of its regions is *regions. */
void nnv_cost_step(const struct nnv_cost_problem *p, const struct nnv_cost_schedule *s, uint32_t i, bool on,
                   struct nnv_cost_state *state, uint8_t *packed);

#endif
