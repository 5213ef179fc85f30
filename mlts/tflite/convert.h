/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file convert.h What the converters of TensorFlow Lite's operators share, beside mlts/convert: tensors, options.
 */
#ifndef NNV_MLTS_TFLITE_CONVERT_H
#define NNV_MLTS_TFLITE_CONVERT_H

#include "mlts/convert/convert.h"
#include "mlts/tflite/tflite_file.h"

/** BuiltinOperator: NNV_TFL_ADD ... */
enum {
#define X(name, number) NNV_TFL_##name = number,
#include "mlts/tflite/tflite_operators.def"
#undef X
};

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

/** A subgraph of the file as a referenced one of the model. */
struct nnv_cv_part {
    bool begun, done;
    uint32_t index; /**< into nnv_model.referenced */
};

/** The whole file. */
struct nnv_tfl_import {
    struct nnv_cv_file all;
    const struct nnv_tfl_file *file;
    struct nnv_cv_part *parts; /**< one a subgraph */
    uint32_t nreferenced;
    struct nnv_subgraph *referenced;
};

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

/* ----------------------------------------------------------------- constants */

/** The values of a constant input of integers; NULL (and a refusal) if it is computed. */
const int32_t *nnv_cv_ints_of(struct nnv_cv *c, uint32_t i, uint32_t *count);
/** Such an input of exactly n integers; NULL if there are more or less. */
const int32_t *nnv_cv_ints_exact(struct nnv_cv *c, uint32_t i, uint32_t n);
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

/* ------------------------------------------------------------ states, subgraphs */

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
