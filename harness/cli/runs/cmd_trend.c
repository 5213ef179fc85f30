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

static enum nnv_status trend(void *own, struct nnv_err *err) {
    struct nnv_cli *c = own;
    json_t *j = NULL;
    enum nnv_status s = nnv_trend(c->positional.item, (size_t)c->positional.count, &j, err);
    if (s == NNV_OK && c->html != NULL) s = nnv_trend_html(j, c->html, err);
    if (s == NNV_OK) c->json ? nnv_cli_print_json(j) : nnv_trend_print(j, stdout);
    json_decref(j);
    return s;
}

static int run(int argc, char **argv) {
    struct nnv_cli c = nnv_cli_defaults();
    const struct nnv_opt table[] = {
        NNV_OPTION_HTML(c, "write a page with plots, too"),
        NNV_OPTION_JSON(c),
        NNV_OPTION_END,
    };
    return nnv_cli_run(&c, table, &help, NNV_OPT_LIST_MAX, argc, argv, trend, &c);
}

const struct nnv_verb nnv_verb_trend = {"trend", "many runs", "many runs in the order of time", run};
