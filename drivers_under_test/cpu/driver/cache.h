/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file cache.h Compilation caching: the model in the model file, its packed weights and the values of other constants
 * in the data file.
 *
 * The model file begins with a header that says who wrote it (format, driver version, build, kernels), for which token,
 * how large both files are, and the digests of both: of the values a sum, which is meant for damage alone. Files are
 * read into private memory first and every byte is verified there before one is used: what happens to the files
 * meanwhile or later does not matter.
 */
#ifndef CPU_CACHE_H
#define CPU_CACHE_H

#include "pack.h"
#include "threads.h"

enum { CPU_CACHE_MODEL_FILES = 1, CPU_CACHE_DATA_FILES = 1 };

/** What a cache depends on beside the model. */
struct cpu_cache_maker {
    const char *version; /**< the driver's */
    const char *isa;     /**< the name of the kernels */
};

/**
 * Writes the cache of a checked model. Where that can't be (a wrong number of files, one that can't be written, a model
 * with extensions) the files are left without a cache, as far as they can be written at all.
 */
void cpu_cache_save(const struct cpu_cache_maker *maker, const struct nnvts_model *model, const uint8_t *const *pools,
                    const struct cpu_packs *packs, const struct nnvts_cache *cache);

/** A private copy of a file. */
struct cpu_file {
    uint8_t *data; /**< of cpu_pages_new(), with CPU_ALIGN bytes more */
    size_t bytes;
};

/** A cache that was read and verified. */
struct cpu_cached {
    struct nnvts_model model;
    struct cpu_arena arena;
    struct cpu_file files[2];
    struct cpu_packs packs; /**< what program_make wants of it */
};
/** Reads on the threads. INVALID_ARGUMENT for a wrong number of files; GENERAL_FAILURE if they are unfit. *out is to be
 * freed on NONE. */
enum nnvts_status cpu_cache_load(const struct cpu_cache_maker *maker, struct cpu_threads *threads,
                                 const struct nnvts_cache *cache, struct cpu_cached *out);
/** The arena takes over what constants and packed weights lie in. */
void cpu_cached_give(struct cpu_cached *cached, struct cpu_arena *arena);
void cpu_cached_free(struct cpu_cached *cached);

#endif
