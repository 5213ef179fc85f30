/* SPDX-License-Identifier: Apache-2.0 */
/** @file matmul.h Products of matrices of float64, row by row in memory. */
#ifndef NNV_BASE_MATMUL_H
#define NNV_BASE_MATMUL_H

#include <stdbool.h>
#include <stddef.h>

/** c[m][n] = a[m][k] * b[n][k], each sum in the order of k: the same bits on any machine, which a library that picks
 * its code by processor does not give. */
void nnv_matmul_in_order(size_t m, size_t n, size_t k, const double *a, const double *b, double *c);
/**
 * c[m][n] = a[m][k] * b, by OpenBLAS where it can be loaded. b: [k][n], or [n][k] where it is transposed. All extents
 * below 2^31.
 */
void nnv_dgemm(bool transposed, size_t m, size_t n, size_t k, const double *a, const double *b, double *c);

#endif
