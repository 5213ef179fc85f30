/* SPDX-License-Identifier: Apache-2.0 */
/** @file hmac.h HMAC-SHA256 (RFC 2104, RFC 4231). */
#ifndef NNV_BASE_HMAC_H
#define NNV_BASE_HMAC_H

#include <stdbool.h>

#include "base/sha256.h"

/** The code of data under a key. */
void nnv_hmac_sha256(const void *key, size_t key_bytes, const void *data, size_t bytes, uint8_t out[NNV_SHA256_BYTES]);
/** Equal codes, in a time that does not tell where they differ. */
bool nnv_hmac_equal(const uint8_t a[NNV_SHA256_BYTES], const uint8_t b[NNV_SHA256_BYTES]);

#endif
