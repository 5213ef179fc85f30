/* SPDX-License-Identifier: Apache-2.0 */
/* Rules of types: operators that pick, repeat, order and stack elements. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "compiler/relay/ops/ops.h"

enum { MOST_EXTENT = 1 << 30 };

/* A positive integer attribute that must be written. */
static bool count(struct nnv_relay_typing *t, const char *key, int64_t *n) {
    *n = nnv_relay_int(t, key, 0);
    if (*n >= 1 && *n <= MOST_EXTENT) return true;
    return nnv_relay_wrong(t, "needs the attribute %s, from 1 to 2^30", key);
}

static int64_t times(int64_t a, int64_t b) {
    int64_t p;
    if (a < 0 || b < 0) return NNV_RELAY_ANY;
    return __builtin_mul_overflow(a, b, &p) ? INT64_MAX : p;
}

static bool whole(struct nnv_relay_typing *t, const struct nnv_relay_type *a, size_t i) {
    if (!nnv_relay_dtype_is_float(a->dtype) && a->dtype != NNV_RELAY_BOOL) return true;
    return nnv_relay_wrong(t, "operand %zu must be of integers", i);
}

/* ---------------------------------------------------------------- repeating */

const struct nnv_relay_type *nnv_relay_rule_tile(struct nnv_relay_typing *t) {
    const struct nnv_relay_type *a = nnv_relay_in(t, 0);
    int64_t reps[NNV_RELAY_RANK], dims[NNV_RELAY_RANK];
    size_t n = 0;
    if (a == NULL) return NULL;
    if (!nnv_relay_ints(t, "reps", reps, NNV_RELAY_RANK, &n)) return nnv_relay_wrong(t, "needs the attribute reps");
    size_t rank = n > a->n_dims ? n : a->n_dims;
    for (size_t i = 1; i <= rank; i++) {
        int64_t by = i <= n ? reps[n - i] : 1;
        if (by < 1 || by > MOST_EXTENT) return nnv_relay_wrong(t, "reps has %" PRId64, by);
        dims[rank - i] = times(i <= a->n_dims ? a->dims[a->n_dims - i] : 1, by);
    }
    return nnv_relay_made(t, a->dtype, rank, dims);
}

const struct nnv_relay_type *nnv_relay_rule_repeat(struct nnv_relay_typing *t) {
    const struct nnv_relay_type *a = nnv_relay_in(t, 0);
    int64_t dims[NNV_RELAY_RANK], by;
    size_t at;
    if (a == NULL || !count(t, "repeats", &by)) return NULL;
    if (!nnv_relay_written(t->call, "axis")) return nnv_relay_wrong(t, "needs the attribute axis");
    if (!nnv_relay_axis(t, "axis", nnv_relay_int(t, "axis", 0), a->n_dims, &at)) return NULL;
    memcpy(dims, a->dims, a->n_dims * sizeof *dims);
    dims[at] = times(dims[at], by);
    return nnv_relay_made(t, a->dtype, a->n_dims, dims);
}

const struct nnv_relay_type *nnv_relay_rule_reverse(struct nnv_relay_typing *t) {
    const struct nnv_relay_type *a = nnv_relay_in(t, 0);
    size_t at;
    if (a == NULL) return NULL;
    if (!nnv_relay_written(t->call, "axis")) return nnv_relay_wrong(t, "needs the attribute axis");
    return nnv_relay_axis(t, "axis", nnv_relay_int(t, "axis", 0), a->n_dims, &at) ? a : NULL;
}

const struct nnv_relay_type *nnv_relay_rule_stack(struct nnv_relay_typing *t) {
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

const struct nnv_relay_type *nnv_relay_rule_broadcast_to(struct nnv_relay_typing *t) {
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
const struct nnv_relay_type *nnv_relay_rule_like(struct nnv_relay_typing *t) {
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

const struct nnv_relay_type *nnv_relay_rule_slice_like(struct nnv_relay_typing *t) {
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

const struct nnv_relay_type *nnv_relay_rule_take(struct nnv_relay_typing *t) {
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

const struct nnv_relay_type *nnv_relay_rule_gather(struct nnv_relay_typing *t) {
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

const struct nnv_relay_type *nnv_relay_rule_gather_nd(struct nnv_relay_typing *t) {
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
const struct nnv_relay_type *nnv_relay_rule_one_hot(struct nnv_relay_typing *t) {
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

/* ----------------------------------------------------------------- ordering */

static bool along(struct nnv_relay_typing *t, const struct nnv_relay_type *a, size_t *at) {
    return nnv_relay_axis(t, "axis", nnv_relay_int(t, "axis", -1), a->n_dims, at);
}

const struct nnv_relay_type *nnv_relay_rule_topk(struct nnv_relay_typing *t) {
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
const struct nnv_relay_type *nnv_relay_rule_sort(struct nnv_relay_typing *t) {
    const struct nnv_relay_type *a = nnv_relay_in(t, 0);
    size_t at;
    enum nnv_relay_dtype dtype;
    if (a == NULL || !along(t, a, &at) || !nnv_relay_dtype_attr(t, "dtype", a->dtype, &dtype)) return NULL;
    return nnv_relay_made(t, dtype, a->n_dims, a->dims);
}

const struct nnv_relay_type *nnv_relay_rule_cumulate(struct nnv_relay_typing *t) {
    const struct nnv_relay_type *a = nnv_relay_in(t, 0);
    const struct nnv_relay_value *axis = a ? nnv_relay_attr(t->call, "axis") : NULL;
    int64_t all = 1;
    size_t at;
    enum nnv_relay_dtype dtype;
    if (a == NULL || !nnv_relay_dtype_attr(t, "dtype", a->dtype, &dtype)) return NULL;
    if (axis && axis->kind != NNV_RELAY_NONE)
        return along(t, a, &at) ? nnv_relay_made(t, dtype, a->n_dims, a->dims) : NULL;
    for (size_t i = 0; i < a->n_dims; i++) all = times(all, a->dims[i]);
    return nnv_relay_made(t, dtype, 1, &all);
}

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
const struct nnv_relay_type *nnv_relay_rule_arange(struct nnv_relay_typing *t) {
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
