/* SPDX-License-Identifier: Apache-2.0 */
#include "base/hmac.h"

#include <string.h>

enum { BLOCK = 64 };

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
