/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers that change their places: shapes, parts, joins, paddings. */
#include <string.h>

#include "mlts/tflite/convert.h"

/* ---------------------------------------------------------------- pieces */

/** The operator's input and output where data only move; floats is set where NNAPI moves no such type. */
struct move {
    uint32_t x, y;                     /**< what the operation reads and writes */
    uint32_t result;                   /**< operand of the output */
    uint32_t rank, dims[NNV_MAX_RANK]; /**< of x */
};

/** Input i to output o; ints: the operation takes int32. False: refused. */
static bool begin(struct nnv_cv *c, uint32_t i, uint32_t o, bool ints, struct move *m) {
    const uint32_t x = nnv_cv_in(c, i);
    *m = (struct move){.x = x, .result = nnv_cv_out(c, o)};
    if (!nnv_cv_moves(c, x, m->result)) return false;
    if (!ints || nnv_cv_at(c, x)->type == ANEURALNETWORKS_TENSOR_BOOL8) m->x = nnv_cv_movable(c, x);
    m->y = m->x == x ? m->result : nnv_cv_temp_as(c, NNV_CV_F32, m->result);
    m->rank = nnv_cv_at(c, x)->rank;
    memcpy(m->dims, nnv_cv_at(c, x)->dims, m->rank * sizeof *m->dims);
    return nnv_cv_ok(c);
}

static void end(struct nnv_cv *c, const struct move *m) {
    if (m->y != m->result) nnv_cv_convert(c, m->y, m->result);
}

/** Copies n numbers as extents or positions into an operand. */
static uint32_t numbers(struct nnv_cv *c, const int64_t *v, uint32_t n) {
    int32_t narrow[2 * NNV_MAX_RANK] = {0};
    for (uint32_t i = 0; i < n && i < 2 * NNV_MAX_RANK; i++) narrow[i] = (int32_t)v[i];
    return nnv_builder_ints(&c->b, n, narrow);
}

/** The one number of a constant input. */
static int32_t single(struct nnv_cv *c, uint32_t i) {
    const int32_t *v = nnv_cv_ints_exact(c, i, 1);
    return v ? v[0] : 0;
}

/* ---------------------------------------------------------------------- shapes */

/** RESHAPE, and what is nothing else: the output's shape says all. */
static void reshape(struct nnv_cv *c) {
    const uint32_t x = nnv_cv_in(c, 0), y = nnv_cv_out(c, 0);
    if (!nnv_cv_moves(c, x, y)) return;
    if (nnv_cv_elements(c, x) != nnv_cv_elements(c, y))
        nnv_cv_fail(c, "%zu numbers cannot become %zu", nnv_cv_elements(c, x), nnv_cv_elements(c, y));
    nnv_cv_reshape(c, x, y);
}

static void squeeze(struct nnv_cv *c) {
    const uint32_t x = nnv_cv_in(c, 0), y = nnv_cv_out(c, 0);
    if (!nnv_cv_ok(c)) return;
    int32_t axes[NNV_MAX_RANK];
    uint32_t n = 0, rank = nnv_cv_at(c, x)->rank;
    struct nnv_flat_vector given = {0};
    if (nnv_flat_present(c->op->options)) given = nnv_flat_vector_at(c->op->options, 0, 4, "squeeze_dims");
    for (uint32_t i = 0; i < given.count && i < NNV_TFL_MOST_RANK; i++)
        axes[n++] = (int32_t)nnv_cv_axis(c, nnv_flat_i32(given, i), rank);
    for (uint32_t d = 0; d < rank && given.count == 0; d++)
        if (nnv_cv_at(c, x)->dims[d] == 1) axes[n++] = (int32_t)d;
    const bool moves = nnv_cv_at(c, x)->type == ANEURALNETWORKS_TENSOR_FLOAT32 || nnv_cv_is_quant(c, x);
    if (!moves || rank > 4 || n == 0 || n >= rank)
        reshape(c);
    else if (nnv_cv_moves(c, x, y))
        NNV_CV_EMIT(c, ANEURALNETWORKS_SQUEEZE, y, x, nnv_builder_ints(&c->b, n, axes));
}

static void expand_dims(struct nnv_cv *c) {
    const uint32_t x = nnv_cv_in(c, 0), y = nnv_cv_out(c, 0);
    if (!nnv_cv_ok(c)) return;
    const struct nnv_tfl_tensor *t = nnv_cv_in_tensor(c, 0);
    const uint32_t axis = nnv_cv_axis(c, single(c, 1), t->rank + 1);
    if (t->rank == 0 || nnv_cv_at(c, x)->type == ANEURALNETWORKS_TENSOR_BOOL8)
        reshape(c);
    else if (nnv_cv_moves(c, x, y))
        NNV_CV_EMIT(c, ANEURALNETWORKS_EXPAND_DIMS, y, x, nnv_builder_int(&c->b, (int32_t)axis));
}

static void transpose(struct nnv_cv *c) {
    struct move m;
    if (!begin(c, 0, 0, false, &m)) return;
    const int32_t *order = nnv_cv_ints_exact(c, 1, m.rank);
    if (!order) return;
    NNV_CV_EMIT(c, ANEURALNETWORKS_TRANSPOSE, m.y, m.x, nnv_builder_ints(&c->b, m.rank, order));
    end(c, &m);
}

/** SPACE_TO_DEPTH, DEPTH_TO_SPACE. */
static void blocks(struct nnv_cv *c) {
    struct move m;
    if (!begin(c, 0, 0, false, &m)) return;
    NNV_CV_EMIT(c, c->row->nnapi, m.y, m.x, nnv_builder_int(&c->b, nnv_cv_option_positive(c, 0, 0, "block_size")));
    end(c, &m);
}

/** As an image of width 1 where there is one dimension of space: rank and extents in dims. */
static bool as_image(uint32_t rank, uint32_t dims[4]) {
    if (rank != 3) return false;
    dims[3] = dims[2];
    dims[2] = 1;
    return true;
}

static void space_to_batch(struct nnv_cv *c) {
    struct move m;
    uint32_t n, result[4] = {0};
    if (!begin(c, 0, 0, false, &m)) return;
    const int32_t *block = nnv_cv_ints_of(c, 1, &n), *pads = block ? nnv_cv_ints_exact(c, 2, 2 * n) : NULL;
    if (!pads) return;
    if ((m.rank != 3 && m.rank != 4) || n != m.rank - 2 || nnv_cv_at(c, m.y)->rank != m.rank) {
        nnv_cv_refuse(c, " of rank %u", m.rank);
        return;
    }
    memcpy(result, nnv_cv_at(c, m.y)->dims, m.rank * sizeof *result);
    const int32_t block2[] = {block[0], n > 1 ? block[1] : 1};
    const int32_t pads2[] = {pads[0], pads[1], n > 1 ? pads[2] : 0, n > 1 ? pads[3] : 0};
    uint32_t x = m.x, y = m.y;
    if (as_image(m.rank, m.dims)) {
        as_image(m.rank, result);
        x = nnv_cv_reshaped(c, x, 4, m.dims);
        y = nnv_cv_temp_shaped(c, x, 4, result);
    }
    const uint32_t two[] = {2, 2};
    NNV_CV_EMIT(c, ANEURALNETWORKS_SPACE_TO_BATCH_ND, y, x, nnv_builder_ints(&c->b, 2, block2),
                nnv_cv_const(c, NNV_CV_I32, 2, two, pads2));
    nnv_cv_reshape(c, y, m.y);
    end(c, &m);
}

/** A part of x: begin and size for each dimension. */
static void cut(struct nnv_cv *c, uint32_t x, uint32_t y, uint32_t rank, const int64_t *from) {
    int64_t size[NNV_MAX_RANK];
    for (uint32_t d = 0; d < rank; d++) size[d] = nnv_cv_at(c, y)->dims[d];
    NNV_CV_EMIT(c, ANEURALNETWORKS_SLICE, y, x, numbers(c, from, rank), numbers(c, size, rank));
}

static void batch_to_space(struct nnv_cv *c) {
    struct move m;
    uint32_t n, whole[4] = {0};
    if (!begin(c, 0, 0, false, &m)) return;
    const int32_t *block = nnv_cv_ints_of(c, 1, &n), *crops = block ? nnv_cv_ints_exact(c, 2, 2 * n) : NULL;
    if (!crops) return;
    if ((m.rank != 3 && m.rank != 4) || n != m.rank - 2) {
        nnv_cv_refuse(c, " of rank %u", m.rank);
        return;
    }
    const int32_t block2[] = {block[0], n > 1 ? block[1] : 1};
    const int64_t from[] = {0, crops[0], n > 1 ? crops[2] : 0, 0};
    as_image(m.rank, m.dims);
    const int64_t area = (int64_t)block2[0] * block2[1];
    if (block2[0] < 1 || block2[1] < 1 || crops[0] < 0 || m.dims[0] % area != 0) {
        nnv_cv_fail(c, "blocks of %d by %d do not divide a batch of %u", block2[0], block2[1], m.dims[0]);
        return;
    }
    whole[0] = (uint32_t)(m.dims[0] / area);
    whole[1] = m.dims[1] * (uint32_t)block2[0];
    whole[2] = m.dims[2] * (uint32_t)block2[1];
    whole[3] = m.dims[3];
    const uint32_t x = nnv_cv_reshaped(c, m.x, 4, m.dims), t = nnv_cv_temp_shaped(c, m.x, 4, whole);
    NNV_CV_EMIT(c, ANEURALNETWORKS_BATCH_TO_SPACE_ND, t, x, nnv_builder_ints(&c->b, 2, block2));
    uint32_t result[4] = {0}, y = t;
    if (!nnv_cv_ok(c)) return;
    memcpy(result, nnv_cv_at(c, m.y)->dims, m.rank * sizeof *result);
    as_image(m.rank, result);
    if (nnv_cv_at(c, m.y)->rank != m.rank) nnv_cv_fail(c, "the output has another rank than the input");
    if (memcmp(result, whole, sizeof result) != 0) {
        y = nnv_cv_temp_shaped(c, m.x, 4, result);
        cut(c, t, y, 4, from);
    }
    nnv_cv_reshape(c, y, m.y);
    end(c, &m);
}

/* ------------------------------------------------------------- joins and parts */

/** Input i in the type that a join of y's type is made in. */
static uint32_t joined(struct nnv_cv *c, uint32_t i) { return nnv_cv_movable(c, nnv_cv_in(c, i)); }

static void concatenation(struct nnv_cv *c) {
    enum { AXIS, ACTIVATION };
    const uint32_t y = nnv_cv_out(c, 0), n = c->op->nin;
    if (nnv_cv_option_enum(c, ACTIVATION, 5, "fused_activation_function") != 0) nnv_cv_refuse(c, " with an activation");
    uint32_t *in = NNV_NEW(c->b.arena, uint32_t, n + 1);
    if (!in) c->b.failed = true;
    for (uint32_t i = 0; i < n && nnv_cv_ok(c); i++) in[i] = joined(c, i);
    if (!nnv_cv_ok(c)) return;
    const uint32_t axis = nnv_cv_axis(c, nnv_cv_option(c, AXIS, 0, "axis"), nnv_cv_at(c, y)->rank);
    in[n] = nnv_builder_int(&c->b, (int32_t)axis);
    const uint32_t t = nnv_cv_is_quant(c, y) ? y : nnv_cv_float_for(c, y);
    nnv_cv_emit(c, ANEURALNETWORKS_CONCATENATION, n + 1, in, t);
    if (t != y) nnv_cv_convert(c, t, y);
}

static void pack(struct nnv_cv *c) {
    enum { COUNT, AXIS };
    const uint32_t n = c->op->nin, y = nnv_cv_out(c, 0);
    const int32_t count = nnv_cv_option(c, COUNT, 0, "values_count");
    if (count != (int32_t)n) nnv_cv_fail(c, "values_count is %d, but there are %u inputs", count, n);
    const struct nnv_tfl_tensor *t = nnv_cv_in_tensor(c, 0);
    uint32_t *in = NNV_NEW(c->b.arena, uint32_t, n + 1);
    if (!in) c->b.failed = true;
    if (!nnv_cv_ok(c)) return;
    const uint32_t axis = nnv_cv_axis(c, nnv_cv_option(c, AXIS, 0, "axis"), t->rank + 1);
    const bool scalars = t->rank == 0, bits = nnv_cv_at(c, y)->type == ANEURALNETWORKS_TENSOR_BOOL8;
    for (uint32_t i = 0; i < n && nnv_cv_ok(c); i++) {
        if (nnv_cv_moves(c, nnv_cv_in(c, i), y)) in[i + 1] = nnv_cv_in(c, i);
        if (bits) in[i + 1] = nnv_cv_to_float(c, in[i + 1]);
    }
    if (!nnv_cv_ok(c)) return;
    in[0] = nnv_builder_int(&c->b, (int32_t)axis);
    uint32_t z = bits ? nnv_cv_temp_as(c, NNV_CV_F32, y) : y, column[] = {n, 1};
    const uint32_t to = scalars ? nnv_cv_temp_shaped(c, z, 2, column) : z; /* numbers are vectors of one */
    nnv_cv_emit(c, ANEURALNETWORKS_PACK, n + 1, in, to);
    nnv_cv_reshape(c, to, z);
    if (z != y) nnv_cv_convert(c, z, y);
}

/** Part k of n along an axis: equal parts of x as outputs of the operator, through temporaries of shape dims. */
static void split_into(struct nnv_cv *c, uint32_t i, uint32_t axis, bool drop) {
    const uint32_t n = c->op->nout, x = nnv_cv_in(c, i);
    uint32_t *part = NNV_NEW(c->b.arena, uint32_t, n), dims[NNV_MAX_RANK];
    if (!part) c->b.failed = true;
    if (!nnv_cv_ok(c)) return;
    const uint32_t from = nnv_cv_at(c, x)->type == ANEURALNETWORKS_TENSOR_BOOL8 ? nnv_cv_to_float(c, x) : x;
    const uint32_t rank = nnv_cv_at(c, x)->rank;
    memcpy(dims, nnv_cv_at(c, x)->dims, rank * sizeof *dims);
    if (dims[axis] % n != 0) {
        nnv_cv_fail(c, "an extent of %u cannot be split into %u", dims[axis], n);
        return;
    }
    dims[axis] /= n;
    for (uint32_t k = 0; k < n && nnv_cv_ok(c); k++) {
        const uint32_t y = nnv_cv_out(c, k);
        if (!nnv_cv_moves(c, x, y)) return;
        part[k] = drop || from != x ? nnv_cv_temp_shaped(c, from, rank, dims) : y;
    }
    const uint32_t in[] = {from, nnv_builder_int(&c->b, (int32_t)axis), nnv_builder_int(&c->b, (int32_t)n)};
    nnv_cv_emit_n(c, ANEURALNETWORKS_SPLIT, 3, in, n, part);
    for (uint32_t k = 0; k < n && nnv_cv_ok(c); k++) {
        const uint32_t y = nnv_cv_out(c, k);
        if (part[k] == y) continue;
        const uint32_t z = from != x ? nnv_cv_temp_as(c, NNV_CV_F32, y) : y;
        nnv_cv_reshape(c, part[k], z);
        if (z != y) nnv_cv_convert(c, z, y);
    }
}

static void split(struct nnv_cv *c) {
    const struct nnv_tfl_tensor *x = nnv_cv_in_tensor(c, 1);
    const int32_t axis = single(c, 0), n = nnv_cv_option_positive(c, 0, 0, "num_splits");
    if (n != (int32_t)c->op->nout) nnv_cv_fail(c, "num_splits is %d, but there are %u outputs", n, c->op->nout);
    if (nnv_cv_ok(c)) split_into(c, 1, nnv_cv_axis(c, axis, x->rank), false);
}

static void unpack(struct nnv_cv *c) {
    const struct nnv_tfl_tensor *x = nnv_cv_in_tensor(c, 0);
    const int32_t n = nnv_cv_option_positive(c, 0, 0, "num");
    if (!x || !nnv_cv_ok(c)) return;
    const uint32_t axis = nnv_cv_axis(c, nnv_cv_option(c, 1, 0, "axis"), x->rank);
    if (n != (int32_t)c->op->nout || (nnv_cv_ok(c) && x->dims[axis] != c->op->nout))
        nnv_cv_fail(c, "num is %d, but there are %u outputs", n, c->op->nout);
    if (nnv_cv_ok(c)) split_into(c, 0, axis, x->rank > 1);
}

static void split_uneven(struct nnv_cv *c) {
    const uint32_t n = c->op->nout;
    const struct nnv_tfl_tensor *x = nnv_cv_in_tensor(c, 0);
    const int32_t *size = nnv_cv_ints_exact(c, 1, n);
    const int32_t axis = single(c, 2);
    if (!size || !nnv_cv_ok(c)) return;
    const uint32_t d = nnv_cv_axis(c, axis, x->rank);
    int64_t from[NNV_MAX_RANK] = {0};
    for (uint32_t k = 0; k < n; k++) {
        struct move m;
        if (!begin(c, 0, k, true, &m)) return;
        if (nnv_cv_at(c, m.y)->rank != m.rank) nnv_cv_fail(c, "output %u has another rank than the input", k);
        if (!nnv_cv_ok(c)) return;
        cut(c, m.x, m.y, m.rank, from);
        from[d] += nnv_cv_at(c, m.y)->dims[d];
        end(c, &m);
    }
    if (nnv_cv_ok(c) && from[d] != x->dims[d])
        nnv_cv_fail(c, "the parts add up to %lld of %u", (long long)from[d], x->dims[d]);
}

static void slice(struct nnv_cv *c) {
    struct move m;
    if (!begin(c, 0, 0, true, &m)) return;
    const int32_t *from = nnv_cv_ints_exact(c, 1, m.rank), *size = from ? nnv_cv_ints_exact(c, 2, m.rank) : NULL;
    if (!size) return;
    NNV_CV_EMIT(c, ANEURALNETWORKS_SLICE, m.y, m.x, nnv_builder_ints(&c->b, m.rank, from),
                nnv_builder_ints(&c->b, m.rank, size));
    end(c, &m);
}

/* ----------------------------------------------------------------- strided slices */

/** One dimension of the input as it is sliced. */
struct range {
    int64_t begin, end, stride;
    bool to_start; /**< a falling range that ends with element 0: no number says so */
};

static int64_t clamp(int64_t v, int64_t lo, int64_t hi) { return v < lo ? lo : v > hi ? hi : v; }

/** Entry k of begin, end and stride for an extent of n, all masks applied; *shrunk: the dimension goes away. */
static struct range range_of(struct nnv_cv *c, uint32_t k, int64_t n, const int32_t *b, const int32_t *e,
                             const int32_t *s, bool shrunk, bool offset) {
    enum { BEGIN_MASK, END_MASK };
    struct range r = {b[k], e[k], s[k], false};
    if (r.stride == 0) nnv_cv_fail(c, "stride %u is 0", k);
    if (offset) r.end += r.begin;
    if (r.begin < 0) r.begin += n;
    if (r.end < 0 && !offset) r.end += n;
    if (shrunk) {
        if (r.begin < 0 || r.begin >= n) nnv_cv_fail(c, "element %d of an extent of %lld", b[k], (long long)n);
        return (struct range){r.begin, r.begin + 1, 1, false};
    }
    const bool falls = r.stride < 0;
    if (nnv_cv_option(c, BEGIN_MASK, 0, "begin_mask") >> k & 1) r.begin = falls ? n - 1 : 0;
    if (nnv_cv_option(c, END_MASK, 0, "end_mask") >> k & 1) r.end = falls ? -1 : n;
    r.begin = clamp(r.begin, falls ? -1 : 0, falls ? n - 1 : n);
    r.end = clamp(r.end, falls ? -1 : 0, falls ? n - 1 : n);
    r.to_start = falls && r.end < 0;
    return r;
}

/** The ranges of all dimensions of the input; the masks' ellipsis and new dimensions are resolved. */
static bool ranges(struct nnv_cv *c, uint32_t rank, const uint32_t *dims, struct range *r) {
    enum { ELLIPSIS = 2, NEW_AXIS, SHRINK, OFFSET };
    uint32_t n, d = 0, fresh = 0;
    const int32_t *b = nnv_cv_ints_of(c, 1, &n), *e = b ? nnv_cv_ints_exact(c, 2, n) : NULL;
    const int32_t *s = e ? nnv_cv_ints_exact(c, 3, n) : NULL;
    const int32_t ellipsis = nnv_cv_option(c, ELLIPSIS, 0, "ellipsis_mask");
    const int32_t added = nnv_cv_option(c, NEW_AXIS, 0, "new_axis_mask");
    const int32_t shrink = nnv_cv_option(c, SHRINK, 0, "shrink_axis_mask");
    const bool offset = nnv_cv_option_bool(c, OFFSET, false, "offset");
    if (!s) return false;
    if (n > NNV_TFL_MOST_RANK) nnv_cv_fail(c, "%u ranges", n);
    for (uint32_t k = 0; k < n && nnv_cv_ok(c); k++)
        if (!(ellipsis >> k & 1) && added >> k & 1) fresh++;
    for (uint32_t k = 0; k < n && nnv_cv_ok(c); k++) {
        if (ellipsis >> k & 1) { /* so many that those behind it fit */
            uint32_t behind = 0;
            for (uint32_t j = k + 1; j < n; j++) behind += !(added >> j & 1);
            for (; d + behind < rank; d++) r[d] = (struct range){0, dims[d], 1, false};
        } else if (!(added >> k & 1)) {
            if (d == rank) {
                nnv_cv_fail(c, "%u ranges for a tensor of rank %u", n - fresh, rank);
                return false;
            }
            r[d] = range_of(c, k, dims[d], b, e, s, shrink >> k & 1, offset);
            d++;
        }
    }
    for (; d < rank; d++) r[d] = (struct range){0, dims[d], 1, false};
    return nnv_cv_ok(c);
}

static void strided_slice(struct nnv_cv *c) {
    struct move m;
    struct range r[NNV_MAX_RANK];
    int64_t from[NNV_MAX_RANK], to[NNV_MAX_RANK], step[NNV_MAX_RANK];
    uint32_t dims[NNV_MAX_RANK];
    int32_t end_mask = 0;
    bool plain = true;
    if (!begin(c, 0, 0, true, &m) || !ranges(c, m.rank, m.dims, r)) return;
    for (uint32_t d = 0; d < m.rank; d++) {
        int64_t span = r[d].stride > 0 ? r[d].end - r[d].begin : r[d].begin - r[d].end;
        int64_t step_size = r[d].stride > 0 ? r[d].stride : -r[d].stride;
        if (span <= 0) nnv_cv_refuse(c, " with a tensor of no elements");
        dims[d] = span > 0 ? (uint32_t)((span + step_size - 1) / step_size) : 0;
        from[d] = r[d].begin, to[d] = r[d].to_start ? 0 : r[d].end, step[d] = r[d].stride;
        if (r[d].to_start) end_mask |= 1 << d;
        plain = plain && r[d].stride == 1;
    }
    if (!nnv_cv_ok(c)) return;
    /* int32: SLICE takes it, STRIDED_SLICE does not. */
    const uint32_t x = plain ? m.x : nnv_cv_movable(c, m.x), t = nnv_cv_temp_shaped(c, x, m.rank, dims);
    if (plain && nnv_cv_at(c, x)->type == ANEURALNETWORKS_TENSOR_INT32)
        cut(c, x, t, m.rank, from);
    else
        NNV_CV_EMIT(c, ANEURALNETWORKS_STRIDED_SLICE, t, x, numbers(c, from, m.rank), numbers(c, to, m.rank),
                    numbers(c, step, m.rank), nnv_builder_int(&c->b, 0), nnv_builder_int(&c->b, end_mask),
                    nnv_builder_int(&c->b, 0));
    if (!nnv_cv_ok(c)) return;
    const uint32_t z = x != m.x ? nnv_cv_temp_as(c, NNV_CV_F32, m.y) : m.y;
    nnv_cv_reshape(c, t, z);
    if (z != m.y) nnv_cv_convert(c, z, m.y);
    end(c, &m);
}

/* ------------------------------------------------------------------- repetition */

/** PAD, MIRROR_PAD, PADV2: a row [before, behind] a dimension. */
static void pad(struct nnv_cv *c) {
    struct move m;
    const bool mirror = c->row->nnapi == ANEURALNETWORKS_MIRROR_PAD, value = c->row->nnapi == ANEURALNETWORKS_PAD_V2;
    if (!begin(c, 0, 0, mirror, &m)) return;
    const int32_t *pads = nnv_cv_ints_exact(c, 1, 2 * m.rank);
    const uint32_t table[] = {m.rank, 2};
    if (!pads) return;
    uint32_t in[3] = {m.x, nnv_cv_const(c, NNV_CV_I32, 2, table, pads)};
    if (mirror) in[2] = nnv_builder_int(&c->b, nnv_cv_option_enum(c, 0, 1, "mode"));
    if (value) {
        const uint32_t v = nnv_cv_movable(c, nnv_cv_in(c, 2));
        double number;
        if (!nnv_cv_ok(c)) return;
        if (!nnv_cv_is_const(c, v) || nnv_cv_elements(c, v) != 1) {
            nnv_cv_refuse(c, " with a computed value");
            return;
        }
        nnv_load(nnv_cv_at(c, v)->type, nnv_cv_at(c, v)->data, 1, &number);
        in[2] =
            nnv_cv_is_quant(c, v) ? nnv_builder_int(&c->b, (int32_t)number) : nnv_builder_float(&c->b, (float)number);
    }
    nnv_cv_emit(c, c->row->nnapi, mirror || value ? 3 : 2, in, m.y);
    end(c, &m);
}

static void tile(struct nnv_cv *c) {
    struct move m;
    if (!begin(c, 0, 0, true, &m)) return;
    const int32_t *times = nnv_cv_ints_exact(c, 1, m.rank);
    if (!times) return;
    NNV_CV_EMIT(c, ANEURALNETWORKS_TILE, m.y, m.x, nnv_builder_ints(&c->b, m.rank, times));
    end(c, &m);
}

/** BROADCAST_TO: ones in front, then TILE. */
static void broadcast(struct nnv_cv *c) {
    struct move m;
    if (!begin(c, 0, 0, true, &m)) return;
    const uint32_t rank = nnv_cv_at(c, m.y)->rank;
    if (rank < m.rank) nnv_cv_fail(c, "rank %u cannot become rank %u", m.rank, rank);
    if (!nnv_cv_ok(c)) return;
    uint32_t full[NNV_MAX_RANK];
    int64_t times[NNV_MAX_RANK];
    for (uint32_t d = 0; d < rank; d++) {
        full[d] = d < rank - m.rank ? 1 : m.dims[d - (rank - m.rank)];
        times[d] = full[d] == 1 ? nnv_cv_at(c, m.y)->dims[d] : 1;
    }
    const uint32_t x = nnv_cv_reshaped(c, m.x, rank, full);
    NNV_CV_EMIT(c, ANEURALNETWORKS_TILE, m.y, x, numbers(c, times, rank));
    end(c, &m);
}

static void reverse(struct nnv_cv *c) {
    struct move m;
    uint32_t n;
    if (!begin(c, 0, 0, true, &m)) return;
    const int32_t *axes = nnv_cv_ints_of(c, 1, &n);
    if (!axes) return;
    uint32_t x = m.x;
    for (uint32_t i = 0; i < n && nnv_cv_ok(c); i++) { /* one after the other */
        const int32_t axis = (int32_t)nnv_cv_axis(c, axes[i], m.rank);
        const uint32_t y = i + 1 < n ? nnv_cv_temp_as(c, nnv_builder_encoding(&c->b, m.y), m.y) : m.y;
        NNV_CV_EMIT(c, ANEURALNETWORKS_REVERSE, y, x, nnv_builder_ints(&c->b, 1, &axis));
        x = y;
    }
    if (n == 0) nnv_cv_reshape(c, x, m.y);
    end(c, &m);
}

#define ANY NNV_CV_ANY
#define MANY NNV_CV_MANY
static const struct nnv_converter rows[] = {
    {NNV_TFL_RESHAPE, 17, true, 1, 2, 1, 1, 0, ANY, reshape, 0},
    {NNV_TFL_SQUEEZE, 30, true, 1, 1, 1, 1, 0, ANY, squeeze, 0},
    {NNV_TFL_EXPAND_DIMS, 52, true, 2, 2, 1, 1, 0, ANY, expand_dims, 0},
    {NNV_TFL_TRANSPOSE, 26, true, 2, 2, 1, 1, 0, ANY, transpose, 0},
    {NNV_TFL_SPACE_TO_DEPTH, 19, false, 1, 1, 1, 1, 0, ANY, blocks, ANEURALNETWORKS_SPACE_TO_DEPTH},
    {NNV_TFL_DEPTH_TO_SPACE, 94, false, 1, 1, 1, 1, 0, ANY, blocks, ANEURALNETWORKS_DEPTH_TO_SPACE},
    {NNV_TFL_SPACE_TO_BATCH_ND, 25, true, 3, 3, 1, 1, 0, ANY, space_to_batch, 0},
    {NNV_TFL_BATCH_TO_SPACE_ND, 24, true, 3, 3, 1, 1, 0, ANY, batch_to_space, 0},
    {NNV_TFL_CONCATENATION, 10, false, 1, MANY, 1, 1, 0, ANY, concatenation, 0},
    {NNV_TFL_PACK, 59, false, 1, MANY, 1, 1, 0, ANY, pack, 0},
    {NNV_TFL_SPLIT, 35, false, 2, 2, 1, MANY, 1, ANY, split, 0},
    {NNV_TFL_SPLIT_V, 79, true, 3, 3, 1, MANY, 0, ANY, split_uneven, 0},
    {NNV_TFL_UNPACK, 64, false, 1, 1, 1, MANY, 0, ANY, unpack, 0},
    {NNV_TFL_SLICE, 48, true, 3, 3, 1, 1, 0, ANY, slice, 0},
    {NNV_TFL_STRIDED_SLICE, 32, true, 4, 4, 1, 1, 0, ANY, strided_slice, 0},
    {NNV_TFL_PAD, 22, true, 2, 2, 1, 1, 0, ANY, pad, ANEURALNETWORKS_PAD},
    {NNV_TFL_PADV2, 43, true, 3, 3, 1, 1, 0, ANY, pad, ANEURALNETWORKS_PAD_V2},
    {NNV_TFL_MIRROR_PAD, 77, true, 2, 2, 1, 1, 0, ANY, pad, ANEURALNETWORKS_MIRROR_PAD},
    {NNV_TFL_TILE, 51, true, 2, 2, 1, 1, 0, ANY, tile, 0},
    {NNV_TFL_BROADCAST_TO, 104, true, 2, 2, 1, 1, 0, ANY, broadcast, 0},
    {NNV_TFL_REVERSE_V2, 81, true, 2, 2, 1, 1, 0, ANY, reverse, 0},
};
const struct nnv_converters nnv_cv_move = {rows, sizeof rows / sizeof *rows};
