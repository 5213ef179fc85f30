/* SPDX-License-Identifier: Apache-2.0 */
/** @file planning.h The parts of making a plan: choosing devices, grouping operations, placing values. */
#ifndef NNV_RUNTIME_PLANNING_H
#define NNV_RUNTIME_PLANNING_H

#include "reference/runtime/plan/plan.h"
#include "reference/runtime/plan/slice.h"

enum { NNV_RT_ALIGNMENT = 64, NNV_RT_LEVEL_DYNAMIC = 3 };

/** Choices for the graphs of a model, made as they are asked for. */
struct nnv_rt_chooser;

/** All that is made is arena's; NULL when out of memory. Model and options are borrowed. */
struct nnv_rt_chooser *nnv_rt_chooser_new(const struct ANeuralNetworksModel *model,
                                          const struct nnv_rt_plan_options *options, struct nnv_arena *arena);
/** The choices for a graph, one an operation, the chooser's; OUT_OF_MEMORY. Each device is asked once a graph. */
int nnv_rt_choose(struct nnv_rt_chooser *chooser, uint32_t graph, const struct nnv_rt_choice **choices);

/** True for IF and WHILE. */
static inline bool nnv_rt_is_control_flow(const struct nnvts_operation *op) {
    return op->type == ANEURALNETWORKS_IF || op->type == ANEURALNETWORKS_WHILE;
}
/** Inputs of an IF or WHILE that come before those that it passes on. */
static inline uint32_t nnv_rt_control_inputs(const struct nnvts_operation *op) {
    return op->type == ANEURALNETWORKS_IF ? 3 : 2;
}
/** The two graphs of an IF (then, else) or WHILE (condition, body) of graph g. */
void nnv_rt_control_graphs(const struct nnvts_subgraph *g, const struct nnvts_operation *op, uint32_t graphs[2]);

/** Operations in steps; those of step s are order[begin[s]] to order[begin[s + 1] - 1], in run order. */
struct nnv_rt_grouping {
    uint32_t step_count;
    uint32_t *begin, *order; /**< arena's */
    uint32_t crossings;      /**< operands that pass from step to step */
};
/**
 * Groups the operations of a graph into steps of one kind each, in an order in which all values are there when they
 * are read. kinds: one an operation, below kind_count; each operation of kind `single` is a step of its own (kind_count
 * or more: none is). Takes time linear in the graph, times the kinds. OUT_OF_MEMORY; BAD_DATA: the graph has a cycle.
 */
int nnv_rt_group(const struct nnvts_subgraph *g, const uint32_t *kinds, uint32_t kind_count, uint32_t single,
                 struct nnv_arena *arena, struct nnv_rt_grouping *out);

/** A pool from which parts are taken and to which they are given back, in constant time each. */
struct nnv_rt_pool;
/** Room for so many parts at a time; arena's; NULL when out of memory. */
struct nnv_rt_pool *nnv_rt_pool_new(uint32_t parts, struct nnv_arena *arena);
/** Takes bytes, aligned to NNV_RT_ALIGNMENT, and writes the offset; returns a number to give it back by. */
uint32_t nnv_rt_pool_take(struct nnv_rt_pool *pool, uint64_t bytes, uint64_t *offset);
void nnv_rt_pool_give(struct nnv_rt_pool *pool, uint32_t part);
/** The most bytes that were in use, holes included. */
uint64_t nnv_rt_pool_bytes(const struct nnv_rt_pool *pool);

/**
 * Writes places, pool_bytes, dynamic_count and the places of loops of a graph whose steps are there. OP_FAILED: a value
 * of unknown size passes from a driver that cannot tell it; OUT_OF_MEMORY. scratch is only used during the call.
 */
int nnv_rt_place_values(const struct ANeuralNetworksModel *model, uint32_t graph, struct nnv_rt_graph *plan,
                        struct nnv_arena *arena, struct nnv_arena *scratch);

#endif
