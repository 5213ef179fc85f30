/* SPDX-License-Identifier: Apache-2.0 */
/** @file digest.h BLAKE2s-256 (RFC 7693) without a key, and digests of large data at the speed of memory. */
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

enum { CPU_SUM_LANES = 8, CPU_SUM_STRIPE = CPU_SUM_LANES * 8 };

/**
 * Finds data that was damaged, not data that was forged. Eight lanes take turns in 64-bit words: each is added to its
 * lane without a carry, and the lane is rotated and multiplied by an odd number. Each step can be undone, so where one
 * word of a lane is another, the lane is another at the end: a change of one word of each lane is always noticed, any
 * other but for one in 2^64. The digest is the BLAKE2s of the lanes, what is left over, and the length.
 */
struct cpu_sum {
    uint64_t lanes[CPU_SUM_LANES], count;
    uint8_t rest[CPU_SUM_STRIPE];
    size_t used; /**< of rest */
};

void cpu_sum_begin(struct cpu_sum *s);
void cpu_sum_add(struct cpu_sum *s, const void *data, size_t bytes);
void cpu_sum_end(const struct cpu_sum *s, uint8_t out[CPU_DIGEST_BYTES]);

#endif
