/* SPDX-License-Identifier: Apache-2.0 */
/* One number after the other: arithmetic with broadcasting, comparisons, functions, changes of type. */
#include <math.h>
#include <string.h>

#include "mlts/onnx/ox.h"

static uint32_t none(struct nnv_cv *c) { return nnv_builder_int(&c->b, ANEURALNETWORKS_FUSED_NONE); }

/** An operation whose only input is the node's, of the same type and shape. */
static void give(struct nnv_cv *c, uint32_t y) { nnv_ox_give_like(c, 0, y, 0); }

/* ------------------------------------------------------------------ arithmetic */

static bool has_activation(int32_t code) {
    return code == ANEURALNETWORKS_ADD || code == ANEURALNETWORKS_SUB || code == ANEURALNETWORKS_MUL ||
           code == ANEURALNETWORKS_DIV;
}

/** code of a and b, which are broadcast to the shape given: a result of a's type. */
static uint32_t combine(struct nnv_cv *c, int32_t code, uint32_t a, uint32_t b, uint32_t rank, const uint32_t *dims) {
    if (!nnv_cv_ok(c)) return 0;
    const uint32_t y = nnv_cv_temp_shaped(c, a, rank, dims);
    if (has_activation(code))
        NNV_CV_EMIT(c, code, y, a, b, none(c));
    else
        NNV_CV_EMIT(c, code, y, a, b);
    return y;
}

/** A quotient of integers is cut off here and rounded down in NNAPI: |a| / |b|, then the sign. */
static uint32_t quotient(struct nnv_cv *c, uint32_t a, uint32_t b, uint32_t rank, const uint32_t *dims) {
    const uint32_t p = NNV_OX_LIKE(c, ANEURALNETWORKS_ABS, a, a), q = NNV_OX_LIKE(c, ANEURALNETWORKS_ABS, b, b);
    const uint32_t size = combine(c, ANEURALNETWORKS_DIV, p, q, rank, dims);
    uint32_t sa = nnv_cv_temp_as(c, nnv_builder_encoding(&c->b, a), a),
             sb = nnv_cv_temp_as(c, nnv_builder_encoding(&c->b, b), b);
    nnv_cv_sign(c, a, sa);
    nnv_cv_sign(c, b, sb);
    return nnv_ox_product_of(c, size, combine(c, ANEURALNETWORKS_MUL, sa, sb, rank, dims));
}

/** The remainder that has the sign of b (or, by fmod, of a). */
static uint32_t remainder_of(struct nnv_cv *c, uint32_t a, uint32_t b, bool fmod, uint32_t rank, const uint32_t *dims) {
    const bool floats = nnv_is_float(nnv_cv_at(c, a)->type);
    uint32_t q;
    if (!fmod) {
        q = combine(c, ANEURALNETWORKS_DIV, a, b, rank, dims);
        if (floats) q = NNV_OX_LIKE(c, ANEURALNETWORKS_FLOOR, q, q);
    } else if (!floats) {
        q = quotient(c, a, b, rank, dims);
    } else {
        const uint32_t whole = combine(c, ANEURALNETWORKS_DIV, a, b, rank, dims);
        const uint32_t size = NNV_OX_LIKE(c, ANEURALNETWORKS_ABS, whole, whole);
        const uint32_t sign = nnv_cv_temp_as(c, nnv_builder_encoding(&c->b, whole), whole);
        nnv_cv_sign(c, whole, sign);
        q = nnv_ox_product_of(c, NNV_OX_LIKE(c, ANEURALNETWORKS_FLOOR, size, size), sign);
    }
    const uint32_t turns = combine(c, ANEURALNETWORKS_MUL, q, b, rank, dims);
    return combine(c, ANEURALNETWORKS_SUB, a, turns, rank, dims);
}

/** Of inputs i and k, one operation of the row's. */
static uint32_t of_two(struct nnv_cv *c, uint32_t a, uint32_t b, const struct nnv_ox_value *seen) {
    const int32_t code = c->onnx->row->nnapi;
    const bool ints = !nnv_is_float(nnv_cv_at(c, a)->type);
    if (strcmp(c->onnx->row->op, "Mod") == 0)
        return remainder_of(c, a, b, nnv_ox_flag(c, "fmod", false), seen->rank, seen->dims);
    if (code == ANEURALNETWORKS_DIV && ints) return quotient(c, a, b, seen->rank, seen->dims);
    return combine(c, code, a, b, seen->rank, seen->dims);
}

/** Scalars are one element, as those of rank 1: what NNAPI computes has at least that. */
static struct nnv_ox_value at_least_a_vector(struct nnv_ox_value v) {
    if (v.rank == 0) v.rank = 1, v.dims[0] = 1;
    return v;
}

static void binary(struct nnv_cv *c) {
    struct nnv_ox_value r, seen;
    uint32_t a, b;
    const int type = nnv_ox_value(c, 0)->type;
    if (nnv_ox_value(c, 1)->type != type) nnv_cv_fail(c, "its inputs are of different types");
    if (!nnv_ox_broadcast(c, nnv_ox_value(c, 0), nnv_ox_value(c, 1), &r)) return;
    nnv_ox_pair(c, 0, 1, &r, &a, &b, &seen);
    seen = at_least_a_vector(seen);
    const bool wraps = !(NNV_OX_FLOAT >> type & 1);
    if (wraps) a = nnv_ox_widened(c, a), b = nnv_ox_widened(c, b);
    if (!nnv_cv_ok(c)) return;
    uint32_t y = of_two(c, a, b, &seen);
    if (wraps) y = nnv_ox_wrapped(c, y, type);
    nnv_ox_give(c, 0, y, type, r.rank, r.dims);
}

/** POW is there for floats; exponents come in any type. */
static void power(struct nnv_cv *c) {
    struct nnv_ox_value r, seen;
    uint32_t a, b;
    const int type = nnv_ox_value(c, 0)->type;
    if (!(NNV_OX_NUMBER >> nnv_ox_value(c, 1)->type & 1))
        nnv_cv_refuse(c, " of %s to %s", nnv_onnx_type_name(type), nnv_onnx_type_name(nnv_ox_value(c, 1)->type));
    if (!nnv_ox_broadcast(c, nnv_ox_value(c, 0), nnv_ox_value(c, 1), &r)) return;
    nnv_ox_pair(c, 0, 1, &r, &a, &b, &seen);
    if (!nnv_cv_ok(c)) return;
    seen = at_least_a_vector(seen);
    const uint32_t base = nnv_ox_floats(c, a);
    const bool half = nnv_cv_at(c, base)->type == ANEURALNETWORKS_TENSOR_FLOAT16;
    uint32_t exponent = nnv_ox_floats(c, b);
    if (nnv_cv_ok(c) && nnv_cv_at(c, exponent)->type != nnv_cv_at(c, base)->type) {
        const struct nnv_encoding e = {half ? ANEURALNETWORKS_TENSOR_FLOAT16 : ANEURALNETWORKS_TENSOR_FLOAT32, 0, 0};
        const uint32_t t = nnv_cv_temp_as(c, e, exponent);
        NNV_CV_EMIT(c, ANEURALNETWORKS_CAST, t, exponent);
        exponent = t;
    }
    uint32_t y = combine(c, ANEURALNETWORKS_POW, base, exponent, seen.rank, seen.dims);
    if (base != a) { /* a whole number, however the power was rounded */
        const uint32_t whole = nnv_cv_temp_as(c, nnv_builder_encoding(&c->b, y), y);
        nnv_cv_round_to_even(c, y, whole);
        y = nnv_ox_back(c, whole, a);
    }
    nnv_ox_give(c, 0, y, type, r.rank, r.dims);
}

/** Sum, Mean, Max, Min: of any number of inputs. */
static void of_all(struct nnv_cv *c) {
    const int type = nnv_ox_value(c, 0)->type;
    const bool wide = !(NNV_OX_FLOAT >> type & 1);
    struct nnv_ox_value r = *nnv_ox_value(c, 0);
    uint32_t sum = nnv_ox_in(c, 0);
    if (wide) sum = nnv_ox_widened(c, sum);
    for (uint32_t i = 1; i < c->onnx->node->nin && nnv_cv_ok(c); i++) {
        if (!nnv_ox_broadcast(c, &r, nnv_ox_value(c, i), &r)) return;
        if (r.rank > 4) nnv_cv_refuse(c, " of rank %u", r.rank);
        const struct nnv_ox_value seen = at_least_a_vector(r);
        const uint32_t b = nnv_ox_in(c, i);
        sum = combine(c, c->onnx->row->nnapi, sum, wide ? nnv_ox_widened(c, b) : b, seen.rank, seen.dims);
    }
    if (strcmp(c->onnx->row->op, "Mean") == 0 && c->onnx->node->nin > 1)
        sum = nnv_ox_linear(c, sum, 1.0 / c->onnx->node->nin, 0);
    if (wide) sum = nnv_ox_wrapped(c, sum, type);
    nnv_ox_give(c, 0, sum, type, r.rank, r.dims);
}

/* ----------------------------------------------------------------- comparisons */

/** Comparisons, logic: a boolean of two. */
static void relation(struct nnv_cv *c) {
    struct nnv_ox_value r, seen;
    uint32_t a, b;
    if (nnv_ox_value(c, 0)->type != nnv_ox_value(c, 1)->type) nnv_cv_fail(c, "its inputs are of different types");
    if (!nnv_ox_broadcast(c, nnv_ox_value(c, 0), nnv_ox_value(c, 1), &r)) return;
    nnv_ox_pair(c, 0, 1, &r, &a, &b, &seen);
    seen = at_least_a_vector(seen);
    const uint32_t y = nnv_cv_temp(c, NNV_CV_B8, seen.rank, seen.dims);
    NNV_CV_EMIT(c, c->onnx->row->nnapi, y, a, b);
    nnv_ox_give(c, 0, y, NNV_ONNX_BOOL, r.rank, r.dims);
}

static void logical_not(struct nnv_cv *c) {
    give(c, NNV_OX_LIKE(c, ANEURALNETWORKS_LOGICAL_NOT, nnv_ox_in(c, 0), nnv_ox_in(c, 0)));
}

/** A NaN is the number that is not equal to itself. */
static void is_nan(struct nnv_cv *c) {
    const uint32_t x = nnv_ox_in(c, 0), y = nnv_cv_temp_as(c, NNV_CV_B8, x);
    const struct nnv_ox_value v = *nnv_ox_value(c, 0);
    NNV_CV_EMIT(c, ANEURALNETWORKS_NOT_EQUAL, y, x, x);
    nnv_ox_give(c, 0, y, NNV_ONNX_BOOL, v.rank, v.dims);
}

static void is_infinite(struct nnv_cv *c) {
    const bool up = nnv_ox_flag(c, "detect_positive", true), down = nnv_ox_flag(c, "detect_negative", true);
    const struct nnv_ox_value v = *nnv_ox_value(c, 0);
    if (!up && !down) nnv_cv_refuse(c, " that detects nothing");
    uint32_t x = nnv_ox_in(c, 0);
    if (!nnv_cv_ok(c)) return;
    const uint32_t y = nnv_cv_temp_as(c, NNV_CV_B8, x);
    if (up && down) x = NNV_OX_LIKE(c, ANEURALNETWORKS_ABS, x, x);
    NNV_CV_EMIT(c, ANEURALNETWORKS_EQUAL, y, x, nnv_cv_number(c, x, up ? (double)INFINITY : -(double)INFINITY));
    nnv_ox_give(c, 0, y, NNV_ONNX_BOOL, v.rank, v.dims);
}

/** A choice between tensors that are broadcast; the condition goes first. */
static void where(struct nnv_cv *c) {
    struct nnv_ox_value r;
    if (!nnv_ox_broadcast(c, nnv_ox_value(c, 1), nnv_ox_value(c, 2), &r) ||
        !nnv_ox_broadcast(c, &r, nnv_ox_value(c, 0), &r))
        return;
    const int type = nnv_ox_value(c, 1)->type;
    if (r.rank > 4) nnv_cv_refuse(c, " of rank %u", r.rank);
    const struct nnv_ox_value seen = at_least_a_vector(r);
    uint32_t in[3];
    for (uint32_t i = 0; i < 3; i++) in[i] = nnv_ox_expanded(c, nnv_ox_in(c, i), seen.rank, seen.dims);
    if (!nnv_cv_ok(c)) return;
    const bool bits = type == NNV_ONNX_BOOL;
    const uint32_t a = bits ? nnv_cv_to_float(c, in[1]) : in[1], b = bits ? nnv_cv_to_float(c, in[2]) : in[2];
    const uint32_t y = NNV_OX_LIKE(c, ANEURALNETWORKS_SELECT, a, in[0], a, b);
    nnv_ox_give(c, 0, nnv_ox_back(c, y, in[1]), type, r.rank, r.dims);
}

/* ------------------------------------------------------------------- functions */

/** Of floats, as NNAPI has it. */
static void function(struct nnv_cv *c) {
    const uint32_t x = nnv_ox_in(c, 0);
    give(c, NNV_OX_LIKE(c, c->onnx->row->nnapi, x, x));
}

/** Abs, Neg: of int32, too. */
static void of_signed(struct nnv_cv *c) {
    const int type = nnv_ox_value(c, 0)->type;
    const bool floats = NNV_OX_FLOAT >> type & 1;
    const uint32_t x = floats ? nnv_ox_in(c, 0) : nnv_ox_widened(c, nnv_ox_in(c, 0));
    const uint32_t y = NNV_OX_LIKE(c, c->onnx->row->nnapi, x, x);
    give(c, floats ? y : nnv_ox_wrapped(c, y, type));
}

/** Those that mlts/convert composes. */
static void composed(struct nnv_cv *c, void (*compose)(struct nnv_cv *, uint32_t, uint32_t)) {
    const uint32_t x = nnv_ox_in(c, 0);
    if (!nnv_cv_ok(c)) return;
    const uint32_t y = nnv_cv_temp_as(c, nnv_builder_encoding(&c->b, x), x);
    compose(c, x, y);
    give(c, y);
}
static void ceiling(struct nnv_cv *c) { composed(c, nnv_cv_ceiling); }
static void rounding(struct nnv_cv *c) { composed(c, nnv_cv_round_to_even); }
static void cosine(struct nnv_cv *c) { composed(c, nnv_cv_cosine); }

static void sign(struct nnv_cv *c) {
    const int type = nnv_ox_value(c, 0)->type;
    const bool floats = NNV_OX_FLOAT >> type & 1;
    const uint32_t x = floats ? nnv_ox_in(c, 0) : nnv_ox_widened(c, nnv_ox_in(c, 0));
    if (!nnv_cv_ok(c)) return;
    const uint32_t y = nnv_cv_temp_as(c, nnv_builder_encoding(&c->b, x), x);
    nnv_cv_sign(c, x, y);
    give(c, floats ? y : nnv_ox_wrapped(c, y, type));
}

static uint32_t applied(struct nnv_cv *c, int32_t code, uint32_t x) { return NNV_OX_LIKE(c, code, x, x); }
static uint32_t inverse(struct nnv_cv *c, uint32_t x) {
    const struct nnv_operand *o = nnv_cv_at(c, x);
    return nnv_ox_quotient(c, nnv_cv_filled(c, nnv_builder_encoding(&c->b, x), o->rank, o->dims, 1), x);
}

static void reciprocal(struct nnv_cv *c) {
    const uint32_t x = nnv_ox_in(c, 0);
    if (nnv_cv_ok(c)) give(c, inverse(c, x));
}

static void tangent(struct nnv_cv *c) {
    const uint32_t x = nnv_ox_in(c, 0);
    if (!nnv_cv_ok(c)) return;
    const uint32_t y = nnv_cv_temp_as(c, nnv_builder_encoding(&c->b, x), x);
    nnv_cv_cosine(c, x, y);
    give(c, nnv_ox_quotient(c, applied(c, ANEURALNETWORKS_SIN, x), y));
}

/** Sinh, Cosh: (e^x -+ e^-x) / 2. */
static void hyperbolic(struct nnv_cv *c) {
    const uint32_t x = nnv_ox_in(c, 0);
    if (!nnv_cv_ok(c)) return;
    const uint32_t up = applied(c, ANEURALNETWORKS_EXP, x);
    const uint32_t down = applied(c, ANEURALNETWORKS_EXP, applied(c, ANEURALNETWORKS_NEG, x));
    give(c, nnv_ox_linear(c, nnv_cv_combined(c, c->onnx->row->nnapi, up, down, x), 0.5, 0));
}

/** Asinh: sign(x) log(|x| + sqrt(x^2 + 1)). Acosh: log(x + sqrt(x^2 - 1)). Atanh: log((1 + x) / (1 - x)) / 2. */
static void area(struct nnv_cv *c) {
    const uint32_t x = nnv_ox_in(c, 0);
    const char kind = c->onnx->row->op[1];
    if (!nnv_cv_ok(c)) return;
    if (kind == 't') {
        const uint32_t q = nnv_ox_quotient(c, nnv_ox_linear(c, x, 1, 1), nnv_ox_linear(c, x, -1, 1));
        give(c, nnv_ox_linear(c, applied(c, ANEURALNETWORKS_LOG, q), 0.5, 0));
        return;
    }
    const uint32_t size = kind == 's' ? applied(c, ANEURALNETWORKS_ABS, x) : x;
    const uint32_t square = nnv_ox_linear(c, nnv_ox_product_of(c, x, x), 1, kind == 's' ? 1 : -1);
    uint32_t y = applied(c, ANEURALNETWORKS_LOG, nnv_ox_sum(c, size, applied(c, ANEURALNETWORKS_SQRT, square)));
    if (kind == 's') {
        const uint32_t s = nnv_cv_temp_as(c, nnv_builder_encoding(&c->b, x), x);
        nnv_cv_sign(c, x, s);
        y = nnv_ox_product_of(c, y, s);
    }
    give(c, y);
}

/* -------------------------------------------------------------- changes of type */

/** x (whose type may be any) as an ONNX type. */
static uint32_t cast_to(struct nnv_cv *c, uint32_t x, int from, int to) {
    struct nnv_encoding e;
    if (!nnv_cv_ok(c) || !nnv_ox_encode(c, to, &e)) return 0;
    const bool from_float = NNV_OX_FLOAT >> from & 1, to_int = (NNV_OX_INT | NNV_OX_SMALL) >> to & 1;
    const struct nnv_operand *o = nnv_cv_at(c, x);
    if (from == to) return x;
    if (nnv_cv_is_quant(c, x) && (o->scale != 1 || o->zero_point != 0)) {
        nnv_cv_refuse(c, " of quantised numbers");
        return 0;
    }
    if (to == NNV_ONNX_BOOL) {
        const uint32_t y = nnv_cv_temp_as(c, NNV_CV_B8, x), z = nnv_cv_is_quant(c, x) ? nnv_cv_to_float(c, x) : x;
        NNV_CV_EMIT(c, ANEURALNETWORKS_NOT_EQUAL, y, z, nnv_cv_number(c, z, 0));
        return y;
    }
    if (to_int) { /* cut off, not rounded; then the low bits */
        uint32_t whole = x;
        if (from_float) {
            whole = nnv_cv_temp_as(c, NNV_CV_I32, x);
            NNV_CV_EMIT(c, ANEURALNETWORKS_CAST, whole, x);
        } else {
            whole = nnv_ox_widened(c, x);
        }
        return nnv_onnx_type_bits(from) <= nnv_onnx_type_bits(to) && !nnv_is_quant(e.type) && from != NNV_ONNX_INT8 &&
                       from != NNV_ONNX_INT16
                   ? whole
                   : nnv_ox_wrapped(c, whole, to);
    }
    const uint32_t real = nnv_ox_floats(c, x), y = nnv_cv_temp_as(c, e, x);
    if (nnv_cv_ok(c) && nnv_cv_at(c, real)->type == e.type) return real;
    NNV_CV_EMIT(c, ANEURALNETWORKS_CAST, y, real);
    return y;
}

static void cast(struct nnv_cv *c) {
    const struct nnv_ox_value v = *nnv_ox_value(c, 0);
    const bool like = strcmp(c->onnx->row->op, "CastLike") == 0;
    nnv_ox_attribute(c, "saturate"); /* of float8, which is refused */
    nnv_ox_attribute(c, "round_mode");
    const int to = like ? nnv_ox_value(c, 1)->type : (int)nnv_ox_int(c, "to", 0);
    if (!nnv_cv_ok(c)) return;
    struct nnv_encoding e;
    if (!((NNV_OX_ANY | NNV_OX_SMALL) >> (to & 31) & 1)) {
        nnv_cv_refuse(c, " to %s", nnv_onnx_type_name(to));
        return;
    }
    if (!nnv_ox_encode(c, to, &e)) return;
    nnv_ox_give(c, 0, cast_to(c, nnv_ox_in(c, 0), v.type, to), to, v.rank, v.dims);
}

static void identity(struct nnv_cv *c) { give(c, nnv_ox_in(c, 0)); }

/** Dropout, when the model is not trained: nothing is dropped. */
static void dropout(struct nnv_cv *c) {
    const struct nnv_ox_value v = *nnv_ox_value(c, 0);
    uint32_t n, seen[NNV_OX_RANK] = {1};
    nnv_ox_attribute(c, "ratio");
    nnv_ox_attribute(c, "seed");
    const int64_t *training = nnv_ox_has(c, 2) ? nnv_ox_ints(c, 2, &n) : NULL;
    const double *ratio = training && *training ? nnv_ox_numbers(c, 1, &n) : NULL;
    if (c->onnx->opset < 7 && !nnv_ox_flag(c, "is_test", false)) nnv_cv_refuse(c, " in training");
    if (training && *training && !(ratio && *ratio == 0)) nnv_cv_refuse(c, " in training");
    const uint32_t x = nnv_ox_in(c, 0);
    give(c, x);
    if (!nnv_ox_wants(c, 1) || !nnv_cv_ok(c)) return;
    const uint32_t rank = nnv_cv_at(c, x)->rank;
    memcpy(seen, nnv_cv_at(c, x)->dims, rank * sizeof *seen);
    nnv_ox_give(c, 1, nnv_cv_filled(c, NNV_CV_B8, rank, seen, 1), NNV_ONNX_BOOL, v.rank, v.dims);
}

/* ------------------------------------------------------------------- the table */

#define F NNV_OX_FLOAT
#define N NNV_OX_NUMBER
#define B NNV_OX_BOOL
#define ROW(op, n, types, convert, code)                                                                               \
    { #op, n, n, types, convert, ANEURALNETWORKS_##code }
#define OWN(op, n, types, convert)                                                                                     \
    { #op, n, n, types, convert, 0 }

static const struct nnv_ox_row rows[] = {
    ROW(Add, 2, N, binary, ADD),
    ROW(Sub, 2, N, binary, SUB),
    ROW(Mul, 2, N, binary, MUL),
    ROW(Div, 2, N, binary, DIV),
    OWN(Mod, 2, N, binary),
    OWN(Pow, 2, N, power),
    {"Sum", 1, NNV_OX_MOST, F, of_all, ANEURALNETWORKS_ADD},
    {"Mean", 1, NNV_OX_MOST, F, of_all, ANEURALNETWORKS_ADD},
    {"Max", 1, NNV_OX_MOST, N, of_all, ANEURALNETWORKS_MAXIMUM},
    {"Min", 1, NNV_OX_MOST, N, of_all, ANEURALNETWORKS_MINIMUM},
    ROW(Equal, 2, N | B, relation, EQUAL),
    ROW(Greater, 2, N, relation, GREATER),
    ROW(GreaterOrEqual, 2, N, relation, GREATER_EQUAL),
    ROW(Less, 2, N, relation, LESS),
    ROW(LessOrEqual, 2, N, relation, LESS_EQUAL),
    ROW(And, 2, B, relation, LOGICAL_AND),
    ROW(Or, 2, B, relation, LOGICAL_OR),
    ROW(Xor, 2, B, relation, NOT_EQUAL),
    OWN(Not, 1, B, logical_not),
    OWN(IsNaN, 1, F, is_nan),
    OWN(IsInf, 1, F, is_infinite),
    OWN(Where, 3, B, where),
    ROW(Abs, 1, N, of_signed, ABS),
    ROW(Neg, 1, N, of_signed, NEG),
    ROW(Exp, 1, F, function, EXP),
    ROW(Log, 1, F, function, LOG),
    ROW(Sqrt, 1, F, function, SQRT),
    ROW(Sin, 1, F, function, SIN),
    ROW(Floor, 1, F, function, FLOOR),
    OWN(Ceil, 1, F, ceiling),
    OWN(Round, 1, F, rounding),
    OWN(Cos, 1, F, cosine),
    OWN(Tan, 1, F, tangent),
    ROW(Sinh, 1, F, hyperbolic, SUB),
    ROW(Cosh, 1, F, hyperbolic, ADD),
    OWN(Asinh, 1, F, area),
    OWN(Acosh, 1, F, area),
    OWN(Atanh, 1, F, area),
    OWN(Sign, 1, N, sign),
    OWN(Reciprocal, 1, F, reciprocal),
    OWN(Cast, 1, NNV_OX_ANY | NNV_OX_SMALL, cast),
    OWN(CastLike, 2, NNV_OX_ANY | NNV_OX_SMALL, cast),
    OWN(Identity, 1, NNV_OX_ANY | NNV_OX_SMALL, identity),
    {"Dropout", 1, 3, F, dropout, 0},
};
const struct nnv_ox_rows nnv_ox_math = {rows, sizeof rows / sizeof *rows};
