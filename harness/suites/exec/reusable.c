/* SPDX-License-Identifier: Apache-2.0 */
/** @file exec_reusable.c Synchronous executions one after the other, and reusable ones: bound once, executed often. */
#include <string.h>

#include "base/clock.h"
#include "harness/suites/exec/exec.h"

static const uint64_t minute_ns = UINT64_C(60000000000);

/* ----------------------------------------------------------------- synchronous */

static void repeated(struct nnv_exec *x) {
    struct nnv_values first;
    if (!nnv_session_values(x->s, &x->subject, NNV_SESSION_READ_ONLY, &first) ||
        !nnv_session_execute(x->s, x->prepared, &first))
        return;
    for (int i = 0; i < 5; i++)
        if (!nnv_session_execute(x->s, x->prepared, &x->values) ||
            !nnv_exec_same_bits(x, "execute", &x->values, &first))
            return;
}

/** The same request at the same place, with other inputs in its memory each time. */
static void inputs_changed(struct nnv_exec *x) {
    struct nnv_subject other;
    if (!nnv_exec_variant(x, 1, &other)) return;
    for (int i = 0; i < 6; i++) {
        nnv_values_fill(&x->values, i % 3 == 1 ? &other : &x->subject);
        if (!nnv_session_execute(x->s, x->prepared, &x->values)) return;
    }
}

/** After a request that is refused, good ones are served as before. */
static void after_refusal(struct nnv_exec *x) {
    struct nnvts_request request = x->values.request;
    for (int i = 0; i < 3; i++) {
        nnv_values_reset(&x->values);
        request.input_count = i % 2 ? x->values.request.input_count + 1 : x->values.request.input_count - 1;
        struct nnvts_argument args[NNV_SUBJECT_MAX_IO + 1] = {0};
        memcpy(args, x->values.inputs, x->values.request.input_count * sizeof *args);
        args[x->values.request.input_count] = args[0];
        request.inputs = args;
        nnv_session_enter(x->s, NNV_PHASE_EXECUTE);
        enum nnvts_status st =
            x->prepared->execute(x->prepared, &request, &nnv_session_execution_config, &x->values.result);
        if (!nnv_exec_refused(x, i % 2 ? "execute with an input too many" : "execute with an input too few", st,
                              &x->values) ||
            !nnv_session_execute(x->s, x->prepared, &x->values))
            return;
    }
}

static const struct nnv_exec_case sync_cases[] = {
    {.name = "repeated", .run = repeated},
    {.name = "inputs_changed", .run = inputs_changed},
    {.name = "after_refusal", .run = after_refusal},
};
const struct nnv_exec_group nnv_exec_sync = NNV_EXEC_GROUP("sync", sync_cases);

/* ------------------------------------------------------------------- reusable */

static void often(struct nnv_exec *x) {
    struct nnv_subject other;
    struct nnvts_execution *e = nnv_exec_reusable_make(x, x->prepared, &x->values, NULL);
    bool ok = e && nnv_exec_variant(x, 1, &other);
    for (int i = 0; i < 20 && ok; i++) {
        nnv_values_fill(&x->values, i % 3 ? &other : &x->subject);
        ok = nnv_exec_reusable_run(x, e, &x->values, NNVTS_NO_TIME, false, NULL);
    }
    nnv_exec_reusable_free(x, e);
}

/** One whose time has passed: it gives up, or is done nonetheless; never wrong. */
static bool run_late(struct nnv_exec *x, struct nnvts_execution *e) {
    nnv_values_reset(&x->values);
    nnv_session_enter(x->s, NNV_PHASE_EXECUTE);
    enum nnvts_status st = e->execute(e, 1, &x->values.result);
    if (st == NNVTS_STATUS_NONE) return nnv_session_check_values(x->s, "a late execution", st, &x->values);
    return nnv_session_check_memory(x->s, "a late execution", &x->values) &&
           nnv_expect_status_in(x->s, "an execution whose deadline has passed", st,
                                1u << NNVTS_STATUS_NONE | 1u << NNVTS_STATUS_MISSED_DEADLINE_TRANSIENT |
                                    1u << NNVTS_STATUS_MISSED_DEADLINE_PERSISTENT);
}

/** Each execution has its own deadline: none, a far one, one that has passed, and again. */
static void deadlines(struct nnv_exec *x) {
    struct nnvts_execution *e = nnv_exec_reusable_make(x, x->prepared, &x->values, NULL);
    bool ok = e != NULL;
    for (int i = 0; i < 2 && ok; i++)
        ok = nnv_exec_reusable_run(x, e, &x->values, NNVTS_NO_TIME, false, NULL) &&
             nnv_exec_reusable_run(x, e, &x->values, nnv_now_ns() + minute_ns, false, NULL) && run_late(x, e);
    if (ok) nnv_exec_reusable_run(x, e, &x->values, NNVTS_NO_TIME, false, NULL);
    nnv_exec_reusable_free(x, e);
}

/** Several of one model, in turns, released in another order than made. */
static void several(struct nnv_exec *x) {
    enum { COUNT = 3 };
    static const int order[COUNT] = {1, 0, 2};
    struct nnv_subject subjects[COUNT];
    struct nnv_values values[COUNT];
    struct nnvts_execution *e[COUNT] = {NULL};
    bool ok =
        nnv_exec_needs(x, NNV_EXEC_REUSABLE) && nnv_exec_variants(x, NNV_SESSION_READ_ONLY, COUNT, subjects, values);
    for (int i = 0; i < COUNT && ok; i++) ok = (e[i] = nnv_exec_reusable_make(x, x->prepared, &values[i], NULL));
    for (int gone = 0; gone < COUNT; gone++) {
        for (int i = gone; i < COUNT && ok; i++)
            ok = nnv_exec_reusable_run(x, e[order[i]], &values[order[i]], NNVTS_NO_TIME, false, NULL);
        ok = ok && nnv_session_execute(x->s, x->prepared, &x->values);
        nnv_exec_reusable_free(x, e[order[gone]]);
    }
}

/** create_execution borrows the request's structs for the call alone. */
static void borrowed(struct nnv_exec *x) {
    struct nnv_values *v = &x->values, bound = x->values;
    struct nnvts_argument args[2 * NNV_SUBJECT_MAX_IO];
    struct nnvts_memory pools[2];
    struct nnvts_execution_config config = nnv_session_execution_config;
    nnv_values_reset(v);
    memcpy(args, v->inputs, v->request.input_count * sizeof *args);
    memcpy(args + v->request.input_count, v->outputs, v->request.output_count * sizeof *args);
    memcpy(pools, v->request.pools, sizeof pools);
    bound.request.inputs = args;
    bound.request.outputs = args + v->request.input_count;
    bound.request.pools = pools;
    struct nnvts_execution *e = nnv_exec_reusable_make(x, x->prepared, &bound, &config);
    memset(args, 0xee, sizeof args);
    memset(pools, 0xee, sizeof pools);
    config.loop_timeout_ns = 0;
    for (int i = 0; i < 3 && e; i++)
        if (!nnv_exec_reusable_run(x, e, v, NNVTS_NO_TIME, false, NULL)) break;
    nnv_exec_reusable_free(x, e);
}

static void refused(struct nnv_exec *x) {
    struct nnvts_execution *e = NULL;
    struct nnvts_request request = x->values.request;
    if (!nnv_exec_needs(x, NNV_EXEC_REUSABLE)) return;
    request.output_count = 0;
    nnv_values_reset(&x->values);
    nnv_session_enter(x->s, NNV_PHASE_EXECUTE);
    enum nnvts_status st = x->prepared->create_execution(x->prepared, &request, &nnv_session_execution_config, &e);
    if (st == NNVTS_STATUS_NONE && e) e->release(e);
    if (nnv_exec_refused(x, "create_execution of a request without outputs", st, &x->values))
        nnv_exec_run(x, x->prepared, NNV_EXEC_REUSABLE, &x->values, NULL, NULL);
}

static const struct nnv_exec_case cases[] = {
    {.name = "often", .run = often},       {.name = "deadlines", .run = deadlines}, {.name = "several", .run = several},
    {.name = "borrowed", .run = borrowed}, {.name = "refused", .run = refused},
};
const struct nnv_exec_group nnv_exec_reusable = NNV_EXEC_GROUP("reusable", cases);
