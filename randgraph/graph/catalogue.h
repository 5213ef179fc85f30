/* SPDX-License-Identifier: Apache-2.0 */
/** @file catalogue.h All uses of operations that graphs are made of. */
#ifndef NNV_RANDGRAPH_GRAPH_CATALOGUE_H
#define NNV_RANDGRAPH_GRAPH_CATALOGUE_H

#include "randgraph/graph/graph.h"

/** A signature and variant of an operation. */
struct nnv_graph_use {
    const struct nnv_op *op;
    int sig, variant;
};

enum { NNV_GRAPH_OPS = 160 }; /**< room for all operations */

/** The operations that read a type as their main one, or write it: between them values of the type go. */
struct nnv_graph_ring {
    const struct nnv_op *op[NNV_GRAPH_OPS];
    uint32_t first[NNV_GRAPH_OPS], end[NNV_GRAPH_OPS]; /**< the uses of each that have it as their main type */
    uint32_t used, count;                              /**< operations; the same, made even */
};

struct nnv_graph_catalogue {
    struct nnv_graph_use *use; /**< by main type, operation, variant, signature */
    size_t count;
    _Atomic uint32_t *ranks;            /**< per use, see nnv_graph_use_ranks(); 0: not known yet */
    size_t of_type[NNV_TYPE_COUNT + 1]; /**< where the uses of each main type begin; the last entry is count */
    struct nnv_graph_ring ring[NNV_TYPE_COUNT];
};

/** The uses that fit graphs: not the large ones. Made once; NULL: no memory. */
const struct nnv_graph_catalogue *nnv_graph_whole_catalogue(void);
/** The uses that graphs are made of: all, or what nnv_graph_restrict() left. NULL: no memory. */
const struct nnv_graph_catalogue *nnv_graph_catalogue(void);
/**
 * From now on graphs of this process, and of those that it starts, are made of these uses alone: a bool for each of the
 * whole catalogue; NULL: of all. To be said while no other thread makes graphs. Where nothing is left, or there is no
 * memory, all uses stay, and it is false.
 */
bool nnv_graph_restrict(const bool *uses);
/** The operation writes values of the type. */
bool nnv_graph_writes(const struct nnv_op *op, int32_t type);
/** False for results that say nothing about the values of the inputs: random ones, and those known by shapes alone. */
bool nnv_graph_tells(const struct nnv_op *op, uint32_t output);
/**
 * Ranks (bits 1 << rank) that the main operand of a use can have, as far as some draws show. Depends on the use alone.
 */
uint32_t nnv_graph_use_ranks(const struct nnv_graph_catalogue *c, size_t use);
/** The main type of a use. */
int32_t nnv_graph_use_type(const struct nnv_graph_use *use);
/** False where results may come in any order, so that nothing should be computed from them. */
bool nnv_graph_feeds(const struct nnv_op *op);
/** False where a value without rows may be refused: there may be no regions, but they must be those of an image. */
bool nnv_graph_takes_empty(const struct nnv_op *op, uint32_t input);

#endif
