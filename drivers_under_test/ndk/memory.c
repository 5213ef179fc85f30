/* SPDX-License-Identifier: Apache-2.0 */
/** @file memory.c Pools as memories of the library. */
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ndk.h"

bool ndk_file_holds(const struct nnvts_memory *m) {
    struct stat file;
    if (m->fd < 0 || fstat(m->fd, &file) != 0 || m->offset > INT64_MAX / 2 || m->size > INT64_MAX / 2) return false;
    return !S_ISREG(file.st_mode) || m->offset + m->size <= (uint64_t)file.st_size;
}

static int protection(uint32_t prot) {
    return (prot & NNVTS_PROT_READ ? PROT_READ : 0) | (prot & NNVTS_PROT_WRITE ? PROT_WRITE : 0);
}

enum nnvts_status ndk_map(const struct nnvts_memory *m, struct ndk_mapping *out) {
    *out = (struct ndk_mapping){.size = (size_t)m->size};
    if (m->kind != NNVTS_MEMORY_SHARED || m->size > SIZE_MAX / 2) return NNVTS_STATUS_INVALID_ARGUMENT;
    out->data = m->data;
    if (m->data || m->size == 0) return NNVTS_STATUS_NONE;
    if (!ndk_file_holds(m)) return NNVTS_STATUS_INVALID_ARGUMENT;
    void *p = mmap(NULL, (size_t)m->size, protection(m->prot), MAP_SHARED, m->fd, (off_t)m->offset);
    if (p == MAP_FAILED) return NNVTS_STATUS_INVALID_ARGUMENT;
    out->data = out->mapped = p;
    return NNVTS_STATUS_NONE;
}

void ndk_unmap(struct ndk_mapping *m) {
    if (m->mapped) munmap(m->mapped, m->size);
    *m = (struct ndk_mapping){0};
}

enum nnvts_status ndk_memory_new(const struct ndk_library *lib, const struct nnvts_memory *m,
                                 ANeuralNetworksMemory **out) {
    if (!ndk_file_holds(m)) return NNVTS_STATUS_INVALID_ARGUMENT;
    *out = NULL;
    return NDK_MAKE(lib, Memory_createFromFd, out, (size_t)m->size, protection(m->prot), m->fd, (size_t)m->offset, out);
}

enum nnvts_status ndk_memory_copy(const struct ndk_library *lib, const void *data, size_t size, int *fd,
                                  ANeuralNetworksMemory **out) {
    const int file = memfd_create("nnvts-ndk", MFD_CLOEXEC);
    *out = NULL;
    enum nnvts_status st = NNVTS_STATUS_RESOURCE_EXHAUSTED_TRANSIENT;
    if (file >= 0 && ftruncate(file, (off_t)size) == 0) {
        size_t written = 0;
        while (data && written < size) {
            const ssize_t n = write(file, (const char *)data + written, size - written);
            if (n <= 0) break;
            written += (size_t)n;
        }
        if (!data || written == size)
            st = NDK_MAKE(lib, Memory_createFromFd, out, size, PROT_READ | PROT_WRITE, file, 0, out);
    }
    if (st == NNVTS_STATUS_NONE)
        *fd = file;
    else if (file >= 0)
        close(file);
    return st;
}
