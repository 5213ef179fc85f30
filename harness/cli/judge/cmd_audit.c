/* SPDX-License-Identifier: Apache-2.0 */
/** @file cmd_audit.c nnvts audit: judges the suites by planted bugs. */
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/folder.h"
#include "base/nearest.h"
#include "base/words.h"
#include "harness/cli/cli.h"
#include "harness/debug/reach.h"
#include "harness/runner/audit/audit.h"
#include "harness/runner/audit/sensitivity.h"
#include "harness/journal/select.h"
#include "harness/runner/ask.h"

static const struct nnv_verb_help help = {
    .usage = "nnvts audit [options]",
    .summary = "Judges the suites: runs each bug that is planted in a driver and says which suite catches it, and runs "
               "drivers "
               "without a bug, of which no suite may complain. Leaves audit.json and audit.html. Exit code 0: at "
               "least 95 % of the bugs are caught, no false alarm; 1: not so; 2: usage; 3: nnvts itself failed.",
    .examples = "nnvts audit --own                          each bug on the suite that is for it, ops and device\n"
                "nnvts audit --quick                        each bug until a suite has caught it\n"
                "nnvts audit --bugs '*-axis-*' -s ops       some bugs, one suite\n"
                "nnvts audit --profiles budget,aosp --count 2000  what the rules of comparison find on the same "
                "graphs\n"
                "nnvts audit --sensitivity                  how small an error each operation's cases notice\n"
                "nnvts audit --reach                        cases of operations that no fault makes fail\n"
                "nnvts audit --markdown                     the list of bugs, nothing is run\n",
};

struct asked {
    struct nnv_cli cli;
    const char *bugs, *controls, *profiles;
    bool own, quick, full, sensitivity, reach;
};

/** True if one of the comma-separated globs matches. */
static bool matches(const char *globs, const char *name) {
    for (const char *at = globs; at != NULL; at = at[strcspn(at, ",")] == ',' ? at + strcspn(at, ",") + 1 : NULL)
        if (nnv_glob(at, strcspn(at, ","), name)) return true;
    return globs == NULL;
}

/* ------------------------------------------------------------------ subjects */

static enum nnv_status add(struct nnv_arena *arena, struct nnv_audit *a, struct nnv_audit_subject s, const char *driver,
                           struct nnv_err *err) {
    size_t n = strlen(driver) + strlen(s.name) + 2;
    char *argument = nnv_arena_alloc(arena, n, 1);
    if (argument == NULL) return nnv_no_memory(err);
    snprintf(argument, n, "%s%s%s", driver, *driver != '\0' ? ":" : "", s.name);
    s.argument = argument;
    a->subjects[a->count++] = s;
    return NNV_OK;
}

/** The controls by their arguments. */
static enum nnv_status add_controls(const char *controls, struct nnv_arena *arena, struct nnv_audit *a,
                                    struct nnv_err *err) {
    char *names = nnv_arena_strdup(arena, controls), *rest = names;
    if (names == NULL) return nnv_no_memory(err);
    enum nnv_status st = NNV_OK;
    for (char *name; st == NNV_OK && (name = strsep(&rest, ",")) != NULL;) {
        if (*name == '\0') continue;
        struct nnv_audit_subject s = {
            .kind = NNV_AUDIT_CONTROL, .name = name, .suite = "", .models = "no bug: a control", .fires = ""};
        st = add(arena, a, s, "", err);
    }
    return st;
}

static size_t commas(const char *s) {
    size_t n = 0;
    for (; *s != '\0'; s++) n += *s == ',';
    return n;
}

/** Fills a's subjects: the controls, and of the list those that were asked for. */
static enum nnv_status take_subjects(const struct asked *q, const struct nnv_planted *planted, struct nnv_arena *arena,
                                     struct nnv_audit *a, struct nnv_err *err) {
    a->subjects = NNV_NEW(arena, struct nnv_audit_subject, planted->count + commas(q->controls) + 1);
    if (a->subjects == NULL) return nnv_no_memory(err);
    enum nnv_status st = add_controls(q->controls, arena, a, err);
    size_t controls = a->count;
    for (size_t i = 0; i < planted->count && st == NNV_OK; i++) {
        const struct nnvts_planted *p = &planted->item[i];
        if (!matches(q->bugs, p->name) || strcmp(p->name, "none") == 0) continue;
        if (q->profiles != NULL && p->spoils == NULL) continue;
        struct nnv_audit_subject s = {
            .kind = p->kind == NNVTS_PLANTED_LEGAL ? NNV_AUDIT_LEGAL : NNV_AUDIT_BUG,
            .name = p->name,
            .suite = p->suite,
            .models = p->models,
            .fires = p->fires,
            .survives = p->survives,
            .spoils = p->spoils,
        };
        st = add(arena, a, s, q->cli.driver, err);
    }
    if (st == NNV_OK && a->count == controls) {
        struct nnv_nearest near = nnv_nearest_to(q->bugs != NULL ? q->bugs : "");
        for (size_t i = 0; i < planted->count; i++) nnv_nearest_see(&near, planted->item[i].name);
        st = near.best != NULL
                 ? nnv_fail(err, NNV_INVALID, "no bug is selected by '%s' (did you mean '%s'?)", near.word, near.best)
                 : nnv_fail(err, NNV_INVALID,
                            "no bug is selected by '%s' (of %zu; see them with nnvts audit --markdown)", near.word,
                            planted->count);
    }
    return st;
}

/** The suites that the cases are of, in their order. */
static enum nnv_status take_suites(const struct nnv_case_list *list, struct nnv_arena *arena, struct nnv_audit *a,
                                   struct nnv_err *err) {
    size_t all;
    const struct nnv_suite *const *suites = nnv_suites(&all);
    const char **names = NNV_NEW(arena, const char *, all + 1);
    if (names == NULL) return nnv_no_memory(err);
    a->suites = names;
    for (size_t i = 0; i < all; i++) {
        bool used = false;
        for (size_t k = 0; k < list->count && !used; k++) used = strcmp(list->item[k].suite, suites[i]->name) == 0;
        if (used) names[a->suite_count++] = suites[i]->name;
    }
    return NNV_OK;
}

/** The default suites and those that bugs asked for are for, separated by commas; arena's. NULL: out of memory. */
static const char *default_suites(const struct asked *q, const struct nnv_planted *planted, struct nnv_arena *arena) {
    size_t all;
    const struct nnv_suite *const *suites = nnv_suites(&all);
    struct nnv_text t = {0};
    for (size_t i = 0; i < all; i++) {
        bool wanted = suites[i]->by_default;
        for (size_t k = 0; k < planted->count && !wanted; k++)
            wanted = matches(q->bugs, planted->item[k].name) && strcmp(planted->item[k].suite, suites[i]->name) == 0;
        if (wanted) nnv_text_addf(&t, "%s%s", t.len > 0 ? "," : "", suites[i]->name);
    }
    const char *names = t.failed || t.data == NULL ? NULL : nnv_arena_strdup(arena, t.data);
    nnv_text_free(&t);
    return names;
}

/* ---------------------------------------------------------------------- list */

/** Adds text for a cell of a Markdown table. */
static void add_cell(struct nnv_text *t, const char *text) {
    nnv_text_add(t, "| ");
    for (const char *c = text; *c != '\0'; c++) nnv_text_addf(t, *c == '|' ? "\\%c" : "%c", *c);
    nnv_text_add(t, " ");
}

/** docs/use/planted-bugs.md. */
static void add_list(const struct nnv_planted *planted, const char *driver, struct nnv_text *t) {
    nnv_text_addf(
        t, "# Bugs planted in the driver `%s`\n\nWritten by `nnvts audit --markdown`; `nnvts audit` runs them.\n",
        driver);
    const char *suite = "";
    for (int kind = NNVTS_PLANTED_BUG; kind <= NNVTS_PLANTED_LEGAL; kind++) {
        for (size_t i = 0; i < planted->count; i++) {
            const struct nnvts_planted *p = &planted->item[i];
            if (p->kind != kind || strcmp(p->name, "none") == 0) continue;
            const char *heading = kind == NNVTS_PLANTED_LEGAL ? "legal variants: no suite may complain" : p->suite;
            if (strcmp(heading, suite) != 0)
                nnv_text_addf(t,
                              "\n## %s%s\n\n| bug | models | fires | wrong results of | survives |\n"
                              "| --- | --- | --- | --- | --- |\n",
                              kind == NNVTS_PLANTED_LEGAL ? "" : "For the suite ", heading);
            suite = heading;
            nnv_text_addf(t, "| `%s` ", p->name);
            add_cell(t, p->models);
            add_cell(t, p->fires);
            add_cell(t, p->spoils == NULL ? "" : strcmp(p->spoils, "*") == 0 ? "all" : p->spoils);
            add_cell(t, p->survives != NULL ? p->survives : "");
            nnv_text_add(t, "|\n");
        }
    }
}

/* ----------------------------------------------------------------------- run */

static void on_done(void *context, const struct nnv_audit *a, const struct nnv_audit_subject *s) {
    const struct asked *q = context;
    struct nnv_err err;
    struct nnv_text t = {0};
    if (q->cli.quiet || q->cli.json) return;
    nnv_audit_line(a, s, &t);
    nnv_text_add(&t, "\n");
    if (nnv_cli_print(&t, &err) == NNV_OK) fflush(stdout);
}

static enum nnv_status report(const struct asked *q, const struct nnv_audit *a, struct nnv_err *err) {
    struct nnv_text json = {0}, html = {0}, closing = {0};
    nnv_audit_json(a, &json);
    if (q->cli.json && !json.failed) fwrite(json.data, 1, json.len, stdout);
    nnv_audit_html(a, &html);
    enum nnv_status st = nnv_cli_make_out(&q->cli, err);
    if (st == NNV_OK) st = nnv_file_write_text(q->cli.out, "audit.json", &json, err);
    if (st == NNV_OK) st = nnv_file_write_text(q->cli.out, "audit.html", &html, err);
    nnv_text_free(&json);
    nnv_text_free(&html);
    if (st != NNV_OK || q->cli.json) return st;
    nnv_audit_closing(a, &closing);
    nnv_text_add(&closing, "report: ");
    nnv_text_add_path(&closing, q->cli.out, "audit.html");
    nnv_text_add(&closing, "\n");
    return nnv_cli_print(&closing, err);
}

/** Runs the audit and makes its reports. */
static enum nnv_status run_audit(struct asked *q, const struct nnv_planted *planted, struct nnv_err *err) {
    struct nnv_arena *arena = q->cli.arena;
    struct nnv_case_list list = {.arena = arena};
    struct nnv_run_config config;
    struct nnv_audit a = {.driver = q->cli.driver, .tier = nnv_tier_name(q->cli.tier), .full = q->full};
    bool interrupted = false;
    if (q->cli.suite == NULL) q->cli.suite = default_suites(q, planted, arena);
    enum nnv_status st = nnv_cli_config(&q->cli, arena, &config, err);
    if (st == NNV_OK && q->cli.suite == NULL) st = nnv_no_memory(err);
    if (st == NNV_OK) st = nnv_file_try(q->cli.out, true, err);
    if (st == NNV_OK) st = nnv_cli_cases(&q->cli, &config, &list, err);
    if (st == NNV_OK) st = take_suites(&list, arena, &a, err);
    if (st == NNV_OK) st = take_subjects(q, planted, arena, &a, err);
    if (st == NNV_OK && !q->cli.quiet && !q->cli.json) {
        struct nnv_text t = {0};
        nnv_audit_heading(&a, &t);
        nnv_text_add(&t, "\n");
        st = nnv_cli_print(&t, err);
    }
    struct nnv_audit_options options = {.config = &config,
                                        .cases = list.item,
                                        .count = list.count,
                                        .own = q->own,
                                        .quick = q->quick,
                                        .context = q,
                                        .done = on_done};
    const size_t asked = a.count;
    if (st == NNV_OK) st = nnv_audit_run(&options, &a, &interrupted, err);
    if (st == NNV_OK) st = report(q, &a, err);
    if (st == NNV_OK) q->cli.code = interrupted ? 130 : (int)nnv_audit_exit(&a);
    if (st == NNV_OK && interrupted)
        fprintf(stderr, "nnvts: interrupted; the report has the %zu of %zu drivers that were judged\n", a.count, asked);
    nnv_audit_free(&a);
    free(list.item);
    return st;
}

/* ------------------------------------------------------------------ profiles */

/** The profiles of the comma-separated list; room: entries of out. */
static enum nnv_status take_profiles(const char *list, struct nnv_arena *arena, struct nnv_audit_profile *out,
                                     int *precision, size_t room, size_t *count, struct nnv_err *err) {
    char *names = nnv_arena_strdup(arena, list), *rest = names;
    if (names == NULL) return nnv_no_memory(err);
    *count = 0;
    for (char *name; (name = strsep(&rest, ",")) != NULL;) {
        int at = 1; /* 0 is the suite's default */
        while (nnv_cli_precisions[at] != NULL && strcmp(nnv_cli_precisions[at], name) != 0) at++;
        if (nnv_cli_precisions[at] == NULL || *count == room)
            return nnv_fail(err, NNV_INVALID, "--profiles %s: expected some of nnapi,aosp,budget,aosp-graph", list);
        precision[*count] = at - 1;
        out[(*count)++].name = name;
    }
    return NNV_OK;
}

/** Runs the bugs of values on the same cases under each profile, and prints the table. */
static enum nnv_status compare_profiles(struct asked *q, const struct nnv_planted *planted, struct nnv_err *err) {
    struct nnv_arena *arena = q->cli.arena;
    struct nnv_audit_profile profile[4] = {0};
    int precision[4];
    size_t count = 0;
    struct nnv_case_list list = {.arena = arena};
    struct nnv_run_config config;
    struct nnv_text t = {0};
    bool interrupted = false;
    if (q->cli.suite == NULL) q->cli.suite = "randgraph";
    q->cli.jobs = 1; /* so that cases end in their order, and the same number of them comes before the first bad one */
    enum nnv_status st = take_profiles(q->profiles, arena, profile, precision, 4, &count, err);
    if (st == NNV_OK) st = nnv_cli_config(&q->cli, arena, &config, err);
    if (st == NNV_OK) st = nnv_cli_cases(&q->cli, &config, &list, err);
    for (size_t i = 0; i < count && st == NNV_OK; i++) {
        struct nnv_audit *a = &profile[i].audit;
        *a = (struct nnv_audit){.driver = q->cli.driver, .tier = nnv_tier_name(q->cli.tier)};
        config.precision = precision[i];
        struct nnv_audit_options options = {.config = &config, .cases = list.item, .count = list.count};
        st = take_suites(&list, arena, a, err);
        if (st == NNV_OK && a->suite_count != 1)
            st = nnv_fail(err, NNV_INVALID, "--profiles: one suite, please, not %s", q->cli.suite);
        if (st == NNV_OK) st = take_subjects(q, planted, arena, a, err);
        if (st == NNV_OK) st = nnv_audit_run(&options, a, &interrupted, err);
        if (st == NNV_OK && interrupted) st = nnv_fail(err, NNV_INVALID, "interrupted");
    }
    if (st == NNV_OK) {
        nnv_audit_profiles_markdown(profile, count, list.count, &t);
        st = nnv_cli_print(&t, err);
    }
    for (size_t i = 0; i < count; i++) nnv_audit_free(&profile[i].audit);
    free(list.item);
    return st;
}

/* --------------------------------------------------------------- sensitivity */

static enum nnv_status write_to(const char *folder, const char *name, struct nnv_text *t, struct nnv_err *err) {
    struct nnv_text path = {0};
    nnv_text_add_path(&path, folder, name);
    enum nnv_status st =
        path.failed || t->failed ? nnv_no_memory(err) : nnv_file_write(path.data, t->data, t->len, err);
    nnv_text_free(&path);
    nnv_text_clear(t);
    return st;
}

/** How small an error each operation's cases notice: no driver runs. */
static enum nnv_status measure_sensitivity(struct asked *q, struct nnv_err *err) {
    enum { MOST = 8 }; /* cases of an operation and type */
    struct nnv_arena *arena = q->cli.arena;
    struct nnv_case_list list = {.arena = arena};
    struct nnv_run_config config;
    struct nnv_sensitivity_table table = {0};
    struct nnv_text t = {0};
    const size_t most = q->cli.count > 0 ? (size_t)q->cli.count : MOST;
    q->cli.suite = "ops";
    enum nnv_status st = nnv_cli_config(&q->cli, arena, &config, err);
    if (st == NNV_OK) st = nnv_cli_cases(&q->cli, &config, &list, err);
    if (st == NNV_OK) st = nnv_sensitivity_of(&config, list.item, list.count, most, arena, &table, err);
    if (st == NNV_OK && !q->cli.markdown) st = nnv_folder_make(q->cli.out, err);
    nnv_sensitivity_json(&table, &t);
    if (st == NNV_OK && !q->cli.markdown) st = write_to(q->cli.out, "sensitivity.json", &t, err);
    nnv_text_clear(&t);
    nnv_sensitivity_html(&table, &t);
    if (st == NNV_OK && !q->cli.markdown) st = write_to(q->cli.out, "sensitivity.html", &t, err);
    nnv_text_clear(&t);
    free(list.item);
    if (st != NNV_OK) {
        nnv_text_free(&t);
        return st;
    }
    if (q->cli.json)
        nnv_sensitivity_json(&table, &t);
    else
        nnv_sensitivity_text(&table, q->cli.markdown, &t);
    return nnv_cli_print(&t, err);
}

/* --------------------------------------------------------------------- reach */

static void reach_json(const struct nnv_reach *reach, struct nnv_text *t) {
    struct nnv_json_out j = {.text = t, .spaced = true};
    nnv_json_open(&j, NULL, '{');
    nnv_json_uint(&j, "cases", reach->cases);
    nnv_json_uint(&j, "without_values", reach->other);
    nnv_json_double(&j, "seconds", reach->seconds);
    nnv_json_open(&j, "unreached", '[');
    for (size_t i = 0; i < reach->count; i++) {
        j.line = "\n  ";
        nnv_json_string(&j, NULL, reach->item[i]);
    }
    nnv_json_close(&j, ']');
    if (reach->shown > 0) {
        nnv_json_open(&j, "reached", '{');
        for (size_t i = 0; i < reach->shown; i++) {
            j.line = "\n  ";
            nnv_json_string(&j, reach->by[i].name, reach->by[i].fault);
        }
        nnv_json_close(&j, '}');
    }
    nnv_json_close(&j, '}');
    nnv_text_add(t, "\n");
}

/** Cases of operations that no fault of the catalogue makes fail: no driver runs. */
static enum nnv_status measure_reach(struct asked *q, struct nnv_err *err) {
    struct nnv_arena *arena = q->cli.arena;
    struct nnv_case_list list = {.arena = arena};
    struct nnv_run_config config;
    struct nnv_reach reach = {0};
    struct nnv_text t = {0};
    if (q->cli.suite == NULL) q->cli.suite = "ops";
    enum nnv_status st = nnv_cli_config(&q->cli, arena, &config, err);
    if (st == NNV_OK) st = nnv_cli_cases(&q->cli, &config, &list, err);
    if (st == NNV_OK) st = nnv_reach_of(&config, list.item, list.count, arena, &reach, err);
    free(list.item);
    if (st == NNV_OK) st = nnv_folder_make(q->cli.out, err);
    if (st != NNV_OK) return st;
    reach_json(&reach, &t);
    st = write_to(q->cli.out, "reach.json", &t, err);
    if (st == NNV_OK && q->cli.json) {
        reach_json(&reach, &t);
    } else if (st == NNV_OK) {
        for (size_t i = 0; i < reach.count; i++) nnv_text_addf(&t, "%s\n", reach.item[i]);
        nnv_text_addf(&t, "%s of ", nnv_count(reach.count).s);
        nnv_text_addf(&t, "%s cases with values fail with no fault of the catalogue; ", nnv_count(reach.cases).s);
        nnv_text_addf(&t, "%s further cases are judged without values; %.1f s\n", nnv_count(reach.other).s,
                      reach.seconds);
    }
    if (st == NNV_OK) return nnv_cli_print(&t, err);
    nnv_text_free(&t);
    return st;
}

static enum nnv_status audit(void *own, struct nnv_err *err) {
    struct asked *q = own;
    struct nnv_planted planted;
    const char *path, *options;
    struct nnv_text t = {0};
    if (q->sensitivity) return measure_sensitivity(q, err);
    if (q->reach) return measure_reach(q, err);
    enum nnv_status st = nnv_client_resolve(q->cli.driver, q->cli.arena, &path, &options, err);
    if (st == NNV_OK) st = nnv_planted_read(path, nnv_opening_ns(q->cli.timeout_ns, 0), q->cli.arena, &planted, err);
    if (st != NNV_OK) return st;
    if (!q->cli.markdown) return q->profiles != NULL ? compare_profiles(q, &planted, err) : run_audit(q, &planted, err);
    add_list(&planted, q->cli.driver, &t);
    return nnv_cli_print(&t, err);
}

static int run(int argc, char **argv) {
    struct asked q = {.cli = nnv_cli_defaults(), .controls = "faulty:none,cpu,reference,cpu:isa=base"};
    q.cli.driver = "faulty";
    q.cli.timeout_ns = UINT64_C(3000000000);
    const struct nnv_opt table[] = {
        {'d', "driver", NNV_OPT_CODE, &q.cli.driver, "NAME|PATH", "the driver with the bugs", NULL},
        NNV_OPTION_SUITE(q.cli),
        {'b', "bugs", NNV_OPT_STRING, &q.bugs, "GLOB,...", "only these bugs", NULL},
        {0, "controls", NNV_OPT_CODE, &q.controls, "A,B", "drivers without a bug", NULL},
        NNV_OPTION_FILTER(q.cli),
        {0, "own", NNV_OPT_FLAG, &q.own, NULL, "run a bug on the suite that is for it, on ops and on device", NULL},
        {0, "quick", NNV_OPT_FLAG, &q.quick, NULL,
         "run a bug on the suite that is for it first, and on no more suites once one has caught it", NULL},
        {0, "full", NNV_OPT_FLAG, &q.full, NULL, "run suites to their end, not to the first case that catches the bug",
         NULL},
        {0, "profiles", NNV_OPT_STRING, &q.profiles, "P,Q",
         "bugs of values on the same random graphs under each rule of comparison: print a table", NULL},
        {0, "sensitivity", NNV_OPT_FLAG, &q.sensitivity, NULL,
         "plant errors into golden answers: the smallest that is noticed, of each operation and type (--count N: by N "
         "cases)",
         NULL},
        {0, "reach", NNV_OPT_FLAG, &q.reach, NULL,
         "plant faults into golden answers (suites ops, spec): the cases that none makes fail", NULL},
        NNV_OPTION_COUNT(q.cli),
        {0, "markdown", NNV_OPT_FLAG, &q.cli.markdown, NULL, "print the list of bugs; run nothing", NULL},
        NNV_OPTION_TIER(q.cli),
        NNV_OPTION_SPECS(q.cli),
        NNV_OPTION_PRECISION(q.cli),
        NNV_OPTION_ARITHMETIC(q.cli),
        NNV_OPTION_SEED(q.cli),
        NNV_OPTION_JOBS(q.cli),
        NNV_OPTION_TIMEOUT(q.cli),
        NNV_OPTION_OUT(q.cli),
        NNV_OPTION_JSON(q.cli),
        NNV_OPTION_QUIET(q.cli),
        NNV_OPTION_END,
    };
    return nnv_cli_run(&q.cli, table, &help, 0, argc, argv, audit, &q);
}

const struct nnv_verb nnv_verb_audit = {"audit", "judge a driver", "judge the suites by planted bugs", run};
