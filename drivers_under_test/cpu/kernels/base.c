/* SPDX-License-Identifier: Apache-2.0 */
/** @file base.c The level that every processor has, and the choice of the level. */
#define CPU_LEVEL 0
#define CPU_LEVEL_NAME "base"
#include "level.h"

static const struct cpu_kernels *base(void) { return &table; }

const struct cpu_kernels *cpu_kernels_pick(const char *name) {
    static const struct {
        const char *name;
        const struct cpu_kernels *(*kernels)(void);
    } levels[] = {{"amx", cpu_kernels_amx},       {"avx512vnni", cpu_kernels_vnni},
                  {"avx512", cpu_kernels_avx512}, {"avx2", cpu_kernels_avx2},
                  {"i8mm", cpu_kernels_i8mm},     {"dotprod", cpu_kernels_dotprod},
                  {"neon", cpu_kernels_neon},     {"base", base}};
    for (size_t i = 0; i < sizeof levels / sizeof *levels; i++) {
        if (name && strcmp(name, levels[i].name) != 0) continue; /* who wants less does not ask for tiles */
        const struct cpu_kernels *level = levels[i].kernels();
        if (level || name) return level;
    }
    return NULL;
}
