/* SPDX-License-Identifier: Apache-2.0 */
/* Dense layers and products of matrices: types of results, kernels, rows. */
#include <inttypes.h>
#include <string.h>

#include "base/matmul.h"
#include "compiler/relay/ops/kernel.h"

/* ------------------------------------------------------------------- types */

static const struct nnv_relay_type *infer_dense(struct nnv_relay_typing *t) {
    const struct nnv_relay_type *x = nnv_relay_in(t, 0), *w = x ? nnv_relay_of_rank(t, 1, 2) : NULL;
    int64_t dims[NNV_RELAY_RANK];
    enum nnv_relay_dtype dtype;
    if (w == NULL) return NULL;
    if (x->n_dims == 0) return nnv_relay_wrong(t, "operand 0 must have a dimension");
    if (t->call->n_args == 2 && x->dtype != w->dtype)
        return nnv_relay_wrong(t, "the data and the weights are of different types");
    size_t last = x->n_dims - 1;
    if (!nnv_relay_agree(x->dims[last], w->dims[1]))
        return nnv_relay_wrong(t, "the data have %" PRId64 " features, the weights are for %" PRId64, x->dims[last],
                               w->dims[1]);
    if (!nnv_relay_agree(nnv_relay_int(t, "units", NNV_RELAY_ANY), w->dims[0]))
        return nnv_relay_wrong(t, "units is %" PRId64 ", the weights have %" PRId64, nnv_relay_int(t, "units", 0),
                               w->dims[0]);
    if (!nnv_relay_dtype_attr(t, "out_dtype", x->dtype, &dtype)) return NULL;
    memcpy(dims, x->dims, x->n_dims * sizeof *dims);
    dims[last] = w->dims[0];
    return nnv_relay_made(t, dtype, x->n_dims, dims);
}

static const struct nnv_relay_type *infer_batch_matmul(struct nnv_relay_typing *t) {
    const struct nnv_relay_type *a = nnv_relay_of_rank(t, 0, 3), *b = a ? nnv_relay_of_rank(t, 1, 3) : NULL;
    size_t ta = nnv_relay_int(t, "transpose_a", 0) != 0, tb = nnv_relay_int(t, "transpose_b", 1) != 0;
    enum nnv_relay_dtype dtype;
    if (b == NULL || !nnv_relay_dtype_attr(t, "out_dtype", a->dtype, &dtype)) return NULL;
    if (a->dtype != b->dtype && t->call->n_args == 2) return nnv_relay_wrong(t, "the operands are of different types");
    int64_t inner_a = a->dims[2 - ta], inner_b = b->dims[1 + tb];
    if (!nnv_relay_agree(inner_a, inner_b))
        return nnv_relay_wrong(t, "the summed extents are %" PRId64 " and %" PRId64, inner_a, inner_b);
    if (!nnv_relay_agree(a->dims[0], b->dims[0]) && a->dims[0] != 1 && b->dims[0] != 1)
        return nnv_relay_wrong(t, "batches of %" PRId64 " and %" PRId64, a->dims[0], b->dims[0]);
    int64_t batch = a->dims[0] == 1 ? b->dims[0] : a->dims[0];
    int64_t dims[] = {batch, a->dims[1 + ta], b->dims[2 - tb]};
    return nnv_relay_made(t, dtype, 3, dims);
}

/* One matrix with a matrix, or with each of a batch of rows. */
static const struct nnv_relay_type *infer_matmul(struct nnv_relay_typing *t) {
    const struct nnv_relay_type *a = nnv_relay_of_rank(t, 0, 2), *b = a ? nnv_relay_of_rank(t, 1, 2) : NULL;
    size_t ta = nnv_relay_int(t, "transpose_a", 0) != 0, tb = nnv_relay_int(t, "transpose_b", 0) != 0;
    enum nnv_relay_dtype dtype;
    if (b == NULL || !nnv_relay_dtype_attr(t, "out_dtype", a->dtype, &dtype)) return NULL;
    if (a->dtype != b->dtype) return nnv_relay_wrong(t, "the operands are of different types");
    int64_t inner_a = a->dims[1 - ta], inner_b = b->dims[tb];
    if (inner_a >= 0 && inner_b >= 0 && inner_a != inner_b)
        return nnv_relay_wrong(t, "the summed extents are %" PRId64 " and %" PRId64, inner_a, inner_b);
    return nnv_relay_made(t, dtype, 2, (int64_t[]){a->dims[ta], b->dims[1 - tb]});
}

/* ----------------------------------------------------------------- kernels */

/* y[m][n] = sum over k of a[m][k] * b[n][k] */
static void product_of(struct nnv_interp_op *op, size_t m, size_t n, size_t k, const double *a, const double *b,
                       double *y) {
    if (m > INT32_MAX || n > INT32_MAX || k > INT32_MAX) {
        nnv_relay_wrong(&op->t, "too large");
        return;
    }
    if (m && n && k) nnv_dgemm(true, m, n, k, a, b, y);
}

static void run_dense(struct nnv_interp_op *op) {
    const struct nnv_relay_type *w = op->in[1]->type;
    size_t units = (size_t)w->dims[0], depth = (size_t)w->dims[1];
    const double *a = op->in[0]->values, *b = op->in[1]->values;
    if (!nnv_interp_centred_operands(op, 0, &a, &b)) return;
    product_of(op, units ? op->out->n / units : 0, units, depth, a, b, op->out->values);
    nnv_interp_wrap_all(op);
}

/* A matrix of a batch with rows of what is summed. */
static const double *rows_of(struct nnv_interp_op *op, size_t i, const double *values, size_t batch, bool turn,
                             double *space) {
    const struct nnv_relay_type *t = op->in[i]->type;
    size_t one = (size_t)(t->dims[1] * t->dims[2]);
    const double *from = values + (t->dims[0] == 1 ? 0 : batch * one);
    if (!turn) return from;
    const int64_t dims[] = {t->dims[2], t->dims[1]}, strides[] = {1, t->dims[2]};
    nnv_interp_pick(from, 2, dims, strides, space);
    return space;
}

/* Also quantised: the zero points are operands 2 and 3. */
static void run_batch_matmul(struct nnv_interp_op *op) {
    const int64_t *y = op->out->type->dims;
    bool ta = nnv_relay_int(&op->t, "transpose_a", 0), tb = nnv_relay_int(&op->t, "transpose_b", 1);
    size_t m = (size_t)y[1], n = (size_t)y[2], k = (size_t)op->in[0]->type->dims[ta ? 1 : 2];
    const double *a = op->in[0]->values, *b = op->in[1]->values;
    if (op->n_in == 6) {
        if (op->in[2]->n != 1 || op->in[3]->n != 1) nnv_relay_wrong(&op->t, "each operand has one zero point");
        a = op->t.st == NNV_OK ? nnv_interp_centred(op, 0, 2, 0) : NULL;
        b = a ? nnv_interp_centred(op, 1, 3, 0) : NULL;
        if (b == NULL) return;
    }
    double *space_a = nnv_interp_space(op, m * k), *space_b = space_a ? nnv_interp_space(op, n * k) : NULL;
    for (size_t i = 0; space_b && i < (size_t)y[0]; i++)
        product_of(op, m, n, k, rows_of(op, 0, a, i, ta, space_a), rows_of(op, 1, b, i, !tb, space_b),
                   op->out->values + i * m * n);
    nnv_interp_wrap_all(op);
}

static void run_matmul(struct nnv_interp_op *op) {
    const int64_t *a = op->in[0]->type->dims, *b = op->in[1]->type->dims, *y = op->out->type->dims;
    bool ta = nnv_relay_int(&op->t, "transpose_a", 0), tb = nnv_relay_int(&op->t, "transpose_b", 0);
    double *rows = nnv_interp_space(op, op->in[0]->n), *columns = rows ? nnv_interp_space(op, op->in[1]->n) : NULL;
    if (columns == NULL) return;
    nnv_interp_pick(op->in[0]->values, 2, (int64_t[]){a[ta], a[!ta]}, (int64_t[]){ta ? 1 : a[1], ta ? a[1] : 1}, rows);
    nnv_interp_pick(op->in[1]->values, 2, (int64_t[]){b[!tb], b[tb]}, (int64_t[]){tb ? b[1] : 1, tb ? 1 : b[1]},
                    columns);
    product_of(op, (size_t)y[0], (size_t)y[1], (size_t)a[!ta], rows, columns, op->out->values);
    nnv_interp_wrap_all(op);
}

/* -------------------------------------------------------------------- rows */

#include "compiler/relay/ops/rows.h"

static const struct nnv_relay_op_row rows[] = {
    {"nn.batch_matmul", 2, 2, infer_batch_matmul, run_batch_matmul,
     .attrs = {{"out_dtype", K_TEXT, TEXT("")},
               {"transpose_a", K_TRUTH, TRUTH(0)},
               {"transpose_b", K_TRUTH, TRUTH(1)}}},
    {"nn.dense", 2, 2, infer_dense, run_dense, .attrs = {{"units", K_INT, NULL}, {"out_dtype", K_TEXT, TEXT("")}}},
    {"nn.matmul", 2, 2, infer_matmul, run_matmul,
     .attrs = {{"units", K_INT, NULL},
               {"out_dtype", K_TEXT, TEXT("")},
               {"transpose_a", K_TRUTH, TRUTH(0)},
               {"transpose_b", K_TRUTH, TRUTH(0)}}},
    {"qnn.batch_matmul", 6, 6, infer_batch_matmul, run_batch_matmul,
     .attrs = {{"out_dtype", K_TEXT, TEXT("int32")},
               {"transpose_a", K_TRUTH, TRUTH(0)},
               {"transpose_b", K_TRUTH, TRUTH(1)}}},
    {"qnn.dense", 6, 6, infer_dense, run_dense,
     .attrs = {{"units", K_INT, NULL}, {"out_dtype", K_TEXT, TEXT("int32")}}},
};
const struct nnv_relay_op_rows nnv_relay_dense = {rows, sizeof rows / sizeof *rows};
