/* SPDX-License-Identifier: Apache-2.0 */
/** @file cmd_datasheet.c nnvts datasheet: what a driver takes, measured. */
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/words.h"
#include "harness/cli/cli.h"
#include "harness/datasheet/datasheet.h"

static const struct nnv_verb_help help = {
    .usage = "nnvts datasheet --driver NAME|PATH[:OPTIONS] [options]",
    .summary = "Measures what a driver takes, with nothing asked of its maker: for each operation and its types the "
               "shortest conditions under which the driver says that it supports it, learnt from its own answers and "
               "verified on models that they were not learnt from; whether what it claims compiles and computes "
               "right; and, recognised from designed inputs, how it sums up, rounds and requantises. Leaves "
               "datasheet.json and datasheet.html. With --against an earlier datasheet is a contract. Exit code 0: "
               "measured; 1: the contract is broken: support was lost, a claim became wrong, or something is computed "
               "otherwise; or the profile is not met; 2: usage.",
    .examples = "nnvts datasheet -d ./npu.so                       nnvts-datasheet/datasheet.html\n"
                "nnvts datasheet -d ./npu.so -k '*CONV*'           some operations\n"
                "nnvts datasheet -d ./npu.so --against good.json   1 if support was lost, or it computes otherwise\n"
                "nnvts datasheet -d ./npu.so --profile mobilenet-int8   1 unless it suffices for these\n"
                "nnvts datasheet -d ./npu.so --cliffs              and the extents at which its behaviour changes\n"
                "nnvts datasheet -d ./npu.so --speed               and how fast each operation is\n"
                "nnvts datasheet -d ./npu.so --json                for scripts\n",
};

static void show_progress(void *context, const struct nnv_op *op, size_t done, size_t all) {
    (void)context;
    fprintf(stderr, "\r%3zu of %zu operations  %-40s", done, all, done == all ? "" : op->name);
    if (done == all) fputc('\r', stderr);
}

/** Of the profiles that were judged: met, or what is missed, all of it or a few. */
static void print_profiles(const struct nnv_datasheet *sheet, size_t most) {
    for (size_t i = 0; i < sheet->profiles; i++) {
        const struct nnv_sheet_profile *p = &sheet->profile[i];
        if (p->unknown) continue;
        if (p->misses == 0) printf("profile %s: met, all of %u pairs\n", p->is->name, p->pairs);
        if (p->misses == 0) continue;
        printf("profile %s: %zu of %u pairs are missed\n", p->is->name, p->misses, p->pairs);
        for (size_t k = 0; k < p->misses && k < most; k++) {
            struct nnv_text t = {0};
            nnv_sheet_tell_miss(sheet, &p->miss[k], &t);
            printf("    %s\n", t.data ? t.data : "");
            nnv_text_free(&t);
        }
    }
}

static void print_text(const struct nnv_cli *c, const struct nnv_datasheet *sheet) {
    size_t all = 0, some = 0, none = 0, wrong = 0, unfinished = 0;
    for (size_t i = 0; i < sheet->rows; i++) {
        const struct nnv_support *s = &sheet->row[i].support;
        unfinished += sheet->row[i].unfinished;
        if (sheet->row[i].unfinished) continue;
        all += s->yes > 0 && s->no == 0;
        some += s->yes > 0 && s->no > 0;
        none += s->yes == 0;
        wrong += s->claimed > s->right;
        if (c->quiet || s->yes == 0 || s->no == 0) continue;
        printf("%s %s\n", sheet->row[i].op->name, sheet->row[i].types);
        for (const char *at = s->must; *at; at += strcspn(at, "\n") + 1)
            printf("    %.*s\n", (int)strcspn(at, "\n"), at);
        if (s->unexplained) printf("    (%u of %u refusals follow no condition)\n", s->unexplained, s->no);
    }
    if (!c->quiet) print_profiles(sheet, 3);
    for (uint32_t i = 0; i < sheet->numeric.count && !c->quiet; i++) {
        const struct nnv_numeric_fact *f = &sheet->numeric.fact[i];
        printf("%s: %s: %s (%s)\n", f->about, f->what, f->is, f->evidence);
    }
    for (uint32_t i = 0; sheet->cliffs && i < sheet->cliffs->count && !c->quiet; i++) {
        struct nnv_text t = {0};
        nnv_cliff_tell(&sheet->cliffs->item[i], &t);
        printf("%s: %s\n", sheet->cliffs->item[i].about, t.data ? t.data : "");
        nnv_text_free(&t);
    }
    for (size_t i = 0; sheet->speeds && i < sheet->speeds->count && !c->quiet; i++) {
        struct nnv_text t = {0};
        nnv_sheet_tell_speed(&sheet->speeds->item[i], &t);
        puts(t.data ? t.data : "");
        nnv_text_free(&t);
    }
    if (sheet->numeric.count > 0) printf("--arithmetic %s\n", sheet->arithmetic);
    printf("%s %s: %zu pairs of an operation and its types: %zu supported always, %zu under conditions, %zu never; "
           "what is claimed is wrong for %zu\n",
           nnv_shown(sheet->driver.name).s, nnv_shown(sheet->driver.version).s, sheet->rows, all, some, none, wrong);
    const bool axes = sheet->cliffs && sheet->cliffs->unfinished, times = sheet->speeds && sheet->speeds->unfinished;
    if (unfinished > 0 || axes || times)
        printf("--time-budget: %zu pairs were not asked%s%s\n", unfinished, axes ? ", nor all axes" : "",
               times ? ", nor all operations timed" : "");
    printf("%s/datasheet.html   %.1f s\n", c->out, sheet->seconds);
}

static enum nnv_status write_files(const struct nnv_cli *c, const struct nnv_datasheet *sheet, struct nnv_err *err) {
    struct nnv_text json = {0}, html = {0};
    enum nnv_status st = nnv_cli_make_out(c, err);
    nnv_datasheet_json(sheet, &json);
    nnv_datasheet_html(sheet, &html);
    if (st == NNV_OK) st = nnv_file_write_text(c->out, "datasheet.json", &json, err);
    if (st == NNV_OK) st = nnv_file_write_text(c->out, "datasheet.html", &html, err);
    nnv_text_free(&html);
    if (st == NNV_OK && c->json) return nnv_cli_print(&json, err);
    nnv_text_free(&json);
    return st;
}

static const uint64_t BUDGET_NS = 570000000000; /* ten minutes, with what is under way then */

struct command {
    struct nnv_cli c;
    const char *against, *peak, *profile;
    bool cliffs, speed;
    struct nnv_roof roof;
};

static void print_changes(const struct nnv_datasheet *sheet) {
    for (size_t i = 0; i < sheet->changes; i++)
        printf("%s %s: %s\n", sheet->change[i].breaks ? "BROKEN" : "new   ", sheet->change[i].about,
               sheet->change[i].text);
    if (sheet->changes == 0) printf("as in %s\n", sheet->against);
}

static enum nnv_status find_profile(const struct command *x, const struct nnv_profile **out, struct nnv_err *err) {
    *out = x->profile ? nnv_profile_by_name(x->profile) : NULL;
    if (x->profile && x->c.filter) return nnv_fail(err, NNV_INVALID, "--profile: needs all its operations: without -k");
    if (!x->profile || *out) return NNV_OK;
    struct nnv_text names = {0};
    size_t count;
    const struct nnv_profile *p = nnv_profiles(&count);
    for (size_t i = 0; i < count; i++) nnv_text_addf(&names, "%s%s", i ? ", " : "", p[i].name);
    nnv_fail(err, NNV_INVALID, "--profile: '%s' is none of %s", x->profile, names.data ? names.data : "");
    nnv_text_free(&names);
    return NNV_INVALID;
}

/** Says whether the profile is met: a gate. */
static void end_by_profile(struct nnv_cli *c, const struct nnv_datasheet *sheet, const struct nnv_profile *profile) {
    for (size_t i = 0; i < sheet->profiles; i++) {
        const struct nnv_sheet_profile *p = &sheet->profile[i];
        if (p->is != profile) continue;
        if (p->unknown || p->misses > 0) c->code = NNVTS_EXIT_FAIL;
        if (c->json) continue;
        if (p->unknown) printf("profile %s: not measured: the time was over\n", profile->name);
        if (p->misses == 0 && !p->unknown) printf("%s is met\n", profile->name);
        if (p->misses > 0 && !p->unknown)
            printf("%s is not met: %zu of %u pairs\n", profile->name, p->misses, p->pairs);
    }
}

static enum nnv_status datasheet(void *own, struct nnv_err *err) {
    struct command *x = own;
    struct nnv_cli *c = &x->c;
    struct nnv_run_config config;
    struct nnv_datasheet sheet;
    enum nnv_status st = nnv_cli_need_driver(c, err);
    if (st == NNV_OK && x->peak) {
        st = nnv_roof_state(x->peak, &x->roof, err);
        if (st != NNV_OK) return nnv_at(err, st, "--peak");
    }
    const struct nnv_profile *profile = NULL;
    if (st == NNV_OK) st = find_profile(x, &profile, err);
    if (st == NNV_OK) st = nnv_cli_config(c, c->arena, &config, err);
    const struct nnv_datasheet_options o = {.config = &config,
                                            .operations = c->filter,
                                            .profile = profile,
                                            .cliffs = x->cliffs,
                                            .roof = x->speed || x->peak ? &x->roof : NULL,
                                            .time_ns = c->budget_ns,
                                            .arena = c->arena,
                                            .done = isatty(STDERR_FILENO) && !c->quiet ? show_progress : NULL};
    if (st == NNV_OK) st = nnv_file_try(c->out, true, err);
    if (st == NNV_OK) st = nnv_datasheet_make(&o, &sheet, err);
    if (st == NNV_OK && x->against) st = nnv_datasheet_compare(&sheet, x->against, c->arena, err);
    if (st == NNV_OK) st = write_files(c, &sheet, err);
    if (st == NNV_OK && !c->json) print_text(c, &sheet);
    if (st == NNV_OK && !c->json && x->against) print_changes(&sheet);
    if (st == NNV_OK && profile) end_by_profile(c, &sheet, profile);
    for (size_t i = 0; st == NNV_OK && i < sheet.changes; i++)
        if (sheet.change[i].breaks) c->code = NNVTS_EXIT_FAIL;
    return st;
}

static int run(int argc, char **argv) {
    struct command x = {.c = nnv_cli_defaults()};
    x.c.out = "nnvts-datasheet";
    x.c.budget_ns = BUDGET_NS;
    const struct nnv_opt table[] = {
        NNV_OPTION_DRIVER(x.c),
        {'k', "filter", NNV_OPT_STRING, &x.c.filter, "GLOB", "only operations of these names", NULL},
        {'o', "out", NNV_OPT_OUT_DIR, &x.c.out, "DIR", "where datasheet.json and datasheet.html go", NULL},
        {0, "against", NNV_OPT_STRING, &x.against, "FILE",
         "an earlier datasheet.json: what it says is supported and right must be so", NULL},
        {0, "profile", NNV_OPT_STRING, &x.profile, "NAME",
         "ask about operations of this profile alone, and exit with 1 unless it is met", NULL},
        {0, "cliffs", NNV_OPT_FLAG, &x.cliffs, NULL, "also find extents where support, values or time change", NULL},
        {0, "speed", NNV_OPT_FLAG, &x.speed, NULL, "also time each operation, under the machine's roof", NULL},
        {0, "peak", NNV_OPT_STRING, &x.peak, "GFLOPS,GBPS", "--speed under this roof, of the device", NULL},
        {0, "time-budget", NNV_OPT_SECONDS, &x.c.budget_ns, "S",
         "begin nothing new after S seconds, in good time for all parts; default: 570, 0: no limit", NULL},
        NNV_OPTION_ARITHMETIC(x.c),
        NNV_OPTION_SEED(x.c),
        NNV_OPTION_JOBS(x.c),
        NNV_OPTION_TIMEOUT(x.c),
        NNV_OPTION_JSON(x.c),
        NNV_OPTION_QUIET(x.c),
        NNV_OPTION_END,
    };
    return nnv_cli_run(&x.c, table, &help, 0, argc, argv, datasheet, &x);
}

const struct nnv_verb nnv_verb_datasheet = {"datasheet", "judge a driver", "what a driver takes, measured", run};
