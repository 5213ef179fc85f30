/* SPDX-License-Identifier: Apache-2.0 */
/** @file convert.c The table of operations, and what their conversions share. */
#include "convert.h"

#include <stdlib.h>
#include <string.h>

#define OP(NAME) .code = ANEURALNETWORKS_##NAME

/* Number of the operator, its version (for signed bytes), tag of its options, inputs that are passed on. */
static const struct tf_row rows[] = {
    {OP(ABS), tf_plain, 101, 1, 2, 78, 1, false},
    {OP(ADD), tf_binary, 0, 1, 2, 11, 2, false},
    {OP(ARGMAX), tf_arg, 56, 1, 2, 40, 1, false},
    {OP(ARGMIN), tf_arg, 79, 1, 2, 57, 1, false},
    {OP(AVERAGE_POOL_2D), tf_pool, 1, 1, 2, 5, 1, false},
    {OP(BATCH_MATMUL), tf_batch_matmul, 126, 1, 2, 101, 2, false},
    {OP(BATCH_TO_SPACE_ND), tf_batch_to_space, 37, 1, 2, 24, 1, true},
    {OP(CAST), tf_cast, 53, 1, 1, 37, 1, false},
    {OP(CHANNEL_SHUFFLE), tf_shuffle, TF_TRANSPOSE, 1, 2, 26, 1, true},
    {OP(CONCATENATION), tf_concatenation, 2, 1, 2, 10, 0, false},
    {OP(CONV_2D), tf_conv, 3, 1, 3, 1, 3, false},
    {OP(DEPTHWISE_CONV_2D), tf_conv, 4, 2, 3, 2, 3, false},
    {OP(DEPTH_TO_SPACE), tf_block, 5, 1, 1, 94, 1, true},
    {OP(DEQUANTIZE), tf_plain, 6, 1, 2, 38, 1, false},
    {OP(DIV), tf_binary, 42, 1, 1, 29, 2, false},
    {OP(ELU), tf_elu, 111, 1, 1, 0, 1, false},
    {OP(EMBEDDING_LOOKUP), tf_plain, 7, 1, 1, 0, 2, false},
    {OP(EQUAL), tf_compare, 71, 1, 2, 53, 2, false, .broadcast_rank = 4},
    {OP(EXP), tf_plain, 47, 1, 1, 33, 1, false},
    {OP(EXPAND_DIMS), tf_plain, 70, 1, 1, 52, 2, true, .constants_from = 1},
    {OP(FILL), tf_fill, 94, 1, 1, 68, 2, false},
    {OP(FLOOR), tf_plain, 8, 1, 1, 0, 1, false},
    {OP(FULLY_CONNECTED), tf_fully_connected, 9, 1, 4, 8, 3, false},
    {OP(GATHER), tf_gather, 36, 1, 2, 23, 1, true},
    {OP(GREATER), tf_compare, 61, 1, 2, 44, 2, false, .broadcast_rank = 4},
    {OP(GREATER_EQUAL), tf_compare, 62, 1, 2, 45, 2, false, .broadcast_rank = 4},
    {OP(GROUPED_CONV_2D), tf_conv, 3, 6, 6, 1, 3, false},
    {OP(HARD_SWISH), tf_plain, 117, 1, 1, 91, 1, false},
    {OP(HASHTABLE_LOOKUP), tf_plain, 10, 1, 1, 0, 3, false},
    {OP(L2_NORMALIZATION), tf_normalise, 11, 1, 2, 12, 1, false},
    {OP(L2_POOL_2D), tf_pool, 12, 1, 1, 5, 1, false},
    {OP(LESS), tf_compare, 58, 1, 2, 41, 2, false, .broadcast_rank = 4},
    {OP(LESS_EQUAL), tf_compare, 63, 1, 2, 46, 2, false, .broadcast_rank = 4},
    {OP(LOCAL_RESPONSE_NORMALIZATION), tf_normalise, 13, 1, 1, 13, 1, false},
    {OP(LOG), tf_plain, 73, 1, 1, 0, 1, false},
    {OP(LOGICAL_AND), tf_plain, 86, 1, 1, 62, 2, false, .broadcast_rank = 4},
    {OP(LOGICAL_NOT), tf_plain, 87, 1, 1, 63, 1, false},
    {OP(LOGICAL_OR), tf_plain, 84, 1, 1, 60, 2, false, .broadcast_rank = 4},
    {OP(LOGISTIC), tf_plain, 14, 1, 2, 0, 1, false},
    {OP(LOG_SOFTMAX), tf_log_softmax, 50, 1, 1, 36, 1, false},
    {OP(MAXIMUM), tf_plain, 55, 1, 2, 39, 2, true},
    {OP(MAX_POOL_2D), tf_pool, 17, 1, 2, 5, 1, false},
    {OP(MEAN), tf_reduce, 40, 1, 2, 27, 2, false},
    {OP(MINIMUM), tf_plain, 57, 1, 2, 39, 2, true},
    {OP(MIRROR_PAD), tf_mirror_pad, 100, 1, 2, 77, 2, true},
    {OP(MUL), tf_binary, 18, 1, 2, 21, 2, false},
    {OP(NEG), tf_plain, 59, 1, 1, 42, 1, false},
    {OP(NOT_EQUAL), tf_compare, 72, 1, 2, 54, 2, false, .broadcast_rank = 4},
    {OP(PACK), tf_pack, 83, 1, 2, 59, 0, true},
    {OP(PAD), tf_plain, TF_PAD, 1, 2, 22, 2, true, .constants_from = 1},
    {OP(PAD_V2), tf_pad_value, 60, 1, 2, 43, 2, true},
    {OP(POW), tf_plain, 78, 1, 1, 56, 2, false, .broadcast_rank = 4},
    {OP(PRELU), tf_plain, 54, 1, 1, 0, 2, false, .broadcast_rank = 4},
    {OP(QUANTIZE), tf_plain, 114, 1, 1, 89, 1, false},
    {OP(REDUCE_ALL), tf_reduce, 140, 1, 1, 27, 2, false},
    {OP(REDUCE_ANY), tf_reduce, 91, 1, 1, 27, 2, false},
    {OP(REDUCE_MAX), tf_reduce, 82, 1, 2, 27, 2, true},
    {OP(REDUCE_MIN), tf_reduce, 89, 1, 2, 27, 2, true},
    {OP(REDUCE_PROD), tf_reduce, 81, 1, 1, 27, 2, false},
    {OP(REDUCE_SUM), tf_reduce, 74, 1, 1, 27, 2, false},
    {OP(RELU), tf_plain, TF_RELU, 1, 2, 0, 1, true},
    {OP(RELU1), tf_plain, TF_RELU_N1_TO_1, 1, 1, 0, 1, true},
    {OP(RELU6), tf_plain, TF_RELU6, 1, 2, 0, 1, true},
    {OP(RESHAPE), tf_to_shape, TF_RESHAPE, 1, 1, 17, 1, true},
    {OP(RESIZE_BILINEAR), tf_resize, 23, 3, 3, 15, 1, true},
    {OP(RESIZE_NEAREST_NEIGHBOR), tf_resize, 97, 3, 3, 74, 1, true},
    {OP(REVERSE), tf_plain, 105, 1, 1, 81, 2, true, .constants_from = 1},
    {OP(RSQRT), tf_rsqrt, 76, 1, 2, 0, 1, false},
    {OP(SELECT), tf_plain, 64, 1, 1, 47, 3, true},
    {OP(SIN), tf_plain, 66, 1, 1, 0, 1, false},
    {OP(SLICE), tf_plain, 65, 1, 2, 48, 3, true, .constants_from = 1},
    {OP(SOFTMAX), tf_softmax, 25, 1, 2, 9, 1, false},
    {OP(SPACE_TO_BATCH_ND), tf_space_to_batch, 38, 1, 2, 25, 3, true},
    {OP(SPACE_TO_DEPTH), tf_block, 26, 1, 2, 19, 1, true},
    {OP(SPLIT), tf_split, 49, 1, 2, 35, 1, true},
    {OP(SQRT), tf_plain, 75, 1, 1, 0, 1, false},
    {OP(SQUEEZE), tf_squeeze, 43, 1, 1, 30, 1, true},
    {OP(STRIDED_SLICE), tf_strided_slice, 45, 1, 2, 32, 4, true},
    {OP(SUB), tf_binary, 41, 1, 2, 28, 2, false},
    {OP(TANH), tf_plain, 28, 1, 2, 0, 1, false},
    {OP(TILE), tf_plain, 69, 1, 1, 51, 2, true, .constants_from = 1},
    {OP(TOPK_V2), tf_plain, 48, 1, 2, 34, 2, false, .constants_from = 1},
    {OP(TRANSPOSE), tf_plain, TF_TRANSPOSE, 1, 2, 26, 2, true, .constants_from = 1},
    {OP(TRANSPOSE_CONV_2D), tf_transpose_conv, 67, 3, 3, 49, 0, false},
};

bool tf_refuse(struct tf_conversion *c, const char *reason) {
    c->reason = reason;
    return false;
}

/** All quantised inputs that are passed on and all outputs have one type, scale and zero point. */
static bool has_one_quant(const struct engine_operation *op) {
    const struct engine_tensor *out = engine_out(op, 0);
    for (uint32_t i = 0; i < op->node->in_count; i++)
        if (engine_is_quant(engine_in(op, i)) && !engine_same_quant(engine_in(op, i), out)) return false;
    for (uint32_t i = 0; i < op->node->out_count; i++)
        if (engine_is_quant(engine_out(op, i)) && !engine_same_quant(engine_out(op, i), out)) return false;
    return true;
}

/** One of these tensors, as far as they are used, is of a type that the file format lacks. */
static bool lacks_type(const struct tf_conversion *c, const uint32_t *tensors, uint32_t count) {
    for (uint32_t i = 0; i < count && !c->model->failed; i++)
        if (c->of[tensors[i]] >= 0 && c->model->tensors[c->of[tensors[i]]].type == TF_NO_TYPE) return true;
    return false;
}

bool tf_convert(struct tf_model *m, const struct engine_graph *graph, uint32_t node, bool loose, int32_t *of,
                const char **reason) {
    struct tf_conversion c = {.model = m,
                              .op = {.node = &graph->nodes[node], .tensors = graph->tensors},
                              .of = of,
                              .loose = loose,
                              .node = node,
                              .reason = "TensorFlow Lite has no operator that means the same"};
    bool ok = false;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].code == c.op.node->code) c.row = &rows[i];
    if (c.row && c.row->one_quant && !has_one_quant(&c.op))
        c.reason = "TensorFlow Lite takes one scale and zero point for all values";
    else if (c.row)
        ok = c.row->convert(&c);
    if (ok && c.op.not_constant) ok = tf_refuse(&c, "a parameter is no constant");
    if (ok &&
        (lacks_type(&c, c.op.node->in, c.op.node->in_count) || lacks_type(&c, c.op.node->out, c.op.node->out_count)))
        ok = tf_refuse(&c, "TensorFlow Lite has no such type");
    *reason = c.reason;
    return ok;
}

/* ----------------------------------------------------------------------- tensors */

static enum tf_type type_of(int32_t type) {
    switch (type) {
    case ANEURALNETWORKS_FLOAT32:
    case ANEURALNETWORKS_TENSOR_FLOAT32:
        return TF_FLOAT32;
    case ANEURALNETWORKS_FLOAT16:
    case ANEURALNETWORKS_TENSOR_FLOAT16:
        return TF_FLOAT16;
    case ANEURALNETWORKS_INT32:
    case ANEURALNETWORKS_TENSOR_INT32:
        return TF_INT32;
    case ANEURALNETWORKS_TENSOR_QUANT8_ASYMM:
        return TF_UINT8;
    case ANEURALNETWORKS_TENSOR_QUANT8_ASYMM_SIGNED:
    case ANEURALNETWORKS_TENSOR_QUANT8_SYMM:
    case ANEURALNETWORKS_TENSOR_QUANT8_SYMM_PER_CHANNEL:
        return TF_INT8;
    case ANEURALNETWORKS_BOOL:
    case ANEURALNETWORKS_TENSOR_BOOL8:
        return TF_BOOL;
    case ANEURALNETWORKS_TENSOR_QUANT16_SYMM:
        return TF_INT16;
    default:
        return TF_NO_TYPE;
    }
}

bool tf_is_signed8(const struct engine_tensor *t) { return type_of(t->type) == TF_INT8; }

void tf_dims(const struct engine_tensor *t, int32_t *dims) {
    for (uint32_t i = 0; i < t->rank; i++) dims[i] = (int32_t)t->dims[i];
}

static struct tf_tensor tensor_of(const struct engine_tensor *t) {
    struct tf_tensor tensor = {
        .type = type_of(t->type),
        .rank = t->rank,
        .scale = t->scale,
        .zero_point = t->zero_point,
        .channels = t->channels,
        .channel_dim = t->channel_dim,
        .scales = t->scales,
        .value = t->value,
        .bytes = t->bytes,
    };
    tf_dims(t, tensor.dims);
    return tensor;
}

int32_t tf_use(struct tf_conversion *c, uint32_t tensor) {
    if (c->of[tensor] < 0) {
        const struct tf_tensor t = tensor_of(&c->op.tensors[tensor]);
        c->of[tensor] = tf_add_tensor(c->model, &t);
    }
    return c->of[tensor];
}

int32_t tf_use_in(struct tf_conversion *c, uint32_t i) { return tf_use(c, c->op.node->in[i]); }
int32_t tf_use_out(struct tf_conversion *c, uint32_t i) { return tf_use(c, c->op.node->out[i]); }

int32_t tf_temporary(struct tf_conversion *c, const struct engine_tensor *t, uint32_t rank, const int32_t *dims) {
    struct tf_tensor tensor = tensor_of(t);
    tensor.value = NULL;
    tensor.rank = rank;
    memcpy(tensor.dims, dims, rank * sizeof *dims);
    return tf_add_tensor(c->model, &tensor);
}

int32_t tf_constant(struct tf_conversion *c, enum tf_type type, uint32_t rank, const int32_t *dims, const void *value,
                    size_t bytes) {
    struct tf_tensor tensor = {.type = type, .rank = rank, .bytes = bytes, .own = malloc(bytes + 1)};
    if (!tensor.own) {
        c->model->failed = true;
        return 0;
    }
    memcpy(tensor.own, value, bytes);
    if (rank) memcpy(tensor.dims, dims, rank * sizeof *dims);
    tensor.value = tensor.own;
    return tf_add_tensor(c->model, &tensor);
}

int32_t tf_int32_list(struct tf_conversion *c, const int32_t *list, uint32_t count) {
    return tf_constant(c, TF_INT32, 1, (const int32_t[]){(int32_t)count}, list, count * sizeof *list);
}

/* --------------------------------------------------------------------- operators */

void tf_other_operator(struct tf_conversion *c, int32_t builtin, int32_t version, uint8_t options_tag) {
    const struct tf_operator op = {.builtin = builtin, .version = version, .options_tag = options_tag, .node = c->node};
    tf_add_operator(c->model, &op);
}

void tf_operator(struct tf_conversion *c) {
    const struct tf_row *r = c->row;
    tf_other_operator(c, r->builtin, tf_is_signed8(engine_in(&c->op, 0)) ? r->version8 : r->version, r->options_tag);
}

void tf_in(struct tf_conversion *c, int32_t tensor) { tf_add_input(c->model, tensor); }
void tf_out(struct tf_conversion *c, int32_t tensor) { tf_add_output(c->model, tensor); }

static void add_option(struct tf_conversion *c, const struct fb_field *field) {
    if (c->model->failed) return;
    struct tf_operator *op = &c->model->operators[c->model->operator_count - 1];
    op->options[op->option_count++] = *field;
}

void tf_option(struct tf_conversion *c, uint16_t id, int32_t value) {
    add_option(c, &(struct fb_field){.id = id, .bytes = 4, .value = (uint32_t)value});
}

void tf_option_byte(struct tf_conversion *c, uint16_t id, int32_t value) {
    add_option(c, &(struct fb_field){.id = id, .bytes = 1, .value = (uint8_t)value});
}

void tf_option_float(struct tf_conversion *c, uint16_t id, float value) {
    struct fb_field field = {.id = id, .bytes = 4};
    memcpy(&field.value, &value, sizeof value);
    add_option(c, &field);
}

void tf_option_list(struct tf_conversion *c, uint16_t id, const int32_t *list, uint32_t count) {
    if (c->model->failed) return;
    struct tf_operator *op = &c->model->operators[c->model->operator_count - 1];
    op->option_list = list;
    op->option_list_count = count;
    add_option(c, &(struct fb_field){.id = id});
}

void tf_reshape(struct tf_conversion *c, int32_t from, int32_t to, uint32_t rank, const int32_t *dims) {
    enum { OPTIONS_TAG = 17 };
    tf_other_operator(c, TF_RESHAPE, 1, OPTIONS_TAG);
    tf_in(c, from);
    tf_in(c, tf_int32_list(c, dims, rank));
    tf_out(c, to);
}

bool tf_need_constants(struct tf_conversion *c, uint32_t first, uint32_t last) {
    return engine_constant(&c->op, first, last) || tf_refuse(c, "a parameter is no constant");
}

bool tf_need_nhwc(struct tf_conversion *c, uint32_t i) {
    return !engine_int(&c->op, i, 0) || tf_refuse(c, "TensorFlow Lite's images have their channels last");
}
