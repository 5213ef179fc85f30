/* SPDX-License-Identifier: Apache-2.0 */
#include "reference/runtime/plan/pack.h"

#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------ a set */

static uint32_t slot_of(const struct nnv_rt_set *s, const void *item) {
    uint64_t h = (uint64_t)(uintptr_t)item * UINT64_C(0x9e3779b97f4a7c15);
    uint32_t i = (uint32_t)(h >> 32) & (s->slots - 1);
    while (s->table[i] && s->items[s->table[i] - 1] != item) i = (i + 1) & (s->slots - 1);
    return i;
}

static bool grow(struct nnv_rt_set *s) {
    if (s->room > UINT32_MAX / 8) return false;
    uint32_t room = s->room ? s->room * 2 : 8;
    const void **items = realloc(s->items, room * sizeof *items);
    if (!items) return false;
    s->items = items;
    uint32_t *table = calloc(room * 2u, sizeof *table);
    if (!table) return false;
    free(s->table);
    s->table = table;
    s->slots = room * 2;
    s->room = room;
    for (uint32_t i = 0; i < s->count; i++) table[slot_of(s, items[i])] = i + 1;
    return true;
}

uint32_t nnv_rt_set_add(struct nnv_rt_set *s, const void *item, bool *is_new) {
    if (is_new) *is_new = false;
    if (s->count == s->room && !grow(s)) return UINT32_MAX;
    uint32_t i = slot_of(s, item);
    if (s->table[i]) return s->table[i] - 1;
    if (is_new) *is_new = true;
    s->items[s->count] = item;
    s->table[i] = ++s->count;
    return s->count - 1;
}

uint32_t nnv_rt_set_find(const struct nnv_rt_set *s, const void *item) {
    return s->slots ? s->table[slot_of(s, item)] - 1 : UINT32_MAX;
}

void nnv_rt_set_free(struct nnv_rt_set *s) {
    free(s->items);
    free(s->table);
    *s = (struct nnv_rt_set){0};
}

/* ---------------------------------------------------------------- packing */

int nnv_rt_pack_value(struct nnv_rt_pack *p, const void *value, size_t bytes, struct nnvts_location *at) {
    size_t begin = (p->used + 3) / 4 * 4;
    if (begin > UINT32_MAX || bytes > UINT32_MAX - begin) return ANEURALNETWORKS_OUT_OF_MEMORY;
    if (begin + bytes >= p->room) {
        size_t room = (begin + bytes) * 2 + 64;
        uint8_t *grown = realloc(p->values, room);
        if (!grown) return ANEURALNETWORKS_OUT_OF_MEMORY;
        p->values = grown;
        p->room = room;
    }
    memset(p->values + p->used, 0, begin - p->used);
    memcpy(p->values + begin, value, bytes);
    p->used = begin + bytes;
    *at = (struct nnvts_location){.offset = (uint32_t)begin, .length = (uint32_t)bytes};
    return ANEURALNETWORKS_NO_ERROR;
}

int nnv_rt_pack_pool(struct nnv_rt_pack *p, const struct nnvts_memory *pool, struct nnvts_location *at) {
    bool is_new;
    uint32_t i = nnv_rt_set_add(&p->pools, pool->data, &is_new);
    if (i == UINT32_MAX) return ANEURALNETWORKS_OUT_OF_MEMORY;
    if (is_new && i == p->memory_room) {
        uint32_t room = i ? i * 2 : 4;
        struct nnvts_memory *grown = realloc(p->memories, room * sizeof *grown);
        if (!grown) return ANEURALNETWORKS_OUT_OF_MEMORY;
        p->memories = grown;
        p->memory_room = room;
    }
    if (is_new) p->memories[i] = *pool;
    at->pool = i;
    return ANEURALNETWORKS_NO_ERROR;
}

int nnv_rt_pack_operand(struct nnv_rt_pack *p, const struct nnvts_model *from, struct nnvts_operand *o) {
    if (o->lifetime == NNVTS_CONSTANT_COPY)
        return nnv_rt_pack_value(p, (const uint8_t *)from->operand_values + o->location.offset, o->location.length,
                                 &o->location);
    if (o->lifetime == NNVTS_CONSTANT_REFERENCE)
        return nnv_rt_pack_pool(p, &from->pools[o->location.pool], &o->location);
    return ANEURALNETWORKS_NO_ERROR;
}

int nnv_rt_pack_end(struct nnv_rt_pack *p, struct nnv_arena *arena, struct nnvts_model *to) {
    void *values = nnv_arena_copy(arena, p->values, p->used);
    void *pools = nnv_arena_copy(arena, p->memories, p->pools.count * sizeof *p->memories);
    if (!values || !pools) return ANEURALNETWORKS_OUT_OF_MEMORY;
    to->operand_values = values;
    to->operand_values_bytes = (uint32_t)p->used;
    to->pools = pools;
    to->pool_count = p->pools.count;
    return ANEURALNETWORKS_NO_ERROR;
}

void nnv_rt_pack_free(struct nnv_rt_pack *p) {
    free(p->values);
    free(p->memories);
    nnv_rt_set_free(&p->pools);
    *p = (struct nnv_rt_pack){0};
}
