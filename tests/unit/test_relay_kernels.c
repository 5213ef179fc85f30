/* SPDX-License-Identifier: Apache-2.0 */
/* The interpreter's kernels: values worked by hand, for each family of operators. */
#include "relay_fixture.h"

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
    enum { IN = 5, OUT = 6, SIDE = 7, K = 3, OUT_SIDE = 4 };
    struct nnv_text numbers = {0}, wanted = {0};
    double x[IN][SIDE][SIDE], w[OUT][IN][K][K];
    for (int i = 0; i < IN * SIDE * SIDE; i++) nnv_text_addf(&numbers, "%g ", (&x[0][0][0])[i] = i * 37 % 23 - 11);
    for (int i = 0; i < OUT * IN * K * K; i++) nnv_text_addf(&numbers, "%g ", (&w[0][0][0][0])[i] = i * 29 % 17 - 8);
    for (int o = 0; o < OUT; o++) {
        for (int h = 0; h < OUT_SIDE; h++) {
            for (int v = 0; v < OUT_SIDE; v++) {
                double sum = 0;
                for (int i = 0; i < IN * K * K; i++) {
                    int c = i / 9, y = 2 * h - 1 + i / 3 % 3, z = 2 * v - 1 + i % 3;
                    if (y >= 0 && y < SIDE && z >= 0 && z < SIDE) sum += x[c][y][z] * w[o][c][i / 3 % 3][i % 3];
                }
                nnv_text_addf(&wanted, "%g ", sum);
            }
        }
    }
    gives("%x: Tensor[(1, 5, 7, 7), float32], %w: Tensor[(6, 5, 3, 3), float32]",
          "nn.conv2d(%x, %w, padding=[1, 1], strides=[2, 2])", numbers.data, wanted.data);
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
    gives(p, "nn.pad(%x, 9f, pad_width=[[0, 1], [1, 0]])", v, "9 1 2 3 9 4 5 6 9 9 9 9");
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
}

/* ---------------------------------------------------------------- quantised */

static void numbers_are_quantised_and_back(void **state) {
    (void)state;
    of_x(5, "qnn.quantize(%x, 0.5f, 3, out_dtype=\"uint8\")", "0 1.25 -0.75 200 -9", "3 6 2 255 0");
    of_x(3, "qnn.quantize(%x, 1f, 0, out_dtype=\"int8\")", "0.5 -0.5 -1.5", "1 -1 -2");
    gives("%x: Tensor[(2, 2), float32], %s: Tensor[(2), float32], %z: Tensor[(2), int32]",
          "qnn.quantize(%x, %s, %z, axis=0)", "1 2 1 2 0.5 0.25 0 1", "2 4 5 9");
    gives("%x: Tensor[(3), int8]", "qnn.dequantize(%x, 0.25f, -4)", "-4 0 127", "0 1 32.75");
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

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

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
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
