/* SPDX-License-Identifier: Apache-2.0 */
/** @file arm_kernels.h Quantised products and depthwise filters of 64-bit Arm; only for processors that have the
 * instructions. */
#ifndef CPU_ARM_KERNELS_H
#define CPU_ARM_KERNELS_H

#include "kernels.h"

/** The compiler lets single functions use instructions that the file's others do without. */
#if defined(__aarch64__) && (!defined(__clang__) || __clang_major__ >= 16)
#define CPU_ARM_PRODUCTS 1
#else
#define CPU_ARM_PRODUCTS 0
#endif

enum { CPU_ARM_ROWS = 8, CPU_DOTPROD_LESS = 128 };

/** struct cpu_kernels.gemm_u8 and .lines_u8 by SDOT, which takes signed bytes alone: .less_u8 is CPU_DOTPROD_LESS. */
void cpu_dotprod_gemm_u8(const struct cpu_gemm_u8 *g);
void cpu_dotprod_lines_u8(const struct cpu_lines_u8 *l);
/** The same by USMMLA and USDOT, which take bytes as they are. */
void cpu_i8mm_gemm_u8(const struct cpu_gemm_u8 *g);
void cpu_i8mm_lines_u8(const struct cpu_lines_u8 *l);

#endif
