/* SPDX-License-Identifier: Apache-2.0 */
/** @file prepared.c Prepared models: synchronous and reusable executions; buffers of the driver. */
#include <stdlib.h>
#include <string.h>

#include "client.h"

void host_release(struct host_link *link, uint64_t id) {
    struct host_out o = {0};
    struct host_in in;
    host_put_u64(&o, id);
    if (host_ask(link, HOST_RELEASE, &o, &in) == NNVTS_STATUS_NONE) host_in_end(&in);
}

uint32_t host_shapes(uint32_t outputs, const struct nnvts_request *r) {
    return outputs < r->output_count ? outputs : r->output_count;
}

enum nnvts_status host_take_result(struct host_link *link, struct host_in *in, uint32_t shapes,
                                   struct nnvts_execution_result *result) {
    enum nnvts_status st = host_get_status(in);
    host_get_result(in, result, shapes);
    return host_answered(link, in, st);
}

enum nnvts_status host_execute(struct host_link *link, uint64_t id, uint32_t shapes,
                               const struct nnvts_request *request, const struct nnvts_execution_config *config,
                               struct nnvts_execution_result *result) {
    struct host_pools pools;
    struct host_out o = {0};
    struct host_in in;
    if (!request || !result) return NNVTS_STATUS_INVALID_ARGUMENT;
    enum nnvts_status st = host_pools_begin(&pools, request->pools, request->pool_count);
    if (st != NNVTS_STATUS_NONE) return st;
    host_put_u64(&o, id);
    host_put_request(&o, request, pools.sent);
    host_put_config(&o, config);
    host_put_room(&o, result, shapes);
    st = host_ask(link, HOST_EXECUTE, &o, &in);
    if (st == NNVTS_STATUS_NONE) {
        st = host_take_result(link, &in, shapes, result);
        host_pools_copy_out(&pools);
    } else {
        result->shape_count = 0;
    }
    host_pools_end(&pools);
    return st;
}

static enum nnvts_status execute(struct nnvts_prepared_model *self, const struct nnvts_request *request,
                                 const struct nnvts_execution_config *config, struct nnvts_execution_result *result) {
    struct host_prepared *p = (struct host_prepared *)self;
    if (!request || !result) return NNVTS_STATUS_INVALID_ARGUMENT;
    return host_execute(p->link, p->id, host_shapes(p->outputs, request), request, config, result);
}

void host_prepared_release(struct nnvts_prepared_model *self) {
    struct host_prepared *p = (struct host_prepared *)self;
    host_release(p->link, p->id);
    host_link_unref(p->link);
    free(p);
}

struct nnvts_prepared_model *host_prepared_new(struct host_device *device, struct host_link *link, struct host_in *in,
                                               uint32_t outputs) {
    uint64_t id = host_get_u64(in);
    uint32_t size = host_get_u32(in), has = host_get_u32(in);
    if (in->failed || id == 0) return NULL;
    struct host_prepared *p = calloc(1, sizeof *p);
    if (!p) {
        host_release(link, id);
        return NULL;
    }
    p->base = (struct nnvts_prepared_model){
        .struct_size = size < sizeof p->base ? size : (uint32_t)sizeof p->base,
        .execute = execute,
        .execute_async = host_execute_async,
        .execute_fenced = host_execute_fenced,
        .create_burst = host_create_burst,
        .create_execution = host_create_execution,
        .release = host_prepared_release,
    };
    HOST_KEEP_FUNCTIONS(&p->base, nnvts_prepared_model, execute, has);
    p->device = device;
    p->link = link;
    p->id = id;
    p->outputs = outputs;
    host_link_ref(link);
    return &p->base;
}

/* --------------------------------------------------------- reusable execution */

struct execution {
    struct nnvts_execution base;
    struct host_link *link;
    uint64_t id;
    uint32_t shapes;
    struct host_pools pools;
};

static enum nnvts_status run_execution(struct nnvts_execution *self, uint64_t deadline_ns,
                                       struct nnvts_execution_result *result) {
    struct execution *e = (struct execution *)self;
    struct host_out o = {0};
    struct host_in in;
    if (!result) return NNVTS_STATUS_INVALID_ARGUMENT;
    host_pools_copy_in(&e->pools);
    host_put_u64(&o, e->id);
    host_deadline(host_writing(&o), &deadline_ns);
    /* a relay is to know what belongs to the question */
    for (uint32_t i = 0; i < e->pools.count && !e->link->transport->shares_memory; i++)
        if (e->pools.sent[i].kind == NNVTS_MEMORY_SHARED) host_put_fd(&o, e->pools.sent[i].fd);
    host_put_room(&o, result, e->shapes);
    enum nnvts_status st = host_ask(e->link, HOST_RUN_EXECUTION, &o, &in);
    if (st == NNVTS_STATUS_NONE) {
        st = host_take_result(e->link, &in, e->shapes, result);
        host_pools_copy_out(&e->pools);
    } else {
        result->shape_count = 0;
    }
    return st;
}

static void release_execution(struct nnvts_execution *self) {
    struct execution *e = (struct execution *)self;
    host_release(e->link, e->id);
    host_pools_end(&e->pools);
    host_link_unref(e->link);
    free(e);
}

enum nnvts_status host_create_execution(struct nnvts_prepared_model *self, const struct nnvts_request *request,
                                        const struct nnvts_execution_config *config, struct nnvts_execution **out) {
    struct host_prepared *p = (struct host_prepared *)self;
    struct host_out o = {0};
    struct host_in in;
    if (!request || !out) return NNVTS_STATUS_INVALID_ARGUMENT;
    struct execution *e = calloc(1, sizeof *e);
    if (!e) return NNVTS_STATUS_RESOURCE_EXHAUSTED_TRANSIENT;
    enum nnvts_status st = host_pools_begin(&e->pools, request->pools, request->pool_count);
    if (st == NNVTS_STATUS_NONE) {
        host_put_u64(&o, p->id);
        host_put_request(&o, request, e->pools.sent);
        host_put_config(&o, config);
        st = host_ask(p->link, HOST_CREATE_EXECUTION, &o, &in);
    }
    uint32_t has = 0;
    if (st == NNVTS_STATUS_NONE) {
        st = host_get_status(&in);
        e->id = host_get_u64(&in);
        has = host_get_u32(&in);
        st = host_answered(p->link, &in, st);
    }
    if (st != NNVTS_STATUS_NONE || e->id == 0) {
        host_pools_end(&e->pools);
        free(e);
        return st;
    }
    e->base = (struct nnvts_execution){sizeof e->base, run_execution, release_execution};
    HOST_KEEP_FUNCTIONS(&e->base, nnvts_execution, execute, has);
    e->link = p->link;
    e->shapes = host_shapes(p->outputs, request);
    host_link_ref(e->link);
    *out = &e->base;
    return st;
}

/* -------------------------------------------------------------------- buffers */

struct buffer {
    struct nnvts_buffer base;
    struct host_link *link;
    uint64_t id;
};

/** Copies between the buffer and a pool; dimensions go along where there are any. */
static enum nnvts_status copy(struct buffer *b, uint32_t kind, const struct nnvts_memory *memory,
                              const uint32_t *dimensions, uint32_t dimension_count) {
    struct host_pools pools;
    struct host_out o = {0};
    struct host_in in;
    if (!memory) return NNVTS_STATUS_INVALID_ARGUMENT;
    enum nnvts_status st = host_pools_begin(&pools, memory, 1);
    if (st != NNVTS_STATUS_NONE) return st;
    host_put_u64(&o, b->id);
    host_put_memory(&o, &pools.sent[0]);
    host_put_array(&o, dimensions, dimension_count, sizeof *dimensions);
    st = host_ask(b->link, kind, &o, &in);
    if (st == NNVTS_STATUS_NONE) st = host_answered(b->link, &in, host_get_status(&in));
    host_pools_copy_out(&pools);
    host_pools_end(&pools);
    return st;
}

static enum nnvts_status copy_to(struct nnvts_buffer *self, const struct nnvts_memory *destination) {
    return copy((struct buffer *)self, HOST_COPY_TO, destination, NULL, 0);
}

static enum nnvts_status copy_from(struct nnvts_buffer *self, const struct nnvts_memory *source,
                                   const uint32_t *dimensions, uint32_t dimension_count) {
    return copy((struct buffer *)self, HOST_COPY_FROM, source, dimensions, dimension_count);
}

static void release_buffer(struct nnvts_buffer *self) {
    struct buffer *b = (struct buffer *)self;
    host_release(b->link, b->id);
    host_link_unref(b->link);
    free(b);
}

/** The answer to ALLOCATE. */
static enum nnvts_status take_buffer(struct host_link *link, struct host_in *in, struct nnvts_buffer **out) {
    enum nnvts_status st = host_get_status(in);
    uint64_t id = host_get_u64(in);
    uint32_t token = host_get_u32(in), has = host_get_u32(in);
    st = host_answered(link, in, st);
    if (st != NNVTS_STATUS_NONE || id == 0) return st;
    struct buffer *b = calloc(1, sizeof *b);
    if (!b) {
        host_release(link, id);
        return NNVTS_STATUS_RESOURCE_EXHAUSTED_TRANSIENT;
    }
    b->base = (struct nnvts_buffer){sizeof b->base, token, copy_to, copy_from, release_buffer};
    HOST_KEEP_FUNCTIONS(&b->base, nnvts_buffer, copy_to, has);
    b->link = link;
    b->id = id;
    host_link_ref(link);
    *out = &b->base;
    return st;
}

static void put_roles(struct host_out *o, const struct nnvts_buffer_role *roles, uint32_t count) {
    _Static_assert(sizeof *roles == 12, "a role is sent as it stands");
    host_put_array(o, roles, count, sizeof *roles);
}

enum nnvts_status host_allocate(struct nnvts_device *self, const struct nnvts_buffer_desc *desc,
                                struct nnvts_buffer **out) {
    struct host_out o = {0};
    struct host_in in;
    if (!desc || !out || (desc->prepared_count && !desc->prepared)) return NNVTS_STATUS_INVALID_ARGUMENT;
    struct host_link *link = host_device_link((struct host_device *)self);
    if (!link) return NNVTS_STATUS_DEAD_OBJECT;
    enum nnvts_status st = NNVTS_STATUS_NONE;
    host_put_array(&o, desc->dimensions, desc->dimension_count, sizeof *desc->dimensions);
    host_put_u32(&o, desc->prepared_count);
    for (uint32_t i = 0; i < desc->prepared_count && !o.failed; i++) {
        const struct host_prepared *p = (const struct host_prepared *)desc->prepared[i];
        if (p && p->link != link) /* of another device, or of a process that has died */
            st = &p->device->base != self ? NNVTS_STATUS_INVALID_ARGUMENT : NNVTS_STATUS_DEAD_OBJECT;
        host_put_u64(&o, p ? p->id : 0);
    }
    put_roles(&o, desc->input_roles, desc->input_role_count);
    put_roles(&o, desc->output_roles, desc->output_role_count);
    if (st == NNVTS_STATUS_NONE) st = host_ask(link, HOST_ALLOCATE, &o, &in);
    if (st == NNVTS_STATUS_NONE) st = take_buffer(link, &in, out);
    host_out_end(&o);
    host_link_unref(link);
    return st;
}
