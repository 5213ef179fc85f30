/* SPDX-License-Identifier: Apache-2.0 */
/** @file relay.h Relay programs: expressions, types, modules, and walks over them. All belongs to the module's arena.
 */
#ifndef NNV_COMPILER_RELAY_H
#define NNV_COMPILER_RELAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/status.h"
#include "base/text.h"

/* -------------------------------------------------------------------- types */

enum nnv_relay_dtype {
    NNV_RELAY_BOOL,
    NNV_RELAY_INT8,
    NNV_RELAY_INT16,
    NNV_RELAY_INT32,
    NNV_RELAY_INT64,
    NNV_RELAY_UINT8,
    NNV_RELAY_UINT16,
    NNV_RELAY_UINT32,
    NNV_RELAY_UINT64,
    NNV_RELAY_FLOAT16,
    NNV_RELAY_FLOAT32,
    NNV_RELAY_FLOAT64,
    NNV_RELAY_BFLOAT16,
    NNV_RELAY_DTYPES,
};

enum nnv_relay_type_kind {
    NNV_RELAY_TENSOR, /**< dtype and dims */
    NNV_RELAY_TUPLE_TYPE,
    NNV_RELAY_FN_TYPE, /**< fields are the parameters */
    NNV_RELAY_UNKNOWN, /**< "_": to be found by the checker */
};

enum {
    NNV_RELAY_ANY = -1,  /**< a dimension that is not known ("?") */
    NNV_RELAY_RANK = 16, /**< the most dimensions of a tensor */
    NNV_RELAY_TYPE_DEPTH = 256,
};

struct nnv_relay_type {
    enum nnv_relay_type_kind kind;
    enum nnv_relay_dtype dtype;
    size_t n_dims, n_fields;
    uint32_t depth; /**< of types within types; the checker refuses more than NNV_RELAY_TYPE_DEPTH */
    const int64_t *dims;
    const struct nnv_relay_type *const *fields;
    const struct nnv_relay_type *result; /**< of a function */
};

/** "float32", and back: false if the name is of no type that is known. */
const char *nnv_relay_dtype_name(enum nnv_relay_dtype dtype);
bool nnv_relay_dtype_by_name(const char *name, size_t len, enum nnv_relay_dtype *dtype);
/** Bytes an element. */
size_t nnv_relay_dtype_size(enum nnv_relay_dtype dtype);
bool nnv_relay_dtype_is_float(enum nnv_relay_dtype dtype);

/** Types; the arrays are copied. NULL when out of memory. */
const struct nnv_relay_type *nnv_relay_tensor_type(struct nnv_arena *a, enum nnv_relay_dtype dtype, size_t n_dims,
                                                   const int64_t *dims);
const struct nnv_relay_type *nnv_relay_tuple_type(struct nnv_arena *a, size_t n,
                                                  const struct nnv_relay_type *const *fields);
const struct nnv_relay_type *nnv_relay_fn_type(struct nnv_arena *a, size_t n,
                                               const struct nnv_relay_type *const *params,
                                               const struct nnv_relay_type *result);
/** Equal in all; NULL equals NULL alone. */
bool nnv_relay_type_equal(const struct nnv_relay_type *a, const struct nnv_relay_type *b);
/** True if a value of type `is` may stand where `wanted` is declared: what is not known fits anything. */
bool nnv_relay_type_fits(const struct nnv_relay_type *wanted, const struct nnv_relay_type *is);
/** True if all dimensions are known, of all fields. */
bool nnv_relay_type_known(const struct nnv_relay_type *t);
/** The number of elements of a tensor, and its bytes; false if a dimension is not known or they overflow 2^62. */
bool nnv_relay_type_elems(const struct nnv_relay_type *t, size_t *elems, size_t *bytes);
/** As Relay text: "Tensor[(1, 8), float32]". */
void nnv_relay_type_print(const struct nnv_relay_type *t, struct nnv_text *out);

/* --------------------------------------------------------------- attributes */

enum nnv_relay_value_kind {
    NNV_RELAY_NONE,
    NNV_RELAY_TRUTH, /**< i: 0 or 1 */
    NNV_RELAY_INT,
    NNV_RELAY_FLOAT,
    NNV_RELAY_STRING, /**< also a bare identifier */
    NNV_RELAY_LIST,   /**< written [..] or (..) */
    NNV_RELAY_META,   /**< meta[text][i] */
};

struct nnv_relay_value {
    enum nnv_relay_value_kind kind;
    int64_t i;
    double f;
    const char *text;
    size_t n;
    const struct nnv_relay_value *list;
};

struct nnv_relay_attr {
    const char *key;
    struct nnv_relay_value value;
};

/** Equal by structure; the integer 1 and the number 1.0 are equal. */
bool nnv_relay_value_equal(const struct nnv_relay_value *a, const struct nnv_relay_value *b);
/** As Relay text: [1, 1]  "NCHW"  1e-05f  True  None. */
void nnv_relay_value_print(const struct nnv_relay_value *v, struct nnv_text *out);

/* -------------------------------------------------------------- expressions */

/** Values of a constant: dense, row-major, little-endian. */
struct nnv_relay_tensor {
    const struct nnv_relay_type *type;
    const void *data; /**< NULL: not known (a dump without its metadata) */
    size_t bytes;
};

enum nnv_relay_kind {
    NNV_RELAY_VAR,      /**< name: %name */
    NNV_RELAY_GLOBAL,   /**< name: @name */
    NNV_RELAY_CONSTANT, /**< tensor */
    NNV_RELAY_OP,       /**< name: an operator */
    NNV_RELAY_CALL,     /**< callee(args, attrs) */
    NNV_RELAY_LET,      /**< let var = args[0]; args[1] */
    NNV_RELAY_IF,       /**< if (args[0]) {args[1]} else {args[2]} */
    NNV_RELAY_TUPLE,    /**< (args) */
    NNV_RELAY_GET,      /**< args[0].index */
    NNV_RELAY_FUNCTION, /**< fn (params, attrs) -> declared {args[0]} */
};

/** Where an expression begins in its text; line 0: made by nnvts. */
struct nnv_relay_span {
    uint32_t line, column;
    size_t offset;
};

/**
 * One node of the graph. The same pointer in two places is one shared value (a graph binding). Operands are args, so a
 * walk needs no case for each kind: only a CALL has a callee, too, which is visited before its args.
 */
struct nnv_relay_expr {
    enum nnv_relay_kind kind;
    uint32_t id; /**< below module->n_exprs, each its own: for tables beside the graph */
    const char *name;
    struct nnv_relay_expr *callee;
    struct nnv_relay_expr **args;
    size_t n_args;
    struct nnv_relay_attr *attrs; /**< CALL, FUNCTION: those that are written, in the order written */
    size_t n_attrs;
    struct nnv_relay_expr *var;     /**< LET */
    struct nnv_relay_expr **params; /**< FUNCTION */
    size_t n_params;
    const struct nnv_relay_tensor *tensor; /**< CONSTANT */
    int64_t index;                         /**< GET: the field. CONSTANT without values: its number in the metadata */
    /** VAR, FUNCTION (its result): what is annotated. Others: what a comment "ty=" says. NULL: nothing. */
    const struct nnv_relay_type *declared;
    const struct nnv_relay_type *type; /**< set by nnv_relay_check() */
    const char *bound;                 /**< name of the graph binding, "%3"; NULL: it has none */
    struct nnv_relay_span span;
};

struct nnv_relay_function {
    const char *name;            /**< without "@" */
    struct nnv_relay_expr *expr; /**< a FUNCTION */
};

struct nnv_relay_names;

/** Lines of TVMScript that are kept as they are: functions of TIR. */
struct nnv_relay_foreign {
    const char *text;
    size_t len;
    uint32_t column; /**< that the lines begin in; the first one is without its blanks */
    struct nnv_relay_foreign *next;
};

struct nnv_relay_module {
    struct nnv_arena *arena;
    struct nnv_relay_function *functions; /**< in the order of the text */
    size_t n_functions, cap_functions;
    uint32_t n_exprs;
    struct nnv_relay_names *names; /**< interned names and operators */
    const char *file, *text;       /**< what it was parsed from, for messages; text may be NULL */
    size_t text_len;
    bool script;                       /**< the text is TVMScript, of Relax */
    struct nnv_relay_foreign *foreign; /**< functions of the text that are no part of the graph */
};

/** An empty module in arena, which it keeps. NULL when out of memory. */
struct nnv_relay_module *nnv_relay_module_new(struct nnv_arena *arena);
/** The one copy of a name in the module: equal names are equal pointers. NULL when out of memory. */
const char *nnv_relay_intern(struct nnv_relay_module *m, const char *name, size_t len);
/** The function of this name, without "@", or NULL. */
struct nnv_relay_expr *nnv_relay_find(const struct nnv_relay_module *m, const char *name);
/** Appends a function, or replaces the one of its name. False when out of memory. */
bool nnv_relay_define(struct nnv_relay_module *m, const char *name, struct nnv_relay_expr *function);

/*
 * New expressions. Arrays are copied, names interned, the span is that of nothing. NULL when out of memory, or when an
 * operand is NULL, so that only the last of a nest of calls needs a check.
 */
struct nnv_relay_expr *nnv_relay_var(struct nnv_relay_module *m, const char *name, const struct nnv_relay_type *type);
struct nnv_relay_expr *nnv_relay_global(struct nnv_relay_module *m, const char *name);
struct nnv_relay_expr *nnv_relay_constant(struct nnv_relay_module *m, const struct nnv_relay_tensor *tensor);
/** One node for each operator's name in a module. */
struct nnv_relay_expr *nnv_relay_operator(struct nnv_relay_module *m, const char *name);
struct nnv_relay_expr *nnv_relay_call(struct nnv_relay_module *m, struct nnv_relay_expr *callee, size_t n,
                                      struct nnv_relay_expr *const *args, size_t n_attrs,
                                      const struct nnv_relay_attr *attrs);
struct nnv_relay_expr *nnv_relay_let(struct nnv_relay_module *m, struct nnv_relay_expr *var,
                                     struct nnv_relay_expr *value, struct nnv_relay_expr *body);
struct nnv_relay_expr *nnv_relay_if(struct nnv_relay_module *m, struct nnv_relay_expr *condition,
                                    struct nnv_relay_expr *then_branch, struct nnv_relay_expr *else_branch);
struct nnv_relay_expr *nnv_relay_tuple(struct nnv_relay_module *m, size_t n, struct nnv_relay_expr *const *fields);
struct nnv_relay_expr *nnv_relay_get(struct nnv_relay_module *m, struct nnv_relay_expr *tuple, int64_t index);
/** result: its annotated type, or NULL. */
struct nnv_relay_expr *nnv_relay_fn(struct nnv_relay_module *m, size_t n, struct nnv_relay_expr *const *params,
                                    const struct nnv_relay_type *result, struct nnv_relay_expr *body, size_t n_attrs,
                                    const struct nnv_relay_attr *attrs);
/** A copy of e with other callee and operands (as many as e has) and an id of its own. */
struct nnv_relay_expr *nnv_relay_with(struct nnv_relay_module *m, const struct nnv_relay_expr *e,
                                      struct nnv_relay_expr *callee, struct nnv_relay_expr *const *args);

/** The operator's name if e is a call of an operator, else NULL. */
const char *nnv_relay_op_name(const struct nnv_relay_expr *e);
/** True if e is a call of the operator of this name. */
bool nnv_relay_is_op(const struct nnv_relay_expr *e, const char *name);
/** The attribute as it is written, or NULL. */
const struct nnv_relay_value *nnv_relay_written(const struct nnv_relay_expr *e, const char *key);
/** The attribute as it is written, or else the operator's default; NULL if it has neither. */
const struct nnv_relay_value *nnv_relay_attr(const struct nnv_relay_expr *e, const char *key);
/** The text of a function's string attribute ("Composite", "Compiler"), or NULL. */
const char *nnv_relay_fn_attr(const struct nnv_relay_expr *function, const char *key);

/* -------------------------------------------------------------------- walks */

struct nnv_relay_list {
    struct nnv_relay_expr **exprs;
    size_t n;
};

/** Whether a walk goes into the operands of e (and its callee); e itself is visited anyway. */
typedef bool nnv_relay_enter_fn(void *ctx, const struct nnv_relay_expr *e);
/** For nnv_relay_post_order: not into the bodies of function literals. The ctx is the root. */
bool nnv_relay_enter_scope(void *ctx, const struct nnv_relay_expr *e);

/**
 * Evaluation order: every expression that root reaches, once, behind its callee and operands, operands left to right.
 * A LET has its value, then its body; its variable and a function's parameters come where they are used. enter NULL:
 * all. Iterative, so no graph is too deep. The list is of arena.
 */
NNV_USE_RESULT enum nnv_status nnv_relay_post_order(struct nnv_relay_expr *root, nnv_relay_enter_fn *enter, void *ctx,
                                                    struct nnv_arena *arena, struct nnv_relay_list *list);

/** Who uses what among the expressions of a list: users[first[id]] to users[first[id + 1] - 1], in the list's order. */
struct nnv_relay_uses {
    uint32_t n_ids;
    size_t *first;
    struct nnv_relay_expr **users; /**< a user that has the value as two operands is there twice */
};
NNV_USE_RESULT enum nnv_status nnv_relay_find_uses(const struct nnv_relay_module *m, const struct nnv_relay_list *list,
                                                   struct nnv_arena *arena, struct nnv_relay_uses *uses);
/** The number of uses of e, and the users. */
size_t nnv_relay_users(const struct nnv_relay_uses *uses, const struct nnv_relay_expr *e,
                       struct nnv_relay_expr ***users);

/**
 * What stands for old, whose callee and operands are rewritten already: now is old itself if none of them changed,
 * else a copy. Returning now keeps it; NULL ends the rewrite with NNV_NO_MEMORY.
 */
typedef struct nnv_relay_expr *nnv_relay_rewrite_fn(void *ctx, struct nnv_relay_module *m, struct nnv_relay_expr *old,
                                                    struct nnv_relay_expr *now);
/** Rebuilds what root reaches in evaluation order, each expression once, so that sharing stays. */
NNV_USE_RESULT enum nnv_status nnv_relay_rewrite(struct nnv_relay_module *m, struct nnv_relay_expr *root,
                                                 nnv_relay_rewrite_fn *fn, void *ctx, struct nnv_relay_expr **out,
                                                 struct nnv_err *err);

/* --------------------------------------------------------- text, and checks */

/**
 * Parses Relay text, or TVMScript of Relax, whichever it is: one graph of both. name stands in messages. Errors show
 * line, column, and the line with a caret below what is wrong. text is kept by the module, not copied.
 */
NNV_USE_RESULT enum nnv_status nnv_relay_parse(const char *text, size_t len, const char *name, struct nnv_arena *arena,
                                               struct nnv_relay_module **module, struct nnv_err *err);

enum nnv_relay_print_flags {
    NNV_RELAY_PRINT_TYPES = 1, /**< checked types as comments */
    NNV_RELAY_PRINT_META = 2,  /**< values of constants as a metadata section: then it parses back to an equal module */
};
/** The module as Relay text. Sets no error: out->failed tells that memory ran out. */
void nnv_relay_print(const struct nnv_relay_module *m, int flags, struct nnv_text *out);
/**
 * The module as TVMScript of Relax, with the values of its constants; m must be inferred. NNV_UNSUPPORTED: Relax has no
 * word for something in it. out->failed tells that memory ran out.
 */
NNV_USE_RESULT enum nnv_status nnv_relax_print(const struct nnv_relay_module *m, struct nnv_text *out,
                                               struct nnv_err *err);

/** Finds the type of every expression and checks each against its operator's rules. */
NNV_USE_RESULT enum nnv_status nnv_relay_check(struct nnv_relay_module *m, struct nnv_err *err);
/**
 * The same for programs that say too little of themselves: what no rule, annotation or comment tells has the type NULL
 * instead of being an error, and so has what is made of it. What is certainly wrong is an error here, too.
 */
NNV_USE_RESULT enum nnv_status nnv_relay_infer(struct nnv_relay_module *m, struct nnv_err *err);
/**
 * Finds the type of one expression from those of its operands, as nnv_relay_infer() does: of a call of an operator, a
 * tuple, a field or a constant; others are left as they are.
 */
NNV_USE_RESULT enum nnv_status nnv_relay_infer_one(struct nnv_relay_module *m, struct nnv_relay_expr *e,
                                                   struct nnv_err *err);
/** "file:line:column: message", then the line and a caret: for errors at an expression. Its value is NNV_INVALID. */
NNV_USE_RESULT enum nnv_status nnv_relay_fail(const struct nnv_relay_module *m, const struct nnv_relay_span *span,
                                              struct nnv_err *err, const char *format, ...) NNV_PRINTF(4, 5);

/** What follows an error that is a pointer: nothing, in a way that analyzers see. */
static inline void *nnv_relay_nothing(void) { return NULL; }

#endif
