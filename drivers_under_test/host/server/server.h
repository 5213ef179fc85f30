/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file server.h The host: serves a driver to clients that it does not trust.
 *
 * A client is a session: one device, its objects, and as many streams as it asks for, each with a thread that answers
 * one question after the other. A message that can't be what it should be ends its stream; nothing that a client sends
 * is given to the driver before all of it has been read and checked.
 */
#ifndef NNVTS_HOST_SERVER_H
#define NNVTS_HOST_SERVER_H

#include <pthread.h>
#include <stdatomic.h>

#include "../codec.h"
#include "nnvts/driver.h"

/**
 * Serves one client on `socket`, which it closes, until the client has gone: opens the driver with options (may be
 * NULL) when it is asked to, and releases all that the client has left.
 */
void host_serve(const struct nnvts_driver *driver, const char *options, int socket);

/* -------------------------------------------------------------------- objects */

enum host_object_type { HOST_PREPARED, HOST_EXECUTION, HOST_BUFFER, HOST_FENCED, HOST_BURST };

/** What the driver gave, and what it still needs. */
struct host_object {
    uint64_t id;
    enum host_object_type type;
    uint32_t refs;              /**< guarded by the session's lock: the table's, calls, children */
    struct host_object *parent; /**< the prepared model of an execution or burst */
    uint32_t outputs;           /**< of a prepared model or burst; 0: not known */
    struct host_keep keep;      /**< memory that a reusable execution was bound to */
    bool measured;              /**< an execution that is to be timed */
    uint64_t launched_ns;       /**< of a fenced execution */
    _Atomic uint64_t ended_ns;  /**< its fence was seen to signal; 0: not yet */
    /* The driver's object, and its members as far as it has them. */
    union {
        struct nnvts_prepared_model *prepared;
        struct nnvts_execution *execution;
        struct nnvts_buffer *buffer;
        struct nnvts_burst *burst;
    } inner;
    union {
        struct nnvts_prepared_model prepared;
        struct nnvts_execution execution;
        struct nnvts_buffer buffer;
        struct nnvts_burst burst;
        struct nnvts_fenced_execution fenced;
    } members;
};

struct host_table {
    struct host_object **item;
    uint32_t count;
    uint64_t generation;
};

struct host_session {
    const struct nnvts_driver *driver;
    const char *options;
    pthread_mutex_t lock;
    pthread_cond_t changed;      /**< streams or calls have become fewer */
    struct nnvts_device *device; /**< NULL: not open, or closed */
    struct nnvts_device members;
    bool closing;
    uint32_t streams, calls; /**< that live; that may be in the driver */
    struct host_table table;
};

struct host_stream_server {
    struct host_session *session;
    int socket;
};

/** Enters an object that the driver gave; its id in *id. False when out of memory or places: it is the caller's still.
 */
bool host_object_add(struct host_session *s, const struct host_object *o, uint64_t *id);
/** With a reference; NULL if there is no such object of this type. */
struct host_object *host_object_get(struct host_session *s, uint64_t id, enum host_object_type type);
/** The object is released when nothing refers to it any more. */
void host_object_put(struct host_session *s, struct host_object *o);
/** Takes it from the table. False if there is none. */
bool host_object_remove(struct host_session *s, uint64_t id);
/** All that the client has left, prepared models last. */
void host_objects_remove_all(struct host_session *s);

/** As many bytes of an object of the driver as it has. */
void host_members(void *out, size_t size, const void *object, uint32_t struct_size);

/* ---------------------------------------------------------------------- calls */

enum host_reply {
    HOST_REPLY,   /**< the answer is to be sent */
    HOST_REPLIED, /**< it has been */
    HOST_END,     /**< the stream is to be closed */
};
/** Answers one question. The device is open. */
enum host_reply host_dispatch(struct host_stream_server *stream, struct host_in *in, struct host_out *out);
void host_put_status(struct host_out *out, enum nnvts_status status);
/** The session is being closed: waits for anything else end. */
bool host_closing(struct host_session *s);

/** Shapes that the driver may write: as the request has outputs, and the model, if its number is known (not 0). */
uint32_t host_shapes_needed(uint32_t outputs, const struct nnvts_request *r);

/**
 * What the driver does not say of its time, the host does: the time that its call took. Of an execution that was to be
 * timed and ended well.
 */
void host_tell_time(struct nnvts_timing *timing, bool measured, enum nnvts_status status, uint64_t took_ns);

/* executions.c, burst_server.c */
enum host_reply host_serve_execute(struct host_stream_server *stream, struct host_in *in, struct host_out *out);
enum host_reply host_serve_async(struct host_stream_server *stream, struct host_in *in, struct host_out *out);
enum host_reply host_serve_fenced(struct host_stream_server *stream, struct host_in *in, struct host_out *out);
enum host_reply host_serve_fenced_result(struct host_stream_server *stream, struct host_in *in, struct host_out *out);
enum host_reply host_serve_create_execution(struct host_stream_server *stream, struct host_in *in,
                                            struct host_out *out);
enum host_reply host_serve_run_execution(struct host_stream_server *stream, struct host_in *in, struct host_out *out);
enum host_reply host_serve_burst(struct host_stream_server *stream, struct host_in *in, struct host_out *out);

/* burst_calls.c */
/** Answers CREATE_BURST without rings; prepared may be NULL. */
void host_create_burst_object(struct host_session *s, struct host_object *prepared, struct host_out *out);
enum host_reply host_serve_burst_execute(struct host_stream_server *stream, struct host_in *in, struct host_out *out);
enum host_reply host_serve_burst_forget(struct host_stream_server *stream, struct host_in *in, struct host_out *out);

#endif
