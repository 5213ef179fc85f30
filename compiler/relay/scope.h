/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file scope.h In which scope each expression of a function lies: the function's body, the body of a closure, or a
 * branch of an if. An expression of a text lies where it is written; one that has no place in a text, in the innermost
 * scope that holds all its uses.
 */
#ifndef NNV_COMPILER_SCOPE_H
#define NNV_COMPILER_SCOPE_H

#include "compiler/relay/relay.h"

struct nnv_scope {
    const struct nnv_scope *up;         /**< NULL: the body of the function */
    const struct nnv_relay_expr *owner; /**< the IF, LET or FUNCTION that it is a part of, in the scope up */
    uint32_t depth, number;             /**< number: each its own within the function, from 0 */
};

/** One function in evaluation order, with all that the passes ask of it. */
struct nnv_scoped {
    struct nnv_relay_expr *function;
    struct nnv_relay_list list; /**< from its body, in evaluation order; composites are not entered */
    struct nnv_relay_uses uses;
    const struct nnv_scope **of; /**< by id of the expression; NULL: it is not in the list */
    uint32_t n_ids;              /**< ids known to of */
    uint32_t n_scopes;
};

/** A function literal that was made by a pass, whose body is not looked at again: it has Composite or Compiler. */
bool nnv_scope_closed(const struct nnv_relay_expr *e);

/** Orders the body of function and finds the scopes. All is of arena. */
NNV_USE_RESULT enum nnv_status nnv_scope_find(const struct nnv_relay_module *m, struct nnv_relay_expr *function,
                                              struct nnv_arena *arena, struct nnv_scoped *out, struct nnv_err *err);
/**
 * The expression of scope through which user belongs to it: user itself if it lies in scope, else the closure or if
 * in scope whose body holds it. NULL: user lies outside scope.
 */
const struct nnv_relay_expr *nnv_scope_user(const struct nnv_scoped *s, const struct nnv_relay_expr *user,
                                            const struct nnv_scope *scope);

#endif
