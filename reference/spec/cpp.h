/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file cpp.h AOSP's generated test models (.example.cpp): tokens, trees of initialisers, values. Private to
 * spec_cpp*.c. The text is parsed as it stands and never compiled; nodes point into it, so positions cost nothing.
 */
#ifndef NNV_MODEL_SPEC_CPP_H
#define NNV_MODEL_SPEC_CPP_H

#include "reference/model/model.h"

#define TRY(call)                                                                                                      \
    do {                                                                                                               \
        enum nnv_status try_status = (call);                                                                           \
        if (try_status != NNV_OK) return try_status;                                                                   \
    } while (0)

struct nnv_cpp_reader {
    const char *path; /**< for errors */
    const char *text, *end;
    size_t line; /**< of the first byte of text, from 1 */
    struct nnv_arena *arena;
    struct nnv_err *err;
    bool malformed; /**< the model is to fail: sizes may be wrong on purpose */
};

/* ------------------------------------------------------------------- tokens */

enum nnv_cpp_token_kind {
    NNV_CPP_END,
    NNV_CPP_WORD,   /**< identifier or keyword */
    NNV_CPP_DIGITS, /**< a number without its sign */
    NNV_CPP_STRING,
    NNV_CPP_MARK, /**< one character, or "::" */
    NNV_CPP_OPEN, /**< a comment or string that does not end */
};

struct nnv_cpp_token {
    enum nnv_cpp_token_kind kind;
    const char *text;
    size_t len;
};

/** The first token at or after `at`; comments and lines of the preprocessor are passed over. */
struct nnv_cpp_token nnv_cpp_token(const char *at, const char *end);
/** True if the token is exactly this text. */
bool nnv_cpp_is(const struct nnv_cpp_token *t, const char *text);
/** The error "path:line:column: expected ..., got ..." at a token. Returns NNV_INVALID. */
enum nnv_status nnv_cpp_bad(const struct nnv_cpp_reader *r, const struct nnv_cpp_token *got, const char *expected, ...)
    NNV_PRINTF(3, 4);
/** Out of memory at a place. */
enum nnv_status nnv_cpp_no_memory(const struct nnv_cpp_reader *r);

/* -------------------------------------------------------------------- trees */

enum nnv_cpp_kind {
    NNV_CPP_LIST,   /**< {a, b} or {.x = a, .y = b} */
    NNV_CPP_NUMBER, /**< with its sign and suffix */
    NNV_CPP_NAME,   /**< A::B<C>, with its sign */
    NNV_CPP_CALL,   /**< A::B<C>(a, b) */
};

struct nnv_cpp_node {
    enum nnv_cpp_kind kind;
    struct nnv_cpp_token token; /**< of the value; of a list its brace, of a call the name */
    struct nnv_cpp_token field; /**< the designator's name; len 0: none */
    size_t count;               /**< elements, members or arguments */
    struct nnv_cpp_node *first, *next;
};

/** Parses one value at *at, which moves behind it. */
NNV_USE_RESULT enum nnv_status nnv_cpp_value(const struct nnv_cpp_reader *r, const char **at,
                                             struct nnv_cpp_node **node);
/** The error "path:line:column: expected ..., got ..." at a value. Returns NNV_INVALID. */
enum nnv_status nnv_cpp_wrong(const struct nnv_cpp_reader *r, const struct nnv_cpp_node *got, const char *expected, ...)
    NNV_PRINTF(3, 4);
/**
 * Takes a list of designated members apart: found[i] becomes the member called names[i], or NULL. Each may stand once,
 * in any order. what names the struct in errors: "an operand".
 */
NNV_USE_RESULT enum nnv_status nnv_cpp_fields(const struct nnv_cpp_reader *r, const struct nnv_cpp_node *list,
                                              const char *what, const char *const *names, size_t n,
                                              const struct nnv_cpp_node **found);
/** True if the list is {a, b}, without designators, or empty. */
bool nnv_cpp_is_array(const struct nnv_cpp_node *node);

/* ------------------------------------------------------------------- values */

/** An integer in [lo, hi]; what names it in errors: "an extent". */
NNV_USE_RESULT enum nnv_status nnv_cpp_int(const struct nnv_cpp_reader *r, const struct nnv_cpp_node *node,
                                           const char *what, int64_t lo, int64_t hi, int64_t *v);
/** A number that float32 can hold, rounded to it. */
NNV_USE_RESULT enum nnv_status nnv_cpp_float(const struct nnv_cpp_reader *r, const struct nnv_cpp_node *node, float *v);
/** A finite number of at least 0. */
NNV_USE_RESULT enum nnv_status nnv_cpp_tolerance(const struct nnv_cpp_reader *r, const struct nnv_cpp_node *node,
                                                 double *v);
NNV_USE_RESULT enum nnv_status nnv_cpp_bool(const struct nnv_cpp_reader *r, const struct nnv_cpp_node *node, bool *v);
/** X of `type::X`, of at most 63 characters; example completes the error: "TestOperandType::FLOAT32". */
NNV_USE_RESULT enum nnv_status nnv_cpp_enum(const struct nnv_cpp_reader *r, const struct nnv_cpp_node *node,
                                            const char *type, const char *example, char name[64]);
/** An array of integers in [0, most], arena's; most < 0: nothing to refer to. node NULL: empty. */
NNV_USE_RESULT enum nnv_status nnv_cpp_indices(const struct nnv_cpp_reader *r, const struct nnv_cpp_node *node,
                                               const char *what, int64_t most, uint32_t **list, uint32_t *count);
/**
 * The elements of `TestBuffer::createFromVector<T>({...})`: *list and their number in *count, both of nothing for `{}`
 * and for NULL. T must be what the operand type is stored as, unless there are no elements.
 */
NNV_USE_RESULT enum nnv_status nnv_cpp_buffer(const struct nnv_cpp_reader *r, const struct nnv_cpp_node *node,
                                              int32_t type, const struct nnv_cpp_node **list, size_t *count);
/** Stores the elements of a list as the operand type: *data is arena's and not NULL. */
NNV_USE_RESULT enum nnv_status nnv_cpp_elements(const struct nnv_cpp_reader *r, const struct nnv_cpp_node *list,
                                                int32_t type, void **data, size_t *bytes);

/** Maps a TestModel's initialiser to a spec; name and source are left alone. Sets r->malformed. */
NNV_USE_RESULT enum nnv_status nnv_cpp_model(struct nnv_cpp_reader *r, const struct nnv_cpp_node *node,
                                             struct nnv_spec *spec);

#endif
