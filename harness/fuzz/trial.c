/* SPDX-License-Identifier: Apache-2.0 */
/** @file trial.c One input on a driver: what it answers, and what it must not do. */
#include <ctype.h>
#include <fenv.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/guard.h"
#include "harness/fuzz/batch.h"
#include "harness/fuzz/cache.h"
#include "reference/model/validate.h"

enum { SALT = 11, UNFILLED = 0xee };

struct trial {
    struct nnv_case_env *env;
    struct nnv_fuzz_image image;
    struct nnv_fuzz_outcome *out;
    struct nnv_arena *arena;
    bool valid; /**< nnv_validate accepts the model */
    uint64_t rule;
};

static void enter(struct trial *t, enum nnv_phase phase) { *t->env->phase = (uint32_t)phase; }

/** Notes the first thing that is wrong; returns false. */
NNV_PRINTF(3, 4) static bool wrong(struct trial *t, enum nnv_fuzz_wrong kind, const char *fmt, ...) {
    if (t->out->wrong) return false;
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(t->out->text, sizeof t->out->text, fmt, ap);
    va_end(ap);
    t->out->wrong = true;
    t->out->kind = kind;
    return false;
}

static bool damaged(struct trial *t, const char *call, const char *what) {
    t->out->damaged = true;
    return wrong(t, NNV_WRONG_MEMORY, "%s changed %s", call, what);
}

/** Notes an answer, and checks that its status exists and that memory is whole. */
static bool answered(struct trial *t, enum nnv_phase phase, enum nnvts_status status, const char *call) {
    uint64_t key[3] = {phase, (uint64_t)status, t->rule};
    t->out->answers[t->out->nanswers++] = nnv_hash_bytes(key, sizeof key);
    const char *changed = nnv_fuzz_image_changed(&t->image);
    if (changed != NULL) return damaged(t, call, changed);
    if ((unsigned)status <= NNVTS_STATUS_DEAD_OBJECT) return true;
    return wrong(t, NNV_WRONG_STATUS, "%s answered status %d, which does not exist", call, (int)status);
}

/** The rule that the model breaks, as a hash of the reason without its numbers. */
static void validate(struct trial *t) {
    struct nnv_spec lifted;
    struct nnv_err err = {0};
    if (!nnv_fuzz_lift(&t->image, t->arena, &lifted)) {
        t->rule = 1;
        return;
    }
    t->valid = nnv_validate(&lifted.model, t->arena, NULL, &err) == NNV_OK;
    char *end = err.text;
    for (const char *c = err.text; *c != '\0'; c++)
        if (!isdigit((unsigned char)*c)) *end++ = *c;
    *end = '\0';
    t->rule = t->valid ? 0 : nnv_hash_str(err.text);
}

/** False if the driver is not to be called any more. */
static bool ask_supported(struct trial *t) {
    struct nnvts_device *d = t->env->client->device;
    uint32_t n = t->image.model.main.operation_count;
    void *room = nnv_arena_alloc(t->arena, nnv_guard_room(n), 1);
    if (room == NULL) return false;
    uint8_t *supported = nnv_guard_init(room, n, SALT);
    memset(supported, UNFILLED, n);
    enter(t, NNV_PHASE_SUPPORTED);
    enum nnvts_status st = d->get_supported_operations(d, &t->image.model, (bool *)supported);
    int64_t at;
    if (!nnv_guard_check(supported, n, SALT, &at))
        return damaged(t, "get_supported_operations", "memory outside the array of answers");
    if (!answered(t, NNV_PHASE_SUPPORTED, st, "get_supported_operations")) return false;
    bool all = st == NNVTS_STATUS_NONE;
    for (uint32_t i = 0; st == NNVTS_STATUS_NONE && i < n; i++) {
        if (supported[i] > 1)
            return wrong(t, NNV_WRONG_STATUS, "get_supported_operations answered NONE but left entry %u unfilled", i);
        all = all && supported[i];
    }
    t->out->supported = all && n > 0;
    return true;
}

/** What may keep a driver from preparing a valid model that it supports. */
static bool excused(const struct trial *t, enum nnvts_status st) {
    bool late = st == NNVTS_STATUS_MISSED_DEADLINE_TRANSIENT || st == NNVTS_STATUS_MISSED_DEADLINE_PERSISTENT;
    bool short_of = st == NNVTS_STATUS_RESOURCE_EXHAUSTED_TRANSIENT || st == NNVTS_STATUS_RESOURCE_EXHAUSTED_PERSISTENT;
    bool odd = t->image.prepare.preference > ANEURALNETWORKS_PREFER_SUSTAINED_SPEED ||
               t->image.prepare.priority > NNVTS_PRIORITY_HIGH;
    return short_of || odd || (late && t->image.prepare.deadline_ns != NNVTS_NO_TIME);
}

/** A prepared model that came with NONE; NULL, and wrong, if it is not whole. */
static struct nnvts_prepared_model *check_whole(struct trial *t, const char *call, struct nnvts_prepared_model *p) {
    if (p != NULL && p->struct_size >= sizeof *p && p->execute && p->release) return p;
    wrong(t, NNV_WRONG_STATUS, "%s answered NONE without a whole prepared model", call);
    return NULL;
}

/** NULL if there is nothing to execute, or the driver is not to be called any more. */
static struct nnvts_prepared_model *prepare(struct trial *t) {
    struct nnvts_device *d = t->env->client->device;
    struct nnvts_prepared_model *prepared = NULL;
    char buf[32];
    enter(t, NNV_PHASE_PREPARE);
    enum nnvts_status st = d->prepare_model(d, &t->image.model, &t->image.prepare, &prepared);
    if (!answered(t, NNV_PHASE_PREPARE, st, "prepare_model")) return NULL;
    const char *name = nnv_abi_status_name((int)st, buf);
    if (st != NNVTS_STATUS_NONE) {
        if (prepared != NULL) wrong(t, NNV_WRONG_STATUS, "prepare_model answered %s and a prepared model", name);
        if (t->valid && t->out->supported && !excused(t, st))
            wrong(t, NNV_WRONG_REFUSED, "prepare_model answered %s for a valid model that the driver claims to support",
                  name);
        return NULL;
    }
    return check_whole(t, "prepare_model", prepared);
}

/** Room for the shapes of as many outputs as model or request have. */
static struct nnvts_execution_result *make_result(struct trial *t) {
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

static bool execute(struct trial *t, struct nnvts_prepared_model *prepared) {
    struct nnvts_execution_result *result = make_result(t);
    if (result == NULL) return true;
    enter(t, NNV_PHASE_EXECUTE);
    enum nnvts_status st = prepared->execute(prepared, &t->image.request, &t->image.execution, result);
    nnv_fuzz_image_forgive_outputs(&t->image);
    t->out->executed = true;
    return answered(t, NNV_PHASE_EXECUTE, st, "execute");
}

/** Executes and releases. */
static void use(struct trial *t, struct nnvts_prepared_model *prepared) {
    if (!execute(t, prepared)) return;
    enter(t, NNV_PHASE_RELEASE);
    prepared->release(prepared);
}

/** Prepares from damaged cache files. */
static void use_damaged(struct trial *t, const struct nnvts_cache *files) {
    struct nnvts_device *d = t->env->client->device;
    struct nnvts_prepared_model *prepared = NULL;
    enter(t, NNV_PHASE_PREPARE);
    enum nnvts_status st = d->prepare_from_cache(d, files, NNVTS_NO_TIME, &prepared);
    t->rule = nnv_hash_str("cache");
    if (!answered(t, NNV_PHASE_PREPARE, st, "prepare_from_cache") || st != NNVTS_STATUS_NONE) return;
    if (check_whole(t, "prepare_from_cache", prepared) != NULL) use(t, prepared);
}

/** Prepares into cache files, damages them, and prepares from what is left. */
static void use_cache(struct trial *t, const struct nnv_fuzz_input *input) {
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

void nnv_fuzz_trial(struct nnv_case_env *env, const struct nnv_spec *spec, const struct nnv_fuzz_input *input,
                    struct nnv_arena *arena, struct nnv_fuzz_outcome *out) {
    struct trial t = {.env = env, .out = out, .arena = arena};
    struct nnv_err err = {0};
    *out = (struct nnv_fuzz_outcome){0};
    fenv_t environment;
    fegetenv(&environment);
    enter(&t, NNV_PHASE_BUILD);
    bool ok = nnv_fuzz_image_begin(&t.image, env->client, spec, arena, &err) == NNV_OK;
    if (ok) nnv_fuzz_apply(&t.image, input);
    if (ok && !t.image.failed) nnv_fuzz_image_remember(&t.image);
    ok = ok && !t.image.failed;
    if (ok) validate(&t);
    if (ok && ask_supported(&t)) {
        struct nnvts_prepared_model *prepared = prepare(&t);
        if (prepared != NULL) use(&t, prepared);
        if (prepared != NULL && !out->wrong && nnv_fuzz_cache_wanted(env->client->device, input)) use_cache(&t, input);
    }
    enter(&t, NNV_PHASE_BUILD);
    fesetenv(&environment);
    nnv_fuzz_image_end(&t.image);
}
