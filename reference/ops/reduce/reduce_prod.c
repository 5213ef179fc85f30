/* SPDX-License-Identifier: Apache-2.0 */
/** @file reduce_prod.c REDUCE_PROD. */
#include "reference/ops/reduce/reduce.h"

static double fold(struct nnv_kernel *k, const double *v, size_t n) {
    double product = 1;
    for (size_t i = 0; i < n; i++) product = nnv_round(k, product * v[i]);
    return product;
}

static enum nnv_status eval(struct nnv_kernel *k, struct nnv_err *err) {
    return nnv_reduce_eval(k, nnv_real(k, NNV_REDUCE_X), 1, fold, err);
}

/* Factors about 1, of either sign: products of many neither overflow nor vanish, also in float16. */
static void sample(struct nnv_sample *s) {
    bool negative = s->index % 2;
    nnv_reduce_sample(s, nnv_sample_is(s, "all") ? 15 : 100, negative ? -1.75 : 0.5, negative ? -0.5 : 1.75);
}

const struct nnv_op nnv_op_REDUCE_PROD = {
    .code = ANEURALNETWORKS_REDUCE_PROD,
    .name = "REDUCE_PROD",
    .level = 3,
    .formula = "y = the product of x over the axes, which vanish or (keep dims) stay as 1",
    .forms = nnv_reduce_forms,
    .nforms = 1,
    .sigs = nnv_reduce_sigs,
    .nsigs = NNV_REDUCE_FLOAT_SIGS,
    .rounding = NNV_ROUND_RESCALE,
    .infer = nnv_reduce_infer,
    .eval = eval,
    .variants = nnv_reduce_variants,
    .sample = sample,
};
