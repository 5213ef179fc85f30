/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file flakes.h Failures tried again: alone, in the same order, and while all processors are busy. What comes of it
 * says whether a failure is deterministic, now and then, or depends on what ran before or on load. See
 * docs/use/flakes.md.
 */
#ifndef NNV_JOURNAL_FLAKES_H
#define NNV_JOURNAL_FLAKES_H

#include <jansson.h>
#include <stdbool.h>

#include "base/text.h"
#include "harness/journal/case.h"
#include "harness/journal/record.h"

enum nnv_flake_class {
    NNV_FLAKE_DETERMINISTIC, /**< fails each time, alone */
    NNV_FLAKE_FLAKY,         /**< fails now and then, alone */
    NNV_FLAKE_ORDER,         /**< fails after other cases, more often than alone */
    NNV_FLAKE_LOAD,          /**< fails while the machine is busy, more often than alone */
    NNV_FLAKE_LOST,          /**< did not fail any more */
    NNV_FLAKE_UNKNOWN,       /**< there was no time to find out */
};

struct nnv_flake_runs {
    uint32_t runs, bad;
};

/** What was found out about a failure. */
struct nnv_flake {
    enum nnv_flake_class class;
    struct nnv_flake_runs alone, order, load;
    uint32_t *after; /**< ORDER: the cases that must run before it, malloc'ed */
    size_t after_count;
    bool minimal; /**< after: without any one of them it does not fail */
};
void nnv_flake_free(struct nnv_flake *f);

/** A failure that is studied. */
struct nnv_flake_subject {
    const uint32_t *before; /**< cases that its worker had run before it, in their order */
    size_t before_count;
    uint32_t runs;     /**< alone, at most */
    uint64_t until_ns; /**< no run begins after it */
    void *context;
    /** Runs the cases before, then the subject, all in one fresh process; *bad: it failed. NNV_TIMEOUT: no time. */
    enum nnv_status (*run)(void *context, const uint32_t *before, size_t count, bool load, bool *bad,
                           struct nnv_err *err);
};
/** Studies a failure. Errors are those of run, but NNV_TIMEOUT, which ends the study with what is known. */
NNV_USE_RESULT enum nnv_status nnv_flake_study(const struct nnv_flake_subject *s, struct nnv_flake *flake,
                                               struct nnv_err *err);
/** Adds what was found in words: "flaky: failed in 3 of 60 runs alone (1.0 % to 13.9 %)". names: of all cases. */
void nnv_flake_words(const struct nnv_flake *f, const struct nnv_case *cases, struct nnv_text *t);

enum { NNV_FLAKE_RUNS = 60, NNV_FLAKES_FEW = 5, NNV_FLAKES_MOST = 200 };

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
 * nothing to tell. Only unexpected failures, and those that are expected at a rate. Hanging ones only if
 * there is time for them.
 */
NNV_USE_RESULT enum nnv_status nnv_retry_failures(const struct nnv_retry *retry, struct nnv_err *err);

/** Of an item of flakes.json: it is known to fail and to pass; what failed whenever there was time to try does not. */
bool nnv_flake_is_unsteady(const json_t *item);

#endif
