/* SPDX-License-Identifier: Apache-2.0 */
/** @file quantize.c QUANTIZE, DEQUANTIZE. */
#include "reference/ops/elementwise/unary.h"

#include <string.h>

static const struct nnv_slot outputs[] = {{.name = "output", .var = NNV_O}};

#define SIG(LEVEL, FROM, TO)                                                                                           \
    {                                                                                                                  \
        LEVEL, { [NNV_T] = ANEURALNETWORKS_TENSOR_##FROM, [NNV_O] = ANEURALNETWORKS_TENSOR_##TO }                      \
    }
static const struct nnv_slot quantize_inputs[] = {
    {.id = 0, .name = "input", .var = NNV_T, .rank_min = 1, .domain = NNV_DOMAIN_ENDLESS}};
static const struct nnv_sig quantize_sigs[] = {
    SIG(3, FLOAT16, QUANT8_ASYMM),
    SIG(3, FLOAT32, QUANT8_ASYMM),
    SIG(4, FLOAT16, QUANT8_ASYMM_SIGNED),
    SIG(4, FLOAT32, QUANT8_ASYMM_SIGNED),
};

/* The step itself is the evaluator's; the quotient x / scale before it may be rounded to the input's type. */
static enum nnv_status quantize(struct nnv_kernel *k, struct nnv_err *err) {
    (void)err;
    const double *x = nnv_real(k, 0);
    if (nnv_noise_replay_all(k, nnv_elems(k, 0), k->out[0])) return NNV_OK;
    for (size_t e = 0, n = nnv_elems(k, 0); e < n; e++) k->out[0][e] = nnv_round(k, x[e]);
    return NNV_OK;
}

static const struct nnv_slot dequantize_inputs[] = {
    {.id = 0, .name = "input", .var = NNV_T, .rank_min = 1, .rank_max = 4}};
static const struct nnv_sig dequantize_sigs[] = {
    SIG(1, QUANT8_ASYMM, FLOAT32),
    SIG(3, QUANT8_SYMM, FLOAT32),
    SIG(3, QUANT8_SYMM_PER_CHANNEL, FLOAT32),
    SIG(3, QUANT8_ASYMM, FLOAT16),
    SIG(3, QUANT8_SYMM, FLOAT16),
    SIG(3, QUANT8_SYMM_PER_CHANNEL, FLOAT16),
    SIG(4, QUANT8_ASYMM_SIGNED, FLOAT32),
    SIG(4, QUANT8_ASYMM_SIGNED, FLOAT16),
};

static enum nnv_status dequantize(struct nnv_kernel *k, struct nnv_err *err) {
    (void)err;
    memcpy(k->out[0], nnv_real(k, 0), nnv_elems(k, 0) * sizeof(double));
    return NNV_OK;
}

/* The first dimension from d on, round and round, that is longer than least; d where none is. */
static uint32_t longer_than(const struct nnv_sample_arg *x, uint32_t d, uint32_t least) {
    for (uint32_t i = 0; i < x->rank; i++)
        if (x->dims[(d + i) % x->rank] > least) return (d + i) % x->rank;
    return d;
}

/* Scales for channels run along any dimension but an empty one, and of four cases three have several. */
static void sample(struct nnv_sample *s) {
    nnv_sample_unary(s);
    struct nnv_sample_arg *x = &s->arg[0];
    bool channels = s->sig->type[NNV_T] == ANEURALNETWORKS_TENSOR_QUANT8_SYMM_PER_CHANNEL;
    if (channels && x->rank == 1 && x->dims[0] == 0) x->dims[0] = 1;
    x->channel_dim = longer_than(x, (uint32_t)s->index % x->rank, 0);
    if (s->index % 4 != 3) x->channel_dim = longer_than(x, x->channel_dim, 1);
}

NNV_UNARY_RECORD(QUANTIZE, 3, "q = round(x / scale) + zero_point, saturated", quantize_inputs, outputs, quantize_sigs,
                 quantize, NNV_ANY_RANK_SAMPLED, .rounding = NNV_ROUND_RESCALE, .zero = NNV_ZERO_ANY, .linear = true);
NNV_UNARY_RECORD(DEQUANTIZE, 1, "y = (q - zero_point) * scale; per channel: q * scale[c]", dequantize_inputs, outputs,
                 dequantize_sigs, dequantize, .variants = nnv_unary_variants, NNV_OP_FACTORS(nnv_unary_factors),
                 NNV_SAMPLE(sample), .rounding = NNV_ROUND_LINEAR, .zero = NNV_ZERO_ANY, .linear = true);
