/* SPDX-License-Identifier: Apache-2.0 */
/** @file depth_to_space.c DEPTH_TO_SPACE. */
#include "reference/ops/move/block.h"

static const struct nnv_slot inputs[] = {NNV_BLOCK_INPUTS};
static const struct nnv_slot outputs[] = {
    {.name = "output", .var = NNV_T, .rank_min = 4, .rank_max = 4, .quant = NNV_Q_SAME}};
static const struct nnv_form forms[] = {{"", inputs, sizeof inputs / sizeof *inputs, outputs, 1}};

static enum nnv_status eval(struct nnv_kernel *k, struct nnv_err *err) {
    (void)err;
    nnv_block_eval(k, true);
    return NNV_OK;
}

static void sample(struct nnv_sample *s) { nnv_block_sample(s, true); }

const struct nnv_op nnv_op_DEPTH_TO_SPACE = {
    .code = ANEURALNETWORKS_DEPTH_TO_SPACE,
    .name = "DEPTH_TO_SPACE",
    .level = 1,
    .formula = "y[n, h*b+p, w*b+q, c] = x[n, h, w, (p*b+q)*(C/b^2) + c], 0 <= p,q < b",
    .forms = forms,
    .nforms = 1,
    .sigs = nnv_block_sigs,
    .nsigs = NNV_BLOCK_SIGS,
    .rounding = NNV_ROUND_NONE,
    .linear = true,
    .infer = nnv_block_infer_to_space,
    .eval = eval,
    .variants = nnv_block_variants,
    .sample = sample,
};
