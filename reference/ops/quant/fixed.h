/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file fixed.h Fixed-point arithmetic of the operations that NNAPI defines on integers.
 *
 * A 16-bit number with B integer bits has the unit 2^(B - 15); the results of functions have none.
 */
#ifndef NNV_OPS_FIXED_H
#define NNV_OPS_FIXED_H

#include "reference/eval/kernel.h"

/** v within the range of int8, int16, int32. */
int32_t nnv_saturate8(int64_t v);
int32_t nnv_saturate16(int64_t v);
int32_t nnv_saturate32(int64_t v);
/** v / 2^k, rounded half away from zero; k >= 0. */
int64_t nnv_fixed_shift(int64_t v, int k);
/** a * b / 2^15 of two 16-bit numbers, rounded half away from zero, but halves below zero up. */
int32_t nnv_fixed_mul16(int32_t a, int32_t b);

/** A real factor m * 2^(e - 31). */
struct nnv_fixed_factor {
    int32_t m;
    int e;
};
/** The factor with m in [2^30, 2^31); 0 for what is not positive and finite. */
struct nnv_fixed_factor nnv_fixed_factor(double real);
/** About 1 / sqrt(v), as the layer normalisation on integers has it: some 28 bits; v below 1 counts as 1. */
struct nnv_fixed_factor nnv_fixed_rsqrt(int64_t v);
/** x times the factor: rounded to an integer before the last shift to the right, and again by it; saturating, x after
 * its shift to the left too. */
int32_t nnv_fixed_scale(int64_t x, struct nnv_fixed_factor f);
/** The factor as a real number. */
double nnv_fixed_real(struct nnv_fixed_factor f);

/** Approximations of 1 / (1 + e^-a) and tanh(a), a with `bits` integer bits, 0 to 6; unit of the result: 2^-15. */
int32_t nnv_fixed_logistic(int32_t a, int bits);
int32_t nnv_fixed_tanh(int32_t a, int bits);

/**
 * A hook: an implementation may have `exact` where the algorithm on integers gives `fixed`. The golden row gets fixed,
 * the others one of both.
 */
double nnv_fixed_near(struct nnv_kernel *k, double fixed, double exact);

#endif
