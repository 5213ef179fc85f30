/* SPDX-License-Identifier: Apache-2.0 */
/** @file half.c float16 in integer code: compilers disagree on how _Float16 is passed, so it is not used. */
#include "kernels/bits.h"
#include "kernels/kernels.h"

enum { HALF_INFINITY = 0x7c00, HALF_QUIET = 0x200 };

float cpu_half_to_float(uint16_t h) {
    uint32_t sign = (uint32_t)(h & 0x8000) << 16, magnitude = h & 0x7fff;
    if (magnitude >= HALF_INFINITY) return float_of(sign | 0x7f800000 | (magnitude & 0x3ff) << 13);
    if (magnitude < 0x400) { /* subnormal: a multiple of 2^-24 */
        float value = (float)magnitude * 0x1p-24f;
        return sign ? -value : value;
    }
    return float_of(sign | ((magnitude << 13) + (112u << 23)));
}

uint16_t cpu_float_to_half(float f) {
    uint32_t u = bits_of(f), magnitude = u & 0x7fffffff;
    uint32_t sign = u >> 16 & 0x8000;
    if (magnitude > 0x7f800000) return (uint16_t)(sign | HALF_INFINITY | HALF_QUIET | (magnitude >> 13 & 0x3ff));
    if (magnitude >= 0x477ff000) return (uint16_t)(sign | HALF_INFINITY); /* 65520 and above */
    if (magnitude < 0x38800000) { /* below 2^-14: adding 0.5 leaves the multiple of 2^-24, rounded, in the low bits */
        return (uint16_t)(sign | (bits_of(float_of(magnitude) + 0.5f) - bits_of(0.5f)));
    }
    uint32_t odd = magnitude >> 13 & 1;
    return (uint16_t)(sign | ((magnitude + 0xfff + odd - (112u << 23)) >> 13));
}
