/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file elementwise.h Inner loops over values and pairs of values, and softmax; part of level.h.
 *
 * Functions come in two passes over a block: a formula for usual arguments, which compilers vectorise, then the C
 * library for all others (zeros, infinities, NaN, huge ones), which are rare.
 */

/** Defines a row function of two operands: EXPR of a and b. */
#define PAIR(NAME, TYPE, RESULT, EXPR)                                                                                 \
    static CPU_TARGET void NAME(size_t n, const TYPE *restrict pa, const TYPE *restrict pb, RESULT *restrict y) {      \
        for (size_t i = 0; i < n; i++) {                                                                               \
            const TYPE a = pa[i], b = pb[i];                                                                           \
            y[i] = EXPR;                                                                                               \
        }                                                                                                              \
    }
/** The same, clamped. */
#define PAIR_F32(NAME, EXPR)                                                                                           \
    static CPU_TARGET void NAME(size_t n, const float *restrict pa, const float *restrict pb, float lo, float hi,      \
                                float *restrict y) {                                                                   \
        for (size_t i = 0; i < n; i++) {                                                                               \
            const float a = pa[i], b = pb[i];                                                                          \
            y[i] = clamp(EXPR, lo, hi);                                                                                \
        }                                                                                                              \
    }
PAIR_F32(add_f32, a + b)
PAIR_F32(sub_f32, a - b)
PAIR_F32(mul_f32, a *b)
PAIR_F32(div_f32, a / b)

/** Quantised operands: EXPR of centred integers a and b, and of scales ka, kb and that of a product, kab, in output
 * units, is the result in these. */
#define PAIR_U8(NAME, PRODUCT, EXPR)                                                                                   \
    static CPU_TARGET void NAME(size_t n, const uint8_t *restrict pa, const uint8_t *restrict pb,                      \
                                const struct cpu_pair_u8 *s, uint8_t *restrict y) {                                    \
        const int32_t za = s->zero[0], zb = s->zero[1], zy = s->zero[2];                                               \
        const double ka = s->scale[0] / s->scale[2], kb = s->scale[1] / s->scale[2], kab = PRODUCT;                    \
        const double least = s->lo - zy, most = s->hi - zy;                                                            \
        (void)ka, (void)kb, (void)kab;                                                                                 \
        for (size_t i = 0; i < n; i++) {                                                                               \
            const int32_t a = pa[i] - za, b = pb[i] - zb;                                                              \
            y[i] = (uint8_t)(round_away(clamp_f64(EXPR, least, most)) + zy);                                           \
        }                                                                                                              \
    }
PAIR_U8(add_u8, 0, a *ka + b * kb)
PAIR_U8(sub_u8, 0, a *ka - b * kb)
PAIR_U8(mul_u8, s->scale[0] * s->scale[1] / s->scale[2], (double)(a *b) * kab)
PAIR_U8(prelu_u8, ka * s->scale[1], a < 0 ? (double)(a * b) * kab : a * ka)

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

/** Defines a row function of one operand, EXPR of a; y may be x: the operand goes through a block of its own. */
#define UNARY_F32(NAME, EXPR, ...)                                                                                     \
    static CPU_TARGET void NAME(size_t n, const float *x, __VA_ARGS__ float *y) {                                      \
        float block[BLOCK];                                                                                            \
        for (size_t at = 0; at < n; at += BLOCK) {                                                                     \
            const size_t count = n - at < BLOCK ? n - at : BLOCK;                                                      \
            memcpy(block, x + at, count * sizeof *block);                                                              \
            for (size_t i = 0; i < count; i++) {                                                                       \
                const float a = block[i];                                                                              \
                y[at + i] = EXPR;                                                                                      \
            }                                                                                                          \
        }                                                                                                              \
    }
UNARY_F32(clamp_f32, clamp(a, lo, hi), float lo, float hi, )
UNARY_F32(floor_f32, floorf(a), )

static CPU_TARGET void clamp_u8(size_t n, const uint8_t *restrict x, uint8_t lo, uint8_t hi, uint8_t *restrict y) {
    for (size_t i = 0; i < n; i++) y[i] = x[i] < lo ? lo : x[i] > hi ? hi : x[i];
}

static CPU_TARGET void dequantize_u8(size_t n, const uint8_t *restrict x, int32_t zero_point, float scale,
                                     float *restrict y) {
    for (size_t i = 0; i < n; i++) y[i] = (float)(x[i] - zero_point) * scale;
}

static CPU_TARGET void center_u8(size_t n, const uint8_t *restrict x, int32_t zero_point, int16_t *restrict y) {
    for (size_t i = 0; i < n; i++) y[i] = (int16_t)(x[i] - zero_point);
}

static CPU_TARGET void lerp_f32(size_t n, const float *const corner[4], float s, float t, float *restrict y) {
    const float *restrict a = corner[0], *restrict b = corner[1], *restrict c = corner[2], *restrict d = corner[3];
    const float wa = (1 - t) * (1 - s), wb = (1 - t) * s, wc = t * (1 - s), wd = t * s;
    for (size_t i = 0; i < n; i++) y[i] = (a[i] * wa + b[i] * wb) + (c[i] * wc + d[i] * wd);
}

/* ------------------------------------------------------------------ functions */

/**
 * exp(x) = 2^*exponent * (1 + the result), |x| below 200. x = n ln2 + r, |r| <= ln2 / 2, n rounded by adding
 * 3 * 2^22; e^r - 1 by its Taylor series: the first term left out is below 2^-27.
 */
INLINE float exp_parts(float x, uint32_t *exponent) {
    const float magic = 0x1.8p23f;
    const float shifted = x * 0x1.715476p+0f + magic, n = shifted - magic;
    const float r = (x - n * 0x1.63p-1f) - n * -0x1.bd0106p-13f; /* ln2 in two parts: n times the first is exact */
    const float tail =
        0x1p-1f + r * (0x1.555556p-3f +
                       r * (0x1.555556p-5f + r * (0x1.111112p-7f + r * (0x1.6c16c2p-10f + r * 0x1.a01a02p-13f))));
    *exponent = bits_of(shifted) - 0x4b400000u;
    return r + r * r * tail;
}

INLINE float power_of_two(uint32_t exponent) { return float_of((exponent + 127u) << 23); }

INLINE float exp_one(float x) {
    uint32_t n;
    const float part = exp_parts(clamp(x, -104.0f, 90.0f), &n);
    const uint32_t half = (uint32_t)((int32_t)n >> 1); /* in two steps: subnormal results and overflow come out right */
    return (1.0f + part) * power_of_two(half) * power_of_two(n - half);
}

UNARY_F32(logistic_f32, 1.0f / (1.0f + exp_one(-a)), )

/** tanh(x) = e / (e + 2) with e = exp(2|x|) - 1: keeps its precision near 0. */
INLINE float tanh_one(float x) {
    const float a = fabsf(x);
    uint32_t n;
    const float part = exp_parts(a > 10.0f ? 20.0f : 2.0f * a, &n), scale = power_of_two(n);
    const float e = scale * part + (scale - 1.0f);
    return copysignf(e / (e + 2.0f), x);
}

UNARY_F32(tanh_f32, tanh_one(a), )
UNARY_F32(exp_shifted, exp_one((a - shift) * factor), float shift, float factor, )

INLINE float largest(size_t n, const float *x) {
    float most[SUMS], result;
    size_t i = 0;
    for (size_t s = 0; s < SUMS; s++) most[s] = x[s < n ? s : 0];
    for (; i + SUMS <= n; i += SUMS)
        for (size_t s = 0; s < SUMS; s++) most[s] = x[i + s] > most[s] ? x[i + s] : most[s];
    result = most[0];
    for (size_t s = 1; s < SUMS; s++) result = most[s] > result ? most[s] : result;
    for (; i < n; i++) result = x[i] > result ? x[i] : result;
    return result;
}

INLINE float sum_of(size_t n, const float *x) {
    float sums[SUMS] = {0}, result = 0;
    size_t i = 0;
    for (; i + SUMS <= n; i += SUMS)
        for (size_t s = 0; s < SUMS; s++) sums[s] += x[i + s];
    for (; i < n; i++) sums[i % SUMS] += x[i];
    for (size_t s = 0; s < SUMS; s++) result += sums[s];
    return result;
}

static CPU_TARGET void softmax_f32(size_t n, const float *x, float beta, float *y) {
    const float most = largest(n, x);
    exp_shifted(n, x, most, beta, y);
    const float sum = sum_of(n, y);
    for (size_t i = 0; i < n; i++) y[i] /= sum;
}

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
UNARY_F32(hard_swish_f32, a *(clamp(a + 3.0f, 0.0f, 6.0f) / 6.0f), )

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
