/* SPDX-License-Identifier: Apache-2.0 */
/** @file single_exact.h Making sure that a case is exact. */
#ifndef NNV_RANDGRAPH_SINGLE_EXACT_H
#define NNV_RANDGRAPH_SINGLE_EXACT_H

#include "reference/model/op.h"

/**
 * A copy of a spec of one operation with the absolute value of every number, quantised ones around their zero point,
 * and without fused activation: its results bound every partial sum of a linear operation, in any order. Indices and
 * attributes stay. slots: one per operand. All is arena's.
 */
NNV_USE_RESULT enum nnv_status nnv_exact_absolute(const struct nnv_spec *spec, const struct nnv_slot *const *slots,
                                                  struct nnv_arena *arena, struct nnv_spec **out, struct nnv_err *err);

#endif
