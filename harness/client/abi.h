/* SPDX-License-Identifier: Apache-2.0 */
/** @file abi.h Models as the driver ABI renders them, in memory that the caller provides. */
#ifndef NNV_HARNESS_ABI_H
#define NNV_HARNESS_ABI_H

#include "harness/client/client.h"

/** Constants of more bytes than this lie in a pool. */
enum { NNV_ABI_COPY_MAX = 128 };

/** Bytes of the pool that the model's constants need, guard zones included; 0: it needs no pool. */
size_t nnv_abi_pool_bytes(const struct nnv_model *model);
/**
 * As nnv_abi_model, with the pool given: nnv_abi_pool_bytes() bytes, mapped and 64-aligned at `mapped`. pool (may be
 * NULL if no pool is needed) is copied into the model as it stands. NNV_INVALID if the constants exceed 4 GiB.
 */
NNV_USE_RESULT enum nnv_status nnv_abi_model_at(const struct nnv_model *model, struct nnv_arena *arena,
                                                const struct nnvts_memory *pool, void *mapped, struct nnvts_model *out,
                                                struct nnv_err *err);
/**
 * True if the constants, in the pool at `mapped` and in abi->operand_values, are still the model's and the guard
 * zones around those in the pool are whole. Otherwise reason (room bytes) says what was changed.
 */
bool nnv_abi_constants_whole(const struct nnv_model *model, const struct nnvts_model *abi, const void *mapped,
                             char *reason, size_t room);

#endif
