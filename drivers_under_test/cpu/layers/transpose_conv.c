/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file transpose_conv.c TRANSPOSE_CONV_2D. Output positions that leave the same remainders by the strides see the same
 * taps of the filter: each such phase is a convolution of stride 1 with a part of the filter, turned round.
 */
#include "conv.h"
#include "ops/move.h"

enum { X, FILTER, BIAS, FIRST_OPTION, IMPLICIT = 0 };

/** One dimension. */
struct axis {
    uint32_t in, filter, out;
    int32_t stride, head;
};

/** Behind an output shape, if there is one, stand the options of any window. */
static bool read_options(const struct cpu_call *c, struct cpu_window *o) {
    return cpu_window_read(c, FIRST_OPTION + (c->node->form == IMPLICIT), 0, NULL, o);
}

static bool check(const struct cpu_call *c) {
    struct cpu_window o;
    return cpu_agree(cpu_rank(cpu_in(c, FILTER)), 4) &&
           (c->node->form != IMPLICIT || cpu_shape_fits(cpu_in(c, FIRST_OPTION), 1, 4, 0)) &&
           cpu_layer_check(cpu_in(c, X), cpu_in(c, FILTER), cpu_in(c, BIAS), 0) && read_options(c, &o);
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
    struct cpu_window options;
    struct cpu_image in, out;
    struct axis h, w;
};

static bool describe(const struct cpu_call *c, struct geometry *g) {
    const struct cpu_tensor *filter = cpu_in(c, FILTER), *bias = cpu_in(c, BIAS);
    const uint32_t *f = filter->shape.dims;
    struct cpu_window *o = &g->options;
    if (!read_options(c, o)) return false;
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

/** Phases of a filter, row by row. */
struct phases {
    const struct cpu_call *c;
    struct cpu_window options;
    uint32_t rows, cols;
};

static struct phases phases_of_filter(const struct cpu_call *c, const struct cpu_window *o) {
    const uint32_t *f = cpu_in(c, FILTER)->shape.dims;
    return (struct phases){c, *o, phases_of(f[1], o->stride_h), phases_of(f[2], o->stride_w)};
}

/** The layer of rows x cols taps, of the operation's own filter. */
static void describe_taps(const struct cpu_call *c, size_t rows, size_t cols, struct cpu_part *out) {
    out->weights = *cpu_in(c, FILTER);
    out->layer = (struct cpu_layer){
        .input = cpu_in(c, X),
        .weights = &out->weights,
        .bias = cpu_in(c, BIAS),
        .output = cpu_out(c, 0),
        .n = out->weights.shape.dims[0],
        .k = rows * cols * out->weights.shape.dims[3],
        .run = cols * out->weights.shape.dims[3],
    };
}

static void describe_phase(const void *source, uint32_t i, void *room, struct cpu_part *out) {
    const struct phases *p = source;
    const struct cpu_tensor *filter = cpu_in(p->c, FILTER);
    const uint32_t r = i / p->cols, s = i % p->cols;
    describe_taps(p->c, taps_of(filter->shape.dims[1], p->options.stride_h, r),
                  taps_of(filter->shape.dims[2], p->options.stride_w, s), out);
    if (!room) return;
    copy_part(filter, p->options.stride_h, p->options.stride_w, r, s, room);
    out->weights.data = room;
}

static struct cpu_parts parts_of(const struct phases *p) {
    const struct cpu_tensor *filter = cpu_in(p->c, FILTER);
    return (struct cpu_parts){
        .c = p->c,
        .count = p->rows * p->cols,
        .room = cpu_count(filter) * cpu_element(filter->type),
        .describe = describe_phase,
        .source = p,
    };
}

/** What stands in the way of packing, an execution says. */
static bool can_pack(const struct cpu_call *c, struct cpu_window *o) {
    return cpu_values_known(c, FILTER) && read_options(c, o);
}

/** The bias stands alone where no tap reaches. */
static uint32_t packed(const struct cpu_call *c) {
    struct cpu_window o;
    return can_pack(c, &o) ? 1 << FILTER : 0;
}

/** Constant weights are packed once. */
static bool prepare(const struct cpu_call *c, struct cpu_arena *arena, void **state) {
    struct cpu_window o;
    if (!can_pack(c, &o)) return true;
    const struct phases phases = phases_of_filter(c, &o);
    const struct cpu_parts parts = parts_of(&phases);
    return cpu_parts_prepare(&parts, arena, state);
}

/* ------------------------------------------------------------------------ run */

/** One execution. */
struct transposed {
    struct geometry g;
    struct cpu_conv conv;
    void *pixels; /**< of a phase */
    struct cpu_span *cols;
    void *y; /**< [N,H,W,C] */
};

/** Positions that no tap reaches get the bias alone; the others are written again. */
static bool fill_bias(struct cpu_call *c, const struct transposed *t) {
    const struct cpu_tensor *out = cpu_out(c, 0);
    struct cpu_part part;
    describe_taps(c, 0, 0, &part);
    const size_t n = part.layer.n;
    void *memory = cpu_scratch(c->run, cpu_dense_bytes(c->kernels, &part.layer));
    void *row = cpu_scratch(c->run, n * cpu_element(out->type));
    struct cpu_conv one = {.kernels = c->run->kernels, .quantised = t->conv.quantised, .out = {1, 1, 1, 0}};
    struct cpu_span none = {0, 0};
    struct cpu_dense bias;
    if (!memory || !row) return false;
    one.window.activation = t->g.options.activation;
    one.cols = &none;
    cpu_dense_pack(c->kernels, &part.layer, memory, &bias);
    if (!cpu_conv_run(c->run, &one, &bias, out, row, n)) return false;
    struct cpu_move m = cpu_move_of(out);
    cpu_move_axis(&m, cpu_count(out) / n, 0, (ptrdiff_t)n);
    cpu_move_axis(&m, n, 1, 1);
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

static bool run_phase(struct cpu_call *c, struct transposed *t, struct cpu_packed *packed, uint32_t r, uint32_t s) {
    const struct phase h = phase_of(&t->g.h, r), w = phase_of(&t->g.w, s);
    struct cpu_conv *v = &t->conv;
    if (h.count == 0 || w.count == 0) return true;
    const struct cpu_dense *weights = cpu_packed_get(packed, r * phases_of(t->g.w.filter, t->g.w.stride) + s);
    v->window.filter_h = h.taps;
    v->window.filter_w = w.taps;
    v->window.top = -h.start;
    v->window.left = -w.start;
    v->out = (struct cpu_image){t->g.out.n, h.count, w.count, t->g.out.c};
    for (uint32_t i = 0; i < w.count; i++) t->cols[i] = cpu_window_span((int64_t)i + w.start, w.taps, 1, v->in.w);
    if (!cpu_conv_run(c->run, v, weights, cpu_out(c, 0), t->pixels, t->g.out.c)) return false;
    if (t->pixels != t->y) spread(c, t, &h, &w);
    return true;
}

static bool prepare_run(struct cpu_call *c, struct transposed *t) {
    struct cpu_run *run = c->run;
    const struct cpu_tensor *x = cpu_in(c, X), *out = cpu_out(c, 0);
    const struct cpu_window *o = &t->g.options;
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
    return t->conv.x && t->y && t->cols && t->pixels;
}

static bool run(struct cpu_call *c) {
    struct transposed t;
    struct cpu_packed packed;
    if (!describe(c, &t.g) || !prepare_run(c, &t)) return false;
    const struct phases phases = phases_of_filter(c, &t.g.options);
    const struct cpu_parts parts = parts_of(&phases);
    if (!cpu_packed_begin(&parts, c->node->state, &packed)) return false;
    const bool all = phases.rows == (uint32_t)t.g.h.stride && phases.cols == (uint32_t)t.g.w.stride;
    if (!all && !fill_bias(c, &t)) return false;
    for (uint32_t i = 0; i < parts.count; i++)
        if (!run_phase(c, &t, &packed, i / phases.cols, i % phases.cols)) return false;
    cpu_image_done(c->run, cpu_out(c, 0), t.g.options.nchw, t.y);
    return true;
}

const struct cpu_op_fns cpu_op_transpose_conv = {
    .check = check, .infer = infer, .packed = packed, .prepare = prepare, .run = run};
