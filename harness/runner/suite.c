/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <string.h>

#include "base/nearest.h"
#include "harness/journal/select.h"
#include "harness/runner/run.h"
#include "harness/runner/suite.h"
#include "reference/model/op.h"

/** True if the comma-separated names hold this one. */
static bool names_hold(const char *names, const char *name) {
    size_t n = strlen(name);
    for (const char *at = names;; at++) {
        size_t k = strcspn(at, ",");
        if (k == n && strncmp(at, name, n) == 0) return true;
        at += k;
        if (*at == '\0') return false;
    }
}

/** Refuses names that no suite has. */
static enum nnv_status check_names(const char *names, struct nnv_err *err) {
    size_t count;
    const struct nnv_suite *const *suites = nnv_suites(&count);
    for (const char *at = names;; at++) {
        char name[64];
        size_t n = strcspn(at, ",");
        snprintf(name, sizeof name, "%.*s", (int)n, at);
        at += n;
        if (nnv_suite_by_name(name) == NULL && strcmp(name, "all") != 0) {
            struct nnv_nearest near = nnv_nearest_to(name);
            struct nnv_text known = {0};
            for (size_t i = 0; i < count; i++) {
                nnv_nearest_see(&near, suites[i]->name);
                nnv_text_addf(&known, "%s%s", i > 0 ? ", " : "", suites[i]->name);
            }
            enum nnv_status st =
                near.best != NULL
                    ? nnv_fail(err, NNV_INVALID, "unknown suite '%s' (did you mean '%s'?)", name, near.best)
                    : nnv_fail(err, NNV_INVALID, "unknown suite '%s' (known: %s, all)", name,
                               known.data ? known.data : "");
            nnv_text_free(&known);
            return st;
        }
        if (*at == '\0') return NNV_OK;
    }
}

enum nnv_status nnv_list_suites(const struct nnv_run_config *config, const char *suites, struct nnv_case_list *list,
                                struct nnv_err *err) {
    size_t count;
    const struct nnv_suite *const *table = nnv_suites(&count);
    enum nnv_status st = suites != NULL ? check_names(suites, err) : NNV_OK;
    bool all = suites != NULL && names_hold(suites, "all");
    for (size_t i = 0; i < count && st == NNV_OK; i++) {
        const struct nnv_suite *s = table[i];
        bool by_default = s->by_default || (s->for_libraries && nnv_client_is_library(config->driver));
        if (!all && (suites == NULL ? !by_default : !names_hold(suites, s->name))) continue;
        if (config->compile_only && s->run != NULL) { /* it executes what it compiles */
            if (suites == NULL || all) continue;
            return nnv_fail(err, NNV_INVALID, "--compile-only: suite %s executes models", s->name);
        }
        st = s->list(config, list, err);
        if (st != NNV_OK) return nnv_at(err, st, "suite %s", s->name);
    }
    return st;
}

bool nnv_known_names(bool operations, bool suites, nnv_select_see *see, void *context) {
    size_t n;
    const struct nnv_op *const *op = nnv_ops(&n);
    for (size_t i = 0; operations && i < n; i++)
        if (see(context, op[i]->name)) return true;
    const struct nnv_suite *const *suite = nnv_suites(&n);
    for (size_t i = 0; suites && i < n; i++)
        if (see(context, suite[i]->name)) return true;
    return false;
}

enum nnv_status nnv_select(struct nnv_case_list *list, const char *expression, struct nnv_err *err) {
    return nnv_select_keep(list, expression, nnv_known_names, err);
}

enum nnv_status nnv_case_precision(const struct nnv_run_config *config, const struct nnv_suite *suite,
                                   struct nnv_spec *spec, enum nnv_precision *precision, struct nnv_err *err) {
    int found = config->precision >= 0 ? config->precision : suite->precision;
    if (config->precision < 0 && spec->precision) {
        for (found = 0; found < NNV_PRECISION_COUNT; found++)
            if (strcmp(spec->precision, nnv_precision_name((enum nnv_precision)found)) == 0) break;
        if (found == NNV_PRECISION_COUNT)
            return nnv_fail(err, NNV_INVALID, "precision: expected \"nnapi\", \"aosp\" or \"budget\", got \"%s\"",
                            spec->precision);
    }
    *precision = (enum nnv_precision)found;
    if (config->arithmetic) spec->arithmetic = *config->arithmetic;
    return NNV_OK;
}

/** True if all words of the text are NAME=VALUE, as those that were drawn for an operation. */
static bool has_attributes(const char *text) {
    while (text != NULL && *text != '\0') {
        const size_t n = strcspn(text, " "), name = strcspn(text, "= ");
        if (name == 0 || name >= n) return false;
        text += n + (text[n] == ' ');
    }
    return text != NULL;
}

/** How the spec uses the operation that the case is about: the rank of its first input, and what was drawn for it. */
static void add_uses(const struct nnv_case *c, const struct nnv_spec *spec, struct nnv_text *out) {
    const struct nnv_op *op = nnv_op_by_name(c->op);
    const struct nnv_subgraph *m = &spec->model.main;
    uint32_t i = 0;
    while (op != NULL && i < m->noperations && m->operations[i].type != op->code) i++;
    if (op == NULL || i == m->noperations || m->operations[i].nin == 0) return;
    nnv_text_addf(out, "rank=%u", m->operands[m->operations[i].in[0]].rank);
    if (has_attributes(spec->source)) nnv_text_addf(out, " %s", spec->source);
}

static void run_case(struct nnv_case_env *env, const struct nnv_case *c, struct nnv_result *result) {
    const struct nnv_suite *suite = nnv_suite_by_name(c->suite);
    struct nnv_spec *spec = NULL;
    struct nnv_err err = {0};
    if (!suite) {
        nnv_result_end(result, NNVTS_WHY_HARNESS, "no suite named '%s'", c->suite);
        return;
    }
    if (!nnv_result_level(env, c->level, result)) return;
    if (suite->run) {
        suite->run(env, c, result);
        return;
    }
    if (env->phase) *env->phase = NNV_PHASE_BUILD;
    enum nnv_status st = suite->build(env->config, c, env->arena, &spec, &err);
    enum nnv_precision precision = NNV_PRECISION_NNAPI;
    if (st == NNV_OK) st = nnv_case_precision(env->config, suite, spec, &precision, &err);
    if (st == NNV_OK) {
        nnv_judge(env, spec, c->level, precision, result);
        add_uses(c, spec, &result->uses);
    }
    if (st != NNV_OK)
        nnv_result_end(result,
                       st == NNV_INVALID       ? NNVTS_WHY_MALFORMED
                       : st != NNV_UNSUPPORTED ? NNVTS_WHY_HARNESS
                       : c->foreign            ? NNVTS_WHY_NO_EQUAL
                                               : NNVTS_WHY_NO_REFERENCE,
                       "%s", err.text);
}

void nnv_case_run(struct nnv_case_env *env, const struct nnv_case *c, struct nnv_result *result) {
    nnv_result_start(result);
    run_case(env, c, result);
    if (result->verdict == NNVTS_PASS && result->compared == 0)
        nnv_result_end(result, NNVTS_WHY_NOTHING_COMPARED, "the case passed without comparing anything");
}
