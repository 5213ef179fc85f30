/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/debug/explain/answers.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "harness/client/run.h"
#include "harness/runner/channel.h"
#include "base/process.h"

/** What the process tells. The values of all answers follow, each of the outputs' bytes one behind the other. */
struct told {
    _Atomic int count; /* answers that are complete */
    _Atomic uint32_t stopped;
    enum nnv_status status;
    struct nnv_err err;
    char reason[512];
    volatile uint32_t phase;
};

static size_t bytes_of(const struct nnv_spec *spec) {
    size_t bytes = 0;
    for (uint32_t i = 0; i < spec->model.main.nout; i++) bytes += spec->outputs[i].bytes;
    return bytes;
}

/* -------------------------------------------------------- in the new process */

static void ask(const struct nnv_run_config *config, const struct nnv_spec *spec, size_t bytes, struct told *told) {
    struct nnv_client client = {0};
    struct nnv_outcome outcome;
    struct nnv_arena *arena = nnv_arena_new();
    uint8_t *to = (uint8_t *)(told + 1);
    told->phase = NNV_PHASE_OPEN;
    told->status = arena ? nnv_client_open(&client, config->driver_path, config->driver_options, &told->err)
                         : nnv_no_memory(&told->err);
    for (int i = 0; i < NNV_ANSWERS && told->status == NNV_OK; i++, to += bytes) {
        memset(&outcome, 0, sizeof outcome);
        nnv_client_run(&client, spec, arena, &told->phase, &outcome);
        if (outcome.kind != NNV_OUTCOME_DONE) {
            snprintf(told->reason, sizeof told->reason, "%s", outcome.reason);
            break;
        }
        uint8_t *at = to;
        for (uint32_t o = 0; o < spec->model.main.nout; at += spec->outputs[o++].bytes)
            if (spec->outputs[o].bytes) memcpy(at, outcome.outputs[o].data, spec->outputs[o].bytes);
        atomic_store(&told->count, i + 1);
        nnv_arena_reset(arena);
    }
    atomic_store(&told->stopped, 1);
}

/* ------------------------------------------------------------ in this process */

static enum nnv_status take(const struct told *told, const struct nnv_spec *spec, size_t bytes, struct nnv_arena *arena,
                            struct nnv_explain_answers *answers, struct nnv_err *err) {
    const uint8_t *from = (const uint8_t *)(told + 1);
    int count = atomic_load(&told->count);
    answers->count = count < 0 ? 0 : count > NNV_ANSWERS ? NNV_ANSWERS : count;
    for (int i = 0; i < answers->count; i++, from += bytes) {
        struct nnv_value *v = nnv_arena_copy(arena, spec->outputs, spec->model.main.nout * sizeof *v);
        const uint8_t *at = from;
        bool ok = v != NULL;
        for (uint32_t o = 0; ok && o < spec->model.main.nout; at += v[o++].bytes)
            ok = (v[o].data = nnv_arena_copy(arena, at, v[o].bytes)) != NULL;
        if (!ok) return nnv_no_memory(err);
        answers->outputs[i] = v;
    }
    return NNV_OK;
}

/** Why the process told of fewer answers than it was asked for. An error: it could not open the driver. */
static enum nnv_status conclude(struct told *told, const struct nnv_end *end, struct nnv_explain_answers *answers,
                                struct nnv_err *err) {
    char how[64];
    uint32_t phase = told->phase < NNV_PHASE_COUNT ? told->phase : NNV_PHASE_NONE;
    const char *in = nnv_phase_name((enum nnv_phase)phase);
    told->err.text[NNV_ERR_TEXT - 1] = told->reason[sizeof told->reason - 1] = '\0';
    if (told->status != NNV_OK) return nnv_fail(err, told->status, "%s", told->err.text);
    if (atomic_load(&told->stopped))
        snprintf(answers->reason, sizeof answers->reason, "%s", told->reason);
    else if (end->timed_out)
        snprintf(answers->reason, sizeof answers->reason, "the driver did not end in time, in %s", in);
    else
        snprintf(answers->reason, sizeof answers->reason, "the driver %s, in %s", nnv_end_text(end, how), in);
    return NNV_OK;
}

enum nnv_status nnv_answers_ask(const struct nnv_run_config *config, const struct nnv_spec *spec,
                                struct nnv_arena *arena, struct nnv_explain_answers *answers, struct nnv_err *err) {
    size_t bytes = bytes_of(spec), room;
    *answers = (struct nnv_explain_answers){0};
    if (__builtin_mul_overflow(bytes, (size_t)NNV_ANSWERS, &room) || room > SIZE_MAX / 2)
        return nnv_fail(err, NNV_INVALID, "the outputs are too large");
    room += sizeof(struct told);
    struct told *told = nnv_shared_new(room);
    if (!told) return nnv_fail(err, NNV_NO_MEMORY, "out of memory for the outputs");
    pid_t pid = nnv_process_fork();
    if (pid == 0) {
        nnv_process_sandbox(-1);
        ask(config, spec, bytes, told);
        _exit(0);
    }
    enum nnv_status st = NNV_OK;
    if (pid < 0) {
        st = nnv_fail(err, NNV_IO, "cannot start a process: %s", strerror(errno));
    } else {
        struct nnv_end end;
        nnv_process_wait(pid, config->timeout_ns, &end);
        st = conclude(told, &end, answers, err);
        if (st == NNV_OK) st = take(told, spec, bytes, arena, answers, err);
    }
    nnv_shared_free(told, room);
    return st;
}
