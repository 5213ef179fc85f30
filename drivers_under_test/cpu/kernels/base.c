/* SPDX-License-Identifier: Apache-2.0 */
/** @file base.c The level that every processor has, and the choice of the level. */
#define CPU_LEVEL 0
#define CPU_LEVEL_NAME "base"
#include "level.h"

const struct cpu_kernels *cpu_kernels_pick(const char *name) {
    const struct cpu_kernels *const levels[] = {cpu_kernels_vnni(), cpu_kernels_avx512(), cpu_kernels_avx2(), &table};
    for (size_t i = 0; i < sizeof levels / sizeof *levels; i++)
        if (levels[i] && (!name || strcmp(name, levels[i]->name) == 0)) return levels[i];
    return NULL;
}
