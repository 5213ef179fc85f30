/* SPDX-License-Identifier: Apache-2.0 */
/** @file half.h Rows of float16; part of level.h. */

static CPU_TARGET void half_to_float(size_t n, const void *x, float *y) {
    const unsigned char *from = x;
    size_t i = 0;
#if CPU_LEVEL > 0
    for (; i + 8 <= n; i += 8)
        _mm256_storeu_ps(y + i, _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)(const void *)(from + 2 * i))));
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
    for (; i + 8 <= n; i += 8)
        _mm_storeu_si128((__m128i *)(void *)(to + 2 * i),
                         _mm256_cvtps_ph(_mm256_loadu_ps(x + i), _MM_FROUND_TO_NEAREST_INT));
#endif
    for (; i < n; i++) {
        const uint16_t half = cpu_float_to_half(x[i]);
        memcpy(to + 2 * i, &half, sizeof half);
    }
}

static CPU_TARGET void round_to_half(size_t n, float *x) {
    size_t i = 0;
#if CPU_LEVEL > 0
    for (; i + 8 <= n; i += 8)
        _mm256_storeu_ps(x + i, _mm256_cvtph_ps(_mm256_cvtps_ph(_mm256_loadu_ps(x + i), _MM_FROUND_TO_NEAREST_INT)));
#endif
    for (; i < n; i++) x[i] = cpu_half_to_float(cpu_float_to_half(x[i]));
}
