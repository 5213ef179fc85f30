/* SPDX-License-Identifier: Apache-2.0 */
/** @file window.c Products of matrices, windows that slide over images, and images of another size. */
#include "convert.h"

/* --------------------------------------------------------------------- products */

/** ggml multiplies lines by lines: every line of x by every line of w, both of the same length. Sums are float32. */
void gg_fully_connected(struct gg_conversion *c) {
    const struct engine_tensor *w = engine_in(&c->op, 1), *y = engine_out(&c->op, 0);
    const int32_t act = engine_int(&c->op, 3, ANEURALNETWORKS_FUSED_NONE);
    gg_tensor *x = gg_shape(c, gg_in(c, 0), 2, (const int64_t[]){y->dims[0], w->dims[1]});
    gg_tensor *sum = gg_two(c, c->name, gg_in(c, 1), x);
    gg_out(c, 0, gg_activate(c, gg_two(c, "add", sum, gg_real(c, 2)), act), GG_FLOAT);
}

/** One of the two, its lines along the sums; by: its last two extents are to change places for that. */
static gg_tensor *lines(struct gg_conversion *c, uint32_t i, bool by) {
    const struct engine_tensor *t = engine_in(&c->op, i);
    int64_t dims[ENGINE_MAX_RANK];
    uint32_t order[ENGINE_MAX_RANK];
    for (uint32_t k = 0; k < t->rank; k++) order[k] = k;
    order[t->rank - 1] = t->rank - 2;
    order[t->rank - 2] = t->rank - 1;
    gg_dims(t, dims);
    gg_tensor *x = gg_in(c, i);
    if (!by) return x;
    x = gg_transpose(c, x, t->rank, dims, order);
    const int64_t last = dims[t->rank - 1];
    dims[t->rank - 1] = dims[t->rank - 2];
    dims[t->rank - 2] = last;
    return gg_shape(c, x, t->rank, dims);
}

void gg_batch_matmul(struct gg_conversion *c) {
    const struct engine_tensor *a = engine_in(&c->op, 0), *b = engine_in(&c->op, 1);
    const bool turn_a = engine_int(&c->op, 2, 0) != 0, turn_b = engine_int(&c->op, 3, 0) != 0;
    if (c->op.not_constant) gg_refuse(c, "a parameter is no constant");
    if (gg_type_of(a) == GG_INT) gg_refuse(c, "only float32 and float16 are computed on");
    if (a->rank > GG_EXTENTS || a->rank != b->rank) gg_refuse(c, "ggml's tensors have four extents");
    for (uint32_t i = 0; !c->refused && i + 2 < a->rank; i++)
        if (a->dims[i] != b->dims[i]) gg_refuse(c, "ggml's products are of as many matrices");
    if (c->refused) return;
    gg_tensor *x = lines(c, 0, turn_a);
    gg_out(c, 0, gg_two(c, c->name, lines(c, 1, !turn_b), x), GG_FLOAT);
}

/* ---------------------------------------------------------------------- windows */

/** A window over an image, first height, then width. */
struct frame {
    struct engine_window w;
    int size[2], stride[2], dilation[2], head[2], tail[2];
    uint32_t channels_at;
};

static void fill(struct gg_conversion *c, struct frame *f) {
    const struct engine_tensor *x = engine_in(&c->op, 0), *y = engine_out(&c->op, 0);
    const struct engine_window *w = &f->w;
    const uint32_t h = w->nchw ? 2 : 1;
    f->channels_at = w->nchw ? 1 : 3;
    f->stride[0] = w->stride_h;
    f->stride[1] = w->stride_w;
    f->dilation[0] = w->dilation_h;
    f->dilation[1] = w->dilation_w;
    f->head[0] = w->top;
    f->tail[0] = w->bottom;
    f->head[1] = w->left;
    f->tail[1] = w->right;
    for (uint32_t d = 0; d < 2; d++)
        engine_window_pad(w->scheme, x->dims[h + d], y->dims[h + d], f->size[d], f->stride[d], f->dilation[d],
                          &f->head[d], &f->tail[d]);
}

/** An image with channels first, as ggml wants it, and back. */
static gg_tensor *to_nchw(struct gg_conversion *c, gg_tensor *x, bool is_nchw) {
    int64_t dims[ENGINE_MAX_RANK];
    const struct engine_tensor *t = engine_in(&c->op, 0);
    gg_dims(t, dims);
    if (is_nchw) return x;
    x = gg_transpose(c, x, 4, dims, (const uint32_t[]){0, 3, 1, 2});
    return gg_shape(c, x, 4, (const int64_t[]){dims[0], dims[3], dims[1], dims[2]});
}

static gg_tensor *from_nchw(struct gg_conversion *c, gg_tensor *x, bool is_nchw) {
    int64_t d[ENGINE_MAX_RANK];
    gg_dims(engine_out(&c->op, 0), d);
    if (is_nchw) return x;
    x = gg_transpose(c, x, 4, (const int64_t[]){d[0], d[3], d[1], d[2]}, (const uint32_t[]){0, 2, 3, 1});
    return gg_shape(c, x, 4, d);
}

/** Zeros around the image, where ggml's convolution can't add them: it has as many on both sides. */
static gg_tensor *padded(struct gg_conversion *c, gg_tensor *x, struct frame *f) {
    if (f->head[0] == f->tail[0] && f->head[1] == f->tail[1]) return x;
    x = x ? gg_made(c, c->graph->lib->pad_ext(c->graph->context, x, f->head[1], f->tail[1], f->head[0], f->tail[0], 0,
                                              0, 0, 0))
          : NULL;
    f->head[0] = f->head[1] = 0;
    return x;
}

/** The filter as ggml wants it: [filters, channels of each, height, width]. */
static gg_tensor *filter_of(struct gg_conversion *c, bool is_depthwise) {
    int64_t d[ENGINE_MAX_RANK];
    gg_dims(engine_in(&c->op, 1), d);
    gg_tensor *w = is_depthwise ? gg_real(c, 1) : gg_in(c, 1);
    if (is_depthwise) {
        w = gg_transpose(c, w, 4, d, (const uint32_t[]){3, 0, 1, 2});
        return gg_shape(c, w, 4, (const int64_t[]){d[3], 1, d[1], d[2]});
    }
    w = gg_transpose(c, w, 4, d, (const uint32_t[]){0, 3, 1, 2});
    return gg_shape(c, w, 4, (const int64_t[]){d[0], d[3], d[1], d[2]});
}

/**
 * Products with the windows laid out as lines, as ggml_conv_2d makes them, but of the image's own type: that one rounds
 * them to float16. The channels of the result come last.
 */
static gg_tensor *products(struct gg_conversion *c, gg_tensor *filter, gg_tensor *image, const struct frame *f) {
    const struct gg_library *lib = c->graph->lib;
    const struct engine_tensor *w = engine_in(&c->op, 1), *y = engine_out(&c->op, 0);
    const int64_t filters = w->dims[0], length = (int64_t)w->count / filters;
    gg_tensor *windows =
        gg_made(c, lib->im2col(c->graph->context, filter, image, f->stride[1], f->stride[0], f->head[1], f->head[0],
                               f->dilation[1], f->dilation[0], true, (int)gg_type_of(w)));
    if (lib->nelements(windows) != (int64_t)y->count / filters * length)
        gg_refuse(c, "ggml's result has other extents");
    if (c->refused) return NULL;
    return gg_two(c, "mul_mat", gg_shape(c, filter, 2, (const int64_t[]){filters, length}),
                  gg_shape(c, windows, 2, (const int64_t[]){(int64_t)y->count / filters, length}));
}

void gg_conv(struct gg_conversion *c) {
    const struct gg_library *lib = c->graph->lib;
    const struct engine_tensor *x = engine_in(&c->op, 0), *w = engine_in(&c->op, 1), *y = engine_out(&c->op, 0);
    const bool is_depthwise = c->op.node->code == ANEURALNETWORKS_DEPTHWISE_CONV_2D;
    struct frame f = {.size = {(int)w->dims[1], (int)w->dims[2]}};
    int64_t d[ENGINE_MAX_RANK];
    if (!engine_window_read(&c->op, 3, is_depthwise, &f.w)) gg_refuse(c, "a parameter is no constant");
    if (gg_type_of(w) != gg_type_of(x)) gg_refuse(c, "image and filter have different types");
    if (is_depthwise && f.w.more[0] != 1) gg_refuse(c, "ggml's depthwise convolution has one filter a channel");
    if (c->refused) return;
    fill(c, &f);
    gg_tensor *image = padded(c, to_nchw(c, gg_real(c, 0), f.w.nchw), &f), *filter = filter_of(c, is_depthwise), *sum;
    if (!image || !filter || c->refused) return;
    gg_dims(y, d);
    const int64_t channels = d[f.channels_at], pixels = (int64_t)y->count / d[0] / channels;
    const uint32_t to_last[] = {0, 2, 1}; /* and back */
    if (is_depthwise) {
        sum = gg_made(c, lib->conv_2d_dw_direct(c->graph->context, filter, image, f.stride[1], f.stride[0], f.head[1],
                                                f.head[0], f.dilation[1], f.dilation[0]));
        if (lib->nelements(sum) != (int64_t)y->count) gg_refuse(c, "ggml's result has other extents");
        sum = c->refused ? NULL : gg_transpose(c, sum, 3, (const int64_t[]){d[0], channels, pixels}, to_last);
        sum = gg_shape(c, sum, 2, (const int64_t[]){d[0] * pixels, channels});
    } else {
        sum = products(c, filter, image, &f);
    }
    sum = gg_activate(c, gg_two(c, "add", sum, gg_real(c, 2)), f.w.activation);
    if (f.w.nchw) sum = gg_transpose(c, sum, 3, (const int64_t[]){d[0], pixels, channels}, to_last);
    gg_out(c, 0, sum, GG_FLOAT);
}

/** The root of the mean of squares is made of the mean. ggml counts padding in means. */
void gg_pool(struct gg_conversion *c) {
    enum { LARGEST = 0, MEAN = 1 };
    const bool largest = c->op.node->code == ANEURALNETWORKS_MAX_POOL_2D,
               is_l2 = c->op.node->code == ANEURALNETWORKS_L2_POOL_2D;
    struct frame f = {0};
    if (!engine_window_read(&c->op, 1, 2, &f.w)) gg_refuse(c, "a parameter is no constant");
    f.size[0] = f.w.more[1];
    f.size[1] = f.w.more[0];
    f.w.dilation_h = f.w.dilation_w = 1;
    fill(c, &f);
    for (uint32_t d = 0; d < 2; d++) {
        if (!largest && (f.head[d] || f.tail[d])) gg_refuse(c, "ggml counts padding in means");
        if (f.head[d] != f.tail[d]) gg_refuse(c, "ggml has as much padding on both sides");
    }
    gg_tensor *x = to_nchw(c, gg_real(c, 0), f.w.nchw);
    if (is_l2) x = gg_one(c, "sqr", x);
    if (!x || c->refused) return;
    x = gg_made(c, c->graph->lib->pool_2d(c->graph->context, x, largest ? LARGEST : MEAN, f.size[1], f.size[0],
                                          f.stride[1], f.stride[0], (float)f.head[1], (float)f.head[0]));
    if (is_l2) x = gg_one(c, "sqrt", x);
    x = gg_activate(c, x, f.w.activation);
    gg_out(c, 0, from_nchw(c, x, f.w.nchw), GG_FLOAT);
}

/** By the output's extents, whether they were given as such or as factors. */
void gg_resize(struct gg_conversion *c) {
    enum { NEAREST = 0, BILINEAR = 1, CORNERS = 1 << 8 };
    const struct engine_tensor *y = engine_out(&c->op, 0);
    const bool is_nchw = engine_int(&c->op, 3, 0) != 0, corners = engine_int(&c->op, 4, 0) != 0,
               centres = engine_int(&c->op, 5, 0) != 0, nearest = c->op.node->code != ANEURALNETWORKS_RESIZE_BILINEAR;
    const uint32_t h = is_nchw ? 2 : 1;
    if (!engine_constant(&c->op, 1, 2)) gg_refuse(c, "a parameter is no constant");
    if (nearest ? corners || centres : !corners && !centres) gg_refuse(c, "ggml measures positions otherwise");
    gg_tensor *x = to_nchw(c, gg_real(c, 0), is_nchw);
    if (!x || c->refused) return;
    x = gg_made(c,
                c->graph->lib->interpolate(c->graph->context, x, y->dims[h + 1], y->dims[h], y->dims[is_nchw ? 1 : 3],
                                           y->dims[0], nearest ? NEAREST : BILINEAR | (corners ? CORNERS : 0)));
    gg_out(c, 0, from_nchw(c, x, is_nchw), GG_FLOAT);
}
