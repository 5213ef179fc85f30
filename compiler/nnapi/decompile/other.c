/* SPDX-License-Identifier: Apache-2.0 */
/* All other operations as Relay operators. */
#include <math.h>

#include "compiler/nnapi/decompile/in.h"

/* ---------------------------------------------------------------- elementwise */

static void unary(struct nnv_decompiler *l) {
    nnv_decompile_put_real(l, 0, nnv_decompile_call(l, l->name, NNV_DECOMPILE_ARGS(nnv_decompile_real(l, 0)), 0, NULL));
}

static void binary(struct nnv_decompiler *l) {
    nnv_decompile_put_real(l, 0,
                           nnv_decompile_call(l, l->name,
                                              NNV_DECOMPILE_ARGS(nnv_decompile_real(l, 0), nnv_decompile_real(l, 1)), 0,
                                              NULL));
}

static void arithmetic(struct nnv_decompiler *l) {
    bool whole_numbers = nnv_decompile_operand(l, 0)->type == ANEURALNETWORKS_TENSOR_INT32;
    const char *name = whole_numbers && l->op->type == ANEURALNETWORKS_DIV ? "floor_divide" : l->name;
    nnv_decompile_put_fused(
        l, 2,
        nnv_decompile_call(l, name, NNV_DECOMPILE_ARGS(nnv_decompile_real(l, 0), nnv_decompile_real(l, 1)), 0, NULL));
}

static void relu6(struct nnv_decompiler *l) {
    nnv_decompile_put_real(l, 0, nnv_decompile_clip(l, nnv_decompile_real(l, 0), 0, 6));
}

static void relu1(struct nnv_decompiler *l) {
    nnv_decompile_put_real(l, 0, nnv_decompile_clip(l, nnv_decompile_real(l, 0), -1, 1));
}

/* x * relu6(x + 3) / 6 */
static void hard_swish(struct nnv_decompiler *l) {
    struct nnv_relay_expr *x = nnv_decompile_real(l, 0);
    enum nnv_relay_dtype dtype =
        nnv_decompile_operand(l, 0)->type == ANEURALNETWORKS_TENSOR_FLOAT16 ? NNV_RELAY_FLOAT16 : NNV_RELAY_FLOAT32;
    struct nnv_relay_expr *plus =
        nnv_decompile_call(l, "add", NNV_DECOMPILE_ARGS(x, nnv_decompile_constant(l, dtype, 3)), 0, NULL);
    struct nnv_relay_expr *product =
        nnv_decompile_call(l, "multiply", NNV_DECOMPILE_ARGS(x, nnv_decompile_clip(l, plus, 0, 6)), 0, NULL);
    nnv_decompile_put_real(
        l, 0,
        nnv_decompile_call(l, "divide", NNV_DECOMPILE_ARGS(product, nnv_decompile_constant(l, dtype, 6)), 0, NULL));
}

static void softmax(struct nnv_decompiler *l) {
    if (nnv_decompile_number(l, 1, 1) != 1) l->refused = true; /* beta */
    nnv_decompile_put_real(
        l, 0,
        nnv_decompile_call(l, l->name, NNV_DECOMPILE_ARGS(nnv_decompile_real(l, 0)),
                           NNV_DECOMPILE_ATTRS(nnv_decompile_int("axis", nnv_decompile_whole(l, 2, -1)))));
}

static void dequantize(struct nnv_decompiler *l) { nnv_decompile_put(l, 0, nnv_decompile_real(l, 0)); }

static void quantize(struct nnv_decompiler *l) { nnv_decompile_put_real(l, 0, nnv_decompile_in(l, 0)); }

static void cast(struct nnv_decompiler *l) {
    static const struct {
        int32_t type;
        const char *name;
    } to[] = {{ANEURALNETWORKS_TENSOR_FLOAT32, "float32"},
              {ANEURALNETWORKS_TENSOR_FLOAT16, "float16"},
              {ANEURALNETWORKS_TENSOR_INT32, "int32"}};
    for (size_t i = 0; i < sizeof to / sizeof *to; i++) {
        if (nnv_decompile_out(l, 0)->type != to[i].type) continue;
        nnv_decompile_put(l, 0,
                          nnv_decompile_call(l, "cast", NNV_DECOMPILE_ARGS(nnv_decompile_in(l, 0)),
                                             NNV_DECOMPILE_ATTRS(nnv_decompile_text("dtype", to[i].name))));
        return;
    }
    l->refused = true; /* results of bytes saturate, Relay's wrap around */
}

static void select(struct nnv_decompiler *l) {
    nnv_decompile_put_real(l, 0,
                           nnv_decompile_call(l, "where",
                                              NNV_DECOMPILE_ARGS(nnv_decompile_in(l, 0), nnv_decompile_real(l, 1),
                                                                 nnv_decompile_real(l, 2)),
                                              0, NULL));
}

/* ----------------------------------------------------------------------- moves */

/* Elements in their order, in the output's shape. */
static void reshape(struct nnv_decompiler *l) {
    const struct nnv_shape *out = nnv_decompile_out_shape(l, 0);
    int64_t dims[NNV_MAX_RANK];
    for (uint32_t i = 0; i < out->rank; i++) dims[i] = out->dims[i];
    nnv_decompile_put(l, 0,
                      nnv_decompile_call(l, "reshape", NNV_DECOMPILE_ARGS(nnv_decompile_in(l, 0)),
                                         NNV_DECOMPILE_ATTRS(nnv_decompile_list(l, "newshape", out->rank, dims))));
}

static void transpose(struct nnv_decompiler *l) {
    int64_t axes[NNV_MAX_RANK * 2];
    size_t n = nnv_decompile_has(l, 1) ? nnv_decompile_ints(l, 1, axes) : 0;
    nnv_decompile_put(l, 0,
                      nnv_decompile_call(l, "transpose", NNV_DECOMPILE_ARGS(nnv_decompile_in(l, 0)),
                                         NNV_DECOMPILE_ATTRS(nnv_decompile_list(l, "axes", n, axes))));
}

static bool same_codes(const struct nnv_operand *a, const struct nnv_operand *b) {
    return !nnv_is_quant(a->type) || (a->scale == b->scale && a->zero_point == b->zero_point);
}

static void concatenation(struct nnv_decompiler *l) {
    uint32_t n = l->op->nin - 1;
    struct nnv_relay_expr **fields = NNV_NEW(l->arena, struct nnv_relay_expr *, n);
    bool same = true;
    if (!fields) l->failed = true;
    for (uint32_t i = 0; i < n; i++) same = same && same_codes(nnv_decompile_operand(l, i), nnv_decompile_out(l, 0));
    for (uint32_t i = 0; fields && i < n; i++) fields[i] = same ? nnv_decompile_in(l, i) : nnv_decompile_real(l, i);
    if (l->failed || l->refused) return;
    struct nnv_relay_expr *e =
        nnv_decompile_call(l, "concatenate", NNV_DECOMPILE_ARGS(nnv_relay_tuple(l->m, n, fields)),
                           NNV_DECOMPILE_ATTRS(nnv_decompile_int("axis", nnv_decompile_whole(l, n, 0))));
    if (same)
        nnv_decompile_put(l, 0, e);
    else
        nnv_decompile_put_real(l, 0, e);
}

static void pack(struct nnv_decompiler *l) {
    uint32_t n = l->op->nin - 1;
    struct nnv_relay_expr **fields = NNV_NEW(l->arena, struct nnv_relay_expr *, n);
    if (!fields) l->failed = true;
    for (uint32_t i = 0; fields && i < n; i++) fields[i] = nnv_decompile_in(l, i + 1);
    if (l->failed || l->refused) return;
    nnv_decompile_put(l, 0,
                      nnv_decompile_call(l, "stack", NNV_DECOMPILE_ARGS(nnv_relay_tuple(l->m, n, fields)),
                                         NNV_DECOMPILE_ATTRS(nnv_decompile_int("axis", nnv_decompile_whole(l, 0, 0)))));
}

static void split(struct nnv_decompiler *l) {
    struct nnv_relay_expr *e =
        nnv_decompile_call(l, "split", NNV_DECOMPILE_ARGS(nnv_decompile_in(l, 0)),
                           NNV_DECOMPILE_ATTRS(nnv_decompile_int("indices_or_sections", l->op->nout),
                                               nnv_decompile_int("axis", nnv_decompile_whole(l, 1, 0))));
    for (uint32_t i = 0; e && i < l->op->nout; i++) {
        struct nnv_relay_expr *field = nnv_relay_get(l->m, e, i);
        if (!field) l->failed = true;
        nnv_decompile_put(l, i, field);
    }
}

static void slice(struct nnv_decompiler *l) {
    int64_t begin[NNV_MAX_RANK * 2], size[NNV_MAX_RANK * 2];
    const struct nnv_shape *out = nnv_decompile_out_shape(l, 0);
    size_t n = nnv_decompile_ints(l, 1, begin);
    for (size_t i = 0; i < n && i < out->rank; i++) size[i] = begin[i] + out->dims[i];
    nnv_decompile_put(l, 0,
                      nnv_decompile_call(l, "strided_slice", NNV_DECOMPILE_ARGS(nnv_decompile_in(l, 0)),
                                         NNV_DECOMPILE_ATTRS(nnv_decompile_list(l, "begin", n, begin),
                                                             nnv_decompile_list(l, "end", n, size))));
}

/* Masks: an end that does not count is the tensor's own. Axes that are removed leave by a reshape. */
static void strided_slice(struct nnv_decompiler *l) {
    int64_t begin[NNV_MAX_RANK * 2], end[NNV_MAX_RANK * 2], step[NNV_MAX_RANK * 2], dims[NNV_MAX_RANK];
    const struct nnv_shape *out = nnv_decompile_out_shape(l, 0);
    int64_t from = nnv_decompile_whole(l, 4, 0), to = nnv_decompile_whole(l, 5, 0),
            shrink = nnv_decompile_whole(l, 6, 0);
    size_t n = nnv_decompile_ints(l, 1, begin);
    if (nnv_decompile_ints(l, 2, end) != n || nnv_decompile_ints(l, 3, step) != n) l->refused = true;
    for (size_t i = 0; i < n && !l->refused; i++) {
        if (from >> i & 1) begin[i] = step[i] < 0 ? INT32_MAX : 0;
        if (to >> i & 1) end[i] = step[i] < 0 ? -(int64_t)INT32_MAX : INT32_MAX;
        if (shrink >> i & 1) end[i] = begin[i] == -1 ? INT32_MAX : begin[i] + 1;
    }
    struct nnv_relay_expr *e = nnv_decompile_call(l, "strided_slice", NNV_DECOMPILE_ARGS(nnv_decompile_in(l, 0)),
                                                  NNV_DECOMPILE_ATTRS(nnv_decompile_list(l, "begin", n, begin),
                                                                      nnv_decompile_list(l, "end", n, end),
                                                                      nnv_decompile_list(l, "strides", n, step)));
    for (uint32_t i = 0; i < out->rank; i++) dims[i] = out->dims[i];
    if (shrink)
        e = nnv_decompile_call(l, "reshape", NNV_DECOMPILE_ARGS(e),
                               NNV_DECOMPILE_ATTRS(nnv_decompile_list(l, "newshape", out->rank, dims)));
    nnv_decompile_put(l, 0, e);
}

static void pad(struct nnv_decompiler *l) {
    int64_t width[NNV_MAX_RANK * 2];
    size_t n = nnv_decompile_ints(l, 1, width);
    const struct nnv_operand *x = nnv_decompile_operand(l, 0);
    enum nnv_relay_dtype dtype = x->type == ANEURALNETWORKS_TENSOR_QUANT8_ASYMM          ? NNV_RELAY_UINT8
                                 : x->type == ANEURALNETWORKS_TENSOR_QUANT8_ASYMM_SIGNED ? NNV_RELAY_INT8
                                 : x->type == ANEURALNETWORKS_TENSOR_FLOAT16             ? NNV_RELAY_FLOAT16
                                                                                         : NNV_RELAY_FLOAT32;
    double value = nnv_decompile_number(l, 2, nnv_is_quant(x->type) ? x->zero_point : 0);
    nnv_decompile_put(
        l, 0,
        nnv_decompile_call(l, "nn.pad",
                           NNV_DECOMPILE_ARGS(nnv_decompile_in(l, 0), nnv_decompile_constant(l, dtype, value)),
                           NNV_DECOMPILE_ATTRS(nnv_decompile_pairs(l, "pad_width", n / 2, width))));
}

static void mirror_pad(struct nnv_decompiler *l) {
    int64_t width[NNV_MAX_RANK * 2];
    size_t n = nnv_decompile_ints(l, 1, width);
    nnv_decompile_put(
        l, 0,
        nnv_decompile_call(
            l, "nn.mirror_pad", NNV_DECOMPILE_ARGS(nnv_decompile_in(l, 0)),
            NNV_DECOMPILE_ATTRS(nnv_decompile_pairs(l, "pad_width", n / 2, width),
                                nnv_decompile_text("mode", nnv_decompile_whole(l, 2, 0) ? "SYMMETRIC" : "REFLECT"))));
}

static void tile(struct nnv_decompiler *l) {
    int64_t times[NNV_MAX_RANK * 2];
    size_t n = nnv_decompile_ints(l, 1, times);
    nnv_decompile_put(l, 0,
                      nnv_decompile_call(l, "tile", NNV_DECOMPILE_ARGS(nnv_decompile_in(l, 0)),
                                         NNV_DECOMPILE_ATTRS(nnv_decompile_list(l, "reps", n, times))));
}

static void depth_space(struct nnv_decompiler *l) {
    nnv_decompile_put(
        l, 0,
        nnv_decompile_call(
            l, l->name, NNV_DECOMPILE_ARGS(nnv_decompile_in(l, 0)),
            NNV_DECOMPILE_ATTRS(nnv_decompile_int("block_size", nnv_decompile_whole(l, 1, 1)),
                                nnv_decompile_text("layout", nnv_decompile_whole(l, 2, 0) ? "NCHW" : "NHWC"))));
}

static void gather(struct nnv_decompiler *l) {
    nnv_decompile_put(l, 0,
                      nnv_decompile_call(l, "take", NNV_DECOMPILE_ARGS(nnv_decompile_in(l, 0), nnv_decompile_in(l, 2)),
                                         NNV_DECOMPILE_ATTRS(nnv_decompile_int("axis", nnv_decompile_whole(l, 1, 0)),
                                                             nnv_decompile_text("mode", "fast"))));
}

/* -------------------------------------------------------------------- the rest */

static void reduce(struct nnv_decompiler *l) {
    int64_t axes[NNV_MAX_RANK * 2];
    size_t n = nnv_decompile_ints(l, 1, axes);
    bool keep = nnv_decompile_number(l, 2, 0) > 0;
    if (n == 0) l->refused = true;
    nnv_decompile_put_real(l, 0,
                           nnv_decompile_call(l, l->name, NNV_DECOMPILE_ARGS(nnv_decompile_real(l, 0)),
                                              NNV_DECOMPILE_ATTRS(nnv_decompile_list(l, "axis", n, axes),
                                                                  nnv_decompile_truth("keepdims", keep))));
}

static void arg(struct nnv_decompiler *l) {
    const int64_t axis = nnv_decompile_whole(l, 1, 0);
    nnv_decompile_put(l, 0,
                      nnv_decompile_call(l, l->name, NNV_DECOMPILE_ARGS(nnv_decompile_in(l, 0)),
                                         NNV_DECOMPILE_ATTRS(nnv_decompile_list(l, "axis", 1, &axis))));
}

/* By output shape, or by scale: the output's shape says all. */
static void resize(struct nnv_decompiler *l) {
    bool nearest = l->op->type == ANEURALNETWORKS_RESIZE_NEAREST_NEIGHBOR, nchw = nnv_decompile_whole(l, 3, 0) != 0,
         corners = nnv_decompile_whole(l, 4, 0) != 0, half = nnv_decompile_whole(l, 5, 0) != 0;
    const struct nnv_shape *out = nnv_decompile_out_shape(l, 0);
    const int64_t size[] = {nnv_dim(out, nchw ? 2 : 1), nnv_dim(out, nchw ? 3 : 2)};
    const char *mode = corners ? "align_corners" : half ? "half_pixel" : "asymmetric";
    if (nearest && half && !corners) mode = "tf_half_pixel_for_nn";
    if (nnv_decompile_has(l, 1) && nnv_decompile_operand(l, 1)->type != ANEURALNETWORKS_INT32) l->refused = true;
    nnv_decompile_put_real(
        l, 0,
        nnv_decompile_call(l, "image.resize2d", NNV_DECOMPILE_ARGS(nnv_decompile_real(l, 0)),
                           NNV_DECOMPILE_ATTRS(nnv_decompile_list(l, "size", 2, size),
                                               nnv_decompile_text("method", nearest ? "nearest_neighbor" : "linear"),
                                               nnv_decompile_text("coordinate_transformation_mode", mode),
                                               nnv_decompile_text("layout", nchw ? "NCHW" : "NHWC"))));
}

/* One slope for all, or one for each place along an axis. */
static void prelu(struct nnv_decompiler *l) {
    const struct nnv_shape *x = nnv_decompile_shape(l, 0), *alpha = nnv_decompile_shape(l, 1);
    const struct nnv_operand *o = nnv_decompile_operand(l, 1);
    int64_t axis = x->rank - 1, n = 1;
    for (uint32_t i = 0; i < alpha->rank; i++) {
        if (alpha->dims[i] == 1) continue;
        if (n != 1) l->refused = true;
        n = alpha->dims[i];
        axis = (int64_t)x->rank - alpha->rank + i;
    }
    if (axis < 0 || alpha->rank > x->rank) l->refused = true;
    if (n == 1 && nnv_is_constant(o)) {
        double v = nnv_decompile_number(l, 1, 0);
        if (nnv_is_quant(o->type)) v = (v - o->zero_point) * (double)o->scale;
        nnv_decompile_put_real(l, 0,
                               nnv_decompile_call(l, "nn.leaky_relu", NNV_DECOMPILE_ARGS(nnv_decompile_real(l, 0)),
                                                  NNV_DECOMPILE_ATTRS(nnv_decompile_float("alpha", v))));
        return;
    }
    if (n != 1 && axis >= 0 && n != x->dims[axis]) l->refused = true;
    struct nnv_relay_expr *slopes = nnv_decompile_call(l, "reshape", NNV_DECOMPILE_ARGS(nnv_decompile_real(l, 1)),
                                                       NNV_DECOMPILE_ATTRS(nnv_decompile_list(l, "newshape", 1, &n)));
    if (n == 1 && axis >= 0 && x->dims[axis] != 1) l->refused = true;
    nnv_decompile_put_real(l, 0,
                           nnv_decompile_call(l, "nn.prelu", NNV_DECOMPILE_ARGS(nnv_decompile_real(l, 0), slopes),
                                              NNV_DECOMPILE_ATTRS(nnv_decompile_int("axis", axis))));
}

static void reverse(struct nnv_decompiler *l) {
    int64_t axes[NNV_MAX_RANK * 2] = {0};
    if (nnv_decompile_ints(l, 1, axes) != 1) l->refused = true;
    nnv_decompile_put(l, 0,
                      nnv_decompile_call(l, "reverse", NNV_DECOMPILE_ARGS(nnv_decompile_in(l, 0)),
                                         NNV_DECOMPILE_ATTRS(nnv_decompile_int("axis", axes[0]))));
}

/* Relay's blocks are of the dimensions behind the batch: NHWC. */
static void space_to_batch(struct nnv_decompiler *l) {
    int64_t block[NNV_MAX_RANK * 2], width[NNV_MAX_RANK * 2];
    const struct nnv_operand *x = nnv_decompile_operand(l, 0);
    if (nnv_decompile_ints(l, 1, block) != 2 || nnv_decompile_ints(l, 2, width) != 4 || nnv_decompile_whole(l, 3, 0))
        l->refused = true;
    nnv_decompile_put(
        l, 0,
        nnv_decompile_call(
            l, "nn.space_to_batch_nd", NNV_DECOMPILE_ARGS(nnv_decompile_in(l, 0)),
            NNV_DECOMPILE_ATTRS(nnv_decompile_list(l, "block_shape", 2, block),
                                nnv_decompile_pairs(l, "paddings", 2, width),
                                nnv_decompile_float("pad_value", nnv_is_quant(x->type) ? x->zero_point : 0))));
}

static void batch_to_space(struct nnv_decompiler *l) {
    int64_t block[NNV_MAX_RANK * 2];
    const int64_t none[4] = {0};
    if (nnv_decompile_ints(l, 1, block) != 2 || nnv_decompile_whole(l, 2, 0)) l->refused = true;
    nnv_decompile_put(l, 0,
                      nnv_decompile_call(l, "nn.batch_to_space_nd", NNV_DECOMPILE_ARGS(nnv_decompile_in(l, 0)),
                                         NNV_DECOMPILE_ATTRS(nnv_decompile_list(l, "block_shape", 2, block),
                                                             nnv_decompile_pairs(l, "crops", 2, none))));
}

static void topk(struct nnv_decompiler *l) {
    struct nnv_relay_expr *e =
        nnv_decompile_call(l, "topk", NNV_DECOMPILE_ARGS(nnv_decompile_in(l, 0)),
                           NNV_DECOMPILE_ATTRS(nnv_decompile_int("k", nnv_decompile_whole(l, 1, 1)),
                                               nnv_decompile_int("axis", -1), nnv_decompile_text("dtype", "int32")));
    for (uint32_t i = 0; e && i < 2; i++) {
        struct nnv_relay_expr *field = nnv_relay_get(l->m, e, i);
        if (!field) l->failed = true;
        nnv_decompile_put(l, i, field);
    }
}

/* Relay divides alpha by the size of the window. */
static void lrn(struct nnv_decompiler *l) {
    int64_t radius = nnv_decompile_whole(l, 1, 0), size = radius * 2 + 1;
    nnv_decompile_put(l, 0,
                      nnv_decompile_call(l, "nn.lrn", NNV_DECOMPILE_ARGS(nnv_decompile_in(l, 0)),
                                         NNV_DECOMPILE_ATTRS(
                                             nnv_decompile_int("size", size),
                                             nnv_decompile_int("axis", nnv_decompile_whole(l, 5, -1)),
                                             nnv_decompile_float("bias", nnv_decompile_number(l, 2, 0)),
                                             nnv_decompile_float("alpha", nnv_decompile_number(l, 3, 0) * (double)size),
                                             nnv_decompile_float("beta", nnv_decompile_number(l, 4, 0)))));
}

/* An eps below all squares that count: zeros stay zeros. */
static void l2_normalize(struct nnv_decompiler *l) {
    const int64_t axis = nnv_decompile_whole(l, 1, -1);
    nnv_decompile_put_real(l, 0,
                           nnv_decompile_call(l, "nn.l2_normalize", NNV_DECOMPILE_ARGS(nnv_decompile_real(l, 0)),
                                              NNV_DECOMPILE_ATTRS(nnv_decompile_float("eps", 1e-30),
                                                                  nnv_decompile_list(l, "axis", 1, &axis))));
}

static void instance_norm(struct nnv_decompiler *l) {
    bool nchw = nnv_decompile_whole(l, 4, 0) != 0;
    uint32_t n = nnv_dim(nnv_decompile_shape(l, 0), nchw ? 1 : 3);
    float *v = NNV_NEW(l->arena, float, n);
    struct nnv_relay_expr *by[2] = {NULL, NULL};
    if (!v) l->failed = true;
    if (nnv_decompile_operand(l, 0)->type != ANEURALNETWORKS_TENSOR_FLOAT32) l->refused = true;
    for (uint32_t k = 0; v && k < 2; k++) {
        for (uint32_t i = 0; i < n; i++) v[i] = (float)nnv_decompile_number(l, k + 1, 0);
        by[k] = nnv_decompile_floats(l, n, v);
    }
    nnv_decompile_put(
        l, 0,
        nnv_decompile_call(l, "nn.instance_norm", NNV_DECOMPILE_ARGS(nnv_decompile_in(l, 0), by[0], by[1]),
                           NNV_DECOMPILE_ATTRS(nnv_decompile_int("axis", nchw ? 1 : 3),
                                               nnv_decompile_float("epsilon", nnv_decompile_number(l, 3, 0)))));
}

static void batch_matmul(struct nnv_decompiler *l) {
    if (nnv_decompile_shape(l, 0)->rank != 3 || nnv_decompile_shape(l, 1)->rank != 3 ||
        nnv_is_quant(nnv_decompile_operand(l, 0)->type)) {
        l->refused = true;
        return;
    }
    nnv_decompile_put(
        l, 0,
        nnv_decompile_call(l, "nn.batch_matmul", NNV_DECOMPILE_ARGS(nnv_decompile_in(l, 0), nnv_decompile_in(l, 1)),
                           NNV_DECOMPILE_ATTRS(nnv_decompile_truth("transpose_a", nnv_decompile_whole(l, 2, 0) != 0),
                                               nnv_decompile_truth("transpose_b", nnv_decompile_whole(l, 3, 0) != 0))));
}

#define OP(name) ANEURALNETWORKS_##name
static const struct nnv_decompile_row rows[] = {
    {OP(ADD), arithmetic, "add"},
    {OP(SUB), arithmetic, "subtract"},
    {OP(MUL), arithmetic, "multiply"},
    {OP(DIV), arithmetic, "divide"},
    {OP(POW), binary, "power"},
    {OP(MAXIMUM), binary, "maximum"},
    {OP(MINIMUM), binary, "minimum"},
    {OP(EQUAL), binary, "equal"},
    {OP(NOT_EQUAL), binary, "not_equal"},
    {OP(LESS), binary, "less"},
    {OP(LESS_EQUAL), binary, "less_equal"},
    {OP(GREATER), binary, "greater"},
    {OP(GREATER_EQUAL), binary, "greater_equal"},
    {OP(LOGICAL_AND), binary, "logical_and"},
    {OP(LOGICAL_OR), binary, "logical_or"},
    {OP(LOGICAL_NOT), unary, "logical_not"},
    {OP(ABS), unary, "abs"},
    {OP(NEG), unary, "negative"},
    {OP(EXP), unary, "exp"},
    {OP(LOG), unary, "log"},
    {OP(SQRT), unary, "sqrt"},
    {OP(RSQRT), unary, "rsqrt"},
    {OP(SIN), unary, "sin"},
    {OP(FLOOR), unary, "floor"},
    {OP(TANH), unary, "tanh"},
    {OP(LOGISTIC), unary, "sigmoid"},
    {OP(RELU), unary, "nn.relu"},
    {OP(RELU6), relu6, NULL},
    {OP(RELU1), relu1, NULL},
    {OP(HARD_SWISH), hard_swish, NULL},
    {OP(SOFTMAX), softmax, "nn.softmax"},
    {OP(LOG_SOFTMAX), softmax, "nn.log_softmax"},
    {OP(QUANTIZE), quantize, NULL},
    {OP(DEQUANTIZE), dequantize, NULL},
    {OP(CAST), cast, NULL},
    {OP(SELECT), select, NULL},
    {OP(RESHAPE), reshape, NULL},
    {OP(SQUEEZE), reshape, NULL},
    {OP(EXPAND_DIMS), reshape, NULL},
    {OP(TRANSPOSE), transpose, NULL},
    {OP(CONCATENATION), concatenation, NULL},
    {OP(PACK), pack, NULL},
    {OP(SPLIT), split, NULL},
    {OP(SLICE), slice, NULL},
    {OP(STRIDED_SLICE), strided_slice, NULL},
    {OP(PAD), pad, NULL},
    {OP(PAD_V2), pad, NULL},
    {OP(MIRROR_PAD), mirror_pad, NULL},
    {OP(TILE), tile, NULL},
    {OP(DEPTH_TO_SPACE), depth_space, "nn.depth_to_space"},
    {OP(SPACE_TO_DEPTH), depth_space, "nn.space_to_depth"},
    {OP(GATHER), gather, NULL},
    {OP(MEAN), reduce, "mean"},
    {OP(REDUCE_SUM), reduce, "sum"},
    {OP(REDUCE_PROD), reduce, "prod"},
    {OP(REDUCE_MAX), reduce, "max"},
    {OP(REDUCE_MIN), reduce, "min"},
    {OP(REDUCE_ALL), reduce, "all"},
    {OP(REDUCE_ANY), reduce, "any"},
    {OP(ARGMAX), arg, "argmax"},
    {OP(ARGMIN), arg, "argmin"},
    {OP(RESIZE_BILINEAR), resize, NULL},
    {OP(RESIZE_NEAREST_NEIGHBOR), resize, NULL},
    {OP(BATCH_MATMUL), batch_matmul, NULL},
    {OP(PRELU), prelu, NULL},
    {OP(REVERSE), reverse, NULL},
    {OP(SPACE_TO_BATCH_ND), space_to_batch, NULL},
    {OP(BATCH_TO_SPACE_ND), batch_to_space, NULL},
    {OP(TOPK_V2), topk, NULL},
    {OP(LOCAL_RESPONSE_NORMALIZATION), lrn, NULL},
    {OP(L2_NORMALIZATION), l2_normalize, NULL},
    {OP(INSTANCE_NORMALIZATION), instance_norm, NULL},
};
const struct nnv_decompile_rows nnv_decompile_others = {rows, sizeof rows / sizeof *rows};
