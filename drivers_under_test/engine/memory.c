/* SPDX-License-Identifier: Apache-2.0 */
/** @file memory.c The caller's memory pools. */
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "shell.h"

/** Behind the end of a file that is shorter than its pool lies SIGBUS. */
static bool file_holds(int fd, uint64_t bytes) {
    struct stat st;
    if (fstat(fd, &st) != 0) return false;
    return !S_ISREG(st.st_mode) || (uint64_t)st.st_size >= bytes;
}

enum nnvts_status engine_map(const struct nnvts_memory *memory, struct engine_mapping *out) {
    *out = (struct engine_mapping){0};
    if (memory->kind != NNVTS_MEMORY_SHARED) return NNVTS_STATUS_INVALID_ARGUMENT;
    if (memory->data || memory->size == 0) {
        out->data = memory->data;
        return NNVTS_STATUS_NONE;
    }
    const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    if (memory->fd < 0 || memory->size > INT64_MAX / 2 || memory->offset > INT64_MAX / 2 ||
        memory->offset % page != 0 || !file_holds(memory->fd, memory->offset + memory->size))
        return NNVTS_STATUS_INVALID_ARGUMENT;
    const int prot =
        (memory->prot & NNVTS_PROT_READ ? PROT_READ : 0) | (memory->prot & NNVTS_PROT_WRITE ? PROT_WRITE : 0);
    void *base = mmap(NULL, memory->size, prot, MAP_SHARED, memory->fd, (off_t)memory->offset);
    if (base == MAP_FAILED) return NNVTS_STATUS_GENERAL_FAILURE;
    *out = (struct engine_mapping){base, base, memory->size};
    return NNVTS_STATUS_NONE;
}

void engine_unmap(struct engine_mapping *mapping) {
    if (mapping->base) munmap(mapping->base, mapping->bytes);
    *mapping = (struct engine_mapping){0};
}

bool engine_has_slack(const uint8_t *p, const uint8_t *end) {
    enum { SMALLEST_PAGE = 4096 };
    if (end - p >= ENGINE_SLACK) return true;
    const uintptr_t last = (uintptr_t)p - 1; /* of the value itself */
    return last / SMALLEST_PAGE == (last + ENGINE_SLACK) / SMALLEST_PAGE;
}

uint64_t engine_now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}
