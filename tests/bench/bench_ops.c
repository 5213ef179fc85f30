/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file bench_ops.c Golden evaluation of each operation on its generated cases: time of a case, golden alone and with
 * the error budget, and of a result's element, on one thread.
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "harness/judge/compare.h"
#include "randgraph/single/single.h"
#include "reference/eval/eval.h"

enum { CASES = 24, REPEATS = 3 };

struct sums {
    double golden_us, budget_us;
    size_t cases, elems;
};

/* Least time of REPEATS evaluations with so many rows, in us. */
static enum nnv_status time_rows(const struct nnv_spec *s, int rows, struct nnv_arena *arena, struct nnv_golden *out,
                                 double *us, struct nnv_err *err) {
    enum nnv_status st = NNV_OK;
    for (int r = 0; !st && r < REPEATS; r++) {
        nnv_arena_reset(arena);
        uint64_t t = nnv_now_ns();
        st = nnv_eval(&s->model, s->inputs, &(struct nnv_eval_options){.rows = rows, .k = 2, .seed = 1}, arena, out,
                      err);
        double now = (double)(nnv_now_ns() - t) / 1e3;
        if (r == 0 || now < *us) *us = now;
    }
    return st;
}

static enum nnv_status measure(const struct nnv_spec *s, struct nnv_arena *arena, struct sums *sums,
                               struct nnv_err *err) {
    double golden = 0, budget = 0;
    struct nnv_golden *out = calloc((size_t)s->model.main.nout + 1, sizeof *out);
    if (!out) return nnv_no_memory(err);
    enum nnv_status st = time_rows(s, 0, arena, out, &golden, err);
    for (uint32_t i = 0; !st && i < s->model.main.nout; i++)
        sums->elems += out[i].value.bytes / nnv_type(s->model.main.operands[s->model.main.out[i]].type)->size;
    if (!st) st = time_rows(s, NNV_JUDGE_ROWS_FLOAT, arena, out, &budget, err);
    free(out);
    sums->golden_us += golden;
    sums->budget_us += budget;
    sums->cases++;
    return st;
}

static enum nnv_status measure_op(const struct nnv_op *op, struct sums *sums, struct nnv_err *err) {
    struct nnv_arena *specs = nnv_arena_new(), *results = nnv_arena_new();
    enum nnv_status st = specs && results ? NNV_OK : nnv_no_memory(err);
    for (int i = 0; !st && i < CASES; i++) {
        struct nnv_single w = {.op = op,
                               .sig = i % op->nsigs,
                               .variant = i % nnv_single_variants(op),
                               .index = i,
                               .mode = NNV_FILL_NORMAL,
                               .seed = 1,
                               .name = "bench"};
        struct nnv_spec *spec;
        nnv_arena_reset(specs);
        st = nnv_single_build(&w, specs, &spec, err);
        if (!st) st = measure(spec, results, sums, err);
    }
    nnv_arena_free(specs);
    nnv_arena_free(results);
    return st;
}

int main(void) {
    size_t n;
    const struct nnv_op *const *ops = nnv_ops(&n);
    printf("golden evaluation of each operation, %d generated cases each, one thread, validation excluded\n",
           (int)CASES);
    puts("  operation                       us/case   with budget   ratio   ns/element");
    for (size_t i = 0; i < n; i++) {
        struct sums s = {0};
        struct nnv_err err = {0};
        if (measure_op(ops[i], &s, &err) != NNV_OK) {
            fprintf(stderr, "bench_ops: %s: %s\n", ops[i]->name, err.text);
            return 1;
        }
        printf("  %-30s %8.1f  %12.1f  %6.1f  %11.1f\n", ops[i]->name, s.golden_us / (double)s.cases,
               s.budget_us / (double)s.cases, s.budget_us / s.golden_us, s.golden_us * 1e3 / (double)s.elems);
    }
    return 0;
}
