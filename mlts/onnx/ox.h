/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file ox.h What the converters of ONNX's operators share, beside mlts/convert: values with their types and shapes,
 * attributes, results.
 *
 * A value's operand has its shape; a scalar is one element, and what has more than four dimensions lies flat, since
 * most of NNAPI ends there. Types: INT8 and UINT8 are NNAPI's quantised ones, of scale 1 where no node says otherwise;
 * all other integers are kept as int32.
 */
#ifndef NNV_MLTS_ONNX_OX_H
#define NNV_MLTS_ONNX_OX_H

#include "mlts/convert/convert.h"
#include "mlts/onnx/onnx_file.h"

enum { NNV_OX_RANK = NNV_ONNX_MOST_RANK, NNV_OX_MOST = 255 };

/** Type and shape as ONNX has them. */
struct nnv_ox_value {
    int type; /**< enum nnv_onnx_type */
    uint32_t rank;
    uint32_t dims[NNV_OX_RANK];
};

/** How an operator is converted: a row of a table. */
struct nnv_ox_row {
    const char *op;
    uint8_t least_in, most_in; /**< NNV_OX_MOST: any number */
    uint32_t types;            /**< of the first input: NNV_OX_FLOAT ... */
    void (*convert)(struct nnv_cv *c);
    int32_t nnapi; /**< for converters that several rows share */
};

struct nnv_ox_rows {
    const struct nnv_ox_row *row;
    size_t count;
};
extern const struct nnv_ox_rows nnv_ox_math, nnv_ox_activate, nnv_ox_move, nnv_ox_select, nnv_ox_reduce, nnv_ox_window,
    nnv_ox_pool, nnv_ox_product, nnv_ox_norm, nnv_ox_quant, nnv_ox_recurrent, nnv_ox_resize, nnv_ox_shape;

/** Sets of types. */
#define NNV_OX_SET(type) (1u << NNV_ONNX_##type)
#define NNV_OX_FLOAT (NNV_OX_SET(FLOAT) | NNV_OX_SET(FLOAT16))
#define NNV_OX_BYTE (NNV_OX_SET(INT8) | NNV_OX_SET(UINT8))
#define NNV_OX_WIDE                                                                                                    \
    (NNV_OX_SET(INT16) | NNV_OX_SET(UINT16) | NNV_OX_SET(INT32) | NNV_OX_SET(UINT32) | NNV_OX_SET(INT64) |             \
     NNV_OX_SET(UINT64))
#define NNV_OX_INT (NNV_OX_BYTE | NNV_OX_WIDE)
/** Of a few bits: only cast and (de)quantised. */
#define NNV_OX_SMALL (NNV_OX_SET(INT4) | NNV_OX_SET(UINT4) | NNV_OX_SET(INT2) | NNV_OX_SET(UINT2))
#define NNV_OX_BOOL NNV_OX_SET(BOOL)
#define NNV_OX_NUMBER (NNV_OX_FLOAT | NNV_OX_INT)
#define NNV_OX_ANY (NNV_OX_NUMBER | NNV_OX_BOOL)

/** One import. */
struct nnv_ox {
    const struct nnv_onnx_graph *graph;
    int64_t opset;
    const struct nnv_onnx_tensor *const *given; /**< by input of the graph, or NULL */
    const struct nnv_onnx_tensor **constant;    /**< by value: initialisers, Constant nodes, and given inputs */
    int32_t *input;                             /**< by value: number of the graph's input, or -1 */
    struct nnv_ox_value *value;                 /**< by value */
    struct nnv_encoding *encoding;              /**< by value: of INT8 and UINT8 */
    /* The current node. */
    const struct nnv_onnx_node *node;
    const struct nnv_ox_row *row;
    uint32_t at;
    bool *seen; /**< by attribute: the converter has asked for it */
};

/* ---------------------------------------------------------------------- values */

/** True if input i is there. */
bool nnv_ox_has(const struct nnv_cv *c, uint32_t i);
/** True if output k may be read. */
bool nnv_ox_wants(const struct nnv_cv *c, uint32_t k);
/** Type and shape of input i; of one that is not there, a float scalar (and an error). */
const struct nnv_ox_value *nnv_ox_value(struct nnv_cv *c, uint32_t i);
/** Operand of input i. */
uint32_t nnv_ox_in(struct nnv_cv *c, uint32_t i);
/** The same seen in another shape. */
uint32_t nnv_ox_in_shape(struct nnv_cv *c, uint32_t i, uint32_t rank, const uint32_t *dims);
/** The tensor that input i is known to hold; NULL: it is computed. Inputs of the graph are known if a value is given.
 */
const struct nnv_onnx_tensor *nnv_ox_tensor(struct nnv_cv *c, uint32_t i);
/** The integers of input i, which must be known; NULL (and a refusal) if they are not. */
const int64_t *nnv_ox_ints(struct nnv_cv *c, uint32_t i, uint32_t *count);
/** The numbers of input i, likewise. */
const double *nnv_ox_numbers(struct nnv_cv *c, uint32_t i, uint32_t *count);
/** The tensor that input i is known to hold as a constant operand, stored as e says. */
uint32_t nnv_ox_fixed(struct nnv_cv *c, uint32_t i, struct nnv_encoding e);
/** NNAPI's form of an ONNX type, of scale 1 where it is quantised; false with a refusal. */
bool nnv_ox_encode(struct nnv_cv *c, int type, struct nnv_encoding *e);

/** Elements of a shape. */
size_t nnv_ox_elements(const struct nnv_ox_value *v);
/** Output k is this operand, of the ONNX type and shape; it is seen in that shape if it has another. */
void nnv_ox_give(struct nnv_cv *c, uint32_t k, uint32_t operand, int type, uint32_t rank, const uint32_t *dims);
/** The same with the type and shape of input i. */
void nnv_ox_give_like(struct nnv_cv *c, uint32_t k, uint32_t operand, uint32_t i);
/** Output k is this constant list of integers. */
void nnv_ox_give_ints(struct nnv_cv *c, uint32_t k, uint32_t rank, const uint32_t *dims, const int64_t *v);

/** Extents before and behind an axis, multiplied: a shape of three dimensions in which the axis is the middle one. */
void nnv_ox_around(const struct nnv_ox_value *v, uint32_t axis, uint32_t three[3]);

/* ------------------------------------------------------------------ attributes */

int64_t nnv_ox_int(struct nnv_cv *c, const char *name, int64_t absent);
bool nnv_ox_flag(struct nnv_cv *c, const char *name, bool absent);
double nnv_ox_float(struct nnv_cv *c, const char *name, double absent);
const char *nnv_ox_string(struct nnv_cv *c, const char *name, const char *absent);
/** A list, or NULL with *count 0. */
const int64_t *nnv_ox_list(struct nnv_cv *c, const char *name, uint32_t *count);
/** An attribute as it stands, or NULL. */
const struct nnv_onnx_attribute *nnv_ox_attribute(struct nnv_cv *c, const char *name);
/** The axis that an attribute names, in [0, rank). */
uint32_t nnv_ox_axis(struct nnv_cv *c, const char *name, int64_t absent, uint32_t rank);

/* --------------------------------------------------------------------- types */

/** The integers of an operand (int32, or a quantised type of scale 1) as int32. */
uint32_t nnv_ox_widened(struct nnv_cv *c, uint32_t operand);
/** An int32 operand as an ONNX type holds it: the low bits of those of 8 and 16. */
uint32_t nnv_ox_wrapped(struct nnv_cv *c, uint32_t operand, int type);
/** Where NNAPI computes with floats only: other numbers as float32, floats as they are. */
uint32_t nnv_ox_floats(struct nnv_cv *c, uint32_t operand);
/** Back to the type of `like` (an operand): what nnv_ox_floats() made a float32. */
uint32_t nnv_ox_back(struct nnv_cv *c, uint32_t operand, uint32_t like);

/* -------------------------------------------------------------------- pieces */

/** An operation with inputs as arguments whose result is of like's type, in like's shape. */
#define NNV_OX_LIKE(c, code, like, ...)                                                                                \
    nnv_ox_computed((c), (code), (like), sizeof((uint32_t[]){__VA_ARGS__}) / sizeof(uint32_t),                         \
                    (uint32_t[]){__VA_ARGS__})
uint32_t nnv_ox_computed(struct nnv_cv *c, int32_t code, uint32_t like, uint32_t nin, const uint32_t *in);
/** a + b and so on, of one shape or one of them a constant that is broadcast: in a's type and shape. */
uint32_t nnv_ox_sum(struct nnv_cv *c, uint32_t a, uint32_t b);
uint32_t nnv_ox_difference(struct nnv_cv *c, uint32_t a, uint32_t b);
uint32_t nnv_ox_product_of(struct nnv_cv *c, uint32_t a, uint32_t b);
uint32_t nnv_ox_quotient(struct nnv_cv *c, uint32_t a, uint32_t b);
/** x * v + w for numbers. */
uint32_t nnv_ox_linear(struct nnv_cv *c, uint32_t x, double v, double w);
/** A scalar of a float operand's kind. */
uint32_t nnv_ox_scalar_like(struct nnv_cv *c, uint32_t like, double v);
/** Axes moved: axis i of the result is axis perm[i] of x. */
uint32_t nnv_ox_transposed(struct nnv_cv *c, uint32_t x, uint32_t rank, const uint32_t *perm);
/** The mean, sum ... over axes, which stay as 1. */
uint32_t nnv_ox_reduced(struct nnv_cv *c, int32_t code, uint32_t x, uint32_t n, const uint32_t *axes);
/** Elements begin to begin + size of an axis. */
uint32_t nnv_ox_part(struct nnv_cv *c, uint32_t x, uint32_t axis, uint32_t begin, uint32_t size);
/** Operands of one type one behind the other. */
uint32_t nnv_ox_joined(struct nnv_cv *c, uint32_t n, const uint32_t *x, uint32_t axis);
/** x with cells of a value before and behind each axis; pads: 2 * rank, first all before. */
uint32_t nnv_ox_padded(struct nnv_cv *c, uint32_t x, const uint32_t *pads, double value);
/** The entries of an axis that a constant list names. */
uint32_t nnv_ox_gathered(struct nnv_cv *c, uint32_t x, uint32_t axis, uint32_t n, const int32_t *index);
/** Two shapes broadcast; false (and an error) if they do not fit. */
bool nnv_ox_broadcast(struct nnv_cv *c, const struct nnv_ox_value *a, const struct nnv_ox_value *b,
                      struct nnv_ox_value *r);
/** Inputs i and k so that NNAPI broadcasts them to r: collapsed if r has more dimensions than it takes. */
void nnv_ox_pair(struct nnv_cv *c, uint32_t i, uint32_t k, const struct nnv_ox_value *r, uint32_t *a, uint32_t *b,
                 struct nnv_ox_value *seen);
/** x repeated along axes of extent 1 to the extents given (at most four). */
uint32_t nnv_ox_expanded(struct nnv_cv *c, uint32_t x, uint32_t rank, const uint32_t *dims);
/** A product: x [rows, depth] by w [columns, depth], with a bias of so many columns, or 0. */
uint32_t nnv_ox_dense(struct nnv_cv *c, uint32_t x, uint32_t w, uint32_t bias);
/** Each line along an axis of x, of shape v, times a constant matrix [to, extent]; v gets the new extent. */
uint32_t nnv_ox_mixed(struct nnv_cv *c, uint32_t x, struct nnv_ox_value *v, uint32_t axis, uint32_t to,
                      const double *matrix);

/** Windows over the last one or two axes, one seen as two: [0] of rows, [1] of columns. */
struct nnv_ox_window {
    uint32_t kernel[2], stride[2], dilation[2];
    int64_t before[2], after[2]; /**< cells; a few more behind, or less, make the extents fit */
    uint32_t in[2], out[2];
    bool ceiling; /**< the last window may reach out behind */
};
/** Reads strides, dilations, pads and auto_pad for a kernel; x: of one or two axes beside two. False: refused. */
bool nnv_ox_window_of(struct nnv_cv *c, const struct nnv_ox_value *x, const uint32_t *kernel, bool ceiling,
                      struct nnv_ox_window *w);
/** Input i, an image of one or two axes, as [N, C, H, W]. */
uint32_t nnv_ox_image(struct nnv_cv *c, uint32_t i);
/** Appends padding and strides as NNAPI takes them. */
void nnv_ox_window_inputs(struct nnv_cv *c, const struct nnv_ox_window *w, uint32_t *in, uint32_t *n);

#endif
