/* SPDX-License-Identifier: Apache-2.0 */
/** @file triage.h What the end of a worker says about the case that it ran. */
#ifndef NNV_HARNESS_TRIAGE_H
#define NNV_HARNESS_TRIAGE_H

#include "harness/runner/pool/pool.h"
#include "base/process.h"
#include "harness/runner/worker/symbols.h"
#include "harness/runner/worker/worker.h"

/** Why the supervisor ended a worker. */
enum nnv_kill_reason {
    NNV_KILL_NONE,    /**< it did not: the worker ended by itself */
    NNV_KILL_TIMEOUT, /**< its case did not end before the deadline */
    NNV_KILL_DISK,    /**< its case wrote more to disk than it may */
    NNV_KILL_CORRUPT, /**< its channel holds no records any more */
    NNV_KILL_TAINTED, /**< something in it is exhausted or damaged: nnvts itself failed there */
    NNV_KILL_STOPPED, /**< the run ends */
};

/** The time that a worker had which was ended because it took too long. */
struct nnv_late {
    uint64_t limit_ns;
    bool silent; /**< it is the time without a sign of life */
};

/** Room for the texts of an nnv_ended, and what is known of places in files. */
struct nnv_triage {
    struct nnv_symbols symbols;
    struct nnv_text backtrace;
    char reason[NNV_ERR_TEXT];
    char log[NNV_LOG_KEPT];
};

/**
 * True if the worker died while nnvts itself worked on the case, in the main thread: building or comparing. An earlier
 * case may have damaged the process.
 */
bool nnv_triage_own(const struct nnv_worker *w);
/** True while nnvts itself builds or compares, and not the driver works. */
bool nnv_triage_ours(const struct nnv_worker *w);
/**
 * The time that the case of a worker may take: several times timeout_ns while nnvts itself works on it, since it may be
 * the machine that is busy, and not the driver that is slow; in the driver more than timeout_ns by several times the
 * seconds that nnvts took for it, own_ns, which is what the case costs on this machine.
 */
uint64_t nnv_triage_limit(const struct nnv_worker *w, uint64_t timeout_ns, uint64_t own_ns);
/**
 * Fills *e for case e->index, in which the worker ended: CRASH, TIMEOUT, or ERROR where nnvts died in a fresh worker,
 * or did not end, while it built a case. late: of NNV_KILL_TIMEOUT. room holds the texts that e points to; others point
 * into the worker's channel.
 */
void nnv_triage_case(const struct nnv_worker *w, const struct nnv_end *end, enum nnv_kill_reason kill_reason,
                     const struct nnv_late *late, const struct nnv_run_config *config, struct nnv_triage *room,
                     struct nnv_ended *e);
/** Why the driver could not be opened, of a worker that ended before it was ready. buf holds NNV_ERR_TEXT. */
void nnv_triage_open(const struct nnv_worker *w, const struct nnv_end *end, enum nnv_kill_reason kill_reason,
                     const char *driver, uint64_t timeout_ns, char *buf);

void nnv_triage_free(struct nnv_triage *room);

#endif
