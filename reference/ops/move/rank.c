/* SPDX-License-Identifier: Apache-2.0 */
/** @file rank.c RANK. */
#include "reference/ops/elementwise/unary.h"

static const struct nnv_slot inputs[] = {{.id = 0, .name = "input", .var = NNV_T, .rank_min = 1}};
static const struct nnv_slot outputs[] = {
    {.name = "rank", .var = NNV_FIXED, .type = ANEURALNETWORKS_INT32, .flags = NNV_SCALAR}};

static const struct nnv_sig sigs[] = {NNV_SIG(4, FLOAT16),
                                      NNV_SIG(4, FLOAT32),
                                      NNV_SIG(4, INT32),
                                      NNV_SIG(4, QUANT8_ASYMM),
                                      NNV_SIG(4, QUANT16_SYMM),
                                      NNV_SIG(4, BOOL8),
                                      NNV_SIG(4, QUANT8_SYMM_PER_CHANNEL),
                                      NNV_SIG(4, QUANT16_ASYMM),
                                      NNV_SIG(4, QUANT8_SYMM),
                                      NNV_SIG(4, QUANT8_ASYMM_SIGNED)};

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
    NNV_OP_NAMED(RANK),
    .level = 4,
    .formula = "y = the number of dimensions, a scalar",
    NNV_OP_FORM(inputs, outputs),
    NNV_OP_SIGS(sigs),
    .rounding = NNV_ROUND_NONE,
    .infer = infer,
    NNV_EVAL(eval),
    NNV_ANY_RANK_DRAWN,
    NNV_SAMPLE(sample),
};
