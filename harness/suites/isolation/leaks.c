/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file leaks.c What is left after the same thing was done many times: descriptors and threads must be as
 * many as before, and memory must not grow on and on.
 */
#include <inttypes.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/clock.h"
#include "harness/suites/cache/cache.h"
#include "harness/suites/isolation/isolation.h"
#include "harness/suites/kit/cases.h"
#include "randgraph/single/single.h"

/*
 * Memory may grow now and then: pools, stacks, fragments, an arena of malloc for each thread until all threads have
 * one. A leak grows in each part of the repeats, also of those that are made when all before have grown.
 */
/* A pool of threads may grow by a few, too; a leak is at least one in so many of few repeats. */
enum { POOL_GROWTH = 5, REPEATS_A_THREAD = 20 };
enum {
    PARTS = 4,
    PARTS_OF_LEAKS = 10, /* at least */
    PART = 25,
    PART_OF_EXECUTIONS = 250,
    WARM = 20,
    GROWTH_BYTES = 32 << 10,
    NO_TYPE = 0x7777
};
static const uint64_t SETTLE_NS = 400000000;

/** One repeat; false if it could not be done: the verdict is written. Allocates nothing of nnvts's. */
typedef bool (*repeat_fn)(void *context);

/* Repeats as often as asked, or twice at least, until the time is up; *done: how often. Each has the time of a case: a
 * device behind a slow line takes long to open. */
static bool repeat(struct nnv_context *s, repeat_fn fn, void *context, uint32_t times, uint64_t until_ns,
                   uint32_t *done) {
    for (*done = 0; *done < times && (*done < 2 || nnv_now_ns() < until_ns); ++*done) {
        if (!fn(context)) return false;
        if (s->env->serial != NULL) atomic_fetch_add(s->env->serial, 1);
    }
    return true;
}

/* By how many threads a pool may grow in so many repeats. */
static uint32_t pool_growth(uint32_t times) {
    return times / REPEATS_A_THREAD < POOL_GROWTH ? times / REPEATS_A_THREAD : POOL_GROWTH;
}

static void expect_same(struct nnv_context *s, const char *what, const struct nnv_resources *before,
                        const struct nnv_resources *after, uint32_t times) {
    nnv_expect(s, after->descriptors <= before->descriptors,
               "%" PRIu32 " times %s: %" PRIu32 " descriptors before, %" PRIu32 " after; a driver must %s", times, what,
               before->descriptors, after->descriptors, nnv_held_words[NNV_HELD_DESCRIPTORS].duty);
    nnv_expect(s, after->threads <= before->threads + pool_growth(times),
               "%" PRIu32 " times %s: %" PRIu32 " threads before, %" PRIu32 " after; a driver must %s", times, what,
               before->threads, after->threads, nnv_held_words[NNV_HELD_THREADS].duty);
    nnv_expect(s, after->processes <= before->processes,
               "%" PRIu32 " times %s: %" PRIu32 " processes before, %" PRIu32 " after", times, what, before->processes,
               after->processes);
}

/** Memory has grown in each part so far: whether there were enough of them. */
static bool is_leak(int parts, uint32_t times, const struct nnv_resources *first, const struct nnv_resources *now) {
    return parts >= PARTS_OF_LEAKS && nnv_held_is_leak(times, now->memory_bytes - first->memory_bytes);
}

/**
 * Warms up, repeats in parts, and compares what is held. A part is as long as asked for, or as a slow driver can do in
 * a twentieth of the case's time. Where there is no time for all that a leak takes, nothing is said of memory.
 */
static void measure(struct nnv_context *s, const char *what, uint32_t part, repeat_fn fn, void *context) {
    struct nnv_resources first, at, previous;
    bool grew = true;
    uint64_t least = UINT64_MAX;
    const uint64_t share = s->env->config->timeout_ns ? s->env->config->timeout_ns / 20 : UINT64_MAX / 40;
    const uint64_t until = nnv_now_ns() + 12 * share;
    uint32_t done, times = 0;
    nnv_held_trim(); /* a leak into what earlier cases have freed would not show */
    if (!repeat(s, fn, context, WARM, nnv_now_ns() + share, &done)) return;
    if (!nnv_resources_rest(SETTLE_NS / 16, &first)) {
        nnv_context_decline(s, NNVTS_WHY_SYSTEM, "this system does not tell what a process holds");
        return;
    }
    previous = first;
    for (int i = 0; i < PARTS || (grew && nnv_held_memory_tells() && !is_leak(i, times, &first, &previous)); i++) {
        if (i && nnv_now_ns() >= until) {
            grew = false;
            break;
        }
        if (!repeat(s, fn, context, part, i ? until : nnv_now_ns() + share, &done) || !nnv_resources_count(&at)) return;
        times += done;
        if (i && done < part) {
            grew = false;
            break;
        }
        part = done;
        uint64_t growth = at.memory_bytes > previous.memory_bytes ? at.memory_bytes - previous.memory_bytes : 0;
        grew = grew && growth >= GROWTH_BYTES;
        if (growth < least) least = growth;
        previous = at;
    }
    struct nnv_resources limit = first;
    limit.threads += pool_growth(times);
    if (!nnv_resources_settle(&limit, SETTLE_NS, &at)) return;
    expect_same(s, what, &first, &at, times);
    if (nnv_held_memory_tells())
        nnv_expect(s, !grew, "memory grows with each %s by %" PRIu64 " bytes or more; a driver must %s", what,
                   least / part, nnv_held_words[NNV_HELD_HEAP].duty);
}

/* ------------------------------------------------------------------- what is repeated */

/** What is at hand for a repeat. */
struct leak {
    struct nnv_context *s;
    struct nnv_tenant *tenant;
    struct nnvts_device *device;
    struct nnv_cache_files files; /**< of caches */
    struct nnv_arena *scratch;    /**< reset by each repeat: what nnvts needs does not grow */
    struct nnv_fixture wrong;     /**< the model with inputs that it can't compute with */
};

static bool execute(struct leak *l, struct nnvts_prepared_model *prepared) {
    struct nnv_request *v = &l->tenant->values;
    nnv_request_reset(v);
    return nnv_expect_status(l->s, "execute", nnv_context_sync(l->s, prepared, v), NNVTS_STATUS_NONE);
}

static bool one_execution(void *context) {
    struct leak *l = context;
    return execute(l, l->tenant->prepared);
}

/** Asked, prepared, executed, released. */
static bool one_model(void *context) {
    struct leak *l = context;
    struct nnv_context *s = l->s;
    struct nnv_preparation p = {.device = l->device, .abi = &l->tenant->fixture.model, .phase = s->env->phase};
    nnv_arena_reset(l->scratch);
    nnv_ask_supported(&p, l->scratch);
    if (!nnv_expect_kept(s, p.call, &p.breach, 0) || !nnv_expect_status(s, p.call, p.status, NNVTS_STATUS_NONE))
        return false;
    nnv_prepare(&p);
    if (!nnv_expect_kept(s, p.call, &p.breach, 2) || !nnv_expect_status(s, p.call, p.status, NNVTS_STATUS_NONE))
        return false;
    bool ok = execute(l, p.prepared);
    nnv_context_release(s, p.prepared);
    return ok;
}

static bool one_device(void *context) {
    struct leak *l = context;
    struct nnv_client client = {0};
    struct nnv_err err = {0};
    nnv_context_enter(l->s, NNV_PHASE_OPEN);
    enum nnv_status st = nnv_client_attach(&client, l->s->env->client->driver, l->s->env->config->driver,
                                           l->s->env->config->driver_options, &err);
    if (!nnv_expect(l->s, st == NNV_OK, "a driver must open as many devices as it is asked for: %s", err.text))
        return false;
    l->device = client.device;
    bool ok = one_model(l);
    nnv_context_enter(l->s, NNV_PHASE_RELEASE);
    nnv_client_close(&client);
    return ok;
}

static bool one_burst(void *context) {
    static const int64_t tokens[] = {1, 2};
    struct leak *l = context;
    struct nnv_execution x = nnv_execution_make(NNV_MODE_BURST, l->tenant->prepared, &l->tenant->values);
    x.tokens = tokens;
    nnv_request_reset(&l->tenant->values);
    return nnv_context_try(l->s, &x) && nnv_expect_status(l->s, x.call, x.status, NNVTS_STATUS_NONE);
}

/** An execution behind two fences that are signalled: a driver must close what it takes of them, and its own. */
static bool one_fenced(void *context) {
    struct leak *l = context;
    const int waits[] = {eventfd(1, EFD_CLOEXEC), eventfd(1, EFD_CLOEXEC)};
    struct nnv_execution x = nnv_execution_make(NNV_MODE_FENCED, l->tenant->prepared, &l->tenant->values);
    bool ok = waits[0] >= 0 && waits[1] >= 0;
    if (!ok) nnv_context_error(l->s, "no fence can be made");
    x.wait_for = waits;
    x.wait_for_count = 2;
    nnv_request_reset(&l->tenant->values);
    ok = ok && nnv_context_try(l->s, &x) && nnv_expect_status(l->s, x.call, x.status, NNVTS_STATUS_NONE);
    for (int i = 0; i < 2; i++)
        if (waits[i] >= 0) close(waits[i]);
    return ok;
}

/** prepare_model of a model whose first operand is of a type that does not exist. */
static bool one_refusal(void *context) {
    struct leak *l = context;
    struct nnvts_model bad = l->tenant->fixture.model;
    struct nnv_preparation p = {.device = l->device, .abi = &bad, .phase = l->s->env->phase};
    nnv_arena_reset(l->scratch);
    struct nnvts_operand *operands =
        nnv_arena_copy(l->scratch, bad.main.operands, bad.main.operand_count * sizeof *operands);
    if (!operands) return nnv_context_error(l->s, NNV_OUT_OF_MEMORY);
    operands[0].type = NO_TYPE;
    bad.main.operands = operands;
    nnv_prepare(&p);
    if (p.prepared) nnv_context_release(l->s, p.prepared);
    return nnv_expect(l->s, !p.prepared && p.status != NNVTS_STATUS_NONE,
                      "a model with an operand of a type that does not exist was prepared");
}

/** An execution whose output lies in a pool that does not exist. */
static bool one_failure(void *context) {
    struct leak *l = context;
    struct nnv_request *v = &l->tenant->values;
    nnv_request_reset(v);
    v->outputs[0].location.pool = 2;
    const enum nnvts_status status = nnv_context_sync(l->s, l->tenant->prepared, v);
    nnv_request_reset(v);
    return nnv_expect(l->s, status != NNVTS_STATUS_NONE, "an output in a pool that does not exist was accepted");
}

/** An execution whose deadline has passed; whether that is missed is not judged here. */
static bool one_late(void *context) {
    struct leak *l = context;
    struct nnv_execution x = nnv_execution_make(NNV_MODE_SYNC, l->tenant->prepared, &l->tenant->values);
    x.config.deadline_ns = 1;
    nnv_request_reset(&l->tenant->values);
    return nnv_context_try(l->s, &x);
}

/** An execution of wrong inputs; what it answers is not judged here. */
static bool one_error(void *context) {
    struct leak *l = context;
    nnv_request_reset(&l->tenant->values);
    nnv_context_sync(l->s, l->tenant->prepared, &l->tenant->values);
    return true;
}

static void load(const struct leak *l, const struct nnvts_cache *cache) {
    struct nnv_preparation p = {.device = l->device, .abi = &l->tenant->fixture.model, .phase = l->s->env->phase};
    nnv_prepare_from_cache(&p, cache, NNVTS_NO_TIME);
    if (p.prepared) nnv_context_release(l->s, p.prepared);
}

/** Saved, loaded, and loaded where a file has become empty; whether a load goes well is not judged here. */
static bool one_cache(void *context) {
    struct leak *l = context;
    const struct nnvts_cache cache = nnv_cache_view(&l->files);
    struct nnvts_prepare_config config = nnv_prepare_config;
    config.cache = &cache;
    struct nnv_preparation p = {
        .device = l->device, .abi = &l->tenant->fixture.model, .config = &config, .phase = l->s->env->phase};
    for (uint32_t i = 0; i < nnv_cache_count(&l->files); i++)
        if (!nnv_cache_put(&l->files, i, NULL, 0)) return nnv_context_error(l->s, "a cache file can't be written");
    nnv_prepare(&p);
    if (!nnv_expect_status(l->s, p.call, p.status, NNVTS_STATUS_NONE)) return false;
    nnv_context_release(l->s, p.prepared);
    load(l, &cache);
    if (!nnv_cache_put(&l->files, 0, NULL, 0)) return nnv_context_error(l->s, "a cache file can't be written");
    load(l, &cache);
    return true;
}

/* ---------------------------------------------------------------------- cases */

static bool open_files(struct leak *l) {
    const struct nnvts_device *d = l->device;
    const uint32_t models = d->model_cache_files, datas = d->data_cache_files;
    if (!d->prepare_from_cache || (models == 0 && datas == 0))
        return nnv_context_decline(l->s, NNVTS_WHY_FEATURE, "the driver has no cache files");
    if (models > NNVTS_MAX_CACHE_FILES || datas > NNVTS_MAX_CACHE_FILES)
        return nnv_context_decline(l->s, NNVTS_WHY_FEATURE, "the driver wants %u and %u cache files, at most %u each",
                                   models, datas, NNVTS_MAX_CACHE_FILES);
    return nnv_cache_open(l->s, models, datas, 0, &l->files);
}

/** What the thing that is repeated needs beside the model, which was executed once. */
static bool make_ready(struct leak *l, repeat_fn fn) {
    struct nnv_tenant *t = l->tenant;
    if (fn == one_burst) return nnv_context_needs(l->s, t->prepared, NNV_MODE_BURST);
    if (fn == one_fenced) return nnv_context_needs(l->s, t->prepared, NNV_MODE_FENCED);
    if (fn == one_cache) return open_files(l);
    return fn != one_error || nnv_context_request(&t->context, &l->wrong, NNV_POOL_READ_ONLY, &t->values);
}

/** Of the fixture; or of a spec, with the inputs that are wrong. */
static void leak_of(struct nnv_context *s, const struct nnv_fixture_kind *kind, const struct nnv_spec *spec,
                    const struct nnv_spec *wrong, const char *what, uint32_t part, repeat_fn fn) {
    struct nnv_tenant tenant;
    if (!nnv_tenant_open(s, &tenant)) return;
    struct leak l = {.s = s, .tenant = &tenant, .device = tenant.client.device, .scratch = nnv_arena_new()};
    if (!l.scratch) nnv_context_error(s, NNV_OUT_OF_MEMORY);
    if (l.scratch &&
        (spec ? nnv_tenant_take(&tenant, spec) : nnv_tenant_prepare(&tenant, kind, s->env->config->seed)) &&
        nnv_tenant_execute(&tenant)) {
        l.wrong = tenant.fixture;
        if (wrong) l.wrong.spec = wrong;
        const bool ready = make_ready(&l, fn);
        if (fn == one_fenced) nnv_request_state_outputs(&tenant.values, true); /* fences report no shapes */
        if (ready) measure(s, what, nnv_tier(s->env->config) == NNV_AMOUNT_FULL ? 4 * part : part, fn, &l);
        nnv_context_check_memory(s, what, &tenant.values);
    }
    nnv_cache_close(&l.files);
    nnv_arena_free(l.scratch);
    nnv_tenant_leave(&tenant);
}

static void leak(struct nnv_context *s, const struct nnv_fixture_kind *kind, const char *what, uint32_t part,
                 repeat_fn fn) {
    leak_of(s, kind, NULL, NULL, what, part, fn);
}

void nnv_isolation_leak_devices(struct nnv_context *s, const struct nnv_fixture_kind *kind) {
    leak(s, kind, "device that is opened, used and released", PART, one_device);
}
void nnv_isolation_leak_models(struct nnv_context *s, const struct nnv_fixture_kind *kind) {
    leak(s, kind, "model that is prepared, executed and released", PART, one_model);
}
void nnv_isolation_leak_executions(struct nnv_context *s, const struct nnv_fixture_kind *kind) {
    leak(s, kind, "execution", PART_OF_EXECUTIONS, one_execution);
}
void nnv_isolation_leak_bursts(struct nnv_context *s, const struct nnv_fixture_kind *kind) {
    leak(s, kind, "burst that is made, used and released", PART, one_burst);
}
void nnv_isolation_leak_fences(struct nnv_context *s, const struct nnv_fixture_kind *kind) {
    leak(s, kind, "execution that waits for fences", PART, one_fenced);
}
void nnv_isolation_leak_refusals(struct nnv_context *s, const struct nnv_fixture_kind *kind) {
    leak(s, kind, "model that is refused", PART, one_refusal);
}
void nnv_isolation_leak_failures(struct nnv_context *s, const struct nnv_fixture_kind *kind) {
    leak(s, kind, "execution that fails", PART, one_failure);
}
void nnv_isolation_leak_late(struct nnv_context *s, const struct nnv_fixture_kind *kind) {
    leak(s, kind, "execution whose deadline has passed", PART_OF_EXECUTIONS, one_late);
}
void nnv_isolation_leak_caches(struct nnv_context *s, const struct nnv_fixture_kind *kind) {
    leak(s, kind, "cache that is saved, loaded and damaged", PART, one_cache);
}

/* ------------------------------------------------------- errors of the execution itself */

/** Operations whose inputs may be a number that leads out of a tensor, or makes none of that size. */
static const int32_t numbered[] = {ANEURALNETWORKS_EMBEDDING_LOOKUP, ANEURALNETWORKS_GATHER, ANEURALNETWORKS_ROI_ALIGN,
                                   ANEURALNETWORKS_ROI_POOLING, ANEURALNETWORKS_RESHAPE};

enum nnv_status nnv_isolation_list_errors(struct nnv_case_list *list, struct nnv_case c, int tier,
                                          struct nnv_err *err) {
    static const char row[] = "isolation/leak_errors";
    enum nnv_status st = tier == NNV_AMOUNT_SMOKE ? NNV_OK : nnv_list_fixtures(list, row, c, "open_", err);
    for (size_t i = 0; i < sizeof numbered / sizeof *numbered; i++) {
        const struct nnv_op *op = nnv_op(numbered[i]);
        for (int sig = 0; sig < op->nsigs && !st; sig++) {
            char types[96];
            if (tier != NNV_AMOUNT_FULL && (sig > tier || (tier == NNV_AMOUNT_SMOKE && i > 0))) continue;
            c.op = op->name;
            c.type = nnv_type(op->sigs[sig].type[NNV_T])->tag;
            c.b = (uint64_t)sig;
            c.data = op;
            st = nnv_list_case(list, c, err, "%s/%s_%s", row, op->name,
                               nnv_single_sig_name(op, sig, types, sizeof types));
        }
    }
    return st;
}

/** All elements of tensors that are numbers become one that is out of range. */
static bool spoil_numbers(struct nnv_context *s, struct nnv_spec *spec) {
    enum { OUT_OF_RANGE = 70001 };
    const struct nnv_subgraph *main = &spec->model.main;
    for (uint32_t i = 0; i < main->nin; i++) {
        struct nnv_value *v = &spec->inputs[i];
        const size_t count = v->bytes / sizeof(int32_t);
        int32_t *to;
        if (main->operands[main->in[i]].type != ANEURALNETWORKS_TENSOR_INT32 || count == 0) continue;
        if (!(to = NNV_NEW(s->env->arena, int32_t, count))) return nnv_context_error(s, NNV_OUT_OF_MEMORY);
        for (size_t k = 0; k < count; k++) to[k] = OUT_OF_RANGE;
        v->data = to;
    }
    return true;
}

/** The last input of those whose extents the model leaves open has a row less than the others. */
static void shorten(struct nnv_spec *spec) {
    struct nnv_value *v = &spec->inputs[spec->model.main.nin - 1];
    v->bytes -= v->bytes / v->dims[0];
    v->dims[0]--;
}

void nnv_isolation_leak_errors(struct nnv_context *s, const struct nnv_case *c) {
    const struct nnv_single what = {
        .op = c->data, .sig = (int)c->b, .plan = NNV_PLAN_INPUTS, .seed = s->env->config->seed, .name = c->name};
    struct nnv_spec *spec;
    struct nnv_err err = {0};
    const enum nnv_status st = what.op ? nnv_single_build(&what, s->env->arena, &spec, &err)
                                       : nnv_fixture_build(nnv_case_fixture(c), what.seed, s->env->arena, &spec, &err);
    if (st != NNV_OK) {
        nnv_context_error(s, "%s", err.text);
        return;
    }
    struct nnv_spec wrong = *spec;
    if (!nnv_result_level(s->env, spec->min_version, s->result)) return;
    wrong.inputs = nnv_arena_copy(s->env->arena, spec->inputs, spec->model.main.nin * sizeof *spec->inputs);
    if (!wrong.inputs) {
        nnv_context_error(s, NNV_OUT_OF_MEMORY);
        return;
    }
    if (!what.op)
        shorten(&wrong);
    else if (!spoil_numbers(s, &wrong))
        return;
    leak_of(s, NULL, spec, &wrong, "execution of inputs that are out of range", PART_OF_EXECUTIONS, one_error);
}
