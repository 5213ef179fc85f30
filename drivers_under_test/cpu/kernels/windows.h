/* SPDX-License-Identifier: Apache-2.0 */
/** @file windows.h Windows, one output pixel at a time: depthwise filters and pools; part of level.h. */

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

INLINE void depthwise_block_u8(size_t vectors, const struct cpu_taps *t, const uint8_t *x, int32_t zero_point,
                               const int32_t *w, int32_t *y) {
    vi acc[4];
    const vi zero = VI_SET1(zero_point);
    UNROLL for (size_t v = 0; v < vectors; v++) acc[v] = VI_SET1(0);
    for (uint32_t p = 0; p < t->rows; p++)
        for (uint32_t q = 0; q < t->cols; q++) {
            const uint8_t *xt = x + p * t->x_row + q * t->x_col;
            const int32_t *wt = w + p * t->w_row + q * t->w_col;
            UNROLL for (size_t v = 0; v < vectors; v++) acc[v] =
                VI_ADD_U8(acc[v], xt + v * LANES, zero, VI_LOAD(wt + v * LANES));
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

/** Defines a pool: a starts as FIRST, becomes NEXT with each tap b, and in the end LAST. */
#define POOL(NAME, TYPE, LIMIT, FIRST, NEXT, LAST, ...)                                                                \
    static CPU_TARGET void NAME(const struct cpu_taps *t, const TYPE *restrict x, __VA_ARGS__ LIMIT lo, LIMIT hi,      \
                                TYPE *restrict y) {                                                                    \
        for (size_t c = 0; c < t->channels; c++) y[c] = FIRST;                                                         \
        for (uint32_t p = 0; p < t->rows; p++)                                                                         \
            for (uint32_t q = 0; q < t->cols; q++) {                                                                   \
                const TYPE *xt = x + p * t->x_row + q * t->x_col;                                                      \
                for (size_t c = 0; c < t->channels; c++) {                                                             \
                    const TYPE a = y[c], b = xt[c];                                                                    \
                    y[c] = NEXT;                                                                                       \
                }                                                                                                      \
            }                                                                                                          \
        for (size_t c = 0; c < t->channels; c++) {                                                                     \
            const TYPE a = y[c];                                                                                       \
            y[c] = (TYPE)(LAST);                                                                                       \
        }                                                                                                              \
    }
POOL(pool_sum_f32, float, float, 0, a + b, clamp(a / divisor, lo, hi), float divisor, )
POOL(pool_square_f32, float, float, 0, a + b * b, clamp(sqrtf(a / divisor), lo, hi), float divisor, )
POOL(pool_max_f32, float, float, x[c], b > a ? b : a, clamp(a, lo, hi), )
POOL(pool_max_u8, uint8_t, int32_t, x[c], b > a ? b : a, a<lo ? lo : a> hi ? hi : a, )
