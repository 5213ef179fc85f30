/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file bench_golden.c Golden convolutions of MobileNet's shapes against OpenBLAS's dgemm of the same size: the ratio
 * is what moving data to and from the matrix product costs.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/matmul.h"
#include "reference/eval/eval.h"

struct layer {
    uint32_t size, cin, filter, stride, cout;
};
static const struct layer layers[] = {
    {224, 3, 3, 2, 32},  {112, 32, 1, 1, 16}, {112, 16, 1, 1, 96}, {56, 24, 1, 1, 144}, {28, 192, 1, 1, 32},
    {14, 384, 1, 1, 64}, {14, 96, 1, 1, 576}, {7, 960, 1, 1, 320}, {56, 64, 3, 1, 64},
};

static void operand(struct nnv_operand *o, struct nnv_arena *a, int32_t type, enum nnv_lifetime life, uint32_t rank,
                    const uint32_t *dims) {
    o->type = type;
    o->rank = rank;
    o->dims = nnv_arena_copy(a, dims, rank * sizeof *dims);
    o->lifetime = life;
    size_t elems;
    if (nnv_is_constant(o) && nnv_operand_size(o, &elems, &o->bytes)) {
        float *v = NNV_NEW(a, float, elems);
        for (size_t i = 0; i < elems; i++) v[i] = (float)(i * 2654435761u % 1024) / 512 - 1;
        o->data = v;
    }
}

static void scalar(struct nnv_operand *o, struct nnv_arena *a, int32_t value) {
    operand(o, a, ANEURALNETWORKS_INT32, NNV_TEMPORARY_VARIABLE, 0, NULL);
    o->lifetime = NNV_CONSTANT_COPY;
    o->data = nnv_arena_copy(a, &value, sizeof value);
    o->bytes = sizeof value;
}

/** CONV_2D with SAME padding. */
static void make(const struct layer *l, struct nnv_arena *a, struct nnv_model *m, struct nnv_value *in) {
    uint32_t out = (l->size + l->stride - 1) / l->stride;
    const uint32_t xd[] = {1, l->size, l->size, l->cin}, wd[] = {l->cout, l->filter, l->filter, l->cin},
                   bd[] = {l->cout}, yd[] = {1, out, out, l->cout};
    struct nnv_operand *o = NNV_NEW(a, struct nnv_operand, 8);
    operand(&o[0], a, ANEURALNETWORKS_TENSOR_FLOAT32, NNV_SUBGRAPH_INPUT, 4, xd);
    operand(&o[1], a, ANEURALNETWORKS_TENSOR_FLOAT32, NNV_CONSTANT_REFERENCE, 4, wd);
    operand(&o[2], a, ANEURALNETWORKS_TENSOR_FLOAT32, NNV_CONSTANT_REFERENCE, 1, bd);
    scalar(&o[3], a, ANEURALNETWORKS_PADDING_SAME);
    scalar(&o[4], a, (int32_t)l->stride);
    scalar(&o[5], a, (int32_t)l->stride);
    scalar(&o[6], a, 0);
    operand(&o[7], a, ANEURALNETWORKS_TENSOR_FLOAT32, NNV_SUBGRAPH_OUTPUT, 4, yd);
    static const uint32_t inputs[] = {0, 1, 2, 3, 4, 5, 6}, outputs[] = {7}, first[] = {0};
    struct nnv_operation *op = NNV_NEW(a, struct nnv_operation, 1);
    *op = (struct nnv_operation){.type = ANEURALNETWORKS_CONV_2D,
                                 .nin = 7,
                                 .nout = 1,
                                 .in = nnv_arena_copy(a, inputs, sizeof inputs),
                                 .out = nnv_arena_copy(a, outputs, sizeof outputs)};
    memset(m, 0, sizeof *m);
    m->main = (struct nnv_subgraph){.noperands = 8,
                                    .noperations = 1,
                                    .nin = 1,
                                    .nout = 1,
                                    .operands = o,
                                    .operations = op,
                                    .in = nnv_arena_copy(a, first, sizeof first),
                                    .out = nnv_arena_copy(a, outputs, sizeof outputs)};
    memset(in, 0, sizeof *in);
    in->rank = 4;
    memcpy(in->dims, xd, sizeof xd);
    size_t elems = (size_t)l->size * l->size * l->cin;
    float *x = NNV_NEW(a, float, elems);
    for (size_t i = 0; i < elems; i++) x[i] = (float)(i * 40503u % 1024) / 512 - 1;
    in->data = x;
    in->bytes = elems * sizeof *x;
}

static int by_value(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

enum { RUNS = 5 };

/** Medians of RUNS interleaved runs, in ms. */
static int measure(const struct layer *l, double *golden_ms, double *dgemm_ms) {
    double golden[RUNS], dgemm[RUNS];
    size_t side = (l->size + l->stride - 1) / l->stride, m = side * side, n = l->cout,
           k = (size_t)l->filter * l->filter * l->cin;
    double *a = calloc(m * k, sizeof *a), *b = calloc(n * k, sizeof *b), *c = calloc(m * n, sizeof *c);
    struct nnv_arena *arena = nnv_arena_new();
    int ok = a != NULL && b != NULL && c != NULL && arena != NULL;
    for (int r = 0; ok && r < RUNS; r++) {
        struct nnv_model model;
        struct nnv_value in;
        struct nnv_golden out;
        struct nnv_err err;
        nnv_arena_reset(arena);
        make(l, arena, &model, &in);
        uint64_t t = nnv_now_ns();
        if (nnv_eval(&model, &in, &(struct nnv_eval_options){0}, arena, &out, &err) != NNV_OK) {
            fprintf(stderr, "bench_golden: %s\n", err.text);
            ok = 0;
            break;
        }
        golden[r] = (double)(nnv_now_ns() - t) / 1e6;
        t = nnv_now_ns();
        nnv_dgemm(true, m, n, k, a, b, c);
        dgemm[r] = (double)(nnv_now_ns() - t) / 1e6;
    }
    if (ok) {
        qsort(golden, RUNS, sizeof *golden, by_value);
        qsort(dgemm, RUNS, sizeof *dgemm, by_value);
        *golden_ms = golden[RUNS / 2];
        *dgemm_ms = dgemm[RUNS / 2];
    }
    nnv_arena_free(arena);
    free(a);
    free(b);
    free(c);
    return ok;
}

int main(void) {
    double total_golden = 0, total_dgemm = 0;
    puts("golden convolutions beside dgemm of the same size, medians of 5, one thread");
    puts("  input              filter       golden ms   dgemm ms   ratio");
    for (size_t i = 0; i < sizeof layers / sizeof *layers; i++) {
        const struct layer *l = &layers[i];
        double golden, dgemm;
        if (!measure(l, &golden, &dgemm)) return 1;
        printf("  %3ux%-3ux%-4u /%u  %ux%u to %-4u  %9.2f  %9.2f  %6.2f\n", l->size, l->size, l->cin, l->stride,
               l->filter, l->filter, l->cout, golden, dgemm, golden / dgemm);
        total_golden += golden;
        total_dgemm += dgemm;
    }
    printf("  all                            %9.2f  %9.2f  %6.2f\n", total_golden, total_dgemm,
           total_golden / total_dgemm);
    return 0;
}
