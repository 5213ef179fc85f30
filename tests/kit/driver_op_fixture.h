/* SPDX-License-Identifier: Apache-2.0 */
/** @file driver_op_fixture.h Models of one operation from lists of operands: what comes out, and what is refused. */
#ifndef NNV_TEST_DRIVER_OP_FIXTURE_H
#define NNV_TEST_DRIVER_OP_FIXTURE_H

#include "tests/kit/driver_fixture.h"

enum { CONSTANT = 0x100, MOST_BYTES = 1 << 20 };

/** An input, or an expected output. */
struct given {
    struct kind kind;
    uint32_t rank; /**< with CONSTANT: the data lie in the model, as those of scalars do */
    const uint32_t *dims;
    const void *data; /**< NULL: all zero */
};

#define BOOL8 ((struct kind){ANEURALNETWORKS_TENSOR_BOOL8, 0, 0})
#define ANY(TYPE) ((struct kind){ANEURALNETWORKS_##TYPE, 0, 0})
#define FLOATS(...) ((const float[]){__VA_ARGS__})
#define HALVES(...) ((const uint16_t[]){__VA_ARGS__})
#define INTS(...) ((const int32_t[]){__VA_ARGS__})
#define BYTES(...) ((const uint8_t[]){__VA_ARGS__})
#define SIGNED(...) ((const int8_t[]){__VA_ARGS__})
#define SCALAR(KIND, DATA)                                                                                             \
    { KIND, CONSTANT, NULL, DATA }
#define INT_SCALAR(VALUE) SCALAR(INT, INTS(VALUE))
#define REAL_SCALAR(VALUE) SCALAR(ANY(FLOAT32), FLOATS(VALUE))
#define BOOL_SCALAR(VALUE) SCALAR(ANY(BOOL), BYTES(VALUE))
#define AXES(...)                                                                                                      \
    { I32, CONSTANT | 1, &(const uint32_t){sizeof INTS(__VA_ARGS__) / sizeof(int32_t)}, INTS(__VA_ARGS__) }
#define INPUTS(...) ((const struct given[]){__VA_ARGS__, {.kind = {-1, 0, 0}}})
#define OUTPUTS INPUTS
#define OUTPUT(...) OUTPUTS({__VA_ARGS__})

TEST_FN uint32_t bytes_of(const struct given *g) {
    uint32_t bytes = 0;
    switch (g->kind.type) {
    case ANEURALNETWORKS_FLOAT32:
    case ANEURALNETWORKS_INT32:
    case ANEURALNETWORKS_TENSOR_FLOAT32:
    case ANEURALNETWORKS_TENSOR_INT32:
        bytes = 4;
        break;
    case ANEURALNETWORKS_FLOAT16:
    case ANEURALNETWORKS_TENSOR_FLOAT16:
    case ANEURALNETWORKS_TENSOR_QUANT16_ASYMM:
    case ANEURALNETWORKS_TENSOR_QUANT16_SYMM:
        bytes = 2;
        break;
    default:
        bytes = 1;
        break;
    }
    for (uint32_t d = 0; d < g->rank % CONSTANT; d++) bytes *= g->dims[d];
    return bytes;
}

TEST_FN void make_op(struct net *n, int32_t code, const struct given *in, const struct given *out) {
    static const uint8_t zeros[ROOM];
    uint32_t inputs[16], outputs[4], i = 0;
    for (; in[i].kind.type >= 0; i++)
        inputs[i] = in[i].rank & CONSTANT ? constant(n, in[i].kind, in[i].data ? in[i].data : zeros, bytes_of(&in[i]),
                                                     in[i].rank % CONSTANT, in[i].dims)
                                          : input(n, in[i].kind, in[i].rank, in[i].dims);
    inputs[i] = UINT32_MAX;
    for (i = 0; out[i].kind.type >= 0; i++) outputs[i] = output(n, out[i].kind, out[i].rank, out[i].dims);
    outputs[i] = UINT32_MAX;
    operation(n, code, inputs, outputs);
}

static uint8_t op_results[2][MOST_BYTES] __attribute__((aligned(64)));

/** Runs the operation; op_results: its outputs. */
TEST_FN enum nnvts_status run_op(int32_t code, const struct given *in, const struct given *out) {
    static const uint8_t zeros[ROOM];
    struct net n = {0};
    struct call c = {0};
    make_op(&n, code, in, out);
    struct nnvts_prepared_model *p = prepare(cpu, &n);
    for (uint32_t i = 0; in[i].kind.type >= 0; i++)
        if (!(in[i].rank & CONSTANT)) give(&c, in[i].data ? in[i].data : zeros, bytes_of(&in[i]));
    memset(op_results, 0xa5, sizeof op_results);
    for (uint32_t i = 0; out[i].kind.type >= 0; i++) {
        assert_true(bytes_of(&out[i]) <= MOST_BYTES);
        take(&c, op_results[i], bytes_of(&out[i]));
    }
    const enum nnvts_status st = execute(p, &c);
    p->release(p);
    return st;
}

/** All outputs are as expected, byte for byte. */
TEST_FN void check_op(int32_t code, const struct given *in, const struct given *out) {
    assert_int_equal(run_op(code, in, out), NNVTS_STATUS_NONE);
    for (uint32_t i = 0; out[i].kind.type >= 0; i++) assert_memory_equal(op_results[i], out[i].data, bytes_of(&out[i]));
}

/** The float32 output is as expected, NaN where NaN is. */
TEST_FN void check_op_near(int32_t code, const struct given *in, const struct given *out, double relative) {
    assert_int_equal(run_op(code, in, out), NNVTS_STATUS_NONE);
    const float *actual = (const float *)(const void *)op_results[0], *expected = out->data;
    for (size_t i = 0; i < bytes_of(out) / sizeof(float); i++) {
        if (isnan(expected[i]) ? isnan(actual[i]) : actual[i] == expected[i]) continue;
        assert_false(isinf(actual[i]) || isinf(expected[i]));
        assert_floats(&actual[i], &expected[i], 1, relative);
    }
}

/** The model is refused as invalid. */
TEST_FN void refuse_op(const char *what, int32_t code, const struct given *in, const struct given *out) {
    struct net n = {0};
    struct nnvts_prepared_model *none = NULL;
    bool supported[4];
    make_op(&n, code, in, out);
    if (cpu->get_supported_operations(cpu, finish(&n), supported) != NNVTS_STATUS_INVALID_ARGUMENT)
        fail_msg("get_supported_operations accepts: %s", what);
    if (cpu->prepare_model(cpu, &n.model, &prepare_config, &none) != NNVTS_STATUS_INVALID_ARGUMENT || none)
        fail_msg("prepare_model accepts: %s", what);
}

#endif
