/* SPDX-License-Identifier: Apache-2.0 */
/** @file sign.c ABS, NEG. */
#include "reference/ops/elementwise/unary.h"

static const struct nnv_slot inputs[] = {
    {.id = 0, .name = "input", .var = NNV_T, .rank_min = 1, .domain = NNV_DOMAIN_OPPOSITE}};

static const struct nnv_sig abs_sigs[] = {NNV_SIG(3, FLOAT16), NNV_SIG(3, FLOAT32), NNV_SIG(4, INT32)};
static const struct nnv_sig neg_sigs[] = {NNV_SIG(3, FLOAT16), NNV_SIG(3, FLOAT32), NNV_SIG(3, INT32)};

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
    NNV_UNARY_RECORD(NAME, 3, FORMULA, inputs, nnv_output, SIGS, EVAL, NNV_ANY_RANK_SAMPLED,                           \
                     .rounding = NNV_ROUND_NONE, .linear = true)

RECORD(ABS, "y = |x|", abs_sigs, eval_abs);
RECORD(NEG, "y = -x", neg_sigs, eval_neg);
