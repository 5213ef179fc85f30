/* SPDX-License-Identifier: Apache-2.0 */
/** @file dense_pack.c Weights, packed into panels. */
#include "dense.h"

#include <stdlib.h>
#include <string.h>

static bool quantised(const struct cpu_layer *layer) { return cpu_is_quant8(layer->input); }

/** Bytes of quantised weights are never more than those of their 16-bit form. */
size_t cpu_dense_bytes(const struct cpu_kernels *kernels, const struct cpu_layer *layer) {
    const size_t n = cpu_padded(layer->n, kernels->panel), k = quantised(layer) ? cpu_padded(layer->k, 2) : layer->k;
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

/** Bytes of a U8 panel for each of its columns: runs in whole fours. */
static size_t column_bytes(const struct cpu_dense *d) { return d->run ? d->k / d->run * cpu_padded(d->run, 4) : 0; }

/** Bytes of weights whose form is settled. */
static size_t packed_bytes(const struct cpu_kernels *kernels, const struct cpu_dense *d) {
    const size_t columns = cpu_padded(d->n, kernels->panel);
    if (d->form == CPU_DENSE_F32) return (columns + cpu_padded(d->n, kernels->panel / 2) * d->k) * sizeof(float);
    return columns * (2 * sizeof(double) + (d->form == CPU_DENSE_S16 ? d->k * sizeof(int16_t) : column_bytes(d)));
}

/** Where their parts lie in memory. */
static void lay_out(const struct cpu_kernels *kernels, void *memory, struct cpu_dense *out) {
    const size_t columns = cpu_padded(out->n, kernels->panel);
    if (out->form == CPU_DENSE_F32) {
        out->bias = memory;
        out->weights = out->bias + columns;
    } else if (out->form == CPU_DENSE_S16) {
        out->bias64 = memory;
        out->multiplier = out->bias64 + columns;
        out->weights16 = (int16_t *)(out->multiplier + columns);
    } else {
        out->multiplier = memory;
        out->bias32 = (int32_t *)(out->multiplier + columns);
        out->scale = (float *)(out->bias32 + columns);
        out->weights8 = (int8_t *)(out->scale + columns);
    }
}

/** Packing goes in squares: reading along rows of the weights and writing along panels stay in the cache. */
enum { SQUARE = 16 };

typedef float four __attribute__((vector_size(16)));

/** Four columns and four of their values, turned: from lies `across` values apart, to `width`. */
static void turn_four(const float *from, size_t across, float *to, size_t width) {
    four r[4];
    for (size_t i = 0; i < 4; i++) memcpy(&r[i], from + i * across, sizeof *r);
    const four a = __builtin_shufflevector(r[0], r[1], 0, 4, 1, 5), b = __builtin_shufflevector(r[0], r[1], 2, 6, 3, 7);
    const four c = __builtin_shufflevector(r[2], r[3], 0, 4, 1, 5), d = __builtin_shufflevector(r[2], r[3], 2, 6, 3, 7);
    r[0] = __builtin_shufflevector(a, c, 0, 1, 4, 5);
    r[1] = __builtin_shufflevector(a, c, 2, 3, 6, 7);
    r[2] = __builtin_shufflevector(b, d, 0, 1, 4, 5);
    r[3] = __builtin_shufflevector(b, d, 2, 3, 6, 7);
    for (size_t i = 0; i < 4; i++) memcpy(to + i * width, &r[i], sizeof *r);
}

/** A layer whose panels are packed apart from each other. */
struct packing {
    const struct cpu_kernels *kernels;
    const struct cpu_layer *layer;
    struct cpu_dense *out;
    void (*pack_panel)(const struct packing *p, size_t first);
};

static void pack_panels(void *arg, uint32_t begin, uint32_t end, uint32_t worker) {
    (void)worker;
    const struct packing *p = arg;
    for (uint32_t i = begin; i < end; i++) p->pack_panel(p, (size_t)i * p->kernels->panel);
}

/** The panel that begins with column first. */
static void pack_f32(const struct packing *p, size_t first) {
    const struct cpu_layer *layer = p->layer;
    const size_t n = layer->n, k = layer->k, width = panel_width(p->kernels, n, first);
    const size_t across = column_step(layer), down = depth_step(layer);
    const float *from = layer->weights->data;
    float *const panel_at = p->out->weights + first * k;
    /* all columns are there, as whole fours, and their values lie side by side */
    const size_t fours = down == 1 && first + width <= n && width % 4 == 0 ? k / 4 * 4 : 0;
    for (size_t i = 0; i < fours; i += 4)
        for (size_t col = 0; col < width; col += 4)
            turn_four(from + (first + col) * across + i, across, panel_at + i * width + col, width);
    for (size_t i0 = fours; i0 < k; i0 += SQUARE)
        for (size_t col = first; col < first + width; col++) {
            float *to = panel_at + col - first;
            for (size_t i = i0; i < k && i < i0 + SQUARE; i++)
                to[i * width] = col < n ? from[col * across + i * down] : 0;
        }
}

/** Weight i of row-major quantised weights, centred. Per-channel weights are signed. */
static int16_t centred(const struct cpu_tensor *w, size_t i) {
    if (w->type == ANEURALNETWORKS_TENSOR_QUANT8_SYMM_PER_CHANNEL) return ((const int8_t *)w->data)[i];
    return (int16_t)(((const uint8_t *)w->data)[i] - w->zero_point);
}

/** Stored bytes of quantised weights: centred they are (byte ^ flip) - zero. */
struct stored {
    uint8_t flip, zero;
};

static struct stored stored_of(const struct cpu_tensor *w) {
    if (w->type == ANEURALNETWORKS_TENSOR_QUANT8_SYMM_PER_CHANNEL) return (struct stored){0x80, 128};
    return (struct stored){0, (uint8_t)w->zero_point};
}

static void pack_s16(const struct packing *p, size_t first) {
    const struct cpu_layer *layer = p->layer;
    const struct cpu_dense *out = p->out;
    const size_t panel = p->kernels->panel, n = layer->n, k = layer->k;
    const size_t across = column_step(layer), down = depth_step(layer);
    const int32_t *bias = layer->bias->data;
    const uint8_t *from = layer->weights->data;
    const struct stored s = stored_of(layer->weights);
    for (size_t col = first; col < first + panel; col++) {
        out->bias64[col] = col < n ? bias[col] : 0;
        out->multiplier[col] = col < n ? cpu_layer_multiplier(layer, col) : 0;
    }
    for (size_t i0 = 0; i0 < out->k; i0 += SQUARE)
        for (size_t col = first; col < first + panel; col++) {
            int16_t *to = out->weights16 + first * out->k + i0 * panel + (col - first) * 2;
            const uint8_t *at = from + col * across + i0 * down;
            for (size_t i = i0; i < out->k && i < i0 + SQUARE; i += 2, to += 2 * panel, at += 2 * down) {
                const bool one = col < n && i < k, two = col < n && i + 1 < k;
                const int16_t pair[] = {(int16_t)((one ? at[0] ^ s.flip : s.zero) - s.zero),
                                        (int16_t)((two ? at[down] ^ s.flip : s.zero) - s.zero)};
                memcpy(to, pair, sizeof pair);
            }
        }
}

int32_t cpu_layer_weight(const struct cpu_layer *layer, size_t c, size_t i) {
    return centred(layer->weights, c * column_step(layer) + i * depth_step(layer));
}

/** Of the centred weights of a column. */
struct column {
    int32_t least, most;
    int64_t positive, negative; /**< sums of those above and of those below 0; the latter without its sign */
};

/** Of k bytes side by side. */
static struct column sum_row(struct stored s, const uint8_t *from, size_t k) {
    enum { BLOCK = 1 << 20 }; /* as many bytes as fit a sum of 32 bits */
    uint8_t least = 255, most = 0;
    uint64_t all = 0, above = 0;
    for (size_t first = 0; first < k; first += BLOCK) {
        const size_t n = k - first < BLOCK ? k - first : BLOCK;
        uint32_t sum = 0, sum_above = 0;
        for (size_t i = 0; i < n; i++) {
            const uint8_t v = from[first + i] ^ s.flip, larger = v > s.zero ? v : s.zero;
            least = v < least ? v : least;
            most = v > most ? v : most;
            sum += v;
            sum_above += larger;
        }
        all += sum;
        above += sum_above;
    }
    const int64_t zeros = (int64_t)s.zero * (int64_t)k, positive = (int64_t)above - zeros;
    return (struct column){least - s.zero, most - s.zero, positive, positive - ((int64_t)all - zeros)};
}

static struct column sum_column(const struct cpu_layer *layer, size_t col) {
    const size_t across = column_step(layer), down = depth_step(layer);
    struct column c = {0, 0, 0, 0};
    if (down == 1 && layer->k > 0)
        return sum_row(stored_of(layer->weights), (const uint8_t *)layer->weights->data + col * across, layer->k);
    for (size_t i = 0; i < layer->k; i++) {
        const int32_t w = centred(layer->weights, col * across + i * down);
        c.least = w < c.least ? w : c.least;
        c.most = w > c.most ? w : c.most;
        c.positive += w > 0 ? w : 0;
        c.negative -= w < 0 ? w : 0;
    }
    return c;
}

struct cpu_layer_ranges cpu_layer_ranges(const struct cpu_layer *layer) {
    static const double largest_result = 32000;
    const int32_t *bias = layer->bias->data, zero = layer->input->zero_point;
    struct cpu_layer_ranges r = {0, 0, true};
    for (size_t col = 0; col < layer->n; col++) {
        const struct column c = sum_column(layer, col);
        r.least = c.least < r.least ? c.least : r.least;
        r.most = c.most > r.most ? c.most : r.most;
        const int64_t most = c.positive * (255 - zero) + c.negative * zero + bias[col];
        const int64_t least = -c.positive * zero - c.negative * (255 - zero) + bias[col];
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

/** The same for a run of whole fours side by side: bytes of words are taken from all at once. */
static int32_t pack_fours(const struct cpu_layer *layer, size_t col, size_t first, size_t length, int32_t correction,
                          size_t apart, int8_t *to) {
    const struct stored s = stored_of(layer->weights);
    const uint8_t *from = (const uint8_t *)layer->weights->data + col * layer->k + first;
    const uint32_t high = 0x80808080, flip = s.flip * 0x01010101u;
    const uint32_t less = (uint8_t)(s.zero + correction) * 0x01010101u;
    for (size_t i = 0; i < length; i += 4, to += apart) {
        uint32_t word;
        memcpy(&word, from + i, sizeof word);
        word ^= flip;
        word = ((word | high) - (less & ~high)) ^ ((word ^ ~less) & high);
        memcpy(to, &word, sizeof word);
    }
    const struct column c = sum_row(s, from, length);
    return (int32_t)((uint32_t)(c.positive - c.negative) - (uint32_t)correction * (uint32_t)length);
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

/** Into memory that is zeroed. */
static void pack_u8(const struct packing *p, size_t first) {
    const struct cpu_layer *layer = p->layer;
    const struct cpu_dense *out = p->out;
    const size_t runs = out->run ? out->k / out->run : 0, groups = (out->run + 3) / 4;
    const size_t length = out->k > layer->k ? layer->k : out->run, width = panel_width(p->kernels, layer->n, first);
    int32_t (*pack_any)(const struct cpu_layer *, size_t, size_t, size_t, int32_t, size_t, int8_t *) =
        length % 4 == 0 && depth_step(layer) == 1 ? pack_fours : pack_run;
    int8_t *panel = out->weights8 + runs * groups * first * 4; /* all before this one are whole */
    for (size_t i = 0; i < width; i++) {
        const size_t col = first + column_at(p->kernels, width, i);
        uint32_t sum = 0;
        if (col >= layer->n) continue;
        for (size_t r = 0; r < runs; r++)
            sum += (uint32_t)pack_any(layer, col, r * out->run, length, out->correction, width * 4,
                                      panel + (r * groups * width + i) * 4);
        pack_column_u8(p->kernels, layer, out, col, first + i, sum);
    }
}

/** The dense layer in a form, and what rows look like in it. */
static struct cpu_dense in_form(const struct cpu_layer *layer, enum cpu_dense_form form, int32_t correction) {
    const size_t k = layer->k, wished = layer->run ? layer->run : k;
    struct cpu_dense d = {.form = form, .n = layer->n, .k = k, .run = wished, .correction = correction};
    if (form == CPU_DENSE_F32) return d;
    d.zero_point = layer->input->zero_point;
    if (form == CPU_DENSE_S16) {
        d.k = d.run = cpu_padded(k, 2);
    } else {
        d.k = k > 0 && k < 4 ? 4 : k;
        d.run = wished < 4 ? d.k : wished;
    }
    return d;
}

/** Settles the form. */
static struct cpu_dense choose(const struct cpu_kernels *kernels, const struct cpu_layer *layer) {
    if (!quantised(layer)) return in_form(layer, CPU_DENSE_F32, 0);
    const struct cpu_layer_ranges ranges = kernels->gemm_u8 ? cpu_layer_ranges(layer) : (struct cpu_layer_ranges){0};
    if (!ranges.fits) return in_form(layer, CPU_DENSE_S16, 0);
    const bool wide = ranges.least < INT8_MIN || ranges.most > INT8_MAX;
    return in_form(layer, CPU_DENSE_U8, wide ? ranges.least - INT8_MIN : 0);
}

/** On the threads; NULL: on this one. */
static void pack(const struct cpu_kernels *kernels, const struct cpu_layer *layer, struct cpu_threads *threads,
                 void *memory, struct cpu_dense *out) {
    static const double byte_ns = 0.2;
    const size_t columns = cpu_padded(layer->n, kernels->panel), bytes = packed_bytes(kernels, out);
    const uint32_t panels = (uint32_t)(columns / kernels->panel);
    struct packing p = {kernels, layer, out, pack_f32};
    lay_out(kernels, memory, out);
    if (out->form == CPU_DENSE_F32) {
        memcpy(out->bias, layer->bias->data, layer->n * sizeof(float));
        memset(out->bias + layer->n, 0, (columns - layer->n) * sizeof(float));
    } else if (out->form == CPU_DENSE_S16) {
        p.pack_panel = pack_s16;
    } else {
        memset(memory, 0, bytes);
        p.pack_panel = pack_u8;
    }
    if (threads)
        cpu_threads_run(threads, panels, (double)bytes * byte_ns, pack_panels, &p);
    else
        pack_panels(&p, 0, panels, 0);
}

void cpu_dense_pack(const struct cpu_kernels *kernels, const struct cpu_layer *layer, void *memory,
                    struct cpu_dense *out) {
    *out = choose(kernels, layer);
    pack(kernels, layer, NULL, memory, out);
}

/* ------------------------------------------------------------------------ parts */

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

/** Packs part i, and notes in which form. */
static bool make_part(const struct cpu_parts *parts, uint32_t i, void *room, struct cpu_dense *out) {
    const struct cpu_kernels *kernels = parts->c->kernels;
    struct cpu_part part;
    parts->describe(parts->source, i, room, &part);
    *out = choose(kernels, &part.layer);
    struct cpu_pack *made = cpu_packs_new(parts->c->packs, packed_bytes(kernels, out));
    if (!made) return false;
    made->form = out->form;
    made->correction = out->correction;
    pack(kernels, &part.layer, parts->c->packs->threads, cpu_pack_weights(made), out);
    return true;
}

/** A form that these kernels may have chosen for the layer. */
static bool may_be_form(const struct cpu_kernels *kernels, const struct cpu_layer *layer, const struct cpu_pack *p) {
    if (!quantised(layer)) return p->form == CPU_DENSE_F32 && p->correction == 0;
    if (p->form == CPU_DENSE_S16) return p->correction == 0;
    return p->form == CPU_DENSE_U8 && kernels->gemm_u8 && p->correction > INT8_MIN && p->correction <= -INT8_MIN;
}

/** Finds part i in the cache. The weights of the layer are not there to be read. */
static bool find_part(const struct cpu_parts *parts, uint32_t i, struct cpu_dense *out) {
    const struct cpu_kernels *kernels = parts->c->kernels;
    struct cpu_packs *packs = parts->c->packs;
    struct cpu_part part;
    parts->describe(parts->source, i, NULL, &part);
    struct cpu_pack *found = cpu_packs_next(packs);
    if (!found) return false;
    packs->unfit = !may_be_form(kernels, &part.layer, found);
    if (packs->unfit) return false;
    *out = in_form(&part.layer, (enum cpu_dense_form)found->form, found->correction);
    packs->unfit = packed_bytes(kernels, out) != found->bytes;
    if (packs->unfit) return false;
    lay_out(kernels, cpu_pack_weights(found), out);
    return true;
}

bool cpu_parts_prepare(const struct cpu_parts *parts, struct cpu_arena *arena, void **state) {
    struct cpu_dense *dense = *state = cpu_arena_array(arena, parts->count, sizeof *dense);
    const bool cached = parts->c->packs->at != NULL;
    void *room = cached ? NULL : malloc(parts->room + 1);
    bool ok = dense && (cached || room);
    for (uint32_t i = 0; ok && i < parts->count; i++)
        ok = cached ? find_part(parts, i, &dense[i]) : make_part(parts, i, room, &dense[i]);
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
