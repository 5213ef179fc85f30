/* SPDX-License-Identifier: Apache-2.0 */
/** @file abi.h Models as the driver ABI renders them, in memory that the caller provides. */
#ifndef NNV_CLIENT_ABI_H
#define NNV_CLIENT_ABI_H

#include "harness/client/verify.h"
#include "reference/abi/render.h"

/**
 * The model as the ABI renders it. Constants that do not lie in operand_values lie in a pool of this kind, which the
 * caller frees: *constants, zeros where none is needed. All else is arena's, or the model's, which must outlive it.
 * NNV_INVALID beyond 4 GiB of constants.
 */
NNV_USE_RESULT enum nnv_status nnv_abi_model(const struct nnv_model *model, struct nnv_arena *arena,
                                             enum nnv_pool_kind kind, struct nnvts_model *out,
                                             struct nnv_abi_pool *constants, struct nnv_err *err);
/**
 * True if the constants, in the first pool at `mapped`, in other pools and in abi->operand_values, are still the
 * model's and the guard zones around those in pools are whole; else *b says what the driver did.
 */
bool nnv_verify_constants(const struct nnv_model *model, const struct nnvts_model *abi, const void *mapped,
                          struct nnv_breach *b);

#endif
