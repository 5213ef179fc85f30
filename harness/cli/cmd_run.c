/* SPDX-License-Identifier: Apache-2.0 */
/** @file cmd_run.c nnvts run: judges a driver. */
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "harness/cli/cli.h"
#include "reports/report.h"

static const struct nnv_verb_help help = {
    .usage = "nnvts run --driver NAME|PATH [options]",
    .summary = "Runs the suites against a driver. Leaves journal.jsonl, summary.json, junit.xml, report.html and a "
               "dumped spec for every failure in the folder of the run. Exit code 0: all passed or honestly "
               "unsupported; 1: something failed; 2: usage; 3: nnvts itself failed.",
    .examples = "nnvts run --driver cpu                        everything, on the cpu driver\n"
                "nnvts run -d ./npu.so -k 'op:CONV_2D & type:quant8*'  convolutions in 8 bits, on your driver\n"
                "nnvts run -d cpu -s spec --specs vectors/     your own vectors\n"
                "nnvts run -d ./npu.so --time-budget 30        the most telling cases first, for half a minute\n"
                "nnvts run -d cpu --resume                     go on with an interrupted run\n",
};

/** What the observer needs. */
struct view {
    const struct nnv_cli *cli;
    struct nnv_console *console;
    struct nnv_err err;
};

static void on_header(void *context, const char *record) {
    struct view *v = context;
    if (v->cli->json) {
        puts(record);
    } else {
        bool tty = isatty(STDOUT_FILENO) == 1;
        const char *no_color = getenv("NO_COLOR");
        struct nnv_console_style style = {
            .live = tty && !v->cli->quiet,
            .colour = tty && (no_color == NULL || *no_color == '\0'),
            .quiet = v->cli->quiet,
            .verbose = v->cli->verbose,
        };
        v->console = nnv_console_new(stdout, style, record, v->cli->out);
    }
    /* Before the first case: a run that is killed leaves a file in which nothing has passed. */
    struct nnv_report *report = NULL;
    if (nnv_report_load(v->cli->out, &report, &v->err) == NNV_OK && nnv_report_junit(report, &v->err) == NNV_OK)
        v->err.status = NNV_OK;
    nnv_report_free(report);
}

static void on_record(void *context, const char *record) {
    struct view *v = context;
    if (v->cli->json) puts(record);
    if (v->console != NULL) nnv_console_case(v->console, record);
}

static void on_tick(void *context) {
    struct view *v = context;
    if (v->console != NULL) nnv_console_tick(v->console);
    if (v->cli->json) fflush(stdout);
}

/** Makes all reports of the folder and prints the closing lines. */
static enum nnv_status reports(struct view *v, bool interrupted, double seconds, int *code, struct nnv_err *err) {
    struct nnv_report *report = NULL;
    enum nnv_status s = interrupted ? NNV_OK : nnv_cli_explain_run(v->cli->out, err);
    if (s == NNV_OK) s = nnv_report_load(v->cli->out, &report, err);
    if (s == NNV_OK) s = nnv_report_summary(report, interrupted, err);
    if (s == NNV_OK) s = nnv_report_junit(report, err);
    if (s == NNV_OK) s = nnv_report_html(report, err);
    if (s == NNV_OK && v->console != NULL) nnv_console_end(v->console, report, seconds);
    if (s == NNV_OK) *code = (int)nnv_report_exit(report);
    nnv_report_free(report);
    return s;
}

static int run(int argc, char **argv) {
    struct nnv_cli c;
    nnv_cli_defaults(&c);
    const struct nnv_opt table[] = {
        NNV_OPTION_DRIVER(c),
        NNV_OPTION_VIA(c),
        NNV_OPTION_SUITE(c),
        NNV_OPTION_FILTER(c),
        NNV_OPTION_SPECS(c),
        NNV_OPTION_TIER(c),
        NNV_OPTION_COUNT(c),
        NNV_OPTION_PRECISION(c),
        NNV_OPTION_SEED(c),
        NNV_OPTION_JOBS(c),
        NNV_OPTION_TIMEOUT(c),
        NNV_OPTION_BUDGET(c),
        NNV_OPTION_OUT(c),
        {0, "resume", NNV_OPT_FLAG, &c.resume, NULL,
         "go on with the run in the folder: what has a verdict is not run again", NULL},
        NNV_OPTION_JSON(c),
        NNV_OPTION_QUIET(c),
        NNV_OPTION_VERBOSE(c),
        NNV_OPTION_END,
    };
    int code = nnv_cli_parse(&c, table, &help, 0, argc, argv);
    if (code >= 0) return code;

    uint64_t start = nnv_now_ns();
    struct nnv_err err = {0};
    enum nnv_status s = NNV_OK;
    struct nnv_arena *arena = nnv_arena_new();
    struct nnv_case_list list = {.arena = arena};
    struct nnv_run_config config;
    struct view view = {.cli = &c};
    struct nnv_run_observer observer = {&view, on_header, on_record, on_tick};
    bool interrupted = false;
    if (arena == NULL) s = nnv_fail(&err, NNV_NO_MEMORY, "out of memory");
    if (s == NNV_OK && c.driver == NULL)
        s = nnv_fail(&err, NNV_INVALID, "which driver? give --driver NAME (see them with nnvts drivers)");
    if (s == NNV_OK) s = nnv_cli_config(&c, arena, &config, &err);
    if (s == NNV_OK) s = nnv_cli_cases(&c, &config, &list, &err);
    if (s == NNV_OK) {
        struct nnv_run_options options = {
            .config = &config,
            .cases = list.item,
            .count = list.count,
            .resume = c.resume,
            .argc = argc,
            .argv = argv,
            .observer = &observer,
            .also = nnv_cli_dump_also,
        };
        s = nnv_run(&options, &interrupted, &err);
        if (s == NNV_OK && view.err.status != NNV_OK) {
            s = view.err.status;
            err = view.err;
        }
        struct nnv_err report_err = {0};
        int verdict = NNVTS_EXIT_ERROR;
        /* Also after a failure: whatever has been judged is reported. */
        if (view.console != NULL || c.json) {
            double seconds = (double)(nnv_now_ns() - start) / 1e9;
            enum nnv_status r = reports(&view, interrupted || s != NNV_OK, seconds, &verdict, &report_err);
            if (s == NNV_OK && r != NNV_OK) {
                s = r;
                err = report_err;
            }
        }
        code = verdict;
    }
    nnv_console_free(view.console);
    free(list.item);
    nnv_arena_free(arena);
    if (s != NNV_OK) return nnv_cli_error(&err);
    if (interrupted) {
        fprintf(stderr, "nnvts: interrupted; go on with the same command and --resume\n");
        return 130;
    }
    return code;
}

const struct nnv_verb nnv_verb_run = {"run", "judge a driver", "run the suites against a driver", run};
