/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file packs.h Packed weights as a program keeps them and a cache stores them: the same bytes, so that loading is
 * reading. A constant that all its readers have packed is not kept, nor stored.
 */
#ifndef CPU_PACKS_H
#define CPU_PACKS_H

#include <stdint.h>

#include "arena.h"
#include "threads.h"

/** What stands before packed weights, without padding. */
struct cpu_pack {
    uint32_t form;
    int32_t correction;
    uint64_t bytes; /**< of the weights, which follow; what fills them up to CPU_ALIGN is 0 */
    uint8_t unused[CPU_ALIGN - 16];
};
_Static_assert(sizeof(struct cpu_pack) == CPU_ALIGN, "packed weights are aligned, and all bytes of them are written");

/** The packed weights of one model, in the order in which its operations ask for them. */
struct cpu_packs {
    struct cpu_arena *arena;     /**< the model's: new ones are made there */
    struct cpu_threads *threads; /**< that new ones are made on */
    uint8_t *at;                 /**< those of a cache, in memory that the model keeps; NULL: all are made anew */
    size_t left;                 /**< bytes from `at` on */
    bool unfit;                  /**< those of the cache are not what is asked for */
    bool *held;                  /**< per tensor of the model: a constant that all its readers have packed */
    struct cpu_pack **made;      /**< in order */
    size_t made_count, bytes;    /**< bytes: of all that were made, as they are stored */
};

/** Room for so many bytes of packed weights, behind what is returned; NULL without memory. */
struct cpu_pack *cpu_packs_new(struct cpu_packs *packs, size_t bytes);
/** The next one of the cache; NULL, and packs->unfit, if there is none. */
struct cpu_pack *cpu_packs_next(struct cpu_packs *packs);
/** As many bytes as it takes where it is stored. */
size_t cpu_pack_stored_bytes(const struct cpu_pack *pack);
static inline void *cpu_pack_weights(struct cpu_pack *pack) { return pack + 1; }
void cpu_packs_free(struct cpu_packs *packs);

#endif
