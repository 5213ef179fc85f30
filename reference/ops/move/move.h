/* SPDX-License-Identifier: Apache-2.0 */
/** @file move.h Operations that move values: each element of the output is one of input 0, or a fill value. */
#ifndef NNV_OPS_MOVE_H
#define NNV_OPS_MOVE_H

#include "reference/ops/common.h"

/* -------------------------------------------------------------- parts of records */

/** Input 0 and output 0, of 1 to MAX dimensions (0: any number). */
#define NNV_MOVE_X(MAX)                                                                                                \
    { .id = 0, .name = "input", .var = NNV_T, .rank_min = 1, .rank_max = MAX, .domain = NNV_DOMAIN_ALL }
#define NNV_MOVE_Y(MAX)                                                                                                \
    { .name = "output", .var = NNV_T, .rank_min = 1, .rank_max = MAX, .quant = NNV_Q_SAME }
/** The types of operations of level 2; of level 3; of level 6 and above. */
#define NNV_MOVE_SIGS_2                                                                                                \
    { NNV_SIG(2, FLOAT32), NNV_SIG(2, QUANT8_ASYMM), NNV_SIG(3, FLOAT16), NNV_SIG(4, QUANT8_ASYMM_SIGNED) }
#define NNV_MOVE_SIGS_3                                                                                                \
    {                                                                                                                  \
        NNV_SIG(3, FLOAT32), NNV_SIG(3, FLOAT16), NNV_SIG(3, INT32), NNV_SIG(3, QUANT8_ASYMM),                         \
            NNV_SIG(4, QUANT8_ASYMM_SIGNED)                                                                            \
    }
#define NNV_MOVE_SIGS_OF(LEVEL)                                                                                        \
    {                                                                                                                  \
        NNV_SIG(LEVEL, FLOAT32), NNV_SIG(LEVEL, FLOAT16), NNV_SIG(LEVEL, INT32), NNV_SIG(LEVEL, QUANT8_ASYMM),         \
            NNV_SIG(LEVEL, QUANT8_ASYMM_SIGNED)                                                                        \
    }

/** The record of the file's inputs, outputs, sigs, infer, eval, variants, sample and factors; then .level and what else
 * it has.
 */
#define NNV_MOVE_RECORD(NAME, FORMULA, ...)                                                                            \
    const struct nnv_op nnv_op_##NAME = {                                                                              \
        NNV_OP_NAMED(NAME),                                                                                            \
        .formula = FORMULA,                                                                                            \
        NNV_OP_FORM(inputs, outputs),                                                                                  \
        NNV_OP_SIGS(sigs),                                                                                             \
        .rounding = NNV_ROUND_NONE,                                                                                    \
        .linear = true,                                                                                                \
        .moves = true,                                                                                                 \
        .infer = infer,                                                                                                \
        NNV_EVAL(eval),                                                                                                \
        .variants = variants,                                                                                          \
        NNV_SAMPLE(sample),                                                                                            \
        NNV_OP_FACTORS(factors),                                                                                       \
        __VA_ARGS__,                                                                                                   \
    }

/* -------------------------------------------------------------------- attributes */

/** Number i of TENSOR_INT32 input id; only where the input is present and its value known. */
int32_t nnv_int_at(const struct nnv_call *c, int id, uint32_t i);

/** Writes a computed extent; NNV_INVALID if it is too large. */
NNV_USE_RESULT enum nnv_status nnv_extent_make(uint64_t v, uint32_t *extent, struct nnv_err *err);

/**
 * One extent of the output: axis d, where input 0 has extent n (NNV_DIM_UNKNOWN if it is not known); the
 * values of the attributes are known. NNV_INVALID with the reason if they don't fit.
 */
typedef enum nnv_status nnv_move_extent(const struct nnv_call *c, uint32_t d, uint32_t n, uint32_t *extent,
                                        struct nnv_err *err);

/**
 * Infers an output of input 0's rank. The TENSOR_INT32 inputs of these nids ids hold one entry for each axis
 * (extent 0 is the rank): NNV_INVALID if they don't agree. Unknown values give unknown extents.
 */
enum nnv_status nnv_move_infer(const struct nnv_call *c, const int *ids, int nids, nnv_move_extent *extent,
                               struct nnv_shape *out, struct nnv_err *err);

/* ---------------------------------------------------------------------- kernels */

/**
 * A map from output to input, axis by axis: element (i0, i1, ...) of an output of these extents is element
 * at[0][i0] + at[1][i1] + ... of the input, or the fill value if one of them is NNV_MOVE_FILL.
 */
enum { NNV_MOVE_FILL = -1 };
struct nnv_move {
    uint32_t rank, dims[NNV_MAX_RANK];
    int64_t *at[NNV_MAX_RANK];
};
/** Makes the tables, zeroed; they are scratch's. NNV_NO_MEMORY. */
NNV_USE_RESULT enum nnv_status nnv_move_open(struct nnv_kernel *k, uint32_t rank, const uint32_t *dims,
                                             struct nnv_move *m, struct nnv_err *err);
void nnv_move_run(const struct nnv_move *m, const double *x, double fill, double *y);
/** Distances between neighbours along each axis of a row-major tensor. */
void nnv_strides(const struct nnv_shape *s, int64_t step[NNV_MAX_RANK]);

/** The index along axis d of input 0, of extent n, that index i of output 0 shows; NNV_MOVE_FILL: none. */
typedef int64_t nnv_move_index(const struct nnv_call *c, uint32_t d, uint32_t i, uint32_t n);
/** The kernel of operations whose input and output have one rank, and whose axes are moved independently. */
enum nnv_status nnv_move_axes(struct nnv_kernel *k, nnv_move_index *index, double fill, struct nnv_err *err);

/** Along the axis of l: line j of the n lines of y is line at[j] of x; NaN ("not compared") if at[j] < 0. */
void nnv_move_lines(struct nnv_lines l, const int64_t *at, uint32_t n, const double *x, double *y);

/** True for TENSOR_QUANT8_ASYMM whose zero point is not 0: cells of padding are its zero point since level 3 only. */
bool nnv_shifted_zero(const struct nnv_call *c);

#endif
