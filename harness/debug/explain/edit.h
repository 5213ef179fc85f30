/* SPDX-License-Identifier: Apache-2.0 */
/** @file edit.h Making the model of a spec wrong, one use of an operation at a time. */
#ifndef NNV_EXPLAIN_EDIT_H
#define NNV_EXPLAIN_EDIT_H

#include "reference/model/op.h"

/** A copy of a spec that may be changed; the operations come into one's hand from the last to the first. */
struct nnv_edit {
    struct nnv_arena *arena;
    struct nnv_spec spec;
    const struct nnv_call *call; /**< the operation in hand, as it was bound in the original */
    uint32_t at;                 /**< its index */
    uint32_t operand_room, operation_room;
    bool failed; /**< out of memory: the copy is of no use */
};

/** Binds all operations of the spec's main subgraph: (*calls)[i] is that of operation i. All is arena's. */
NNV_USE_RESULT enum nnv_status nnv_edit_calls(const struct nnv_spec *spec, struct nnv_arena *arena,
                                              struct nnv_call ***calls, struct nnv_err *err);
/** Copies the spec, arena's; all shapes that operations compute become unknown, so that changes may change them. */
void nnv_edit_begin(struct nnv_edit *e, const struct nnv_spec *spec, struct nnv_arena *arena);
/** The operation in hand. */
struct nnv_operation *nnv_edit_op(struct nnv_edit *e);
/** Position of the input that the record calls name (the first of a repeated one); -1: none, absent or omitted. */
int nnv_edit_find(const struct nnv_edit *e, const char *name);
/** The operand at input pos. Valid until one is added. */
struct nnv_operand *nnv_edit_operand(struct nnv_edit *e, int pos);
/** The operand at input pos, of this use alone if it is a constant: other uses keep theirs. */
struct nnv_operand *nnv_edit_own(struct nnv_edit *e, int pos);
/** True if input pos is a constant or an input of the model, so that its value and encoding may be changed. */
bool nnv_edit_known(struct nnv_edit *e, int pos);
/** The value of input pos as stored numbers, *n of them, arena's; NULL if it is not known (or memory ran out). */
double *nnv_edit_numbers(struct nnv_edit *e, int pos, size_t *n);
/** Gives input pos, which is known, n stored numbers as its value: as many as it had. */
void nnv_edit_set_numbers(struct nnv_edit *e, int pos, const double *v, size_t n);
/** Gives input pos, a constant, a tensor of these extents. */
void nnv_edit_reshape(struct nnv_edit *e, int pos, uint32_t rank, const uint32_t *dims, const double *v);
/** Adds an operand; returns its index. */
uint32_t nnv_edit_add(struct nnv_edit *e, struct nnv_operand o);
/** Adds a constant INT32 scalar; returns its index. */
uint32_t nnv_edit_add_int(struct nnv_edit *e, int32_t v);
/** Puts count inputs in the place of the input at pos. */
void nnv_edit_replace(struct nnv_edit *e, int pos, const uint32_t *with, uint32_t count);
/** Puts a unary operation before input 0: code, its further inputs, count of them. */
void nnv_edit_insert(struct nnv_edit *e, int32_t code, const uint32_t *more, uint32_t count);

#endif
