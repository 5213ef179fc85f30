/* SPDX-License-Identifier: Apache-2.0 */
/* Operators that move elements: shapes, slices, concatenation, padding: types of results, kernels, rows. */
#include <inttypes.h>
#include <string.h>

#include "compiler/relay/ops/kernel.h"

/* ------------------------------------------------------------------- types */

static const struct nnv_relay_type *infer_stack(struct nnv_relay_typing *t) {
    const struct nnv_relay_type *tuple = t->call->args[0]->type;
    int64_t dims[NNV_RELAY_RANK];
    size_t at, n = 0;
    if (tuple == NULL || tuple->kind != NNV_RELAY_TUPLE_TYPE || tuple->n_fields == 0)
        return nnv_relay_wrong(t, "operand 0 must be a tuple of tensors");
    const struct nnv_relay_type *first = tuple->fields[0];
    for (size_t i = 0; i < tuple->n_fields; i++)
        if (first->kind != NNV_RELAY_TENSOR || !nnv_relay_type_fits(first, tuple->fields[i]))
            return nnv_relay_wrong(t, "field %zu is not a tensor of the type of field 0", i);
    if (first->n_dims == NNV_RELAY_RANK) return nnv_relay_wrong(t, "the result has too many dimensions");
    if (!nnv_relay_axis(t, "axis", nnv_relay_int(t, "axis", 0), first->n_dims + 1, &at)) return NULL;
    for (size_t i = 0; i <= first->n_dims; i++) {
        if (i == at) dims[n++] = (int64_t)tuple->n_fields;
        if (i < first->n_dims) dims[n++] = first->dims[i];
    }
    return nnv_relay_made(t, first->dtype, n, dims);
}

/* ------------------------------------------------------------------ reshape */

/** A new shape that is being worked out from the old one. */
struct reshaping {
    const struct nnv_relay_type *from;
    int64_t dims[NNV_RELAY_RANK];
    size_t n, at; /**< dimensions made, and dimensions of the old shape that are used */
    size_t hole;  /**< which one is to be found; NNV_RELAY_RANK: none */
};

static bool put_dim(struct nnv_relay_typing *t, struct reshaping *r, int64_t dim) {
    if (r->n == NNV_RELAY_RANK) return nnv_relay_wrong(t, "newshape has more than %d dimensions", NNV_RELAY_RANK);
    if (dim > (int64_t)INT32_MAX * 2) return nnv_relay_wrong(t, "newshape has an extent that is too large");
    r->dims[r->n++] = dim;
    return true;
}

/* The next dimension of the old shape. */
static bool old_dim(struct nnv_relay_typing *t, struct reshaping *r, int64_t *dim) {
    if (r->at >= r->from->n_dims) return nnv_relay_wrong(t, "newshape takes more dimensions than the operand has");
    *dim = r->from->dims[r->at++];
    return true;
}

static int64_t product(int64_t a, int64_t b) {
    int64_t p;
    return a < 0 || b < 0 || __builtin_mul_overflow(a, b, &p) ? NNV_RELAY_ANY : p;
}

/* -4, x, y: splits a dimension in x and y, one of which may be -1. *i is at the -4 and moves on. */
static bool split_dim(struct nnv_relay_typing *t, struct reshaping *r, const int64_t *shape, size_t n, size_t *i) {
    int64_t dim = 0;
    if (n - *i < 3) return nnv_relay_wrong(t, "-4 in newshape needs two extents behind it");
    int64_t x = shape[*i + 1], y = shape[*i + 2];
    *i += 2;
    if (!old_dim(t, r, &dim)) return false;
    if (x == -1 && y > 0 && dim >= 0) x = dim / y;
    if (y == -1 && x > 0 && dim >= 0) y = dim / x;
    if (x < 1 || y < 1 || (dim >= 0 && product(x, y) != dim))
        return nnv_relay_wrong(t, "-4 in newshape does not split %" PRId64, dim);
    return put_dim(t, r, x) && put_dim(t, r, y);
}

static bool reshape_step(struct nnv_relay_typing *t, struct reshaping *r, const int64_t *shape, size_t n, size_t *i) {
    int64_t dim = 0, next = 0;
    bool zero = nnv_relay_int(t, "allowzero", 0);
    if (shape[*i] > 0 || (shape[*i] == 0 && zero)) {
        r->at++;
        return put_dim(t, r, shape[*i]);
    }
    switch (shape[*i]) {
    case 0:
        return old_dim(t, r, &dim) && put_dim(t, r, dim);
    case -1:
        if (r->hole < NNV_RELAY_RANK) return nnv_relay_wrong(t, "newshape has -1 twice");
        r->hole = r->n;
        r->at++;
        return put_dim(t, r, 1);
    case -2:
        while (r->at < r->from->n_dims)
            if (!old_dim(t, r, &dim) || !put_dim(t, r, dim)) return false;
        return true;
    case -3:
        return old_dim(t, r, &dim) && old_dim(t, r, &next) && put_dim(t, r, product(dim, next));
    case -4:
        return split_dim(t, r, shape, n, i);
    default:
        return nnv_relay_wrong(t, "newshape has %" PRId64, shape[*i]);
    }
}

static const struct nnv_relay_type *infer_reshape(struct nnv_relay_typing *t) {
    const struct nnv_relay_type *a = nnv_relay_in(t, 0);
    int64_t shape[NNV_RELAY_RANK * 3], before = 1, after = 1;
    size_t n;
    if (a == NULL) return NULL;
    if (!nnv_relay_ints(t, "newshape", shape, NNV_RELAY_RANK * 3, &n))
        return nnv_relay_wrong(t, "needs the attribute newshape");
    struct reshaping r = {.from = a, .hole = NNV_RELAY_RANK};
    for (size_t i = 0; i < n; i++)
        if (!reshape_step(t, &r, shape, n, &i)) return NULL;
    for (size_t i = 0; i < a->n_dims; i++) before = product(before, a->dims[i]);
    for (size_t i = 0; i < r.n; i++) after = product(after, r.dims[i]);
    if (r.hole < NNV_RELAY_RANK) {
        if (before < 0 || after < 0)
            r.dims[r.hole] = NNV_RELAY_ANY;
        else if (after == 0 || before % after)
            return nnv_relay_wrong(t, "%" PRId64 " elements can't be divided by %" PRId64, before, after);
        else
            r.dims[r.hole] = before / after;
    } else if (before >= 0 && after >= 0 && before != after) {
        return nnv_relay_wrong(t, "%" PRId64 " elements do not fit in a shape of %" PRId64, before, after);
    }
    return nnv_relay_made(t, a->dtype, r.n, r.dims);
}

static const struct nnv_relay_type *infer_flatten(struct nnv_relay_typing *t) {
    const struct nnv_relay_type *a = nnv_relay_in(t, 0);
    int64_t dims[] = {0, 1};
    if (a == NULL) return NULL;
    if (a->n_dims == 0) return nnv_relay_wrong(t, "operand 0 must have a dimension");
    dims[0] = a->dims[0];
    for (size_t i = 1; i < a->n_dims; i++) dims[1] = product(dims[1], a->dims[i]);
    return nnv_relay_made(t, a->dtype, 2, dims);
}

static const struct nnv_relay_type *infer_expand(struct nnv_relay_typing *t) {
    const struct nnv_relay_type *a = nnv_relay_in(t, 0);
    int64_t dims[NNV_RELAY_RANK], more = nnv_relay_int(t, "num_newaxis", 1);
    size_t at;
    if (a == NULL) return NULL;
    if (!nnv_relay_written(t->call, "axis")) return nnv_relay_wrong(t, "needs the attribute axis");
    if (more < 0 || more > NNV_RELAY_RANK - (int64_t)a->n_dims)
        return nnv_relay_wrong(t, "num_newaxis %" PRId64 " is out of range", more);
    if (!nnv_relay_axis(t, "axis", nnv_relay_int(t, "axis", 0), a->n_dims + 1, &at)) return NULL;
    size_t n = 0;
    for (size_t i = 0; i <= a->n_dims; i++) {
        for (int64_t k = 0; i == at && k < more; k++) dims[n++] = 1;
        if (i < a->n_dims) dims[n++] = a->dims[i];
    }
    return nnv_relay_made(t, a->dtype, n, dims);
}

static const struct nnv_relay_type *infer_squeeze(struct nnv_relay_typing *t) {
    const struct nnv_relay_type *a = nnv_relay_in(t, 0);
    int64_t axes[NNV_RELAY_RANK], dims[NNV_RELAY_RANK];
    size_t n_axes = 0, at, n = 0;
    bool drop[NNV_RELAY_RANK] = {false};
    if (a == NULL) return NULL;
    bool given = nnv_relay_ints(t, "axis", axes, NNV_RELAY_RANK, &n_axes);
    if (t->st != NNV_OK) return NULL;
    for (size_t i = 0; given && i < n_axes; i++) {
        if (!nnv_relay_axis(t, "axis", axes[i], a->n_dims, &at)) return NULL;
        if (a->dims[at] > 1 || a->dims[at] == 0)
            return nnv_relay_wrong(t, "dimension %zu is %" PRId64 ", not 1", at, a->dims[at]);
        drop[at] = true;
    }
    for (size_t i = 0; i < a->n_dims; i++)
        if (given ? !drop[i] : a->dims[i] != 1) dims[n++] = a->dims[i];
    return nnv_relay_made(t, a->dtype, n, dims);
}

static const struct nnv_relay_type *infer_transpose(struct nnv_relay_typing *t) {
    const struct nnv_relay_type *a = nnv_relay_in(t, 0);
    int64_t axes[NNV_RELAY_RANK], dims[NNV_RELAY_RANK];
    size_t n = 0, at;
    bool seen[NNV_RELAY_RANK] = {false};
    if (a == NULL) return NULL;
    bool given = nnv_relay_ints(t, "axes", axes, NNV_RELAY_RANK, &n) && n > 0;
    if (t->st != NNV_OK) return NULL;
    if (given && n != a->n_dims) return nnv_relay_wrong(t, "%zu axes for %zu dimensions", n, a->n_dims);
    for (size_t i = 0; i < a->n_dims; i++) {
        at = a->n_dims - 1 - i;
        if (given && !nnv_relay_axis(t, "axes", axes[i], a->n_dims, &at)) return NULL;
        if (seen[at]) return nnv_relay_wrong(t, "axis %zu is there twice", at);
        seen[at] = true;
        dims[i] = a->dims[at];
    }
    return nnv_relay_made(t, a->dtype, a->n_dims, dims);
}

/* -------------------------------------------------------- joining, splitting */

const struct nnv_relay_type *nnv_relay_rule_concatenate(struct nnv_relay_typing *t) {
    const struct nnv_relay_type *tuple = t->call->args[0]->type;
    int64_t dims[NNV_RELAY_RANK];
    size_t at;
    if (tuple == NULL || tuple->kind != NNV_RELAY_TUPLE_TYPE || tuple->n_fields == 0)
        return nnv_relay_wrong(t, "operand 0 must be a tuple of tensors");
    const struct nnv_relay_type *first = tuple->fields[0];
    for (size_t i = 0; i < tuple->n_fields; i++) {
        const struct nnv_relay_type *f = tuple->fields[i];
        if (f->kind != NNV_RELAY_TENSOR || f->dtype != first->dtype || f->n_dims != first->n_dims)
            return nnv_relay_wrong(t, "field %zu is not a tensor of the type and rank of field 0", i);
    }
    if (!nnv_relay_axis(t, "axis", nnv_relay_int(t, "axis", 0), first->n_dims, &at)) return NULL;
    memcpy(dims, first->dims, first->n_dims * sizeof *dims);
    for (size_t i = 1; i < tuple->n_fields; i++) {
        for (size_t k = 0; k < first->n_dims; k++) {
            int64_t d = tuple->fields[i]->dims[k];
            if (k == at) {
                if (dims[k] < 0 || d < 0 || __builtin_add_overflow(dims[k], d, &dims[k])) dims[k] = NNV_RELAY_ANY;
            } else if (dims[k] < 0) {
                dims[k] = d;
            } else if (d >= 0 && d != dims[k]) {
                return nnv_relay_wrong(t, "dimension %zu of field %zu is %" PRId64 ", of those before %" PRId64, k, i,
                                       d, dims[k]);
            }
        }
    }
    return nnv_relay_made(t, first->dtype, first->n_dims, dims);
}

/* The pieces' extents: from equal sections, or from the places where they begin. */
static bool pieces(struct nnv_relay_typing *t, int64_t extent, int64_t *sizes, size_t most, size_t *n) {
    const struct nnv_relay_value *v = nnv_relay_row_attr(t->row, t->call, "indices_or_sections");
    if (v == NULL || v->kind == NNV_RELAY_NONE) return nnv_relay_wrong(t, "needs the attribute indices_or_sections");
    if (v->kind != NNV_RELAY_LIST) {
        if (v->i < 1 || v->i > (int64_t)most || (extent >= 0 && extent % v->i))
            return nnv_relay_wrong(t, "%" PRId64 " can't be split in %" PRId64 " equal parts", extent, v->i);
        *n = (size_t)v->i;
        for (size_t i = 0; i < *n; i++) sizes[i] = extent < 0 ? NNV_RELAY_ANY : extent / v->i;
        return true;
    }
    if (v->n >= most) return nnv_relay_wrong(t, "more than %zu parts", most);
    int64_t from = 0;
    *n = v->n + 1;
    for (size_t i = 0; i < *n; i++) {
        int64_t to = i < v->n ? v->list[i].i : extent;
        if (to < from && extent >= 0)
            return nnv_relay_wrong(t, "part %zu would end at %" PRId64 ", before it begins (%" PRId64 ")", i, to, from);
        if (extent >= 0 && to > extent) return nnv_relay_wrong(t, "part %zu would end behind %" PRId64, i, extent);
        sizes[i] = to < 0 ? NNV_RELAY_ANY : to - from;
        from = to;
    }
    return true;
}

static const struct nnv_relay_type *infer_split(struct nnv_relay_typing *t) {
    enum { MOST = 1024 };
    const struct nnv_relay_type *a = nnv_relay_in(t, 0), *fields[MOST];
    int64_t sizes[MOST], dims[NNV_RELAY_RANK];
    size_t at, n = 0;
    if (a == NULL || !nnv_relay_axis(t, "axis", nnv_relay_int(t, "axis", 0), a->n_dims, &at)) return NULL;
    if (!pieces(t, a->dims[at], sizes, MOST, &n)) return NULL;
    memcpy(dims, a->dims, a->n_dims * sizeof *dims);
    for (size_t i = 0; i < n; i++) {
        dims[at] = sizes[i];
        if ((fields[i] = nnv_relay_made(t, a->dtype, a->n_dims, dims)) == NULL) return NULL;
    }
    return nnv_relay_tuple_type(t->m->arena, n, fields);
}

/* ------------------------------------------------------------ slices, padding */

static int64_t within(int64_t v, int64_t low, int64_t high) { return v < low ? low : v > high ? high : v; }

/* The number of elements from begin to end in steps. */
static int64_t sliced(int64_t extent, int64_t begin, int64_t end, int64_t step) {
    if (extent < 0) return NNV_RELAY_ANY;
    int64_t low = step < 0 ? -1 : 0, high = step < 0 ? extent - 1 : extent;
    begin = within(begin < 0 ? begin + extent : begin, low, high);
    end = within(end < 0 ? end + extent : end, low, high);
    int64_t span = step < 0 ? begin - end : end - begin, size = step < 0 ? -step : step;
    return span <= 0 ? 0 : (span + size - 1) / size;
}

static const struct nnv_relay_type *infer_slice(struct nnv_relay_typing *t) {
    const struct nnv_relay_type *a = nnv_relay_in(t, 0);
    int64_t begin[NNV_RELAY_RANK], end[NNV_RELAY_RANK], step[NNV_RELAY_RANK], axes[NNV_RELAY_RANK],
        dims[NNV_RELAY_RANK];
    size_t n = 0, n_end = 0, n_step = 0, n_axes = 0, at;
    if (a == NULL) return NULL;
    if (!nnv_relay_ints(t, "begin", begin, NNV_RELAY_RANK, &n) ||
        !nnv_relay_ints(t, "end", end, NNV_RELAY_RANK, &n_end))
        return nnv_relay_wrong(t, "needs the attributes begin and end");
    if (!nnv_relay_ints(t, "strides", step, NNV_RELAY_RANK, &n_step)) n_step = 0;
    bool given = nnv_relay_ints(t, "axes", axes, NNV_RELAY_RANK, &n_axes);
    bool sizes = strcmp(nnv_relay_text(t, "slice_mode", "end"), "size") == 0;
    if (t->st != NNV_OK) return NULL;
    if (n != n_end || n > a->n_dims || (given && n_axes != n))
        return nnv_relay_wrong(t, "begin has %zu values, end %zu, the operand %zu dimensions", n, n_end, a->n_dims);
    memcpy(dims, a->dims, a->n_dims * sizeof *dims);
    for (size_t i = 0; i < n; i++) {
        int64_t by = sizes ? 1 : i < n_step ? step[i] : n_step == 1 ? step[0] : 1;
        at = i;
        if (given && !nnv_relay_axis(t, "axes", axes[i], a->n_dims, &at)) return NULL;
        if (by == 0 || by == INT64_MIN) return nnv_relay_wrong(t, "a stride is %" PRId64, by);
        if (sizes && (end[i] < 0 || __builtin_add_overflow(end[i], begin[i], &end[i]))) end[i] = INT64_MAX;
        if (by > NNV_RELAY_MOST_EXTENT) by = NNV_RELAY_MOST_EXTENT;
        dims[at] = sliced(a->dims[at], begin[i], end[i], by);
    }
    return nnv_relay_made(t, a->dtype, a->n_dims, dims);
}

static const struct nnv_relay_type *infer_pad(struct nnv_relay_typing *t) {
    const struct nnv_relay_type *a = nnv_relay_in(t, 0);
    const struct nnv_relay_value *width = a ? nnv_relay_row_attr(t->row, t->call, "pad_width") : NULL;
    int64_t dims[NNV_RELAY_RANK];
    if (a == NULL) return NULL;
    if (width == NULL || width->kind != NNV_RELAY_LIST || width->n != a->n_dims)
        return nnv_relay_wrong(t, "pad_width must have a pair for each of %zu dimensions", a->n_dims);
    for (size_t i = 0; i < a->n_dims; i++) {
        const struct nnv_relay_value *pair = &width->list[i];
        if (pair->n != 2) return nnv_relay_wrong(t, "pad_width[%zu] is no pair", i);
        int64_t before = pair->list[0].i, after = pair->list[1].i;
        if (before < 0 || after < 0 || before > NNV_RELAY_MOST_EXTENT || after > NNV_RELAY_MOST_EXTENT)
            return nnv_relay_wrong(t, "pad_width[%zu] is out of range", i);
        dims[i] = a->dims[i];
        if (dims[i] >= 0 && __builtin_add_overflow(dims[i], before + after, &dims[i])) dims[i] = INT64_MAX;
    }
    return nnv_relay_made(t, a->dtype, a->n_dims, dims);
}

/* ----------------------------------------------------------------- kernels */

static void run_transpose(struct nnv_interp_op *op) {
    const struct nnv_relay_type *x = op->in[0]->type;
    int64_t axes[NNV_RELAY_RANK], own[NNV_RELAY_RANK], strides[NNV_RELAY_RANK];
    size_t n = 0, at;
    bool given = nnv_relay_ints(&op->t, "axes", axes, NNV_RELAY_RANK, &n) && n > 0;
    nnv_interp_strides(x, own);
    for (size_t i = 0; i < x->n_dims; i++) {
        at = x->n_dims - 1 - i;
        if (given && !nnv_relay_axis(&op->t, "axes", axes[i], x->n_dims, &at)) return;
        strides[i] = own[at];
    }
    nnv_interp_pick(op->in[0]->values, x->n_dims, op->out->type->dims, strides, op->out->values);
}

/* -------------------------------------------------------- joining, splitting */

/* Copies a piece of `extent` places along an axis: from or to the whole, from its place `begin` on. */
static void copy_piece(double *whole, const struct nnv_interp_axis *a, size_t begin, double *piece, size_t extent,
                       bool out_of_whole) {
    size_t run = extent * a->inner;
    for (size_t o = 0; o < a->outer; o++) {
        double *in = whole + (o * a->extent + begin) * a->inner, *at = piece + o * run;
        if (run) memcpy(out_of_whole ? at : in, out_of_whole ? in : at, run * sizeof *at);
    }
}

void nnv_interp_concatenate(struct nnv_interp_op *op) {
    struct nnv_interp_axis a;
    size_t begin = 0;
    if (!nnv_interp_axis_of(op, op->out->type, "axis", 0, &a)) return;
    for (size_t i = 0; i < op->in[0]->n_fields; i++) {
        struct nnv_relay_datum *f = op->in[0]->fields[i];
        size_t extent = (size_t)f->type->dims[a.at];
        copy_piece(op->out->values, &a, begin, f->values, extent, false);
        begin += extent;
    }
}

static void run_stack(struct nnv_interp_op *op) {
    struct nnv_interp_axis a;
    if (!nnv_interp_axis_of(op, op->out->type, "axis", 0, &a)) return;
    for (size_t i = 0; i < op->in[0]->n_fields; i++)
        copy_piece(op->out->values, &a, i, op->in[0]->fields[i]->values, 1, false);
}

static void run_split(struct nnv_interp_op *op) {
    struct nnv_interp_axis a;
    size_t begin = 0;
    if (!nnv_interp_axis_of(op, op->in[0]->type, "axis", 0, &a)) return;
    for (size_t i = 0; i < op->out->n_fields; i++) {
        struct nnv_relay_datum *f = op->out->fields[i];
        size_t extent = (size_t)f->type->dims[a.at];
        copy_piece(op->in[0]->values, &a, begin, f->values, extent, true);
        begin += extent;
    }
}

/* ------------------------------------------------------------ slices, padding */

static void run_slice(struct nnv_interp_op *op) {
    const struct nnv_relay_type *x = op->in[0]->type;
    int64_t begin[NNV_RELAY_RANK], step[NNV_RELAY_RANK] = {1}, axes[NNV_RELAY_RANK], strides[NNV_RELAY_RANK];
    size_t n = 0, n_step = 0, n_axes = 0, at;
    nnv_relay_ints(&op->t, "begin", begin, NNV_RELAY_RANK, &n);
    if (!nnv_relay_ints(&op->t, "strides", step, NNV_RELAY_RANK, &n_step)) n_step = 0;
    bool given = nnv_relay_ints(&op->t, "axes", axes, NNV_RELAY_RANK, &n_axes);
    bool sizes = strcmp(nnv_relay_text(&op->t, "slice_mode", "end"), "size") == 0;
    const double *from = op->in[0]->values;
    if (op->out->n == 0) return;
    nnv_interp_strides(x, strides);
    for (size_t i = 0; i < n; i++) {
        int64_t by = sizes ? 1 : i < n_step ? step[i] : n_step == 1 ? step[0] : 1;
        at = i;
        if (given && !nnv_relay_axis(&op->t, "axes", axes[i], x->n_dims, &at)) return;
        int64_t extent = x->dims[at], low = by < 0 ? -1 : 0, high = by < 0 ? extent - 1 : extent;
        from += strides[at] * within(begin[i] < 0 ? begin[i] + extent : begin[i], low, high);
        strides[at] = by > extent ? 0 : strides[at] * by; /* a step beyond the end is never taken */
    }
    nnv_interp_pick(from, x->n_dims, op->out->type->dims, strides, op->out->values);
}

/* The place in the operand of place i of the result, along a dimension; -1: outside. */
static int64_t source(const char *mode, int64_t i, int64_t before, int64_t extent) {
    i -= before;
    if (i >= 0 && i < extent) return i;
    if (strcmp(mode, "edge") == 0) return i < 0 ? 0 : extent - 1;
    if (strcmp(mode, "constant") == 0) return -1;
    int64_t twice = strcmp(mode, "symmetric") == 0;
    for (;;) { /* mirrored at both ends, with the last element twice if it is symmetric */
        if (i < 0)
            i = -i - twice;
        else if (i >= extent)
            i = 2 * (extent - 1) - i + twice;
        else
            return i;
    }
}

static void pad(struct nnv_interp_op *op, const char *mode, double value) {
    const struct nnv_relay_type *x = op->in[0]->type, *y = op->out->type;
    const struct nnv_relay_value *width = nnv_relay_row_attr(op->t.row, op->t.call, "pad_width");
    int64_t strides[NNV_RELAY_RANK], index[NNV_RELAY_RANK] = {0};
    nnv_interp_strides(x, strides);
    for (size_t d = 0; d < x->n_dims; d++)
        if (strcmp(mode, "constant") != 0 && y->dims[d] != x->dims[d] &&
            x->dims[d] < (strcmp(mode, "reflect") == 0 ? 2 : 1)) {
            nnv_relay_wrong(&op->t, "dimension %zu is too small to be padded by its own elements", d);
            return;
        }
    for (size_t i = 0; i < op->out->n; i++) {
        int64_t offset = 0;
        for (size_t d = 0; d < x->n_dims && offset >= 0; d++) {
            int64_t at = source(mode, index[d], width->list[d].list[0].i, x->dims[d]);
            offset = at < 0 ? -1 : offset + at * strides[d];
        }
        op->out->values[i] = offset < 0 ? value : op->in[0]->values[offset];
        for (size_t d = x->n_dims; d-- > 0 && ++index[d] == y->dims[d];) index[d] = 0;
    }
    nnv_interp_wrap_all(op);
}

static void run_pad(struct nnv_interp_op *op) {
    const char *mode = nnv_relay_text(&op->t, "pad_mode", "constant");
    double value = op->n_in == 2 && op->in[1]->n == 1 ? op->in[1]->values[0] : 0;
    if (strcmp(mode, "constant") == 0 || strcmp(mode, "edge") == 0 || strcmp(mode, "reflect") == 0)
        pad(op, mode, value);
    else
        nnv_relay_wrong(&op->t, "pad_mode must be constant, edge or reflect");
}

static void run_mirror_pad(struct nnv_interp_op *op) {
    const char *mode = nnv_relay_text(&op->t, "mode", "SYMMETRIC");
    if (strcmp(mode, "SYMMETRIC") == 0 || strcmp(mode, "REFLECT") == 0)
        pad(op, *mode == 'S' ? "symmetric" : "reflect", 0);
    else
        nnv_relay_wrong(&op->t, "mode must be SYMMETRIC or REFLECT");
}

/* -------------------------------------------------------------------- rows */

#include "compiler/relay/ops/rows.h"

static const struct nnv_relay_op_row rows[] = {
    {"concatenate", 1, 1, nnv_relay_rule_concatenate, nnv_interp_concatenate, .attrs = {{"axis", K_INT, INT(0)}},
     .relax = "concat(tensors, axis)"},
    {"expand_dims", 1, 1, infer_expand, nnv_interp_view,
     .attrs = {{"axis", K_INT, NULL}, {"num_newaxis", K_INT, INT(1)}}, .relax = "(x, axis)"},
    {"nn.batch_flatten", 1, 1, infer_flatten, .run = nnv_interp_view},
    {"nn.mirror_pad", 1, 1, infer_pad, run_mirror_pad,
     .attrs = {{"mode", K_TEXT, TEXT("SYMMETRIC")}, {"pad_width", K_PAIRS, NULL}}},
    {"nn.pad", 1, 2, infer_pad, run_pad,
     .attrs = {{"pad_width", K_PAIRS, NULL}, {"pad_mode", K_TEXT, TEXT("constant")}},
     .relax = "(data, pad_width, pad_mode, pad_value)"},
    {"reshape", 1, 1, infer_reshape, nnv_interp_view,
     .attrs = {{"newshape", K_INTS, NULL}, {"allowzero", K_TRUTH, TRUTH(0)}}, .relax = "(x, shape:newshape)"},
    {"split", 1, 1, infer_split, run_split, .attrs = {{"indices_or_sections", K_INTS, NULL}, {"axis", K_INT, INT(0)}},
     .relax = "(x, indices_or_sections, axis)"},
    {"squeeze", 1, 1, infer_squeeze, nnv_interp_view, .attrs = {{"axis", K_INTS, NULL}}, .relax = "(x, axis)"},
    {"stack", 1, 1, infer_stack, run_stack, .attrs = {{"axis", K_INT, INT(0)}}, .relax = "(tensors, axis)"},
    {"strided_slice", 1, 1, infer_slice, run_slice,
     .attrs = {{"begin", K_INTS, NULL},
               {"end", K_INTS, NULL},
               {"strides", K_INTS, INT(1)},
               {"slice_mode", K_TEXT, TEXT("end")},
               {"axes", K_INTS, NULL}},
     .relax = "(x, axes, begin, end, strides, -assume_inbound)"},
    {"transpose", 1, 1, infer_transpose, run_transpose, .attrs = {{"axes", K_INTS, NULL}},
     .relax = "permute_dims(x, axes)"},
};
const struct nnv_relay_op_rows nnv_relay_move = {rows, sizeof rows / sizeof *rows};
