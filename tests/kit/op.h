/* SPDX-License-Identifier: Apache-2.0 */
/** @file op.h For tests of operation records: a model of one operation, its evaluation, and expectations. */
#ifndef KIT_OP_H
#define KIT_OP_H

#include "reference/eval/eval.h"
#include "reference/eval/rows.h"
#include "reference/model/validate.h"
#include "tests/kit/test.h"

enum {
    F32 = ANEURALNETWORKS_TENSOR_FLOAT32,
    F16 = ANEURALNETWORKS_TENSOR_FLOAT16,
    I32 = ANEURALNETWORKS_TENSOR_INT32,
    Q8 = ANEURALNETWORKS_TENSOR_QUANT8_ASYMM,
    Q8S = ANEURALNETWORKS_TENSOR_QUANT8_ASYMM_SIGNED,
    INT = ANEURALNETWORKS_INT32,
    FLT = ANEURALNETWORKS_FLOAT32,
    HALF = ANEURALNETWORKS_FLOAT16,
    BOOL = ANEURALNETWORKS_BOOL,
    FIXTURE_OPERANDS = 72,
    FIXTURE_OUTPUTS = 6,
};

/** Rank and extents, and values, as arguments. */
#define D(...)                                                                                                         \
    (uint32_t)(sizeof((uint32_t[]){__VA_ARGS__}) / sizeof(uint32_t)), (uint32_t[]) { __VA_ARGS__ }
#define V(...)                                                                                                         \
    (double[]) { __VA_ARGS__ }

/** One operation; inputs and outputs are added in their order. */
struct use {
    struct nnv_arena *arena;
    struct nnv_model model;
    struct nnv_operation op;
    struct nnv_operand operands[FIXTURE_OPERANDS];
    uint32_t in[FIXTURE_OPERANDS], out[FIXTURE_OUTPUTS], model_in[FIXTURE_OPERANDS];
    struct nnv_value values[FIXTURE_OPERANDS];
    struct nnv_golden results[FIXTURE_OUTPUTS];
    struct nnv_err err;
    int level, rows;
};

struct use *use_new(int32_t code);

void use_free(struct use *u);

struct nnv_operand *use_operand(struct use *u, int32_t type, uint32_t rank, const uint32_t *dims);

/** A model input of stored numbers; quantised: give scale and zero point with use_quant afterwards. */
void use_in(struct use *u, int32_t type, uint32_t rank, const uint32_t *dims, const double *values);

/** A constant, here always for a scalar of rank 0 or a parameter. */
void use_const(struct use *u, int32_t type, uint32_t rank, const uint32_t *dims, const double *values);

void use_scalar(struct use *u, int32_t type, double value);

/** An omitted input: NO_VALUE, or (late) a model input that the request omits. */
void use_omit(struct use *u, int32_t type, uint32_t rank, bool late);

/** Takes constant input `position` away: it has no value any more. */
void use_drop(struct use *u, int position);

/** Scale and zero point of the operand that was added last. */
void use_quant(struct use *u, double scale, int32_t zero_point);

/** An output of unknown shape. */
void use_out(struct use *u, int32_t type);

/** Validates and evaluates, with u->rows perturbed rows. */
enum nnv_status use_run(struct use *u);

/** Runs; output `out` then has these extents and, within the tolerance, these stored numbers. */
void use_expect(struct use *u, uint32_t out, uint32_t rank, const uint32_t *dims, const double *values,
                double tolerance);

/** Runs; it is refused with a reason that contains the words. */
void use_refuse(struct use *u, const char *words);

/** Runs with 8 perturbed rows: the largest spread of output `out`; NaN if an element is not compared. */
double use_spread(struct use *u, uint32_t out);

/** What a kernel of float16 operands sees in this row, or in this and that `next` elements behind; begins the row. */
struct nnv_kernel row_kernel(struct nnv_noise *n, int row, size_t next, const struct nnv_arithmetic *promise);

#endif
