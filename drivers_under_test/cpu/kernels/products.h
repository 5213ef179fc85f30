/* SPDX-License-Identifier: Apache-2.0 */
/** @file products.h Products of rows with packed weights; part of level.h. */

#if CPU_LEVEL == 3
/** Adds four products to each sum: values of a row are loaded at once, and multiplied lane by lane. */
#define FMA_LANE(LANE)                                                                                                 \
    UNROLL for (int i = 0; i < rows; i++) for (size_t v = 0; v < vectors; v++) acc[i][v] =                             \
        VF_FMA_LANE(x[i], VF_LOAD(b + (LANE * vectors + v) * LANES), LANE, acc[i][v]);
INLINE void add_four(int rows, size_t vectors, const float *const *a, size_t lda, const float *b, vf acc[][2]) {
    vf x[MOST_F32_ROWS];
    UNROLL for (int i = 0; i < rows; i++) x[i] = VF_LOAD(a[i / 3] + (size_t)(i % 3) * lda);
    FMA_LANE(0)
    FMA_LANE(1)
    FMA_LANE(2)
    FMA_LANE(3)
}
#endif

/** What a tile fetches while it computes, a row at a step, so that nothing waits for all of them at once. */
struct ahead {
    const float *to, *last; /**< where its results go */
    const float *from; /**< the next tile's rows if they are short: they end before they are seen coming; or NULL */
};

INLINE struct ahead ahead_of(const struct cpu_gemm_f32 *g, size_t row, size_t rows, size_t col) {
    const float *to = g->c + row * g->ldc + col;
    const bool is_short = g->runs == 1 && g->length <= SHORT_ROW && row + 2 * rows <= g->m;
    return (struct ahead){to, to + rows * g->ldc, is_short ? g->a[0] + (row + rows) * g->lda : NULL};
}

INLINE void fetch_row(const struct cpu_gemm_f32 *g, size_t columns, struct ahead *f) {
    if (f->to == f->last) return;
    for (size_t i = 0; i < columns; i += LINE) __builtin_prefetch(f->to + i, 1);
    f->to += g->ldc;
    if (!f->from) return;
    for (size_t i = 0; i < g->length; i += LINE) __builtin_prefetch(f->from + i);
    f->from += g->lda;
}

/** One tile: rows x vectors * LANES columns; both are constants of the caller. */
INLINE void tile_f32(int rows, size_t vectors, const struct cpu_gemm_f32 *g, size_t row, size_t col, const float *b) {
    vf acc[MOST_F32_ROWS][2];
    const size_t lda = g->lda, width = g->n - col, columns = vectors * LANES;
    UNROLL for (int i = 0; i < rows; i++) for (size_t v = 0; v < vectors; v++) acc[i][v] =
        VF_LOAD(g->bias + col + v * LANES);
    struct ahead ahead = ahead_of(g, row, (size_t)rows, col);
    for (size_t r = 0; r < g->runs; r++) {
        const float *a[(MOST_F32_ROWS + 2) / 3];
        UNROLL for (int i = 0; i < rows; i += 3) a[i / 3] = g->a[r] + (row + (size_t)i) * lda;
        size_t k = 0;
#if CPU_LEVEL == 3
        for (; k + 4 <= g->length; k += 4, b += 4 * columns) {
            fetch_row(g, columns, &ahead);
            add_four(rows, vectors, a, lda, b, acc);
            UNROLL for (int i = 0; i < rows; i += 3) a[i / 3] += 4;
        }
#endif
        for (; k < g->length; k++, b += columns) {
            fetch_row(g, columns, &ahead);
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
        b += g->gap * columns;
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

#define TILE_F32(ROWS, VECTORS)                                                                                        \
    case ROWS:                                                                                                         \
        tile_f32(ROWS, VECTORS, g, row, col, b);                                                                       \
        break;
#define TILE_F32_SIX(EACH, VECTORS)                                                                                    \
    EACH(1, VECTORS)                                                                                                   \
    EACH(2, VECTORS)                                                                                                   \
    EACH(3, VECTORS)                                                                                                   \
    EACH(4, VECTORS)                                                                                                   \
    EACH(5, VECTORS)                                                                                                   \
    EACH(6, VECTORS)
#if CPU_LEVEL == 2
#define TILE_F32_HEIGHTS(EACH, VECTORS)                                                                                \
    TILE_F32_SIX(EACH, VECTORS)                                                                                        \
    EACH(7, VECTORS)                                                                                                   \
    EACH(8, VECTORS)                                                                                                   \
    EACH(9, VECTORS)                                                                                                   \
    EACH(10, VECTORS)                                                                                                  \
    EACH(11, VECTORS)                                                                                                  \
    EACH(12, VECTORS)                                                                                                  \
    EACH(13, VECTORS)                                                                                                  \
    EACH(14, VECTORS)
#elif CPU_LEVEL == 3
#define TILE_F32_HEIGHTS(EACH, VECTORS)                                                                                \
    TILE_F32_SIX(EACH, VECTORS)                                                                                        \
    EACH(7, VECTORS)                                                                                                   \
    EACH(8, VECTORS)
#else
#define TILE_F32_HEIGHTS TILE_F32_SIX
#endif

/** A tile of `rows` rows of a panel, in this function: a call for each would cost short products a tenth. */
INLINE void tiles_f32(const struct cpu_gemm_f32 *g, size_t row, size_t rows, size_t col) {
    const float *b = g->b + col * g->depth + g->skip * (g->n - col <= LANES ? LANES : PANEL);
    if (g->n - col <= LANES) switch (rows) {
            TILE_F32_HEIGHTS(TILE_F32, 1)
        }
    else
        switch (rows) { TILE_F32_HEIGHTS(TILE_F32, 2) }
}

/** As many panels at once as stay near: rows are read and results written in the order in which they lie. */
static CPU_TARGET void gemm_f32(const struct cpu_gemm_f32 *g) {
    if (g->m == 0) return;
    const size_t k = g->runs * g->length, count = (g->m + F32_ROWS - 1) / F32_ROWS;
    const size_t height = g->m / count, taller = g->m % count;
    const size_t fitting = NEAR_FLOATS / (k ? k : 1) / PANEL * PANEL, group = fitting ? fitting : PANEL;
    for (size_t first = 0; first < g->n; first += group) {
        const size_t end = g->n - first < group ? g->n : first + group;
        for (size_t row = 0, rows; row < g->m; row += rows) { /* tiles of nearly equal heights */
            rows = row < taller * (height + 1) ? height + 1 : height;
            for (size_t col = first; col < end; col += PANEL) tiles_f32(g, row, rows, col);
        }
    }
}

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
    vw acc[MOST_ROWS][2];
    const size_t lda = g->lda, width = g->n - col < PANEL ? g->n - col : PANEL;
    UNROLL for (int i = 0; i < rows; i++) acc[i][0] = acc[i][1] = VW_ZERO;
    for (size_t k = 0; k < g->k; k += 2, b += 2 * PANEL) {
        const vi b0 = VI_LOAD(b), b1 = VI_LOAD(b + PANEL);
        UNROLL for (int i = 0; i < rows; i++) {
            const vi x = VI_SET1(pair_at(a + (size_t)i * lda + k));
            acc[i][0] = VW_MADD16(acc[i][0], x, b0);
            acc[i][1] = VW_MADD16(acc[i][1], x, b1);
        }
    }
    int32_t sums[MOST_ROWS][PANEL];
    UNROLL for (int i = 0; i < rows; i++) {
        VI_STORE(sums[i], VW_SUMS(acc[i][0]));
        VI_STORE(sums[i] + LANES, VW_SUMS(acc[i][1]));
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
