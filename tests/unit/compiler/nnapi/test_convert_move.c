/* SPDX-License-Identifier: Apache-2.0 */
/** Relay functions as NNAPI models: what moves, chooses, reduces and normalises. */
#include "tests/kit/convert.h"

#define F(shape) "%x: Tensor[" shape ", float32]"
#define B(shape) "%x: Tensor[" shape ", uint8]"

static void test_shapes(void **state) {
    (void)state;
    same(F("(2, 3, 4)"), "reshape(%x, newshape=[4, -1])", "RESHAPE");
    same(B("(2, 3, 4)"), "nn.batch_flatten(%x)", "RESHAPE");
    same(F("(2, 1, 4)"), "squeeze(%x)", "RESHAPE");
    same(F("(2, 4)"), "expand_dims(%x, axis=1)", "RESHAPE");
    same_at("%x: Tensor[(2, 4), int32]", "expand_dims(%x, axis=1)", 3, "EXPAND_DIMS");
    refused_at("%x: Tensor[(2, 4), int32]", "reshape(%x, newshape=[8])", 5, "needs feature level 6");
    same(F("(2, 3, 4)"), "transpose(%x, axes=[2, 0, 1])", "TRANSPOSE");
    same(F("(2, 3, 4)"), "transpose(%x)", "TRANSPOSE");
    same(F("(2, 3, 4, 5)"), "layout_transform(%x, src_layout=\"NCHW\", dst_layout=\"NHWC\")", "TRANSPOSE");
    same_at(F("(2, 1, 4)"), "transpose(%x, axes=[1, 0, 2])", 1, "RESHAPE");
    same(F("(2, 3)"), "%0 = reshape(%x, newshape=[2, 3]); nn.relu(%0)", "RELU");
    refused(F("(1, 4, 1, 2)"), "layout_transform(%x, src_layout=\"NCHW\", dst_layout=\"NCHW4c\")",
            "NCHW to NCHW4c: a TRANSPOSE makes no blocks");
    refused(F("(1, 2, 1, 2, 3)"), "transpose(%x, axes=[4, 3, 2, 1, 0])", "rank 5");
}

static void test_joins(void **state) {
    (void)state;
    same("%x: Tensor[(2, 3), float32], %y: Tensor[(2, 4), float32]", "%0 = (%x, %y); concatenate(%0, axis=-1)",
         "CONCATENATION");
    same("%x: Tensor[(2, 3), float32], %ky: Tensor[(2, 3), float32]", "%0 = (%x, %ky, %x); concatenate(%0, axis=1)",
         "CONCATENATION");
    same("%x: Tensor[(2, 3), float32], %y: Tensor[(2, 3), float32]", "%0 = (%x, %y); stack(%0, axis=-1)",
         "RESHAPE RESHAPE CONCATENATION");
    same(F("(2, 6)"), "split(%x, indices_or_sections=3, axis=1)", "SPLIT");
    same_at(F("(2, 6)"), "split(%x, indices_or_sections=3, axis=1)", 2, "STRIDED_SLICE STRIDED_SLICE STRIDED_SLICE");
    same(F("(2, 6)"), "%0 = split(%x, indices_or_sections=[1, 3], axis=1); %1 = %0.1; nn.relu(%1)",
         "STRIDED_SLICE RELU"); /* parts that nobody reads are not cut */
    same("%x: Tensor[(2, 6), int32]", "split(%x, indices_or_sections=[1, 3], axis=1)", "SLICE SLICE SLICE");
}

static void test_slices_and_pads(void **state) {
    (void)state;
    same(F("(4, 6)"), "strided_slice(%x, begin=[1, 1], end=[3, 6], strides=[1, 2])", "STRIDED_SLICE");
    same(F("(4, 6)"), "strided_slice(%x, begin=[3, 5], end=[-10, 1], strides=[-1, -2])", "STRIDED_SLICE");
    same(F("(4, 6)"), "strided_slice(%x, begin=[2], end=[5], axes=[1])", "STRIDED_SLICE");
    same(F("(4, 6)"), "strided_slice(%x, begin=[1, 2], end=[2, -1], slice_mode=\"size\")", "STRIDED_SLICE");
    same("%x: Tensor[(4, 6), int32]", "strided_slice(%x, begin=[1, 1], end=[3, 6])", "SLICE");
    same(F("(2, 3)"), "nn.pad(%x, 0f, pad_width=[[1, 0], [0, 2]])", "PAD");
    same(F("(2, 3)"), "nn.pad(%x, 1.5f, pad_width=[[1, 0], [0, 2]])", "PAD_V2");
    same(B("(2, 3)"), "nn.pad(%x, 7u8, pad_width=[[1, 0], [0, 2]])", "PAD_V2");
    same(F("(4, 3)"), "nn.mirror_pad(%x, pad_width=[[1, 0], [0, 2]], mode=\"REFLECT\")", "MIRROR_PAD");
    same(F("(4, 3)"), "nn.mirror_pad(%x, pad_width=[[1, 0], [0, 2]], mode=\"SYMMETRIC\")", "MIRROR_PAD");
    refused(F("(2, 3)"), "nn.pad(%x, 0f, pad_width=[[1, 0], [0, 2]], pad_mode=\"edge\")", "pad_mode edge");
    refused(F("(2, 4, 6)"), "nn.space_to_batch_nd(%x, block_shape=[2, 3], paddings=[[0, 0], [0, 0]])",
            "only blocks of two dimensions of a tensor of four");
    refused_at(F("(2, 3)"), "nn.pad(%x, 1.5f, pad_width=[[1, 0], [0, 2]])", 2, "needs feature level 3");
}

static void test_repetition(void **state) {
    (void)state;
    same(F("(2, 3)"), "tile(%x, reps=[2, 1, 2])", "RESHAPE TILE");
    same(F("(3, 1)"), "broadcast_to(%x, shape=[2, 3, 4])", "RESHAPE TILE");
    same(F("(2, 3)"), "repeat(%x, repeats=2, axis=1)", "RESHAPE TILE RESHAPE");
    same(F("(2, 3)"), "reverse(%x, axis=1)", "REVERSE");
    same("%x: Tensor[(3, 1), float32], %y: Tensor[(3, 4), float32]", "broadcast_to_like(%x, %y)", "TILE");
    same("%x: Tensor[(3, 4), float32], %y: Tensor[(2, 6), float32]", "reshape_like(%x, %y)", "RESHAPE");
    same("%x: Tensor[(3, 4), float32]", "%0 = full_like(%x, 0.5f); add(%x, %0)", "ADD");
}

static void test_depth_and_batch(void **state) {
    (void)state;
    same(F("(1, 8, 2, 3)"), "nn.depth_to_space(%x, block_size=2)", "DEPTH_TO_SPACE");
    same(F("(1, 2, 4, 6)"), "nn.space_to_depth(%x, block_size=2)", "SPACE_TO_DEPTH");
    same_at(F("(1, 2, 3, 8)"), "nn.depth_to_space(%x, block_size=2, layout=\"NHWC\")", 1, "DEPTH_TO_SPACE");
    refused(F("(1, 8, 2, 3)"), "nn.depth_to_space(%x, block_size=2, mode=\"CDR\")", "mode CDR");
    same(F("(1, 4, 5, 2)"), "nn.space_to_batch_nd(%x, block_shape=[2, 3], paddings=[[0, 0], [1, 0]])",
         "SPACE_TO_BATCH_ND");
    same(F("(6, 2, 2, 3)"), "nn.batch_to_space_nd(%x, block_shape=[2, 3], crops=[[0, 0], [0, 0]])",
         "BATCH_TO_SPACE_ND");
    same(F("(6, 2, 2, 3)"), "nn.batch_to_space_nd(%x, block_shape=[2, 3], crops=[[1, 0], [0, 2]])",
         "BATCH_TO_SPACE_ND STRIDED_SLICE");
}

static void test_choices(void **state) {
    (void)state;
    same("%x: Tensor[(4, 3, 2), float32], %i: Tensor[(5), int32]", "take(%x, %i, axis=1)", "MAXIMUM MINIMUM GATHER");
    same("%x: Tensor[(4, 3, 2), float32], %i: Tensor[(5), int32]", "take(%x, %i, axis=1, mode=\"fast\")", "GATHER");
    same(F("(4, 3, 2)"), "take(%x, -1, axis=1)", "GATHER RESHAPE");
    same(F("(4, 3, 2)"), "take(%x, 22, mode=\"wrap\")", "RESHAPE GATHER");
    same("%x: Tensor[(2, 3), bool], %y: Tensor[(2, 3), float32], %z: Tensor[(2, 3), float32]", "where(%x, %y, %z)",
         "SELECT");
    same("%x: Tensor[(2, 3), bool], %y: Tensor[(2, 3), float32]", "where(%x, %y, 0.5f)", "SELECT");
    refused("%x: Tensor[(3), bool], %y: Tensor[(2, 3), float32]", "where(%x, %y, %y)", "a condition that is stretched");
    same(F("(2, 5)"), "topk(%x, k=2, dtype=\"int32\")", "TOPK_V2");
    same(F("(2, 5)"), "topk(%x, k=2, ret_type=\"values\")", "TOPK_V2");
    refused(F("(2, 5)"), "topk(%x, k=2, is_ascend=True, dtype=\"int32\")", "is_ascend");
    same(F("(2, 5)"), "argmax(%x, axis=1)", "ARGMAX");
    same(F("(2, 5)"), "argmin(%x, axis=0, keepdims=True)", "ARGMIN RESHAPE");
    same(F("(2, 5)"), "argmax(%x)", "RESHAPE ARGMAX");
    refused(F("(2, 5)"), "argmax(%x, axis=1, select_last_index=True)", "select_last_index");
    same("%x: Tensor[(3, 4), float32], %i: Tensor[(3, 2), int32]", "gather(%x, %i, axis=1)", "MUL ADD RESHAPE GATHER");
    same("%x: Tensor[(3, 4), float32], %i: Tensor[(2, 4), int32]", "gather(%x, %i)", "MUL ADD RESHAPE GATHER");
    same(F("(3, 2)"), "%0 = ones_like(%x); %1 = cast(%0, dtype=\"int32\"); gather(%x, %1, axis=0)",
         "CAST MUL ADD RESHAPE GATHER");
}

static void test_reductions(void **state) {
    (void)state;
    same(F("(2, 3, 4)"), "mean(%x, axis=[1])", "MEAN");
    same(F("(2, 3, 4)"), "mean(%x, axis=[0, 2], keepdims=True)", "MEAN");
    same(F("(2, 3, 4)"), "sum(%x)", "REDUCE_SUM RESHAPE");
    same(F("(2, 3, 4)"), "prod(%x, axis=[1], exclude=True)", "REDUCE_PROD");
    same(F("(2, 3)"), "sum(%x, axis=[0, 1], exclude=True)", "RESHAPE"); /* nothing vanishes */
    same(F("(2, 3, 4)"), "max(%x, axis=[-1])", "REDUCE_MAX");
    same(B("(2, 3, 4)"), "min(%x, axis=[1])", "REDUCE_MIN");
    same("%x: Tensor[(2, 3), bool]", "%0 = all(%x, axis=[1]); %1 = any(%x, axis=[1]); (%0, %1)",
         "REDUCE_ALL REDUCE_ANY");
    refused("%x: Tensor[(2, 3), int32]", "sum(%x, axis=[1])", "operand 0 is of int32");
}

static void test_normalisations(void **state) {
    (void)state;
    same(F("(2, 3, 4)"), "nn.softmax(%x)", "SOFTMAX");
    same(F("(2, 3, 4)"), "nn.softmax(%x, axis=1)", "SOFTMAX");
    same_at(F("(2, 3, 4)"), "nn.softmax(%x)", 1, "RESHAPE SOFTMAX RESHAPE");
    refused_at(F("(2, 3, 4)"), "nn.softmax(%x, axis=1)", 2, "axis 1 of 3");
    same(F("(2, 3, 4)"), "nn.log_softmax(%x, axis=1)", "LOG_SOFTMAX");
    same("%x: Tensor[(2, 3, 4), float32], %kb: Tensor[(3), float32]", "nn.bias_add(%x, %kb)", "ADD");
    same("%x: Tensor[(2, 3, 4), float32], %kb: Tensor[(4), float32]", "nn.bias_add(%x, %kb, axis=-1)", "ADD");
    near_to(F("(2, 5, 4)"), "nn.lrn(%x, size=3, alpha=0.5f, beta=0.75f, bias=2f)", 1e-6,
            "LOCAL_RESPONSE_NORMALIZATION");
    refused(F("(2, 5, 4)"), "nn.lrn(%x, size=4)", "a window of 4");
    same(F("(2, 5, 4)"), "nn.l2_normalize(%x, eps=0.25f, axis=[1])", "MUL REDUCE_SUM MAXIMUM RSQRT MUL");
    /* without axes over all of them */
    same(F("(2, 5, 4)"), "nn.l2_normalize(%x, eps=0.25f)", "MUL REDUCE_SUM MAXIMUM RSQRT MUL");
    near_to("%x: Tensor[(1, 3, 4, 5), float32], %kg: Tensor[(3), float32], %kb: Tensor[(3), float32]",
            "nn.instance_norm(%x, %kg, %kb)", 1e-5, "INSTANCE_NORMALIZATION MUL ADD");
    near_to("%x: Tensor[(2, 3, 4), float32], %g: Tensor[(3), float32], %b: Tensor[(3), float32]",
            "nn.layer_norm(%x, %g, %b, axis=1)", 1e-5, "MEAN SUB MUL MEAN ADD RSQRT MUL RESHAPE MUL RESHAPE ADD");
    near_to("%x: Tensor[(2, 4, 3, 5), float32], %kg: Tensor[(4), float32], %kb: Tensor[(4), float32]",
            "nn.group_norm(%x, %kg, %kb, num_groups=2, scale=False)", 1e-5,
            "RESHAPE MEAN SUB MUL MEAN ADD RSQRT MUL RESHAPE ADD");
}

/* Statistics that are operands; mean and variance are results, too. */
static void test_batch_norm(void **state) {
    (void)state;
    static const char params[] = "%x: Tensor[(2, 3, 4), float32], %g: Tensor[(3), float32], %b: Tensor[(3), float32],"
                                 " %m: Tensor[(3), float32], %p: Tensor[(3), float32]";
    near_to(params, "%0 = nn.batch_norm(%x, %g, %b, %m, %p); %1 = %0.0; nn.relu(%1)", 1e-5,
            "ADD RSQRT MUL MUL SUB RESHAPE MUL RESHAPE ADD");
    near_to(params, "nn.batch_norm(%x, %g, %b, %m, %p, center=False)", 1e-5,
            "ADD RSQRT MUL MUL NEG RESHAPE MUL RESHAPE ADD");
    refused_at(params, "%0 = nn.batch_norm(%x, %g, %b, %m, %p); %0.0", 2, "RSQRT");
}

/* Convolutions and pools of one dimension are those of two on images of one line. */
static void test_lines(void **state) {
    (void)state;
    static const char params[] = "%x: Tensor[(2, 4, 9), float32], %w: Tensor[(6, 2, 3), float32],"
                                 " %kb: Tensor[(6), float32]";
    near_to(params,
            "%0 = nn.conv1d(%x, %w, strides=[2], padding=[2, 1], dilation=[1], groups=2, channels=6, kernel_size=[3]);"
            " %1 = nn.bias_add(%0, %kb); nn.relu(%1)",
            1e-5, "TRANSPOSE RESHAPE RESHAPE GROUPED_CONV_2D RESHAPE");
    same(F("(2, 4, 9)"), "nn.max_pool1d(%x, pool_size=[2], strides=[2], ceil_mode=True)",
         "RESHAPE MAX_POOL_2D RESHAPE");
    near_to(F("(2, 9, 4)"), "nn.avg_pool1d(%x, pool_size=[3], padding=[2, 1], count_include_pad=True, layout=\"NWC\")",
            1e-5, "RESHAPE PAD AVERAGE_POOL_2D RESHAPE");
    near_to(F("(2, 4, 9)"), "nn.adaptive_avg_pool1d(%x, output_size=[3])", 1e-5, "RESHAPE AVERAGE_POOL_2D RESHAPE");
    refused(F("(2, 4, 9)"), "nn.max_pool1d(%x, pool_size=[2], dilation=[2])", "dilation");
}

static void test_resizing(void **state) {
    (void)state;
    same(F("(1, 2, 4, 5)"), "image.resize2d(%x, size=[6, 10])", "RESIZE_BILINEAR");
    same(F("(1, 2, 4, 5)"), "image.resize2d(%x, size=[7, 9], coordinate_transformation_mode=\"align_corners\")",
         "RESIZE_BILINEAR");
    same(F("(1, 2, 4, 5)"), "image.resize2d(%x, size=[3, 9], coordinate_transformation_mode=\"asymmetric\")",
         "RESIZE_BILINEAR");
    same(F("(1, 4, 5, 2)"),
         "image.resize2d(%x, size=[7, 3], method=\"nearest_neighbor\", layout=\"NHWC\","
         " coordinate_transformation_mode=\"asymmetric\")",
         "RESIZE_NEAREST_NEIGHBOR");
    same(F("(1, 2, 4, 5)"),
         "image.resize2d(%x, size=[7, 3], method=\"nearest_neighbor\", coordinate_transformation_mode=\"half_pixel\","
         " rounding_method=\"round\")",
         "RESIZE_NEAREST_NEIGHBOR");
    same(F("(1, 2, 4, 5)"), "nn.upsampling(%x, scale_h=2f, scale_w=3f)", "RESIZE_NEAREST_NEIGHBOR");
    same(F("(1, 2, 4, 5)"), "nn.upsampling(%x, scale_h=2f, scale_w=2f, method=\"bilinear\", align_corners=True)",
         "RESIZE_BILINEAR");
    refused(F("(1, 2, 4, 5)"), "image.resize2d(%x, size=[6, 10], method=\"cubic\")", "method cubic");
}

static void test_casts(void **state) {
    (void)state;
    same(F("(2, 3)"), "cast(%x, dtype=\"int32\")", "CAST");
    same(B("(2, 3)"), "cast(%x, dtype=\"int32\")", "CAST");
    same("%x: Tensor[(2, 3), int8]", "cast(%x, dtype=\"int32\")", "DEQUANTIZE CAST");
    same("%x: Tensor[(2, 3), bool]", "cast(%x, dtype=\"float32\")", "SELECT");
    same(F("(2, 3)"), "cast(%x, dtype=\"bool\")", "NOT_EQUAL");
    refused("%x: Tensor[(2, 3), int32]", "cast(%x, dtype=\"uint8\")", "wraps around");
    same("%x: Tensor[(2, 3), int32]", "%0 = clip(%x, a_min=0f, a_max=255f); cast(%0, dtype=\"uint8\")",
         "MAXIMUM MINIMUM CAST");
    refused(F("(2, 3)"), "cast(%x, dtype=\"int64\")", "int64");
}

static void test_results(void **state) {
    (void)state;
    same(F("(2, 3)"), "%0 = nn.relu(%x); (%0, %x, %0, %x)", "RELU");
    same("%x: Tensor[(2, 3), float32], %ky: Tensor[(2), float32]", "%0 = nn.relu(%x); (%0, %ky)", "RELU RESHAPE");
    same("%x: (Tensor[(2, 3), float32], Tensor[(3), float32])", "%0 = %x.0; %1 = %x.1; add(%0, %1)", "ADD");
    same(F("(2, 3)"), "copy(%x)", "RESHAPE");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_shapes, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_joins, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_slices_and_pads, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_repetition, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_depth_and_batch, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_choices, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_reductions, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_normalisations, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_batch_norm, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_lines, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_resizing, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_casts, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_results, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
