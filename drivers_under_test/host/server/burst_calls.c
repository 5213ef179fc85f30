/* SPDX-License-Identifier: Apache-2.0 */
/** @file burst_calls.c The host's side of a burst without rings: an object whose executions are calls. */
#include "../relay/frames.h"
#include "server.h"

void host_create_burst_object(struct host_session *s, struct host_object *prepared, struct host_out *out) {
    struct host_object o = {.type = HOST_BURST, .parent = prepared};
    struct nnvts_burst *m = &o.members.burst;
    uint64_t id = 0;
    enum nnvts_status st = NNVTS_STATUS_INVALID_ARGUMENT;
    if (prepared && prepared->members.prepared.create_burst)
        st = prepared->members.prepared.create_burst(prepared->inner.prepared, &o.inner.burst);
    if (st == NNVTS_STATUS_NONE && o.inner.burst) {
        host_members(m, sizeof *m, o.inner.burst, o.inner.burst->struct_size);
        o.outputs = prepared->outputs;
        if (!host_object_add(s, &o, &id)) {
            if (m->release) m->release(o.inner.burst);
            st = NNVTS_STATUS_RESOURCE_EXHAUSTED_TRANSIENT;
        }
    }
    host_put_status(out, st);
    host_put_u32(out, id ? HOST_FUNCTIONS(m, nnvts_burst, execute) : 0);
    host_put_u64(out, id);
}

enum host_reply host_serve_burst_execute(struct host_stream_server *stream, struct host_in *in, struct host_out *out) {
    struct host_session *s = stream->session;
    struct nnvts_request request;
    struct nnvts_execution_config config;
    struct nnvts_execution_result result;
    uint32_t given, token_count;
    const uint64_t id = host_get_u64(in);
    host_request(host_reading(in), &request);
    const int64_t *tokens = host_get_array(in, sizeof *tokens, &token_count);
    host_config(host_reading(in), &config);
    struct host_object *o = in->failed ? NULL : host_object_get(s, id, HOST_BURST);
    host_get_room(in, o ? host_shapes_needed(o->outputs, &request) : 0, &result, &given);
    const bool done = host_in_done(in) && token_count == request.pool_count;
    enum nnvts_status st = NNVTS_STATUS_INVALID_ARGUMENT;
    const uint64_t began_ns = host_now_ns();
    if (done && o && !in->invalid && o->members.burst.execute)
        st = o->members.burst.execute(o->inner.burst, &request, tokens, &config, &result);
    else
        result.shape_count = 0;
    host_tell_time(&result.timing, config.measure_timing, st, host_now_ns() - began_ns);
    host_object_put(s, o);
    host_put_status(out, st);
    host_put_result(out, &result, given);
    return done ? HOST_REPLY : HOST_END;
}

enum host_reply host_serve_burst_forget(struct host_stream_server *stream, struct host_in *in, struct host_out *out) {
    const uint64_t id = host_get_u64(in);
    const int64_t token = (int64_t)host_get_u64(in);
    if (!host_in_done(in)) return HOST_END;
    struct host_object *o = host_object_get(stream->session, id, HOST_BURST);
    enum nnvts_status st = NNVTS_STATUS_INVALID_ARGUMENT;
    if (o && o->members.burst.release_memory) st = o->members.burst.release_memory(o->inner.burst, token);
    host_object_put(stream->session, o);
    host_put_status(out, st);
    return HOST_REPLY;
}
