/* SPDX-License-Identifier: Apache-2.0 */
/** @file vnni_products.c Products of unsigned bytes by signed weights, four at a time. */
#include "vnni_kernels.h"

#if defined(__x86_64__)

#include "vnni_store.h"

enum { ROWS = CPU_VNNI_ROWS, OTHERS = 2 };

INLINE __m512i four(const uint8_t *p) {
    int32_t bytes;
    memcpy(&bytes, p, sizeof bytes);
    return _mm512_set1_epi32(bytes);
}

/* ----------------------------------------------------------------------- tile */

/**
 * rows x (vectors * 16) results; rows and vectors are constants of the caller. A run that is no multiple of 4 bytes
 * overlaps: its second four begin before the first have ended, where the weights are zero.
 */
INLINE void tile(int rows, int vectors, const struct cpu_gemm_u8 *g, const int32_t *corrections, size_t row, size_t col,
                 const int8_t *b) {
    __m512i acc[ROWS][2], others[OTHERS][2];
    UNROLL for (int o = 0; o < OTHERS; o++) for (int v = 0; v < vectors; v++) others[o][v] = _mm512_setzero_si512();
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
            for (int v = 0; rows == 1 && v < vectors; v++) { /* the next step need not wait for this one */
                const __m512i sum = acc[0][v];
                acc[0][v] = others[0][v];
                others[0][v] = others[1][v];
                others[1][v] = sum;
            }
            b += vectors * 64;
            UNROLL for (int i = 0; i < rows; i += 3) {
                a[i / 3] += ahead;
                __asm__("" : "+r"(a[i / 3])); /* one pointer for three rows, not one each */
            }
            ahead = 4;
        }
    }
    for (int v = 0; rows == 1 && v < vectors; v++)
        acc[0][v] = _mm512_add_epi32(acc[0][v], _mm512_add_epi32(others[0][v], others[1][v]));
    const __m512i least = vectors == 2 ? store_wide(rows, g, acc, row, col) : store_narrow(rows, g, acc, row, col);
    if (__builtin_expect(hits_of(least) != 0, 0)) {
        int32_t sums[ROWS * 2 * LANES];
        UNROLL for (int i = 0; i < rows; i++) for (int v = 0; v < vectors; v++)
            _mm512_storeu_si512(sums + (i * vectors + v) * LANES, acc[i][v]);
        mend(g, sums, rows, vectors, row, col);
    }
}

#define TILES(VECTORS)                                                                                                 \
    CPU_TILES_8(VECTORS)                                                                                               \
    CPU_TILE(9, VECTORS)                                                                                               \
    CPU_TILE(10, VECTORS)                                                                                              \
    CPU_TILE(11, VECTORS)                                                                                              \
    CPU_TILE(12, VECTORS)
TILES(1)
TILES(2)
#define NAMES(VECTORS)                                                                                                 \
    { CPU_TILE_NAMES_8(VECTORS), tile_9_##VECTORS, tile_10_##VECTORS, tile_11_##VECTORS, tile_12_##VECTORS }
static const cpu_tile_u8 half_panels[ROWS] = NAMES(1), panels[ROWS] = NAMES(2);

/* -------------------------------------------------------------------- product */

void cpu_vnni_gemm_u8(const struct cpu_gemm_u8 *g) {
    static const struct cpu_tiles_u8 tiles = {ROWS, LANES, {half_panels, panels}, correct};
    cpu_tiles_gemm_u8(g, &tiles);
}

#else

void cpu_vnni_gemm_u8(const struct cpu_gemm_u8 *g) { (void)g; }

#endif
