/* SPDX-License-Identifier: Apache-2.0 */
/** @file logical.c LOGICAL_AND, LOGICAL_OR, LOGICAL_NOT. */
#include "reference/ops/elementwise/binary.h"
#include "reference/ops/elementwise/unary.h"

enum { A, B };

static const struct nnv_slot inputs[] = {NNV_PAIR_INPUTS};
static const struct nnv_slot outputs[] = {{.name = "output", .var = NNV_T}};
static const struct nnv_form pair_forms[] = {{"", inputs, 2, outputs, 1}};
static const struct nnv_slot input[] = {{.id = A, .name = "input", .var = NNV_T, .rank_min = 1}};
static const struct nnv_form not_forms[] = {{"", input, 1, outputs, 1}};

static const struct nnv_sig sigs[] = {{3, {[NNV_T] = ANEURALNETWORKS_TENSOR_BOOL8}}};

/* NaN, "not compared", spreads unless the other input decides. */
static double both(double a, double b) {
    if (a == 0 || b == 0) return 0;
    return isnan(a) || isnan(b) ? (double)NAN : 1;
}

static double either(double a, double b) {
    if ((a != 0 && !isnan(a)) || (b != 0 && !isnan(b))) return 1;
    return isnan(a) || isnan(b) ? (double)NAN : 0;
}

static enum nnv_status eval_and(struct nnv_kernel *k, struct nnv_err *err) {
    (void)err;
    nnv_binary_eval(k, A, B, both);
    return NNV_OK;
}

static enum nnv_status eval_or(struct nnv_kernel *k, struct nnv_err *err) {
    (void)err;
    nnv_binary_eval(k, A, B, either);
    return NNV_OK;
}

static enum nnv_status eval_not(struct nnv_kernel *k, struct nnv_err *err) {
    (void)err;
    const double *x = nnv_real(k, A);
    for (size_t e = 0, n = nnv_elems(k, A); e < n; e++) k->out[0][e] = isnan(x[e]) ? x[e] : x[e] == 0;
    return NNV_OK;
}

#define RECORD(NAME, FORMULA, FORMS, INFER, EVAL, VARIANTS, SAMPLE)                                                    \
    const struct nnv_op nnv_op_##NAME = {                                                                              \
        .code = ANEURALNETWORKS_##NAME,                                                                                \
        .name = #NAME,                                                                                                 \
        .level = 3,                                                                                                    \
        .formula = FORMULA,                                                                                            \
        .forms = FORMS,                                                                                                \
        .nforms = 1,                                                                                                   \
        .sigs = sigs,                                                                                                  \
        .nsigs = 1,                                                                                                    \
        .rounding = NNV_ROUND_NONE,                                                                                    \
        .infer = INFER,                                                                                                \
        .eval = EVAL,                                                                                                  \
        .variants = VARIANTS,                                                                                          \
        .sample = SAMPLE,                                                                                              \
    }

RECORD(LOGICAL_AND, "y = a and b, broadcast", pair_forms, nnv_binary_infer, eval_and, nnv_pair_variants,
       nnv_binary_sample);
RECORD(LOGICAL_OR, "y = a or b, broadcast", pair_forms, nnv_binary_infer, eval_or, nnv_pair_variants,
       nnv_binary_sample);
RECORD(LOGICAL_NOT, "y = not x", not_forms, nnv_same_shape_infer, eval_not, nnv_any_rank_variants, nnv_any_rank_sample);
