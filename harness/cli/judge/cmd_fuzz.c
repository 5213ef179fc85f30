/* SPDX-License-Identifier: Apache-2.0 */
/** @file cmd_fuzz.c nnvts fuzz: mutated models and requests, for as long as one likes. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/folder.h"
#include "base/words.h"
#include "harness/cli/cli.h"
#include "harness/fuzz/campaign.h"
#include "harness/runner/ask.h"
#include "harness/runner/coverage/coverage.h"

enum { FILE_BYTES_MAX = 1 << 20 };

static const struct nnv_verb_help help = {
    .usage = "nnvts fuzz --driver NAME|PATH [options]",
    .summary = "Feeds a driver with mutated models and requests. It must never crash, hang, damage memory or answer a "
               "status that does not exist, must prepare the valid models that it claims to support, and still give "
               "right values afterwards. Exit code 0 if nothing is found, 1 if something is.",
    .examples = "nnvts fuzz -d ./npu.so --time 60                        a minute, new inputs with every --seed\n"
                "nnvts fuzz -d ./npu.so --corpus corpus --time 600       goes on where the last one ended\n"
                "nnvts fuzz -d ./npu.so --coverage --until-saturated 1 --time 0  as long as new code is reached\n"
                "nnvts fuzz -d ./npu.so --replay nnvts-fuzz/crash-x.fuzz  does it still crash?\n",
};

struct view {
    const struct nnv_cli *cli;
    bool terminal;
};

static void on_progress(void *context, const struct nnv_fuzz_stats *s) {
    const struct view *v = context;
    if (!v->terminal) return;
    fprintf(stderr, "\r\033[K%" PRIu64 " inputs in %.0f s, %zu kinds of answers, ", s->inputs, (double)s->ns / 1e9,
            s->answers);
    if (s->edges > 0) fprintf(stderr, "%zu edges, ", s->edges);
    fprintf(stderr, "%zu findings", s->findings);
}

static void print_finding(const struct nnv_fuzz_finding *f) {
    printf("%s: %.*s\n", nnv_fuzz_wrong_name(f->kind), (int)sizeof f->text, f->text);
    if (f->count == 1) {
        struct nnv_text t = {0};
        nnv_fuzz_print(&t, &f->inputs[0]);
        for (const char *line = t.data; line != NULL && *line != '\0'; line = strchr(line, '\n') + 1)
            printf("     %.*s\n", (int)strcspn(line, "\n"), line);
        nnv_text_free(&t);
    } else {
        printf("     after %zu inputs\n", f->count);
    }
}

static void on_found(void *context, const struct nnv_fuzz_finding *f) {
    const struct view *v = context;
    if (v->terminal) fputs("\r\033[K", stderr);
    print_finding(f);
    printf("     seen %" PRIu64 " times; again: nnvts fuzz --driver %s --replay %s/%s.fuzz\n", f->times, v->cli->driver,
           v->cli->out, f->file);
}

/** Runs the inputs of one file again. */
static enum nnv_status replay(const struct nnv_run_config *config, const char *path, int *code, struct nnv_err *err) {
    char *text = NULL;
    size_t size, count = 0;
    struct nnv_fuzz_input *inputs = NULL;
    struct nnv_fuzz_finding f = {0};
    bool wrong = false;
    enum nnv_status st = nnv_file_read(path, FILE_BYTES_MAX, &text, &size, err);
    if (st == NNV_OK) st = nnv_fuzz_parse(text, path, &inputs, &count, err);
    if (st == NNV_OK) st = nnv_fuzz_replay(config, inputs, count, &f, &wrong, err);
    if (st == NNV_OK && wrong) {
        print_finding(&f);
        if (f.detail != NULL) fputs(f.detail, stdout);
        *code = NNVTS_EXIT_FAIL;
    } else if (st == NNV_OK) {
        printf("nothing is wrong with %zu input%s\n", count, count == 1 ? "" : "s");
    }
    nnv_fuzz_finding_free(&f);
    free(inputs);
    free(text);
    return st;
}

/** What was reached of the driver's code: a line, and the file. */
static enum nnv_status tell_coverage(const struct nnv_run_config *config, struct nnv_err *err) {
    const struct nnv_coverage *c = config->coverage;
    enum nnv_status st = nnv_folder_make(config->out, err);
    if (st == NNV_OK) st = nnv_coverage_write(c, config->out, err);
    if (st != NNV_OK) return st;
    printf("reached of the driver's code: ");
    if (c->edges > 0) printf("%s of ", nnv_count(c->reached).s);
    if (c->edges > 0) printf("%s edges, ", nnv_count(c->edges).s);
    printf("see %s/coverage.json\n", config->out);
    return NNV_OK;
}

static enum nnv_status campaign(struct nnv_fuzz_options *options, const struct view *v, int *code, bool *interrupted,
                                struct nnv_err *err) {
    struct nnv_fuzz_stats stats;
    enum nnv_status st = nnv_fuzz_campaign(options, &stats, interrupted, err);
    if (v->terminal) fputs("\r\033[K", stderr);
    if (st != NNV_OK) return st;
    printf("%" PRIu64 " inputs in %.1f s, %zu kinds of answers, corpus %zu, %zu finding%s\n", stats.inputs,
           (double)stats.ns / 1e9, stats.answers, stats.corpus, stats.findings, stats.findings == 1 ? "" : "s");
    if (options->limit > 0) {
        struct nnv_text t = {0};
        nnv_cli_add_saturation(&t, stats.inputs, "inputs", stats.chance, options->limit);
        nnv_text_add(&t, "\n");
        st = nnv_cli_print(&t, err);
    }
    if (st == NNV_OK && options->config->coverage != NULL) st = tell_coverage(options->config, err);
    if (st != NNV_OK) return st;
    *code = stats.findings > 0 ? NNVTS_EXIT_FAIL : NNVTS_EXIT_PASS;
    return NNV_OK;
}

struct command {
    struct nnv_cli c;
    struct nnv_fuzz_options options;
    const char *file;
    struct view view;
    bool coverage;
    struct nnv_coverage reached;
};

static enum nnv_status fuzz(void *own, struct nnv_err *err) {
    struct command *x = own;
    struct nnv_run_config config;
    struct nnv_driver_info info;
    bool interrupted = false;
    enum nnv_status s = nnv_cli_need_driver(&x->c, err);
    if (s == NNV_OK) s = nnv_cli_config(&x->c, x->c.arena, &config, err);
    if (s == NNV_OK)
        s = nnv_driver_probe(config.driver_path, config.driver_options, nnv_opening_ns(x->c.timeout_ns, 0), x->c.arena,
                             &info, err);
    if (x->coverage) config.coverage = &x->reached;
    if (s == NNV_OK && x->coverage)
        s = nnv_coverage_begin(&x->reached, x->c.driver, config.driver_path, info.edges, x->c.out, err);
    if (s == NNV_OK && x->c.saturated != NULL) s = nnv_cli_chance(x->c.saturated, &x->options.limit, err);
    x->options.config = &config;
    x->options.context = &x->view;
    x->view = (struct view){&x->c, isatty(STDERR_FILENO) == 1};
    if (s == NNV_OK && x->file != NULL)
        s = replay(&config, x->file, &x->c.code, err);
    else if (s == NNV_OK && (s = nnv_file_try(x->c.out, true, err)) == NNV_OK)
        s = campaign(&x->options, &x->view, &x->c.code, &interrupted, err);
    nnv_coverage_free(&x->reached);
    if (s != NNV_OK || !interrupted) return s;
    fprintf(stderr, "nnvts: interrupted; what was found is in %s\n", x->c.out);
    x->c.code = 130;
    return NNV_OK;
}

static int run(int argc, char **argv) {
    struct command x = {
        .c = nnv_cli_defaults(),
        .options = {.time_ns = UINT64_C(10000000000), .progress = on_progress, .found = on_found},
    };
    x.c.out = "nnvts-fuzz";
    x.c.timeout_ns = UINT64_C(5000000000);
    const struct nnv_opt table[] = {
        NNV_OPTION_DRIVER(x.c),
        NNV_OPTION_VIA(x.c),
        {0, "time", NNV_OPT_SECONDS, &x.options.time_ns, "S", "seconds to go on; 0: until --inputs or an interrupt",
         NULL},
        {0, "inputs", NNV_OPT_U64, &x.options.inputs, "N", "inputs to execute; 0: until --time is over", NULL},
        NNV_OPTION_SATURATED(x.c),
        NNV_OPTION_COVERAGE(x.coverage),
        {0, "corpus", NNV_OPT_STRING, &x.options.corpus, "DIR", "inputs to begin with; new ones are added", NULL},
        {0, "replay", NNV_OPT_STRING, &x.file, "FILE", "only run the inputs of a finding or corpus file again", NULL},
        NNV_OPTION_SEED(x.c),
        NNV_OPTION_JOBS(x.c),
        {0, "timeout", NNV_OPT_SECONDS, &x.c.timeout_ns, "S", "seconds after which an input hangs", NULL},
        {'o', "out", NNV_OPT_OUT_DIR, &x.c.out, "DIR", "folder of the findings", NULL},
        NNV_OPTION_END,
    };
    return nnv_cli_run(&x.c, table, &help, 0, argc, argv, fuzz, &x);
}

const struct nnv_verb nnv_verb_fuzz = {"fuzz", "judge a driver", "feed a driver with mutated models and requests", run};
