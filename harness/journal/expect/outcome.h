/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file outcome.h What verdicts are against what was expected. The journal's first line holds the expectations, its
 * records say which entry is about a case; outcomes.json (nnvts report --expect) has the last word where it is there,
 * and flakes.json says what does not fail every time. Their form: docs/use/expectations.md, docs/use/flakes.md.
 */
#ifndef NNV_JOURNAL_OUTCOME_H
#define NNV_JOURNAL_OUTCOME_H

#include "harness/journal/load.h"

#define NNV_OUTCOMES_FILE "outcomes.json"
#define NNV_FLAKES_FILE "flakes.json"

/** True if the case fails the run whatever else is there: a bad verdict that was not expected. */
bool nnv_case_bad(const struct nnv_report_case *c);
/** The last word on all outcomes, when all records are read: from outcomes.json, flakes.json and repeats. */
NNV_USE_RESULT enum nnv_status nnv_outcomes_settle(struct nnv_report *r, struct nnv_err *err);
/** Entry i of the expectations of the run, or NULL. */
const json_t *nnv_expected_entry(const struct nnv_report *r, uint32_t i);
/** True for an entry that strict runs fail for: it has expired, or matches no case. */
bool nnv_expected_stale(const json_t *entry);
/**
 * Adds who said what of a case that has an entry: "dilation is ignored (npu team, https://..., known.json:12)"; nothing
 * if there is no such entry.
 */
void nnv_outcome_add_why(struct nnv_text *t, const struct nnv_report *r, uint32_t entry);

/** Adds what is wrong with a stale entry, as one line that a terminal can show, with where it stands. */
void nnv_outcome_add_stale(struct nnv_text *t, const json_t *entry);
/** Adds the selections of an entry, ", " between them. */
void nnv_outcome_add_cases(struct nnv_text *t, const json_t *entry);

/** What was found out when the failure was tried again, an item of flakes.json; NULL: it was not. Borrowed. */
const json_t *nnv_flake_of(const struct nnv_report *r, const struct nnv_report_case *c);

/** True if bad of so many runs show, at 95 % confidence, a failure rate above this one. */
bool nnv_rate_exceeds(uint64_t bad, uint64_t runs, double rate);

#endif
