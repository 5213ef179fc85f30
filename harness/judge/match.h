/* SPDX-License-Identifier: Apache-2.0 */
/** @file match.h Results that may come in any order, compared as sets. See docs/use/tolerances.md. */
#ifndef NNV_HARNESS_MATCH_H
#define NNV_HARNESS_MATCH_H

#include "harness/judge/check.h"

/**
 * Brings what may come in any order into the order of what is expected: row i of all outputs of an operation whose
 * record says so (any_order) is one result, and results of equal value in the last output, the group, change places
 * so that as many as possible fit what is expected, each used once. nnv_check then compares as ever: a result that is
 * wrong, missing, doubled or in another group stays wrong. AOSP's own rule compares in order: nothing is done.
 * Where the group is no output of the model, or not compared, there is nothing to tell groups by: nothing is done.
 * e, actual: one entry an output of the model, of the expected shapes; actual's data are replaced (arena's). Allowed
 * to differ is what the precision allows. Where memory is short the order stays, which is stricter.
 */
void nnv_match(const struct nnv_subgraph *main, const struct nnv_expectation *e, enum nnv_precision precision,
               struct nnv_arena *arena, struct nnv_value *actual);

#endif
