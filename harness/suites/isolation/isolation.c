/* SPDX-License-Identifier: Apache-2.0 */
/** @file isolation.c The suite "isolation": clients of one driver do not notice each other, and nothing is left behind.
 */

#include "harness/suites/isolation/isolation.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "harness/suites/suites.h"
#include "nnvts/result.h"
#include "harness/suites/kit/cases.h"

/* -------------------------------------------------------------------- tenants */

/** The tenant's context writes into the case's result, and goes on from its verdict. */
static void begin_tenant(struct nnv_context *s, struct nnv_tenant *t, struct nnv_client *client) {
    int verdict = s->result->verdict;
    t->env = *s->env;
    t->env.client = client;
    nnv_context_begin(&t->context, &t->env, s->result);
    s->result->verdict = verdict;
}

bool nnv_tenant_open(struct nnv_context *s, struct nnv_tenant *t) {
    struct nnv_err err = {0};
    *t = (struct nnv_tenant){0};
    nnv_context_enter(s, NNV_PHASE_OPEN);
    enum nnv_status st = nnv_client_attach(&t->client, s->env->client->driver, s->env->config->driver,
                                           s->env->config->driver_options, &err);
    if (!nnv_expect(s, st == NNV_OK, "a driver must open as many devices as it is asked for: %s", err.text))
        return false;
    begin_tenant(s, t, &t->client);
    return true;
}

bool nnv_tenant_prepare(struct nnv_tenant *t, const struct nnv_fixture_kind *kind, uint64_t seed) {
    nnv_context_enter(&t->context, NNV_PHASE_BUILD);
    return nnv_context_drawn(&t->context, kind, seed, &t->fixture) &&
           nnv_context_ready(&t->context, &t->fixture, &t->prepared, &t->values);
}

bool nnv_tenant_take(struct nnv_tenant *t, const struct nnv_spec *spec) {
    return nnv_context_model(&t->context, spec, &t->fixture) &&
           nnv_context_ready(&t->context, &t->fixture, &t->prepared, &t->values);
}

bool nnv_tenant_execute(struct nnv_tenant *t) { return nnv_context_execute(&t->context, t->prepared, &t->values); }

void nnv_tenant_leave(struct nnv_tenant *t) {
    if (!t->context.env) return;
    nnv_context_release(&t->context, t->prepared);
    t->prepared = NULL;
    const int verdict = t->context.result->verdict;
    nnv_context_end(&t->context);
    t->context.result->verdict = verdict; /* whether anything was expected is for the case to tell */
    nnv_context_enter(&t->context, NNV_PHASE_RELEASE);
    if (!t->context.result->worker_damaged) nnv_client_close(&t->client);
    t->context.env = NULL;
}

/* ---------------------------------------------------------------------- pairs */

enum { ROUNDS = 4 };

/** Two tenants in turns; then the first or the last leaves, and the other must go on. */
static void in_turns(struct nnv_context *s, struct nnv_tenant *leaves, struct nnv_tenant *stays) {
    bool ok = true;
    for (int i = 0; i < ROUNDS && ok; i++) ok = nnv_tenant_execute(leaves) && nnv_tenant_execute(stays);
    if (!ok) {
        nnv_expect(s, false, "two clients in turns: each must get the values of its own model and inputs");
        return;
    }
    nnv_tenant_leave(leaves);
    for (int i = 0; i < ROUNDS && ok; i++) ok = nnv_tenant_execute(stays);
    if (!ok) nnv_expect(s, false, "a client that leaves must take nothing with it that another needs");
}

/** one_device: two models on one device; else a model on each of two. */
static void pair(struct nnv_context *s, const struct nnv_fixture_kind *kind, bool one_device, bool first_leaves) {
    const uint64_t seed = s->env->config->seed;
    struct nnv_tenant a = {0}, b = {0};
    bool ok = nnv_tenant_open(s, &a);
    if (ok && one_device) begin_tenant(s, &b, &a.client);
    if (ok && !one_device) ok = nnv_tenant_open(s, &b);
    if (ok && nnv_tenant_prepare(&a, kind, seed) && nnv_tenant_prepare(&b, kind, seed + 1)) {
        if (!one_device)
            in_turns(s, first_leaves ? &a : &b, first_leaves ? &b : &a);
        else
            in_turns(s, &b, &a); /* the device is a's */
    }
    nnv_tenant_leave(&b);
    nnv_tenant_leave(&a);
}

static void first_leaves(struct nnv_context *s, const struct nnv_fixture_kind *kind) { pair(s, kind, false, true); }
static void last_leaves(struct nnv_context *s, const struct nnv_fixture_kind *kind) { pair(s, kind, false, false); }
static void two_models(struct nnv_context *s, const struct nnv_fixture_kind *kind) { pair(s, kind, true, false); }

/* ------------------------------------------------------------------ constants */

/** The model's constants in the memory of another's, which no longer needs it. Both have operands of the same sizes. */
static bool move_into(struct nnv_context *s, const struct nnv_fixture *from, struct nnv_fixture *to) {
    struct nnvts_model model;
    struct nnv_err err = {0};
    struct nnvts_memory pool = {0};
    if (from->model.pool_count) pool = from->model.pools[0];
    if (nnv_abi_model_at(&to->spec->model, s->env->arena, &pool, from->constants, &model, &err) != NNV_OK)
        return nnv_context_error(s, "%s", err.text);
    uint8_t *copied = (uint8_t *)from->model.operand_values;
    if (copied && model.operand_values_bytes == from->model.operand_values_bytes) {
        memcpy(copied, model.operand_values, (size_t)model.operand_values_bytes);
        model.operand_values = copied;
    }
    to->model = model;
    to->constants = from->constants;
    return true;
}

/** A prepared model is whole without the memory of its constants, where those of the next one lie now. */
static void refilled(struct nnv_context *s, const struct nnv_fixture_kind *kind) {
    struct nnv_fixture first, second;
    struct nnv_request of_first, of_second;
    struct nnvts_prepared_model *a = NULL, *b = NULL;
    const uint64_t seed = s->env->config->seed;
    bool ok = nnv_context_drawn(s, kind, seed, &first) && nnv_context_ready(s, &first, &a, &of_first);
    ok = ok && nnv_context_drawn(s, kind, seed + 1, &second) && move_into(s, &first, &second) &&
         nnv_context_ready(s, &second, &b, &of_second);
    for (int i = 0; i < ROUNDS && ok; i++)
        ok = nnv_context_execute(s, b, &of_second) && nnv_context_execute(s, a, &of_first);
    nnv_context_release(s, b);
    nnv_context_release(s, a);
}

/* -------------------------------------------------------------------- threads */

/** A tenant on a thread, with a result and memory of its own. */
struct runner {
    struct nnv_tenant tenant;
    struct nnv_result result;
    pthread_t thread;
    bool started;
};

static void *run_tenant(void *arg) {
    enum { EXECUTIONS = 50 };
    struct runner *r = arg;
    for (int i = 0; i < EXECUTIONS; i++)
        if (!nnv_tenant_execute(&r->tenant)) break;
    return NULL;
}

/** Executes on both at once, then hands on what was found. */
static void at_once(struct nnv_context *s, struct runner *runners, int count) {
    for (int i = 0; i < count; i++) {
        struct runner *r = &runners[i];
        r->result = (struct nnv_result){.verdict = NNVTS_PASS};
        r->tenant.env.arena = nnv_arena_new();
        r->tenant.env.phase = NULL;
        r->tenant.context.result = &r->result;
        r->started = r->tenant.env.arena && pthread_create(&r->thread, NULL, run_tenant, r) == 0;
    }
    for (int i = 0; i < count; i++) {
        struct runner *r = &runners[i];
        if (r->started)
            pthread_join(r->thread, NULL);
        else
            nnv_context_error(s, "no thread, or no memory for one");
        s->result->compared += r->result.compared;
        s->result->values += r->result.values;
        s->result->not_compared += r->result.not_compared;
        s->result->worker_damaged |= r->result.worker_damaged;
        nnv_expect(s, r->result.verdict == NNVTS_PASS,
                   "two clients at once: each must get the values of its own model and inputs: %s",
                   r->result.reason.data ? r->result.reason.data : "");
        nnv_text_free(&r->result.reason);
        nnv_arena_free(r->tenant.env.arena);
        r->tenant.env.arena = s->env->arena;
        r->tenant.env.phase = s->env->phase;
        r->tenant.context.result = s->result;
    }
}

static void threads(struct nnv_context *s, const struct nnv_fixture_kind *kind) {
    enum { TENANTS = 2 };
    struct runner *r = NNV_NEW(s->env->arena, struct runner, TENANTS);
    if (!r) {
        nnv_context_error(s, NNV_OUT_OF_MEMORY);
        return;
    }
    for (int i = 0; i < TENANTS; i++) r[i] = (struct runner){0};
    bool ok = true;
    for (int i = 0; i < TENANTS && ok; i++)
        ok = nnv_tenant_open(s, &r[i].tenant) &&
             nnv_tenant_prepare(&r[i].tenant, kind, s->env->config->seed + (uint64_t)i);
    if (ok) {
        nnv_context_enter(s, NNV_PHASE_EXECUTE);
        at_once(s, r, TENANTS);
    }
    for (int i = 0; i < TENANTS; i++) nnv_tenant_leave(&r[i].tenant);
}

/* ------------------------------------------------------------------- registry */

static const struct nnv_isolation_case cases[] = {
    {"first_leaves", first_leaves},
    {"last_leaves", last_leaves},
    {"two_models", two_models},
    {"threads", threads},
    {"refilled", refilled},
    {"client_killed", nnv_isolation_client_killed},
    {"leak_devices", nnv_isolation_leak_devices},
    {"leak_models", nnv_isolation_leak_models},
    {"leak_executions", nnv_isolation_leak_executions},
    {"leak_bursts", nnv_isolation_leak_bursts},
    {"leak_fences", nnv_isolation_leak_fences},
    {"leak_refusals", nnv_isolation_leak_refusals},
    {"leak_failures", nnv_isolation_leak_failures},
    {"leak_late", nnv_isolation_leak_late},
    {"leak_caches", nnv_isolation_leak_caches},
};
enum { ERRORS = sizeof cases / sizeof *cases };

static enum nnv_status list(const struct nnv_run_config *config, struct nnv_case_list *list, struct nnv_err *err) {
    enum nnv_status st = NNV_OK;
    for (size_t i = 0; i < sizeof cases / sizeof *cases && !st; i++) {
        char row[64];
        snprintf(row, sizeof row, "isolation/%s", cases[i].name);
        /* Leaks take their time to settle: the smallest tier has one model of each. */
        const bool one = nnv_tier(config) == NNV_AMOUNT_SMOKE && strncmp(cases[i].name, "leak_", 5) == 0;
        st = nnv_list_fixtures(list, row, (struct nnv_case){.a = i}, one ? "net_float32" : NULL, err);
    }
    return st ? st : nnv_isolation_list_errors(list, (struct nnv_case){.a = ERRORS}, nnv_tier(config), err);
}

static void run(struct nnv_case_env *env, const struct nnv_case *c, struct nnv_result *result) {
    struct nnv_context s;
    nnv_context_begin(&s, env, result);
    if (c->a == ERRORS)
        nnv_isolation_leak_errors(&s, c);
    else
        cases[c->a].run(&s, nnv_case_fixture(c));
    nnv_context_end(&s);
}

const struct nnv_suite nnv_suite_isolation = {
    .name = "isolation",
    .summary = "clients of one driver do not notice each other, also when one is killed; nothing leaks over many "
               "devices, models, executions and bursts",
    .precision = NNV_PRECISION_BUDGET,
    .by_default = true,
    .list = list,
    .run = run,
};
