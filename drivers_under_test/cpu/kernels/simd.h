/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file simd.h Vectors of one instruction set, chosen by CPU_LEVEL (0 base, 1 AVX2, 2 AVX-512, 3 NEON of 64-bit Arm);
 * included once by level.h. Functions that use them must be marked CPU_TARGET.
 */
#ifndef CPU_LEVEL
#error "CPU_LEVEL must be defined"
#endif

#include <stddef.h>
#include <stdint.h>

#if defined(__x86_64__)
#include <immintrin.h>
#elif CPU_LEVEL == 3
#include <arm_neon.h>
#endif

#if CPU_LEVEL == 2

#define CPU_TARGET __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx2,fma,f16c")))
enum { LANES = 16, ROWS = 8 };
typedef __m512 vf;
typedef __m512i vi;
#define VF_SET1(X) _mm512_set1_ps(X)
#define VF_LOAD(P) _mm512_loadu_ps(P)
#define VF_STORE(P, V) _mm512_storeu_ps(P, V)
#define VF_FMA(A, B, C) _mm512_fmadd_ps(A, B, C)
#define VF_MIN(A, B) _mm512_min_ps(A, B) /* B if one is a NaN */
#define VF_MAX(A, B) _mm512_max_ps(A, B)
#define VI_SET1(X) _mm512_set1_epi32(X)
#define VI_LOAD(P) _mm512_loadu_si512(P)
#define VI_STORE(P, V) _mm512_storeu_si512(P, V)
#define VI_ADD(A, B) _mm512_add_epi32(A, B)
#define VI_SUB(A, B) _mm512_sub_epi32(A, B)
#define VI_MADD16(A, B) _mm512_madd_epi16(A, B)
#define VI_LOAD_U8(P) _mm512_cvtepu8_epi32(_mm_loadu_si128((const __m128i *)(const void *)(P)))

#elif CPU_LEVEL == 1

#define CPU_TARGET __attribute__((target("avx2,fma,f16c")))
enum { LANES = 8, ROWS = 6 };
typedef __m256 vf;
typedef __m256i vi;
#define VF_SET1(X) _mm256_set1_ps(X)
#define VF_LOAD(P) _mm256_loadu_ps(P)
#define VF_STORE(P, V) _mm256_storeu_ps(P, V)
#define VF_FMA(A, B, C) _mm256_fmadd_ps(A, B, C)
#define VF_MIN(A, B) _mm256_min_ps(A, B)
#define VF_MAX(A, B) _mm256_max_ps(A, B)
#define VI_SET1(X) _mm256_set1_epi32(X)
#define VI_LOAD(P) _mm256_loadu_si256((const __m256i *)(const void *)(P))
#define VI_STORE(P, V) _mm256_storeu_si256((__m256i *)(void *)(P), V)
#define VI_ADD(A, B) _mm256_add_epi32(A, B)
#define VI_SUB(A, B) _mm256_sub_epi32(A, B)
#define VI_MADD16(A, B) _mm256_madd_epi16(A, B)
#define VI_LOAD_U8(P) _mm256_cvtepu8_epi32(_mm_loadl_epi64((const __m128i *)(const void *)(P)))

#elif CPU_LEVEL == 3

#define CPU_TARGET
enum { LANES = 4, ROWS = 4 };
typedef float32x4_t vf;
typedef int32x4_t vi;
typedef int32x4x2_t vw;
#define VF_SET1(X) vdupq_n_f32(X)
#define VF_LOAD(P) vld1q_f32(P)
#define VF_STORE(P, V) vst1q_f32(P, V)
#define VF_FMA(A, B, C) vfmaq_f32(C, A, B)
#define VF_FMA_LANE(A, B, LANE, C) vfmaq_laneq_f32(C, B, A, LANE) /* of A one lane */
#define VF_MIN(A, B) vminq_f32(A, B)                              /* a NaN stays */
#define VF_MAX(A, B) vmaxq_f32(A, B)
#define VI_SET1(X) vdupq_n_s32(X)
#define VI_LOAD(P) vreinterpretq_s32_u8(vld1q_u8((const uint8_t *)(const void *)(P)))
#define VI_STORE(P, V) vst1q_s32(P, V)
#define VI_ADD_U8(SUMS, P, ZERO, W) simd_add_u8(SUMS, P, ZERO, W)
/* the products of a pair stay apart until the end: adding them costs an instruction */
#define VW_ZERO ((int32x4x2_t){{{0}, {0}}})
#define VW_MADD16(SUMS, A, B) simd_madd16(SUMS, vreinterpretq_s16_s32(A), vreinterpretq_s16_s32(B))
#define VW_SUMS(SUMS) vpaddq_s32((SUMS).val[0], (SUMS).val[1])
static inline int32x4x2_t simd_madd16(int32x4x2_t sums, int16x8_t a, int16x8_t b) {
    sums.val[0] = vmlal_s16(sums.val[0], vget_low_s16(a), vget_low_s16(b));
    sums.val[1] = vmlal_high_s16(sums.val[1], a, b);
    return sums;
}
static inline int32x4_t simd_add_u8(int32x4_t sums, const uint8_t *p, int32x4_t zero, int32x4_t w) {
    uint32_t bytes;
    __builtin_memcpy(&bytes, p, sizeof bytes);
    const uint16x8_t x = vmovl_u8(vreinterpret_u8_u32(vdup_n_u32(bytes)));
    return vmlal_s16(sums, vsub_s16(vreinterpret_s16_u16(vget_low_u16(x)), vmovn_s32(zero)), vmovn_s32(w));
}

#elif defined(__x86_64__)

#define CPU_TARGET
enum { LANES = 4, ROWS = 4 };
typedef __m128 vf;
typedef __m128i vi;
#define VF_SET1(X) _mm_set1_ps(X)
#define VF_LOAD(P) _mm_loadu_ps(P)
#define VF_STORE(P, V) _mm_storeu_ps(P, V)
#define VF_FMA(A, B, C) _mm_add_ps(_mm_mul_ps(A, B), C)
#define VF_MIN(A, B) _mm_min_ps(A, B)
#define VF_MAX(A, B) _mm_max_ps(A, B)
#define VI_SET1(X) _mm_set1_epi32(X)
#define VI_LOAD(P) _mm_loadu_si128((const __m128i *)(const void *)(P))
#define VI_STORE(P, V) _mm_storeu_si128((__m128i *)(void *)(P), V)
#define VI_ADD(A, B) _mm_add_epi32(A, B)
#define VI_SUB(A, B) _mm_sub_epi32(A, B)
#define VI_MADD16(A, B) _mm_madd_epi16(A, B)
#define VI_LOAD_U8(P) _mm_setr_epi32((P)[0], (P)[1], (P)[2], (P)[3])

#else /* one lane, any processor */

#define CPU_TARGET
enum { LANES = 1, ROWS = 4 };
typedef float vf;
typedef int32_t vi;
static inline int32_t simd_madd16(int32_t a, int32_t b) {
    int32_t low = (int32_t)(int16_t)(a & 0xffff) * (int16_t)(b & 0xffff);
    int32_t high = (int32_t)(int16_t)((uint32_t)a >> 16) * (int16_t)((uint32_t)b >> 16);
    return (int32_t)((uint32_t)low + (uint32_t)high);
}
static inline int32_t simd_load(const void *p) {
    int32_t v;
    __builtin_memcpy(&v, p, sizeof v);
    return v;
}
#define VF_SET1(X) (X)
#define VF_LOAD(P) (*(P))
#define VF_STORE(P, V) (*(P) = (V))
#define VF_FMA(A, B, C) ((A) * (B) + (C))
#define VF_MIN(A, B) ((A) < (B) ? (A) : (B))
#define VF_MAX(A, B) ((A) > (B) ? (A) : (B))
#define VI_SET1(X) (X)
#define VI_LOAD(P) simd_load(P)
#define VI_STORE(P, V) (*(int32_t *)(void *)(P) = (V))
#define VI_ADD(A, B) ((int32_t)((uint32_t)(A) + (uint32_t)(B)))
#define VI_SUB(A, B) ((A) - (B))
#define VI_MADD16(A, B) simd_madd16(A, B)
#define VI_LOAD_U8(P) ((int32_t)(P)[0])

#endif

#if CPU_LEVEL != 3
/* Sums of products of pairs of 16-bit values, which VW_SUMS ends. */
typedef vi vw;
#define VW_ZERO VI_SET1(0)
#define VW_MADD16(SUMS, A, B) VI_ADD(SUMS, VI_MADD16(A, B))
#define VW_SUMS(SUMS) (SUMS)
/* sums + (bytes at P - zero) * w; the high halves of w's words are 0, so that the values above count for nothing */
#define VI_ADD_U8(SUMS, P, ZERO, W) VI_ADD(SUMS, VI_MADD16(VI_SUB(VI_LOAD_U8(P), ZERO), W))
#endif
