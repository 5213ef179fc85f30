/* SPDX-License-Identifier: Apache-2.0 */
/** @file dense.c Products of rows with packed weights. */
#include "dense.h"

#include <string.h>

enum { BLOCK_BYTES = 512 * 1024, BLOCK_ROWS = 256, ITEMS_PER_THREAD = 4 };

/** How a product is cut: nearly equal blocks of tiles times groups of panels. */
struct cut {
    struct cpu_run *run;
    const struct cpu_product *p;
    size_t tile;                          /**< rows of one */
    size_t tiles, blocks, panels, groups; /**< how many */
    size_t out_step;
    size_t runs;
    const void **at;   /**< where each run begins, per thread */
    uint8_t *gathered; /**< one block per thread */
    size_t gathered_bytes;
};

size_t cpu_dense_element(const struct cpu_dense *weights) {
    static const size_t bytes[] = {sizeof(float), sizeof(int16_t), 1};
    return bytes[weights->form];
}

double cpu_product_ns(const struct cpu_product *product) {
    static const double multiplications_per_ns[] = {60, 30, 240}; /* of AVX-512 */
    const struct cpu_dense *w = product->weights;
    return (double)product->m * (double)w->n * (double)w->k / multiplications_per_ns[w->form];
}

void cpu_dense_copy(const struct cpu_kernels *kernels, const struct cpu_dense *weights, size_t count, const void *from,
                    void *to) {
    if (weights->form == CPU_DENSE_S16)
        kernels->center_u8(count, from, weights->zero_point, to);
    else
        memcpy(to, from, count * cpu_dense_element(weights));
}

void cpu_dense_zero(const struct cpu_dense *weights, size_t count, void *to) {
    memset(to, weights->form == CPU_DENSE_U8 ? weights->zero_point : 0, count * cpu_dense_element(weights));
}

static void multiply_f32(const struct cpu_kernels *kernels, const struct cpu_product *p, const struct cpu_runs *rows,
                         size_t col, size_t cols) {
    const struct cpu_dense *w = p->weights;
    const struct cpu_taken all = {w->run ? w->k / w->run : 0, w->run, 0, 0}, *t = rows->taken ? rows->taken : &all;
    const struct cpu_gemm_f32 g = {
        .m = rows->m,
        .n = cols,
        .runs = t->runs,
        .length = t->length,
        .depth = w->k,
        .skip = t->skip,
        .gap = t->gap,
        .a = (const float *const *)rows->at,
        .b = w->weights + col * w->k,
        .bias = w->bias + col,
        .c = (float *)rows->out + col,
        .lda = rows->step,
        .ldc = rows->out_step,
        .lo = p->range.lo,
        .hi = p->range.hi,
    };
    kernels->gemm_f32(&g);
}

static void multiply_s16(const struct cpu_kernels *kernels, const struct cpu_product *p, const struct cpu_runs *rows,
                         size_t col, size_t cols) {
    const struct cpu_dense *w = p->weights;
    const struct cpu_gemm_s16 g = {
        .m = rows->m,
        .n = cols,
        .k = w->k,
        .a = rows->at[0],
        .b = w->weights16 + col * w->k,
        .bias = w->bias64 + col,
        .multiplier = w->multiplier + col,
        .c = (uint8_t *)rows->out + col,
        .lda = rows->step,
        .ldc = rows->out_step,
        .zero_point = p->zero_point,
        .lo = p->range.qlo,
        .hi = p->range.qhi,
    };
    kernels->gemm_s16(&g);
}

static void multiply_u8(const struct cpu_kernels *kernels, const struct cpu_product *p, const struct cpu_runs *rows,
                        size_t col, size_t cols) {
    const struct cpu_dense *w = p->weights;
    const size_t runs = w->run ? w->k / w->run : 0, groups = (w->run + 3) / 4;
    const struct cpu_gemm_u8 g = {
        .m = rows->m,
        .n = cols,
        .runs = runs,
        .length = w->run,
        .a = (const uint8_t *const *)rows->at,
        .b = w->weights8 + col * runs * groups * 4,
        .bias = w->bias32 + col,
        .scale = w->scale + col,
        .multiplier = w->multiplier + col,
        .c = (uint8_t *)rows->out + col,
        .lda = rows->step,
        .ldc = rows->out_step,
        .correction = w->correction,
        .zero_point = p->zero_point,
        .lo = p->range.qlo,
        .hi = p->range.qhi,
    };
    kernels->gemm_u8(&g);
}

void cpu_dense_multiply(const struct cpu_kernels *kernels, const struct cpu_product *product,
                        const struct cpu_runs *rows, size_t col, size_t cols) {
    if (product->weights->form == CPU_DENSE_F32)
        multiply_f32(kernels, product, rows, col, cols);
    else if (product->weights->form == CPU_DENSE_S16)
        multiply_s16(kernels, product, rows, col, cols);
    else
        multiply_u8(kernels, product, rows, col, cols);
}

/** Some of `all` rows or columns. */
struct stretch {
    size_t first, count;
};

/** Part i of `parts`, in whole units: tiles or panels. */
static struct stretch part(size_t all, size_t unit, size_t units, size_t i, size_t parts) {
    const size_t first = units * i / parts * unit, end = units * (i + 1) / parts * unit;
    return (struct stretch){first, (end < all ? end : all) - first};
}

static void product_items(void *arg, uint32_t begin, uint32_t end, uint32_t worker) {
    const struct cut *cut = arg;
    const struct cpu_product *p = cut->p;
    const struct cpu_dense *w = p->weights;
    const size_t element = cpu_dense_element(w), out_element = w->form == CPU_DENSE_F32 ? sizeof(float) : 1;
    const void **at = cut->at + worker * cut->runs;
    for (uint32_t item = begin; item < end; item++) {
        const struct stretch down = part(p->m, cut->tile, cut->tiles, item / cut->groups, cut->blocks);
        const struct stretch across =
            part(w->n, cut->run->kernels->panel, cut->panels, item % cut->groups, cut->groups);
        uint8_t *gathered = p->rows ? NULL : cut->gathered + worker * cut->gathered_bytes;
        const uint8_t *from = p->rows ? (const uint8_t *)p->rows + down.first * w->k * element : gathered;
        if (gathered) p->gather(p->source, down.first, down.count, gathered);
        for (size_t r = 0; r < cut->runs; r++) at[r] = from + r * w->run * element;
        const struct cpu_runs runs = {
            at, down.count, w->k, (char *)p->out + down.first * cut->out_step * out_element, cut->out_step, NULL};
        cpu_dense_multiply(cut->run->kernels, p, &runs, across.first, across.count);
    }
}

static size_t lesser(size_t a, size_t b) { return a < b ? a : b; }
static size_t greater(size_t a, size_t b) { return a > b ? a : b; }

/** Threads share what there are more of, rows or columns; the others too, where those do not make items enough. */
static struct cut cut_product(struct cpu_run *run, const struct cpu_product *p) {
    const struct cpu_dense *w = p->weights;
    const size_t row_bytes = w->k * cpu_dense_element(w), threads = cpu_threads_count(run->threads);
    const size_t tile = w->form == CPU_DENSE_U8 ? run->kernels->rows_u8 : run->kernels->rows;
    const size_t tiles = cpu_quotient(p->m, tile), panels = cpu_quotient(w->n, run->kernels->panel);
    const size_t most_rows = lesser(BLOCK_BYTES / (row_bytes ? row_bytes : 1), BLOCK_ROWS);
    const size_t most_tiles = most_rows < tile ? 1 : most_rows / tile,
                 items = threads == 1 ? 1 : threads * ITEMS_PER_THREAD;
    /* each group would gather its rows anew; and the next layer finds its rows where this one made them */
    const bool columns_first = p->rows && 4 * p->m * (w->n + w->k) < w->n * w->k;
    size_t groups = columns_first ? lesser(items, panels) : 1;
    const size_t least_blocks = greater(cpu_quotient(tiles, most_tiles), 1),
                 blocks = greater(lesser(tiles, cpu_quotient(items, groups)), least_blocks);
    if (blocks < threads) groups = lesser(panels, cpu_quotient(items, blocks));
    return (struct cut){
        .run = run,
        .p = p,
        .tile = tile,
        .tiles = tiles,
        .blocks = blocks,
        .panels = panels,
        .groups = groups,
        .out_step = p->out_step ? p->out_step : w->n,
        .runs = w->run ? w->k / w->run : 1,
        .gathered_bytes = cpu_padded(lesser(cpu_quotient(tiles, blocks) * tile, p->m) * row_bytes, CPU_ALIGN),
    };
}

bool cpu_product_run(struct cpu_run *run, const struct cpu_product *p) {
    if (p->m == 0 || p->weights->n == 0) return true;
    struct cut cut = cut_product(run, p);
    cut.at = cpu_scratch(run, cut.runs * cpu_threads_count(run->threads) * sizeof *cut.at);
    if (!cut.at) return false;
    if (!p->rows) {
        cut.gathered = cpu_scratch(run, cut.gathered_bytes * cpu_threads_count(run->threads));
        if (!cut.gathered) return false;
    }
    cpu_threads_run(run->threads, (uint32_t)(cut.blocks * cut.groups), cpu_product_ns(p), product_items, &cut);
    cpu_blocks_put(&run->scratch, cut.gathered);
    cpu_blocks_put(&run->scratch, cut.at);
    return true;
}
