/* SPDX-License-Identifier: Apache-2.0 */
/** @file buffer.c Device memory: buffers that requests name by a token. */
#include <stdlib.h>
#include <string.h>

#include "cpu.h"

/** What a role is for. Prepared models are known by number: a later one may lie where this one was. */
struct role {
    uint64_t prepared;
    uint32_t io;
    bool input;
    const struct nnv_operand *operand; /**< only while the buffer is made */
};

struct ref_buffer {
    struct nnvts_buffer base;
    struct ref_device *device;
    struct ref_buffer *next; /**< of device->buffers */
    uint32_t holders;        /**< guarded by device->lock, as is all that follows */
    struct role *roles;
    uint32_t role_count;
    int32_t type;
    struct ref_shape shape; /**< as allocated */
    bool initialised;
    struct nnv_value value; /**< malloc'ed data */
};

/* ---------------------------------------------------------------------- shapes */

bool ref_join(struct ref_shape *to, uint32_t rank, const uint32_t *dims) {
    if (rank > NNV_MAX_RANK || (rank && !dims)) return false;
    if (rank == 0) return true;
    if (to->rank == 0) *to = (struct ref_shape){.rank = rank};
    if (to->rank != rank) return false;
    for (uint32_t i = 0; i < rank; i++) {
        if (to->dims[i] && dims[i] && to->dims[i] != dims[i]) return false;
        if (dims[i]) to->dims[i] = dims[i];
    }
    return true;
}

static bool is_open(const struct ref_buffer *b, const struct ref_shape *s) {
    for (uint32_t i = 0; i < s->rank; i++)
        if (s->dims[i] == 0) return true;
    return s->rank == 0 && nnv_type(b->type)->tensor;
}

/* --------------------------------------------------------------------- copying */

/** Maps one pool; the arena is to be freed, after ref_unmap, whatever is returned. */
static enum nnvts_status map(const struct nnvts_memory *m, uint32_t prot, struct nnv_arena **arena,
                             struct ref_pools *pools) {
    *pools = (struct ref_pools){0};
    *arena = nnv_arena_new();
    if (!*arena) return NNVTS_STATUS_RESOURCE_EXHAUSTED_TRANSIENT;
    if (!m || m->kind != NNVTS_MEMORY_SHARED || (m->prot & prot) == 0) return NNVTS_STATUS_INVALID_ARGUMENT;
    return ref_map(m, 1, *arena, pools);
}

static enum nnvts_status copy_to(struct nnvts_buffer *self, const struct nnvts_memory *destination) {
    struct ref_buffer *b = (struct ref_buffer *)self;
    struct nnv_arena *arena;
    struct ref_pools pools;
    enum nnvts_status st = map(destination, NNVTS_PROT_WRITE, &arena, &pools);
    pthread_mutex_lock(&b->device->lock);
    if (st == NNVTS_STATUS_NONE && !b->initialised) st = NNVTS_STATUS_GENERAL_FAILURE;
    if (st == NNVTS_STATUS_NONE && destination->size != b->value.bytes) st = NNVTS_STATUS_INVALID_ARGUMENT;
    if (st == NNVTS_STATUS_NONE && b->value.bytes) memcpy(pools.item[0].data, b->value.data, b->value.bytes);
    pthread_mutex_unlock(&b->device->lock);
    ref_unmap(&pools);
    nnv_arena_free(arena);
    return st;
}

/** Takes a value; the lock is held. */
static bool set(struct ref_buffer *b, const struct nnv_value *v) {
    void *data = malloc(v->bytes + 1);
    b->initialised = data != NULL;
    if (!data) return false;
    if (v->bytes) memcpy(data, v->data, v->bytes);
    free(b->value.data);
    b->value = *v;
    b->value.data = data;
    return true;
}

static enum nnvts_status copy_from(struct nnvts_buffer *self, const struct nnvts_memory *source,
                                   const uint32_t *dimensions, uint32_t dimension_count) {
    struct ref_buffer *b = (struct ref_buffer *)self;
    struct ref_shape shape = b->shape;
    struct nnv_arena *arena;
    struct ref_pools pools;
    size_t elems, bytes;
    for (uint32_t i = 0; dimensions && i < dimension_count; i++)
        if (dimensions[i] == 0) return NNVTS_STATUS_INVALID_ARGUMENT;
    if (!ref_join(&shape, dimension_count, dimensions) || is_open(b, &shape) ||
        !nnv_size_bytes(b->type, shape.rank, shape.dims, &elems, &bytes) || !source || source->size != bytes)
        return NNVTS_STATUS_INVALID_ARGUMENT;
    enum nnvts_status st = map(source, NNVTS_PROT_READ, &arena, &pools);
    if (st == NNVTS_STATUS_NONE) {
        struct nnv_value value = {.rank = shape.rank, .data = pools.item[0].data, .bytes = bytes};
        memcpy(value.dims, shape.dims, sizeof value.dims);
        pthread_mutex_lock(&b->device->lock);
        if (!set(b, &value)) st = NNVTS_STATUS_RESOURCE_EXHAUSTED_TRANSIENT;
        pthread_mutex_unlock(&b->device->lock);
    }
    ref_unmap(&pools);
    nnv_arena_free(arena);
    return st;
}

/* ------------------------------------------------------------------ life, roles */

void ref_buffer_drop(struct ref_buffer *b) {
    if (!b) return;
    pthread_mutex_lock(&b->device->lock);
    bool last = --b->holders == 0;
    pthread_mutex_unlock(&b->device->lock);
    if (!last) return;
    free(b->value.data);
    free(b->roles);
    free(b);
}

static void release(struct nnvts_buffer *self) {
    struct ref_buffer *b = (struct ref_buffer *)self, **at = &b->device->buffers;
    pthread_mutex_lock(&b->device->lock);
    while (*at != b) at = &(*at)->next;
    *at = b->next;
    pthread_mutex_unlock(&b->device->lock);
    ref_buffer_drop(b);
}

static bool same_role(const struct role *a, const struct role *b) {
    return a->prepared == b->prepared && a->io == b->io && a->input == b->input;
}

static bool same_encoding(const struct nnv_operand *a, const struct nnv_operand *b) {
    const struct nnv_channel_quant *p = &a->channel, *q = &b->channel;
    return a->type == b->type && a->scale == b->scale && a->zero_point == b->zero_point && p->count == q->count &&
           p->dim == q->dim && (p->count == 0 || memcmp(p->scales, q->scales, p->count * sizeof *p->scales) == 0);
}

static bool find_role(const struct ref_device *device, const struct nnvts_buffer_desc *desc,
                      const struct nnvts_buffer_role *from, bool input, struct role *out) {
    if (from->model >= desc->prepared_count || !(from->probability > 0 && from->probability <= 1)) return false;
    const struct ref_prepared *p = ref_prepared_at(device, desc->prepared[from->model]);
    if (!p) return false;
    const struct nnv_subgraph *main = &p->model->main;
    if (from->io >= (input ? main->nin : main->nout)) return false;
    *out = (struct role){p->number, from->io, input, &main->operands[(input ? main->in : main->out)[from->io]]};
    return true;
}

/** Looks the roles up and joins what they and the caller's dimensions say. */
static bool fill(struct ref_buffer *b, const struct nnvts_buffer_desc *desc) {
    for (uint32_t i = 0; i < b->role_count; i++) {
        bool input = i < desc->input_role_count;
        struct role *r = &b->roles[i];
        if (!find_role(b->device, desc, input ? &desc->input_roles[i] : &desc->output_roles[i - desc->input_role_count],
                       input, r))
            return false;
        for (uint32_t k = 0; k < i; k++)
            if (same_role(r, &b->roles[k])) return false;
        if (!same_encoding(r->operand, b->roles[0].operand)) return false;
        if (!ref_join(&b->shape, r->operand->rank, r->operand->dims)) return false;
    }
    size_t elems, bytes;
    b->type = b->roles[0].operand->type;
    if (desc->dimension_count && !nnv_type(b->type)->tensor) return false;
    return ref_join(&b->shape, desc->dimension_count, desc->dimensions) &&
           (is_open(b, &b->shape) || nnv_size_bytes(b->type, b->shape.rank, b->shape.dims, &elems, &bytes));
}

static void enlist(struct ref_device *device, struct ref_buffer *b) {
    pthread_mutex_lock(&device->lock);
    for (bool taken = true; taken;) {
        b->base.token = ++device->last_token;
        taken = b->base.token == 0;
        for (const struct ref_buffer *o = device->buffers; o && !taken; o = o->next)
            taken = o->base.token == b->base.token;
    }
    b->next = device->buffers;
    device->buffers = b;
    pthread_mutex_unlock(&device->lock);
}

enum nnvts_status ref_allocate(struct nnvts_device *self, const struct nnvts_buffer_desc *desc,
                               struct nnvts_buffer **out) {
    enum { MOST_ROLES = 1 << 16 };
    uint32_t ins = desc->input_role_count, outs = desc->output_role_count;
    if ((desc->prepared_count && !desc->prepared) || (ins && !desc->input_roles) || (outs && !desc->output_roles) ||
        ins > MOST_ROLES || outs > MOST_ROLES || ins + outs == 0)
        return NNVTS_STATUS_INVALID_ARGUMENT;
    struct ref_buffer *b = calloc(1, sizeof *b);
    struct role *roles = calloc((size_t)ins + outs, sizeof *roles);
    enum nnvts_status st = b && roles ? NNVTS_STATUS_NONE : NNVTS_STATUS_RESOURCE_EXHAUSTED_TRANSIENT;
    if (st == NNVTS_STATUS_NONE) {
        *b = (struct ref_buffer){
            .base = {.struct_size = sizeof b->base, .copy_to = copy_to, .copy_from = copy_from, .release = release},
            .device = (struct ref_device *)self,
            .holders = 1,
            .roles = roles,
            .role_count = ins + outs};
        if (!fill(b, desc)) st = NNVTS_STATUS_INVALID_ARGUMENT;
    }
    if (st == NNVTS_STATUS_NONE) {
        enlist(b->device, b);
        *out = &b->base;
    } else {
        free(roles);
        free(b);
    }
    return st;
}

/* ------------------------------------------------------------------ executions */

struct ref_buffer *ref_buffer_hold(const struct ref_prepared *prepared, uint32_t token, uint32_t io, bool input) {
    struct ref_device *device = prepared->device;
    const struct role role = {prepared->number, io, input, NULL};
    bool has_role = false;
    pthread_mutex_lock(&device->lock);
    struct ref_buffer *b = device->buffers;
    while (b && b->base.token != token) b = b->next;
    for (uint32_t i = 0; b && i < b->role_count; i++) has_role = has_role || same_role(&b->roles[i], &role);
    if (has_role) b->holders++;
    pthread_mutex_unlock(&device->lock);
    return has_role ? b : NULL;
}

const struct ref_shape *ref_buffer_shape(const struct ref_buffer *buffer) { return &buffer->shape; }

enum nnvts_status ref_buffer_read(struct ref_buffer *b, struct nnv_arena *arena, struct nnv_value *value) {
    struct ref_shape declared = {.rank = value->rank};
    enum nnvts_status st = NNVTS_STATUS_NONE;
    memcpy(declared.dims, value->dims, sizeof declared.dims);
    pthread_mutex_lock(&b->device->lock);
    if (!b->initialised) {
        st = NNVTS_STATUS_GENERAL_FAILURE;
    } else if (!ref_join(&declared, b->value.rank, b->value.dims)) {
        st = NNVTS_STATUS_INVALID_ARGUMENT;
    } else {
        *value = b->value;
        value->data = nnv_arena_copy(arena, b->value.data, b->value.bytes);
        if (!value->data) st = NNVTS_STATUS_RESOURCE_EXHAUSTED_TRANSIENT;
    }
    pthread_mutex_unlock(&b->device->lock);
    return st;
}

bool ref_buffer_write(struct ref_buffer *b, const struct nnv_value *value) {
    pthread_mutex_lock(&b->device->lock);
    bool ok = set(b, value);
    pthread_mutex_unlock(&b->device->lock);
    return ok;
}

void ref_buffer_clear(struct ref_buffer *b) {
    pthread_mutex_lock(&b->device->lock);
    b->initialised = false;
    pthread_mutex_unlock(&b->device->lock);
}
