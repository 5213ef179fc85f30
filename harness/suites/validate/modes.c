/* SPDX-License-Identifier: Apache-2.0 */
/** @file modes.c A request that must be refused, in every mode of execution that the driver has. */
#include <stdio.h>

#include "harness/suites/validate/validate.h"

/** One refusal that is expected. */
struct refusal {
    struct nnv_context *s;
    const struct nnv_request_mutation *m;
    struct nnv_request *v;
    struct nnv_execution x;
    uint32_t statuses;
};

static bool expect_status(const struct refusal *r, const char *call, enum nnvts_status st, uint32_t wanted) {
    char text[256];
    snprintf(text, sizeof text, "%s of a request that breaks a rule (%s)", call, r->m->row->rule);
    return nnv_expect_status_in(r->s, text, st, wanted);
}

/** The answer of the execution itself; what it says of the outputs must fit it. */
static bool expect_answer(const struct refusal *r) {
    struct nnv_breach b = {0};
    const enum nnvts_status st = r->x.status;
    const bool ok = expect_status(r, r->x.call, st, r->statuses);
    if (st != NNVTS_STATUS_NONE) nnv_verify_shapes(r->v, st, &b);
    return nnv_expect_kept(r->s, r->x.call, &b, st != NNVTS_STATUS_NONE) && ok;
}

/** What launches or creates an execution: it is refused, or it is too early to tell, and it is not. */
static bool expect_launch(const struct refusal *r, bool launched) {
    const struct nnv_request_mutator *row = r->m->row;
    const bool late = row->late || (row->omits && nnv_device_limits(r->s->device) & NNVTS_LIMIT_LATE_OMISSIONS);
    const enum nnvts_status st = launched ? NNVTS_STATUS_NONE : r->x.status;
    const bool ok = expect_status(r, r->x.call, st, r->statuses | (late ? NNV_ST_NONE : 0));
    return nnv_expect_kept(r->s, r->x.call, &r->x.breach, launched && r->x.mode != NNV_MODE_ASYNC) && ok;
}

static bool await_callback(struct refusal *r) {
    const bool called = nnv_execution_wait(&r->x);
    if (r->x.breach.kind == NNV_BREACH_CALLBACK)
        r->s->result->worker_damaged = true; /* it may still be at work on memory that goes away */
    return nnv_expect_kept(r->s, r->x.call, &r->x.breach, 1) && called &&
           nnv_expect_status_in(r->s, r->x.call, r->x.status, r->statuses);
}

static bool await_fence(struct refusal *r) {
    const bool ended = nnv_execution_wait(&r->x);
    return nnv_expect(r->s, !ended || r->x.status != NNVTS_STATUS_NONE || r->statuses & NNV_ST_NONE,
                      "execute_fenced succeeded with a request that breaks a rule (%s)", r->m->row->rule);
}

static bool refuse(struct refusal *r) {
    bool ok = true;
    if (r->x.mode == NNV_MODE_BURST && !nnv_context_open(r->s, &r->x)) return false;
    if (r->x.mode == NNV_MODE_REUSABLE) {
        ok = expect_launch(r, nnv_execution_open(&r->x));
        if (!r->x.open) return ok;
    }
    const bool launched = nnv_execution_launch(&r->x);
    if (r->x.mode == NNV_MODE_ASYNC || r->x.mode == NNV_MODE_FENCED) {
        ok = expect_launch(r, launched);
        if (!launched) return ok;
        return (r->x.mode == NNV_MODE_ASYNC ? await_callback(r) : await_fence(r)) && ok;
    }
    nnv_execution_wait(&r->x);
    return expect_answer(r) && ok;
}

bool nnv_request_refused(struct nnv_context *s, struct nnvts_prepared_model *prepared,
                         const struct nnv_request_mutation *m, struct nnv_request *v) {
    static const uint64_t patience_ns = 2000000000;
    const struct nnv_request_mutator *row = m->row;
    const struct nnv_value *in = v->in;
    bool ok = true;
    if (m->in) nnv_request_fill(v, m->in);
    for (int i = 0; i < NNV_MODES && !s->result->worker_damaged; i++) {
        const enum nnv_mode mode = (enum nnv_mode)i;
        if ((row->modes && !(row->modes & 1u << mode)) || !nnv_mode_offered(prepared, mode)) continue;
        struct refusal r = {.s = s, .m = m, .v = v, .x = nnv_execution_make(mode, prepared, v)};
        r.statuses = mode == NNV_MODE_FENCED && row->fenced ? row->fenced
                     : row->statuses                        ? row->statuses
                                                            : NNV_ST_INVALID;
        if (nnv_is_late(s)) r.statuses |= NNV_ST_FAILURE;
        /* Below level 3 an output of unknown size is what is wrong. */
        if (s->device->feature_level < 3 && r.statuses & NNV_ST_TOO_SMALL) r.statuses |= NNV_ST_INVALID;
        if (m->fails) r.statuses &= NNV_ST_INVALID | NNV_ST_FAILURE;
        r.x.request = &m->request;
        r.x.tokens = m->no_tokens ? NULL : m->tokens;
        r.x.wait_for = m->wait_for;
        r.x.wait_for_count = m->wait_for_count;
        r.x.patience_ns = patience_ns;
        nnv_request_reset(v);
        nnv_context_enter(s, NNV_PHASE_EXECUTE);
        ok = refuse(&r) && ok;
        const char *const call = r.x.call;
        nnv_context_close(s, &r.x);
        nnv_context_enter(s, NNV_PHASE_CHECK);
        ok = nnv_context_check_memory(s, call, v) && ok;
    }
    if (m->in) nnv_request_fill(v, in);
    return ok;
}
