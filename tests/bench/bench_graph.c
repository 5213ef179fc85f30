/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file bench_graph.c Random graphs on one core: drawn, and drawn, evaluated with budgets and judged on a driver. Times
 * are processor time, so that a busy machine measures the same.
 * Usage: bench_graph [DRIVER], or bench_graph --draw OPERATIONS: one graph of so many, for make growth.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "harness/runner/suite.h"
#include "nnvts/result.h"
#include "randgraph/graph/graph.h"

/** Nanoseconds of processor time of this process. */
static uint64_t cpu_ns(void) { return (uint64_t)((double)clock() * (1e9 / CLOCKS_PER_SEC)); }

static const struct row {
    const char *profile;
    int operations, graphs;
} rows[] = {
    {"small", 5, 2000}, {"single", 1, 2000}, {"mixed", 10, 1000}, {"mixed", 40, 400}, {"mixed", 200, 80},
};

struct bench {
    struct nnv_arena *arena;
    struct nnv_client client; /* no device: graphs are only drawn */
    struct nnv_run_config config;
    size_t judged[NNVTS_VERDICT_COUNT];
    uint32_t largest; /* extent of any operand */
};

static void note_extents(struct bench *b, const struct nnv_spec *spec) {
    const struct nnv_subgraph *g = &spec->model.main;
    for (uint32_t i = 0; i < g->noperands; i++)
        for (uint32_t d = 0; d < g->operands[i].rank; d++)
            if (g->operands[i].dims[d] > b->largest) b->largest = g->operands[i].dims[d];
}

static enum nnv_status measure(struct bench *b, const struct row *row, double *us, struct nnv_err *err) {
    enum nnv_status st = NNV_OK;
    uint32_t phase = 0;
    const uint64_t start = cpu_ns();
    for (int i = 0; !st && i < row->graphs; i++) {
        const struct nnv_graph_options o = {.profile = nnv_graph_profile_by_name(row->profile),
                                            .operations = row->operations,
                                            .seed = 1,
                                            .index = (uint64_t)i,
                                            .name = "graph"};
        struct nnv_spec *spec;
        nnv_arena_reset(b->arena);
        st = nnv_graph_build(&o, b->arena, &spec, err);
        if (!st) note_extents(b, spec);
        if (st || !b->client.device) continue;
        struct nnv_case_env env = {.config = &b->config, .client = &b->client, .arena = b->arena, .phase = &phase};
        struct nnv_result result = {0};
        nnv_judge(&env, spec, 0, NNV_PRECISION_BUDGET, &result);
        b->judged[result.verdict]++;
        nnv_text_free(&result.reason);
        nnv_text_free(&result.outputs);
    }
    *us = (double)(cpu_ns() - start) / 1e3 / row->graphs;
    return st;
}

static int fail(const struct nnv_err *err) {
    fprintf(stderr, "bench_graph: %s\n", err->text);
    return 1;
}

/** Draws one graph and says how long it took. */
static int draw_one(struct bench *b, const char *operations) {
    const struct row row = {"mixed", (int)strtol(operations, NULL, 10), 1};
    struct nnv_err err = {0};
    double us;
    if (row.operations < 1 || row.operations > 100000) {
        (void)nnv_fail(&err, NNV_INVALID, "%s operations: expected 1 to 100000", operations);
        return fail(&err);
    }
    if (measure(b, &row, &us, &err) != NNV_OK) return fail(&err);
    printf("%.1f us an operation, largest extent %u\n", us / row.operations, b->largest);
    nnv_arena_free(b->arena);
    return 0;
}

int main(int argc, char **argv) {
    struct bench b = {.arena = nnv_arena_new(), .config = {.driver = "cpu", .precision = -1}};
    struct nnv_err err = {0};
    double us, per_operation[2] = {0};
    if (!b.arena) return 1;
    if (argc == 3 && strcmp(argv[1], "--draw") == 0) return draw_one(&b, argv[2]);
    puts("random graphs, one core, processor time");
    puts("  profile  operations   us a graph   us an operation   graphs a second");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (measure(&b, &rows[i], &us, &err) != NNV_OK) return fail(&err);
        printf("  %-8s %10d %12.0f %17.1f %17.0f\n", rows[i].profile, rows[i].operations, us, us / rows[i].operations,
               1e6 / us);
        if (rows[i].operations == 10) per_operation[0] = us / rows[i].operations;
        if (rows[i].operations == 200) per_operation[1] = us / rows[i].operations;
    }
    printf("  an operation among 200 costs %.2f times what one among 10 does\n", per_operation[1] / per_operation[0]);
    if (argc > 1) {
        if (nnv_client_open(&b.client, argv[1], NULL, &err) != NNV_OK) return fail(&err);
        printf("  drawn, evaluated with budgets, and judged on %s\n", argv[1]);
        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
            if (rows[i].operations != 5 && rows[i].operations != 40) continue;
            memset(b.judged, 0, sizeof b.judged);
            if (measure(&b, &rows[i], &us, &err) != NNV_OK) return fail(&err);
            printf("  %-8s %10d %12.0f %17.1f %17.0f   (%zu passed, %zu unsupported, %zu failed)\n", rows[i].profile,
                   rows[i].operations, us, us / rows[i].operations, 1e6 / us, b.judged[NNVTS_PASS],
                   b.judged[NNVTS_UNSUPPORTED], b.judged[NNVTS_FAIL]);
        }
        printf("  largest extent of all: %u\n", b.largest);
        nnv_client_close(&b.client);
    }
    nnv_arena_free(b.arena);
    return 0;
}
