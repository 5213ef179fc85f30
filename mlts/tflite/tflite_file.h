/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file tflite_file.h A .tflite file as tensors and operators: everything that can be checked without knowing what an
 * operator does has been checked.
 */
#ifndef NNV_MLTS_TFLITE_FILE_H
#define NNV_MLTS_TFLITE_FILE_H

#include "base/arena.h"
#include "mlts/tflite/flat.h"

/** TensorType of the schema, as far as it is told apart here. */
enum nnv_tfl_type {
    NNV_TFL_FLOAT32 = 0,
    NNV_TFL_FLOAT16 = 1,
    NNV_TFL_INT32 = 2,
    NNV_TFL_UINT8 = 3,
    NNV_TFL_INT64 = 4,
    NNV_TFL_STRING = 5,
    NNV_TFL_BOOL = 6,
    NNV_TFL_INT16 = 7,
    NNV_TFL_INT8 = 9,
    NNV_TFL_INT4 = 17,
    NNV_TFL_TYPES = 23
};

enum { NNV_TFL_MOST_RANK = 8 };

struct nnv_tfl_tensor {
    const char *name; /**< "" if it has none */
    int type;         /**< enum nnv_tfl_type, or another of the schema's */
    uint32_t rank;
    uint32_t dims[NNV_TFL_MOST_RANK];
    bool dynamic;        /**< the file says that an extent is open; dims hold what it stands for until then */
    bool variable;       /**< a state, kept from one execution to the next */
    bool sparse;         /**< data hold only what is not zero; the table is sparsity */
    bool odd_quantised;  /**< quantised in a way that has no scale and zero point */
    const uint8_t *data; /**< of a constant, as it lies in the file (not aligned); NULL: it is computed or given */
    size_t bytes;
    uint32_t scale_count;       /**< 0: not quantised; 1; or the extent of axis */
    const float *scales;        /**< arena's */
    const int64_t *zero_points; /**< scale_count of them */
    uint32_t axis;
    struct nnv_flat_table sparsity;
};

struct nnv_tfl_operator {
    int code;           /**< BuiltinOperator */
    const char *custom; /**< of CUSTOM; "" elsewhere */
    int version;
    uint32_t nin, nout, nbetween;
    const int32_t *in; /**< tensors; -1: omitted */
    const int32_t *out;
    const int32_t *between; /**< tensors that hold the quantisation of what is computed inside; -1: none */
    int options_type;       /**< BuiltinOptions; 0: none */
    struct nnv_flat_table options;
    struct nnv_flat_vector custom_options;
};

struct nnv_tfl_graph {
    const char *name;
    uint32_t ntensors, nin, nout, noperators;
    const struct nnv_tfl_tensor *tensors;
    const int32_t *in, *out;
    const struct nnv_tfl_operator *operators; /**< in the order in which they run */
};

struct nnv_tfl_file {
    struct nnv_flat flat;
    const char *description;
    uint32_t ngraphs;
    const struct nnv_tfl_graph *graphs; /**< the first is the model */
};

/**
 * Reads and checks. data must outlive *out, all else is arena's. where names the file in errors. Checked: all offsets;
 * indices of tensors, buffers, operator codes; shapes and the bytes of constants; quantisation parameters; that every
 * tensor is written once, by an operator, and before it is read. NNV_INVALID: one error with the place.
 */
NNV_USE_RESULT enum nnv_status nnv_tfl_read(const void *data, size_t size, const char *where, struct nnv_arena *arena,
                                            struct nnv_tfl_file *out, struct nnv_err *err);

/** Bytes of an element; 0: of no fixed size, or packed (INT4). */
size_t nnv_tfl_type_bytes(int type);
/** "FLOAT32" ... ; "type 99" is never needed: a file with unknown types is not read. */
const char *nnv_tfl_type_name(int type);
/** Elements; nnv_tfl_read() has made sure that the product does not overflow. */
size_t nnv_tfl_elements(const struct nnv_tfl_tensor *t);
/** "CONV_2D"; a custom operator's own name; NULL for a code that no version of the schema has. */
const char *nnv_tfl_operator_name(int code);

#endif
