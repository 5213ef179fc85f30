/* SPDX-License-Identifier: Apache-2.0 */
/** @file lookup.h What EMBEDDING_LOOKUP and HASHTABLE_LOOKUP share: output 0 is rows of a tensor of values. */
#ifndef NNV_OPS_LOOKUP_H
#define NNV_OPS_LOOKUP_H

#include "reference/ops/common.h"

#define NNV_NO_ROW SIZE_MAX

/** The shape of output 0: that of input values with as many rows as input lookups has elements. */
struct nnv_shape nnv_lookup_shape(const struct nnv_call *c, int lookups, int values);
/** Copies row `row` of input values to row i of output 0; NNV_NO_ROW (a perturbed row's) gives NaN. */
void nnv_lookup_row(struct nnv_kernel *k, int values, size_t i, size_t row);

#endif
