/* SPDX-License-Identifier: Apache-2.0 */
/** @file base.c The level that every processor has, and the choice of the level. */
#define CPU_LEVEL 0
#define CPU_LEVEL_NAME "base"
#include "level.h"

static const struct cpu_kernels *base(void) { return &table; }

const struct cpu_kernels *cpu_kernels_pick(const char *name) {
    static const struct cpu_kernels *(*const levels[])(void) = {cpu_kernels_amx, cpu_kernels_vnni, cpu_kernels_avx512,
                                                                cpu_kernels_avx2, base};
    static const char *const names[] = {"amx", "avx512vnni", "avx512", "avx2", "base"};
    for (size_t i = 0; i < sizeof levels / sizeof *levels; i++) {
        if (name && strcmp(name, names[i]) != 0) continue; /* who wants less does not ask for tiles */
        const struct cpu_kernels *level = levels[i]();
        if (level || name) return level;
    }
    return NULL;
}
