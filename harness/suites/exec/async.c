/* SPDX-License-Identifier: Apache-2.0 */
/** @file exec_async.c Asynchronous executions: one callback each, when the values are there, and none without a launch.
 */
#include <pthread.h>
#include <string.h>

#include "base/clock.h"
#include "base/guard.h"
#include "harness/suites/exec/exec.h"

enum { LANDINGS = 32 };

/* Slots are never freed: a callback that comes too late meets one that is not armed. */
struct nnv_exec_landing {
    bool armed;
    uint32_t calls;
    struct nnv_values *v;
    bool asked; /**< for times */
    uint64_t launched_ns, ended_ns;
    enum nnvts_status status;
    bool no_result;
    struct nnvts_execution_result result;
    struct nnvts_output_shape shapes[NNV_SUBJECT_MAX_IO];
    uint32_t dims[NNV_SUBJECT_MAX_IO][NNV_MAX_RANK];
    uint8_t *seen[NNV_SUBJECT_MAX_IO]; /**< the outputs with their guard zones when the callback came */
};

static struct nnv_exec_landing slots[LANDINGS];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t arrival = PTHREAD_COND_INITIALIZER;

/** Copies what is only valid during the callback. A count or rank that is wrong is judged, but not followed. */
static void take_result(struct nnv_exec_landing *l, const struct nnvts_execution_result *r) {
    l->no_result = r == NULL;
    if (!r) return;
    l->result.shape_count = r->shape_count;
    l->result.timing = r->timing;
    if (r->shape_count != l->v->request.output_count || !r->shapes) return;
    for (uint32_t i = 0; i < r->shape_count; i++) {
        const struct nnvts_output_shape *from = &r->shapes[i];
        const uint32_t rank = l->v->subject->expected[i].value->rank;
        l->shapes[i] = (struct nnvts_output_shape){from->is_sufficient, from->dimension_count, l->dims[i]};
        if (rank && rank == from->dimension_count && from->dimensions)
            memcpy(l->dims[i], from->dimensions, rank * sizeof *l->dims[i]);
    }
}

static void land(void *context, enum nnvts_status status, const struct nnvts_execution_result *result) {
    struct nnv_exec_landing *l = context;
    const uint64_t now = nnv_now_ns();
    pthread_mutex_lock(&lock);
    if (l->calls++ == 0 && l->armed) {
        const struct nnv_values *v = l->v;
        l->ended_ns = now;
        l->status = status;
        take_result(l, result);
        for (uint32_t i = 0; i < v->request.output_count; i++)
            memcpy(l->seen[i], v->output_at[i] - NNV_GUARD_BYTES, nnv_guard_room(v->subject->expected[i].value->bytes));
    }
    pthread_cond_broadcast(&arrival);
    pthread_mutex_unlock(&lock);
}

/** The next slot, armed. */
static struct nnv_exec_landing *arm(struct nnv_exec *x, struct nnv_values *v, bool asked) {
    static uint32_t next;
    uint8_t *seen[NNV_SUBJECT_MAX_IO];
    for (uint32_t i = 0; i < v->subject->spec->model.main.nout; i++) {
        seen[i] = nnv_arena_alloc(x->s->env->arena, nnv_guard_room(v->subject->expected[i].value->bytes), 1);
        if (!seen[i]) {
            nnv_session_error(x->s, "out of memory");
            return NULL;
        }
    }
    pthread_mutex_lock(&lock);
    struct nnv_exec_landing *l = &slots[next++ % LANDINGS];
    *l = (struct nnv_exec_landing){.armed = true, .v = v, .asked = asked, .launched_ns = nnv_now_ns()};
    memcpy(l->seen, seen, sizeof seen);
    l->result.shapes = l->shapes;
    pthread_mutex_unlock(&lock);
    return l;
}

/** Nothing of the case is touched by callbacks that come from now on. */
static void disarm(struct nnv_exec_landing *l) {
    pthread_mutex_lock(&lock);
    l->armed = false;
    pthread_mutex_unlock(&lock);
}

struct nnv_exec_landing *nnv_exec_launch(struct nnv_exec *x, struct nnvts_prepared_model *p, struct nnv_values *v,
                                         const struct nnvts_request *request,
                                         const struct nnvts_execution_config *config, enum nnvts_status *status) {
    if (!config) config = &nnv_session_execution_config;
    nnv_values_reset(v);
    struct nnv_exec_landing *l = arm(x, v, config->measure_timing);
    if (!l) return NULL;
    nnv_session_enter(x->s, NNV_PHASE_EXECUTE);
    *status = p->execute_async(p, request, config, land, l);
    if (*status != NNVTS_STATUS_NONE) disarm(l);
    return l;
}

uint32_t nnv_exec_landings(struct nnv_exec_landing *l) {
    nnv_exec_sleep_us(1000);
    pthread_mutex_lock(&lock);
    const uint32_t calls = l->calls;
    pthread_mutex_unlock(&lock);
    return calls;
}

static bool judge(struct nnv_exec *x, struct nnv_exec_landing *l) {
    const char *const call = "the callback of execute_async";
    struct nnv_values then = *l->v;
    then.result = l->result;
    uint8_t *at[NNV_SUBJECT_MAX_IO];
    for (uint32_t i = 0; i < then.request.output_count; i++) at[i] = l->seen[i] + NNV_GUARD_BYTES;
    then.output_at = at;
    return nnv_expect(x->s, !l->no_result, "%s came without a result", call) &&
           nnv_session_check_values(x->s, call, l->status, &then) && nnv_session_check_memory(x->s, call, l->v) &&
           nnv_exec_check_times(x->s, call, l->asked, &l->result.timing, l->ended_ns - l->launched_ns);
}

bool nnv_exec_land(struct nnv_exec *x, struct nnv_exec_landing *l, struct nnv_exec_times *times) {
    pthread_mutex_lock(&lock);
    while (l->calls == 0) pthread_cond_wait(&arrival, &lock); /* the case's deadline ends what never comes */
    pthread_mutex_unlock(&lock);
    bool ok = judge(x, l);
    const uint32_t calls = nnv_exec_landings(l);
    disarm(l);
    if (times) *times = (struct nnv_exec_times){.launched = l->result.timing, .wall_ns = l->ended_ns - l->launched_ns};
    return nnv_expect(x->s, calls == 1, "the callback of one execution came %u times, it must come once", calls) && ok;
}

/* ---------------------------------------------------------------------- cases */

static void one(struct nnv_exec *x) {
    if (!nnv_exec_needs(x, NNV_EXEC_ASYNC)) return;
    for (int i = 0; i < 3; i++)
        if (!nnv_exec_run(x, x->prepared, NNV_EXEC_ASYNC, &x->values, NULL, NULL)) return;
}

static void in_flight(struct nnv_exec *x) {
    enum { COUNT = 8 };
    struct nnv_subject subjects[COUNT];
    struct nnv_values values[COUNT];
    struct nnv_exec_landing *landing[COUNT];
    uint32_t launched = 0;
    if (!nnv_exec_needs(x, NNV_EXEC_ASYNC) || !nnv_exec_variants(x, NNV_SESSION_READ_ONLY, COUNT, subjects, values))
        return;
    for (; launched < COUNT; launched++) {
        enum nnvts_status st;
        landing[launched] = nnv_exec_launch(x, x->prepared, &values[launched], &values[launched].request, NULL, &st);
        if (!landing[launched] || !nnv_expect_status(x->s, "execute_async", st, NNVTS_STATUS_NONE)) break;
    }
    while (launched-- > 0) nnv_exec_land(x, landing[launched], NULL);
}

/** The launch borrows the request's structs for the call alone. */
static void borrowed(struct nnv_exec *x) {
    struct nnv_values *v = &x->values;
    struct nnvts_argument args[2 * NNV_SUBJECT_MAX_IO];
    struct nnvts_memory pools[2];
    struct nnvts_execution_config config = nnv_session_execution_config;
    struct nnvts_request request = v->request;
    enum nnvts_status st;
    if (!nnv_exec_needs(x, NNV_EXEC_ASYNC)) return;
    nnv_values_reset(v);
    memcpy(args, v->inputs, request.input_count * sizeof *args);
    memcpy(args + request.input_count, v->outputs, request.output_count * sizeof *args);
    memcpy(pools, v->request.pools, sizeof pools);
    request.inputs = args;
    request.outputs = args + request.input_count;
    request.pools = pools;
    struct nnv_exec_landing *l = nnv_exec_launch(x, x->prepared, v, &request, &config, &st);
    memset(args, 0xee, sizeof args);
    memset(pools, 0xee, sizeof pools);
    memset(&request, 0xee, sizeof request);
    config = (struct nnvts_execution_config){0};
    if (l && nnv_expect_status(x->s, "execute_async", st, NNVTS_STATUS_NONE)) nnv_exec_land(x, l, NULL);
}

/** A request that breaks a rule is refused at the launch, or, once, in the callback; never both. */
static void refused(struct nnv_exec *x) {
    struct nnvts_request request = x->values.request;
    enum nnvts_status st;
    if (!nnv_exec_needs(x, NNV_EXEC_ASYNC)) return;
    request.input_count--;
    struct nnv_exec_landing *l = nnv_exec_launch(x, x->prepared, &x->values, &request, NULL, &st);
    if (!l) return;
    if (st != NNVTS_STATUS_NONE) {
        const uint32_t calls = nnv_exec_landings(l);
        nnv_expect(x->s, calls == 0, "execute_async refused the launch; its callback must not come, it came %u times",
                   calls);
    } else {
        pthread_mutex_lock(&lock);
        while (l->calls == 0) pthread_cond_wait(&arrival, &lock);
        pthread_mutex_unlock(&lock);
        const uint32_t calls = nnv_exec_landings(l);
        disarm(l);
        nnv_expect(x->s, calls == 1, "the callback of one execution came %u times, it must come once", calls);
        st = l->status;
    }
    if (nnv_exec_refused(x, "execute_async without its last input", st, &x->values)) one(x);
}

static const struct nnv_exec_case cases[] = {
    {.name = "one", .run = one},
    {.name = "in_flight", .run = in_flight},
    {.name = "borrowed", .run = borrowed},
    {.name = "refused", .run = refused},
};
const struct nnv_exec_group nnv_exec_async = NNV_EXEC_GROUP("async", cases);
