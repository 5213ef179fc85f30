/* SPDX-License-Identifier: Apache-2.0 */
/** @file expect_run.c Expectations and a finished run: it judged by others, and files of them made from it. */
#include "harness/journal/expect/expect.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/stats.h"
#include "base/words.h"
#include "harness/journal/causes/bucket.h"
#include "harness/journal/expect/outcome.h"
#include "harness/journal/load.h"
#include "harness/journal/select.h"
#include "harness/journal/verdict.h"

/** The cases of a report as those of a run; their strings are the report's. malloc'ed, NULL when out of memory. */
static struct nnv_case *cases_of(const struct nnv_report *r) {
    struct nnv_case *cases = calloc(r->count + 1, sizeof *cases);
    for (size_t i = 0; i < r->count && cases != NULL; i++) {
        const struct nnv_report_case *c = &r->item[i];
        cases[i] = (struct nnv_case){.name = c->name,
                                     .suite = r->suites.key[c->suite],
                                     .op = r->ops.key[c->op],
                                     .type = r->types.key[c->type],
                                     .tags = r->tags.key[c->tags]};
    }
    return cases;
}

/** Sets the states of the entries as the run in the report would have, on the day that it began. */
static void apply(struct nnv_expectations *x, const struct nnv_report *r) {
    const json_t *driver = json_object_get(r->header, "driver");
    char day[11] = "";
    snprintf(day, sizeof day, "%.10s", nnv_json_text(r->header, "start", ""));
    nnv_expect_apply(x, nnv_json_text(driver, "argument", ""), nnv_json_text(driver, "name", ""),
                     nnv_json_text(driver, "version", ""), (int)nnv_json_count(driver, "level"), day);
}

/** Adds the outcome of a case, if it has one. */
static enum nnv_status add_outcome(const struct nnv_report *r, const struct nnv_expectations *x, size_t i,
                                   struct nnv_json_out *j, struct nnv_err *err) {
    const struct nnv_report_case *c = &r->item[i];
    json_t *record = NULL;
    const uint32_t counts[NNVTS_VERDICT_COUNT] = {
        [NNVTS_FAIL] = c->more->bad_runs, [NNVTS_PASS] = c->more->runs - c->more->bad_runs};
    uint32_t entry = NNV_ENTRY_NONE;
    enum nnv_status s = nnv_report_record(r, i, &record, err);
    if (s != NNV_OK) return s;
    const char *reason = nnv_json_text(record, "reason", "");
    const enum nnvts_outcome o = record == NULL
                                     ? NNVTS_OUTCOME_NONE
                                     : nnv_expect_judge(x, i, c->verdict, reason, strlen(reason), counts, &entry);
    json_decref(record);
    if (o == NNVTS_OUTCOME_NONE) return NNV_OK;
    j->line = "\n";
    nnv_json_open(j, c->name, '{');
    nnv_json_string(j, "outcome", nnv_outcome_name(o));
    nnv_json_uint(j, "expectation", entry);
    nnv_json_close(j, '}');
    return NNV_OK;
}

static enum nnv_status write_outcomes(const struct nnv_report *r, const struct nnv_expectations *x,
                                      struct nnv_err *err) {
    struct nnv_text t = {0};
    struct nnv_json_out j = {.text = &t, .spaced = true};
    enum nnv_status s = NNV_OK;
    nnv_json_open(&j, NULL, '{');
    nnv_expect_write(x, "expected", &j);
    j.line = "\n";
    nnv_json_open(&j, "cases", '{');
    for (size_t i = 0; i < r->count && s == NNV_OK; i++)
        if (x->first[i] != 0) s = add_outcome(r, x, i, &j, err);
    nnv_text_add(&t, "}}\n");
    if (s == NNV_OK) s = nnv_file_write_text(r->folder, NNV_OUTCOMES_FILE, &t, err);
    nnv_text_free(&t);
    return s;
}

/** Reads the run in the folder, and finds out which entries are about which of its cases. */
static enum nnv_status bind(const char *folder, struct nnv_expectations *x, struct nnv_report **r,
                            struct nnv_case **cases, struct nnv_err *err) {
    enum nnv_status s = nnv_report_load(folder, r, err);
    if (s != NNV_OK) return s;
    struct nnv_case *all = cases_of(*r);
    s = all ? nnv_expect_bind(x, all, (*r)->count, err) : nnv_no_memory(err);
    *cases = all;
    return s;
}

enum nnv_status nnv_expect_anew(const char *folder, struct nnv_expectations *x, nnv_select_names *known,
                                struct nnv_err *err) {
    struct nnv_report *r = NULL;
    struct nnv_case *cases = NULL;
    enum nnv_status s = bind(folder, x, &r, &cases, err);
    const struct nnv_case_list list = {.item = cases, .count = s == NNV_OK ? r->count : 0};
    if (s == NNV_OK) s = nnv_expect_count(x, &list, known, err);
    if (s == NNV_OK) {
        apply(x, r);
        s = write_outcomes(r, x, err);
    }
    free(cases);
    nnv_report_free(r);
    return s;
}

/* ------------------------------------------------------------------- update */

/** What is needed to update a file. */
struct update {
    const char *file;
    struct nnv_report *r;
    struct nnv_case *cases;
    struct nnv_expectations old;
    struct nnv_expected **entry; /**< of the new file */
    size_t count, cap;
    bool *told; /**< the case is in the new file */
    struct nnv_expect_updated *to;
    struct nnv_arena *arena;
};

static enum nnv_status add_entry(struct update *u, const struct nnv_expected *e, struct nnv_err *err) {
    if (u->count == u->cap) {
        const size_t cap = u->cap ? 2 * u->cap : 64;
        struct nnv_expected **more = realloc(u->entry, cap * sizeof *more);
        if (more == NULL) return nnv_no_memory(err);
        u->entry = more;
        u->cap = cap;
    }
    u->entry[u->count] = nnv_arena_copy(u->arena, e, sizeof *e);
    return u->entry[u->count++] != NULL ? NNV_OK : nnv_no_memory(err);
}

static int by_text(const void *a, const void *b) { return strcmp(*(const char *const *)a, *(const char *const *)b); }

/** An expression that selects this case alone: its name, where that will do. NULL when out of memory. */
static const char *exactly(struct update *u, const char *name) {
    struct nnv_text t = {0};
    nnv_select_exactly(name, &t);
    const char *s = t.failed ? NULL : nnv_arena_strdup(u->arena, t.data);
    nnv_text_free(&t);
    return s;
}

/** The entry for those cases of `of` that are wanted, by their names; none if there are none. */
static enum nnv_status add_cases(struct update *u, const struct nnv_expected *of, const bool *wanted,
                                 struct nnv_err *err) {
    size_t n = 0;
    for (size_t i = 0; i < u->r->count; i++) n += wanted[i];
    if (n == 0) return NNV_OK;
    const char **names = NNV_NEW(u->arena, const char *, n);
    struct nnv_expected e = *of;
    if (names == NULL) return nnv_no_memory(err);
    e.cases = names;
    e.case_count = n;
    for (size_t i = 0; i < u->r->count; i++) {
        if (!wanted[i]) continue;
        if ((*names++ = exactly(u, u->r->item[i].name)) == NULL) return nnv_no_memory(err);
    }
    qsort((void *)e.cases, n, sizeof *e.cases, by_text);
    return add_entry(u, &e, err);
}

/** True if the case ended in a way that the entry names. */
static bool still_fails(const struct update *u, size_t i, size_t e) {
    const struct nnv_report_case *c = &u->r->item[i];
    return nnv_verdict_bad(c->verdict) && u->old.item[e].verdicts >> c->verdict & 1 && !u->told[i] &&
           nnv_expect_covers(&u->old, i, e);
}

/** What becomes of entry e: as it is, for fewer cases, or nothing. */
static enum nnv_status keep(struct update *u, size_t e, struct nnv_err *err) {
    const struct nnv_expected *old = &u->old.item[e];
    size_t fails = 0, others = 0;
    bool *wanted = calloc(u->r->count + 1, sizeof *wanted);
    if (wanted == NULL) return nnv_no_memory(err);
    for (size_t i = 0; i < u->r->count; i++) {
        if (!nnv_expect_covers(&u->old, i, e) || u->r->item[i].verdict == NNVTS_NOTRUN) continue;
        wanted[i] = still_fails(u, i, e);
        fails += wanted[i];
        others += !wanted[i];
    }
    /* A run can't tell of what it did not run, nor that what may pass never fails. */
    const bool silent = fails + others == 0 || old->state == NNV_EXPECTED_INAPPLICABLE,
               may_pass = !isnan(old->max_rate) || old->verdicts >> NNVTS_PASS & 1;
    enum nnv_status s = NNV_OK;
    if (silent || may_pass || others == 0) {
        s = add_entry(u, old, err);
        u->to->kept++;
    } else {
        s = add_cases(u, old, wanted, err);
        u->to->kept += fails > 0;
        u->to->dropped += fails == 0;
    }
    for (size_t i = 0; i < u->r->count && !silent; i++) u->told[i] = u->told[i] || wanted[i];
    u->to->expired += old->state == NNV_EXPECTED_EXPIRED && fails > 0;
    free(wanted);
    return s;
}

/** How often a flaky case may fail from now on: what its runs leave possible, in whole hundredths. */
static double rate_of(const struct update *u, const struct nnv_report_case *c) {
    const json_t *alone = json_object_get(nnv_flake_of(u->r, c), "alone");
    uint64_t bad = c->more->bad_runs, runs = c->more->runs;
    if (runs < 2) {
        bad = nnv_json_count(alone, "bad");
        runs = nnv_json_count(alone, "runs");
    }
    const double high = bad < runs ? nnv_proportion_interval(bad, runs, 0.95).high : 1;
    return fmin(ceil(high * 100) / 100, 1);
}

/** Adds what fails and is in no entry: an entry for each bug, and for each flaky case. */
static enum nnv_status add_new(struct update *u, struct nnv_err *err) {
    struct nnv_buckets b = {0};
    uint32_t *of = malloc((u->r->count + 1) * sizeof *of);
    bool *wanted = malloc(u->r->count + 1);
    enum nnv_status s = of && wanted ? nnv_buckets_of(u->r, &b, of, err) : nnv_no_memory(err);
    for (uint32_t n = 0; s == NNV_OK && n < b.map.count; n++) {
        struct nnv_expected e = {.verdicts = 1u << b.item[n].verdict,
                                 .message = "",
                                 .reason = "",
                                 .owner = "",
                                 .link = "",
                                 .expires = "",
                                 .driver = "",
                                 .version = "",
                                 .level = "",
                                 .op = "",
                                 .type = "",
                                 .max_rate = (double)NAN};
        bool any = false;
        if (b.item[n].verdict == NNVTS_ERROR) continue;
        memset(wanted, 0, u->r->count);
        for (size_t i = 0; i < u->r->count && s == NNV_OK; i++) {
            if (of[i] != n || u->told[i]) continue;
            wanted[i] = true;
            if (u->r->item[i].outcome == NNVTS_OUTCOME_FLAKY) {
                struct nnv_expected flaky = e;
                bool *one = calloc(u->r->count + 1, sizeof *one);
                flaky.max_rate = rate_of(u, &u->r->item[i]);
                if (one != NULL) one[i] = true;
                s = one != NULL ? add_cases(u, &flaky, one, err) : nnv_no_memory(err);
                wanted[i] = false;
                u->to->added++;
                free(one);
            }
            any = any || wanted[i];
        }
        if (s == NNV_OK) s = add_cases(u, &e, wanted, err);
        u->to->added += any;
    }
    nnv_buckets_free(&b);
    free(of);
    free(wanted);
    return s;
}

static int by_cases(const void *a, const void *b) {
    const struct nnv_expected *const *x = a, *const *y = b;
    return strcmp((*x)->cases[0], (*y)->cases[0]);
}

static enum nnv_status write_file(struct update *u, struct nnv_err *err) {
    struct nnv_text t = {0};
    if (u->count > 0) qsort(u->entry, u->count, sizeof(struct nnv_expected *), by_cases);
    nnv_expect_write_file((const struct nnv_expected *const *)u->entry, u->count, &t);
    const enum nnv_status s = nnv_file_write_text(NULL, u->file, &t, err);
    nnv_text_free(&t);
    return s;
}

static enum nnv_status update(struct update *u, const char *folder, struct nnv_err *err) {
    enum nnv_status s = NNV_OK;
    u->arena = nnv_arena_new();
    if (u->arena == NULL) return nnv_no_memory(err);
    if (access(u->file, F_OK) == 0) s = nnv_expect_read(u->file, &u->old, err);
    if (s == NNV_OK) s = bind(folder, &u->old, &u->r, &u->cases, err);
    if (s == NNV_OK && (u->told = calloc(u->r->count + 1, sizeof *u->told)) == NULL) s = nnv_no_memory(err);
    if (s != NNV_OK) return s;
    /* The file speaks of what was measured, whatever the run was expected to come to. */
    for (size_t i = 0; i < u->r->count; i++)
        if (u->r->item[i].outcome == NNVTS_OUTCOME_XFAIL) u->r->item[i].outcome = NNVTS_OUTCOME_NONE;
    apply(&u->old, u->r);
    for (size_t e = 0; s == NNV_OK && e < u->old.count; e++) s = keep(u, e, err);
    if (s == NNV_OK) s = add_new(u, err);
    return s == NNV_OK ? write_file(u, err) : s;
}

enum nnv_status nnv_expect_update(const char *folder, const char *file, struct nnv_expect_updated *updated,
                                  struct nnv_err *err) {
    struct update u = {.file = file, .to = updated};
    *updated = (struct nnv_expect_updated){0};
    const enum nnv_status s = update(&u, folder, err);
    free(u.entry);
    free(u.told);
    free(u.cases);
    nnv_expect_free(&u.old);
    nnv_report_free(u.r);
    nnv_arena_free(u.arena);
    return s;
}
