/* SPDX-License-Identifier: Apache-2.0 */
/** @file cmd_bench.c nnvts bench: latency and accuracy of drivers on whole networks. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/json_out.h"
#include "harness/runner/signals.h"
#include "harness/bench/machine.h"
#include "base/words.h"
#include "harness/cli/cli.h"
#include "harness/cli/models/bench_show.h"
#include "harness/journal/record.h"
#include "mlts/networks/networks.h"
#include "reports/bench.h"

enum { MOST_DRIVERS = 16, MOST_NETWORKS = 256, SETS = 8, HELD_BACK = 8, LATENCY_SAMPLES = 2000 };

static const struct nnv_verb_help help = {
    .usage = "nnvts bench --driver A[,B...] [--model NAME|FILE]... [options]",
    .summary = "Measures drivers on whole networks: compiling, latency with its quantiles, throughput, memory; and "
               "judges their "
               "answers beside the reference's on the same data. Exit code 1 if a driver fails, is worse than the "
               "reference and "
               "not by chance, or does not pass a gate. The first driver is the one that others are compared with.",
    .examples = "nnvts bench -d cpu                                     the networks that are part of nnvts\n"
                "nnvts bench -d cpu,./npu.so --max-latency-ratio 1.0    is npu at least as fast as cpu?\n"
                "nnvts bench -d cpu --model net.tflite --data pictures/  your network on your pictures\n"
                "nnvts bench -d cpu --scenario poisson --rate 50         50 requests a second, by chance\n",
};

struct bench {
    bool interrupted; /* the user asked to stop: the row in progress is ended, no more begins */
    struct nnv_cli cli;
    struct nnv_bench_options options;
    struct nnv_bench_gates gates;
    const char *data; /* NULL: that of the network */
    bool whole, no_accuracy, no_latency, layers, roofline;
    struct nnv_roof roof;
    const char *csv, *model, *peak;
    int scenario, mode;
    uint64_t streams, least;
    const char *rate, *most_ratio, *least_agreement; /* numbers with fractions */
    char *drivers[MOST_DRIVERS];
    struct nnv_run_config configs[MOST_DRIVERS];
    int driver_count;
    struct nnv_bench_row *rows;
    size_t row_count;
    bool terminal;
    json_t *conditions; /* of the machine before and after */
    char doing[200];    /* for the live line */
};

/* -------------------------------------------------------------------- console */

static void on_progress(void *context, double part) {
    const struct bench *b = context;
    enum { WIDTH = 30 };
    if (!b->terminal) return;
    int full = (int)(part * WIDTH);
    fprintf(stderr, "\r\033[K%s [%.*s%*s] %3.0f %%", b->doing, full, "##############################", WIDTH - full, "",
            100 * part);
}

static void clear_line(const struct bench *b) {
    if (b->terminal) fputs("\r\033[K", stderr);
}

static enum nnv_status list_networks(const struct nnv_cli *c) {
    json_t *all = json_array();
    for (size_t i = 0; i < nnv_network_count; i++) {
        const struct nnv_network_entry *e = &nnv_networks[i];
        if (c->json)
            json_array_append_new(all, json_pack("{s:s,s:s,s:s,s:b}", "name", e->name, "what", e->what, "data", e->data,
                                                 "default", (int)e->by_default));
        else
            printf("%c %-34s %-9s %s\n", e->by_default ? '*' : ' ', e->name, e->data, e->what);
    }
    if (c->json)
        nnv_cli_print_json(all);
    else
        puts("\n* measured without --model. Other widths and sizes of MobileNet are understood, too.");
    json_decref(all);
    return NNV_OK;
}

/* ------------------------------------------------------------------ measuring */

/** Everything about one network that all drivers share. */
struct network {
    struct nnv_network net;
    struct nnv_dataset dataset;
    const char *data;
    struct nnv_bench_answers golden; /* of the dataset, or of its first items where only latency is measured */
    const struct nnv_value *inputs[SETS + HELD_BACK], *answers[SETS + HELD_BACK];
    struct nnv_bench_work work;
    struct nnv_op_work arithmetic; /* of an execution */
    struct nnv_arena *arena;
};

/** The whole work of the network. */
static enum nnv_status count_work(struct network *s, struct nnv_err *err) {
    struct nnv_op_work *each = NNV_NEW(s->arena, struct nnv_op_work, s->net.model.main.noperations);
    if (!each) return nnv_no_memory(err);
    return nnv_model_work(&s->net.model, s->arena, each, &s->arithmetic, err);
}

/** The first items of the data with their golden answers; where answers are judged, half of them are held back. */
static enum nnv_status draw_sets(struct network *s, bool judged, struct nnv_err *err) {
    const uint32_t count = s->dataset.count, half = count - count / 2, nout = s->golden.outputs;
    struct nnv_truth truth;
    struct nnv_bench_work *w = &s->work;
    *w = (struct nnv_bench_work){.model = &s->net.model, .inputs = s->inputs, .output_shapes = s->golden.shape};
    w->golden = judged ? s->answers : NULL;
    w->sets = judged && half < SETS ? half : count < SETS ? count : SETS;
    w->held_back = !judged ? 0 : count - w->sets < HELD_BACK ? count - w->sets : HELD_BACK;
    for (uint32_t i = 0; i < w->sets + w->held_back; i++) {
        struct nnv_value *in = NNV_NEW(s->arena, struct nnv_value, s->net.model.main.nin);
        struct nnv_value *out = nnv_arena_copy(s->arena, s->golden.shape, nout * sizeof *out);
        if (!in || !out) return nnv_no_memory(err);
        enum nnv_status st = nnv_dataset_item(&s->dataset, i, &s->net, s->arena, in, &truth, err);
        if (st != NNV_OK) return st;
        for (uint32_t k = 0; k < nout; k++) out[k].data = (void *)nnv_answer(&s->golden, i, k);
        s->inputs[i] = in;
        s->answers[i] = out;
    }
    return NNV_OK;
}

static enum nnv_status open_network(struct bench *b, const char *name, struct network *s, struct nnv_err *err) {
    const char *data;
    enum nnv_status st = nnv_network_open(name, s->arena, &s->net, &data, err);
    s->data = b->data ? b->data : data;
    if (st == NNV_OK) st = nnv_dataset_open(s->data, &s->net, (uint32_t)b->cli.count, s->arena, &s->dataset, err);
    if (st == NNV_OK && b->no_accuracy && s->dataset.count > 1)
        s->dataset.count = SETS < s->dataset.count ? SETS : s->dataset.count;
    snprintf(b->doing, sizeof b->doing, "%.100s: reference", name);
    if (st == NNV_OK)
        st = nnv_answers_golden(&s->net, &s->dataset, (unsigned)b->cli.jobs, on_progress, b, s->arena, &s->golden, err);
    if (st == NNV_OK) st = draw_sets(s, !b->no_accuracy, err);
    if (st == NNV_OK) st = count_work(s, err);
    clear_line(b);
    return st;
}

static enum nnv_status judge(struct bench *b, const struct network *s, struct nnv_bench_row *row, struct nnv_err *err) {
    struct nnv_bench_answers answers;
    enum nnv_status st = nnv_answers_driver(&s->net, &s->dataset, &b->options, &s->golden, s->arena, &answers, err);
    if (st != NNV_OK) return st;
    row->has_accuracy = true;
    row->accuracy_state = answers.state;
    snprintf(row->accuracy_reason, sizeof row->accuracy_reason, "%s", answers.reason);
    if (answers.state == NNV_BENCH_DONE)
        st = nnv_accuracy_compare(&s->net, &s->dataset, &s->golden, &answers, b->cli.seed, &row->accuracy, err);
    nnv_answers_free(&answers);
    return st;
}

/** Where the driver can run the network at all. */
static enum nnv_status judge_layers(struct bench *b, const struct network *s, struct nnv_bench_row *row,
                                    struct nnv_layers *layers, struct nnv_err *err) {
    const size_t was = strlen(b->doing);
    *layers = (struct nnv_layers){0};
    if (!b->layers || row->measured.state != NNV_BENCH_DONE ||
        (row->has_accuracy && row->accuracy_state != NNV_BENCH_DONE))
        return NNV_OK;
    snprintf(b->doing + was, sizeof b->doing - was, ", operation by operation");
    on_progress(b, 0);
    enum nnv_status st = nnv_layers_judge(&s->net, s->inputs[0], &b->options, s->arena, layers, err);
    if (st == NNV_OK && b->roofline) st = nnv_layers_time(layers, &b->options, row->roof, s->arena, err);
    if (st == NNV_OK) nnv_bench_row_layers(row, layers);
    b->doing[was] = '\0';
    return st;
}

static enum nnv_status run_row(struct bench *b, const struct network *s, int driver, struct nnv_err *err) {
    struct nnv_bench_row *row = &b->rows[b->row_count];
    static const struct nnv_roof unknown; /* of another machine */
    struct nnv_layers layers;
    const bool remote = nnv_driver_is_remote(b->drivers[driver]);
    *row = (struct nnv_bench_row){.network = nnv_arena_strdup(b->cli.arena, s->net.name),
                                  .origin = nnv_arena_strdup(b->cli.arena, s->net.origin),
                                  .data = s->data,
                                  .driver = b->drivers[driver],
                                  .scenario = nnv_scenario_names[b->scenario],
                                  .mode = nnv_bench_modes[b->mode],
                                  .work = s->arithmetic,
                                  .has_latency = !b->no_latency};
    if (b->scenario == NNV_SCENARIO_SINGLE) row->roof = remote && !b->roof.stated ? &unknown : &b->roof;
    b->options.path = b->configs[driver].driver_path;
    b->options.options = b->configs[driver].driver_options;
    b->options.remote = remote;
    snprintf(b->doing, sizeof b->doing, "%.80s on %.80s", s->net.name, b->drivers[driver]);
    enum nnv_status st = NNV_OK;
    if (!b->no_latency) st = nnv_bench_measure(&s->work, &b->options, b->cli.arena, &row->measured, err);
    nnv_bench_row_count(row);
    if (st == NNV_OK && !b->no_accuracy) st = judge(b, s, row, err);
    if (st == NNV_OK) {
        nnv_bench_row_gate(row, driver ? row - driver : NULL, &b->gates);
        st = judge_layers(b, s, row, &layers, err);
    }
    clear_line(b);
    if (st != NNV_OK) return st;
    b->row_count++;
    if (b->cli.json) return NNV_OK;
    if (!b->no_latency) nnv_bench_show_latency(row);
    if (b->no_latency) printf("  %s\n", row->driver);
    nnv_bench_show_accuracy(row);
    if (b->roofline) nnv_bench_show_roofline(row);
    if (layers.present) nnv_bench_show_layers(&layers);
    if (row->failed) printf("FAIL %s on %s: %s\n", row->network, row->driver, row->gate);
    fflush(stdout);
    return NNV_OK;
}

static enum nnv_status run_network(struct bench *b, const char *name, struct nnv_err *err) {
    struct network s = {.arena = nnv_arena_new()};
    if (!s.arena) return nnv_no_memory(err);
    enum nnv_status st = open_network(b, name, &s, err);
    if (st == NNV_OK && !b->cli.json)
        printf("%s  %s, data %s, %s, %s\n", nnv_shown(s.net.name).s, nnv_shown(s.net.origin).s, s.data,
               nnv_scenario_names[b->scenario], nnv_bench_modes[b->mode]);
    for (int d = 0; st == NNV_OK && d < b->driver_count && nnv_signals_interrupts() == 0; d++)
        st = run_row(b, &s, d, err);
    nnv_answers_free(&s.golden);
    nnv_arena_free(s.arena);
    return st;
}

/* --------------------------------------------------------------------- results */

static json_t *rows_json(const struct bench *b) {
    json_t *all = json_array();
    for (size_t i = 0; i < b->row_count; i++)
        json_array_append_new(all, nnv_bench_row_json(&b->rows[i], LATENCY_SAMPLES));
    json_t *j = json_pack("{s:s,s:s,s:o}", "form", "nnvts-bench-1", "version", NNVTS_VERSION, "rows", all);
    json_t *argv = json_array();
    for (int i = 0; i < b->cli.argc; i++) json_array_append_new(argv, json_string(b->cli.argv[i]));
    struct nnv_text place = {0};
    struct nnv_json_out out = {.text = &place};
    nnv_json_open(&out, NULL, '{');
    nnv_record_place(&out);
    nnv_json_close(&out, '}');
    json_t *members = place.failed ? NULL : json_loads(place.data, 0, NULL);
    if (j && members) json_object_update(j, members);
    char instructions[256];
    nnv_machine_instructions("", instructions, sizeof instructions);
    if (j) json_object_set_new(j, "instructions", json_string(instructions));
    if (j) json_object_set(j, "conditions", b->conditions);
    if (j && b->roof.known) json_object_set_new(j, "roof", nnv_roof_json(&b->roof));
    if (j) json_object_set_new(j, "argv", argv);
    json_decref(members);
    nnv_text_free(&place);
    return j;
}

static enum nnv_status write_json(const struct bench *b, struct nnv_err *err) {
    json_t *j = rows_json(b);
    char *text = j ? json_dumps(j, JSON_INDENT(1)) : NULL;
    enum nnv_status st = nnv_cli_make_out(&b->cli, err);
    if (st == NNV_OK && !text) st = nnv_no_memory(err);
    if (st == NNV_OK)
        st = nnv_file_write_text(b->cli.out, "bench.json", &(struct nnv_text){.data = text, .len = strlen(text)}, err);
    if (st == NNV_OK && b->cli.json) puts(text);
    free(text);
    json_decref(j);
    return st;
}

static enum nnv_status write_pages(const struct bench *b, struct nnv_err *err) {
    struct nnv_bench_sheet *sheet = NULL;
    enum nnv_status st = nnv_bench_load(b->cli.out, &sheet, err);
    if (st == NNV_OK) st = nnv_bench_html(sheet, err);
    if (st == NNV_OK) st = nnv_bench_junit(sheet, err);
    struct nnv_text standings = {0};
    if (st == NNV_OK && !b->cli.json) nnv_bench_standings(sheet, &standings);
    if (standings.len > 0 && !standings.failed) printf("\n%s\n", standings.data);
    nnv_text_free(&standings);
    nnv_bench_free(sheet);
    return st;
}

/* --------------------------------------------------------------------- options */

static enum nnv_status take_driver(struct bench *b, char *name, struct nnv_err *err) {
    if (b->driver_count == MOST_DRIVERS) return nnv_fail(err, NNV_INVALID, "at most %d drivers at once", MOST_DRIVERS);
    struct nnv_cli one = b->cli;
    one.driver = b->drivers[b->driver_count] = name;
    enum nnv_status st = nnv_cli_config(&one, b->cli.arena, &b->configs[b->driver_count], err);
    b->driver_count += st == NNV_OK;
    return st;
}

/** Splits and resolves the drivers. Options have commas, too: what names no driver belongs to the one before. */
static enum nnv_status find_drivers(struct bench *b, struct nnv_err *err) {
    enum nnv_status st = nnv_cli_need_driver(&b->cli, err);
    char *copy = st == NNV_OK ? nnv_arena_strdup(b->cli.arena, b->cli.driver) : NULL, *rest = NULL;
    if (!copy) return st == NNV_OK ? nnv_no_memory(err) : st;
    for (char *name = strtok_r(copy, ",", &rest); name; name = strtok_r(NULL, ",", &rest)) {
        st = take_driver(b, name, err);
        if (st == NNV_INVALID && b->driver_count && strchr(b->drivers[b->driver_count - 1], ':')) {
            name[-1] = ',';
            st = take_driver(b, b->drivers[--b->driver_count], err);
        }
        if (st != NNV_OK) return st;
    }
    return b->driver_count ? NNV_OK : nnv_fail(err, NNV_INVALID, "--driver names none");
}

/** A number above 0 where the option is given. */
static enum nnv_status take_number(const char *option, const char *text, double *to, struct nnv_err *err) {
    char *end;
    if (!text) return NNV_OK;
    *to = strtod(text, &end);
    if (end == text || *end || !(*to > 0) || !isfinite(*to))
        return nnv_fail(err, NNV_INVALID, "--%s %s: expected a number above 0", option, text);
    return NNV_OK;
}

static enum nnv_status take_options(struct bench *b, struct nnv_err *err) {
    enum nnv_status st = take_number("rate", b->rate, &b->options.rate, err);
    if (st == NNV_OK) st = take_number("max-latency-ratio", b->most_ratio, &b->gates.most_ratio, err);
    if (st == NNV_OK) st = take_number("min-agreement", b->least_agreement, &b->gates.least_agreement, err);
    if (st != NNV_OK) return st;
    if (b->gates.least_agreement > 1)
        return nnv_fail(err, NNV_INVALID, "--min-agreement %s: a share of the items, at most 1", b->least_agreement);
    if (b->streams < 1 || b->streams > 256) return nnv_fail(err, NNV_INVALID, "--streams: 1 to 256");
    if (b->least < 1 || b->least > NNV_BENCH_MOST_SAMPLES)
        return nnv_fail(err, NNV_INVALID, "--samples: 1 to %d", NNV_BENCH_MOST_SAMPLES);
    if (b->no_accuracy && b->no_latency)
        return nnv_fail(err, NNV_INVALID, "--no-latency and --no-accuracy leave nothing");
    if (b->peak) {
        b->roofline = true;
        st = nnv_roof_state(b->peak, &b->roof, err);
        if (st != NNV_OK) return nnv_at(err, st, "--peak");
    }
    if (b->roofline && (b->no_latency || b->scenario != NNV_SCENARIO_SINGLE))
        return nnv_fail(err, NNV_INVALID, "--roofline needs latencies, of the scenario single");
    b->options.scenario = (enum nnv_scenario)b->scenario;
    b->options.mode = (enum nnv_mode)b->mode;
    b->options.streams = (uint32_t)b->streams;
    b->options.least = (uint32_t)b->least;
    b->options.seed = b->cli.seed;
    b->options.timeout_ns = b->cli.timeout_ns;
    b->options.progress = on_progress;
    b->options.context = b;
    return NNV_OK;
}

/** All networks that were asked for, or those by default. */
static enum nnv_status run_networks(struct bench *b, struct nnv_err *err) {
    const char *names[MOST_NETWORKS];
    size_t n = 0;
    for (int i = 0; i < b->cli.positional.count && n < MOST_NETWORKS; i++) names[n++] = b->cli.positional.item[i];
    for (size_t i = 0; b->cli.positional.count == 0 && i < nnv_network_count; i++)
        if (nnv_networks[i].by_default) names[n++] = nnv_networks[i].name;
    b->rows = NNV_NEW(b->cli.arena, struct nnv_bench_row, n * (size_t)b->driver_count);
    if (!b->rows) return nnv_no_memory(err);
    struct nnv_signals signals;
    enum nnv_status st = NNV_OK;
    nnv_signals_take(&signals, NULL);
    for (size_t i = 0; i < n && st == NNV_OK && nnv_signals_interrupts() == 0; i++) st = run_network(b, names[i], err);
    b->interrupted = nnv_signals_interrupts() > 0;
    nnv_signals_give_back(&signals);
    return st;
}

static enum nnv_status bench(void *own, struct nnv_err *err) {
    struct bench *b = own;
    struct nnv_cli *c = &b->cli;
    struct nnv_text csv = {0};
    size_t failed = 0;
    if (c->list) return list_networks(c);
    b->options.early_stop = !b->whole;
    b->options.cold = true;
    b->terminal = isatty(STDERR_FILENO) == 1;
    enum nnv_status st = take_options(b, err);
    if (st == NNV_OK && b->model && c->positional.count < NNV_OPT_LIST_MAX)
        c->positional.item[c->positional.count++] = b->model;
    if (st == NNV_OK) st = find_drivers(b, err);
    if (st == NNV_OK) st = nnv_file_try(c->out, true, err); /* before minutes are spent */
    json_t *before = nnv_machine_state("");
    if (st == NNV_OK && b->roofline) {
        if (!b->roof.stated) nnv_roof_measure(&b->roof);
        if (!c->json) nnv_bench_show_roof(&b->roof);
    }
    if (st == NNV_OK) st = run_networks(b, err);
    b->conditions = json_pack("{s:o,s:o}", "before", before, "after", nnv_machine_state(""));
    if (st == NNV_OK) st = write_json(b, err);
    if (st == NNV_OK) st = write_pages(b, err);
    json_decref(b->conditions);
    if (st == NNV_OK && b->csv) {
        nnv_bench_csv(b->rows, b->row_count, &csv);
        st = nnv_file_write_text(NULL, b->csv, &csv, err);
        nnv_text_free(&csv);
    }
    for (size_t i = 0; i < b->row_count; i++) {
        failed += b->rows[i].failed;
        json_decref(b->rows[i].layers);
    }
    if (st == NNV_OK && !c->json)
        printf("%zu measured, %zu failed; report: %s/report.html\n", b->row_count, failed, c->out);
    if (failed) c->code = NNVTS_EXIT_FAIL;
    if (st == NNV_OK && b->interrupted) {
        fprintf(stderr, "nnvts: interrupted; the report has what was measured\n");
        c->code = 130;
    }
    return st;
}

static int run(int argc, char **argv) {
    struct bench b = {.cli = nnv_cli_defaults(), .streams = 2, .least = 30, .options = {.time_ns = 2000000000}};
    b.cli.out = "nnvts-bench";
    b.cli.timeout_ns = UINT64_C(120000000000);
    b.options.preference = ANEURALNETWORKS_PREFER_SUSTAINED_SPEED;
    const struct nnv_opt table[] = {
        {'d', "driver", NNV_OPT_CODE, &b.cli.driver, "A[,B...]", "drivers; others are compared with the first", NULL},
        {'m', "model", NNV_OPT_STRING, &b.model, "NAME|FILE", "one network (more of them: as arguments)", NULL},
        {0, "data", NNV_OPT_STRING, &b.data, "DIR|NAME",
         "pictures, speech, random, or a folder; default: the network's", NULL},
        {0, "count", NNV_OPT_U64, &b.cli.count, "N", "at most so many items of the data", NULL},
        {0, "scenario", NNV_OPT_CHOICE, &b.scenario, "S", "how executions arrive", nnv_scenario_names},
        {0, "mode", NNV_OPT_CHOICE, &b.mode, "MODE", "execution mode", nnv_bench_modes},
        {0, "streams", NNV_OPT_U64, &b.streams, "N", "executions at once (not single)", NULL},
        {0, "rate", NNV_OPT_STRING, &b.rate, "R",
         "poisson: arrivals a second; default: 0.7 of what is served without pause", NULL},
        {0, "time", NNV_OPT_SECONDS, &b.options.time_ns, "S", "seconds of measuring, at most", NULL},
        {0, "samples", NNV_OPT_U64, &b.least, "N", "executions, at least", NULL},
        {0, "whole-time", NNV_OPT_FLAG, &b.whole, NULL, "go on for --time even when the quantiles are known", NULL},
        {0, "no-accuracy", NNV_OPT_FLAG, &b.no_accuracy, NULL, "latency alone", NULL},
        {0, "no-latency", NNV_OPT_FLAG, &b.no_latency, NULL, "accuracy alone", NULL},
        {0, "layers", NNV_OPT_FLAG, &b.layers, NULL, "judge every operation by itself, too", NULL},
        {0, "roofline", NNV_OPT_FLAG, &b.roofline, NULL,
         "operations and bytes a second, and of what the machine can do; with --layers of each operation", NULL},
        {0, "peak", NNV_OPT_STRING, &b.peak, "GFLOPS,GBPS", "--roofline of this peak instead of a measured one", NULL},
        {0, "max-latency-ratio", NNV_OPT_STRING, &b.most_ratio, "R", "gate: median, by that of the first driver", NULL},
        {0, "min-agreement", NNV_OPT_STRING, &b.least_agreement, "A", "gate: share of items with the reference's class",
         NULL},
        {0, "list", NNV_OPT_FLAG, &b.cli.list, NULL, "the networks that are part of nnvts", NULL},
        {0, "csv", NNV_OPT_OUT, &b.csv, "FILE", "the results as a table, too", NULL},
        NNV_OPTION_SEED(b.cli),
        NNV_OPTION_JOBS(b.cli),
        NNV_OPTION_TIMEOUT(b.cli),
        NNV_OPTION_OUT(b.cli),
        NNV_OPTION_JSON(b.cli),
        NNV_OPTION_END,
    };
    return nnv_cli_run(&b.cli, table, &help, NNV_OPT_LIST_MAX, argc, argv, bench, &b);
}

const struct nnv_verb nnv_verb_bench = {"bench", "real models", "latency and accuracy on whole networks", run};
