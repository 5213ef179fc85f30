/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file convert.h Operations of NNAPI as nodes of ONNX that mean the same. Values have numbers, which are their names.
 *
 * Quantised values are dequantised, computed on as floats, and quantised again, which is what NNAPI means by them, and
 * what ONNX Runtime makes its integer kernels of; what only moves values moves codes. Images are brought into ONNX's
 * layout and back.
 */
#ifndef ORT_CONVERT_H
#define ORT_CONVERT_H

#include "engine/operation.h"
#include "protobuf.h"

/** Element types of ONNX. */
enum or_type {
    OR_NO_TYPE = 0,
    OR_FLOAT = 1,
    OR_UINT8 = 2,
    OR_INT8 = 3,
    OR_INT16 = 5,
    OR_INT32 = 6,
    OR_INT64 = 7,
    OR_BOOL = 9,
    OR_FLOAT16 = 10,
};

enum { OR_NOWHERE = -1, OR_NAME_BYTES = 16, OR_MOST_RANK = ENGINE_MAX_RANK };

/** A graph while it is made. */
struct or_graph {
    struct pb nodes, initializers; /**< fields of GraphProto */
    struct pb attributes;          /**< of the next node: fields of NodeProto */
    int values;                    /**< how many there are */
    int *of;                       /**< for each tensor of the graph: its value, or OR_NOWHERE */
};

struct or_conversion {
    struct or_graph *graph;
    struct engine_operation op;
    const char *name; /**< of the operator, from the table */
    bool tie;         /**< NNAPI rounds a tie away from zero, ONNX to even, and it matters here */
    const char *reason;
};

/** Adds the nodes of one operation; false: there are none that mean the same, reason says why. */
bool or_convert(struct or_graph *g, const struct engine_graph *graph, uint32_t node, const char **reason);
/** The model: a file in memory. Inputs and outputs are those of the graph. */
void or_write(struct or_graph *g, const struct engine_graph *graph, struct pb *model);
enum or_type or_type_of(const struct engine_tensor *t);
/** "v12" */
void or_name(int value, char name[OR_NAME_BYTES]);

/* -------------------------------------------------------------- for conversions */

bool or_refuse(struct or_conversion *c, const char *reason);
/** The value of a tensor; of a constant it is made when it is first asked for. */
int or_use(struct or_graph *g, const struct engine_tensor *tensors, uint32_t tensor);
/** Input i as it is. */
int or_in(struct or_conversion *c, uint32_t i);
/** Input i as numbers: dequantised where it is quantised. */
int or_real(struct or_conversion *c, uint32_t i);
/** Output i is this value. */
void or_out(struct or_conversion *c, uint32_t i, int value);
/** Output i is this value, which is quantised where the output is. */
void or_store(struct or_conversion *c, uint32_t i, int value);
/** The type in which or_real computes. */
enum or_type or_real_type(const struct engine_tensor *t);

/** A node with the attributes given before, on up to three inputs; OR_NOWHERE for those that are left out. Its value.
 */
int or_node(struct or_conversion *c, const char *op, int a, int b, int d);
/** A node on a list of inputs. `outputs` values follow each other; the first one. */
int or_node_list(struct or_conversion *c, const char *op, const int *in, uint32_t count, uint32_t outputs);
void or_attribute(struct or_conversion *c, const char *name, int64_t value);
void or_attribute_float(struct or_conversion *c, const char *name, float value);
void or_attribute_text(struct or_conversion *c, const char *name, const char *value);
void or_attribute_list(struct or_conversion *c, const char *name, const int64_t *list, uint32_t count);

/** Constants. rank 0: a scalar. */
int or_constant(struct or_conversion *c, enum or_type type, uint32_t rank, const int64_t *dims, const void *value,
                size_t bytes);
int or_int64_list(struct or_conversion *c, const int64_t *list, uint32_t count);
/** A scalar of that type; of float16 only what it can hold exactly. */
int or_number(struct or_conversion *c, enum or_type type, double value);

int or_reshape(struct or_conversion *c, int value, const int64_t *dims, uint32_t rank);
/** To the extents of output i. */
int or_reshape_to_out(struct or_conversion *c, int value, uint32_t i);
int or_transpose(struct or_conversion *c, int value, const int64_t *order, uint32_t rank);
int or_cast(struct or_conversion *c, int value, enum or_type type);
/** A fused activation on numbers of that type, before they become the output's. */
int or_activate(struct or_conversion *c, int value, int32_t code, enum or_type type);
/** An image from [N,H,W,C], unless it is [N,C,H,W] already, and back. */
int or_to_nchw(struct or_conversion *c, int value, bool is_nchw);
int or_from_nchw(struct or_conversion *c, int value, bool is_nchw);
void or_dims(const struct engine_tensor *t, int64_t *dims);
/** The list that input i holds, as 64-bit numbers; false: it is no constant, or too long. */
bool or_list(struct or_conversion *c, uint32_t i, int64_t list[2 * OR_MOST_RANK], uint32_t *count);

/* ------------------------------------------------------------------- conversions */

bool or_unary(struct or_conversion *c);
bool or_rsqrt(struct or_conversion *c);
bool or_hard_swish(struct or_conversion *c);
bool or_relu(struct or_conversion *c);
bool or_elu(struct or_conversion *c);
bool or_binary(struct or_conversion *c);
bool or_compare(struct or_conversion *c);
bool or_prelu(struct or_conversion *c);
bool or_softmax(struct or_conversion *c);
bool or_reduce(struct or_conversion *c);
bool or_reduce_bool(struct or_conversion *c);
bool or_arg(struct or_conversion *c);
bool or_conversion_of_type(struct or_conversion *c);
bool or_quantize(struct or_conversion *c);
bool or_dequantize(struct or_conversion *c);
bool or_batch_matmul(struct or_conversion *c);
bool or_l2_normalization(struct or_conversion *c);
bool or_lrn(struct or_conversion *c);
bool or_instance_normalization(struct or_conversion *c);
bool or_top_k(struct or_conversion *c);

bool or_conv(struct or_conversion *c);
bool or_transpose_conv(struct or_conversion *c);
bool or_fully_connected(struct or_conversion *c);
bool or_pool(struct or_conversion *c);
bool or_resize(struct or_conversion *c);
bool or_block(struct or_conversion *c);

bool or_to_shape(struct or_conversion *c);
bool or_permute(struct or_conversion *c);
bool or_concatenation(struct or_conversion *c);
bool or_split(struct or_conversion *c);
bool or_pack(struct or_conversion *c);
bool or_slice(struct or_conversion *c);
bool or_strided_slice(struct or_conversion *c);
bool or_reverse(struct or_conversion *c);
bool or_gather(struct or_conversion *c);
bool or_tile(struct or_conversion *c);
bool or_pad(struct or_conversion *c);
bool or_select(struct or_conversion *c);
bool or_fill(struct or_conversion *c);
bool or_shuffle(struct or_conversion *c);
bool or_space_to_batch(struct or_conversion *c);
bool or_batch_to_space(struct or_conversion *c);

#endif
