/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file harvest.h What is distinct in networks, as specs: each operation, the groups of operations that a backend may
 * fuse, and the blocks whose branch comes back to where it began.
 */
#ifndef NNV_DEBUG_HARVEST_H
#define NNV_DEBUG_HARVEST_H

#include "base/map.h"
#include "harness/debug/extract.h"

enum {
    NNV_HARVEST_GROUP_MAX = 3,  /**< operations of a group: a chain, or two that a third joins */
    NNV_HARVEST_BRANCH_MAX = 8, /**< operations of a branch that comes back, without the one that joins */
};

/** Of all networks so far. Zero-initialise, but for arena, which keeps what is known, and group. */
struct nnv_harvest {
    struct nnv_arena *arena;
    uint32_t group;     /**< operations that a group may have: 1 (operations alone) to NNV_HARVEST_GROUP_MAX */
    struct nnv_map key; /**< what there is already, described */
    size_t operations;  /**< specs that are one operation */
    size_t groups;      /**< of several */
    size_t met;         /**< what the networks hold of them, known ones counted each time */
};

/** A place of a network at which something stands that is new, or known. */
struct nnv_harvested {
    uint32_t number;    /**< 0, 1, 2 ...: of what stands there, in the order in which the networks have shown it */
    const uint32_t *op; /**< operations of the network */
    uint32_t n;
    const struct nnv_spec *spec; /**< of what is new, until the sink returns; NULL: it is known */
};
typedef enum nnv_status nnv_harvest_sink(void *own, const struct nnv_harvested *found, struct nnv_err *err);

/**
 * Hands all places of a network to sink, in the order of its operations. Two groups are the same if their operations,
 * what these have of each other, and the types, shapes and attributes of all operands are; scales, zero points and
 * values of weights do not make a difference. The values are those that the network has there. A result that the rest
 * of the network reads, too, is an output of the group. Specs are judged by the budget, and called by their operations
 * and the places of these in the network: "CONV_2D+RELU6.3-4".
 */
NNV_USE_RESULT enum nnv_status nnv_harvest_take(struct nnv_harvest *h, const struct nnv_known *network,
                                                nnv_harvest_sink *sink, void *own, struct nnv_err *err);

#endif
