/* SPDX-License-Identifier: Apache-2.0 */
/** @file rule.h What the row of an operator says: attributes, defaults, the rule of its type, its kernel. */
#ifndef NNV_COMPILER_RELAY_RULE_H
#define NNV_COMPILER_RELAY_RULE_H

#include "compiler/relay/relay.h"

struct nnv_relay_op_row;

/** A call that is being checked, or computed. */
struct nnv_relay_typing {
    struct nnv_relay_module *m;
    struct nnv_relay_expr *call;
    const struct nnv_relay_op_row *row; /**< of the call's operator */
    struct nnv_err *err;
    enum nnv_status st;
};

/** Gives the type of the call's result; NULL after an error. Operands have their number and are typed. */
typedef const struct nnv_relay_type *nnv_relay_rule(struct nnv_relay_typing *t);

/** What an attribute may be. */
enum nnv_relay_attr_kind {
    NNV_RELAY_ATTR_INT,
    NNV_RELAY_ATTR_NUMBER,
    NNV_RELAY_ATTR_TRUTH, /**< or an integer */
    NNV_RELAY_ATTR_TEXT,
    NNV_RELAY_ATTR_INTS,  /**< a list of integers, or one for all */
    NNV_RELAY_ATTR_PAIRS, /**< a list of lists of integers */
    NNV_RELAY_ATTR_ANY,
};

/** An attribute: its default, or NULL if there is none; "None" may be written for any. */
struct nnv_relay_attr_row {
    const char *key;
    enum nnv_relay_attr_kind kind;
    const struct nnv_relay_value *otherwise;
};

enum {
    NNV_RELAY_MANY = 255,
    NNV_RELAY_MOST_ATTRS = 12,
    NNV_RELAY_MOST_EXTENT = 1 << 30, /**< of attributes in sums, which so can't overflow */
};

/** True if an attribute of this kind may have the value. */
bool nnv_relay_attr_is(const struct nnv_relay_value *v, enum nnv_relay_attr_kind kind);

struct nnv_interp_op;
/** Works out the values of one call: see kernel.h. */
typedef void nnv_interp_kernel(struct nnv_interp_op *op);

/** All that Relay itself says of an operator, and Relax, in the file of its family. */
struct nnv_relay_op_row {
    const char *name;
    uint8_t least, most; /**< operands */
    nnv_relay_rule *rule;
    nnv_interp_kernel *run;
    struct nnv_relay_attr_row attrs[NNV_RELAY_MOST_ATTRS];
    /* The function on numbers that makes the difference within a family of kernels. */
    double (*one)(double);
    double (*two)(double, double);
    int64_t (*whole)(int64_t, int64_t); /**< instead of two, on integers; NULL: two is exact on them, too */
    bool divides;                       /**< an integer second operand must not be 0 */
    /**
     * What Relax calls it, and its parameters there, in order: "concat(tensors, axis)"; "(x)": its name is the same. A
     * parameter is an operand, or the attribute of its name; "min:a_min" is the attribute a_min. "alpha=0.01": where
     * nothing is written, Relax means this, Relay something else. "-momentum": Relay has no word for it;
     * "-training=False": and any other value is not this operator. NULL: Relax says it with other operators.
     */
    const char *relax;
};
struct nnv_relay_op_rows {
    const struct nnv_relay_op_row *rows;
    size_t n;
};

/** Out-of-line parts of nnv_relay_wrong. */
void nnv_relay_wrong_set(struct nnv_relay_typing *t, const char *format, ...) NNV_PRINTF(2, 3);

/**
 * nnv_relay_wrong(t, format, ...): fails at the call: "nn.conv2d: message"; its value is NULL. A macro, so that
 * analyzers see that nothing is returned.
 */
#define nnv_relay_wrong(t, ...) (nnv_relay_wrong_set((t), __VA_ARGS__), nnv_relay_nothing())

/** The attribute as it is written, or else the row's default; NULL if it has neither. row may be NULL. */
const struct nnv_relay_value *nnv_relay_row_attr(const struct nnv_relay_op_row *row, const struct nnv_relay_expr *e,
                                                 const char *key);

/* What the rules share. Each fails at the call and gives NULL, false or 0 when something is not as it must be. */

/** The type of operand i, which must be a tensor. */
const struct nnv_relay_type *nnv_relay_in(struct nnv_relay_typing *t, size_t i);
/** The type of operand i, which must be a tensor of so many dimensions. */
const struct nnv_relay_type *nnv_relay_of_rank(struct nnv_relay_typing *t, size_t i, size_t rank);
/** Two extents are equal, or one is not known. */
static inline bool nnv_relay_agree(int64_t a, int64_t b) { return a == b || a < 0 || b < 0; }
/** The product of two extents: unknown if one is; INT64_MAX, which no rule takes, if it is too large. */
int64_t nnv_relay_times(int64_t a, int64_t b);
/** A tensor's type; NULL when out of memory, which is an error. */
const struct nnv_relay_type *nnv_relay_made(struct nnv_relay_typing *t, enum nnv_relay_dtype dtype, size_t n,
                                            const int64_t *dims);
/** The integers of an attribute, at most `most`; one that is not a list counts as one. False if there is none. */
bool nnv_relay_ints(struct nnv_relay_typing *t, const char *key, int64_t *ints, size_t most, size_t *n);
/** The integer, truth or text of an attribute; `otherwise` if there is none. */
int64_t nnv_relay_int(const struct nnv_relay_typing *t, const char *key, int64_t otherwise);
const char *nnv_relay_text(const struct nnv_relay_typing *t, const char *key, const char *otherwise);
/** The axis of an attribute, counted from the end if it is negative, among n dimensions. */
bool nnv_relay_axis(struct nnv_relay_typing *t, const char *key, int64_t axis, size_t n, size_t *at);
/** The element type that an attribute names; `otherwise` if it is absent or empty. */
bool nnv_relay_dtype_attr(struct nnv_relay_typing *t, const char *key, enum nnv_relay_dtype otherwise,
                          enum nnv_relay_dtype *dtype);
/** The dimensions of two operands that are stretched to each other. */
bool nnv_relay_broadcast(struct nnv_relay_typing *t, const struct nnv_relay_type *a, const struct nnv_relay_type *b,
                         size_t *n, int64_t *dims);

/*
 * Operators of one dimension ("nn.conv1d") are those of two on images of one line: behind their three dimensions stands
 * the height, 1, and their attributes say the width alone.
 */

/** The type of an operand or result of the call as images; NULL when out of memory. */
const struct nnv_relay_type *nnv_relay_as_images(struct nnv_relay_typing *t, const struct nnv_relay_type *type);
/** Operand i as images, which must be of the right number of dimensions. */
const struct nnv_relay_type *nnv_relay_images(struct nnv_relay_typing *t, size_t i);
/** The result's type from that of its images. */
const struct nnv_relay_type *nnv_relay_made_images(struct nnv_relay_typing *t, enum nnv_relay_dtype dtype,
                                                   const int64_t *dims);

/** Where the letters of a layout are: "NHWC" has C at 3. Of a line, H is behind the others. */
struct nnv_relay_layout {
    size_t first, second, h, w; /**< N or O, C or I, and the extents */
};

/** The layout of an attribute; letters: "NCHW" or "OIHW", of which a line has no H. */
bool nnv_relay_layout(struct nnv_relay_typing *t, const char *key, const char *layout, const char *letters,
                      struct nnv_relay_layout *to);
/** Two values of an attribute, or one for both, from `least` to 2^30; of a line, one behind a 1. */
bool nnv_relay_pair(struct nnv_relay_typing *t, const char *key, int64_t least, int64_t *to);
/** The attribute padding as top, left, bottom, right. */
bool nnv_relay_padding(struct nnv_relay_typing *t, int64_t *p);
/** The number of an attribute; `otherwise` if there is none. */
double nnv_relay_number(const struct nnv_relay_typing *t, const char *key, double otherwise);

/** Operand 0 as images, in the layout of the attribute layout. */
const struct nnv_relay_type *nnv_relay_image(struct nnv_relay_typing *t, struct nnv_relay_layout *l);

/** A window that moves over one dimension. */
struct nnv_relay_window_1d {
    int64_t extent, stride, dilation, before, after;
    bool ceil;
};
/** Places of a kernel in two dimensions, by the attributes strides, dilation and padding. */
bool nnv_relay_places_2d(struct nnv_relay_typing *t, const int64_t *kernel, bool ceil, const int64_t *in, int64_t *out);
/** The type of operands i and k, stretched to each other; they are of one element type. */
const struct nnv_relay_type *nnv_relay_stretched(struct nnv_relay_typing *t, size_t i, size_t k, bool to_bool);

/* Rules of more than one family: floats as they are; concatenation. */
nnv_relay_rule nnv_relay_rule_float, nnv_relay_rule_concatenate;

#endif
