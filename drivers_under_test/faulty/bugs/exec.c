/* SPDX-License-Identifier: Apache-2.0 */
/** @file bugs_exec.c Bugs of executions: asynchronous, fenced, reusable; of memory, times and threads. */
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "faulty.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void pause_us(long us) {
    struct timespec t = {0, us * 1000};
    nanosleep(&t, NULL);
}

static uint8_t *data_of(const struct nnvts_request *r, const struct nnvts_argument *a) {
    if (a->has_no_value || a->location.pool >= r->pool_count || !r->pools[a->location.pool].data) return NULL;
    return (uint8_t *)r->pools[a->location.pool].data + a->location.offset;
}

/* --------------------------------------------------------------- asynchronous */

struct twice {
    nnvts_execute_callback callback;
    void *context;
};

static void call_twice(void *context, enum nnvts_status status, const struct nnvts_execution_result *result) {
    struct twice t = *(struct twice *)context;
    free(context);
    t.callback(t.context, status, result);
    t.callback(t.context, status, result);
}

static enum nnvts_status async_twice(struct nnvts_prepared_model *self, const struct nnvts_request *request,
                                     const struct nnvts_execution_config *config, nnvts_execute_callback callback,
                                     void *context) {
    struct nnvts_prepared_model *inner = faulty_inner(self);
    struct twice *t = malloc(sizeof *t);
    if (!t) return NNVTS_STATUS_RESOURCE_EXHAUSTED_TRANSIENT;
    *t = (struct twice){callback, context};
    enum nnvts_status st = inner->execute_async(inner, request, config, call_twice, t);
    if (st != NNVTS_STATUS_NONE) free(t);
    return st;
}

/** Room for the shapes of a few outputs. */
struct room {
    struct nnvts_execution_result result;
    struct nnvts_output_shape shapes[8];
    uint32_t dims[8][8];
};

static struct nnvts_execution_result *make_room(struct room *r) {
    *r = (struct room){.result = {.shapes = r->shapes}};
    for (int i = 0; i < 8; i++) r->shapes[i] = (struct nnvts_output_shape){false, 8, r->dims[i]};
    return &r->result;
}

/** Keeps the values of the outputs away until the callback has returned. */
static enum nnvts_status async_early(struct nnvts_prepared_model *self, const struct nnvts_request *request,
                                     const struct nnvts_execution_config *config, nnvts_execute_callback callback,
                                     void *context) {
    struct nnvts_prepared_model *inner = faulty_inner(self);
    const struct nnvts_argument *a = request->output_count ? &request->outputs[0] : NULL;
    uint8_t *out = a ? data_of(request, a) : NULL, *values = out ? malloc(2 * (size_t)a->location.length + 1) : NULL;
    struct room room;
    if (!values) return inner->execute_async(inner, request, config, callback, context);
    memcpy(values, out, a->location.length);
    enum nnvts_status st = inner->execute(inner, request, config, make_room(&room));
    memcpy(values + a->location.length, out, a->location.length);
    memcpy(out, values, a->location.length);
    if (st == NNVTS_STATUS_NONE) callback(context, st, &room.result);
    memcpy(out, values + a->location.length, a->location.length);
    free(values);
    return st;
}

/** Every fiftieth launch is done, but nobody is told. */
static enum nnvts_status async_lost(struct nnvts_prepared_model *self, const struct nnvts_request *request,
                                    const struct nnvts_execution_config *config, nnvts_execute_callback callback,
                                    void *context) {
    struct nnvts_prepared_model *inner = faulty_inner(self);
    struct room room;
    if (faulty_count(self) % 50 != 49) return inner->execute_async(inner, request, config, callback, context);
    return inner->execute(inner, request, config, make_room(&room));
}

/** Tells of a refusal twice: by its answer and by a call. */
static enum nnvts_status async_loud(struct nnvts_prepared_model *self, const struct nnvts_request *request,
                                    const struct nnvts_execution_config *config, nnvts_execute_callback callback,
                                    void *context) {
    struct nnvts_prepared_model *inner = faulty_inner(self);
    struct nnvts_execution_result none = {.timing = {NNVTS_NO_TIME, NNVTS_NO_TIME}};
    enum nnvts_status st = inner->execute_async(inner, request, config, callback, context);
    if (st != NNVTS_STATUS_NONE) callback(context, st, &none);
    return st;
}

/* --------------------------------------------------------------------- fenced */

static enum nnvts_status fence_ignored(struct nnvts_prepared_model *self, const struct nnvts_request *request,
                                       const int *wait_for, uint32_t wait_for_count,
                                       const struct nnvts_execution_config *config, uint64_t duration_ns,
                                       struct nnvts_fenced_execution *out) {
    struct nnvts_prepared_model *inner = faulty_inner(self);
    (void)wait_for, (void)wait_for_count;
    return inner->execute_fenced(inner, request, NULL, 0, config, duration_ns, out);
}

static enum nnvts_status fence_first_only(struct nnvts_prepared_model *self, const struct nnvts_request *request,
                                          const int *wait_for, uint32_t wait_for_count,
                                          const struct nnvts_execution_config *config, uint64_t duration_ns,
                                          struct nnvts_fenced_execution *out) {
    struct nnvts_prepared_model *inner = faulty_inner(self);
    return inner->execute_fenced(inner, request, wait_for, wait_for_count > 1 ? 1 : wait_for_count, config, duration_ns,
                                 out);
}

/** Whatever a fence reports is as good as a signal. */
static enum nnvts_status fence_errors(struct nnvts_prepared_model *self, const struct nnvts_request *request,
                                      const int *wait_for, uint32_t wait_for_count,
                                      const struct nnvts_execution_config *config, uint64_t duration_ns,
                                      struct nnvts_fenced_execution *out) {
    struct nnvts_prepared_model *inner = faulty_inner(self);
    for (uint32_t i = 0; i < wait_for_count; i++) {
        struct pollfd p = {.fd = wait_for[i], .events = POLLIN};
        if (p.fd < 0) return NNVTS_STATUS_INVALID_ARGUMENT;
        poll(&p, 1, -1);
    }
    return inner->execute_fenced(inner, request, NULL, 0, config, duration_ns, out);
}

/** Claims to have ended at once. */
static enum nnvts_status fence_early(struct nnvts_prepared_model *self, const struct nnvts_request *request,
                                     const int *wait_for, uint32_t wait_for_count,
                                     const struct nnvts_execution_config *config, uint64_t duration_ns,
                                     struct nnvts_fenced_execution *out) {
    struct nnvts_prepared_model *inner = faulty_inner(self);
    enum nnvts_status st = inner->execute_fenced(inner, request, wait_for, wait_for_count, config, duration_ns, out);
    if (st == NNVTS_STATUS_NONE) out->sync_fence = -1;
    return st;
}

static enum nnvts_status answer_at_once(void *context, struct nnvts_fenced_result *result) {
    const struct nnvts_timing none = {NNVTS_NO_TIME, NNVTS_NO_TIME};
    (void)context;
    *result = (struct nnvts_fenced_result){NNVTS_STATUS_NONE, none, none};
    return NNVTS_STATUS_NONE;
}

/** get_result does not wait, and knows of no failure. */
static enum nnvts_status fence_blind(struct nnvts_prepared_model *self, const struct nnvts_request *request,
                                     const int *wait_for, uint32_t wait_for_count,
                                     const struct nnvts_execution_config *config, uint64_t duration_ns,
                                     struct nnvts_fenced_execution *out) {
    struct nnvts_prepared_model *inner = faulty_inner(self);
    enum nnvts_status st = inner->execute_fenced(inner, request, wait_for, wait_for_count, config, duration_ns, out);
    if (st == NNVTS_STATUS_NONE) out->get_result = answer_at_once;
    return st;
}

static void nothing_to_free(void *context) { (void)context; }

/** Outputs of any extents will do. */
static enum nnvts_status fence_open(struct nnvts_prepared_model *self, const struct nnvts_request *request,
                                    const int *wait_for, uint32_t wait_for_count,
                                    const struct nnvts_execution_config *config, uint64_t duration_ns,
                                    struct nnvts_fenced_execution *out) {
    struct nnvts_prepared_model *inner = faulty_inner(self);
    struct room room;
    enum nnvts_status st = inner->execute_fenced(inner, request, wait_for, wait_for_count, config, duration_ns, out);
    if (st != NNVTS_STATUS_INVALID_ARGUMENT) return st;
    st = inner->execute(inner, request, config, make_room(&room));
    *out = (struct nnvts_fenced_execution){-1, NULL, answer_at_once, nothing_to_free};
    return st;
}

#define FENCED(bug, function)                                                                                          \
    static void bug(struct nnvts_prepared_model *prepared) {                                                           \
        if (prepared->execute_fenced) prepared->execute_fenced = function;                                             \
    }
FENCED(ignore_fences, fence_ignored)
FENCED(wait_for_first, fence_first_only)
FENCED(ignore_errors, fence_errors)
FENCED(end_early, fence_early)
FENCED(answer_blindly, fence_blind)
FENCED(accept_open, fence_open)

#define ASYNC(bug, function)                                                                                           \
    static void bug(struct nnvts_prepared_model *prepared) {                                                           \
        if (prepared->execute_async) prepared->execute_async = function;                                               \
    }
ASYNC(call_back_twice, async_twice)
ASYNC(call_back_early, async_early)
ASYNC(lose_callback, async_lost)
ASYNC(call_back_always, async_loud)

/* ------------------------------------------------------------------- reusable */

/** An execution that keeps the outputs of the first time. */
struct memo {
    struct nnvts_execution base;
    struct nnvts_execution *inner;
    uint8_t *out, *values;
    uint32_t bytes;
    bool filled;
};

static enum nnvts_status memo_execute(struct nnvts_execution *self, uint64_t deadline_ns,
                                      struct nnvts_execution_result *result) {
    struct memo *m = (struct memo *)self;
    enum nnvts_status st = m->inner->execute(m->inner, deadline_ns, result);
    if (!m->out || st != NNVTS_STATUS_NONE) return st;
    if (m->filled)
        memcpy(m->out, m->values, m->bytes);
    else
        memcpy(m->values, m->out, m->bytes);
    m->filled = true;
    return st;
}

static void memo_release(struct nnvts_execution *self) {
    struct memo *m = (struct memo *)self;
    m->inner->release(m->inner);
    free(m->values);
    free(m);
}

static enum nnvts_status create_memo(struct nnvts_prepared_model *self, const struct nnvts_request *request,
                                     const struct nnvts_execution_config *config, struct nnvts_execution **out) {
    struct nnvts_prepared_model *inner = faulty_inner(self);
    struct memo *m = calloc(1, sizeof *m);
    if (!m) return NNVTS_STATUS_RESOURCE_EXHAUSTED_TRANSIENT;
    enum nnvts_status st = inner->create_execution(inner, request, config, &m->inner);
    if (st != NNVTS_STATUS_NONE) {
        free(m);
        return st;
    }
    m->base = (struct nnvts_execution){sizeof m->base, memo_execute, memo_release};
    m->bytes = request->outputs[0].location.length;
    m->values = malloc(m->bytes + 1u);
    m->out = m->values ? data_of(request, &request->outputs[0]) : NULL;
    *out = &m->base;
    return st;
}

static void keep_first_outputs(struct nnvts_prepared_model *prepared) {
    if (prepared->create_execution) prepared->create_execution = create_memo;
}

/** A deadline that was missed once is missed for ever. */
static enum nnvts_status sticky_execute(struct nnvts_execution *self, uint64_t deadline_ns,
                                        struct nnvts_execution_result *result) {
    struct memo *m = (struct memo *)self;
    if (m->filled) {
        result->shape_count = 0;
        return NNVTS_STATUS_MISSED_DEADLINE_PERSISTENT;
    }
    enum nnvts_status st = m->inner->execute(m->inner, deadline_ns, result);
    m->filled = st == NNVTS_STATUS_MISSED_DEADLINE_TRANSIENT || st == NNVTS_STATUS_MISSED_DEADLINE_PERSISTENT;
    return st;
}

static enum nnvts_status create_sticky(struct nnvts_prepared_model *self, const struct nnvts_request *request,
                                       const struct nnvts_execution_config *config, struct nnvts_execution **out) {
    enum nnvts_status st = create_memo(self, request, config, out);
    if (st == NNVTS_STATUS_NONE) (*out)->execute = sticky_execute;
    return st;
}

static void miss_for_ever(struct nnvts_prepared_model *prepared) {
    if (prepared->create_execution) prepared->create_execution = create_sticky;
}

/* ---------------------------------------------------------- memory and threads */

/** Scratch memory of the process: what lies in it may be another execution's before it is used. */
static enum nnvts_status tamper_scratch(struct tamper *t, enum nnvts_status status) {
    static uint8_t scratch[4096];
    const uint32_t bytes = t->request->output_count ? t->outputs[0].bytes : 0;
    if (status != NNVTS_STATUS_NONE || !bytes || bytes > sizeof scratch || !t->outputs[0].data) return status;
    pthread_mutex_lock(&lock);
    memcpy(scratch, t->outputs[0].data, bytes);
    pthread_mutex_unlock(&lock);
    pause_us(200);
    pthread_mutex_lock(&lock);
    memcpy(t->outputs[0].data, scratch, bytes);
    pthread_mutex_unlock(&lock);
    return status;
}

/** A request at the same place as the last one has, so it is thought, the same result. */
static enum nnvts_status tamper_stale(struct tamper *t, enum nnvts_status status) {
    static uint8_t last[4096];
    static const uint8_t *last_in, *last_out;
    if (status != NNVTS_STATUS_NONE || !t->request->input_count || !t->request->output_count) return status;
    const struct tamper_value *in = &t->inputs[0], *out = &t->outputs[0];
    if (!in->data || !out->data || out->bytes > sizeof last) return status;
    pthread_mutex_lock(&lock);
    if (in->data == last_in && out->data == last_out)
        memcpy(out->data, last, out->bytes);
    else
        memcpy(last, out->data, out->bytes);
    last_in = in->data;
    last_out = out->data;
    pthread_mutex_unlock(&lock);
    return status;
}

/** Maps files from their beginning, whatever the pool's offset. */
static enum nnvts_status execute_at_start(struct nnvts_prepared_model *self, const struct nnvts_request *request,
                                          const struct nnvts_execution_config *config,
                                          struct nnvts_execution_result *result) {
    struct nnvts_prepared_model *inner = faulty_inner(self);
    struct nnvts_memory pools[32];
    struct nnvts_request r = *request;
    if (!r.pools || r.pool_count > sizeof pools / sizeof *pools) return inner->execute(inner, request, config, result);
    memcpy(pools, r.pools, r.pool_count * sizeof *pools);
    for (uint32_t i = 0; i < r.pool_count; i++)
        if (!pools[i].data) pools[i].offset = 0;
    r.pools = pools;
    return inner->execute(inner, &r, config, result);
}

static void forget_offsets(struct nnvts_prepared_model *prepared) { prepared->execute = execute_at_start; }

static enum nnvts_status execute_pointers(struct nnvts_prepared_model *self, const struct nnvts_request *request,
                                          const struct nnvts_execution_config *config,
                                          struct nnvts_execution_result *result) {
    struct nnvts_prepared_model *inner = faulty_inner(self);
    for (uint32_t i = 0; i < request->pool_count && request->pools; i++) {
        if (request->pools[i].data) continue;
        result->shape_count = 0;
        return NNVTS_STATUS_GENERAL_FAILURE;
    }
    return inner->execute(inner, request, config, result);
}

static void need_pointers(struct nnvts_prepared_model *prepared) { prepared->execute = execute_pointers; }

/* ---------------------------------------------------------------------- times */

static bool timed(const struct tamper *t) { return t->result->timing.in_driver_ns != NNVTS_NO_TIME; }

static enum nnvts_status tamper_device_time(struct tamper *t, enum nnvts_status status) {
    if (timed(t)) t->result->timing.on_device_ns = t->result->timing.in_driver_ns + 1;
    return status;
}

/** Microseconds said to be milliseconds. */
static enum nnvts_status tamper_wall_time(struct tamper *t, enum nnvts_status status) {
    if (timed(t)) t->result->timing.in_driver_ns *= 1000;
    return status;
}

static enum nnvts_status tamper_constant_time(struct tamper *t, enum nnvts_status status) {
    if (timed(t)) t->result->timing = (struct nnvts_timing){100, 100};
    return status;
}

static const struct bug bugs[] = {
    BUG("async-twice", "a callback that comes twice", "asynchronous executions", .prepared = call_back_twice),
    BUG("async-early", "a callback before the values are written", "asynchronous executions",
        .prepared = call_back_early),
    BUG("async-lost", "a callback that never comes", "every fiftieth asynchronous execution",
        .prepared = lose_callback),
    BUG("async-loud", "a callback though the launch failed", "launches that are refused", .prepared = call_back_always),
    BUG("fence-ignored", "dependencies that are not waited for", "fenced executions", .prepared = ignore_fences),
    BUG("fence-first-only", "only the first dependency is waited for", "fenced executions", .prepared = wait_for_first),
    BUG("fence-errors-ignored", "a failing fence taken for a signal", "fenced executions", .prepared = ignore_errors),
    BUG("fence-early", "an end that is signalled at the launch", "fenced executions", .prepared = end_early),
    BUG("fence-blind", "get_result that does not wait", "fenced executions", .prepared = answer_blindly),
    BUG("fence-open-outputs", "outputs of unknown size behind a fence", "fenced executions", .prepared = accept_open),
    BUG("reusable-stale", "a reusable execution that keeps its first result", "reusable executions",
        .prepared = keep_first_outputs),
    BUG("reusable-missed", "a deadline missed once is missed for ever", "reusable executions",
        .prepared = miss_for_ever),
    BUG("pool-offset-ignored", "a file mapped from its beginning", "pools without a pointer",
        .prepared = forget_offsets),
    BUG("pool-needs-pointer", "memory that is not mapped for the driver is refused", "pools without a pointer",
        .prepared = need_pointers),
    BUG("scratch-shared", "scratch memory shared by all executions", "executions in several threads",
        .execute = tamper_scratch),
    BUG("output-cached", "a result kept by the request's address", "a request with other inputs at its place",
        .execute = tamper_stale),
    BUG("timing-device", "more time on the device than in the driver", "executions that are measured",
        .execute = tamper_device_time),
    BUG("timing-wall", "a wrong unit of time", "executions that are measured", .execute = tamper_wall_time),
    BUG("timing-constant", "times that are made up", "executions that are measured", .execute = tamper_constant_time),
};
const struct bug_group bugs_exec = {bugs, sizeof bugs / sizeof *bugs};
