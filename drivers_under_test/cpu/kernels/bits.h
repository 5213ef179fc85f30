/* SPDX-License-Identifier: Apache-2.0 */
/** @file bits.h A float's bits, and back. */
#ifndef NNV_CPU_KERNELS_BITS_H
#define NNV_CPU_KERNELS_BITS_H

#include <stdint.h>
#include <string.h>

static inline __attribute__((always_inline)) float float_of(uint32_t u) {
    float f;
    memcpy(&f, &u, sizeof f);
    return f;
}

static inline __attribute__((always_inline)) uint32_t bits_of(float f) {
    uint32_t u;
    memcpy(&u, &f, sizeof u);
    return u;
}

#endif
