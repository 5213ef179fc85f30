/* SPDX-License-Identifier: Apache-2.0 */
/** @file neon.c The levels of 64-bit Arm: NEON, which all of them have, and products of bytes where there are any. */
#include "arm_kernels.h"

#if defined(__aarch64__)

#include <sys/auxv.h>

#define CPU_LEVEL 3
#define CPU_LEVEL_NAME "neon"
#include "level.h"

/* Linux's bits, which older headers lack. */
enum { HAS_DOT = 1 << 20, HAS_I8MM = 1 << 13 };

static const struct cpu_kernels dotprod = {.name = "dotprod",
                                           CPU_MEMBERS,
                                           .gemm_u8 = cpu_dotprod_gemm_u8,
                                           .rows_u8 = CPU_ARM_ROWS,
                                           .lines_u8 = cpu_dotprod_lines_u8,
                                           .less_u8 = CPU_DOTPROD_LESS};

static const struct cpu_kernels i8mm = {
    .name = "i8mm", CPU_MEMBERS, .gemm_u8 = cpu_i8mm_gemm_u8, .rows_u8 = CPU_ARM_ROWS, .lines_u8 = cpu_i8mm_lines_u8};

const struct cpu_kernels *cpu_kernels_neon(void) { return &table; }

const struct cpu_kernels *cpu_kernels_dotprod(void) {
    return CPU_ARM_PRODUCTS && getauxval(AT_HWCAP) & HAS_DOT ? &dotprod : NULL;
}

const struct cpu_kernels *cpu_kernels_i8mm(void) {
    return cpu_kernels_dotprod() && getauxval(AT_HWCAP2) & HAS_I8MM ? &i8mm : NULL;
}

#else

const struct cpu_kernels *cpu_kernels_neon(void) { return NULL; }
const struct cpu_kernels *cpu_kernels_dotprod(void) { return NULL; }
const struct cpu_kernels *cpu_kernels_i8mm(void) { return NULL; }

#endif
