/* SPDX-License-Identifier: Apache-2.0 */
/** @file buffer.c Device memory: memories made from a descriptor. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ndk.h"

enum { MAX_RANK = 64 };

struct ndk_buffer {
    struct nnvts_buffer base;
    struct ndk_device *device;
    struct ndk_buffer *next; /**< in device->buffers */
    ANeuralNetworksMemory *memory;
    uint32_t value_rank, value_dims[MAX_RANK]; /**< guarded by device->lock */
    bool initialised;                          /**< guarded by device->lock */
    uint32_t role_count[2];                    /**< inputs, outputs */
    struct nnvts_buffer_role *roles[2];
    uint32_t rank; /**< of all that is known; 0: not known */
    uint32_t *dims;
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

void ndk_buffer_written(struct ndk_buffer *b, bool whole, uint32_t rank, const uint32_t *dims) {
    pthread_mutex_lock(&b->device->lock);
    b->initialised = whole;
    b->value_rank = whole && rank <= MAX_RANK ? rank : 0;
    for (uint32_t i = 0; i < b->value_rank; i++) b->value_dims[i] = dims[i];
    pthread_mutex_unlock(&b->device->lock);
}

uint32_t ndk_buffer_shape(struct ndk_buffer *b, uint32_t *dims, uint32_t room) {
    pthread_mutex_lock(&b->device->lock);
    const uint32_t rank = b->value_rank <= room ? b->value_rank : 0;
    for (uint32_t i = 0; i < rank; i++) dims[i] = b->value_dims[i];
    pthread_mutex_unlock(&b->device->lock);
    return rank;
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

/* ------------------------------------------------------------------------- copying */

/** Copies between the buffer and a pool, by way of a memory of the library. */
static enum nnvts_status copy(struct ndk_buffer *b, const struct nnvts_memory *pool, bool to_buffer) {
    const struct ndk_library *lib = &b->device->lib;
    const uint32_t need = to_buffer ? NNVTS_PROT_READ : NNVTS_PROT_WRITE;
    ANeuralNetworksMemory *memory = NULL;
    struct common_mapping at, own = {0};
    int fd = -1;
    if (!pool || pool->size == 0 || (pool->prot & need) != need) return NNVTS_STATUS_INVALID_ARGUMENT;
    enum nnvts_status st = common_map(pool, &at);
    if (st != NNVTS_STATUS_NONE) return st;
    if (pool->fd >= 0)
        st = ndk_memory_new(lib, pool, &memory);
    else
        st = ndk_memory_copy(lib, at.data, at.bytes, &fd, &memory);
    if (st == NNVTS_STATUS_NONE)
        st = to_buffer ? NDK_CALL(lib, Memory_copy, memory, b->memory) : NDK_CALL(lib, Memory_copy, b->memory, memory);
    if (st == NNVTS_STATUS_NONE && !to_buffer && fd >= 0) { /* the caller has only a pointer */
        const struct nnvts_memory written = {.fd = fd, .prot = NNVTS_PROT_READ, .size = at.bytes};
        st = common_map(&written, &own);
        for (size_t i = 0; st == NNVTS_STATUS_NONE && i < at.bytes; i++) at.data[i] = own.data[i];
        common_unmap(&own);
    }
    if (memory) lib->fn.Memory_free(memory);
    if (fd >= 0 && close(fd) != 0) ndk_tell("the library has closed a descriptor that is not its own");
    common_unmap(&at);
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

/** The extents agree with what is known of the buffer's. *news: they say more. */
static bool agree(const struct ndk_buffer *b, const uint32_t *dimensions, uint32_t rank, bool *news) {
    *news = b->rank == 0;
    if (b->rank && rank != b->rank) return false;
    for (uint32_t i = 0; i < rank; i++) {
        if (dimensions[i] == 0) continue;
        if (b->rank && b->dims[i] && b->dims[i] != dimensions[i]) return false;
        if (b->rank && b->dims[i] == 0) *news = true;
    }
    return true;
}

/**
 * The NDK has no words for the extents of what is copied, but a buffer takes them from another: so by way of one that
 * has the same roles, and these extents.
 */
static enum nnvts_status copy_as(struct ndk_buffer *b, const struct nnvts_memory *source, const uint32_t *dimensions,
                                 uint32_t rank) {
    struct ndk_buffer between = *b;
    const struct nnvts_buffer_desc desc = {.dimension_count = rank,
                                           .dimensions = dimensions,
                                           .prepared_count = b->prepared_count,
                                           .input_role_count = b->role_count[0],
                                           .output_role_count = b->role_count[1],
                                           .prepared = (struct nnvts_prepared_model *const *)b->prepared,
                                           .input_roles = b->roles[0],
                                           .output_roles = b->roles[1]};
    between.memory = NULL;
    enum nnvts_status st = make_memory(b->device, &desc, &between.memory);
    if (st == NNVTS_STATUS_NONE) st = copy(&between, source, true);
    if (st == NNVTS_STATUS_NONE) st = NDK_CALL(&b->device->lib, Memory_copy, between.memory, b->memory);
    if (between.memory) b->device->lib.fn.Memory_free(between.memory);
    return st;
}

static enum nnvts_status copy_from(struct nnvts_buffer *self, const struct nnvts_memory *source,
                                   const uint32_t *dimensions, uint32_t dimension_count) {
    struct ndk_buffer *b = (struct ndk_buffer *)self;
    bool news = false;
    if (dimension_count && (!dimensions || !agree(b, dimensions, dimension_count, &news)))
        return NNVTS_STATUS_INVALID_ARGUMENT;
    const enum nnvts_status st =
        dimension_count && news ? copy_as(b, source, dimensions, dimension_count) : copy(b, source, true);
    uint32_t dims[MAX_RANK], rank = dimension_count ? dimension_count : b->rank;
    for (uint32_t i = 0; i < rank && rank <= MAX_RANK; i++)
        dims[i] = dimension_count && dimensions[i] ? dimensions[i] : i < b->rank ? b->dims[i] : 0;
    ndk_buffer_written(b, st == NNVTS_STATUS_NONE, rank, dims);
    return st;
}

/* ------------------------------------------------------------------------- objects */

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

static void destroy(struct ndk_buffer *b) {
    if (!b) return;
    if (b->memory) b->device->lib.fn.Memory_free(b->memory);
    for (uint32_t i = 0; i < b->prepared_count; i++) ndk_prepared_unref(b->prepared[i]);
    free(b->prepared);
    free(b->roles[0]);
    free(b->roles[1]);
    free(b->dims);
    free(b);
}

static void release(struct nnvts_buffer *self) {
    struct ndk_buffer *b = (struct ndk_buffer *)self;
    delist(b);
    destroy(b);
}

static struct nnvts_buffer_role *copy_roles(const struct nnvts_buffer_role *roles, uint32_t count) {
    struct nnvts_buffer_role *to = calloc((size_t)count + 1, sizeof *to);
    if (to && count) memcpy(to, roles, count * sizeof *to);
    return to;
}

/** What an operand of this type adds to what is known of the extents. */
static void join(struct ndk_buffer *b, uint32_t rank, const uint32_t *dims) {
    if (b->rank == 0) b->rank = rank;
    for (uint32_t i = 0; i < rank && i < b->rank; i++)
        if (b->dims[i] == 0) b->dims[i] = dims[i];
}

/** A description that was accepted. */
static bool remember(struct ndk_buffer *b, const struct nnvts_buffer_desc *desc) {
    uint32_t most = desc->dimension_count;
    b->prepared = calloc((size_t)desc->prepared_count + 1, sizeof(struct ndk_prepared *));
    b->roles[0] = copy_roles(desc->input_roles, desc->input_role_count);
    b->roles[1] = copy_roles(desc->output_roles, desc->output_role_count);
    if (!b->prepared || !b->roles[0] || !b->roles[1]) return false;
    b->role_count[0] = desc->input_role_count;
    b->role_count[1] = desc->output_role_count;
    for (uint32_t i = 0; i < desc->prepared_count; i++) {
        b->prepared[b->prepared_count++] = (struct ndk_prepared *)desc->prepared[i];
        ndk_prepared_ref(b->prepared[i]);
    }
    for (int pass = 0; pass < 2; pass++) { /* first how many there are, then which */
        if (pass && !(b->dims = calloc((size_t)most + 1, sizeof *b->dims))) return false;
        if (pass) join(b, desc->dimension_count, desc->dimensions);
        for (uint32_t i = 0; i < b->role_count[0] + b->role_count[1]; i++) {
            const bool in = i < b->role_count[0];
            const struct nnvts_buffer_role *r = in ? &b->roles[0][i] : &b->roles[1][i - b->role_count[0]];
            const struct ndk_prepared *p = b->prepared[r->model];
            if (r->io >= (in ? p->input_count : p->output_count)) continue; /* what the library let pass */
            const ANeuralNetworksOperandType *t = in ? &p->inputs[r->io].type : &p->outputs[r->io].type;
            if (pass)
                join(b, t->dimensionCount, t->dimensions);
            else if (t->dimensionCount > most)
                most = t->dimensionCount;
        }
    }
    return true;
}

enum nnvts_status ndk_allocate(struct nnvts_device *self, const struct nnvts_buffer_desc *desc,
                               struct nnvts_buffer **out) {
    struct ndk_device *d = (struct ndk_device *)self;
    if (!out || !desc_ok(desc)) return NNVTS_STATUS_INVALID_ARGUMENT;
    struct ndk_buffer *b = calloc(1, sizeof *b);
    if (!b) return NNVTS_STATUS_RESOURCE_EXHAUSTED_TRANSIENT;
    b->base = (struct nnvts_buffer){
        .struct_size = sizeof b->base, .copy_to = copy_to, .copy_from = copy_from, .release = release};
    b->device = d;
    enum nnvts_status st = make_memory(d, desc, &b->memory);
    if (st == NNVTS_STATUS_NONE && !remember(b, desc)) st = NNVTS_STATUS_RESOURCE_EXHAUSTED_TRANSIENT;
    if (st != NNVTS_STATUS_NONE) {
        destroy(b);
        return st;
    }
    enlist(b);
    *out = &b->base;
    return st;
}
