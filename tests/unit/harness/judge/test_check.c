/* SPDX-License-Identifier: Apache-2.0 */
/** The checker: each rule at its bound and one step above it. */
#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "harness/judge/check.h"

enum { F32 = ANEURALNETWORKS_TENSOR_FLOAT32, F16 = ANEURALNETWORKS_TENSOR_FLOAT16, I32 = ANEURALNETWORKS_TENSOR_INT32 };
enum {
    Q8 = ANEURALNETWORKS_TENSOR_QUANT8_ASYMM,
    Q16 = ANEURALNETWORKS_TENSOR_QUANT16_SYMM,
    B8 = ANEURALNETWORKS_TENSOR_BOOL8
};
#define NNAPI NNV_PRECISION_NNAPI
#define AOSP NNV_PRECISION_AOSP
#define BUDGET NNV_PRECISION_BUDGET
#define GRAPH NNV_PRECISION_AOSP_GRAPH
enum { MAX = 4096 };

static struct nnv_value value;
static uint8_t expected_bytes[MAX * 4], actual_bytes[MAX * 4];
static struct nnv_comparison result;

/** Compares n elements of e->type given as numbers. Returns how many are wrong. */
static size_t check(struct nnv_expectation *e, enum nnv_precision p, size_t n, const double *expected,
                    const double *actual) {
    nnv_store(e->type, expected, n, expected_bytes);
    nnv_store(e->type, actual, n, actual_bytes);
    value = (struct nnv_value){
        .rank = 1, .dims = {(uint32_t)n}, .data = expected_bytes, .bytes = n * nnv_type(e->type)->size};
    e->value = &value;
    if (e->k == 0) e->k = 2;
    nnv_check(e, actual_bytes, p, &result);
    assert_int_equal(result.elems, n);
    assert_int_equal(result.compared + result.not_compared, n);
    return result.wrong;
}

static size_t check1(struct nnv_expectation e, enum nnv_precision p, double expected, double actual) {
    return check(&e, p, 1, &expected, &actual);
}

/** The number that follows v in the type, upwards. */
static double above(int32_t type, double v) {
    if (type == F32) return (double)nextafterf((float)v, INFINITY);
    return v + nnv_ulp(type, v);
}

/** The largest number of the type that is not above v. */
static double floor_to(int32_t type, double v) {
    double r = nnv_round_to(type, v);
    while (r > v) r -= nnv_ulp(type, r);
    return r;
}

/** Errors up to the bound pass, on both sides; one step more fails. */
static void assert_bound(struct nnv_expectation e, enum nnv_precision p, double expected, double bound) {
    double last = floor_to(e.type, expected + bound);
    assert_int_equal(check1(e, p, expected, last), 0);
    assert_int_equal(result.compared, 1);
    assert_int_equal(check1(e, p, expected, above(e.type, last)), 1);
    assert_int_equal(check1(e, p, -expected, -last), 0);
    assert_int_equal(check1(e, p, -expected, -above(e.type, last)), 1);
}

/* ------------------------------------------------------------------ fixed rules */

static void float32_tolerances(void **state) {
    (void)state;
    const struct nnv_expectation e = {.type = F32};
    assert_bound(e, NNAPI, 0, 1e-5);
    assert_bound(e, NNAPI, 1, 2e-5);
    assert_bound(e, NNAPI, 1000, 1e-5 + 1e-2);
    assert_bound(e, AOSP, 0, 1e-5);
    assert_bound(e, AOSP, 1, 1e-5 + 5 * 0x1p-23);
    assert_bound(e, AOSP, 4096, 1e-5 + 4096 * 5 * 0x1p-23);
    assert_string_equal(result.rule, "|error| <= 1e-05 + 5.96e-07 |expected|");
}

static void float16_tolerances(void **state) {
    (void)state;
    for (int p = (int)NNAPI; p <= (int)AOSP; p++) {
        const struct nnv_expectation half = {.type = F16}, low = {.type = F32, .low_precision = true};
        assert_bound(half, (enum nnv_precision)p, 0, 5 * 0x1p-10);
        assert_bound(half, (enum nnv_precision)p, 1, 10 * 0x1p-10);
        assert_bound(low, (enum nnv_precision)p, 0, 5 * 0x1p-10);
        assert_bound(low, (enum nnv_precision)p, 100, 505 * 0x1p-10);
    }
}

static void unit_tolerances(void **state) {
    (void)state;
    const struct {
        struct nnv_expectation e;
        enum nnv_precision p;
        double bound;
    } rows[] = {
        {{.type = Q8}, NNAPI, 1},  {{.type = Q8, .mobilenet = true}, NNAPI, 2},
        {{.type = Q8}, AOSP, 1},   {{.type = Q8, .mobilenet = true}, AOSP, 3},
        {{.type = Q16}, NNAPI, 1}, {{.type = Q16, .mobilenet = true}, AOSP, 1},
        {{.type = I32}, NNAPI, 0}, {{.type = I32}, AOSP, 1},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        for (int sign = -1; sign <= 1; sign += 2) {
            assert_int_equal(check1(rows[i].e, rows[i].p, 100, 100 + sign * rows[i].bound), 0);
            assert_int_equal(check1(rows[i].e, rows[i].p, 100, 100 + sign * (rows[i].bound + 1)), 1);
        }
        assert_true(result.worst_bound == rows[i].bound);
    }
}

static void booleans_are_exact(void **state) {
    (void)state;
    for (int p = (int)NNAPI; p <= (int)BUDGET; p++) {
        assert_int_equal(check1((struct nnv_expectation){.type = B8}, (enum nnv_precision)p, 1, 1), 0);
        assert_int_equal(check1((struct nnv_expectation){.type = B8}, (enum nnv_precision)p, 1, 0), 1);
        assert_int_equal(check1((struct nnv_expectation){.type = B8}, (enum nnv_precision)p, 0, 1), 1);
    }
    uint8_t any = 7; /* any byte but 0 is true */
    const double one = 1;
    struct nnv_expectation e = {.type = B8};
    check(&e, NNAPI, 1, &one, &one);
    nnv_check(&e, &any, NNAPI, &result);
    assert_int_equal(result.wrong, 0);
}

static void exact_cases_have_no_tolerance(void **state) {
    (void)state;
    for (int p = (int)NNAPI; p <= (int)BUDGET; p++) {
        const double spread = 100;
        const struct nnv_expectation f = {.type = F32, .must_equal = true, .spread = &spread};
        const struct nnv_expectation q = {.type = Q8, .must_equal = true, .spread = &spread, .mobilenet = true};
        assert_int_equal(check1(f, (enum nnv_precision)p, 3, 3), 0);
        assert_int_equal(check1(f, (enum nnv_precision)p, 3, above(F32, 3)), 1);
        assert_true(isinf(result.worst_ratio));
        assert_string_equal(result.rule, "equal");
        assert_int_equal(check1(q, (enum nnv_precision)p, 3, 3), 0);
        assert_int_equal(check1(q, (enum nnv_precision)p, 3, 4), 1);
    }
}

/* --------------------------------------------------------------------- classes */

static void classes(void **state) {
    (void)state;
    const double inf = (double)INFINITY, nan = (double)NAN, spread = 0;
    for (int p = (int)NNAPI; p <= (int)BUDGET; p++) {
        const struct nnv_expectation e = {.type = F32, .spread = &spread};
        enum nnv_precision q = (enum nnv_precision)p;
        assert_int_equal(check1(e, q, 1, nan), 1);
        assert_true(isinf(result.worst_ratio));
        assert_int_equal(check1(e, q, 1, inf), 1);
        assert_int_equal(check1(e, q, 0, -inf), 1);
        assert_int_equal(check1(e, q, inf, inf), 0);
        assert_int_equal(check1(e, q, inf, -inf), 1);
        assert_int_equal(check1(e, q, inf, (double)FLT_MAX), 1);
        assert_int_equal(check1(e, q, inf, nan), 1);
        assert_int_equal(check1(e, q, nan, nan), 0);
        assert_int_equal(check1(e, q, nan, 1), 1);
        assert_int_equal(check1(e, q, nan, inf), 1);
        assert_int_equal(check1(e, q, 0.0, -0.0), 0); /* zeros of either sign are equal */
        assert_int_equal(check1(e, q, -0.0, 0.0), 0);
        assert_int_equal(result.compared, 1);
    }
    assert_int_equal(check1((struct nnv_expectation){.type = F32, .must_equal = true}, NNAPI, -0.0, 0.0), 0);
}

/* The same classes for those that compare one by one: a bound of infinity takes no number for an infinity. */
static void classes_one_by_one(void **state) {
    (void)state;
    const double inf = (double)INFINITY, nan = (double)NAN;
    const double right[][3] = {{1, 1.5, 0.5}, {inf, inf, 0}, {-inf, -inf, 0}, {nan, nan, 0}, {0.0, -0.0, 0}};
    const double wrong[][3] = {{1, 1.6, 0.5},   {inf, 1, inf}, {inf, -inf, inf}, {1, inf, 1e308},
                               {nan, inf, inf}, {nan, 1, inf}, {1, nan, inf},    {inf, nan, inf}};
    for (size_t i = 0; i < sizeof right / sizeof *right; i++)
        assert_true(nnv_check_within(right[i][0], right[i][1], right[i][2]));
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_false(nnv_check_within(wrong[i][0], wrong[i][1], wrong[i][2]));
}

/* --------------------------------------------------------------------- budgets */

static void float_budget(void **state) {
    (void)state;
    const double spread = 0x1p-20, none = 0;
    const struct nnv_expectation e = {.type = F32, .spread = &spread};
    assert_bound(e, BUDGET, 1, 0x1p-19 + 0x1p-23);
    assert_bound((struct nnv_expectation){.type = F32, .spread = &spread, .k = 3}, BUDGET, 1, 3 * 0x1p-20 + 0x1p-23);
    assert_bound((struct nnv_expectation){.type = F32, .spread = &none}, BUDGET, 1, 0x1p-23);
    assert_bound((struct nnv_expectation){.type = F32, .spread = &none}, BUDGET, 0, 0x1p-126);
    assert_bound((struct nnv_expectation){.type = F32}, BUDGET, 1, 0x1p-23);
    assert_bound((struct nnv_expectation){.type = F16, .spread = &none}, BUDGET, 1, 0x1p-10 + 0x1p-14);
    assert_bound((struct nnv_expectation){.type = F32, .spread = &none, .low_precision = true}, BUDGET, 1,
                 0x1p-10 + 0x1p-14);
    assert_bound((struct nnv_expectation){.type = F32, .spread = &spread, .half_step = 0x1p-10}, BUDGET, 1,
                 0x1p-19 + 0x1p-23 + 0x1p-10);
}

static void wide_budget_is_not_compared(void **state) {
    (void)state;
    const double at = 0.25, over = 0.2500001, nan = (double)NAN, inf = (double)INFINITY;
    assert_int_equal(check1((struct nnv_expectation){.type = F32, .spread = &at}, BUDGET, 1, 9), 1);
    const double *wide[] = {&over, &nan, &inf};
    for (size_t i = 0; i < 3; i++) {
        struct nnv_expectation e = {.type = F32, .spread = wide[i]};
        assert_int_equal(check1(e, BUDGET, 1, 9), 0);
        assert_int_equal(result.not_compared, 1);
        assert_int_equal(check1(e, BUDGET, 1, nan), 0); /* a NaN is accepted there only */
        assert_int_equal(result.compared, 0);
    }
    /* The tensor's rms keeps small elements compared. */
    const double expected[] = {0, 100, 100, 100}, actual[] = {30, 100, 100, 100}, spread[] = {10, 0, 0, 0};
    struct nnv_expectation e = {.type = F32, .spread = spread};
    assert_int_equal(check(&e, BUDGET, 4, expected, actual), 1);
    assert_int_equal(result.compared, 4);
}

/* A budget may be half the root of the mean square of all finite elements, wherever they stand. */
static void rms_is_of_all_elements(void **state) {
    (void)state;
    enum { ALL = 1024 };
    static double expected[ALL], spread[ALL];
    static const size_t where[] = {0, 300, ALL - 1};
    struct nnv_expectation e = {.type = F32, .spread = spread};
    for (size_t i = 0; i < sizeof where / sizeof *where; i++) {
        expected[where[i]] = 32; /* the root is 1 */
        spread[1] = 0.25;
        assert_int_equal(check(&e, BUDGET, ALL, expected, expected), 0);
        assert_int_equal(result.compared, ALL);
        spread[1] = 0.2500001;
        assert_int_equal(check(&e, BUDGET, ALL, expected, expected), 0);
        assert_int_equal(result.compared, ALL - 1);
        expected[where[i]] = 0;
    }
    const double some[] = {(double)INFINITY, 0, 1, 1, (double)NAN}; /* of two thirds: 0.8165 */
    spread[1] = 0.20412;
    assert_int_equal(check(&e, BUDGET, 5, some, some), 0);
    assert_int_equal(result.compared, 5);
    spread[1] = 0.20413;
    assert_int_equal(check(&e, BUDGET, 5, some, some), 0);
    assert_int_equal(result.compared, 4);
}

static void overflow_is_open(void **state) {
    (void)state;
    const double wide = 100, narrow = 1, inf = (double)INFINITY;
    assert_int_equal(check1((struct nnv_expectation){.type = F16, .spread = &wide}, BUDGET, 65504, inf), 0);
    assert_int_equal(result.not_compared, 1);
    assert_int_equal(check1((struct nnv_expectation){.type = F16, .spread = &narrow}, BUDGET, 60000, inf), 1);
    struct nnv_expectation relaxed = {.type = F32, .spread = &narrow, .low_precision = true};
    assert_int_equal(check1(relaxed, BUDGET, 70000, inf), 0);
    assert_int_equal(result.not_compared, 1);
    relaxed.low_precision = false;
    assert_int_equal(check1(relaxed, BUDGET, 70000, inf), 1);
}

static void unit_budget(void **state) {
    (void)state;
    const double zero = 0, one = 1, wide = 254, all = 255, nan = (double)NAN;
    const int32_t types[] = {Q8, I32, Q16};
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(check1((struct nnv_expectation){.type = types[i], .spread = &zero}, BUDGET, 7, 7), 0);
        assert_int_equal(check1((struct nnv_expectation){.type = types[i], .spread = &zero}, BUDGET, 7, 8), 1);
        assert_int_equal(check1((struct nnv_expectation){.type = types[i], .spread = &one}, BUDGET, 7, 6), 0);
        assert_int_equal(check1((struct nnv_expectation){.type = types[i], .spread = &one}, BUDGET, 7, 9), 1);
        assert_int_equal(check1((struct nnv_expectation){.type = types[i], .spread = &nan}, BUDGET, 7, 99), 0);
        assert_int_equal(result.not_compared, 1);
    }
    assert_int_equal(check1((struct nnv_expectation){.type = Q8, .spread = &wide}, BUDGET, 0, 255), 1);
    assert_int_equal(check1((struct nnv_expectation){.type = Q8, .spread = &all}, BUDGET, 0, 255), 0);
    assert_int_equal(result.not_compared, 1);
    assert_int_equal(check1((struct nnv_expectation){.type = B8, .spread = &one}, BUDGET, 0, 1), 0);
    assert_int_equal(result.not_compared, 1);
}

static void ignored_is_counted(void **state) {
    (void)state;
    assert_int_equal(check1((struct nnv_expectation){.type = F32, .ignored = true}, NNAPI, 1, 5), 0);
    assert_int_equal(result.not_compared, 1);
    assert_string_equal(result.rule, "ignored");
    struct nnv_expectation empty = {.type = F32};
    assert_int_equal(check(&empty, BUDGET, 0, NULL, NULL), 0);
}

/* ------------------------------------------------------------------ statistics */

static void statistics(void **state) {
    (void)state;
    double expected[MAX], actual[MAX], exact[MAX];
    for (size_t i = 0; i < MAX; i++) expected[i] = actual[i] = (double)(i % 50);
    actual[700] += 3; /* beyond the first block */
    actual[20] -= 2;
    struct nnv_expectation e = {.type = Q8, .scale = 0.5f, .zero_point = 10};
    assert_int_equal(check(&e, NNAPI, MAX, expected, actual), 2);
    assert_int_equal(result.worst, 700);
    assert_true(result.worst_expected == 0 && result.worst_actual == 3 && result.worst_error == 3);
    assert_true(result.worst_bound == 1 && result.worst_ratio == 3 && result.max_ulp == 3);
    assert_true(result.bias == 1.0 / MAX && result.mse == 13.0 / MAX);
    for (size_t i = 0; i < MAX; i++) exact[i] = (expected[i] - 10 - 0.25) * 0.5;
    e.exact = exact;
    assert_int_equal(check(&e, NNAPI, MAX, expected, expected), 0);
    assert_true(fabs(result.bias - 0.25) < 0.01); /* -0.25 is clamped where expected is 0 */
    assert_true(result.max_ulp == 0 && result.worst_ratio == 0);
    const double ones[] = {1, 1}, far[] = {1, 5}, open[] = {0, (double)NAN}; /* what is not compared counts nowhere */
    e = (struct nnv_expectation){.type = F32, .spread = open};
    assert_int_equal(check(&e, BUDGET, 2, ones, far), 0);
    assert_int_equal(result.not_compared, 1);
    assert_true(result.bias == 0 && result.mse == 0);
}

static void ulps(void **state) {
    (void)state;
    const double expected[] = {1, 1024, 0.5}, actual[] = {1 + 0x1p-22, 1024 + 0x1p-13 * 3, 0.5};
    struct nnv_expectation e = {.type = F32};
    assert_int_equal(check(&e, NNAPI, 3, expected, actual), 0);
    assert_true(result.max_ulp == 3);
}

static struct nnv_check_error_map map;

static size_t hot_cells(void) {
    size_t hot = 0;
    for (size_t i = 0; i < (size_t)map.rows * map.cols; i++) hot += map.cells[i] > 0;
    return hot;
}

static void pictures(void **state) {
    (void)state;
    enum { ROWS = 20, COLS = 30 };
    double expected[ROWS * COLS] = {0}, actual[ROWS * COLS] = {0};
    actual[7 * COLS + 28] = 200;
    actual[3] = 1;
    struct nnv_expectation e = {.type = Q8};
    assert_int_equal(check(&e, NNAPI, ROWS * COLS, expected, actual), 1);
    value = (struct nnv_value){.rank = 3, .dims = {4, ROWS / 4, COLS}, .data = expected_bytes, .bytes = ROWS * COLS};
    nnv_check(&e, actual_bytes, NNAPI, &result);
    nnv_check_error_map(&e, actual_bytes, NNAPI, false, &map);
    assert_int_equal(map.rows, ROWS);
    assert_int_equal(map.cols, COLS);
    assert_int_equal(map.cells[7 * COLS + 28], 255);
    assert_int_equal(map.cells[3], 128);
    assert_int_equal(map.cells[4], 0);
    struct nnv_check_window w;
    nnv_check_window(&e, actual_bytes, NNAPI, result.worst, &w);
    assert_int_equal(w.rows, NNV_WINDOW_MAX);
    assert_int_equal(w.cols, NNV_WINDOW_MAX);
    assert_int_equal(w.col, COLS - NNV_WINDOW_MAX); /* cut at the edge */
    size_t at = (7 - w.row) * w.cols + 28 - w.col;
    assert_true(w.actual[at] == 200 && w.expected[at] == 0 && w.bound[at] == 1);
    value = (struct nnv_value){.rank = 0, .data = expected_bytes, .bytes = 1};
    nnv_check_error_map(&e, actual_bytes, NNAPI, false, &map);
    assert_true(map.rows == 1 && map.cols == 1);
}

static void large_heat(void **state) {
    (void)state;
    enum { ROWS = 3, COLS = 300 };
    double expected[ROWS * COLS] = {0}, actual[ROWS * COLS] = {0};
    actual[ROWS * COLS - 1] = 2;
    struct nnv_expectation e = {.type = Q8};
    check(&e, NNAPI, ROWS * COLS, expected, actual);
    value.rank = 2;
    value.dims[0] = ROWS;
    value.dims[1] = COLS;
    nnv_check(&e, actual_bytes, NNAPI, &result);
    nnv_check_error_map(&e, actual_bytes, NNAPI, false, &map);
    assert_int_equal(map.rows, ROWS);
    assert_int_equal(map.cols, NNV_ERROR_MAP_MAX);
    assert_in_range(map.cells[ROWS * NNV_ERROR_MAP_MAX - 1], 129, 200);
    assert_int_equal(hot_cells(), 1);
    assert_true(result.l1 == 2 && result.l2 == 2 && result.max == 2);
}

/** A border of one channel is a border of one plane, in both orders of an image. */
static void planes(void **state) {
    (void)state;
    enum { N = 2, H = 3, W = 5, C = 4, ELEMS = N * H * W * C };
    const double expected[ELEMS] = {0};
    double actual[2][ELEMS] = {{0}};
    for (size_t y = 0; y < H; y++)
        for (size_t x = 0; x < W; x++)
            if (y == 0 || x == W - 1)
                actual[0][((1 * H + y) * W + x) * C + 2] = actual[1][((1 * C + 2) * H + y) * W + x] = 9;
    for (int nchw = 0; nchw < 2; nchw++) {
        struct nnv_expectation e = {.type = Q8};
        check(&e, NNAPI, ELEMS, expected, actual[nchw]);
        value.rank = 4;
        memcpy(value.dims, nchw ? (uint32_t[]){N, C, H, W} : (uint32_t[]){N, H, W, C}, 4 * sizeof(uint32_t));
        nnv_check_error_map(&e, actual_bytes, NNAPI, nchw, &map);
        assert_int_equal(map.planes, N * C);
        assert_int_equal(map.channels, 1);
        assert_int_equal(map.rows, map.down * H);
        assert_int_equal(map.cols, map.across * W);
        assert_int_equal(hot_cells(), H + W - 1);
        const size_t plane = 1 * C + 2, top = plane / map.across * H, left = plane % map.across * W;
        for (size_t y = 0; y < H; y++)
            for (size_t x = 0; x < W; x++)
                assert_int_equal(map.cells[(top + y) * map.cols + left + x] > 0, y == 0 || x == W - 1);
    }
}

/** More channels than planes have room: several share one; planes larger than the picture are made smaller. */
static void crowded_planes(void **state) {
    (void)state;
    enum { H = 2, W = NNV_ERROR_MAP_MAX + 1, C = 100 };
    static double expected[H * W * C], actual[H * W * C];
    actual[H * W * C - 1] = 9;
    struct nnv_expectation e = {.type = Q8};
    check(&e, NNAPI, H * W * C, expected, actual);
    value.rank = 4;
    memcpy(value.dims, (uint32_t[]){1, H, W, C}, 4 * sizeof(uint32_t));
    nnv_check_error_map(&e, actual_bytes, NNAPI, false, &map);
    assert_int_equal(map.rows, NNV_ERROR_MAP_MAX);
    assert_int_equal(map.cols, NNV_ERROR_MAP_MAX);
    assert_int_equal(map.planes, NNV_ERROR_MAP_MAX / H);
    assert_int_equal(map.channels, 4);
    assert_int_equal(hot_cells(), 1);
    assert_true(map.cells[NNV_ERROR_MAP_MAX * NNV_ERROR_MAP_MAX - 1] > 0);
}

static void names(void **state) {
    (void)state;
    assert_string_equal(nnv_precision_name(NNAPI), "nnapi");
    assert_string_equal(nnv_precision_name(AOSP), "aosp");
    assert_string_equal(nnv_precision_name(BUDGET), "budget");
    assert_string_equal(nnv_precision_name(GRAPH), "aosp-graph");
}

/* ------------------------------------------------------- AOSP's random graph test */

/** The rule for a model of n operations of this kind. */
static const struct nnv_graph_rule *rule_for(int32_t op, uint32_t n) {
    static struct nnv_operation operations[20];
    for (uint32_t i = 0; i < n; i++) operations[i].type = op;
    const struct nnv_model model = {.main = {.operations = operations, .noperations = n}};
    return nnv_graph_rule(&model);
}

static void graph_rules(void **state) {
    (void)state;
    assert_true(rule_for(ANEURALNETWORKS_RESHAPE, 1)->full.tolerance == 1e-6);
    assert_true(rule_for(ANEURALNETWORKS_ADD, 1)->full.tolerance == 1e-5);
    assert_true(rule_for(ANEURALNETWORKS_TANH, 1)->full.tolerance == 1e-3);
    assert_true(rule_for(ANEURALNETWORKS_CONV_2D, 1)->full.tolerance == 2e-2);
    assert_true(rule_for(ANEURALNETWORKS_ADD, 2)->full.tolerance == 1e-2);
    assert_true(rule_for(ANEURALNETWORKS_ADD, 10)->full.tolerance == 1e-2);
    assert_true(rule_for(ANEURALNETWORKS_ADD, 11)->full.tolerance == 1e-1);
    assert_true(rule_for(ANEURALNETWORKS_ADD, 11)->units.tolerance == 12);
}

static void graph_elements(void **state) {
    (void)state;
    const struct nnv_graph_rule *add = rule_for(ANEURALNETWORKS_ADD, 1);
    const struct nnv_expectation f = {.type = F32, .graph = add}, h = {.type = F16, .graph = add};
    const struct nnv_expectation q = {.type = Q8, .graph = add}, i = {.type = I32, .graph = add};
    assert_int_equal(check1(f, GRAPH, 4, 4.000049f), 0); /* 1e-5 + 4e-5 */
    assert_int_equal(check1(f, GRAPH, 4, 4.000052f), 1);
    assert_int_equal(check1(h, GRAPH, 4, 4.046875), 0); /* 1e-2 + 4e-2 */
    assert_int_equal(check1(h, GRAPH, 4, 4.0546875), 1);
    assert_int_equal(check1(q, GRAPH, 100, 102), 0);
    assert_int_equal(check1(q, GRAPH, 100, 103), 1);
    assert_int_equal(check1(i, GRAPH, 100, 101), 0);
    assert_int_equal(check1(i, GRAPH, 100, 102), 1);
    assert_int_equal(check1(f, GRAPH, 1001, 5), 0); /* large floats are not compared */
    assert_int_equal(result.compared, 0);
    assert_int_equal(check1(h, GRAPH, 101, 5), 0);
    assert_int_equal(result.compared, 0);
}

/** Each of n units is two off, as it may be; together they may not. */
static void graph_means(void **state) {
    (void)state;
    double expected[20], actual[20];
    struct nnv_expectation q = {.type = Q8, .graph = rule_for(ANEURALNETWORKS_ADD, 1)};
    for (int i = 0; i < 20; i++) actual[i] = (expected[i] = 50 + i) + 2;
    assert_int_equal(check(&q, GRAPH, 9, expected, actual), 0); /* too few for a mean */
    assert_int_equal(check(&q, GRAPH, 10, expected, actual), 10);
    assert_non_null(strstr(result.note, "mean error 2 (allowed: 1.2)"));
    for (int i = 0; i < 20; i += 2) actual[i] -= 4; /* no bias, but a mean square of 4 */
    assert_int_equal(check(&q, GRAPH, 20, expected, actual), 20);
    for (int i = 0; i < 20; i++) actual[i] = expected[i] + (i % 4 ? 0 : 2); /* 0.5 and 1 */
    assert_int_equal(check(&q, GRAPH, 20, expected, actual), 0);
}

static void graph_booleans(void **state) {
    (void)state;
    double expected[20] = {0}, actual[20] = {1, 1};
    struct nnv_expectation b = {.type = B8, .graph = rule_for(ANEURALNETWORKS_LESS, 1)};
    assert_int_equal(check(&b, GRAPH, 20, expected, actual), 0); /* a tenth */
    actual[2] = 1;
    assert_int_equal(check(&b, GRAPH, 20, expected, actual), 3);
    assert_int_equal(check(&b, BUDGET, 20, expected, actual), 3);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(classes_one_by_one),
        cmocka_unit_test(float32_tolerances),
        cmocka_unit_test(float16_tolerances),
        cmocka_unit_test(unit_tolerances),
        cmocka_unit_test(booleans_are_exact),
        cmocka_unit_test(exact_cases_have_no_tolerance),
        cmocka_unit_test(classes),
        cmocka_unit_test(float_budget),
        cmocka_unit_test(wide_budget_is_not_compared),
        cmocka_unit_test(rms_is_of_all_elements),
        cmocka_unit_test(overflow_is_open),
        cmocka_unit_test(unit_budget),
        cmocka_unit_test(ignored_is_counted),
        cmocka_unit_test(statistics),
        cmocka_unit_test(ulps),
        cmocka_unit_test(pictures),
        cmocka_unit_test(large_heat),
        cmocka_unit_test(planes),
        cmocka_unit_test(crowded_planes),
        cmocka_unit_test(names),
        cmocka_unit_test(graph_rules),
        cmocka_unit_test(graph_elements),
        cmocka_unit_test(graph_means),
        cmocka_unit_test(graph_booleans),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
