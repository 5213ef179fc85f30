/* SPDX-License-Identifier: Apache-2.0 */
/** @file shapes.c The suite "shapes": models that leave shapes open, outputs that do not fit, requests that contradict.
 */
#include "harness/suites/shapes/shapes.h"

#include <stdio.h>
#include <string.h>

#include "harness/suites/kit/context.h"
#include "harness/suites/kit/cases.h"
#include "harness/suites/kit/vocabulary.h"
#include "harness/suites/suites.h"
#include "nnvts/result.h"
#include "randgraph/graph/graph.h"
#include "randgraph/relate/relate.h"
#include "randgraph/single/single.h"
#include "reference/model/validate.h"

/* INPUTS: all parameters are inputs of the model; ODD, EVEN: the others of these are constants. */
enum source { SINGLE = 1, ZERO = 2, GRAPH = 4, FIXTURE = 8, FREE = 16, INPUTS = 32, ODD = 64, EVEN = 128 };

/** Signatures of an operation that a case is of, in tier default: the first and one more, that one alone, each, or each
 * and of the first all variants, as of those of operations that move elements, which are cheap. */
enum share { TWO, ONE, EACH, ALL };

/** What a case does with each model of its sources. */
struct shape_case {
    const char *name;
    unsigned open;    /**< enum nnv_open */
    unsigned sources; /**< enum source */
    void (*run)(struct nnv_shape_fixture *b);
    enum nnv_mode mode;
    enum share share;
};

/* ---------------------------------------------------------------- executions */

bool nnv_shapes_try(struct nnv_shape_fixture *b, bool *cannot) {
    struct nnv_context *s = b->s;
    struct nnv_execution run = nnv_execution_make(b->mode, b->prepared, &b->values);
    nnv_request_reset(&b->values);
    if (!nnv_context_try(s, &run)) return false;
    const enum nnvts_status st = run.status;
    if (st != NNVTS_STATUS_GENERAL_FAILURE) return nnv_context_check_values(s, "execute", st, &b->values);
    *cannot = nnv_context_check_memory(s, "execute", &b->values);
    return false;
}

bool nnv_shapes_execute(struct nnv_shape_fixture *b) {
    bool cannot = false;
    if (nnv_shapes_try(b, &cannot)) return true;
    if (cannot)
        nnv_context_decline(b->s, NNVTS_WHY_OPEN_SHAPES, "the driver can't execute a model whose shapes are left open");
    return false;
}

static void execute_once(struct nnv_shape_fixture *b) { nnv_shapes_execute(b); }

/* An extent of 0 says nothing in a request: such an output stays open. */
static void execute_given(struct nnv_shape_fixture *b) {
    bool empty = false;
    nnv_request_state_outputs(&b->values, true);
    for (uint32_t i = 0; i < nnv_shapes_outputs(b); i++) empty = empty || b->fixture.expected[i].value->bytes == 0;
    if (empty)
        nnv_shapes_execute(b);
    else
        nnv_context_execute(b->s, b->prepared, &b->values);
}

/* -------------------------------------------------------------- special models */

/* Fenced executions can't report shapes: open ones are refused unless the request gives them. */
static void fenced(struct nnv_shape_fixture *b) {
    struct nnv_context *s = b->s;
    struct nnv_execution x = nnv_execution_make(NNV_MODE_FENCED, b->prepared, &b->values);
    if (!nnv_context_needs(s, b->prepared, NNV_MODE_FENCED)) return;
    nnv_context_enter(s, NNV_PHASE_EXECUTE);
    const bool launched = nnv_execution_launch(&x);
    const enum nnvts_status st = x.status;
    if (launched) nnv_execution_wait(&x);
    nnv_context_close(s, &x);
    if (!nnv_expect_status(s, "execute_fenced with outputs of open shapes", st, NNVTS_STATUS_INVALID_ARGUMENT)) return;
    nnv_request_state_outputs(&b->values, true);
    nnv_request_reset(&b->values);
    if (!nnv_context_run(s, &x)) return;
    nnv_context_close(s, &x);
    nnv_context_check_values(s, x.call, x.status, &b->values);
}

/* One prepared model, inputs of other extents from execution to execution: none must stick. */
static void resized(struct nnv_shape_fixture *b) {
    static const uint32_t extents[] = {5, 1, 8, 2, 3};
    struct nnv_context *s = b->s;
    const struct nnv_fixture_kind *kind = nnv_fixture_by_name(b->fixture.spec->name);
    for (size_t i = 0; i < sizeof extents / sizeof *extents; i++) {
        struct nnv_fixture other;
        struct nnv_spec *spec, *open;
        struct nnv_request values;
        struct nnv_err err = {0};
        uint32_t opened;
        /* Other values each time: of one seed, all would begin alike, and a stale value would be the right one. */
        const uint64_t seed = s->env->config->seed + i;
        if (nnv_fixture_build_as(kind, extents[i], seed, s->env->arena, &spec, &err) != NNV_OK ||
            nnv_shapes_open(spec, NNV_OPEN_OUTPUTS, s->env->arena, &open, &opened, &err) != NNV_OK) {
            nnv_context_error(s, "%s", err.text);
            return;
        }
        if (!nnv_context_model(s, open, &other) || !nnv_context_request(s, &other, NNV_POOL_READ_ONLY, &values) ||
            !nnv_context_execute(s, b->prepared, &values))
            return;
    }
}

/* ------------------------------------------------------------------ registry */

enum {
    MODELS = SINGLE | GRAPH | FIXTURE,
    EVERYTHING = NNV_OPEN_INPUTS | NNV_OPEN_TEMPORARIES | NNV_OPEN_OUTPUTS,
};
static const struct shape_case cases[] = {
    {"inputs", NNV_OPEN_INPUTS, MODELS, execute_once, NNV_MODE_SYNC, ONE},
    {"input_ranks", NNV_OPEN_INPUTS | NNV_OPEN_RANKS, MODELS, execute_once, NNV_MODE_SYNC, ONE},
    {"temporaries", NNV_OPEN_TEMPORARIES, GRAPH, execute_once, NNV_MODE_SYNC, TWO},
    {"temporary_ranks", NNV_OPEN_TEMPORARIES | NNV_OPEN_RANKS, GRAPH, execute_once, NNV_MODE_SYNC, TWO},
    {"outputs", NNV_OPEN_OUTPUTS, MODELS | ZERO, execute_once, NNV_MODE_SYNC, TWO},
    {"output_ranks", NNV_OPEN_OUTPUTS | NNV_OPEN_RANKS, MODELS | ZERO, execute_once, NNV_MODE_SYNC, TWO},
    {"given_outputs", NNV_OPEN_OUTPUTS | NNV_OPEN_RANKS, MODELS | ZERO, execute_given, NNV_MODE_SYNC, TWO},
    {"everything", EVERYTHING, MODELS, execute_once, NNV_MODE_SYNC, TWO},
    {"every_rank", EVERYTHING | NNV_OPEN_RANKS, MODELS, execute_once, NNV_MODE_SYNC, TWO},
    {"one_too_small", NNV_OPEN_OUTPUTS, MODELS, nnv_shapes_one_too_small, NNV_MODE_SYNC, TWO},
    {"all_too_small", NNV_OPEN_OUTPUTS | NNV_OPEN_RANKS, FIXTURE | GRAPH, nnv_shapes_all_too_small, NNV_MODE_SYNC, TWO},
    {"declared_too_small", 0, FIXTURE | GRAPH, nnv_shapes_one_too_small, NNV_MODE_SYNC, TWO},
    {"roomy", NNV_OPEN_OUTPUTS, MODELS | ZERO, nnv_shapes_roomy, NNV_MODE_SYNC, TWO},
    {"contradictions", 0, SINGLE | FIXTURE, nnv_shapes_contradictions, NNV_MODE_SYNC, TWO},
    {"open_contradictions", EVERYTHING, SINGLE | FIXTURE, nnv_shapes_contradictions, NNV_MODE_SYNC, TWO},
    {"fenced", NNV_OPEN_OUTPUTS, FIXTURE, fenced, NNV_MODE_SYNC, TWO},
    {"resized", NNV_OPEN_OUTPUTS, FREE, resized, NNV_MODE_SYNC, TWO},
    {"regrown", EVERYTHING, SINGLE, nnv_shapes_regrown, NNV_MODE_SYNC, ALL},
    {"regrown_short", EVERYTHING, SINGLE, nnv_shapes_regrown_short, NNV_MODE_SYNC, ONE},
    {"parameters", 0, INPUTS, nnv_shapes_parameters, NNV_MODE_SYNC, EACH},
    {"odd_parameters", 0, ODD, nnv_shapes_parameters, NNV_MODE_SYNC, ONE},
    {"even_parameters", 0, EVEN, nnv_shapes_parameters, NNV_MODE_SYNC, ONE},
    {"outputs_in_burst", NNV_OPEN_OUTPUTS, FIXTURE, execute_once, NNV_MODE_BURST, TWO},
    {"outputs_reusable", NNV_OPEN_OUTPUTS, FIXTURE, execute_once, NNV_MODE_REUSABLE, TWO},
    {"outputs_async", NNV_OPEN_OUTPUTS, FIXTURE, execute_once, NNV_MODE_ASYNC, TWO},
    {"too_small_in_burst", NNV_OPEN_OUTPUTS, FIXTURE, nnv_shapes_one_too_small, NNV_MODE_BURST, TWO},
    {"too_small_reusable", NNV_OPEN_OUTPUTS, FIXTURE, nnv_shapes_one_too_small, NNV_MODE_REUSABLE, TWO},
    {"too_small_async", NNV_OPEN_OUTPUTS, FIXTURE, nnv_shapes_one_too_small, NNV_MODE_ASYNC, TWO},
};
enum { CASES = sizeof cases / sizeof *cases };

static bool is_of_parameters(unsigned sources) { return sources & (INPUTS | ODD | EVEN); }

/* What nnv_case.b, .c and .d hold: which source, which model of it, and which variant of an operation. */
static enum nnv_status add(struct nnv_case_list *list, size_t i, enum source source, uint64_t which, const char *model,
                           const struct nnv_op *op, uint64_t variant, const char *type, struct nnv_err *err) {
    const struct nnv_case c = {.op = op ? op->name : "",
                               .type = type,
                               .tags = source == ZERO ? "zero" : "",
                               .a = i,
                               .b = source,
                               .c = which,
                               .d = variant,
                               .data = op};
    return nnv_list_case(list, c, err, "shapes/%s/%s", cases[i].name, model);
}

/* The variant of an operation that a case of this signature has. */
static uint64_t variant_of(size_t i, enum source source, const struct nnv_op *op, int sig) {
    const int turn = (int)i + (is_of_parameters(source) || cases[i].share == ALL ? sig : 0);
    return (uint64_t)(turn % nnv_single_variants(op));
}

/* In tier full of all signatures; in tier smoke of one, in every other case. */
static bool is_chosen(int tier, size_t i, const struct nnv_op *op, int sig) {
    const bool in_turn = sig == (op->code + (int)i) % op->nsigs;
    if (tier > 1) return true;
    if (tier == 0) return (cases[i].share == ONE ? in_turn : sig == 0) && (op->code + (int)i) % 2 == 0;
    return in_turn || (sig == 0 && cases[i].share == TWO) || cases[i].share >= EACH;
}

static enum nnv_status add_op(struct nnv_case_list *list, int tier, size_t i, enum source source,
                              const struct nnv_op *op, struct nnv_err *err) {
    enum nnv_status st = NNV_OK;
    for (int sig = 0; sig < op->nsigs && !st; sig++) {
        char types[96], model[160];
        if (!is_chosen(tier, i, op, sig) || (source == ZERO && !nnv_single_has(op, sig, NNV_FILL_ZERO))) continue;
        if (is_of_parameters(source) && nnv_single_planned(op, sig, NNV_PLAN_INPUTS) == 0) continue;
        nnv_single_sig_name(op, sig, types, sizeof types);
        snprintf(model, sizeof model, "%s/%s%s", op->name, types, source == ZERO ? "_zero" : "");
        const char *type = nnv_type(op->sigs[sig].type[NNV_T])->tag;
        const uint64_t own = variant_of(i, source, op, sig), variants = (uint64_t)nnv_single_variants(op);
        st = add(list, i, source, (uint64_t)sig, model, op, own, type, err);
        const bool all = tier > 0 && (sig == 0 || op->moves) && cases[i].share == ALL;
        for (uint64_t v = 0; all && v < variants && !st; v++) {
            if (v == own) continue;
            snprintf(model, sizeof model, "%s/%s_%s", op->name, types, op->variants[v]);
            st = add(list, i, source, (uint64_t)sig, model, op, v, type, err);
        }
    }
    return st;
}

static enum nnv_status add_graphs(struct nnv_case_list *list, int tier, size_t i, struct nnv_err *err) {
    const size_t each = tier < 1 ? 0 : tier > 1 ? 20 : 2;
    enum { QUICK = 20 }; /* operations: longer graphs take their time */
    enum nnv_status st = NNV_OK;
    for (size_t p = 0; p < nnv_graph_profile_count; p++)
        for (size_t k = 0; k < each && !st && (tier > 1 || nnv_graph_profiles[p].most <= QUICK); k++) {
            char model[96];
            snprintf(model, sizeof model, "%s/%zu", nnv_graph_profiles[p].name, k);
            st = add(list, i, GRAPH, (uint64_t)p << 32 | k, model, NULL, 0, "", err);
        }
    return st;
}

static enum nnv_status add_fixtures(struct nnv_case_list *list, size_t i, struct nnv_err *err) {
    char row[64];
    snprintf(row, sizeof row, "shapes/%s", cases[i].name);
    return nnv_list_fixtures(list, row, (struct nnv_case){.a = i, .b = FIXTURE},
                             cases[i].sources & FIXTURE ? NULL : "open_", err);
}

static enum nnv_status list_all(const struct nnv_run_config *config, struct nnv_case_list *list, struct nnv_err *err) {
    size_t n;
    const struct nnv_op *const *ops = nnv_ops(&n);
    enum nnv_status st = NNV_OK;
    for (size_t i = 0; i < CASES && !st; i++) {
        if (cases[i].sources & (FIXTURE | FREE)) st = add_fixtures(list, i, err);
        for (size_t k = 0; k < n && !st && (cases[i].sources & SINGLE); k++)
            st = add_op(list, nnv_tier(config), i, SINGLE, ops[k], err);
        for (size_t k = 0; k < n && !st && (cases[i].sources & ZERO); k++)
            st = add_op(list, nnv_tier(config), i, ZERO, ops[k], err);
        for (size_t k = 0; k < n && !st && is_of_parameters(cases[i].sources); k++)
            st = add_op(list, nnv_tier(config), i, (enum source)cases[i].sources, ops[k], err);
        if (!st && (cases[i].sources & GRAPH)) st = add_graphs(list, nnv_tier(config), i, err);
    }
    return st;
}

/* Makes every second input behind the first a constant, where that is valid. */
static enum nnv_status fix_inputs(struct nnv_spec **spec, bool odd, struct nnv_arena *arena) {
    for (uint32_t at = (*spec)->model.main.nin; at-- > 1;) {
        struct nnv_spec *fixed;
        struct nnv_err ignored = {0};
        if (at % 2 == odd) continue;
        if (!(fixed = nnv_relate_copy(*spec, arena))) return NNV_NO_MEMORY;
        if (nnv_relate_fix_input(fixed, at, at % 4 < 2) &&
            nnv_validate(&fixed->model, arena, &fixed->min_version, &ignored) == NNV_OK)
            *spec = fixed;
    }
    return NNV_OK;
}

/* The model of a case, shapes declared. */
static enum nnv_status build(const struct nnv_run_config *config, const struct nnv_case *c, struct nnv_arena *arena,
                             struct nnv_spec **spec, struct nnv_err *err) {
    if (c->b == FIXTURE) return nnv_fixture_build(nnv_case_fixture(c), config->seed, arena, spec, err);
    if (c->b == GRAPH) {
        const struct nnv_graph_options o = {.profile = &nnv_graph_profiles[c->c >> 32],
                                            .seed = config->seed,
                                            .index = c->c & UINT32_MAX,
                                            .name = c->name};
        return nnv_graph_build(&o, arena, spec, err);
    }
    const struct nnv_op *op = c->data;
    const bool inputs = is_of_parameters((unsigned)c->b);
    const struct nnv_single w = {.op = op,
                                 .sig = (int)c->c,
                                 .plan = inputs ? NNV_PLAN_INPUTS : NNV_PLAN_VARIANT,
                                 .variant = (int)c->d,
                                 .index = inputs ? 2 * (int)c->d + 1 : 0,
                                 .mode = c->b == ZERO ? NNV_FILL_ZERO : NNV_FILL_NORMAL,
                                 .seed = config->seed,
                                 .name = c->name};
    enum nnv_status st = nnv_single_build(&w, arena, spec, err);
    if (!st && (c->b == ODD || c->b == EVEN) && fix_inputs(spec, c->b == ODD, arena)) st = nnv_no_memory(err);
    return st;
}

static bool begin(struct nnv_shape_fixture *b, const struct nnv_case *c) {
    struct nnv_context *s = b->s;
    struct nnv_spec *declared, *spec;
    struct nnv_err err = {0};
    uint32_t opened;
    const unsigned open = cases[c->a].open;
    if (build(s->env->config, c, s->env->arena, &declared, &err) != NNV_OK ||
        nnv_shapes_open(declared, open, s->env->arena, &spec, &opened, &err) != NNV_OK)
        return nnv_context_error(s, "%s", err.text);
    if (open && !opened)
        return nnv_context_decline(s, NNVTS_WHY_NOT_APPLICABLE,
                                   "this model has no shapes of that kind that could be left open");
    if (!nnv_result_level(s->env, spec->min_version, s->result)) return false;
    if (!nnv_context_model(s, spec, &b->fixture)) return false;
    nnv_context_forgive_choices(&b->fixture);
    return nnv_context_ready(s, &b->fixture, &b->prepared, &b->values);
}

static void run(struct nnv_case_env *env, const struct nnv_case *c, struct nnv_result *result) {
    struct nnv_context s;
    struct nnv_shape_fixture b = {.s = &s, .mode = cases[c->a].mode};
    nnv_context_begin(&s, env, result);
    if (begin(&b, c)) cases[c->a].run(&b);
    nnv_context_release(&s, b.prepared);
    nnv_context_end(&s);
}

const struct nnv_suite nnv_suite_shapes = {
    .name = "shapes",
    .summary = "shapes that the model leaves open, outputs that are too small or empty, requests that contradict",
    .precision = NNV_PRECISION_BUDGET,
    .by_default = true,
    .meet = nnv_vocabulary_meet,
    .list = list_all,
    .run = run,
};
