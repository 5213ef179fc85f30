/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file context.h What the suites share that talk to a driver step by step: expectations, models, requests, results.
 *
 * A case begins a context, states what it expects, and ends it. The verdict is PASS until an expectation does not hold
 * (FAIL); a driver that does not support the model makes it UNSUPPORTED; a case that expected nothing is UNTRUSTED.
 * Functions that return false have written verdict and reason: the case only has to clean up.
 */
#ifndef NNV_SUITES_KIT_CONTEXT_H
#define NNV_SUITES_KIT_CONTEXT_H

#include "harness/client/abi.h"
#include "harness/client/execute.h"
#include "harness/client/prepare.h"
#include "harness/judge/compare.h"
#include "harness/runner/suite.h"

struct nnv_context_memory;

struct nnv_context {
    struct nnv_case_env *env;
    struct nnv_result *result;
    struct nnvts_device *device;
    int mode;                          /**< of the last execution, enum nnv_mode and 1; 0: there was none */
    struct nnv_context_memory *memory; /**< what nnv_context_end() unmaps */
};

void nnv_context_begin(struct nnv_context *s, struct nnv_case_env *env, struct nnv_result *result);
/** Unmaps the context's memory; UNTRUSTED if nothing was expected. */
void nnv_context_end(struct nnv_context *s);
/** Tells the harness where the case is, for deadlines and for naming the culprit of a crash. */
void nnv_context_enter(struct nnv_context *s, enum nnv_phase phase);

/** Counts one comparison; one that does not hold is a line of the reason, and the verdict FAIL. Returns ok. */
bool nnv_expect(struct nnv_context *s, bool ok, const char *fmt, ...) NNV_PRINTF(3, 4);
/** The same where more is known than that an expectation does not hold. */
bool nnv_expect_why(struct nnv_context *s, bool ok, enum nnvts_reason why, const char *fmt, ...) NNV_PRINTF(4, 5);
/** Why a call is wrong that answered success, or an error, where success was expected, or another answer. */
enum nnvts_reason nnv_why_answered(bool success, bool expected);
/** "call answered GENERAL_FAILURE, expected NONE". */
bool nnv_expect_status(struct nnv_context *s, const char *call, enum nnvts_status got, enum nnvts_status want);
/** The rules of the ABI that a client verifies, so many of them: "call wrote behind the end of output 0 ...". */
bool nnv_expect_kept(struct nnv_context *s, const char *call, const struct nnv_breach *b, uint32_t rules);
/** Any of the statuses whose bits (1u << status) are set. */
bool nnv_expect_status_in(struct nnv_context *s, const char *call, enum nnvts_status got, uint32_t wanted);
/** A remark that changes no verdict: a line of the case's log. */
void nnv_context_note(struct nnv_context *s, const char *fmt, ...) NNV_PRINTF(2, 3);
/** Out-of-line parts of nnv_context_decline and nnv_context_error. */
void nnv_context_set_declined(struct nnv_context *s, enum nnvts_reason why, const char *fmt, ...) NNV_PRINTF(3, 4);
void nnv_context_set_error(struct nnv_context *s, const char *fmt, ...) NNV_PRINTF(2, 3);
static inline bool nnv_context_no(void) { return false; }
/**
 * nnv_context_decline(s, why, format, ...): the case does not apply to this driver: SKIP or UNSUPPORTED, as the reason
 * says, unless it failed already. nnv_context_error(s, format, ...): nnvts itself could not do it: ERROR. Their value
 * is false; macros, so that compilers and analyzers see that.
 */
#define nnv_context_decline(s, why, ...) (nnv_context_set_declined((s), (why), __VA_ARGS__), nnv_context_no())
#define nnv_context_error(s, ...) (nnv_context_set_error((s), __VA_ARGS__), nnv_context_no())

/* ------------------------------------------------------------------- memory */

/** size bytes of shared memory as a pool, zeroed, until the context ends. *writable is where nnvts writes. */
bool nnv_context_memory(struct nnv_context *s, size_t size, enum nnv_pool_kind kind, struct nnvts_memory *pool,
                        uint8_t **writable);

/* ------------------------------------------------------------------- models */

/** A spec as drivers and the checker see it. */
struct nnv_fixture {
    const struct nnv_spec *spec;
    struct nnvts_model model;         /**< its constants lie in memory of the context */
    uint8_t *constants;               /**< where the pool of the constants can be written */
    const struct nnv_value *outputs;  /**< golden values, or those that the spec has */
    struct nnv_expectation *expected; /**< one an output: its golden value with a budget */
    struct nnv_comparer *compare;     /**< compares with it, as a verdict on a spec does; NULL: values are not judged */
    struct nnv_value *answered;       /**< with that: room for what a driver answers */
};

/** Renders the model alone, without expectations: nothing can be executed. */
bool nnv_context_render(struct nnv_context *s, const struct nnv_spec *spec, struct nnv_fixture *fixture);
/** Renders the model, and evaluates it for what to expect. */
bool nnv_context_model(struct nnv_context *s, const struct nnv_spec *spec, struct nnv_fixture *fixture);
/** Indices of what is equally large, random samples: their shapes count, their values are judged by the suite ops. */
void nnv_context_forgive_choices(struct nnv_fixture *fixture);
/**
 * Renders the model, and expects the spec's own outputs without budgets: for work that is measured, not judged, and so
 * costs no evaluation.
 */
bool nnv_context_work(struct nnv_context *s, const struct nnv_spec *spec, struct nnv_fixture *fixture);
/** get_supported_operations answers NONE and true for all; UNSUPPORTED if it does not. */
bool nnv_context_supports(struct nnv_context *s, const struct nnv_fixture *fixture);
/**
 * A prepared model, by the usual configuration, of a model that the driver supports (asked first). NULL: the case is
 * over, UNSUPPORTED or FAIL. The constants are checked to be unchanged.
 */
struct nnvts_prepared_model *nnv_context_prepare(struct nnv_context *s, const struct nnv_fixture *fixture);
/**
 * prepare_model alone, by this configuration (NULL: the usual one): one of the allowed statuses (bits 1u << status),
 * and *prepared whole or NULL accordingly. call is named in the reason.
 */
bool nnv_context_compile(struct nnv_context *s, const struct nnv_fixture *fixture, const char *call,
                         const struct nnvts_prepare_config *config, uint32_t allowed,
                         struct nnvts_prepared_model **prepared);
void nnv_context_release(struct nnv_context *s, struct nnvts_prepared_model *prepared);

/* ----------------------------------------------------------------- requests */

/** Makes a request of the fixture; kind is that of the input pool. Outputs have the buffers that they need. */
bool nnv_context_request(struct nnv_context *s, const struct nnv_fixture *fixture, enum nnv_pool_kind kind,
                         struct nnv_request *r);
/** A request in memory of the context; kind is that of the input pool. */
bool nnv_context_place(struct nnv_context *s, const struct nnv_model *model, const struct nnv_value *in,
                       const struct nnv_value *out, enum nnv_pool_kind kind, struct nnv_request *r);
/** Puts other inputs into the same memory: fixture is the same model with other values. */
void nnv_context_fill(struct nnv_request *r, const struct nnv_fixture *fixture);
/** Guard zones are whole and inputs unchanged. call is named in the reason; "burst". */
bool nnv_context_check_memory(struct nnv_context *s, const char *call, const struct nnv_request *r);
/** As above, and: status is NONE, and the shapes are right, whatever the values are. */
bool nnv_context_check_outcome(struct nnv_context *s, const char *call, enum nnvts_status status,
                               const struct nnv_request *r);
/** As above, and: every value is within its budget. */
bool nnv_context_check_values(struct nnv_context *s, const char *call, enum nnvts_status status,
                              const struct nnv_request *r);
/** What the outputs of a request of the same model, or one like it, hold would be right for this fixture. */
bool nnv_context_would_do(const struct nnv_fixture *fixture, const struct nnv_request *r);

/* --------------------------------------------------------------- executions */

/** UNSUPPORTED, and false, if the driver does not offer the mode. */
bool nnv_context_needs(struct nnv_context *s, const struct nnvts_prepared_model *prepared, enum nnv_mode mode);
/** Creates what the mode executes by, which must go well. */
bool nnv_context_open(struct nnv_context *s, struct nnv_execution *x);
/** Opens if need be, and launches, which must go well. */
bool nnv_context_launch(struct nnv_context *s, struct nnv_execution *x);
/** Waits for the end. What the execution itself answered is in x->status, and not judged. */
bool nnv_context_wait(struct nnv_context *s, struct nnv_execution *x);
/** Launches and waits. */
bool nnv_context_run(struct nnv_context *s, struct nnv_execution *x);
/** Releases what the execution holds unless the worker is damaged. */
void nnv_context_close(struct nnv_context *s, struct nnv_execution *x);
/** As nnv_context_run, but the launch may be refused: x->status is then the launch's, and not judged either. */
bool nnv_context_attempt(struct nnv_context *s, struct nnv_execution *x);
/** One attempt and its release. */
bool nnv_context_try(struct nnv_context *s, struct nnv_execution *x);
/** What one synchronous execution of the request as it is answers, by the usual configuration; nothing is judged. */
enum nnvts_status nnv_context_sync(struct nnv_context *s, struct nnvts_prepared_model *prepared, struct nnv_request *r);
/** One synchronous execution by the usual configuration on a fresh result, and nnv_context_check_values. */
bool nnv_context_execute(struct nnv_context *s, struct nnvts_prepared_model *prepared, struct nnv_request *r);

#endif
