/* SPDX-License-Identifier: Apache-2.0 */
/** @file validate_ways.c A request that must be refused, in every way to execute that the driver has. */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <time.h>

#include "harness/suites/validate/validate.h"

/** One refusal that is expected. */
struct refusal {
    struct nnv_session *s;
    struct nnvts_prepared_model *prepared;
    const struct nnv_request_mutation *m;
    struct nnv_values *v;
};

static uint32_t statuses_of(const struct nnv_request_mutation *m) {
    return m->row->statuses ? m->row->statuses : NNV_ST_INVALID;
}

/** The answer of the execution itself; what it says of the outputs must fit it. */
static bool expect_answer(const struct refusal *r, const char *call, enum nnvts_status st,
                          const struct nnvts_execution_result *result) {
    const uint32_t nout = r->v->subject->spec->model.main.nout;
    char text[256];
    snprintf(text, sizeof text, "%s of a request that breaks a rule (%s)", call, r->m->row->rule);
    bool ok = nnv_expect_status_in(r->s, text, st, statuses_of(r->m));
    if (st != NNVTS_STATUS_OUTPUT_INSUFFICIENT_SIZE)
        return (st == NNVTS_STATUS_NONE ||
                nnv_expect(r->s, result->shape_count == 0, "%s reports %u shapes with a status that allows none", call,
                           result->shape_count)) &&
               ok;
    bool small = false;
    for (uint32_t i = 0; i < nout && result->shape_count == nout; i++)
        small = small || !result->shapes[i].is_sufficient;
    return nnv_expect(r->s, small, "%s answered OUTPUT_INSUFFICIENT_SIZE, but reports no output as too small", call) &&
           ok;
}

/** What launches or creates an execution: true if it was refused, or if it is too early to tell (*on). */
static bool expect_launch(const struct refusal *r, const char *call, enum nnvts_status st, uint32_t wanted, bool *on) {
    char text[256];
    snprintf(text, sizeof text, "%s of a request that breaks a rule (%s)", call, r->m->row->rule);
    *on = st == NNVTS_STATUS_NONE;
    const bool late =
        r->m->row->late || (r->m->row->omits && nnv_device_limits(r->s->device) & NNVTS_LIMIT_LATE_OMISSIONS);
    return nnv_expect_status_in(r->s, text, st, wanted | (late ? NNV_ST_NONE : 0));
}

static bool sync_way(const struct refusal *r) {
    struct nnvts_prepared_model *p = r->prepared;
    return expect_answer(r, "execute", p->execute(p, &r->m->request, &nnv_session_execution_config, &r->v->result),
                         &r->v->result);
}

/* -------------------------------------------------------------- asynchronous */

/** What the callback leaves behind: static, since a late one may come when the case is long over. */
static struct {
    pthread_mutex_t lock;
    pthread_cond_t called;
    const void *expected; /**< the context of the execution that is waited for */
    enum nnvts_status status;
    bool done;
} mailbox = {.lock = PTHREAD_MUTEX_INITIALIZER, .called = PTHREAD_COND_INITIALIZER};

static void callback(void *context, enum nnvts_status status, const struct nnvts_execution_result *result) {
    (void)result;
    pthread_mutex_lock(&mailbox.lock);
    if (context == mailbox.expected) {
        mailbox.status = status;
        mailbox.done = true;
        pthread_cond_signal(&mailbox.called);
    }
    pthread_mutex_unlock(&mailbox.lock);
}

static void expect_callback(const void *context) {
    pthread_mutex_lock(&mailbox.lock);
    mailbox.expected = context;
    mailbox.done = false;
    pthread_mutex_unlock(&mailbox.lock);
}

/** Waits for the callback; false if it does not come. */
static bool wait_for_callback(enum nnvts_status *status) {
    enum { SECONDS = 2 };
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += SECONDS;
    pthread_mutex_lock(&mailbox.lock);
    int waited = 0;
    while (!mailbox.done && waited != ETIMEDOUT)
        waited = pthread_cond_timedwait(&mailbox.called, &mailbox.lock, &until);
    bool done = mailbox.done;
    *status = mailbox.status;
    pthread_mutex_unlock(&mailbox.lock);
    return done;
}

static bool async_way(const struct refusal *r) {
    struct nnvts_prepared_model *p = r->prepared;
    enum nnvts_status st = NNVTS_STATUS_NONE;
    bool on;
    if (!p->execute_async) return true;
    expect_callback(r->m);
    bool ok = expect_launch(
        r, "execute_async",
        p->execute_async(p, &r->m->request, &nnv_session_execution_config, callback, (void *)(uintptr_t)r->m),
        statuses_of(r->m), &on);
    if (!on) return ok;
    bool called = wait_for_callback(&st);
    if (!called) r->s->result->worker_damaged = true; /* it may still be at work on memory that goes away */
    return nnv_expect(r->s, called, "execute_async answered NONE, but never called back") &&
           nnv_expect_status_in(r->s, "the callback of execute_async", st, statuses_of(r->m)) && ok;
}

/* -------------------------------------------------------- fenced, burst, reusable */

static bool fenced_way(const struct refusal *r) {
    struct nnvts_prepared_model *p = r->prepared;
    struct nnvts_fenced_execution execution = {.sync_fence = -1};
    const uint32_t wanted = r->m->row->fenced ? r->m->row->fenced : statuses_of(r->m);
    bool on;
    if (!p->execute_fenced) return true;
    enum nnvts_status st = p->execute_fenced(p, &r->m->request, r->m->wait_for, r->m->wait_for_count,
                                             &nnv_session_execution_config, NNVTS_NO_TIME, &execution);
    bool ok = expect_launch(r, "execute_fenced", st, wanted, &on);
    if (!on || !nnv_expect(r->s, execution.get_result && execution.release,
                           "execute_fenced answered NONE without get_result and release"))
        return ok;
    struct nnvts_fenced_result result = {.status = NNVTS_STATUS_NONE};
    execution.get_result(execution.context, &result);
    ok = nnv_expect(r->s, result.status != NNVTS_STATUS_NONE,
                    "execute_fenced succeeded with a request that breaks a "
                    "rule (%s)",
                    r->m->row->rule) &&
         ok;
    execution.release(execution.context);
    return ok;
}

static bool burst_way(const struct refusal *r) {
    struct nnvts_prepared_model *p = r->prepared;
    struct nnvts_burst *burst = NULL;
    if (!p->create_burst) return true;
    if (!nnv_expect_status(r->s, "create_burst", p->create_burst(p, &burst), NNVTS_STATUS_NONE) ||
        !nnv_expect(r->s, burst && burst->execute && burst->release, "create_burst gave no whole burst"))
        return false;
    bool ok = expect_answer(r, "a burst's execute",
                            burst->execute(burst, &r->m->request, r->m->no_tokens ? NULL : r->m->tokens,
                                           &nnv_session_execution_config, &r->v->result),
                            &r->v->result);
    burst->release(burst);
    return ok;
}

static bool reusable_way(const struct refusal *r) {
    struct nnvts_prepared_model *p = r->prepared;
    struct nnvts_execution *execution = NULL;
    bool on;
    if (!p->create_execution) return true;
    bool ok = expect_launch(r, "create_execution",
                            p->create_execution(p, &r->m->request, &nnv_session_execution_config, &execution),
                            statuses_of(r->m), &on);
    if (!on || !nnv_expect(r->s, execution && execution->execute && execution->release,
                           "create_execution gave no whole execution"))
        return ok;
    ok = expect_answer(r, "a reusable execution's execute", execution->execute(execution, NNVTS_NO_TIME, &r->v->result),
                       &r->v->result) &&
         ok;
    execution->release(execution);
    return ok;
}

bool nnv_request_refused(struct nnv_session *s, struct nnvts_prepared_model *prepared,
                         const struct nnv_request_mutation *m, struct nnv_values *v) {
    static const struct {
        enum nnv_way way;
        const char *name;
        bool (*refuse)(const struct refusal *r);
    } ways[] = {
        {NNV_WAY_SYNC, "execute", sync_way},
        {NNV_WAY_ASYNC, "execute_async", async_way},
        {NNV_WAY_FENCED, "execute_fenced", fenced_way},
        {NNV_WAY_BURST, "a burst's execute", burst_way},
        {NNV_WAY_REUSABLE, "a reusable execution", reusable_way},
    };
    const struct refusal r = {s, prepared, m, v};
    bool ok = true;
    for (size_t i = 0; i < sizeof ways / sizeof *ways && !s->result->worker_damaged; i++) {
        if (m->row->ways && !(m->row->ways & (uint32_t)ways[i].way)) continue;
        nnv_values_reset(v);
        nnv_session_enter(s, NNV_PHASE_EXECUTE);
        ok = ways[i].refuse(&r) && ok;
        nnv_session_enter(s, NNV_PHASE_CHECK);
        ok = nnv_session_check_memory(s, ways[i].name, v) && ok;
    }
    return ok;
}
