/* SPDX-License-Identifier: Apache-2.0 */
/** @file half.h Rows of float16; part of level.h. */

/* HALVES at once: to and from memory, to vectors of as many floats. */
#if CPU_LEVEL == 3
enum { HALVES = 4 };
#define VH_LOAD(P) vcvt_f32_f16(vreinterpret_f16_u8(vld1_u8(P)))
#define VH_STORE(P, V) vst1_u8(P, vreinterpret_u8_f16(vcvt_f16_f32(V)))
#define VH_FLOATS(P) vld1q_f32(P)
#define VH_FLOATS_STORE(P, V) vst1q_f32(P, V)
#define VH_ROUND(V) vcvt_f32_f16(vcvt_f16_f32(V))
#elif CPU_LEVEL > 0
enum { HALVES = 8 };
#define VH_LOAD(P) _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)(const void *)(P)))
#define VH_STORE(P, V) _mm_storeu_si128((__m128i *)(void *)(P), _mm256_cvtps_ph(V, _MM_FROUND_TO_NEAREST_INT))
#define VH_FLOATS(P) _mm256_loadu_ps(P)
#define VH_FLOATS_STORE(P, V) _mm256_storeu_ps(P, V)
#define VH_ROUND(V) _mm256_cvtph_ps(_mm256_cvtps_ph(V, _MM_FROUND_TO_NEAREST_INT))
#endif

static CPU_TARGET void half_to_float(size_t n, const void *x, float *y) {
    const unsigned char *from = x;
    size_t i = 0;
#if CPU_LEVEL > 0
    for (; i + HALVES <= n; i += HALVES) VH_FLOATS_STORE(y + i, VH_LOAD(from + 2 * i));
#endif
    for (; i < n; i++) {
        uint16_t half;
        memcpy(&half, from + 2 * i, sizeof half);
        y[i] = cpu_half_to_float(half);
    }
}

static CPU_TARGET void float_to_half(size_t n, const float *x, void *y) {
    unsigned char *to = y;
    size_t i = 0;
#if CPU_LEVEL > 0
    for (; i + HALVES <= n; i += HALVES) VH_STORE(to + 2 * i, VH_FLOATS(x + i));
#endif
    for (; i < n; i++) {
        const uint16_t half = cpu_float_to_half(x[i]);
        memcpy(to + 2 * i, &half, sizeof half);
    }
}

static CPU_TARGET void round_to_half(size_t n, float *x) {
    size_t i = 0;
#if CPU_LEVEL > 0
    for (; i + HALVES <= n; i += HALVES) VH_FLOATS_STORE(x + i, VH_ROUND(VH_FLOATS(x + i)));
#endif
    for (; i < n; i++) x[i] = cpu_half_to_float(cpu_float_to_half(x[i]));
}
