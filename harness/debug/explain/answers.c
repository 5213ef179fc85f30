/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/debug/explain/answers.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "harness/client/run.h"
#include "harness/runner/ask.h"

/** What the process tells. The values of all answers follow, each of the outputs' bytes one behind the other. */
struct told {
    _Atomic int count; /* answers that are complete */
    char reason[512];
};

static size_t bytes_of(const struct nnv_spec *spec) {
    size_t bytes = 0;
    for (uint32_t i = 0; i < spec->model.main.nout; i++) bytes += spec->outputs[i].bytes;
    return bytes;
}

/* -------------------------------------------------------- in the new process */

static enum nnv_status answer(struct nnv_answering *in, struct nnv_err *err) {
    const struct nnv_spec *spec = in->context;
    struct told *told = in->shared;
    struct nnv_outcome outcome;
    const size_t bytes = bytes_of(spec);
    uint8_t *to = (uint8_t *)(told + 1);
    (void)err;
    for (int i = 0; i < NNV_ANSWERS; i++, to += bytes) {
        memset(&outcome, 0, sizeof outcome);
        nnv_client_run(in->client, spec, in->arena, in->phase, &outcome);
        if (outcome.kind != NNV_OUTCOME_DONE) {
            snprintf(told->reason, sizeof told->reason, "%s", outcome.reason);
            break;
        }
        uint8_t *at = to;
        for (uint32_t o = 0; o < spec->model.main.nout; at += spec->outputs[o++].bytes)
            if (spec->outputs[o].bytes) memcpy(at, outcome.outputs[o].data, spec->outputs[o].bytes);
        atomic_store(&told->count, i + 1);
        nnv_arena_reset(in->arena);
    }
    return NNV_OK;
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

enum nnv_status nnv_answers_ask(const struct nnv_run_config *config, const struct nnv_spec *spec,
                                struct nnv_arena *arena, struct nnv_explain_answers *answers, struct nnv_err *err) {
    size_t bytes = bytes_of(spec), room;
    *answers = (struct nnv_explain_answers){0};
    if (__builtin_mul_overflow(bytes, (size_t)NNV_ANSWERS, &room) || room > SIZE_MAX / 2)
        return nnv_fail(err, NNV_INVALID, "the outputs are too large");
    struct nnv_ask ask = {.answer = answer,
                          .context = (void *)spec,
                          .bytes = sizeof(struct told) + room,
                          .driver = config->driver_path,
                          .driver_options = config->driver_options,
                          .timeout_ns = config->timeout_ns};
    enum nnv_status st = nnv_ask(&ask, err);
    if (st == NNV_OK) {
        struct told *told = ask.shared;
        told->reason[sizeof told->reason - 1] = '\0';
        if (ask.complete)
            snprintf(answers->reason, sizeof answers->reason, "%s", told->reason);
        else
            snprintf(answers->reason, sizeof answers->reason, "the driver %s", ask.how);
        st = take(told, spec, bytes, arena, answers, err);
    }
    nnv_ask_free(&ask);
    return st;
}
