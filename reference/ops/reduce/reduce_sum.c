/* SPDX-License-Identifier: Apache-2.0 */
/** @file reduce_sum.c REDUCE_SUM. */
#include "reference/ops/reduce/reduce.h"

static double fold(struct nnv_kernel *k, const double *v, size_t n) {
    double sum = 0, abs = 0;
    for (size_t i = 0; i < n; i++) {
        sum += v[i];
        abs += fabs(v[i]);
    }
    return nnv_sum(k, sum, (double)n, abs, 1);
}

static enum nnv_status eval(struct nnv_kernel *k, struct nnv_err *err) {
    return nnv_reduce_eval(k, nnv_real(k, NNV_REDUCE_X), 1, fold, err);
}

/* Not around 0: sums that cancel leave little to compare. */
static void sample(struct nnv_sample *s) { nnv_reduce_sample(s, 400, -4, 10); }

const struct nnv_op nnv_op_REDUCE_SUM = {
    .code = ANEURALNETWORKS_REDUCE_SUM,
    .name = "REDUCE_SUM",
    .level = 3,
    .formula = "y = the sum of x over the axes, which vanish or (keep dims) stay as 1",
    .forms = nnv_reduce_forms,
    .nforms = 1,
    .sigs = nnv_reduce_sigs,
    .nsigs = NNV_REDUCE_FLOAT_SIGS,
    .rounding = NNV_ROUND_RESCALE,
    .linear = true,
    .infer = nnv_reduce_infer,
    .eval = eval,
    .variants = nnv_reduce_variants,
    .sample = sample,
};
