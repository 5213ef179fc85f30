/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/debug/oracle.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "harness/client/run.h"
#include "harness/runner/channel.h"
#include "base/process.h"

/** What the process tells. A driver may have written over it: the supervisor believes no pointer and no length. */
struct answer {
    _Atomic uint32_t complete;
    volatile uint32_t phase;
    enum nnv_status status; /* of opening */
    struct nnv_err err;
    struct nnv_opinion opinion;
    unsigned char values[]; /* outputs, one behind the other */
};

bool nnv_is_bad(enum nnvts_verdict verdict) {
    return verdict == NNVTS_FAIL || verdict == NNVTS_UNTRUSTED || verdict == NNVTS_CRASH || verdict == NNVTS_TIMEOUT;
}

/* ----------------------------------------------------------------- the opinion */

static double number_of(const json_t *v) {
    const char *s = json_string_value(v);
    return !s ? json_number_value(v) : strcmp(s, "NaN") == 0 ? (double)NAN : *s == '-' ? -HUGE_VAL : HUGE_VAL;
}

static void read_output(const json_t *o, struct nnv_opinion *opinion) {
    json_int_t index = json_integer_value(json_object_get(o, "index"));
    const json_t *worst = json_object_get(o, "worst");
    if (index < 0 || index >= NNV_OPINION_OUTPUTS) return;
    struct nnv_output_opinion *out = &opinion->output[index];
    out->compared = (size_t)json_integer_value(json_object_get(o, "compared"));
    out->wrong = (size_t)json_integer_value(json_object_get(o, "wrong"));
    out->ratio = number_of(json_object_get(worst, "ratio"));
    out->error = number_of(json_object_get(worst, "error"));
    out->not_finite = isfinite(number_of(json_object_get(worst, "expected"))) !=
                      isfinite(number_of(json_object_get(worst, "actual")));
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

static _Noreturn void answer_and_exit(const struct nnv_oracle *o, const struct nnv_spec *spec, bool judged,
                                      struct answer *a) {
    struct nnv_client client = {0};
    nnv_process_sandbox(-1);
    a->phase = NNV_PHASE_OPEN;
    a->status = nnv_client_open(&client, o->path, o->options, &a->err);
    struct nnv_case_env env = {.client = &client, .arena = nnv_arena_new(), .phase = &a->phase};
    a->phase = NNV_PHASE_BUILD;
    if (a->status == NNV_OK && !env.arena) a->status = nnv_no_memory(&a->err);
    if (a->status == NNV_OK && judged) judge(o, spec, &env, a);
    if (a->status == NNV_OK && !judged) run(spec, &env, a);
    atomic_store(&a->complete, 1);
    _exit(0);
}

/* --------------------------------------------------------- in the supervisor */

static void set_end(const struct answer *a, const struct nnv_end *end, struct nnv_opinion *opinion) {
    char how[64];
    uint32_t phase = a->phase;
    bool own = phase == NNV_PHASE_BUILD || phase == NNV_PHASE_CHECK || phase >= NNV_PHASE_COUNT;
    *opinion = (struct nnv_opinion){.phase = phase < NNV_PHASE_COUNT ? (enum nnv_phase)phase : NNV_PHASE_NONE};
    opinion->verdict = own ? NNVTS_ERROR : end->timed_out ? NNVTS_TIMEOUT : NNVTS_CRASH;
    opinion->signal = !end->timed_out && end->code != CLD_EXITED ? end->status : 0;
    snprintf(opinion->reason, sizeof opinion->reason, "%s %s in %s", own ? "nnvts" : "the driver",
             end->timed_out ? "did not come to an end" : nnv_end_text(end, how), nnv_phase_name(opinion->phase));
}

/** Asks; *a is to be freed as size bytes of shared memory. */
static enum nnv_status ask(const struct nnv_oracle *o, const struct nnv_spec *spec, bool judged, size_t size,
                           struct answer **answer, struct nnv_opinion *opinion, struct nnv_err *err) {
    struct answer *a = nnv_shared_new(size);
    if (!a) return nnv_no_memory(err);
    uint64_t start = nnv_now_ns();
    enum nnv_status st = NNV_OK;
    pid_t pid = nnv_process_fork();
    if (pid == 0) answer_and_exit(o, spec, judged, a);
    if (pid < 0) {
        st = nnv_fail(err, NNV_IO, "cannot start a process: %s", strerror(errno));
    } else {
        struct nnv_end end = {0};
        nnv_process_wait(pid, o->timeout_ns, &end);
        if (!atomic_load(&a->complete)) {
            set_end(a, &end, opinion);
        } else if (a->status != NNV_OK) {
            a->err.text[NNV_ERR_TEXT - 1] = '\0';
            st = nnv_fail(err, a->status, "%s", a->err.text);
        } else {
            *opinion = a->opinion;
            opinion->reason[NNV_OPINION_REASON - 1] = '\0';
        }
        opinion->ns = nnv_now_ns() - start;
    }
    *answer = a;
    return st;
}

enum nnv_status nnv_oracle_judge(const struct nnv_oracle *o, const struct nnv_spec *spec, struct nnv_opinion *opinion,
                                 struct nnv_err *err) {
    struct answer *a = NULL;
    enum nnv_status st = ask(o, spec, true, sizeof *a, &a, opinion, err);
    nnv_shared_free(a, sizeof *a);
    return st;
}

enum nnv_status nnv_oracle_run(const struct nnv_oracle *o, const struct nnv_spec *spec, struct nnv_arena *arena,
                               struct nnv_value **outputs, struct nnv_opinion *opinion, struct nnv_err *err) {
    struct answer *a = NULL;
    uint32_t n = spec->model.main.nout;
    size_t size = sizeof *a, at = 0;
    for (uint32_t i = 0; i < n; i++)
        if (__builtin_add_overflow(size, spec->outputs[i].bytes, &size))
            return nnv_fail(err, NNV_INVALID, "the outputs take too much memory");
    struct nnv_value *v = NNV_NEW(arena, struct nnv_value, n);
    if (!v) return nnv_no_memory(err);
    enum nnv_status st = ask(o, spec, false, size, &a, opinion, err);
    for (uint32_t i = 0; i < n && st == NNV_OK; i++) {
        v[i] = spec->outputs[i];
        v[i].data = nnv_arena_copy(arena, a->values + at, v[i].bytes);
        if (!v[i].data) st = nnv_no_memory(err);
        at += v[i].bytes;
    }
    nnv_shared_free(a, size);
    if (st == NNV_OK) *outputs = v;
    return st;
}
