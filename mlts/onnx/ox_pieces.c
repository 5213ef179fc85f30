/* SPDX-License-Identifier: Apache-2.0 */
/* Pieces that converters are made of: types, arithmetic, moving data. */
#include <string.h>

#include "mlts/onnx/ox.h"

static uint32_t none(struct nnv_cv *c) { return nnv_builder_int(&c->b, ANEURALNETWORKS_FUSED_NONE); }
static struct nnv_encoding encoding(const struct nnv_cv *c, uint32_t operand) {
    return nnv_builder_encoding(&c->b, operand);
}

/* ----------------------------------------------------------------------- types */

uint32_t nnv_ox_widened(struct nnv_cv *c, uint32_t x) {
    if (!nnv_cv_ok(c) || nnv_cv_at(c, x)->type == ANEURALNETWORKS_TENSOR_INT32) return x;
    const struct nnv_operand *o = nnv_cv_at(c, x);
    if (nnv_cv_is_quant(c, x) && (o->scale != 1 || o->zero_point != 0)) {
        nnv_cv_refuse(c, " of quantised numbers as integers");
        return 0;
    }
    const uint32_t y = nnv_cv_temp_as(c, NNV_CV_I32, x);
    NNV_CV_EMIT(c, ANEURALNETWORKS_CAST, y, nnv_cv_to_float(c, x));
    return y;
}

uint32_t nnv_ox_wrapped(struct nnv_cv *c, uint32_t x, int type) {
    const unsigned bits = nnv_onnx_type_bits(type);
    struct nnv_encoding e;
    if (!nnv_cv_ok(c) || !nnv_ox_encode(c, type, &e) || bits > 16) return x;
    const bool is_signed =
        type == NNV_ONNX_INT8 || type == NNV_ONNX_INT16 || type == NNV_ONNX_INT4 || type == NNV_ONNX_INT2;
    const double range = (double)(1 << bits), low = is_signed ? -range / 2 : 0;
    /* x - range * floor((x - low) / range) */
    const uint32_t above = nnv_ox_difference(c, x, nnv_cv_number(c, x, low));
    const uint32_t turns = nnv_ox_quotient(c, above, nnv_cv_number(c, x, range));
    const uint32_t low_bits = nnv_ox_difference(c, x, nnv_ox_product_of(c, turns, nnv_cv_number(c, x, range)));
    if (!nnv_is_quant(e.type)) return low_bits;
    const uint32_t y = nnv_cv_temp_as(c, e, x);
    nnv_cv_convert(c, low_bits, y);
    return y;
}

uint32_t nnv_ox_floats(struct nnv_cv *c, uint32_t x) {
    return nnv_is_float(nnv_cv_at(c, x)->type) ? x : nnv_cv_to_float(c, x);
}

uint32_t nnv_ox_back(struct nnv_cv *c, uint32_t x, uint32_t like) {
    if (!nnv_cv_ok(c) || nnv_cv_at(c, x)->type == nnv_cv_at(c, like)->type) return x;
    const uint32_t y = nnv_cv_temp_as(c, encoding(c, like), x);
    nnv_cv_from_float(c, x, y);
    return y;
}

/* ------------------------------------------------------------------ arithmetic */

uint32_t nnv_ox_computed(struct nnv_cv *c, int32_t code, uint32_t like, uint32_t nin, const uint32_t *in) {
    if (!nnv_cv_ok(c)) return 0;
    const uint32_t y = nnv_cv_temp_as(c, encoding(c, like), like);
    nnv_cv_emit(c, code, nin, in, y);
    return y;
}

uint32_t nnv_ox_sum(struct nnv_cv *c, uint32_t a, uint32_t b) {
    return nnv_cv_combined(c, ANEURALNETWORKS_ADD, a, b, a);
}
uint32_t nnv_ox_difference(struct nnv_cv *c, uint32_t a, uint32_t b) {
    return nnv_cv_combined(c, ANEURALNETWORKS_SUB, a, b, a);
}
uint32_t nnv_ox_product_of(struct nnv_cv *c, uint32_t a, uint32_t b) {
    return nnv_cv_combined(c, ANEURALNETWORKS_MUL, a, b, a);
}
uint32_t nnv_ox_quotient(struct nnv_cv *c, uint32_t a, uint32_t b) {
    return nnv_cv_combined(c, ANEURALNETWORKS_DIV, a, b, a);
}

uint32_t nnv_ox_linear(struct nnv_cv *c, uint32_t x, double v, double w) {
    if (v != 1) x = nnv_ox_product_of(c, x, nnv_cv_number(c, x, v));
    return w != 0 ? nnv_ox_sum(c, x, nnv_cv_number(c, x, w)) : x;
}

uint32_t nnv_ox_scalar_like(struct nnv_cv *c, uint32_t like, double v) {
    const bool half = nnv_cv_at(c, like)->type == ANEURALNETWORKS_TENSOR_FLOAT16;
    return nnv_builder_scalar(&c->b, half ? ANEURALNETWORKS_FLOAT16 : ANEURALNETWORKS_FLOAT32, v);
}

/* ---------------------------------------------------------------- moving data */

/** The result of a move in x's encoding: NNAPI moves no int32 and booleans here, so they go by way of float32. */
static uint32_t moved(struct nnv_cv *c, int32_t code, uint32_t x, uint32_t rank, const uint32_t *dims, uint32_t nmore,
                      const uint32_t *more) {
    uint32_t in[8] = {nnv_is_float(nnv_cv_at(c, x)->type) ? x : nnv_cv_movable(c, x)};
    if (!nnv_cv_ok(c)) return 0;
    for (uint32_t i = 0; i < nmore; i++) in[i + 1] = more[i];
    const uint32_t y = nnv_cv_temp_shaped(c, in[0], rank, dims);
    nnv_cv_emit(c, code, nmore + 1, in, y);
    return nnv_ox_back(c, y, x);
}
#define MOVED(c, code, x, rank, dims, ...)                                                                             \
    moved((c), (code), (x), (rank), (dims), sizeof((uint32_t[]){__VA_ARGS__}) / sizeof(uint32_t),                      \
          (uint32_t[]){__VA_ARGS__})

static uint32_t ints(struct nnv_cv *c, uint32_t n, const uint32_t *v) {
    int32_t list[2 * NNV_OX_RANK];
    for (uint32_t i = 0; i < n; i++) list[i] = (int32_t)v[i];
    return nnv_builder_ints(&c->b, n, list);
}

/** A constant of any size, without arithmetic: weights of large networks. */
static uint32_t constant_transposed(struct nnv_cv *c, uint32_t x, uint32_t rank, const uint32_t *dims,
                                    const uint32_t *perm) {
    const struct nnv_operand *o = nnv_cv_at(c, x);
    const size_t size = nnv_type(o->type)->size, n = nnv_cv_elements(c, x);
    size_t stride[NNV_OX_RANK], step[NNV_OX_RANK], s = 1, from = 0;
    uint32_t at[NNV_OX_RANK] = {0};
    uint8_t *to = nnv_cv_room(c, n * size) ? nnv_arena_alloc(c->b.arena, n, size) : NULL;
    if (!to) {
        c->b.failed = c->b.failed || nnv_cv_ok(c);
        return 0;
    }
    for (uint32_t d = rank; d-- > 0;) stride[d] = s, s *= o->dims[d];
    for (uint32_t d = 0; d < rank; d++) step[d] = stride[perm[d]];
    for (size_t i = 0; i < n; i++) {
        memcpy(to + i * size, (const uint8_t *)o->data + from * size, size);
        for (uint32_t d = rank; d-- > 0;) {
            from += step[d];
            if (++at[d] < dims[d]) break;
            from -= step[d] * dims[d];
            at[d] = 0;
        }
    }
    return nnv_builder_constant(&c->b, encoding(c, x), rank, dims, to);
}

uint32_t nnv_ox_transposed(struct nnv_cv *c, uint32_t x, uint32_t rank, const uint32_t *perm) {
    uint32_t dims[NNV_OX_RANK];
    bool same = true;
    if (!nnv_cv_ok(c)) return 0;
    for (uint32_t i = 0; i < rank; i++) {
        dims[i] = nnv_cv_at(c, x)->dims[perm[i]];
        same = same && perm[i] == i;
    }
    if (!same && nnv_cv_is_const(c, x)) return constant_transposed(c, x, rank, dims, perm);
    return same ? x : MOVED(c, ANEURALNETWORKS_TRANSPOSE, x, rank, dims, ints(c, rank, perm));
}

uint32_t nnv_ox_reduced(struct nnv_cv *c, int32_t code, uint32_t x, uint32_t n, const uint32_t *axes) {
    uint32_t dims[NNV_OX_RANK];
    if (!nnv_cv_ok(c)) return 0;
    const struct nnv_operand *o = nnv_cv_at(c, x);
    const uint32_t rank = o->rank;
    memcpy(dims, o->dims, rank * sizeof *dims);
    for (uint32_t i = 0; i < n; i++) dims[axes[i]] = 1;
    const uint32_t y = nnv_cv_temp_shaped(c, x, rank, dims);
    const uint32_t keep = code == ANEURALNETWORKS_MEAN ? nnv_builder_int(&c->b, 1) : nnv_builder_bool(&c->b, true);
    NNV_CV_EMIT(c, code, y, x, ints(c, n, axes), keep);
    return y;
}

uint32_t nnv_ox_part(struct nnv_cv *c, uint32_t x, uint32_t axis, uint32_t begin, uint32_t size) {
    uint32_t from[NNV_OX_RANK] = {0}, dims[NNV_OX_RANK];
    if (!nnv_cv_ok(c)) return 0;
    const uint32_t rank = nnv_cv_at(c, x)->rank;
    memcpy(dims, nnv_cv_at(c, x)->dims, rank * sizeof *dims);
    if (dims[axis] == size) return x;
    from[axis] = begin;
    dims[axis] = size;
    return MOVED(c, ANEURALNETWORKS_SLICE, x, rank, dims, ints(c, rank, from), ints(c, rank, dims));
}

uint32_t nnv_ox_joined(struct nnv_cv *c, uint32_t n, const uint32_t *x, uint32_t axis) {
    uint32_t dims[NNV_OX_RANK], sum = 0;
    if (!nnv_cv_ok(c)) return 0;
    uint32_t *in = NNV_NEW(c->b.arena, uint32_t, n + 1);
    if (!in) c->b.failed = true;
    for (uint32_t i = 0; i < n && nnv_cv_ok(c); i++) {
        const bool floats = nnv_is_float(nnv_cv_at(c, x[i])->type);
        sum += nnv_cv_at(c, x[i])->dims[axis];
        in[i] = floats ? x[i] : nnv_cv_movable(c, x[i]);
    }
    if (!nnv_cv_ok(c)) return 0;
    if (n == 1) return x[0];
    const uint32_t rank = nnv_cv_at(c, x[0])->rank;
    memcpy(dims, nnv_cv_at(c, x[0])->dims, rank * sizeof *dims);
    dims[axis] = sum;
    in[n] = nnv_builder_int(&c->b, (int32_t)axis);
    const uint32_t y = nnv_cv_temp_shaped(c, in[0], rank, dims);
    nnv_cv_emit(c, ANEURALNETWORKS_CONCATENATION, n + 1, in, y);
    return nnv_ox_back(c, y, x[0]);
}

uint32_t nnv_ox_padded(struct nnv_cv *c, uint32_t x, const uint32_t *pads, double value) {
    uint32_t dims[NNV_OX_RANK], pairs[2 * NNV_OX_RANK], sum = 0;
    if (!nnv_cv_ok(c)) return 0;
    const uint32_t rank = nnv_cv_at(c, x)->rank, two[] = {rank, 2};
    for (uint32_t i = 0; i < rank; i++) {
        pairs[2 * i] = pads[i];
        pairs[2 * i + 1] = pads[rank + i];
        sum += pads[i] + pads[rank + i];
        dims[i] = nnv_cv_at(c, x)->dims[i] + pads[i] + pads[rank + i];
    }
    if (sum == 0) return x;
    int32_t list[2 * NNV_OX_RANK];
    for (uint32_t i = 0; i < 2 * rank; i++) list[i] = (int32_t)pairs[i];
    const uint32_t cells = nnv_cv_const(c, NNV_CV_I32, 2, two, list);
    const bool quant = nnv_cv_is_quant(c, x), half = nnv_cv_at(c, x)->type == ANEURALNETWORKS_TENSOR_FLOAT16;
    const uint32_t v = nnv_builder_scalar(&c->b,
                                          quant  ? ANEURALNETWORKS_INT32
                                          : half ? ANEURALNETWORKS_FLOAT16
                                                 : ANEURALNETWORKS_FLOAT32,
                                          value);
    return MOVED(c, ANEURALNETWORKS_PAD_V2, x, rank, dims, cells, v);
}

uint32_t nnv_ox_gathered(struct nnv_cv *c, uint32_t x, uint32_t axis, uint32_t n, const int32_t *index) {
    uint32_t dims[NNV_OX_RANK];
    if (!nnv_cv_ok(c)) return 0;
    const bool bits = nnv_cv_at(c, x)->type == ANEURALNETWORKS_TENSOR_BOOL8;
    const uint32_t from = bits ? nnv_cv_to_float(c, x) : x, rank = nnv_cv_at(c, x)->rank;
    memcpy(dims, nnv_cv_at(c, x)->dims, rank * sizeof *dims);
    dims[axis] = n;
    const uint32_t y = nnv_cv_temp_shaped(c, from, rank, dims);
    NNV_CV_EMIT(c, ANEURALNETWORKS_GATHER, y, from, nnv_builder_int(&c->b, (int32_t)axis),
                nnv_builder_ints(&c->b, n, index));
    return nnv_ox_back(c, y, x);
}

/* ---------------------------------------------------------------- broadcasting */

/** Extent d of a shape, seen from the right as one of rank r. */
static uint32_t extent(const struct nnv_ox_value *v, uint32_t r, uint32_t d) {
    return d + v->rank < r ? 1 : v->dims[d + v->rank - r];
}

bool nnv_ox_broadcast(struct nnv_cv *c, const struct nnv_ox_value *a, const struct nnv_ox_value *b,
                      struct nnv_ox_value *r) {
    const struct nnv_ox_value p = *a, q = *b;
    *r = (struct nnv_ox_value){.type = p.type, .rank = p.rank > q.rank ? p.rank : q.rank};
    for (uint32_t d = 0; d < r->rank; d++) {
        const uint32_t m = extent(&p, r->rank, d), n = extent(&q, r->rank, d);
        if (m != n && m != 1 && n != 1) nnv_cv_fail(c, "extents %u and %u do not fit", m, n);
        r->dims[d] = m == 1 ? n : m;
    }
    return nnv_cv_ok(c);
}

void nnv_ox_pair(struct nnv_cv *c, uint32_t i, uint32_t k, const struct nnv_ox_value *r, uint32_t *a, uint32_t *b,
                 struct nnv_ox_value *seen) {
    const struct nnv_ox_value p = *nnv_ox_value(c, i), q = *nnv_ox_value(c, k), whole = *r;
    struct nnv_ox_value s = {.type = whole.type}, m = s, n = s;
    int before = -1;
    *a = nnv_ox_in(c, i);
    *b = nnv_ox_in(c, k);
    *seen = whole;
    if (!nnv_cv_ok(c) || whole.rank <= 4) return;
    /* Neighbours along which both are as wide, or the same one is not, are one axis. */
    for (uint32_t d = 0; d < whole.rank; d++) {
        const uint32_t x = extent(&p, whole.rank, d), y = extent(&q, whole.rank, d);
        const int kind = (x == 1) | (y == 1) << 1;
        if (whole.dims[d] == 1) continue;
        if (kind != before) s.dims[s.rank] = m.dims[s.rank] = n.dims[s.rank] = 1, s.rank++;
        before = kind;
        s.dims[s.rank - 1] *= whole.dims[d];
        m.dims[s.rank - 1] *= x;
        n.dims[s.rank - 1] *= y;
    }
    if (s.rank == 0) s.dims[0] = m.dims[0] = n.dims[0] = 1, s.rank = 1;
    if (s.rank > 4) nnv_cv_refuse(c, " of rank %u that is broadcast", whole.rank);
    *a = nnv_cv_reshaped(c, *a, s.rank, m.dims);
    *b = nnv_cv_reshaped(c, *b, s.rank, n.dims);
    *seen = s;
}

uint32_t nnv_ox_expanded(struct nnv_cv *c, uint32_t x, uint32_t rank, const uint32_t *dims) {
    uint32_t full[4], times[4], to[4];
    bool same = true;
    if (!nnv_cv_ok(c)) return 0;
    const uint32_t missing = rank - nnv_cv_at(c, x)->rank;
    for (uint32_t d = 0; d < rank; d++) full[d] = d < missing ? 1 : nnv_cv_at(c, x)->dims[d - missing];
    x = nnv_cv_reshaped(c, x, rank, full);
    for (uint32_t d = 0; d < rank; d++) {
        times[d] = full[d] == 1 ? dims[d] : 1;
        to[d] = full[d] * times[d];
        same = same && times[d] == 1;
    }
    if (same || !nnv_cv_ok(c)) return x;
    const bool bits = nnv_cv_at(c, x)->type == ANEURALNETWORKS_TENSOR_BOOL8;
    const uint32_t from = bits ? nnv_cv_to_float(c, x) : x, y = nnv_cv_temp_shaped(c, from, rank, to);
    NNV_CV_EMIT(c, ANEURALNETWORKS_TILE, y, from, ints(c, rank, times));
    return nnv_ox_back(c, y, x);
}

uint32_t nnv_ox_dense(struct nnv_cv *c, uint32_t x, uint32_t w, uint32_t bias) {
    if (!nnv_cv_ok(c)) return 0;
    const uint32_t rows = nnv_cv_at(c, x)->dims[0], columns = nnv_cv_at(c, w)->dims[0], dims[] = {rows, columns};
    if (!bias) bias = nnv_cv_filled(c, encoding(c, x), 1, &columns, 0);
    const uint32_t y = nnv_cv_temp_shaped(c, x, 2, dims);
    NNV_CV_EMIT(c, ANEURALNETWORKS_FULLY_CONNECTED, y, x, w, bias, none(c));
    return y;
}

uint32_t nnv_ox_mixed(struct nnv_cv *c, uint32_t x, struct nnv_ox_value *v, uint32_t axis, uint32_t to,
                      const double *matrix) {
    static const uint32_t last[] = {0, 2, 1};
    uint32_t three[3];
    if (!nnv_cv_ok(c)) return 0;
    nnv_ox_around(v, axis, three);
    const uint32_t n = three[1], rows[] = {three[0] * three[2], n}, square[] = {to, n};
    const uint32_t back[] = {three[0], three[2], to};
    x = nnv_ox_transposed(c, nnv_cv_reshaped(c, x, 3, three), 3, last);
    x = nnv_cv_reshaped(c, x, 2, rows);
    const bool ints = nnv_cv_at(c, x)->type == ANEURALNETWORKS_TENSOR_INT32;
    if (!nnv_cv_room(c, (size_t)to * n * 4)) return 0;
    const uint32_t w = nnv_builder_numbers(&c->b, encoding(c, x), 2, square, matrix);
    uint32_t y;
    if (ints) {
        const uint32_t dims[] = {rows[0], to};
        y = nnv_cv_temp_shaped(c, x, 2, dims);
        NNV_CV_EMIT(c, ANEURALNETWORKS_BATCH_MATMUL, y, x, w, nnv_builder_bool(&c->b, false),
                    nnv_builder_bool(&c->b, true));
    } else {
        y = nnv_ox_dense(c, x, w, 0);
    }
    v->dims[axis] = to;
    return nnv_ox_transposed(c, nnv_cv_reshaped(c, y, 3, back), 3, last);
}
