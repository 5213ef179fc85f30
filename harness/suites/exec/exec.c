/* SPDX-License-Identifier: Apache-2.0 */
/** @file exec.c The suite "exec": every mode of execution, and what must hold around it. */
#include "harness/suites/exec/exec.h"

#include <stdio.h>
#include <string.h>

#include "harness/suites/suites.h"
#include "harness/suites/kit/cases.h"

static const struct nnv_exec_group *const groups[] = {
    &nnv_exec_sync,     &nnv_exec_async,  &nnv_exec_fenced, &nnv_exec_burst,
    &nnv_exec_reusable, &nnv_exec_timing, &nnv_exec_memory, &nnv_exec_many,
};
enum { GROUPS = sizeof groups / sizeof *groups, AGAIN = GROUPS, AT_ONCE };

static enum nnv_status list(const struct nnv_run_config *config, struct nnv_case_list *list, struct nnv_err *err) {
    const int variants = nnv_tier(config) == NNV_TIER_SMOKE ? 1 : 3;
    enum nnv_status st = NNV_OK;
    for (size_t g = 0; g < GROUPS; g++)
        for (size_t i = 0; i < groups[g]->count && !st; i++) {
            const struct nnv_exec_case *c = &groups[g]->cases[i];
            struct nnv_case made = {.a = g, .b = i};
            char row[96];
            snprintf(row, sizeof row, "exec/%s/%s", groups[g]->name, c->name);
            if (!c->alone) {
                st = nnv_list_fixtures(list, row, made, c->only, err);
            } else {
                made.op = "FULLY_CONNECTED";
                made.type = "float32";
                made.tags = NNV_TAG_TIMING;
                st = nnv_list_case(list, made, err, "%s/work", row);
            }
        }
    if (!st) st = nnv_exec_list_again(list, (struct nnv_case){.a = AGAIN}, err);
    return st ? st : nnv_exec_list_at_once(list, (struct nnv_case){.a = AT_ONCE}, variants, err);
}

static void run(struct nnv_case_env *env, const struct nnv_case *c, struct nnv_result *result) {
    struct nnv_context s;
    struct nnv_exec x = {.s = &s, .seed = env->config->seed};
    nnv_context_begin(&s, env, result);
    nnv_surplus_callbacks(false);
    if (c->a == AGAIN) {
        nnv_exec_again(&x, c);
    } else if (c->a == AT_ONCE) {
        nnv_exec_at_once(&x, c);
    } else if (c->a >= GROUPS || c->b >= groups[c->a]->count || c->d >= nnv_fixture_count) {
        nnv_context_error(&s, "there is no such case");
    } else {
        const struct nnv_exec_case *it = &groups[c->a]->cases[c->b];
        if (it->alone || (nnv_context_drawn(&s, nnv_case_fixture(c), x.seed, &x.fixture) &&
                          nnv_context_ready(&s, &x.fixture, &x.prepared, &x.values)))
            it->run(&x);
    }
    nnv_exec_called_once(&x);
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
