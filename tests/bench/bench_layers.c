/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file bench_layers.c The driver "cpu" beside oneDNN and the peak of the processor: single layers, and all
 * convolutions of whole networks, one thread, in turns within one process. Usage: bench_layers DRIVER [FILTER]
 *
 * What oneDNN gets is its convolutions and inner products alone, each in the memory format it likes best; the driver is
 * measured from request to answer. A quantised input has a zero point.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/rng.h"
#include "harness/bench/lane.h"
#include "mlts/mobilenet.h"
#include "reference/model/builder.h"
#include "tests/bench/engine.h"
#include "tests/bench/peak.h"

enum { MOST_SAMPLES = 400, LEAST_SAMPLES = 20, SAMPLE_NS = 150000, CASE_NS = 700000000 };

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
    {"conv 3x3 56x56x64-64", 56, 64, 64, 3, 1, false},     {"pointwise 28x28x256-256", 28, 256, 256, 1, 1, false},
    {"depthwise 3x3 112x112x32", 112, 32, 32, 3, 1, true}, {"fully connected 1024-1000", 1, 1024, 1000, 0, 1, false},
    {"conv 3x3/2 224x224x3-32", 224, 3, 32, 3, 2, false},  {"depthwise 3x3/2 112x112x96", 112, 96, 96, 3, 2, true},
    {"depthwise 3x3 56x56x144", 56, 144, 144, 3, 1, true}, {"depthwise 3x3 28x28x192", 28, 192, 192, 3, 1, true},
    {"depthwise 3x3 14x14x384", 14, 384, 384, 3, 1, true}, {"depthwise 3x3 14x14x512", 14, 512, 512, 3, 1, true},
    {"depthwise 3x3 7x7x960", 7, 960, 960, 3, 1, true},    {"depthwise 3x3/2 112x112x64", 112, 64, 64, 3, 2, true},
    {"depthwise 3x3 56x56x128", 56, 128, 128, 3, 1, true}, {"depthwise 3x3/2 14x14x512", 14, 512, 512, 3, 2, true},
    {"depthwise 3x3 7x7x1024", 7, 1024, 1024, 3, 1, true}, {"pointwise 112x112x32-16", 112, 32, 16, 1, 1, false},
    {"pointwise 112x112x16-96", 112, 16, 96, 1, 1, false}, {"pointwise 56x56x24-144", 56, 24, 144, 1, 1, false},
    {"pointwise 28x28x192-32", 28, 192, 32, 1, 1, false},  {"pointwise 14x14x96-576", 14, 96, 576, 1, 1, false},
    {"pointwise 7x7x960-320", 7, 960, 320, 1, 1, false},
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

/** Multiplications of all convolutions and fully connected layers. */
static double products_of(const struct nnv_model *m) {
    double sum = 0;
    for (uint32_t i = 0; i < m->main.noperations; i++) {
        const struct nnv_operation *o = &m->main.operations[i];
        const struct nnv_operand *w = &m->main.operands[o->in[1]], *y = &m->main.operands[o->out[0]];
        double pixels = 1;
        switch (o->type) {
        case ANEURALNETWORKS_CONV_2D:
        case ANEURALNETWORKS_DEPTHWISE_CONV_2D:
            pixels = (double)y->dims[1] * y->dims[2];
            sum += pixels * w->dims[0] * w->dims[1] * w->dims[2] * w->dims[3];
            break;
        case ANEURALNETWORKS_FULLY_CONNECTED:
            sum += (double)w->dims[0] * w->dims[1];
            break;
        default:
            break;
        }
    }
    return sum;
}

/* ------------------------------------------------------------------ the driver */

struct driver {
    struct nnv_client client;
    struct nnvts_prepared_model *prepared;
    struct nnv_lane lane;
};

static size_t bytes_of(const struct nnv_operand *o) {
    size_t bytes = nnv_type(o->type)->size;
    for (uint32_t i = 0; i < o->rank; i++) bytes *= o->dims[i];
    return bytes;
}

static void value_of(const struct nnv_operand *o, struct nnv_value *v) {
    *v = (struct nnv_value){.rank = o->rank, .bytes = bytes_of(o)};
    memcpy(v->dims, o->dims, o->rank * sizeof *o->dims);
}

static enum nnv_status make_input(const struct nnv_operand *o, struct nnv_arena *a, struct nnv_value *in,
                                  struct nnv_err *err) {
    const size_t size = nnv_type(o->type)->size;
    value_of(o, in);
    in->data = nnv_arena_alloc(a, in->bytes, 1);
    if (!in->data) return nnv_fail(err, NNV_NO_MEMORY, "out of memory");
    struct nnv_rng rng = nnv_rng_make(1, 2, 3);
    for (size_t i = 0; i < in->bytes / size; i++) {
        double x = nnv_rng_uniform(&rng, -1, 1);
        if (o->scale > 0) x = x / (double)o->scale + o->zero_point;
        nnv_store(o->type, &x, 1, (char *)in->data + i * size);
    }
    return NNV_OK;
}

static enum nnv_status driver_open(struct driver *d, const struct nnv_model *m, struct nnv_arena *a,
                                   struct nnv_err *err) {
    static const struct nnvts_prepare_config config = {.deadline_ns = NNVTS_NO_TIME};
    struct nnvts_device *device = d->client.device;
    struct nnvts_model model;
    char reason[NNV_BENCH_REASON];
    struct nnv_value *in = NNV_NEW(a, struct nnv_value, 1), *out = NNV_NEW(a, struct nnv_value, 1);
    const struct nnv_value **inputs = NNV_NEW(a, const struct nnv_value *, 1);
    if (!in || !out || !inputs) return nnv_fail(err, NNV_NO_MEMORY, "out of memory");
    enum nnv_status st = make_input(&m->main.operands[m->main.in[0]], a, in, err);
    if (st) return st;
    value_of(&m->main.operands[m->main.out[0]], out);
    inputs[0] = in;
    const struct nnv_bench_work work = {.model = m, .sets = 1, .inputs = inputs, .output_shapes = out};
    int fd = -1;
    st = nnv_abi_model(m, a, &model, &fd, err);
    if (st) return st;
    const bool prepared = device->prepare_model(device, &model, &config, &d->prepared) == NNVTS_STATUS_NONE;
    if (fd >= 0) close(fd);
    if (!prepared) return nnv_fail(err, NNV_INVALID, "the driver does not prepare the model");
    if (nnv_lane_open(&d->lane, &work, NNV_BENCH_PLAIN, d->prepared, a, reason) != NNV_BENCH_DONE)
        return nnv_fail(err, NNV_INVALID, "%s", reason);
    if (nnv_lane_run(&d->lane, 0) != NNVTS_STATUS_NONE)
        return nnv_fail(err, NNV_INVALID, "the driver does not execute the model");
    return NNV_OK;
}

static void driver_close(struct driver *d) {
    nnv_lane_close(&d->lane);
    if (d->prepared) d->prepared->release(d->prepared);
    d->prepared = NULL;
}

/* ----------------------------------------------------------------- comparisons */

static double time_driver(struct driver *d, uint32_t times) {
    const uint64_t begun = nnv_now_ns();
    for (uint32_t i = 0; i < times; i++)
        if (nnv_lane_run(&d->lane, 0) != NNVTS_STATUS_NONE) exit(1);
    return (double)(nnv_now_ns() - begun) / times;
}

static double time_engine(struct engine *e, uint32_t times) {
    const uint64_t begun = nnv_now_ns();
    for (uint32_t i = 0; i < times; i++) engine_run(e);
    return (double)(nnv_now_ns() - begun) / times;
}

/** Samples in turns; prints a line. peak: multiplications a nanosecond. */
static void compare(const char *name, const char *type, struct driver *d, struct engine *e, double products,
                    double peak) {
    static double mine[MOST_SAMPLES], theirs[MOST_SAMPLES], ratio[MOST_SAMPLES];
    for (int i = 0; i < 3; i++) {
        time_driver(d, 1);
        if (e) time_engine(e, 1);
    }
    const double once = time_driver(d, 1);
    const uint32_t times = once < SAMPLE_NS ? (uint32_t)(SAMPLE_NS / once) + 1 : 1;
    const uint64_t begun = nnv_now_ns();
    uint32_t n = 0;
    while (n < MOST_SAMPLES && (n < LEAST_SAMPLES || nnv_now_ns() - begun < CASE_NS)) {
        mine[n] = time_driver(d, times);
        theirs[n] = e ? time_engine(e, times) : 0;
        ratio[n] = e ? mine[n] / theirs[n] : 0;
        n++;
    }
    qsort(mine, n, sizeof *mine, by_value);
    qsort(theirs, n, sizeof *theirs, by_value);
    qsort(ratio, n, sizeof *ratio, by_value);
    printf("  %-28s %-8s %8.4f %8.4f %4.0f %%", name, type, mine[0] / 1e6, mine[n / 2] / 1e6,
           100 * products / mine[0] / peak);
    if (e)
        printf("  %8.4f %8.4f %4.0f %%   %5.2f %5.2f\n", theirs[0] / 1e6, theirs[n / 2] / 1e6,
               100 * products / theirs[0] / peak, mine[0] / theirs[0], ratio[n / 2]);
    else
        puts("");
    fflush(stdout);
}

static enum nnv_status measure(struct driver *d, const char *name, const char *type, const struct nnv_model *m,
                               const struct peak *peak, struct nnv_arena *arena, struct nnv_err *err) {
    const bool quant = m->main.operands[m->main.in[0]].type != ANEURALNETWORKS_TENSOR_FLOAT32;
    enum nnv_status st = driver_open(d, m, arena, err);
    if (st) return st;
    struct engine *e = engine_open(m);
    compare(name, type, d, e, products_of(m), quant ? peak->int8 : peak->float32);
    engine_close(e);
    driver_close(d);
    return NNV_OK;
}

/** Name and type contain the filter's words. */
static bool wanted(const char *filter, const char *name, const char *type) {
    char line[128];
    snprintf(line, sizeof line, "%s %s", name, type);
    return !filter || strstr(line, filter);
}

static enum nnv_status run(struct driver *d, const char *filter, struct nnv_err *err) {
    static const struct {
        int32_t type;
        const char *name;
    } types[] = {{ANEURALNETWORKS_TENSOR_FLOAT32, "float32"}, {ANEURALNETWORKS_TENSOR_QUANT8_ASYMM, "quant8"}};
    const struct peak peak = peak_measure();
    printf("one thread; measured peak: %.0f Gop/s float32, %.0f Gop/s int8 (two operations a multiplication)\n",
           2 * peak.float32, 2 * peak.int8);
    printf("%s; ms: least, median; per cent of the peak; ratio: of the least, median of the pairs'\n", engine_name());
    puts("  layer                        type          cpu            peak     engine          peak    ratio");
    for (size_t t = 0; t < sizeof types / sizeof *types; t++)
        for (size_t i = 0; i < sizeof layers / sizeof *layers + 2; i++) {
            const size_t n = sizeof layers / sizeof *layers;
            const char *nets[] = {"MobileNet v1 1.0 224", "MobileNet v2 1.0 224"};
            const char *name = i < n ? layers[i].name : nets[i - n];
            const struct nnv_mobilenet net = {(int)(i - n) + 1, 1.0, 224, types[t].type, 1001, 1};
            struct nnv_model m;
            if (!wanted(filter, name, types[t].name)) continue;
            struct nnv_arena *arena = nnv_arena_new();
            if (!arena) return nnv_fail(err, NNV_NO_MEMORY, "out of memory");
            enum nnv_status st = i < n ? build_layer(&layers[i], types[t].type, arena, &m, err)
                                       : nnv_mobilenet_build(&net, arena, &m, err);
            if (!st) st = measure(d, name, types[t].name, &m, &peak, arena, err);
            nnv_arena_free(arena);
            if (st) return st;
        }
    return NNV_OK;
}

int main(int argc, char **argv) {
    if (argc < 2 || argc > 3) {
        fprintf(stderr, "usage: bench_layers DRIVER [FILTER]\n");
        return 2;
    }
    if (!getenv("OMP_NUM_THREADS")) { /* oneDNN's threads are counted when it is loaded */
        setenv("OMP_NUM_THREADS", "1", 1);
        execv("/proc/self/exe", argv);
    }
    struct driver d = {0};
    struct nnv_err err = {0};
    const char *options = getenv("NNVTS_CPU_OPTIONS");
    enum nnv_status st = nnv_client_open(&d.client, argv[1], options ? options : "threads=1", &err);
    if (!st) st = run(&d, argc == 3 ? argv[2] : NULL, &err);
    if (st) fprintf(stderr, "bench_layers: %s\n", err.text);
    nnv_client_close(&d.client);
    return st ? 1 : 0;
}
