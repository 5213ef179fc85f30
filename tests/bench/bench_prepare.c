/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file bench_prepare.c How long drivers take to prepare networks: anew, anew with a cache to write, from that cache.
 * Medians and least of a few, each in memory that was given back before. Usage: bench_prepare FOLDER [DRIVER ...]
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "harness/client/abi.h"
#include "harness/client/driver.h"
#include "harness/client/memory.h"
#include "mlts/networks/mobilenet.h"

enum { TIMES = 25, ANEW = 0, SAVED, LOADED, WAYS };

/** A model and the files of its cache. */
struct subject {
    struct nnvts_device *device;
    struct nnvts_model model;
    int model_fds[NNVTS_MAX_CACHE_FILES], data_fds[NNVTS_MAX_CACHE_FILES];
    struct nnvts_cache cache;
};

static bool open_files(uint32_t count, int *fds) {
    for (uint32_t i = 0; i < count; i++)
        if ((fds[i] = nnv_memory_file("cache", 0, 0)) < 0) return false;
    return true;
}

static void close_files(const struct nnvts_cache *c) {
    for (uint32_t i = 0; i < c->model_fd_count; i++) close(c->model_fds[i]);
    for (uint32_t i = 0; i < c->data_fd_count; i++) close(c->data_fds[i]);
}

/** Milliseconds that it took; below 0: it failed. */
static double prepare(const struct subject *s, int way) {
    const struct nnvts_prepare_config config = {.deadline_ns = NNVTS_NO_TIME, .cache = way == SAVED ? &s->cache : NULL};
    struct nnvts_prepared_model *prepared = NULL;
    const uint64_t begun = nnv_now_ns();
    const enum nnvts_status st = way == LOADED
                                     ? s->device->prepare_from_cache(s->device, &s->cache, NNVTS_NO_TIME, &prepared)
                                     : s->device->prepare_model(s->device, &s->model, &config, &prepared);
    const double ms = (double)(nnv_now_ns() - begun) / 1e6;
    if (st != NNVTS_STATUS_NONE) return -1;
    prepared->release(prepared);
    return ms;
}

static int by_value(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void measure(struct subject *s) {
    const bool caches = s->device->prepare_from_cache && s->device->model_cache_files + s->device->data_cache_files > 0;
    s->cache = (struct nnvts_cache){.model_fds = s->model_fds,
                                    .model_fd_count = s->device->model_cache_files,
                                    .data_fds = s->data_fds,
                                    .data_fd_count = s->device->data_cache_files,
                                    .token = "bench_prepare"};
    if (!open_files(s->cache.model_fd_count, s->model_fds) || !open_files(s->cache.data_fd_count, s->data_fds)) return;
    for (int way = ANEW; way < (caches ? WAYS : SAVED); way++) {
        double ms[TIMES];
        for (int i = 0; i < TIMES; i++) ms[i] = prepare(s, way);
        qsort(ms, TIMES, sizeof *ms, by_value);
        if (ms[0] < 0)
            printf("  %17s", "refused");
        else
            printf("  %8.2f %8.2f", ms[TIMES / 2], ms[0]);
    }
    close_files(&s->cache);
}

static enum nnv_status bench(const char *folder, const char *driver, struct nnv_err *err) {
    static const struct {
        int32_t type;
        const char *name;
    } types[] = {{ANEURALNETWORKS_TENSOR_FLOAT32, "float32"}, {ANEURALNETWORKS_TENSOR_QUANT8_ASYMM, "quant8"}};
    char path[4096];
    struct nnv_client client = {0};
    snprintf(path, sizeof path, "%s/%s.so", folder, driver);
    enum nnv_status st = nnv_client_open(&client, path, NULL, err);
    for (size_t i = 0; !st && i < sizeof types / sizeof *types; i++) {
        const struct nnv_mobilenet net = {2, 1.0, 224, {types[i].type, false}, 1001, 1};
        struct subject s = {.device = client.device};
        struct nnv_abi_pool constants = {0};
        struct nnv_model m;
        struct nnv_arena *arena = nnv_arena_new();
        if (!arena) return nnv_no_memory(err);
        st = nnv_mobilenet_build(&net, arena, &m, err);
        if (!st) st = nnv_abi_model(&m, arena, NNV_POOL_FD_ONLY, &s.model, &constants, err);
        if (!st) {
            printf("  %-10s MobileNet v2 1.0 224 %-8s", driver, types[i].name);
            measure(&s);
            puts("");
        }
        nnv_abi_pool_free(&constants);
        nnv_arena_free(arena);
    }
    nnv_client_close(&client);
    return st;
}

int main(int argc, char **argv) {
    static char *const usual[] = {"cpu", "onednn", NULL};
    struct nnv_err err = {0};
    if (argc < 2) {
        fputs("usage: bench_prepare FOLDER [DRIVER ...]\n", stderr);
        return 2;
    }
    printf("preparing networks: median and least ms of %d\n", TIMES);
    printf("  %-40s  %17s  %17s  %17s\n", "driver, network", "anew", "and saved", "from the cache");
    for (char *const *d = argc > 2 ? argv + 2 : usual; *d; d++) {
        char path[4096];
        snprintf(path, sizeof path, "%s/%s.so", argv[1], *d);
        if (access(path, R_OK) != 0) continue; /* was not built */
        if (bench(argv[1], *d, &err) != NNV_OK) {
            fprintf(stderr, "bench_prepare: %s: %s\n", *d, err.text);
            return 1;
        }
    }
    return 0;
}
