/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file graph.h Random graphs of many operations.
 *
 * A graph grows forward from one operation to the next: a value that exists is chosen, then a use of an operation that
 * can take it, from the operation's record; the use is fitted to the value (shapes, weights, quantisation), evaluated
 * at once, and kept if its results say something: finite, not constant, not saturated. So shapes always fit, quantised
 * scales follow the values, and every output depends on every input.
 */
#ifndef NNV_RANDGRAPH_GRAPH_H
#define NNV_RANDGRAPH_GRAPH_H

#include "reference/model/op.h"

/** Which graphs. */
struct nnv_graph_profile {
    const char *name;
    const char *summary;
    int least, most; /**< operations */
    uint32_t types;  /**< that the first operation may have: bits 1 << OperandCode; 0: any */
    /** Operations that are preferred; NULL: none. */
    bool (*prefers)(const struct nnv_op *op);
};
extern const struct nnv_graph_profile nnv_graph_profiles[];
extern const size_t nnv_graph_profile_count;
/** By name, or NULL. */
const struct nnv_graph_profile *nnv_graph_profile_by_name(const char *name);

/** What the model knows of extents. */
enum nnv_graph_extents {
    NNV_EXTENTS_KNOWN, /**< all those of inputs; one graph in eight leaves some of its results' open */
    NNV_EXTENTS_OPEN,  /**< some of inputs and all of results are known only when the model is executed */
    NNV_EXTENTS_EMPTY, /**< so, and the batch that is then put in has no rows */
};
/** A mix of them for a series of graphs. */
enum nnv_graph_extents nnv_graph_extents_of(uint64_t index);

/** What names a graph: the same members give the same bytes on any machine. */
struct nnv_graph_options {
    const struct nnv_graph_profile *profile;
    int operations; /**< 0: drawn by the profile */
    uint64_t seed;
    uint64_t index;   /**< which graph of the profile: it walks through all operations, types and variants */
    const char *name; /**< of the spec; borrowed */
    enum nnv_graph_extents extents;
    bool unplanned; /**< what follows what is drawn by chance alone: for comparison */
};

/**
 * A valid spec with golden results as expected outputs; all of it is arena's. Its first operation is a use that the
 * index names. A graph of which an output does not depend on an input, or of which little can be
 * compared, is drawn again, up to a few times.
 */
NNV_USE_RESULT enum nnv_status nnv_graph_build(const struct nnv_graph_options *options, struct nnv_arena *arena,
                                               struct nnv_spec **spec, struct nnv_err *err);
/** True if at least half of the elements of its outputs have budgets that leave something to compare. */
bool nnv_graph_comparable(const struct nnv_spec *spec, struct nnv_arena *arena);

#endif
