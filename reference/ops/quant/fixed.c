/* SPDX-License-Identifier: Apache-2.0 */
#include "reference/ops/quant/fixed.h"

#include <stdlib.h>

static int64_t clamp(int64_t v, int64_t lo, int64_t hi) { return v < lo ? lo : v > hi ? hi : v; }

int32_t nnv_saturate8(int64_t v) { return (int32_t)clamp(v, INT8_MIN, INT8_MAX); }
int32_t nnv_saturate16(int64_t v) { return (int32_t)clamp(v, INT16_MIN, INT16_MAX); }
int32_t nnv_saturate32(int64_t v) { return (int32_t)clamp(v, INT32_MIN, INT32_MAX); }

int64_t nnv_fixed_shift(int64_t v, int k) {
    if (k == 0) return v;
    if (k > 60) return 0;
    int64_t half = INT64_C(1) << (k - 1);
    return v >= 0 ? (v + half) >> k : -((-v + half) >> k);
}

/* (v +- 2^(k-1)) / 2^k without a fraction: halves above zero go up, below zero towards it. */
static int64_t round_product(int64_t v, int k) {
    int64_t half = INT64_C(1) << (k - 1);
    return (v + (v >= 0 ? half : 1 - half)) / (half * 2);
}

int32_t nnv_fixed_mul16(int32_t a, int32_t b) { return nnv_saturate16(round_product((int64_t)a * b, 15)); }

/* ------------------------------------------------------------------------ factors */

struct nnv_fixed_factor nnv_fixed_factor(double real) {
    struct nnv_fixed_factor f = {0, 0};
    if (!(real > 0) || !isfinite(real)) return f;
    double m = nnv_round_half_away(ldexp(frexp(real, &f.e), 31));
    if (m == 0x1p31) {
        m /= 2;
        f.e++;
    }
    f.m = (int32_t)m;
    return f;
}

struct nnv_fixed_factor nnv_fixed_rsqrt(int64_t v) {
    if (v <= 1) return (struct nnv_fixed_factor){INT32_MAX, 0};
    int pairs = (__builtin_clz((uint32_t)nnv_saturate32(v)) - 1) / 2, e = 12 - pairs;
    return (struct nnv_fixed_factor){(int32_t)nnv_round_half_away(ldexp(1 / sqrt((double)v), 31 + e)), -e};
}

int32_t nnv_fixed_scale(int64_t x, struct nnv_fixed_factor f) {
    if (f.m == 0 || x == 0) return 0;
    if (f.e > 31) return x > 0 ? INT32_MAX : INT32_MIN;
    int64_t left = nnv_saturate32(x);
    if (f.e > 0) left = nnv_saturate32(left * (INT64_C(1) << f.e));
    int64_t product = round_product(left * f.m, 31);
    return nnv_saturate32(f.e < 0 ? nnv_fixed_shift(product, -f.e) : product);
}

double nnv_fixed_real(struct nnv_fixed_factor f) { return ldexp(f.m, f.e - 31); }

/* ---------------------------------------------------------------------- functions */

/* a * 2^k; below zero rounded, above it saturating. */
static int32_t by_power(int32_t a, int k) {
    return k >= 0 ? nnv_saturate16((int64_t)a * (INT64_C(1) << k)) : (int32_t)nnv_fixed_shift(a, -k);
}

/* e^x for x in [-1/4, 0) without integer bits: four terms of the series around -1/8. */
static int32_t exp_between_quarter_and_0(int32_t x) {
    enum { EIGHTH = 4096, EXP_OF_EIGHTH = 28918, THIRD = 10923 };
    int32_t y = x + EIGHTH, y2 = nnv_fixed_mul16(y, y), y3 = nnv_fixed_mul16(y2, y), y4 = nnv_fixed_mul16(y2, y2);
    int32_t higher = nnv_fixed_mul16(by_power(y4, -2) + y3, THIRD) + y2;
    return nnv_saturate16(EXP_OF_EIGHTH + nnv_fixed_mul16(EXP_OF_EIGHTH, y + by_power(higher, -1)));
}

/* e^a for a <= 0: of the fraction of a quarter, then times e^-(2^n) for each further bit. */
static int32_t exp_of_negative(int32_t a, int bits) {
    static const int32_t factors[] = {25520, 19875, 12055, 4435, 600, 11, 0}; /* e^-(2^n), n = -2 to 4 */
    if (a == 0) return INT16_MAX;
    int fraction = 15 - bits, quarter = 1 << (fraction - 2), rest = (a & (quarter - 1)) - quarter;
    int32_t result = exp_between_quarter_and_0(by_power(rest, bits));
    int above = rest - a;
    for (int n = -2; n < bits && n <= 4; n++)
        if (above >> (fraction + n) & 1) result = nnv_fixed_mul16(result, factors[n + 2]);
    return bits > 5 && a < -(1 << (20 - bits)) ? 0 : result;
}

/* 2 / (1 + e) with 2 integer bits, for e in [0, 1]: three steps of Newton's method from 48/17 - 32/17 d. */
static int32_t twice_reciprocal(int32_t e) {
    enum { FIRST = 23130, SLOPE = -15420, ONE = 8192 };
    int32_t d = (e + INT16_MAX + 1) / 2, x = FIRST + nnv_fixed_mul16(d, SLOPE);
    for (int i = 0; i < 3; i++) x += by_power(nnv_fixed_mul16(x, ONE - nnv_fixed_mul16(d, x)), 2);
    return x;
}

int32_t nnv_fixed_logistic(int32_t a, int bits) {
    if (a == 0) return 16384;
    int32_t p = by_power(twice_reciprocal(exp_of_negative(-abs(a), bits)), 1);
    return a > 0 ? p : INT16_MAX - p;
}

int32_t nnv_fixed_tanh(int32_t a, int bits) {
    if (a == 0) return 0;
    int32_t p = by_power(twice_reciprocal(exp_of_negative(-abs(a), bits + 1)) - 8192, 2);
    return a > 0 ? p : -p;
}

/* -------------------------------------------------------------------------- noise */

double nnv_fixed_near(struct nnv_kernel *k, double fixed, double exact) {
    const double slack = 0x1p-20; /* so that a tie goes either way */
    if (!k->noise) return fixed;
    double either = nnv_noise_add(k, (fixed + exact) / 2, fabs(fixed - exact) / 2 * (1 + slack));
    return k->row == 0 ? fixed : either;
}
