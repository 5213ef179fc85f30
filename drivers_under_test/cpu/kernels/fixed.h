/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file fixed.h Exact results of quantised sums, by way of float; what the kernels for bytes share.
 *
 * With t = sum * multiplier in units of 2^-16 of an output step, the float result f = fma(sum, multiplier, zero point
 * and a half) is less than 4 units off wherever the result is not clamped anyway: conversion of the sum, the rounded
 * multiplier and the fma itself add at most one unit each. f is raised by 4, so that its low 16 bits are below 8
 * wherever t may lie on the other side of a rounding step, or on it. Such values, one in 8192, are computed again in
 * double.
 */
#ifndef CPU_FIXED_H
#define CPU_FIXED_H

#include "kernels.h"

/** Low halves below this are computed again. */
enum { CPU_FIXED_BAND = 8 };

/** What is added in float: the zero point, half a step, and half the band. */
static inline float cpu_fixed_offset(int32_t zero_point) {
    const int32_t offset = zero_point * 65536 + 0x8000 + CPU_FIXED_BAND / 2;
    return (float)offset;
}

/** The definition: halves away from zero, in double. */
static inline uint8_t cpu_fixed_exact(int32_t sum, double multiplier, int32_t zero_point, int32_t lo, int32_t hi) {
    const double real = (double)sum * multiplier;
    if (real <= lo - zero_point) return (uint8_t)lo;
    if (real >= hi - zero_point) return (uint8_t)hi;
    int32_t whole = (int32_t)real;
    const double rest = real - whole;
    if (rest >= 0.5) whole++;
    if (rest <= -0.5) whole--;
    return (uint8_t)(whole + zero_point);
}

/**
 * rows of a product from `row` on, in the columns of the panel that begins at col, whose weights are b. corrections:
 * what the sum of each of these rows lacks, or NULL.
 */
typedef void (*cpu_tile_u8)(const struct cpu_gemm_u8 *g, const int32_t *corrections, size_t row, size_t col,
                            const int8_t *b);

/** Defines cpu_tile_u8 functions by `tile`, a function of constant heights and half panels; and names them. */
#define CPU_TILE(ROWS, VECTORS)                                                                                        \
    static TARGET void tile_##ROWS##_##VECTORS(const struct cpu_gemm_u8 *g, const int32_t *corrections, size_t row,    \
                                               size_t col, const int8_t *b) {                                          \
        tile(ROWS, VECTORS, g, corrections, row, col, b);                                                              \
    }
#define CPU_TILES_8(VECTORS)                                                                                           \
    CPU_TILE(1, VECTORS)                                                                                               \
    CPU_TILE(2, VECTORS)                                                                                               \
    CPU_TILE(3, VECTORS)                                                                                               \
    CPU_TILE(4, VECTORS)                                                                                               \
    CPU_TILE(5, VECTORS)                                                                                               \
    CPU_TILE(6, VECTORS)                                                                                               \
    CPU_TILE(7, VECTORS)                                                                                               \
    CPU_TILE(8, VECTORS)
#define CPU_TILE_NAMES_8(VECTORS)                                                                                      \
    tile_1_##VECTORS, tile_2_##VECTORS, tile_3_##VECTORS, tile_4_##VECTORS, tile_5_##VECTORS, tile_6_##VECTORS,        \
        tile_7_##VECTORS, tile_8_##VECTORS

/** The tiles of a level. */
struct cpu_tiles_u8 {
    size_t rows, lanes;          /**< of the tallest; columns of half a panel */
    const cpu_tile_u8 *tiles[2]; /**< [half a panel, a whole one][rows - 1] */
    /** correction times the sum of the values of each row. */
    void (*correct)(const struct cpu_gemm_u8 *g, size_t row, size_t rows, int32_t *corrections);
};

/** struct cpu_kernels.gemm_u8 by tiles. */
void cpu_tiles_gemm_u8(const struct cpu_gemm_u8 *g, const struct cpu_tiles_u8 *t);

#endif
