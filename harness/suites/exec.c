/* SPDX-License-Identifier: Apache-2.0 */
/** @file exec.c The suite "exec": every way to execute a prepared model, and what must hold around it. */
#include <stdio.h>

#include "harness/suites/session.h"
#include "harness/suites/subjects.h"
#include "harness/suites/suites.h"

/** What a case has at hand: a subject that is prepared, and a request. */
struct bench {
    struct nnv_session *s;
    struct nnv_subject subject;
    struct nnvts_prepared_model *prepared;
    struct nnv_values values;
};

struct exec_case {
    const char *name;
    void (*run)(struct bench *b);
};

/* --------------------------------------------------------------- synchronous */

static void repeated(struct bench *b) {
    for (int i = 0; i < 5; i++)
        if (!nnv_session_execute(b->s, b->prepared, &b->values)) return;
}

/* -------------------------------------------------------------------- bursts */

static void burst(struct bench *b) {
    struct nnv_session *s = b->s;
    struct nnvts_burst *burst = NULL;
    const int64_t tokens[] = {7, 8};
    if (!b->prepared->create_burst) {
        nnv_session_unsupported(s, "the driver has no bursts");
        return;
    }
    nnv_session_enter(s, NNV_PHASE_EXECUTE);
    if (!nnv_expect_status(s, "create_burst", b->prepared->create_burst(b->prepared, &burst), NNVTS_STATUS_NONE) ||
        !nnv_expect(s, burst && burst->execute && burst->release_memory && burst->release,
                    "create_burst gave a burst without all required members"))
        return;
    for (int i = 0; i < 5; i++) {
        nnv_values_reset(&b->values);
        nnv_session_enter(s, NNV_PHASE_EXECUTE);
        enum nnvts_status st =
            burst->execute(burst, &b->values.request, tokens, &nnv_session_execution_config, &b->values.result);
        if (!nnv_session_check_values(s, "a burst's execute", st, &b->values)) break;
    }
    if (!s->result->worker_damaged) burst->release(burst);
}

/* ------------------------------------------------------------------ registry */

static const struct exec_case cases[] = {
    {"repeated", repeated},
    {"burst", burst},
};

static enum nnv_status list(const struct nnv_run_config *config, struct nnv_case_list *list, struct nnv_err *err) {
    (void)config;
    enum nnv_status st = NNV_OK;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (size_t k = 0; k < nnv_subject_count && st == NNV_OK; k++) {
            const struct nnv_subject_kind *kind = &nnv_subjects[k];
            char name[96];
            snprintf(name, sizeof name, "exec/%s/%s", cases[i].name, kind->name);
            const struct nnv_case c = {
                .name = name, .suite = "exec", .op = kind->op, .type = kind->type, .tags = "", .a = i, .b = k};
            st = nnv_case_add(list, &c, err);
        }
    return st;
}

static void run(struct nnv_case_env *env, const struct nnv_case *c, struct nnv_result *result) {
    struct nnv_session s;
    struct bench b = {.s = &s};
    struct nnv_spec *spec;
    struct nnv_err err = {0};
    nnv_session_begin(&s, env, result);
    if (nnv_subject_build(&nnv_subjects[c->b], env->config->seed, env->arena, &spec, &err) != NNV_OK)
        nnv_session_error(&s, "%s", err.text);
    else if (nnv_session_subject(&s, spec, &b.subject) && (b.prepared = nnv_session_prepare(&s, &b.subject)) &&
             nnv_session_values(&s, &b.subject, NNV_SESSION_READ_ONLY, &b.values))
        cases[c->a].run(&b);
    nnv_session_release(&s, b.prepared);
    nnv_session_end(&s);
}

const struct nnv_suite nnv_suite_exec = {
    .name = "exec",
    .summary = "synchronous, asynchronous, fenced and burst executions, and what must hold around them",
    .precision = NNV_PRECISION_BUDGET,
    .by_default = true,
    .list = list,
    .run = run,
};
