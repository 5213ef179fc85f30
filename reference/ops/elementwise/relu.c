/* SPDX-License-Identifier: Apache-2.0 */
/** @file relu.c RELU, RELU1, RELU6. */
#include "reference/ops/common.h"

static const struct nnv_slot relu_inputs[] = {{.id = 0, .name = "input", .var = NNV_T, .rank_min = 1, .rank_max = 4}};
static const struct nnv_slot relu1_inputs[] = {
    {.id = 0, .name = "input", .var = NNV_T, .rank_min = 1, .rank_max = 4, .lo = -2, .hi = 2}};
static const struct nnv_slot relu6_inputs[] = {
    {.id = 0, .name = "input", .var = NNV_T, .rank_min = 1, .rank_max = 4, .lo = -4, .hi = 9}};
static const struct nnv_slot outputs[] = {{.name = "output", .var = NNV_T, .quant = NNV_Q_SAME}};
static const struct nnv_form relu_forms[] = {{"", relu_inputs, 1, outputs, 1}};
static const struct nnv_form relu1_forms[] = {{"", relu1_inputs, 1, outputs, 1}};
static const struct nnv_form relu6_forms[] = {{"", relu6_inputs, 1, outputs, 1}};

static const struct nnv_sig sigs[] = {
    {1, {[NNV_T] = ANEURALNETWORKS_TENSOR_FLOAT32}},
    {1, {[NNV_T] = ANEURALNETWORKS_TENSOR_QUANT8_ASYMM}},
    {3, {[NNV_T] = ANEURALNETWORKS_TENSOR_FLOAT16}},
    {4, {[NNV_T] = ANEURALNETWORKS_TENSOR_QUANT8_ASYMM_SIGNED}},
};

/* NaN stays NaN: in a perturbed row it means "not compared". */
static enum nnv_status clamp(struct nnv_kernel *k, double lo, double hi) {
    const double *x = nnv_real(k, 0);
    for (size_t e = 0, n = nnv_elems(k, 0); e < n; e++) k->out[0][e] = x[e] < lo ? lo : x[e] > hi ? hi : x[e];
    return NNV_OK;
}

static enum nnv_status relu(struct nnv_kernel *k, struct nnv_err *err) {
    (void)err;
    return clamp(k, 0, INFINITY);
}

static enum nnv_status relu1(struct nnv_kernel *k, struct nnv_err *err) {
    (void)err;
    return clamp(k, -1, 1);
}

static enum nnv_status relu6(struct nnv_kernel *k, struct nnv_err *err) {
    (void)err;
    return clamp(k, 0, 6);
}

#define RECORD(NAME, FORMS, FORMULA, EVAL)                                                                             \
    const struct nnv_op nnv_op_##NAME = {                                                                              \
        .code = ANEURALNETWORKS_##NAME,                                                                                \
        .name = #NAME,                                                                                                 \
        .level = 1,                                                                                                    \
        .formula = FORMULA,                                                                                            \
        .forms = FORMS,                                                                                                \
        .nforms = 1,                                                                                                   \
        .sigs = sigs,                                                                                                  \
        .nsigs = sizeof sigs / sizeof *sigs,                                                                           \
        .rounding = NNV_ROUND_NONE,                                                                                    \
        .zero = NNV_ZERO_ANY,                                                                                          \
        .linear = true,                                                                                                \
        .unary = true,                                                                                                 \
        .infer = nnv_same_shape_infer,                                                                                 \
        .eval = EVAL,                                                                                                  \
        .variants = nnv_unary_variants,                                                                                \
        .sample = nnv_sample_unary,                                                                                    \
    }

RECORD(RELU, relu_forms, "y = max(0, x)", relu);
RECORD(RELU1, relu1_forms, "y = min(1, max(-1, x))", relu1);
RECORD(RELU6, relu6_forms, "y = min(6, max(0, x))", relu6);
