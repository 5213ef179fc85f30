/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file test_cpu_driver_reduce.c Operations of the driver "cpu" along axes: reductions, positions, normalisations.
 * Values worked by hand, and models that are refused.
 */
#include "tests/kit/driver_op.h"

#define OP(NAME) ANEURALNETWORKS_##NAME
#define DROP BOOL_SCALAR(0)
#define KEEP BOOL_SCALAR(1)

/* ----------------------------------------------------------------- reductions */

/** x[a, b, c, d] = 8a + 4b + 2c + d: the sum over any two axes follows from that. */
static void test_sum_axes(void **state) {
    (void)state;
    float v[16];
    for (int i = 0; i < 16; i++) v[i] = (float)i;
    const struct given x = {F32, DIMS(2, 2, 2, 2), v};
    check_op(OP(REDUCE_SUM), INPUTS(x, AXES(0, 2), DROP), OUTPUT(F32, DIMS(2, 2), FLOATS(20, 24, 36, 40)));
    check_op(OP(REDUCE_SUM), INPUTS(x, AXES(-1, 1), DROP), OUTPUT(F32, DIMS(2, 2), FLOATS(10, 18, 42, 50)));
    check_op(OP(REDUCE_SUM), INPUTS(x, AXES(1, 2), DROP), OUTPUT(F32, DIMS(2, 2), FLOATS(12, 16, 44, 48)));
    check_op(OP(REDUCE_SUM), INPUTS(x, AXES(3, 2, 3, -1), KEEP), OUTPUT(F32, DIMS(2, 2, 1, 1), FLOATS(6, 22, 38, 54)));
    check_op(OP(REDUCE_SUM), INPUTS(x, AXES(0, 1), DROP), OUTPUT(F32, DIMS(2, 2), FLOATS(24, 28, 32, 36)));
    check_op(OP(REDUCE_SUM), INPUTS(x, AXES(0, 3), DROP), OUTPUT(F32, DIMS(2, 2), FLOATS(18, 26, 34, 42)));
    check_op(OP(REDUCE_SUM), INPUTS(x, AXES(0, 1, 2, 3), DROP), OUTPUT(F32, DIMS(1), FLOATS(120)));
    check_op(OP(REDUCE_SUM), INPUTS(x, AXES(0, 1, 2, 3), KEEP), OUTPUT(F32, DIMS(1, 1, 1, 1), FLOATS(120)));
    check_op(OP(REDUCE_SUM), INPUTS({F32, DIMS(2, 1, 3), v}, AXES(1), DROP),
             OUTPUT(F32, DIMS(2, 3), FLOATS(0, 1, 2, 3, 4, 5)));
    check_op(OP(REDUCE_SUM), INPUTS({F32, DIMS(1, 1), FLOATS(7)}, AXES(0), DROP), OUTPUT(F32, DIMS(1), FLOATS(7)));
}

/** Longer than a block and a chunk, on more than one thread; exact in any order. */
static void test_sum_large(void **state) {
    (void)state;
    enum { M = 400, N = 600 };
    static float x[M * N], rows[M], columns[N];
    for (int i = 0; i < M * N; i++) {
        x[i] = (float)(i * 7 % 31 - 9);
        rows[i / N] += x[i];
        columns[i % N] += x[i];
    }
    check_op(OP(REDUCE_SUM), INPUTS({F32, DIMS(M, N), x}, AXES(1), DROP), OUTPUT(F32, DIMS(M), rows));
    check_op(OP(REDUCE_SUM), INPUTS({F32, DIMS(M, N), x}, AXES(0), DROP), OUTPUT(F32, DIMS(N), columns));
}

static void test_mean(void **state) {
    (void)state;
    check_op(OP(MEAN), INPUTS({F32, DIMS(2, 3), FLOATS(1, 2, 6, -1, 0, 4)}, AXES(1), INT_SCALAR(0)),
             OUTPUT(F32, DIMS(2), FLOATS(3, 1)));
    check_op(OP(MEAN), INPUTS({F32, DIMS(2, 3), FLOATS(1, 2, 6, -1, 0, 4)}, AXES(-2), INT_SCALAR(2)),
             OUTPUT(F32, DIMS(1, 3), FLOATS(0, 1, 5)));
    check_op(OP(MEAN), INPUTS({F16, DIMS(2, 1), HALVES(0x7bff, 0x7bff)}, AXES(0), INT_SCALAR(-1)),
             OUTPUT(F16, DIMS(1), HALVES(0x7bff))); /* the sum exceeds float16, the mean does not */
    /* halves go away from the zero point */
    check_op(OP(MEAN), INPUTS({U8(1, 0), DIMS(1, 2), BYTES(1, 2)}, AXES(1), INT_SCALAR(0)),
             OUTPUT(U8(1, 0), DIMS(1), BYTES(2)));
    check_op(OP(MEAN), INPUTS({U8(3, 10), DIMS(2, 3), BYTES(9, 11, 255, 8, 12, 255)}, AXES(0), INT_SCALAR(0)),
             OUTPUT(U8(3, 10), DIMS(3), BYTES(8, 12, 255)));
    check_op(OP(MEAN), INPUTS({S8(1, 0), DIMS(1, 2), SIGNED(-1, -2)}, AXES(1), INT_SCALAR(1)),
             OUTPUT(S8(1, 0), DIMS(1, 1), SIGNED(-2)));
}

static void test_mean_of_many_bytes(void **state) {
    (void)state;
    static uint8_t x[1000];
    for (int i = 0; i < 1000; i++) x[i] = (uint8_t)(i % 4); /* 1.5 */
    x[0] = 100;                                             /* 1.6 */
    x[4] = 3;
    check_op(OP(MEAN), INPUTS({U8(1, 1), DIMS(1000), x}, AXES(0), INT_SCALAR(0)), OUTPUT(U8(1, 1), DIMS(1), BYTES(2)));
    memset(x, 251, sizeof x);
    check_op(OP(MEAN), INPUTS({U8(1, 1), DIMS(1000), x}, AXES(0), INT_SCALAR(0)),
             OUTPUT(U8(1, 1), DIMS(1), BYTES(251)));
}

static void test_product_and_extremes(void **state) {
    (void)state;
    const struct given x = {F32, DIMS(2, 3), FLOATS(-1, 2, -3, 0.5f, -4, 5)};
    check_op(OP(REDUCE_PROD), INPUTS(x, AXES(1), DROP), OUTPUT(F32, DIMS(2), FLOATS(6, -10)));
    check_op(OP(REDUCE_PROD), INPUTS(x, AXES(0), KEEP), OUTPUT(F32, DIMS(1, 3), FLOATS(-0.5f, -8, -15)));
    check_op(OP(REDUCE_MAX), INPUTS(x, AXES(1), DROP), OUTPUT(F32, DIMS(2), FLOATS(2, 5)));
    check_op(OP(REDUCE_MIN), INPUTS(x, AXES(1), DROP), OUTPUT(F32, DIMS(2), FLOATS(-3, -4)));
    check_op(OP(REDUCE_MAX), INPUTS(x, AXES(0), DROP), OUTPUT(F32, DIMS(3), FLOATS(0.5f, 2, 5)));
    check_op(OP(REDUCE_MIN), INPUTS(x, AXES(0), DROP), OUTPUT(F32, DIMS(3), FLOATS(-1, -4, -3)));
    check_op(OP(REDUCE_MAX), INPUTS({F16, DIMS(2), HALVES(0xbc00, 0xc000)}, AXES(0), DROP),
             OUTPUT(F16, DIMS(1), HALVES(0xbc00)));
    const struct given s = {S8(0.5f, 3), DIMS(2, 2), SIGNED(-128, 127, -1, 0)};
    check_op(OP(REDUCE_MAX), INPUTS(s, AXES(0), DROP), OUTPUT(S8(0.5f, 3), DIMS(2), SIGNED(-1, 127)));
    check_op(OP(REDUCE_MIN), INPUTS(s, AXES(1), DROP), OUTPUT(S8(0.5f, 3), DIMS(2), SIGNED(-128, -1)));
}

/** Any byte but 0 is true. */
static void test_all_and_any(void **state) {
    (void)state;
    const struct given x = {BOOL8, DIMS(3, 2), BYTES(1, 2, 0, 128, 0, 0)};
    check_op(OP(REDUCE_ALL), INPUTS(x, AXES(1), DROP), OUTPUT(BOOL8, DIMS(3), BYTES(1, 0, 0)));
    check_op(OP(REDUCE_ANY), INPUTS(x, AXES(1), DROP), OUTPUT(BOOL8, DIMS(3), BYTES(1, 1, 0)));
    check_op(OP(REDUCE_ALL), INPUTS(x, AXES(0), KEEP), OUTPUT(BOOL8, DIMS(1, 2), BYTES(0, 0)));
    check_op(OP(REDUCE_ANY), INPUTS(x, AXES(0), KEEP), OUTPUT(BOOL8, DIMS(1, 2), BYTES(1, 1)));
}

/** Axes that only the request knows are checked there. */
static void test_axes_at_run_time(void **state) {
    (void)state;
    const float x[] = {1, 2, 3, 4};
    for (int32_t axis = 1; axis <= 2; axis++) {
        struct net n = {0};
        const uint32_t a = input(&n, F32, DIMS(2, 2)), b = input(&n, I32, DIMS(1)), y = output(&n, F32, DIMS(0));
        operation(&n, OP(REDUCE_SUM), LIST(a, b, boolean(&n, 0)), LIST(y));
        struct nnvts_prepared_model *p = prepare(cpu, &n);
        struct call c = {0};
        float out[2] = {0};
        give(&c, x, sizeof x);
        give(&c, &axis, sizeof axis);
        take(&c, out, sizeof out);
        assert_int_equal(execute(p, &c), axis == 2 ? NNVTS_STATUS_GENERAL_FAILURE : NNVTS_STATUS_NONE);
        assert_floats(out, axis == 2 ? FLOATS(0, 0) : FLOATS(3, 7), 2, 0);
        p->release(p);
    }
}

/* ------------------------------------------------------------------- positions */

/** Of equals the first. */
static void test_arg(void **state) {
    (void)state;
    const struct given x = {F32, DIMS(2, 3), FLOATS(1, 5, 5, -1, -7, -7)};
    check_op(OP(ARGMAX), INPUTS(x, INT_SCALAR(1)), OUTPUT(I32, DIMS(2), INTS(1, 0)));
    check_op(OP(ARGMIN), INPUTS(x, INT_SCALAR(-1)), OUTPUT(I32, DIMS(2), INTS(0, 1)));
    check_op(OP(ARGMAX), INPUTS(x, INT_SCALAR(0)), OUTPUT(I32, DIMS(3), INTS(0, 0, 0)));
    check_op(OP(ARGMIN), INPUTS(x, INT_SCALAR(-2)), OUTPUT(I32, DIMS(3), INTS(1, 1, 1)));
    check_op(OP(ARGMAX), INPUTS({I32, DIMS(3), INTS(16777216, 16777217, -1)}, INT_SCALAR(0)),
             OUTPUT(I32, DIMS(1), INTS(1)));
    check_op(OP(ARGMIN), INPUTS({S8(1, 0), DIMS(1, 4, 1, 1, 1), SIGNED(1, -128, 127, -128)}, INT_SCALAR(1)),
             OUTPUT(I32, DIMS(1, 1, 1, 1), INTS(1)));
    check_op(OP(ARGMAX), INPUTS({U8(1, 9), DIMS(2), BYTES(200, 255)}, INT_SCALAR(0)), OUTPUT(I32, DIMS(1), INTS(1)));
    check_op(OP(ARGMAX), INPUTS({F16, DIMS(3), HALVES(0xbc00, 0x3c00, 0x4000)}, INT_SCALAR(0)),
             OUTPUT(I32, DIMS(1), INTS(2)));
}

/** More columns than are searched at once. */
static void test_arg_wide(void **state) {
    (void)state;
    enum { N = 150 };
    static float x[3 * N];
    static int32_t at[N];
    for (int i = 0; i < N; i++) at[i] = i % 3, x[i % 3 * N + i] = 1;
    check_op(OP(ARGMAX), INPUTS({F32, DIMS(3, N), x}, INT_SCALAR(0)), OUTPUT(I32, DIMS(N), at));
}

/** Of equals the last comes first. */
static void test_top(void **state) {
    (void)state;
    check_op(OP(TOPK_V2), INPUTS({F32, DIMS(6), FLOATS(1, 3, 3, 3, 2, 2)}, INT_SCALAR(5)),
             OUTPUTS({F32, DIMS(5), FLOATS(3, 3, 3, 2, 2)}, {I32, DIMS(5), INTS(3, 2, 1, 5, 4)}));
    check_op(OP(TOPK_V2), INPUTS({I32, DIMS(2, 3), INTS(-5, 16777217, 16777216, 7, 9, 8)}, INT_SCALAR(2)),
             OUTPUTS({I32, DIMS(2, 2), INTS(16777217, 16777216, 9, 8)}, {I32, DIMS(2, 2), INTS(1, 2, 1, 2)}));
    check_op(OP(TOPK_V2), INPUTS({S8(1, 3), DIMS(4), SIGNED(-128, 5, -1, 127)}, INT_SCALAR(4)),
             OUTPUTS({S8(1, 3), DIMS(4), SIGNED(127, 5, -1, -128)}, {I32, DIMS(4), INTS(3, 1, 2, 0)}));
    check_op(OP(TOPK_V2), INPUTS({F16, DIMS(1, 2), HALVES(0xbc00, 0x3c00)}, INT_SCALAR(1)),
             OUTPUTS({F16, DIMS(1, 1), HALVES(0x3c00)}, {I32, DIMS(1, 1), INTS(1)}));
}

/** A permutation of 0 to 1008 in each of 40 lines. */
static void test_top_large(void **state) {
    (void)state;
    enum { LINES = 40, N = 1009, K = 100 };
    static int32_t x[LINES * N], values[LINES * K], places[LINES * K];
    for (int i = 0; i < LINES; i++) {
        for (int j = 0; j < N; j++) x[i * N + j] = (j * 355 + i) % N;
        for (int k = 0; k < K; k++) values[i * K + k] = N - 1 - k;
        for (int j = 0; j < N; j++)
            if (N - 1 - x[i * N + j] < K) places[i * K + N - 1 - x[i * N + j]] = j;
    }
    check_op(OP(TOPK_V2), INPUTS({I32, DIMS(LINES, N), x}, INT_SCALAR(K)),
             OUTPUTS({I32, DIMS(LINES, K), values}, {I32, DIMS(LINES, K), places}));
}

/** NaN have no place in the order, but break nothing. */
static void test_top_nan(void **state) {
    (void)state;
    const float x[] = {NAN, 1, NAN, 2, NAN, NAN, 3, 4};
    assert_int_equal(run_op(OP(TOPK_V2), INPUTS({F32, DIMS(8), x}, INT_SCALAR(5)),
                            OUTPUTS({F32, DIMS(5), NULL}, {I32, DIMS(5), NULL})),
                     NNVTS_STATUS_NONE);
    const int32_t *places = (const int32_t *)(const void *)op_results[1];
    for (int i = 0; i < 5; i++) assert_in_range(places[i], 0, 7);
}

/* -------------------------------------------------------------- normalisations */

static void test_log_softmax(void **state) {
    (void)state;
    const float ln2 = 0.69314718f;
    check_op_near(OP(LOG_SOFTMAX), INPUTS({F32, DIMS(1, 2), FLOATS(1000, 1000)}, REAL_SCALAR(1), INT_SCALAR(-1)),
                  OUTPUT(F32, DIMS(1, 2), FLOATS(-ln2, -ln2)), ULPS(2));
    /* e^0 and e^ln3: 1/4 and 3/4; along the first axis, with beta 2 */
    const float half_ln3 = 0.54930614f, ln4 = 1.38629436f, ln4_3 = 0.28768207f;
    check_op_near(OP(LOG_SOFTMAX), INPUTS({F32, DIMS(2, 2), FLOATS(0, 7, half_ln3, 7)}, REAL_SCALAR(2), INT_SCALAR(0)),
                  OUTPUT(F32, DIMS(2, 2), FLOATS(-ln4, -ln2, -ln4_3, -ln2)), ULPS(4));
    /* a negative beta turns the order round, and large numbers still don't overflow */
    check_op_near(OP(LOG_SOFTMAX),
                  INPUTS({F32, DIMS(1, 1, 1, 1, 3), FLOATS(0, 200, 0)}, REAL_SCALAR(-1), INT_SCALAR(4)),
                  OUTPUT(F32, DIMS(1, 1, 1, 1, 3), FLOATS(-ln2, -200 - ln2, -ln2)), ULPS(2));
    check_op(OP(LOG_SOFTMAX),
             INPUTS({F16, DIMS(2), HALVES(0x3c00, 0x3c00)}, SCALAR(ANY(FLOAT16), HALVES(0x3c00)), INT_SCALAR(0)),
             OUTPUT(F16, DIMS(2), HALVES(0xb98c, 0xb98c)));
}

/** Means 2 and 10, variances 1 and 5; with epsilon 3, roots of 4 and 8. */
static void test_instance_normalization(void **state) {
    (void)state;
    const float pixels[] = {1, 7, 3, 13, 1, 9, 3, 11}, planes[] = {1, 3, 1, 3, 7, 13, 9, 11};
    const struct given gamma = REAL_SCALAR(2), beta = REAL_SCALAR(1), epsilon = REAL_SCALAR(3);
    const float r = 0.70710678f; /* 2 / sqrt(5 + 3) */
    const float y_pixels[] = {0, 1 - 3 * r, 2, 1 + 3 * r, 0, 1 - r, 2, 1 + r};
    const float y_planes[] = {0, 2, 0, 2, 1 - 3 * r, 1 + 3 * r, 1 - r, 1 + r};
    check_op_near(OP(INSTANCE_NORMALIZATION), INPUTS({F32, DIMS(1, 2, 2, 2), pixels}, gamma, beta, epsilon, DROP),
                  OUTPUT(F32, DIMS(1, 2, 2, 2), y_pixels), ULPS(4));
    check_op_near(OP(INSTANCE_NORMALIZATION), INPUTS({F32, DIMS(1, 2, 2, 2), planes}, gamma, beta, epsilon, KEEP),
                  OUTPUT(F32, DIMS(1, 2, 2, 2), y_planes), ULPS(4));
    /* each image has a mean of its own */
    check_op(OP(INSTANCE_NORMALIZATION),
             INPUTS({F32, DIMS(2, 1, 2, 1), FLOATS(1, 3, 101, 103)}, gamma, beta, epsilon, DROP),
             OUTPUT(F32, DIMS(2, 1, 2, 1), FLOATS(0, 2, 0, 2)));
}

/** More channels than are done at once: all 1 and 3. */
static void test_instance_normalization_wide(void **state) {
    (void)state;
    enum { C = 300, PIXELS = 20 };
    static float x[C * PIXELS], y[C * PIXELS];
    for (int i = 0; i < C * PIXELS; i++) x[i] = i / C % 2 ? 3.0f : 1.0f, y[i] = x[i] - 1;
    check_op(OP(INSTANCE_NORMALIZATION),
             INPUTS({F32, DIMS(1, 4, 5, C), x}, REAL_SCALAR(2), REAL_SCALAR(1), REAL_SCALAR(3), DROP),
             OUTPUT(F32, DIMS(1, 4, 5, C), y));
}

/* -------------------------------------------------------------------- refusals */

static void test_reduce_refusals(void **state) {
    (void)state;
    const struct given x = {F32, DIMS(2, 3), NULL}, y = {F32, DIMS(2), NULL}, q = {U8(1, 2), DIMS(2, 3), NULL};
    const struct given i = {I32, DIMS(2, 3), NULL}, b = {BOOL8, DIMS(2, 3), NULL};
    refuse_op("axis above", OP(REDUCE_SUM), INPUTS(x, AXES(2), DROP), OUTPUTS(y));
    refuse_op("axis below", OP(REDUCE_MAX), INPUTS(x, AXES(1, -3), DROP), OUTPUTS(y));
    refuse_op("axes' rank", OP(MEAN), INPUTS(x, {I32, CONSTANT | DIMS(1, 1), INTS(1)}, INT_SCALAR(0)), OUTPUTS(y));
    refuse_op("rank of unknown axes", OP(MEAN), INPUTS(x, {I32, DIMS(1, 1), NULL}, INT_SCALAR(0)), OUTPUTS(y));
    refuse_op("axes' type", OP(MEAN), INPUTS(x, {F32, DIMS(1), NULL}, INT_SCALAR(0)), OUTPUTS(y));
    refuse_op("kept", OP(REDUCE_SUM), INPUTS(x, AXES(1), KEEP), OUTPUTS(y));
    refuse_op("dropped", OP(REDUCE_SUM), INPUTS(x, AXES(1), DROP), OUTPUT(F32, DIMS(2, 1), NULL));
    refuse_op("keep as an integer", OP(REDUCE_SUM), INPUTS(x, AXES(1), INT_SCALAR(0)), OUTPUTS(y));
    refuse_op("keep as a boolean", OP(MEAN), INPUTS(x, AXES(1), DROP), OUTPUTS(y));
    refuse_op("rank 5", OP(REDUCE_MIN), INPUTS({F32, DIMS(1, 1, 1, 2, 3), NULL}, AXES(0), DROP),
              OUTPUT(F32, DIMS(1, 1, 2, 3), NULL));
    refuse_op("rank 5, unknown axes", OP(REDUCE_MIN),
              INPUTS({F32, DIMS(1, 1, 1, 2, 3), NULL}, {I32, DIMS(1), NULL}, DROP), OUTPUT(F32, 0, NULL, NULL));
    refuse_op("quantised result", OP(MEAN), INPUTS(q, AXES(1), INT_SCALAR(0)), OUTPUT(U8(1, 3), DIMS(2), NULL));
    refuse_op("scale of the result", OP(REDUCE_MAX), INPUTS(q, AXES(1), DROP), OUTPUT(U8(2, 2), DIMS(2), NULL));
    refuse_op("quantised sum", OP(REDUCE_SUM), INPUTS(q, AXES(1), DROP), OUTPUT(U8(1, 2), DIMS(2), NULL));
    refuse_op("largest integer", OP(REDUCE_MAX), INPUTS(i, AXES(1), DROP), OUTPUT(I32, DIMS(2), NULL));
    refuse_op("any of numbers", OP(REDUCE_ANY), INPUTS(i, AXES(1), DROP), OUTPUT(I32, DIMS(2), NULL));
    refuse_op("result of all", OP(REDUCE_ALL), INPUTS(b, AXES(1), DROP), OUTPUT(U8(1, 0), DIMS(2), NULL));
}

static void test_position_refusals(void **state) {
    (void)state;
    const struct given x = {F32, DIMS(2, 3), NULL}, i = {I32, DIMS(2), NULL}, b = {BOOL8, DIMS(2, 3), NULL};
    const struct given two = {F32, DIMS(2, 2), NULL}, at = {I32, DIMS(2, 2), NULL}, q = {U8(1, 2), DIMS(2, 3), NULL};
    refuse_op("axis", OP(ARGMAX), INPUTS(x, INT_SCALAR(2)), OUTPUTS(i));
    refuse_op("result's type", OP(ARGMIN), INPUTS(x, INT_SCALAR(1)), OUTPUT(F32, DIMS(2), NULL));
    refuse_op("result's shape", OP(ARGMIN), INPUTS(x, INT_SCALAR(1)), OUTPUT(I32, DIMS(2, 1), NULL));
    refuse_op("largest truth", OP(ARGMAX), INPUTS(b, INT_SCALAR(1)), OUTPUTS(i));
    refuse_op("k of 0", OP(TOPK_V2), INPUTS(x, INT_SCALAR(0)), OUTPUTS(two, at));
    refuse_op("k of 0, unknown results", OP(TOPK_V2), INPUTS(x, INT_SCALAR(0)),
              OUTPUTS({F32, 0, NULL, NULL}, {I32, 0, NULL, NULL}));
    refuse_op("k below 0", OP(TOPK_V2), INPUTS(x, INT_SCALAR(-1)), OUTPUTS({F32, 0, NULL, NULL}, {I32, 0, NULL, NULL}));
    refuse_op("k above the extent", OP(TOPK_V2), INPUTS(x, INT_SCALAR(4)),
              OUTPUTS({F32, DIMS(2, 4), NULL}, {I32, DIMS(2, 4), NULL}));
    refuse_op("k as a tensor", OP(TOPK_V2), INPUTS(x, AXES(2)), OUTPUTS(two, at));
    refuse_op("one result", OP(TOPK_V2), INPUTS(x, INT_SCALAR(2)), OUTPUTS(two));
    refuse_op("shape of the places", OP(TOPK_V2), INPUTS(x, INT_SCALAR(2)), OUTPUTS(two, i));
    refuse_op("type of the values", OP(TOPK_V2), INPUTS(x, INT_SCALAR(2)), OUTPUTS(at, at));
    refuse_op("quantised values", OP(TOPK_V2), INPUTS(q, INT_SCALAR(2)), OUTPUTS({U8(1, 1), DIMS(2, 2), NULL}, at));
}

static void test_norm_refusals(void **state) {
    (void)state;
    const struct given x = {F32, DIMS(2, 3), NULL}, image = {F32, DIMS(1, 2, 3, 4), NULL}, one = REAL_SCALAR(1);
    const struct given half = SCALAR(ANY(FLOAT16), HALVES(0x3c00)), q = {U8(1, 2), DIMS(1, 2, 3, 4), NULL};
    refuse_op("axis", OP(LOG_SOFTMAX), INPUTS(x, one, INT_SCALAR(-3)), OUTPUTS(x));
    refuse_op("no axis", OP(LOG_SOFTMAX), INPUTS(x, one), OUTPUTS(x));
    refuse_op("beta's type", OP(LOG_SOFTMAX), INPUTS(x, half, INT_SCALAR(1)), OUTPUTS(x));
    refuse_op("shape", OP(LOG_SOFTMAX), INPUTS(x, one, INT_SCALAR(1)), OUTPUT(F32, DIMS(3, 2), NULL));
    refuse_op("quantised", OP(LOG_SOFTMAX), INPUTS(q, one, INT_SCALAR(1)), OUTPUTS(q));
    refuse_op("rank 2", OP(INSTANCE_NORMALIZATION), INPUTS(x, one, one, one, DROP), OUTPUTS(x));
    refuse_op("no layout", OP(INSTANCE_NORMALIZATION), INPUTS(image, one, one, one), OUTPUTS(image));
    refuse_op("epsilon's type", OP(INSTANCE_NORMALIZATION), INPUTS(image, one, one, half, DROP), OUTPUTS(image));
    refuse_op("quantised image", OP(INSTANCE_NORMALIZATION), INPUTS(q, one, one, one, DROP), OUTPUTS(q));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sum_axes),
        cmocka_unit_test(test_sum_large),
        cmocka_unit_test(test_mean),
        cmocka_unit_test(test_mean_of_many_bytes),
        cmocka_unit_test(test_product_and_extremes),
        cmocka_unit_test(test_all_and_any),
        cmocka_unit_test(test_axes_at_run_time),
        cmocka_unit_test(test_arg),
        cmocka_unit_test(test_arg_wide),
        cmocka_unit_test(test_top),
        cmocka_unit_test(test_top_large),
        cmocka_unit_test(test_top_nan),
        cmocka_unit_test(test_log_softmax),
        cmocka_unit_test(test_instance_normalization),
        cmocka_unit_test(test_instance_normalization_wide),
        cmocka_unit_test(test_reduce_refusals),
        cmocka_unit_test(test_position_refusals),
        cmocka_unit_test(test_norm_refusals),
    };
    return cmocka_run_group_tests(tests, open_cpu, close_cpu);
}
