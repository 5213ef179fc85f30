/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file ask.h One question to a process of its own. A driver that is asked there may crash, hang or write anywhere, and
 * takes nothing else along.
 */
#ifndef NNV_HARNESS_ASK_H
#define NNV_HARNESS_ASK_H

#include <stdatomic.h>
#include <stdbool.h>
#include <sys/types.h>

#include "base/arena.h"
#include "base/process.h"
#include "harness/client/driver.h"

/** What the new process works with. */
struct nnv_answering {
    void *context;              /**< nnv_ask's */
    void *shared;               /**< where the answer goes */
    struct nnv_client *client;  /**< the driver, open where nnv_ask names one; else zeroed */
    struct nnv_arena *arena;    /**< empty */
    volatile uint32_t *phase;   /**< enum nnv_phase; named where the process ends before it answers */
    _Atomic uint32_t *answered; /**< set it to 1 where the answer is whole and what follows does not matter */
    _Atomic uint32_t *progress; /**< count it up: the process goes on, and its time begins anew */
};

/**
 * A question and what became of it. Zero-initialise, and set the question. All that the process tells is untrusted: a
 * driver may have written over it.
 */
struct nnv_ask {
    /* The question. */
    /** In the new process: fills in->shared. What it returns is what nnv_ask() returns. */
    enum nnv_status (*answer)(struct nnv_answering *in, struct nnv_err *err);
    void *context;
    size_t bytes;               /**< of shared memory, zeroed; 0: none */
    const char *driver;         /**< path of a driver that the process opens first; NULL: none */
    const char *driver_options; /**< may be NULL */
    uint64_t timeout_ns;        /**< 0: no limit */
    uint64_t opening_ns;        /**< for opening a driver, then the time begins anew; 0: by nnv_opening_ns() */
    int log;                    /**< descriptor for what the process prints; 0: nothing is kept */
    bool keep_streams;          /**< no sandbox: the process has the caller's descriptors and prints as the caller */
    /** Called some 50 times a second while nnv_ask() waits. May be NULL. */
    void (*waiting)(void *context, const void *shared);

    /* What became of it. */
    void *shared;
    bool complete;        /**< it has answered, or refused with a status */
    enum nnv_phase phase; /**< where it was when it ended */
    struct nnv_end end;
    char how[96]; /**< unless complete: "died with SIGSEGV in execute", "did not end within 10 s in open" */
    pid_t pid;    /**< while the process runs; else 0 */

    struct nnv_told *told; /* private, with all below */
    uint64_t since_ns;
    uint32_t progress;
    bool opening;
};

/**
 * Asks and waits. NNV_OK: it has answered, or a->complete is false and a->how says what happened to the process. An
 * error: the process could not be started, could not open the driver, or answered with that error. In any case
 * nnv_ask_free() ends it.
 */
NNV_USE_RESULT enum nnv_status nnv_ask(struct nnv_ask *a, struct nnv_err *err);
/** Unmaps a->shared; a process that still runs is killed. */
void nnv_ask_free(struct nnv_ask *a);

/**
 * Asks until the answer is complete, in so many processes at most: what one has shared when it ends is kept, and the
 * next goes on from there. keep copies it to where q->answer finds it, and makes it harmless: a driver may have written
 * over it. NNV_OK as well where all of them died.
 */
NNV_USE_RESULT enum nnv_status nnv_ask_on(const struct nnv_ask *q, int processes,
                                          void (*keep)(void *context, const void *shared), struct nnv_err *err);

/** Starts the process and does not wait: then nnv_ask_wait() is to be called, or nnv_ask_ended() until it is true. */
NNV_USE_RESULT enum nnv_status nnv_ask_start(struct nnv_ask *a, struct nnv_err *err);
/** The second half of nnv_ask(): waits, and returns as it does. */
NNV_USE_RESULT enum nnv_status nnv_ask_wait(struct nnv_ask *a, struct nnv_err *err);
/** True if the process has ended, or is killed now because its time is over. Does not wait. */
bool nnv_ask_ended(struct nnv_ask *a);
/** The time of the process begins anew. */
void nnv_ask_renew(struct nnv_ask *a);
/** Gives the process so long to end, then kills it. */
void nnv_ask_stop(struct nnv_ask *a, uint64_t timeout_ns);
/** What the process answered: its error if it answered with one. NNV_OK as well where it has not answered. */
NNV_USE_RESULT enum nnv_status nnv_ask_status(const struct nnv_ask *a, struct nnv_err *err);

/** How long a driver may take to open where a case has timeout_ns: as long, and at least least_ns (0: 10 s). */
uint64_t nnv_opening_ns(uint64_t timeout_ns, uint64_t least_ns);

#endif
