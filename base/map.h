/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file map.h Hash tables: nnv_map of strings, nnv_id_map of integers and addresses. Both number their keys in the
 * order in which they were added, and keep a pointer for each. nnv_index is the open addressing beneath, for callers
 * that keep and compare the keys themselves.
 *
 * Zero-initialise each; with arena set, memory comes from there, outgrown tables stay in it, and freeing does nothing.
 */
#ifndef NNV_BASE_MAP_H
#define NNV_BASE_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"

#define NNV_MAP_NONE UINT32_MAX

/** Numbers 0, 1, 2 and so on, found again by the hash of what they stand for. */
struct nnv_index {
    struct nnv_arena *arena; /**< NULL: malloc */
    uint64_t *slot;          /**< upper half of the hash, lower half number + 1; 0: empty */
    size_t cap;              /**< a power of two, at least twice count */
    uint32_t count;
};

/** Room for n numbers in all, so that adding them cannot fail; false when out of memory. */
bool nnv_index_reserve(struct nnv_index *ix, size_t n);
/**
 * The numbers added with hash, one a call, then NNV_MAP_NONE; *at is 0 before the first call. Another hash may slip in
 * where the upper halves agree: the caller compares what the number stands for.
 */
uint32_t nnv_index_next(const struct nnv_index *ix, uint64_t hash, size_t *at);
/** A new number, the old count. NNV_MAP_NONE when out of memory. */
uint32_t nnv_index_add(struct nnv_index *ix, uint64_t hash);
void nnv_index_free(struct nnv_index *ix);

/** Distinct strings. The keys are borrowed. */
struct nnv_map {
    struct nnv_arena *arena; /**< NULL: malloc */
    const char **key;        /**< count keys, by number */
    void **value;            /**< of the first keys: nnv_map_value() */
    uint32_t count;
    size_t cap, values; /**< room of key, and of value */
    struct nnv_index index;
};

/** Room for n keys in all, so that adding them moves nothing; false when out of memory. */
bool nnv_map_reserve(struct nnv_map *m, size_t n);
/** The number of key, or NNV_MAP_NONE. */
uint32_t nnv_map_find(const struct nnv_map *m, const char *key);
/** The same for the len bytes at key, which need no terminator. */
uint32_t nnv_map_find_n(const struct nnv_map *m, const char *key, size_t len);
/** The number of key, added if it is new (then it is the old count). NNV_MAP_NONE when out of memory. */
uint32_t nnv_map_add(struct nnv_map *m, const char *key);
/** The value of key number k: NULL unless nnv_map_put() has set it. */
static inline void *nnv_map_value(const struct nnv_map *m, uint32_t k) { return k < m->values ? m->value[k] : NULL; }
/** Sets the value of key, old or new; false when out of memory. */
bool nnv_map_put(struct nnv_map *m, const char *key, void *value);
/** Forgets all keys and frees the memory. */
void nnv_map_free(struct nnv_map *m);

/** Distinct 64-bit numbers; the address of an object is one, too: nnv_id(). */
struct nnv_id_map {
    struct nnv_arena *arena; /**< NULL: malloc */
    struct nnv_id_item {
        uint64_t key;
        void *value;
    } * item; /**< count of them, by number */
    uint32_t count;
    size_t cap;
    struct nnv_index index;
};

/** The address as a key. */
static inline uint64_t nnv_id(const void *p) { return (uint64_t)(uintptr_t)p; }

/** The number of key, or NNV_MAP_NONE. */
uint32_t nnv_id_find(const struct nnv_id_map *m, uint64_t key);
/** The number of key, added with the value NULL if it is new (then it is the old count). NNV_MAP_NONE: no memory. */
uint32_t nnv_id_add(struct nnv_id_map *m, uint64_t key);
/** The value of key; NULL if there is none. */
void *nnv_id_get(const struct nnv_id_map *m, uint64_t key);
/** Sets the value of key, old or new; false when out of memory. */
bool nnv_id_put(struct nnv_id_map *m, uint64_t key, void *value);
/** Forgets all keys and frees the memory. */
void nnv_id_free(struct nnv_id_map *m);

#endif
