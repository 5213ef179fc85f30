/* SPDX-License-Identifier: Apache-2.0 */
/** @file sign.c ABS, NEG. */
#include "reference/ops/elementwise/unary.h"

static const struct nnv_slot inputs[] = {{.id = 0, .name = "input", .var = NNV_T, .rank_min = 1}};
static const struct nnv_slot outputs[] = {{.name = "output", .var = NNV_T}};
static const struct nnv_form forms[] = {{"", inputs, 1, outputs, 1}};

static const struct nnv_sig abs_sigs[] = {
    {3, {[NNV_T] = ANEURALNETWORKS_TENSOR_FLOAT16}},
    {3, {[NNV_T] = ANEURALNETWORKS_TENSOR_FLOAT32}},
    {4, {[NNV_T] = ANEURALNETWORKS_TENSOR_INT32}},
};
static const struct nnv_sig neg_sigs[] = {
    {3, {[NNV_T] = ANEURALNETWORKS_TENSOR_FLOAT16}},
    {3, {[NNV_T] = ANEURALNETWORKS_TENSOR_FLOAT32}},
    {3, {[NNV_T] = ANEURALNETWORKS_TENSOR_INT32}},
};

/* The smallest integer has no opposite. */
static enum nnv_status each(struct nnv_kernel *k, double (*f)(double)) {
    bool integer = k->call->sig->type[NNV_T] == ANEURALNETWORKS_TENSOR_INT32;
    const double *x = nnv_real(k, 0);
    for (size_t e = 0, n = nnv_elems(k, 0); e < n; e++)
        k->out[0][e] = nnv_hazard(k, f(x[e]), integer && x[e] == INT32_MIN);
    return NNV_OK;
}

static double opposite(double x) { return -x; }

static enum nnv_status eval_abs(struct nnv_kernel *k, struct nnv_err *err) {
    (void)err;
    return each(k, fabs);
}

static enum nnv_status eval_neg(struct nnv_kernel *k, struct nnv_err *err) {
    (void)err;
    return each(k, opposite);
}

#define RECORD(NAME, FORMULA, SIGS, EVAL)                                                                              \
    const struct nnv_op nnv_op_##NAME = {                                                                              \
        .code = ANEURALNETWORKS_##NAME,                                                                                \
        .name = #NAME,                                                                                                 \
        .level = 3,                                                                                                    \
        .formula = FORMULA,                                                                                            \
        .forms = forms,                                                                                                \
        .nforms = 1,                                                                                                   \
        .sigs = SIGS,                                                                                                  \
        .nsigs = sizeof SIGS / sizeof *SIGS,                                                                           \
        .rounding = NNV_ROUND_NONE,                                                                                    \
        .linear = true,                                                                                                \
        .unary = true,                                                                                                 \
        .infer = nnv_same_shape_infer,                                                                                 \
        .eval = EVAL,                                                                                                  \
        .variants = nnv_any_rank_variants,                                                                             \
        .sample = nnv_any_rank_sample,                                                                                 \
    }

RECORD(ABS, "y = |x|", abs_sigs, eval_abs);
RECORD(NEG, "y = -x", neg_sigs, eval_neg);
