/* SPDX-License-Identifier: Apache-2.0 */
/* What follows from shapes and constants alone. */
#include <math.h>
#include <string.h>

#include "mlts/onnx/ox.h"

/** Where a slice of the shape begins or ends: negative ones count from the end. */
static uint32_t clamped(int64_t v, uint32_t rank) {
    if (v < 0) v += rank;
    return v < 0 ? 0 : v > rank ? rank : (uint32_t)v;
}

static void shape(struct nnv_cv *c) {
    const struct nnv_ox_value v = *nnv_ox_value(c, 0);
    const uint32_t from = clamped(nnv_ox_int(c, "start", 0), v.rank),
                   to = clamped(nnv_ox_int(c, "end", v.rank), v.rank);
    int64_t dims[NNV_OX_RANK];
    uint32_t n = 0;
    for (uint32_t i = from; i < to; i++) dims[n++] = v.dims[i];
    nnv_ox_give_ints(c, 0, 1, &n, dims);
}

static void size(struct nnv_cv *c) {
    const int64_t n = (int64_t)nnv_ox_elements(nnv_ox_value(c, 0));
    nnv_ox_give_ints(c, 0, 0, (const uint32_t[]){0}, &n);
}

/** One that is a tensor is known before any node is looked at. */
static void constant(struct nnv_cv *c) {
    const struct nnv_onnx_attribute *a = nnv_ox_attribute(c, "value");
    if (a) return;
    const uint32_t one = 1;
    if ((a = nnv_ox_attribute(c, "value_float")) != NULL)
        nnv_ox_give(c, 0, nnv_cv_const(c, NNV_CV_F32, 1, &one, &a->f), NNV_ONNX_FLOAT, 0, &one);
    else if ((a = nnv_ox_attribute(c, "value_floats")) != NULL && a->count)
        nnv_ox_give(c, 0, nnv_cv_const(c, NNV_CV_F32, 1, &a->count, a->floats), NNV_ONNX_FLOAT, 1, &a->count);
    else if ((a = nnv_ox_attribute(c, "value_int")) != NULL)
        nnv_ox_give_ints(c, 0, 0, &one, &a->i);
    else if ((a = nnv_ox_attribute(c, "value_ints")) != NULL)
        nnv_ox_give_ints(c, 0, 1, &a->count, a->ints);
}

static void constant_of_shape(struct nnv_cv *c) {
    const struct nnv_onnx_attribute *a = nnv_ox_attribute(c, "value");
    const struct nnv_onnx_tensor *t = a ? a->t : NULL;
    uint32_t n, dims[NNV_OX_RANK];
    const int64_t *shape_of = nnv_ox_ints(c, 0, &n);
    struct nnv_ox_value v = {.type = t ? t->type : NNV_ONNX_FLOAT, .rank = n};
    struct nnv_encoding e;
    if (a && (!t || !t->data || t->elems != 1)) nnv_cv_fail(c, "its value is not one number");
    if (n > NNV_OX_RANK) nnv_cv_refuse(c, " of rank %u", n);
    for (uint32_t i = 0; i < n && nnv_cv_ok(c); i++) {
        if (shape_of[i] < 0 || shape_of[i] > INT32_MAX) nnv_cv_fail(c, "an extent of %lld", (long long)shape_of[i]);
        v.dims[i] = dims[i] = (uint32_t)shape_of[i];
        if (dims[i] == 0) nnv_cv_refuse(c, " with a tensor of no elements");
    }
    if (!nnv_cv_ok(c) || !nnv_ox_encode(c, v.type, &e)) return;
    const size_t all = nnv_ox_elements(&v);
    if (all > INT32_MAX) nnv_cv_refuse(c, " of %zu numbers", all);
    const uint32_t flat = (uint32_t)all;
    const uint32_t x = n == 0 || n > 4 ? nnv_cv_filled(c, e, 1, &flat, t ? nnv_onnx_number(t, 0) : 0)
                                       : nnv_cv_filled(c, e, n, dims, t ? nnv_onnx_number(t, 0) : 0);
    nnv_ox_give(c, 0, x, v.type, n, dims);
}

static void range(struct nnv_cv *c) {
    enum { MOST = 1 << 24 };
    uint32_t n[3];
    const int type = nnv_ox_value(c, 0)->type;
    const double *begin = nnv_ox_numbers(c, 0, &n[0]), *end = nnv_ox_numbers(c, 1, &n[1]),
                 *step = nnv_ox_numbers(c, 2, &n[2]);
    struct nnv_encoding e;
    if (!nnv_cv_ok(c) || !nnv_ox_encode(c, type, &e)) return;
    if (n[0] != 1 || n[1] != 1 || n[2] != 1 || *step == 0) {
        nnv_cv_fail(c, "its limits are not three numbers");
        return;
    }
    const double many = ceil((*end - *begin) / *step);
    if (!(many >= 1 && many <= MOST)) {
        nnv_cv_refuse(c, many < 1 ? " with a tensor of no elements" : " of too many numbers");
        return;
    }
    const uint32_t count = (uint32_t)many;
    double *v = NNV_NEW(c->b.arena, double, count);
    if (!v) c->b.failed = true;
    for (uint32_t i = 0; v && i < count; i++) v[i] = *begin + i * *step;
    if (v && nnv_cv_room(c, count * sizeof(float)))
        nnv_ox_give(c, 0, nnv_builder_numbers(&c->b, e, 1, &count, v), type, 1, &count);
}

static void eye_like(struct nnv_cv *c) {
    const struct nnv_ox_value v = *nnv_ox_value(c, 0);
    const int64_t k = nnv_ox_int(c, "k", 0);
    const int type = (int)nnv_ox_int(c, "dtype", v.type);
    struct nnv_encoding e;
    if (v.rank != 2) nnv_cv_fail(c, "rank %u, not 2", v.rank);
    if (!nnv_cv_ok(c) || !nnv_ox_encode(c, type, &e)) return;
    double *data = nnv_cv_room(c, nnv_ox_elements(&v) * 8) ? NNV_NEW(c->b.arena, double, nnv_ox_elements(&v)) : NULL;
    if (!data) {
        c->b.failed = c->b.failed || nnv_cv_ok(c);
        return;
    }
    for (int64_t i = 0; i < v.dims[0]; i++)
        if (k > -(1 << 30) && k < 1 << 30 && i + k >= 0 && i + k < v.dims[1]) data[i * v.dims[1] + i + k] = 1;
    nnv_ox_give(c, 0, nnv_builder_numbers(&c->b, e, 2, v.dims, data), type, 2, v.dims);
}

/** The upper or lower triangle: a choice by a constant mask. */
static void trilu(struct nnv_cv *c) {
    const struct nnv_ox_value v = *nnv_ox_value(c, 0);
    const bool upper = nnv_ox_flag(c, "upper", true);
    uint32_t n = 1, rank;
    const int64_t *given = nnv_ox_has(c, 1) ? nnv_ox_ints(c, 1, &n) : NULL, k = given && n == 1 ? *given : 0;
    const uint32_t x0 = nnv_ox_in(c, 0);
    if (v.rank < 2 || n != 1) nnv_cv_fail(c, "rank %u, %u diagonals", v.rank, n);
    if (!nnv_cv_ok(c)) return;
    const size_t all = nnv_ox_elements(&v);
    bool *keep = nnv_cv_room(c, all) ? NNV_NEW(c->b.arena, bool, all) : NULL;
    if (!keep) {
        c->b.failed = c->b.failed || nnv_cv_ok(c);
        return;
    }
    const uint32_t rows = v.dims[v.rank - 2], columns = v.dims[v.rank - 1];
    for (size_t i = 0; i < all; i++) {
        const int64_t row = (int64_t)(i / columns % rows), column = (int64_t)(i % columns);
        keep[i] = upper ? column - row >= k : column - row <= k;
    }
    const bool bits = v.type == NNV_ONNX_BOOL;
    const uint32_t x = bits ? nnv_cv_to_float(c, x0) : x0;
    rank = nnv_cv_at(c, x)->rank;
    const uint32_t mask = nnv_builder_constant(&c->b, NNV_CV_B8, rank, nnv_cv_at(c, x)->dims, keep);
    const uint32_t zeros = nnv_cv_filled(c, nnv_builder_encoding(&c->b, x), rank, nnv_cv_at(c, x)->dims, 0);
    nnv_ox_give_like(c, 0, nnv_ox_back(c, NNV_OX_LIKE(c, ANEURALNETWORKS_SELECT, x, mask, x, zeros), x0), 0);
}

#define ANY NNV_OX_ANY
static const struct nnv_ox_row rows[] = {
    {"Shape", 1, 1, UINT32_MAX, shape, 0},    {"Size", 1, 1, UINT32_MAX, size, 0},
    {"Constant", 0, 0, ANY, constant, 0},     {"ConstantOfShape", 1, 1, NNV_OX_WIDE, constant_of_shape, 0},
    {"Range", 3, 3, NNV_OX_NUMBER, range, 0}, {"EyeLike", 1, 1, ANY, eye_like, 0},
    {"Trilu", 1, 2, ANY, trilu, 0},
};
const struct nnv_ox_rows nnv_ox_shape = {rows, sizeof rows / sizeof *rows};
