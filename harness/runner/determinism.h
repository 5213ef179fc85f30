/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file determinism.h Do the same model and inputs give the same bytes? From execution to execution, from compilation
 * to compilation, from process to process, and with any number of threads. See docs/use/flakes.md.
 */
#ifndef NNV_HARNESS_DETERMINISM_H
#define NNV_HARNESS_DETERMINISM_H

#include "harness/judge/answers.h"
#include "harness/runner/pool/pool.h"

/** One pass over all cases, made before the run, that the run's answers are compared with. */
struct nnv_pass {
    const char *what;          /**< "in another process" */
    struct nnv_bytes *answers; /**< of each case; empty: none */
    size_t bytes;              /**< of all that is kept */
};
enum { NNV_PASSES_MAX = 3 };
struct nnv_passes {
    struct nnv_pass pass[NNV_PASSES_MAX];
    size_t count, cases;
};

/**
 * Runs the cases that are not to be skipped in further processes, and keeps their answers. threads: what the driver
 * calls its option for them ("threads="), or NULL. *interrupted: the user did not want to wait.
 */
NNV_USE_RESULT enum nnv_status nnv_passes_run(const struct nnv_run_config *config, const struct nnv_case *cases,
                                              size_t count, const bool *skip, const char *threads,
                                              struct nnv_passes *passes, bool *interrupted, struct nnv_err *err);
void nnv_passes_free(struct nnv_passes *p);

/**
 * Runs a case on env->client as nnv_case_run() does, and if it passes, again: the result is FAIL where the bytes of two
 * executions, two compilations, or of a pass differ from those of the first.
 */
void nnv_case_run_determinism(struct nnv_case_env *env, const struct nnv_case *c, uint32_t index,
                              const struct nnv_passes *passes, struct nnv_result *result);

#endif
