/* SPDX-License-Identifier: Apache-2.0 */
/** @file arm.h What the products of bytes of Arm share; only for dotprod.c and i8mm.c, which define TARGET. */
#ifndef CPU_ARM_H
#define CPU_ARM_H

#include <arm_neon.h>
#include <string.h>

#include "fixed.h"

#define INLINE static inline __attribute__((always_inline)) TARGET
#define UNROLL _Pragma("GCC unroll 16")

/** An instruction that adds to sums. (gcc 12's intrinsics copy the accumulators of a loop, and store some.) */
#define IN_PLACE(TEXT, SUMS, A, B) __asm__(TEXT : "+w"(SUMS) : "w"(A), "w"(B))

static inline uint32_t word_at(const uint8_t *p) {
    uint32_t word;
    memcpy(&word, p, sizeof word);
    return word;
}

/** Output steps of four sums, times 65536; offset: cpu_fixed_offset(zero point). */
static inline int32x4_t scaled(int32x4_t sums, const float *scale, float32x4_t offset) {
    return vcvtnq_s32_f32(vfmaq_f32(offset, vcvtq_f32_s32(sums), vld1q_f32(scale)));
}

/** Eight words as bytes within lo and hi. */
static inline uint8x8_t bytes_of(int16x8_t words, uint8x8_t lo, uint8x8_t hi) {
    return vmax_u8(vmin_u8(vqmovun_s16(words), hi), lo);
}

/** Writes the first count of 16 bytes, or of 8. */
static inline void store_some(uint8_t *to, uint8x16_t bytes, size_t count) {
    uint8_t all[16];
    vst1q_u8(all, bytes);
    memcpy(to, all, count);
}

#endif
