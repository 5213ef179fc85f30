/* SPDX-License-Identifier: Apache-2.0 */
/* Activations. */
#include <math.h>
#include <string.h>

#include "mlts/onnx/ox.h"

static void give(struct nnv_cv *c, uint32_t y) { nnv_ox_give_like(c, 0, y, 0); }
static uint32_t applied(struct nnv_cv *c, int32_t code, uint32_t x) { return NNV_OX_LIKE(c, code, x, x); }
static uint32_t larger(struct nnv_cv *c, uint32_t x, double v) {
    return NNV_OX_LIKE(c, ANEURALNETWORKS_MAXIMUM, x, x, nnv_cv_number(c, x, v));
}
static uint32_t smaller(struct nnv_cv *c, uint32_t x, double v) {
    return NNV_OX_LIKE(c, ANEURALNETWORKS_MINIMUM, x, x, nnv_cv_number(c, x, v));
}

/** One that NNAPI has. */
static void plain(struct nnv_cv *c) {
    const uint32_t x = nnv_ox_in(c, 0);
    give(c, applied(c, c->onnx->row->nnapi, x));
}

/** RELU of integers is a maximum. */
static void relu(struct nnv_cv *c) {
    const int type = nnv_ox_value(c, 0)->type;
    if (NNV_OX_FLOAT >> type & 1) {
        plain(c);
        return;
    }
    const uint32_t x = nnv_ox_widened(c, nnv_ox_in(c, 0));
    if (nnv_cv_ok(c)) give(c, nnv_ox_wrapped(c, larger(c, x, 0), type));
}

static void leaky_relu(struct nnv_cv *c) {
    const double alpha = nnv_ox_float(c, "alpha", 0.01);
    const uint32_t x = nnv_ox_in(c, 0);
    if (nnv_cv_ok(c)) give(c, NNV_OX_LIKE(c, ANEURALNETWORKS_PRELU, x, x, nnv_cv_number(c, x, alpha)));
}

/** The slope is broadcast to x. */
static void prelu(struct nnv_cv *c) {
    struct nnv_ox_value r, seen;
    uint32_t x, slope;
    const struct nnv_ox_value v = *nnv_ox_value(c, 0);
    if (!nnv_ox_broadcast(c, &v, nnv_ox_value(c, 1), &r)) return;
    if (c->onnx->opset < 7 && nnv_ox_elements(nnv_ox_value(c, 1)) != 1) nnv_cv_refuse(c, " before operator set 7");
    if (nnv_ox_elements(&r) != nnv_ox_elements(&v)) nnv_cv_fail(c, "the slope is larger than the input");
    nnv_ox_pair(c, 0, 1, &r, &x, &slope, &seen);
    if (!(NNV_OX_FLOAT >> v.type & 1)) {
        nnv_cv_refuse(c, " of %s", nnv_onnx_type_name(v.type));
        return;
    }
    give(c, NNV_OX_LIKE(c, ANEURALNETWORKS_PRELU, x, x, slope));
}

static uint32_t elu_of(struct nnv_cv *c, uint32_t x, double alpha) {
    return NNV_OX_LIKE(c, ANEURALNETWORKS_ELU, x, x, nnv_ox_scalar_like(c, x, alpha));
}

static void elu(struct nnv_cv *c) {
    const double alpha = nnv_ox_float(c, "alpha", 1);
    const uint32_t x = nnv_ox_in(c, 0);
    if (nnv_cv_ok(c)) give(c, elu_of(c, x, alpha));
}

static void selu(struct nnv_cv *c) {
    const double alpha = nnv_ox_float(c, "alpha", 1.67326319217681884765625);
    const double gamma = nnv_ox_float(c, "gamma", 1.05070102214813232421875);
    const uint32_t x = nnv_ox_in(c, 0);
    if (nnv_cv_ok(c)) give(c, nnv_ox_linear(c, elu_of(c, x, alpha), gamma, 0));
}

/** alpha * elu(x / alpha). */
static void celu(struct nnv_cv *c) {
    const double alpha = nnv_ox_float(c, "alpha", 1);
    const uint32_t x = nnv_ox_in(c, 0);
    if (alpha == 0) nnv_cv_fail(c, "alpha is 0");
    if (nnv_cv_ok(c)) give(c, nnv_ox_linear(c, elu_of(c, nnv_ox_linear(c, x, 1 / alpha, 0), 1), alpha, 0));
}

static void hard_sigmoid(struct nnv_cv *c) {
    const double alpha = nnv_ox_float(c, "alpha", 0.2), beta = nnv_ox_float(c, "beta", 0.5);
    const uint32_t x = nnv_ox_in(c, 0);
    if (nnv_cv_ok(c)) give(c, smaller(c, larger(c, nnv_ox_linear(c, x, alpha, beta), 0), 1));
}

/** log(1 + e^x) = max(x, 0) + log(1 + e^-|x|), which does not overflow. */
static uint32_t soft_plus(struct nnv_cv *c, uint32_t x) {
    const uint32_t away = applied(c, ANEURALNETWORKS_NEG, applied(c, ANEURALNETWORKS_ABS, x));
    const uint32_t rest =
        applied(c, ANEURALNETWORKS_LOG, nnv_ox_linear(c, applied(c, ANEURALNETWORKS_EXP, away), 1, 1));
    return nnv_ox_sum(c, larger(c, x, 0), rest);
}

static void softplus(struct nnv_cv *c) {
    const uint32_t x = nnv_ox_in(c, 0);
    if (nnv_cv_ok(c)) give(c, soft_plus(c, x));
}

static void mish(struct nnv_cv *c) {
    const uint32_t x = nnv_ox_in(c, 0);
    if (nnv_cv_ok(c)) give(c, nnv_ox_product_of(c, x, applied(c, ANEURALNETWORKS_TANH, soft_plus(c, x))));
}

static void swish(struct nnv_cv *c) {
    const double alpha = nnv_ox_float(c, "alpha", 1);
    const uint32_t x = nnv_ox_in(c, 0);
    if (nnv_cv_ok(c))
        give(c, nnv_ox_product_of(c, x, applied(c, ANEURALNETWORKS_LOGISTIC, nnv_ox_linear(c, x, alpha, 0))));
}

static void softsign(struct nnv_cv *c) {
    const uint32_t x = nnv_ox_in(c, 0);
    if (nnv_cv_ok(c)) give(c, nnv_ox_quotient(c, x, nnv_ox_linear(c, applied(c, ANEURALNETWORKS_ABS, x), 1, 1)));
}

/** x where a comparison with a number holds, else another operand. */
static uint32_t where(struct nnv_cv *c, int32_t code, uint32_t x, double limit, uint32_t yes, uint32_t no) {
    const uint32_t t = nnv_cv_temp_as(c, NNV_CV_B8, x);
    NNV_CV_EMIT(c, code, t, x, nnv_cv_number(c, x, limit));
    return NNV_OX_LIKE(c, ANEURALNETWORKS_SELECT, x, t, yes, no);
}

static uint32_t zeros(struct nnv_cv *c, uint32_t like) {
    const struct nnv_operand *o = nnv_cv_at(c, like);
    return nnv_cv_filled(c, nnv_builder_encoding(&c->b, like), o->rank, o->dims, 0);
}

static void thresholded(struct nnv_cv *c) {
    const double alpha = nnv_ox_float(c, "alpha", 1);
    const uint32_t x = nnv_ox_in(c, 0);
    if (nnv_cv_ok(c)) give(c, where(c, ANEURALNETWORKS_GREATER, x, alpha, x, zeros(c, x)));
}

static void shrink(struct nnv_cv *c) {
    const double lambd = nnv_ox_float(c, "lambd", 0.5), bias = nnv_ox_float(c, "bias", 0);
    const uint32_t x = nnv_ox_in(c, 0);
    if (!nnv_cv_ok(c)) return;
    const uint32_t up = where(c, ANEURALNETWORKS_GREATER, x, lambd, nnv_ox_linear(c, x, 1, -bias), zeros(c, x));
    give(c, where(c, ANEURALNETWORKS_LESS, x, -lambd, nnv_ox_linear(c, x, 1, bias), up));
}

/**
 * erf(x) to 1.5e-7: 1 - (a1 t + ... + a5 t^5) e^(-x^2) with t = 1 / (1 + p |x|), and the sign of x.
 * Source: Abramowitz and Stegun, Handbook of Mathematical Functions, 7.1.26.
 */
static uint32_t erf_of(struct nnv_cv *c, uint32_t x) {
    static const double a[] = {0.254829592, -0.284496736, 1.421413741, -1.453152027, 1.061405429};
    if (!nnv_cv_ok(c)) return 0;
    const struct nnv_operand *o = nnv_cv_at(c, x);
    const uint32_t ones = nnv_cv_filled(c, nnv_builder_encoding(&c->b, x), o->rank, o->dims, 1);
    const uint32_t size = applied(c, ANEURALNETWORKS_ABS, x),
                   sign = nnv_cv_temp_as(c, nnv_builder_encoding(&c->b, x), x);
    const uint32_t t = nnv_ox_quotient(c, ones, nnv_ox_linear(c, size, 0.3275911, 1));
    uint32_t sum = nnv_ox_linear(c, t, a[4], a[3]);
    for (int i = 3; i-- > 0;) sum = nnv_ox_linear(c, nnv_ox_product_of(c, sum, t), 1, a[i]);
    const uint32_t square = applied(c, ANEURALNETWORKS_NEG, nnv_ox_product_of(c, x, x));
    const uint32_t tail = nnv_ox_product_of(c, nnv_ox_product_of(c, sum, t), applied(c, ANEURALNETWORKS_EXP, square));
    nnv_cv_sign(c, x, sign);
    return nnv_ox_product_of(c, nnv_ox_linear(c, tail, -1, 1), sign);
}

static void erf_function(struct nnv_cv *c) { give(c, erf_of(c, nnv_ox_in(c, 0))); }

static void gelu(struct nnv_cv *c) {
    const char *approximate = nnv_ox_string(c, "approximate", "none");
    const uint32_t x = nnv_ox_in(c, 0);
    if (!nnv_cv_ok(c)) return;
    if (strcmp(approximate, "tanh") == 0) {
        const uint32_t y = nnv_cv_temp_as(c, nnv_builder_encoding(&c->b, x), x);
        nnv_cv_gelu_by_tanh(c, x, y);
        give(c, y);
        return;
    }
    const uint32_t bent = nnv_ox_linear(c, erf_of(c, nnv_ox_linear(c, x, M_SQRT1_2, 0)), 1, 1);
    give(c, nnv_ox_product_of(c, nnv_ox_linear(c, x, 0.5, 0), bent));
}

/** A bound of Clip: an input of one element since version 11, an attribute before. */
static uint32_t bounded(struct nnv_cv *c, uint32_t x, uint32_t i, const char *name, int32_t code) {
    if (nnv_ox_has(c, i)) {
        if (nnv_ox_elements(nnv_ox_value(c, i)) != 1) nnv_cv_fail(c, "input %u is not one number", i);
        const uint32_t bound = nnv_ox_in(c, i);
        const bool floats = nnv_cv_ok(c) && nnv_is_float(nnv_cv_at(c, x)->type);
        return NNV_OX_LIKE(c, code, x, x, floats ? bound : nnv_ox_widened(c, bound));
    }
    const struct nnv_onnx_attribute *a = nnv_ox_attribute(c, name);
    return a ? NNV_OX_LIKE(c, code, x, x, nnv_cv_number(c, x, (double)a->f)) : x;
}

/** The bounds of an input that is known, or of an attribute; the defaults otherwise. */
static bool known_bound(struct nnv_cv *c, uint32_t i, const char *name, double absent, double *v) {
    const struct nnv_onnx_attribute *a = nnv_ox_attribute(c, name);
    *v = a ? (double)a->f : absent;
    if (!nnv_ox_has(c, i)) return true;
    const struct nnv_onnx_tensor *t = c->onnx->input[c->onnx->node->in[i]] < 0 ? nnv_ox_tensor(c, i) : NULL;
    if (t && t->elems == 1) *v = nnv_onnx_number(t, 0);
    return t && t->elems == 1;
}

static void clip(struct nnv_cv *c) {
    const int type = nnv_ox_value(c, 0)->type;
    const bool floats = NNV_OX_FLOAT >> type & 1;
    double low, high;
    uint32_t x = nnv_ox_in(c, 0);
    const bool from = known_bound(c, 1, "min", -(double)INFINITY, &low);
    const bool known = known_bound(c, 2, "max", (double)INFINITY, &high) && from;
    if (!nnv_cv_ok(c)) return;
    if (known && floats && low == 0 && (high == 6 || isinf(high))) {
        give(c, applied(c, high == 6 ? ANEURALNETWORKS_RELU6 : ANEURALNETWORKS_RELU, x));
        return;
    }
    if (!floats) x = nnv_ox_widened(c, x);
    x = bounded(c, x, 1, "min", ANEURALNETWORKS_MAXIMUM);
    x = bounded(c, x, 2, "max", ANEURALNETWORKS_MINIMUM);
    give(c, floats ? x : nnv_ox_wrapped(c, x, type));
}

/* ------------------------------------------------------------------- the table */

#define F NNV_OX_FLOAT
#define ROW(op, convert, code)                                                                                         \
    { #op, 1, 1, F, convert, code }

static const struct nnv_ox_row rows[] = {
    {"Relu", 1, 1, NNV_OX_NUMBER, relu, ANEURALNETWORKS_RELU},
    ROW(Sigmoid, plain, ANEURALNETWORKS_LOGISTIC),
    ROW(Tanh, plain, ANEURALNETWORKS_TANH),
    ROW(HardSwish, plain, ANEURALNETWORKS_HARD_SWISH),
    ROW(LeakyRelu, leaky_relu, 0),
    {"PRelu", 2, 2, NNV_OX_NUMBER, prelu, 0},
    ROW(Elu, elu, 0),
    ROW(Selu, selu, 0),
    ROW(Celu, celu, 0),
    ROW(HardSigmoid, hard_sigmoid, 0),
    ROW(Softplus, softplus, 0),
    ROW(Softsign, softsign, 0),
    ROW(Mish, mish, 0),
    ROW(Swish, swish, 0),
    ROW(ThresholdedRelu, thresholded, 0),
    ROW(Shrink, shrink, 0),
    ROW(Erf, erf_function, 0),
    ROW(Gelu, gelu, 0),
    {"Clip", 1, 3, NNV_OX_NUMBER, clip, 0},
};
const struct nnv_ox_rows nnv_ox_activate = {rows, sizeof rows / sizeof *rows};
