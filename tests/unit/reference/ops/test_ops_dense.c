/* SPDX-License-Identifier: Apache-2.0 */
/* ADD, MUL, RELU, RELU1, RELU6, FLOOR, DEQUANTIZE, FULLY_CONNECTED and the pools. */
#include "tests/kit/op.h"

enum { SAME = ANEURALNETWORKS_PADDING_SAME, VALID = ANEURALNETWORKS_PADDING_VALID };

/* ------------------------------------------------------------- ADD and MUL */

static struct use *binary(int32_t code, int32_t type, uint32_t ra, const uint32_t *da, const double *a, uint32_t rb,
                          const uint32_t *db, const double *b, int32_t act) {
    struct use *u = use_new(code);
    use_in(u, type, ra, da, a);
    if (nnv_is_quant(type)) use_quant(u, 0.5, 10);
    use_in(u, type, rb, db, b);
    if (nnv_is_quant(type)) use_quant(u, 0.25, -4 + (type == Q8 ? 128 : 0));
    use_scalar(u, INT, act);
    use_out(u, type);
    if (nnv_is_quant(type)) use_quant(u, 1, 20);
    return u;
}

static void test_broadcast(void **state) {
    (void)state;
    struct use *u = binary(ANEURALNETWORKS_ADD, F32, D(2, 1, 3), V(1, 2, 3, 4, 5, 6), D(2, 1), V(10, 20), 0);
    use_expect(u, 0, D(2, 2, 3), V(11, 12, 13, 21, 22, 23, 14, 15, 16, 24, 25, 26), 0);
    use_free(u);
    u = binary(ANEURALNETWORKS_MUL, F16, D(3), V(1, 2, 3), D(2, 2, 1, 1), V(1, 10, 100, 1000), 0);
    use_expect(u, 0, D(2, 2, 1, 3), V(1, 2, 3, 10, 20, 30, 100, 200, 300, 1000, 2000, 3000), 0);
    use_free(u);
    u = binary(ANEURALNETWORKS_MUL, F32, D(2, 2), V(1, 2, 3, 4), D(1), V(-2), ANEURALNETWORKS_FUSED_RELU);
    use_expect(u, 0, D(2, 2), V(0, 0, 0, 0), 0);
    use_free(u);
    u = binary(ANEURALNETWORKS_ADD, F32, D(2, 3), V(1, 2, 3, 4, 5, 6), D(2), V(1, 2), 0);
    use_refuse(u, "cannot be broadcast");
    use_free(u);
}

static void test_binary_quantised(void **state) {
    (void)state;
    /* a = (q-10)/2, b = (q-124)/4, y + 20 */
    struct use *u = binary(ANEURALNETWORKS_ADD, Q8, D(3), V(20, 11, 250), D(3), V(128, 125, 255), 0);
    use_expect(u, 0, D(3), V(26, 21, 173), 0); /* 5+1, 0.5+0.25 -> 1, 120+32.75 -> 153 */
    use_free(u);
    u = binary(ANEURALNETWORKS_MUL, Q8S, D(3), V(20, 11, -128), D(3), V(0, 2, -128), ANEURALNETWORKS_FUSED_RELU6);
    use_expect(u, 0, D(3), V(25, 21, 26), 0); /* 5*1, 0.5*1.5 -> 1, 69*31 -> 6 */
    assert_int_equal(u->level, 4);
    use_free(u);
}

static void test_binary_refusals(void **state) {
    (void)state;
    struct use *u = binary(ANEURALNETWORKS_MUL, Q8, D(1), V(20), D(1), V(128), 0);
    use_quant(u, 0.125, 20);
    use_refuse(u, "output scale 0.125 is not above 0.125");
    use_free(u);
    u = binary(ANEURALNETWORKS_ADD, I32, D(1), V(20), D(1), V(128), ANEURALNETWORKS_FUSED_RELU);
    use_refuse(u, "int32 tensors take none");
    use_free(u);
    u = binary(ANEURALNETWORKS_ADD, I32, D(2), V(20, -5), D(1), V(-128), 0);
    use_expect(u, 0, D(2), V(-108, -133), 0);
    assert_int_equal(u->level, 4);
    use_free(u);
    u = binary(ANEURALNETWORKS_ADD, F32, D(1, 1, 1, 1, 1), V(1), D(1), V(1), 0);
    use_refuse(u, "rank 5 is above 4");
    use_free(u);
}

/* ------------------------------------------------------------- elementwise */

static void unary(int32_t code, int32_t type, const double *x, const double *y) {
    struct use *u = use_new(code);
    bool quant = nnv_is_quant(type);
    use_in(u, type, D(5), x);
    if (quant) use_quant(u, 0.25, 10);
    use_out(u, type);
    if (quant) use_quant(u, 0.25, 10);
    use_expect(u, 0, D(5), y, 0);
    assert_true(use_spread(u, 0) == 0);
    use_free(u);
}

static void test_relus(void **state) {
    (void)state;
    unary(ANEURALNETWORKS_RELU, F32, V(-1, 0, 0.5, 7, 1e30), V(0, 0, 0.5, 7, (double)1e30f));
    unary(ANEURALNETWORKS_RELU1, F16, V(-3, -1, 0.5, 1, 7), V(-1, -1, 0.5, 1, 1));
    unary(ANEURALNETWORKS_RELU6, F32, V(-1, 0, 5.5, 6, 6.5), V(0, 0, 5.5, 6, 6));
    unary(ANEURALNETWORKS_RELU, Q8, V(0, 9, 10, 11, 255), V(10, 10, 10, 11, 255));
    unary(ANEURALNETWORKS_RELU1, Q8S, V(-128, 5, 6, 14, 15), V(6, 6, 6, 14, 14));
    unary(ANEURALNETWORKS_RELU6, Q8, V(0, 10, 33, 34, 35), V(10, 10, 33, 34, 34));
    unary(ANEURALNETWORKS_FLOOR, F16, V(-1.5, -1, 0.75, 2, -0.25), V(-2, -1, 0, 2, -1));
}

static void test_relu_keeps_quantisation(void **state) {
    (void)state;
    struct use *u = use_new(ANEURALNETWORKS_RELU);
    use_in(u, Q8, D(1), V(3));
    use_quant(u, 0.25, 10);
    use_out(u, Q8);
    use_quant(u, 0.25, 11);
    use_refuse(u, "zero point 11, expected 10");
    use_free(u);
}

static struct use *dequantize(int32_t from, int32_t to, const double *x) {
    struct use *u = use_new(ANEURALNETWORKS_DEQUANTIZE);
    use_in(u, from, D(2, 3), x);
    use_quant(u, 0.1, from == Q8 ? 128 : 0);
    use_out(u, to);
    return u;
}

static void test_dequantize(void **state) {
    (void)state;
    double s = (double)0.1f;
    struct use *u = dequantize(Q8, F32, V(128, 129, 0, 255, 127, 131));
    use_expect(u, 0, D(2, 3), V(0, s, (double)(float)(-128 * s), (double)(float)(127 * s), -s, (double)(float)(3 * s)),
               0);
    assert_true(use_spread(u, 0) < 2e-6);
    use_free(u);
    u = dequantize(Q8S, F16, V(0, 1, -128, 127, -1, 3));
    double h = 0x1p-14 * 1638; /* 0.1 in float16 */
    use_expect(u, 0, D(2, 3), V(0, h, -12.796875, 12.703125, -h, 0x1p-12 * 1229), 0);
    assert_int_equal(u->level, 4);
    use_free(u);
    static float scales[] = {1, 0.5f, 0.25f};
    u = dequantize(ANEURALNETWORKS_TENSOR_QUANT8_SYMM_PER_CHANNEL, F32, V(1, 2, 3, 4, 5, -6));
    u->operands[0].scale = 0;
    u->operands[0].channel = (struct nnv_channel_quant){.dim = 1, .count = 3, .scales = scales};
    use_expect(u, 0, D(2, 3), V(1, 1, 0.75, 4, 2.5, -1.5), 0);
    u->operands[0].channel = (struct nnv_channel_quant){.dim = 0, .count = 2, .scales = scales};
    use_expect(u, 0, D(2, 3), V(1, 2, 3, 2, 2.5, -3), 0);
    use_free(u);
}

/* --------------------------------------------------------- FULLY_CONNECTED */

static struct use *connected(int32_t type, uint32_t rank, const uint32_t *dims, const double *x, const double *w,
                             const double *b) {
    struct use *u = use_new(ANEURALNETWORKS_FULLY_CONNECTED);
    bool quant = nnv_is_quant(type);
    use_in(u, type, rank, dims, x);
    if (quant) use_quant(u, 0.5, 0);
    use_in(u, type, D(2, 3), w);
    if (quant) use_quant(u, 0.5, 1);
    use_in(u, quant ? I32 : type, D(2), b);
    if (quant) use_quant(u, 0.25, 0);
    use_scalar(u, INT, 0);
    use_out(u, type);
    if (quant) use_quant(u, 1, -7);
    return u;
}

static void test_fully_connected(void **state) {
    (void)state;
    struct use *u = connected(F32, D(2, 3), V(1, 2, 3, 4, 5, 6), V(1, 10, 100, 1, 1, 1), V(0.5, -1));
    use_expect(u, 0, D(2, 2), V(321.5, 5, 654.5, 14), 0);
    use_free(u);
    u = connected(F16, D(1, 2, 1, 3), V(1, 2, 3, 4, 5, 6), V(1, 10, 100, 1, 1, 1), V(0.5, -1));
    use_expect(u, 0, D(2, 2), V(321.5, 5, 654.5, 14), 0); /* rows come from the weights, not from the batch */
    use_free(u);
    u = connected(Q8S, D(1, 3), V(2, 4, 6), V(3, 5, 1, 0, 0, 0), V(4, -2));
    use_expect(u, 0, D(1, 2), V(0 - 7 + 6, -4 - 7), 0); /* 1*1+2*2+3*0+1 = 6; -0.5*6 - 0.5 = -3.5 */
    use_free(u);
    u = connected(F32, D(2, 2), V(1, 2, 3, 4), V(1, 10, 100, 1, 1, 1), V(0, 0));
    use_refuse(u, "4 input elements can't be divided into rows of 3");
    use_free(u);
    u = connected(F32, D(0, 3), V(0), V(1, 10, 100, 1, 1, 1), V(0, 0));
    u->operands[0].dims[0] = 0;
    use_expect(u, 0, D(0, 2), V(0), 0);
    use_free(u);
}

/* 2 * (3 - 1) + 4 * (5 - 1) and a bias is INT32: what leaves it is not compared. */
static void test_quantised_sums_are_int32(void **state) {
    (void)state;
    static const double bias[][2] = {{INT32_MAX - 20, INT32_MAX - 19}, {0, -2}};
    for (size_t i = 0; i < 2; i++) {
        struct use *u = connected(Q8S, D(1, 3), V(2, 4, 6), V(3, 5, 1, 3, 5, 1), bias[i]);
        use_spread(u, 0);
        assert_int_equal(isnan(u->results[0].spread[1]), i == 0);
        assert_false(isnan(u->results[0].spread[0]));
        use_free(u);
    }
}

/* ------------------------------------------------------------------- pools */

struct pool {
    int scheme, left, right, top, bottom, sw, sh, fw, fh, act;
    bool nchw;
};

static struct use *pool(int32_t code, int32_t type, const uint32_t dims[4], const double *x, const struct pool *p) {
    struct use *u = use_new(code);
    int pads[] = {p->left, p->right, p->top, p->bottom}, rest[] = {p->sw, p->sh, p->fw, p->fh, p->act};
    use_in(u, type, 4, dims, x);
    if (nnv_is_quant(type)) use_quant(u, 0.5, 3);
    if (p->scheme) use_scalar(u, INT, p->scheme);
    for (int i = 0; i < 4 && !p->scheme; i++) use_scalar(u, INT, pads[i]);
    for (int i = 0; i < 5; i++) use_scalar(u, INT, rest[i]);
    if (p->nchw) use_scalar(u, BOOL, 1);
    use_out(u, type);
    if (nnv_is_quant(type)) use_quant(u, 0.5, 3);
    return u;
}

static const uint32_t image[4] = {1, 2, 3, 1};

static void test_average_counts_only_the_inside(void **state) {
    (void)state;
    struct pool p = {.scheme = SAME, .sw = 1, .sh = 1, .fw = 2, .fh = 2};
    struct use *u = pool(ANEURALNETWORKS_AVERAGE_POOL_2D, F32, image, V(1, 2, 3, 4, 5, 7), &p);
    use_expect(u, 0, D(1, 2, 3, 1), V(3, 4.25, 5, 4.5, 6, 7), 0);
    use_free(u);
    p = (struct pool){.left = 1, .top = 1, .sw = 2, .sh = 1, .fw = 2, .fh = 2};
    u = pool(ANEURALNETWORKS_AVERAGE_POOL_2D, F32, image, V(1, 2, 3, 4, 5, 7), &p);
    use_expect(u, 0, D(1, 2, 2, 1), V(1, 2.5, 2.5, 4.25), 0);
    use_free(u);
}

static void test_average_quantised(void **state) {
    (void)state;
    struct pool p = {.scheme = VALID, .sw = 1, .sh = 1, .fw = 2, .fh = 1};
    struct use *u = pool(ANEURALNETWORKS_AVERAGE_POOL_2D, Q8, image, V(4, 5, 5, 0, 1, 3), &p);
    use_expect(u, 0, D(1, 2, 2, 1), V(5, 5, 0, 2), 0); /* 1.5 and -2.5: ties away from zero; 2; -1 */
    (void)use_spread(u, 0);
    const double *s = u->results[0].spread;
    assert_true(s[0] == 1 && s[1] == 0 && s[2] == 1 && s[3] == 0);
    use_free(u);
}

static void test_max_ignores_padding(void **state) {
    (void)state;
    struct pool p = {.left = 1, .right = 1, .top = 0, .bottom = 1, .sw = 1, .sh = 1, .fw = 2, .fh = 2};
    struct use *u = pool(ANEURALNETWORKS_MAX_POOL_2D, F32, image, V(-1, -2, -3, -4, -5, -7), &p);
    use_expect(u, 0, D(1, 2, 4, 1), V(-1, -1, -2, -3, -4, -4, -5, -7), 0);
    assert_true(use_spread(u, 0) == 0);
    use_free(u);
    u = pool(ANEURALNETWORKS_MAX_POOL_2D, Q8S, image, V(-1, -2, -3, -4, -5, -7), &p);
    use_expect(u, 0, D(1, 2, 4, 1), V(-1, -1, -2, -3, -4, -4, -5, -7), 0);
    assert_true(use_spread(u, 0) == 0);
    use_free(u);
}

static void test_pool_layout(void **state) {
    (void)state;
    static const uint32_t dims[4] = {1, 2, 2, 3};
    const double *x = V(1, 2, 3, 4, 5, 6, 10, 20, 30, 40, 50, 60);
    struct pool p = {.scheme = VALID, .sw = 2, .sh = 1, .fw = 2, .fh = 1, .nchw = true};
    struct use *u = pool(ANEURALNETWORKS_MAX_POOL_2D, F32, dims, x, &p);
    use_expect(u, 0, D(1, 2, 2, 1), V(2, 5, 20, 50), 0);
    use_free(u);
    p.nchw = false;
    p.fh = 2;
    p.fw = 1;
    u = pool(ANEURALNETWORKS_AVERAGE_POOL_2D, F16, dims, x, &p);
    use_expect(u, 0, D(1, 1, 1, 3), V(5.5, 11, 16.5), 0);
    use_free(u);
}

static void test_l2_pool(void **state) {
    (void)state;
    struct pool p = {.scheme = SAME, .sw = 2, .sh = 2, .fw = 2, .fh = 2, .act = ANEURALNETWORKS_FUSED_RELU6};
    struct use *u = pool(ANEURALNETWORKS_L2_POOL_2D, F32, image, V(1, -7, 5, -5, 5, 12), &p);
    use_expect(u, 0, D(1, 1, 2, 1), V(5, 6), 1e-6); /* sqrt((1+49+25+25)/4), sqrt((25+144)/2) clamped */
    assert_true(use_spread(u, 0) > 0 && use_spread(u, 0) < 1e-5);
    use_free(u);
    u = pool(ANEURALNETWORKS_L2_POOL_2D, F32, image, V(0, 0, 0, 0, 0, 0), &p);
    use_expect(u, 0, D(1, 1, 2, 1), V(0, 0), 0);
    use_free(u);
}

static void test_pool_refusals(void **state) {
    (void)state;
    struct pool p = {.left = 2, .sw = 1, .sh = 1, .fw = 2, .fh = 1};
    struct use *u = pool(ANEURALNETWORKS_MAX_POOL_2D, F32, image, V(1, 2, 3, 4, 5, 6), &p);
    use_refuse(u, "width: padding 2 reaches the effective filter of 2");
    use_free(u);
    p = (struct pool){.scheme = VALID, .sw = 1, .sh = 1, .fw = 2, .fh = 3};
    u = pool(ANEURALNETWORKS_MAX_POOL_2D, F32, image, V(1, 2, 3, 4, 5, 6), &p);
    use_refuse(u, "height: the output would be empty");
    use_free(u);
    p.fh = 1;
    u = pool(ANEURALNETWORKS_L2_POOL_2D, Q8, image, V(1, 2, 3, 4, 5, 6), &p);
    use_refuse(u, "TENSOR_QUANT8_ASYMM is not accepted");
    use_free(u);
    u = pool(ANEURALNETWORKS_AVERAGE_POOL_2D, Q8, image, V(1, 2, 3, 4, 5, 6), &p);
    use_quant(u, 0.25, 3);
    use_refuse(u, "scale 0.25, expected 0.5");
    use_free(u);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_broadcast),
        cmocka_unit_test(test_binary_quantised),
        cmocka_unit_test(test_binary_refusals),
        cmocka_unit_test(test_relus),
        cmocka_unit_test(test_relu_keeps_quantisation),
        cmocka_unit_test(test_dequantize),
        cmocka_unit_test(test_fully_connected),
        cmocka_unit_test(test_quantised_sums_are_int32),
        cmocka_unit_test(test_average_counts_only_the_inside),
        cmocka_unit_test(test_average_quantised),
        cmocka_unit_test(test_max_ignores_padding),
        cmocka_unit_test(test_pool_layout),
        cmocka_unit_test(test_l2_pool),
        cmocka_unit_test(test_pool_refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
