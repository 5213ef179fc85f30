/* SPDX-License-Identifier: Apache-2.0 */
/** @file sub.c SUB. */
#include "reference/eval/kernel.h"
#include "reference/ops/elementwise/binary.h"

enum { A, B, ACT };

static const struct nnv_slot inputs[] = {
    {.id = A, .name = "a", .var = NNV_T, .rank_min = 1, .rank_max = 4},
    {.id = B, .name = "b", .var = NNV_T, .rank_min = 1, .rank_max = 4},
    {.id = ACT,
     .name = "activation",
     .var = NNV_FIXED,
     .type = ANEURALNETWORKS_INT32,
     .flags = NNV_SCALAR,
     .rule = NNV_FUSE},
};
static const struct nnv_slot outputs[] = {{.name = "difference", .var = NNV_T}};
static const struct nnv_form forms[] = {{"", inputs, 3, outputs, 1}};

static const struct nnv_sig sigs[] = {
    {2, {[NNV_T] = ANEURALNETWORKS_TENSOR_FLOAT32}},      {3, {[NNV_T] = ANEURALNETWORKS_TENSOR_FLOAT16}},
    {3, {[NNV_T] = ANEURALNETWORKS_TENSOR_QUANT8_ASYMM}}, {4, {[NNV_T] = ANEURALNETWORKS_TENSOR_QUANT8_ASYMM_SIGNED}},
    {4, {[NNV_T] = ANEURALNETWORKS_TENSOR_INT32}},
};

static double difference(double a, double b) { return a - b; }

static enum nnv_status eval(struct nnv_kernel *k, struct nnv_err *err) {
    (void)err;
    nnv_binary_eval(k, A, B, difference);
    return NNV_OK;
}

const struct nnv_op nnv_op_SUB = {
    .code = ANEURALNETWORKS_SUB,
    .name = "SUB",
    .level = 2,
    .formula = "y = act(a - b), a and b broadcast",
    .forms = forms,
    .nforms = 1,
    .sigs = sigs,
    .nsigs = sizeof sigs / sizeof *sigs,
    .rounding = NNV_ROUND_RESCALE,
    .zero = NNV_ZERO_ANY,
    .linear = true,
    .check = nnv_binary_check,
    .infer = nnv_binary_infer,
    .eval = eval,
    .variants = nnv_binary_variants,
    .sample = nnv_binary_sample,
};
