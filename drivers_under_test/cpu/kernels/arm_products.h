/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file arm_products.h Products of bytes; part of dotprod.c and i8mm.c, which have defined `values`, values_of, dot and
 * DOT_LANE, and of two rows at once (CPU_ARM_PAIRS) pairs_4 and pairs_16.
 */

enum { LANES = 4, ROWS = CPU_ARM_ROWS, PANEL = 2 * LANES };

/* ------------------------------------------------------------------------ sums */

/** Adds four products of each row: sums[row][vector]. */
INLINE void dots_4(int rows, int vectors, const uint8_t *a, size_t lda, const int8_t *b, int32x4_t sums[][4]) {
    int8x16_t w[2];
    for (int v = 0; v < vectors; v++) w[v] = vld1q_s8(b + 16 * v);
    UNROLL for (int i = 0; i < rows; i++) {
        const values x = values_of(vreinterpretq_u8_u32(vdupq_n_u32(word_at(a + (size_t)i * lda))));
        for (int v = 0; v < vectors; v++) sums[i][v] = dot(sums[i][v], x, w[v]);
    }
}

/** Sixteen, from four fours of the panel; of one row each four have sums of their own, which need not wait. */
#define DOTS_LANE(LANE)                                                                                                \
    UNROLL for (int i = 0; i < rows; i++) for (int v = 0; v < vectors; v++) {                                          \
        const int at = rows == 1 ? LANE : i;                                                                           \
        DOT_LANE(sums[at][v], x[i], vld1q_s8(b + 16 * (LANE * vectors + v)), LANE);                                    \
    }
INLINE void dots_16(int rows, int vectors, const uint8_t *a, size_t lda, const int8_t *b, int32x4_t sums[][4]) {
    values x[ROWS];
    UNROLL for (int i = 0; i < rows; i++) x[i] = values_of(vld1q_u8(a + (size_t)i * lda));
    DOTS_LANE(0)
    DOTS_LANE(1)
    DOTS_LANE(2)
    DOTS_LANE(3)
}

#if CPU_ARM_PAIRS
#define SUM(COUNT, ROWS, ...) ROWS == 1 ? dots_##COUNT(ROWS, __VA_ARGS__) : pairs_##COUNT(ROWS, __VA_ARGS__)
#else
#define SUM(COUNT, ...) dots_##COUNT(__VA_ARGS__)
#endif

/**
 * Adds all products of some rows. Of a run that is no multiple of four the second four begin before the first have
 * ended, where the weights are zero.
 */
INLINE void sum_all(int rows, int vectors, const struct cpu_gemm_u8 *g, size_t row, const int8_t *b,
                    int32x4_t sums[][4]) {
    const size_t lda = g->lda, odd = g->length % 4, step = 16 * (size_t)vectors;
    for (size_t r = 0; r < g->runs; r++) {
        const uint8_t *a = g->a[r] + row * lda;
        size_t fours = (g->length + 3) / 4;
        if (odd) {
            SUM(4, rows, vectors, a, lda, b, sums);
            a += odd, b += step, fours--;
        }
        for (; fours >= 4; fours -= 4, a += 16, b += 4 * step) SUM(16, rows, vectors, a, lda, b, sums);
        for (; fours; fours--, a += 4, b += step) SUM(4, rows, vectors, a, lda, b, sums);
    }
}

/** Sums of row i in the order of the panel. */
INLINE int32x4_t row_of(int rows, int32x4_t sums[][4], int i, int v) {
    if (rows == 1) return vaddq_s32(vaddq_s32(sums[0][v], sums[1][v]), vaddq_s32(sums[2][v], sums[3][v]));
#if CPU_ARM_PAIRS
    const int64x2_t first = vreinterpretq_s64_s32(sums[i / 2][2 * v]),
                    second = vreinterpretq_s64_s32(sums[i / 2][2 * v + 1]);
    return vreinterpretq_s32_s64(i % 2 ? vzip2q_s64(first, second) : vzip1q_s64(first, second));
#else
    return sums[i][v];
#endif
}

/* --------------------------------------------------------------------- results */

/** Column of a lane: two vectors of a panel hold its even and its odd columns. */
static inline size_t column(int vectors, int v, int lane) { return (size_t)(vectors == 2 ? 2 * lane + v : lane); }

/** A tile whose sums are not all beyond doubt, anew. */
static __attribute__((noinline)) void mend(const struct cpu_gemm_u8 *g, const int32_t *sums, int rows, int vectors,
                                           size_t row, size_t col) {
    for (int i = 0; i < rows; i++)
        for (int at = 0; at < vectors * LANES; at++, sums++) {
            const size_t c = col + column(vectors, at / LANES, at % LANES);
            if (c < g->n)
                g->c[(row + (size_t)i) * g->ldc + c] =
                    cpu_fixed_exact(*sums, g->multiplier[col + (size_t)at], g->zero_point, g->lo, g->hi);
        }
}

/** rows x (vectors * LANES) results; rows and vectors are constants of the caller. */
INLINE void tile(int rows, int vectors, const struct cpu_gemm_u8 *g, const int32_t *corrections, size_t row, size_t col,
                 const int8_t *b) {
    int32x4_t sums[ROWS][4], done[ROWS][2];
    UNROLL for (int i = 0; i < ROWS; i++) UNROLL for (int v = 0; v < 4; v++) sums[i][v] = vdupq_n_s32(0);
    sum_all(rows, vectors, g, row, b, sums);
    const float32x4_t offset = vdupq_n_f32(cpu_fixed_offset(g->zero_point));
    const uint8x8_t lo = vdup_n_u8((uint8_t)g->lo), hi = vdup_n_u8((uint8_t)g->hi);
    const size_t width = g->n - col < (size_t)(vectors * LANES) ? g->n - col : (size_t)(vectors * LANES);
    uint8_t *c = g->c + row * g->ldc + col;
    uint16x8_t least = vdupq_n_u16(UINT16_MAX);
    UNROLL for (int i = 0; i < rows; i++, c += g->ldc) {
        int16x8_t f[2];
        for (int v = 0; v < vectors; v++) {
            done[i][v] = vaddq_s32(row_of(rows, sums, i, v), vld1q_s32(g->bias + col + v * LANES));
            if (corrections) done[i][v] = vaddq_s32(done[i][v], vdupq_n_s32(corrections[i]));
            f[v] = vreinterpretq_s16_s32(scaled(done[i][v], g->scale + col + v * LANES, offset));
        }
        const int16x8_t low = vectors == 2 ? vtrn1q_s16(f[0], f[1]) : vuzp1q_s16(f[0], f[0]),
                        high = vectors == 2 ? vtrn2q_s16(f[0], f[1]) : vuzp2q_s16(f[0], f[0]);
        const uint8x8_t bytes = bytes_of(high, lo, hi);
        least = vminq_u16(least, vreinterpretq_u16_s16(low));
        if (width == PANEL)
            vst1_u8(c, bytes);
        else
            store_some(c, vcombine_u8(bytes, bytes), width);
    }
    if (__builtin_expect(vminvq_u16(least) < CPU_FIXED_BAND, 0)) {
        int32_t all[ROWS * PANEL];
        UNROLL for (int i = 0; i < rows; i++) for (int v = 0; v < vectors; v++)
            vst1q_s32(all + (i * vectors + v) * LANES, done[i][v]);
        mend(g, all, rows, vectors, row, col);
    }
}

CPU_TILES_8(1)
CPU_TILES_8(2)
static const cpu_tile_u8 half_panels[ROWS] = {CPU_TILE_NAMES_8(1)}, panels[ROWS] = {CPU_TILE_NAMES_8(2)};

/** struct cpu_tiles_u8.correct. */
static TARGET void correct(const struct cpu_gemm_u8 *g, size_t row, size_t rows, int32_t *corrections) {
    const uint8x16_t ones = vdupq_n_u8(1);
    for (size_t i = 0; i < rows; i++) {
        uint32x4_t sums = vdupq_n_u32(0);
        uint32_t rest = 0;
        for (size_t r = 0; r < g->runs; r++) {
            const uint8_t *a = g->a[r] + (row + i) * g->lda;
            size_t k = 0;
            for (; k + 16 <= g->length; k += 16) sums = vdotq_u32(sums, vld1q_u8(a + k), ones);
            for (; k < g->length; k++) rest += a[k];
        }
        corrections[i] = (int32_t)((vaddvq_u32(sums) + rest) * (uint32_t)g->correction);
    }
}

static const struct cpu_tiles_u8 all_tiles = {ROWS, LANES, {half_panels, panels}, correct};
