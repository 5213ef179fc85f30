/* SPDX-License-Identifier: Apache-2.0 */
/** @file logistic.c LOGISTIC, TANH. */
#include "reference/ops/elementwise/unary.h"

static const struct nnv_slot inputs[] = {{.id = 0,
                                          .name = "input",
                                          .var = NNV_T,
                                          .rank_min = 1,
                                          .rank_max = 4,
                                          .lo = -8,
                                          .hi = 8,
                                          .domain = NNV_DOMAIN_ALL}};
static const struct nnv_slot logistic[] = {{.name = "output", .var = NNV_T, .quant = NNV_Q_UNIT_256}};
static const struct nnv_slot tangent[] = {{.name = "output", .var = NNV_T, .quant = NNV_Q_UNIT_128}};

static const struct nnv_sig logistic_sigs[] = {NNV_SIG(1, FLOAT32), NNV_SIG(1, QUANT8_ASYMM), NNV_SIG(3, FLOAT16),
                                               NNV_SIG(4, QUANT8_ASYMM_SIGNED)};
static const struct nnv_sig tangent_sigs[] = {NNV_SIG(1, FLOAT32), NNV_SIG(3, QUANT8_ASYMM), NNV_SIG(3, FLOAT16),
                                              NNV_SIG(4, QUANT8_ASYMM_SIGNED)};

/** Near -8 a value in float16 is below its budget: of few values one must be compared. */
static void sample(struct nnv_sample *s) {
    enum { FEW = 4 };
    struct nnv_sample_arg *x = &s->arg[0];
    uint64_t n = 1;
    nnv_sample_unary(s);
    for (uint32_t i = 0; i < x->rank; i++) n *= x->dims[i];
    if (n <= FEW) x->lo = -4, x->hi = 4;
}

#define RECORD(NAME, FORMULA, KIND, FUNCTION, ULPS)                                                                    \
    static enum nnv_status eval_##KIND(struct nnv_kernel *k, struct nnv_err *err) {                                    \
        (void)err;                                                                                                     \
        const double *x = nnv_real(k, 0);                                                                              \
        if (nnv_noise_replay_all(k, nnv_elems(k, 0), k->out[0])) return NNV_OK;                                        \
        for (size_t e = 0, n = nnv_elems(k, 0); e < n; e++) k->out[0][e] = nnv_sigmoid(k, FUNCTION(x[e]), ULPS);       \
        return NNV_OK;                                                                                                 \
    }                                                                                                                  \
    NNV_UNARY_RECORD(NAME, 1, FORMULA, inputs, KIND, KIND##_sigs, eval_##KIND, .variants = nnv_unary_variants,         \
                     NNV_OP_FACTORS(nnv_unary_factors), NNV_SAMPLE(sample), .rounding = NNV_ROUND_TABLE,               \
                     .zero = NNV_ZERO_ANY)

RECORD(LOGISTIC, "y = 1 / (1 + e^-x)", logistic, nnv_logistic, NNV_ULPS_LOGISTIC);
RECORD(TANH, "y = tanh(x)", tangent, tanh, NNV_ULPS_TANH);
