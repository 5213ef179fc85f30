/* SPDX-License-Identifier: Apache-2.0 */
/** @file qos.c The suite "qos": priorities, preferences, deadlines, and loops that do not end. */
#include "harness/suites/qos/qos.h"

#include <stdio.h>
#include <unistd.h>

#include "base/clock.h"
#include "harness/suites/kit/context.h"
#include "harness/suites/kit/cases.h"
#include "harness/suites/suites.h"

/** What a case has at hand: a fixture and a request; prepared: by the usual configuration, unless the case prepares. */
struct fixture {
    struct nnv_context *s;
    struct nnv_fixture fixture;
    struct nnvts_prepared_model *prepared;
    struct nnv_request values;
    struct nnv_execution run; /**< what is opened for the first execution serves all */
    uint64_t arg;
};

enum model { FIXTURES, WORK, LOOP };

struct qos_case {
    const char *name;
    void (*run)(struct fixture *b);
    uint64_t arg;
    enum model model;
    bool modes; /**< in each mode of execution */
    bool prepares;
    int tier;
    bool timed; /**< the verdict hangs on how long it takes */
};

enum {
    NONE = 1u << NNVTS_STATUS_NONE,
    MISSED = 1u << NNVTS_STATUS_MISSED_DEADLINE_TRANSIENT | 1u << NNVTS_STATUS_MISSED_DEADLINE_PERSISTENT,
};
/* Deadlines, as a case's argument: points of time relative to the call. */
static const uint64_t PAST = 0, TIGHT = UINT64_C(5000000), FAR = UINT64_C(3600) * 1000000000;
/* What a machine under load may add to anything: not a measure of speed, but of hanging. */
static const uint64_t SLACK_NS = UINT64_C(1000000000), WORK_SLACK_NS = UINT64_C(250000000);

static uint64_t deadline(uint64_t from_now_ns) { return from_now_ns == PAST ? 1 : nnv_now_ns() + from_now_ns; }

/* ---------------------------------------------------------------- executions */

/*
 * Either the right values, or MISSED_DEADLINE_* and nothing else. A deadline that is far away must not be missed.
 * False: the case is over.
 */
static bool judge(struct fixture *b, const char *call, const struct nnv_execution *x, bool may_miss) {
    struct nnv_context *s = b->s;
    nnv_context_enter(s, NNV_PHASE_CHECK);
    if (!nnv_expect_status_in(s, call, x->status, may_miss ? NONE | MISSED : NONE)) return false;
    if (x->status == NNVTS_STATUS_NONE) return nnv_context_check_values(s, call, x->status, &b->values);
    const struct nnvts_execution_result *r = &b->values.result;
    return nnv_context_check_memory(s, call, &b->values) &&
           nnv_expect(s, r->shape_count == 0, "%s missed its deadline, but reports %u shapes", call, r->shape_count) &&
           nnv_expect(s, r->timing.on_device_ns == NNVTS_NO_TIME && r->timing.in_driver_ns == NNVTS_NO_TIME,
                      "%s missed its deadline, but reports timings", call);
}

static bool execute(struct fixture *b, const char *call, bool may_miss) {
    nnv_request_reset(&b->values);
    return nnv_context_attempt(b->s, &b->run) && judge(b, call, &b->run, may_miss);
}

/* A deadline, then none, then one again: of no execution anything may be left for the next. */
static void execute_by(struct fixture *b) {
    b->run.config.deadline_ns = deadline(b->arg);
    if (!execute(b, "an execution with a deadline", b->arg != FAR)) return;
    b->run.config.deadline_ns = NNVTS_NO_TIME;
    if (!execute(b, "an execution without a deadline, behind one with,", false)) return;
    b->run.config.deadline_ns = deadline(b->arg);
    execute(b, "an execution with a deadline, behind one without,", b->arg != FAR);
}

static void fenced_duration(struct fixture *b) {
    b->run.mode = NNV_MODE_FENCED;
    b->run.duration_ns = b->arg;
    if (!execute(b, "a fenced execution with a duration", b->arg != FAR)) return;
    b->run.duration_ns = NNVTS_NO_TIME;
    execute(b, "a fenced execution without a duration, behind one with,", false);
}

/*
 * Work that takes a while, with deadlines before, within and behind it. No answer may take far longer than the work
 * itself takes without a deadline; what a loaded machine adds is measured with it, and tried again.
 */
static void work(struct fixture *b) {
    enum { TRIES = 2, FACTOR = 10 };
    uint64_t whole_ns = 0;
    for (int i = 0; i < 3; i++) {
        if (!execute(b, "an execution without a deadline", false)) return;
        if (b->run.ns > whole_ns) whole_ns = b->run.ns;
    }
    for (uint64_t share = 0; share <= 8; share++) {
        const uint64_t limit_ns = FACTOR * whole_ns + WORK_SLACK_NS;
        for (int i = 0; i < TRIES; i++) {
            b->run.config.deadline_ns = nnv_now_ns() + whole_ns * share / 4;
            if (!execute(b, "an execution with a deadline", true)) return;
            if (b->run.ns <= limit_ns) break;
        }
        if (!nnv_expect(b->s, b->run.ns <= limit_ns,
                        "with a deadline %llu ms away the answer took %llu ms; without a deadline it takes %llu ms",
                        (unsigned long long)(whole_ns * share / 4000000), (unsigned long long)b->run.ns / 1000000,
                        (unsigned long long)whole_ns / 1000000))
            return;
    }
}

/* --------------------------------------------------------------- compilation */

/* Prepares by the configuration; judges the object that must or must not be there. False: nothing was prepared. */
static bool prepare(struct fixture *b, const struct nnvts_prepare_config *config, bool may_miss) {
    return nnv_context_compile(b->s, &b->fixture, "prepare_model", config, may_miss ? NONE | MISSED : NONE,
                               &b->prepared) &&
           b->prepared;
}

static void try_out(struct fixture *b) { nnv_context_execute(b->s, b->prepared, &b->values); }

static void release(struct fixture *b) {
    nnv_context_release(b->s, b->prepared);
    b->prepared = NULL;
}

static void prepare_as(struct fixture *b, const struct nnvts_prepare_config *config, bool may_miss) {
    if (prepare(b, config, may_miss)) try_out(b);
    release(b);
    /* The device is as it was. */
    if (may_miss && prepare(b, &nnv_prepare_config, false)) try_out(b);
}

static void preference(struct fixture *b) {
    struct nnvts_prepare_config config = nnv_prepare_config;
    config.preference = (uint32_t)b->arg;
    prepare_as(b, &config, false);
}

static void priority(struct fixture *b) {
    struct nnvts_prepare_config config = nnv_prepare_config;
    config.priority = (uint32_t)b->arg;
    prepare_as(b, &config, false);
}

static void prepare_by(struct fixture *b) {
    struct nnvts_prepare_config config = nnv_prepare_config;
    config.deadline_ns = deadline(b->arg);
    prepare_as(b, &config, b->arg != FAR);
}

/* ----------------------------------------------------------- compilation cache */

static bool make_files(struct fixture *b, uint32_t count, int *fds) {
    for (uint32_t i = 0; i < count; i++) fds[i] = -1;
    for (uint32_t i = 0; i < count; i++) {
        fds[i] = nnv_memory_file("nnvts-cache", 0, 0);
        if (fds[i] < 0) return nnv_context_error(b->s, "no memory for a cache file");
    }
    return true;
}

static void close_files(uint32_t count, const int *fds) {
    for (uint32_t i = 0; i < count; i++)
        if (fds[i] >= 0) close(fds[i]);
}

/* From files that a compilation wrote: by the deadline, then without. The second may fail as caches may, but not by it.
 */
static void from_cache(struct fixture *b, const struct nnvts_cache *cache) {
    enum { UNFIT = 1u << NNVTS_STATUS_GENERAL_FAILURE };
    struct nnv_context *s = b->s;
    struct nnvts_prepare_config config = nnv_prepare_config;
    config.cache = cache;
    if (!prepare(b, &config, false)) return;
    for (int i = 0; i < 2; i++) {
        release(b);
        const bool may_miss = i == 0 && b->arg != FAR;
        struct nnv_preparation p = {.device = s->device, .abi = &b->fixture.model, .phase = s->env->phase};
        nnv_prepare_from_cache(&p, cache, i ? NNVTS_NO_TIME : deadline(b->arg));
        b->prepared = p.prepared;
        if (!nnv_expect_status_in(s, p.call, p.status, may_miss ? NONE | MISSED | UNFIT : NONE | UNFIT) ||
            !nnv_expect_kept(s, p.call, &p.breach, p.status == NNVTS_STATUS_NONE ? 2 : 1))
            return;
        if (b->prepared) try_out(b);
    }
}

static void cache_by(struct fixture *b) {
    const struct nnvts_device *d = b->s->device;
    int fds[2 * NNVTS_MAX_CACHE_FILES];
    const uint32_t models = d->model_cache_files, data = d->data_cache_files;
    if ((models == 0 && data == 0) || !d->prepare_from_cache) {
        nnv_context_decline(b->s, NNVTS_WHY_FEATURE, "the driver does not cache compilations");
        return;
    }
    if (!nnv_expect(b->s, models <= NNVTS_MAX_CACHE_FILES && data <= NNVTS_MAX_CACHE_FILES,
                    "%u and %u cache files, at most %u each are allowed", models, data, NNVTS_MAX_CACHE_FILES))
        return;
    const struct nnvts_cache cache = {.model_fds = fds,
                                      .model_fd_count = models,
                                      .data_fds = fds + models,
                                      .data_fd_count = data,
                                      .token = {'q', 'o', 's'}};
    if (make_files(b, models + data, fds)) from_cache(b, &cache);
    close_files(models + data, fds);
}

/* --------------------------------------------------------------------- loops */

static void loop_ends(struct fixture *b) {
    b->run.config.loop_timeout_ns = b->arg;
    execute(b, "a loop of a few iterations", false);
}

/* The same prepared model, given a step of 0: its loop never ends. loop_ns: its timeout; by_ns: its deadline. */
static void endless(struct fixture *b, uint64_t loop_ns, uint64_t by_ns, uint64_t within_ns) {
    struct nnv_context *s = b->s;
    struct nnv_fixture forever = b->fixture;
    struct nnv_spec *spec;
    struct nnv_request values;
    struct nnv_err err = {0};
    if (nnv_qos_loop(1, 0, s->env->arena, &spec, &err) != NNV_OK) {
        nnv_context_error(s, "%s", err.text);
        return;
    }
    forever.spec = spec;
    if (!nnv_context_request(s, &forever, NNV_POOL_READ_ONLY, &values)) return;
    struct nnv_execution run = nnv_execution_make(b->run.mode, b->prepared, &values);
    run.config.loop_timeout_ns = loop_ns;
    if (by_ns != NNVTS_NO_TIME) run.config.deadline_ns = deadline(by_ns);
    if (!nnv_context_try(s, &run)) return;
    nnv_context_enter(s, NNV_PHASE_CHECK);
    if (!nnv_context_check_memory(s, "an endless loop", &values) ||
        !nnv_expect_status_in(s, "a WHILE that never ends", run.status, MISSED))
        return;
    nnv_expect(s, run.ns <= within_ns, "a WHILE that never ends gave up after %llu ms, its time was %llu ms",
               (unsigned long long)run.ns / 1000000,
               (unsigned long long)(loop_ns == NNVTS_NO_TIME ? NNVTS_LOOP_TIMEOUT_DEFAULT_NS : loop_ns) / 1000000);
    /* And a loop that ends still does. */
    execute(b, "a loop of a few iterations, behind one without end,", false);
}

static void loop_endless(struct fixture *b) { endless(b, b->arg, NNVTS_NO_TIME, b->arg + SLACK_NS); }

static void loop_default(struct fixture *b) {
    endless(b, NNVTS_NO_TIME, NNVTS_NO_TIME, NNVTS_LOOP_TIMEOUT_DEFAULT_NS + SLACK_NS);
}

static void loop_deadline(struct fixture *b) {
    endless(b, NNVTS_NO_TIME, b->arg, NNVTS_LOOP_TIMEOUT_DEFAULT_NS + SLACK_NS);
}

/* ------------------------------------------------------------------ registry */

static const struct qos_case cases[] = {
    {"preference_low_power", preference, ANEURALNETWORKS_PREFER_LOW_POWER, FIXTURES, false, true, 0, false},
    {"preference_fast_answer", preference, ANEURALNETWORKS_PREFER_FAST_SINGLE_ANSWER, FIXTURES, false, true, 0, false},
    {"preference_sustained", preference, ANEURALNETWORKS_PREFER_SUSTAINED_SPEED, FIXTURES, false, true, 0, false},
    {"priority_low", priority, NNVTS_PRIORITY_LOW, FIXTURES, false, true, 0, false},
    {"priority_medium", priority, NNVTS_PRIORITY_MEDIUM, FIXTURES, false, true, 0, false},
    {"priority_high", priority, NNVTS_PRIORITY_HIGH, FIXTURES, false, true, 0, false},
    {"prepare_past", prepare_by, PAST, FIXTURES, false, true, 0, false},
    {"prepare_tight", prepare_by, TIGHT, FIXTURES, false, true, 0, false},
    {"prepare_far", prepare_by, FAR, FIXTURES, false, true, 0, false},
    {"cache_past", cache_by, PAST, FIXTURES, false, true, 0, false},
    {"cache_tight", cache_by, TIGHT, FIXTURES, false, true, 0, false},
    {"cache_far", cache_by, FAR, FIXTURES, false, true, 0, false},
    {"execute_past", execute_by, PAST, FIXTURES, true, false, 0, false},
    {"execute_tight", execute_by, TIGHT, FIXTURES, true, false, 0, false},
    {"execute_far", execute_by, FAR, FIXTURES, true, false, 0, false},
    {"duration_none", fenced_duration, 0, FIXTURES, false, false, 0, false},
    {"duration_tight", fenced_duration, TIGHT, FIXTURES, false, false, 0, false},
    {"duration_far", fenced_duration, FAR, FIXTURES, false, false, 0, false},
    {"work", work, 0, WORK, true, false, 1, true},
    {"loop_ends", loop_ends, NNVTS_NO_TIME, LOOP, true, false, 0, false},
    {"loop_ends_in_time", loop_ends, FAR, LOOP, true, false, 0, false},
    {"loop_endless", loop_endless, UINT64_C(1000000), LOOP, true, false, 0, true},
    {"loop_no_time", loop_endless, 0, LOOP, true, false, 0, true},
    {"loop_default", loop_default, 0, LOOP, true, false, 2, true},
    {"loop_deadline", loop_deadline, UINT64_C(20000000), LOOP, true, false, 2, true},
};

/* Adds a case, once for each mode of execution; what names the model. */
static enum nnv_status add(struct nnv_case_list *list, size_t i, uint64_t fixture, const char *what, const char *op,
                           const char *type, struct nnv_err *err) {
    enum nnv_status st = NNV_OK;
    for (int mode = 0; mode < (cases[i].modes ? NNV_MODES : 1) && !st; mode++) {
        const struct nnv_case c = {.op = op,
                                   .type = type,
                                   .tags = cases[i].timed ? NNV_TAG_TIMING : "",
                                   .a = i,
                                   .c = (uint64_t)mode,
                                   .d = fixture};
        st = nnv_list_case(list, c, err, "qos/%s/%s%s%s", cases[i].name, what, cases[i].modes ? "/" : "",
                           cases[i].modes ? nnv_mode_name((enum nnv_mode)mode) : "");
    }
    return st;
}

static enum nnv_status list_all(const struct nnv_run_config *config, struct nnv_case_list *list, struct nnv_err *err) {
    enum nnv_status st = NNV_OK;
    for (size_t i = 0; i < sizeof cases / sizeof *cases && !st; i++) {
        if (nnv_tier(config) < cases[i].tier) continue;
        if (cases[i].model == WORK) st = add(list, i, 0, "products", "FULLY_CONNECTED", "float32", err);
        if (cases[i].model == LOOP) st = add(list, i, 0, "while", "WHILE", "int32", err);
        for (size_t k = 0; k < nnv_fixture_count && cases[i].model == FIXTURES && !st; k++)
            st = add(list, i, k, nnv_fixtures[k].name, nnv_fixtures[k].op, nnv_fixtures[k].type, err);
    }
    return st;
}

static enum nnv_status build(const struct nnv_run_config *config, const struct nnv_case *c, struct nnv_arena *arena,
                             struct nnv_spec **spec, struct nnv_err *err) {
    enum { PRODUCTS = 3 };
    switch (cases[c->a].model) {
    case FIXTURES:
        return nnv_fixture_build(nnv_case_fixture(c), config->seed, arena, spec, err);
    case WORK:
        return nnv_fixture_work(PRODUCTS, arena, spec, err);
    case LOOP:
        return nnv_qos_loop(7, 2, arena, spec, err);
    }
    return nnv_fail(err, NNV_INTERNAL, "no such model");
}

static void run(struct nnv_case_env *env, const struct nnv_case *c, struct nnv_result *result) {
    struct nnv_context s;
    struct fixture b = {.s = &s, .arg = cases[c->a].arg};
    struct nnv_spec *spec;
    struct nnv_err err = {0};
    nnv_context_begin(&s, env, result);
    if (build(env->config, c, env->arena, &spec, &err) != NNV_OK) {
        nnv_context_error(&s, "%s", err.text);
    } else if (nnv_result_level(env, spec->min_version, result) && nnv_context_model(&s, spec, &b.fixture) &&
               nnv_context_request(&s, &b.fixture, NNV_POOL_READ_ONLY, &b.values)) {
        nnv_request_state_outputs(&b.values, true); /* as fenced executions need it */
        const bool ready = cases[c->a].prepares ? nnv_context_supports(&s, &b.fixture)
                                                : (b.prepared = nnv_context_prepare(&s, &b.fixture)) != NULL;
        b.run = nnv_execution_make((enum nnv_mode)c->c, b.prepared, &b.values);
        if (ready) cases[c->a].run(&b);
        if (b.run.open) nnv_context_close(&s, &b.run);
    }
    nnv_context_release(&s, b.prepared);
    nnv_context_end(&s);
}

const struct nnv_suite nnv_suite_qos = {
    .name = "qos",
    .summary = "priorities, preferences, deadlines: missed honestly or met with right values; loops that never end",
    .precision = NNV_PRECISION_BUDGET,
    .by_default = true,
    .list = list_all,
    .run = run,
};
