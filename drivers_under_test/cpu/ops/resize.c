/* SPDX-License-Identifier: Apache-2.0 */
/** @file resize.c RESIZE_BILINEAR, RESIZE_NEAREST_NEIGHBOR. */
#include <string.h>

#include "layers/image.h"

enum { X, WIDTH, HEIGHT, NCHW, ALIGN_CORNERS, HALF_PIXEL, BY_SHAPE = 0 };

/** What a row or column of the output is mixed from. */
struct mix {
    uint32_t lo, hi;
    double t; /**< weight of hi */
};

static bool size_known_ok(const struct cpu_call *c, uint32_t input) {
    const struct cpu_tensor *t = cpu_in(c, input);
    if (!t->data) return true;
    return c->node->form == BY_SHAPE ? cpu_int(c, input, 0) > 0 : cpu_float(c, input, 0) > 0;
}

static bool check(const struct cpu_call *c) {
    if (cpu_int(c, ALIGN_CORNERS, 0) && cpu_int(c, HALF_PIXEL, 0)) return false;
    return size_known_ok(c, WIDTH) && size_known_ok(c, HEIGHT);
}

/** The extent asked for, or input extent times scale, rounded down. */
static bool output_extent(const struct cpu_call *c, uint32_t input, uint32_t extent, uint32_t *out) {
    if (c->node->form == BY_SHAPE) {
        *out = (uint32_t)cpu_int(c, input, 0);
        return *out > 0;
    }
    *out = CPU_UNKNOWN;
    if (extent == CPU_UNKNOWN) return true;
    const float size = floorf((float)extent * cpu_float(c, input, 0));
    if (!(size >= 1 && size < 0x1p31f)) return false;
    *out = (uint32_t)size;
    return true;
}

static bool infer(struct cpu_call *c) {
    const bool nchw = cpu_int(c, NCHW, 0) != 0;
    struct cpu_image image = cpu_image_of(&cpu_in(c, X)->shape, nchw);
    if (image.h == 0 || image.w == 0 || image.c == 0) return false;
    if (!output_extent(c, HEIGHT, image.h, &image.h) || !output_extent(c, WIDTH, image.w, &image.w)) return false;
    c->out_shapes[0] = cpu_image_shape(image, nchw);
    return true;
}

/* ------------------------------------------------------------------- bilinear */

static struct mix mix_at(uint32_t i, uint32_t in, uint32_t out, bool align, bool half) {
    const double ratio = align && out > 1 ? (in - 1.0) / (out - 1.0) : (double)in / out;
    double p = half ? (i + 0.5) * ratio - 0.5 : i * ratio;
    if (p < 0) p = 0;
    if (p > in - 1.0) p = in - 1.0;
    const uint32_t lo = (uint32_t)p;
    return (struct mix){lo, lo + 1 < in ? lo + 1 : lo, p - lo};
}

struct resize {
    struct cpu_run *run;
    struct cpu_image in, out;
    const void *x;
    void *y;
    const struct mix *rows, *cols;
    bool quantised;
    int32_t zero_point;
};

static void pixel_f32(const struct resize *r, const size_t at[4], struct mix row, struct mix col, size_t to) {
    const float *x = r->x;
    const float *const corner[4] = {x + at[0], x + at[1], x + at[2], x + at[3]};
    r->run->kernels->lerp_f32(r->in.c, corner, (float)col.t, (float)row.t, (float *)r->y + to);
}

static void pixel_u8(const struct resize *r, const size_t at[4], struct mix row, struct mix col, size_t to) {
    const uint8_t *x = r->x;
    uint8_t *y = (uint8_t *)r->y + to;
    const double weight[4] = {(1 - row.t) * (1 - col.t), (1 - row.t) * col.t, row.t * (1 - col.t), row.t * col.t};
    for (size_t c = 0; c < r->in.c; c++) {
        double sum = 0;
        for (int k = 0; k < 4; k++) sum += weight[k] * (x[at[k] + c] - r->zero_point);
        const int32_t q = cpu_round(sum) + r->zero_point;
        y[c] = (uint8_t)(q < 0 ? 0 : q > 255 ? 255 : q);
    }
}

/** Rows of output pixels. */
static void lines(void *arg, uint32_t begin, uint32_t end, uint32_t worker) {
    (void)worker;
    const struct resize *r = arg;
    const size_t c = r->in.c, line = r->in.w * c;
    for (uint32_t i = begin; i < end; i++) {
        const struct mix row = r->rows[i % r->out.h];
        const size_t image = (size_t)(i / r->out.h) * r->in.h * line;
        const size_t top = image + row.lo * line, bottom = image + row.hi * line;
        for (uint32_t x = 0; x < r->out.w; x++) {
            const struct mix col = r->cols[x];
            const size_t at[4] = {top + col.lo * c, top + col.hi * c, bottom + col.lo * c, bottom + col.hi * c};
            (r->quantised ? pixel_u8 : pixel_f32)(r, at, row, col, ((size_t)i * r->out.w + x) * c);
        }
    }
}

static bool run(struct cpu_call *c) {
    const struct cpu_tensor *x = cpu_in(c, X), *out = cpu_out(c, 0);
    const bool nchw = cpu_int(c, NCHW, 0) != 0;
    const bool align = cpu_int(c, ALIGN_CORNERS, 0) != 0, half = cpu_int(c, HALF_PIXEL, 0) != 0;
    struct resize r = {
        .run = c->run,
        .in = cpu_image_of(&x->shape, nchw),
        .out = cpu_image_of(&out->shape, nchw),
        .x = cpu_image_in(c->run, x, nchw),
        .y = cpu_image_out(c->run, out, nchw),
        .quantised = cpu_is_quant8(x),
        .zero_point = x->zero_point,
    };
    struct mix *mixes = cpu_scratch(c->run, ((size_t)r.out.h + r.out.w) * sizeof *mixes);
    if (!r.x || !r.y || !mixes) return false;
    for (uint32_t i = 0; i < r.out.h; i++) mixes[i] = mix_at(i, r.in.h, r.out.h, align, half);
    for (uint32_t i = 0; i < r.out.w; i++) mixes[r.out.h + i] = mix_at(i, r.in.w, r.out.w, align, half);
    r.rows = mixes;
    r.cols = mixes + r.out.h;
    const double work_ns = (double)cpu_count(out) * (r.quantised ? 8 : 1);
    cpu_threads_run(c->run->threads, r.out.n * r.out.h, work_ns, lines, &r);
    cpu_image_done(c->run, out, nchw, r.y);
    return true;
}

const struct cpu_op_fns cpu_op_resize_bilinear = {.check = check, .infer = infer, .run = run};

/* ----------------------------------------------------------- nearest neighbour */

/** The place that output i shows: a fraction, rounded down, or to the nearest where corners are aligned. */
static uint32_t nearest_at(uint32_t i, uint32_t in, uint32_t out, bool align, bool half) {
    uint64_t numerator = (uint64_t)i * in, denominator = out;
    if (align && out > 1) {
        numerator = (uint64_t)i * (in - 1);
        denominator = out - 1;
    } else if (half) {
        numerator = (2 * (uint64_t)i + 1) * in;
        denominator = 2 * (uint64_t)out;
    }
    const uint64_t at = align ? (2 * numerator + denominator) / (2 * denominator) : numerator / denominator;
    return at < in ? (uint32_t)at : in - 1;
}

struct nearest {
    const char *x;
    char *y;
    uint32_t in_h, in_w, out_h, out_w;
    const uint32_t *rows, *cols; /**< of the input */
    size_t pixel;                /**< bytes */
};

/** A row of pixels of one size; a constant one makes a loop without calls. */
static inline void pick_pixels(const struct nearest *r, size_t pixel, const char *from, char *to) {
    for (uint32_t x = 0; x < r->out_w; x++) memcpy(to + x * pixel, from + r->cols[x] * pixel, pixel);
}

static void nearest_lines(void *arg, uint32_t begin, uint32_t end, uint32_t worker) {
    (void)worker;
    const struct nearest *r = arg;
    const size_t in_line = r->in_w * r->pixel, out_line = r->out_w * r->pixel;
    const char *last = NULL;
    for (uint32_t i = begin; i < end; i++) {
        const char *from = r->x + ((size_t)(i / r->out_h) * r->in_h + r->rows[i % r->out_h]) * in_line;
        char *to = r->y + i * out_line;
        if (from == last)
            memcpy(to, to - out_line, out_line);
        else if (r->pixel == 1)
            pick_pixels(r, 1, from, to);
        else if (r->pixel == sizeof(float))
            pick_pixels(r, sizeof(float), from, to);
        else
            pick_pixels(r, r->pixel, from, to);
        last = from;
    }
}

/** Channels of an [N,C,H,W] image are images of one channel. */
static bool run_nearest(struct cpu_call *c) {
    const struct cpu_tensor *x = cpu_in(c, X), *out = cpu_out(c, 0);
    const bool nchw = cpu_int(c, NCHW, 0) != 0;
    const bool align = cpu_int(c, ALIGN_CORNERS, 0) != 0, half = cpu_int(c, HALF_PIXEL, 0) != 0;
    const struct cpu_image from = cpu_image_of(&x->shape, nchw), to = cpu_image_of(&out->shape, nchw);
    uint32_t *places = cpu_scratch(c->run, ((size_t)to.h + to.w) * sizeof *places);
    if (!places) return false;
    for (uint32_t i = 0; i < to.h; i++) places[i] = nearest_at(i, from.h, to.h, align, half);
    for (uint32_t i = 0; i < to.w; i++) places[to.h + i] = nearest_at(i, from.w, to.w, align, half);
    struct nearest r = {
        .x = x->data,
        .y = out->data,
        .in_h = from.h,
        .in_w = from.w,
        .out_h = to.h,
        .out_w = to.w,
        .rows = places,
        .cols = places + to.h,
        .pixel = (nchw ? 1 : from.c) * (size_t)cpu_element(x->type),
    };
    const uint32_t images = nchw ? from.n * from.c : from.n;
    cpu_threads_run(c->run->threads, images * to.h, (double)cpu_count(out) * 0.5, nearest_lines, &r);
    return true;
}

const struct cpu_op_fns cpu_op_resize_nearest = {.check = check, .infer = infer, .run = run_nearest};
