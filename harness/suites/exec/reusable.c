/* SPDX-License-Identifier: Apache-2.0 */
/** @file reusable.c Synchronous executions one after the other, and reusable ones: bound once, executed often. */
#include <string.h>

#include "base/clock.h"
#include "harness/suites/exec/exec.h"

static const uint64_t minute_ns = UINT64_C(60000000000);

/* ----------------------------------------------------------------- synchronous */

static void repeated(struct nnv_exec *x) {
    struct nnv_request first;
    if (!nnv_context_request(x->s, &x->fixture, NNV_POOL_READ_ONLY, &first) ||
        !nnv_context_execute(x->s, x->prepared, &first))
        return;
    for (int i = 0; i < 5; i++)
        if (!nnv_context_execute(x->s, x->prepared, &x->values) ||
            !nnv_exec_same_bits(x, "execute", &x->values, &first))
            return;
}

/** The same request at the same place, with other inputs in its memory each time. */
static void inputs_changed(struct nnv_exec *x) {
    struct nnv_fixture other;
    if (!nnv_exec_variant(x, 1, &other)) return;
    for (int i = 0; i < 6; i++) {
        nnv_context_fill(&x->values, i % 3 == 1 ? &other : &x->fixture);
        if (!nnv_context_execute(x->s, x->prepared, &x->values)) return;
    }
}

/** After a request that is refused, good ones are served as before. */
static void after_refusal(struct nnv_exec *x) {
    struct nnvts_request request = x->values.abi;
    struct nnv_execution e = nnv_execution_make(NNV_MODE_SYNC, x->prepared, &x->values);
    for (int i = 0; i < 3; i++) {
        nnv_request_reset(&x->values);
        request.input_count = i % 2 ? x->values.abi.input_count + 1 : x->values.abi.input_count - 1;
        struct nnvts_argument args[NNV_FIXTURE_MAX_IO + 1] = {0};
        memcpy(args, x->values.inputs, x->values.abi.input_count * sizeof *args);
        args[x->values.abi.input_count] = args[0];
        request.inputs = args;
        e.request = &request;
        if (!nnv_context_run(x->s, &e) ||
            !nnv_exec_refused(x, i % 2 ? "execute with an input too many" : "execute with an input too few", e.status,
                              &x->values) ||
            !nnv_context_execute(x->s, x->prepared, &x->values))
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

/** An execution of the request, open. */
static bool make(struct nnv_exec *x, struct nnv_exec_run *run, struct nnv_request *v) {
    return nnv_exec_make(x, run, x->prepared, NNV_MODE_REUSABLE, v, NULL) && nnv_context_open(x->s, &run->x);
}

static void often(struct nnv_exec *x) {
    struct nnv_fixture other;
    struct nnv_exec_run run;
    bool ok = make(x, &run, &x->values) && nnv_exec_variant(x, 1, &other);
    for (int i = 0; i < 20 && ok; i++) {
        nnv_context_fill(&x->values, i % 3 ? &other : &x->fixture);
        ok = nnv_exec_once(x, &run);
    }
    nnv_exec_end(x, &run);
}

/** One whose time has passed: it gives up, or is done nonetheless; never wrong. */
static bool run_late(struct nnv_exec *x, struct nnv_exec_run *run) {
    run->x.config.deadline_ns = 1;
    nnv_request_reset(&x->values);
    if (!nnv_context_run(x->s, &run->x)) return false;
    const enum nnvts_status st = run->x.status;
    if (st == NNVTS_STATUS_NONE) return nnv_context_check_values(x->s, "a late execution", st, &x->values);
    return nnv_context_check_memory(x->s, "a late execution", &x->values) &&
           nnv_expect_status_in(x->s, "an execution whose deadline has passed", st,
                                1u << NNVTS_STATUS_NONE | 1u << NNVTS_STATUS_MISSED_DEADLINE_TRANSIENT |
                                    1u << NNVTS_STATUS_MISSED_DEADLINE_PERSISTENT);
}

static bool run_by(struct nnv_exec *x, struct nnv_exec_run *run, uint64_t deadline_ns) {
    run->x.config.deadline_ns = deadline_ns;
    return nnv_exec_once(x, run);
}

/** Each execution has its own deadline: none, a far one, one that has passed, and again. */
static void deadlines(struct nnv_exec *x) {
    struct nnv_exec_run run;
    bool ok = make(x, &run, &x->values);
    for (int i = 0; i < 2 && ok; i++)
        ok = run_by(x, &run, NNVTS_NO_TIME) && run_by(x, &run, nnv_now_ns() + minute_ns) && run_late(x, &run);
    if (ok) run_by(x, &run, NNVTS_NO_TIME);
    nnv_exec_end(x, &run);
}

/** Several of one model, in turns, released in another order than made. */
static void several(struct nnv_exec *x) {
    enum { COUNT = 3 };
    static const int order[COUNT] = {1, 0, 2};
    struct nnv_fixture fixtures[COUNT];
    struct nnv_request values[COUNT];
    struct nnv_exec_run runs[COUNT] = {{.v = NULL}};
    bool ok = nnv_context_needs(x->s, x->prepared, NNV_MODE_REUSABLE) &&
              nnv_exec_variants(x, NNV_POOL_READ_ONLY, COUNT, fixtures, values);
    for (int i = 0; i < COUNT && ok; i++) ok = make(x, &runs[i], &values[i]);
    for (int gone = 0; gone < COUNT; gone++) {
        for (int i = gone; i < COUNT && ok; i++) ok = nnv_exec_once(x, &runs[order[i]]);
        ok = ok && nnv_context_execute(x->s, x->prepared, &x->values);
        nnv_exec_end(x, &runs[order[gone]]);
    }
}

/** create_execution borrows the request's structs for the call alone. */
static void borrowed(struct nnv_exec *x) {
    struct nnv_request *v = &x->values;
    struct nnv_exec_loan loan;
    struct nnv_exec_run run;
    nnv_exec_make(x, &run, x->prepared, NNV_MODE_REUSABLE, v, NULL);
    nnv_exec_lend(&loan, v, &run);
    bool ok = nnv_context_open(x->s, &run.x);
    nnv_exec_take_back(&loan);
    for (int i = 0; i < 3 && ok; i++) ok = nnv_exec_once(x, &run);
    nnv_exec_end(x, &run);
}

static void refused(struct nnv_exec *x) {
    struct nnvts_request request = x->values.abi;
    struct nnv_execution e = nnv_execution_make(NNV_MODE_REUSABLE, x->prepared, &x->values);
    if (!nnv_context_needs(x->s, x->prepared, NNV_MODE_REUSABLE)) return;
    request.output_count = 0;
    e.request = &request;
    nnv_request_reset(&x->values);
    nnv_context_enter(x->s, NNV_PHASE_EXECUTE);
    nnv_execution_open(&e);
    const bool refused = nnv_expect_kept(x->s, e.call, &e.breach, 0) &&
                         nnv_exec_refused(x, "create_execution of a request without outputs", e.status, &x->values);
    nnv_context_close(x->s, &e);
    if (refused) nnv_exec_run(x, x->prepared, NNV_MODE_REUSABLE, &x->values, NULL);
}

static const struct nnv_exec_case cases[] = {
    {.name = "often", .run = often},       {.name = "deadlines", .run = deadlines}, {.name = "several", .run = several},
    {.name = "borrowed", .run = borrowed}, {.name = "refused", .run = refused},
};
const struct nnv_exec_group nnv_exec_reusable = NNV_EXEC_GROUP("reusable", cases);
