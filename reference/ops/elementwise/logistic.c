/* SPDX-License-Identifier: Apache-2.0 */
/** @file logistic.c LOGISTIC. */
#include "reference/ops/elementwise/unary.h"

static const struct nnv_slot inputs[] = {
    {.id = 0, .name = "input", .var = NNV_T, .rank_min = 1, .rank_max = 4, .lo = -8, .hi = 8}};
static const struct nnv_slot outputs[] = {{.name = "output", .var = NNV_T, .quant = NNV_Q_UNIT_256}};
static const struct nnv_form forms[] = {{"", inputs, 1, outputs, 1}};

static const struct nnv_sig sigs[] = {
    {1, {[NNV_T] = ANEURALNETWORKS_TENSOR_FLOAT32}},
    {1, {[NNV_T] = ANEURALNETWORKS_TENSOR_QUANT8_ASYMM}},
    {3, {[NNV_T] = ANEURALNETWORKS_TENSOR_FLOAT16}},
    {4, {[NNV_T] = ANEURALNETWORKS_TENSOR_QUANT8_ASYMM_SIGNED}},
};

static enum nnv_status eval(struct nnv_kernel *k, struct nnv_err *err) {
    (void)err;
    nnv_unary_eval(k, nnv_logistic, NNV_ULPS_LOGISTIC);
    return NNV_OK;
}

const struct nnv_op nnv_op_LOGISTIC = {
    .code = ANEURALNETWORKS_LOGISTIC,
    .name = "LOGISTIC",
    .level = 1,
    .formula = "y = 1 / (1 + e^-x)",
    .forms = forms,
    .nforms = 1,
    .sigs = sigs,
    .nsigs = sizeof sigs / sizeof *sigs,
    .rounding = NNV_ROUND_TABLE,
    .zero = NNV_ZERO_ANY,
    .unary = true,
    .infer = nnv_same_shape_infer,
    .eval = eval,
    .variants = nnv_unary_variants,
    .sample = nnv_sample_unary,
};
