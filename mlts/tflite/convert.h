/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file convert.h What the converters of TensorFlow Lite's operators share: operands, constants, options, emission.
 *
 * One operator is converted at a time. An error or a refusal is kept: all that is asked for afterwards does nothing
 * and gives operand 0, which is always there, so that converters read as a list of what they emit. An operation whose
 * inputs are all constants is evaluated at once, and its output becomes a constant: this resolves computed shapes.
 */
#ifndef NNV_MLTS_CONVERT_H
#define NNV_MLTS_CONVERT_H

#include "mlts/tflite/tflite_file.h"
#include "reference/model/builder.h"

/** BuiltinOperator: NNV_TFL_ADD ... */
enum {
#define X(name, number) NNV_TFL_##name = number,
#include "mlts/tflite/tflite_operators.def"
#undef X
};

struct nnv_cv;

/** How an operator is converted: a row of a table. */
struct nnv_converter {
    int code;        /**< NNV_TFL_... */
    uint8_t options; /**< BuiltinOptions; 0: it has none */
    bool may_lack;   /**< the options may be absent: defaults are meant then */
    uint8_t least_in, most_in, least_out, most_out;
    uint8_t main;   /**< the input whose type is looked at first */
    uint32_t types; /**< of that input: NNV_CV_FLOAT ... */
    void (*convert)(struct nnv_cv *c);
    int32_t nnapi; /**< for converters that several rows share */
};

/** Sets of types. */
enum {
    NNV_CV_FLOAT = 1 << NNV_TFL_FLOAT32,
    NNV_CV_QUANT = 1 << NNV_TFL_UINT8 | 1 << NNV_TFL_INT8,
    NNV_CV_INT = 1 << NNV_TFL_INT32 | 1 << NNV_TFL_INT64,
    NNV_CV_BOOL = 1 << NNV_TFL_BOOL,
    NNV_CV_HALF = 1 << NNV_TFL_FLOAT16,
    NNV_CV_NUMBER = NNV_CV_FLOAT | NNV_CV_QUANT,
    NNV_CV_ANY = NNV_CV_NUMBER | NNV_CV_INT | NNV_CV_BOOL,
    NNV_CV_MANY = 255, /**< most_in, most_out: any number */
};

/** A kind of use that is not supported, with its count. */
struct nnv_cv_refusal {
    char what[96];
    uint32_t count;
};

/** A subgraph of the file as a referenced one of the model. */
struct nnv_cv_part {
    bool begun, done;
    uint32_t index; /**< into nnv_model.referenced */
};

/** The whole file. */
struct nnv_cv_file {
    struct nnv_arena *arena, *scratch;
    const struct nnv_tfl_file *file;
    enum nnv_status status; /**< the first error */
    struct nnv_err err;
    uint32_t nrefusals, refused; /**< kinds, and operators */
    size_t refusal_room;
    struct nnv_cv_refusal *refusals;
    struct nnv_cv_part *parts; /**< one a subgraph */
    uint32_t nreferenced;
    struct nnv_subgraph *referenced;
    size_t folded;   /**< work that went into constants */
    size_t constant; /**< bytes of constants so far */
};

/** One subgraph. */
struct nnv_cv {
    struct nnv_cv_file *all;
    const struct nnv_tfl_graph *graph;
    uint32_t number; /**< of the subgraph */
    struct nnv_builder b;
    uint32_t *operand; /**< of each tensor; 0: none yet */
    bool *missing;     /**< tensors that what is refused would have computed */
    bool *is_output;   /**< of the subgraph: must be computed even if constant */
    uint32_t nstates, state_room;
    uint32_t *state_tensor, *state_out; /**< variables, and the operands of their next values */
    /* The current operator. */
    const struct nnv_tfl_operator *op;
    const struct nnv_converter *row;
    uint32_t at;
};

/* -------------------------------------------------------------------- errors */

/** Nothing went wrong so far. */
bool nnv_cv_ok(const struct nnv_cv *c);
/** The file is damaged: the message gets its place. */
void nnv_cv_fail(struct nnv_cv *c, const char *fmt, ...) NNV_PRINTF(2, 3);
/** The operator cannot be expressed; its name and what is said, " of INT16", are counted. */
void nnv_cv_refuse(struct nnv_cv *c, const char *fmt, ...) NNV_PRINTF(2, 3);

/* ------------------------------------------------------------------ operands */

/** True if input i is there. */
bool nnv_cv_has(const struct nnv_cv *c, uint32_t i);
/** Tensor of input or output i; NULL if it is not there (and an error). */
const struct nnv_tfl_tensor *nnv_cv_in_tensor(struct nnv_cv *c, uint32_t i);
const struct nnv_tfl_tensor *nnv_cv_out_tensor(struct nnv_cv *c, uint32_t i);
/** Operand of input or output i of the operator. */
uint32_t nnv_cv_in(struct nnv_cv *c, uint32_t i);
uint32_t nnv_cv_out(struct nnv_cv *c, uint32_t i);
/** Says that output i is another operand: nothing needs to be computed. Copies where that cannot be. */
void nnv_cv_alias(struct nnv_cv *c, uint32_t i, uint32_t operand);
/** Operand of a tensor of the subgraph. */
uint32_t nnv_cv_tensor(struct nnv_cv *c, uint32_t tensor);
/** What an operand is; good until the next one is added. */
const struct nnv_operand *nnv_cv_at(const struct nnv_cv *c, uint32_t operand);
/** A value between operations. */
uint32_t nnv_cv_temp(struct nnv_cv *c, struct nnv_encoding e, uint32_t rank, const uint32_t *dims);
/** The same shape in another encoding, and the same encoding in another shape. */
uint32_t nnv_cv_temp_as(struct nnv_cv *c, struct nnv_encoding e, uint32_t like);
uint32_t nnv_cv_temp_shaped(struct nnv_cv *c, uint32_t like, uint32_t rank, const uint32_t *dims);
#define NNV_CV_F32 ((struct nnv_encoding){ANEURALNETWORKS_TENSOR_FLOAT32, 0, 0})
#define NNV_CV_I32 ((struct nnv_encoding){ANEURALNETWORKS_TENSOR_INT32, 0, 0})
#define NNV_CV_B8 ((struct nnv_encoding){ANEURALNETWORKS_TENSOR_BOOL8, 0, 0})
/** Elements of an operand, whose dims are always known. */
size_t nnv_cv_elements(const struct nnv_cv *c, uint32_t operand);
bool nnv_cv_is_const(const struct nnv_cv *c, uint32_t operand);
bool nnv_cv_is_quant(const struct nnv_cv *c, uint32_t operand);
bool nnv_cv_same_encoding(const struct nnv_cv *c, uint32_t a, uint32_t b);
bool nnv_cv_same_shape(const struct nnv_cv *c, uint32_t a, uint32_t b);

/* ----------------------------------------------------------------- constants */

/** Counts bytes of constants; false (and an error) when they are more than a sound file of this size makes. */
bool nnv_cv_room(struct nnv_cv *c, size_t bytes);

uint32_t nnv_cv_const(struct nnv_cv *c, struct nnv_encoding e, uint32_t rank, const uint32_t *dims, const void *data);
/** The extents of an operand as a constant: what RESHAPE takes. */
uint32_t nnv_cv_shape_of(struct nnv_cv *c, uint32_t operand);
/** A tensor of one and the same number. */
uint32_t nnv_cv_filled(struct nnv_cv *c, struct nnv_encoding e, uint32_t rank, const uint32_t *dims, double stored);
/** An omitted tensor. */
uint32_t nnv_cv_omitted(struct nnv_cv *c, int32_t type);
/** The values of a constant input of integers; NULL (and a refusal) if it is computed. */
const int32_t *nnv_cv_ints_of(struct nnv_cv *c, uint32_t i, uint32_t *count);
/** Such an input of exactly n integers; NULL if there are more or less. */
const int32_t *nnv_cv_ints_exact(struct nnv_cv *c, uint32_t i, uint32_t n);
/** An axis in [-rank, rank) as one in [0, rank). */
uint32_t nnv_cv_axis(struct nnv_cv *c, int32_t axis, uint32_t rank);
/** A constant input as float32, dequantised if need be; refused if it is computed and not float. */
uint32_t nnv_cv_weights_float(struct nnv_cv *c, uint32_t i);

/* ------------------------------------------------------------------- options */

int32_t nnv_cv_option(struct nnv_cv *c, unsigned slot, int32_t absent, const char *what);
/** At least 1. */
int32_t nnv_cv_option_positive(struct nnv_cv *c, unsigned slot, int32_t absent, const char *what);
/** An enumeration of the schema in a byte: 0 to most. */
int nnv_cv_option_enum(struct nnv_cv *c, unsigned slot, int most, const char *what);
bool nnv_cv_option_bool(struct nnv_cv *c, unsigned slot, bool absent, const char *what);
float nnv_cv_option_float(struct nnv_cv *c, unsigned slot, const char *what);
/** A padding code as a scalar: SAME or VALID. */
uint32_t nnv_cv_padding(struct nnv_cv *c, unsigned slot);
/** A fused activation as a scalar. */
uint32_t nnv_cv_fused(struct nnv_cv *c, unsigned slot);

/* ------------------------------------------------------------------ emission */

/** An operation; its operands are checked against its rules. */
void nnv_cv_emit(struct nnv_cv *c, int32_t code, uint32_t nin, const uint32_t *in, uint32_t out);
void nnv_cv_emit_n(struct nnv_cv *c, int32_t code, uint32_t nin, const uint32_t *in, uint32_t nout,
                   const uint32_t *out);
/** nnv_cv_emit with its inputs as arguments. */
#define NNV_CV_EMIT(c, code, out, ...)                                                                                 \
    nnv_cv_emit((c), (code), sizeof((uint32_t[]){__VA_ARGS__}) / sizeof(uint32_t), (uint32_t[]){__VA_ARGS__}, (out))

/** The operand itself if it is float32, else its dequantised value; integers are cast. */
uint32_t nnv_cv_to_float(struct nnv_cv *c, uint32_t operand);
/** Where a float32 result goes that ends in operand `to`: to itself, or a temporary. Then nnv_cv_from_float(). */
uint32_t nnv_cv_float_for(struct nnv_cv *c, uint32_t to);
/** Quantises, casts or compares with 0: what `to` takes. Nothing if they are the same. */
void nnv_cv_from_float(struct nnv_cv *c, uint32_t from, uint32_t to);
/** The same elements in another shape. */
void nnv_cv_reshape(struct nnv_cv *c, uint32_t from, uint32_t to);
/** A copy in the shape given; the operand itself if it has that shape. */
uint32_t nnv_cv_reshaped(struct nnv_cv *c, uint32_t from, uint32_t rank, const uint32_t *dims);
/** The same real numbers in the other encoding (and the same shape). */
void nnv_cv_convert(struct nnv_cv *c, uint32_t from, uint32_t to);
/** Where operations exist only for numbers: integers and booleans as float32, others as they are. */
uint32_t nnv_cv_movable(struct nnv_cv *c, uint32_t operand);
/** Data are only moved from x to y, which therefore must have one encoding; false: refused. */
bool nnv_cv_moves(struct nnv_cv *c, uint32_t x, uint32_t y);

/** The next value of the variable that is input i; it must be one. */
void nnv_cv_state(struct nnv_cv *c, uint32_t i, uint32_t next);
/** Subgraph of the file as a SUBGRAPH operand, converted if it is not yet. */
uint32_t nnv_cv_subgraph(struct nnv_cv *c, int32_t number);

/* -------------------------------------------------------------------- tables */

struct nnv_converters {
    const struct nnv_converter *row;
    size_t count;
};
extern const struct nnv_converters nnv_cv_math, nnv_cv_window, nnv_cv_move, nnv_cv_select, nnv_cv_reduce,
    nnv_cv_recurrent, nnv_cv_flow;

#endif
