/* SPDX-License-Identifier: Apache-2.0 */
/** @file cmd_trend.c nnvts trend: many runs in the order of time. */
#include "harness/cli/cli.h"
#include "reports/compare/trend.h"

static const struct nnv_verb_help help = {
    .usage = "nnvts trend RUN... [--html FILE] [--json]",
    .summary =
        "Many runs in the order in which they started: verdicts, failures by operation, time, and how near errors "
        "come to their bounds, which shows a driver that gets worse before it fails.",
    .examples = "nnvts trend results/*                     a line for each run\n"
                "nnvts trend results/* --html trend.html   with plots\n",
};

static int run(int argc, char **argv) {
    struct nnv_cli c;
    const char *html = NULL;
    nnv_cli_defaults(&c);
    const struct nnv_opt table[] = {
        {0, "html", NNV_OPT_STRING, &html, "FILE", "write a page with plots, too", NULL},
        NNV_OPTION_JSON(c),
        NNV_OPTION_END,
    };
    int code = nnv_cli_parse(&c, table, &help, NNV_OPT_LIST_MAX, argc, argv);
    if (code >= 0) return code;
    struct nnv_err err = {0};
    json_t *trend = NULL;
    enum nnv_status s = nnv_trend(c.positional.item, (size_t)c.positional.count, &trend, &err);
    if (s == NNV_OK && html != NULL) s = nnv_trend_html(trend, html, &err);
    if (s == NNV_OK && c.json) {
        json_dumpf(trend, stdout, JSON_INDENT(1));
        puts("");
    } else if (s == NNV_OK) {
        nnv_trend_print(trend, stdout);
    }
    json_decref(trend);
    return s == NNV_OK ? NNVTS_EXIT_PASS : nnv_cli_error(&err);
}

const struct nnv_verb nnv_verb_trend = {"trend", "many runs", "many runs in the order of time", run};
