/* SPDX-License-Identifier: Apache-2.0 */
/** @file rank.c RANK. */
#include "reference/ops/elementwise/unary.h"

static const struct nnv_slot inputs[] = {{.id = 0, .name = "input", .var = NNV_T, .rank_min = 1}};
static const struct nnv_slot outputs[] = {
    {.name = "rank", .var = NNV_FIXED, .type = ANEURALNETWORKS_INT32, .flags = NNV_SCALAR}};
static const struct nnv_form forms[] = {{"", inputs, 1, outputs, 1}};

static const struct nnv_sig sigs[] = {
    {4, {[NNV_T] = ANEURALNETWORKS_TENSOR_FLOAT16}},
    {4, {[NNV_T] = ANEURALNETWORKS_TENSOR_FLOAT32}},
    {4, {[NNV_T] = ANEURALNETWORKS_TENSOR_INT32}},
    {4, {[NNV_T] = ANEURALNETWORKS_TENSOR_QUANT8_ASYMM}},
    {4, {[NNV_T] = ANEURALNETWORKS_TENSOR_QUANT16_SYMM}},
    {4, {[NNV_T] = ANEURALNETWORKS_TENSOR_BOOL8}},
    {4, {[NNV_T] = ANEURALNETWORKS_TENSOR_QUANT8_SYMM_PER_CHANNEL}},
    {4, {[NNV_T] = ANEURALNETWORKS_TENSOR_QUANT16_ASYMM}},
    {4, {[NNV_T] = ANEURALNETWORKS_TENSOR_QUANT8_SYMM}},
    {4, {[NNV_T] = ANEURALNETWORKS_TENSOR_QUANT8_ASYMM_SIGNED}},
};

static enum nnv_status infer(const struct nnv_call *c, struct nnv_shape *out, struct nnv_err *err) {
    (void)c;
    (void)err;
    out[0] = nnv_shape_of_rank(0);
    return NNV_OK;
}

static enum nnv_status eval(struct nnv_kernel *k, struct nnv_err *err) {
    (void)err;
    k->out[0][0] = nnv_in_shape(k, 0)->rank;
    return NNV_OK;
}

static void sample(struct nnv_sample *s) {
    nnv_any_rank_sample(s);
    s->arg[0].channel_dim = (uint32_t)s->index % s->arg[0].rank;
}

const struct nnv_op nnv_op_RANK = {
    .code = ANEURALNETWORKS_RANK,
    .name = "RANK",
    .level = 4,
    .formula = "y = the number of dimensions, a scalar",
    .forms = forms,
    .nforms = 1,
    .sigs = sigs,
    .nsigs = sizeof sigs / sizeof *sigs,
    .rounding = NNV_ROUND_NONE,
    .infer = infer,
    .eval = eval,
    .variants = nnv_any_rank_variants,
    .sample = sample,
};
