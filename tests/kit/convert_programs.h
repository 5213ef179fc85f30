/* SPDX-License-Identifier: Apache-2.0 */
/** @file convert_programs.h A program for each row of the converter, which converts at the row's level. */
#ifndef NNV_TESTS_CONVERT_PROGRAMS_H
#define NNV_TESTS_CONVERT_PROGRAMS_H

#include "convert_fixture.h"

#define M "%x: Tensor[(2, 3), float32]"
#define MM "%x: Tensor[(2, 3), float32], %y: Tensor[(2, 3), float32]"
#define P "%p: Tensor[(2, 3), float32]"
#define T "%x: Tensor[(1, 4, 6, 4), float32]"
#define NHWC "layout=\"NHWC\""
#define Q "%x: Tensor[(2, 3), uint8]"
#define QQ "%x: Tensor[(2, 3), uint8], %y: Tensor[(2, 3), uint8]"
#define BB "%x: Tensor[(2, 3), bool], %y: Tensor[(2, 3), bool]"

static const struct {
    const char *op, *params, *body;
} programs[] = {
    {"nn.conv2d", T ", %kw: Tensor[(3, 2, 4, 5), float32]",
     "nn.conv2d(%x, %kw, channels=5, kernel_size=[3, 2], data_layout=\"NHWC\", kernel_layout=\"HWIO\")"},
    {"nn.conv2d_transpose", T ", %kw: Tensor[(4, 5, 3, 2), float32]",
     "nn.conv2d_transpose(%x, %kw, channels=5, kernel_size=[3, 2], data_layout=\"NHWC\", strides=[2, 1])"},
    {"nn.dense", M ", %kw: Tensor[(4, 3), float32]", "nn.dense(%x, %kw)"},
    {"nn.batch_matmul", "%x: Tensor[(1, 2, 3), float32], %kw: Tensor[(1, 4, 3), float32]", "nn.batch_matmul(%x, %kw)"},
    {"nn.matmul", M ", %kw: Tensor[(3, 4), float32]", "nn.matmul(%x, %kw)"},
    {"qnn.conv2d", "%x: Tensor[(1, 4, 5, 2), uint8], %kw: Tensor[(3, 2, 2, 5), uint8]",
     "%0 = qnn.conv2d(%x, %kw, 120, 130, 0.5f, 0.25f, channels=5, kernel_size=[3, 2], data_layout=\"NHWC\","
     " kernel_layout=\"HWIO\", out_dtype=\"int32\"); qnn.requantize(%0, 0.125f, 0, 128f, 7, out_dtype=\"uint8\")"},
    {"qnn.conv2d_transpose", "%x: Tensor[(1, 4, 5, 2), uint8], %kw: Tensor[(2, 5, 3, 2), uint8]",
     "%0 = qnn.conv2d_transpose(%x, %kw, 120, 130, 0.5f, 0.25f, channels=5, kernel_size=[3, 2], data_layout=\"NHWC\","
     " out_dtype=\"int32\"); qnn.requantize(%0, 0.125f, 0, 128f, 7, out_dtype=\"uint8\")"},
    {"qnn.dense", "%x: Tensor[(2, 3), uint8], %kw: Tensor[(4, 3), uint8]",
     "%0 = qnn.dense(%x, %kw, 120, 130, 0.5f, 0.25f, units=4);"
     " qnn.requantize(%0, 0.125f, 0, 64f, 7, out_dtype=\"uint8\")"},
    {"nn.max_pool2d", T, "nn.max_pool2d(%x, pool_size=[3, 2], " NHWC ")"},
    {"nn.avg_pool2d", T, "nn.avg_pool2d(%x, pool_size=[3, 2], " NHWC ")"},
    {"nn.global_max_pool2d", T, "nn.global_max_pool2d(%x, " NHWC ")"},
    {"nn.global_avg_pool2d", T, "nn.global_avg_pool2d(%x, " NHWC ")"},
    {"nn.adaptive_avg_pool2d", T, "nn.adaptive_avg_pool2d(%x, output_size=[2, 3], " NHWC ")"},
    {"nn.adaptive_max_pool2d", T, "nn.adaptive_max_pool2d(%x, output_size=[2, 3], " NHWC ")"},
    {"image.resize2d", T, "image.resize2d(%x, size=[7, 3], coordinate_transformation_mode=\"asymmetric\", " NHWC ")"},
    {"nn.upsampling", T, "nn.upsampling(%x, scale_h=2f, scale_w=3f, method=\"bilinear\", " NHWC ")"},
    {"add", MM, "add(%x, %y)"},
    {"subtract", MM, "subtract(%x, %y)"},
    {"multiply", MM, "multiply(%x, %y)"},
    {"divide", MM, "divide(%x, %y)"},
    {"floor_divide", MM, "floor_divide(%x, %y)"},
    {"power", P ", %y: Tensor[(3), float32]", "power(%p, %y)"},
    {"maximum", MM, "maximum(%x, %y)"},
    {"minimum", MM, "minimum(%x, %y)"},
    {"equal", MM, "equal(%x, %y)"},
    {"not_equal", MM, "not_equal(%x, %y)"},
    {"less", MM, "less(%x, %y)"},
    {"less_equal", MM, "less_equal(%x, %y)"},
    {"greater", MM, "greater(%x, %y)"},
    {"greater_equal", MM, "greater_equal(%x, %y)"},
    {"logical_and", BB, "logical_and(%x, %y)"},
    {"logical_or", BB, "logical_or(%x, %y)"},
    {"logical_xor", BB, "logical_xor(%x, %y)"},
    {"logical_not", "%x: Tensor[(2, 3), bool]", "logical_not(%x)"},
    {"abs", M, "abs(%x)"},
    {"negative", M, "negative(%x)"},
    {"exp", M, "exp(%x)"},
    {"log", P, "log(%p)"},
    {"sqrt", P, "sqrt(%p)"},
    {"rsqrt", P, "rsqrt(%p)"},
    {"sin", M, "sin(%x)"},
    {"floor", M, "floor(%x)"},
    {"ceil", M, "ceil(%x)"},
    {"tanh", M, "tanh(%x)"},
    {"sigmoid", M, "sigmoid(%x)"},
    {"nn.relu", M, "nn.relu(%x)"},
    {"clip", M, "clip(%x, a_min=-1f, a_max=1f)"},
    {"nn.leaky_relu", M, "nn.leaky_relu(%x, alpha=0.125f)"},
    {"nn.prelu", M ", %ka: Tensor[(3), float32]", "nn.prelu(%x, %ka)"},
    {"cast", M, "cast(%x, dtype=\"int32\")"},
    {"copy", M, "copy(%x)"},
    {"nn.dropout", M, "%0 = nn.dropout(%x); %1 = %0.0; nn.relu(%1)"},
    {"zeros", M, "%0 = zeros(shape=[2, 3], dtype=\"float32\"); add(%x, %0)"},
    {"ones", M, "%0 = ones(shape=[2, 3], dtype=\"float32\"); add(%x, %0)"},
    {"full", M, "%0 = full(0.5f, shape=[2, 3], dtype=\"float32\"); add(%x, %0)"},
    {"full_like", M, "%0 = full_like(%x, 0.5f); (%0, %x)"},
    {"zeros_like", M, "%0 = zeros_like(%x); (%0, %x)"},
    {"ones_like", M, "%0 = ones_like(%x); (%0, %x)"},
    {"reshape", M, "reshape(%x, newshape=[6])"},
    {"nn.batch_flatten", T, "nn.batch_flatten(%x)"},
    {"squeeze", T, "squeeze(%x)"},
    {"expand_dims", M, "expand_dims(%x, axis=1)"},
    {"reshape_like", M ", %y: Tensor[(6), float32]", "reshape_like(%x, %y)"},
    {"transpose", "%x: Tensor[(1, 3), float32]", "transpose(%x)"},
    {"concatenate", MM, "%0 = (%x, %y); concatenate(%0, axis=1)"},
    {"stack", MM, "%0 = (%x, %y); stack(%0, axis=1)"},
    {"split", T, "split(%x, indices_or_sections=2, axis=1)"},
    {"strided_slice", M, "strided_slice(%x, begin=[0, 1], end=[2, 3])"},
    {"nn.pad", M, "nn.pad(%x, 0f, pad_width=[[0, 1], [2, 0]])"},
    {"nn.mirror_pad", M, "nn.mirror_pad(%x, pad_width=[[0, 1], [2, 0]])"},
    {"tile", M, "tile(%x, reps=[2, 3])"},
    {"broadcast_to", M, "broadcast_to(%x, shape=[4, 2, 3])"},
    {"broadcast_to_like", M ", %y: Tensor[(4, 2, 3), float32]", "broadcast_to_like(%x, %y)"},
    {"repeat", M, "repeat(%x, repeats=2, axis=1)"},
    {"reverse", M, "reverse(%x, axis=1)"},
    {"nn.depth_to_space", T, "nn.depth_to_space(%x, block_size=2, " NHWC ")"},
    {"nn.space_to_depth", T, "nn.space_to_depth(%x, block_size=2, " NHWC ")"},
    {"nn.space_to_batch_nd", T, "nn.space_to_batch_nd(%x, block_shape=[2, 3], paddings=[[0, 0], [0, 0]])"},
    {"nn.batch_to_space_nd", "%x: Tensor[(6, 2, 2, 1), float32]",
     "nn.batch_to_space_nd(%x, block_shape=[2, 3], crops=[[0, 0], [0, 0]])"},
    {"qnn.concatenate", QQ, "%0 = (%x, %y); %1 = (0.5f, 0.5f); %2 = (3, 3); qnn.concatenate(%0, %1, %2, 0.5f, 3)"},
    {"take", M ", %i: Tensor[(4), int32]", "take(%x, %i, axis=1)"},
    {"where", "%x: Tensor[(2, 3), bool], %y: Tensor[(2, 3), float32]", "where(%x, %y, 0f)"},
    {"topk", M, "topk(%x, k=2, dtype=\"int32\")"},
    {"argmax", M, "argmax(%x, axis=1)"},
    {"argmin", M, "argmin(%x, axis=1)"},
    {"mean", M, "mean(%x, axis=[1])"},
    {"sum", M, "sum(%x, axis=[1])"},
    {"prod", M, "prod(%x, axis=[1])"},
    {"max", M, "max(%x, axis=[1])"},
    {"min", M, "min(%x, axis=[1])"},
    {"all", "%x: Tensor[(2, 3), bool]", "all(%x, axis=[1])"},
    {"any", "%x: Tensor[(2, 3), bool]", "any(%x, axis=[1])"},
    {"nn.softmax", M, "nn.softmax(%x)"},
    {"nn.log_softmax", M, "nn.log_softmax(%x)"},
    {"nn.bias_add", M ", %kb: Tensor[(3), float32]", "nn.bias_add(%x, %kb)"},
    {"nn.batch_norm",
     M ", %kg: Tensor[(3), float32], %kb: Tensor[(3), float32], %km: Tensor[(3), float32], %kpv: Tensor[(3), float32]",
     "%0 = nn.batch_norm(%x, %kg, %kb, %km, %kpv); %0.0"},
    {"nn.instance_norm", T ", %kg: Tensor[(4), float32], %kb: Tensor[(4), float32]",
     "nn.instance_norm(%x, %kg, %kb, axis=3)"},
    {"nn.lrn", T, "nn.lrn(%x, size=3, axis=3, alpha=0.75f)"},
    {"nn.l2_normalize", M, "nn.l2_normalize(%x, eps=0.25f, axis=[1])"},
    {"qnn.quantize", M, "qnn.quantize(%x, 0.03125f, 100, out_dtype=\"uint8\")"},
    {"qnn.dequantize", Q, "qnn.dequantize(%x, 0.5f, 100)"},
    {"qnn.requantize", Q, "qnn.requantize(%x, 0.5f, 100, 0.75f, 110, out_dtype=\"uint8\")"},
    {"qnn.sigmoid", Q, "qnn.sigmoid(%x, 0.0625f, 128, 0.00390625f, 0)"},
    {"qnn.tanh", Q, "qnn.tanh(%x, 0.0625f, 128, 0.0078125f, 128)"},
    {"qnn.exp", Q, "qnn.exp(%x, 0.0078125f, 128, 0.015625f, 0)"},
    {"qnn.log", Q, "qnn.log(%x, 0.0625f, 0, 0.03125f, 128)"},
    {"qnn.sqrt", Q, "qnn.sqrt(%x, 0.0625f, 0, 0.03125f, 0)"},
    {"qnn.rsqrt", Q, "qnn.rsqrt(%x, 0.0625f, 0, 0.03125f, 0)"},
    {"qnn.abs", Q, "qnn.abs(%x, 0.0625f, 128, 0.0625f, 0)"},
    {"qnn.add", QQ, "qnn.add(%x, %y, 0.5f, 100, 0.5f, 90, 1f, 110)"},
    {"qnn.subtract", QQ, "qnn.subtract(%x, %y, 0.5f, 100, 0.5f, 90, 1f, 110)"},
    {"qnn.mul", QQ, "qnn.mul(%x, %y, 0.5f, 100, 0.5f, 90, 32f, 110)"},
};

/** The number of the operator's program. */
static inline size_t program_of(const char *op) {
    size_t i = 0, n = sizeof programs / sizeof *programs;
    while (i < n && strcmp(programs[i].op, op) != 0) i++;
    if (i == n) fail_msg("no program for %s", op);
    return i;
}

#endif
