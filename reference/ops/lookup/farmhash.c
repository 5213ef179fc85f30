/* SPDX-License-Identifier: Apache-2.0 */
/* Written from the definition of FarmHash's stable 64-bit fingerprint (Google, 2014); all arithmetic modulo 2^64. */
#include "reference/ops/lookup/farmhash.h"

static const uint64_t K0 = 0xc3a5c85c97cb3127u, K1 = 0xb492b66fbe98f273u, K2 = 0x9ae16a3b2f90404fu;

static uint64_t load(const unsigned char *p, int bytes) {
    uint64_t v = 0;
    for (int i = bytes - 1; i >= 0; i--) v = v << 8 | p[i];
    return v;
}
static uint64_t load64(const unsigned char *p) { return load(p, 8); }
static uint64_t rotate(uint64_t v, int right) { return v >> right | v << (64 - right); }
static uint64_t shift_mix(uint64_t v) { return v ^ v >> 47; }

static uint64_t mix(uint64_t u, uint64_t v, uint64_t m) {
    uint64_t a = shift_mix((u ^ v) * m), b = shift_mix((v ^ a) * m);
    return b * m;
}

static uint64_t hash_to_16(const unsigned char *s, size_t n) {
    uint64_t m = K2 + 2 * n;
    if (n >= 8) {
        uint64_t a = load64(s) + K2, b = load64(s + n - 8);
        uint64_t c = rotate(b, 37) * m + a, d = (rotate(a, 25) + b) * m;
        return mix(c, d, m);
    }
    if (n >= 4) return mix(n + (load(s, 4) << 3), load(s + n - 4, 4), m);
    if (n == 0) return K2;
    uint64_t y = s[0] + 256u * s[n / 2], z = n + 4u * s[n - 1];
    return shift_mix(y * K2 ^ z * K0) * K2;
}

static uint64_t hash_to_32(const unsigned char *s, size_t n) {
    uint64_t m = K2 + 2 * n, a = load64(s) * K1, b = load64(s + 8);
    uint64_t c = load64(s + n - 8) * m, d = load64(s + n - 16) * K2;
    return mix(rotate(a + b, 43) + rotate(c, 30) + d, a + rotate(b + K2, 18) + c, m);
}

static uint64_t hash_to_64(const unsigned char *s, size_t n) {
    uint64_t m = K2 + 2 * n, a = load64(s) * K2, b = load64(s + 8);
    uint64_t c = load64(s + n - 8) * m, d = load64(s + n - 16) * K2;
    uint64_t y = rotate(a + b, 43) + rotate(c, 30) + d, z = mix(y, a + rotate(b + K2, 18) + c, m);
    uint64_t e = load64(s + 16) * m, f = load64(s + 24);
    uint64_t g = (y + load64(s + n - 32)) * m, h = (z + load64(s + n - 24)) * m;
    return mix(rotate(e + f, 43) + rotate(g, 30) + h, e + rotate(f + a, 18) + g, m);
}

struct pair {
    uint64_t first, second;
};

static struct pair weak(const unsigned char *p, uint64_t a, uint64_t b) {
    a += load64(p);
    b = rotate(a + b + load64(p + 24), 21);
    uint64_t c = a;
    a += load64(p + 8) + load64(p + 16);
    b += rotate(a, 44);
    return (struct pair){a + load64(p + 24), b + c};
}

struct state {
    uint64_t x, y, z;
    struct pair v, w;
};

/* One block of 64 bytes; the last one has another multiplier m and weighs two terms by 9. */
static void block(struct state *s, const unsigned char *p, uint64_t m, uint64_t weight) {
    s->x = rotate(s->x + s->y + s->v.first + load64(p + 8), 37) * m;
    s->y = rotate(s->y + s->v.second + load64(p + 48), 42) * m;
    s->x ^= s->w.second * weight;
    s->y += s->v.first * weight + load64(p + 40);
    s->z = rotate(s->z + s->w.first, 33) * m;
    s->v = weak(p, s->v.second * m, s->x + s->w.first);
    s->w = weak(p + 32, s->z + s->w.second, s->y + load64(p + 16));
    uint64_t x = s->x;
    s->x = s->z;
    s->z = x;
}

static uint64_t hash_long(const unsigned char *p, size_t n) {
    const uint64_t seed = 81;
    uint64_t y = seed * K1 + 113;
    struct state s = {.x = seed * K2 + load64(p), .y = y, .z = shift_mix(y * K2 + 113) * K2};
    size_t end = (n - 1) / 64 * 64, rest = (n - 1) % 64;
    for (size_t at = 0; at < end; at += 64) block(&s, p + at, K1, 1);
    uint64_t m = K1 + ((s.z & 0xff) << 1);
    s.w.first += rest;
    s.v.first += s.w.first;
    s.w.first += s.v.first;
    block(&s, p + end + rest - 63, m, 9);
    return mix(mix(s.v.first, s.w.first, m) + shift_mix(s.y) * K0 + s.z, mix(s.v.second, s.w.second, m) + s.x, m);
}

uint64_t nnv_farmhash64(const void *data, size_t n) {
    const unsigned char *s = data;
    if (n <= 16) return hash_to_16(s, n);
    if (n <= 32) return hash_to_32(s, n);
    return n <= 64 ? hash_to_64(s, n) : hash_long(s, n);
}
