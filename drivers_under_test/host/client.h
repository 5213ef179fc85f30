/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file client.h The client's side of the driver "host": objects whose functions are messages to a host process.
 *
 * A link is a client of one host process, here or on another machine, and one generation of it: when the process dies,
 * all objects of the link answer DEAD_OBJECT for good, and the device makes another link with its next call. Each call
 * has a socket (a stream) to itself.
 */
#ifndef NNVTS_HOST_CLIENT_H
#define NNVTS_HOST_CLIENT_H

#include <pthread.h>
#include <stdatomic.h>

#include "codec.h"
#include "common/pool.h"
#include "nnvts/driver.h"
#include "wire.h"

/* ---------------------------------------------------------------------- link */

/** How the host of a driver is reached. */
struct host_transport {
    /** A client of a host of this driver; `socket`, borrowed, becomes the host's end of its root. Else *error. */
    enum nnvts_status (*connect)(const char *driver, const char *options, int socket, void **peer, const char **error);
    /** Ends it at once: it has died, or does not speak properly. */
    void (*stop)(void *peer);
    void (*unref)(void *peer);
    bool shares_memory; /**< descriptors reach the host itself: without them bursts have no rings */
};

struct host_stream {
    struct host_stream *next;
    int socket;
};

struct host_link {
    atomic_uint refs; /**< the device, its objects, calls that are under way */
    atomic_bool dead;
    const struct host_transport *transport;
    void *peer;
    int root; /**< for HELLO and for new streams */
    pthread_mutex_t lock;
    struct host_stream *idle; /**< guarded by lock */
};

/**
 * A new client of a host of this driver. What the device says of itself is in *hello, which the caller ends on NONE.
 * *error: a static text.
 */
enum nnvts_status host_link_open(const struct host_transport *transport, const char *driver, const char *options,
                                 struct host_link **out, struct host_in *hello, const char **error);
void host_link_ref(struct host_link *link);
void host_link_unref(struct host_link *link);
/** Releases all objects in the host, and returns when that is done. */
void host_link_close(struct host_link *link);
/** The process has ended, or does not speak properly: ends it, and says so once. */
void host_link_died(struct host_link *link);

/** Asks on a stream of its own; the answer is in *in, to be ended. Anything but NONE: there is no answer. Ends *o. */
enum nnvts_status host_ask(struct host_link *link, uint32_t kind, struct host_out *o, struct host_in *in);
/** As host_ask, and the stream stays the caller's, who gives it back or closes it. */
enum nnvts_status host_ask_on(struct host_link *link, uint32_t kind, struct host_out *o, struct host_in *in,
                              struct host_stream **stream);
void host_stream_give_back(struct host_link *link, struct host_stream *stream);
void host_stream_close(struct host_stream *stream);
/** The status that an answer begins with. */
enum nnvts_status host_get_status(struct host_in *in);
/** After the last get: *status, or DEAD_OBJECT if the answer was malformed. Ends *in. */
enum nnvts_status host_answered(struct host_link *link, struct host_in *in, enum nnvts_status status);

/* --------------------------------------------------------------------- memory */

/** Pools of one request as they are sent: what has no file that can be trusted is copied, there and back. */
struct host_pools {
    struct nnvts_memory *sent;
    struct host_copy *copies;
    uint32_t count;
};

struct host_copy {
    int fd; /**< -1: the pool is sent as it is */
    uint8_t *shared, *before;
    struct common_mapping theirs;
    size_t bytes;
    bool writable;
};

/** NONE; then to be ended. INVALID_ARGUMENT: a pool that can't be. */
enum nnvts_status host_pools_begin(struct host_pools *p, const struct nnvts_memory *pools, uint32_t count);
/** What the caller's pools hold now. */
void host_pools_copy_in(struct host_pools *p);
/** What the driver has changed. */
void host_pools_copy_out(struct host_pools *p);
void host_pools_end(struct host_pools *p);

/* -------------------------------------------------------------------- objects */

struct host_device {
    struct nnvts_device base;
    pthread_mutex_t lock;
    struct host_link *link; /**< guarded by lock; the present generation */
    const struct host_transport *transport;
    char *driver, *options;
    struct host_in hello; /**< what base points into */
    uint32_t pending;     /**< guarded by lock: threads that wait for executions */
    pthread_cond_t none_pending;
};

struct host_prepared {
    struct nnvts_prepared_model base;
    struct host_device *device;
    struct host_link *link;
    uint64_t id;
    uint32_t outputs; /**< of the model; UINT32_MAX: not known */
};

/** From the answer to PREPARE: a prepared model, or NULL where the driver gave none. */
struct nnvts_prepared_model *host_prepared_new(struct host_device *device, struct host_link *link, struct host_in *in,
                                               uint32_t outputs);
/** Also for one whose driver has no release. */
void host_prepared_release(struct nnvts_prepared_model *self);
/** Shapes of a result that have room; outputs: of the model, UINT32_MAX where that is not known. */
uint32_t host_shapes(uint32_t outputs, const struct nnvts_request *r);
/** Prepared model `id` executes; result has room for `shapes` shapes. */
enum nnvts_status host_execute(struct host_link *link, uint64_t id, uint32_t shapes,
                               const struct nnvts_request *request, const struct nnvts_execution_config *config,
                               struct nnvts_execution_result *result);
/** Status and result, from an answer that holds nothing else. Ends *in. */
enum nnvts_status host_take_result(struct host_link *link, struct host_in *in, uint32_t shapes,
                                   struct nnvts_execution_result *result);
/** Tells the host that an object is not needed any more. */
void host_release(struct host_link *link, uint64_t id);

enum nnvts_status host_allocate(struct nnvts_device *self, const struct nnvts_buffer_desc *desc,
                                struct nnvts_buffer **out);
/** The device's present link, with a reference; a new one if the process has died. NULL: there is none. */
struct host_link *host_device_link(struct host_device *device);

/** The device of a driver that this transport reaches; takes driver and options (malloc'ed, may be NULL). */
enum nnvts_status host_device_open(const struct host_transport *transport, char *driver, char *options,
                                   struct nnvts_device **out, const char **error);

/* pending.c, burst.c, burst_calls.c, execution.c */
enum nnvts_status host_execute_async(struct nnvts_prepared_model *self, const struct nnvts_request *request,
                                     const struct nnvts_execution_config *config, nnvts_execute_callback callback,
                                     void *context);
enum nnvts_status host_execute_fenced(struct nnvts_prepared_model *self, const struct nnvts_request *request,
                                      const int *wait_for, uint32_t wait_for_count,
                                      const struct nnvts_execution_config *config, uint64_t duration_ns,
                                      struct nnvts_fenced_execution *out);
enum nnvts_status host_create_burst(struct nnvts_prepared_model *self, struct nnvts_burst **out);
/** A burst without shared memory: its executions are calls like others. */
enum nnvts_status host_create_burst_calls(struct host_prepared *p, struct nnvts_burst **out);

/** What both kinds of burst begin with. */
struct host_burst {
    struct nnvts_burst base;
    pthread_mutex_t busy;
    struct host_link *link;
    uint32_t outputs; /**< of the model; UINT32_MAX: not known */
    /** One execution, while no other one runs. */
    enum nnvts_status (*run)(struct host_burst *self, const struct nnvts_request *request, const int64_t *tokens,
                             const struct nnvts_execution_config *config, struct nnvts_execution_result *result);
};
/** b is zeroed; run and base are the caller's to set. */
void host_burst_begin(struct host_burst *b, const struct host_prepared *p);
/** Frees it. */
void host_burst_end(struct host_burst *b);
/** A burst's execute: checks the arguments, and refuses a second one meanwhile. */
enum nnvts_status host_burst_execute(struct nnvts_burst *self, const struct nnvts_request *request,
                                     const int64_t *memory_tokens, const struct nnvts_execution_config *config,
                                     struct nnvts_execution_result *result);

enum nnvts_status host_create_execution(struct nnvts_prepared_model *self, const struct nnvts_request *request,
                                        const struct nnvts_execution_config *config, struct nnvts_execution **out);

#endif
