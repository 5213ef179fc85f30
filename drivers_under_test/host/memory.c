/* SPDX-License-Identifier: Apache-2.0 */
/** @file memory.c Pools of the caller as they are sent to the host. */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "client.h"

static enum nnvts_status copy_begin(struct nnvts_memory *m, struct host_copy *c) {
    c->bytes = (size_t)m->size; /* common_map refuses what does not fit */
    c->writable = m->prot & NNVTS_PROT_WRITE;
    struct nnvts_memory readable = *m;
    readable.prot |= NNVTS_PROT_READ;
    const enum nnvts_status st = common_map(&readable, &c->theirs);
    if (st != NNVTS_STATUS_NONE) return st;
    c->fd = host_memory_new(c->bytes);
    void *shared = c->fd < 0 ? MAP_FAILED : mmap(NULL, c->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, c->fd, 0);
    if (shared != MAP_FAILED) c->shared = shared;
    if (c->writable) c->before = malloc(c->bytes);
    m->fd = c->fd;
    m->offset = 0;
    return c->shared && (c->before || !c->writable) ? NNVTS_STATUS_NONE : NNVTS_STATUS_RESOURCE_EXHAUSTED_TRANSIENT;
}

enum nnvts_status host_pools_begin(struct host_pools *p, const struct nnvts_memory *pools, uint32_t count) {
    *p = (struct host_pools){0};
    if (count && !pools) return NNVTS_STATUS_INVALID_ARGUMENT;
    p->count = count;
    p->sent = calloc((size_t)count + 1, sizeof *p->sent);
    p->copies = calloc((size_t)count + 1, sizeof *p->copies);
    enum nnvts_status st = p->sent && p->copies ? NNVTS_STATUS_NONE : NNVTS_STATUS_RESOURCE_EXHAUSTED_TRANSIENT;
    if (st != NNVTS_STATUS_NONE) p->count = 0;
    for (uint32_t i = 0; i < p->count; i++) p->copies[i].fd = -1;
    for (uint32_t i = 0; i < p->count && st == NNVTS_STATUS_NONE; i++) {
        const struct nnvts_memory *m = &pools[i];
        p->sent[i] = *m;
        p->sent[i].data = NULL;
        if (m->kind == NNVTS_MEMORY_SHARED && m->fd >= 0 && host_memory_holds(m->fd, m->offset, m->size)) continue;
        p->sent[i].fd = -1;
        if (m->kind != NNVTS_MEMORY_SHARED || m->size == 0 || (!m->data && m->fd < 0)) continue;
        p->sent[i].fd = m->fd;
        p->sent[i].data = m->data;
        st = copy_begin(&p->sent[i], &p->copies[i]);
    }
    if (st == NNVTS_STATUS_NONE)
        host_pools_copy_in(p);
    else
        host_pools_end(p);
    return st;
}

void host_pools_copy_in(struct host_pools *p) {
    for (uint32_t i = 0; i < p->count; i++) {
        struct host_copy *c = &p->copies[i];
        if (c->fd < 0) continue;
        memcpy(c->shared, c->theirs.data, c->bytes);
        if (c->writable) memcpy(c->before, c->theirs.data, c->bytes);
    }
}

void host_pools_copy_out(struct host_pools *p) {
    for (uint32_t i = 0; i < p->count; i++) {
        struct host_copy *c = &p->copies[i];
        if (c->fd < 0 || !c->writable) continue;
        for (uint64_t k = 0; k < c->bytes; k++)
            if (c->shared[k] != c->before[k]) c->theirs.data[k] = c->shared[k];
    }
}

void host_pools_end(struct host_pools *p) {
    for (uint32_t i = 0; i < p->count; i++) {
        struct host_copy *c = &p->copies[i];
        if (c->shared) munmap(c->shared, c->bytes);
        common_unmap(&c->theirs);
        if (c->fd >= 0) close(c->fd);
        free(c->before);
    }
    free(p->copies);
    free(p->sent);
    *p = (struct host_pools){0};
}
