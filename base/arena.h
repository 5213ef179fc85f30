/* SPDX-License-Identifier: Apache-2.0 */
/** @file arena.h Memory that is freed all at once. One arena a case: models and cases have no free function. */
#ifndef NNV_BASE_ARENA_H
#define NNV_BASE_ARENA_H

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"

struct nnv_arena;

/** A new, empty arena; NULL when out of memory. Owned by the caller: nnv_arena_free(). */
struct nnv_arena *nnv_arena_new(void);
/** Frees the arena and all that was allocated from it. NULL is allowed. */
void nnv_arena_free(struct nnv_arena *a);
/** Forgets all allocations and keeps the memory for the next case. */
void nnv_arena_reset(struct nnv_arena *a);
/**
 * count * size zeroed bytes, aligned to 64; NULL when out of memory or when the product overflows.
 * A count of 0 gives a valid, unique pointer.
 */
void *nnv_arena_alloc(struct nnv_arena *a, size_t count, size_t size);
/** A copy of size bytes; NULL when out of memory. src may be NULL if size is 0. */
void *nnv_arena_copy(struct nnv_arena *a, const void *src, size_t size);
/** A copy of the string; NULL when out of memory. */
char *nnv_arena_strdup(struct nnv_arena *a, const char *s);
/** A formatted string; NULL when out of memory. */
char *nnv_arena_printf(struct nnv_arena *a, const char *fmt, ...) NNV_PRINTF(2, 3);
/**
 * Room for one more element behind n in the array that *array points to, of *cap elements: at least twice as many, the
 * new ones zero; of arena a, or with NULL of malloc. False when out of memory: all is as before.
 */
bool nnv_grow(struct nnv_arena *a, void *array, size_t n, size_t *cap, size_t size);
/** Bytes handed out since the last reset. */
size_t nnv_arena_used(const struct nnv_arena *a);

/** Bytes of malloc, aligned to 64 and not zeroed, which a large block has in as few pages as it can; NULL: no memory.
 */
void *nnv_large_alloc(size_t bytes);

/** n zeroed elements of type from arena a. */
#define NNV_NEW(a, type, n) ((type *)nnv_arena_alloc((a), (n), sizeof(type)))

#endif
