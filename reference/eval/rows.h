/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file rows.h The rows behind the kernels: where a row's inputs come from, and the store step that turns the results
 * of all rows into an operand's value. Between evaluator and kernel.c only.
 */
#ifndef NNV_EVAL_ROWS_H
#define NNV_EVAL_ROWS_H

#include "reference/eval/eval.h"
#include "reference/eval/kernel.h"

enum { NNV_MAX_ROWS = 64 }; /**< perturbed rows */

/** An input of the operation that is being evaluated, in the row that is being computed. */
struct nnv_row_input {
    const struct nnv_operand *operand;
    size_t elems;
    const void *data;           /**< row 0 in the operand's type */
    const double *stored;       /**< rows 0 to n of stored numbers, elems each; NULL: all rows equal data */
    const double *units, *real; /**< of this row, once a kernel asked for them; else NULL */
    double *space;              /**< room for them: nnv_row_space() numbers */
};

/** Numbers that an input needs room for. */
size_t nnv_row_space(const struct nnv_row_input *in);

/** The signs of the hooks of a row. */
struct nnv_rng nnv_noise_stream(const struct nnv_noise *n, int row);
/** Begins row r, and the row behind it. */
void nnv_noise_begin(struct nnv_noise *n, int row);

/** Bit r - 1 is set if row r takes the upper branch: row 1 up, row 2 down, the others balanced at random. */
uint64_t nnv_branch_pattern(struct nnv_rng *rng, int rows);

/** How the results of an operation's output become the value of an operand. */
struct nnv_store {
    const struct nnv_operand *operand;
    enum nnv_rounding rounding;
    bool clamp;     /**< fused activation: */
    double lo, hi;  /**< its bounds, real numbers */
    double u, eta;  /**< float: noise of the store */
    double limit;   /**< float: rows with numbers beyond it are not compared; 0: none */
    double most;    /**< float: the number that may stand for infinity; 0: none */
    bool saturates; /**< float: every other row has it there */
    double from_u;  /**< quantised from float: 2^-24, the rounding of the division by the scale; else 0 */
    double k;       /**< factor of the spread inside half widths */
    const struct nnv_arithmetic *arithmetic; /**< quantised: how far beyond the nearest a result may be */
    const double *multiplier;                /**< quantised NNV_ROUND_LINEAR: per element, see nnv_kernel */
    struct nnv_schemes schemes;              /**< by which these results are requantised */
    uint64_t seed, key;                      /**< of the noise */
    int rows;                                /**< perturbed rows */
    bool alike;                              /**< the results of rows 1 to n equal row 0's, and y has that alone */
    const struct nnv_noise *hooks; /**< y has row 0 alone, where spread is wanted, of as many hooks: the other rows have
                                      the noise of these; else NULL */
    size_t elems;
    double *y;      /**< in: real results of rows 0 to n, elems each; out: stored numbers, unless spread is wanted */
    double *spread; /**< out: as nnv_spread_rows() has it; NULL: rows are wanted, and y has room for all */
    double *exact;  /**< out: see nnv_golden; NULL: not wanted */
    void *data;     /**< out: row 0 in the operand's type */
};

/** Rounds, clamps and forces branches across rows. Returns true if rows are wanted and are all equal. */
bool nnv_store_rows(const struct nnv_store *s);

/**
 * What indices along the axis of input 0 point at (row 0 of sign * input, which k is the kernel of): the axis is that
 * of the slot with NNV_AXIS, else the last. arena's; NULL: out of memory.
 */
const struct nnv_source *nnv_source_of(struct nnv_kernel *k, double sign, struct nnv_arena *arena);

/**
 * Largest |y_row - y_0| of n elements, whose rows lie stride apart, into spread, NaN as in nnv_golden. most: numbers of
 * this size count as infinite where row 0 is; 0: none.
 */
void nnv_spread_rows(const double *y, size_t stride, int rows, double most, size_t n, double *spread);

#endif
