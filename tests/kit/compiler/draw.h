/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file draw.h Random Relay programs, and what the rules say of how they are divided, worked out the slow and
 * plain way from what was drawn: the compiler's own graph is never looked at.
 */
#ifndef KIT_COMPILER_DRAW_H
#define KIT_COMPILER_DRAW_H

#include <stdbool.h>

#include "base/rng.h"
#include "base/text.h"

enum { NNV_DRAW_ARGS = 20, NNV_DRAW_NODES = 256, NNV_DRAW_BLOCKS = 64, NNV_DRAW_NONE = -1 };

enum nnv_draw_kind {
    NNV_DRAW_PARAM,
    NNV_DRAW_CONST,
    NNV_DRAW_OP,
    NNV_DRAW_TUPLE,
    NNV_DRAW_GET,  /**< field index of args[0] */
    NNV_DRAW_IF,   /**< args[0] the condition; blocks[0] and blocks[1] */
    NNV_DRAW_FN,   /**< blocks[0]; args[0] its parameter */
    NNV_DRAW_CALL, /**< of args[0], a FN, with args[1] */
};

enum nnv_draw_type { NNV_DRAW_FOUR, NNV_DRAW_EIGHT, NNV_DRAW_PAIR, NNV_DRAW_BOOL, NNV_DRAW_CLOSURE };

struct nnv_draw_node {
    enum nnv_draw_kind kind;
    enum nnv_draw_type type;
    const char *op;
    char name[16]; /**< "%3", "%v3", "%x" */
    int args[NNV_DRAW_ARGS], n_args, index;
    int block;     /**< where it is written */
    int blocks[2]; /**< what it opens */
};

struct nnv_draw_block {
    int parent, owner; /**< the block around it, and the IF or FN that it is of */
    int result;
};

/** What may be in a program. */
enum nnv_draw_feature {
    NNV_DRAW_TUPLES = 1,
    NNV_DRAW_LETS = 2,
    NNV_DRAW_BRANCHES = 4,
    NNV_DRAW_CLOSURES = 8,
    NNV_DRAW_FAR = 16,     /**< operands from far back */
    NNV_DRAW_TARGETS = 32, /**< up to three */
    NNV_DRAW_DEAD = 64,    /**< values that nothing uses */
    NNV_DRAW_DENSE = 128,  /**< two operands where possible, and all that nothing uses is a result */
};

struct nnv_draw {
    struct nnv_draw_node nodes[NNV_DRAW_NODES];
    struct nnv_draw_block blocks[NNV_DRAW_BLOCKS];
    int n_nodes, n_blocks;
    struct nnv_text text;    /**< the program */
    struct nnv_text support; /**< what is supported, as nnv_support_read() takes it */
    int n_targets;
    int target_of[16]; /**< by number of the operator */
};

/**
 * Draws a program of about n operations. other: the same program with other names. Zero-initialise d; free its texts by
 * nnv_draw_free().
 */
void nnv_draw_program(struct nnv_draw *d, uint64_t seed, uint64_t index, int n, unsigned features, bool other);
void nnv_draw_free(struct nnv_draw *d);
/** The target that takes a node, or NNV_DRAW_NONE. "a", "b", "c" are their names. */
int nnv_draw_target(const struct nnv_draw *d, int node);

/** How the rules divide a program. */
struct nnv_draw_answer {
    int order[NNV_DRAW_NODES], n_order; /**< operations, branches, closures and calls in evaluation order */
    int region[NNV_DRAW_NODES];         /**< by node: the first operation of its region, or NNV_DRAW_NONE */
    int params[NNV_DRAW_NODES], outputs[NNV_DRAW_NODES]; /**< by that operation */
    int n_regions, n_ops;
};
void nnv_draw_solve(const struct nnv_draw *d, struct nnv_draw_answer *a);
/** Whether regions and all else have an order, if region (by node) says what belongs together. */
bool nnv_draw_acyclic(const struct nnv_draw *d, const struct nnv_draw_answer *a, const int *region);
/** The fewest regions that any division has: all are tried. For at most 14 operations. */
int nnv_draw_fewest(const struct nnv_draw *d, const struct nnv_draw_answer *a);

#endif
