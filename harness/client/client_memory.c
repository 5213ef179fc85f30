/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/client/client_memory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FIRST_BYTES = 1 << 20 };

struct nnv_client_memory {
    int fd;
    ino_t inode; /* of fd */
    size_t size;
    uint8_t *data;
};

static struct nnv_client_memory *make(struct nnv_err *err) {
    struct nnv_client_memory *m = calloc(1, sizeof *m);
    int fd = m ? memfd_create("nnvts-values", MFD_CLOEXEC | MFD_ALLOW_SEALING) : -1;
    struct stat s;
    if (fd < 0 || fstat(fd, &s) != 0 || fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK) != 0) {
        if (fd >= 0) close(fd);
        free(m);
        nnv_fail(err, NNV_NO_MEMORY, "shared memory for values: %s", strerror(errno));
        return NULL;
    }
    m->fd = fd;
    m->inode = s.st_ino;
    return m;
}

static enum nnv_status grow(struct nnv_client_memory *m, size_t size, struct nnv_err *err) {
    size_t room = m->size ? m->size : FIRST_BYTES;
    while (room < size && room <= SIZE_MAX / 4) room *= 2;
    void *data = MAP_FAILED;
    if (room < size)
        errno = ENOMEM;
    else if (ftruncate(m->fd, (off_t)room) == 0)
        data = m->data ? mremap(m->data, m->size, room, MREMAP_MAYMOVE)
                       : mmap(NULL, room, PROT_READ | PROT_WRITE, MAP_SHARED, m->fd, 0);
    if (data == MAP_FAILED)
        return nnv_fail(err, NNV_NO_MEMORY, "%zu bytes of shared memory for values: %s", size, strerror(errno));
    m->data = data;
    m->size = room;
    return NNV_OK;
}

enum nnv_status nnv_client_memory_get(struct nnv_client *client, size_t size, uint8_t **data, int *fd,
                                      struct nnv_err *err) {
    if (!client->memory && !(client->memory = make(err))) return NNV_NO_MEMORY;
    struct nnv_client_memory *m = client->memory;
    if (m->size < size || !m->data) {
        enum nnv_status st = grow(m, size, err);
        if (st != NNV_OK) return st;
    }
    *data = m->data;
    *fd = m->fd;
    return NNV_OK;
}

bool nnv_client_memory_whole(const struct nnv_client *client) {
    const struct nnv_client_memory *m = client->memory;
    struct stat s;
    return !m || (fstat(m->fd, &s) == 0 && s.st_ino == m->inode);
}

void nnv_client_memory_free(struct nnv_client_memory *m) {
    if (!m) return;
    if (m->data) munmap(m->data, m->size);
    close(m->fd);
    free(m);
}
