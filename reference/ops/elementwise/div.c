/* SPDX-License-Identifier: Apache-2.0 */
/** @file div.c DIV. */
#include "reference/eval/kernel.h"
#include "reference/ops/elementwise/binary.h"

enum { A, B, ACT };

static const struct nnv_slot inputs[] = {
    {.id = A, .name = "a", .var = NNV_T, .rank_min = 1, .rank_max = 4},
    {.id = B, .name = "b", .var = NNV_T, .rank_min = 1, .rank_max = 4},
    {.id = ACT,
     .name = "activation",
     .var = NNV_FIXED,
     .type = ANEURALNETWORKS_INT32,
     .flags = NNV_SCALAR,
     .rule = NNV_FUSE},
};
static const struct nnv_slot outputs[] = {{.name = "quotient", .var = NNV_T}};
static const struct nnv_form forms[] = {{"", inputs, 3, outputs, 1}};

static const struct nnv_sig sigs[] = {
    {2, {[NNV_T] = ANEURALNETWORKS_TENSOR_FLOAT32}},
    {3, {[NNV_T] = ANEURALNETWORKS_TENSOR_FLOAT16}},
    {4, {[NNV_T] = ANEURALNETWORKS_TENSOR_INT32}},
};

/* Undefined: division by zero, and the one quotient that overflows. */
static double quotient_int(struct nnv_kernel *k, const struct nnv_pair *p) {
    if (p->y == 0) return nnv_hazard(k, 0, true);
    double q = floor(p->x / p->y);
    return nnv_hazard(k, q, q > INT32_MAX);
}

/* A divisor that may be 0, or may be taken as 0. */
static double quotient(struct nnv_kernel *k, const struct nnv_pair *p) {
    bool hazard = !(fabs(p->y) > 2 * nnv_spread(k, B, p->j) + k->eta);
    return nnv_hazard(k, nnv_quotient(k, p->x / p->y), hazard || p->y == 0);
}

static enum nnv_status eval(struct nnv_kernel *k, struct nnv_err *err) {
    (void)err;
    bool integer = k->call->sig->type[NNV_T] == ANEURALNETWORKS_TENSOR_INT32;
    nnv_pair_each(k, A, B, integer ? quotient_int : quotient, k->out[0]);
    return NNV_OK;
}

/* Divisors of one sign, away from 0. */
static void sample(struct nnv_sample *s) {
    bool integer = s->sig->type[NNV_T] == ANEURALNETWORKS_TENSOR_INT32, negative = s->index % 2 == 1;
    nnv_binary_sample(s);
    struct nnv_sample_arg *b = &s->arg[B];
    double lo = integer ? 1 : 0.5, hi = integer ? 7 : 4;
    b->lo = negative ? -hi : lo;
    b->hi = negative ? -lo : hi;
    if (integer) s->arg[A].lo = -100, s->arg[A].hi = 100;
}

const struct nnv_op nnv_op_DIV = {
    .code = ANEURALNETWORKS_DIV,
    .name = "DIV",
    .level = 2,
    .formula = "y = act(a / b), a and b broadcast; int32: floor(a / b)",
    .forms = forms,
    .nforms = 1,
    .sigs = sigs,
    .nsigs = sizeof sigs / sizeof *sigs,
    .rounding = NNV_ROUND_LINEAR,
    .zero = NNV_ZERO_ANY,
    .check = nnv_binary_check,
    .infer = nnv_binary_infer,
    .eval = eval,
    .variants = nnv_binary_variants,
    .sample = sample,
};
