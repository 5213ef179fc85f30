/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file fenced.c Fenced executions: what they wait for, when their fence signals, what they refuse.
 *
 * A driver may also wait within the launch. So a thread of its own signals fences: as soon as the launch has returned,
 * or after a while if it does not. What is signalled late also brings the right inputs: who does not wait computes with
 * wrong ones.
 */
#include <pthread.h>
#include <semaphore.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "harness/suites/exec/exec.h"

enum { FENCES = 3, PATIENCE_MS = 25, MOMENT_US = 3000 };

/* ------------------------------------------------------------------- signalling */

/** Signals fences in the order given, behind a launch. */
struct signaller {
    struct nnv_exec_fence fences[FENCES];
    uint32_t count;
    const uint32_t *order;      /**< indices into fences; NULL: as they stand */
    struct nnv_request *values; /**< gets its right inputs before the last fence; NULL: none */
    const struct nnv_fixture *right;
    sem_t go;
    pthread_t thread;
    uint64_t signalled_ns; /**< before the last fence was signalled */
    uint64_t ended_ns;     /**< when the execution had ended */
    unsigned patience_ms;  /**< 0: the usual */
};

static void *signal_late(void *arg) {
    struct signaller *g = arg;
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += (g->patience_ms ? g->patience_ms : PATIENCE_MS) * 1000000L;
    until.tv_sec += until.tv_nsec / 1000000000L;
    until.tv_nsec %= 1000000000L;
    sem_timedwait(&g->go, &until);
    for (uint32_t i = 0; i < g->count; i++) {
        if (i + 1 == g->count) {
            if (g->values) nnv_context_fill(g->values, g->right);
            g->signalled_ns = nnv_now_ns();
        }
        nnv_exec_fence_signal(&g->fences[g->order ? g->order[i] : i]);
        if (i + 1 < g->count) nnv_exec_sleep_us(1000);
    }
    return NULL;
}

static void close_fences(struct signaller *g) {
    for (uint32_t i = 0; i < g->count; i++) nnv_exec_fence_free(&g->fences[i]);
}

static bool make_fences(struct nnv_exec *x, struct signaller *g, uint32_t count, enum nnv_exec_fence_kind kind) {
    *g = (struct signaller){.count = 0};
    for (; g->count < count; g->count++)
        if (!nnv_exec_fence_make(x, kind, &g->fences[g->count])) {
            close_fences(g);
            return false;
        }
    return true;
}

static bool start_signaller(struct nnv_exec *x, struct signaller *g) {
    sem_init(&g->go, 0, 0);
    if (pthread_create(&g->thread, NULL, signal_late, g) == 0) return true;
    sem_destroy(&g->go);
    close_fences(g);
    return nnv_context_error(x->s, "no thread");
}

/** Waits until the thread has signalled, when its patience is over. */
static void await_signaller(struct signaller *g) {
    pthread_join(g->thread, NULL);
    sem_destroy(&g->go);
}

/** Lets the thread signal, and waits until it has. */
static void finish_signaller(struct signaller *g) {
    sem_post(&g->go);
    await_signaller(g);
}

static void wait_numbers(const struct signaller *g, int *wait_for) {
    for (uint32_t i = 0; i < g->count; i++) wait_for[i] = g->fences[i].wait;
}

/** A fenced execution behind these fences. */
static bool make_run(struct nnv_exec *x, struct nnv_exec_run *run, struct nnv_request *v, const int *wait_for,
                     uint32_t count) {
    if (!nnv_exec_make(x, run, x->prepared, NNV_MODE_FENCED, v, NULL)) return false;
    run->x.wait_for = wait_for;
    run->x.wait_for_count = count;
    return true;
}

/** Waits for the end of an execution that must have failed, and releases it. */
static bool must_fail(struct nnv_exec *x, struct nnv_exec_run *run) {
    struct nnv_execution *e = &run->x;
    const bool ended = nnv_execution_wait(e);
    bool ok = nnv_context_check_memory(x->s, "a fenced execution", run->v) &&
              nnv_expect(x->s, !ended || e->status != NNVTS_STATUS_NONE,
                         "a fence to wait for reported an error; the execution must fail, but get_result answered "
                         "NONE and the status NONE");
    nnv_exec_end(x, run);
    return ok;
}

/* ---------------------------------------------------------------- dependencies */

static void no_fences(struct nnv_exec *x) {
    if (!nnv_context_needs(x->s, x->prepared, NNV_MODE_FENCED)) return;
    for (int i = 0; i < 3; i++)
        if (!nnv_exec_run(x, x->prepared, NNV_MODE_FENCED, &x->values, NULL)) return;
}

/** Fences that had signalled before the launch, count of them. */
static void signalled_before(struct nnv_exec *x) {
    struct signaller g;
    int wait_for[FENCES];
    if (!nnv_context_needs(x->s, x->prepared, NNV_MODE_FENCED)) return;
    for (uint32_t count = 1; count <= FENCES; count++) {
        if (!make_fences(x, &g, count, NNV_EXEC_EVENT)) return;
        for (uint32_t i = 0; i < count; i++) nnv_exec_fence_signal(&g.fences[i]);
        wait_numbers(&g, wait_for);
        struct nnv_exec_run run;
        bool ok = make_run(x, &run, &x->values, wait_for, count) && nnv_exec_once(x, &run);
        close_fences(&g);
        if (!ok) return;
    }
}

/** Launches with wrong inputs that become right before the last fence signals. */
static bool wait_late(struct nnv_exec *x, struct signaller *g, const struct nnv_fixture *wrong, bool measured,
                      struct nnv_execution *answer) {
    int wait_for[FENCES];
    struct nnv_exec_run run;
    wait_numbers(g, wait_for);
    nnv_context_fill(&x->values, wrong);
    g->values = &x->values;
    g->right = &x->fixture;
    if (!make_run(x, &run, &x->values, wait_for, g->count) || !start_signaller(x, g)) return false;
    run.x.config.measure_timing = measured;
    bool ok = nnv_exec_launch(x, &run);
    const bool launched = run.x.launched;
    const uint64_t returned = nnv_now_ns();
    if (ok) nnv_exec_sleep_us(MOMENT_US);
    const bool early = ok && nnv_execution_fence_signalled(&run.x);
    const uint64_t polled = nnv_now_ns();
    finish_signaller(g);
    if (ok && early)
        ok = nnv_expect(x->s, polled > g->signalled_ns,
                        "the sync_fence signalled while a fence to wait for had not; it must signal when the "
                        "execution has ended");
    if (launched) ok = nnv_exec_finish(x, &run) && ok;
    g->ended_ns = nnv_now_ns();
    close_fences(g);
    *answer = run.x;
    const uint64_t told = x->values.result.timing.in_driver_ns;
    if (ok && measured && told != NNVTS_NO_TIME && returned < g->signalled_ns)
        ok = nnv_expect(x->s, told >= g->signalled_ns - returned,
                        "a fenced execution reports %llu ns from its launch, but its fence kept it waiting for %llu",
                        (unsigned long long)told, (unsigned long long)(g->signalled_ns - returned));
    return ok;
}

static void signalled_after(struct nnv_exec *x) {
    static const uint32_t orders[][FENCES] = {{0, 1, 2}, {2, 1, 0}, {1, 2, 0}};
    struct nnv_execution answer;
    struct nnv_fixture wrong;
    struct signaller g;
    if (!nnv_context_needs(x->s, x->prepared, NNV_MODE_FENCED) || !nnv_exec_variant(x, 1, &wrong)) return;
    if (!make_fences(x, &g, 1, NNV_EXEC_EVENT) || !wait_late(x, &g, &wrong, false, &answer)) return;
    for (size_t i = 0; i < sizeof orders / sizeof *orders; i++) {
        if (!make_fences(x, &g, FENCES, NNV_EXEC_EVENT)) return;
        g.order = orders[i];
        if (!wait_late(x, &g, &wrong, false, &answer)) return;
    }
}

/** Times from the launch hold the waiting, those from the fences do not. */
static void times_of_waiting(struct nnv_exec *x) {
    struct nnv_execution answer;
    struct nnv_fixture wrong;
    struct signaller g;
    if (!nnv_context_needs(x->s, x->prepared, NNV_MODE_FENCED) || !nnv_exec_variant(x, 1, &wrong) ||
        !make_fences(x, &g, 1, NNV_EXEC_EVENT) || !wait_late(x, &g, &wrong, true, &answer))
        return;
    const uint64_t launched = x->values.result.timing.in_driver_ns, fenced = answer.fenced.in_driver_ns;
    if (launched != NNVTS_NO_TIME && fenced != NNVTS_NO_TIME)
        nnv_expect(x->s, fenced <= launched,
                   "a fenced execution reports %llu ns from its fences, but %llu ns from its "
                   "launch, which was earlier",
                   (unsigned long long)fenced, (unsigned long long)launched);
    if (fenced != NNVTS_NO_TIME)
        nnv_expect(x->s, fenced <= g.ended_ns - g.signalled_ns,
                   "a fenced execution reports %llu ns from its fences, but had ended %llu after the last of them",
                   (unsigned long long)fenced, (unsigned long long)(g.ended_ns - g.signalled_ns));
}

/** Several executions behind one fence, which nobody may consume. */
static void shared_fence(struct nnv_exec *x) {
    enum { COUNT = 4 };
    struct nnv_fixture fixtures[COUNT];
    struct nnv_request values[COUNT];
    struct nnv_exec_run runs[COUNT];
    struct signaller g;
    int wait_for[FENCES];
    uint32_t launched = 0;
    if (!nnv_context_needs(x->s, x->prepared, NNV_MODE_FENCED) ||
        !nnv_exec_variants(x, NNV_POOL_READ_ONLY, COUNT, fixtures, values) || !make_fences(x, &g, 1, NNV_EXEC_EVENT))
        return;
    wait_numbers(&g, wait_for);
    if (!start_signaller(x, &g)) return;
    bool ok = true;
    while (launched < COUNT && ok && make_run(x, &runs[launched], &values[launched], wait_for, 1)) {
        ok = nnv_exec_launch(x, &runs[launched]);
        launched += runs[launched].x.launched;
    }
    finish_signaller(&g);
    while (launched-- > 0) nnv_exec_finish(x, &runs[launched]);
    close_fences(&g);
}

/** An execution that waits for another's sync_fence, which waits itself. */
static void chained(struct nnv_exec *x) {
    struct nnv_fixture wrong;
    struct nnv_request second;
    struct signaller g;
    int wait_for[FENCES];
    if (!nnv_context_needs(x->s, x->prepared, NNV_MODE_FENCED) || !nnv_exec_variant(x, 1, &wrong) ||
        !nnv_context_request(x->s, &x->fixture, NNV_POOL_READ_ONLY, &second) || !make_fences(x, &g, 1, NNV_EXEC_EVENT))
        return;
    wait_numbers(&g, wait_for);
    nnv_context_fill(&second, &wrong);
    g.values = &second;
    g.right = &x->fixture;
    if (!start_signaller(x, &g)) return;
    struct nnv_exec_run a, b = {.v = NULL};
    const bool first = make_run(x, &a, &x->values, wait_for, 1) && nnv_exec_launch(x, &a);
    const int between = a.x.fence.sync_fence;
    bool ok = first && make_run(x, &b, &second, &between, between >= 0) && nnv_exec_launch(x, &b);
    if (ok) nnv_exec_sleep_us(MOMENT_US);
    finish_signaller(&g);
    if (first) ok = nnv_exec_finish(x, &a) && ok; /* b keeps its own hold on a's fence */
    if (ok)
        nnv_exec_finish(x, &b);
    else
        nnv_exec_drop(x, &b);
    close_fences(&g);
}

/* --------------------------------------------------------------------- failures */

/** One of two fences fails, before or after the launch. */
static bool fail_one(struct nnv_exec *x, uint32_t which, bool late) {
    struct signaller g;
    int wait_for[FENCES];
    struct nnv_exec_run run;
    if (!make_fences(x, &g, 2, NNV_EXEC_EVENT)) return false;
    nnv_exec_fence_free(&g.fences[which]);
    bool ok = nnv_exec_fence_make(x, NNV_EXEC_BROKEN, &g.fences[which]);
    wait_numbers(&g, wait_for);
    if (!ok || (late && !start_signaller(x, &g))) return false;
    for (uint32_t i = 0; i < g.count && !late; i++) nnv_exec_fence_signal(&g.fences[i]);
    ok = make_run(x, &run, &x->values, wait_for, g.count) && nnv_exec_try_launch(x, &run);
    if (late) finish_signaller(&g);
    if (!ok)
        nnv_exec_drop(x, &run);
    else if (run.x.launched)
        ok = must_fail(x, &run);
    else
        ok = nnv_context_check_memory(x->s, "execute_fenced", &x->values) &&
             nnv_expect(x->s, run.x.status != NNVTS_STATUS_DEAD_OBJECT,
                        "execute_fenced answered DEAD_OBJECT: the driver died of a failing fence");
    close_fences(&g);
    return ok;
}

static void failing_fence(struct nnv_exec *x) {
    if (!nnv_context_needs(x->s, x->prepared, NNV_MODE_FENCED)) return;
    for (uint32_t i = 0; i < 4; i++)
        if (!fail_one(x, i % 2, i / 2 > 0)) return;
    no_fences(x); /* the driver serves on */
}

static void no_descriptor(struct nnv_exec *x) {
    const int wait_for[] = {-1};
    struct nnv_exec_run run;
    if (!nnv_context_needs(x->s, x->prepared, NNV_MODE_FENCED) || !make_run(x, &run, &x->values, wait_for, 1)) return;
    const bool kept = nnv_exec_try_launch(x, &run);
    const enum nnvts_status st = run.x.status;
    nnv_exec_drop(x, &run);
    if (kept && nnv_exec_refused(x, "execute_fenced that is to wait for descriptor -1", st, &x->values)) no_fences(x);
}

/** Outputs whose extents nobody states, or that are zero-sized. */
static void open_outputs(struct nnv_exec *x) {
    static const uint32_t none[] = {0, 4};
    struct nnv_request *v = &x->values;
    struct nnv_execution e = nnv_execution_make(NNV_MODE_FENCED, x->prepared, v);
    if (!nnv_context_needs(x->s, x->prepared, NNV_MODE_FENCED)) return;
    for (int empty = 0; empty < 2; empty++) {
        nnv_request_reset(v);
        for (uint32_t i = 0; i < v->abi.input_count && empty; i++) {
            v->inputs[i].dimension_count = 2;
            v->inputs[i].dimensions = none;
            v->inputs[i].location.length = 0;
        }
        v->outputs[0].dimension_count = empty ? 2 : 0;
        v->outputs[0].dimensions = empty ? none : NULL;
        nnv_context_enter(x->s, NNV_PHASE_EXECUTE);
        const bool launched = nnv_execution_launch(&e);
        const enum nnvts_status st = e.status;
        if (launched) nnv_execution_wait(&e);
        const bool refused = nnv_exec_refused(x,
                                              empty ? "execute_fenced with a zero-sized output"
                                                    : "execute_fenced with an output whose extents are not stated",
                                              st, v);
        nnv_context_close(x->s, &e);
        if (!refused) return;
    }
}

/* ------------------------------------------------------------------------- ends */

/** get_result waits by itself. */
static void result_waits(struct nnv_exec *x) {
    struct nnv_fixture wrong;
    struct nnvts_fenced_result r = {.status = (enum nnvts_status) - 1};
    struct signaller g;
    int wait_for[FENCES];
    if (!nnv_context_needs(x->s, x->prepared, NNV_MODE_FENCED) || !nnv_exec_variant(x, 1, &wrong) ||
        !make_fences(x, &g, 1, NNV_EXEC_EVENT))
        return;
    wait_numbers(&g, wait_for);
    nnv_context_fill(&x->values, &wrong);
    g.values = &x->values;
    g.right = &x->fixture;
    if (!start_signaller(x, &g)) return;
    struct nnv_exec_run run;
    const bool ok = make_run(x, &run, &x->values, wait_for, 1) && nnv_exec_launch(x, &run);
    enum nnvts_status st = ok ? run.x.fence.get_result(run.x.fence.context, &r) : NNVTS_STATUS_NONE;
    const uint64_t answered = nnv_now_ns();
    finish_signaller(&g);
    if (ok &&
        nnv_expect(x->s, answered >= g.signalled_ns,
                   "get_result answered before the fence to wait for had signalled; it must wait") &&
        nnv_expect_status(x->s, "get_result", st, NNVTS_STATUS_NONE) &&
        nnv_expect_status(x->s, "a fenced execution", r.status, NNVTS_STATUS_NONE) &&
        nnv_expect(x->s, nnv_execution_fence_signalled(&run.x),
                   "get_result answered, but the sync_fence has not signalled"))
        nnv_exec_finish(x, &run); /* may ask again */
    else
        nnv_exec_drop(x, &run);
    close_fences(&g);
}

/** The object is released while the execution still waits; whoever holds the fence sees its end. */
static void released_early(struct nnv_exec *x) {
    struct signaller g;
    int wait_for[FENCES];
    if (!nnv_context_needs(x->s, x->prepared, NNV_MODE_FENCED) || !make_fences(x, &g, 1, NNV_EXEC_EVENT)) return;
    wait_numbers(&g, wait_for);
    if (!start_signaller(x, &g)) return;
    struct nnv_exec_run run;
    const bool ok = make_run(x, &run, &x->values, wait_for, 1) && nnv_exec_launch(x, &run);
    if (ok) {
        const int copy = run.x.fence.sync_fence >= 0 ? dup(run.x.fence.sync_fence) : -1;
        nnv_exec_end(x, &run);
        finish_signaller(&g);
        const struct nnv_execution left = {.fence = {.sync_fence = copy}};
        for (int i = 0; i < 1000 && !nnv_execution_fence_signalled(&left); i++) nnv_exec_sleep_us(MOMENT_US);
        nnv_expect(x->s, nnv_execution_fence_signalled(&left),
                   "a copy of the sync_fence has not signalled seconds after the object was released");
        if (copy >= 0) close(copy);
        if (nnv_context_check_memory(x->s, "a fenced execution that was released early", &x->values)) no_fences(x);
    } else {
        finish_signaller(&g);
    }
    close_fences(&g);
}

/** Durations count from the fences, and the largest do not overflow. */
static void durations(struct nnv_exec *x) {
    static const uint64_t seconds = UINT64_C(1000000000);
    const uint64_t longs[] = {60 * seconds, UINT64_MAX / 2, NNVTS_NO_TIME - 1};
    if (!nnv_context_needs(x->s, x->prepared, NNV_MODE_FENCED)) return;
    for (size_t i = 0; i < sizeof longs / sizeof *longs; i++) {
        struct nnv_exec_run run;
        if (!make_run(x, &run, &x->values, NULL, 0)) return;
        run.x.duration_ns = longs[i];
        if (!nnv_exec_once(x, &run)) return;
    }
}

/** An execution whose fence makes it wait for twice its duration. False: it missed that, and nothing is judged yet. */
static bool outwaits_duration(struct nnv_exec *x, unsigned ms, bool last) {
    struct signaller g;
    struct nnv_exec_run run;
    int wait_for[FENCES];
    if (!make_fences(x, &g, 1, NNV_EXEC_EVENT)) return true;
    wait_numbers(&g, wait_for);
    g.patience_ms = 2 * ms;
    if (!make_run(x, &run, &x->values, wait_for, 1) || !start_signaller(x, &g)) return true;
    run.x.duration_ns = ms * UINT64_C(1000000);
    const bool ok = nnv_exec_launch(x, &run);
    await_signaller(&g);
    bool missed = false;
    if (ok && !last) {
        nnv_execution_wait(&run.x);
        missed = run.x.status == NNVTS_STATUS_MISSED_DEADLINE_TRANSIENT ||
                 run.x.status == NNVTS_STATUS_MISSED_DEADLINE_PERSISTENT;
    }
    if (ok && !missed)
        nnv_exec_finish(x, &run); /* may ask again */
    else
        nnv_exec_drop(x, &run);
    close_fences(&g);
    return !missed;
}

/** The duration does not hold the waiting. What a loaded machine makes late has more time, up to 400 ms. */
static void duration_outwaited(struct nnv_exec *x) {
    enum { LEAST_MS = 25, TRIES = 3 };
    if (!nnv_context_needs(x->s, x->prepared, NNV_MODE_FENCED)) return;
    for (int i = 0; i < TRIES; i++)
        if (outwaits_duration(x, LEAST_MS << 2 * i, i + 1 == TRIES)) return;
}

static const struct nnv_exec_case cases[] = {
    {.name = "no_fences", .run = no_fences},
    {.name = "signalled_before", .run = signalled_before},
    {.name = "signalled_after", .run = signalled_after},
    {.name = "times_of_waiting", .run = times_of_waiting},
    {.name = "shared_fence", .run = shared_fence},
    {.name = "chained", .run = chained},
    {.name = "failing_fence", .run = failing_fence},
    {.name = "no_descriptor", .run = no_descriptor},
    {.name = "open_outputs", .run = open_outputs, .only = "open_"},
    {.name = "result_waits", .run = result_waits, .only = "add_"},
    {.name = "released_early", .run = released_early, .only = "add_"},
    {.name = "durations", .run = durations},
    {.name = "duration_outwaited", .run = duration_outwaited},
};
const struct nnv_exec_group nnv_exec_fenced = NNV_EXEC_GROUP("fenced", cases);
