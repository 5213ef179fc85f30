/* SPDX-License-Identifier: Apache-2.0 */
/* Products of matrices. */
#include <string.h>

#include "mlts/onnx/ox.h"

/** Batches repeated so that they are those of r, whose last two extents are the operand's own. */
static uint32_t with_batches(struct nnv_cv *c, uint32_t x, const struct nnv_ox_value *v, const struct nnv_ox_value *r) {
    uint32_t dims[NNV_OX_RANK], flat[3] = {1, v->dims[v->rank - 2], v->dims[v->rank - 1]};
    bool same = v->rank == r->rank;
    for (uint32_t d = 0; d + 2 < r->rank; d++) {
        flat[0] *= r->dims[d];
        dims[d] = r->dims[d];
        same = same && v->dims[d] == r->dims[d];
    }
    if (same) return nnv_cv_reshaped(c, x, 3, flat);
    if (r->rank > 4) {
        nnv_cv_refuse(c, " of rank %u that is broadcast", r->rank);
        return 0;
    }
    dims[r->rank - 2] = flat[1];
    dims[r->rank - 1] = flat[2];
    x = nnv_cv_reshaped(c, x, v->rank, v->dims);
    return nnv_cv_reshaped(c, nnv_ox_expanded(c, x, r->rank, dims), 3, flat);
}

/** x [.., rows, depth] by one matrix [depth, columns] for all. */
static uint32_t by_matrix(struct nnv_cv *c, uint32_t x, const struct nnv_ox_value *v, uint32_t w,
                          const struct nnv_ox_value *m) {
    static const uint32_t turned[] = {1, 0};
    const uint32_t depth = m->dims[0], columns = m->dims[1], rows = (uint32_t)(nnv_ox_elements(v) / depth);
    const uint32_t flat[] = {rows, depth}, dims[] = {rows, columns};
    x = nnv_cv_reshaped(c, x, 2, flat);
    w = nnv_cv_reshaped(c, w, 2, m->dims);
    if (!nnv_cv_ok(c)) return 0;
    if (nnv_is_float(nnv_cv_at(c, x)->type)) return nnv_ox_dense(c, x, nnv_ox_transposed(c, w, 2, turned), 0);
    const uint32_t y = nnv_cv_temp_shaped(c, x, 2, dims), no = nnv_builder_bool(&c->b, false);
    NNV_CV_EMIT(c, ANEURALNETWORKS_BATCH_MATMUL, y, x, w, no, no);
    return y;
}

/** Inputs i and k multiplied as numpy.matmul() does: a float, or an int32 result; r gets its shape. */
static uint32_t ox_matmul(struct nnv_cv *c, uint32_t a, struct nnv_ox_value va, uint32_t b, struct nnv_ox_value vb,
                          struct nnv_ox_value *r) {
    const bool row = va.rank == 1, column = vb.rank == 1;
    if (va.rank == 0 || vb.rank == 0) nnv_cv_fail(c, "a scalar");
    if (!nnv_cv_ok(c)) return 0;
    if (row) va.rank = 2, va.dims[1] = va.dims[0], va.dims[0] = 1;
    if (column) vb.rank = 2, vb.dims[1] = 1;
    const uint32_t m = va.dims[va.rank - 2], k = va.dims[va.rank - 1], n = vb.dims[vb.rank - 1];
    struct nnv_ox_value ba = {.rank = va.rank - 2}, bb = {.rank = vb.rank - 2};
    memcpy(ba.dims, va.dims, sizeof ba.dims);
    memcpy(bb.dims, vb.dims, sizeof bb.dims);
    if (vb.dims[vb.rank - 2] != k) nnv_cv_fail(c, "columns of %u, rows of %u", k, vb.dims[vb.rank - 2]);
    if (!nnv_cv_ok(c) || !nnv_ox_broadcast(c, &ba, &bb, r)) return 0;
    r->rank += 2;
    r->dims[r->rank - 2] = m;
    r->dims[r->rank - 1] = n;
    uint32_t y;
    if (vb.rank == 2) {
        y = by_matrix(c, a, &va, b, &vb);
    } else {
        const uint32_t x = with_batches(c, a, &va, r), w = with_batches(c, b, &vb, r);
        if (!nnv_cv_ok(c)) return 0;
        const uint32_t dims[] = {nnv_cv_at(c, x)->dims[0], m, n}, no = nnv_builder_bool(&c->b, false);
        y = nnv_cv_temp_shaped(c, x, 3, dims);
        NNV_CV_EMIT(c, ANEURALNETWORKS_BATCH_MATMUL, y, x, w, no, no);
    }
    if (column) r->rank--;
    if (row) {
        r->rank--;
        if (!column) r->dims[r->rank - 1] = n;
    }
    return y;
}

static void matmul(struct nnv_cv *c) {
    const struct nnv_ox_value va = *nnv_ox_value(c, 0), vb = *nnv_ox_value(c, 1);
    struct nnv_ox_value r = {0};
    if (va.type != vb.type) nnv_cv_fail(c, "its inputs are of different types");
    const uint32_t a = nnv_ox_in(c, 0), b = nnv_ox_in(c, 1), y = ox_matmul(c, a, va, b, vb, &r);
    if (nnv_cv_ok(c)) nnv_ox_give(c, 0, y, va.type, r.rank, r.dims);
}

/** alpha * A * B + beta * C, A and B perhaps transposed. */
static void gemm(struct nnv_cv *c) {
    static const uint32_t turned[] = {1, 0};
    const struct nnv_ox_value va = *nnv_ox_value(c, 0), vb = *nnv_ox_value(c, 1);
    const double alpha = nnv_ox_float(c, "alpha", 1), beta = nnv_ox_float(c, "beta", 1);
    const bool ta = nnv_ox_flag(c, "transA", false), tb = nnv_ox_flag(c, "transB", false), more = nnv_ox_has(c, 2);
    if (va.rank != 2 || vb.rank != 2) nnv_cv_fail(c, "its inputs are no matrices");
    uint32_t x = nnv_ox_in(c, 0), w = nnv_ox_in(c, 1), bias = 0;
    if (ta) x = nnv_ox_transposed(c, x, 2, turned);
    if (!tb) w = nnv_ox_transposed(c, w, 2, turned);
    if (!nnv_cv_ok(c)) return;
    const uint32_t columns = nnv_cv_at(c, w)->dims[0], dims[] = {nnv_cv_at(c, x)->dims[0], columns};
    if (nnv_cv_at(c, w)->dims[1] != nnv_cv_at(c, x)->dims[1]) nnv_cv_fail(c, "its matrices do not fit");
    const bool line = more && nnv_ox_elements(nnv_ox_value(c, 2)) == columns &&
                      (nnv_ox_value(c, 2)->rank < 2 || nnv_ox_value(c, 2)->dims[0] == 1);
    if (line && alpha == 1) bias = nnv_ox_linear(c, nnv_ox_in_shape(c, 2, 1, &columns), beta, 0);
    uint32_t y = nnv_ox_linear(c, nnv_ox_dense(c, x, w, bias), alpha, 0);
    if (more && !bias) y = nnv_ox_sum(c, y, nnv_ox_linear(c, nnv_ox_in(c, 2), beta, 0));
    nnv_ox_give(c, 0, y, va.type, 2, dims);
}

/** The numbers of a matrix of bytes less their zero points, as int32. */
static uint32_t centred(struct nnv_cv *c, uint32_t i, uint32_t zero, bool rows) {
    const struct nnv_ox_value v = *nnv_ox_value(c, i);
    const uint32_t x = nnv_ox_widened(c, nnv_ox_in(c, i));
    if (!nnv_ox_has(c, zero) || !nnv_cv_ok(c)) return x;
    const struct nnv_ox_value z = *nnv_ox_value(c, zero);
    const uint32_t n = (uint32_t)nnv_ox_elements(&z), column[] = {n, 1};
    uint32_t p = nnv_ox_widened(c, nnv_ox_in(c, zero));
    if (v.rank > 4 || (n != 1 && v.rank < 2)) nnv_cv_refuse(c, " of rank %u", v.rank);
    if (n != 1 && z.rank != 1) nnv_cv_refuse(c, " with zero points of rank %u", z.rank);
    if (n != 1 && rows) p = nnv_cv_reshaped(c, p, 2, column);
    return nnv_ox_difference(c, x, p);
}

static void integer_matmul(struct nnv_cv *c) {
    const struct nnv_ox_value va = *nnv_ox_value(c, 0), vb = *nnv_ox_value(c, 1);
    struct nnv_ox_value r = {0};
    const uint32_t a = centred(c, 0, 2, true), b = centred(c, 1, 3, false), y = ox_matmul(c, a, va, b, vb, &r);
    if (nnv_cv_ok(c)) nnv_ox_give(c, 0, y, NNV_ONNX_INT32, r.rank, r.dims);
}

/** In 8 bits where NNAPI has it so, two matrices of one type; else in float32 between. */
static void quantised_matmul(struct nnv_cv *c) {
    enum { B = 3, OUT = 6 };
    static const uint32_t turned[] = {1, 0};
    const struct nnv_ox_value va = *nnv_ox_value(c, 0), vb = *nnv_ox_value(c, B);
    const int type = nnv_ox_value(c, OUT + 1)->type;
    struct nnv_ox_value r = {0};
    struct nnv_encoding e = {0}, check[2] = {e};
    uint32_t n, m;
    const uint32_t in[] = {nnv_ox_in(c, 0), nnv_ox_in(c, B)}, at[] = {1, B + 1, OUT};
    for (uint32_t i = 0; i < 3 && nnv_cv_ok(c); i++) {
        const double *scale = nnv_ox_numbers(c, at[i], &n);
        const int64_t *zero = nnv_ox_ints(c, at[i] + 1, &m);
        if (nnv_cv_ok(c) && (n != 1 || m != 1)) nnv_cv_refuse(c, " with scales along an axis");
        if (!nnv_cv_ok(c) || !nnv_ox_encode(c, i == 0 ? va.type : i == 1 ? vb.type : type, &e)) return;
        e.scale = (float)*scale;
        e.zero_point = (int32_t)*zero;
        if (i < 2) check[i] = e;
        if (i < 2 && (nnv_cv_at(c, in[i])->scale != e.scale || nnv_cv_at(c, in[i])->zero_point != e.zero_point))
            nnv_cv_refuse(c, " of bytes that have another quantisation");
    }
    if (!nnv_cv_ok(c)) return;
    uint32_t y;
    if (va.rank == 2 && vb.rank == 2 && va.type == vb.type && va.type == type && va.dims[1] == vb.dims[0]) {
        const uint32_t columns = vb.dims[1], dims[] = {va.dims[0], columns};
        const struct nnv_encoding of_bias = {ANEURALNETWORKS_TENSOR_INT32, check[0].scale * check[1].scale, 0};
        const uint32_t w = nnv_ox_transposed(c, in[1], 2, turned), bias = nnv_cv_filled(c, of_bias, 1, &columns, 0);
        y = nnv_cv_temp(c, e, 2, dims);
        NNV_CV_EMIT(c, ANEURALNETWORKS_FULLY_CONNECTED, y, in[0], w, bias,
                    nnv_builder_int(&c->b, ANEURALNETWORKS_FUSED_NONE));
        nnv_ox_give(c, 0, y, type, 2, dims);
        return;
    }
    const uint32_t real = ox_matmul(c, nnv_cv_to_float(c, in[0]), va, nnv_cv_to_float(c, in[1]), vb, &r);
    if (!nnv_cv_ok(c)) return;
    y = nnv_cv_temp_as(c, e, real);
    NNV_CV_EMIT(c, ANEURALNETWORKS_QUANTIZE, y, real);
    nnv_ox_give(c, 0, y, type, r.rank, r.dims);
}

static const struct nnv_ox_row rows[] = {
    {"MatMul", 2, 2, NNV_OX_FLOAT | NNV_OX_WIDE, matmul, 0},
    {"Gemm", 2, 3, NNV_OX_FLOAT, gemm, 0},
    {"MatMulInteger", 2, 4, NNV_OX_BYTE, integer_matmul, 0},
    {"QLinearMatMul", 8, 8, NNV_OX_BYTE, quantised_matmul, 0},
};
const struct nnv_ox_rows nnv_ox_product = {rows, sizeof rows / sizeof *rows};
