/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/debug/explain/fit.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "harness/client/request.h"
#include "harness/debug/explain/work.h"
#include "harness/judge/compare.h"
#include "reference/faults/generate.h"
#include "reference/model/validate.h"

/** For pairs of faults, of which there are thousands. */
static const uint64_t PAIRS_WORK = UINT64_C(1) << 31;
static const struct nnv_explain_place everywhere = {-1, -1};

/* ---------------------------------------------------------------------- trying */

/** Counts the work; what is beyond the limit ends the search. */
static void spend(struct nnv_explaining *x, uint64_t work) {
    x->out->work += work;
    x->out->cut = x->out->cut || work >= x->left;
    x->left -= work < x->left ? work : x->left;
}

/** Makes the spec wrong at a place; false if the fault can't happen there. */
static bool make_wrong(const struct nnv_explaining *x, const struct nnv_fault *fault, struct nnv_explain_place p,
                       struct nnv_edit *e) {
    bool any = false;
    nnv_edit_begin(e, x->spec, x->work);
    if (!e->failed) nnv_edit_open_shapes(e);
    for (uint32_t i = x->spec->model.main.noperations; i-- > 0 && !e->failed;) {
        int32_t code = x->spec->model.main.operations[i].type;
        if ((p.at >= 0 && (uint32_t)p.at != i) || (p.kind >= 0 && p.kind != code)) continue;
        if (!nnv_fault_fits(fault, code)) continue;
        e->at = i;
        e->call = x->calls[i];
        any |= nnv_fault_apply(fault, e);
    }
    return any && !e->failed;
}

/** Evaluates the wrong model; false if it can't be, gives other numbers of elements, or numbers of no use. */
static bool candidate(struct nnv_explaining *x, const struct nnv_fault *fault, const struct nnv_spec *wrong, int rows,
                      struct nnv_explain_numbers *c) {
    struct nnv_golden *golden;
    struct nnv_err err = {0};
    spend(x, x->row * (1 + (uint64_t)rows));
    return nnv_explain_evaluate(x, wrong, rows, x->work, &golden, &err) == NNV_OK &&
           nnv_explain_take(x, golden, x->work, c) &&
           (rows > 0 || x->predicting || nnv_explain_may_come_near(x, fault, golden, c)) &&
           nnv_explain_spoil(x, fault, golden, x->work, c);
}

/** Tries a fault of the model: golden values alone first, then, if they come near, with a budget. */
static enum nnv_status try_change(struct nnv_explaining *x, const struct nnv_fault *fault, struct nnv_explain_place p,
                                  bool *can, struct nnv_err *err) {
    struct nnv_edit e;
    struct nnv_explain_numbers c;
    struct nnv_err ignored = {0};
    *can = make_wrong(x, fault, p, &e);
    if (!*can || nnv_validate(&e.spec.model, x->work, NULL, &ignored) != NNV_OK) return NNV_OK;
    x->out->tried++;
    if (!candidate(x, fault, &e.spec, 0, &c)) return NNV_OK;
    if (x->predicting) {
        nnv_explain_predict(x, fault, &c);
        return NNV_OK;
    }
    struct nnv_explain_fit f = nnv_explain_compare(x, &c);
    nnv_explain_remember(x, fault, &f);
    if (!nnv_explain_promises(x, &f)) return NNV_OK;
    if (!candidate(x, fault, &e.spec, x->quantised ? NNV_ROWS_QUANTISED : NNV_ROWS_FLOAT, &c)) return NNV_OK;
    f = nnv_explain_compare(x, &c);
    return nnv_explain_fits(x, fault, &f) ? nnv_explain_keep(x, fault, p, &c, &f, err) : NNV_OK;
}

static enum nnv_status try_spoil(struct nnv_explaining *x, const struct nnv_fault *fault, struct nnv_err *err) {
    struct nnv_explain_numbers c;
    spend(x, x->n);
    bool changes;
    if (!x->predicting && !nnv_explain_may_fit(x, fault, &changes)) {
        x->out->tried += changes;
        return NNV_OK;
    }
    if (!nnv_explain_new_numbers(x->work, x->n, &c)) return nnv_no_memory(err);
    memcpy(c.v, x->right.v, 2 * x->n * sizeof *c.v); /* and their bounds */
    if (!nnv_explain_spoil(x, fault, x->golden, x->work, &c)) return NNV_OK;
    x->out->tried++;
    if (x->predicting) {
        nnv_explain_predict(x, fault, &c);
        return NNV_OK;
    }
    struct nnv_explain_fit f = nnv_explain_compare(x, &c);
    nnv_explain_remember(x, fault, &f);
    if (!nnv_explain_fits(x, fault, &f) || (fault->poison && !nnv_explain_is_untouched(x, fault))) return NNV_OK;
    return nnv_explain_keep(x, fault, everywhere, &c, &f, err);
}

/** True if operation i is the first of its kind, and not the only one. */
static bool is_kind(const struct nnv_subgraph *main, uint32_t i) {
    uint32_t before = 0, behind = 0;
    for (uint32_t k = 0; k < main->noperations; k++) {
        before += k < i && main->operations[k].type == main->operations[i].type;
        behind += k > i && main->operations[k].type == main->operations[i].type;
    }
    return before == 0 && behind > 0;
}

/** Tries a fault at all operations, at those of each kind, and at each alone. */
static enum nnv_status try_fault(struct nnv_explaining *x, const struct nnv_fault *fault, struct nnv_err *err) {
    const struct nnv_subgraph *main = &x->spec->model.main;
    bool can;
    if (!nnv_fault_is_edit(fault)) return try_spoil(x, fault, err);
    enum nnv_status st = try_change(x, fault, everywhere, &can, err);
    for (uint32_t i = 0; st == NNV_OK && can && main->noperations > 1 && i < main->noperations && !x->out->cut; i++) {
        bool there;
        nnv_arena_reset(x->work);
        st = try_change(x, fault, (struct nnv_explain_place){(int)i, -1}, &there, err);
        if (st == NNV_OK && there && is_kind(main, i))
            st = try_change(x, fault, (struct nnv_explain_place){-1, main->operations[i].type}, &there, err);
    }
    return st;
}

/** True if no more is to be tried. */
static bool is_over(struct nnv_explaining *x) {
    nnv_arena_reset(x->work);
    return x->out->cut;
}

/** True if all are tried, or the one that is looked for is alike: the same but for its numbers. */
static bool is_wanted(const struct nnv_explaining *x, const char *words) {
    const char *a = x->words, *b = words;
    while (a && *a && *b) {
        const size_t na = strspn(a, "0123456789"), nb = strspn(b, "0123456789");
        if ((na > 0) != (nb > 0) || (na == 0 && *a != *b)) return false;
        a += na ? na : 1;
        b += nb ? nb : 1;
    }
    return !a || *a == *b;
}

/** Tries a fault of one operation, or of results. */
static enum nnv_status try_at(struct nnv_explaining *x, const struct nnv_fault *fault, uint32_t at,
                              struct nnv_err *err) {
    bool can;
    if (is_over(x)) return NNV_OK;
    if (!nnv_fault_is_edit(fault)) return try_spoil(x, fault, err);
    return try_change(x, fault, (struct nnv_explain_place){(int)at, -1}, &can, err);
}

/** Adds faults by which output i would be cut where its answers end. */
static void suggest_limits(const struct nnv_explaining *x, struct nnv_fault_list *l, uint32_t output) {
    size_t at = 0;
    double low = INFINITY, high = -INFINITY, tiny = 0;
    bool cut_low = false, cut_high = false;
    for (uint32_t i = 0; i < output; i++) at += nnv_explain_elems(x, i);
    const size_t end = at + nnv_explain_elems(x, output);
    for (size_t k = at; k < end; k++) {
        if (isnan(x->right.bound[k]) || isnan(x->actual[k])) continue;
        low = fmin(low, x->actual[k]);
        high = fmax(high, x->actual[k]);
    }
    for (size_t k = at; k < end; k++) {
        if (!x->wrong[k]) continue;
        cut_low = cut_low || (x->actual[k] == low && x->right.v[k] < low);
        cut_high = cut_high || (x->actual[k] == high && x->right.v[k] > high);
        if (x->actual[k] == 0) tiny = fmax(tiny, fabs(x->right.v[k]));
    }
    nnv_generate_limits(l, cut_low ? low : NAN, cut_high ? high : NAN, tiny);
}

/** Tries what follows from the records of the model's operations: attributes, results, tensors, and their memory. */
static enum nnv_status try_generated(struct nnv_explaining *x, struct nnv_fault_list *l, int passes,
                                     struct nnv_err *err) {
    const struct nnv_subgraph *main = &x->spec->model.main;
    enum nnv_status st = NNV_OK;
    for (int pass = 0; pass < passes; pass++)
        for (uint32_t at = 0; st == NNV_OK && at < (pass == 1 ? main->nout : main->noperations); at++) {
            const size_t first = l->count;
            if (pass == 0) nnv_generate_attributes(l, x->calls[at]);
            if (pass == 0 && main->noperations == 1) nnv_generate_channel_order(l, x->calls[0]);
            if (pass == 0 && main->noperations == 1) nnv_generate_activations(l, x->calls[0]);
            if (pass == 0 && main->noperations == 1) nnv_generate_handed_on(l, x->calls[0]);
            if (pass == 1 && main->noperations == 1) nnv_generate_accumulators(l, x->calls[0]);
            if (pass == 1) suggest_limits(x, l, at);
            if (pass == 1)
                nnv_generate_spoils(l, nnv_explain_output(x, at)->type, x->spec->outputs[at].rank,
                                    x->spec->outputs[at].dims);
            if (pass == 2) nnv_generate_tensors(l, x->calls[at]);
            if (pass == 3) nnv_generate_overwritten(l, main, x->calls, at);
            for (size_t i = first; st == NNV_OK && i < l->count && !x->out->cut; i++)
                if (is_wanted(x, l->item[i].words)) st = try_at(x, &l->item[i], at, err);
        }
    return st == NNV_OK && l->failed ? nnv_no_memory(err) : st;
}

/** Both faults, one after the other, as one; NULL if they are of different operations, or out of memory. */
static const struct nnv_fault *compose(struct nnv_explaining *x, const struct nnv_fault *a, const struct nnv_fault *b) {
    const bool change_a = nnv_fault_is_edit(a), change_b = nnv_fault_is_edit(b);
    if (change_a && change_b && (a->nops != 1 || b->nops != 1 || a->ops[0] != b->ops[0])) return NULL;
    struct nnv_fault *f = NNV_NEW(x->arena, struct nnv_fault, 1);
    if (!f) return NULL;
    const struct nnv_fault *of = change_a ? a : b;
    *f = (struct nnv_fault){.nops = of->nops, .generated = true, .part = {a, b}};
    memcpy(f->ops, of->ops, sizeof f->ops);
    f->name = nnv_arena_printf(x->arena, "%s+%s", a->name, b->name);
    f->words = nnv_arena_printf(x->arena, "%s; and %s", a->words, b->words);
    return f->name && f->words ? f : NULL;
}

/** Tries pairs of those that explain most of the answer, then each of the best with all that was generated. */
static enum nnv_status try_pairs(struct nnv_explaining *x, const struct nnv_fault_list *l, struct nnv_err *err) {
    struct nnv_explain_part best[NNV_EXPLAIN_BEST];
    const int n = x->nbest;
    enum nnv_status st = NNV_OK;
    if (x->spec->model.main.noperations != 1) return NNV_OK;
    memcpy(best, x->best, sizeof best);
    for (int i = 0; i < n; i++)
        for (int k = i + 1; st == NNV_OK && k < n && !x->out->cut; k++) {
            const struct nnv_fault *f = compose(x, best[i].fault, best[k].fault);
            if (f) st = try_at(x, f, 0, err);
        }
    for (int i = 0; i < n && x->out->findings == 0; i++)
        for (size_t k = 0; st == NNV_OK && k < l->count && !x->out->cut; k++) {
            const struct nnv_fault *f = compose(x, best[i].fault, &l->item[k]);
            if (f) st = try_at(x, f, 0, err);
        }
    return st;
}

static enum nnv_status try_all(struct nnv_explaining *x, struct nnv_err *err) {
    size_t count;
    const struct nnv_fault *faults = nnv_faults(&count);
    enum nnv_status st = nnv_explain_move(x) ? NNV_OK : nnv_no_memory(err);
    for (size_t i = 0; st == NNV_OK && i < count && !x->out->cut; i++) {
        if (!is_wanted(x, faults[i].words)) continue;
        st = try_fault(x, &faults[i], err);
        nnv_arena_reset(x->work);
    }
    if (st == NNV_OK && x->out->findings == 0 && !x->predicting && is_wanted(x, nnv_fault_untouched()->words))
        st = nnv_explain_untouched(x, err);
    struct nnv_fault_list l = {.arena = x->arena};
    /* A weaker promise says more than a fault that is generated until it fits; attributes are few. */
    const bool more = x->out->findings == 0 && x->out->weaker == 0;
    const bool unwritten = x->out->findings > 0 && x->out->finding[0].fault == nnv_fault_untouched();
    if (st == NNV_OK && x->out->weaker == 0 && !unwritten && !x->out->cut) st = try_generated(x, &l, more ? 4 : 1, err);
    if (x->left > PAIRS_WORK) x->left = PAIRS_WORK;
    if (st == NNV_OK && more && !x->words && x->out->findings == 0 && !x->out->cut) st = try_pairs(x, &l, err);
    for (int i = 1; i < x->out->findings; i++)
        x->out->finding[i].same = nnv_explain_same(x, x->out->finding[0].values, x->out->finding[i].values);
    return st;
}

/* -------------------------------------------------------------------- the answer */

/** The numbers of an answer, and which of them are wrong by the rule that the spec is judged by. */
static bool judge(struct nnv_explaining *x, const struct nnv_value *actual, size_t *wrong, bool *nan) {
    size_t at = 0;
    const bool must_equal = nnv_must_equal(x->spec, x->precision, &x->spec->arithmetic);
    const bool budget = x->precision == NNV_PRECISION_BUDGET && !must_equal;
    x->actual_values = actual;
    x->out->compared = *wrong = 0;
    *nan = false;
    for (uint32_t i = 0; i < x->spec->model.main.nout; i++) {
        const struct nnv_operand *o = nnv_explain_output(x, i);
        size_t n = nnv_explain_elems(x, i);
        struct nnv_expectation e = {.type = o->type,
                                    .scale = o->scale,
                                    .zero_point = o->zero_point,
                                    .value = budget ? &x->golden[i].value : &x->spec->outputs[i],
                                    .spread = budget ? x->golden[i].spread : NULL,
                                    .k = 2,
                                    .must_equal = must_equal,
                                    .low_precision = x->spec->model.relaxed,
                                    .arithmetic = x->spec->arithmetic};
        if (budget && x->golden[i].source && !nnv_follow_indices(&e, x->golden[i].source, actual[i].data, x->arena))
            return false;
        nnv_check_numbers(&e, actual[i].data, x->precision, x->right.v + at, x->actual + at, x->right.bound + at);
        nnv_load(o->type, x->golden[i].value.data, n, x->right.v + at);
        nnv_load(o->type, actual[i].data, n, x->actual + at);
        double *expected = NNV_NEW(x->arena, double, n + 1);
        if (!expected) return false;
        nnv_load(o->type, e.value->data, n, expected);
        for (size_t k = at; k < at + n; k++) {
            if (o->ignored) x->right.bound[k] = NAN;
            double v = expected[k - at], a = x->actual[k];
            *nan = *nan || isnan(a);
            x->wrong[k] =
                !isnan(x->right.bound[k]) && !(isnan(v) && isnan(a)) && v != a && !(fabs(v - a) <= x->right.bound[k]);
            *wrong += x->wrong[k];
            x->out->compared += !isnan(x->right.bound[k]);
        }
        at += n;
    }
    return true;
}

/** Golden results, and room. */
static enum nnv_status begin(struct nnv_explaining *x, struct nnv_err *err) {
    const struct nnv_subgraph *main = &x->spec->model.main;
    for (uint32_t i = 0; i < main->nout; i++) {
        x->n += nnv_explain_elems(x, i);
        x->quantised = x->quantised || nnv_is_quant(nnv_explain_output(x, i)->type);
    }
    x->actual = NNV_NEW(x->arena, double, x->n + 1);
    x->poison = NNV_NEW(x->arena, double, x->n + 1);
    x->wrong = NNV_NEW(x->arena, bool, x->n + 1);
    x->poison_bytes = NNV_NEW(x->arena, const void *, main->nout);
    if (!x->actual || !x->poison_bytes || !x->poison || !x->wrong ||
        !nnv_explain_new_numbers(x->arena, x->n, &x->right))
        return nnv_no_memory(err);
    enum nnv_status st = nnv_edit_calls(x->spec, x->arena, &x->calls, err);
    if (st == NNV_OK) st = nnv_explain_evaluate(x, x->spec, NNV_ROWS_SECOND, x->arena, &x->golden, err);
    size_t at = 0;
    for (uint32_t i = 0; st == NNV_OK && i < main->nout; at += nnv_explain_elems(x, i++)) {
        size_t bytes = x->spec->outputs[i].bytes;
        void *poison = nnv_arena_alloc(x->arena, bytes + 1, 1);
        if (!poison) return nnv_no_memory(err);
        if (x->golden[i].value.bytes != bytes)
            return nnv_fail(err, NNV_INVALID, "output %u: the golden result's shape is not the expected one", i);
        nnv_request_poison(i, bytes, poison);
        x->poison_bytes[i] = poison;
        nnv_load(nnv_explain_output(x, i)->type, poison, nnv_explain_elems(x, i), x->poison + at);
    }
    return st;
}

/** True if the promise gives more than half of a type's digits away: 256 ulps of float16 are a quarter of the number.
 */
static bool is_absurd(const struct nnv_spec *spec, const struct nnv_arithmetic *promise) {
    bool half = spec->model.relaxed;
    for (uint32_t i = 0; i < spec->model.main.noperands; i++)
        half = half || spec->model.main.operands[i].type == ANEURALNETWORKS_TENSOR_FLOAT16;
    return promise->functions > spec->arithmetic.functions &&
           promise->functions * promise->functions > (half ? 0x1p11 : 0x1p24);
}

/** Of judging by a promise: what breaks it was looked at again, with more rows. */
static uint64_t promise_work(const struct nnv_spec *spec, enum nnv_promised said) {
    const uint64_t again = said == NNV_PROMISE_BROKEN ? 1 + NNV_ROWS_SECOND : 0;
    return nnv_explain_work(&spec->model) * (1 + NNV_ROWS_QUANTISED + again);
}

/** What the promise makes of the answer, of which so many values were compared without it. */
static enum nnv_promised try_promise(const struct nnv_spec *of, enum nnv_precision precision,
                                     const struct nnv_value *actual, const struct nnv_arithmetic *promise,
                                     size_t compared, struct nnv_arena *arena) {
    struct nnv_case_env env = {.arena = arena};
    struct nnv_result r = {.verdict = NNVTS_ERROR};
    struct nnv_spec spec = *of;
    spec.arithmetic = *promise;
    struct nnv_value *copy = nnv_arena_copy(arena, actual, spec.model.main.nout * sizeof *copy);
    if (copy && !is_absurd(of, promise)) nnv_judge_answer(&env, &spec, precision, copy, &r);
    nnv_text_free(&r.reason);
    nnv_text_free(&r.outputs);
    if (r.verdict == NNVTS_SKIP) return NNV_PROMISE_EMPTY;
    if (r.verdict != NNVTS_PASS) return NNV_PROMISE_BROKEN;
    return 2 * r.compared >= compared ? NNV_PROMISE_KEPT : NNV_PROMISE_EMPTY;
}

/** The i-th promise that is tried; the last, which is several, only if no other would do. NULL: no more. */
static const char *promise_at(const struct nnv_arithmetic *from, size_t i, bool any, struct nnv_arithmetic *out) {
    const char *words = nnv_arithmetic_weaker(from, i, out);
    const bool last = !words && !any && (i == 0 || nnv_arithmetic_weaker(from, i - 1, out));
    if (last && nnv_arithmetic_add_android(from, out)) words = NNV_ARITHMETIC_ANDROID_WORDS;
    return words;
}

/** Finds the weaker promises by which the answer is right. That is counted, but leaves faults the work they have. */
static void try_weaker(struct nnv_explaining *x, const struct nnv_value *actual) {
    struct nnv_arithmetic promise;
    const char *words;
    for (size_t i = 0; (words = promise_at(&x->spec->arithmetic, i, x->out->weaker > 0, &promise)); i++) {
        nnv_arena_reset(x->work);
        const enum nnv_promised said = try_promise(x->spec, x->precision, actual, &promise, x->out->compared, x->work);
        x->out->work += promise_work(x->spec, said);
        if (said == NNV_PROMISE_KEPT) x->out->right_if[x->out->weaker++] = words;
    }
}

/** The values of the dump that were compared. */
static size_t compared_in(const struct nnv_spec *spec) {
    size_t n = 0;
    for (uint32_t i = 0; spec->bounds && i < spec->model.main.nout; i++) {
        const struct nnv_operand *o = &spec->model.main.operands[spec->model.main.out[i]];
        for (size_t k = 0; k < spec->outputs[i].bytes / nnv_type(o->type)->size; k++) n += !isnan(spec->bounds[i][k]);
    }
    return n;
}

enum nnv_promised nnv_explain_promise(const struct nnv_spec *spec, enum nnv_precision precision, const char *promise,
                                      struct nnv_arena *arena, uint64_t *left) {
    struct nnv_arithmetic a;
    const char *words;
    size_t i = 0;
    while ((words = promise_at(&spec->arithmetic, i, false, &a)) && strcmp(words, promise) != 0) i++;
    if (!words) return NNV_PROMISE_BROKEN;
    const enum nnv_promised said = try_promise(spec, precision, spec->actual, &a, compared_in(spec), arena);
    const uint64_t work = promise_work(spec, said);
    *left -= work < *left ? work : *left;
    return said;
}

/** Looks which answers are wrong, and explains the first if all are. */
static enum nnv_status explain(struct nnv_explaining *x, const struct nnv_explain_answers *answers,
                               struct nnv_err *err) {
    size_t wrong = 0, most = 0;
    int right = 0;
    bool nan, some = false, all = true;
    for (int i = answers->count - 1; i >= 0; i--) { /* the first last: it is the one that is explained */
        if (!judge(x, answers->outputs[i], &wrong, &nan)) return nnv_no_memory(err);
        right += wrong == 0;
        some = some || nan;
        all = all && nan;
        if (wrong > most) most = wrong;
    }
    x->out->wrong = most;
    x->out->nan = some && !all;
    x->out->kind = right == answers->count ? NNV_EXPLAINED_RIGHT : NNV_EXPLAINED_UNSTEADY;
    if (right > 0) return NNV_OK;
    x->out->wrong = wrong;
    enum nnv_element *elements = NNV_NEW(x->arena, enum nnv_element, x->n + 1);
    if (!elements) return nnv_no_memory(err);
    for (size_t k = 0; k < x->n; k++)
        elements[k] = isnan(x->right.bound[k]) ? NNV_ELEMENT_IGNORED
                      : x->wrong[k]            ? NNV_ELEMENT_WRONG
                                               : NNV_ELEMENT_RIGHT;
    x->out->elements = elements;
    x->out->nelements = x->n;
    if (x->precision == NNV_PRECISION_BUDGET && !x->words) try_weaker(x, answers->outputs[0]);
    const enum nnv_status st = try_all(x, err);
    x->out->kind = x->out->findings ? NNV_EXPLAINED_FAULT : NNV_EXPLAINED_UNKNOWN;
    return st;
}

/** words: of the only fault that is tried; NULL: all are. */
static enum nnv_status explain_by(const struct nnv_spec *spec, enum nnv_precision precision, const char *words,
                                  const struct nnv_explain_answers *answers, uint64_t work, struct nnv_arena *arena,
                                  struct nnv_explanation *out, struct nnv_err *err) {
    *out = (struct nnv_explanation){.kind = NNV_EXPLAINED_NO_ANSWER};
    memcpy(out->reason, answers->reason, sizeof out->reason);
    if (answers->count == 0) return NNV_OK;
    struct nnv_explaining x = {
        .spec = spec, .arena = arena, .work = nnv_arena_new(), .precision = precision, .words = words, .out = out};
    if (!x.work) return nnv_no_memory(err);
    enum nnv_status st = NNV_OK;
    x.row = nnv_explain_work(&spec->model);
    x.left = work;
    spend(&x, x.row * (1 + NNV_ROWS_SECOND));
    if (out->cut) {
        out->kind = NNV_EXPLAINED_UNKNOWN;
    } else {
        st = begin(&x, err);
        if (st == NNV_OK) st = explain(&x, answers, err);
    }
    nnv_arena_free(x.work);
    return st;
}

enum nnv_status nnv_explain(const struct nnv_spec *spec, enum nnv_precision precision,
                            const struct nnv_explain_answers *answers, uint64_t work, struct nnv_arena *arena,
                            struct nnv_explanation *out, struct nnv_err *err) {
    return explain_by(spec, precision, NULL, answers, work, arena, out, err);
}

bool nnv_explain_does(const struct nnv_spec *spec, enum nnv_precision precision, const char *words,
                      struct nnv_arena *arena, uint64_t *left) {
    struct nnv_explanation *out = NNV_NEW(arena, struct nnv_explanation, 1);
    const struct nnv_explain_answers answers = {.count = 1, .outputs = {spec->actual}};
    struct nnv_err ignored = {0};
    if (!out || explain_by(spec, precision, words, &answers, *left, arena, out, &ignored) != NNV_OK) return false;
    *left -= out->work < *left ? out->work : *left;
    return out->kind == NNV_EXPLAINED_FAULT;
}

bool nnv_explain_shows(const struct nnv_spec *spec, enum nnv_precision precision, const char *words,
                       struct nnv_arena *arena, uint64_t *left) {
    struct nnv_explanation *out = NNV_NEW(arena, struct nnv_explanation, 1);
    struct nnv_explaining x = {.spec = spec,
                               .arena = arena,
                               .work = nnv_arena_new(),
                               .precision = precision,
                               .words = words,
                               .predicting = true,
                               .row = nnv_explain_work(&spec->model),
                               .left = *left,
                               .out = out};
    struct nnv_err ignored = {0};
    size_t wrong = 0;
    bool nan, ok = out && x.work && spec->outputs;
    if (ok) spend(&x, x.row * (1 + NNV_ROWS_SECOND));
    ok = ok && !out->cut && begin(&x, &ignored) == NNV_OK && judge(&x, spec->outputs, &wrong, &nan) && wrong == 0 &&
         try_all(&x, &ignored) == NNV_OK && !out->cut;
    if (out) *left -= out->work < *left ? out->work : *left;
    nnv_arena_free(x.work);
    return ok && x.exact && x.hidden == 0;
}
