/* SPDX-License-Identifier: Apache-2.0 */
/** @file elu.c ELU. */
#include "reference/ops/elementwise/unary.h"

enum { X, ALPHA };

static const struct nnv_slot inputs[] = {
    {.id = X, .name = "input", .var = NNV_T, .rank_min = 1, .lo = -4, .hi = 3, .domain = NNV_DOMAIN_ALL},
    NNV_SLOT_NUMBER(ALPHA, "alpha", NNV_ANY),
};
static const struct nnv_slot outputs[] = {{.name = "output", .var = NNV_T}};

static const struct nnv_sig sigs[] = {
    {4, {[NNV_T] = ANEURALNETWORKS_TENSOR_FLOAT16, [NNV_S] = ANEURALNETWORKS_FLOAT16}},
    {4, {[NNV_T] = ANEURALNETWORKS_TENSOR_FLOAT32, [NNV_S] = ANEURALNETWORKS_FLOAT32}},
};

/* e^x - 1: an implementation rounds e^x first. */
static double less_one(struct nnv_kernel *k, double x) {
    if (k->same_inputs) return nnv_noise_replay(k);
    double y = expm1(x);
    return k->noise ? nnv_noise_add(k, y, k->u_i * (2 * nnv_ulps(k, NNV_ULPS_EXP) * exp(x) + fabs(y)) + k->eta) : y;
}

/* NaN stays NaN: in a perturbed row it means "not compared". */
static enum nnv_status eval(struct nnv_kernel *k, struct nnv_err *err) {
    (void)err;
    const double *x = nnv_real(k, X);
    double alpha = nnv_num(k->call, ALPHA);
    for (size_t e = 0, n = nnv_elems(k, X); e < n; e++) {
        double tail = alpha * less_one(k, x[e]), positive = x[e] < 0 ? 0 : x[e];
        k->out[0][e] = isnan(x[e]) ? x[e] : positive + (tail < 0 ? tail : 0);
    }
    return NNV_OK;
}

static void sample(struct nnv_sample *s) {
    static const double alphas[] = {1.5, 0.25, 1, 2.75}; /* exact in float16 */
    nnv_any_rank_sample(s);
    nnv_sample_scalar(s, ALPHA, alphas[s->index % 4]);
}

const struct nnv_op nnv_op_ELU = {
    NNV_OP_NAMED(ELU),
    .level = 4,
    .formula = "y = max(0, x) + min(0, alpha * (e^x - 1))",
    NNV_OP_FORM(inputs, outputs),
    NNV_OP_SIGS(sigs),
    .rounding = NNV_ROUND_TABLE,
    .unary = true,
    .infer = nnv_same_shape_infer,
    NNV_EVAL(eval),
    NNV_ANY_RANK_DRAWN,
    NNV_SAMPLE(sample),
};
