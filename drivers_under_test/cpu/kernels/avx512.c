/* SPDX-License-Identifier: Apache-2.0 */
#include "kernels.h"

#if defined(__x86_64__)

#define CPU_LEVEL 2
#define CPU_LEVEL_NAME "avx512"
#include "level.h"
#include "vnni_kernels.h"

/** The same with quantised products of its own. */
static const struct cpu_kernels vnni = {.name = "avx512vnni",
                                        CPU_MEMBERS,
                                        .gemm_u8 = cpu_vnni_gemm_u8,
                                        .rows_u8 = CPU_VNNI_ROWS,
                                        .lines_u8 = cpu_vnni_lines_u8};

static const struct cpu_kernels amx = {
    .name = "amx", CPU_MEMBERS, .gemm_u8 = cpu_amx_gemm_u8, .rows_u8 = CPU_AMX_ROWS, .lines_u8 = cpu_vnni_lines_u8};

const struct cpu_kernels *cpu_kernels_avx512(void) {
    __builtin_cpu_init();
    bool all = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
               __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
               __builtin_cpu_supports("fma");
    return all ? &table : NULL;
}

const struct cpu_kernels *cpu_kernels_vnni(void) {
    return cpu_kernels_avx512() && __builtin_cpu_supports("avx512vnni") ? &vnni : NULL;
}

const struct cpu_kernels *cpu_kernels_amx(void) { return cpu_kernels_vnni() && cpu_amx_allowed() ? &amx : NULL; }

#else

const struct cpu_kernels *cpu_kernels_avx512(void) { return NULL; }
const struct cpu_kernels *cpu_kernels_vnni(void) { return NULL; }
const struct cpu_kernels *cpu_kernels_amx(void) { return NULL; }

#endif
