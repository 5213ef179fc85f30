/* SPDX-License-Identifier: Apache-2.0 */
/** @file flakes_run.h The failures of a run tried again in workers. */
#ifndef NNV_HARNESS_FLAKES_RUN_H
#define NNV_HARNESS_FLAKES_RUN_H

#include "harness/journal/flakes.h"
#include "harness/runner/run.h"

struct nnv_flakes_options {
    const struct nnv_run_config *config;
    const struct nnv_case *cases; /**< those of the run, as listed in its cases.tsv */
    size_t count;
    uint64_t budget_ns; /**< for all */
    size_t most;        /**< failures to study */
};
/** Studies failures of the finished run in config->out and writes flakes.json: see nnv_retry_failures(). */
NNV_USE_RESULT enum nnv_status nnv_flakes(const struct nnv_flakes_options *o, struct nnv_err *err);

#endif
