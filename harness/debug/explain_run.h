/* SPDX-License-Identifier: Apache-2.0 */
/** @file explain_run.h What explains the failures of a run. */
#ifndef NNV_DEBUG_EXPLAIN_RUN_H
#define NNV_DEBUG_EXPLAIN_RUN_H

#include "harness/debug/separate/separate_run.h"
#include "harness/judge/check.h"
#include "reference/model/model.h"

/**
 * Explains failures of the run in the folder by what their dumps hold of the driver's answers, of each bucket one, then
 * more, within a bounded work of a few seconds; says under which condition each cause shows; and writes explained.json,
 * which buckets are then made by. cases: NULL if they cannot be made again; then no condition is told.
 */
NNV_USE_RESULT enum nnv_status nnv_explain_run(const char *folder, const struct nnv_run_cases *cases,
                                               struct nnv_err *err);
/** Removes what an earlier run in the folder had explained. */
NNV_USE_RESULT enum nnv_status nnv_explain_nothing(const char *folder, struct nnv_err *err);

#endif
