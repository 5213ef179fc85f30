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

enum { CPU_SUM_LANES = 8, CPU_SUM_STRIPE = CPU_SUM_LANES * 8, CPU_SUM_PIECE = 256 * 1024 };

/**
 * Finds data that was damaged, not data that was forged. Data is cut into pieces, so that several threads can sum it,
 * each piece while it is still near. Eight lanes take turns in the 64-bit words of a piece: each word is added to its
 * lane without a carry, and the lane is rotated and multiplied by an odd number. Each step can be undone, so where one
 * word of a lane is another, the lane is another at the end: a change of one word of each lane is always noticed, any
 * other but for one in 2^64. A piece's digest is the BLAKE2s of its lanes, its length, and what is left over; that of
 * all data is the BLAKE2s of those of its pieces, and the length.
 */
struct cpu_sum {
    uint64_t lanes[CPU_SUM_LANES], count;
    struct cpu_digest pieces; /**< the ones before this */
    size_t in_piece;          /**< bytes of this one so far */
    uint8_t rest[CPU_SUM_STRIPE];
    size_t used; /**< of rest */
};

void cpu_sum_begin(struct cpu_sum *s);
void cpu_sum_add(struct cpu_sum *s, const void *data, size_t bytes);
void cpu_sum_end(const struct cpu_sum *s, uint8_t out[CPU_DIGEST_BYTES]);

/** The digest of one piece: 1 to CPU_SUM_PIECE bytes. */
void cpu_sum_piece(const void *data, size_t bytes, uint8_t out[CPU_DIGEST_BYTES]);
/** As cpu_sum_add for a whole piece of which the digest is known; only the last one may be shorter than others. */
void cpu_sum_add_piece(struct cpu_sum *s, const uint8_t digest[CPU_DIGEST_BYTES], size_t bytes);

#endif
