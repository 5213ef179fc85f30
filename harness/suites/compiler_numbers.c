/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file compiler_numbers.c The suite "compiler": programs whose values are in question, a row for each operator and
 * composite, type, and what goes wrong most easily: unequal heights and widths, strides, paddings, axes, scales.
 */
#include "harness/suites/compiler_cases.h"

#define NCHW "%x: Tensor[(2, 3, 9, 7), float32]"
#define NHWC "%x: Tensor[(2, 9, 7, 3), float32]"
#define OIHW "%kw: Tensor[(4, 3, 3, 2), float32]"
#define HWIO "%kw: Tensor[(3, 2, 3, 4), float32]"
#define BIAS "%kb: Tensor[(4), float32]"
#define CONV "kernel_size=[3, 2], channels=4"
#define LAST "data_layout=\"NHWC\", kernel_layout=\"HWIO\", " CONV
#define M "%x: Tensor[(3, 4), float32]"
#define MM M ", %y: Tensor[(3, 4), float32]"
#define CUBE "%x: Tensor[(2, 3, 4), float32]"
#define PIC "%x: Tensor[(1, 2, 6, 8), float32]"

/* An elementwise operator in all types that it is mapped for. */
#define UNARY(op) {op "/float32/all", "%p: Tensor[(2, 5), float32]", op "(%p)", 0}
#define UNARY_HALF(op) {op "/float16/all", "%p: Tensor[(2, 5), float16]", op "(%p)", 2e-3}
#define BINARY(op) {op "/float32/broadcast", "%p: Tensor[(2, 3, 4), float32], %y: Tensor[(3, 1), float32]", op "(%p, %y)", 0}
#define BINARY_HALF(op) {op "/float16/all", "%p: Tensor[(3, 4), float16], %y: Tensor[(4), float16]", op "(%p, %y)", 4e-3}
#define BINARY_INT(op) {op "/int32/all", "%i: Tensor[(3, 4), int32], %y: Tensor[(3, 1), int32]", op "(%i, %y)", 0}
#define REDUCE(op) \
    {op "/float32/axis", CUBE, op "(%x, axis=[1])", 0}, {op "/float32/keep", CUBE, op "(%x, axis=[0, -1], keepdims=True)", 0}

const struct nnv_values_case nnv_values_cases[] = {
    UNARY("abs"), UNARY("exp"), UNARY("log"), UNARY("negative"), UNARY("sqrt"), UNARY("rsqrt"), UNARY("sin"),
    UNARY("floor"), UNARY("ceil"), UNARY("tanh"), UNARY("sigmoid"), UNARY("nn.relu"),
    UNARY_HALF("abs"), UNARY_HALF("exp"), UNARY_HALF("negative"), UNARY_HALF("sqrt"), UNARY_HALF("tanh"),
    UNARY_HALF("sigmoid"), UNARY_HALF("nn.relu"), UNARY_HALF("floor"),
    BINARY("add"), BINARY("subtract"), BINARY("multiply"), BINARY("divide"), BINARY("maximum"), BINARY("minimum"),
    BINARY("power"), BINARY("equal"), BINARY("not_equal"), BINARY("less"), BINARY("less_equal"), BINARY("greater"),
    BINARY("greater_equal"),
    BINARY_HALF("add"), BINARY_HALF("subtract"), BINARY_HALF("multiply"), BINARY_HALF("maximum"),
    BINARY_INT("add"), BINARY_INT("subtract"), BINARY_INT("multiply"), BINARY_INT("maximum"), BINARY_INT("minimum"),
    BINARY_INT("less"), BINARY_INT("equal"),
    REDUCE("sum"), REDUCE("mean"), REDUCE("max"), REDUCE("min"), REDUCE("prod"),
    {"logical_and/bool/all", "%x: Tensor[(2, 5), bool], %y: Tensor[(2, 5), bool]", "logical_and(%x, %y)", 0},
    {"logical_or/bool/all", "%x: Tensor[(2, 5), bool], %y: Tensor[(2, 5), bool]", "logical_or(%x, %y)", 0},
    {"logical_not/bool/all", "%x: Tensor[(2, 5), bool]", "logical_not(%x)", 0},
    {"all/bool/axis", "%x: Tensor[(3, 4), bool]", "all(%x, axis=[0])", 0},
    {"any/bool/axis", "%x: Tensor[(3, 4), bool]", "any(%x, axis=[1])", 0},
    {"where/float32/all", "%c: Tensor[(3, 4), bool], " MM, "where(%c, %x, %y)", 0},
    {"subtract/float32/order", MM, "subtract(%y, %x)", 0},
    {"divide/float32/order", "%p: Tensor[(3, 4), float32], %y: Tensor[(3, 4), float32]", "divide(%y, %p)", 0},
    {"subtract/float32/constant_first", M, "subtract(1.5f, %x)", 0},
    {"add/float32/equal_operands", M, "add(%x, %x)", 0},
    {"clip/float32/relu6", CUBE, "%0 = multiply(%x, 5f); clip(%0, a_min=0f, a_max=6f)", 0},
    {"clip/float32/relu1", CUBE, "clip(%x, a_min=-1f, a_max=1f)", 0},
    {"clip/float32/other", CUBE, "clip(%x, a_min=-0.5f, a_max=0.25f)", 0},
    {"clip/int32/other", "%x: Tensor[(3, 4), int32]", "clip(%x, a_min=-3f, a_max=100f)", 0},
    {"nn.leaky_relu/float32/all", CUBE, "nn.leaky_relu(%x, alpha=0.125f)", 0},
    {"nn.prelu/float32/channels", "%x: Tensor[(2, 3, 4), float32], %ka: Tensor[(3), float32]", "nn.prelu(%x, %ka)", 0},
    {"nn.prelu/float32/last", "%x: Tensor[(2, 3, 4), float32], %ka: Tensor[(4), float32]", "nn.prelu(%x, %ka, axis=2)", 0},
    {"cast/int32/to_float", "%x: Tensor[(3, 4), int32]", "cast(%x, dtype=\"float32\")", 0},
    {"cast/float32/to_half", M, "cast(%x, dtype=\"float16\")", 2e-3},
    /* ------------------------------------------------------------ convolutions */
    {"nn.conv2d/float32/plain", NCHW ", " OIHW, "nn.conv2d(%x, %kw, " CONV ")", 0},
    {"nn.conv2d/float32/strides", NCHW ", " OIHW, "nn.conv2d(%x, %kw, strides=[2, 1], " CONV ")", 0},
    {"nn.conv2d/float32/strides_across", NCHW ", " OIHW, "nn.conv2d(%x, %kw, strides=[1, 3], " CONV ")", 0},
    {"nn.conv2d/float32/padding", NCHW ", " OIHW, "nn.conv2d(%x, %kw, padding=[2, 1, 0, 0], " CONV ")", 0},
    {"nn.conv2d/float32/padding_pair", NCHW ", " OIHW, "nn.conv2d(%x, %kw, padding=[2, 1], " CONV ")", 0},
    {"nn.conv2d/float32/padding_behind", NCHW ", " OIHW, "nn.conv2d(%x, %kw, padding=[0, 0, 2, 1], " CONV ")", 0},
    {"nn.conv2d/float32/dilation", NCHW ", " OIHW, "nn.conv2d(%x, %kw, dilation=[2, 3], " CONV ")", 0},
    {"nn.conv2d/float32/nhwc", NHWC ", " HWIO, "nn.conv2d(%x, %kw, strides=[2, 1], padding=[1, 0, 2, 1], " LAST ")", 0},
    {"nn.conv2d/float32/nhwc_dilation", NHWC ", " HWIO, "nn.conv2d(%x, %kw, dilation=[2, 3], " LAST ")", 0},
    {"nn.conv2d/float32/square_kernel", "%x: Tensor[(1, 3, 6, 6), float32], %kw: Tensor[(3, 3, 3, 3), float32]",
     "nn.conv2d(%x, %kw, kernel_size=[3, 3], channels=3)", 0},
    {"nn.conv2d/float32/square_kernel_nhwc", "%x: Tensor[(1, 6, 6, 3), float32], %kw: Tensor[(3, 3, 3, 3), float32]",
     "nn.conv2d(%x, %kw, kernel_size=[3, 3], channels=3, data_layout=\"NHWC\", kernel_layout=\"HWIO\")", 0},
    {"nn.conv2d/float32/weights_at_run_time", NCHW ", %w: Tensor[(4, 3, 3, 2), float32]", "nn.conv2d(%x, %w, " CONV ")", 0},
    {"nn.conv2d/float32/depthwise", "%x: Tensor[(1, 4, 5, 6), float32], %kw: Tensor[(4, 1, 3, 2), float32]",
     "nn.conv2d(%x, %kw, groups=4, channels=4, kernel_size=[3, 2], strides=[1, 2])", 0},
    {"nn.conv2d/float32/depthwise_multiplier", "%x: Tensor[(1, 4, 5, 6), float32], %kw: Tensor[(8, 1, 3, 2), float32]",
     "nn.conv2d(%x, %kw, groups=4, channels=8, kernel_size=[3, 2], dilation=[1, 2])", 0},
    {"nn.conv2d/float32/groups", "%x: Tensor[(1, 4, 5, 6), float32], %kw: Tensor[(6, 2, 3, 2), float32]",
     "nn.conv2d(%x, %kw, groups=2, channels=6, kernel_size=[3, 2])", 0},
    {"nn.conv2d/float32/bias", NCHW ", " OIHW ", " BIAS, "%0 = nn.conv2d(%x, %kw, " CONV "); nn.bias_add(%0, %kb)", 0},
    {"nn.conv2d/float32/bias_relu", NCHW ", " OIHW ", " BIAS,
     "%0 = nn.conv2d(%x, %kw, " CONV "); %1 = nn.bias_add(%0, %kb); nn.relu(%1)", 0},
    {"nn.conv2d/float32/bias_relu6", NCHW ", " OIHW ", " BIAS,
     "%0 = nn.conv2d(%x, %kw, " CONV "); %1 = nn.bias_add(%0, %kb); %2 = multiply(%1, 4f); clip(%1, a_min=0f, a_max=6f)", 0},
    {"nn.conv2d/float32/relu1", NCHW ", " OIHW, "%0 = nn.conv2d(%x, %kw, " CONV "); clip(%0, a_min=-1f, a_max=1f)", 0},
    {"nn.conv2d/float32/relu_last", NHWC ", " HWIO ", " BIAS,
     "%0 = nn.conv2d(%x, %kw, " LAST "); %1 = nn.bias_add(%0, %kb, axis=3); nn.relu(%1)", 0},
    {"nn.conv2d/float32/bias_along_width", NCHW ", " OIHW ", %kb: Tensor[(6), float32]",
     "%0 = nn.conv2d(%x, %kw, " CONV "); nn.bias_add(%0, %kb, axis=3)", 0},
    {"nn.conv2d/float32/sum_is_used_twice", NCHW ", " OIHW, "%0 = nn.conv2d(%x, %kw, " CONV "); %1 = nn.relu(%0); add(%0, %1)", 0},
    {"nn.conv2d/float32/two_outputs", NCHW ", " OIHW, "%0 = nn.conv2d(%x, %kw, " CONV "); %1 = nn.relu(%0); (%0, %1)", 0},
    {"nn.conv2d/float32/padded", NCHW ", " OIHW,
     "%0 = nn.pad(%x, 0f, pad_width=[[0, 0], [0, 0], [2, 0], [0, 1]]); nn.conv2d(%0, %kw, " CONV ")", 0},
    {"nn.conv2d/float32/batch_norm",
     NCHW ", " OIHW ", " BIAS ", %kg: Tensor[(4), float32], %km: Tensor[(4), float32], %kpv: Tensor[(4), float32]",
     "%0 = nn.conv2d(%x, %kw, " CONV "); %1 = nn.batch_norm(%0, %kg, %kb, %km, %kpv); %2 = %1.0; nn.relu(%2)", 1e-3},
    {"nn.conv2d/float16/bias_relu", "%x: Tensor[(1, 3, 5, 4), float16], %kw: Tensor[(4, 3, 3, 2), float16], %kb: Tensor[(4), float16]",
     "%0 = nn.conv2d(%x, %kw, " CONV "); %1 = nn.bias_add(%0, %kb); nn.relu(%1)", 2e-2},
    {"nn.conv2d_transpose/float32/strides", "%x: Tensor[(1, 3, 4, 5), float32], %kw: Tensor[(3, 2, 3, 2), float32]",
     "nn.conv2d_transpose(%x, %kw, channels=2, kernel_size=[3, 2], strides=[2, 1])", 0},
    {"nn.batch_norm/float32/alone",
     "%x: Tensor[(2, 4, 3), float32], %kg: Tensor[(4), float32], " BIAS ", %km: Tensor[(4), float32], %kpv: Tensor[(4), float32]",
     "%0 = nn.batch_norm(%x, %kg, %kb, %km, %kpv); %0.0", 1e-3},
    {"nn.dense/float32/plain", "%x: Tensor[(2, 5), float32], %kw: Tensor[(3, 5), float32]", "nn.dense(%x, %kw)", 0},
    {"nn.dense/float32/square", "%x: Tensor[(2, 4), float32], %kw: Tensor[(4, 4), float32]", "nn.dense(%x, %kw)", 0},
    {"nn.dense/float32/bias_relu", "%x: Tensor[(2, 5), float32], %kw: Tensor[(3, 5), float32], %kb: Tensor[(3), float32]",
     "%0 = nn.dense(%x, %kw); %1 = nn.bias_add(%0, %kb); nn.relu(%1)", 0},
    {"nn.dense/float32/rank3", "%x: Tensor[(2, 4, 5), float32], %kw: Tensor[(3, 5), float32]", "nn.dense(%x, %kw)", 0},
    {"nn.dense/float16/bias", "%x: Tensor[(2, 5), float16], %kw: Tensor[(3, 5), float16], %kb: Tensor[(3), float16]",
     "%0 = nn.dense(%x, %kw); nn.bias_add(%0, %kb)", 2e-2},
    {"nn.batch_matmul/float32/transposed", "%x: Tensor[(2, 3, 5), float32], %y: Tensor[(2, 4, 5), float32]", "nn.batch_matmul(%x, %y)", 0},
    {"nn.batch_matmul/float32/plain", "%x: Tensor[(2, 3, 3), float32], %y: Tensor[(2, 3, 3), float32]",
     "nn.batch_matmul(%x, %y, transpose_b=False)", 0},
    {"nn.bias_add/float32/axis", "%x: Tensor[(3, 3, 3), float32], %kb: Tensor[(3), float32]", "nn.bias_add(%x, %kb, axis=0)", 0},
    /* ----------------------------------------------------------------- pools */
    {"nn.max_pool2d/float32/all", NCHW, "nn.max_pool2d(%x, pool_size=[3, 2], strides=[2, 1], padding=[1, 0, 0, 1])", 0},
    {"nn.max_pool2d/float32/nhwc", NHWC, "nn.max_pool2d(%x, pool_size=[2, 3], strides=[1, 2], layout=\"NHWC\")", 0},
    {"nn.max_pool2d/float32/ceil", NHWC, "nn.max_pool2d(%x, pool_size=[2, 2], strides=[2, 2], layout=\"NHWC\", ceil_mode=True)", 0},
    {"nn.avg_pool2d/float32/all", NCHW, "nn.avg_pool2d(%x, pool_size=[3, 2], strides=[1, 2], padding=[1, 1, 0, 0])", 0},
    {"nn.avg_pool2d/float32/counts_padding", NCHW,
     "nn.avg_pool2d(%x, pool_size=[3, 2], padding=[1, 1, 0, 0], count_include_pad=True)", 0},
    {"nn.max_pool2d/uint8/all", "%x: Tensor[(1, 2, 6, 9), uint8]", "nn.max_pool2d(%x, pool_size=[2, 3])", 0},
    {"nn.global_avg_pool2d/float32/all", NCHW, "nn.global_avg_pool2d(%x)", 0},
    {"nn.global_max_pool2d/float32/all", NCHW, "nn.global_max_pool2d(%x)", 0},
    {"nn.adaptive_avg_pool2d/float32/all", PIC, "nn.adaptive_avg_pool2d(%x, output_size=[2, 4])", 0},
    /* ---------------------------------------------------------- rows and moves */
    {"nn.softmax/float32/last", M, "nn.softmax(%x)", 0},
    {"nn.softmax/float32/axis", CUBE, "nn.softmax(%x, axis=1)", 0},
    {"nn.softmax/float32/square", "%x: Tensor[(3, 3), float32]", "nn.softmax(%x, axis=0)", 0},
    {"nn.log_softmax/float32/axis", CUBE, "nn.log_softmax(%x, axis=1)", 0},
    {"nn.lrn/float32/all", "%x: Tensor[(1, 7, 3, 2), float32]", "nn.lrn(%x, size=3, axis=1, bias=1f, alpha=0.5f, beta=0.75f)", 1e-6},
    {"nn.l2_normalize/float32/axis", CUBE, "nn.l2_normalize(%x, eps=0f, axis=[1])", 0},
    {"nn.instance_norm/float32/all", "%x: Tensor[(1, 2, 4, 3), float32], %kg: Tensor[(2), float32], %kb: Tensor[(2), float32]",
     "nn.instance_norm(%x, %kg, %kb)", 1e-3},
    {"argmax/float32/axis", CUBE, "argmax(%x, axis=[1])", 0},
    {"argmin/float32/axis", CUBE, "argmin(%x, axis=[2])", 0},
    {"topk/float32/both", "%x: Tensor[(2, 6), float32]", "topk(%x, k=3, dtype=\"int32\")", 0},
    {"reshape/float32/all", CUBE, "reshape(%x, newshape=[4, 6])", 0},
    {"reshape/float32/infer", CUBE, "reshape(%x, newshape=[-1, 3])", 0},
    {"nn.batch_flatten/float32/all", CUBE, "nn.batch_flatten(%x)", 0},
    {"squeeze/float32/axis", "%x: Tensor[(2, 1, 3, 1), float32]", "squeeze(%x, axis=[1])", 0},
    {"expand_dims/float32/axis", M, "expand_dims(%x, axis=1)", 0},
    {"transpose/float32/axes", CUBE, "transpose(%x, axes=[2, 0, 1])", 0},
    {"transpose/float32/reverse", CUBE, "transpose(%x)", 0},
    {"transpose/float32/square", "%x: Tensor[(3, 3, 3), float32]", "transpose(%x, axes=[1, 2, 0])", 0},
    {"concatenate/float32/axis", MM, "concatenate((%x, %y), axis=1)", 0},
    {"concatenate/float32/negative_axis", CUBE ", %y: Tensor[(2, 1, 4), float32]", "concatenate((%x, %y, %x), axis=-2)", 0},
    {"concatenate/float32/of_a_tuple", "%t: (Tensor[(3, 4), float32], Tensor[(3, 4), float32])", "concatenate(%t, axis=0)", 0},
    {"split/float32/sections", "%x: Tensor[(4, 6), float32]", "%0 = split(%x, indices_or_sections=3, axis=1); (%0.2, %0.0, %0.1)", 0},
    {"split/float32/one_field", "%x: Tensor[(4, 6), float32]", "%0 = split(%x, indices_or_sections=2, axis=0); nn.relu(%0.1)", 0},
    {"split/float32/indices", "%x: Tensor[(4, 6), float32]", "%0 = split(%x, indices_or_sections=[1, 3], axis=1); (%0.0, %0.1, %0.2)", 0},
    {"stack/float32/axis", MM, "stack((%x, %y), axis=1)", 0},
    {"strided_slice/float32/all", CUBE, "strided_slice(%x, begin=[0, 1, 0], end=[2, 3, 4], strides=[1, 1, 2])", 0},
    {"nn.pad/float32/zeros", M, "nn.pad(%x, 0f, pad_width=[[1, 0], [0, 2]])", 0},
    {"nn.pad/float32/value", M, "nn.pad(%x, 1.5f, pad_width=[[1, 0], [0, 2]])", 0},
    {"nn.mirror_pad/float32/reflect", M, "nn.mirror_pad(%x, mode=\"REFLECT\", pad_width=[[1, 0], [0, 2]])", 0},
    {"take/float32/axis", "%x: Tensor[(3, 4), float32], %i: Tensor[(2), int32]", "take(%x, %i, axis=1)", 0},
    {"tile/float32/all", M, "tile(%x, reps=[2, 1])", 0},
    {"repeat/float32/axis", M, "repeat(%x, repeats=2, axis=0)", 0},
    {"reverse/float32/axis", M, "reverse(%x, axis=1)", 0},
    {"broadcast_to/float32/all", "%x: Tensor[(3, 1), float32]", "broadcast_to(%x, shape=[2, 3, 4])", 0},
    {"nn.space_to_depth/float32/all", PIC, "nn.space_to_depth(%x, block_size=2)", 0},
    {"nn.depth_to_space/float32/all", "%x: Tensor[(1, 8, 3, 2), float32]", "nn.depth_to_space(%x, block_size=2)", 0},
    {"image.resize2d/float32/half_pixel", PIC, "image.resize2d(%x, size=[9, 4], roi=[0f, 0f, 0f, 0f])", 1e-6},
    {"image.resize2d/float32/corners", PIC,
     "image.resize2d(%x, size=[9, 5], roi=[0f, 0f, 0f, 0f], coordinate_transformation_mode=\"align_corners\")", 1e-6},
    /* -------------------------------------------------------------- quantised */
    {"qnn.conv2d/uint8/all", "%x: Tensor[(1, 5, 6, 3), uint8], %kw: Tensor[(3, 2, 3, 4), uint8], %kb: Tensor[(4), int32]",
     "%0 = qnn.conv2d(%x, %kw, 120, 130, 0.5f, 0.25f, " LAST ", strides=[2, 1], padding=[1, 0, 0, 1], out_dtype=\"int32\"); "
     "%1 = nn.bias_add(%0, %kb, axis=3); qnn.requantize(%1, 0.125f, 0, 512f, 7, out_dtype=\"uint8\")", 1},
    {"qnn.conv2d/int8/all", "%x: Tensor[(1, 3, 5, 6), int8], %kw: Tensor[(4, 3, 3, 2), int8]",
     "%0 = qnn.conv2d(%x, %kw, -3, 4, 0.5f, 0.25f, " CONV ", out_dtype=\"int32\"); "
     "qnn.requantize(%0, 0.125f, 0, 256f, 7, out_dtype=\"int8\")", 1},
    {"qnn.conv2d/int8/per_channel", "%x: Tensor[(1, 3, 5, 6), int8], %kw: Tensor[(4, 3, 3, 2), int8], %kps: Tensor[(4), float32]",
     "%0 = qnn.conv2d(%x, %kw, -3, 0, 1f, %kps, " CONV ", out_dtype=\"int32\"); "
     "qnn.requantize(%0, %kps, 0, 256f, 7, axis=1, out_dtype=\"int8\")", 1},
    {"qnn.conv2d/uint8/depthwise_per_channel",
     "%x: Tensor[(1, 5, 6, 4), uint8], %kw: Tensor[(3, 2, 4, 1), int8], %kps: Tensor[(4), float32]",
     "%0 = qnn.conv2d(%x, %kw, 120, 0, 1f, %kps, groups=4, channels=4, kernel_size=[3, 2], data_layout=\"NHWC\", "
     "kernel_layout=\"HWOI\", out_dtype=\"int32\"); qnn.requantize(%0, %kps, 0, 64f, 7, axis=3, out_dtype=\"uint8\")", 1},
    {"qnn.conv2d/uint8/relu", "%x: Tensor[(1, 5, 6, 3), uint8], %kw: Tensor[(3, 2, 3, 4), uint8]",
     "%0 = qnn.conv2d(%x, %kw, 120, 130, 0.5f, 0.25f, " LAST ", out_dtype=\"int32\"); "
     "%1 = qnn.requantize(%0, 0.125f, 0, 64f, 70, out_dtype=\"uint8\"); clip(%1, a_min=70f, a_max=255f)", 1},
    {"qnn.dense/int8/all", "%x: Tensor[(2, 5), int8], %kw: Tensor[(3, 5), int8], %kb: Tensor[(3), int32]",
     "%0 = qnn.dense(%x, %kw, -3, 4, 0.5f, 0.25f, units=3); %1 = nn.bias_add(%0, %kb); "
     "qnn.requantize(%1, 0.125f, 0, 64f, 7, out_dtype=\"int8\")", 1},
    {"qnn.add/int8/all", "%x: Tensor[(2, 5), int8], %y: Tensor[(2, 5), int8]", "qnn.add(%x, %y, 0.5f, 3, 0.25f, -4, 0.75f, 5)", 1},
    {"qnn.mul/uint8/all", "%x: Tensor[(2, 5), uint8], %y: Tensor[(2, 5), uint8]", "qnn.mul(%x, %y, 0.5f, 3, 0.25f, 4, 16f, 5)", 1},
    {"qnn.subtract/uint8/all", "%x: Tensor[(2, 5), uint8], %y: Tensor[(2, 5), uint8]",
     "qnn.subtract(%x, %y, 0.5f, 3, 0.25f, 4, 0.75f, 125)", 1},
    {"qnn.requantize/uint8/all", "%x: Tensor[(2, 5), uint8]", "qnn.requantize(%x, 0.5f, 3, 0.75f, 4, out_dtype=\"uint8\")", 1},
    {"qnn.dequantize/uint8/all", "%x: Tensor[(2, 5), uint8]", "qnn.dequantize(%x, 0.5f, 3)", 0},
    {"qnn.quantize/int8/all", "%x: Tensor[(2, 5), float32]", "qnn.quantize(%x, 0.03125f, 3)", 1},
    {"qnn.concatenate/uint8/scales", "%x: Tensor[(2, 5), uint8], %y: Tensor[(1, 5), uint8]",
     "%0 = (%x, %y); %1 = (0.5f, 0.25f); %2 = (3, 4); qnn.concatenate(%0, %1, %2, 0.5f, 9)", 1},
    {"sigmoid/uint8/between", "%x: Tensor[(2, 5), uint8]",
     "%0 = qnn.dequantize(%x, 0.125f, 128); %1 = sigmoid(%0); qnn.quantize(%1, 0.00390625f, 0, out_dtype=\"uint8\")", 1},
    {"nn.avg_pool2d/uint8/between", "%x: Tensor[(1, 2, 4, 4), uint8]",
     "%0 = qnn.dequantize(%x, 0.125f, 128); %1 = nn.avg_pool2d(%0, pool_size=[2, 2], strides=[2, 2]); "
     "qnn.quantize(%1, 0.125f, 128, out_dtype=\"uint8\")", 1},
    /* ---------------------------------------------------------- several together */
    {"network/float32/residual", NCHW ", " OIHW ", " BIAS ", %kv: Tensor[(4, 4, 1, 1), float32]",
     "%0 = nn.conv2d(%x, %kw, padding=[1, 1, 1, 0], " CONV "); %1 = nn.bias_add(%0, %kb); %2 = nn.relu(%1); "
     "%3 = nn.conv2d(%2, %kv, kernel_size=[1, 1], channels=4); %4 = add(%3, %2); %5 = nn.relu(%4); "
     "%6 = nn.global_avg_pool2d(%5); %7 = nn.batch_flatten(%6); nn.softmax(%7)", 1e-4},
    {"network/float32/branches", PIC ", %ka: Tensor[(3, 2, 1, 1), float32], %kb: Tensor[(2, 2, 3, 3), float32]",
     "%0 = nn.conv2d(%x, %ka, kernel_size=[1, 1], channels=3); %1 = nn.relu(%0); "
     "%2 = nn.conv2d(%x, %kb, kernel_size=[3, 3], channels=2, padding=[1, 1]); "
     "%3 = nn.max_pool2d(%x, pool_size=[3, 3], padding=[1, 1]); concatenate((%1, %2, %3), axis=1)", 1e-5},
    {"network/float32/host_between", M ", %kw: Tensor[(4, 4), float32]",
     "%0 = nn.dense(%x, %kw); %1 = erf(%0); %2 = nn.dense(%1, %kw); %3 = erf(%2); %4 = add(%3, %1); (%4, %2)", 1e-5},
    {"network/float32/condition", MM ", %c: bool", "%0 = tanh(%x); if (%c) { %1 = add(%0, %y); nn.relu(%1) } else { %2 = subtract(%0, %y); abs(%2) }", 1e-5},
};
const size_t nnv_values_case_count = sizeof nnv_values_cases / sizeof *nnv_values_cases;
