/* SPDX-License-Identifier: Apache-2.0 */
/** @file sha256.h SHA-256 (FIPS 180-4), and HMAC-SHA256 (RFC 2104, RFC 4231). */
#ifndef NNV_BASE_SHA256_H
#define NNV_BASE_SHA256_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { NNV_SHA256_BYTES = 32 };

struct nnv_sha256 {
    uint32_t state[8];
    uint64_t count; /**< bytes so far */
    uint8_t block[64];
};

void nnv_sha256_begin(struct nnv_sha256 *h);
void nnv_sha256_add(struct nnv_sha256 *h, const void *data, size_t n);
void nnv_sha256_end(struct nnv_sha256 *h, uint8_t out[NNV_SHA256_BYTES]);

/** The code of data under a key. */
void nnv_hmac_sha256(const void *key, size_t key_bytes, const void *data, size_t bytes, uint8_t out[NNV_SHA256_BYTES]);
/** Equal codes, in a time that does not tell where they differ. */
bool nnv_hmac_equal(const uint8_t a[NNV_SHA256_BYTES], const uint8_t b[NNV_SHA256_BYTES]);

#endif
