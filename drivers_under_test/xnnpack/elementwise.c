/* SPDX-License-Identifier: Apache-2.0 */
/** @file elementwise.c Operations on one element, or two, and softmax. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "plan.h"

/* ------------------------------------------------------------------------- one operand */

XP_SETUP_NC(abs_nc_f32, float, float)
XP_SETUP_NC(floor_nc_f32, float, float)
XP_SETUP_NC(hardswish_nc_f32, float, float)
XP_SETUP_NC(negate_nc_f32, float, float)
XP_SETUP_NC(sigmoid_nc_f32, float, float)
XP_SETUP_NC(square_root_nc_f32, float, float)
XP_SETUP_NC(sigmoid_nc_qu8, uint8_t, uint8_t)
XP_SETUP_NC(sigmoid_nc_qs8, int8_t, int8_t)
XP_SETUP_NC(tanh_nc_qu8, uint8_t, uint8_t)
XP_SETUP_NC(tanh_nc_qs8, int8_t, int8_t)
XP_SETUP_NC(clamp_nc_f32, float, float)
XP_SETUP_NC(clamp_nc_u8, uint8_t, uint8_t)
XP_SETUP_NC(clamp_nc_s8, int8_t, int8_t)
XP_SETUP_NC(elu_nc_f32, float, float)
XP_SETUP_NC(prelu_nc_f32, float, float)
XP_SETUP_NC(softmax_nc_f32, float, float)
XP_SETUP_NC(softmax_nc_qu8, uint8_t, uint8_t)
XP_SETUP_NC(convert_nc_f32_qu8, float, uint8_t)
XP_SETUP_NC(convert_nc_f32_qs8, float, int8_t)
XP_SETUP_NC(convert_nc_qu8_f32, uint8_t, float)
XP_SETUP_NC(convert_nc_qs8_f32, int8_t, float)

typedef enum xnn_status (*create_plain)(size_t channels, size_t input_stride, size_t output_stride, uint32_t flags,
                                        xnn_operator_t *out);

static const struct {
    int32_t code;
    create_plain create;
    xp_setup setup;
} plain[] = {
    {ANEURALNETWORKS_ABS, xnn_create_abs_nc_f32, setup_abs_nc_f32},
    {ANEURALNETWORKS_FLOOR, xnn_create_floor_nc_f32, setup_floor_nc_f32},
    {ANEURALNETWORKS_HARD_SWISH, xnn_create_hardswish_nc_f32, setup_hardswish_nc_f32},
    {ANEURALNETWORKS_LOGISTIC, xnn_create_sigmoid_nc_f32, setup_sigmoid_nc_f32},
    {ANEURALNETWORKS_NEG, xnn_create_negate_nc_f32, setup_negate_nc_f32},
    {ANEURALNETWORKS_SQRT, xnn_create_square_root_nc_f32, setup_square_root_nc_f32},
};

static bool unary_f32(struct xp_build *b) {
    struct xp_step *s = xp_add(b, NULL);
    s->batch = engine_in(&b->op, 0)->count;
    for (size_t i = 0; i < sizeof plain / sizeof *plain; i++) {
        if (plain[i].code != b->op.node->code) continue;
        s->setup = plain[i].setup;
        return plain[i].create(1, 1, 1, 0, &s->op) == xnn_status_success;
    }
    return false;
}

#define QUANT(KIND, X, Y) (KIND)(X)->zero_point, (X)->scale, (KIND)(Y)->zero_point, (Y)->scale

/** LOGISTIC and TANH of quantised values: tables. */
static bool unary_quant(struct xp_build *b) {
    const struct engine_tensor *x = engine_in(&b->op, 0), *y = engine_out(&b->op, 0);
    const bool tanh = b->op.node->code == ANEURALNETWORKS_TANH, is_signed = xp_kind_of(x) == XP_QS8;
    if (!tanh && b->op.node->code != ANEURALNETWORKS_LOGISTIC) return false;
    struct xp_step *s = xp_add(b, NULL);
    s->batch = x->count;
    enum xnn_status st;
    if (is_signed) {
        s->setup = tanh ? setup_tanh_nc_qs8 : setup_sigmoid_nc_qs8;
        st = (tanh ? xnn_create_tanh_nc_qs8 : xnn_create_sigmoid_nc_qs8)(1, 1, 1, QUANT(int8_t, x, y), INT8_MIN,
                                                                         INT8_MAX, 0, &s->op);
    } else {
        s->setup = tanh ? setup_tanh_nc_qu8 : setup_sigmoid_nc_qu8;
        st = (tanh ? xnn_create_tanh_nc_qu8 : xnn_create_sigmoid_nc_qu8)(1, 1, 1, QUANT(uint8_t, x, y), 0, UINT8_MAX, 0,
                                                                         &s->op);
    }
    return st == xnn_status_success;
}

bool xp_unary(struct xp_build *b) {
    const enum xp_kind kind = xp_kind_of(engine_in(&b->op, 0));
    return kind == XP_F32 ? unary_f32(b) : kind != XP_OTHER && unary_quant(b);
}

bool xp_relu(struct xp_build *b) {
    const struct engine_tensor *x = engine_in(&b->op, 0), *y = engine_out(&b->op, 0);
    const int32_t code = b->op.node->code;
    const struct xp_range r = xp_activation(code == ANEURALNETWORKS_RELU    ? ANEURALNETWORKS_FUSED_RELU
                                            : code == ANEURALNETWORKS_RELU1 ? ANEURALNETWORKS_FUSED_RELU1
                                                                            : ANEURALNETWORKS_FUSED_RELU6,
                                            y);
    struct xp_step *s = xp_add(b, NULL);
    s->batch = x->count;
    if (xp_kind_of(x) != XP_F32 && !engine_same_quant(x, y)) return false;
    switch (xp_kind_of(x)) {
    case XP_F32:
        return XP_MAKE(s, clamp_nc_f32, 1, 1, 1, r.lo, r.hi, 0);
    case XP_QU8:
        return XP_MAKE(s, clamp_nc_u8, 1, 1, 1, (uint8_t)r.qlo, (uint8_t)r.qhi, 0);
    case XP_QS8:
        return XP_MAKE(s, clamp_nc_s8, 1, 1, 1, (int8_t)r.qlo, (int8_t)r.qhi, 0);
    case XP_OTHER:
        break;
    }
    return false;
}

bool xp_elu(struct xp_build *b) {
    struct xp_step *s = xp_add(b, setup_elu_nc_f32);
    s->batch = engine_in(&b->op, 0)->count;
    return engine_constant(&b->op, 1, 1) && xp_kind_of(engine_in(&b->op, 0)) == XP_F32 &&
           XP_MAKE(s, elu_nc_f32, 1, 1, 1, engine_float(&b->op, 1, 1), 0);
}

/** Slopes along the last dimension, or one for all. */
bool xp_prelu(struct xp_build *b) {
    const struct engine_tensor *x = engine_in(&b->op, 0), *slope = engine_in(&b->op, 1);
    if (!engine_constant(&b->op, 1, 1) || xp_kind_of(x) != XP_F32 || x->count != engine_out(&b->op, 0)->count)
        return false;
    const size_t c = x->dims[x->rank - 1];
    if (slope->count != 1 && (slope->count != c || slope->dims[slope->rank - 1] != c)) return false;
    float *slopes = calloc(c, sizeof *slopes);
    if (!slopes) return false;
    for (size_t i = 0; i < c; i++) slopes[i] = ((const float *)slope->value)[slope->count == 1 ? 0 : i];
    struct xp_step *s = xp_add(b, setup_prelu_nc_f32);
    s->batch = x->count / c;
    const enum xnn_status st = xnn_create_prelu_nc_f32(c, c, c, slopes, 0, &s->op); /* it copies the slopes */
    free(slopes);
    return st == xnn_status_success;
}

bool xp_quantize(struct xp_build *b) {
    const struct engine_tensor *x = engine_in(&b->op, 0), *y = engine_out(&b->op, 0);
    struct xp_step *s = xp_add(b, NULL);
    s->batch = x->count;
    if (xp_kind_of(x) != XP_F32) return false;
    if (xp_kind_of(y) == XP_QU8)
        return XP_MAKE(s, convert_nc_f32_qu8, 1, 1, 1, y->scale, (uint8_t)y->zero_point, 0, UINT8_MAX, 0);
    return xp_kind_of(y) == XP_QS8 &&
           XP_MAKE(s, convert_nc_f32_qs8, 1, 1, 1, y->scale, (int8_t)y->zero_point, INT8_MIN, INT8_MAX, 0);
}

bool xp_dequantize(struct xp_build *b) {
    const struct engine_tensor *x = engine_in(&b->op, 0);
    struct xp_step *s = xp_add(b, NULL);
    s->batch = x->count;
    if (xp_kind_of(engine_out(&b->op, 0)) != XP_F32) return false;
    if (xp_kind_of(x) == XP_QU8) return XP_MAKE(s, convert_nc_qu8_f32, 1, 1, 1, x->scale, (uint8_t)x->zero_point, 0);
    return xp_kind_of(x) == XP_QS8 && XP_MAKE(s, convert_nc_qs8_f32, 1, 1, 1, x->scale, (int8_t)x->zero_point, 0);
}

/* ------------------------------------------------------------------------ two operands */

#define SETUP_ND(NAME, TYPE)                                                                                           \
    static enum xnn_status setup_##NAME(const struct xp_step *s, const void *a, const void *b, void *y,                \
                                        pthreadpool_t threads) {                                                       \
        return xnn_setup_##NAME(s->op, s->a_rank, s->a_dims, s->b_rank, s->b_dims, (const TYPE *)a, (const TYPE *)b,   \
                                (TYPE *)y, threads);                                                                   \
    }
SETUP_ND(add_nd_f32, float)
SETUP_ND(divide_nd_f32, float)
SETUP_ND(maximum_nd_f32, float)
SETUP_ND(minimum_nd_f32, float)
SETUP_ND(multiply_nd_f32, float)
SETUP_ND(subtract_nd_f32, float)
SETUP_ND(add_nd_qu8, uint8_t)
SETUP_ND(multiply_nd_qu8, uint8_t)
SETUP_ND(subtract_nd_qu8, uint8_t)
SETUP_ND(add_nd_qs8, int8_t)
SETUP_ND(multiply_nd_qs8, int8_t)
SETUP_ND(subtract_nd_qs8, int8_t)

static void nd_sizes(struct xp_build *b, struct xp_step *s) {
    const struct engine_tensor *x = engine_in(&b->op, 0), *z = engine_in(&b->op, 1);
    s->b = b->op.node->in[1];
    s->a_rank = x->rank;
    s->b_rank = z->rank;
    for (uint32_t i = 0; i < x->rank; i++) s->a_dims[i] = x->dims[i];
    for (uint32_t i = 0; i < z->rank; i++) s->b_dims[i] = z->dims[i];
}

static bool binary_f32(int32_t code, const struct xp_range *r, struct xp_step *s) {
    switch (code) {
    case ANEURALNETWORKS_ADD:
        return XP_MAKE(s, add_nd_f32, r->lo, r->hi, 0);
    case ANEURALNETWORKS_SUB:
        return XP_MAKE(s, subtract_nd_f32, r->lo, r->hi, 0);
    case ANEURALNETWORKS_MUL:
        return XP_MAKE(s, multiply_nd_f32, r->lo, r->hi, 0);
    case ANEURALNETWORKS_DIV:
        return XP_MAKE(s, divide_nd_f32, r->lo, r->hi, 0);
    case ANEURALNETWORKS_MAXIMUM:
        return XP_MAKE(s, maximum_nd_f32, 0);
    case ANEURALNETWORKS_MINIMUM:
        return XP_MAKE(s, minimum_nd_f32, 0);
    default:
        return false;
    }
}

#define QUANT3(KIND, X, Z, Y, R)                                                                                       \
    (KIND)(X)->zero_point, (X)->scale, (KIND)(Z)->zero_point, (Z)->scale, (KIND)(Y)->zero_point, (Y)->scale,           \
        (KIND)(R)->qlo, (KIND)(R)->qhi, 0

#define BINARY_QUANT(Q, KIND)                                                                                          \
    static bool binary_##Q(struct xp_build *b, const struct xp_range *r, struct xp_step *s) {                          \
        const struct engine_tensor *x = engine_in(&b->op, 0), *z = engine_in(&b->op, 1), *y = engine_out(&b->op, 0);   \
        switch (b->op.node->code) {                                                                                    \
        case ANEURALNETWORKS_ADD:                                                                                      \
            return XP_MAKE(s, add_nd_##Q, QUANT3(KIND, x, z, y, r));                                                   \
        case ANEURALNETWORKS_SUB:                                                                                      \
            return XP_MAKE(s, subtract_nd_##Q, QUANT3(KIND, x, z, y, r));                                              \
        case ANEURALNETWORKS_MUL:                                                                                      \
            return XP_MAKE(s, multiply_nd_##Q, QUANT3(KIND, x, z, y, r));                                              \
        default:                                                                                                       \
            return false;                                                                                              \
        }                                                                                                              \
    }
BINARY_QUANT(qu8, uint8_t)
BINARY_QUANT(qs8, int8_t)

bool xp_binary(struct xp_build *b) {
    enum { X, Z, ACTIVATION };
    const struct engine_tensor *x = engine_in(&b->op, X), *y = engine_out(&b->op, 0);
    if (!engine_constant(&b->op, ACTIVATION, ACTIVATION)) return false;
    if (x->rank > XNN_MAX_TENSOR_DIMS || engine_in(&b->op, Z)->rank > XNN_MAX_TENSOR_DIMS) return false;
    const struct xp_range r = xp_activation(engine_int(&b->op, ACTIVATION, 0), y);
    struct xp_step *s = xp_add(b, NULL);
    nd_sizes(b, s);
    switch (xp_kind_of(x)) {
    case XP_F32:
        return binary_f32(b->op.node->code, &r, s);
    case XP_QU8:
        return binary_qu8(b, &r, s);
    case XP_QS8:
        return binary_qs8(b, &r, s);
    case XP_OTHER:
        break;
    }
    return false;
}

/* ----------------------------------------------------------------------------- softmax */

static bool softmax_qu8(struct xp_build *b, size_t c, float beta) {
    const struct engine_tensor *x = engine_in(&b->op, 0), *y = engine_out(&b->op, 0);
    struct xp_step *s = xp_add(b, setup_softmax_nc_qu8);
    s->batch = x->count / c;
    return XP_MAKE(s, softmax_nc_qu8, c, c, c, x->scale * beta, (uint8_t)y->zero_point, y->scale, 0);
}

/** Of signed values there is no softmax: real numbers in between. beta goes with the scale. */
static bool softmax_qs8(struct xp_build *b, size_t c, float beta) {
    const struct engine_tensor *x = engine_in(&b->op, 0), *y = engine_out(&b->op, 0);
    if (!xp_scratch(b, x->count * sizeof(float))) return false;
    struct xp_step *in = xp_add(b, setup_convert_nc_qs8_f32);
    in->batch = x->count;
    in->y = XP_SCRATCH;
    struct xp_step *real = xp_add(b, setup_softmax_nc_f32);
    real->batch = x->count / c;
    real->a = real->y = XP_SCRATCH;
    struct xp_step *out = xp_add(b, setup_convert_nc_f32_qs8);
    out->batch = x->count;
    out->a = XP_SCRATCH;
    return XP_MAKE(in, convert_nc_qs8_f32, 1, 1, 1, x->scale * beta, (int8_t)x->zero_point, 0) &&
           XP_MAKE(real, softmax_nc_f32, c, c, c, 0) &&
           XP_MAKE(out, convert_nc_f32_qs8, 1, 1, 1, y->scale, (int8_t)y->zero_point, INT8_MIN, INT8_MAX, 0);
}

/**
 * XNNPACK has no beta: the input is multiplied with it before. That is only right where the products are not rounded,
 * since the largest of them is taken off afterwards: for powers of two.
 */
static bool softmax_f32(struct xp_build *b, size_t c, float beta) {
    const struct engine_tensor *x = engine_in(&b->op, 0);
    int exponent;
    if (frexpf(beta, &exponent) != 0.5f) return false;
    if (beta != 1) {
        struct xp_step *scaled = xp_add(b, setup_multiply_nd_f32);
        scaled->b = b->op.node->in[1];
        scaled->a_rank = scaled->b_rank = scaled->b_dims[0] = 1;
        scaled->a_dims[0] = x->count;
        if (!XP_MAKE(scaled, multiply_nd_f32, -INFINITY, INFINITY, 0)) return false;
    }
    struct xp_step *s = xp_add(b, setup_softmax_nc_f32);
    s->batch = x->count / c;
    if (beta != 1) s->a = s->y;
    return XP_MAKE(s, softmax_nc_f32, c, c, c, 0);
}

/** Along the last dimension. */
bool xp_softmax(struct xp_build *b) {
    enum { X, BETA, AXIS };
    const struct engine_tensor *x = engine_in(&b->op, X);
    if (!engine_constant(&b->op, BETA, AXIS) || engine_in(&b->op, BETA)->type != ANEURALNETWORKS_FLOAT32) return false;
    if (engine_axis(engine_int(&b->op, AXIS, -1), x->rank) != x->rank - 1) return false;
    const float beta = engine_float(&b->op, BETA, 1);
    const size_t c = x->dims[x->rank - 1];
    switch (xp_kind_of(x)) {
    case XP_F32:
        return softmax_f32(b, c, beta);
    case XP_QU8:
        return softmax_qu8(b, c, beta);
    case XP_QS8:
        return softmax_qs8(b, c, beta);
    case XP_OTHER:
        break;
    }
    return false;
}
