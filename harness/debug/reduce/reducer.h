/* SPDX-License-Identifier: Apache-2.0 */
/** @file reducer.h What the steps of a reduction share; private to harness/debug/reduce. */
#ifndef NNV_DEBUG_REDUCER_H
#define NNV_DEBUG_REDUCER_H

#include "harness/debug/reduce/reduce.h"

/** A reduction on its way. */
struct nnv_reducer {
    const struct nnv_reduce_options *options;
    struct nnv_oracle oracle; /**< with the time that a candidate may take */
    struct nnv_signature wanted;
    struct nnv_known best;
    struct nnv_arena *kept, *trial; /**< of the best, and of the candidate */
    uint64_t end_ns;
    size_t candidates;
    bool stopped;
};

/** Begins a candidate: a copy of the best in the trial arena, with cut's wishes. NULL: out of memory. */
struct nnv_spec *nnv_reducer_copy(struct nnv_reducer *r, const struct nnv_extraction *cut);
/** Judges a candidate in the trial arena; if it fails in the same way it is the best from now on. relax:
 * nnv_known_make. */
bool nnv_reducer_try(struct nnv_reducer *r, const struct nnv_spec *candidate, bool relax);
/** Time is over, or the user wants it to end. */
bool nnv_reducer_over(const struct nnv_reducer *r);

/** Steps; true if something became smaller. */
bool nnv_reduce_extents(struct nnv_reducer *r);
bool nnv_reduce_attributes(struct nnv_reducer *r);
bool nnv_reduce_values(struct nnv_reducer *r);

#endif
