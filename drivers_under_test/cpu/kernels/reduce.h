/* SPDX-License-Identifier: Apache-2.0 */
/** @file reduce.h Inner loops that fold many values into few, in double; part of level.h. */

/**
 * Defines the fold of a row into one value, of SUMS partial ones, and the fold of a row into a row of them. EXPR of the
 * value so far, a, and the next, b.
 */
#define FOLD(NAME, START, EXPR)                                                                                        \
    static CPU_TARGET double fold_##NAME(size_t n, const float *x) {                                                   \
        double parts[SUMS];                                                                                            \
        size_t i = 0;                                                                                                  \
        for (size_t s = 0; s < SUMS; s++) parts[s] = START;                                                            \
        for (; i + SUMS <= n; i += SUMS)                                                                               \
            for (size_t s = 0; s < SUMS; s++) {                                                                        \
                const double a = parts[s], b = (double)x[i + s];                                                       \
                parts[s] = EXPR;                                                                                       \
            }                                                                                                          \
        for (; i < n; i++) {                                                                                           \
            const double a = parts[i % SUMS], b = (double)x[i];                                                        \
            parts[i % SUMS] = EXPR;                                                                                    \
        }                                                                                                              \
        for (size_t s = 1; s < SUMS; s++) {                                                                            \
            const double a = parts[0], b = parts[s];                                                                   \
            parts[0] = EXPR;                                                                                           \
        }                                                                                                              \
        return parts[0];                                                                                               \
    }                                                                                                                  \
    static CPU_TARGET void fold_rows_##NAME(size_t n, const float *restrict x, double *restrict y) {                   \
        for (size_t i = 0; i < n; i++) {                                                                               \
            const double a = y[i], b = (double)x[i];                                                                   \
            y[i] = EXPR;                                                                                               \
        }                                                                                                              \
    }
FOLD(sum, 0, a + b)
FOLD(product, 1, a *b)
FOLD(max, -INFINITY, a > b ? a : b)
FOLD(min, INFINITY, a < b ? a : b)

static CPU_TARGET double squares_f32(size_t n, const float *x, double mean) {
    double parts[SUMS] = {0}, sum = 0;
    size_t i = 0;
    for (; i + SUMS <= n; i += SUMS)
        for (size_t s = 0; s < SUMS; s++) {
            const double d = (double)x[i + s] - mean;
            parts[s] += d * d;
        }
    for (; i < n; i++) parts[i % SUMS] += ((double)x[i] - mean) * ((double)x[i] - mean);
    for (size_t s = 0; s < SUMS; s++) sum += parts[s];
    return sum;
}

static CPU_TARGET void squares_rows_f32(size_t n, const float *restrict x, const double *restrict mean,
                                        double *restrict y) {
    for (size_t i = 0; i < n; i++) {
        const double d = (double)x[i] - mean[i];
        y[i] += d * d;
    }
}

static CPU_TARGET void standardize_f32(size_t n, const float *restrict x, double mean, double factor, double shift,
                                       float *restrict y) {
    for (size_t i = 0; i < n; i++) y[i] = (float)(((double)x[i] - mean) * factor + shift);
}

static CPU_TARGET void standardize_rows_f32(size_t n, const float *restrict x, const double *restrict mean,
                                            const double *restrict factor, double shift, float *restrict y) {
    for (size_t i = 0; i < n; i++) y[i] = (float)(((double)x[i] - mean[i]) * factor[i] + shift);
}
