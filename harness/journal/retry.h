/* SPDX-License-Identifier: Apache-2.0 */
/** @file retry.h Failures of a finished run that are tried again. See docs/use/flakes.md. */
#ifndef NNV_JOURNAL_RETRY_H
#define NNV_JOURNAL_RETRY_H

#include "harness/journal/record.h"

struct nnv_retry {
    const char *folder;                /**< of the run */
    const struct nnv_run_facts *facts; /**< with the cases, as listed in its cases.tsv */
    uint64_t budget_ns;                /**< for all */
    uint64_t timeout_ns;               /**< of one case */
    size_t most;                       /**< failures to study */
    void *context;
    /** As of nnv_flake_subject, for the case of this number. */
    enum nnv_status (*run)(void *context, uint32_t subject, const uint32_t *before, size_t count, bool load, bool *bad,
                           struct nnv_err *err);
};
/**
 * Studies failures of the run, of each bug one, then a second ..., and writes flakes.json; removes it where there is
 * nothing to tell. Only failures that nobody expects, and those that are expected at a rate. Hanging ones only if
 * there is time for them.
 */
NNV_USE_RESULT enum nnv_status nnv_retry_failures(const struct nnv_retry *retry, struct nnv_err *err);

#endif
