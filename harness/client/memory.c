/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/client/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "harness/client/verify.h"

enum { FIRST_BYTES = 1 << 20 };

/* ---------------------------------------------------------------------- pools */

/** Bytes that are mapped for a pool. */
static size_t mapped_bytes(const struct nnv_abi_pool *pool) {
    return pool->memory.size ? (size_t)pool->memory.size : 1;
}

static void *map(const struct nnv_abi_pool *pool, int prot) {
    void *p = mmap(NULL, mapped_bytes(pool), prot, MAP_SHARED, pool->memory.fd, 0);
    return p == MAP_FAILED ? NULL : p;
}

enum nnv_status nnv_abi_pool_make(size_t bytes, enum nnv_pool_kind kind, struct nnv_abi_pool *pool,
                                  struct nnv_err *err) {
    struct nnv_abi_pool p = {.memory = {.prot = NNVTS_PROT_READ, .size = bytes}};
    p.memory.fd = nnv_memory_file("nnvts", mapped_bytes(&p), F_SEAL_SHRINK | F_SEAL_GROW);
    if (kind == NNV_POOL_WRITABLE) p.memory.prot |= NNVTS_PROT_WRITE;
    if (p.memory.fd >= 0) p.data = map(&p, PROT_READ | PROT_WRITE);
    if (p.data && kind != NNV_POOL_FD_ONLY) p.memory.data = kind == NNV_POOL_WRITABLE ? p.data : map(&p, PROT_READ);
    if (p.data && (p.memory.data || kind == NNV_POOL_FD_ONLY)) {
        *pool = p;
        return NNV_OK;
    }
    enum nnv_status st = nnv_fail(err, NNV_NO_MEMORY, "%zu bytes of shared memory: %s", bytes, strerror(errno));
    if (!p.data && p.memory.fd >= 0) close(p.memory.fd);
    nnv_abi_pool_free(&p);
    return st;
}

static size_t pages(size_t bytes) {
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    return (bytes + page - 1) / page * page;
}

void nnv_unmap(struct nnv_mapped *m) {
    if (m->bytes) munmap(m->at, m->bytes);
    *m = (struct nnv_mapped){0};
}

/** Adds a mapping to its neighbour; one that is none of it takes its place. */
static void unmap_later(struct nnv_mapped *m, uint8_t *at, size_t bytes) {
    if (at + bytes != m->at && at != m->at + m->bytes) nnv_unmap(m);
    if (!m->bytes || at < m->at) m->at = at;
    m->bytes += bytes;
}

void nnv_abi_pool_close(struct nnv_abi_pool *pool, struct nnv_mapped *m) {
    const size_t bytes = pages(mapped_bytes(pool));
    if (pool->memory.data && pool->memory.data != pool->data) unmap_later(m, pool->memory.data, bytes);
    if (pool->data) unmap_later(m, pool->data, bytes);
    if (pool->data) close(pool->memory.fd);
    *pool = (struct nnv_abi_pool){0};
}

void nnv_abi_pool_free(struct nnv_abi_pool *pool) {
    struct nnv_mapped mapped = {0};
    nnv_abi_pool_close(pool, &mapped);
    nnv_unmap(&mapped);
}

/* -------------------------------------------------------------- what is kept */

struct nnv_client_memory {
    struct nnv_abi_pool pool;
    ino_t inode; /* of its file */
};

static enum nnv_status enlarge(struct nnv_client_memory *m, size_t bytes, struct nnv_err *err) {
    size_t room = m->pool.memory.size ? (size_t)m->pool.memory.size : FIRST_BYTES;
    struct stat s;
    while (room < bytes && room <= SIZE_MAX / 4) room *= 2;
    nnv_abi_pool_free(&m->pool);
    enum nnv_status st = nnv_abi_pool_make(room < bytes ? bytes : room, NNV_POOL_WRITABLE, &m->pool, err);
    if (st == NNV_OK && fstat(m->pool.memory.fd, &s) == 0) m->inode = s.st_ino;
    return st;
}

enum nnv_status nnv_client_memory_get(struct nnv_client *client, size_t bytes, uint8_t **data, int *fd,
                                      struct nnv_err *err) {
    struct nnv_client_memory *m = client->memory;
    if (!m && !(m = client->memory = calloc(1, sizeof *m))) return nnv_no_memory(err);
    if (!m->pool.data || m->pool.memory.size < bytes) {
        enum nnv_status st = enlarge(m, bytes, err);
        if (st != NNV_OK) return st;
    }
    *data = m->pool.data;
    *fd = m->pool.memory.fd;
    return NNV_OK;
}

enum nnv_status nnv_client_pools(struct nnv_client *client, const size_t *bytes, size_t count,
                                 struct nnv_abi_pool *pools, struct nnv_err *err) {
    size_t total = 0, at = 0;
    uint8_t *data;
    int fd;
    for (size_t i = 0; i < count; i++) total += pages(bytes[i]);
    enum nnv_status st = nnv_client_memory_get(client, total, &data, &fd, err);
    for (size_t i = 0; i < count && st == NNV_OK; at += pages(bytes[i++]))
        pools[i] = (struct nnv_abi_pool){
            {.prot = NNVTS_PROT_READ, .fd = fd, .offset = at, .size = bytes[i], .data = data + at}, data + at};
    return st;
}

bool nnv_client_memory_whole(const struct nnv_client *client, struct nnv_breach *b) {
    const struct nnv_client_memory *m = client->memory;
    struct stat s;
    return !m || !m->pool.data || (fstat(m->pool.memory.fd, &s) == 0 && s.st_ino == m->inode) ||
           nnv_breach(b, NNV_BREACH_MEMORY, 0, "closed a file that is not the driver's");
}

void nnv_client_memory_free(struct nnv_client_memory *m) {
    if (!m) return;
    nnv_abi_pool_free(&m->pool);
    free(m);
}
