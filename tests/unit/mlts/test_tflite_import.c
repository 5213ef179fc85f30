/* SPDX-License-Identifier: Apache-2.0 */
/** @file test_tflite_import.c Arithmetic and sums of products of TensorFlow Lite as NNAPI's, with values worked by
 * hand. */
#include "mlts/convert/convert.h"
#include "tests/kit/tflite.h"

/* --------------------------------------------------------------- one after the other */

/** y = op(x, ...) of vectors of three. */
static void vector_op(struct fixture *f, int code, int tag, uint32_t n) {
    struct writer *w = fresh(f);
    int32_t in[3];
    for (uint32_t i = 0; i < n; i++) in[i] = w_input(w, W_TENSOR(w, F, 3));
    int32_t y = w_output(w, W_TENSOR(w, F, 3));
    w_op(w, code, tag, n, in, 1, &y);
    import_ok(f);
}

static void arithmetic(void **state) {
    struct fixture *f = *state;
    const double *ab = GIVEN(7, -7, 2.5, 2, 2, -1);
    static const struct {
        int code, tag;
        double out[3];
    } rows[] = {
        {NNV_TFL_ADD, 11, {9, -5, 1.5}},
        {NNV_TFL_SUB, 28, {5, -9, 3.5}},
        {NNV_TFL_MUL, 21, {14, -14, -2.5}},
        {NNV_TFL_DIV, 29, {3.5, -3.5, -2.5}},
        {NNV_TFL_FLOOR_DIV, 65, {3, -4, -3}},
        {NNV_TFL_FLOOR_MOD, 72, {1, 1, -0.5}},
        {NNV_TFL_SQUARED_DIFFERENCE, 76, {25, 81, 12.25}},
        {NNV_TFL_MAXIMUM, 39, {7, 2, 2.5}},
        {NNV_TFL_MINIMUM, 39, {2, -7, -1}},
        {NNV_TFL_PRELU, 0, {7, -14, 2.5}},
        {NNV_TFL_ADD_N, 82, {9, -5, 1.5}},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        vector_op(f, rows[i].code, rows[i].tag, 2);
        expect_output(f, ab, 0, 3, rows[i].out);
    }
    vector_op(f, NNV_TFL_POW, 56, 2);
    expect_output(f, GIVEN(2, 3, 4, 3, 2, 0.5), 0, NUMBERS(8, 9, 2));
}

static void functions(void **state) {
    struct fixture *f = *state;
    static const struct {
        int code, tag;
        double in[3], out[3];
    } rows[] = {
        {NNV_TFL_ABS, 78, {-1, 2, -0.5}, {1, 2, 0.5}},
        {NNV_TFL_NEG, 42, {-1, 2, 0.5}, {1, -2, -0.5}},
        {NNV_TFL_EXP, 33, {0, 1, -1}, {1, 2.718281828, 0.3678794412}},
        {NNV_TFL_LOG, 0, {1, 2.718281828, 2}, {0, 1, 0.6931471806}},
        {NNV_TFL_SIN, 0, {0, 1.570796327, -0.5}, {0, 1, -0.4794255386}},
        {NNV_TFL_COS, 84, {0, 1, 3.141592654}, {1, 0.5403023059, -1}},
        {NNV_TFL_SQRT, 0, {4, 9, 2}, {2, 3, 1.414213562}},
        {NNV_TFL_RSQRT, 0, {4, 1, 0.25}, {0.5, 1, 2}},
        {NNV_TFL_FLOOR, 0, {1.5, -1.5, 2}, {1, -2, 2}},
        {NNV_TFL_CEIL, 0, {1.5, -1.5, 2}, {2, -1, 2}},
        {NNV_TFL_ROUND, 0, {2.5, 3.5, -1.5}, {2, 4, -2}},
        {NNV_TFL_ROUND, 0, {2.4, -2.6, -0.5}, {2, -3, 0}},
        {NNV_TFL_SQUARE, 66, {3, -2, 0.5}, {9, 4, 0.25}},
        {NNV_TFL_SIGN, 123, {1e-30, 0, -5}, {1, 0, -1}},
        {NNV_TFL_RELU, 0, {-1, 0.5, 7}, {0, 0.5, 7}},
        {NNV_TFL_RELU6, 0, {-1, 0.5, 7}, {0, 0.5, 6}},
        {NNV_TFL_RELU_N1_TO_1, 0, {-2, 0.5, 7}, {-1, 0.5, 1}},
        {NNV_TFL_RELU_0_TO_1, 0, {-2, 0.5, 7}, {0, 0.5, 1}},
        {NNV_TFL_LOGISTIC, 0, {0, 1, -1}, {0.5, 0.7310585786, 0.2689414214}},
        {NNV_TFL_TANH, 0, {0, 1, -1}, {0, 0.7615941560, -0.7615941560}},
        {NNV_TFL_ELU, 0, {1, -1, 0}, {1, -0.6321205588, 0}},
        {NNV_TFL_HARD_SWISH, 91, {-4, 1, 4}, {0, 0.6666666667, 4}},
        {NNV_TFL_ZEROS_LIKE, 67, {1, 2, 3}, {0, 0, 0}},
        {NNV_TFL_LOG_SOFTMAX, 36, {0, 0, 0}, {-1.098612289, -1.098612289, -1.098612289}},
        {NNV_TFL_L2_NORMALIZATION, 12, {2, 3, 6}, {0.2857142857, 0.4285714286, 0.8571428571}},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        vector_op(f, rows[i].code, rows[i].tag, 1);
        expect_output(f, rows[i].in, 0, 3, rows[i].out);
    }
}

static void functions_with_options(void **state) {
    struct fixture *f = *state;
    w_real(with_option(f, NNV_TFL_LEAKY_RELU, 75), 0, 0.1f);
    import_ok(f);
    expect_output(f, GIVEN(-10, 0, 2), 0, NUMBERS(-1, 0, 2));
    w_real(with_option(f, NNV_TFL_SOFTMAX, 9), 0, 2);
    import_ok(f);
    expect_output(f, GIVEN(0, 0, 0.5), 0, NUMBERS(0.2119415576, 0.2119415576, 0.5761168848)); /* 1, 1, e of their sum */
    w_byte(with_option(f, NNV_TFL_GELU, 116), 0, 1);
    import_ok(f);
    expect_output(f, GIVEN(0, 1, -1), 0, NUMBERS(0, 0.8411919906, -0.1588080094));
    with_option(f, NNV_TFL_GELU, 116);
    import_bad(f, NNV_UNSUPPORTED, "GELU in its exact form (1)");
    w_int(w_real(w_real(with_option(f, NNV_TFL_FAKE_QUANT, 58), 0, 0), 1, 255), 2, 8);
    import_ok(f);
    expect_output(f, GIVEN(-5, 1.4, 300), 0, NUMBERS(0, 1, 255));
}

static void comparisons(void **state) {
    struct fixture *f = *state;
    static const struct {
        int code, tag;
        double out[3];
    } rows[] = {
        {NNV_TFL_EQUAL, 53, {0, 1, 0}}, {NNV_TFL_NOT_EQUAL, 54, {1, 0, 1}},     {NNV_TFL_GREATER, 44, {0, 0, 1}},
        {NNV_TFL_LESS, 41, {1, 0, 0}},  {NNV_TFL_GREATER_EQUAL, 45, {0, 1, 1}}, {NNV_TFL_LESS_EQUAL, 46, {1, 1, 0}},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct writer *w = fresh(f);
        const int a = w_input(w, W_TENSOR(w, F, 3)), b = w_input(w, W_TENSOR(w, F, 3)),
                  y = w_output(w, W_TENSOR(w, B, 3));
        W_OP(w, rows[i].code, rows[i].tag, y, a, b);
        import_ok(f);
        expect_output(f, GIVEN(1, 2, 3, 2, 2, 2), 0, 3, rows[i].out);
    }
    static const struct {
        int code, tag;
        uint32_t n;
        double out[4];
    } logic[] = {{NNV_TFL_LOGICAL_AND, 62, 2, {0, 0, 0, 1}},
                 {NNV_TFL_LOGICAL_OR, 60, 2, {0, 1, 1, 1}},
                 {NNV_TFL_LOGICAL_NOT, 63, 1, {1, 1, 0, 0}}};
    for (size_t i = 0; i < sizeof logic / sizeof *logic; i++) {
        struct writer *w = fresh(f);
        const int32_t in[] = {w_input(w, W_TENSOR(w, B, 4)), logic[i].n > 1 ? w_input(w, W_TENSOR(w, B, 4)) : 0};
        const int32_t y = w_output(w, W_TENSOR(w, B, 4));
        w_op(w, logic[i].code, logic[i].tag, logic[i].n, in, 1, &y);
        import_ok(f);
        expect_output(f, GIVEN(0, 0, 1, 1, 0, 1, 0, 1), 0, 4, logic[i].out);
    }
}

/* ---------------------------------------------------------------- sums of products */

/** An image of 3x3 and a filter of 2x2 ones: sums of four numbers. */
static const float four_ones[] = {1, 1, 1, 1};

static void convolutions(void **state) {
    struct fixture *f = *state;
    const double *x = GIVEN(1, 2, 3, 4, 5, 6, 7, 8, 9);
    static const float bias[] = {-20};
    struct writer *w = fresh(f);
    int in = w_input(w, W_TENSOR(w, F, 1, 3, 3, 1)), k = W_CONST(w, F, four_ones, 1, 2, 2, 1),
        b = W_CONST(w, F, bias, 1);
    int y = w_output(w, W_TENSOR(w, F, 1, 2, 2, 1));
    /* valid, strides 1, RELU */
    w_byte(w_int(w_int(w_byte(W_OP(w, NNV_TFL_CONV_2D, 1, y, in, k, b), 0, 1), 1, 1), 2, 1), 3, 1);
    import_ok(f);
    expect_output(f, x, 0, NUMBERS(0, 0, 4, 8)); /* 12 16 24 28, less 20 */

    w = fresh(f); /* same, width in steps of 2 and height in steps of 1, no bias: the pads are right and below */
    in = w_input(w, W_TENSOR(w, F, 1, 3, 3, 1)), k = W_CONST(w, F, four_ones, 1, 2, 2, 1);
    y = w_output(w, W_TENSOR(w, F, 1, 3, 2, 1));
    w_int(w_int(W_OP(w, NNV_TFL_CONV_2D, 1, y, in, k), 1, 2), 2, 1);
    import_ok(f);
    expect_output(f, x, 0, NUMBERS(12, 9, 24, 15, 15, 9));

    w = fresh(f); /* dilated by 2: the corners */
    in = w_input(w, W_TENSOR(w, F, 1, 3, 3, 1)), k = W_CONST(w, F, four_ones, 1, 2, 2, 1);
    y = w_output(w, W_TENSOR(w, F, 1, 1, 1, 1));
    w_int(w_int(w_int(w_int(w_byte(W_OP(w, NNV_TFL_CONV_2D, 1, y, in, k), 0, 1), 1, 1), 2, 1), 4, 2), 5, 2);
    import_ok(f);
    expect_output(f, x, 0, NUMBERS(20));

    w = fresh(f); /* each channel by itself: 1 + 3 and 2 * (2 + 4) */
    static const float each[] = {1, 2, 1, 2};
    in = w_input(w, W_TENSOR(w, F, 1, 2, 1, 2)), k = W_CONST(w, F, each, 1, 2, 1, 2);
    y = w_output(w, W_TENSOR(w, F, 1, 1, 1, 2));
    w_int(w_int(w_byte(W_OP(w, NNV_TFL_DEPTHWISE_CONV_2D, 2, y, in, k), 0, 1), 1, 1), 2, 1);
    import_ok(f);
    expect_output(f, GIVEN(1, 2, 3, 4), 0, NUMBERS(4, 12));

    w = fresh(f); /* two groups of one channel */
    static const float groups[] = {10, 100};
    in = w_input(w, W_TENSOR(w, F, 1, 1, 1, 2)), k = W_CONST(w, F, groups, 2, 1, 1, 1);
    y = w_output(w, W_TENSOR(w, F, 1, 1, 1, 2));
    w_int(w_int(W_OP(w, NNV_TFL_CONV_2D, 1, y, in, k), 1, 1), 2, 1);
    import_ok(f);
    assert_true(uses(f, ANEURALNETWORKS_GROUPED_CONV_2D));
    expect_output(f, GIVEN(3, 4), 0, NUMBERS(30, 400));

    w = fresh(f); /* the transposed one: each number spreads over 2x2 */
    int shape = W_INTS(w, 1, 2, 4, 1);
    in = w_input(w, W_TENSOR(w, F, 1, 1, 2, 1)), k = W_CONST(w, F, four_ones, 1, 2, 2, 1);
    y = w_output(w, W_TENSOR(w, F, 1, 2, 4, 1));
    w_int(w_int(w_byte(W_OP(w, NNV_TFL_TRANSPOSE_CONV, 49, y, shape, k, in), 0, 1), 1, 2), 2, 2);
    import_ok(f);
    expect_output(f, GIVEN(3, 5), 0, NUMBERS(3, 3, 5, 5, 3, 3, 5, 5));
}

static void quantised_convolution(void **state) {
    struct fixture *f = *state;
    static const int8_t filter[] = {1, 2, 10, 20};
    static const int32_t bias[] = {4, 100};
    struct writer *w = fresh(f);
    const int x = w_quant(w, w_input(w, W_TENSOR(w, Q, 1, 1, 1, 2)), 0.5, -1);
    const int k = W_CONST(w, Q, filter, 2, 1, 1, 2), b = W_CONST(w, I, bias, 2);
    const int y = w_quant(w, w_output(w, W_TENSOR(w, Q, 1, 1, 1, 2)), 0.25, 3);
    struct w_tensor *t = &w->g->tensor[k], *o = &w->g->tensor[b];
    t->nscales = 2, t->scales[0] = 0.5f, t->scales[1] = 0.125f; /* a scale for each output */
    o->nscales = 2, o->scales[0] = 0.25f, o->scales[1] = 0.0625f;
    o->axis = 3; /* that of depthwise filters: the bias has only one dimension */
    w_int(w_int(W_OP(w, NNV_TFL_CONV_2D, 1, y, x, k, b), 1, 1), 2, 1);
    import_ok(f);
    /* x - zero: 4, 6. Sums 4 + 12 + 4 = 20 units of 1/4; 40 + 120 + 100 = 260 units of 1/16: 16.25 */
    expect_output(f, GIVEN(3, 5), 0, NUMBERS(23, 68));
    /* the same weights beside float numbers are hybrid: dequantised */
    w = fresh(f);
    const int fx = w_input(w, W_TENSOR(w, F, 1, 2)), fk = w_quant(w, W_CONST(w, Q, filter, 2, 2), 0.5, 0);
    const int fy = w_output(w, W_TENSOR(w, F, 1, 2));
    W_OP(w, NNV_TFL_FULLY_CONNECTED, 8, fy, fx, fk);
    import_ok(f);
    expect_output(f, GIVEN(2, 3), 0, NUMBERS(4, 40)); /* (2 + 6) / 2, (20 + 60) / 2 */
}

static void matrix_products(void **state) {
    struct fixture *f = *state;
    static const float weights[] = {1, 2, 3, 4, 5, 6}, bias[] = {1, -100};
    static const uint16_t halves[] = {0x3c00, 0x4000, 0x4200, 0x4400, 0x4500, 0x4600}; /* 1 to 6 */
    for (int half = 0; half < 2; half++) { /* weights of float16 behind DEQUANTIZE are the same */
        struct writer *w = fresh(f);
        const int x = w_input(w, W_TENSOR(w, F, 1, 1, 1, 3)), b = W_CONST(w, F, bias, 2),
                  y = w_output(w, W_TENSOR(w, F, 1, 2));
        int k = half ? W_TENSOR(w, F, 2, 3) : W_CONST(w, F, weights, 2, 3);
        if (half) W_OP(w, NNV_TFL_DEQUANTIZE, 0, k, W_CONST(w, NNV_TFL_FLOAT16, halves, 2, 3));
        w_byte(W_OP(w, NNV_TFL_FULLY_CONNECTED, 8, y, x, k, b), 0, 1);
        import_ok(f);
        assert_int_equal(f->net.model.main.noperations, 1);
        expect_output(f, GIVEN(1, 10, 100), 0, NUMBERS(322, 554));
    }
    struct writer *w = fresh(f); /* one matrix for two batches, transposed */
    const int a = w_input(w, W_TENSOR(w, F, 2, 1, 2)), b = w_input(w, W_TENSOR(w, F, 2, 2)),
              y = w_output(w, W_TENSOR(w, F, 2, 1, 2));
    w_byte(W_OP(w, NNV_TFL_BATCH_MATMUL, 101, y, a, b), 1, 1);
    import_ok(f);
    expect_output(f, GIVEN(1, 2, 3, 4, 1, 10, 100, 1000), 0, NUMBERS(21, 2100, 43, 4300));
}

static void pools_and_resizing(void **state) {
    struct fixture *f = *state;
    const double *x = GIVEN(1, 2, 3, 6);
    static const struct {
        int code;
        double out;
    } pools[] = {{NNV_TFL_AVERAGE_POOL_2D, 3}, {NNV_TFL_MAX_POOL_2D, 6}, {NNV_TFL_L2_POOL_2D, 3.535533906}};
    for (size_t i = 0; i < 3; i++) {
        struct writer *w = fresh(f);
        const int in = w_input(w, W_TENSOR(w, F, 1, 2, 2, 1)), y = w_output(w, W_TENSOR(w, F, 1, 1, 1, 1));
        struct w_operator *o = W_OP(w, pools[i].code, 5, y, in);
        w_int(w_int(w_int(w_int(o, 1, 2), 2, 2), 3, 2), 4, 2);
        import_ok(f);
        expect_output(f, x, 0, 1, &pools[i].out);
    }
    struct writer *w = fresh(f); /* one row of two becomes three wide, two high: sizes are height, width */
    int in = w_input(w, W_TENSOR(w, F, 1, 1, 2, 1)), size = W_INTS(w, 2, 3),
        y = w_output(w, W_TENSOR(w, F, 1, 2, 3, 1));
    w_byte(W_OP(w, NNV_TFL_RESIZE_BILINEAR, 15, y, in, size), 2, 1);
    import_ok(f);
    expect_output(f, GIVEN(1, 3), 0, NUMBERS(1, 2, 3, 1, 2, 3)); /* corners aligned */
    w = fresh(f);
    in = w_input(w, W_TENSOR(w, F, 1, 1, 2, 1)), size = W_INTS(w, 1, 4), y = w_output(w, W_TENSOR(w, F, 1, 1, 4, 1));
    W_OP(w, NNV_TFL_RESIZE_NEAREST_NEIGHBOR, 74, y, in, size);
    import_ok(f);
    expect_output(f, GIVEN(1, 3), 0, NUMBERS(1, 1, 3, 3));
    w = fresh(f);
    in = w_input(w, W_TENSOR(w, F, 1, 1, 1, 3)), y = w_output(w, W_TENSOR(w, F, 1, 1, 1, 3));
    w_real(w_real(w_real(w_int(W_OP(w, NNV_TFL_LOCAL_RESPONSE_NORMALIZATION, 13, y, in), 0, 1), 1, 1), 2, 1), 3, 1);
    import_ok(f);
    expect_output(f, GIVEN(1, 2, 3), 0, NUMBERS(1.0 / 6, 2.0 / 15, 3.0 / 14));
}

static void nowhere(const struct nnv_cv *c, char *text, size_t room) {
    (void)c;
    snprintf(text, room, "operator 7");
}

/** Constants may have as many bytes as the file may make, and not one more. */
static void room_for_constants(void **state) {
    static const struct nnv_cv_front front = {.place = nowhere};
    static const struct {
        size_t bytes[2];
        bool fits[2];
    } rows[] = {{{8, 1}, {true, false}}, {{5, 3}, {true, true}}, {{5, 4}, {true, false}}, {{SIZE_MAX, 1}, {0}}};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct nnv_cv_file file = {.front = &front, .most_constant = 8};
        struct nnv_cv c = {.all = &file};
        size_t bytes = 0;
        for (int k = 0; k < 2; k++) {
            assert_int_equal(nnv_cv_room(&c, rows[i].bytes[k]), rows[i].fits[k]);
            if (rows[i].fits[k]) bytes += rows[i].bytes[k];
        }
        assert_int_equal(file.constant, bytes);
        assert_int_equal(file.status, rows[i].fits[1] ? NNV_OK : NNV_INVALID);
        if (!rows[i].fits[1]) assert_non_null(strstr(file.err.text, "operator 7: constants of more than 8 bytes"));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        CASE(arithmetic),      CASE(functions),          CASE(functions_with_options),
        CASE(comparisons),     CASE(convolutions),       CASE(quantised_convolution),
        CASE(matrix_products), CASE(pools_and_resizing), cmocka_unit_test(room_for_constants),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
