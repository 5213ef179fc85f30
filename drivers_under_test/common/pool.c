/* SPDX-License-Identifier: Apache-2.0 */
#include "pool.h"

#include <sys/mman.h>
#include <sys/stat.h>

bool common_file_holds(const struct nnvts_memory *pool) {
    struct stat file;
    if (pool->fd < 0 || fstat(pool->fd, &file) != 0 || pool->offset > INT64_MAX / 2 || pool->size > INT64_MAX / 2)
        return false;
    return !S_ISREG(file.st_mode) || pool->offset + pool->size <= (uint64_t)file.st_size;
}

int common_protection(const struct nnvts_memory *pool) {
    return (pool->prot & NNVTS_PROT_READ ? PROT_READ : 0) | (pool->prot & NNVTS_PROT_WRITE ? PROT_WRITE : 0);
}

enum nnvts_status common_map(const struct nnvts_memory *pool, struct common_mapping *out) {
    *out = (struct common_mapping){.bytes = (size_t)pool->size};
    if (pool->kind != NNVTS_MEMORY_SHARED || pool->size > SIZE_MAX / 2) return NNVTS_STATUS_INVALID_ARGUMENT;
    out->data = pool->data;
    if (pool->data || pool->size == 0) return NNVTS_STATUS_NONE;
    if (!common_file_holds(pool)) return NNVTS_STATUS_INVALID_ARGUMENT;
    void *base = mmap(NULL, out->bytes, common_protection(pool), MAP_SHARED, pool->fd, (off_t)pool->offset);
    if (base == MAP_FAILED) return NNVTS_STATUS_INVALID_ARGUMENT;
    out->data = out->base = base;
    return NNVTS_STATUS_NONE;
}

void common_unmap(struct common_mapping *mapping) {
    if (mapping->base) munmap(mapping->base, mapping->bytes);
    *mapping = (struct common_mapping){0};
}
