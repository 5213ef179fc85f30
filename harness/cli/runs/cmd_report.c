/* SPDX-License-Identifier: Apache-2.0 */
/** @file cmd_report.c nnvts report: makes the reports of a run again. */

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/folder.h"
#include "base/words.h"
#include "harness/cli/cli.h"
#include "harness/runner/audit/clauses.h"
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

static void tell(const char *folder) {
    const struct nnv_shown_text shown = nnv_shown(folder);
    printf("report: %s/report.html   junit: %s/junit.xml\n", shown.s, shown.s);
}

static enum nnv_status report_bench(struct nnv_cli *c, const char *folder, struct nnv_err *err) {
    struct nnv_bench_sheet *sheet = NULL;
    enum nnv_status s = nnv_bench_load(folder, &sheet, err);
    if (s == NNV_OK) s = nnv_bench_html(sheet, err);
    if (s == NNV_OK) s = nnv_bench_junit(sheet, err);
    if (s == NNV_OK) c->code = (int)nnv_bench_exit(sheet);
    if (s == NNV_OK) tell(folder);
    nnv_bench_free(sheet);
    return s;
}

/** Writes a form to the file. */
static enum nnv_status report_form(const char *folder, enum nnv_report_form form, const char *path,
                                   struct nnv_err *err) {
    struct nnv_stream file = NNV_STREAM_NONE;
    enum nnv_status s = nnv_stream_open(&file, path, err);
    const int fd = s == NNV_OK ? fcntl(file.fd, F_DUPFD_CLOEXEC, 0) : -1;
    FILE *to = fd >= 0 ? fdopen(fd, "w") : NULL;
    if (to != NULL) s = nnv_form_write(form, folder, to, err);
    if (s == NNV_OK && (to == NULL || fflush(to) != 0)) s = nnv_path_refused(err, NNV_IO, path, "cannot write", errno);
    if (to != NULL)
        fclose(to);
    else if (fd >= 0)
        close(fd);
    if (s == NNV_OK) s = nnv_stream_end(&file, err);
    nnv_stream_drop(&file);
    return s;
}

struct command {
    struct nnv_cli c;
    const char *to; /* of the form; NULL: stdout */
    int form;
    struct nnv_opt_list expect;
    struct nnv_expectations expectations;
};

static enum nnv_status report(void *own, struct nnv_err *err) {
    struct command *x = own;
    const char *folder = x->c.positional.count == 1 ? x->c.positional.item[0] : x->c.out;
    struct nnv_report *r = NULL;
    enum nnv_status s = NNV_OK;
    if (x->to != NULL && x->form < 0) return nnv_fail(err, NNV_INVALID, "--out is of --format");
    if (x->form >= 0) return report_form(folder, (enum nnv_report_form)x->form, x->to ? x->to : NNV_FILE_STDOUT, err);
    struct stat at;
    if (stat(folder, &at) == 0 && S_ISDIR(at.st_mode)) s = nnv_folder_make(folder, err); /* opened before it is read */
    if (s != NNV_OK) return s;
    if (nnv_bench_is(folder)) return report_bench(&x->c, folder, err);
    if (x->expect.count > 0) s = nnv_cli_judge_anew(folder, &x->expect, &x->expectations, err);
    if (s == NNV_OK) s = nnv_report_load(folder, &r, err);
    if (s == NNV_OK) s = nnv_clauses_write(r, err);
    if (s == NNV_OK) s = nnv_report_write(r, nnv_report_count(r, NNVTS_NOTRUN) > 0, err);
    if (s == NNV_OK) {
        x->c.code = (int)nnv_report_exit(r);
        tell(folder);
    }
    nnv_report_free(r);
    nnv_expect_free(&x->expectations);
    return s;
}

static int run(int argc, char **argv) {
    struct command x = {.c = nnv_cli_defaults(), .form = -1};
    const struct nnv_opt table[] = {
        NNV_OPTION_EXPECT(x.expect),
        NNV_OPTION_STRICT(x.expectations),
        {0, "format", NNV_OPT_CHOICE, &x.form, "F", "another form, for other programs", nnv_form_names},
        {'o', "out", NNV_OPT_OUT, &x.to, "FILE", "where that form goes; default: stdout", NULL},
        NNV_OPTION_END,
    };
    return nnv_cli_run(&x.c, table, &help, 1, argc, argv, report, &x);
}

const struct nnv_verb nnv_verb_report = {"report", "many runs", "make the reports of a run again", run};
