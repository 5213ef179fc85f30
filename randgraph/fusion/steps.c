/* SPDX-License-Identifier: Apache-2.0 */
/** @file steps.c The steps of chains: a row each, and those that are one operation on any tensor. */
#include "randgraph/fusion/chain.h"

#include <string.h>

/* What the other operand of a sum, product or quotient is. */
enum other {
    SCALAR,
    CHANNEL,
    TENSOR,
    VALUE,
    REVERSED, /* a constant per channel, as the first operand */
    STORED,   /* a constant as large as the value, in 8 bits */
};
#define ARITH(code, other) ANEURALNETWORKS_##code * 8 + other

static uint32_t other_operand(struct nnv_chain *c, enum other kind, double lo, double hi) {
    const struct nnv_operand *x = nnv_chain_operand(c, c->at);
    uint32_t ones[NNV_MAX_RANK];
    for (uint32_t i = 0; i < x->rank; i++) ones[i] = 1;
    const bool whole = nnv_chain_chance(c, 0.3) && x->rank > 0; /* as many extents as the value has */
    const uint32_t rank = whole ? x->rank : 1;
    switch (kind) {
    case SCALAR:
        ones[0] = 1;
        return nnv_chain_constant(c, rank, ones, lo, hi);
    case CHANNEL:
    case REVERSED:
        ones[rank - 1] = nnv_chain_extent(c, c->at, -1);
        return nnv_chain_constant(c, rank, ones, lo, hi);
    case TENSOR:
        return nnv_chain_constant(c, x->rank, x->dims, lo, hi);
    case VALUE:
        return nnv_chain_input(c, x->type, x->rank, x->dims, lo, hi);
    case STORED:
        return nnv_chain_stored(c, x->rank, x->dims, hi);
    }
    return 0;
}

static void arithmetic(struct nnv_chain *c, int arg) {
    const int32_t code = arg / 8;
    const enum other kind = (enum other)(arg % 8);
    const bool factor = code == ANEURALNETWORKS_MUL || code == ANEURALNETWORKS_DIV;
    const bool extreme = code == ANEURALNETWORKS_MAXIMUM || code == ANEURALNETWORKS_MINIMUM;
    const bool commutes = code == ANEURALNETWORKS_ADD || code == ANEURALNETWORKS_MUL || extreme;
    const bool first = kind == REVERSED || (commutes && nnv_chain_chance(c, 0.25));
    /* a quotient of small numbers says nothing */
    if (code == ANEURALNETWORKS_DIV && kind == REVERSED) {
        c->at = NNV_CHAIN_ADD(c, ABS, c->at);
        c->at = NNV_CHAIN_ADD(c, ADD, c->at, nnv_chain_constant(c, 1, (uint32_t[]){1}, 0.5, 0.75),
                              nnv_chain_i32(c, ANEURALNETWORKS_FUSED_NONE));
    }
    if (c->failed) return;
    const uint32_t y = other_operand(c, kind, factor ? 0.5 : -1.5, 1.9), x = c->at;
    const uint32_t in[] = {first ? y : x, first ? x : y, extreme ? 0 : nnv_chain_activation(c)};
    c->at = nnv_chain_operation(c, code, extreme ? 2 : 3, in, nnv_chain_operand(c, x)->type, 1);
}

static void unary(struct nnv_chain *c, int code) { c->at = nnv_chain_add(c, code, 1, &c->at); }

static void prelu(struct nnv_chain *c, int arg) {
    (void)arg;
    c->at = NNV_CHAIN_ADD(c, PRELU, c->at, other_operand(c, CHANNEL, 0.1, 0.9));
}

/* ---------------------------------------------------------------------------- moves */

/* The list [rank, 2] of so many cells before and behind each extent. */
static uint32_t padding_list(struct nnv_chain *c, uint32_t rank, const int32_t *v) {
    const uint32_t operand = nnv_chain_ints(c, 2 * rank, v);
    if (c->failed || c->pass > 0) return operand;
    struct nnv_operand *o = &c->b.operand[operand];
    o->rank = 2;
    o->dims = nnv_arena_copy(c->arena, (uint32_t[]){rank, 2}, 2 * sizeof *o->dims);
    if (!o->dims) nnv_chain_fail(c);
    return operand;
}

/* How many cells are added before and behind each extent. */
static uint32_t paddings(struct nnv_chain *c, bool mirrored) {
    const uint32_t rank = nnv_chain_operand(c, c->at)->rank;
    int32_t v[2 * NNV_MAX_RANK] = {0};
    for (uint32_t i = 0; i < rank; i++) {
        const bool image = rank == 4 ? i == 1 || i == 2 : i + 1 == rank;
        if (!image && (mirrored || !nnv_chain_chance(c, 0.1))) continue;
        v[2 * i] = nnv_chain_int(c, 0, 2);
        v[2 * i + 1] = nnv_chain_int(c, v[2 * i] == 0, 2);
    }
    return padding_list(c, rank, v);
}

static void pad(struct nnv_chain *c, int code) {
    const uint32_t x = c->at, p = paddings(c, code == ANEURALNETWORKS_MIRROR_PAD);
    if (c->failed) return;
    const int32_t type = nnv_chain_operand(c, x)->type;
    uint32_t last = 0;
    if (code == ANEURALNETWORKS_MIRROR_PAD) last = nnv_chain_i32(c, nnv_chain_int(c, 0, 1));
    if (code == ANEURALNETWORKS_PAD_V2)
        last = nnv_is_quant(type)
                   ? nnv_chain_i32(c, nnv_chain_operand(c, x)->zero_point + nnv_chain_int(c, -9, -1) * 3)
                   : nnv_chain_scalar(
                         c, type == ANEURALNETWORKS_TENSOR_FLOAT16 ? ANEURALNETWORKS_FLOAT16 : ANEURALNETWORKS_FLOAT32,
                         nnv_chain_int(c, 1, 8) / 4.0);
    c->at = nnv_chain_add(c, code, code == ANEURALNETWORKS_PAD ? 2 : 3, (uint32_t[]){x, p, last});
}

/* The last two extents change places, or those of an image do. */
static void transpose(struct nnv_chain *c, int arg) {
    static const int32_t orders[][4] = {{0, 2, 1, 3}, {0, 3, 1, 2}, {0, 2, 3, 1}};
    const uint32_t rank = nnv_chain_operand(c, c->at)->rank;
    int32_t order[NNV_MAX_RANK];
    for (uint32_t i = 0; i < rank; i++) order[i] = rank == 4 ? orders[arg][i] : (int32_t)i;
    if (rank >= 2 && rank != 4) order[rank - 1] = (int32_t)rank - 2, order[rank - 2] = (int32_t)rank - 1;
    c->at = NNV_CHAIN_ADD(c, TRANSPOSE, c->at, nnv_chain_ints(c, rank, order));
}

/* An image to lines of pixels, or to two extents; two extents to an image of one pixel, lines to an image. */
static void reshape(struct nnv_chain *c, int arg) {
    const struct nnv_operand *o = nnv_chain_operand(c, c->at);
    const int32_t n = (int32_t)nnv_chain_extent(c, c->at, 0), ch = (int32_t)nnv_chain_extent(c, c->at, -1);
    int32_t to[4] = {n, 1, 1, ch};
    uint32_t rank = 4;
    if (arg == 1 && o->rank == 4) { /* another image */
        to[1] = (int32_t)o->dims[2];
        to[2] = (int32_t)o->dims[1];
    } else if (o->rank == 4) {
        rank = 2, to[1] = -1;
    } else if (o->rank == 3) {
        to[2] = (int32_t)o->dims[1];
    }
    c->at = NNV_CHAIN_ADD(c, RESHAPE, c->at, nnv_chain_ints(c, rank, to));
}

/* With another value, or with itself, along the last axis or another. */
static void concat(struct nnv_chain *c, int arg) {
    const struct nnv_operand *o = nnv_chain_operand(c, c->at);
    const int axis = nnv_chain_chance(c, 0.6) ? (int)o->rank - 1 : nnv_chain_int(c, 0, (int)o->rank - 1);
    const uint32_t x = c->at, y = arg == VALUE ? nnv_chain_input(c, o->type, o->rank, o->dims, -2.5, 2.5) : x;
    const bool behind = nnv_chain_chance(c, 0.5);
    c->at = NNV_CHAIN_ADD(c, CONCATENATION, behind ? y : x, behind ? x : y, nnv_chain_i32(c, axis));
}

/* A move that leaves everything where it is. */
static void stay(struct nnv_chain *c, int code) {
    const uint32_t x = c->at, rank = nnv_chain_operand(c, x)->rank;
    const int32_t none[2 * NNV_MAX_RANK] = {0};
    int32_t order[NNV_MAX_RANK], extents[NNV_MAX_RANK];
    for (uint32_t i = 0; i < rank; i++) {
        order[i] = (int32_t)i;
        extents[i] = (int32_t)nnv_chain_extent(c, x, (int)i);
    }
    uint32_t in[3] = {x}, nin = 2;
    if (code == ANEURALNETWORKS_PAD) in[1] = padding_list(c, rank, none);
    if (code == ANEURALNETWORKS_TRANSPOSE) in[1] = nnv_chain_ints(c, rank, order);
    if (code == ANEURALNETWORKS_RESHAPE) in[1] = nnv_chain_ints(c, rank, extents);
    if (code == ANEURALNETWORKS_SLICE) {
        in[1] = nnv_chain_ints(c, rank, none);
        in[2] = nnv_chain_ints(c, rank, extents);
        nin = 3;
    }
    c->at = nnv_chain_add(c, code, nin, in);
}

/* An extent of 1 more, and one less: what is shown, not moved, where the value lies in memory that others want. */
static void views(struct nnv_chain *c, int arg) {
    enum { MOST = 4 }; /* SQUEEZE takes no more */
    (void)arg;
    if (nnv_chain_operand(c, c->at)->rank >= MOST) {
        const int32_t to[] = {-1, (int32_t)nnv_chain_extent(c, c->at, -2), (int32_t)nnv_chain_extent(c, c->at, -1)};
        c->at = NNV_CHAIN_ADD(c, RESHAPE, c->at, nnv_chain_ints(c, 3, to));
    }
    const int32_t axis = nnv_chain_int(c, 0, (int)nnv_chain_operand(c, c->at)->rank);
    const uint32_t more = NNV_CHAIN_ADD(c, EXPAND_DIMS, c->at, nnv_chain_i32(c, axis));
    c->at = NNV_CHAIN_ADD(c, SQUEEZE, more, nnv_chain_ints(c, 1, &axis));
}

/* Appends SPLIT into halves, or of odd extents into single places; the first of *parts parts along *axis. */
static uint32_t add_split(struct nnv_chain *c, uint32_t *axis, uint32_t *parts) {
    const struct nnv_operand *o = nnv_chain_operand(c, c->at);
    *axis = o->rank - 1;
    while (*axis > 0 && o->dims[*axis] % 2 == 1) --*axis;
    *parts = o->dims[*axis] % 2 == 0 ? 2 : o->dims[*axis];
    const int32_t type = o->type;
    const uint32_t in[] = {c->at, nnv_chain_i32(c, (int)*axis), nnv_chain_i32(c, (int)*parts)};
    return nnv_chain_operation(c, ANEURALNETWORKS_SPLIT, 3, in, type, *parts);
}

/* All parts are joined again, in their order or from the last to the first. */
static void split_join(struct nnv_chain *c, int arg) {
    uint32_t axis, parts, in[NNV_CHAIN_IO];
    (void)arg;
    const bool turned = nnv_chain_chance(c, 0.7);
    const uint32_t first = add_split(c, &axis, &parts);
    if (c->failed || parts + 1 > NNV_CHAIN_IO) {
        nnv_chain_fail(c);
        return;
    }
    for (uint32_t i = 0; i < parts; i++) in[i] = first + (turned ? parts - 1 - i : i);
    in[parts] = nnv_chain_i32(c, (int)axis);
    c->at = nnv_chain_add(c, ANEURALNETWORKS_CONCATENATION, parts + 1, in);
}

/* The chain goes on from one part; the others are outputs of the model, or nobody reads them. */
static void split(struct nnv_chain *c, int arg) {
    uint32_t axis, parts;
    (void)arg;
    const uint32_t first = add_split(c, &axis, &parts);
    const uint32_t go_on = first + (uint32_t)nnv_chain_int(c, 0, (int)parts - 1);
    const bool outputs = nnv_chain_chance(c, 0.6);
    for (uint32_t i = 0; outputs && i < parts && !c->failed && c->nout < NNV_CHAIN_IO; i++)
        if (first + i != go_on) c->out[c->nout++] = first + i;
    c->at = go_on;
}

static void slice(struct nnv_chain *c, int arg) {
    const struct nnv_operand *o = nnv_chain_operand(c, c->at);
    const uint32_t x = c->at, rank = o->rank;
    int32_t from[NNV_MAX_RANK] = {0}, to[NNV_MAX_RANK], step[NNV_MAX_RANK];
    for (uint32_t i = 0; i < rank; i++) {
        const int32_t n = (int32_t)o->dims[i];
        const bool cut = n > 3 && (i > 0 || rank < 3);
        from[i] = cut ? nnv_chain_int(c, 0, 1) : 0;
        to[i] = n - (cut ? nnv_chain_int(c, from[i] == 0, 1) : 0);
        step[i] = cut && nnv_chain_chance(c, 0.3) ? 2 : 1;
    }
    const uint32_t begin = nnv_chain_ints(c, rank, from);
    if (arg == ANEURALNETWORKS_SLICE) {
        for (uint32_t i = 0; i < rank; i++) to[i] -= from[i];
        c->at = NNV_CHAIN_ADD(c, SLICE, x, begin, nnv_chain_ints(c, rank, to));
        return;
    }
    const uint32_t end = nnv_chain_ints(c, rank, to), steps = nnv_chain_ints(c, rank, step);
    const uint32_t a = nnv_chain_i32(c, 0), b = nnv_chain_i32(c, 0), d = nnv_chain_i32(c, 0);
    c->at = NNV_CHAIN_ADD(c, STRIDED_SLICE, x, begin, end, steps, a, b, d);
}

static void resize(struct nnv_chain *c, int arg) {
    (void)arg;
    const int h = (int)nnv_chain_extent(c, c->at, 1), w = (int)nnv_chain_extent(c, c->at, 2);
    const uint32_t x = c->at, width = nnv_chain_i32(c, 2 * w), height = nnv_chain_i32(c, 2 * h);
    const uint32_t nchw = nnv_chain_scalar(c, ANEURALNETWORKS_BOOL, 0);
    c->at = NNV_CHAIN_ADD(c, RESIZE_BILINEAR, x, width, height, nchw);
}

static void mean(struct nnv_chain *c, int arg) {
    (void)arg;
    const uint32_t rank = nnv_chain_operand(c, c->at)->rank;
    const int32_t axes[] = {1, 2}, last[] = {-1};
    const uint32_t on = rank == 4 ? nnv_chain_ints(c, 2, axes) : nnv_chain_ints(c, 1, last);
    c->at = NNV_CHAIN_ADD(c, MEAN, c->at, on, nnv_chain_i32(c, 1));
}

/* Along the last axis, or any that is named. */
static void softmax(struct nnv_chain *c, int any_axis) {
    const struct nnv_operand *o = nnv_chain_operand(c, c->at);
    const int32_t real = o->type == ANEURALNETWORKS_TENSOR_FLOAT16 ? ANEURALNETWORKS_FLOAT16 : ANEURALNETWORKS_FLOAT32;
    const int last = (int)o->rank - 1;
    uint32_t in[3] = {c->at, nnv_chain_scalar(c, real, nnv_chain_int(c, 1, 3) / 2.0)}, count = 2;
    if (any_axis) in[count++] = nnv_chain_i32(c, nnv_chain_int(c, last > 0, last));
    c->at = nnv_chain_add(c, ANEURALNETWORKS_SOFTMAX, count, in);
}

static void depth(struct nnv_chain *c, int code) {
    const uint32_t side = code == ANEURALNETWORKS_DEPTH_TO_SPACE
                              ? nnv_chain_extent(c, c->at, 3) % 4
                              : nnv_chain_extent(c, c->at, 1) % 2 + nnv_chain_extent(c, c->at, 2) % 2;
    c->at = nnv_chain_add(c, code, 2, (uint32_t[]){c->at, nnv_chain_i32(c, side == 0 ? 2 : 1)});
}

/* ------------------------------------------------------------------ changes of type */

enum { TO_INT = -1 };

static void to_type(struct nnv_chain *c, int arg) {
    const int32_t code = arg == TO_INT ? ANEURALNETWORKS_CAST : arg;
    const int32_t from = nnv_chain_operand(c, c->at)->type;
    const bool half = nnv_chain_chance(c, 0.3), is_signed = nnv_chain_chance(c, 0.5);
    int32_t to =
        from == ANEURALNETWORKS_TENSOR_FLOAT16 ? ANEURALNETWORKS_TENSOR_FLOAT32 : ANEURALNETWORKS_TENSOR_FLOAT16;
    if (code == ANEURALNETWORKS_DEQUANTIZE) {
        const int32_t first = c->b.operand[0].type; /* floats: most often back to what they were */
        const bool wide = first == ANEURALNETWORKS_TENSOR_FLOAT16 ? half : !half;
        to = wide ? ANEURALNETWORKS_TENSOR_FLOAT32 : ANEURALNETWORKS_TENSOR_FLOAT16;
    }
    if (code == ANEURALNETWORKS_CAST && arg == TO_INT) to = ANEURALNETWORKS_TENSOR_INT32;
    if (code == ANEURALNETWORKS_CAST && from == ANEURALNETWORKS_TENSOR_INT32) to = ANEURALNETWORKS_TENSOR_FLOAT32;
    if (code == ANEURALNETWORKS_QUANTIZE)
        to = is_signed ? ANEURALNETWORKS_TENSOR_QUANT8_ASYMM_SIGNED : ANEURALNETWORKS_TENSOR_QUANT8_ASYMM;
    c->at = nnv_chain_operation(c, code, 1, &c->at, to, 1);
}

#define C(code) ANEURALNETWORKS_##code
#define ONE(word, add, arg, rank, code)                                                                                \
    {                                                                                                                  \
        word, add, arg, rank, { C(code), -1 }                                                                          \
    }
#define EACH(word, CODE, other) ONE(word, arithmetic, ARITH(CODE, other), 0, CODE)
const struct nnv_chain_step nnv_chain_steps[] = {
    ONE("conv", nnv_chain_conv, 0, 4, CONV_2D),
    ONE("depthwise", nnv_chain_depthwise, 0, 4, DEPTHWISE_CONV_2D),
    ONE("conv_nchw", nnv_chain_conv_planes, 0, 4, CONV_2D),
    ONE("depthwise_nchw", nnv_chain_depthwise_planes, 0, 4, DEPTHWISE_CONV_2D),
    ONE("grouped_conv", nnv_chain_grouped, 0, 4, GROUPED_CONV_2D),
    ONE("transpose_conv", nnv_chain_transpose_conv, 0, 4, TRANSPOSE_CONV_2D),
    ONE("fc", nnv_chain_fc, 0, 0, FULLY_CONNECTED),
    ONE("matmul", nnv_chain_matmul, 0, 0, BATCH_MATMUL),
    {"conv_stored", nnv_chain_conv, STORED, 4, {C(CONV_2D), C(DEQUANTIZE), -1}},
    {"depthwise_stored", nnv_chain_depthwise, STORED, 4, {C(DEPTHWISE_CONV_2D), C(DEQUANTIZE), -1}},
    {"fc_stored", nnv_chain_fc, STORED, 0, {C(FULLY_CONNECTED), C(DEQUANTIZE), -1}},
    {"add_stored", arithmetic, ARITH(ADD, STORED), 0, {C(ADD), C(DEQUANTIZE), -1}},
    {"mul_stored", arithmetic, ARITH(MUL, STORED), 0, {C(MUL), C(DEQUANTIZE), -1}},
    EACH("add_scalar", ADD, SCALAR),
    EACH("add_channel", ADD, CHANNEL),
    EACH("add_tensor", ADD, TENSOR),
    EACH("add_value", ADD, VALUE),
    EACH("sub_scalar", SUB, SCALAR),
    EACH("sub_channel", SUB, CHANNEL),
    EACH("sub_value", SUB, VALUE),
    EACH("rsub_channel", SUB, REVERSED),
    EACH("mul_scalar", MUL, SCALAR),
    EACH("mul_channel", MUL, CHANNEL),
    EACH("mul_tensor", MUL, TENSOR),
    EACH("mul_value", MUL, VALUE),
    EACH("div_scalar", DIV, SCALAR),
    EACH("div_channel", DIV, CHANNEL),
    EACH("div_value", DIV, VALUE),
    {"rdiv_channel", arithmetic, ARITH(DIV, REVERSED), 0, {C(DIV), C(ABS), C(ADD), -1}},
    EACH("max_scalar", MAXIMUM, SCALAR),
    EACH("min_scalar", MINIMUM, SCALAR),
    ONE("relu", unary, C(RELU), 0, RELU),
    ONE("relu1", unary, C(RELU1), 0, RELU1),
    ONE("relu6", unary, C(RELU6), 0, RELU6),
    ONE("logistic", unary, C(LOGISTIC), 0, LOGISTIC),
    ONE("tanh", unary, C(TANH), 0, TANH),
    ONE("hard_swish", unary, C(HARD_SWISH), 0, HARD_SWISH),
    ONE("prelu", prelu, 0, 0, PRELU),
    ONE("softmax", softmax, 0, 0, SOFTMAX),
    ONE("softmax_axis", softmax, 1, 0, SOFTMAX),
    ONE("avg_pool", nnv_chain_pool, C(AVERAGE_POOL_2D), 4, AVERAGE_POOL_2D),
    ONE("max_pool", nnv_chain_pool, C(MAX_POOL_2D), 4, MAX_POOL_2D),
    ONE("l2_pool", nnv_chain_pool, C(L2_POOL_2D), 4, L2_POOL_2D),
    ONE("avg_pool_nchw", nnv_chain_pool_planes, C(AVERAGE_POOL_2D), 4, AVERAGE_POOL_2D),
    ONE("max_pool_nchw", nnv_chain_pool_planes, C(MAX_POOL_2D), 4, MAX_POOL_2D),
    ONE("mean", mean, 0, 0, MEAN),
    ONE("resize", resize, 0, 4, RESIZE_BILINEAR),
    ONE("pad", pad, C(PAD), 0, PAD),
    ONE("pad_value", pad, C(PAD_V2), 0, PAD_V2),
    ONE("mirror_pad", pad, C(MIRROR_PAD), 4, MIRROR_PAD),
    ONE("transpose", transpose, 0, 0, TRANSPOSE),
    ONE("to_nchw", transpose, 1, 4, TRANSPOSE),
    ONE("to_nhwc", transpose, 2, 4, TRANSPOSE),
    ONE("reshape", reshape, 0, 0, RESHAPE),
    ONE("reshape_image", reshape, 1, 4, RESHAPE),
    ONE("concat_value", concat, VALUE, 0, CONCATENATION),
    ONE("concat_self", concat, SCALAR, 0, CONCATENATION),
    ONE("split", split, 0, 0, SPLIT),
    {"views", views, 0, 0, {C(SQUEEZE), C(EXPAND_DIMS), C(RESHAPE), -1}},
    {"split_join", split_join, 0, 0, {C(CONCATENATION), C(SPLIT), -1}},
    ONE("stay_transpose", stay, C(TRANSPOSE), 0, TRANSPOSE),
    ONE("stay_reshape", stay, C(RESHAPE), 0, RESHAPE),
    ONE("stay_pad", stay, C(PAD), 0, PAD),
    ONE("stay_slice", stay, C(SLICE), 0, SLICE),
    ONE("slice", slice, C(SLICE), 0, SLICE),
    ONE("strided_slice", slice, C(STRIDED_SLICE), 0, STRIDED_SLICE),
    ONE("space_to_depth", depth, C(SPACE_TO_DEPTH), 4, SPACE_TO_DEPTH),
    ONE("depth_to_space", depth, C(DEPTH_TO_SPACE), 4, DEPTH_TO_SPACE),
    ONE("quantize", to_type, C(QUANTIZE), 0, QUANTIZE),
    ONE("dequantize", to_type, C(DEQUANTIZE), 0, DEQUANTIZE),
    ONE("cast", to_type, C(CAST), 0, CAST),
    ONE("cast_int", to_type, TO_INT, 0, CAST),
    ONE("cast_float", to_type, C(CAST), 0, CAST),
    {"dilated_conv", nnv_chain_dilated, 0, 4, {C(CONV_2D), C(SPACE_TO_BATCH_ND), C(BATCH_TO_SPACE_ND), -1}},
    {"dilated_conv_1d", nnv_chain_dilated, 1, 4, {C(CONV_2D), C(SPACE_TO_BATCH_ND), C(BATCH_TO_SPACE_ND), -1}},
    {"squeeze_excite", nnv_chain_squeeze_excite, 0, 4, {C(MUL), C(MEAN), C(CONV_2D), C(RELU), C(LOGISTIC), -1}},
    {"squeeze_excite_fc",
     nnv_chain_squeeze_excite_fc,
     0,
     4,
     {C(MUL), C(MEAN), C(FULLY_CONNECTED), C(RELU), C(LOGISTIC), C(RESHAPE), -1}},
    {"residual", nnv_chain_residual, 0, 4, {C(ADD), C(CONV_2D), C(RELU), -1}},
    {"two_convs", nnv_chain_two_convs, 0, 4, {C(CONCATENATION), C(CONV_2D), -1}},
    {"swish", nnv_chain_swish, 0, 0, {C(MUL), C(LOGISTIC), -1}},
    {"hard_swish_parts", nnv_chain_hard_swish_parts, 0, 0, {C(MUL), C(ADD), C(RELU6), -1}},
    {"layer_norm", nnv_chain_layer_norm, 0, 0, {C(MEAN), C(SUB), C(MUL), C(ADD), C(RSQRT), -1}},
    {"attention", nnv_chain_attention, 0, 3, {C(BATCH_MATMUL), C(MUL), C(ADD), C(SOFTMAX), -1}},
    {"gelu", nnv_chain_gelu, 0, 0, {C(TANH), C(MUL), C(ADD), -1}},
};
const int nnv_chain_step_count = sizeof nnv_chain_steps / sizeof *nnv_chain_steps;
