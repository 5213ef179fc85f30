/* SPDX-License-Identifier: Apache-2.0 */
/** @file session.c Clients and their streams. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "server.h"

enum { STREAMS = 512 }; /* of a client, at once */

void host_put_status(struct host_out *out, enum nnvts_status status) { host_put_u32(out, (uint32_t)status); }

bool host_closing(struct host_session *s) {
    pthread_mutex_lock(&s->lock);
    bool closing = s->closing;
    pthread_mutex_unlock(&s->lock);
    return closing;
}

/* ----------------------------------------------------------------- the device */

/** What nnvts itself would refuse. */
static const char *check_device(const struct nnvts_device *d) {
    if (!d) return "open answered NONE without a device";
    if (d->struct_size < sizeof *d) return "struct_size of its device is too small";
    if (!d->name) return "its device has no name, which is required";
    if (!d->version) return "its device has no version, which is required";
    if (!d->get_status || !d->get_supported_operations || !d->prepare_model || !d->release)
        return "its device lacks a required function";
    return NULL;
}

static void hello(struct host_session *s, struct host_out *out) {
    struct nnvts_device *device = NULL;
    const char *error = NULL;
    enum nnvts_status st = s->driver->open(s->options, &device, &error);
    const char *wrong = st == NNVTS_STATUS_NONE ? check_device(device) : NULL;
    if (wrong) {
        st = NNVTS_STATUS_GENERAL_FAILURE;
        error = wrong;
    }
    host_put_status(out, st);
    host_put_text(out, error);
    if (st != NNVTS_STATUS_NONE) return;
    host_members(&s->members, sizeof s->members, device, device->struct_size);
    uint32_t has = host_functions(&s->members, offsetof(struct nnvts_device, prepare_from_cache),
                                  offsetof(struct nnvts_device, release));
    host_device(host_writing(out), &s->members, &has);
    pthread_mutex_lock(&s->lock);
    s->device = device;
    pthread_mutex_unlock(&s->lock);
}

/** Waits until nothing but the caller's `calls` may be in the driver, then releases all. */
static void close_device(struct host_session *s, uint32_t calls) {
    pthread_mutex_lock(&s->lock);
    bool first = !s->closing;
    s->closing = true;
    while (s->calls > calls) pthread_cond_wait(&s->changed, &s->lock);
    struct nnvts_device *device = first ? s->device : NULL;
    if (first) s->device = NULL;
    pthread_mutex_unlock(&s->lock);
    if (!first) return;
    host_objects_remove_all(s);
    if (device) s->members.release(device);
}

/* ---------------------------------------------------------------------- streams */

static void stream_serve(struct host_stream_server *stream);

static void *stream_thread(void *arg) {
    struct host_stream_server *stream = arg;
    struct host_session *s = stream->session;
    stream_serve(stream);
    free(stream);
    pthread_mutex_lock(&s->lock);
    s->streams--;
    pthread_cond_broadcast(&s->changed);
    pthread_mutex_unlock(&s->lock); /* the session may end now */
    return NULL;
}

/** A stream on socket, which it takes. */
static bool stream_start(struct host_session *s, int socket) {
    struct host_stream_server *stream = malloc(sizeof *stream);
    pthread_attr_t detached;
    pthread_t thread;
    pthread_mutex_lock(&s->lock);
    bool ok = stream && s->streams < STREAMS && !s->closing;
    if (ok) s->streams++;
    pthread_mutex_unlock(&s->lock);
    if (ok) {
        *stream = (struct host_stream_server){s, socket};
        pthread_attr_init(&detached);
        pthread_attr_setdetachstate(&detached, PTHREAD_CREATE_DETACHED);
        ok = pthread_create(&thread, &detached, stream_thread, stream) == 0;
        pthread_attr_destroy(&detached);
        if (ok) return true;
        pthread_mutex_lock(&s->lock);
        s->streams--;
        pthread_mutex_unlock(&s->lock);
    }
    free(stream);
    close(socket);
    return false;
}

/** The one descriptor of a message, which becomes the caller's; -1 if that is not what the message is. */
static int take_socket(struct host_in *in) {
    if (in->bytes != 0 || in->keep.fd_count != 1) return -1;
    int fd = in->keep.fds[0];
    in->keep.fd_count = 0;
    return fd;
}

static enum host_reply add_stream(struct host_session *s, struct host_in *in, struct host_out *out) {
    int socket = take_socket(in);
    if (socket < 0) return HOST_END;
    host_put_status(out, stream_start(s, socket) ? NNVTS_STATUS_NONE : NNVTS_STATUS_RESOURCE_EXHAUSTED_TRANSIENT);
    return HOST_REPLY;
}

/** The device is open, and stays so until the call has ended. */
static bool call_begin(struct host_session *s) {
    pthread_mutex_lock(&s->lock);
    bool ok = s->device && !s->closing;
    if (ok) s->calls++;
    pthread_mutex_unlock(&s->lock);
    return ok;
}

static void call_end(struct host_session *s) {
    pthread_mutex_lock(&s->lock);
    s->calls--;
    pthread_cond_broadcast(&s->changed);
    pthread_mutex_unlock(&s->lock);
}

static enum host_reply answer(struct host_stream_server *stream, struct host_in *in, struct host_out *out) {
    struct host_session *s = stream->session;
    if (in->kind == HOST_HELLO) return HOST_END; /* that is the first message, and only that */
    if (in->kind == HOST_STREAM) return add_stream(s, in, out);
    if (!call_begin(s)) return HOST_END;
    enum host_reply reply;
    if (in->kind == HOST_CLOSE) {
        close_device(s, 1);
        host_put_status(out, NNVTS_STATUS_NONE);
        reply = HOST_REPLY;
    } else {
        reply = host_dispatch(stream, in, out);
    }
    call_end(s);
    return reply;
}

static void stream_serve(struct host_stream_server *stream) {
    struct host_in in;
    enum host_reply reply = HOST_REPLY;
    while (reply != HOST_END && host_receive(stream->socket, &in) == HOST_GOT) {
        struct host_out out = {0};
        reply = answer(stream, &in, &out);
        if (reply == HOST_REPLY && !host_send(stream->socket, in.kind, &out)) reply = HOST_END;
        host_out_end(&out);
        host_in_end(&in);
    }
    close(stream->socket);
}

void host_serve(const struct nnvts_driver *driver, const char *options, int socket) {
    struct host_session s = {.driver = driver, .options = options};
    struct host_stream_server root = {&s, socket};
    pthread_mutex_init(&s.lock, NULL);
    pthread_cond_init(&s.changed, NULL);
    struct host_in *in = malloc(sizeof *in);
    struct host_out out = {0};
    bool ok = in && host_receive(socket, in) == HOST_GOT;
    if (ok) {
        ok = in->kind == HOST_HELLO && in->bytes == 0;
        if (ok) hello(&s, &out);
        ok = ok && host_send(socket, HOST_HELLO, &out);
        host_in_end(in);
    }
    free(in);
    host_out_end(&out);
    if (ok)
        stream_serve(&root);
    else
        close(socket);
    pthread_mutex_lock(&s.lock);
    while (s.streams) pthread_cond_wait(&s.changed, &s.lock);
    pthread_mutex_unlock(&s.lock);
    close_device(&s, 0);
    free(s.table.item);
    pthread_cond_destroy(&s.changed);
    pthread_mutex_destroy(&s.lock);
}
