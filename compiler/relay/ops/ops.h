/* SPDX-License-Identifier: Apache-2.0 */
/** @file ops.h The operators that are known: a row each, with attributes, defaults and the rule of its type. */
#ifndef NNV_COMPILER_RELAY_OPS_H
#define NNV_COMPILER_RELAY_OPS_H

#include "compiler/relay/relay.h"

/** A call that is being checked. */
struct nnv_relay_typing {
    struct nnv_relay_module *m;
    struct nnv_relay_expr *call;
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

enum { NNV_RELAY_MANY = 255, NNV_RELAY_MOST_ATTRS = 12 };

struct nnv_relay_op_row {
    const char *name;
    uint8_t least, most; /**< operands */
    nnv_relay_rule *rule;
    struct nnv_relay_attr_row attrs[NNV_RELAY_MOST_ATTRS];
};

/** The operator's row, or NULL. */
const struct nnv_relay_op_row *nnv_relay_op(const char *name);
/** All rows. */
const struct nnv_relay_op_row *nnv_relay_ops(size_t *n);

/** Out-of-line parts of nnv_relay_wrong. */
void nnv_relay_wrong_set(struct nnv_relay_typing *t, const char *format, ...) NNV_PRINTF(2, 3);
static inline void *nnv_relay_nothing(void) { return NULL; }

/**
 * nnv_relay_wrong(t, format, ...): fails at the call: "nn.conv2d: message"; its value is NULL. A macro, so that
 * analyzers see that nothing is returned.
 */
#define nnv_relay_wrong(t, ...) (nnv_relay_wrong_set((t), __VA_ARGS__), nnv_relay_nothing())

/* What the rules share. Each fails at the call and gives NULL, false or 0 when something is not as it must be. */

/** The type of operand i, which must be a tensor. */
const struct nnv_relay_type *nnv_relay_in(struct nnv_relay_typing *t, size_t i);
/** The type of operand i, which must be a tensor of so many dimensions. */
const struct nnv_relay_type *nnv_relay_of_rank(struct nnv_relay_typing *t, size_t i, size_t rank);
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

/** Where the letters of a layout are: "NHWC" has C at 3. */
struct nnv_relay_layout {
    size_t first, second, h, w; /**< N or O, C or I, and the extents */
};

/** The layout of an attribute; letters: "NCHW" or "OIHW". */
bool nnv_relay_layout(struct nnv_relay_typing *t, const char *key, const char *layout, const char *letters,
                      struct nnv_relay_layout *to);
/** Two values of an attribute, or one for both, from `least` to 2^30. */
bool nnv_relay_pair(struct nnv_relay_typing *t, const char *key, int64_t least, int64_t *to);
/** The attribute padding as top, left, bottom, right. */
bool nnv_relay_padding(struct nnv_relay_typing *t, int64_t *p);
/** The number of an attribute; `otherwise` if there is none. */
double nnv_relay_number(const struct nnv_relay_typing *t, const char *key, double otherwise);

/** Output padding, strides and all else of a transposed convolution: *size is the extent of the result. */
bool nnv_relay_grown(struct nnv_relay_typing *t, const int64_t *in, const int64_t *kernel, int64_t *size);
/** Operands from `first` to before `end` are scales (float32) and zero points (int32), scale first. */
bool nnv_relay_scales(struct nnv_relay_typing *t, size_t first, size_t end);

nnv_relay_rule nnv_relay_rule_same, nnv_relay_rule_float, nnv_relay_rule_binary, nnv_relay_rule_compare,
    nnv_relay_rule_logic, nnv_relay_rule_where, nnv_relay_rule_cast, nnv_relay_rule_axis, nnv_relay_rule_bias,
    nnv_relay_rule_batch_norm, nnv_relay_rule_prelu, nnv_relay_rule_reshape, nnv_relay_rule_transpose,
    nnv_relay_rule_concatenate, nnv_relay_rule_split, nnv_relay_rule_slice, nnv_relay_rule_pad, nnv_relay_rule_expand,
    nnv_relay_rule_squeeze, nnv_relay_rule_flatten, nnv_relay_rule_reduce, nnv_relay_rule_arg, nnv_relay_rule_filled,
    nnv_relay_rule_conv, nnv_relay_rule_dense, nnv_relay_rule_batch_matmul, nnv_relay_rule_pool,
    nnv_relay_rule_global_pool, nnv_relay_rule_quantize, nnv_relay_rule_qnn_binary, nnv_relay_rule_qnn_concatenate,
    nnv_relay_rule_resize, nnv_relay_rule_reduce_float, nnv_relay_rule_test, nnv_relay_rule_bits, nnv_relay_rule_arange,
    nnv_relay_rule_cumulate, nnv_relay_rule_topk, nnv_relay_rule_sort, nnv_relay_rule_tile, nnv_relay_rule_repeat,
    nnv_relay_rule_reverse, nnv_relay_rule_stack, nnv_relay_rule_take, nnv_relay_rule_gather, nnv_relay_rule_gather_nd,
    nnv_relay_rule_one_hot, nnv_relay_rule_broadcast_to, nnv_relay_rule_like, nnv_relay_rule_slice_like,
    nnv_relay_rule_layout_transform, nnv_relay_rule_blocks, nnv_relay_rule_batches, nnv_relay_rule_upsampling,
    nnv_relay_rule_axes, nnv_relay_rule_norm, nnv_relay_rule_dropout, nnv_relay_rule_matmul,
    nnv_relay_rule_conv_transpose, nnv_relay_rule_conv1d, nnv_relay_rule_qnn_unary, nnv_relay_rule_valid_counts,
    nnv_relay_rule_nms;

#endif
