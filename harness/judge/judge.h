/* SPDX-License-Identifier: Apache-2.0 */
/** @file judge.h From a spec and what a driver answered to a verdict. */
#ifndef NNV_JUDGE_JUDGE_H
#define NNV_JUDGE_JUDGE_H

#include <stdatomic.h>

#include "harness/client/driver.h"
#include "harness/judge/check.h"
#include "nnvts/result.h"

struct nnv_answers;
struct nnv_before;
struct nnv_run_config;

/** What a case ends with: verdict, and the members of its journal record (docs/use/journal.md). Zero-initialise. */
struct nnv_result {
    int verdict;                   /**< enum nnvts_verdict; starts as ERROR */
    enum nnvts_reason why;         /**< NONE where the verdict says all */
    int mode;                      /**< of the execution that failed, enum nnv_mode and 1; 0: not said */
    size_t compared, not_compared; /**< compared: values of outputs, and other expectations */
    size_t values;                 /**< of compared: values of outputs */
    uint64_t driver_ns;            /**< in the driver */
    bool worker_damaged;           /**< the worker process is to be replaced */
    bool died;                     /**< a call that was to succeed answered DEAD_OBJECT */
    struct nnv_text reason;        /**< one block of lines for people; empty for PASS */
    struct nnv_text outputs;       /**< JSON array of the comparisons, or empty */
    struct nnv_text uses;          /**< how the case uses its operation: "rank=4 layout=nchw"; or empty */
    struct nnv_text devices;       /**< who computed how many operations: "npu=3 nnapi-reference=1"; or empty */
    struct nnv_text drift;         /**< JSON array of what grew or stayed, see drift.h; or empty */
    struct nnv_text answer;        /**< bytes of all outputs, one behind the other, where env asks */
};

/** What running a case needs. */
struct nnv_case_env {
    const struct nnv_run_config *config;
    struct nnv_client *client;
    const struct nnv_arithmetic *arithmetic; /**< that the driver promises; NULL: what the spec says */
    struct nnv_arena *arena;                 /**< reset after the case */
    volatile uint32_t *phase;
    bool keep_answer;            /**< see nnv_result: where values are wrong, */
    bool keep_right;             /**< and where they are right */
    struct nnv_before *before;   /**< the execution before this one in the process; may be NULL */
    struct nnv_answers *answers; /**< the outputs of each execution are added to it; may be NULL */
    bool twice;               /**< with answers: each prepared model is executed twice, and must give the same bytes */
    _Atomic uint32_t *serial; /**< a case of many steps bumps it after each: its deadline begins anew; may be NULL */
};

/** What the driver promises of its arithmetic where it answers the spec. */
struct nnv_arithmetic nnv_env_arithmetic(const struct nnv_case_env *env, const struct nnv_spec *spec);
/** Empties the result: ERROR until it is known better. */
void nnv_result_start(struct nnv_result *result);
/** The verdict that a reason goes with. */
enum nnvts_verdict nnv_why_verdict(enum nnvts_reason why);
/** Ends with a reason, its verdict, and one line that says more. */
void nnv_result_end(struct nnv_result *result, enum nnvts_reason why, const char *fmt, ...) NNV_PRINTF(3, 4);
/** True if the driver knows this feature level; otherwise the case is skipped. */
bool nnv_result_level(const struct nnv_case_env *env, int level, struct nnv_result *result);

/**
 * Judges a spec on the client's driver: runs it, compares every output by the profile, and writes verdict,
 * reason and comparisons. level: the case's. The one path from a spec to a verdict: run, replay and all suites use it.
 */
void nnv_judge(struct nnv_case_env *env, const struct nnv_spec *spec, int level, enum nnv_precision precision,
               struct nnv_result *result);
/** The same for outputs that were computed before; they must have the expected shapes. env needs an arena. */
void nnv_judge_answer(struct nnv_case_env *env, const struct nnv_spec *spec, enum nnv_precision precision,
                      struct nnv_value *outputs, struct nnv_result *result);

/** What an output is compared with, one number an element; arena's. */
struct nnv_bounds {
    size_t elems;
    double *expected;
    double *bound; /**< NaN: not compared, or not by its value */
};
/** The bounds of all outputs (spec->model.main.nout entries). NNV_INVALID: there is no golden result. */
NNV_USE_RESULT enum nnv_status nnv_judge_bounds(const struct nnv_spec *spec, enum nnv_precision precision,
                                                struct nnv_arena *arena, struct nnv_bounds *bounds,
                                                struct nnv_err *err);

#endif
