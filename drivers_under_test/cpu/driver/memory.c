/* SPDX-License-Identifier: Apache-2.0 */
#include "memory.h"

#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/** A file that is shorter than the pool would raise SIGBUS. */
static bool file_holds(int fd, uint64_t bytes) {
    struct stat st;
    if (fstat(fd, &st) != 0) return false;
    return !S_ISREG(st.st_mode) || (uint64_t)st.st_size >= bytes;
}

enum nnvts_status cpu_memory_map(const struct nnvts_memory *memory, uint32_t need, struct cpu_mapping *out) {
    if (memory->kind != NNVTS_MEMORY_SHARED || (memory->prot & need) != need) return NNVTS_STATUS_INVALID_ARGUMENT;
    if (memory->data || memory->size == 0) {
        *out = (struct cpu_mapping){.data = memory->data};
        return NNVTS_STATUS_NONE;
    }
    uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    if (memory->fd < 0 || memory->size > INT64_MAX / 2 || memory->offset > INT64_MAX / 2 ||
        memory->offset % page != 0 || memory->size >= SIZE_MAX)
        return NNVTS_STATUS_INVALID_ARGUMENT;
    if (!file_holds(memory->fd, memory->offset + memory->size)) return NNVTS_STATUS_INVALID_ARGUMENT;
    int prot = (memory->prot & NNVTS_PROT_READ ? PROT_READ : 0) | (memory->prot & NNVTS_PROT_WRITE ? PROT_WRITE : 0);
    const size_t bytes = (size_t)memory->size;
    void *base = mmap(NULL, bytes, prot, MAP_SHARED, memory->fd, (off_t)memory->offset);
    if (base == MAP_FAILED) return NNVTS_STATUS_GENERAL_FAILURE;
    *out = (struct cpu_mapping){.data = base, .base = base, .bytes = bytes};
    return NNVTS_STATUS_NONE;
}

void cpu_memory_unmap(struct cpu_mapping *mapping) {
    if (mapping->base) munmap(mapping->base, mapping->bytes);
    *mapping = (struct cpu_mapping){0};
}
