/* SPDX-License-Identifier: Apache-2.0 */
/** @file test_cpu_driver_conv.c The driver "cpu": grouped and transposed convolutions, batches of matrix products. */
#include "tests/kit/op_net.h"

enum { SAME = ANEURALNETWORKS_PADDING_SAME, VALID = ANEURALNETWORKS_PADDING_VALID };

/* -------------------------------------------------------------- BATCH_MATMUL */

/** [1 2 3; 4 5 6] times [1 0; 2 1; 0 -1], each as it is or turned. */
static void test_matmul(void **state) {
    (void)state;
    const float y[] = {1, 0, 2, 1, 0, -1}, turned[] = {1, 2, 0, 0, 1, -1};
    CHECK(BATCH_MATMUL, T(F32, 2, 2), ARGS(T(F32, 2, 3), C(F32, y, 3, 2), B(0), B(0)), FLOATS(1, 2, 3, 4, 5, 6),
          FLOATS(5, -1, 14, -1));
    CHECK(BATCH_MATMUL, T(F32, 2, 2), ARGS(T(F32, 3, 2), C(F32, y, 3, 2), B(1), B(0)), FLOATS(1, 4, 2, 5, 3, 6),
          FLOATS(5, -1, 14, -1));
    CHECK(BATCH_MATMUL, T(F32, 2, 2), ARGS(T(F32, 2, 3), C(F32, turned, 2, 3), B(0), B(1)), FLOATS(1, 2, 3, 4, 5, 6),
          FLOATS(5, -1, 14, -1));
    CHECK(BATCH_MATMUL, T(F32, 2, 2), ARGS(T(F32, 3, 2), C(F32, turned, 2, 3), B(1), B(1)), FLOATS(1, 4, 2, 5, 3, 6),
          FLOATS(5, -1, 14, -1));
}

/** Two batches; both factors come with the request. */
static void test_matmul_of_request(void **state) {
    (void)state;
    struct net n = {0};
    build(&n, ANEURALNETWORKS_BATCH_MATMUL, T(F32, 2, 1, 1), ARGS(T(F32, 2, 1, 2), T(F32, 2, 2, 1), B(0), B(0)));
    struct nnvts_prepared_model *p = prepare(cpu, &n);
    const float x[] = {1, 2, 3, 4}, y[] = {10, 1, 100, 1000}, expected[] = {12, 4300};
    float out[2];
    struct call c = {0};
    give(&c, x, sizeof x);
    give(&c, y, sizeof y);
    take(&c, out, sizeof out);
    assert_int_equal(execute(p, &c), NNVTS_STATUS_NONE);
    assert_memory_equal(out, expected, sizeof out);
    p->release(p);
}

/** (2 - 1, 3 - 1) times (0 + 2, -3 + 2; -1 + 2, 1 + 2) in units of 0.5 * 0.25 = 0.125, two batches. */
static void test_matmul_signed(void **state) {
    (void)state;
    const int8_t y[] = {0, -1, -3, 1, -2, 126, -2, 127}; /* turned: columns (2, 1) (-1, 3); (0, 128) (0, 129) */
    CHECK(BATCH_MATMUL, T(S8(0.125f, 3), 2, 1, 2),
          ARGS(T(S8(0.5f, 1), 2, 1, 2), C(S8(0.25f, -2), y, 2, 2, 2), B(0), B(1)), SIGNED(2, 3, 0, 2),
          SIGNED(2 + 2 * 1 - 4 + 7, 5 + 3, 127, 127));
}

static void test_matmul_integers(void **state) {
    (void)state;
    const int32_t y[] = {1, 1 << 30, 3, -5}; /* columns (1, 3), (2^30, -5); sums modulo 2^32 */
    CHECK(BATCH_MATMUL, T(I32, 2, 2), ARGS(T(I32, 2, 2), C(I32, y, 2, 2), B(0), B(0)), WORDS(7, -2, 4, 1),
          WORDS(1, -(1 << 30) + 10, 7, -5));
    CHECK(BATCH_MATMUL, T(I32, 2, 2), ARGS(T(I32, 2, 2), C(I32, y, 2, 2), B(1), B(1)), WORDS(7, -2, 4, 1),
          WORDS(7, 1, -2 + (1 << 30), -6 - 5));
}

static void test_matmul_refusals(void **state) {
    (void)state;
    const float y[] = {1, 0, 2, 1, 0, -1};
    const uint8_t q[6] = {0};
    const float square[4] = {0};
    ACCEPTED(BATCH_MATMUL, T(F32, 2, 2), ARGS(T(F32, 2, 3), C(F32, y, 3, 2), B(0), B(0)));
    REFUSED(BATCH_MATMUL, T(F32, 2, 2), ARGS(T(F32, 2, 3), C(F32, square, 2, 2), B(0), B(0)));
    REFUSED(BATCH_MATMUL, T(F32, 2, 2), ARGS(T(F32, 2, 3), C(F32, y, 3, 2), B(1), B(0)));
    REFUSED(BATCH_MATMUL, T(F32, 2, 3), ARGS(T(F32, 2, 3), C(F32, y, 3, 2), B(0), B(0)));
    REFUSED(BATCH_MATMUL, T(F32, 1, 2, 2), ARGS(T(F32, 1, 2, 3), C(F32, y, 3, 2), B(0), B(0)));
    REFUSED(BATCH_MATMUL, T(F32, 2, 2, 2), ARGS(T(F32, 2, 2, 3), C(F32, y, 1, 3, 2), B(0), B(0)));
    REFUSED(BATCH_MATMUL, T(F32, 2), ARGS(T(F32, 3), C(F32, y, 3, 2), B(0), B(0)));
    REFUSED(BATCH_MATMUL, T(U8(1, 0), 2, 2), ARGS(T(U8(1, 0), 2, 3), C(U8(1, 0), q, 3, 2), B(0), B(0)));
    REFUSED(BATCH_MATMUL, T(F32, 1, 1, 1, 2, 2), ARGS(T(F32, 1, 1, 1, 2, 3), C(F32, y, 1, 1, 1, 3, 2), B(0), B(0)));
}

/* ----------------------------------------------------------- GROUPED_CONV_2D */

static void test_grouped(void **state) {
    (void)state;
    const float filter[] = {1, 10, 100, 1000}, bias[] = {0.5f, -1};
    const struct arg w = C(F32, filter, 2, 1, 1, 2), b = C(F32, bias, 2);
    CHECK(GROUPED_CONV_2D, T(F32, 1, 1, 2, 2), ARGS(T(F32, 1, 1, 2, 4), w, b, I(VALID), I(1), I(1), I(2), I(0), B(0)),
          FLOATS(1, 2, 3, 4, 5, 6, 7, 8), FLOATS(21.5f, 4299, 65.5f, 8699));
    CHECK(GROUPED_CONV_2D, T(F32, 1, 1, 1, 2), ARGS(T(F32, 1, 1, 1, 4), w, b, I(VALID), I(1), I(1), I(2), I(0), B(0)),
          FLOATS(INFINITY, 2, 3, 4), FLOATS(INFINITY, 4299)); /* stays in its group */
    CHECK(GROUPED_CONV_2D, T(F32, 1, 2, 1, 1),
          ARGS(T(F32, 1, 4, 1, 2), w, b, I(0), I(0), I(0), I(0), I(2), I(1), I(2), I(3),
               B(1)), /* NCHW, stride 2, RELU6 */
          FLOATS(1, 5, -2, 6, 0.0625f, 7, -0.00390625f, 8), FLOATS(0, 1.34375f));
}

/** x (2, -2, 1, 5) halves; sums 2 - 4 + 4 in units of 0.25, 3 - 5 + 8 in units of 0.125. */
static void test_grouped_per_channel(void **state) {
    (void)state;
    static const float scales[] = {0.5f, 0.25f};
    const int8_t filter[] = {1, 2, 3, -1};
    const int32_t bias[] = {4, 8};
    const uint8_t in[] = {12, 8, 11, 15}, expected[] = {102, 103};
    for (int signedness = 0; signedness < 2; signedness++) {
        const int32_t shift = signedness ? 128 : 0;
        struct net n = {0};
        const struct arg args[] = {
            T(signedness ? S8(0.5f, 10 - 128) : U8(0.5f, 10), 1, 1, 1, 4),
            C(((struct kind){ANEURALNETWORKS_TENSOR_QUANT8_SYMM_PER_CHANNEL, 0, 0}), filter, 2, 1, 1, 2),
            C(I32, bias, 2),
            I(SAME),
            I(1),
            I(1),
            I(2),
            I(0),
            B(0)};
        build(&n, ANEURALNETWORKS_GROUPED_CONV_2D, T(signedness ? S8(0.25f, 100 - 128) : U8(0.25f, 100), 1, 1, 1, 2),
              args, sizeof args / sizeof *args);
        n.operands[1].channel_quant = (struct nnvts_channel_quant){0, 2, scales};
        uint8_t x[4], out[2];
        for (int i = 0; i < 4; i++) x[i] = (uint8_t)(in[i] - shift);
        check_run(&n, x, sizeof x, out, sizeof out);
        for (int i = 0; i < 2; i++) assert_int_equal((uint8_t)(out[i] + shift), expected[i]);
    }
}

static void test_grouped_refusals(void **state) {
    (void)state;
    const float filter[12] = {0}, bias[3] = {0};
    const struct arg x = T(F32, 1, 1, 2, 4), w = C(F32, filter, 2, 1, 1, 2), b = C(F32, bias, 3),
                     y = T(F32, 1, 1, 2, 2);
    struct arg two = b, wide = w, three = T(F32, 1, 1, 2, 3);
    two.dims[0] = 2;
    two.bytes = 8;
    wide.bytes = 16;
    ACCEPTED(GROUPED_CONV_2D, y, ARGS(x, wide, two, I(VALID), I(1), I(1), I(2), I(0), B(0)));
    REFUSED(GROUPED_CONV_2D, y, ARGS(x, wide, two, I(VALID), I(1), I(1), I(1), I(0), B(0)));
    REFUSED(GROUPED_CONV_2D, y, ARGS(T(F32, 1, 1, 2, 0), wide, two, I(VALID), I(1), I(1), I(0), I(0), B(0)));
    REFUSED(GROUPED_CONV_2D, y, ARGS(x, wide, two, I(VALID), I(1), I(1), I(-2), I(0), B(0)));
    REFUSED(GROUPED_CONV_2D, y, ARGS(x, wide, two, I(3), I(1), I(1), I(2), I(0), B(0)));
    REFUSED(GROUPED_CONV_2D, y, ARGS(x, wide, two, I(VALID), I(0), I(1), I(2), I(0), B(0)));
    REFUSED(GROUPED_CONV_2D, y, ARGS(x, wide, two, I(VALID), I(1), I(1), I(2), I(4), B(0)));
    REFUSED(GROUPED_CONV_2D, y, ARGS(x, wide, two, I(VALID), I(1), I(1), I(2), I(0)));
    wide.dims[0] = 3; /* channels that two groups don't divide */
    wide.bytes = 24;
    REFUSED(GROUPED_CONV_2D, three, ARGS(x, wide, b, I(VALID), I(1), I(1), I(2), I(0), B(0)));
}

/* ---------------------------------------------------------- TRANSPOSE_CONV_2D */

static const float taps[] = {10, 20, 30}, half[] = {0.5f}, nothing[] = {0};

/** 1 and 2 spread by a stride of 2: 10 20 30+20 40 60. */
static void test_transposed(void **state) {
    (void)state;
    const struct arg x = T(F32, 1, 1, 2, 1), w = C(F32, taps, 1, 1, 3, 1), b = C(F32, nothing, 1);
    CHECK(TRANSPOSE_CONV_2D, T(F32, 1, 1, 5, 1), ARGS(x, w, b, L(1, 1, 5, 1), I(VALID), I(2), I(1), I(0), B(0)),
          FLOATS(1, 2), FLOATS(10, 20, 50, 40, 60));
    CHECK(TRANSPOSE_CONV_2D, T(F32, 1, 1, 4, 1), ARGS(x, w, b, L(1, 1, 4, 1), I(SAME), I(2), I(1), I(0), B(0)),
          FLOATS(1, 2), FLOATS(10, 20, 50, 40)); /* one cell too many: the odd one goes at the end */
    CHECK(TRANSPOSE_CONV_2D, T(F32, 1, 1, 3, 1), ARGS(x, w, b, L(1, 1, 3, 1), I(SAME), I(2), I(1), I(0), B(0)),
          FLOATS(1, 2), FLOATS(20, 50, 40));
    CHECK(TRANSPOSE_CONV_2D, T(F32, 1, 1, 5, 1), ARGS(x, w, b, I(1), I(-1), I(0), I(0), I(2), I(1), I(0), B(0)),
          FLOATS(1, 2), FLOATS(20, 50, 40, 60, 0));
    CHECK(TRANSPOSE_CONV_2D, T(F32, 1, 1, 1, 5), /* NCHW, RELU */
          ARGS(T(F32, 1, 1, 1, 2), w, b, I(0), I(0), I(0), I(0), I(2), I(1), I(1), B(1)), FLOATS(1, -2),
          FLOATS(10, 20, 10, 0, 0));
    /* a stride above the filter's width: positions that only get the bias */
    CHECK(TRANSPOSE_CONV_2D, T(F32, 1, 1, 8, 1),
          ARGS(x, w, C(F32, half, 1), I(0), I(0), I(0), I(0), I(5), I(7), I(0), B(0)), FLOATS(1, 2),
          FLOATS(10.5f, 20.5f, 30.5f, 0.5f, 0.5f, 20.5f, 40.5f, 60.5f));
}

/** (q - 5) * 0.5 times (1, 2) * 0.25, bias 3 of them, over a stride of 3: units of 0.125 in units of 0.25. */
static void test_transposed_quant(void **state) {
    (void)state;
    const int8_t filter[] = {1, 2};
    const int32_t bias[] = {3};
    const struct kind units = {ANEURALNETWORKS_TENSOR_INT32, 0.125f, 0};
    CHECK(TRANSPOSE_CONV_2D, T(S8(0.25f, -7), 1, 1, 5, 1),
          ARGS(T(S8(0.5f, 5), 1, 1, 2, 1), C(S8(0.25f, 0), filter, 1, 1, 2, 1), C(units, bias, 1), I(0), I(0), I(0),
               I(0), I(3), I(1), I(0), B(0)),
          SIGNED(6, 2), /* 1 and -3: 4 5 3 0 -3 eighths, halves away from zero */
          SIGNED(-7 + 2, -7 + 3, -7 + 2, -7, -7 - 2));
}

static void test_transposed_refusals(void **state) {
    (void)state;
    const struct arg x = T(F32, 1, 1, 2, 1), w = C(F32, taps, 1, 1, 3, 1), b = C(F32, nothing, 1),
                     y = T(F32, 1, 1, 5, 1);
    const struct arg open = T(F32, 1, 1, 0, 1); /* the width of the output is not declared */
    struct arg two = x, flat = w;
    ACCEPTED(TRANSPOSE_CONV_2D, y, ARGS(x, w, b, L(1, 1, 5, 1), I(VALID), I(2), I(1), I(0), B(0)));
    REFUSED(TRANSPOSE_CONV_2D, open, ARGS(x, w, b, L(1, 1, 4, 1), I(VALID), I(2), I(1), I(0), B(0)));
    REFUSED(TRANSPOSE_CONV_2D, open, ARGS(x, w, b, L(1, 1, 5, 1), I(SAME), I(2), I(1), I(0), B(0)));
    REFUSED(TRANSPOSE_CONV_2D, open, ARGS(T(F32, 1, 1, 0, 1), w, b, L(1, 1, 0, 1), I(SAME), I(2), I(1), I(0), B(0)));
    REFUSED(TRANSPOSE_CONV_2D, y, ARGS(x, w, b, L(1, 1, 5), I(VALID), I(2), I(1), I(0), B(0)));
    REFUSED(TRANSPOSE_CONV_2D, y, ARGS(x, w, b, L(1, 1, 5, 1), I(0), I(2), I(1), I(0), B(0)));
    REFUSED(TRANSPOSE_CONV_2D, open, ARGS(x, w, b, I(0), I(0), I(0), I(0), I(0), I(1), I(0), B(0)));
    REFUSED(TRANSPOSE_CONV_2D, open, ARGS(x, w, b, I(0), I(0), I(0), I(0), I(1), I(0), I(0), B(0)));
    REFUSED(TRANSPOSE_CONV_2D, y, ARGS(x, w, b, L(1, 1, 5, 1), I(VALID), I(2), I(1), I(9), B(0)));
    REFUSED(TRANSPOSE_CONV_2D, y, ARGS(x, w, b, I(-1), I(1), I(0), I(0), I(2), I(1), I(0), B(0)));
    REFUSED(TRANSPOSE_CONV_2D, open, ARGS(x, w, b, I(5), I(0), I(0), I(0), I(2), I(1), I(0), B(0)));
    two.dims[3] = 2; /* channels that the filter lacks */
    REFUSED(TRANSPOSE_CONV_2D, y, ARGS(two, w, b, L(1, 1, 5, 1), I(VALID), I(2), I(1), I(0), B(0)));
    flat.rank = 3;
    flat.dims[2] = 3;
    REFUSED(TRANSPOSE_CONV_2D, y, ARGS(x, flat, b, L(1, 1, 5, 1), I(VALID), I(2), I(1), I(0), B(0)));
}

/* --------------------------------------------------------- against plain sums */

enum { H = 9, W = 11, DEPTH = 6, CHANNELS = 8, MOST_Y = 40 * 48 * CHANNELS };

/** Small integers, so that every order of adding gives the same. */
static float drawn(uint32_t *seed) { return (float)((int32_t)((*seed = *seed * 1664525u + 1013904223u) >> 29) - 3); }

struct shape_of_test {
    uint32_t filter_h, filter_w, stride_h, stride_w, groups;
};

static const float *sums_of(const struct shape_of_test *s, bool transposed, const float *x, const float *w,
                            const float *bias, uint32_t out_h, uint32_t out_w) {
    static float y[MOST_Y];
    const uint32_t depth = DEPTH / s->groups, share = CHANNELS / s->groups;
    for (uint32_t i = 0; i < out_h * out_w * CHANNELS; i++) y[i] = bias[i % CHANNELS];
    for (uint32_t big = 0; big < (transposed ? H * W : out_h * out_w); big++)
        for (uint32_t p = 0; p < s->filter_h; p++)
            for (uint32_t q = 0; q < s->filter_w; q++) {
                const uint32_t across = transposed ? W : out_w, row = big / across, col = big % across;
                const uint32_t far = (row * s->stride_h + p) * (transposed ? out_w : W) + col * s->stride_w + q;
                for (uint32_t k = 0; k < CHANNELS; k++)
                    for (uint32_t c = 0; c < depth; c++)
                        y[(transposed ? far : big) * CHANNELS + k] +=
                            x[(transposed ? big : far) * DEPTH + k / share * depth + c] *
                            w[((k * s->filter_h + p) * s->filter_w + q) * depth + c];
            }
    return y;
}

/** Weights are constants, or come with the request. */
static void run_shape(const struct shape_of_test *s, bool transposed, bool constants) {
    float x[H * W * DEPTH], w[CHANNELS * 5 * 4 * DEPTH], bias[CHANNELS];
    static float out[MOST_Y];
    uint32_t seed = s->filter_h * 7 + s->filter_w;
    for (size_t i = 0; i < sizeof x / sizeof *x; i++) x[i] = drawn(&seed);
    for (size_t i = 0; i < sizeof w / sizeof *w; i++) w[i] = drawn(&seed);
    for (size_t i = 0; i < CHANNELS; i++) bias[i] = drawn(&seed);
    const uint32_t out_h = transposed ? (H - 1) * s->stride_h + s->filter_h : (H - s->filter_h) / s->stride_h + 1;
    const uint32_t out_w = transposed ? (W - 1) * s->stride_w + s->filter_w : (W - s->filter_w) / s->stride_w + 1;
    const uint32_t depth = DEPTH / s->groups, count = CHANNELS * s->filter_h * s->filter_w * depth;
    struct arg filter = T(F32, CHANNELS, s->filter_h, s->filter_w, depth), b = T(F32, CHANNELS);
    if (constants) {
        filter.what = b.what = VALUES;
        filter.values = w;
        filter.bytes = count * (uint32_t)sizeof *w;
        b.values = bias;
        b.bytes = sizeof bias;
    }
    const struct arg groups = I((int32_t)s->groups), none = I(ANEURALNETWORKS_FUSED_NONE), nhwc = B(0);
    struct arg args[12] = {T(F32, 1, H, W, DEPTH), filter, b, I(0), I(0), I(0), I(0), I((int32_t)s->stride_w),
                           I((int32_t)s->stride_h)};
    size_t used = 9;
    if (!transposed) args[used++] = groups;
    args[used++] = none;
    args[used++] = nhwc;
    struct net n = {0};
    build(&n, transposed ? ANEURALNETWORKS_TRANSPOSE_CONV_2D : ANEURALNETWORKS_GROUPED_CONV_2D,
          T(F32, 1, out_h, out_w, CHANNELS), args, used);
    struct nnvts_prepared_model *p = prepare(cpu, &n);
    struct call c = {0};
    give(&c, x, sizeof x);
    if (!constants) {
        give(&c, w, count * (uint32_t)sizeof *w);
        give(&c, bias, sizeof bias);
    }
    take(&c, out, out_h * out_w * CHANNELS * (uint32_t)sizeof *out);
    assert_int_equal(execute(p, &c), NNVTS_STATUS_NONE);
    p->release(p);
    const float *expected = sums_of(s, transposed, x, w, bias, out_h, out_w);
    for (uint32_t i = 0; i < out_h * out_w * CHANNELS; i++)
        if (out[i] != expected[i])
            fail_msg("filter %ux%u, stride %ux%u, %u groups: value %u is %g, expected %g", s->filter_h, s->filter_w,
                     s->stride_h, s->stride_w, s->groups, i, (double)out[i], (double)expected[i]);
}

static void test_against_sums(void **state) {
    (void)state;
    static const struct shape_of_test shapes[] = {{1, 1, 1, 1, 1}, {3, 3, 1, 1, 2}, {2, 3, 2, 1, 2},
                                                  {3, 2, 2, 3, 1}, {1, 1, 2, 2, 2}, {1, 3, 3, 2, 1}};
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        for (int constants = 0; constants < 2; constants++) {
            struct shape_of_test s = shapes[i];
            run_shape(&s, false, constants);
            s.groups = 1;
            run_shape(&s, true, constants);
        }
}

/* ------------------------------------------------------------- over the edges */

enum { WIDE = 20, DEEP = 128, FILTERS = 70, TALLEST = 5, MOST_LINES = 7 };

/** Padding is as the filter's width, half in front; above it is `top` lines, and below as many. */
struct edges {
    uint32_t h, filter_h, filter_w, top, stride, dilation;
};

static float padded_sum(const struct edges *s, const float *x, const float *w, uint32_t row, uint32_t col, uint32_t k) {
    float sum = 0;
    for (uint32_t p = 0; p < s->filter_h; p++)
        for (uint32_t q = 0; q < s->filter_w; q++) {
            const int64_t at_y = (int64_t)row * s->stride + p * s->dilation - s->top;
            const int64_t at_x = (int64_t)col * s->stride + q * s->dilation - s->filter_w / 2 * s->dilation;
            if (at_y < 0 || at_y >= s->h || at_x < 0 || at_x >= WIDE) continue;
            for (uint32_t c = 0; c < DEEP; c++)
                sum += x[(at_y * WIDE + at_x) * DEEP + c] * w[((k * s->filter_h + p) * s->filter_w + q) * DEEP + c];
        }
    return sum;
}

static void run_edges(const struct edges *s) {
    static float x[MOST_LINES * WIDE * DEEP], w[FILTERS * TALLEST * 3 * DEEP], out[2 * MOST_LINES * WIDE * FILTERS];
    static const float bias[FILTERS];
    uint32_t seed = s->h;
    for (size_t i = 0; i < sizeof x / sizeof *x; i++) x[i] = drawn(&seed);
    for (size_t i = 0; i < sizeof w / sizeof *w; i++) w[i] = drawn(&seed);
    const int32_t top = (int32_t)s->top, left = (int32_t)(s->filter_w / 2 * s->dilation), stride = (int32_t)s->stride;
    const uint32_t out_h = (s->h + 2 * s->top - (s->filter_h - 1) * s->dilation - 1) / s->stride + 1;
    const uint32_t out_w = (WIDE - 1) / s->stride + 1;
    const struct arg filter = T(F32, FILTERS, s->filter_h, s->filter_w, DEEP);
    const struct arg args[] = {T(F32, 1, s->h, WIDE, DEEP),
                               filter,
                               C(F32, bias, FILTERS),
                               I(left),
                               I(left),
                               I(top),
                               I(top),
                               I(stride),
                               I(stride),
                               I(0),
                               B(0),
                               I((int32_t)s->dilation),
                               I((int32_t)s->dilation)};
    struct net n = {0};
    build(&n, ANEURALNETWORKS_CONV_2D, T(F32, 1, out_h, out_w, FILTERS), args, sizeof args / sizeof *args);
    struct nnvts_prepared_model *p = prepare(cpu, &n);
    struct call c = {0};
    give(&c, x, s->h * WIDE * DEEP * (uint32_t)sizeof *x);
    give(&c, w, FILTERS * s->filter_h * s->filter_w * DEEP * (uint32_t)sizeof *w);
    take(&c, out, out_h * out_w * FILTERS * (uint32_t)sizeof *out);
    assert_int_equal(execute(p, &c), NNVTS_STATUS_NONE);
    p->release(p);
    for (uint32_t i = 0; i < out_h * out_w * FILTERS; i++) {
        const uint32_t pixel = i / FILTERS;
        const float expected = padded_sum(s, x, w, pixel / out_w, pixel % out_w, i % FILTERS);
        if (out[i] != expected)
            fail_msg("%u lines under %ux%u, stride %u, dilation %u: value %u is %g, expected %g", s->h, s->filter_h,
                     s->filter_w, s->stride, s->dilation, i, (double)out[i], (double)expected);
    }
}

/** Lines and columns of the filter outside the image count for nothing; all lines, too. */
static void test_edges(void **state) {
    (void)state;
    static const struct edges shapes[] = {{7, 3, 3, 1, 1, 1}, {2, 5, 3, 2, 1, 1}, {5, 5, 3, 4, 2, 1},
                                          {1, 2, 3, 1, 1, 2}, {4, 3, 3, 2, 1, 2}, {1, 3, 1, 1, 1, 1}};
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) run_edges(&shapes[i]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_matmul),
        cmocka_unit_test(test_matmul_of_request),
        cmocka_unit_test(test_matmul_signed),
        cmocka_unit_test(test_matmul_integers),
        cmocka_unit_test(test_matmul_refusals),
        cmocka_unit_test(test_grouped),
        cmocka_unit_test(test_grouped_per_channel),
        cmocka_unit_test(test_grouped_refusals),
        cmocka_unit_test(test_transposed),
        cmocka_unit_test(test_transposed_quant),
        cmocka_unit_test(test_transposed_refusals),
        cmocka_unit_test(test_against_sums),
        cmocka_unit_test(test_edges),
    };
    return cmocka_run_group_tests(tests, open_cpu, close_cpu);
}
