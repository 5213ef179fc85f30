/* SPDX-License-Identifier: Apache-2.0 */
/** @file instance_norm.c INSTANCE_NORMALIZATION: each channel of each image to one mean and variance. */
#include "driver/op.h"

enum { X, GAMMA, BETA, EPSILON, NCHW, BLOCK = 256 };

struct instances {
    const struct cpu_kernels *kernels;
    const float *x;
    float *y;
    double gamma, beta, epsilon;
    size_t area, channels, blocks; /**< blocks: of channels, where they lie innermost */
};

static double factor_of(const struct instances *s, double squares) {
    return s->gamma / sqrt(squares / (double)s->area + s->epsilon);
}

/** Planes: a channel is a row of `area` values. */
static void planes(void *arg, uint32_t begin, uint32_t end, uint32_t worker) {
    (void)worker;
    const struct instances *s = arg;
    const struct cpu_kernels *k = s->kernels;
    for (size_t i = begin; i < end; i++) {
        const float *x = s->x + i * s->area;
        const double mean = k->fold[CPU_SUM](s->area, x) / (double)s->area;
        const double factor = factor_of(s, k->squares_f32(s->area, x, mean));
        k->standardize_f32(s->area, x, mean, factor, s->beta, s->y + i * s->area);
    }
}

/** Pixels: `area` rows of channels, of which a block is done at once. */
static void pixels(void *arg, uint32_t begin, uint32_t end, uint32_t worker) {
    (void)worker;
    const struct instances *s = arg;
    const struct cpu_kernels *k = s->kernels;
    for (uint32_t item = begin; item < end; item++) {
        const size_t first = item % s->blocks * BLOCK, n = s->channels - first < BLOCK ? s->channels - first : BLOCK;
        const size_t at = item / s->blocks * s->area * s->channels + first;
        double mean[BLOCK] = {0}, factor[BLOCK] = {0};
        for (size_t i = 0; i < s->area; i++) k->fold_rows[CPU_SUM](n, s->x + at + i * s->channels, mean);
        for (size_t c = 0; c < n; c++) mean[c] /= (double)s->area;
        for (size_t i = 0; i < s->area; i++) k->squares_rows_f32(n, s->x + at + i * s->channels, mean, factor);
        for (size_t c = 0; c < n; c++) factor[c] = factor_of(s, factor[c]);
        for (size_t i = 0; i < s->area; i++) {
            const size_t pixel = at + i * s->channels;
            k->standardize_rows_f32(n, s->x + pixel, mean, factor, s->beta, s->y + pixel);
        }
    }
}

static bool run(struct cpu_call *c) {
    const struct cpu_tensor *x = cpu_in(c, X);
    const bool nchw = cpu_int(c, NCHW, 0);
    const uint32_t *dims = x->shape.dims;
    struct instances s = {
        .kernels = c->run->kernels,
        .x = x->data,
        .y = cpu_out(c, 0)->data,
        .gamma = (double)cpu_float(c, GAMMA, 1),
        .beta = (double)cpu_float(c, BETA, 0),
        .epsilon = (double)cpu_float(c, EPSILON, 0),
        .area = nchw ? (size_t)dims[2] * dims[3] : (size_t)dims[1] * dims[2],
        .channels = nchw ? dims[1] : dims[3],
    };
    s.blocks = (s.channels + BLOCK - 1) / BLOCK;
    const size_t items = dims[0] * (nchw ? s.channels : s.blocks);
    cpu_threads_run(c->run->threads, (uint32_t)items, 1.5 * (double)cpu_count(x), nchw ? planes : pixels, &s);
    return true;
}

const struct cpu_op_fns cpu_op_instance_normalization = {.infer = cpu_infer_same, .run = run};
