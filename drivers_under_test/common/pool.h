/* SPDX-License-Identifier: Apache-2.0 */
/** @file pool.h The caller's memory pools, mapped. */
#ifndef COMMON_POOL_H
#define COMMON_POOL_H

#include "nnvts/driver.h"

/** A pool that can be reached at data. */
struct common_mapping {
    uint8_t *data;
    size_t bytes;
    void *base; /**< what to unmap; NULL: the caller's own mapping */
};

/** True if the file has all of the pool: reading behind its end would end the process. */
bool common_file_holds(const struct nnvts_memory *pool);
/** The protection of the pool, as mmap takes it. */
int common_protection(const struct nnvts_memory *pool);
/** INVALID_ARGUMENT for what is no shared memory, can't be mapped, or is longer than its file. */
enum nnvts_status common_map(const struct nnvts_memory *pool, struct common_mapping *out);
/** All zero is allowed. */
void common_unmap(struct common_mapping *mapping);

#endif
