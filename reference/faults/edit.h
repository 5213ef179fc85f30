/* SPDX-License-Identifier: Apache-2.0 */
/** @file edit.h The model editor: a copy of a spec that may be changed, one use of an operation at a time. */
#ifndef NNV_FAULTS_EDIT_H
#define NNV_FAULTS_EDIT_H

#include "reference/model/op.h"

/** Entries by which a list of indices, extents or scales may grow. */
enum { NNV_EDIT_ROOM = 4 };

/** All that the copy's main subgraph lists is its own; values are shared until they are replaced. */
struct nnv_edit {
    struct nnv_arena *arena;
    struct nnv_spec spec;        /**< inputs NULL: of the inputs only the operands are known */
    const struct nnv_call *call; /**< the operation in hand, as it was bound in the original */
    uint32_t at;                 /**< its index */
    uint32_t operand_room, operation_room;
    bool open;   /**< shapes of what operations compute are unknown */
    bool failed; /**< out of memory: the copy is of no use */
};

/** Binds all operations of the spec's main subgraph: (*calls)[i] is that of operation i. All is arena's. */
NNV_USE_RESULT enum nnv_status nnv_edit_calls(const struct nnv_spec *spec, struct nnv_arena *arena,
                                              struct nnv_call ***calls, struct nnv_err *err);
/** Copies the spec, arena's. */
void nnv_edit_begin(struct nnv_edit *e, const struct nnv_spec *spec, struct nnv_arena *arena);
/** All shapes that operations compute become unknown, so that changes may change them. */
void nnv_edit_open_shapes(struct nnv_edit *e);
/** A copy of count elements with room for more; NULL, and failed set, when out of memory. */
void *nnv_edit_copy(struct nnv_edit *e, const void *from, size_t count, size_t room, size_t size);
/** The operation in hand. */
struct nnv_operation *nnv_edit_op(struct nnv_edit *e);
/** Position of the input that the record calls name (the first of a repeated one); -1: none, absent or omitted. */
int nnv_edit_find(const struct nnv_edit *e, const char *name);
/** The operand at input pos. Valid until one is added. */
struct nnv_operand *nnv_edit_operand(struct nnv_edit *e, int pos);
/** The operand at input pos, of this use alone if it is a constant: other uses keep theirs. */
struct nnv_operand *nnv_edit_own(struct nnv_edit *e, int pos);
/** True if input pos is a constant or an input of the model, so that its encoding may be changed. */
bool nnv_edit_known(struct nnv_edit *e, int pos);
/** The value of input pos as stored numbers, *n of them, arena's; NULL if it is not known (or memory ran out). */
double *nnv_edit_numbers(struct nnv_edit *e, int pos, size_t *n);
/** Gives input pos, which is known, n stored numbers as its value: as many as it had. */
void nnv_edit_set_numbers(struct nnv_edit *e, int pos, const double *v, size_t n);
/** Gives input pos, a constant, a value of as many bytes as it has. */
void nnv_edit_set_bytes(struct nnv_edit *e, int pos, const void *value);
/** Gives input pos, a constant, a tensor of these extents. */
void nnv_edit_reshape(struct nnv_edit *e, int pos, uint32_t rank, const uint32_t *dims, const double *v);
/** Adds a copy of the operand, with lists of its own; returns its index. */
uint32_t nnv_edit_add(struct nnv_edit *e, struct nnv_operand o);
/** Adds a constant INT32 scalar; returns its index. */
uint32_t nnv_edit_add_int(struct nnv_edit *e, int32_t v);
/** Adds a copy of operation `like`, with lists of its own; NULL, and failed set, when out of memory. */
struct nnv_operation *nnv_edit_add_operation(struct nnv_edit *e, const struct nnv_operation *like);
/** Puts count inputs in the place of the input at pos. */
void nnv_edit_replace(struct nnv_edit *e, int pos, const uint32_t *with, uint32_t count);
/** Adds a constant of these extents and stored numbers, of the type and encoding of `like`; returns its index. */
uint32_t nnv_edit_add_constant(struct nnv_edit *e, struct nnv_operand like, uint32_t rank, const uint32_t *dims,
                               const double *v);
/** Puts the operation before the one in hand, which stays in hand. */
void nnv_edit_put_before(struct nnv_edit *e, struct nnv_operation op);
/** Puts a unary operation before input 0: code, its further inputs, count of them, the shape of its result. */
void nnv_edit_insert(struct nnv_edit *e, int32_t code, const uint32_t *more, uint32_t count,
                     const struct nnv_shape *shape);
/** Takes operand `index` out of a list of n; the new n. */
uint32_t nnv_edit_drop(uint32_t *list, uint32_t n, uint32_t index);
/** Makes of the operation one that hands operand `index` on, a RESHAPE; false if its output is of another shape. */
bool nnv_edit_hand_on(struct nnv_edit *e, uint32_t index, const struct nnv_shape *shape);
/**
 * By how many elements one moves in s along each axis of a shape that it is, or is broadcast to; 0: not at all. False
 * if it is neither. s is known.
 */
bool nnv_shape_steps(const struct nnv_shape *s, uint32_t rank, const uint32_t *dims, size_t step[NNV_MAX_RANK]);

#endif
