/* SPDX-License-Identifier: Apache-2.0 */
/** @file calls.c Questions to the device and about its objects. */
#include <stdlib.h>
#include <string.h>

#include "server.h"

enum { UNFILLED = 0xee };

static enum host_reply serve_status(struct host_stream_server *stream, struct host_in *in, struct host_out *out) {
    struct host_session *s = stream->session;
    if (!host_in_done(in)) return HOST_END;
    host_put_u32(out, (uint32_t)s->members.get_status(s->device));
    return HOST_REPLY;
}

static enum host_reply serve_supported(struct host_stream_server *stream, struct host_in *in, struct host_out *out) {
    struct host_session *s = stream->session;
    struct nnvts_model model;
    host_model(host_reading(in), &model);
    uint8_t *supported = host_in_alloc(in, model.main.operation_count + 1, 1);
    if (!host_in_done(in)) return HOST_END;
    memset(supported, UNFILLED, model.main.operation_count);
    enum nnvts_status st = NNVTS_STATUS_INVALID_ARGUMENT;
    if (!in->invalid) st = s->members.get_supported_operations(s->device, &model, (bool *)supported);
    host_put_status(out, st);
    host_put_array(out, supported, model.main.operation_count, 1);
    return HOST_REPLY;
}

/** The answer to PREPARE and PREPARE_FROM_CACHE. outputs: 0 if not known. */
static enum host_reply put_prepared(struct host_session *s, enum nnvts_status status,
                                    struct nnvts_prepared_model *prepared, uint32_t outputs, struct host_out *out) {
    struct host_object o = {.type = HOST_PREPARED, .outputs = outputs, .inner.prepared = prepared};
    struct nnvts_prepared_model *m = &o.members.prepared;
    uint64_t id = 0;
    uint32_t has = 0;
    if (status == NNVTS_STATUS_NONE && prepared) {
        host_members(m, sizeof *m, prepared, prepared->struct_size);
        has = HOST_FUNCTIONS(m, nnvts_prepared_model, execute);
        if (!host_object_add(s, &o, &id)) {
            if (m->release) m->release(prepared);
            status = NNVTS_STATUS_RESOURCE_EXHAUSTED_TRANSIENT;
        }
    }
    host_put_status(out, status);
    host_put_u64(out, id);
    host_put_u32(out, m->struct_size);
    host_put_u32(out, has);
    return HOST_REPLY;
}

static enum host_reply serve_prepare(struct host_stream_server *stream, struct host_in *in, struct host_out *out) {
    struct host_session *s = stream->session;
    struct nnvts_prepare_config config;
    struct nnvts_model model;
    struct nnvts_prepared_model *prepared = NULL;
    host_model(host_reading(in), &model);
    host_prepare_config(host_reading(in), &config);
    if (!host_in_done(in)) return HOST_END;
    enum nnvts_status st = NNVTS_STATUS_INVALID_ARGUMENT;
    if (!in->invalid) st = s->members.prepare_model(s->device, &model, &config, &prepared);
    return put_prepared(s, st, prepared, model.main.output_count, out);
}

static enum host_reply serve_from_cache(struct host_stream_server *stream, struct host_in *in, struct host_out *out) {
    struct host_session *s = stream->session;
    struct nnvts_prepared_model *prepared = NULL;
    const struct nnvts_cache *cache = NULL;
    host_cache(host_reading(in), &cache);
    uint64_t deadline_ns;
    host_deadline(host_reading(in), &deadline_ns);
    if (!host_in_done(in) || !cache || !s->members.prepare_from_cache) return HOST_END;
    enum nnvts_status st = s->members.prepare_from_cache(s->device, cache, deadline_ns, &prepared);
    return put_prepared(s, st, prepared, 0, out);
}

/* -------------------------------------------------------------------- buffers */

/** Prepared models by their ids, with references; false if one does not exist. */
static bool get_all_prepared(struct host_session *s, struct host_in *in, struct host_object **objects,
                             struct nnvts_prepared_model **prepared, uint32_t count) {
    bool ok = true;
    for (uint32_t i = 0; i < count && !in->failed; i++) {
        uint64_t id = host_get_u64(in);
        if (id == 0) continue; /* the caller gave NULL */
        objects[i] = host_object_get(s, id, HOST_PREPARED);
        if (objects[i])
            prepared[i] = objects[i]->inner.prepared;
        else
            ok = false;
    }
    return ok;
}

static void put_buffer(struct host_session *s, enum nnvts_status status, struct nnvts_buffer *buffer,
                       struct host_out *out) {
    struct host_object o = {.type = HOST_BUFFER, .inner.buffer = buffer};
    struct nnvts_buffer *m = &o.members.buffer;
    uint64_t id = 0;
    if (status == NNVTS_STATUS_NONE && buffer) {
        host_members(m, sizeof *m, buffer, buffer->struct_size);
        if (!host_object_add(s, &o, &id)) {
            if (m->release) m->release(buffer);
            status = NNVTS_STATUS_RESOURCE_EXHAUSTED_TRANSIENT;
        }
    }
    host_put_status(out, status);
    host_put_u64(out, id);
    host_put_u32(out, m->token);
    host_put_u32(out, HOST_FUNCTIONS(m, nnvts_buffer, copy_to));
}

static enum host_reply serve_allocate(struct host_stream_server *stream, struct host_in *in, struct host_out *out) {
    struct host_session *s = stream->session;
    struct nnvts_buffer_desc d = {0};
    struct nnvts_buffer *buffer = NULL;
    d.dimensions = host_get_array(in, sizeof *d.dimensions, &d.dimension_count);
    d.prepared_count = host_get_count(in, sizeof(uint64_t));
    struct host_object **objects = host_in_alloc(in, d.prepared_count + 1, sizeof *objects);
    struct nnvts_prepared_model **prepared = host_in_alloc(in, d.prepared_count + 1, sizeof *prepared);
    bool exist = !in->failed && get_all_prepared(s, in, objects, prepared, d.prepared_count);
    d.prepared = prepared;
    d.input_roles = host_get_array(in, sizeof *d.input_roles, &d.input_role_count);
    d.output_roles = host_get_array(in, sizeof *d.output_roles, &d.output_role_count);
    bool done = host_in_done(in) && s->members.allocate;
    enum nnvts_status st = NNVTS_STATUS_INVALID_ARGUMENT;
    if (done && exist) st = s->members.allocate(s->device, &d, &buffer);
    if (objects)
        for (uint32_t i = 0; i < d.prepared_count; i++) host_object_put(s, objects[i]);
    if (!done) return HOST_END;
    put_buffer(s, st, buffer, out);
    return HOST_REPLY;
}

static enum host_reply serve_copy(struct host_stream_server *stream, struct host_in *in, struct host_out *out) {
    struct host_session *s = stream->session;
    uint64_t id = host_get_u64(in);
    struct nnvts_memory memory = host_get_memory(in);
    uint32_t count, *dimensions = host_get_array(in, sizeof *dimensions, &count);
    if (!host_in_done(in)) return HOST_END;
    struct host_object *o = host_object_get(s, id, HOST_BUFFER);
    enum nnvts_status st = NNVTS_STATUS_INVALID_ARGUMENT;
    if (o && !in->invalid) {
        const struct nnvts_buffer *m = &o->members.buffer;
        if (in->kind == HOST_COPY_TO && m->copy_to) st = m->copy_to(o->inner.buffer, &memory);
        if (in->kind == HOST_COPY_FROM && m->copy_from) st = m->copy_from(o->inner.buffer, &memory, dimensions, count);
    }
    host_object_put(s, o);
    host_put_status(out, st);
    return HOST_REPLY;
}

static enum host_reply serve_release(struct host_stream_server *stream, struct host_in *in, struct host_out *out) {
    uint64_t id = host_get_u64(in);
    if (!host_in_done(in)) return HOST_END;
    bool known = host_object_remove(stream->session, id);
    host_put_status(out, known ? NNVTS_STATUS_NONE : NNVTS_STATUS_INVALID_ARGUMENT);
    return HOST_REPLY;
}

enum host_reply host_dispatch(struct host_stream_server *stream, struct host_in *in, struct host_out *out) {
    static enum host_reply (*const serve[HOST_KINDS])(struct host_stream_server *, struct host_in *,
                                                      struct host_out *) = {
        [HOST_STATUS] = serve_status,
        [HOST_SUPPORTED] = serve_supported,
        [HOST_PREPARE] = serve_prepare,
        [HOST_PREPARE_FROM_CACHE] = serve_from_cache,
        [HOST_ALLOCATE] = serve_allocate,
        [HOST_COPY_TO] = serve_copy,
        [HOST_COPY_FROM] = serve_copy,
        [HOST_EXECUTE] = host_serve_execute,
        [HOST_EXECUTE_ASYNC] = host_serve_async,
        [HOST_EXECUTE_FENCED] = host_serve_fenced,
        [HOST_FENCED_RESULT] = host_serve_fenced_result,
        [HOST_CREATE_EXECUTION] = host_serve_create_execution,
        [HOST_RUN_EXECUTION] = host_serve_run_execution,
        [HOST_CREATE_BURST] = host_serve_burst,
        [HOST_BURST_EXECUTE] = host_serve_burst_execute,
        [HOST_BURST_FORGET] = host_serve_burst_forget,
        [HOST_RELEASE] = serve_release,
    };
    return in->kind < HOST_KINDS && serve[in->kind] ? serve[in->kind](stream, in, out) : HOST_END;
}
