/* SPDX-License-Identifier: Apache-2.0 */
/* Operators that sort elements or add them up one after the other: types of results, kernels, rows. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "compiler/relay/ops/kernel.h"
#include "compiler/relay/ops/numbers.h"

/* ----------------------------------------------------------------- numbers */

static int64_t whole_sum(int64_t a, int64_t b) { return (int64_t)((uint64_t)a + (uint64_t)b); }

/* ------------------------------------------------------------------- types */

static bool along(struct nnv_relay_typing *t, const struct nnv_relay_type *a, size_t *at) {
    return nnv_relay_axis(t, "axis", nnv_relay_int(t, "axis", -1), a->n_dims, at);
}

static const struct nnv_relay_type *infer_topk(struct nnv_relay_typing *t) {
    const struct nnv_relay_type *a = nnv_relay_in(t, 0);
    const char *which = nnv_relay_text(t, "ret_type", "both");
    int64_t dims[NNV_RELAY_RANK], k = nnv_relay_int(t, "k", 1);
    size_t at;
    enum nnv_relay_dtype dtype;
    if (a == NULL || !along(t, a, &at) || !nnv_relay_dtype_attr(t, "dtype", NNV_RELAY_INT32, &dtype)) return NULL;
    memcpy(dims, a->dims, a->n_dims * sizeof *dims);
    if (k > dims[at] && dims[at] >= 0)
        return nnv_relay_wrong(t, "k is %" PRId64 ", and there are %" PRId64 " elements", k, dims[at]);
    if (k >= 1) dims[at] = k;
    const struct nnv_relay_type *values = nnv_relay_made(t, a->dtype, a->n_dims, dims),
                                *places = values ? nnv_relay_made(t, dtype, a->n_dims, dims) : NULL;
    if (places == NULL) return NULL;
    if (strcmp(which, "values") == 0) return values;
    if (strcmp(which, "indices") == 0) return places;
    if (strcmp(which, "both") != 0) return nnv_relay_wrong(t, "ret_type must be both, values or indices");
    return nnv_relay_tuple_type(t->m->arena, 2, (const struct nnv_relay_type *[]){values, places});
}

/* sort, argsort */
static const struct nnv_relay_type *infer_sort(struct nnv_relay_typing *t) {
    const struct nnv_relay_type *a = nnv_relay_in(t, 0);
    size_t at;
    enum nnv_relay_dtype dtype;
    if (a == NULL || !along(t, a, &at) || !nnv_relay_dtype_attr(t, "dtype", a->dtype, &dtype)) return NULL;
    return nnv_relay_made(t, dtype, a->n_dims, a->dims);
}

static const struct nnv_relay_type *infer_cumulate(struct nnv_relay_typing *t) {
    const struct nnv_relay_type *a = nnv_relay_in(t, 0);
    const struct nnv_relay_value *axis = a ? nnv_relay_row_attr(t->row, t->call, "axis") : NULL;
    int64_t all = 1;
    size_t at;
    enum nnv_relay_dtype dtype;
    if (a == NULL || !nnv_relay_dtype_attr(t, "dtype", a->dtype, &dtype)) return NULL;
    if (axis && axis->kind != NNV_RELAY_NONE)
        return along(t, a, &at) ? nnv_relay_made(t, dtype, a->n_dims, a->dims) : NULL;
    for (size_t i = 0; i < a->n_dims; i++) all = nnv_relay_times(all, a->dims[i]);
    return nnv_relay_made(t, dtype, 1, &all);
}

/* ----------------------------------------------------------------- kernels */

struct ranked {
    double value;
    size_t at;
};

/* NaN behind all; equal ones stay in their order. */
static int ascending(const void *a, const void *b) {
    const struct ranked *x = a, *y = b;
    if (isnan(x->value) != isnan(y->value)) return isnan(x->value) ? 1 : -1;
    if (x->value < y->value) return -1;
    if (x->value > y->value) return 1;
    return x->at < y->at ? -1 : x->at > y->at;
}

static int descending(const void *a, const void *b) {
    const struct ranked *x = a, *y = b;
    if (isnan(x->value) || isnan(y->value) || x->value == y->value) return ascending(a, b);
    return x->value > y->value ? -1 : 1;
}

/* The first `keep` of each line along the axis, as values and places; either may be NULL. */
static void rank(struct nnv_interp_op *op, size_t keep, bool up, double *values, double *places) {
    struct nnv_interp_axis a;
    if (!nnv_interp_axis_of(op, op->in[0]->type, "axis", -1, &a)) return;
    struct ranked *line = NNV_NEW(op->scratch, struct ranked, a.extent);
    if (line == NULL) nnv_interp_space(op, SIZE_MAX);
    for (size_t o = 0; line && o < a.outer * a.inner; o++) {
        size_t outer = o / a.inner, inner = o % a.inner;
        const double *x = op->in[0]->values + outer * a.extent * a.inner + inner;
        for (size_t i = 0; i < a.extent; i++) line[i] = (struct ranked){x[i * a.inner], i};
        qsort(line, a.extent, sizeof *line, up ? ascending : descending);
        for (size_t i = 0; i < keep; i++) {
            size_t to = (outer * keep + i) * a.inner + inner;
            if (values) values[to] = line[i].value;
            if (places) places[to] = (double)line[i].at;
        }
    }
}

static size_t extent_of(struct nnv_interp_op *op, const struct nnv_relay_type *type) {
    struct nnv_interp_axis a;
    return nnv_interp_axis_of(op, type, "axis", -1, &a) ? a.extent : 0;
}

static void run_topk(struct nnv_interp_op *op) {
    const char *which = nnv_relay_text(&op->t, "ret_type", "both");
    bool up = nnv_relay_int(&op->t, "is_ascend", 0), both = strcmp(which, "both") == 0;
    const struct nnv_relay_datum *out = op->out, *values = both ? out->fields[0] : out, *places = values;
    if (both) places = out->fields[1];
    rank(op, extent_of(op, values->type), up, strcmp(which, "indices") != 0 ? values->values : NULL,
         strcmp(which, "values") != 0 ? places->values : NULL);
}

static void run_sort(struct nnv_interp_op *op) {
    rank(op, extent_of(op, op->out->type), nnv_relay_int(&op->t, "is_ascend", 1), op->out->values, NULL);
}

static void run_argsort(struct nnv_interp_op *op) {
    rank(op, extent_of(op, op->out->type), nnv_relay_int(&op->t, "is_ascend", 1), NULL, op->out->values);
}

/* Without an axis over all elements. */
static void run_cumulate(struct nnv_interp_op *op) {
    const struct nnv_relay_value *axis = nnv_relay_row_attr(op->t.row, op->t.call, "axis");
    bool exclusive = nnv_relay_int(&op->t, "exclusive", 0);
    enum nnv_relay_dtype dtype = op->out->type->dtype;
    struct nnv_interp_axis a = {.outer = 1, .extent = op->in[0]->n, .inner = 1};
    if (axis && axis->kind != NNV_RELAY_NONE && !nnv_interp_axis_of(op, op->in[0]->type, "axis", 0, &a)) return;
    for (size_t o = 0; o < a.outer * a.inner; o++) {
        size_t first = o / a.inner * a.extent * a.inner + o % a.inner;
        double v = op->t.row->one(0);
        for (size_t i = 0; i < a.extent; i++) {
            double before = v, x = op->in[0]->values[first + i * a.inner];
            v = nnv_relay_dtype_is_float(dtype) ? op->t.row->two(v, x)
                                                : nnv_interp_wrap(dtype, op->t.row->whole((int64_t)v, (int64_t)x));
            op->out->values[first + i * a.inner] = exclusive ? before : v;
        }
    }
}

/* -------------------------------------------------------------------- rows */

#include "compiler/relay/ops/rows.h"

static const struct nnv_relay_op_row rows[] = {
    {"argsort", 1, 1, infer_sort, run_argsort,
     .attrs = {{"axis", K_INT, INT(-1)}, {"is_ascend", K_TRUTH, TRUTH(1)}, {"dtype", K_TEXT, TEXT("int32")}}},
    {"cumprod", 1, 1, infer_cumulate, run_cumulate,
     .attrs = {{"axis", K_INT, NULL}, {"dtype", K_TEXT, TEXT("")}, {"exclusive", K_TRUTH, TRUTH(0)}}, .one = one,
     .two = product, .whole = whole_product, .relax = "(data, axis, dtype, exclusive)"},
    {"cumsum", 1, 1, infer_cumulate, run_cumulate,
     .attrs = {{"axis", K_INT, NULL}, {"dtype", K_TEXT, TEXT("")}, {"exclusive", K_TRUTH, TRUTH(0)}}, .one = zero,
     .two = sum, .whole = whole_sum, .relax = "(data, axis, dtype, exclusive)"},
    {"sort", 1, 1, infer_sort, run_sort, .attrs = {{"axis", K_INT, INT(-1)}, {"is_ascend", K_TRUTH, TRUTH(1)}}},
    {"topk", 1, 1, infer_topk, run_topk,
     .attrs = {{"k", K_INT, INT(1)},
               {"axis", K_INT, INT(-1)},
               {"ret_type", K_TEXT, TEXT("both")},
               {"is_ascend", K_TRUTH, TRUTH(0)},
               {"dtype", K_TEXT, TEXT("int32")}}},
};
const struct nnv_relay_op_rows nnv_relay_order = {rows, sizeof rows / sizeof *rows};
