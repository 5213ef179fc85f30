/* SPDX-License-Identifier: Apache-2.0 */
/** @file cmd_run.c nnvts run: judges a driver. */
#include <inttypes.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "harness/cli/cli.h"
#include "harness/cli/harvest.h"
#include "harness/cli/matrix.h"
#include "harness/debug/explain_run.h"
#include "harness/debug/spec_c/spec_c.h"
#include "harness/runner/audit/clauses.h"
#include "harness/runner/coverage/coverage.h"
#include "harness/runner/flakes_run.h"
#include "harness/runner/dumps/keep.h"
#include "harness/runner/worker/limits.h"
#include "harness/runner/pool/kernel_log.h"
#include "harness/runner/pressure.h"
#include "reports/compare/compare.h"
#include "reports/forms/forms.h"
#include "reports/report.h"
#include "harness/journal/load.h"

static const struct nnv_verb_help help = {
    .usage = "nnvts run --driver NAME|PATH [options]",
    .summary = "Runs the suites against a driver. Leaves journal.jsonl, summary.json, junit.xml, report.html and a "
               "dumped spec for every failure in the folder of the run. Exit code 0: all passed or honestly "
               "unsupported, or failed as expected; 1: something failed; 2: usage; 3: nnvts itself failed.",
    .examples = "nnvts run --driver cpu                        everything, on the cpu driver\n"
                "nnvts run -d ./npu.so -k 'op:CONV_2D & type:quant8*'  convolutions in 8 bits, on your driver\n"
                "nnvts run -d cpu -s spec --specs vectors/     your own vectors\n"
                "nnvts run -d ./npu.so -s spec --models net.tflite  by the layers of your network\n"
                "nnvts run -d ./npu.so --time-budget 30        a sample of all cases, for half a minute\n"
                "nnvts run -d cpu --expect known.json --strict  but for known failures, all of which still fail\n"
                "nnvts run -d cpu --shard 2/4 -o shard-2       the second of four parts, see nnvts merge\n"
                "nnvts run -d ./npu.so --failed nnvts-out      what failed last, again\n"
                "nnvts run -d cpu --resume                     go on with an interrupted run\n"
                "nnvts run -d cpu --baseline results/41        and what changed since that run\n"
                "nnvts run -d ./npu.so --stress 60 --pressure cpu,memory  many models at once on a busy machine\n"
                "nnvts run -d ./npu.so --compile-only          a compiler where its device is not\n"
                "nnvts run -d ./npu.so --coverage              what is reached of its code, where it counts that\n"
                "nnvts run -d cpu -s randgraph --until-saturated 5  graphs until little is new in them\n"
                "nnvts run -k op:CONV_2D --matrix options.ini  a run for each set of options, side by side\n"
                "nnvts run -d cpu --format tap                 for another program to read\n",
};

/** For trying failures again where nobody says: a few. */
static const uint64_t FLAKES_NS = 2000000000;
enum { MAX_TIMEOUTS = 100 };
static const uint64_t SUSPEND_NS = 60000000000; /* that the device may be away */

/** What the observer needs. */
struct view {
    struct nnv_cli *cli;
    struct nnv_console *console;
    int format; /* enum nnv_report_form, or -1 */
    struct nnv_form_writer *form;
    const char *baseline; /* the run that this one is compared with; NULL: none */
    bool file_due;        /* the JUnit file of a run that does not come to its end */
    struct nnv_err err;
};

static void on_header(void *context, const char *record) {
    struct view *v = context;
    if (v->cli->json) {
        puts(record);
    } else if (v->format >= 0) {
        v->form = nnv_form_live((enum nnv_report_form)v->format, stdout, record);
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
    v->file_due = true;
}

/** When cases run already, so that they don't wait for it: a run that is killed leaves a file that says so. */
static void write_unfinished(struct view *v) {
    struct nnv_report *report = NULL;
    v->file_due = false;
    v->err.status = nnv_report_load(v->cli->out, &report, &v->err);
    if (v->err.status == NNV_OK) v->err.status = nnv_report_junit(report, &v->err);
    nnv_report_free(report);
}

static void on_record(void *context, const char *record) {
    struct view *v = context;
    if (v->cli->json) puts(record);
    if (v->form != NULL) nnv_form_line(v->form, record);
    if (v->console != NULL) nnv_console_case(v->console, record);
}

static void on_tick(void *context) {
    struct view *v = context;
    if (v->file_due) write_unfinished(v);
    if (v->console != NULL) nnv_console_tick(v->console);
}

/** Who reads the records sees each when there is no other to write. */
static void on_wait(void *context) {
    const struct view *v = context;
    if (v->cli->json || v->form != NULL) fflush(stdout);
}

/** Makes all reports of the folder and prints the closing lines. explain: something may have failed. */
static enum nnv_status reports(struct view *v, const struct nnv_run_cases *cases, bool interrupted, bool explain,
                               double seconds, struct nnv_err *err) {
    struct nnv_report *report = NULL;
    struct nnv_text since = {0};
    const uint64_t start = nnv_now_ns();
    enum nnv_status s = interrupted ? NNV_OK
                        : explain   ? nnv_explain_run(v->cli->out, cases, err)
                                    : nnv_explain_nothing(v->cli->out, err);
    const double explaining = (double)(nnv_now_ns() - start) / 1e9;
    if (s == NNV_OK && v->baseline != NULL) s = nnv_baseline_write(v->baseline, v->cli->out, &since, err);
    if (s == NNV_OK) s = nnv_report_load(v->cli->out, &report, err);
    if (s == NNV_OK) s = nnv_clauses_write(report, err);
    if (s == NNV_OK && cases->config->coverage != NULL)
        s = nnv_coverage_write(cases->config->coverage, v->cli->out, err);
    if (s == NNV_OK) s = nnv_report_write(report, interrupted, err);
    if (s == NNV_OK && v->console != NULL) nnv_console_end(v->console, report, seconds, explaining);
    if (s == NNV_OK && v->console != NULL && since.len > 0) printf("since %s: %s\n", v->baseline, since.data);
    nnv_text_free(&since);
    if (s == NNV_OK) v->cli->code = (int)nnv_report_exit(report);
    nnv_report_free(report);
    if (v->form != NULL) {
        enum nnv_status ended = nnv_form_finish(v->form, v->cli->out, err);
        if (s == NNV_OK) s = ended;
    }
    return s;
}

/** How often cases are run, and to what end. */
static enum nnv_status set_repeats(struct nnv_run_config *config, uint64_t repeat, bool determinism,
                                   struct nnv_err *err) {
    if (repeat == 0 || repeat > NNV_REPEAT_MAX)
        return nnv_fail(err, NNV_INVALID, "--repeat %" PRIu64 ": expected 1 to %d", repeat, NNV_REPEAT_MAX);
    if (config->compile_only && determinism)
        return nnv_fail(err, NNV_INVALID, "--determinism compares answers: without --compile-only");
    if (repeat > 1 && determinism)
        return nnv_fail(err, NNV_INVALID,
                        "--repeat and --determinism don't go together: each runs a case several times");
    config->repeat = (uint32_t)repeat;
    config->determinism = determinism ? NNV_DETERMINISM_JUDGE : NNV_DETERMINISM_OFF;
    return NNV_OK;
}

/** Runs the cases, tries failures again, and reports whatever was judged, also after a failure. */
static enum nnv_status judge(struct view *view, const struct nnv_run_options *o, uint64_t flakes_ns, bool *interrupted,
                             struct nnv_err *err) {
    const uint64_t start = nnv_now_ns();
    enum nnv_status s = nnv_run(o, interrupted, err);
    if (s == NNV_OK && view->err.status != NNV_OK) {
        s = view->err.status;
        *err = view->err;
    }
    const bool any = *o->bad > 0 || o->resume;
    if (s == NNV_OK && !*interrupted && any && flakes_ns > 0 && o->config->determinism == NNV_DETERMINISM_OFF)
        s = nnv_flakes(&(struct nnv_flakes_options){o->config, o->cases, o->count, flakes_ns,
                                                    flakes_ns > FLAKES_NS ? NNV_FLAKES_MOST : NNV_FLAKES_FEW},
                       err);
    struct nnv_err report_err = {0};
    view->cli->code = NNVTS_EXIT_ERROR;
    if (view->console == NULL && view->form == NULL && !view->cli->json) return s;
    const double seconds = (double)(nnv_now_ns() - start) / 1e9;
    const struct nnv_run_cases cases = {o->config, o->cases, o->count};
    enum nnv_status r = reports(view, &cases, *interrupted || s != NNV_OK, any, seconds, &report_err);
    if (s != NNV_OK || r == NNV_OK) return s;
    *err = report_err;
    return r;
}

struct command {
    struct nnv_cli c;
    struct view view;
    struct nnv_opt_list expect, models;
    const char *usual_specs; /* of the environment */
    struct nnv_expectations expectations;
    bool determinism, compile_only, coverage;
    struct nnv_coverage reached;
    uint64_t repeat, flakes_ns, stress_ns, max_failures, max_timeouts, min_judged, disk_mb, silence_ns;
    uint64_t keep_passes;
    const char *reset_hook, *suspend_hook, *kernel_log;
    const char *pressure;
    const char *matrix; /* a file of columns */
    int leaks;          /* enum nnv_leak_watch */
};

static const char *const leak_watches[] = {"some", "all", "off", NULL};

/** What the driver may take of time, memory and disk. */
static enum nnv_status set_limits(const struct command *x, struct nnv_run_config *config, struct nnv_err *err) {
    enum { MOST_MB = 1 << 30 };
    uint64_t written;
    config->max_failures = x->max_failures;
    config->max_timeouts = x->max_timeouts;
    config->silence_ns = x->silence_ns;
    config->disk = x->disk_mb << 20;
    if (x->disk_mb > MOST_MB)
        return nnv_fail(err, NNV_INVALID, "--disk %" PRIu64 ": expected at most %d", x->disk_mb, MOST_MB);
    if (x->disk_mb > 0 && !nnv_written(0, &written))
        return nnv_fail(err, NNV_UNSUPPORTED, "--disk: this system does not tell what a process writes");
    return NNV_OK;
}

/** The operations of --models become the run's specs: files in its folder. */
static enum nnv_status take_models(struct command *x, struct nnv_err *err) {
    struct nnv_cli *c = &x->c;
    struct nnv_cli_harvest h = {.found.group = NNV_HARVEST_GROUP_MAX, .clear = true};
    if (x->models.count == 0) return NNV_OK;
    if (c->specs != x->usual_specs)
        return nnv_fail(
            err, NNV_INVALID,
            "--specs or --models: not both (nnvts harvest makes spec files of models, to be kept together)");
    c->specs = nnv_arena_printf(c->arena, "%s/harvest", c->out);
    enum nnv_status st =
        c->specs ? nnv_cli_harvest(&x->models, c->specs, c->seed, c->arena, &h, err) : nnv_no_memory(err);
    if (st == NNV_OK && h.bad)
        st = nnv_fail(err, NNV_INVALID, "--models: %zu of %zu could not be read", h.bad, h.bad + h.models);
    if (st == NNV_OK && h.found.met == 0) st = nnv_fail(err, NNV_INVALID, "--models: there are no operations in them");
    return st;
}

/** Without a suite or filter a run of stress is its cases alone. */
static void set_stress(struct command *x, struct nnv_run_config *config) {
    if (x->stress_ns == 0) return;
    config->stress_ns = x->stress_ns;
    config->timeout_ns +=
        x->stress_ns * (uint64_t)(config->jobs > 0 ? config->jobs : 1) + (x->suspend_hook != NULL ? SUSPEND_NS : 0);
    if (x->c.suite == NULL) x->c.suite = "exec";
    if (x->c.filter == NULL) x->c.filter = "exec/many/stress/*";
}

static enum nnv_status run_cases(void *own, struct nnv_err *err) {
    struct command *x = own;
    struct nnv_cli *c = &x->c;
    struct nnv_case_list list = {.arena = c->arena};
    struct nnv_run_config config;
    struct nnv_shard shard = {0};
    struct nnv_run_observer observer = {&x->view, on_header, on_record, on_tick, on_wait};
    struct nnv_pressure pressure = {.count = 0};
    struct nnv_kernel_log kernel = {.fd = 0};
    struct nnv_probe *probe = NULL;
    bool interrupted = false;
    size_t bad = 0;
    if (x->matrix && *x->matrix) return nnv_cli_matrix(c, x->matrix, err);
    enum nnv_status s = nnv_cli_need_driver(c, err);
    if (s == NNV_OK && c->json && x->view.format >= 0)
        s = nnv_fail(err, NNV_INVALID, "--json or --format: there is one stdout");
    if (s == NNV_OK && x->view.baseline != NULL) s = nnv_baseline_check(x->view.baseline, c->out, err);
    if (s == NNV_OK) s = take_models(x, err);
    if (s == NNV_OK) s = nnv_cli_config(c, c->arena, &config, err);
    if (s == NNV_OK && config.specs) s = nnv_cli_networks(config.specs, c->arena, &config.networks, err);
    if (s == NNV_OK) set_stress(x, &config);
    config.min_judged = x->min_judged;
    if (s == NNV_OK && x->min_judged > 100)
        s = nnv_fail(err, NNV_INVALID, "--min-judged %" PRIu64 ": expected 0 to 100 percent", x->min_judged);
    if (s == NNV_OK) s = set_limits(x, &config, err);
    config.reset_hook = x->reset_hook;
    config.suspend_hook = x->suspend_hook;
    if (s == NNV_OK && x->suspend_hook != NULL && x->stress_ns == 0)
        s = nnv_fail(err, NNV_INVALID, "--suspend-hook is of --stress, in the middle of which it runs");
    config.kernel_log = x->kernel_log;
    if (s == NNV_OK) s = nnv_kernel_log_open(&kernel, x->kernel_log, err); /* is it there? */
    nnv_kernel_log_close(&kernel);
    config.leaks = (enum nnv_leak_watch)x->leaks;
    if (x->stress_ns > 0 && config.leaks == NNV_LEAKS_SOME)
        config.leaks = NNV_LEAKS_OFF; /* it sees itself what grows */
    if (x->coverage) config.coverage = &x->reached;
    config.compile_only = x->compile_only;
    if (s == NNV_OK) s = set_repeats(&config, x->repeat, x->determinism, err);
    if (s == NNV_OK) s = nnv_cli_saturate(c->saturated, &config, c->arena, err);
    if (s == NNV_OK) s = nnv_run_probe(&config, &probe, err); /* beside the listing */
    if (s == NNV_OK) s = nnv_cli_cases(c, &config, &list, err);
    if (s == NNV_OK) s = nnv_cli_shard(c, true, &list, &shard, err);
    if (s == NNV_OK) s = nnv_keep_bound(config.seed, list.item, list.count, x->keep_passes, &config.keep_below, err);
    if (s == NNV_OK) s = nnv_cli_expect(&x->expect, c, &config, list.item, list.count, &x->expectations, err);
    const struct nnv_run_options options = {
        .config = &config,
        .cases = list.item,
        .count = list.count,
        .shard = &shard,
        .probe = probe,
        .expectations = x->expect.count > 0 ? &x->expectations : NULL,
        .resume = c->resume,
        .keep_previous = nnv_cli_usual_out(c) && x->models.count == 0, /* of models the specs are in the folder */
        .argc = c->argc,
        .argv = c->argv,
        .observer = &observer,
        .bad = &bad,
        .also = nnv_dump_also,
    };
    if (s == NNV_OK) s = nnv_pressure_begin(&pressure, x->pressure, err);
    if (s == NNV_OK) s = judge(&x->view, &options, x->flakes_ns, &interrupted, err);
    nnv_probe_free(probe);
    nnv_pressure_end(&pressure);
    nnv_console_free(x->view.console);
    nnv_expect_free(&x->expectations);
    nnv_coverage_free(&x->reached);
    nnv_shard_free(&shard);
    free(list.item);
    if (s != NNV_OK || !interrupted) return s;
    fprintf(stderr, "nnvts: interrupted; go on with the same command and --resume\n");
    c->code = 130;
    return NNV_OK;
}

static int run(int argc, char **argv) {
    struct command x = {
        .c = nnv_cli_defaults(), .view.format = -1, .repeat = 1, .flakes_ns = FLAKES_NS, .max_timeouts = MAX_TIMEOUTS};
    x.view.cli = &x.c;
    x.usual_specs = x.c.specs;
    x.c.jobs += x.c.jobs / 2; /* some cases only wait: for fences, deadlines, threads that end */
    const struct nnv_opt table[] = {
        NNV_OPTION_DRIVER(x.c),
        NNV_OPTION_VIA(x.c),
        NNV_OPTION_CONFORMANCE(x.c),
        NNV_OPTION_SUITE(x.c),
        NNV_OPTION_FILTER(x.c),
        NNV_OPTION_CASES(x.c),
        NNV_OPTION_FAILED(x.c),
        NNV_OPTION_SPECS(x.c),
        {0, "models", NNV_OPT_LIST, &x.models, "PATH",
         "in place of specs: the operations of .tflite or .onnx files, see nnvts harvest; may be given several times",
         NULL},
        NNV_OPTION_TIER(x.c),
        NNV_OPTION_COUNT(x.c),
        NNV_OPTION_PRECISION(x.c),
        NNV_OPTION_ARITHMETIC(x.c),
        NNV_OPTION_SEED(x.c),
        NNV_OPTION_JOBS(x.c),
        NNV_OPTION_TIMEOUT(x.c),
        NNV_OPTION_BUDGET(x.c),
        {0, "silence", NNV_OPT_SECONDS, &x.silence_ns, "S",
         "seconds that the driver may go without a sign of life: a call that ends, or output (0: no limit)", NULL},
        NNV_OPTION_MEMORY(x.c),
        {0, "disk", NNV_OPT_U64, &x.disk_mb, "MB",
         "megabytes that a case may write to disk; each file is limited, all of them measured; default: no limit",
         NULL},
        NNV_OPTION_OUT(x.c),
        NNV_OPTION_SHARD(x.c),
        NNV_OPTION_BALANCE(x.c),
        {0, "no-shard", NNV_OPT_FLAG, &x.c.no_shard, NULL, "all cases, whatever the environment says of shards", NULL},
        {0, "resume", NNV_OPT_FLAG, &x.c.resume, NULL,
         "go on with the run in the folder: what has a verdict is not run again", NULL},
        NNV_OPTION_EXPECT(x.expect),
        NNV_OPTION_STRICT(x.expectations),
        {0, "repeat", NNV_OPT_U64, &x.repeat, "N", "run each case N times; the verdict is the worst", NULL},
        {0, "stress", NNV_OPT_SECONDS, &x.stress_ns, "S",
         "models by turns, in threads and processes, for so long; without --suite and --filter nothing else", NULL},
        {0, "pressure", NNV_OPT_STRING, &x.pressure, "KINDS", "load beside the run: cpu, memory, or cpu,memory", NULL},
        {0, "determinism", NNV_OPT_FLAG, &x.determinism, NULL,
         "the same bytes each time: executed, compiled again, in another process, with other threads", NULL},
        NNV_OPTION_COVERAGE(x.coverage),
        NNV_OPTION_SATURATED(x.c),
        {0, "compile-only", NNV_OPT_FLAG, &x.compile_only, NULL,
         "ask and compile, execute nothing: for a compiler without its device", NULL},
        {0, "leaks", NNV_OPT_CHOICE, &x.leaks, "W",
         "of which cases is counted what they leave behind: descriptors, threads, memory", leak_watches},
        {0, "max-failures", NNV_OPT_U64, &x.max_failures, "N", "end the run when N cases have gone wrong (0: never)",
         NULL},
        {0, "max-timeouts", NNV_OPT_U64, &x.max_timeouts, "N", "end the run when N cases did not end (0: never)", NULL},
        {0, "min-judged", NNV_OPT_U64, &x.min_judged, "PERCENT",
         "fail where fewer of the cases were judged: neither unsupported nor skipped", NULL},
        {0, "isolate-judge", NNV_OPT_FLAG, &x.c.isolate, NULL,
         "the driver in a process of its own, as host:DRIVER: it cannot write its own verdicts", NULL},
        {0, "keep-passes", NNV_OPT_U64, &x.keep_passes, "N",
         "keep the answers of N cases, drawn by the seed, where they pass: nnvts verify judges them again", NULL},
        {0, "kernel-log", NNV_OPT_STRING, &x.kernel_log, "FILE|none",
         "a log of the kernel that is followed: a fault in it fails the case; default: /dev/kmsg where it may be read",
         NULL},
        {0, "reset-hook", NNV_OPT_COMMAND, &x.reset_hook, "COMMAND",
         "brings the device back after a crash or hang: run by a shell before the driver is opened again", NULL},
        {0, "suspend-hook", NNV_OPT_COMMAND, &x.suspend_hook, "COMMAND",
         "with --stress: suspends the device and resumes it, run by a shell in the middle of each case", NULL},
        {0, "flakes", NNV_OPT_SECONDS, &x.flakes_ns, "S",
         "seconds for trying failures again: does it fail every time, after what? (0: not at all)", NULL},
        {0, "baseline", NNV_OPT_STRING, &x.view.baseline, "RUN", "an earlier run: the report says what changed since",
         NULL},
        {0, "matrix", NNV_OPT_COMMAND, &x.matrix, "FILE",
         "the same run with other options and environments, a column for each section of the file; what differs first",
         NULL},
        {0, "format", NNV_OPT_CHOICE, &x.view.format, "F", "on stdout, in place of the lines for people",
         nnv_form_names},
        NNV_OPTION_JSON(x.c),
        NNV_OPTION_QUIET(x.c),
        NNV_OPTION_VERBOSE(x.c),
        NNV_OPTION_END,
    };
    return nnv_cli_run(&x.c, table, &help, 0, argc, argv, run_cases, &x);
}

const struct nnv_verb nnv_verb_run = {"run", "judge a driver", "run the suites against a driver", run};
