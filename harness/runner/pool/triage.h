/* SPDX-License-Identifier: Apache-2.0 */
/** @file triage.h What the end of a worker says about the case that it ran. */
#ifndef NNV_HARNESS_TRIAGE_H
#define NNV_HARNESS_TRIAGE_H

#include "harness/runner/pool/pool.h"
#include "base/process.h"
#include "harness/runner/worker.h"

/** Why the supervisor ended a worker. */
enum nnv_kill_reason {
    NNV_KILL_NONE,    /**< it did not: the worker ended by itself */
    NNV_KILL_TIMEOUT, /**< its case did not end before the deadline */
    NNV_KILL_CORRUPT, /**< its channel holds no records any more */
    NNV_KILL_TAINTED, /**< something in it is exhausted or damaged: nnvts itself failed there */
    NNV_KILL_STOPPED, /**< the run ends */
};

/** Room for the texts of an nnv_ended. */
struct nnv_triage {
    char reason[NNV_ERR_TEXT];
    char log[NNV_LOG_KEPT];
};

/**
 * True if the worker died while nnvts itself worked on the case, in the main thread: building or comparing. An earlier
 * case may have damaged the process.
 */
bool nnv_triage_own(const struct nnv_worker *w);
/**
 * Fills *e for case e->index, in which the worker ended: CRASH, TIMEOUT, or ERROR where nnvts died while it built a
 * case in a fresh worker. room holds the texts that e points to; others point into the worker's channel.
 */
void nnv_triage_case(const struct nnv_worker *w, const struct nnv_end *end, enum nnv_kill_reason kill_reason,
                     uint64_t timeout_ns, struct nnv_triage *room, struct nnv_ended *e);
/** Why the driver could not be opened, of a worker that ended before it was ready. buf holds NNV_ERR_TEXT. */
void nnv_triage_open(const struct nnv_worker *w, const struct nnv_end *end, enum nnv_kill_reason kill_reason,
                     const char *driver, uint64_t timeout_ns, char *buf);

#endif
