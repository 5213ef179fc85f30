/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file rng.h A counter-based generator with its own distributions: the same key gives the same numbers on
 * any machine, compiler and thread.
 */
#ifndef NNV_BASE_RNG_H
#define NNV_BASE_RNG_H

#include <stdint.h>

struct nnv_rng {
    uint64_t key, counter;
};

/** A generator keyed by (seed, a, b), for example (seed, hash of the case, operand). */
struct nnv_rng nnv_rng_make(uint64_t seed, uint64_t a, uint64_t b);
/** 64 random bits. */
uint64_t nnv_rng_u64(struct nnv_rng *r);
/** Uniform in [0, 1) with 53 bits. */
double nnv_rng_unit(struct nnv_rng *r);
/** Uniform in [lo, hi). */
double nnv_rng_uniform(struct nnv_rng *r, double lo, double hi);
/** Uniform integer in [lo, hi], unbiased. */
int64_t nnv_rng_int(struct nnv_rng *r, int64_t lo, int64_t hi);
/** Mean 0, variance 1, within +-6: the sum of 12 uniforms less 6 (needs no libm, so equal on any machine). */
double nnv_rng_normal(struct nnv_rng *r);
/** 64-bit hash of a string (FNV-1a, then mixed), for keys. */
uint64_t nnv_hash_str(const char *s);
/** 64-bit hash of bytes. */
uint64_t nnv_hash_bytes(const void *p, uint64_t n);
/**
 * Another one, of large data, in an eighth of the time: four sums side by side, each over every fourth word of eight
 * bytes, the least significant byte first.
 */
uint64_t nnv_hash_words(const void *p, uint64_t n);

#endif
