/* SPDX-License-Identifier: Apache-2.0 */
/** @file verdict.h The names and words of verdicts and outcomes. */
#ifndef NNV_JOURNAL_VERDICT_H
#define NNV_JOURNAL_VERDICT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/text.h"
#include "nnvts/result.h"

/** "PASS". */
const char *nnv_verdict_name(enum nnvts_verdict v);
/** For counts: "pass", "fail", "not run". */
const char *nnv_verdict_word(enum nnvts_verdict v);
/** For totals: "passed", "failed", "timed out". */
const char *nnv_verdict_done(enum nnvts_verdict v);
/** The one letter that stands for it where room is short; all are different. */
char nnv_verdict_letter(enum nnvts_verdict v);
/** True for the verdicts that a bug is behind: FAIL, UNTRUSTED, CRASH, TIMEOUT, ERROR. */
bool nnv_verdict_bad(enum nnvts_verdict v);
/** The verdict of that name; false if there is none. */
bool nnv_verdict_parse(const char *name, enum nnvts_verdict *v);
/**
 * What a trial of the replay line tells beyond the line, for a case of this verdict and the record's `again` (NULL: not
 * tried): "tried: PASS, so it does not fail every time"; nothing if it ended as the case did.
 */
void nnv_text_add_tried(struct nnv_text *t, enum nnvts_verdict v, const char *again);
/** "FEATURE_LEVEL". */
const char *nnv_why_name(enum nnvts_reason why);
/** What a reason means, in words: "needs a higher feature level than the driver has". */
const char *nnv_why_words(enum nnvts_reason why);
/** The reason of that name if it is one of the verdict; else the verdict's first. */
enum nnvts_reason nnv_why_parse(const char *name, enum nnvts_verdict v);
/** The reason if it is one of the verdict; else the verdict's first. */
enum nnvts_reason nnv_why_of(enum nnvts_verdict v, enum nnvts_reason why);
/** All verdicts in the order in which people want to see them: PASS, what is bad, UNSUPPORTED, SKIP, NOTRUN. */
extern const enum nnvts_verdict nnv_verdict_order[NNVTS_VERDICT_COUNT];

/** "XFAIL"; "NONE". */
const char *nnv_outcome_name(enum nnvts_outcome o);
/** The outcome of that name; false if there is none. */
bool nnv_outcome_parse(const char *name, enum nnvts_outcome *o);

/** Runs of a case, and the bad ones, from the counts of its verdicts. */
void nnv_repeats_sum(const uint32_t *counts, uint32_t *runs, uint32_t *bad);

#endif
