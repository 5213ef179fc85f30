/* SPDX-License-Identifier: Apache-2.0 */
/** @file comparison.c EQUAL, NOT_EQUAL, GREATER, GREATER_EQUAL, LESS, LESS_EQUAL. */
#include "reference/ops/elementwise/binary.h"

enum { A, B };

/* A comparison with NaN is false, but for !=: IEEE 754. */
static const struct nnv_slot inputs[] = {
    {.id = A, .name = "a", .var = NNV_T, .rank_min = 1, .domain = NNV_DOMAIN_ANY},
    {.id = B, .name = "b", .var = NNV_T, .rank_min = 1, .domain = NNV_DOMAIN_ANY},
};
static const struct nnv_slot outputs[] = {{.name = "output", .var = NNV_FIXED, .type = ANEURALNETWORKS_TENSOR_BOOL8}};

static const struct nnv_sig sigs[] = {NNV_SIG(3, BOOL8), NNV_SIG(3, FLOAT16),      NNV_SIG(3, FLOAT32),
                                      NNV_SIG(3, INT32), NNV_SIG(3, QUANT8_ASYMM), NNV_SIG(4, QUANT8_ASYMM_SIGNED)};

static double flushed(const struct nnv_kernel *k, double v) { return fabs(v) < k->eta ? 0 : v; }

/*
 * Who rescales quantised numbers by some units' error does so before they are compared, too: to a common unit of
 * 2^-7 of the coarser one, as fixed point of 8 more bits has it.
 */
static double rescaled_off(const struct nnv_kernel *k) {
    if (!(k->arithmetic->rescale > 0) || !nnv_is_quant(k->call->sig->type[NNV_T])) return 0;
    const double a = nnv_scale(k, A, 0), b = nnv_scale(k, B, 0);
    return a == b ? 0 : 2 * (0.5 + k->arithmetic->rescale) * 0x1p-7 * fmax(a, b);
}

/*
 * Numbers that are known exactly compare exactly; but the products of quantised ones are rounded to float32 or not,
 * numbers below the smallest normal may be taken as 0, and numbers with a spread compare either way when near.
 */
static bool is_near(const struct nnv_kernel *k, const struct nnv_pair *p, double a, double b,
                    bool (*holds)(double, double)) {
    const bool result = holds(a, b);
    if (holds(p->x, p->y) != result || holds(flushed(k, a), flushed(k, b)) != result) return true;
    if (fabs(a - b) < rescaled_off(k)) return true;
    const double spread = nnv_spread(k, A, p->i) + nnv_spread(k, B, p->j);
    return !(spread <= 0) && !(fabs(a - b) > 2 * spread + 2 * k->u_i * (fabs(a) + fabs(b)) + k->eta);
}

static double decide(struct nnv_kernel *k, const struct nnv_pair *p, bool (*holds)(double, double)) {
    double a = p->x, b = p->y;
    if (nnv_is_quant(k->call->sig->type[NNV_T])) {
        a = (double)(float)a;
        b = (double)(float)b;
    }
    const bool asked = k->noise && k->row == 0; /* other rows know it from row 0 */
    const bool near = asked && is_near(k, p, a, b, holds);
    return nnv_noise_branch(k, holds(a, b) ? 1 : -1, near ? 2 : 0);
}

#define RECORD(NAME, OPERATOR)                                                                                         \
    static bool holds_##NAME(double a, double b) { return a OPERATOR b; }                                              \
    static double decide_##NAME(struct nnv_kernel *k, const struct nnv_pair *p) { return decide(k, p, holds_##NAME); } \
    static enum nnv_status eval_##NAME(struct nnv_kernel *k, struct nnv_err *err) {                                    \
        (void)err;                                                                                                     \
        nnv_pair_each(k, A, B, decide_##NAME, k->out[0]);                                                              \
        return NNV_OK;                                                                                                 \
    }                                                                                                                  \
    NNV_PAIR_RECORD(NAME, "y = a " #OPERATOR " b, a and b broadcast", inputs, outputs, sigs, eval_##NAME,              \
                    .rounding = NNV_ROUND_NONE, .linear = true, NNV_PAIR_DRAWN, NNV_SAMPLE(sample))

/*
 * Every other case, and all of those that ask for equality, have many equal numbers and neighbours that only full
 * precision tells apart; every fourth case those of float16, for relaxed models.
 */
static void sample(struct nnv_sample *s) {
    int32_t type = s->sig->type[NNV_T], code = s->op->code;
    bool equality = code == ANEURALNETWORKS_EQUAL || code == ANEURALNETWORKS_NOT_EQUAL;
    double step = type == ANEURALNETWORKS_TENSOR_FLOAT16 || s->index % 4 == 3 ? 0x1p-10 : 0x1p-23;
    nnv_binary_sample(s);
    if (s->index % 2 == 0 && !equality) return;
    for (int id = A; id <= B; id++) {
        struct nnv_sample_arg *x = &s->arg[id];
        bool small = !nnv_is_float(type);
        x->lo = small ? -2 : 1;
        x->hi = small ? 2 : 1 + 3 * step;
        x->scale = id == A ? 0.25f : 0.125f;
        x->zero_point = (type == ANEURALNETWORKS_TENSOR_QUANT8_ASYMM ? 128 : 0) + (id == A ? 7 : -5);
    }
}

RECORD(EQUAL, ==);
RECORD(NOT_EQUAL, !=);
RECORD(GREATER, >);
RECORD(GREATER_EQUAL, >=);
RECORD(LESS, <);
RECORD(LESS_EQUAL, <=);
