/* SPDX-License-Identifier: Apache-2.0 */
/** @file conv.c CONV_2D, GROUPED_CONV_2D: rows of pixels under the filter are gathered, and multiplied with the packed
 * filter, group by group. */
#include "conv.h"

#include <string.h>

enum { X, FILTER, BIAS, FIRST_OPTION };

static bool is_grouped(const struct cpu_node *node) { return node->code == ANEURALNETWORKS_GROUPED_CONV_2D; }

static bool read_options(const struct cpu_call *c, struct cpu_window *w, uint32_t *groups) {
    int32_t count = 1;
    const bool ok = cpu_window_read(c, FIRST_OPTION, is_grouped(c->node), &count, w);
    *groups = (uint32_t)count;
    return ok && count >= 1;
}

static bool check(const struct cpu_call *c) {
    const struct cpu_tensor *filter = cpu_in(c, FILTER);
    struct cpu_window w;
    uint32_t groups;
    if (filter->known_rank && filter->shape.rank != 4) return false;
    return cpu_layer_check(cpu_in(c, X), filter, cpu_in(c, BIAS), 0) && read_options(c, &w, &groups);
}

static bool describe(const struct cpu_call *c, struct cpu_conv *v, uint32_t *groups) {
    const struct cpu_tensor *x = cpu_in(c, X), *filter = cpu_in(c, FILTER), *bias = cpu_in(c, BIAS);
    const uint32_t *f = filter->shape.dims;
    *v = (struct cpu_conv){.quantised = cpu_is_quant8(x), .zero_point = x->zero_point, .depth = f[3]};
    if (filter->shape.rank != 4 || bias->shape.rank != 1) return false;
    if (!read_options(c, &v->window, groups)) return false;
    v->in = cpu_image_of(&x->shape, v->window.nchw);
    v->window.filter_h = f[1];
    v->window.filter_w = f[2];
    if (v->in.c != CPU_UNKNOWN && f[3] != CPU_UNKNOWN && v->in.c != (uint64_t)f[3] * *groups) return false;
    if (!cpu_agree(bias->shape.dims[0], f[0]) || v->in.c == 0 || f[0] == 0) return false;
    if (f[0] != CPU_UNKNOWN && f[0] % *groups != 0) return false;
    v->out.n = v->in.n;
    v->out.c = f[0];
    return cpu_window_apply(&v->window, v->in, &v->out.h, &v->out.w);
}

static bool infer(struct cpu_call *c) {
    struct cpu_conv v;
    uint32_t groups;
    if (!describe(c, &v, &groups)) return false;
    c->out_shapes[0] = cpu_image_shape(v.out, v.window.nchw);
    return true;
}

/* -------------------------------------------------------------------- weights */

/** One group's weights and bias, and the layer that they make. */
struct group {
    struct cpu_tensor weights, bias;
    struct cpu_layer layer;
};

/** Group g; what the operands have of data and scales is moved on to it. */
static void group_of(const struct cpu_node *node, const struct cpu_tensor *tensors, uint32_t groups, uint32_t g,
                     struct group *out) {
    out->weights = tensors[node->in[FILTER]];
    out->bias = tensors[node->in[BIAS]];
    const uint32_t *f = out->weights.shape.dims;
    const size_t n = f[0] / groups, k = cpu_extent(&out->weights.shape, 1, 4);
    if (out->weights.data) out->weights.data = (char *)out->weights.data + g * n * k * cpu_element(out->weights.type);
    if (out->bias.data) out->bias.data = (char *)out->bias.data + g * n * cpu_element(out->bias.type);
    if (out->weights.scales) out->weights.scales += g * n;
    out->layer = (struct cpu_layer){
        .input = &tensors[node->in[X]],
        .weights = &out->weights,
        .bias = &out->bias,
        .output = &tensors[node->out[0]],
        .n = n,
        .k = k,
    };
}

/** Constant weights are packed once: an array of struct cpu_dense, one a group. */
static bool prepare(struct cpu_node *node, const struct cpu_tensor *tensors, struct cpu_arena *arena,
                    const struct cpu_kernels *kernels) {
    const struct cpu_call c = {.node = node, .tensors = (struct cpu_tensor *)(uintptr_t)tensors};
    struct cpu_window w;
    uint32_t groups;
    if (!tensors[node->in[FILTER]].data || !tensors[node->in[BIAS]].data) return true;
    for (uint32_t i = FIRST_OPTION; i < node->in_count; i++)
        if (!tensors[node->in[i]].data) return true;
    const uint32_t channels = tensors[node->in[FILTER]].shape.dims[0];
    if (!read_options(&c, &w, &groups) || channels % groups != 0) return true; /* an execution says so */
    struct cpu_dense *dense = cpu_arena_array(arena, groups, sizeof *dense);
    for (uint32_t g = 0; dense && g < groups; g++) {
        struct group one;
        group_of(node, tensors, groups, g, &one);
        void *memory = cpu_arena_raw(arena, cpu_dense_bytes(kernels, &one.layer));
        if (!memory) return false;
        cpu_dense_pack(kernels, &one.layer, memory, &dense[g]);
    }
    node->state = dense;
    return dense != NULL;
}

/* --------------------------------------------------------------------- pixels */

/** count values of the image, centred where quantised. */
static void copy_values(const struct cpu_conv *v, size_t at, size_t count, void *to) {
    if (v->quantised)
        v->kernels->center_u8(count, (const uint8_t *)v->x + at, v->zero_point, to);
    else
        memcpy(to, (const float *)v->x + at, count * sizeof(float));
}

/** One row of the filter over one row of the image; y may lie outside. to: filter_w * depth values. */
static void gather_line(const struct cpu_conv *v, size_t image, int64_t y, int64_t x, struct cpu_span span, char *to,
                        size_t element) {
    const struct cpu_window *w = &v->window;
    const size_t depth = v->depth, line = (size_t)w->filter_w * depth * element;
    if (y < 0 || y >= v->in.h) span.count = 0;
    if (span.count < w->filter_w) memset(to, 0, line);
    if (span.count == 0) return;
    const size_t pixel = (image * v->in.h + (size_t)y) * v->in.w + (size_t)(x + (int64_t)span.first * w->dilation_w);
    const size_t at = pixel * v->in.c + v->channel_at;
    to += span.first * depth * element;
    if (w->dilation_w == 1 && depth == v->in.c) {
        copy_values(v, at, span.count * depth, to);
        return;
    }
    for (uint32_t q = 0; q < span.count; q++)
        copy_values(v, at + q * (size_t)w->dilation_w * v->in.c, depth, to + q * depth * element);
}

/** Pixels stand one behind the other: a 1x1 filter that takes all of every pixel. */
static bool is_pointwise(const struct cpu_conv *v) {
    const struct cpu_window *w = &v->window;
    return w->filter_w == 1 && w->filter_h == 1 && w->stride_w == 1 && w->stride_h == 1 && w->top == 0 &&
           w->left == 0 && v->in.h == v->out.h && v->in.w == v->out.w && v->depth == v->in.c;
}

static void gather(const void *source, size_t first, size_t count, void *to) {
    const struct cpu_conv *v = source;
    const struct cpu_window *w = &v->window;
    const size_t element = v->quantised ? sizeof(int16_t) : sizeof(float), row = v->k * element;
    const size_t line = (size_t)w->filter_w * v->depth * element;
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

bool cpu_conv_run(struct cpu_run *run, struct cpu_conv *v, const struct cpu_dense *weights,
                  const struct cpu_tensor *out, void *y, size_t step) {
    v->k = weights->k;
    const struct cpu_product product = {
        .weights = weights,
        .m = (size_t)v->out.n * v->out.h * v->out.w,
        .rows = !v->quantised && is_pointwise(v) ? v->x : NULL,
        .gather = gather,
        .source = v,
        .out = y,
        .out_step = step,
        .range = cpu_activation(v->window.activation, out),
        .zero_point = out->zero_point,
    };
    return cpu_product_run(run, &product);
}

static bool run(struct cpu_call *c) {
    struct cpu_run *r = c->run;
    const struct cpu_tensor *out = cpu_out(c, 0);
    const struct cpu_dense *prepared = c->node->state;
    struct cpu_conv v;
    struct group group;
    uint32_t groups;
    if (!describe(c, &v, &groups)) return false;
    group_of(c->node, c->tensors, groups, 0, &group);
    v.kernels = r->kernels;
    v.x = cpu_image_in(r, cpu_in(c, X), v.window.nchw);
    char *y = cpu_image_out(r, out, v.window.nchw);
    void *memory = prepared ? NULL : cpu_scratch(r, cpu_dense_bytes(r->kernels, &group.layer));
    v.cols = cpu_window_columns(r, &v.window, v.in.w, v.out.w);
    if (!v.x || !y || !(prepared || memory) || !v.cols) return false;
    for (uint32_t g = 0; g < groups; g++) {
        struct cpu_dense room;
        group_of(c->node, c->tensors, groups, g, &group);
        if (!prepared) cpu_dense_pack(r->kernels, &group.layer, memory, &room);
        v.channel_at = g * v.depth;
        void *to = y + g * group.layer.n * cpu_element(out->type);
        if (!cpu_conv_run(r, &v, prepared ? &prepared[g] : &room, out, to, v.out.c)) return false;
    }
    cpu_image_done(out, v.window.nchw, y);
    return true;
}

#define CONV_OP(NAME, CODE, ZERO_OK, ...)                                                                              \
    const struct cpu_op NAME = {                                                                                       \
        .code = CODE,                                                                                                  \
        .types = CPU_FLOATS | CPU_QUANTS,                                                                              \
        .max_rank = 4,                                                                                                 \
        .zero_ok = ZERO_OK,                                                                                            \
        .image = true,                                                                                                 \
        .forms = {__VA_ARGS__},                                                                                        \
        .outs = "x",                                                                                                   \
        .check = check,                                                                                                \
        .infer = infer,                                                                                                \
        .prepare = prepare,                                                                                            \
        .run = run,                                                                                                    \
    }
CONV_OP(cpu_op_conv, ANEURALNETWORKS_CONV_2D, true, "xwciiii|b|ii", "xwciiiiiii|b|ii");
CONV_OP(cpu_op_grouped_conv, ANEURALNETWORKS_GROUPED_CONV_2D, false, "xwciiiiib", "xwciiiiiiiib");
