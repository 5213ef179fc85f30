/* SPDX-License-Identifier: Apache-2.0 */
/** @file coverage.h What a series of graphs has covered: operations, pairs of them, and the ways they are used.
 */
#ifndef NNV_RANDGRAPH_GRAPH_COVERAGE_H
#define NNV_RANDGRAPH_GRAPH_COVERAGE_H

#include "base/map.h"
#include "reference/model/op.h"

/** Zero-initialise. */
struct nnv_graph_coverage {
    size_t graphs, operations;
    struct nnv_id_map ops;   /**< operations */
    struct nnv_id_map uses;  /**< operation x type and rank of its first input x flags, codes and small integers */
    struct nnv_id_map pairs; /**< operation x type of the value x operation that reads it */
    struct nnv_id_map ways;  /**< pair x use of the operation that reads */
};

/** Adds a graph: the operations of its main subgraph. False: out of memory. */
bool nnv_graph_cover(struct nnv_graph_coverage *c, const struct nnv_spec *spec);
/** Pairs that there are: of operations that write a type and those that read it as their main one. */
size_t nnv_graph_all_pairs(void);
void nnv_graph_coverage_free(struct nnv_graph_coverage *c);

#endif
