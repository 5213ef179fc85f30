/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file test_cpu_driver.c The drivers "cpu" and "template" as plug-ins: what they refuse, what they compute, and how
 * they execute. They are loaded from the folder NNVTS_TEST_DRIVERS (build/drivers); nothing else is linked.
 */
#include <unistd.h>

#include "tests/kit/driver.h"

/* --------------------------------------------------------------------- device */

static void test_device(void **state) {
    (void)state;
    assert_string_equal(cpu->name, "nnvts-cpu");
    assert_string_equal(cpu->version, "1.0.0");
    assert_int_equal(cpu->type, ANEURALNETWORKS_DEVICE_CPU);
    assert_int_equal(cpu->feature_level, 7);
    assert_int_equal(cpu->get_status(cpu), NNVTS_DEVICE_AVAILABLE);
    const struct nnvts_capabilities *c = &cpu->capabilities;
    assert_true(c->operand_performance_count >= 13);
    for (uint32_t i = 1; i < c->operand_performance_count; i++)
        assert_true(c->operand_performance[i - 1].type < c->operand_performance[i].type);
}

static void test_options(void **state) {
    (void)state;
    static const char *const bad[] = {"threads=0", "threads=", "threads=x", "threads=65", "isa=mmx", "isa=", "fast"};
    const struct nnvts_driver *driver = load("cpu");
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct nnvts_device *device = NULL;
        const char *error = NULL;
        assert_int_equal(driver->open(bad[i], &device, &error), NNVTS_STATUS_INVALID_ARGUMENT);
        assert_null(device);
        assert_non_null(error);
    }
    struct nnvts_device *device = open_driver("cpu", "threads=1,isa=base");
    device->release(device);
}

/** The environment names the instruction set where the options do not; what it names wrong is said. */
static void test_isa_of_the_environment(void **state) {
    (void)state;
    const struct nnvts_driver *driver = load("cpu");
    char *const before = getenv("NNVTS_CPU_ISA") ? strdup(getenv("NNVTS_CPU_ISA")) : NULL;
    struct nnvts_device *device = NULL;
    const char *error = NULL;
    assert_int_equal(setenv("NNVTS_CPU_ISA", "mmx", 1), 0);
    assert_int_equal(driver->open("threads=1", &device, &error), NNVTS_STATUS_INVALID_ARGUMENT);
    assert_null(device);
    assert_non_null(strstr(error, "NNVTS_CPU_ISA"));
    assert_int_equal(driver->open("isa=base", &device, &error), NNVTS_STATUS_NONE);
    device->release(device);
    static const char *const good[] = {"base", ""};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        assert_int_equal(setenv("NNVTS_CPU_ISA", good[i], 1), 0);
        assert_int_equal(driver->open(NULL, &device, &error), NNVTS_STATUS_NONE);
        device->release(device);
    }
    assert_int_equal(before ? setenv("NNVTS_CPU_ISA", before, 1) : unsetenv("NNVTS_CPU_ISA"), 0);
    free(before);
}

/* -------------------------------------------------------------------- kernels */

static void test_add_broadcast(void **state) {
    (void)state;
    struct net n = {0};
    const float b[] = {10, -20};
    const uint32_t x = input(&n, F32, DIMS(2, 2, 1)), c = constant(&n, F32, b, sizeof b, DIMS(2)),
                   y = output(&n, F32, DIMS(2, 2, 2));
    operation(&n, ANEURALNETWORKS_ADD, LIST(x, c, integer(&n, ANEURALNETWORKS_FUSED_RELU)), LIST(y));
    const float in[] = {1, 2, 30, 4}, expected[] = {11, 0, 12, 0, 40, 10, 14, 0};
    float out[8];
    check_run(&n, in, sizeof in, out, sizeof out);
    assert_floats(out, expected, 8, 0);
}

/** (q - 10) * 0.5 + (3 - 1) * 0.25 in units of 1: halves go away from zero. */
static void test_add_quant(void **state) {
    (void)state;
    struct net n = {0};
    const uint8_t b[] = {3};
    const uint32_t x = input(&n, U8(0.5f, 10), DIMS(4)), c = constant(&n, U8(0.25f, 1), b, 1, DIMS(1)),
                   y = output(&n, U8(1, 100), DIMS(4));
    operation(&n, ANEURALNETWORKS_ADD, LIST(x, c, integer(&n, ANEURALNETWORKS_FUSED_NONE)), LIST(y));
    const uint8_t in[] = {10, 12, 6, 0}, expected[] = {101, 102, 98, 95}; /* 0.5, 1.5, -1.5, -4.5 */
    uint8_t out[4];
    check_run(&n, in, sizeof in, out, sizeof out);
    assert_memory_equal(out, expected, sizeof out);
}

static void test_mul_quant_signed(void **state) {
    (void)state;
    struct net n = {0};
    const int8_t b[] = {-4, 7};
    const uint32_t x = input(&n, S8(0.5f, -3), DIMS(2)), c = constant(&n, S8(0.5f, 0), b, 2, DIMS(2)),
                   y = output(&n, S8(1, 5), DIMS(2));
    operation(&n, ANEURALNETWORKS_MUL, LIST(x, c, integer(&n, ANEURALNETWORKS_FUSED_RELU6)), LIST(y));
    const int8_t in[] = {1, 0}; /* 2 * -2 = -4, 1.5 * 3.5 = 5.25 */
    const int8_t expected[] = {5, 10};
    int8_t out[2];
    check_run(&n, in, sizeof in, out, sizeof out);
    assert_memory_equal(out, expected, sizeof out);
}

/** 3x3 image, 2x2 filters, two output channels. */
static void test_conv(void **state) {
    (void)state;
    struct net n = {0};
    const float filter[] = {1, 2, 3, 4, 0, 0, 0, -1}, bias[] = {0.5f, 1};
    const uint32_t x = input(&n, F32, DIMS(1, 3, 3, 1)), w = constant(&n, F32, filter, sizeof filter, DIMS(2, 2, 2, 1)),
                   b = constant(&n, F32, bias, sizeof bias, DIMS(2)), y = output(&n, F32, DIMS(1, 2, 2, 2));
    operation(&n, ANEURALNETWORKS_CONV_2D,
              LIST(x, w, b, integer(&n, ANEURALNETWORKS_PADDING_VALID), integer(&n, 1), integer(&n, 1),
                   integer(&n, ANEURALNETWORKS_FUSED_NONE)),
              LIST(y));
    const float in[] = {1, 2, 3, 4, 5, 6, 7, 8, 9}, expected[] = {37.5f, -4, 47.5f, -5, 67.5f, -7, 77.5f, -8};
    float out[8];
    check_run(&n, in, sizeof in, out, sizeof out);
    assert_floats(out, expected, 8, 0);
}

/** NCHW, SAME, dilation 2: the filter's corners lie outside but for one. Per-channel scales, signed bytes. */
static void test_conv_per_channel(void **state) {
    (void)state;
    struct net n = {0};
    const int8_t filter[] = {1, 1, 1, 1, 2, 2, 2, 2};
    const int32_t bias[] = {4, -8};
    const float scales[] = {0.5f, 0.25f};
    const uint32_t x = input(&n, S8(0.5f, 1), DIMS(1, 1, 2, 2)),
                   w = constant(&n, (struct kind){ANEURALNETWORKS_TENSOR_QUANT8_SYMM_PER_CHANNEL, 0, 0}, filter, 8,
                                DIMS(2, 2, 2, 1)),
                   b = constant(&n, I32, bias, sizeof bias, DIMS(2)), y = output(&n, S8(0.5f, -10), DIMS(1, 2, 2, 2));
    n.operands[w].channel_quant = (struct nnvts_channel_quant){0, 2, scales};
    operation(&n, ANEURALNETWORKS_CONV_2D,
              LIST(x, w, b, integer(&n, ANEURALNETWORKS_PADDING_SAME), integer(&n, 1), integer(&n, 1),
                   integer(&n, ANEURALNETWORKS_FUSED_NONE), boolean(&n, 1), integer(&n, 2), integer(&n, 2)),
              LIST(y));
    /* effective filter 3x3, one cell of padding in front: output (i, j) sees input (1 - i, 1 - j) alone */
    const int8_t in[] = {3, 5, 9, 13};                            /* centred 2, 4, 8, 12 */
    const int8_t expected[] = {-2, -4, -6, -7, -6, -8, -10, -11}; /* (v + 4) / 2 - 10, (2v - 8) / 4 - 10 */
    int8_t out[8];
    check_run(&n, in, sizeof in, out, sizeof out);
    assert_memory_equal(out, expected, sizeof out);
}

/** Depth multiplier 2: output channel 2c + m uses input channel c. float16: rounded once, at the end. */
static void test_depthwise_half(void **state) {
    (void)state;
    struct net n = {0};
    const uint16_t filter[] = {0x3c00, 0x4000, 0x4200, 0x3800} /* 1, 2, 3, 0.5 */,
                   bias[] = {0, 0, 0, 0x1000} /* 2^-11 */;
    const uint32_t x = input(&n, F16, DIMS(1, 1, 1, 2)), w = constant(&n, F16, filter, sizeof filter, DIMS(1, 1, 1, 4)),
                   b = constant(&n, F16, bias, sizeof bias, DIMS(4)), y = output(&n, F16, DIMS(1, 1, 1, 4));
    operation(&n, ANEURALNETWORKS_DEPTHWISE_CONV_2D,
              LIST(x, w, b, integer(&n, 0), integer(&n, 0), integer(&n, 0), integer(&n, 0), integer(&n, 1),
                   integer(&n, 1), integer(&n, 2), integer(&n, ANEURALNETWORKS_FUSED_NONE)),
              LIST(y));
    const uint16_t in[] = {0x3c00, 0x4000};                       /* 1, 2 */
    const uint16_t expected[] = {0x3c00, 0x4000, 0x4600, 0x3c00}; /* 1, 2, 6, 1 + 2^-11 to even */
    uint16_t out[4];
    check_run(&n, in, sizeof in, out, sizeof out);
    assert_memory_equal(out, expected, sizeof out);
}

/** SAME at a corner: the divisor is the number of cells inside. Halves below the zero point go away from it. */
static void test_average_pool(void **state) {
    (void)state;
    struct net n = {0};
    const uint32_t x = input(&n, U8(0.5f, 100), DIMS(1, 1, 3, 1)), y = output(&n, U8(0.5f, 100), DIMS(1, 1, 3, 1));
    operation(&n, ANEURALNETWORKS_AVERAGE_POOL_2D,
              LIST(x, integer(&n, ANEURALNETWORKS_PADDING_SAME), integer(&n, 1), integer(&n, 1), integer(&n, 2),
                   integer(&n, 1), integer(&n, ANEURALNETWORKS_FUSED_NONE)),
              LIST(y));
    const uint8_t in[] = {90, 99, 102}, expected[] = {94, 101, 102}; /* -5.5, 0.5, 2 */
    uint8_t out[3];
    check_run(&n, in, sizeof in, out, sizeof out);
    assert_memory_equal(out, expected, sizeof out);
}

static void test_fully_connected(void **state) {
    (void)state;
    struct net n = {0};
    float weights[3 * 4], bias[] = {1, 2, 3};
    for (int i = 0; i < 12; i++) weights[i] = (float)(i - 5);
    const uint32_t x = input(&n, F32, DIMS(2, 1, 4)), w = constant(&n, F32, weights, sizeof weights, DIMS(3, 4)),
                   b = constant(&n, F32, bias, sizeof bias, DIMS(3)), y = output(&n, F32, DIMS(2, 3));
    operation(&n, ANEURALNETWORKS_FULLY_CONNECTED, LIST(x, w, b, integer(&n, ANEURALNETWORKS_FUSED_RELU)), LIST(y));
    const float in[] = {1, 0, 0, 0, 1, 2, 3, 4}, expected[] = {0, 1, 6, 0, 12, 53};
    float out[6];
    check_run(&n, in, sizeof in, out, sizeof out);
    assert_floats(out, expected, 6, 0);
}

static void test_softmax_and_functions(void **state) {
    (void)state;
    float in[19], out[19], expected[19];
    double sum = 0;
    for (int i = 0; i < 19; i++) in[i] = (float)(i * 1.7 - 16);
    for (int i = 0; i < 19; i++) sum += exp(0.75 * ((double)in[i] - (double)in[18]));
    for (int i = 0; i < 19; i++) expected[i] = (float)(exp(0.75 * ((double)in[i] - (double)in[18])) / sum);
    struct net n = {0};
    uint32_t x = input(&n, F32, DIMS(1, 19)), y = output(&n, F32, DIMS(1, 19));
    operation(&n, ANEURALNETWORKS_SOFTMAX, LIST(x, real(&n, 0.75f)), LIST(y));
    check_run(&n, in, sizeof in, out, sizeof out);
    assert_floats(out, expected, 19, ULPS(16));
    for (int i = 0; i < 19; i++) expected[i] = (float)(1 / (1 + exp(-(double)in[i])));
    n = (struct net){0};
    x = input(&n, F32, DIMS(19)), y = output(&n, F32, DIMS(19));
    operation(&n, ANEURALNETWORKS_LOGISTIC, LIST(x), LIST(y));
    check_run(&n, in, sizeof in, out, sizeof out);
    assert_floats(out, expected, 19, ULPS(4));
    for (int i = 0; i < 19; i++)
        in[i] = (float)ldexp(i % 2 ? -1.3 : 1.1, i - 14), expected[i] = (float)tanh((double)in[i]);
    n = (struct net){0};
    x = input(&n, F32, DIMS(19)), y = output(&n, F32, DIMS(19));
    operation(&n, ANEURALNETWORKS_TANH, LIST(x), LIST(y));
    check_run(&n, in, sizeof in, out, sizeof out);
    assert_floats(out, expected, 19, ULPS(4));
}

static void test_concatenation_rescales(void **state) {
    (void)state;
    struct net n = {0};
    const uint8_t b[] = {3, 4};
    const uint32_t x = input(&n, U8(1, 0), DIMS(2, 1)), c = constant(&n, U8(0.5f, 2), b, 2, DIMS(2, 1)),
                   y = output(&n, U8(1, 0), DIMS(2, 2));
    operation(&n, ANEURALNETWORKS_CONCATENATION, LIST(x, c, integer(&n, 1)), LIST(y));
    const uint8_t in[] = {7, 9}, expected[] = {7, 1, 9, 1}; /* 0.5 and 1 */
    uint8_t out[4];
    check_run(&n, in, sizeof in, out, sizeof out);
    assert_memory_equal(out, expected, sizeof out);
}

/** 1x2 to 1x4, half pixel centres: positions -0.25, 0.25, 0.75, 1.25. */
static void test_resize(void **state) {
    (void)state;
    struct net n = {0};
    const uint32_t x = input(&n, F32, DIMS(1, 1, 2, 1)), y = output(&n, F32, DIMS(1, 1, 4, 1));
    operation(&n, ANEURALNETWORKS_RESIZE_BILINEAR,
              LIST(x, integer(&n, 4), integer(&n, 1), boolean(&n, 0), boolean(&n, 0), boolean(&n, 1)), LIST(y));
    const float in[] = {4, 8}, expected[] = {4, 5, 7, 8};
    float out[4];
    check_run(&n, in, sizeof in, out, sizeof out);
    assert_floats(out, expected, 4, 0);
}

static void test_depth_to_space(void **state) {
    (void)state;
    struct net n = {0};
    const uint32_t x = input(&n, U8(1, 0), DIMS(1, 1, 2, 4)), y = output(&n, U8(1, 0), DIMS(1, 2, 4, 1));
    operation(&n, ANEURALNETWORKS_DEPTH_TO_SPACE, LIST(x, integer(&n, 2)), LIST(y));
    const uint8_t in[] = {1, 2, 3, 4, 5, 6, 7, 8}, expected[] = {1, 2, 5, 6, 3, 4, 7, 8};
    uint8_t out[8];
    check_run(&n, in, sizeof in, out, sizeof out);
    assert_memory_equal(out, expected, sizeof out);
}

static void test_embedding_range(void **state) {
    (void)state;
    struct net n = {0};
    const int32_t table[] = {1, 2, 3, 4};
    const uint32_t x = input(&n, I32, DIMS(2)), t = constant(&n, I32, table, sizeof table, DIMS(2, 2)),
                   y = output(&n, I32, DIMS(2, 2));
    operation(&n, ANEURALNETWORKS_EMBEDDING_LOOKUP, LIST(x, t), LIST(y));
    struct nnvts_prepared_model *p = prepare(cpu, &n);
    const int32_t good[] = {1, 0}, bad[] = {1, 2}, expected[] = {3, 4, 1, 2};
    int32_t out[4];
    struct call c = {0}, d = {0};
    give(&c, good, sizeof good);
    take(&c, out, sizeof out);
    assert_int_equal(execute(p, &c), NNVTS_STATUS_NONE);
    assert_memory_equal(out, expected, sizeof out);
    give(&d, bad, sizeof bad);
    take(&d, out, sizeof out);
    assert_int_equal(execute(p, &d), NNVTS_STATUS_GENERAL_FAILURE);
    assert_int_equal(d.result.shape_count, 0);
    p->release(p);
}

static void test_dequantize_per_channel(void **state) {
    (void)state;
    struct net n = {0};
    const int8_t q[] = {1, 2, -3, 4};
    const float scales[] = {0.5f, 2};
    const uint32_t x = constant(&n, (struct kind){ANEURALNETWORKS_TENSOR_QUANT8_SYMM_PER_CHANNEL, 0, 0}, q, 4,
                                DIMS(2, 2)),
                   y = output(&n, F32, DIMS(2, 2));
    n.operands[x].channel_quant = (struct nnvts_channel_quant){1, 2, scales};
    operation(&n, ANEURALNETWORKS_DEQUANTIZE, LIST(x), LIST(y));
    const float expected[] = {0.5f, 4, -1.5f, 8};
    float out[4];
    check_run(&n, NULL, 0, out, sizeof out);
    assert_floats(out, expected, 4, 0);
}

/* ------------------------------------------------------------------- refusals */

/** conv(x[1,4,4,2], filter[3,2,2,2], bias[3]) then ADD of a constant: most rules can be broken here. */
enum { OP_X, OP_FILTER, OP_BIAS, OP_SCHEME, OP_STRIDE_W, OP_STRIDE_H, OP_ACT, OP_MIDDLE, OP_ADDEND, OP_ADD_ACT, OP_Y };

static void victim(struct net *n) {
    const uint8_t filter[24] = {0}, addend[] = {1};
    const int32_t bias[3] = {0};
    input(n, U8(0.5f, 128), DIMS(1, 4, 4, 2));
    constant(n, U8(0.25f, 3), filter, sizeof filter, DIMS(3, 2, 2, 2));
    constant(n, (struct kind){ANEURALNETWORKS_TENSOR_INT32, 0.125f, 0}, bias, sizeof bias, DIMS(3));
    integer(n, ANEURALNETWORKS_PADDING_VALID);
    integer(n, 2);
    integer(n, 1);
    integer(n, ANEURALNETWORKS_FUSED_NONE);
    tensor(n, NNVTS_TEMPORARY_VARIABLE, U8(1, 0), DIMS(1, 3, 2, 3));
    constant(n, U8(1, 0), addend, 1, DIMS(1));
    integer(n, ANEURALNETWORKS_FUSED_NONE);
    output(n, U8(1, 0), DIMS(1, 3, 2, 3));
    operation(n, ANEURALNETWORKS_CONV_2D, LIST(OP_X, OP_FILTER, OP_BIAS, OP_SCHEME, OP_STRIDE_W, OP_STRIDE_H, OP_ACT),
              LIST(OP_MIDDLE));
    operation(n, ANEURALNETWORKS_ADD, LIST(OP_MIDDLE, OP_ADDEND, OP_ADD_ACT), LIST(OP_Y));
    finish(n);
}

static void set_value(struct net *n, uint32_t operand, int32_t value) {
    memcpy(n->values + n->operands[operand].location.offset, &value, sizeof value);
}

/** Breaks the victim in one way; returns what was broken, NULL behind the last way. */
static const char *break_rule(struct net *n, int which) {
    static const float scales[] = {1, 1, 1};
    const struct nnvts_location nowhere = {0};
    struct nnvts_operand *o = n->operands;
#define WAY(NAME, ...)                                                                                                 \
    if (which-- == 0) {                                                                                                \
        __VA_ARGS__;                                                                                                   \
        return NAME;                                                                                                   \
    }
    WAY("type", o[OP_X].type = 16)
    WAY("extension type", o[OP_X].type = 5 << 16)
    WAY("scalar with extents", o[OP_ACT].dimension_count = 1)
    WAY("null dimensions", o[OP_X].dimensions = NULL)
    WAY("huge extents", n->dims[OP_X][1] = n->dims[OP_X][2] = 1u << 20)
    WAY("scale zero", o[OP_X].scale = 0)
    WAY("scale nan", o[OP_X].scale = NAN)
    WAY("scale of scalar", o[OP_ACT].scale = 1)
    WAY("zero point", o[OP_X].zero_point = 256)
    WAY("zero point of bias", o[OP_BIAS].zero_point = 1)
    WAY("bias scale", o[OP_BIAS].scale = 0.1f)
    WAY("bias type", o[OP_BIAS].type = ANEURALNETWORKS_TENSOR_FLOAT32, o[OP_BIAS].scale = 0)
    WAY("scales of asymmetric", o[OP_FILTER].channel_quant = ((struct nnvts_channel_quant){0, 3, scales}))
    WAY("per channel without scales", o[OP_FILTER].type = ANEURALNETWORKS_TENSOR_QUANT8_SYMM_PER_CHANNEL,
        o[OP_FILTER].scale = 0, o[OP_FILTER].zero_point = 0)
    WAY("lifetime", o[OP_X].lifetime = 7)
    WAY("lifetime not listed", o[OP_ADDEND].lifetime = NNVTS_SUBGRAPH_INPUT, o[OP_ADDEND].location = nowhere)
    WAY("never written", o[OP_ADDEND].lifetime = NNVTS_TEMPORARY_VARIABLE, o[OP_ADDEND].location = nowhere)
    WAY("no value required", o[OP_BIAS].lifetime = NNVTS_NO_VALUE, o[OP_BIAS].location = nowhere)
    WAY("location of temporary", o[OP_MIDDLE].location.length = 4)
    WAY("constant offset", o[OP_FILTER].location.offset = UINT32_MAX)
    WAY("constant length", o[OP_FILTER].location.length--)
    WAY("constant pool", o[OP_FILTER].lifetime = NNVTS_CONSTANT_REFERENCE)
    WAY("constant unknown extent", n->dims[OP_FILTER][0] = 0)
    WAY("constant without values", n->model.operand_values = NULL)
    WAY("input index", n->ends_in[0] = 99)
    WAY("input is no input", n->ends_in[0] = OP_Y)
    WAY("output twice", n->ends_out[1] = OP_Y, n->model.main.output_count = 2)
    WAY("output missing", n->model.main.output_count = 0)
    WAY("operand index", n->inputs[0][1] = 99)
    WAY("operand index of output", n->outputs[1][0] = 99)
    WAY("written twice", n->outputs[0][0] = OP_Y)
    WAY("writes input", n->outputs[0][0] = OP_X)
    WAY("writes constant", n->outputs[0][0] = OP_FILTER)
    WAY("reads itself", n->inputs[0][0] = OP_MIDDLE)
    WAY("order", n->operations[3] = n->operations[0], n->operations[0] = n->operations[1],
        n->operations[1] = n->operations[3])
    WAY("operation code", n->operations[0].type = 106)
    WAY("operation extension", n->operations[0].type = 7 << 16)
    WAY("no operations", n->model.main.operation_count = 0)
    WAY("too few inputs", n->operations[0].input_count = 6)
    WAY("too few outputs", n->operations[0].output_count = 0)
    WAY("null inputs", n->operations[0].inputs = NULL)
    WAY("null operations", n->model.main.operations = NULL)
    WAY("null pools", n->model.pool_count = 1)
    WAY("null referenced", n->model.referenced_count = 1)
    WAY("scheme", set_value(n, OP_SCHEME, 3))
    WAY("stride", set_value(n, OP_STRIDE_W, 0))
    WAY("activation", set_value(n, OP_ADD_ACT, 4))
    WAY("rank", o[OP_X].dimension_count = 3)
    WAY("channels", n->dims[OP_X][3] = 3)
    WAY("filter outgrows image", n->dims[OP_X][1] = 1)
    WAY("output shape", n->dims[OP_MIDDLE][2] = 3)
    WAY("output type", o[OP_Y].type = ANEURALNETWORKS_TENSOR_FLOAT32, o[OP_Y].scale = 0)
    WAY("not broadcast", n->dims[OP_ADDEND][0] = 2, o[OP_ADDEND].location.length = 2)
#undef WAY
    return NULL;
}

static void test_model_refusals(void **state) {
    (void)state;
    int ways = 0;
    for (;; ways++) {
        struct net broken = {0};
        struct nnvts_prepared_model *none = NULL;
        bool supported[4];
        victim(&broken);
        const char *what = break_rule(&broken, ways);
        if (!what) break;
        if (cpu->get_supported_operations(cpu, &broken.model, supported) != NNVTS_STATUS_INVALID_ARGUMENT)
            fail_msg("get_supported_operations accepts: %s", what);
        if (cpu->prepare_model(cpu, &broken.model, &prepare_config, &none) != NNVTS_STATUS_INVALID_ARGUMENT || none)
            fail_msg("prepare_model accepts: %s", what);
    }
    assert_true(ways > 50);
    struct net n = {0};
    victim(&n);
    struct nnvts_prepared_model *p = prepare(cpu, &n); /* unbroken, it is taken */
    p->release(p);
}

static void test_prepare_config(void **state) {
    (void)state;
    struct net n = {0};
    struct nnvts_prepared_model *p = NULL;
    struct nnvts_prepare_config config = prepare_config;
    victim(&n);
    config.preference = 3;
    assert_int_equal(cpu->prepare_model(cpu, &n.model, &config, &p), NNVTS_STATUS_INVALID_ARGUMENT);
    config = prepare_config;
    config.priority = 3;
    assert_int_equal(cpu->prepare_model(cpu, &n.model, &config, &p), NNVTS_STATUS_INVALID_ARGUMENT);
    config = prepare_config;
    config.deadline_ns = now_ns();
    assert_int_equal(cpu->prepare_model(cpu, &n.model, &config, &p), NNVTS_STATUS_MISSED_DEADLINE_PERSISTENT);
    assert_null(p);
}

/** Legal, but without a kernel: the operation, and models with extensions. */
static void test_unsupported(void **state) {
    (void)state;
    const struct nnvts_extension_prefix prefix = {"com.example.test", 7};
    for (int extension = 0; extension < 2; extension++) {
        struct net n = {0};
        struct nnvts_prepared_model *p = NULL;
        bool supported[4] = {true, false};
        const uint32_t x = input(&n, F32, DIMS(2)), m = tensor(&n, NNVTS_TEMPORARY_VARIABLE, F32, DIMS(2)),
                       y = output(&n, F32, DIMS(2));
        operation(&n, extension ? 7 << 16 | 3 : ANEURALNETWORKS_QUANTIZED_LSTM, LIST(x), LIST(m));
        operation(&n, ANEURALNETWORKS_RELU, LIST(m), LIST(y));
        n.model.extensions = &prefix;
        n.model.extension_count = 1;
        assert_int_equal(cpu->get_supported_operations(cpu, finish(&n), supported), NNVTS_STATUS_NONE);
        assert_false(supported[0]);
        assert_true(supported[1]);
        assert_int_equal(cpu->prepare_model(cpu, &n.model, &prepare_config, &p), NNVTS_STATUS_GENERAL_FAILURE);
        assert_null(p);
    }
}

/* ------------------------------------------------------------------- requests */

static void test_request_refusals(void **state) {
    (void)state;
    struct nnvts_prepared_model *p = prepare_relu(F32, DIMS(1, 3));
    const float in[4] = {0};
    float out[4];
    const uint32_t wrong_dims[] = {3, 1}, wrong_rank[] = {3};
    enum { CASES = 14 };
    for (int i = 0; i <= CASES; i++) {
        struct call c = {0};
        give(&c, in, 12);
        take(&c, out, 12);
        ready(&c);
        switch (i) {
        case 0:
            c.request.input_count = 0;
            break;
        case 1:
            c.request.output_count = 2;
            break;
        case 2:
            c.request.inputs = NULL;
            break;
        case 3:
            c.request.pools = NULL;
            break;
        case 4:
            c.in[0].location.pool = 2;
            break;
        case 5:
            c.in[0].location.offset = UINT32_MAX - 4;
            break;
        case 6:
            c.in[0].location.length = 8;
            break;
        case 7:
            c.out[0].location.length = UINT32_MAX;
            break;
        case 8:
            c.in[0].dimension_count = 2, c.in[0].dimensions = wrong_dims;
            break;
        case 9:
            c.in[0].dimension_count = 1, c.in[0].dimensions = wrong_rank;
            break;
        case 10:
            c.in[0] = (struct nnvts_argument){.has_no_value = true};
            break;
        case 11:
            c.pools[1].prot = NNVTS_PROT_READ;
            break;
        case 12:
            c.pools[0].kind = NNVTS_MEMORY_DEVICE;
            break;
        case 13:
            c.in[0].dimension_count = 2;
            break;
        default:
            break; /* unbroken */
        }
        const enum nnvts_status st = p->execute(p, &c.request, &plain, &c.result);
        if (st != (i == CASES ? NNVTS_STATUS_NONE : NNVTS_STATUS_INVALID_ARGUMENT))
            fail_msg("case %d: status %d", i, st);
        assert_int_equal(c.result.shape_count, i == CASES);
    }
    assert_int_equal(p->execute(p, NULL, &plain, &(struct nnvts_execution_result){0}), NNVTS_STATUS_INVALID_ARGUMENT);
    p->release(p);
}

/** A pool that is larger than 32-bit machines can address is refused there, not taken for its size's low half. */
static void test_large_pool(void **state) {
    (void)state;
    struct nnvts_prepared_model *p = prepare_relu(F32, DIMS(1, 3));
    const float in[3] = {0};
    float out[3] = {9, 9, 9};
    struct call c = {0};
    give(&c, in, sizeof in);
    take(&c, out, sizeof out);
    ready(&c);
    c.pools[0] = shared(NULL, (UINT64_C(1) << 32) + 64, 0, NNVTS_PROT_READ);
    c.in[0].location.offset = UINT32_MAX - 63;
    const enum nnvts_status st = p->execute(p, &c.request, &plain, &c.result);
    assert_int_equal(st, sizeof(size_t) > 4 ? NNVTS_STATUS_NONE : NNVTS_STATUS_INVALID_ARGUMENT);
    assert_true(out[0] == (st == NNVTS_STATUS_NONE ? 0 : 9));
    close(c.pools[0].fd);
    p->release(p);
}

static void test_output_too_small(void **state) {
    (void)state;
    struct nnvts_prepared_model *p = prepare_relu(S8(1, 0), DIMS(2, 3));
    const int8_t in[6] = {-1, 2, -3, 4, -5, 6};
    int8_t out[6] = {9, 9, 9, 9, 9, 9};
    struct call c = {0};
    give(&c, in, 6);
    take(&c, out, 5);
    assert_int_equal(execute(p, &c), NNVTS_STATUS_OUTPUT_INSUFFICIENT_SIZE);
    assert_int_equal(c.result.shape_count, 1);
    assert_false(c.shapes[0].is_sufficient);
    assert_int_equal(c.shapes[0].dimension_count, 2);
    assert_int_equal(c.dims[0][1], 3);
    for (int i = 0; i < 6; i++) assert_int_equal(out[i], 9);
    p->release(p);
}

/** Extents that only the request knows: different ones in turn, zero too, then none. */
static void test_unknown_extents(void **state) {
    (void)state;
    struct nnvts_prepared_model *p = prepare_relu(U8(1, 2), DIMS(0, 2));
    const uint8_t in[6] = {0, 1, 2, 3, 4, 5}, expected[6] = {2, 2, 2, 3, 4, 5};
    for (uint32_t batch = 0; batch <= 3; batch++) {
        const uint32_t dims[] = {batch, 2};
        uint8_t out[6] = {0};
        struct call c = {0};
        give(&c, in, batch * 2);
        c.in[0].dimension_count = 2;
        c.in[0].dimensions = dims;
        take(&c, out, sizeof out);
        assert_int_equal(execute(p, &c), NNVTS_STATUS_NONE);
        assert_int_equal(c.dims[0][0], batch);
        assert_memory_equal(out, expected, batch * 2);
    }
    uint8_t out[6];
    struct call c = {0};
    give(&c, in, 4);
    take(&c, out, sizeof out);
    assert_int_equal(execute(p, &c), NNVTS_STATUS_INVALID_ARGUMENT);
    p->release(p);
}

/** Unknown rank, a shape that comes with the request, and an operand between that declares nothing. */
static void test_unknown_rank(void **state) {
    (void)state;
    struct net n = {0};
    const uint32_t x = input(&n, F32, 0, NULL), shape = input(&n, I32, DIMS(2)),
                   m = tensor(&n, NNVTS_TEMPORARY_VARIABLE, F32, 0, NULL), y = output(&n, F32, 0, NULL);
    operation(&n, ANEURALNETWORKS_RESHAPE, LIST(x, shape), LIST(m));
    operation(&n, ANEURALNETWORKS_RELU6, LIST(m), LIST(y));
    struct nnvts_prepared_model *p = prepare(cpu, &n);
    const float in[] = {-1, 2, 3, 40, 5, 6}, expected[] = {0, 2, 3, 6, 5, 6};
    const int32_t wanted[] = {3, -1};
    const uint32_t dims[] = {6};
    float out[6];
    struct call c = {0};
    give(&c, in, sizeof in);
    c.in[0].dimension_count = 1;
    c.in[0].dimensions = dims;
    give(&c, wanted, sizeof wanted);
    take(&c, out, sizeof out);
    assert_int_equal(execute(p, &c), NNVTS_STATUS_NONE);
    assert_int_equal(c.shapes[0].dimension_count, 2);
    assert_int_equal(c.dims[0][1], 2);
    assert_floats(out, expected, 6, 0);
    p->release(p);
}

/** SVDF's bias may be omitted, its weights may not. */
static void test_omitted(void **state) {
    (void)state;
    struct net n = {0};
    const uint32_t x = input(&n, F32, DIMS(1, 2)), f = input(&n, F32, DIMS(1, 2)), t = input(&n, F32, DIMS(1, 2)),
                   b = input(&n, F32, DIMS(1)), s = input(&n, F32, DIMS(1, 2)), so = output(&n, F32, DIMS(1, 2)),
                   y = output(&n, F32, DIMS(1, 1));
    operation(&n, ANEURALNETWORKS_SVDF, LIST(x, f, t, b, s, integer(&n, 1), integer(&n, ANEURALNETWORKS_FUSED_NONE)),
              LIST(so, y));
    struct nnvts_prepared_model *p = prepare(cpu, &n);
    const float vx[] = {1, 2}, vf[] = {3, 4}, vt[] = {10, 100}, vs[] = {5, 7};
    float state_out[2], out[1];
    for (int which = 1; which >= 0; which--) {
        struct call c = {0};
        give(&c, vx, sizeof vx);
        give(&c, vf, sizeof vf);
        give(&c, vt, sizeof vt);
        give(&c, NULL, 0);
        give(&c, vs, sizeof vs);
        take(&c, state_out, sizeof state_out);
        take(&c, out, sizeof out);
        c.in[3] = (struct nnvts_argument){.has_no_value = true};
        if (which == 0) c.in[1] = (struct nnvts_argument){.has_no_value = true};
        assert_int_equal(execute(p, &c), which ? NNVTS_STATUS_NONE : NNVTS_STATUS_INVALID_ARGUMENT);
    }
    const float expected_state[] = {11, 0}, expected[] = {5 * 10 + 11 * 100};
    assert_floats(state_out, expected_state, 2, 0);
    assert_floats(out, expected, 1, 0);
    p->release(p);
}

/* ------------------------------------------------------------------- template */

static void test_template(void **state) {
    (void)state;
    struct nnvts_device *device = open_driver("template", NULL);
    struct net n = {0};
    const uint32_t a = input(&n, F32, DIMS(2, 2)), b = input(&n, F32, DIMS(2, 2)), y = output(&n, F32, DIMS(2, 2));
    operation(&n, ANEURALNETWORKS_ADD, LIST(a, b, integer(&n, ANEURALNETWORKS_FUSED_RELU1)), LIST(y));
    struct nnvts_prepared_model *p = prepare(device, &n);
    const float va[] = {1, 0.25f, -4, 0}, vb[] = {3, 0.5f, 1, 0}, expected[] = {1, 0.75f, -1, 0};
    float out[4];
    struct call c = {0};
    give(&c, va, sizeof va);
    give(&c, NULL, sizeof vb);
    c.pools[1] = shared(vb, sizeof vb, 0, NNVTS_PROT_READ);
    take(&c, out, sizeof out);
    assert_int_equal(execute(p, &c), NNVTS_STATUS_NONE);
    assert_floats(out, expected, 4, 0);
    c.out[0].location.length = 12;
    assert_int_equal(execute(p, &c), NNVTS_STATUS_OUTPUT_INSUFFICIENT_SIZE);
    c.out[0].location.length = 20;
    assert_int_equal(execute(p, &c), NNVTS_STATUS_INVALID_ARGUMENT);
    close(c.pools[1].fd);
    p->release(p);

    bool supported[4] = {true, true};
    n = (struct net){0};
    victim(&n);
    p = NULL;
    assert_int_equal(device->get_supported_operations(device, &n.model, supported), NNVTS_STATUS_NONE);
    assert_true(!supported[0] && !supported[1]);
    assert_int_equal(device->prepare_model(device, &n.model, &prepare_config, &p), NNVTS_STATUS_GENERAL_FAILURE);
    n.inputs[1][0] = OP_Y; /* reads what it writes */
    assert_int_equal(device->get_supported_operations(device, &n.model, supported), NNVTS_STATUS_INVALID_ARGUMENT);
    assert_int_equal(device->prepare_model(device, &n.model, &prepare_config, &p), NNVTS_STATUS_INVALID_ARGUMENT);
    assert_null(p);
    device->release(device);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_device),
        cmocka_unit_test(test_options),
        cmocka_unit_test(test_isa_of_the_environment),
        cmocka_unit_test(test_add_broadcast),
        cmocka_unit_test(test_add_quant),
        cmocka_unit_test(test_mul_quant_signed),
        cmocka_unit_test(test_conv),
        cmocka_unit_test(test_conv_per_channel),
        cmocka_unit_test(test_depthwise_half),
        cmocka_unit_test(test_average_pool),
        cmocka_unit_test(test_fully_connected),
        cmocka_unit_test(test_softmax_and_functions),
        cmocka_unit_test(test_concatenation_rescales),
        cmocka_unit_test(test_resize),
        cmocka_unit_test(test_depth_to_space),
        cmocka_unit_test(test_embedding_range),
        cmocka_unit_test(test_dequantize_per_channel),
        cmocka_unit_test(test_model_refusals),
        cmocka_unit_test(test_prepare_config),
        cmocka_unit_test(test_unsupported),
        cmocka_unit_test(test_request_refusals),
        cmocka_unit_test(test_large_pool),
        cmocka_unit_test(test_output_too_small),
        cmocka_unit_test(test_unknown_extents),
        cmocka_unit_test(test_unknown_rank),
        cmocka_unit_test(test_omitted),
        cmocka_unit_test(test_template),
    };
    return cmocka_run_group_tests(tests, open_cpu, close_cpu);
}
