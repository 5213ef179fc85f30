/* SPDX-License-Identifier: Apache-2.0 */
/** @file request.c Is a request legal, and where is its memory? */
#include <stdlib.h>

#include "exec.h"

/** A pool as the arguments see it. */
struct pool {
    struct cpu_mapping mapping;
    uint64_t size;
    uint32_t prot;
    bool device; /**< a buffer */
    uint32_t token;
};

static bool no_fields(const struct nnvts_argument *a) {
    const struct nnvts_location *l = &a->location;
    return l->pool == 0 && l->offset == 0 && l->length == 0 && l->padding == 0 && a->dimension_count == 0;
}

/** The argument's shape: the model's, completed by what the argument states. */
static bool merge_shape(const struct cpu_tensor *t, const struct nnvts_argument *a, bool input,
                        struct cpu_argument *out) {
    out->known_rank = t->known_rank;
    out->shape = t->shape;
    out->open = t->open;
    if (a->dimension_count == 0) return true;
    if (!a->dimensions || a->dimension_count > CPU_MAX_RANK || !cpu_is_tensor(t->type)) return false;
    if (!t->known_rank) {
        out->known_rank = true;
        out->shape.rank = a->dimension_count;
        for (uint32_t i = 0; i < a->dimension_count; i++) out->shape.dims[i] = CPU_UNKNOWN;
    }
    if (out->shape.rank != a->dimension_count) return false;
    for (uint32_t i = 0; i < a->dimension_count; i++) {
        const uint32_t extent = a->dimensions[i];
        uint32_t *to = &out->shape.dims[i];
        if (*to == CPU_UNKNOWN) /* an input's extent that the model leaves open may be zero */
            *to = extent == 0 && !input ? CPU_UNKNOWN : extent;
        else if (extent != 0 && extent != *to)
            return false;
        if (extent != 0) out->open &= ~(1u << i);
    }
    if (t->open == UINT32_MAX) out->open &= (1u << a->dimension_count) - 1;
    return true;
}

static bool input_size_fits(const struct cpu_tensor *t, const struct cpu_argument *a) {
    size_t count;
    return a->known_rank && cpu_extents_known(&a->shape) && cpu_elements(t->type, &a->shape, &count) &&
           count * cpu_api_element(t->type) == a->length;
}

/** Device memory: the whole buffer, in a role that it was allocated for. */
static bool bind_buffer(const struct cpu_program *p, uint32_t io, bool input, const struct nnvts_argument *a,
                        uint32_t token, struct cpu_argument *out) {
    const struct nnvts_location *l = &a->location;
    const struct cpu_tensor *t = &p->model.tensors[(input ? p->model.in : p->model.out)[io]];
    if (l->offset || l->length || l->padding) return false;
    struct cpu_buffer *buffer = cpu_buffer_hold(p->buffers, token, (struct cpu_role){p->id, io, input});
    if (!buffer) return false;
    *out = (struct cpu_argument){.buffer = buffer};
    struct cpu_tensor narrowed = *t;
    const struct cpu_shape *shape = cpu_buffer_shape(buffer, &narrowed.known_rank);
    narrowed.shape = *shape; /* the buffer's shape is the model's, or one that leaves less open */
    return merge_shape(&narrowed, a, input, out);
}

/** No buffer is written that is used elsewhere in the request. */
static bool buffers_apart(const struct cpu_binding *b) {
    for (const struct cpu_argument *o = b->out; o < b->in + b->argument_count; o++)
        for (const struct cpu_argument *a = b->in; a < b->in + b->argument_count; a++)
            if (o != a && o->buffer && o->buffer == a->buffer) return false;
    return true;
}

static bool bind(const struct cpu_tensor *t, const struct nnvts_argument *a, const struct pool *pools,
                 uint32_t pool_count, bool input, struct cpu_argument *out) {
    const struct nnvts_location *l = &a->location;
    if (l->pool >= pool_count) return false;
    const struct pool *pool = &pools[l->pool];
    const uint32_t need = input ? NNVTS_PROT_READ : NNVTS_PROT_WRITE;
    if ((uint64_t)l->offset + l->length + l->padding > pool->size || (pool->prot & need) != need) return false;
    *out = (struct cpu_argument){
        .readable = (pool->prot & NNVTS_PROT_READ) != 0,
        .data = pool->mapping.data ? pool->mapping.data + l->offset : NULL,
        .length = l->length,
    };
    return merge_shape(t, a, input, out) && (!input || input_size_fits(t, out));
}

/** True if the two have memory in common. */
static bool share(const struct cpu_argument *a, const struct cpu_argument *b) {
    if (!a->data || !b->data || a->length == 0 || b->length == 0) return false;
    const uintptr_t x = (uintptr_t)a->data, y = (uintptr_t)b->data;
    return x < y + b->length && y < x + a->length;
}

/** Kernels read inputs while they write: an output must not lie over an input or another output. */
static bool outputs_apart(const struct cpu_model *m, const struct cpu_binding *b) {
    for (uint32_t i = 0; i < m->out_count; i++) {
        for (uint32_t k = 0; k < m->in_count; k++)
            if (share(&b->out[i], &b->in[k])) return false;
        for (uint32_t k = 0; k < i; k++)
            if (share(&b->out[i], &b->out[k])) return false;
    }
    return true;
}

static bool bind_all(const struct cpu_program *p, const struct nnvts_request *r, const struct pool *pools,
                     struct cpu_binding *b) {
    const struct cpu_model *m = &p->model;
    for (uint32_t i = 0; i < m->in_count; i++) {
        const struct nnvts_argument *a = &r->inputs[i];
        const bool device = !a->has_no_value && a->location.pool < r->pool_count && pools[a->location.pool].device;
        if (device) {
            if (!bind_buffer(p, i, true, a, pools[a->location.pool].token, &b->in[i])) return false;
        } else if (!a->has_no_value) {
            if (!bind(&m->tensors[m->in[i]], a, pools, r->pool_count, true, &b->in[i])) return false;
        } else if (p->omittable[i] && no_fields(a)) {
            b->in[i] = (struct cpu_argument){.omitted = true};
        } else {
            return false;
        }
    }
    for (uint32_t i = 0; i < m->out_count; i++) {
        const struct nnvts_argument *a = &r->outputs[i];
        if (!a->has_no_value && a->location.pool < r->pool_count && pools[a->location.pool].device) {
            if (!bind_buffer(p, i, false, a, pools[a->location.pool].token, &b->out[i])) return false;
            continue;
        }
        if (a->has_no_value || !bind(&m->tensors[m->out[i]], a, pools, r->pool_count, false, &b->out[i])) return false;
    }
    return buffers_apart(b) && outputs_apart(m, b);
}

static enum nnvts_status map_pools(const struct nnvts_request *r, cpu_find_mapping find, void *context,
                                   struct cpu_binding *b, struct pool *pools) {
    for (uint32_t i = 0; i < r->pool_count; i++) {
        pools[i].size = r->pools[i].size;
        pools[i].prot = r->pools[i].prot;
        pools[i].device = r->pools[i].kind == NNVTS_MEMORY_DEVICE;
        pools[i].token = r->pools[i].token;
        if (pools[i].device) continue;
        if (find && find(context, i, &pools[i].mapping)) continue;
        enum nnvts_status st = cpu_memory_map(&r->pools[i], 0, &pools[i].mapping);
        if (st != NNVTS_STATUS_NONE) return st;
        if (pools[i].mapping.base) b->mappings[b->mapping_count++] = pools[i].mapping;
    }
    return NNVTS_STATUS_NONE;
}

enum nnvts_status cpu_binding_make(const struct cpu_program *program, const struct nnvts_request *request,
                                   cpu_find_mapping find, void *context, struct cpu_binding *out) {
    const struct cpu_model *m = &program->model;
    if (!request || request->input_count != m->in_count || request->output_count != m->out_count ||
        (request->input_count && !request->inputs) || (request->output_count && !request->outputs) ||
        (request->pool_count && !request->pools))
        return NNVTS_STATUS_INVALID_ARGUMENT;
    struct cpu_binding b = {
        .in = calloc((size_t)m->in_count + m->out_count + 1, sizeof *b.in),
        .argument_count = m->in_count + m->out_count,
        .mappings = calloc((size_t)request->pool_count + 1, sizeof *b.mappings),
    };
    struct pool *pools = calloc((size_t)request->pool_count + 1, sizeof *pools);
    enum nnvts_status st = NNVTS_STATUS_RESOURCE_EXHAUSTED_TRANSIENT;
    if (b.in && b.mappings && pools) {
        b.out = b.in + m->in_count;
        st = map_pools(request, find, context, &b, pools);
        if (st == NNVTS_STATUS_NONE && !bind_all(program, request, pools, &b)) st = NNVTS_STATUS_INVALID_ARGUMENT;
    }
    free(pools);
    if (st == NNVTS_STATUS_NONE)
        *out = b;
    else
        cpu_binding_free(&b);
    return st;
}

void cpu_binding_free(struct cpu_binding *binding) {
    for (uint32_t i = 0; binding->in && i < binding->argument_count; i++) cpu_buffer_drop(binding->in[i].buffer);
    for (uint32_t i = 0; i < binding->mapping_count; i++) cpu_memory_unmap(&binding->mappings[i]);
    free(binding->mappings);
    free(binding->in);
    *binding = (struct cpu_binding){0};
}

bool cpu_binding_outputs_known(const struct cpu_program *program, const struct cpu_binding *binding) {
    for (uint32_t i = 0; i < program->model.out_count; i++) {
        const struct cpu_argument *a = &binding->out[i];
        if (!a->known_rank || a->open || !cpu_extents_known(&a->shape)) return false;
        for (uint32_t d = 0; d < a->shape.rank; d++)
            if (a->shape.dims[d] == 0) return false;
    }
    return true;
}
