/* SPDX-License-Identifier: Apache-2.0 */
/** @file graph_catalogue.h All uses of operations that graphs are made of. */
#ifndef NNV_RANDGRAPH_GRAPH_CATALOGUE_H
#define NNV_RANDGRAPH_GRAPH_CATALOGUE_H

#include "randgraph/graph.h"

/** A signature and variant of an operation. */
struct nnv_graph_use {
    const struct nnv_op *op;
    int sig, variant;
};

struct nnv_graph_catalogue {
    struct nnv_graph_use *use; /**< by main type, operation, variant, signature */
    size_t count;
    size_t of_type[NNV_TYPE_COUNT + 1]; /**< where the uses of each main type begin; the last entry is count */
};

/** The uses that fit graphs: not the large ones, nor those whose results are random. All arena's; NULL: no memory. */
const struct nnv_graph_catalogue *nnv_graph_catalogue(struct nnv_arena *arena);
/** The main type of a use. */
int32_t nnv_graph_use_type(const struct nnv_graph_use *use);
/** False where results may come in any order, so that nothing should be computed from them. */
bool nnv_graph_feeds(const struct nnv_op *op);

#endif
