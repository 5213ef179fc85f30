/* SPDX-License-Identifier: Apache-2.0 */
/** @file shapes.h Rewriting models so that they leave shapes open. */
#ifndef NNV_SUITES_SHAPES_H
#define NNV_SUITES_SHAPES_H

#include "reference/model/model.h"

/** Which tensors of the main subgraph lose their shape, and how much of it. */
enum nnv_open {
    NNV_OPEN_INPUTS = 1,
    NNV_OPEN_TEMPORARIES = 2,
    NNV_OPEN_OUTPUTS = 4,
    NNV_OPEN_RANKS = 8, /**< the rank, too, not the extents alone */
};

/**
 * A copy of spec whose model leaves open what `which` (a sum of enum nnv_open) says, its min_version the level that the
 * new model needs. Where the rules ask for a shape it stays. *opened: tensors that are open now. All memory is arena's.
 */
NNV_USE_RESULT enum nnv_status nnv_shapes_open(const struct nnv_spec *spec, unsigned which, struct nnv_arena *arena,
                                               struct nnv_spec **out, uint32_t *opened, struct nnv_err *err);

#endif
