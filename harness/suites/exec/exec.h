/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file exec.h What the parts of the suite "exec" share: a prepared subject, and each way to execute it, judged.
 *
 * Functions that return false have written verdict and reason: the case only has to clean up.
 */
#ifndef NNV_SUITES_EXEC_H
#define NNV_SUITES_EXEC_H

#include "harness/suites/kit/session.h"
#include "harness/suites/kit/subjects.h"

/** What a case has at hand. */
struct nnv_exec {
    struct nnv_session *s;
    uint64_t seed;
    struct nnv_subject subject;
    struct nnvts_prepared_model *prepared; /**< NULL for a case that is .alone */
    struct nnv_values values;
};

struct nnv_exec_case {
    const char *name;
    void (*run)(struct nnv_exec *x);
    const char *only; /**< beginning of the names of the subjects that it is for; NULL: all */
    bool alone;       /**< it makes its own models: no subject is prepared */
};

struct nnv_exec_group {
    const char *name;
    const struct nnv_exec_case *cases;
    size_t count;
};
extern const struct nnv_exec_group nnv_exec_sync, nnv_exec_async, nnv_exec_fenced, nnv_exec_burst, nnv_exec_reusable,
    nnv_exec_timing, nnv_exec_memory, nnv_exec_many;

/* --------------------------------------------------------------------- models */

/** The same model with other inputs: each is turned by `turn` elements. */
bool nnv_exec_variant(struct nnv_exec *x, size_t turn, struct nnv_subject *out);
/** Several of them, and a request in memory of its own for each. */
bool nnv_exec_variants(struct nnv_exec *x, enum nnv_session_memory_kind kind, uint32_t count,
                       struct nnv_subject *subjects, struct nnv_values *values);
/** A model whose execution takes long, prepared, and a request for it. False: the case is over. */
bool nnv_exec_work(struct nnv_exec *x, uint32_t times, struct nnv_subject *subject,
                   struct nnvts_prepared_model **prepared, struct nnv_values *values);

/* ---------------------------------------------------------------------- modes */

enum nnv_exec_mode {
    NNV_EXEC_SYNC,
    NNV_EXEC_ASYNC,
    NNV_EXEC_FENCED,
    NNV_EXEC_BURST,
    NNV_EXEC_REUSABLE,
    NNV_EXEC_MODES
};

/** What an execution took. */
struct nnv_exec_times {
    struct nnvts_timing launched, fenced; /**< as the driver says; fenced: NNV_EXEC_FENCED only */
    uint64_t wall_ns;                     /**< from before the launch to when its end was known */
};

bool nnv_exec_has(const struct nnvts_prepared_model *prepared, enum nnv_exec_mode mode);
/** UNSUPPORTED, and false, if the driver does not offer the mode. */
bool nnv_exec_needs(struct nnv_exec *x, enum nnv_exec_mode mode);
/**
 * One execution in the mode, from the launch to the end: statuses, values, memory and times are judged.
 * config may be NULL: the usual one; times may be NULL.
 */
bool nnv_exec_run(struct nnv_exec *x, struct nnvts_prepared_model *prepared, enum nnv_exec_mode mode,
                  struct nnv_values *v, const struct nnvts_execution_config *config, struct nnv_exec_times *times);
/** The times are in order: what was not asked for is not there; 0 <= on device <= in driver <= wall clock. */
bool nnv_exec_check_times(struct nnv_session *s, const char *call, bool asked, const struct nnvts_timing *t,
                          uint64_t wall_ns);
/** Notes where two results of one request, each right by its budget, are not the same bits. */
bool nnv_exec_same_bits(struct nnv_exec *x, const char *call, const struct nnv_values *a, const struct nnv_values *b);
/** The status of a request that breaks a rule: INVALID_ARGUMENT; outputs and inputs are as they were. */
bool nnv_exec_refused(struct nnv_exec *x, const char *call, enum nnvts_status status, const struct nnv_values *v);

/* --------------------------------------------------------------- asynchronous */

/** Where a callback arrives. It outlives the case: a driver may call again when it must not. */
struct nnv_exec_landing;

/** Resets v and calls execute_async; *status is its answer. NULL: ERROR. */
struct nnv_exec_landing *nnv_exec_launch(struct nnv_exec *x, struct nnvts_prepared_model *prepared,
                                         struct nnv_values *v, const struct nnvts_request *request,
                                         const struct nnvts_execution_config *config, enum nnvts_status *status);
/** Waits for the callback and judges the values as they were when it came. */
bool nnv_exec_land(struct nnv_exec *x, struct nnv_exec_landing *landing, struct nnv_exec_times *times);
/** How often the callback came so far; waits a moment for one too many. */
uint32_t nnv_exec_landings(struct nnv_exec_landing *landing);

/* --------------------------------------------------------------------- fenced */

/** A fence that nnvts signals. */
struct nnv_exec_fence {
    int wait, signal;
};
enum nnv_exec_fence_kind {
    NNV_EXEC_EVENT, /**< POLLIN once signalled */
    NNV_EXEC_BROKEN /**< POLLERR once signalled */
};
bool nnv_exec_fence_make(struct nnv_exec *x, enum nnv_exec_fence_kind kind, struct nnv_exec_fence *fence);
void nnv_exec_fence_signal(struct nnv_exec_fence *fence);
void nnv_exec_fence_free(struct nnv_exec_fence *fence);

/** One launch of execute_fenced. */
struct nnv_exec_fenced_run {
    struct nnvts_prepared_model *prepared;
    struct nnv_values *v;
    const int *wait_for;
    uint32_t wait_for_count;
    const struct nnvts_execution_config *config; /**< NULL: the usual one */
    uint64_t duration_ns;
    struct nnvts_fenced_execution out; /**< what the driver gave */
    uint64_t launched_ns;
};
/** Calls execute_fenced with outputs whose extents are all stated. A launch that went well gave a whole object. */
bool nnv_exec_fenced_launch(struct nnv_exec *x, struct nnv_exec_fenced_run *run, enum nnvts_status *status);
/** As above; the launch must go well. */
bool nnv_exec_fenced_start(struct nnv_exec *x, struct nnv_exec_fenced_run *run);
/** True if the fence has signalled by now. */
bool nnv_exec_fenced_done(const struct nnv_exec_fenced_run *run);
/** Waits for the fence; judges values, result and times; releases. */
bool nnv_exec_fenced_finish(struct nnv_exec *x, struct nnv_exec_fenced_run *run, struct nnv_exec_times *times);
/** Waits for the fence of an execution that must have failed, and releases it. */
bool nnv_exec_fenced_fails(struct nnv_exec *x, struct nnv_exec_fenced_run *run);

/* --------------------------------------------------------------------- bursts */

/** create_burst, which must go well. NULL: it did not, or the driver has no bursts (UNSUPPORTED). */
struct nnvts_burst *nnv_exec_burst_make(struct nnv_exec *x, struct nnvts_prepared_model *prepared);
/** One execution, judged. tokens: one a pool of the request. */
bool nnv_exec_burst_run(struct nnv_exec *x, struct nnvts_burst *burst, struct nnv_values *v, const int64_t *tokens,
                        const struct nnvts_execution_config *config, struct nnv_exec_times *times);
/** Releases the burst unless the worker is damaged. burst may be NULL. */
void nnv_exec_burst_free(struct nnv_exec *x, struct nnvts_burst *burst);

/* ------------------------------------------------------------------- reusable */

/** create_execution of v's request. NULL: it failed, or the driver has none (UNSUPPORTED). */
struct nnvts_execution *nnv_exec_reusable_make(struct nnv_exec *x, struct nnvts_prepared_model *prepared,
                                               const struct nnv_values *v, const struct nnvts_execution_config *config);
/** One execution of it, judged. measured: the configuration that it was made with asked for times. */
bool nnv_exec_reusable_run(struct nnv_exec *x, struct nnvts_execution *execution, struct nnv_values *v,
                           uint64_t deadline_ns, bool measured, struct nnv_exec_times *times);
void nnv_exec_reusable_free(struct nnv_exec *x, struct nnvts_execution *execution);

/* ---------------------------------------------------------------------- others */

/** Sleeps; sleeps of drivers and of nnvts are never judged by the clock alone. */
void nnv_exec_sleep_us(unsigned us);

#define NNV_EXEC_GROUP(label, table)                                                                                   \
    { label, table, sizeof(table) / sizeof *(table) }

#endif
