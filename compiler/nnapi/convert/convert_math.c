/* SPDX-License-Identifier: Apache-2.0 */
/* Elementwise operators: arithmetic, comparisons, functions, limits, casts. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "compiler/nnapi/convert/convert_in.h"

uint32_t nnv_rc_act(struct nnv_rc *c) {
    int act = c->real ? c->act : c->root != c->node ? nnv_rc_act_of(c->root->e) : ANEURALNETWORKS_FUSED_NONE;
    return nnv_rc_int(c, act < 0 ? 0 : act);
}

static void unary(struct nnv_rc *c) { NNV_RC_EMIT(c, c->node->row->code, nnv_rc_result(c, 0), nnv_rc_in(c, 0)); }

static void binary(struct nnv_rc *c) {
    NNV_RC_EMIT(c, c->node->row->code, nnv_rc_result(c, 0), nnv_rc_in(c, 0), nnv_rc_in(c, 1));
}

/* With a fused activation. */
static void arithmetic(struct nnv_rc *c) {
    NNV_RC_EMIT(c, c->node->row->code, nnv_rc_result(c, 0), nnv_rc_in(c, 0), nnv_rc_in(c, 1), nnv_rc_act(c));
}

static void floor_divide(struct nnv_rc *c) {
    struct nnv_encoding e = nnv_rc_encoding(c, nnv_rc_out(c, 0));
    struct nnv_rc_shape shape = nnv_rc_shape(c, nnv_rc_out(c, 0));
    if (e.type == ANEURALNETWORKS_TENSOR_INT32) {
        arithmetic(c); /* of integers DIV gives the floor */
        return;
    }
    uint32_t quotient = nnv_rc_temp(c, e, &shape);
    NNV_RC_EMIT(c, ANEURALNETWORKS_DIV, quotient, nnv_rc_in(c, 0), nnv_rc_in(c, 1), nnv_rc_int(c, 0));
    NNV_RC_EMIT(c, ANEURALNETWORKS_FLOOR, nnv_rc_result(c, 0), quotient);
}

/* ceil(x) = -floor(-x). */
static void ceiling(struct nnv_rc *c) {
    struct nnv_encoding e = nnv_rc_encoding(c, nnv_rc_out(c, 0));
    struct nnv_rc_shape shape = nnv_rc_shape(c, nnv_rc_out(c, 0));
    uint32_t negative = nnv_rc_temp(c, e, &shape), floor = nnv_rc_temp(c, e, &shape);
    NNV_RC_EMIT(c, ANEURALNETWORKS_NEG, negative, nnv_rc_in(c, 0));
    NNV_RC_EMIT(c, ANEURALNETWORKS_FLOOR, floor, negative);
    NNV_RC_EMIT(c, ANEURALNETWORKS_NEG, nnv_rc_result(c, 0), floor);
}

/*
 * To 1.5e-7: 1 - (a1 t + ... + a5 t^5) e^(-x^2) with t = 1 / (1 + p |x|), and the sign of x.
 * Source: Abramowitz and Stegun, Handbook of Mathematical Functions, 7.1.26.
 */
static void erf_function(struct nnv_rc *c) {
    static const double a[] = {0.254829592, -0.284496736, 1.421413741, -1.453152027, 1.061405429};
    const int32_t add = ANEURALNETWORKS_ADD, mul = ANEURALNETWORKS_MUL;
    struct nnv_rc_shape shape = nnv_rc_shape(c, nnv_rc_arg(c, 0));
    struct nnv_encoding e = nnv_rc_encoding(c, nnv_rc_arg(c, 0));
    uint32_t x = nnv_rc_in(c, 0), size = nnv_rc_applied(c, ANEURALNETWORKS_ABS, x);
    uint32_t ones = nnv_rc_filled(c, e, &shape, 1);
    uint32_t t =
        nnv_rc_combined(c, ANEURALNETWORKS_DIV, ones, nnv_rc_by(c, add, nnv_rc_by(c, mul, size, 0.3275911), 1));
    uint32_t sum = nnv_rc_by(c, mul, t, a[4]);
    for (int i = 4; i-- > 0;) sum = nnv_rc_combined(c, mul, nnv_rc_by(c, add, sum, a[i]), t);
    uint32_t square = nnv_rc_applied(c, ANEURALNETWORKS_NEG, nnv_rc_combined(c, mul, x, x));
    uint32_t tail = nnv_rc_combined(c, mul, sum, nnv_rc_applied(c, ANEURALNETWORKS_EXP, square));
    uint32_t y = nnv_rc_combined(c, ANEURALNETWORKS_SUB, ones, tail),
             below = nnv_rc_temp(c, NNV_RC_BOOL_TENSOR, &shape);
    NNV_RC_EMIT(c, ANEURALNETWORKS_LESS, below, x, nnv_rc_one(c, e, 0));
    NNV_RC_EMIT(c, ANEURALNETWORKS_SELECT, nnv_rc_result(c, 0), below, nnv_rc_applied(c, ANEURALNETWORKS_NEG, y), y);
}

/* Also nn.dropout, which does nothing once a network is trained. */
static void copy(struct nnv_rc *c) {
    if (c->node->out.n > 1 && c->values[c->node->out.v[1]].uses) nnv_rc_refuse(c, "the mask is used");
    nnv_rc_is(c, 0, nnv_rc_in(c, 0));
}

/* ----------------------------------------------------------------------- limits */

void nnv_rc_code_range(struct nnv_encoding e, double *low, double *high) {
    const struct nnv_type *t = nnv_type(e.type);
    *low = t->min;
    *high = t->max;
}

void nnv_rc_clip_bounds(const struct nnv_rc_node *n, double *low, double *high) {
    *low = 0;
    *high = HUGE_VAL;
    if (strcmp(n->row->name, "clip") != 0) return;
    const struct nnv_relay_value *a = nnv_relay_attr(n->e, "a_min"), *b = nnv_relay_attr(n->e, "a_max");
    *low = !a ? -HUGE_VAL : a->kind == NNV_RELAY_FLOAT ? a->f : (double)a->i;
    *high = !b ? HUGE_VAL : b->kind == NNV_RELAY_FLOAT ? b->f : (double)b->i;
}

/* The numbers that a type has; of floating point all. */
static void range_of(struct nnv_encoding e, double *least, double *most) {
    *least = -HUGE_VAL;
    *most = HUGE_VAL;
    if (!nnv_is_float(e.type)) nnv_rc_code_range(e, least, most);
}

void nnv_rc_limited(struct nnv_rc *c, uint32_t in, uint32_t out, double low, double high) {
    struct nnv_encoding e = nnv_builder_encoding(&c->b, in);
    struct nnv_rc_shape shape = nnv_rc_operand_shape(c, in);
    double least, most;
    range_of(e, &least, &most);
    bool below = low > least, above = high < most;
    if (!nnv_rc_ok(c)) return;
    if (low > high || isnan(low) || isnan(high)) {
        nnv_rc_refuse(c, "bounds from %g to %g", low, high);
    } else if (below && !above && e.type != ANEURALNETWORKS_TENSOR_INT32 && low == e.zero_point) {
        NNV_RC_EMIT(c, ANEURALNETWORKS_RELU, out, in); /* floats have the zero point 0 */
    } else {
        uint32_t middle = below && above ? nnv_rc_temp(c, e, &shape) : out;
        if (below) NNV_RC_EMIT(c, ANEURALNETWORKS_MAXIMUM, middle, in, nnv_rc_one(c, e, fmin(low, most)));
        if (above)
            NNV_RC_EMIT(c, ANEURALNETWORKS_MINIMUM, out, below ? middle : in, nnv_rc_one(c, e, fmax(high, least)));
        if (!below && !above) nnv_rc_reshaped(c, in, &shape, out);
    }
}

/* relu and clip: one of NNAPI's functions, or a maximum and a minimum. */
static void limit(struct nnv_rc *c) {
    static const int32_t functions[] = {-1, ANEURALNETWORKS_RELU, ANEURALNETWORKS_RELU1, ANEURALNETWORKS_RELU6};
    double low, high, least, most;
    enum nnv_relay_dtype dtype = nnv_rc_type(c, nnv_rc_arg(c, 0))->dtype;
    int act = nnv_rc_act_of(c->node->e);
    bool floats = nnv_relay_dtype_is_float(dtype) || c->real;
    if (floats && act > 0) {
        NNV_RC_EMIT(c, functions[act], nnv_rc_result(c, 0), nnv_rc_in(c, 0));
        return;
    }
    if (c->real) {
        nnv_rc_refuse(c, "bounds that no activation has");
        return;
    }
    nnv_rc_clip_bounds(c->node, &low, &high);
    uint32_t in = nnv_rc_in(c, 0);
    range_of(nnv_builder_encoding(&c->b, in), &least, &most);
    if (floats) { /* beyond what floats hold there is nothing to limit */
        low = low <= -(double)FLT_MAX ? -HUGE_VAL : low;
        high = high >= (double)FLT_MAX ? HUGE_VAL : high;
    } else {
        low = ceil(low);
        high = floor(high);
    }
    if (low <= least && high >= most)
        nnv_rc_is(c, 0, in);
    else
        nnv_rc_limited(c, in, nnv_rc_result(c, 0), low, high);
}

static void leaky_relu(struct nnv_rc *c) {
    struct nnv_encoding e = nnv_rc_encoding(c, nnv_rc_arg(c, 0));
    double alpha = nnv_rc_num_attr(c, "alpha", 0.25);
    if (c->real) { /* alpha as a code of its own scale */
        if (!(alpha > 0)) nnv_rc_refuse(c, "a slope of %g of bytes", alpha);
        double least, most;
        nnv_rc_code_range(e, &least, &most);
        e.scale = (float)(alpha / 64);
        e.zero_point = (int32_t)(most - 127);
        alpha = e.zero_point + 64;
    }
    NNV_RC_EMIT(c, ANEURALNETWORKS_PRELU, nnv_rc_result(c, 0), nnv_rc_in(c, 0), nnv_rc_one(c, e, alpha));
}

/* Slopes along an axis: as many dimensions of 1 behind them as there are axes behind. */
static void prelu(struct nnv_rc *c) {
    struct nnv_rc_shape x = nnv_rc_shape(c, nnv_rc_arg(c, 0));
    uint32_t axis = nnv_rc_axis(c, nnv_rc_int_attr(c, "axis", 1), x.rank);
    struct nnv_rc_shape alpha = {x.rank - axis, {x.dims[axis]}};
    for (uint32_t i = 1; i < alpha.rank; i++) alpha.dims[i] = 1;
    uint32_t slopes = nnv_rc_reshaped(c, nnv_rc_in(c, 1), &alpha, NNV_RC_NONE);
    NNV_RC_EMIT(c, ANEURALNETWORKS_PRELU, nnv_rc_result(c, 0), nnv_rc_in(c, 0), slopes);
}

/* ------------------------------------------------------------------------ casts */

/* True if the value was limited to the range of the codes. */
static bool is_limited(const struct nnv_rc *c, uint32_t value, double least, double most) {
    const struct nnv_rc_value *v = &c->values[value];
    double low, high;
    if (v->node == NNV_RC_NONE || strcmp(c->nodes[v->node].row->name, "clip") != 0) return false;
    nnv_rc_clip_bounds(&c->nodes[v->node], &low, &high);
    return low >= least && high <= most;
}

static void cast_bool(struct nnv_rc *c, struct nnv_encoding to) {
    struct nnv_rc_shape shape = nnv_rc_shape(c, nnv_rc_arg(c, 0));
    NNV_RC_EMIT(c, ANEURALNETWORKS_SELECT, nnv_rc_result(c, 0), nnv_rc_in(c, 0), nnv_rc_filled(c, to, &shape, 1),
                nnv_rc_filled(c, to, &shape, 0));
}

/* Integers of 8 bits with a sign: CAST does not know them, but as numbers of scale 1 they can be dequantised. */
static void cast_signed(struct nnv_rc *c, struct nnv_encoding from, struct nnv_encoding to) {
    struct nnv_rc_shape shape = nnv_rc_shape(c, nnv_rc_arg(c, 0));
    if (from.scale != 1 || from.zero_point != 0) {
        nnv_rc_refuse(c, "int8 codes of scale %g and zero point %d as integers: NNAPI's CAST does not take int8",
                      (double)from.scale, from.zero_point);
        return;
    }
    bool floats = nnv_is_float(to.type);
    uint32_t real = floats ? nnv_rc_result(c, 0) : nnv_rc_temp(c, NNV_RC_F32_TENSOR, &shape);
    NNV_RC_EMIT(c, ANEURALNETWORKS_DEQUANTIZE, real, nnv_rc_in(c, 0));
    if (!floats) NNV_RC_EMIT(c, ANEURALNETWORKS_CAST, nnv_rc_result(c, 0), real);
}

static void cast(struct nnv_rc *c) {
    uint32_t x = nnv_rc_arg(c, 0), y = nnv_rc_out(c, 0);
    enum nnv_relay_dtype from = nnv_rc_type(c, x)->dtype, to = nnv_rc_type(c, y)->dtype;
    struct nnv_encoding in = nnv_rc_encoding(c, x), out = nnv_rc_encoding(c, y);
    if (!nnv_rc_ok(c)) return;
    if (from == to) {
        nnv_rc_is(c, 0, nnv_rc_in(c, 0));
    } else if (from == NNV_RELAY_BOOL) {
        cast_bool(c, out);
    } else if (to == NNV_RELAY_BOOL) {
        if (nnv_rc_is_byte(c, x)) nnv_rc_refuse(c, "bytes as bool; cast to int32 before");
        NNV_RC_EMIT(c, ANEURALNETWORKS_NOT_EQUAL, nnv_rc_result(c, 0), nnv_rc_in(c, 0), nnv_rc_one(c, in, 0));
    } else if (to == NNV_RELAY_INT8) {
        nnv_rc_refuse(c, "to int8: NNAPI's CAST has no such result; use qnn.quantize");
    } else if (from == NNV_RELAY_INT8) {
        cast_signed(c, in, out);
    } else {
        if (from == NNV_RELAY_INT32 && to == NNV_RELAY_UINT8 && !is_limited(c, x, 0, 255))
            nnv_rc_refuse(c, "int32 to uint8 wraps around, NNAPI's CAST saturates; limit it by clip(0, 255) before");
        NNV_RC_EMIT(c, ANEURALNETWORKS_CAST, nnv_rc_result(c, 0), nnv_rc_in(c, 0));
    }
}

/* Tensors of one number. */
static void filled(struct nnv_rc *c) {
    const char *name = c->node->row->name;
    struct nnv_rc_shape shape = nnv_rc_shape(c, nnv_rc_out(c, 0));
    double v = strncmp(name, "ones", 4) == 0 ? 1 : 0;
    if (strncmp(name, "full", 4) == 0) v = nnv_rc_number(c, c->node->args[c->node->e->n_args - 1].v[0], "the value");
    nnv_rc_is(c, 0, nnv_rc_filled(c, nnv_rc_encoding(c, nnv_rc_out(c, 0)), &shape, v));
}

#define OP(name) ANEURALNETWORKS_##name
#define REAL NNV_RC_REAL
#define FUSED NNV_RC_REAL | NNV_RC_FUSES
#define MOVES NNV_RC_MOVES
#define FI NNV_RC_FLOAT | NNV_RC_I32
#define LIMITED NNV_RC_FLOAT | NNV_RC_I32 | NNV_RC_BYTE
static const struct nnv_rc_row rows[] = {
    {"add", arithmetic, OP(ADD), FI, FUSED, 1, "ADD"},
    {"subtract", arithmetic, OP(SUB), FI, FUSED, 2, "SUB"},
    {"multiply", arithmetic, OP(MUL), FI, FUSED, 1, "MUL"},
    {"divide", arithmetic, OP(DIV), NNV_RC_FLOAT, NNV_RC_FUSES, 2, "DIV"},
    {"floor_divide", floor_divide, OP(DIV), FI, 0, 2, "DIV, FLOOR"},
    {"power", binary, OP(POW), NNV_RC_FLOAT, 0, 3, "POW"},
    {"maximum", binary, OP(MAXIMUM), LIMITED, MOVES, 3, "MAXIMUM"},
    {"minimum", binary, OP(MINIMUM), LIMITED, MOVES, 3, "MINIMUM"},
    {"equal", binary, OP(EQUAL), FI | NNV_RC_BOOL, 0, 3, "EQUAL"},
    {"not_equal", binary, OP(NOT_EQUAL), FI | NNV_RC_BOOL, 0, 3, "NOT_EQUAL"},
    {"less", binary, OP(LESS), FI | NNV_RC_BOOL, 0, 3, "LESS"},
    {"less_equal", binary, OP(LESS_EQUAL), FI | NNV_RC_BOOL, 0, 3, "LESS_EQUAL"},
    {"greater", binary, OP(GREATER), FI | NNV_RC_BOOL, 0, 3, "GREATER"},
    {"greater_equal", binary, OP(GREATER_EQUAL), FI | NNV_RC_BOOL, 0, 3, "GREATER_EQUAL"},
    {"logical_and", binary, OP(LOGICAL_AND), NNV_RC_BOOL, 0, 3, "LOGICAL_AND"},
    {"logical_or", binary, OP(LOGICAL_OR), NNV_RC_BOOL, 0, 3, "LOGICAL_OR"},
    {"logical_xor", binary, OP(NOT_EQUAL), NNV_RC_BOOL, 0, 3, "NOT_EQUAL"},
    {"logical_not", unary, OP(LOGICAL_NOT), NNV_RC_BOOL, 0, 3, "LOGICAL_NOT"},
    {"abs", unary, OP(ABS), FI, 0, 3, "ABS"},
    {"negative", unary, OP(NEG), FI, 0, 3, "NEG"},
    {"exp", unary, OP(EXP), NNV_RC_FLOAT, 0, 3, "EXP"},
    {"log", unary, OP(LOG), NNV_RC_FLOAT, 0, 3, "LOG"},
    {"sqrt", unary, OP(SQRT), NNV_RC_FLOAT, 0, 3, "SQRT"},
    {"rsqrt", unary, OP(RSQRT), NNV_RC_FLOAT, 0, 3, "RSQRT"},
    {"sin", unary, OP(SIN), NNV_RC_FLOAT, 0, 3, "SIN"},
    {"floor", unary, OP(FLOOR), NNV_RC_FLOAT, 0, 1, "FLOOR"},
    {"ceil", ceiling, -1, NNV_RC_FLOAT, 0, 3, "NEG, FLOOR"},
    {"erf", erf_function, -1, NNV_RC_FLOAT, 0, 3, "ABS, MUL, ADD, DIV, EXP, NEG, SUB, LESS, SELECT"},
    {"tanh", unary, OP(TANH), NNV_RC_FLOAT, REAL, 1, "TANH"},
    {"sigmoid", unary, OP(LOGISTIC), NNV_RC_FLOAT, REAL, 1, "LOGISTIC"},
    {"nn.relu", limit, -1, LIMITED, REAL | MOVES, 1, "RELU, MAXIMUM"},
    {"clip", limit, -1, LIMITED, REAL | MOVES, 1, "RELU, RELU1, RELU6, MAXIMUM, MINIMUM"},
    {"nn.leaky_relu", leaky_relu, -1, NNV_RC_FLOAT, REAL, 3, "PRELU"},
    {"nn.prelu", prelu, -1, NNV_RC_FLOAT, 0, 3, "PRELU"},
    {"cast", cast, -1, NNV_RC_ALL, 0, 3, "CAST, SELECT, NOT_EQUAL, DEQUANTIZE"},
    {"copy", copy, -1, NNV_RC_ALL, MOVES, 1, "(nothing)"},
    {"nn.dropout", copy, -1, NNV_RC_FLOAT, 0, 1, "(nothing)"},
    {"zeros", filled, -1, 0, 0, 1, "(a constant)"},
    {"ones", filled, -1, 0, 0, 1, "(a constant)"},
    {"full", filled, -1, NNV_RC_ALL, 0, 1, "(a constant)"},
    {"full_like", filled, -1, NNV_RC_NUMBER, 0, 1, "(a constant)"},
    {"zeros_like", filled, -1, NNV_RC_NUMBER, 0, 1, "(a constant)"},
    {"ones_like", filled, -1, NNV_RC_NUMBER, 0, 1, "(a constant)"},
};
const struct nnv_rc_rows nnv_rc_math = {rows, sizeof rows / sizeof *rows};
