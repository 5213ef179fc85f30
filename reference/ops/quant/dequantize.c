/* SPDX-License-Identifier: Apache-2.0 */
/** @file dequantize.c DEQUANTIZE. */
#include "reference/ops/common.h"

#include <string.h>

static const struct nnv_slot inputs[] = {{.id = 0, .name = "input", .var = NNV_T, .rank_min = 1, .rank_max = 4}};
static const struct nnv_slot outputs[] = {{.name = "output", .var = NNV_O}};

#define SIG(LEVEL, FROM, TO)                                                                                           \
    {                                                                                                                  \
        LEVEL, { [NNV_T] = ANEURALNETWORKS_TENSOR_##FROM, [NNV_O] = ANEURALNETWORKS_TENSOR_##TO }                      \
    }
static const struct nnv_sig sigs[] = {
    SIG(1, QUANT8_ASYMM, FLOAT32),
    SIG(3, QUANT8_SYMM, FLOAT32),
    SIG(3, QUANT8_SYMM_PER_CHANNEL, FLOAT32),
    SIG(3, QUANT8_ASYMM, FLOAT16),
    SIG(3, QUANT8_SYMM, FLOAT16),
    SIG(3, QUANT8_SYMM_PER_CHANNEL, FLOAT16),
    SIG(4, QUANT8_ASYMM_SIGNED, FLOAT32),
    SIG(4, QUANT8_ASYMM_SIGNED, FLOAT16),
};

static enum nnv_status eval(struct nnv_kernel *k, struct nnv_err *err) {
    (void)err;
    memcpy(k->out[0], nnv_real(k, 0), nnv_elems(k, 0) * sizeof(double));
    return NNV_OK;
}

/* Scales for channels run along any dimension but an empty one. */
static void sample(struct nnv_sample *s) {
    nnv_sample_unary(s);
    struct nnv_sample_arg *x = &s->arg[0];
    bool channels = s->sig->type[NNV_T] == ANEURALNETWORKS_TENSOR_QUANT8_SYMM_PER_CHANNEL;
    x->channel_dim = (uint32_t)s->index % x->rank;
    if (channels && x->rank == 1 && x->dims[0] == 0) x->dims[0] = 1;
    if (channels && x->dims[x->channel_dim] == 0) x->channel_dim = (x->channel_dim + 1) % x->rank;
}

const struct nnv_op nnv_op_DEQUANTIZE = {
    NNV_OP_NAMED(DEQUANTIZE),
    .level = 1,
    .formula = "y = (q - zero_point) * scale; per channel: q * scale[c]",
    NNV_OP_FORM(inputs, outputs),
    NNV_OP_SIGS(sigs),
    .rounding = NNV_ROUND_LINEAR,
    .zero = NNV_ZERO_ANY,
    .linear = true,
    .unary = true,
    .infer = nnv_same_shape_infer,
    .eval = eval,
    .variants = nnv_unary_variants,
    .sample = sample,
};
