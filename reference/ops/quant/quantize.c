/* SPDX-License-Identifier: Apache-2.0 */
/** @file quantize.c QUANTIZE. */
#include "reference/ops/elementwise/unary.h"

static const struct nnv_slot inputs[] = {{.id = 0, .name = "input", .var = NNV_T, .rank_min = 1}};
static const struct nnv_slot outputs[] = {{.name = "output", .var = NNV_O}};

#define SIG(LEVEL, FROM, TO)                                                                                           \
    {                                                                                                                  \
        LEVEL, { [NNV_T] = ANEURALNETWORKS_TENSOR_##FROM, [NNV_O] = ANEURALNETWORKS_TENSOR_##TO }                      \
    }
static const struct nnv_sig sigs[] = {
    SIG(3, FLOAT16, QUANT8_ASYMM),
    SIG(3, FLOAT32, QUANT8_ASYMM),
    SIG(4, FLOAT16, QUANT8_ASYMM_SIGNED),
    SIG(4, FLOAT32, QUANT8_ASYMM_SIGNED),
};

/* The step itself is the evaluator's; the quotient x / scale before it may be rounded to the input's type. */
static enum nnv_status eval(struct nnv_kernel *k, struct nnv_err *err) {
    (void)err;
    const double *x = nnv_real(k, 0);
    for (size_t e = 0, n = nnv_elems(k, 0); e < n; e++) k->out[0][e] = nnv_round(k, x[e]);
    return NNV_OK;
}

const struct nnv_op nnv_op_QUANTIZE = {
    NNV_OP_NAMED(QUANTIZE),        .level = 3,        .formula = "q = round(x / scale) + zero_point, saturated",
    NNV_OP_FORM(inputs, outputs),  NNV_OP_SIGS(sigs), .rounding = NNV_ROUND_RESCALE,
    .zero = NNV_ZERO_ANY,          .linear = true,    .unary = true,
    .infer = nnv_same_shape_infer, .eval = eval,      .variants = nnv_any_rank_variants,
    .sample = nnv_any_rank_sample,
};
