/* SPDX-License-Identifier: Apache-2.0 */
/** @file memory.h The caller's memory pools. */
#ifndef CPU_MEMORY_H
#define CPU_MEMORY_H

#include "nnvts/driver.h"

/** One mapped pool. */
struct cpu_mapping {
    uint8_t *data;
    void *base; /**< what to unmap; NULL: the caller's own mapping */
    size_t bytes;
};

/**
 * Uses memory->data, or maps the file where there is none. need: NNVTS_PROT_* that must be granted.
 * INVALID_ARGUMENT: not SHARED memory, a file that is too small, a right that is missing; GENERAL_FAILURE if it can't
 * be mapped.
 */
enum nnvts_status cpu_memory_map(const struct nnvts_memory *memory, uint32_t need, struct cpu_mapping *out);
void cpu_memory_unmap(struct cpu_mapping *mapping);

#endif
