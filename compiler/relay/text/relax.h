/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file relax.h Relax, TVM's successor of Relay, as TVMScript: a second text of the same graph. What an operator is
 * called there stands in its record (nnv_relay_op_row.relax).
 */
#ifndef NNV_COMPILER_RELAX_H
#define NNV_COMPILER_RELAX_H

#include "compiler/relay/ops/ops.h"
#include "compiler/relay/text/parse.h"

/* --------------------------------------------------------------- the record */

/** A parameter of the Relax operator. */
struct nnv_relax_param {
    char name[32];
    const struct nnv_relay_attr_row *attr; /**< NULL: an operand, or ignored */
    bool ignored;                          /**< the graph has no word for it */
    const char *value;                     /**< its default where Relay's is another, or the only one that an ignored
                                                parameter may have; NULL: none is said */
    size_t value_len;
};
enum { NNV_RELAX_PARAMS = 16 };

/** How Relax writes a call of an operator. */
struct nnv_relax_form {
    const struct nnv_relay_op_row *row;
    const char *name; /**< without "R."; name_len bytes */
    size_t name_len, n;
    struct nnv_relax_param params[NNV_RELAX_PARAMS];
};

/** The form of a record; false: Relax has no such operator. */
bool nnv_relax_form_of(const struct nnv_relay_op_row *row, struct nnv_relax_form *form);
/** The form of the operator that Relax calls so, without "R."; false: there is no record of it. */
bool nnv_relax_form_find(const char *name, struct nnv_relax_form *form);

/* ------------------------------------------------------------------ reading */

/** A call as it is written: operands and attributes, those without a keyword named "arg<place>". */
struct nnv_relax_call {
    const char *name; /**< without "R." */
    struct nnv_relay_span span;
    struct nnv_relay_expr **args;
    size_t n_args;
    struct nnv_relay_attr *attrs;
    size_t n_attrs;
    const struct nnv_relay_type *type; /**< what the call says of its result, or NULL */
};

/** True if the text is TVMScript: by how its first line that is not blank begins. */
bool nnv_relax_is_script(const char *text, size_t len);
/** The module, from its first token on. */
bool nnv_relax_parse_module(struct nnv_relay_parser *p);
/** The composite that is a function of the module by this name, or NULL. */
struct nnv_relay_expr *nnv_relax_composite(struct nnv_relay_parser *p, const char *name);
/** f is the composite of this name. */
bool nnv_relax_add_composite(struct nnv_relay_parser *p, const char *name, struct nnv_relay_expr *f);
/** Puts the composites that a function calls where it calls them. */
bool nnv_relax_place_composites(struct nnv_relay_parser *p, struct nnv_relay_expr *f);
/** An expression: a name, a constant, a tuple, a call, an element. */
struct nnv_relay_expr *nnv_relax_parse_expr(struct nnv_relay_parser *p);
/** A type: R.Tensor, R.Tuple, or what nnvts does not look into. */
const struct nnv_relay_type *nnv_relax_parse_type(struct nnv_relay_parser *p);
/** The token in hand is the first of its line. */
bool nnv_relax_at_line(const struct nnv_relay_parser *p);

/**
 * What stands for a call of a Relax operator that Relay does not have as one: NULL without an error if nothing does;
 * then it stays an operator that is not known, "relax.<name>".
 */
struct nnv_relay_expr *nnv_relax_lower(struct nnv_relay_parser *p, const struct nnv_relax_call *c);
/** True if nnv_relax_lower() knows the name. */
bool nnv_relax_lowers(const char *name);
/** A call of an operator at a place, with the type that the operator's rule gives it. NULL after an error. */
struct nnv_relay_expr *nnv_relax_make(struct nnv_relay_parser *p, const struct nnv_relay_span *span, const char *op,
                                      size_t n, struct nnv_relay_expr *const *args, size_t n_attrs,
                                      const struct nnv_relay_attr *attrs);
/** A number as a constant without dimensions. NULL after an error. */
struct nnv_relay_expr *nnv_relax_number(struct nnv_relay_parser *p, const struct nnv_relay_span *span,
                                        enum nnv_relay_dtype dtype, const struct nnv_relay_value *value);
/** e with its type found from those of its operands, or the type that is declared. NULL after an error. */
struct nnv_relay_expr *nnv_relax_typed(struct nnv_relay_parser *p, struct nnv_relay_expr *e);

#endif
