/* SPDX-License-Identifier: Apache-2.0 */
/** @file sensitivity.h How small an error the judge notices: errors of growing size planted into golden answers. */
#ifndef NNV_HARNESS_SENSITIVITY_H
#define NNV_HARNESS_SENSITIVITY_H

#include "harness/runner/suite.h"
#include "reports/sensitivity.h"

/**
 * Tries the cases of suite `ops` among these that are judged by a budget, at most `most` of each operation and type,
 * evenly chosen. No driver runs. The table is arena's, in the order of the cases.
 */
NNV_USE_RESULT enum nnv_status nnv_sensitivity_of(const struct nnv_run_config *config, const struct nnv_case *cases,
                                                  size_t count, size_t most, struct nnv_arena *arena,
                                                  struct nnv_sensitivity_table *table, struct nnv_err *err);

/** Moves a stored number by `step` units of its type, or units in the last place away from zero. False: not finite. */
bool nnv_plant_error(int32_t type, void *number, uint32_t step);
/** The least step that the judge notices in answers to the spec, into step; 0: none. */
NNV_USE_RESULT enum nnv_status nnv_sensitivity_of_spec(const struct nnv_spec *spec, enum nnv_precision precision,
                                                       struct nnv_arena *arena, uint32_t step[NNV_PLANTED_IN_COUNT],
                                                       struct nnv_err *err);

#endif
