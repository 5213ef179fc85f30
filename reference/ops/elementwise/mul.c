/* SPDX-License-Identifier: Apache-2.0 */
/** @file mul.c MUL. */
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
static const struct nnv_slot outputs[] = {{.name = "product", .var = NNV_T}};
static const struct nnv_form forms[] = {{"", inputs, 3, outputs, 1}};

static const struct nnv_sig sigs[] = {
    {1, {[NNV_T] = ANEURALNETWORKS_TENSOR_FLOAT32}}, {1, {[NNV_T] = ANEURALNETWORKS_TENSOR_QUANT8_ASYMM}},
    {3, {[NNV_T] = ANEURALNETWORKS_TENSOR_FLOAT16}}, {4, {[NNV_T] = ANEURALNETWORKS_TENSOR_QUANT8_ASYMM_SIGNED}},
    {4, {[NNV_T] = ANEURALNETWORKS_TENSOR_INT32}},
};

/* The multiplier from the product of the inputs to the output must be below 1. */
static enum nnv_status check(const struct nnv_call *c, struct nnv_err *err) {
    if (nnv_is_quant(c->sig->type[NNV_T])) {
        float product = nnv_in(c, A)->operand->scale * nnv_in(c, B)->operand->scale, out = c->out[0].operand->scale;
        if (!(out > product))
            return nnv_fail(err, NNV_INVALID, "output scale %.9g is not above %.9g, the product of the input scales",
                            (double)out, (double)product);
    }
    return nnv_binary_check(c, err);
}

static double product(double a, double b) { return a * b; }

static enum nnv_status eval(struct nnv_kernel *k, struct nnv_err *err) {
    (void)err;
    nnv_binary_eval(k, A, B, product);
    return NNV_OK;
}

const struct nnv_op nnv_op_MUL = {
    .code = ANEURALNETWORKS_MUL,
    .name = "MUL",
    .level = 1,
    .formula = "y = act(a * b), a and b broadcast",
    .forms = forms,
    .nforms = 1,
    .sigs = sigs,
    .nsigs = sizeof sigs / sizeof *sigs,
    .rounding = NNV_ROUND_LINEAR,
    .zero = NNV_ZERO_ANY,
    .linear = true,
    .check = check,
    .infer = nnv_binary_infer,
    .eval = eval,
    .variants = nnv_binary_variants,
    .sample = nnv_binary_sample,
};
