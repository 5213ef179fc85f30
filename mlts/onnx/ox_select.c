/* SPDX-License-Identifier: Apache-2.0 */
/* Entries chosen by index or by size. */
#include <math.h>
#include <string.h>

#include "mlts/onnx/ox.h"

/** True if the input's numbers are in the file: no test data, and not computed. */
static bool in_file(struct nnv_cv *c, uint32_t i) {
    return nnv_ox_tensor(c, i) && c->onnx->input[c->onnx->node->in[i]] < 0;
}

/** Indices as int32 of one axis, negative ones counted from the end of an axis of n. */
static uint32_t indices(struct nnv_cv *c, uint32_t i, uint32_t n) {
    uint32_t count = (uint32_t)nnv_ox_elements(nnv_ox_value(c, i));
    uint32_t x = nnv_ox_widened(c, nnv_ox_in_shape(c, i, 1, &count));
    if (!nnv_cv_ok(c)) return 0;
    bool negative = !in_file(c, i);
    for (uint32_t k = 0; !negative && k < count; k++) negative = nnv_onnx_int(nnv_ox_tensor(c, i), k) < 0;
    if (!negative) return x;
    const uint32_t below = nnv_cv_temp_as(c, NNV_CV_B8, x);
    NNV_CV_EMIT(c, ANEURALNETWORKS_LESS, below, x, nnv_cv_number(c, x, 0));
    return NNV_OX_LIKE(c, ANEURALNETWORKS_SELECT, x, below, nnv_ox_sum(c, x, nnv_cv_number(c, x, n)), x);
}

/** GATHER along the middle of three axes; the result has count entries there. */
static uint32_t gathered(struct nnv_cv *c, uint32_t x, const uint32_t *three, uint32_t index) {
    if (!nnv_cv_ok(c)) return 0;
    x = nnv_cv_reshaped(c, x, 3, three);
    const uint32_t from = nnv_cv_at(c, x)->type == ANEURALNETWORKS_TENSOR_BOOL8 ? nnv_cv_to_float(c, x) : x;
    const uint32_t dims[] = {three[0], nnv_cv_ok(c) ? (uint32_t)nnv_cv_elements(c, index) : 1, three[2]};
    const uint32_t y = nnv_cv_temp_shaped(c, from, 3, dims);
    NNV_CV_EMIT(c, ANEURALNETWORKS_GATHER, y, from, nnv_builder_int(&c->b, 1), index);
    return nnv_ox_back(c, y, x);
}

static void gather(struct nnv_cv *c) {
    const struct nnv_ox_value v = *nnv_ox_value(c, 0), index = *nnv_ox_value(c, 1);
    const uint32_t axis = nnv_ox_axis(c, "axis", 0, v.rank);
    struct nnv_ox_value r = {.type = v.type};
    uint32_t three[3];
    if (v.rank + index.rank > NNV_OX_RANK + 1) nnv_cv_refuse(c, " to rank %u", v.rank + index.rank - 1);
    if (!nnv_cv_ok(c)) return;
    nnv_ox_around(&v, axis, three);
    for (uint32_t i = 0; i < v.rank; i++) {
        if (i != axis) r.dims[r.rank++] = v.dims[i];
        for (uint32_t k = 0; i == axis && k < index.rank; k++) r.dims[r.rank++] = index.dims[k];
    }
    nnv_ox_give(c, 0, gathered(c, nnv_ox_in(c, 0), three, indices(c, 1, v.dims[axis])), v.type, r.rank, r.dims);
}

/** A constant list of positions. */
static uint32_t list_of(struct nnv_cv *c, size_t n, const int64_t *v) {
    int32_t *data = NNV_NEW(c->b.arena, int32_t, n);
    const uint32_t count = (uint32_t)n;
    if (!data) c->b.failed = true;
    for (size_t i = 0; data && i < n; i++) data[i] = (int32_t)v[i];
    return data ? nnv_cv_const(c, NNV_CV_I32, 1, &count, data) : 0;
}

/** Where entry i of a shape stands in another of the same rank, but for an axis (or none: the rank). */
static int64_t offset_of(size_t i, const struct nnv_ox_value *from, const struct nnv_ox_value *to, uint32_t axis) {
    int64_t at = 0, stride = 1;
    for (uint32_t d = from->rank; d-- > 0;) {
        if (d != axis) at += (int64_t)(i % from->dims[d]) * stride;
        i /= from->dims[d];
        stride *= to->dims[d];
    }
    return at;
}

static int64_t stride_of(const struct nnv_ox_value *v, uint32_t axis) {
    int64_t s = 1;
    for (uint32_t d = axis + 1; d < v->rank; d++) s *= v->dims[d];
    return s;
}

/** Element by element: the place is that of the index, but along the axis it is the index itself. */
static void gather_elements(struct nnv_cv *c) {
    const struct nnv_ox_value v = *nnv_ox_value(c, 0), index = *nnv_ox_value(c, 1);
    const uint32_t axis = nnv_ox_axis(c, "axis", 0, v.rank);
    const size_t n = nnv_ox_elements(&index);
    if (index.rank != v.rank) nnv_cv_fail(c, "indices of rank %u, data of rank %u", index.rank, v.rank);
    int64_t *base = NNV_NEW(c->b.arena, int64_t, n);
    if (!base) c->b.failed = true;
    if (!nnv_cv_ok(c)) return;
    for (size_t i = 0; i < n; i++) base[i] = offset_of(i, &index, &v, axis);
    uint32_t at = indices(c, 1, v.dims[axis]);
    at = nnv_ox_sum(c, nnv_ox_linear(c, at, (double)stride_of(&v, axis), 0), list_of(c, n, base));
    const uint32_t three[] = {1, (uint32_t)nnv_ox_elements(&v), 1};
    nnv_ox_give(c, 0, gathered(c, nnv_ox_in(c, 0), three, at), v.type, index.rank, index.dims);
}

static void gather_nd(struct nnv_cv *c) {
    const struct nnv_ox_value v = *nnv_ox_value(c, 0), index = *nnv_ox_value(c, 1);
    const int64_t batch = nnv_ox_int(c, "batch_dims", 0);
    const uint32_t depth = index.rank ? index.dims[index.rank - 1] : 0;
    struct nnv_ox_value r = {.type = v.type};
    const bool fit = batch >= 0 && index.rank >= 1 && batch < index.rank && batch + depth <= v.rank && depth > 0;
    if (!fit) nnv_cv_fail(c, "its indices do not fit");
    if (!fit || !nnv_cv_ok(c)) return;
    const uint32_t first = (uint32_t)batch, named = first + depth;
    uint32_t three[] = {1, 1, 1}, tuples = (uint32_t)nnv_ox_elements(&index) / depth;
    for (uint32_t d = 0; d < v.rank; d++) three[d < named ? 1 : 2] *= v.dims[d];
    for (uint32_t d = 0; d + 1 < index.rank; d++) r.dims[r.rank++] = index.dims[d];
    for (uint32_t d = named; d < v.rank; d++) {
        if (r.rank == NNV_OX_RANK) nnv_cv_refuse(c, " to rank %u", r.rank + 1);
        if (nnv_cv_ok(c)) r.dims[r.rank++] = v.dims[d];
    }
    /* The rows of a batch begin behind those before it. */
    int64_t *base = NNV_NEW(c->b.arena, int64_t, tuples), batches = 1;
    if (!base) c->b.failed = true;
    for (uint32_t d = 0; d < first; d++) batches *= v.dims[d];
    for (uint32_t i = 0; base && i < tuples; i++) base[i] = (int64_t)i / (tuples / batches) * (three[1] / batches);
    uint32_t at = base ? list_of(c, tuples, base) : 0;
    const uint32_t shape[] = {tuples, depth}, whole = nnv_ox_widened(c, nnv_ox_in_shape(c, 1, 2, shape));
    for (uint32_t d = 0; d < depth && nnv_cv_ok(c); d++) {
        int64_t stride = 1;
        for (uint32_t k = first + d + 1; k < named; k++) stride *= v.dims[k];
        uint32_t part = nnv_cv_reshaped(c, nnv_ox_part(c, whole, 1, d, 1), 1, &tuples);
        const uint32_t below = nnv_cv_temp_as(c, NNV_CV_B8, part);
        NNV_CV_EMIT(c, ANEURALNETWORKS_LESS, below, part, nnv_cv_number(c, part, 0));
        part = NNV_OX_LIKE(c, ANEURALNETWORKS_SELECT, part, below,
                           nnv_ox_sum(c, part, nnv_cv_number(c, part, v.dims[first + d])), part);
        at = nnv_ox_sum(c, nnv_ox_linear(c, part, (double)stride, 0), at);
    }
    nnv_ox_give(c, 0, gathered(c, nnv_ox_in(c, 0), three, at), v.type, r.rank, r.dims);
}

/** Data with updates at places that are known: both one behind the other, and who comes from where. */
static void scattered(struct nnv_cv *c, const int64_t *from, uint32_t updates) {
    const struct nnv_ox_value v = *nnv_ox_value(c, 0);
    const uint32_t n = (uint32_t)nnv_ox_elements(&v), m = (uint32_t)nnv_ox_elements(nnv_ox_value(c, updates));
    const uint32_t parts[] = {nnv_ox_in_shape(c, 0, 1, &n), nnv_ox_in_shape(c, updates, 1, &m)};
    const uint32_t both = nnv_ox_joined(c, 2, parts, 0), three[] = {1, n + m, 1};
    nnv_ox_give_like(c, 0, gathered(c, both, three, list_of(c, n, from)), 0);
}

/** Of each element of the data, where it comes from: itself. */
static int64_t *unchanged(struct nnv_cv *c, size_t n) {
    int64_t *from = NNV_NEW(c->b.arena, int64_t, n);
    if (!from) c->b.failed = true;
    for (size_t i = 0; from && i < n; i++) from[i] = (int64_t)i;
    return from;
}

static bool replaces(struct nnv_cv *c) {
    const char *reduction = nnv_ox_string(c, "reduction", "none");
    if (strcmp(reduction, "none") != 0) nnv_cv_refuse(c, " with the reduction %.20s", reduction);
    return nnv_cv_ok(c);
}

static void scatter_elements(struct nnv_cv *c) {
    const struct nnv_ox_value v = *nnv_ox_value(c, 0), index = *nnv_ox_value(c, 1);
    const uint32_t axis = nnv_ox_axis(c, "axis", 0, v.rank);
    uint32_t n;
    if (!replaces(c)) return;
    const int64_t *at = nnv_ox_ints(c, 1, &n);
    if (index.rank != v.rank || nnv_ox_elements(nnv_ox_value(c, 2)) != n) nnv_cv_fail(c, "its updates do not fit");
    int64_t *from = unchanged(c, nnv_ox_elements(&v));
    for (uint32_t i = 0; i < n && nnv_cv_ok(c); i++) {
        const int64_t k = at[i] < 0 ? at[i] + v.dims[axis] : at[i];
        if (k < 0 || k >= v.dims[axis]) nnv_cv_fail(c, "index %lld", (long long)at[i]);
        const int64_t to = offset_of(i, &index, &v, axis) + k * stride_of(&v, axis);
        if (nnv_cv_ok(c) && (to < 0 || to >= (int64_t)nnv_ox_elements(&v))) nnv_cv_fail(c, "its indices do not fit");
        if (nnv_cv_ok(c)) from[to] = (int64_t)nnv_ox_elements(&v) + i;
    }
    if (nnv_cv_ok(c)) scattered(c, from, 2);
}

static void scatter_nd(struct nnv_cv *c) {
    const struct nnv_ox_value v = *nnv_ox_value(c, 0), index = *nnv_ox_value(c, 1);
    const uint32_t depth = index.rank ? index.dims[index.rank - 1] : 0;
    uint32_t n;
    if (!replaces(c)) return;
    const int64_t *at = nnv_ox_ints(c, 1, &n);
    const size_t size = nnv_ox_elements(&v), inner = depth ? (size_t)stride_of(&v, depth - 1) : 1;
    if (depth == 0 || depth > v.rank || nnv_ox_elements(nnv_ox_value(c, 2)) != n / depth * inner) {
        nnv_cv_fail(c, "its updates do not fit");
        return;
    }
    int64_t *from = unchanged(c, size);
    for (uint32_t i = 0; nnv_cv_ok(c) && i < n / depth; i++) {
        int64_t to = 0;
        for (uint32_t d = 0; d < depth && nnv_cv_ok(c); d++) {
            const int64_t k = at[i * depth + d] < 0 ? at[i * depth + d] + v.dims[d] : at[i * depth + d];
            if (k < 0 || k >= v.dims[d]) nnv_cv_fail(c, "index %lld", (long long)k);
            to += k * stride_of(&v, d);
        }
        for (size_t e = 0; e < inner && nnv_cv_ok(c); e++) from[(size_t)to + e] = (int64_t)(size + i * inner + e);
    }
    if (nnv_cv_ok(c)) scattered(c, from, 2);
}

/** Each sequence's first entries in reverse. */
static void reverse_sequence(struct nnv_cv *c) {
    const struct nnv_ox_value v = *nnv_ox_value(c, 0);
    const int64_t batch = nnv_ox_int(c, "batch_axis", 1), time = nnv_ox_int(c, "time_axis", 0);
    uint32_t n;
    const int64_t *length = nnv_ox_ints(c, 1, &n);
    if (v.rank < 2 || batch + time != 1 || (batch != 0 && batch != 1)) nnv_cv_fail(c, "its axes are not 0 and 1");
    if (!nnv_cv_ok(c)) return;
    if (n != v.dims[batch]) nnv_cv_fail(c, "%u lengths", n);
    const uint32_t rows = v.dims[0] * v.dims[1], three[] = {1, rows, (uint32_t)nnv_ox_elements(&v) / rows};
    int64_t *from = unchanged(c, rows);
    for (uint32_t i = 0; i < rows && nnv_cv_ok(c); i++) {
        const int64_t at[] = {i / v.dims[1], i % v.dims[1]}, t = at[time], b = at[batch], len = length[b];
        if (len < 0 || len > v.dims[time]) nnv_cv_fail(c, "a length of %lld", (long long)len);
        const int64_t other = t < len ? len - 1 - t : t;
        from[i] = time == 0 ? other * v.dims[1] + b : b * v.dims[1] + other;
    }
    if (nnv_cv_ok(c)) nnv_ox_give_like(c, 0, gathered(c, nnv_ox_in(c, 0), three, list_of(c, rows, from)), 0);
}

static void compress(struct nnv_cv *c) {
    struct nnv_ox_value v = *nnv_ox_value(c, 0);
    uint32_t n, three[3] = {1, (uint32_t)nnv_ox_elements(&v), 1}, kept = 0;
    const struct nnv_onnx_attribute *a = nnv_ox_attribute(c, "axis");
    const uint32_t axis = a ? nnv_cv_axis(c, a->i, v.rank) : 0;
    const int64_t *condition = nnv_ox_ints(c, 1, &n);
    int64_t *from = NNV_NEW(c->b.arena, int64_t, n);
    if (!from) c->b.failed = true;
    if (a) nnv_ox_around(&v, axis, three);
    if (n > three[1]) nnv_cv_fail(c, "%u conditions for %u entries", n, three[1]);
    if (!nnv_cv_ok(c)) return;
    for (uint32_t i = 0; i < n; i++)
        if (condition[i]) from[kept++] = i;
    if (kept == 0) nnv_cv_refuse(c, " with a tensor of no elements");
    if (a) v.dims[axis] = kept;
    if (!a) v.rank = 1, v.dims[0] = kept;
    if (nnv_cv_ok(c))
        nnv_ox_give(c, 0, gathered(c, nnv_ox_in(c, 0), three, list_of(c, kept, from)), v.type, v.rank, v.dims);
}

/* ----------------------------------------------------------------- one of many */

/** True where the middle axis of [a, n, b] has the number that index, [a, 1, b], holds. */
static uint32_t hit(struct nnv_cv *c, uint32_t index, uint32_t n) {
    if (!nnv_cv_ok(c)) return 0;
    const uint32_t line[] = {1, n, 1}, dims[] = {nnv_cv_at(c, index)->dims[0], n, nnv_cv_at(c, index)->dims[2]};
    int32_t *count = NNV_NEW(c->b.arena, int32_t, n);
    if (!count) c->b.failed = true;
    for (uint32_t i = 0; count && i < n; i++) count[i] = (int32_t)i;
    const uint32_t numbers = count ? nnv_cv_const(c, NNV_CV_I32, 3, line, count) : 0;
    const uint32_t y = nnv_cv_temp(c, NNV_CV_B8, 3, dims);
    NNV_CV_EMIT(c, ANEURALNETWORKS_EQUAL, y, index, numbers);
    return y;
}

static void one_hot(struct nnv_cv *c) {
    const struct nnv_ox_value v = *nnv_ox_value(c, 0), values = *nnv_ox_value(c, 2);
    uint32_t n;
    const double *depth = nnv_ox_numbers(c, 1, &n);
    if (n != 1 || nnv_ox_elements(&values) != 2 || values.rank != 1) nnv_cv_fail(c, "depth or values do not fit");
    if (!nnv_cv_ok(c)) return;
    if (!(*depth >= 1 && *depth <= 1 << 24) || v.rank + 1 > NNV_OX_RANK) nnv_cv_refuse(c, " of depth %g", *depth);
    const uint32_t axis = nnv_ox_axis(c, "axis", -1, v.rank + 1), many = nnv_cv_ok(c) ? (uint32_t)*depth : 1;
    struct nnv_ox_value r = {.rank = v.rank + 1};
    uint32_t three[] = {1, 1, 1}, x = nnv_ox_in(c, 0);
    if (!nnv_cv_ok(c)) return;
    for (uint32_t d = 0; d < v.rank; d++) {
        three[d < axis ? 0 : 2] *= v.dims[d];
        r.dims[d < axis ? d : d + 1] = v.dims[d];
    }
    r.dims[axis] = many;
    if (nnv_is_float(nnv_cv_at(c, x)->type)) {
        const uint32_t whole = nnv_cv_temp_as(c, NNV_CV_I32, x);
        NNV_CV_EMIT(c, ANEURALNETWORKS_CAST, whole, x);
        x = whole;
    }
    x = nnv_cv_reshaped(c, nnv_ox_widened(c, x), 3, three);
    const uint32_t below = nnv_cv_temp_as(c, NNV_CV_B8, x);
    NNV_CV_EMIT(c, ANEURALNETWORKS_LESS, below, x, nnv_cv_number(c, x, 0));
    x = NNV_OX_LIKE(c, ANEURALNETWORKS_SELECT, x, below, nnv_ox_sum(c, x, nnv_cv_number(c, x, many)), x);
    const uint32_t mask = hit(c, x, many), pair = nnv_ox_in(c, 2), full[] = {three[0], many, three[2]},
                   one[] = {1, 1, 1};
    const uint32_t off = nnv_ox_expanded(c, nnv_cv_reshaped(c, nnv_ox_part(c, pair, 0, 0, 1), 3, one), 3, full);
    const uint32_t on = nnv_ox_expanded(c, nnv_cv_reshaped(c, nnv_ox_part(c, pair, 0, 1, 1), 3, one), 3, full);
    nnv_ox_give(c, 0, NNV_OX_LIKE(c, ANEURALNETWORKS_SELECT, on, mask, on, off), values.type, r.rank, r.dims);
}

/** The place of the largest (or least) entry of the middle axis, [a, 1, b]. */
static uint32_t place_of(struct nnv_cv *c, int32_t code, uint32_t x, const uint32_t *three, bool last) {
    const uint32_t dims[] = {three[0], three[2]}, kept[] = {three[0], 1, three[2]};
    x = nnv_cv_reshaped(c, x, 3, three);
    if (last) {
        int32_t *back = NNV_NEW(c->b.arena, int32_t, three[1]);
        if (!back) c->b.failed = true;
        for (uint32_t i = 0; back && i < three[1]; i++) back[i] = (int32_t)(three[1] - 1 - i);
        x = back ? nnv_ox_gathered(c, x, 1, three[1], back) : 0;
    }
    uint32_t y = nnv_cv_temp(c, NNV_CV_I32, 2, dims);
    NNV_CV_EMIT(c, code, y, x, nnv_builder_int(&c->b, 1));
    if (last) y = nnv_ox_linear(c, y, -1, three[1] - 1);
    return nnv_cv_reshaped(c, y, 3, kept);
}

static void arg_extreme(struct nnv_cv *c) {
    const struct nnv_ox_value v = *nnv_ox_value(c, 0);
    const uint32_t axis = nnv_ox_axis(c, "axis", 0, v.rank);
    const bool keep = nnv_ox_flag(c, "keepdims", true), last = nnv_ox_flag(c, "select_last_index", false);
    struct nnv_ox_value r = {.rank = 0};
    uint32_t three[3];
    nnv_ox_around(&v, axis, three);
    for (uint32_t i = 0; i < v.rank; i++)
        if (i != axis || keep) r.dims[r.rank++] = i == axis ? 1 : v.dims[i];
    nnv_ox_give(c, 0, place_of(c, c->onnx->row->nnapi, nnv_ox_in(c, 0), three, last), NNV_ONNX_INT64, r.rank, r.dims);
}

static void hardmax(struct nnv_cv *c) {
    const struct nnv_ox_value v = *nnv_ox_value(c, 0);
    const bool flat = c->onnx->opset < 13;
    const uint32_t axis = nnv_ox_axis(c, "axis", flat ? 1 : -1, v.rank);
    uint32_t three[3];
    nnv_ox_around(&v, axis, three);
    if (flat) three[1] *= three[2], three[2] = 1;
    const uint32_t at = place_of(c, ANEURALNETWORKS_ARGMAX, nnv_ox_in(c, 0), three, false);
    const uint32_t y = nnv_cv_to_float(c, hit(c, at, three[1]));
    if (nnv_cv_ok(c) && v.type == NNV_ONNX_FLOAT16) nnv_cv_refuse(c, " of FLOAT16");
    nnv_ox_give_like(c, 0, y, 0);
}

static void top_k(struct nnv_cv *c) {
    static const uint32_t last[] = {0, 2, 1};
    struct nnv_ox_value v = *nnv_ox_value(c, 0);
    const uint32_t axis = nnv_ox_axis(c, "axis", -1, v.rank);
    const bool largest = nnv_ox_flag(c, "largest", true);
    uint32_t n, three[3];
    nnv_ox_int(c, "sorted", 1); /* sorted will do in both cases */
    const int64_t *k = nnv_ox_ints(c, 1, &n);
    nnv_ox_around(&v, axis, three);
    if (nnv_cv_ok(c) && (n != 1 || *k < 1 || *k > three[1]))
        nnv_cv_fail(c, "it takes %lld of %u", (long long)*k, three[1]);
    const uint32_t in = nnv_ox_in_shape(c, 0, 3, three);
    if (!nnv_cv_ok(c)) return;
    uint32_t x = nnv_ox_transposed(c, in, 3, last);
    if (!largest) {
        x = nnv_cv_is_quant(c, x) ? nnv_cv_to_float(c, x) : x;
        x = NNV_OX_LIKE(c, ANEURALNETWORKS_NEG, x, x);
    }
    const uint32_t many = (uint32_t)*k, dims[] = {three[0], three[2], many};
    const uint32_t out[] = {nnv_cv_temp_shaped(c, x, 3, dims), nnv_cv_temp(c, NNV_CV_I32, 3, dims)};
    const uint32_t given[] = {x, nnv_builder_int(&c->b, (int32_t)many)};
    nnv_cv_emit_n(c, ANEURALNETWORKS_TOPK_V2, 2, given, 2, out);
    uint32_t y = out[0];
    if (!largest) y = nnv_ox_back(c, NNV_OX_LIKE(c, ANEURALNETWORKS_NEG, y, y), in);
    v.dims[axis] = many;
    nnv_ox_give(c, 0, nnv_ox_transposed(c, y, 3, last), v.type, v.rank, v.dims);
    nnv_ox_give(c, 1, nnv_ox_transposed(c, out[1], 3, last), NNV_ONNX_INT64, v.rank, v.dims);
}

#define ANY NNV_OX_ANY
static const struct nnv_ox_row rows[] = {
    {"Gather", 2, 2, ANY, gather, 0},
    {"GatherElements", 2, 2, ANY, gather_elements, 0},
    {"GatherND", 2, 2, ANY, gather_nd, 0},
    {"Scatter", 3, 3, ANY, scatter_elements, 0},
    {"ScatterElements", 3, 3, ANY, scatter_elements, 0},
    {"ScatterND", 3, 3, ANY, scatter_nd, 0},
    {"ReverseSequence", 2, 2, ANY, reverse_sequence, 0},
    {"Compress", 2, 2, ANY, compress, 0},
    {"OneHot", 3, 3, NNV_OX_NUMBER, one_hot, 0},
    {"ArgMax", 1, 1, NNV_OX_NUMBER, arg_extreme, ANEURALNETWORKS_ARGMAX},
    {"ArgMin", 1, 1, NNV_OX_NUMBER, arg_extreme, ANEURALNETWORKS_ARGMIN},
    {"Hardmax", 1, 1, NNV_OX_FLOAT, hardmax, 0},
    {"TopK", 2, 2, NNV_OX_NUMBER, top_k, 0},
};
const struct nnv_ox_rows nnv_ox_select = {rows, sizeof rows / sizeof *rows};
