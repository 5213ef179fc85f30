/* SPDX-License-Identifier: Apache-2.0 */
/** @file products.c Steps of chains: convolutions, matrix products and pools. */
#include "randgraph/fusion/chain.h"

#include <math.h>

/* A window over the image, and how it goes. */
struct window {
    int kh, kw, sh, sw, dh, dw;
    bool same, planes; /* planes: the image is NCHW */
    int pad[4];        /* left, right, top, bottom; all -1: implicit */
};

static int smaller(int a, int b) { return a < b ? a : b; }

/* Common windows most often; one that is as large as the image at most. */
static struct window draw_window(struct nnv_chain *c, bool pool, bool planes) {
    static const int sizes[][2] = {{3, 3}, {3, 3}, {1, 1}, {2, 2}, {5, 5}, {1, 3}, {3, 1}, {3, 2}};
    static const int strides[][2] = {{1, 1}, {2, 2}, {1, 1}, {2, 1}, {2, 2}, {1, 2}};
    const int first = planes ? 2 : 1;
    const int h = (int)nnv_chain_extent(c, c->at, first), w = (int)nnv_chain_extent(c, c->at, first + 1);
    const int *k = sizes[nnv_chain_int(c, 0, 7)], *s = strides[nnv_chain_int(c, 0, 5)];
    const bool dilated = nnv_chain_chance(c, 0.15), one = nnv_chain_chance(c, 0.5);
    if (pool && k[0] * k[1] == 1) k = sizes[3];
    struct window win = {.kh = smaller(k[0], h),
                         .kw = smaller(k[1], w),
                         .sh = s[0],
                         .sw = s[1],
                         .dh = 1,
                         .dw = 1,
                         .same = nnv_chain_chance(c, 0.5),
                         .planes = planes,
                         .pad = {-1, -1, -1, -1}};
    if (dilated && !pool && s[0] * s[1] == 1 && 2 * (win.kh - 1) < h && 2 * (win.kw - 1) < w) {
        win.dw = 2;
        win.dh = one ? 1 : 2;
    } else if (nnv_chain_chance(c, 0.25)) {
        for (int i = 0; i < 4; i++) win.pad[i] = nnv_chain_int(c, 0, smaller(1, (i < 2 ? win.kw : win.kh) - 1));
    }
    return win;
}

static uint32_t depth_of(const struct nnv_chain *c, bool planes) { return nnv_chain_extent(c, c->at, planes ? 1 : 3); }

/* Appends padding and strides; returns how many inputs there are. */
static uint32_t put_window(struct nnv_chain *c, const struct window *w, uint32_t *in, uint32_t n) {
    if (w->pad[0] < 0)
        in[n++] = nnv_chain_i32(c, w->same ? ANEURALNETWORKS_PADDING_SAME : ANEURALNETWORKS_PADDING_VALID);
    else
        for (int i = 0; i < 4; i++) in[n++] = nnv_chain_i32(c, w->pad[i]);
    in[n++] = nnv_chain_i32(c, w->sw);
    in[n++] = nnv_chain_i32(c, w->sh);
    return n;
}

/* Appends layout and dilations, as far as they are not the usual ones. */
static uint32_t put_dilation(struct nnv_chain *c, const struct window *w, uint32_t *in, uint32_t n) {
    const bool dilated = w->dw != 1 || w->dh != 1;
    if (dilated || w->planes) in[n++] = nnv_chain_scalar(c, ANEURALNETWORKS_BOOL, w->planes);
    if (!dilated) return n;
    in[n++] = nnv_chain_i32(c, w->dw);
    in[n++] = nnv_chain_i32(c, w->dh);
    return n;
}

/* Products of so many terms have about the variance of their input. */
static double weight_range(uint32_t terms) { return 1.9 / sqrt((double)terms); }

static uint32_t weights(struct nnv_chain *c, bool stored, uint32_t rank, const uint32_t *dims, int dim, double most) {
    return stored ? nnv_chain_stored(c, rank, dims, most) : nnv_chain_filter(c, rank, dims, dim, most);
}

static void conv(struct nnv_chain *c, bool stored, bool planes) {
    static const uint32_t channels[] = {4, 8, 3, 5};
    const struct window w = draw_window(c, false, planes);
    const uint32_t depth = depth_of(c, planes), n = channels[nnv_chain_int(c, 0, 3)];
    const uint32_t dims[] = {n, (uint32_t)w.kh, (uint32_t)w.kw, depth};
    uint32_t in[16] = {c->at}, count = 3;
    in[1] = weights(c, stored, 4, dims, 0, weight_range(dims[1] * dims[2] * depth));
    in[2] = nnv_chain_bias(c, in[1], n);
    count = put_window(c, &w, in, count);
    in[count++] = nnv_chain_activation(c);
    count = put_dilation(c, &w, in, count);
    c->at = nnv_chain_add(c, ANEURALNETWORKS_CONV_2D, count, in);
}

void nnv_chain_conv(struct nnv_chain *c, int stored) { conv(c, stored != 0, false); }

void nnv_chain_conv_planes(struct nnv_chain *c, int arg) {
    (void)arg;
    conv(c, false, true);
}

static void depthwise(struct nnv_chain *c, bool stored, bool planes) {
    const struct window w = draw_window(c, false, planes);
    const uint32_t depth = depth_of(c, planes), multiplier = nnv_chain_chance(c, 0.7) ? 1 : 2;
    const uint32_t dims[] = {1, (uint32_t)w.kh, (uint32_t)w.kw, depth * multiplier};
    uint32_t in[16] = {c->at}, count = 3;
    in[1] = weights(c, stored, 4, dims, 3, weight_range(dims[1] * dims[2]));
    in[2] = nnv_chain_bias(c, in[1], dims[3]);
    count = put_window(c, &w, in, count);
    in[count++] = nnv_chain_i32(c, (int)multiplier);
    in[count++] = nnv_chain_activation(c);
    count = put_dilation(c, &w, in, count);
    c->at = nnv_chain_add(c, ANEURALNETWORKS_DEPTHWISE_CONV_2D, count, in);
}

void nnv_chain_depthwise(struct nnv_chain *c, int stored) { depthwise(c, stored != 0, false); }

void nnv_chain_depthwise_planes(struct nnv_chain *c, int arg) {
    (void)arg;
    depthwise(c, false, true);
}

void nnv_chain_grouped(struct nnv_chain *c, int arg) {
    (void)arg;
    struct window w = draw_window(c, false, false);
    const uint32_t depth = nnv_chain_extent(c, c->at, 3), groups = depth % 2 ? depth : 2;
    const uint32_t dims[] = {2 * groups, (uint32_t)w.kh, (uint32_t)w.kw, depth / groups};
    uint32_t in[16] = {c->at}, count = 3;
    in[1] = nnv_chain_filter(c, 4, dims, 0, weight_range(dims[1] * dims[2] * dims[3]));
    in[2] = nnv_chain_bias(c, in[1], dims[0]);
    count = put_window(c, &w, in, count);
    in[count++] = nnv_chain_i32(c, (int)groups);
    in[count++] = nnv_chain_activation(c);
    in[count++] = nnv_chain_scalar(c, ANEURALNETWORKS_BOOL, 0);
    c->at = nnv_chain_add(c, ANEURALNETWORKS_GROUPED_CONV_2D, count, in);
}

void nnv_chain_transpose_conv(struct nnv_chain *c, int arg) {
    (void)arg;
    struct window w = draw_window(c, false, false);
    const uint32_t depth = nnv_chain_extent(c, c->at, 3);
    const uint32_t dims[] = {4, (uint32_t)w.kh, (uint32_t)w.kw, depth};
    uint32_t in[16] = {c->at}, count = 3;
    for (int i = 0; i < 4; i++) w.pad[i] = 0;
    in[1] = nnv_chain_filter(c, 4, dims, 0, weight_range(dims[1] * dims[2] * depth));
    in[2] = nnv_chain_bias(c, in[1], dims[0]);
    count = put_window(c, &w, in, count);
    in[count++] = nnv_chain_activation(c);
    in[count++] = nnv_chain_scalar(c, ANEURALNETWORKS_BOOL, 0);
    c->at = nnv_chain_add(c, ANEURALNETWORKS_TRANSPOSE_CONV_2D, count, in);
}

uint32_t nnv_chain_conv_of(struct nnv_chain *c, uint32_t x, uint32_t k, uint32_t channels, bool same) {
    if (c->failed) return 0;
    c->at = x;
    const uint32_t depth = nnv_chain_extent(c, x, 3), dims[] = {channels, k, k, depth};
    const uint32_t filter = nnv_chain_filter(c, 4, dims, 0, weight_range(k * k * depth));
    const uint32_t bias = nnv_chain_bias(c, filter, channels);
    const uint32_t pad = nnv_chain_i32(c, same ? ANEURALNETWORKS_PADDING_SAME : ANEURALNETWORKS_PADDING_VALID);
    const uint32_t one = nnv_chain_i32(c, 1), none = nnv_chain_i32(c, ANEURALNETWORKS_FUSED_NONE);
    return NNV_CHAIN_ADD(c, CONV_2D, x, filter, bias, pad, one, one, none);
}

static uint32_t add_fc(struct nnv_chain *c, bool stored, uint32_t x, uint32_t size, uint32_t units) {
    if (c->failed) return 0;
    c->at = x;
    const uint32_t dims[] = {units, size};
    const uint32_t filter = weights(c, stored, 2, dims, -1, weight_range(size));
    const uint32_t bias = nnv_chain_bias(c, filter, units);
    return NNV_CHAIN_ADD(c, FULLY_CONNECTED, x, filter, bias, nnv_chain_activation(c));
}

uint32_t nnv_chain_fc_of(struct nnv_chain *c, uint32_t x, uint32_t size, uint32_t units) {
    return add_fc(c, false, x, size, units);
}

/* Of images: each pixel, or each image as a line. */
void nnv_chain_fc(struct nnv_chain *c, int stored) {
    const struct nnv_operand *o = nnv_chain_operand(c, c->at);
    uint32_t size = nnv_chain_extent(c, c->at, -1);
    const bool whole = nnv_chain_chance(c, 0.5);
    for (uint32_t i = 1; whole && i + 1 < o->rank; i++) size *= o->dims[i];
    c->at = add_fc(c, stored, c->at, size, (uint32_t)nnv_chain_int(c, 1, 3) * 4 - 1);
}

/* With a constant, as a weight, or with another value. */
void nnv_chain_matmul(struct nnv_chain *c, int arg) {
    (void)arg;
    const struct nnv_operand *o = nnv_chain_operand(c, c->at);
    uint32_t dims[NNV_MAX_RANK];
    if (o->rank < 2) nnv_chain_fail(c);
    if (c->failed) return;
    const uint32_t size = nnv_chain_extent(c, c->at, -1), rank = o->rank, units = (uint32_t)nnv_chain_int(c, 3, 7);
    const bool turned = nnv_chain_chance(c, 0.5), constant = nnv_chain_chance(c, 0.6);
    for (uint32_t i = 0; i < rank; i++) dims[i] = o->dims[i];
    dims[rank - 2] = turned ? units : size;
    dims[rank - 1] = turned ? size : units;
    const double most = weight_range(size);
    const uint32_t x = c->at, y = constant ? nnv_chain_constant(c, rank, dims, -most, most)
                                           : nnv_chain_input(c, o->type, rank, dims, -most, most);
    const uint32_t no = nnv_chain_scalar(c, ANEURALNETWORKS_BOOL, 0);
    c->at = NNV_CHAIN_ADD(c, BATCH_MATMUL, x, y, no, nnv_chain_scalar(c, ANEURALNETWORKS_BOOL, turned));
}

static void pool(struct nnv_chain *c, int code, bool planes) {
    const struct window w = draw_window(c, true, planes);
    uint32_t in[12] = {c->at}, count = put_window(c, &w, in, 1);
    in[count++] = nnv_chain_i32(c, w.kw);
    in[count++] = nnv_chain_i32(c, w.kh);
    in[count++] = nnv_chain_activation(c);
    if (planes) in[count++] = nnv_chain_scalar(c, ANEURALNETWORKS_BOOL, 1);
    c->at = nnv_chain_add(c, code, count, in);
}

void nnv_chain_pool(struct nnv_chain *c, int code) { pool(c, code, false); }

void nnv_chain_pool_planes(struct nnv_chain *c, int code) { pool(c, code, true); }
