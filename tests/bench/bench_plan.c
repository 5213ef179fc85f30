/* SPDX-License-Identifier: Apache-2.0 */
/* What making a plan costs: models over four drivers, each of which does three of eight operation types. */
#include <stdio.h>

#include "base/clock.h"
#include "tests/unit/runtime_fixture.h"

enum { DRIVERS = 4, TYPES = 8 };

/** A deep graph of n operations with side branches; neighbours are often of other types. */
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

/** The least of some times, in ns. */
static uint64_t measure(uint32_t n, int times) {
    static struct toy_device drivers[DRIVERS + 1];
    struct ANeuralNetworksDevice *devices[DRIVERS + 1];
    for (int d = 0; d < DRIVERS; d++) {
        devices[d] = toy_device(&drivers[d], "driver", 0.5f + 0.1f * (float)d, 1);
        const int32_t types[] = {d, (d + 2) % TYPES, (d + 5) % TYPES, -1};
        toy_supports_only(&drivers[d], types);
    }
    devices[DRIVERS] = toy_cpu(&drivers[DRIVERS]);
    const struct nnv_rt_plan_options options = {devices, DRIVERS + 1, ANEURALNETWORKS_PREFER_SUSTAINED_SPEED};
    struct toy t;
    struct nnv_rt_plan *plan = NULL;
    uint64_t least = UINT64_MAX;
    toy_begin(&t, 1, n);
    make_model(&t, n);
    for (int i = 0; i < times; i++) {
        uint64_t from = nnv_now_ns();
        if (nnv_rt_plan_make(&t.model, &options, &plan) != ANEURALNETWORKS_NO_ERROR) {
            fputs("bench_plan: no plan\n", stderr);
            exit(1);
        }
        uint64_t took = nnv_now_ns() - from;
        if (took < least) least = took;
        if (i == 0)
            printf("plan of %u operations over %d drivers: %u steps, %u values cross, pool of %llu KiB\n", n, DRIVERS,
                   plan->graphs[0].step_count, plan->graphs[0].crossings,
                   (unsigned long long)plan->graphs[0].pool_bytes / 1024);
        nnv_rt_plan_release(plan);
    }
    toy_free(&t);
    return least;
}

int main(void) {
    double small = (double)measure(1000, 50), large = (double)measure(100000, 5);
    printf(
        "  1,000 operations: %.2f ms (goal: 20); 100,000: %.0f ms (goal: 3000); time per operation grows %.2f times\n",
        small / 1e6, large / 1e6, large / 100000 / (small / 1000));
    return 0;
}
