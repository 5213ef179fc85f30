/* SPDX-License-Identifier: Apache-2.0 */
/** @file extremum.c MAXIMUM, MINIMUM. */
#include "reference/ops/elementwise/binary.h"

enum { A, B };

static const struct nnv_slot inputs[] = {NNV_PAIR_INPUTS};
static const struct nnv_slot outputs[] = {{.name = "output", .var = NNV_T}};
static const struct nnv_form forms[] = {{"", inputs, 2, outputs, 1}};

static const struct nnv_sig sigs[] = {
    {3, {[NNV_T] = ANEURALNETWORKS_TENSOR_FLOAT16}},
    {3, {[NNV_T] = ANEURALNETWORKS_TENSOR_FLOAT32}},
    {3, {[NNV_T] = ANEURALNETWORKS_TENSOR_INT32}},
    {3, {[NNV_T] = ANEURALNETWORKS_TENSOR_QUANT8_ASYMM}},
    {4, {[NNV_T] = ANEURALNETWORKS_TENSOR_QUANT8_ASYMM_SIGNED}},
};

/* NaN in a perturbed row means "not compared". */
static double larger(double a, double b) { return isnan(a) || isnan(b) ? (double)NAN : a > b ? a : b; }
static double smaller(double a, double b) { return isnan(a) || isnan(b) ? (double)NAN : a < b ? a : b; }

/* Exact, unless a chosen code has to be expressed in another scale. */
static void choose(struct nnv_kernel *k, double (*f)(double, double)) {
    if (nnv_one_quant(k->call, A) && nnv_one_quant(k->call, B)) k->rounding = NNV_ROUND_NONE;
    nnv_binary_eval(k, A, B, f);
}

static enum nnv_status eval_maximum(struct nnv_kernel *k, struct nnv_err *err) {
    (void)err;
    choose(k, larger);
    return NNV_OK;
}

static enum nnv_status eval_minimum(struct nnv_kernel *k, struct nnv_err *err) {
    (void)err;
    choose(k, smaller);
    return NNV_OK;
}

static void sample(struct nnv_sample *s) {
    nnv_binary_sample(s);
    nnv_sample_one_quant(s, A, B);
}

#define RECORD(NAME, FORMULA, EVAL)                                                                                    \
    const struct nnv_op nnv_op_##NAME = {                                                                              \
        .code = ANEURALNETWORKS_##NAME,                                                                                \
        .name = #NAME,                                                                                                 \
        .level = 3,                                                                                                    \
        .formula = FORMULA,                                                                                            \
        .forms = forms,                                                                                                \
        .nforms = 1,                                                                                                   \
        .sigs = sigs,                                                                                                  \
        .nsigs = sizeof sigs / sizeof *sigs,                                                                           \
        .rounding = NNV_ROUND_RESCALE,                                                                                 \
        .linear = true,                                                                                                \
        .infer = nnv_binary_infer,                                                                                     \
        .eval = EVAL,                                                                                                  \
        .variants = nnv_pair_variants,                                                                                 \
        .sample = sample,                                                                                              \
    }

RECORD(MAXIMUM, "y = max(a, b), a and b broadcast", eval_maximum);
RECORD(MINIMUM, "y = min(a, b), a and b broadcast", eval_minimum);
