/* SPDX-License-Identifier: Apache-2.0 */
/** @file matmul.h Loops over many numbers: in wide vectors, and products of matrices of float64, row by row in memory.
 */
#ifndef NNV_BASE_MATMUL_H
#define NNV_BASE_MATMUL_H

#include <stdbool.h>
#include <stddef.h>

/**
 * Before a function: with what it inlines it is there twice, and the processor says which is called. Both give the same
 * bits: nothing is fused or summed in another order. Sanitizers are not ready when that is decided, and other C
 * libraries than GNU's do not decide it.
 */
#if defined(__x86_64__) && defined(__GLIBC__) && defined(__GNUC__) && !defined(__clang__) && defined(__OPTIMIZE__) &&  \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define NNV_WIDE __attribute__((flatten, target_clones("avx2", "default")))
#else
#define NNV_WIDE
#endif

/** c[m][n] = a[m][k] * b[n][k], each sum in the order of k: the same bits on any machine, which a library that picks
 * its code by processor does not give. */
void nnv_matmul_in_order(size_t m, size_t n, size_t k, const double *a, const double *b, double *c);
/**
 * c[m][n] = a[m][k] * b, by OpenBLAS where it can be loaded. b: [k][n], or [n][k] where it is transposed. All extents
 * below 2^31.
 */
void nnv_dgemm(bool transposed, size_t m, size_t n, size_t k, const double *a, const double *b, double *c);

#endif
