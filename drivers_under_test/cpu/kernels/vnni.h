/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file vnni.h What the kernels for AVX-512 VNNI share; only for vnni_*.c.
 *
 * Requantising is exact though it goes through float. With t = sum * multiplier in units of 2^-16 of an output step,
 * the float result f = fma(sum, multiplier, zero point and a half) is less than 4 units off wherever the result is not
 * clamped anyway: conversion of the sum, the rounded multiplier and the fma itself add at most one unit each. f is
 * raised by 4, so that its low 16 bits are below 8 wherever t may lie on the other side of a rounding step, or on it.
 * Such values, one in 8192, are computed again in double.
 */
#ifndef CPU_VNNI_H
#define CPU_VNNI_H

#include <immintrin.h>
#include <string.h>

#include "kernels.h"

enum { BAND = 8 };
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
INLINE __m512 offset_of(int32_t zero_point) {
    const int32_t offset = zero_point * 65536 + 0x8000 + BAND / 2;
    return _mm512_set1_ps((float)offset);
}

/** Output steps of 16 sums, times 65536. */
INLINE __m512i scaled(__m512i sums, const float *scale, __m512 offset) {
    return _mm512_cvtps_epi32(_mm512_fmadd_ps(_mm512_cvtepi32_ps(sums), _mm512_loadu_ps(scale), offset));
}

/** Bits 2 * lane: the lane's value lies within the band. */
INLINE uint32_t hits_of(__m512i f) { return _mm512_mask_cmplt_epu16_mask(0x55555555, f, _mm512_set1_epi16(BAND)); }

/** The definition: halves away from zero, in double. */
static inline uint8_t vnni_exact(int32_t sum, double multiplier, int32_t zero_point, int32_t lo, int32_t hi) {
    const double real = (double)sum * multiplier;
    if (real <= lo - zero_point) return (uint8_t)lo;
    if (real >= hi - zero_point) return (uint8_t)hi;
    int32_t whole = (int32_t)real;
    const double rest = real - whole;
    if (rest >= 0.5) whole++;
    if (rest <= -0.5) whole--;
    return (uint8_t)(whole + zero_point);
}

#endif
