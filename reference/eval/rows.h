/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file rows.h The rows behind the kernels: where a row's inputs come from, the tape of the noise hooks, and the
 * store step that turns the results of all rows into an operand's value. Between evaluator and kernel.c only.
 */
#ifndef NNV_EVAL_ROWS_H
#define NNV_EVAL_ROWS_H

#include "base/rng.h"
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

/** What row 0 wrote down at one hook. */
struct nnv_hook {
    double value, magnitude; /**< a branch: score and half width */
};

/** Random signs, 64 a draw. */
struct nnv_signs {
    struct nnv_rng rng;
    uint64_t bits;
    int left;
};

/** +1 or -1. */
static inline double nnv_sign(struct nnv_signs *s) {
    if (s->left == 0) {
        s->bits = nnv_rng_u64(&s->rng);
        s->left = 64;
    }
    double sign = s->bits & 1 ? 1 : -1;
    s->bits >>= 1;
    s->left--;
    return sign;
}

/** The hooks of one operation: row 0 writes the tape, the others read it. Zero-initialise; free tape. */
struct nnv_noise {
    int rows;               /**< perturbed rows */
    uint64_t seed, op;      /**< key of the signs: seed of the run, number of the operation */
    struct nnv_signs signs; /**< of this row */
    struct nnv_hook *tape;
    size_t count, room, at;
    bool active; /**< a hook wrote a magnitude, so that rows with equal inputs differ */
    bool no_memory;
    bool broken;                     /**< a row called other hooks than row 0 */
    uint64_t alternative, decisions; /**< see nnv_decide: key, and number of open decisions so far */
    bool open;                       /**< there was one */
};

/** Begins row r. */
void nnv_noise_begin(struct nnv_noise *n, int row);

/** Bit r - 1 is set if row r takes the upper branch: row 1 up, row 2 down, the others balanced at random. */
uint64_t nnv_branch_pattern(struct nnv_rng *rng, int rows);

/** How the results of an operation's output become the value of an operand. */
struct nnv_store {
    const struct nnv_operand *operand;
    enum nnv_rounding rounding;
    bool clamp;               /**< fused activation: */
    double lo, hi;            /**< its bounds, real numbers */
    double u, eta;            /**< float: noise of the store */
    double limit;             /**< float: rows with numbers beyond it are not compared; 0: none */
    double saturates;         /**< float: infinities may be this number instead; 0: they may not */
    double from_u;            /**< quantised from float: 2^-24, the rounding of the division by the scale; else 0 */
    double k;                 /**< factor of the spread inside half widths */
    double beyond;            /**< quantised: units beyond the nearest that a result may be off */
    const double *multiplier; /**< quantised NNV_ROUND_LINEAR: per element, see nnv_kernel */
    uint64_t seed, key;       /**< of the noise */
    int rows;                 /**< perturbed rows */
    bool alike;               /**< rows 1 to n of y equal row 0 */
    size_t elems;
    double *y;     /**< in: real results of rows 0 to n, elems each; out: stored numbers */
    double *exact; /**< out: see nnv_golden; NULL: not wanted */
    void *data;    /**< out: row 0 in the operand's type */
};

/** Rounds, clamps and forces branches across rows. Returns true if all rows are equal. */
bool nnv_store_rows(const struct nnv_store *s);

/**
 * What indices along the axis of input 0 point at (row 0 of sign * input, which k is the kernel of): the axis is that
 * of the slot with NNV_AXIS, else the last. arena's; NULL: out of memory.
 */
const struct nnv_source *nnv_source_of(struct nnv_kernel *k, double sign, struct nnv_arena *arena);

/**
 * Largest |y_row - y_0| of each element into spread, NaN as in nnv_golden. most: numbers of this size count as infinite
 * where row 0 is; 0: none.
 */
void nnv_spread_rows(const double *y, size_t elems, int rows, double most, double *spread);

#endif
