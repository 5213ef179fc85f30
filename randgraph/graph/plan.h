/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file plan.h Which operation comes next: a schedule that covers the pairs.
 *
 * Graphs are drawn in any order and by many processes, so no graph knows what others have. What is to come next is
 * read off a tape instead, by the number of the graph and the step: for each type the operations follow each other in
 * an order in which each of them comes once before any comes again, and each ordered pair stands side by side once
 * before any does again (the rows of a row-complete Latin square, one behind the other). A graph goes along a stretch
 * of the tape that no graph before it has had.
 */
#ifndef NNV_RANDGRAPH_GRAPH_PLAN_H
#define NNV_RANDGRAPH_GRAPH_PLAN_H

#include "base/rng.h"
#include "randgraph/graph/catalogue.h"

/** Of one graph. */
struct nnv_graph_plan {
    uint64_t key;    /**< of seed and profile */
    uint64_t index;  /**< of the graph */
    uint32_t length; /**< operations of such graphs, at least 1 */
};

/** A step that a walk over n things in a circle can take and come to all of them: odd, and coprime to n. */
uint64_t nnv_graph_stride(struct nnv_rng *rng, uint64_t n);
/** What the tape of n (even) labels has at a place. */
uint32_t nnv_graph_tape(uint32_t n, uint64_t place);
/** The number in the ring of the operation that is to read a value of the type at a step; -1: any. */
int nnv_graph_plan_next(const struct nnv_graph_plan *p, const struct nnv_graph_catalogue *c, int32_t type,
                        uint32_t step);

#endif
