/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/journal/expect/outcome.h"

#include <stdlib.h>
#include <string.h>

#include "base/stats.h"
#include "base/words.h"
#include "harness/journal/flakes.h"
#include "harness/journal/verdict.h"

bool nnv_case_bad(const struct nnv_report_case *c) {
    return nnv_verdict_bad(c->verdict) && c->outcome != NNVTS_OUTCOME_XFAIL;
}

/* -------------------------------------------------------------------- rates */

bool nnv_rate_exceeds(uint64_t bad, uint64_t runs, double rate) {
    return runs > 0 && nnv_proportion_interval(bad, runs, 0.9).low > rate; /* 5 % on this side */
}

/* ------------------------------------------------------------- expectations */

const json_t *nnv_expected_entry(const struct nnv_report *r, uint32_t i) {
    return i == NNV_ENTRY_NONE ? NULL : json_array_get(json_object_get(r->expected, "entries"), i);
}

bool nnv_expected_stale(const json_t *entry) {
    const char *state = nnv_json_text(entry, "state", "");
    return strcmp(state, "expired") == 0 || strcmp(state, "unmatched") == 0;
}

void nnv_outcome_add_why(struct nnv_text *t, const struct nnv_report *r, uint32_t i) {
    static const char *const members[] = {"owner", "link", "at"};
    const json_t *entry = nnv_expected_entry(r, i);
    if (entry == NULL) return;
    const char *reason = nnv_json_text(entry, "reason", ""), *between = " (";
    nnv_text_add(t, *reason != '\0' ? reason : "no reason is given");
    for (size_t m = 0; m < sizeof members / sizeof *members; m++) {
        const char *s = nnv_json_text(entry, members[m], "");
        if (*s == '\0') continue;
        nnv_text_addf(t, "%s%s", between, s);
        between = ", ";
    }
    if (*between == ',') nnv_text_add(t, ")");
}

void nnv_outcome_add_cases(struct nnv_text *t, const json_t *entry) {
    const json_t *cases = json_object_get(entry, "cases"), *one;
    size_t k;
    nnv_text_add(t, json_is_string(cases) ? json_string_value(cases) : "");
    json_array_foreach(cases, k, one) nnv_text_addf(t, "%s%s", k ? ", " : "", json_string_value(one));
}

void nnv_outcome_add_stale(struct nnv_text *t, const json_t *entry) {
    struct nnv_text s = {0};
    nnv_text_addf(&s, "%s: ", nnv_json_text(entry, "at", "?"));
    if (strcmp(nnv_json_text(entry, "state", ""), "expired") == 0)
        nnv_text_addf(&s, "has expired on %s: ", nnv_json_text(entry, "expires", "?"));
    else
        nnv_text_add(&s, "matches no case: ");
    nnv_outcome_add_cases(&s, entry);
    if (!s.failed) nnv_text_add_shown(t, s.data, s.len, 400);
    nnv_text_free(&s);
}

/* ----------------------------------------------------------- the last word */

/** Outcomes by other expectations than the journal's, if the folder has them. */
static enum nnv_status judge_anew(struct nnv_report *r, struct nnv_err *err) {
    const enum nnv_status s = nnv_report_read_file(r, NNV_OUTCOMES_FILE, &r->judged, err);
    if (s != NNV_OK) return s;
    const json_t *expected = json_object_get(r->judged, "expected"), *cases = json_object_get(r->judged, "cases");
    if (!json_is_object(expected) || !json_is_object(cases)) return NNV_OK;
    r->expected = expected;
    for (size_t i = 0; i < r->count; i++) {
        struct nnv_report_case *c = &r->item[i];
        enum nnvts_outcome outcome;
        uint32_t entry;
        nnv_outcome_read(json_object_get(cases, c->name), c->verdict, &outcome, &entry);
        if (!nnv_report_expect(r, i, entry)) return nnv_no_memory(err);
        c->outcome = outcome;
    }
    return NNV_OK;
}

/** What so many runs of a case, of which some are bad, make of its outcome. */
static void weigh(const struct nnv_report *r, struct nnv_report_case *c, uint64_t bad, uint64_t runs, bool unsteady) {
    const json_t *rate = json_object_get(nnv_expected_entry(r, c->more->expectation), "max_rate");
    if (c->outcome == NNVTS_OUTCOME_XFAIL && json_is_number(rate) &&
        nnv_rate_exceeds(bad, runs, json_number_value(rate)))
        c->outcome = NNVTS_OUTCOME_NONE;
    if (c->outcome == NNVTS_OUTCOME_NONE && unsteady && nnv_verdict_bad(c->verdict)) c->outcome = NNVTS_OUTCOME_FLAKY;
}

static enum nnv_status weigh_flakes(struct nnv_report *r, struct nnv_err *err) {
    const enum nnv_status s = nnv_report_read_file(r, NNV_FLAKES_FILE, &r->flakes, err);
    const json_t *item;
    size_t k;
    json_array_foreach(json_object_get(r->flakes, "cases"), k, item) {
        const uint32_t i = nnv_report_find(r, nnv_json_text(item, "case", ""));
        const json_t *alone = json_object_get(item, "alone");
        const uint64_t bad = nnv_json_count(alone, "bad"), runs = nnv_json_count(alone, "runs");
        if (i == NNV_MAP_NONE || bad > runs) continue;
        weigh(r, &r->item[i], bad, runs, nnv_flake_is_unsteady(item));
    }
    return s;
}

const json_t *nnv_flake_of(const struct nnv_report *r, const struct nnv_report_case *c) {
    const json_t *item;
    size_t k;
    if (!nnv_verdict_bad(c->verdict)) return NULL;
    json_array_foreach(json_object_get(r->flakes, "cases"), k, item) {
        if (strcmp(nnv_json_text(item, "case", ""), c->name) == 0) return item;
    }
    return NULL;
}

enum nnv_status nnv_outcomes_settle(struct nnv_report *r, struct nnv_err *err) {
    size_t k;
    const json_t *entry;
    r->expected = json_object_get(r->header, "expected");
    const enum nnv_status s = judge_anew(r, err);
    if (s != NNV_OK) return s;
    r->strict = json_is_true(json_object_get(r->expected, "strict"));
    json_array_foreach(json_object_get(r->expected, "entries"), k, entry) r->stale += nnv_expected_stale(entry);
    for (size_t i = 0; i < r->count; i++) {
        struct nnv_report_case *c = &r->item[i];
        const struct nnv_case_more *more = c->more;
        if (more->runs > 1) weigh(r, c, more->bad_runs, more->runs, more->bad_runs < more->runs);
    }
    return weigh_flakes(r, err);
}
