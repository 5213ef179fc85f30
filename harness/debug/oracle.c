/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/debug/oracle.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#include "base/clock.h"
#include "harness/client/run.h"
#include "harness/debug/check.h"
#include "harness/journal/line.h"
#include "harness/runner/ask.h"

/** What the process tells. A driver may have written over it: the supervisor believes no pointer and no length. */
struct answer {
    struct nnv_opinion opinion;
    unsigned char values[]; /* outputs, one behind the other */
};

/** What is asked. */
struct question {
    const struct nnv_oracle *o;
    const struct nnv_spec *spec;
    bool judged;
};

bool nnv_is_bad(enum nnvts_verdict verdict) {
    return verdict == NNVTS_FAIL || verdict == NNVTS_UNTRUSTED || verdict == NNVTS_CRASH || verdict == NNVTS_TIMEOUT;
}

/* ----------------------------------------------------------------- the opinion */

static void read_output(const json_t *o, struct nnv_opinion *opinion) {
    json_int_t index = json_integer_value(json_object_get(o, "index"));
    const json_t *worst = json_object_get(o, "worst");
    if (index < 0 || index >= NNV_OPINION_OUTPUTS) return;
    struct nnv_output_opinion *out = &opinion->output[index];
    out->compared = (size_t)json_integer_value(json_object_get(o, "compared"));
    out->wrong = (size_t)json_integer_value(json_object_get(o, "wrong"));
    out->ratio = nnv_json_real(worst, "ratio");
    out->error = nnv_json_real(worst, "error");
    out->not_finite = isfinite(nnv_json_real(worst, "expected")) != isfinite(nnv_json_real(worst, "actual"));
}

static void read_result(const struct nnv_result *r, struct nnv_opinion *opinion) {
    opinion->verdict = (enum nnvts_verdict)r->verdict;
    snprintf(opinion->reason, sizeof opinion->reason, "%s", r->reason.data ? r->reason.data : "");
    json_t *outputs = r->outputs.data ? json_loads(r->outputs.data, 0, NULL) : NULL, *o;
    size_t i;
    opinion->has_outputs = outputs != NULL;
    json_array_foreach(outputs, i, o) read_output(o, opinion);
    json_decref(outputs);
}

void nnv_oracle_compare(const struct nnv_spec *spec, enum nnv_precision precision, struct nnv_value *outputs,
                        struct nnv_arena *arena, struct nnv_opinion *opinion) {
    struct nnv_case_env env = {.arena = arena};
    struct nnv_result r = {.verdict = NNVTS_ERROR};
    memset(opinion, 0, sizeof *opinion);
    nnv_judge_answer(&env, spec, precision, outputs, &r);
    read_result(&r, opinion);
    nnv_text_free(&r.reason);
    nnv_text_free(&r.outputs);
}

/* -------------------------------------------------------- in the new process */

static void judge(const struct nnv_oracle *o, const struct nnv_spec *spec, struct nnv_case_env *env, struct answer *a) {
    struct nnv_result r = {.verdict = NNVTS_ERROR};
    nnv_judge(env, spec, 0, o->precision, &r);
    read_result(&r, &a->opinion);
}

static void run(const struct nnv_spec *spec, struct nnv_case_env *env, struct answer *a) {
    struct nnv_outcome out = {0};
    size_t at = 0;
    nnv_client_run(env->client, spec, env->arena, env->phase, &out);
    snprintf(a->opinion.reason, sizeof a->opinion.reason, "%s", out.reason);
    a->opinion.verdict = out.kind == NNV_OUTCOME_DONE          ? NNVTS_PASS
                         : out.kind == NNV_OUTCOME_UNSUPPORTED ? NNVTS_UNSUPPORTED
                         : out.kind == NNV_OUTCOME_HARNESS     ? NNVTS_ERROR
                                                               : NNVTS_FAIL;
    for (uint32_t i = 0; out.kind == NNV_OUTCOME_DONE && i < spec->model.main.nout; i++) {
        size_t bytes = spec->outputs[i].bytes;
        if (bytes && out.outputs[i].bytes == bytes) memcpy(a->values + at, out.outputs[i].data, bytes);
        at += bytes;
    }
}

static enum nnv_status answer(struct nnv_answering *in, struct nnv_err *err) {
    const struct question *q = in->context;
    struct nnv_case_env env = {.client = in->client, .arena = in->arena, .phase = in->phase};
    (void)err;
    *in->phase = NNV_PHASE_BUILD;
    if (q->judged)
        judge(q->o, q->spec, &env, in->shared);
    else
        run(q->spec, &env, in->shared);
    return NNV_OK;
}

/* --------------------------------------------------------- in the supervisor */

static void set_end(const struct nnv_ask *a, struct nnv_opinion *opinion) {
    const bool own = a->phase == NNV_PHASE_BUILD || a->phase == NNV_PHASE_CHECK;
    *opinion = (struct nnv_opinion){.phase = a->phase};
    opinion->verdict = own ? NNVTS_ERROR : a->end.timed_out ? NNVTS_TIMEOUT : NNVTS_CRASH;
    opinion->signal = !a->end.timed_out && a->end.code != CLD_EXITED ? a->end.status : 0;
    snprintf(opinion->reason, sizeof opinion->reason, "%s %s", own ? "nnvts" : "the driver", a->how);
}

/** Asks; a is to be freed. values: bytes of the outputs. */
static enum nnv_status ask(struct question *q, size_t values, struct nnv_ask *a, struct nnv_opinion *opinion,
                           struct nnv_err *err) {
    *a = (struct nnv_ask){.answer = answer,
                          .context = q,
                          .bytes = sizeof(struct answer) + values,
                          .driver = q->o->path,
                          .driver_options = q->o->options,
                          .timeout_ns = q->o->timeout_ns};
    const uint64_t start = nnv_now_ns();
    enum nnv_status st = nnv_ask(a, err);
    if (st != NNV_OK) return st;
    if (a->complete) {
        *opinion = ((const struct answer *)a->shared)->opinion;
        opinion->reason[NNV_OPINION_REASON - 1] = '\0';
    } else {
        set_end(a, opinion);
    }
    opinion->ns = nnv_now_ns() - start;
    return NNV_OK;
}

enum nnv_status nnv_oracle_judge(const struct nnv_oracle *o, const struct nnv_spec *spec, struct nnv_opinion *opinion,
                                 struct nnv_err *err) {
    if (o->check) return nnv_check_judge(o->check, spec, o->timeout_ns, opinion, err);
    struct question q = {o, spec, true};
    struct nnv_ask a;
    enum nnv_status st = ask(&q, 0, &a, opinion, err);
    nnv_ask_free(&a);
    return st;
}

enum nnv_status nnv_oracle_run(const struct nnv_oracle *o, const struct nnv_spec *spec, struct nnv_arena *arena,
                               struct nnv_value **outputs, struct nnv_opinion *opinion, struct nnv_err *err) {
    if (o->check) {
        *opinion = (struct nnv_opinion){.verdict = NNVTS_UNSUPPORTED, .reason = "a check gives no values"};
        return NNV_OK;
    }
    struct question q = {o, spec, false};
    struct nnv_ask a;
    uint32_t n = spec->model.main.nout;
    size_t size = sizeof(struct answer), at = 0;
    for (uint32_t i = 0; i < n; i++)
        if (__builtin_add_overflow(size, spec->outputs[i].bytes, &size))
            return nnv_fail(err, NNV_INVALID, "the outputs take too much memory");
    struct nnv_value *v = NNV_NEW(arena, struct nnv_value, n);
    if (!v) return nnv_no_memory(err);
    enum nnv_status st = ask(&q, size - sizeof(struct answer), &a, opinion, err);
    const struct answer *told = a.shared;
    for (uint32_t i = 0; i < n && st == NNV_OK; i++) {
        v[i] = spec->outputs[i];
        v[i].data = nnv_arena_copy(arena, told->values + at, v[i].bytes);
        if (!v[i].data) st = nnv_no_memory(err);
        at += v[i].bytes;
    }
    nnv_ask_free(&a);
    if (st == NNV_OK) *outputs = v;
    return st;
}
