/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/judge/compare.h"

#include <math.h>
#include <string.h>

#include "base/rng.h"
#include "harness/judge/match.h"
#include "harness/judge/multinomial.h"

enum { ALTERNATIVES = 64 };

/* -------------------------------------------------------------- expectations */

static uint32_t outputs_of(const struct nnv_comparer *c) { return c->spec->model.main.nout; }

static const struct nnv_operand *output_operand(const struct nnv_comparer *c, uint32_t i) {
    const struct nnv_subgraph *main = &c->spec->model.main;
    return &main->operands[main->out[i]];
}

static bool has_float16(const struct nnv_subgraph *s) {
    for (uint32_t i = 0; i < s->noperands; i++)
        if (s->operands[i].type == ANEURALNETWORKS_TENSOR_FLOAT16) return true;
    return false;
}

/** The fixed profiles judge all of a relaxed model, and of one that holds a float16 tensor, as float16. */
static bool is_low_precision(const struct nnv_comparer *c) {
    const struct nnv_model *m = &c->spec->model;
    const bool by_type = c->precision == NNV_PRECISION_BUDGET || c->precision == NNV_PRECISION_AOSP_GRAPH;
    if (m->relaxed || by_type) return m->relaxed;
    bool low = has_float16(&m->main);
    for (uint32_t i = 0; i < m->nreferenced && !low; i++) low = has_float16(&m->referenced[i]);
    return low;
}

static bool names_mobilenet(const char *name) { return name && strcasestr(name, "mobilenet"); }

bool nnv_must_equal(const struct nnv_spec *spec, enum nnv_precision precision,
                    const struct nnv_arithmetic *arithmetic) {
    return spec->exact && !(precision == NNV_PRECISION_BUDGET && nnv_arithmetic_is_weak(arithmetic));
}

static bool must_equal(const struct nnv_comparer *c) { return nnv_must_equal(c->spec, c->precision, &c->arithmetic); }

bool nnv_comparer_uses_budget(const struct nnv_comparer *c) {
    return c->precision == NNV_PRECISION_BUDGET && !must_equal(c);
}

enum nnv_judged nnv_comparer_rule(const struct nnv_comparer *c, uint32_t i) {
    uint32_t run;
    return nnv_output_rule(&c->spec->model.main, i, &run);
}

static bool has_rule(const struct nnv_comparer *c, enum nnv_judged rule) {
    for (uint32_t i = 0; i < outputs_of(c); i++)
        if (nnv_comparer_rule(c, i) == rule) return true;
    return false;
}

/** Random samples are compared with their distribution, also where the spec ignores them but states a tolerance. */
static bool is_ignored(const struct nnv_comparer *c, uint32_t i) {
    bool sampled = c->spec->multinomial_tolerance > 0 && nnv_comparer_rule(c, i) == NNV_JUDGED_SAMPLES;
    return output_operand(c, i)->ignored && !sampled;
}

static bool is_quantised(const struct nnv_comparer *c) {
    for (uint32_t i = 0; i < outputs_of(c); i++)
        if (nnv_is_quant(output_operand(c, i)->type)) return true;
    return false;
}

/** One evaluation: for budgets, first or second stage, or of the golden result alone. */
static enum nnv_status evaluate(const struct nnv_comparer *c, uint64_t alternative, bool second, int choice,
                                struct nnv_golden *golden, struct nnv_err *err) {
    const bool budget = nnv_comparer_uses_budget(c), quantised = is_quantised(c);
    struct nnv_eval_options options = {
        .choice = choice,
        .rows = !budget && !c->rows ? 0
                : second && budget  ? NNV_JUDGE_ROWS_SECOND
                : c->rows           ? c->rows
                : quantised         ? NNV_JUDGE_ROWS_QUANTISED
                                    : NNV_JUDGE_ROWS_FLOAT,
        .k = !quantised ? 2
             : second   ? 1.25
             : c->rows  ? 2
                        : 1.5,
        .seed = nnv_hash_str(c->spec->name) ^ (second ? UINT64_C(0x5ec0d) << 40 : 0),
        .alternative = alternative,
        .arithmetic = c->arithmetic,
    };
    return nnv_eval(&c->spec->model, c->spec->inputs, &options, c->arena, golden, err);
}

/**
 * Adds the golden results of each choice among tied numbers, as many as there are. The second stage may find more ties,
 * or others, than the first: both count.
 */
static enum nnv_status make_choices(struct nnv_comparer *c, const struct nnv_golden *golden, bool second,
                                    struct nnv_err *err) {
    const uint32_t n = outputs_of(c);
    int most = golden[0].choices < NNV_MOST_CHOICES ? golden[0].choices : NNV_MOST_CHOICES;
    struct nnv_golden *one = NNV_NEW(c->arena, struct nnv_golden, n);
    if (!c->choices) c->choices = NNV_NEW(c->arena, struct nnv_golden *, n);
    if (!one || !c->choices) return nnv_no_memory(err);
    for (uint32_t i = 0; i < n && !c->choices[i]; i++) {
        c->choices[i] = NNV_NEW(c->arena, struct nnv_golden, 2 * NNV_MOST_CHOICES);
        if (!c->choices[i]) return nnv_no_memory(err);
    }
    for (int k = 1; k <= most; k++) {
        enum nnv_status st = evaluate(c, c->alternative, second, k, one, err);
        if (st) return st;
        for (uint32_t i = 0; i < n; i++) c->choices[i][c->nchoices] = one[i];
        c->nchoices++;
    }
    return NNV_OK;
}

/** An evaluation with all its choices. */
static enum nnv_status evaluate_all(struct nnv_comparer *c, bool second, struct nnv_golden *golden,
                                    struct nnv_err *err) {
    enum nnv_status st = golden ? evaluate(c, c->alternative, second, 0, golden, err) : nnv_no_memory(err);
    if (!st && nnv_comparer_uses_budget(c) && has_rule(c, NNV_JUDGED_CHOICE)) st = make_choices(c, golden, second, err);
    return st ? nnv_at(err, st, "no golden result") : st;
}

static bool same_dims(const struct nnv_value *a, const struct nnv_value *b) {
    return a->rank == b->rank && (a->rank == 0 || memcmp(a->dims, b->dims, a->rank * sizeof *a->dims) == 0);
}

static bool same_shape(const struct nnv_value *a, const struct nnv_value *b) {
    return a->bytes == b->bytes && same_dims(a, b);
}

/** The budgets, and the golden values that they belong to. */
static enum nnv_status make_golden(struct nnv_comparer *c, struct nnv_err *err) {
    c->golden = NNV_NEW(c->arena, struct nnv_golden, outputs_of(c));
    enum nnv_status st = evaluate_all(c, false, c->golden, err);
    for (uint32_t i = 0; !st && !c->rows && i < outputs_of(c); i++)
        if (!output_operand(c, i)->ignored && !same_shape(&c->golden[i].value, &c->spec->outputs[i]))
            st = nnv_fail(err, NNV_INVALID, "output %u: the golden result's shape is not the expected one", i);
    return st;
}

enum nnv_status nnv_comparer_make(struct nnv_comparer *c, struct nnv_err *err) {
    const uint32_t n = outputs_of(c);
    const bool budget = nnv_comparer_uses_budget(c), low = is_low_precision(c);
    c->expected = NNV_NEW(c->arena, struct nnv_expectation, n);
    c->taken = NNV_NEW(c->arena, struct nnv_expectation, n);
    c->followed = NNV_NEW(c->arena, struct nnv_expectation, n);
    c->comparison = NNV_NEW(c->arena, struct nnv_comparison, n);
    if (!c->expected || !c->taken || !c->followed || !c->comparison) return nnv_no_memory(err);
    enum nnv_status st = budget || c->rows || has_rule(c, NNV_JUDGED_SAMPLES) ? make_golden(c, err) : NNV_OK;
    for (uint32_t i = 0; i < n && !st; i++) {
        const struct nnv_operand *o = output_operand(c, i);
        const struct nnv_golden *g = budget || c->rows ? &c->golden[i] : NULL;
        c->expected[i] = (struct nnv_expectation){
            .type = o->type,
            .scale = o->scale,
            .zero_point = o->zero_point,
            .value = c->rows || (g && !o->ignored) ? &g->value : &c->spec->outputs[i],
            .spread = g ? g->spread : NULL,
            .exact = g ? g->exact : NULL,
            .k = 2,
            .must_equal = must_equal(c),
            .low_precision = low,
            .mobilenet = names_mobilenet(c->spec->name),
            .ignored = is_ignored(c, i),
            .graph = nnv_graph_rule(&c->spec->model),
            .arithmetic = c->arithmetic,
        };
    }
    return st;
}

/* ---------------------------------------------------------------- comparing */

enum nnv_status nnv_comparer_output(const struct nnv_comparer *c, uint32_t i, const void *actual,
                                    struct nnv_expectation *e, struct nnv_comparison *out, struct nnv_err *err) {
    uint32_t run;
    enum nnv_judged rule = nnv_output_rule(&c->spec->model.main, i, &run);
    bool ok = true;
    if (rule == NNV_JUDGED_SAMPLES && !e->ignored) {
        const struct nnv_source *logits = c->golden[i].source;
        double tolerance = c->precision == NNV_PRECISION_AOSP ? c->spec->multinomial_tolerance : 0;
        size_t samples = logits && logits->outer ? e->value->bytes / sizeof(int32_t) / logits->outer : 0;
        if (logits)
            return nnv_check_samples(logits, actual, samples, tolerance, c->arena, out) ? NNV_OK : nnv_no_memory(err);
    }
    bool follow = nnv_comparer_uses_budget(c) && !e->ignored;
    if (follow && c->golden[i].source)
        ok = nnv_follow_indices(e, c->golden[i].source, actual, c->arena);
    else if (follow && rule == NNV_JUDGED_CHOICE && c->nchoices)
        ok = nnv_follow_choice(e, run, c->choices[i], c->nchoices, actual, c->arena);
    if (!ok) return nnv_no_memory(err);
    nnv_check(e, actual, c->precision, out);
    return NNV_OK;
}

/** Compares with what is taken. */
static enum nnv_status compare(struct nnv_comparer *c, size_t *wrong, struct nnv_err *err) {
    enum nnv_status st = NNV_OK;
    *wrong = 0;
    nnv_match(&c->spec->model.main, c->taken, c->precision, c->arena, c->outputs);
    for (uint32_t i = 0; i < outputs_of(c) && !st; i++) {
        c->followed[i] = c->taken[i];
        st = nnv_comparer_output(c, i, c->outputs[i].data, &c->followed[i], &c->comparison[i], err);
        *wrong += c->comparison[i].wrong;
    }
    return st;
}

static void take_expected(struct nnv_comparer *c) { memcpy(c->taken, c->expected, outputs_of(c) * sizeof *c->taken); }

/** The larger spread of two evaluations; NaN wins. */
static double *join_spreads(const struct nnv_comparer *c, const double *a, const double *b, size_t n) {
    double *joined = NNV_NEW(c->arena, double, n);
    for (size_t i = 0; i < n && joined; i++) joined[i] = isnan(a[i]) || b[i] <= a[i] ? a[i] : b[i];
    return joined;
}

/** The larger reach of two evaluations; NaN wins. False: out of memory. */
static bool join_sources(const struct nnv_comparer *c, const struct nnv_source **s, const struct nnv_source *fresh) {
    if (!*s || !fresh) return true;
    struct nnv_source *joined = nnv_arena_copy(c->arena, *s, sizeof *joined);
    if (!joined) return false;
    joined->reach = join_spreads(c, joined->reach, fresh->reach, joined->outer * joined->n * joined->inner);
    *s = joined;
    return joined->reach != NULL;
}

/* What was allowed before stays allowed. */
enum nnv_status nnv_comparer_look_again(struct nnv_comparer *c, struct nnv_err *err) {
    if (c->looked_again || !nnv_comparer_uses_budget(c)) return NNV_OK;
    const uint32_t n = outputs_of(c);
    struct nnv_golden *fresh = NNV_NEW(c->arena, struct nnv_golden, n);
    enum nnv_status st = evaluate_all(c, true, fresh, err);
    for (uint32_t i = 0; i < n && !st; i++) {
        struct nnv_expectation *e = &c->expected[i];
        if (!e->spread || !fresh[i].spread || e->ignored) continue;
        e->spread = join_spreads(c, e->spread, fresh[i].spread, nnv_expected_elems(e));
        if (!e->spread || !join_sources(c, &c->golden[i].source, fresh[i].source)) st = nnv_no_memory(err);
    }
    c->looked_again = st == NNV_OK;
    return st;
}

/** Takes what an alternative evaluation gave. False if it has other shapes than the answer. */
static bool take_alternative(struct nnv_comparer *c, const struct nnv_golden *golden) {
    take_expected(c);
    for (uint32_t i = 0; i < outputs_of(c); i++) {
        struct nnv_expectation *e = &c->taken[i];
        if (e->ignored) continue;
        if (!same_shape(&golden[i].value, e->value)) return false;
        e->value = &golden[i].value;
        e->spread = golden[i].spread;
        e->exact = golden[i].exact;
    }
    return true;
}

/**
 * Where the evaluation met open decisions (equal scores, an overlap at its threshold) the answer may be that of the
 * other decisions, as a whole. True if it is: the comparison is then with that, and *wrong is 0.
 */
static bool is_alternative(struct nnv_comparer *c, size_t *wrong) {
    const uint32_t n = outputs_of(c);
    struct nnv_golden *golden = NNV_NEW(c->arena, struct nnv_golden, n);
    struct nnv_err err = {0};
    bool open = n > 0 && c->golden[0].open && golden;
    for (uint64_t a = 1; open && a <= ALTERNATIVES; a++) {
        if (evaluate(c, a, true, 0, golden, &err) != NNV_OK) break;
        if (take_alternative(c, golden) && compare(c, wrong, &err) == NNV_OK && *wrong == 0) return true;
    }
    return false;
}

enum nnv_status nnv_comparer_run(struct nnv_comparer *c, struct nnv_value *outputs, size_t *wrong,
                                 struct nnv_err *err) {
    c->outputs = outputs;
    take_expected(c);
    enum nnv_status st = compare(c, wrong, err);
    if (st || *wrong == 0 || !nnv_comparer_uses_budget(c)) return st;
    if (!c->looked_again) {
        st = nnv_comparer_look_again(c, err);
        take_expected(c);
        if (!st) st = compare(c, wrong, err);
    }
    if (st || *wrong == 0 || is_alternative(c, wrong)) return st;
    take_expected(c);
    return compare(c, wrong, err);
}

static bool has_shapes(const struct nnv_comparer *c, const struct nnv_golden *golden, const struct nnv_value *shapes) {
    for (uint32_t i = 0; i < outputs_of(c); i++)
        if (!output_operand(c, i)->ignored && !same_dims(&golden[i].value, &shapes[i])) return false;
    return true;
}

struct nnv_golden *nnv_comparer_alternative(struct nnv_comparer *c, const struct nnv_value *shapes) {
    struct nnv_golden *golden = NNV_NEW(c->arena, struct nnv_golden, outputs_of(c));
    struct nnv_err err = {0};
    for (uint64_t a = 1; golden && a <= ALTERNATIVES; a++) {
        if (evaluate(c, a, false, 0, golden, &err) != NNV_OK || !golden[0].open) break;
        if (!has_shapes(c, golden, shapes)) continue;
        c->alternative = a;
        return golden;
    }
    return NULL;
}
