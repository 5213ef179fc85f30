/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file bench_host.c What one small execution takes: the driver in this process, in a process of its own, and there in
 * a burst. Usage: bench_host FOLDER_OF_DRIVERS
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "harness/suites/kit/context.h"
#include "harness/suites/kit/fixture_models.h"
#include "nnvts/result.h"

enum { WARM = 200, ROUNDS = 2000 };

/** A small model, prepared by one driver. */
struct bench {
    struct nnv_client client;
    struct nnv_run_config config;
    struct nnv_case_env env;
    struct nnv_result result;
    struct nnv_context session;
    struct nnv_fixture subject;
    struct nnvts_prepared_model *prepared;
    struct nnv_request values;
    struct nnvts_burst *burst;
};

static bool start(struct bench *b, const char *folder, const char *driver, const char *options) {
    char path[4096];
    struct nnv_err err = {0};
    struct nnv_spec *spec;
    snprintf(path, sizeof path, "%s/%s.so", folder, driver);
    b->env = (struct nnv_case_env){.config = &b->config, .client = &b->client, .arena = nnv_arena_new()};
    if (!b->env.arena || nnv_client_open(&b->client, path, options, &err) != NNV_OK ||
        nnv_fixture_build(nnv_fixture_by_name("add_float32"), 1, b->env.arena, &spec, &err) != NNV_OK) {
        fprintf(stderr, "bench_host: %s\n", err.text);
        return false;
    }
    nnv_context_begin(&b->session, &b->env, &b->result);
    return nnv_context_model(&b->session, spec, &b->subject) &&
           (b->prepared = nnv_context_prepare(&b->session, &b->subject)) != NULL &&
           nnv_context_request(&b->session, &b->subject, NNV_POOL_WRITABLE, &b->values) &&
           b->prepared->create_burst(b->prepared, &b->burst) == NNVTS_STATUS_NONE;
}

static void stop(struct bench *b) {
    b->burst->release(b->burst);
    nnv_context_release(&b->session, b->prepared);
    nnv_context_end(&b->session);
    nnv_client_close(&b->client);
    nnv_arena_free(b->env.arena);
    nnv_text_free(&b->result.reason);
}

static enum nnvts_status once(struct bench *b, bool burst) {
    static const int64_t tokens[] = {1, 2};
    if (burst) return b->burst->execute(b->burst, &b->values.abi, tokens, &nnv_execution_config, &b->values.result);
    return b->prepared->execute(b->prepared, &b->values.abi, &nnv_execution_config, &b->values.result);
}

static int compare(const void *a, const void *b) {
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/** Prints the median and the best tenth; exits with 1 if an execution fails. */
static void measure(const char *what, struct bench *b, bool burst) {
    static uint64_t ns[ROUNDS];
    for (int i = -WARM; i < ROUNDS; i++) {
        nnv_request_reset(&b->values);
        const uint64_t begun = nnv_now_ns();
        const enum nnvts_status st = once(b, burst);
        if (i >= 0) ns[i] = nnv_now_ns() - begun;
        if (nnv_context_check_values(&b->session, what, st, &b->values)) continue;
        fprintf(stderr, "bench_host: %s\n", b->result.reason.data);
        exit(1);
    }
    qsort(ns, ROUNDS, sizeof *ns, compare);
    printf("  %-28s median %7.1f us   best tenth %7.1f us\n", what, (double)ns[ROUNDS / 2] / 1e3,
           (double)ns[ROUNDS / 10] / 1e3);
}

int main(int argc, char **argv) {
    struct bench direct = {0}, host = {0};
    if (argc != 2) {
        fprintf(stderr, "usage: bench_host FOLDER_OF_DRIVERS\n");
        return 2;
    }
    if (!start(&direct, argv[1], "cpu", NULL) || !start(&host, argv[1], "host", "cpu")) return 1;
    printf("one execution of an ADD of 15 values:\n");
    measure("in this process", &direct, false);
    measure("in this process, burst", &direct, true);
    measure("host, synchronous", &host, false);
    measure("host, burst", &host, true);
    stop(&host);
    stop(&direct);
    return 0;
}
