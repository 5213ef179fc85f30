/* SPDX-License-Identifier: Apache-2.0 */
/** @file numbers.h Functions on numbers that several families of operators reduce or combine elements with. */
#ifndef NNV_COMPILER_RELAY_NUMBERS_H
#define NNV_COMPILER_RELAY_NUMBERS_H

#include <math.h>
#include <stdint.h>

static inline double zero(double x) { return (void)x, 0; }
static inline double one(double x) { return (void)x, 1; }
static inline double inverse_root(double x) { return 1 / sqrt(x); }
static inline double sigmoid(double x) { return 1 / (1 + exp(-x)); }
static inline double sum(double a, double b) { return a + b; }
static inline double product(double a, double b) { return a * b; }
static inline double greatest(double a, double b) { return isnan(a) || a > b ? a : b; }
static inline double least(double a, double b) { return isnan(a) || a < b ? a : b; }
static inline double both(double a, double b) { return a != 0 && b != 0; }
static inline double either(double a, double b) { return a != 0 || b != 0; }
static inline double less(double a, double b) { return a < b; }
static inline double greater(double a, double b) { return a > b; }
static inline int64_t whole_product(int64_t a, int64_t b) { return (int64_t)((uint64_t)a * (uint64_t)b); }

#endif
