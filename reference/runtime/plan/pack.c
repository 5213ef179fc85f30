/* SPDX-License-Identifier: Apache-2.0 */
#include "reference/runtime/plan/pack.h"

#include <stdlib.h>
#include <string.h>

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
    const uint32_t known = p->pools.count, i = nnv_id_add(&p->pools, nnv_id(pool->data));
    if (i == NNV_MAP_NONE) return ANEURALNETWORKS_OUT_OF_MEMORY;
    if (i == known && i == p->memory_room) {
        uint32_t room = i ? i * 2 : 4;
        struct nnvts_memory *grown = realloc(p->memories, room * sizeof *grown);
        if (!grown) return ANEURALNETWORKS_OUT_OF_MEMORY;
        p->memories = grown;
        p->memory_room = room;
    }
    if (i == known) p->memories[i] = *pool;
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
    nnv_id_free(&p->pools);
    *p = (struct nnv_rt_pack){0};
}
