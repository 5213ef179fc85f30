/* SPDX-License-Identifier: Apache-2.0 */
/** @file reduce_max.c REDUCE_MAX. */
#include "reference/ops/reduce/reduce.h"

/* Unlike fmax this keeps NaN, which means "not compared" in a row. */
static double fold(struct nnv_kernel *k, const double *v, size_t n) {
    (void)k;
    double max = v[0];
    for (size_t i = 1; i < n; i++)
        if (v[i] > max || isnan(v[i])) max = v[i];
    return max;
}

static enum nnv_status eval(struct nnv_kernel *k, struct nnv_err *err) {
    return nnv_reduce_eval(k, nnv_real(k, NNV_REDUCE_X), 1, fold, err);
}

static void sample(struct nnv_sample *s) { nnv_reduce_sample(s, 400, 0, 0); }

const struct nnv_op nnv_op_REDUCE_MAX = {
    .code = ANEURALNETWORKS_REDUCE_MAX,
    .name = "REDUCE_MAX",
    .level = 3,
    .formula = "y = the largest of x over the axes, which vanish or (keep dims) stay as 1",
    .forms = nnv_reduce_forms,
    .nforms = 1,
    .sigs = nnv_reduce_sigs,
    .nsigs = NNV_REDUCE_SIGS,
    .rounding = NNV_ROUND_NONE,
    .linear = true,
    .infer = nnv_reduce_infer,
    .eval = eval,
    .variants = nnv_reduce_variants,
    .sample = sample,
};
