/* SPDX-License-Identifier: Apache-2.0 */
/** @file relations_ways.c Other ways to the results of one and the same model: the bytes must be the same. */
#include <errno.h>
#include <pthread.h>
#include <string.h>

#include "harness/suites/relations/relations.h"
#include "nnvts/result.h"

enum { TIMES = 3, THREADS = 3 };

/* All outputs of v are those of the first execution. */
static bool expect_same(struct nnv_session *s, const struct nnv_way *way, const struct nnv_side *first,
                        const struct nnv_values *v) {
    bool same = true;
    for (uint32_t i = 0; i < first->subject.spec->model.main.nout; i++)
        same = nnv_same_bytes(s, way->says, &first->values, i, v, i) && same;
    return same;
}

/* Another request of the first one's model. */
static bool make_values(struct nnv_session *s, struct nnv_side *first, struct nnv_values *v) {
    return nnv_session_values(s, &first->subject, NNV_SESSION_READ_ONLY, v);
}

static void repeated(struct nnv_session *s, struct nnv_side *first, const struct nnv_way *way) {
    struct nnv_side again = *first;
    if (!make_values(s, first, &again.values)) return;
    for (int i = 0; i < TIMES; i++)
        if (!nnv_side_execute(s, &again) || !expect_same(s, way, first, &again.values)) return;
}

static void recompiled(struct nnv_session *s, struct nnv_side *first, const struct nnv_way *way) {
    struct nnv_side second = {0};
    if (nnv_side_prepare(s, first->subject.spec, &second) && nnv_side_execute(s, &second))
        expect_same(s, way, first, &second.values);
    nnv_session_release(s, second.prepared);
}

static void constants_forgotten(struct nnv_session *s, struct nnv_side *first, const struct nnv_way *way) {
    struct nnv_side second = {0};
    if (nnv_side_prepare(s, first->subject.spec, &second)) {
        /* The session renders models into memory of its own: it may be written. */
        const struct nnvts_model *m = &second.subject.model;
        if (m->operand_values_bytes) memset((void *)(uintptr_t)m->operand_values, 0x55, m->operand_values_bytes);
        const size_t pooled = m->pool_count ? m->pools[0].size : 0;
        if (pooled) memset(second.subject.constants, 0x55, pooled);
        if (nnv_side_execute(s, &second)) expect_same(s, way, first, &second.values);
    }
    nnv_session_release(s, second.prepared);
}

static void burst(struct nnv_session *s, struct nnv_side *first, const struct nnv_way *way) {
    struct nnvts_prepared_model *p = first->prepared;
    struct nnvts_burst *b = NULL;
    struct nnv_values v;
    const int64_t tokens[] = {11, 12};
    if (!p->create_burst) {
        nnv_session_unsupported(s, "the driver has no bursts");
        return;
    }
    if (!make_values(s, first, &v)) return;
    nnv_session_enter(s, NNV_PHASE_EXECUTE);
    if (!nnv_expect_status(s, "create_burst", p->create_burst(p, &b), NNVTS_STATUS_NONE) ||
        !nnv_expect(s, b && b->execute && b->release, "create_burst gave a burst without all required members"))
        return;
    for (int i = 0; i < TIMES; i++) {
        nnv_values_reset(&v);
        nnv_session_enter(s, NNV_PHASE_EXECUTE);
        enum nnvts_status st = b->execute(b, &v.request, tokens, &nnv_session_execution_config, &v.result);
        if (!nnv_session_check_outcome(s, "a burst's execute", st, &v) || !expect_same(s, way, first, &v)) break;
    }
    if (!s->result->worker_damaged) b->release(b);
}

static void reusable(struct nnv_session *s, struct nnv_side *first, const struct nnv_way *way) {
    struct nnvts_prepared_model *p = first->prepared;
    struct nnvts_execution *e = NULL;
    struct nnv_values v;
    if (!p->create_execution) {
        nnv_session_unsupported(s, "the driver has no reusable executions");
        return;
    }
    if (!make_values(s, first, &v)) return;
    nnv_session_enter(s, NNV_PHASE_EXECUTE);
    enum nnvts_status created = p->create_execution(p, &v.request, &nnv_session_execution_config, &e);
    if (!nnv_expect_status(s, "create_execution", created, NNVTS_STATUS_NONE) ||
        !nnv_expect(s, e && e->execute && e->release, "create_execution gave one without all required members"))
        return;
    for (int i = 0; i < TIMES; i++) {
        nnv_values_reset(&v);
        nnv_session_enter(s, NNV_PHASE_EXECUTE);
        enum nnvts_status st = e->execute(e, NNVTS_NO_TIME, &v.result);
        if (!nnv_session_check_outcome(s, "a reusable execution", st, &v) || !expect_same(s, way, first, &v)) break;
    }
    if (!s->result->worker_damaged) e->release(e);
}

/* -------------------------------------------------------- without waiting for it */

/* What a callback is given. */
struct called {
    pthread_mutex_t lock;
    pthread_cond_t done;
    bool ended;
    enum nnvts_status status;
    struct nnvts_execution_result *result; /**< with room for the shapes */
    uint32_t nout;
};

static void called_back(void *context, enum nnvts_status status, const struct nnvts_execution_result *result) {
    struct called *c = context;
    pthread_mutex_lock(&c->lock);
    c->status = status;
    c->result->shape_count = result && result->shape_count <= c->nout ? result->shape_count : 0;
    for (uint32_t i = 0; i < c->result->shape_count; i++) {
        const struct nnvts_output_shape *from = &result->shapes[i];
        struct nnvts_output_shape *to = &c->result->shapes[i];
        to->is_sufficient = from->is_sufficient;
        if (from->dimension_count > NNV_MAX_RANK) continue;
        to->dimension_count = from->dimension_count;
        if (to->dimension_count) memcpy(to->dimensions, from->dimensions, to->dimension_count * sizeof(uint32_t));
    }
    c->ended = true;
    pthread_cond_signal(&c->done);
    pthread_mutex_unlock(&c->lock);
}

static void asynchronous(struct nnv_session *s, struct nnv_side *first, const struct nnv_way *way) {
    struct nnvts_prepared_model *p = first->prepared;
    struct nnv_values v;
    if (!p->execute_async) {
        nnv_session_unsupported(s, "the driver has no asynchronous executions");
        return;
    }
    if (!make_values(s, first, &v)) return;
    struct called c = {.lock = PTHREAD_MUTEX_INITIALIZER,
                       .done = PTHREAD_COND_INITIALIZER,
                       .result = &v.result,
                       .nout = first->subject.spec->model.main.nout};
    nnv_session_enter(s, NNV_PHASE_EXECUTE);
    enum nnvts_status st = p->execute_async(p, &v.request, &nnv_session_execution_config, called_back, &c);
    if (!nnv_expect_status(s, "execute_async", st, NNVTS_STATUS_NONE)) return;
    /* A driver that never calls back runs into the case's deadline. */
    pthread_mutex_lock(&c.lock);
    while (!c.ended) pthread_cond_wait(&c.done, &c.lock);
    pthread_mutex_unlock(&c.lock);
    if (nnv_session_check_outcome(s, "execute_async", c.status, &v)) expect_same(s, way, first, &v);
}

/* Fenced executions take outputs of known size that are not empty. */
static bool may_be_fenced(const struct nnv_subject *subject) {
    const struct nnv_subgraph *m = &subject->spec->model.main;
    for (uint32_t i = 0; i < m->nout; i++) {
        size_t elems, bytes;
        if (!nnv_operand_size(&m->operands[m->out[i]], &elems, &bytes) || bytes == 0) return false;
    }
    return true;
}

static void fenced(struct nnv_session *s, struct nnv_side *first, const struct nnv_way *way) {
    struct nnvts_prepared_model *p = first->prepared;
    struct nnvts_fenced_execution f = {.sync_fence = -1};
    struct nnvts_fenced_result result = {0};
    struct nnv_values v;
    if (!p->execute_fenced || !may_be_fenced(&first->subject)) {
        nnv_session_unsupported(s, p->execute_fenced ? "outputs of open extents can't be fenced"
                                                     : "the driver has no fenced executions");
        return;
    }
    if (!make_values(s, first, &v)) return;
    nnv_session_enter(s, NNV_PHASE_EXECUTE);
    enum nnvts_status st = p->execute_fenced(p, &v.request, NULL, 0, &nnv_session_execution_config, NNVTS_NO_TIME, &f);
    if (!nnv_expect_status(s, "execute_fenced", st, NNVTS_STATUS_NONE) ||
        !nnv_expect(s, f.get_result && f.release, "execute_fenced gave one without all required members"))
        return;
    st = f.get_result(f.context, &result);
    if (nnv_expect_status(s, "get_result", st, NNVTS_STATUS_NONE) &&
        nnv_session_check_outcome(s, "execute_fenced", result.status, &v))
        expect_same(s, way, first, &v);
    if (!s->result->worker_damaged) f.release(f.context);
}

/* ---------------------------------------------------------------------- threads */

struct runner {
    struct nnvts_prepared_model *prepared;
    struct nnv_values values;
    pthread_barrier_t *start;
    enum nnvts_status status;
};

static void *run_one(void *context) {
    struct runner *r = context;
    pthread_barrier_wait(r->start);
    r->status = r->prepared->execute(r->prepared, &r->values.request, &nnv_session_execution_config, &r->values.result);
    return NULL;
}

/* One thread on the first prepared model, the others on a second one. */
static void run_threads(struct nnv_session *s, struct nnv_side *first, struct nnv_side *second,
                        const struct nnv_way *way) {
    struct runner runners[THREADS];
    pthread_t thread[THREADS];
    pthread_barrier_t start;
    for (int i = 0; i < THREADS; i++)
        if (!make_values(s, first, &runners[i].values)) return;
    if (pthread_barrier_init(&start, NULL, THREADS)) {
        nnv_session_error(s, "no barrier for %d threads", THREADS);
        return;
    }
    for (int n = 0; n < TIMES && s->result->verdict == NNVTS_PASS; n++) {
        nnv_session_enter(s, NNV_PHASE_EXECUTE);
        for (int i = 0; i < THREADS; i++) {
            runners[i].prepared = i ? second->prepared : first->prepared;
            runners[i].start = &start;
            nnv_values_reset(&runners[i].values);
        }
        for (int i = 1; i < THREADS; i++)
            if (pthread_create(&thread[i], NULL, run_one, &runners[i])) {
                /* Those that wait at the barrier can't be called off: the process goes with them. */
                s->result->worker_damaged = true;
                nnv_session_error(s, "no thread: %s", strerror(errno));
                return;
            }
        run_one(&runners[0]);
        for (int i = 1; i < THREADS; i++) pthread_join(thread[i], NULL);
        for (int i = 0; i < THREADS; i++)
            if (nnv_session_check_outcome(s, "execute beside others", runners[i].status, &runners[i].values))
                expect_same(s, way, first, &runners[i].values);
    }
    pthread_barrier_destroy(&start);
}

static void parallel(struct nnv_session *s, struct nnv_side *first, const struct nnv_way *way) {
    struct nnv_side second = {0};
    if (nnv_side_prepare(s, first->subject.spec, &second)) run_threads(s, first, &second, way);
    nnv_session_release(s, second.prepared);
}

const struct nnv_way nnv_ways[] = {
    {"repeated", "executed again, a prepared model gives the same", repeated},
    {"recompiled", "prepared again, a model gives the same", recompiled},
    {"constants_forgotten", "a prepared model has copies of its constants: the caller's may be overwritten",
     constants_forgotten},
    {"burst", "in a burst a prepared model gives the same", burst},
    {"reusable", "a reusable execution gives the same, each time", reusable},
    {"asynchronous", "executed asynchronously, a prepared model gives the same", asynchronous},
    {"fenced", "behind a fence a prepared model gives the same", fenced},
    {"parallel", "executions beside others, of one prepared model or of two, give the same", parallel},
};
const size_t nnv_way_count = sizeof nnv_ways / sizeof *nnv_ways;
