/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/judge/ties.h"

#include <math.h>
#include <string.h>

enum nnv_judged nnv_output_rule(const struct nnv_subgraph *main, uint32_t i, uint32_t *run) {
    *run = 1;
    for (uint32_t o = 0; o < main->noperations; o++)
        for (uint32_t n = 0; n < main->operations[o].nout; n++) {
            const struct nnv_op *op = nnv_op(main->operations[o].type);
            if (!op || !op->nforms || !op->forms[0].nout || main->operations[o].out[n] != main->out[i]) continue;
            const struct nnv_slot *slot = nnv_out_slot(&op->forms[0], n);
            if (slot->run) *run = slot->run;
            return (enum nnv_judged)slot->judged;
        }
    return NNV_JUDGED_VALUE;
}

/** Copies of value and spread that may be written to. */
static bool own(struct nnv_expectation *e, size_t elems, struct nnv_arena *arena, void **data, double **spread) {
    struct nnv_value *value = nnv_arena_copy(arena, e->value, sizeof *value);
    *data = nnv_arena_copy(arena, e->value->data, e->value->bytes);
    *spread = NNV_NEW(arena, double, elems);
    if (!value || !*data || !*spread) return false;
    if (e->spread) memcpy(*spread, e->spread, elems * sizeof **spread);
    value->data = *data;
    e->value = value;
    e->spread = *spread;
    return true;
}

/* ------------------------------------------------------------------- indices */

/** A number of a line: at least and at most this, and whether the driver named it. */
struct number {
    double lo, hi;
    bool known, named;
};

/** One line of numbers, and the first m places in the order of their least values, falling. */
struct line {
    size_t n, m;
    struct number *number;
    size_t *order;
};

static bool is_before(const struct line *l, size_t i, size_t j) {
    const double x = l->number[i].lo, y = l->number[j].lo;
    return x != y ? x > y : i < j;
}

/** Lets what stands at the top of a heap of n places, whose last one belongs there, sink to where it belongs. */
static void sink(const struct line *l, size_t at, size_t n) {
    size_t *heap = l->order;
    for (size_t next; (next = 2 * at + 1) < n; at = next) {
        next += next + 1 < n && is_before(l, heap[next], heap[next + 1]);
        if (is_before(l, heap[next], heap[at])) return;
        const size_t sunk = heap[at];
        heap[at] = heap[next];
        heap[next] = sunk;
    }
}

/** Finds the first m: no more of them can be the best that is left, since each index that is named takes one away. */
static void find_first(const struct line *l) {
    for (size_t i = 0; i < l->m; i++) l->order[i] = i;
    for (size_t i = l->m / 2; i-- > 0;) sink(l, i, l->m);
    for (size_t i = l->m; i < l->n; i++) {
        if (!is_before(l, i, l->order[0])) continue;
        l->order[0] = i;
        sink(l, 0, l->m);
    }
    for (size_t n = l->m; n-- > 1;) {
        const size_t last = l->order[0];
        l->order[0] = l->order[n];
        l->order[n] = last;
        sink(l, 0, n);
    }
}

static void load_line(const struct nnv_source *s, size_t outer, size_t inner, const struct line *l) {
    for (size_t i = 0; i < s->n; i++) {
        size_t at = (outer * s->n + i) * s->inner + inner;
        double v = s->value[at], reach = s->reach[at];
        bool known = !isnan(v) && !isnan(reach);
        l->number[i] = (struct number){known ? v - reach : -INFINITY, known ? v + reach : INFINITY, known, false};
    }
    find_first(l);
}

/** The indices of a line: `stride` apart. */
static void follow_line(const struct line *l, size_t stride, const int32_t *actual, int32_t *expected, double *spread) {
    size_t first = 0;
    for (size_t r = 0; r < l->m; r++) {
        while (l->number[l->order[first]].named) first++;
        size_t best = l->order[first];
        int32_t index = actual[r * stride];
        struct number *it = index >= 0 && (size_t)index < l->n ? &l->number[index] : NULL;
        bool right = it && !it->named && it->hi >= l->number[best].lo;
        expected[r * stride] = right ? index : (int32_t)best;
        spread[r * stride] = right && !it->known ? (double)NAN : 0;
        if (it) it->named = true;
    }
}

bool nnv_follow_indices(struct nnv_expectation *e, const struct nnv_source *source, const void *actual,
                        struct nnv_arena *arena) {
    size_t elems = e->value->bytes / sizeof(int32_t), lines = source->outer * source->inner;
    size_t m = lines ? elems / lines : 0;
    struct line l = {source->n, m, NNV_NEW(arena, struct number, source->n), NNV_NEW(arena, size_t, source->n)};
    void *expected;
    double *spread;
    if (!l.number || !l.order || !own(e, elems, arena, &expected, &spread)) return false;
    for (size_t i = 0; i < lines && m > 0 && m <= source->n; i++) {
        size_t at = i / source->inner * m * source->inner + i % source->inner;
        load_line(source, i / source->inner, i % source->inner, &l);
        follow_line(&l, source->inner, (const int32_t *)actual + at, (int32_t *)expected + at, spread + at);
    }
    return true;
}

/* ------------------------------------------------------------------- choices */

/** How far actual lies from what this choice gives for the run at `at`, in parts of what rounding does to it. */
static double misfit(const struct nnv_expectation *e, size_t at, uint32_t run, const struct nnv_golden *choice,
                     const void *actual) {
    double most = 0;
    for (size_t i = at; i < at + run; i++) {
        size_t size = nnv_type(e->type)->size;
        double y, expected;
        nnv_load(e->type, (const uint8_t *)actual + i * size, 1, &y);
        nnv_load(e->type, (const uint8_t *)choice->value.data + i * size, 1, &expected);
        double error = fabs(y - expected), bound = e->k * choice->spread[i] + nnv_ulp(e->type, expected);
        double ratio = isnan(bound) ? 1 : isnan(error) ? (double)INFINITY : error / bound;
        if (ratio > most) most = ratio;
    }
    return most;
}

bool nnv_follow_choice(struct nnv_expectation *e, uint32_t run, const struct nnv_golden *choices, int n,
                       const void *actual, struct nnv_arena *arena) {
    size_t size = nnv_type(e->type)->size, elems = e->value->bytes / size;
    double *exact = e->exact ? nnv_arena_copy(arena, e->exact, elems * sizeof *exact) : NULL, *spread;
    void *expected;
    if ((e->exact && !exact) || !own(e, elems, arena, &expected, &spread)) return false;
    for (size_t at = 0; at + run <= elems; at += run) {
        if (!isnan(spread[at])) continue;
        const struct nnv_golden *g = choices;
        for (int c = 1; c < n; c++)
            if (misfit(e, at, run, &choices[c], actual) < misfit(e, at, run, g, actual)) g = &choices[c];
        memcpy((uint8_t *)expected + at * size, (const uint8_t *)g->value.data + at * size, run * size);
        memcpy(spread + at, g->spread + at, run * sizeof *spread);
        if (exact) memcpy(exact + at, g->exact + at, run * sizeof *exact);
    }
    e->exact = exact;
    return true;
}
