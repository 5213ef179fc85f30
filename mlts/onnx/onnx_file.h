/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file onnx_file.h An ONNX model as values and nodes: everything that can be checked without knowing what an operator
 * does has been checked. Source: onnx.proto, the IR specification (versions 3 to 13).
 */
#ifndef NNV_MLTS_ONNX_FILE_H
#define NNV_MLTS_ONNX_FILE_H

#include "base/arena.h"
#include "mlts/onnx/wire.h"

/** TensorProto.DataType. */
enum nnv_onnx_type {
    NNV_ONNX_UNDEFINED = 0,
    NNV_ONNX_FLOAT = 1,
    NNV_ONNX_UINT8,
    NNV_ONNX_INT8,
    NNV_ONNX_UINT16,
    NNV_ONNX_INT16,
    NNV_ONNX_INT32,
    NNV_ONNX_INT64,
    NNV_ONNX_STRING,
    NNV_ONNX_BOOL,
    NNV_ONNX_FLOAT16,
    NNV_ONNX_DOUBLE,
    NNV_ONNX_UINT32,
    NNV_ONNX_UINT64,
    NNV_ONNX_BFLOAT16 = 16,
    NNV_ONNX_UINT4 = 21,
    NNV_ONNX_INT4 = 22,
    NNV_ONNX_UINT2 = 25,
    NNV_ONNX_INT2 = 26,
    NNV_ONNX_TYPES = 27
};

enum { NNV_ONNX_MOST_RANK = 8 };

struct nnv_onnx_tensor {
    const char *name; /**< "" if it has none */
    int type;         /**< enum nnv_onnx_type */
    uint32_t rank;
    uint32_t dims[NNV_ONNX_MOST_RANK];
    size_t elems;
    const uint8_t *data; /**< little-endian, packed if of 4 bits, not aligned; NULL: of strings, or in another file */
    size_t bytes;
    bool external; /**< the data lie in another file */
};

/** AttributeProto.AttributeType. */
enum nnv_onnx_attribute_type {
    NNV_ONNX_A_FLOAT = 1,
    NNV_ONNX_A_INT,
    NNV_ONNX_A_STRING,
    NNV_ONNX_A_TENSOR,
    NNV_ONNX_A_GRAPH,
    NNV_ONNX_A_FLOATS,
    NNV_ONNX_A_INTS,
    NNV_ONNX_A_STRINGS,
    NNV_ONNX_A_OTHER /**< lists of tensors or graphs, sparse tensors, types */
};

struct nnv_onnx_attribute {
    const char *name;
    enum nnv_onnx_attribute_type type;
    float f;
    int64_t i;
    const char *s; /**< terminated; "" unless it is a string */
    const struct nnv_onnx_tensor *t;
    uint32_t count; /**< of ints, floats or strings */
    const int64_t *ints;
    const float *floats;
    const char *const *strings;
};

struct nnv_onnx_node {
    const char *op, *domain, *name; /**< domain "": ONNX's own */
    uint32_t nin, nout, nattributes;
    const int32_t *in, *out; /**< values; -1: omitted */
    const struct nnv_onnx_attribute *attributes;
};

/** What is said of an input or output. */
struct nnv_onnx_info {
    uint32_t value;
    const char *kind; /**< "tensor", "sequence", "optional", "map", "sparse tensor" */
    int type;
    bool has_shape;
    uint32_t rank;
    int64_t dims[NNV_ONNX_MOST_RANK]; /**< -1: open */
};

struct nnv_onnx_graph {
    uint32_t nvalues, nnodes, nin, nout;
    const char *const *names;                         /**< of values */
    const struct nnv_onnx_tensor *const *initialiser; /**< by value, or NULL */
    const struct nnv_onnx_node *nodes;                /**< in the order in which they run */
    const struct nnv_onnx_info *in, *out;             /**< inputs without those that have an initialiser */
    bool sparse;                                      /**< has sparse initialisers, which are not read */
};

struct nnv_onnx_file {
    struct nnv_wire wire;
    int64_t opset; /**< of ONNX's own operators; 0: none */
    struct nnv_onnx_graph graph;
};

/**
 * Reads and checks. data must outlive *out, all else is arena's. where names the file in errors. Checked: every length;
 * the bytes of tensors; that each value is computed once, and before it is read. NNV_INVALID: one error with the place.
 */
NNV_USE_RESULT enum nnv_status nnv_onnx_read(const void *data, size_t size, const char *where, struct nnv_arena *arena,
                                             struct nnv_onnx_file *out, struct nnv_err *err);
/** Reads a TensorProto: what the .pb files of ONNX's test data hold. NNV_INVALID, NNV_NO_MEMORY. */
NNV_USE_RESULT enum nnv_status nnv_onnx_read_tensor(const void *data, size_t size, const char *where,
                                                    struct nnv_arena *arena, struct nnv_onnx_tensor *out,
                                                    struct nnv_err *err);

/** Bits of an element; 0: of no fixed size. */
unsigned nnv_onnx_type_bits(int type);
/** "FLOAT" ...; "type 99" for those that no version has. */
const char *nnv_onnx_type_name(int type);
/** Element i as an integer (of integers and booleans), as a number. */
int64_t nnv_onnx_int(const struct nnv_onnx_tensor *t, size_t i);
double nnv_onnx_number(const struct nnv_onnx_tensor *t, size_t i);

#endif
