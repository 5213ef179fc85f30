/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file bug.h What makes the failures of a run: buckets that have one cause, over operations, types and suites.
 *
 * One bug are buckets that the same mistake explains; that fail under the same condition; that crash at the same place
 * of a library; where the same function of a library answered the same code; whose reasons have the same wording,
 * operation and numbers aside, where that is more than that values are wrong; and of wrong values that nothing explains
 * those of one operation. Such a bucket of which no case was tried goes to what explains most failures of its
 * operation; one of models of several operations, to that of one of them. Wordings of one kind are one bug where there
 * are several (see families.c): the same call that answers the same where it must not; what is accepted and must be
 * refused; leaks of one resource; wrong values of one rare kind of case in several operations.
 *
 * A bug of most failures and many operations is one of what operations share, such as types, buffers or rounding: it
 * shows in each in another way, so all wrong values are its. So are wrong values of many operations of which most are
 * not explained, with what is explained of a few. And where all that fails was executed in one mode, which is not the
 * synchronous one, that is the bug.
 */
#ifndef NNV_JOURNAL_CAUSES_BUG_H
#define NNV_JOURNAL_CAUSES_BUG_H

#include "harness/journal/causes/bucket.h"
#include "harness/journal/load.h"

struct nnv_bug {
    enum nnvts_verdict verdict; /**< of most of its cases */
    const char *words;          /**< what the driver seems to do, or what its cases say, the numbers as '#' */
    bool explained;             /**< words: what the driver seems to do */
    bool promise;               /**< explained: by which weaker promise of its arithmetic it would be right */
    bool late;                  /**< failures of other bugs may come of it */
    bool family;                /**< words: of several wordings or places, and how many */
    const char *where;          /**< the condition under which its cases fail, or NULL */
    const char *ops, *types;    /**< "ADD, MUL and 3 more", the most frequent first; "" if there are none */
    uint32_t nops;
    size_t count;    /**< cases */
    size_t first;    /**< number of its first case in the report */
    size_t smallest; /**< of that which shows it best: the smallest of the bucket that words are from */
};

/** Zero-initialise. */
struct nnv_bugs {
    struct nnv_buckets buckets;
    struct nnv_bug *item; /**< late ones first, then those with the most cases */
    uint32_t count;
    uint32_t *of; /**< the bug of case i of the report; NNV_MAP_NONE: not a bad one */
};

/** The bugs of a run's bad cases. NNV_NO_MEMORY. */
NNV_USE_RESULT enum nnv_status nnv_bugs_of(const struct nnv_report *report, struct nnv_bugs *bugs, struct nnv_err *err);
void nnv_bugs_free(struct nnv_bugs *bugs);

#endif
