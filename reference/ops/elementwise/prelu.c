/* SPDX-License-Identifier: Apache-2.0 */
/** @file prelu.c PRELU. */
#include "reference/ops/elementwise/binary.h"

enum { X, ALPHA };

static const struct nnv_slot inputs[] = {
    {.id = X, .name = "input", .var = NNV_T, .rank_min = 1},
    {.id = ALPHA, .name = "alpha", .var = NNV_T, .flags = NNV_PARAM, .rank_min = 1, .lo = -1.5, .hi = 2},
};
static const struct nnv_slot outputs[] = {{.name = "output", .var = NNV_T}};
static const struct nnv_form forms[] = {{"", inputs, 2, outputs, 1}};

static const struct nnv_sig sigs[] = {
    {3, {[NNV_T] = ANEURALNETWORKS_TENSOR_FLOAT16}},
    {3, {[NNV_T] = ANEURALNETWORKS_TENSOR_FLOAT32}},
    {3, {[NNV_T] = ANEURALNETWORKS_TENSOR_QUANT8_ASYMM}},
    {4, {[NNV_T] = ANEURALNETWORKS_TENSOR_QUANT8_ASYMM_SIGNED}},
};

static double slope(struct nnv_kernel *k, const struct nnv_pair *p) {
    (void)k;
    return p->x < 0 ? p->y * p->x : p->x;
}

/* The multiplier of a quantised element, whichever side of 0 it lies on. */
static double multiplier(struct nnv_kernel *k, const struct nnv_pair *p) {
    double m = nnv_scale(k, X, 0) / (double)k->call->out[0].operand->scale;
    return p->x < 0 ? m * nnv_scale(k, ALPHA, 0) : m;
}

static enum nnv_status eval(struct nnv_kernel *k, struct nnv_err *err) {
    (void)err;
    if (k->multiplier) nnv_pair_each(k, X, ALPHA, multiplier, k->multiplier);
    nnv_pair_each(k, X, ALPHA, slope, k->out[0]);
    return NNV_OK;
}

const struct nnv_op nnv_op_PRELU = {
    .code = ANEURALNETWORKS_PRELU,
    .name = "PRELU",
    .level = 3,
    .formula = "y = x where x >= 0, else alpha * x, input and alpha broadcast",
    .forms = forms,
    .nforms = 1,
    .sigs = sigs,
    .nsigs = sizeof sigs / sizeof *sigs,
    .rounding = NNV_ROUND_LINEAR,
    .linear = true,
    .infer = nnv_binary_infer,
    .eval = eval,
    .variants = nnv_pair_variants,
    .sample = nnv_binary_sample,
};
