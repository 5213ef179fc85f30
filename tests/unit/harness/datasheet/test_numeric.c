/* SPDX-License-Identifier: Apache-2.0 */
/** How an engine computes, recognised: engines of which it is known, with one quirk each. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/type.h"
#include "harness/datasheet/numeric.h"

/** An engine that does FULLY_CONNECTED, in its own way. */
struct engine {
    enum { SEQUENTIAL, BACKWARDS, PAIRWISE, INTERLEAVED, BLOCKED } order;
    size_t parts; /* INTERLEAVED, BLOCKED */
    int bits;     /* of the accumulator */
    bool fused;   /* products are not rounded */
    double (*requantise)(int32_t accumulator, double multiplier);
};

/** v with so many bits of mantissa. */
static double rounded(double v, int bits) {
    int exponent;
    const double m = frexp(v, &exponent);
    return bits >= 53 ? v : ldexp(rint(ldexp(m, bits)), exponent - bits);
}

static double add(const struct engine *e, double sum, double x, double w) {
    return rounded(sum + (e->fused ? x * w : rounded(x * w, e->bits)), e->bits);
}

static double pairwise(const struct engine *e, const double *x, const double *w, size_t n) {
    if (n == 1) return rounded(x[0] * w[0], e->bits);
    return rounded(pairwise(e, x, w, n / 2) + pairwise(e, x + n / 2, w + n / 2, n / 2), e->bits);
}

static double sum_up(const struct engine *e, const double *x, const double *w, size_t n) {
    double part[128] = {0}, sum = 0;
    if (e->order == PAIRWISE) return pairwise(e, x, w, n);
    for (size_t i = 0; i < n; i++) {
        const size_t k = e->order == BACKWARDS ? n - 1 - i : i;
        double *to = e->order == INTERLEAVED ? &part[k % e->parts] : e->order == BLOCKED ? &part[k / e->parts] : part;
        *to = add(e, *to, x[k], w[k]);
    }
    for (size_t i = 0; i < 128; i++) sum = rounded(sum + part[i], e->bits);
    return sum;
}

static bool execute(void *context, const struct nnv_spec *spec, struct nnv_arena *arena, struct nnv_value **outputs) {
    const struct engine *e = context;
    const struct nnv_subgraph *m = &spec->model.main;
    const struct nnv_operation *op = &m->operations[0];
    if (op->type != ANEURALNETWORKS_FULLY_CONNECTED) return false;
    const struct nnv_operand *xo = &m->operands[op->in[0]], *wo = &m->operands[op->in[1]],
                             *bo = &m->operands[op->in[2]], *yo = &m->operands[op->out[0]];
    const size_t rows = xo->dims[0], n = xo->dims[1], units = wo->dims[0];
    double *x = NNV_NEW(arena, double, rows *n), *w = NNV_NEW(arena, double, units *n),
           *bias = NNV_NEW(arena, double, units), *y = NNV_NEW(arena, double, rows *units);
    struct nnv_value *out = NNV_NEW(arena, struct nnv_value, 1);
    *out = spec->outputs[0];
    out->data = nnv_arena_alloc(arena, out->bytes, 1);
    nnv_load(xo->type, spec->inputs[0].data, rows * n, x);
    nnv_load(wo->type, wo->data, units * n, w);
    nnv_load(bo->type, bo->data, units, bias);
    for (size_t r = 0; r < rows; r++)
        for (size_t u = 0; u < units; u++) {
            double *to = &y[r * units + u];
            if (!nnv_is_quant(xo->type))
                *to = sum_up(e, x + r * n, w + u * n, n) + bias[u];
            else if (e->requantise)
                *to = yo->zero_point +
                      e->requantise((int32_t)bias[u], (double)xo->scale * (double)wo->scale / (double)yo->scale);
            else
                return false;
        }
    nnv_store(yo->type, y, rows * units, (void *)out->data);
    *outputs = out;
    return true;
}

static struct nnv_numeric measured;

static void measure(struct engine engine, bool sums) {
    const struct nnv_numeric_engine e = {execute, &engine, nnv_arena_new(), &measured};
    measured = (struct nnv_numeric){0};
    if (sums) {
        nnv_measure_sums(&e, (struct nnv_sums){ANEURALNETWORKS_FULLY_CONNECTED, ANEURALNETWORKS_TENSOR_FLOAT32});
        nnv_measure_sums(&e, (struct nnv_sums){ANEURALNETWORKS_CONV_2D, ANEURALNETWORKS_TENSOR_FLOAT32});
    } else {
        nnv_measure_requantise(&e, ANEURALNETWORKS_TENSOR_QUANT8_ASYMM_SIGNED);
    }
    nnv_arena_free(e.arena);
}

static void expect(const char *what, const char *is) {
    for (uint32_t i = 0; i < measured.count; i++)
        if (strcmp(measured.fact[i].what, what) == 0) {
            assert_string_equal(measured.fact[i].is, is);
            return;
        }
    fail_msg("nothing is said of: %s", what);
}

/** Each order with each accumulator: what an operation that is not there does is not told. */
static void test_sums(void **state) {
    static const struct {
        int order;
        size_t parts;
        const char *is;
    } orders[] = {{SEQUENTIAL, 0, "one after the other"},
                  {BACKWARDS, 0, "one after the other, from the last"},
                  {PAIRWISE, 0, "pairwise"},
                  {INTERLEAVED, 4, "4 interleaved partial sums"},
                  {INTERLEAVED, 32, "32 interleaved partial sums"},
                  {BLOCKED, 16, "blocks of 16 neighbours"}};
    static const struct {
        int bits;
        const char *is;
    } accumulators[] = {{8, "bfloat16"}, {11, "float16"}, {24, "float32"}, {53, "float64"}, {20, "of 20 bits"}};
    (void)state;
    for (size_t o = 0; o < 6; o++)
        for (size_t a = 0; a < 5; a++) {
            measure((struct engine){.order = orders[o].order, .parts = orders[o].parts, .bits = accumulators[a].bits},
                    true);
            expect("accumulator", accumulators[a].is);
            expect("order of summation", orders[o].is);
            for (uint32_t i = 0; i < measured.count; i++)
                assert_string_equal(measured.fact[i].about, "FULLY_CONNECTED float32");
        }
}

static void test_contraction(void **state) {
    (void)state;
    measure((struct engine){.bits = 24, .fused = true}, true);
    expect("products in sums", "not rounded before they are added (FMA)");
    measure((struct engine){.bits = 24}, true);
    expect("products in sums", "rounded before they are added");
}

static double away(int32_t a, double m) { return round(a * m); }
static double even(int32_t a, double m) { return rint(a * m); }
static double up(int32_t a, double m) { return floor(a * m + 0.5); }
static double down(int32_t a, double m) { return floor(a * m); }
static double cut(int32_t a, double m) { return trunc(a * m); }
static double in_float(int32_t a, double m) { return (double)rintf((float)a * (float)m); }
/** A multiplier of 8 and of 16 bits. */
static double eight(int32_t a, double m) {
    int e;
    const double f = frexp(m, &e);
    return floor(ldexp(a * round(f * 256), e - 8) + 0.5);
}
static double sixteen(int32_t a, double m) {
    int e;
    const double f = frexp(m, &e);
    return floor(ldexp(a * round(f * 65536), e - 16) + 0.5);
}
/** The product is rounded to an integer, then shifted and rounded again. */
static double doubled(int32_t a, double m) {
    int e;
    const double f = frexp(m, &e), high = floor(ldexp(a * round(ldexp(f, 31)), -31) + 0.5);
    return copysign(floor(ldexp(fabs(high), e) + 0.5), high);
}
static double strange(int32_t a, double m) { return floor(a * m + 0.3); }

static void test_requantisation(void **state) {
    static const struct {
        double (*scheme)(int32_t, double);
        const char *is;
        double beyond; /* units beyond the nearest that the promise must allow, at least */
    } schemes[] = {{away, "exact, ties away from 0", 0},
                   {even, "exact, ties to even", 0},
                   {up, "exact, ties up", 0},
                   {down, "rounded down", 0.4},
                   {cut, "truncated", 0.4},
                   {in_float, "float32, ties to even", 0},
                   {eight, "fixed point of 8 bits", 0.01},
                   {sixteen, "fixed point of 16 bits", 0},
                   {doubled, "TensorFlow Lite's double rounding", 0.05}};
    (void)state;
    for (size_t i = 0; i < sizeof schemes / sizeof *schemes; i++) {
        measure((struct engine){.requantise = schemes[i].scheme}, false);
        expect("requantisation", schemes[i].is);
        assert_true(measured.arithmetic.requantise >= schemes[i].beyond);
        assert_true(measured.arithmetic.requantise <= schemes[i].beyond + 0.6);
    }
    measure((struct engine){.requantise = strange}, false);
    assert_memory_equal(measured.fact[0].is, "not recognised", 14);
    measure((struct engine){0}, false);
    assert_int_equal(measured.count, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sums),
        cmocka_unit_test(test_contraction),
        cmocka_unit_test(test_requantisation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
