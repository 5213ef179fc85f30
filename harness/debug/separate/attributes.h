/* SPDX-License-Identifier: Apache-2.0 */
/** @file attributes.h The attributes of a case, from its name and its spec: what separating conditions are about. */
#ifndef NNV_DEBUG_ATTRIBUTES_H
#define NNV_DEBUG_ATTRIBUTES_H

#include "base/arena.h"
#include "harness/debug/separate/separate.h"
#include "harness/journal/case.h"
#include "reference/model/model.h"

/** The attribute that says what a case of a suite about execution does: "exec/burst". */
#define NNV_KIND_OF_CASE "the kind of case"

/**
 * The attributes of the case: of its name; of its model where spec is not NULL; of the first operation of the kind op
 * (0: the first of all): its scalars, shapes, types, quantisation and the values of its tensors. *count of them,
 * arena's; they may point into the case. NULL when out of memory.
 */
const struct nnv_attribute *nnv_attributes(const struct nnv_case *c, const struct nnv_spec *spec, int32_t op,
                                           struct nnv_arena *arena, size_t *count);
/** A copy of the attributes whose strings are arena's, too. NULL when out of memory. */
const struct nnv_attribute *nnv_attributes_keep(const struct nnv_attribute *item, size_t count,
                                                struct nnv_arena *arena);

#endif
