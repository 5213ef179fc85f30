/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file exec.h What the parts of the suite "exec" share: a prepared fixture, and each mode of execution, judged.
 *
 * Functions that return false have written verdict and reason: the case only has to clean up.
 */
#ifndef NNV_SUITES_EXEC_H
#define NNV_SUITES_EXEC_H

#include "harness/suites/kit/context.h"
#include "harness/suites/kit/fixture_models.h"

/** What a case has at hand. */
struct nnv_exec {
    struct nnv_context *s;
    uint64_t seed;
    struct nnv_fixture fixture;
    struct nnvts_prepared_model *prepared; /**< NULL for a case that is .alone */
    struct nnv_request values;
};

struct nnv_exec_case {
    const char *name;
    void (*run)(struct nnv_exec *x);
    const char *only; /**< beginning of the names of the fixtures that it is for; NULL: all */
    bool alone;       /**< it makes its own models, and measures time: no fixture is prepared */
};

struct nnv_exec_group {
    const char *name;
    const struct nnv_exec_case *cases;
    size_t count;
};
extern const struct nnv_exec_group nnv_exec_sync, nnv_exec_async, nnv_exec_fenced, nnv_exec_burst, nnv_exec_reusable,
    nnv_exec_timing, nnv_exec_memory, nnv_exec_many;

/* each.c: cases of each operation, that no fixture is for */
NNV_USE_RESULT enum nnv_status nnv_exec_list_again(struct nnv_case_list *list, struct nnv_case made,
                                                   struct nnv_err *err);
/** At most so many variants of an operation. */
NNV_USE_RESULT enum nnv_status nnv_exec_list_at_once(struct nnv_case_list *list, struct nnv_case made, int most,
                                                     struct nnv_err *err);
void nnv_exec_again(struct nnv_exec *x, const struct nnv_case *c);
void nnv_exec_at_once(struct nnv_exec *x, const struct nnv_case *c);

/* --------------------------------------------------------------------- models */

/** The same model with other inputs: each is turned by `turn` elements. */
bool nnv_exec_variant(struct nnv_exec *x, size_t turn, struct nnv_fixture *out);
bool nnv_exec_variant_of(struct nnv_exec *x, const struct nnv_spec *from, size_t turn, struct nnv_fixture *out);
/** Several of them, and a request in memory of its own for each. */
bool nnv_exec_variants(struct nnv_exec *x, enum nnv_pool_kind kind, uint32_t count, struct nnv_fixture *fixtures,
                       struct nnv_request *values);
/** A model whose execution takes long, prepared, and a request for it. False: the case is over. */
bool nnv_exec_work(struct nnv_exec *x, uint32_t times, struct nnv_fixture *fixture,
                   struct nnvts_prepared_model **prepared, struct nnv_request *values);

/* ----------------------------------------------------------------- executions */

/** An execution in any mode that is judged by what its outputs held when the driver said that they were there. */
struct nnv_exec_run {
    struct nnv_execution x;
    struct nnv_request *v;
    uint8_t *seen[NNV_FIXTURE_MAX_IO]; /**< ASYNC, FENCED: the outputs then, with their guard zones */
};

/** Of the request, by this configuration (NULL: the usual one). */
bool nnv_exec_make(struct nnv_exec *x, struct nnv_exec_run *run, struct nnvts_prepared_model *prepared,
                   enum nnv_mode mode, struct nnv_request *v, const struct nnvts_execution_config *config);
/** Resets the request and launches, which must go well; what a fenced execution must know of its outputs is stated. */
bool nnv_exec_launch(struct nnv_exec *x, struct nnv_exec_run *run);
/** The same where the launch may be refused: run->x.launched tells. False: a rule is broken. */
bool nnv_exec_try_launch(struct nnv_exec *x, struct nnv_exec_run *run);
/** Waits for the end, and judges statuses, values, memory and times. A fenced execution is released. */
bool nnv_exec_finish(struct nnv_exec *x, struct nnv_exec_run *run);
/** Launches and finishes. */
bool nnv_exec_once(struct nnv_exec *x, struct nnv_exec_run *run);
/** A request in structs that are lent for a call alone. */
struct nnv_exec_loan {
    struct nnvts_request request;
    struct nnvts_argument args[2 * NNV_FIXTURE_MAX_IO];
    struct nnvts_memory pools[2];
};
/** Resets v, and lends it to the run. */
void nnv_exec_lend(struct nnv_exec_loan *l, struct nnv_request *v, struct nnv_exec_run *run);
/** Overwrites what was lent. */
void nnv_exec_take_back(struct nnv_exec_loan *l);
/** Releases what is open, unless the worker is damaged. Zeros are allowed. */
void nnv_exec_end(struct nnv_exec *x, struct nnv_exec_run *run);
/** The same where the case has failed: first waits for what was launched, and does not judge it. Whoever launches ends
 * by this, or by nnv_exec_finish(), before the model is released. */
void nnv_exec_drop(struct nnv_exec *x, struct nnv_exec_run *run);
/** All of it: one execution in the mode, or two of a burst and of a reusable one. */
bool nnv_exec_run(struct nnv_exec *x, struct nnvts_prepared_model *prepared, enum nnv_mode mode, struct nnv_request *v,
                  const struct nnvts_execution_config *config);

/** After the last of them: no callback of an execution came a second time. */
bool nnv_exec_called_once(struct nnv_exec *x);

/** nnv_verify_times(), expected. */
bool nnv_exec_check_times(struct nnv_context *s, const char *call, bool asked, const struct nnvts_timing *t,
                          uint64_t wall_ns);
/** Notes where two results of one request, each right by its budget, are not the same bits. */
bool nnv_exec_same_bits(struct nnv_exec *x, const char *call, const struct nnv_request *a, const struct nnv_request *b);
/** The status of a request that breaks a rule: INVALID_ARGUMENT; outputs and inputs are as they were. */
bool nnv_exec_refused(struct nnv_exec *x, const char *call, enum nnvts_status status, const struct nnv_request *v);

/* --------------------------------------------------------------------- fences */

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

/* ---------------------------------------------------------------------- others */

/** Sleeps; sleeps of drivers and of nnvts are never judged by the clock alone. */
void nnv_exec_sleep_us(unsigned us);

#define NNV_EXEC_GROUP(label, table)                                                                                   \
    { label, table, sizeof(table) / sizeof *(table) }

#endif
