/* SPDX-License-Identifier: Apache-2.0 */
/** @file pool2d.c AVERAGE_POOL_2D, MAX_POOL_2D, L2_POOL_2D. The divisor is the number of cells inside the image. */
#include "image.h"

enum { X, FIRST_OPTION };

struct pool {
    int32_t code;
    struct cpu_window window;
    struct cpu_image in, out;
    struct cpu_run *run;
    bool quantised;
    const void *x;
    void *y;
    const struct cpu_span *cols;
    int32_t *sums; /**< quantised average: one pixel per thread */
    struct cpu_range range;
    int32_t zero_point;
};

static bool read_options(const struct cpu_call *c, struct cpu_window *w) {
    int32_t filter[2]; /* width, height */
    if (!cpu_window_read(c, FIRST_OPTION, 2, filter, w) || filter[0] < 1 || filter[1] < 1) return false;
    w->filter_w = (uint32_t)filter[0];
    w->filter_h = (uint32_t)filter[1];
    return true;
}

static bool check(const struct cpu_call *c) {
    struct cpu_window w;
    return read_options(c, &w);
}

static bool describe(const struct cpu_call *c, struct pool *v) {
    *v = (struct pool){.code = c->node->code};
    if (!read_options(c, &v->window)) return false;
    v->in = cpu_image_of(&cpu_in(c, X)->shape, v->window.nchw);
    if (v->in.c == 0) return false;
    v->out = v->in;
    return cpu_window_apply(&v->window, v->in, &v->out.h, &v->out.w);
}

static bool infer(struct cpu_call *c) {
    struct pool v;
    if (!describe(c, &v)) return false;
    c->out_shapes[0] = cpu_image_shape(v.out, v.window.nchw);
    return true;
}

/** sum / n, halves away from zero. */
static int32_t divide(int32_t sum, int32_t n) {
    const int32_t half = n / 2; /* an odd n has no halves */
    return sum < 0 ? -((-sum + half) / n) : (sum + half) / n;
}

static void average_u8(const struct pool *v, const struct cpu_taps *t, const uint8_t *x, uint8_t *y, int32_t *sums) {
    const int32_t count = (int32_t)(t->rows * t->cols);
    if (count == 0 || !sums) return; /* validation leaves no empty window */
    for (size_t c = 0; c < t->channels; c++) sums[c] = -count * v->zero_point;
    for (uint32_t p = 0; p < t->rows; p++)
        for (uint32_t q = 0; q < t->cols; q++) {
            const uint8_t *xt = x + p * t->x_row + q * t->x_col;
            for (size_t c = 0; c < t->channels; c++) sums[c] += xt[c];
        }
    for (size_t c = 0; c < t->channels; c++) {
        const int32_t value = divide(sums[c], count) + v->zero_point;
        y[c] = (uint8_t)(value < v->range.qlo ? v->range.qlo : value > v->range.qhi ? v->range.qhi : value);
    }
}

static void pixel(const struct pool *v, const struct cpu_taps *t, size_t from, size_t to, int32_t *sums) {
    const struct cpu_kernels *k = v->run->kernels;
    const struct cpu_range *r = &v->range;
    if (v->quantised) {
        const uint8_t *x = (const uint8_t *)v->x + from;
        uint8_t *y = (uint8_t *)v->y + to;
        if (v->code == ANEURALNETWORKS_MAX_POOL_2D)
            k->pool_max_u8(t, x, r->qlo, r->qhi, y);
        else
            average_u8(v, t, x, y, sums);
        return;
    }
    const float *x = (const float *)v->x + from, count = (float)t->rows * (float)t->cols;
    float *y = (float *)v->y + to;
    if (v->code == ANEURALNETWORKS_MAX_POOL_2D)
        k->pool_max_f32(t, x, r->lo, r->hi, y);
    else if (v->code == ANEURALNETWORKS_L2_POOL_2D)
        k->pool_square_f32(t, x, count, r->lo, r->hi, y);
    else
        k->pool_sum_f32(t, x, count, r->lo, r->hi, y);
}

/** Rows of output pixels. */
static void lines(void *arg, uint32_t begin, uint32_t end, uint32_t worker) {
    const struct pool *v = arg;
    const struct cpu_window *w = &v->window;
    const size_t c = v->in.c;
    int32_t *sums = v->sums ? v->sums + worker * c : NULL;
    for (uint32_t i = begin; i < end; i++) {
        const int64_t y = (int64_t)(i % v->out.h) * w->stride_h - w->top;
        const struct cpu_span rows = cpu_window_span(y, w->filter_h, 1, v->in.h);
        const size_t row = (size_t)(i / v->out.h) * v->in.h + (size_t)(y + rows.first);
        for (uint32_t x_out = 0; x_out < v->out.w; x_out++) {
            const int64_t x = (int64_t)x_out * w->stride_w - w->left;
            const struct cpu_span cols = v->cols[x_out];
            const struct cpu_taps taps = {
                .channels = c, .rows = rows.count, .cols = cols.count, .x_row = v->in.w * c, .x_col = c};
            const size_t from = (row * v->in.w + (size_t)(x + cols.first)) * c;
            pixel(v, &taps, from, ((size_t)i * v->out.w + x_out) * c, sums);
        }
    }
}

static bool run(struct cpu_call *c) {
    const struct cpu_tensor *x = cpu_in(c, X), *out = cpu_out(c, 0);
    struct pool v;
    if (!describe(c, &v)) return false;
    v.run = c->run;
    v.quantised = cpu_is_quant8(x);
    v.zero_point = x->zero_point;
    v.range = cpu_activation(v.window.activation, out);
    v.x = cpu_image_in(c->run, x, v.window.nchw);
    v.y = cpu_image_out(c->run, out, v.window.nchw);
    v.cols = cpu_window_columns(c->run, &v.window, v.in.w, v.out.w);
    if (!v.x || !v.y || !v.cols) return false;
    if (v.quantised) {
        v.sums = cpu_scratch(c->run, cpu_threads_count(c->run->threads) * (size_t)v.in.c * sizeof *v.sums);
        if (!v.sums) return false;
    }
    const double work_ns = (double)cpu_count(out) * v.window.filter_h * v.window.filter_w / 4.0;
    cpu_threads_run(c->run->threads, v.out.n * v.out.h, work_ns, lines, &v);
    cpu_image_done(c->run, out, v.window.nchw, v.y);
    return true;
}

const struct cpu_op_fns cpu_op_pool = {.check = check, .infer = infer, .run = run};
