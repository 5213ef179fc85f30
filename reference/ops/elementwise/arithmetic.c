/* SPDX-License-Identifier: Apache-2.0 */
/** @file arithmetic.c ADD, SUB, MUL, DIV. */
#include "reference/eval/kernel.h"
#include "reference/ops/elementwise/binary.h"

enum { A, B, ACT };

#define OPERANDS(DOMAIN_B)                                                                                             \
    {.id = A, .name = "a", .var = NNV_T, .rank_min = 1, .rank_max = 4, .domain = NNV_DOMAIN_OPPOSITE},                 \
        {.id = B, .name = "b", .var = NNV_T, .rank_min = 1, .rank_max = 4, .domain = DOMAIN_B},                        \
        NNV_SLOT_INT(ACT, "activation", NNV_FUSE)
static const struct nnv_slot inputs[] = {OPERANDS(NNV_DOMAIN_OPPOSITE)},
                             ratio_inputs[] = {OPERANDS(NNV_DOMAIN_DIVISOR)};
static const struct nnv_slot sum[] = {{.name = "sum", .var = NNV_T}};
static const struct nnv_slot difference[] = {{.name = "difference", .var = NNV_T}};
static const struct nnv_slot product[] = {{.name = "product", .var = NNV_T}};
static const struct nnv_slot quotient[] = {{.name = "quotient", .var = NNV_T}};

static const struct nnv_sig sum_sigs[] = {NNV_SIG(1, FLOAT32), NNV_SIG(1, QUANT8_ASYMM), NNV_SIG(3, FLOAT16),
                                          NNV_SIG(4, QUANT8_ASYMM_SIGNED), NNV_SIG(4, INT32)};
static const struct nnv_sig difference_sigs[] = {NNV_SIG(2, FLOAT32), NNV_SIG(3, FLOAT16), NNV_SIG(3, QUANT8_ASYMM),
                                                 NNV_SIG(4, QUANT8_ASYMM_SIGNED), NNV_SIG(4, INT32)};
static const struct nnv_sig quotient_sigs[] = {NNV_SIG(2, FLOAT32), NNV_SIG(3, FLOAT16), NNV_SIG(4, INT32)};

/* The multiplier from the product of the inputs to the output must be below 1. */
static enum nnv_status check_product(const struct nnv_call *c, struct nnv_err *err) {
    if (nnv_is_quant(c->sig->type[NNV_T])) {
        float scale = nnv_in(c, A)->operand->scale * nnv_in(c, B)->operand->scale, out = c->out[0].operand->scale;
        if (!(out > scale))
            return nnv_fail(err, NNV_INVALID, "output scale %.9g is not above %.9g, the product of the input scales",
                            (double)out, (double)scale);
    }
    return nnv_binary_check(c, err);
}

static double add(double a, double b) { return a + b; }
static double subtract(double a, double b) { return a - b; }
static double multiply(double a, double b) { return a * b; }
/* A factor that vanishes takes with it what the other one would have made of it. */
static double multiply_reals(struct nnv_kernel *k, const struct nnv_pair *p) {
    bool lost = (nnv_may_vanish(k, p->x) || nnv_may_vanish(k, p->y)) && fabs(p->x * p->y) > k->eta;
    return nnv_hazard(k, p->x * p->y, lost);
}

static enum nnv_status eval_sum(struct nnv_kernel *k, struct nnv_err *err) {
    (void)err;
    nnv_binary_eval(k, A, B, add);
    return NNV_OK;
}

static enum nnv_status eval_difference(struct nnv_kernel *k, struct nnv_err *err) {
    (void)err;
    nnv_binary_eval(k, A, B, subtract);
    return NNV_OK;
}

static enum nnv_status eval_product(struct nnv_kernel *k, struct nnv_err *err) {
    (void)err;
    if (nnv_is_float(k->call->sig->type[NNV_T]))
        nnv_pair_each(k, A, B, multiply_reals, k->out[0]);
    else
        nnv_binary_eval(k, A, B, multiply);
    return NNV_OK;
}

/* Undefined: division by zero, and the one quotient that overflows. */
static double divide_int(struct nnv_kernel *k, const struct nnv_pair *p) {
    if (p->y == 0) return nnv_hazard(k, 0, true);
    double q = floor(p->x / p->y);
    return nnv_hazard(k, q, q > INT32_MAX);
}

/* A divisor that may be 0, or may be taken as 0; a dividend that may, where that shows. */
static double divide(struct nnv_kernel *k, const struct nnv_pair *p) {
    bool hazard = !(fabs(p->y) > 2 * nnv_spread(k, B, p->j) + k->eta);
    bool lost = nnv_may_vanish(k, p->x) && fabs(p->x / p->y) > k->eta;
    return nnv_hazard(k, nnv_quotient(k, p->x / p->y), hazard || lost || p->y == 0);
}

static enum nnv_status eval_quotient(struct nnv_kernel *k, struct nnv_err *err) {
    (void)err;
    bool integer = k->call->sig->type[NNV_T] == ANEURALNETWORKS_TENSOR_INT32;
    if (nnv_noise_replay_all(k, nnv_shape_elems(nnv_out_shape(k, 0)), k->out[0])) return NNV_OK;
    nnv_pair_each(k, A, B, integer ? divide_int : divide, k->out[0]);
    return NNV_OK;
}

/* Divisors of one sign, away from 0. */
static void sample_quotient(struct nnv_sample *s) {
    bool integer = s->sig->type[NNV_T] == ANEURALNETWORKS_TENSOR_INT32, negative = s->index % 2 == 1;
    nnv_binary_sample(s);
    struct nnv_sample_arg *b = &s->arg[B];
    double lo = integer ? 1 : 0.5, hi = integer ? 7 : 4;
    b->lo = negative ? -hi : lo;
    b->hi = negative ? -lo : hi;
    if (integer) s->arg[A].lo = -100, s->arg[A].hi = 100;
}

/** The record of an operation; then what else it has. */
#define RECORD(NAME, LEVEL, FORMULA, INPUTS, OUTPUT, SIGS, ...)                                                        \
    const struct nnv_op nnv_op_##NAME = {                                                                              \
        NNV_OP_NAMED(NAME),                                                                                            \
        .level = LEVEL,                                                                                                \
        .formula = FORMULA,                                                                                            \
        NNV_OP_FORM(INPUTS, OUTPUT),                                                                                   \
        NNV_OP_SIGS(SIGS),                                                                                             \
        .pairs = true,                                                                                                 \
        .zero = NNV_ZERO_ANY,                                                                                          \
        .infer = nnv_binary_infer,                                                                                     \
        NNV_EVAL(eval_##OUTPUT),                                                                                       \
        .variants = nnv_binary_variants,                                                                               \
        NNV_OP_FACTORS(nnv_binary_factors),                                                                            \
        __VA_ARGS__,                                                                                                   \
    }

RECORD(ADD, 1, "y = act(a + b), a and b broadcast", inputs, sum, sum_sigs, .rounding = NNV_ROUND_RESCALE,
       .linear = true, .check = nnv_binary_check, NNV_SAMPLE(nnv_binary_sample));
RECORD(SUB, 2, "y = act(a - b), a and b broadcast", inputs, difference, difference_sigs, .rounding = NNV_ROUND_RESCALE,
       .linear = true, .check = nnv_binary_check, NNV_SAMPLE(nnv_binary_sample));
RECORD(MUL, 1, "y = act(a * b), a and b broadcast", inputs, product, sum_sigs, .rounding = NNV_ROUND_LINEAR,
       .linear = true, .check = check_product, .early = NNV_EARLY_CHECK, NNV_SAMPLE(nnv_binary_sample));
RECORD(DIV, 2, "y = act(a / b), a and b broadcast; int32: floor(a / b)", ratio_inputs, quotient, quotient_sigs,
       .rounding = NNV_ROUND_LINEAR, .check = nnv_binary_check, NNV_SAMPLE(sample_quotient));
