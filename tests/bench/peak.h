/* SPDX-License-Identifier: Apache-2.0 */
/** @file peak.h What one core can do at most: loops of nothing but multiplications and additions in registers. */
#ifndef NNV_BENCH_PEAK_H
#define NNV_BENCH_PEAK_H

#include <stdint.h>

#include "base/clock.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

/** Multiplications a nanosecond. */
struct peak {
    double float32, int8;
};

enum { PEAK_STEPS = 20000, PEAK_CHAINS = 14, PEAK_TIMES = 50 };

#if defined(__x86_64__)

#define PEAK_LOOP(NAME, TARGET, VECTOR, SET, STEP)                                                                     \
    static __attribute__((target(TARGET), noinline)) void NAME(void *sink) {                                           \
        VECTOR acc[PEAK_CHAINS], x = SET(0), y = SET(0);                                                               \
        _Pragma("GCC unroll 14") for (int i = 0; i < PEAK_CHAINS; i++) acc[i] = SET(0);                                \
        for (int s = 0; s < PEAK_STEPS; s++)                                                                           \
            _Pragma("GCC unroll 14") for (int i = 0; i < PEAK_CHAINS; i++) STEP(acc[i], x, y);                         \
        _Pragma("GCC unroll 14") for (int i = 0; i < PEAK_CHAINS; i++)                                                 \
            __builtin_memcpy((char *)sink + i * 64, &acc[i], sizeof acc[i]);                                           \
    }
#define PEAK_FMA(ACC, X, Y) __asm__ volatile("vfmadd231ps %1, %2, %0" : "+v"(ACC) : "v"(X), "v"(Y))
#define PEAK_DOT(ACC, X, Y) __asm__ volatile("vpdpbusd %1, %2, %0" : "+v"(ACC) : "v"(X), "v"(Y))
#define PEAK_MADD(ACC, X, Y)                                                                                           \
    do {                                                                                                               \
        __m256i peak_product = _mm256_madd_epi16(X, Y);                                                                \
        __asm__ volatile("vpaddd %1, %0, %0" : "+v"(ACC) : "v"(peak_product));                                         \
    } while (0)
PEAK_LOOP(peak_fma_512, "avx512f", __m512, _mm512_set1_ps, PEAK_FMA)
PEAK_LOOP(peak_fma_256, "avx2,fma", __m256, _mm256_set1_ps, PEAK_FMA)
PEAK_LOOP(peak_dot_512, "avx512f,avx512vnni", __m512i, _mm512_set1_epi32, PEAK_DOT)
PEAK_LOOP(peak_madd_256, "avx2", __m256i, _mm256_set1_epi32, PEAK_MADD)

/** The best of some tries; each step does `products` multiplications a chain. */
static double peak_of(void (*loop)(void *sink), double products) {
    static _Alignas(64) char sink[PEAK_CHAINS * 64];
    double best = 0;
    for (int t = 0; t < PEAK_TIMES; t++) {
        const uint64_t begun = nnv_now_ns();
        loop(sink);
        const double rate = products * PEAK_STEPS * PEAK_CHAINS / (double)(nnv_now_ns() - begun);
        best = rate > best ? rate : best;
    }
    return best;
}

/** Without AVX2 there is nothing to compare with: 1. */
static struct peak peak_measure(void) {
    struct peak p = {1, 1};
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx512f"))
        p.float32 = peak_of(peak_fma_512, 16);
    else if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
        p.float32 = peak_of(peak_fma_256, 8);
    if (__builtin_cpu_supports("avx512vnni"))
        p.int8 = peak_of(peak_dot_512, 64);
    else if (__builtin_cpu_supports("avx2"))
        p.int8 = peak_of(peak_madd_256, 16);
    return p;
}

#else

static struct peak peak_measure(void) { return (struct peak){1, 1}; }

#endif

#endif
