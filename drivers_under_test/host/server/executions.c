/* SPDX-License-Identifier: Apache-2.0 */
/** @file executions.c Executions of prepared models: synchronous, asynchronous, fenced, reusable. */
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "../relay/frames.h"
#include "server.h"

enum { TICK_MS = 100 };

uint32_t host_shapes_needed(uint32_t outputs, const struct nnvts_request *r) {
    enum { UNKNOWN = 64 };
    uint32_t known = outputs ? outputs : UNKNOWN;
    return r->output_count > known ? r->output_count : known;
}

void host_tell_time(struct nnvts_timing *timing, bool measured, enum nnvts_status status, uint64_t took_ns) {
    if (measured && status == NNVTS_STATUS_NONE && timing->in_driver_ns == NNVTS_NO_TIME)
        timing->in_driver_ns = took_ns;
}

/** What an execution is asked for with. */
struct question {
    struct host_object *prepared; /**< with a reference; NULL: there is none */
    struct nnvts_request request;
    struct nnvts_execution_config config;
};

static void get_question(struct host_session *s, struct host_in *in, struct question *q) {
    uint64_t id = host_get_u64(in);
    host_request(host_reading(in), &q->request);
    q->prepared = in->failed ? NULL : host_object_get(s, id, HOST_PREPARED);
}

static void put_refused(struct host_out *out, const struct nnvts_execution_result *result, uint32_t given) {
    struct nnvts_execution_result none = *result;
    none.shape_count = 0;
    host_put_status(out, NNVTS_STATUS_INVALID_ARGUMENT);
    host_put_result(out, &none, given);
}

enum host_reply host_serve_execute(struct host_stream_server *stream, struct host_in *in, struct host_out *out) {
    struct question q;
    struct nnvts_execution_result result;
    uint32_t given;
    get_question(stream->session, in, &q);
    host_config(host_reading(in), &q.config);
    host_get_room(in, q.prepared ? host_shapes_needed(q.prepared->outputs, &q.request) : 0, &result, &given);
    bool done = host_in_done(in);
    if (done && q.prepared && !in->invalid && q.prepared->members.prepared.execute) {
        const uint64_t began_ns = host_now_ns();
        enum nnvts_status st =
            q.prepared->members.prepared.execute(q.prepared->inner.prepared, &q.request, &q.config, &result);
        host_tell_time(&result.timing, q.config.measure_timing, st, host_now_ns() - began_ns);
        host_put_status(out, st);
        host_put_result(out, &result, given);
    } else if (done) {
        put_refused(out, &result, given);
    }
    host_object_put(stream->session, q.prepared);
    return done ? HOST_REPLY : HOST_END;
}

/* --------------------------------------------------------------- asynchronous */

/** One callback that is due. Never freed: a driver may call twice. Used again for the next execution. */
struct callback {
    struct callback *next;
    pthread_mutex_t lock;
    pthread_cond_t called;
    bool due, came, measured;
    uint64_t began_ns;
    struct host_out answer;
};

static pthread_mutex_t callbacks_lock = PTHREAD_MUTEX_INITIALIZER;
static struct callback *callbacks; /* those that nobody waits for */

static struct callback *callback_take(void) {
    pthread_mutex_lock(&callbacks_lock);
    struct callback *c = callbacks;
    if (c) callbacks = c->next;
    pthread_mutex_unlock(&callbacks_lock);
    if (c) return c;
    c = calloc(1, sizeof *c);
    if (!c) return NULL;
    pthread_mutex_init(&c->lock, NULL);
    pthread_cond_init(&c->called, NULL);
    return c;
}

static void callback_give_back(struct callback *c) {
    pthread_mutex_lock(&c->lock);
    c->due = c->came = false;
    host_out_end(&c->answer);
    pthread_mutex_unlock(&c->lock);
    pthread_mutex_lock(&callbacks_lock);
    c->next = callbacks;
    callbacks = c;
    pthread_mutex_unlock(&callbacks_lock);
}

static void on_executed(void *context, enum nnvts_status status, const struct nnvts_execution_result *result) {
    static const struct nnvts_execution_result none = {.timing = {NNVTS_NO_TIME, NNVTS_NO_TIME}};
    struct callback *c = context;
    pthread_mutex_lock(&c->lock);
    if (c->due && !c->came) {
        struct nnvts_execution_result told = result ? *result : none;
        host_tell_time(&told.timing, c->measured, status, host_now_ns() - c->began_ns);
        host_put_status(&c->answer, status);
        host_put_result(&c->answer, &told, told.shapes ? told.shape_count : 0);
        c->came = true;
        pthread_cond_signal(&c->called);
    }
    pthread_mutex_unlock(&c->lock);
}

/** Sends the first answer; if the execution was launched, waits for its end and sends the second. */
static enum host_reply follow(struct host_stream_server *stream, struct callback *c, enum nnvts_status status,
                              struct host_out *out) {
    host_put_status(out, status);
    bool sent = host_send(stream->socket, HOST_EXECUTE_ASYNC, out);
    if (status != NNVTS_STATUS_NONE) return sent ? HOST_REPLIED : HOST_END;
    pthread_mutex_lock(&c->lock);
    while (!c->came) pthread_cond_wait(&c->called, &c->lock);
    sent = sent && host_send(stream->socket, HOST_EXECUTE_ASYNC, &c->answer);
    pthread_mutex_unlock(&c->lock);
    return sent ? HOST_REPLIED : HOST_END;
}

enum host_reply host_serve_async(struct host_stream_server *stream, struct host_in *in, struct host_out *out) {
    struct question q;
    get_question(stream->session, in, &q);
    host_config(host_reading(in), &q.config);
    bool done = host_in_done(in);
    struct callback *c = done ? callback_take() : NULL;
    enum host_reply reply = HOST_END;
    if (c) {
        enum nnvts_status st = NNVTS_STATUS_INVALID_ARGUMENT;
        c->due = true;
        c->measured = q.config.measure_timing;
        c->began_ns = host_now_ns();
        if (q.prepared && !in->invalid && q.prepared->members.prepared.execute_async)
            st = q.prepared->members.prepared.execute_async(q.prepared->inner.prepared, &q.request, &q.config,
                                                            on_executed, c);
        reply = follow(stream, c, st, out);
        callback_give_back(c);
    }
    host_object_put(stream->session, q.prepared);
    return reply;
}

/* --------------------------------------------------------------------- fenced */

/** The descriptors to wait for. */
static int *get_fences(struct host_in *in, uint32_t *count) {
    *count = host_get_count(in, sizeof(uint32_t));
    int *fences = host_in_alloc(in, *count + 1, sizeof *fences);
    for (uint32_t i = 0; i < *count && !in->failed; i++) fences[i] = host_get_fd(in);
    return fences;
}

/** Until the fence signals; false if the client has gone first. */
static bool wait_for_fence(struct host_stream_server *stream, int fence) {
    struct pollfd p[] = {{fence, POLLIN, 0}, {stream->socket, POLLIN, 0}};
    while (fence >= 0) {
        int n = poll(p, 2, TICK_MS);
        if (n > 0 && p[1].revents) return false; /* nothing is said on this stream meanwhile */
        if (n > 0 && p[0].revents) return true;
        if (host_closing(stream->session)) return false;
    }
    return true;
}

/** Launched: the first answer, then the fence, then the second. Takes `fence`. */
static enum host_reply follow_fence(struct host_stream_server *stream, const struct host_object *launched, int fence,
                                    struct host_out *out) {
    struct host_session *s = stream->session;
    struct host_out second = {0};
    uint64_t id = 0;
    bool ok = host_object_add(s, launched, &id);
    if (!ok) {
        struct host_keep keep = launched->keep;
        if (launched->members.fenced.release) launched->members.fenced.release(launched->members.fenced.context);
        host_keep_end(&keep);
    }
    host_put_status(out, ok ? NNVTS_STATUS_NONE : NNVTS_STATUS_RESOURCE_EXHAUSTED_TRANSIENT);
    host_put_u64(out, id);
    bool sent = host_send(stream->socket, HOST_EXECUTE_FENCED, out);
    if (ok && sent) {
        sent = wait_for_fence(stream, fence);
        struct host_object *o = host_object_get(s, id, HOST_FENCED);
        if (o) atomic_store(&o->ended_ns, host_now_ns());
        host_object_put(s, o);
        sent = sent && host_send(stream->socket, HOST_EXECUTE_FENCED, &second);
    }
    if (fence >= 0) close(fence);
    return sent ? HOST_REPLIED : HOST_END;
}

enum host_reply host_serve_fenced(struct host_stream_server *stream, struct host_in *in, struct host_out *out) {
    struct question q;
    uint32_t count;
    get_question(stream->session, in, &q);
    int *fences = get_fences(in, &count);
    host_config(host_reading(in), &q.config);
    uint64_t duration_ns = host_get_u64(in);
    bool done = host_in_done(in);
    enum nnvts_status st = NNVTS_STATUS_INVALID_ARGUMENT;
    struct host_object launched = {
        .type = HOST_FENCED, .parent = q.prepared, .measured = q.config.measure_timing, .launched_ns = host_now_ns()};
    launched.members.fenced.sync_fence = -1;
    if (done && q.prepared && !in->invalid && q.prepared->members.prepared.execute_fenced)
        st = q.prepared->members.prepared.execute_fenced(q.prepared->inner.prepared, &q.request, fences, count,
                                                         &q.config, duration_ns, &launched.members.fenced);
    enum host_reply reply = HOST_END;
    if (st == NNVTS_STATUS_NONE) {
        int fence = launched.members.fenced.sync_fence;
        launched.keep = in->keep; /* the request's memory, until the execution is released */
        in->keep = (struct host_keep){0};
        reply = follow_fence(stream, &launched, fence < 0 ? -1 : fcntl(fence, F_DUPFD_CLOEXEC, 0), out);
    } else if (done) {
        host_put_status(out, st);
        host_put_u64(out, 0);
        reply = HOST_REPLY;
    }
    host_object_put(stream->session, q.prepared);
    return reply;
}

enum host_reply host_serve_fenced_result(struct host_stream_server *stream, struct host_in *in, struct host_out *out) {
    uint64_t id = host_get_u64(in);
    if (!host_in_done(in)) return HOST_END;
    struct host_object *o = host_object_get(stream->session, id, HOST_FENCED);
    struct nnvts_fenced_result r = {
        NNVTS_STATUS_GENERAL_FAILURE, {NNVTS_NO_TIME, NNVTS_NO_TIME}, {NNVTS_NO_TIME, NNVTS_NO_TIME}};
    enum nnvts_status st = NNVTS_STATUS_INVALID_ARGUMENT;
    if (o && o->members.fenced.get_result) {
        st = o->members.fenced.get_result(o->members.fenced.context, &r);
        const uint64_t ended_ns = atomic_load(&o->ended_ns);
        host_tell_time(&r.launched, o->measured && r.status == NNVTS_STATUS_NONE, st,
                       (ended_ns ? ended_ns : host_now_ns()) - o->launched_ns);
    }
    host_object_put(stream->session, o);
    host_put_status(out, st);
    host_put_status(out, r.status);
    host_timing(host_writing(out), &r.launched);
    host_timing(host_writing(out), &r.fenced);
    return HOST_REPLY;
}

/* --------------------------------------------------------- reusable executions */

enum host_reply host_serve_create_execution(struct host_stream_server *stream, struct host_in *in,
                                            struct host_out *out) {
    struct host_session *s = stream->session;
    struct question q;
    get_question(s, in, &q);
    host_config(host_reading(in), &q.config);
    bool done = host_in_done(in);
    enum nnvts_status st = NNVTS_STATUS_INVALID_ARGUMENT;
    struct host_object o = {.type = HOST_EXECUTION, .parent = q.prepared, .measured = q.config.measure_timing};
    struct nnvts_execution *m = &o.members.execution;
    uint64_t id = 0;
    if (done && q.prepared && !in->invalid && q.prepared->members.prepared.create_execution)
        st = q.prepared->members.prepared.create_execution(q.prepared->inner.prepared, &q.request, &q.config,
                                                           &o.inner.execution);
    if (st == NNVTS_STATUS_NONE && o.inner.execution) {
        host_members(m, sizeof *m, o.inner.execution, o.inner.execution->struct_size);
        o.outputs = host_shapes_needed(q.prepared->outputs, &q.request);
        o.keep = in->keep;
        if (host_object_add(s, &o, &id)) {
            in->keep = (struct host_keep){0};
        } else {
            if (m->release) m->release(o.inner.execution);
            st = NNVTS_STATUS_RESOURCE_EXHAUSTED_TRANSIENT;
        }
    }
    host_object_put(s, q.prepared);
    host_put_status(out, st);
    host_put_u64(out, id);
    host_put_u32(out, HOST_FUNCTIONS(m, nnvts_execution, execute));
    return done ? HOST_REPLY : HOST_END;
}

enum host_reply host_serve_run_execution(struct host_stream_server *stream, struct host_in *in, struct host_out *out) {
    struct host_session *s = stream->session;
    struct nnvts_execution_result result;
    uint32_t given;
    uint64_t id = host_get_u64(in), deadline_ns;
    host_deadline(host_reading(in), &deadline_ns);
    struct host_object *o = in->failed ? NULL : host_object_get(s, id, HOST_EXECUTION);
    host_get_room(in, o ? o->outputs : 0, &result, &given);
    bool done = host_in_done(in);
    if (done && o && o->members.execution.execute) {
        const uint64_t began_ns = host_now_ns();
        enum nnvts_status st = o->members.execution.execute(o->inner.execution, deadline_ns, &result);
        host_tell_time(&result.timing, o->measured, st, host_now_ns() - began_ns);
        host_put_status(out, st);
        host_put_result(out, &result, given);
    } else if (done) {
        put_refused(out, &result, given);
    }
    host_object_put(s, o);
    return done ? HOST_REPLY : HOST_END;
}
