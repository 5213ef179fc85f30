/* SPDX-License-Identifier: Apache-2.0 */
/** @file reduce_all.c REDUCE_ALL. */
#include "reference/ops/reduce/reduce.h"

static const struct nnv_slot inputs[] = {NNV_REDUCE_INPUTS(ANEURALNETWORKS_BOOL)};
static const struct nnv_slot outputs[] = {{.name = "output", .var = NNV_T, .rank_min = 1, .rank_max = 4}};
static const struct nnv_form forms[] = {{"", inputs, 3, outputs, 1}};
static const struct nnv_sig sigs[] = {{3, {[NNV_T] = ANEURALNETWORKS_TENSOR_BOOL8}}};

static double fold(struct nnv_kernel *k, const double *v, size_t n) {
    (void)k;
    bool unknown = false; /* NaN: "not compared" in a row */
    for (size_t i = 0; i < n; i++) {
        if (v[i] == 0) return 0;
        unknown = unknown || isnan(v[i]);
    }
    return unknown ? (double)NAN : 1;
}

static enum nnv_status eval(struct nnv_kernel *k, struct nnv_err *err) {
    return nnv_reduce_eval(k, nnv_real(k, NNV_REDUCE_X), 1, fold, err);
}

const struct nnv_op nnv_op_REDUCE_ALL = {
    .code = ANEURALNETWORKS_REDUCE_ALL,
    .name = "REDUCE_ALL",
    .level = 3,
    .formula = "y = true where all of x are, over the axes, which vanish or (keep dims) stay as 1",
    .forms = forms,
    .nforms = 1,
    .sigs = sigs,
    .nsigs = 1,
    .rounding = NNV_ROUND_NONE,
    .infer = nnv_reduce_infer,
    .eval = eval,
    .variants = nnv_reduce_variants,
    .sample = nnv_reduce_sample_few,
};
