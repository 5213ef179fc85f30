/* SPDX-License-Identifier: Apache-2.0 */
/** @file extremum.c MAXIMUM, MINIMUM. */
#include "reference/ops/elementwise/binary.h"

enum { A, B };

static const struct nnv_slot inputs[] = {NNV_PAIR_INPUTS};

static const struct nnv_sig sigs[] = {NNV_SIG(3, FLOAT16), NNV_SIG(3, FLOAT32), NNV_SIG(3, INT32),
                                      NNV_SIG(3, QUANT8_ASYMM), NNV_SIG(4, QUANT8_ASYMM_SIGNED)};

/* NaN in a perturbed row means "not compared". */
static double larger(double a, double b) { return isnan(a) || isnan(b) ? (double)NAN : a > b ? a : b; }
static double smaller(double a, double b) { return isnan(a) || isnan(b) ? (double)NAN : a < b ? a : b; }

/* Exact, unless a chosen code has to be expressed in another scale. */
static void choose(struct nnv_kernel *k, double (*f)(double, double)) {
    if (nnv_one_quant(k->call, A) && nnv_one_quant(k->call, B)) k->rounding = NNV_ROUND_NONE;
    nnv_binary_eval(k, A, B, f);
}

static void sample(struct nnv_sample *s) {
    nnv_binary_sample(s);
    nnv_sample_one_quant(s, A, B);
}

#define RECORD(NAME, WORD, CHOICE)                                                                                     \
    static enum nnv_status eval_##WORD(struct nnv_kernel *k, struct nnv_err *err) {                                    \
        (void)err;                                                                                                     \
        choose(k, CHOICE);                                                                                             \
        return NNV_OK;                                                                                                 \
    }                                                                                                                  \
    NNV_PAIR_RECORD(NAME, "y = " #WORD "(a, b), a and b broadcast", inputs, nnv_output, sigs, eval_##WORD,             \
                    .rounding = NNV_ROUND_RESCALE, .linear = true, NNV_PAIR_DRAWN, NNV_SAMPLE(sample))

RECORD(MAXIMUM, max, larger);
RECORD(MINIMUM, min, smaller);
