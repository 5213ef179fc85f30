/* SPDX-License-Identifier: Apache-2.0 */
/** @file render.h Models as the driver ABI renders them, in memory that the caller provides. */
#ifndef NNV_ABI_RENDER_H
#define NNV_ABI_RENDER_H

#include "base/arena.h"
#include "nnvts/driver.h"
#include "reference/model/model.h"

/** Constants of more bytes than this lie in a pool. */
enum { NNV_ABI_COPY_MAX = 128 };

/** Bytes of the pool that the model's constants need, guard zones included; 0: it needs no pool. */
size_t nnv_abi_pool_bytes(const struct nnv_model *model);
/**
 * The model as the ABI renders it. Constants up to NNV_ABI_COPY_MAX bytes are CONSTANT_COPY in operand_values, larger
 * ones and those marked CONSTANT_REFERENCE lie in a pool: nnv_abi_pool_bytes() bytes, mapped and 64-aligned at
 * `mapped`; pool (may be NULL if no pool is needed) is copied into the model as it stands. All else is arena's, or the
 * model's, which must outlive it. NNV_INVALID beyond 4 GiB of constants.
 */
NNV_USE_RESULT enum nnv_status nnv_abi_model_at(const struct nnv_model *model, struct nnv_arena *arena,
                                                const struct nnvts_memory *pool, void *mapped, struct nnvts_model *out,
                                                struct nnv_err *err);

#endif
