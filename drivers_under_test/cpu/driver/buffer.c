/* SPDX-License-Identifier: Apache-2.0 */
#include "buffer.h"

#include <stdlib.h>
#include <string.h>

#include "memory.h"
#include "op.h"

struct cpu_buffer {
    struct nnvts_buffer base;
    struct cpu_buffers *buffers;
    struct cpu_buffer *next; /**< of buffers */
    uint32_t holders;        /**< guarded by buffers->lock */
    uint32_t role_count;
    struct cpu_role *roles;
    int32_t type;
    bool known_rank;
    struct cpu_shape shape; /**< as allocated: CPU_UNKNOWN where open */

    pthread_mutex_t lock; /**< guards what follows */
    bool initialised;
    struct cpu_shape now; /**< of the value */
    uint8_t *data;        /**< in the API's form */
    size_t bytes;
};

/* ---------------------------------------------------------------------- shapes */

/** Extents of a caller, 0 where open. False if there are too many. */
static bool read_shape(const uint32_t *dims, uint32_t rank, struct cpu_shape *out) {
    if (rank > CPU_MAX_RANK || !dims) return false;
    *out = (struct cpu_shape){.rank = rank};
    for (uint32_t i = 0; i < rank; i++) out->dims[i] = dims[i] ? dims[i] : CPU_UNKNOWN;
    return true;
}

/* --------------------------------------------------------------------- copying */

/** Room for a value of this shape; false without memory. The lock is held. */
static bool resize(struct cpu_buffer *b, const struct cpu_shape *shape, size_t count) {
    const size_t bytes = count * cpu_api_element(b->type);
    uint8_t *data = b->data && bytes == b->bytes ? b->data : realloc(b->data, bytes + 1);
    if (!data) return false;
    b->data = data;
    b->bytes = bytes;
    b->now = *shape;
    return true;
}

static enum nnvts_status copy_to(struct nnvts_buffer *self, const struct nnvts_memory *destination) {
    struct cpu_buffer *b = (struct cpu_buffer *)self;
    struct cpu_mapping mapping;
    if (!destination) return NNVTS_STATUS_INVALID_ARGUMENT;
    enum nnvts_status st = cpu_memory_map(destination, NNVTS_PROT_WRITE, &mapping);
    if (st != NNVTS_STATUS_NONE) return st;
    pthread_mutex_lock(&b->lock);
    if (!b->initialised)
        st = NNVTS_STATUS_GENERAL_FAILURE;
    else if (destination->size != b->bytes)
        st = NNVTS_STATUS_INVALID_ARGUMENT;
    else if (b->bytes)
        memcpy(mapping.data, b->data, b->bytes);
    pthread_mutex_unlock(&b->lock);
    cpu_memory_unmap(&mapping);
    return st;
}

static enum nnvts_status copy_from(struct nnvts_buffer *self, const struct nnvts_memory *source,
                                   const uint32_t *dimensions, uint32_t dimension_count) {
    struct cpu_buffer *b = (struct cpu_buffer *)self;
    struct cpu_mapping mapping;
    struct cpu_shape shape = b->shape, given;
    bool known_rank = b->known_rank;
    size_t count;
    if (!source) return NNVTS_STATUS_INVALID_ARGUMENT;
    if (dimension_count && (!read_shape(dimensions, dimension_count, &given) || !cpu_extents_known(&given) ||
                            !cpu_shape_refine(&known_rank, &shape, &given)))
        return NNVTS_STATUS_INVALID_ARGUMENT;
    if (!known_rank || !cpu_extents_known(&shape) || !cpu_elements(b->type, &shape, &count) ||
        source->size != count * cpu_api_element(b->type))
        return NNVTS_STATUS_INVALID_ARGUMENT;
    enum nnvts_status st = cpu_memory_map(source, NNVTS_PROT_READ, &mapping);
    if (st != NNVTS_STATUS_NONE) return st;
    pthread_mutex_lock(&b->lock);
    b->initialised = resize(b, &shape, count);
    if (b->initialised && b->bytes) memcpy(b->data, mapping.data, b->bytes);
    st = b->initialised ? NNVTS_STATUS_NONE : NNVTS_STATUS_RESOURCE_EXHAUSTED_TRANSIENT;
    pthread_mutex_unlock(&b->lock);
    cpu_memory_unmap(&mapping);
    return st;
}

/* ------------------------------------------------------------------ life, roles */

void cpu_buffer_drop(struct cpu_buffer *b) {
    if (!b) return;
    pthread_mutex_lock(&b->buffers->lock);
    const bool last = --b->holders == 0;
    pthread_mutex_unlock(&b->buffers->lock);
    if (!last) return;
    pthread_mutex_destroy(&b->lock);
    free(b->data);
    free(b->roles);
    free(b);
}

static void release(struct nnvts_buffer *self) {
    struct cpu_buffer *b = (struct cpu_buffer *)self;
    pthread_mutex_lock(&b->buffers->lock);
    struct cpu_buffer **at = &b->buffers->first;
    while (*at != b) at = &(*at)->next;
    *at = b->next;
    pthread_mutex_unlock(&b->buffers->lock);
    cpu_buffer_drop(b);
}

static bool same_role(const struct cpu_role *a, const struct cpu_role *b) {
    return a->program == b->program && a->io == b->io && a->input == b->input;
}

static bool same_encoding(const struct cpu_tensor *a, const struct cpu_tensor *b) {
    return a->type == b->type && a->scale == b->scale && a->zero_point == b->zero_point && a->channels == b->channels &&
           a->channel_dim == b->channel_dim &&
           (a->channels == 0 || memcmp(a->scales, b->scales, a->channels * sizeof *a->scales) == 0);
}

/** The shape that all roles and the hint leave, in *b. */
static bool agree(const struct cpu_role_operand *roles, uint32_t count, const uint32_t *hint, uint32_t hint_rank,
                  struct cpu_buffer *b) {
    struct cpu_shape given;
    size_t elements;
    b->type = roles[0].tensor->type;
    for (uint32_t i = 0; i < count; i++) {
        const struct cpu_tensor *t = roles[i].tensor;
        for (uint32_t k = 0; k < i; k++)
            if (same_role(&roles[i].role, &roles[k].role)) return false;
        if (!same_encoding(t, roles[0].tensor)) return false;
        if (t->known_rank && !cpu_shape_refine(&b->known_rank, &b->shape, &t->shape)) return false;
    }
    if (hint_rank && (!cpu_is_tensor(b->type) || !read_shape(hint, hint_rank, &given) ||
                      !cpu_shape_refine(&b->known_rank, &b->shape, &given)))
        return false;
    return !b->known_rank || !cpu_extents_known(&b->shape) || cpu_elements(b->type, &b->shape, &elements);
}

static bool token_is_free(const struct cpu_buffers *buffers, uint32_t token) {
    if (token == 0) return false;
    for (const struct cpu_buffer *b = buffers->first; b; b = b->next)
        if (b->base.token == token) return false;
    return true;
}

static void enlist(struct cpu_buffers *buffers, struct cpu_buffer *b) {
    pthread_mutex_lock(&buffers->lock);
    do buffers->last_token++;
    while (!token_is_free(buffers, buffers->last_token));
    b->base.token = buffers->last_token;
    b->next = buffers->first;
    buffers->first = b;
    pthread_mutex_unlock(&buffers->lock);
}

enum nnvts_status cpu_buffer_new(struct cpu_buffers *buffers, const struct cpu_role_operand *roles, uint32_t count,
                                 const uint32_t *hint, uint32_t hint_rank, struct nnvts_buffer **out) {
    struct cpu_buffer made = {.buffers = buffers, .holders = 1, .role_count = count};
    made.base = (struct nnvts_buffer){
        .struct_size = sizeof made.base, .copy_to = copy_to, .copy_from = copy_from, .release = release};
    if (count == 0 || !agree(roles, count, hint, hint_rank, &made)) return NNVTS_STATUS_INVALID_ARGUMENT;
    struct cpu_buffer *b = malloc(sizeof *b);
    made.roles = malloc(count * sizeof *made.roles);
    if (!b || !made.roles) {
        free(b);
        free(made.roles);
        return NNVTS_STATUS_RESOURCE_EXHAUSTED_TRANSIENT;
    }
    for (uint32_t i = 0; i < count; i++) made.roles[i] = roles[i].role;
    *b = made;
    pthread_mutex_init(&b->lock, NULL);
    enlist(buffers, b);
    *out = &b->base;
    return NNVTS_STATUS_NONE;
}

/* ------------------------------------------------------------------ executions */

struct cpu_buffer *cpu_buffer_hold(struct cpu_buffers *buffers, uint32_t token, struct cpu_role role) {
    pthread_mutex_lock(&buffers->lock);
    struct cpu_buffer *b = buffers->first;
    while (b && b->base.token != token) b = b->next;
    bool has_role = false;
    for (uint32_t i = 0; b && i < b->role_count; i++) has_role = has_role || same_role(&b->roles[i], &role);
    if (has_role) b->holders++;
    pthread_mutex_unlock(&buffers->lock);
    return has_role ? b : NULL;
}

const struct cpu_shape *cpu_buffer_shape(const struct cpu_buffer *buffer, bool *known_rank) {
    *known_rank = buffer->known_rank;
    return &buffer->shape;
}

enum nnvts_status cpu_buffer_read(struct cpu_buffer *b, const struct cpu_kernels *kernels,
                                  const struct cpu_shape *declared, bool known_rank, struct cpu_blocks *values,
                                  struct cpu_tensor *t) {
    struct cpu_shape shape = *declared;
    enum nnvts_status st = NNVTS_STATUS_NONE;
    pthread_mutex_lock(&b->lock);
    if (!b->initialised) {
        st = NNVTS_STATUS_GENERAL_FAILURE;
    } else if (!cpu_shape_refine(&known_rank, &shape, &b->now)) {
        st = NNVTS_STATUS_INVALID_ARGUMENT;
    } else {
        t->known_rank = true;
        t->shape = b->now;
        const size_t count = cpu_count(t);
        t->data = cpu_blocks_get(values, count * cpu_element(t->type));
        if (t->data)
            cpu_convert_in(kernels, t->type, count, b->data, t->data);
        else
            st = NNVTS_STATUS_RESOURCE_EXHAUSTED_TRANSIENT;
    }
    pthread_mutex_unlock(&b->lock);
    return st;
}

bool cpu_buffer_write(struct cpu_buffer *b, const struct cpu_kernels *kernels, const struct cpu_tensor *t) {
    const size_t count = cpu_count(t);
    pthread_mutex_lock(&b->lock);
    const bool ok = b->initialised = resize(b, &t->shape, count);
    if (ok) cpu_convert_out(kernels, t->type, count, t->data, b->data);
    pthread_mutex_unlock(&b->lock);
    return ok;
}

void cpu_buffer_clear(struct cpu_buffer *b) {
    pthread_mutex_lock(&b->lock);
    b->initialised = false;
    pthread_mutex_unlock(&b->lock);
}
