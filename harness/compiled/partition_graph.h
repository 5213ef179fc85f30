/* SPDX-License-Identifier: Apache-2.0 */
/** @file partition_graph.h The graph of a program, and how it is drawn: in layers, from top to bottom, as SVG. */
#ifndef NNV_COMPILED_PARTITION_GRAPH_H
#define NNV_COMPILED_PARTITION_GRAPH_H

#include "compiler/byoc/byoc.h"

enum nnv_graph_node_kind { NNV_GRAPH_INPUT, NNV_GRAPH_HOST, NNV_GRAPH_TARGET, NNV_GRAPH_FLOW };

struct nnv_graph_node {
    enum nnv_graph_node_kind kind;
    int target;        /**< TARGET: its number */
    size_t region;     /**< TARGET: number of the region */
    const char *label; /**< what it does */
    const char *more;  /**< shown when pointed at; NULL: nothing */
    size_t stands_for; /**< operations; more than 1: they are drawn as one */
    int layer;
    double bytes; /**< of its value */
    bool hidden;  /**< an input that is only ever a further operand: a weight; not drawn */
};

/** from stands before to. */
struct nnv_graph_edge {
    uint32_t from, to;
    double bytes;
};

struct nnv_partition_graph {
    struct nnv_graph_node *nodes;
    struct nnv_graph_edge *edges;
    size_t n_nodes, n_edges;
};

/** Tells of an operation which region it belongs to (from 0) and of which target; false: it is on the host. */
typedef bool nnv_graph_region_fn(void *ctx, const struct nnv_relay_expr *e, size_t *region, int *target);

/** The graph of a function in evaluation order; tuples and projections are seen through. All is of arena. */
NNV_USE_RESULT enum nnv_status nnv_graph_make(const struct nnv_scoped *f, nnv_graph_region_fn *region_of, void *ctx,
                                              struct nnv_arena *arena, struct nnv_partition_graph *out,
                                              struct nnv_err *err);
/** Nodes that are drawn. */
size_t nnv_graph_visible(const struct nnv_partition_graph *g);
/** Draws what stands in neighbouring layers as one node for each target until at most `most` are left. */
NNV_USE_RESULT enum nnv_status nnv_graph_collapse(struct nnv_partition_graph *g, size_t most,
                                                  const char *const *targets, size_t n_targets, struct nnv_arena *arena,
                                                  struct nnv_err *err);
/** Appends the graph as an SVG element; name says what it shows. */
NNV_USE_RESULT enum nnv_status nnv_graph_draw(const struct nnv_partition_graph *g, const char *name,
                                              struct nnv_text *out, struct nnv_err *err);

#endif
