/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file scheme.h Requantisation: by which scheme an engine makes a code of a quantised sum of products, the
 * accumulator, times a multiplier, the scale of the accumulator over that of the result.
 */
#ifndef NNV_MODEL_SCHEME_H
#define NNV_MODEL_SCHEME_H

#include <stdbool.h>
#include <stddef.h>

/** Of several that explain an engine the first is taken. */
enum nnv_scheme {
    NNV_SCHEME_ANY, /**< not known: whatever is as exact as double rounding */
    NNV_SCHEME_EXACT_AWAY,
    NNV_SCHEME_EXACT_EVEN,
    NNV_SCHEME_EXACT_UP,
    NNV_SCHEME_TWICE,
    NNV_SCHEME_FIXED_31,
    NNV_SCHEME_FLOAT_EVEN,
    NNV_SCHEME_FLOAT_AWAY,
    NNV_SCHEME_FLOAT_ZERO,
    NNV_SCHEME_FUSED_ZERO,
    NNV_SCHEME_DEQUANTISED,      /**< float32 sums of dequantised numbers: near ties they do not say which code */
    NNV_SCHEME_DEQUANTISED_ZERO, /**< the same, and the zero point added before it is rounded */
    NNV_SCHEME_FIXED_24,
    NNV_SCHEME_FIXED_16,
    NNV_SCHEME_FIXED_15,
    NNV_SCHEME_FIXED_8,
    NNV_SCHEME_FIXED_7,
    NNV_SCHEME_TRUNCATED,
    NNV_SCHEME_FLOOR,
    NNV_SCHEME_COUNT
};

/** For --arithmetic: "exact-away", "twice", "fixed16". */
const char *nnv_scheme_word(enum nnv_scheme s);
/** In words: "TensorFlow Lite's double rounding". */
const char *nnv_scheme_is(enum nnv_scheme s);
/** By the first n characters of the word; NNV_SCHEME_ANY if there is none. */
enum nnv_scheme nnv_scheme_by_word(const char *word, size_t n);
/** True if it gives codes that are wrong by "strict". */
bool nnv_scheme_is_weak(enum nnv_scheme s);
/** True if it sums up in float32: how far a sum is off decides the code. */
bool nnv_scheme_sums_floats(enum nnv_scheme s);
/**
 * The code, less the zero point and not clamped, which the scheme makes of an accumulator: a whole number, but for what
 * computing it has lost. Few schemes add the zero point before they round.
 */
double nnv_scheme_code(enum nnv_scheme s, double accumulator, double multiplier, int zero_point);

#endif
