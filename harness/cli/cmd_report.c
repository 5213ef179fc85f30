/* SPDX-License-Identifier: Apache-2.0 */
/** @file cmd_report.c nnvts report: makes the reports of a run again. */

#include <errno.h>
#include <string.h>

#include "harness/cli/cli.h"
#include "harness/cli/expectations.h"
#include "reports/bench.h"
#include "reports/forms/forms.h"
#include "reports/report.h"
#include "harness/journal/load.h"

static const struct nnv_verb_help help = {
    .usage = "nnvts report [RUN] [--expect FILE]... [--format tap|csv|github|trace] [-o FILE]",
    .summary = "Makes summary.json, junit.xml and report.html again from the journal in the folder RUN (default "
               "nnvts-out), or those of a bench from its bench.json. The exit code is that of the run. With --expect "
               "the run is judged by these expectations from now on, whatever it was run with. With --format it "
               "writes that form instead, to FILE or stdout; then the exit code is 0.",
    .examples = "nnvts report              of the last run\n"
                "nnvts report results/42   of another\n"
                "nnvts report nnvts-bench  of a bench\n"
                "nnvts report --expect known.json --strict   by what is known now\n"
                "nnvts report --format csv -o cases.csv  a line for each case\n",
};

static void tell(const char *folder) { printf("report: %s/report.html   junit: %s/junit.xml\n", folder, folder); }

static int report_bench(const char *folder) {
    struct nnv_err err = {0};
    struct nnv_bench_sheet *sheet = NULL;
    enum nnv_status s = nnv_bench_load(folder, &sheet, &err);
    if (s == NNV_OK) s = nnv_bench_html(sheet, &err);
    if (s == NNV_OK) s = nnv_bench_junit(sheet, &err);
    int code = s == NNV_OK ? (int)nnv_bench_exit(sheet) : nnv_cli_error(&err);
    if (s == NNV_OK) tell(folder);
    nnv_bench_free(sheet);
    return code;
}

/** Writes a form to the file, or to stdout. A file that could not be written whole is removed. */
static int report_form(const char *folder, enum nnv_report_form form, const char *path) {
    struct nnv_err err = {0};
    FILE *to = path ? fopen(path, "we") : stdout;
    if (to == NULL) return nnv_fail(&err, NNV_INVALID, "%s: %s", path, strerror(errno)), nnv_cli_error(&err);
    enum nnv_status s = nnv_form_write(form, folder, to, &err);
    if (path && fclose(to) != 0 && s == NNV_OK) s = nnv_fail(&err, NNV_IO, "%s: %s", path, strerror(errno));
    if (s == NNV_OK) return NNVTS_EXIT_PASS;
    if (path) remove(path);
    return nnv_cli_error(&err);
}

static int run(int argc, char **argv) {
    struct nnv_cli c;
    const char *to = NULL;
    int form = -1;
    nnv_cli_defaults(&c);
    struct nnv_opt_list expect = {0};
    struct nnv_expectations expectations = {0};
    const struct nnv_opt table[] = {
        NNV_OPTION_EXPECT(expect),
        NNV_OPTION_STRICT(expectations),
        {0, "format", NNV_OPT_CHOICE, &form, "F", "another form, for other programs", nnv_form_names},
        {'o', "out", NNV_OPT_STRING, &to, "FILE", "where that form goes; default: stdout", NULL},
        NNV_OPTION_END,
    };
    int code = nnv_cli_parse(&c, table, &help, 1, argc, argv);
    if (code >= 0) return code;

    const char *folder = c.positional.count == 1 ? c.positional.item[0] : c.out;
    struct nnv_err err = {0};
    if (to != NULL && form < 0 && nnv_fail(&err, NNV_INVALID, "--out is of --format") != NNV_OK)
        return nnv_cli_error(&err);
    if (form >= 0) return report_form(folder, (enum nnv_report_form)form, to);
    if (nnv_bench_is(folder)) return report_bench(folder);
    struct nnv_report *report = NULL;
    enum nnv_status s = NNV_OK;
    if (expect.count > 0) s = nnv_cli_judge_anew(folder, &expect, &expectations, &err);
    if (s == NNV_OK) s = nnv_report_load(folder, &report, &err);
    if (s == NNV_OK) s = nnv_report_write(report, nnv_report_count(report, NNVTS_NOTRUN) > 0, &err);
    if (s == NNV_OK) {
        code = (int)nnv_report_exit(report);
        tell(folder);
    }
    nnv_report_free(report);
    nnv_expect_free(&expectations);
    return s == NNV_OK ? code : nnv_cli_error(&err);
}

const struct nnv_verb nnv_verb_report = {"report", "many runs", "make the reports of a run again", run};
