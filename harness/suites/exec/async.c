/* SPDX-License-Identifier: Apache-2.0 */
/** @file async.c Asynchronous executions: one callback each, when the values are there, and none without a launch. */
#include <string.h>

#include "harness/suites/exec/exec.h"

static void one(struct nnv_exec *x) {
    if (!nnv_context_needs(x->s, x->prepared, NNV_MODE_ASYNC)) return;
    for (int i = 0; i < 3; i++)
        if (!nnv_exec_run(x, x->prepared, NNV_MODE_ASYNC, &x->values, NULL)) return;
}

static void in_flight(struct nnv_exec *x) {
    enum { COUNT = 8 };
    struct nnv_fixture fixtures[COUNT];
    struct nnv_request values[COUNT];
    struct nnv_exec_run runs[COUNT];
    uint32_t launched = 0;
    if (!nnv_context_needs(x->s, x->prepared, NNV_MODE_ASYNC) ||
        !nnv_exec_variants(x, NNV_POOL_READ_ONLY, COUNT, fixtures, values))
        return;
    bool ok = true;
    while (launched < COUNT && ok &&
           nnv_exec_make(x, &runs[launched], x->prepared, NNV_MODE_ASYNC, &values[launched], NULL)) {
        ok = nnv_exec_launch(x, &runs[launched]);
        launched += runs[launched].x.launched;
    }
    while (launched-- > 0) nnv_exec_finish(x, &runs[launched]);
}

/** The launch borrows the request's structs for the call alone. */
static void borrowed(struct nnv_exec *x) {
    struct nnv_request *v = &x->values;
    struct nnv_exec_loan loan;
    struct nnv_exec_run run;
    if (!nnv_context_needs(x->s, x->prepared, NNV_MODE_ASYNC) ||
        !nnv_exec_make(x, &run, x->prepared, NNV_MODE_ASYNC, v, NULL))
        return;
    nnv_exec_lend(&loan, v, &run);
    const bool launched = nnv_exec_launch(x, &run);
    nnv_exec_take_back(&loan);
    run.x.config = (struct nnvts_execution_config){0};
    if (launched)
        nnv_exec_finish(x, &run);
    else
        nnv_exec_drop(x, &run);
}

/** A request that breaks a rule is refused at the launch, or, once, in the callback; never both. */
static void refused(struct nnv_exec *x) {
    struct nnvts_request request = x->values.abi;
    struct nnv_exec_run run;
    if (!nnv_context_needs(x->s, x->prepared, NNV_MODE_ASYNC) ||
        !nnv_exec_make(x, &run, x->prepared, NNV_MODE_ASYNC, &x->values, NULL))
        return;
    request.input_count--;
    run.x.request = &request;
    if (!nnv_exec_try_launch(x, &run)) {
        nnv_exec_drop(x, &run);
        return;
    }
    const bool launched = run.x.launched;
    if (launched && !nnv_context_wait(x->s, &run.x)) return;
    const uint32_t calls = nnv_execution_callbacks(&run.x);
    if (launched)
        nnv_expect(x->s, calls == 1, "the callback of one execution came %u times, it must come once", calls);
    else
        nnv_expect(x->s, calls == 0, "execute_async refused the launch; its callback must not come, it came %u times",
                   calls);
    if (nnv_exec_refused(x, "execute_async without its last input", run.x.status, &x->values)) one(x);
}

static const struct nnv_exec_case cases[] = {
    {.name = "one", .run = one},
    {.name = "in_flight", .run = in_flight},
    {.name = "borrowed", .run = borrowed},
    {.name = "refused", .run = refused},
};
const struct nnv_exec_group nnv_exec_async = NNV_EXEC_GROUP("async", cases);
