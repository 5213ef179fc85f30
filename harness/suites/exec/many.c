/* SPDX-License-Identifier: Apache-2.0 */
/** @file many.c Several prepared models and several threads: nobody's result depends on what else goes on. */
#include <inttypes.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

#include "base/clock.h"
#include "base/rng.h"
#include "harness/runner/pool/hook.h"
#include "harness/suites/exec/drift.h"
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
    struct nnv_request *values[ROUNDS];
    struct nnvts_prepared_model *prepared; /**< NULL: prepare it here */
    struct nnv_preparation preparation;
    enum nnvts_status status[ROUNDS];
    uint64_t ns[ROUNDS]; /**< that each execution took */
    atomic_bool *go;
    pthread_t thread;
};

static void *work(void *arg) {
    struct client *c = arg;
    struct nnvts_prepared_model *p = c->prepared;
    while (!atomic_load(c->go)) sched_yield();
    if (!p && nnv_prepare(&c->preparation)) p = c->preparation.prepared;
    for (int i = 0; i < ROUNDS && p; i++) {
        struct nnv_execution x = nnv_execution_make(NNV_MODE_SYNC, p, c->values[i]);
        nnv_execute(&x);
        c->status[i] = x.status;
        c->ns[i] = x.ns;
    }
    if (!c->prepared && p) p->release(p);
    return NULL;
}

static bool check_round(struct nnv_exec *x, const struct client *c, int i) {
    return nnv_context_check_values(x->s, "execute while other threads execute", c->status[i], c->values[i]);
}

static bool check_client(struct nnv_exec *x, const struct client *c) {
    const char *const call = "prepare_model, called from several threads,";
    bool ok = nnv_expect_kept(x->s, call, &c->preparation.breach, 0) &&
              nnv_expect_status(x->s, call, c->preparation.status, NNVTS_STATUS_NONE);
    for (int i = 0; i < ROUNDS && ok; i++) ok = check_round(x, c, i);
    return ok;
}

/** A client of the model, which it prepares if prepared is NULL. */
static struct client client_of(struct nnv_exec *x, struct one *model, struct nnvts_prepared_model *prepared) {
    struct client c = {.prepared = prepared, .preparation = {.device = x->s->device, .abi = &model->fixture.model}};
    for (int i = 0; i < ROUNDS; i++) c.values[i] = &model->values[i];
    return c;
}

/** All clients at once; nothing is judged yet. */
static bool rush(struct nnv_exec *x, struct client *clients) {
    atomic_bool go = false;
    int started = 0;
    nnv_context_enter(x->s, NNV_PHASE_EXECUTE);
    x->s->mode = (int)NNV_MODE_SYNC + 1;
    for (; started < MODELS; started++) {
        clients[started].go = &go;
        for (int i = 0; i < ROUNDS; i++) nnv_request_reset(clients[started].values[i]);
        if (pthread_create(&clients[started].thread, NULL, work, &clients[started]) != 0) break;
    }
    atomic_store(&go, true);
    for (int i = 0; i < started; i++) pthread_join(clients[i].thread, NULL);
    return started == MODELS || nnv_context_error(x->s, "no thread");
}

static bool race(struct nnv_exec *x, struct client *clients) {
    bool ok = rush(x, clients);
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

/* ----------------------------------------------------------------------- stress */

enum { INPUTS = 8, SPARE = 1, RENEWED = 16 };

/** An execution, by its number in its stream, from 1. */
struct mark {
    int stream;
    uint64_t execution; /**< 0: none */
};

/** A model and inputs that all differ: values tell whose answer they are. */
struct marked {
    struct nnv_fixture fixture[INPUTS];
    struct nnv_request values[INPUTS];
    struct mark last[INPUTS], before[INPUTS]; /**< who has executed it with these inputs */
};

/** Streams, each with one of the models; one model waits for its turn. */
struct stress {
    struct marked model[MODELS + SPARE];
    int of[MODELS], spare; /**< the model of each stream */
    struct nnvts_prepared_model *prepared[MODELS];
    uint64_t turns;
    struct nnv_drift drift;
};

static bool make_marked(struct nnv_exec *x, uint32_t i, struct marked *m) {
    const struct nnv_fixture_kind *kind = nnv_fixture_by_name(x->fixture.spec->name);
    bool ok = nnv_context_drawn(x->s, kind, x->seed + 1 + i, &m->fixture[0]);
    for (uint32_t k = 1; k < INPUTS && ok; k++) ok = nnv_exec_variant_of(x, m->fixture[0].spec, k, &m->fixture[k]);
    for (uint32_t k = 0; k < INPUTS && ok; k++)
        ok = nnv_context_request(x->s, &m->fixture[k], NNV_POOL_READ_ONLY, &m->values[k]);
    return ok;
}

static bool prepare_marked(struct nnv_exec *x, struct stress *k, int stream) {
    return nnv_context_compile(x->s, &k->model[k->of[stream]].fixture[0], "prepare_model", NULL,
                               1u << NNVTS_STATUS_NONE, &k->prepared[stream]);
}

static bool make_stress(struct nnv_exec *x, struct stress *k) {
    bool ok = true;
    for (uint32_t i = 0; i < MODELS + SPARE && ok; i++) ok = make_marked(x, i, &k->model[i]);
    k->spare = MODELS;
    for (int i = 0; i < MODELS && ok; i++) {
        k->of[i] = i;
        ok = prepare_marked(x, k, i);
    }
    return ok;
}

/** Whose answer the request holds, other than its own. NULL: nobody's. */
static const struct mark *owner(const struct stress *k, const struct nnv_request *r, const struct mark *own) {
    for (int m = 0; m < MODELS + SPARE; m++)
        for (int i = 0; i < INPUTS; i++) {
            const struct marked *of = &k->model[m];
            const bool later = of->last[i].stream == own->stream && of->last[i].execution > own->execution;
            const struct mark *mark = later ? &of->before[i] : &of->last[i];
            if (mark->execution > 0 && nnv_context_would_do(&of->fixture[i], r)) return mark;
        }
    return NULL;
}

static struct mark mark_of(const struct stress *k, int stream, int round) {
    return (struct mark){stream, k->turns * ROUNDS + (uint64_t)round + 1};
}

/** Says whose answer an execution got where it is another's. */
static void tell_owner(struct nnv_exec *x, const struct stress *k, const struct client *c, struct mark own, int round) {
    const struct nnv_request *r = c->values[round];
    if (c->status[round] != NNVTS_STATUS_NONE || nnv_context_would_do(r->fixture, r)) return;
    const struct mark *mark = owner(k, r, &own);
    nnv_expect_why(x->s, mark == NULL, NNVTS_WHY_VALUES,
                   "execution %" PRIu64 " of stream %d has the answer of execution %" PRIu64 " of stream %d",
                   own.execution, own.stream + 1, mark ? mark->execution : 0, mark ? mark->stream + 1 : 0);
}

/** The inputs that a stream's executions of a turn have: none twice, in an order that differs from turn to turn. */
static int inputs_of(const struct nnv_exec *x, const struct stress *k, int stream, int round) {
    struct nnv_rng rng = nnv_rng_make(x->seed, k->turns, (uint64_t)stream);
    const uint64_t draw = nnv_rng_u64(&rng);
    return (int)((draw + (uint64_t)round * (draw >> 8 | 1)) % INPUTS);
}

/** A turn of all streams. */
static bool take_turn(struct nnv_exec *x, struct stress *k, uint64_t *quickest_ns) {
    struct client clients[MODELS] = {0};
    for (int s = 0; s < MODELS; s++) {
        struct marked *m = &k->model[k->of[s]];
        clients[s].prepared = k->prepared[s];
        for (int i = 0; i < ROUNDS; i++) {
            const int in = inputs_of(x, k, s, i);
            clients[s].values[i] = &m->values[in];
            m->before[in] = m->last[in];
            m->last[in] = mark_of(k, s, i);
        }
    }
    *quickest_ns = UINT64_MAX;
    bool ok = rush(x, clients);
    for (int s = 0; s < MODELS && ok; s++)
        for (int i = 0; i < ROUNDS && ok; i++) {
            if (clients[s].ns[i] < *quickest_ns) *quickest_ns = clients[s].ns[i];
            tell_owner(x, k, &clients[s], mark_of(k, s, i), i);
            ok = check_round(x, &clients[s], i);
        }
    k->turns++;
    return ok;
}

/** Now and then a stream's model is released, and the stream goes on with the one that waited. */
static bool renew(struct nnv_exec *x, struct stress *k) {
    const int stream = (int)(k->turns / RENEWED % MODELS), was = k->of[stream];
    if (k->turns % RENEWED != 0) return true;
    nnv_context_release(x->s, k->prepared[stream]);
    k->prepared[stream] = NULL;
    k->of[stream] = k->spare;
    k->spare = was;
    return prepare_marked(x, k, stream);
}

/** How long each case takes: as many as there are jobs go on at once. */
static uint64_t stress_ns(const struct nnv_run_config *config) {
    enum { MOMENT_NS = 10000000 };
    const uint64_t jobs = config->jobs > 1 ? (uint64_t)config->jobs : 1;
    return config->stress_ns ? config->stress_ns * jobs / nnv_fixture_count : MOMENT_NS;
}

/** The device goes and comes back, with models prepared on it. */
static bool suspend(struct nnv_exec *x, const char *hook) {
    struct nnv_err err = {0};
    return nnv_hook("--suspend-hook", hook, "SUSPEND", x->fixture.spec->name, &err) == NNV_OK ||
           nnv_context_error(x->s, "%s", err.text);
}

/** What has grown in all that time. */
static void judge_drift(struct nnv_exec *x, const struct nnv_drift *drift) {
    struct nnv_text said = {0};
    nnv_drift_json(drift, &x->s->result->drift);
    const enum nnvts_reason why = nnv_drift_judge(drift, &said);
    nnv_expect_why(x->s, why == NNVTS_WHY_NONE, why, "%s", said.data ? said.data : "");
    nnv_text_free(&said);
}

/** What the driver holds now; what processes of its own hold once or twice a block, since that takes longer. */
static void look(const struct nnv_drift *d, uint64_t at_ns, uint64_t *next_ns, uint64_t now[NNV_DRIFT_KINDS]) {
    struct nnv_resources others;
    const uint64_t block_ns = d->length_ns / NNV_DRIFT_BLOCKS;
    for (int k = 0; k < NNV_DRIFT_TIME; k++) now[k] = NNV_DRIFT_UNSEEN;
    nnv_held_count(now);
    if (at_ns < *next_ns || block_ns == 0) return;
    const uint64_t next_block_ns = (at_ns / block_ns + 1) * block_ns;
    *next_ns = at_ns + block_ns / 2 < next_block_ns ? at_ns + block_ns / 2 : next_block_ns;
    if (!nnv_resources_count_others(&others)) return;
    now[NNV_DRIFT_OTHERS_DESCRIPTORS] = others.descriptors;
    now[NNV_DRIFT_OTHERS_THREADS] = others.threads;
    now[NNV_DRIFT_OTHERS_MEMORY] = others.memory_bytes;
}

/** As threads, for a while, and now and then one of the models is released for another; in the middle the device is
 * suspended, where there is a command for that. */
static void stress(struct nnv_exec *x) {
    struct stress *k = NNV_NEW(x->s->env->arena, struct stress, 1);
    if (!k) {
        nnv_context_error(x->s, NNV_OUT_OF_MEMORY);
        return;
    }
    const struct nnv_run_config *config = x->s->env->config;
    const char *hook = config->stress_ns > 0 ? config->suspend_hook : NULL;
    bool ok = make_stress(x, k);
    uint64_t begun_ns = nnv_now_ns(), at_ns = 0, next_ns = 0, now[NNV_DRIFT_KINDS] = {0};
    k->drift.length_ns = stress_ns(config);
    while (ok && (k->turns < TURNS || hook != NULL || at_ns < k->drift.length_ns)) {
        if (hook != NULL && at_ns >= k->drift.length_ns / 2) {
            const uint64_t gone_ns = nnv_now_ns();
            ok = suspend(x, hook);
            begun_ns += nnv_now_ns() - gone_ns;
            hook = NULL;
        }
        ok = ok && take_turn(x, k, &now[NNV_DRIFT_TIME]) && renew(x, k);
        at_ns = nnv_now_ns() - begun_ns;
        if (config->stress_ns > 0) look(&k->drift, at_ns, &next_ns, now);
        if (ok) nnv_drift_note(&k->drift, at_ns, now, MODELS * ROUNDS);
    }
    if (ok) judge_drift(x, &k->drift);
    for (int i = 0; i < MODELS; i++) nnv_context_release(x->s, k->prepared[i]);
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
