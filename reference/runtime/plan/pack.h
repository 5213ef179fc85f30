/* SPDX-License-Identifier: Apache-2.0 */
/** @file pack.h Constants and pools of a model that is put together from others. */
#ifndef NNV_RUNTIME_PACK_H
#define NNV_RUNTIME_PACK_H

#include "base/arena.h"
#include "nnvts/driver.h"

/** Numbers pointers in the order in which they come. Zero-initialise; nnv_rt_set_free(). */
struct nnv_rt_set {
    const void **items;
    uint32_t count, room;
    uint32_t *table; /**< open addressing: number + 1 of the pointer, 0 free */
    uint32_t slots;  /**< a power of two, or 0 */
};
/** The number of a pointer; *is_new (may be NULL) tells whether it came now. UINT32_MAX when out of memory. */
uint32_t nnv_rt_set_add(struct nnv_rt_set *s, const void *item, bool *is_new);
/** The number of a pointer that is in the set, else UINT32_MAX. */
uint32_t nnv_rt_set_find(const struct nnv_rt_set *s, const void *item);
void nnv_rt_set_free(struct nnv_rt_set *s);

/** Zero-initialise; nnv_rt_pack_free(). */
struct nnv_rt_pack {
    uint8_t *values; /**< malloc'ed */
    size_t used, room;
    struct nnv_rt_set pools; /**< by their address */
    struct nnvts_memory *memories;
    uint32_t memory_room;
};
/** Appends a CONSTANT_COPY value and locates it. A result code. */
int nnv_rt_pack_value(struct nnv_rt_pack *p, const void *value, size_t bytes, struct nnvts_location *at);
/** Appends the pool unless it is there, and locates a value in it. A result code. */
int nnv_rt_pack_pool(struct nnv_rt_pack *p, const struct nnvts_memory *pool, struct nnvts_location *at);
/** Takes the constant of an operand that was copied from a model. A result code. */
int nnv_rt_pack_operand(struct nnv_rt_pack *p, const struct nnvts_model *from, struct nnvts_operand *o);
/** Gives the model its values and pools, arena's. A result code. */
int nnv_rt_pack_end(struct nnv_rt_pack *p, struct nnv_arena *arena, struct nnvts_model *to);
void nnv_rt_pack_free(struct nnv_rt_pack *p);

#endif
