/* SPDX-License-Identifier: Apache-2.0 */
/** @file cmd_expect.c nnvts expect: files of what is known to fail, made from a run, and checked. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "base/stats.h"
#include "harness/cli/expectations.h"
#include "harness/journal/verdict.h"
#include "harness/journal/select.h"
#include "harness/journal/bucket.h"
#include "harness/journal/load.h"
#include "harness/journal/outcome.h"

static const struct nnv_verb_help help = {
    .usage = "nnvts expect update [RUN] [-o FILE] | nnvts expect check FILE...",
    .summary = "update writes FILE (default expectations.json) so that the run in the folder RUN (default nnvts-out) "
               "would pass by it: what FILE says already of cases that still fail stays, with owner, reason and link; "
               "what does not fail any more is dropped; new failures are added, one entry a bug, for you to say why "
               "and who. check says what is wrong with a file: what has expired, matches nothing, has no owner or "
               "reason. Exit code 1: something to put right.",
    .examples = "nnvts expect update -o known.json              from the run in nnvts-out\n"
                "nnvts expect update results/42 -o known.json   from another\n"
                "nnvts expect check known.json                  is it in order?\n",
};

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
    size_t kept, dropped, added, expired;
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
        u->kept++;
    } else {
        s = add_cases(u, old, wanted, err);
        u->kept += fails > 0;
        u->dropped += fails == 0;
    }
    for (size_t i = 0; i < u->r->count && !(silent && fails + others == 0); i++) u->told[i] = u->told[i] || wanted[i];
    u->expired += old->state == NNV_EXPECTED_EXPIRED && fails > 0;
    free(wanted);
    return s;
}

/** How often a flaky case may fail from now on: what its runs leave possible, in whole hundredths. */
static double rate_of(const struct update *u, const struct nnv_report_case *c) {
    const json_t *alone = json_object_get(nnv_flake_of(u->r, c), "alone");
    uint64_t bad = c->bad_runs, runs = c->runs;
    if (runs < 2) {
        bad = nnv_json_count(alone, "bad");
        runs = nnv_json_count(alone, "runs");
    }
    const double high = runs > 0 && bad <= runs ? nnv_proportion_interval(bad, runs, 0.95).high : 1;
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
                u->added++;
                free(one);
            }
            any = any || wanted[i];
        }
        if (s == NNV_OK && any) s = add_cases(u, &e, wanted, err);
        u->added += any;
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
    enum nnv_status s = t.failed ? nnv_no_memory(err) : nnv_file_write(u->file, t.data, t.len, err);
    nnv_text_free(&t);
    return s;
}

static enum nnv_status update_all(struct update *u, const char *folder, struct nnv_err *err) {
    enum nnv_status s = nnv_report_load(folder, &u->r, err);
    if (s == NNV_OK && access(u->file, F_OK) == 0) s = nnv_expect_read(u->file, &u->old, err);
    if (s != NNV_OK) return s;
    /* The file speaks of what was measured, whatever the run was expected to come to. */
    for (size_t i = 0; i < u->r->count; i++)
        if (u->r->item[i].outcome == NNVTS_OUTCOME_XFAIL) u->r->item[i].outcome = NNVTS_OUTCOME_NONE;
    u->arena = nnv_arena_new();
    u->cases = nnv_cli_report_cases(u->r);
    u->told = calloc(u->r->count + 1, sizeof *u->told);
    if (u->arena == NULL || u->cases == NULL || u->told == NULL) return nnv_no_memory(err);
    s = nnv_expect_bind(&u->old, u->cases, u->r->count, err);
    if (s == NNV_OK) nnv_cli_expect_apply(&u->old, u->r);
    for (size_t e = 0; s == NNV_OK && e < u->old.count; e++) s = keep(u, e, err);
    if (s == NNV_OK) s = add_new(u, err);
    return s == NNV_OK ? write_file(u, err) : s;
}

static int update(const char *folder, const char *file) {
    struct update u = {.file = file};
    struct nnv_err err = {0};
    const enum nnv_status s = update_all(&u, folder, &err);
    int code = s == NNV_OK ? NNVTS_EXIT_PASS : nnv_cli_error(&err);
    if (s == NNV_OK) {
        printf("%s: %zu kept, %zu dropped, %zu added\n", file, u.kept, u.dropped, u.added);
        if (u.added > 0) printf("say why and who: add \"reason\", \"owner\" and \"link\" to the new ones\n");
        if (u.expired > 0)
            printf("%zu of them %s expired: give a new day, or repair what fails\n", u.expired,
                   u.expired == 1 ? "has" : "have");
    }
    free(u.entry);
    free(u.told);
    free(u.cases);
    nnv_expect_free(&u.old);
    nnv_report_free(u.r);
    nnv_arena_free(u.arena);
    return code;
}

/* -------------------------------------------------------------------- check */

/** Prints what is wrong with an entry; false if something is. */
static bool check_entry(const struct nnv_expected *e, const struct nnv_case_list *all, const char *day) {
    const char *wrong[6];
    size_t n = 0;
    struct nnv_err why = {0};
    if (*e->expires != '\0' && strcmp(e->expires, day) < 0) wrong[n++] = "has expired";
    if (e->state == NNV_EXPECTED_UNMATCHED) {
        wrong[n++] = "matches no case";
        for (size_t k = 0; k < e->case_count; k++)
            if (nnv_select_each(all, e->cases[k], nnv_known_names, NULL, NULL, &why) != NNV_OK) break;
    }
    if (*e->owner == '\0') wrong[n++] = "has no owner: who looks after it?";
    if (*e->reason == '\0') wrong[n++] = "has no reason: why does it fail?";
    for (size_t i = 0; i < n; i++) printf("%s: %s %s\n", e->at, e->cases[0], wrong[i]);
    if (why.text[0] != '\0') printf("%s: %s\n", e->at, why.text);
    return n == 0;
}

/** Prints entries that are about a case of an earlier one in the same way. */
static size_t check_doubles(const struct nnv_expectations *x) {
    size_t doubles = 0;
    bool *told = calloc(x->count + 1, sizeof *told);
    for (size_t i = 0; told != NULL && i < x->cases; i++) {
        for (size_t e = 0; x->first[i] != 0 && e < x->count; e++) {
            const struct nnv_expected *a = &x->item[e];
            if (told[e] || !nnv_expect_covers(x, i, e)) continue;
            for (size_t k = 0; k < e && !told[e]; k++) {
                const struct nnv_expected *b = &x->item[k];
                if (!nnv_expect_covers(x, i, k) || strcmp(a->message, b->message) != 0 || a->verdicts != b->verdicts ||
                    strcmp(a->driver, b->driver) != 0 || strcmp(a->version, b->version) != 0 ||
                    strcmp(a->level, b->level) != 0)
                    continue;
                printf("%s: %s is about a case of %s, too\n", a->at, a->cases[0], b->at);
                told[e] = true;
                doubles++;
            }
        }
    }
    free(told);
    return doubles;
}

static int check(const struct nnv_cli *c, const struct nnv_opt_list *files) {
    struct nnv_err err = {0};
    struct nnv_expectations x = {0};
    struct nnv_run_config config;
    struct nnv_arena *arena = nnv_arena_new();
    struct nnv_case_list all = {.arena = arena};
    char day[16] = "";
    const time_t now = time(NULL);
    struct tm utc;
    size_t wrong = 0;
    if (gmtime_r(&now, &utc) != NULL) strftime(day, sizeof day, "%Y-%m-%d", &utc);
    enum nnv_status s = arena != NULL ? nnv_cli_config(c, arena, &config, &err) : nnv_no_memory(&err);
    for (int i = 1; i < files->count && s == NNV_OK; i++) s = nnv_expect_read(files->item[i], &x, &err);
    if (s == NNV_OK) s = nnv_list_suites(&config, "all", &all, &err);
    if (s == NNV_OK) s = nnv_expect_count(&x, &all, nnv_known_names, &err);
    if (s == NNV_OK) s = nnv_expect_bind(&x, all.item, all.count, &err);
    if (s == NNV_OK) {
        for (size_t i = 0; i < x.count; i++) wrong += !check_entry(&x.item[i], &all, day);
        wrong += check_doubles(&x);
        printf("%zu expectation%s, %zu to put right\n", x.count, x.count == 1 ? "" : "s", wrong);
    }
    int code = s != NNV_OK ? nnv_cli_error(&err) : wrong > 0 ? NNVTS_EXIT_FAIL : NNVTS_EXIT_PASS;
    nnv_expect_free(&x);
    free(all.item);
    nnv_arena_free(arena);
    return code;
}

static int run(int argc, char **argv) {
    struct nnv_cli c;
    nnv_cli_defaults(&c);
    const char *folder = c.out;
    c.out = "expectations.json";
    const struct nnv_opt table[] = {
        {'o', "out", NNV_OPT_STRING, &c.out, "FILE", "update: the file", NULL},
        NNV_OPTION_SPECS(c),
        NNV_OPTION_TIER(c),
        NNV_OPTION_COUNT(c),
        NNV_OPTION_SEED(c),
        NNV_OPTION_END,
    };
    int code = nnv_cli_parse(&c, table, &help, NNV_OPT_LIST_MAX, argc, argv);
    if (code >= 0) return code;
    const char *what = c.positional.count > 0 ? c.positional.item[0] : "";
    if (strcmp(what, "update") == 0 && c.positional.count <= 2)
        return update(c.positional.count == 2 ? c.positional.item[1] : folder, c.out);
    if (strcmp(what, "check") == 0 && c.positional.count >= 2) return check(&c, &c.positional);
    fprintf(stderr, "nnvts expect: expected update [RUN] or check FILE...; see nnvts expect --help\n");
    return NNVTS_EXIT_USAGE;
}

const struct nnv_verb nnv_verb_expect = {"expect", "many runs", "files of what is known to fail: update, check", run};
