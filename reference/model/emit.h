/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file emit.h Operations that are checked before they join a model, and what of a model is needed.
 *
 * The front ends (Relay functions, .tflite and .onnx files) build their models with a builder and check each operation
 * alone, so that a refusal can name the part of the foreign graph that it comes from.
 */
#ifndef NNV_MODEL_EMIT_H
#define NNV_MODEL_EMIT_H

#include "reference/model/builder.h"
#include "reference/model/op.h"

/** An operation alone, as a model: operand i is its input i, then its outputs follow. */
struct nnv_lone {
    struct nnv_model model;
    struct nnv_operation operation;
    struct nnv_shape *shapes; /**< of the operands, as declared */
    const void **data;        /**< the bytes of constants, else NULL */
};

/** An operation with these operands of b, isolated; what is not its own is of arena. NNV_NO_MEMORY. */
NNV_USE_RESULT enum nnv_status nnv_emit_isolate(const struct nnv_builder *b, int32_t code, uint32_t nin,
                                                const uint32_t *in, uint32_t nout, const uint32_t *out,
                                                struct nnv_arena *arena, struct nnv_lone *lone, struct nnv_err *err);
/**
 * Checks each operand by itself, then the operation with them by its record. level: the least feature level that it
 * needs; sound (may be NULL): each operand by itself is right.
 */
NNV_USE_RESULT enum nnv_status nnv_emit_check(const struct nnv_lone *lone, struct nnv_arena *arena, int *level,
                                              bool *sound, struct nnv_err *err);

/** What nnv_emit_sweep() left. */
struct nnv_swept {
    uint32_t *number; /**< of each operand that was, or UINT32_MAX: it left */
    uint32_t *was;    /**< by operation: its number before */
};
/**
 * Removes operands that no operation reads or writes and that are neither inputs nor outputs; with dead, first the
 * operations whose results are not read. in and out are renumbered. What *swept holds is of arena. NNV_NO_MEMORY.
 */
NNV_USE_RESULT enum nnv_status nnv_emit_sweep(struct nnv_builder *b, bool dead, uint32_t nin, uint32_t *in,
                                              uint32_t nout, uint32_t *out, struct nnv_arena *arena,
                                              struct nnv_swept *swept, struct nnv_err *err);

#endif
