/* SPDX-License-Identifier: Apache-2.0 */
/* Sums, means, products, extremes over axes, and running sums. */
#include <string.h>

#include "mlts/onnx/ox.h"

/** The axes as marks; false: none are named, and nothing is to be done. */
static bool axes_of(struct nnv_cv *c, uint32_t rank, bool *marked) {
    uint32_t n = 0;
    const int64_t *axes = nnv_ox_has(c, 1) ? nnv_ox_ints(c, 1, &n) : nnv_ox_list(c, "axes", &n);
    const bool none_is_all = !nnv_ox_flag(c, "noop_with_empty_axes", false);
    for (uint32_t i = 0; i < n && nnv_cv_ok(c); i++) marked[nnv_cv_axis(c, axes[i], rank)] = true;
    for (uint32_t i = 0; i < rank && n == 0 && none_is_all; i++) marked[i] = true;
    return n > 0 || none_is_all;
}

/** code over the marked axes; the result is in the reduced shape, where they are 1. */
static uint32_t over(struct nnv_cv *c, int32_t code, uint32_t x, const struct nnv_ox_value *whole, const bool *marked) {
    struct nnv_ox_value v = *whole;
    uint32_t axes[NNV_OX_RANK], n = 0, three[3];
    if (!nnv_cv_ok(c)) return 0;
    for (uint32_t i = 0; i < v.rank; i++)
        if (marked[i]) axes[n++] = i;
    if (v.rank == 0 || n == 0) return x;
    if (v.rank <= 4) return nnv_ox_reduced(c, code, x, n, axes);
    for (uint32_t i = 0; i < n; i++) {
        nnv_ox_around(&v, axes[i], three);
        x = nnv_ox_reduced(c, code, nnv_cv_reshaped(c, x, 3, three), 1, (const uint32_t[]){1});
        v.dims[axes[i]] = 1;
    }
    return x;
}

/** log(sum(e^x)) = m + log(sum(e^(x - m))), m the largest. */
static uint32_t log_sum_exp(struct nnv_cv *c, uint32_t x, const struct nnv_ox_value *v, const bool *marked) {
    if (v->rank > 4) nnv_cv_refuse(c, " of rank %u", v->rank);
    const uint32_t most = over(c, ANEURALNETWORKS_REDUCE_MAX, x, v, marked);
    const uint32_t above = nnv_ox_difference(c, x, most);
    const uint32_t sum =
        over(c, ANEURALNETWORKS_REDUCE_SUM, NNV_OX_LIKE(c, ANEURALNETWORKS_EXP, above, above), v, marked);
    return nnv_ox_sum(c, NNV_OX_LIKE(c, ANEURALNETWORKS_LOG, sum, sum), most);
}

/** What is done before and after the sum: by the operator's name. */
static uint32_t sum_of(struct nnv_cv *c, uint32_t x, const struct nnv_ox_value *v, const bool *marked) {
    const char *kind = c->onnx->row->op + strlen("Reduce");
    const int32_t code = c->onnx->row->nnapi;
    if (strcmp(kind, "LogSumExp") == 0) return log_sum_exp(c, x, v, marked);
    if (strcmp(kind, "L1") == 0) x = NNV_OX_LIKE(c, ANEURALNETWORKS_ABS, x, x);
    if (strcmp(kind, "L2") == 0 || strcmp(kind, "SumSquare") == 0) x = nnv_ox_product_of(c, x, x);
    x = over(c, code, x, v, marked);
    if (strcmp(kind, "L2") == 0) x = NNV_OX_LIKE(c, ANEURALNETWORKS_SQRT, x, x);
    if (strcmp(kind, "LogSum") == 0) x = NNV_OX_LIKE(c, ANEURALNETWORKS_LOG, x, x);
    return x;
}

static void reduce(struct nnv_cv *c) {
    const struct nnv_ox_value v = *nnv_ox_value(c, 0);
    const bool keep = nnv_ox_flag(c, "keepdims", true);
    const int32_t code = c->onnx->row->nnapi;
    bool marked[NNV_OX_RANK] = {false};
    struct nnv_ox_value r = {.type = v.type};
    const bool any = axes_of(c, v.rank, marked);
    const uint32_t x = nnv_ox_in(c, 0);
    if (!nnv_cv_ok(c)) return;
    if (!any) {
        if (strcmp(c->onnx->row->op + strlen("Reduce"), "Sum") != 0) nnv_cv_refuse(c, " over no axes");
        nnv_ox_give_like(c, 0, x, 0);
        return;
    }
    const bool extreme = code == ANEURALNETWORKS_REDUCE_MAX || code == ANEURALNETWORKS_REDUCE_MIN;
    const bool bits = v.type == NNV_ONNX_BOOL;
    const int32_t logic = code == ANEURALNETWORKS_REDUCE_MAX ? ANEURALNETWORKS_REDUCE_ANY : ANEURALNETWORKS_REDUCE_ALL;
    const uint32_t from = bits || (extreme && nnv_cv_is_quant(c, x)) ? x : nnv_ox_floats(c, x);
    uint32_t y = bits ? over(c, logic, x, &v, marked) : sum_of(c, from, &v, marked);
    y = nnv_ox_back(c, y, x);
    for (uint32_t i = 0; i < v.rank; i++)
        if (!marked[i] || keep) r.dims[r.rank++] = marked[i] ? 1 : v.dims[i];
    nnv_ox_give(c, 0, y, v.type, r.rank, r.dims);
}

/** A product with a triangle of ones: row j holds those of what is added up to entry j. */
static void running_sum(struct nnv_cv *c) {
    enum { MOST = 4096 };
    struct nnv_ox_value v = *nnv_ox_value(c, 0);
    const bool exclusive = nnv_ox_flag(c, "exclusive", false), reverse = nnv_ox_flag(c, "reverse", false);
    uint32_t n;
    const int64_t *given = nnv_ox_ints(c, 1, &n);
    if (n != 1) nnv_cv_fail(c, "%u axes", n);
    if (!nnv_cv_ok(c)) return;
    const uint32_t axis = nnv_cv_axis(c, *given, v.rank), m = nnv_cv_ok(c) ? v.dims[axis] : 1;
    if (m > MOST) nnv_cv_refuse(c, " over %u numbers", m);
    double *ones = NNV_NEW(c->b.arena, double, (size_t)m *m);
    if (!ones) c->b.failed = true;
    for (uint32_t j = 0; j < m && nnv_cv_ok(c); j++)
        for (uint32_t k = 0; k < m; k++)
            ones[j * m + k] = reverse ? (exclusive ? k > j : k >= j) : (exclusive ? k < j : k <= j);
    nnv_ox_give_like(c, 0, nnv_ox_mixed(c, nnv_ox_in(c, 0), &v, axis, m, ones), 0);
}

#define WIDE (NNV_OX_FLOAT | NNV_OX_WIDE)
#define ROW(op, types, code)                                                                                           \
    { #op, 1, 2, types, reduce, ANEURALNETWORKS_##code }
static const struct nnv_ox_row rows[] = {
    ROW(ReduceSum, WIDE, REDUCE_SUM),
    ROW(ReduceMean, NNV_OX_FLOAT, MEAN),
    ROW(ReduceMax, NNV_OX_ANY, REDUCE_MAX),
    ROW(ReduceMin, NNV_OX_ANY, REDUCE_MIN),
    ROW(ReduceProd, WIDE, REDUCE_PROD),
    ROW(ReduceL1, WIDE, REDUCE_SUM),
    ROW(ReduceL2, NNV_OX_FLOAT, REDUCE_SUM),
    ROW(ReduceLogSum, NNV_OX_FLOAT, REDUCE_SUM),
    ROW(ReduceLogSumExp, NNV_OX_FLOAT, REDUCE_SUM),
    ROW(ReduceSumSquare, WIDE, REDUCE_SUM),
    {"CumSum", 2, 2, WIDE, running_sum, 0},
};
const struct nnv_ox_rows nnv_ox_reduce = {rows, sizeof rows / sizeof *rows};
