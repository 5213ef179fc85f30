/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file ties.h Where numbers tie, more than one answer is right: the expectation follows the driver's choice as far as
 * it is proven to be one among equals, and the checker compares the rest. See docs/use/tolerances.md.
 */
#ifndef NNV_HARNESS_TIES_H
#define NNV_HARNESS_TIES_H

#include "harness/judge/check.h"

/** By the record of the operation that writes output i: how it is judged. *run: elements of one choice, at least 1. */
enum nnv_judged nnv_output_rule(const struct nnv_subgraph *main, uint32_t i, uint32_t *run);

/**
 * For indices of the largest numbers of source's lines, falling. Index r of a line is right if it is in range, did not
 * stand before, and no number that did not stand before is surely larger than the one it points at. Where the driver's
 * index is right it becomes the expected one; elsewhere the index of the largest number left does, so that the driver's
 * differs. *e then has a value and a spread of its own, arena's. actual: int32, as many as expected. False: out of
 * memory.
 */
NNV_USE_RESULT bool nnv_follow_indices(struct nnv_expectation *e, const struct nnv_source *source, const void *actual,
                                       struct nnv_arena *arena);

/**
 * For runs of `run` elements that follow from a choice: where *e has no spread (a run is open), value, spread and exact
 * of the whole run become those of the one of n >= 1 choices that actual fits best; the checker says whether well
 * enough. choices[c] is the golden result of this output with choice c + 1. False: out of memory.
 */
NNV_USE_RESULT bool nnv_follow_choice(struct nnv_expectation *e, uint32_t run, const struct nnv_golden *choices, int n,
                                      const void *actual, struct nnv_arena *arena);

#endif
