/* SPDX-License-Identifier: Apache-2.0 */
/** @file values.c Bugs of values as drivers in the field have had them: tails, NaN, overflows, cancellation. */
#include <float.h>
#include <math.h>

#include "rewire.h"

enum { F32 = ANEURALNETWORKS_TENSOR_FLOAT32, F16 = ANEURALNETWORKS_TENSOR_FLOAT16 };

static int32_t input_type(struct nnv_edit *e, int pos) { return nnv_edit_operand(e, pos)->type; }

/** Input pos within limits. */
static bool clamp(struct nnv_edit *e, int pos, double least, double most) {
    struct wire w = wire_before(e, pos);
    uint32_t x = w.value;
    if (isfinite(least)) x = WIRE(&w, MAXIMUM, x, wire_number(&w, least));
    if (isfinite(most)) WIRE(&w, MINIMUM, x, wire_number(&w, most));
    return wire_end(&w);
}

/** Input pos is v where the comparison of it, or of its size, with a bound holds. */
static bool replace(struct nnv_edit *e, int pos, int32_t code, double bound, bool size, double v) {
    if (!nnv_shape_known(shape_of(e, pos))) return false;
    struct wire w = wire_before(e, pos);
    const uint32_t x = w.value;
    uint32_t of = x;
    if (size) of = WIRE(&w, ABS, x);
    const uint32_t mask = wire_mask(&w, code, of, bound);
    w.value = x;
    wire_where(&w, mask, v);
    return wire_end(&w);
}

/** Where input pos is no number, v. */
static bool no_nan(struct nnv_edit *e, int pos, double v) {
    if (!nnv_shape_known(shape_of(e, pos)) || !nnv_is_float(input_type(e, pos))) return false;
    struct wire w = wire_before(e, pos);
    const uint32_t x = w.value, all = wire_full(&w, v);
    const struct nnv_operand like = w.like;
    wire_type(&w, ANEURALNETWORKS_TENSOR_BOOL8);
    const uint32_t mask = WIRE(&w, EQUAL, x, x);
    w.like = like;
    WIRE(&w, SELECT, mask, x, all);
    return wire_end(&w);
}

/* ----------------------------------------------------------------------- tails */

CHANGE(exp_range) { return (void)f, clamp(e, 0, -32, 32); }
CHANGE(tanh_range) { return (void)f, clamp(e, 0, -4, 4); }
CHANGE(logistic_tail) {
    return (void)f, nnv_is_float(type_of(e)) && replace(e, 0, ANEURALNETWORKS_LESS, -8, false, -200);
}
/** exp(-x) is infinite in float16. */
CHANGE(half_logistic) {
    return (void)f, type_of(e) == F16 && replace(e, 0, ANEURALNETWORKS_LESS, -11.09375, false, -65504);
}

/** exp(x) is infinite. */
CHANGE(softmax_overflow) {
    const int beta = nnv_edit_find(e, "beta");
    size_t n;
    const double *v = beta >= 0 && nnv_edit_known(e, beta) ? nnv_edit_numbers(e, beta, &n) : NULL;
    (void)f;
    return v && *v > 0 && nnv_is_float(type_of(e)) &&
           replace(e, 0, ANEURALNETWORKS_GREATER, (type_of(e) == F16 ? 11.09375 : 88.75) / *v, false, INFINITY);
}

CHANGE(log_softmax_tail) {
    (void)f;
    if (!nnv_shape_known(output_shape(e))) return false;
    struct wire w = wire_behind(e, 0);
    const uint32_t y = w.value;
    wire_where(&w, wire_mask(&w, ANEURALNETWORKS_LESS, y, type_of(e) == F16 ? -16 : -87), -INFINITY);
    return wire_end(&w);
}

CHANGE(rsqrt_zero) {
    return (void)f, nnv_is_float(type_of(e)) && clamp(e, 0, type_of(e) == F16 ? 0x1p-14 : 1e-20, INFINITY);
}

/** x times its inverse root: 0 times infinity. */
CHANGE(sqrt_zero) {
    (void)f;
    if (!nnv_shape_known(output_shape(e))) return false;
    struct wire w = wire_behind(e, 0);
    const uint32_t y = w.value, mask = wire_mask(&w, ANEURALNETWORKS_EQUAL, nnv_edit_op(e)->in[0], 0);
    w.value = y;
    wire_where(&w, mask, NAN);
    return wire_end(&w);
}

CHANGE(half_subnormals) {
    (void)f;
    return type_of(e) == F16 && replace(e, 0, ANEURALNETWORKS_LESS, 0x1p-14, true, 0);
}

CHANGE(negative_base) { return (void)f, replace(e, 0, ANEURALNETWORKS_LESS, 0, false, NAN); }
CHANGE(floor_of_int) { return (void)f, type_of(e) == F32 && clamp(e, 0, -0x1p31, 0x1p31); }

/** The period is cut off with pi of float32, as if it were exact. */
CHANGE(coarse_period) {
    (void)f;
    if (type_of(e) != F32 || !nnv_shape_known(shape_of(e, 0))) return false;
    struct wire w = wire_before(e, 0);
    const uint32_t x = w.value, size = WIRE(&w, ABS, x), none = nnv_edit_add_int(e, 0);
    const uint32_t mask = wire_mask(&w, ANEURALNETWORKS_GREATER, size, 64);
    const uint32_t more = WIRE(&w, MUL, x, wire_number(&w, 1 + 0x1p-18), none);
    WIRE(&w, SELECT, mask, more, x);
    return wire_end(&w);
}

/** exp(x) - 1 cancels. */
CHANGE(elu_near_zero) { return (void)f, type_of(e) == F32 && replace(e, 0, ANEURALNETWORKS_LESS, 0x1p-24, true, 0); }

/* ------------------------------------------------------------------------- NaN */

CHANGE(maximum_nan) {
    const double least = nnv_edit_op(e)->type == ANEURALNETWORKS_MAXIMUM ? -INFINITY : INFINITY;
    (void)f;
    const bool a = no_nan(e, 0, least), b = no_nan(e, 1, least);
    return a || b;
}
CHANGE(relu_nan) { return (void)f, no_nan(e, 0, 0); }

/** Numbers are equal if their bits are. */
CHANGE(equal_bits) {
    const uint32_t a = nnv_edit_op(e)->in[0], b = nnv_edit_op(e)->in[1];
    (void)f;
    if (!nnv_is_float(input_type(e, 0))) return false;
    struct wire w = wire_behind(e, 0);
    const uint32_t y = w.value, result = w.result;
    const struct nnv_shape shape = w.shape;
    w.shape = *shape_of(e, 0);
    const uint32_t first = WIRE(&w, NOT_EQUAL, a, a);
    w.shape = *shape_of(e, 1);
    const uint32_t second = WIRE(&w, NOT_EQUAL, b, b);
    w.shape = shape;
    w.result = result;
    WIRE(&w, LOGICAL_OR, y, WIRE(&w, LOGICAL_AND, first, second));
    return wire_end(&w);
}

/* --------------------------------------------------------------------- integers */

/** Both inputs as float32. */
CHANGE(compare_floats) {
    (void)f;
    if (input_type(e, 0) != ANEURALNETWORKS_TENSOR_INT32) return false;
    for (int pos = 0; pos < 2; pos++) {
        struct wire w = wire_before(e, pos);
        const uint32_t x = w.value;
        wire_type(&w, F32);
        WIRE(&w, CAST, x);
        if (!wire_end(&w)) return false;
    }
    return true;
}

/** Towards zero, as C does it: the quotient of the sizes, and its sign. */
CHANGE(truncated_quotient) {
    (void)f;
    if (type_of(e) != ANEURALNETWORKS_TENSOR_INT32 || nnv_edit_op(e)->in[0] == nnv_edit_op(e)->in[1]) return false;
    const struct nnv_shape *shape = output_shape(e);
    if (!nnv_shape_known(shape_of(e, 0)) || !nnv_shape_known(shape_of(e, 1)) || !nnv_shape_known(shape)) return false;
    const uint32_t was[] = {nnv_edit_op(e)->in[0], nnv_edit_op(e)->in[1]};
    uint32_t mask[2], zero[] = {0, 0};
    struct wire behind = wire_behind(e, 0);
    const uint32_t y = behind.value;
    for (int i = 0; i < 2; i++) {
        behind.shape = *shape_of(e, i);
        zero[i] = wire_number(&behind, 0);
        wire_type(&behind, ANEURALNETWORKS_TENSOR_BOOL8);
        mask[i] = WIRE(&behind, LESS, was[i], zero[i]);
        behind.like = *nnv_edit_operand(e, i);
    }
    behind.shape = *shape;
    wire_type(&behind, ANEURALNETWORKS_TENSOR_BOOL8);
    const uint32_t unlike = WIRE(&behind, NOT_EQUAL, mask[0], mask[1]);
    wire_type(&behind, ANEURALNETWORKS_TENSOR_INT32);
    const uint32_t less = WIRE(&behind, NEG, y);
    WIRE(&behind, SELECT, unlike, less, y);
    if (!wire_end(&behind)) return false;
    for (int pos = 0; pos < 2; pos++) {
        struct wire w = wire_before(e, pos);
        const uint32_t x = w.value;
        WIRE(&w, ABS, x);
        wire_end(&w);
    }
    return true;
}

CHANGE(cast_floor) {
    (void)f;
    if (!nnv_is_float(input_type(e, 0)) || type_of(e) != ANEURALNETWORKS_TENSOR_INT32) return false;
    struct wire w = wire_before(e, 0);
    const uint32_t x = w.value;
    WIRE(&w, FLOOR, x);
    return wire_end(&w);
}

/* ------------------------------------------------------------------------- sums */

/** Shape of a reduction that keeps extents of 1. */
static struct nnv_shape kept(const struct nnv_shape *x, uint32_t first, uint32_t last) {
    struct nnv_shape s = *x;
    for (uint32_t d = first; d <= last && d < s.rank; d++) s.dims[d] = 1;
    return s;
}

/** No least number is added: a row of zeros is divided by zero. */
CHANGE(zero_rows) {
    const struct nnv_shape *x = shape_of(e, 0);
    const int axis = x->known_rank ? nnv_axis(attribute(e, "axis", -1), x->rank) : -1;
    (void)f;
    if (axis < 0 || !nnv_shape_known(x) || !nnv_is_float(type_of(e))) return false;
    struct wire w = wire_behind(e, 0);
    const uint32_t y = w.value, none = nnv_edit_add_int(e, 0), one[] = {1};
    const uint32_t size = WIRE(&w, ABS, nnv_edit_op(e)->in[0]);
    const uint8_t yes = 1;
    const uint32_t keep = nnv_edit_add(e, (struct nnv_operand){.type = ANEURALNETWORKS_BOOL,
                                                               .lifetime = NNV_CONSTANT_COPY,
                                                               .data = nnv_edit_copy(e, &yes, 1, 1, 1),
                                                               .bytes = 1});
    w.shape = kept(x, (uint32_t)axis, (uint32_t)axis);
    const uint32_t sum = WIRE(&w, REDUCE_MAX, size, wire_ints(&w, 1, one, &(int32_t){axis}), keep);
    const uint32_t nothing = WIRE(&w, DIV, wire_number(&w, 0), sum, none);
    w.shape = *output_shape(e);
    WIRE(&w, ADD, y, nothing, none);
    return wire_end(&w);
}

/** Variance as the mean of the squares less the square of the mean. */
CHANGE(one_pass) {
    const struct nnv_shape *x = shape_of(e, 0);
    const uint32_t h = attribute(e, "nchw", 0) ? 2 : 1, two[] = {2};
    int g, b, s;
    size_t n;
    const double *gamma = constants(e, "gamma", &g, &n), *beta = constants(e, "beta", &b, &n),
                 *epsilon = constants(e, "epsilon", &s, &n);
    (void)f;
    if (!gamma || !beta || !epsilon || !nnv_shape_known(x) || type_of(e) != F32) return false;
    const int32_t axes[] = {(int32_t)h, (int32_t)h + 1};
    const uint32_t input = nnv_edit_op(e)->in[0], none = nnv_edit_add_int(e, 0), keep = nnv_edit_add_int(e, 1);
    struct wire w = wire_before(e, 0);
    const uint32_t list = wire_ints(&w, 1, two, axes), square = WIRE(&w, MUL, input, input, none);
    w.shape = kept(x, h, h + 1);
    const uint32_t mean = WIRE(&w, MEAN, input, list, keep), squares = WIRE(&w, MEAN, square, list, keep);
    const uint32_t less = WIRE(&w, MUL, mean, mean, none), variance = WIRE(&w, SUB, squares, less, none);
    const uint32_t positive = WIRE(&w, MAXIMUM, variance, wire_number(&w, 0));
    const uint32_t more = WIRE(&w, ADD, positive, wire_number(&w, *epsilon), none), root = WIRE(&w, RSQRT, more);
    const uint32_t factor = WIRE(&w, MUL, root, wire_number(&w, *gamma), none);
    w.shape = *x;
    const uint32_t centred = WIRE(&w, SUB, input, mean, none), scaled = WIRE(&w, MUL, centred, factor, none);
    w.value = scaled;
    const uint32_t in[] = {scaled, wire_number(&w, *beta), none};
    set_inputs(e, ANEURALNETWORKS_ADD, 3, in);
    return wire_end(&w);
}

/** Infinite where `sum` of float16 is. */
static void add_overflow(struct wire *w, uint32_t y, uint32_t sum, uint32_t none) {
    const uint32_t size = WIRE(w, ABS, sum), over = WIRE(w, SUB, size, wire_number(w, 65504), none);
    const uint32_t infinite = WIRE(w, MAXIMUM, over, wire_number(w, 0));
    WIRE(w, ADD, y, infinite, none);
}

CHANGE(half_mean) {
    const int axes = nnv_edit_find(e, "axes"), keep = nnv_edit_find(e, "keep dims");
    const double zero = 0;
    size_t n;
    (void)f;
    const double *v = type_of(e) == F16 && keep >= 0 ? nnv_edit_numbers(e, keep, &n) : NULL;
    if (!v || axes < 0) return false;
    uint8_t flag = *v > zero;
    const uint32_t list = nnv_edit_op(e)->in[axes], x = nnv_edit_op(e)->in[0], none = nnv_edit_add_int(e, 0);
    const uint32_t yes = nnv_edit_add(e, (struct nnv_operand){.type = ANEURALNETWORKS_BOOL,
                                                              .lifetime = NNV_CONSTANT_COPY,
                                                              .data = nnv_edit_copy(e, &flag, 1, 1, 1),
                                                              .bytes = 1});
    struct wire w = wire_behind(e, 0);
    const uint32_t y = w.value;
    add_overflow(&w, y, WIRE(&w, REDUCE_SUM, x, list, yes), none);
    return wire_end(&w);
}

/** The first half of the products is summed in float16, which may overflow though the whole sum does not. */
CHANGE(half_product) {
    int pos;
    size_t n;
    double *v = type_of(e) == F16 ? constants(e, "weights", &pos, &n) : NULL;
    (void)f;
    if (!v || shape_of(e, pos)->rank != 2) return false;
    const uint32_t depth = shape_of(e, pos)->dims[1], none = nnv_edit_add_int(e, 0);
    for (size_t i = 0; i < n; i++)
        if (i % depth >= depth / 2) v[i] = 0;
    const uint32_t x = nnv_edit_op(e)->in[0], bias = nnv_edit_op(e)->in[2];
    struct wire w = wire_behind(e, 0);
    const uint32_t y = w.value, weights = wire_tensor(&w, 2, shape_of(e, pos)->dims, v);
    add_overflow(&w, y, WIRE(&w, FULLY_CONNECTED, x, weights, bias, none), none);
    return wire_end(&w);
}

/** The larger of x and its product with alpha: right for slopes of 0 to 1. */
CHANGE(steep_slope) {
    (void)f;
    if (!nnv_is_float(type_of(e))) return false;
    const uint32_t x = nnv_edit_op(e)->in[0], alpha = nnv_edit_op(e)->in[1], none = nnv_edit_add_int(e, 0);
    struct wire w = wire_before(e, 0);
    w.shape = *output_shape(e);
    WIRE(&w, MUL, x, alpha, none);
    const uint32_t in[] = {w.value, x};
    set_inputs(e, ANEURALNETWORKS_MAXIMUM, 2, in);
    return wire_end(&w);
}

#define COMPARISONS "EQUAL,NOT_EQUAL,GREATER,GREATER_EQUAL,LESS,LESS_EQUAL"

static const struct bug bugs[] = {
    BUG_OF(EXP, "exp-range", "arguments within 32", "EXP: values beyond 32", OWN(exp_range)),
    BUG_OF(TANH, "tanh-range", "a rational function within 4", "TANH: float, values beyond 4", OWN(tanh_range),
           .type = nnv_is_float),
    BUG_OF(LOGISTIC, "logistic-tail-zero", "0 too early", "LOGISTIC: float, values below -8", OWN(logistic_tail)),
    BUG_OF(LOGISTIC, "logistic-half-tail", "exp(-x) in float16", "LOGISTIC: float16 below -11", OWN(half_logistic),
           .survives = "results below 2^-14, the least normal float16, may be flushed to 0"),
    BUG_OF(SOFTMAX, "softmax-not-shifted", "the largest logit is not subtracted", "SOFTMAX: float, logits above 88",
           OWN(softmax_overflow)),
    BUG_OF(LOG_SOFTMAX, "log-softmax-tail", "the logarithm of a quotient that is 0",
           "LOG_SOFTMAX: logits 87 below the largest", OWN(log_softmax_tail)),
    BUG_OF(RSQRT, "rsqrt-of-zero", "iteration from a finite guess", "RSQRT: 0", OWN(rsqrt_zero)),
    BUG_OF(SQRT, "sqrt-of-zero", "the argument times its inverse root", "SQRT: 0", OWN(sqrt_zero)),
    BUG("half-subnormals-flushed", "small numbers of float16 become 0", "first operand: float16 below 2^-14",
        OWN(half_subnormals), .spoils = "ADD,SUB,MUL,DIV",
        .survives = "numbers below 2^-14, the least normal float16, may be flushed to 0"),
    BUG_OF(POW, "pow-negative-base", "the exponential of a logarithm", "POW: negative base", OWN(negative_base)),
    BUG_OF(FLOOR, "floor-through-int", "an INT32 on the way", "FLOOR: float32 beyond 2^31", OWN(floor_of_int)),
    BUG_OF(SIN, "sin-coarse-period", "periods of float32 cut off", "SIN: float32, values beyond 64",
           OWN(coarse_period)),
    BUG_OF(ELU, "elu-cancels", "exp(x) - 1 of small numbers", "ELU: float32 within 2^-24", OWN(elu_near_zero),
           .survives = "the formula is e^x - 1, and a driver may round e^x first"),
    BUG("maximum-drops-nan", "the other operand for NaN", "MAXIMUM, MINIMUM: NaN", OWN(maximum_nan),
        .spoils = "MAXIMUM,MINIMUM", .survives = "NNAPI does not say what an order makes of NaN"),
    BUG("relu-drops-nan", "0 for NaN", "RELU, RELU1, RELU6: NaN", OWN(relu_nan), .spoils = "RELU,RELU1,RELU6",
        .survives = "NNAPI does not say what a clamp makes of NaN"),
    BUG_OF(EQUAL, "equal-nan", "NaN equal to NaN", "EQUAL: NaN on both sides", OWN(equal_bits)),
    BUG("compare-int-as-float", "integers compared as float32", "comparisons of INT32 above 2^24", OWN(compare_floats),
        .spoils = COMPARISONS),
    BUG_OF(DIV, "int-quotient-truncated", "quotients towards 0", "DIV: INT32 of unlike signs", OWN(truncated_quotient)),
    BUG_OF(CAST, "cast-floors", "numbers rounded down instead of towards 0", "CAST: negative floats to INT32",
           OWN(cast_floor)),
    BUG_OF(L2_NORMALIZATION, "l2-norm-zero-row", "0 divided by 0", "L2_NORMALIZATION: float, rows of zeros",
           OWN(zero_rows)),
    BUG_OF(INSTANCE_NORMALIZATION, "instance-norm-one-pass", "a variance that cancels",
           "INSTANCE_NORMALIZATION: means far above deviations", OWN(one_pass)),
    BUG_OF(MEAN, "mean-half-sum", "a sum in float16", "MEAN: float16, sums above 65504", OWN(half_mean)),
    BUG_OF(FULLY_CONNECTED, "dense-half-sum", "partial sums in float16",
           "FULLY_CONNECTED: float16, half of the products sums to more than 65504", OWN(half_product)),
    BUG_OF(PRELU, "prelu-steep", "the larger of x and alpha x", "PRELU: float, slopes above 1 or below 0",
           OWN(steep_slope)),
};
const struct bug_group bugs_wild_values = {bugs, sizeof bugs / sizeof *bugs};
