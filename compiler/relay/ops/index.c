/* SPDX-License-Identifier: Apache-2.0 */
/* Operators that choose and repeat elements: types of results, kernels, rows. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "compiler/relay/ops/kernel.h"

/* ------------------------------------------------------------------- types */

/* A positive integer attribute that must be written. */
static bool count(struct nnv_relay_typing *t, const char *key, int64_t *n) {
    *n = nnv_relay_int(t, key, 0);
    if (*n >= 1 && *n <= NNV_RELAY_MOST_EXTENT) return true;
    return nnv_relay_wrong(t, "needs the attribute %s, from 1 to 2^30", key);
}

static bool whole(struct nnv_relay_typing *t, const struct nnv_relay_type *a, size_t i) {
    if (!nnv_relay_dtype_is_float(a->dtype) && a->dtype != NNV_RELAY_BOOL) return true;
    return nnv_relay_wrong(t, "operand %zu must be of integers", i);
}

/* ---------------------------------------------------------------- repeating */

static const struct nnv_relay_type *infer_tile(struct nnv_relay_typing *t) {
    const struct nnv_relay_type *a = nnv_relay_in(t, 0);
    int64_t reps[NNV_RELAY_RANK], dims[NNV_RELAY_RANK];
    size_t n = 0;
    if (a == NULL) return NULL;
    if (!nnv_relay_ints(t, "reps", reps, NNV_RELAY_RANK, &n)) return nnv_relay_wrong(t, "needs the attribute reps");
    size_t rank = n > a->n_dims ? n : a->n_dims;
    for (size_t i = 1; i <= rank; i++) {
        int64_t by = i <= n ? reps[n - i] : 1;
        if (by < 1 || by > NNV_RELAY_MOST_EXTENT) return nnv_relay_wrong(t, "reps has %" PRId64, by);
        dims[rank - i] = nnv_relay_times(i <= a->n_dims ? a->dims[a->n_dims - i] : 1, by);
    }
    return nnv_relay_made(t, a->dtype, rank, dims);
}

static const struct nnv_relay_type *infer_repeat(struct nnv_relay_typing *t) {
    const struct nnv_relay_type *a = nnv_relay_in(t, 0);
    int64_t dims[NNV_RELAY_RANK], by;
    size_t at;
    if (a == NULL || !count(t, "repeats", &by)) return NULL;
    if (!nnv_relay_written(t->call, "axis")) return nnv_relay_wrong(t, "needs the attribute axis");
    if (!nnv_relay_axis(t, "axis", nnv_relay_int(t, "axis", 0), a->n_dims, &at)) return NULL;
    memcpy(dims, a->dims, a->n_dims * sizeof *dims);
    dims[at] = nnv_relay_times(dims[at], by);
    return nnv_relay_made(t, a->dtype, a->n_dims, dims);
}

static const struct nnv_relay_type *infer_reverse(struct nnv_relay_typing *t) {
    const struct nnv_relay_type *a = nnv_relay_in(t, 0);
    size_t at;
    if (a == NULL) return NULL;
    if (!nnv_relay_written(t->call, "axis")) return nnv_relay_wrong(t, "needs the attribute axis");
    return nnv_relay_axis(t, "axis", nnv_relay_int(t, "axis", 0), a->n_dims, &at) ? a : NULL;
}

static const struct nnv_relay_type *infer_broadcast_to(struct nnv_relay_typing *t) {
    const struct nnv_relay_type *a = nnv_relay_in(t, 0);
    int64_t shape[NNV_RELAY_RANK], dims[NNV_RELAY_RANK];
    size_t n = 0, n_dims;
    if (a == NULL) return NULL;
    if (!nnv_relay_ints(t, "shape", shape, NNV_RELAY_RANK, &n)) return nnv_relay_wrong(t, "needs the attribute shape");
    struct nnv_relay_type to = {.kind = NNV_RELAY_TENSOR, .dtype = a->dtype, .n_dims = n, .dims = shape};
    for (size_t i = 0; i < n; i++)
        if (shape[i] < 0) return nnv_relay_wrong(t, "shape[%zu] is negative", i);
    if (!nnv_relay_broadcast(t, a, &to, &n_dims, dims)) return NULL;
    if (n_dims != n || memcmp(dims, shape, n * sizeof *dims) != 0)
        return nnv_relay_wrong(t, "operand 0 can't be stretched to the shape");
    return nnv_relay_made(t, a->dtype, n, dims);
}

/* broadcast_to_like, reshape_like: the elements of operand 0 in the shape of operand 1. */
static const struct nnv_relay_type *infer_like(struct nnv_relay_typing *t) {
    const struct nnv_relay_type *a = nnv_relay_in(t, 0), *b = a ? nnv_relay_in(t, 1) : NULL;
    int64_t dims[NNV_RELAY_RANK];
    size_t n, n_a, n_b, bytes;
    if (b == NULL) return NULL;
    if (strcmp(t->call->callee->name, "reshape_like") == 0) {
        if (nnv_relay_int(t, "lhs_begin", 0) || nnv_relay_int(t, "rhs_begin", 0) || nnv_relay_int(t, "lhs_end", 0) ||
            nnv_relay_int(t, "rhs_end", 0))
            return nnv_relay_wrong(t, "only whole shapes are taken over");
        if (nnv_relay_type_elems(a, &n_a, &bytes) && nnv_relay_type_elems(b, &n_b, &bytes) && n_a != n_b)
            return nnv_relay_wrong(t, "%zu elements do not fit in a shape of %zu", n_a, n_b);
    } else if (!nnv_relay_broadcast(t, a, b, &n, dims)) {
        return NULL;
    } else if (n != b->n_dims || memcmp(dims, b->dims, n * sizeof *dims) != 0) {
        return nnv_relay_wrong(t, "operand 0 can't be stretched to operand 1");
    }
    return nnv_relay_made(t, a->dtype, b->n_dims, b->dims);
}

static const struct nnv_relay_type *infer_slice_like(struct nnv_relay_typing *t) {
    const struct nnv_relay_type *a = nnv_relay_in(t, 0), *b = a ? nnv_relay_in(t, 1) : NULL;
    int64_t dims[NNV_RELAY_RANK], axes[NNV_RELAY_RANK];
    size_t n = 0, at;
    if (b == NULL) return NULL;
    bool given = nnv_relay_ints(t, "axes", axes, NNV_RELAY_RANK, &n) && n > 0;
    if (t->st != NNV_OK) return NULL;
    if (!given) n = b->n_dims;
    memcpy(dims, a->dims, a->n_dims * sizeof *dims);
    for (size_t i = 0; i < n; i++) {
        if (!nnv_relay_axis(t, "axes", given ? axes[i] : (int64_t)i, a->n_dims, &at)) return NULL;
        if (at >= b->n_dims) return nnv_relay_wrong(t, "operand 1 has no dimension %zu", at);
        if (a->dims[at] >= 0 && b->dims[at] > a->dims[at])
            return nnv_relay_wrong(t, "dimension %zu is %" PRId64 ", less than %" PRId64, at, a->dims[at], b->dims[at]);
        dims[at] = b->dims[at];
    }
    return nnv_relay_made(t, a->dtype, a->n_dims, dims);
}

/* ------------------------------------------------------------------ picking */

static const struct nnv_relay_type *infer_take(struct nnv_relay_typing *t) {
    const struct nnv_relay_type *a = nnv_relay_in(t, 0), *i = a ? nnv_relay_in(t, 1) : NULL;
    int64_t dims[2 * NNV_RELAY_RANK];
    size_t at = 0, n = 0;
    if (i == NULL || !whole(t, i, 1)) return NULL;
    const struct nnv_relay_value *axis = nnv_relay_written(t->call, "axis");
    bool flat = axis == NULL || axis->kind == NNV_RELAY_NONE;
    if (nnv_relay_int(t, "batch_dims", 0)) return nnv_relay_wrong(t, "batch_dims must be 0");
    if (!flat && !nnv_relay_axis(t, "axis", axis->i, a->n_dims, &at)) return NULL;
    for (size_t k = 0; !flat && k < at; k++) dims[n++] = a->dims[k];
    for (size_t k = 0; k < i->n_dims; k++) dims[n++] = i->dims[k];
    for (size_t k = at + 1; !flat && k < a->n_dims; k++) dims[n++] = a->dims[k];
    if (n > NNV_RELAY_RANK) return nnv_relay_wrong(t, "the result has too many dimensions");
    return nnv_relay_made(t, a->dtype, n, dims);
}

static const struct nnv_relay_type *infer_gather(struct nnv_relay_typing *t) {
    const struct nnv_relay_type *a = nnv_relay_in(t, 0), *i = a ? nnv_relay_in(t, 1) : NULL;
    size_t at;
    if (i == NULL || !whole(t, i, 1)) return NULL;
    if (i->n_dims != a->n_dims) return nnv_relay_wrong(t, "the operands have different numbers of dimensions");
    if (!nnv_relay_axis(t, "axis", nnv_relay_int(t, "axis", 0), a->n_dims, &at)) return NULL;
    for (size_t k = 0; k < a->n_dims; k++)
        if (k != at && a->dims[k] >= 0 && i->dims[k] >= 0 && i->dims[k] != a->dims[k])
            return nnv_relay_wrong(t, "dimension %zu is %" PRId64 " of the data, %" PRId64 " of the indices", k,
                                   a->dims[k], i->dims[k]);
    return nnv_relay_made(t, a->dtype, i->n_dims, i->dims);
}

static const struct nnv_relay_type *infer_gather_nd(struct nnv_relay_typing *t) {
    const struct nnv_relay_type *a = nnv_relay_in(t, 0), *i = a ? nnv_relay_in(t, 1) : NULL;
    int64_t dims[2 * NNV_RELAY_RANK];
    size_t n = 0;
    if (i == NULL || !whole(t, i, 1)) return NULL;
    if (nnv_relay_int(t, "batch_dims", 0)) return nnv_relay_wrong(t, "batch_dims must be 0");
    if (i->n_dims == 0 || i->dims[0] < 0 || i->dims[0] > (int64_t)a->n_dims)
        return nnv_relay_wrong(t, "the first extent of the indices must be at most %zu", a->n_dims);
    for (size_t k = 1; k < i->n_dims; k++) dims[n++] = i->dims[k];
    for (size_t k = (size_t)i->dims[0]; k < a->n_dims; k++) dims[n++] = a->dims[k];
    if (n > NNV_RELAY_RANK) return nnv_relay_wrong(t, "the result has too many dimensions");
    return nnv_relay_made(t, a->dtype, n, dims);
}

/* Operands: indices, the value at them and the one elsewhere. */
static const struct nnv_relay_type *infer_one_hot(struct nnv_relay_typing *t) {
    const struct nnv_relay_type *a = nnv_relay_in(t, 0);
    int64_t dims[NNV_RELAY_RANK], depth;
    size_t at, n = 0;
    enum nnv_relay_dtype dtype;
    if (a == NULL || !whole(t, a, 0) || !count(t, "depth", &depth)) return NULL;
    for (size_t i = 1; i <= 2; i++) {
        const struct nnv_relay_type *v = nnv_relay_in(t, i);
        if (v == NULL) return NULL;
        if (v->n_dims) return nnv_relay_wrong(t, "operand %zu must be one value", i);
    }
    if (a->n_dims == NNV_RELAY_RANK) return nnv_relay_wrong(t, "the result has too many dimensions");
    if (!nnv_relay_axis(t, "axis", nnv_relay_int(t, "axis", -1), a->n_dims + 1, &at)) return NULL;
    for (size_t i = 0; i <= a->n_dims; i++) {
        if (i == at) dims[n++] = depth;
        if (i < a->n_dims) dims[n++] = a->dims[i];
    }
    return nnv_relay_dtype_attr(t, "dtype", NNV_RELAY_FLOAT32, &dtype) ? nnv_relay_made(t, dtype, n, dims) : NULL;
}

/* ----------------------------------------------------------------- counting */

/* The value of a constant of one number; false if it is none. */
static bool scalar(const struct nnv_relay_expr *e, double *v) {
    union {
        float f;
        double d;
        int32_t i;
        int64_t l;
    } u;
    const struct nnv_relay_tensor *c = e->kind == NNV_RELAY_CONSTANT ? e->tensor : NULL;
    if (c == NULL || c->data == NULL || c->bytes > sizeof u) return false;
    memcpy(&u, c->data, c->bytes);
    bool is_float = c->type->dtype == NNV_RELAY_FLOAT32 || c->type->dtype == NNV_RELAY_FLOAT64;
    if (c->type->dtype != NNV_RELAY_INT32 && c->type->dtype != NNV_RELAY_INT64 && !is_float) return false;
    *v = is_float ? (c->bytes == 4 ? (double)u.f : u.d) : (c->bytes == 4 ? u.i : (double)u.l);
    return true;
}

/* The length is known if start, stop and step are constants. */
static const struct nnv_relay_type *infer_arange(struct nnv_relay_typing *t) {
    int64_t n = NNV_RELAY_ANY;
    enum nnv_relay_dtype dtype;
    for (size_t i = 0; i < 3; i++) {
        const struct nnv_relay_type *a = nnv_relay_in(t, i);
        if (a == NULL) return NULL;
        if (a->n_dims || a->dtype != t->call->args[0]->type->dtype)
            return nnv_relay_wrong(t, "operand %zu must be one value of the type of operand 0", i);
    }
    if (!nnv_relay_dtype_attr(t, "dtype", t->call->args[0]->type->dtype, &dtype)) return NULL;
    double v[3];
    for (size_t i = 0; i < 3; i++)
        if (!scalar(t->call->args[i], &v[i])) return nnv_relay_made(t, dtype, 1, &n);
    double length = ceil((v[1] - v[0]) / v[2]);
    if (!(fabs(v[2]) > 0) || !(length <= 1 << 26)) return nnv_relay_wrong(t, "the step is 0, or the range is too long");
    n = length > 0 ? (int64_t)length : 0;
    return nnv_relay_made(t, dtype, 1, &n);
}

/* ----------------------------------------------------------------- kernels */

static void run_tile(struct nnv_interp_op *op) {
    const struct nnv_relay_type *x = op->in[0]->type, *y = op->out->type;
    int64_t own[NNV_RELAY_RANK], dims[2 * NNV_RELAY_RANK], strides[2 * NNV_RELAY_RANK];
    nnv_interp_strides(x, own);
    for (size_t i = 0; i < y->n_dims; i++) { /* each dimension is a number of repeats of the old one */
        bool has = i + x->n_dims >= y->n_dims;
        size_t k = has ? i + x->n_dims - y->n_dims : 0;
        dims[2 * i + 1] = has ? x->dims[k] : 1;
        dims[2 * i] = dims[2 * i + 1] ? y->dims[i] / dims[2 * i + 1] : 0;
        strides[2 * i] = 0;
        strides[2 * i + 1] = has ? own[k] : 0;
    }
    nnv_interp_pick(op->in[0]->values, 2 * y->n_dims, dims, strides, op->out->values);
}

static void run_repeat(struct nnv_interp_op *op) {
    struct nnv_interp_axis a;
    if (!nnv_interp_axis_of(op, op->in[0]->type, "axis", 0, &a)) return;
    const int64_t by = nnv_relay_int(&op->t, "repeats", 1), inner = (int64_t)a.inner;
    const int64_t dims[] = {(int64_t)(a.outer * a.extent), by, inner}, strides[] = {inner, 0, 1};
    nnv_interp_pick(op->in[0]->values, 3, dims, strides, op->out->values);
}

static void run_reverse(struct nnv_interp_op *op) {
    struct nnv_interp_axis a;
    if (op->out->n == 0 || !nnv_interp_axis_of(op, op->in[0]->type, "axis", 0, &a)) return;
    int64_t extent = (int64_t)a.extent, inner = (int64_t)a.inner;
    const int64_t dims[] = {(int64_t)a.outer, extent, inner}, strides[] = {extent * inner, -inner, 1};
    nnv_interp_pick(op->in[0]->values + (extent - 1) * inner, 3, dims, strides, op->out->values);
}

/* broadcast_to, broadcast_to_like */
static void run_broadcast(struct nnv_interp_op *op) {
    const double *values = nnv_interp_stretched(op, 0);
    if (values && op->out->n) memcpy(op->out->values, values, op->out->n * sizeof *values);
}

static void run_slice_like(struct nnv_interp_op *op) {
    int64_t strides[NNV_RELAY_RANK];
    nnv_interp_strides(op->in[0]->type, strides);
    nnv_interp_pick(op->in[0]->values, op->out->type->n_dims, op->out->type->dims, strides, op->out->values);
}

/* The length may be known only here. */
static void run_arange(struct nnv_interp_op *op) {
    double start = op->in[0]->values[0], stop = op->in[1]->values[0], step = op->in[2]->values[0];
    double length = ceil((stop - start) / step);
    if (!(fabs(step) > 0) || !(length <= 1 << 26)) {
        nnv_relay_wrong(&op->t, "the step is 0, or the range is too long");
        return;
    }
    int64_t n = length > 0 ? (int64_t)length : 0;
    const struct nnv_relay_type *type = nnv_relay_tensor_type(op->arena, op->out->type->dtype, 1, &n);
    struct nnv_relay_datum *out = type ? nnv_interp_datum(type, op->arena) : NULL;
    if (out == NULL) {
        op->t.st = nnv_fail(op->t.err, NNV_NO_MEMORY, "arange: out of memory");
        return;
    }
    for (int64_t i = 0; i < n; i++) out->values[i] = start + (double)i * step;
    *op->out = *out;
    nnv_interp_wrap_all(op);
}

/* ------------------------------------------------------------------ picking */

/* Place `index` of n: false and an error if it is outside and the mode does not say what then. */
static bool place_of(struct nnv_interp_op *op, double index, size_t n, const char *mode, size_t *at) {
    double extent = (double)n;
    if (n && strcmp(mode, "clip") == 0) index = index < 0 ? 0 : index >= extent ? extent - 1 : index;
    if (n && strcmp(mode, "wrap") == 0) index -= floor(index / extent) * extent;
    if (strcmp(mode, "negative") == 0 && index < 0) index += extent;
    if (!(index >= 0 && index < extent))
        return nnv_relay_wrong(&op->t, "index %g of %zu elements is out of range", index, n);
    *at = (size_t)index;
    return true;
}

static void run_take(struct nnv_interp_op *op) {
    const struct nnv_relay_value *axis = nnv_relay_written(op->t.call, "axis");
    const char *mode = nnv_relay_text(&op->t, "mode", "clip");
    const struct nnv_relay_datum *x = op->in[0], *index = op->in[1];
    struct nnv_interp_axis a = {.outer = 1, .extent = x->n, .inner = 1};
    size_t at;
    if (axis && axis->kind != NNV_RELAY_NONE && !nnv_interp_axis_of(op, x->type, "axis", 0, &a)) return;
    double *to = op->out->values;
    for (size_t o = 0; o < a.outer && op->out->n; o++) {
        for (size_t i = 0; i < index->n; i++, to += a.inner) {
            if (!place_of(op, index->values[i], a.extent, mode, &at)) return;
            memcpy(to, x->values + (o * a.extent + at) * a.inner, a.inner * sizeof *to);
        }
    }
}

static void run_gather(struct nnv_interp_op *op) {
    const struct nnv_relay_datum *x = op->in[0], *index = op->in[1];
    const char *mode = nnv_relay_int(&op->t, "support_negative_indices", 0) ? "negative" : "fast";
    struct nnv_interp_axis a, b;
    size_t at;
    if (!nnv_interp_axis_of(op, x->type, "axis", 0, &a) || !nnv_interp_axis_of(op, index->type, "axis", 0, &b)) return;
    for (size_t i = 0; i < index->n; i++) {
        if (!place_of(op, index->values[i], a.extent, mode, &at)) return;
        size_t outer = i / (b.extent * b.inner);
        op->out->values[i] = x->values[(outer * a.extent + at) * a.inner + i % b.inner];
    }
}

/* The indices' first dimension are the coordinates of one place. */
static void run_gather_nd(struct nnv_interp_op *op) {
    const struct nnv_relay_datum *x = op->in[0], *index = op->in[1];
    int64_t strides[NNV_RELAY_RANK];
    size_t depth = (size_t)index->type->dims[0], places = depth ? index->n / depth : 1, run = 1, at;
    nnv_interp_strides(x->type, strides);
    for (size_t i = depth; i < x->type->n_dims; i++) run *= (size_t)x->type->dims[i];
    for (size_t p = 0; p < places && op->out->n; p++) {
        size_t from = 0;
        for (size_t i = 0; i < depth; i++) {
            if (!place_of(op, index->values[i * places + p], (size_t)x->type->dims[i], "fast", &at)) return;
            from += at * (size_t)strides[i];
        }
        memcpy(op->out->values + p * run, x->values + from, run * sizeof(double));
    }
}

/* An index out of range sets nothing. */
static void run_one_hot(struct nnv_interp_op *op) {
    struct nnv_interp_axis a;
    if (!nnv_interp_axis_of(op, op->out->type, "axis", -1, &a)) return;
    for (size_t i = 0; i < op->out->n; i++) {
        size_t from = i / (a.extent * a.inner) * a.inner + i % a.inner;
        bool hot = op->in[0]->values[from] == (double)(i / a.inner % a.extent);
        op->out->values[i] = op->in[hot ? 1 : 2]->values[0];
    }
    nnv_interp_wrap_all(op);
}

/* -------------------------------------------------------------------- rows */

#include "compiler/relay/ops/rows.h"

static const struct nnv_relay_op_row rows[] = {
    {"arange", 3, 3, infer_arange, run_arange,
     .attrs =
         {{"start", K_ANY, NULL}, {"stop", K_ANY, NULL}, {"step", K_ANY, NULL}, {"dtype", K_TEXT, TEXT("float32")}}},
    {"broadcast_to", 1, 1, infer_broadcast_to, run_broadcast,
     .attrs = {{"shape", K_INTS, NULL}, {"dtype", K_TEXT, TEXT("")}}, .relax = "(x, shape)"},
    {"broadcast_to_like", 2, 2, infer_like, .run = run_broadcast},
    {"gather", 2, 2, infer_gather, run_gather,
     .attrs = {{"axis", K_INT, INT(0)}, {"support_negative_indices", K_TRUTH, TRUTH(0)}},
     .relax = "gather_elements(data, indices, axis)"},
    {"gather_nd", 2, 2, infer_gather_nd, run_gather_nd,
     .attrs = {{"batch_dims", K_INT, INT(0)}, {"index_rank", K_INT, NULL}}, .relax = "(data, indices, batch_dims)"},
    {"one_hot", 3, 3, infer_one_hot, run_one_hot,
     .attrs = {{"depth", K_INT, NULL}, {"axis", K_INT, INT(-1)}, {"dtype", K_TEXT, TEXT("float32")}},
     .relax = "(indices, on_value, off_value, depth, axis)"},
    {"repeat", 1, 1, infer_repeat, run_repeat, .attrs = {{"repeats", K_INT, NULL}, {"axis", K_INT, NULL}},
     .relax = "(data, repeats, axis)"},
    {"reshape_like", 2, 2, infer_like, nnv_interp_view,
     .attrs = {{"lhs_begin", K_INT, INT(0)},
               {"lhs_end", K_INT, NULL},
               {"rhs_begin", K_INT, INT(0)},
               {"rhs_end", K_INT, NULL}}},
    {"reverse", 1, 1, infer_reverse, run_reverse, .attrs = {{"axis", K_INT, NULL}}, .relax = "flip(data, axis)"},
    {"slice_like", 2, 2, infer_slice_like, run_slice_like, .attrs = {{"axes", K_INTS, NULL}}},
    {"take", 2, 2, infer_take, run_take,
     .attrs = {{"batch_dims", K_INT, INT(0)}, {"axis", K_INT, NULL}, {"mode", K_TEXT, TEXT("clip")}},
     .relax = "(x, indices, axis, mode)"},
    {"tile", 1, 1, infer_tile, run_tile, .attrs = {{"reps", K_INTS, NULL}}, .relax = "(data, repeats:reps)"},
};
const struct nnv_relay_op_rows nnv_relay_index = {rows, sizeof rows / sizeof *rows};
