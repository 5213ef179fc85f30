/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file tflite_writer.h Small .tflite files for tests: tensors and operators are added one by one, then written as a
 * FlatBuffer whose tables come before what they refer to.
 */
#ifndef KIT_TFLITE_WRITER_H
#define KIT_TFLITE_WRITER_H

#include "mlts/tflite/convert.h"
#include "mlts/tflite/tflite.h"
#include "reference/eval/eval.h"
#include "tests/kit/test.h"

enum { W_GRAPHS = 4, W_TENSORS = 64, W_OPERATORS = 16, W_INPUTS = 48, W_SLOTS = 12, W_BYTES = 1 << 16 };

struct w_tensor {
    int type;
    uint32_t rank;
    int32_t dims[8];
    const void *data; /* of a constant */
    size_t bytes;
    uint32_t nscales;
    float scales[8];
    int64_t zero;
    int axis;
    bool variable;
};

/** A field of a table: a number of 1, 4 or 8 bytes, or a vector of int32. */
struct w_field {
    unsigned bytes;
    uint64_t value;
    bool is_list;
    uint32_t count;
    int32_t list[8];
};

struct w_operator {
    int code, tag, version;
    const char *custom;
    struct w_field option[W_SLOTS];
    uint32_t nin, nout;
    int32_t in[W_INPUTS], out[8];
};

struct w_graph {
    uint32_t ntensors, noperators, nin, nout;
    struct w_tensor tensor[W_TENSORS];
    struct w_operator op[W_OPERATORS];
    int32_t in[16], out[16];
};

struct writer {
    uint32_t ngraphs;
    struct w_graph graph[W_GRAPHS];
    struct w_graph *g; /* what is being written */
    uint8_t data[W_BYTES];
    uint32_t size;
};

struct writer *w_new(void);

/** Begins another subgraph. */
void w_next_graph(struct writer *w);

int w_add(struct writer *w, int type, uint32_t rank, const int32_t *dims);

#define W_COUNT(...) (sizeof((int32_t[]){__VA_ARGS__}) / sizeof(int32_t))
/** A tensor of a type with these extents; a scalar. */
#define W_TENSOR(w, type, ...) w_add((w), (type), W_COUNT(__VA_ARGS__), (const int32_t[]){__VA_ARGS__})
#define W_SCALAR(w, type) w_add((w), (type), 0, (const int32_t[]){0})

/** Gives the tensor that was added last its data. */
int w_data(struct writer *w, int tensor, const void *data, size_t bytes);

/** Constants: the array is the test's and stays. */
#define W_CONST(w, type, values, ...) w_data((w), W_TENSOR((w), (type), __VA_ARGS__), (values), sizeof(values))
#define W_INTS(w, ...)                                                                                                 \
    w_data((w), W_TENSOR((w), NNV_TFL_INT32, (int32_t)W_COUNT(__VA_ARGS__)), (const int32_t[]){__VA_ARGS__},           \
           W_COUNT(__VA_ARGS__) * 4)
#define W_INT(w, v) w_data((w), W_SCALAR((w), NNV_TFL_INT32), (const int32_t[]){v}, 4)

/** Scale and zero point. */
int w_quant(struct writer *w, int tensor, double scale, int64_t zero);

int w_input(struct writer *w, int tensor);

int w_output(struct writer *w, int tensor);

/** An operator with the tag of its options (0: none). Inputs up to the first -2. */
struct w_operator *w_op(struct writer *w, int code, int tag, uint32_t nin, const int32_t *in, uint32_t nout,
                        const int32_t *out);
/** One output; inputs as arguments. */
#define W_OP(w, code, tag, out, ...)                                                                                   \
    w_op((w), (code), (tag), W_COUNT(__VA_ARGS__), (const int32_t[]){__VA_ARGS__}, 1, (const int32_t[]){out})

struct w_operator *w_byte(struct w_operator *o, unsigned slot, int v);
struct w_operator *w_int(struct w_operator *o, unsigned slot, int32_t v);
struct w_operator *w_real(struct w_operator *o, unsigned slot, float v);

/* ------------------------------------------------------------------ the file */

#define W_REF ((struct w_field){.bytes = 4})

/** Writes and imports. */
enum nnv_status w_import(struct writer *w, struct nnv_arena *arena, struct nnv_network *net, struct nnv_err *err);

#endif
