/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file graph_plan.h Which operation comes after which: a schedule that covers the pairs.
 *
 * Graphs are drawn in any order and by many processes, so no graph knows what others have. What is to come next is
 * read off a square instead, by the number of the graph: of the operations of a type, each row is an order in which
 * they follow each other, and each ordered pair stands in exactly one row (a row-complete Latin square). A graph begins
 * with the operation that its number names, and goes along a stretch of a row that no graph before it has had.
 */
#ifndef NNV_RANDGRAPH_GRAPH_PLAN_H
#define NNV_RANDGRAPH_GRAPH_PLAN_H

#include "randgraph/graph_catalogue.h"

/** Of one graph. */
struct nnv_graph_plan {
    const struct nnv_graph_catalogue *catalogue;
    uint64_t key, index; /* of seed and profile; of the graph */
    int32_t first_type;
    uint32_t row; /* of first_type's square */
};

/**
 * The plan of a graph that begins with the use at `first` of the catalogue; the walk over first uses takes steps of
 * stride. length: operations of such graphs, about.
 */
struct nnv_graph_plan nnv_graph_plan_make(const struct nnv_graph_catalogue *catalogue, uint64_t key, uint64_t index,
                                          size_t first, size_t stride, uint32_t length);
/** The operation that is to read a value of the type that `by` wrote; NULL: any. */
const struct nnv_op *nnv_graph_plan_next(const struct nnv_graph_plan *p, int32_t type, const struct nnv_op *by);
/** Where op stands in row `row` of a square of n (even) operations, label being its number in it. For tests. */
uint32_t nnv_graph_plan_place(uint32_t n, uint32_t row, uint32_t label);
/** The label at a place of a row. */
uint32_t nnv_graph_plan_label(uint32_t n, uint32_t row, uint32_t place);

#endif
