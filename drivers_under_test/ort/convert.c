/* SPDX-License-Identifier: Apache-2.0 */
/** @file convert.c The table of operations, and what becomes of them: values, nodes and the model. */
#include "convert.h"

#include <stdio.h>
#include <string.h>

static const struct {
    int32_t code;
    bool (*convert)(struct or_conversion *c);
    const char *name; /* of ONNX's operator, where there is one */
} rows[] = {
    {ANEURALNETWORKS_ABS, or_unary, "Abs"},
    {ANEURALNETWORKS_ADD, or_binary, "Add"},
    {ANEURALNETWORKS_ARGMAX, or_arg, "ArgMax"},
    {ANEURALNETWORKS_ARGMIN, or_arg, "ArgMin"},
    {ANEURALNETWORKS_AVERAGE_POOL_2D, or_pool, "AveragePool"},
    {ANEURALNETWORKS_BATCH_MATMUL, or_batch_matmul, "MatMul"},
    {ANEURALNETWORKS_BATCH_TO_SPACE_ND, or_batch_to_space, NULL},
    {ANEURALNETWORKS_CAST, or_conversion_of_type, "Cast"},
    {ANEURALNETWORKS_CHANNEL_SHUFFLE, or_shuffle, NULL},
    {ANEURALNETWORKS_CONCATENATION, or_concatenation, "Concat"},
    {ANEURALNETWORKS_CONV_2D, or_conv, "Conv"},
    {ANEURALNETWORKS_DEPTHWISE_CONV_2D, or_conv, "Conv"},
    {ANEURALNETWORKS_DEPTH_TO_SPACE, or_block, "DepthToSpace"},
    {ANEURALNETWORKS_DEQUANTIZE, or_dequantize, "DequantizeLinear"},
    {ANEURALNETWORKS_DIV, or_binary, "Div"},
    {ANEURALNETWORKS_ELU, or_elu, "Elu"},
    {ANEURALNETWORKS_EMBEDDING_LOOKUP, or_gather, "Gather"},
    {ANEURALNETWORKS_EQUAL, or_compare, "Equal"},
    {ANEURALNETWORKS_EXP, or_unary, "Exp"},
    {ANEURALNETWORKS_EXPAND_DIMS, or_to_shape, "Reshape"},
    {ANEURALNETWORKS_FILL, or_fill, "Expand"},
    {ANEURALNETWORKS_FLOOR, or_unary, "Floor"},
    {ANEURALNETWORKS_FULLY_CONNECTED, or_fully_connected, "Gemm"},
    {ANEURALNETWORKS_GATHER, or_gather, "Gather"},
    {ANEURALNETWORKS_GREATER, or_compare, "Greater"},
    {ANEURALNETWORKS_GREATER_EQUAL, or_compare, "GreaterOrEqual"},
    {ANEURALNETWORKS_GROUPED_CONV_2D, or_conv, "Conv"},
    {ANEURALNETWORKS_HARD_SWISH, or_hard_swish, NULL},
    {ANEURALNETWORKS_INSTANCE_NORMALIZATION, or_instance_normalization, "InstanceNormalization"},
    {ANEURALNETWORKS_L2_NORMALIZATION, or_l2_normalization, "LpNormalization"},
    {ANEURALNETWORKS_L2_POOL_2D, or_pool, "AveragePool"},
    {ANEURALNETWORKS_LESS, or_compare, "Less"},
    {ANEURALNETWORKS_LESS_EQUAL, or_compare, "LessOrEqual"},
    {ANEURALNETWORKS_LOCAL_RESPONSE_NORMALIZATION, or_lrn, "LRN"},
    {ANEURALNETWORKS_LOG, or_unary, "Log"},
    {ANEURALNETWORKS_LOGICAL_AND, or_compare, "And"},
    {ANEURALNETWORKS_LOGICAL_NOT, or_unary, "Not"},
    {ANEURALNETWORKS_LOGICAL_OR, or_compare, "Or"},
    {ANEURALNETWORKS_LOGISTIC, or_unary, "Sigmoid"},
    {ANEURALNETWORKS_LOG_SOFTMAX, or_softmax, "LogSoftmax"},
    {ANEURALNETWORKS_MAXIMUM, or_binary, "Max"},
    {ANEURALNETWORKS_MAX_POOL_2D, or_pool, "MaxPool"},
    {ANEURALNETWORKS_MEAN, or_reduce, "ReduceMean"},
    {ANEURALNETWORKS_MINIMUM, or_binary, "Min"},
    {ANEURALNETWORKS_MIRROR_PAD, or_pad, "Pad"},
    {ANEURALNETWORKS_MUL, or_binary, "Mul"},
    {ANEURALNETWORKS_NEG, or_unary, "Neg"},
    {ANEURALNETWORKS_NOT_EQUAL, or_compare, "Equal"},
    {ANEURALNETWORKS_PACK, or_pack, "Concat"},
    {ANEURALNETWORKS_PAD, or_pad, "Pad"},
    {ANEURALNETWORKS_PAD_V2, or_pad, "Pad"},
    {ANEURALNETWORKS_POW, or_binary, "Pow"},
    {ANEURALNETWORKS_PRELU, or_prelu, "PRelu"},
    {ANEURALNETWORKS_QUANTIZE, or_quantize, "QuantizeLinear"},
    {ANEURALNETWORKS_REDUCE_ALL, or_reduce_bool, "ReduceMin"},
    {ANEURALNETWORKS_REDUCE_ANY, or_reduce_bool, "ReduceMax"},
    {ANEURALNETWORKS_REDUCE_MAX, or_reduce, "ReduceMax"},
    {ANEURALNETWORKS_REDUCE_MIN, or_reduce, "ReduceMin"},
    {ANEURALNETWORKS_REDUCE_PROD, or_reduce, "ReduceProd"},
    {ANEURALNETWORKS_REDUCE_SUM, or_reduce, "ReduceSum"},
    {ANEURALNETWORKS_RELU, or_relu, NULL},
    {ANEURALNETWORKS_RELU1, or_relu, NULL},
    {ANEURALNETWORKS_RELU6, or_relu, NULL},
    {ANEURALNETWORKS_RESHAPE, or_to_shape, "Reshape"},
    {ANEURALNETWORKS_RESIZE_BILINEAR, or_resize, "linear"},
    {ANEURALNETWORKS_RESIZE_NEAREST_NEIGHBOR, or_resize, "nearest"},
    {ANEURALNETWORKS_REVERSE, or_reverse, "Slice"},
    {ANEURALNETWORKS_RSQRT, or_rsqrt, "Sqrt"},
    {ANEURALNETWORKS_SELECT, or_select, "Where"},
    {ANEURALNETWORKS_SIN, or_unary, "Sin"},
    {ANEURALNETWORKS_SLICE, or_slice, "Slice"},
    {ANEURALNETWORKS_SOFTMAX, or_softmax, "Softmax"},
    {ANEURALNETWORKS_SPACE_TO_BATCH_ND, or_space_to_batch, NULL},
    {ANEURALNETWORKS_SPACE_TO_DEPTH, or_block, "SpaceToDepth"},
    {ANEURALNETWORKS_SPLIT, or_split, "Split"},
    {ANEURALNETWORKS_SQRT, or_unary, "Sqrt"},
    {ANEURALNETWORKS_SQUEEZE, or_to_shape, "Reshape"},
    {ANEURALNETWORKS_STRIDED_SLICE, or_strided_slice, "Slice"},
    {ANEURALNETWORKS_SUB, or_binary, "Sub"},
    {ANEURALNETWORKS_TANH, or_unary, "Tanh"},
    {ANEURALNETWORKS_TILE, or_tile, "Tile"},
    {ANEURALNETWORKS_TOPK_V2, or_top_k, "TopK"},
    {ANEURALNETWORKS_TRANSPOSE, or_permute, "Transpose"},
    {ANEURALNETWORKS_TRANSPOSE_CONV_2D, or_transpose_conv, "ConvTranspose"},
};

bool or_refuse(struct or_conversion *c, const char *reason) {
    c->reason = reason;
    return false;
}

static bool lacks_type(const struct engine_operation *op) {
    for (uint32_t i = 0; i < op->node->in_count; i++)
        if (or_type_of(engine_in(op, i)) == OR_NO_TYPE) return true;
    for (uint32_t i = 0; i < op->node->out_count; i++)
        if (or_type_of(engine_out(op, i)) == OR_NO_TYPE) return true;
    return false;
}

bool or_convert(struct or_graph *g, const struct engine_graph *graph, uint32_t node, const char **reason) {
    struct or_conversion c = {.graph = g,
                              .op = {.node = &graph->nodes[node], .tensors = graph->tensors},
                              .reason = "ONNX has no operators that mean the same"};
    bool ok = false;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (rows[i].code != c.op.node->code) continue;
        c.name = rows[i].name;
        ok = lacks_type(&c.op) ? or_refuse(&c, "ONNX has no such type") : rows[i].convert(&c);
    }
    if (ok && c.op.not_constant) ok = or_refuse(&c, "a parameter is no constant");
    if (ok && c.tie) ok = or_refuse(&c, "ONNX rounds the end of an activation's range to another code");
    *reason = c.reason;
    return ok;
}

/* ----------------------------------------------------------------------- values */

enum or_type or_type_of(const struct engine_tensor *t) {
    switch (t->type) {
    case ANEURALNETWORKS_FLOAT32:
    case ANEURALNETWORKS_TENSOR_FLOAT32:
        return OR_FLOAT;
    case ANEURALNETWORKS_FLOAT16:
    case ANEURALNETWORKS_TENSOR_FLOAT16:
        return OR_FLOAT16;
    case ANEURALNETWORKS_INT32:
    case ANEURALNETWORKS_TENSOR_INT32:
        return OR_INT32;
    case ANEURALNETWORKS_TENSOR_QUANT8_ASYMM:
        return OR_UINT8;
    case ANEURALNETWORKS_TENSOR_QUANT8_ASYMM_SIGNED:
    case ANEURALNETWORKS_TENSOR_QUANT8_SYMM:
    case ANEURALNETWORKS_TENSOR_QUANT8_SYMM_PER_CHANNEL:
        return OR_INT8;
    case ANEURALNETWORKS_BOOL:
    case ANEURALNETWORKS_TENSOR_BOOL8:
        return OR_BOOL;
    case ANEURALNETWORKS_TENSOR_QUANT16_SYMM:
        return OR_INT16;
    default:
        return OR_NO_TYPE;
    }
}

enum or_type or_real_type(const struct engine_tensor *t) {
    const enum or_type type = or_type_of(t);
    return type == OR_UINT8 || type == OR_INT8 ? OR_FLOAT : type;
}

void or_name(int value, char name[OR_NAME_BYTES]) { snprintf(name, OR_NAME_BYTES, "v%d", value); }

void or_dims(const struct engine_tensor *t, int64_t *dims) {
    for (uint32_t i = 0; i < t->rank; i++) dims[i] = t->dims[i];
}

/** An initializer: numbers of fields are those of TensorProto. */
static int add_constant(struct or_graph *g, enum or_type type, uint32_t rank, const int64_t *dims, const void *value,
                        size_t bytes) {
    enum { INITIALIZER = 5, DIMS = 1, DATA_TYPE = 2, NAME = 8, RAW_DATA = 9 };
    struct pb tensor = {0};
    char name[OR_NAME_BYTES];
    or_name(g->values, name);
    for (uint32_t i = 0; i < rank; i++) pb_int(&tensor, DIMS, dims[i]);
    pb_int(&tensor, DATA_TYPE, type);
    pb_string(&tensor, NAME, name);
    pb_bytes(&tensor, RAW_DATA, value, bytes);
    pb_message(&g->initializers, INITIALIZER, &tensor);
    pb_free(&tensor);
    return g->values++;
}

int or_use(struct or_graph *g, const struct engine_tensor *tensors, uint32_t tensor) {
    const struct engine_tensor *t = &tensors[tensor];
    int64_t dims[OR_MOST_RANK];
    or_dims(t, dims);
    if (g->of[tensor] == OR_NOWHERE)
        g->of[tensor] = t->value ? add_constant(g, or_type_of(t), t->rank, dims, t->value, t->bytes) : g->values++;
    return g->of[tensor];
}

int or_in(struct or_conversion *c, uint32_t i) { return or_use(c->graph, c->op.tensors, c->op.node->in[i]); }

void or_out(struct or_conversion *c, uint32_t i, int value) { c->graph->of[c->op.node->out[i]] = value; }

int or_constant(struct or_conversion *c, enum or_type type, uint32_t rank, const int64_t *dims, const void *value,
                size_t bytes) {
    return add_constant(c->graph, type, rank, dims, value, bytes);
}

int or_int64_list(struct or_conversion *c, const int64_t *list, uint32_t count) {
    const int64_t dims[] = {count};
    return or_constant(c, OR_INT64, 1, dims, list, count * sizeof *list);
}

/** A number that float16 holds exactly. */
static uint16_t half_of(float value) {
    enum { BIAS = 127 - 15, MANTISSA = 13 };
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    if (value == 0) return 0;
    return (uint16_t)((bits >> 16 & 0x8000) | (((bits >> 23 & 0xff) - BIAS) << 10) | (bits >> MANTISSA & 0x3ff));
}

int or_number(struct or_conversion *c, enum or_type type, double value) {
    const float number = (float)value;
    const int32_t integer = (int32_t)value;
    const uint16_t half = half_of(number);
    const uint8_t byte = (uint8_t)(int)value;
    switch (type) {
    case OR_FLOAT:
        return or_constant(c, type, 0, NULL, &number, sizeof number);
    case OR_FLOAT16:
        return or_constant(c, type, 0, NULL, &half, sizeof half);
    case OR_INT32:
        return or_constant(c, type, 0, NULL, &integer, sizeof integer);
    default:
        return or_constant(c, type, 0, NULL, &byte, sizeof byte);
    }
}

bool or_list(struct or_conversion *c, uint32_t i, int64_t list[2 * OR_MOST_RANK], uint32_t *count) {
    const struct engine_tensor *t = engine_in(&c->op, i);
    const int32_t *values = engine_list(&c->op, i);
    if (!values || t->count > 2 * OR_MOST_RANK) return or_refuse(c, "a parameter is no constant");
    for (size_t k = 0; k < t->count; k++) list[k] = values[k];
    *count = (uint32_t)t->count;
    return true;
}

/* ------------------------------------------------------------------------ nodes
 * Numbers of fields are those of NodeProto and AttributeProto. */

enum { NODE_ATTRIBUTE = 5, NAME = 1, FLOAT_VALUE = 2, INT_VALUE = 3, TEXT_VALUE = 4, INTS_VALUE = 8, TYPE = 20 };
enum { TYPE_FLOAT = 1, TYPE_INT = 2, TYPE_TEXT = 3, TYPE_INTS = 7 };

static void add_attribute(struct or_conversion *c, struct pb *attribute, const char *name, int type) {
    pb_string(attribute, NAME, name);
    pb_int(attribute, TYPE, type);
    pb_message(&c->graph->attributes, NODE_ATTRIBUTE, attribute);
    pb_free(attribute);
}

void or_attribute(struct or_conversion *c, const char *name, int64_t value) {
    struct pb a = {0};
    pb_int(&a, INT_VALUE, value);
    add_attribute(c, &a, name, TYPE_INT);
}

void or_attribute_float(struct or_conversion *c, const char *name, float value) {
    struct pb a = {0};
    pb_float(&a, FLOAT_VALUE, value);
    add_attribute(c, &a, name, TYPE_FLOAT);
}

void or_attribute_text(struct or_conversion *c, const char *name, const char *value) {
    struct pb a = {0};
    pb_string(&a, TEXT_VALUE, value);
    add_attribute(c, &a, name, TYPE_TEXT);
}

void or_attribute_list(struct or_conversion *c, const char *name, const int64_t *list, uint32_t count) {
    struct pb a = {0};
    for (uint32_t i = 0; i < count; i++) pb_int(&a, INTS_VALUE, list[i]);
    add_attribute(c, &a, name, TYPE_INTS);
}

int or_node_list(struct or_conversion *c, const char *op, const int *in, uint32_t count, uint32_t outputs) {
    enum { GRAPH_NODE = 1, INPUT = 1, OUTPUT = 2, OP_TYPE = 4 };
    struct or_graph *g = c->graph;
    struct pb node = {0};
    char name[OR_NAME_BYTES];
    const int first = g->values;
    while (count && in[count - 1] == OR_NOWHERE) count--;
    for (uint32_t i = 0; i < count; i++) {
        *name = '\0';
        if (in[i] != OR_NOWHERE) or_name(in[i], name);
        pb_string(&node, INPUT, name);
    }
    for (uint32_t i = 0; i < outputs; i++) {
        or_name(g->values++, name);
        pb_string(&node, OUTPUT, name);
    }
    pb_string(&node, OP_TYPE, op);
    pb_append(&node, &g->attributes);
    pb_clear(&g->attributes);
    pb_message(&g->nodes, GRAPH_NODE, &node);
    pb_free(&node);
    return first;
}

int or_node(struct or_conversion *c, const char *op, int a, int b, int d) {
    return or_node_list(c, op, (const int[]){a, b, d}, 3, 1);
}

/* ------------------------------------------------------------------------ model */

/** A ValueInfoProto. */
static void write_value(struct pb *graph, uint32_t field, int value, const struct engine_tensor *t) {
    enum { VALUE_TYPE = 2, TENSOR_TYPE = 1, ELEM_TYPE = 1, SHAPE = 2, DIM = 1, DIM_VALUE = 1 };
    struct pb info = {0}, type = {0}, tensor = {0}, shape = {0}, dim = {0};
    char name[OR_NAME_BYTES];
    or_name(value, name);
    for (uint32_t i = 0; i < t->rank; i++) {
        pb_clear(&dim);
        pb_int(&dim, DIM_VALUE, t->dims[i]);
        pb_message(&shape, DIM, &dim);
    }
    pb_int(&tensor, ELEM_TYPE, or_type_of(t));
    pb_message(&tensor, SHAPE, &shape);
    pb_message(&type, TENSOR_TYPE, &tensor);
    pb_string(&info, NAME, name);
    pb_message(&info, VALUE_TYPE, &type);
    pb_message(graph, field, &info);
    pb_free(&info);
    pb_free(&type);
    pb_free(&tensor);
    pb_free(&shape);
    pb_free(&dim);
}

void or_write(struct or_graph *g, const struct engine_graph *graph, struct pb *model) {
    enum {
        IR_VERSION = 1,
        GRAPH = 7,
        OPSET_IMPORT = 8,
        DOMAIN = 1,
        VERSION = 2,
        GRAPH_NAME = 2,
        INPUT = 11,
        OUTPUT = 12
    };
    enum { IR = 9, OPSET = 19 };
    struct pb body = {0}, opset = {0};
    pb_append(&body, &g->nodes);
    pb_string(&body, GRAPH_NAME, "nnvts");
    pb_append(&body, &g->initializers);
    for (uint32_t i = 0; i < graph->in_count; i++)
        write_value(&body, INPUT, or_use(g, graph->tensors, graph->in[i]), &graph->tensors[graph->in[i]]);
    for (uint32_t i = 0; i < graph->out_count; i++)
        write_value(&body, OUTPUT, or_use(g, graph->tensors, graph->out[i]), &graph->tensors[graph->out[i]]);
    pb_string(&opset, DOMAIN, "");
    pb_int(&opset, VERSION, OPSET);
    pb_int(model, IR_VERSION, IR);
    pb_message(model, GRAPH, &body);
    pb_message(model, OPSET_IMPORT, &opset);
    pb_free(&body);
    pb_free(&opset);
}
