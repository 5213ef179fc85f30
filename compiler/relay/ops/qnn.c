/* SPDX-License-Identifier: Apache-2.0 */
/* Quantised operators: types of results, kernels, rows. */
#include <math.h>
#include <string.h>

#include "compiler/relay/ops/kernel.h"
#include "compiler/relay/ops/numbers.h"

/* ----------------------------------------------------------------- numbers */

static double hard_swish(double x) { return x * fmin(fmax(x + 3, 0), 6) / 6; }
static double leaky(double x, double alpha) { return x > 0 ? x : x * alpha; }

/* ------------------------------------------------------------------- types */

static bool scales_are_right(struct nnv_relay_typing *t, size_t first, size_t end) {
    for (size_t i = first; i < end; i++) {
        const struct nnv_relay_type *a = nnv_relay_in(t, i);
        if (a == NULL) return false;
        bool scale = (i - first) % 2 == 0;
        if (a->dtype == (scale ? NNV_RELAY_FLOAT32 : NNV_RELAY_INT32) && a->n_dims <= 1) continue;
        return nnv_relay_wrong(t, "operand %zu is a %s: %s, one or a list", i, scale ? "scale" : "zero point",
                               scale ? "float32" : "int32");
    }
    return true;
}

static const struct nnv_relay_type *infer_quantize(struct nnv_relay_typing *t) {
    const struct nnv_relay_type *a = nnv_relay_in(t, 0);
    enum nnv_relay_dtype dtype;
    bool quantize = strcmp(t->call->callee->name, "qnn.quantize") == 0;
    if (a == NULL || !scales_are_right(t, 1, t->call->n_args)) return NULL;
    if (nnv_relay_dtype_is_float(a->dtype) != quantize)
        return nnv_relay_wrong(t, "operand 0 is %s", nnv_relay_dtype_name(a->dtype));
    bool to_float = strcmp(t->call->callee->name, "qnn.dequantize") == 0;
    if (!nnv_relay_dtype_attr(t, "out_dtype", NNV_RELAY_INT8, &dtype)) return NULL;
    if (nnv_relay_dtype_is_float(dtype) != to_float || dtype == NNV_RELAY_BOOL)
        return nnv_relay_wrong(t, "out_dtype is %s", nnv_relay_dtype_name(dtype));
    return nnv_relay_made(t, dtype, a->n_dims, a->dims);
}

static const struct nnv_relay_type *infer_qnn_binary(struct nnv_relay_typing *t) {
    return scales_are_right(t, 2, 8) ? nnv_relay_stretched(t, 0, 1, false) : NULL;
}

/* Operands: data, its scale and zero point, those of the result. */
static const struct nnv_relay_type *infer_qnn_unary(struct nnv_relay_typing *t) {
    const struct nnv_relay_type *a = nnv_relay_in(t, 0);
    return a && scales_are_right(t, 1, 5) ? a : NULL;
}

/* Operands: values, their scales and zero points as tuples, then scale and zero point of the result. */
static const struct nnv_relay_type *infer_qnn_concatenate(struct nnv_relay_typing *t) {
    const struct nnv_relay_type *values = t->call->args[0]->type;
    for (size_t i = 1; i <= 2; i++) {
        const struct nnv_relay_type *a = t->call->args[i]->type;
        if (a == NULL || values == NULL || a->kind != NNV_RELAY_TUPLE_TYPE || a->n_fields != values->n_fields)
            return nnv_relay_wrong(t, "operand %zu must be a tuple with a field for each of operand 0", i);
    }
    return nnv_relay_rule_concatenate(t);
}

/* ----------------------------------------------------------------- kernels */

/** How a scale is exchanged for another. */
struct rescale {
    double from, zero_from, to, zero_to;
    bool upward;    /**< halves go up; else away from zero */
    bool in_floats; /**< no fixed-point numbers */
};

static double limited(enum nnv_relay_dtype dtype, double v) {
    double low, high;
    nnv_interp_limits(dtype, &low, &high);
    return v < low ? low : v > high ? high : v;
}

/* v * from / to as an integer, by a multiplier of 31 bits and a shift. */
static double fixed_point(const struct rescale *r, double v) {
    int shift;
    double significand = round(frexp(r->from / r->to, &shift) * 2147483648.0);
    if (significand == 2147483648.0) {
        significand /= 2;
        shift++;
    }
    int right = 31 - shift;
    if (right > 62) return 0;
    if (right < 0) return v < 0 ? -INFINITY : v > 0 ? INFINITY : 0;
    int64_t product = (int64_t)limited(NNV_RELAY_INT32, v) * (int64_t)significand;
    if (right == 0) return (double)product;
    int64_t half = (int64_t)1 << (right - 1);
    if (!r->upward && product < 0) half--;
    return (double)((product + half) >> right);
}

static double rescaled(const struct rescale *r, double v) {
    v -= r->zero_from;
    if (r->in_floats) {
        double by = v * r->from / r->to;
        v = r->upward ? floor(by + 0.5) : round(by);
    } else if (r->from != r->to) {
        v = fixed_point(r, v);
    }
    return v + r->zero_to;
}

/* Scales above 0, as many as there are places along the axis, or one; zero points likewise. False after an error. */
static bool scales_fit(struct nnv_interp_op *op, size_t scale, const struct nnv_interp_axis *a) {
    for (size_t i = scale; i <= scale + 1; i++)
        if (op->in[i]->n != 1 && op->in[i]->n != a->extent)
            return nnv_relay_wrong(&op->t, "operand %zu has %zu values for %zu places along its axis", i, op->in[i]->n,
                                   a->extent);
    for (size_t i = 0; i < op->in[scale]->n; i++)
        if (!(op->in[scale]->values[i] > 0) || isinf(op->in[scale]->values[i]))
            return nnv_relay_wrong(&op->t, "a scale is %g, and must be above 0", op->in[scale]->values[i]);
    return true;
}

/* Along the axis of an attribute: a tensor without dimensions has one place. */
static bool channel_axis(struct nnv_interp_op *op, size_t i, const char *key, struct nnv_interp_axis *a) {
    *a = (struct nnv_interp_axis){.outer = 1, .extent = 1, .inner = 1};
    return op->in[i]->type->n_dims == 0 || nnv_interp_axis_of(op, op->in[i]->type, key, -1, a);
}

static size_t place(const struct nnv_interp_axis *a, size_t i) { return i / a->inner % a->extent; }

/* ------------------------------------------------------ to and from numbers */

static void run_quantize(struct nnv_interp_op *op) {
    struct nnv_interp_axis a;
    if (!channel_axis(op, 0, "axis", &a) || !scales_fit(op, 1, &a)) return;
    for (size_t i = 0; i < op->out->n; i++) {
        double v = op->in[0]->values[i] / nnv_interp_nth(op, 1, place(&a, i)) + nnv_interp_nth(op, 2, place(&a, i));
        op->out->values[i] = isnan(v) ? 0 : limited(op->out->type->dtype, round(v));
    }
}

static void run_dequantize(struct nnv_interp_op *op) {
    struct nnv_interp_axis a;
    if (!channel_axis(op, 0, "axis", &a) || !scales_fit(op, 1, &a)) return;
    for (size_t i = 0; i < op->out->n; i++)
        op->out->values[i] =
            (op->in[0]->values[i] - nnv_interp_nth(op, 2, place(&a, i))) * nnv_interp_nth(op, 1, place(&a, i));
}

static bool rounding(struct nnv_interp_op *op, struct rescale *r) {
    const char *mode = nnv_relay_text(&op->t, "rounding", "None"),
               *in = nnv_relay_text(&op->t, "compute_dtype", "None");
    bool up = strcmp(mode, "None") == 0 || strcmp(mode, "UPWARD") == 0;
    bool whole = strcmp(in, "None") == 0 || strcmp(in, "int64") == 0 || strcmp(in, "int32") == 0;
    *r = (struct rescale){.upward = up, .in_floats = !whole};
    if (!up && strcmp(mode, "TONEAREST") != 0)
        return nnv_relay_wrong(&op->t, "rounding must be UPWARD or TONEAREST, not %s", mode);
    if (!whole && strcmp(in, "float32") != 0 && strcmp(in, "float64") != 0)
        return nnv_relay_wrong(&op->t, "compute_dtype must be int64, float32 or float64, not %s", in);
    return true;
}

/* Operands: data, scale and zero point, those of the result. */
static void run_requantize(struct nnv_interp_op *op) {
    struct nnv_interp_axis a;
    struct rescale r;
    if (!rounding(op, &r) || !channel_axis(op, 0, "axis", &a) || !scales_fit(op, 1, &a) || !scales_fit(op, 3, &a))
        return;
    for (size_t i = 0; i < op->out->n; i++) {
        size_t c = place(&a, i);
        r.from = nnv_interp_nth(op, 1, c), r.zero_from = nnv_interp_nth(op, 2, c);
        r.to = nnv_interp_nth(op, 3, c), r.zero_to = nnv_interp_nth(op, 4, c);
        op->out->values[i] = limited(op->out->type->dtype, rescaled(&r, op->in[0]->values[i]));
    }
}

/* -------------------------------------------------------------- elementwise */

/* Operand i at the scale of the result, as 32-bit integers. first: the operand that is its scale. */
static const double *at_result_scale(struct nnv_interp_op *op, size_t i, size_t first, const char *axis) {
    struct nnv_interp_axis a;
    const struct nnv_relay_datum *x = op->in[i];
    if (!channel_axis(op, i, axis, &a) || !scales_fit(op, first, &a)) return NULL;
    double *own = x->values, *to = nnv_interp_space(op, x->n);
    for (size_t k = 0; to && k < x->n; k++) {
        const struct rescale r = {.from = nnv_interp_nth(op, first, place(&a, k)),
                                  .zero_from = nnv_interp_nth(op, first + 1, place(&a, k)),
                                  .to = op->in[6]->values[0],
                                  .zero_to = op->in[7]->values[0],
                                  .upward = true};
        to[k] = limited(NNV_RELAY_INT32, rescaled(&r, own[k]));
    }
    if (to == NULL) return NULL;
    op->in[i]->values = to; /* stretched, and put back */
    const double *stretched = nnv_interp_stretched(op, i);
    op->in[i]->values = own;
    return stretched;
}

static void sum_or_difference(struct nnv_interp_op *op) {
    const double *a = at_result_scale(op, 0, 2, "lhs_axis"), *b = a ? at_result_scale(op, 1, 4, "rhs_axis") : NULL;
    bool minus = strcmp(op->t.row->name, "qnn.subtract") == 0;
    double zero = op->in[7]->values[0];
    for (size_t i = 0; b && i < op->out->n; i++)
        op->out->values[i] = limited(op->out->type->dtype, minus ? a[i] - b[i] + zero : a[i] + b[i] - zero);
}

static void quantised_product(struct nnv_interp_op *op) {
    const double *a = nnv_interp_stretched(op, 0), *b = a ? nnv_interp_stretched(op, 1) : NULL;
    for (size_t i = 2; i < 6; i++)
        if (op->in[i]->n != 1) nnv_relay_wrong(&op->t, "operand %zu must be one value", i);
    if (b == NULL || op->t.st != NNV_OK) return;
    const struct rescale r = {.from = (double)(float)(op->in[2]->values[0] * op->in[4]->values[0]),
                              .to = op->in[6]->values[0],
                              .zero_to = op->in[7]->values[0],
                              .upward = true};
    for (size_t i = 0; i < op->out->n; i++)
        op->out->values[i] =
            limited(op->out->type->dtype, rescaled(&r, (a[i] - op->in[3]->values[0]) * (b[i] - op->in[5]->values[0])));
}

static bool result_scale(struct nnv_interp_op *op, size_t scale) {
    const struct nnv_interp_axis one = {.extent = 1};
    return scales_fit(op, scale, &one);
}

/* Operands: a, b, scale and zero point of each, and of the result. */
static void run_qnn_binary(struct nnv_interp_op *op) {
    if (!result_scale(op, 6)) return;
    if (strcmp(op->t.row->name, "qnn.mul") == 0)
        quantised_product(op);
    else
        sum_or_difference(op);
}

/* Operands: tuples of data, scales and zero points; scale and zero point of the result. */
static void run_qnn_concatenate(struct nnv_interp_op *op) {
    struct nnv_relay_datum data = *op->in[0], *joined = &data;
    struct nnv_interp_op plain = *op;
    data.fields = NNV_NEW(op->scratch, struct nnv_relay_datum *, data.n_fields);
    struct nnv_relay_datum *own = NNV_NEW(op->scratch, struct nnv_relay_datum, data.n_fields);
    if (data.fields == NULL || own == NULL || !result_scale(op, 3)) {
        if (op->t.st == NNV_OK) op->t.st = nnv_no_memory(op->t.err);
        return;
    }
    for (size_t i = 0; i < data.n_fields; i++) {
        const struct nnv_relay_datum *x = op->in[0]->fields[i], *s = op->in[1]->fields[i], *z = op->in[2]->fields[i];
        if (s->n != 1 || z->n != 1 || !(s->values[0] > 0)) {
            nnv_relay_wrong(&op->t, "field %zu must have one scale above 0 and one zero point", i);
            return;
        }
        const struct rescale r = {.from = s->values[0],
                                  .zero_from = z->values[0],
                                  .to = op->in[3]->values[0],
                                  .zero_to = op->in[4]->values[0],
                                  .upward = true};
        own[i] = *x;
        own[i].values = nnv_interp_space(op, x->n);
        if (own[i].values == NULL) return;
        for (size_t k = 0; k < x->n; k++) own[i].values[k] = limited(x->type->dtype, rescaled(&r, x->values[k]));
        data.fields[i] = &own[i];
    }
    plain.in = &joined;
    nnv_interp_concatenate(&plain);
    op->t.st = plain.t.st;
}

/* ------------------------------------------------------------ of one number */

/* Of the number that is meant; two() takes the attribute alpha, too. Operands: data, scale, zero point, the result's.
 */
static void run_qnn_unary(struct nnv_interp_op *op) {
    const struct nnv_interp_axis one = {.outer = 1, .extent = 1, .inner = 1};
    double alpha = nnv_relay_number(&op->t, "alpha", 0);
    if (!scales_fit(op, 1, &one) || !scales_fit(op, 3, &one)) return;
    for (size_t i = 0; i < op->out->n; i++) {
        double v = (op->in[0]->values[i] - op->in[2]->values[0]) * op->in[1]->values[0];
        v = (op->t.row->one ? op->t.row->one(v) : op->t.row->two(v, alpha)) / op->in[3]->values[0] +
            op->in[4]->values[0];
        op->out->values[i] = limited(op->out->type->dtype, isnan(v) ? op->in[4]->values[0] : round(v));
    }
}

/* -------------------------------------------------------------------- rows */

#include "compiler/relay/ops/rows.h"

static const struct nnv_relay_op_row rows[] = {
    {"qnn.abs", 5, 5, infer_qnn_unary, run_qnn_unary, .one = fabs},
    {"qnn.add", 8, 8, infer_qnn_binary, run_qnn_binary,
     .attrs = {{"lhs_axis", K_INT, INT(-1)}, {"rhs_axis", K_INT, INT(-1)}}},
    {"qnn.concatenate", 5, 5, infer_qnn_concatenate, run_qnn_concatenate, .attrs = {{"axis", K_INT, INT(0)}}},
    {"qnn.dequantize", 3, 3, infer_quantize, run_dequantize,
     .attrs = {{"axis", K_INT, INT(-1)}, {"out_dtype", K_TEXT, TEXT("float32")}},
     .relax = "dequantize(data, scale, zero_point, axis, out_dtype)"},
    {"qnn.erf", 5, 5, infer_qnn_unary, run_qnn_unary, .one = erf},
    {"qnn.exp", 5, 5, infer_qnn_unary, run_qnn_unary, .one = exp},
    {"qnn.hardswish", 5, 5, infer_qnn_unary, run_qnn_unary, .one = hard_swish},
    {"qnn.leaky_relu", 5, 5, infer_qnn_unary, run_qnn_unary, .attrs = {{"alpha", K_NUMBER, NUMBER(0.25)}},
     .two = leaky},
    {"qnn.log", 5, 5, infer_qnn_unary, run_qnn_unary, .one = log},
    {"qnn.mul", 8, 8, infer_qnn_binary, run_qnn_binary,
     .attrs = {{"lhs_axis", K_INT, INT(-1)}, {"rhs_axis", K_INT, INT(-1)}}},
    {"qnn.quantize", 3, 3, infer_quantize, run_quantize,
     .attrs = {{"out_dtype", K_TEXT, TEXT("int8")}, {"axis", K_INT, INT(-1)}},
     .relax = "quantize(data, scale, zero_point, axis, out_dtype)"},
    {"qnn.requantize", 5, 5, infer_quantize, run_requantize,
     .attrs = {{"axis", K_INT, INT(-1)},
               {"rounding", K_TEXT, TEXT("None")},
               {"compute_dtype", K_TEXT, TEXT("None")},
               {"out_dtype", K_TEXT, TEXT("int8")}}},
    {"qnn.rsqrt", 5, 5, infer_qnn_unary, run_qnn_unary, .one = inverse_root},
    {"qnn.sigmoid", 5, 5, infer_qnn_unary, run_qnn_unary, .one = sigmoid},
    {"qnn.sqrt", 5, 5, infer_qnn_unary, run_qnn_unary, .one = sqrt},
    {"qnn.subtract", 8, 8, infer_qnn_binary, run_qnn_binary,
     .attrs = {{"lhs_axis", K_INT, INT(-1)}, {"rhs_axis", K_INT, INT(-1)}}},
    {"qnn.tanh", 5, 5, infer_qnn_unary, run_qnn_unary, .one = tanh},
};
const struct nnv_relay_op_rows nnv_relay_qnn = {rows, sizeof rows / sizeof *rows};
