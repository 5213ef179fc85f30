/* SPDX-License-Identifier: Apache-2.0 */
/** @file logical.c LOGICAL_AND, LOGICAL_OR, LOGICAL_NOT. */
#include "reference/ops/elementwise/binary.h"
#include "reference/ops/elementwise/unary.h"

enum { A, B };

static const struct nnv_slot inputs[] = {NNV_PAIR_INPUTS};
static const struct nnv_slot input[] = {{.id = A, .name = "input", .var = NNV_T, .rank_min = 1}};

static const struct nnv_sig sigs[] = {NNV_SIG(3, BOOL8)};

/* NaN, "not compared", spreads unless the other input decides. */
static double both(double a, double b) {
    if (a == 0 || b == 0) return 0;
    return isnan(a) || isnan(b) ? (double)NAN : 1;
}

static double either(double a, double b) {
    if ((a != 0 && !isnan(a)) || (b != 0 && !isnan(b))) return 1;
    return isnan(a) || isnan(b) ? (double)NAN : 0;
}

static enum nnv_status eval_not(struct nnv_kernel *k, struct nnv_err *err) {
    (void)err;
    const double *x = nnv_real(k, A);
    for (size_t e = 0, n = nnv_elems(k, A); e < n; e++) k->out[0][e] = isnan(x[e]) ? x[e] : x[e] == 0;
    return NNV_OK;
}

#define RECORD(NAME, WORD, DECISION)                                                                                   \
    static enum nnv_status eval_##WORD(struct nnv_kernel *k, struct nnv_err *err) {                                    \
        (void)err;                                                                                                     \
        nnv_binary_eval(k, A, B, DECISION);                                                                            \
        return NNV_OK;                                                                                                 \
    }                                                                                                                  \
    NNV_PAIR_RECORD(NAME, "y = a " #WORD " b, broadcast", inputs, nnv_output, sigs, eval_##WORD,                       \
                    .rounding = NNV_ROUND_NONE, NNV_PAIR_DRAWN, NNV_SAMPLE(nnv_binary_sample))

RECORD(LOGICAL_AND, and, both);
RECORD(LOGICAL_OR, or, either);

const struct nnv_op nnv_op_LOGICAL_NOT = {
    NNV_OP_NAMED(LOGICAL_NOT),
    .level = 3,
    .formula = "y = not x",
    NNV_OP_FORM(input, nnv_output),
    NNV_OP_SIGS(sigs),
    .rounding = NNV_ROUND_NONE,
    .infer = nnv_same_shape_infer,
    NNV_EVAL(eval_not),
    NNV_ANY_RANK_SAMPLED,
    .unary = true,
};
