/* SPDX-License-Identifier: Apache-2.0 */
/** @file conv.c CONV_2D, GROUPED_CONV_2D: rows of pixels under the filter are gathered, and multiplied with the packed
 * filter; of groups, as many at once as fill a panel. */
#include "conv.h"

#include <string.h>

#include "ops/move.h"

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
    return cpu_agree(cpu_rank(filter), 4) && cpu_layer_check(cpu_in(c, X), filter, cpu_in(c, BIAS), 0) &&
           read_options(c, &w, &groups);
}

static bool describe(const struct cpu_call *c, struct cpu_conv *v, uint32_t *groups) {
    const struct cpu_tensor *x = cpu_in(c, X), *filter = cpu_in(c, FILTER), *bias = cpu_in(c, BIAS);
    const uint32_t *f = filter->shape.dims;
    *v = (struct cpu_conv){.quantised = cpu_is_quant8(x), .zero_point = x->zero_point, .depth = f[3]};
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

/** Groups, and how many of them one product takes. */
struct grouping {
    const struct cpu_call *c;
    uint32_t groups, merged;
    struct cpu_window window;
};

/** Thin groups fill a panel together, with zeros where channels of different groups meet. */
static struct grouping grouping_of(const struct cpu_call *c, const struct cpu_window *window, uint32_t groups) {
    uint32_t merged = c->kernels->panel / (cpu_in(c, FILTER)->shape.dims[0] / groups);
    if (merged > groups) merged = groups;
    while (merged > 1 && groups % merged != 0) merged--;
    return (struct grouping){c, groups, merged ? merged : 1, *window};
}

/** Channels of the output that one product computes, and values of the filter for each of them. */
static size_t part_n(const struct grouping *g) {
    return (size_t)cpu_in(g->c, FILTER)->shape.dims[0] / g->groups * g->merged;
}
static size_t part_k(const struct grouping *g) { return cpu_extent(&cpu_in(g->c, FILTER)->shape, 1, 4) * g->merged; }

/** Brings the weights of merged groups into room: [n, taps, channels of all of them]. */
static void merge_weights(const struct grouping *g, struct cpu_part *p, void *room) {
    const struct cpu_tensor *w = &p->weights;
    const size_t k = part_k(g), share = part_n(g) / g->merged, depth = w->shape.dims[3];
    memset(room, cpu_is_quant8(w) ? w->zero_point : 0, part_n(g) * k * cpu_element(w->type));
    struct cpu_move m = cpu_move_of(w);
    cpu_move_axis(&m, share, (ptrdiff_t)(k / g->merged), (ptrdiff_t)k);
    cpu_move_axis(&m, k / g->merged / depth, (ptrdiff_t)depth, (ptrdiff_t)(g->merged * depth));
    cpu_move_axis(&m, depth, 1, 1);
    for (size_t j = 0; j < g->merged; j++)
        cpu_move_run(NULL, &m, cpu_values_at(w, w->data, j * share * (k / g->merged)),
                     cpu_values_to(w, room, j * (share * k + depth)));
    p->weights.data = room;
}

/** Product i of the groups; data and scales of its operands begin there. */
static void describe_part(const void *source, uint32_t i, void *room, struct cpu_part *out) {
    const struct grouping *g = source;
    const struct cpu_tensor *filter = cpu_in(g->c, FILTER), *bias = cpu_in(g->c, BIAS);
    const size_t first = i * part_n(g), k = part_k(g) / g->merged;
    struct cpu_window w = g->window;
    w.filter_w = filter->shape.dims[2];
    out->weights = *filter;
    out->bias = *bias;
    out->weights.data = (void *)(uintptr_t)cpu_values_at(filter, filter->data, first * k);
    out->bias.data = (void *)(uintptr_t)cpu_values_at(bias, bias->data, first);
    if (filter->scales) out->weights.scales += first;
    out->layer = (struct cpu_layer){
        .input = cpu_in(g->c, X),
        .weights = &out->weights,
        .bias = &out->bias,
        .output = cpu_out(g->c, 0),
        .n = part_n(g),
        .k = part_k(g),
        .run = cpu_conv_run_length(&w, filter->shape.dims[3] * (size_t)g->merged, g->merged == g->groups),
    };
    if (g->merged > 1 && room) merge_weights(g, out, room);
}

static struct cpu_parts parts_of(const struct grouping *g) {
    return (struct cpu_parts){
        .c = g->c,
        .count = g->groups / g->merged,
        .room = g->merged > 1 ? part_n(g) * part_k(g) * cpu_element(cpu_in(g->c, FILTER)->type) : 0,
        .describe = describe_part,
        .source = g,
    };
}

/** What stands in the way of packing, an execution says. */
static bool can_pack(const struct cpu_call *c, struct cpu_window *w, uint32_t *groups) {
    return cpu_values_known(c, FILTER) && read_options(c, w, groups) && cpu_in(c, FILTER)->shape.dims[0] % *groups == 0;
}

/** Groups are merged only of finite inputs: others need the filter itself. */
static uint32_t packed(const struct cpu_call *c) {
    struct cpu_window w;
    uint32_t groups;
    return can_pack(c, &w, &groups) && groups == 1 ? 1 << FILTER | 1 << BIAS : 0;
}

/** Constant weights are packed once. */
static bool prepare(const struct cpu_call *c, struct cpu_arena *arena, void **state) {
    struct cpu_window w;
    uint32_t groups;
    if (!can_pack(c, &w, &groups)) return true;
    const struct grouping g = grouping_of(c, &w, groups);
    const struct cpu_parts parts = parts_of(&g);
    return cpu_parts_prepare(&parts, arena, state);
}

/* --------------------------------------------------------------------- pixels */

/** Bytes of a value of the image. */
static size_t element_of(const struct cpu_conv *v) { return v->quantised ? 1 : sizeof(float); }

/** One row of the filter over one row of the image; y may lie outside. to: filter_w * depth values. */
static void gather_line(const struct cpu_conv *v, size_t image, int64_t y, int64_t x, struct cpu_span span, char *to) {
    const struct cpu_window *w = &v->window;
    const size_t depth = v->depth, bytes = element_of(v), element = cpu_dense_element(v->weights);
    if (y < 0 || y >= v->in.h) span.count = 0;
    if (span.count < w->filter_w) cpu_dense_zero(v->weights, w->filter_w * depth, to);
    if (span.count == 0) return;
    const size_t pixel = (image * v->in.h + (size_t)y) * v->in.w + (size_t)(x + (int64_t)span.first * w->dilation_w);
    const char *from = (const char *)v->x + (pixel * v->in.c + v->channel_at) * bytes;
    to += span.first * depth * element;
    if (w->dilation_w == 1 && depth == v->in.c) {
        cpu_dense_copy(v->kernels, v->weights, span.count * depth, from, to);
        return;
    }
    for (uint32_t q = 0; q < span.count; q++)
        cpu_dense_copy(v->kernels, v->weights, depth, from + q * (size_t)w->dilation_w * v->in.c * bytes,
                       to + q * depth * element);
}

void cpu_conv_gather(const struct cpu_conv *v, size_t pixel, void *to) {
    const struct cpu_window *w = &v->window;
    const size_t values = (size_t)w->filter_w * v->depth, element = cpu_dense_element(v->weights);
    const size_t y_out = pixel / v->out.w % v->out.h, image = pixel / v->out.w / v->out.h;
    const int64_t x = (int64_t)(pixel % v->out.w) * w->stride_w - w->left;
    const int64_t y = (int64_t)y_out * w->stride_h - w->top;
    char *at = to;
    for (uint32_t p = 0; p < w->filter_h; p++, at += values * element)
        gather_line(v, image, y + (int64_t)p * w->dilation_h, x, v->cols[pixel % v->out.w], at);
    cpu_dense_zero(v->weights, v->weights->k - w->filter_h * values, at); /* a row is filled up */
}

/** Pixels stand one behind the other: a 1x1 filter that takes all of every pixel. */
static bool is_pointwise(const struct cpu_conv *v) {
    const struct cpu_window *w = &v->window;
    return w->filter_w == 1 && w->filter_h == 1 && w->stride_w == 1 && w->stride_h == 1 && w->top == 0 &&
           w->left == 0 && v->in.h == v->out.h && v->in.w == v->out.w && v->depth == v->in.c;
}

static void gather(const void *source, size_t first, size_t count, void *to) {
    const struct cpu_conv *v = source;
    const size_t k = v->weights->k, row = k * cpu_dense_element(v->weights);
    if (is_pointwise(v) && k == v->in.c) {
        cpu_dense_copy(v->kernels, v->weights, count * k, (const char *)v->x + first * k * element_of(v), to);
        return;
    }
    for (size_t i = 0; i < count; i++) cpu_conv_gather(v, first + i, (char *)to + i * row);
}

bool cpu_conv_run(struct cpu_run *run, struct cpu_conv *v, const struct cpu_dense *weights,
                  const struct cpu_tensor *out, void *y, size_t step) {
    v->weights = weights;
    const bool as_it_is = weights->form != CPU_DENSE_S16 && weights->k == v->in.c && is_pointwise(v);
    const struct cpu_product product = {
        .weights = weights,
        .m = (size_t)v->out.n * v->out.h * v->out.w,
        .rows = as_it_is ? v->x : NULL,
        .gather = gather,
        .source = v,
        .out = y,
        .out_step = step,
        .range = cpu_activation(v->window.activation, out),
        .zero_point = out->zero_point,
    };
    if (!as_it_is && cpu_conv_is_direct(v)) return cpu_conv_run_direct(run, v, &product);
    return cpu_product_run(run, &product);
}

/** 0 times infinity is no number: a value that is not finite would reach the groups that it is merged with. */
static bool is_finite(const struct cpu_conv *v) {
    const size_t count = (size_t)v->in.n * v->in.h * v->in.w * v->in.c;
    const float *x = v->x;
    uint32_t bad = 0;
    for (size_t i = 0; !v->quantised && i < count; i++) {
        uint32_t bits;
        memcpy(&bits, &x[i], sizeof bits);
        bad |= (bits & 0x7f800000u) == 0x7f800000u;
    }
    return !bad;
}

/** All products, into y; prepared: their weights, or NULL. */
static bool run_parts(const struct cpu_call *c, struct cpu_conv *v, const struct grouping *g, const void *prepared,
                      void *y) {
    const struct cpu_tensor *out = cpu_out(c, 0);
    const struct cpu_parts parts = parts_of(g);
    struct cpu_packed packed;
    if (!cpu_packed_begin(&parts, prepared, &packed)) return false;
    v->depth = cpu_in(c, FILTER)->shape.dims[3] * g->merged;
    for (uint32_t i = 0; i < parts.count; i++) {
        v->channel_at = i * v->depth;
        void *to = cpu_values_to(out, y, i * part_n(g));
        if (!cpu_conv_run(c->run, v, cpu_packed_get(&packed, i), out, to, v->out.c)) return false;
    }
    return true;
}

static bool run(struct cpu_call *c) {
    struct cpu_run *r = c->run;
    const struct cpu_tensor *out = cpu_out(c, 0);
    const void *prepared = c->node->state;
    struct cpu_conv v;
    uint32_t groups;
    if (!describe(c, &v, &groups)) return false;
    v.kernels = r->kernels;
    v.x = cpu_image_in(r, cpu_in(c, X), v.window.nchw);
    void *y = cpu_image_out(r, out, v.window.nchw);
    v.cols = cpu_window_columns(r, &v.window, v.in.w, v.out.w);
    if (!v.x || !y || !v.cols) return false;
    struct grouping g = grouping_of(c, &v.window, groups);
    if (g.merged > 1 && !is_finite(&v)) {
        g.merged = 1;
        prepared = NULL;
    }
    if (!run_parts(c, &v, &g, prepared, y)) return false;
    cpu_image_done(c->run, out, v.window.nchw, y);
    return true;
}

const struct cpu_op_fns cpu_op_conv = {
    .check = check, .infer = infer, .packed = packed, .prepare = prepare, .run = run};
