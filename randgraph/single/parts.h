/* SPDX-License-Identifier: Apache-2.0 */
/** @file parts.h What a case of one operation becomes: exact, with infinite values, or refused. */
#ifndef NNV_RANDGRAPH_SINGLE_PARTS_H
#define NNV_RANDGRAPH_SINGLE_PARTS_H

#include "reference/model/op.h"

/**
 * A copy of a spec of one operation with the absolute value of every number, quantised ones around their zero point,
 * and without fused activation: its results bound every partial sum of a linear operation, in any order. Indices and
 * attributes stay. slots: one per operand. All is arena's.
 */
NNV_USE_RESULT enum nnv_status nnv_exact_absolute(const struct nnv_spec *spec, const struct nnv_slot *const *slots,
                                                  struct nnv_arena *arena, struct nnv_spec **out, struct nnv_err *err);

/**
 * Makes the first and the last element of the spec's first input plus and minus infinity, if it is a tensor of floats,
 * and the second NaN if nan says that its results are defined; where inputs are compared, of both. Evaluates the
 * expected outputs afresh. The spec stays as it is if no output shows an infinity (and nothing is compared), one shows
 * a NaN without nan, or memory runs out.
 */
void nnv_infinite_values(struct nnv_spec *spec, bool nan, bool compared, struct nnv_arena *arena);

/**
 * Plants a mistake into the valid spec of one operation: the index-th of those that its rules notice (they are tried in
 * turn), says in spec->source which, and expects failure. The model's arrays are replaced by copies, arena's.
 * NNV_INTERNAL if the operation's rules notice none.
 */
NNV_USE_RESULT enum nnv_status nnv_single_refuse(struct nnv_spec *spec, int index, struct nnv_arena *arena,
                                                 struct nnv_err *err);

#endif
