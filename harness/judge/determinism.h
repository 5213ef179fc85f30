/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file determinism.h Do the same model and inputs give the same bytes? From execution to execution, from compilation
 * to compilation, from process to process, and with any number of threads. See docs/use/flakes.md.
 */
#ifndef NNV_HARNESS_DETERMINISM_H
#define NNV_HARNESS_DETERMINISM_H

#include "harness/runner/pool.h"

/** The outputs of all executions of a case, in their order: a line of headers, each with the bytes behind it. */
struct nnv_answers {
    struct nnv_text blob;
    bool kept_all; /**< the bytes of all are there; else of the last ones only their hash is */
};

enum { NNV_ANSWERS_BYTES = 1 << 20 }; /**< of bytes that are kept of a case */

void nnv_answers_clear(struct nnv_answers *a);
/** Adds an output. name: its number. */
void nnv_answers_add(struct nnv_answers *a, uint32_t output, const struct nnv_operand *o, const struct nnv_value *v);
/**
 * True if b holds other bytes than a; then *t tells where: "output 0 [2,3]: 4 of 6 values differ, first at [0,1]: 0.5
 * and 0.25". What holds no answers differs from nothing. Both may be anything: they come from workers.
 */
bool nnv_answers_differ(struct nnv_bytes a, struct nnv_bytes b, struct nnv_text *t);

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
