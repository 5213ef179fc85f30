/* SPDX-License-Identifier: Apache-2.0 */
/** @file worker.h A worker process: the only place where a driver runs. */
#ifndef NNV_HARNESS_WORKER_H
#define NNV_HARNESS_WORKER_H

#include <sys/types.h>

#include "harness/runner/coverage/counters.h"
#include "harness/runner/suite.h"
#include "harness/runner/worker/channel.h"

enum {
    NNV_LOG_BYTES = 1 << 20, /**< what the driver may print in one case before its writes fail */
    NNV_LOG_KEPT = 4 << 10,  /**< what is kept of it: the end */
};

/** What the workers of a run have to do. Inherited by fork, so they see it as it was then. */
struct nnv_work {
    const struct nnv_run_config *config;
    const struct nnv_case *cases;
    const uint32_t *order; /**< indices of the cases to run, taken one by one through hub->next */
    size_t count;          /**< of order */
    bool one_each;         /**< a worker runs one case and ends */
    unsigned last; /**< nnvts was killed while the case ran, which now runs alone for the so manyth time; or 0 */
    struct nnv_hub *hub;
    const bool *watched; /**< count of cases: whose leftovers are counted, see leaks.h; NULL: of none */
    unsigned leaks;      /**< found before the worker starts */
    uint32_t known;      /**< a case that the driver must still pass before the worker takes others; UINT32_MAX: none */
};

/** A worker as the supervisor sees it. */
struct nnv_worker {
    pid_t pid;       /**< also of its process group; 0: none */
    uint32_t number; /**< 1, 2, 3 ... in the order of starting */
    struct nnv_channel *channel;
    struct nnv_coverage_told *coverage; /**< what it reaches of the driver's code; NULL: not wanted */
    char *note;                         /**< page of the file `running` for it, NULL: none */
    int log;                            /**< descriptor of what it prints, -1: none; its offset is the worker's too */
};

/** Starts a worker; note may be NULL, see nnv_worker. NNV_IO or NNV_NO_MEMORY; then *worker is as before. */
NNV_USE_RESULT enum nnv_status nnv_worker_start(const struct nnv_work *work, uint32_t number, char *note,
                                                struct nnv_worker *worker, struct nnv_err *err);
/** Frees channel and log of a worker that has ended. */
void nnv_worker_free(struct nnv_worker *worker);
/**
 * The end of what was printed to log from byte `from` on, at most NNV_LOG_KEPT bytes, into buf (room for as much).
 * Returns the number of bytes.
 */
size_t nnv_log_read(int log, uint64_t from, char *buf);

#endif
