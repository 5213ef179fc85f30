/* SPDX-License-Identifier: Apache-2.0 */
/* The table of operators, and what it says of a call. */
#include "compiler/relay/ops/ops.h"

#include <string.h>

#define VALUE(k, ...) (&(const struct nnv_relay_value){.kind = NNV_RELAY_##k, __VA_ARGS__})
#define INT(v) VALUE(INT, .i = (v))
#define NUMBER(v) VALUE(FLOAT, .f = (v))
#define TRUTH(v) VALUE(TRUTH, .i = (v))
#define TEXT(v) VALUE(STRING, .text = (v))
#define EMPTY VALUE(LIST, .n = 0)
#define PAIR(v)                                                                                                        \
    VALUE(LIST, .n = 2,                                                                                                \
          .list =                                                                                                      \
              (const struct nnv_relay_value[]){{.kind = NNV_RELAY_INT, .i = (v)}, {.kind = NNV_RELAY_INT, .i = (v)}})
#define I NNV_RELAY_ATTR_INT
#define F NNV_RELAY_ATTR_NUMBER
#define B NNV_RELAY_ATTR_TRUTH
#define S NNV_RELAY_ATTR_TEXT
#define L NNV_RELAY_ATTR_INTS
#define P NNV_RELAY_ATTR_PAIRS
#define ANY NNV_RELAY_ATTR_ANY
#define RULE(name) nnv_relay_rule_##name

#define CONV_TRANSPOSE                                                                                                 \
    {"channels", I, NULL}, {"kernel_size", L, NULL}, {"strides", L, PAIR(1)}, {"padding", L, PAIR(0)},                 \
        {"output_padding", L, PAIR(0)}, {"dilation", L, PAIR(1)}, {"groups", I, INT(1)},                               \
        {"data_layout", S, TEXT("NCHW")}, {"kernel_layout", S, TEXT("IOHW")}, {"out_layout", S, TEXT("")}, {           \
        "out_dtype", S, TEXT("")                                                                                       \
    }
#define CONV                                                                                                           \
    {"strides", L, PAIR(1)}, {"padding", L, PAIR(0)}, {"dilation", L, PAIR(1)}, {"groups", I, INT(1)},                 \
        {"channels", I, NULL}, {"kernel_size", L, NULL}, {"data_layout", S, TEXT("NCHW")},                             \
        {"kernel_layout", S, TEXT("OIHW")}, {"out_layout", S, TEXT("")}, {                                             \
        "out_dtype", S, TEXT("")                                                                                       \
    }
#define POOL                                                                                                           \
    {"pool_size", L, NULL}, {"strides", L, PAIR(1)}, {"dilation", L, PAIR(1)}, {"padding", L, PAIR(0)},                \
        {"layout", S, TEXT("NCHW")}, {"out_layout", S, TEXT("")}, {                                                    \
        "ceil_mode", B, TRUTH(0)                                                                                       \
    }
#define LAYOUT                                                                                                         \
    {"layout", S, TEXT("NCHW")}, { "out_layout", S, TEXT("") }
#define REDUCE                                                                                                         \
    {"axis", L, NULL}, {"keepdims", B, TRUTH(0)}, { "exclude", B, TRUTH(0) }
#define ARG                                                                                                            \
    REDUCE, { "select_last_index", B, TRUTH(0) }
#define FILLED                                                                                                         \
    {"shape", L, NULL}, { "dtype", S, TEXT("float32") }

/* In the order of their names. */
static const struct nnv_relay_op_row rows[] = {
    {"abs", 1, 1, RULE(same), {{NULL, ANY, NULL}}},
    {"add", 2, 2, RULE(binary), {{NULL, ANY, NULL}}},
    {"all", 1, 1, RULE(reduce), {REDUCE}},
    {"annotation.stop_fusion", 1, 1, RULE(same), {{NULL, ANY, NULL}}},
    {"any", 1, 1, RULE(reduce), {REDUCE}},
    {"arange",
     3,
     3,
     RULE(arange),
     {{"start", ANY, NULL}, {"stop", ANY, NULL}, {"step", ANY, NULL}, {"dtype", S, TEXT("float32")}}},
    {"argmax", 1, 1, RULE(arg), {ARG}},
    {"argmin", 1, 1, RULE(arg), {ARG}},
    {"argsort", 1, 1, RULE(sort), {{"axis", I, INT(-1)}, {"is_ascend", B, TRUTH(1)}, {"dtype", S, TEXT("int32")}}},
    {"atan", 1, 1, RULE(float), {{NULL, ANY, NULL}}},
    {"bitwise_and", 2, 2, RULE(bits), {{NULL, ANY, NULL}}},
    {"bitwise_not", 1, 1, RULE(bits), {{NULL, ANY, NULL}}},
    {"bitwise_or", 2, 2, RULE(bits), {{NULL, ANY, NULL}}},
    {"bitwise_xor", 2, 2, RULE(bits), {{NULL, ANY, NULL}}},
    {"broadcast_to", 1, 1, RULE(broadcast_to), {{"shape", L, NULL}, {"dtype", S, TEXT("")}}},
    {"broadcast_to_like", 2, 2, RULE(like), {{NULL, ANY, NULL}}},
    {"cast", 1, 1, RULE(cast), {{"dtype", S, NULL}}},
    {"ceil", 1, 1, RULE(same), {{NULL, ANY, NULL}}},
    {"clip", 1, 1, RULE(same), {{"a_min", F, NULL}, {"a_max", F, NULL}}},
    {"concatenate", 1, 1, RULE(concatenate), {{"axis", I, INT(0)}}},
    {"copy", 1, 1, RULE(same), {{NULL, ANY, NULL}}},
    {"cos", 1, 1, RULE(float), {{NULL, ANY, NULL}}},
    {"cosh", 1, 1, RULE(float), {{NULL, ANY, NULL}}},
    {"cumprod", 1, 1, RULE(cumulate), {{"axis", I, NULL}, {"dtype", S, TEXT("")}, {"exclusive", B, TRUTH(0)}}},
    {"cumsum", 1, 1, RULE(cumulate), {{"axis", I, NULL}, {"dtype", S, TEXT("")}, {"exclusive", B, TRUTH(0)}}},
    {"divide", 2, 2, RULE(binary), {{NULL, ANY, NULL}}},
    {"equal", 2, 2, RULE(compare), {{NULL, ANY, NULL}}},
    {"erf", 1, 1, RULE(float), {{NULL, ANY, NULL}}},
    {"exp", 1, 1, RULE(float), {{NULL, ANY, NULL}}},
    {"expand_dims", 1, 1, RULE(expand), {{"axis", I, NULL}, {"num_newaxis", I, INT(1)}}},
    {"floor", 1, 1, RULE(same), {{NULL, ANY, NULL}}},
    {"floor_divide", 2, 2, RULE(binary), {{NULL, ANY, NULL}}},
    {"floor_mod", 2, 2, RULE(binary), {{NULL, ANY, NULL}}},
    {"full", 1, 2, RULE(filled), {FILLED}},
    {"full_like", 2, 2, RULE(same), {{NULL, ANY, NULL}}},
    {"gather", 2, 2, RULE(gather), {{"axis", I, INT(0)}, {"support_negative_indices", B, TRUTH(0)}}},
    {"gather_nd", 2, 2, RULE(gather_nd), {{"batch_dims", I, INT(0)}, {"index_rank", I, NULL}}},
    {"greater", 2, 2, RULE(compare), {{NULL, ANY, NULL}}},
    {"greater_equal", 2, 2, RULE(compare), {{NULL, ANY, NULL}}},
    {"image.resize2d",
     1,
     1,
     RULE(resize),
     {{"size", L, NULL},
      {"roi", ANY, NULL},
      LAYOUT,
      {"method", S, TEXT("linear")},
      {"coordinate_transformation_mode", S, TEXT("half_pixel")},
      {"rounding_method", S, TEXT("")},
      {"cubic_alpha", F, NUMBER(-0.5)},
      {"cubic_exclude", I, INT(0)},
      {"extrapolation_value", F, NUMBER(0)},
      {"out_dtype", S, NULL}}},
    {"isfinite", 1, 1, RULE(test), {{NULL, ANY, NULL}}},
    {"isinf", 1, 1, RULE(test), {{NULL, ANY, NULL}}},
    {"isnan", 1, 1, RULE(test), {{NULL, ANY, NULL}}},
    {"layout_transform", 1, 1, RULE(layout_transform), {{"src_layout", S, NULL}, {"dst_layout", S, NULL}}},
    {"left_shift", 2, 2, RULE(bits), {{NULL, ANY, NULL}}},
    {"less", 2, 2, RULE(compare), {{NULL, ANY, NULL}}},
    {"less_equal", 2, 2, RULE(compare), {{NULL, ANY, NULL}}},
    {"log", 1, 1, RULE(float), {{NULL, ANY, NULL}}},
    {"log10", 1, 1, RULE(float), {{NULL, ANY, NULL}}},
    {"log2", 1, 1, RULE(float), {{NULL, ANY, NULL}}},
    {"logical_and", 2, 2, RULE(logic), {{NULL, ANY, NULL}}},
    {"logical_not", 1, 1, RULE(logic), {{NULL, ANY, NULL}}},
    {"logical_or", 2, 2, RULE(logic), {{NULL, ANY, NULL}}},
    {"logical_xor", 2, 2, RULE(logic), {{NULL, ANY, NULL}}},
    {"logsumexp", 1, 1, RULE(reduce_float), {REDUCE}},
    {"max", 1, 1, RULE(reduce), {REDUCE}},
    {"maximum", 2, 2, RULE(binary), {{NULL, ANY, NULL}}},
    {"mean", 1, 1, RULE(reduce), {REDUCE}},
    {"min", 1, 1, RULE(reduce), {REDUCE}},
    {"minimum", 2, 2, RULE(binary), {{NULL, ANY, NULL}}},
    {"mod", 2, 2, RULE(binary), {{NULL, ANY, NULL}}},
    {"multiply", 2, 2, RULE(binary), {{NULL, ANY, NULL}}},
    {"negative", 1, 1, RULE(same), {{NULL, ANY, NULL}}},
    {"nn.adaptive_avg_pool2d", 1, 1, RULE(resize), {{"output_size", L, NULL}, LAYOUT}},
    {"nn.adaptive_max_pool2d", 1, 1, RULE(resize), {{"output_size", L, NULL}, LAYOUT}},
    {"nn.avg_pool2d", 1, 1, RULE(pool), {POOL, {"count_include_pad", B, TRUTH(0)}}},
    {"nn.batch_flatten", 1, 1, RULE(flatten), {{NULL, ANY, NULL}}},
    {"nn.batch_matmul",
     2,
     2,
     RULE(batch_matmul),
     {{"out_dtype", S, TEXT("")}, {"transpose_a", B, TRUTH(0)}, {"transpose_b", B, TRUTH(1)}}},
    {"nn.batch_norm",
     5,
     5,
     RULE(batch_norm),
     {{"axis", I, INT(1)}, {"epsilon", F, NUMBER(1e-5)}, {"center", B, TRUTH(1)}, {"scale", B, TRUTH(1)}}},
    {"nn.batch_to_space_nd", 1, 1, RULE(batches), {{"block_shape", L, NULL}, {"crops", P, NULL}}},
    {"nn.bias_add", 2, 2, RULE(bias), {{"axis", I, INT(1)}}},
    {"nn.conv1d",
     2,
     2,
     RULE(conv1d),
     {{"strides", L, INT(1)},
      {"padding", L, INT(0)},
      {"dilation", L, INT(1)},
      {"groups", I, INT(1)},
      {"channels", I, NULL},
      {"kernel_size", L, NULL},
      {"data_layout", S, TEXT("NCW")},
      {"kernel_layout", S, TEXT("OIW")},
      {"out_layout", S, TEXT("")},
      {"out_dtype", S, TEXT("")}}},
    {"nn.conv2d", 2, 2, RULE(conv), {CONV}},
    {"nn.conv2d_transpose", 2, 2, RULE(conv_transpose), {CONV_TRANSPOSE}},
    {"nn.dense", 2, 2, RULE(dense), {{"units", I, NULL}, {"out_dtype", S, TEXT("")}}},
    {"nn.depth_to_space",
     1,
     1,
     RULE(blocks),
     {{"block_size", I, NULL}, {"layout", S, TEXT("NCHW")}, {"mode", S, TEXT("DCR")}}},
    {"nn.dropout", 1, 1, RULE(dropout), {{"rate", F, NUMBER(0.5)}}},
    {"nn.global_avg_pool2d", 1, 1, RULE(global_pool), {LAYOUT}},
    {"nn.global_max_pool2d", 1, 1, RULE(global_pool), {LAYOUT}},
    {"nn.group_norm",
     3,
     3,
     RULE(norm),
     {{"num_groups", I, INT(1)},
      {"axis", I, INT(1)},
      {"epsilon", F, NUMBER(1e-5)},
      {"center", B, TRUTH(1)},
      {"scale", B, TRUTH(1)}}},
    {"nn.instance_norm",
     3,
     3,
     RULE(norm),
     {{"axis", I, INT(1)}, {"epsilon", F, NUMBER(1e-5)}, {"center", B, TRUTH(1)}, {"scale", B, TRUTH(1)}}},
    {"nn.l2_normalize", 1, 1, RULE(axes), {{"eps", F, NUMBER(1e-5)}, {"axis", L, NULL}}},
    {"nn.layer_norm",
     3,
     3,
     RULE(norm),
     {{"axis", I, INT(-1)}, {"epsilon", F, NUMBER(1e-5)}, {"center", B, TRUTH(1)}, {"scale", B, TRUTH(1)}}},
    {"nn.leaky_relu", 1, 1, RULE(float), {{"alpha", F, NUMBER(0.25)}}},
    {"nn.log_softmax", 1, 1, RULE(axis), {{"axis", I, INT(-1)}}},
    {"nn.lrn",
     1,
     1,
     RULE(axis),
     {{"size", I, INT(5)},
      {"axis", I, INT(1)},
      {"bias", F, NUMBER(2)},
      {"alpha", F, NUMBER(1e-5)},
      {"beta", F, NUMBER(0.75)}}},
    {"nn.matmul",
     2,
     2,
     RULE(matmul),
     {{"units", I, NULL}, {"out_dtype", S, TEXT("")}, {"transpose_a", B, TRUTH(0)}, {"transpose_b", B, TRUTH(0)}}},
    {"nn.max_pool2d", 1, 1, RULE(pool), {POOL}},
    {"nn.mirror_pad", 1, 1, RULE(pad), {{"mode", S, TEXT("SYMMETRIC")}, {"pad_width", P, NULL}}},
    {"nn.pad", 1, 2, RULE(pad), {{"pad_width", P, NULL}, {"pad_mode", S, TEXT("constant")}}},
    {"nn.prelu", 2, 2, RULE(prelu), {{"axis", I, INT(1)}}},
    {"nn.relu", 1, 1, RULE(same), {{NULL, ANY, NULL}}},
    {"nn.softmax", 1, 1, RULE(axis), {{"axis", I, INT(-1)}}},
    {"nn.space_to_batch_nd",
     1,
     1,
     RULE(batches),
     {{"block_shape", L, NULL}, {"paddings", P, NULL}, {"pad_value", F, NUMBER(0)}}},
    {"nn.space_to_depth", 1, 1, RULE(blocks), {{"block_size", I, NULL}, {"layout", S, TEXT("NCHW")}}},
    {"nn.upsampling",
     1,
     1,
     RULE(upsampling),
     {{"scale_h", F, NUMBER(1)},
      {"scale_w", F, NUMBER(1)},
      {"layout", S, TEXT("NCHW")},
      {"method", S, TEXT("nearest_neighbor")},
      {"align_corners", B, TRUTH(0)}}},
    {"not_equal", 2, 2, RULE(compare), {{NULL, ANY, NULL}}},
    {"one_hot", 3, 3, RULE(one_hot), {{"depth", I, NULL}, {"axis", I, INT(-1)}, {"dtype", S, TEXT("float32")}}},
    {"ones", 0, 0, RULE(filled), {FILLED}},
    {"ones_like", 1, 1, RULE(same), {{NULL, ANY, NULL}}},
    {"power", 2, 2, RULE(binary), {{NULL, ANY, NULL}}},
    {"prod", 1, 1, RULE(reduce), {REDUCE}},
    {"qnn.abs", 5, 5, RULE(qnn_unary), {{NULL, ANY, NULL}}},
    {"qnn.add", 8, 8, RULE(qnn_binary), {{"lhs_axis", I, INT(-1)}, {"rhs_axis", I, INT(-1)}}},
    {"qnn.batch_matmul",
     6,
     6,
     RULE(batch_matmul),
     {{"out_dtype", S, TEXT("int32")}, {"transpose_a", B, TRUTH(0)}, {"transpose_b", B, TRUTH(1)}}},
    {"qnn.concatenate", 5, 5, RULE(qnn_concatenate), {{"axis", I, INT(0)}}},
    {"qnn.conv2d", 6, 6, RULE(conv), {CONV}},
    {"qnn.conv2d_transpose", 6, 6, RULE(conv_transpose), {CONV_TRANSPOSE}},
    {"qnn.dense", 6, 6, RULE(dense), {{"units", I, NULL}, {"out_dtype", S, TEXT("int32")}}},
    {"qnn.dequantize", 3, 3, RULE(quantize), {{"axis", I, INT(-1)}, {"out_dtype", S, TEXT("float32")}}},
    {"qnn.erf", 5, 5, RULE(qnn_unary), {{NULL, ANY, NULL}}},
    {"qnn.exp", 5, 5, RULE(qnn_unary), {{NULL, ANY, NULL}}},
    {"qnn.hardswish", 5, 5, RULE(qnn_unary), {{NULL, ANY, NULL}}},
    {"qnn.leaky_relu", 5, 5, RULE(qnn_unary), {{"alpha", F, NUMBER(0.25)}}},
    {"qnn.log", 5, 5, RULE(qnn_unary), {{NULL, ANY, NULL}}},
    {"qnn.mul", 8, 8, RULE(qnn_binary), {{"lhs_axis", I, INT(-1)}, {"rhs_axis", I, INT(-1)}}},
    {"qnn.quantize", 3, 3, RULE(quantize), {{"out_dtype", S, TEXT("int8")}, {"axis", I, INT(-1)}}},
    {"qnn.requantize",
     5,
     5,
     RULE(quantize),
     {{"axis", I, INT(-1)},
      {"rounding", S, TEXT("None")},
      {"compute_dtype", S, TEXT("None")},
      {"out_dtype", S, TEXT("int8")}}},
    {"qnn.rsqrt", 5, 5, RULE(qnn_unary), {{NULL, ANY, NULL}}},
    {"qnn.sigmoid", 5, 5, RULE(qnn_unary), {{NULL, ANY, NULL}}},
    {"qnn.sqrt", 5, 5, RULE(qnn_unary), {{NULL, ANY, NULL}}},
    {"qnn.subtract", 8, 8, RULE(qnn_binary), {{"lhs_axis", I, INT(-1)}, {"rhs_axis", I, INT(-1)}}},
    {"qnn.tanh", 5, 5, RULE(qnn_unary), {{NULL, ANY, NULL}}},
    {"repeat", 1, 1, RULE(repeat), {{"repeats", I, NULL}, {"axis", I, NULL}}},
    {"reshape", 1, 1, RULE(reshape), {{"newshape", L, NULL}, {"allowzero", B, TRUTH(0)}}},
    {"reshape_like",
     2,
     2,
     RULE(like),
     {{"lhs_begin", I, INT(0)}, {"lhs_end", I, NULL}, {"rhs_begin", I, INT(0)}, {"rhs_end", I, NULL}}},
    {"reverse", 1, 1, RULE(reverse), {{"axis", I, NULL}}},
    {"right_shift", 2, 2, RULE(bits), {{NULL, ANY, NULL}}},
    {"round", 1, 1, RULE(same), {{NULL, ANY, NULL}}},
    {"rsqrt", 1, 1, RULE(float), {{NULL, ANY, NULL}}},
    {"sigmoid", 1, 1, RULE(float), {{NULL, ANY, NULL}}},
    {"sign", 1, 1, RULE(same), {{NULL, ANY, NULL}}},
    {"sin", 1, 1, RULE(float), {{NULL, ANY, NULL}}},
    {"sinh", 1, 1, RULE(float), {{NULL, ANY, NULL}}},
    {"slice_like", 2, 2, RULE(slice_like), {{"axes", L, NULL}}},
    {"sort", 1, 1, RULE(sort), {{"axis", I, INT(-1)}, {"is_ascend", B, TRUTH(1)}}},
    {"split", 1, 1, RULE(split), {{"indices_or_sections", L, NULL}, {"axis", I, INT(0)}}},
    {"sqrt", 1, 1, RULE(float), {{NULL, ANY, NULL}}},
    {"squeeze", 1, 1, RULE(squeeze), {{"axis", L, NULL}}},
    {"stack", 1, 1, RULE(stack), {{"axis", I, INT(0)}}},
    {"strided_slice",
     1,
     1,
     RULE(slice),
     {{"begin", L, NULL}, {"end", L, NULL}, {"strides", L, INT(1)}, {"slice_mode", S, TEXT("end")}, {"axes", L, NULL}}},
    {"subtract", 2, 2, RULE(binary), {{NULL, ANY, NULL}}},
    {"sum", 1, 1, RULE(reduce), {REDUCE}},
    {"take", 2, 2, RULE(take), {{"batch_dims", I, INT(0)}, {"axis", I, NULL}, {"mode", S, TEXT("clip")}}},
    {"tan", 1, 1, RULE(float), {{NULL, ANY, NULL}}},
    {"tanh", 1, 1, RULE(float), {{NULL, ANY, NULL}}},
    {"tile", 1, 1, RULE(tile), {{"reps", L, NULL}}},
    {"topk",
     1,
     1,
     RULE(topk),
     {{"k", I, INT(1)},
      {"axis", I, INT(-1)},
      {"ret_type", S, TEXT("both")},
      {"is_ascend", B, TRUTH(0)},
      {"dtype", S, TEXT("int32")}}},
    {"transpose", 1, 1, RULE(transpose), {{"axes", L, NULL}}},
    {"trunc", 1, 1, RULE(same), {{NULL, ANY, NULL}}},
    {"variance", 1, 2, RULE(reduce_float), {REDUCE, {"unbiased", B, TRUTH(0)}}},
    {"vision.get_valid_counts",
     1,
     2,
     RULE(valid_counts),
     {{"score_threshold", F, NUMBER(0)}, {"id_index", I, INT(0)}, {"score_index", I, INT(1)}}},
    {"vision.non_max_suppression",
     3,
     5,
     RULE(nms),
     {{"max_output_size", I, INT(-1)},
      {"iou_threshold", F, NUMBER(0.5)},
      {"force_suppress", B, TRUTH(0)},
      {"top_k", I, INT(-1)},
      {"coord_start", I, INT(2)},
      {"score_index", I, INT(1)},
      {"id_index", I, INT(0)},
      {"return_indices", B, TRUTH(1)},
      {"invalid_to_bottom", B, TRUTH(0)}}},
    {"where", 3, 3, RULE(where), {{NULL, ANY, NULL}}},
    {"zeros", 0, 0, RULE(filled), {FILLED}},
    {"zeros_like", 1, 1, RULE(same), {{NULL, ANY, NULL}}},
};

const struct nnv_relay_op_row *nnv_relay_ops(size_t *n) {
    *n = sizeof rows / sizeof *rows;
    return rows;
}

const struct nnv_relay_op_row *nnv_relay_op(const char *name) {
    size_t low = 0, high;
    nnv_relay_ops(&high);
    while (low < high) {
        size_t middle = (low + high) / 2;
        int order = strcmp(name, rows[middle].name);
        if (order == 0) return &rows[middle];
        if (order < 0)
            high = middle;
        else
            low = middle + 1;
    }
    return NULL;
}

const struct nnv_relay_value *nnv_relay_attr(const struct nnv_relay_expr *e, const char *key) {
    const struct nnv_relay_value *v = nnv_relay_written(e, key);
    const char *name = nnv_relay_op_name(e);
    const struct nnv_relay_op_row *row = v == NULL && name ? nnv_relay_op(name) : NULL;
    for (size_t i = 0; row && i < NNV_RELAY_MOST_ATTRS && row->attrs[i].key; i++)
        if (strcmp(row->attrs[i].key, key) == 0) return row->attrs[i].otherwise;
    return v;
}
