/* SPDX-License-Identifier: Apache-2.0 */
/** @file cmd_expect.c nnvts expect: files of what is known to fail, made from a run, and checked. */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "harness/cli/cli.h"
#include "harness/journal/expect/expect.h"
#include "harness/journal/select.h"

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

static enum nnv_status update(const char *folder, const char *file, struct nnv_err *err) {
    struct nnv_expect_updated u;
    const enum nnv_status s = nnv_expect_update(folder, file, &u, err);
    if (s != NNV_OK) return s;
    printf("%s: %zu kept, %zu dropped, %zu added\n", file, u.kept, u.dropped, u.added);
    if (u.added > 0) printf("say why and who: add \"reason\", \"owner\" and \"link\" to the new ones\n");
    if (u.expired > 0)
        printf("%zu of them %s expired: give a new day, or repair what fails\n", u.expired,
               u.expired == 1 ? "has" : "have");
    return NNV_OK;
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

static enum nnv_status check(struct nnv_cli *c, struct nnv_err *err) {
    struct nnv_expectations x = {0};
    struct nnv_run_config config;
    struct nnv_case_list all = {.arena = c->arena};
    char day[16] = "";
    const time_t now = time(NULL);
    struct tm utc;
    size_t wrong = 0;
    if (gmtime_r(&now, &utc) != NULL) strftime(day, sizeof day, "%Y-%m-%d", &utc);
    enum nnv_status s = nnv_cli_config(c, c->arena, &config, err);
    for (int i = 1; i < c->positional.count && s == NNV_OK; i++) s = nnv_expect_read(c->positional.item[i], &x, err);
    if (s == NNV_OK) s = nnv_list_suites(&config, "all", &all, err);
    if (s == NNV_OK) s = nnv_expect_count(&x, &all, nnv_known_names, err);
    if (s == NNV_OK) s = nnv_expect_bind(&x, all.item, all.count, err);
    if (s == NNV_OK) {
        for (size_t i = 0; i < x.count; i++) wrong += !check_entry(&x.item[i], &all, day);
        wrong += check_doubles(&x);
        printf("%zu expectation%s, %zu to put right\n", x.count, x.count == 1 ? "" : "s", wrong);
    }
    if (wrong > 0) c->code = NNVTS_EXIT_FAIL;
    nnv_expect_free(&x);
    free(all.item);
    return s;
}

static enum nnv_status expect(void *own, struct nnv_err *err) {
    struct nnv_cli *c = own;
    const char *what = c->positional.count > 0 ? c->positional.item[0] : "";
    if (strcmp(what, "update") == 0 && c->positional.count <= 2)
        return update(c->positional.count == 2 ? c->positional.item[1] : "nnvts-out", c->out, err);
    if (strcmp(what, "check") == 0 && c->positional.count >= 2) return check(c, err);
    c->code = nnv_cli_usage("expect", "expected update [RUN] or check FILE...");
    return NNV_OK;
}

static int run(int argc, char **argv) {
    struct nnv_cli c = nnv_cli_defaults();
    c.out = "expectations.json";
    const struct nnv_opt table[] = {
        {'o', "out", NNV_OPT_KEPT, &c.out, "FILE", "update: the file", NULL},
        NNV_OPTION_SPECS(c),
        NNV_OPTION_TIER(c),
        NNV_OPTION_COUNT(c),
        NNV_OPTION_SEED(c),
        NNV_OPTION_END,
    };
    return nnv_cli_run(&c, table, &help, NNV_OPT_LIST_MAX, argc, argv, expect, &c);
}

const struct nnv_verb nnv_verb_expect = {"expect", "many runs", "files of what is known to fail: update, check", run};
