/* SPDX-License-Identifier: Apache-2.0 */
/** @file conv.c CONV_2D: rows of pixels under the filter are gathered, and multiplied with the packed filter. */
#include <string.h>

#include "dense.h"
#include "image.h"

enum { X, FILTER, BIAS, FIRST_OPTION };

static bool check(const struct cpu_call *c) {
    const struct cpu_tensor *filter = cpu_in(c, FILTER);
    struct cpu_window w;
    if (filter->known_rank && filter->shape.rank != 4) return false;
    return cpu_layer_check(cpu_in(c, X), filter, cpu_in(c, BIAS), 0) && cpu_window_read(c, FIRST_OPTION, 0, NULL, &w);
}

/** Everything there is to know of one convolution. */
struct conv {
    struct cpu_window window;
    struct cpu_image in, out;
    const void *x;
    const struct cpu_kernels *kernels;
    bool quantised;
    int32_t zero_point; /**< of the input */
    size_t k;           /**< values of a gathered row */
    const struct cpu_span *cols;
};

static bool describe(const struct cpu_call *c, struct conv *v) {
    const struct cpu_tensor *x = cpu_in(c, X), *filter = cpu_in(c, FILTER), *bias = cpu_in(c, BIAS);
    const uint32_t *f = filter->shape.dims;
    *v = (struct conv){.quantised = cpu_is_quant8(x), .zero_point = x->zero_point};
    if (filter->shape.rank != 4 || bias->shape.rank != 1) return false;
    if (!cpu_window_read(c, FIRST_OPTION, 0, NULL, &v->window)) return false;
    v->in = cpu_image_of(&x->shape, v->window.nchw);
    v->window.filter_h = f[1];
    v->window.filter_w = f[2];
    if (!cpu_agree(v->in.c, f[3]) || !cpu_agree(bias->shape.dims[0], f[0]) || v->in.c == 0 || f[0] == 0) return false;
    v->out.n = v->in.n;
    v->out.c = f[0];
    return cpu_window_apply(&v->window, v->in, &v->out.h, &v->out.w);
}

static bool infer(struct cpu_call *c) {
    struct conv v;
    if (!describe(c, &v)) return false;
    c->out_shapes[0] = cpu_image_shape(v.out, v.window.nchw);
    return true;
}

static struct cpu_layer layer_of(const struct cpu_node *node, const struct cpu_tensor *tensors) {
    const struct cpu_tensor *filter = &tensors[node->in[FILTER]];
    return (struct cpu_layer){
        .input = &tensors[node->in[X]],
        .weights = filter,
        .bias = &tensors[node->in[BIAS]],
        .output = &tensors[node->out[0]],
        .n = filter->shape.dims[0],
        .k = filter->known_rank && filter->shape.rank == 4 ? cpu_extent(&filter->shape, 1, 4) : 0,
    };
}

static bool prepare(struct cpu_node *node, const struct cpu_tensor *tensors, struct cpu_arena *arena,
                    const struct cpu_kernels *kernels) {
    const struct cpu_layer layer = layer_of(node, tensors);
    struct cpu_dense *dense;
    if (!cpu_dense_prepare(kernels, &layer, arena, &dense)) return false;
    node->state = dense;
    return true;
}

/** count values of the image, centred where quantised. */
static void copy_values(const struct conv *v, size_t at, size_t count, void *to) {
    if (v->quantised)
        v->kernels->center_u8(count, (const uint8_t *)v->x + at, v->zero_point, to);
    else
        memcpy(to, (const float *)v->x + at, count * sizeof(float));
}

/** One row of the filter over one row of the image; y may lie outside. to: filter_w * C values. */
static void gather_line(const struct conv *v, size_t image, int64_t y, int64_t x, struct cpu_span span, char *to,
                        size_t element) {
    const struct cpu_window *w = &v->window;
    const size_t c = v->in.c, line = (size_t)w->filter_w * c * element;
    if (y < 0 || y >= v->in.h) span.count = 0;
    if (span.count < w->filter_w) memset(to, 0, line);
    if (span.count == 0) return;
    size_t at = ((image * v->in.h + (size_t)y) * v->in.w + (size_t)(x + (int64_t)span.first * w->dilation_w)) * c;
    to += span.first * c * element;
    if (w->dilation_w == 1) {
        copy_values(v, at, span.count * c, to);
        return;
    }
    for (uint32_t q = 0; q < span.count; q++)
        copy_values(v, at + q * (size_t)w->dilation_w * c, c, to + q * c * element);
}

/** Pixels stand one behind the other: a 1x1 filter that takes every pixel. */
static bool is_pointwise(const struct conv *v) {
    const struct cpu_window *w = &v->window;
    return w->filter_w == 1 && w->filter_h == 1 && w->stride_w == 1 && w->stride_h == 1 && v->in.h == v->out.h &&
           v->in.w == v->out.w;
}

static void gather(const void *source, size_t first, size_t count, void *to) {
    const struct conv *v = source;
    const struct cpu_window *w = &v->window;
    const size_t element = v->quantised ? sizeof(int16_t) : sizeof(float), row = v->k * element;
    const size_t line = (size_t)w->filter_w * v->in.c * element;
    if (is_pointwise(v) && v->k == v->in.c) {
        copy_values(v, first * v->k, count * v->k, to);
        return;
    }
    for (size_t i = 0; i < count; i++) {
        const size_t pixel = first + i, y_out = pixel / v->out.w % v->out.h, image = pixel / v->out.w / v->out.h;
        const int64_t x = (int64_t)(pixel % v->out.w) * w->stride_w - w->left;
        const int64_t y = (int64_t)y_out * w->stride_h - w->top;
        char *at = (char *)to + i * row;
        for (uint32_t p = 0; p < w->filter_h; p++)
            gather_line(v, image, y + (int64_t)p * w->dilation_h, x, v->cols[pixel % v->out.w], at + p * line, element);
        memset(at + w->filter_h * line, 0, row - w->filter_h * line); /* an odd row is filled up */
    }
}

static bool run(struct cpu_call *c) {
    struct cpu_run *r = c->run;
    const struct cpu_tensor *out = cpu_out(c, 0);
    const struct cpu_layer layer = layer_of(c->node, c->tensors);
    struct conv v;
    struct cpu_dense room;
    if (!describe(c, &v)) return false;
    v.kernels = r->kernels;
    v.x = cpu_image_in(r, cpu_in(c, X), v.window.nchw);
    void *y = cpu_image_out(r, out, v.window.nchw);
    const struct cpu_dense *dense = cpu_dense_get(r, &layer, c->node->state, &room);
    v.cols = cpu_window_columns(r, &v.window, v.in.w, v.out.w);
    if (!v.x || !y || !dense || !v.cols) return false;
    v.k = dense->k;
    const struct cpu_product product = {
        .weights = dense,
        .m = (size_t)v.out.n * v.out.h * v.out.w,
        .rows = !v.quantised && is_pointwise(&v) ? v.x : NULL,
        .gather = gather,
        .source = &v,
        .out = y,
        .range = cpu_activation(v.window.activation, out),
        .zero_point = out->zero_point,
    };
    if (!cpu_product_run(r, &product)) return false;
    cpu_image_done(out, v.window.nchw, y);
    return true;
}

const struct cpu_op cpu_op_conv = {
    .code = ANEURALNETWORKS_CONV_2D,
    .types = CPU_FLOATS | CPU_QUANTS,
    .max_rank = 4,
    .zero_ok = true,
    .image = true,
    .forms = {"xwciiii|b|ii", "xwciiiiiii|b|ii"},
    .outs = "x",
    .check = check,
    .infer = infer,
    .prepare = prepare,
    .run = run,
};
