/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/client/execute.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "harness/client/restore.h"

static const struct {
    const char *name, *words, *end; /* end: the call whose status the execution's is */
} modes[NNV_MODES] = {
    [NNV_MODE_SYNC] = {"sync", "synchronous executions", "execute"},
    [NNV_MODE_ASYNC] = {"async", "asynchronous executions", "the callback of execute_async"},
    [NNV_MODE_FENCED] = {"fenced", "fenced executions", "a fenced execution"},
    [NNV_MODE_BURST] = {"burst", "bursts", "execute of a burst"},
    [NNV_MODE_REUSABLE] = {"reusable", "reusable executions", "execute of a reusable execution"},
};

const struct nnvts_execution_config nnv_execution_config = {.deadline_ns = NNVTS_NO_TIME,
                                                            .loop_timeout_ns = NNVTS_NO_TIME};
#define EIGHT_TIMES(x) x, x, x, x, x, x, x, x
const int64_t nnv_no_tokens[NNV_MOST_TOKENS] = {EIGHT_TIMES(EIGHT_TIMES(-1))};

const char *nnv_mode_name(enum nnv_mode mode) { return modes[mode].name; }
const char *nnv_mode_words(enum nnv_mode mode) { return modes[mode].words; }

bool nnv_mode_offered(const struct nnvts_prepared_model *p, enum nnv_mode mode) {
    switch (mode) {
    case NNV_MODE_SYNC:
        return p->execute != NULL;
    case NNV_MODE_ASYNC:
        return p->execute_async != NULL;
    case NNV_MODE_FENCED:
        return p->execute_fenced != NULL;
    case NNV_MODE_BURST:
        return p->create_burst != NULL;
    case NNV_MODE_REUSABLE:
        return p->create_execution != NULL;
    case NNV_MODES:
        break;
    }
    return false;
}

struct nnv_execution nnv_execution_make(enum nnv_mode mode, struct nnvts_prepared_model *prepared,
                                        struct nnv_request *request) {
    return (struct nnv_execution){.mode = mode,
                                  .prepared = prepared,
                                  .request = &request->abi,
                                  .result = &request->result,
                                  .room = request->model->main.nout,
                                  .config = nnv_execution_config,
                                  .duration_ns = NNVTS_NO_TIME,
                                  .tokens = nnv_no_tokens,
                                  .fence = {.sync_fence = -1}};
}

static void call(struct nnv_execution *x, const char *name) {
    x->call = name;
    x->breach = (struct nnv_breach){0};
}

/* --------------------------------------------------------------------- opening */

static bool create_burst(struct nnv_execution *x) {
    struct nnvts_burst *b = NULL;
    call(x, "create_burst");
    x->status = x->prepared->create_burst(x->prepared, &b);
    nnv_restore_thread();
    if (!nnv_verify_status(x->status, &x->breach) || x->status != NNVTS_STATUS_NONE) return false;
    if (!b || b->struct_size < sizeof *b || !b->execute || !b->release_memory || !b->release)
        return nnv_breach(&x->breach, NNV_BREACH_OBJECT, 0,
                          "answered NONE without a burst that has all required members");
    x->burst = b;
    return true;
}

static bool create_execution(struct nnv_execution *x) {
    struct nnvts_execution *e = NULL;
    struct nnvts_execution_config config = x->config;
    config.deadline_ns = NNVTS_NO_TIME; /* each execution has its own */
    call(x, "create_execution");
    x->status = x->prepared->create_execution(x->prepared, x->request, &config, &e);
    nnv_restore_thread();
    memset(&config, 0xee, sizeof config); /* it was borrowed for the call alone */
    if (!nnv_verify_status(x->status, &x->breach) || x->status != NNVTS_STATUS_NONE) return false;
    if (!e || e->struct_size < sizeof *e || !e->execute || !e->release)
        return nnv_breach(&x->breach, NNV_BREACH_OBJECT, 0,
                          "answered NONE without an execution that has all required members");
    x->reusable = e;
    return true;
}

bool nnv_execution_open(struct nnv_execution *x) {
    if (!x->open)
        x->open = x->mode == NNV_MODE_BURST      ? create_burst(x)
                  : x->mode == NNV_MODE_REUSABLE ? create_execution(x)
                                                 : true;
    return x->open;
}

/* ------------------------------------------------------------------ callbacks */

/*
 * Where a callback arrives. Mailboxes are never freed: one that comes when the execution is long over meets a mailbox
 * that belongs to none, or to a later execution if very many came in between.
 */
struct nnv_mailbox {
    struct nnv_execution *owner; /**< NULL: what arrives is counted, and nothing else */
    uint32_t calls;
};

enum { MAILBOXES = 256 };
static struct nnv_mailbox mailboxes[MAILBOXES];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t arrival = PTHREAD_COND_INITIALIZER;
/* Since the last question: executions that are to call back, and callbacks beyond the first of one. */
static uint32_t launches, surplus;

/** Copies what is only valid during the callback. A count or rank that is wrong is reported, but not followed. */
static void take_result(struct nnv_execution *x, const struct nnvts_execution_result *from) {
    struct nnvts_execution_result *to = x->result;
    to->shape_count = from->shape_count;
    to->timing = from->timing;
    for (uint32_t i = 0; from->shapes && i < from->shape_count && i < x->room; i++) {
        const struct nnvts_output_shape *s = &from->shapes[i];
        to->shapes[i].is_sufficient = s->is_sufficient;
        to->shapes[i].dimension_count = s->dimension_count;
        if (s->dimensions && s->dimension_count <= NNV_MAX_RANK)
            memcpy(to->shapes[i].dimensions, s->dimensions, s->dimension_count * sizeof *s->dimensions);
    }
}

static void arrive(void *context, enum nnvts_status status, const struct nnvts_execution_result *result) {
    struct nnv_mailbox *m = context;
    const uint64_t now = nnv_now_ns();
    pthread_mutex_lock(&lock);
    struct nnv_execution *x = m->owner;
    surplus += m->calls > 0;
    if (m->calls++ == 0 && x) {
        x->ns = now - x->launched_ns;
        x->status = status;
        if (result)
            take_result(x, result);
        else if (status == NNVTS_STATUS_NONE)
            nnv_breach(&x->breach, NNV_BREACH_CALLBACK, 0, "came without a result");
        if (x->ended) x->ended(x->context);
    }
    pthread_cond_broadcast(&arrival);
    pthread_mutex_unlock(&lock);
}

/** Gives the execution a mailbox; of those without an owner the one that was used longest ago. */
static bool take_mailbox(struct nnv_execution *x) {
    static uint32_t next;
    pthread_mutex_lock(&lock);
    for (uint32_t i = 0; i < MAILBOXES && mailboxes[next % MAILBOXES].owner; i++) next++;
    struct nnv_mailbox *m = &mailboxes[next++ % MAILBOXES];
    const bool is_free = !m->owner;
    if (is_free) *m = (struct nnv_mailbox){.owner = x};
    launches += is_free;
    pthread_mutex_unlock(&lock);
    x->mailbox = is_free ? m : NULL;
    return is_free;
}

static void leave_mailbox(struct nnv_execution *x) {
    if (!x->mailbox) return;
    pthread_mutex_lock(&lock);
    x->mailbox->owner = NULL;
    pthread_mutex_unlock(&lock);
}

static void await_callbacks(void) { nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL); }

uint32_t nnv_execution_callbacks(const struct nnv_execution *x) {
    await_callbacks();
    pthread_mutex_lock(&lock);
    const uint32_t calls = x->mailbox ? x->mailbox->calls : 0;
    pthread_mutex_unlock(&lock);
    return calls;
}

uint32_t nnv_surplus_callbacks(bool wait) {
    pthread_mutex_lock(&lock);
    const bool any = launches > 0;
    pthread_mutex_unlock(&lock);
    if (any && wait) await_callbacks();
    pthread_mutex_lock(&lock);
    const uint32_t calls = surplus;
    launches = surplus = 0;
    pthread_mutex_unlock(&lock);
    return calls;
}

static bool wait_callback(struct nnv_execution *x) {
    struct timespec until;
    int waited = 0;
    clock_gettime(CLOCK_REALTIME, &until);
    const uint64_t end_ns = (uint64_t)until.tv_nsec + x->patience_ns;
    until.tv_sec += (time_t)(end_ns / 1000000000);
    until.tv_nsec = (long)(end_ns % 1000000000);
    pthread_mutex_lock(&lock);
    x->call = modes[NNV_MODE_ASYNC].end;
    while (x->mailbox->calls == 0 && waited != ETIMEDOUT)
        waited = x->patience_ns ? pthread_cond_timedwait(&arrival, &lock, &until) : pthread_cond_wait(&arrival, &lock);
    if (x->mailbox->calls == 0) nnv_breach(&x->breach, NNV_BREACH_CALLBACK, 0, "never came");
    pthread_mutex_unlock(&lock);
    leave_mailbox(x);
    return x->breach.kind == NNV_BREACH_NONE && nnv_verify_status(x->status, &x->breach);
}

/* --------------------------------------------------------------------- fences */

/** What poll() says of the sync_fence within timeout_ms, below 0 without limit; POLLIN where there is none. */
static short poll_fence(const struct nnv_execution *x, int timeout_ms) {
    struct pollfd p = {.fd = x->fence.sync_fence, .events = POLLIN};
    if (p.fd < 0) return POLLIN;
    while (poll(&p, 1, timeout_ms) < 0 && errno == EINTR) continue;
    return p.revents;
}

bool nnv_execution_fence_signalled(const struct nnv_execution *x) { return poll_fence(x, 0) != 0; }

static bool wait_fence(struct nnv_execution *x) {
    struct nnvts_fenced_result r = {.status = (enum nnvts_status) - 1};
    x->events = poll_fence(x, -1);
    x->ns = nnv_now_ns() - x->launched_ns;
    if (x->ended) x->ended(x->context);
    call(x, "get_result of a fenced execution");
    x->status = x->fence.get_result(x->fence.context, &r);
    nnv_restore_thread();
    if (x->status != NNVTS_STATUS_NONE) return nnv_verify_status(x->status, &x->breach) && false;
    call(x, modes[NNV_MODE_FENCED].end);
    x->status = r.status;
    x->result->timing = r.launched;
    x->fenced = r.fenced;
    return nnv_verify_status(x->status, &x->breach);
}

static bool launch_fenced(struct nnv_execution *x) {
    if (x->fence.release) x->fence.release(x->fence.context); /* of the launch before */
    x->fence = (struct nnvts_fenced_execution){.sync_fence = -1};
    x->status = x->prepared->execute_fenced(x->prepared, x->request, x->wait_for, x->wait_for_count, &x->config,
                                            x->duration_ns, &x->fence);
    nnv_restore_thread();
    if (!nnv_verify_status(x->status, &x->breach) || x->status != NNVTS_STATUS_NONE) {
        x->fence = (struct nnvts_fenced_execution){.sync_fence = -1};
        return false;
    }
    return (x->fence.get_result && x->fence.release && x->fence.sync_fence >= -1) ||
           nnv_breach(&x->breach, NNV_BREACH_OBJECT, 0,
                      "answered NONE without get_result, release and a sync_fence (or -1)");
}

/* ----------------------------------------------------------------- executions */

static bool launch_async(struct nnv_execution *x) {
    if (!take_mailbox(x)) return nnv_breach(&x->breach, NNV_BREACH_OURS, 0, "can't be called: no mailbox is free");
    const enum nnvts_status status =
        x->prepared->execute_async(x->prepared, x->request, &x->config, arrive, x->mailbox);
    nnv_restore_thread();
    if (status == NNVTS_STATUS_NONE) return true;
    leave_mailbox(x);
    x->status = status;
    return nnv_verify_status(status, &x->breach) && false;
}

bool nnv_execution_launch(struct nnv_execution *x) {
    static const char *const calls[NNV_MODES] = {
        [NNV_MODE_ASYNC] = "execute_async", [NNV_MODE_FENCED] = "execute_fenced"};
    x->launched_ns = nnv_now_ns();
    if (!nnv_execution_open(x)) return false;
    call(x, calls[x->mode] ? calls[x->mode] : modes[x->mode].end);
    x->launched = true;
    switch (x->mode) {
    case NNV_MODE_SYNC:
        x->status = x->prepared->execute(x->prepared, x->request, &x->config, x->result);
        break;
    case NNV_MODE_BURST:
        x->status = x->burst->execute(x->burst, x->request, x->tokens, &x->config, x->result);
        break;
    case NNV_MODE_REUSABLE:
        x->status = x->reusable->execute(x->reusable, x->config.deadline_ns, x->result);
        break;
    case NNV_MODE_ASYNC:
        return x->launched = launch_async(x);
    case NNV_MODE_FENCED:
        return x->launched = launch_fenced(x);
    case NNV_MODES:
        break;
    }
    x->ns = nnv_now_ns() - x->launched_ns;
    nnv_restore_thread();
    return true;
}

bool nnv_execution_wait(struct nnv_execution *x) {
    x->launched = false;
    if (x->mode == NNV_MODE_ASYNC) return wait_callback(x);
    if (x->mode == NNV_MODE_FENCED) return wait_fence(x);
    return nnv_verify_status(x->status, &x->breach);
}

bool nnv_execute(struct nnv_execution *x) {
    const bool ok = nnv_execution_launch(x) && nnv_execution_wait(x);
    if (x->fence.release) x->fence.release(x->fence.context);
    nnv_restore_thread();
    x->fence = (struct nnvts_fenced_execution){.sync_fence = -1};
    return ok;
}

void nnv_execution_close(struct nnv_execution *x) {
    if (x->fence.release) x->fence.release(x->fence.context);
    if (x->burst) x->burst->release(x->burst);
    if (x->reusable) x->reusable->release(x->reusable);
    nnv_restore_thread();
    nnv_execution_abandon(x);
}

void nnv_execution_abandon(struct nnv_execution *x) {
    leave_mailbox(x);
    x->fence = (struct nnvts_fenced_execution){.sync_fence = -1};
    x->burst = NULL;
    x->reusable = NULL;
    x->open = x->launched = false;
}
