/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/debug/explain/explain.h"

#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "base/rng.h"
#include "harness/client/request.h"
#include "harness/judge/ties.h"
#include "reference/model/validate.h"

enum { ROWS_FLOAT = 8, ROWS_QUANTISED = 16, ROWS_SECOND = 64, FEW = 3 };

/** Where a fault is tried. */
struct place {
    int at;   /* operation, or -1: all */
    int kind; /* of this code, or -1: of any */
};
static const struct place everywhere = {-1, -1};

/** Numbers of all outputs, one behind the other, as stored: between low and high is as good as v. */
struct numbers {
    double *v, *bound; /* bound NaN: not compared */
    double *low, *high;
};

/** What explaining one answer knows. */
struct explaining {
    const struct nnv_spec *spec;
    struct nnv_arena *arena, *work; /* work: reset after each fault */
    enum nnv_precision precision;
    const struct nnv_value *actual_values;
    struct nnv_call **calls;
    struct nnv_golden *golden;
    bool quantised;
    size_t n; /* elements of all outputs */
    struct numbers right;
    double *actual, *poison;
    const void **poison_bytes; /* of each output */
    bool *wrong;
    struct nnv_explanation *out;
};

static const struct nnv_operand *output(const struct explaining *x, uint32_t i) {
    const struct nnv_subgraph *main = &x->spec->model.main;
    return &main->operands[main->out[i]];
}

static size_t elems_of(const struct explaining *x, uint32_t i) {
    uint8_t size = nnv_type(output(x, i)->type)->size;
    return size ? x->spec->outputs[i].bytes / size : 0;
}

static bool new_numbers(struct nnv_arena *arena, size_t n, struct numbers *to) {
    to->v = NNV_NEW(arena, double, 4 * n + 4);
    if (!to->v) return false;
    to->bound = to->v + n;
    to->low = to->bound + n;
    to->high = to->low + n;
    return true;
}

static enum nnv_status evaluate(const struct explaining *x, const struct nnv_spec *spec, int rows,
                                struct nnv_arena *arena, struct nnv_golden **golden, struct nnv_err *err) {
    const struct nnv_eval_options options = {.rows = rows,
                                             .k = !x->quantised         ? 2
                                                  : rows == ROWS_SECOND ? 1.25
                                                                        : 1.5,
                                             .seed = nnv_hash_str(spec->name)};
    *golden = NNV_NEW(arena, struct nnv_golden, spec->model.main.nout);
    if (!*golden) return nnv_no_memory(err);
    return nnv_eval(&spec->model, spec->inputs, &options, arena, *golden, err);
}

/**
 * Values and bounds of an evaluation. golden: with rows by the budget, else by the bounds of the right answer, times
 * four. False if the outputs have other numbers of elements, or memory ran out.
 */
static bool take_numbers(const struct explaining *x, const struct nnv_golden *golden, struct nnv_arena *arena,
                         struct numbers *to) {
    size_t at = 0;
    if (!new_numbers(arena, x->n, to)) return false;
    for (uint32_t i = 0; i < x->spec->model.main.nout; i++) {
        const struct nnv_operand *o = output(x, i);
        size_t n = elems_of(x, i);
        if (golden[i].value.bytes != x->spec->outputs[i].bytes) return false;
        double *unused = NNV_NEW(arena, double, 2 * n + 1);
        if (!unused) return false;
        struct nnv_expectation e = {.type = o->type,
                                    .scale = o->scale,
                                    .zero_point = o->zero_point,
                                    .value = &golden[i].value,
                                    .spread = golden[i].spread,
                                    .exact = golden[i].exact,
                                    .k = 2,
                                    .must_equal = x->spec->exact,
                                    .low_precision = x->spec->model.relaxed,
                                    .graph = nnv_graph_rule(&x->spec->model)};
        /* where numbers tie, the wrong index may be any of theirs, too */
        if (golden[i].spread && golden[i].source &&
            !nnv_follow_indices(&e, golden[i].source, x->actual_values[i].data, arena))
            return false;
        nnv_load(o->type, e.value->data, n, to->v + at);
        if (golden[i].spread)
            nnv_check_numbers(&e, x->actual_values[i].data, NNV_PRECISION_BUDGET, unused, unused + n, to->bound + at);
        for (size_t k = at; k < at + n; k++) {
            if (!golden[i].spread) to->bound[k] = 4 * x->right.bound[k] + (nnv_is_quant(o->type) ? 1 : 0);
            if (o->ignored) to->bound[k] = NAN;
        }
        at += n;
    }
    return true;
}

/* -------------------------------------------------------------------- spoiling */

/** Moves what is right by `side` bounds, then spoils it, all outputs. False if that changes none. */
static bool spoil(const struct explaining *x, const struct nnv_fault *fault, const struct nnv_golden *golden,
                  const struct numbers *from, int side, struct nnv_arena *arena, double *to) {
    size_t at = 0;
    bool any = false;
    for (uint32_t i = 0; i < x->spec->model.main.nout; i++) {
        const struct nnv_operand *o = output(x, i);
        const struct nnv_type *t = nnv_type(o->type);
        size_t n = elems_of(x, i);
        double *exact = golden[i].exact ? nnv_arena_copy(arena, golden[i].exact, n * sizeof *exact) : NULL;
        double *right = NNV_NEW(arena, double, n + 1);
        if (!right) return false;
        for (size_t k = 0; k < n; k++) {
            double v = from->v[at + k] + (isnan(from->bound[at + k]) ? 0 : side * from->bound[at + k]);
            if (exact) exact[k] += side * 0.01 * (double)o->scale;
            right[k] = t->kind == NNV_KIND_FLOAT ? v : fmin(fmax(v, t->min), t->max);
        }
        const struct nnv_fault_output y = {.type = o->type,
                                           .scale = o->scale,
                                           .zero_point = o->zero_point,
                                           .rank = x->spec->outputs[i].rank,
                                           .dims = x->spec->outputs[i].dims,
                                           .n = n,
                                           .v = right,
                                           .exact = exact,
                                           .poison = x->poison + at};
        if (n > 0 && fault->element && !o->ignored)
            any |= nnv_fault_spoil(fault, &y, to + at);
        else
            memcpy(to + at, right, n * sizeof *right);
        at += n;
    }
    return any;
}

/** What the fault may make of right values: their hull when they are moved to either side by their bounds. */
static bool spoil_all(const struct explaining *x, const struct nnv_fault *fault, const struct nnv_golden *golden,
                      struct nnv_arena *arena, struct numbers *to) {
    double *v = NNV_NEW(arena, double, x->n + 1);
    if (!v) return false;
    (void)spoil(x, fault, golden, to, 1, arena, to->high);
    (void)spoil(x, fault, golden, to, -1, arena, to->low);
    if (!spoil(x, fault, golden, to, 0, arena, v) && !nnv_fault_is_edit(fault)) return false;
    for (size_t k = 0; k < x->n; k++) {
        double a = to->low[k], b = to->high[k];
        to->low[k] = fmin(fmin(a, b), v[k]);
        to->high[k] = fmax(fmax(a, b), v[k]);
    }
    to->v = v;
    return true;
}

/* ------------------------------------------------------------------- comparing */

static bool is_as(const struct numbers *c, size_t k, double actual) {
    if (isnan(c->v[k]) || isnan(actual)) return isnan(c->v[k]) && isnan(actual);
    return actual >= c->low[k] && actual <= c->high[k];
}

/** How well a fault's values fit. */
struct fit {
    size_t matched, explained,
        sharp; /* of the compared; of the wrong ones, and those where what is right would not fit */
    double distance;
};

static struct fit compare(const struct explaining *x, const struct numbers *c) {
    struct fit f = {0};
    for (size_t k = 0; k < x->n; k++) {
        if (isnan(x->right.bound[k])) continue;
        if (isnan(c->bound[k]) || is_as(c, k, x->actual[k])) {
            f.matched++;
            if (!x->wrong[k] || isnan(c->bound[k])) continue;
            f.explained++;
            f.sharp += !is_as(c, k, x->right.v[k]);
        }
        double off = fabs(c->v[k] - x->actual[k]), size = fmax(fabs(c->v[k]), fabs(x->actual[k]));
        if (off > 0) f.distance += nnv_is_quant(output(x, 0)->type) ? off : off / (size + 1e-30);
    }
    return f;
}

/** All values fit, and what is right would not; one or two wrong values fit too much by chance. */
static bool is_explained(const struct explaining *x, const struct nnv_fault *fault, const struct fit *f) {
    if (!nnv_fault_is_edit(fault) && !fault->few && x->out->wrong < FEW) return false;
    return f->matched == x->out->compared && f->explained == x->out->wrong && 2 * f->sharp >= x->out->wrong;
}

static bool is_promising(const struct explaining *x, const struct fit *f) {
    return 10 * f->matched >= 6 * x->out->compared && 2 * f->explained >= x->out->wrong;
}

static bool is_same(const struct explaining *x, const double *a, const double *b) {
    for (size_t k = 0; k < x->n; k++)
        if (!isnan(x->right.bound[k]) && !(fabs(a[k] - b[k]) <= 1e-6 * fabs(a[k])) && !(isnan(a[k]) && isnan(b[k])) &&
            a[k] != b[k])
            return false;
    return true;
}

/** Keeps a fault that explains the answer: those that come nearer to it first, else in the order of the catalogue. */
static enum nnv_status keep(struct explaining *x, const struct nnv_fault *fault, struct place p,
                            const struct numbers *c, const struct fit *f, struct nnv_err *err) {
    struct nnv_explanation *out = x->out;
    int i = out->findings;
    for (int k = 0; k < out->findings; k++)
        if (out->finding[k].fault == fault && out->finding[k].distance <= f->distance) return NNV_OK;
    while (i > 0 && f->distance < 0.9 * out->finding[i - 1].distance - 1e-9) i--;
    if (i == NNV_FINDINGS) return NNV_OK;
    struct nnv_finding found = {fault, p.at, p.kind, f->matched, false, f->distance, NULL};
    found.values = nnv_arena_copy(x->arena, c->v, x->n * sizeof *c->v);
    if (!found.values) return nnv_no_memory(err);
    if (out->findings < NNV_FINDINGS) out->findings++;
    memmove(&out->finding[i + 1], &out->finding[i], (size_t)(out->findings - 1 - i) * sizeof found);
    out->finding[i] = found;
    return NNV_OK;
}

/* ---------------------------------------------------------------------- trying */

/** Makes the spec wrong at a place; false if the fault can't happen there. */
static bool make_wrong(const struct explaining *x, const struct nnv_fault *fault, struct place p, struct nnv_edit *e) {
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

/** Evaluates the wrong model; false if it can't be, or gives other numbers of elements. */
static bool candidate(const struct explaining *x, const struct nnv_fault *fault, const struct nnv_spec *wrong, int rows,
                      struct numbers *c) {
    struct nnv_golden *golden;
    struct nnv_err err = {0};
    return evaluate(x, wrong, rows, x->work, &golden, &err) == NNV_OK && take_numbers(x, golden, x->work, c) &&
           spoil_all(x, fault, golden, x->work, c);
}

/** Tries a fault of the model: golden values alone first, then, if they come near, with a budget. */
static enum nnv_status try_change(struct explaining *x, const struct nnv_fault *fault, struct place p, bool *can,
                                  struct nnv_err *err) {
    struct nnv_edit e;
    struct numbers c;
    struct nnv_err ignored = {0};
    *can = make_wrong(x, fault, p, &e);
    if (!*can || nnv_validate(&e.spec.model, x->work, NULL, &ignored) != NNV_OK) return NNV_OK;
    x->out->tried++;
    if (!candidate(x, fault, &e.spec, 0, &c)) return NNV_OK;
    struct fit f = compare(x, &c);
    if (!is_promising(x, &f)) return NNV_OK;
    if (!candidate(x, fault, &e.spec, x->quantised ? ROWS_QUANTISED : ROWS_FLOAT, &c)) return NNV_OK;
    f = compare(x, &c);
    return is_explained(x, fault, &f) ? keep(x, fault, p, &c, &f, err) : NNV_OK;
}

/**
 * True if the elements that the fault leaves unwritten hold the bytes that their buffer held before: as numbers these
 * are NaN in floats and true in TENSOR_BOOL8, which results may be, too.
 */
static bool is_untouched(const struct explaining *x, const struct nnv_fault *fault) {
    static const double mark = 0x1.8p900; /* no type's number */
    for (uint32_t i = 0; i < x->spec->model.main.nout; i++) {
        const struct nnv_operand *o = output(x, i);
        const size_t n = elems_of(x, i), size = nnv_type(o->type)->size;
        double *marks = NNV_NEW(x->work, double, n + 1), *to = NNV_NEW(x->work, double, n + 1),
               *v = NNV_NEW(x->work, double, n + 1);
        if (!marks || !to || !v) return false;
        for (size_t k = 0; k < n; k++) marks[k] = mark;
        const struct nnv_fault_output y = {.type = o->type, .n = n, .v = v, .poison = marks};
        if (n == 0 || o->ignored || !nnv_fault_spoil(fault, &y, to)) continue;
        const unsigned char *held = x->poison_bytes[i], *actual = x->actual_values[i].data;
        for (size_t k = 0; k < n; k++)
            if (to[k] == mark && memcmp(held + k * size, actual + k * size, size) != 0) return false;
    }
    return true;
}

static enum nnv_status try_spoil(struct explaining *x, const struct nnv_fault *fault, struct nnv_err *err) {
    struct numbers c;
    if (!new_numbers(x->work, x->n, &c)) return nnv_no_memory(err);
    memcpy(c.v, x->right.v, 2 * x->n * sizeof *c.v); /* and their bounds */
    if (!spoil_all(x, fault, x->golden, x->work, &c)) return NNV_OK;
    x->out->tried++;
    struct fit f = compare(x, &c);
    if (!is_explained(x, fault, &f) || (fault->poison && !is_untouched(x, fault))) return NNV_OK;
    return keep(x, fault, everywhere, &c, &f, err);
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
static enum nnv_status try_fault(struct explaining *x, const struct nnv_fault *fault, uint64_t end_ns,
                                 struct nnv_err *err) {
    const struct nnv_subgraph *main = &x->spec->model.main;
    bool can;
    if (!nnv_fault_is_edit(fault)) return try_spoil(x, fault, err);
    enum nnv_status st = try_change(x, fault, everywhere, &can, err);
    for (uint32_t i = 0; st == NNV_OK && can && main->noperations > 1 && i < main->noperations && !x->out->cut; i++) {
        bool there;
        nnv_arena_reset(x->work);
        st = try_change(x, fault, (struct place){(int)i, -1}, &there, err);
        if (st == NNV_OK && there && is_kind(main, i))
            st = try_change(x, fault, (struct place){-1, main->operations[i].type}, &there, err);
        x->out->cut = nnv_now_ns() > end_ns;
    }
    return st;
}

static enum nnv_status try_all(struct explaining *x, uint64_t limit_ns, struct nnv_err *err) {
    size_t count;
    const struct nnv_fault *faults = nnv_faults(&count);
    uint64_t end_ns = nnv_now_ns() + limit_ns;
    enum nnv_status st = NNV_OK;
    for (size_t i = 0; st == NNV_OK && i < count && !x->out->cut; i++) {
        st = try_fault(x, &faults[i], end_ns, err);
        nnv_arena_reset(x->work);
        x->out->cut = x->out->cut || (i + 1 < count && nnv_now_ns() > end_ns);
    }
    for (int i = 1; i < x->out->findings; i++)
        x->out->finding[i].same = is_same(x, x->out->finding[0].values, x->out->finding[i].values);
    return st;
}

/* -------------------------------------------------------------------- the answer */

/** The numbers of an answer, and which of them are wrong by the rule that the spec is judged by. */
static bool judge(struct explaining *x, const struct nnv_value *actual, size_t *wrong, bool *nan) {
    size_t at = 0;
    bool budget = x->precision == NNV_PRECISION_BUDGET && !x->spec->exact;
    x->actual_values = actual;
    x->out->compared = *wrong = 0;
    *nan = false;
    for (uint32_t i = 0; i < x->spec->model.main.nout; i++) {
        const struct nnv_operand *o = output(x, i);
        size_t n = elems_of(x, i);
        struct nnv_expectation e = {.type = o->type,
                                    .scale = o->scale,
                                    .zero_point = o->zero_point,
                                    .value = budget ? &x->golden[i].value : &x->spec->outputs[i],
                                    .spread = budget ? x->golden[i].spread : NULL,
                                    .k = 2,
                                    .must_equal = x->spec->exact,
                                    .low_precision = x->spec->model.relaxed};
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
static enum nnv_status begin(struct explaining *x, struct nnv_err *err) {
    const struct nnv_subgraph *main = &x->spec->model.main;
    for (uint32_t i = 0; i < main->nout; i++) {
        x->n += elems_of(x, i);
        x->quantised = x->quantised || nnv_is_quant(output(x, i)->type);
    }
    x->actual = NNV_NEW(x->arena, double, x->n + 1);
    x->poison = NNV_NEW(x->arena, double, x->n + 1);
    x->wrong = NNV_NEW(x->arena, bool, x->n + 1);
    x->poison_bytes = NNV_NEW(x->arena, const void *, main->nout);
    if (!x->actual || !x->poison_bytes || !x->poison || !x->wrong || !new_numbers(x->arena, x->n, &x->right))
        return nnv_no_memory(err);
    enum nnv_status st = nnv_edit_calls(x->spec, x->arena, &x->calls, err);
    if (st == NNV_OK) st = evaluate(x, x->spec, ROWS_SECOND, x->arena, &x->golden, err);
    size_t at = 0;
    for (uint32_t i = 0; st == NNV_OK && i < main->nout; at += elems_of(x, i++)) {
        size_t bytes = x->spec->outputs[i].bytes;
        void *poison = nnv_arena_alloc(x->arena, bytes + 1, 1);
        if (!poison) return nnv_no_memory(err);
        if (x->golden[i].value.bytes != bytes)
            return nnv_fail(err, NNV_INVALID, "output %u: the golden result's shape is not the expected one", i);
        nnv_request_poison(i, bytes, poison);
        x->poison_bytes[i] = poison;
        nnv_load(output(x, i)->type, poison, elems_of(x, i), x->poison + at);
    }
    return st;
}

/** Looks which answers are wrong, and explains the first if all are. */
static enum nnv_status explain(struct explaining *x, const struct nnv_explain_answers *answers, uint64_t limit_ns,
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
    enum nnv_status st = try_all(x, limit_ns, err);
    x->out->kind = x->out->findings ? NNV_EXPLAINED_FAULT : NNV_EXPLAINED_UNKNOWN;
    return st;
}

enum nnv_status nnv_explain(const struct nnv_spec *spec, enum nnv_precision precision,
                            const struct nnv_explain_answers *answers, uint64_t limit_ns, struct nnv_arena *arena,
                            struct nnv_explanation *out, struct nnv_err *err) {
    *out = (struct nnv_explanation){.kind = NNV_EXPLAINED_NO_ANSWER};
    memcpy(out->reason, answers->reason, sizeof out->reason);
    if (answers->count == 0) return NNV_OK;
    struct explaining x = {.spec = spec, .arena = arena, .work = nnv_arena_new(), .precision = precision, .out = out};
    if (!x.work) return nnv_no_memory(err);
    enum nnv_status st = begin(&x, err);
    if (st == NNV_OK) st = explain(&x, answers, limit_ns, err);
    nnv_arena_free(x.work);
    return st;
}
