/* SPDX-License-Identifier: Apache-2.0 */
/** @file cmd_merge.c nnvts merge: the shards of a run as one run, with its reports. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "harness/cli/cli.h"
#include "harness/runner/audit/clauses.h"
#include "harness/debug/explain_run.h"
#include "harness/journal/shards/merge.h"
#include "reports/report.h"

static const struct nnv_verb_help help = {
    .usage = "nnvts merge SHARD... --out DIR",
    .summary = "Makes one run of the folders of its shards (nnvts run --shard I/N), with all reports. It fails where a "
               "shard is missing, there twice, has not ended, or is of another driver, build, seed or selection. The "
               "exit code is that of the whole run.",
    .examples = "nnvts merge shard-1 shard-2 shard-3 shard-4 --out whole\n"
                "nnvts merge results/* --out whole --partial   what there is so far\n",
};

/** The lines that a run ends with, behind the opening one. */
static enum nnv_status tell(const struct nnv_cli *c, const struct nnv_report *report, struct nnv_err *err) {
    const char *no_color = getenv("NO_COLOR");
    bool colour = isatty(STDOUT_FILENO) == 1 && (no_color == NULL || *no_color == '\0');
    char *header = json_dumps(report->header, JSON_COMPACT);
    struct nnv_console *console =
        header == NULL
            ? NULL
            : nnv_console_new(stdout, (struct nnv_console_style){.colour = colour, .quiet = c->quiet}, header, c->out);
    free(header);
    if (console == NULL) return nnv_no_memory(err);
    nnv_console_end(console, report, report->seconds, 0);
    nnv_console_free(console);
    return NNV_OK;
}

static enum nnv_status make_reports(struct nnv_cli *c, const struct nnv_merged *merged, struct nnv_err *err) {
    struct nnv_report *report = merged->report;
    enum nnv_status s = merged->dumps > 0 ? nnv_explain_run(c->out, NULL, err) : NNV_OK;
    if (s == NNV_OK) s = nnv_report_settle(report, err);
    if (s == NNV_OK) s = nnv_clauses_write(report, err);
    if (s == NNV_OK) s = nnv_report_write(report, merged->records < merged->cases, err);
    if (s == NNV_OK) s = tell(c, report, err);
    if (s == NNV_OK) c->code = (int)nnv_report_exit(report);
    return s;
}

static enum nnv_status merge(void *own, struct nnv_err *err) {
    struct nnv_cli *c = own;
    struct nnv_merged merged;
    const struct nnv_merge_options options = {
        .folders = c->positional.item,
        .count = (size_t)c->positional.count,
        .out = c->out,
        .partial = c->partial,
        .argc = c->argc,
        .argv = c->argv,
    };
    enum nnv_status s = nnv_merge(&options, &merged, err);
    if (s != NNV_OK) return s;
    if (merged.missing > 0) fprintf(stderr, "nnvts: %zu of %zu shards are missing\n", merged.missing, merged.shards);
    s = make_reports(c, &merged, err);
    nnv_report_free(merged.report);
    return s;
}

static int run(int argc, char **argv) {
    struct nnv_cli c = nnv_cli_defaults();
    const struct nnv_opt table[] = {
        NNV_OPTION_OUT(c),
        {0, "partial", NNV_OPT_FLAG, &c.partial, NULL, "shards may be missing: their cases are not run", NULL},
        NNV_OPTION_QUIET(c),
        NNV_OPTION_END,
    };
    return nnv_cli_run(&c, table, &help, NNV_OPT_LIST_MAX, argc, argv, merge, &c);
}

const struct nnv_verb nnv_verb_merge = {"merge", "many runs", "make one run of its shards", run};
