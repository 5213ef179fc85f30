/* SPDX-License-Identifier: Apache-2.0 */
/** @file mean.c MEAN. */
#include "reference/ops/reduce/reduce.h"

static const struct nnv_slot inputs[] = {NNV_REDUCE_INPUTS(ANEURALNETWORKS_INT32)};
static const struct nnv_slot outputs[] = {
    {.name = "output", .var = NNV_T, .rank_min = 1, .rank_max = 4, .quant = NNV_Q_SAME}};
static const struct nnv_form forms[] = {{"", inputs, 3, outputs, 1}};

static const struct nnv_sig sigs[] = {
    {2, {[NNV_T] = ANEURALNETWORKS_TENSOR_FLOAT32}},
    {2, {[NNV_T] = ANEURALNETWORKS_TENSOR_QUANT8_ASYMM}},
    {3, {[NNV_T] = ANEURALNETWORKS_TENSOR_FLOAT16}},
    {4, {[NNV_T] = ANEURALNETWORKS_TENSOR_QUANT8_ASYMM_SIGNED}},
};

static double mean(struct nnv_kernel *k, const double *v, size_t n) {
    double sum = 0, abs = 0;
    for (size_t i = 0; i < n; i++) {
        sum += v[i];
        abs += fabs(v[i]);
    }
    return nnv_round(k, nnv_sum(k, sum, (double)n, abs, 1) / (double)n);
}

static enum nnv_status eval(struct nnv_kernel *k, struct nnv_err *err) {
    return nnv_reduce_eval(k, nnv_units(k, NNV_REDUCE_X), nnv_scale(k, NNV_REDUCE_X, 0), mean, err);
}

/* Not around 0: sums that cancel leave little to compare. */
static void sample(struct nnv_sample *s) { nnv_reduce_sample(s, 400, -4, 10); }

const struct nnv_op nnv_op_MEAN = {
    .code = ANEURALNETWORKS_MEAN,
    .name = "MEAN",
    .level = 2,
    .formula = "y = the mean of x over the axes, which vanish or (keep dims > 0) stay as 1",
    .forms = forms,
    .nforms = 1,
    .sigs = sigs,
    .nsigs = sizeof sigs / sizeof *sigs,
    .rounding = NNV_ROUND_RESCALE,
    .infer = nnv_reduce_infer,
    .eval = eval,
    .variants = nnv_reduce_variants,
    .sample = sample,
};
