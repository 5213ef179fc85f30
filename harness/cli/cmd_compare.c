/* SPDX-License-Identifier: Apache-2.0 */
/** @file cmd_compare.c nnvts compare: what changed between two runs, or two benches. */
#include "harness/cli/cli.h"
#include "reports/compare/compare.h"

static const struct nnv_verb_help help = {
    .usage = "nnvts compare A B [--html FILE] [--json]",
    .summary =
        "What changed from run A to run B: new failures, fixed ones, other verdicts and reasons, cases no longer "
        "answered, time in the driver, errors nearer to their bounds. Two benches may be compared as well. Exit "
        "code 1 if B is worse: something fails, or was not run, that did not in A.",
    .examples = "nnvts compare results/41 results/42                    the last two builds\n"
                "nnvts compare results/41 results/42 --html diff.html   as a page\n"
                "nnvts compare nnvts-bench-1.4 nnvts-bench              two benches\n",
};

static int run(int argc, char **argv) {
    struct nnv_cli c;
    const char *html = NULL;
    nnv_cli_defaults(&c);
    const struct nnv_opt table[] = {
        {0, "html", NNV_OPT_STRING, &html, "FILE", "write a page, too", NULL},
        NNV_OPTION_JSON(c),
        NNV_OPTION_END,
    };
    int code = nnv_cli_parse(&c, table, &help, 2, argc, argv);
    if (code >= 0) return code;
    struct nnv_err err = {0};
    json_t *j = NULL;
    enum nnv_status s = c.positional.count == 2
                            ? nnv_compare(c.positional.item[0], c.positional.item[1], &j, &err)
                            : nnv_fail(&err, NNV_INVALID, "which runs? give two folders: nnvts compare A B");
    if (s == NNV_OK && html != NULL) s = nnv_compare_html(j, html, &err);
    if (s == NNV_OK && c.json) {
        json_dumpf(j, stdout, JSON_INDENT(1));
        puts("");
    } else if (s == NNV_OK) {
        nnv_compare_print(j, stdout);
    }
    code = s != NNV_OK ? nnv_cli_error(&err) : nnv_compare_worse(j) ? NNVTS_EXIT_FAIL : NNVTS_EXIT_PASS;
    json_decref(j);
    return code;
}

const struct nnv_verb nnv_verb_compare = {"compare", "many runs", "what changed between two runs", run};
