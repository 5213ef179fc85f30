/* SPDX-License-Identifier: Apache-2.0 */
/** Quantised Relay functions as NNAPI models: scales and zero points found, layers joined with their requantisation. */
#include "tests/kit/convert.h"

#define UX "%x: Tensor[(1, 5, 6, 3), uint8]"
#define SX "%x: Tensor[(1, 3, 5, 6), int8]"

/* Relay rounds twice where operands are brought to the result's scale first, NNAPI once: a unit apart at most. */
static void quant_same(const char *params, const char *body, const char *ops) { near_to(params, body, 1, ops); }

static struct conversion same_quant(const char *params, const char *body, const char *ops) {
    same(params, body, ops);
    return converted(main_of(params, body), 0);
}

static void test_conv(void **state) {
    (void)state;
    same(UX ", %kw: Tensor[(3, 2, 3, 4), uint8], %kb: Tensor[(4), int32]",
         "%0 = qnn.conv2d(%x, %kw, 120, 130, 0.5f, 0.25f, channels=4, kernel_size=[3, 2], data_layout=\"NHWC\","
         " kernel_layout=\"HWIO\", padding=[1, 0, 0, 1], out_dtype=\"int32\"); %1 = nn.bias_add(%0, %kb, axis=3);"
         " qnn.requantize(%1, 0.125f, 0, 512f, 7, out_dtype=\"uint8\")",
         "CONV_2D");
    same(SX ", %kw: Tensor[(4, 3, 3, 2), int8]",
         "%0 = qnn.conv2d(%x, %kw, -3, 4, 0.5f, 0.25f, channels=4, kernel_size=[3, 2], out_dtype=\"int32\");"
         " qnn.requantize(%0, 0.125f, 0, 256f, 7, out_dtype=\"int8\")",
         "CONV_2D");
    /* unsigned data with signed weights: their codes are shifted */
    same(UX ", %kw: Tensor[(3, 2, 3, 4), int8]",
         "%0 = qnn.conv2d(%x, %kw, 120, 0, 0.5f, 0.25f, channels=4, kernel_size=[3, 2], data_layout=\"NHWC\","
         " kernel_layout=\"HWIO\", out_dtype=\"int32\"); qnn.requantize(%0, 0.125f, 0, 512f, 7, out_dtype=\"uint8\")",
         "CONV_2D");
    /* the scale that counts is that of the requantisation */
    same(UX ", %kw: Tensor[(3, 2, 3, 4), uint8]",
         "%0 = qnn.conv2d(%x, %kw, 120, 130, 0.5f, 0.25f, channels=4, kernel_size=[3, 2], data_layout=\"NHWC\","
         " kernel_layout=\"HWIO\", out_dtype=\"int32\"); qnn.requantize(%0, 0.25f, 0, 512f, 7, out_dtype=\"uint8\")",
         "CONV_2D");
}

static void test_conv_depthwise_and_channels(void **state) {
    (void)state;
    same("%x: Tensor[(1, 5, 6, 4), uint8], %kw: Tensor[(3, 2, 4, 2), uint8]",
         "%0 = qnn.conv2d(%x, %kw, 120, 130, 0.5f, 0.25f, groups=4, channels=8, kernel_size=[3, 2],"
         " data_layout=\"NHWC\", kernel_layout=\"HWOI\", out_dtype=\"int32\");"
         " qnn.requantize(%0, 0.125f, 0, 64f, 7, out_dtype=\"uint8\")",
         "DEPTHWISE_CONV_2D");
    struct conversion c =
        same_quant(SX ", %kw: Tensor[(4, 3, 3, 2), int8], %kps: Tensor[(4), float32]",
                   "%0 = qnn.conv2d(%x, %kw, -3, 0, 1f, %kps, channels=4, kernel_size=[3, 2], out_dtype=\"int32\");"
                   " qnn.requantize(%0, %kps, 0, 256f, 7, axis=1, out_dtype=\"int8\")",
                   "CONV_2D");
    const struct nnv_subgraph *s = &c.out.model.main;
    const struct nnv_operand *w = &s->operands[s->operations[0].in[1]], *b = &s->operands[s->operations[0].in[2]];
    assert_int_equal(w->type, ANEURALNETWORKS_TENSOR_QUANT8_SYMM_PER_CHANNEL);
    assert_int_equal(w->channel.dim, 0);
    assert_int_equal(w->channel.count, 4);
    assert_true(b->scale == 0);
    c = same_quant("%x: Tensor[(1, 5, 6, 4), uint8], %kw: Tensor[(3, 2, 4, 2), int8], %kps: Tensor[(8), float32]",
                   "%0 = qnn.conv2d(%x, %kw, 120, 0, 1f, %kps, groups=4, channels=8, kernel_size=[3, 2],"
                   " data_layout=\"NHWC\", kernel_layout=\"HWOI\", out_dtype=\"int32\");"
                   " qnn.requantize(%0, %kps, 0, 64f, 7, axis=3, out_dtype=\"uint8\")",
                   "DEPTHWISE_CONV_2D");
    s = &c.out.model.main;
    assert_int_equal(s->operands[s->operations[0].in[1]].channel.dim, 3);
    refused("%x: Tensor[(1, 4, 6, 3), uint8], %kw: Tensor[(3, 1, 3, 4), int8], %kps: Tensor[(4), float32]",
            "%0 = qnn.conv2d(%x, %kw, 120, 0, 1f, %kps, channels=4, kernel_size=[3, 1], data_layout=\"NHWC\","
            " kernel_layout=\"HWIO\", out_dtype=\"int32\");"
            " qnn.requantize(%0, %kps, 0, 64f, 7, axis=1, out_dtype=\"uint8\")",
            "scales along axis 1");
}

static void test_fused(void **state) {
    (void)state;
    const char *conv = "%0 = qnn.conv2d(%x, %kw, 120, 130, 0.5f, 0.25f, channels=4, kernel_size=[3, 2],"
                       " data_layout=\"NHWC\", kernel_layout=\"HWIO\", out_dtype=\"int32\");"
                       " %1 = qnn.requantize(%0, 0.125f, 0, 512f, 7, out_dtype=\"uint8\");";
    const char *p = UX ", %kw: Tensor[(3, 2, 3, 4), uint8]";
    same(p, nnv_arena_printf(arena, "%s clip(%%1, a_min=0f, a_max=255f)", conv), "CONV_2D");
    same(p, nnv_arena_printf(arena, "%s clip(%%1, a_min=7f, a_max=255f)", conv), "CONV_2D");
    same(p, nnv_arena_printf(arena, "%s clip(%%1, a_min=9f, a_max=250f)", conv), "CONV_2D MAXIMUM MINIMUM");
    same(p,
         "%9 = nn.pad(%x, 120u8, pad_width=[[0, 0], [1, 0], [0, 1], [0, 0]]);"
         " %0 = qnn.conv2d(%9, %kw, 120, 130, 0.5f, 0.25f, channels=4, kernel_size=[3, 2], data_layout=\"NHWC\","
         " kernel_layout=\"HWIO\", out_dtype=\"int32\"); qnn.requantize(%0, 0.125f, 0, 512f, 7, out_dtype=\"uint8\")",
         "CONV_2D");
    /* padding with another code than the zero point */
    same(p,
         "%9 = nn.pad(%x, 7u8, pad_width=[[0, 0], [1, 0], [0, 1], [0, 0]]);"
         " %0 = qnn.conv2d(%9, %kw, 120, 130, 0.5f, 0.25f, channels=4, kernel_size=[3, 2], data_layout=\"NHWC\","
         " kernel_layout=\"HWIO\", out_dtype=\"int32\"); qnn.requantize(%0, 0.125f, 0, 512f, 7, out_dtype=\"uint8\")",
         "PAD_V2 CONV_2D");
    refused(p, nnv_arena_printf(arena, "%s (%%0, %%1)", conv), "gives int32 sums");
    refused("%x: Tensor[(2, 5), uint8], %kw: Tensor[(3, 5), uint8]",
            "%0 = qnn.dense(%x, %kw, 3, 430, 0.5f, 0.25f, units=3); qnn.requantize(%0, 0.125f, 0, 64f, 7)",
            "zero point 430");
    refused(p, nnv_arena_printf(arena, "%s %%2 = qnn.dequantize(%%1, 256f, 7); %%2", conv), "qnn.requantize between");
}

static void test_dense(void **state) {
    (void)state;
    same("%x: Tensor[(2, 5), int8], %kw: Tensor[(3, 5), int8], %kb: Tensor[(3), int32]",
         "%0 = qnn.dense(%x, %kw, -3, 4, 0.5f, 0.25f, units=3); %1 = nn.bias_add(%0, %kb);"
         " qnn.requantize(%1, 0.125f, 0, 64f, 7, out_dtype=\"int8\")",
         "FULLY_CONNECTED");
}

static void test_elementwise(void **state) {
    (void)state;
    same("%x: Tensor[(2, 5), int8], %y: Tensor[(2, 5), int8]", "qnn.add(%x, %y, 0.5f, 3, 0.5f, -4, 0.5f, 5)", "ADD");
    quant_same("%x: Tensor[(2, 5), int8], %y: Tensor[(2, 5), int8]", "qnn.add(%x, %y, 0.5f, 3, 0.25f, -4, 0.75f, 5)",
               "ADD");
    quant_same("%x: Tensor[(2, 5), uint8], %y: Tensor[(2, 5), uint8]", "qnn.mul(%x, %y, 0.5f, 3, 0.25f, 4, 16f, 5)",
               "MUL");
    quant_same("%x: Tensor[(2, 5), uint8], %y: Tensor[(2, 5), uint8]",
               "qnn.subtract(%x, %y, 0.5f, 3, 0.25f, 4, 0.75f, 5)", "SUB");
    same("%x: Tensor[(2, 5), uint8]", "qnn.requantize(%x, 0.5f, 3, 0.5f, 3, out_dtype=\"uint8\")", "RESHAPE");
    quant_same("%x: Tensor[(2, 5), uint8]", "qnn.requantize(%x, 0.5f, 3, 0.75f, 4, out_dtype=\"uint8\")",
               "DEQUANTIZE QUANTIZE");
    same("%x: Tensor[(2, 5), uint8]", "qnn.dequantize(%x, 0.5f, 3)", "DEQUANTIZE");
    same("%x: Tensor[(2, 5), float32]", "qnn.quantize(%x, 0.03125f, 3)", "QUANTIZE");
    /* a constant is dequantised now, by a list of scales along its last axis, too; rounded to float32 */
    near_to("%x: Tensor[(2, 5), float32], %kw: Tensor[(2, 5), int8], %kps: Tensor[(5), float32]",
            "%0 = qnn.dequantize(%kw, %kps, 3); add(%x, %0)", 1e-6, "ADD");
    same("%x: Tensor[(2, 5), float32], %kw: Tensor[(2, 5), int8], %kz: Tensor[(2), int32]",
         "%0 = qnn.dequantize(%kw, 0.5f, %kz, axis=0); add(%x, %0)", "ADD");
    quant_same("%x: Tensor[(2, 5), uint8], %y: Tensor[(1, 5), uint8]",
               "%0 = (%x, %y); %1 = (0.5f, 0.25f); %2 = (3, 4); qnn.concatenate(%0, %1, %2, 0.5f, 9)", "CONCATENATION");
}

static void test_functions(void **state) {
    (void)state;
    same("%x: Tensor[(2, 5), uint8]", "qnn.sigmoid(%x, 0.0625f, 128, 0.00390625f, 0)", "LOGISTIC");
    same("%x: Tensor[(2, 5), uint8]", "qnn.sigmoid(%x, 0.0625f, 128, 0.0078125f, 0)", "DEQUANTIZE LOGISTIC QUANTIZE");
    same("%x: Tensor[(2, 5), int8]", "qnn.tanh(%x, 0.0625f, 3, 0.0078125f, 0)", "TANH");
    same("%x: Tensor[(2, 5), uint8]", "qnn.sqrt(%x, 0.0625f, 0, 0.03125f, 0)", "DEQUANTIZE SQRT QUANTIZE");
}

/* Relay's whole-numbered mean drops the fraction, NNAPI's is rounded: a unit apart at most. */
static void test_code_pool(void **state) {
    (void)state;
    quant_same("%x: Tensor[(1, 4, 6, 2), uint8]",
               "%0 = cast(%x, dtype=\"int32\"); %1 = nn.avg_pool2d(%0, pool_size=[3, 2], layout=\"NHWC\");"
               " %2 = cast(%1, dtype=\"uint8\"); qnn.dequantize(%2, 0.5f, 7)",
               "AVERAGE_POOL_2D DEQUANTIZE");
    refused("%x: Tensor[(1, 4, 6, 2), int32]", "nn.avg_pool2d(%x, pool_size=[3, 2], layout=\"NHWC\")",
            "operand 0 is of int32");
}

static void test_scales_are_handed_on(void **state) {
    (void)state;
    struct conversion c = converted(
        main_of("%x: Tensor[(2, 6), uint8]", "%0 = reshape(%x, newshape=[3, 4]); qnn.dequantize(%0, 0.5f, 3)"), 0);
    assert_int_equal(c.st, NNV_OK);
    assert_true(c.out.model.main.operands[0].scale == 0.5f && c.out.model.main.operands[0].zero_point == 3);
    /* plain bytes are integers */
    c = converted(main_of("%x: Tensor[(2, 6), uint8]", "reshape(%x, newshape=[3, 4])"), 0);
    assert_int_equal(c.st, NNV_OK);
    assert_true(c.out.model.main.operands[0].scale == 1 && c.out.model.main.operands[0].zero_point == 0);
    refused("%x: Tensor[(2, 6), uint8]",
            "%0 = reshape(%x, newshape=[3, 4]); %1 = qnn.dequantize(%0, 0.5f, 3); %2 = qnn.dequantize(%0, 0.5f, 4);"
            " (%1, %2)",
            "qnn.requantize between");
    refused("%x: Tensor[(2, 6), uint8]", "qnn.dequantize(%x, 0f, 3)", "a scale of 0");
    refused("%x: Tensor[(2, 6), int8]", "qnn.dequantize(%x, 1f, 300)", "a zero point of 300");
}

static void test_real(void **state) {
    (void)state;
    const char *p = "%x: Tensor[(2, 5), uint8]";
    same(p,
         "%0 = qnn.dequantize(%x, 0.125f, 128); %1 = nn.softmax(%0); qnn.quantize(%1, 0.00390625f, 0,"
         " out_dtype=\"uint8\")",
         "SOFTMAX");
    /* a scale that SOFTMAX does not have */
    near_to(p,
            "%0 = qnn.dequantize(%x, 0.125f, 128); %1 = nn.softmax(%0); qnn.quantize(%1, 0.0078125f, 0,"
            " out_dtype=\"uint8\")",
            0, "DEQUANTIZE SOFTMAX QUANTIZE");
    same(p,
         "%0 = qnn.dequantize(%x, 0.125f, 128); %1 = sigmoid(%0); qnn.quantize(%1, 0.00390625f, 0,"
         " out_dtype=\"uint8\")",
         "LOGISTIC");
    same("%x: Tensor[(1, 2, 4, 4), uint8]",
         "%0 = qnn.dequantize(%x, 0.125f, 128); %1 = nn.avg_pool2d(%0, pool_size=[2, 2], strides=[2, 2]);"
         " qnn.quantize(%1, 0.125f, 128, out_dtype=\"uint8\")",
         "AVERAGE_POOL_2D");
    same("%x: Tensor[(2, 5), uint8], %y: Tensor[(2, 5), uint8]",
         "%0 = qnn.dequantize(%x, 0.125f, 128); %1 = qnn.dequantize(%y, 0.25f, 100); %2 = add(%0, %1);"
         " qnn.quantize(%2, 0.5f, 127, out_dtype=\"uint8\")",
         "ADD");
    same("%x: Tensor[(2, 5), uint8], %y: Tensor[(2, 5), uint8]",
         "%0 = qnn.dequantize(%x, 0.125f, 128); %1 = qnn.dequantize(%y, 0.25f, 100); %2 = add(%0, %1);"
         " %3 = nn.relu(%2); qnn.quantize(%3, 0.5f, 127, out_dtype=\"uint8\")",
         "ADD");
    /* one value for two of them */
    same("%x: Tensor[(2, 5), uint8]",
         "%0 = qnn.dequantize(%x, 0.125f, 128); %1 = sigmoid(%0); %2 = qnn.quantize(%1, 0.00390625f, 0,"
         " out_dtype=\"uint8\"); %3 = tanh(%0); %4 = qnn.quantize(%3, 0.0078125f, 128, out_dtype=\"uint8\");"
         " (%2, %4)",
         "LOGISTIC TANH");
    same("%x: Tensor[(2, 5), uint8]",
         "%0 = qnn.dequantize(%x, 0.125f, 128); %1 = sigmoid(%0); %2 = qnn.quantize(%1, 0.00390625f, 0,"
         " out_dtype=\"uint8\"); (%2, %0)",
         "DEQUANTIZE LOGISTIC");
    /* the scale is not TANH's: all of it in real numbers, with the activation */
    same("%x: Tensor[(2, 5), uint8]",
         "%0 = qnn.dequantize(%x, 0.125f, 128); %1 = add(%0, %0); %2 = nn.relu(%1); %3 = tanh(%2);"
         " qnn.quantize(%3, 0.015625f, 128, out_dtype=\"uint8\")",
         "DEQUANTIZE ADD TANH QUANTIZE");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_conv, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_conv_depthwise_and_channels, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_fused, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_dense, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_elementwise, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_functions, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_code_pool, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_scales_are_handed_on, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_real, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
