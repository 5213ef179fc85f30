/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file convert_in.h What the converter's parts share: the flat graph, operands, constants, emission, rows.
 *
 * A function becomes a flat graph first: composites are opened, tuples and projections vanish, and what is left are
 * operations (nodes) on tensors (values). Then one node is converted after the other. An error or a refusal is kept:
 * all that is asked for afterwards does nothing and gives operand 0, so that rows read as a list of what they emit.
 */
#ifndef NNV_COMPILER_CONVERT_IN_H
#define NNV_COMPILER_CONVERT_IN_H

#include "compiler/nnapi/convert/converted.h"
#include "reference/model/builder.h"

#define NNV_RC_NONE UINT32_MAX

struct nnv_rc;
struct nnv_rc_node;

/** Sets of element types. */
enum {
    NNV_RC_F32 = 1 << NNV_RELAY_FLOAT32,
    NNV_RC_F16 = 1 << NNV_RELAY_FLOAT16,
    NNV_RC_I32 = 1 << NNV_RELAY_INT32,
    NNV_RC_I64 = 1 << NNV_RELAY_INT64,
    NNV_RC_BOOL = 1 << NNV_RELAY_BOOL,
    NNV_RC_FLOAT = NNV_RC_F32 | NNV_RC_F16,
    NNV_RC_BYTE = 1 << NNV_RELAY_INT8 | 1 << NNV_RELAY_UINT8,
    NNV_RC_NUMBER = NNV_RC_FLOAT | NNV_RC_I32 | NNV_RC_BYTE,
    NNV_RC_ALL = NNV_RC_NUMBER | NNV_RC_BOOL,
};

enum nnv_rc_flags {
    NNV_RC_MOVES = 1, /**< only moves or chooses elements: results are quantised as the operands */
    NNV_RC_REAL = 2,  /**< between qnn.dequantize and qnn.quantize it may become one quantised operation */
    NNV_RC_FUSES = 4, /**< a relu or clip behind it may become its fused activation */
    NNV_RC_BIAS = 8,  /**< a convolution or dense layer: takes a bias behind it, too */
    NNV_RC_QNN = 16,  /**< gives sums of int32, so it converts only with the qnn.requantize behind it */
    NNV_RC_LIKE = 32, /**< moves the elements of operand 0; of the others it takes the shape alone */
};

/** How an operator is converted. */
struct nnv_rc_row {
    const char *name;
    void (*convert)(struct nnv_rc *c);
    int32_t code;      /**< the operation, for rows that share a function; or -1 */
    uint32_t types;    /**< of operand 0 */
    uint8_t flags;     /**< enum nnv_rc_flags */
    uint8_t level;     /**< the least feature level at which some use converts */
    const char *makes; /**< what it becomes, for the documentation */
};
struct nnv_rc_rows {
    const struct nnv_rc_row *rows;
    size_t n;
};
extern const struct nnv_rc_rows nnv_rc_conv, nnv_rc_window, nnv_rc_math, nnv_rc_move, nnv_rc_pick, nnv_rc_reduce,
    nnv_rc_norm, nnv_rc_qnn;
/** The row of an operator, or NULL. */
const struct nnv_rc_row *nnv_rc_row(const char *op);
/** The row, which is in no table, of the composite of an if or a loop; NULL: function is none. */
const struct nnv_rc_row *nnv_rc_flow(const struct nnv_relay_expr *function);
/** Row i of all, in the order of the tables; NULL behind the last. */
const struct nnv_rc_row *nnv_rc_row_at(size_t i);

/* -------------------------------------------------------------------- graph */

/** How a byte stands for a number. */
struct nnv_rc_quant {
    bool known;
    float scale;
    int32_t zero;
};

/** One tensor: a parameter, a constant (each use its own), or a result. */
struct nnv_rc_value {
    const struct nnv_relay_type *type;
    const struct nnv_relay_expr *e;        /**< what it was made for */
    uint32_t node, field;                  /**< its operation, or NNV_RC_NONE */
    uint32_t real_uses;                    /**< of these by operations that may read the bytes themselves */
    uint32_t uses;                         /**< by operations and results of the function */
    uint32_t like;                         /**< a value that is quantised as this one, on the way to their root */
    struct nnv_rc_quant quant;             /**< of a root */
    uint32_t operand;                      /**< or NNV_RC_NONE */
    const struct nnv_relay_tensor *tensor; /**< of a constant */
};

/** Values of an expression: one of a tensor, the fields of a tuple, flattened. */
struct nnv_rc_list {
    uint32_t *v;
    uint32_t n;
};

struct nnv_rc_node {
    const struct nnv_relay_expr *e; /**< a call of an operator, or of the composite of an if or loop */
    const struct nnv_rc_row *row;
    struct nnv_rc_list *args; /**< e->n_args */
    struct nnv_rc_list out;
    bool absorbed;  /**< another node converts it */
    bool done;      /**< it was converted */
    uint32_t inner; /**< the node behind operand 0 that it absorbs, or NNV_RC_NONE */
    uint32_t pad;   /**< anchors: the nn.pad that they absorb, or NNV_RC_NONE */
    bool real;      /**< qnn.quantize: inner and what it reads may become one quantised operation */
};

struct nnv_rc {
    const struct nnv_relay_module *m;
    struct nnv_arena *arena, *scratch; /**< of the result; of one emission */
    struct nnv_err *err;
    enum nnv_status st;
    int limit, level; /**< the highest feature level that is allowed, and the one needed so far */
    struct nnv_rc_value *values;
    uint32_t n_values;
    struct nnv_rc_node *nodes;
    uint32_t n_nodes;
    size_t cap_values, cap_nodes;
    struct nnv_builder b;
    struct nnv_subgraph *referenced; /**< of ifs and loops, each behind those within it */
    uint32_t n_referenced;
    size_t cap_referenced;
    int nesting; /**< ifs and loops that this is within: then each result is an output of its own */
    const struct nnv_relay_expr **from; /**< by operation */
    size_t cap_from;
    /** By operand: the same data in NHWC order, which was needed before, or 0. Room cap_nhwc. */
    uint32_t *nhwc;
    size_t cap_nhwc;
    /* What is being converted. */
    const struct nnv_rc_node *node; /**< the anchor: attributes and operands are its */
    const struct nnv_rc_node *root; /**< what absorbs it; results are its */
    bool bare;                      /**< messages have no place in the text */
    int act;                        /**< with real: the fused activation */
    bool real; /**< bytes stand for real numbers: the node was between qnn.dequantize and qnn.quantize */
};

/** Nothing went wrong so far. */
static inline bool nnv_rc_ok(const struct nnv_rc *c) { return c->st == NNV_OK && nnv_builder_ok(&c->b); }
/** Refuses the current node: "nn.conv2d: " and what is said. */
void nnv_rc_refuse(struct nnv_rc *c, const char *format, ...) NNV_PRINTF(2, 3);
/** The same at a node, and at an expression that is no operator. */
void nnv_rc_refuse_at(struct nnv_rc *c, const struct nnv_relay_expr *e, const char *format, ...) NNV_PRINTF(3, 4);
static inline void nnv_rc_no_memory(struct nnv_rc *c) {
    c->b.failed = true;
    if (c->st == NNV_OK) c->st = nnv_fail(c->err, NNV_NO_MEMORY, "out of memory for the model");
}

/** A conversion in these arenas, to at most feature level `limit`; 0: any. */
struct nnv_rc nnv_rc_begin(const struct nnv_relay_module *m, int limit, struct nnv_arena *arena,
                           struct nnv_arena *scratch, struct nnv_err *err);
/** A function as a model, which is not validated. */
void nnv_rc_function(struct nnv_rc *c, const struct nnv_relay_expr *function, bool relaxed, struct nnv_converted *out);
/** A flat graph, whose parameters are `in`, as a checked model. */
void nnv_rc_model(struct nnv_rc *c, struct nnv_rc_list in, struct nnv_rc_list results, bool relaxed,
                  struct nnv_converted *out);

/** A new value; its operand is not made. NNV_RC_NONE after an error. */
uint32_t nnv_rc_value(struct nnv_rc *c, const struct nnv_relay_type *type, const struct nnv_relay_expr *e);
/** The number of tensors in a type, flattened; counted until it is above what a tuple may have. */
uint32_t nnv_rc_fields(const struct nnv_relay_type *type);
/** The flattened fields of a type as new values. */
struct nnv_rc_list nnv_rc_values(struct nnv_rc *c, const struct nnv_relay_type *type, const struct nnv_relay_expr *e);
/** A call of an operator, or of a composite, with these operands, as nodes; the values of its result. */
struct nnv_rc_list nnv_rc_call(struct nnv_rc *c, const struct nnv_relay_expr *e, struct nnv_rc_list *args);
/** The pool if a cast to bytes makes codes of the means of codes (cast to int32, pool, cast back), or NULL. */
struct nnv_rc_node *nnv_rc_code_pool(struct nnv_rc *c, const struct nnv_rc_node *cast);
/** Finds scales and zero points of all byte values. */
void nnv_rc_find_quant(struct nnv_rc *c);
/** The axis of a layer's result that its channels are along. */
uint32_t nnv_rc_channel_axis(const struct nnv_rc *c, const struct nnv_rc_node *layer);
/** Finds which nodes absorb which. */
void nnv_rc_find_chains(struct nnv_rc *c);
/** Converts all nodes in order. */
void nnv_rc_convert_nodes(struct nnv_rc *c);

/* ----------------------------------------------- what a row asks of its node */

/** A shape as NNAPI has it: a tensor of no dimensions has one of 1. */
struct nnv_rc_shape {
    uint32_t rank, dims[NNV_RELAY_RANK];
};

/** The value of operand i, which is a tensor. */
uint32_t nnv_rc_arg(const struct nnv_rc *c, size_t i);
/** The values of operand i, which may be a tuple. */
struct nnv_rc_list nnv_rc_args(const struct nnv_rc *c, size_t i);
/** The value of result i of the root. */
uint32_t nnv_rc_out(const struct nnv_rc *c, size_t i);
const struct nnv_relay_type *nnv_rc_type(const struct nnv_rc *c, uint32_t value);
struct nnv_rc_shape nnv_rc_shape(const struct nnv_rc *c, uint32_t value);
size_t nnv_rc_elems(const struct nnv_rc_shape *s);
bool nnv_rc_same_shape(const struct nnv_rc_shape *a, const struct nnv_rc_shape *b);
bool nnv_rc_is_byte(const struct nnv_rc *c, uint32_t value);
/** Type, scale and zero point of a value as an operand. */
struct nnv_encoding nnv_rc_encoding(struct nnv_rc *c, uint32_t value);
struct nnv_rc_quant nnv_rc_quant(struct nnv_rc *c, uint32_t value);
/** A constant whose values are known. */
bool nnv_rc_is_const(const struct nnv_rc *c, uint32_t value);
/** The numbers of a constant, of the scratch arena until the next emission; NULL (refused) if it is none. */
const double *nnv_rc_numbers(struct nnv_rc *c, uint32_t value, const char *what);
/** The one number of a constant. */
double nnv_rc_number(struct nnv_rc *c, uint32_t value, const char *what);

/* Attributes of the node, with the operator's defaults. */
int64_t nnv_rc_int_attr(const struct nnv_rc *c, const char *key, int64_t otherwise);
double nnv_rc_num_attr(const struct nnv_rc *c, const char *key, double otherwise);
const char *nnv_rc_text_attr(const struct nnv_rc *c, const char *key, const char *otherwise);
/** At most `most` integers; the number of them, 0 if there is no such attribute. One that is not a list counts as one.
 */
size_t nnv_rc_ints_attr(struct nnv_rc *c, const char *key, int64_t *to, size_t most);
/** True for operators of one dimension ("nn.conv1d"): they become those of two on images of one line. */
bool nnv_rc_is_line(const struct nnv_rc *c);
/** Two values, or one for both; of a line, 1 and the one. */
void nnv_rc_pair_attr(struct nnv_rc *c, const char *key, int64_t otherwise, int64_t to[2]);
/** The layout of an attribute that is NCHW unless it says otherwise; NCW and NWC of a line are NCHW and NHWC. */
const char *nnv_rc_layout_attr(const struct nnv_rc *c, const char *key);
/** The attribute padding, of one, two or four values (of a line: left, right): top, left, bottom, right. */
void nnv_rc_padding_attr(struct nnv_rc *c, int64_t to[4]);
/** An axis among rank dimensions, as a number from 0. */
uint32_t nnv_rc_axis(struct nnv_rc *c, int64_t axis, uint32_t rank);

/* ------------------------------------------------------------------ operands */

/** The operand of a value; constants are made when they are asked for. */
uint32_t nnv_rc_use(struct nnv_rc *c, uint32_t value);
/** The operand of operand i of the node, and of result i of the root. */
uint32_t nnv_rc_in(struct nnv_rc *c, size_t i);
uint32_t nnv_rc_result(struct nnv_rc *c, size_t i);
/** Result i is this operand: nothing is computed. */
void nnv_rc_is(struct nnv_rc *c, size_t i, uint32_t operand);
uint32_t nnv_rc_temp(struct nnv_rc *c, struct nnv_encoding e, const struct nnv_rc_shape *shape);
/** Stored numbers (of bytes: codes) as a constant. */
uint32_t nnv_rc_const(struct nnv_rc *c, struct nnv_encoding e, const struct nnv_rc_shape *shape, const double *v);
/** The same number everywhere. */
uint32_t nnv_rc_filled(struct nnv_rc *c, struct nnv_encoding e, const struct nnv_rc_shape *shape, double v);
/** A constant [1] of a stored number. */
uint32_t nnv_rc_one(struct nnv_rc *c, struct nnv_encoding e, double v);
uint32_t nnv_rc_int(struct nnv_rc *c, int64_t v);
/** A FLOAT16 scalar beside float16 tensors, else FLOAT32. */
uint32_t nnv_rc_float(struct nnv_rc *c, struct nnv_encoding beside, double v);
uint32_t nnv_rc_ints(struct nnv_rc *c, size_t n, const int64_t *v);
#define NNV_RC_I32_TENSOR ((struct nnv_encoding){ANEURALNETWORKS_TENSOR_INT32, 0, 0})
#define NNV_RC_F32_TENSOR ((struct nnv_encoding){ANEURALNETWORKS_TENSOR_FLOAT32, 0, 0})
#define NNV_RC_BOOL_TENSOR ((struct nnv_encoding){ANEURALNETWORKS_TENSOR_BOOL8, 0, 0})

/* ------------------------------------------------------------------ emission */

/**
 * An operation, checked by its record: refused if its types, shapes or level do not allow it. But for IF and WHILE:
 * what they refer to is no part of what is checked.
 */
void nnv_rc_emit_n(struct nnv_rc *c, int32_t code, uint32_t nin, const uint32_t *in, uint32_t nout,
                   const uint32_t *out);
/** The same with one output and the inputs as arguments. */
#define NNV_RC_EMIT(c, code, out, ...)                                                                                 \
    nnv_rc_emit_n((c), (code), sizeof((uint32_t[]){__VA_ARGS__}) / sizeof(uint32_t), (uint32_t[]){__VA_ARGS__}, 1,     \
                  &(uint32_t){out})
/** An operation of one operand, to a temporary of its type and shape. */
uint32_t nnv_rc_applied(struct nnv_rc *c, int32_t code, uint32_t operand);
/** ADD, SUB, MUL or DIV without activation, to a temporary of the type and shape of a, to which b is stretched. */
uint32_t nnv_rc_combined(struct nnv_rc *c, int32_t code, uint32_t a, uint32_t b);
/** The same with a number. */
uint32_t nnv_rc_by(struct nnv_rc *c, int32_t code, uint32_t a, double number);
/** A point to go back to. */
struct nnv_rc_mark {
    uint32_t operands, operations;
    int level;
};
struct nnv_rc_mark nnv_rc_mark(const struct nnv_rc *c);
/** Takes back what was made since, and the refusal. */
void nnv_rc_back(struct nnv_rc *c, struct nnv_rc_mark mark);

/** What an operand is. */
struct nnv_rc_shape nnv_rc_operand_shape(const struct nnv_rc *c, uint32_t operand);
/** The same elements in another shape, written to `to`, or (NNV_RC_NONE) to a temporary; the operand that has them. */
uint32_t nnv_rc_reshaped(struct nnv_rc *c, uint32_t operand, const struct nnv_rc_shape *shape, uint32_t to);
/** Axis i of the result is axis perm[i] of the operand; a constant is transposed now. */
uint32_t nnv_rc_transposed(struct nnv_rc *c, uint32_t operand, const uint32_t *perm, uint32_t to);
/** The fused activation of the root as a scalar. */
uint32_t nnv_rc_act(struct nnv_rc *c);
/** FUSED code of a relu or clip of floats, or -1. */
int nnv_rc_act_of(const struct nnv_relay_expr *e);

/** The elements of `in`, bytes or numbers, limited to stored numbers from low to high; written to `out`. */
void nnv_rc_limited(struct nnv_rc *c, uint32_t in, uint32_t out, double low, double high);
/** The least and largest code of a byte type, and the bounds of a clip or relu node in stored numbers. */
void nnv_rc_code_range(struct nnv_encoding e, double *low, double *high);
void nnv_rc_clip_bounds(const struct nnv_rc_node *n, double *low, double *high);

/** Data in NCHW order: the operation is told so, or the data are transposed before and back behind it. */
struct nnv_rc_layout {
    bool nchw, flag;                      /**< flag: a BOOL operand says it */
    uint32_t n, c, h, w;                  /**< where these are in the operand as the operation takes it */
    uint32_t in, out;                     /**< operands for the operation */
    uint32_t image;                       /**< the result as the program has it, of a line as an image */
    struct nnv_rc_shape shape, out_shape; /**< of in and out */
};
/** A shape of three dimensions, a line, as that of an image; others as they are. */
struct nnv_rc_shape nnv_rc_image(const struct nnv_rc_shape *shape, const char *layout);
/** Prepares operand `data` and result 0 of an operation on layout ("NCHW", "NHWC"), which has a flag for it or not. */
struct nnv_rc_layout nnv_rc_layout(struct nnv_rc *c, uint32_t data, uint32_t result, const char *layout, bool has_flag);
/** Transposes the output back if it was transposed. */
void nnv_rc_layout_end(struct nnv_rc *c, const struct nnv_rc_layout *l, uint32_t result);

#endif
