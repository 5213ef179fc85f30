/* SPDX-License-Identifier: Apache-2.0 */
/** @file convert.h Operations of NNAPI as operators of TensorFlow Lite that mean the same. */
#ifndef TFLITE_CONVERT_H
#define TFLITE_CONVERT_H

#include "engine/operation.h"
#include "model.h"

/** BuiltinOperator of the file format, as far as operators stand in no row of the table. */
enum {
    TF_PAD = 34,
    TF_RELU = 19,
    TF_RELU_N1_TO_1 = 20,
    TF_RELU6 = 21,
    TF_RESHAPE = 22,
    TF_TRANSPOSE = 39,
    TF_FLOOR_DIV = 90,
};

struct tf_conversion;

/** An operation: what it becomes. */
struct tf_row {
    int32_t code; /**< OperationCode */
    /** Adds the operators to the model; false: none means the same, c->reason may say why. */
    bool (*convert)(struct tf_conversion *c);
    int32_t builtin;
    uint8_t version, version8; /**< of the operator; for signed 8-bit values */
    uint8_t options_tag;
    uint8_t inputs;         /**< that tf_plain passes on; others are parameters */
    bool one_quant;         /**< tf_plain: quantised inputs and outputs must have one scale and zero point */
    uint8_t constants_from; /**< tf_plain: inputs from this one on are parameters, and constants; 0: none */
    uint8_t broadcast_rank; /**< tf_plain: above it TensorFlow Lite dies of inputs that differ in shape; 0: never */
};

struct tf_conversion {
    struct tf_model *model;
    const struct tf_row *row;
    struct engine_operation op;
    int32_t *of; /**< for each tensor of the graph: its index in the model, or -1 */
    uint32_t node;
    bool loose;         /**< also what TensorFlow Lite is known to die of */
    const char *reason; /**< why it can't; static */
};

/** Adds the operators of one node; false: there are none that mean the same, reason says why. */
bool tf_convert(struct tf_model *m, const struct engine_graph *graph, uint32_t node, bool loose, int32_t *of,
                const char **reason);

/* -------------------------------------------------------------- for conversions */

/** False, for that reason. */
bool tf_refuse(struct tf_conversion *c, const char *reason);
/** The tensor of the model that stands for one of the graph. */
int32_t tf_use(struct tf_conversion *c, uint32_t tensor);
int32_t tf_use_in(struct tf_conversion *c, uint32_t i);
int32_t tf_use_out(struct tf_conversion *c, uint32_t i);
/** A tensor as t, with other extents; its value is computed. */
int32_t tf_temporary(struct tf_conversion *c, const struct engine_tensor *t, uint32_t rank, const int32_t *dims);
/** A constant; bytes are copied. rank 0: a scalar; else it has the extents. */
int32_t tf_constant(struct tf_conversion *c, enum tf_type type, uint32_t rank, const int32_t *dims, const void *value,
                    size_t bytes);
int32_t tf_int32_list(struct tf_conversion *c, const int32_t *list, uint32_t count);

/** The row's operator, to which inputs, outputs and options are then added. */
void tf_operator(struct tf_conversion *c);
/** Another one. */
void tf_other_operator(struct tf_conversion *c, int32_t builtin, int32_t version, uint8_t options_tag);
void tf_in(struct tf_conversion *c, int32_t tensor);
void tf_out(struct tf_conversion *c, int32_t tensor);
/** Scalar options, by the number of their field. */
void tf_option(struct tf_conversion *c, uint16_t id, int32_t value);
void tf_option_byte(struct tf_conversion *c, uint16_t id, int32_t value);
void tf_option_float(struct tf_conversion *c, uint16_t id, float value);
/** A list of integers that live as long as the graph. */
void tf_option_list(struct tf_conversion *c, uint16_t id, const int32_t *list, uint32_t count);
/** RESHAPE from one tensor to another with these extents. */
void tf_reshape(struct tf_conversion *c, int32_t from, int32_t to, uint32_t rank, const int32_t *dims);
/** All constants there are among the inputs [first, last], else it refuses. */
bool tf_need_constants(struct tf_conversion *c, uint32_t first, uint32_t last);
/** True if images have their channels last (input i, which may be absent, says), else it refuses. */
bool tf_need_nhwc(struct tf_conversion *c, uint32_t i);
bool tf_is_signed8(const struct engine_tensor *t);
/** Extents as the file has them. */
void tf_dims(const struct engine_tensor *t, int32_t *dims);

/* ------------------------------------------------------------------- conversions */

bool tf_plain(struct tf_conversion *c);
bool tf_compare(struct tf_conversion *c);
bool tf_binary(struct tf_conversion *c);
bool tf_rsqrt(struct tf_conversion *c);
bool tf_elu(struct tf_conversion *c);
bool tf_softmax(struct tf_conversion *c);
bool tf_log_softmax(struct tf_conversion *c);
bool tf_normalise(struct tf_conversion *c);
bool tf_reduce(struct tf_conversion *c);
bool tf_arg(struct tf_conversion *c);
bool tf_cast(struct tf_conversion *c);
bool tf_fill(struct tf_conversion *c);
bool tf_batch_matmul(struct tf_conversion *c);

bool tf_conv(struct tf_conversion *c);
bool tf_transpose_conv(struct tf_conversion *c);
bool tf_fully_connected(struct tf_conversion *c);
bool tf_pool(struct tf_conversion *c);

bool tf_concatenation(struct tf_conversion *c);
bool tf_split(struct tf_conversion *c);
bool tf_pack(struct tf_conversion *c);
bool tf_to_shape(struct tf_conversion *c);
bool tf_squeeze(struct tf_conversion *c);
bool tf_strided_slice(struct tf_conversion *c);
bool tf_gather(struct tf_conversion *c);
bool tf_pad_value(struct tf_conversion *c);
bool tf_mirror_pad(struct tf_conversion *c);
bool tf_block(struct tf_conversion *c);
bool tf_space_to_batch(struct tf_conversion *c);
bool tf_batch_to_space(struct tf_conversion *c);
bool tf_resize(struct tf_conversion *c);
bool tf_shuffle(struct tf_conversion *c);

#endif
