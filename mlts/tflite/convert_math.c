/* SPDX-License-Identifier: Apache-2.0 */
/* One number after the other: arithmetic, comparisons, functions, activations, changes of type. */
#include <math.h>
#include <string.h>

#include "mlts/tflite/convert.h"

/* ------------------------------------------------------------------ pieces */

/** Shapes of higher rank than NNAPI's arithmetic takes, where both are equal: seen as vectors. */
static bool flatten(struct nnv_cv *c, uint32_t *a, uint32_t *b, uint32_t y) {
    if (nnv_cv_at(c, y)->rank <= 4) return false;
    if (!nnv_cv_same_shape(c, *a, *b)) {
        nnv_cv_refuse(c, " of rank %u", nnv_cv_at(c, y)->rank);
        return false;
    }
    const uint32_t n = (uint32_t)nnv_cv_elements(c, y);
    *a = nnv_cv_reshaped(c, *a, 1, &n);
    *b = nnv_cv_reshaped(c, *b, 1, &n);
    return true;
}

/* ------------------------------------------------------------------ arithmetic */

/** a, b with a fused activation: int32 has none of its own. */
static void calculate(struct nnv_cv *c, uint32_t a, uint32_t b, uint32_t y) {
    const bool floats = nnv_cv_is_quant(c, y) && c->row->nnapi == ANEURALNETWORKS_DIV;
    const struct nnv_operand *p = nnv_cv_at(c, a), *q = nnv_cv_at(c, b), *r = nnv_cv_at(c, y);
    /* NNAPI's product wants an output scale above that of the exact products. */
    const bool fine = nnv_cv_is_quant(c, y) && c->row->nnapi == ANEURALNETWORKS_MUL && r->scale <= p->scale * q->scale;
    const uint32_t activation = nnv_cv_fused(c, 0);
    if (floats || fine) {
        a = nnv_cv_to_float(c, a);
        b = nnv_cv_to_float(c, b);
    }
    const uint32_t t = floats || fine ? nnv_cv_float_for(c, y) : y;
    NNV_CV_EMIT(c, c->row->nnapi, t, a, b, activation);
    if (t != y) nnv_cv_from_float(c, t, y);
}

/** All are known, and none is negative. */
static bool not_negative(const struct nnv_cv *c, uint32_t operand) {
    const int32_t *v = nnv_cv_is_const(c, operand) ? nnv_cv_at(c, operand)->data : NULL;
    for (size_t i = 0; v && i < nnv_cv_elements(c, operand); i++)
        if (v[i] < 0) return false;
    return v != NULL;
}

static void binary(struct nnv_cv *c) {
    uint32_t a = nnv_cv_in(c, 0), b = nnv_cv_in(c, 1);
    const uint32_t y = nnv_cv_out(c, 0);
    if (!nnv_cv_ok(c)) return;
    /* Quotients of integers are cut off here and rounded down in NNAPI: the same only above 0. */
    if (c->row->code == NNV_TFL_DIV && nnv_cv_at(c, y)->type == ANEURALNETWORKS_TENSOR_INT32 &&
        !(not_negative(c, a) && not_negative(c, b))) {
        nnv_cv_refuse(c, " of INT32");
        return;
    }
    const bool flat = flatten(c, &a, &b, y);
    if (!nnv_cv_ok(c)) return;
    const uint32_t n = (uint32_t)nnv_cv_elements(c, y), t = flat ? nnv_cv_temp_shaped(c, y, 1, &n) : y;
    calculate(c, a, b, t);
    if (flat) nnv_cv_reshape(c, t, y);
}

/** Without an activation: MAXIMUM, MINIMUM, POW, comparisons, logic. */
static void plain_binary(struct nnv_cv *c) {
    NNV_CV_EMIT(c, c->row->nnapi, nnv_cv_out(c, 0), nnv_cv_in(c, 0), nnv_cv_in(c, 1));
}

static void add_all(struct nnv_cv *c) {
    const uint32_t y = nnv_cv_out(c, 0);
    uint32_t sum = nnv_cv_in(c, 0);
    if (c->op->nin == 1) nnv_cv_reshape(c, sum, y);
    for (uint32_t i = 1; i < c->op->nin && nnv_cv_ok(c); i++) {
        const uint32_t to = i + 1 < c->op->nin ? nnv_cv_temp_as(c, nnv_builder_encoding(&c->b, y), y) : y;
        NNV_CV_EMIT(c, ANEURALNETWORKS_ADD, to, sum, nnv_cv_in(c, i),
                    nnv_builder_int(&c->b, ANEURALNETWORKS_FUSED_NONE));
        sum = to;
    }
}

/** FLOOR_DIV: NNAPI's division of integers rounds down, as this does. */
static void floor_div(struct nnv_cv *c) {
    const uint32_t a = nnv_cv_in(c, 0), b = nnv_cv_in(c, 1), y = nnv_cv_out(c, 0);
    if (!nnv_cv_ok(c)) return;
    if (nnv_cv_at(c, y)->type == ANEURALNETWORKS_TENSOR_INT32)
        NNV_CV_EMIT(c, ANEURALNETWORKS_DIV, y, a, b, nnv_builder_int(&c->b, ANEURALNETWORKS_FUSED_NONE));
    else
        NNV_CV_EMIT(c, ANEURALNETWORKS_FLOOR, y, nnv_cv_combined(c, ANEURALNETWORKS_DIV, a, b, y));
}

/** FLOOR_MOD: a - floor(a / b) * b. */
static void floor_mod(struct nnv_cv *c) {
    const uint32_t a = nnv_cv_in(c, 0), b = nnv_cv_in(c, 1), y = nnv_cv_out(c, 0);
    if (!nnv_cv_ok(c)) return;
    uint32_t q = nnv_cv_combined(c, ANEURALNETWORKS_DIV, a, b, y);
    if (nnv_cv_at(c, y)->type != ANEURALNETWORKS_TENSOR_INT32) q = nnv_cv_applied(c, ANEURALNETWORKS_FLOOR, q, y);
    NNV_CV_EMIT(c, ANEURALNETWORKS_SUB, y, a, nnv_cv_combined(c, ANEURALNETWORKS_MUL, q, b, y),
                nnv_builder_int(&c->b, ANEURALNETWORKS_FUSED_NONE));
}

static void squared_difference(struct nnv_cv *c) {
    uint32_t a = nnv_cv_in(c, 0), b = nnv_cv_in(c, 1);
    const uint32_t y = nnv_cv_out(c, 0);
    if (!nnv_cv_ok(c)) return;
    const bool quant = nnv_cv_is_quant(c, y);
    if (quant) a = nnv_cv_to_float(c, a), b = nnv_cv_to_float(c, b);
    const uint32_t t = quant ? nnv_cv_float_for(c, y) : y, d = nnv_cv_combined(c, ANEURALNETWORKS_SUB, a, b, t);
    NNV_CV_EMIT(c, ANEURALNETWORKS_MUL, t, d, d, nnv_builder_int(&c->b, ANEURALNETWORKS_FUSED_NONE));
    nnv_cv_from_float(c, t, y);
}

/* ------------------------------------------------------------------- functions */

/** A function that NNAPI has for float32: others are converted and converted back. */
static void function(struct nnv_cv *c) {
    const uint32_t x = nnv_cv_to_float(c, nnv_cv_in(c, 0)), y = nnv_cv_out(c, 0);
    if (!nnv_cv_ok(c)) return;
    const uint32_t t = nnv_cv_float_for(c, y);
    NNV_CV_EMIT(c, c->row->nnapi, t, x);
    nnv_cv_from_float(c, t, y);
}

/** One that NNAPI has for all types that come. */
static void unary(struct nnv_cv *c) { NNV_CV_EMIT(c, c->row->nnapi, nnv_cv_out(c, 0), nnv_cv_in(c, 0)); }

/** ABS, NEG: of int32, too. */
static void signed_function(struct nnv_cv *c) {
    const uint32_t x = nnv_cv_in(c, 0);
    if (nnv_cv_ok(c) && nnv_cv_is_quant(c, x))
        function(c);
    else
        unary(c);
}

/** Of one float32: what mlts/convert has. */
static void cosine(struct nnv_cv *c) { nnv_cv_cosine(c, nnv_cv_in(c, 0), nnv_cv_out(c, 0)); }
static void ceiling(struct nnv_cv *c) { nnv_cv_ceiling(c, nnv_cv_in(c, 0), nnv_cv_out(c, 0)); }
static void round_to_even(struct nnv_cv *c) { nnv_cv_round_to_even(c, nnv_cv_in(c, 0), nnv_cv_out(c, 0)); }
static void sign(struct nnv_cv *c) { nnv_cv_sign(c, nnv_cv_in(c, 0), nnv_cv_out(c, 0)); }

static void square(struct nnv_cv *c) {
    const uint32_t x = nnv_cv_in(c, 0);
    NNV_CV_EMIT(c, ANEURALNETWORKS_MUL, nnv_cv_out(c, 0), x, x, nnv_builder_int(&c->b, ANEURALNETWORKS_FUSED_NONE));
}

/* ----------------------------------------------------------------- activations */

/** RELU and its kind: with another quantisation behind it, the activation of an addition of 0. */
static void relu(struct nnv_cv *c) {
    const uint32_t x = nnv_cv_in(c, 0), y = nnv_cv_out(c, 0), one = 1;
    if (!nnv_cv_ok(c)) return;
    if (nnv_cv_same_encoding(c, x, y)) {
        if (nnv_cv_moves(c, x, y)) NNV_CV_EMIT(c, c->row->nnapi, y, x);
        return;
    }
    const int32_t fused = c->row->nnapi == ANEURALNETWORKS_RELU    ? ANEURALNETWORKS_FUSED_RELU
                          : c->row->nnapi == ANEURALNETWORKS_RELU6 ? ANEURALNETWORKS_FUSED_RELU6
                                                                   : ANEURALNETWORKS_FUSED_RELU1;
    struct nnv_encoding e = nnv_builder_encoding(&c->b, x);
    e.scale = 1;
    NNV_CV_EMIT(c, ANEURALNETWORKS_ADD, y, x, nnv_cv_filled(c, e, 1, &one, e.zero_point),
                nnv_builder_int(&c->b, fused));
}

/** RELU_0_TO_1. */
static void relu_unit(struct nnv_cv *c) {
    const uint32_t x = nnv_cv_to_float(c, nnv_cv_in(c, 0)), y = nnv_cv_out(c, 0);
    if (!nnv_cv_ok(c)) return;
    const uint32_t t = nnv_cv_float_for(c, y);
    NNV_CV_EMIT(c, ANEURALNETWORKS_RELU, t, nnv_cv_applied(c, ANEURALNETWORKS_RELU1, x, t));
    nnv_cv_from_float(c, t, y);
}

/** LOGISTIC and TANH: NNAPI fixes the output's quantisation. */
static void squash(struct nnv_cv *c) {
    const uint32_t x = nnv_cv_in(c, 0), y = nnv_cv_out(c, 0);
    if (!nnv_cv_ok(c)) return;
    const bool tanh = c->row->nnapi == ANEURALNETWORKS_TANH,
               is_signed = nnv_cv_at(c, y)->type == ANEURALNETWORKS_TENSOR_QUANT8_ASYMM_SIGNED;
    const float scale = tanh ? 1.0f / 128 : 1.0f / 256;
    const int32_t zero = (tanh ? 128 : 0) - (is_signed ? 128 : 0);
    const struct nnv_operand *o = nnv_cv_at(c, y);
    if (nnv_cv_is_quant(c, y) && (o->scale != scale || o->zero_point != zero))
        function(c);
    else
        NNV_CV_EMIT(c, c->row->nnapi, y, x);
}

/** A constant vector of one number, quantised as x is: alpha = number * scale, exactly. */
static void leaky_relu(struct nnv_cv *c) {
    const float alpha = nnv_cv_option_float(c, 0, "alpha");
    const uint32_t x = nnv_cv_in(c, 0), y = nnv_cv_out(c, 0), one = 1;
    if (!nnv_cv_ok(c)) return;
    uint32_t a = nnv_cv_number(c, y, (double)alpha);
    if (nnv_cv_is_quant(c, x)) {
        const struct nnv_encoding e = {nnv_cv_at(c, x)->type, alpha != 0 ? fabsf(alpha) : 1, alpha < 0 ? 1 : 0};
        a = nnv_cv_filled(c, e, 1, &one, alpha > 0 ? 1 : 0);
    }
    NNV_CV_EMIT(c, ANEURALNETWORKS_PRELU, y, x, a);
}

static void elu(struct nnv_cv *c) {
    const uint32_t x = nnv_cv_to_float(c, nnv_cv_in(c, 0)), y = nnv_cv_out(c, 0);
    if (!nnv_cv_ok(c)) return;
    const uint32_t t = nnv_cv_float_for(c, y);
    NNV_CV_EMIT(c, ANEURALNETWORKS_ELU, t, x, nnv_builder_float(&c->b, 1));
    nnv_cv_from_float(c, t, y);
}

/** The other form needs erf. */
static void gelu(struct nnv_cv *c) {
    if (!nnv_cv_option_bool(c, 0, false, "approximate")) nnv_cv_refuse(c, " in its exact form");
    const uint32_t x = nnv_cv_to_float(c, nnv_cv_in(c, 0)), y = nnv_cv_out(c, 0);
    if (!nnv_cv_ok(c)) return;
    const uint32_t t = nnv_cv_float_for(c, y);
    nnv_cv_gelu_by_tanh(c, x, t);
    nnv_cv_from_float(c, t, y);
}

/* -------------------------------------------------------------- changes of type */

/** QUANTIZE: from float32, or from one quantisation to another. */
static void quantize(struct nnv_cv *c) {
    const uint32_t x = nnv_cv_in(c, 0), y = nnv_cv_out(c, 0);
    if (!nnv_cv_ok(c)) return;
    if (!nnv_cv_is_quant(c, y) || nnv_cv_at(c, y)->type == ANEURALNETWORKS_TENSOR_QUANT16_SYMM)
        nnv_cv_refuse(c, " to %s", nnv_tfl_type_name(nnv_cv_out_tensor(c, 0)->type));
    else if (nnv_cv_same_encoding(c, x, y))
        nnv_cv_alias(c, 0, x);
    else
        nnv_cv_convert(c, x, y);
}

/** DEQUANTIZE: constants, of float16 or with scales for channels, are float32 from the start. */
static void dequantize(struct nnv_cv *c) {
    const struct nnv_tfl_tensor *t = nnv_cv_in_tensor(c, 0);
    if (!t || !nnv_cv_ok(c)) return;
    if (t->data && !t->sparse && (t->type == NNV_TFL_FLOAT16 || t->scale_count > 1))
        nnv_cv_alias(c, 0, nnv_cv_weights_float(c, 0));
    else
        nnv_cv_convert(c, nnv_cv_in(c, 0), nnv_cv_out(c, 0));
}

/** CAST looks at the stored numbers, which are the real ones where the scale is 1 and the zero point 0. */
static bool is_plain(const struct nnv_cv *c, uint32_t operand) {
    const struct nnv_operand *o = nnv_cv_at(c, operand);
    return !nnv_is_quant(o->type) || (o->scale == 1 && o->zero_point == 0);
}

static void cast(struct nnv_cv *c) {
    const uint32_t x = nnv_cv_in(c, 0), y = nnv_cv_out(c, 0);
    if (!nnv_cv_ok(c)) return;
    const int32_t from = nnv_cv_at(c, x)->type, to = nnv_cv_at(c, y)->type;
    const int32_t int8 = ANEURALNETWORKS_TENSOR_QUANT8_ASYMM_SIGNED, bits = ANEURALNETWORKS_TENSOR_BOOL8;
    if (from == to && nnv_cv_same_encoding(c, x, y)) {
        nnv_cv_alias(c, 0, x);
    } else if (from != int8 && to != int8 && from != bits && to != bits) {
        NNV_CV_EMIT(c, ANEURALNETWORKS_CAST, y, x);
    } else if (!is_plain(c, x) || !is_plain(c, y)) {
        nnv_cv_refuse(c, " of quantised numbers to %s", nnv_tfl_type_name(nnv_cv_out_tensor(c, 0)->type));
    } else if (to == int8 && nnv_is_float(from)) { /* cut off, not rounded */
        const uint32_t whole = nnv_cv_temp_as(c, NNV_CV_I32, x);
        NNV_CV_EMIT(c, ANEURALNETWORKS_CAST, whole, x);
        nnv_cv_convert(c, whole, y);
    } else {
        nnv_cv_convert(c, x, y);
    }
}

/** FAKE_QUANT: to 8 bits and back, the range moved so that 0 is one of the numbers. */
static void fake_quant(struct nnv_cv *c) {
    const float lo = nnv_cv_option_float(c, 0, "min"), hi = nnv_cv_option_float(c, 1, "max");
    const int32_t bits = nnv_cv_option(c, 2, 0, "num_bits");
    if (bits != 8 || nnv_cv_option_bool(c, 3, false, "narrow_range")) nnv_cv_refuse(c, " of other than 8 bits");
    if (!(lo <= 0 && hi >= 0 && lo < hi)) nnv_cv_fail(c, "range %g to %g does not hold 0", (double)lo, (double)hi);
    if (!nnv_cv_ok(c)) return;
    struct nnv_encoding e = {ANEURALNETWORKS_TENSOR_QUANT8_ASYMM, (hi - lo) / 255, 0};
    e.zero_point = (int32_t)lroundf(fminf(255, fmaxf(0, -lo / e.scale)));
    const uint32_t x = nnv_cv_in(c, 0), t = nnv_cv_temp_as(c, e, x);
    NNV_CV_EMIT(c, ANEURALNETWORKS_QUANTIZE, t, x);
    NNV_CV_EMIT(c, ANEURALNETWORKS_DEQUANTIZE, nnv_cv_out(c, 0), t);
}

/* ----------------------------------------------------------------------- the table */

#define F NNV_CV_FLOAT
#define N NNV_CV_NUMBER
#define I NNV_CV_INT
#define B NNV_CV_BOOL
/** Operator of n inputs and one output, with the tag of its options, which may be absent. */
#define ROW(name, tag, n, types, convert, nnapi)                                                                       \
    { NNV_TFL_##name, tag, true, n, n, 1, 1, 0, types, convert, nnapi }
#define SAME(name, tag, n, types, convert) ROW(name, tag, n, types, convert, ANEURALNETWORKS_##name)

static const struct nnv_converter rows[] = {
    SAME(ADD, 11, 2, N | I, binary),
    SAME(SUB, 28, 2, N | I, binary),
    SAME(MUL, 21, 2, N | I, binary),
    SAME(DIV, 29, 2, N | I, binary),
    {NNV_TFL_ADD_N, 82, true, 1, NNV_CV_MANY, 1, 1, 0, F | I, add_all, 0},
    ROW(FLOOR_DIV, 65, 2, F | I, floor_div, 0),
    ROW(FLOOR_MOD, 72, 2, F | I, floor_mod, 0),
    ROW(SQUARED_DIFFERENCE, 76, 2, N | I, squared_difference, 0),
    SAME(POW, 56, 2, F, plain_binary),
    SAME(MAXIMUM, 39, 2, N | I, plain_binary),
    SAME(MINIMUM, 39, 2, N | I, plain_binary),
    SAME(EQUAL, 53, 2, N | I | B, plain_binary),
    SAME(NOT_EQUAL, 54, 2, N | I | B, plain_binary),
    SAME(GREATER, 44, 2, N | I, plain_binary),
    SAME(GREATER_EQUAL, 45, 2, N | I, plain_binary),
    SAME(LESS, 41, 2, N | I, plain_binary),
    SAME(LESS_EQUAL, 46, 2, N | I, plain_binary),
    SAME(LOGICAL_AND, 62, 2, B, plain_binary),
    SAME(LOGICAL_OR, 60, 2, B, plain_binary),
    SAME(LOGICAL_NOT, 63, 1, B, unary),
    SAME(ABS, 78, 1, N | I, signed_function),
    SAME(NEG, 42, 1, N | I, signed_function),
    SAME(EXP, 33, 1, N, function),
    SAME(LOG, 0, 1, N, function),
    SAME(SIN, 0, 1, F, function),
    SAME(SQRT, 0, 1, N, function),
    SAME(RSQRT, 0, 1, N, function),
    SAME(FLOOR, 0, 1, F, unary),
    ROW(COS, 84, 1, F, cosine, 0),
    ROW(CEIL, 0, 1, F, ceiling, 0),
    ROW(ROUND, 0, 1, F, round_to_even, 0),
    ROW(SQUARE, 66, 1, F, square, 0),
    ROW(SIGN, 123, 1, F, sign, 0),
    SAME(RELU, 0, 1, N, relu),
    SAME(RELU6, 0, 1, N, relu),
    ROW(RELU_N1_TO_1, 0, 1, N, relu, ANEURALNETWORKS_RELU1),
    ROW(RELU_0_TO_1, 0, 1, N, relu_unit, 0),
    SAME(LOGISTIC, 0, 1, N, squash),
    SAME(TANH, 0, 1, N, squash),
    SAME(PRELU, 0, 2, N, plain_binary),
    {NNV_TFL_LEAKY_RELU, 75, false, 1, 1, 1, 1, 0, N, leaky_relu, 0},
    ROW(ELU, 0, 1, N, elu, 0),
    SAME(HARD_SWISH, 91, 1, N, unary),
    ROW(GELU, 116, 1, N, gelu, 0),
    ROW(QUANTIZE, 89, 1, N, quantize, 0),
    ROW(DEQUANTIZE, 38, 1, NNV_CV_QUANT | NNV_CV_HALF, dequantize, 0),
    ROW(CAST, 37, 1, NNV_CV_ANY | NNV_CV_HALF, cast, 0),
    {NNV_TFL_FAKE_QUANT, 58, false, 1, 1, 1, 1, 0, F, fake_quant, 0},
};
const struct nnv_converters nnv_cv_math = {rows, sizeof rows / sizeof *rows};
