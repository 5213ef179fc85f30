/* SPDX-License-Identifier: Apache-2.0 */
/** @file vnni.h What the kernels for AVX-512 VNNI share; only for vnni_*.c. fixed.h says how results are rounded. */
#ifndef CPU_VNNI_H
#define CPU_VNNI_H

#include <immintrin.h>
#include <string.h>

#include "fixed.h"

/** Aligned: else the speed of small products would depend on what stands before them in the file. */
#define TARGET __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx512vnni,avx2,fma"), aligned(64)))
#define INLINE static inline __attribute__((always_inline)) TARGET
#define UNROLL _Pragma("GCC unroll 12")

/** acc + unsigned bytes of a times signed bytes of b. (gcc 12's intrinsic copies and stores the accumulators.) */
INLINE __m512i dot(__m512i acc, __m512i a, __m512i b) {
    __asm__("vpdpbusd %2, %1, %0" : "+v"(acc) : "v"(a), "vm"(b));
    return acc;
}

/** What is added in float: the zero point, half a step, and half the band. */
INLINE __m512 offset_of(int32_t zero_point) { return _mm512_set1_ps(cpu_fixed_offset(zero_point)); }

/** Output steps of 16 sums, times 65536. */
INLINE __m512i scaled(__m512i sums, const float *scale, __m512 offset) {
    return _mm512_cvtps_epi32(_mm512_fmadd_ps(_mm512_cvtepi32_ps(sums), _mm512_loadu_ps(scale), offset));
}

/** Bits 2 * lane: the lane's value lies within the band. */
INLINE uint32_t hits_of(__m512i f) {
    return _mm512_mask_cmplt_epu16_mask(0x55555555, f, _mm512_set1_epi16(CPU_FIXED_BAND));
}

#endif
