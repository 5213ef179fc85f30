/* SPDX-License-Identifier: Apache-2.0 */
/** @file depthwise_lines.c 3x3 filters over whole lines of an image; lines above and below it are lines of padding. */
#include <string.h>

#include "depthwise.h"

enum { SIDE = 3, TAPS = SIDE * SIDE, SPLIT_MOST = 2 * INT8_MAX };

/* -------------------------------------------------------------------- weights */

/** 0 times infinity is no number, but a tap outside the image counts for nothing. */
static bool all_finite(const float *w, size_t count) {
    uint32_t bad = 0;
    for (size_t i = 0; i < count; i++) {
        uint32_t bits;
        memcpy(&bits, &w[i], sizeof bits);
        bad |= (bits & 0x7f800000u) == 0x7f800000u;
    }
    return !bad;
}

/** Part s of a weight: all of it, or one of two halves. */
static int8_t part_of(int32_t weight, uint32_t s, uint32_t sets) {
    const int32_t half = weight / 2;
    return (int8_t)(sets == 1 ? (s == 0 ? weight : 0) : s == 0 ? half : weight - half);
}

/** Place `place` of a block, which is channel c. */
static void pack_place(const struct cpu_kernels *kernels, const struct cpu_layer *l, size_t c, uint32_t sets,
                       size_t place, struct cpu_lines_block_u8 *b) {
    int32_t sum = 0;
    for (size_t p = 0; p < SIDE; p++)
        for (size_t q = 0; q < SIDE; q++) {
            const int32_t w = cpu_layer_weight(l, c, p * SIDE + q);
            sum += w;
            for (uint32_t s = 0; s < sets; s++)
                for (size_t o = 0; o < 2; o++) b->w[s][q][place / 16][o][place % 16 * 4 + p + o] = part_of(w, s, sets);
        }
    b->bias[place] = (int32_t)((uint32_t)((const int32_t *)l->bias->data)[c] -
                               (uint32_t)(l->input->zero_point - kernels->less_u8) * (uint32_t)sum);
    b->multiplier[place] = cpu_layer_multiplier(l, c);
    b->scale[place] = (float)(b->multiplier[place] * 65536);
}

static bool prepare_u8(const struct cpu_kernels *kernels, const struct cpu_layer *layer, const struct cpu_window *w,
                       struct cpu_arena *arena, struct cpu_lines_weights *out) {
    const size_t channels = layer->n;
    const struct cpu_layer_ranges ranges = cpu_layer_ranges(layer);
    if (!ranges.fits || ranges.most > SPLIT_MOST) return true;
    out->sets = ranges.least < INT8_MIN || ranges.most > INT8_MAX ? 2 : 1;
    out->pixels = channels < CPU_LINES_BYTES && w->stride_w == 1 ? CPU_LINES_BYTES / channels : 1;
    out->count = (channels + CPU_LINES_BYTES - 1) / CPU_LINES_BYTES;
    out->blocks = cpu_arena_array(arena, out->count, sizeof *out->blocks);
    if (!out->blocks) return false;
    for (size_t i = 0; i < out->count; i++) {
        struct cpu_lines_block_u8 *b = &out->blocks[i];
        const bool last = channels >= CPU_LINES_BYTES && i + 1 == out->count; /* may overlap its predecessor */
        b->channel = last ? channels - CPU_LINES_BYTES : i * CPU_LINES_BYTES;
        for (size_t place = 0; place < CPU_LINES_BYTES; place++) {
            const size_t byte = (size_t)cpu_lines_byte((int)place);
            if (byte < out->pixels * channels)
                pack_place(kernels, layer, (b->channel + byte) % channels, out->sets, place, b);
        }
    }
    out->ready = true;
    return true;
}

/** What a tile needs of a vector of channels side by side: else these are ten places that may share a set of a cache.
 */
static bool pack_f32(const struct cpu_layer *layer, size_t lanes, struct cpu_arena *arena,
                     struct cpu_lines_weights *out) {
    const float *w = layer->weights->data, *bias = layer->bias->data;
    out->count = (layer->n + lanes - 1) / lanes;
    out->packed = cpu_arena_array(arena, out->count, (TAPS + 1) * lanes * sizeof *out->packed);
    if (!out->packed) return false;
    float *to = out->packed;
    for (size_t i = 0; i < out->count; i++) {
        const size_t c = i + 1 < out->count ? i * lanes : layer->n - lanes;
        for (size_t t = 0; t <= TAPS; t++, to += lanes)
            memcpy(to, t == 0 ? bias + c : w + (t - 1) * layer->n + c, lanes * sizeof *to);
    }
    return true;
}

bool cpu_lines_prepare(const struct cpu_kernels *kernels, const struct cpu_layer *layer, const struct cpu_window *w,
                       struct cpu_arena *arena, struct cpu_lines_weights *out) {
    *out = (struct cpu_lines_weights){0};
    if (w->filter_h != SIDE || w->filter_w != SIDE || layer->k != TAPS || layer->n == 0) return true;
    if (cpu_is_quant8(layer->input)) return !kernels->lines_u8 || prepare_u8(kernels, layer, w, arena, out);
    out->ready = all_finite(layer->weights->data, TAPS * layer->n);
    return !out->ready || layer->n < kernels->panel / 2 || pack_f32(layer, kernels->panel / 2, arena, out);
}

/* ------------------------------------------------------------------------ run */

bool cpu_lines_fit(const struct cpu_depthwise *v, const struct cpu_lines_weights *weights) {
    const struct cpu_window *w = &v->window;
    const int64_t end = ((int64_t)v->out.w - 1) * w->stride_w - w->left + SIDE;
    return weights && weights->ready && v->multiplier == 1 && w->filter_h == SIDE && w->filter_w == SIDE &&
           w->dilation_h == 1 && w->dilation_w == 1 && w->stride_w <= 2 && w->left <= 1 &&
           end <= (int64_t)v->in.w + 1 && (v->quantised || v->out.c >= v->run->kernels->panel / 2);
}

struct lines {
    const struct cpu_depthwise *v;
    const struct cpu_lines_weights *weights;
    uint32_t rows, groups; /**< rows at once, and how many times that is an image */
    const char *padding;   /**< a line */
};

static void run_f32(const struct cpu_depthwise *v, const float *packed, uint32_t rows, const char *const x[],
                    char *const y[]) {
    struct cpu_lines_f32 l = {.channels = v->out.c,
                              .width = v->in.w,
                              .out_width = v->out.w,
                              .rows = rows,
                              .stride = (uint32_t)v->window.stride_w,
                              .down = (uint32_t)v->window.stride_h,
                              .left = (uint32_t)v->window.left,
                              .w = packed,
                              .lo = v->range.lo,
                              .hi = v->range.hi};
    for (uint32_t i = 0; i < (rows - 1) * l.down + SIDE; i++) l.x[i] = (const float *)(const void *)x[i];
    for (uint32_t i = 0; i < rows; i++) l.y[i] = (float *)(void *)y[i];
    v->run->kernels->lines_f32(&l);
}

static void run_u8(const struct lines *d, uint32_t rows, const char *const x[], char *const y[]) {
    const struct cpu_depthwise *v = d->v;
    struct cpu_lines_u8 l = {.channels = v->out.c,
                             .width = v->in.w,
                             .out_width = v->out.w,
                             .rows = rows,
                             .stride = (uint32_t)v->window.stride_w,
                             .left = (uint32_t)v->window.left,
                             .blocks = d->weights->blocks,
                             .count = d->weights->count,
                             .pixels = d->weights->pixels,
                             .sets = d->weights->sets,
                             .x_zero = v->x_zero,
                             .zero_point = v->y_zero,
                             .lo = v->range.qlo,
                             .hi = v->range.qhi};
    for (uint32_t i = 0; i < rows + 2; i++) l.x[i] = (const uint8_t *)x[i];
    for (uint32_t i = 0; i < rows; i++) l.y[i] = (uint8_t *)y[i];
    v->run->kernels->lines_u8(&l);
}

static void items(void *arg, uint32_t begin, uint32_t end, uint32_t worker) {
    (void)worker;
    const struct lines *d = arg;
    const struct cpu_depthwise *v = d->v;
    const size_t element = v->quantised ? 1 : sizeof(float);
    const size_t in_line = (size_t)v->in.w * v->in.c * element, out_line = (size_t)v->out.w * v->out.c * element;
    for (uint32_t i = begin; i < end; i++) {
        const size_t image = i / d->groups;
        const uint32_t row = i % d->groups * d->rows, left = v->out.h - row, rows = left < d->rows ? left : d->rows;
        const char *x[5] = {NULL};
        char *y[2] = {NULL};
        for (uint32_t r = 0; r < (rows - 1) * (uint32_t)v->window.stride_h + SIDE; r++) {
            const int64_t at = (int64_t)row * v->window.stride_h - v->window.top + r;
            x[r] = at >= 0 && at < v->in.h ? (const char *)v->x + (image * v->in.h + (size_t)at) * in_line : d->padding;
        }
        for (uint32_t r = 0; r < rows; r++) y[r] = (char *)v->y + (image * v->out.h + row + r) * out_line;
        if (v->quantised)
            run_u8(d, rows, x, y);
        else
            run_f32(v, d->weights->packed, rows, x, y);
    }
}

bool cpu_lines_run(const struct cpu_depthwise *v, const struct cpu_lines_weights *weights) {
    const size_t line = (size_t)v->in.w * v->in.c * (v->quantised ? 1 : sizeof(float));
    struct lines d = {.v = v, .weights = weights, .rows = v->window.stride_h <= (v->quantised ? 1 : 2) ? 2 : 1};
    char *padding = cpu_scratch(v->run, line);
    if (!padding) return false;
    memset(padding, v->quantised ? v->x_zero : 0, line);
    d.padding = padding;
    d.groups = (v->out.h + d.rows - 1) / d.rows;
    const double work_ns = (double)v->out.n * v->out.h * v->out.w * v->out.c * TAPS / (v->quantised ? 80 : 60);
    cpu_threads_run(v->run->threads, v->out.n * d.groups, work_ns, items, &d);
    return true;
}
