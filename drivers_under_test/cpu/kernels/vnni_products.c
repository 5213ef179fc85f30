/* SPDX-License-Identifier: Apache-2.0 */
/** @file vnni_products.c Products of unsigned bytes by signed weights, four at a time. */
#include "vnni_kernels.h"

#if defined(__x86_64__)

#include "vnni.h"

enum { ROWS = CPU_VNNI_ROWS, LANES = 16, PANEL = 32, BLOCK = 20 * ROWS };

INLINE __m512i four(const uint8_t *p) {
    int32_t bytes;
    memcpy(&bytes, p, sizeof bytes);
    return _mm512_set1_epi32(bytes);
}

/** Column of a lane: two vectors of a panel hold its even and its odd columns. */
INLINE size_t column(int vectors, int v, int lane) { return (size_t)(vectors == 2 ? 2 * lane + v : lane); }

/** Mends what lies within the band, in a tile that is stored already. */
static __attribute__((noinline)) TARGET void mend(const struct cpu_gemm_u8 *g, const int32_t *sums, int rows,
                                                  int vectors, size_t row, size_t col) {
    const __m512 offset = offset_of(g->zero_point);
    for (int i = 0; i < rows; i++)
        for (int v = 0; v < vectors; v++, sums += LANES) {
            const size_t at = col + (size_t)v * LANES;
            const __m512i f = scaled(_mm512_loadu_si512(sums), g->scale + at, offset);
            uint32_t hits = hits_of(f);
            for (; hits; hits &= hits - 1) {
                const int lane = __builtin_ctz(hits) / 2;
                const size_t c = col + column(vectors, v, lane);
                if (c < g->n)
                    g->c[(row + (size_t)i) * g->ldc + c] =
                        vnni_exact(sums[lane], g->multiplier[at + lane], g->zero_point, g->lo, g->hi);
            }
        }
}

/* ----------------------------------------------------------------------- tile */

/** The bytes of two rows of 32 columns. */
INLINE void store_two(const struct cpu_gemm_u8 *g, __m512i bytes, uint8_t *first, uint8_t *second, __mmask32 mask) {
    bytes = _mm512_max_epu8(_mm512_min_epu8(bytes, _mm512_set1_epi8((char)g->hi)), _mm512_set1_epi8((char)g->lo));
    bytes = _mm512_permutexvar_epi64(_mm512_setr_epi64(0, 2, 4, 6, 1, 3, 5, 7), bytes);
    if (mask == UINT32_MAX) {
        _mm256_storeu_si256((__m256i *)(void *)first, _mm512_castsi512_si256(bytes));
        _mm256_storeu_si256((__m256i *)(void *)second, _mm512_extracti64x4_epi64(bytes, 1));
    } else {
        _mm256_mask_storeu_epi8(first, mask, _mm512_castsi512_si256(bytes));
        _mm256_mask_storeu_epi8(second, mask, _mm512_extracti64x4_epi64(bytes, 1));
    }
}

/** Stores a tile of 32 columns; the least low halves that were met. */
INLINE __m512i store_wide(int rows, const struct cpu_gemm_u8 *g, __m512i acc[ROWS][2], size_t row, size_t col) {
    const __m512 offset = offset_of(g->zero_point);
    const size_t width = g->n - col;
    const __mmask32 mask = width >= PANEL ? UINT32_MAX : (1u << width) - 1;
    uint8_t *c = g->c + row * g->ldc + col;
    __m512i least = _mm512_set1_epi32(-1);
    UNROLL for (int i = 0; i < rows; i += 2) {
        __m512i words[2];
        for (int j = 0; j < 2; j++) {
            const int at = i + j < rows ? i + j : i;
            const __m512i even = scaled(acc[at][0], g->scale + col, offset),
                          odd = scaled(acc[at][1], g->scale + col + LANES, offset);
            least = _mm512_min_epu16(least, _mm512_min_epu16(even, odd));
            words[j] = _mm512_mask_blend_epi16(0xaaaaaaaa, _mm512_srli_epi32(even, 16), odd);
        }
        uint8_t *first = c + (size_t)i * g->ldc;
        store_two(g, _mm512_packus_epi16(words[0], words[1]), first, i + 1 < rows ? first + g->ldc : first, mask);
    }
    return least;
}

/** The same of 16 columns. */
INLINE __m512i store_narrow(int rows, const struct cpu_gemm_u8 *g, __m512i acc[ROWS][2], size_t row, size_t col) {
    const __m512 offset = offset_of(g->zero_point);
    const size_t width = g->n - col;
    const __mmask16 mask = (__mmask16)(width >= LANES ? UINT16_MAX : (1u << width) - 1);
    uint8_t *c = g->c + row * g->ldc + col;
    __m512i least = _mm512_set1_epi32(-1);
    UNROLL for (int i = 0; i < rows; i++, c += g->ldc) {
        const __m512i f = scaled(acc[i][0], g->scale + col, offset);
        least = _mm512_min_epu16(least, f);
        __m128i bytes = _mm512_cvtusepi32_epi8(_mm512_max_epi32(_mm512_srai_epi32(f, 16), _mm512_setzero_si512()));
        bytes = _mm_max_epu8(_mm_min_epu8(bytes, _mm_set1_epi8((char)g->hi)), _mm_set1_epi8((char)g->lo));
        if (width >= LANES)
            _mm_storeu_si128((__m128i *)(void *)c, bytes);
        else
            _mm_mask_storeu_epi8(c, mask, bytes);
    }
    return least;
}

/**
 * rows x (vectors * 16) results; rows and vectors are constants of the caller. A run that is no multiple of 4 bytes
 * overlaps: its second four begin before the first have ended, where the weights are zero.
 */
INLINE void tile(int rows, int vectors, const struct cpu_gemm_u8 *g, const int32_t *corrections, size_t row, size_t col,
                 const int8_t *b) {
    __m512i acc[ROWS][2];
    const size_t lda = g->lda, steps = (g->length + 3) / 4, odd = g->length % 4;
    if (corrections) {
        UNROLL for (int i = 0; i < rows; i++) for (int v = 0; v < vectors; v++) acc[i][v] =
            _mm512_add_epi32(_mm512_loadu_si512(g->bias + col + v * LANES), _mm512_set1_epi32(corrections[i]));
    } else {
        UNROLL for (int i = 0; i < rows; i++) for (int v = 0; v < vectors; v++) acc[i][v] =
            _mm512_loadu_si512(g->bias + col + v * LANES);
    }
    for (size_t r = 0; r < g->runs; r++) {
        const uint8_t *a[(ROWS + 2) / 3];
        UNROLL for (int i = 0; i < rows; i += 3) a[i / 3] = g->a[r] + (row + (size_t)i) * lda;
        size_t ahead = odd ? odd : 4;
        for (size_t s = 0; s < steps; s++) {
            __m512i w[2];
            for (int v = 0; v < vectors; v++) w[v] = _mm512_loadu_si512(b + v * 64);
            UNROLL for (int i = 0; i < rows; i++) {
                const __m512i x = four(a[i / 3] + (size_t)(i % 3) * lda);
                for (int v = 0; v < vectors; v++) acc[i][v] = dot(acc[i][v], x, w[v]);
            }
            b += vectors * 64;
            UNROLL for (int i = 0; i < rows; i += 3) {
                a[i / 3] += ahead;
                __asm__("" : "+r"(a[i / 3])); /* one pointer for three rows, not one each */
            }
            ahead = 4;
        }
    }
    const __m512i least = vectors == 2 ? store_wide(rows, g, acc, row, col) : store_narrow(rows, g, acc, row, col);
    if (__builtin_expect(hits_of(least) != 0, 0)) {
        int32_t sums[ROWS * 2 * LANES];
        UNROLL for (int i = 0; i < rows; i++) for (int v = 0; v < vectors; v++)
            _mm512_storeu_si512(sums + (i * vectors + v) * LANES, acc[i][v]);
        mend(g, sums, rows, vectors, row, col);
    }
}

typedef void (*tile_fn)(const struct cpu_gemm_u8 *g, const int32_t *corrections, size_t row, size_t col,
                        const int8_t *b);
#define TILE(ROWS, VECTORS)                                                                                            \
    static TARGET void tile_##ROWS##_##VECTORS(const struct cpu_gemm_u8 *g, const int32_t *corrections, size_t row,    \
                                               size_t col, const int8_t *b) {                                          \
        tile(ROWS, VECTORS, g, corrections, row, col, b);                                                              \
    }
#define TILES(VECTORS)                                                                                                 \
    TILE(1, VECTORS)                                                                                                   \
    TILE(2, VECTORS)                                                                                                   \
    TILE(3, VECTORS)                                                                                                   \
    TILE(4, VECTORS)                                                                                                   \
    TILE(5, VECTORS)                                                                                                   \
    TILE(6, VECTORS)                                                                                                   \
    TILE(7, VECTORS)                                                                                                   \
    TILE(8, VECTORS)                                                                                                   \
    TILE(9, VECTORS)                                                                                                   \
    TILE(10, VECTORS)                                                                                                  \
    TILE(11, VECTORS)                                                                                                  \
    TILE(12, VECTORS)
TILES(1)
TILES(2)
#define NAMES(VECTORS)                                                                                                 \
    {                                                                                                                  \
        tile_1_##VECTORS, tile_2_##VECTORS, tile_3_##VECTORS, tile_4_##VECTORS, tile_5_##VECTORS, tile_6_##VECTORS,    \
            tile_7_##VECTORS, tile_8_##VECTORS, tile_9_##VECTORS, tile_10_##VECTORS, tile_11_##VECTORS,                \
            tile_12_##VECTORS                                                                                          \
    }
static const tile_fn tiles[2][ROWS] = {NAMES(1), NAMES(2)};

/* -------------------------------------------------------------------- product */

/** correction times the sum of the values of each row. */
static TARGET void correct(const struct cpu_gemm_u8 *g, size_t row, size_t rows, int32_t *corrections) {
    const __m512i ones = _mm512_set1_epi8(1);
    const __mmask64 rest = (1ull << (g->length % 64)) - 1;
    for (size_t i = 0; i < rows; i++) {
        __m512i sums = _mm512_setzero_si512();
        for (size_t r = 0; r < g->runs; r++) {
            const uint8_t *a = g->a[r] + (row + i) * g->lda;
            size_t k = 0;
            for (; k + 64 <= g->length; k += 64) sums = dot(sums, _mm512_loadu_si512(a + k), ones);
            if (rest) sums = dot(sums, _mm512_maskz_loadu_epi8(rest, a + k), ones);
        }
        corrections[i] = (int32_t)((uint32_t)_mm512_reduce_add_epi32(sums) * (uint32_t)g->correction);
    }
}

TARGET void cpu_vnni_gemm_u8(const struct cpu_gemm_u8 *g) {
    const size_t steps = (g->length + 3) / 4 * g->runs;
    for (size_t first = 0; first < g->m; first += BLOCK) {
        const size_t m = g->m - first < BLOCK ? g->m - first : BLOCK, count = (m + ROWS - 1) / ROWS;
        const int8_t *b = g->b;
        int32_t corrections[BLOCK];
        if (g->correction) correct(g, first, m, corrections);
        for (size_t col = 0; col < g->n; col += PANEL) {
            const int vectors = g->n - col > LANES ? 2 : 1;
            for (size_t t = 0; t < count; t++) { /* tiles of nearly equal heights */
                const size_t row = m * t / count, rows = m * (t + 1) / count - row;
                tiles[vectors - 1][rows - 1](g, g->correction ? corrections + row : NULL, first + row, col, b);
            }
            b += steps * (size_t)vectors * 64;
        }
    }
}

#else

void cpu_vnni_gemm_u8(const struct cpu_gemm_u8 *g) { (void)g; }

#endif
