/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file cluster.h Grows clusters in an acyclic graph so that the graph of clusters stays acyclic: what the regions of a
 * partition are made of.
 */
#ifndef NNV_COMPILER_CLUSTER_H
#define NNV_COMPILER_CLUSTER_H

#include <stdint.h>

#include "base/arena.h"

enum { NNV_CLUSTER_ALONE = -1 }; /**< the kind of a node that never shares its cluster */

struct nnv_cluster_node {
    uint32_t first, count; /**< its operands: edges[first], ..., each a node before this one */
    int32_t kind;          /**< clusters hold nodes of one kind */
};

/** Two nodes that may share a cluster though neither is the other's operand. */
struct nnv_cluster_pair {
    uint32_t a, b;
};

/**
 * Visits nodes[0..n) in order and joins the cluster of each with the cluster of each operand, left to right, if both
 * are of one kind and no third cluster would then stand both behind and before the joined one. The test is exact: a
 * search between the two in a topological order of the clusters that is kept up to date. Then pairs[0..n_pairs) are
 * joined in the same way. Nodes of the kind
 * NNV_CLUSTER_ALONE stay single. out[i] (room n) is the first node of i's cluster. NNV_INTERNAL: an operand does not
 * stand before its user; NNV_NO_MEMORY.
 */
NNV_USE_RESULT enum nnv_status nnv_cluster_grow(const struct nnv_cluster_node *nodes, uint32_t n, const uint32_t *edges,
                                                const struct nnv_cluster_pair *pairs, size_t n_pairs, uint32_t *out,
                                                struct nnv_err *err);

#endif
