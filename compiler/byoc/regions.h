/* SPDX-License-Identifier: Apache-2.0 */
/** @file regions.h The graph that regions are clusters of; what finding regions and choosing among them share. */
#ifndef NNV_COMPILER_REGIONS_H
#define NNV_COMPILER_REGIONS_H

#include "compiler/byoc/byoc.h"
#include "compiler/byoc/cluster.h"

/**
 * The calls, ifs, lets and closures of a function in evaluation order. Tuples, projections and lets are seen through; a
 * value that a branch or closure takes from outside is used by the if or closure as a whole.
 */
struct nnv_region_graph {
    struct nnv_relay_expr **exprs;       /**< by node */
    struct nnv_cluster_node *nodes;      /**< of the kind NNV_CLUSTER_ALONE, or of its scope and target */
    uint32_t n, *edges, *node;           /**< node: by id of the expression, its node + 1 */
    const struct nnv_relay_expr **value; /**< by id of a variable: what a let binds to it */
    size_t n_edges, n_targets;
    struct nnv_cluster_pair *siblings; /**< nodes of one kind that share an operand; none unless asked for */
    size_t n_siblings;
};

/** The kind of a node of this scope that this target takes; -1: there are too many. */
int32_t nnv_region_kind(const struct nnv_scope *scope, size_t n_targets, int target);
/** Makes the graph, with the kinds that the annotator says. All is of arena. */
NNV_USE_RESULT enum nnv_status nnv_region_graph(const struct nnv_annotator *a, const struct nnv_scoped *f,
                                                struct nnv_arena *arena, struct nnv_region_graph *out,
                                                struct nnv_err *err);
/** The regions that the nodes' kinds give. regions are of arena. */
NNV_USE_RESULT enum nnv_status nnv_region_graph_list(const struct nnv_region_graph *g, const struct nnv_scoped *f,
                                                     struct nnv_arena *arena, struct nnv_regions *out,
                                                     struct nnv_err *err);

#endif
