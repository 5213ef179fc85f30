/* SPDX-License-Identifier: Apache-2.0 */
/** @file exp.c EXP, LOG, SIN. */
#include "reference/eval/strip.h"
#include "reference/ops/elementwise/unary.h"

static const struct nnv_slot exp_inputs[] = {
    {.id = 0,
     .name = "input",
     .var = NNV_T,
     .rank_min = 1,
     .lo = -5,
     .hi = 5,
     NNV_EDGES(0, 0x1p-126, -0x1p-126, 0x1p-24, -0x1p-24, 1, -1, 9.7, -9.7, 11, -17, -17.4, 20, -20, 87.25, -87.25,
               88.7, -88.7, -90, -103.5, -104, -120, -1e4, -65504, -3e10, -1e30)}};
static const struct nnv_slot log_inputs[] = {
    {.id = 0, .name = "input", .var = NNV_T, .rank_min = 1, .lo = 0.0625, .hi = 12, .domain = NNV_DOMAIN_POSITIVE}};
static const struct nnv_slot sin_inputs[] = {
    {.id = 0,
     .name = "input",
     .var = NNV_T,
     .rank_min = 1,
     .lo = -7,
     .hi = 7,
     NNV_EDGES(0, -0.0, 0x1p-126, 0x1p-24, -0x1p-14, 1.5707964, -1.5707964, 3.1415927, -3.1415927, 6.2831855, 6.28125,
               17, -20, 90, -104, 255, -1000.5, 2000.25, 1e4)}};

static const struct nnv_sig sigs[] = {NNV_SIG(3, FLOAT16), NNV_SIG(3, FLOAT32)};

enum { ULPS_SIN = 4 };

static enum nnv_status eval_exp(struct nnv_kernel *k, struct nnv_err *err) {
    (void)err;
    nnv_unary_eval(k, exp, NNV_ULPS_EXP);
    return NNV_OK;
}

static enum nnv_status eval_log(struct nnv_kernel *k, struct nnv_err *err) {
    (void)err;
    const double *x = nnv_real(k, 0);
    if (nnv_noise_replay_all(k, nnv_elems(k, 0), k->out[0])) return NNV_OK;
    for (size_t e = 0, n = nnv_elems(k, 0); e < n; e++) {
        bool hazard = !(x[e] > 2 * nnv_spread(k, 0, e) + k->eta);
        double y = k->same_inputs ? nnv_noise_replay(k) : nnv_function(k, log(x[e]), NNV_ULPS_LOG);
        k->out[0][e] = nnv_hazard(k, y, hazard);
    }
    return NNV_OK;
}

/* The sine of x, rounded before. In rows with row 0's input that is one of two numbers, whose sines row 0 finds. */
static nnv_two sine(struct nnv_strip *s, double x, struct nnv_hook *note) {
    const nnv_two rounded = nnv_two_round(s, nnv_two_of(x));
    if (!s->k->same_inputs || !note) {
        const double off = note && s->k->row == 0 ? nnv_rounding(s->k, x) : 0;
        if (note) *note = off > 0 ? (struct nnv_hook){sin(x - off), sin(x + off)} : (struct nnv_hook){0, 0};
        return nnv_two_of(sin(rounded[0]));
    }
    nnv_two y;
    for (int i = 0; i < 2; i++)
        y[i] = rounded[i] < x ? note->value : rounded[i] > x ? note->magnitude : sin(rounded[i]);
    return y;
}

/* The argument is reduced to a period in the operand's precision. */
static enum nnv_status eval_sin(struct nnv_kernel *k, struct nnv_err *err) {
    enum { SOME = 256 };
    (void)err;
    const double *x = nnv_real(k, 0);
    for (size_t at = 0, n = nnv_elems(k, 0); at < n; at += SOME) {
        const size_t end = n - at < SOME ? n : at + SOME;
        struct nnv_strip s = nnv_strip_of(k, 2 * (end - at), end - at);
        for (size_t e = at; e < end; e++) {
            struct nnv_hook *note = s.note ? &s.note[e - at] : NULL;
            nnv_two_put(k, &k->out[0][e], nnv_two_function(&s, sine(&s, x[e], note), ULPS_SIN));
        }
    }
    return NNV_OK;
}

#define RECORD(NAME, FORMULA, INPUTS, EVAL)                                                                            \
    NNV_UNARY_RECORD(NAME, 3, FORMULA, INPUTS, nnv_output, sigs, EVAL, NNV_ANY_RANK_SAMPLED,                           \
                     .rounding = NNV_ROUND_TABLE)

RECORD(EXP, "y = e^x", exp_inputs, eval_exp);
RECORD(LOG, "y = ln x", log_inputs, eval_log);
RECORD(SIN, "y = sin x", sin_inputs, eval_sin);
