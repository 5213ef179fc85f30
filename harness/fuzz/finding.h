/* SPDX-License-Identifier: Apache-2.0 */
/** @file finding.h From the end of a batch to what was wrong. */
#ifndef NNV_FUZZ_FINDING_H
#define NNV_FUZZ_FINDING_H

#include "harness/runner/pool/pool.h"
#include "harness/fuzz/campaign.h"

/** How a batch ended, kept until all of the generation are over. Zero-initialise. */
struct nnv_fuzz_ended {
    bool ended;
    enum nnvts_verdict verdict;
    enum nnv_phase phase;
    int signal;
    char *reason, *lines, *backtrace, *log; /**< malloc'ed, terminated */
};
/** A copy of what the pool tells; false when out of memory. */
void nnv_fuzz_ended_free(struct nnv_fuzz_ended *e);

/**
 * The next thing that is wrong in a batch, beginning at *at (NULL at first): true, and *f is filled but for its file
 * name. The finding is the caller's.
 */
bool nnv_fuzz_next_wrong(const struct nnv_fuzz_batch *b, const struct nnv_fuzz_ended *e, const char **at,
                         struct nnv_fuzz_finding *f);
/** Runs batches in workers; ended and boards have an entry each. */
NNV_USE_RESULT enum nnv_status nnv_fuzz_run_batches(const struct nnv_run_config *config, struct nnv_fuzz_batch *batches,
                                                    size_t count, struct nnv_fuzz_ended *ended, uint64_t until_ns,
                                                    bool *interrupted, struct nnv_err *err);

#endif
