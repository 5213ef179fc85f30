/* SPDX-License-Identifier: Apache-2.0 */
/** @file reference.h The driver "reference": the golden kernels behind the driver ABI. */
#ifndef NNVTS_REFERENCE_H
#define NNVTS_REFERENCE_H

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
};
struct ref_pools {
    struct ref_pool *item; /**< arena's */
    uint32_t count;
};

/** Maps count pools; writable: for outputs. INVALID_ARGUMENT for device memory and for pools that can't be mapped. */
enum nnvts_status ref_map(const struct nnvts_memory *pools, uint32_t count, struct nnv_arena *arena,
                          struct ref_pools *out);
void ref_unmap(struct ref_pools *pools);
/** The bytes at a location, or NULL if it does not lie in its pool, padding and all, or prot is not granted there. */
uint8_t *ref_at(const struct ref_pools *pools, const struct nnvts_location *location, uint32_t prot);
/** True if all members are 0, as they are where there is no value. */
bool ref_is_nowhere(const struct nnvts_location *l);

/* ------------------------------------------------------------------- models */

/**
 * Copies a model of a caller that is not trusted: every index, count and location is checked. INVALID_ARGUMENT if one
 * is wrong or the model is not legal; GENERAL_FAILURE, with *out, if it is, as far as known, but holds what this driver
 * does not know.
 */
enum nnvts_status ref_import(const struct nnvts_model *model, struct nnv_arena *arena, struct nnv_model **out);

/** A code of NNAPI's, not of an extension. */
static inline bool ref_is_core(int32_t code) { return code >= 0 && code <= 0xffff; }
/** The operation or one of its operands is of an extension. */
bool ref_uses_extension(const struct nnv_subgraph *s, const struct nnv_operation *op);

/* --------------------------------------------------------------- executions */

struct ref_prepared {
    struct nnvts_prepared_model base;
    struct nnv_arena *arena; /**< of the model */
    struct nnv_model *model;
};

/** A request bound to a prepared model: checked, its memory mapped. */
struct ref_execution;

/** INVALID_ARGUMENT for a request that breaks a rule. The request's structs are copied, its memory is not. */
enum nnvts_status ref_bind(struct ref_prepared *prepared, const struct nnvts_request *request,
                           const struct nnvts_execution_config *config, struct ref_execution **out);
/** Executes what is bound; may be repeated, one at a time. */
enum nnvts_status ref_run(struct ref_execution *execution, struct nnvts_execution_result *result);
/** NNVTS_NO_TIME: none. */
void ref_set_deadline(struct ref_execution *execution, uint64_t deadline_ns);
/** True if the request and the model leave no output shape open, and no output is empty. */
bool ref_is_fenceable(const struct ref_execution *execution);
void ref_unbind(struct ref_execution *execution);

/** A prepared model with all ways to execute; takes the arena and the model in it. NULL when out of memory. */
struct nnvts_prepared_model *ref_prepared_new(struct nnv_arena *arena, struct nnv_model *model);

#endif
