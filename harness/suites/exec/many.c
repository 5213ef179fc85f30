/* SPDX-License-Identifier: Apache-2.0 */
/** @file many.c Several prepared models and several threads: nobody's result depends on what else goes on. */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

#include "base/clock.h"
#include "harness/suites/exec/exec.h"
#include "harness/suites/kit/cases.h"

enum { MODELS = 4, ROUNDS = 4, TURNS = 3 };

/** One of the models: the same operations with other weights and inputs. */
struct one {
    struct nnv_fixture fixture;
    struct nnvts_prepared_model *prepared;
    struct nnv_request values[ROUNDS], alone; /**< alone: a result obtained while nothing else went on */
};

static bool make_values(struct nnv_exec *x, struct one *m) {
    for (int i = 0; i < ROUNDS; i++)
        if (!nnv_context_request(x->s, &m->fixture, NNV_POOL_READ_ONLY, &m->values[i])) return false;
    return nnv_context_request(x->s, &m->fixture, NNV_POOL_READ_ONLY, &m->alone);
}

/** Model i of the same kind as the case's, not prepared. */
static bool make_fixture(struct nnv_exec *x, uint32_t i, struct one *m) {
    const struct nnv_fixture_kind *kind = nnv_fixture_by_name(x->fixture.spec->name);
    m->prepared = NULL;
    return nnv_context_drawn(x->s, kind, x->seed + 1 + i, &m->fixture) && make_values(x, m);
}

static bool make_models(struct nnv_exec *x, struct one *models) {
    for (uint32_t i = 0; i < MODELS; i++) models[i].prepared = NULL;
    for (uint32_t i = 0; i < MODELS; i++)
        if (!make_fixture(x, i, &models[i]) || !(models[i].prepared = nnv_context_prepare(x->s, &models[i].fixture)))
            return false;
    return true;
}

static void release_models(struct nnv_exec *x, struct one *models) {
    for (int i = 0; i < MODELS; i++) {
        nnv_context_release(x->s, models[i].prepared);
        models[i].prepared = NULL;
    }
}

/* ------------------------------------------------------------------ interleaved */

/** Each model in turn, each mode in turn. */
static void interleaved(struct nnv_exec *x) {
    struct one models[MODELS];
    bool ok = make_models(x, models);
    for (int mode = 0; mode < NNV_MODES && ok; mode++)
        for (int i = 0; i < 2 * MODELS && ok && nnv_mode_offered(x->prepared, (enum nnv_mode)mode); i++) {
            struct one *m = &models[i % MODELS];
            ok = nnv_exec_run(x, m->prepared, (enum nnv_mode)mode, &m->values[0], NULL);
        }
    release_models(x, models);
}

/** In whatever order they are released, those that live on serve on. */
static void release_order(struct nnv_exec *x) {
    static const int order[MODELS] = {2, 0, 3, 1};
    struct one models[MODELS];
    bool ok = make_models(x, models);
    for (int gone = 0; gone < MODELS && ok; gone++) {
        struct one *m = &models[order[gone]];
        nnv_context_release(x->s, m->prepared);
        m->prepared = NULL;
        for (int i = gone + 1; i < MODELS && ok; i++)
            ok = nnv_context_execute(x->s, models[order[i]].prepared, &models[order[i]].values[0]);
        ok = ok && nnv_context_execute(x->s, x->prepared, &x->values);
    }
    release_models(x, models);
}

/* --------------------------------------------------------------------- parallel */

/** What a thread does: it prepares where nobody has, executes in each round, and releases what it prepared. */
struct client {
    struct one *model;
    struct nnvts_prepared_model *prepared; /**< NULL: prepare it here */
    struct nnv_preparation preparation;
    enum nnvts_status status[ROUNDS];
    atomic_bool *go;
    pthread_t thread;
};

static void *work(void *arg) {
    struct client *c = arg;
    struct nnvts_prepared_model *p = c->prepared;
    while (!atomic_load(c->go)) sched_yield();
    if (!p && nnv_prepare(&c->preparation)) p = c->preparation.prepared;
    for (int i = 0; i < ROUNDS && p; i++) {
        struct nnv_execution x = nnv_execution_make(NNV_MODE_SYNC, p, &c->model->values[i]);
        nnv_execute(&x);
        c->status[i] = x.status;
    }
    if (!c->prepared && p) p->release(p);
    return NULL;
}

static bool check_client(struct nnv_exec *x, const struct client *c) {
    const char *const call = "prepare_model, called from several threads,";
    bool ok = nnv_expect_kept(x->s, call, &c->preparation.breach, 0) &&
              nnv_expect_status(x->s, call, c->preparation.status, NNVTS_STATUS_NONE);
    for (int i = 0; i < ROUNDS && ok; i++)
        ok =
            nnv_context_check_values(x->s, "execute, while other threads execute,", c->status[i], &c->model->values[i]);
    return ok;
}

/** A client of the model, which it prepares if prepared is NULL. */
static struct client client_of(struct nnv_exec *x, struct one *model, struct nnvts_prepared_model *prepared) {
    return (struct client){
        .model = model, .prepared = prepared, .preparation = {.device = x->s->device, .abi = &model->fixture.model}};
}

/** All clients at once. */
static bool race(struct nnv_exec *x, struct client *clients) {
    atomic_bool go = false;
    int started = 0;
    nnv_context_enter(x->s, NNV_PHASE_EXECUTE);
    for (; started < MODELS; started++) {
        clients[started].go = &go;
        for (int i = 0; i < ROUNDS; i++) nnv_request_reset(&clients[started].model->values[i]);
        if (pthread_create(&clients[started].thread, NULL, work, &clients[started]) != 0) break;
    }
    atomic_store(&go, true);
    for (int i = 0; i < started; i++) pthread_join(clients[i].thread, NULL);
    bool ok = started == MODELS || nnv_context_error(x->s, "no thread");
    for (int i = 0; i < MODELS && ok; i++) ok = check_client(x, &clients[i]);
    return ok;
}

/** Each thread has a model of its own. */
static void threads(struct nnv_exec *x) {
    struct one models[MODELS];
    bool ok = make_models(x, models);
    for (int i = 0; i < MODELS && ok; i++) ok = nnv_context_execute(x->s, models[i].prepared, &models[i].alone);
    for (int turn = 0; turn < TURNS && ok; turn++) {
        struct client clients[MODELS];
        for (int i = 0; i < MODELS; i++) clients[i] = client_of(x, &models[i], models[i].prepared);
        ok = race(x, clients);
    }
    release_models(x, models);
}

/** All threads use one model, with inputs and memory of their own. */
static void threads_one_model(struct nnv_exec *x) {
    struct one models[MODELS];
    for (uint32_t i = 0; i < MODELS; i++) {
        models[i].prepared = x->prepared;
        if (!nnv_exec_variant(x, i, &models[i].fixture) || !make_values(x, &models[i]) ||
            !nnv_context_execute(x->s, x->prepared, &models[i].alone))
            return;
    }
    for (int turn = 0; turn < TURNS; turn++) {
        struct client clients[MODELS];
        for (int i = 0; i < MODELS; i++) clients[i] = client_of(x, &models[i], x->prepared);
        if (!race(x, clients)) return;
    }
}

/** Each thread prepares, executes and releases a model of its own. */
static void threads_prepare(struct nnv_exec *x) {
    struct one models[MODELS];
    struct client clients[MODELS];
    for (uint32_t i = 0; i < MODELS; i++) {
        if (!make_fixture(x, i, &models[i])) return;
        clients[i] = client_of(x, &models[i], NULL);
    }
    race(x, clients);
}

/* How long each case of stress takes: as many as there are jobs go on at once. */
static uint64_t stress_ns(const struct nnv_run_config *config) {
    enum { MOMENT_NS = 10000000 };
    const uint64_t jobs = config->jobs > 1 ? (uint64_t)config->jobs : 1;
    return config->stress_ns ? config->stress_ns * jobs / nnv_fixture_count : MOMENT_NS;
}

/** As threads, for a while, and now and then one of the models is released and prepared again. */
static void stress(struct nnv_exec *x) {
    struct one models[MODELS];
    bool ok = make_models(x, models);
    const uint64_t end_ns = nnv_now_ns() + stress_ns(x->s->env->config);
    for (uint32_t turn = 1; ok && (turn <= TURNS || nnv_now_ns() < end_ns); turn++) {
        struct client clients[MODELS];
        for (int i = 0; i < MODELS; i++) clients[i] = client_of(x, &models[i], models[i].prepared);
        ok = race(x, clients);
        if (!ok || turn % 16 != 0) continue;
        struct one *m = &models[turn / 16 % MODELS];
        nnv_context_release(x->s, m->prepared);
        ok = (m->prepared = nnv_context_prepare(x->s, &m->fixture)) != NULL;
    }
    release_models(x, models);
}

static const struct nnv_exec_case cases[] = {
    {.name = "interleaved", .run = interleaved},
    {.name = "release_order", .run = release_order},
    {.name = "threads", .run = threads},
    {.name = "threads_one_model", .run = threads_one_model},
    {.name = "threads_prepare", .run = threads_prepare},
    {.name = "stress", .run = stress},
};
const struct nnv_exec_group nnv_exec_many = NNV_EXEC_GROUP("many", cases);
