/* SPDX-License-Identifier: Apache-2.0 */
/** @file floor.c FLOOR. */
#include "reference/ops/common.h"

#include <string.h>

static const struct nnv_slot inputs[] = {{.id = 0, .name = "input", .var = NNV_T, .rank_min = 1, .rank_max = 4}};
static const struct nnv_slot outputs[] = {{.name = "output", .var = NNV_T}};
static const struct nnv_form forms[] = {{"", inputs, 1, outputs, 1}};

static const struct nnv_sig sigs[] = {
    {1, {[NNV_T] = ANEURALNETWORKS_TENSOR_FLOAT32}},
    {3, {[NNV_T] = ANEURALNETWORKS_TENSOR_FLOAT16}},
};

/* The step itself is the evaluator's: NNV_ROUND_FLOOR. */
static enum nnv_status eval(struct nnv_kernel *k, struct nnv_err *err) {
    (void)err;
    memcpy(k->out[0], nnv_real(k, 0), nnv_elems(k, 0) * sizeof(double));
    return NNV_OK;
}

const struct nnv_op nnv_op_FLOOR = {
    .code = ANEURALNETWORKS_FLOOR,
    .name = "FLOOR",
    .level = 1,
    .formula = "y = the largest integer <= x",
    .forms = forms,
    .nforms = 1,
    .sigs = sigs,
    .nsigs = sizeof sigs / sizeof *sigs,
    .rounding = NNV_ROUND_FLOOR,
    .linear = true,
    .unary = true,
    .infer = nnv_same_shape_infer,
    .eval = eval,
    .variants = nnv_unary_variants,
    .sample = nnv_sample_unary,
};
