/* SPDX-License-Identifier: Apache-2.0 */
/** @file single_infinite.h Infinite values for operations that only move or choose values. */
#ifndef NNV_RANDGRAPH_SINGLE_INFINITE_H
#define NNV_RANDGRAPH_SINGLE_INFINITE_H

#include "reference/model/model.h"

/**
 * Makes the first and the last element of the spec's first input plus and minus infinity, if it is a tensor of floats,
 * and evaluates the expected outputs afresh. The spec stays as it is if no output shows an infinity, one shows a NaN,
 * or memory runs out.
 */
void nnv_infinite_values(struct nnv_spec *spec, struct nnv_arena *arena);

#endif
