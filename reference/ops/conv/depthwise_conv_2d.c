/* SPDX-License-Identifier: Apache-2.0 */
/** @file depthwise_conv_2d.c DEPTHWISE_CONV_2D. */
#include "reference/ops/conv/conv.h"

static const struct nnv_slot explicit_inputs[] = {
    NNV_CONV_TENSORS,
    NNV_CONV_INT(PAD_LEFT, "padding left", NNV_NOT_NEGATIVE),
    NNV_CONV_INT(PAD_RIGHT, "padding right", NNV_NOT_NEGATIVE),
    NNV_CONV_INT(PAD_TOP, "padding top", NNV_NOT_NEGATIVE),
    NNV_CONV_INT(PAD_BOTTOM, "padding bottom", NNV_NOT_NEGATIVE),
    NNV_CONV_INT(STRIDE_W, "stride width", NNV_POSITIVE),
    NNV_CONV_INT(STRIDE_H, "stride height", NNV_POSITIVE),
    NNV_CONV_INT(MULTIPLIER, "multiplier", NNV_POSITIVE),
    NNV_CONV_INT(ACT, "activation", NNV_FUSE),
    NNV_CONV_OPTIONS,
};
static const struct nnv_slot implicit_inputs[] = {
    NNV_CONV_TENSORS,
    NNV_CONV_INT(SCHEME, "padding scheme", NNV_PADDING_CODE),
    NNV_CONV_INT(STRIDE_W, "stride width", NNV_POSITIVE),
    NNV_CONV_INT(STRIDE_H, "stride height", NNV_POSITIVE),
    NNV_CONV_INT(MULTIPLIER, "multiplier", NNV_POSITIVE),
    NNV_CONV_INT(ACT, "activation", NNV_FUSE),
    NNV_CONV_OPTIONS,
};
static const struct nnv_slot outputs[] = {{.name = "output", .var = NNV_T, .rank_min = 4, .rank_max = 4}};

static const struct nnv_form forms[] = {
    {"implicit", implicit_inputs, sizeof implicit_inputs / sizeof *implicit_inputs, outputs, 1},
    {"explicit", explicit_inputs, sizeof explicit_inputs / sizeof *explicit_inputs, outputs, 1},
};

const struct nnv_op nnv_op_DEPTHWISE_CONV_2D = {
    .code = ANEURALNETWORKS_DEPTHWISE_CONV_2D,
    .name = "DEPTHWISE_CONV_2D",
    .level = 1,
    .formula = "y[n,i,j,c*m+r] = act(bias[c*m+r] + sum over p,q of x[n, i*sh-top+p*dh, j*sw-left+q*dw, c] * "
               "filter[0,p,q,c*m+r]), 0 <= r < m = multiplier",
    .forms = forms,
    .nforms = 2,
    .sigs = nnv_conv_sigs,
    .nsigs = NNV_CONV_SIGS,
    .rounding = NNV_ROUND_LINEAR,
    .zero = NNV_ZERO_BATCH,
    .linear = true,
    .check = nnv_conv_check,
    .level_of = nnv_linear_level,
    .infer = nnv_conv_infer,
    .eval = nnv_conv_eval,
    .variants = nnv_depthwise_variants,
    .sample = nnv_conv_sample,
};
