/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file conv_direct.c Convolutions whose products read the input itself: under the filter lie runs of neighbouring
 * values, and from one output pixel of a row to the next all of them move by the same distance. Lines of the filter
 * above or below the image are left out, or of bytes read a line of zeros; pixels whose filter reaches out at the left
 * or right are gathered.
 */
#include "conv.h"

enum { MOST_ROWS = 8, LEAST_WIDTH = 4, NEAR_BYTES = 512 * 1024 };

size_t cpu_conv_run_length(const struct cpu_window *w, size_t depth, bool whole) {
    return w->dilation_w == 1 && whole ? w->filter_w * depth : depth;
}

/** Output columns [first, end) of which all taps lie inside the image. */
struct inner {
    uint32_t first, end;
};

static struct inner inner_of(const struct cpu_conv *v) {
    struct inner in = {0, 0};
    while (in.first < v->out.w && v->cols[in.first].count < v->window.filter_w) in.first++;
    in.end = in.first;
    while (in.end < v->out.w && v->cols[in.end].count == v->window.filter_w) in.end++;
    return in;
}

bool cpu_conv_is_direct(const struct cpu_conv *v) {
    const struct cpu_dense *w = v->weights;
    if (w->form == CPU_DENSE_S16 || w->run == 0 || (size_t)v->window.filter_h * v->window.filter_w == 0) return false;
    if (w->run != cpu_conv_run_length(&v->window, v->depth, v->depth == v->in.c)) return false;
    const struct inner in = inner_of(v);
    return in.end - in.first >= LEAST_WIDTH;
}

struct direct {
    const struct cpu_conv *v;
    const struct cpu_product *p;
    const struct cpu_kernels *kernels;
    struct inner inner;
    size_t element, runs, parts; /**< parts: nearly equal numbers of rows, as many parts for each thread */
    const void **at;             /**< per thread */
    char *gathered;              /**< per thread: a pixel of each row at once */
    size_t gathered_bytes;
    size_t group;      /**< columns of the weights at once: whole panels */
    const char *zeros; /**< a line of the image */
};

static char *out_at(const struct direct *d, size_t row, size_t col) {
    return (char *)d->p->out + (row * d->v->out.w + col) * d->p->out_step * d->element;
}

/** All of a row's values. */
static struct cpu_taken all_of(const struct direct *d) {
    const struct cpu_dense *w = d->p->weights;
    return (struct cpu_taken){d->runs, w->run, 0, 0};
}

/** The pixels of one column in rows [first, first + count), all images' rows counted: columns of the filter that lie
 * outside the image are left out. */
static void edge(const struct direct *d, size_t first, size_t count, size_t col, const void **at, char *gathered) {
    const struct cpu_dense *w = d->p->weights;
    const struct cpu_conv *v = d->v;
    struct cpu_taken taken = all_of(d);
    if (w->form == CPU_DENSE_F32 && w->run == v->window.filter_w * v->depth) {
        taken.skip = v->cols[col].first * v->depth;
        taken.length = v->cols[col].count * v->depth;
        taken.gap = w->run - taken.length;
    }
    for (size_t i = 0; i < count; i++)
        cpu_conv_gather(v, (first + i) * v->out.w + col, gathered + i * w->k * d->element);
    for (size_t r = 0; r < d->runs; r++) at[r] = gathered + (r * w->run + taken.skip) * d->element;
    const struct cpu_runs runs = {at, count, w->k, out_at(d, first, col), d->p->out_step * v->out.w, &taken};
    cpu_dense_multiply(d->kernels, d->p, &runs, 0, w->n);
}

/** The inner pixels of one row, columns [col, col + cols) of the weights: lines of the filter that lie outside the
 * image are left out, where weights are floats. */
static void middle(const struct direct *d, size_t row, size_t col, size_t cols, const void **at) {
    const struct cpu_conv *v = d->v;
    const struct cpu_window *w = &v->window;
    const bool is_float = d->p->weights->form == CPU_DENSE_F32;
    const size_t image = row / v->out.h, per_line = d->runs / w->filter_h;
    const int64_t top = (int64_t)(row % v->out.h) * w->stride_h - w->top;
    const int64_t x = (int64_t)d->inner.first * w->stride_w - w->left;
    struct cpu_taken taken = all_of(d);
    taken.runs = 0;
    for (uint32_t p = 0; p < w->filter_h; p++) {
        const int64_t y = top + (int64_t)p * w->dilation_h;
        const bool inside = y >= 0 && y < v->in.h;
        const char *line = d->zeros;
        if (inside)
            line = (const char *)v->x +
                   (((image * v->in.h + (size_t)y) * v->in.w + (size_t)x) * v->in.c + v->channel_at) * d->element;
        if (!inside && is_float) {
            if (taken.runs == 0) taken.skip += per_line * taken.length;
            continue;
        }
        for (size_t q = 0; q < per_line; q++)
            at[taken.runs++] = line + q * (size_t)w->dilation_w * v->in.c * d->element;
    }
    const struct cpu_runs runs = {at,
                                  d->inner.end - d->inner.first,
                                  (size_t)w->stride_w * v->in.c,
                                  out_at(d, row, d->inner.first),
                                  d->p->out_step,
                                  &taken};
    cpu_dense_multiply(d->kernels, d->p, &runs, col, cols);
}

/** Rows are taken one after the other for as many columns of the weights as stay in the cache. */
static void items(void *arg, uint32_t begin, uint32_t end, uint32_t worker) {
    const struct direct *d = arg;
    const size_t rows = (size_t)d->v->out.n * d->v->out.h, n = d->p->weights->n;
    const void **at = d->at + worker * d->runs;
    char *gathered = d->gathered + worker * d->gathered_bytes;
    for (size_t item = begin; item < end; item++) {
        const size_t first = rows * item / d->parts, count = rows * (item + 1) / d->parts - first;
        for (uint32_t col = 0; col < d->v->out.w; col++)
            if (col < d->inner.first || col >= d->inner.end) edge(d, first, count, col, at, gathered);
        for (size_t col = 0; col < n; col += d->group)
            for (size_t i = 0; i < count; i++) middle(d, first + i, col, n - col < d->group ? n - col : d->group, at);
    }
}

bool cpu_conv_run_direct(struct cpu_run *run, const struct cpu_conv *v, const struct cpu_product *product) {
    const struct cpu_dense *w = product->weights;
    const size_t threads = cpu_threads_count(run->threads), element = cpu_dense_element(w);
    const size_t line = (size_t)v->in.w * v->in.c, rows = (size_t)v->out.n * v->out.h;
    struct direct d = {.v = v,
                       .p = product,
                       .kernels = run->kernels,
                       .inner = inner_of(v),
                       .element = element,
                       .runs = w->k / w->run,
                       .parts = (rows + MOST_ROWS * threads - 1) / (MOST_ROWS * threads) * threads,
                       .gathered_bytes = MOST_ROWS * w->k * element};
    if (d.parts > rows) d.parts = rows;
    const size_t panel_bytes = run->kernels->panel * w->k * element;
    d.group = (panel_bytes < NEAR_BYTES ? NEAR_BYTES / panel_bytes : 1) * run->kernels->panel;
    d.at = cpu_scratch(run, threads * d.runs * sizeof *d.at);
    d.gathered = cpu_scratch(run, threads * d.gathered_bytes);
    char *zeros = cpu_scratch(run, line * element);
    if (!d.at || !d.gathered || !zeros) return false;
    cpu_dense_zero(w, line, zeros);
    d.zeros = zeros;
    cpu_threads_run(run->threads, (uint32_t)d.parts, cpu_product_ns(product), items, &d);
    cpu_blocks_put(&run->scratch, d.at);
    cpu_blocks_put(&run->scratch, d.gathered);
    cpu_blocks_put(&run->scratch, zeros);
    return true;
}
