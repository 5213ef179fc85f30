/* SPDX-License-Identifier: Apache-2.0 */
/* LOGISTIC, TANH, SOFTMAX, the normalisations, RESIZE_BILINEAR, LSH_PROJECTION. */
#include "reference/model/builder.h"
#include "tests/kit/op.h"

#include "reference/ops/lookup/farmhash.h"

/* ------------------------------------------------------------------ LOGISTIC, TANH */

static void unary(int32_t code, int32_t type, const double *x, const double *y, double out_scale, int32_t out_zero,
                  double tolerance, int level) {
    struct use *u = use_new(code);
    use_in(u, type, D(1, 5), x);
    if (nnv_is_quant(type)) use_quant(u, 0.25, type == Q8 ? 100 : -28);
    use_out(u, type);
    use_quant(u, out_scale, out_zero);
    use_expect(u, 0, D(1, 5), y, tolerance);
    assert_int_equal(u->level, level < 3 ? 3 : level); /* the output has no rank */
    use_free(u);
}

static void logistic(void **state) {
    (void)state;
    const double *x = V(-8, -1, 0, 0.5, 8);
    const double *y = V(0.00033535013, 0.26894142137, 0.5, 0.62245933120, 0.99966464987);
    unary(ANEURALNETWORKS_LOGISTIC, F32, x, y, 0, 0, 6e-8, 1);
    unary(ANEURALNETWORKS_LOGISTIC, F16, x, y, 0, 0, 0.0003, 3);
    /* real -4 -1 0 0.5 7.75; the last one saturates */
    unary(ANEURALNETWORKS_LOGISTIC, Q8, V(84, 96, 100, 102, 131), V(5, 69, 128, 159, 255), 1.0 / 256, 0, 0, 1);
    unary(ANEURALNETWORKS_LOGISTIC, Q8S, V(-44, -32, -28, -26, 3), V(-123, -59, 0, 31, 127), 1.0 / 256, -128, 0, 4);
}

static void hyperbolic(void **state) {
    (void)state;
    const double *x = V(-3, -0.5, 0, 0.25, 2), *y = V(-0.99505475369, -0.46211715726, 0, 0.24491866240, 0.96402758008);
    unary(ANEURALNETWORKS_TANH, F32, x, y, 0, 0, 6e-8, 1);
    unary(ANEURALNETWORKS_TANH, F16, x, y, 0, 0, 0.0003, 3);
    unary(ANEURALNETWORKS_TANH, Q8, V(84, 96, 100, 102, 131), V(0, 31, 128, 187, 255), 1.0 / 128, 128, 0, 3);
    unary(ANEURALNETWORKS_TANH, Q8S, V(-44, -32, -28, -26, 3), V(-128, -97, 0, 59, 127), 1.0 / 128, 0, 0, 4);
}

static void unary_refusals(void **state) {
    (void)state;
    struct use *u = use_new(ANEURALNETWORKS_LOGISTIC);
    use_in(u, Q8, D(1), V(0));
    use_quant(u, 1, 0);
    use_out(u, Q8);
    use_quant(u, 1.0 / 128, 0);
    use_refuse(u, "scale 0.0078125, expected 0.00390625");
    use_free(u);
    u = use_new(ANEURALNETWORKS_TANH);
    use_in(u, F32, D(1, 1, 1, 1, 1), V(0));
    use_out(u, F32);
    use_refuse(u, "rank 5 is above 4");
    use_free(u);
}

static void unary_noise(void **state) {
    (void)state;
    struct use *u = use_new(ANEURALNETWORKS_TANH);
    use_in(u, F32, D(2), V(0.5, -1));
    use_out(u, F32);
    double spread = use_spread(u, 0); /* 5 ulps of at most 2^-23, and the store */
    assert_true(spread > 3e-7 && spread < 6.5e-7);
    use_free(u);
}

/* ------------------------------------------------------------------------ SOFTMAX */

static struct use *softmax(int32_t type, uint32_t rank, const uint32_t *dims, const double *x, double beta, int axis) {
    struct use *u = use_new(ANEURALNETWORKS_SOFTMAX);
    use_in(u, type, rank, dims, x);
    use_scalar(u, type == F16 ? HALF : FLT, beta);
    if (axis < 100) use_scalar(u, INT, axis);
    use_out(u, type);
    return u;
}

static void softmax_values(void **state) {
    (void)state;
    const double *y = V(0.09003057317, 0.24472847105, 0.66524095577);
    struct use *u = softmax(F32, D(1, 3), V(1, 2, 3), 1, 100);
    use_expect(u, 0, D(1, 3), y, 6e-8);
    use_free(u);
    u = softmax(F32, D(3, 1), V(1001, 1002, 1003), 1, 0); /* the maximum is subtracted */
    use_expect(u, 0, D(3, 1), y, 6e-8);
    use_free(u);
    u = softmax(F16, D(3), V(1, 2, 4), 0.5, -1);
    use_expect(u, 0, D(3), V(0.14024438317, 0.23122389762, 0.62853171922), 0.0003);
    assert_int_equal(u->level, 3);
    use_free(u);
    /* Lines along the first axis: columns (1,2) and (5,5). */
    u = softmax(F32, D(2, 2), V(1, 5, 2, 5), 1, -2);
    use_expect(u, 0, D(2, 2), V(0.26894142137, 0.5, 0.73105857863, 0.5), 6e-8);
    assert_true(use_spread(u, 0) > 0);
    use_free(u);
}

static void softmax_quant8(void **state) {
    (void)state;
    struct use *u = use_new(ANEURALNETWORKS_SOFTMAX);
    use_in(u, Q8, D(1, 4), V(2, 10, 12, 16)); /* real -4 0 1 3 */
    use_quant(u, 0.5, 10);
    use_scalar(u, FLT, 2);
    use_out(u, Q8);
    use_quant(u, 1.0 / 256, 0);
    use_expect(u, 0, D(1, 4), V(0, 1, 5, 251), 0);
    use_quant(u, 1.0 / 256, 1);
    use_refuse(u, "zero point 1, expected 0");
    use_free(u);
}

static void softmax_empty(void **state) {
    (void)state;
    struct use *u = softmax(F32, D(0, 3), NULL, 1, 100);
    use_expect(u, 0, D(0, 3), NULL, 0);
    use_free(u);
}

static void softmax_refusals(void **state) {
    (void)state;
    struct use *u = softmax(F32, D(1, 2), V(1, 2), 0, 100);
    use_refuse(u, "not above 0");
    use_free(u);
    u = softmax(F32, D(1, 2), V(1, 2), 1, 2);
    use_refuse(u, "2 is not an axis of a tensor of rank 2");
    use_free(u);
    u = softmax(F32, D(1, 2), V(1, 2), 1, -3);
    use_refuse(u, "not an axis");
    use_free(u);
}

/* ------------------------------------------------------------------ normalisations */

static struct use *l2(int32_t type, uint32_t rank, const uint32_t *dims, const double *x, int axis) {
    struct use *u = use_new(ANEURALNETWORKS_L2_NORMALIZATION);
    use_in(u, type, rank, dims, x);
    if (nnv_is_quant(type)) use_quant(u, 0.125, type == Q8 ? 128 : 0);
    if (axis < 100) use_scalar(u, INT, axis);
    use_out(u, type);
    if (nnv_is_quant(type)) use_quant(u, 1.0 / 128, type == Q8 ? 128 : 0);
    return u;
}

static void l2_values(void **state) {
    (void)state;
    struct use *u = l2(F32, D(1, 1, 2, 2), V(3, -4, 0, 0), 100);
    use_expect(u, 0, D(1, 1, 2, 2), V(0.6, -0.8, 0, 0), 6e-8); /* a line of zeros gives zeros */
    assert_int_equal(u->level, 3);
    double spread = use_spread(u, 0);
    assert_true(spread > 0 && spread < 1e-6);
    use_free(u);
    u = l2(F16, D(2, 2), V(3, 5, 4, 12), 0);
    use_expect(u, 0, D(2, 2), V(0.6, 5 / 13.0, 0.8, 12 / 13.0), 0.0005);
    use_free(u);
    u = l2(Q8, D(2), V(134, 120), -1); /* 6 and -8 units: 76.8 and -102.4 */
    use_expect(u, 0, D(2), V(205, 26), 0);
    use_free(u);
    u = l2(Q8S, D(1, 2), V(6, -8), -1);
    use_expect(u, 0, D(1, 2), V(77, -102), 0);
    assert_int_equal(u->level, 4);
    use_free(u);
}

static void l2_hazard(void **state) {
    (void)state;
    /* Nearly zero: what comes out is the implementation's affair. */
    struct use *u = l2(F32, D(2), V(1e-7, 1e-7), 100);
    assert_true(isnan(use_spread(u, 0)));
    use_free(u);
    u = l2(F32, D(2), V(0, 0), 100);
    assert_true(use_spread(u, 0) == 0);
    use_free(u);
}

static struct use *lrn(int32_t type, uint32_t rank, const uint32_t *dims, const double *x, int radius, double bias,
                       double alpha, double beta, int axis) {
    int32_t scalar = type == F16 ? HALF : FLT;
    struct use *u = use_new(ANEURALNETWORKS_LOCAL_RESPONSE_NORMALIZATION);
    use_in(u, type, rank, dims, x);
    use_scalar(u, INT, radius);
    use_scalar(u, scalar, bias);
    use_scalar(u, scalar, alpha);
    use_scalar(u, scalar, beta);
    if (axis < 100) use_scalar(u, INT, axis);
    use_out(u, type);
    return u;
}

static void lrn_values(void **state) {
    (void)state;
    /* Sums of squares 5, 14, 29, 25. */
    const double *y = V(0.32366118114, 0.38490017946, 0.36644457497, 0.53831191135);
    struct use *u = lrn(F32, D(1, 1, 1, 4), V(1, 2, 3, 4), 1, 2, 0.5, 0.75, 100);
    use_expect(u, 0, D(1, 1, 1, 4), y, 6e-8);
    double spread = use_spread(u, 0);
    assert_true(spread > 0 && spread < 1e-6);
    use_free(u);
    u = lrn(F16, D(4, 1), V(1, 2, 3, 4), 1, 2, 0.5, 0.75, 0);
    use_expect(u, 0, D(4, 1), y, 0.0003);
    use_free(u);
    u = lrn(F32, D(2), V(1, 2), 0, 1, 1, 0.5, -1);
    use_expect(u, 0, D(2), V(0.70710678119, 0.89442719100), 6e-8);
    use_free(u);
    u = lrn(F32, D(2), V(1, 2), INT32_MAX, 0, 1, 0.5, -1); /* all of the axis */
    use_expect(u, 0, D(2), V(0.44721359550, 0.89442719100), 6e-8);
    use_free(u);
}

static void lrn_edges(void **state) {
    (void)state;
    struct use *u = lrn(F32, D(2), V(1, 2), -1, 1, 1, 0.5, -1);
    use_refuse(u, "-1 is negative");
    use_free(u);
    u = lrn(F32, D(1), V(0.5), 1, -1, 1, -1, -1); /* a power of -3/4 */
    assert_true(isnan(use_spread(u, 0)));
    use_free(u);
    u = use_new(ANEURALNETWORKS_LOCAL_RESPONSE_NORMALIZATION);
    use_in(u, F16, D(1), V(1));
    use_scalar(u, INT, 1);
    for (int i = 0; i < 3; i++) use_scalar(u, FLT, 1);
    use_out(u, F16);
    use_refuse(u, "FLOAT32 is not accepted");
    use_free(u);
}

/* ---------------------------------------------------------------- RESIZE_BILINEAR */

/* Trailing flags as far as they are not negative. */
static struct use *resize(int32_t type, uint32_t rank, const uint32_t *dims, const double *x, int32_t scalar, double w,
                          double h, int nchw, int align, int half) {
    struct use *u = use_new(ANEURALNETWORKS_RESIZE_BILINEAR);
    use_in(u, type, rank, dims, x);
    if (nnv_is_quant(type)) use_quant(u, 0.5, 3);
    use_scalar(u, scalar, w);
    use_scalar(u, scalar, h);
    if (nchw >= 0) use_scalar(u, BOOL, nchw);
    if (align >= 0) use_scalar(u, BOOL, align);
    if (half >= 0) use_scalar(u, BOOL, half);
    use_out(u, type);
    if (nnv_is_quant(type)) use_quant(u, 0.5, 3);
    return u;
}

static void resize_positions(void **state) {
    (void)state;
    const double *x = V(0, 12);
    /* Two pixels to three: positions 0, 2/3, 4/3 (beyond the last one). */
    struct use *u = resize(F32, D(1, 1, 2, 1), x, INT, 3, 1, -1, -1, -1);
    use_expect(u, 0, D(1, 1, 3, 1), V(0, 8, 12), 1e-6);
    use_free(u);
    u = resize(F32, D(1, 1, 2, 1), x, INT, 3, 1, 0, 1, -1); /* corners: 0, 1/2, 1 */
    use_expect(u, 0, D(1, 1, 3, 1), V(0, 6, 12), 0);
    assert_int_equal(u->level, 4);
    use_free(u);
    u = resize(F32, D(1, 1, 2, 1), x, INT, 4, 1, 0, 0, 1); /* half pixels: -1/4, 1/4, 3/4, 5/4 */
    use_expect(u, 0, D(1, 1, 4, 1), V(0, 3, 9, 12), 0);
    use_free(u);
    u = resize(F32, D(1, 1, 4, 1), V(0, 4, 8, 12), INT, 1, 1, 0, 0, 1); /* 3/2 */
    use_expect(u, 0, D(1, 1, 1, 1), V(6), 0);
    use_free(u);
    u = resize(F32, D(1, 1, 4, 1), V(0, 4, 8, 12), INT, 1, 1, 0, 1, -1); /* one pixel has no corners */
    use_expect(u, 0, D(1, 1, 1, 1), V(0), 0);
    use_free(u);
}

static void resize_two_axes(void **state) {
    (void)state;
    /* Columns 0 10, rows differ by 100; height 2 to 4, width 2 to 1. */
    struct use *u = resize(F16, D(1, 2, 2, 1), V(0, 10, 100, 110), INT, 1, 4, 0, -1, -1);
    use_expect(u, 0, D(1, 4, 1, 1), V(0, 50, 100, 100), 0);
    use_free(u);
    u = resize(F32, D(1, 2, 1, 2), V(0, 10, 5, 7), INT, 4, 1, 1, -1, -1); /* NCHW */
    use_expect(u, 0, D(1, 2, 1, 4), V(0, 5, 10, 10, 5, 6, 7, 7), 0);
    use_free(u);
}

static void resize_by_scale(void **state) {
    (void)state;
    struct use *u = resize(F32, D(1, 2, 3, 1), V(0, 3, 6, 9, 12, 15), FLT, 0.9, 1.6, -1, -1, -1); /* 2.7 and 3.2 */
    use_expect(u, 0, D(1, 3, 2, 1), V(0, 4.5, 6, 10.5, 9, 13.5), 1e-5);
    use_free(u);
    u = resize(F16, D(1, 1, 2, 1), V(0, 8), HALF, 2, 1, 0, 0, 1);
    use_expect(u, 0, D(1, 1, 4, 1), V(0, 2, 6, 8), 0);
    use_free(u);
    u = resize(Q8, D(1, 1, 2, 1), V(3, 6), FLT, 2, 1, -1, -1, -1); /* 0 and 1.5: between them 0.75, a tie */
    use_expect(u, 0, D(1, 1, 4, 1), V(3, 5, 6, 6), 0);
    assert_true(use_spread(u, 0) == 1);
    use_free(u);
}

static void resize_noise(void **state) {
    (void)state;
    /* The positions 0, 10/9, 20/9 ... are not float32 numbers, and the slopes are 200: far more than sums of +-100 err.
     */
    double x[10];
    for (int i = 0; i < 10; i++) x[i] = i % 2 ? 100 : -100;
    struct use *u = resize(F32, D(1, 1, 10, 1), x, INT, 9, 1, -1, -1, -1);
    double spread = use_spread(u, 0);
    assert_true(spread > 1e-4 && spread < 4e-4);
    use_free(u);
    u = resize(F32, D(1, 1, 10, 1), x, INT, 5, 1, -1, -1, -1); /* exact positions */
    assert_true(use_spread(u, 0) < 4e-5);
    use_free(u);
}

static void resize_empty_and_refusals(void **state) {
    (void)state;
    struct use *u = resize(F32, D(0, 1, 2, 1), NULL, INT, 3, 1, -1, -1, -1);
    use_expect(u, 0, D(0, 1, 3, 1), NULL, 0);
    use_free(u);
    u = resize(F32, D(1, 1, 2, 1), V(1, 2), INT, 3, 1, 0, 1, 1);
    use_refuse(u, "exclude each other");
    use_free(u);
    u = resize(F32, D(1, 1, 2, 1), V(1, 2), INT, 0, 1, -1, -1, -1);
    use_refuse(u, "0 is not above 0");
    use_free(u);
    u = resize(F32, D(1, 1, 2, 1), V(1, 2), FLT, 0.4, 1, -1, -1, -1);
    use_refuse(u, "extent 2 times 0.4");
    use_free(u);
    u = resize(F32, D(1, 1, 2, 1), V(1, 2), FLT, 1e30, 1, -1, -1, -1);
    use_refuse(u, "gives no extent");
    use_free(u);
    u = resize(F16, D(1, 1, 2, 1), V(1, 2), FLT, 2, 1, -1, -1, -1);
    use_refuse(u, "FLOAT32 is not accepted");
    use_free(u);
    u = resize(F32, D(1, 0, 2, 1), NULL, INT, 3, 1, -1, -1, -1);
    use_refuse(u, "dimension 1 is 0");
    use_free(u);
}

/* ----------------------------------------------------------------- LSH_PROJECTION */

static void farmhash(void **state) {
    (void)state;
    unsigned char bytes[300];
    for (int i = 0; i < 300; i++) bytes[i] = (unsigned char)(i * 37 + 11);
    /* Values of Google's own library, one for each class of lengths and each limit. */
    static const struct {
        size_t n;
        uint64_t hash;
    } known[] = {
        {1, UINT64_C(4787810249829893994)},    {3, UINT64_C(3979540680440595841)},
        {4, UINT64_C(14708324829907283305)},   {7, UINT64_C(10810953559526984053)},
        {8, UINT64_C(9029840561075318013)},    {16, UINT64_C(15579719139305551062)},
        {17, UINT64_C(6692022265393568454)},   {32, UINT64_C(11543571239247179175)},
        {33, UINT64_C(9480451918888261270)},   {64, UINT64_C(4226431515964725)},
        {65, UINT64_C(18101669290602532278)},  {128, UINT64_C(3742283891066476345)},
        {129, UINT64_C(14054188206783653085)}, {193, UINT64_C(7186806115308376035)},
        {299, UINT64_C(17218469475814046951)},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        assert_int_equal(nnv_farmhash64(bytes, known[i].n), known[i].hash);
    assert_int_equal(nnv_farmhash64(NULL, 0), UINT64_C(0x9ae16a3b2f90404f));
    assert_int_equal(nnv_farmhash64("2applefalse", 11), UINT64_C(2794438866806483259));
}

enum { DENSE = 2, SPARSE = 3, DEPRECATED = 1 };

static struct use *lsh(int32_t seeds, int32_t type, uint32_t rank, const uint32_t *dims, const double *x,
                       int projection, const double *weights) {
    struct use *u = use_new(ANEURALNETWORKS_LSH_PROJECTION);
    use_in(u, seeds, D(2, 3), V(0.25, -1.5, 3, 100, 7.5, -0.125));
    use_in(u, type, rank, dims, x);
    if (nnv_is_quant(type)) use_quant(u, 0.5, 10);
    if (weights)
        use_in(u, seeds, 1, dims, weights);
    else
        use_omit(u, seeds, 1, projection == DEPRECATED);
    use_scalar(u, INT, projection);
    use_out(u, I32);
    return u;
}

/* Expected bits from a program around Google's library. */
static void lsh_values(void **state) {
    (void)state;
    const double *x = V(1, 2, -3, 400, 50000, 6);
    struct use *u = lsh(F32, I32, D(3, 2), x, DENSE, V(1, 0.5, -2));
    use_expect(u, 0, D(6), V(1, 1, 1, 1, 0, 1), 0);
    use_free(u);
    u = lsh(F16, I32, D(3, 2), x, DENSE, V(1, 0.5, -2)); /* seeds that float16 holds give the same keys */
    use_expect(u, 0, D(6), V(1, 1, 1, 1, 0, 1), 0);
    use_free(u);
    u = lsh(F32, I32, D(3, 2), x, DEPRECATED, NULL); /* bits 000 100 */
    use_expect(u, 0, D(2), V(0, 4), 0);
    use_free(u);
    u = lsh(F32, I32, D(3, 2), x, SPARSE, NULL); /* the second hash's begin at 1 << 3 */
    use_expect(u, 0, D(2), V(0, 12), 0);
    use_free(u);
    u = lsh(F32, Q8, D(2, 3), V(0, 7, 255, 128, 3, 9), SPARSE, NULL); /* 011 100 */
    use_expect(u, 0, D(2), V(3, 12), 0);
    use_free(u);
    u = lsh(F16, F16, D(2, 2), V(1, -2, 0.333251953125, 8), SPARSE, NULL); /* 011 101 */
    use_expect(u, 0, D(2), V(3, 13), 0);
    use_free(u);
    u = lsh(F32, F32, D(3, 2), V(1.5, -2, 0.1f, 8, 0, -4), DENSE, V(1, 0.5, -2));
    use_expect(u, 0, D(6), V(0, 0, 0, 0, 0, 0), 0);
    assert_true(use_spread(u, 0) == 0);
    use_free(u);
}

static void lsh_tie(void **state) {
    (void)state;
    /* Equal rows of opposite weight: the score is nothing, so that either bit will do. */
    struct use *u = lsh(F32, I32, D(2, 1), V(7, 7), DENSE, V(1, -1));
    assert_true(use_spread(u, 0) == 1);
    use_free(u);
}

/* Seeds that were computed differ from driver to driver: any bit of a signature may. */
static void lsh_of_uncertain_seeds(void **state) {
    (void)state;
    struct nnv_arena *a = nnv_arena_new();
    struct nnv_builder b = {.arena = a, .seed = 1};
    const struct nnv_encoding f = {ANEURALNETWORKS_TENSOR_FLOAT32, 0, 0}, i = {ANEURALNETWORKS_TENSOR_INT32, 0, 0};
    const uint32_t seeds[] = {2, 3}, keys[] = {4}, none[] = {4};
    uint32_t x = nnv_builder_tensor(&b, f, 2, seeds, NNV_SUBGRAPH_INPUT);
    uint32_t y = nnv_builder_tensor(&b, f, 2, seeds, NNV_TEMPORARY_VARIABLE);
    uint32_t weight = nnv_builder_tensor(&b, f, 1, none, NNV_NO_VALUE);
    uint32_t out = nnv_builder_tensor(&b, i, 1, (uint32_t[]){2}, NNV_SUBGRAPH_OUTPUT);
    nnv_builder_add(&b, ANEURALNETWORKS_LOGISTIC, 1, &x, y);
    uint32_t key = nnv_builder_ints(&b, keys[0], (int32_t[]){1, 2, 3, 4});
    nnv_builder_add(&b, ANEURALNETWORKS_LSH_PROJECTION, 4, (uint32_t[]){y, key, weight, nnv_builder_int(&b, SPARSE)},
                    out);
    struct nnv_model m;
    struct nnv_err err = {0};
    struct nnv_golden g;
    float data[] = {0.25f, -1.5f, 3, 1, 7.5f, -0.125f};
    struct nnv_value v = {.rank = 2, .dims = {2, 3}, .data = data, .bytes = sizeof data};
    if (nnv_builder_end(&b, 1, &x, 1, &out, &m, &err) ||
        nnv_eval(&m, &v, &(struct nnv_eval_options){.rows = 8, .k = 2, .seed = 1}, a, &g, &err))
        fail_msg("%s", err.text);
    assert_true(isnan(g.spread[0]) && isnan(g.spread[1]));
    nnv_arena_free(a);
}

static void lsh_refusals(void **state) {
    (void)state;
    const double *x = V(1, 2);
    struct use *u = lsh(F32, I32, D(2, 1), x, DENSE, NULL);
    use_refuse(u, "DENSE projection needs weights");
    use_free(u);
    u = lsh(F32, I32, D(2, 1), x, SPARSE, x);
    use_refuse(u, "takes no weights");
    use_free(u);
    u = lsh(F32, I32, D(2, 1), x, 4, NULL);
    use_refuse(u, "type 4");
    use_free(u);
    u = lsh(F32, Q8S, D(2, 1), x, SPARSE, NULL);
    use_refuse(u, "SIGNED is not accepted");
    use_free(u);
    u = use_new(ANEURALNETWORKS_LSH_PROJECTION);
    double seeds[33] = {0};
    use_in(u, F32, D(1, 33), seeds);
    use_in(u, I32, D(2), V(1, 2));
    use_omit(u, F32, 1, false);
    use_scalar(u, INT, SPARSE);
    use_out(u, I32);
    use_refuse(u, "33 bits");
    use_free(u);
    u = use_new(ANEURALNETWORKS_LSH_PROJECTION);
    use_in(u, F32, D(1, 2), seeds);
    use_in(u, I32, D(2), V(1, 2));
    use_in(u, F32, D(3), V(1, 2, 3));
    use_scalar(u, INT, DENSE);
    use_out(u, I32);
    use_refuse(u, "weight: extent 0 is 3");
    use_free(u);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(logistic),
        cmocka_unit_test(hyperbolic),
        cmocka_unit_test(unary_refusals),
        cmocka_unit_test(unary_noise),
        cmocka_unit_test(softmax_values),
        cmocka_unit_test(softmax_quant8),
        cmocka_unit_test(softmax_empty),
        cmocka_unit_test(softmax_refusals),
        cmocka_unit_test(l2_values),
        cmocka_unit_test(l2_hazard),
        cmocka_unit_test(lrn_values),
        cmocka_unit_test(lrn_edges),
        cmocka_unit_test(resize_positions),
        cmocka_unit_test(resize_two_axes),
        cmocka_unit_test(resize_by_scale),
        cmocka_unit_test(resize_noise),
        cmocka_unit_test(resize_empty_and_refusals),
        cmocka_unit_test(farmhash),
        cmocka_unit_test(lsh_values),
        cmocka_unit_test(lsh_tie),
        cmocka_unit_test(lsh_of_uncertain_seeds),
        cmocka_unit_test(lsh_refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
