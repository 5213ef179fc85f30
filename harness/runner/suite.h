/* SPDX-License-Identifier: Apache-2.0 */
/** @file suite.h Suites and their cases: the registry. */
#ifndef NNV_HARNESS_SUITE_H
#define NNV_HARNESS_SUITE_H

#include "harness/journal/case.h"
#include "harness/judge/check.h"
#include "harness/client/driver.h"

struct nnv_answers;
struct nnv_passes;

/** What becomes of the bytes that a driver answers, see determinism.h. */
enum nnv_determinism {
    NNV_DETERMINISM_OFF,
    NNV_DETERMINISM_PASS, /**< they are handed on, whatever the verdict */
    NNV_DETERMINISM_JUDGE /**< they must be the same each time */
};

/** What a run was asked to do: the same for all its cases. */
struct nnv_run_config {
    const char *driver;                       /**< as on the command line */
    const char *driver_path, *driver_options; /**< resolved */
    const char *specs;                        /**< file or folder of specs, or NULL */
    const char *out;                          /**< the run's folder */
    uint64_t seed;
    int precision;             /**< enum nnv_precision, or -1: the suite's default */
    int tier;                  /**< 0 smoke, 1 default, 2 full */
    uint64_t count;            /**< random graphs; 0: the tier says */
    uint64_t timeout_ns;       /**< of one case */
    uint64_t least_opening_ns; /**< that a driver may take to open, however short timeout_ns is; 0: 10 s */
    uint64_t budget_ns;        /**< no case begins after so long; what is left is SKIP; 0: no limit */
    uint64_t memory;           /**< bytes that a worker may map beyond what it has when it starts; 0: no limit */
    int jobs;
    enum nnv_determinism determinism;
    const struct nnv_passes *passes; /**< JUDGE: what the answers are compared with; or NULL */
    bool one_cpu;                    /**< workers may use one processor only */
    uint32_t repeat;                 /**< times that each case is run; 0 is 1 */
};

/** What a case ends with: verdict, and the members of its journal record (docs/use/journal.md). Zero-initialise. */
struct nnv_result {
    int verdict; /**< enum nnvts_verdict; starts as ERROR */
    size_t compared, not_compared;
    uint64_t driver_ns;      /**< in the driver */
    bool worker_damaged;     /**< the worker process is to be replaced */
    struct nnv_text reason;  /**< one block of lines for people; empty for PASS */
    struct nnv_text outputs; /**< JSON array of the comparisons, or empty */
    struct nnv_text answer;  /**< bytes of all outputs, one behind the other, where values are wrong and env asks */
};

/** What running a case needs. */
struct nnv_case_env {
    const struct nnv_run_config *config;
    struct nnv_client *client;
    struct nnv_arena *arena; /**< reset after the case */
    volatile uint32_t *phase;
    bool keep_answer;            /**< see nnv_result */
    struct nnv_answers *answers; /**< the outputs of each execution are added to it; may be NULL */
    bool twice;               /**< with answers: each prepared model is executed twice, and must give the same bytes */
    _Atomic uint32_t *serial; /**< a case of many steps bumps it after each: its deadline begins anew; may be NULL */
};

struct nnv_suite {
    const char *name;    /**< "ops" */
    const char *summary; /**< what it verifies, one line */
    int precision;       /**< default profile */
    bool by_default;     /**< part of a run without --suite (spec: where specs are given) */
    bool for_libraries;  /**< part of a run without --suite if the driver is an NNAPI library: "ndk:...", "sl:..." */
    /** Lists all cases, deterministically, fast and without a driver. */
    enum nnv_status (*list)(const struct nnv_run_config *config, struct nnv_case_list *list, struct nnv_err *err);
    /** Makes the spec of a case (to judge, or to dump); the expected outputs hold the golden values. NULL for suites
     * without specs. */
    enum nnv_status (*build)(const struct nnv_run_config *config, const struct nnv_case *c, struct nnv_arena *arena,
                             struct nnv_spec **spec, struct nnv_err *err);
    /** run verifies more than the values of the spec that build makes: a replay of its dump may not show the failure.
     */
    bool beyond_values;
    /** Runs a case on env->client. NULL: build and nnv_judge. */
    void (*run)(struct nnv_case_env *env, const struct nnv_case *c, struct nnv_result *result);
};

/** All suites; the table is in harness/suites/suites.c. */
const struct nnv_suite *const *nnv_suites(size_t *count);
const struct nnv_suite *nnv_suite_by_name(const char *name);

/** The profile for a case: the run's, else the one that the spec asks for, else the suite's. NNV_INVALID: no such
 * profile. */
NNV_USE_RESULT enum nnv_status nnv_case_precision(const struct nnv_run_config *config, const struct nnv_suite *suite,
                                                  const struct nnv_spec *spec, enum nnv_precision *precision,
                                                  struct nnv_err *err);

/**
 * Judges a spec on the client's driver: runs it, compares every output by the profile, and writes verdict,
 * reason and comparisons. level: the case's. The one path from a spec to a verdict: run, replay and all suites use it.
 */
void nnv_judge(struct nnv_case_env *env, const struct nnv_spec *spec, int level, enum nnv_precision precision,
               struct nnv_result *result);
/** The same for outputs that somebody has computed before; they must have the expected shapes. env needs an arena. */
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

/** Runs a case from beginning to end: run, or build and nnv_judge. */
void nnv_case_run(struct nnv_case_env *env, const struct nnv_case *c, struct nnv_result *result);

#endif
