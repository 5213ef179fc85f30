/* SPDX-License-Identifier: Apache-2.0 */
#include "base/sha256.h"

#include <string.h>

enum { BLOCK = 64 };

static const uint32_t constants[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

static uint32_t rotate(uint32_t x, int n) { return x >> n | x << (32 - n); }

/** The block's 16 words and the 48 that follow from them. */
static void expand(const uint8_t *block, uint32_t *w) {
    for (int i = 0; i < 16; i++)
        w[i] = (uint32_t)block[4 * i] << 24 | (uint32_t)block[4 * i + 1] << 16 | (uint32_t)block[4 * i + 2] << 8 |
               (uint32_t)block[4 * i + 3];
    for (int i = 16; i < 64; i++) {
        uint32_t a = w[i - 15], b = w[i - 2];
        w[i] =
            w[i - 16] + (rotate(a, 7) ^ rotate(a, 18) ^ a >> 3) + w[i - 7] + (rotate(b, 17) ^ rotate(b, 19) ^ b >> 10);
    }
}

static void compress(uint32_t *state, const uint8_t *block) {
    uint32_t word[64], a = state[0], b = state[1], c = state[2], d = state[3];
    uint32_t e = state[4], f = state[5], g = state[6], h = state[7];
    expand(block, word);
    for (int i = 0; i < 64; i++) {
        const uint32_t choice = (e & f) ^ (~e & g), majority = (a & b) ^ (a & c) ^ (b & c);
        const uint32_t x = h + (rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25)) + choice + constants[i] + word[i];
        const uint32_t y = (rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22)) + majority;
        h = g, g = f, f = e, e = d + x;
        d = c, c = b, b = a, a = x + y;
    }
    const uint32_t v[] = {a, b, c, d, e, f, g, h};
    for (int i = 0; i < 8; i++) state[i] += v[i];
}

void nnv_sha256_begin(struct nnv_sha256 *h) {
    static const uint32_t initial[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                        0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    *h = (struct nnv_sha256){0};
    memcpy(h->state, initial, sizeof initial);
}

void nnv_sha256_add(struct nnv_sha256 *h, const void *data, size_t n) {
    const uint8_t *from = data;
    while (n > 0) {
        if (h->count % BLOCK == 0 && n >= BLOCK) { /* whole blocks where they lie */
            compress(h->state, from);
            h->count += BLOCK;
            from += BLOCK;
            n -= BLOCK;
            continue;
        }
        size_t used = h->count % BLOCK, room = BLOCK - used, take = n < room ? n : room;
        memcpy(h->block + used, from, take);
        h->count += take;
        from += take;
        n -= take;
        if (h->count % BLOCK == 0) compress(h->state, h->block);
    }
}

void nnv_sha256_end(struct nnv_sha256 *h, uint8_t out[NNV_SHA256_BYTES]) {
    static const uint8_t padding[BLOCK] = {0x80};
    uint8_t bits[8];
    size_t used = h->count % BLOCK;
    for (int i = 0; i < 8; i++) bits[i] = (uint8_t)(h->count * 8 >> (56 - 8 * i));
    nnv_sha256_add(h, padding, used < BLOCK - 8 ? BLOCK - 8 - used : 2 * BLOCK - 8 - used);
    nnv_sha256_add(h, bits, sizeof bits);
    for (int i = 0; i < NNV_SHA256_BYTES; i++) out[i] = (uint8_t)(h->state[i / 4] >> (24 - 8 * (i % 4)));
}

/* ------------------------------------------------------------------------- HMAC */

void nnv_hmac_sha256(const void *key, size_t key_bytes, const void *data, size_t bytes, uint8_t out[NNV_SHA256_BYTES]) {
    uint8_t block[BLOCK] = {0}, pad[BLOCK];
    struct nnv_sha256 h;
    if (key_bytes > BLOCK) {
        nnv_sha256_begin(&h);
        nnv_sha256_add(&h, key, key_bytes);
        nnv_sha256_end(&h, block);
    } else if (key_bytes) {
        memcpy(block, key, key_bytes);
    }
    for (int i = 0; i < BLOCK; i++) pad[i] = block[i] ^ 0x36;
    nnv_sha256_begin(&h);
    nnv_sha256_add(&h, pad, BLOCK);
    nnv_sha256_add(&h, data, bytes);
    nnv_sha256_end(&h, out);
    for (int i = 0; i < BLOCK; i++) pad[i] = block[i] ^ 0x5c;
    nnv_sha256_begin(&h);
    nnv_sha256_add(&h, pad, BLOCK);
    nnv_sha256_add(&h, out, NNV_SHA256_BYTES);
    nnv_sha256_end(&h, out);
}

bool nnv_hmac_equal(const uint8_t a[NNV_SHA256_BYTES], const uint8_t b[NNV_SHA256_BYTES]) {
    unsigned differ = 0;
    for (int i = 0; i < NNV_SHA256_BYTES; i++) differ |= a[i] ^ b[i];
    return differ == 0;
}
