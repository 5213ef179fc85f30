/* SPDX-License-Identifier: Apache-2.0 */
/** @file promised.h The failures of a run that are none by a weaker promise of the driver's arithmetic. */
#ifndef NNV_EXPLAIN_PROMISED_H
#define NNV_EXPLAIN_PROMISED_H

#include "harness/debug/explain/suspects.h"
#include "harness/debug/explain/told.h"
#include "harness/journal/causes/bucket.h"
#include "harness/journal/load.h"

/** Cases that are explained at most: one of each bucket, larger ones of those that it does not explain, and others. */
enum {
    NNV_EXPLAINING_SMALLEST = 400,
    NNV_EXPLAINING_LARGER = 24,
    NNV_EXPLAINING_FURTHER = 24,
    NNV_EXPLAINING_ALL = NNV_EXPLAINING_SMALLEST + NNV_EXPLAINING_LARGER + NNV_EXPLAINING_FURTHER
};

/** Of a run some ten seconds of one processor at most. It is counted, so that each machine explains the same. */
#define NNV_EXPLAINING_WORK (UINT64_C(24) << 30)

/** Explaining a run. */
struct nnv_explaining_run {
    const struct nnv_report *r;
    const struct nnv_run_cases *cases; /* NULL: they cannot be made again */
    struct nnv_buckets buckets;
    uint32_t *of; /* the bucket of each case */
    struct nnv_arena *arena, *work;
    const char **words, **op; /* of each case that is explained, the arena's; op: the operation, or "" */
    bool *promise;            /* words are a weaker promise, not a mistake */
    const char **empty;       /* the promise by which the answer is right as any would be; or NULL */
    struct nnv_told *told[NNV_EXPLAINING_ALL];
    struct nnv_told_list list;     /* of told */
    size_t at[NNV_EXPLAINING_ALL]; /* of these cases */
    size_t first;                  /* those that were chosen of their buckets */
    size_t larger;                 /* the end of larger ones, which follow them */
    struct nnv_suspects suspects;
    struct nnv_separation *causes;
    uint32_t ncauses;
    uint32_t *cause_of;            /* of each bucket */
    const struct nnv_told **tried; /* of cases that nothing explains; NULL: others */
    bool *untried;                 /* of cases that promises could not be tried on */
    uint64_t left, total;          /* work: of the step that is under way, and of all steps behind it */
};

/** Gives the next step so much of the work that is left; what the last one has not done is left, too. */
void nnv_explaining_allot(struct nnv_explaining_run *x, uint64_t most);
/** The spec in the dump of case i of the report, in x->work; NULL: it has none that can be explained. */
enum nnv_status nnv_explaining_read(struct nnv_explaining_run *x, size_t i, bool *has_dump, struct nnv_spec **spec,
                                    enum nnv_precision *precision, struct nnv_err *err);
/** Says that the promise explains case i. */
void nnv_explaining_by_promise(struct nnv_explaining_run *x, size_t i, const char *promise);
/**
 * Looks which other wrong values are explained by promises that explain more than any mistake does: what they leave is
 * wrong for another reason.
 */
enum nnv_status nnv_explaining_follow_promises(struct nnv_explaining_run *x, struct nnv_err *err);

#endif
