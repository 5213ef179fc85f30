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

static enum nnv_status compare(void *own, struct nnv_err *err) {
    struct nnv_cli *c = own;
    const char *const *runs = c->positional.item;
    json_t *j = NULL;
    enum nnv_status s = c->positional.count == 2
                            ? nnv_compare(runs[0], runs[1], &j, err)
                            : nnv_fail(err, NNV_INVALID, "which runs? give two folders: nnvts compare A B");
    if (s == NNV_OK && c->html != NULL) s = nnv_compare_html(j, c->html, err);
    if (s == NNV_OK && c->json) nnv_cli_print_json(j);
    if (s == NNV_OK && !c->json) {
        struct nnv_text words = {0};
        nnv_compare_print(j, &words);
        s = nnv_cli_print(&words, err);
    }
    if (s == NNV_OK && nnv_compare_worse(j)) c->code = NNVTS_EXIT_FAIL;
    json_decref(j);
    return s;
}

static int run(int argc, char **argv) {
    struct nnv_cli c = nnv_cli_defaults();
    const struct nnv_opt table[] = {
        NNV_OPTION_HTML(c, "write a page, too"),
        NNV_OPTION_JSON(c),
        NNV_OPTION_END,
    };
    return nnv_cli_run(&c, table, &help, 2, argc, argv, compare, &c);
}

const struct nnv_verb nnv_verb_compare = {"compare", "many runs", "what changed between two runs", run};
