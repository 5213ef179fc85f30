/* SPDX-License-Identifier: Apache-2.0 */
/** @file cmd_explain.c nnvts explain: which plausible mistake makes a driver's answer as wrong as it is. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/json_out.h"
#include "harness/cli/cli.h"
#include "harness/debug/bisect/bisect.h"
#include "harness/debug/explain/explain.h"
#include "harness/debug/separate/conditions.h"
#include "harness/runner/audit/clauses.h"
#include "reference/spec/spec.h"
#include "reference/model/validate.h"

static const struct nnv_verb_help help = {
    .usage = "nnvts explain SPEC|CASE... --driver NAME|PATH [options]",
    .summary =
        "Says which mistake explains a wrong answer: runs the specs of files (dumps of failed cases, or your own) "
        "on a driver and compares what it answers with what more than a hundred plausible mistakes would. "
        "Of the name of a case it says what the case is for. Exit code 0 if every answer is right, 1 if one is wrong, "
        "explained or not.",
    .examples = "nnvts explain nnvts-out/dumps/x.json -d ./npu.so    what does it do wrong?\n"
                "nnvts explain nnvts-out/dumps/*.json -d npu --json  a line for each, for programs\n"
                "nnvts explain vectors.jsonl -k 'conv*' -d npu       some specs of a file\n"
                "nnvts explain ops/ADD/float32/rank1/0                what is this case for?\n"
                "nnvts explain --list                                the mistakes that are known\n",
};

static const uint64_t MOST_WORK = UINT64_C(1) << 36; /* for the mistakes of one spec: about a minute */

static const char *const kinds[] = {
    [NNV_EXPLAINED_RIGHT] = "right",   [NNV_EXPLAINED_NO_ANSWER] = "no-answer", [NNV_EXPLAINED_UNSTEADY] = "unsteady",
    [NNV_EXPLAINED_FAULT] = "mistake", [NNV_EXPLAINED_UNKNOWN] = "unknown",
};

/** What was explained: a spec, or one operation of it that was cut out. */
struct explained {
    const struct nnv_spec *spec; /**< the whole */
    const struct nnv_spec *cut;  /**< of the one operation; NULL: the whole was explained */
    int at;                      /**< its index */
    const char *where;           /**< the condition under which it failed, as its run found it; NULL: not known */
};

static const char *op_name(const struct explained *s, int at) {
    return nnv_op(s->spec->model.main.operations[at].type)->name;
}

/** The operation that a finding is about; -1: more than one may be. */
static int place_of(const struct explained *s, const struct nnv_finding *f) {
    if (s->cut != NULL) return s->at;
    return f->at < 0 && s->spec->model.main.noperations == 1 ? 0 : f->at;
}

static void add_finding(const struct explained *s, const struct nnv_finding *f, struct nnv_text *out) {
    int at = place_of(s, f);
    nnv_text_addf(out, "  %-28s %s", f->fault->name, f->fault->words);
    if (at >= 0)
        nnv_text_addf(out, " (operation %d, %s)", at, op_name(s, at));
    else if (f->kind >= 0)
        nnv_text_addf(out, " (all operations %s)", nnv_op(f->kind)->name);
    else
        nnv_text_add(out, nnv_fault_is_edit(f->fault) ? " (all operations that it can happen to)"
                                                      : " (the model's outputs)");
    nnv_text_add(out, "\n");
}

static void add_fault(const struct explained *s, const struct nnv_explanation *x, struct nnv_text *out) {
    nnv_text_addf(out, "%zu of %zu values are wrong, and all %zu are what this mistake would make of them:\n", x->wrong,
                  x->compared, x->finding[0].matched);
    add_finding(s, &x->finding[0], out);
    for (int same = 1; same >= 0; same--) {
        bool told = false;
        for (int i = 1; i < x->findings; i++) {
            if (x->finding[i].same != (same == 1)) continue;
            if (!told) nnv_text_add(out, same ? "the same values come from\n" : "less near, but possible\n");
            told = true;
            add_finding(s, &x->finding[i], out);
        }
    }
}

static void add_words(const struct explained *s, const struct nnv_explanation *x, struct nnv_text *out) {
    nnv_text_addf(out, "%s: ", s->spec->name);
    if (s->cut != NULL)
        nnv_text_addf(out, "operation %d (%s) is the first that goes wrong; alone, on the same inputs, ", s->at,
                      op_name(s, s->at));
    switch (x->kind) {
    case NNV_EXPLAINED_RIGHT:
        nnv_text_addf(out, "nothing to explain: all %zu values are right\n", x->compared);
        break;
    case NNV_EXPLAINED_NO_ANSWER:
        nnv_text_addf(out, "no values to explain: %s\n", x->reason);
        break;
    case NNV_EXPLAINED_UNSTEADY:
        nnv_text_addf(out,
                      "the answers to the same request differ, and some are right: %s (at most %zu of %zu values "
                      "wrong)\n",
                      x->nan ? "memory that is not initialised, or a race"
                             : "a race, or memory that is not initialised",
                      x->wrong, x->compared);
        break;
    case NNV_EXPLAINED_FAULT:
        add_fault(s, x, out);
        break;
    case NNV_EXPLAINED_UNKNOWN:
        nnv_text_addf(out, "no known mistake explains it: %zu of %zu values are wrong, %zu mistakes tried%s\n",
                      x->wrong, x->compared, x->tried, x->cut ? "; more would be too much work" : "");
        break;
    }
    if (x->weaker) nnv_text_addf(out, "within the budget if %s\n", x->right_if[0]);
    if (s->where && x->kind != NNV_EXPLAINED_RIGHT) nnv_text_addf(out, "in its run it failed %s\n", s->where);
}

static void add_json(const struct explained *s, const struct nnv_explanation *x, struct nnv_text *out) {
    struct nnv_json_out j = {.text = out};
    nnv_json_open(&j, NULL, '{');
    nnv_json_string(&j, "spec", s->spec->name);
    if (s->cut != NULL) nnv_json_raw(&j, "isolated", "{\"operation\":%d,\"name\":\"%s\"}", s->at, op_name(s, s->at));
    nnv_json_string(&j, "explained", kinds[x->kind]);
    nnv_json_uint(&j, "compared", x->compared);
    nnv_json_uint(&j, "wrong", x->wrong);
    nnv_json_uint(&j, "tried", x->tried);
    nnv_json_bool(&j, "all_tried", !x->cut);
    if (x->reason[0]) nnv_json_string(&j, "reason", x->reason);
    if (x->weaker) nnv_json_string(&j, "right_if", x->right_if[0]);
    if (s->where) nnv_json_string(&j, "where", s->where);
    nnv_json_open(&j, "mistakes", '[');
    for (int i = 0; i < x->findings; i++) {
        const struct nnv_finding *f = &x->finding[i];
        const int at = place_of(s, f);
        nnv_json_open(&j, NULL, '{');
        nnv_json_string(&j, "name", f->fault->name);
        nnv_json_string(&j, "words", f->fault->words);
        nnv_json_uint(&j, "matched", f->matched);
        nnv_json_bool(&j, "same_values", i == 0 || f->same);
        if (at >= 0) nnv_json_uint(&j, "operation", (uint64_t)at);
        if (at >= 0 || f->kind >= 0) nnv_json_string(&j, "op", at >= 0 ? op_name(s, at) : nnv_op(f->kind)->name);
        nnv_json_close(&j, '}');
    }
    nnv_json_close(&j, ']');
    nnv_json_close(&j, '}');
    nnv_text_add(out, "\n");
}

/** Asks the driver, and explains its answer. */
static enum nnv_status explain_answer(const struct nnv_run_config *config, const struct nnv_spec *spec,
                                      enum nnv_precision precision, struct nnv_arena *arena, struct nnv_explanation *x,
                                      struct nnv_err *err) {
    struct nnv_explain_answers answers;
    enum nnv_status st = nnv_answers_ask(config, spec, arena, &answers, err);
    return st != NNV_OK ? st : nnv_explain(spec, precision, &answers, MOST_WORK, arena, x, err);
}

/**
 * What cannot be explained of a graph as a whole may be of the first operation that goes wrong, cut out: what others
 * make of its results does not blur it. Keeps the first explanation where that says nothing new.
 */
static enum nnv_status explain_isolated(const struct nnv_run_config *config, struct explained *s,
                                        struct nnv_arena *arena, struct nnv_explanation *x, struct nnv_err *err) {
    const struct nnv_oracle oracle = {.path = config->driver_path,
                                      .options = config->driver_options,
                                      .precision = NNV_PRECISION_BUDGET,
                                      .timeout_ns = config->timeout_ns};
    struct nnv_err ignored = {0};
    struct nnv_bisection b;
    struct nnv_explanation *alone = NNV_NEW(arena, struct nnv_explanation, 1);
    if (!alone) return nnv_no_memory(err);
    if (nnv_bisect(s->spec, &oracle, arena, &b, &ignored) != NNV_OK || b.isolated == NULL) return NNV_OK;
    if (b.spec->model.main.noperations != s->spec->model.main.noperations) return NNV_OK;
    enum nnv_status st = explain_answer(config, b.isolated, NNV_PRECISION_BUDGET, arena, alone, err);
    if (st != NNV_OK || alone->kind != NNV_EXPLAINED_FAULT) return st;
    *x = *alone;
    s->cut = b.isolated;
    s->at = (int)b.culprit;
    return NNV_OK;
}

struct command {
    struct nnv_cli c;
    struct nnv_run_config config;
    const char *path; /* of the file in hand */
    struct nnv_conditions conditions;
};

/** Asks the driver, explains its answer, and prints that. */
static enum nnv_status explain_spec(struct command *command, struct nnv_spec *spec, struct nnv_arena *arena,
                                    struct nnv_err *err) {
    struct nnv_cli *c = &command->c;
    const struct nnv_run_config *config = &command->config;
    struct nnv_explanation *x = NNV_NEW(arena, struct nnv_explanation, 1);
    struct explained s = {.spec = spec, .where = nnv_condition_of(&command->conditions, command->path, spec->name)};
    enum nnv_precision precision;
    struct nnv_text out = {0};
    if (!x) return nnv_no_memory(err);
    if (spec->expect_failure)
        return nnv_fail(err, NNV_INVALID, "a model that a driver must refuse has no answer to explain");
    if (c->driver == NULL && spec->actual == NULL)
        return nnv_fail(err, NNV_INVALID,
                        "it holds no driver's answer; which driver? give --driver NAME (see them with nnvts drivers)");
    enum nnv_status st = nnv_validate(&spec->model, arena, NULL, err);
    if (st != NNV_OK) return nnv_at(err, st, "the model is not valid");
    st = nnv_case_precision(config, nnv_suite_by_name("spec"), spec, &precision, err);
    if (st == NNV_OK && c->driver == NULL) {
        const struct nnv_explain_answers recorded = {.count = 1, .outputs = {spec->actual}};
        st = nnv_explain(spec, precision, &recorded, MOST_WORK, arena, x, err);
    } else if (st == NNV_OK) {
        st = explain_answer(config, spec, precision, arena, x, err);
        if (st == NNV_OK && x->kind == NNV_EXPLAINED_UNKNOWN && spec->model.main.noperations > 1)
            st = explain_isolated(config, &s, arena, x, err);
    }
    if (st == NNV_OK) {
        if (c->json)
            add_json(&s, x, &out);
        else
            add_words(&s, x, &out);
        if (x->kind != NNV_EXPLAINED_RIGHT) c->code = NNVTS_EXIT_FAIL;
        st = nnv_cli_print(&out, err);
        fflush(stdout);
    }
    return st;
}

static enum nnv_status explain_one(void *own, struct nnv_spec *spec, struct nnv_arena *arena, struct nnv_err *err) {
    const enum nnv_status st = explain_spec(own, spec, arena, err);
    return st == NNV_OK ? st : nnv_at(err, st, "%s", spec->name);
}

/** A case by its name, as lists and reports have it: not a file, and of a suite that there is. */
static const struct nnv_suite *suite_of(const char *name) {
    char suite[32];
    const size_t n = strcspn(name, "/");
    if (name[n] == '\0' || n >= sizeof suite || access(name, F_OK) == 0) return NULL;
    snprintf(suite, sizeof suite, "%.*s", (int)n, name);
    return nnv_suite_by_name(suite);
}

/** Says what a case is for: what its suite verifies, and the rules of NNAPI that the case checks. */
static enum nnv_status tell_case(const struct command *x, const struct nnv_suite *suite, const char *name,
                                 struct nnv_err *err) {
    struct nnv_case_list list = {.arena = x->c.arena};
    struct nnv_clause_book book;
    const struct nnv_case *c = NULL;
    struct nnv_text out = {0};
    enum nnv_status st = nnv_clause_book(x->c.arena, &book, err);
    if (st == NNV_OK) st = suite->list(&x->config, &list, err);
    for (size_t i = 0; st == NNV_OK && c == NULL && i < list.count; i++)
        if (strcmp(list.item[i].name, name) == 0) c = &list.item[i];
    if (st == NNV_OK && c == NULL)
        st = nnv_fail(err, NNV_INVALID, "the suite %s has no case '%s' (see them with nnvts list -s %s)", suite->name,
                      name, suite->name);
    if (st == NNV_OK) {
        const uint32_t *numbers, n = nnv_clauses_of_case(&book, c->name, c->op, c->type, &numbers);
        nnv_text_addf(&out, "%s: %s%s%s%s%s\n", name, suite->summary, *c->op ? "; of " : "", c->op,
                      *c->type ? " in " : "", c->type);
        for (uint32_t i = 0; i < n; i++)
            nnv_text_addf(&out, "  %s %s\n", book.all.item[numbers[i]].id, book.all.item[numbers[i]].text);
        st = nnv_cli_print(&out, err);
    }
    free(list.item);
    return st;
}

static enum nnv_status explain(void *own, struct nnv_err *err) {
    struct command *x = own;
    size_t count, explained = 0;
    const struct nnv_fault *m = nnv_faults(&count);
    for (size_t i = 0; x->c.list && i < count; i++) printf("%-28s %s\n", m[i].name, m[i].words);
    if (x->c.list) return NNV_OK;
    if (x->c.positional.count == 0)
        return nnv_fail(
            err, NNV_INVALID,
            "which spec? give a .json, .jsonl or .example.cpp file (failed cases leave them in nnvts-out/dumps/)");
    enum nnv_status st = nnv_cli_config(&x->c, x->c.arena, &x->config, err);
    for (int i = 0; st == NNV_OK && i < x->c.positional.count; i++) {
        x->path = x->c.positional.item[i];
        const struct nnv_suite *suite = suite_of(x->path);
        if (suite != NULL) {
            st = tell_case(x, suite, x->path, err);
            explained++;
            continue;
        }
        st = nnv_cli_each_spec(x->path, x->c.filter, &explained, explain_one, x, err);
    }
    nnv_conditions_free(&x->conditions);
    if (st == NNV_OK && explained == 0)
        st = nnv_fail(err, NNV_INVALID, "no spec matches '%s'", x->c.filter ? x->c.filter : "");
    return st;
}

static int run(int argc, char **argv) {
    struct command x = {.c = nnv_cli_defaults()};
    const struct nnv_opt table[] = {
        NNV_OPTION_DRIVER(x.c),
        NNV_OPTION_VIA(x.c),
        {'k', "filter", NNV_OPT_STRING, &x.c.filter, "GLOB", "only specs whose name matches", NULL},
        NNV_OPTION_PRECISION(x.c),
        NNV_OPTION_ARITHMETIC(x.c),
        NNV_OPTION_TIMEOUT(x.c),
        {0, "list", NNV_OPT_FLAG, &x.c.list, NULL, "the mistakes that are known", NULL},
        NNV_OPTION_JSON(x.c),
        NNV_OPTION_END,
    };
    return nnv_cli_run(&x.c, table, &help, NNV_OPT_LIST_MAX, argc, argv, explain, &x);
}

const struct nnv_verb nnv_verb_explain = {"explain", "understand a failure",
                                          "which mistake explains a driver's wrong answer", run};
