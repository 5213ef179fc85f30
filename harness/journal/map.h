/* SPDX-License-Identifier: Apache-2.0 */
/** @file map.h Distinct strings, numbered in the order in which they were added. */
#ifndef NNV_REPORTS_MAP_H
#define NNV_REPORTS_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define NNV_MAP_NONE UINT32_MAX

/** Zero-initialise. The keys are borrowed. */
struct nnv_map {
    const char **key; /**< count keys, by number */
    uint32_t count;
    size_t key_cap;
    uint32_t *slot; /**< hash table of numbers; NNV_MAP_NONE: empty */
    size_t slot_cap;
};

/** Forgets all keys and frees the memory. */
void nnv_map_free(struct nnv_map *m);
/** Room for n keys in all, so that adding them moves nothing; false when out of memory. */
bool nnv_map_reserve(struct nnv_map *m, size_t n);
/** The number of key, or NNV_MAP_NONE. */
uint32_t nnv_map_find(const struct nnv_map *m, const char *key);
/** The number of key, added if it is new (then it is the old count). NNV_MAP_NONE when out of memory. */
uint32_t nnv_map_add(struct nnv_map *m, const char *key);

#endif
