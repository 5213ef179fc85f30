/* SPDX-License-Identifier: Apache-2.0 */
/** @file link.c The sockets to a host. */
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "client.h"
#include "common/text.h"

/* --------------------------------------------------------------------- streams */

void host_stream_close(struct host_stream *stream) {
    close(stream->socket);
    free(stream);
}

void host_stream_give_back(struct host_link *link, struct host_stream *stream) {
    if (atomic_load(&link->dead)) {
        host_stream_close(stream);
        return;
    }
    pthread_mutex_lock(&link->lock);
    stream->next = link->idle;
    link->idle = stream;
    pthread_mutex_unlock(&link->lock);
}

static bool ask_on_socket(int socket, uint32_t kind, const struct host_out *o, struct host_in *in) {
    if (!host_send(socket, kind, o) || host_receive(socket, in) != HOST_GOT) return false;
    if (in->kind == kind) return true;
    host_in_end(in);
    return false;
}

/** One more stream; link->lock is held. *gone: the host is. */
static struct host_stream *stream_new(struct host_link *link, bool *gone) {
    int ends[2];
    struct host_stream *stream = calloc(1, sizeof *stream);
    struct host_in *in = malloc(sizeof *in);
    if (stream && in && socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) == 0) {
        struct host_out o = {0};
        host_put_fd(&o, ends[1]);
        *gone = !ask_on_socket(link->root, HOST_STREAM, &o, in);
        stream->socket = ends[0];
        close(ends[1]);
        enum nnvts_status st = *gone ? NNVTS_STATUS_DEAD_OBJECT : host_get_status(in);
        if (!*gone) host_in_end(in);
        free(in);
        if (st == NNVTS_STATUS_NONE) return stream;
        host_stream_close(stream);
        return NULL;
    }
    free(in);
    free(stream);
    return NULL;
}

static enum nnvts_status stream_take(struct host_link *link, struct host_stream **out) {
    bool gone = false;
    pthread_mutex_lock(&link->lock);
    struct host_stream *stream = link->idle;
    if (stream)
        link->idle = stream->next;
    else
        stream = stream_new(link, &gone);
    pthread_mutex_unlock(&link->lock);
    if (gone) host_link_died(link);
    *out = stream;
    return stream ? NNVTS_STATUS_NONE : gone ? NNVTS_STATUS_DEAD_OBJECT : NNVTS_STATUS_RESOURCE_EXHAUSTED_TRANSIENT;
}

enum nnvts_status host_ask_on(struct host_link *link, uint32_t kind, struct host_out *o, struct host_in *in,
                              struct host_stream **stream) {
    enum nnvts_status st = o->invalid                 ? NNVTS_STATUS_INVALID_ARGUMENT
                           : o->failed                ? NNVTS_STATUS_RESOURCE_EXHAUSTED_TRANSIENT
                           : atomic_load(&link->dead) ? NNVTS_STATUS_DEAD_OBJECT
                                                      : stream_take(link, stream);
    if (st == NNVTS_STATUS_NONE && !ask_on_socket((*stream)->socket, kind, o, in)) {
        host_stream_close(*stream);
        host_link_died(link);
        st = NNVTS_STATUS_DEAD_OBJECT;
    }
    host_out_end(o);
    return st;
}

enum nnvts_status host_ask(struct host_link *link, uint32_t kind, struct host_out *o, struct host_in *in) {
    struct host_stream *stream;
    enum nnvts_status st = host_ask_on(link, kind, o, in, &stream);
    if (st == NNVTS_STATUS_NONE) host_stream_give_back(link, stream);
    return st;
}

enum nnvts_status host_get_status(struct host_in *in) { return (enum nnvts_status)(int32_t)host_get_u32(in); }

enum nnvts_status host_answered(struct host_link *link, struct host_in *in, enum nnvts_status status) {
    bool done = host_in_done(in);
    host_in_end(in);
    if (done) return status;
    host_link_died(link);
    return NNVTS_STATUS_DEAD_OBJECT;
}

/* --------------------------------------------------------------------- links */

static void close_idle(struct host_link *link) {
    pthread_mutex_lock(&link->lock);
    struct host_stream *idle = link->idle;
    link->idle = NULL;
    pthread_mutex_unlock(&link->lock);
    for (struct host_stream *next; idle; idle = next) {
        next = idle->next;
        host_stream_close(idle);
    }
}

void host_link_died(struct host_link *link) {
    if (atomic_exchange(&link->dead, true)) return;
    link->transport->stop(link->peer);
    close_idle(link);
}

void host_link_ref(struct host_link *link) { atomic_fetch_add(&link->refs, 1); }

void host_link_unref(struct host_link *link) {
    if (atomic_fetch_sub(&link->refs, 1) != 1) return;
    close_idle(link);
    close(link->root);
    link->transport->unref(link->peer);
    pthread_mutex_destroy(&link->lock);
    free(link);
}

void host_link_close(struct host_link *link) {
    struct host_in *in = malloc(sizeof *in);
    struct host_out o = {0};
    if (in && host_ask(link, HOST_CLOSE, &o, in) == NNVTS_STATUS_NONE) host_in_end(in);
    free(in);
}

static enum nnvts_status say_hello(struct host_link *link, struct host_in *hello, const char **error) {
    struct host_out o = {0};
    if (!ask_on_socket(link->root, HOST_HELLO, &o, hello)) {
        host_link_died(link);
        *error = "the driver's process died while it opened";
        return NNVTS_STATUS_GENERAL_FAILURE;
    }
    enum nnvts_status st = host_get_status(hello);
    const char *reason = host_get_text(hello);
    if (reason) *error = common_keep_text(reason);
    if (hello->failed) st = NNVTS_STATUS_GENERAL_FAILURE;
    if (st != NNVTS_STATUS_NONE) host_in_end(hello);
    return st;
}

enum nnvts_status host_link_open(const struct host_transport *transport, const char *driver, const char *options,
                                 struct host_link **out, struct host_in *hello, const char **error) {
    int ends[2];
    struct host_link *link = calloc(1, sizeof *link);
    *error = "out of memory or descriptors";
    if (!link || socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) {
        free(link);
        return NNVTS_STATUS_RESOURCE_EXHAUSTED_TRANSIENT;
    }
    link->transport = transport;
    enum nnvts_status st = transport->connect(driver, options, ends[1], &link->peer, error);
    close(ends[1]);
    if (st != NNVTS_STATUS_NONE) {
        close(ends[0]);
        free(link);
        return st;
    }
    link->root = ends[0];
    link->refs = 1;
    pthread_mutex_init(&link->lock, NULL);
    *error = NULL;
    st = say_hello(link, hello, error);
    if (st == NNVTS_STATUS_NONE)
        *out = link;
    else
        host_link_unref(link);
    return st;
}
