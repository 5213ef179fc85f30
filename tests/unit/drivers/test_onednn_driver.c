/* SPDX-License-Identifier: Apache-2.0 */
/** @file test_onednn_driver.c The driver "onednn", where oneDNN is: values worked by hand, and what it refuses. */
#define CPU_DRIVER "onednn", NULL
#include <pthread.h>
#include <unistd.h>

#include "tests/kit/op_net.h"

enum { SAME = ANEURALNETWORKS_PADDING_SAME, VALID = ANEURALNETWORKS_PADDING_VALID };
#define CHANNELS ((struct kind){ANEURALNETWORKS_TENSOR_QUANT8_SYMM_PER_CHANNEL, 0, 0})

/* ---------------------------------------------------------------------- layers */

/** [1 2 3; 4 5 6; 7 8 9] under a 2x2 filter [1 0; 0 -1], bias 10, RELU6: 10 + x - the one right below = 6. */
static void test_conv(void **state) {
    (void)state;
    const float filter[] = {1, 0, 0, -1}, twice[] = {2, 0, 0, -1}, bias[] = {10}, none[] = {-3};
    CHECK(CONV_2D, T(F32, 1, 2, 2, 1),
          ARGS(T(F32, 1, 3, 3, 1), C(F32, filter, 1, 2, 2, 1), C(F32, bias, 1), I(VALID), I(1), I(1), I(0)),
          FLOATS(1, 2, 3, 4, 5, 6, 7, 8, 9), FLOATS(6, 6, 6, 6));
    CHECK(CONV_2D, T(F32, 1, 2, 2, 1),
          ARGS(T(F32, 1, 3, 3, 1), C(F32, twice, 1, 2, 2, 1), C(F32, none, 1), I(VALID), I(1), I(1), I(1)),
          FLOATS(1, 2, 3, 4, 5, 6, 7, 8, 9), FLOATS(0, 0, 0, 0 + 10 - 9 - 3 + 2));
    CHECK(CONV_2D, T(F32, 1, 3, 3, 1),
          ARGS(T(F32, 1, 3, 3, 1), C(F32, filter, 1, 2, 2, 1), C(F32, none, 1), I(SAME), I(1), I(1), I(0)),
          FLOATS(1, 2, 3, 4, 5, 6, 7, 8, 9), FLOATS(-7, -7, 0, -7, -7, 3, 4, 5, 6));
}

/** Padding has the value of the zero point. x - 10 = (1 2; 3 4), filter 2 * 0.5 = 1 in one place of 2x2, SAME. */
static void test_conv_bytes(void **state) {
    (void)state;
    const uint8_t filter[] = {128, 128, 128, 130};
    const int8_t per_channel[] = {0, 0, 0, 2, 0, 0, 0, 2};
    const int32_t bias[] = {4}, biases[] = {4, 4};
    CHECK(CONV_2D, T(U8(0.5f, 3), 1, 2, 2, 1),
          ARGS(T(U8(1, 10), 1, 2, 2, 1), C(U8(0.5f, 128), filter, 1, 2, 2, 1),
               C(((struct kind){I32.type, 0.5f, 0}), bias, 1), I(SAME), I(1), I(1), I(0)),
          BYTES(11, 12, 13, 14), BYTES(3 + 4 + 8, 3 + 4, 3 + 4, 3 + 4));
    struct net n = {0};
    const float scales[] = {0.5f, 0.25f};
    build(&n, ANEURALNETWORKS_CONV_2D, T(S8(0.5f, -3), 1, 2, 2, 2),
          ARGS(T(S8(1, -10), 1, 2, 2, 1), C(CHANNELS, per_channel, 2, 2, 2, 1), C(I32, biases, 2), I(SAME), I(1), I(1),
               I(0)));
    n.operands[1].channel_quant = (struct nnvts_channel_quant){0, 2, scales};
    int8_t y[8];
    check_run(&n, SIGNED(-9, -8, -7, -6), y, sizeof y);
    const int8_t expected[] = {-3 + 4 + 8, -3 + 2 + 4, 1, -1, 1, -1, 1, -1};
    assert_memory_equal(y, expected, sizeof y);
}

/** Filters that no signed byte holds: 255 - 0 and 0 - 0. x - 1 = 2: 2 * 255 in steps of 2. */
static void test_wide_filter(void **state) {
    (void)state;
    const uint8_t filter[] = {255, 0};
    const int32_t bias[] = {0, 4};
    CHECK(FULLY_CONNECTED, T(U8(4, 0), 1, 2),
          ARGS(T(U8(1, 1), 1, 1), C(U8(1, 0), filter, 2, 1), C(((struct kind){I32.type, 1, 0}), bias, 2), I(0)),
          BYTES(3), BYTES(128, 1));
}

/** Each of two channels makes two: 1 times 1 and 2, 3 times 3 and 4. */
static void test_depthwise(void **state) {
    (void)state;
    const float filter[] = {1, 2, 3, 4}, bias[] = {0, 0, 0.5f, 0};
    CHECK(DEPTHWISE_CONV_2D, T(F32, 1, 1, 1, 4),
          ARGS(T(F32, 1, 1, 1, 2), C(F32, filter, 1, 1, 1, 4), C(F32, bias, 4), I(0), I(0), I(0), I(0), I(1), I(1),
               I(2), I(0)),
          FLOATS(1, 3), FLOATS(1, 2, 9.5f, 12));
}

/** Two groups: (1 + 2) * 1, and 3 - 4. */
static void test_grouped(void **state) {
    (void)state;
    const float filter[] = {1, 1, 1, -1}, bias[] = {0, 0};
    CHECK(GROUPED_CONV_2D, T(F32, 1, 1, 1, 2),
          ARGS(T(F32, 1, 1, 1, 4), C(F32, filter, 2, 1, 1, 2), C(F32, bias, 2), I(VALID), I(1), I(1), I(2), I(0), B(0)),
          FLOATS(1, 2, 3, 4), FLOATS(3, -1));
}

/** Four groups under 4 rows, three of them in the padding; every value is one step above the zero point 130. */
static void test_grouped_bytes(void **state) {
    (void)state;
    struct net n = {0};
    int8_t ones[64];
    const int32_t none[8] = {0};
    const float scales[] = {1, 1, 1, 1, 1, 1, 1, 1};
    uint8_t x[24], y[24];
    memset(ones, 1, sizeof ones);
    memset(x, 131, sizeof x);
    build(&n, ANEURALNETWORKS_GROUPED_CONV_2D, T(U8(1, 6), 1, 3, 1, 8),
          ARGS(T(U8(1, 130), 1, 3, 1, 8), C(CHANNELS, ones, 8, 4, 1, 2), C(I32, none, 8), I(0), I(0), I(3), I(0), I(1),
               I(1), I(4), I(0), B(0)));
    n.operands[1].channel_quant = (struct nnvts_channel_quant){0, 8, scales};
    check_run(&n, x, sizeof x, y, sizeof y);
    for (int i = 0; i < 24; i++) assert_int_equal(y[i], 6 + 2 * (i / 8 + 1));
}

/** Filter (1 10), stride 2: 1 10 2 20; NCHW; then what lies between taps, in bytes. */
static void test_transposed(void **state) {
    (void)state;
    const float filter[] = {1, 10}, bias[] = {0};
    CHECK(TRANSPOSE_CONV_2D, T(F32, 1, 1, 1, 4),
          ARGS(T(F32, 1, 1, 1, 2), C(F32, filter, 1, 1, 2, 1), C(F32, bias, 1), I(0), I(0), I(0), I(0), I(2), I(1),
               I(0), B(1)),
          FLOATS(1, 2), FLOATS(1, 10, 2, 20));
    const int8_t one[] = {4};
    const int32_t zero[] = {0};
    CHECK(TRANSPOSE_CONV_2D, T(S8(0.5f, 0), 1, 7, 1, 1),
          ARGS(T(S8(0.5f, 0), 1, 3, 1, 1), C(S8(0.5f, 0), one, 1, 1, 1, 1),
               C(((struct kind){I32.type, 0.25f, 0}), zero, 1), I(0), I(0), I(0), I(0), I(1), I(3), I(0), B(0)),
          SIGNED(1, 2, 3), SIGNED(2, 0, 0, 4, 0, 0, 6));
}

/** (1 2) times rows (1 1) and (3 -1), in floats and, with zero points 5 and 1, in bytes. */
static void test_fully_connected(void **state) {
    (void)state;
    const float w[] = {1, 1, 3, -1}, bias[] = {0.5f, 0};
    CHECK(FULLY_CONNECTED, T(F32, 1, 2), ARGS(T(F32, 2, 1), C(F32, w, 2, 2), C(F32, bias, 2), I(0)), FLOATS(1, 2),
          FLOATS(3.5f, 1));
    const uint8_t codes[] = {2, 2, 4, 0};
    const int32_t none[] = {0, 0};
    CHECK(FULLY_CONNECTED, T(U8(1, 7), 1, 2),
          ARGS(T(U8(1, 5), 1, 2), C(U8(0.5f, 1), codes, 2, 2), C(((struct kind){I32.type, 0.5f, 0}), none, 2), I(0)),
          BYTES(7, 9), BYTES(7 + 3, 7 + 1));
}

/** The filter comes with the request, and changes. */
static void test_open_filter(void **state) {
    (void)state;
    struct net n = {0};
    const float bias[] = {1};
    build(&n, ANEURALNETWORKS_FULLY_CONNECTED, T(F32, 1, 1), ARGS(T(F32, 1, 2), T(F32, 1, 2), C(F32, bias, 1), I(0)));
    struct nnvts_prepared_model *p = prepare(cpu, &n);
    for (int turn = 0; turn < 3; turn++) {
        const float x[] = {1, 2}, w[] = {(float)turn, 10};
        float y = 0;
        struct call c = {0};
        give(&c, x, sizeof x);
        give(&c, w, sizeof w);
        take(&c, &y, sizeof y);
        assert_int_equal(execute(p, &c), NNVTS_STATUS_NONE);
        assert_true(y == (float)turn + 21);
    }
    p->release(p);
}

/* ---------------------------------------------------------------- other values */

static void test_pools(void **state) {
    (void)state;
    CHECK(MAX_POOL_2D, T(U8(1, 9), 1, 1, 1, 1), ARGS(T(U8(1, 9), 1, 2, 2, 1), I(VALID), I(1), I(1), I(2), I(2), I(3)),
          BYTES(1, 250, 3, 4), BYTES(15));
    /* padding does not count: 1 and 2, then 2 alone */
    CHECK(AVERAGE_POOL_2D, T(F32, 1, 1, 2, 1), ARGS(T(F32, 1, 1, 2, 1), I(SAME), I(1), I(1), I(2), I(1), I(0)),
          FLOATS(1, 2), FLOATS(1.5f, 2));
}

static void test_elementwise(void **state) {
    (void)state;
    const float b[] = {10, 20};
    CHECK(SUB, T(F32, 2, 2), ARGS(T(F32, 2, 2), C(F32, b, 2), I(0)), FLOATS(1, 2, 3, 4), FLOATS(-9, -18, -7, -16));
    CHECK(ADD, T(F32, 2, 2), ARGS(C(F32, b, 2), T(F32, 2, 2), I(0)), FLOATS(1, 2, 3, 4), FLOATS(11, 22, 13, 24));
    const uint8_t codes[] = {4, 6}; /* 1 and 3 times (4 - 4) / 2 and (6 - 4) / 2 */
    CHECK(MUL, T(U8(0.75f, 8), 2), ARGS(T(U8(1, 0), 2), C(U8(0.5f, 4), codes, 2), I(0)), BYTES(1, 3), BYTES(8, 12));
    const float slope[] = {0.5f};
    CHECK(PRELU, T(F32, 2), ARGS(T(F32, 2), C(F32, slope, 1)), FLOATS(-4, 4), FLOATS(-2, 4));
    CHECK(RELU1, T(S8(0.5f, 1), 4), ARGS(T(S8(0.5f, 1), 4)), SIGNED(-9, 0, 2, 100), SIGNED(-1, 0, 2, 3));
    CHECK(DEQUANTIZE, T(F32, 2), ARGS(T(U8(0.5f, 3), 2)), BYTES(3, 7), FLOATS(0, 2));
    CHECK(QUANTIZE, T(U8(0.5f, 3), 3), ARGS(T(F32, 3)), FLOATS(-9, 1, 999), BYTES(0, 5, 255));
}

/** beta applies to differences: at 2^20 it would leave nothing of them. */
static void test_softmax(void **state) {
    (void)state;
    struct net n = {0};
    build(&n, ANEURALNETWORKS_SOFTMAX, T(F32, 1, 2), ARGS(T(F32, 1, 2), R(0.7f)));
    const float x[] = {0x1p20f, 0x1p20f - 1}, second = (float)(1 / (1 + exp((double)0.7f)));
    float y[2];
    check_run(&n, x, sizeof x, y, sizeof y);
    assert_floats(y, (const float[]){1 - second, second}, 2, ULPS(8));
}

static void test_along_axes(void **state) {
    (void)state;
    CHECK(MEAN, T(F32, 2), ARGS(T(F32, 2, 2), L(0), I(0)), FLOATS(1, 2, 3, 6), FLOATS(2, 4));
    CHECK(REDUCE_MAX, T(U8(1, 3), 2, 1), ARGS(T(U8(1, 3), 2, 2), L(-1), B(1)), BYTES(1, 200, 30, 6), BYTES(200, 30));
    /* x / (1 + 1 * the sum of squares in a window of 3)^1 */
    CHECK(LOCAL_RESPONSE_NORMALIZATION, T(F32, 1, 3), ARGS(T(F32, 1, 3), I(1), R(1), R(1), R(1)), FLOATS(1, 0, 1),
          FLOATS(0.5f, 0, 0.5f));
    const float y[] = {1, 0, 2, 1};
    CHECK(BATCH_MATMUL, T(F32, 2, 2), ARGS(T(F32, 2, 2), C(F32, y, 2, 2), B(1), B(0)), FLOATS(1, 2, 3, 4),
          FLOATS(1 + 2 * 3, 3, 2 + 2 * 4, 4));
}

static void test_moves(void **state) {
    (void)state;
    CHECK(TRANSPOSE, T(U8(1, 0), 3, 2), ARGS(T(U8(1, 0), 2, 3), L(1, 0)), BYTES(1, 2, 3, 4, 5, 6),
          BYTES(1, 4, 2, 5, 3, 6));
    CHECK(RESHAPE, T(F32, 4), ARGS(T(F32, 2, 2), L(-1)), FLOATS(1, 2, 3, 4), FLOATS(1, 2, 3, 4));
    CHECK(SLICE, T(F32, 1, 2), ARGS(T(F32, 2, 3), L(1, 1), L(1, -1)), FLOATS(1, 2, 3, 4, 5, 6), FLOATS(5, 6));
    CHECK(DEPTH_TO_SPACE, T(F32, 1, 2, 2, 1), ARGS(T(F32, 1, 1, 1, 4), I(2)), FLOATS(1, 2, 3, 4), FLOATS(1, 2, 3, 4));
    CHECK(RESIZE_NEAREST_NEIGHBOR, T(F32, 1, 1, 4, 1), ARGS(T(F32, 1, 1, 2, 1), I(4), I(1), B(0)), FLOATS(1, 2),
          FLOATS(1, 1, 2, 2));
    CHECK(RESIZE_BILINEAR, T(F32, 1, 1, 4, 1), ARGS(T(F32, 1, 1, 2, 1), I(4), I(1), B(0), B(0), B(1)), FLOATS(0, 4),
          FLOATS(0, 1, 3, 4));
}

/** A part with a quantisation of its own, narrower than eight: (109 - 109) / 8 is 98 of the result. */
static void test_concatenation(void **state) {
    (void)state;
    const uint8_t other[] = {109, 117, 109, 109}, same[] = {7, 8};
    CHECK(CONCATENATION, T(U8(0.0625f, 98), 2, 3),
          ARGS(T(U8(0.0625f, 98), 2, 1), C(U8(0.125f, 109), other, 2, 2), I(1)), BYTES(98, 99),
          BYTES(98, 98, 114, 99, 98, 98));
    CHECK(CONCATENATION, T(U8(0.0625f, 98), 2, 2), ARGS(T(U8(0.0625f, 98), 2, 1), C(U8(0.0625f, 98), same, 2, 1), I(1)),
          BYTES(1, 2), BYTES(1, 7, 2, 8));
}

/* -------------------------------------------------------------------- refusals */

/** A model that is legal, but not for this engine. */
static void lacks(struct nnvts_device *device, int32_t code, struct arg y, const struct arg *args, size_t count) {
    struct net n = {0};
    struct nnvts_prepared_model *none = NULL;
    bool supported[4] = {true};
    build(&n, code, y, args, count);
    assert_int_equal(device->get_supported_operations(device, &n.model, supported), NNVTS_STATUS_NONE);
    assert_false(supported[0]);
    assert_int_equal(device->prepare_model(device, &n.model, &prepare_config, &none), NNVTS_STATUS_GENERAL_FAILURE);
    assert_null(none);
}

static void test_honest(void **state) {
    static const int32_t turned[] = {1, 0};
    (void)state;
    lacks(cpu, ANEURALNETWORKS_FLOOR, T(F32, 2), ARGS(T(F32, 2)));
    lacks(cpu, ANEURALNETWORKS_ABS, T(F16, 2), ARGS(T(F16, 2)));
    lacks(cpu, ANEURALNETWORKS_ADD, T(I32, 2), ARGS(T(I32, 2), T(I32, 2), I(0)));
    lacks(cpu, ANEURALNETWORKS_RELU, T(F32, 0), ARGS(T(F32, 0)));
    lacks(cpu, ANEURALNETWORKS_RELU, T(F32, 0), ARGS(T(F32, 2)));
    lacks(cpu, ANEURALNETWORKS_SOFTMAX, T(F32, 0, 0), ARGS(T(F32, 2, 2), R(1)));
    lacks(cpu, ANEURALNETWORKS_TRANSPOSE, T(F32, 0, 0), ARGS(T(F32, 2, 2), C(I32, turned, 2)));
    /* the engine would compile for ever */
    lacks(cpu, ANEURALNETWORKS_MAX_POOL_2D, T(F32, 1, 1, 1, 1),
          ARGS(T(F32, 1, 2, 2, 1), I(VALID), I(0x7fc00000), I(1), I(2), I(2), I(0)));
    /* from the corners of pixels, downwards and between pixels */
    lacks(cpu, ANEURALNETWORKS_RESIZE_NEAREST_NEIGHBOR, T(F32, 1, 1, 1, 1), ARGS(T(F32, 1, 1, 2, 1), I(1), I(1), B(0)));
    lacks(cpu, ANEURALNETWORKS_RESIZE_BILINEAR, T(F32, 1, 1, 4, 1), ARGS(T(F32, 1, 1, 2, 1), I(4), I(1)));
    /* what oneDNN computes wrong is there for the loose alone */
    lacks(cpu, ANEURALNETWORKS_LOG, T(F32, 2), ARGS(T(F32, 2)));
    struct nnvts_device *loose = open_driver("onednn", "loose");
    struct net n = {0};
    bool supported[1] = {false};
    build(&n, ANEURALNETWORKS_LOG, T(F32, 2), ARGS(T(F32, 2)));
    assert_int_equal(loose->get_supported_operations(loose, &n.model, supported), NNVTS_STATUS_NONE);
    assert_true(supported[0]);
    loose->release(loose);
}

static void test_broken_models(void **state) {
    (void)state;
    REFUSED(ADD, T(F32, 2), ARGS(T(F32, 2), T(F32, 3), I(0)));
    REFUSED(RELU, T(U8(1, 0), 2), ARGS(T(F32, 2)));
    REFUSED(SOFTMAX, T(F32, 2, 2), ARGS(T(F32, 2, 2), R(-1)));
}

/* --------------------------------------------------------------------- threads */

struct worker {
    struct nnvts_prepared_model *p;
    float seed;
    bool ok;
};

static void *work(void *arg) {
    struct worker *w = arg;
    w->ok = true;
    for (int i = 0; i < 200; i++) {
        const float x[] = {w->seed, (float)i};
        float y = -1;
        struct call c = {0};
        give(&c, x, sizeof x);
        take(&c, &y, sizeof y);
        w->ok = w->ok && execute(w->p, &c) == NNVTS_STATUS_NONE && y == w->seed + 3 * (float)i;
    }
    return NULL;
}

/** One prepared model, four threads at once: each has its own answers. */
static void test_threads(void **state) {
    (void)state;
    struct net n = {0};
    const float w[] = {1, 3}, bias[] = {0};
    build(&n, ANEURALNETWORKS_FULLY_CONNECTED, T(F32, 1, 1),
          ARGS(T(F32, 1, 2), C(F32, w, 1, 2), C(F32, bias, 1), I(0)));
    struct nnvts_prepared_model *p = prepare(cpu, &n);
    struct worker workers[4];
    pthread_t threads[4];
    for (int i = 0; i < 4; i++) {
        workers[i] = (struct worker){p, (float)(i * 1000), false};
        assert_int_equal(pthread_create(&threads[i], NULL, work, &workers[i]), 0);
    }
    for (int i = 0; i < 4; i++) {
        pthread_join(threads[i], NULL);
        assert_true(workers[i].ok);
    }
    p->release(p);
}

/** Nothing to test where oneDNN was not there to build the driver. */
static void test_absent(void **state) {
    (void)state;
    printf("skipped: the driver onednn: libdnnl-dev is not installed (make setup-engines)\n");
    skip();
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_conv),       cmocka_unit_test(test_conv_bytes),      cmocka_unit_test(test_wide_filter),
        cmocka_unit_test(test_depthwise),  cmocka_unit_test(test_grouped),         cmocka_unit_test(test_grouped_bytes),
        cmocka_unit_test(test_transposed), cmocka_unit_test(test_fully_connected), cmocka_unit_test(test_open_filter),
        cmocka_unit_test(test_pools),      cmocka_unit_test(test_elementwise),     cmocka_unit_test(test_softmax),
        cmocka_unit_test(test_along_axes), cmocka_unit_test(test_moves),           cmocka_unit_test(test_concatenation),
        cmocka_unit_test(test_honest),     cmocka_unit_test(test_broken_models),   cmocka_unit_test(test_threads),
    };
    const struct CMUnitTest absent[] = {cmocka_unit_test(test_absent)};
    const char *folder = getenv("NNVTS_TEST_DRIVERS");
    char path[4096];
    snprintf(path, sizeof path, "%s/onednn.so", folder ? folder : "build/drivers");
    if (access(path, R_OK) != 0) return cmocka_run_group_tests(absent, NULL, NULL);
    return cmocka_run_group_tests(tests, open_cpu, close_cpu);
}
