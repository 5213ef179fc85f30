/* SPDX-License-Identifier: Apache-2.0 */
/** @file peak.h What one processor of this machine can do at most, measured: arithmetic, and memory. */
#ifndef NNV_BENCH_PEAK_H
#define NNV_BENCH_PEAK_H

#include <stddef.h>

/**
 * Operations a nanosecond (10^9 a second) of loops of nothing but multiplications and additions in registers, in the
 * widest vectors that nnvts knows of this processor; a multiplication with its addition is two.
 */
struct nnv_peak {
    double float32;
    double int8; /**< products of 8 bits, or else of 16 bits, summed up in 32; NaN: no loop for this processor */
};

/** The best of some tries, on the processor that calls: some ten milliseconds. */
struct nnv_peak nnv_peak_measure(void);

/**
 * Bytes a nanosecond of the triad a[i] = b[i] + s * c[i] (McCalpin's STREAM), over and over on arrays of so many bytes
 * in all: what is read and written, not what the caches fetch beside. The best of some tries, some ten milliseconds.
 * NaN: no memory.
 */
double nnv_peak_triad(size_t bytes);

#endif
