/* SPDX-License-Identifier: Apache-2.0 */
/** @file depthwise.c DEPTHWISE_CONV_2D: all channels of one output pixel at a time; 3x3 filters by lines. */
#include "depthwise.h"

#include <string.h>

enum { X, FILTER, BIAS, FIRST_OPTION };

/** Quantised filters: centred, each in the low half of a word; bias and multiplier per channel. */
struct prepared {
    int32_t *weights;
    double *bias, *multiplier;
    struct cpu_lines_weights lines; /**< of any type */
};

static bool read_options(const struct cpu_call *c, struct cpu_window *w, uint32_t *multiplier) {
    int32_t times = 1;
    const bool ok = cpu_window_read(c, FIRST_OPTION, 1, &times, w) && times >= 1;
    *multiplier = (uint32_t)times;
    return ok;
}

static bool check(const struct cpu_call *c) {
    const struct cpu_tensor *filter = cpu_in(c, FILTER);
    struct cpu_window w;
    uint32_t multiplier;
    return cpu_shape_fits(filter, 4, 1, CPU_UNKNOWN) && cpu_layer_check(cpu_in(c, X), filter, cpu_in(c, BIAS), 3) &&
           read_options(c, &w, &multiplier);
}

/** One execution. */
struct depthwise {
    struct cpu_depthwise c;
    struct prepared q; /**< quantised */
    int32_t *sums;     /**< quantised: one pixel per thread */
};

static bool describe(const struct cpu_call *c, struct cpu_depthwise *v) {
    const struct cpu_tensor *x = cpu_in(c, X), *filter = cpu_in(c, FILTER), *bias = cpu_in(c, BIAS);
    const uint32_t *f = filter->shape.dims;
    *v = (struct cpu_depthwise){.quantised = cpu_is_quant8(x)};
    if (!read_options(c, &v->window, &v->multiplier)) return false;
    v->in = cpu_image_of(&x->shape, v->window.nchw);
    v->window.filter_h = f[1];
    v->window.filter_w = f[2];
    if (!cpu_agree(bias->shape.dims[0], f[3]) || v->in.c == 0 || f[3] == 0) return false;
    if (v->in.c != CPU_UNKNOWN && f[3] != CPU_UNKNOWN && (uint64_t)v->in.c * v->multiplier != f[3]) return false;
    v->out.n = v->in.n;
    v->out.c = f[3];
    return cpu_window_apply(&v->window, v->in, &v->out.h, &v->out.w);
}

static bool infer(struct cpu_call *c) {
    struct cpu_depthwise v;
    if (!describe(c, &v)) return false;
    c->out_shapes[0] = cpu_image_shape(v.out, v.window.nchw);
    return true;
}

static struct cpu_layer layer_of(const struct cpu_call *c) {
    const struct cpu_tensor *filter = cpu_in(c, FILTER);
    return (struct cpu_layer){
        .input = cpu_in(c, X),
        .weights = filter,
        .bias = cpu_in(c, BIAS),
        .output = cpu_out(c, 0),
        .n = filter->shape.dims[3],
        .k = cpu_extent(&filter->shape, 1, 3),
    };
}

static size_t pack_bytes(const struct cpu_layer *l) { return l->n * (l->k * sizeof(int32_t) + 2 * sizeof(double)); }

static void pack(const struct cpu_layer *l, void *memory, struct prepared *out) {
    const struct cpu_tensor *w = l->weights;
    const bool per_channel = w->type == ANEURALNETWORKS_TENSOR_QUANT8_SYMM_PER_CHANNEL;
    const int32_t *bias = l->bias->data;
    out->bias = memory;
    out->multiplier = out->bias + l->n;
    out->weights = (int32_t *)(out->multiplier + l->n);
    for (size_t c = 0; c < l->n; c++) {
        out->bias[c] = bias[c];
        out->multiplier[c] = cpu_layer_multiplier(l, c);
    }
    for (size_t i = 0; i < l->n * l->k; i++) {
        const int32_t value =
            per_channel ? ((const int8_t *)w->data)[i] : ((const uint8_t *)w->data)[i] - w->zero_point;
        out->weights[i] = value & 0xffff;
    }
}

/** 3x3 filters whose options are known are made ready for lines. */
static bool prepare_lines(const struct cpu_call *c, const struct cpu_layer *layer, struct cpu_arena *arena,
                          struct cpu_lines_weights *out) {
    const uint32_t *f = layer->weights->shape.dims;
    struct cpu_window w;
    uint32_t multiplier;
    if (!cpu_values_known(c, FIRST_OPTION) || !read_options(c, &w, &multiplier)) return true; /* an execution says so */
    w.filter_h = f[1];
    w.filter_w = f[2];
    struct cpu_layer turned = *layer;
    turned.turned = true;
    return multiplier != 1 || cpu_lines_prepare(c->kernels, &turned, &w, arena, out);
}

static bool prepare(const struct cpu_call *c, struct cpu_arena *arena, void **state) {
    if (!cpu_in(c, FILTER)->data || !cpu_in(c, BIAS)->data) return true;
    const struct cpu_layer layer = layer_of(c);
    struct prepared *p = *state = cpu_arena_alloc(arena, sizeof *p);
    if (!p) return false;
    if (cpu_is_quant8(layer.input)) {
        void *memory = cpu_arena_alloc(arena, pack_bytes(&layer));
        if (!memory) return false;
        pack(&layer, memory, p);
    }
    return prepare_lines(c, &layer, arena, &p->lines);
}

/** x with each channel `multiplier` times; x itself for 1. NULL without memory. */
static const void *repeat_channels(struct cpu_run *run, const void *x, size_t count, uint32_t multiplier,
                                   uint32_t element) {
    if (multiplier == 1 || !x) return x;
    char *copy = cpu_scratch(run, count * multiplier * element);
    for (size_t i = 0; copy && i < count; i++)
        for (size_t m = 0; m < multiplier; m++)
            memcpy(copy + (i * multiplier + m) * element, (const char *)x + i * element, element);
    return copy;
}

static void pixel(const struct depthwise *d, const struct cpu_taps *taps, size_t x, size_t w, size_t y, int32_t *sums) {
    const struct cpu_depthwise *v = &d->c;
    const struct cpu_kernels *k = v->run->kernels;
    if (!v->quantised) {
        k->depthwise_f32(taps, (const float *)v->x + x, v->weights + w, v->bias, v->range.lo, v->range.hi,
                         (float *)v->y + y);
        return;
    }
    k->depthwise_s32(taps, (const uint8_t *)v->x + x, v->x_zero, d->q.weights + w, sums);
    k->requantize(taps->channels, sums, d->q.bias, d->q.multiplier, v->y_zero, v->range.qlo, v->range.qhi,
                  (uint8_t *)v->y + y);
}

/** One row of output pixels. */
static void line(const struct depthwise *d, size_t image, uint32_t y_out, int32_t *sums) {
    const struct cpu_depthwise *v = &d->c;
    const struct cpu_window *w = &v->window;
    const size_t c = v->out.c;
    const int64_t y = (int64_t)y_out * w->stride_h - w->top;
    const struct cpu_span rows = cpu_window_span(y, w->filter_h, w->dilation_h, v->in.h);
    for (uint32_t x_out = 0; x_out < v->out.w; x_out++) {
        const int64_t x = (int64_t)x_out * w->stride_w - w->left;
        const struct cpu_span cols = v->cols[x_out];
        struct cpu_taps taps = {
            .channels = c,
            .rows = cols.count ? rows.count : 0,
            .cols = cols.count,
            .x_row = (size_t)w->dilation_h * v->in.w * c,
            .x_col = (size_t)w->dilation_w * c,
            .w_row = w->filter_w * c,
            .w_col = c,
        };
        size_t from = 0, filter = 0;
        if (taps.rows) {
            const size_t first_y = (size_t)(y + (int64_t)rows.first * w->dilation_h);
            const size_t first_x = (size_t)(x + (int64_t)cols.first * w->dilation_w);
            from = ((image * v->in.h + first_y) * v->in.w + first_x) * c;
            filter = ((size_t)rows.first * w->filter_w + cols.first) * c;
        }
        pixel(d, &taps, from, filter, ((image * v->out.h + y_out) * v->out.w + x_out) * c, sums);
    }
}

static void lines(void *arg, uint32_t begin, uint32_t end, uint32_t worker) {
    const struct depthwise *d = arg;
    int32_t *sums = d->sums ? d->sums + worker * (size_t)d->c.out.c : NULL;
    for (uint32_t i = begin; i < end; i++) line(d, i / d->c.out.h, i % d->c.out.h, sums);
}

/** Weights in the form the kernels take. False: no memory. */
static bool bring_weights(const struct cpu_call *c, struct depthwise *d) {
    struct cpu_depthwise *v = &d->c;
    const struct cpu_layer layer = layer_of(c);
    if (!cpu_is_quant8(layer.input)) {
        v->weights = layer.weights->data;
        v->bias = layer.bias->data;
        return true;
    }
    d->sums = cpu_scratch(c->run, cpu_threads_count(c->run->threads) * (size_t)v->out.c * sizeof *d->sums);
    if (c->node->state) {
        d->q = *(const struct prepared *)c->node->state;
    } else {
        void *memory = cpu_scratch(c->run, pack_bytes(&layer));
        if (memory) pack(&layer, memory, &d->q);
    }
    return d->sums && d->q.weights;
}

static bool run(struct cpu_call *c) {
    struct cpu_run *r = c->run;
    const struct cpu_tensor *x = cpu_in(c, X), *out = cpu_out(c, 0);
    const struct prepared *prepared = c->node->state;
    struct depthwise d = {0};
    struct cpu_depthwise *v = &d.c;
    if (!describe(c, v) || !bring_weights(c, &d)) return false;
    v->run = r;
    v->x = repeat_channels(r, cpu_image_in(r, x, v->window.nchw), cpu_count(x), v->multiplier, cpu_element(x->type));
    v->y = cpu_image_out(r, out, v->window.nchw);
    v->cols = cpu_window_columns(r, &v->window, v->in.w, v->out.w);
    if (!v->x || !v->y || !v->cols) return false;
    v->range = cpu_activation(v->window.activation, out);
    v->x_zero = x->zero_point;
    v->y_zero = out->zero_point;
    if (prepared && cpu_lines_fit(v, &prepared->lines)) {
        if (!cpu_lines_run(v, &prepared->lines)) return false;
    } else {
        const double work_ns = (double)cpu_count(out) * v->window.filter_h * v->window.filter_w / 8.0;
        cpu_threads_run(r->threads, v->out.n * v->out.h, work_ns, lines, &d);
    }
    cpu_image_done(c->run, out, v->window.nchw, v->y);
    return true;
}

const struct cpu_op_fns cpu_op_depthwise = {.check = check, .infer = infer, .prepare = prepare, .run = run};
