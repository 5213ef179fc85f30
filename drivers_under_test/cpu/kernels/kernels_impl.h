/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file kernels_impl.h The inner loops; compiled by kernels_*.c, which define CPU_LEVEL and CPU_LEVEL_NAME.
 *
 * Loops without simd.h's vectors are written so that compilers vectorise them: sums keep SUMS partial sums,
 * comparisons keep NaN, no library function is called.
 */
#include <math.h>
#include <string.h>

#include "kernels.h"
#include "simd.h"

enum { PANEL = 2 * LANES, MOST_ROWS = 8, SUMS = 16, BLOCK = 256 };
#if CPU_LEVEL == 2
enum { TALL_ROWS = 14 }; /* of tiles one vector wide: as many sums as hide how long a product takes */
#else
enum { TALL_ROWS = MOST_ROWS };
#endif
#define INLINE static inline __attribute__((always_inline)) CPU_TARGET
#define UNROLL _Pragma("GCC unroll 16")

/* ------------------------------------------------------------------- products */

/** One tile: rows x vectors * LANES columns; both are constants of the caller. */
INLINE void tile_f32(int rows, size_t vectors, const struct cpu_gemm_f32 *g, size_t row, size_t col, const float *b) {
    vf acc[TALL_ROWS][2];
    const size_t lda = g->lda, width = g->n - col, columns = vectors * LANES;
    UNROLL for (int i = 0; i < rows; i++) for (size_t v = 0; v < vectors; v++) acc[i][v] =
        VF_LOAD(g->bias + col + v * LANES);
    for (size_t r = 0; r < g->runs; r++) {
        const float *a[(TALL_ROWS + 2) / 3];
        UNROLL for (int i = 0; i < rows; i += 3) a[i / 3] = g->a[r] + (row + (size_t)i) * lda;
        for (size_t k = 0; k < g->length; k++, b += columns) {
            vf w[2];
            for (size_t v = 0; v < vectors; v++) w[v] = VF_LOAD(b + v * LANES);
            UNROLL for (int i = 0; i < rows; i++) {
                const vf x = VF_SET1(a[i / 3][(size_t)(i % 3) * lda]);
                for (size_t v = 0; v < vectors; v++) acc[i][v] = VF_FMA(x, w[v], acc[i][v]);
            }
            UNROLL for (int i = 0; i < rows; i += 3) {
                a[i / 3]++;
                __asm__("" : "+r"(a[i / 3])); /* one pointer for three rows, not one each */
            }
        }
    }
    const vf lo = VF_SET1(g->lo), hi = VF_SET1(g->hi);
    float *c = g->c + row * g->ldc + col;
    UNROLL for (int i = 0; i < rows; i++, c += g->ldc) {
        float edge[PANEL], *to = width >= columns ? c : edge;
        for (size_t v = 0; v < vectors; v++) VF_STORE(to + v * LANES, VF_MIN(hi, VF_MAX(lo, acc[i][v])));
        if (width < columns) memcpy(c, edge, width * sizeof *edge);
    }
}

/** The remaining rows, once for each number of them. */
#define TILE_CASES(TILE, ...)                                                                                          \
    case 1:                                                                                                            \
        TILE(1, __VA_ARGS__);                                                                                          \
        break;                                                                                                         \
    case 2:                                                                                                            \
        TILE(2, __VA_ARGS__);                                                                                          \
        break;                                                                                                         \
    case 3:                                                                                                            \
        TILE(3, __VA_ARGS__);                                                                                          \
        break;                                                                                                         \
    case 4:                                                                                                            \
        TILE(4, __VA_ARGS__);                                                                                          \
        break;                                                                                                         \
    case 5:                                                                                                            \
        TILE(5, __VA_ARGS__);                                                                                          \
        break;                                                                                                         \
    case 6:                                                                                                            \
        TILE(6, __VA_ARGS__);                                                                                          \
        break;                                                                                                         \
    case 7:                                                                                                            \
        TILE(7, __VA_ARGS__);                                                                                          \
        break;                                                                                                         \
    default:                                                                                                           \
        TILE(ROWS, __VA_ARGS__);                                                                                       \
        break;

static CPU_TARGET void gemm_f32(const struct cpu_gemm_f32 *g) {
    const float *b = g->b;
    for (size_t col = 0; col < g->n; col += PANEL) {
        const bool narrow = g->n - col <= LANES;
        size_t first = 0;
        if (narrow && (int)TALL_ROWS > (int)MOST_ROWS)
            for (; first + TALL_ROWS <= g->m; first += TALL_ROWS) tile_f32(TALL_ROWS, 1, g, first, col, b);
        const size_t left = g->m - first, count = (left + ROWS - 1) / ROWS;
        for (size_t t = 0; t < count; t++) { /* tiles of nearly equal heights */
            const size_t row = first + left * t / count, rows = first + left * (t + 1) / count - row;
            if (narrow) switch (rows) {
                    TILE_CASES(tile_f32, 1, g, row, col, b)
                }
            else
                switch (rows) { TILE_CASES(tile_f32, 2, g, row, col, b) }
        }
        b += g->runs * g->length * (narrow ? LANES : PANEL);
    }
}

INLINE int32_t round_away(double r) { return (int32_t)(r + copysign(0.5, r)); }

INLINE double clamp_f64(double r, double lo, double hi) { return r < lo ? lo : r > hi ? hi : r; }

static CPU_TARGET void requantize(size_t n, const int32_t *restrict acc, const double *restrict bias,
                                  const double *restrict multiplier, int32_t zero_point, int32_t lo, int32_t hi,
                                  uint8_t *restrict y) {
    const double least = lo - zero_point, most = hi - zero_point;
    for (size_t i = 0; i < n; i++) {
        double r = clamp_f64(((double)acc[i] + bias[i]) * multiplier[i], least, most);
        y[i] = (uint8_t)(round_away(r) + zero_point);
    }
}

INLINE int32_t pair_at(const int16_t *p) {
    int32_t pair;
    memcpy(&pair, p, sizeof pair);
    return pair;
}

INLINE void tile_s16(int rows, const struct cpu_gemm_s16 *g, const int16_t *a, const int16_t *b, size_t col,
                     uint8_t *c) {
    vi acc[MOST_ROWS][2];
    const size_t lda = g->lda, width = g->n - col < PANEL ? g->n - col : PANEL;
    UNROLL for (int i = 0; i < rows; i++) acc[i][0] = acc[i][1] = VI_SET1(0);
    for (size_t k = 0; k < g->k; k += 2, b += 2 * PANEL) {
        const vi b0 = VI_LOAD(b), b1 = VI_LOAD(b + PANEL);
        UNROLL for (int i = 0; i < rows; i++) {
            const vi x = VI_SET1(pair_at(a + (size_t)i * lda + k));
            acc[i][0] = VI_ADD(acc[i][0], VI_MADD16(x, b0));
            acc[i][1] = VI_ADD(acc[i][1], VI_MADD16(x, b1));
        }
    }
    int32_t sums[MOST_ROWS][PANEL];
    UNROLL for (int i = 0; i < rows; i++) {
        VI_STORE(sums[i], acc[i][0]);
        VI_STORE(sums[i] + LANES, acc[i][1]);
    }
    for (int i = 0; i < rows; i++)
        requantize(width, sums[i], g->bias + col, g->multiplier + col, g->zero_point, g->lo, g->hi,
                   c + (size_t)i * g->ldc);
}

static CPU_TARGET void gemm_s16(const struct cpu_gemm_s16 *g) {
    for (size_t col = 0; col < g->n; col += PANEL) {
        const int16_t *b = g->b + col * g->k;
        for (size_t row = 0; row < g->m; row += ROWS) {
            const int16_t *a = g->a + row * g->lda;
            uint8_t *c = g->c + row * g->ldc + col;
            switch (g->m - row < ROWS ? g->m - row : ROWS) { TILE_CASES(tile_s16, g, a, b, col, c) }
        }
    }
}

static CPU_TARGET float dot_f32(size_t n, const float *a, const float *b) {
    vf acc[4] = {VF_SET1(0.0f), VF_SET1(0.0f), VF_SET1(0.0f), VF_SET1(0.0f)};
    size_t i = 0;
    for (; i + 4 * LANES <= n; i += 4 * LANES)
        UNROLL for (size_t v = 0; v < 4; v++) acc[v] =
            VF_FMA(VF_LOAD(a + i + v * LANES), VF_LOAD(b + i + v * LANES), acc[v]);
    for (; i + LANES <= n; i += LANES) acc[0] = VF_FMA(VF_LOAD(a + i), VF_LOAD(b + i), acc[0]);
    float lanes[4 * LANES], sum = 0;
    UNROLL for (size_t v = 0; v < 4; v++) VF_STORE(lanes + v * LANES, acc[v]);
    for (size_t v = 0; v < 4 * LANES; v++) sum += lanes[v];
    for (; i < n; i++) sum += a[i] * b[i];
    return sum;
}

/* -------------------------------------------------------------------- windows */

INLINE float clamp(float x, float lo, float hi) { return x < lo ? lo : x > hi ? hi : x; }

/** vectors * LANES channels, kept in registers over all taps. */
INLINE void depthwise_block(size_t vectors, const struct cpu_taps *t, const float *x, const float *w, const float *bias,
                            float lo, float hi, float *y) {
    vf acc[4];
    UNROLL for (size_t v = 0; v < vectors; v++) acc[v] = VF_LOAD(bias + v * LANES);
    for (uint32_t p = 0; p < t->rows; p++)
        for (uint32_t q = 0; q < t->cols; q++) {
            const float *xt = x + p * t->x_row + q * t->x_col, *wt = w + p * t->w_row + q * t->w_col;
            UNROLL for (size_t v = 0; v < vectors; v++) acc[v] =
                VF_FMA(VF_LOAD(xt + v * LANES), VF_LOAD(wt + v * LANES), acc[v]);
        }
    UNROLL for (size_t v = 0; v < vectors; v++)
        VF_STORE(y + v * LANES, VF_MIN(VF_SET1(hi), VF_MAX(VF_SET1(lo), acc[v])));
}

static CPU_TARGET void depthwise_f32(const struct cpu_taps *t, const float *x, const float *w, const float *bias,
                                     float lo, float hi, float *y) {
    size_t c = 0;
    for (; c + 4 * LANES <= t->channels; c += 4 * LANES) depthwise_block(4, t, x + c, w + c, bias + c, lo, hi, y + c);
    for (; c + LANES <= t->channels; c += LANES) depthwise_block(1, t, x + c, w + c, bias + c, lo, hi, y + c);
    if (c < t->channels && t->channels >= LANES) { /* the last vector overlaps its predecessor */
        c = t->channels - LANES;
        depthwise_block(1, t, x + c, w + c, bias + c, lo, hi, y + c);
        c = t->channels;
    }
    for (; c < t->channels; c++) {
        float sum = bias[c];
        for (uint32_t p = 0; p < t->rows; p++)
            for (uint32_t q = 0; q < t->cols; q++)
                sum += x[p * t->x_row + q * t->x_col + c] * w[p * t->w_row + q * t->w_col + c];
        y[c] = clamp(sum, lo, hi);
    }
}

#include "kernels_depthwise.h"

INLINE void depthwise_block_u8(size_t vectors, const struct cpu_taps *t, const uint8_t *x, int32_t zero_point,
                               const int32_t *w, int32_t *y) {
    vi acc[4];
    const vi zero = VI_SET1(zero_point);
    UNROLL for (size_t v = 0; v < vectors; v++) acc[v] = VI_SET1(0);
    for (uint32_t p = 0; p < t->rows; p++)
        for (uint32_t q = 0; q < t->cols; q++) {
            const uint8_t *xt = x + p * t->x_row + q * t->x_col;
            const int32_t *wt = w + p * t->w_row + q * t->w_col;
            UNROLL for (size_t v = 0; v < vectors; v++) {
                const vi value = VI_SUB(VI_LOAD_U8(xt + v * LANES), zero);
                acc[v] = VI_ADD(acc[v], VI_MADD16(value, VI_LOAD(wt + v * LANES)));
            }
        }
    UNROLL for (size_t v = 0; v < vectors; v++) VI_STORE(y + v * LANES, acc[v]);
}

static CPU_TARGET void depthwise_s32(const struct cpu_taps *t, const uint8_t *x, int32_t zero_point, const int32_t *w,
                                     int32_t *y) {
    size_t c = 0;
    for (; c + 4 * LANES <= t->channels; c += 4 * LANES) depthwise_block_u8(4, t, x + c, zero_point, w + c, y + c);
    for (; c + LANES <= t->channels; c += LANES) depthwise_block_u8(1, t, x + c, zero_point, w + c, y + c);
    if (c < t->channels && t->channels >= LANES) {
        c = t->channels - LANES;
        depthwise_block_u8(1, t, x + c, zero_point, w + c, y + c);
        c = t->channels;
    }
    for (; c < t->channels; c++) {
        int32_t sum = 0;
        for (uint32_t p = 0; p < t->rows; p++)
            for (uint32_t q = 0; q < t->cols; q++)
                sum += (x[p * t->x_row + q * t->x_col + c] - zero_point) * (int16_t)w[p * t->w_row + q * t->w_col + c];
        y[c] = sum;
    }
}

static CPU_TARGET void pool_sum_f32(const struct cpu_taps *t, const float *restrict x, float divisor, float lo,
                                    float hi, float *restrict y) {
    for (size_t c = 0; c < t->channels; c++) y[c] = 0;
    for (uint32_t p = 0; p < t->rows; p++)
        for (uint32_t q = 0; q < t->cols; q++) {
            const float *xt = x + p * t->x_row + q * t->x_col;
            for (size_t c = 0; c < t->channels; c++) y[c] += xt[c];
        }
    for (size_t c = 0; c < t->channels; c++) y[c] = clamp(y[c] / divisor, lo, hi);
}

static CPU_TARGET void pool_square_f32(const struct cpu_taps *t, const float *restrict x, float divisor, float lo,
                                       float hi, float *restrict y) {
    for (size_t c = 0; c < t->channels; c++) y[c] = 0;
    for (uint32_t p = 0; p < t->rows; p++)
        for (uint32_t q = 0; q < t->cols; q++) {
            const float *xt = x + p * t->x_row + q * t->x_col;
            for (size_t c = 0; c < t->channels; c++) y[c] += xt[c] * xt[c];
        }
    for (size_t c = 0; c < t->channels; c++) y[c] = clamp(sqrtf(y[c] / divisor), lo, hi);
}

static CPU_TARGET void pool_max_f32(const struct cpu_taps *t, const float *restrict x, float lo, float hi,
                                    float *restrict y) {
    for (size_t c = 0; c < t->channels; c++) y[c] = x[c];
    for (uint32_t p = 0; p < t->rows; p++)
        for (uint32_t q = 0; q < t->cols; q++) {
            const float *xt = x + p * t->x_row + q * t->x_col;
            for (size_t c = 0; c < t->channels; c++) y[c] = xt[c] > y[c] ? xt[c] : y[c];
        }
    for (size_t c = 0; c < t->channels; c++) y[c] = clamp(y[c], lo, hi);
}

static CPU_TARGET void pool_max_u8(const struct cpu_taps *t, const uint8_t *restrict x, int32_t lo, int32_t hi,
                                   uint8_t *restrict y) {
    for (size_t c = 0; c < t->channels; c++) y[c] = x[c];
    for (uint32_t p = 0; p < t->rows; p++)
        for (uint32_t q = 0; q < t->cols; q++) {
            const uint8_t *xt = x + p * t->x_row + q * t->x_col;
            for (size_t c = 0; c < t->channels; c++) y[c] = xt[c] > y[c] ? xt[c] : y[c];
        }
    for (size_t c = 0; c < t->channels; c++) y[c] = (uint8_t)(y[c] < lo ? lo : y[c] > hi ? hi : y[c]);
}

/* ---------------------------------------------------------------- elementwise */

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

INLINE float float_of(uint32_t u) {
    float f;
    memcpy(&f, &u, sizeof f);
    return f;
}

INLINE uint32_t bits_of(float f) {
    uint32_t u;
    memcpy(&u, &f, sizeof u);
    return u;
}

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

/* -------------------------------------------------------------------- float16 */

static CPU_TARGET void half_to_float(size_t n, const void *x, float *y) {
    const unsigned char *from = x;
    size_t i = 0;
#if CPU_LEVEL > 0
    for (; i + 8 <= n; i += 8)
        _mm256_storeu_ps(y + i, _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)(const void *)(from + 2 * i))));
#endif
    for (; i < n; i++) {
        uint16_t half;
        memcpy(&half, from + 2 * i, sizeof half);
        y[i] = cpu_half_to_float(half);
    }
}

static CPU_TARGET void float_to_half(size_t n, const float *x, void *y) {
    unsigned char *to = y;
    size_t i = 0;
#if CPU_LEVEL > 0
    for (; i + 8 <= n; i += 8)
        _mm_storeu_si128((__m128i *)(void *)(to + 2 * i),
                         _mm256_cvtps_ph(_mm256_loadu_ps(x + i), _MM_FROUND_TO_NEAREST_INT));
#endif
    for (; i < n; i++) {
        const uint16_t half = cpu_float_to_half(x[i]);
        memcpy(to + 2 * i, &half, sizeof half);
    }
}

static CPU_TARGET void round_to_half(size_t n, float *x) {
    size_t i = 0;
#if CPU_LEVEL > 0
    for (; i + 8 <= n; i += 8)
        _mm256_storeu_ps(x + i, _mm256_cvtph_ps(_mm256_cvtps_ph(_mm256_loadu_ps(x + i), _MM_FROUND_TO_NEAREST_INT)));
#endif
    for (; i < n; i++) x[i] = cpu_half_to_float(cpu_float_to_half(x[i]));
}

#include "kernels_elementwise.h"
#include "kernels_reduce.h"

/** The members of a table, the name apart. */
#define CPU_MEMBERS                                                                                                    \
    .panel = PANEL, .rows = ROWS, .gemm_f32 = gemm_f32, .gemm_s16 = gemm_s16, .depthwise_f32 = depthwise_f32,          \
    .depthwise_s32 = depthwise_s32, .requantize = requantize, .lines_f32 = lines_f32, .pool_sum_f32 = pool_sum_f32,    \
    .pool_max_f32 = pool_max_f32, .pool_square_f32 = pool_square_f32, .pool_max_u8 = pool_max_u8,                      \
    .arithmetic_f32 = {add_f32, sub_f32, mul_f32, div_f32}, .arithmetic_u8 = {add_u8, sub_u8, mul_u8},                 \
    .clamp_f32 = clamp_f32, .clamp_u8 = clamp_u8, .floor_f32 = floor_f32, .logistic_f32 = logistic_f32,                \
    .tanh_f32 = tanh_f32, .softmax_f32 = softmax_f32, .dot_f32 = dot_f32, .dequantize_u8 = dequantize_u8,              \
    .center_u8 = center_u8, .lerp_f32 = lerp_f32, .half_to_float = half_to_float, .float_to_half = float_to_half,      \
    .round_to_half = round_to_half, .max_f32 = max_f32, .min_f32 = min_f32, .pow_f32 = pow_f32,                        \
    .prelu_f32 = prelu_f32, .prelu_u8 = prelu_u8, .compare_f32 = {equal_f32, not_equal_f32, less_f32, less_equal_f32}, \
    .compare_i32 = {equal_i32, not_equal_i32, less_i32, less_equal_i32}, .abs_f32 = abs_f32, .neg_f32 = neg_f32,       \
    .exp_f32 = exp_f32, .log_f32 = log_f32, .sin_f32 = sin_f32, .sqrt_f32 = sqrt_f32, .rsqrt_f32 = rsqrt_f32,          \
    .hard_swish_f32 = hard_swish_f32, .elu_f32 = elu_f32, .log_softmax_f32 = log_softmax_f32,                          \
    .quantize_f32 = quantize_f32, .fold = {fold_sum, fold_product, fold_max, fold_min},                                \
    .fold_rows = {fold_rows_sum, fold_rows_product, fold_rows_max, fold_rows_min}, .squares_f32 = squares_f32,         \
    .squares_rows_f32 = squares_rows_f32, .standardize_f32 = standardize_f32,                                          \
    .standardize_rows_f32 = standardize_rows_f32

static const struct cpu_kernels table = {.name = CPU_LEVEL_NAME, CPU_MEMBERS};
