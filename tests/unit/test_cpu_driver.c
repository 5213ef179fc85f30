/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file test_cpu_driver.c The drivers "cpu" and "template" as plug-ins: what they refuse, what they compute, and how
 * they execute. They are loaded from the folder NNVTS_TEST_DRIVERS (build/drivers); nothing else is linked.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <dlfcn.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <poll.h>
#include <time.h>
#include <unistd.h>

#include "nnvts/driver.h"

/* -------------------------------------------------------------------- drivers */

static const struct nnvts_driver *load(const char *name) {
    char path[4096];
    const char *folder = getenv("NNVTS_TEST_DRIVERS");
    snprintf(path, sizeof path, "%s/%s.so", folder ? folder : "build/drivers", name);
    void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!handle) fail_msg("%s", dlerror());
    nnvts_driver_get_fn get;
    void *symbol = dlsym(handle, NNVTS_DRIVER_SYMBOL);
    assert_non_null(symbol);
    memcpy(&get, &symbol, sizeof get);
    return get();
}

static struct nnvts_device *open_driver(const char *name, const char *options) {
    struct nnvts_device *device = NULL;
    const char *error = NULL;
    assert_int_equal(load(name)->open(options, &device, &error), NNVTS_STATUS_NONE);
    assert_non_null(device);
    return device;
}

static struct nnvts_device *cpu; /* set up once for all tests */

static int open_cpu(void **state) {
    (void)state;
    cpu = open_driver("cpu", "threads=2");
    return 0;
}

static int close_cpu(void **state) {
    (void)state;
    cpu->release(cpu);
    return 0;
}

static uint64_t now_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* --------------------------------------------------------------------- models */

enum { MOST = 40, ROOM = 8192 };

/** A model in the making. */
struct net {
    struct nnvts_operand operands[MOST];
    uint32_t dims[MOST][8];
    struct nnvts_operation operations[4];
    uint32_t inputs[4][32], outputs[4][4];
    uint32_t ends_in[MOST], ends_out[MOST];
    uint8_t values[ROOM];
    struct nnvts_model model;
};

/** The types that tests use, with their quantisation. */
struct kind {
    int32_t type;
    float scale;
    int32_t zero_point;
};
#define F32 ((struct kind){ANEURALNETWORKS_TENSOR_FLOAT32, 0, 0})
#define F16 ((struct kind){ANEURALNETWORKS_TENSOR_FLOAT16, 0, 0})
#define I32 ((struct kind){ANEURALNETWORKS_TENSOR_INT32, 0, 0})
#define U8(SCALE, ZERO) ((struct kind){ANEURALNETWORKS_TENSOR_QUANT8_ASYMM, SCALE, ZERO})
#define S8(SCALE, ZERO) ((struct kind){ANEURALNETWORKS_TENSOR_QUANT8_ASYMM_SIGNED, SCALE, ZERO})
#define INT ((struct kind){ANEURALNETWORKS_INT32, 0, 0})
#define DIMS(...) (uint32_t)(sizeof((uint32_t[]){__VA_ARGS__}) / sizeof(uint32_t)), (const uint32_t[]){__VA_ARGS__}

static uint32_t tensor(struct net *n, uint32_t lifetime, struct kind k, uint32_t rank, const uint32_t *dims) {
    const uint32_t i = n->model.main.operand_count++;
    for (uint32_t d = 0; d < rank; d++) n->dims[i][d] = dims[d];
    n->operands[i] = (struct nnvts_operand){.type = k.type,
                                            .dimension_count = rank,
                                            .dimensions = n->dims[i],
                                            .scale = k.scale,
                                            .zero_point = k.zero_point,
                                            .lifetime = lifetime};
    return i;
}

static uint32_t input(struct net *n, struct kind k, uint32_t rank, const uint32_t *dims) {
    const uint32_t i = tensor(n, NNVTS_SUBGRAPH_INPUT, k, rank, dims);
    n->ends_in[n->model.main.input_count++] = i;
    return i;
}

static uint32_t output(struct net *n, struct kind k, uint32_t rank, const uint32_t *dims) {
    const uint32_t i = tensor(n, NNVTS_SUBGRAPH_OUTPUT, k, rank, dims);
    n->ends_out[n->model.main.output_count++] = i;
    return i;
}

static uint32_t constant(struct net *n, struct kind k, const void *data, uint32_t bytes, uint32_t rank,
                         const uint32_t *dims) {
    const uint32_t i = tensor(n, NNVTS_CONSTANT_COPY, k, rank, dims), at = n->model.operand_values_bytes;
    assert_true(at + bytes + 4 <= ROOM);
    memcpy(n->values + at, data, bytes);
    n->operands[i].location = (struct nnvts_location){.offset = at, .length = bytes};
    n->model.operand_values_bytes += (bytes + 3) / 4 * 4;
    return i;
}

static uint32_t integer(struct net *n, int32_t value) { return constant(n, INT, &value, sizeof value, 0, NULL); }

static uint32_t real(struct net *n, float value) {
    return constant(n, (struct kind){ANEURALNETWORKS_FLOAT32, 0, 0}, &value, sizeof value, 0, NULL);
}

static uint32_t boolean(struct net *n, uint8_t value) {
    return constant(n, (struct kind){ANEURALNETWORKS_BOOL, 0, 0}, &value, 1, 0, NULL);
}

/** inputs: ends with UINT32_MAX; outputs likewise. */
static void operation(struct net *n, int32_t code, const uint32_t *inputs, const uint32_t *outputs) {
    const uint32_t i = n->model.main.operation_count++;
    struct nnvts_operation *op = &n->operations[i];
    *op = (struct nnvts_operation){.type = code, .inputs = n->inputs[i], .outputs = n->outputs[i]};
    while (inputs[op->input_count] != UINT32_MAX) n->inputs[i][op->input_count] = inputs[op->input_count], op->input_count++;
    while (outputs[op->output_count] != UINT32_MAX)
        n->outputs[i][op->output_count] = outputs[op->output_count], op->output_count++;
}
#define LIST(...) ((const uint32_t[]){__VA_ARGS__, UINT32_MAX})

static const struct nnvts_model *finish(struct net *n) {
    n->model.main.operands = n->operands;
    n->model.main.operations = n->operations;
    n->model.main.inputs = n->ends_in;
    n->model.main.outputs = n->ends_out;
    n->model.operand_values = n->values;
    return &n->model;
}

static const struct nnvts_prepare_config prepare_config = {
    .preference = ANEURALNETWORKS_PREFER_FAST_SINGLE_ANSWER, .priority = NNVTS_PRIORITY_MEDIUM, .deadline_ns = NNVTS_NO_TIME};
static const struct nnvts_execution_config plain = {NNVTS_NO_TIME, NNVTS_NO_TIME, false};

static struct nnvts_prepared_model *prepare(struct nnvts_device *device, struct net *n) {
    struct nnvts_prepared_model *prepared = NULL;
    bool supported[4] = {false};
    assert_int_equal(device->get_supported_operations(device, finish(n), supported), NNVTS_STATUS_NONE);
    for (uint32_t i = 0; i < n->model.main.operation_count; i++) assert_true(supported[i]);
    assert_int_equal(device->prepare_model(device, &n->model, &prepare_config, &prepared), NNVTS_STATUS_NONE);
    memset(n->values, 0xee, sizeof n->values); /* the driver has copied what it needs */
    return prepared;
}

/* ------------------------------------------------------------------- requests */

/** Each argument has a pool of its own. */
struct call {
    struct nnvts_argument in[8], out[4];
    struct nnvts_memory pools[12];
    struct nnvts_request request;
    uint32_t dims[4][8];
    struct nnvts_output_shape shapes[4];
    struct nnvts_execution_result result;
};

static uint32_t pool(struct call *c, void *data, uint64_t size, uint32_t prot) {
    c->pools[c->request.pool_count] = (struct nnvts_memory){.prot = prot, .fd = -1, .size = size, .data = data};
    return c->request.pool_count++;
}

static void give(struct call *c, const void *data, uint32_t bytes) {
    struct nnvts_argument *a = &c->in[c->request.input_count++];
    *a = (struct nnvts_argument){.location = {.pool = pool(c, (void *)(uintptr_t)data, bytes, NNVTS_PROT_READ), .length = bytes}};
}

static void take(struct call *c, void *data, uint32_t bytes) {
    const uint32_t i = c->request.output_count++;
    c->out[i] = (struct nnvts_argument){
        .location = {.pool = pool(c, data, bytes, NNVTS_PROT_READ | NNVTS_PROT_WRITE), .length = bytes}};
}

static const struct nnvts_request *ready(struct call *c) {
    c->request.inputs = c->in;
    c->request.outputs = c->out;
    c->request.pools = c->pools;
    for (uint32_t i = 0; i < 4; i++) c->shapes[i] = (struct nnvts_output_shape){false, 8, c->dims[i]};
    c->result = (struct nnvts_execution_result){.shapes = c->shapes};
    return &c->request;
}

static enum nnvts_status execute(struct nnvts_prepared_model *p, struct call *c) {
    return p->execute(p, ready(c), &plain, &c->result);
}

/** One model, one input, one output. */
static void check_run(struct net *n, const void *x, uint32_t x_bytes, void *y, uint32_t y_bytes) {
    struct nnvts_prepared_model *p = prepare(cpu, n);
    struct call c = {0};
    if (x) give(&c, x, x_bytes);
    take(&c, y, y_bytes);
    assert_int_equal(execute(p, &c), NNVTS_STATUS_NONE);
    p->release(p);
}

static void assert_floats(const float *actual, const float *expected, size_t n, double relative) {
    for (size_t i = 0; i < n; i++)
        if (!(fabs((double)actual[i] - (double)expected[i]) <= relative * fabs((double)expected[i])))
            fail_msg("value %zu is %.9g, expected %.9g", i, (double)actual[i], (double)expected[i]);
}
#define ULPS(N) ((N)*0x1p-23)

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
    const int8_t in[] = {3, 5, 9, 13};                                 /* centred 2, 4, 8, 12 */
    const int8_t expected[] = {-2, -4, -6, -7, -6, -8, -10, -11};      /* (v + 4) / 2 - 10, (2v - 8) / 4 - 10 */
    int8_t out[8];
    check_run(&n, in, sizeof in, out, sizeof out);
    assert_memory_equal(out, expected, sizeof out);
}

/** Depth multiplier 2: output channel 2c + m uses input channel c. float16: rounded once, at the end. */
static void test_depthwise_half(void **state) {
    (void)state;
    struct net n = {0};
    const uint16_t filter[] = {0x3c00, 0x4000, 0x4200, 0x3800} /* 1, 2, 3, 0.5 */, bias[] = {0, 0, 0, 0x1000} /* 2^-11 */;
    const uint32_t x = input(&n, F16, DIMS(1, 1, 1, 2)), w = constant(&n, F16, filter, sizeof filter, DIMS(1, 1, 1, 4)),
                   b = constant(&n, F16, bias, sizeof bias, DIMS(4)), y = output(&n, F16, DIMS(1, 1, 1, 4));
    operation(&n, ANEURALNETWORKS_DEPTHWISE_CONV_2D,
              LIST(x, w, b, integer(&n, 0), integer(&n, 0), integer(&n, 0), integer(&n, 0), integer(&n, 1), integer(&n, 1),
                   integer(&n, 2), integer(&n, ANEURALNETWORKS_FUSED_NONE)),
              LIST(y));
    const uint16_t in[] = {0x3c00, 0x4000};                               /* 1, 2 */
    const uint16_t expected[] = {0x3c00, 0x4000, 0x4600, 0x3c00};         /* 1, 2, 6, 1 + 2^-11 to even */
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
    for (int i = 0; i < 19; i++) in[i] = (float)ldexp(i % 2 ? -1.3 : 1.1, i - 14), expected[i] = (float)tanh((double)in[i]);
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
    const uint32_t x = constant(&n, (struct kind){ANEURALNETWORKS_TENSOR_QUANT8_SYMM_PER_CHANNEL, 0, 0}, q, 4, DIMS(2, 2)),
                   y = output(&n, F32, DIMS(2, 2));
    n.operands[x].channel_quant = (struct nnvts_channel_quant){1, 2, scales};
    operation(&n, ANEURALNETWORKS_DEQUANTIZE, LIST(x), LIST(y));
    const float expected[] = {0.5f, 4, -1.5f, 8};
    float out[4];
    check_run(&n, NULL, 0, out, sizeof out);
    assert_floats(out, expected, 4, 0);
}
