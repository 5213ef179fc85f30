/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file i8mm.c Products of bytes by USMMLA: two rows by eight values times eight by two columns. A single row goes by
 * USDOT, as do depthwise filters.
 */
#include "arm_kernels.h"

#if CPU_ARM_PRODUCTS

#include "arm.h"
#define TARGET __attribute__((target("arch=armv8.2-a+dotprod+i8mm")))

typedef uint8x16_t values;
INLINE values values_of(uint8x16_t x) { return x; }
INLINE int32x4_t dot(int32x4_t sums, values x, int8x16_t w) { return vusdotq_s32(sums, x, w); }
#define DOT_LANE(SUMS, X, W, LANE) IN_PLACE("sudot %0.4s, %1.16b, %2.4b[" #LANE "]", SUMS, W, X)

enum { PAIRS = CPU_ARM_ROWS / 2 };

/** Adds products of eight values; w: fours of the first and the second half of them, as panels have them. */
INLINE void eight(int rows, int vectors, const uint8x16_t *x, int32x4_t w[2][2], int32x4_t sums[][4]) {
    UNROLL for (int v = 0; v < vectors; v++) {
        const int8x16_t first = vreinterpretq_s8_s32(vzip1q_s32(w[0][v], w[1][v])),
                        second = vreinterpretq_s8_s32(vzip2q_s32(w[0][v], w[1][v]));
        UNROLL for (int p = 0; p < (rows + 1) / 2; p++) {
            IN_PLACE("usmmla %0.4s, %1.16b, %2.16b", sums[p][2 * v], x[p], first);
            IN_PLACE("usmmla %0.4s, %1.16b, %2.16b", sums[p][2 * v + 1], x[p], second);
        }
    }
}

/** The last row of an odd number of them stands twice. */
INLINE int second_of(int rows, int p) { return 2 * p + 1 < rows ? 2 * p + 1 : 2 * p; }

INLINE int32x4_t fours_at(const int8_t *b) { return vreinterpretq_s32_s8(vld1q_s8(b)); }

INLINE void pairs_4(int rows, int vectors, const uint8_t *a, size_t lda, const int8_t *b, int32x4_t sums[][4]) {
    int32x4_t w[2][2];
    uint8x16_t x[PAIRS];
    UNROLL for (int v = 0; v < vectors; v++) w[0][v] = fours_at(b + 16 * v), w[1][v] = vdupq_n_s32(0);
    UNROLL for (int p = 0; p < (rows + 1) / 2; p++) {
        const uint64x2_t first = vdupq_n_u64(word_at(a + (size_t)(2 * p) * lda));
        x[p] = vreinterpretq_u8_u64(vsetq_lane_u64(word_at(a + (size_t)second_of(rows, p) * lda), first, 1));
    }
    eight(rows, vectors, x, w, sums);
}

INLINE void pairs_16(int rows, int vectors, const uint8_t *a, size_t lda, const int8_t *b, int32x4_t sums[][4]) {
    uint8x16_t x[2][PAIRS];
    UNROLL for (int p = 0; p < (rows + 1) / 2; p++) {
        const uint64x2_t first = vreinterpretq_u64_u8(vld1q_u8(a + (size_t)(2 * p) * lda)),
                         second = vreinterpretq_u64_u8(vld1q_u8(a + (size_t)second_of(rows, p) * lda));
        x[0][p] = vreinterpretq_u8_u64(vzip1q_u64(first, second));
        x[1][p] = vreinterpretq_u8_u64(vzip2q_u64(first, second));
    }
    UNROLL for (int h = 0; h < 2; h++) {
        int32x4_t w[2][2];
        UNROLL for (int s = 0; s < 2; s++) for (int v = 0; v < vectors; v++) w[s][v] =
            fours_at(b + 16 * ((2 * h + s) * vectors + v));
        eight(rows, vectors, x[h], w, sums);
    }
}

#define CPU_ARM_PAIRS 1
#include "arm_products.h"
#include "arm_lines.h"

void cpu_i8mm_gemm_u8(const struct cpu_gemm_u8 *g) { cpu_tiles_gemm_u8(g, &all_tiles); }
void cpu_i8mm_lines_u8(const struct cpu_lines_u8 *l) { lines_u8(l); }

#endif
