/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file kernels_elementwise.h More inner loops over single values and pairs; part of kernels_impl.h.
 *
 * Functions come in two passes over a block: a formula for usual arguments, which compilers vectorise, then the C
 * library for all others (zeros, infinities, NaN, huge ones), which are rare.
 */

PAIR(max_f32, float, float, a > b ? a : a == a ? b : a) /* a NaN stays */
PAIR(min_f32, float, float, a < b ? a : a == a ? b : a)
PAIR(prelu_f32, float, float, a < 0.0f ? a * b : a)
PAIR(equal_f32, float, uint8_t, a == b)
PAIR(not_equal_f32, float, uint8_t, a != b)
PAIR(less_f32, float, uint8_t, a < b)
PAIR(less_equal_f32, float, uint8_t, a <= b)
PAIR(equal_i32, int32_t, uint8_t, a == b)
PAIR(not_equal_i32, int32_t, uint8_t, a != b)
PAIR(less_i32, int32_t, uint8_t, a < b)
PAIR(less_equal_i32, int32_t, uint8_t, a <= b)

/* ------------------------------------------------------------------ functions */

/**
 * ln x of a normal x > 0: x = 2^e m, m about 1, ln m = 2 artanh s, s = (m - 1) / (m + 1), |s| < 0.172. The first term
 * left out is below 2^-39 of the sum.
 */
INLINE double log_one(float x) {
    const uint32_t root_half = 0x3f3504f3u, above = bits_of(x) - root_half;
    const double exponent = (double)((int32_t)above >> 23);
    const double m = (double)float_of((above & 0x7fffffu) + root_half);
    const double s = (m - 1) / (m + 1), z = s * s;
    const double tail = z * (1.0 / 3 + z * (1.0 / 5 + z * (1.0 / 7 + z * (1.0 / 9 + z * (1.0 / 11 + z * (1.0 / 13))))));
    return exponent * 0x1.62e42fefa39efp-1 + 2 * (s + s * tail);
}

/** e^x: as exp_one, in double. */
INLINE float exp_f64(double x) {
    const double magic = 0x1.8p52, within = clamp_f64(x, -104, 90);
    const double n = (within * 0x1.71547652b82fep+0 + magic) - magic, r = within - n * 0x1.62e42fefa39efp-1;
    const double tail =
        1.0 / 2 +
        r * (1.0 / 6 + r * (1.0 / 24 + r * (1.0 / 120 + r * (1.0 / 720 + r * (1.0 / 5040 + r * (1.0 / 40320))))));
    const int32_t exponent = (int32_t)n, half = exponent >> 1;
    return (float)(1 + (r + r * r * tail)) * power_of_two((uint32_t)half) * power_of_two((uint32_t)(exponent - half));
}

/** |x| up to 2^20: the remainder after multiples of pi, in double; then the series of the sine in float. */
INLINE float sin_one(float x) {
    const double magic = 0x1.8p52, n = ((double)x * 0x1.45f306dc9c883p-2 + magic) - magic;
    const float r = (float)(((double)x - n * 0x1.921fb544p+1) - n * 0x1.0b4611a626331p-33), z = r * r;
    const float tail =
        z * (-0x1.555556p-3f +
             z * (0x1.111112p-7f +
                  z * (-0x1.a01a02p-13f + z * (0x1.71de3ap-19f + z * (-0x1.ae6456p-26f + z * 0x1.612462p-33f)))));
    const uint32_t odd = (uint32_t)(int32_t)n << 31;
    return float_of(bits_of(r + r * tail) ^ odd);
}

/** alpha (e^x - 1) below 0, x above; near 0, e^x - 1 keeps its precision. */
INLINE float elu_one(float x, float alpha) {
    uint32_t n;
    const float part = exp_parts(clamp(x, -1.0f, 1.0f), &n), scale = power_of_two(n);
    const float less_one = fabsf(x) < 1.0f ? scale * part + (scale - 1.0f) : exp_one(x) - 1.0f;
    const float tail = alpha * less_one;
    return (x < 0.0f ? 0.0f : x) + (tail < 0.0f ? tail : 0.0f);
}

UNARY_F32(abs_f32, fabsf(a), )
UNARY_F32(neg_f32, -a, )
UNARY_F32(sqrt_f32, sqrtf(a), )
UNARY_F32(rsqrt_f32, 1.0f / sqrtf(a), )
UNARY_F32(exp_f32, exp_one(a), )
UNARY_F32(elu_f32, elu_one(a, alpha), float alpha, )
UNARY_F32(hard_swish_f32, a *clamp(a + 3.0f, 0.0f, 6.0f) / 6.0f, )

#define IS_USUAL(X) ((X) >= 0x1p-126f && (X) <= 0x1.fffffep127f) /* positive and normal */

/** As UNARY_F32: EXPR where USUAL holds, else what the C library says. */
#define UNARY_F32_USUAL(NAME, EXPR, USUAL, EXACT)                                                                      \
    static CPU_TARGET void NAME(size_t n, const float *x, float *y) {                                                  \
        float block[BLOCK];                                                                                            \
        for (size_t at = 0; at < n; at += BLOCK) {                                                                     \
            const size_t count = n - at < BLOCK ? n - at : BLOCK;                                                      \
            for (size_t i = 0; i < count; i++) {                                                                       \
                const float given = x[at + i], a = (USUAL(given)) ? given : 1.0f;                                      \
                block[i] = EXPR;                                                                                       \
            }                                                                                                          \
            for (size_t i = 0; i < count; i++)                                                                         \
                if (!(USUAL(x[at + i]))) block[i] = EXACT(x[at + i]);                                                  \
            memcpy(y + at, block, count * sizeof *block);                                                              \
        }                                                                                                              \
    }
#define IS_NEAR(X) (fabsf(X) <= 0x1p20f)
UNARY_F32_USUAL(log_f32, (float)log_one(a), IS_USUAL, logf)
UNARY_F32_USUAL(sin_f32, sin_one(a), IS_NEAR, sinf)

static CPU_TARGET void pow_f32(size_t n, const float *restrict base, const float *restrict exponent,
                               float *restrict y) {
    for (size_t i = 0; i < n; i++) {
        const float a = IS_USUAL(base[i]) ? base[i] : 1.0f, b = exponent[i];
        y[i] = exp_f64((fabsf(b) <= 0x1.fffffep127f ? (double)b : 0) * log_one(a));
    }
    for (size_t i = 0; i < n; i++)
        if (!IS_USUAL(base[i]) || !isfinite(exponent[i])) y[i] = powf(base[i], exponent[i]);
}

/** x: the largest, or with a negative factor the smallest, is taken off first; room: n values. y may be x. */
static CPU_TARGET void log_softmax_f32(size_t n, const float *x, float beta, float *room, float *y) {
    float most = largest(n, x);
    if (beta < 0)
        for (size_t i = 0; i < n; i++) most = x[i] < most ? x[i] : most;
    exp_shifted(n, x, most, beta, room);
    const float log_sum = logf(sum_of(n, room));
    for (size_t i = 0; i < n; i++) y[i] = (x[i] - most) * beta - log_sum;
}

/** A NaN becomes 255. */
static CPU_TARGET void quantize_f32(size_t n, const float *restrict x, float scale, int32_t zero_point,
                                    uint8_t *restrict y) {
    const double least = -zero_point, most = 255 - zero_point;
    for (size_t i = 0; i < n; i++) {
        const double r = (double)(x[i] / scale);
        y[i] = (uint8_t)(round_away(r < most ? r < least ? least : r : most) + zero_point);
    }
}
