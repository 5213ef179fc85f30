/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What making a plan costs: models over four drivers that answer at once, each of which does three of eight operation
 * types; and the same over real ones, which check the model first. Processor time.  bench_plan DRIVERS
 */
#include <stdio.h>
#include <time.h>

#include "base/driver.h"
#include "tests/kit/toy.h"

enum { DRIVERS = 4, TYPES = 8 };

/** A deep graph of n operations with side branches; neighbours are often of other types. */
/** Nanoseconds of processor time of this process. */
static uint64_t cpu_ns(void) { return (uint64_t)((double)clock() * (1e9 / CLOCKS_PER_SEC)); }

static void make_model(struct toy *t, uint32_t n) {
    struct nnv_rng r = nnv_rng_make(1, n, 0);
    uint32_t *values = NNV_NEW(t->arena, uint32_t, n + 1);
    values[0] = toy_operand(t, 0, NNVTS_SUBGRAPH_INPUT, 64);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t near = i > 20 ? i - 20 : 0;
        uint32_t a = values[i], b = values[nnv_rng_int(&r, near, i)];
        values[i + 1] = toy_binary(t, 0, (int32_t)nnv_rng_int(&r, 0, TYPES - 1), a, b,
                                   i + 1 == n ? NNVTS_SUBGRAPH_OUTPUT : NNVTS_TEMPORARY_VARIABLE);
    }
    toy_end(t);
}

/** The least time of some, in ns. */
static uint64_t measure(const struct ANeuralNetworksModel *model, const struct nnv_rt_plan_options *options,
                        int times) {
    struct nnv_rt_plan *plan = NULL;
    uint64_t least = UINT64_MAX;
    for (int i = 0; i < times; i++) {
        uint64_t from = cpu_ns();
        if (nnv_rt_plan_make(model, options, &plan) != ANEURALNETWORKS_NO_ERROR) {
            fputs("bench_plan: no plan\n", stderr);
            exit(1);
        }
        uint64_t took = cpu_ns() - from;
        if (took < least) least = took;
        if (i == 0)
            printf("plan of %u operations over %zu drivers: %u steps, %u values cross, pool of %llu bytes\n",
                   model->model.main.operation_count, options->device_count - 1, plan->graphs[0].step_count,
                   plan->graphs[0].crossings, (unsigned long long)plan->graphs[0].pool_bytes);
        nnv_rt_plan_release(plan);
    }
    return least;
}

static double measure_toys(uint32_t n, int times) {
    static struct toy_device drivers[DRIVERS + 1];
    struct ANeuralNetworksDevice *devices[DRIVERS + 1];
    for (int d = 0; d < DRIVERS; d++) {
        devices[d] = toy_device(&drivers[d], "driver", 0.5f + 0.1f * (float)d, 1);
        const int32_t types[] = {d, (d + 2) % TYPES, (d + 5) % TYPES, -1};
        toy_supports_only(&drivers[d], types);
    }
    devices[DRIVERS] = toy_cpu(&drivers[DRIVERS]);
    const struct nnv_rt_plan_options options = {devices, DRIVERS + 1, ANEURALNETWORKS_PREFER_SUSTAINED_SPEED, NULL};
    struct toy t;
    toy_begin(&t, 1, n);
    make_model(&t, n);
    double took = (double)measure(&t.model, &options, times);
    toy_free(&t);
    return took;
}

/* ------------------------------------------------------------- real drivers */

/** Additions, products and activations in a row, finished. */
static ANeuralNetworksModel *real_model(uint32_t n) {
    static const uint32_t extent = 64;
    static const int32_t none = 0;
    static const int32_t types[] = {ANEURALNETWORKS_ADD,  ANEURALNETWORKS_MUL,   ANEURALNETWORKS_RELU,
                                    ANEURALNETWORKS_ADD,  ANEURALNETWORKS_RELU1, ANEURALNETWORKS_DIV,
                                    ANEURALNETWORKS_RELU6};
    const ANeuralNetworksOperandType tensor = {ANEURALNETWORKS_TENSOR_FLOAT32, 1, &extent, 0, 0};
    const ANeuralNetworksOperandType scalar = {ANEURALNETWORKS_INT32, 0, NULL, 0, 0};
    ANeuralNetworksModel *m = NULL;
    int failed = ANeuralNetworksModel_create(&m) | ANeuralNetworksModel_addOperand(m, &scalar) |
                 ANeuralNetworksModel_setOperandValue(m, 0, &none, sizeof none) |
                 ANeuralNetworksModel_addOperand(m, &tensor);
    for (uint32_t i = 0; i < n; i++) {
        int32_t type = types[i % (sizeof types / sizeof *types)];
        bool binary = type == ANEURALNETWORKS_ADD || type == ANEURALNETWORKS_MUL || type == ANEURALNETWORKS_DIV;
        const uint32_t in[] = {i + 1, binary && i > 0 ? i : 1, 0}, out = i + 2;
        failed |= ANeuralNetworksModel_addOperand(m, &tensor);
        failed |= ANeuralNetworksModel_addOperation(m, type, binary ? 3 : 1, in, 1, &out);
    }
    const uint32_t in = 1, out = n + 1;
    failed |= ANeuralNetworksModel_identifyInputsAndOutputs(m, 1, &in, 1, &out);
    failed |= ANeuralNetworksModel_finish(m);
    if (failed == ANEURALNETWORKS_NO_ERROR) return m;
    fprintf(stderr, "bench_plan: the model is refused\n");
    exit(1);
}

static double measure_real(const struct nnv_rt_plan_options *options, uint32_t n, int times) {
    ANeuralNetworksModel *m = real_model(n);
    double took = (double)measure(m, options, times);
    ANeuralNetworksModel_free(m);
    return took;
}

/** Opens the drivers of the folder and makes them the runtime's devices. */
static struct nnv_rt_plan_options open_real(const char *folder) {
    static const char *const names[DRIVERS] = {"sample.so:minimal", "sample.so:level-1.0", "sample.so:float-slow",
                                               "sample.so:level-1.1"};
    static struct ANeuralNetworksDevice *devices[DRIVERS + 1];
    struct nnvts_device *open[DRIVERS];
    struct nnv_arena *arena = nnv_arena_new();
    for (int i = 0; i < DRIVERS; i++) {
        const char *path, *options;
        struct nnv_driver driver = {0};
        struct nnv_err err = {0};
        if (nnv_driver_resolve(nnv_arena_printf(arena, "%s/%s", folder, names[i]), arena, &path, &options, &err) ||
            nnv_driver_open(&driver, path, options, &err)) {
            fprintf(stderr, "bench_plan: %s\n", err.text);
            exit(1);
        }
        open[i] = driver.device;
    }
    nnv_arena_free(arena);
    nnv_rt_device_override(open, DRIVERS);
    for (size_t i = 0; i < DRIVERS + 1; i++) devices[i] = nnv_rt_device_at(i);
    return (struct nnv_rt_plan_options){devices, DRIVERS + 1, ANEURALNETWORKS_PREFER_SUSTAINED_SPEED, NULL};
}

static void report(double small, double large) {
    printf("  1,000: %.2f ms (goal: 20); 100,000: %.0f ms (goal: 3000); time an operation grows %.2f times\n",
           small / 1e6, large / 1e6, large / 100000 / (small / 1000));
}

int main(int argc, char **argv) {
    double small = measure_toys(1000, 50), large = measure_toys(100000, 5);
    report(small, large);
    if (argc < 2) return 0;
    const struct nnv_rt_plan_options options = open_real(argv[1]);
    small = measure_real(&options, 1000, 20);
    large = measure_real(&options, 100000, 2);
    report(small, large);
    return 0;
}
