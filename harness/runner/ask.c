/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/runner/ask.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "harness/client/restore.h"
#include "harness/runner/worker/channel.h"

/** What the process and its parent share. */
struct nnv_told {
    _Atomic uint32_t answered, opened, progress;
    volatile uint32_t phase;
    enum nnv_status status;
    struct nnv_err err;
    _Alignas(64) unsigned char answer[];
};

static const uint64_t TICK_NS = 20000000;

/* -------------------------------------------------------- in the new process */

static enum nnv_status answer(const struct nnv_ask *a, struct nnv_answering *in, struct nnv_err *err) {
    if (!in->arena) return nnv_no_memory(err);
    if (!a->driver) return a->answer(in, err);
    *in->phase = NNV_PHASE_OPEN;
    enum nnv_status st = nnv_client_open(in->client, a->driver, a->driver_options, err);
    *in->phase = NNV_PHASE_NONE;
    atomic_store(&a->told->opened, 1);
    return st == NNV_OK ? a->answer(in, err) : st;
}

static _Noreturn void answer_and_exit(const struct nnv_ask *a) {
    struct nnv_client client = {0};
    nnv_restore_thread();
    if (!a->keep_streams) nnv_process_sandbox(a->log > 0 ? a->log : -1);
    struct nnv_answering in = {.context = a->context,
                               .shared = a->told->answer,
                               .client = &client,
                               .arena = nnv_arena_new(),
                               .phase = &a->told->phase,
                               .answered = &a->told->answered,
                               .progress = &a->told->progress};
    a->told->status = answer(a, &in, &a->told->err);
    atomic_store(&a->told->answered, 1);
    _exit(0);
}

/* ------------------------------------------------------------ in this process */

uint64_t nnv_opening_ns(uint64_t timeout_ns, uint64_t least_ns) {
    const uint64_t least = least_ns ? least_ns : 10000000000;
    return timeout_ns > least ? timeout_ns : least;
}

enum nnv_status nnv_ask_start(struct nnv_ask *a, struct nnv_err *err) {
    size_t size;
    if (__builtin_add_overflow(sizeof *a->told, a->bytes, &size) || !(a->told = nnv_shared_new(size)))
        return nnv_no_memory(err);
    a->shared = a->told->answer;
    a->since_ns = nnv_now_ns();
    a->opening = a->driver != NULL;
    pid_t pid = nnv_process_fork();
    if (pid == 0) answer_and_exit(a);
    nnv_shared_inherit(a->told, size, false);
    if (pid < 0) return nnv_fail(err, NNV_IO, "cannot start a process: %s", strerror(errno));
    a->pid = pid;
    return NNV_OK;
}

/** What the process told before it ended. */
static void take_end(struct nnv_ask *a) {
    char how[64];
    const uint32_t phase = a->told->phase;
    a->pid = 0;
    a->phase = phase < NNV_PHASE_COUNT ? (enum nnv_phase)phase : NNV_PHASE_NONE;
    a->complete = atomic_load(&a->told->answered) == 1;
    snprintf(a->how, sizeof a->how, "%s%s%s", nnv_end_text(&a->end, how), a->phase != NNV_PHASE_NONE ? " in " : "",
             a->phase != NNV_PHASE_NONE ? nnv_phase_name(a->phase) : "");
}

static void kill_late(struct nnv_ask *a, uint64_t limit_ns) {
    nnv_process_wait(a->pid, 0, &a->end);
    a->end.timeout_ns = limit_ns;
    take_end(a);
}

bool nnv_ask_ended(struct nnv_ask *a) {
    if (a->pid == 0) return true;
    if (nnv_process_ended(a->pid, &a->end)) {
        take_end(a);
        return true;
    }
    const uint64_t now = nnv_now_ns();
    if (a->opening && atomic_load(&a->told->opened)) {
        a->opening = false;
        a->since_ns = now;
    }
    const uint32_t progress = atomic_load(&a->told->progress);
    if (progress != a->progress) a->since_ns = now;
    a->progress = progress;
    const uint64_t limit = !a->opening || a->timeout_ns == 0 ? a->timeout_ns
                           : a->opening_ns                   ? a->opening_ns
                                                             : nnv_opening_ns(a->timeout_ns, 0);
    if (limit == 0 || now - a->since_ns < limit) return false;
    kill_late(a, limit);
    return true;
}

void nnv_ask_stop(struct nnv_ask *a, uint64_t timeout_ns) {
    if (a->pid == 0) return;
    nnv_process_wait(a->pid, timeout_ns, &a->end);
    take_end(a);
}

enum nnv_status nnv_ask_status(const struct nnv_ask *a, struct nnv_err *err) {
    if (!a->complete || a->told->status == NNV_OK) return NNV_OK;
    const bool known = a->told->status > NNV_OK && a->told->status <= NNV_TIMEOUT;
    return nnv_fail(err, known ? a->told->status : NNV_INTERNAL, "%.*s", NNV_ERR_TEXT - 1, a->told->err.text);
}

void nnv_ask_renew(struct nnv_ask *a) { a->since_ns = nnv_now_ns(); }

enum nnv_status nnv_ask_wait(struct nnv_ask *a, struct nnv_err *err) {
    uint64_t looked_ns = 0;
    struct nnv_pause pause = nnv_process_pause_begin(a->pid);
    while (!nnv_ask_ended(a)) {
        nnv_process_pause(&pause);
        const uint64_t now = nnv_now_ns();
        if (!a->waiting || now - looked_ns < TICK_NS) continue;
        looked_ns = now;
        a->waiting(a->context, a->shared);
    }
    nnv_process_pause_end(&pause);
    return nnv_ask_status(a, err);
}

enum nnv_status nnv_ask(struct nnv_ask *a, struct nnv_err *err) {
    enum nnv_status st = nnv_ask_start(a, err);
    return st == NNV_OK ? nnv_ask_wait(a, err) : st;
}

enum nnv_status nnv_ask_on(const struct nnv_ask *q, int processes, void (*keep)(void *context, const void *shared),
                           struct nnv_err *err) {
    enum nnv_status st = NNV_OK;
    bool complete = false;
    for (int i = 0; i < processes && st == NNV_OK && !complete; i++) {
        struct nnv_ask ask = *q;
        st = nnv_ask(&ask, err);
        if (st == NNV_OK) keep(ask.context, ask.shared);
        complete = ask.complete;
        nnv_ask_free(&ask);
    }
    return st;
}

void nnv_ask_free(struct nnv_ask *a) {
    nnv_ask_stop(a, 0);
    if (a->told) nnv_shared_free(a->told, sizeof *a->told + a->bytes);
    a->told = NULL;
    a->shared = NULL;
}
