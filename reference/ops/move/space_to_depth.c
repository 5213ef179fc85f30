/* SPDX-License-Identifier: Apache-2.0 */
/** @file space_to_depth.c SPACE_TO_DEPTH. */
#include "reference/ops/move/block.h"

static const struct nnv_slot inputs[] = {NNV_BLOCK_INPUTS};
static const struct nnv_slot outputs[] = {
    {.name = "output", .var = NNV_T, .rank_min = 4, .rank_max = 4, .quant = NNV_Q_SAME}};
static const struct nnv_form forms[] = {{"", inputs, sizeof inputs / sizeof *inputs, outputs, 1}};

static enum nnv_status eval(struct nnv_kernel *k, struct nnv_err *err) {
    (void)err;
    nnv_block_eval(k, false);
    return NNV_OK;
}

static void sample(struct nnv_sample *s) { nnv_block_sample(s, false); }

const struct nnv_op nnv_op_SPACE_TO_DEPTH = {
    .code = ANEURALNETWORKS_SPACE_TO_DEPTH,
    .name = "SPACE_TO_DEPTH",
    .level = 1,
    .formula = "y[n, h, w, (p*b+q)*C + c] = x[n, h*b+p, w*b+q, c], 0 <= p,q < b",
    .forms = forms,
    .nforms = 1,
    .sigs = nnv_block_sigs,
    .nsigs = NNV_BLOCK_SIGS,
    .rounding = NNV_ROUND_NONE,
    .linear = true,
    .infer = nnv_block_infer_to_depth,
    .eval = eval,
    .variants = nnv_block_variants,
    .sample = sample,
};
