/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/suites/kit/context.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "harness/client/restore.h"
#include "harness/judge/degenerate.h"
#include "harness/judge/ties.h"
#include "nnvts/result.h"

enum { ROWS = 32 };

struct nnv_context_memory {
    struct nnv_context_memory *next;
    struct nnv_abi_pool pool;
};

void nnv_context_begin(struct nnv_context *s, struct nnv_case_env *env, struct nnv_result *result) {
    *s = (struct nnv_context){.env = env, .result = result, .device = env->client->device};
    result->verdict = NNVTS_PASS;
    nnv_context_enter(s, NNV_PHASE_BUILD);
}

void nnv_context_end(struct nnv_context *s) {
    struct nnv_mapped mapped = {0};
    for (struct nnv_context_memory *m = s->memory; m; m = m->next) nnv_abi_pool_close(&m->pool, &mapped);
    nnv_unmap(&mapped);
    s->memory = NULL;
    nnv_restore_thread();
    struct nnv_breach b = {0};
    if (!nnv_client_memory_whole(s->env->client, &b)) nnv_expect_kept(s, "the driver", &b, 0);
    if (s->result->verdict != NNVTS_PASS || s->result->compared > 0) return;
    nnv_result_end(s->result, NNVTS_WHY_NOTHING_COMPARED, "nothing was expected of the driver");
}

void nnv_context_enter(struct nnv_context *s, enum nnv_phase phase) {
    if (s->env->phase) *s->env->phase = (uint32_t)phase;
}

/* -------------------------------------------------------------- expectations */

static void add_line(struct nnv_context *s, const char *fmt, va_list ap) {
    if (s->result->reason.len) nnv_text_add(&s->result->reason, "\n");
    nnv_text_vaddf(&s->result->reason, fmt, ap);
}

/** Counts a comparison; one that does not hold is a line of the reason. The first that does not says why. */
static bool expect(struct nnv_context *s, bool ok, enum nnvts_reason why, const char *fmt, va_list ap) {
    s->result->compared++;
    if (ok) return true;
    add_line(s, fmt, ap);
    if (s->result->verdict == NNVTS_FAIL || s->result->verdict == NNVTS_ERROR) return false;
    s->result->verdict = NNVTS_FAIL;
    s->result->why = why;
    s->result->mode = s->mode;
    return false;
}

bool nnv_expect(struct nnv_context *s, bool ok, const char *fmt, ...) {
    va_list ap;
    va_start(ap, fmt);
    expect(s, ok, NNVTS_WHY_EXPECTATION, fmt, ap);
    va_end(ap);
    return ok;
}

bool nnv_expect_why(struct nnv_context *s, bool ok, enum nnvts_reason why, const char *fmt, ...) {
    va_list ap;
    va_start(ap, fmt);
    expect(s, ok, why, fmt, ap);
    va_end(ap);
    return ok;
}

enum nnvts_reason nnv_why_answered(bool success, bool expected) {
    return success ? NNVTS_WHY_ACCEPTED : expected ? NNVTS_WHY_REFUSED : NNVTS_WHY_STATUS;
}

bool nnv_expect_status(struct nnv_context *s, const char *call, enum nnvts_status got, enum nnvts_status want) {
    return nnv_expect_status_in(s, call, got, 1u << want);
}

bool nnv_expect_status_in(struct nnv_context *s, const char *call, enum nnvts_status got, uint32_t wanted) {
    struct nnv_text text = {0};
    char buf[32];
    const bool ok = got >= 0 && got < 32 && (wanted & 1u << got);
    const char *between = "";
    nnv_restore_thread();
    for (int st = 0; st < 32 && !ok; st++) {
        if (!(wanted & 1u << st)) continue;
        nnv_text_addf(&text, "%s%s", between, nnv_abi_status_name(st, buf));
        between = " or ";
    }
    if (!ok) nnv_add_last_error(s->device, got, &text);
    s->result->died = s->result->died || (!ok && got == NNVTS_STATUS_DEAD_OBJECT);
    nnv_expect_why(s, ok, nnv_why_answered(got == NNVTS_STATUS_NONE, wanted & 1u << NNVTS_STATUS_NONE),
                   "%s answered %s, expected %s", call, nnv_abi_status_name((int)got, buf), text.data ? text.data : "");
    nnv_text_free(&text);
    return ok;
}

bool nnv_expect_kept(struct nnv_context *s, const char *call, const struct nnv_breach *b, uint32_t rules) {
    if (b->kind == NNV_BREACH_OURS) return nnv_context_error(s, "%s %s", call, b->text);
    if (b->kind == NNV_BREACH_MEMORY) s->result->worker_damaged = true;
    if (b->kind != NNV_BREACH_NONE) return nnv_expect_why(s, false, nnv_breach_why(b->kind), "%s %s", call, b->text);
    s->result->compared += rules;
    return true;
}

void nnv_context_set_declined(struct nnv_context *s, enum nnvts_reason why, const char *fmt, ...) {
    if (s->result->verdict != NNVTS_PASS) return;
    s->result->verdict = (int)nnv_why_verdict(why);
    s->result->why = why;
    va_list ap;
    va_start(ap, fmt);
    add_line(s, fmt, ap);
    va_end(ap);
}

void nnv_context_note(struct nnv_context *s, const char *fmt, ...) {
    (void)s; /* what a worker prints is the case's log */
    va_list ap;
    va_start(ap, fmt);
    fputs("note: ", stderr);
    vfprintf(stderr, fmt, ap);
    fputc('\n', stderr);
    va_end(ap);
}

void nnv_context_set_error(struct nnv_context *s, const char *fmt, ...) {
    s->result->verdict = NNVTS_ERROR;
    s->result->why = NNVTS_WHY_HARNESS;
    va_list ap;
    va_start(ap, fmt);
    add_line(s, fmt, ap);
    va_end(ap);
}

/* -------------------------------------------------------------------- memory */

bool nnv_context_memory(struct nnv_context *s, size_t size, enum nnv_pool_kind kind, struct nnvts_memory *pool,
                        uint8_t **writable) {
    struct nnv_context_memory *m = NNV_NEW(s->env->arena, struct nnv_context_memory, 1);
    struct nnv_err err = {0};
    if (!m) return nnv_context_error(s, NNV_OUT_OF_MEMORY);
    if (nnv_abi_pool_make(size, kind, &m->pool, &err) != NNV_OK) return nnv_context_error(s, "%s", err.text);
    m->next = s->memory;
    s->memory = m;
    *pool = m->pool.memory;
    *writable = m->pool.data;
    return true;
}

/* -------------------------------------------------------------------- models */

static bool make_expectations(struct nnv_context *s, struct nnv_fixture *fixture) {
    const uint32_t n = fixture->spec->model.main.nout;
    struct nnv_value *outputs = NNV_NEW(s->env->arena, struct nnv_value, 2 * (size_t)n);
    struct nnv_comparer *c = NNV_NEW(s->env->arena, struct nnv_comparer, 1);
    struct nnv_err err = {0};
    if (!c || !outputs) return nnv_context_error(s, NNV_OUT_OF_MEMORY);
    const int asked = s->env->config ? s->env->config->precision : -1;
    *c = (struct nnv_comparer){.spec = fixture->spec,
                               .precision = asked < 0 ? NNV_PRECISION_BUDGET : (enum nnv_precision)asked,
                               .arithmetic = nnv_env_arithmetic(s->env, fixture->spec),
                               .arena = s->env->arena,
                               .rows = ROWS};
    if (nnv_comparer_make(c, &err) != NNV_OK) return nnv_context_error(s, "%s", err.text);
    for (uint32_t i = 0; i < n; i++) outputs[i] = *c->expected[i].value;
    fixture->outputs = outputs;
    fixture->expected = c->expected;
    fixture->compare = c;
    fixture->answered = outputs + n;
    return true;
}

bool nnv_context_render(struct nnv_context *s, const struct nnv_spec *spec, struct nnv_fixture *fixture) {
    struct nnvts_memory pool = {0};
    struct nnv_err err = {0};
    *fixture = (struct nnv_fixture){.spec = spec};
    nnv_context_enter(s, NNV_PHASE_BUILD);
    size_t bytes = nnv_abi_pool_bytes(&spec->model);
    if (!nnv_context_memory(s, bytes, NNV_POOL_READ_ONLY, &pool, &fixture->constants)) return false;
    if (nnv_abi_model_at(&spec->model, s->env->arena, &pool, fixture->constants, &fixture->model, &err) != NNV_OK)
        return nnv_context_error(s, "%s", err.text);
    return true;
}

bool nnv_context_model(struct nnv_context *s, const struct nnv_spec *spec, struct nnv_fixture *fixture) {
    return nnv_context_render(s, spec, fixture) && make_expectations(s, fixture);
}

void nnv_context_forgive_choices(struct nnv_fixture *fixture) {
    uint32_t run;
    for (uint32_t i = 0; i < fixture->spec->model.main.nout; i++)
        if (nnv_output_rule(&fixture->spec->model.main, i, &run) != NNV_JUDGED_VALUE)
            fixture->expected[i].ignored = true;
}

bool nnv_context_work(struct nnv_context *s, const struct nnv_spec *spec, struct nnv_fixture *fixture) {
    const uint32_t n = spec->model.main.nout;
    if (!nnv_context_render(s, spec, fixture)) return false;
    fixture->expected = NNV_NEW(s->env->arena, struct nnv_expectation, n);
    if (!fixture->expected) return nnv_context_error(s, NNV_OUT_OF_MEMORY);
    fixture->outputs = spec->outputs;
    for (uint32_t i = 0; i < n; i++)
        fixture->expected[i] = (struct nnv_expectation){.type = spec->model.main.operands[spec->model.main.out[i]].type,
                                                        .value = &spec->outputs[i]};
    return true;
}

/** A preparation of the fixture, on the context's device. */
static struct nnv_preparation preparation(const struct nnv_context *s, const struct nnv_fixture *fixture) {
    return (struct nnv_preparation){.device = s->device,
                                    .abi = &fixture->model,
                                    .model = &fixture->spec->model,
                                    .constants = fixture->constants,
                                    .phase = s->env->phase};
}

static bool supports(struct nnv_context *s, struct nnv_preparation *p) {
    struct nnv_text t = {0};
    const bool answered = nnv_ask_supported(p, s->env->arena), missing = nnv_not_implemented(p, &t);
    if (missing) nnv_context_decline(s, NNVTS_WHY_OPERATION, "%s", t.data ? t.data : "not implemented");
    nnv_text_free(&t);
    if (missing || !nnv_expect_kept(s, p->call, &p->breach, 2) ||
        !nnv_expect_status(s, p->call, p->status, NNVTS_STATUS_NONE))
        return false;
    if (!answered || p->refused == 0) return answered;
    nnv_add_unsupported(p, 1, &t); /* reports gather cases by the first */
    nnv_context_decline(s, NNVTS_WHY_OPERATION, "%s", t.data ? t.data : "the driver does not support an operation");
    nnv_text_free(&t);
    return false;
}

bool nnv_context_supports(struct nnv_context *s, const struct nnv_fixture *fixture) {
    struct nnv_preparation p = preparation(s, fixture);
    return supports(s, &p);
}

bool nnv_context_compile(struct nnv_context *s, const struct nnv_fixture *fixture, const char *call,
                         const struct nnvts_prepare_config *config, uint32_t allowed,
                         struct nnvts_prepared_model **prepared) {
    struct nnv_preparation p = preparation(s, fixture);
    p.config = config;
    nnv_prepare(&p);
    *prepared = p.prepared;
    return nnv_expect_kept(s, call, &p.breach, p.status == NNVTS_STATUS_NONE ? 2 : 1) &&
           nnv_expect_status_in(s, call, p.status, allowed);
}

struct nnvts_prepared_model *nnv_context_prepare(struct nnv_context *s, const struct nnv_fixture *fixture) {
    struct nnvts_prepared_model *prepared = NULL;
    if (!nnv_context_supports(s, fixture)) return NULL;
    s->result->compared++; /* the constants */
    nnv_context_compile(s, fixture, "prepare_model", NULL, 1u << NNVTS_STATUS_NONE, &prepared);
    return prepared;
}

void nnv_context_release(struct nnv_context *s, struct nnvts_prepared_model *prepared) {
    if (!prepared || s->result->worker_damaged) return;
    nnv_context_enter(s, NNV_PHASE_RELEASE);
    prepared->release(prepared);
    nnv_restore_thread();
}

/* ------------------------------------------------------------------ requests */

bool nnv_context_place(struct nnv_context *s, const struct nnv_model *model, const struct nnv_value *in,
                       const struct nnv_value *out, enum nnv_pool_kind kind, struct nnv_request *r) {
    struct nnv_abi_pool pools[2];
    struct nnv_err err = {0};
    if (nnv_request_init(r, model, in, out, s->env->arena, &err)) return nnv_context_error(s, "%s", err.text);
    for (int i = 0; i < 2; i++)
        if (!nnv_context_memory(s, r->bytes[i], i && kind != NNV_POOL_FD_ONLY ? NNV_POOL_WRITABLE : kind,
                                &pools[i].memory, &pools[i].data))
            return false;
    nnv_request_place(r, &pools[0], &pools[1]);
    nnv_request_suit(r, s->device);
    return true;
}

bool nnv_context_request(struct nnv_context *s, const struct nnv_fixture *fixture, enum nnv_pool_kind kind,
                         struct nnv_request *r) {
    const struct nnv_spec *spec = fixture->spec;
    uint32_t which;
    if (nnv_inputs_beyond_limits(s->device, &spec->model, spec->inputs, &which))
        return nnv_context_decline(s, NNVTS_WHY_INTERFACE, "the driver can't be given input %u, which has no elements",
                                   which);
    if (!nnv_context_place(s, &spec->model, spec->inputs, fixture->outputs, kind, r)) return false;
    r->fixture = fixture;
    return true;
}

void nnv_context_fill(struct nnv_request *r, const struct nnv_fixture *fixture) {
    r->fixture = fixture;
    nnv_request_fill(r, fixture->spec->inputs);
}

/* ------------------------------------------------------------------- results */

bool nnv_context_check_memory(struct nnv_context *s, const char *call, const struct nnv_request *r) {
    struct nnv_breach b = {0};
    uint32_t rules = r->model->main.nout;
    for (uint32_t i = 0; i < r->model->main.nin; i++) rules += !r->in[i].omitted;
    nnv_verify_memory(r, &b);
    return nnv_expect_kept(s, call, &b, rules);
}

/** Compares what the outputs of the request hold with what the fixture expects. */
static enum nnv_status compare_with(const struct nnv_fixture *f, const struct nnv_request *r, size_t *wrong,
                                    struct nnv_err *err) {
    for (uint32_t i = 0; i < r->model->main.nout; i++) {
        f->answered[i] = f->outputs[i];
        f->answered[i].data = r->output_at[i];
    }
    return nnv_comparer_run(f->compare, f->answered, wrong, err);
}

bool nnv_context_would_do(const struct nnv_fixture *fixture, const struct nnv_request *r) {
    struct nnv_err err = {0};
    size_t wrong;
    return compare_with(fixture, r, &wrong, &err) == NNV_OK && wrong == 0;
}

/** Output i is wrong; false. */
static bool tell_wrong(struct nnv_context *s, const char *call, const struct nnv_request *r, uint32_t i) {
    const struct nnv_comparer *c = r->fixture->compare;
    const struct nnv_comparison *o = &c->comparison[i];
    struct nnv_text words = {0};
    if (o->note[0]) return nnv_expect_why(s, false, NNVTS_WHY_VALUES, "%s: output %u: %s", call, i, o->note);
    nnv_degenerate_words(&(struct nnv_suspect){r->model, r->in, i, &r->fixture->answered[i], c->taken[i].value,
                                               o->elems, o->worst_actual, s->env->before},
                         &words);
    nnv_expect_why(s, false, NNVTS_WHY_VALUES,
                   "%s: output %u: %zu of %zu values wrong; element %zu: expected %.9g, got %.9g, allowed %.4g%s", call,
                   i, o->wrong, o->compared, o->worst, o->worst_expected, o->worst_actual, o->worst_bound,
                   words.data ? words.data : "");
    nnv_text_free(&words);
    return false;
}

static bool compare(struct nnv_context *s, const char *call, const struct nnv_request *r) {
    const uint32_t n = r->model->main.nout;
    struct nnv_comparer *c = r->fixture->compare;
    struct nnv_err err = {0};
    bool right = true;
    size_t wrong;
    if (!c) return nnv_context_error(s, "nothing is expected of this model's values");
    if (compare_with(r->fixture, r, &wrong, &err) != NNV_OK) return nnv_context_error(s, "%s", err.text);
    for (uint32_t i = 0; i < n; i++) {
        const struct nnv_comparison *o = &c->comparison[i];
        s->result->compared += o->compared;
        s->result->values += o->compared;
        s->result->not_compared += o->not_compared;
        if (o->wrong > 0) right = tell_wrong(s, call, r, i);
    }
    nnv_before_note(s->env->before, r->fixture->answered, c->taken, n);
    return right;
}

bool nnv_context_check_outcome(struct nnv_context *s, const char *call, enum nnvts_status status,
                               const struct nnv_request *r) {
    struct nnv_breach b = {0};
    nnv_context_enter(s, NNV_PHASE_CHECK);
    if (!nnv_context_check_memory(s, call, r) || !nnv_expect_status(s, call, status, NNVTS_STATUS_NONE)) return false;
    nnv_verify_shapes(r, status, &b);
    return nnv_expect_kept(s, call, &b, 1 + 2 * (r->result.shape_count ? r->model->main.nout : 0));
}

bool nnv_context_check_values(struct nnv_context *s, const char *call, enum nnvts_status status,
                              const struct nnv_request *r) {
    return nnv_context_check_outcome(s, call, status, r) && compare(s, call, r);
}

/* ----------------------------------------------------------------- executions */

bool nnv_context_needs(struct nnv_context *s, const struct nnvts_prepared_model *prepared, enum nnv_mode mode) {
    return nnv_mode_offered(prepared, mode) ||
           nnv_context_decline(s, NNVTS_WHY_FEATURE, "the driver has no %s", nnv_mode_words(mode));
}

/** A step went well, which is so many expectations; else what the driver answered or broke. */
static bool went(struct nnv_context *s, const struct nnv_execution *x, bool well, uint32_t rules) {
    if (!well && x->breach.kind == NNV_BREACH_NONE) return nnv_expect_status(s, x->call, x->status, NNVTS_STATUS_NONE);
    return nnv_expect_kept(s, x->call, &x->breach, rules);
}

bool nnv_context_open(struct nnv_context *s, struct nnv_execution *x) {
    if (x->open) return true;
    if (!nnv_context_needs(s, x->prepared, x->mode)) return false;
    s->mode = (int)x->mode + 1;
    nnv_context_enter(s, NNV_PHASE_EXECUTE);
    const bool is_open = nnv_execution_open(x);
    return went(s, x, is_open, x->mode == NNV_MODE_BURST || x->mode == NNV_MODE_REUSABLE ? 2 : 0);
}

bool nnv_context_launch(struct nnv_context *s, struct nnv_execution *x) {
    if (!nnv_context_open(s, x)) return false;
    s->mode = (int)x->mode + 1;
    nnv_context_enter(s, NNV_PHASE_EXECUTE);
    const bool launched = nnv_execution_launch(x);
    return went(s, x, launched, x->mode == NNV_MODE_FENCED ? 2 : x->mode == NNV_MODE_ASYNC ? 1 : 0);
}

bool nnv_context_wait(struct nnv_context *s, struct nnv_execution *x) {
    nnv_context_enter(s, NNV_PHASE_EXECUTE);
    const bool ended = nnv_execution_wait(x);
    return went(s, x, ended, x->mode == NNV_MODE_FENCED ? 1 : 0);
}

bool nnv_context_run(struct nnv_context *s, struct nnv_execution *x) {
    if (nnv_context_launch(s, x)) return nnv_context_wait(s, x);
    if (x->launched) nnv_execution_wait(x);
    return false;
}

void nnv_context_close(struct nnv_context *s, struct nnv_execution *x) {
    if (s->result->worker_damaged) {
        nnv_execution_abandon(x);
        return;
    }
    nnv_context_enter(s, NNV_PHASE_RELEASE);
    nnv_execution_close(x);
}

bool nnv_context_attempt(struct nnv_context *s, struct nnv_execution *x) {
    if (!nnv_context_open(s, x)) return false;
    nnv_context_enter(s, NNV_PHASE_EXECUTE);
    const bool launched = nnv_execution_launch(x);
    const bool ok = nnv_expect_kept(s, x->call, &x->breach, launched && x->mode == NNV_MODE_FENCED ? 1 : 0);
    return launched ? nnv_context_wait(s, x) && ok : ok;
}

bool nnv_context_try(struct nnv_context *s, struct nnv_execution *x) {
    const bool ok = nnv_context_attempt(s, x);
    if (x->open) nnv_context_close(s, x);
    return ok;
}

enum nnvts_status nnv_context_sync(struct nnv_context *s, struct nnvts_prepared_model *prepared,
                                   struct nnv_request *r) {
    struct nnv_execution x = nnv_execution_make(NNV_MODE_SYNC, prepared, r);
    s->mode = (int)NNV_MODE_SYNC + 1;
    nnv_context_enter(s, NNV_PHASE_EXECUTE);
    nnv_execute(&x);
    return x.status;
}

bool nnv_context_execute(struct nnv_context *s, struct nnvts_prepared_model *prepared, struct nnv_request *r) {
    nnv_request_reset(r);
    return nnv_context_check_values(s, "execute", nnv_context_sync(s, prepared, r), r);
}
