/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/debug/explain/fit.h"

#include <math.h>
#include <string.h>

#include "base/rng.h"
#include "base/type.h"
#include "harness/judge/compare.h"

enum {
    FEW = 3,
    EVIDENCE = 30, /* bits, for one of some thousand generated faults */
    OF_TWO = 20,   /* bits more, for two of them */
    KNOWN = 8,     /* bits, for one that explains other answers */
};

const struct nnv_operand *nnv_explain_output(const struct nnv_explaining *x, uint32_t i) {
    const struct nnv_subgraph *main = &x->spec->model.main;
    return &main->operands[main->out[i]];
}

size_t nnv_explain_elems(const struct nnv_explaining *x, uint32_t i) {
    uint8_t size = nnv_type(nnv_explain_output(x, i)->type)->size;
    return size ? x->spec->outputs[i].bytes / size : 0;
}

bool nnv_explain_new_numbers(struct nnv_arena *arena, size_t n, struct nnv_explain_numbers *to) {
    to->v = NNV_NEW(arena, double, 4 * n + 4);
    if (!to->v) return false;
    to->bound = to->v + n;
    to->low = to->bound + n;
    to->high = to->low + n;
    return true;
}

enum nnv_status nnv_explain_evaluate(const struct nnv_explaining *x, const struct nnv_spec *spec, int rows,
                                     struct nnv_arena *arena, struct nnv_golden **golden, struct nnv_err *err) {
    const struct nnv_eval_options options = {.rows = rows,
                                             .k = !x->quantised             ? 2
                                                  : rows == NNV_ROWS_SECOND ? 1.25
                                                                            : 1.5,
                                             .seed = nnv_hash_str(spec->name),
                                             .arithmetic = x->spec->arithmetic};
    *golden = NNV_NEW(arena, struct nnv_golden, spec->model.main.nout);
    if (!*golden) return nnv_no_memory(err);
    return nnv_eval(&spec->model, spec->inputs, &options, arena, *golden, err);
}

bool nnv_explain_take(const struct nnv_explaining *x, const struct nnv_golden *golden, struct nnv_arena *arena,
                      struct nnv_explain_numbers *to) {
    size_t at = 0;
    if (!nnv_explain_new_numbers(arena, x->n, to)) return false;
    for (uint32_t i = 0; i < x->spec->model.main.nout; i++) {
        const struct nnv_operand *o = nnv_explain_output(x, i);
        size_t n = nnv_explain_elems(x, i);
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
                                    .must_equal = nnv_must_equal(x->spec, NNV_PRECISION_BUDGET, &x->spec->arithmetic),
                                    .low_precision = x->spec->model.relaxed,
                                    .graph = nnv_graph_rule(&x->spec->model),
                                    .arithmetic = x->spec->arithmetic};
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

/** A number that is right, moved by `side` bounds, as far as its type goes. */
static double moved_number(const struct nnv_type *t, double v, double bound, int side) {
    v += isnan(bound) ? 0 : side * bound;
    return t->kind == NNV_KIND_FLOAT ? v : v > t->max ? t->max : v < t->min ? t->min : v;
}

/** What is right, moved by `side` bounds: of each output. NULL: no memory. */
static struct nnv_fault_output *moved(const struct nnv_explaining *x, const struct nnv_golden *golden,
                                      const struct nnv_explain_numbers *from, int side, struct nnv_arena *arena) {
    struct nnv_fault_output *to = NNV_NEW(arena, struct nnv_fault_output, x->spec->model.main.nout);
    size_t at = 0;
    for (uint32_t i = 0; to && i < x->spec->model.main.nout; i++) {
        const struct nnv_operand *o = nnv_explain_output(x, i);
        const struct nnv_type *t = nnv_type(o->type);
        size_t n = nnv_explain_elems(x, i);
        double *exact = golden[i].exact ? nnv_arena_copy(arena, golden[i].exact, n * sizeof *exact) : NULL;
        double *right = NNV_NEW(arena, double, n + 1);
        if (!right) return NULL;
        for (size_t k = 0; k < n; k++) {
            if (exact) exact[k] += side * 0.01 * (double)o->scale;
            right[k] = moved_number(t, from->v[at + k], from->bound[at + k], side);
        }
        to[i] = (struct nnv_fault_output){.type = o->type,
                                          .scale = o->scale,
                                          .zero_point = o->zero_point,
                                          .rank = x->spec->outputs[i].rank,
                                          .dims = x->spec->outputs[i].dims,
                                          .n = n,
                                          .v = right,
                                          .exact = exact,
                                          .poison = x->poison + at};
        at += n;
    }
    return to;
}

static const int sides[NNV_EXPLAIN_SIDES] = {0, 1, -1};

bool nnv_explain_move(struct nnv_explaining *x) {
    for (int s = 0; s < NNV_EXPLAIN_SIDES; s++)
        if (!(x->side[s] = moved(x, x->golden, &x->right, sides[s], x->arena))) return false;
    return true;
}

/** Spoils all outputs. False if that changes none. */
static bool spoil(const struct nnv_explaining *x, const struct nnv_fault *fault, const struct nnv_fault_output *y,
                  double *to) {
    bool any = false;
    for (uint32_t i = 0; i < x->spec->model.main.nout; to += y[i++].n)
        if (y[i].n > 0 && nnv_fault_is_spoil(fault) && !nnv_explain_output(x, i)->ignored)
            any |= nnv_fault_spoil(fault, &y[i], to);
        else
            memcpy(to, y[i].v, y[i].n * sizeof *to);
    return any;
}

bool nnv_explain_spoil(const struct nnv_explaining *x, const struct nnv_fault *fault, const struct nnv_golden *golden,
                       struct nnv_arena *arena, struct nnv_explain_numbers *to) {
    double *v = NNV_NEW(arena, double, x->n + 1), *into[] = {v, to->high, to->low};
    bool any = false;
    for (int s = 0; v && s < NNV_EXPLAIN_SIDES; s++) {
        const struct nnv_fault_output *y = golden == x->golden ? x->side[s] : moved(x, golden, to, sides[s], arena);
        if (!y) return false;
        const bool changed = spoil(x, fault, y, into[s]);
        if (s == 0) any = changed;
    }
    if (!v || (!any && !nnv_fault_is_edit(fault))) return false;
    for (size_t k = 0; k < x->n; k++) {
        double a = to->low[k], b = to->high[k];
        to->low[k] = fmin(fmin(a, b), v[k]);
        to->high[k] = fmax(fmax(a, b), v[k]);
    }
    to->v = v;
    return true;
}

/* ------------------------------------------------------------------- comparing */

/** Twice the largest bound, since a fault may move a value to the place of one that is bound more closely. */
static double near_of(const struct nnv_explaining *x, const struct nnv_explain_numbers *c) {
    double near = 0;
    for (size_t k = 0; k < x->n; k++)
        if (2 * c->bound[k] > near) near = 2 * c->bound[k];
    return near;
}

static bool is_between(double low, double v, double high, double actual, double near) {
    if (isnan(v) || isnan(actual)) return isnan(v) && isnan(actual);
    if (!(actual >= low && actual <= high)) return false;
    /* where the fault jumps, one side or the other, and nothing between */
    if (!(high - low > 32 * near)) return true;
    return actual - low <= near || high - actual <= near || fabs(actual - v) <= near;
}

static bool is_as(const struct nnv_explain_numbers *c, size_t k, double actual, double near) {
    return is_between(c->low[k], c->v[k], c->high[k], actual, near);
}

struct nnv_explain_fit nnv_explain_compare(const struct nnv_explaining *x, const struct nnv_explain_numbers *c) {
    struct nnv_explain_fit f = {0};
    const double near = near_of(x, c);
    for (size_t k = 0; k < x->n; k++) {
        if (isnan(x->right.bound[k])) continue;
        if (isnan(c->bound[k]) || is_as(c, k, x->actual[k], near)) {
            f.matched++;
            if (!x->wrong[k] || isnan(c->bound[k])) continue;
            f.explained++;
            f.sharp += !is_as(c, k, x->right.v[k], near);
        }
        double off = fabs(c->v[k] - x->actual[k]), size = fmax(fabs(c->v[k]), fabs(x->actual[k]));
        if (off > 0) f.distance += nnv_is_quant(nnv_explain_output(x, 0)->type) ? off : off / (size + 1e-30);
    }
    return f;
}

/** Of a fault and what it is tried on. */
struct trial {
    const struct nnv_explaining *x;
    const struct nnv_fault *fault;       /* of results; NULL: none */
    struct nnv_fault_output *const *y;   /* of each side, what is of each output */
    const struct nnv_explain_numbers *c; /* the same of all outputs */
    double near;
    size_t misses, least; /* so many more are too many; so many wrong ones must fit */
    bool changes;         /* something of side 0 */
};

/** True if the fault makes element k of output i the driver's; it is element `at` of all. */
static bool fits_at(struct trial *t, uint32_t i, size_t k, size_t at) {
    double v[NNV_EXPLAIN_SIDES];
    for (int s = 0; s < NNV_EXPLAIN_SIDES; s++)
        v[s] = t->fault
                   ? nnv_fault_element(t->fault, &t->y[s][i], k)
                   : moved_number(nnv_type(nnv_explain_output(t->x, i)->type), t->c->v[at], t->c->bound[at], sides[s]);
    if (t->fault) t->changes = t->changes || !nnv_same_bits(*v, t->y[0][i].v[k]);
    return is_between(fmin(fmin(v[2], v[1]), v[0]), v[0], fmax(fmax(v[2], v[1]), v[0]), t->x->actual[at], t->near);
}

/** True if enough of the wrong values fit, and of these, or of the others, not too many miss. */
static bool do_some_fit(struct trial *t, bool wrong) {
    const struct nnv_explaining *x = t->x;
    size_t at = 0, fitting = 0;
    for (uint32_t i = 0; i < x->spec->model.main.nout; at += nnv_explain_elems(x, i++))
        for (size_t k = 0, n = nnv_explain_elems(x, i); k < n && t->misses > 0; k++) {
            if (x->wrong[at + k] != wrong || isnan(x->right.bound[at + k]) || isnan(t->c->bound[at + k])) continue;
            const bool fits = fits_at(t, i, k, at + k);
            fitting += fits;
            t->misses -= !fits;
        }
    return t->misses > 0 && (!wrong || fitting >= t->least);
}

static bool changes_any(const struct trial *t) {
    for (uint32_t i = 0; i < t->x->spec->model.main.nout; i++)
        for (size_t k = 0; k < t->y[0][i].n && !nnv_explain_output(t->x, i)->ignored; k++) {
            const double v = nnv_fault_element(t->fault, &t->y[0][i], k);
            if (!nnv_same_bits(v, t->y[0][i].v[k])) return true;
        }
    return false;
}

/** Makes x->then of the first fault of pairs, unless that was done. False: no memory. */
static bool spoil_first(struct nnv_explaining *x, const struct nnv_fault *first) {
    if (x->first == first) return true;
    const uint32_t nout = x->spec->model.main.nout;
    x->first = NULL;
    for (int s = 0; s < NNV_EXPLAIN_SIDES; s++) {
        if (!(x->then[s] = nnv_arena_copy(x->arena, x->side[s], nout * sizeof *x->then[s]))) return false;
        bool any = false;
        for (uint32_t i = 0; i < nout; i++) {
            struct nnv_fault_output *y = &x->then[s][i];
            double *spoilt = NNV_NEW(x->arena, double, y->n + 1);
            if (!spoilt) return false;
            if (nnv_fault_spoil(first, &x->side[s][i], spoilt)) {
                y->exact = NULL; /* of other values */
                any = any || !nnv_explain_output(x, i)->ignored;
            }
            y->v = spoilt;
        }
        if (s == 0) x->first_changes = any;
    }
    x->first = first;
    return true;
}

bool nnv_explain_may_fit(struct nnv_explaining *x, const struct nnv_fault *fault, bool *changes) {
    const bool pair = fault->part[0] != NULL;
    *changes = true;
    if (pair && (fault->part[0]->part[0] || fault->part[1]->part[0] || !spoil_first(x, fault->part[0]))) return true;
    /* what pairs explain in part is not remembered */
    struct trial t = {.x = x,
                      .fault = pair ? fault->part[1] : fault,
                      .y = pair ? x->then : x->side,
                      .c = &x->right,
                      .near = near_of(x, &x->right),
                      .misses = pair ? 1 : x->out->wrong,
                      .least = 1,
                      .changes = pair && x->first_changes};
    const bool may = do_some_fit(&t, true) && do_some_fit(&t, false);
    *changes = t.changes || changes_any(&t);
    return may && *changes;
}

bool nnv_explain_may_come_near(const struct nnv_explaining *x, const struct nnv_fault *fault,
                               const struct nnv_golden *golden, const struct nnv_explain_numbers *c) {
    const bool first = fault->part[0] && nnv_fault_is_spoil(fault->part[0]);
    const size_t far = x->out->compared - (6 * x->out->compared + 9) / 10;
    struct nnv_fault_output *y[NNV_EXPLAIN_SIDES] = {NULL};
    struct trial t = {
        .x = x, .y = y, .c = c, .near = near_of(x, c), .least = fault->part[0] ? (x->out->wrong + 1) / 2 : 1};
    if (first && nnv_fault_is_spoil(fault->part[1])) return true;
    if (nnv_fault_is_spoil(fault)) t.fault = !fault->part[0] ? fault : fault->part[first ? 0 : 1];
    for (int s = 0; s < NNV_EXPLAIN_SIDES && t.fault; s++)
        if (!(y[s] = moved(x, golden, c, sides[s], x->work))) return true;
    t.misses = 1 + (fault->part[0] || x->out->wrong <= far ? far : x->out->wrong - 1);
    return do_some_fit(&t, true) && do_some_fit(&t, false);
}

void nnv_explain_predict(struct nnv_explaining *x, const struct nnv_fault *fault, const struct nnv_explain_numbers *c) {
    bool shows = false;
    for (size_t k = 0; k < x->n && !shows; k++) {
        const double right = x->right.v[k], bound = x->right.bound[k];
        if (isnan(bound)) continue;
        shows = isnan(c->v[k]) != isnan(right) || c->low[k] > right + bound || c->high[k] < right - bound;
    }
    x->exact = x->exact || strcmp(fault->words, x->words) == 0;
    x->hidden += !shows;
}

/** Bits that a wrong value tells, more where right values differ more. */
static double bits_of_each(const struct nnv_explaining *x, uint32_t output, size_t at) {
    const struct nnv_type *t = nnv_type(nnv_explain_output(x, output)->type);
    double low = INFINITY, high = -INFINITY;
    if (t->kind == NNV_KIND_FLOAT) return 10;
    for (size_t k = at; k < at + nnv_explain_elems(x, output); k++) {
        low = fmin(low, x->right.v[k]);
        high = fmax(high, x->right.v[k]);
    }
    return high > low ? 0.75 * fmin(log2(1 + high - low), 8) : 0.5;
}

/** Bits that all wrong values tell: whether as many as they are fit by chance. */
static double evidence(const struct nnv_explaining *x) {
    double bits = 0;
    size_t at = 0;
    for (uint32_t i = 0; i < x->spec->model.main.nout; at += nnv_explain_elems(x, i++)) {
        const double each = bits_of_each(x, i, at);
        for (size_t k = at; k < at + nnv_explain_elems(x, i); k++)
            if (x->wrong[k]) bits += each;
    }
    return bits;
}

bool nnv_explain_fits(const struct nnv_explaining *x, const struct nnv_fault *fault, const struct nnv_explain_fit *f) {
    const int bits = x->words ? KNOWN : fault->part[0] ? EVIDENCE + OF_TWO : EVIDENCE;
    if (fault->generated && evidence(x) < bits) return false;
    if (!x->words && !nnv_fault_is_edit(fault) && !fault->few && x->out->wrong < FEW) return false;
    return f->matched == x->out->compared && f->explained == x->out->wrong && 2 * f->sharp >= x->out->wrong;
}

bool nnv_explain_promises(const struct nnv_explaining *x, const struct nnv_explain_fit *f) {
    return 10 * f->matched >= 6 * x->out->compared && 2 * f->explained >= x->out->wrong;
}

bool nnv_explain_same(const struct nnv_explaining *x, const double *a, const double *b) {
    for (size_t k = 0; k < x->n; k++)
        if (!isnan(x->right.bound[k]) && !(fabs(a[k] - b[k]) <= 1e-6 * fabs(a[k])) && !(isnan(a[k]) && isnan(b[k])) &&
            a[k] != b[k])
            return false;
    return true;
}

enum nnv_status nnv_explain_keep(struct nnv_explaining *x, const struct nnv_fault *fault, struct nnv_explain_place p,
                                 const struct nnv_explain_numbers *c, const struct nnv_explain_fit *f,
                                 struct nnv_err *err) {
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

void nnv_explain_remember(struct nnv_explaining *x, const struct nnv_fault *fault, const struct nnv_explain_fit *f) {
    struct nnv_explain_part *best = x->best;
    int i = x->nbest;
    if (fault->part[0] || fault->poison || f->explained == 0 || f->matched <= x->out->compared - x->out->wrong) return;
    for (int k = 0; k < x->nbest; k++)
        if (best[k].fault == fault) return;
    while (i > 0 && f->matched > best[i - 1].matched) i--;
    if (i == NNV_EXPLAIN_BEST) return;
    if (x->nbest < NNV_EXPLAIN_BEST) x->nbest++;
    memmove(&best[i + 1], &best[i], (size_t)(x->nbest - 1 - i) * sizeof *best);
    best[i] = (struct nnv_explain_part){fault, f->matched};
}
