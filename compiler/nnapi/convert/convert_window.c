/* SPDX-License-Identifier: Apache-2.0 */
/* Pools and resizing: what looks at height and width. */
#include <inttypes.h>
#include <string.h>

#include "compiler/nnapi/convert/convert_in.h"

/** A pool's window. */
struct pool {
    int64_t size[2], stride[2], pad[4]; /**< height, width; top, left, bottom, right */
    bool count_padding;
};

/* The pool of an operand; NNV_RC_NONE: of operand 0. */
static void emit_pool(struct nnv_rc *c, uint32_t data, int32_t code, const char *layout, const struct pool *p) {
    uint32_t out = nnv_rc_result(c, 0);
    struct nnv_rc_layout l = nnv_rc_layout(c, data == NNV_RC_NONE ? nnv_rc_in(c, 0) : data, out, layout, true);
    const int64_t order[] = {p->pad[1],    p->pad[3],    p->pad[0],  p->pad[2],
                             p->stride[1], p->stride[0], p->size[1], p->size[0]};
    uint32_t in[11] = {l.in}, n = 1;
    for (size_t i = 0; i < 8; i++) in[n++] = nnv_rc_int(c, order[i]);
    in[n++] = nnv_rc_act(c);
    if (l.flag) in[n++] = nnv_builder_bool(&c->b, true);
    nnv_rc_emit_n(c, code, n, in, 1, &l.out);
    nnv_rc_layout_end(c, &l, out);
}

/* The padding that makes the window's last place fit: what ceil_mode adds at the end. */
static void find_end(struct nnv_rc *c, struct pool *p, const struct nnv_rc_shape *x, const struct nnv_rc_shape *y,
                     const uint32_t *at) {
    bool ceil = nnv_rc_int_attr(c, "ceil_mode", 0);
    for (size_t i = 0; i < 2 && ceil; i++) {
        int64_t needed = ((int64_t)y->dims[at[i]] - 1) * p->stride[i] + p->size[i] - x->dims[at[i]] - p->pad[i];
        if (needed <= p->pad[i + 2]) continue;
        if (p->count_padding) nnv_rc_refuse(c, "ceil_mode with count_include_pad, whose counts NNAPI has not");
        if (needed >= p->size[i]) nnv_rc_refuse(c, "ceil_mode: the last window would lie in the padding alone");
        p->pad[i + 2] = needed;
    }
}

static void find_pool(struct nnv_rc *c, struct pool *p) {
    int64_t dilation[2];
    nnv_rc_padding_attr(c, p->pad);
    nnv_rc_pair_attr(c, "pool_size", 1, p->size);
    nnv_rc_pair_attr(c, "strides", 1, p->stride);
    nnv_rc_pair_attr(c, "dilation", 1, dilation);
    if (dilation[0] != 1 || dilation[1] != 1)
        nnv_rc_refuse(c, "dilation [%" PRId64 ", %" PRId64 "]: NNAPI's pools have none", dilation[0], dilation[1]);
}

/* Padding that counts as zeros is an operation of its own. */
static void average_with_zeros(struct nnv_rc *c, const char *layout, struct pool *p, const uint32_t *at) {
    struct nnv_rc_shape is = nnv_rc_shape(c, nnv_rc_arg(c, 0)), image = nnv_rc_image(&is, layout), shape = image;
    double pads[8] = {0};
    for (size_t i = 0; i < 2; i++) {
        pads[at[i] * 2] = (double)p->pad[i];
        pads[at[i] * 2 + 1] = (double)p->pad[i + 2];
        shape.dims[at[i]] += (uint32_t)(p->pad[i] + p->pad[i + 2]);
    }
    memset(p->pad, 0, sizeof p->pad);
    uint32_t padded = nnv_rc_temp(c, nnv_rc_encoding(c, nnv_rc_arg(c, 0)), &shape);
    (void)nnv_rc_result(c, 0); /* its number is before those of the constants */
    NNV_RC_EMIT(c, ANEURALNETWORKS_PAD, padded, nnv_rc_reshaped(c, nnv_rc_in(c, 0), &image, NNV_RC_NONE),
                nnv_rc_const(c, NNV_RC_I32_TENSOR, &(struct nnv_rc_shape){2, {4, 2}}, pads));
    emit_pool(c, padded, ANEURALNETWORKS_AVERAGE_POOL_2D, layout, p);
}

static const char *pool_layout(struct nnv_rc *c, uint32_t at[2]) {
    const char *layout = nnv_rc_layout_attr(c, "layout"), *out = nnv_rc_text_attr(c, "out_layout", "");
    if (*out && strcmp(layout, nnv_rc_layout_attr(c, "out_layout")) != 0)
        nnv_rc_refuse(c, "out_layout %s differs from layout %s", out, layout);
    at[0] = strcmp(layout, "NCHW") == 0 ? 2 : 1;
    at[1] = at[0] + 1;
    return layout;
}

/* Operand 0 and the result as images. */
static void find_images(struct nnv_rc *c, const char *layout, struct nnv_rc_shape *x, struct nnv_rc_shape *y) {
    struct nnv_rc_shape in = nnv_rc_shape(c, nnv_rc_arg(c, 0)), out = nnv_rc_shape(c, nnv_rc_out(c, 0));
    *x = nnv_rc_image(&in, layout);
    *y = nnv_rc_image(&out, layout);
}

static void pool(struct nnv_rc *c) {
    struct pool p = {.count_padding = nnv_rc_int_attr(c, "count_include_pad", 0)};
    struct nnv_rc_shape x, y;
    uint32_t at[2];
    const char *layout = pool_layout(c, at);
    find_images(c, layout, &x, &y);
    find_pool(c, &p);
    if (!nnv_rc_ok(c)) return;
    find_end(c, &p, &x, &y, at);
    bool padded = p.pad[0] || p.pad[1] || p.pad[2] || p.pad[3];
    if (!nnv_rc_ok(c)) return;
    if (padded && p.count_padding)
        average_with_zeros(c, layout, &p, at);
    else
        emit_pool(c, NNV_RC_NONE, c->node->row->code, layout, &p);
}

static void global_pool(struct nnv_rc *c) {
    uint32_t at[2];
    const char *layout = pool_layout(c, at);
    struct nnv_rc_shape x = nnv_rc_shape(c, nnv_rc_arg(c, 0));
    struct pool p = {{x.dims[at[0]], x.dims[at[1]]}, {1, 1}, {0}, false};
    if (nnv_rc_ok(c)) emit_pool(c, NNV_RC_NONE, c->node->row->code, layout, &p);
}

/* Places of equal size: a window of that size, which moves by it. */
static void adaptive_pool(struct nnv_rc *c) {
    uint32_t at[2];
    const char *layout = pool_layout(c, at);
    struct nnv_rc_shape x, y;
    struct pool p = {0};
    find_images(c, layout, &x, &y);
    for (size_t i = 0; i < 2; i++) {
        uint32_t in = x.dims[at[i]], out = y.dims[at[i]];
        if (!out || in % out) {
            nnv_rc_refuse(c, "an extent of %u in %u places of unequal size", in, out);
            return;
        }
        p.size[i] = p.stride[i] = in / out;
    }
    if (nnv_rc_ok(c)) emit_pool(c, NNV_RC_NONE, c->node->row->code, layout, &p);
}

/* -------------------------------------------------------------------- resizing */

static void emit_resize(struct nnv_rc *c, bool nearest, bool corners, bool half) {
    uint32_t out = nnv_rc_result(c, 0), in[6], n = 0;
    struct nnv_rc_layout l = nnv_rc_layout(c, nnv_rc_in(c, 0), out, nnv_rc_text_attr(c, "layout", "NCHW"), true);
    if (!nnv_rc_ok(c)) return;
    in[n++] = l.in;
    in[n++] = nnv_rc_int(c, l.out_shape.dims[l.w]);
    in[n++] = nnv_rc_int(c, l.out_shape.dims[l.h]);
    if (l.flag || nearest || corners || half) in[n++] = nnv_builder_bool(&c->b, l.flag);
    if (corners || half) {
        in[n++] = nnv_builder_bool(&c->b, corners);
        in[n++] = nnv_builder_bool(&c->b, half);
    }
    nnv_rc_emit_n(c, nearest ? ANEURALNETWORKS_RESIZE_NEAREST_NEIGHBOR : ANEURALNETWORKS_RESIZE_BILINEAR, n, in, 1,
                  &l.out);
    nnv_rc_layout_end(c, &l, out);
}

static void resize2d(struct nnv_rc *c) {
    const char *method = nnv_rc_text_attr(c, "method", "linear"),
               *mode = nnv_rc_text_attr(c, "coordinate_transformation_mode", "half_pixel"),
               *rounding = nnv_rc_text_attr(c, "rounding_method", "");
    bool corners = strcmp(mode, "align_corners") == 0, half = strcmp(mode, "half_pixel") == 0,
         nearest = strcmp(method, "nearest_neighbor") == 0;
    if (nearest && strcmp(mode, "tf_half_pixel_for_nn") == 0)
        half = true; /* NNAPI's nearest: the place rounded down, with the half, but without taking one half off */
    else if (!corners && !half && strcmp(mode, "asymmetric") != 0)
        nnv_rc_refuse(c, "coordinate_transformation_mode %s: only half_pixel, align_corners and asymmetric", mode);
    if (!nearest && strcmp(method, "linear") != 0)
        nnv_rc_refuse(c, "method %s: only linear and nearest_neighbor", method);
    if (nearest && !corners && !half && *rounding && strcmp(rounding, "floor") != 0)
        nnv_rc_refuse(c, "rounding_method %s of an asymmetric grid: NNAPI rounds down", rounding);
    if (nearest && corners && *rounding && strcmp(rounding, "round") != 0)
        nnv_rc_refuse(c, "rounding_method %s with align_corners: NNAPI rounds to the nearest", rounding);
    bool plain = strcmp(mode, "half_pixel") == 0,
         nearer = strcmp(rounding, "round") == 0 || strcmp(rounding, "round_prefer_ceil") == 0;
    if (nearest && half && (plain ? !nearer : *rounding && strcmp(rounding, "floor") != 0))
        nnv_rc_refuse(c, "rounding_method \"%s\" of %s: NNAPI rounds such places to the nearest (\"round\")", rounding,
                      mode);
    if (nnv_rc_type(c, nnv_rc_out(c, 0))->dtype != nnv_rc_type(c, nnv_rc_arg(c, 0))->dtype && !c->real)
        nnv_rc_refuse(c, "a result of another type than the operand (out_dtype)");
    if (nnv_rc_ok(c)) emit_resize(c, nearest, corners, half);
}

static void upsampling(struct nnv_rc *c) {
    const char *method = nnv_rc_text_attr(c, "method", "nearest_neighbor");
    bool nearest = strcmp(method, "nearest_neighbor") == 0, corners = nnv_rc_int_attr(c, "align_corners", 0);
    double scale[] = {nnv_rc_num_attr(c, "scale_h", 1), nnv_rc_num_attr(c, "scale_w", 1)};
    if (!nearest && strcmp(method, "bilinear") != 0)
        nnv_rc_refuse(c, "method %s: only nearest_neighbor and bilinear", method);
    if (!nearest && nnv_rc_is_byte(c, nnv_rc_arg(c, 0)))
        nnv_rc_refuse(c, "bilinear means of integers; dequantise them before");
    for (size_t i = 0; i < 2; i++)
        if (scale[i] != (double)(int)scale[i]) nnv_rc_refuse(c, "a scale of %g, which is not whole", scale[i]);
    if (nnv_rc_ok(c)) emit_resize(c, nearest, corners && !nearest, false);
}

#define REAL NNV_RC_REAL | NNV_RC_FUSES
static const struct nnv_rc_row rows[] = {
    {"nn.max_pool1d", pool, ANEURALNETWORKS_MAX_POOL_2D, NNV_RC_FLOAT | NNV_RC_BYTE, REAL | NNV_RC_MOVES, 1,
     "MAX_POOL_2D"},
    {"nn.avg_pool1d", pool, ANEURALNETWORKS_AVERAGE_POOL_2D, NNV_RC_FLOAT, REAL, 1, "AVERAGE_POOL_2D"},
    {"nn.adaptive_avg_pool1d", adaptive_pool, ANEURALNETWORKS_AVERAGE_POOL_2D, NNV_RC_FLOAT, REAL, 1,
     "AVERAGE_POOL_2D"},
    {"nn.adaptive_max_pool1d", adaptive_pool, ANEURALNETWORKS_MAX_POOL_2D, NNV_RC_FLOAT | NNV_RC_BYTE,
     REAL | NNV_RC_MOVES, 1, "MAX_POOL_2D"},
    {"nn.max_pool2d", pool, ANEURALNETWORKS_MAX_POOL_2D, NNV_RC_FLOAT | NNV_RC_BYTE, REAL | NNV_RC_MOVES, 1,
     "MAX_POOL_2D"},
    {"nn.avg_pool2d", pool, ANEURALNETWORKS_AVERAGE_POOL_2D, NNV_RC_FLOAT, REAL, 1, "AVERAGE_POOL_2D"},
    {"nn.global_max_pool2d", global_pool, ANEURALNETWORKS_MAX_POOL_2D, NNV_RC_FLOAT | NNV_RC_BYTE, REAL | NNV_RC_MOVES,
     1, "MAX_POOL_2D"},
    {"nn.global_avg_pool2d", global_pool, ANEURALNETWORKS_AVERAGE_POOL_2D, NNV_RC_FLOAT, REAL, 1, "AVERAGE_POOL_2D"},
    {"nn.adaptive_avg_pool2d", adaptive_pool, ANEURALNETWORKS_AVERAGE_POOL_2D, NNV_RC_FLOAT, REAL, 1,
     "AVERAGE_POOL_2D"},
    {"nn.adaptive_max_pool2d", adaptive_pool, ANEURALNETWORKS_MAX_POOL_2D, NNV_RC_FLOAT | NNV_RC_BYTE,
     REAL | NNV_RC_MOVES, 1, "MAX_POOL_2D"},
    {"image.resize2d", resize2d, -1, NNV_RC_FLOAT, NNV_RC_REAL, 1, "RESIZE_BILINEAR, RESIZE_NEAREST_NEIGHBOR"},
    {"nn.upsampling", upsampling, -1, NNV_RC_FLOAT | NNV_RC_BYTE, NNV_RC_MOVES, 1,
     "RESIZE_NEAREST_NEIGHBOR, RESIZE_BILINEAR"},
};
const struct nnv_rc_rows nnv_rc_window = {rows, sizeof rows / sizeof *rows};
