/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file channel.h
 * What supervisor and workers share: memory and futexes, no descriptors. A driver may close all descriptors, print
 * anything or exit, and no result is lost. Whatever a worker wrote is untrusted: a driver may have written over it.
 */
#ifndef NNV_HARNESS_CHANNEL_H
#define NNV_HARNESS_CHANNEL_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "nnvts/result.h"

enum {
    NNV_CHANNEL_RING = 4 << 20,  /**< bytes of results that may wait for the supervisor; a power of two */
    NNV_CHANNEL_TRACE = 8 << 10, /**< bytes of a backtrace */
    NNV_CHANNEL_CUT = 4 << 10,   /**< bytes that are kept of a text that does not fit */
};

/** What all workers share. */
struct nnv_hub {
    _Atomic uint32_t wake;     /**< bumped by each side that has news for the supervisor, which sleeps on this word */
    _Atomic uint32_t sleeping; /**< the supervisor sleeps, or is about to */
    _Atomic uint32_t stop;     /**< workers end after the case that they run */
    _Atomic uint64_t next;     /**< position in the order of cases that no worker has taken yet */
};

enum nnv_worker_state {
    NNV_WORKER_OPENING, /**< the driver is being loaded and opened */
    NNV_WORKER_REFUSED, /**< it could not be opened: error says why */
    NNV_WORKER_IDLE,    /**< between two cases */
    NNV_WORKER_RUNNING, /**< runs case `current` */
    NNV_WORKER_CLOSING, /**< closes the driver */
    NNV_WORKER_FINISHED,
};

/** What one worker tells. Written by the worker, but for `tail` and `room`; each side has cache lines of its own. */
struct nnv_channel {
    _Alignas(64) _Atomic uint64_t head; /**< bytes written to the ring since the beginning */
    _Atomic uint64_t start_ns;          /**< when the case began */
    _Atomic uint64_t log_start;         /**< where the driver's output of it begins */
    _Atomic uint64_t written;           /**< to disk before the case, see nnv_written() */
    _Atomic uint32_t state;             /**< enum nnv_worker_state */
    volatile uint32_t phase;            /**< enum nnv_phase of the case that runs */
    _Atomic uint32_t current;           /**< index of the case that runs */
    _Atomic uint64_t begun_sum;         /**< of current, start_ns, log_start and written, see nnv_channel_begun() */
    _Atomic uint32_t serial;            /**< changes whenever a case begins or the state changes: the sign of life */
    _Atomic uint32_t fault_signal;      /**< the signal whose handler wrote the trace; 0: none */
    _Atomic uint32_t fault_foreign;     /**< it came to a thread of the driver */
    _Atomic uint32_t fault_errno;       /**< errno of that thread at that moment */
    _Atomic uint32_t traced;            /**< the trace is complete */
    _Atomic uint32_t trace_bytes;
    _Atomic uint32_t counts[NNVTS_VERDICT_COUNT]; /**< verdicts of the runs of the case so far, where it is repeated */
    _Alignas(64) _Atomic uint64_t tail;           /**< bytes taken from the ring; the supervisor's */
    _Atomic uint32_t room;                        /**< bumped by the supervisor when it has taken something */
    _Atomic uint32_t waiting;                     /**< the worker waits for room */
    char trace[NNV_CHANNEL_TRACE];
    struct nnv_err error; /**< of REFUSED */
    unsigned char ring[NNV_CHANNEL_RING];
};

/** What is known of a case when it begins. */
struct nnv_begun {
    uint32_t index;
    uint64_t start_ns, log_start, written; /**< see nnv_channel */
};

/** A finished case on its way: texts are not terminated. */
struct nnv_record {
    uint32_t index;
    int32_t verdict, why, mode; /**< enum nnvts_verdict, enum nnvts_reason, see nnv_result */
    uint32_t damaged;           /**< the worker ends now */
    uint64_t compared, not_compared, values, start_ns, ns, driver_ns; /**< start_ns: of nnv_now_ns() */
    uint32_t counts[NNVTS_VERDICT_COUNT];        /**< of the case's runs; all 0 where it ran once */
    const char *reason, *outputs, *log, *answer; /**< answer: bytes, see nnv_result */
    const char *uses, *devices, *drift;          /**< see nnv_result */
    uint32_t reason_bytes, outputs_bytes, log_bytes, answer_bytes, uses_bytes, devices_bytes, drift_bytes;
};

/**
 * size bytes of zeroed memory that forked processes share, with an inaccessible page on both sides. NULL when out of
 * memory. nnv_shared_free() unmaps it.
 */
void *nnv_shared_new(size_t size);
/** Unmaps what nnv_shared_new(size) gave. NULL is allowed. */
void nnv_shared_free(void *shared, size_t size);
/** Whether processes that are forked from now on have this memory, too. One that may run a driver has its own alone. */
void nnv_shared_inherit(void *shared, size_t size, bool inherit);

/** Tells the supervisor that there is news: bumps the word, wakes it if it sleeps. Safe in a signal handler. */
void nnv_hub_notify(struct nnv_hub *hub);
/** Sleeps until hub->wake is no longer `seen`, or for timeout_ns. */
void nnv_hub_wait(struct nnv_hub *hub, uint32_t seen, uint64_t timeout_ns);

/**
 * The worker's side: publishes the record and notifies the hub; waits while the ring is full. A record that is larger
 * than the ring is cut: without its outputs and with the beginning of its reason, which says so.
 */
void nnv_channel_push(struct nnv_channel *c, struct nnv_hub *hub, const struct nnv_record *record);
/**
 * The supervisor's side: takes the next record; its texts point into *buffer (grown with realloc, the caller's).
 * 1: taken, 0: none there, -1: what is there is not what was pushed: the channel was written over; -2: memory ran out.
 */
int nnv_channel_pop(struct nnv_channel *c, struct nnv_record *record, char **buffer, size_t *cap);
/** Whether nothing but the first record of a channel, which was popped, has ever been written to its ring. */
bool nnv_channel_holds_only(const struct nnv_channel *c, const struct nnv_record *first);
/** The worker's side: a case begins. Before the state is RUNNING. */
void nnv_channel_begin(struct nnv_channel *c, const struct nnv_begun *b);
/** Which one it was; false if what is there is not what was told, or is just being told. */
bool nnv_channel_begun(const struct nnv_channel *c, struct nnv_begun *b);

#endif
