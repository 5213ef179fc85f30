/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file bench_mobilenet.c Golden evaluation of whole networks: MobileNet v1 and v2, 1.0, 224x224, beside one matrix
 * product of as many multiplications, on one core. Usage: bench_mobilenet (with OPENBLAS_NUM_THREADS=1)
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/matmul.h"
#include "base/rng.h"
#include "mlts/networks/mobilenet.h"
#include "reference/eval/eval.h"
#include "reference/model/validate.h"

enum { RUNS = 3, SIDE = 224, PIXELS = SIDE * SIDE * 3 };

static enum nnv_status make_image(const struct nnv_model *m, struct nnv_arena *a, struct nnv_value *in,
                                  struct nnv_err *err) {
    const struct nnv_operand *o = &m->main.operands[m->main.in[0]];
    size_t size = nnv_type(o->type)->size;
    *in = (struct nnv_value){.rank = 4, .dims = {1, SIDE, SIDE, 3}, .bytes = PIXELS * size};
    in->data = nnv_arena_alloc(a, PIXELS, size);
    if (!in->data) return nnv_no_memory(err);
    struct nnv_rng rng = nnv_rng_make(1, 2, 3);
    for (size_t i = 0; i < PIXELS; i++) {
        double x = nnv_rng_uniform(&rng, -1, 1);
        if (o->scale > 0) x = x / (double)o->scale + o->zero_point;
        nnv_store(o->type, &x, 1, (char *)in->data + i * size);
    }
    return NNV_OK;
}

/* A square dgemm of about `products` multiplications; ms. */
static double dgemm_ms(double products) {
    int side = 640;
    size_t n = (size_t)side * side;
    double *a = calloc(n, sizeof *a), *b = calloc(n, sizeof *b), *c = calloc(n, sizeof *c);
    double ms = -1;
    if (a && b && c) {
        uint64_t t = nnv_now_ns();
        nnv_dgemm(true, (size_t)side, (size_t)side, (size_t)side, a, b, c);
        ms = (double)(nnv_now_ns() - t) / 1e6 * products / ((double)n * side);
    }
    free(a);
    free(b);
    free(c);
    return ms;
}

static int by_value(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static enum nnv_status measure(const struct nnv_mobilenet *net, const char *type, double products,
                               struct nnv_err *err) {
    double golden[RUNS], dgemm[RUNS];
    struct nnv_arena *models = nnv_arena_new(), *results = nnv_arena_new();
    struct nnv_model m;
    struct nnv_value in;
    struct nnv_golden out;
    enum nnv_status st = models && results ? NNV_OK : nnv_no_memory(err);
    if (!st) st = nnv_mobilenet_build(net, models, &m, err);
    if (!st) st = make_image(&m, models, &in, err);
    for (int r = 0; !st && r < RUNS; r++) {
        nnv_arena_reset(results);
        uint64_t t = nnv_now_ns();
        st = nnv_eval(&m, &in, &(struct nnv_eval_options){0}, results, &out, err);
        golden[r] = (double)(nnv_now_ns() - t) / 1e6;
        dgemm[r] = dgemm_ms(products);
    }
    if (!st) {
        qsort(golden, RUNS, sizeof *golden, by_value);
        qsort(dgemm, RUNS, sizeof *dgemm, by_value);
        printf("  v%d 1.0 224  %-14s %4u operations  %8.1f  %8.1f  %6.2f\n", net->version, type, m.main.noperations,
               golden[RUNS / 2], dgemm[RUNS / 2], golden[RUNS / 2] / dgemm[RUNS / 2]);
    }
    nnv_arena_free(models);
    nnv_arena_free(results);
    return st;
}

int main(void) {
    static const struct {
        int32_t type;
        const char *name;
    } types[] = {{ANEURALNETWORKS_TENSOR_FLOAT32, "float32"},
                 {ANEURALNETWORKS_TENSOR_QUANT8_ASYMM, "quant8"},
                 {ANEURALNETWORKS_TENSOR_QUANT8_ASYMM_SIGNED, "quant8 signed"}};
    static const double products[] = {569e6, 300e6}; /* multiplications and additions of one image */
    struct nnv_err err = {0};
    puts("golden MobileNet beside dgemm of as many products, medians of 3, one thread (aim: below 500 ms)");
    puts("  network     type                           golden ms  dgemm ms   ratio");
    for (int version = 1; version <= 2; version++)
        for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
            struct nnv_mobilenet net = {version, 1.0, SIDE, {types[i].type, false}, 1001, 1};
            if (measure(&net, types[i].name, products[version - 1], &err) != NNV_OK) {
                fprintf(stderr, "bench_mobilenet: %s\n", err.text);
                return 1;
            }
        }
    return 0;
}
