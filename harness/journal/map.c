/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/journal/map.h"

#include <stdlib.h>
#include <string.h>

#include "base/rng.h"

void nnv_map_free(struct nnv_map *m) {
    free(m->key);
    free(m->slot);
    *m = (struct nnv_map){0};
}

/** The slot that holds key, or the empty one where it belongs. The table is never full. */
static size_t place(const struct nnv_map *m, const char *key) {
    size_t i = (size_t)nnv_hash_str(key) & (m->slot_cap - 1);
    while (m->slot[i] != NNV_MAP_NONE && strcmp(m->key[m->slot[i]], key) != 0) i = (i + 1) & (m->slot_cap - 1);
    return i;
}

uint32_t nnv_map_find(const struct nnv_map *m, const char *key) {
    return m->slot_cap == 0 ? NNV_MAP_NONE : m->slot[place(m, key)];
}

/** Room for n keys, with at least half of the slots empty. */
static bool make_room(struct nnv_map *m, size_t n) {
    if (n > m->key_cap) {
        size_t cap = m->key_cap == 0 ? 16 : 2 * m->key_cap;
        while (cap < n) cap *= 2;
        const char **key = realloc(m->key, cap * sizeof *key);
        if (key == NULL) return false;
        m->key = key;
        m->key_cap = cap;
    }
    if (2 * n <= m->slot_cap) return true;

    size_t cap = m->slot_cap == 0 ? 32 : 2 * m->slot_cap;
    while (cap < 2 * n) cap *= 2;
    uint32_t *slot = malloc(cap * sizeof *slot);
    if (slot == NULL) return false;
    memset(slot, 0xff, cap * sizeof *slot);
    free(m->slot);
    m->slot = slot;
    m->slot_cap = cap;
    for (uint32_t k = 0; k < m->count; k++) slot[place(m, m->key[k])] = k;
    return true;
}

bool nnv_map_reserve(struct nnv_map *m, size_t n) { return n < NNV_MAP_NONE && make_room(m, n); }

uint32_t nnv_map_add(struct nnv_map *m, const char *key) {
    if (m->count == NNV_MAP_NONE - 1 || !make_room(m, (size_t)m->count + 1)) return nnv_map_find(m, key);
    uint32_t *slot = &m->slot[place(m, key)];
    if (*slot != NNV_MAP_NONE) return *slot;
    m->key[m->count] = key;
    return *slot = m->count++;
}
