/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file level.h The inner loops of one level: base.c, avx2.c, avx512.c and neon.c define CPU_LEVEL and CPU_LEVEL_NAME
 * and compile them.
 *
 * Loops without simd.h's vectors are written so that compilers vectorise them: sums keep SUMS partial sums,
 * comparisons keep NaN, no library function is called.
 */
#include <math.h>
#include <string.h>

#include "bits.h"
#include "kernels.h"
#include "simd.h"

enum { PANEL = 2 * LANES, MOST_ROWS = 8, SUMS = 16, BLOCK = 256 };
/** Rows of a tile of floats: on AVX-512 28 sums, on Arm 16, so that few loads of weights go with a product. */
#if CPU_LEVEL == 2
enum { F32_ROWS = 14, MOST_F32_ROWS = F32_ROWS };
#elif CPU_LEVEL == 3
enum { F32_ROWS = 8, MOST_F32_ROWS = F32_ROWS };
#else
enum { F32_ROWS = ROWS, MOST_F32_ROWS = 6 };
#endif
/** Floats: of packed weights that stay in the first cache beside a tile's rows, of its lines, of a short row. */
enum { NEAR_FLOATS = 6144, LINE = 16, SHORT_ROW = 64 };
#define INLINE static inline __attribute__((always_inline)) CPU_TARGET
#define UNROLL _Pragma("GCC unroll 16")

/* -------------------------------------------------------------------- scalars */

INLINE float clamp(float x, float lo, float hi) { return x < lo ? lo : x > hi ? hi : x; }

INLINE int32_t round_away(double r) { return (int32_t)(r + copysign(0.5, r)); }

INLINE double clamp_f64(double r, double lo, double hi) { return r < lo ? lo : r > hi ? hi : r; }

#include "products.h"
#include "windows.h"
#include "depthwise_lines.h"
#include "elementwise.h"
#include "reduce.h"
#include "half.h"

/** The members of a table, the name apart. */
#define CPU_MEMBERS                                                                                                    \
    .panel = PANEL, .rows = F32_ROWS, .gemm_f32 = gemm_f32, .gemm_s16 = gemm_s16, .depthwise_f32 = depthwise_f32,      \
    .depthwise_s32 = depthwise_s32, .requantize = requantize, .lines_f32 = lines_f32, .pool_sum_f32 = pool_sum_f32,    \
    .pool_max_f32 = pool_max_f32, .pool_square_f32 = pool_square_f32, .pool_max_u8 = pool_max_u8,                      \
    .arithmetic_f32 = {add_f32, sub_f32, mul_f32, div_f32}, .arithmetic_u8 = {add_u8, sub_u8, mul_u8},                 \
    .clamp_f32 = clamp_f32, .clamp_u8 = clamp_u8, .floor_f32 = floor_f32, .logistic_f32 = logistic_f32,                \
    .tanh_f32 = tanh_f32, .softmax_f32 = softmax_f32, .dot_f32 = dot_f32, .dequantize_u8 = dequantize_u8,              \
    .center_u8 = center_u8, .lerp_f32 = lerp_f32, .half_to_float = half_to_float, .float_to_half = float_to_half,      \
    .round_to_half = round_to_half, .max_f32 = max_f32, .min_f32 = min_f32, .pow_f32 = pow_f32,                        \
    .prelu_f32 = prelu_f32, .prelu_u8 = prelu_u8, .compare_f32 = {equal_f32, not_equal_f32, less_f32, less_equal_f32}, \
    .compare_i32 = {equal_i32, not_equal_i32, less_i32, less_equal_i32}, .abs_f32 = abs_f32, .neg_f32 = neg_f32,       \
    .exp_f32 = exp_f32, .log_f32 = log_f32, .sin_f32 = sin_f32, .sqrt_f32 = sqrt_f32, .rsqrt_f32 = rsqrt_f32,          \
    .hard_swish_f32 = hard_swish_f32, .elu_f32 = elu_f32, .log_softmax_f32 = log_softmax_f32,                          \
    .quantize_f32 = quantize_f32, .fold = {fold_sum, fold_product, fold_max, fold_min},                                \
    .fold_rows = {fold_rows_sum, fold_rows_product, fold_rows_max, fold_rows_min}, .squares_f32 = squares_f32,         \
    .squares_rows_f32 = squares_rows_f32, .standardize_f32 = standardize_f32,                                          \
    .standardize_rows_f32 = standardize_rows_f32

static const struct cpu_kernels table = {.name = CPU_LEVEL_NAME, CPU_MEMBERS};
