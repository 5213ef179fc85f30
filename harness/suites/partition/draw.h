/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file draw.h Random graphs that are made to be split: square tensors of one side, so that any value can go
 * anywhere, and few operations, of all levels, so that several devices share them.
 */
#ifndef NNV_SUITES_PARTITION_DRAW_H
#define NNV_SUITES_PARTITION_DRAW_H

#include "base/rng.h"
#include "reference/model/model.h"

/** What names a graph: the same members give the same bytes on any machine. */
struct nnv_web {
    const char *name; /**< of the spec; borrowed */
    uint64_t seed, index;
    uint32_t least, most; /**< operations */
    bool plain;           /**< every operation reads another one or an input, is read, and has a known shape */
};

/**
 * A valid spec with golden results as expected outputs; all of it is arena's. Unless plain, some have operations that
 * nobody reads, operations of constants alone, values of unknown extents or rank, and parts that do not hang together.
 */
NNV_USE_RESULT enum nnv_status nnv_web_build(const struct nnv_web *web, struct nnv_arena *arena, struct nnv_spec **spec,
                                             struct nnv_err *err);

#endif
