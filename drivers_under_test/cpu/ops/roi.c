/* SPDX-License-Identifier: Apache-2.0 */
/** @file roi.c ROI_ALIGN, ROI_POOLING: boxes cut out of images, at a resolution of their own. */
#include <string.h>

#include "layers/image.h"
#include "regions.h"

enum { X, BOXES, BATCH, OUT_H, OUT_W, RATIO_H, RATIO_W, SAMPLES_H, SAMPLES_W, ALIGN_NCHW, POOL_NCHW = SAMPLES_H };

static bool is_align(const struct cpu_call *c) { return c->node->code == ANEURALNETWORKS_ROI_ALIGN; }

static bool is_nchw(const struct cpu_call *c) { return cpu_int(c, is_align(c) ? ALIGN_NCHW : POOL_NCHW, 0) != 0; }

static bool check(const struct cpu_call *c) {
    const struct cpu_tensor *boxes = cpu_in(c, BOXES), *batch = cpu_in(c, BATCH);
    const uint32_t count = boxes->known_rank && boxes->shape.rank == 2 ? boxes->shape.dims[0] : CPU_UNKNOWN;
    if (!cpu_shape_fits(boxes, 2, CPU_UNKNOWN, 4) || !cpu_shape_fits(batch, 1, count, 0)) return false;
    for (uint32_t i = RATIO_H; i <= RATIO_W; i++)
        if (!(cpu_float(c, i, 1) > 0)) return false;
    for (uint32_t i = SAMPLES_H; is_align(c) && i <= SAMPLES_W; i++)
        if (!cpu_int_within(c, i, 0, INT32_MAX)) return false;
    return cpu_int_within(c, OUT_H, 1, INT32_MAX) && cpu_int_within(c, OUT_W, 1, INT32_MAX);
}

static bool infer(struct cpu_call *c) {
    const struct cpu_image in = cpu_image_of(&cpu_in(c, X)->shape, is_nchw(c));
    if (in.n == 0 || in.h == 0 || in.w == 0 || in.c == 0) return false;
    const uint32_t boxes = cpu_merge(cpu_in(c, BOXES)->shape.dims[0], cpu_in(c, BATCH)->shape.dims[0]);
    const struct cpu_image out = {boxes, (uint32_t)cpu_int(c, OUT_H, 1), (uint32_t)cpu_int(c, OUT_W, 1), in.c};
    c->out_shapes[0] = cpu_image_shape(out, is_nchw(c));
    return true;
}

/* ---------------------------------------------------------------------- boxes */

/** One dimension of a box, in pixels of the image that is cut. */
struct span {
    double start, end;
};

struct roi {
    struct cpu_run *run;
    struct cpu_image in, out;
    const void *x;
    void *y;
    bool quantised;
    const struct cpu_tensor *input, *output;
    const struct cpu_tensor *boxes;
    const int32_t *batch;
    double ratio[2];    /**< height, width */
    double slack;       /**< by which rounding may put an end beyond the image */
    int32_t samples[2]; /**< ROI_ALIGN; 0: as many as a bin has pixels */
    float *sums;        /**< ROI_ALIGN: one pixel per thread */
};

/** Dimension d (0 height, 1 width) of a box. */
static struct span span_of(const struct roi *r, uint32_t box, int d) {
    const size_t at = (size_t)box * 4 + (d ? 0 : 1);
    return (struct span){cpu_coordinate(r->boxes, at) / r->ratio[d], cpu_coordinate(r->boxes, at + 2) / r->ratio[d]};
}

static bool boxes_ok(const struct roi *r) {
    for (uint32_t i = 0; i < r->out.n; i++) {
        if (r->batch[i] < 0 || (uint32_t)r->batch[i] >= r->in.n) return false;
        for (int d = 0; d < 2; d++) {
            const struct span s = span_of(r, i, d);
            if (!(s.start >= 0 && s.start <= s.end && s.end <= (d ? r->in.w : r->in.h) * (1 + r->slack))) return false;
        }
    }
    return true;
}

static bool read_roi(const struct cpu_call *c, struct roi *r) {
    const bool nchw = is_nchw(c);
    const struct cpu_tensor *x = cpu_in(c, X), *out = cpu_out(c, 0);
    *r = (struct roi){
        .run = c->run,
        .in = cpu_image_of(&x->shape, nchw),
        .out = cpu_image_of(&out->shape, nchw),
        .x = cpu_image_in(c->run, x, nchw),
        .y = cpu_image_out(c->run, out, nchw),
        .quantised = cpu_is_quant8(x),
        .input = x,
        .output = out,
        .boxes = cpu_in(c, BOXES),
        .batch = cpu_in(c, BATCH)->data,
        .ratio = {(double)cpu_float(c, RATIO_H, 1), (double)cpu_float(c, RATIO_W, 1)},
        .slack = x->type == ANEURALNETWORKS_TENSOR_FLOAT16 ? 0x1p-9 : 0x1p-21,
        .samples = {cpu_int(c, SAMPLES_H, 0), cpu_int(c, SAMPLES_W, 0)},
    };
    return r->x && r->y && boxes_ok(r);
}

/* ------------------------------------------------------------------ ROI_ALIGN */

/** A sample lies t of the way from pixel lo to pixel hi. */
struct tap {
    uint32_t lo, hi;
    double t;
};

static struct tap tap_at(double at, uint32_t extent) {
    const double floor_at = at > 0 ? floor(at) : 0;
    if (!(floor_at < extent - 1.0)) return (struct tap){extent - 1, extent - 1, 0};
    return (struct tap){(uint32_t)floor_at, (uint32_t)floor_at + 1, at > 0 ? at - floor_at : 0};
}

/** The samples of one dimension of a box: `count` in each bin. */
struct samples {
    double start, bin, count;
};

static struct samples samples_of(const struct roi *r, uint32_t box, int d) {
    const struct span s = span_of(r, box, d);
    const double size = s.end - s.start > 1 ? s.end - s.start : 1;
    struct samples a = {s.start, size / (d ? r->out.w : r->out.h), r->samples[d]};
    if (r->samples[d] == 0) a.count = a.bin > 1 ? ceil(a.bin) : 1;
    return a;
}

static void add_sample(const struct roi *r, size_t image, struct tap row, struct tap col, float *sum) {
    const size_t n = r->in.c, line = (size_t)r->in.w * n, at = image * r->in.h * line;
    const size_t top = at + row.lo * line, bottom = at + row.hi * line, left = col.lo * n, right = col.hi * n;
    const float w[] = {(float)((1 - row.t) * (1 - col.t)), (float)((1 - row.t) * col.t), (float)(row.t * (1 - col.t)),
                       (float)(row.t * col.t)};
    if (r->quantised) {
        const uint8_t *x = r->x;
        const float zero = (float)r->input->zero_point;
        for (size_t c = 0; c < n; c++)
            sum[c] += w[0] * ((float)x[top + left + c] - zero) + w[1] * ((float)x[top + right + c] - zero) +
                      w[2] * ((float)x[bottom + left + c] - zero) + w[3] * ((float)x[bottom + right + c] - zero);
    } else {
        const float *x = r->x;
        for (size_t c = 0; c < n; c++)
            sum[c] += w[0] * x[top + left + c] + w[1] * x[top + right + c] + w[2] * x[bottom + left + c] +
                      w[3] * x[bottom + right + c];
    }
}

static void write_mean(const struct roi *r, const float *sum, double count, size_t at) {
    const double scale = r->quantised ? (double)r->input->scale / count : 1 / count;
    for (size_t c = 0; c < r->in.c; c++)
        if (r->quantised)
            ((uint8_t *)r->y)[at + c] = cpu_quantize((double)sum[c] * scale, r->output);
        else
            ((float *)r->y)[at + c] = (float)((double)sum[c] * scale);
}

/** Rows of bins. */
static void align_rows(void *arg, uint32_t begin, uint32_t end, uint32_t worker) {
    const struct roi *r = arg;
    float *sum = r->sums + (size_t)worker * r->in.c;
    for (uint32_t item = begin; item < end; item++) {
        const uint32_t box = item / r->out.h, i = item % r->out.h;
        const struct samples down = samples_of(r, box, 0), across = samples_of(r, box, 1);
        const size_t image = (size_t)r->batch[box];
        for (uint32_t j = 0; j < r->out.w; j++) {
            memset(sum, 0, r->in.c * sizeof *sum);
            for (uint32_t p = 0; p < down.count; p++) {
                const struct tap row = tap_at(down.start + down.bin * (i + (p + 0.5) / down.count), r->in.h);
                for (uint32_t q = 0; q < across.count; q++) {
                    const double x = across.start + across.bin * (j + (q + 0.5) / across.count);
                    add_sample(r, image, row, tap_at(x, r->in.w), sum);
                }
            }
            write_mean(r, sum, down.count * across.count, ((size_t)item * r->out.w + j) * r->in.c);
        }
    }
}

/** Samples of all boxes and channels; the request may ask for any number. */
static double work_of(const struct roi *r) {
    double samples = 0;
    for (uint32_t i = 0; i < r->out.n; i++)
        samples += samples_of(r, i, 0).count * r->out.h * samples_of(r, i, 1).count * r->out.w;
    return samples * r->in.c;
}

static bool run_align(struct cpu_call *c) {
    static const double most_work = 0x1p30; /* about a second: boxes may be of any size */
    struct roi r;
    if (!read_roi(c, &r)) return false;
    const double work = work_of(&r);
    r.sums = cpu_scratch(c->run, cpu_threads_count(c->run->threads) * (size_t)r.in.c * sizeof *r.sums);
    if (!r.sums || work > most_work) return false;
    cpu_threads_run(c->run->threads, r.out.n * r.out.h, work * 4, align_rows, &r);
    cpu_image_done(c->run, r.output, is_nchw(c), r.y);
    return true;
}

const struct cpu_op_fns cpu_op_roi_align = {.check = check, .infer = infer, .run = run_align};

/* ---------------------------------------------------------------- ROI_POOLING */

/** Pixels [lo, hi) of a bin. */
struct bin {
    uint32_t lo, hi;
};

static uint32_t clamped(double at, uint32_t extent) { return at > extent ? extent : at > 0 ? (uint32_t)at : 0; }

/** Bin i of dimension d: from start + size * i / out, rounded down, to that of i + 1, rounded up. */
static struct bin bin_of(const struct roi *r, uint32_t box, int d, uint32_t i) {
    const struct span s = span_of(r, box, d);
    const uint32_t extent = d ? r->in.w : r->in.h, out = d ? r->out.w : r->out.h;
    const double start = floor(s.start + 0.5), length = floor(s.end + 0.5) - start + 1, size = length > 1 ? length : 1;
    return (struct bin){clamped(start + floor(size * i / out), extent),
                        clamped(start + ceil(size * (i + 1.0) / out), extent)};
}

static void pool_bin(const struct roi *r, size_t image, struct bin row, struct bin col, size_t to) {
    const size_t n = r->in.c, line = (size_t)r->in.w * n, element = r->quantised ? 1 : sizeof(float);
    const size_t at = (image * r->in.h + row.lo) * line + col.lo * n;
    char *y = (char *)r->y + to * element;
    if (row.lo >= row.hi || col.lo >= col.hi) {
        memset(y, r->quantised ? r->input->zero_point : 0, n * element);
        return;
    }
    const struct cpu_taps t = {
        .channels = n, .rows = row.hi - row.lo, .cols = col.hi - col.lo, .x_row = line, .x_col = n};
    if (r->quantised)
        r->run->kernels->pool_max_u8(&t, (const uint8_t *)r->x + at, 0, 255, (uint8_t *)y);
    else
        r->run->kernels->pool_max_f32(&t, (const float *)r->x + at, -INFINITY, INFINITY, (float *)(void *)y);
}

/** Rows of bins. */
static void pool_rows(void *arg, uint32_t begin, uint32_t end, uint32_t worker) {
    (void)worker;
    const struct roi *r = arg;
    for (uint32_t item = begin; item < end; item++) {
        const uint32_t box = item / r->out.h;
        const struct bin row = bin_of(r, box, 0, item % r->out.h);
        for (uint32_t j = 0; j < r->out.w; j++)
            pool_bin(r, (size_t)r->batch[box], row, bin_of(r, box, 1, j), ((size_t)item * r->out.w + j) * r->in.c);
    }
}

static bool run_pool(struct cpu_call *c) {
    struct roi r;
    if (!read_roi(c, &r)) return false;
    const double pixels = (double)r.in.h * r.in.w / ((double)r.out.h * r.out.w) + 1;
    cpu_threads_run(c->run->threads, r.out.n * r.out.h, (double)cpu_count(r.output) * pixels * 0.3, pool_rows, &r);
    cpu_image_done(c->run, r.output, is_nchw(c), r.y);
    return true;
}

const struct cpu_op_fns cpu_op_roi_pooling = {.check = check, .infer = infer, .run = run_pool};
