/* SPDX-License-Identifier: Apache-2.0 */
/** @file limits.h The numbers at which implementations change their ways: limits of formats, edges of operations. */
#ifndef NNV_RANDGRAPH_LIMITS_H
#define NNV_RANDGRAPH_LIMITS_H

#include "reference/model/op.h"

enum { NNV_MOST_LIMITS = 192 };

/** Writes the numbers of the type that the slot takes: its edges, then those of its domain. Returns how many. */
size_t nnv_limits(const struct nnv_slot *slot, int32_t type, double limits[NNV_MOST_LIMITS]);

#endif
