/* SPDX-License-Identifier: Apache-2.0 */
/* The interpreter's kernels: values worked by hand, for each family of operators. */
#include "compiler/relay/ops/kernel.h"
#include "tests/kit/relay.h"

/* -------------------------------------------------------------- elementwise */

static void functions_of_one_number(void **state) {
    (void)state;
    static const struct {
        const char *op, *at, *gives;
    } rows[] = {
        {"abs", "-2.5 3", "2.5 3"},
        {"negative", "-2.5 3", "2.5 -3"},
        {"ceil", "-1.5 1.2", "-1 2"},
        {"floor", "-1.5 1.2", "-2 1"},
        {"round", "-2.5 0.5", "-3 1"},
        {"sign", "-2.5 0", "-1 0"},
        {"exp", "0 1", "1 2.718281828459045"},
        {"log", "1 2.718281828459045", "0 1"},
        {"sqrt", "4 2.25", "2 1.5"},
        {"rsqrt", "4 0.25", "0.5 2"},
        {"sin", "0 1.5707963267948966", "0 1"},
        {"cos", "0 3.141592653589793", "1 -1"},
        {"tanh", "0 0.5493061443340549", "0 0.5"},
        {"erf", "0 1", "0 0.8427007929497149"},
        {"sigmoid", "0 1.0986122886681098", "0.5 0.75"},
        {"nn.relu", "-1 2", "0 2"},
        {"zeros_like", "3 4", "0 0"},
        {"ones_like", "3 4", "1 1"},
        {"copy", "3 4", "3 4"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        of_x(2, nnv_arena_printf(arena, "%s(%%x)", rows[i].op), rows[i].at, rows[i].gives);
    of_x(3, "clip(%x, a_min=-1f, a_max=6f)", "-3 2 9", "-1 2 6");
    of_x(2, "nn.leaky_relu(%x, alpha=0.1f)", "-3 2", "-0.3 2");
    gives("%x: Tensor[(2), bool]", "logical_not(%x)", "1 0", "0 1");
}

static void functions_of_two_numbers(void **state) {
    (void)state;
    static const struct {
        const char *op, *gives; /* of 7 and -2, and of 3 and 3 */
    } rows[] = {
        {"add", "5 6"},
        {"subtract", "9 0"},
        {"multiply", "-14 9"},
        {"divide", "-3.5 1"},
        {"maximum", "7 3"},
        {"minimum", "-2 3"},
        {"power", "0.02040816326530612 27"},
        {"equal", "0 1"},
        {"not_equal", "1 0"},
        {"less", "0 0"},
        {"less_equal", "0 1"},
        {"greater", "1 0"},
        {"greater_equal", "1 1"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        gives("%a: Tensor[(2), float32], %b: Tensor[(2), float32]", nnv_arena_printf(arena, "%s(%%a, %%b)", rows[i].op),
              "7 3 -2 3", rows[i].gives);
    gives("%a: Tensor[(4), bool], %b: Tensor[(4), bool]", "(logical_and(%a, %b), logical_or(%a, %b))",
          "0 0 1 1 0 1 0 1", "0 0 0 1 0 1 1 1");
    gives("%a: Tensor[(2, 1), float32], %b: Tensor[(3), float32]", "subtract(%a, %b)", "10 20 1 2 3", "9 8 7 19 18 17");
    gives("%c: Tensor[(2), bool], %a: float32, %b: Tensor[(2, 2), float32]", "where(%c, %a, %b)", "1 0 9 1 2 3 4",
          "9 2 9 4");
}

static void integers_wrap_around(void **state) {
    (void)state;
    gives("%a: int32", "(add(%a, 1), multiply(%a, %a), multiply(%a, 3))", "2147483647", "-2147483648 1 2147483645");
    gives("%a: Tensor[(1), int8], %b: Tensor[(1), int8]", "(add(%a, %b), subtract(%a, %b), multiply(%a, %b))",
          "-128 -1", "127 -127 -128");
    gives("%a: Tensor[(1), uint8], %b: Tensor[(1), uint8]", "(subtract(%a, %b), negative(%a))", "3 5", "254 253");
    gives("%a: int32, %b: int32", "divide(%a, %b)", "-7 2", "-3");
    gives("%a: int32, %b: int32", "power(%a, %b)", "-3 3", "-27");
    gives("%a: int64, %b: int64", "subtract(%a, %b)", "9007199254740991 1", "9007199254740990");
}

static void casts_go_towards_zero_and_stay_in_range(void **state) {
    (void)state;
    of_x(5, "cast(%x, dtype=\"int8\")", "-2.9 2.9 300 -300 nan", "-2 2 127 -128 0");
    of_x(2, "cast(%x, dtype=\"bool\")", "0 -0.5", "0 1");
    of_x(1, "cast(%x, dtype=\"float16\")", "2049", "2048");
    gives("%x: Tensor[(2), int32]", "(cast(%x, dtype=\"uint8\"), cast(%x, dtype=\"int8\"))", "511 -1", "255 255 -1 -1");
}

static void values_along_an_axis(void **state) {
    (void)state;
    gives("%x: Tensor[(1, 2, 2), float32], %b: Tensor[(2), float32]",
          "(nn.bias_add(%x, %b), nn.bias_add(%x, %b, axis=-1), nn.prelu(%x, %b))", "1 2 -3 4 10 20",
          "11 12 17 24 11 22 7 24 1 2 -60 4");
    const char *norm = "%x: Tensor[(1, 2), float32], %g: Tensor[(2), float32], %b: Tensor[(2), float32], "
                       "%m: Tensor[(2), float32], %v: Tensor[(2), float32]";
    gives(norm, "nn.batch_norm(%x, %g, %b, %m, %v, epsilon=0f)", "5 6 2 3 10 20 1 2 4 16",
          "14 23 1 2 4 16"); /* (5 - 1) / 2 * 2 + 10, (6 - 2) / 4 * 3 + 20 */
    gives(norm, "%0 = nn.batch_norm(%x, %g, %b, %m, %v, epsilon=5f, center=False, scale=False); %0.0",
          "5 6 2 3 10 20 1 2 4 20", "1.3333333333333333 0.8");
    gives("", "(zeros(shape=[2]), ones(shape=[1, 2], dtype=\"int8\"))", "", "0 0 1 1");
}

/* ----------------------------------------------------- convolutions and dense */

static void convolutions(void **state) {
    (void)state;
    const char *p = "%x: Tensor[(1, 1, 3, 3), float32], %w: Tensor[(1, 1, 2, 2), float32]";
    const char *v = "1 2 3 4 5 6 7 8 9  1 10 100 1000";
    gives(p, "nn.conv2d(%x, %w)", v, "5421 6532 8754 9865");
    gives(p, "nn.conv2d(%x, %w, padding=[1, 0, 0, 1])", v, "2100 3200 300 5421 6532 603 8754 9865 906 ");
    gives(p, "nn.conv2d(%x, %w, padding=[0, 1], strides=[2, 2])", v, "4010 6532");
    gives(p, "nn.conv2d(%x, %w, dilation=[2, 2])", v, "9731");
    gives(p, "(nn.conv2d(%x, %w, strides=[1, 2]), nn.conv2d(%x, %w, strides=[2, 1]))", v, "5421 8754 5421 6532");
    gives(p, "(nn.conv2d(%x, %w, dilation=[1, 2]), nn.conv2d(%x, %w, dilation=[2, 1]))", v, "6431 9764 8721 9832");
    /* two channels in, two out; the weights of channel 1 see channel 1 tenfold */
    gives("%x: Tensor[(1, 2, 1, 2), float32], %w: Tensor[(2, 2, 1, 1), float32]", "nn.conv2d(%x, %w)",
          "1 2 3 4 1 1 1 10", "4 6 31 42");
    /* the same in other layouts */
    gives("%x: Tensor[(1, 1, 2, 2), float32], %w: Tensor[(1, 1, 2, 2), float32]",
          "nn.conv2d(%x, %w, data_layout=\"NHWC\", kernel_layout=\"HWIO\")", "1 3 2 4 1 1 1 10", "4 31 6 42");
    gives("%x: Tensor[(1, 1, 2, 2), float32], %w: Tensor[(1, 1, 2, 2), float32]",
          "nn.conv2d(%x, %w, data_layout=\"NHWC\", kernel_layout=\"HWOI\", out_layout=\"NCHW\")", "1 3 2 4 1 1 1 10",
          "4 6 31 42");
    /* groups */
    gives("%x: Tensor[(1, 2, 1, 2), float32], %w: Tensor[(2, 1, 1, 1), float32]", "nn.conv2d(%x, %w, groups=2)",
          "1 2 3 4 10 100", "10 20 300 400");
    gives("%x: Tensor[(1, 4, 1, 1), float32], %w: Tensor[(2, 2, 1, 1), float32]", "nn.conv2d(%x, %w, groups=2)",
          "1 2 3 4 1 10 100 1000", "21 4300");
    /* depthwise weights with two channels out for each in */
    gives("%x: Tensor[(1, 1, 1, 2), float32], %w: Tensor[(1, 1, 2, 2), float32]",
          "nn.conv2d(%x, %w, groups=2, data_layout=\"NHWC\", kernel_layout=\"HWOI\")", "3 5 1 10 100 1000",
          "3 30 500 5000");
    gives("%x: Tensor[(1, 1, 1, 2), int8], %w: Tensor[(1, 1, 1, 1), int8]", "nn.conv2d(%x, %w, out_dtype=\"int32\")",
          "100 -100 127", "12700 -12700");
}

/* Enough channels for matrix products, in pieces and as one: sums over channels, against loops written out. */
static void convolutions_of_many_channels(void **state) {
    (void)state;
    enum { IN = 5, OUT = 6, SIDE = 7, K = 3, OUT_H = 4, OUT_W = 5 };
    struct nnv_text numbers = {0}, wanted = {0};
    double x[IN][SIDE][SIDE], w[OUT][IN][K][K];
    for (int i = 0; i < IN * SIDE * SIDE; i++) nnv_text_addf(&numbers, "%g ", (&x[0][0][0])[i] = i * 37 % 23 - 11);
    for (int i = 0; i < OUT * IN * K * K; i++) nnv_text_addf(&numbers, "%g ", (&w[0][0][0][0])[i] = i * 29 % 17 - 8);
    for (int o = 0; o < OUT; o++) {
        for (int h = 0; h < OUT_H; h++) {
            for (int v = 0; v < OUT_W; v++) {
                double sum = 0;
                for (int i = 0; i < IN * K * K; i++) {
                    int c = i / 9, y = 2 * h - 1 + i / 3 % 3, z = v + 2 * (i % 3);
                    if (y >= 0 && y < SIDE && z >= 0 && z < SIDE) sum += x[c][y][z] * w[o][c][i / 3 % 3][i % 3];
                }
                nnv_text_addf(&wanted, "%g ", sum);
            }
        }
    }
    gives("%x: Tensor[(1, 5, 7, 7), float32], %w: Tensor[(6, 5, 3, 3), float32]",
          "nn.conv2d(%x, %w, padding=[1, 0, 1, 2], strides=[2, 1], dilation=[1, 2])", numbers.data, wanted.data);
    nnv_text_free(&numbers);
    nnv_text_free(&wanted);
}

static void dense_and_matrix_products(void **state) {
    (void)state;
    gives("%x: Tensor[(2, 2), float32], %w: Tensor[(3, 2), float32]", "nn.dense(%x, %w)", "1 2 3 4 1 0 0 1 1 1",
          "1 2 3 3 4 7");
    const char *p = "%a: Tensor[(1, 2, 2), float32], %b: Tensor[(2, 2, 2), float32]";
    const char *v = "1 2 3 4  1 10 100 1000  1 0 0 1";
    gives(p, "nn.batch_matmul(%a, %b)", v, "21 2100 43 4300 1 2 3 4");
    gives(p, "nn.batch_matmul(%a, %b, transpose_b=False)", v, "201 2010 403 4030 1 2 3 4");
    gives(p, "nn.batch_matmul(%a, %b, transpose_a=True)", v, "31 3100 42 4200 1 3 2 4");
}

/* -------------------------------------------------------------------- pools */

static void pools(void **state) {
    (void)state;
    const char *p = "%x: Tensor[(1, 1, 3, 3), float32]", *v = "1 2 3 4 5 6 7 8 9";
    gives(p, "nn.max_pool2d(%x, pool_size=[2, 2])", v, "5 6 8 9");
    gives(p, "nn.max_pool2d(%x, pool_size=[2, 2], strides=[2, 2], ceil_mode=True)", v, "5 6 8 9");
    gives(p, "nn.max_pool2d(%x, pool_size=[2, 2], dilation=[2, 2])", v, "9");
    gives(p, "nn.avg_pool2d(%x, pool_size=[2, 2], strides=[2, 2], ceil_mode=True)", v, "3 4.5 7.5 9");
    gives(p, "nn.avg_pool2d(%x, pool_size=[2, 2], padding=[1, 1, 0, 0], strides=[2, 2])", v, "1 2.5 5.5 7");
    gives(p, "nn.avg_pool2d(%x, pool_size=[2, 2], padding=[1, 1, 0, 0], strides=[2, 2], count_include_pad=True)", v,
          "0.25 1.25 2.75 7");
    gives(p, "(nn.global_avg_pool2d(%x), nn.global_max_pool2d(%x))", v, "5 9");
    gives(p, "nn.adaptive_avg_pool2d(%x, output_size=[2, 1])", v, "3.5 6.5");
    gives("%x: Tensor[(1, 1, 2, 2), float32]", "nn.max_pool2d(%x, pool_size=[1, 2], layout=\"NHWC\")", "1 5 3 4",
          "3 5");
    gives("%x: Tensor[(1, 1, 1, 2), int8]", "nn.avg_pool2d(%x, pool_size=[1, 2])", "-3 0", "-1");
}

/* --------------------------------------------------------------- reductions */

static void reductions(void **state) {
    (void)state;
    const char *p = "%x: Tensor[(2, 3), float32]", *v = "1 2 3 4 5 -6";
    gives(p, "(sum(%x), sum(%x, axis=0), sum(%x, axis=[-1], keepdims=True))", v, "9 5 7 -3 6 3");
    gives(p, "sum(%x, axis=[0], exclude=True)", v, "6 3");
    gives(p, "(mean(%x, axis=1), prod(%x, axis=1))", v, "2 1 6 -120");
    gives(p, "(max(%x, axis=1), min(%x, axis=1))", v, "3 5 1 -6");
    gives(p, "(argmax(%x, axis=1), argmin(%x))", v, "2 1 5");
    of_x(3, "(argmax(%x), argmax(%x, select_last_index=True))", "7 7 1", "0 1");
    gives("%x: Tensor[(2, 2), bool]", "(all(%x, axis=1), any(%x, axis=1))", "1 0 0 0", "0 0 1 0");
    gives("%x: Tensor[(3), int8]", "(sum(%x), mean(%x))", "100 100 -1", "-57 66");
}

static void normalisation(void **state) {
    (void)state;
    of_x(2, "nn.softmax(%x)", "0 1.0986122886681098", "0.25 0.75");
    of_x(2, "nn.softmax(%x)", "1000 1000", "0.5 0.5");
    of_x(2, "nn.log_softmax(%x)", "0 1.0986122886681098", "-1.3862943611198906 -0.2876820724517809");
    gives("%x: Tensor[(2, 2), float32]", "nn.softmax(%x, axis=0)", "0 5 0 5", "0.5 0.5 0.5 0.5");
    /* 1 + 3 * (1 + 4) / 3, 1 + 3 * (1 + 4 + 9) / 3, 1 + 3 * (4 + 9) / 3 */
    gives("%x: Tensor[(1, 3, 1, 1), float32]", "nn.lrn(%x, size=3, alpha=3f, beta=1f, bias=1f)", "1 2 3",
          "0.16666666666666666 0.13333333333333333 0.21428571428571427");
}

/* ------------------------------------------------------------------- moving */

static void shapes_and_slices(void **state) {
    (void)state;
    const char *p = "%x: Tensor[(2, 3), float32]", *v = "1 2 3 4 5 6";
    gives(p, "transpose(%x)", v, "1 4 2 5 3 6");
    gives("%x: Tensor[(2, 1, 2), float32]", "transpose(%x, axes=[1, 2, 0])", "1 2 3 4", "1 3 2 4");
    gives(p, "(reshape(%x, newshape=[3, 2]), expand_dims(%x, axis=0), nn.batch_flatten(%x))", v,
          "1 2 3 4 5 6 1 2 3 4 5 6 1 2 3 4 5 6");
    gives(p, "concatenate((%x, %x), axis=1)", v, "1 2 3 1 2 3 4 5 6 4 5 6");
    gives(p, "split(%x, indices_or_sections=[1], axis=1)", v, "1 4 2 3 5 6");
    gives(p, "strided_slice(%x, begin=[1, 0], end=[2, 3], strides=[1, 2])", v, "4 6");
    gives(p, "strided_slice(%x, begin=[-1], end=[-4], strides=[-1], axes=[1])", v, "3 2 1 6 5 4");
    gives(p, "strided_slice(%x, begin=[0, 1], end=[1, 2], slice_mode=\"size\")", v, "2 3");
    /* dimensions without a stride have 1 */
    gives("%x: Tensor[(3, 1, 2), float32]", "strided_slice(%x, begin=[0, 0, 0], end=[3, 1, 2], strides=[2, 1])", v,
          "1 2 5 6");
    gives(p, "nn.pad(%x, 9f, pad_width=[[0, 1], [1, 0]])", v, "9 1 2 3 9 4 5 6 9 9 9 9");
    gives("%x: Tensor[(1), int8]", "nn.pad(%x, -1.5f, pad_width=[[1, 1]])", "5", "-1 5 -1");
    gives(p, "nn.pad(%x, 0f, pad_width=[[0, 0], [2, 2]], pad_mode=\"reflect\")", v, "3 2 1 2 3 2 1 6 5 4 5 6 5 4");
    gives(p, "nn.pad(%x, 0f, pad_width=[[1, 0], [0, 2]], pad_mode=\"edge\")", v, "1 2 3 3 3 1 2 3 3 3 4 5 6 6 6");
}

static void images_in_other_sizes(void **state) {
    (void)state;
    const char *p = "%x: Tensor[(1, 1, 1, 2), float32]";
    gives(p, "image.resize2d(%x, size=[1, 4])", "0 4", "0 1 3 4");
    gives(p, "image.resize2d(%x, size=[1, 3], coordinate_transformation_mode=\"align_corners\")", "0 4", "0 2 4");
    gives(p, "image.resize2d(%x, size=[1, 4], coordinate_transformation_mode=\"asymmetric\")", "0 4", "0 2 4 4");
    gives(p,
          "image.resize2d(%x, size=[2, 4], method=\"nearest_neighbor\", "
          "coordinate_transformation_mode=\"asymmetric\")",
          "3 4", "3 3 4 4 3 3 4 4");
    gives(p,
          "image.resize2d(%x, size=[1, 3], method=\"nearest_neighbor\", "
          "coordinate_transformation_mode=\"align_corners\")",
          "3 4", "3 4 4"); /* halves away from zero */
    /* at 0.75 between two places: weights -3/128, 29/128, 111/128, -9/128 */
    gives(p, "image.resize2d(%x, size=[1, 4], method=\"cubic\")", "0 64", "-4.5 13 51 68.5");
    /* weights of places outside are left out, and the others made to have a sum of 1: -9/102, 29/140, 111/140, 111/102
     */
    gives(p, "image.resize2d(%x, size=[1, 4], method=\"cubic\", cubic_exclude=1)", "0 7140", "-630 1479 5661 7770");
}

/* ---------------------------------------------------------------- quantised */

static void numbers_are_quantised_and_back(void **state) {
    (void)state;
    of_x(5, "qnn.quantize(%x, 0.5f, 3, out_dtype=\"uint8\")", "0 1.25 -0.75 200 -9", "3 6 2 255 0");
    of_x(3, "qnn.quantize(%x, 1f, 0, out_dtype=\"int8\")", "0.5 -0.5 -1.5", "1 -1 -2");
    gives("%x: Tensor[(2, 2), float32], %s: Tensor[(2), float32], %z: Tensor[(2), int32]",
          "qnn.quantize(%x, %s, %z, axis=0)", "1 2 1 2 0.5 0.25 0 1", "2 4 5 9");
    gives("%x: Tensor[(3), int8]", "qnn.dequantize(%x, 0.25f, -4)", "-4 0 127", "0 1 32.75");
    run_fails("def @main(%x: Tensor[(3), float32], %s: Tensor[(2), float32]) { qnn.quantize(%x, %s, 0) }", "1 2 3 1 1",
              NNV_INVALID, "operand 1 has 2 values for 3 places");
    run_fails("def @main(%x: Tensor[(3), float32], %z: Tensor[(2), int32]) { qnn.quantize(%x, 1f, %z) }", "1 2 3 0 0",
              NNV_INVALID, "operand 2 has 2 values for 3 places");
    run_fails("def @main(%x: Tensor[(3), int8], %s: Tensor[(2), float32]) { qnn.dequantize(%x, %s, 0) }", "1 2 3 1 1",
              NNV_INVALID, "operand 1 has 2 values for 3 places");
}

static void requantisation_rounds_as_told(void **state) {
    (void)state;
    /* by 1/2: 0.5, 1.5, -0.5, -1.5; halves go up, or away from zero */
    const char *p = "%x: Tensor[(4), int32]", *v = "1 3 -1 -3";
    gives(p, "qnn.requantize(%x, 0.5f, 0, 1f, 0)", v, "1 2 0 -1");
    gives(p, "qnn.requantize(%x, 0.5f, 0, 1f, 0, rounding=\"UPWARD\")", v, "1 2 0 -1");
    gives(p, "qnn.requantize(%x, 0.5f, 0, 1f, 0, rounding=\"TONEAREST\")", v, "1 2 -1 -2");
    gives(p, "qnn.requantize(%x, 0.5f, 0, 1f, 0, rounding=\"TONEAREST\", compute_dtype=\"float32\")", v, "1 2 -1 -2");
    gives(p, "qnn.requantize(%x, 0.5f, 1, 0.25f, -3, out_dtype=\"uint8\")", "1 3 -1 200", "0 1 0 255");
    /* 0.1f is 0.100000001490116: a little more than a half is not rounded as a half */
    gives(p, "qnn.requantize(%x, 0.1f, 0, 1f, 0, out_dtype=\"int32\")", "1000000000 5 -5 4", "100000001 1 -1 0");
    /* 4.65e-10, just below 2^-31: the largest integers give 0.9986 and -0.558, and 0.465 is no half */
    gives(p, "qnn.requantize(%x, 4.65e-10f, 0, 1f, 0)", "2147483647 -1200000000 1000000000 0", "1 -1 0 0");
    /* 2.32e-10, just below 2^-32: no integer gives a half */
    gives(p, "qnn.requantize(%x, 2.32e-10f, 0, 1f, 0)", "2147483647 -2147483648 1000000000 0", "0 0 0 0");
    gives("%x: Tensor[(2, 2), int32], %s: Tensor[(2), float32]",
          "qnn.requantize(%x, %s, 0, 1f, 0, axis=1, out_dtype=\"int32\")", "8 8 16 16 0.5 2", "4 16 8 32");
    run_fails("def @main(%x: Tensor[(1), int32]) { qnn.requantize(%x, 0f, 0, 1f, 0) }", "1", NNV_INVALID, "scale");
    run_fails("def @main(%x: Tensor[(1), int32]) { qnn.requantize(%x, 1f, 0, 1f, 0, rounding=\"UP\") }", "1",
              NNV_INVALID, "rounding");
}

static void quantised_sums_and_products(void **state) {
    (void)state;
    const char *p = "%a: Tensor[(2), uint8], %b: Tensor[(2), uint8]";
    /* a: (10 - 2) * 0.5 = 4, b: (5 - 1) * 1 = 4; 8 / 0.25 + 3; the second: 127 + 254 = 381 / 0.25 is beyond 255 */
    gives(p, "qnn.add(%a, %b, 0.5f, 2, 1f, 1, 0.25f, 3)", "10 255 5 255", "35 255");
    gives(p, "qnn.subtract(%a, %b, 0.5f, 2, 1f, 1, 0.25f, 3)", "10 8 4 5", "7 0");
    gives(p, "qnn.mul(%a, %b, 0.5f, 2, 1f, 1, 0.25f, 3)", "10 2 4 5", "51 3");
    /* each operand is rounded at the result's scale: 1 / 4 + 1 / 4 gives 0 + 0, and 2 / 4 + 2 / 4 gives 1 + 1 */
    gives(p, "qnn.add(%a, %b, 0.25f, 0, 0.25f, 0, 1f, 0)", "1 2 1 2", "0 2");
    gives("%a: Tensor[(2), uint8], %b: Tensor[(1), uint8]", "qnn.concatenate((%a, %b), (0.5f, 1f), (2, 1), 0.5f, 2)",
          "10 255 5", "10 255 10");
}

static void quantised_layers(void **state) {
    (void)state;
    /* (3 - 1) * (10 - 4) + (5 - 1) * (1 - 4) */
    gives("%x: Tensor[(1, 2), uint8], %w: Tensor[(1, 2), int8]", "qnn.dense(%x, %w, 1, 4, 0.5f, 0.5f)", "3 5 10 1",
          "0");
    /* padding is the zero point: it adds nothing */
    gives("%x: Tensor[(1, 1, 1, 2), uint8], %w: Tensor[(1, 1, 1, 2), int8]",
          "qnn.conv2d(%x, %w, 100, 0, 0.5f, 0.5f, padding=[0, 1, 0, 1])", "101 103 1 10", "10 31 3");
    gives("%x: Tensor[(1, 1, 1, 1), uint8], %w: Tensor[(2, 1, 1, 1), int8], %z: Tensor[(2), int32]",
          "qnn.conv2d(%x, %w, 0, %z, 0.5f, 0.5f)", "2 10 20 1 2", "18 36");
}

/* ------------------------------------------------------------- further ones */

static void further_elementwise_operators(void **state) {
    (void)state;
    of_x(2, "(trunc(%x), tan(%x), atan(%x))", "-1.5 0", "-1 0 -14.101419947171719 0 -0.982793723247329 0");
    of_x(2, "(log2(%x), log10(%x))", "8 100", "3 6.643856189774724 0.9030899869919435 2");
    of_x(2, "(sinh(%x), cosh(%x))", "0 1", "0 1.1752011936438014 1 1.5430806348152437");
    of_x(3, "(isnan(%x), isinf(%x), isfinite(%x))", "nan inf 1", "1 0 0 0 1 0 0 0 1");
    const char *p = "%a: Tensor[(3), int32], %b: Tensor[(3), int32]";
    gives(p, "(floor_divide(%a, %b), floor_mod(%a, %b), mod(%a, %b))", "-7 7 -7 2 -2 -2", "-4 -4 3 1 -1 -1 -1 1 -1");
    gives(p, "(bitwise_and(%a, %b), bitwise_or(%a, %b), bitwise_xor(%a, %b), bitwise_not(%a))", "6 -1 0 3 5 9",
          "2 5 0 7 -1 9 5 -6 9 -7 0 -1");
    gives(p, "(left_shift(%a, %b), right_shift(%a, %b))", "3 1 -8 2 31 1", "12 -2147483648 -16 0 0 -4");
    of_x(2, "(floor_divide(%x, -2f), floor_mod(%x, -2f), mod(%x, -2f))", "7 -7.5", "-4 3 -1 -1.5 1 -1.5");
    gives("%a: Tensor[(4), bool], %b: Tensor[(4), bool]", "logical_xor(%a, %b)", "0 0 1 1 0 1 0 1", "0 1 1 0");
    of_x(2, "(full(3f, shape=[1, 2]), full_like(%x, 7f), reshape_like(%x, zeros(shape=[1, 2])))", "1 2", "3 3 7 7 1 2");
    of_x(1, "(arange(0f, 2.5f, 1f), arange(5, 0, -2, dtype=\"int32\"))", "0", "0 1 2 5 3 1");
    gives("%n: int32", "%0 = arange(0, %n, 1, dtype=\"int32\"); add(%0, %0)", "3", "0 2 4");
    gives("%x: Tensor[(2, 1), float32]",
          "(broadcast_to(%x, shape=[2, 2]), broadcast_to_like(%x, zeros(shape=[1, 2, 2])))", "1 2", "1 1 2 2 1 1 2 2");
}

static void elements_are_picked_and_repeated(void **state) {
    (void)state;
    const char *p = "%x: Tensor[(2, 2), float32]", *v = "1 2 3 4";
    gives(p, "tile(%x, reps=[2, 1, 2])", v, "1 2 1 2 3 4 3 4 1 2 1 2 3 4 3 4");
    gives(p, "(repeat(%x, repeats=2, axis=0), repeat(%x, repeats=2, axis=-1))", v, "1 2 1 2 3 4 3 4 1 1 2 2 3 3 4 4");
    gives(p, "(reverse(%x, axis=0), reverse(%x, axis=1))", v, "3 4 1 2 2 1 4 3");
    gives(p, "(stack((%x, %x), axis=2), stack((%x, %x)))", v, "1 1 2 2 3 3 4 4 1 2 3 4 1 2 3 4");
    gives("%x: Tensor[(2, 2), float32], %i: Tensor[(3), int32]",
          "(take(%x, %i, axis=1), take(%x, %i, axis=0, mode=\"wrap\"), take(%x, %i))", "1 2 3 4 1 0 5",
          "2 1 2 4 3 4 3 4 1 2 3 4 2 1 4");
    gives("%x: Tensor[(2, 2), float32], %i: Tensor[(2, 1), int32]", "gather(%x, %i, axis=1)", "1 2 3 4 1 0", "2 3");
    gives("%x: Tensor[(2, 2), float32], %i: Tensor[(2, 3), int32]", "gather_nd(%x, %i)", "1 2 3 4 1 0 1 0 0 1",
          "3 1 4");
    gives("%x: Tensor[(2, 2), float32], %i: Tensor[(1, 2), int32]", "gather_nd(%x, %i)", "1 2 3 4 1 0", "3 4 1 2");
    gives("%i: Tensor[(2), int32]", "(one_hot(%i, 5f, -1f, depth=3), one_hot(%i, 1f, 0f, depth=2, axis=0))", "2 0",
          "-1 -1 5 5 -1 -1 0 1 0 0");
    gives("%x: Tensor[(2, 3), float32]", "slice_like(%x, zeros(shape=[1, 2]))", "1 2 3 4 5 6", "1 2");
    run_fails("def @main(%x: Tensor[(2), float32], %i: Tensor[(1), int32]) { gather(%x, %i) }", "1 2 2", NNV_INVALID,
              "index 2 of 2 elements");
    run_fails("def @main(%x: Tensor[(2), float32], %i: Tensor[(1), int32]) { take(%x, %i, mode=\"fast\") }", "1 2 -1",
              NNV_INVALID, "index -1 of 2 elements");
}

static void elements_are_put_in_order(void **state) {
    (void)state;
    of_x(4, "(sort(%x), sort(%x, is_ascend=False), argsort(%x))", "3 1 2 1", "1 1 2 3 3 2 1 1 1 3 2 0");
    of_x(4, "topk(%x, k=2)", "3 1 7 7", "7 7 2 3");
    of_x(3, "topk(%x, k=1, is_ascend=True, ret_type=\"indices\")", "3 1 7", "1");
    gives("%x: Tensor[(2, 2), float32]", "topk(%x, k=1, axis=0, ret_type=\"values\")", "1 9 4 2", "4 9");
    gives("%x: Tensor[(2, 2), float32]", "(cumsum(%x, axis=0), cumsum(%x), cumprod(%x, axis=1, exclusive=True))",
          "1 2 3 4", "1 2 4 6 1 3 6 10 1 1 1 3");
    of_x(2, "(logsumexp(%x), variance(%x), variance(%x, unbiased=True))", "0 1.0986122886681098",
         "1.3862943611198906 0.30173724020314552 0.60347448040629104");
}

static void blocks_of_images_move(void **state) {
    (void)state;
    const char *p = "%x: Tensor[(1, 4, 1, 2), float32]", *v = "1 2 3 4 5 6 7 8";
    gives(p, "nn.depth_to_space(%x, block_size=2)", v, "1 3 2 4 5 7 6 8");
    gives("%x: Tensor[(1, 8, 1, 1), float32]",
          "(nn.depth_to_space(%x, block_size=2), nn.depth_to_space(%x, block_size=2, mode=\"CDR\"))", v,
          "1 3 5 7 2 4 6 8 1 2 3 4 5 6 7 8");
    gives("%x: Tensor[(1, 1, 1, 8), float32]", "nn.depth_to_space(%x, block_size=2, layout=\"NHWC\")", v,
          "1 2 3 4 5 6 7 8");
    gives("%x: Tensor[(1, 1, 2, 4), float32]", "nn.space_to_depth(%x, block_size=2)", v, "1 3 2 4 5 7 6 8");
    gives("%x: Tensor[(1, 2, 2, 2), float32]", "nn.space_to_depth(%x, block_size=2)", v, "1 5 2 6 3 7 4 8");
    gives("%x: Tensor[(1, 3, 1), float32]",
          "nn.space_to_batch_nd(%x, block_shape=[2], paddings=[[1, 0]], pad_value=9f)", "1 2 3", "9 2 1 3");
    gives("%x: Tensor[(2, 2, 1), float32]", "nn.batch_to_space_nd(%x, block_shape=[2], crops=[[1, 0]])", "9 2 1 3",
          "1 2 3");
    gives("%x: Tensor[(4, 1, 1), float32]", "nn.batch_to_space_nd(%x, block_shape=[2, 2], crops=[[0, 0], [0, 0]])",
          "1 2 3 4", "1 2 3 4");
    gives("%x: Tensor[(1, 2, 1, 2), float32]", "layout_transform(%x, src_layout=\"NCHW\", dst_layout=\"NHWC\")",
          "1 2 3 4", "1 3 2 4");
    /* channels in blocks of two, and back */
    gives("%x: Tensor[(1, 4, 1, 2), float32]", "layout_transform(%x, src_layout=\"NCHW\", dst_layout=\"NCHW2c\")",
          "1 2 3 4 5 6 7 8", "1 3 2 4 5 7 6 8");
    gives("%x: Tensor[(1, 2, 1, 2, 2), float32]",
          "(layout_transform(%x, src_layout=\"NCHW2c\", dst_layout=\"NCHW\"),"
          " layout_transform(%x, src_layout=\"NCHW2c\", dst_layout=\"NHWC4c\"))",
          "1 3 2 4 5 7 6 8", "1 2 3 4 5 6 7 8 1 3 5 7 2 4 6 8");
    of_x(3, "(nn.mirror_pad(%x, pad_width=[[2, 1]]), nn.mirror_pad(%x, pad_width=[[2, 1]], mode=\"REFLECT\"))", "1 2 3",
         "2 1 1 2 3 3 3 2 1 2 3 2");
    gives("%x: Tensor[(1, 1, 1, 2), float32]",
          "(nn.upsampling(%x, scale_h=2f, scale_w=2f), nn.upsampling(%x, scale_w=1.5f, method=\"bilinear\", "
          "align_corners=True))",
          "1 3", "1 1 3 3 1 1 3 3 1 2 3");
}

static void further_normalisation(void **state) {
    (void)state;
    gives("%x: Tensor[(1, 2), float32]", "nn.l2_normalize(%x, axis=[1])", "3 4", "0.6 0.8");
    gives("%x: Tensor[(2, 2), float32]", "nn.l2_normalize(%x, axis=[0], eps=100f)", "3 8 4 6", "0.3 0.8 0.4 0.6");
    const char *p = "%x: Tensor[(1, 2, 2), float32], %g: Tensor[(2), float32], %b: Tensor[(2), float32]";
    /* means 2 and 5, variances 1 and 4 */
    gives(p, "nn.instance_norm(%x, %g, %b, epsilon=0f)", "1 3 3 7 2 10 0 1", "-2 2 -9 11");
    gives(p, "nn.layer_norm(%x, %g, %b, epsilon=0f)", "1 3 3 7 2 10 0 1", "-2 11 -2 11");
    gives(p, "nn.group_norm(%x, %g, %b, num_groups=1, epsilon=0.25f, scale=False)", "1 3 3 5 2 10 0 1",
          "-1.3333333333333333 0 1 2.3333333333333335"); /* mean 3, variance 2 */
    of_x(2, "nn.dropout(%x)", "1 2", "1 2 1 1");
}

static void further_layers(void **state) {
    (void)state;
    const char *p = "%x: Tensor[(1, 1, 1, 2), float32], %w: Tensor[(1, 1, 1, 3), float32]";
    gives(p, "nn.conv2d_transpose(%x, %w)", "1 2 1 10 100", "1 12 120 200");
    gives(p, "nn.conv2d_transpose(%x, %w, strides=[1, 2], padding=[0, 1, 0, 0], output_padding=[0, 1])", "1 2 1 10 100",
          "10 102 20 200 0");
    /* two channels in, weights [in][out]: 1 * 1 + 2 * 10, 1 * 2 + 2 * 20 */
    gives("%x: Tensor[(1, 2, 1, 1), float32], %w: Tensor[(2, 2, 1, 1), float32]", "nn.conv2d_transpose(%x, %w)",
          "1 2 1 2 10 20", "21 42");
    gives("%x: Tensor[(1, 2, 1, 1), float32], %w: Tensor[(2, 1, 1, 1), float32]",
          "nn.conv2d_transpose(%x, %w, groups=2)", "1 2 3 4", "3 8");
    gives("%x: Tensor[(1, 1, 1, 2), uint8], %w: Tensor[(1, 1, 1, 3), int8]",
          "qnn.conv2d_transpose(%x, %w, 1, 1, 0.5f, 0.5f)", "2 3 2 11 101", "1 12 120 200");
    gives("%x: Tensor[(1, 2, 3), float32], %w: Tensor[(1, 2, 2), float32]", "nn.conv1d(%x, %w, padding=[1, 0])",
          "1 2 3 4 5 6 1 10 100 1000", "4010 5421 6532");
    gives("%a: Tensor[(1, 2), float32], %b: Tensor[(2, 2), float32]",
          "(nn.matmul(%a, %b), nn.matmul(%a, %b, transpose_b=True), nn.matmul(%b, %b, transpose_a=True))",
          "1 2 1 10 100 1000", "201 2010 21 2100 10001 100010 100010 1000100");
    gives("%a: Tensor[(1, 1, 2), uint8], %b: Tensor[(1, 1, 2), int8]", "qnn.batch_matmul(%a, %b, 1, 2, 0.5f, 0.5f)",
          "2 3 12 102", "210");
    gives("%x: Tensor[(1, 1, 1, 4), float32]", "nn.adaptive_max_pool2d(%x, output_size=[1, 3])", "1 5 3 2", "5 5 3");
    /* tanh(0.5493..) is a half: (127 - 7) * 2^-8 .. by hand with scale 1/2 at 2 * 0.5 = 1 */
    gives("%x: Tensor[(3), int8]",
          "(qnn.abs(%x, 0.5f, 1, 0.25f, -3), qnn.leaky_relu(%x, 0.5f, 1, 0.25f, -3, alpha=0.5f))", "-3 1 5",
          "5 -3 5 -7 -3 5");
    gives("%x: Tensor[(2), uint8]", "(qnn.sigmoid(%x, 1f, 8, 0.00390625f, 0), qnn.hardswish(%x, 1f, 8, 1f, 8))", "8 9",
          "128 187 8 9"); /* 256 / (1 + 1 / e) = 187.2, 1 * 4 / 6 = 0.67 */
}

static void boxes_are_counted_and_suppressed(void **state) {
    (void)state;
    gives("%x: Tensor[(1, 3, 2), float32]", "vision.get_valid_counts(%x, 0.5f)", "0 0.4 1 0.9 -1 0.8",
          "1 1 0.9 -1 -1 -1 -1 1 -1 -1");
    /* boxes [class, score, corners]: 1 covers 0.5 of 0 and is better; 2 is of another class; 3 lies apart */
    const char *p = "%x: Tensor[(1, 4, 6), float32]", *v = "0 0.6 0 0 2 2  0 0.9 0 0 2 1  1 0.7 0 0 2 1  0 0.5 5 5 6 6";
    const char *nms = "%%0 = vision.get_valid_counts(%%x, 0f); "
                      "vision.non_max_suppression(%%0.1, %%0.0, %%0.2, %s, %s, %s)";
    gives(p, nnv_arena_printf(arena, nms, "-1", "0.5f", ""), v, "1 2 3 -1 3");
    gives(p, nnv_arena_printf(arena, nms, "-1", "0.51f", ""), v, "1 2 0 3 4");
    gives(p, nnv_arena_printf(arena, nms, "2", "0.5f", ""), v, "1 2 -1 -1 2");
    gives(p, nnv_arena_printf(arena, nms, "-1", "0.5f", "force_suppress=True"), v, "1 3 -1 -1 2");
    gives(p, nnv_arena_printf(arena, nms, "-1", "0.5f", "top_k=1"), v, "1 -1 -1 -1 1");
    gives(p, nnv_arena_printf(arena, nms, "1", "0.5f", "return_indices=False"), v,
          "0 0.9 0 0 2 1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1");
    gives(p,
          nnv_arena_printf(arena, nms, "-1", "0.5f",
                           "return_indices=False, invalid_to_bottom=True, "
                           "force_suppress=True"),
          v, "0 0.9 0 0 2 1 0 0.5 5 5 6 6 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1");
    /* boxes wide of the diagonal that meet in three quarters of their union: the better one stays */
    p = "%x: Tensor[(1, 2, 6), float32]";
    gives(p, nnv_arena_printf(arena, nms, "-1", "0.75f", ""), "0 0.9 5 0 7 4  0 0.8 5 0 7 3", "0 -1 1");
    gives(p, nnv_arena_printf(arena, nms, "-1", "0.75f", ""), "0 0.8 5 0 7 4  0 0.9 5 0 7 3", "1 -1 1");
    gives(p, nnv_arena_printf(arena, nms, "-1", "0.75f", ""), "0 0.9 0 5 4 7  0 0.8 0 5 3 7", "0 -1 1");
}

/** A matrix that is turned fills its place, and nothing behind it. */
static void picks_fill_their_place_alone(void **state) {
    (void)state;
    const double from[] = {1, 2, 3, 4, 5, 6, 7, 8}, want[] = {1, 4, 2, 5, 3, 6, -1};
    double to[] = {-1, -1, -1, -1, -1, -1, -1};
    nnv_interp_pick(from, 2, (const int64_t[]){3, 2}, (const int64_t[]){1, 3}, to);
    assert_memory_equal(to, want, sizeof want);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(functions_of_one_number),
        TEST(functions_of_two_numbers),
        TEST(integers_wrap_around),
        TEST(casts_go_towards_zero_and_stay_in_range),
        TEST(values_along_an_axis),
        TEST(convolutions),
        TEST(convolutions_of_many_channels),
        TEST(dense_and_matrix_products),
        TEST(pools),
        TEST(reductions),
        TEST(normalisation),
        TEST(shapes_and_slices),
        TEST(images_in_other_sizes),
        TEST(numbers_are_quantised_and_back),
        TEST(requantisation_rounds_as_told),
        TEST(quantised_sums_and_products),
        TEST(quantised_layers),
        TEST(further_elementwise_operators),
        TEST(elements_are_picked_and_repeated),
        TEST(elements_are_put_in_order),
        TEST(blocks_of_images_move),
        TEST(further_normalisation),
        TEST(further_layers),
        TEST(boxes_are_counted_and_suppressed),
        TEST(picks_fill_their_place_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
