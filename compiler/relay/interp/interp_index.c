/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels: operators that pick, repeat and order elements. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "compiler/relay/interp/interp_kernel.h"

/* ---------------------------------------------------------------- repeating */

void nnv_interp_tile(struct nnv_interp_op *op) {
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

void nnv_interp_repeat(struct nnv_interp_op *op) {
    struct nnv_interp_axis a;
    if (!nnv_interp_axis_of(op, op->in[0]->type, "axis", 0, &a)) return;
    const int64_t by = nnv_relay_int(&op->t, "repeats", 1), inner = (int64_t)a.inner;
    const int64_t dims[] = {(int64_t)(a.outer * a.extent), by, inner}, strides[] = {inner, 0, 1};
    nnv_interp_pick(op->in[0]->values, 3, dims, strides, op->out->values);
}

void nnv_interp_reverse(struct nnv_interp_op *op) {
    struct nnv_interp_axis a;
    if (op->out->n == 0 || !nnv_interp_axis_of(op, op->in[0]->type, "axis", 0, &a)) return;
    int64_t extent = (int64_t)a.extent, inner = (int64_t)a.inner;
    const int64_t dims[] = {(int64_t)a.outer, extent, inner}, strides[] = {extent * inner, -inner, 1};
    nnv_interp_pick(op->in[0]->values + (extent - 1) * inner, 3, dims, strides, op->out->values);
}

/* broadcast_to, broadcast_to_like */
void nnv_interp_broadcast(struct nnv_interp_op *op) {
    const double *values = nnv_interp_stretched(op, 0);
    if (values && op->out->n) memcpy(op->out->values, values, op->out->n * sizeof *values);
}

void nnv_interp_slice_like(struct nnv_interp_op *op) {
    int64_t strides[NNV_RELAY_RANK];
    nnv_interp_strides(op->in[0]->type, strides);
    nnv_interp_pick(op->in[0]->values, op->out->type->n_dims, op->out->type->dims, strides, op->out->values);
}

/* The length may be known only here. */
void nnv_interp_arange(struct nnv_interp_op *op) {
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

void nnv_interp_take(struct nnv_interp_op *op) {
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

void nnv_interp_gather(struct nnv_interp_op *op) {
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
void nnv_interp_gather_nd(struct nnv_interp_op *op) {
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
void nnv_interp_one_hot(struct nnv_interp_op *op) {
    struct nnv_interp_axis a;
    if (!nnv_interp_axis_of(op, op->out->type, "axis", -1, &a)) return;
    for (size_t i = 0; i < op->out->n; i++) {
        size_t from = i / (a.extent * a.inner) * a.inner + i % a.inner;
        bool hot = op->in[0]->values[from] == (double)(i / a.inner % a.extent);
        op->out->values[i] = op->in[hot ? 1 : 2]->values[0];
    }
    nnv_interp_wrap_all(op);
}

/* ----------------------------------------------------------------- ordering */

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

void nnv_interp_topk(struct nnv_interp_op *op) {
    const char *which = nnv_relay_text(&op->t, "ret_type", "both");
    bool up = nnv_relay_int(&op->t, "is_ascend", 0), both = strcmp(which, "both") == 0;
    const struct nnv_relay_datum *out = op->out, *values = both ? out->fields[0] : out, *places = values;
    if (both) places = out->fields[1];
    rank(op, extent_of(op, values->type), up, strcmp(which, "indices") != 0 ? values->values : NULL,
         strcmp(which, "values") != 0 ? places->values : NULL);
}

void nnv_interp_sort(struct nnv_interp_op *op) {
    rank(op, extent_of(op, op->out->type), nnv_relay_int(&op->t, "is_ascend", 1), op->out->values, NULL);
}

void nnv_interp_argsort(struct nnv_interp_op *op) {
    rank(op, extent_of(op, op->out->type), nnv_relay_int(&op->t, "is_ascend", 1), NULL, op->out->values);
}

/* Without an axis over all elements. */
void nnv_interp_cumulate(struct nnv_interp_op *op) {
    const struct nnv_relay_value *axis = nnv_relay_attr(op->t.call, "axis");
    bool exclusive = nnv_relay_int(&op->t, "exclusive", 0);
    enum nnv_relay_dtype dtype = op->out->type->dtype;
    struct nnv_interp_axis a = {.outer = 1, .extent = op->in[0]->n, .inner = 1};
    if (axis && axis->kind != NNV_RELAY_NONE && !nnv_interp_axis_of(op, op->in[0]->type, "axis", 0, &a)) return;
    for (size_t o = 0; o < a.outer * a.inner; o++) {
        size_t first = o / a.inner * a.extent * a.inner + o % a.inner;
        double v = op->row->one(0);
        for (size_t i = 0; i < a.extent; i++) {
            double before = v, x = op->in[0]->values[first + i * a.inner];
            v = nnv_relay_dtype_is_float(dtype) ? op->row->two(v, x)
                                                : nnv_interp_wrap(dtype, op->row->whole((int64_t)v, (int64_t)x));
            op->out->values[first + i * a.inner] = exclusive ? before : v;
        }
    }
}
