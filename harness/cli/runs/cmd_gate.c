/* SPDX-License-Identifier: Apache-2.0 */
/** @file cmd_gate.c nnvts gate: is a driver slower than another, or than the build before? */
#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "harness/bench/answers.h"
#include "harness/bench/duel.h"
#include "harness/cli/cli.h"
#include "harness/cli/models/bench_show.h"
#include "mlts/networks/networks.h"
#include "harness/journal/line.h"

enum { SETS = 4 };

static const char *const some_network = "mobilenet_v2_0.5_96_quant8";

static const struct nnv_verb_help help = {
    .usage = "nnvts gate --driver A --against B [--model NAME|FILE | --case EXPR] [options]",
    .summary =
        "Is driver A slower than driver B? Both, and B once more as a control, run by turns in fresh processes, in "
        "an order that is drawn; an exact test then decides, with at most one false alarm in a hundred. Exit code "
        "0: not slower by --detect; 1: slower than --margin; 4: invalid, the machine is too noisy to say; 130: "
        "interrupted, with what the blocks so far say.",
    .examples = "nnvts gate -d ./npu.so --against ./npu-1.4.so            is the new build slower?\n"
                "nnvts gate -d npu --against cpu --model net.tflite       on your network\n"
                "nnvts gate -d npu --against cpu --case 'ops/CONV_2D/float32/*/1' --detect 10  on one operation\n",
};

struct gate {
    struct nnv_cli cli;
    const char *against, *model, *expression, *margin, *detect;
    uint64_t pairs;
    int mode;
    struct nnv_duel_options options;
    struct nnv_duel_result result;
    /* the work */
    const char *subject; /* network or case */
    struct nnv_bench_work work;
    const struct nnv_value *inputs[SETS];
    bool terminal;
};

/* ------------------------------------------------------------------- the work */

static enum nnv_status take_network(struct gate *g, struct nnv_err *err) {
    struct nnv_network *net = NNV_NEW(g->cli.arena, struct nnv_network, 1);
    struct nnv_bench_answers golden = {0};
    struct nnv_dataset dataset;
    struct nnv_truth truth;
    const char *data;
    if (!net) return nnv_no_memory(err);
    enum nnv_status st = nnv_network_open(g->model ? g->model : some_network, g->cli.arena, net, &data, err);
    if (st == NNV_OK) st = nnv_dataset_open(data, net, SETS, g->cli.arena, &dataset, err);
    for (uint32_t i = 0; st == NNV_OK && i < dataset.count && i < SETS; i++) {
        struct nnv_value *in = NNV_NEW(g->cli.arena, struct nnv_value, net->model.main.nin);
        st = in ? nnv_dataset_item(&dataset, i, net, g->cli.arena, in, &truth, err) : nnv_no_memory(err);
        g->inputs[i] = in;
        g->work.sets = i + 1;
    }
    dataset.count = 1; /* the shapes of the outputs are all that is asked */
    if (st == NNV_OK) st = nnv_answers_golden(net, &dataset, 1, NULL, NULL, g->cli.arena, &golden, err);
    nnv_answers_free(&golden);
    g->subject = net->name;
    g->work.model = &net->model;
    g->work.output_shapes = golden.shape;
    return st;
}

/** The one case that --case selects. */
static enum nnv_status take_case(struct gate *g, const struct nnv_run_config *config, struct nnv_err *err) {
    struct nnv_case_list list = {.arena = g->cli.arena};
    struct nnv_spec *spec;
    g->cli.filter = g->expression;
    enum nnv_status st = nnv_cli_cases(&g->cli, config, &list, err);
    if (st == NNV_OK && list.count > 1)
        st = nnv_fail(err, NNV_INVALID, "--case '%s' selects %zu cases, %s and more: one is needed", g->expression,
                      list.count, list.item[0].name);
    if (st == NNV_OK) {
        const struct nnv_suite *suite = nnv_suite_by_name(list.item[0].suite);
        st = suite->build
                 ? suite->build(config, &list.item[0], g->cli.arena, &spec, err)
                 : nnv_fail(err, NNV_INVALID, "case %s has no model of its own to be timed", list.item[0].name);
    }
    if (st == NNV_OK) {
        g->subject = list.item[0].name;
        g->inputs[0] = spec->inputs;
        g->work.model = &spec->model;
        g->work.sets = 1;
        g->work.output_shapes = spec->outputs;
    }
    free(list.item);
    return st;
}

/* -------------------------------------------------------------------- options */

/** "5" or "5%" as the logarithm of the ratio 1.05. */
static enum nnv_status take_percent(const char *option, const char *text, double least, double *log_ratio,
                                    struct nnv_err *err) {
    char *end;
    double v = strtod(text, &end);
    if (end == text || (*end && strcmp(end, "%") != 0) || !(v >= least && v <= 1000))
        return nnv_fail(err, NNV_INVALID, "--%s %s: expected a number of percent, %g to 1000", option, text, least);
    *log_ratio = log1p(v / 100);
    return NNV_OK;
}

static enum nnv_status take_driver(struct gate *g, const char *argument, struct nnv_run_config *config,
                                   struct nnv_duel_driver *to, struct nnv_err *err) {
    struct nnv_cli one = g->cli;
    one.driver = argument;
    enum nnv_status st = nnv_cli_config(&one, g->cli.arena, config, err);
    if (st == NNV_OK) *to = (struct nnv_duel_driver){config->driver_path, config->driver_options};
    return st;
}

static void on_progress(void *context, double part) {
    const struct gate *g = context;
    if (g->terminal) fprintf(stderr, "\r\033[K%s: %.0f %% of the blocks at most", g->subject, 100 * part);
}

static enum nnv_status take_options(struct gate *g, struct nnv_err *err) {
    const uint64_t fewest = NNV_GATE_FEWEST * NNV_GATE_ROUNDS, most = NNV_GATE_BLOCKS * NNV_GATE_ROUNDS;
    struct nnv_gate_options *o = &g->options.gate;
    struct nnv_run_config config;
    enum nnv_status st = nnv_cli_need_driver(&g->cli, err);
    if (st != NNV_OK) return st;
    if (!g->against) return nnv_fail(err, NNV_INVALID, "compared with which driver? give --against NAME");
    if (g->model && g->expression) return nnv_fail(err, NNV_INVALID, "--model or --case, not both");
    if (g->pairs < fewest || g->pairs > most)
        return nnv_fail(err, NNV_INVALID, "--pairs %" PRIu64 ": expected %" PRIu64 " to %" PRIu64, g->pairs, fewest,
                        most);
    st = take_percent("margin", g->margin, 0, &o->margin, err);
    if (st == NNV_OK) st = take_percent("detect", g->detect, 0.1, &o->detect, err);
    if (st == NNV_OK && !(o->detect > o->margin))
        st = nnv_fail(err, NNV_INVALID, "--detect %s is not above --margin %s", g->detect, g->margin);
    if (st == NNV_OK) st = take_driver(g, g->against, &config, &g->options.against, err);
    if (st == NNV_OK) st = take_driver(g, g->cli.driver, &config, &g->options.tested, err);
    o->blocks = (uint32_t)((g->pairs + NNV_GATE_ROUNDS - 1) / NNV_GATE_ROUNDS);
    o->alarms = 0.01;
    o->seed = g->cli.seed;
    g->options.mode = (enum nnv_mode)g->mode;
    g->options.timeout_ns = g->cli.timeout_ns;
    g->options.progress = on_progress;
    g->options.context = g;
    g->work.inputs = g->inputs;
    if (st == NNV_OK) st = g->expression ? take_case(g, &config, err) : take_network(g, err);
    return st;
}

/* --------------------------------------------------------------------- telling */

/** "12.3 ms". buf holds 24. */
static double percent(double ratio) { return 100 * (ratio - 1); }

static int exit_code(const struct gate *g) {
    if (g->result.interrupted) return 130;
    if (g->result.state != NNV_BENCH_DONE)
        return g->result.state == NNV_BENCH_UNSUPPORTED ? NNVTS_EXIT_USAGE
               : g->result.state == NNV_BENCH_ERROR     ? NNVTS_EXIT_ERROR
                                                        : NNVTS_EXIT_FAIL;
    return g->result.answer.verdict == NNV_GATE_PASS     ? NNVTS_EXIT_PASS
           : g->result.answer.verdict == NNV_GATE_SLOWER ? NNVTS_EXIT_FAIL
                                                         : NNVTS_EXIT_INVALID;
}

static void print_times(const struct gate *g) {
    static const char *const names[NNV_GATE_QUANTILES] = {"p50", "p90", "p99"};
    char a[24], b[24], c[24], d[24];
    const struct nnv_duel_result *r = &g->result;
    for (int side = 0; side < 2; side++) {
        const struct nnv_duel_side *s = &r->side[side];
        printf("  %-9s %s: %s %s\n", side ? "against" : "tested", side ? g->against : g->cli.driver, s->device,
               s->version);
        for (int q = 0; q < NNV_GATE_QUANTILES; q++)
            printf("    %s %s [%s, %s]\n", names[q], nnv_bench_duration(s->quantile_ns[q], 4, a),
                   nnv_bench_duration(s->interval_ns[q].low, 4, b), nnv_bench_duration(s->interval_ns[q].high, 4, c));
    }
    puts("  difference");
    for (int q = 0; q < NNV_GATE_QUANTILES; q++)
        printf("    %s %+.2f %% [%+.2f, %+.2f]  %s\n", names[q], percent(r->answer.ratio[q]),
               percent(r->answer.interval[q].low), percent(r->answer.interval[q].high),
               nnv_bench_duration(r->side[1].quantile_ns[q] * (r->answer.ratio[q] - 1), 4, d));
    printf("  control   %s against itself: %+.2f %% [%+.2f, %+.2f]\n", g->against, percent(r->answer.control),
           percent(r->answer.control_interval.low), percent(r->answer.control_interval.high));
}

static void print_answer(const struct gate *g) {
    const struct nnv_duel_result *r = &g->result;
    const struct nnv_gate_answer *a = &r->answer;
    printf("%s  %s against %s  seed %" PRIu64 "\n", g->subject, g->cli.driver, g->against, g->cli.seed);
    if (r->state != NNV_BENCH_DONE) {
        printf("%s: %s\n", r->part == NNV_GATE_TESTED ? g->cli.driver : g->against, r->reason);
        return;
    }
    printf("  %u blocks of %d pairs, %u executions each, in %.1f s\n", r->blocks, NNV_GATE_ROUNDS, r->side[0].count,
           r->elapsed_ns / 1e9);
    if (r->blocks > 0) print_times(g);
    if (isfinite(a->detectable)) printf("  detectable %.2f %%; false alarms at most 1 in 100", percent(a->detectable));
    printf("%ssteal %.1f %%, speed within a factor of %.2f\n", isfinite(a->detectable) ? "; " : "  ", 100 * r->steal,
           a->speed);
    const double margin = percent(exp(g->options.gate.margin)), detect = percent(exp(g->options.gate.detect));
    switch (a->verdict) {
    case NNV_GATE_SLOWER:
        printf("SLOWER: by %.2f %%, more than %g %% (p %.2g)\n", percent(a->ratio[0]), margin, a->p);
        break;
    case NNV_GATE_PASS:
        printf("PASS: not slower by %g %%\n", detect);
        break;
    case NNV_GATE_INVALID:
        printf("INVALID: %s\n", a->why);
        break;
    case NNV_GATE_GO_ON:
    case NNV_GATE_VERDICTS:
        break;
    }
}

static json_t *interval(double v, struct nnv_interval i) {
    return json_pack("{s:o,s:o,s:o}", "value", nnv_json_finite(v), "low", nnv_json_finite(i.low), "high",
                     nnv_json_finite(i.high));
}

static json_t *side_json(const struct nnv_duel_side *s, const char *driver) {
    static const char *const names[NNV_GATE_QUANTILES] = {"p50_ns", "p90_ns", "p99_ns"};
    json_t *j = json_pack("{s:s,s:s+,s:s+,s:i}", "driver", driver, "device", s->device, "", "version", s->version, "",
                          "executions", (int)s->count);
    for (int q = 0; j && q < NNV_GATE_QUANTILES; q++)
        json_object_set_new(j, names[q], interval(s->quantile_ns[q], s->interval_ns[q]));
    return j;
}

static void print_json(const struct gate *g) {
    static const char *const names[NNV_GATE_QUANTILES] = {"p50", "p90", "p99"};
    const struct nnv_duel_result *r = &g->result;
    const struct nnv_gate_answer *a = &r->answer;
    json_t *ratio = json_object(), *blocks = json_array();
    for (int q = 0; q < NNV_GATE_QUANTILES; q++)
        json_object_set_new(ratio, names[q], interval(a->ratio[q], a->interval[q]));
    for (uint32_t i = 0; i < r->blocks; i++)
        json_array_append_new(blocks, json_pack("{s:f,s:f,s:f}", "ratio", exp(r->block[i].ratio[0]), "control",
                                                exp(r->block[i].control[0]), "yardstick_ns", r->block[i].yardstick_ns));
    const bool done = r->state == NNV_BENCH_DONE;
    json_t *j = json_pack("{s:s,s:s,s:s,s:s,s:I,s:f,s:f,s:s}", "form", "nnvts-gate-1", "version", NNVTS_VERSION,
                          "subject", g->subject, "verdict", done ? nnv_gate_verdict_name(a->verdict) : "failed", "seed",
                          (json_int_t)g->cli.seed, "margin", exp(g->options.gate.margin), "detect",
                          exp(g->options.gate.detect), "why", done ? a->why : r->reason);
    if (j && done) {
        json_object_set_new(j, "interrupted", json_boolean(r->interrupted));
        json_object_set_new(j, "tested", side_json(&r->side[0], g->cli.driver));
        json_object_set_new(j, "against", side_json(&r->side[1], g->against));
        json_object_set_new(j, "ratio", ratio);
        json_object_set_new(j, "control", interval(a->control, a->control_interval));
        json_object_set_new(j, "p", nnv_json_finite(a->p));
        json_object_set_new(j, "limit", nnv_json_finite(a->limit));
        json_object_set_new(j, "control_p", nnv_json_finite(a->control_p));
        json_object_set_new(j, "detectable", nnv_json_finite(a->detectable));
        json_object_set_new(j, "steal", nnv_json_finite(r->steal));
        json_object_set_new(j, "speed", nnv_json_finite(a->speed));
        json_object_set_new(j, "seconds", nnv_json_finite(r->elapsed_ns / 1e9));
        json_object_set_new(j, "blocks", blocks);
    } else {
        json_decref(ratio);
        json_decref(blocks);
    }
    nnv_cli_print_json(j);
    json_decref(j);
}

static enum nnv_status gate(void *own, struct nnv_err *err) {
    struct gate *g = own;
    g->terminal = isatty(STDERR_FILENO) == 1;
    enum nnv_status st = take_options(g, err);
    if (st == NNV_OK) st = nnv_duel_run(&g->work, &g->options, g->cli.arena, &g->result, err);
    if (g->terminal) fputs("\r\033[K", stderr);
    if (st != NNV_OK) return st;
    (g->cli.json ? print_json : print_answer)(g);
    g->cli.code = exit_code(g);
    if (g->result.interrupted)
        fprintf(stderr, "nnvts: interrupted; what is told is of the %u blocks that were measured\n", g->result.blocks);
    return NNV_OK;
}

static int run(int argc, char **argv) {
    struct gate g = {.cli = nnv_cli_defaults(), .margin = "1", .detect = "5", .pairs = 512};
    g.cli.timeout_ns = UINT64_C(120000000000);
    g.cli.suite = "all";
    g.options.preference = ANEURALNETWORKS_PREFER_SUSTAINED_SPEED;
    const struct nnv_opt table[] = {
        NNV_OPTION_DRIVER(g.cli),
        {0, "against", NNV_OPT_CODE, &g.against, "NAME|PATH[:OPTIONS]", "the driver or build to compare with", NULL},
        {'m', "model", NNV_OPT_STRING, &g.model, "NAME|FILE", "a network, see nnvts bench --list", NULL},
        {0, "case", NNV_OPT_STRING, &g.expression, "EXPR", "a case of the suites instead, see nnvts list", NULL},
        {0, "pairs", NNV_OPT_U64, &g.pairs, "N", "pairs of turns, at most; eight share their processes", NULL},
        {0, "margin", NNV_OPT_STRING, &g.margin, "PERCENT", "a slowdown that does not matter", NULL},
        {0, "detect", NNV_OPT_STRING, &g.detect, "PERCENT", "a slowdown that must not be missed", NULL},
        {0, "mode", NNV_OPT_CHOICE, &g.mode, "MODE", "execution mode", nnv_bench_modes},
        NNV_OPTION_SPECS(g.cli),
        NNV_OPTION_TIER(g.cli),
        NNV_OPTION_SEED(g.cli),
        NNV_OPTION_TIMEOUT(g.cli),
        NNV_OPTION_JSON(g.cli),
        NNV_OPTION_END,
    };
    return nnv_cli_run(&g.cli, table, &help, 0, argc, argv, gate, &g);
}

const struct nnv_verb nnv_verb_gate = {"gate", "many runs", "is a driver slower than another?", run};
