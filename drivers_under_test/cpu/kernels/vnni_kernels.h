/* SPDX-License-Identifier: Apache-2.0 */
/** @file vnni_kernels.h Quantised products and depthwise filters by AVX-512 VNNI; only for processors that have it. */
#ifndef CPU_VNNI_KERNELS_H
#define CPU_VNNI_KERNELS_H

#include "kernels.h"

enum { CPU_VNNI_ROWS = 12 };

/** struct cpu_kernels.gemm_u8. */
void cpu_vnni_gemm_u8(const struct cpu_gemm_u8 *g);
/** struct cpu_kernels.lines_u8. */
void cpu_vnni_lines_u8(const struct cpu_lines_u8 *l);

#endif
