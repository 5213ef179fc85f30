/* SPDX-License-Identifier: Apache-2.0 */
/** @file coverage.h What a series of graphs has covered: operations, pairs of them, and the ways they are used.
 */
#ifndef NNV_RANDGRAPH_GRAPH_COVERAGE_H
#define NNV_RANDGRAPH_GRAPH_COVERAGE_H

#include "base/map.h"
#include "base/unseen.h"
#include "reference/model/op.h"

/** Zero-initialise. */
struct nnv_graph_coverage {
    size_t graphs, operations;
    struct nnv_id_map ops;    /**< operations */
    struct nnv_id_map uses;   /**< operation x type and rank of its first input x flags, codes and small integers */
    struct nnv_id_map pairs;  /**< operation x type of the value x operation that reads it */
    struct nnv_id_map ways;   /**< pair x use of the operation that reads */
    struct nnv_unseen traits; /**< by graph: operation x type x rank, number of inputs, or one of the flags and so on */
};

/** Adds a graph: the operations of its main subgraph. False: out of memory. */
bool nnv_graph_cover(struct nnv_graph_coverage *c, const struct nnv_spec *spec);
/** Pairs that there are: of operations that write a type and those that read it as their main one. */
size_t nnv_graph_all_pairs(void);
/**
 * Draws graphs of all profiles by turns until the chance that the next one has a trait of an operation that none has is
 * below the limit, or there are most of them. *each: so many of each profile; *chance: then.
 */
NNV_USE_RESULT enum nnv_status nnv_graphs_until(uint64_t seed, double limit, uint64_t most, uint64_t *each,
                                                double *chance, struct nnv_err *err);
void nnv_graph_coverage_free(struct nnv_graph_coverage *c);

#endif
