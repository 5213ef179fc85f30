/* SPDX-License-Identifier: Apache-2.0 */
/** @file cost_model.h What the parts of the cost model share; private to cost*.c. */
#ifndef NNV_COMPILER_COST_MODEL_H
#define NNV_COMPILER_COST_MODEL_H

#include "compiler/byoc/cost/cost.h"

/** Operations on numbers per element; false if the operator has no row. */
bool nnv_cost_per_element(const struct nnv_cost_model *m, const char *op, double *flops);
/** Whether the operator only gives its operand another shape. */
bool nnv_cost_is_view(const struct nnv_cost_model *m, const char *op);
/** Whether any times are recorded. */
bool nnv_cost_has_records(const struct nnv_cost_model *m);
/** Whether any regions were measured as a whole. */
bool nnv_cost_has_regions(const struct nnv_cost_model *m);
/** Bytes of a tensor, or of all tensors of a tuple; what is not known counts nothing. */
double nnv_cost_bytes(const struct nnv_relay_type *t);

#endif
