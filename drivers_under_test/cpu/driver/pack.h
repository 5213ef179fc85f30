/* SPDX-License-Identifier: Apache-2.0 */
/** @file pack.h Models as bytes: their structure, and apart from it the values of their constants. */
#ifndef CPU_PACK_H
#define CPU_PACK_H

#include "arena.h"
#include "nnvts/driver.h"
#include "packs.h"

/** Bytes that grow. All zero: empty. */
struct cpu_bytes {
    uint8_t *data;
    size_t size, room;
    bool failed; /**< memory ran out */
};

void cpu_bytes_free(struct cpu_bytes *bytes);

/**
 * Appends a model that has been checked, without extensions; pools: where each of model->pools is mapped. The packed
 * weights are to follow the values, which end aligned to CPU_ALIGN; the values of constants that packs hold are left
 * out. False when memory ran out, or values and packed weights take 4 GiB.
 */
bool cpu_pack(const struct nnvts_model *model, const uint8_t *const *pools, const struct cpu_packs *packs,
              struct cpu_bytes *structure, struct cpu_bytes *values);
/**
 * The model again, all constants CONSTANT_COPY: it points into values, all else is arena's; *packed: where among
 * values packed weights begin. A constant that packs hold points at bytes that say nothing. False if the bytes are not
 * what cpu_pack makes; what they say is still to be checked, as with any model.
 */
bool cpu_unpack(const uint8_t *structure, size_t structure_bytes, const uint8_t *values, size_t values_bytes,
                struct cpu_arena *arena, struct nnvts_model *out, size_t *packed);

#endif
