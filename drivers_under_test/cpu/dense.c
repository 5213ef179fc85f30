/* SPDX-License-Identifier: Apache-2.0 */
#include "dense.h"

#include <string.h>

static size_t padded(size_t n, size_t to) { return (n + to - 1) / to * to; }

static bool quantised(const struct cpu_layer *layer) { return cpu_is_quant8(layer->input); }

static size_t depth(const struct cpu_layer *layer) { return quantised(layer) ? padded(layer->k, 2) : layer->k; }

size_t cpu_dense_bytes(const struct cpu_kernels *kernels, const struct cpu_layer *layer) {
    const size_t n = padded(layer->n, kernels->panel), k = depth(layer);
    return quantised(layer) ? n * (2 * sizeof(double) + k * sizeof(int16_t)) : n * (k + 1) * sizeof(float);
}

double cpu_layer_multiplier(const struct cpu_layer *layer, size_t c) {
    const struct cpu_tensor *w = layer->weights;
    const double weight_scale = (double)(w->scales ? w->scales[c] : w->scale);
    return (double)layer->input->scale * weight_scale / (double)layer->output->scale;
}

/** Values between the weights of neighbouring columns, and between those of one column. */
static size_t column_step(const struct cpu_layer *layer) { return layer->turned ? 1 : layer->k; }
static size_t depth_step(const struct cpu_layer *layer) { return layer->turned ? layer->n : 1; }

/** Packing goes in squares: reading along rows of the weights and writing along panels stay in the cache. */
enum { SQUARE = 16 };

static void pack_f32(const struct cpu_kernels *kernels, const struct cpu_layer *layer, void *memory,
                     struct cpu_dense *out) {
    const size_t panel = kernels->panel, n = layer->n, k = layer->k, columns = padded(n, panel);
    const size_t across = column_step(layer), down = depth_step(layer);
    const float *from = layer->weights->data;
    out->bias = memory;
    out->weights = out->bias + columns;
    memcpy(out->bias, layer->bias->data, n * sizeof(float));
    memset(out->bias + n, 0, (columns - n) * sizeof(float));
    for (size_t first = 0; first < columns; first += panel)
        for (size_t i0 = 0; i0 < k; i0 += SQUARE)
            for (size_t col = first; col < first + panel; col++) {
                float *to = out->weights + first * k + col - first;
                for (size_t i = i0; i < k && i < i0 + SQUARE; i++)
                    to[i * panel] = col < n ? from[col * across + i * down] : 0;
            }
}

/** Weight i of row-major quantised weights, centred. Per-channel weights are signed. */
static int16_t centred(const struct cpu_tensor *w, size_t i) {
    if (w->type == ANEURALNETWORKS_TENSOR_QUANT8_SYMM_PER_CHANNEL) return ((const int8_t *)w->data)[i];
    return (int16_t)(((const uint8_t *)w->data)[i] - w->zero_point);
}

static void pack_s16(const struct cpu_kernels *kernels, const struct cpu_layer *layer, void *memory,
                     struct cpu_dense *out) {
    const size_t panel = kernels->panel, n = layer->n, k = layer->k, columns = padded(n, panel);
    const size_t across = column_step(layer), down = depth_step(layer);
    const int32_t *bias = layer->bias->data;
    out->bias64 = memory;
    out->multiplier = out->bias64 + columns;
    out->weights16 = (int16_t *)(out->multiplier + columns);
    for (size_t col = 0; col < columns; col++) {
        out->bias64[col] = col < n ? bias[col] : 0;
        out->multiplier[col] = col < n ? cpu_layer_multiplier(layer, col) : 0;
    }
    for (size_t first = 0; first < columns; first += panel)
        for (size_t i0 = 0; i0 < out->k; i0 += SQUARE)
            for (size_t col = first; col < first + panel; col++) {
                int16_t *to = out->weights16 + first * out->k + (col - first) * 2;
                for (size_t i = i0; i < out->k && i < i0 + SQUARE; i++)
                    to[i / 2 * 2 * panel + i % 2] =
                        col < n && i < k ? centred(layer->weights, col * across + i * down) : 0;
            }
}

void cpu_dense_pack(const struct cpu_kernels *kernels, const struct cpu_layer *layer, void *memory,
                    struct cpu_dense *out) {
    *out = (struct cpu_dense){.quantised = quantised(layer), .n = layer->n, .k = depth(layer)};
    if (out->quantised)
        pack_s16(kernels, layer, memory, out);
    else
        pack_f32(kernels, layer, memory, out);
}

bool cpu_dense_prepare(const struct cpu_kernels *kernels, const struct cpu_layer *layer, struct cpu_arena *arena,
                       struct cpu_dense **out) {
    *out = NULL;
    if (!layer->weights->data || !layer->bias->data) return true;
    struct cpu_dense *dense = cpu_arena_alloc(arena, sizeof *dense);
    void *memory = cpu_arena_raw(arena, cpu_dense_bytes(kernels, layer));
    if (!dense || !memory) return false;
    cpu_dense_pack(kernels, layer, memory, dense);
    *out = dense;
    return true;
}

const struct cpu_dense *cpu_dense_get(struct cpu_run *run, const struct cpu_layer *layer, const void *prepared,
                                      struct cpu_dense *room) {
    if (prepared) return prepared;
    void *memory = cpu_scratch(run, cpu_dense_bytes(run->kernels, layer));
    if (!memory) return NULL;
    cpu_dense_pack(run->kernels, layer, memory, room);
    return room;
}

/** The bias is in units of input scale times weight scale, to 1e-6. */
static bool bias_scale_fits(const struct cpu_tensor *input, const struct cpu_tensor *weights,
                            const struct cpu_tensor *bias) {
    if (weights->scales) return bias->scale == 0;
    const double product = (double)input->scale * (double)weights->scale;
    return fabs(product - (double)bias->scale) <= 1e-6 * product;
}

bool cpu_layer_check(const struct cpu_tensor *input, const struct cpu_tensor *weights, const struct cpu_tensor *bias,
                     uint32_t channel_dim) {
    if (bias->known_rank && bias->shape.rank != 1) return false;
    if (!cpu_is_quant8(input)) return true;
    if (weights->type == ANEURALNETWORKS_TENSOR_QUANT8_SYMM_PER_CHANNEL && weights->channel_dim != channel_dim)
        return false;
    return bias_scale_fits(input, weights, bias);
}

/* ------------------------------------------------------------------- products */

enum { BLOCK_BYTES = 96 * 1024, BLOCK_ROWS = 256, ITEMS_PER_THREAD = 4 };

/** How a product is cut: blocks of rows times groups of panels. */
struct cut {
    struct cpu_run *run;
    const struct cpu_product *p;
    size_t block, columns; /**< rows of a block, columns of a group */
    uint32_t blocks, groups;
    size_t out_step;
    uint8_t *gathered; /**< one block per thread */
    size_t gathered_bytes;
};

static void product_f32(const struct cut *cut, size_t row, size_t rows, size_t col, size_t cols, const float *a) {
    const struct cpu_product *p = cut->p;
    const struct cpu_dense *w = p->weights;
    const struct cpu_gemm_f32 g = {
        .m = rows,
        .n = cols,
        .k = w->k,
        .a = a,
        .b = w->weights + col * w->k,
        .bias = w->bias + col,
        .c = (float *)p->out + row * cut->out_step + col,
        .lda = w->k,
        .ldc = cut->out_step,
        .lo = p->range.lo,
        .hi = p->range.hi,
    };
    cut->run->kernels->gemm_f32(&g);
}

static void product_s16(const struct cut *cut, size_t row, size_t rows, size_t col, size_t cols, const int16_t *a) {
    const struct cpu_product *p = cut->p;
    const struct cpu_dense *w = p->weights;
    const struct cpu_gemm_s16 g = {
        .m = rows,
        .n = cols,
        .k = w->k,
        .a = a,
        .b = w->weights16 + col * w->k,
        .bias = w->bias64 + col,
        .multiplier = w->multiplier + col,
        .c = (uint8_t *)p->out + row * cut->out_step + col,
        .lda = w->k,
        .ldc = cut->out_step,
        .zero_point = p->zero_point,
        .lo = p->range.qlo,
        .hi = p->range.qhi,
    };
    cut->run->kernels->gemm_s16(&g);
}

static void product_items(void *arg, uint32_t begin, uint32_t end, uint32_t worker) {
    const struct cut *cut = arg;
    const struct cpu_product *p = cut->p;
    const struct cpu_dense *w = p->weights;
    for (uint32_t item = begin; item < end; item++) {
        const size_t row = item / cut->groups * cut->block, col = item % cut->groups * cut->columns;
        const size_t rows = p->m - row < cut->block ? p->m - row : cut->block;
        const size_t cols = w->n - col < cut->columns ? w->n - col : cut->columns;
        void *gathered = cut->gathered + worker * cut->gathered_bytes;
        if (!p->rows) p->gather(p->source, row, rows, gathered);
        if (w->quantised)
            product_s16(cut, row, rows, col, cols, gathered);
        else
            product_f32(cut, row, rows, col, cols, p->rows ? p->rows + row * w->k : gathered);
    }
}

static struct cut cut_product(struct cpu_run *run, const struct cpu_product *p) {
    const struct cpu_dense *w = p->weights;
    const size_t row_bytes = w->k * (w->quantised ? sizeof(int16_t) : sizeof(float)), tile = run->kernels->rows;
    const size_t threads = cpu_threads_count(run->threads);
    size_t panels = padded(w->n, run->kernels->panel) / run->kernels->panel;
    if (panels == 0) panels = 1;
    size_t block = BLOCK_BYTES / (row_bytes ? row_bytes : 1);
    if (block > BLOCK_ROWS) block = BLOCK_ROWS;
    if (block > padded(p->m, threads) / threads) block = padded(p->m, threads) / threads;
    block = padded(block ? block : 1, tile);
    const size_t blocks = p->m ? (p->m + block - 1) / block : 1;
    size_t groups = blocks >= threads || threads == 1 ? 1 : (ITEMS_PER_THREAD * threads + blocks - 1) / blocks;
    if (groups > panels) groups = panels;
    if (groups == 0) groups = 1;
    const size_t group_panels = (panels + groups - 1) / groups;
    groups = (panels + group_panels - 1) / group_panels;
    return (struct cut){
        .run = run,
        .p = p,
        .block = block,
        .columns = group_panels * run->kernels->panel,
        .blocks = (uint32_t)blocks,
        .groups = (uint32_t)groups,
        .out_step = p->out_step ? p->out_step : w->n,
        .gathered_bytes = padded((block < p->m ? block : p->m) * row_bytes, CPU_ALIGN),
    };
}

bool cpu_product_run(struct cpu_run *run, const struct cpu_product *p) {
    if (p->m == 0 || p->weights->n == 0) return true;
    struct cut cut = cut_product(run, p);
    if (!p->rows) {
        cut.gathered = cpu_scratch(run, cut.gathered_bytes * cpu_threads_count(run->threads));
        if (!cut.gathered) return false;
    }
    const double work_ns = (double)p->m * (double)p->weights->n * (double)p->weights->k / 20.0;
    cpu_threads_run(run->threads, cut.blocks * cut.groups, work_ns, product_items, &cut);
    cpu_blocks_put(&run->scratch, cut.gathered);
    return true;
}
