/* SPDX-License-Identifier: Apache-2.0 */
/** @file test_cpu_driver_moves.c The driver "cpu": operations that move values. */
#include "tests/kit/op_net.h"

#define Q U8(0.5f, 9)

/* ---------------------------------------------------------------------- parts */

static void test_slice(void **state) {
    (void)state;
    CHECK(SLICE, T(F32, 2, 2), ARGS(T(F32, 3, 3), L(1, 0), L(2, 2)), FLOATS(1, 2, 3, 4, 5, 6, 7, 8, 9),
          FLOATS(4, 5, 7, 8));
    CHECK(SLICE, T(I32, 1, 2), ARGS(T(I32, 2, 3), L(1, 1), L(1, -1)), WORDS(1, 2, 3, 4, 5, -6), WORDS(5, -6));
    CHECK(SLICE, T(S8(1, 3), 2), ARGS(T(S8(1, 3), 4), L(2), L(-1)), SIGNED(-128, 2, -3, 127), SIGNED(-3, 127));
    REFUSED(SLICE, T(F32, 2), ARGS(T(F32, 3), L(2), L(2)));
    REFUSED(SLICE, T(F32, 2), ARGS(T(F32, 3), L(-1), L(2)));
    REFUSED(SLICE, T(F32, 0), ARGS(T(F32, 3), L(0), L(-2)));
    REFUSED(SLICE, T(F32, 2), ARGS(T(F32, 3), L(0, 0), L(2)));
    REFUSED(SLICE, T(F32, 2), ARGS(T(F32, 3), L(0), L(3)));
    REFUSED(SLICE, T(Q, 2), ARGS(T(U8(0.5f, 8), 3), L(0), L(2)));
    ACCEPTED(SLICE, T(Q, 2), ARGS(T(Q, 3), L(0), L(2)));
}

static void test_strided_slice(void **state) {
    (void)state;
    CHECK(STRIDED_SLICE, T(F32, 2, 2),
          ARGS(T(F32, 2, 5), L(0, 4), L(2, 0), L(1, -3), I(0), I(0), I(0)), /* columns 4 and 1 */
          FLOATS(1, 2, 3, 4, 5, 6, 7, 8, 9, 10), FLOATS(5, 2, 10, 7));
    CHECK(STRIDED_SLICE, T(Q, 4), ARGS(T(Q, 4), L(9), L(9), L(-1), I(1), I(1), I(0)), BYTES(1, 2, 3, 4),
          BYTES(4, 3, 2, 1));
    CHECK(STRIDED_SLICE, T(Q, 3), ARGS(T(Q, 2, 3), L(-1, 0), L(2, 3), L(1, 1), I(0), I(0), I(1)),
          BYTES(1, 2, 3, 4, 5, 6), BYTES(4, 5, 6));
    CHECK(STRIDED_SLICE, T(Q, 1), ARGS(T(Q, 3), L(1), L(2), L(1), I(0), I(0), I(1)), BYTES(1, 2, 3), BYTES(2));
    REFUSED(STRIDED_SLICE, T(F32, 0), ARGS(T(F32, 0), L(0), L(2), L(0), I(0), I(0), I(0)));
    REFUSED(STRIDED_SLICE, T(F32, 1), ARGS(T(F32, 3), L(0), L(2), L(1), I(0), I(0), I(1)));
    REFUSED(STRIDED_SLICE, T(F32, 1), ARGS(T(F32, 3), L(2), L(1), L(-1), I(0), I(0), I(1)));
    REFUSED(STRIDED_SLICE, T(F32, 2), ARGS(T(F32, 3), L(0), L(2), L(1, 1), I(0), I(0), I(0)));
    REFUSED(STRIDED_SLICE, T(F32, 3), ARGS(T(F32, 3), L(0), L(2), L(1), I(0), I(0), I(0)));
    REFUSED(STRIDED_SLICE, T(I32, 2), ARGS(T(I32, 3), L(0), L(2), L(1), I(0), I(0), I(0)));
}

static void split_net(struct net *n, uint32_t rows, int32_t axis, int32_t parts, struct kind second) {
    const uint32_t x = input(n, F32, DIMS(rows, 4)), a = output(n, F32, 0, NULL), b = output(n, second, 0, NULL);
    operation(n, ANEURALNETWORKS_SPLIT, LIST(x, integer(n, axis), integer(n, parts)), LIST(a, b));
    finish(n);
}

static void test_split(void **state) {
    (void)state;
    struct net n = {0};
    split_net(&n, 2, -1, 2, F32);
    struct nnvts_prepared_model *p = prepare(cpu, &n);
    struct call c = {0};
    const float in[] = {1, 2, 3, 4, 5, 6, 7, 8}, left[] = {1, 2, 5, 6}, right[] = {3, 4, 7, 8};
    float out[2][4];
    give(&c, in, sizeof in);
    take(&c, out[0], sizeof out[0]);
    take(&c, out[1], sizeof out[1]);
    assert_int_equal(execute(p, &c), NNVTS_STATUS_NONE);
    assert_memory_equal(out[0], left, sizeof left);
    assert_memory_equal(out[1], right, sizeof right);
    p->release(p);
    const struct {
        uint32_t rows;
        int32_t axis, parts;
        struct kind second;
    } bad[] = {{2, -3, 2, F32}, {2, 2, 2, F32}, {2, 1, 4, F32}, {3, 0, 2, F32}, {2, 1, 2, I32}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        bool supported[4];
        n = (struct net){0};
        split_net(&n, bad[i].rows, bad[i].axis, bad[i].parts, bad[i].second);
        assert_int_equal(cpu->get_supported_operations(cpu, &n.model, supported), NNVTS_STATUS_INVALID_ARGUMENT);
    }
    REFUSED(SPLIT, T(F32, 1), ARGS(T(F32, 4), I(0), I(3)));
    REFUSED(SPLIT, T(Q, 4), ARGS(T(U8(1, 9), 4), I(0), I(1)));
    ACCEPTED(SPLIT, T(Q, 4), ARGS(T(Q, 4), I(0), I(1)));
}

static void test_reverse(void **state) {
    (void)state;
    CHECK(REVERSE, T(I32, 2, 3), ARGS(T(I32, 2, 3), L(1)), WORDS(1, 2, 3, 4, 5, 6), WORDS(3, 2, 1, 6, 5, 4));
    CHECK(REVERSE, T(Q, 2, 3), ARGS(T(Q, 2, 3), L(0)), BYTES(1, 2, 3, 4, 5, 6), BYTES(4, 5, 6, 1, 2, 3));
    REFUSED(REVERSE, T(F32, 3), ARGS(T(F32, 3), L(-1)));
    REFUSED(REVERSE, T(F32, 3), ARGS(T(F32, 3), L(1)));
    REFUSED(REVERSE, T(F32, 2, 3), ARGS(T(F32, 2, 3), L(0, 1)));
    REFUSED(REVERSE, T(F32, 3), ARGS(T(F32, 3), I(0)));
}

/* ------------------------------------------------------------------- paddings */

static void test_pad(void **state) {
    (void)state;
    CHECK(PAD, T(S8(0.5f, -3), 2, 4), ARGS(T(S8(0.5f, -3), 1, 2), P(1, 0, 0, 2)), SIGNED(7, -8),
          SIGNED(-3, -3, -3, -3, 7, -8, -3, -3));
    CHECK(PAD, T(F32, 4), ARGS(T(F32, 2), P(1, 1)), FLOATS(5, 6), FLOATS(0, 5, 6, 0));
    CHECK(PAD_V2, T(F32, 3, 2), ARGS(T(F32, 2, 1), P(0, 1, 1, 0), R(9.5f)), FLOATS(5, 6),
          FLOATS(9.5f, 5, 9.5f, 6, 9.5f, 9.5f));
    CHECK(PAD_V2, T(F16, 3), ARGS(T(F16, 2), P(0, 1), H(0x4200)), HALVES(0x3c00, 0xbc00), /* 1, -1; 3 */
          HALVES(0x3c00, 0xbc00, 0x4200));
    CHECK(PAD_V2, T(S8(1, 5), 4), ARGS(T(S8(1, 5), 2), P(2, 0), I(-128)), SIGNED(3, 4), SIGNED(-128, -128, 3, 4));
    CHECK(PAD_V2, T(Q, 3), ARGS(T(Q, 2), P(0, 1), I(200)), BYTES(3, 4), BYTES(3, 4, 200));
    REFUSED(PAD, T(F32, 2), ARGS(T(F32, 2), P(-1, 1)));
    REFUSED(PAD, T(F32, 2), ARGS(T(F32, 2), P(1, -1)));
    REFUSED(PAD, T(F32, 4), ARGS(T(F32, 2), L(1, 1)));
    REFUSED(PAD, T(F32, 4), ARGS(T(F32, 2), P(1, 1, 0, 0)));
    REFUSED(PAD, T(F32, 3), ARGS(T(F32, 2), P(1, 1)));
    REFUSED(PAD, T(I32, 4), ARGS(T(I32, 2), P(1, 1)));
    REFUSED(PAD, T(F32, 1, 1, 1, 1, 2), ARGS(T(F32, 1, 1, 1, 1, 2), P(0, 0, 0, 0, 0, 0, 0, 0, 0, 0)));
    REFUSED(PAD, T(Q, 4), ARGS(T(U8(0.5f, 8), 2), P(1, 1)));
    REFUSED(PAD_V2, T(F32, 4), ARGS(T(F32, 2), P(1, 1), I(0)));
    REFUSED(PAD_V2, T(Q, 4), ARGS(T(Q, 2), P(1, 1), R(0)));
    REFUSED(PAD_V2, T(Q, 4), ARGS(T(Q, 2), P(1, 1), I(256)));
    REFUSED(PAD_V2, T(Q, 4), ARGS(T(Q, 2), P(1, 1), I(-1)));
    REFUSED(PAD_V2, T(S8(1, 0), 4), ARGS(T(S8(1, 0), 2), P(1, 1), I(128)));
}

static void test_mirror_pad(void **state) {
    (void)state;
    CHECK(MIRROR_PAD, T(I32, 7), ARGS(T(I32, 3), P(2, 2), I(0)), WORDS(1, 2, 3), WORDS(3, 2, 1, 2, 3, 2, 1));
    CHECK(MIRROR_PAD, T(Q, 7), ARGS(T(Q, 3), P(3, 1), I(1)), BYTES(1, 2, 3), BYTES(3, 2, 1, 1, 2, 3, 3));
    CHECK(MIRROR_PAD, T(F32, 3, 3), ARGS(T(F32, 2, 2), P(1, 0, 0, 1), I(1)), FLOATS(1, 2, 3, 4),
          FLOATS(1, 2, 2, 1, 2, 2, 3, 4, 4));
    CHECK(MIRROR_PAD, T(F32, 3, 3), ARGS(T(F32, 2, 2), P(0, 1, 1, 0), I(0)), FLOATS(1, 2, 3, 4),
          FLOATS(2, 1, 2, 4, 3, 4, 2, 1, 2));
    REFUSED(MIRROR_PAD, T(F32, 4), ARGS(T(F32, 2), P(2, 0), I(0)));
    REFUSED(MIRROR_PAD, T(F32, 4), ARGS(T(F32, 2), P(0, 2), I(0)));
    REFUSED(MIRROR_PAD, T(F32, 5), ARGS(T(F32, 2), P(3, 0), I(1)));
    REFUSED(MIRROR_PAD, T(F32, 3), ARGS(T(F32, 2), P(1, 0), I(2)));
    ACCEPTED(MIRROR_PAD, T(F32, 3), ARGS(T(F32, 2), P(1, 0), I(0)));
}

/** Paddings that come with the request, an output whose extents nobody has declared. */
static void test_pad_of_request(void **state) {
    (void)state;
    struct net n = {0};
    build(&n, ANEURALNETWORKS_PAD, T(F32, 0), ARGS(T(F32, 2), T(I32, 1, 2)));
    struct nnvts_prepared_model *p = prepare(cpu, &n);
    const float in[] = {5, 6}, expected[] = {0, 5, 6, 0, 0};
    const int32_t pads[] = {1, 2}, bad[] = {-1, 2};
    float out[5];
    struct call c = {0}, d = {0};
    give(&c, in, sizeof in);
    give(&c, pads, sizeof pads);
    take(&c, out, sizeof out);
    assert_int_equal(execute(p, &c), NNVTS_STATUS_NONE);
    assert_memory_equal(out, expected, sizeof out);
    assert_int_equal(c.result.shapes[0].dimension_count, 1);
    assert_int_equal(c.dims[0][0], 5);
    give(&d, in, sizeof in);
    give(&d, bad, sizeof bad);
    take(&d, out, sizeof out);
    assert_int_equal(execute(p, &d), NNVTS_STATUS_GENERAL_FAILURE);
    p->release(p);
}

/* ----------------------------------------------------------------------- axes */

static void test_transpose(void **state) {
    (void)state;
    CHECK(TRANSPOSE, T(Q, 3, 2), ARGS(T(Q, 2, 3), NO_LIST), BYTES(1, 2, 3, 4, 5, 6), BYTES(1, 4, 2, 5, 3, 6));
    CHECK(TRANSPOSE, T(F32, 2, 3, 2), ARGS(T(F32, 2, 2, 3), L(1, 2, 0)), FLOATS(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12),
          FLOATS(1, 7, 2, 8, 3, 9, 4, 10, 5, 11, 6, 12));
    REFUSED(TRANSPOSE, T(F32, 2, 2, 2), ARGS(T(F32, 2, 2, 2), NO_LIST));
    REFUSED(TRANSPOSE, T(F32, 2, 2), ARGS(T(F32, 2, 2), L(0, 0)));
    REFUSED(TRANSPOSE, T(F32, 2, 2), ARGS(T(F32, 2, 2), L(0, 2)));
    REFUSED(TRANSPOSE, T(F32, 0, 0), ARGS(T(F32, 2, 2), L(0, 2)));
    REFUSED(TRANSPOSE, T(F32, 2, 2), ARGS(T(F32, 2, 2), L(-1, 0)));
    REFUSED(TRANSPOSE, T(F32, 2, 2), ARGS(T(F32, 2, 2), L(0)));
    REFUSED(TRANSPOSE, T(F32, 2, 3), ARGS(T(F32, 2, 3), L(1, 0)));
    REFUSED(TRANSPOSE, T(I32, 3, 2), ARGS(T(I32, 2, 3), L(1, 0)));
    ACCEPTED(TRANSPOSE, T(F32, 0, 0), ARGS(T(F32, 2, 3), L(1, 0)));
}

/** Every order of four axes, of extents that are no multiples of anything; large enough for threads. */
static void test_transpose_orders(void **state) {
    (void)state;
    enum { N0 = 19, N1 = 23, N2 = 33, N3 = 35, ALL = N0 * N1 * N2 * N3 };
    static const uint32_t dims[] = {N0, N1, N2, N3};
    float *in = malloc(ALL * sizeof *in), *out = malloc(ALL * sizeof *out);
    assert_true(in && out);
    for (int i = 0; i < ALL; i++) in[i] = (float)i;
    for (int order = 0; order < 256; order++) {
        const int32_t p[] = {order & 3, order >> 2 & 3, order >> 4 & 3, order >> 6 & 3};
        if ((1 << p[0] | 1 << p[1] | 1 << p[2] | 1 << p[3]) != 15) continue;
        struct net n = {0};
        build(&n, ANEURALNETWORKS_TRANSPOSE, T(F32, dims[p[0]], dims[p[1]], dims[p[2]], dims[p[3]]),
              ARGS(T(F32, N0, N1, N2, N3), L(p[0], p[1], p[2], p[3])));
        check_run(&n, in, ALL * sizeof *in, out, ALL * sizeof *out);
        const uint32_t steps[] = {N1 * N2 * N3, N2 * N3, N3, 1};
        uint32_t at[4], k = 0;
        for (at[0] = 0; at[0] < dims[p[0]]; at[0]++)
            for (at[1] = 0; at[1] < dims[p[1]]; at[1]++)
                for (at[2] = 0; at[2] < dims[p[2]]; at[2]++)
                    for (at[3] = 0; at[3] < dims[p[3]]; at[3]++, k++) {
                        uint32_t from = 0;
                        for (int d = 0; d < 4; d++) from += at[d] * steps[p[d]];
                        if (out[k] != (float)from) fail_msg("order %d: value %u is %g", order, k, (double)out[k]);
                    }
    }
    free(in);
    free(out);
}

static void test_tile(void **state) {
    (void)state;
    CHECK(TILE, T(F32, 4, 3), ARGS(T(F32, 2, 1), L(2, 3)), FLOATS(1, 2), FLOATS(1, 1, 1, 2, 2, 2, 1, 1, 1, 2, 2, 2));
    CHECK(TILE, T(Q, 1, 4), ARGS(T(Q, 1, 2), L(1, 2)), BYTES(1, 2), BYTES(1, 2, 1, 2));
    REFUSED(TILE, T(F32, 0), ARGS(T(F32, 0), L(-2)));
    REFUSED(TILE, T(F32, 4), ARGS(T(F32, 2), L(2, 1)));
    REFUSED(TILE, T(F32, 5), ARGS(T(F32, 2), L(2)));
    REFUSED(TILE, T(Q, 1), ARGS(T(Q, 4), L(INT32_MAX)));
}

static void test_channel_shuffle(void **state) {
    (void)state;
    CHECK(CHANNEL_SHUFFLE, T(Q, 1, 6), ARGS(T(Q, 1, 6), I(2), I(-1)), BYTES(1, 2, 3, 4, 5, 6), BYTES(1, 4, 2, 5, 3, 6));
    CHECK(CHANNEL_SHUFFLE, T(F32, 6, 2), ARGS(T(F32, 6, 2), I(3), I(0)),
          FLOATS(0, 1, 10, 11, 20, 21, 30, 31, 40, 41, 50, 51), FLOATS(0, 1, 20, 21, 40, 41, 10, 11, 30, 31, 50, 51));
    REFUSED(CHANNEL_SHUFFLE, T(F32, 6), ARGS(T(F32, 6), I(4), I(0)));
    REFUSED(CHANNEL_SHUFFLE, T(F32, 6), ARGS(T(F32, 6), I(0), I(0)));
    REFUSED(CHANNEL_SHUFFLE, T(F32, 6), ARGS(T(F32, 6), I(2), I(1)));
    REFUSED(CHANNEL_SHUFFLE, T(F32, 6), ARGS(T(F32, 6), I(2), I(-2)));
    REFUSED(CHANNEL_SHUFFLE, T(F32, 3), ARGS(T(F32, 6), I(2), I(0)));
}

static void test_gather(void **state) {
    (void)state;
    const int32_t two[] = {2, 0}, four[] = {1, 1, 0, 1}, outside[] = {0, 3};
    CHECK(GATHER, T(F32, 2, 2), ARGS(T(F32, 2, 3), I(1), C(I32, two, 2)), FLOATS(1, 2, 3, 4, 5, 6), FLOATS(3, 1, 6, 4));
    CHECK(GATHER, T(Q, 2, 2, 3), ARGS(T(Q, 2, 3), I(-2), C(I32, four, 2, 2)), BYTES(1, 2, 3, 4, 5, 6),
          BYTES(4, 5, 6, 4, 5, 6, 1, 2, 3, 4, 5, 6));
    REFUSED(GATHER, T(F32, 2, 2), ARGS(T(F32, 2, 3), I(2), C(I32, two, 2)));
    REFUSED(GATHER, T(F32, 2, 3), ARGS(T(F32, 2, 3), I(1), C(I32, two, 2)));
    REFUSED(GATHER, T(F32, 2, 2), ARGS(T(F32, 2, 3), I(1), C(F32, two, 2)));
    CHECK(GATHER, T(F32, 1, 1, 1, 1, 1, 1, 2, 2), ARGS(T(F32, 1, 1, 1, 1, 1, 1, 2), I(6), C(I32, four, 2, 2)),
          FLOATS(5, 7), FLOATS(7, 7, 5, 7));
    REFUSED(GATHER, ANY(F32), ARGS(T(F32, 1, 1, 1, 1, 1, 1, 1, 2), I(7), C(I32, four, 2, 2)));
    FAILS(GATHER, T(F32, 2), ARGS(T(F32, 3), I(0), C(I32, outside, 2)), FLOATS(0, 0, 0));
}

static void test_pack(void **state) {
    (void)state;
    const float b[] = {3, 4};
    const uint8_t c[] = {5, 6};
    CHECK(PACK, T(F32, 2, 2), ARGS(I(1), T(F32, 2), C(F32, b, 2)), FLOATS(1, 2), FLOATS(1, 3, 2, 4));
    CHECK(PACK, T(Q, 2, 2), ARGS(I(0), T(Q, 2), C(Q, c, 2)), BYTES(1, 2), BYTES(1, 2, 5, 6));
    REFUSED(PACK, ANY(F32), ARGS(I(2), T(F32, 2), C(F32, b, 2)));
    REFUSED(PACK, ANY(F32), ARGS(I(-1), T(F32, 2), C(F32, b, 2)));
    REFUSED(PACK, T(F32, 2, 2), ARGS(I(0), T(F32, 2), C(F32, b, 2, 1)));
    REFUSED(PACK, T(F32, 2, 3), ARGS(I(0), T(F32, 3), C(F32, b, 2)));
    REFUSED(PACK, T(F32, 2, 2), ARGS(I(0), T(F32, 2), C(Q, c, 2)));
    REFUSED(PACK, T(Q, 2, 2), ARGS(I(0), T(Q, 2), C(U8(0.5f, 8), c, 2)));
    REFUSED(PACK, T(U8(0.5f, 8), 2, 2), ARGS(I(0), T(Q, 2), C(Q, c, 2)));
    REFUSED(PACK, T(F32, 3, 2), ARGS(I(0), T(F32, 2), C(F32, b, 2)));
}

static void test_expand_dims(void **state) {
    (void)state;
    CHECK(EXPAND_DIMS, T(I32, 2, 1), ARGS(T(I32, 2), I(-1)), WORDS(7, 8), WORDS(7, 8));
    ACCEPTED(EXPAND_DIMS, T(F32, 1, 2), ARGS(T(F32, 2), I(0)));
    ACCEPTED(EXPAND_DIMS, T(F32, 1, 2), ARGS(T(F32, 2), I(-2)));
    REFUSED(EXPAND_DIMS, T(F32, 1, 2), ARGS(T(F32, 2), I(1)));
    REFUSED(EXPAND_DIMS, T(F32, 1, 2), ARGS(T(F32, 2), I(2)));
    REFUSED(EXPAND_DIMS, T(F32, 1, 2), ARGS(T(F32, 2), I(-3)));
}

static void test_squeeze(void **state) {
    (void)state;
    CHECK(SQUEEZE, T(Q, 2, 1), ARGS(T(Q, 1, 2, 1), L(-3, 0)), BYTES(7, 8), BYTES(7, 8));
    ACCEPTED(SQUEEZE, T(Q, 2), ARGS(T(Q, 1, 2, 1), NO_LIST));
    ACCEPTED(SQUEEZE, T(Q, 1), ARGS(T(Q, 1, 1, 1), NO_LIST));
    REFUSED(SQUEEZE, T(Q, 2, 1), ARGS(T(Q, 1, 2, 1), NO_LIST));
    REFUSED(SQUEEZE, T(Q, 1, 1), ARGS(T(Q, 1, 2, 1), L(1)));
    REFUSED(SQUEEZE, T(Q, 2, 1), ARGS(T(Q, 1, 2, 1), L(3)));
    REFUSED(SQUEEZE, T(Q, 2, 1), ARGS(T(Q, 1, 2, 1), P(0, 0)));
    REFUSED(SQUEEZE, T(F32, 2), ARGS(T(Q, 1, 2), L(0)));
}

/** Without a list, extents that the request brings decide the rank. */
static void test_squeeze_of_request(void **state) {
    (void)state;
    struct net n = {0};
    const uint32_t x = input(&n, F32, DIMS(0, 0, 1)), y = output(&n, F32, 0, NULL);
    operation(&n, ANEURALNETWORKS_SQUEEZE, LIST(x, tensor(&n, NNVTS_NO_VALUE, I32, 0, NULL)), LIST(y));
    struct nnvts_prepared_model *p = prepare(cpu, &n);
    const float in[] = {7, 8};
    const uint32_t dims[] = {1, 2, 1};
    float out[2];
    struct call c = {0};
    give(&c, in, sizeof in);
    c.in[0].dimensions = dims;
    c.in[0].dimension_count = 3;
    take(&c, out, sizeof out);
    assert_int_equal(execute(p, &c), NNVTS_STATUS_NONE);
    assert_memory_equal(out, in, sizeof in);
    assert_int_equal(c.result.shapes[0].dimension_count, 1);
    assert_int_equal(c.dims[0][0], 2);
    p->release(p);
}

/* --------------------------------------------------------------------- images */

static void test_space_to_batch(void **state) {
    (void)state;
    CHECK(SPACE_TO_BATCH_ND, T(Q, 2, 1, 2, 1), ARGS(T(Q, 1, 1, 3, 1), L(1, 2), P(0, 0, 0, 1)), BYTES(5, 6, 7),
          BYTES(5, 7, 6, 9));
    CHECK(SPACE_TO_BATCH_ND, T(F32, 4, 1, 1, 1), ARGS(T(F32, 1, 2, 2, 1), L(2, 2), P(0, 0, 0, 0), B(0)),
          FLOATS(1, 2, 3, 4), FLOATS(1, 2, 3, 4));
    CHECK(SPACE_TO_BATCH_ND, T(F32, 2, 2, 1, 1), ARGS(T(F32, 1, 2, 1, 2), L(1, 2), P(0, 0, 0, 0), B(1)),
          FLOATS(1, 2, 3, 4), FLOATS(1, 3, 2, 4));
    CHECK(SPACE_TO_BATCH_ND, T(F32, 2, 2, 1, 1), ARGS(T(F32, 1, 1, 1, 1), L(2, 1), P(3, 0, 0, 0)), FLOATS(5),
          FLOATS(0, 0, 0, 5));
    REFUSED(SPACE_TO_BATCH_ND, T(F32, 2, 1, 1, 1), ARGS(T(F32, 1, 1, 3, 1), L(1, 2), P(0, 0, 0, 0)));
    REFUSED(SPACE_TO_BATCH_ND, T(F32, 2, 1, 2, 1), ARGS(T(F32, 1, 1, 4, 1), L(0, 2), P(0, 0, 0, 0)));
    REFUSED(SPACE_TO_BATCH_ND, T(F32, 2, 1, 2, 1), ARGS(T(F32, 1, 1, 4, 1), L(1, 2), P(0, 0, -1, 1)));
    REFUSED(SPACE_TO_BATCH_ND, T(F32, 2, 1, 2, 1), ARGS(T(F32, 1, 1, 4, 1), L(1, 2, 1), P(0, 0, 0, 0)));
    REFUSED(SPACE_TO_BATCH_ND, T(F32, 2, 1, 2, 1), ARGS(T(F32, 1, 1, 4, 1), L(1, 2), P(0, 0)));
    REFUSED(SPACE_TO_BATCH_ND, T(F32, 2, 2, 1), ARGS(T(F32, 1, 4, 1), L(1, 2), P(0, 0, 0, 0)));
    REFUSED(SPACE_TO_BATCH_ND, T(U8(1, 0), 2, 1, 2, 1), ARGS(T(U8(1, 9), 1, 1, 4, 1), L(1, 2), P(0, 0, 0, 0)));
}

static void test_batch_to_space(void **state) {
    (void)state;
    CHECK(BATCH_TO_SPACE_ND, T(Q, 2, 1, 2, 1), ARGS(T(Q, 4, 1, 1, 1), L(1, 2)), BYTES(1, 2, 3, 4), BYTES(1, 3, 2, 4));
    CHECK(BATCH_TO_SPACE_ND, T(F32, 1, 2, 2, 1), ARGS(T(F32, 2, 2, 1, 1), L(1, 2), B(0)), FLOATS(1, 2, 3, 4),
          FLOATS(1, 3, 2, 4));
    CHECK(BATCH_TO_SPACE_ND, T(F32, 1, 2, 1, 2), ARGS(T(F32, 2, 2, 1, 1), L(1, 2), B(1)), FLOATS(1, 2, 3, 4),
          FLOATS(1, 3, 2, 4));
    REFUSED(BATCH_TO_SPACE_ND, T(F32, 1, 2, 2, 1), ARGS(T(F32, 3, 2, 1, 1), L(1, 2)));
    REFUSED(BATCH_TO_SPACE_ND, T(F32, 1, 2, 2, 1), ARGS(T(F32, 2, 2, 1, 1), L(1, -2)));
    REFUSED(BATCH_TO_SPACE_ND, T(F32, 1, 2, 2, 1), ARGS(T(F32, 2, 2, 1, 1), L(1)));
    REFUSED(BATCH_TO_SPACE_ND, T(F32, 1, 2, 2, 1), ARGS(T(F32, 2, 2, 1, 1), L(2, 1)));
}

/** The extents differ, so that width and height can't be taken for each other. */
static void test_resize_nearest(void **state) {
    (void)state;
    CHECK(RESIZE_NEAREST_NEIGHBOR, T(Q, 1, 1, 4, 1), ARGS(T(Q, 1, 1, 2, 1), I(4), I(1), B(0)), BYTES(4, 8),
          BYTES(4, 4, 8, 8));
    CHECK(RESIZE_NEAREST_NEIGHBOR, T(F32, 1, 2, 2, 3), ARGS(T(F32, 1, 2, 1, 2), R(1.5f), R(2), B(1)),
          FLOATS(1, 2, 3, 4), FLOATS(1, 1, 2, 1, 1, 2, 3, 3, 4, 3, 3, 4));
    /* 2 to 4, corners aligned: 0, 1/3, 2/3, 1 */
    CHECK(RESIZE_NEAREST_NEIGHBOR, T(F32, 1, 4, 1, 1), ARGS(T(F32, 1, 2, 1, 1), I(1), I(4), B(0), B(1)), FLOATS(1, 2),
          FLOATS(1, 1, 2, 2));
    /* 3 to 2: places 0, 1.5; 0, 2; 0.75, 2.25 */
    CHECK(RESIZE_NEAREST_NEIGHBOR, T(F32, 1, 2, 1, 1), ARGS(T(F32, 1, 3, 1, 1), I(1), I(2), B(0), B(0)),
          FLOATS(1, 2, 3), FLOATS(1, 2));
    CHECK(RESIZE_NEAREST_NEIGHBOR, T(F32, 1, 2, 1, 1), ARGS(T(F32, 1, 3, 1, 1), I(1), I(2), B(0), B(1)),
          FLOATS(1, 2, 3), FLOATS(1, 3));
    CHECK(RESIZE_NEAREST_NEIGHBOR, T(F32, 1, 2, 1, 1), ARGS(T(F32, 1, 3, 1, 1), I(1), I(2), B(0), B(0), B(1)),
          FLOATS(1, 2, 3), FLOATS(1, 3));
    REFUSED(RESIZE_NEAREST_NEIGHBOR, T(F32, 1, 2, 1, 1), ARGS(T(F32, 1, 3, 1, 1), I(1), I(2), B(0), B(1), B(1)));
    REFUSED(RESIZE_NEAREST_NEIGHBOR, T(F32, 1, 2, 1, 1), ARGS(T(F32, 1, 3, 1, 1), I(0), I(2), B(0)));
    REFUSED(RESIZE_NEAREST_NEIGHBOR, T(F32, 1, 2, 1, 1), ARGS(T(F32, 1, 3, 1, 1), R(1), R(0.2f), B(0)));
    /* 3 * 0.2 is no row */
    REFUSED(RESIZE_NEAREST_NEIGHBOR, T(F32, 1, 0, 0, 1), ARGS(T(F32, 1, 3, 1, 1), R(1), R(0.2f), B(0)));
    ACCEPTED(RESIZE_NEAREST_NEIGHBOR, T(F32, 1, 0, 0, 1), ARGS(T(F32, 1, 3, 1, 1), R(1), R(0.4f), B(0)));
    REFUSED(RESIZE_NEAREST_NEIGHBOR, T(F32, 1, 2, 1, 1), ARGS(T(F32, 1, 3, 1, 1), I(1), I(2)));
    REFUSED(RESIZE_NEAREST_NEIGHBOR, T(F32, 1, 2, 1), ARGS(T(F32, 1, 3, 1), I(1), I(2), B(0)));
    REFUSED(RESIZE_NEAREST_NEIGHBOR, T(U8(1, 9), 1, 2, 1, 1), ARGS(T(Q, 1, 3, 1, 1), I(1), I(2), B(0)));
}

/* The values that decide the extents come with the request, but the rank is known before. */
static void test_rank_without_values(void **state) {
    (void)state;
#define RANK_OF(CODE, KIND, Y, LESS, ...)                                                                              \
    ACCEPTED(CODE, Y, __VA_ARGS__);                                                                                    \
    ACCEPTED(CODE, ANY(KIND), __VA_ARGS__);                                                                            \
    REFUSED(CODE, LESS, __VA_ARGS__)
    const struct arg x = T(F32, 2, 3), image = T(F32, 2, 4, 4, 1), y = T(F32, 0, 0), flat = T(F32, 0);
    const struct arg image_y = T(F32, 0, 0, 0, 0), image_flat = T(F32, 0, 0, 0), list = T(I32, 2), pads = T(I32, 2, 2);
    RANK_OF(SLICE, F32, y, flat, ARGS(x, list, list));
    RANK_OF(STRIDED_SLICE, F32, y, flat, ARGS(x, list, list, list, I(0), I(0), I(0)));
    RANK_OF(STRIDED_SLICE, F32, flat, y, ARGS(x, list, list, list, I(0), I(0), I(1)));
    RANK_OF(STRIDED_SLICE, F32, flat, y, ARGS(x, list, list, list, I(0), I(0), I(3)));
    RANK_OF(REVERSE, F32, y, flat, ARGS(x, T(I32, 1)));
    RANK_OF(PAD, F32, y, flat, ARGS(x, pads));
    RANK_OF(PAD_V2, F32, y, flat, ARGS(x, pads, R(1)));
    RANK_OF(MIRROR_PAD, F32, y, flat, ARGS(x, pads, I(0)));
    RANK_OF(TRANSPOSE, F32, y, flat, ARGS(x, list));
    RANK_OF(TILE, F32, y, flat, ARGS(x, list));
    RANK_OF(RESHAPE, F32, y, flat, ARGS(x, list));
    RANK_OF(FILL, F32, y, flat, ARGS(list, R(1)));
    RANK_OF(SPACE_TO_BATCH_ND, F32, image_y, image_flat, ARGS(image, list, pads));
    RANK_OF(BATCH_TO_SPACE_ND, F32, image_y, image_flat, ARGS(image, list));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_slice),
        cmocka_unit_test(test_strided_slice),
        cmocka_unit_test(test_split),
        cmocka_unit_test(test_reverse),
        cmocka_unit_test(test_pad),
        cmocka_unit_test(test_mirror_pad),
        cmocka_unit_test(test_pad_of_request),
        cmocka_unit_test(test_transpose),
        cmocka_unit_test(test_transpose_orders),
        cmocka_unit_test(test_tile),
        cmocka_unit_test(test_channel_shuffle),
        cmocka_unit_test(test_gather),
        cmocka_unit_test(test_pack),
        cmocka_unit_test(test_expand_dims),
        cmocka_unit_test(test_squeeze),
        cmocka_unit_test(test_squeeze_of_request),
        cmocka_unit_test(test_space_to_batch),
        cmocka_unit_test(test_batch_to_space),
        cmocka_unit_test(test_resize_nearest),
        cmocka_unit_test(test_rank_without_values),
    };
    return cmocka_run_group_tests(tests, open_cpu, close_cpu);
}
