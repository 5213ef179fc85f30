/* SPDX-License-Identifier: Apache-2.0 */
/** @file driver_op.h Models of one operation from lists of operands: what comes out, and what is refused. */
#ifndef KIT_DRIVER_OP_H
#define KIT_DRIVER_OP_H

#include "tests/kit/driver.h"

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

uint32_t bytes_of(const struct given *g);

void make_op(struct net *n, int32_t code, const struct given *in, const struct given *out);

extern uint8_t op_results[2][MOST_BYTES] __attribute__((aligned(64)));

/** Runs the operation; op_results: its outputs. */
enum nnvts_status run_op(int32_t code, const struct given *in, const struct given *out);

/** All outputs are as expected, byte for byte. */
void check_op(int32_t code, const struct given *in, const struct given *out);

/** The float32 output is as expected, NaN where NaN is. */
void check_op_near(int32_t code, const struct given *in, const struct given *out, double relative);

/** The model is refused as invalid. */
void refuse_op(const char *what, int32_t code, const struct given *in, const struct given *out);

#endif
