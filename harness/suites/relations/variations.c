/* SPDX-License-Identifier: Apache-2.0 */
/** @file variations.c One and the same model executed in other manners. */
#include <errno.h>
#include <pthread.h>
#include <string.h>

#include "harness/suites/relations/relations.h"
#include "nnvts/result.h"

enum { TIMES = 3, THREADS = 3 };

/* All outputs of v are those of the first execution; or within their budgets, where other rounding is legal. */
static bool expect_same(struct nnv_context *s, const struct nnv_variation *variation, struct nnv_side *first,
                        const struct nnv_request *v) {
    const uint32_t n = first->fixture.spec->model.main.nout;
    bool same = true;
    for (uint32_t i = 0; i < n && same; i++) same = nnv_first_difference(&first->values, i, v, i) == SIZE_MAX;
    if (!same && (variation->rounds_otherwise || !nnv_side_is_steady(s, first)))
        return nnv_context_check_values(s, variation->says, NNVTS_STATUS_NONE, v);
    same = true;
    for (uint32_t i = 0; i < n; i++) same = nnv_same_bytes(s, variation->says, &first->values, i, v, i) && same;
    return same;
}

/* Another request of the first one's model. */
static bool make_values(struct nnv_context *s, struct nnv_side *first, struct nnv_request *v) {
    return nnv_context_request(s, &first->fixture, NNV_POOL_READ_ONLY, v);
}

static void repeated(struct nnv_context *s, struct nnv_side *first, const struct nnv_variation *variation) {
    struct nnv_side again = *first;
    if (!make_values(s, first, &again.values)) return;
    for (int i = 0; i < TIMES; i++)
        if (!nnv_side_execute(s, &again) || !expect_same(s, variation, first, &again.values)) return;
}

static void recompiled(struct nnv_context *s, struct nnv_side *first, const struct nnv_variation *variation) {
    struct nnv_side second = {0};
    if (nnv_side_prepare(s, first->fixture.spec, &second) && nnv_side_execute(s, &second))
        expect_same(s, variation, first, &second.values);
    nnv_context_release(s, second.prepared);
}

static void constants_forgotten(struct nnv_context *s, struct nnv_side *first, const struct nnv_variation *variation) {
    struct nnv_side second = {0};
    if (nnv_side_prepare(s, first->fixture.spec, &second)) {
        /* The context renders models into memory of its own: it may be written. */
        const struct nnvts_model *m = &second.fixture.model;
        if (m->operand_values_bytes) memset((void *)(uintptr_t)m->operand_values, 0x55, m->operand_values_bytes);
        const size_t pooled = m->pool_count ? (size_t)m->pools[0].size : 0;
        if (pooled) memset(second.fixture.constants, 0x55, pooled);
        if (nnv_side_execute(s, &second)) expect_same(s, variation, first, &second.values);
    }
    nnv_context_release(s, second.prepared);
}

/* Fenced executions take outputs of known size that are not empty. */
static bool may_be_fenced(const struct nnv_fixture *fixture) {
    const struct nnv_subgraph *m = &fixture->spec->model.main;
    for (uint32_t i = 0; i < m->nout; i++) {
        size_t elems, bytes;
        if (!nnv_operand_size(&m->operands[m->out[i]], &elems, &bytes) || bytes == 0) return false;
    }
    return true;
}

/** In the variation's mode of execution; what is opened for it serves several executions. */
static void in_mode(struct nnv_context *s, struct nnv_side *first, const struct nnv_variation *variation) {
    static const int64_t tokens[] = {11, 12};
    const enum nnv_mode mode = variation->mode;
    const int times = mode == NNV_MODE_BURST || mode == NNV_MODE_REUSABLE ? TIMES : 1;
    struct nnv_request v;
    if (!nnv_context_needs(s, first->prepared, mode)) return;
    if (mode == NNV_MODE_FENCED && !may_be_fenced(&first->fixture)) {
        nnv_context_decline(s, NNVTS_WHY_INTERFACE, "outputs of open extents can't be fenced");
        return;
    }
    if (!make_values(s, first, &v)) return;
    struct nnv_execution x = nnv_execution_make(mode, first->prepared, &v);
    x.tokens = tokens;
    for (int i = 0; i < times; i++) {
        nnv_request_reset(&v);
        if (!nnv_context_run(s, &x) || !nnv_context_check_outcome(s, x.call, x.status, &v) ||
            !expect_same(s, variation, first, &v))
            break;
    }
    nnv_context_close(s, &x);
}

/* ---------------------------------------------------------------------- threads */

struct runner {
    struct nnv_execution x;
    struct nnv_request values;
    pthread_barrier_t *start;
};

static void *run_one(void *context) {
    struct runner *r = context;
    pthread_barrier_wait(r->start);
    nnv_execute(&r->x);
    return NULL;
}

/* One thread on the first prepared model, the others on a second one. */
static void run_threads(struct nnv_context *s, struct nnv_side *first, struct nnv_side *second,
                        const struct nnv_variation *variation) {
    struct runner runners[THREADS];
    pthread_t thread[THREADS];
    pthread_barrier_t start;
    for (int i = 0; i < THREADS; i++)
        if (!make_values(s, first, &runners[i].values)) return;
    if (pthread_barrier_init(&start, NULL, THREADS)) {
        nnv_context_error(s, "no barrier for %d threads", THREADS);
        return;
    }
    for (int n = 0; n < TIMES && s->result->verdict == NNVTS_PASS; n++) {
        nnv_context_enter(s, NNV_PHASE_EXECUTE);
        for (int i = 0; i < THREADS; i++) {
            runners[i].x =
                nnv_execution_make(NNV_MODE_SYNC, i ? second->prepared : first->prepared, &runners[i].values);
            runners[i].start = &start;
            nnv_request_reset(&runners[i].values);
        }
        for (int i = 1; i < THREADS; i++)
            if (pthread_create(&thread[i], NULL, run_one, &runners[i])) {
                /* Those that wait at the barrier can't be called off: the process goes with them. */
                s->result->worker_damaged = true;
                nnv_context_error(s, "no thread: %s", strerror(errno));
                return;
            }
        run_one(&runners[0]);
        for (int i = 1; i < THREADS; i++) pthread_join(thread[i], NULL);
        for (int i = 0; i < THREADS; i++)
            if (nnv_context_check_outcome(s, "execute beside others", runners[i].x.status, &runners[i].values))
                expect_same(s, variation, first, &runners[i].values);
    }
    pthread_barrier_destroy(&start);
}

static void parallel(struct nnv_context *s, struct nnv_side *first, const struct nnv_variation *variation) {
    struct nnv_side second = {0};
    if (nnv_side_prepare(s, first->fixture.spec, &second)) run_threads(s, first, &second, variation);
    nnv_context_release(s, second.prepared);
}

const struct nnv_variation nnv_variations[] = {
    {"repeated", "executed again, a prepared model gives the same", repeated, NNV_MODE_SYNC, false},
    {"recompiled", "prepared again, a model gives the same", recompiled, NNV_MODE_SYNC, false},
    {"constants_forgotten", "a prepared model has copies of its constants: the caller's may be overwritten",
     constants_forgotten, NNV_MODE_SYNC, false},
    {"burst", "in a burst a prepared model gives the same", in_mode, NNV_MODE_BURST, true},
    {"reusable", "a reusable execution gives the same, each time", in_mode, NNV_MODE_REUSABLE, true},
    {"asynchronous", "executed asynchronously, a prepared model gives the same", in_mode, NNV_MODE_ASYNC, true},
    {"fenced", "behind a fence a prepared model gives the same", in_mode, NNV_MODE_FENCED, true},
    {"parallel", "executions beside others, of one prepared model or of two, give the same", parallel, NNV_MODE_SYNC,
     true},
};
const size_t nnv_variation_count = sizeof nnv_variations / sizeof *nnv_variations;
