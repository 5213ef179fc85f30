/* SPDX-License-Identifier: Apache-2.0 */
/** @file qos.c The suite "qos": priorities, preferences, deadlines, and loops that do not end. */
#include "harness/suites/qos/qos.h"

#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/clock.h"
#include "harness/suites/kit/subjects.h"
#include "harness/suites/suites.h"
#include "harness/suites/kit/way.h"

/** What a case has at hand: a subject and a request; prepared: by the usual configuration, unless the case prepares. */
struct bench {
    struct nnv_session *s;
    struct nnv_subject subject;
    struct nnvts_prepared_model *prepared;
    struct nnv_values values;
    enum nnv_way way;
    uint64_t arg;
};

enum model { SUBJECTS, WORK, LOOP };

struct qos_case {
    const char *name;
    void (*run)(struct bench *b);
    uint64_t arg;
    enum model model;
    bool ways; /**< in each way to execute */
    bool prepares;
    int tier;
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

static const struct nnvts_execution_config no_deadline = {.deadline_ns = NNVTS_NO_TIME,
                                                          .loop_timeout_ns = NNVTS_NO_TIME};

/* ---------------------------------------------------------------- executions */

/*
 * Either the right values, or MISSED_DEADLINE_* and nothing else. A deadline that is far away must not be missed.
 * False: the case is over.
 */
static bool judge(struct bench *b, const char *call, const struct nnv_way_run *run, bool may_miss) {
    struct nnv_session *s = b->s;
    nnv_session_enter(s, NNV_PHASE_CHECK);
    if (!nnv_expect_status_in(s, call, run->status, may_miss ? NONE | MISSED : NONE)) return false;
    if (run->status == NNVTS_STATUS_NONE) return nnv_session_check_values(s, call, run->status, &b->values);
    const struct nnvts_execution_result *r = &b->values.result;
    return nnv_session_check_memory(s, call, &b->values) &&
           nnv_expect(s, r->shape_count == 0, "%s missed its deadline, but reports %u shapes", call, r->shape_count) &&
           nnv_expect(s, r->timing.on_device_ns == NNVTS_NO_TIME && r->timing.in_driver_ns == NNVTS_NO_TIME,
                      "%s missed its deadline, but reports timings", call);
}

static bool execute(struct bench *b, struct nnv_way_run *run, const char *call, bool may_miss) {
    return nnv_way_execute(b->s, b->prepared, &b->values, run) && judge(b, call, run, may_miss);
}

/* A deadline, and then none: nothing of the first may be left. */
static void execute_by(struct bench *b) {
    struct nnv_way_run run = {.way = b->way, .config = no_deadline, .duration_ns = NNVTS_NO_TIME};
    run.config.deadline_ns = deadline(b->arg);
    if (!execute(b, &run, "an execution with a deadline", b->arg != FAR)) return;
    run.config.deadline_ns = NNVTS_NO_TIME;
    execute(b, &run, "an execution without a deadline, behind one with,", false);
}

static void fenced_duration(struct bench *b) {
    struct nnv_way_run run = {.way = NNV_WAY_FENCED, .config = no_deadline, .duration_ns = b->arg};
    if (!execute(b, &run, "a fenced execution with a duration", b->arg != FAR)) return;
    run.duration_ns = NNVTS_NO_TIME;
    execute(b, &run, "a fenced execution without a duration, behind one with,", false);
}

/*
 * Work that takes a while, with deadlines before, within and behind it. No answer may take far longer than the work
 * itself takes without a deadline; what a loaded machine adds is measured with it, and tried again.
 */
static void work(struct bench *b) {
    enum { TRIES = 2, FACTOR = 10 };
    struct nnv_way_run run = {.way = b->way, .config = no_deadline, .duration_ns = NNVTS_NO_TIME};
    uint64_t whole_ns = 0;
    for (int i = 0; i < 3; i++) {
        if (!execute(b, &run, "an execution without a deadline", false)) return;
        if (run.elapsed_ns > whole_ns) whole_ns = run.elapsed_ns;
    }
    for (uint64_t share = 0; share <= 8; share++) {
        const uint64_t limit_ns = FACTOR * whole_ns + WORK_SLACK_NS;
        for (int i = 0; i < TRIES; i++) {
            run.config.deadline_ns = nnv_now_ns() + whole_ns * share / 4;
            if (!execute(b, &run, "an execution with a deadline", true)) return;
            if (run.elapsed_ns <= limit_ns) break;
        }
        if (!nnv_expect(b->s, run.elapsed_ns <= limit_ns,
                        "with a deadline %llu ms away the answer took %llu ms; without a deadline it takes %llu ms",
                        (unsigned long long)(whole_ns * share / 4000000), (unsigned long long)run.elapsed_ns / 1000000,
                        (unsigned long long)whole_ns / 1000000))
            return;
    }
}

/* --------------------------------------------------------------- compilation */

/* Prepares by the configuration; judges the object that must or must not be there. False: nothing was prepared. */
static bool prepare(struct bench *b, const struct nnvts_prepare_config *config, bool may_miss) {
    struct nnv_session *s = b->s;
    b->prepared = NULL;
    nnv_session_enter(s, NNV_PHASE_PREPARE);
    enum nnvts_status st = s->device->prepare_model(s->device, &b->subject.model, config, &b->prepared);
    if (!nnv_expect_status_in(s, "prepare_model", st, may_miss ? NONE | MISSED : NONE)) return false;
    if (st == NNVTS_STATUS_NONE) return nnv_session_check_prepared(s, "prepare_model", b->prepared);
    nnv_expect(s, !b->prepared, "prepare_model missed its deadline, but gave a prepared model");
    b->prepared = NULL;
    return false;
}

static void try_out(struct bench *b) { nnv_session_execute(b->s, b->prepared, &b->values); }

static void release(struct bench *b) {
    nnv_session_release(b->s, b->prepared);
    b->prepared = NULL;
}

static void prepare_as(struct bench *b, const struct nnvts_prepare_config *config, bool may_miss) {
    if (prepare(b, config, may_miss)) try_out(b);
    release(b);
    /* The device is as it was. */
    if (may_miss && prepare(b, &nnv_session_prepare_config, false)) try_out(b);
}

static void preference(struct bench *b) {
    struct nnvts_prepare_config config = nnv_session_prepare_config;
    config.preference = (uint32_t)b->arg;
    prepare_as(b, &config, false);
}

static void priority(struct bench *b) {
    struct nnvts_prepare_config config = nnv_session_prepare_config;
    config.priority = (uint32_t)b->arg;
    prepare_as(b, &config, false);
}

static void prepare_by(struct bench *b) {
    struct nnvts_prepare_config config = nnv_session_prepare_config;
    config.deadline_ns = deadline(b->arg);
    prepare_as(b, &config, b->arg != FAR);
}

/* ----------------------------------------------------------- compilation cache */

static bool make_files(struct bench *b, uint32_t count, int *fds) {
    for (uint32_t i = 0; i < count; i++) fds[i] = -1;
    for (uint32_t i = 0; i < count; i++) {
        fds[i] = memfd_create("nnvts-cache", MFD_CLOEXEC);
        if (fds[i] < 0) return nnv_session_error(b->s, "no memory for a cache file");
    }
    return true;
}

static void close_files(uint32_t count, const int *fds) {
    for (uint32_t i = 0; i < count; i++)
        if (fds[i] >= 0) close(fds[i]);
}

/* From files that a compilation wrote: by the deadline, then without. The second may fail as caches may, but not by it.
 */
static void from_cache(struct bench *b, const struct nnvts_cache *cache) {
    enum { UNFIT = 1u << NNVTS_STATUS_GENERAL_FAILURE };
    struct nnv_session *s = b->s;
    struct nnvts_prepare_config config = nnv_session_prepare_config;
    config.cache = cache;
    if (!prepare(b, &config, false)) return;
    for (int i = 0; i < 2; i++) {
        release(b);
        nnv_session_enter(s, NNV_PHASE_PREPARE);
        enum nnvts_status st =
            s->device->prepare_from_cache(s->device, cache, i ? NNVTS_NO_TIME : deadline(b->arg), &b->prepared);
        const bool may_miss = i == 0 && b->arg != FAR;
        if (!nnv_expect_status_in(s, "prepare_from_cache", st, may_miss ? NONE | MISSED | UNFIT : NONE | UNFIT)) return;
        if (st != NNVTS_STATUS_NONE) {
            nnv_expect(s, !b->prepared, "prepare_from_cache failed, but gave a prepared model");
            b->prepared = NULL;
        } else if (nnv_session_check_prepared(s, "prepare_from_cache", b->prepared)) {
            try_out(b);
        }
    }
}

static void cache_by(struct bench *b) {
    const struct nnvts_device *d = b->s->device;
    int fds[2 * NNVTS_MAX_CACHE_FILES];
    const uint32_t models = d->model_cache_files, data = d->data_cache_files;
    if ((models == 0 && data == 0) || !d->prepare_from_cache) {
        nnv_session_unsupported(b->s, "the driver does not cache compilations");
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

static void loop_ends(struct bench *b) {
    struct nnv_way_run run = {.way = b->way, .config = no_deadline, .duration_ns = NNVTS_NO_TIME};
    run.config.loop_timeout_ns = b->arg;
    execute(b, &run, "a loop of a few iterations", false);
}

/* The same prepared model, given a step of 0: its loop never ends. loop_ns: its timeout; by_ns: its deadline. */
static void endless(struct bench *b, uint64_t loop_ns, uint64_t by_ns, uint64_t within_ns) {
    struct nnv_session *s = b->s;
    struct nnv_subject forever = b->subject;
    struct nnv_spec *spec;
    struct nnv_values values;
    struct nnv_err err = {0};
    if (nnv_qos_loop(1, 0, s->env->arena, &spec, &err) != NNV_OK) {
        nnv_session_error(s, "%s", err.text);
        return;
    }
    forever.spec = spec;
    if (!nnv_session_values(s, &forever, NNV_SESSION_READ_ONLY, &values)) return;
    struct nnv_way_run run = {.way = b->way, .config = no_deadline, .duration_ns = NNVTS_NO_TIME};
    run.config.loop_timeout_ns = loop_ns;
    if (by_ns != NNVTS_NO_TIME) run.config.deadline_ns = deadline(by_ns);
    if (!nnv_way_execute(s, b->prepared, &values, &run)) return;
    nnv_session_enter(s, NNV_PHASE_CHECK);
    if (!nnv_session_check_memory(s, "an endless loop", &values) ||
        !nnv_expect_status_in(s, "a WHILE that never ends", run.status, MISSED))
        return;
    nnv_expect(s, run.elapsed_ns <= within_ns, "a WHILE that never ends gave up after %llu ms, its time was %llu ms",
               (unsigned long long)run.elapsed_ns / 1000000,
               (unsigned long long)(loop_ns == NNVTS_NO_TIME ? NNVTS_LOOP_TIMEOUT_DEFAULT_NS : loop_ns) / 1000000);
    /* And a loop that ends still does. */
    struct nnv_way_run again = {.way = b->way, .config = no_deadline, .duration_ns = NNVTS_NO_TIME};
    execute(b, &again, "a loop of a few iterations, behind one without end,", false);
}

static void loop_endless(struct bench *b) { endless(b, b->arg, NNVTS_NO_TIME, b->arg + SLACK_NS); }

static void loop_default(struct bench *b) {
    endless(b, NNVTS_NO_TIME, NNVTS_NO_TIME, NNVTS_LOOP_TIMEOUT_DEFAULT_NS + SLACK_NS);
}

static void loop_deadline(struct bench *b) {
    endless(b, NNVTS_NO_TIME, b->arg, NNVTS_LOOP_TIMEOUT_DEFAULT_NS + SLACK_NS);
}

/* ------------------------------------------------------------------ registry */

static const struct qos_case cases[] = {
    {"preference_low_power", preference, ANEURALNETWORKS_PREFER_LOW_POWER, SUBJECTS, false, true, 0},
    {"preference_fast_answer", preference, ANEURALNETWORKS_PREFER_FAST_SINGLE_ANSWER, SUBJECTS, false, true, 0},
    {"preference_sustained", preference, ANEURALNETWORKS_PREFER_SUSTAINED_SPEED, SUBJECTS, false, true, 0},
    {"priority_low", priority, NNVTS_PRIORITY_LOW, SUBJECTS, false, true, 0},
    {"priority_medium", priority, NNVTS_PRIORITY_MEDIUM, SUBJECTS, false, true, 0},
    {"priority_high", priority, NNVTS_PRIORITY_HIGH, SUBJECTS, false, true, 0},
    {"prepare_past", prepare_by, PAST, SUBJECTS, false, true, 0},
    {"prepare_tight", prepare_by, TIGHT, SUBJECTS, false, true, 0},
    {"prepare_far", prepare_by, FAR, SUBJECTS, false, true, 0},
    {"cache_past", cache_by, PAST, SUBJECTS, false, true, 0},
    {"cache_tight", cache_by, TIGHT, SUBJECTS, false, true, 0},
    {"cache_far", cache_by, FAR, SUBJECTS, false, true, 0},
    {"execute_past", execute_by, PAST, SUBJECTS, true, false, 0},
    {"execute_tight", execute_by, TIGHT, SUBJECTS, true, false, 0},
    {"execute_far", execute_by, FAR, SUBJECTS, true, false, 0},
    {"duration_none", fenced_duration, 0, SUBJECTS, false, false, 0},
    {"duration_tight", fenced_duration, TIGHT, SUBJECTS, false, false, 0},
    {"duration_far", fenced_duration, FAR, SUBJECTS, false, false, 0},
    {"work", work, 0, WORK, true, false, 1},
    {"loop_ends", loop_ends, NNVTS_NO_TIME, LOOP, true, false, 0},
    {"loop_ends_in_time", loop_ends, FAR, LOOP, true, false, 0},
    {"loop_endless", loop_endless, UINT64_C(1000000), LOOP, true, false, 0},
    {"loop_no_time", loop_endless, 0, LOOP, true, false, 0},
    {"loop_default", loop_default, 0, LOOP, true, false, 2},
    {"loop_deadline", loop_deadline, UINT64_C(20000000), LOOP, true, false, 2},
};

/* Adds a case, once for each way; what names the model. */
static enum nnv_status add(struct nnv_case_list *list, size_t i, uint64_t subject, const char *what, const char *op,
                           const char *type, struct nnv_err *err) {
    enum nnv_status st = NNV_OK;
    for (int way = 0; way < (cases[i].ways ? NNV_WAY_COUNT : 1) && !st; way++) {
        char name[128];
        if (cases[i].ways)
            snprintf(name, sizeof name, "qos/%s/%s/%s", cases[i].name, what, nnv_way_name((enum nnv_way)way));
        else
            snprintf(name, sizeof name, "qos/%s/%s", cases[i].name, what);
        const struct nnv_case c = {.name = name,
                                   .suite = "qos",
                                   .op = op,
                                   .type = type,
                                   .tags = cases[i].tier > 1 ? "slow" : "",
                                   .a = i,
                                   .b = subject,
                                   .c = (uint64_t)way};
        st = nnv_case_add(list, &c, err);
    }
    return st;
}

static enum nnv_status list_all(const struct nnv_run_config *config, struct nnv_case_list *list, struct nnv_err *err) {
    enum nnv_status st = NNV_OK;
    for (size_t i = 0; i < sizeof cases / sizeof *cases && !st; i++) {
        if (config->tier < cases[i].tier) continue;
        if (cases[i].model == WORK) st = add(list, i, 0, "products", "FULLY_CONNECTED", "float32", err);
        if (cases[i].model == LOOP) st = add(list, i, 0, "while", "WHILE", "int32", err);
        for (size_t k = 0; k < nnv_subject_count && cases[i].model == SUBJECTS && !st; k++)
            st = add(list, i, k, nnv_subjects[k].name, nnv_subjects[k].op, nnv_subjects[k].type, err);
    }
    return st;
}

static enum nnv_status build(const struct nnv_run_config *config, const struct nnv_case *c, struct nnv_arena *arena,
                             struct nnv_spec **spec, struct nnv_err *err) {
    enum { PRODUCTS = 3 };
    switch (cases[c->a].model) {
    case SUBJECTS:
        return nnv_subject_build(&nnv_subjects[c->b], config->seed, arena, spec, err);
    case WORK:
        return nnv_subject_work(PRODUCTS, arena, spec, err);
    case LOOP:
        return nnv_qos_loop(7, 2, arena, spec, err);
    }
    return nnv_fail(err, NNV_INTERNAL, "no such model");
}

/* Requests say all shapes, as fenced executions need it. */
static void give_outputs(struct bench *b) {
    for (uint32_t i = 0; i < b->subject.spec->model.main.nout; i++) {
        b->values.outputs[i].dimension_count = b->subject.expected[i].value->rank;
        b->values.outputs[i].dimensions = b->subject.expected[i].value->dims;
    }
}

static void run(struct nnv_case_env *env, const struct nnv_case *c, struct nnv_result *result) {
    struct nnv_session s;
    struct bench b = {.s = &s, .way = (enum nnv_way)c->c, .arg = cases[c->a].arg};
    struct nnv_spec *spec;
    struct nnv_err err = {0};
    nnv_session_begin(&s, env, result);
    if (build(env->config, c, env->arena, &spec, &err) != NNV_OK) {
        nnv_session_error(&s, "%s", err.text);
    } else if (spec->min_version > s.device->feature_level) {
        nnv_session_unsupported(&s, "needs feature level %d, the driver has %d", spec->min_version,
                                s.device->feature_level);
    } else if (nnv_session_subject(&s, spec, &b.subject) &&
               nnv_session_values(&s, &b.subject, NNV_SESSION_READ_ONLY, &b.values)) {
        give_outputs(&b);
        const bool ready = cases[c->a].prepares ? nnv_session_supports(&s, &b.subject)
                                                : (b.prepared = nnv_session_prepare(&s, &b.subject)) != NULL;
        if (ready) cases[c->a].run(&b);
    }
    nnv_session_release(&s, b.prepared);
    nnv_session_end(&s);
}

const struct nnv_suite nnv_suite_qos = {
    .name = "qos",
    .summary = "priorities, preferences, deadlines: missed honestly or met with right values; loops that never end",
    .precision = NNV_PRECISION_BUDGET,
    .by_default = true,
    .list = list_all,
    .run = run,
};
