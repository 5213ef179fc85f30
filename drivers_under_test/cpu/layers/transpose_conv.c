/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file transpose_conv.c TRANSPOSE_CONV_2D. Output positions that leave the same remainders by the strides see the same
 * taps of the filter: each such phase is a convolution of stride 1 with a part of the filter, turned round.
 */
#include <stdlib.h>

#include "conv.h"
#include "ops/move.h"

enum { X, FILTER, BIAS, FIRST_OPTION, IMPLICIT = 0 };

/** One dimension. */
struct axis {
    uint32_t in, filter, out;
    int32_t stride, head;
};

/** Options in the order of the inputs; out_shape, or tails, decide the extents. */
struct options {
    int32_t scheme; /**< 0: explicit */
    int32_t left, right, top, bottom, stride_w, stride_h, activation;
    bool nchw;
};

static bool read_options(const struct cpu_call *c, struct options *o) {
    uint32_t i = FIRST_OPTION;
    *o = (struct options){0};
    if (c->node->form == IMPLICIT) {
        o->scheme = cpu_int(c, ++i, ANEURALNETWORKS_PADDING_SAME);
        if (o->scheme != ANEURALNETWORKS_PADDING_SAME && o->scheme != ANEURALNETWORKS_PADDING_VALID) return false;
        i++;
    } else {
        o->left = cpu_int(c, i++, 0);
        o->right = cpu_int(c, i++, 0);
        o->top = cpu_int(c, i++, 0);
        o->bottom = cpu_int(c, i++, 0);
    }
    o->stride_w = cpu_int(c, i++, 1);
    o->stride_h = cpu_int(c, i++, 1);
    o->activation = cpu_int(c, i++, ANEURALNETWORKS_FUSED_NONE);
    o->nchw = cpu_int(c, i++, 0) != 0;
    return o->left >= 0 && o->top >= 0 && o->stride_w >= 1 && o->stride_h >= 1 &&
           o->activation >= ANEURALNETWORKS_FUSED_NONE && o->activation <= ANEURALNETWORKS_FUSED_RELU6;
}

static bool check(const struct cpu_call *c) {
    const struct cpu_tensor *filter = cpu_in(c, FILTER);
    struct options o;
    if (filter->known_rank && filter->shape.rank != 4) return false;
    if (c->node->form == IMPLICIT && !cpu_list_fits(c, FIRST_OPTION, 4)) return false;
    return cpu_layer_check(cpu_in(c, X), filter, cpu_in(c, BIAS), 0) && read_options(c, &o);
}

/** Settles out and head; wanted: what the output's shape says, for implicit padding. False: they don't go together. */
static bool settle(struct axis *a, int32_t scheme, int32_t tail, int32_t wanted) {
    a->out = CPU_UNKNOWN;
    if (a->in == 0 || a->filter == 0 || (scheme && wanted < 1)) return false;
    if (a->in == CPU_UNKNOWN || a->filter == CPU_UNKNOWN) return true;
    const int64_t full = ((int64_t)a->in - 1) * a->stride + a->filter;
    if (scheme) {
        const int64_t total = full - wanted;
        if (scheme == ANEURALNETWORKS_PADDING_SAME ? ((int64_t)wanted + a->stride - 1) / a->stride != a->in
                                                   : total != 0)
            return false;
        a->head = total > 0 ? (int32_t)(total / 2) : 0;
        a->out = (uint32_t)wanted;
        return true;
    }
    const int64_t out = full - a->head - tail;
    a->out = (uint32_t)out;
    return out >= 1 && out < CPU_UNKNOWN;
}

struct geometry {
    struct options options;
    struct cpu_image in, out;
    struct axis h, w;
};

static bool describe(const struct cpu_call *c, struct geometry *g) {
    const struct cpu_tensor *filter = cpu_in(c, FILTER), *bias = cpu_in(c, BIAS);
    const uint32_t *f = filter->shape.dims;
    struct options *o = &g->options;
    if (filter->shape.rank != 4 || bias->shape.rank != 1 || !check(c) || !read_options(c, o)) return false;
    g->in = cpu_image_of(&cpu_in(c, X)->shape, o->nchw);
    if (!cpu_agree(g->in.c, f[3]) || !cpu_agree(f[0], bias->shape.dims[0]) || g->in.c == 0 || f[0] == 0) return false;
    const uint32_t height_at = o->nchw ? 2 : 1;
    const bool given = c->node->form == IMPLICIT;
    g->h = (struct axis){.in = g->in.h, .filter = f[1], .stride = o->stride_h, .head = o->top};
    g->w = (struct axis){.in = g->in.w, .filter = f[2], .stride = o->stride_w, .head = o->left};
    if (!settle(&g->h, o->scheme, o->bottom, given ? cpu_list_at(c, FIRST_OPTION, height_at) : 0)) return false;
    if (!settle(&g->w, o->scheme, o->right, given ? cpu_list_at(c, FIRST_OPTION, height_at + 1) : 0)) return false;
    g->out = (struct cpu_image){g->in.n, g->h.out, g->w.out, f[0]};
    return true;
}

static bool infer(struct cpu_call *c) {
    struct geometry g;
    if (!describe(c, &g)) return false;
    c->out_shapes[0] = cpu_image_shape(g.out, g.options.nchw);
    return true;
}

/* --------------------------------------------------------------------- phases */

/** The taps r, r + stride, ... of a filter, and the output positions that they reach. */
struct phase {
    uint32_t taps;
    uint32_t first, count; /**< output positions first, first + stride, ... */
    int32_t start;         /**< the input position under the first tap of the part, at the first output position */
};

/** Phases that see a tap at all. */
static uint32_t phases_of(uint32_t filter, int32_t stride) {
    return filter < (uint32_t)stride ? filter : (uint32_t)stride;
}

static uint32_t taps_of(uint32_t filter, int32_t stride, uint32_t r) { return (filter - 1 - r) / (uint32_t)stride + 1; }

static struct phase phase_of(const struct axis *a, uint32_t r) {
    const int64_t stride = a->stride, first = (((int64_t)r - a->head) % stride + stride) % stride;
    struct phase p = {.taps = taps_of(a->filter, a->stride, r), .first = (uint32_t)first};
    p.count = first < a->out ? (uint32_t)((a->out - 1 - first) / stride + 1) : 0;
    p.start = (int32_t)((first + a->head - r) / stride - (p.taps - 1));
    return p;
}

static struct cpu_layer layer_of(const struct cpu_node *node, const struct cpu_tensor *tensors,
                                 const struct cpu_tensor *part, size_t rows, size_t cols) {
    const struct cpu_tensor *filter = &tensors[node->in[FILTER]];
    return (struct cpu_layer){
        .input = &tensors[node->in[X]],
        .weights = part,
        .bias = &tensors[node->in[BIAS]],
        .output = &tensors[node->out[0]],
        .n = filter->shape.dims[0],
        .k = rows * cols * filter->shape.dims[3],
        .run = cols * filter->shape.dims[3],
    };
}

/** Copies the taps of phase (r, s), in both directions the last one first. */
static void copy_part(const struct cpu_tensor *filter, int32_t stride_h, int32_t stride_w, uint32_t r, uint32_t s,
                      void *part) {
    const uint32_t *f = filter->shape.dims;
    const uint32_t h = taps_of(f[1], stride_h, r), w = taps_of(f[2], stride_w, s);
    const ptrdiff_t depth = f[3], row = (ptrdiff_t)f[2] * depth;
    const size_t last = (size_t)(r + (h - 1) * (uint32_t)stride_h) * (size_t)row +
                        (size_t)(s + (w - 1) * (uint32_t)stride_w) * (size_t)depth;
    struct cpu_move m = cpu_move_of(filter);
    cpu_move_axis(&m, f[0], (ptrdiff_t)f[1] * row, (ptrdiff_t)h * w * depth);
    cpu_move_axis(&m, h, -stride_h * row, w * depth);
    cpu_move_axis(&m, w, -stride_w * depth, depth);
    cpu_move_axis(&m, f[3], 1, 1);
    cpu_move_run(NULL, &m, cpu_values_at(filter, filter->data, last), part);
}

/** Packs phase (r, s); memory as cpu_dense_bytes asks for the whole filter, part: room for the filter. */
static void pack_phase(const struct cpu_kernels *kernels, const struct cpu_node *node, const struct cpu_tensor *tensors,
                       const struct options *o, uint32_t r, uint32_t s, void *part, void *memory,
                       struct cpu_dense *out) {
    struct cpu_tensor weights = tensors[node->in[FILTER]];
    const uint32_t *f = weights.shape.dims;
    const size_t rows = taps_of(f[1], o->stride_h, r), cols = taps_of(f[2], o->stride_w, s);
    copy_part(&tensors[node->in[FILTER]], o->stride_h, o->stride_w, r, s, part);
    weights.data = part;
    const struct cpu_layer layer = layer_of(node, tensors, &weights, rows, cols);
    cpu_dense_pack(kernels, &layer, memory, out);
}

/** Constant weights are packed once: an array of struct cpu_dense, one a phase, row by row. */
static bool prepare(struct cpu_node *node, const struct cpu_tensor *tensors, struct cpu_arena *arena,
                    const struct cpu_kernels *kernels) {
    const struct cpu_call c = {.node = node, .tensors = (struct cpu_tensor *)(uintptr_t)tensors};
    const struct cpu_tensor *filter = &tensors[node->in[FILTER]];
    const uint32_t *f = filter->shape.dims;
    struct options o;
    if (!filter->data || !tensors[node->in[BIAS]].data) return true;
    for (uint32_t i = FIRST_OPTION; i < node->in_count; i++)
        if (!tensors[node->in[i]].data) return true;
    if (!read_options(&c, &o)) return true; /* an execution says so */
    const uint32_t rows = phases_of(f[1], o.stride_h), cols = phases_of(f[2], o.stride_w);
    struct cpu_dense *dense = cpu_arena_array(arena, (size_t)rows * cols, sizeof *dense);
    void *part = malloc(cpu_count(filter) * cpu_element(filter->type) + 1);
    bool ok = dense && part;
    for (uint32_t i = 0; ok && i < rows * cols; i++) {
        const struct cpu_layer layer =
            layer_of(node, tensors, filter, taps_of(f[1], o.stride_h, i / cols), taps_of(f[2], o.stride_w, i % cols));
        void *memory = cpu_arena_raw(arena, cpu_dense_bytes(kernels, &layer));
        ok = memory != NULL;
        if (ok) pack_phase(kernels, node, tensors, &o, i / cols, i % cols, part, memory, &dense[i]);
    }
    free(part);
    node->state = dense;
    return ok;
}

/* ------------------------------------------------------------------------ run */

/** One execution: memory for packing where nothing is prepared, and for a phase's pixels. */
struct transposed {
    struct geometry g;
    struct cpu_conv conv;
    const struct cpu_dense *prepared;
    void *part, *memory, *pixels;
    struct cpu_span *cols;
    void *y; /**< [N,H,W,C] */
};

/** Positions that no tap reaches get the bias alone; the others are written again. */
static bool fill_bias(struct cpu_call *c, const struct transposed *t) {
    const struct cpu_tensor *out = cpu_out(c, 0);
    const struct cpu_layer layer = layer_of(c->node, c->tensors, cpu_in(c, FILTER), 0, 0);
    void *memory = cpu_scratch(c->run, cpu_dense_bytes(c->run->kernels, &layer));
    void *row = cpu_scratch(c->run, layer.n * cpu_element(out->type));
    struct cpu_conv one = {.kernels = c->run->kernels, .quantised = t->conv.quantised, .out = {1, 1, 1, 0}};
    struct cpu_span none = {0, 0};
    struct cpu_dense bias;
    if (!memory || !row) return false;
    one.window.activation = t->g.options.activation;
    one.cols = &none;
    cpu_dense_pack(c->run->kernels, &layer, memory, &bias);
    if (!cpu_conv_run(c->run, &one, &bias, out, row, layer.n)) return false;
    struct cpu_move m = cpu_move_of(out);
    cpu_move_axis(&m, cpu_count(out) / layer.n, 0, (ptrdiff_t)layer.n);
    cpu_move_axis(&m, layer.n, 1, 1);
    cpu_move_run(c->run->threads, &m, row, t->y);
    return true;
}

/** A phase's pixels to their places. */
static void spread(struct cpu_call *c, const struct transposed *t, const struct phase *h, const struct phase *w) {
    const struct cpu_tensor *out = cpu_out(c, 0);
    const struct cpu_image *o = &t->g.out;
    const ptrdiff_t n = o->c, line = (ptrdiff_t)o->w * n, rows = h->count, cols = w->count;
    struct cpu_move m = cpu_move_of(out);
    cpu_move_axis(&m, o->n, rows * cols * n, (ptrdiff_t)o->h * line);
    cpu_move_axis(&m, h->count, cols * n, t->g.h.stride * line);
    cpu_move_axis(&m, w->count, n, t->g.w.stride * n);
    cpu_move_axis(&m, o->c, 1, 1);
    cpu_move_run(c->run->threads, &m, t->pixels, cpu_values_to(out, t->y, ((size_t)h->first * o->w + w->first) * o->c));
}

static bool run_phase(struct cpu_call *c, struct transposed *t, uint32_t r, uint32_t s) {
    struct cpu_run *run = c->run;
    const struct phase h = phase_of(&t->g.h, r), w = phase_of(&t->g.w, s);
    const uint32_t *f = cpu_in(c, FILTER)->shape.dims;
    const struct cpu_dense *weights = t->prepared ? t->prepared + (size_t)r * phases_of(f[2], t->g.w.stride) + s : NULL;
    struct cpu_conv *v = &t->conv;
    struct cpu_dense room;
    if (h.count == 0 || w.count == 0) return true;
    if (!weights) {
        pack_phase(run->kernels, c->node, c->tensors, &t->g.options, r, s, t->part, t->memory, &room);
        weights = &room;
    }
    v->window.filter_h = h.taps;
    v->window.filter_w = w.taps;
    v->window.top = -h.start;
    v->window.left = -w.start;
    v->out = (struct cpu_image){t->g.out.n, h.count, w.count, t->g.out.c};
    for (uint32_t i = 0; i < w.count; i++) t->cols[i] = cpu_window_span((int64_t)i + w.start, w.taps, 1, v->in.w);
    if (!cpu_conv_run(run, v, weights, cpu_out(c, 0), t->pixels, t->g.out.c)) return false;
    if (t->pixels != t->y) spread(c, t, &h, &w);
    return true;
}

static bool prepare_run(struct cpu_call *c, struct transposed *t) {
    struct cpu_run *run = c->run;
    const struct cpu_tensor *x = cpu_in(c, X), *out = cpu_out(c, 0), *filter = cpu_in(c, FILTER);
    const struct options *o = &t->g.options;
    const struct cpu_layer layer = layer_of(c->node, c->tensors, filter, t->g.h.filter, t->g.w.filter);
    t->prepared = c->node->state;
    t->conv = (struct cpu_conv){.in = t->g.in,
                                .depth = t->g.in.c,
                                .x = cpu_image_in(run, x, o->nchw),
                                .kernels = run->kernels,
                                .quantised = cpu_is_quant8(x),
                                .zero_point = x->zero_point};
    t->conv.window = (struct cpu_window){
        .stride_w = 1, .stride_h = 1, .dilation_w = 1, .dilation_h = 1, .activation = o->activation, .nchw = o->nchw};
    t->y = cpu_image_out(run, out, o->nchw);
    t->conv.cols = t->cols = cpu_scratch(run, t->g.out.w * sizeof *t->cols);
    t->pixels = o->stride_h == 1 && o->stride_w == 1 ? t->y : cpu_scratch(run, cpu_count(out) * cpu_element(out->type));
    if (!t->conv.x || !t->y || !t->cols || !t->pixels) return false;
    if (t->prepared) return true;
    t->part = cpu_scratch(run, cpu_count(filter) * cpu_element(filter->type));
    t->memory = cpu_scratch(run, cpu_dense_bytes(run->kernels, &layer));
    return t->part && t->memory;
}

static bool run(struct cpu_call *c) {
    struct transposed t;
    if (!describe(c, &t.g) || !prepare_run(c, &t)) return false;
    const uint32_t rows = phases_of(t.g.h.filter, t.g.h.stride), cols = phases_of(t.g.w.filter, t.g.w.stride);
    if ((rows < (uint32_t)t.g.h.stride || cols < (uint32_t)t.g.w.stride) && !fill_bias(c, &t)) return false;
    for (uint32_t r = 0; r < rows; r++)
        for (uint32_t s = 0; s < cols; s++)
            if (!run_phase(c, &t, r, s)) return false;
    cpu_image_done(cpu_out(c, 0), t.g.options.nchw, t.y);
    return true;
}

const struct cpu_op_fns cpu_op_transpose_conv = {.check = check, .infer = infer, .prepare = prepare, .run = run};
