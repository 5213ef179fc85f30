/* SPDX-License-Identifier: Apache-2.0 */
/** @file execution.c One input on a driver: what it answers, and what it must not do. */
#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>

#include "harness/client/execute.h"
#include "harness/client/prepare.h"
#include "harness/client/restore.h"
#include "harness/fuzz/batch.h"
#include "harness/fuzz/cache.h"
#include "reference/model/validate.h"

struct execution {
    struct nnv_case_env *env;
    struct nnv_preparation preparation; /**< of the image's model */
    struct nnv_fuzz_image image;
    struct nnv_fuzz_outcome *out;
    struct nnv_arena *arena;
    bool valid; /**< nnv_validate accepts the model */
    uint64_t rule;
};

static void enter(struct execution *t, enum nnv_phase phase) { *t->env->phase = (uint32_t)phase; }

/** Notes the first thing that is wrong; returns false. */
NNV_PRINTF(3, 4) static bool wrong(struct execution *t, enum nnv_fuzz_wrong kind, const char *fmt, ...) {
    if (t->out->wrong) return false;
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(t->out->text, sizeof t->out->text, fmt, ap);
    va_end(ap);
    t->out->wrong = true;
    t->out->kind = kind;
    return false;
}

/** Notes what the driver broke in a call. */
static bool kept(struct execution *t, const char *call, const struct nnv_breach *b) {
    if (b->kind == NNV_BREACH_NONE || b->kind == NNV_BREACH_OURS) return b->kind == NNV_BREACH_NONE;
    t->out->damaged = t->out->damaged || b->kind == NNV_BREACH_MEMORY;
    return wrong(t, b->kind == NNV_BREACH_MEMORY ? NNV_WRONG_MEMORY : NNV_WRONG_STATUS, "%s %s", call, b->text);
}

/** Notes an answer, and checks that memory is whole and no rule broken. */
static bool answered(struct execution *t, enum nnv_phase phase, enum nnvts_status status, const char *call,
                     const struct nnv_breach *b) {
    uint64_t key[3] = {phase, (uint64_t)status, t->rule};
    t->out->answers[t->out->nanswers++] = nnv_hash_bytes(key, sizeof key);
    const char *changed = nnv_fuzz_image_changed(&t->image);
    struct nnv_breach memory = {0};
    if (changed) nnv_breach(&memory, NNV_BREACH_MEMORY, 0, "changed %s", changed);
    return kept(t, call, &memory) && kept(t, call, b);
}

/** The rule that the model breaks, as a hash of the reason without its numbers. */
static void validate(struct execution *t) {
    struct nnv_spec spec;
    struct nnv_err err = {0};
    if (!nnv_fuzz_to_spec(&t->image, t->arena, &spec)) {
        t->rule = 1;
        return;
    }
    t->valid = nnv_validate(&spec.model, t->arena, NULL, &err) == NNV_OK;
    char *end = err.text;
    for (const char *c = err.text; *c != '\0'; c++)
        if (!isdigit((unsigned char)*c)) *end++ = *c;
    *end = '\0';
    t->rule = t->valid ? 0 : nnv_hash_str(err.text);
}

/** False if the driver is not to be called any more. */
static bool ask_supported(struct execution *t) {
    struct nnv_preparation *p = &t->preparation;
    const bool told = nnv_ask_supported(p, t->arena);
    if (!answered(t, NNV_PHASE_SUPPORTED, p->status, p->call, &p->breach)) return false;
    t->out->supported = told && p->refused == 0 && p->abi->main.operation_count > 0;
    return true;
}

/** What may keep a driver from preparing a valid model that it supports. */
static bool excused(const struct execution *t, enum nnvts_status st) {
    bool late = st == NNVTS_STATUS_MISSED_DEADLINE_TRANSIENT || st == NNVTS_STATUS_MISSED_DEADLINE_PERSISTENT;
    bool short_of = st == NNVTS_STATUS_RESOURCE_EXHAUSTED_TRANSIENT || st == NNVTS_STATUS_RESOURCE_EXHAUSTED_PERSISTENT;
    bool odd = t->image.prepare.preference > ANEURALNETWORKS_PREFER_SUSTAINED_SPEED ||
               t->image.prepare.priority > NNVTS_PRIORITY_HIGH;
    return short_of || odd || (late && t->image.prepare.deadline_ns != NNVTS_NO_TIME);
}

/** NULL if there is nothing to execute, or the driver is not to be called any more. */
static struct nnvts_prepared_model *prepare(struct execution *t) {
    struct nnv_preparation *p = &t->preparation;
    char buf[32];
    nnv_prepare(p);
    if (!answered(t, NNV_PHASE_PREPARE, p->status, p->call, &p->breach)) return NULL;
    if (p->status != NNVTS_STATUS_NONE && t->valid && t->out->supported && !excused(t, p->status))
        wrong(t, NNV_WRONG_REFUSED, "prepare_model answered %s for a valid model that the driver claims to support",
              nnv_abi_status_name((int)p->status, buf));
    return p->prepared;
}

/** Room for the shapes of as many outputs as model or request have. */
static struct nnvts_execution_result *make_result(struct execution *t) {
    struct nnv_fuzz_image *m = &t->image;
    uint32_t n =
        m->model.main.output_count > m->request.output_count ? m->model.main.output_count : m->request.output_count;
    struct nnvts_execution_result *result = nnv_fuzz_alloc(m, sizeof *result);
    struct nnvts_output_shape *shapes = nnv_fuzz_alloc(m, n * sizeof *shapes);
    if (m->failed) return NULL;
    for (uint32_t i = 0; i < n; i++) {
        shapes[i].dimension_count = m->shape_room;
        shapes[i].dimensions = nnv_fuzz_alloc(m, m->shape_room * sizeof(uint32_t));
    }
    *result = (struct nnvts_execution_result){.shapes = shapes, .timing = {NNVTS_NO_TIME, NNVTS_NO_TIME}};
    return m->failed ? NULL : result;
}

static bool execute(struct execution *t, struct nnvts_prepared_model *prepared) {
    struct nnvts_execution_result *result = make_result(t);
    if (result == NULL) return true;
    struct nnv_execution x = {
        .prepared = prepared, .request = &t->image.request, .result = result, .config = t->image.execution};
    enter(t, NNV_PHASE_EXECUTE);
    nnv_execute(&x);
    nnv_fuzz_image_forgive_outputs(&t->image);
    t->out->executed = true;
    return answered(t, NNV_PHASE_EXECUTE, x.status, x.call, &x.breach);
}

/** Executes and releases. */
static void use(struct execution *t, struct nnvts_prepared_model *prepared) {
    if (!execute(t, prepared)) return;
    enter(t, NNV_PHASE_RELEASE);
    prepared->release(prepared);
}

/** Prepares from damaged cache files. */
static void use_damaged(struct execution *t, const struct nnvts_cache *files) {
    struct nnv_preparation *p = &t->preparation;
    nnv_prepare_from_cache(p, files, NNVTS_NO_TIME);
    t->rule = nnv_hash_str("cache");
    if (answered(t, NNV_PHASE_PREPARE, p->status, p->call, &p->breach) && p->prepared) use(t, p->prepared);
}

/** Prepares into cache files, damages them, and prepares from what is left. */
static void use_cache(struct execution *t, const struct nnv_fuzz_input *input) {
    struct nnvts_prepared_model *prepared = NULL;
    struct nnv_fuzz_cache cache;
    if (nnv_fuzz_cache_open(&cache, t->env->client->device)) {
        t->image.prepare.cache = &cache.files;
        prepared = prepare(t);
        t->image.prepare.cache = NULL;
    }
    if (prepared != NULL) {
        enter(t, NNV_PHASE_RELEASE);
        prepared->release(prepared);
        nnv_fuzz_cache_damage(&cache, input);
        use_damaged(t, &cache.files);
    }
    nnv_fuzz_cache_close(&cache);
}

void nnv_fuzz_execute(struct nnv_case_env *env, const struct nnv_spec *spec, const struct nnv_fuzz_input *input,
                      struct nnv_arena *arena, struct nnv_fuzz_outcome *out) {
    struct execution t = {.env = env, .out = out, .arena = arena};
    struct nnv_err err = {0};
    *out = (struct nnv_fuzz_outcome){0};
    enter(&t, NNV_PHASE_BUILD);
    bool ok = nnv_fuzz_image_begin(&t.image, env->client, spec, arena, &err) == NNV_OK;
    if (ok) nnv_fuzz_apply(&t.image, input);
    if (ok && !t.image.failed) nnv_fuzz_image_remember(&t.image);
    ok = ok && !t.image.failed;
    if (ok) validate(&t);
    t.preparation = (struct nnv_preparation){
        .device = env->client->device, .abi = &t.image.model, .config = &t.image.prepare, .phase = env->phase};
    if (ok && ask_supported(&t)) {
        struct nnvts_prepared_model *prepared = prepare(&t);
        if (prepared != NULL) use(&t, prepared);
        if (prepared != NULL && !out->wrong && nnv_fuzz_cache_wanted(env->client->device, input)) use_cache(&t, input);
    }
    enter(&t, NNV_PHASE_BUILD);
    nnv_restore_thread();
    nnv_fuzz_image_end(&t.image);
}
