/* SPDX-License-Identifier: Apache-2.0 */
/** @file validate.h Is a model legal, for which feature level, and what shapes do its operands have? */
#ifndef NNV_MODEL_VALIDATE_H
#define NNV_MODEL_VALIDATE_H

#include "reference/model/op.h"

/** Levels of subgraphs below the main one. */
enum { NNV_MAX_NESTING = 64 };

/**
 * Checks the whole model: operands (type, rank, sizes, quantisation, per-channel parameters, lifetimes,
 * constants), subgraph inputs and outputs, order and single writers, every operation against its record, and
 * the shapes it declares against the inferred ones; references among subgraphs: none is missing, none goes in a
 * circle, at most NNV_MAX_NESTING levels, and what IF and WHILE pass fits what the subgraphs take. NNV_INVALID with one
 * precise reason and its place: "operation 3 (CONV_2D): input 1 (filter): rank 5 is above 4". NNV_UNSUPPORTED if an
 * operation code of the API has no record. *level (may be NULL): the lowest feature level whose rules allow the model.
 */
NNV_USE_RESULT enum nnv_status nnv_validate(const struct nnv_model *model, struct nnv_arena *arena, int *level,
                                            struct nnv_err *err);

/**
 * Checks one operand by itself: type, dimensions, size, quantisation, lifetime, constant value. *level is the
 * feature level of its type and shape. Of a SUBGRAPH operand the index is not checked.
 */
NNV_USE_RESULT enum nnv_status nnv_operand_check(const struct nnv_operand *o, int *level, struct nnv_err *err);

/**
 * Checks what an operand is declared to be, before it has a lifetime, a value, or scales of channels: type, dimensions,
 * size, scale and zero point.
 */
NNV_USE_RESULT enum nnv_status nnv_operand_declared(const struct nnv_operand *o, struct nnv_err *err);

/**
 * Binds operation op of subgraph s: finds the form and signature that fit its operands and checks the rules
 * of each slot. shapes: one per operand of s (what is known so far); data: one per operand, its bytes where
 * known, else NULL; present: one per operand, false for omitted inputs (NULL: lifetimes decide).
 * Then asks the record: check, and infer. The out shapes of the call are the inferred ones joined with those in
 * shapes, which must agree. The operand indices of op must exist.
 * *call is arena's. *level (may be NULL) as in nnv_validate.
 */
NNV_USE_RESULT enum nnv_status nnv_bind(const struct nnv_subgraph *s, const struct nnv_operation *op,
                                        const struct nnv_shape *shapes, const void *const *data, const bool *present,
                                        struct nnv_arena *arena, struct nnv_call **call, int *level,
                                        struct nnv_err *err);

/**
 * As nnv_bind(), but checks no more than NNAPI's runtime does when an operation is added: counts, types, some ranks and
 * what enum nnv_early names; no values, which any input may lack.
 */
NNV_USE_RESULT enum nnv_status nnv_bind_signature(const struct nnv_subgraph *s, const struct nnv_operation *op,
                                                  const struct nnv_shape *shapes, struct nnv_arena *arena,
                                                  struct nnv_call **call, int *level, struct nnv_err *err);

/** The shape that an operand declares: extents of 0 are unknown, a tensor of rank 0 has unknown rank. */
struct nnv_shape nnv_operand_shape(const struct nnv_operand *o);

/** Writes inferred *shapes* of all operands of the main subgraph (noperands entries), as much as is known. */
NNV_USE_RESULT enum nnv_status nnv_infer_shapes(const struct nnv_model *model, struct nnv_arena *arena,
                                                struct nnv_shape *shapes, struct nnv_err *err);

#endif
