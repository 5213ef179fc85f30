/* SPDX-License-Identifier: Apache-2.0 */
/** @file farmhash.h The hash function of LSH_PROJECTION. */
#ifndef NNV_OPS_FARMHASH_H
#define NNV_OPS_FARMHASH_H

#include <stddef.h>
#include <stdint.h>

/** FarmHash Fingerprint64 (the 64-bit hash of its "na" family) of n bytes; data may be NULL if n is 0. */
uint64_t nnv_farmhash64(const void *data, size_t n);

#endif
