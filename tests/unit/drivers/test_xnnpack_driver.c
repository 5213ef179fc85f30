/* SPDX-License-Identifier: Apache-2.0 */
/** @file test_xnnpack_driver.c The driver "xnnpack", where it was built: values worked by hand, and what it refuses. */
#define CPU_DRIVER "xnnpack", "threads=1"
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/kit/driver_op.h"

#define OP(NAME) ANEURALNETWORKS_##NAME
#define ABSENT_SKIPS                                                                                                   \
    (void)state;                                                                                                       \
    if (!cpu) skip()
#define PER_CHANNEL ((struct kind){ANEURALNETWORKS_TENSOR_QUANT8_SYMM_PER_CHANNEL, 0, 0})
#define BIAS(SCALE) ((struct kind){ANEURALNETWORKS_TENSOR_INT32, SCALE, 0})
#define SAME INT_SCALAR(ANEURALNETWORKS_PADDING_SAME)
#define VALID INT_SCALAR(ANEURALNETWORKS_PADDING_VALID)
#define NO_ACTIVATION INT_SCALAR(ANEURALNETWORKS_FUSED_NONE)
#define RELU6 INT_SCALAR(ANEURALNETWORKS_FUSED_RELU6)
#define ONE INT_SCALAR(1)
#define TWO INT_SCALAR(2)

/** The engine is an option of the build: without it there is no such driver, and nothing to test. */
static int open_where_built(void **state) {
    char path[4096];
    const char *folder = getenv("NNVTS_TEST_DRIVERS");
    snprintf(path, sizeof path, "%s/xnnpack.so", folder ? folder : "build/drivers");
    if (access(path, F_OK) == 0) return open_cpu(state);
    printf("skipped: the driver xnnpack was not built: no libxnnpack-dev\n");
    return 0;
}
static int close_where_built(void **state) { return cpu ? close_cpu(state) : 0; }

/** The model is legal, but not for this driver. */
static void unsupported_op(struct nnvts_device *device, int32_t code, const struct given *in, const struct given *out) {
    struct net n = {0};
    struct nnvts_prepared_model *none = NULL;
    bool supported[4] = {true, true, true, true};
    make_op(&n, code, in, out);
    assert_int_equal(device->get_supported_operations(device, finish(&n), supported), NNVTS_STATUS_NONE);
    assert_false(supported[0]);
    assert_int_equal(device->prepare_model(device, &n.model, &prepare_config, &none), NNVTS_STATUS_GENERAL_FAILURE);
    assert_null(none);
}

/* --------------------------------------------------------------------- convolutions */

static void test_convolution(void **state) {
    ABSENT_SKIPS;
    const struct given x = {F32, DIMS(1, 2, 2, 1), FLOATS(1, 2, 3, 4)},
                       w = {F32, CONSTANT | 4, (const uint32_t[]){1, 3, 3, 1}, FLOATS(1, 1, 1, 1, 1, 1, 1, 1, 1)},
                       b = {F32, CONSTANT | 1, (const uint32_t[]){1}, FLOATS(-5)};
    /* every window of SAME sees all four pixels: 10 - 5 */
    check_op(OP(CONV_2D), INPUTS(x, w, b, SAME, ONE, ONE, NO_ACTIVATION),
             OUTPUT(F32, DIMS(1, 2, 2, 1), FLOATS(5, 5, 5, 5)));
    /* explicit: one pixel more on the left and at the top, windows (-1 to 1, -1 to 1) and no other */
    check_op(OP(CONV_2D),
             INPUTS(x, w, b, ONE, INT_SCALAR(0), ONE, INT_SCALAR(0), ONE, ONE, INT_SCALAR(ANEURALNETWORKS_FUSED_RELU1)),
             OUTPUT(F32, DIMS(1, 1, 1, 1), FLOATS(1)));
    /* weights must be there when the model is compiled */
    const struct given late = {F32, DIMS(1, 3, 3, 1), NULL};
    unsupported_op(cpu, OP(CONV_2D), INPUTS(x, late, b, SAME, ONE, ONE, NO_ACTIVATION),
                   OUTPUT(F32, DIMS(1, 2, 2, 1), NULL));
    /* channels first */
    unsupported_op(cpu, OP(CONV_2D),
                   INPUTS({F32, DIMS(1, 1, 2, 2), NULL}, w, b, SAME, ONE, ONE, NO_ACTIVATION, BOOL_SCALAR(1)),
                   OUTPUT(F32, DIMS(1, 1, 2, 2), NULL));
}

static void test_quantised_convolution(void **state) {
    ABSENT_SKIPS;
    const uint32_t two[] = {2, 1, 1, 1}, filters[] = {2};
    /* (x - 128) / 2 * (w - 10) / 4 + b / 8, in units of 1/2 from 3: ((x - 128) * (w - 10) + b) / 4 + 3 */
    check_op(OP(CONV_2D),
             INPUTS({U8(0.5f, 128), DIMS(1, 1, 2, 1), BYTES(136, 120)},
                    {U8(0.25f, 10), CONSTANT | 4, two, BYTES(11, 8)},
                    {BIAS(0.125f), CONSTANT | 1, filters, INTS(4, -4)}, VALID, ONE, ONE, NO_ACTIVATION),
             OUTPUT(U8(0.5f, 3), DIMS(1, 1, 2, 2), BYTES(6, 0, 2, 6)));
    /* a zero point is taken off signed weights ... */
    const struct given x = {S8(1, 0), DIMS(1, 1, 1, 1), SIGNED(2)}, b = {BIAS(1), CONSTANT | 1, filters, INTS(0, 0)};
    check_op(OP(CONV_2D), INPUTS(x, {S8(1, -1), CONSTANT | 4, two, SIGNED(3, -6)}, b, VALID, ONE, ONE, NO_ACTIVATION),
             OUTPUT(S8(1, 0), DIMS(1, 1, 1, 2), SIGNED(8, -10)));
    /* ... unless it takes one of them out of range: 127 + 1 */
    unsupported_op(cpu, OP(CONV_2D),
                   INPUTS(x, {S8(1, -1), CONSTANT | 4, two, SIGNED(3, 127)}, b, VALID, ONE, ONE, NO_ACTIVATION),
                   OUTPUT(S8(1, 0), DIMS(1, 1, 1, 2), NULL));
    /* a scale at which XNNPACK would abort */
    unsupported_op(cpu, OP(CONV_2D),
                   INPUTS({S8(1e-6f, 0), DIMS(1, 1, 1, 1), SIGNED(2)}, {S8(1e-6f, 0), CONSTANT | 4, two, SIGNED(3, 1)},
                          {BIAS(1e-6f * 1e-6f), CONSTANT | 1, filters, INTS(0, 0)}, VALID, ONE, ONE, NO_ACTIVATION),
                   OUTPUT(S8(1, 0), DIMS(1, 1, 1, 2), NULL));
}

/** Scales 1 and 1/4 for the two filters. */
static void test_filters_per_channel(void **state) {
    ABSENT_SKIPS;
    static const float scales[] = {1, 0.25f};
    const int8_t weights[] = {3, -8};
    struct net n = {0};
    const uint32_t x = input(&n, S8(1, -2), DIMS(1, 1, 1, 1)),
                   w = constant(&n, PER_CHANNEL, weights, sizeof weights, 4, (const uint32_t[]){2, 1, 1, 1}),
                   b = constant(&n, BIAS(0), INTS(1, 4), 8, 1, (const uint32_t[]){2}),
                   valid = integer(&n, ANEURALNETWORKS_PADDING_VALID), one = integer(&n, 1), none = integer(&n, 0),
                   y = output(&n, S8(0.5f, 10), DIMS(1, 1, 1, 2));
    n.operands[w].channel_quant = (struct nnvts_channel_quant){0, 2, scales};
    operation(&n, OP(CONV_2D), LIST(x, w, b, valid, one, one, none), LIST(y));
    int8_t out[2], in = 3; /* 5 * 3 + 1 = 16, and 5 * -2 + 1 = -9 */
    check_run(&n, &in, 1, out, 2);
    assert_int_equal(out[0], 10 + 32);
    assert_int_equal(out[1], 10 - 18);
}

/** Output channel c * multiplier + m; two input channels. */
static void test_depthwise(void **state) {
    ABSENT_SKIPS;
    check_op(OP(DEPTHWISE_CONV_2D),
             INPUTS({F32, DIMS(1, 1, 2, 2), FLOATS(1, 10, 2, 20)},
                    {F32, CONSTANT | 4, (const uint32_t[]){1, 1, 2, 4}, FLOATS(1, 2, 3, 4, 5, 6, 7, 8)},
                    {F32, CONSTANT | 1, (const uint32_t[]){4}, FLOATS(0, 0, 0, 0.5f)}, VALID, ONE, ONE, TWO,
                    NO_ACTIVATION),
             OUTPUT(F32, DIMS(1, 1, 1, 4), FLOATS(11, 14, 170, 200.5f)));
}

static void test_grouped(void **state) {
    ABSENT_SKIPS;
    check_op(OP(GROUPED_CONV_2D),
             INPUTS({F32, DIMS(1, 1, 1, 4), FLOATS(1, 2, 3, 4)},
                    {F32, CONSTANT | 4, (const uint32_t[]){2, 1, 1, 2}, FLOATS(1, 1, 10, 1)},
                    {F32, CONSTANT | 1, (const uint32_t[]){2}, FLOATS(0, 0)}, VALID, ONE, ONE, TWO, RELU6,
                    BOOL_SCALAR(0)),
             OUTPUT(F32, DIMS(1, 1, 1, 2), FLOATS(3, 6)));
}

/** Strided by its own size, each pixel is a copy of the filter; a larger output has the rest from the bias. */
static void test_transposed(void **state) {
    ABSENT_SKIPS;
    const struct given x = {F32, DIMS(1, 1, 2, 1), FLOATS(1, -2)},
                       w = {F32, CONSTANT | 4, (const uint32_t[]){1, 1, 2, 1}, FLOATS(3, 5)},
                       b = {F32, CONSTANT | 1, (const uint32_t[]){1}, FLOATS(1)};
    check_op(OP(TRANSPOSE_CONV_2D),
             INPUTS(x, w, b, AXES(1, 1, 5, 1), VALID, INT_SCALAR(3), ONE, NO_ACTIVATION, BOOL_SCALAR(0)),
             OUTPUT(F32, DIMS(1, 1, 5, 1), FLOATS(4, 6, 1, -5, -9)));
    check_op(OP(TRANSPOSE_CONV_2D),
             INPUTS(x, w, b, ONE, INT_SCALAR(0), INT_SCALAR(0), INT_SCALAR(0), TWO, ONE, NO_ACTIVATION, BOOL_SCALAR(0)),
             OUTPUT(F32, DIMS(1, 1, 3, 1), FLOATS(6, -5, -9)));
}

static void test_fully_connected(void **state) {
    ABSENT_SKIPS;
    check_op(OP(FULLY_CONNECTED),
             INPUTS({U8(1, 1), DIMS(1, 2, 2), BYTES(2, 3, 1, 5)},
                    {U8(1, 2), CONSTANT | 2, (const uint32_t[]){2, 2}, BYTES(3, 4, 2, 0)},
                    {BIAS(1), CONSTANT | 1, (const uint32_t[]){2}, INTS(10, 20)}, NO_ACTIVATION),
             OUTPUT(U8(1, 4), DIMS(2, 2), BYTES(19, 20, 22, 16)));
    check_op(OP(FULLY_CONNECTED),
             INPUTS({F32, DIMS(1, 2, 2), FLOATS(1, 2, 3, 4)},
                    {F32, CONSTANT | 2, (const uint32_t[]){1, 2}, FLOATS(10, 1)},
                    {F32, CONSTANT | 1, (const uint32_t[]){1}, FLOATS(0.5f)}, NO_ACTIVATION),
             OUTPUT(F32, DIMS(2, 1), FLOATS(12.5f, 34.5f)));
}

/* ------------------------------------------------------------------ pools and images */

static void test_average_pool(void **state) {
    ABSENT_SKIPS;
    const struct given three = INT_SCALAR(3);
    /* padding does not count: means of 1 2, 1 2 3, 2 3 */
    check_op(OP(AVERAGE_POOL_2D), INPUTS({F32, DIMS(1, 1, 3, 1), FLOATS(1, 2, 3)}, SAME, ONE, ONE, three, ONE, RELU6),
             OUTPUT(F32, DIMS(1, 1, 3, 1), FLOATS(1.5f, 2, 2.5f)));
    check_op(OP(AVERAGE_POOL_2D),
             INPUTS({S8(1, 0), DIMS(1, 1, 3, 1), SIGNED(-10, 2, 2)}, VALID, ONE, ONE, three, ONE, NO_ACTIVATION),
             OUTPUT(S8(1, 0), DIMS(1, 1, 1, 1), SIGNED(-2)));
}

/** Quantised averages with padding: refused, since XNNPACK would count it; shown by the option loose. */
static void test_loose(void **state) {
    ABSENT_SKIPS;
    const struct given *in = INPUTS({U8(1, 0), DIMS(1, 1, 1, 1), BYTES(15)}, SAME, ONE, ONE, ONE, INT_SCALAR(3),
                                    NO_ACTIVATION),
                       *out = OUTPUT(U8(1, 0), DIMS(1, 1, 1, 1), BYTES(5));
    unsupported_op(cpu, OP(AVERAGE_POOL_2D), in, out);
    struct nnvts_device *strict = cpu;
    cpu = open_driver("xnnpack", "loose,threads=1");
    check_op(OP(AVERAGE_POOL_2D), in, out);
    close_cpu(state);
    cpu = strict;
}

static void test_max_pool(void **state) {
    ABSENT_SKIPS;
    check_op(OP(MAX_POOL_2D),
             INPUTS({U8(0.5f, 10), DIMS(1, 2, 3, 1), BYTES(1, 9, 30, 4, 7, 255)}, VALID, ONE, ONE, TWO, TWO, RELU6),
             OUTPUT(U8(0.5f, 10), DIMS(1, 1, 2, 1), BYTES(10, 22)));
}

static void test_mean(void **state) {
    ABSENT_SKIPS;
    const struct given x = {F32, DIMS(1, 2, 2, 2), FLOATS(1, 10, 2, 20, 3, 30, 6, 60)};
    check_op(OP(MEAN), INPUTS(x, AXES(-2, 1), INT_SCALAR(0)), OUTPUT(F32, DIMS(1, 2), FLOATS(3, 30)));
    unsupported_op(cpu, OP(MEAN), INPUTS(x, AXES(3), INT_SCALAR(0)), OUTPUT(F32, DIMS(1, 2, 2), NULL));
}

static void test_resize(void **state) {
    ABSENT_SKIPS;
    const struct given x = {F32, DIMS(1, 1, 2, 1), FLOATS(0, 8)}, four = INT_SCALAR(4), no = BOOL_SCALAR(0),
                       yes = BOOL_SCALAR(1);
    check_op(OP(RESIZE_BILINEAR), INPUTS(x, four, ONE), OUTPUT(F32, DIMS(1, 1, 4, 1), FLOATS(0, 4, 8, 8)));
    check_op(OP(RESIZE_BILINEAR), INPUTS(x, four, ONE, no, no, yes), OUTPUT(F32, DIMS(1, 1, 4, 1), FLOATS(0, 2, 6, 8)));
    check_op(OP(RESIZE_BILINEAR), INPUTS(x, INT_SCALAR(5), ONE, no, yes, no),
             OUTPUT(F32, DIMS(1, 1, 5, 1), FLOATS(0, 2, 4, 6, 8)));
}

static void test_depth_to_space(void **state) {
    ABSENT_SKIPS;
    check_op(OP(DEPTH_TO_SPACE), INPUTS({F32, DIMS(1, 1, 2, 4), FLOATS(1, 2, 3, 4, 5, 6, 7, 8)}, TWO),
             OUTPUT(F32, DIMS(1, 2, 4, 1), FLOATS(1, 2, 5, 6, 3, 4, 7, 8)));
    check_op(OP(DEPTH_TO_SPACE), INPUTS({U8(1, 0), DIMS(1, 1, 1, 2), BYTES(1, 2)}, ONE),
             OUTPUT(U8(1, 0), DIMS(1, 1, 1, 2), BYTES(1, 2)));
}

/* ----------------------------------------------------------------------- elements */

static void test_unary(void **state) {
    ABSENT_SKIPS;
    const struct given x = {F32, DIMS(2, 2), FLOATS(-1.5f, 0.25f, 9, 2)};
    check_op(OP(ABS), INPUTS(x), OUTPUT(F32, DIMS(2, 2), FLOATS(1.5f, 0.25f, 9, 2)));
    check_op(OP(NEG), INPUTS(x), OUTPUT(F32, DIMS(2, 2), FLOATS(1.5f, -0.25f, -9, -2)));
    check_op(OP(FLOOR), INPUTS(x), OUTPUT(F32, DIMS(2, 2), FLOATS(-2, 0, 9, 2)));
    check_op(OP(RELU6), INPUTS(x), OUTPUT(F32, DIMS(2, 2), FLOATS(0, 0.25f, 6, 2)));
    check_op(OP(SQRT), INPUTS({F32, DIMS(3), FLOATS(0.25f, 9, 0)}), OUTPUT(F32, DIMS(3), FLOATS(0.5f, 3, 0)));
    check_op_near(OP(LOGISTIC), INPUTS({F32, DIMS(2), FLOATS(0, 1)}), OUTPUT(F32, DIMS(2), FLOATS(0.5f, 0.73105858f)),
                  ULPS(4));
    check_op_near(OP(ELU), INPUTS({F32, DIMS(2), FLOATS(-1, 3)}, REAL_SCALAR(2)),
                  OUTPUT(F32, DIMS(2), FLOATS(-1.26424112f, 3)), ULPS(4));
    check_op_near(OP(HARD_SWISH), INPUTS({F32, DIMS(4), FLOATS(-4, 0, 1, 5)}),
                  OUTPUT(F32, DIMS(4), FLOATS(0, 0, 0.66666667f, 5)), ULPS(4));
    check_op(OP(TANH), INPUTS({U8(1, 100), DIMS(3), BYTES(0, 100, 200)}),
             OUTPUT(U8(1.0f / 128, 128), DIMS(3), BYTES(0, 128, 255)));
    check_op(OP(LOGISTIC), INPUTS({S8(1, 0), DIMS(3), SIGNED(-100, 0, 100)}),
             OUTPUT(S8(1.0f / 256, -128), DIMS(3), SIGNED(-128, 0, 127)));
    unsupported_op(cpu, OP(TANH), INPUTS(x), OUTPUT(F32, DIMS(2, 2), NULL)); /* no such operator */
    unsupported_op(cpu, OP(ABS), INPUTS({F16, DIMS(2), NULL}), OUTPUT(F16, DIMS(2), NULL));
}

static void test_binary(void **state) {
    ABSENT_SKIPS;
    const struct given x = {F32, DIMS(2, 2), FLOATS(1, -2, 3, 8)}, row = {F32, DIMS(2), FLOATS(2, 4)},
                       fixed = {F32, CONSTANT | 1, (const uint32_t[]){2}, FLOATS(2, 4)};
    check_op(OP(ADD), INPUTS(x, row, RELU6), OUTPUT(F32, DIMS(2, 2), FLOATS(3, 2, 5, 6)));
    check_op(OP(SUB), INPUTS(x, fixed, NO_ACTIVATION), OUTPUT(F32, DIMS(2, 2), FLOATS(-1, -6, 1, 4)));
    check_op(OP(SUB), INPUTS(fixed, x, NO_ACTIVATION), OUTPUT(F32, DIMS(2, 2), FLOATS(1, 6, -1, -4)));
    check_op(OP(MUL), INPUTS(x, row, NO_ACTIVATION), OUTPUT(F32, DIMS(2, 2), FLOATS(2, -8, 6, 32)));
    check_op(OP(DIV), INPUTS(x, row, NO_ACTIVATION), OUTPUT(F32, DIMS(2, 2), FLOATS(0.5f, -0.5f, 1.5f, 2)));
    check_op(OP(MAXIMUM), INPUTS(x, row), OUTPUT(F32, DIMS(2, 2), FLOATS(2, 4, 3, 8)));
    check_op(OP(MINIMUM), INPUTS(x, row), OUTPUT(F32, DIMS(2, 2), FLOATS(1, -2, 2, 4)));
    /* (5 - 3) + 2 (6 - 1) = 12, and (0 - 3) + 2 (2 - 1) = -1: in halves from 10 */
    check_op(OP(ADD), INPUTS({U8(1, 3), DIMS(2), BYTES(5, 0)}, {U8(2, 1), DIMS(2), BYTES(6, 2)}, NO_ACTIVATION),
             OUTPUT(U8(0.5f, 10), DIMS(2), BYTES(34, 8)));
    unsupported_op(cpu, OP(ADD), INPUTS({I32, DIMS(2), NULL}, {I32, DIMS(2), NULL}, NO_ACTIVATION),
                   OUTPUT(I32, DIMS(2), NULL));
}

static void test_prelu(void **state) {
    ABSENT_SKIPS;
    const struct given x = {F32, DIMS(2, 2), FLOATS(-1, -2, 3, -4)};
    check_op(OP(PRELU), INPUTS(x, {F32, CONSTANT | 1, (const uint32_t[]){2}, FLOATS(2, 0.5f)}),
             OUTPUT(F32, DIMS(2, 2), FLOATS(-2, -1, 3, -2)));
    check_op(OP(PRELU), INPUTS(x, {F32, CONSTANT | 1, (const uint32_t[]){1}, FLOATS(3)}),
             OUTPUT(F32, DIMS(2, 2), FLOATS(-3, -6, 3, -12)));
    unsupported_op(cpu, OP(PRELU), INPUTS(x, {F32, CONSTANT | 2, (const uint32_t[]){2, 1}, FLOATS(3, 4)}),
                   OUTPUT(F32, DIMS(2, 2), NULL));
}

/** exp(2 * 0.5) to exp(0) is as 2.7182818 to 1. */
static void test_softmax(void **state) {
    ABSENT_SKIPS;
    const struct given x = {F32, DIMS(1, 2), FLOATS(0.5f, 0)};
    check_op_near(OP(SOFTMAX), INPUTS(x, REAL_SCALAR(2)), OUTPUT(F32, DIMS(1, 2), FLOATS(0.73105858f, 0.26894142f)),
                  ULPS(8));
    unsupported_op(cpu, OP(SOFTMAX), INPUTS(x, REAL_SCALAR(0.3f)), OUTPUT(F32, DIMS(1, 2), NULL));
    unsupported_op(cpu, OP(SOFTMAX), INPUTS(x, REAL_SCALAR(1), INT_SCALAR(0)), OUTPUT(F32, DIMS(1, 2), NULL));
    /* 0.7310586 * 256 = 187.15 */
    check_op(OP(SOFTMAX), INPUTS({S8(0.25f, 3), DIMS(1, 2), SIGNED(5, 3)}, REAL_SCALAR(2)),
             OUTPUT(S8(1.0f / 256, -128), DIMS(1, 2), SIGNED(59, -59)));
    check_op(OP(SOFTMAX), INPUTS({U8(0.25f, 3), DIMS(1, 2), BYTES(5, 3)}, REAL_SCALAR(2)),
             OUTPUT(U8(1.0f / 256, 0), DIMS(1, 2), BYTES(187, 69)));
}

static void test_quantize(void **state) {
    ABSENT_SKIPS;
    check_op(OP(QUANTIZE), INPUTS({F32, DIMS(3), FLOATS(-100, 0.6f, 1000)}),
             OUTPUT(U8(0.5f, 10), DIMS(3), BYTES(0, 11, 255)));
    check_op(OP(DEQUANTIZE), INPUTS({S8(0.5f, -2), DIMS(2), SIGNED(-128, 2)}), OUTPUT(F32, DIMS(2), FLOATS(-63, 2)));
}

/* -------------------------------------------------------------------------- moves */

static void test_moves(void **state) {
    ABSENT_SKIPS;
    const struct given a = {U8(1, 7), DIMS(2, 1), BYTES(1, 2)}, b = {U8(1, 7), DIMS(2, 2), BYTES(3, 4, 5, 6)};
    check_op(OP(CONCATENATION), INPUTS(a, b, ONE), OUTPUT(U8(1, 7), DIMS(2, 3), BYTES(1, 3, 4, 2, 5, 6)));
    unsupported_op(cpu, OP(CONCATENATION), INPUTS(a, b, ONE), OUTPUT(U8(2, 7), DIMS(2, 3), NULL));
    check_op(OP(SPLIT), INPUTS({F32, DIMS(2, 2), FLOATS(1, 2, 3, 4)}, ONE, TWO),
             OUTPUTS({F32, DIMS(2, 1), FLOATS(1, 3)}, {F32, DIMS(2, 1), FLOATS(2, 4)}));
    check_op(OP(RESHAPE), INPUTS(b, AXES(4)), OUTPUT(U8(1, 7), DIMS(4), BYTES(3, 4, 5, 6)));
    const struct given pads = {I32, CONSTANT | 2, (const uint32_t[]){2, 2}, INTS(0, 1, 1, 0)};
    check_op(OP(PAD), INPUTS(a, pads), OUTPUT(U8(1, 7), DIMS(3, 2), BYTES(7, 1, 7, 2, 7, 7)));
    check_op(OP(PAD_V2), INPUTS({F32, DIMS(1, 1), FLOATS(3)}, pads, REAL_SCALAR(-1)),
             OUTPUT(F32, DIMS(2, 2), FLOATS(-1, 3, -1, -1)));
    check_op(OP(CHANNEL_SHUFFLE), INPUTS({F32, DIMS(1, 6), FLOATS(1, 2, 3, 4, 5, 6)}, TWO, ONE),
             OUTPUT(F32, DIMS(1, 6), FLOATS(1, 4, 2, 5, 3, 6)));
}

/* --------------------------------------------------------------------- executions */

/** y = relu(x), z = -y: y is an output that is read; then values in between share memory. */
static void test_graph(void **state) {
    ABSENT_SKIPS;
    struct net n = {0};
    const uint32_t x = input(&n, F32, DIMS(3)), y = output(&n, F32, DIMS(3)),
                   a = tensor(&n, NNVTS_TEMPORARY_VARIABLE, F32, DIMS(3)),
                   b = tensor(&n, NNVTS_TEMPORARY_VARIABLE, F32, DIMS(3)), z = output(&n, F32, DIMS(3)),
                   none = integer(&n, 0);
    operation(&n, OP(RELU), LIST(x), LIST(y));
    operation(&n, OP(NEG), LIST(y), LIST(a));
    operation(&n, OP(ADD), LIST(a, x, none), LIST(b));
    operation(&n, OP(MUL), LIST(b, x, none), LIST(z));
    struct nnvts_prepared_model *p = prepare(cpu, &n);
    float relu[3], product[3];
    for (int i = 0; i < 3; i++) { /* other addresses each time */
        struct call c = {0};
        give(&c, FLOATS(-1, 2, -3), 12);
        take(&c, i % 2 ? product : relu, 12);
        take(&c, i % 2 ? relu : product, 12);
        assert_int_equal(execute(p, &c), NNVTS_STATUS_NONE);
        assert_memory_equal(i % 2 ? product : relu, FLOATS(0, 2, 0), 12);
        assert_memory_equal(i % 2 ? relu : product, FLOATS(1, 0, 9), 12);
    }
    p->release(p);
}

struct worker {
    struct nnvts_prepared_model *prepared;
    float first;
    bool ok;
};

static void *negate_often(void *arg) {
    struct worker *w = arg;
    w->ok = true;
    for (int i = 0; i < 500 && w->ok; i++) {
        const float x = w->first + (float)i;
        float y = 0;
        struct call c = {0};
        give(&c, &x, sizeof x);
        take(&c, &y, sizeof y);
        w->ok = execute(w->prepared, &c) == NNVTS_STATUS_NONE && y == -x;
    }
    return NULL;
}

static void test_threads(void **state) {
    ABSENT_SKIPS;
    enum { WORKERS = 4 };
    struct net n = {0};
    const uint32_t x = input(&n, F32, DIMS(1)), y = output(&n, F32, DIMS(1));
    operation(&n, OP(NEG), LIST(x), LIST(y));
    struct nnvts_prepared_model *p = prepare(cpu, &n);
    struct worker workers[WORKERS];
    pthread_t threads[WORKERS];
    for (int i = 0; i < WORKERS; i++) {
        workers[i] = (struct worker){p, (float)(i * 1000), false};
        assert_int_equal(pthread_create(&threads[i], NULL, negate_often, &workers[i]), 0);
    }
    for (int i = 0; i < WORKERS; i++) pthread_join(threads[i], NULL);
    for (int i = 0; i < WORKERS; i++) assert_true(workers[i].ok);
    p->release(p);
}

/** XNNPACK reads behind its input, where there may be nothing. */
static void test_input_at_the_end_of_memory(void **state) {
    ABSENT_SKIPS;
    const size_t page = (size_t)sysconf(_SC_PAGESIZE), bytes = 3 * sizeof(float);
    char *pages = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(pages != MAP_FAILED);
    assert_int_equal(mprotect(pages + page, page, PROT_NONE), 0);
    memcpy(pages + page - bytes, FLOATS(1, -2, 3), bytes);
    struct nnvts_prepared_model *p = prepare_relu(F32, DIMS(3));
    float y[3];
    struct call c = {0};
    give(&c, pages + page - bytes, (uint32_t)bytes);
    take(&c, y, sizeof y);
    assert_int_equal(execute(p, &c), NNVTS_STATUS_NONE);
    assert_memory_equal(y, FLOATS(1, 0, 3), sizeof y);
    p->release(p);
    munmap(pages, 2 * page);
}

static void test_requests(void **state) {
    ABSENT_SKIPS;
    static _Alignas(16) char bytes[32];
    struct nnvts_prepared_model *p = prepare_relu(F32, DIMS(2));
    float y[2];
    struct call shorter = {0}, small = {0}, unaligned = {0}, over = {0};
    give(&shorter, bytes, 4);
    take(&shorter, y, 8);
    assert_int_equal(execute(p, &shorter), NNVTS_STATUS_INVALID_ARGUMENT);
    give(&small, bytes, 8);
    take(&small, y, 4);
    assert_int_equal(execute(p, &small), NNVTS_STATUS_OUTPUT_INSUFFICIENT_SIZE);
    assert_int_equal(small.result.shape_count, 1);
    assert_false(small.shapes[0].is_sufficient);
    assert_int_equal(small.dims[0][0], 2);
    give(&unaligned, bytes, 8);
    take(&unaligned, y, 8);
    unaligned.pools[0].size = sizeof bytes;
    unaligned.in[0].location.offset = 2;
    assert_int_equal(execute(p, &unaligned), NNVTS_STATUS_INVALID_ARGUMENT);
    give(&over, bytes, 8);
    take(&over, bytes + 4, 8);
    assert_int_equal(execute(p, &over), NNVTS_STATUS_INVALID_ARGUMENT);
    p->release(p);
}

/** An input of unknown size that nothing reads: no request could be checked against it. */
static void test_unread_input(void **state) {
    ABSENT_SKIPS;
    struct net n = {0};
    struct nnvts_prepared_model *none = NULL;
    bool supported = true;
    const uint32_t x = input(&n, F32, DIMS(2)), y = output(&n, F32, DIMS(2));
    input(&n, F32, DIMS(0));
    operation(&n, OP(RELU), LIST(x), LIST(y));
    assert_int_equal(cpu->get_supported_operations(cpu, finish(&n), &supported), NNVTS_STATUS_NONE);
    assert_false(supported);
    assert_int_equal(cpu->prepare_model(cpu, &n.model, &prepare_config, &none), NNVTS_STATUS_GENERAL_FAILURE);
}

static void test_burst(void **state) {
    ABSENT_SKIPS;
    struct nnvts_prepared_model *p = prepare_relu(F32, DIMS(2));
    struct nnvts_burst *burst = NULL;
    float y[2];
    struct call c = {0};
    assert_int_equal(p->create_burst(p, &burst), NNVTS_STATUS_NONE);
    give(&c, FLOATS(-1, 4), 8);
    take(&c, y, 8);
    const int64_t kept[] = {7, 8}, wrong[] = {-2, 8};
    assert_int_equal(burst->execute(burst, ready(&c), kept, &plain, &c.result), NNVTS_STATUS_NONE);
    assert_memory_equal(y, FLOATS(0, 4), 8);
    assert_int_equal(burst->execute(burst, ready(&c), wrong, &plain, &c.result), NNVTS_STATUS_INVALID_ARGUMENT);
    assert_int_equal(burst->release_memory(burst, 7), NNVTS_STATUS_NONE);
    assert_int_equal(burst->release_memory(burst, -1), NNVTS_STATUS_INVALID_ARGUMENT);
    burst->release(burst);
    p->release(p);
}

static void test_options(void **state) {
    ABSENT_SKIPS;
    static const char *const bad[] = {"threads=0", "threads=65", "threads=", "tight", "loose2"};
    const struct nnvts_driver *driver = load("xnnpack");
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct nnvts_device *none = NULL;
        const char *error = NULL;
        assert_int_equal(driver->open(bad[i], &none, &error), NNVTS_STATUS_INVALID_ARGUMENT);
        assert_non_null(error);
        assert_null(none);
    }
    struct nnvts_device *two = open_driver("xnnpack", "threads=2,loose");
    two->release(two);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_convolution),
        cmocka_unit_test(test_quantised_convolution),
        cmocka_unit_test(test_filters_per_channel),
        cmocka_unit_test(test_depthwise),
        cmocka_unit_test(test_grouped),
        cmocka_unit_test(test_transposed),
        cmocka_unit_test(test_fully_connected),
        cmocka_unit_test(test_average_pool),
        cmocka_unit_test(test_loose),
        cmocka_unit_test(test_max_pool),
        cmocka_unit_test(test_mean),
        cmocka_unit_test(test_resize),
        cmocka_unit_test(test_depth_to_space),
        cmocka_unit_test(test_unary),
        cmocka_unit_test(test_binary),
        cmocka_unit_test(test_prelu),
        cmocka_unit_test(test_softmax),
        cmocka_unit_test(test_quantize),
        cmocka_unit_test(test_moves),
        cmocka_unit_test(test_graph),
        cmocka_unit_test(test_threads),
        cmocka_unit_test(test_input_at_the_end_of_memory),
        cmocka_unit_test(test_requests),
        cmocka_unit_test(test_unread_input),
        cmocka_unit_test(test_burst),
        cmocka_unit_test(test_options),
    };
    return cmocka_run_group_tests(tests, open_where_built, close_where_built);
}
