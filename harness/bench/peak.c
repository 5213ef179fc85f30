/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/bench/peak.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

enum { STEPS = 20000, CHAINS = 14, TIMES = 50, SINK_BYTES = CHAINS * 64, LEAST_TRIES = 4, TRIAD_NS = 10000000 };

/**
 * Chains enough that no step waits for the one before, all of them in registers: none is taken as an array. What they
 * are the compiler does not know.
 */
#define EACH _Pragma("GCC unroll 14") for (int i = 0; i < CHAINS; i++)
#define PRODUCTS(NAME, ATTRIBUTE, VECTOR, STEP)                                                                        \
    static __attribute__((noinline)) ATTRIBUTE void NAME(char *sink) {                                                 \
        VECTOR acc[CHAINS], x, y;                                                                                      \
        memcpy(&x, sink, sizeof x);                                                                                    \
        memcpy(&y, sink, sizeof y);                                                                                    \
        EACH memcpy(&acc[i], sink + i * 64, sizeof acc[i]);                                                            \
        for (int s = 0; s < STEPS; s++) EACH STEP(acc[i], x, y);                                                       \
        EACH memcpy(sink + i * 64, &acc[i], sizeof acc[i]);                                                            \
    }
#define TRIAD(NAME, ATTRIBUTE, VECTOR)                                                                                 \
    static __attribute__((noinline)) ATTRIBUTE void NAME(void *to, const void *from, const void *other, size_t n) {    \
        VECTOR *a = to;                                                                                                \
        const VECTOR *b = from, *c = other;                                                                            \
        for (size_t i = 0; i < n / sizeof *a; i++) a[i] = b[i] + 3.0f * c[i];                                          \
    }

typedef float floats4 __attribute__((vector_size(16)));
#define PLAIN(ACC, X, Y) (ACC) = (ACC) * (X) + (Y)
PRODUCTS(plain, , floats4, PLAIN)
TRIAD(triad, , floats4)

#if defined(__x86_64__)
#define TARGET(NAME) __attribute__((target(NAME)))
#define FMA(ACC, X, Y) __asm__ volatile("vfmadd231ps %1, %2, %0" : "+v"(ACC) : "v"(X), "v"(Y))
#define DOT(ACC, X, Y) __asm__ volatile("vpdpbusd %1, %2, %0" : "+v"(ACC) : "v"(X), "v"(Y))
#define MADD(ACC, X, Y)                                                                                                \
    do {                                                                                                               \
        __m256i product = _mm256_madd_epi16(X, Y);                                                                     \
        __asm__ volatile("vpaddd %1, %0, %0" : "+v"(ACC) : "v"(product));                                              \
    } while (0)
PRODUCTS(fma_512, TARGET("avx512f"), __m512, FMA)
PRODUCTS(fma_256, TARGET("avx2,fma"), __m256, FMA)
PRODUCTS(dot_512, TARGET("avx512f,avx512vnni"), __m512i, DOT)
PRODUCTS(madd_256, TARGET("avx2"), __m256i, MADD)
TRIAD(triad_512, TARGET("avx512f"), __m512)
TRIAD(triad_256, TARGET("avx2"), __m256)
#endif

/** The best of some tries; each step of a chain does so many products. */
static double best_of(void (*loop)(char *sink), double products) {
    static _Alignas(64) char sink[SINK_BYTES];
    double best = 0;
    for (int t = 0; t < TIMES; t++) {
        const uint64_t begun = nnv_now_ns();
        loop(sink);
        best = fmax(best, 2 * products * STEPS * CHAINS / (double)(nnv_now_ns() - begun));
    }
    return best;
}

typedef void triad_fn(void *to, const void *from, const void *other, size_t n);

#if defined(__x86_64__)

struct nnv_peak nnv_peak_measure(void) {
    __builtin_cpu_init();
    const bool wide = __builtin_cpu_supports("avx512f"), avx2 = __builtin_cpu_supports("avx2");
    return (struct nnv_peak){.float32 = wide                                    ? best_of(fma_512, 16)
                                        : avx2 && __builtin_cpu_supports("fma") ? best_of(fma_256, 8)
                                                                                : best_of(plain, 4),
                             .int8 = __builtin_cpu_supports("avx512vnni") ? best_of(dot_512, 64)
                                     : avx2                               ? best_of(madd_256, 16)
                                                                          : (double)NAN};
}

static triad_fn *widest_triad(void) {
    __builtin_cpu_init();
    return __builtin_cpu_supports("avx512f") ? triad_512 : __builtin_cpu_supports("avx2") ? triad_256 : triad;
}

#else

struct nnv_peak nnv_peak_measure(void) {
    return (struct nnv_peak){best_of(plain, 4), (double)NAN};
}
static triad_fn *widest_triad(void) { return triad; }

#endif

double nnv_peak_triad(size_t bytes) {
    triad_fn *const run = widest_triad();
    const size_t each = bytes / 3 / 64 * 64;
    char *memory = aligned_alloc(64, 3 * each);
    double best = (double)NAN;
    if (!memory) return best;
    memset(memory, 0, 3 * each);
    const size_t rounds = ((size_t)1 << 20) / (3 * each) + 1; /* of one try: no shorter than the clock can tell */
    const uint64_t first = nnv_now_ns();
    for (int t = 0; t < LEAST_TRIES || nnv_now_ns() - first < TRIAD_NS; t++) {
        const uint64_t begun = nnv_now_ns();
        for (size_t r = 0; r < rounds; r++) run(memory, memory + each, memory + 2 * each, each);
        best = fmax(best, (double)(3 * each * rounds) / (double)(nnv_now_ns() - begun));
    }
    free(memory);
    return best;
}
