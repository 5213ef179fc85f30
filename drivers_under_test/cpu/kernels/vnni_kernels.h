/* SPDX-License-Identifier: Apache-2.0 */
/** @file vnni_kernels.h Quantised products and depthwise filters by AVX-512 VNNI and AMX; only for processors that have
 * it. */
#ifndef CPU_VNNI_KERNELS_H
#define CPU_VNNI_KERNELS_H

#include "kernels.h"

enum { CPU_VNNI_ROWS = 12, CPU_AMX_ROWS = 16 };

/** struct cpu_kernels.gemm_u8. */
void cpu_vnni_gemm_u8(const struct cpu_gemm_u8 *g);
/** The same in AMX's tiles where they are faster; the caller has asked the kernel for leave. */
void cpu_amx_gemm_u8(const struct cpu_gemm_u8 *g);
/**
 * The processor has tiles of bytes, and the system lets this process use them: it is asked to. What is allowed holds
 * for all threads, and for processes that are forked from now on; alternate signal stacks must have room for tiles.
 */
bool cpu_amx_allowed(void);
/** struct cpu_kernels.lines_u8. */
void cpu_vnni_lines_u8(const struct cpu_lines_u8 *l);

#endif
