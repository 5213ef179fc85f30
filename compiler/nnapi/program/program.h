/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file program.h The whole program as a C++ class: its regions one after the other, and what moves data between them.
 *
 * Operators that move elements without looking at them (transpose, concatenate, strided_slice, nn.pad, ...) are told by
 * a table of names alone: the interpreter runs each on the numbers of its operands' elements, and from where these
 * arrive follow the loops that copy them. A result in which every element stays where it was is its operand.
 */
#ifndef NNV_COMPILER_PROGRAM_H
#define NNV_COMPILER_PROGRAM_H

#include "compiler/nnapi/emit/emit.h"

/** Where the bytes of a tensor are. */
enum nnv_program_place { NNV_PROGRAM_INPUT, NNV_PROGRAM_CONSTANT, NNV_PROGRAM_VALUE, NNV_PROGRAM_OUTPUT };

struct nnv_program_tensor {
    enum nnv_program_place place;
    uint32_t number; /**< in its place */
    const struct nnv_relay_type *type;
    const struct nnv_relay_tensor *constant; /**< CONSTANT */
    const char *name;                        /**< of its Relay value, or NULL */
    size_t elems, bytes;
    size_t offset; /**< VALUE: in the room for all of them */
    bool used;     /**< a step reads or writes it */
};

/** One loop of a copy: so many times, with these steps, in elements, in the result and in the operand. */
struct nnv_program_loop {
    int64_t count, to, from;
};

/** A copy of elements, as nested loops; the last is the innermost. */
struct nnv_program_move {
    uint32_t source; /**< number among the operands' tensors */
    int64_t to, from;
    struct nnv_program_loop *loops;
    size_t n_loops;
};

/** Elements of one tensor of a result. */
struct nnv_program_moves {
    struct nnv_program_move *move;
    size_t n;
    bool zeros;  /**< some elements are 0 */
    bool is_all; /**< it is the first move's source, as it is */
};

enum nnv_program_step_kind { NNV_PROGRAM_CALL, NNV_PROGRAM_MOVE, NNV_PROGRAM_CAST };

struct nnv_program_step {
    enum nnv_program_step_kind kind;
    const struct nnv_relay_expr *call; /**< NULL: an output that is an input or a constant */
    size_t region;                     /**< CALL */
    uint32_t *in, *out;                /**< numbers of tensors */
    size_t n_in, n_out;
    struct nnv_program_moves moves; /**< MOVE: of out[0] */
};

struct nnv_program {
    const struct nnv_relay_module *m;
    const struct nnv_emit *regions;
    size_t n_regions;
    struct nnv_program_tensor *tensors;
    struct nnv_program_step *steps;
    uint32_t *inputs, *outputs; /**< numbers of tensors */
    size_t n_tensors, n_steps, n_inputs, n_outputs, n_constants;
    size_t bytes; /**< of all values between */
};

/**
 * What @main of a checked, divided module does, if its regions and what moves data are all of it. All is of arena.
 * NNV_UNSUPPORTED, with all that stands in the way: it computes something on the host, or chooses.
 */
NNV_USE_RESULT enum nnv_status nnv_program_plan(struct nnv_relay_module *m, const struct nnv_emit *regions, size_t n,
                                                struct nnv_arena *arena, struct nnv_program *out, struct nnv_err *err);

/** C++17: the class `program`, program.h and program.cpp. out->failed tells that memory ran out. */
void nnv_program_header(const struct nnv_program *p, struct nnv_text *out);
void nnv_program_source(const struct nnv_program *p, struct nnv_text *out);

/* ---------------------------------------------------------------- parts of the plan */

/** True if the operator moves elements without looking at them: operands from *n_data on must then be constants. */
bool nnv_program_moves(const struct nnv_relay_expr *call, size_t *n_data);
/**
 * Where the elements of each tensor of a call's result come from, results[]: numbers of n_sources tensors, which are
 * the first n_data operands, tuples opened. NNV_UNSUPPORTED: in no regular order.
 */
NNV_USE_RESULT enum nnv_status nnv_program_trace(const struct nnv_relay_expr *call, size_t n_data,
                                                 struct nnv_arena *arena, struct nnv_program_moves **results,
                                                 size_t *n_results, struct nnv_err *err);
/** Tensors of a type, tuples opened. */
size_t nnv_program_tensors(const struct nnv_relay_type *type);

#endif
