/* SPDX-License-Identifier: Apache-2.0 */
#include "base/map.h"

#include <stdlib.h>
#include <string.h>

enum { FIRST_SLOTS = 32, FIRST_KEYS = FIRST_SLOTS / 2 };

/* ---------------------------------------------------------------------- index */

/* Puts the slot's content where its hash says. The table is never full. */
static void place(uint64_t *slot, size_t cap, uint64_t content) {
    size_t at = (size_t)(content >> 32) & (cap - 1);
    while (slot[at] != 0) at = (at + 1) & (cap - 1);
    slot[at] = content;
}

bool nnv_index_reserve(struct nnv_index *ix, size_t n) {
    if (n <= ix->cap / 2) return true;
    if (n >= NNV_MAP_NONE) return false;
    size_t cap = ix->cap ? 2 * ix->cap : FIRST_SLOTS;
    while (cap / 2 < n) cap *= 2;
    uint64_t *slot = ix->arena ? NNV_NEW(ix->arena, uint64_t, cap) : calloc(cap, sizeof *slot);
    if (!slot) return false;
    for (size_t i = 0; i < ix->cap; i++)
        if (ix->slot[i] != 0) place(slot, cap, ix->slot[i]);
    if (!ix->arena) free(ix->slot);
    ix->slot = slot;
    ix->cap = cap;
    return true;
}

/* The half of the hash that a slot keeps, and that says where the slot is. */
static uint32_t half(uint64_t hash) { return (uint32_t)(hash ^ hash >> 32); }

uint32_t nnv_index_next(const struct nnv_index *ix, uint64_t hash, size_t *at) {
    if (ix->cap == 0) return NNV_MAP_NONE;
    for (;;) {
        uint64_t content = ix->slot[(half(hash) + *at) & (ix->cap - 1)];
        if (content == 0) return NNV_MAP_NONE;
        ++*at;
        if (content >> 32 == half(hash)) return (uint32_t)content - 1;
    }
}

uint32_t nnv_index_add(struct nnv_index *ix, uint64_t hash) {
    if (!nnv_index_reserve(ix, (size_t)ix->count + 1)) return NNV_MAP_NONE;
    place(ix->slot, ix->cap, (uint64_t)half(hash) << 32 | (ix->count + 1));
    return ix->count++;
}

void nnv_index_free(struct nnv_index *ix) {
    if (!ix->arena) free(ix->slot);
    *ix = (struct nnv_index){.arena = ix->arena};
}

/* Makes room for n keys of `bytes` bytes each beside the index; NULL when out of memory. */
static void *keys_reserve(struct nnv_index *ix, struct nnv_arena *arena, void *keys, size_t *cap, size_t n,
                          size_t bytes) {
    ix->arena = arena;
    if (!nnv_index_reserve(ix, n)) return NULL;
    if (n <= *cap) return keys;
    size_t more = *cap ? 2 * *cap : FIRST_KEYS;
    while (more < n) more *= 2;
    void *grown = arena ? nnv_arena_alloc(arena, more, bytes) : realloc(keys, more * bytes);
    if (!grown) return NULL;
    if (arena && keys) memcpy(grown, keys, *cap * bytes);
    *cap = more;
    return grown;
}

/* -------------------------------------------------------------------- strings */

/* A hash of this process alone, eight bytes at a time. */
static uint64_t hash_text(const char *key, size_t len) {
    const uint64_t odd = UINT64_C(0x9e3779b97f4a7c15);
    uint64_t hash = len, word;
    for (; len >= sizeof word; len -= sizeof word, key += sizeof word) {
        memcpy(&word, key, sizeof word);
        hash = (hash ^ word) * odd;
        hash ^= hash >> 32;
    }
    word = 0;
    memcpy(&word, key, len);
    hash = (hash ^ word) * odd;
    return hash ^ hash >> 29;
}

bool nnv_map_reserve(struct nnv_map *m, size_t n) {
    const char **key = keys_reserve(&m->index, m->arena, m->key, &m->cap, n, sizeof *key);
    if (key) m->key = key;
    return key || n == 0;
}

static uint32_t find(const struct nnv_map *m, const char *key, size_t len, uint64_t hash) {
    size_t at = 0;
    for (uint32_t k; (k = nnv_index_next(&m->index, hash, &at)) != NNV_MAP_NONE;)
        if (strncmp(m->key[k], key, len) == 0 && m->key[k][len] == '\0') return k;
    return NNV_MAP_NONE;
}

uint32_t nnv_map_find_n(const struct nnv_map *m, const char *key, size_t len) {
    return find(m, key, len, hash_text(key, len));
}

uint32_t nnv_map_find(const struct nnv_map *m, const char *key) { return nnv_map_find_n(m, key, strlen(key)); }

uint32_t nnv_map_add(struct nnv_map *m, const char *key) {
    size_t len = strlen(key);
    uint64_t hash = hash_text(key, len);
    uint32_t k = find(m, key, len, hash);
    if (k != NNV_MAP_NONE || !nnv_map_reserve(m, (size_t)m->count + 1)) return k;
    m->key[m->count++] = key;
    return nnv_index_add(&m->index, hash);
}

bool nnv_map_put(struct nnv_map *m, const char *key, void *value) {
    const uint32_t k = nnv_map_add(m, key);
    if (k == NNV_MAP_NONE || !nnv_grow(m->arena, &m->value, k, &m->values, sizeof *m->value)) return false;
    m->value[k] = value;
    return true;
}

void nnv_map_free(struct nnv_map *m) {
    if (!m->arena) free(m->value);
    if (!m->arena) free(m->key);
    nnv_index_free(&m->index);
    *m = (struct nnv_map){.arena = m->arena};
}

/* ------------------------------------------------------- integers and addresses */

static uint64_t hash_of(uint64_t key) {
    key = (key ^ key >> 32) * UINT64_C(0x9e3779b97f4a7c15);
    return key ^ key >> 29;
}

uint32_t nnv_id_find(const struct nnv_id_map *m, uint64_t key) {
    size_t at = 0;
    for (uint32_t k; (k = nnv_index_next(&m->index, hash_of(key), &at)) != NNV_MAP_NONE;)
        if (m->item[k].key == key) return k;
    return NNV_MAP_NONE;
}

uint32_t nnv_id_add(struct nnv_id_map *m, uint64_t key) {
    uint32_t k = nnv_id_find(m, key);
    if (k != NNV_MAP_NONE) return k;
    struct nnv_id_item *item = keys_reserve(&m->index, m->arena, m->item, &m->cap, (size_t)m->count + 1, sizeof *item);
    if (!item) return NNV_MAP_NONE;
    m->item = item;
    m->item[m->count++] = (struct nnv_id_item){.key = key};
    return nnv_index_add(&m->index, hash_of(key));
}

void *nnv_id_get(const struct nnv_id_map *m, uint64_t key) {
    uint32_t k = nnv_id_find(m, key);
    return k != NNV_MAP_NONE ? m->item[k].value : NULL;
}

bool nnv_id_put(struct nnv_id_map *m, uint64_t key, void *value) {
    uint32_t k = nnv_id_add(m, key);
    if (k != NNV_MAP_NONE) m->item[k].value = value;
    return k != NNV_MAP_NONE;
}

void nnv_id_free(struct nnv_id_map *m) {
    if (!m->arena) free(m->item);
    nnv_index_free(&m->index);
    *m = (struct nnv_id_map){.arena = m->arena};
}
