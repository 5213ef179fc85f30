/* SPDX-License-Identifier: Apache-2.0 */
/** @file parts.h What a case of one operation becomes: exact, with infinite values, or refused. */
#ifndef NNV_RANDGRAPH_SINGLE_PARTS_H
#define NNV_RANDGRAPH_SINGLE_PARTS_H

#include "randgraph/single/draft.h"

/**
 * A copy of a spec of one operation with the absolute value of every number, quantised ones around their zero point,
 * and without fused activation: its results bound every partial sum of a linear operation, in any order. Indices and
 * attributes stay. slots: one per operand. All is arena's.
 */
NNV_USE_RESULT enum nnv_status nnv_exact_absolute(const struct nnv_spec *spec, const struct nnv_slot *const *slots,
                                                  struct nnv_arena *arena, struct nnv_spec **out, struct nnv_err *err);

/**
 * Makes the first and the last element of the spec's first input of floats plus and minus infinity, and the second NaN
 * if nan says that its results are defined; of the first two such inputs if both says that they are compared or chosen
 * from. Evaluates the expected outputs afresh. The spec stays as it is if no output shows an infinity (but with both),
 * one shows a NaN without nan, or memory runs out.
 */
void nnv_infinite_values(struct nnv_spec *spec, bool nan, bool both, struct nnv_arena *arena);

/**
 * Plants a mistake into the draft's valid spec: of those that the operation's rules notice, by the index of the case
 * and its signature, says in spec->source which, and expects failure. Several are nothing but together: two flags, an
 * attribute and an extent. The model's arrays are replaced by copies, arena's. NNV_INTERNAL if the operation's rules
 * notice none.
 */
NNV_USE_RESULT enum nnv_status nnv_single_refuse(const struct nnv_single_draft *b, struct nnv_err *err);
/** The variant that such a case makes its mistake in: all of an operation in turn. */
int nnv_single_refused_variant(const struct nnv_single *w);

#endif
