/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file kernels.h The inner loops, once for each instruction set.
 *
 * level.h holds them; base.c, avx2.c, avx512.c and neon.c compile it. A level's packing
 * of weights is its own, so a device keeps to the level it has picked.
 */
#ifndef CPU_KERNELS_H
#define CPU_KERNELS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/**
 * C[m,n] = clamp(A[m,k] * B[k,n] + bias[n]). A: m rows, lda apart, of `runs` runs of `length` values: run r of row 0
 * begins at a[r]. B: panels of `panel` columns, row-major inside a panel, zero behind the last column; the last panel
 * has half as many if that is enough. bias is padded to whole panels. C: rows ldc apart.
 */
struct cpu_gemm_f32 {
    size_t m, n, runs, length;
    size_t depth, skip, gap; /**< values of a column of B: all, before the first run, between runs */
    const float *const *a;
    const float *b, *bias;
    float *c;
    size_t lda, ldc;
    float lo, hi;
};

/**
 * C[m,n] = quantised A[m,k] * B[k,n] + bias[n]. A: unsigned bytes in runs as above, of no or at least 4 values. B:
 * panels as above of signed bytes, four of a column side by side; of a run whose length is no multiple of 4, the second
 * four begin length % 4 behind the first, where they overlap there is 0. Columns of a whole panel stand in the order 0,
 * 2, 4, ... 1, 3, 5, ...; of half a panel as they are. bias (which makes up for the zero point of A and for less_u8),
 * scale (multiplier
 * * 65536) and multiplier stand likewise. All sums fit 32 bits, and no result is above 32000. correction: what B's
 * values lack, all of them the same.
 */
struct cpu_gemm_u8 {
    size_t m, n, runs, length;
    const uint8_t *const *a;
    const int8_t *b;
    const int32_t *bias;
    const float *scale;
    const double *multiplier;
    uint8_t *c;
    size_t lda, ldc;
    int32_t correction, zero_point, lo, hi;
};

/**
 * C[m,n] = quantised A[m,k] * B[k,n] + bias[n]. A: centred values (q - zero point), k even (zero behind the last), rows
 * lda apart. B: panels as above, the last one whole, of pairs (k, k + 1). bias, multiplier: padded to whole panels.
 */
struct cpu_gemm_s16 {
    size_t m, n, k;
    const int16_t *a, *b;
    const double *bias, *multiplier;
    uint8_t *c;
    size_t lda, ldc;
    int32_t zero_point, lo, hi;
};

/** The taps of a window that lie inside the image, for one output position. */
struct cpu_taps {
    size_t channels;
    uint32_t rows, cols;
    size_t x_row, x_col; /**< elements between taps in the input */
    size_t w_row, w_col; /**< and in the filter */
};

/**
 * Depthwise 3x3 filters over lines of an image: one row of output, or (of stride 1 or 2 downwards) two. Input line i
 * lies under filter line i of the first row; lines above or below the image are lines of padding.
 */
struct cpu_lines_f32 {
    size_t channels;         /**< at least half a panel */
    size_t width, out_width; /**< columns of the input and the output */
    uint32_t rows, stride;   /**< 1 or 2; stride: from column to column */
    uint32_t down;           /**< from row to row: 1 or 2 where there are two */
    uint32_t left;           /**< columns of padding: 0 or 1; on the right no more than 1 is needed */
    const float *x[5];       /**< (rows - 1) * down + 3 lines */
    const float *w;          /**< for each vector of channels bias and the nine taps, finite; the last may overlap */
    float lo, hi;
    float *y[2];
};

/**
 * The weights of 64 values side by side: of 64 channels, or of some neighbouring pixels of all (fewer) channels. The
 * value of byte i stands at place p where cpu_lines_byte(p) = i.
 */
enum { CPU_LINES_BYTES = 64 };
struct cpu_lines_block_u8 {
    int8_t w[2][3][4][2]
            [64];     /**< [set, column, quarter, row of the output]: filter columns with a 0 behind or before */
    int32_t bias[64]; /**< makes up for the zero point of the input and for less_u8 */
    float scale[64];  /**< multiplier * 65536 */
    double multiplier[64];
    size_t channel; /**< the first */
};
static inline int cpu_lines_byte(int place) { return place % 16 / 4 * 16 + place / 16 * 4 + place % 4; }

/** The same of unsigned bytes; lines of padding hold x_zero. No result is above 32000. */
struct cpu_lines_u8 {
    size_t channels, width, out_width;
    uint32_t rows, stride, left;
    const uint8_t *x[4];
    const struct cpu_lines_block_u8 *blocks;
    size_t count;
    size_t pixels; /**< in a block; with more than 1, stride is 1 */
    uint32_t sets; /**< of weights, which are added: 1 or 2 */
    int32_t x_zero, zero_point, lo, hi;
    uint8_t *y[2];
};

enum cpu_arithmetic { CPU_ADD, CPU_SUB, CPU_MUL, CPU_DIV, CPU_ARITHMETIC };
enum cpu_compare { CPU_EQUAL, CPU_NOT_EQUAL, CPU_LESS, CPU_LESS_EQUAL, CPU_COMPARES };
enum cpu_fold { CPU_SUM, CPU_PRODUCT, CPU_LARGEST, CPU_SMALLEST, CPU_FOLDS };

/** Quantised operands a and b, and the result y. */
struct cpu_pair_u8 {
    int32_t zero[3]; /**< of a, b, y */
    double scale[3];
    int32_t lo, hi; /**< of y */
};
/** y = clamp(zero point + round(f(real a, real b) / scale)), halves away from zero. */
typedef void (*cpu_pair_u8_fn)(size_t n, const uint8_t *a, const uint8_t *b, const struct cpu_pair_u8 *s, uint8_t *y);

struct cpu_kernels {
    const char *name;
    uint32_t panel; /**< columns of a panel */
    uint32_t rows;  /**< of a tile of floats */
    uint32_t rows_u8;
    int32_t less_u8; /**< gemm_u8 and lines_u8 multiply values that are so much less; the bias makes up for it */

    void (*gemm_f32)(const struct cpu_gemm_f32 *g);
    void (*gemm_s16)(const struct cpu_gemm_s16 *g);
    void (*gemm_u8)(const struct cpu_gemm_u8 *g); /**< NULL: not on this level */
    /** y[c] = clamp(bias[c] + sum over taps of x * w). */
    void (*depthwise_f32)(const struct cpu_taps *t, const float *x, const float *w, const float *bias, float lo,
                          float hi, float *y);
    /** y[c] = sum over taps of (x - zero_point) * w; w: int16 values in the low halves of 32-bit words, high halves 0.
     */
    void (*depthwise_s32)(const struct cpu_taps *t, const uint8_t *x, int32_t zero_point, const int32_t *w, int32_t *y);
    void (*lines_f32)(const struct cpu_lines_f32 *l);
    void (*lines_u8)(const struct cpu_lines_u8 *l); /**< NULL: not on this level */
    /** y = clamp(zero_point + round((acc + bias) * multiplier)), halves away from zero. */
    void (*requantize)(size_t n, const int32_t *acc, const double *bias, const double *multiplier, int32_t zero_point,
                       int32_t lo, int32_t hi, uint8_t *y);
    /** Over the taps: sum / divisor, the largest, sqrt(sum of squares / divisor); clamped. */
    void (*pool_sum_f32)(const struct cpu_taps *t, const float *x, float divisor, float lo, float hi, float *y);
    void (*pool_max_f32)(const struct cpu_taps *t, const float *x, float lo, float hi, float *y);
    void (*pool_square_f32)(const struct cpu_taps *t, const float *x, float divisor, float lo, float hi, float *y);
    void (*pool_max_u8)(const struct cpu_taps *t, const uint8_t *x, int32_t lo, int32_t hi, uint8_t *y);

    /** Pairs of values; the arrays don't overlap. y = clamp(a + b) and so on. */
    void (*arithmetic_f32[CPU_ARITHMETIC])(size_t n, const float *a, const float *b, float lo, float hi, float *y);
    /** The same of quantised values; there is no CPU_DIV. */
    cpu_pair_u8_fn arithmetic_u8[CPU_DIV];
    /** y = a < 0 ? a * b : a. */
    cpu_pair_u8_fn prelu_u8;
    /** y may be x. */
    void (*clamp_f32)(size_t n, const float *x, float lo, float hi, float *y);
    void (*floor_f32)(size_t n, const float *x, float *y);
    void (*logistic_f32)(size_t n, const float *x, float *y);
    void (*tanh_f32)(size_t n, const float *x, float *y);
    /** y = exp((x - max) * beta) / sum. */
    void (*softmax_f32)(size_t n, const float *x, float beta, float *y);
    void (*clamp_u8)(size_t n, const uint8_t *x, uint8_t lo, uint8_t hi, uint8_t *y);
    float (*dot_f32)(size_t n, const float *a, const float *b);
    /** y = (x - zero_point) * scale. */
    void (*dequantize_u8)(size_t n, const uint8_t *x, int32_t zero_point, float scale, float *y);
    /** y = x - zero_point. */
    void (*center_u8)(size_t n, const uint8_t *x, int32_t zero_point, int16_t *y);
    /** y = top * (1 - t) + bottom * t, in each both columns mixed by s. */
    void (*lerp_f32)(size_t n, const float *const corner[4], float s, float t, float *y);
    /** float16 may stand at any address. */
    void (*half_to_float)(size_t n, const void *x, float *y);
    void (*float_to_half)(size_t n, const float *x, void *y);
    /** x becomes the nearest float16, in place. */
    void (*round_to_half)(size_t n, float *x);

    void (*max_f32)(size_t n, const float *a, const float *b, float *y);
    void (*min_f32)(size_t n, const float *a, const float *b, float *y);
    void (*pow_f32)(size_t n, const float *base, const float *exponent, float *y);
    /** y = a < 0 ? a * b : a. */
    void (*prelu_f32)(size_t n, const float *a, const float *b, float *y);
    void (*compare_f32[CPU_COMPARES])(size_t n, const float *a, const float *b, uint8_t *y);
    void (*compare_i32[CPU_COMPARES])(size_t n, const int32_t *a, const int32_t *b, uint8_t *y);
    /** y may be x. */
    void (*abs_f32)(size_t n, const float *x, float *y);
    void (*neg_f32)(size_t n, const float *x, float *y);
    void (*exp_f32)(size_t n, const float *x, float *y);
    void (*log_f32)(size_t n, const float *x, float *y);
    void (*sin_f32)(size_t n, const float *x, float *y);
    void (*sqrt_f32)(size_t n, const float *x, float *y);
    void (*rsqrt_f32)(size_t n, const float *x, float *y);
    void (*hard_swish_f32)(size_t n, const float *x, float *y);
    void (*elu_f32)(size_t n, const float *x, float alpha, float *y);
    /** y = z - log(sum exp(z)), z = (x - max) * beta; room: n values. */
    void (*log_softmax_f32)(size_t n, const float *x, float beta, float *room, float *y);
    /** y = clamp(zero_point + round(x / scale)). */
    void (*quantize_f32)(size_t n, const float *x, float scale, int32_t zero_point, uint8_t *y);
    /** A row to one value (of none: what changes nothing), and a row of values into each of y. */
    double (*fold[CPU_FOLDS])(size_t n, const float *x);
    void (*fold_rows[CPU_FOLDS])(size_t n, const float *x, double *y);
    /** Sum of (x - mean)^2, and the same added to each of y. */
    double (*squares_f32)(size_t n, const float *x, double mean);
    void (*squares_rows_f32)(size_t n, const float *x, const double *mean, double *y);
    /** y = (x - mean) * factor + shift. */
    void (*standardize_f32)(size_t n, const float *x, double mean, double factor, double shift, float *y);
    void (*standardize_rows_f32)(size_t n, const float *x, const double *mean, const double *factor, double shift,
                                 float *y);
};

/** The best level the processor has, or the one that is named; NULL if it has none of that name. */
const struct cpu_kernels *cpu_kernels_pick(const char *name);
/** The table of each level; NULL where the processor lacks it. */
const struct cpu_kernels *cpu_kernels_avx2(void);
const struct cpu_kernels *cpu_kernels_avx512(void);
const struct cpu_kernels *cpu_kernels_vnni(void);
const struct cpu_kernels *cpu_kernels_amx(void);
const struct cpu_kernels *cpu_kernels_neon(void);
const struct cpu_kernels *cpu_kernels_dotprod(void);
const struct cpu_kernels *cpu_kernels_i8mm(void);

/** One float16 to float32 and back (nearest even), in integer code. */
float cpu_half_to_float(uint16_t h);
uint16_t cpu_float_to_half(float f);

#endif
