/* SPDX-License-Identifier: Apache-2.0 */
#include "reference/runtime/api/event.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/clock.h"
#include "reference/runtime/log.h"

/* ---------------------------------------------------------------------- life */

static struct ANeuralNetworksEvent *event_new(uint32_t count) {
    struct ANeuralNetworksEvent *event = calloc(1, sizeof *event + count * sizeof *event->dependencies);
    pthread_condattr_t clock;
    if (!event) return NULL;
    event->dependencies = (struct ANeuralNetworksEvent **)(void *)(event + 1);
    atomic_init(&event->holders, 1);
    event->fence = -1;
    pthread_mutex_init(&event->lock, NULL);
    pthread_condattr_init(&clock);
    pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
    pthread_cond_init(&event->ended, &clock);
    pthread_condattr_destroy(&clock);
    return event;
}

struct ANeuralNetworksEvent *nnv_rt_event_new(ANeuralNetworksExecution *e,
                                              const struct ANeuralNetworksEvent *const *dependencies, uint32_t count) {
    struct ANeuralNetworksEvent *event = event_new(count);
    if (!event) return NULL;
    event->execution = e;
    event->dependency_count = count;
    event->deadline_ns = NNVTS_NO_TIME;
    for (uint32_t i = 0; i < count; i++) {
        event->dependencies[i] = (struct ANeuralNetworksEvent *)dependencies[i];
        atomic_fetch_add(&event->dependencies[i]->holders, 1);
    }
    return event;
}

/** Once it is done: a chain of executions must not hold all that went before. */
static void drop_dependencies(struct ANeuralNetworksEvent *event) {
    for (uint32_t i = 0; i < event->dependency_count; i++) nnv_rt_event_drop(event->dependencies[i]);
    event->dependency_count = 0;
}

void nnv_rt_event_drop(struct ANeuralNetworksEvent *event) {
    if (atomic_fetch_sub(&event->holders, 1) != 1) return;
    drop_dependencies(event);
    if (event->in_driver)
        event->fenced.release(event->fenced.context); /* closes the fence, too */
    else if (event->fence >= 0)
        close(event->fence);
    pthread_cond_destroy(&event->ended);
    pthread_mutex_destroy(&event->lock);
    free(event);
}

bool nnv_rt_event_add_fence(struct ANeuralNetworksEvent *event) {
    event->fence = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    return event->fence >= 0;
}

void nnv_rt_event_end(struct ANeuralNetworksEvent *event, int result) {
    drop_dependencies(event);
    pthread_mutex_lock(&event->lock);
    event->result = result;
    event->done = true;
    const uint64_t one = 1;
    if (event->fence >= 0 && write(event->fence, &one, sizeof one) != sizeof one)
        nnv_rt_error(0, "Event", "its fence cannot be signalled"); /* an eventfd of our own: it takes one number */
    pthread_cond_broadcast(&event->ended);
    pthread_mutex_unlock(&event->lock);
}

/* ------------------------------------------------------------------- waiting */

/** Polls until the fence has signalled (*result says how); false if the deadline passes before. */
static bool wait_for_fence(int fence, uint64_t deadline_ns, int *result) {
    struct pollfd p = {.fd = fence, .events = POLLIN};
    for (;;) {
        int timeout_ms = -1;
        if (deadline_ns != NNVTS_NO_TIME) {
            const uint64_t now = nnv_now_ns(), left = deadline_ns > now ? (deadline_ns - now + 999999) / 1000000 : 0;
            timeout_ms = left > 60000 ? 60000 : (int)left;
        }
        const int n = poll(&p, 1, timeout_ms);
        const bool signalled = n > 0 && (p.revents & POLLIN), failed = n < 0 && errno != EINTR && errno != EAGAIN;
        *result = signalled ? ANEURALNETWORKS_NO_ERROR : ANEURALNETWORKS_OP_FAILED;
        if (n > 0 || failed) return true;
        if (deadline_ns != NNVTS_NO_TIME && nnv_now_ns() >= deadline_ns) return false;
    }
}

/** Asks the driver how its execution, whose fence has signalled, has ended. */
static int ask_driver(struct ANeuralNetworksEvent *event) {
    const struct nnvts_timing none = {NNVTS_NO_TIME, NNVTS_NO_TIME};
    struct nnvts_fenced_result answer = {NNVTS_STATUS_GENERAL_FAILURE, none, none};
    ANeuralNetworksExecution *e = event->execution;
    enum nnvts_status status = event->fenced.get_result(event->fenced.context, &answer);
    if (status == NNVTS_STATUS_NONE) status = answer.status;
    if (status == NNVTS_STATUS_NONE && e->measure) {
        e->launched = answer.launched;
        e->fenced = answer.fenced;
    }
    return nnv_rt_result(nnv_rt_device_note(e->plan->graphs[0].steps[0].device, status));
}

/** The result of a driver's execution, whose fence has signalled; false if a dependency goes on after the deadline. */
static bool take_driver_result(struct ANeuralNetworksEvent *event, uint64_t deadline_ns, int *result) {
    ANeuralNetworksExecution *e = event->execution;
    if (!event->answered) event->driver_result = ask_driver(event);
    event->answered = true;
    *result = event->driver_result;
    if (!*result) *result = nnv_rt_event_wait_dependencies(event, deadline_ns);
    if (!event->driver_result && *result == ANEURALNETWORKS_MISSED_DEADLINE_TRANSIENT) return false;
    for (uint32_t i = 0; i < e->output_count && !*result; i++)
        if (!nnv_rt_value_as_declared(&e->outputs[i])) *result = ANEURALNETWORKS_OP_FAILED;
    if (*result) e->launched = e->fenced = (struct nnvts_timing){NNVTS_NO_TIME, NNVTS_NO_TIME};
    nnv_rt_diag_executed(e->compilation, e->mode, *result, e->diag_since, &e->launched);
    drop_dependencies(event);
    return true;
}

/** Waits for a fence that nobody in the runtime signals. One thread at a time, without the lock. */
static bool poll_fence(struct ANeuralNetworksEvent *event, uint64_t deadline_ns, int *result) {
    *result = ANEURALNETWORKS_NO_ERROR;
    if (event->fence >= 0 && !wait_for_fence(event->fence, deadline_ns, result)) return false;
    return event->imported || take_driver_result(event, deadline_ns, result);
}

/** Until something changes, or the deadline (false). The lock is held, but for the time of waiting. */
static bool wait_for_change(struct ANeuralNetworksEvent *event, uint64_t deadline_ns) {
    if (deadline_ns == NNVTS_NO_TIME) return pthread_cond_wait(&event->ended, &event->lock) == 0;
    const struct timespec until = {(time_t)(deadline_ns / 1000000000), (long)(deadline_ns % 1000000000)};
    return pthread_cond_timedwait(&event->ended, &event->lock, &until) != ETIMEDOUT;
}

/**
 * The lock is held, but for the time of waiting. MISSED_DEADLINE_TRANSIENT: it is not done. A thread that polls a fence
 * leaves the lock to others, whose deadlines may be earlier; when it gives up, one of them polls.
 */
static int wait_until_done(struct ANeuralNetworksEvent *event, uint64_t deadline_ns) {
    bool in_time = true;
    while (!event->done && in_time) {
        if ((!event->imported && !event->in_driver) || event->polled) {
            in_time = wait_for_change(event, deadline_ns);
            continue;
        }
        int result;
        event->polled = true;
        pthread_mutex_unlock(&event->lock);
        in_time = poll_fence(event, deadline_ns, &result);
        pthread_mutex_lock(&event->lock);
        event->polled = false;
        if (in_time) event->result = result;
        event->done = in_time;
        pthread_cond_broadcast(&event->ended);
    }
    return event->done ? event->result : ANEURALNETWORKS_MISSED_DEADLINE_TRANSIENT;
}

int nnv_rt_event_result(struct ANeuralNetworksEvent *event, uint64_t deadline_ns) {
    pthread_mutex_lock(&event->lock);
    const int result = wait_until_done(event, deadline_ns);
    pthread_mutex_unlock(&event->lock);
    return result;
}

int nnv_rt_event_wait_dependencies(struct ANeuralNetworksEvent *event, uint64_t deadline_ns) {
    for (uint32_t i = 0; i < event->dependency_count; i++) {
        struct ANeuralNetworksEvent *d = event->dependencies[i];
        const int result = nnv_rt_event_result(d, deadline_ns);
        if (result == ANEURALNETWORKS_MISSED_DEADLINE_TRANSIENT && deadline_ns != NNVTS_NO_TIME) return result;
        if (result) return ANEURALNETWORKS_OP_FAILED;
    }
    return ANEURALNETWORKS_NO_ERROR;
}

/** Waits to the end, and tells the execution, if nobody has, that it has completed. */
static int observe(struct ANeuralNetworksEvent *event) {
    pthread_mutex_lock(&event->lock);
    const int result = wait_until_done(event, NNVTS_NO_TIME);
    ANeuralNetworksExecution *e = event->execution;
    if (e) {
        nnv_rt_trace_end(e->trace_since, NNV_RT_TRACE_APPLICATION, "execution", "asynchronous execution");
        nnv_rt_execution_end(e, result);
    }
    event->execution = NULL;
    pthread_mutex_unlock(&event->lock);
    return result;
}

int ANeuralNetworksEvent_wait(ANeuralNetworksEvent *event) {
    if (!event) return nnv_rt_error(ANEURALNETWORKS_UNEXPECTED_NULL, NNV_RT_FUNCTION, "event is NULL");
    return observe(event);
}

void ANeuralNetworksEvent_free(ANeuralNetworksEvent *event) {
    if (!event) return;
    if (!event->imported) observe(event);
    nnv_rt_event_drop(event);
}

/* -------------------------------------------------------------------- fences */

int ANeuralNetworksEvent_createFromSyncFenceFd(int sync_fence_fd, ANeuralNetworksEvent **event) {
    if (!event) return nnv_rt_error(ANEURALNETWORKS_UNEXPECTED_NULL, NNV_RT_FUNCTION, "event is NULL");
    *event = NULL;
    if (sync_fence_fd <= 0)
        return nnv_rt_error(ANEURALNETWORKS_BAD_DATA, NNV_RT_FUNCTION, "%d is no file descriptor of a fence",
                            sync_fence_fd);
    const int fence = fcntl(sync_fence_fd, F_DUPFD_CLOEXEC, 1);
    if (fence < 0)
        return nnv_rt_error(ANEURALNETWORKS_BAD_DATA, NNV_RT_FUNCTION, "%d is not open, or no more files can be",
                            sync_fence_fd);
    struct ANeuralNetworksEvent *e = event_new(0);
    if (!e) {
        close(fence);
        return ANEURALNETWORKS_OUT_OF_MEMORY;
    }
    e->imported = true;
    e->fence = fence;
    *event = e;
    return ANEURALNETWORKS_NO_ERROR;
}

int ANeuralNetworksEvent_getSyncFenceFd(const ANeuralNetworksEvent *event, int *sync_fence_fd) {
    if (sync_fence_fd) *sync_fence_fd = -1;
    if (!event || !sync_fence_fd) return nnv_rt_null_pointer(NNV_RT_FUNCTION);
    if (event->fence < 0) return nnv_rt_error(ANEURALNETWORKS_BAD_DATA, NNV_RT_FUNCTION, "the event has no fence");
    *sync_fence_fd = fcntl(event->fence, F_DUPFD_CLOEXEC, 1);
    if (*sync_fence_fd >= 0) return ANEURALNETWORKS_NO_ERROR;
    return nnv_rt_error(ANEURALNETWORKS_OUT_OF_MEMORY, NNV_RT_FUNCTION, "no more files can be opened");
}
