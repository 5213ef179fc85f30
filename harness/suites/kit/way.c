/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/suites/kit/way.h"

#include <errno.h>
#include <semaphore.h>
#include <string.h>

#include "base/clock.h"

const char *nnv_way_name(enum nnv_way way) {
    static const char *const names[NNV_WAY_COUNT] = {
        [NNV_WAY_SYNC] = "sync",   [NNV_WAY_BURST] = "burst",   [NNV_WAY_REUSABLE] = "reusable",
        [NNV_WAY_ASYNC] = "async", [NNV_WAY_FENCED] = "fenced",
    };
    return names[way];
}

static bool execute_burst(struct nnv_session *s, struct nnvts_prepared_model *p, struct nnv_values *v,
                          struct nnv_way_run *run) {
    static const int64_t tokens[] = {-1, -1};
    struct nnvts_burst *burst = NULL;
    if (!p->create_burst) return nnv_session_unsupported(s, "the driver has no bursts");
    if (!nnv_expect_status(s, "create_burst", p->create_burst(p, &burst), NNVTS_STATUS_NONE) ||
        !nnv_expect(s, burst && burst->execute && burst->release,
                    "create_burst gave a burst without all required members"))
        return false;
    run->status = burst->execute(burst, &v->request, tokens, &run->config, &v->result);
    burst->release(burst);
    return true;
}

static bool execute_reusable(struct nnv_session *s, struct nnvts_prepared_model *p, struct nnv_values *v,
                             struct nnv_way_run *run) {
    struct nnvts_execution *x = NULL;
    if (!p->create_execution) return nnv_session_unsupported(s, "the driver has no reusable executions");
    const struct nnvts_execution_config config = {.deadline_ns = NNVTS_NO_TIME,
                                                  .loop_timeout_ns = run->config.loop_timeout_ns};
    if (!nnv_expect_status(s, "create_execution", p->create_execution(p, &v->request, &config, &x),
                           NNVTS_STATUS_NONE) ||
        !nnv_expect(s, x && x->execute && x->release, "create_execution gave an object without all required members"))
        return false;
    run->status = x->execute(x, run->config.deadline_ns, &v->result);
    x->release(x);
    return true;
}

/** What an asynchronous execution calls back with. */
struct landing {
    sem_t landed;
    enum nnvts_status status;
    struct nnv_values *v;
};

static void land(void *context, enum nnvts_status status, const struct nnvts_execution_result *result) {
    struct landing *l = context;
    struct nnvts_execution_result *to = &l->v->result;
    const uint32_t room = l->v->subject->spec->model.main.nout;
    l->status = status;
    to->shape_count = result ? result->shape_count : 0;
    for (uint32_t i = 0; i < to->shape_count && i < room; i++) {
        const struct nnvts_output_shape *from = &result->shapes[i];
        const uint32_t rank = from->dimension_count < NNV_MAX_RANK ? from->dimension_count : NNV_MAX_RANK;
        if (rank) memcpy(to->shapes[i].dimensions, from->dimensions, rank * sizeof *from->dimensions);
        to->shapes[i].dimension_count = from->dimension_count;
        to->shapes[i].is_sufficient = from->is_sufficient;
    }
    sem_post(&l->landed);
}

/* A driver that never calls back runs into the case's timeout. */
static bool execute_async(struct nnv_session *s, struct nnvts_prepared_model *p, struct nnv_values *v,
                          struct nnv_way_run *run) {
    struct landing l = {.status = NNVTS_STATUS_GENERAL_FAILURE, .v = v};
    if (!p->execute_async) return nnv_session_unsupported(s, "the driver has no asynchronous executions");
    if (sem_init(&l.landed, 0, 0) != 0) return nnv_session_error(s, "no semaphore");
    run->status = p->execute_async(p, &v->request, &run->config, land, &l);
    if (run->status == NNVTS_STATUS_NONE) {
        while (sem_wait(&l.landed) != 0 && errno == EINTR) continue;
        run->status = l.status;
    }
    sem_destroy(&l.landed);
    return true;
}

static bool execute_fenced(struct nnv_session *s, struct nnvts_prepared_model *p, struct nnv_values *v,
                           struct nnv_way_run *run) {
    struct nnvts_fenced_execution f = {.sync_fence = -1};
    struct nnvts_fenced_result result = {.status = NNVTS_STATUS_GENERAL_FAILURE};
    if (!p->execute_fenced) return nnv_session_unsupported(s, "the driver has no fenced executions");
    run->status = p->execute_fenced(p, &v->request, NULL, 0, &run->config, run->duration_ns, &f);
    if (run->status != NNVTS_STATUS_NONE) return true;
    if (!nnv_expect(s, f.get_result && f.release, "execute_fenced answered NONE without get_result and release"))
        return false;
    enum nnvts_status st = f.get_result(f.context, &result);
    run->status = result.status;
    f.release(f.context);
    return nnv_expect_status(s, "get_result of a fenced execution", st, NNVTS_STATUS_NONE);
}

bool nnv_way_execute_as_it_is(struct nnv_session *s, struct nnvts_prepared_model *prepared, struct nnv_values *v,
                              struct nnv_way_run *run) {
    static bool (*const ways[])(struct nnv_session *, struct nnvts_prepared_model *, struct nnv_values *,
                                struct nnv_way_run *) = {
        [NNV_WAY_BURST] = execute_burst,
        [NNV_WAY_REUSABLE] = execute_reusable,
        [NNV_WAY_ASYNC] = execute_async,
        [NNV_WAY_FENCED] = execute_fenced,
    };
    bool whole = true;
    nnv_session_enter(s, NNV_PHASE_EXECUTE);
    const uint64_t start = nnv_now_ns();
    if (run->way == NNV_WAY_SYNC)
        run->status = prepared->execute(prepared, &v->request, &run->config, &v->result);
    else
        whole = ways[run->way](s, prepared, v, run);
    run->elapsed_ns = nnv_now_ns() - start;
    return whole;
}

bool nnv_way_execute(struct nnv_session *s, struct nnvts_prepared_model *prepared, struct nnv_values *v,
                     struct nnv_way_run *run) {
    nnv_values_reset(v);
    return nnv_way_execute_as_it_is(s, prepared, v, run);
}
