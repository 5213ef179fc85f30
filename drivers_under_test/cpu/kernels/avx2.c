/* SPDX-License-Identifier: Apache-2.0 */
#include "kernels.h"

#if defined(__x86_64__)

#define CPU_LEVEL 1
#define CPU_LEVEL_NAME "avx2"
#include "level.h"

const struct cpu_kernels *cpu_kernels_avx2(void) {
    __builtin_cpu_init();
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") ? &table : NULL;
}

#else

const struct cpu_kernels *cpu_kernels_avx2(void) { return NULL; }

#endif
