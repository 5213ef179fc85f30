/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file execute.h Executing a prepared model in each of the modes that the ABI has.
 *
 * An execution is opened (a burst, or a reusable execution, is created), launched, waited for, as often as wanted, and
 * closed. A function that returns false has written status and breach: the call answered another status than NONE, or
 * broke a rule.
 */
#ifndef NNV_CLIENT_EXECUTE_H
#define NNV_CLIENT_EXECUTE_H

#include "harness/client/verify.h"

enum nnv_mode {
    NNV_MODE_SYNC,
    NNV_MODE_ASYNC,
    NNV_MODE_FENCED,
    NNV_MODE_BURST,
    NNV_MODE_REUSABLE, /**< one request bound once, executed many times */
    NNV_MODES
};
/** "sync", "async", "fenced", "burst", "reusable". */
const char *nnv_mode_name(enum nnv_mode mode);
/** "synchronous executions", "bursts": what a driver may not have. */
const char *nnv_mode_words(enum nnv_mode mode);
bool nnv_mode_offered(const struct nnvts_prepared_model *prepared, enum nnv_mode mode);

/** Neither a deadline nor a limit of loops, and no times. */
extern const struct nnvts_execution_config nnv_execution_config;
/** Memory tokens of a burst that keeps nothing. */
enum { NNV_MOST_TOKENS = 64 };
extern const int64_t nnv_no_tokens[NNV_MOST_TOKENS];

struct nnv_mailbox;

/** One execution, or, of a burst or a reusable one, one after the other. Zero-initialise. */
struct nnv_execution {
    /* what is asked for */
    enum nnv_mode mode;
    struct nnvts_prepared_model *prepared;
    const struct nnvts_request *request;
    struct nnvts_execution_result *result; /**< reset by the caller; a fenced execution reports no shapes */
    uint32_t room;                         /**< shapes that result has room for, of NNV_MAX_RANK dimensions each */
    struct nnvts_execution_config config;
    uint64_t duration_ns; /**< FENCED: bounds the time after the fences */
    const int *wait_for;  /**< FENCED */
    uint32_t wait_for_count;
    const int64_t *tokens; /**< BURST: one a pool of the request */
    uint64_t patience_ns;  /**< ASYNC: how long to wait for the callback; 0: until the case's own deadline */
    /** ASYNC, FENCED: called when the outputs are said to be there, before anything else is asked; may be NULL. */
    void (*ended)(void *context);
    void *context;
    /* what came of it */
    const char *call; /**< the last: "create_burst", "execute" */
    enum nnvts_status status;
    struct nnv_breach breach;
    uint64_t ns;                /**< from the launch to the end */
    struct nnvts_timing fenced; /**< FENCED: from the fences; result's is from the launch */
    short events;               /**< FENCED: what poll() says of the sync_fence in the end */
    /* what is open */
    bool open, launched;
    uint64_t launched_ns;
    struct nnvts_burst *burst;
    struct nnvts_execution *reusable;
    struct nnvts_fenced_execution fence;
    struct nnv_mailbox *mailbox;
};

/** An execution of the request by the usual configuration. */
struct nnv_execution nnv_execution_make(enum nnv_mode mode, struct nnvts_prepared_model *prepared,
                                        struct nnv_request *request);
/** Creates the burst or the reusable execution; for other modes there is nothing to do. The mode must be offered. */
bool nnv_execution_open(struct nnv_execution *x);
/** Opens, and launches; SYNC, BURST and REUSABLE execute here. False: it was not opened, or the launch was refused. */
bool nnv_execution_launch(struct nnv_execution *x);
/** Waits for the end. True: no rule was broken, and x->status is what the execution answered, NONE or not. */
bool nnv_execution_wait(struct nnv_execution *x);
/** Opens, launches, waits: one execution. The caller closes. */
bool nnv_execute(struct nnv_execution *x);
/** FENCED: the fence has signalled by now. */
bool nnv_execution_fence_signalled(const struct nnv_execution *x);
/** ASYNC: how often the callback came since the launch; waits a moment for one too many. */
uint32_t nnv_execution_callbacks(const struct nnv_execution *x);
/**
 * ASYNC: how many callbacks came beyond the first of an execution, of all executions since this was asked last; if
 * there were any it may wait a moment for one too many.
 */
uint32_t nnv_surplus_callbacks(bool wait);
/** Releases what the driver gave out. A callback that comes from now on touches nothing of the caller's. */
void nnv_execution_close(struct nnv_execution *x);
/** The same without calling the driver any more: its process is not to be trusted. */
void nnv_execution_abandon(struct nnv_execution *x);

#endif
