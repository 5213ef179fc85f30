/* SPDX-License-Identifier: Apache-2.0 */
/** @file lookup.c EMBEDDING_LOOKUP, HASHTABLE_LOOKUP, LSH_PROJECTION. */
#include <string.h>

#include "driver/op.h"

/** count rows of the values' shape. */
static struct cpu_shape rows_shape(uint32_t count, const struct cpu_shape *values) {
    struct cpu_shape s = *values;
    s.dims[0] = count;
    return s;
}

/* ----------------------------------------------------------- EMBEDDING_LOOKUP */

enum { INDICES, TABLE };

static bool check_embedding(const struct cpu_call *c) {
    const struct cpu_tensor *table = cpu_in(c, TABLE);
    return cpu_shape_fits(cpu_in(c, INDICES), 1, CPU_UNKNOWN, 0) && (!table->known_rank || table->shape.rank >= 2);
}

static bool infer_embedding(struct cpu_call *c) {
    c->out_shapes[0] = rows_shape(cpu_in(c, INDICES)->shape.dims[0], &cpu_in(c, TABLE)->shape);
    return true;
}

static bool run_embedding(struct cpu_call *c) {
    const struct cpu_tensor *indices = cpu_in(c, INDICES), *table = cpu_in(c, TABLE);
    const size_t row = cpu_extent(&table->shape, 1, table->shape.rank) * cpu_element(table->type);
    const int32_t *index = indices->data;
    for (size_t i = 0; i < indices->shape.dims[0]; i++) {
        if (index[i] < 0 || (uint32_t)index[i] >= table->shape.dims[0]) return false;
        memcpy((char *)cpu_out(c, 0)->data + i * row, (const char *)table->data + (size_t)index[i] * row, row);
    }
    return true;
}

const struct cpu_op_fns cpu_op_embedding_lookup = {
    .check = check_embedding, .infer = infer_embedding, .run = run_embedding};

/* ----------------------------------------------------------- HASHTABLE_LOOKUP */

enum { LOOKUPS, KEYS, VALUES };

static bool check_hashtable(const struct cpu_call *c) {
    const struct cpu_tensor *values = cpu_in(c, VALUES), *hits = cpu_out(c, 1);
    return cpu_shape_fits(cpu_in(c, LOOKUPS), 1, CPU_UNKNOWN, 0) &&
           cpu_shape_fits(cpu_in(c, KEYS), 1, CPU_UNKNOWN, 0) && (!values->known_rank || values->shape.rank >= 2) &&
           hits->scale == 1 && hits->zero_point == 0;
}

static bool infer_hashtable(struct cpu_call *c) {
    const struct cpu_shape *values = &cpu_in(c, VALUES)->shape;
    if (!cpu_agree(cpu_in(c, KEYS)->shape.dims[0], values->dims[0])) return false;
    const uint32_t count = cpu_in(c, LOOKUPS)->shape.dims[0];
    c->out_shapes[0] = rows_shape(count, values);
    c->out_shapes[1] = (struct cpu_shape){1, {count}};
    return true;
}

/** Index of key among ascending keys; count if it is not there. */
static size_t find(const int32_t *keys, size_t count, int32_t key) {
    size_t lo = 0, hi = count;
    while (lo < hi) {
        const size_t middle = lo + (hi - lo) / 2;
        if (keys[middle] < key)
            lo = middle + 1;
        else
            hi = middle;
    }
    return lo < count && keys[lo] == key ? lo : count;
}

static bool run_hashtable(struct cpu_call *c) {
    const struct cpu_tensor *lookups = cpu_in(c, LOOKUPS), *keys = cpu_in(c, KEYS), *values = cpu_in(c, VALUES);
    const size_t row = cpu_extent(&values->shape, 1, values->shape.rank) * cpu_element(values->type);
    uint8_t *hits = cpu_out(c, 1)->data;
    for (size_t i = 0; i < lookups->shape.dims[0]; i++) {
        const size_t found = find(keys->data, keys->shape.dims[0], ((const int32_t *)lookups->data)[i]);
        char *to = (char *)cpu_out(c, 0)->data + i * row;
        hits[i] = found < keys->shape.dims[0];
        if (hits[i])
            memcpy(to, (const char *)values->data + found * row, row);
        else
            memset(to, 0, row);
    }
    return true;
}

const struct cpu_op_fns cpu_op_hashtable_lookup = {
    .check = check_hashtable, .infer = infer_hashtable, .run = run_hashtable};

/* ------------------------------------------------------------- LSH_PROJECTION */

enum { HASH, INPUT, WEIGHT, KIND, SPARSE_DEPRECATED = 1, DENSE = 2, SPARSE = 3, MOST_BITS = 32 };

static bool check_lsh(const struct cpu_call *c) {
    const struct cpu_tensor *input = cpu_in(c, INPUT), *weight = cpu_optional(c, WEIGHT);
    const bool floats = cpu_is_float(input), others = input->type == ANEURALNETWORKS_TENSOR_INT32 ||
                                                      input->type == ANEURALNETWORKS_TENSOR_QUANT8_ASYMM;
    return (floats || others) && cpu_shape_fits(cpu_in(c, HASH), 2, CPU_UNKNOWN, CPU_UNKNOWN) &&
           (!input->known_rank || input->shape.rank >= 1) && cpu_shape_fits(weight, 1, CPU_UNKNOWN, 0) &&
           cpu_int_within(c, KIND, SPARSE_DEPRECATED, SPARSE);
}

static bool infer_lsh(struct cpu_call *c) {
    const struct cpu_tensor *hash = cpu_in(c, HASH), *input = cpu_in(c, INPUT), *weight = cpu_optional(c, WEIGHT);
    const uint32_t hashes = hash->shape.dims[0], bits = hash->shape.dims[1];
    const bool dense = cpu_int(c, KIND, 0) == DENSE, known = hashes != CPU_UNKNOWN && bits != CPU_UNKNOWN;
    if (bits != CPU_UNKNOWN && bits > MOST_BITS) return false;
    if (weight && !cpu_agree(weight->shape.dims[0], input->shape.dims[0])) return false;
    if (c->run && dense != (weight != NULL)) return false; /* known when the model runs */
    uint64_t total = known ? (uint64_t)hashes * bits : CPU_UNKNOWN;
    if (known && total >= UINT32_MAX) return false;
    c->out_shapes[0] = (struct cpu_shape){1, {dense ? (uint32_t)total : hashes}};
    return true;
}

/* The 64-bit fingerprint of FarmHash; all arithmetic modulo 2^64. */

static const uint64_t k0 = 0xc3a5c85c97cb3127, k1 = 0xb492b66fbe98f273, k2 = 0x9ae16a3b2f90404f;

static uint64_t load8(const uint8_t *p) {
    uint64_t v = 0;
    for (int i = 7; i >= 0; i--) v = v << 8 | p[i];
    return v;
}

static uint64_t load4(const uint8_t *p) {
    uint64_t v = 0;
    for (int i = 3; i >= 0; i--) v = v << 8 | p[i];
    return v;
}

static uint64_t rotate(uint64_t v, int k) { return v >> k | v << (64 - k); }

static uint64_t fold(uint64_t v) { return v ^ (v >> 47); }

static uint64_t blend(uint64_t u, uint64_t v, uint64_t m) {
    const uint64_t a = fold((u ^ v) * m);
    return fold((v ^ a) * m) * m;
}

static uint64_t fingerprint_to_16(const uint8_t *s, size_t n) {
    const uint64_t m = k2 + 2 * n;
    if (n >= 8) {
        const uint64_t a = load8(s) + k2, b = load8(s + n - 8);
        return blend(rotate(b, 37) * m + a, (rotate(a, 25) + b) * m, m);
    }
    if (n >= 4) return blend(n + 8 * load4(s), load4(s + n - 4), m);
    if (n == 0) return k2;
    const uint64_t y = s[0] + 256u * (uint64_t)s[n / 2], z = n + 4u * (uint64_t)s[n - 1];
    return fold((y * k2) ^ (z * k0)) * k2;
}

static uint64_t fingerprint_to_32(const uint8_t *s, size_t n) {
    const uint64_t m = k2 + 2 * n, a = load8(s) * k1, b = load8(s + 8), c = load8(s + n - 8) * m,
                   d = load8(s + n - 16) * k2;
    return blend(rotate(a + b, 43) + rotate(c, 30) + d, a + rotate(b + k2, 18) + c, m);
}

static uint64_t fingerprint_to_64(const uint8_t *s, size_t n) {
    const uint64_t m = k2 + 2 * n, a = load8(s) * k2, b = load8(s + 8), c = load8(s + n - 8) * m,
                   d = load8(s + n - 16) * k2;
    const uint64_t y = rotate(a + b, 43) + rotate(c, 30) + d, z = blend(y, a + rotate(b + k2, 18) + c, m);
    const uint64_t e = load8(s + 16) * m, f = load8(s + 24), g = (y + load8(s + n - 32)) * m,
                   h = (z + load8(s + n - 24)) * m;
    return blend(rotate(e + f, 43) + rotate(g, 30) + h, e + rotate(f + a, 18) + g, m);
}

struct pair {
    uint64_t first, second;
};

static struct pair weak(const uint8_t *p, uint64_t a, uint64_t b) {
    a += load8(p);
    b = rotate(a + b + load8(p + 24), 21);
    const uint64_t c = a;
    a += load8(p + 8) + load8(p + 16);
    b += rotate(a, 44);
    return (struct pair){a + load8(p + 24), b + c};
}

struct long_state {
    uint64_t x, y, z;
    struct pair v, w;
};

/** One block of 64 bytes; the last block differs in its factors. */
static void long_block(struct long_state *t, const uint8_t *p, uint64_t m, bool last) {
    t->x = rotate(t->x + t->y + t->v.first + load8(p + 8), 37) * m;
    t->y = rotate(t->y + t->v.second + load8(p + 48), 42) * m;
    t->x ^= last ? 9 * t->w.second : t->w.second;
    t->y += last ? 9 * t->v.first + load8(p + 40) : t->v.first + load8(p + 40);
    t->z = rotate(t->z + t->w.first, 33) * m;
    t->v = weak(p, t->v.second * m, t->x + t->w.first);
    t->w = weak(p + 32, t->z + t->w.second, t->y + load8(p + 16));
    const uint64_t swap = t->x;
    t->x = t->z;
    t->z = swap;
}

static uint64_t fingerprint_long(const uint8_t *s, size_t n) {
    const uint64_t seed = 81, start = seed * k1 + 113;
    struct long_state t = {.x = seed * k2 + load8(s), .y = start, .z = fold(start * k2 + 113) * k2};
    const size_t end = (n - 1) / 64 * 64, rest = (n - 1) % 64;
    for (size_t p = 0; p < end; p += 64) long_block(&t, s + p, k1, false);
    const uint64_t m = k1 + 2 * (t.z & 255);
    t.w.first += rest;
    t.v.first += t.w.first;
    t.w.first += t.v.first;
    long_block(&t, s + end + rest - 63, m, true);
    return blend(blend(t.v.first, t.w.first, m) + fold(t.y) * k0 + t.z, blend(t.v.second, t.w.second, m) + t.x, m);
}

static uint64_t fingerprint(const uint8_t *s, size_t n) {
    if (n <= 16) return fingerprint_to_16(s, n);
    if (n <= 32) return fingerprint_to_32(s, n);
    return n <= 64 ? fingerprint_to_64(s, n) : fingerprint_long(s, n);
}

/** Rows of the input as the API has them. */
struct hashed {
    const uint8_t *rows;
    size_t count, row; /**< rows, bytes of a row */
    const float *weights;
    uint8_t *key; /**< room for the seed and a row */
};

static bool bit(const struct hashed *h, float seed) {
    double score = 0;
    memcpy(h->key, &seed, sizeof seed);
    for (size_t r = 0; r < h->count; r++) {
        if (h->row) memcpy(h->key + sizeof seed, h->rows + r * h->row, h->row);
        const double value = (double)(int64_t)fingerprint(h->key, sizeof seed + h->row);
        score += h->weights ? (double)h->weights[r] * value : value;
    }
    return score > 0;
}

static bool run_lsh(struct cpu_call *c) {
    const struct cpu_tensor *hash = cpu_in(c, HASH), *input = cpu_in(c, INPUT), *weight = cpu_optional(c, WEIGHT);
    const size_t hashes = hash->shape.dims[0], bits = hash->shape.dims[1], values = cpu_count(input);
    const int32_t kind = cpu_int(c, KIND, 0);
    const size_t bytes = values * cpu_api_element(input->type);
    uint8_t *rows = cpu_scratch(c->run, bytes);
    struct hashed h = {.rows = rows, .count = input->shape.dims[0], .weights = weight ? weight->data : NULL};
    h.row = bytes / h.count;
    h.key = cpu_scratch(c->run, sizeof(float) + h.row);
    if (!rows || !h.key) return false;
    cpu_convert_out(c->run->kernels, input->type, values, input->data, rows);
    int32_t *out = cpu_out(c, 0)->data;
    for (size_t i = 0; i < hashes; i++) {
        uint32_t signature = 0;
        for (size_t b = 0; b < bits; b++) {
            const bool set = bit(&h, ((const float *)hash->data)[i * bits + b]);
            if (kind == DENSE) out[i * bits + b] = set;
            signature = signature << 1 | set;
        }
        if (kind == SPARSE) signature += (uint32_t)((uint64_t)i << bits);
        if (kind != DENSE) out[i] = (int32_t)signature;
    }
    return true;
}

const struct cpu_op_fns cpu_op_lsh_projection = {.check = check_lsh, .infer = infer_lsh, .run = run_lsh};
