/* SPDX-License-Identifier: Apache-2.0 */
#include "reference/model/scheme.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

/** Beyond any code of 16 bits: how it is rounded does not matter. */
static const double huge = 0x1p20;

struct product {
    double accumulator;
    double multiplier;
    int zero_point;
    int bits; /**< of the multiplier, in fixed point */
};

/** In fixed point the multiplier is m * 2^(exponent - bits), m of so many bits. */
static int64_t mantissa_of(const struct product *p, int *exponent) {
    const double m = frexp(p->multiplier, exponent);
    int64_t q = (int64_t)round(ldexp(m, p->bits));
    if (q == INT64_C(1) << p->bits) q /= 2, ++*exponent;
    return q;
}

/** The product is rounded to 31 bits, then to the code: the nearest, ties away from 0 (gemmlowp, "double rounding"). */
static double twice(const struct product *p) {
    int exponent;
    const int64_t q = mantissa_of(p, &exponent);
    const int left = exponent > 0 ? exponent : 0, right = exponent > 0 ? 0 : -exponent;
    const int64_t product = (int64_t)rint(p->accumulator) * (INT64_C(1) << left) * q;
    const int64_t high = (product + (product >= 0 ? INT64_C(1) << 30 : 1 - (INT64_C(1) << 30))) / (INT64_C(1) << 31);
    if (right > 31) return 0;
    const int64_t mask = (INT64_C(1) << right) - 1, rest = high & mask, threshold = (mask >> 1) + (high < 0);
    return (double)((high >> right) + (rest > threshold));
}

/** One product of so many bits, rounded once: the nearest, ties up. */
static double fixed(const struct product *p) {
    int exponent;
    const int64_t product = mantissa_of(p, &exponent) * (int64_t)rint(p->accumulator);
    const int shift = p->bits - exponent;
    if (shift < 1) return ldexp((double)product, -shift);
    return shift > 62 ? 0 : (double)((product + (INT64_C(1) << (shift - 1))) >> shift);
}

static double real(const struct product *p) { return p->accumulator * p->multiplier; }
static float narrow(const struct product *p) { return (float)p->accumulator * (float)p->multiplier; }

static double exact_away(const struct product *p) { return round(real(p)); }
static double exact_even(const struct product *p) { return rint(real(p)); }
static double exact_up(const struct product *p) { return floor(real(p) + 0.5); }
static double float_even(const struct product *p) { return (double)rintf(narrow(p)); }
static double float_away(const struct product *p) { return (double)roundf(narrow(p)); }
static double float_zero(const struct product *p) {
    return (double)rintf(narrow(p) + (float)p->zero_point) - p->zero_point;
}
static double fused_zero(const struct product *p) {
    return (double)rintf(fmaf((float)p->accumulator, (float)p->multiplier, (float)p->zero_point)) - p->zero_point;
}
static double truncated(const struct product *p) { return trunc(real(p)); }
static double floored(const struct product *p) { return floor(real(p)); }

static const struct scheme {
    const char *word, *is;
    double (*code)(const struct product *p);
    int bits;
    bool weak;
} schemes[NNV_SCHEME_COUNT] = {
    [NNV_SCHEME_ANY] = {"", "not known", exact_away, 0, false},
    [NNV_SCHEME_EXACT_AWAY] = {"exact-away", "exact, ties away from 0", exact_away, 0, false},
    [NNV_SCHEME_EXACT_EVEN] = {"exact-even", "exact, ties to even", exact_even, 0, false},
    [NNV_SCHEME_EXACT_UP] = {"exact-up", "exact, ties up", exact_up, 0, false},
    [NNV_SCHEME_TWICE] = {"twice", "TensorFlow Lite's double rounding", twice, 31, false},
    [NNV_SCHEME_FIXED_31] = {"fixed31", "fixed point of 31 bits, rounded once", fixed, 31, false},
    [NNV_SCHEME_FLOAT_EVEN] = {"float-even", "float32, ties to even", float_even, 0, false},
    [NNV_SCHEME_FLOAT_AWAY] = {"float-away", "float32, ties away from 0", float_away, 0, false},
    [NNV_SCHEME_FLOAT_ZERO] = {"float-zero", "float32 with the zero point, ties to even", float_zero, 0, false},
    [NNV_SCHEME_FUSED_ZERO] = {"fma-zero", "float32 with the zero point in an FMA, ties to even", fused_zero, 0, false},
    [NNV_SCHEME_DEQUANTISED] = {"dequantised", "float32 sums of dequantised numbers, ties to even", float_even, 0,
                                false},
    [NNV_SCHEME_DEQUANTISED_ZERO] = {"dequantised-zero",
                                     "float32 sums of dequantised numbers with the zero point, ties to even",
                                     float_zero, 0, false},
    [NNV_SCHEME_FIXED_24] = {"fixed24", "fixed point of 24 bits", fixed, 24, false},
    [NNV_SCHEME_FIXED_16] = {"fixed16", "fixed point of 16 bits", fixed, 16, true},
    [NNV_SCHEME_FIXED_15] = {"fixed15", "fixed point of 15 bits", fixed, 15, true},
    [NNV_SCHEME_FIXED_8] = {"fixed8", "fixed point of 8 bits", fixed, 8, true},
    [NNV_SCHEME_FIXED_7] = {"fixed7", "fixed point of 7 bits", fixed, 7, true},
    [NNV_SCHEME_TRUNCATED] = {"truncated", "truncated", truncated, 0, true},
    [NNV_SCHEME_FLOOR] = {"floor", "rounded down", floored, 0, true},
};

const char *nnv_scheme_word(enum nnv_scheme s) { return schemes[s].word; }
const char *nnv_scheme_is(enum nnv_scheme s) { return schemes[s].is; }
bool nnv_scheme_is_weak(enum nnv_scheme s) { return schemes[s].weak; }
bool nnv_scheme_sums_floats(enum nnv_scheme s) {
    return s == NNV_SCHEME_DEQUANTISED || s == NNV_SCHEME_DEQUANTISED_ZERO;
}

enum nnv_scheme nnv_scheme_by_word(const char *word, size_t n) {
    for (int s = 1; s < NNV_SCHEME_COUNT; s++)
        if (strlen(schemes[s].word) == n && strncmp(schemes[s].word, word, n) == 0) return (enum nnv_scheme)s;
    return NNV_SCHEME_ANY;
}

double nnv_scheme_code(enum nnv_scheme s, double accumulator, double multiplier, int zero_point) {
    const double code = accumulator * multiplier;
    if (!(fabs(code) < huge && fabs(accumulator) < 0x1p32)) return code;
    const double whole = rint(accumulator), near = 1e-9 * fmax(1, fabs(whole));
    const struct product p = {fabs(accumulator - whole) < near ? whole : accumulator, multiplier, zero_point,
                              schemes[s].bits};
    return schemes[s].code(&p);
}
