/* SPDX-License-Identifier: Apache-2.0 */
/** @file elements.h The values of an answer as observations: what separates wrong elements from right ones. */
#ifndef NNV_DEBUG_ELEMENTS_H
#define NNV_DEBUG_ELEMENTS_H

#include "base/arena.h"
#include "harness/debug/separate/separate.h"
#include "reference/model/model.h"

/** How an element of an answer was judged. */
enum nnv_element { NNV_ELEMENT_RIGHT, NNV_ELEMENT_WRONG, NNV_ELEMENT_IGNORED };

/**
 * Writes up to `most` observations of the elements of an answer of one operation to `to`: where each lies in its
 * output, its right value, and what the inputs hold at its place. state: of the elements of all outputs, one behind the
 * other; of many a sample is taken, of wrong ones at most half. None is held; their attributes are arena's. The number
 * of them; 0 too where there is no memory.
 */
size_t nnv_observe_elements(const struct nnv_spec *spec, const enum nnv_element *state, size_t most,
                            struct nnv_arena *arena, struct nnv_observation *to);

#endif
