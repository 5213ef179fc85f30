/* SPDX-License-Identifier: Apache-2.0 */
/* The rows behind the kernels: hooks and their tape, branches, inputs, the shared matrix product. */
#include <stdlib.h>

#include "tests/kit/op.h"
#include "reference/eval/rows.h"

enum { ROWS = 16 };

static struct nnv_arithmetic promise;

static void test_hooks_do_nothing_without_noise(void **state) {
    (void)state;
    struct nnv_kernel k = {.u_i = 1, .u_a = 1, .eta = 1};
    assert_true(nnv_round(&k, 0.3) == 0.3 && nnv_sum(&k, 0.3, 4, 9, 2) == 0.3 && nnv_quotient(&k, 0.3) == 0.3);
    assert_true(nnv_function(&k, 0.3, 3) == 0.3 && nnv_hazard(&k, 0.3, true) == 0.3);
    assert_true(nnv_noise_branch(&k, 0.1, 1) && !nnv_noise_branch(&k, -0.1, 1));
}

static void test_magnitudes(void **state) {
    (void)state;
    struct nnv_noise n = {.rows = ROWS, .seed = 3};
    struct nnv_kernel k = row_kernel(&n, 0, 0, &promise);
    assert_true(nnv_round(&k, -2) == -2 && nnv_round(&k, 0) == 0 && nnv_sum(&k, 1, 9, 5, 2) == 1);
    assert_true(nnv_quotient(&k, 4) == 4 && nnv_function(&k, 0, 3) == 0);
    assert_int_equal(n.count, 5);
    assert_true(n.tape[0].magnitude == 0x1p-10 + 0x1p-14 && n.tape[1].magnitude == 0);
    assert_true(n.tape[2].magnitude == 2 * 0x1p-24 * 3 * 5 + 0x1p-14);
    assert_true(n.tape[3].magnitude == 12 * 0x1p-11 && n.tape[4].magnitude == 0x1p-14);
    assert_true(nnv_noise_active(&n));
    free(n.tape);
}

static void test_magnitudes_that_are_promised(void **state) {
    (void)state;
    struct nnv_noise n = {.rows = ROWS, .seed = 3};
    struct nnv_kernel k = row_kernel(&n, 0, 0, &promise);
    promise = (struct nnv_arithmetic){.functions = 32, .logistic = 0x1p-7};
    k.u_a = 0x1p-11;
    k.eta = 0;
    (void)(nnv_sum(&k, 1, 9, 8, 1) + nnv_sum(&k, 1, 64, 8, 1) + nnv_sum(&k, 1, 1e6, 8, 1) + nnv_sum(&k, 1, 9, 7e4, 1));
    (void)(nnv_function(&k, 1, 3) + nnv_sigmoid(&k, 0.5, 64));
    assert_int_equal(n.count, 6);
    assert_true(n.tape[0].magnitude == 3 * 8 * 0x1p-11 && n.tape[1].magnitude == 16 * 8 * 0x1p-11);
    assert_true(n.tape[2].magnitude == 4 && isinf(n.tape[3].magnitude)); /* as large as the sum; beyond the range */
    assert_true(n.tape[4].magnitude == 64 * 0x1p-11 && n.tape[5].magnitude == 64 * 0x1p-11 + 0x1p-7);
    promise = (struct nnv_arithmetic){0};
    free(n.tape);
}

/* A row's noise has the size that row 0 wrote down, whatever the row's own value. */
static void test_rows_read_the_tape(void **state) {
    (void)state;
    struct nnv_noise n = {.rows = ROWS, .seed = 3};
    struct nnv_kernel k = row_kernel(&n, 0, 0, &promise);
    for (int i = 0; i < 200; i++) (void)nnv_round(&k, i + 1.0);
    int up = 0;
    for (int r = 1; r <= ROWS; r++) {
        k = row_kernel(&n, r, 0, &promise);
        for (int i = 0; i < 200; i++) {
            double m = n.tape[i].magnitude, d = nnv_round(&k, 1000) - 1000;
            assert_true(fabs(fabs(d) - m) < 1e-9);
            up += d > 0;
        }
        assert_int_equal(n.at, n.count);
    }
    assert_true(up > 1400 && up < 1800); /* of 3200: fair signs */
    assert_false(n.broken);
    free(n.tape);
}

static void test_replay_is_what_row_0_gave(void **state) {
    (void)state;
    struct nnv_noise n = {.rows = ROWS, .seed = 3};
    struct nnv_kernel k = row_kernel(&n, 0, 0, &promise);
    (void)nnv_sum(&k, 5, 4, 8, 1);
    k = row_kernel(&n, 1, 0, &promise);
    double replayed = nnv_noise_replay(&k);
    k = row_kernel(&n, 1, 0, &promise);
    assert_true(nnv_sum(&k, 5, 4, 0, 1) == replayed && fabs(replayed - 5) == n.tape[0].magnitude);
    assert_false(n.broken);
    (void)nnv_noise_replay(&k); /* one hook more than row 0 had */
    assert_true(n.broken);
    free(n.tape);
}

static void test_branches(void **state) {
    (void)state;
    struct nnv_noise n = {.rows = ROWS, .seed = 3, .op = 5};
    struct nnv_kernel k = row_kernel(&n, 0, 0, &promise);
    for (int i = 0; i < 100; i++) {
        assert_false(nnv_noise_branch(&k, -0.5, 1)); /* near */
        assert_true(nnv_noise_branch(&k, 2, 1));     /* far */
        assert_false(nnv_noise_branch(&k, 0, 0));    /* exact */
    }
    int taken[100] = {0}, row_3 = 0;
    for (int r = 1; r <= ROWS; r++) {
        k = row_kernel(&n, r, 0, &promise);
        for (int i = 0; i < 100; i++) {
            bool b = nnv_noise_branch(&k, -0.5, 1);
            taken[i] += b;
            if (r == 1) assert_true(b);
            if (r == 2) assert_false(b);
            if (r == 3) row_3 += b;
            assert_true(nnv_noise_branch(&k, 2, 1));
            assert_false(nnv_noise_branch(&k, 0, 0));
        }
    }
    for (int i = 0; i < 100; i++) assert_int_equal(taken[i], ROWS / 2);
    assert_true(row_3 > 20 && row_3 < 80);
    free(n.tape);
}

static void test_patterns_are_balanced(void **state) {
    (void)state;
    struct nnv_rng rng = nnv_rng_make(1, 2, 3);
    for (int rows = 1; rows <= NNV_MAX_ROWS; rows++)
        for (int i = 0; i < 50; i++) {
            uint64_t p = nnv_branch_pattern(&rng, rows);
            int up = __builtin_popcountll(p);
            assert_true((p & 1) == 1 && (rows < 2 || (p & 2) == 0));
            assert_true(rows < 3 || up == rows / 2 || up == rows - rows / 2);
            assert_true(rows == 64 || p >> rows == 0);
        }
}

static void test_hazard(void **state) {
    (void)state;
    struct nnv_noise n = {.rows = ROWS};
    struct nnv_kernel k = row_kernel(&n, 0, 0, &promise);
    assert_true(nnv_hazard(&k, 2, false) == 2 && !nnv_noise_active(&n));
    assert_true(nnv_hazard(&k, 2, true) == 2 && nnv_noise_active(&n));
    k = row_kernel(&n, 1, 0, &promise);
    assert_true(isnan(nnv_hazard(&k, 2, true)) && nnv_hazard(&k, 2, false) == 2);
}

static void test_spread_of_rows(void **state) {
    (void)state;
    double nan = (double)NAN, inf = (double)INFINITY, spread[5];
    double y[3][5] = {{1, 2, inf, nan, 3}, {1.5, nan, inf, nan, inf}, {0.25, 2, inf, nan, 3}};
    nnv_spread_rows(&y[0][0], 5, 2, 0, 5, spread);
    assert_true(spread[0] == 0.75 && isnan(spread[1]) && spread[2] == 0 && spread[3] == 0 && isnan(spread[4]));
    y[2][2] = 7;
    nnv_spread_rows(&y[0][0], 5, 2, 0, 5, spread);
    assert_true(isnan(spread[2]));
    nnv_spread_rows(&y[0][0], 5, 2, 7, 5, spread);
    assert_true(spread[2] == 0); /* 7 is the largest number, and stands for infinity */
}

/* Kernels see integers as units and real numbers, per channel where the operand says so. */
static void test_inputs(void **state) {
    (void)state;
    static const int8_t data[] = {1, -2, 3, 4, 5, -6};
    static float scales[] = {0.5f, 2, 4};
    uint32_t dims[] = {2, 3};
    struct nnv_operand o = {.type = ANEURALNETWORKS_TENSOR_QUANT8_SYMM_PER_CHANNEL, .rank = 2, .dims = dims};
    o.channel = (struct nnv_channel_quant){.dim = 1, .count = 3, .scales = scales};
    struct nnv_arg in = {.operand = &o, .present = true, .shape = nnv_shape_make(2, dims), .data = data};
    struct nnv_call call = {.nin = 1, .in = &in};
    call.pos[1] = -1;
    double space[12];
    struct nnv_row_input row = {.operand = &o, .elems = 6, .data = data, .space = space};
    assert_int_equal(nnv_row_space(&row), 12);
    struct nnv_kernel k = {.call = &call, .rows = &row};
    const double *q = nnv_units(&k, 0), *x = nnv_real(&k, 0);
    for (int e = 0; e < 6; e++) assert_true(q[e] == data[e] && x[e] == data[e] * (double)scales[e % 3]);
    assert_true(nnv_scale(&k, 0, 2) == 4 && nnv_elems(&k, 0) == 6 && nnv_elems(&k, 1) == 0 && !nnv_real(&k, 1));
    double rows[] = {1, -2, 3, 4, 5, -6, 1, -2, 3, 4, 7, -6};
    struct nnv_noise n = {.rows = 1};
    row = (struct nnv_row_input){.operand = &o, .elems = 6, .data = data, .stored = rows, .space = space};
    k = (struct nnv_kernel){.call = &call, .rows = &row, .row = 1, .spreads = true, .noise = &n};
    assert_true(nnv_real(&k, 0)[4] == 14 && nnv_real(&k, 0)[3] == 2);
    assert_true(nnv_spread(&k, 0, 4) == 4 && nnv_spread(&k, 0, 3) == 0); /* 2 units of scale 2 */
}

static void test_matmul(void **state) {
    (void)state;
    double a[] = {1, 2, 3, 4, 5, 6}, b[] = {1, 0, -1, 2, 2, 2}, c[4] = {9, 9, 9, 9};
    nnv_matmul(2, 2, 3, a, b, c);
    assert_true(c[0] == -2 && c[1] == 12 && c[2] == -2 && c[3] == 30);
    nnv_matmul(2, 2, 0, a, b, c);
    assert_true(c[0] == 0 && c[3] == 0);
    nnv_matmul(0, 2, 3, a, b, c);
}

/* Panels with remainders, and beyond the size at which the library takes over: integers are exact in all. */
static void test_matmul_sizes(void **state) {
    (void)state;
    static const size_t sizes[][3] = {{3, 11, 1030}, {1, 8, 512}, {2, 1, 5}, {130, 140, 150}};
    for (size_t t = 0; t < 4; t++) {
        size_t m = sizes[t][0], n = sizes[t][1], k = sizes[t][2];
        double *a = malloc(m * k * sizeof *a), *b = malloc(n * k * sizeof *b), *c = malloc(m * n * sizeof *c);
        assert_true(a && b && c);
        for (size_t i = 0; i < m * k; i++) a[i] = (double)(i * 7 % 23) - 11;
        for (size_t i = 0; i < n * k; i++) b[i] = (double)(i * 5 % 19) - 9;
        nnv_matmul(m, n, k, a, b, c);
        for (size_t i = 0; i < m; i++)
            for (size_t j = 0; j < n; j++) {
                double want = 0;
                for (size_t p = 0; p < k; p++) want += a[i * k + p] * b[j * k + p];
                assert_true(c[i * n + j] == want);
            }
        free(a), free(b), free(c);
    }
}

static void test_image_layouts(void **state) {
    (void)state;
    struct nnv_shape s = nnv_shape_make(4, (uint32_t[]){2, 3, 4, 5});
    struct nnv_image_layout nhwc = nnv_image_of(&s, false), nchw = nnv_image_of(&s, true);
    assert_true(nhwc.h == 3 && nhwc.w == 4 && nhwc.c == 5 && nchw.c == 3 && nchw.h == 4 && nchw.w == 5);
    assert_int_equal(nnv_image_at(&nhwc, 1, 2, 3, 4), 119);
    assert_int_equal(nnv_image_at(&nchw, 1, 3, 4, 2), 119);
    assert_int_equal(nnv_image_at(&nhwc, 0, 1, 0, 2), 22);
    assert_int_equal(nnv_image_at(&nchw, 0, 1, 0, 2), 45);
}

/* Row 0 decides; at open decisions alternatives differ, and for the same key they do not. */
static void test_decisions(void **state) {
    (void)state;
    struct nnv_kernel none = {.row = 0};
    assert_true(nnv_decide(&none, 1, 2) && !nnv_decide(&none, 0, 2) && nnv_recall(&none, 5) == 5);
    int up = 0, same = 0, apart = 0;
    for (uint64_t a = 0; a <= 64; a++) {
        struct nnv_noise n = {.rows = ROWS, .seed = 3, .alternative = a};
        struct nnv_kernel k = row_kernel(&n, 0, 0, &promise);
        assert_true(nnv_decide(&k, 2, 1) && !nnv_decide(&k, -2, 1) && !nnv_decide(&k, 0, 0));
        assert_false(n.open);
        bool first = nnv_decide(&k, -0.5, 1), second = nnv_decide(&k, -0.5, 1);
        assert_true(n.open);
        assert_true(a > 0 || !(first || second)); /* the golden result takes no liberty */
        up += first + second;
        apart += first != second;
        bool keyed = nnv_decide_same(&k, -0.5, 1, 17);
        same += keyed == nnv_decide_same(&k, -0.5, 1, 17);
        assert_int_equal(n.count, 0);
        free(n.tape);
    }
    assert_true(up > 40 && up < 88 && apart > 16);
    assert_int_equal(same, 65);
}

static void test_rows_recall(void **state) {
    (void)state;
    struct nnv_noise n = {.rows = ROWS, .seed = 3};
    struct nnv_kernel k = row_kernel(&n, 0, 0, &promise);
    assert_true(nnv_recall(&k, 7) == 7);
    assert_false(nnv_noise_active(&n));
    k = row_kernel(&n, 1, 0, &promise);
    assert_true(nnv_recall(&k, 9) == 7);
    assert_false(n.broken);
    (void)nnv_recall(&k, 9);
    assert_true(n.broken);
    free(n.tape);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_hooks_do_nothing_without_noise),
        cmocka_unit_test(test_magnitudes),
        cmocka_unit_test(test_magnitudes_that_are_promised),
        cmocka_unit_test(test_rows_read_the_tape),
        cmocka_unit_test(test_replay_is_what_row_0_gave),
        cmocka_unit_test(test_branches),
        cmocka_unit_test(test_patterns_are_balanced),
        cmocka_unit_test(test_hazard),
        cmocka_unit_test(test_decisions),
        cmocka_unit_test(test_rows_recall),
        cmocka_unit_test(test_spread_of_rows),
        cmocka_unit_test(test_inputs),
        cmocka_unit_test(test_matmul),
        cmocka_unit_test(test_matmul_sizes),
        cmocka_unit_test(test_image_layouts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
