/* SPDX-License-Identifier: Apache-2.0 */
/** @file launch.c Executions that go on by themselves: with a callback, and with fences. */
#include <fcntl.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "ndk.h"

/* ------------------------------------------------------------------- with a callback */

enum { ROOM = 64 };

struct launch {
    struct ndk_run run;
    ANeuralNetworksEvent *event;
    nnvts_execute_callback callback;
    void *context;
    struct nnvts_execution_result result;
    struct nnvts_output_shape *shapes;
    uint32_t *dimensions;
};

static void launch_free(struct launch *l) {
    if (!l) return;
    free(l->shapes);
    free(l->dimensions);
    free(l);
}

static struct launch *launch_new(uint32_t outputs) {
    struct launch *l = calloc(1, sizeof *l);
    if (!l) return NULL;
    l->shapes = calloc((size_t)outputs + 1, sizeof *l->shapes);
    l->dimensions = calloc((size_t)outputs + 1, ROOM * sizeof *l->dimensions);
    if (!l->shapes || !l->dimensions) {
        launch_free(l);
        return NULL;
    }
    for (uint32_t i = 0; i < outputs; i++)
        l->shapes[i] = (struct nnvts_output_shape){false, ROOM, l->dimensions + (size_t)i * ROOM};
    l->result.shapes = l->shapes;
    return l;
}

static void *wait_and_call(void *context) {
    struct launch *l = context;
    const struct ndk_library *lib = &l->run.prepared->device->lib;
    const enum nnvts_status st = ndk_run_take(&l->run, NDK_CALL(lib, Event_wait, l->event), &l->result);
    lib->fn.Event_free(l->event);
    ndk_run_end(&l->run); /* the caller may free all there is once it was called */
    l->callback(l->context, st, &l->result);
    launch_free(l);
    return NULL;
}

enum nnvts_status ndk_execute_async(struct nnvts_prepared_model *self, const struct nnvts_request *request,
                                    const struct nnvts_execution_config *config, nnvts_execute_callback callback,
                                    void *context) {
    struct ndk_prepared *p = (struct ndk_prepared *)self;
    const struct ndk_library *lib = &p->device->lib;
    if (!callback) return NNVTS_STATUS_INVALID_ARGUMENT;
    struct launch *l = launch_new(p->output_count);
    if (!l) return NNVTS_STATUS_RESOURCE_EXHAUSTED_TRANSIENT;
    l->callback = callback;
    l->context = context;
    enum nnvts_status st = ndk_run_begin(p, request, config, NULL, &l->run);
    if (st == NNVTS_STATUS_NONE) {
        st = NDK_MAKE(lib, Execution_startCompute, &l->event, l->run.execution, &l->event);
        if (st != NNVTS_STATUS_NONE) ndk_run_end(&l->run);
    }
    if (st != NNVTS_STATUS_NONE) {
        launch_free(l);
        return st;
    }
    pthread_t thread;
    if (pthread_create(&thread, NULL, wait_and_call, l) == 0)
        pthread_detach(thread);
    else
        wait_and_call(l);
    return NNVTS_STATUS_NONE;
}

/* ----------------------------------------------------------------------- with fences */

struct fenced {
    struct ndk_run run;
    ANeuralNetworksEvent *event;
    pthread_t waiter; /* signals where the library gives no fence */
    bool has_waiter;
    int fence;                /* the waiter's */
    enum nnvts_status waited; /* what the waiter was told */
    int handed_out;
    pthread_mutex_t lock;
    bool done;
    struct nnvts_fenced_result result;
};

static enum nnvts_status get_result(void *context, struct nnvts_fenced_result *result) {
    struct fenced *f = context;
    const struct ndk_library *lib = &f->run.prepared->device->lib;
    pthread_mutex_lock(&f->lock);
    if (!f->done) {
        struct nnvts_execution_result shapes = {0};
        /* Who has the result sees the fence signalled. */
        const bool joined = f->has_waiter && pthread_join(f->waiter, NULL) == 0;
        const enum nnvts_status st = joined ? f->waited : NDK_CALL(lib, Event_wait, f->event);
        f->result.status = ndk_run_take(&f->run, st, &shapes);
        f->result.launched = shapes.timing;
        f->result.fenced = (struct nnvts_timing){NNVTS_NO_TIME, NNVTS_NO_TIME};
        if (st == NNVTS_STATUS_NONE)
            f->result.fenced = ndk_run_timing(&f->run, ANEURALNETWORKS_FENCED_DURATION_ON_HARDWARE,
                                              ANEURALNETWORKS_FENCED_DURATION_IN_DRIVER);
        f->done = true;
    }
    if (result) *result = f->result;
    pthread_mutex_unlock(&f->lock);
    return NNVTS_STATUS_NONE;
}

static void release(void *context) {
    struct fenced *f = context;
    const struct ndk_library *lib = &f->run.prepared->device->lib;
    get_result(f, NULL);
    lib->fn.Event_free(f->event);
    ndk_run_end(&f->run);
    if (f->handed_out >= 0) close(f->handed_out);
    pthread_mutex_destroy(&f->lock);
    free(f);
}

static void *wait_and_signal(void *context) {
    struct fenced *f = context;
    const uint64_t one = 1;
    f->waited = NDK_CALL(&f->run.prepared->device->lib, Event_wait, f->event);
    if (write(f->fence, &one, sizeof one) < 0) ndk_tell("a fence could not be signalled");
    return NULL;
}

/** The library's own fence; where it has none, ours, which a thread signals. */
static void find_fence(struct fenced *f) {
    const struct ndk_library *lib = &f->run.prepared->device->lib;
    int fd = -1;
    f->handed_out = -1;
    if (lib->fn.Event_getSyncFenceFd(f->event, &fd) == ANEURALNETWORKS_NO_ERROR) {
        if (fd < 0 || fcntl(fd, F_GETFD) < 0)
            ndk_tell("ANeuralNetworksEvent_getSyncFenceFd gave %d, which is no descriptor", fd);
        else
            f->handed_out = fd;
        if (f->handed_out >= 0) return;
    }
    f->fence = eventfd(0, EFD_CLOEXEC);
    if (f->fence >= 0) f->has_waiter = pthread_create(&f->waiter, NULL, wait_and_signal, f) == 0;
    if (f->has_waiter) {
        f->handed_out = f->fence;
        return;
    }
    if (f->fence >= 0) close(f->fence);
    NDK_CALL(lib, Event_wait, f->event); /* -1: it has ended */
}

/** Events of the caller's fences; freed by the caller as far as they are not NULL. */
static enum nnvts_status make_events(const struct ndk_library *lib, const int *fences, uint32_t count,
                                     ANeuralNetworksEvent **events) {
    enum nnvts_status st = NNVTS_STATUS_NONE;
    for (uint32_t i = 0; i < count && st == NNVTS_STATUS_NONE; i++) {
        /* The NDK takes 0 for no descriptor. */
        const int high = fences[i] == 0 ? fcntl(0, F_DUPFD_CLOEXEC, 3) : -1;
        const int fd = high >= 0 ? high : fences[i];
        st = NDK_MAKE(lib, Event_createFromSyncFenceFd, &events[i], fd, &events[i]);
        if (high >= 0) close(high);
    }
    return st;
}

static enum nnvts_status start(struct fenced *f, const int *wait_for, uint32_t count, uint64_t duration_ns) {
    const struct ndk_library *lib = &f->run.prepared->device->lib;
    ANeuralNetworksEvent **events = calloc((size_t)count + 1, sizeof *events);
    if (!events) return NNVTS_STATUS_RESOURCE_EXHAUSTED_TRANSIENT;
    enum nnvts_status st = make_events(lib, wait_for, count, events);
    const bool limited = duration_ns != NNVTS_NO_TIME && f->run.prepared->device->device;
    const uint64_t duration = !limited ? 0 : duration_ns ? duration_ns : 1; /* 0: none */
    if (st == NNVTS_STATUS_NONE)
        st = NDK_MAKE(lib, Execution_startComputeWithDependencies, &f->event, f->run.execution,
                      (const ANeuralNetworksEvent *const *)events, count, duration, &f->event);
    for (uint32_t i = 0; i < count; i++)
        if (events[i]) lib->fn.Event_free(events[i]);
    free(events);
    return st;
}

enum nnvts_status ndk_execute_fenced(struct nnvts_prepared_model *self, const struct nnvts_request *request,
                                     const int *wait_for, uint32_t wait_for_count,
                                     const struct nnvts_execution_config *config, uint64_t duration_ns,
                                     struct nnvts_fenced_execution *out) {
    enum { MAX_FENCES = 1 << 12 };
    if (!out || (wait_for_count && !wait_for) || wait_for_count > MAX_FENCES) return NNVTS_STATUS_INVALID_ARGUMENT;
    struct fenced *f = calloc(1, sizeof *f);
    if (!f) return NNVTS_STATUS_RESOURCE_EXHAUSTED_TRANSIENT;
    enum nnvts_status st = ndk_run_begin((struct ndk_prepared *)self, request, config, NULL, &f->run);
    if (st == NNVTS_STATUS_NONE) {
        st = start(f, wait_for, wait_for_count, duration_ns);
        if (st != NNVTS_STATUS_NONE) ndk_run_end(&f->run);
    }
    if (st != NNVTS_STATUS_NONE) {
        free(f);
        return st;
    }
    pthread_mutex_init(&f->lock, NULL);
    find_fence(f);
    *out = (struct nnvts_fenced_execution){f->handed_out, f, get_result, release};
    return NNVTS_STATUS_NONE;
}
