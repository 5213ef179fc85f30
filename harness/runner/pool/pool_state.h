/* SPDX-License-Identifier: Apache-2.0 */
/** @file pool_state.h What the files of the pool share: its state, and what the end of a case or worker does to it. */
#ifndef NNV_HARNESS_POOL_STATE_H
#define NNV_HARNESS_POOL_STATE_H

#include "harness/runner/pool/agenda.h"
#include "harness/runner/pool/kernel_log.h"
#include "harness/runner/pool/patience.h"
#include "harness/runner/pool/pool.h"
#include "harness/runner/pool/triage.h"

/** What a worker has been sent last: nothing, or, where it takes too long, one after the other until it ends. */
enum nnv_pool_stage {
    NNV_POOL_ALIVE,
    NNV_POOL_PROBED,  /**< the signal that asks for a backtrace */
    NNV_POOL_ASKED,   /**< SIGTERM: the driver may put its device in order */
    NNV_POOL_ABORTED, /**< SIGABRT: it leaves a core file, if the user's `ulimit -c` allows one */
    NNV_POOL_KILLED
};

/** A place for a worker. */
struct nnv_pool_slot {
    struct nnv_worker w; /* pid 0: empty */
    uint32_t seen_serial;
    uint32_t told_serial; /* when a record was taken from it last, or before */
    uint64_t seen_ns;     /* when it last showed that it goes on */
    uint64_t own_ns;      /* that nnvts itself has worked on the case so far */
    uint64_t look_ns;     /* when it was looked at last */
    uint64_t life;        /* of what changes while the driver works: calls, what it prints */
    uint64_t heard_ns;    /* when that changed last */
    struct nnv_late late; /* TIMEOUT: what it had */
    bool dumps;           /* it may leave a core file */
    enum nnv_pool_stage stage;
    uint64_t stage_ns;
    enum nnv_kill_reason kill_reason;
    uint32_t blamed; /* TIMEOUT, DISK: the case that ran; count: none */
    size_t records;  /* taken from it */
    bool examined;   /* it gives a known answer before it takes a case */
};

struct nnv_pool {
    const struct nnv_pool_options *o;
    struct nnv_hub *hub;
    struct nnv_work work;
    struct nnv_agenda agenda;
    uint64_t taken; /* of the round: what the hub told last; untrusted as soon as it goes back */
    struct nnv_pool_slot *slots;
    int nslots;
    int limit; /* workers that may live at once: fewer than slots if the driver can't be opened so often */
    uint32_t started;
    size_t judged;   /* in this round */
    size_t drained;  /* records that came in this round */
    unsigned starts; /* of workers in this round */
    unsigned barren; /* workers that ended one after the other without taking a case, though there were some */
    struct nnv_patience patience;
    struct nnv_kernel_log kernel;
    struct nnv_text told; /* the reason of a case, with what the kernel said */
    bool enough;          /* it has come to its end */
    uint32_t passed[4];   /* cases that passed last */
    size_t passes;
    bool overwritten;   /* memory that a driver shares with nnvts; it has been told */
    bool unwell;        /* a driver has died or hung, and none has shown since that the device is well */
    uint32_t death;     /* the case in which it did; count: none */
    const char *mortal; /* its verdict */
    int open_failures;
    uint64_t start_after_ns;
    char open_error[NNV_ERR_TEXT];
    bool gave_up;
    bool noted_close;
    uint64_t stop_ns; /* when the user asked to stop; 0: not */
    uint64_t end_ns;  /* when the time budget is spent; 0: there is none */
    bool spent;
    struct nnv_triage triage;
    char *buffer; /* of records */
    size_t cap;
};

/** Tells the user something, in one line. */
void nnv_pool_note(const struct nnv_pool *p, const char *fmt, ...) NNV_PRINTF(2, 3);
/** What the driver may take to open. */
uint64_t nnv_pool_open_timeout(const struct nnv_pool *p);
/** Workers that live; opened: only those that have opened the driver. */
int nnv_pool_living(const struct nnv_pool *p, bool opened);
/** The case that the worker was running when it ended, or count. */
uint32_t nnv_pool_case_in_progress(const struct nnv_pool *p, const struct nnv_pool_slot *s);
/** A worker has opened the driver, and given the known answer if it was asked for one. */
void nnv_pool_is_open(struct nnv_pool *p, const struct nnv_pool_slot *s);
/** A worker's case has ended, and the kernel may have said something of it: how much more of this does the run put up
 * with? */
enum nnv_status nnv_pool_judged(struct nnv_pool *p, struct nnv_ended *e, struct nnv_err *err);
/** A worker has ended, its records are taken: which case was to blame, if any? */
enum nnv_status nnv_pool_worker_ended(struct nnv_pool *p, struct nnv_pool_slot *s, const struct nnv_end *end,
                                      struct nnv_err *err);
/** The run comes to an end before all cases have run. */
enum nnv_status nnv_pool_end_rest(struct nnv_pool *p, struct nnv_err *err);
/** No further case begins. */
static inline bool nnv_pool_stopping(const struct nnv_pool *p) { return p->stop_ns != 0 || p->spent || p->enough; }

#endif
