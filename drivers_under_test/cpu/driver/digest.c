/* SPDX-License-Identifier: Apache-2.0 */
#include "digest.h"

#include <string.h>

static const uint32_t initial[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                    0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};

/** Which words of the block each round mixes, in order. */
static const uint8_t schedule[10][16] = {
    {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}, {14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3},
    {11, 8, 12, 0, 5, 2, 15, 13, 10, 14, 3, 6, 7, 1, 9, 4}, {7, 9, 3, 1, 13, 12, 11, 14, 2, 6, 5, 10, 4, 0, 15, 8},
    {9, 0, 5, 7, 2, 4, 10, 15, 14, 1, 11, 12, 6, 8, 3, 13}, {2, 12, 6, 10, 0, 11, 8, 3, 4, 13, 7, 5, 15, 14, 1, 9},
    {12, 5, 1, 15, 14, 13, 4, 10, 0, 7, 6, 3, 9, 2, 8, 11}, {13, 11, 7, 14, 12, 1, 3, 9, 5, 0, 15, 4, 8, 6, 2, 10},
    {6, 15, 14, 9, 11, 3, 0, 8, 12, 2, 13, 7, 1, 4, 10, 5}, {10, 2, 8, 4, 7, 6, 1, 5, 15, 11, 9, 14, 3, 12, 13, 0},
};

static uint32_t rotate(uint32_t x, int n) { return x >> n | x << (32 - n); }

static inline void mix(uint32_t *v, int a, int b, int c, int d, uint32_t x, uint32_t y) {
    v[a] += v[b] + x;
    v[d] = rotate(v[d] ^ v[a], 16);
    v[c] += v[d];
    v[b] = rotate(v[b] ^ v[c], 12);
    v[a] += v[b] + y;
    v[d] = rotate(v[d] ^ v[a], 8);
    v[c] += v[d];
    v[b] = rotate(v[b] ^ v[c], 7);
}

/** Takes a block into the state; d->count includes its bytes already. */
static void compress(struct cpu_digest *d, const uint8_t *block, uint32_t last) {
    uint32_t words[16], v[16];
    for (int i = 0; i < 16; i++)
        words[i] = (uint32_t)block[4 * i] | (uint32_t)block[4 * i + 1] << 8 | (uint32_t)block[4 * i + 2] << 16 |
                   (uint32_t)block[4 * i + 3] << 24;
    memcpy(v, d->state, sizeof d->state);
    memcpy(v + 8, initial, sizeof initial);
    v[12] ^= (uint32_t)d->count;
    v[13] ^= (uint32_t)(d->count >> 32);
    v[14] ^= last;
    for (int r = 0; r < 10; r++) {
        const uint8_t *at = schedule[r];
        mix(v, 0, 4, 8, 12, words[at[0]], words[at[1]]); /* columns */
        mix(v, 1, 5, 9, 13, words[at[2]], words[at[3]]);
        mix(v, 2, 6, 10, 14, words[at[4]], words[at[5]]);
        mix(v, 3, 7, 11, 15, words[at[6]], words[at[7]]);
        mix(v, 0, 5, 10, 15, words[at[8]], words[at[9]]); /* diagonals */
        mix(v, 1, 6, 11, 12, words[at[10]], words[at[11]]);
        mix(v, 2, 7, 8, 13, words[at[12]], words[at[13]]);
        mix(v, 3, 4, 9, 14, words[at[14]], words[at[15]]);
    }
    for (int i = 0; i < 8; i++) d->state[i] ^= v[i] ^ v[i + 8];
}

void cpu_digest_begin(struct cpu_digest *d) {
    *d = (struct cpu_digest){0};
    memcpy(d->state, initial, sizeof initial);
    d->state[0] ^= 0x01010000 ^ CPU_DIGEST_BYTES; /* no key, the length of the digest */
}

void cpu_digest_add(struct cpu_digest *d, const void *data, size_t bytes) {
    const uint8_t *from = data;
    while (bytes > 0) {
        if (d->used == CPU_DIGEST_BLOCK) { /* never the last block: more bytes follow */
            d->count += CPU_DIGEST_BLOCK;
            compress(d, d->block, 0);
            d->used = 0;
        }
        const size_t room = CPU_DIGEST_BLOCK - d->used, n = bytes < room ? bytes : room;
        memcpy(d->block + d->used, from, n);
        d->used += n;
        from += n;
        bytes -= n;
    }
}

void cpu_digest_end(struct cpu_digest *d, uint8_t out[CPU_DIGEST_BYTES]) {
    memset(d->block + d->used, 0, CPU_DIGEST_BLOCK - d->used);
    d->count += d->used;
    compress(d, d->block, UINT32_MAX);
    for (int i = 0; i < CPU_DIGEST_BYTES; i++) out[i] = (uint8_t)(d->state[i / 4] >> 8 * (i % 4));
}

/* ------------------------------------------------------------------------ sums */

/** Odd, with as many ones as zeros and no pattern: the fraction of the golden ratio. */
static const uint64_t odd_factor = 0x9e3779b97f4a7c15;

static uint64_t step(uint64_t lane, const uint8_t *from) {
    uint64_t word;
    memcpy(&word, from, sizeof word);
    lane ^= word;
    return (lane << 29 | lane >> 35) * odd_factor;
}

static void add_stripes(struct cpu_sum *s, const uint8_t *from, size_t stripes) {
    uint64_t a = s->lanes[0], b = s->lanes[1], c = s->lanes[2], d = s->lanes[3];
    uint64_t e = s->lanes[4], f = s->lanes[5], g = s->lanes[6], h = s->lanes[7];
    for (; stripes > 0; stripes--, from += CPU_SUM_STRIPE) {
        a = step(a, from);
        b = step(b, from + 8);
        c = step(c, from + 16);
        d = step(d, from + 24);
        e = step(e, from + 32);
        f = step(f, from + 40);
        g = step(g, from + 48);
        h = step(h, from + 56);
    }
    const uint64_t lanes[] = {a, b, c, d, e, f, g, h};
    memcpy(s->lanes, lanes, sizeof lanes);
}

static void begin_piece(struct cpu_sum *s) {
    for (int i = 0; i < CPU_SUM_LANES; i++) s->lanes[i] = (uint64_t)initial[i] << 32 | initial[(i + 1) % 8];
    s->in_piece = s->used = 0;
}

/** Bytes that this piece has room for. */
static void add_to_piece(struct cpu_sum *s, const uint8_t *from, size_t bytes) {
    s->in_piece += bytes;
    if (s->used > 0) {
        const size_t room = CPU_SUM_STRIPE - s->used, n = bytes < room ? bytes : room;
        memcpy(s->rest + s->used, from, n);
        s->used += n;
        from += n;
        bytes -= n;
        if (s->used < CPU_SUM_STRIPE) return;
        add_stripes(s, s->rest, 1);
    }
    add_stripes(s, from, bytes / CPU_SUM_STRIPE);
    s->used = bytes % CPU_SUM_STRIPE;
    memcpy(s->rest, from + bytes - s->used, s->used);
}

static void end_piece(const struct cpu_sum *s, uint8_t out[CPU_DIGEST_BYTES]) {
    const uint64_t count = s->in_piece;
    struct cpu_digest d;
    cpu_digest_begin(&d);
    cpu_digest_add(&d, s->lanes, sizeof s->lanes);
    cpu_digest_add(&d, &count, sizeof count);
    cpu_digest_add(&d, s->rest, s->used);
    cpu_digest_end(&d, out);
}

void cpu_sum_begin(struct cpu_sum *s) {
    *s = (struct cpu_sum){0};
    cpu_digest_begin(&s->pieces);
    begin_piece(s);
}

void cpu_sum_add(struct cpu_sum *s, const void *data, size_t bytes) {
    const uint8_t *from = data;
    while (bytes > 0) {
        const size_t room = CPU_SUM_PIECE - s->in_piece, n = bytes < room ? bytes : room;
        add_to_piece(s, from, n);
        s->count += n;
        from += n;
        bytes -= n;
        if (n < room) break;
        uint8_t digest[CPU_DIGEST_BYTES];
        end_piece(s, digest);
        cpu_digest_add(&s->pieces, digest, sizeof digest);
        begin_piece(s);
    }
}

void cpu_sum_end(const struct cpu_sum *s, uint8_t out[CPU_DIGEST_BYTES]) {
    struct cpu_digest d = s->pieces;
    if (s->in_piece > 0) {
        uint8_t digest[CPU_DIGEST_BYTES];
        end_piece(s, digest);
        cpu_digest_add(&d, digest, sizeof digest);
    }
    cpu_digest_add(&d, &s->count, sizeof s->count);
    cpu_digest_end(&d, out);
}

void cpu_sum_piece(const void *data, size_t bytes, uint8_t out[CPU_DIGEST_BYTES]) {
    struct cpu_sum s;
    begin_piece(&s);
    add_to_piece(&s, data, bytes);
    end_piece(&s, out);
}

void cpu_sum_add_piece(struct cpu_sum *s, const uint8_t digest[CPU_DIGEST_BYTES], size_t bytes) {
    cpu_digest_add(&s->pieces, digest, CPU_DIGEST_BYTES);
    s->count += bytes;
}
