/* SPDX-License-Identifier: Apache-2.0 */
/** @file arena.h Memory that lives as long as its owner, and blocks that are used again and again. */
#ifndef CPU_ARENA_H
#define CPU_ARENA_H

#include <stdbool.h>
#include <stddef.h>

enum { CPU_ALIGN = 64 };

struct cpu_chunk;

/** Bump allocation; everything is freed at once. All zero: empty. Not thread-safe. */
struct cpu_arena {
    struct cpu_chunk *first;
    size_t used;
    void *adopted;
    size_t adopted_bytes;
    bool failed; /**< an allocation failed: the owner checks once at the end */
};

/** Zeroed bytes, aligned to CPU_ALIGN, with CPU_ALIGN readable bytes behind; NULL (and failed set) without memory. */
void *cpu_arena_alloc(struct cpu_arena *arena, size_t bytes);
/** As cpu_arena_alloc, but not zeroed. */
void *cpu_arena_raw(struct cpu_arena *arena, size_t bytes);
/** A zeroed array; checked multiplication. */
void *cpu_arena_array(struct cpu_arena *arena, size_t count, size_t size);
/** Makes room for so many bytes in few large pieces: they are not looked for one by one, nor their pages brought one by
 * one. A wish. */
void cpu_arena_reserve(struct cpu_arena *arena, size_t bytes);
/** Takes over what cpu_pages_new() has made, once. */
void cpu_arena_adopt(struct cpu_arena *arena, void *pages, size_t bytes);
/** Frees all. */
void cpu_arena_free(struct cpu_arena *arena);

/** Memory aligned to CPU_ALIGN, not zeroed, in large pages where it is large; NULL without memory. */
void *cpu_pages_new(size_t bytes);
/** bytes: as they were asked for. NULL is allowed. */
void cpu_pages_free(void *pages, size_t bytes);

struct cpu_block {
    void *data;
    size_t capacity;
    bool used;
};

/** Buffers that are kept between executions: in the steady state nothing is allocated. All zero: empty. Not
 * thread-safe. */
struct cpu_blocks {
    struct cpu_block *blocks;
    size_t count;
};

/** At least bytes bytes, not zeroed, aligned to CPU_ALIGN, with CPU_ALIGN bytes of slack behind; NULL without memory.
 */
void *cpu_blocks_get(struct cpu_blocks *blocks, size_t bytes);
/** Gives one back; data of other origin is ignored. */
void cpu_blocks_put(struct cpu_blocks *blocks, const void *data);
/** Gives all back. */
void cpu_blocks_reset(struct cpu_blocks *blocks);
/** Frees all. */
void cpu_blocks_free(struct cpu_blocks *blocks);

#endif
