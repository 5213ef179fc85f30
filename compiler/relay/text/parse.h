/* SPDX-License-Identifier: Apache-2.0 */
/** @file parse.h What the parts of the parser of Relay text share. */
#ifndef NNV_COMPILER_RELAY_PARSE_H
#define NNV_COMPILER_RELAY_PARSE_H

#include "base/map.h"
#include "compiler/relay/text/lex.h"

enum { NNV_RELAY_DEPTH = 256 }; /* of blocks, parentheses, types and lists within each other */

/** A name that a scope has bound, and what it was bound to before: for the end of the scope. */
struct nnv_relay_binding {
    const char *name; /**< interned; digits for a graph binding */
    struct nnv_relay_expr *expr, *before;
};

/**
 * Reads the text from the left with one token in hand. Functions return NULL (or false) after the first error; it is in
 * err then, and st is not NNV_OK.
 */
struct nnv_relay_parser {
    struct nnv_relay_module *m;
    struct nnv_relay_lexer lexer;
    struct nnv_relay_token tok;
    int depth;
    struct nnv_id_map bound;        /**< what names are bound to, by the address of the interned name */
    struct nnv_relay_binding *undo; /**< what the scopes have bound, the innermost last */
    size_t n_undo, cap_undo;
    void **pile; /**< operands, fields, values of lists that are being read */
    size_t n_pile, cap_pile;
    struct nnv_relay_expr **opaque; /**< constants that await the metadata */
    size_t n_opaque, cap_opaque;
    struct nnv_relay_expr **free_vars;
    size_t n_free, cap_free;
    bool bare;               /**< a text without definitions */
    const char *module_name; /**< TVMScript: of the class, interned */
    enum nnv_status st;
    struct nnv_err *err;
};

/** Out-of-line parts of the three below. */
void nnv_relay_parse_error(struct nnv_relay_parser *p, const struct nnv_relay_span *span, const char *format, ...)
    NNV_PRINTF(3, 4);
void nnv_relay_unexpected(struct nnv_relay_parser *p, const char *what);
void nnv_relay_no_room(struct nnv_relay_parser *p);
/**
 * nnv_relay_parse_fail(p, span, format, ...) fails at a place; its value is NULL. A macro, so that compilers and
 * analyzers see that nothing is returned.
 */
#define nnv_relay_parse_fail(p, span, ...) (nnv_relay_parse_error((p), (span), __VA_ARGS__), nnv_relay_nothing())
/** Fails at the token in hand: "expected <what>, not <token>". Its value is NULL. */
static inline void *nnv_relay_expected(struct nnv_relay_parser *p, const char *what) {
    nnv_relay_unexpected(p, what);
    return NULL;
}
/** Fails if the pointer is NULL: out of memory. Its value is the pointer. */
static inline void *nnv_relay_got(struct nnv_relay_parser *p, const void *pointer) {
    if (pointer == NULL) nnv_relay_no_room(p);
    return (void *)(uintptr_t)pointer;
}
/** Room for one element behind n of *array (malloc'ed): false when out of memory, which is an error then. */
bool nnv_relay_parse_room(struct nnv_relay_parser *p, void *array, size_t n, size_t *cap, size_t size);

void nnv_relay_next(struct nnv_relay_parser *p);
/** True if the token in hand is this mark or word. */
bool nnv_relay_at(const struct nnv_relay_parser *p, const char *text);
/** Takes the token if it is this mark or word. */
bool nnv_relay_take(struct nnv_relay_parser *p, const char *text);
/** Takes this mark or word, or fails. */
bool nnv_relay_must(struct nnv_relay_parser *p, const char *text);
/** Skips what is in brackets, the opening one being in hand; false at the end of the text, which is an error. */
bool nnv_relay_skip_brackets(struct nnv_relay_parser *p);
/** One level deeper, or an error; and back. */
bool nnv_relay_deeper(struct nnv_relay_parser *p);
void nnv_relay_higher(struct nnv_relay_parser *p);
/** The token's text, interned. */
const char *nnv_relay_token_name(struct nnv_relay_parser *p);
/** Puts a pointer on the pile. */
bool nnv_relay_pile(struct nnv_relay_parser *p, const void *pointer);
/** Takes off what lies above the first `mark` pointers: an array of *n, good until something is put on the pile. */
void *nnv_relay_unpile(struct nnv_relay_parser *p, size_t mark, size_t *n);

/** Binds name in the scope that is open. */
bool nnv_relay_bind(struct nnv_relay_parser *p, const char *name, struct nnv_relay_expr *e);
/** What name is bound to, or NULL. */
struct nnv_relay_expr *nnv_relay_bound(const struct nnv_relay_parser *p, const char *name);
/** A scope is what is bound since n_undo was mark; closing it brings back what was bound before. */
void nnv_relay_close_scope(struct nnv_relay_parser *p, size_t mark);

const struct nnv_relay_type *nnv_relay_parse_type(struct nnv_relay_parser *p);
/** The type in a comment "ty=..." before the token in hand, or NULL. Never an error. */
const struct nnv_relay_type *nnv_relay_noted_type(struct nnv_relay_parser *p);
/** A value of an attribute. */
bool nnv_relay_parse_value(struct nnv_relay_parser *p, struct nnv_relay_value *value);
/** KEY = value {, KEY = value}; the array is the arena's. */
bool nnv_relay_parse_attrs(struct nnv_relay_parser *p, struct nnv_relay_attr **attrs, size_t *n);
/** The token is a key: a word, and an "=" behind it. */
bool nnv_relay_at_key(const struct nnv_relay_parser *p);
/** meta[KEY][index], "meta" being in hand. */
bool nnv_relay_parse_meta(struct nnv_relay_parser *p, const char **key, int64_t *index);
/** The whole number in hand without its suffix; false and an error if it is above 2^63 - 1. Not taken. */
bool nnv_relay_whole(struct nnv_relay_parser *p, int64_t *value);
/** True if the token in hand is a number with a fraction, inff or nanf. */
bool nnv_relay_at_real(const struct nnv_relay_parser *p);
/** That number. Not taken. */
double nnv_relay_real(const struct nnv_relay_parser *p);

/** Statements and an expression, until what can't be one. */
struct nnv_relay_expr *nnv_relay_parse_body(struct nnv_relay_parser *p);
/** (params, attrs) -> type { body }, behind "fn" or a definition's name. */
struct nnv_relay_expr *nnv_relay_parse_function(struct nnv_relay_parser *p);

/**
 * Gives the constants that await it their values: json is all behind #[metadata]. all: every constant that the metadata
 * has is one that awaits its value, as where the metadata stands first.
 */
bool nnv_relay_resolve_meta(struct nnv_relay_parser *p, const char *json, size_t len, bool all,
                            const struct nnv_relay_span *span);

/** Notes where an expression begins; e may be NULL, which is an error of memory. Its value is e. */
struct nnv_relay_expr *nnv_relay_placed(struct nnv_relay_parser *p, struct nnv_relay_expr *e,
                                        struct nnv_relay_span span);
/** A constant without dimensions; value: as many bytes as dtype has. NULL after an error. */
struct nnv_relay_expr *nnv_relay_scalar(struct nnv_relay_parser *p, enum nnv_relay_dtype dtype, const void *value,
                                        struct nnv_relay_span span);
/** A number with its signs and suffix, as a constant; NULL after an error. */
struct nnv_relay_expr *nnv_relay_parse_number(struct nnv_relay_parser *p);
/** meta[relay.Constant][i]: its value comes with the metadata; without, it is unknown. NULL after an error. */
struct nnv_relay_expr *nnv_relay_parse_opaque(struct nnv_relay_parser *p);
/** The constant of this number in the metadata, one for all its uses; type may be NULL. NULL after an error. */
struct nnv_relay_expr *nnv_relay_opaque(struct nnv_relay_parser *p, int64_t index, const struct nnv_relay_type *type,
                                        struct nnv_relay_span span);

#endif
