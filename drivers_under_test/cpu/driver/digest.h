/* SPDX-License-Identifier: Apache-2.0 */
/** @file digest.h BLAKE2s-256 (RFC 7693) without a key. */
#ifndef CPU_DIGEST_H
#define CPU_DIGEST_H

#include <stddef.h>
#include <stdint.h>

enum { CPU_DIGEST_BYTES = 32, CPU_DIGEST_BLOCK = 64 };

struct cpu_digest {
    uint32_t state[8];
    uint64_t count; /**< bytes taken into the state */
    uint8_t block[CPU_DIGEST_BLOCK];
    size_t used; /**< of block */
};

void cpu_digest_begin(struct cpu_digest *d);
void cpu_digest_add(struct cpu_digest *d, const void *data, size_t bytes);
void cpu_digest_end(struct cpu_digest *d, uint8_t out[CPU_DIGEST_BYTES]);

#endif
