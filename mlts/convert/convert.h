/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file convert.h What the front ends for files share: errors, operands, constants, emission.
 *
 * One operator is converted at a time. An error or a refusal is kept: all that is asked for afterwards does nothing
 * and gives operand 0, which is always there, so that converters read as a list of what they emit. An operation whose
 * inputs are all constants is evaluated at once, and its output becomes a constant: this resolves computed shapes.
 */
#ifndef NNV_MLTS_CONVERT_CONVERT_H
#define NNV_MLTS_CONVERT_CONVERT_H

#include "reference/model/builder.h"

struct nnv_cv;

/** How a front end names what is being converted. */
struct nnv_cv_front {
    /** Where: "subgraph 0, operator 3 (CONV_2D)". */
    void (*place)(const struct nnv_cv *c, char *text, size_t room);
    /** What, as refusals count it: "CONV_2D". */
    void (*what)(const struct nnv_cv *c, char *text, size_t room);
    /** The operand must be computed even if it is constant; NULL: none must. */
    bool (*must_be_computed)(const struct nnv_cv *c, uint32_t operand);
};

/** A kind of use that is not supported, with its count. */
struct nnv_cv_refusal {
    char what[96];
    uint32_t count;
};

/** The whole file. */
struct nnv_cv_file {
    struct nnv_arena *arena, *scratch;
    const struct nnv_cv_front *front;
    enum nnv_status status; /**< the first error */
    struct nnv_err err;
    uint32_t nrefusals, refused; /**< kinds, and operators */
    size_t refusal_room;
    struct nnv_cv_refusal *refusals;
    size_t folded;        /**< work that went into constants */
    size_t constant;      /**< bytes of constants so far */
    size_t most_constant; /**< that a sound file makes */
};

/** One graph: what every front end has of it. */
struct nnv_cv {
    struct nnv_cv_file *all;
    struct nnv_builder b;
    uint32_t *operand; /**< of each tensor of the file; 0: none yet */
    bool *missing;     /**< tensors that what is refused would have computed */
    bool folds;        /**< what is known is computed; else it is emitted, too */

    /* Of .tflite files (mlts/tflite). */
    struct nnv_tfl_import *tfl; /**< the whole file's */
    const struct nnv_tfl_graph *graph;
    uint32_t number;                   /**< of the subgraph */
    bool *is_output;                   /**< by tensor: of the subgraph */
    const struct nnv_tfl_operator *op; /**< the current one; NULL: none */
    const struct nnv_converter *row;   /**< how it is converted */
    uint32_t at, nstates;
    uint32_t *state_tensor, *state_out; /**< variables, and the operands of their next values */

    /* Of ONNX models (mlts/onnx). */
    struct nnv_ox *onnx;
};

/* -------------------------------------------------------------------- errors */

/** Nothing went wrong so far. */
static inline bool nnv_cv_ok(const struct nnv_cv *c) { return c->all->status == NNV_OK && nnv_builder_ok(&c->b); }
/** The file is damaged: the message gets its place. */
void nnv_cv_fail(struct nnv_cv *c, const char *fmt, ...) NNV_PRINTF(2, 3);
/** The operator cannot be expressed; its name and what is said, " of INT16", are counted. */
void nnv_cv_refuse(struct nnv_cv *c, const char *fmt, ...) NNV_PRINTF(2, 3);
/** After a refusal: on with the next part, unless the file is damaged. */
void nnv_cv_resume(struct nnv_cv *c);
/** NNV_UNSUPPORTED: "3 operators are not supported: SORT (2), CUSTOM Flex (1)". */
NNV_USE_RESULT enum nnv_status nnv_cv_refuse_all(const struct nnv_cv_file *all, struct nnv_err *err);

/* ------------------------------------------------------------------ operands */

/** Operand 0: what stands for an operand after an error. To be added first. */
void nnv_cv_nothing(struct nnv_cv *c);
/** What an operand is; good until the next one is added. */
const struct nnv_operand *nnv_cv_at(const struct nnv_cv *c, uint32_t operand);
/** A value between operations; a scalar is a tensor of one element. */
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
/** An axis in [-rank, rank) as one in [0, rank). */
uint32_t nnv_cv_axis(struct nnv_cv *c, int64_t axis, uint32_t rank);

/* ----------------------------------------------------------------- constants */

/** Counts bytes of constants; false (and an error) when they are more than a sound file of this size makes. */
bool nnv_cv_room(struct nnv_cv *c, size_t bytes);

uint32_t nnv_cv_const(struct nnv_cv *c, struct nnv_encoding e, uint32_t rank, const uint32_t *dims, const void *data);
/** The extents of an operand as a constant: what RESHAPE takes. */
uint32_t nnv_cv_shape_of(struct nnv_cv *c, uint32_t operand);
/** A tensor of one and the same number. */
uint32_t nnv_cv_filled(struct nnv_cv *c, struct nnv_encoding e, uint32_t rank, const uint32_t *dims, double stored);
/** A tensor of one number that is broadcast: of operand like's type, which is not quantised. */
uint32_t nnv_cv_number(struct nnv_cv *c, uint32_t like, double v);
/** An omitted tensor. */
uint32_t nnv_cv_omitted(struct nnv_cv *c, int32_t type);

/* ------------------------------------------------------------------ emission */

/** An operation; its operands are checked against its rules. */
void nnv_cv_emit(struct nnv_cv *c, int32_t code, uint32_t nin, const uint32_t *in, uint32_t out);
void nnv_cv_emit_n(struct nnv_cv *c, int32_t code, uint32_t nin, const uint32_t *in, uint32_t nout,
                   const uint32_t *out);
/** nnv_cv_emit with its inputs as arguments. */
#define NNV_CV_EMIT(c, code, out, ...)                                                                                 \
    nnv_cv_emit((c), (code), sizeof((uint32_t[]){__VA_ARGS__}) / sizeof(uint32_t), (uint32_t[]){__VA_ARGS__}, (out))

/** Two numbers' sum, product ... without an activation: a result in the encoding and the shape of like. */
uint32_t nnv_cv_combined(struct nnv_cv *c, int32_t code, uint32_t a, uint32_t b, uint32_t like);
/** A function of one number, in the encoding and the shape of like. */
uint32_t nnv_cv_applied(struct nnv_cv *c, int32_t code, uint32_t x, uint32_t like);
/** Functions of floats, from x to y of its type and shape: rounding, of ties to the even number; ceil(x); cos(x). */
void nnv_cv_round_to_even(struct nnv_cv *c, uint32_t x, uint32_t y);
void nnv_cv_ceiling(struct nnv_cv *c, uint32_t x, uint32_t y);
void nnv_cv_cosine(struct nnv_cv *c, uint32_t x, uint32_t y);
/** -1, 0 or 1; of integers, too. */
void nnv_cv_sign(struct nnv_cv *c, uint32_t x, uint32_t y);
/** x/2 * (1 + tanh(sqrt(2/pi) * (x + 0.044715 x^3))). */
void nnv_cv_gelu_by_tanh(struct nnv_cv *c, uint32_t x, uint32_t y);

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

#endif
