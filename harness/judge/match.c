/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/judge/match.h"

#include <math.h>
#include <string.h>

#include "harness/judge/check.h"
#include "reference/model/op.h"

enum { MAX_COLUMNS = 8 };
static const size_t NONE = SIZE_MAX;

/** One output of the operation: a row is a part of one result. */
struct column {
    uint32_t output; /**< of the model */
    size_t width;    /**< elements of a row */
    double *expected, *actual, *bound;
};

/** The results of one operation. */
struct table {
    struct column column[MAX_COLUMNS]; /**< the last one is the group */
    uint32_t ncolumns;
    size_t rows;
    size_t *to;      /**< per expected row: the actual row that stands for it, or NONE */
    size_t *from;    /**< the inverse */
    size_t *queue;   /**< of a search */
    size_t *reached; /**< per actual row: the expected row that reached it in this search, or NONE */
};

/* ---------------------------------------------------------------- the table */

/** The model's output that operand is, or NONE. */
static size_t output_of(const struct nnv_subgraph *main, uint32_t operand) {
    for (uint32_t i = 0; i < main->nout; i++)
        if (main->out[i] == operand) return i;
    return NONE;
}

static bool load_column(const struct nnv_expectation *e, const struct nnv_value *actual, enum nnv_precision precision,
                        struct nnv_arena *arena, size_t rows, struct column *c) {
    size_t n = nnv_expected_elems(e);
    c->width = n / rows;
    c->expected = NNV_NEW(arena, double, n);
    c->actual = NNV_NEW(arena, double, n);
    c->bound = NNV_NEW(arena, double, n);
    if (!c->expected || !c->actual || !c->bound) return false;
    nnv_check_numbers(e, actual->data, precision, c->expected, c->actual, c->bound);
    return true;
}

/** False: there is nothing to bring into an order, or no memory for it. */
static bool make_table(const struct nnv_subgraph *main, const struct nnv_operation *o, const struct nnv_expectation *e,
                       enum nnv_precision precision, struct nnv_arena *arena, const struct nnv_value *actual,
                       struct table *t) {
    size_t group = output_of(main, o->out[o->nout - 1]);
    *t = (struct table){0};
    if (group == NONE || e[group].ignored || e[group].value->rank == 0) return false;
    t->rows = e[group].value->dims[0];
    if (t->rows == 0) return false;
    for (uint32_t i = 0; i < o->nout && t->ncolumns < MAX_COLUMNS; i++) {
        size_t k = output_of(main, o->out[i]);
        if (k == NONE || e[k].ignored || e[k].value->rank == 0 || e[k].value->dims[0] != t->rows) continue;
        struct column *c = &t->column[t->ncolumns++];
        c->output = (uint32_t)k;
        if (!load_column(&e[k], &actual[k], precision, arena, t->rows, c)) return false;
    }
    t->to = NNV_NEW(arena, size_t, t->rows);
    t->from = NNV_NEW(arena, size_t, t->rows);
    t->queue = NNV_NEW(arena, size_t, t->rows);
    t->reached = NNV_NEW(arena, size_t, t->rows);
    return t->ncolumns > 0 && t->to && t->from && t->queue && t->reached;
}

/* ----------------------------------------------------------------- matching */

static bool element_fits(const struct column *c, size_t e, size_t a) {
    double want = c->expected[e], got = c->actual[a];
    return isnan(c->bound[e]) || nnv_check_within(want, got, c->bound[e]);
}

/** True if actual row `got` may stand for the expected row `want`. */
static bool fits(const struct table *t, size_t want, size_t got) {
    for (uint32_t i = 0; i < t->ncolumns; i++) {
        const struct column *c = &t->column[i];
        for (size_t e = 0; e < c->width; e++)
            if (!element_fits(c, want * c->width + e, got * c->width + e)) return false;
    }
    return true;
}

/** Finds a row for `want` among the actual rows [begin, end): rows that are taken may be given up for others. */
static void find_row(struct table *t, size_t want, size_t begin, size_t end) {
    size_t head = 0, tail = 0;
    for (size_t i = begin; i < end; i++) t->reached[i] = NONE;
    for (t->queue[tail++] = want; head < tail; head++)
        for (size_t got = begin; got < end; got++) {
            size_t by = t->queue[head];
            if (t->reached[got] != NONE || !fits(t, by, got)) continue;
            t->reached[got] = by;
            if (t->from[got] != NONE) {
                t->queue[tail++] = t->from[got];
                continue;
            }
            while (got != NONE) { /* back to `want`: each takes what it reached, and leaves what it had */
                size_t left = t->to[t->reached[got]];
                t->from[got] = t->reached[got];
                t->to[t->reached[got]] = got;
                got = left;
            }
            return;
        }
}

/** The rows [begin, end), which are one group. */
static void match_group(struct table *t, size_t begin, size_t end) {
    for (size_t i = begin; i < end; i++) t->to[i] = t->from[i] = NONE;
    for (size_t i = begin; i < end; i++)
        if (fits(t, i, i)) t->to[i] = t->from[i] = i;
    for (size_t i = begin; i < end; i++)
        if (t->to[i] == NONE) find_row(t, i, begin, end);
    size_t left = begin; /* what fits nothing fills the places that are open */
    for (size_t i = begin; i < end; i++) {
        if (t->to[i] != NONE) continue;
        while (t->from[left] != NONE) left++;
        t->to[i] = left++;
    }
}

static void match_rows(struct table *t) {
    const double *group = t->column[t->ncolumns - 1].expected;
    for (size_t begin = 0, end; begin < t->rows; begin = end) {
        for (end = begin + 1; end < t->rows && group[end] == group[begin]; end++) continue;
        match_group(t, begin, end);
    }
}

static void reorder(const struct table *t, struct nnv_arena *arena, struct nnv_value *actual) {
    for (uint32_t i = 0; i < t->ncolumns; i++) {
        struct nnv_value *v = &actual[t->column[i].output];
        size_t bytes = v->bytes / t->rows;
        char *data = nnv_arena_copy(arena, v->data, v->bytes);
        if (!data) return;
        for (size_t r = 0; r < t->rows; r++) memcpy(data + r * bytes, (const char *)v->data + t->to[r] * bytes, bytes);
        v->data = data;
    }
}

void nnv_match(const struct nnv_subgraph *main, const struct nnv_expectation *e, enum nnv_precision precision,
               struct nnv_arena *arena, struct nnv_value *actual) {
    for (uint32_t i = 0; i < main->noperations && precision != NNV_PRECISION_AOSP; i++) {
        const struct nnv_op *op = nnv_op(main->operations[i].type);
        struct table t;
        if (!op || !op->any_order || !make_table(main, &main->operations[i], e, precision, arena, actual, &t)) continue;
        match_rows(&t);
        reorder(&t, arena, actual);
    }
}
