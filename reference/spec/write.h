/* SPDX-License-Identifier: Apache-2.0 */
/** @file write.h What the writers of specs share; private to reference/spec. */
#ifndef NNV_MODEL_SPEC_WRITE_H
#define NNV_MODEL_SPEC_WRITE_H

#include "base/text.h"
#include "reference/model/model.h"

/** The value of operand i of subgraph s: that of an input or an expected output of the main subgraph, else NULL. */
const struct nnv_value *nnv_spec_value(const struct nnv_spec *spec, const struct nnv_subgraph *s, uint32_t i);
/** True if operand i is among the inputs of s. */
bool nnv_spec_is_input(const struct nnv_subgraph *s, uint32_t i);
/** Appends "ADD", or "operation 5000" if the code has no record. */
void nnv_spec_add_operation(struct nnv_text *t, int32_t code);
/** Appends "TENSOR_FLOAT32", "SUBGRAPH", or "type 99". */
void nnv_spec_add_type(struct nnv_text *t, int32_t code);
/** Appends "[1,224,224,3]"; a 0 becomes zero ("?" for unknown extents, "0" for real ones). */
void nnv_spec_add_dims(struct nnv_text *t, uint32_t rank, const uint32_t *dims, const char *zero);
/** Elements of data of a type if bytes is what dims say, else false. */
bool nnv_spec_fits(int32_t type, uint32_t rank, const uint32_t *dims, size_t bytes, size_t *elems);
/** Appends n elements as decimals with a separator between them: float16 exactly, float32 as short as possible. */
void nnv_spec_add_numbers(struct nnv_text *t, int32_t type, const void *data, size_t n, const char *separator);
/** Appends what a person wants to see of a constant: "3", "[0,1]"; false if it is too large or does not fit. */
bool nnv_spec_add_small_constant(struct nnv_text *t, const struct nnv_operand *o);

#endif
