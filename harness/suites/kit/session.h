/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file session.h What the suites share that talk to a driver step by step: expectations, models, requests, results.
 *
 * A case begins a session, states what it expects, and ends it. The verdict is PASS until an expectation does not hold
 * (FAIL); a driver that does not support the model makes it UNSUPPORTED; a case that expected nothing is UNTRUSTED.
 * Functions that return false have written verdict and reason: the case only has to clean up.
 */
#ifndef NNV_SUITES_SESSION_H
#define NNV_SUITES_SESSION_H

#include <fenv.h>

#include "harness/client/abi.h"
#include "harness/runner/suite.h"

struct nnv_session_memory;

struct nnv_session {
    struct nnv_case_env *env;
    struct nnv_result *result;
    struct nnvts_device *device;
    struct nnv_session_memory *memory; /**< what nnv_session_end() unmaps */
    fenv_t environment;                /**< of this thread: a driver may change rounding and flushing */
};

void nnv_session_begin(struct nnv_session *s, struct nnv_case_env *env, struct nnv_result *result);
/** Unmaps the session's memory; UNTRUSTED if nothing was expected. */
void nnv_session_end(struct nnv_session *s);
/** Tells the harness where the case is, for deadlines and for naming the culprit of a crash. */
void nnv_session_enter(struct nnv_session *s, enum nnv_phase phase);

/** Counts one comparison; one that does not hold is a line of the reason, and the verdict FAIL. Returns ok. */
bool nnv_expect(struct nnv_session *s, bool ok, const char *fmt, ...) NNV_PRINTF(3, 4);
/** "call answered GENERAL_FAILURE, expected NONE". */
bool nnv_expect_status(struct nnv_session *s, const char *call, enum nnvts_status got, enum nnvts_status want);
/** Any of the statuses whose bits (1u << status) are set. */
bool nnv_expect_status_in(struct nnv_session *s, const char *call, enum nnvts_status got, uint32_t wanted);
/** The case does not apply to this driver: UNSUPPORTED unless it failed already. Returns false. */
bool nnv_session_unsupported(struct nnv_session *s, const char *fmt, ...) NNV_PRINTF(2, 3);
/** A remark that changes no verdict: a line of the case's log. */
void nnv_session_note(struct nnv_session *s, const char *fmt, ...) NNV_PRINTF(2, 3);
/** nnvts itself could not do it: ERROR. Returns false. */
bool nnv_session_error(struct nnv_session *s, const char *fmt, ...) NNV_PRINTF(2, 3);

/* ------------------------------------------------------------------- memory */

enum nnv_session_memory_kind {
    NNV_SESSION_WRITABLE,
    NNV_SESSION_READ_ONLY, /**< the pool's own mapping can't be written: a driver that tries dies */
    NNV_SESSION_FD_ONLY,   /**< the pool has no pointer: the driver must map the file itself */
};
/** size bytes of shared memory as a pool, zeroed, until the session ends. *writable is where nnvts writes. */
bool nnv_session_memory(struct nnv_session *s, size_t size, enum nnv_session_memory_kind kind,
                        struct nnvts_memory *pool, uint8_t **writable);

/* ------------------------------------------------------------------- models */

/** A spec as drivers and the checker see it. */
struct nnv_subject {
    const struct nnv_spec *spec;
    struct nnvts_model model;         /**< its constants lie in memory of the session */
    uint8_t *constants;               /**< where the pool of the constants can be written */
    struct nnv_expectation *expected; /**< one an output: golden values with budgets */
};

/** Renders the model alone, without expectations: nothing can be executed. */
bool nnv_session_render(struct nnv_session *s, const struct nnv_spec *spec, struct nnv_subject *subject);
/** Renders the model, and evaluates it for what to expect. */
bool nnv_session_subject(struct nnv_session *s, const struct nnv_spec *spec, struct nnv_subject *subject);
/**
 * Renders the model, and expects the spec's own outputs without budgets: for work that is measured, not judged, and so
 * costs no evaluation.
 */
bool nnv_session_work(struct nnv_session *s, const struct nnv_spec *spec, struct nnv_subject *subject);
/** get_supported_operations answers NONE and true for all; UNSUPPORTED if it does not. */
bool nnv_session_supports(struct nnv_session *s, const struct nnv_subject *subject);
/**
 * A prepared model, by the usual configuration, of a model that the driver supports (asked first). NULL: the case is
 * over, UNSUPPORTED or FAIL. The constants are checked to be unchanged.
 */
struct nnvts_prepared_model *nnv_session_prepare(struct nnv_session *s, const struct nnv_subject *subject);
/** What a driver gives out on NONE: not NULL, whole, with all required members. */
bool nnv_session_check_prepared(struct nnv_session *s, const char *call, const struct nnvts_prepared_model *prepared);
void nnv_session_release(struct nnv_session *s, struct nnvts_prepared_model *prepared);
/** The usual configuration. */
extern const struct nnvts_prepare_config nnv_session_prepare_config;
extern const struct nnvts_execution_config nnv_session_execution_config;

/* ----------------------------------------------------------------- requests */

/** A request of a subject's inputs, pool 0, and of guarded buffers for its outputs, pool 1. */
struct nnv_values {
    const struct nnv_subject *subject;
    struct nnvts_request request;
    struct nnvts_argument *inputs, *outputs; /**< request's, to be changed by cases */
    struct nnvts_memory pools[2];
    uint8_t *input_pool, *output_pool;    /**< where nnvts writes */
    uint8_t **input_at, **output_at;      /**< bytes of each argument, guarded, where nnvts writes; NULL: omitted */
    struct nnvts_location *output_places; /**< of outputs, as nnv_values_reset() puts them */
    struct nnvts_execution_result result;
    uint32_t *dims; /**< of result.shapes: NNV_MAX_RANK an output */
};

/** Makes the request; kind is that of the input pool. Outputs have the buffers that the expected values need. */
bool nnv_session_values(struct nnv_session *s, const struct nnv_subject *subject, enum nnv_session_memory_kind kind,
                        struct nnv_values *v);
/** Puts other inputs into the same memory: subject is the same model with other values. */
void nnv_values_fill(struct nnv_values *v, const struct nnv_subject *subject);
/** Poisons the outputs and empties the result, for another execution. */
void nnv_values_reset(struct nnv_values *v);
/** Guard zones are whole and inputs unchanged. call is named in the reason; "burst". */
bool nnv_session_check_memory(struct nnv_session *s, const char *call, const struct nnv_values *v);
/** As above, and: status is NONE, and the shapes are right, whatever the values are. */
bool nnv_session_check_outcome(struct nnv_session *s, const char *call, enum nnvts_status status,
                               const struct nnv_values *v);
/** As above, and: every value is within its budget. */
bool nnv_session_check_values(struct nnv_session *s, const char *call, enum nnvts_status status,
                              const struct nnv_values *v);
/** nnvts_prepared_model.execute by the usual configuration on a fresh result, and nnv_session_check_values. */
bool nnv_session_execute(struct nnv_session *s, struct nnvts_prepared_model *prepared, struct nnv_values *v);

#endif
