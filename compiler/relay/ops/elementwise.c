/* SPDX-License-Identifier: Apache-2.0 */
/* Operators that work element by element: types of results, kernels, rows. */
#include <math.h>
#include <string.h>

#include "compiler/relay/ops/kernel.h"
#include "compiler/relay/ops/numbers.h"

/* ----------------------------------------------------------------- numbers */

static double negated(double x) { return -x; }
static double inverted(double x) { return x == 0; }
static double rectified(double x) { return x < 0 ? 0 : x; }
static double sign(double x) { return isnan(x) ? x : (x > 0) - (x < 0); }
static double complement(double x) { return -x - 1; }
static double is_nan(double x) { return isnan(x); }
static double is_infinite(double x) { return isinf(x) != 0; }
static double is_finite(double x) { return isfinite(x); }
static double difference(double a, double b) { return a - b; }
static double quotient(double a, double b) { return a / b; }
static double floor_quotient(double a, double b) { return floor(a / b); }
static double floor_rest(double a, double b) { return a - floor(a / b) * b; }
static double equal(double a, double b) { return a == b; }
static double unequal(double a, double b) { return a != b; }
static double less_equal(double a, double b) { return a <= b; }
static double greater_equal(double a, double b) { return a >= b; }
static int64_t whole_quotient(int64_t a, int64_t b) { return b == -1 ? (int64_t)(0 - (uint64_t)a) : a / b; }
static int64_t whole_rest(int64_t a, int64_t b) { return b == -1 ? 0 : a % b; }
static int64_t whole_floor_quotient(int64_t a, int64_t b) {
    return whole_quotient(a, b) - (whole_rest(a, b) != 0 && (a < 0) != (b < 0));
}
static int64_t whole_floor_rest(int64_t a, int64_t b) {
    int64_t rest = whole_rest(a, b);
    return rest != 0 && (a < 0) != (b < 0) ? rest + b : rest;
}
static int64_t bits_and(int64_t a, int64_t b) { return a & b; }
static int64_t bits_or(int64_t a, int64_t b) { return a | b; }
static int64_t bits_xor(int64_t a, int64_t b) { return a ^ b; }
static int64_t shift_left(int64_t a, int64_t b) { return b < 0 || b > 63 ? 0 : (int64_t)((uint64_t)a << b); }
static int64_t shift_right(int64_t a, int64_t b) { return b < 0 || b > 63 ? (a < 0 ? -1 : 0) : a >> b; }
static int64_t whole_power(int64_t a, int64_t b) {
    uint64_t result = 1, base = (uint64_t)a;
    if (b < 0) return a == 1 ? 1 : a == -1 ? (b % 2 ? -1 : 1) : 0;
    for (; b; b /= 2, base *= base)
        if (b % 2) result *= base;
    return (int64_t)result;
}

/* ------------------------------------------------------------------- types */

static const struct nnv_relay_type *infer_same(struct nnv_relay_typing *t) {
    if (strcmp(t->call->callee->name, "clip") == 0 &&
        (!nnv_relay_written(t->call, "a_min") || !nnv_relay_written(t->call, "a_max")))
        return nnv_relay_wrong(t, "needs the attributes a_min and a_max");
    return nnv_relay_in(t, 0);
}

/* A mark that a pass has set: of anything. */
static const struct nnv_relay_type *infer_mark(struct nnv_relay_typing *t) { return t->call->args[0]->type; }

static const struct nnv_relay_type *infer_test(struct nnv_relay_typing *t) {
    const struct nnv_relay_type *a = nnv_relay_in(t, 0);
    return a ? nnv_relay_made(t, NNV_RELAY_BOOL, a->n_dims, a->dims) : NULL;
}

static const struct nnv_relay_type *infer_binary(struct nnv_relay_typing *t) {
    return nnv_relay_stretched(t, 0, 1, false);
}

static const struct nnv_relay_type *infer_bits(struct nnv_relay_typing *t) {
    const struct nnv_relay_type *a = nnv_relay_in(t, 0);
    if (a && (nnv_relay_dtype_is_float(a->dtype) || a->dtype == NNV_RELAY_BOOL))
        return nnv_relay_wrong(t, "operand 0 is %s, and must be of integers", nnv_relay_dtype_name(a->dtype));
    return a && t->call->n_args == 2 ? nnv_relay_stretched(t, 0, 1, false) : a;
}

static const struct nnv_relay_type *infer_compare(struct nnv_relay_typing *t) {
    return nnv_relay_stretched(t, 0, 1, true);
}

static const struct nnv_relay_type *infer_logic(struct nnv_relay_typing *t) {
    for (size_t i = 0; i < t->call->n_args; i++) {
        const struct nnv_relay_type *a = nnv_relay_in(t, i);
        if (a == NULL) return NULL;
        if (a->dtype != NNV_RELAY_BOOL) return nnv_relay_wrong(t, "operand %zu must be bool", i);
    }
    return t->call->n_args == 1 ? t->call->args[0]->type : nnv_relay_stretched(t, 0, 1, true);
}

static const struct nnv_relay_type *infer_where(struct nnv_relay_typing *t) {
    const struct nnv_relay_type *condition = nnv_relay_in(t, 0);
    const struct nnv_relay_type *values = condition ? nnv_relay_stretched(t, 1, 2, false) : NULL;
    int64_t dims[NNV_RELAY_RANK];
    size_t n;
    if (values == NULL || !nnv_relay_broadcast(t, condition, values, &n, dims)) return NULL;
    if (nnv_relay_dtype_is_float(condition->dtype)) return nnv_relay_wrong(t, "operand 0 must be bool or of integers");
    return nnv_relay_made(t, values->dtype, n, dims);
}

static const struct nnv_relay_type *infer_cast(struct nnv_relay_typing *t) {
    const struct nnv_relay_type *a = nnv_relay_in(t, 0);
    enum nnv_relay_dtype dtype;
    if (a == NULL) return NULL;
    if (!nnv_relay_written(t->call, "dtype")) return nnv_relay_wrong(t, "needs the attribute dtype");
    if (!nnv_relay_dtype_attr(t, "dtype", a->dtype, &dtype)) return NULL;
    return nnv_relay_made(t, dtype, a->n_dims, a->dims);
}

static const struct nnv_relay_type *infer_filled(struct nnv_relay_typing *t) {
    int64_t dims[NNV_RELAY_RANK];
    size_t n;
    enum nnv_relay_dtype dtype;
    if (!nnv_relay_ints(t, "shape", dims, NNV_RELAY_RANK, &n)) return nnv_relay_wrong(t, "needs the attribute shape");
    for (size_t i = 0; i < n; i++)
        if (dims[i] < 0) return nnv_relay_wrong(t, "shape[%zu] is negative", i);
    return nnv_relay_dtype_attr(t, "dtype", NNV_RELAY_FLOAT32, &dtype) ? nnv_relay_made(t, dtype, n, dims) : NULL;
}

/* ----------------------------------------------------------------- kernels */

static void run_unary(struct nnv_interp_op *op) {
    for (size_t i = 0; i < op->out->n; i++) op->out->values[i] = op->t.row->one(op->in[0]->values[i]);
    nnv_interp_wrap_all(op);
}

static void run_mark(struct nnv_interp_op *op) {
    op->out->values = op->in[0]->values;
    op->out->fields = op->in[0]->fields;
}

static void binary_whole(struct nnv_interp_op *op, const double *a, const double *b) {
    for (size_t i = 0; i < op->out->n; i++) {
        if (op->t.row->divides && b[i] == 0) {
            nnv_relay_wrong(&op->t, "an integer is divided by 0");
            return;
        }
        int64_t v = op->t.row->whole((int64_t)a[i], (int64_t)b[i]);
        op->out->values[i] = nnv_interp_wrap(op->out->type->dtype, v);
    }
}

static void run_binary(struct nnv_interp_op *op) {
    const double *a = nnv_interp_stretched(op, 0), *b = a ? nnv_interp_stretched(op, 1) : NULL;
    if (b == NULL) return;
    if (op->t.row->whole && !nnv_relay_dtype_is_float(op->in[0]->type->dtype)) {
        binary_whole(op, a, b);
        return;
    }
    for (size_t i = 0; i < op->out->n; i++) op->out->values[i] = op->t.row->two(a[i], b[i]);
    nnv_interp_wrap_all(op);
}

/* With one(0); a row without it has the value as an operand. */
static void run_fill(struct nnv_interp_op *op) {
    bool given = op->t.row->one == NULL;
    size_t at = strcmp(op->t.row->name, "full_like") == 0;
    if (given && op->in[at]->n != 1) {
        nnv_relay_wrong(&op->t, "operand %zu must be one value", at);
        return;
    }
    double v = given ? op->in[at]->values[0] : op->t.row->one(0);
    for (size_t i = 0; i < op->out->n; i++) op->out->values[i] = v;
    nnv_interp_wrap_all(op);
}

static void run_clip(struct nnv_interp_op *op) {
    double low = nnv_relay_number(&op->t, "a_min", -INFINITY), high = nnv_relay_number(&op->t, "a_max", INFINITY);
    if (!nnv_relay_dtype_is_float(op->out->type->dtype)) {
        low = trunc(low);
        high = trunc(high);
    }
    for (size_t i = 0; i < op->out->n; i++) {
        double v = op->in[0]->values[i];
        op->out->values[i] = v < low ? low : v > high ? high : v;
    }
    nnv_interp_wrap_all(op);
}

/* From floats to integers: towards zero, saturated. Between integers: the low bits. */
static void run_cast(struct nnv_interp_op *op) {
    enum nnv_relay_dtype from = op->in[0]->type->dtype, to = op->out->type->dtype;
    for (size_t i = 0; i < op->out->n; i++) {
        double v = op->in[0]->values[i];
        if (to == NNV_RELAY_BOOL)
            v = v != 0;
        else if (nnv_relay_dtype_is_float(to))
            v = nnv_interp_round(to, v);
        else if (nnv_relay_dtype_is_float(from))
            v = nnv_interp_round(to, trunc(v));
        else
            v = nnv_interp_wrap(to, (int64_t)v);
        op->out->values[i] = v;
    }
}

static void run_where(struct nnv_interp_op *op) {
    const double *c = nnv_interp_stretched(op, 0), *a = c ? nnv_interp_stretched(op, 1) : NULL;
    const double *b = a ? nnv_interp_stretched(op, 2) : NULL;
    for (size_t i = 0; b && i < op->out->n; i++) op->out->values[i] = c[i] != 0 ? a[i] : b[i];
}

static void run_leaky_relu(struct nnv_interp_op *op) {
    double alpha = nnv_relay_number(&op->t, "alpha", 0.25);
    for (size_t i = 0; i < op->out->n; i++) {
        double v = op->in[0]->values[i];
        op->out->values[i] = v > 0 ? v : v * alpha;
    }
}

/* -------------------------------------------------------------------- rows */

#include "compiler/relay/ops/rows.h"

#define FILLED                                                                                                         \
    {"shape", K_INTS, NULL}, { "dtype", K_TEXT, TEXT("float32") }

static const struct nnv_relay_op_row rows[] = {
    {"abs", 1, 1, infer_same, run_unary, .one = fabs, .relax = "(x)"},
    {"add", 2, 2, infer_binary, run_binary, .two = sum, .relax = "(x1, x2)"},
    {"annotation.cast_hint", 1, 1, infer_mark, run_mark, .attrs = {{"dtype", K_TEXT, NULL}}},
    {"annotation.compiler_begin", 1, 1, infer_mark, run_mark, .attrs = {{"compiler", K_TEXT, NULL}}},
    {"annotation.compiler_end", 1, 1, infer_mark, run_mark, .attrs = {{"compiler", K_TEXT, NULL}}},
    {"annotation.stop_fusion", 1, 1, infer_mark, .run = run_mark},
    {"atan", 1, 1, infer_same, run_unary, .one = atan, .relax = "(x)"},
    {"bitwise_and", 2, 2, infer_bits, run_binary, .whole = bits_and, .relax = "(x1, x2)"},
    {"bitwise_not", 1, 1, infer_bits, run_unary, .one = complement, .relax = "(x)"},
    {"bitwise_or", 2, 2, infer_bits, run_binary, .whole = bits_or, .relax = "(x1, x2)"},
    {"bitwise_xor", 2, 2, infer_bits, run_binary, .whole = bits_xor, .relax = "(x1, x2)"},
    {"cast", 1, 1, infer_cast, run_cast, .attrs = {{"dtype", K_TEXT, NULL}}, .relax = "astype(x, dtype)"},
    {"ceil", 1, 1, infer_same, run_unary, .one = ceil, .relax = "(x)"},
    {"clip", 1, 1, infer_same, run_clip, .attrs = {{"a_min", K_NUMBER, NULL}, {"a_max", K_NUMBER, NULL}},
     .relax = "(x, min:a_min, max:a_max)"},
    {"copy", 1, 1, infer_same, .run = nnv_interp_view},
    {"cos", 1, 1, infer_same, run_unary, .one = cos, .relax = "(x)"},
    {"cosh", 1, 1, infer_same, run_unary, .one = cosh, .relax = "(x)"},
    {"device_copy", 1, 1, infer_mark, run_mark,
     .attrs = {{"src_dev_type", K_INT, NULL},
               {"dst_dev_type", K_INT, NULL},
               {"src_virtual_device", K_ANY, NULL},
               {"dst_virtual_device", K_ANY, NULL}}},
    {"divide", 2, 2, infer_binary, run_binary, .two = quotient, .whole = whole_quotient, .divides = true,
     .relax = "(x1, x2)"},
    {"equal", 2, 2, infer_compare, run_binary, .two = equal, .relax = "(x1, x2)"},
    {"erf", 1, 1, infer_same, run_unary, .one = erf, .relax = "(x)"},
    {"exp", 1, 1, infer_same, run_unary, .one = exp, .relax = "(x)"},
    {"floor", 1, 1, infer_same, run_unary, .one = floor, .relax = "(x)"},
    {"floor_divide", 2, 2, infer_binary, run_binary, .two = floor_quotient, .whole = whole_floor_quotient,
     .divides = true, .relax = "(x1, x2)"},
    {"floor_mod", 2, 2, infer_binary, run_binary, .two = floor_rest, .whole = whole_floor_rest, .divides = true,
     .relax = "(x1, x2)"},
    {"full", 1, 2, infer_filled, run_fill, .attrs = {FILLED}, .relax = "(shape, fill_value, dtype)"},
    {"full_like", 2, 2, infer_same, .run = run_fill, .relax = "(x, fill_value)"},
    {"greater", 2, 2, infer_compare, run_binary, .two = greater, .relax = "(x1, x2)"},
    {"greater_equal", 2, 2, infer_compare, run_binary, .two = greater_equal, .relax = "(x1, x2)"},
    {"isfinite", 1, 1, infer_test, run_unary, .one = is_finite, .relax = "(x)"},
    {"isinf", 1, 1, infer_test, run_unary, .one = is_infinite, .relax = "(x)"},
    {"isnan", 1, 1, infer_test, run_unary, .one = is_nan, .relax = "(x)"},
    {"left_shift", 2, 2, infer_bits, run_binary, .whole = shift_left, .relax = "(x1, x2)"},
    {"less", 2, 2, infer_compare, run_binary, .two = less, .relax = "(x1, x2)"},
    {"less_equal", 2, 2, infer_compare, run_binary, .two = less_equal, .relax = "(x1, x2)"},
    {"log", 1, 1, infer_same, run_unary, .one = log, .relax = "(x)"},
    {"log10", 1, 1, infer_same, run_unary, .one = log10},
    {"log2", 1, 1, infer_same, run_unary, .one = log2},
    {"logical_and", 2, 2, infer_logic, run_binary, .two = both, .relax = "(x1, x2)"},
    {"logical_not", 1, 1, infer_logic, run_unary, .one = inverted, .relax = "(x)"},
    {"logical_or", 2, 2, infer_logic, run_binary, .two = either, .relax = "(x1, x2)"},
    {"logical_xor", 2, 2, infer_logic, run_binary, .two = unequal, .relax = "(x1, x2)"},
    {"maximum", 2, 2, infer_binary, run_binary, .two = greatest, .relax = "(x1, x2)"},
    {"minimum", 2, 2, infer_binary, run_binary, .two = least, .relax = "(x1, x2)"},
    {"mod", 2, 2, infer_binary, run_binary, .two = fmod, .whole = whole_rest, .divides = true, .relax = "(x1, x2)"},
    {"multiply", 2, 2, infer_binary, run_binary, .two = product, .whole = whole_product, .relax = "(x1, x2)"},
    {"negative", 1, 1, infer_same, run_unary, .one = negated, .relax = "(x)"},
    {"nn.leaky_relu", 1, 1, nnv_relay_rule_float, run_leaky_relu, .attrs = {{"alpha", K_NUMBER, NUMBER(0.25)}},
     .relax = "nn.leakyrelu(data, alpha=0.01)"},
    {"nn.relu", 1, 1, infer_same, run_unary, .one = rectified, .relax = "(x)"},
    {"not_equal", 2, 2, infer_compare, run_binary, .two = unequal, .relax = "(x1, x2)"},
    {"on_device", 1, 1, infer_mark, run_mark,
     .attrs = {{"device_type", K_INT, NULL},
               {"is_fixed", K_TRUTH, NULL},
               {"virtual_device", K_ANY, NULL},
               {"constrain_result", K_TRUTH, NULL},
               {"constrain_body", K_TRUTH, NULL}}},
    {"ones", 0, 0, infer_filled, run_fill, .attrs = {FILLED}, .one = one, .relax = "(shape, dtype)"},
    {"ones_like", 1, 1, infer_same, run_fill, .one = one, .relax = "(x)"},
    {"power", 2, 2, infer_binary, run_binary, .two = pow, .whole = whole_power, .relax = "(x1, x2)"},
    {"right_shift", 2, 2, infer_bits, run_binary, .whole = shift_right, .relax = "(x1, x2)"},
    {"round", 1, 1, infer_same, run_unary, .one = round, .relax = "(x)"},
    {"rsqrt", 1, 1, infer_same, run_unary, .one = inverse_root, .relax = "(x)"},
    {"sigmoid", 1, 1, infer_same, run_unary, .one = sigmoid, .relax = "(x)"},
    {"sign", 1, 1, infer_same, run_unary, .one = sign, .relax = "(x)"},
    {"sin", 1, 1, infer_same, run_unary, .one = sin, .relax = "(x)"},
    {"sinh", 1, 1, infer_same, run_unary, .one = sinh, .relax = "(x)"},
    {"sqrt", 1, 1, infer_same, run_unary, .one = sqrt, .relax = "(x)"},
    {"subtract", 2, 2, infer_binary, run_binary, .two = difference, .relax = "(x1, x2)"},
    {"tan", 1, 1, infer_same, run_unary, .one = tan, .relax = "(x)"},
    {"tanh", 1, 1, infer_same, run_unary, .one = tanh, .relax = "(x)"},
    {"trunc", 1, 1, infer_same, run_unary, .one = trunc, .relax = "(x)"},
    {"where", 3, 3, infer_where, .run = run_where, .relax = "(condition, x1, x2)"},
    {"zeros", 0, 0, infer_filled, run_fill, .attrs = {FILLED}, .one = zero, .relax = "(shape, dtype)"},
    {"zeros_like", 1, 1, infer_same, run_fill, .one = zero, .relax = "(x)"},
};
const struct nnv_relay_op_rows nnv_relay_elementwise = {rows, sizeof rows / sizeof *rows};
