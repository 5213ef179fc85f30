/* SPDX-License-Identifier: Apache-2.0 */
#include "base/rng.h"

#include <endian.h>
#include <string.h>

/* SplitMix64 (Steele, Lea, Flood 2014): number i of a stream is a mix of key + i * GOLDEN. */
static const uint64_t GOLDEN = 0x9e3779b97f4a7c15u;

static uint64_t mix(uint64_t z) {
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

struct nnv_rng nnv_rng_make(uint64_t seed, uint64_t a, uint64_t b) {
    uint64_t key = mix(seed + GOLDEN);
    key = mix(key + a + GOLDEN);
    return (struct nnv_rng){.key = mix(key + b + GOLDEN)};
}

uint64_t nnv_rng_u64(struct nnv_rng *r) { return mix(r->key + ++r->counter * GOLDEN); }

double nnv_rng_unit(struct nnv_rng *r) { return (double)(nnv_rng_u64(r) >> 11) * 0x1p-53; }

double nnv_rng_uniform(struct nnv_rng *r, double lo, double hi) {
    double v = lo + (hi - lo) * nnv_rng_unit(r);
    return v < hi ? v : lo; /* rounding may reach hi */
}

int64_t nnv_rng_int(struct nnv_rng *r, int64_t lo, int64_t hi) {
    if (lo >= hi) return lo;
    uint64_t span = (uint64_t)hi - (uint64_t)lo + 1;
    uint64_t v = nnv_rng_u64(r);
    if (span == 0) return (int64_t)v;
    /* 2^64 mod span: so many of the lowest numbers would bias the rest. They are below span, as few numbers are. */
    while (v < span && v < (0 - span) % span) v = nnv_rng_u64(r);
    return (int64_t)((uint64_t)lo + v % span);
}

double nnv_rng_normal(struct nnv_rng *r) {
    double sum = -6;
    for (int i = 0; i < 12; i++) sum += nnv_rng_unit(r);
    return sum;
}

uint64_t nnv_hash_str(const char *s) { return nnv_hash_bytes(s, strlen(s)); }

uint64_t nnv_hash_bytes(const void *p, uint64_t n) {
    const unsigned char *byte = p;
    uint64_t h = 0xcbf29ce484222325u;
    for (uint64_t i = 0; i < n; i++) h = (h ^ byte[i]) * 0x100000001b3u;
    return mix(h);
}

uint64_t nnv_hash_words(const void *p, uint64_t n) {
    enum { LANES = 4, STEP = LANES * 8 };
    const unsigned char *byte = p;
    uint64_t lane[LANES + 2] = {1, 2, 3, 4}, word, at = 0;
    for (; at + STEP <= n; at += STEP)
        for (uint64_t k = 0; k < LANES; k++) {
            memcpy(&word, byte + at + 8 * k, 8);
            lane[k] = (lane[k] ^ le64toh(word)) * UINT64_C(0x9e3779b97f4a7c15);
            lane[k] ^= lane[k] >> 29;
        }
    lane[LANES] = nnv_hash_bytes(byte + at, n - at);
    lane[LANES + 1] = n;
    for (uint64_t k = 0; k < LANES + 2; k++) lane[k] = htole64(lane[k]);
    return nnv_hash_bytes(lane, sizeof lane);
}
