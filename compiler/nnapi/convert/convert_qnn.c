/* SPDX-License-Identifier: Apache-2.0 */
/* Quantisation, and elementwise operators on quantised tensors. */
#include "compiler/nnapi/convert/convert_in.h"

/* Scale and zero point of a byte tensor were found before; a list of them has no NNAPI form here. */
static void need_one(struct nnv_rc *c, uint32_t value, const char *what) {
    if (nnv_rc_is_byte(c, value) && !nnv_rc_quant(c, value).known)
        nnv_rc_refuse(c, "%s has a scale for each channel; NNAPI has those for weights alone", what);
    if (!nnv_rc_is_byte(c, value))
        nnv_rc_refuse(c, "%s is of %s; only int8 and uint8", what, nnv_relay_dtype_name(nnv_rc_type(c, value)->dtype));
}

static void quantize(struct nnv_rc *c) {
    need_one(c, nnv_rc_out(c, 0), "the result");
    NNV_RC_EMIT(c, ANEURALNETWORKS_QUANTIZE, nnv_rc_result(c, 0), nnv_rc_in(c, 0));
}

/* Constants are dequantised now, with a scale for each channel, too. */
static void dequantize_const(struct nnv_rc *c) {
    uint32_t x = nnv_rc_arg(c, 0);
    struct nnv_rc_shape shape = nnv_rc_shape(c, x), scales = nnv_rc_shape(c, nnv_rc_arg(c, 1)),
                        zeros = nnv_rc_shape(c, nnv_rc_arg(c, 2));
    size_t n = nnv_rc_elems(&shape), ns = nnv_rc_elems(&scales), nz = nnv_rc_elems(&zeros), inner = 1;
    uint32_t axis = ns > 1 || nz > 1 ? nnv_rc_axis(c, nnv_rc_int_attr(c, "axis", -1), shape.rank) : 0;
    for (uint32_t i = axis + 1; i < shape.rank; i++) inner *= shape.dims[i];
    const double *q = nnv_rc_numbers(c, x, "the operand"), *scale = nnv_rc_numbers(c, nnv_rc_arg(c, 1), "the scale"),
                 *zero = nnv_rc_numbers(c, nnv_rc_arg(c, 2), "the zero point");
    if (nnv_rc_ok(c) && ((ns > 1 && ns != shape.dims[axis]) || (nz > 1 && nz != shape.dims[axis])))
        nnv_rc_refuse(c, "%zu scales and %zu zero points for %u places", ns, nz, shape.dims[axis]);
    double *v = nnv_rc_ok(c) ? NNV_NEW(c->scratch, double, n) : NULL;
    for (size_t i = 0; v && i < n; i++) {
        size_t at = i / inner % shape.dims[axis];
        v[i] = (q[i] - zero[nz > 1 ? at : 0]) * scale[ns > 1 ? at : 0];
    }
    if (v) nnv_rc_is(c, 0, nnv_rc_const(c, nnv_rc_encoding(c, nnv_rc_out(c, 0)), &shape, v));
}

static void dequantize(struct nnv_rc *c) {
    if (nnv_rc_is_const(c, nnv_rc_arg(c, 0))) {
        dequantize_const(c);
        return;
    }
    need_one(c, nnv_rc_arg(c, 0), "the operand");
    NNV_RC_EMIT(c, ANEURALNETWORKS_DEQUANTIZE, nnv_rc_result(c, 0), nnv_rc_in(c, 0));
}

/* Bytes of another scale: through real numbers. */
static void requantize(struct nnv_rc *c) {
    uint32_t x = nnv_rc_arg(c, 0), y = nnv_rc_out(c, 0);
    struct nnv_rc_shape shape = nnv_rc_shape(c, x);
    if (nnv_rc_type(c, x)->dtype == NNV_RELAY_INT32)
        nnv_rc_refuse(c, "of int32 sums converts only together with the qnn.conv2d or qnn.dense that gives them");
    need_one(c, x, "the operand");
    need_one(c, y, "the result");
    if (!nnv_rc_ok(c)) return;
    struct nnv_encoding from = nnv_rc_encoding(c, x), to = nnv_rc_encoding(c, y);
    if (from.type == to.type && from.scale == to.scale && from.zero_point == to.zero_point) {
        nnv_rc_is(c, 0, nnv_rc_in(c, 0));
        return;
    }
    uint32_t real = nnv_rc_temp(c, NNV_RC_F32_TENSOR, &shape);
    NNV_RC_EMIT(c, ANEURALNETWORKS_DEQUANTIZE, real, nnv_rc_in(c, 0));
    NNV_RC_EMIT(c, ANEURALNETWORKS_QUANTIZE, nnv_rc_result(c, 0), real);
}

static void qnn_binary(struct nnv_rc *c) {
    for (size_t i = 0; i < 2; i++) need_one(c, nnv_rc_arg(c, i), i ? "operand 1" : "operand 0");
    need_one(c, nnv_rc_out(c, 0), "the result");
    NNV_RC_EMIT(c, c->node->row->code, nnv_rc_result(c, 0), nnv_rc_in(c, 0), nnv_rc_in(c, 1), nnv_rc_int(c, 0));
}

/* NNAPI has some for bytes, if the result's scale is the one that it demands; else through real numbers. */
static void function(struct nnv_rc *c) {
    int32_t code = c->node->row->code;
    bool bytes = code == ANEURALNETWORKS_LOGISTIC || code == ANEURALNETWORKS_TANH;
    struct nnv_rc_shape shape = nnv_rc_shape(c, nnv_rc_arg(c, 0));
    need_one(c, nnv_rc_arg(c, 0), "the operand");
    need_one(c, nnv_rc_out(c, 0), "the result");
    struct nnv_rc_mark mark = nnv_rc_mark(c);
    if (!nnv_rc_ok(c)) return;
    if (bytes) {
        NNV_RC_EMIT(c, code, nnv_rc_result(c, 0), nnv_rc_in(c, 0));
        if (nnv_rc_ok(c)) return;
        nnv_rc_back(c, mark);
    }
    uint32_t x = nnv_rc_temp(c, NNV_RC_F32_TENSOR, &shape), y = nnv_rc_temp(c, NNV_RC_F32_TENSOR, &shape);
    NNV_RC_EMIT(c, ANEURALNETWORKS_DEQUANTIZE, x, nnv_rc_in(c, 0));
    NNV_RC_EMIT(c, code, y, x);
    NNV_RC_EMIT(c, ANEURALNETWORKS_QUANTIZE, nnv_rc_result(c, 0), y);
}

#define OP(name) ANEURALNETWORKS_##name
static const struct nnv_rc_row rows[] = {
    {"qnn.quantize", quantize, -1, NNV_RC_FLOAT, 0, 3, "QUANTIZE"},
    {"qnn.dequantize", dequantize, -1, NNV_RC_BYTE, 0, 1, "DEQUANTIZE"},
    {"qnn.requantize", requantize, -1, NNV_RC_BYTE | NNV_RC_I32, 0, 3, "DEQUANTIZE, QUANTIZE"},
    {"qnn.sigmoid", function, OP(LOGISTIC), NNV_RC_BYTE, 0, 1, "LOGISTIC, DEQUANTIZE, QUANTIZE"},
    {"qnn.tanh", function, OP(TANH), NNV_RC_BYTE, 0, 3, "TANH, DEQUANTIZE, QUANTIZE"},
    {"qnn.exp", function, OP(EXP), NNV_RC_BYTE, 0, 3, "DEQUANTIZE, EXP, QUANTIZE"},
    {"qnn.log", function, OP(LOG), NNV_RC_BYTE, 0, 3, "DEQUANTIZE, LOG, QUANTIZE"},
    {"qnn.sqrt", function, OP(SQRT), NNV_RC_BYTE, 0, 3, "DEQUANTIZE, SQRT, QUANTIZE"},
    {"qnn.rsqrt", function, OP(RSQRT), NNV_RC_BYTE, 0, 3, "DEQUANTIZE, RSQRT, QUANTIZE"},
    {"qnn.abs", function, OP(ABS), NNV_RC_BYTE, 0, 3, "DEQUANTIZE, ABS, QUANTIZE"},
    {"qnn.add", qnn_binary, OP(ADD), NNV_RC_BYTE, 0, 1, "ADD"},
    {"qnn.subtract", qnn_binary, OP(SUB), NNV_RC_BYTE, 0, 3, "SUB"},
    {"qnn.mul", qnn_binary, OP(MUL), NNV_RC_BYTE, 0, 1, "MUL"},
};
const struct nnv_rc_rows nnv_rc_qnn = {rows, sizeof rows / sizeof *rows};
