/* SPDX-License-Identifier: Apache-2.0 */
#include "dense.h"

#include <stdlib.h>
#include <string.h>

static size_t quotient(size_t a, size_t b) { return (a + b - 1) / b; }
static size_t padded(size_t n, size_t to) { return quotient(n, to) * to; }

static bool quantised(const struct cpu_layer *layer) { return cpu_is_quant8(layer->input); }

/** Bytes of quantised weights are never more than those of their 16-bit form. */
size_t cpu_dense_bytes(const struct cpu_kernels *kernels, const struct cpu_layer *layer) {
    const size_t n = padded(layer->n, kernels->panel), k = quantised(layer) ? padded(layer->k, 2) : layer->k;
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

/** Columns of the panel that begins with column first: the last one may do with half. */
static size_t panel_width(const struct cpu_kernels *kernels, size_t n, size_t first) {
    return n - first <= kernels->panel / 2 ? kernels->panel / 2 : kernels->panel;
}

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
    for (size_t first = 0; first < columns; first += panel) {
        const size_t width = panel_width(kernels, n, first);
        for (size_t i0 = 0; i0 < k; i0 += SQUARE)
            for (size_t col = first; col < first + width; col++) {
                float *to = out->weights + first * k + col - first;
                for (size_t i = i0; i < k && i < i0 + SQUARE; i++)
                    to[i * width] = col < n ? from[col * across + i * down] : 0;
            }
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

int32_t cpu_layer_weight(const struct cpu_layer *layer, size_t c, size_t i) {
    return centred(layer->weights, c * column_step(layer) + i * depth_step(layer));
}

struct cpu_layer_ranges cpu_layer_ranges(const struct cpu_layer *layer) {
    static const double largest_result = 32000;
    const size_t across = column_step(layer), down = depth_step(layer);
    const int32_t *bias = layer->bias->data, zero = layer->input->zero_point;
    struct cpu_layer_ranges r = {0, 0, true};
    for (size_t col = 0; col < layer->n; col++) {
        int64_t positive = 0, negative = 0;
        for (size_t i = 0; i < layer->k; i++) {
            const int32_t w = centred(layer->weights, col * across + i * down);
            r.least = w < r.least ? w : r.least;
            r.most = w > r.most ? w : r.most;
            positive += w > 0 ? w : 0;
            negative -= w < 0 ? w : 0;
        }
        const int64_t most = positive * (255 - zero) + negative * zero + bias[col];
        const int64_t least = -positive * zero - negative * (255 - zero) + bias[col];
        r.fits = r.fits && most <= INT32_MAX && least >= INT32_MIN &&
                 (double)most * cpu_layer_multiplier(layer, col) + layer->output->zero_point < largest_result;
    }
    return r;
}

/** Which column of a panel of `width` stands at place i. */
static size_t column_at(const struct cpu_kernels *kernels, size_t width, size_t i) {
    const size_t lanes = kernels->panel / 2;
    return width <= lanes ? i : i < lanes ? 2 * i : 2 * (i - lanes) + 1;
}

/** The weights of one column and one run, four by four, `apart` bytes apart; their sum. */
static int32_t pack_run(const struct cpu_layer *layer, size_t col, size_t first, size_t length, int32_t correction,
                        size_t apart, int8_t *to) {
    const size_t across = column_step(layer), down = depth_step(layer), odd = length % 4;
    uint32_t sum = 0;
    for (size_t i = 0; i < length; i++) {
        /* behind an odd run's first four, groups begin `odd` later; what overlaps belongs to the first */
        const size_t at = odd && i >= 4 ? i - odd : i, shift = odd && i >= 4 ? 4 : 0;
        const int32_t w = centred(layer->weights, col * across + (first + i) * down) - correction;
        to[(at / 4 + shift / 4) * apart + at % 4] = (int8_t)w;
        sum += (uint32_t)w;
    }
    return (int32_t)sum;
}

/** Bias, multiplier and scale of column col, at place `at`; sum: of its packed weights. */
static void pack_column_u8(const struct cpu_kernels *kernels, const struct cpu_layer *layer,
                           const struct cpu_dense *out, size_t col, size_t at, uint32_t sum) {
    const uint32_t bias = (uint32_t)((const int32_t *)layer->bias->data)[col] + (uint32_t)kernels->less_u8 * sum;
    sum += (uint32_t)out->k * (uint32_t)out->correction; /* what a row is filled up with counts, too */
    out->bias32[at] = (int32_t)(bias - (uint32_t)out->zero_point * sum);
    out->multiplier[at] = cpu_layer_multiplier(layer, col);
    out->scale[at] = (float)(out->multiplier[at] * 65536);
}

static void pack_u8(const struct cpu_kernels *kernels, const struct cpu_layer *layer, void *memory,
                    struct cpu_dense *out) {
    const size_t columns = padded(layer->n, kernels->panel), runs = out->run ? out->k / out->run : 0;
    const size_t length = out->k > layer->k ? layer->k : out->run, groups = (out->run + 3) / 4;
    out->multiplier = memory;
    out->bias32 = (int32_t *)(out->multiplier + columns);
    out->scale = (float *)(out->bias32 + columns);
    out->weights8 = (int8_t *)(out->scale + columns);
    memset(memory, 0, cpu_dense_bytes(kernels, layer));
    int8_t *panel = out->weights8;
    for (size_t first = 0; first < columns; first += kernels->panel) {
        const size_t width = panel_width(kernels, layer->n, first);
        for (size_t i = 0; i < width; i++) {
            const size_t col = first + column_at(kernels, width, i);
            uint32_t sum = 0;
            if (col >= layer->n) continue;
            for (size_t r = 0; r < runs; r++)
                sum += (uint32_t)pack_run(layer, col, r * out->run, length, out->correction, width * 4,
                                          panel + (r * groups * width + i) * 4);
            pack_column_u8(kernels, layer, out, col, first + i, sum);
        }
        panel += runs * groups * width * 4;
    }
}

/** Settles the form, and what rows look like in it. */
static void choose(const struct cpu_kernels *kernels, const struct cpu_layer *layer, struct cpu_dense *out) {
    const size_t k = layer->k, wished = layer->run ? layer->run : k;
    *out = (struct cpu_dense){.form = CPU_DENSE_F32, .n = layer->n, .k = k, .run = wished};
    if (!quantised(layer)) return;
    out->zero_point = layer->input->zero_point;
    const struct cpu_layer_ranges ranges = kernels->gemm_u8 ? cpu_layer_ranges(layer) : (struct cpu_layer_ranges){0};
    if (!ranges.fits) {
        out->form = CPU_DENSE_S16;
        out->k = out->run = padded(k, 2);
        return;
    }
    out->form = CPU_DENSE_U8;
    out->correction = ranges.least < INT8_MIN || ranges.most > INT8_MAX ? ranges.least - INT8_MIN : 0;
    out->k = k > 0 && k < 4 ? 4 : k;
    out->run = wished < 4 ? out->k : wished;
}

void cpu_dense_pack(const struct cpu_kernels *kernels, const struct cpu_layer *layer, void *memory,
                    struct cpu_dense *out) {
    choose(kernels, layer, out);
    if (out->form == CPU_DENSE_F32)
        pack_f32(kernels, layer, memory, out);
    else if (out->form == CPU_DENSE_S16)
        pack_s16(kernels, layer, memory, out);
    else
        pack_u8(kernels, layer, memory, out);
}

/** Bytes that any of the parts takes. */
static size_t most_bytes(const struct cpu_parts *parts) {
    size_t most = 0;
    for (uint32_t i = 0; i < parts->count; i++) {
        struct cpu_part part;
        parts->describe(parts->source, i, NULL, &part);
        const size_t bytes = cpu_dense_bytes(parts->c->kernels, &part.layer);
        most = bytes > most ? bytes : most;
    }
    return most;
}

static void pack_part(const struct cpu_parts *parts, uint32_t i, void *room, void *memory, struct cpu_dense *out) {
    struct cpu_part part;
    parts->describe(parts->source, i, room, &part);
    cpu_dense_pack(parts->c->kernels, &part.layer, memory, out);
}

bool cpu_parts_prepare(const struct cpu_parts *parts, struct cpu_arena *arena, void **state) {
    struct cpu_dense *dense = *state = cpu_arena_array(arena, parts->count, sizeof *dense);
    void *room = malloc(parts->room + 1);
    bool ok = dense && room;
    for (uint32_t i = 0; ok && i < parts->count; i++) {
        struct cpu_part part;
        parts->describe(parts->source, i, NULL, &part);
        void *memory = cpu_arena_raw(arena, cpu_dense_bytes(parts->c->kernels, &part.layer));
        ok = memory != NULL;
        if (ok) pack_part(parts, i, room, memory, &dense[i]);
    }
    free(room);
    return ok;
}

bool cpu_packed_begin(const struct cpu_parts *parts, const void *prepared, struct cpu_packed *out) {
    *out = (struct cpu_packed){.parts = parts, .prepared = prepared};
    if (prepared) return true;
    out->memory = cpu_scratch(parts->c->run, most_bytes(parts));
    out->room = cpu_scratch(parts->c->run, parts->room);
    return out->memory && out->room;
}

const struct cpu_dense *cpu_packed_get(struct cpu_packed *p, uint32_t i) {
    if (p->prepared) return &p->prepared[i];
    pack_part(p->parts, i, p->room, p->memory, &p->now);
    return &p->now;
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
    if (!cpu_shape_fits(bias, 1, CPU_UNKNOWN, 0)) return false;
    if (!cpu_is_quant8(input)) return true;
    if (weights->type == ANEURALNETWORKS_TENSOR_QUANT8_SYMM_PER_CHANNEL && weights->channel_dim != channel_dim)
        return false;
    return bias_scale_fits(input, weights, bias);
}

/* ------------------------------------------------------------------- products */

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
    const struct cpu_gemm_f32 g = {
        .m = rows->m,
        .n = cols,
        .runs = w->run ? w->k / w->run : 0,
        .length = w->run,
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
        const struct cpu_runs runs = {at, down.count, w->k, (char *)p->out + down.first * cut->out_step * out_element,
                                      cut->out_step};
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
    const size_t tiles = quotient(p->m, tile), panels = quotient(w->n, run->kernels->panel);
    const size_t most_rows = lesser(BLOCK_BYTES / (row_bytes ? row_bytes : 1), BLOCK_ROWS);
    const size_t most_tiles = most_rows < tile ? 1 : most_rows / tile,
                 items = threads == 1 ? 1 : threads * ITEMS_PER_THREAD;
    /* each group would gather its rows anew; and the next layer finds its rows where this one made them */
    const bool columns_first = p->rows && 4 * p->m * (w->n + w->k) < w->n * w->k;
    size_t groups = columns_first ? lesser(items, panels) : 1;
    const size_t least_blocks = greater(quotient(tiles, most_tiles), 1),
                 blocks = greater(lesser(tiles, quotient(items, groups)), least_blocks);
    if (blocks < threads) groups = lesser(panels, quotient(items, blocks));
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
        .gathered_bytes = padded(lesser(quotient(tiles, blocks) * tile, p->m) * row_bytes, CPU_ALIGN),
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
