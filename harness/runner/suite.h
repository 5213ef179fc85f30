/* SPDX-License-Identifier: Apache-2.0 */
/** @file suite.h Suites and their cases: the registry. */
#ifndef NNV_HARNESS_SUITE_H
#define NNV_HARNESS_SUITE_H

#include "harness/journal/case.h"
#include "harness/judge/judge.h"
#include "harness/client/driver.h"

struct nnv_coverage;
struct nnv_passes;

/** What becomes of the bytes that a driver answers, see determinism.h. */
enum nnv_determinism {
    NNV_DETERMINISM_OFF,
    NNV_DETERMINISM_PASS, /**< they are handed on, whatever the verdict */
    NNV_DETERMINISM_JUDGE /**< they must be the same each time */
};

/** Of which cases what they leave behind in their worker is counted, see leaks.h. */
enum nnv_leak_watch { NNV_LEAKS_SOME, NNV_LEAKS_ALL, NNV_LEAKS_OFF };

/** What a run was asked to do: the same for all its cases. */
struct nnv_run_config {
    const char *driver;                       /**< as on the command line */
    const char *driver_path, *driver_options; /**< resolved */
    const char *specs;                        /**< file or folder of specs, or NULL */
    const char *out;                          /**< the run's folder */
    uint64_t seed;
    int precision;                           /**< enum nnv_precision, or -1: the suite's default */
    const struct nnv_arithmetic *arithmetic; /**< that the driver promises; NULL: what a spec says, else strict */
    int tier;                                /**< a number of tier.h */
    uint64_t count;                          /**< random graphs; 0: the tier says */
    uint64_t timeout_ns;                     /**< of one case */
    uint64_t least_opening_ns; /**< that a driver may take to open, however short timeout_ns is; 0: 10 s */
    uint64_t stress_ns;        /**< that the cases of stress take together; 0: a moment each */
    uint64_t budget_ns;        /**< no case begins after so long; what is left is SKIP; 0: no limit */
    uint64_t memory;           /**< bytes that a worker may map beyond what it has when it starts; 0: no limit */
    uint64_t disk;             /**< bytes that a case may write to disk, see limits.h; 0: no limit */
    uint64_t silence_ns;       /**< that a case may go without a sign of life in the driver's calls; 0: no limit */
    uint64_t min_judged; /**< percent of the cases that must be judged, neither unsupported nor skipped; 0: none */
    uint64_t max_failures, max_timeouts; /**< cases that go wrong, or hang, before the run ends; 0: no limit */
    const char *kernel_log;              /**< followed while cases run, see nnv_kernel_log_open() */
    const char *reset_hook;              /**< command that brings the device back after a death; NULL: none */
    const char *suspend_hook;            /**< that suspends it in the middle of each case of stress; NULL: none */
    int jobs;
    enum nnv_determinism determinism;
    const struct nnv_passes *passes; /**< JUDGE: what the answers are compared with; or NULL */
    enum nnv_leak_watch leaks;
    bool one_cpu;                  /**< workers may use one processor only */
    bool compile_only;             /**< models are compiled, and nothing is executed */
    uint32_t repeat;               /**< times that each case is run; 0 is 1 */
    uint64_t keep_below;           /**< of which passes the answers are kept, see keep.h; 0: of none */
    struct nnv_coverage *coverage; /**< where what is reached of the driver's code is summed up; NULL: not wanted */
    const char *saturation;        /**< why the random graphs are count, one line; NULL: nothing was estimated */
    const char *networks;          /**< where the specs stand in networks, as JSON; NULL: not known */
};

struct nnv_suite {
    const char *name;    /**< "ops" */
    const char *summary; /**< what it verifies, one line */
    int precision;       /**< default profile */
    bool by_default;     /**< part of a run without --suite (spec: where specs are given) */
    bool for_libraries;  /**< part of a run without --suite if the driver is an NNAPI library: "ndk:...", "sl:..." */
    /**
     * Optional. Told once, before the first case runs, of a run that has cases of the suite: it may ask the driver,
     * which is run in a process of its own, what it has. Adds to said, for the run's header, what follows from that for
     * the cases; nothing where they are what they are for any driver.
     */
    enum nnv_status (*meet)(const struct nnv_run_config *config, struct nnv_text *said, struct nnv_err *err);
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

/** The profile for a case: the run's, else the one that the spec asks for, else the suite's; spec->arithmetic becomes
 * the run's where it states one. NNV_INVALID: no such profile. */
NNV_USE_RESULT enum nnv_status nnv_case_precision(const struct nnv_run_config *config, const struct nnv_suite *suite,
                                                  struct nnv_spec *spec, enum nnv_precision *precision,
                                                  struct nnv_err *err);

/** Runs a case from beginning to end: run, or build and nnv_judge. */
void nnv_case_run(struct nnv_case_env *env, const struct nnv_case *c, struct nnv_result *result);

#endif
