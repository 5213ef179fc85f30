/* SPDX-License-Identifier: Apache-2.0 */
/** @file import.h Models and memory that a caller who is not trusted gives through the driver ABI. */
#ifndef NNV_ABI_IMPORT_H
#define NNV_ABI_IMPORT_H

#include "base/arena.h"
#include "nnvts/driver.h"
#include "reference/model/model.h"

/* ------------------------------------------------------------------- pools */

/** The pools of a model or request, as mapped here. */
struct ref_pool {
    uint8_t *data;
    size_t size;
    uint32_t prot; /**< NNVTS_PROT_* */
    void *mapped;  /**< what is to be unmapped, or NULL */
    size_t mapped_bytes;
    uint32_t token; /**< of device memory, which has no data here; 0: shared memory */
};
struct ref_pools {
    struct ref_pool *item; /**< arena's */
    uint32_t count;
};

/** Maps count pools. INVALID_ARGUMENT for pools that can't be mapped. */
enum nnvts_status ref_map(const struct nnvts_memory *pools, uint32_t count, struct nnv_arena *arena,
                          struct ref_pools *out);
void ref_unmap(struct ref_pools *pools);
/**
 * The bytes at a location, or NULL if it does not lie in its pool, padding and all, prot is not granted there, or it is
 * device memory.
 */
uint8_t *ref_at(const struct ref_pools *pools, const struct nnvts_location *location, uint32_t prot);
/** True if all members are 0, as they are where there is no value. */
bool ref_is_nowhere(const struct nnvts_location *l);

/* ------------------------------------------------------------------- models */

/**
 * Copies a model of a caller that is not trusted: every index, count and location is checked, and INVALID_ARGUMENT if
 * one is wrong. Whether the copy is legal is nnv_validate()'s to say. *extension: it uses codes of extensions.
 */
enum nnvts_status ref_copy(const struct nnvts_model *model, struct nnv_arena *arena, struct nnv_model **out,
                           bool *extension);
/** The bytes of a constant operand of the model; NULL if it is none, or lies in memory that has no pointer. */
const uint8_t *ref_constant(const struct nnvts_model *model, const struct nnvts_operand *o);
/**
 * As ref_copy(), and INVALID_ARGUMENT if the model is not legal; GENERAL_FAILURE, with *out, if it is, as far as known,
 * but holds what this driver does not know.
 */
enum nnvts_status ref_import(const struct nnvts_model *model, struct nnv_arena *arena, struct nnv_model **out);
/** A code of NNAPI's, not of an extension. */
static inline bool ref_is_core(int32_t code) { return code >= 0 && code <= 0xffff; }
/** The operation or one of its operands is of an extension. */
bool ref_uses_extension(const struct nnv_subgraph *s, const struct nnv_operation *op);

#endif
