/* SPDX-License-Identifier: Apache-2.0 */
#include "base/matmul.h"

#include <cblas.h>
#include <dlfcn.h>
#include <pthread.h>
#include <string.h>

enum { LANES = 8, ROWS = 4, DEPTH = 512 };

/* c[r * n + l] += sum of a[r * k + p] * panel[p][l] over p, in the order of p, for so many rows and lanes. */
static inline void add_panel(const double *a, size_t k, double panel[][LANES], size_t depth, double *c, size_t n,
                             size_t lanes, const size_t rows) {
    double sum[ROWS][LANES] = {{0}};
    for (size_t r = 0; r < rows; r++)
        for (size_t l = 0; l < lanes; l++) sum[r][l] = c[r * n + l];
    for (size_t p = 0; p < depth; p++)
        for (size_t r = 0; r < rows; r++)
            for (int l = 0; l < LANES; l++) sum[r][l] += a[r * k + p] * panel[p][l];
    for (size_t r = 0; r < rows; r++)
        for (size_t l = 0; l < lanes; l++) c[r * n + l] = sum[r][l];
}

/* Panels of B: LANES columns, DEPTH rows; ROWS of A meet one together. */
NNV_WIDE void nnv_matmul_in_order(size_t m, size_t n, size_t k, const double *a, const double *b, double *c) {
    double panel[DEPTH][LANES];
    memset(c, 0, m * n * sizeof *c);
    for (size_t j = 0; j < n; j += LANES) {
        const size_t lanes = n - j < LANES ? n - j : LANES;
        for (size_t q = 0; q < k; q += DEPTH) {
            const size_t depth = k - q < DEPTH ? k - q : DEPTH;
            for (size_t p = 0; p < depth; p++)
                for (size_t l = 0; l < LANES; l++) panel[p][l] = l < lanes ? b[(j + l) * k + q + p] : 0;
            size_t i = 0;
            for (; i + ROWS <= m; i += ROWS) add_panel(a + i * k + q, k, panel, depth, c + i * n + j, n, lanes, ROWS);
            for (; i < m; i++) add_panel(a + i * k + q, k, panel, depth, c + i * n + j, n, lanes, 1);
        }
    }
}

/*
 * OpenBLAS takes longer to load than most commands take, and its library for Fortran makes every printf slower: it is
 * loaded when the first large product is made. A program that has it linked in has the symbol.
 */
#pragma weak cblas_dgemm
static __typeof__(&cblas_dgemm) dgemm;

static void find_dgemm(void) {
    void *library = cblas_dgemm ? NULL : dlopen("libopenblas.so.0", RTLD_NOW | RTLD_LOCAL);
    void *symbol = library ? dlsym(library, "cblas_dgemm") : NULL;
    if (symbol)
        memcpy(&dgemm, &symbol, sizeof dgemm); /* ISO C has no conversion to a pointer to a function */
    else
        dgemm = cblas_dgemm;
}

/** Without OpenBLAS. b: [k][n]. */
static void multiply_rows(size_t m, size_t n, size_t k, const double *a, const double *b, double *c) {
    memset(c, 0, m * n * sizeof *c);
    for (size_t i = 0; i < m; i++)
        for (size_t p = 0; p < k; p++)
            for (size_t j = 0; j < n; j++) c[i * n + j] += a[i * k + p] * b[p * n + j];
}

void nnv_dgemm(bool transposed, size_t m, size_t n, size_t k, const double *a, const double *b, double *c) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    if (m == 0 || n == 0) return;
    pthread_once(&once, find_dgemm);
    if (dgemm && k > 0)
        dgemm(CblasRowMajor, CblasNoTrans, transposed ? CblasTrans : CblasNoTrans, (int)m, (int)n, (int)k, 1, a, (int)k,
              b, (int)(transposed ? k : n), 0, c, (int)n);
    else if (transposed)
        nnv_matmul_in_order(m, n, k, a, b, c);
    else
        multiply_rows(m, n, k, a, b, c);
}
