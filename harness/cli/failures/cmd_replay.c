/* SPDX-License-Identifier: Apache-2.0 */
/** @file cmd_replay.c nnvts replay: runs dumped or hand-written specs again. */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "base/words.h"
#include "harness/cli/cli.h"
#include "harness/journal/line.h"
#include "harness/journal/verdict.h"
#include "harness/runner/ask.h"

static const struct nnv_verb_help help = {
    .usage = "nnvts replay SPEC... --driver NAME|PATH [options]",
    .summary = "Runs the specs of files (dumps of failed cases, or your own) on a driver and judges them by the same "
               "rules as a run. Exit code 0 if all pass, 1 if one fails.",
    .examples = "nnvts replay nnvts-out/dumps/x.json -d ./npu.so   does it still fail?\n"
                "nnvts replay nnvts-out/dumps/x.json -d cpu        does another driver pass?\n"
                "nnvts replay x.json -d ./npu.so --versus cpu         both, one below the other\n"
                "nnvts replay vectors.jsonl -d cpu --precision aosp  by AOSP's tolerances\n",
};

static int exit_code(const char *verdict, const char *why) {
    static const char *const good[] = {"PASS", "UNSUPPORTED", "SKIP"};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        if (strcmp(verdict, good[i]) == 0) return NNVTS_EXIT_PASS;
    if (strcmp(why, nnv_why_name(NNVTS_WHY_MALFORMED)) == 0) return NNVTS_EXIT_USAGE;
    return strcmp(verdict, "ERROR") == 0 ? NNVTS_EXIT_ERROR : NNVTS_EXIT_FAIL;
}

/** Adds the lines of a text that a driver may have written. */
static void add_lines(struct nnv_text *t, const char *title, const char *text) {
    if (*text != '\0') nnv_text_addf(t, "     %s:\n", title);
    while (*text != '\0') {
        const size_t n = strcspn(text, "\n");
        nnv_text_add(t, "       ");
        nnv_text_add_shown(t, text, n, n);
        nnv_text_add(t, "\n");
        text += n + (text[n] != '\0');
    }
}

/** Adds the record in words. driver: that is said before it; NULL: there is one alone. */
static void add_words(struct nnv_text *t, const json_t *r, const char *driver) {
    const char *reason = json_string_value(json_object_get(r, "reason"));
    const char *profile = nnv_json_text(json_array_get(json_object_get(r, "outputs"), 0), "profile", "");
    if (driver) nnv_text_addf(t, "%s: ", driver);
    nnv_text_addf(t, "%s %s   %" JSON_INTEGER_FORMAT " values compared%s%s\n", nnv_json_text(r, "verdict", ""),
                  nnv_json_text(r, "case", ""), json_integer_value(json_object_get(r, "compared")),
                  *profile ? " by " : "", profile);
    if (reason) nnv_text_addf(t, "     %s\n", reason);
}

/** Prints the record; *code becomes the exit code of its verdict, if that is worse. */
static enum nnv_status report(const char *record, const char *driver, bool json, int *code, struct nnv_err *err) {
    struct nnv_text t = {0};
    json_error_t why;
    json_t *r = nnv_record_parse(record, strlen(record), &why); /* of nnvts itself: it is sound */
    const int its = exit_code(nnv_json_text(r, "verdict", "ERROR"), nnv_json_text(r, "why", ""));
    if (json)
        nnv_text_addf(&t, "%s\n", record);
    else
        add_words(&t, r, driver);
    if (!json && its != NNVTS_EXIT_PASS) {
        add_lines(&t, "the driver printed", nnv_json_text(r, "log", ""));
        add_lines(&t, "backtrace", nnv_json_text(r, "backtrace", ""));
    }
    const bool ok = r && !t.failed;
    if (ok) fputs(t.data, stdout);
    if (ok && its > *code) *code = its;
    json_decref(r);
    nnv_text_free(&t);
    return ok ? NNV_OK : nnv_no_memory(err);
}

/** A driver that does not open is not the verdict of a case. */
static enum nnv_status must_open(const struct nnv_run_config *config, struct nnv_arena *arena, struct nnv_err *err) {
    struct nnv_driver_info info;
    return nnv_driver_probe(config->driver_path, config->driver_options, nnv_opening_ns(config->timeout_ns, 0), arena,
                            &info, err);
}

/** Replays the specs of one file; c->code becomes the worst exit code. */
static enum nnv_status replay_file(struct nnv_cli *c, const char *versus, const char *path, struct nnv_err *err) {
    struct nnv_run_config config, other;
    struct nnv_cli second = *c;
    second.driver = versus;
    struct nnv_arena *arena = nnv_arena_new();
    struct nnv_case_list list = {.arena = arena};
    enum nnv_status s = arena == NULL ? nnv_no_memory(err) : NNV_OK;
    c->specs = path;
    if (s == NNV_OK) s = nnv_cli_config(c, arena, &config, err);
    if (s == NNV_OK) s = nnv_cli_cases(c, &config, &list, err);
    second.specs = path;
    if (s == NNV_OK) s = must_open(&config, arena, err);
    if (s == NNV_OK && versus) s = nnv_cli_config(&second, arena, &other, err);
    if (s == NNV_OK && versus) s = must_open(&other, arena, err);
    for (size_t i = 0; s == NNV_OK && i < list.count; i++) {
        char *record = NULL;
        s = nnv_run_one(&config, &list.item[i], &record, err);
        if (s == NNV_OK) s = report(record, versus ? c->driver : NULL, c->json, &c->code, err);
        free(record);
        record = NULL;
        int unused = 0;
        if (s == NNV_OK && versus) s = nnv_run_one(&other, &list.item[i], &record, err);
        if (s == NNV_OK && versus) s = report(record, versus, c->json, &unused, err);
        free(record);
    }
    free(list.item);
    nnv_arena_free(arena);
    return s;
}

struct command {
    struct nnv_cli c;
    const char *versus; /* another driver beside the one under test; or NULL */
};

static enum nnv_status replay(void *own, struct nnv_err *err) {
    struct command *x = own;
    struct nnv_cli *c = &x->c;
    if (c->positional.count == 0)
        return nnv_fail(
            err, NNV_INVALID,
            "which spec? give a .json, .jsonl or .example.cpp file (failed cases leave them in nnvts-out/dumps/)");
    enum nnv_status s = nnv_cli_need_driver(c, err);
    for (int i = 0; s == NNV_OK && i < c->positional.count; i++)
        s = replay_file(c, x->versus, c->positional.item[i], err);
    return s;
}

static int run(int argc, char **argv) {
    struct command x = {.c = nnv_cli_defaults()};
    x.c.suite = "spec";
    const struct nnv_opt table[] = {
        NNV_OPTION_DRIVER(x.c),
        NNV_OPTION_VIA(x.c),
        {0, "versus", NNV_OPT_CODE, &x.versus, "DRIVER", "and on this one; the exit code is that of --driver", NULL},
        NNV_OPTION_FILTER(x.c),
        NNV_OPTION_PRECISION(x.c),
        NNV_OPTION_ARITHMETIC(x.c),
        NNV_OPTION_TIMEOUT(x.c),
        NNV_OPTION_JSON(x.c),
        NNV_OPTION_END,
    };
    return nnv_cli_run(&x.c, table, &help, NNV_OPT_LIST_MAX, argc, argv, replay, &x);
}

const struct nnv_verb nnv_verb_replay = {"replay", "understand a failure", "run a dumped or hand-written spec again",
                                         run};
