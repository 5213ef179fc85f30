/* SPDX-License-Identifier: Apache-2.0 */
/** @file dotprod.c Products of bytes by SDOT: unsigned values are made signed, 128 less. */
#include "arm_kernels.h"

#if CPU_ARM_PRODUCTS

#include "arm.h"
#define TARGET __attribute__((target("arch=armv8.2-a+dotprod")))

typedef int8x16_t values;
INLINE values values_of(uint8x16_t x) { return vreinterpretq_s8_u8(veorq_u8(x, vdupq_n_u8(CPU_DOTPROD_LESS))); }
INLINE int32x4_t dot(int32x4_t sums, values x, int8x16_t w) { return vdotq_s32(sums, x, w); }
#define DOT_LANE(SUMS, X, W, LANE) IN_PLACE("sdot %0.4s, %1.16b, %2.4b[" #LANE "]", SUMS, W, X)

#define CPU_ARM_PAIRS 0
#include "arm_products.h"
#include "arm_lines.h"

void cpu_dotprod_gemm_u8(const struct cpu_gemm_u8 *g) { cpu_tiles_gemm_u8(g, &all_tiles); }
void cpu_dotprod_lines_u8(const struct cpu_lines_u8 *l) { lines_u8(l); }

#endif
