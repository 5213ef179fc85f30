/* SPDX-License-Identifier: Apache-2.0 */
/** @file threads.c Several threads at once, and what is left behind when all is done. */
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/words.h"
#include "harness/suites/api/api.h"
#include "harness/runner/worker/resources.h"

enum { THREADS = 10, ROUNDS = 20 };

/** What a thread knows; it calls the library without expectations, which are one thread's alone. */
struct work {
    struct nnv_api *a;
    ANeuralNetworksModel *model;
    ANeuralNetworksCompilation *compilation;
    ANeuralNetworksDevice *device;
    ANeuralNetworksEvent *event;
    ANeuralNetworksBurst *burst;
    pthread_barrier_t *barrier;
    float seed;
    int code;         /**< of the call that failed */
    const char *call; /**< its name, or NULL */
    bool wrong;       /**< a sum was wrong */
};

#define TRY(function, ...)                                                                                             \
    do {                                                                                                               \
        w->code = w->a->nn->function(__VA_ARGS__);                                                                     \
        if (w->code != ANEURALNETWORKS_NO_ERROR) {                                                                     \
            w->call = #function;                                                                                       \
            goto out;                                                                                                  \
        }                                                                                                              \
    } while (0)

static int compute(const struct nnvts_ndk *nn, ANeuralNetworksExecution *e) {
    ANeuralNetworksEvent *event = NULL;
    if (nn->Execution_compute) return nn->Execution_compute(e);
    int code = nn->Execution_startCompute(e, &event);
    if (code == ANEURALNETWORKS_NO_ERROR) code = nn->Event_wait(event);
    nn->Event_free(event);
    return code;
}

/** One sum of the thread's own values. */
static bool sum_once(struct work *w, ANeuralNetworksCompilation *c) {
    ANeuralNetworksExecution *e = NULL;
    float x[4], y[4], z[4] = {0};
    for (int i = 0; i < 4; i++) {
        x[i] = w->seed + (float)i;
        y[i] = 1000;
    }
    TRY(Execution_create, c, &e);
    TRY(Execution_setInput, e, 0, NULL, x, sizeof x);
    TRY(Execution_setInput, e, 1, NULL, y, sizeof y);
    TRY(Execution_setOutput, e, 0, NULL, z, sizeof z);
    w->code = compute(w->a->nn, e);
    w->call = w->code ? "computing" : NULL;
    for (int i = 0; i < 4 && !w->code; i++) w->wrong = w->wrong || z[i] != x[i] + 1000;
out:
    w->a->nn->Execution_free(e);
    return !w->call && !w->wrong;
}

static void *share_compilation(void *p) {
    struct work *w = p;
    pthread_barrier_wait(w->barrier);
    for (int i = 0; i < ROUNDS && sum_once(w, w->compilation); i++) w->seed += 100;
    return NULL;
}

static int create_compilation(struct work *w, ANeuralNetworksModel *model, ANeuralNetworksCompilation **c) {
    const ANeuralNetworksDevice *one = w->device;
    return one ? w->a->nn->Compilation_createForDevices(model, &one, 1, c) : w->a->nn->Compilation_create(model, c);
}

static void compile_and_sum(struct work *w, ANeuralNetworksModel *model) {
    ANeuralNetworksCompilation *c = NULL;
    w->code = create_compilation(w, model, &c);
    w->call = w->code ? "creating a compilation" : NULL;
    if (w->code) goto out;
    TRY(Compilation_finish, c);
    for (int i = 0; i < 3 && sum_once(w, c); i++) w->seed += 100;
out:
    w->a->nn->Compilation_free(c);
}

static void *share_model(void *p) {
    struct work *w = p;
    pthread_barrier_wait(w->barrier);
    for (int i = 0; i < 3 && !w->call && !w->wrong; i++) compile_and_sum(w, w->model);
    return NULL;
}

static void *own_everything(void *p) {
    static const uint32_t dims[] = {2, 2}, in[] = {0, 1, 2}, out_[] = {3};
    static const int32_t none = 0;
    const ANeuralNetworksOperandType tensor = {ANEURALNETWORKS_TENSOR_FLOAT32, 2, dims, 0, 0};
    const ANeuralNetworksOperandType scalar = {ANEURALNETWORKS_INT32, 0, NULL, 0, 0};
    struct work *w = p;
    ANeuralNetworksModel *model = NULL;
    pthread_barrier_wait(w->barrier);
    TRY(Model_create, &model);
    TRY(Model_addOperand, model, &tensor);
    TRY(Model_addOperand, model, &tensor);
    TRY(Model_addOperand, model, &scalar);
    TRY(Model_addOperand, model, &tensor);
    TRY(Model_setOperandValue, model, 2, &none, sizeof none);
    TRY(Model_addOperation, model, ANEURALNETWORKS_ADD, 3, in, 1, out_);
    TRY(Model_identifyInputsAndOutputs, model, 2, in, 1, out_);
    TRY(Model_finish, model);
    compile_and_sum(w, model);
out:
    w->a->nn->Model_free(model);
    return NULL;
}

static void *wait_for_event(void *p) {
    struct work *w = p;
    pthread_barrier_wait(w->barrier);
    TRY(Event_wait, w->event);
out:
    return NULL;
}

static void *ask_devices(void *p) {
    struct work *w = p;
    ANeuralNetworksDevice *device;
    const char *name;
    uint32_t count = 0;
    pthread_barrier_wait(w->barrier);
    for (int round = 0; round < ROUNDS; round++) {
        TRY(_getDeviceCount, &count);
        for (uint32_t i = 0; i < count; i++) {
            TRY(_getDevice, i, &device);
            TRY(Device_getName, device, &name);
        }
    }
out:
    return NULL;
}

/** Executions in a burst of the thread's own. */
static void *own_burst(void *p) {
    struct work *w = p;
    ANeuralNetworksBurst *burst = NULL;
    ANeuralNetworksExecution *e = NULL;
    float x[4] = {1, 2, 3, 4}, z[4];
    pthread_barrier_wait(w->barrier);
    TRY(Burst_create, w->compilation, &burst);
    for (int i = 0; i < ROUNDS; i++) {
        x[0] = w->seed + (float)i;
        TRY(Execution_create, w->compilation, &e);
        TRY(Execution_setInput, e, 0, NULL, x, sizeof x);
        TRY(Execution_setInput, e, 1, NULL, x, sizeof x);
        TRY(Execution_setOutput, e, 0, NULL, z, sizeof z);
        TRY(Execution_burstCompute, e, burst);
        w->a->nn->Execution_free(e);
        e = NULL;
        w->wrong = w->wrong || z[0] != 2 * x[0] || z[3] != 8;
    }
out:
    w->a->nn->Execution_free(e);
    if (w->a->nn->Burst_free) w->a->nn->Burst_free(burst);
    return NULL;
}

/** Runs THREADS of them at once and tells how they did. */
static void at_once(struct nnv_api *a, void *(*body)(void *), const struct work *common) {
    static struct work work[THREADS];
    pthread_t thread[THREADS];
    pthread_barrier_t barrier;
    int n = 0;
    char buf[32];
    pthread_barrier_init(&barrier, NULL, THREADS);
    for (; n < THREADS; n++) {
        work[n] = *common;
        work[n].a = a;
        work[n].barrier = &barrier;
        work[n].seed = (float)(10 * n);
        if (pthread_create(&thread[n], NULL, body, &work[n]) != 0) break;
    }
    if (n < THREADS) {
        nnv_context_error(&a->s, "no threads can be made");
        _exit(1); /* those that were made wait for ever */
    }
    for (int i = 0; i < n; i++) pthread_join(thread[i], NULL);
    for (int i = 0; i < n; i++) {
        if (work[i].call)
            nnv_expect(&a->s, false, "thread %d of %d: %s answered %s", i, n, work[i].call,
                       nnv_result_name(work[i].code, buf));
        nnv_expect(&a->s, !work[i].wrong, "thread %d of %d computed a wrong sum", i, n);
    }
    pthread_barrier_destroy(&barrier);
}

static bool device_of(struct nnv_api *a, struct work *w) {
    if (!nnv_api_advance(a, NNV_API_FINISHED)) return false;
    w->model = a->model;
    return !a->nn->Compilation_createForDevices || nnv_api_find_device(&a->net, &w->device);
}

static void models(struct nnv_api *a) {
    struct work w = {0};
    if (device_of(a, &w)) at_once(a, own_everything, &w);
}

static void compilations(struct nnv_api *a) {
    struct work w = {0};
    if (device_of(a, &w)) at_once(a, share_model, &w);
}

static void executions(struct nnv_api *a) {
    struct work w = {0};
    if (!nnv_api_advance(a, NNV_API_COMPILED)) return;
    w.compilation = a->compilation;
    at_once(a, share_compilation, &w);
}

static void waiters(struct nnv_api *a) {
    struct work w = {0};
    if (!nnv_api_advance(a, NNV_API_READY) || !(w.event = nnv_api_start(a, a->execution))) return;
    at_once(a, wait_for_event, &w);
    nnv_api_check_sum(a);
}

static void devices(struct nnv_api *a) {
    struct work w = {0};
    if (a->nn->_getDeviceCount)
        at_once(a, ask_devices, &w);
    else
        nnv_api_lacks(a, "_getDeviceCount");
}

static void bursts(struct nnv_api *a) {
    struct work w = {0};
    if (!nnv_api_advance(a, NNV_API_COMPILED)) return;
    w.compilation = a->compilation;
    if (a->nn->Burst_create && a->nn->Execution_burstCompute)
        at_once(a, own_burst, &w);
    else
        nnv_api_lacks(a, "Burst_create");
}

/* ------------------------------------------------------------------ one burst at once */

struct turn {
    const struct nnvts_ndk *nn;
    ANeuralNetworksExecution *execution;
    ANeuralNetworksBurst *burst;
    sem_t *begins; /**< posted when it begins; NULL: nobody waits for that */
    uint64_t began, ended;
    int code;
};

static void *take_turn(void *p) {
    struct turn *t = p;
    t->began = nnv_now_ns();
    if (t->begins) sem_post(t->begins);
    t->code = t->nn->Execution_burstCompute(t->execution, t->burst);
    t->ended = nnv_now_ns();
    return NULL;
}

/** Two at once, the second in the first quarter of the first; how many were refused, -1: the case has failed. */
static int two_turns(struct nnv_api *a, struct turn turn[2], uint64_t took, uint32_t length) {
    pthread_t thread;
    sem_t begins;
    int refused = 0;
    sem_init(&begins, 0, 0);
    turn[0].begins = &begins;
    if (pthread_create(&thread, NULL, take_turn, &turn[0]) != 0) {
        sem_destroy(&begins);
        return -1;
    }
    while (sem_wait(&begins) != 0) continue;
    usleep((useconds_t)(took / 4000));
    take_turn(&turn[1]);
    pthread_join(thread, NULL);
    sem_destroy(&begins);
    for (int i = 0; i < 2; i++) {
        if (!nnv_api_check(a, "Execution_burstCompute, two at once,", turn[i].code,
                           NNV_API_NO_ERROR | NNV_API_BAD_STATE))
            return -1;
        refused += turn[i].code == ANEURALNETWORKS_BAD_STATE;
        if (turn[i].code == ANEURALNETWORKS_NO_ERROR)
            nnv_api_work_done(a, "the burst has computed", nnv_api_squares[1 + i], length);
    }
    return refused;
}

/**
 * The second of two that compute through one burst at once is refused. Taken for at once is what began in the midst of
 * the other, by a margin; where the machine did not let them, nothing is known.
 */
static void one_burst(struct nnv_api *a) {
    enum { TRIES = 25, ENOUGH = 3 }; /* a busy machine may not let them */
    uint64_t took;
    uint32_t length;
    int overlaps = 0, refused = 0;
    ANeuralNetworksCompilation *c = nnv_api_work(a, &length, &took);
    ANeuralNetworksBurst *burst = nnv_api_burst(a, c);
    if (!burst) return;
    for (int try = 0; try < TRIES && !refused && overlaps < ENOUGH; try++) {
        struct turn turn[2];
        for (int i = 0; i < 2; i++) {
            ANeuralNetworksExecution *e = nnv_api_work_execution(a, c, nnv_api_squares[1 + i]);
            if (!e) return;
            turn[i] = (struct turn){.nn = a->nn, .execution = e, .burst = burst};
        }
        refused = two_turns(a, turn, took, length);
        if (refused < 0) return;
        overlaps += turn[1].began > turn[0].began && turn[1].began + took / 4 < turn[0].ended;
        nnv_expect(&a->s, refused < 2, "two computations through one burst were both refused");
    }
    if (overlaps == 0 && refused == 0)
        nnv_context_decline(&a->s, NNVTS_WHY_NOT_APPLICABLE, "no two computations were at once");
    else
        nnv_expect(&a->s, refused > 0, "a burst took two computations at once, %d times; the second must be refused",
                   overlaps);
}

/* --------------------------------------------------------------------- left behind */

enum leftover { EXECUTIONS, EVENTS, FENCES, MEMORIES, COMPILATIONS, MODELS };

static bool once(struct nnv_api *a, enum leftover what) {
    switch (what) {
    case EXECUTIONS:
        a->stage = NNV_API_COMPILED;
        break;
    case COMPILATIONS:
        a->stage = NNV_API_FINISHED;
        break;
    case MODELS:
        a->stage = NNV_API_NOTHING;
        break;
    case EVENTS:
    case FENCES: {
        ANeuralNetworksEvent *event = NULL;
        a->stage = NNV_API_COMPILED;
        if (!nnv_api_advance(a, NNV_API_READY)) return false;
        if (what == EVENTS)
            event = nnv_api_start(a, a->execution);
        else if (OK(Execution_startComputeWithDependencies, a->execution, NULL, 0, 0, &event))
            nnv_api_keep_event(a, event);
        bool ok = event && OK(Event_wait, event) && nnv_api_check_sum(a);
        if (ok) nnv_api_free_now(a, event);
        if (ok) nnv_api_free_now(a, a->execution);
        return ok;
    }
    case MEMORIES: {
        ANeuralNetworksMemory *memory = nnv_api_memory(a, 4096, NULL);
        if (memory) nnv_api_free_now(a, memory);
        return memory != NULL;
    }
    }
    if (!nnv_api_advance(a, NNV_API_COMPUTED)) return false;
    nnv_api_free_now(a, a->execution);
    if (what >= COMPILATIONS) nnv_api_free_now(a, a->compilation);
    if (what == MODELS) nnv_api_free_now(a, a->model);
    return true;
}

/** As many descriptors and threads after many as after a few. */
static void leftovers(struct nnv_api *a) {
    const enum leftover what = (enum leftover)a->c->param;
    const uint32_t own = what == MEMORIES; /* descriptors that the case itself keeps, each time */
    struct nnv_resources before = {0}, after = {0};
    if (!nnv_api_advance(a, NNV_API_COMPUTED)) return;
    for (int i = 0; i < 5; i++)
        if (!once(a, what)) return;
    if (!nnv_resources_count(&before)) {
        nnv_context_decline(&a->s, NNVTS_WHY_SYSTEM, "the system does not count descriptors");
        return;
    }
    for (int i = 0; i < 60; i++)
        if (!once(a, what)) return;
    before.descriptors += 60 * own;
    if (!nnv_resources_settle(&before, 1000000000, &after)) return;
    nnv_expect(&a->s, after.descriptors < before.descriptors + 30, "60 more leave %d descriptors behind",
               (int)(after.descriptors - before.descriptors));
    nnv_expect(&a->s, after.threads < before.threads + 30, "60 more leave %d threads behind",
               (int)(after.threads - before.threads));
}

static const struct nnv_api_case cases[] = {
    {.name = "threads/models", .run = models},
    {.name = "threads/compilations", .run = compilations},
    {.name = "threads/executions", .run = executions},
    {.name = "threads/bursts", .run = bursts},
    {.name = "threads/one_burst", .run = one_burst, .timed = true},
    {.name = "threads/waiters", .run = waiters},
    {.name = "threads/devices", .run = devices},
    {.name = "left/executions", .run = leftovers, .param = EXECUTIONS},
    {.name = "left/events", .run = leftovers, .param = EVENTS},
    {.name = "left/fences", .run = leftovers, .param = FENCES},
    {.name = "left/memories", .run = leftovers, .param = MEMORIES},
    {.name = "left/compilations", .run = leftovers, .param = COMPILATIONS},
    {.name = "left/models", .run = leftovers, .param = MODELS},
};
NNV_API_GROUP(threads);
