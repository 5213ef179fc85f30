/* SPDX-License-Identifier: Apache-2.0 */
/** @file memory.c Pools as memories of the library. */
#include <sys/mman.h>
#include <unistd.h>

#include "ndk.h"

enum nnvts_status ndk_memory_new(const struct ndk_library *lib, const struct nnvts_memory *m,
                                 ANeuralNetworksMemory **out) {
    if (!common_file_holds(m)) return NNVTS_STATUS_INVALID_ARGUMENT;
    *out = NULL;
    return NDK_MAKE(lib, Memory_createFromFd, out, (size_t)m->size, common_protection(m), m->fd, (size_t)m->offset,
                    out);
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
