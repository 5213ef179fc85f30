/* SPDX-License-Identifier: Apache-2.0 */
/** @file killed.c A second client of the driver's process is killed while it executes. */
#include <inttypes.h>
#include <stdatomic.h>
#include <time.h>

#include "base/clock.h"
#include "harness/runner/ask.h"
#include "harness/suites/isolation/isolation.h"
#include "nnvts/result.h"

enum { BESIDE = 5, AFTER = 5, BUSY = 3, MS = 1000000 };
static const uint64_t START_NS = 4000000000, SETTLE_NS = 1000000000;

/** What the second client tells in shared memory. */
struct progress {
    _Atomic uint32_t executions;
};

/** Whose second client it is. */
struct beside {
    struct nnv_context *s;
    const struct nnv_fixture_kind *kind;
};

/** The second client: executes until it is killed. Ends by itself only if the driver fails it. */
static enum nnv_status second_client(struct nnv_answering *in, struct nnv_err *err) {
    static const int64_t tokens[] = {1, 2};
    const struct beside *b = in->context;
    struct progress *p = in->shared;
    struct nnv_tenant t;
    const uint64_t seed = b->s->env->config->seed + 1;
    if (!nnv_tenant_open(b->s, &t) || !nnv_tenant_prepare(&t, b->kind, seed))
        return nnv_fail(err, NNV_UNSUPPORTED, "not served");
    struct nnv_execution plain = nnv_execution_make(NNV_MODE_SYNC, t.prepared, &t.values);
    struct nnv_execution burst = nnv_execution_make(NNV_MODE_BURST, t.prepared, &t.values);
    const bool bursts = nnv_mode_offered(t.prepared, NNV_MODE_BURST);
    burst.tokens = tokens;
    for (uint32_t i = 0;; i++) {
        struct nnv_execution *x = bursts && i % 2 ? &burst : &plain;
        nnv_request_reset(&t.values);
        if (!nnv_execute(x) || x->status != NNVTS_STATUS_NONE) return nnv_fail(err, NNV_UNSUPPORTED, "not served");
        atomic_fetch_add(&p->executions, 1);
    }
}

/** Until the second client has executed some; false if it has ended, or does not come so far. */
static bool wait_until_busy(struct nnv_ask *a) {
    const struct progress *p = a->shared;
    const uint64_t end = nnv_now_ns() + START_NS;
    while (atomic_load(&p->executions) < BUSY && nnv_now_ns() < end && !nnv_ask_ended(a))
        nanosleep(&(struct timespec){0, MS}, NULL);
    return a->pid != 0 && atomic_load(&p->executions) >= BUSY;
}

static void kill_beside(struct nnv_context *s, struct nnv_tenant *t, const struct nnv_fixture_kind *kind) {
    struct beside beside = {s, kind};
    struct nnv_ask ask = {
        .answer = second_client, .context = &beside, .bytes = sizeof(struct progress), .keep_streams = true};
    struct nnv_err err = {0};
    bool right = true;
    nnv_context_enter(s, NNV_PHASE_EXECUTE);
    if (nnv_ask_start(&ask, &err) != NNV_OK) {
        nnv_ask_free(&ask);
        nnv_context_error(s, "%s", err.text);
        return;
    }
    bool busy = wait_until_busy(&ask);
    for (int i = 0; i < BESIDE && right; i++) right = nnv_tenant_execute(t);
    nnv_ask_free(&ask);
    if (!nnv_expect(s, busy, "a second client of the driver's process must be served beside the first") || !right)
        return;
    for (int i = 0; i < AFTER && right; i++) right = nnv_tenant_execute(t);
    if (!right) nnv_expect(s, false, "a client that was killed must take nothing with it that another needs");
}

static void expect_no_more(struct nnv_context *s, const struct nnv_resources *before) {
    struct nnv_resources after;
    if (!nnv_resources_settle(before, SETTLE_NS, &after)) return;
    nnv_expect(s, after.descriptors <= before->descriptors,
               "%" PRIu32 " descriptors before, %" PRIu32 " after a client was killed; what it had must be closed",
               before->descriptors, after.descriptors);
    nnv_expect(s, after.threads <= before->threads,
               "%" PRIu32 " threads before, %" PRIu32 " after a client was killed; what served it must end",
               before->threads, after.threads);
}

void nnv_isolation_client_killed(struct nnv_context *s, const struct nnv_fixture_kind *kind) {
    struct nnv_tenant t = {0};
    struct nnv_resources before;
    if (!nnv_resources_count(&before) || before.processes < 2) {
        nnv_context_decline(s, NNVTS_WHY_NOT_APPLICABLE,
                            "the driver lives in the process of its client: none can be killed alone");
        return;
    }
    if (nnv_tenant_open(s, &t) && nnv_tenant_prepare(&t, kind, s->env->config->seed) && nnv_tenant_execute(&t) &&
        nnv_resources_count(&before)) {
        kill_beside(s, &t, kind);
        if (s->result->verdict == NNVTS_PASS) expect_no_more(s, &before);
    }
    nnv_tenant_leave(&t);
}
