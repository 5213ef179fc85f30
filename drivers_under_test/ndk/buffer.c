/* SPDX-License-Identifier: Apache-2.0 */
/** @file buffer.c Device memory: memories made from a descriptor. */
#include <stdlib.h>
#include <unistd.h>

#include "ndk.h"

struct ndk_buffer {
    struct nnvts_buffer base;
    struct ndk_device *device;
    struct ndk_buffer *next; /**< in device->buffers */
    ANeuralNetworksMemory *memory;
    bool initialised; /**< guarded by device->lock */
    uint32_t prepared_count;
    struct ndk_prepared **prepared; /**< that the roles are of */
};

/* -------------------------------------------------------------------------- tokens */

struct ndk_buffer *ndk_buffer_find(struct ndk_device *d, uint32_t token, ANeuralNetworksMemory **memory) {
    pthread_mutex_lock(&d->lock);
    struct ndk_buffer *b = d->buffers;
    while (b && b->base.token != token) b = b->next;
    pthread_mutex_unlock(&d->lock);
    if (b) *memory = b->memory;
    return b;
}

void ndk_buffer_written(struct ndk_buffer *b, bool whole) {
    pthread_mutex_lock(&b->device->lock);
    b->initialised = whole;
    pthread_mutex_unlock(&b->device->lock);
}

static void enlist(struct ndk_buffer *b) {
    struct ndk_device *d = b->device;
    pthread_mutex_lock(&d->lock);
    b->base.token = ++d->last_token ? d->last_token : ++d->last_token;
    b->next = d->buffers;
    d->buffers = b;
    pthread_mutex_unlock(&d->lock);
}

static void delist(struct ndk_buffer *b) {
    struct ndk_device *d = b->device;
    pthread_mutex_lock(&d->lock);
    struct ndk_buffer **at = &d->buffers;
    while (*at && *at != b) at = &(*at)->next;
    if (*at) *at = b->next;
    pthread_mutex_unlock(&d->lock);
}

/* ------------------------------------------------------------------------- copying */

/** Copies between the buffer and a pool, by way of a memory of the library. */
static enum nnvts_status copy(struct ndk_buffer *b, const struct nnvts_memory *pool, bool to_buffer) {
    const struct ndk_library *lib = &b->device->lib;
    const uint32_t need = to_buffer ? NNVTS_PROT_READ : NNVTS_PROT_WRITE;
    ANeuralNetworksMemory *memory = NULL;
    struct ndk_mapping at, own = {0};
    int fd = -1;
    if (!pool || pool->size == 0 || (pool->prot & need) != need) return NNVTS_STATUS_INVALID_ARGUMENT;
    enum nnvts_status st = ndk_map(pool, &at);
    if (st != NNVTS_STATUS_NONE) return st;
    if (pool->fd >= 0)
        st = ndk_memory_new(lib, pool, &memory);
    else
        st = ndk_memory_copy(lib, at.data, at.size, &fd, &memory);
    if (st == NNVTS_STATUS_NONE)
        st = to_buffer ? NDK_CALL(lib, Memory_copy, memory, b->memory) : NDK_CALL(lib, Memory_copy, b->memory, memory);
    if (st == NNVTS_STATUS_NONE && !to_buffer && fd >= 0) { /* the caller has only a pointer */
        const struct nnvts_memory written = {.fd = fd, .prot = NNVTS_PROT_READ, .size = at.size};
        st = ndk_map(&written, &own);
        for (size_t i = 0; st == NNVTS_STATUS_NONE && i < at.size; i++) at.data[i] = own.data[i];
        ndk_unmap(&own);
    }
    if (memory) lib->fn.Memory_free(memory);
    if (fd >= 0 && close(fd) != 0) ndk_tell("the library has closed a descriptor that is not its own");
    ndk_unmap(&at);
    return st;
}

static enum nnvts_status copy_to(struct nnvts_buffer *self, const struct nnvts_memory *destination) {
    struct ndk_buffer *b = (struct ndk_buffer *)self;
    const enum nnvts_status st = copy(b, destination, false);
    pthread_mutex_lock(&b->device->lock);
    const bool initialised = b->initialised;
    pthread_mutex_unlock(&b->device->lock);
    /* The NDK has one code for a buffer without a value and for a wrong size. */
    return st == NNVTS_STATUS_INVALID_ARGUMENT && !initialised ? NNVTS_STATUS_GENERAL_FAILURE : st;
}

static enum nnvts_status copy_from(struct nnvts_buffer *self, const struct nnvts_memory *source,
                                   const uint32_t *dimensions, uint32_t dimension_count) {
    struct ndk_buffer *b = (struct ndk_buffer *)self;
    if (dimension_count && !dimensions) return NNVTS_STATUS_INVALID_ARGUMENT;
    const enum nnvts_status st = copy(b, source, true);
    ndk_buffer_written(b, st == NNVTS_STATUS_NONE);
    return st;
}

static void release(struct nnvts_buffer *self) {
    struct ndk_buffer *b = (struct ndk_buffer *)self;
    delist(b);
    if (b->memory) b->device->lib.fn.Memory_free(b->memory);
    for (uint32_t i = 0; i < b->prepared_count; i++) ndk_prepared_unref(b->prepared[i]);
    free(b->prepared);
    free(b);
}

/* ---------------------------------------------------------------------- allocating */

static enum nnvts_status add_roles(struct ndk_device *d, const struct nnvts_buffer_desc *desc,
                                   ANeuralNetworksMemoryDesc *to) {
    const struct ndk_library *lib = &d->lib;
    enum nnvts_status st = NNVTS_STATUS_NONE;
    for (uint32_t i = 0; i < desc->input_role_count && st == NNVTS_STATUS_NONE; i++) {
        const struct nnvts_buffer_role *r = &desc->input_roles[i];
        if (r->model >= desc->prepared_count) return NNVTS_STATUS_INVALID_ARGUMENT;
        st = NDK_CALL(lib, MemoryDesc_addInputRole, to, ((struct ndk_prepared *)desc->prepared[r->model])->compilation,
                      r->io, r->probability);
    }
    for (uint32_t i = 0; i < desc->output_role_count && st == NNVTS_STATUS_NONE; i++) {
        const struct nnvts_buffer_role *r = &desc->output_roles[i];
        if (r->model >= desc->prepared_count) return NNVTS_STATUS_INVALID_ARGUMENT;
        st = NDK_CALL(lib, MemoryDesc_addOutputRole, to, ((struct ndk_prepared *)desc->prepared[r->model])->compilation,
                      r->io, r->probability);
    }
    if (st == NNVTS_STATUS_NONE && desc->dimension_count)
        st = NDK_CALL(lib, MemoryDesc_setDimensions, to, desc->dimension_count, desc->dimensions);
    return st;
}

static enum nnvts_status make_memory(struct ndk_device *d, const struct nnvts_buffer_desc *desc,
                                     ANeuralNetworksMemory **out) {
    const struct ndk_library *lib = &d->lib;
    ANeuralNetworksMemoryDesc *to = NULL;
    enum nnvts_status st = NDK_MAKE(lib, MemoryDesc_create, &to, &to);
    if (st == NNVTS_STATUS_NONE) st = add_roles(d, desc, to);
    if (st == NNVTS_STATUS_NONE) st = NDK_CALL(lib, MemoryDesc_finish, to);
    if (st == NNVTS_STATUS_NONE) st = NDK_MAKE(lib, Memory_createFromDesc, out, to, out);
    if (to) lib->fn.MemoryDesc_free(to);
    return st;
}

static bool desc_ok(const struct nnvts_buffer_desc *desc) {
    enum { MAX_ITEMS = 1 << 16 };
    if (!desc || desc->prepared_count > MAX_ITEMS || desc->input_role_count > MAX_ITEMS ||
        desc->output_role_count > MAX_ITEMS || desc->dimension_count > MAX_ITEMS)
        return false;
    if ((desc->prepared_count && !desc->prepared) || (desc->input_role_count && !desc->input_roles) ||
        (desc->output_role_count && !desc->output_roles) || (desc->dimension_count && !desc->dimensions))
        return false;
    for (uint32_t i = 0; i < desc->prepared_count; i++)
        if (!desc->prepared[i]) return false;
    return true;
}

enum nnvts_status ndk_allocate(struct nnvts_device *self, const struct nnvts_buffer_desc *desc,
                               struct nnvts_buffer **out) {
    struct ndk_device *d = (struct ndk_device *)self;
    if (!out || !desc_ok(desc)) return NNVTS_STATUS_INVALID_ARGUMENT;
    struct ndk_buffer *b = calloc(1, sizeof *b);
    struct ndk_prepared **prepared = calloc((size_t)desc->prepared_count + 1, sizeof *prepared);
    enum nnvts_status st = NNVTS_STATUS_RESOURCE_EXHAUSTED_TRANSIENT;
    if (b && prepared) st = make_memory(d, desc, &b->memory);
    if (st != NNVTS_STATUS_NONE) {
        free(b);
        free(prepared);
        return st;
    }
    b->base = (struct nnvts_buffer){
        .struct_size = sizeof b->base, .copy_to = copy_to, .copy_from = copy_from, .release = release};
    b->device = d;
    b->prepared = prepared;
    b->prepared_count = desc->prepared_count;
    for (uint32_t i = 0; i < desc->prepared_count; i++) {
        prepared[i] = (struct ndk_prepared *)desc->prepared[i];
        ndk_prepared_ref(prepared[i]);
    }
    enlist(b);
    *out = &b->base;
    return st;
}
