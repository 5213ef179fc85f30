/* SPDX-License-Identifier: Apache-2.0 */
/** @file exec_fence.c Fences, and one fenced execution from its launch to its end. */
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/clock.h"
#include "harness/suites/exec/exec.h"

bool nnv_exec_fence_make(struct nnv_exec *x, enum nnv_exec_fence_kind kind, struct nnv_exec_fence *fence) {
    int ends[2];
    *fence = (struct nnv_exec_fence){-1, -1};
    switch (kind) {
    case NNV_EXEC_EVENT:
        fence->wait = fence->signal = eventfd(0, EFD_CLOEXEC);
        break;
    case NNV_EXEC_BROKEN: /* the writing end of a pipe reports an error when the reading end is closed */
        if (pipe(ends) == 0) *fence = (struct nnv_exec_fence){.wait = ends[1], .signal = ends[0]};
        break;
    }
    return fence->wait >= 0 || nnv_session_error(x->s, "no fence: %s", strerror(errno));
}

void nnv_exec_fence_signal(struct nnv_exec_fence *fence) {
    if (fence->wait == fence->signal) {
        eventfd_write(fence->signal, 1);
        return;
    }
    close(fence->signal);
    fence->signal = -1;
}

void nnv_exec_fence_free(struct nnv_exec_fence *fence) {
    if (fence->signal >= 0 && fence->signal != fence->wait) close(fence->signal);
    if (fence->wait >= 0) close(fence->wait);
    *fence = (struct nnv_exec_fence){-1, -1};
}

/* ------------------------------------------------------------------- launching */

/** The values' request with all extents of the outputs stated. */
struct stated {
    struct nnvts_request request;
    struct nnvts_argument outputs[NNV_SUBJECT_MAX_IO];
};

static void state_outputs(const struct nnv_values *v, struct stated *out) {
    out->request = v->request;
    for (uint32_t i = 0; i < v->request.output_count; i++) {
        const struct nnv_value *value = v->subject->expected[i].value;
        out->outputs[i] = v->outputs[i];
        out->outputs[i].dimension_count = value->rank;
        out->outputs[i].dimensions = value->dims;
    }
    out->request.outputs = out->outputs;
}

bool nnv_exec_fenced_launch(struct nnv_exec *x, struct nnv_exec_fenced_run *run, enum nnvts_status *status) {
    struct stated stated;
    nnv_values_reset(run->v);
    state_outputs(run->v, &stated);
    run->out = (struct nnvts_fenced_execution){.sync_fence = -1};
    run->launched_ns = nnv_now_ns();
    nnv_session_enter(x->s, NNV_PHASE_EXECUTE);
    *status = run->prepared->execute_fenced(run->prepared, &stated.request, run->wait_for, run->wait_for_count,
                                            run->config ? run->config : &nnv_session_execution_config, run->duration_ns,
                                            &run->out);
    if (*status != NNVTS_STATUS_NONE) return true;
    return nnv_expect(x->s, run->out.get_result && run->out.release && run->out.sync_fence >= -1,
                      "execute_fenced answered NONE without get_result, release and a sync_fence (or -1)");
}

bool nnv_exec_fenced_start(struct nnv_exec *x, struct nnv_exec_fenced_run *run) {
    enum nnvts_status st;
    return nnv_exec_fenced_launch(x, run, &st) && nnv_expect_status(x->s, "execute_fenced", st, NNVTS_STATUS_NONE);
}

/* ---------------------------------------------------------------------- ending */

/** What the sync_fence reports; POLLIN where there is none. Waits for timeout_ms, below 0 without limit. */
static short poll_fence(const struct nnv_exec_fenced_run *run, int timeout_ms) {
    struct pollfd p = {.fd = run->out.sync_fence, .events = POLLIN};
    if (p.fd < 0) return POLLIN;
    while (poll(&p, 1, timeout_ms) < 0 && errno == EINTR) continue;
    return p.revents;
}

bool nnv_exec_fenced_done(const struct nnv_exec_fenced_run *run) { return poll_fence(run, 0) != 0; }

/** The fence's result has no shapes: those that the launch stated hold. */
static void state_shapes(struct nnv_values *v) {
    v->result.shape_count = v->request.output_count;
    for (uint32_t i = 0; i < v->request.output_count; i++) {
        const struct nnv_value *value = v->subject->expected[i].value;
        struct nnvts_output_shape *s = &v->result.shapes[i];
        s->is_sufficient = true;
        s->dimension_count = value->rank;
        memcpy(s->dimensions, value->dims, value->rank * sizeof *value->dims);
    }
}

static void release(struct nnv_exec *x, struct nnv_exec_fenced_run *run) {
    if (x->s->result->worker_damaged) return;
    nnv_session_enter(x->s, NNV_PHASE_RELEASE);
    run->out.release(run->out.context);
}

bool nnv_exec_fenced_finish(struct nnv_exec *x, struct nnv_exec_fenced_run *run, struct nnv_exec_times *times) {
    const char *const call = "a fenced execution";
    const bool asked = run->config && run->config->measure_timing;
    struct nnvts_fenced_result r = {.status = (enum nnvts_status) - 1};
    nnv_session_enter(x->s, NNV_PHASE_EXECUTE);
    const short events = poll_fence(run, -1);
    const uint64_t signalled = nnv_now_ns();
    state_shapes(run->v); /* values are there when the fence has signalled, not later */
    bool ok = nnv_expect(x->s, (events & POLLIN) && !(events & (POLLERR | POLLNVAL)),
                         "the sync_fence of an execution that has no reason to fail reports an error (poll: 0x%x)",
                         (unsigned)events) &&
              nnv_session_check_values(x->s, call, NNVTS_STATUS_NONE, run->v);
    if (ok) {
        nnv_session_enter(x->s, NNV_PHASE_EXECUTE);
        ok = nnv_expect_status(x->s, "get_result", run->out.get_result(run->out.context, &r), NNVTS_STATUS_NONE) &&
             nnv_expect_status(x->s, call, r.status, NNVTS_STATUS_NONE);
    }
    if (ok) {
        const uint64_t wall = signalled - run->launched_ns;
        ok = nnv_exec_check_times(x->s, "a fenced execution, from its launch,", asked, &r.launched, wall);
        ok = nnv_exec_check_times(x->s, "a fenced execution, from its fences,", asked, &r.fenced, wall) && ok;
        if (times) *times = (struct nnv_exec_times){r.launched, r.fenced, wall};
    }
    release(x, run);
    return ok;
}

bool nnv_exec_fenced_fails(struct nnv_exec *x, struct nnv_exec_fenced_run *run) {
    struct nnvts_fenced_result r = {.status = NNVTS_STATUS_NONE};
    nnv_session_enter(x->s, NNV_PHASE_EXECUTE);
    poll_fence(run, -1);
    enum nnvts_status st = run->out.get_result(run->out.context, &r);
    bool ok = nnv_session_check_memory(x->s, "a fenced execution", run->v) &&
              nnv_expect(x->s, st != NNVTS_STATUS_NONE || r.status != NNVTS_STATUS_NONE,
                         "a fence to wait for reported an error; the execution must fail, but get_result answered "
                         "NONE and the status NONE");
    release(x, run);
    return ok;
}
