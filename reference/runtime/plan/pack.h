/* SPDX-License-Identifier: Apache-2.0 */
/** @file pack.h Constants and pools of a model that is put together from others. */
#ifndef NNV_RUNTIME_PACK_H
#define NNV_RUNTIME_PACK_H

#include "base/map.h"
#include "nnvts/driver.h"

/** Zero-initialise; nnv_rt_pack_free(). */
struct nnv_rt_pack {
    uint8_t *values; /**< malloc'ed */
    size_t used, room;
    struct nnv_id_map pools; /**< by their address */
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
