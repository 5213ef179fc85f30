/* SPDX-License-Identifier: Apache-2.0 */
/** @file memory.c Shared memory, from a file or new; and the end of every memory. */
#include "reference/runtime/api/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "reference/runtime/api/burst.h"
#include "reference/runtime/log.h"

/* A memory object around a file, mapped as prot says. Takes the descriptor where it succeeds. */
static int map_file(int fd, size_t offset, size_t size, int prot, ANeuralNetworksMemory **out) {
    ANeuralNetworksMemory *m = calloc(1, sizeof *m);
    if (!m) return ANEURALNETWORKS_OUT_OF_MEMORY;
    void *p = mmap(NULL, size, prot, MAP_SHARED, fd, (off_t)offset);
    if (p == MAP_FAILED) {
        free(m);
        return errno == ENOMEM ? ANEURALNETWORKS_OUT_OF_MEMORY : ANEURALNETWORKS_UNMAPPABLE;
    }
    m->mapped = p;
    m->mapped_bytes = size;
    m->memory = (struct nnvts_memory){
        .kind = NNVTS_MEMORY_SHARED,
        .prot = (prot & PROT_READ ? NNVTS_PROT_READ : 0u) | (prot & PROT_WRITE ? NNVTS_PROT_WRITE : 0u),
        .fd = fd,
        .offset = offset,
        .size = size,
        .data = p,
    };
    pthread_mutex_init(&m->lock, NULL);
    *out = m;
    return ANEURALNETWORKS_NO_ERROR;
}

struct ANeuralNetworksMemory *nnv_rt_memory_shared(uint64_t bytes) {
    ANeuralNetworksMemory *m = NULL;
    if (bytes == 0 || bytes > PTRDIFF_MAX) return NULL;
    int fd = memfd_create("nnapi", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (fd < 0) return NULL;
    /* Of sealed size, so that a driver in another process may map it rather than copy it. */
    if (ftruncate(fd, (off_t)bytes) != 0 || fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW) != 0 ||
        map_file(fd, 0, (size_t)bytes, PROT_READ | PROT_WRITE, &m) != 0) {
        close(fd);
        return NULL;
    }
    nnv_rt_vlog(NNV_RT_LOG_MEMORY, "shared memory of %zu bytes", (size_t)bytes);
    return m;
}

/* True where the file has all of the range: reading behind its end would kill the process. */
static bool file_holds(int fd, size_t offset, size_t size) {
    struct stat file;
    size_t end;
    if (fstat(fd, &file) != 0 || __builtin_add_overflow(offset, size, &end) || end > PTRDIFF_MAX) return false;
    return !S_ISREG(file.st_mode) || (off_t)end <= file.st_size;
}

int ANeuralNetworksMemory_createFromFd(size_t size, int protect, int fd, size_t offset,
                                       ANeuralNetworksMemory **memory) {
    static const char function[] = "Memory_createFromFd";
    if (!memory) return nnv_rt_error(ANEURALNETWORKS_UNEXPECTED_NULL, function, "memory is NULL");
    *memory = NULL;
    if (size == 0) return nnv_rt_error(ANEURALNETWORKS_BAD_DATA, function, "a size of 0 bytes");
    int copy = fd < 0 ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, 0);
    if (copy < 0)
        return nnv_rt_error(ANEURALNETWORKS_UNEXPECTED_NULL, function,
                            fd < 0 || errno == EBADF ? "%d is no open file descriptor"
                                                     : "%d: no more file descriptors can be opened",
                            fd);
    int result = ANEURALNETWORKS_UNMAPPABLE;
    if (file_holds(copy, offset, size)) result = map_file(copy, offset, size, protect, memory);
    if (result == ANEURALNETWORKS_NO_ERROR) return result;
    close(copy);
    return nnv_rt_error(result, function,
                        "%zu bytes at offset %zu cannot be mapped: the offset is to be a multiple of the page size, "
                        "the file is to have so many bytes, and to allow this protection (%d)",
                        size, offset, protect);
}

int ANeuralNetworksMemory_createFromAHardwareBuffer(const AHardwareBuffer *ahwb, ANeuralNetworksMemory **memory) {
    static const char function[] = "Memory_createFromAHardwareBuffer";
    if (memory) *memory = NULL;
    if (!memory) return nnv_rt_error(ANEURALNETWORKS_UNEXPECTED_NULL, function, "memory is NULL");
    if (!ahwb) return nnv_rt_error(ANEURALNETWORKS_UNEXPECTED_NULL, function, "ahwb is NULL");
    return nnv_rt_error(ANEURALNETWORKS_UNMAPPABLE, function,
                        "this platform has no hardware buffers; use Memory_createFromFd");
}

void ANeuralNetworksMemory_free(ANeuralNetworksMemory *memory) {
    if (!memory) return;
    nnv_rt_burst_forget(memory);
    if (memory->buffer) memory->buffer->release(memory->buffer);
    if (memory->mapped) munmap(memory->mapped, memory->mapped_bytes);
    if (memory->memory.kind == NNVTS_MEMORY_SHARED && memory->memory.fd >= 0) close(memory->memory.fd);
    pthread_mutex_destroy(&memory->lock);
    free(memory->roles);
    free(memory->dims);
    free(memory->current_dims);
    free(memory);
}

int nnv_rt_memory_check(const struct ANeuralNetworksMemory *m, size_t offset, size_t length) {
    if (m->has_roles || m->memory.kind == NNVTS_MEMORY_DEVICE)
        return offset == 0 && length == 0 ? ANEURALNETWORKS_NO_ERROR : ANEURALNETWORKS_BAD_DATA;
    size_t end;
    if (length == 0 || __builtin_add_overflow(offset, length, &end) || end > m->memory.size)
        return ANEURALNETWORKS_BAD_DATA;
    return ANEURALNETWORKS_NO_ERROR;
}
