/* SPDX-License-Identifier: Apache-2.0 */
/** @file op_net.h Models of one operation for the driver "cpu", written as its list of inputs. */
#ifndef KIT_OP_NET_H
#define KIT_OP_NET_H

#include "tests/kit/driver.h"

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

uint32_t operand(struct net *n, const struct arg *a);

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
void build(struct net *n, int32_t code, struct arg y, const struct arg *args, size_t count);

/** Runs a model whose one input is x, and compares bytes. */
void check_bytes(int32_t code, struct arg y, const struct arg *args, size_t count, const void *x, size_t x_bytes,
                 const void *expected, size_t y_bytes);

/** The model is accepted, but not its values. */
void check_fails(int32_t code, struct arg y, const struct arg *args, size_t count, const void *x, size_t x_bytes);

void check_refused(const char *what, int32_t code, struct arg y, const struct arg *args, size_t count);

void check_accepted(const char *what, int32_t code, struct arg y, const struct arg *args, size_t count);

#endif
