/* SPDX-License-Identifier: Apache-2.0 */
/** @file op_net.h Models of one operation for the driver "cpu", written as its list of inputs. */
#ifndef NNV_TEST_OP_NET_H
#define NNV_TEST_OP_NET_H

#include "tests/kit/driver_fixture.h"

/** An operand; a tensor's extents, 0 for unknown ones. */
struct arg {
    enum { TENSOR, VALUES, OMITTED } what; /**< model input, constant, no value */
    struct kind kind;
    uint32_t rank, dims[8];
    const void *values;
    uint32_t bytes;
};

/** A model input, or the output. */
#define T(KIND, ...)                                                                                                   \
    ((struct arg){TENSOR, KIND, sizeof((uint32_t[]){__VA_ARGS__}) / sizeof(uint32_t), {__VA_ARGS__}, NULL, 0})
/** One whose rank is not known. */
#define ANY(KIND) ((struct arg){TENSOR, KIND, 0, {0}, NULL, 0})
/** A constant tensor; the array has as many values as the extents say. */
#define C(KIND, VALUES_, ...)                                                                                          \
    ((struct arg){                                                                                                     \
        VALUES, KIND, sizeof((uint32_t[]){__VA_ARGS__}) / sizeof(uint32_t), {__VA_ARGS__}, VALUES_, sizeof(VALUES_)})
/** Scalars. */
#define I(V) ((struct arg){VALUES, INT, 0, {0}, (const int32_t[]){V}, sizeof(int32_t)})
#define B(V) ((struct arg){VALUES, {ANEURALNETWORKS_BOOL, 0, 0}, 0, {0}, (const uint8_t[]){V}, 1})
#define R(V) ((struct arg){VALUES, {ANEURALNETWORKS_FLOAT32, 0, 0}, 0, {0}, (const float[]){V}, sizeof(float)})
#define H(BITS) ((struct arg){VALUES, {ANEURALNETWORKS_FLOAT16, 0, 0}, 0, {0}, (const uint16_t[]){BITS}, 2})
/** Lists of numbers: [n], and [n, 2]. */
#define L(...)                                                                                                         \
    ((struct arg){VALUES,                                                                                              \
                  I32,                                                                                                 \
                  1,                                                                                                   \
                  {sizeof((int32_t[]){__VA_ARGS__}) / sizeof(int32_t)},                                                \
                  (const int32_t[]){__VA_ARGS__},                                                                      \
                  sizeof((int32_t[]){__VA_ARGS__})})
#define P(...)                                                                                                         \
    ((struct arg){VALUES,                                                                                              \
                  I32,                                                                                                 \
                  2,                                                                                                   \
                  {sizeof((int32_t[]){__VA_ARGS__}) / sizeof(int32_t) / 2, 2},                                         \
                  (const int32_t[]){__VA_ARGS__},                                                                      \
                  sizeof((int32_t[]){__VA_ARGS__})})
#define NO_LIST ((struct arg){OMITTED, I32, 0, {0}, NULL, 0})
#define ARGS(...) (const struct arg[]){__VA_ARGS__}, sizeof((struct arg[]){__VA_ARGS__}) / sizeof(struct arg)

TEST_FN uint32_t element_of(int32_t type) {
    switch (type) {
    case ANEURALNETWORKS_TENSOR_QUANT16_ASYMM:
    case ANEURALNETWORKS_FLOAT16:
        return 2;
    case ANEURALNETWORKS_TENSOR_QUANT8_ASYMM:
    case ANEURALNETWORKS_TENSOR_QUANT8_ASYMM_SIGNED:
    case ANEURALNETWORKS_TENSOR_QUANT8_SYMM_PER_CHANNEL:
    case ANEURALNETWORKS_BOOL:
        return 1;
    default:
        return 4;
    }
}

TEST_FN uint32_t values_of(const struct arg *a) {
    uint32_t count = 1;
    for (uint32_t d = 0; d < a->rank; d++) count *= a->dims[d];
    return count;
}

TEST_FN uint32_t operand(struct net *n, const struct arg *a) {
    switch (a->what) {
    case TENSOR:
        return input(n, a->kind, a->rank, a->dims);
    case VALUES:
        assert_int_equal(values_of(a) * element_of(a->kind.type), a->bytes);
        return constant(n, a->kind, a->values, a->bytes, a->rank, a->dims);
    case OMITTED:
        break;
    }
    return tensor(n, NNVTS_NO_VALUE, a->kind, a->rank, a->dims);
}

#define BYTES(...) ((const uint8_t[]){__VA_ARGS__}), sizeof((uint8_t[]){__VA_ARGS__})
#define SIGNED(...) ((const int8_t[]){__VA_ARGS__}), sizeof((int8_t[]){__VA_ARGS__})
#define FLOATS(...) ((const float[]){__VA_ARGS__}), sizeof((float[]){__VA_ARGS__})
#define HALVES(...) ((const uint16_t[]){__VA_ARGS__}), sizeof((uint16_t[]){__VA_ARGS__})
#define WORDS(...) ((const int32_t[]){__VA_ARGS__}), sizeof((int32_t[]){__VA_ARGS__})
#define CHECK(CODE, Y, ...) check_bytes(ANEURALNETWORKS_##CODE, Y, __VA_ARGS__)
#define REFUSED(CODE, Y, ...) check_refused(#CODE " " #__VA_ARGS__, ANEURALNETWORKS_##CODE, Y, __VA_ARGS__)
#define ACCEPTED(CODE, Y, ...) check_accepted(#CODE " " #__VA_ARGS__, ANEURALNETWORKS_##CODE, Y, __VA_ARGS__)
#define FAILS(CODE, Y, ...) check_fails(ANEURALNETWORKS_##CODE, Y, __VA_ARGS__)

/** y = code(args). */
TEST_FN void build(struct net *n, int32_t code, struct arg y, const struct arg *args, size_t count) {
    uint32_t in[32];
    for (size_t i = 0; i < count; i++) in[i] = operand(n, &args[i]);
    in[count] = UINT32_MAX;
    operation(n, code, in, LIST(output(n, y.kind, y.rank, y.dims)));
    finish(n);
}

/** Runs a model whose one input is x, and compares bytes. */
TEST_FN void check_bytes(int32_t code, struct arg y, const struct arg *args, size_t count, const void *x,
                         size_t x_bytes, const void *expected, size_t y_bytes) {
    struct net n = {0};
    uint8_t out[ROOM];
    assert_true(y_bytes <= sizeof out);
    build(&n, code, y, args, count);
    check_run(&n, x, (uint32_t)x_bytes, out, (uint32_t)y_bytes);
    for (size_t i = 0; i < y_bytes; i++)
        if (out[i] != ((const uint8_t *)expected)[i])
            fail_msg("operation %d: byte %zu is %d, expected %d", code, i, out[i], ((const uint8_t *)expected)[i]);
}

/** The model is accepted, but not its values. */
TEST_FN void check_fails(int32_t code, struct arg y, const struct arg *args, size_t count, const void *x,
                         size_t x_bytes) {
    struct net n = {0};
    static uint8_t out[ROOM];
    build(&n, code, y, args, count);
    struct nnvts_prepared_model *p = prepare(cpu, &n);
    struct call c = {0};
    give(&c, x, (uint32_t)x_bytes);
    take(&c, out, sizeof out);
    c.out[0].location.length = ROOM;
    assert_int_equal(execute(p, &c), NNVTS_STATUS_GENERAL_FAILURE);
    p->release(p);
}

TEST_FN void check_refused(const char *what, int32_t code, struct arg y, const struct arg *args, size_t count) {
    struct net n = {0};
    struct nnvts_prepared_model *none = NULL;
    bool supported[4];
    build(&n, code, y, args, count);
    if (cpu->get_supported_operations(cpu, &n.model, supported) != NNVTS_STATUS_INVALID_ARGUMENT)
        fail_msg("get_supported_operations accepts: %s", what);
    if (cpu->prepare_model(cpu, &n.model, &prepare_config, &none) != NNVTS_STATUS_INVALID_ARGUMENT || none)
        fail_msg("prepare_model accepts: %s", what);
}

TEST_FN void check_accepted(const char *what, int32_t code, struct arg y, const struct arg *args, size_t count) {
    struct net n = {0};
    bool supported[4] = {false};
    build(&n, code, y, args, count);
    if (cpu->get_supported_operations(cpu, &n.model, supported) != NNVTS_STATUS_NONE || !supported[0])
        fail_msg("get_supported_operations refuses: %s", what);
}

#endif
