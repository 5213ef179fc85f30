/* SPDX-License-Identifier: Apache-2.0 */
/* Choosing elements by index or condition, and tensors that follow from shapes. */
#include <string.h>

#include "mlts/tflite/convert.h"

/* ---------------------------------------------------------------- by an index */

static void gather(struct nnv_cv *c) {
    enum { AXIS, BATCH };
    const uint32_t x = nnv_cv_in(c, 0), indices = nnv_cv_in(c, 1), y = nnv_cv_out(c, 0);
    const struct nnv_tfl_tensor *t = nnv_cv_in_tensor(c, 0);
    if (!nnv_cv_ok(c)) return;
    if (nnv_cv_option(c, BATCH, 0, "batch_dims") != 0) nnv_cv_refuse(c, " by batches");
    const uint32_t axis = nnv_cv_axis(c, nnv_cv_option(c, AXIS, 0, "axis"), t->rank);
    if (!nnv_cv_moves(c, x, y)) return;
    const bool bits = nnv_cv_at(c, x)->type == ANEURALNETWORKS_TENSOR_BOOL8;
    const uint32_t from = bits ? nnv_cv_to_float(c, x) : x, to = bits ? nnv_cv_temp_as(c, NNV_CV_F32, y) : y;
    /* One index without a dimension is a vector of one here. */
    uint32_t dims[2 * NNV_MAX_RANK], n = 0;
    for (uint32_t d = 0; d < nnv_cv_at(c, x)->rank; d++) {
        if (d == axis)
            for (uint32_t k = 0; k < nnv_cv_at(c, indices)->rank; k++) dims[n++] = nnv_cv_at(c, indices)->dims[k];
        else
            dims[n++] = nnv_cv_at(c, x)->dims[d];
    }
    const bool same = n == nnv_cv_at(c, to)->rank;
    const uint32_t z = same ? to : nnv_cv_temp_shaped(c, from, n, dims);
    NNV_CV_EMIT(c, ANEURALNETWORKS_GATHER, z, from, nnv_builder_int(&c->b, (int32_t)axis), indices);
    if (!same) nnv_cv_reshape(c, z, to);
    if (to != y) nnv_cv_convert(c, to, y);
}

/** Part k of the last axis of indices [n, depth] as [n]. */
static uint32_t coordinate(struct nnv_cv *c, uint32_t indices, uint32_t n, int32_t k) {
    const uint32_t column[] = {n, 1};
    const int32_t from[] = {0, k}, size[] = {(int32_t)n, 1};
    const uint32_t t = nnv_cv_temp(c, NNV_CV_I32, 2, column);
    NNV_CV_EMIT(c, ANEURALNETWORKS_SLICE, t, indices, nnv_builder_ints(&c->b, 2, from),
                nnv_builder_ints(&c->b, 2, size));
    return nnv_cv_reshaped(c, t, 1, &n);
}

/** GATHER_ND: the coordinates become one index into x seen as a list of parts. */
static void gather_nd(struct nnv_cv *c) {
    const uint32_t x = nnv_cv_in(c, 0), given = nnv_cv_in(c, 1), y = nnv_cv_out(c, 0), one = 1;
    if (!nnv_cv_moves(c, x, y)) return;
    const uint32_t rank = nnv_cv_at(c, x)->rank, depth = nnv_cv_at(c, given)->dims[nnv_cv_at(c, given)->rank - 1];
    if (nnv_cv_at(c, x)->type == ANEURALNETWORKS_TENSOR_BOOL8) nnv_cv_refuse(c, " of BOOL");
    if (depth > rank) nnv_cv_fail(c, "%u coordinates for a tensor of rank %u", depth, rank);
    if (!nnv_cv_ok(c)) return;
    const uint32_t n = (uint32_t)(nnv_cv_elements(c, given) / depth), flat[] = {n, depth};
    const uint32_t indices = nnv_cv_reshaped(c, given, 2, flat);
    uint32_t count = 1, sum = 0;
    for (uint32_t k = depth; k-- > 0 && nnv_cv_ok(c);) {
        uint32_t at = coordinate(c, indices, n, (int32_t)k);
        if (k + 1 < depth) {
            const uint32_t t = nnv_cv_temp(c, NNV_CV_I32, 1, &n), u = nnv_cv_temp(c, NNV_CV_I32, 1, &n);
            const uint32_t none = nnv_builder_int(&c->b, ANEURALNETWORKS_FUSED_NONE);
            NNV_CV_EMIT(c, ANEURALNETWORKS_MUL, t, at, nnv_cv_filled(c, NNV_CV_I32, 1, &one, count), none);
            NNV_CV_EMIT(c, ANEURALNETWORKS_ADD, u, t, sum, none);
            at = u;
        }
        sum = at;
        count *= nnv_cv_at(c, x)->dims[k];
    }
    if (!nnv_cv_ok(c)) return;
    const uint32_t rest = (uint32_t)(nnv_cv_elements(c, x) / count), list[] = {count, rest}, result[] = {n, rest};
    const uint32_t parts = nnv_cv_reshaped(c, x, 2, list), t = nnv_cv_temp_shaped(c, x, 2, result);
    NNV_CV_EMIT(c, ANEURALNETWORKS_GATHER, t, parts, nnv_builder_int(&c->b, 0), sum);
    nnv_cv_reshape(c, t, y);
}

static void embedding(struct nnv_cv *c) {
    const uint32_t y = nnv_cv_out(c, 0), ids = nnv_cv_in(c, 0);
    const uint32_t table = nnv_cv_is_quant(c, y) ? nnv_cv_in(c, 1) : nnv_cv_weights_float(c, 1);
    NNV_CV_EMIT(c, ANEURALNETWORKS_EMBEDDING_LOOKUP, y, ids, table);
}

static void hashtable(struct nnv_cv *c) {
    const uint32_t in[] = {nnv_cv_in(c, 0), nnv_cv_in(c, 1), nnv_cv_in(c, 2)};
    const uint32_t out[] = {nnv_cv_out(c, 0), nnv_cv_out(c, 1)};
    nnv_cv_emit_n(c, ANEURALNETWORKS_HASHTABLE_LOOKUP, 3, in, 2, out);
}

/** ARG_MAX, ARG_MIN; an axis of a tensor of rank 1 leaves one number. */
static void arg(struct nnv_cv *c) {
    const uint32_t x = nnv_cv_in(c, 0), y = nnv_cv_out(c, 0);
    const int32_t *axis = nnv_cv_ints_exact(c, 1, 1);
    if (!axis) return;
    const uint32_t a = nnv_cv_axis(c, *axis, nnv_cv_at(c, x)->rank);
    NNV_CV_EMIT(c, c->row->nnapi, y, x, nnv_builder_int(&c->b, (int32_t)a));
}

static void top(struct nnv_cv *c) {
    const int32_t *k = nnv_cv_ints_exact(c, 1, 1);
    if (!k) return;
    const uint32_t x = nnv_cv_in(c, 0), in[] = {x, nnv_builder_int(&c->b, *k)},
                   out[] = {nnv_cv_out(c, 0), nnv_cv_out(c, 1)};
    if (nnv_cv_moves(c, x, out[0])) nnv_cv_emit_n(c, ANEURALNETWORKS_TOPK_V2, 2, in, 2, out);
}

/* ------------------------------------------------------------- by a condition */

/** x in y's shape: ones in front, then repeated. */
static uint32_t spread(struct nnv_cv *c, uint32_t x, uint32_t y) {
    if (!nnv_cv_ok(c) || nnv_cv_same_shape(c, x, y)) return x;
    const uint32_t rank = nnv_cv_at(c, y)->rank, own = nnv_cv_at(c, x)->rank;
    uint32_t full[NNV_MAX_RANK];
    int32_t times[NNV_MAX_RANK];
    if (own > rank) {
        nnv_cv_fail(c, "rank %u cannot become rank %u", own, rank);
        return 0;
    }
    for (uint32_t d = 0; d < rank; d++) {
        full[d] = d < rank - own ? 1 : nnv_cv_at(c, x)->dims[d - (rank - own)];
        times[d] = full[d] == 1 ? (int32_t)nnv_cv_at(c, y)->dims[d] : 1;
    }
    const uint32_t whole = nnv_cv_reshaped(c, x, rank, full);
    const uint32_t t = nnv_cv_temp_shaped(c, x, rank, nnv_cv_at(c, y)->dims);
    NNV_CV_EMIT(c, ANEURALNETWORKS_TILE, t, whole, nnv_builder_ints(&c->b, rank, times));
    return t;
}

/** A condition in y's shape: spread as numbers. */
static uint32_t spread_condition(struct nnv_cv *c, uint32_t x, uint32_t y) {
    if (!nnv_cv_ok(c) || nnv_cv_same_shape(c, x, y)) return x;
    const uint32_t wide = nnv_cv_temp_as(c, NNV_CV_B8, y);
    nnv_cv_convert(c, spread(c, nnv_cv_to_float(c, x), y), wide);
    return wide;
}

/** SELECT, SELECT_V2. In the first, a condition of rank 1 chooses whole parts along the first axis. */
static void choose(struct nnv_cv *c) {
    uint32_t condition = nnv_cv_in(c, 0);
    const uint32_t a = nnv_cv_in(c, 1), b = nnv_cv_in(c, 2), y = nnv_cv_out(c, 0);
    if (!nnv_cv_ok(c)) return;
    const uint32_t rank = nnv_cv_at(c, y)->rank;
    if (c->op->code == NNV_TFL_SELECT && nnv_cv_at(c, condition)->rank == 1 && rank > 1 &&
        nnv_cv_elements(c, condition) > 1) {
        uint32_t dims[NNV_MAX_RANK] = {nnv_cv_at(c, condition)->dims[0]};
        for (uint32_t d = 1; d < rank; d++) dims[d] = 1;
        condition = nnv_cv_reshaped(c, condition, rank, dims);
    }
    if (nnv_cv_at(c, a)->type == ANEURALNETWORKS_TENSOR_BOOL8) nnv_cv_refuse(c, " of BOOL");
    const uint32_t wide = spread_condition(c, condition, y);
    NNV_CV_EMIT(c, ANEURALNETWORKS_SELECT, y, wide, spread(c, a, y), spread(c, b, y));
}

/** ONE_HOT: indices compared with 0, 1, ... choose between two values. */
static void one_hot(struct nnv_cv *c) {
    const uint32_t indices = nnv_cv_in(c, 0), on = nnv_cv_in(c, 2), off = nnv_cv_in(c, 3), y = nnv_cv_out(c, 0);
    const int32_t *depth = nnv_cv_ints_exact(c, 1, 1);
    const struct nnv_tfl_tensor *t = nnv_cv_in_tensor(c, 0);
    if (!depth) return;
    const uint32_t rank = nnv_cv_at(c, y)->rank;
    const uint32_t axis = nnv_cv_axis(c, nnv_cv_option(c, 0, 0, "axis"), t->rank + 1);
    if (rank != t->rank + 1 || (nnv_cv_ok(c) && nnv_cv_at(c, y)->dims[axis] != (uint32_t)*depth))
        nnv_cv_fail(c, "the output's shape is not that of %d values for each index", *depth);
    if (!nnv_cv_ok(c)) return;
    uint32_t dims[NNV_MAX_RANK], line[NNV_MAX_RANK];
    for (uint32_t d = 0; d < rank; d++) {
        dims[d] = d == axis ? 1 : nnv_cv_at(c, y)->dims[d];
        line[d] = d == axis ? (uint32_t)*depth : 1;
    }
    int32_t *count = NNV_NEW(c->b.arena, int32_t, (size_t)*depth);
    if (!count) c->b.failed = true;
    for (int32_t i = 0; count && i < *depth; i++) count[i] = i;
    const uint32_t hit = nnv_cv_temp_as(c, NNV_CV_B8, y), column = nnv_cv_reshaped(c, indices, rank, dims);
    if (!nnv_cv_ok(c)) return;
    NNV_CV_EMIT(c, ANEURALNETWORKS_EQUAL, hit, column, nnv_cv_const(c, NNV_CV_I32, rank, line, count));
    NNV_CV_EMIT(c, ANEURALNETWORKS_SELECT, y, hit, spread(c, on, y), spread(c, off, y));
}

/* ----------------------------------------------------- what follows from shapes */

/** Output 0 is a constant of int32; n of them. */
static void known(struct nnv_cv *c, uint32_t n, const int32_t *v) {
    const uint32_t y = nnv_cv_out(c, 0);
    if (!nnv_cv_ok(c)) return;
    if (nnv_cv_at(c, y)->type != ANEURALNETWORKS_TENSOR_INT32 || nnv_cv_elements(c, y) != n) {
        nnv_cv_fail(c, "the output does not hold %u integers", n);
        return;
    }
    const uint32_t k = nnv_cv_const(c, NNV_CV_I32, nnv_cv_at(c, y)->rank, nnv_cv_at(c, y)->dims, v);
    c->operand[c->op->out[0]] = nnv_cv_ok(c) ? k : y;
}

static void shape(struct nnv_cv *c) {
    const struct nnv_tfl_tensor *t = nnv_cv_in_tensor(c, 0);
    int32_t dims[NNV_TFL_MOST_RANK];
    for (uint32_t d = 0; t && d < t->rank; d++) dims[d] = (int32_t)t->dims[d];
    if (t && t->rank == 0)
        nnv_cv_refuse(c, " with a tensor of no elements");
    else if (t)
        known(c, t->rank, dims);
}

static void rank(struct nnv_cv *c) {
    const struct nnv_tfl_tensor *t = nnv_cv_in_tensor(c, 0);
    if (t) known(c, 1, &(int32_t){(int32_t)t->rank});
}

static void range(struct nnv_cv *c) {
    int64_t v[3];
    for (uint32_t i = 0; i < 3; i++) {
        const int32_t *p = nnv_cv_ints_exact(c, i, 1);
        if (!p) return;
        v[i] = *p;
    }
    if (v[2] == 0) {
        nnv_cv_fail(c, "delta is 0");
        return;
    }
    const int64_t span = v[2] > 0 ? v[1] - v[0] : v[0] - v[1], step = v[2] > 0 ? v[2] : -v[2];
    const int64_t n = span > 0 ? (span + step - 1) / step : 0;
    if (n == 0 || n > 1 << 20) nnv_cv_refuse(c, " of %s", n ? "too many numbers" : "no numbers");
    int32_t *to = nnv_cv_ok(c) ? NNV_NEW(c->b.arena, int32_t, (size_t)n) : NULL;
    for (int64_t i = 0; to && i < n; i++) to[i] = (int32_t)(v[0] + i * v[2]);
    if (to) known(c, (uint32_t)n, to);
}

/** FILL: repeats one number. */
static void fill(struct nnv_cv *c) {
    const uint32_t x = nnv_cv_in(c, 1), y = nnv_cv_out(c, 0);
    if (!nnv_cv_moves(c, x, y)) return;
    const bool bits = nnv_cv_at(c, x)->type == ANEURALNETWORKS_TENSOR_BOOL8;
    if (nnv_cv_elements(c, x) != 1) nnv_cv_fail(c, "more than one number to fill with");
    if (!nnv_cv_ok(c)) return;
    if (bits)
        nnv_cv_convert(c, spread_condition(c, x, y), y);
    else if (nnv_cv_same_shape(c, x, y))
        nnv_cv_alias(c, 0, x);
    else {
        uint32_t ones[NNV_MAX_RANK], n = nnv_cv_at(c, y)->rank;
        int32_t times[NNV_MAX_RANK];
        for (uint32_t d = 0; d < n; d++) ones[d] = 1, times[d] = (int32_t)nnv_cv_at(c, y)->dims[d];
        const uint32_t one = nnv_cv_reshaped(c, x, n, ones);
        NNV_CV_EMIT(c, ANEURALNETWORKS_TILE, y, one, nnv_builder_ints(&c->b, n, times));
    }
}

/** ZEROS_LIKE: the shape is known, so are the numbers. */
static void zeros_like(struct nnv_cv *c) {
    enum { MOST = 1 << 22 };
    const uint32_t x = nnv_cv_in(c, 0), y = nnv_cv_out(c, 0);
    if (!nnv_cv_moves(c, x, y)) return;
    if (nnv_cv_elements(c, y) > MOST) nnv_cv_refuse(c, " of more than %d numbers", MOST);
    const struct nnv_operand o = *nnv_cv_at(c, y);
    const uint32_t zeros = nnv_cv_filled(c, nnv_builder_encoding(&c->b, y), o.rank, o.dims, o.zero_point);
    if (nnv_cv_ok(c)) c->operand[c->op->out[0]] = zeros;
}

static const struct nnv_converter rows[] = {
    {NNV_TFL_GATHER, 23, true, 2, 2, 1, 1, 0, NNV_CV_ANY, gather, 0},
    {NNV_TFL_GATHER_ND, 83, true, 2, 2, 1, 1, 0, NNV_CV_ANY, gather_nd, 0},
    {NNV_TFL_EMBEDDING_LOOKUP, 0, true, 2, 2, 1, 1, 0, NNV_CV_INT, embedding, 0},
    {NNV_TFL_HASHTABLE_LOOKUP, 0, true, 3, 3, 2, 2, 0, NNV_CV_INT, hashtable, 0},
    {NNV_TFL_ARG_MAX, 40, true, 2, 2, 1, 1, 0, NNV_CV_NUMBER | NNV_CV_INT, arg, ANEURALNETWORKS_ARGMAX},
    {NNV_TFL_ARG_MIN, 57, true, 2, 2, 1, 1, 0, NNV_CV_NUMBER | NNV_CV_INT, arg, ANEURALNETWORKS_ARGMIN},
    {NNV_TFL_TOPK_V2, 34, true, 2, 2, 2, 2, 0, NNV_CV_NUMBER | NNV_CV_INT, top, 0},
    {NNV_TFL_SELECT, 47, true, 3, 3, 1, 1, 0, NNV_CV_BOOL, choose, 0},
    {NNV_TFL_SELECT_V2, 98, true, 3, 3, 1, 1, 0, NNV_CV_BOOL, choose, 0},
    {NNV_TFL_ONE_HOT, 61, true, 4, 4, 1, 1, 0, NNV_CV_INT, one_hot, 0},
    {NNV_TFL_SHAPE, 55, true, 1, 1, 1, 1, 0, ~0u, shape, 0},
    {NNV_TFL_RANK, 86, true, 1, 1, 1, 1, 0, ~0u, rank, 0},
    {NNV_TFL_RANGE, 73, true, 3, 3, 1, 1, 0, NNV_CV_INT, range, 0},
    {NNV_TFL_FILL, 68, true, 2, 2, 1, 1, 0, NNV_CV_INT, fill, 0},
    {NNV_TFL_ZEROS_LIKE, 67, true, 1, 1, 1, 1, 0, NNV_CV_ANY, zeros_like, 0},
};
const struct nnv_converters nnv_cv_select = {rows, sizeof rows / sizeof *rows};
