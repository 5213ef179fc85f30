/* SPDX-License-Identifier: Apache-2.0 */
/* Sweeps and limits: all pairs of codes, every exponent, the edges of operations and types. */
#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "randgraph/single/single.h"

static struct nnv_spec *build(const struct nnv_single *w, struct nnv_arena *arena) {
    struct nnv_spec *spec = NULL;
    struct nnv_err err = {0};
    if (nnv_single_build(w, arena, &spec, &err)) fail_msg("%s: %s", w->op->name, err.text);
    return spec;
}

static struct nnv_single of(const char *op, int32_t type, enum nnv_fill_mode mode) {
    struct nnv_single w = {.op = nnv_op_by_name(op), .mode = mode, .seed = 1};
    while (w.op->sigs[w.sig].type[NNV_T] != type) assert_true(++w.sig < w.op->nsigs);
    return w;
}

/* The data of the operation's n-th input, a constant or one of the model's. */
static const void *data_of(const struct nnv_spec *s, uint32_t n, size_t *elems) {
    const struct nnv_operand *o = &s->model.main.operands[n];
    const void *data = o->data;
    size_t bytes = o->bytes;
    for (uint32_t i = 0; i < s->model.main.nin; i++)
        if (s->model.main.in[i] == n) data = s->inputs[i].data, bytes = s->inputs[i].bytes;
    *elems = bytes / nnv_type(o->type)->size;
    return data;
}

static void check_pairs(const char *op, int32_t type, uint32_t first) {
    struct nnv_arena *arena = nnv_arena_new();
    const struct nnv_single w = of(op, type, NNV_FILL_SWEEP);
    const struct nnv_spec *s = build(&w, arena);
    size_t n, m, count = 0;
    const uint8_t *a = data_of(s, first, &n), *b = data_of(s, first + 1, &m);
    uint8_t *seen = calloc(65536, 1);
    assert_non_null(seen);
    assert_true(n == 65536 && m == 65536);
    for (size_t e = 0; e < n; e++) seen[a[e] << 8 | b[e]] = 1;
    for (size_t c = 0; c < 65536; c++) count += seen[c];
    assert_int_equal(count, 65536);
    free(seen);
    nnv_arena_free(arena);
}

static void test_sweep_has_every_pair(void **state) {
    (void)state;
    check_pairs("ADD", ANEURALNETWORKS_TENSOR_QUANT8_ASYMM, 0);
    check_pairs("MUL", ANEURALNETWORKS_TENSOR_QUANT8_ASYMM_SIGNED, 0);
    check_pairs("PRELU", ANEURALNETWORKS_TENSOR_QUANT8_ASYMM, 0);
    check_pairs("LESS", ANEURALNETWORKS_TENSOR_QUANT8_ASYMM, 0);
    check_pairs("LOGICAL_AND", ANEURALNETWORKS_TENSOR_BOOL8, 0);
    check_pairs("SELECT", ANEURALNETWORKS_TENSOR_QUANT8_ASYMM, 1);
}

static void test_sweep_of_floats_has_every_exponent(void **state) {
    (void)state;
    struct nnv_arena *arena = nnv_arena_new();
    const struct nnv_single w = of("TANH", ANEURALNETWORKS_TENSOR_FLOAT32, NNV_FILL_SWEEP);
    bool seen[2][255] = {{0}};
    size_t n;
    const uint32_t *x = data_of(build(&w, arena), 0, &n);
    for (size_t e = 0; e < n; e++) {
        assert_true((x[e] >> 23 & 255) < 255); /* no infinity, no NaN */
        seen[x[e] >> 31][x[e] >> 23 & 255] = true;
    }
    for (int k = 0; k < 2 * 255; k++) assert_true(seen[k / 255][k % 255]);
    nnv_arena_free(arena);
}

static bool has_float(const float *x, size_t n, float v) {
    for (size_t e = 0; e < n; e++)
        if (x[e] == v) return true;
    return false;
}

static void test_limits_of_floats(void **state) {
    (void)state;
    struct nnv_arena *arena = nnv_arena_new();
    struct nnv_single w = of("LOGISTIC", ANEURALNETWORKS_TENSOR_FLOAT32, NNV_FILL_LIMITS);
    static const float wanted[] = {-17, -120, 90, 104, 1e4f, 65504, 3e10f, FLT_MAX, -FLT_MAX, 0x1p-149f, 0x1p31f};
    size_t n;
    const float *x = data_of(build(&w, arena), 0, &n);
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) assert_true(has_float(x, n, wanted[i]));
    w = of("LOG", ANEURALNETWORKS_TENSOR_FLOAT32, NNV_FILL_LIMITS); /* its domain */
    x = data_of(build(&w, arena), 0, &n);
    for (size_t e = 0; e < n; e++) assert_true(x[e] >= 0);
    w = of("LESS", ANEURALNETWORKS_TENSOR_FLOAT32, NNV_FILL_LIMITS);
    x = data_of(build(&w, arena), 0, &n);
    size_t nan = 0;
    for (size_t e = 0; e < n; e++) nan += isnan(x[e]) != 0;
    assert_true(nan > 0 && has_float(x, n, INFINITY));
    w = of("ADD", ANEURALNETWORKS_TENSOR_FLOAT16, NNV_FILL_LIMITS); /* nothing that float16 cannot hold */
    const uint16_t *h = data_of(build(&w, arena), 0, &n);
    for (size_t e = 0; e < n; e++) assert_true((h[e] & 0x7c00) != 0x7c00);
    nnv_arena_free(arena);
}

/* Neighbours beyond 2^24 for comparisons; sums that INT32 can hold. */
static void test_limits_of_integers(void **state) {
    (void)state;
    struct nnv_arena *arena = nnv_arena_new();
    struct nnv_single w = of("EQUAL", ANEURALNETWORKS_TENSOR_INT32, NNV_FILL_LIMITS);
    size_t n, m;
    const struct nnv_spec *s = build(&w, arena);
    const int32_t *a = data_of(s, 0, &n), *b = data_of(s, 1, &m);
    bool beside = false, least = false;
    for (size_t e = 0; e < n; e++) {
        beside |= a[e] == 0x1000001 && b[e] == 0x1000002;
        least |= a[e] == INT32_MIN && b[e] == INT32_MAX;
    }
    assert_true(beside && least);
    static const char *const names[] = {"ADD", "SUB", "MUL"};
    for (int i = 0; i < 3; i++) {
        w = of(names[i], ANEURALNETWORKS_TENSOR_INT32, NNV_FILL_LIMITS);
        s = build(&w, arena);
        a = data_of(s, 0, &n);
        b = data_of(s, 1, &m);
        assert_true(n == m && n > 1000);
        for (size_t e = 0; e < n; e++) {
            const int64_t x = a[e], y = b[e], z = i == 0 ? x + y : i == 1 ? x - y : x * y;
            assert_true(z >= INT32_MIN && z <= INT32_MAX);
        }
    }
    w = of("DIV", ANEURALNETWORKS_TENSOR_INT32, NNV_FILL_LIMITS);
    b = data_of(build(&w, arena), 1, &m);
    for (size_t e = 0; e < m; e++) assert_true(b[e] != 0);
    nnv_arena_free(arena);
}

/* How the three cases at the limits of an operation on pairs differ: each has all pairs of the first one. */
static void test_limits_in_three_layouts(void **state) {
    (void)state;
    struct nnv_arena *arena = nnv_arena_new();
    static const char *const names[] = {"ADD", "PRELU", "LESS", "SELECT"};
    for (int i = 0; i < 4; i++) {
        struct nnv_single w = of(names[i], ANEURALNETWORKS_TENSOR_FLOAT32, NNV_FILL_LIMITS);
        const uint32_t first = i == 3;
        const struct nnv_operand *a, *b;
        size_t n, m, all;
        const uint32_t *x = data_of(build(&w, arena), first, &all), fast = x[0];
        w.index = 1; /* a constant, and a row where it may be broadcast */
        const struct nnv_spec *s = build(&w, arena);
        a = &s->model.main.operands[first], b = a + 1;
        data_of(s, first, &n);
        data_of(s, first + 1, &m);
        assert_true(n == all && nnv_is_constant(b) && !nnv_is_constant(a));
        assert_true(i == 3 ? b->rank == 2 && m == n : b->rank == 1 && m == a->dims[1]);
        w.index = 2; /* rank 4, odd extents, the first tensor's numbers by columns */
        s = build(&w, arena);
        a = &s->model.main.operands[first], b = a + 1;
        x = data_of(s, first, &n);
        assert_true(n >= all && n % 2 == 1 && a->rank == 4 && b->rank == 4 && a->dims[3] % 4 == 1);
        assert_true(x[0] == fast && x[1] != fast);
    }
    nnv_arena_free(arena);
}

/* One of the three has an activation, where the operation takes one; sums that INT32 can hold in each. */
static void test_limits_with_activations(void **state) {
    (void)state;
    struct nnv_arena *arena = nnv_arena_new();
    struct nnv_single w = of("ADD", ANEURALNETWORKS_TENSOR_FLOAT32, NNV_FILL_LIMITS);
    size_t n, m;
    w.index = 2;
    assert_true(*(const int32_t *)data_of(build(&w, arena), 2, &n) != ANEURALNETWORKS_FUSED_NONE);
    w = of("ADD", ANEURALNETWORKS_TENSOR_INT32, NNV_FILL_LIMITS);
    for (w.index = 0; w.index < 3; w.index++) {
        const struct nnv_spec *s = build(&w, arena);
        const int32_t *a = data_of(s, 0, &n), *b = data_of(s, 1, &m);
        assert_int_equal(*(const int32_t *)data_of(s, 2, &m), ANEURALNETWORKS_FUSED_NONE);
        size_t beyond = 0; /* sums that float32 does not hold */
        for (size_t e = 0; e < n; e++) {
            const int64_t sum = (int64_t)a[e] + b[e];
            assert_true(sum >= INT32_MIN && sum <= INT32_MAX);
            beyond += (double)(float)sum != (double)sum;
        }
        assert_true(beyond > 100);
    }
    nnv_arena_free(arena);
}

/* Of numbers that are chosen from, those that are not chosen may be any. */
static void test_edges_of_a_choice_are_any_number(void **state) {
    (void)state;
    struct nnv_arena *arena = nnv_arena_new();
    size_t n, choices = 0, unchosen = 0;
    struct nnv_single w = of("SELECT", ANEURALNETWORKS_TENSOR_FLOAT32, NNV_FILL_EDGE);
    for (w.variant = 0; w.variant < nnv_single_variants(w.op); w.variant++) {
        const struct nnv_spec *s = build(&w, arena);
        const uint8_t *condition = data_of(s, 0, &n);
        const float *a = data_of(s, 1, &n), *b = data_of(s, 2, &n);
        for (size_t e = 0; e < n; e++) {
            choices += !isfinite(condition[e] ? a[e] : b[e]);
            unchosen += !isfinite(condition[e] ? b[e] : a[e]);
        }
    }
    assert_true(choices > 3 && unchosen > 3);
    nnv_arena_free(arena);
}

/* Truth is every byte but 0. */
static void test_edge_cases_have_other_truths(void **state) {
    (void)state;
    struct nnv_arena *arena = nnv_arena_new();
    const struct nnv_single w = {.op = nnv_op_by_name("SELECT"), .mode = NNV_FILL_EDGE, .variant = 4, .seed = 1};
    size_t n, others = 0, falsities = 0;
    const uint8_t *condition = data_of(build(&w, arena), 0, &n);
    for (size_t e = 0; e < n; e++) {
        others += condition[e] > 1;
        falsities += condition[e] == 0;
    }
    assert_true(others > 0 && falsities > 0);
    const struct nnv_single c = {.op = nnv_op_by_name("EQUAL"), .mode = NNV_FILL_EDGE, .variant = 4, .seed = 1};
    assert_int_equal(c.op->sigs[0].type[NNV_T], ANEURALNETWORKS_TENSOR_BOOL8);
    const uint8_t *a = data_of(build(&c, arena), 0, &n); /* some compare the bytes */
    for (size_t e = 0; e < n; e++) assert_true(a[e] <= 1);
    nnv_arena_free(arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sweep_has_every_pair),
        cmocka_unit_test(test_sweep_of_floats_has_every_exponent),
        cmocka_unit_test(test_limits_of_floats),
        cmocka_unit_test(test_limits_of_integers),
        cmocka_unit_test(test_limits_in_three_layouts),
        cmocka_unit_test(test_limits_with_activations),
        cmocka_unit_test(test_edges_of_a_choice_are_any_number),
        cmocka_unit_test(test_edge_cases_have_other_truths),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
