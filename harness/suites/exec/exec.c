/* SPDX-License-Identifier: Apache-2.0 */
/** @file exec.c The suite "exec": every mode of execution, and what must hold around it. */
#include "harness/suites/exec/exec.h"

#include <stdio.h>
#include <string.h>

#include "harness/suites/suites.h"

static const struct nnv_exec_group *const groups[] = {
    &nnv_exec_sync,     &nnv_exec_async,  &nnv_exec_fenced, &nnv_exec_burst,
    &nnv_exec_reusable, &nnv_exec_timing, &nnv_exec_memory, &nnv_exec_many,
};
enum { GROUPS = sizeof groups / sizeof *groups };

static bool concerns(const struct nnv_exec_case *c, const struct nnv_fixture_kind *kind) {
    return !c->only || strncmp(kind->name, c->only, strlen(c->only)) == 0;
}

static enum nnv_status add(struct nnv_case_list *list, size_t g, size_t i, size_t fixture, struct nnv_err *err) {
    const struct nnv_exec_case *c = &groups[g]->cases[i];
    const struct nnv_fixture_kind *kind = &nnv_fixtures[fixture];
    char name[128];
    snprintf(name, sizeof name, "exec/%s/%s/%s", groups[g]->name, c->name, c->alone ? "work" : kind->name);
    const struct nnv_case made = {.name = name,
                                  .suite = "exec",
                                  .op = c->alone ? "FULLY_CONNECTED" : kind->op,
                                  .type = c->alone ? "float32" : kind->type,
                                  .tags = "",
                                  .a = g,
                                  .b = i,
                                  .c = fixture};
    return nnv_case_add(list, &made, err);
}

static enum nnv_status list(const struct nnv_run_config *config, struct nnv_case_list *list, struct nnv_err *err) {
    (void)config;
    enum nnv_status st = NNV_OK;
    for (size_t g = 0; g < GROUPS; g++)
        for (size_t i = 0; i < groups[g]->count; i++) {
            const struct nnv_exec_case *c = &groups[g]->cases[i];
            if (c->alone && st == NNV_OK) st = add(list, g, i, 0, err);
            for (size_t k = 0; k < nnv_fixture_count && !c->alone && st == NNV_OK; k++)
                if (concerns(c, &nnv_fixtures[k])) st = add(list, g, i, k, err);
        }
    return st;
}

/** Prepares the case's model and a request for it. */
static bool prepare(struct nnv_exec *x, const struct nnv_fixture_kind *kind) {
    struct nnv_spec *spec;
    struct nnv_err err = {0};
    if (nnv_fixture_build(kind, x->seed, x->s->env->arena, &spec, &err) != NNV_OK)
        return nnv_context_error(x->s, "%s", err.text);
    return nnv_context_model(x->s, spec, &x->fixture) && (x->prepared = nnv_context_prepare(x->s, &x->fixture)) &&
           nnv_context_request(x->s, &x->fixture, NNV_POOL_READ_ONLY, &x->values);
}

static void run(struct nnv_case_env *env, const struct nnv_case *c, struct nnv_result *result) {
    struct nnv_context s;
    struct nnv_exec x = {.s = &s, .seed = env->config->seed};
    nnv_context_begin(&s, env, result);
    if (c->a >= GROUPS || c->b >= groups[c->a]->count || c->c >= nnv_fixture_count) {
        nnv_context_error(&s, "there is no such case");
    } else {
        const struct nnv_exec_case *it = &groups[c->a]->cases[c->b];
        if (it->alone || prepare(&x, &nnv_fixtures[c->c])) it->run(&x);
    }
    nnv_context_release(&s, x.prepared);
    nnv_context_end(&s);
}

const struct nnv_suite nnv_suite_exec = {
    .name = "exec",
    .summary = "every way to execute a prepared model, memory of all kinds, times, and many executions at once",
    .precision = NNV_PRECISION_BUDGET,
    .by_default = true,
    .list = list,
    .run = run,
};
