/* SPDX-License-Identifier: Apache-2.0 */
/** @file prepared.c The ways to execute a prepared model: at once, later, behind fences, in bursts, again. */
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "base/clock.h"
#include "cpu.h"

static struct ref_prepared *prepared_of(struct nnvts_prepared_model *self) { return (struct ref_prepared *)self; }

static enum nnvts_status execute(struct nnvts_prepared_model *self, const struct nnvts_request *request,
                                 const struct nnvts_execution_config *config, struct nnvts_execution_result *result) {
    struct ref_execution *e;
    result->shape_count = 0;
    enum nnvts_status st = ref_bind(prepared_of(self), request, config, &e);
    if (st != NNVTS_STATUS_NONE) return st;
    st = ref_run(e, result);
    ref_unbind(e);
    return st;
}

/** Room for the shapes of all outputs, in the caller's arena. */
static bool make_result(const struct ref_prepared *p, struct nnv_arena *arena, struct nnvts_execution_result *out) {
    uint32_t n = p->model->main.nout;
    struct nnvts_output_shape *shapes = NNV_NEW(arena, struct nnvts_output_shape, n);
    uint32_t *dims = NNV_NEW(arena, uint32_t, (size_t)n * NNV_MAX_RANK);
    if (!shapes || !dims) return false;
    for (uint32_t i = 0; i < n; i++)
        shapes[i] = (struct nnvts_output_shape){false, NNV_MAX_RANK, dims + (size_t)i * NNV_MAX_RANK};
    *out = (struct nnvts_execution_result){.shapes = shapes};
    return true;
}

/* -------------------------------------------------------------- asynchronous */

struct job {
    struct ref_execution *execution;
    struct nnv_arena *arena; /**< of the job and of result */
    struct nnvts_execution_result result;
    nnvts_execute_callback callback;
    void *context;
};

static void *work(void *argument) {
    struct job *job = argument;
    struct nnv_arena *arena = job->arena;
    enum nnvts_status st = ref_run(job->execution, &job->result);
    ref_unbind(job->execution);
    job->callback(job->context, st, &job->result);
    nnv_arena_free(arena);
    return NULL;
}

static bool start_thread(struct job *job) {
    pthread_attr_t attributes;
    pthread_t thread;
    if (pthread_attr_init(&attributes) != 0) return false;
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    bool ok = pthread_create(&thread, &attributes, work, job) == 0;
    pthread_attr_destroy(&attributes);
    return ok;
}

static enum nnvts_status execute_async(struct nnvts_prepared_model *self, const struct nnvts_request *request,
                                       const struct nnvts_execution_config *config, nnvts_execute_callback callback,
                                       void *context) {
    if (!callback) return NNVTS_STATUS_INVALID_ARGUMENT;
    struct nnv_arena *arena = nnv_arena_new();
    struct job *job = arena ? NNV_NEW(arena, struct job, 1) : NULL;
    enum nnvts_status st = NNVTS_STATUS_RESOURCE_EXHAUSTED_TRANSIENT;
    if (!job || !make_result(prepared_of(self), arena, &job->result)) goto out;
    st = ref_bind(prepared_of(self), request, config, &job->execution);
    if (st != NNVTS_STATUS_NONE) goto out;
    job->arena = arena;
    job->callback = callback;
    job->context = context;
    if (start_thread(job)) return NNVTS_STATUS_NONE;
    ref_unbind(job->execution);
    st = NNVTS_STATUS_RESOURCE_EXHAUSTED_TRANSIENT;
out:
    nnv_arena_free(arena);
    return st;
}

/* -------------------------------------------------------------------- fenced */

static enum nnvts_status get_result(void *context, struct nnvts_fenced_result *result) {
    *result = *(const struct nnvts_fenced_result *)context;
    return NNVTS_STATUS_NONE;
}

/** Waits for one fence until the deadline. */
static enum nnvts_status wait_for_fence(int fence, uint64_t deadline_ns) {
    struct pollfd p = {.fd = fence, .events = POLLIN};
    for (;;) {
        uint64_t now = nnv_now_ns();
        if (now >= deadline_ns) return NNVTS_STATUS_MISSED_DEADLINE_TRANSIENT;
        uint64_t left_ms = deadline_ns == NNVTS_NO_TIME ? 1000 : (deadline_ns - now) / 1000000 + 1;
        int n = poll(&p, 1, left_ms < 1000 ? (int)left_ms : 1000);
        if (n > 0) return p.revents & POLLIN ? NNVTS_STATUS_NONE : NNVTS_STATUS_GENERAL_FAILURE;
    }
}

static uint64_t earlier(uint64_t deadline_ns, uint64_t start_ns, uint64_t duration_ns) {
    if (duration_ns >= NNVTS_NO_TIME - start_ns) return deadline_ns;
    return start_ns + duration_ns < deadline_ns ? start_ns + duration_ns : deadline_ns;
}

/** Works through the execution at once, so that its fence has signalled when the launch returns. */
static enum nnvts_status run_fenced(struct ref_prepared *p, struct ref_execution *e, const int *wait_for,
                                    uint32_t count, const struct nnvts_execution_config *config, uint64_t duration_ns,
                                    struct nnvts_fenced_result *result) {
    const struct nnvts_timing none = {NNVTS_NO_TIME, NNVTS_NO_TIME};
    const uint64_t launched_ns = nnv_now_ns();
    *result = (struct nnvts_fenced_result){NNVTS_STATUS_NONE, none, none};
    for (uint32_t i = 0; i < count && result->status == NNVTS_STATUS_NONE; i++)
        result->status = wait_for_fence(wait_for[i], config->deadline_ns);
    if (result->status != NNVTS_STATUS_NONE) return NNVTS_STATUS_NONE;
    struct nnv_arena *arena = nnv_arena_new();
    struct nnvts_execution_result answer;
    bool ok = arena && make_result(p, arena, &answer);
    if (ok) {
        ref_set_deadline(e, earlier(config->deadline_ns, nnv_now_ns(), duration_ns));
        result->status = ref_run(e, &answer);
        result->launched = result->fenced = answer.timing;
        if (answer.timing.in_driver_ns != NNVTS_NO_TIME) result->launched.in_driver_ns = nnv_now_ns() - launched_ns;
    }
    nnv_arena_free(arena);
    return ok ? NNVTS_STATUS_NONE : NNVTS_STATUS_RESOURCE_EXHAUSTED_TRANSIENT;
}

static enum nnvts_status execute_fenced(struct nnvts_prepared_model *self, const struct nnvts_request *request,
                                        const int *wait_for, uint32_t wait_for_count,
                                        const struct nnvts_execution_config *config, uint64_t duration_ns,
                                        struct nnvts_fenced_execution *out) {
    if (wait_for_count && !wait_for) return NNVTS_STATUS_INVALID_ARGUMENT;
    for (uint32_t i = 0; i < wait_for_count; i++)
        if (wait_for[i] < 0) return NNVTS_STATUS_INVALID_ARGUMENT;
    struct ref_execution *e;
    enum nnvts_status st = ref_bind(prepared_of(self), request, config, &e);
    if (st != NNVTS_STATUS_NONE) return st;
    struct nnvts_fenced_result *result = malloc(sizeof *result);
    if (!ref_is_fenceable(e))
        st = NNVTS_STATUS_INVALID_ARGUMENT;
    else if (!result)
        st = NNVTS_STATUS_RESOURCE_EXHAUSTED_TRANSIENT;
    else
        st = run_fenced(prepared_of(self), e, wait_for, wait_for_count, config, duration_ns, result);
    ref_unbind(e);
    if (st == NNVTS_STATUS_NONE)
        *out = (struct nnvts_fenced_execution){-1, result, get_result, free};
    else
        free(result);
    return st;
}

/* --------------------------------------------------------------------- burst */

struct burst {
    struct nnvts_burst base;
    struct nnvts_prepared_model *prepared;
    atomic_flag busy;
};

static enum nnvts_status burst_execute(struct nnvts_burst *self, const struct nnvts_request *request,
                                       const int64_t *memory_tokens, const struct nnvts_execution_config *config,
                                       struct nnvts_execution_result *result) {
    struct burst *b = (struct burst *)self;
    if (request->pool_count && !memory_tokens) return NNVTS_STATUS_INVALID_ARGUMENT;
    for (uint32_t i = 0; i < request->pool_count; i++)
        if (memory_tokens[i] < -1) return NNVTS_STATUS_INVALID_ARGUMENT;
    if (atomic_flag_test_and_set(&b->busy)) return NNVTS_STATUS_GENERAL_FAILURE;
    enum nnvts_status st = execute(b->prepared, request, config, result);
    atomic_flag_clear(&b->busy);
    return st;
}

static enum nnvts_status burst_release_memory(struct nnvts_burst *self, int64_t memory_token) {
    (void)self; /* memory is not kept */
    return memory_token < 0 ? NNVTS_STATUS_INVALID_ARGUMENT : NNVTS_STATUS_NONE;
}

static void burst_release(struct nnvts_burst *self) { free(self); }

static enum nnvts_status create_burst(struct nnvts_prepared_model *self, struct nnvts_burst **out) {
    struct burst *b = malloc(sizeof *b);
    if (!b) return NNVTS_STATUS_RESOURCE_EXHAUSTED_TRANSIENT;
    *b = (struct burst){.base = {sizeof b->base, burst_execute, burst_release_memory, burst_release}, .prepared = self};
    atomic_flag_clear(&b->busy);
    *out = &b->base;
    return NNVTS_STATUS_NONE;
}

/* ---------------------------------------------------------------- executions */

struct execution {
    struct nnvts_execution base;
    struct ref_execution *bound;
};

static enum nnvts_status execution_execute(struct nnvts_execution *self, uint64_t deadline_ns,
                                           struct nnvts_execution_result *result) {
    struct execution *x = (struct execution *)self;
    ref_set_deadline(x->bound, deadline_ns);
    return ref_run(x->bound, result);
}

static void execution_release(struct nnvts_execution *self) {
    ref_unbind(((struct execution *)self)->bound);
    free(self);
}

static enum nnvts_status create_execution(struct nnvts_prepared_model *self, const struct nnvts_request *request,
                                          const struct nnvts_execution_config *config, struct nnvts_execution **out) {
    struct execution *x = malloc(sizeof *x);
    if (!x) return NNVTS_STATUS_RESOURCE_EXHAUSTED_TRANSIENT;
    x->base = (struct nnvts_execution){sizeof x->base, execution_execute, execution_release};
    enum nnvts_status st = ref_bind(prepared_of(self), request, config, &x->bound);
    if (st == NNVTS_STATUS_NONE)
        *out = &x->base;
    else
        free(x);
    return st;
}

/* ------------------------------------------------------------------ the model */

static void release(struct nnvts_prepared_model *self) { nnv_arena_free(prepared_of(self)->arena); }

const struct ref_prepared *ref_prepared_at(const struct ref_device *device,
                                           const struct nnvts_prepared_model *prepared) {
    const struct ref_prepared *p = (const struct ref_prepared *)prepared;
    return p && p->base.execute == execute && p->device == device ? p : NULL;
}

struct nnvts_prepared_model *ref_prepared_new(struct ref_device *device, struct nnv_arena *arena,
                                              struct nnv_model *model) {
    struct ref_prepared *p = NNV_NEW(arena, struct ref_prepared, 1);
    if (!p) return NULL;
    p->base = (struct nnvts_prepared_model){
        .struct_size = sizeof p->base,
        .execute = execute,
        .execute_async = execute_async,
        .execute_fenced = execute_fenced,
        .create_burst = create_burst,
        .create_execution = create_execution,
        .release = release,
    };
    pthread_mutex_lock(&device->lock);
    p->number = ++device->prepared_count;
    pthread_mutex_unlock(&device->lock);
    p->device = device;
    p->arena = arena;
    p->model = model;
    return &p->base;
}
