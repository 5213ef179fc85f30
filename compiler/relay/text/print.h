/* SPDX-License-Identifier: Apache-2.0 */
/** @file print.h What the printers of Relay text and of TVMScript share: where each node of a graph is bound. */
#ifndef NNV_COMPILER_RELAY_PRINT_H
#define NNV_COMPILER_RELAY_PRINT_H

#include "compiler/relay/relay.h"

/** A block: a function's body, a branch, or what follows a let. */
struct nnv_print_block {
    struct nnv_print_block *parent;
    size_t depth;
    struct nnv_relay_expr *result;
    struct nnv_relay_expr **nodes; /**< bound here, in evaluation order; room is counted first */
    size_t n, cap;
};

/** What the printer knows of one node of the function being printed. */
struct nnv_print_place {
    struct nnv_print_block *home;
    struct nnv_print_block *inner[2]; /**< the blocks it opens: IF two, LET and FUNCTION one */
    size_t uses;
    uint64_t number;  /**< of its binding; 0: none yet, else one more than the number */
    const char *name; /**< VAR */
};

struct nnv_printer {
    const struct nnv_relay_module *m;
    int flags;
    struct nnv_text *out;
    struct nnv_arena *arena;
    struct nnv_relay_module *taken; /**< names of variables, as operators: index counts how often */
    struct nnv_print_place *places; /**< by id */
    uint64_t next;
    bool dotted;                       /**< a variable's name has a dot, so %x.0 may be a name */
    struct nnv_relay_expr **constants; /**< by their number in the metadata; NULL: of one whose values are unknown */
    size_t n_constants;
    int64_t *constant_number;                             /**< by id; one more than the number */
    bool (*is_literal)(const struct nnv_relay_tensor *t); /**< the constant is written where it is used */
    const char *const *words;                             /**< no name of a variable; NULL-terminated; may be NULL */
};

/** Room for all nodes, and the numbers of the constants: those whose values are unknown keep theirs. False: no memory.
 */
bool nnv_print_start(struct nnv_printer *p);
/** Finds the blocks of a function and what each binds, and names its variables. False: no memory. */
bool nnv_print_blocks(struct nnv_printer *p, struct nnv_relay_expr *function);
/** A name that nothing in the function being printed has, from a hint. NULL: no memory. */
const char *nnv_print_name(struct nnv_printer *p, const char *hint);
/** A value of an attribute as TVMScript; of pairs, as a flat list. */
void nnv_relax_print_value(const struct nnv_relay_value *v, struct nnv_text *out);
void nnv_relax_print_pairs(const struct nnv_relay_value *v, struct nnv_text *out);
/** A type as TVMScript, R.Object for what is not known; the fields of a tuple without the word for it. */
void nnv_relax_print_type(const struct nnv_relay_type *t, struct nnv_text *out);
void nnv_relax_print_types(const struct nnv_relay_type *tuple, struct nnv_text *out);
/** The values of the constants as TVMScript: "metadata = ...". */
void nnv_relax_print_meta(const struct nnv_printer *p);
/** True of what has no operands: it is no binding. */
bool nnv_print_is_leaf(const struct nnv_relay_expr *e);

#endif
