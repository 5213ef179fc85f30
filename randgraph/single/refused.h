/* SPDX-License-Identifier: Apache-2.0 */
/** @file single_refused.h Models of one operation with one mistake. */
#ifndef NNV_RANDGRAPH_SINGLE_REFUSED_H
#define NNV_RANDGRAPH_SINGLE_REFUSED_H

#include "reference/model/model.h"

/**
 * Plants a mistake into the valid spec of one operation: the index-th of those that its rules notice (they are tried in
 * turn), says in spec->source which, and expects failure. The model's arrays are replaced by copies, arena's.
 * NNV_INTERNAL if the operation's rules notice none.
 */
NNV_USE_RESULT enum nnv_status nnv_single_refuse(struct nnv_spec *spec, int index, struct nnv_arena *arena,
                                                 struct nnv_err *err);

#endif
