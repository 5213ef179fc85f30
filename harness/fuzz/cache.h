/* SPDX-License-Identifier: Apache-2.0 */
/** @file cache.h Compilation caches that were damaged behind the driver's back. */
#ifndef NNV_FUZZ_CACHE_H
#define NNV_FUZZ_CACHE_H

#include "harness/fuzz/image.h"

/** Cache files of one model. Zero-initialise. */
struct nnv_fuzz_cache {
    struct nnvts_cache files;
    int fd[2 * NNVTS_MAX_CACHE_FILES]; /**< model files, then data files */
    uint32_t count;
};

/** True if the input mutates the cache and the driver caches. */
bool nnv_fuzz_cache_wanted(const struct nnvts_device *device, const struct nnv_fuzz_input *input);
/** Empty files, as many as the driver wants. False if there are none to be had. */
bool nnv_fuzz_cache_open(struct nnv_fuzz_cache *c, const struct nnvts_device *device);
/** Applies the mutations of the cache. */
void nnv_fuzz_cache_damage(struct nnv_fuzz_cache *c, const struct nnv_fuzz_input *input);
/** Closes the files. */
void nnv_fuzz_cache_close(struct nnv_fuzz_cache *c);

#endif
