/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/judge/judge.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

#include "harness/client/run.h"
#include "harness/judge/answers.h"
#include "harness/judge/match.h"
#include "harness/judge/multinomial.h"
#include "harness/judge/ties.h"
#include "nnvts/result.h"
#include "reference/model/validate.h"

/** What judging one spec knows. */
struct judging {
    struct nnv_case_env *env;
    const struct nnv_spec *spec;
    enum nnv_precision precision;
    struct nnv_result *result;
    struct nnv_outcome outcome;
    bool quantised;              /**< an output is */
    uint64_t alternative;        /**< of nnv_eval_options */
    struct nnv_golden *golden;   /**< per output: budget, and where samples are judged; else NULL */
    struct nnv_golden **choices; /**< budget: per output, at each choice among tied numbers */
    int nchoices;
    struct nnv_expectation *expected, *followed; /**< followed: at proven ties the driver's own choice */
    struct nnv_comparison *comparison;
};

enum { ROWS_FLOAT = 8, ROWS_QUANTISED = 16, ROWS_SECOND = 64, ALTERNATIVES = 64 };

static void enter(const struct judging *j, enum nnv_phase phase) {
    if (j->env->phase) *j->env->phase = (uint32_t)phase;
}

void nnv_result_end(struct nnv_result *result, enum nnvts_verdict verdict, const char *fmt, ...) {
    va_list ap;
    result->verdict = (int)verdict;
    va_start(ap, fmt);
    nnv_text_vaddf(&result->reason, fmt, ap);
    va_end(ap);
}

void nnv_result_start(struct nnv_result *result) {
    result->verdict = NNVTS_ERROR;
    result->compared = result->not_compared = 0;
    result->driver_ns = 0;
    result->worker_damaged = false;
    nnv_text_clear(&result->reason);
    nnv_text_clear(&result->outputs);
    nnv_text_clear(&result->answer);
}

bool nnv_result_level(const struct nnv_case_env *env, int level, struct nnv_result *result) {
    int has = env->client->device->feature_level;
    if (level <= has) return true;
    nnv_result_end(result, NNVTS_SKIP, "needs feature level %d, the driver has %d", level, has);
    return false;
}

/* -------------------------------------------------------------- expectations */

static const struct nnv_operand *output_operand(const struct judging *j, uint32_t i) {
    const struct nnv_subgraph *main = &j->spec->model.main;
    return &main->operands[main->out[i]];
}

static bool has_float16(const struct nnv_subgraph *s) {
    for (uint32_t i = 0; i < s->noperands; i++)
        if (s->operands[i].type == ANEURALNETWORKS_TENSOR_FLOAT16) return true;
    return false;
}

/** The fixed profiles judge all of a relaxed model, and of one that holds a float16 tensor, as float16. */
static bool is_low_precision(const struct judging *j) {
    const struct nnv_model *m = &j->spec->model;
    const bool by_type = j->precision == NNV_PRECISION_BUDGET || j->precision == NNV_PRECISION_AOSP_GRAPH;
    if (m->relaxed || by_type) return m->relaxed;
    bool low = has_float16(&m->main);
    for (uint32_t i = 0; i < m->nreferenced && !low; i++) low = has_float16(&m->referenced[i]);
    return low;
}

static bool names_mobilenet(const char *name) { return name && strcasestr(name, "mobilenet"); }

/** Exact cases need no budget: their expected outputs are the golden values, and nothing else will do. */
static bool uses_budget(const struct judging *j) { return j->precision == NNV_PRECISION_BUDGET && !j->spec->exact; }

/** By its operation's record; *run as in nnv_output_rule, or NULL. */
static enum nnv_judged rule_of(const struct judging *j, uint32_t i, uint32_t *run) {
    uint32_t one;
    return nnv_output_rule(&j->spec->model.main, i, run ? run : &one);
}

static bool has_rule(const struct judging *j, enum nnv_judged rule) {
    for (uint32_t i = 0; i < j->spec->model.main.nout; i++)
        if (rule_of(j, i, NULL) == rule) return true;
    return false;
}

/** Random samples are compared with their distribution, also where the spec ignores them but states a tolerance. */
static bool is_ignored(const struct judging *j, uint32_t i) {
    bool sampled = j->spec->multinomial_tolerance > 0 && rule_of(j, i, NULL) == NNV_JUDGED_SAMPLES;
    return output_operand(j, i)->ignored && !sampled;
}

/** One evaluation: for budgets, first or second stage, or of the golden result alone. */
static enum nnv_status evaluate(const struct judging *j, bool second, int choice, struct nnv_golden *golden,
                                struct nnv_err *err) {
    struct nnv_eval_options options = {
        .choice = choice,
        .rows = !uses_budget(j) ? 0
                : second        ? ROWS_SECOND
                : j->quantised  ? ROWS_QUANTISED
                                : ROWS_FLOAT,
        .k = !j->quantised ? 2
             : second      ? 1.25
                           : 1.5,
        .seed = nnv_hash_str(j->spec->name) ^ (second ? UINT64_C(0x5ec0d) << 40 : 0),
        .alternative = j->alternative,
    };
    return nnv_eval(&j->spec->model, j->spec->inputs, &options, j->env->arena, golden, err);
}

/**
 * Adds the golden results of each choice among tied numbers, as many as there are. The second stage may find more ties,
 * or others, than the first: both count.
 */
static enum nnv_status make_choices(struct judging *j, const struct nnv_golden *golden, bool second,
                                    struct nnv_err *err) {
    uint32_t n = j->spec->model.main.nout;
    int most = golden[0].choices < NNV_MOST_CHOICES ? golden[0].choices : NNV_MOST_CHOICES;
    struct nnv_golden *one = NNV_NEW(j->env->arena, struct nnv_golden, n);
    if (!j->choices) j->choices = NNV_NEW(j->env->arena, struct nnv_golden *, n);
    if (!one || !j->choices) return nnv_no_memory(err);
    for (uint32_t i = 0; i < n && !j->choices[i]; i++) {
        j->choices[i] = NNV_NEW(j->env->arena, struct nnv_golden, 2 * NNV_MOST_CHOICES);
        if (!j->choices[i]) return nnv_no_memory(err);
    }
    for (int c = 1; c <= most; c++) {
        enum nnv_status st = evaluate(j, second, c, one, err);
        if (st) return st;
        for (uint32_t i = 0; i < n; i++) j->choices[i][j->nchoices] = one[i];
        j->nchoices++;
    }
    return NNV_OK;
}

/** An evaluation with all its choices. False: the case has ended. */
static bool evaluate_all(struct judging *j, bool second, struct nnv_golden *golden) {
    struct nnv_err err = {0};
    enum nnv_status st = golden ? evaluate(j, second, 0, golden, &err) : nnv_no_memory(&err);
    if (!st && uses_budget(j) && has_rule(j, NNV_JUDGED_CHOICE)) st = make_choices(j, golden, second, &err);
    if (st) nnv_result_end(j->result, NNVTS_ERROR, "no golden result: %s", err.text);
    return !st;
}

static bool same_shape(const struct nnv_value *a, const struct nnv_value *b) {
    return a->rank == b->rank && a->bytes == b->bytes &&
           (a->rank == 0 || memcmp(a->dims, b->dims, a->rank * sizeof *a->dims) == 0);
}

/** The budgets, and the golden values that they belong to. */
static bool make_golden(struct judging *j) {
    uint32_t n = j->spec->model.main.nout;
    enter(j, NNV_PHASE_CHECK);
    j->golden = NNV_NEW(j->env->arena, struct nnv_golden, n);
    if (!evaluate_all(j, false, j->golden)) return false;
    for (uint32_t i = 0; i < n; i++) {
        if (output_operand(j, i)->ignored || same_shape(&j->golden[i].value, &j->spec->outputs[i])) continue;
        nnv_result_end(j->result, NNVTS_ERROR, "output %u: the golden result's shape is not the expected one", i);
        return false;
    }
    return true;
}

static bool make_expectations(struct judging *j) {
    uint32_t n = j->spec->model.main.nout;
    bool budget = uses_budget(j), low = is_low_precision(j);
    j->expected = NNV_NEW(j->env->arena, struct nnv_expectation, n);
    j->followed = NNV_NEW(j->env->arena, struct nnv_expectation, n);
    j->comparison = NNV_NEW(j->env->arena, struct nnv_comparison, n);
    if (!j->expected || !j->followed || !j->comparison) {
        nnv_result_end(j->result, NNVTS_ERROR, "out of memory");
        return false;
    }
    if ((budget || has_rule(j, NNV_JUDGED_SAMPLES)) && !make_golden(j)) return false;
    for (uint32_t i = 0; i < n; i++) {
        const struct nnv_operand *o = output_operand(j, i);
        j->expected[i] = (struct nnv_expectation){
            .type = o->type,
            .scale = o->scale,
            .zero_point = o->zero_point,
            .value = budget && !o->ignored ? &j->golden[i].value : &j->spec->outputs[i],
            .spread = budget ? j->golden[i].spread : NULL,
            .exact = budget ? j->golden[i].exact : NULL,
            .k = 2,
            .must_equal = j->spec->exact,
            .low_precision = low,
            .mobilenet = names_mobilenet(j->spec->name),
            .ignored = is_ignored(j, i),
            .graph = nnv_graph_rule(&j->spec->model),
        };
    }
    return true;
}

/* ---------------------------------------------------------------- comparing */

/**
 * Compares output i with actual, by the rule of its operation's record. *e: in, the expectation; out, the one that was
 * compared with. False: out of memory.
 */
static bool compare_output(const struct judging *j, uint32_t i, const void *actual, struct nnv_expectation *e,
                           struct nnv_comparison *out) {
    uint32_t run;
    enum nnv_judged rule = rule_of(j, i, &run);
    bool ok = true;
    if (rule == NNV_JUDGED_SAMPLES && !e->ignored) {
        const struct nnv_source *logits = j->golden[i].source;
        double tolerance = j->precision == NNV_PRECISION_AOSP ? j->spec->multinomial_tolerance : 0;
        size_t samples = logits && logits->outer ? e->value->bytes / sizeof(int32_t) / logits->outer : 0;
        if (logits) return nnv_check_samples(logits, actual, samples, tolerance, j->env->arena, out);
    }
    bool follow = uses_budget(j) && !e->ignored;
    if (follow && j->golden[i].source)
        ok = nnv_follow_indices(e, j->golden[i].source, actual, j->env->arena);
    else if (follow && rule == NNV_JUDGED_CHOICE && j->nchoices)
        ok = nnv_follow_choice(e, run, j->choices[i], j->nchoices, actual, j->env->arena);
    if (ok) nnv_check(e, actual, j->precision, out);
    return ok;
}

/** False: the case has ended. */
static bool compare(struct judging *j, size_t *wrong) {
    *wrong = 0;
    struct nnv_err err = {0};
    enter(j, NNV_PHASE_CHECK);
    /* without memory for it they are compared in order, which is stricter */
    (void)!nnv_match(&j->spec->model.main, j->expected, j->precision, j->env->arena, j->outcome.outputs, &err);
    for (uint32_t i = 0; i < j->spec->model.main.nout; i++) {
        j->followed[i] = j->expected[i];
        if (!compare_output(j, i, j->outcome.outputs[i].data, &j->followed[i], &j->comparison[i])) {
            nnv_result_end(j->result, NNVTS_ERROR, "out of memory");
            return false;
        }
        *wrong += j->comparison[i].wrong;
    }
    return true;
}

/** The larger spread of two evaluations; NaN wins. */
static double *join_spreads(const struct judging *j, const double *a, const double *b, size_t n) {
    double *joined = NNV_NEW(j->env->arena, double, n);
    for (size_t i = 0; i < n && joined; i++) joined[i] = isnan(a[i]) || b[i] <= a[i] ? a[i] : b[i];
    return joined;
}

/** The larger reach of two evaluations; NaN wins. False: out of memory. */
static bool join_sources(const struct judging *j, const struct nnv_source **s, const struct nnv_source *fresh) {
    if (!*s || !fresh) return true;
    struct nnv_source *joined = nnv_arena_copy(j->env->arena, *s, sizeof *joined);
    if (!joined) return false;
    joined->reach = join_spreads(j, joined->reach, fresh->reach, joined->outer * joined->n * joined->inner);
    *s = joined;
    return joined->reach != NULL;
}

/** Looks again at a violated budget, with many fresh rows: what was allowed before stays allowed. */
static bool second_stage(struct judging *j) {
    uint32_t n = j->spec->model.main.nout;
    struct nnv_golden *fresh = NNV_NEW(j->env->arena, struct nnv_golden, n);
    enter(j, NNV_PHASE_CHECK);
    if (!evaluate_all(j, true, fresh)) return false;
    for (uint32_t i = 0; i < n; i++) {
        if (!j->expected[i].spread || !fresh[i].spread || j->expected[i].ignored) continue;
        j->expected[i].spread = join_spreads(j, j->expected[i].spread, fresh[i].spread, j->comparison[i].elems);
        if (j->expected[i].spread && join_sources(j, &j->golden[i].source, fresh[i].source)) continue;
        nnv_result_end(j->result, NNVTS_ERROR, "out of memory");
        return false;
    }
    return true;
}

/** Expects what an alternative evaluation gave. False if it has other shapes than the answer. */
static bool expect_alternative(struct judging *j, const struct nnv_golden *golden) {
    for (uint32_t i = 0; i < j->spec->model.main.nout; i++) {
        struct nnv_expectation *e = &j->expected[i];
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
 * other decisions, as a whole. True if it is: the comparison is then with that; otherwise all is as before.
 */
static bool is_alternative(struct judging *j) {
    uint32_t n = j->spec->model.main.nout;
    struct nnv_expectation *kept = nnv_arena_copy(j->env->arena, j->expected, n * sizeof *kept);
    struct nnv_golden *golden = NNV_NEW(j->env->arena, struct nnv_golden, n);
    struct nnv_err err = {0};
    bool open = n > 0 && j->golden[0].open && kept && golden;
    uint64_t before = j->alternative;
    size_t wrong;
    for (uint64_t a = 1; open && a <= ALTERNATIVES; a++) {
        j->alternative = a;
        if (evaluate(j, true, 0, golden, &err) != NNV_OK) break;
        if (expect_alternative(j, golden) && compare(j, &wrong) && wrong == 0) return true;
        memcpy(j->expected, kept, n * sizeof *kept);
    }
    j->alternative = before;
    return false;
}

static bool has_shapes(const struct judging *j, const struct nnv_golden *golden, const struct nnv_value *shapes) {
    for (uint32_t i = 0; i < j->spec->model.main.nout; i++) {
        const struct nnv_value *v = &golden[i].value;
        if (output_operand(j, i)->ignored) continue;
        if (v->rank != shapes[i].rank || (v->rank && memcmp(v->dims, shapes[i].dims, v->rank * sizeof *v->dims) != 0))
            return false;
    }
    return true;
}

/**
 * The driver reported other shapes than the expected ones. Where decisions are open there may be another number of
 * results: the driver runs once more, and is judged by an alternative of the shapes that it reported.
 */
static void run_alternative(struct judging *j) {
    uint32_t n = j->spec->model.main.nout;
    struct nnv_golden *golden = NNV_NEW(j->env->arena, struct nnv_golden, n);
    struct nnv_spec *spec = nnv_arena_copy(j->env->arena, j->spec, sizeof *spec);
    struct nnv_err err = {0};
    enter(j, NNV_PHASE_CHECK);
    if (!golden || !spec || !(spec->outputs = NNV_NEW(j->env->arena, struct nnv_value, n))) return;
    for (j->alternative = 1; j->alternative <= ALTERNATIVES; j->alternative++) {
        if (evaluate(j, false, 0, golden, &err) != NNV_OK || !golden[0].open) break;
        if (!has_shapes(j, golden, j->outcome.reported)) continue;
        for (uint32_t i = 0; i < n; i++) spec->outputs[i] = golden[i].value;
        j->spec = spec;
        nnv_client_run(j->env->client, spec, j->env->arena, j->env->phase, &j->outcome);
        return;
    }
    j->alternative = 0;
}

/* ----------------------------------------------------------------- the record */

static void add_shape(struct nnv_text *t, const uint32_t *dims, uint32_t rank) {
    nnv_text_add(t, "[");
    for (uint32_t i = 0; i < rank; i++) nnv_text_addf(t, "%s%u", i ? "," : "", dims[i]);
    nnv_text_add(t, "]");
}

/** The indices of flat element `at`. */
static void add_place(struct nnv_text *t, const struct nnv_value *v, size_t at) {
    uint32_t place[NNV_MAX_RANK];
    for (uint32_t i = v->rank; i-- > 0;) {
        uint32_t extent = v->dims[i] ? v->dims[i] : 1;
        place[i] = (uint32_t)(at % extent);
        at /= extent;
    }
    add_shape(t, place, v->rank);
}

static void add_number(struct nnv_text *t, double v) {
    if (isfinite(v))
        nnv_text_addf(t, "%.10g", v);
    else
        nnv_text_add_double(t, v);
}

static void add_numbers(struct nnv_text *t, const char *name, const double *v, size_t n) {
    nnv_text_addf(t, ",\"%s\":[", name);
    for (size_t i = 0; i < n; i++) {
        if (i) nnv_text_add(t, ",");
        add_number(t, v[i]);
    }
    nnv_text_add(t, "]");
}

static void add_pictures(const struct judging *j, uint32_t i, struct nnv_text *t) {
    const struct nnv_comparison *c = &j->comparison[i];
    struct nnv_check_window w;
    nnv_check_window(&j->followed[i], j->outcome.outputs[i].data, j->precision, c->worst, &w);
    size_t n = (size_t)w.rows * w.cols;
    nnv_text_addf(t, ",\"window\":{\"at\":[%u,%u],\"rows\":%u,\"cols\":%u", w.row, w.col, w.rows, w.cols);
    add_numbers(t, "expected", w.expected, n);
    add_numbers(t, "actual", w.actual, n);
    add_numbers(t, "bound", w.bound, n);
    nnv_text_addf(t, "},\"heat\":{\"rows\":%u,\"cols\":%u,\"data\":\"", c->heat_rows, c->heat_cols);
    nnv_text_add_base64(t, c->heat, (size_t)c->heat_rows * c->heat_cols);
    nnv_text_add(t, "\"}");
}

static void add_output(const struct judging *j, uint32_t i, struct nnv_text *t) {
    const struct nnv_comparison *c = &j->comparison[i];
    const struct nnv_value *v = j->expected[i].value;
    nnv_text_addf(t, "%s{\"index\":%u,\"dims\":", t->len > 1 ? "," : "", i);
    add_shape(t, v->dims, v->rank);
    nnv_text_addf(t, ",\"type\":\"%s\",\"compared\":%zu,\"wrong\":%zu,\"not_compared\":%zu,\"rule\":",
                  nnv_type(j->expected[i].type)->name, c->compared, c->wrong, c->not_compared);
    nnv_text_add_json(t, c->rule);
    if (c->compared > 0) {
        const struct {
            const char *name;
            double value;
        } member[] = {
            {",\"max_ulp\":", c->max_ulp},        {",\"bias\":", c->bias},           {",\"mse\":", c->mse},
            {"\"expected\":", c->worst_expected}, {",\"actual\":", c->worst_actual}, {",\"error\":", c->worst_error},
            {",\"bound\":", c->worst_bound},      {",\"ratio\":", c->worst_ratio}};
        for (size_t m = 0; m < sizeof member / sizeof *member; m++) {
            if (m == 3) {
                nnv_text_add(t, ",\"worst\":{\"at\":");
                add_place(t, v, c->worst);
                nnv_text_add(t, ",");
            }
            nnv_text_add(t, member[m].name);
            add_number(t, member[m].value);
        }
        nnv_text_add(t, "}");
    }
    if (c->heat_rows) add_pictures(j, i, t);
    nnv_text_add(t, "}");
}

static void add_wrong(const struct judging *j, uint32_t i, struct nnv_text *t) {
    const struct nnv_comparison *c = &j->comparison[i];
    const struct nnv_value *v = j->expected[i].value;
    nnv_text_addf(t, "%soutput %u ", t->len ? "\n" : "", i);
    add_shape(t, v->dims, v->rank);
    if (c->note[0]) {
        nnv_text_addf(t, ": %s", c->note);
        return;
    }
    nnv_text_addf(t, ": %zu of %zu values wrong; worst at ", c->wrong, c->compared);
    add_place(t, v, c->worst);
    /* C prints the sign of a NaN. */
    double expected = isnan(c->worst_expected) ? (double)NAN : c->worst_expected;
    double actual = isnan(c->worst_actual) ? (double)NAN : c->worst_actual;
    nnv_text_addf(t, ": expected %.9g, got %.9g, allowed %.4g", expected, actual, c->worst_bound);
}

/** A file's own expectation that disagrees with the golden result: the reader of a failure must know. */
static void add_doubts(const struct judging *j, struct nnv_text *t) {
    struct nnv_comparison *c = uses_budget(j) ? NNV_NEW(j->env->arena, struct nnv_comparison, 1) : NULL;
    for (uint32_t i = 0; c && i < j->spec->model.main.nout; i++) {
        struct nnv_expectation e = j->expected[i];
        if (compare_output(j, i, j->spec->outputs[i].data, &e, c) && c->wrong && !c->note[0])
            nnv_text_addf(
                t, "\nnote: the spec's own expectation of output %u differs from the golden result in %zu values", i,
                c->wrong);
    }
}

/** The bytes of all outputs, unless they are many. */
static void keep_answer(const struct judging *j, struct nnv_text *answer) {
    enum { MOST = 1 << 20 };
    size_t bytes = 0;
    for (uint32_t i = 0; i < j->spec->model.main.nout; i++) bytes += j->outcome.outputs[i].bytes;
    for (uint32_t i = 0; i < j->spec->model.main.nout && bytes <= MOST; i++)
        nnv_text_add_n(answer, j->outcome.outputs[i].data, j->outcome.outputs[i].bytes);
}

/** Verdict, sums, reason and record from the comparisons. */
static void conclude(struct judging *j) {
    struct nnv_result *r = j->result;
    size_t wrong = 0, elems = 0;
    for (uint32_t i = 0; i < j->spec->model.main.nout; i++) {
        const struct nnv_comparison *c = &j->comparison[i];
        r->compared += c->compared;
        r->not_compared += c->not_compared;
        wrong += c->wrong;
        if (j->expected[i].ignored) continue;
        elems += c->elems;
        if (c->wrong) add_wrong(j, i, &r->reason);
    }
    if (r->compared) {
        nnv_text_add(&r->outputs, "[");
        for (uint32_t i = 0; i < j->spec->model.main.nout; i++) add_output(j, i, &r->outputs);
        nnv_text_add(&r->outputs, "]");
    }
    if (wrong) {
        r->verdict = NNVTS_FAIL;
        if (j->env->keep_answer) keep_answer(j, &r->answer);
        add_doubts(j, &r->reason);
    } else if (r->compared || elems == 0) {
        /* outputs without elements were judged by their shapes; a spec that ignores all outputs asks for no more than
           an execution by the rules */
        r->verdict = NNVTS_PASS;
    } else {
        nnv_result_end(r, NNVTS_UNTRUSTED,
                       "nothing was compared: the budget of each of the %zu values is as large as the value", elems);
    }
}

/* -------------------------------------------------------------------- judging */

/** Validates the model. False if that ends the case; *level is raised to what the model needs where the spec is silent.
 */
static bool check_model(const struct judging *j, int *level) {
    struct nnv_err err = {0};
    int needed = 0;
    enter(j, NNV_PHASE_BUILD);
    enum nnv_status st = nnv_validate(&j->spec->model, j->env->arena, &needed, &err);
    if (st == NNV_UNSUPPORTED) {
        nnv_result_end(j->result, NNVTS_SKIP, "%s", err.text);
        return false;
    }
    if (st == NNV_INVALID && j->spec->expect_failure) return true;
    if (st != NNV_OK) {
        nnv_result_end(j->result, NNVTS_ERROR, "the spec's model is invalid: %s", err.text);
        return false;
    }
    /* some vectors declare less than they need: a driver that knows only the declared level may refuse them */
    if (*level < needed) *level = needed;
    if (*level < j->spec->min_version) *level = j->spec->min_version;
    return true;
}

/** What a driver that did not come to an answer deserves. False if there is an answer to compare. */
static bool judge_outcome(const struct judging *j) {
    const struct nnv_outcome *o = &j->outcome;
    switch (o->kind) {
    case NNV_OUTCOME_DONE:
        if (!j->spec->expect_failure) return false;
        nnv_result_end(j->result, NNVTS_FAIL, "executed a model that a driver must refuse");
        return true;
    case NNV_OUTCOME_UNSUPPORTED:
        nnv_result_end(j->result, NNVTS_UNSUPPORTED, "%s", o->reason);
        return true;
    case NNV_OUTCOME_REFUSED:
        if (j->spec->expect_failure)
            j->result->verdict = NNVTS_PASS;
        else
            nnv_result_end(j->result, NNVTS_FAIL, "%s", o->reason);
        return true;
    case NNV_OUTCOME_BROKEN:
        nnv_result_end(j->result, NNVTS_FAIL, "%s", o->reason);
        return true;
    case NNV_OUTCOME_HARNESS:
        nnv_result_end(j->result, NNVTS_ERROR, "%s", o->reason);
        return true;
    }
    return true;
}

static void find_quantised(struct judging *j) {
    for (uint32_t i = 0; i < j->spec->model.main.nout; i++)
        j->quantised = j->quantised || nnv_is_quant(output_operand(j, i)->type);
}

/** Adds the outputs, but those that are ignored or drawn at random. */
static void add_answers(const struct judging *j, const struct nnv_value *outputs, struct nnv_answers *to) {
    for (uint32_t i = 0; i < j->spec->model.main.nout; i++)
        if (!output_operand(j, i)->ignored && rule_of(j, i, NULL) != NNV_JUDGED_SAMPLES)
            nnv_answers_add(to, i, output_operand(j, i), &outputs[i]);
}

/** Keeps the outputs for others to compare, and compares those of a second execution. */
static void keep_answers(const struct judging *j) {
    struct nnv_answers one = {.kept_all = true}, two = {.kept_all = true};
    struct nnv_text where = {0};
    add_answers(j, j->outcome.outputs, j->env->answers);
    if (j->outcome.again != NULL && j->result->verdict == NNVTS_PASS) {
        add_answers(j, j->outcome.outputs, &one);
        add_answers(j, j->outcome.again, &two);
        if (nnv_answers_differ((struct nnv_bytes){one.blob.data, one.blob.len},
                               (struct nnv_bytes){two.blob.data, two.blob.len}, &where))
            nnv_result_end(j->result, NNVTS_FAIL, "not deterministic: other bytes when it is executed again: %s",
                           where.data != NULL ? where.data : "");
    }
    nnv_text_free(&one.blob);
    nnv_text_free(&two.blob);
    nnv_text_free(&where);
}

/** From the driver's outputs to the verdict. */
static void judge_outputs(struct judging *j) {
    size_t wrong;
    if (!make_expectations(j) || !compare(j, &wrong)) return;
    if (wrong && uses_budget(j)) {
        if (!second_stage(j) || !compare(j, &wrong)) return;
        if (wrong && !is_alternative(j) && !compare(j, &wrong)) return;
    }
    conclude(j);
}

void nnv_judge(struct nnv_case_env *env, const struct nnv_spec *spec, int level, enum nnv_precision precision,
               struct nnv_result *result) {
    struct judging j = {.env = env, .spec = spec, .precision = precision, .result = result};
    nnv_result_start(result);
    if (!nnv_result_level(env, level, result) || !check_model(&j, &level) || !nnv_result_level(env, level, result))
        return;
    find_quantised(&j);
    env->client->twice = env->answers != NULL && env->twice;
    nnv_client_run(env->client, spec, env->arena, env->phase, &j.outcome);
    env->client->twice = false;
    if (j.outcome.reported && uses_budget(&j)) run_alternative(&j);
    result->driver_ns = j.outcome.supported_ns + j.outcome.prepare_ns + j.outcome.execute_ns;
    result->worker_damaged = j.outcome.memory_damaged;
    if (judge_outcome(&j)) return;
    judge_outputs(&j);
    if (env->answers != NULL) keep_answers(&j);
}

void nnv_judge_answer(struct nnv_case_env *env, const struct nnv_spec *spec, enum nnv_precision precision,
                      struct nnv_value *outputs, struct nnv_result *result) {
    struct judging j = {.env = env, .spec = spec, .precision = precision, .result = result};
    nnv_result_start(result);
    find_quantised(&j);
    j.outcome = (struct nnv_outcome){.kind = NNV_OUTCOME_DONE, .outputs = outputs};
    judge_outputs(&j);
}

enum nnv_status nnv_judge_bounds(const struct nnv_spec *spec, enum nnv_precision precision, struct nnv_arena *arena,
                                 struct nnv_bounds *bounds, struct nnv_err *err) {
    struct nnv_case_env env = {.arena = arena};
    struct nnv_result result = {.verdict = NNVTS_ERROR};
    struct judging j = {.env = &env, .spec = spec, .precision = precision, .result = &result};
    uint32_t n = spec->model.main.nout;
    size_t wrong;
    find_quantised(&j);
    j.outcome.outputs = spec->outputs; /* compared with themselves: the second stage wants to know their sizes */
    bool ok = make_expectations(&j) && compare(&j, &wrong) && (!uses_budget(&j) || second_stage(&j));
    for (uint32_t i = 0; i < n && ok; i++) {
        const size_t elems = j.comparison[i].elems;
        double *got = NNV_NEW(arena, double, elems);
        bounds[i] = (struct nnv_bounds){
            .elems = elems, .expected = NNV_NEW(arena, double, elems), .bound = NNV_NEW(arena, double, elems)};
        ok = got && bounds[i].expected && bounds[i].bound;
        if (!ok) break;
        nnv_check_numbers(&j.expected[i], j.expected[i].value->data, precision, bounds[i].expected, got,
                          bounds[i].bound);
        if (rule_of(&j, i, NULL) == NNV_JUDGED_VALUE && !j.expected[i].ignored) continue;
        for (size_t e = 0; e < elems; e++) bounds[i].bound[e] = (double)NAN;
    }
    enum nnv_status st = ok ? NNV_OK : nnv_fail(err, NNV_INVALID, "%s", result.reason.data ? result.reason.data : "");
    nnv_text_free(&result.reason);
    nnv_text_free(&result.outputs);
    return st;
}
