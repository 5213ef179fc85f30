/* SPDX-License-Identifier: Apache-2.0 */
/** @file fence.c Fenced execution: dependencies, fences from descriptors, their order. */
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "harness/suites/api/api.h"

enum { SOON_MS = 3000 };

static const float in0[] = {1, 2, 3, 4}, in1[] = {10, 20, 30, 40};

/** A fence that signals when it is written to, kept; -1: ERROR. */
static int make_fence(struct nnv_api *a, bool signalled) {
    int fd = eventfd(signalled, EFD_CLOEXEC | EFD_NONBLOCK);
    if (fd < 0) nnv_context_error(&a->s, "no eventfd can be made");
    nnv_api_keep_fd(a, fd);
    return fd;
}

static void signal_fence(int fd) {
    const uint64_t one = 1;
    if (write(fd, &one, sizeof one) < 0) return; /* it is signalled then */
}

static ANeuralNetworksEvent *event_of(struct nnv_api *a, int fd) {
    ANeuralNetworksEvent *event = NULL;
    if (fd < 0 || !OK(Event_createFromSyncFenceFd, fd, &event)) return NULL;
    nnv_expect(&a->s, event != NULL, "Event_createFromSyncFenceFd answered NO_ERROR without an event");
    nnv_api_keep_event(a, event);
    return event;
}

/** Starts an execution behind n events; the new event is kept. */
static ANeuralNetworksEvent *start(struct nnv_api *a, ANeuralNetworksExecution *e, ANeuralNetworksEvent *const *wait,
                                   uint32_t n, uint64_t duration) {
    ANeuralNetworksEvent *event = NULL;
    const ANeuralNetworksEvent *list[16];
    for (uint32_t i = 0; i < n; i++) list[i] = wait[i];
    if (!e || !OK(Execution_startComputeWithDependencies, e, n ? list : NULL, n, duration, &event)) return NULL;
    nnv_expect(&a->s, event != NULL, "startComputeWithDependencies answered NO_ERROR without an event");
    nnv_api_keep_event(a, event);
    return event;
}

/*
 * Values that come with a fence lie in a memory, a slot each: buffers may be read as soon as an execution is launched.
 */
struct slots {
    ANeuralNetworksMemory *memory;
    float (*at)[4];
};
enum { SLOTS = 16 };

/** Slots 0 and 1 hold the inputs, the others what is no number. */
static bool make_slots(struct nnv_api *a, struct slots *s) {
    void *at = NULL;
    if (!nnv_api_advance(a, NNV_API_COMPILED) || !(s->memory = nnv_api_memory(a, SLOTS * sizeof in0, &at)))
        return false;
    s->at = at;
    memset(at, 0xff, SLOTS * sizeof in0);
    memcpy(s->at[0], in0, sizeof in0);
    memcpy(s->at[1], in1, sizeof in1);
    return true;
}

/** An execution of the small model: slot z = slot x + slot y. */
static ANeuralNetworksExecution *set(struct nnv_api *a, const struct slots *s, size_t x, size_t y, size_t z) {
    ANeuralNetworksExecution *e = nnv_api_execution(a, a->compilation);
    const size_t n = sizeof in0;
    return e && OK(Execution_setInputFromMemory, e, 0, NULL, s->memory, x * n, n) &&
                   OK(Execution_setInputFromMemory, e, 1, NULL, s->memory, y * n, n) &&
                   OK(Execution_setOutputFromMemory, e, 0, NULL, s->memory, z * n, n)
               ? e
               : NULL;
}

/** True once the fence of an execution, whose event that is, has signalled. */
static bool has_signalled(struct nnv_api *a, int fd, ANeuralNetworksEvent *event) {
    struct pollfd p = {.fd = fd, .events = POLLIN};
    bool ok = nnv_expect(&a->s, fd >= 0 && poll(&p, 1, SOON_MS) == 1 && p.revents & POLLIN,
                         "the fence of an execution did not signal within %d ms", SOON_MS);
#ifdef __SANITIZE_THREAD__
    /* That sanitizer does not see that poll orders the reader behind the writer. */
    ok = ok && OK(Event_wait, event);
#else
    (void)event;
#endif
    return ok;
}

static void no_dependencies(struct nnv_api *a) {
    if (!nnv_api_advance(a, NNV_API_READY)) return;
    ANeuralNetworksEvent *event = start(a, a->execution, NULL, 0, 0);
    if (event && OK(Event_wait, event) && nnv_api_check_sum(a)) OK(Event_wait, event);
}

static void with_duration(struct nnv_api *a) {
    if (!nnv_api_advance(a, NNV_API_READY)) return;
    ANeuralNetworksEvent *event = start(a, a->execution, NULL, 0, 3600000000000);
    if (event && OK(Event_wait, event)) nnv_api_check_sum(a);
}

static void in_no_time(struct nnv_api *a) {
    ANeuralNetworksEvent *event = NULL;
    if (!nnv_api_advance(a, NNV_API_READY)) return;
    if (!a->nn->Execution_startComputeWithDependencies) {
        nnv_api_lacks(a, "Execution_startComputeWithDependencies");
        return;
    }
    int code = a->nn->Execution_startComputeWithDependencies(a->execution, NULL, 0, 1, &event);
    if (code == ANEURALNETWORKS_NO_ERROR) {
        nnv_api_keep_event(a, event);
        code = a->nn->Event_wait(event);
    }
    nnv_api_check(a, "computing within a nanosecond", code, NNV_API_DONE_OR_MISSED);
    if (code == ANEURALNETWORKS_NO_ERROR) nnv_api_check_sum(a);
}

static void signalled_before(struct nnv_api *a) {
    if (!nnv_api_advance(a, NNV_API_READY)) return;
    ANeuralNetworksEvent *wait = event_of(a, make_fence(a, true));
    ANeuralNetworksEvent *event = wait ? start(a, a->execution, &wait, 1, 0) : NULL;
    if (event && OK(Event_wait, event)) nnv_api_check_sum(a);
}

struct signaller {
    int fd[4], count;
    float *at; /**< filled with value before the last signal */
    const float *value;
    atomic_bool started; /**< what depends on the fences was started */
};

enum { PAUSE_US = 5000, STARTS_WITHIN = 100, RUNS_WITHIN = 12 };

/**
 * Signals once all is started and whoever ignores the fences had time to run, on a busy machine, too. A library may
 * wait for its dependencies in the call that starts: then they come nevertheless.
 */
static void *signal_later(void *p) {
    struct signaller *s = p;
    for (int i = 0; i < STARTS_WITHIN && !s->started; i++) usleep(PAUSE_US);
    for (int i = 0; i < RUNS_WITHIN; i++) usleep(PAUSE_US);
    for (int i = 0; i < s->count; i++) {
        usleep(PAUSE_US);
        if (i + 1 == s->count) memcpy(s->at, s->value, sizeof in0);
        signal_fence(s->fd[i]);
    }
    return NULL;
}

/** The inputs come with the last of `param` fences: whoever does not wait computes with what is no number. */
static void signalled_later(struct nnv_api *a) {
    static const float sum[] = {11, 22, 33, 44};
    const int count = (int)a->c->param;
    struct signaller s = {.count = count, .value = in0};
    struct slots slots;
    ANeuralNetworksEvent *wait[4];
    pthread_t thread;
    if (!make_slots(a, &slots)) return;
    memset(slots.at[0], 0xff, sizeof in0);
    s.at = slots.at[0];
    for (int i = 0; i < count; i++) {
        s.fd[i] = make_fence(a, false);
        if (!(wait[i] = event_of(a, s.fd[i]))) return;
    }
    ANeuralNetworksExecution *e = set(a, &slots, 0, 1, 2);
    if (!e || pthread_create(&thread, NULL, signal_later, &s) != 0) return;
    ANeuralNetworksEvent *event = start(a, e, wait, (uint32_t)count, 0);
    s.started = true;
    if (event && OK(Event_wait, event)) nnv_api_check_floats(a, "the sum", slots.at[2], sum, 4);
    pthread_join(thread, NULL);
}

/** The dependency is the application's: its descriptor may be closed, its event used again. */
static void fence_closed(struct nnv_api *a) {
    static const float sum[] = {11, 22, 33, 44};
    struct slots slots;
    ANeuralNetworksEvent *wait = NULL;
    if (!make_slots(a, &slots)) return;
    int fd = eventfd(1, EFD_CLOEXEC | EFD_NONBLOCK);
    if (fd < 0) return;
    bool ok = OK(Event_createFromSyncFenceFd, fd, &wait);
    close(fd);
    if (!ok) return;
    nnv_api_keep_event(a, wait);
    for (size_t i = 2; i < 5; i++) {
        ANeuralNetworksEvent *event = start(a, set(a, &slots, 0, 1, i), &wait, 1, 0);
        if (!event || !OK(Event_wait, event) || !nnv_api_check_floats(a, "the sum", slots.at[i], sum, 4)) return;
    }
}

static void event_waits_for_fence(struct nnv_api *a) {
    float to[4];
    struct signaller s = {.count = 1, .at = to, .value = in0};
    pthread_t thread;
    s.fd[0] = make_fence(a, false);
    ANeuralNetworksEvent *event = event_of(a, s.fd[0]);
    if (!event || pthread_create(&thread, NULL, signal_later, &s) != 0) return;
    s.started = true;
    OK(Event_wait, event);
    struct pollfd poll_now = {.fd = s.fd[0], .events = POLLIN};
    nnv_expect(&a->s, poll(&poll_now, 1, 0) == 1, "Event_wait returned before the fence had signalled");
    pthread_join(thread, NULL);
    OK(Event_wait, event);
}

/** Each execution adds slot 0 to what the one before gave, and waits for that: slot 1 + i = slot 0 + slot i. */
static void chained(struct nnv_api *a) {
    enum { LENGTH = 10 };
    static const float want[] = {11, 22, 33, 44};
    struct slots slots;
    ANeuralNetworksEvent *event = NULL;
    if (!make_slots(a, &slots)) return;
    memcpy(slots.at[1], in0, sizeof in0);
    for (size_t i = 1; i <= LENGTH; i++) {
        ANeuralNetworksEvent *next = start(a, set(a, &slots, 0, i, i + 1), &event, event ? 1 : 0, 0);
        if (!next) return;
        event = next;
    }
    if (OK(Event_wait, event)) nnv_api_check_floats(a, "the end of the chain", slots.at[LENGTH + 1], want, 4);
}

/** The first of the chain waits for a fence: nothing may run before it. */
static void chained_behind_fence(struct nnv_api *a) {
    static const float want[] = {31, 62, 93, 124};
    struct slots slots;
    pthread_t thread;
    if (!make_slots(a, &slots)) return;
    struct signaller s = {.count = 1, .at = slots.at[1], .value = in0};
    memcpy(slots.at[0], in1, sizeof in1);
    memset(slots.at[1], 0xff, sizeof in0);
    s.fd[0] = make_fence(a, false);
    ANeuralNetworksEvent *event = event_of(a, s.fd[0]);
    if (!event || pthread_create(&thread, NULL, signal_later, &s) != 0) return;
    for (size_t i = 1; i < 4 && event; i++) event = start(a, set(a, &slots, 0, i, i + 1), &event, 1, 0);
    s.started = true;
    if (event && OK(Event_wait, event)) nnv_api_check_floats(a, "the end of the chain", slots.at[4], want, 4);
    pthread_join(thread, NULL);
}

/** Two executions behind one event, and one behind both. */
static void diamond(struct nnv_api *a) {
    static const float want[] = {22, 44, 66, 88};
    struct slots slots;
    if (!make_slots(a, &slots)) return;
    ANeuralNetworksEvent *first = event_of(a, make_fence(a, true));
    ANeuralNetworksEvent *both[2] = {first ? start(a, set(a, &slots, 0, 1, 2), &first, 1, 0) : NULL,
                                     first ? start(a, set(a, &slots, 1, 0, 3), &first, 1, 0) : NULL};
    ANeuralNetworksEvent *last = both[0] && both[1] ? start(a, set(a, &slots, 2, 3, 4), both, 2, 0) : NULL;
    if (last && OK(Event_wait, last)) nnv_api_check_floats(a, "the sum of two sums", slots.at[4], want, 4);
}

/** An event of startCompute has no fence, and may be a dependency nevertheless. */
static void behind_started(struct nnv_api *a) {
    static const float want[] = {21, 42, 63, 84};
    struct slots slots;
    ANeuralNetworksEvent *event = NULL;
    if (!make_slots(a, &slots)) return;
    ANeuralNetworksExecution *e = set(a, &slots, 0, 1, 2);
    if (!e || !OK(Execution_startCompute, e, &event)) return;
    nnv_api_keep_event(a, event);
    ANeuralNetworksEvent *last = start(a, set(a, &slots, 2, 1, 3), &event, 1, 0);
    if (last && OK(Event_wait, last)) nnv_api_check_floats(a, "the second sum", slots.at[3], want, 4);
}

/* ----------------------------------------------------------------------- descriptors */

/** The fence of an execution signals, soon, and stays so; each call gives a new descriptor. */
static void fence_signals(struct nnv_api *a) {
    int fd[2] = {-2, -2};
    if (!nnv_api_advance(a, NNV_API_READY)) return;
    ANeuralNetworksEvent *event = start(a, a->execution, NULL, 0, 0);
    if (!event) return;
    int code = a->nn->Event_getSyncFenceFd(event, &fd[0]);
    if (!nnv_api_check(a, "Event_getSyncFenceFd", code, NNV_API_NO_ERROR | NNV_API_BAD_DATA)) return;
    if (code == ANEURALNETWORKS_BAD_DATA) {
        /* The device has finished, or gives no fences. */
        nnv_expect(&a->s, fd[0] == -1, "Event_getSyncFenceFd has no fence, and wrote %d instead of -1", fd[0]);
        OK(Event_wait, event);
        return;
    }
    nnv_api_keep_fd(a, fd[0]);
    if (has_signalled(a, fd[0], event)) nnv_api_check_sum(a);
    if (OK(Event_getSyncFenceFd, event, &fd[1])) {
        nnv_api_keep_fd(a, fd[1]);
        nnv_expect(&a->s, fd[1] != fd[0], "Event_getSyncFenceFd gave one descriptor twice");
    }
    OK(Event_wait, event);
}

/** The fence must not come before the output. */
static void fence_is_not_early(struct nnv_api *a) {
    uint32_t length;
    int fd = -1;
    ANeuralNetworksCompilation *work = nnv_api_work(a, &length, NULL);
    ANeuralNetworksExecution *e = nnv_api_work_execution(a, work, nnv_api_squares[2]);
    ANeuralNetworksEvent *event = start(a, e, NULL, 0, 0);
    if (!event) return;
    if (a->nn->Event_getSyncFenceFd(event, &fd) == ANEURALNETWORKS_NO_ERROR) {
        nnv_api_keep_fd(a, fd);
        if (!has_signalled(a, fd, event)) return;
    } else if (!OK(Event_wait, event)) {
        return;
    }
    nnv_api_work_done(a, "the fence signalled", nnv_api_squares[2], length);
}

static void same_descriptor(struct nnv_api *a) {
    int fd = make_fence(a, false), got = -1;
    ANeuralNetworksEvent *event = event_of(a, fd);
    if (!event || !OK(Event_getSyncFenceFd, event, &got)) return;
    nnv_api_keep_fd(a, got);
    nnv_expect(&a->s, got >= 0 && got != fd, "Event_getSyncFenceFd must give a duplicate");
    struct pollfd p = {.fd = got, .events = POLLIN};
    nnv_expect(&a->s, poll(&p, 1, 0) == 0, "the fence has not signalled, but its duplicate has");
    signal_fence(fd);
    nnv_expect(&a->s, poll(&p, 1, SOON_MS) == 1, "the fence has signalled, but its duplicate has not");
    OK(Event_wait, event);
}

static void started_has_no_fence(struct nnv_api *a) {
    ANeuralNetworksEvent *event = NULL;
    int fd = 77;
    if (!nnv_api_advance(a, NNV_API_READY) || !OK(Execution_startCompute, a->execution, &event)) return;
    nnv_api_keep_event(a, event);
    IS(BAD_DATA, Event_getSyncFenceFd, event, &fd);
    nnv_expect(&a->s, fd == -1, "Event_getSyncFenceFd has no fence, and wrote %d instead of -1", fd);
    if (OK(Event_wait, event)) nnv_api_check_sum(a);
}

static void open_output(struct nnv_api *a) {
    static const float in[] = {1, 2};
    struct nnv_api_net net;
    float out[2];
    if (!nnv_api_net_add(a, LIST(0), &net)) return;
    ANeuralNetworksExecution *e = nnv_api_execution(a, nnv_api_compiled(&net));
    if (e && OK(Execution_setInput, e, 0, OF(FLOAT32, 2), in, sizeof in) &&
        OK(Execution_setInput, e, 1, OF(FLOAT32, 2), in, sizeof in) &&
        OK(Execution_setOutput, e, 0, NULL, out, sizeof out))
        IS(BAD_DATA, Execution_startComputeWithDependencies, e, NULL, 0, 0, &a->to.event);
}

static void given_output(struct nnv_api *a) {
    static const float in[] = {1, 2}, want[] = {2, 4};
    struct nnv_api_net net;
    float out[2] = {0};
    if (!nnv_api_net_add(a, LIST(0), &net)) return;
    ANeuralNetworksExecution *e = nnv_api_execution(a, nnv_api_compiled(&net));
    if (!e || !OK(Execution_setInput, e, 0, OF(FLOAT32, 2), in, sizeof in) ||
        !OK(Execution_setInput, e, 1, OF(FLOAT32, 2), in, sizeof in) ||
        !OK(Execution_setOutput, e, 0, OF(FLOAT32, 2), out, sizeof out))
        return;
    ANeuralNetworksEvent *event = start(a, e, NULL, 0, 0);
    if (event && OK(Event_wait, event)) nnv_api_check_floats(a, "the sum", out, want, 2);
}

static const struct nnv_api_case cases[] = {
    {.name = "fenced/no_dependencies", .run = no_dependencies, .level = 4},
    {.name = "fenced/with_duration", .run = with_duration, .level = 4},
    {.name = "fenced/in_no_time", .run = in_no_time, .level = 4},
    {.name = "fenced/signalled_before", .run = signalled_before, .level = 4},
    {.name = "fenced/signalled_later", .run = signalled_later, .param = 1, .level = 4},
    {.name = "fenced/three_signalled_later", .run = signalled_later, .param = 3, .level = 4},
    {.name = "fenced/descriptor_closed", .run = fence_closed, .level = 4},
    {.name = "fenced/event_waits_for_fence", .run = event_waits_for_fence, .level = 4},
    {.name = "fenced/chained", .run = chained, .level = 4},
    {.name = "fenced/chained_behind_fence", .run = chained_behind_fence, .level = 4},
    {.name = "fenced/diamond", .run = diamond, .level = 4},
    {.name = "fenced/behind_started", .run = behind_started, .level = 4},
    {.name = "fenced/fence_signals", .run = fence_signals, .level = 4},
    {.name = "fenced/fence_is_not_early", .run = fence_is_not_early, .level = 4},
    {.name = "fenced/duplicate", .run = same_descriptor, .level = 4},
    {.name = "fenced/started_has_no_fence", .run = started_has_no_fence, .level = 4},
    {.name = "fenced/open_output", .run = open_output, .level = 4},
    {.name = "fenced/given_output", .run = given_output, .level = 4},
};
NNV_API_GROUP(fence);
