/* SPDX-License-Identifier: Apache-2.0 */
/** @file vnni_store.h From sums of a product of bytes to its results; only for vnni_products.c and amx_products.c. */
#ifndef CPU_VNNI_STORE_H
#define CPU_VNNI_STORE_H

#include "vnni.h"

enum { LANES = 16, PANEL = 32 };

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
                        cpu_fixed_exact(sums[lane], g->multiplier[at + (size_t)lane], g->zero_point, g->lo, g->hi);
            }
        }
}

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
INLINE __m512i store_wide(int rows, const struct cpu_gemm_u8 *g, __m512i acc[][2], size_t row, size_t col) {
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
INLINE __m512i store_narrow(int rows, const struct cpu_gemm_u8 *g, __m512i acc[][2], size_t row, size_t col) {
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

#endif
