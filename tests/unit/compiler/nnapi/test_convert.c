/* SPDX-License-Identifier: Apache-2.0 */
/** Relay functions as NNAPI models: layers, elementwise operators, pools, and what is fused. */
#include "tests/kit/convert.h"

#define X "%x: Tensor[(1, 3, 7, 9), float32]"
#define Y "%x: Tensor[(1, 7, 9, 3), float32]"

static void test_conv(void **state) {
    (void)state;
    /* strides, padding and kernel are of unequal height and width: their orders differ between Relay and NNAPI */
    same(X ", %kw: Tensor[(4, 3, 3, 2), float32]",
         "nn.conv2d(%x, %kw, strides=[2, 1], padding=[1, 0, 2, 1], channels=4, kernel_size=[3, 2])", "CONV_2D");
    same(Y ", %kw: Tensor[(3, 2, 3, 4), float32]",
         "nn.conv2d(%x, %kw, strides=[1, 2], padding=[0, 1], channels=4, kernel_size=[3, 2], data_layout=\"NHWC\","
         " kernel_layout=\"HWIO\")",
         "CONV_2D");
    same(X ", %kw: Tensor[(4, 3, 3, 2), float32]", "nn.conv2d(%x, %kw, dilation=[2, 3], kernel_size=[3, 2])",
         "CONV_2D");
    same_at(X ", %kw: Tensor[(4, 3, 3, 2), float32]", "nn.conv2d(%x, %kw, kernel_size=[3, 2])", 2,
            "TRANSPOSE CONV_2D TRANSPOSE");
    same_at(Y ", %kw: Tensor[(4, 3, 2, 3), float32]",
            "nn.conv2d(%x, %kw, kernel_size=[3, 2], data_layout=\"NHWC\", kernel_layout=\"OHWI\")", 1, "CONV_2D");
    /* weights that are no constant are turned by an operation */
    same(X ", %w: Tensor[(4, 3, 3, 2), float32]", "nn.conv2d(%x, %w, kernel_size=[3, 2])", "TRANSPOSE CONV_2D");
    /* padding as large as the filter */
    same(X ", %kw: Tensor[(4, 3, 1, 2), float32]", "nn.conv2d(%x, %kw, padding=[1, 1], kernel_size=[1, 2])",
         "PAD CONV_2D");
}

static void test_conv_groups(void **state) {
    (void)state;
    const char *x = "%x: Tensor[(1, 4, 5, 6), float32], ";
    same(nnv_arena_printf(arena, "%s%%kw: Tensor[(4, 1, 3, 2), float32]", x),
         "nn.conv2d(%x, %kw, groups=4, channels=4, kernel_size=[3, 2], dilation=[1, 2])", "DEPTHWISE_CONV_2D");
    same(nnv_arena_printf(arena, "%s%%kw: Tensor[(8, 1, 3, 2), float32]", x),
         "nn.conv2d(%x, %kw, groups=4, channels=8, kernel_size=[3, 2])", "DEPTHWISE_CONV_2D");
    same("%x: Tensor[(1, 5, 6, 4), float32], %kw: Tensor[(3, 2, 4, 2), float32]",
         "nn.conv2d(%x, %kw, groups=4, channels=8, kernel_size=[3, 2], data_layout=\"NHWC\", kernel_layout=\"HWOI\")",
         "DEPTHWISE_CONV_2D");
    same(nnv_arena_printf(arena, "%s%%kw: Tensor[(6, 2, 3, 2), float32]", x),
         "nn.conv2d(%x, %kw, groups=2, channels=6, kernel_size=[3, 2])", "GROUPED_CONV_2D");
}

static void test_conv_fused(void **state) {
    (void)state;
    const char *p = X ", %kw: Tensor[(4, 3, 3, 2), float32], %kb: Tensor[(4), float32]";
    const char *conv = "%0 = nn.conv2d(%x, %kw, kernel_size=[3, 2]);";
    same(p, nnv_arena_printf(arena, "%s %%1 = nn.bias_add(%%0, %%kb); nn.relu(%%1)", conv), "CONV_2D");
    same(p, nnv_arena_printf(arena, "%s %%1 = nn.bias_add(%%0, %%kb); clip(%%1, a_min=0f, a_max=6f)", conv), "CONV_2D");
    same(p, nnv_arena_printf(arena, "%s clip(%%0, a_min=-1f, a_max=1f)", conv), "CONV_2D");
    same(p, nnv_arena_printf(arena, "%s clip(%%0, a_min=-0.5f, a_max=0.5f)", conv), "CONV_2D MAXIMUM MINIMUM");
    /* a value that is used twice stays */
    same(p, nnv_arena_printf(arena, "%s %%1 = nn.relu(%%0); add(%%0, %%1)", conv), "CONV_2D RELU ADD");
    same(p, nnv_arena_printf(arena, "%s %%1 = nn.relu(%%0); (%%0, %%1)", conv), "CONV_2D RELU");
    same(X ", %kw: Tensor[(4, 3, 3, 2), float32], %kb: Tensor[(4, 1, 1), float32]",
         nnv_arena_printf(arena, "%s %%1 = add(%%kb, %%0); nn.relu(%%1)", conv), "CONV_2D");
    /* not along the channels */
    same(X ", %kw: Tensor[(4, 3, 3, 2), float32], %kb: Tensor[(8), float32]",
         nnv_arena_printf(arena, "%s nn.bias_add(%%0, %%kb, axis=3)", conv), "CONV_2D ADD");
    same(X ", %kw: Tensor[(4, 3, 3, 2), float32], %kb: Tensor[(8), float32]",
         nnv_arena_printf(arena, "%s add(%%0, %%kb)", conv), "CONV_2D ADD");
    same(X ", %kw: Tensor[(4, 3, 3, 2), float32], %b: Tensor[(4), float32]",
         nnv_arena_printf(arena, "%s nn.bias_add(%%0, %%b)", conv), "CONV_2D");
    same(X ", %kw: Tensor[(4, 3, 3, 2), float32]",
         "%0 = nn.pad(%x, 0f, pad_width=[[0, 0], [0, 0], [1, 0], [0, 1]]); nn.conv2d(%0, %kw, kernel_size=[3, 2])",
         "CONV_2D");
    /* not with zeros, and not of the image alone */
    same(X ", %kw: Tensor[(4, 3, 3, 2), float32]",
         "%0 = nn.pad(%x, 1f, pad_width=[[0, 0], [0, 0], [1, 0], [0, 1]]); nn.conv2d(%0, %kw, kernel_size=[3, 2])",
         "PAD_V2 CONV_2D");
    same(X ", %kw: Tensor[(4, 4, 3, 2), float32]",
         "%0 = nn.pad(%x, 0f, pad_width=[[0, 0], [1, 0], [1, 0], [0, 1]]); nn.conv2d(%0, %kw, kernel_size=[3, 2])",
         "PAD CONV_2D");
}

static void test_conv_transpose(void **state) {
    (void)state;
    same(X ", %kw: Tensor[(3, 4, 3, 2), float32]",
         "nn.conv2d_transpose(%x, %kw, channels=4, kernel_size=[3, 2], strides=[2, 3], padding=[1, 0, 0, 1])",
         "TRANSPOSE_CONV_2D");
    same(X ", %kw: Tensor[(3, 4, 3, 2), float32], %kb: Tensor[(4), float32]",
         "%0 = nn.conv2d_transpose(%x, %kw, channels=4, kernel_size=[3, 2], strides=[2, 3], padding=[1, 1],"
         " output_padding=[1, 2]); %1 = nn.bias_add(%0, %kb); nn.relu(%1)",
         "TRANSPOSE_CONV_2D");
    refused(X ", %kw: Tensor[(3, 4, 3, 2), float32]",
            "nn.conv2d_transpose(%x, %kw, channels=4, kernel_size=[3, 2], dilation=[1, 2])", "dilation");
}

static void test_batch_norm(void **state) {
    (void)state;
    const char *p = X ", %kw: Tensor[(4, 3, 3, 2), float32], %kg: Tensor[(4), float32], %kb: Tensor[(4), float32],"
                      " %km: Tensor[(4), float32], %kpv: Tensor[(4), float32]";
    near_to(p,
            "%0 = nn.conv2d(%x, %kw, kernel_size=[3, 2]); %1 = nn.batch_norm(%0, %kg, %kb, %km, %kpv); %2 = %1.0;"
            " nn.relu(%2)",
            1e-3, "CONV_2D");
    near_to(X ", %kw: Tensor[(4, 3, 3, 2), float32], %kc: Tensor[(4), float32], %kg: Tensor[(4), float32],"
              " %kb: Tensor[(4), float32], %km: Tensor[(4), float32], %kpv: Tensor[(4), float32]",
            "%0 = nn.conv2d(%x, %kw, kernel_size=[3, 2]); %1 = nn.bias_add(%0, %kc);"
            " %2 = nn.batch_norm(%1, %kg, %kb, %km, %kpv); %2.0",
            1e-3, "CONV_2D");
    near_to("%x: Tensor[(2, 4, 3), float32], %kg: Tensor[(4), float32], %kb: Tensor[(4), float32],"
            " %km: Tensor[(4), float32], %kpv: Tensor[(4), float32]",
            "%1 = nn.batch_norm(%x, %kg, %kb, %km, %kpv); %1.0", 1e-3, "MUL ADD");
}

static void test_dense(void **state) {
    (void)state;
    same("%x: Tensor[(2, 5), float32], %kw: Tensor[(3, 5), float32], %kb: Tensor[(3), float32]",
         "%0 = nn.dense(%x, %kw); %1 = nn.bias_add(%0, %kb); nn.relu(%1)", "FULLY_CONNECTED");
    same("%x: Tensor[(2, 4, 5), float32], %kw: Tensor[(3, 5), float32]", "nn.dense(%x, %kw)",
         "RESHAPE FULLY_CONNECTED RESHAPE");
    same("%x: Tensor[(2, 3, 5), float32], %y: Tensor[(2, 4, 5), float32]", "nn.batch_matmul(%x, %y)", "BATCH_MATMUL");
    same_at("%x: Tensor[(1, 3, 5), float32], %ky: Tensor[(1, 5, 4), float32]",
            "nn.batch_matmul(%x, %ky, transpose_b=False)", 1, "RESHAPE FULLY_CONNECTED RESHAPE");
    same("%x: Tensor[(2, 5), float32], %kw: Tensor[(5, 3), float32]", "nn.matmul(%x, %kw)", "FULLY_CONNECTED");
    same("%x: Tensor[(5, 2), float32], %w: Tensor[(3, 5), float32]",
         "nn.matmul(%x, %w, transpose_a=True, transpose_b=True)", "TRANSPOSE FULLY_CONNECTED");
    /* more channels than NNAPI copies a zero bias for */
    same("%x: Tensor[(2, 5), float32], %kw: Tensor[(100, 5), float32]", "nn.dense(%x, %kw)", "FULLY_CONNECTED");
}

static void test_elementwise(void **state) {
    (void)state;
    static const char *const binary[][2] = {
        {"add", "ADD"},         {"subtract", "SUB"},          {"multiply", "MUL"},
        {"divide", "DIV"},      {"maximum", "MAXIMUM"},       {"minimum", "MINIMUM"},
        {"equal", "EQUAL"},     {"not_equal", "NOT_EQUAL"},   {"less", "LESS"},
        {"greater", "GREATER"}, {"less_equal", "LESS_EQUAL"}, {"greater_equal", "GREATER_EQUAL"}};
    for (size_t i = 0; i < sizeof binary / sizeof *binary; i++)
        same("%x: Tensor[(2, 3, 4), float32], %y: Tensor[(3, 1), float32]",
             nnv_arena_printf(arena, "%s(%%x, %%y)", binary[i][0]), binary[i][1]);
    same("%p: Tensor[(2, 3), float32], %y: Tensor[(2, 3), float32]", "power(%p, %y)", "POW");
    static const char *const unary[][2] = {{"abs", "ABS"},          {"exp", "EXP"},      {"log", "LOG"},
                                           {"negative", "NEG"},     {"sqrt", "SQRT"},    {"rsqrt", "RSQRT"},
                                           {"sin", "SIN"},          {"floor", "FLOOR"},  {"tanh", "TANH"},
                                           {"sigmoid", "LOGISTIC"}, {"nn.relu", "RELU"}, {"ceil", "NEG FLOOR NEG"}};
    for (size_t i = 0; i < sizeof unary / sizeof *unary; i++)
        same("%p: Tensor[(2, 3), float32]", nnv_arena_printf(arena, "%s(%%p)", unary[i][0]), unary[i][1]);
    same("%x: Tensor[(2, 3), bool], %y: Tensor[(2, 3), bool]",
         "%0 = logical_and(%x, %y); %1 = logical_or(%0, %x); logical_not(%1)", "LOGICAL_AND LOGICAL_OR LOGICAL_NOT");
    same("%x: Tensor[(2, 3), float32]", "clip(%x, a_min=0f, a_max=6f)", "RELU6");
    same("%x: Tensor[(2, 3), int32]", "clip(%x, a_min=-3f, a_max=6f)", "MAXIMUM MINIMUM");
    same("%x: Tensor[(2, 3), uint8]", "clip(%x, a_min=3f, a_max=200f)", "MAXIMUM MINIMUM");
    same("%x: Tensor[(2, 3), int8]", "nn.relu(%x)", "RELU");
    same("%x: Tensor[(2, 3), float32]", "nn.leaky_relu(%x, alpha=0.125f)", "PRELU");
    same("%x: Tensor[(2, 3, 4), float32], %ka: Tensor[(3), float32]", "nn.prelu(%x, %ka)", "PRELU");
    same("%x: float32, %y: float32", "add(%x, %y)", "ADD");
    same("%x: Tensor[(2, 3), float32]", "%0 = add(%x, %x); nn.relu(%0)", "ADD");
}

/* The field of a tuple is one value, however often it is used. */
static void test_constant_of_two_uses(void **state) {
    (void)state;
    const struct conversion c = converted(main_of("%x: Tensor[(2, 3), float32], %kw: Tensor[(2, 3), float32]",
                                                  "%0 = (%kw, %x); %1 = multiply(%x, %0.0); add(%1, %0.0)"),
                                          0);
    const struct nnv_subgraph *m = &c.out.model.main;
    size_t tensors = 0;
    assert_int_equal(c.st, NNV_OK);
    for (uint32_t i = 0; i < m->noperands; i++) tensors += m->operands[i].rank == 2 && m->operands[i].data != NULL;
    assert_int_equal(tensors, 1);
    assert_int_equal(m->operations[0].in[1], m->operations[1].in[1]);
}

static void test_pools(void **state) {
    (void)state;
    same(X, "nn.max_pool2d(%x, pool_size=[3, 2], strides=[2, 1], padding=[1, 0, 0, 1])", "MAX_POOL_2D");
    same(X, "nn.avg_pool2d(%x, pool_size=[3, 2], strides=[1, 2], padding=[1, 1, 0, 0])", "AVERAGE_POOL_2D");
    same(X, "nn.avg_pool2d(%x, pool_size=[3, 2], padding=[1, 1, 0, 0], count_include_pad=True)", "PAD AVERAGE_POOL_2D");
    same(Y, "nn.max_pool2d(%x, pool_size=[2, 2], strides=[2, 2], layout=\"NHWC\", ceil_mode=True)", "MAX_POOL_2D");
    same_at(Y, "nn.avg_pool2d(%x, pool_size=[3, 3], strides=[3, 2], layout=\"NHWC\", ceil_mode=True)", 1,
            "AVERAGE_POOL_2D");
    refused(X, "nn.max_pool2d(%x, pool_size=[2, 2], dilation=[2, 1])", "nn.max_pool2d: dilation [2, 1]");
    same(X, "nn.global_avg_pool2d(%x)", "AVERAGE_POOL_2D");
    same(X, "nn.global_max_pool2d(%x)", "MAX_POOL_2D");
    same("%x: Tensor[(1, 2, 6, 9), float32]", "nn.adaptive_avg_pool2d(%x, output_size=[2, 3])", "AVERAGE_POOL_2D");
    refused(X, "nn.adaptive_avg_pool2d(%x, output_size=[2, 2])", "unequal");
    same("%x: Tensor[(1, 2, 6, 9), uint8]", "nn.max_pool2d(%x, pool_size=[2, 2])", "MAX_POOL_2D");
}

static void test_levels(void **state) {
    (void)state;
    refused_at(X, "nn.max_pool2d(%x, pool_size=[2, 2])", 1, "NCHW order need feature level 2");
    refused_at(Y ", %kw: Tensor[(3, 2, 3, 4), float32]",
               "nn.conv2d(%x, %kw, dilation=[2, 1], data_layout=\"NHWC\", kernel_layout=\"HWIO\")", 2,
               "dilation needs feature level 3");
    refused_at("%x: Tensor[(2, 3), float32]", "exp(%x)", 2, "needs feature level 3");
    refused_at("%x: Tensor[(2, 3), int8]", "nn.relu(%x)", 3, "needs feature level 4");
    refused("%x: Tensor[(2, 3), float64]", "nn.relu(%x)", "float64");
    refused("%x: Tensor[(2, 3), int64]", "add(%x, %x)", "int64");
    refused("%x: Tensor[(2, 3), float32]", "atan(%x)", "no row");
    refused("%x: Tensor[(2, ?), float32]", "nn.relu(%x)", "dimension 1 is not known");
    refused("%x: Tensor[(3000000000), int8]", "nn.relu(%x)", "2^31");
    refused("%x: Tensor[(65536, 65536), float32]", "nn.relu(%x)", sizeof(size_t) > 4 ? "4 GiB" : "32 bits");
    refused("%x: Tensor[(0, 3), float32]", "tile(%x, reps=[2, 1])", "dimension 0 is 0");
    refused("%x: Tensor[(2, 3), float32]", "strided_slice(%x, begin=[1, 1], end=[1, 3])", "dimension 0 is 0");
    refused("%x: Tensor[(1, 1, 1, 2, 3), float32]", "add(%x, %x)", "rank 5");
}

/* A type that says in 21 lines that it holds two million tensors. */
static void test_wide_tuple(void **state) {
    (void)state;
    struct conversion c = program("def @main(%x: Tensor[(1), float32]) { nn.relu(%x) }");
    const struct nnv_relay_type *wide = c.f->params[0]->type;
    for (int i = 0; i < 21; i++) wide = nnv_relay_tuple_type(arena, 2, (const struct nnv_relay_type *[]){wide, wide});
    c.f->params[0]->type = wide;
    const struct nnv_convert_options options = {0};
    assert_int_equal(nnv_convert(c.m, c.f, &options, arena, &c.out, &relay_err), NNV_UNSUPPORTED);
    assert_non_null(strstr(relay_err.text, "a tuple of more than 1048576 tensors"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_conv, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_conv_groups, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_conv_fused, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_conv_transpose, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_batch_norm, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_dense, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_elementwise, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_constant_of_two_uses, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_pools, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_levels, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_wide_tuple, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
