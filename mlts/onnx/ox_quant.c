/* SPDX-License-Identifier: Apache-2.0 */
/* Changes between numbers and bytes. */
#include <math.h>
#include <string.h>

#include "mlts/onnx/ox.h"

/** Scale and zero point (inputs 1 and 2) as they are broadcast over x of shape v. */
struct parameters {
    bool single;  /**< one of each, both known */
    double scale; /**< if single */
    int32_t zero;
    uint32_t scales, zeros; /**< float operands; zeros 0: none */
};

/** The shape in which x is seen: one axis of the scales, what is before and what is behind. */
static bool read_parameters(struct nnv_cv *c, struct nnv_ox_value *v, uint32_t *three, struct parameters *p) {
    const struct nnv_ox_value s = *nnv_ox_value(c, 1);
    const bool axis_named = nnv_ox_attribute(c, "axis") != NULL;
    const int64_t block = nnv_ox_int(c, "block_size", 0);
    const size_t n = nnv_ox_elements(&s);
    const struct nnv_onnx_tensor *scale = nnv_ox_tensor(c, 1), *zero = nnv_ox_has(c, 2) ? nnv_ox_tensor(c, 2) : NULL;
    *v = *nnv_ox_value(c, 0);
    *p = (struct parameters){.single = n == 1 && scale && (zero || !nnv_ox_has(c, 2))};
    if (block != 0 || s.rank > 1) nnv_cv_refuse(c, " in blocks");
    if (!(NNV_OX_FLOAT >> s.type & 1)) nnv_cv_refuse(c, " with scales of %s", nnv_onnx_type_name(s.type));
    if (!nnv_cv_ok(c)) return false;
    const uint32_t axis =
        n > 1 || axis_named ? (v->rank ? nnv_ox_axis(c, "axis", 1, v->rank > 1 || n > 1 ? v->rank : 2) : 0) : 0;
    if (!nnv_cv_ok(c)) return false;
    nnv_ox_around(v, axis < v->rank ? axis : 0, three);
    if (n > 1 && n != three[1]) nnv_cv_fail(c, "%zu scales for %u entries", n, three[1]);
    if (p->single) {
        p->scale = nnv_onnx_number(scale, 0);
        p->zero = zero ? (int32_t)nnv_onnx_int(zero, 0) : 0;
        if (!(p->scale > 0)) nnv_cv_fail(c, "the scale is %g", p->scale);
        return nnv_cv_ok(c);
    }
    const uint32_t along[] = {1, (uint32_t)n, 1};
    p->scales = nnv_cv_reshaped(c, nnv_cv_to_float(c, nnv_ox_in(c, 1)), 3, along);
    if (nnv_ox_has(c, 2)) p->zeros = nnv_cv_reshaped(c, nnv_cv_to_float(c, nnv_ox_in(c, 2)), 3, along);
    return nnv_cv_ok(c);
}

/** The type that a zero point or an attribute says. */
static int code_type(struct nnv_cv *c) {
    const int type = (int)nnv_ox_int(c, "output_dtype", 0);
    const int said = nnv_ox_has(c, 2) ? nnv_ox_value(c, 2)->type : type ? type : NNV_ONNX_UINT8;
    const uint32_t codes = NNV_OX_BYTE | NNV_OX_SMALL | NNV_OX_SET(INT16) | NNV_OX_SET(UINT16);
    if (!(codes >> (said & 31) & 1)) nnv_cv_refuse(c, " to %s", nnv_onnx_type_name(said));
    return said;
}

/** The range of a type that NNAPI has no codes of. */
static uint32_t within(struct nnv_cv *c, uint32_t x, int type) {
    const double range = (double)(1 << nnv_onnx_type_bits(type));
    const bool is_signed = type == NNV_ONNX_INT16 || type == NNV_ONNX_INT4 || type == NNV_ONNX_INT2;
    const double low = is_signed ? -range / 2 : 0;
    x = NNV_OX_LIKE(c, ANEURALNETWORKS_MAXIMUM, x, x, nnv_cv_number(c, x, low));
    return NNV_OX_LIKE(c, ANEURALNETWORKS_MINIMUM, x, x, nnv_cv_number(c, x, low + range - 1));
}

static void quantize(struct nnv_cv *c) {
    static const uint32_t one = 1;
    struct nnv_ox_value v;
    struct parameters p;
    struct nnv_encoding e;
    uint32_t three[3];
    nnv_ox_attribute(c, "saturate"); /* of float8 */
    nnv_ox_attribute(c, "precision");
    const int type = code_type(c);
    if (!nnv_cv_ok(c) || !read_parameters(c, &v, three, &p) || !nnv_ox_encode(c, type, &e)) return;
    uint32_t x = nnv_ox_in(c, 0);
    if (!nnv_cv_ok(c)) return;
    if (p.single && nnv_is_quant(e.type)) {
        e.scale = (float)p.scale;
        e.zero_point = p.zero;
    } else { /* round(x / scale) + zero, in float32, as codes */
        x = nnv_ox_quotient(c, nnv_cv_reshaped(c, nnv_cv_to_float(c, x), 3, three),
                            p.scales ? p.scales : nnv_cv_filled(c, NNV_CV_F32, 1, &one, p.scale));
        const uint32_t whole = nnv_cv_temp_as(c, NNV_CV_F32, x);
        nnv_cv_round_to_even(c, x, whole);
        x = p.zeros ? nnv_ox_sum(c, whole, p.zeros) : nnv_ox_linear(c, whole, 1, p.zero);
        if (!nnv_is_quant(e.type)) x = within(c, x, type);
    }
    const uint32_t y = nnv_cv_temp_as(c, e, x);
    NNV_CV_EMIT(c, nnv_is_quant(e.type) ? ANEURALNETWORKS_QUANTIZE : ANEURALNETWORKS_CAST, y, x);
    nnv_ox_give(c, 0, y, type, v.rank, v.dims);
}

/** A constant with scales for channels: float32 numbers. */
static uint32_t expanded(struct nnv_cv *c, const struct nnv_onnx_tensor *t, const uint32_t *three) {
    uint32_t n, m = 0;
    const double *scale = nnv_ox_numbers(c, 1, &n);
    const int64_t *zero = nnv_ox_has(c, 2) ? nnv_ox_ints(c, 2, &m) : NULL;
    float *to = nnv_cv_room(c, t->elems * 4) ? NNV_NEW(c->b.arena, float, t->elems) : NULL;
    if (!to) {
        c->b.failed = c->b.failed || nnv_cv_ok(c);
        return 0;
    }
    if (m > 1 && m != n) nnv_cv_fail(c, "%u zero points for %u scales", m, n);
    for (size_t i = 0; i < t->elems && nnv_cv_ok(c); i++) {
        const size_t at = n == 1 ? 0 : i / three[2] % three[1];
        to[i] = (float)((double)(nnv_onnx_int(t, i) - (zero ? zero[m > 1 ? at : 0] : 0)) * scale[at]);
    }
    return nnv_cv_ok(c) ? nnv_builder_constant(&c->b, NNV_CV_F32, 3, three, to) : 0;
}

static void dequantize(struct nnv_cv *c) {
    struct nnv_ox_value v;
    struct parameters p;
    uint32_t three[3], y;
    const int out = (int)nnv_ox_int(c, "output_dtype", 0), to = out ? out : nnv_ox_value(c, 1)->type;
    if (!read_parameters(c, &v, three, &p)) return;
    const struct nnv_onnx_tensor *t = nnv_ox_tensor(c, 0);
    const bool in_file = t && c->onnx->input[c->onnx->node->in[0]] < 0 && nnv_ox_tensor(c, 1);
    if (in_file && to == NNV_ONNX_FLOAT && (p.single || nnv_ox_tensor(c, 1))) { /* weights */
        nnv_ox_give(c, 0, expanded(c, t, three), to, v.rank, v.dims);
        return;
    }
    if (!((NNV_OX_INT | NNV_OX_SMALL) >> (v.type & 31) & 1)) nnv_cv_refuse(c, " of %s", nnv_onnx_type_name(v.type));
    uint32_t x = nnv_ox_in(c, 0);
    if (!nnv_cv_ok(c)) return;
    const struct nnv_operand *o = nnv_cv_at(c, x);
    if (p.single && nnv_cv_is_quant(c, x) && o->scale == (float)p.scale && o->zero_point == p.zero) {
        y = nnv_cv_to_float(c, x);
    } else if (nnv_cv_is_quant(c, x) && (o->scale != 1 || o->zero_point != 0)) {
        nnv_cv_refuse(c, " of bytes that have another quantisation");
        return;
    } else { /* (code - zero) * scale */
        x = nnv_cv_reshaped(c, nnv_cv_to_float(c, x), 3, three);
        if (p.single) {
            y = nnv_ox_linear(c, nnv_ox_linear(c, x, 1, -p.zero), p.scale, 0);
        } else {
            if (p.zeros) x = nnv_ox_difference(c, x, p.zeros);
            y = nnv_ox_product_of(c, x, p.scales);
        }
    }
    if (to != NNV_ONNX_FLOAT && nnv_cv_ok(c)) {
        struct nnv_encoding e;
        if (!(NNV_OX_FLOAT >> (to & 31) & 1)) nnv_cv_refuse(c, " to %s", nnv_onnx_type_name(to));
        if (!nnv_ox_encode(c, to, &e)) return;
        const uint32_t half = nnv_cv_temp_as(c, e, y);
        NNV_CV_EMIT(c, ANEURALNETWORKS_CAST, half, y);
        y = half;
    }
    nnv_ox_give(c, 0, y, to, v.rank, v.dims);
}

/** Codes 0 to 255 for the range of x with 0 in it: the scale follows from the numbers. */
static void quantize_by_range(struct nnv_cv *c) {
    static const uint32_t only = 0;
    const struct nnv_ox_value v = *nnv_ox_value(c, 0);
    const uint32_t n = (uint32_t)nnv_ox_elements(&v), x = nnv_ox_in_shape(c, 0, 1, &n);
    if (!nnv_cv_ok(c)) return;
    const uint32_t zero = nnv_cv_number(c, x, 0);
    uint32_t most = nnv_ox_reduced(c, ANEURALNETWORKS_REDUCE_MAX, x, 1, &only);
    uint32_t least = nnv_ox_reduced(c, ANEURALNETWORKS_REDUCE_MIN, x, 1, &only);
    most = NNV_OX_LIKE(c, ANEURALNETWORKS_MAXIMUM, most, most, zero);
    least = NNV_OX_LIKE(c, ANEURALNETWORKS_MINIMUM, least, least, zero);
    const uint32_t scale = nnv_ox_quotient(c, nnv_ox_difference(c, most, least), nnv_cv_number(c, x, 255));
    const uint32_t start = nnv_ox_quotient(c, NNV_OX_LIKE(c, ANEURALNETWORKS_NEG, least, least), scale);
    if (!nnv_cv_ok(c)) return;
    const uint32_t code = nnv_cv_temp_as(c, NNV_CV_F32, start), parts = nnv_ox_quotient(c, x, scale),
                   whole = nnv_cv_temp_as(c, NNV_CV_F32, x);
    nnv_cv_round_to_even(c, start, code);
    nnv_cv_round_to_even(c, parts, whole);
    const struct nnv_encoding e = {ANEURALNETWORKS_TENSOR_QUANT8_ASYMM, 1, 0};
    const uint32_t y = nnv_cv_temp_as(c, e, x), z = nnv_cv_temp_as(c, e, code);
    NNV_CV_EMIT(c, ANEURALNETWORKS_QUANTIZE, y, nnv_ox_sum(c, whole, code));
    NNV_CV_EMIT(c, ANEURALNETWORKS_QUANTIZE, z, code);
    nnv_ox_give(c, 0, y, NNV_ONNX_UINT8, v.rank, v.dims);
    nnv_ox_give(c, 1, scale, NNV_ONNX_FLOAT, 0, &only);
    nnv_ox_give(c, 2, z, NNV_ONNX_UINT8, 0, &only);
}

static const struct nnv_ox_row rows[] = {
    {"QuantizeLinear", 2, 3, NNV_OX_FLOAT, quantize, 0},
    {"DequantizeLinear", 2, 3, UINT32_MAX, dequantize, 0},
    {"DynamicQuantizeLinear", 1, 1, NNV_OX_SET(FLOAT), quantize_by_range, 0},
};
const struct nnv_ox_rows nnv_ox_quant = {rows, sizeof rows / sizeof *rows};
