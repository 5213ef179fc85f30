/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file bench_layers.c The driver "cpu" beside the drivers over engines, the engines' own interfaces without a driver
 * (oneDNN, XNNPACK), the golden reference and the peak of the processor: single layers, all convolutions of networks,
 * and whole networks, in turns within one process.
 * Usage: bench_layers DRIVERS [--threads N] [FILTER]; DRIVERS: the folder that holds cpu.so.
 * bench_layers DRIVERS --gain N [FILTER]: the driver cpu alone, N threads over one, where one takes 0.2 ms or more;
 * and what N runs apart get done, which is what the processors allow.
 * bench_layers DRIVERS --runs N OPTIONS FILTER: the driver cpu alone, with OPTIONS, runs what is chosen N times;
 * nothing is measured (tools/instructions.sh counts).
 *
 * Drivers are measured from request to answer, engines from their call to its return. A quantised input has a zero
 * point. Engines take networks in the memory formats that they like best.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/clock.h"
#include "harness/bench/peak.h"
#include "mlts/networks/mobilenet.h"
#include "reference/model/builder.h"
#include "reference/model/work.h"
#include "reference/eval/eval.h"
#include "tests/bench/rival_apart.h"
#include "tests/bench/rival_driver.h"
#include "tests/bench/rival_onednn.h"
#include "tests/bench/rival_xnnpack.h"

enum {
    MOST_SAMPLES = 300,
    LEAST_SAMPLES = 15,
    SAMPLE_NS = 150000,
    CASE_NS = 900000000,
    MOST_RIVALS = 5,
    GOLDEN = 2,
    REST_US = 100000,
    LONG_NS = 200000
};

static int by_value(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* --------------------------------------------------------------------- models */

/** One layer; depthwise: a filter a channel. fully connected: side 1, no filter. */
struct layer {
    const char *name;
    uint32_t side, channels, outputs, filter, stride;
    bool depthwise;
};

static const struct layer layers[] = {
    {"conv 3x3 56x56x64-64", 56, 64, 64, 3, 1, false},      {"pointwise 28x28x256-256", 28, 256, 256, 1, 1, false},
    {"depthwise 3x3 112x112x32", 112, 32, 32, 3, 1, true},  {"fully connected 1024-1000", 1, 1024, 1000, 0, 1, false},
    {"conv 3x3/2 224x224x3-32", 224, 3, 32, 3, 2, false},   {"depthwise 3x3/2 112x112x96", 112, 96, 96, 3, 2, true},
    {"depthwise 3x3 56x56x144", 56, 144, 144, 3, 1, true},  {"depthwise 3x3 28x28x192", 28, 192, 192, 3, 1, true},
    {"depthwise 3x3 14x14x384", 14, 384, 384, 3, 1, true},  {"depthwise 3x3 14x14x512", 14, 512, 512, 3, 1, true},
    {"depthwise 3x3 7x7x960", 7, 960, 960, 3, 1, true},     {"depthwise 3x3/2 112x112x64", 112, 64, 64, 3, 2, true},
    {"depthwise 3x3 56x56x128", 56, 128, 128, 3, 1, true},  {"depthwise 3x3/2 14x14x512", 14, 512, 512, 3, 2, true},
    {"depthwise 3x3 7x7x1024", 7, 1024, 1024, 3, 1, true},  {"pointwise 112x112x32-16", 112, 32, 16, 1, 1, false},
    {"pointwise 112x112x16-96", 112, 16, 96, 1, 1, false},  {"pointwise 56x56x24-144", 56, 24, 144, 1, 1, false},
    {"pointwise 28x28x192-32", 28, 192, 32, 1, 1, false},   {"pointwise 14x14x96-576", 14, 96, 576, 1, 1, false},
    {"pointwise 7x7x960-320", 7, 960, 320, 1, 1, false},    {"conv 7x7/2 224x224x3-64", 224, 3, 64, 7, 2, false},
    {"conv 3x3 28x28x128-128", 28, 128, 128, 3, 1, false},  {"conv 3x3/2 56x56x64-128", 56, 64, 128, 3, 2, false},
    {"conv 3x3 14x14x256-256", 14, 256, 256, 3, 1, false},  {"conv 3x3 7x7x512-512", 7, 512, 512, 3, 1, false},
    {"pointwise/2 56x56x64-128", 56, 64, 128, 1, 2, false},
};

static enum nnv_status build_layer(const struct layer *l, int32_t type, struct nnv_arena *arena, struct nnv_model *m,
                                   struct nnv_err *err) {
    struct nnv_builder b = {.arena = arena, .seed = 7};
    const bool quant = type != ANEURALNETWORKS_TENSOR_FLOAT32, dense = l->filter == 0;
    const double terms = (dense ? 1 : (double)l->filter * l->filter) * (l->depthwise ? 1 : l->channels);
    const double deviation = 1 / sqrt(terms);
    const struct nnv_encoding x = {type, quant ? 2.0f / 255 : 0, quant ? 128 : 0};
    const struct nnv_encoding w = {type, quant ? (float)(8 * deviation / 255) : 0, quant ? 128 : 0};
    const struct nnv_encoding y = {type, quant ? 4.0f / 255 : 0, quant ? 121 : 0};
    const struct nnv_encoding c = {quant ? ANEURALNETWORKS_TENSOR_INT32 : type, quant ? x.scale * w.scale : 0, 0};
    const uint32_t out = (l->side + l->stride - 1) / l->stride;
    const uint32_t from[] = {1, l->side, l->side, l->channels}, to[] = {1, out, out, l->outputs};
    const uint32_t flat_from[] = {1, l->channels}, flat_to[] = {1, l->outputs}, matrix[] = {l->outputs, l->channels};
    const uint32_t filter[] = {l->depthwise ? 1 : l->outputs, l->filter, l->filter, l->channels};
    uint32_t in[8], n = 0;
    in[n++] = nnv_builder_tensor(&b, x, dense ? 2 : 4, dense ? flat_from : from, NNV_SUBGRAPH_INPUT);
    in[n++] = nnv_builder_weights(&b, w, dense ? 2 : 4, dense ? matrix : filter, deviation);
    in[n++] = nnv_builder_weights(&b, c, 1, &l->outputs, 0.1);
    if (!dense) {
        in[n++] = nnv_builder_int(&b, ANEURALNETWORKS_PADDING_SAME);
        in[n++] = nnv_builder_int(&b, (int32_t)l->stride);
        in[n++] = nnv_builder_int(&b, (int32_t)l->stride);
    }
    if (l->depthwise) in[n++] = nnv_builder_int(&b, 1);
    in[n++] = nnv_builder_int(&b, ANEURALNETWORKS_FUSED_NONE);
    const uint32_t result = nnv_builder_tensor(&b, y, dense ? 2 : 4, dense ? flat_to : to, NNV_SUBGRAPH_OUTPUT);
    nnv_builder_add(&b,
                    dense          ? ANEURALNETWORKS_FULLY_CONNECTED
                    : l->depthwise ? ANEURALNETWORKS_DEPTHWISE_CONV_2D
                                   : ANEURALNETWORKS_CONV_2D,
                    n, in, result);
    return nnv_builder_end(&b, 1, in, 1, &result, m, err);
}

/** Arithmetic operations of a model. */
static double operations_of(const struct nnv_model *m, struct nnv_err *err) {
    struct nnv_arena *arena = nnv_arena_new();
    struct nnv_op_work *each = arena ? NNV_NEW(arena, struct nnv_op_work, m->main.noperations) : NULL, whole;
    const enum nnv_status st = each ? nnv_model_work(m, arena, each, &whole, err) : nnv_no_memory(err);
    rival_must(st == NNV_OK, "work", err->text, (int)st);
    nnv_arena_free(arena);
    return whole.operations;
}

/**
 * The convolutions and fully connected layers of a network alone: what other operations make becomes an input, what
 * only they read an output.
 */
static enum nnv_status products_only(struct nnv_model *m, struct nnv_arena *a, struct nnv_err *err) {
    struct nnv_subgraph *g = &m->main;
    enum { MADE = 1, READ = 2 };
    uint8_t *seen = NNV_NEW(a, uint8_t, g->noperands);
    uint32_t *in = NNV_NEW(a, uint32_t, g->noperands), *out = NNV_NEW(a, uint32_t, g->noperands), kept = 0;
    if (!seen || !in || !out) return nnv_no_memory(err);
    for (uint32_t i = 0; i < g->noperations; i++) {
        const struct nnv_operation *o = &g->operations[i];
        if (o->type != ANEURALNETWORKS_CONV_2D && o->type != ANEURALNETWORKS_DEPTHWISE_CONV_2D &&
            o->type != ANEURALNETWORKS_FULLY_CONNECTED)
            continue;
        seen[o->in[0]] |= READ;
        seen[o->out[0]] |= MADE;
        g->operations[kept++] = *o;
    }
    g->noperations = kept;
    g->nin = g->nout = 0;
    for (uint32_t i = 0; i < g->noperands; i++) {
        struct nnv_operand *o = &g->operands[i];
        if (nnv_is_constant(o)) continue;
        if (!seen[i]) { /* of no operation any more: a constant may be without use */
            *o = g->operands[g->operations[0].in[g->operations[0].nin - 1]];
            continue;
        }
        o->lifetime = seen[i] == READ   ? NNV_SUBGRAPH_INPUT
                      : seen[i] == MADE ? NNV_SUBGRAPH_OUTPUT
                                        : NNV_TEMPORARY_VARIABLE;
        if (seen[i] == READ) in[g->nin++] = i;
        if (seen[i] == MADE) out[g->nout++] = i;
    }
    g->in = in;
    g->out = out;
    return NNV_OK;
}

/* ----------------------------------------------------------------- comparisons */

/** Who takes part, the driver cpu first; which of them are a driver and the engine behind it. */
struct field {
    struct rival rivals[MOST_RIVALS];
    int n;
    struct nnv_peak peak;
    const char *filter;
    uint32_t runs; /**< of the driver cpu alone; 0: all are measured */
    bool gain;     /**< the driver cpu alone: rival 0 with threads over rival 1 with one, beside `apart` */
    struct rival apart[APART_MOST];
};

static void repeat(const struct rival *r, const struct nnv_model *m, uint32_t runs) {
    void *state = r->open(r, m);
    rival_must(state, r->name, "it does not take the model", 0);
    for (uint32_t i = 0; i < runs; i++) r->run(state);
    r->close(state);
}

/** Nanoseconds of one run. */
static double time_rival(const struct rival *r, void *state, uint32_t times) {
    const uint64_t begun = nnv_now_ns();
    for (uint32_t i = 0; i < times; i++) r->run(state);
    return (double)(nnv_now_ns() - begun) / times;
}

/** Threads of others spin on for a while: once they sleep, a run that is not measured wakes the rival's own. */
static void settle(const struct field *f, int k, void *state) {
    if (f->rivals[0].threads == 1) return;
    usleep(REST_US);
    f->rivals[k].run(state);
}

/** Nanoseconds of the golden result, the best of a few. */
static double time_golden(const struct nnv_model *m, struct nnv_err *err) {
    static const struct nnv_eval_options options = {.rows = 0};
    double best = 0;
    for (int i = 0; i < GOLDEN; i++) {
        struct nnv_arena *a = nnv_arena_new();
        rival_must(a, "golden", "memory", 0);
        struct nnv_value *in;
        struct nnv_golden *out = NNV_NEW(a, struct nnv_golden, m->main.nout);
        rival_must(out && make_inputs(m, a, &in, err) == NNV_OK, "golden", "inputs", 0);
        const uint64_t begun = nnv_now_ns();
        rival_must(nnv_eval(m, in, &options, a, out, err) == NNV_OK, "golden", err->text, 0);
        const double ns = (double)(nnv_now_ns() - begun);
        best = i == 0 || ns < best ? ns : best;
        nnv_arena_free(a);
    }
    return best;
}

static double median(double *x, uint32_t n) {
    qsort(x, n, sizeof *x, by_value);
    return x[n / 2];
}

static double least(const double *x, uint32_t n) {
    double best = x[0];
    for (uint32_t i = 1; i < n; i++) best = x[i] < best ? x[i] : best;
    return best;
}

/** Samples of all rivals in turns: how many. A state of NULL: the rival does not take the model. */
static uint32_t take_samples(const struct field *f, void *const *state, double (*sample)[MOST_SAMPLES]) {
    uint32_t times[MOST_RIVALS], n = 0;
    for (int k = 0; k < f->n; k++) {
        if (!state[k]) continue;
        time_rival(&f->rivals[k], state[k], 3);
        const double once = time_rival(&f->rivals[k], state[k], 1);
        times[k] = once < SAMPLE_NS ? (uint32_t)(SAMPLE_NS / once) + 1 : 1;
    }
    const uint64_t begun = nnv_now_ns();
    for (; n < MOST_SAMPLES && (n < LEAST_SAMPLES || nnv_now_ns() - begun < CASE_NS); n++)
        for (int k = 0; k < f->n; k++) {
            if (!state[k]) continue;
            settle(f, k, state[k]);
            sample[k][n] = time_rival(&f->rivals[k], state[k], times[k]);
        }
    return n;
}

/** Prints a line: least ms of one thread and of more, how many times faster those are, and runs apart (medians). */
static void compare_threads(const struct field *f, const char *name, const char *type, const struct nnv_model *m) {
    static double sample[3][MOST_SAMPLES], faster[MOST_SAMPLES], apart[MOST_SAMPLES];
    void *state[3];
    for (int k = 0; k < 3; k++) rival_must((state[k] = f->rivals[k].open(&f->rivals[k], m)), "cpu", name, 0);
    for (int i = 0; i < LEAST_SAMPLES; i++) sample[1][i] = time_rival(&f->rivals[1], state[1], 1);
    if (least(sample[1], LEAST_SAMPLES) >= LONG_NS) {
        const uint32_t n = take_samples(f, state, sample);
        for (uint32_t i = 0; i < n; i++) {
            faster[i] = sample[1][i] / sample[0][i];
            apart[i] = f->rivals[2].threads * sample[1][i] / sample[2][i];
        }
        printf("  %-26s %-7s %8.4f %8.4f %6.2f %6.2f\n", name, type, least(sample[1], n) / 1e6,
               least(sample[0], n) / 1e6, median(faster, n), median(apart, n));
        fflush(stdout);
    }
    for (int k = 0; k < 3; k++) f->rivals[k].close(state[k]);
}

/** Prints a line: least ms and per cent of the peak; ratios are medians of pairs. */
static void compare(const struct field *f, const char *name, const char *type, const struct nnv_model *m, double peak,
                    struct nnv_err *err) {
    static double sample[MOST_RIVALS][MOST_SAMPLES], ratio[MOST_SAMPLES];
    void *state[MOST_RIVALS];
    const double operations = operations_of(m, err);
    for (int k = 0; k < f->n; k++) state[k] = f->rivals[k].open(&f->rivals[k], m);
    const uint32_t n = take_samples(f, state, sample);
    printf("  %-26s %-7s", name, type);
    for (int k = 0; k < f->n; k++) {
        for (uint32_t i = 0; i < n && state[k]; i++) ratio[i] = sample[0][i] / sample[k][i];
        const double pairs = state[k] ? median(ratio, n) : 0;
        const double best = state[k] ? least(sample[k], n) : 0;
        if (!state[k])
            printf("  %21s", "-");
        else if (k == 0)
            printf(" %8.4f %3.0f %%", best / 1e6, 100 * operations / best / peak);
        else
            printf("  %8.4f %3.0f %% %6.2f", best / 1e6, 100 * operations / best / peak, pairs);
        if (state[k]) f->rivals[k].close(state[k]);
    }
    printf("  %9.2f\n", time_golden(m, err) / 1e6);
    for (int k = 0; k < f->n; k++) /* a driver "xnnpack" and the engine behind it */
        for (int e = 0; e < f->n; e++) {
            if (e == k || strcasecmp(f->rivals[k].name, f->rivals[e].name) != 0 || !f->rivals[k].own) continue;
            if (!state[k] || !state[e]) continue;
            for (uint32_t i = 0; i < n; i++) ratio[i] = sample[k][i] / sample[e][i];
            printf("%36s driver %s over %s itself: %.3f\n", "", f->rivals[k].name, f->rivals[e].name, median(ratio, n));
        }
    fflush(stdout);
}

/** Name and type contain the filter's words. */
static bool wanted(const char *filter, const char *name, const char *type) {
    char line[128];
    snprintf(line, sizeof line, "%s %s", name, type);
    return !filter || strstr(line, filter);
}

/** Row i: a layer, the convolutions of a network, or a network; false: there is none. */
static bool make_row(size_t i, int32_t type, struct nnv_arena *a, const char **name, struct nnv_model *m,
                     enum nnv_status *st, struct nnv_err *err) {
    static const char *const nets[] = {"all convolutions of v1", "all convolutions of v2", "MobileNet v1 1.0 224",
                                       "MobileNet v2 1.0 224"};
    const size_t n = sizeof layers / sizeof *layers;
    if (i >= n + sizeof nets / sizeof *nets) return false;
    *name = i < n ? layers[i].name : nets[i - n];
    if (!a) return true;
    if (i < n) {
        *st = build_layer(&layers[i], type, a, m, err);
        return true;
    }
    const struct nnv_mobilenet net = {(int)(i - n) % 2 + 1, 1.0, 224, {type, false}, 1001, 1};
    *st = nnv_mobilenet_build(&net, a, m, err);
    if (!*st && i < n + 2) *st = products_only(m, a, err);
    return true;
}

static void print_head(const struct field *f) {
    if (f->gain) {
        printf(
            "driver cpu, %d threads over one, where one takes 0.2 ms: least ms of one, of %d, times faster (median of "
            "pairs), and what %d runs apart get done in the time of one: what the processors allow\n",
            f->rivals[0].threads, f->rivals[0].threads, f->rivals[0].threads);
        return;
    }
    printf("%d thread%s; measured peak: %.0f Gop/s float32, %.0f Gop/s int8 (two operations a multiplication)\n",
           f->rivals[0].threads, f->rivals[0].threads == 1 ? "" : "s", f->peak.float32, f->peak.int8);
    puts(
        "least ms, per cent of one core's peak, and cpu's time over theirs (median of pairs); small letters: a driver");
    printf("  %-26s %-7s %-14s", "layer", "type", " cpu");
    for (int k = 1; k < f->n; k++) printf("  %-21s", f->rivals[k].name);
    puts("  golden ms");
}

static enum nnv_status run(const struct field *f, struct nnv_err *err) {
    static const struct {
        int32_t type;
        const char *name;
    } types[] = {{ANEURALNETWORKS_TENSOR_FLOAT32, "float32"}, {ANEURALNETWORKS_TENSOR_QUANT8_ASYMM, "quant8"}};
    if (!f->runs) print_head(f);
    for (size_t t = 0; t < sizeof types / sizeof *types; t++) {
        const char *name;
        struct nnv_model m;
        enum nnv_status st = NNV_OK;
        for (size_t i = 0; make_row(i, types[t].type, NULL, &name, &m, &st, err); i++) {
            if (!wanted(f->filter, name, types[t].name)) continue;
            struct nnv_arena *arena = nnv_arena_new();
            if (!arena) return nnv_no_memory(err);
            make_row(i, types[t].type, arena, &name, &m, &st, err);
            if (!st && f->runs) repeat(&f->rivals[0], &m, f->runs);
            if (!st && f->gain) compare_threads(f, name, types[t].name, &m);
            if (!st && !f->runs && !f->gain)
                compare(f, name, types[t].name, &m, t ? f->peak.int8 : f->peak.float32, err);
            nnv_arena_free(arena);
            if (st) return st;
        }
    }
    return NNV_OK;
}

static void join_cpu(struct rival *r, const char *folder, const char *options, int threads, struct nnv_err *err) {
    rival_must(rival_driver(r, folder, "cpu", options, err), "cpu", "no such driver", 0);
    r->threads = threads;
}

static void join(struct field *f, const char *folder, int threads, struct nnv_err *err) {
    char options[64];
    snprintf(options, sizeof options, "threads=%d", threads);
    join_cpu(&f->rivals[f->n++], folder, options, threads, err);
    if (f->gain) {
        join_cpu(&f->rivals[f->n++], folder, "threads=1", 1, err);
        for (int i = 0; i < threads; i++) join_cpu(&f->apart[i], folder, "threads=1", 1, err);
        f->rivals[f->n++] = rival_apart(f->apart, threads);
        return;
    }
    f->n += rival_driver(&f->rivals[f->n], folder, "onednn", options, err);
    f->n += rival_onednn(&f->rivals[f->n]);
    f->n += rival_driver(&f->rivals[f->n], folder, "xnnpack", options, err);
    f->n += rival_xnnpack(&f->rivals[f->n]);
    for (int k = 0; k < f->n; k++) f->rivals[k].threads = threads;
    f->peak = nnv_peak_measure();
}

static void leave(struct rival *r) {
    if (!r->own) return;
    nnv_client_close(&((struct driver *)r->own)->client);
    free(r->own);
}

int main(int argc, char **argv) {
    int threads = 1, at = 2;
    const bool counted = argc == 6 && !strcmp(argv[2], "--runs"), gain = argc > 3 && !strcmp(argv[2], "--gain");
    if (gain || (argc > 3 && !strcmp(argv[2], "--threads"))) {
        threads = atoi(argv[3]);
        at = 4;
    }
    struct field f = {.filter = counted     ? argv[5]
                                : argc > at ? argv[at]
                                            : NULL,
                      .runs = counted ? (uint32_t)atoi(argv[3]) : 0,
                      .gain = gain};
    if (argc < 2 || (argc > at + 1 && !f.runs) || threads < (gain ? 2 : 1) || threads > APART_MOST) {
        fprintf(stderr, "usage: bench_layers DRIVERS [--threads N | --gain N] [FILTER]\n"
                        "       bench_layers DRIVERS --runs N OPTIONS FILTER\n");
        return 2;
    }
    struct nnv_err err = {0};
    if (f.runs)
        join_cpu(&f.rivals[f.n++], argv[1], argv[4], 1, &err);
    else
        join(&f, argv[1], threads, &err);
    const enum nnv_status st = run(&f, &err);
    if (st) fprintf(stderr, "bench_layers: %s\n", err.text);
    for (int k = 0; k < f.n; k++)
        if (f.rivals[k].open != apart_open) leave(&f.rivals[k]);
    for (int i = 0; i < APART_MOST; i++) leave(&f.apart[i]);
    return st ? 1 : 0;
}
