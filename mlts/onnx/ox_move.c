/* SPDX-License-Identifier: Apache-2.0 */
/* Data that are moved: other shapes, other orders, parts, copies, cells around. */
#include <string.h>

#include "mlts/onnx/ox.h"

/** A list that is an input since some version, an attribute before; NULL with *n 0: not given. */
static const int64_t *list_of(struct nnv_cv *c, uint32_t i, const char *name, uint32_t *n) {
    *n = 0;
    if (nnv_ox_has(c, i)) return nnv_ox_ints(c, i, n);
    return name ? nnv_ox_list(c, name, n) : NULL;
}

/* ---------------------------------------------------------------------- shapes */

static void reshape(struct nnv_cv *c) {
    uint32_t n, dims[NNV_OX_RANK], open = NNV_OX_RANK;
    const struct nnv_ox_value v = *nnv_ox_value(c, 0);
    const bool zeros = nnv_ox_flag(c, "allowzero", false);
    const int64_t *shape = list_of(c, 1, "shape", &n);
    size_t known = 1;
    if (n > NNV_OX_RANK) nnv_cv_refuse(c, " to rank %u", n);
    for (uint32_t i = 0; i < n && nnv_cv_ok(c); i++) {
        if (shape[i] < -1 || shape[i] > INT32_MAX || (shape[i] == 0 && !zeros && i >= v.rank) ||
            (shape[i] == -1 && open < NNV_OX_RANK))
            nnv_cv_fail(c, "entry %u of the shape is %lld", i, (long long)shape[i]);
        dims[i] = shape[i] == 0 && !zeros ? v.dims[i] : (uint32_t)shape[i];
        if (shape[i] == -1)
            open = i;
        else
            known *= dims[i];
    }
    if (!nnv_cv_ok(c)) return;
    if (open < NNV_OX_RANK) dims[open] = known ? (uint32_t)(nnv_ox_elements(&v) / known) : 0;
    nnv_ox_give(c, 0, nnv_ox_in(c, 0), v.type, n, dims);
}

static void flatten(struct nnv_cv *c) {
    const struct nnv_ox_value v = *nnv_ox_value(c, 0);
    const int64_t given = nnv_ox_int(c, "axis", 1);
    const uint32_t axis = given == (int64_t)v.rank ? v.rank : nnv_cv_axis(c, given, v.rank ? v.rank : 1);
    uint32_t dims[2] = {1, 1};
    for (uint32_t i = 0; i < v.rank; i++) dims[i >= axis] *= v.dims[i];
    nnv_ox_give(c, 0, nnv_ox_in(c, 0), v.type, 2, dims);
}

/** Marks the axes of a list. */
static void mark(struct nnv_cv *c, const int64_t *axes, uint32_t n, uint32_t rank, bool *marked) {
    for (uint32_t i = 0; i < n && nnv_cv_ok(c); i++) marked[nnv_cv_axis(c, axes[i], rank)] = true;
}

static void squeeze(struct nnv_cv *c) {
    const struct nnv_ox_value v = *nnv_ox_value(c, 0);
    bool gone[NNV_OX_RANK] = {false};
    uint32_t n, dims[NNV_OX_RANK], rank = 0;
    const int64_t *axes = list_of(c, 1, "axes", &n);
    mark(c, axes, n, v.rank, gone);
    for (uint32_t i = 0; i < v.rank; i++) {
        if (!axes) gone[i] = v.dims[i] == 1;
        if (gone[i] && v.dims[i] != 1) nnv_cv_fail(c, "axis %u has %u entries", i, v.dims[i]);
        if (!gone[i]) dims[rank++] = v.dims[i];
    }
    nnv_ox_give(c, 0, nnv_ox_in(c, 0), v.type, rank, dims);
}

static void unsqueeze(struct nnv_cv *c) {
    const struct nnv_ox_value v = *nnv_ox_value(c, 0);
    bool made[NNV_OX_RANK] = {false};
    uint32_t n, dims[NNV_OX_RANK], from = 0;
    const int64_t *axes = list_of(c, 1, "axes", &n);
    if (v.rank + n > NNV_OX_RANK) nnv_cv_refuse(c, " to rank %u", v.rank + n);
    if (!nnv_cv_ok(c)) return;
    mark(c, axes, n, v.rank + n, made);
    for (uint32_t i = 0; i < v.rank + n && nnv_cv_ok(c); i++) {
        if (!made[i] && from == v.rank) nnv_cv_fail(c, "an axis is named twice");
        dims[i] = made[i] || from == v.rank ? 1 : v.dims[from++];
    }
    nnv_ox_give(c, 0, nnv_ox_in(c, 0), v.type, v.rank + n, dims);
}

/* ---------------------------------------------------------------------- orders */

/** Axes moved, whatever the rank: each to its place, past a block of others. */
static uint32_t shuffled(struct nnv_cv *c, uint32_t x, struct nnv_ox_value *v, const uint32_t *perm) {
    static const uint32_t past[] = {0, 2, 1, 3};
    uint32_t order[NNV_OX_RANK] = {0};
    for (uint32_t i = 0; i < v->rank; i++) order[i] = i;
    for (uint32_t i = 0; i < v->rank; i++) {
        uint32_t p = i, four[4] = {1, 1, 1, 1};
        while (order[p] != perm[i]) p++;
        for (uint32_t d = 0; d < v->rank; d++) four[d < i ? 0 : d < p ? 1 : d == p ? 2 : 3] *= v->dims[d];
        const uint32_t extent = v->dims[p];
        if (four[1] != 1 && four[2] != 1) x = nnv_ox_transposed(c, nnv_cv_reshaped(c, x, 4, four), 4, past);
        for (; p > i; p--) order[p] = order[p - 1], v->dims[p] = v->dims[p - 1];
        order[i] = perm[i];
        v->dims[i] = extent;
    }
    return x;
}

static void transpose(struct nnv_cv *c) {
    struct nnv_ox_value v = *nnv_ox_value(c, 0);
    uint32_t n, perm[NNV_OX_RANK] = {0};
    bool used[NNV_OX_RANK] = {false};
    const int64_t *given = nnv_ox_list(c, "perm", &n);
    if (given && n != v.rank) nnv_cv_fail(c, "perm has %u entries", n);
    for (uint32_t i = 0; i < v.rank && nnv_cv_ok(c); i++) {
        perm[i] = given ? nnv_cv_axis(c, given[i], v.rank) : v.rank - 1 - i;
        if (used[perm[i]]) nnv_cv_fail(c, "perm names an axis twice");
        used[perm[i]] = true;
    }
    uint32_t x = nnv_ox_in(c, 0);
    if (!nnv_cv_ok(c)) return;
    if (v.rank > 4) {
        x = shuffled(c, x, &v, perm);
    } else {
        const struct nnv_ox_value before = v;
        x = nnv_ox_transposed(c, x, v.rank, perm);
        for (uint32_t i = 0; i < v.rank; i++) v.dims[i] = before.dims[perm[i]];
    }
    nnv_ox_give(c, 0, x, v.type, v.rank, v.dims);
}

static void depth_to_space(struct nnv_cv *c) {
    const struct nnv_ox_value v = *nnv_ox_value(c, 0);
    const bool back = c->onnx->row->nnapi == ANEURALNETWORKS_SPACE_TO_DEPTH;
    const int64_t b = nnv_ox_int(c, "blocksize", 0);
    const bool rows = !back && strcmp(nnv_ox_string(c, "mode", "DCR"), "CRD") == 0;
    uint32_t x = nnv_ox_in(c, 0);
    if (v.rank != 4 || b < 1 || b > INT16_MAX || (!back && v.dims[1] % (b * b)) ||
        (back && (v.dims[2] % b || v.dims[3] % b)))
        nnv_cv_fail(c, "blocks of %lld do not fit", (long long)b);
    if (!nnv_cv_ok(c)) return;
    const uint32_t s = (uint32_t)b, depth = rows ? v.dims[1] / (s * s) : 0;
    if (rows) { /* its blocks count channels first: channel d * b * b + i is NNAPI's i * depth + d */
        int32_t *index = NNV_NEW(c->b.arena, int32_t, v.dims[1]);
        if (!index) c->b.failed = true;
        for (uint32_t i = 0; index && i < v.dims[1]; i++) index[i] = (int32_t)(i % depth * s * s + i / depth);
        if (index) x = nnv_ox_gathered(c, x, 1, v.dims[1], index);
    }
    const uint32_t dims[] = {v.dims[0], back ? v.dims[1] * s * s : v.dims[1] / (s * s),
                             back ? v.dims[2] / s : v.dims[2] * s, back ? v.dims[3] / s : v.dims[3] * s};
    const uint32_t y = nnv_cv_temp_shaped(c, x, 4, dims);
    NNV_CV_EMIT(c, c->onnx->row->nnapi, y, x, nnv_builder_int(&c->b, (int32_t)b), nnv_builder_bool(&c->b, true));
    nnv_ox_give(c, 0, y, v.type, 4, dims);
}

/* ------------------------------------------------------------- parts and joints */

static void concat(struct nnv_cv *c) {
    const uint32_t n = c->onnx->node->nin;
    struct nnv_ox_value r = *nnv_ox_value(c, 0);
    const uint32_t axis = nnv_ox_axis(c, "axis", INT64_MAX, r.rank);
    uint32_t *x = NNV_NEW(c->b.arena, uint32_t, n), three[3];
    if (!x) c->b.failed = true;
    r.dims[axis] = 0;
    for (uint32_t i = 0; i < n && nnv_cv_ok(c); i++) {
        const struct nnv_ox_value v = *nnv_ox_value(c, i);
        bool fits = v.rank == r.rank && v.type == r.type;
        for (uint32_t d = 0; fits && d < v.rank; d++) fits = d == axis || v.dims[d] == r.dims[d];
        if (!fits) nnv_cv_fail(c, "input %u does not fit input 0", i);
        nnv_ox_around(&v, axis, three);
        x[i] = v.rank > 4 ? nnv_ox_in_shape(c, i, 3, three) : nnv_ox_in(c, i);
        if (nnv_cv_ok(c) && !nnv_cv_same_encoding(c, x[0], x[i])) nnv_cv_refuse(c, " of different quantisations");
        r.dims[axis] += v.dims[axis];
    }
    if (nnv_cv_ok(c)) nnv_ox_give(c, 0, nnv_ox_joined(c, n, x, r.rank > 4 ? 1 : axis), r.type, r.rank, r.dims);
}

/** Sizes of the parts, which are all. */
static bool split_sizes(struct nnv_cv *c, uint32_t extent, uint32_t *size) {
    const uint32_t n = c->onnx->node->nout;
    uint32_t count;
    const int64_t *given = list_of(c, 1, "split", &count);
    const int64_t parts = nnv_ox_int(c, "num_outputs", n);
    if (given && count != n) nnv_cv_fail(c, "%u sizes for %u outputs", count, n);
    if (!given && parts != n) nnv_cv_fail(c, "%lld parts for %u outputs", (long long)parts, n);
    const uint32_t part = (extent + n - 1) / (n ? n : 1);
    for (uint32_t i = 0, left = extent; i < n && nnv_cv_ok(c); i++) {
        const int64_t want = given ? given[i] : left < part ? left : part;
        if (want < 0 || want > left || (i + 1 == n && want != left)) nnv_cv_fail(c, "its parts do not fit %u", extent);
        size[i] = (uint32_t)want;
        left -= nnv_cv_ok(c) ? size[i] : 0;
        if (want == 0) nnv_cv_refuse(c, " with a tensor of no elements");
    }
    return nnv_cv_ok(c);
}

static void split(struct nnv_cv *c) {
    struct nnv_ox_value v = *nnv_ox_value(c, 0);
    const uint32_t n = c->onnx->node->nout, axis = nnv_ox_axis(c, "axis", 0, v.rank);
    uint32_t *size = NNV_NEW(c->b.arena, uint32_t, n), *out = NNV_NEW(c->b.arena, uint32_t, n), three[3];
    if (!size || !out) c->b.failed = true;
    if (!nnv_cv_ok(c) || !split_sizes(c, v.dims[axis], size)) return;
    nnv_ox_around(&v, axis, three);
    const uint32_t x = nnv_ox_in_shape(c, 0, 3, three);
    if (!nnv_cv_ok(c)) return;
    bool equal = nnv_cv_at(c, x)->type != ANEURALNETWORKS_TENSOR_BOOL8;
    for (uint32_t i = 0; i < n; i++) equal = equal && size[i] == size[0];
    three[1] = size[0];
    for (uint32_t i = 0; i < n && equal; i++) out[i] = nnv_cv_temp_shaped(c, x, 3, three);
    if (equal) {
        const uint32_t in[] = {x, nnv_builder_int(&c->b, 1), nnv_builder_int(&c->b, (int32_t)n)};
        nnv_cv_emit_n(c, ANEURALNETWORKS_SPLIT, 3, in, n, out);
    }
    for (uint32_t i = 0, at = 0; i < n && nnv_cv_ok(c); at += size[i++]) {
        v.dims[axis] = size[i];
        nnv_ox_give(c, i, equal ? out[i] : nnv_ox_part(c, x, 1, at, size[i]), v.type, v.rank, v.dims);
    }
}

/** One axis of a slice: its first entry, step and count. */
struct range {
    int64_t begin, step, count;
};

static struct range range_of(struct nnv_cv *c, int64_t begin, int64_t end, int64_t step, int64_t n) {
    struct range r = {.step = step};
    if (step == 0 || step == INT64_MIN) {
        nnv_cv_fail(c, "a step of %lld", (long long)step);
        return r;
    }
    if (begin < 0) begin = begin < -n ? -1 : begin + n;
    if (end < 0) end = end < -n ? -1 : end + n;
    /* Forwards from 0 to n at most, backwards from n - 1 to -1. */
    const int64_t low = step > 0 ? 0 : -1, high = step > 0 ? n : n - 1;
    begin = begin < 0 ? 0 : begin > high ? high : begin;
    end = end < low ? low : end > high ? high : end;
    if (step > 0 && end > begin) r.count = (end - begin - 1) / step + 1;
    if (step < 0 && begin > end) r.count = (begin - end - 1) / -step + 1;
    r.begin = begin;
    return r;
}

/** Every step-th entry of an axis. */
static uint32_t strided(struct nnv_cv *c, uint32_t x, uint32_t axis, struct range r) {
    if (r.step == 1 || r.count == 1) return nnv_ox_part(c, x, axis, (uint32_t)r.begin, (uint32_t)r.count);
    int32_t *index = NNV_NEW(c->b.arena, int32_t, (size_t)r.count);
    if (!index) c->b.failed = true;
    for (int64_t i = 0; index && i < r.count; i++) index[i] = (int32_t)(r.begin + i * r.step);
    return index ? nnv_ox_gathered(c, x, axis, (uint32_t)r.count, index) : 0;
}

static void slice(struct nnv_cv *c) {
    struct nnv_ox_value v = *nnv_ox_value(c, 0);
    uint32_t n, m, naxes, nsteps, three[3];
    const int64_t *begin = list_of(c, 1, "starts", &n), *end = list_of(c, 2, "ends", &m);
    const int64_t *axes = list_of(c, 3, "axes", &naxes), *steps = list_of(c, 4, NULL, &nsteps);
    if (n != m || (axes && naxes != n) || (steps && nsteps != n) || n > v.rank) nnv_cv_fail(c, "its lists do not fit");
    uint32_t x = nnv_ox_in(c, 0);
    for (uint32_t i = 0; i < n && nnv_cv_ok(c); i++) {
        const uint32_t axis = axes ? nnv_cv_axis(c, axes[i], v.rank) : i;
        const struct range r = range_of(c, begin[i], end[i], steps ? steps[i] : 1, v.dims[axis]);
        if (nnv_cv_ok(c) && r.count == 0) nnv_cv_refuse(c, " with a tensor of no elements");
        if (!nnv_cv_ok(c)) return;
        nnv_ox_around(&v, axis, three);
        const bool whole = r.step == 1 && r.count == v.dims[axis];
        if (!whole) x = v.rank > 4 ? strided(c, nnv_cv_reshaped(c, x, 3, three), 1, r) : strided(c, x, axis, r);
        v.dims[axis] = (uint32_t)r.count;
    }
    nnv_ox_give(c, 0, x, v.type, v.rank, v.dims);
}

/* ---------------------------------------------------------------------- copies */

/** Axis by axis: entry i of the result is entry index(i) of the axis. */
static uint32_t repeated(struct nnv_cv *c, uint32_t x, struct nnv_ox_value *v, uint32_t axis, uint32_t times) {
    uint32_t three[3], dims[3];
    nnv_ox_around(v, axis, three);
    memcpy(dims, three, sizeof dims);
    v->dims[axis] *= times;
    if (times == 1 || !nnv_cv_ok(c)) return x;
    dims[1] *= times;
    x = nnv_cv_reshaped(c, x, 3, three);
    const bool bits = nnv_cv_at(c, x)->type == ANEURALNETWORKS_TENSOR_BOOL8;
    const uint32_t from = bits ? nnv_cv_to_float(c, x) : x, y = nnv_cv_temp_shaped(c, from, 3, dims);
    const int32_t list[] = {1, (int32_t)times, 1};
    NNV_CV_EMIT(c, ANEURALNETWORKS_TILE, y, from, nnv_builder_ints(&c->b, 3, list));
    return nnv_ox_back(c, y, x);
}

static void tile(struct nnv_cv *c) {
    struct nnv_ox_value v = *nnv_ox_value(c, 0);
    uint32_t n;
    const int64_t *times = list_of(c, 1, NULL, &n);
    uint32_t x = nnv_ox_in(c, 0);
    if (n != v.rank) nnv_cv_fail(c, "%u repeats for rank %u", n, v.rank);
    for (uint32_t i = 0; i < n && nnv_cv_ok(c); i++) {
        if (times[i] < 0 || times[i] > INT16_MAX) nnv_cv_fail(c, "%lld repeats", (long long)times[i]);
        if (times[i] == 0) nnv_cv_refuse(c, " with a tensor of no elements");
        x = repeated(c, x, &v, i, (uint32_t)times[i]);
    }
    nnv_ox_give(c, 0, x, v.type, v.rank, v.dims);
}

static void expand(struct nnv_cv *c) {
    struct nnv_ox_value v = *nnv_ox_value(c, 0), want = {0}, r;
    uint32_t n;
    const int64_t *shape = list_of(c, 1, NULL, &n);
    if (n > NNV_OX_RANK) nnv_cv_refuse(c, " to rank %u", n);
    want.rank = n;
    for (uint32_t i = 0; i < n && nnv_cv_ok(c); i++) {
        if (shape[i] < 0 || shape[i] > INT32_MAX) nnv_cv_fail(c, "an extent of %lld", (long long)shape[i]);
        want.dims[i] = (uint32_t)shape[i];
    }
    if (!nnv_cv_ok(c) || !nnv_ox_broadcast(c, &v, &want, &r)) return;
    uint32_t x = nnv_ox_in(c, 0);
    const uint32_t more = r.rank - v.rank;
    for (uint32_t i = r.rank; i-- > more;) v.dims[i] = v.dims[i - more];
    for (uint32_t i = 0; i < more; i++) v.dims[i] = 1;
    v.rank = r.rank;
    if (nnv_ox_elements(&r) == 0) nnv_cv_refuse(c, " with a tensor of no elements");
    for (uint32_t i = 0; i < r.rank; i++) x = repeated(c, x, &v, i, r.dims[i] / (v.dims[i] ? v.dims[i] : 1));
    nnv_ox_give(c, 0, x, v.type, v.rank, v.dims);
}

/* ------------------------------------------------------------------- cells around */

/** The entry of an axis of n that cell i (may be negative) shows. */
static int32_t mirrored(int64_t i, int64_t n, char mode) {
    if (mode == 'e') return (int32_t)(i < 0 ? 0 : i >= n ? n - 1 : i);
    if (mode == 'w') return (int32_t)(((i % n) + n) % n);
    const int64_t turn = n > 1 ? 2 * (n - 1) : 1, at = ((i % turn) + turn) % turn;
    return (int32_t)(at < n ? at : turn - at);
}

static uint32_t pad_axis(struct nnv_cv *c, uint32_t x, struct nnv_ox_value *v, uint32_t axis, int64_t before,
                         int64_t after, char mode, double value) {
    enum { MOST = 1 << 24 };
    uint32_t three[3], cells[6] = {0};
    const int64_t n = v->dims[axis], sum = n + before + after;
    if (before > MOST || before < -MOST || after > MOST || after < -MOST || sum < 0)
        nnv_cv_fail(c, "pads of %lld and %lld", (long long)before, (long long)after);
    if (sum == 0) nnv_cv_refuse(c, " with a tensor of no elements");
    if (!nnv_cv_ok(c) || (before == 0 && after == 0)) return x;
    nnv_ox_around(v, axis, three);
    x = nnv_cv_reshaped(c, x, 3, three);
    v->dims[axis] = (uint32_t)sum;
    if (mode != 'c') {
        int32_t *index = NNV_NEW(c->b.arena, int32_t, (size_t)sum);
        if (!index) c->b.failed = true;
        for (int64_t i = 0; index && i < sum; i++) index[i] = mirrored(i - before, n, mode);
        return index ? nnv_ox_gathered(c, x, 1, (uint32_t)sum, index) : 0;
    }
    const int64_t from = before < 0 ? -before : 0, kept = n - from + (after < 0 ? after : 0);
    if (kept < 1) nnv_cv_refuse(c, " that keeps nothing");
    if (nnv_cv_ok(c)) x = nnv_ox_part(c, x, 1, (uint32_t)from, (uint32_t)kept);
    cells[1] = before < 0 ? 0 : (uint32_t)before;
    cells[4] = after < 0 ? 0 : (uint32_t)after;
    return nnv_ox_padded(c, x, cells, value);
}

static void pad(struct nnv_cv *c) {
    struct nnv_ox_value v = *nnv_ox_value(c, 0);
    const char *mode = nnv_ox_string(c, "mode", "constant");
    uint32_t n, naxes, one = 1;
    const int64_t *pads = list_of(c, 1, "pads", &n), *axes = list_of(c, 3, NULL, &naxes);
    const double *given = nnv_ox_has(c, 2) ? nnv_ox_numbers(c, 2, &one) : NULL;
    const double value = given && one == 1 ? *given : nnv_ox_float(c, "value", 0);
    if (!strstr("constant edge reflect wrap", mode) || !*mode) nnv_cv_fail(c, "mode is '%.20s'", mode);
    if (!axes) naxes = v.rank;
    if (!nnv_cv_ok(c)) return;
    if (!pads || n != 2 * naxes) {
        nnv_cv_fail(c, "%u pads for %u axes", n, naxes);
        return;
    }
    uint32_t x = nnv_ox_in(c, 0);
    for (uint32_t i = 0; i < naxes && nnv_cv_ok(c); i++)
        x = pad_axis(c, x, &v, axes ? nnv_cv_axis(c, axes[i], v.rank) : i, pads[i], pads[naxes + i], *mode, value);
    nnv_ox_give(c, 0, x, v.type, v.rank, v.dims);
}

/** Cells cut off or added so that what was the middle stays there. */
static void center_crop_pad(struct nnv_cv *c) {
    struct nnv_ox_value v = *nnv_ox_value(c, 0);
    uint32_t n, naxes;
    const int64_t *shape = list_of(c, 1, NULL, &n), *axes = nnv_ox_list(c, "axes", &naxes);
    if (n != (axes ? naxes : v.rank)) nnv_cv_fail(c, "%u extents", n);
    uint32_t x = nnv_ox_in(c, 0);
    for (uint32_t i = 0; i < n && nnv_cv_ok(c); i++) {
        const uint32_t axis = axes ? nnv_cv_axis(c, axes[i], v.rank) : i;
        if (shape[i] < 1 || shape[i] > INT32_MAX) nnv_cv_fail(c, "an extent of %lld", (long long)shape[i]);
        if (!nnv_cv_ok(c)) return;
        const int64_t more = shape[i] - v.dims[axis], before = more < 0 ? -((-more) / 2) : more / 2;
        x = pad_axis(c, x, &v, axis, before, more - before, 'c', 0);
    }
    nnv_ox_give(c, 0, x, v.type, v.rank, v.dims);
}

/* ------------------------------------------------------------------- the table */

#define ANY NNV_OX_ANY
static const struct nnv_ox_row rows[] = {
    {"Reshape", 1, 2, ANY, reshape, 0},
    {"Flatten", 1, 1, ANY, flatten, 0},
    {"Squeeze", 1, 2, ANY, squeeze, 0},
    {"Unsqueeze", 1, 2, ANY, unsqueeze, 0},
    {"Transpose", 1, 1, ANY, transpose, 0},
    {"DepthToSpace", 1, 1, NNV_OX_FLOAT | NNV_OX_BYTE, depth_to_space, ANEURALNETWORKS_DEPTH_TO_SPACE},
    {"SpaceToDepth", 1, 1, NNV_OX_FLOAT | NNV_OX_BYTE, depth_to_space, ANEURALNETWORKS_SPACE_TO_DEPTH},
    {"Concat", 1, NNV_OX_MOST, ANY, concat, 0},
    {"Split", 1, 2, ANY, split, 0},
    {"Slice", 1, 5, ANY, slice, 0},
    {"Tile", 2, 2, ANY, tile, 0},
    {"Expand", 2, 2, ANY, expand, 0},
    {"Pad", 1, 4, ANY, pad, 0},
    {"CenterCropPad", 2, 2, ANY, center_crop_pad, 0},
};
const struct nnv_ox_rows nnv_ox_move = {rows, sizeof rows / sizeof *rows};
