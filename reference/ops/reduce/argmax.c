/* SPDX-License-Identifier: Apache-2.0 */
/** @file argmax.c ARGMAX. */
#include "reference/ops/reduce/arg.h"

static enum nnv_status eval(struct nnv_kernel *k, struct nnv_err *err) {
    (void)err;
    nnv_arg_eval(k, 1);
    return NNV_OK;
}

const struct nnv_op nnv_op_ARGMAX = {
    .code = ANEURALNETWORKS_ARGMAX,
    .name = "ARGMAX",
    .level = 3,
    .formula = "y = the position of the largest of x along axis; of equals any",
    .forms = nnv_argmax_forms,
    .nforms = 1,
    .sigs = nnv_arg_sigs,
    .nsigs = NNV_ARG_SIGS,
    .rounding = NNV_ROUND_NONE,
    .infer = nnv_arg_infer,
    .eval = eval,
    .variants = nnv_arg_variants,
    .sample = nnv_arg_sample,
};
