/* SPDX-License-Identifier: Apache-2.0 */
/** @file pending.c Executions that go on behind the call: asynchronous and fenced ones, each with a thread that waits.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "client.h"

struct pending {
    struct host_device *device;
    struct host_link *link;
    struct host_stream *stream; /* the host tells on it how the execution has ended */
    struct host_pools pools;
    /* asynchronous */
    nnvts_execute_callback callback;
    void *context;
    struct nnvts_execution_result result;
    uint32_t shapes;
    /* fenced */
    uint64_t id;
    int event; /* the fence */
    pthread_mutex_t lock;
    pthread_cond_t signalled;
    bool done; /* guarded by lock */
};

static struct pending *pending_new(struct host_prepared *p, const struct nnvts_request *request,
                                   enum nnvts_status *status) {
    struct pending *x = calloc(1, sizeof *x);
    *status = NNVTS_STATUS_RESOURCE_EXHAUSTED_TRANSIENT;
    if (!x) return NULL;
    *x = (struct pending){.device = p->device, .link = p->link, .event = -1};
    *status = host_pools_begin(&x->pools, request->pools, request->pool_count);
    if (*status == NNVTS_STATUS_NONE) {
        host_link_ref(x->link);
        pthread_mutex_init(&x->lock, NULL);
        pthread_cond_init(&x->signalled, NULL);
        return x;
    }
    free(x);
    return NULL;
}

static void pending_free(struct pending *x) {
    host_pools_end(&x->pools);
    if (x->event >= 0) close(x->event);
    pthread_cond_destroy(&x->signalled);
    pthread_mutex_destroy(&x->lock);
    host_link_unref(x->link);
    free(x->result.shapes);
    free(x);
}

/** Starts the thread that waits; where that is impossible, waits here. */
static void start(struct pending *x, void *(*wait)(void *)) {
    pthread_attr_t detached;
    pthread_t thread;
    pthread_mutex_lock(&x->device->lock);
    x->device->pending++;
    pthread_mutex_unlock(&x->device->lock);
    pthread_attr_init(&detached);
    pthread_attr_setdetachstate(&detached, PTHREAD_CREATE_DETACHED);
    if (pthread_create(&thread, &detached, wait, x) != 0) wait(x);
    pthread_attr_destroy(&detached);
}

static void ended(struct host_device *d) {
    pthread_mutex_lock(&d->lock);
    if (--d->pending == 0) pthread_cond_broadcast(&d->none_pending);
    pthread_mutex_unlock(&d->lock);
}

/** The second answer; false if the host has died. The stream is given back or closed. */
static bool second_answer(struct pending *x, uint32_t kind, struct host_in *in) {
    enum host_received got = host_receive(x->stream->socket, in);
    if (got == HOST_GOT && in->kind == kind) {
        host_stream_give_back(x->link, x->stream);
        return true;
    }
    if (got == HOST_GOT) host_in_end(in);
    host_stream_close(x->stream);
    host_link_died(x->link);
    return false;
}

/* --------------------------------------------------------------- asynchronous */

static void *wait_async(void *arg) {
    struct pending *x = arg;
    struct host_device *device = x->device;
    struct host_in in;
    enum nnvts_status st = NNVTS_STATUS_DEAD_OBJECT;
    if (second_answer(x, HOST_EXECUTE_ASYNC, &in)) st = host_take_result(x->link, &in, x->shapes, &x->result);
    if (st == NNVTS_STATUS_DEAD_OBJECT) x->result.shape_count = 0;
    if (x->result.shape_count > x->shapes) x->result.shape_count = x->shapes;
    host_pools_copy_out(&x->pools);
    nnvts_execute_callback callback = x->callback;
    callback(x->context, st, &x->result);
    pending_free(x);
    ended(device);
    return NULL;
}

/** Room for the shapes that the callback is given. */
static bool make_shapes(struct pending *x, uint32_t count) {
    x->shapes = count;
    x->result.timing = (struct nnvts_timing){NNVTS_NO_TIME, NNVTS_NO_TIME};
    x->result.shapes = calloc((size_t)count + 1, sizeof *x->result.shapes + HOST_DIMS * sizeof(uint32_t));
    if (!x->result.shapes) return false;
    uint32_t *dims = (uint32_t *)(x->result.shapes + count);
    for (uint32_t i = 0; i < count; i++)
        x->result.shapes[i] =
            (struct nnvts_output_shape){.dimension_count = HOST_DIMS, .dimensions = dims + (size_t)i * HOST_DIMS};
    return true;
}

enum nnvts_status host_execute_async(struct nnvts_prepared_model *self, const struct nnvts_request *request,
                                     const struct nnvts_execution_config *config, nnvts_execute_callback callback,
                                     void *context) {
    struct host_prepared *p = (struct host_prepared *)self;
    struct host_out o = {0};
    struct host_in in;
    enum nnvts_status st;
    if (!request || !callback) return NNVTS_STATUS_INVALID_ARGUMENT;
    struct pending *x = pending_new(p, request, &st);
    if (!x) return st;
    x->callback = callback;
    x->context = context;
    uint32_t shapes =
        p->outputs != UINT32_MAX && p->outputs > request->output_count ? p->outputs : request->output_count;
    if (!make_shapes(x, shapes)) {
        pending_free(x);
        return NNVTS_STATUS_RESOURCE_EXHAUSTED_TRANSIENT;
    }
    host_put_u64(&o, p->id);
    host_put_request(&o, request, x->pools.sent);
    host_put_config(&o, config);
    st = host_ask_on(p->link, HOST_EXECUTE_ASYNC, &o, &in, &x->stream);
    if (st == NNVTS_STATUS_NONE) {
        st = host_answered(p->link, &in, host_get_status(&in));
        if (st != NNVTS_STATUS_NONE) host_stream_give_back(p->link, x->stream);
    }
    if (st == NNVTS_STATUS_NONE)
        start(x, wait_async);
    else
        pending_free(x);
    return st;
}

/* --------------------------------------------------------------------- fenced */

static void *wait_fenced(void *arg) {
    struct pending *x = arg;
    struct host_device *device = x->device;
    struct host_in in;
    if (second_answer(x, HOST_EXECUTE_FENCED, &in)) host_in_end(&in);
    host_pools_copy_out(&x->pools);
    pthread_mutex_lock(&x->lock);
    x->done = true;
    eventfd_write(x->event, 1);
    pthread_cond_broadcast(&x->signalled);
    pthread_mutex_unlock(&x->lock); /* from here on x may be freed */
    ended(device);
    return NULL;
}

static void wait_until_done(struct pending *x) {
    pthread_mutex_lock(&x->lock);
    while (!x->done) pthread_cond_wait(&x->signalled, &x->lock);
    pthread_mutex_unlock(&x->lock);
}

static enum nnvts_status fenced_result(void *context, struct nnvts_fenced_result *result) {
    struct pending *x = context;
    struct host_out o = {0};
    struct host_in in;
    if (!result) return NNVTS_STATUS_INVALID_ARGUMENT;
    host_put_u64(&o, x->id);
    enum nnvts_status st = host_ask(x->link, HOST_FENCED_RESULT, &o, &in);
    wait_until_done(x); /* outputs may have to be copied */
    if (st != NNVTS_STATUS_NONE) {
        *result = (struct nnvts_fenced_result){st, {NNVTS_NO_TIME, NNVTS_NO_TIME}, {NNVTS_NO_TIME, NNVTS_NO_TIME}};
        return st;
    }
    st = host_get_status(&in);
    struct nnvts_fenced_result got = {.status = host_get_status(&in)};
    host_timing(host_reading(&in), &got.launched);
    host_timing(host_reading(&in), &got.fenced);
    st = host_answered(x->link, &in, st);
    if (st == NNVTS_STATUS_NONE) *result = got;
    return st;
}

static void fenced_release(void *context) {
    struct pending *x = context;
    wait_until_done(x);
    host_release(x->link, x->id);
    pending_free(x);
}

enum nnvts_status host_execute_fenced(struct nnvts_prepared_model *self, const struct nnvts_request *request,
                                      const int *wait_for, uint32_t wait_for_count,
                                      const struct nnvts_execution_config *config, uint64_t duration_ns,
                                      struct nnvts_fenced_execution *out) {
    struct host_prepared *p = (struct host_prepared *)self;
    struct host_out o = {0};
    struct host_in in;
    enum nnvts_status st;
    if (!request || !out || (wait_for_count && !wait_for)) return NNVTS_STATUS_INVALID_ARGUMENT;
    for (uint32_t i = 0; i < wait_for_count; i++)
        if (wait_for[i] < 0 || fcntl(wait_for[i], F_GETFD) < 0) return NNVTS_STATUS_INVALID_ARGUMENT;
    struct pending *x = pending_new(p, request, &st);
    if (!x) return st;
    x->event = eventfd(0, EFD_CLOEXEC);
    host_put_u64(&o, p->id);
    host_put_request(&o, request, x->pools.sent);
    host_put_u32(&o, wait_for_count);
    for (uint32_t i = 0; i < wait_for_count && !o.failed; i++) host_put_u32(&o, host_put_fd(&o, wait_for[i]));
    host_put_config(&o, config);
    host_put_u64(&o, duration_ns);
    if (x->event < 0) o.failed = true;
    st = host_ask_on(p->link, HOST_EXECUTE_FENCED, &o, &in, &x->stream);
    if (st == NNVTS_STATUS_NONE) {
        st = host_get_status(&in);
        x->id = host_get_u64(&in);
        st = host_answered(p->link, &in, st);
        if (st != NNVTS_STATUS_NONE) host_stream_give_back(p->link, x->stream);
    }
    if (st != NNVTS_STATUS_NONE) {
        pending_free(x);
        return st;
    }
    *out = (struct nnvts_fenced_execution){
        .sync_fence = x->event, .context = x, .get_result = fenced_result, .release = fenced_release};
    start(x, wait_fenced);
    return st;
}
