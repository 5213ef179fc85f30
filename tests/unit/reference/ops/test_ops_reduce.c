/* SPDX-License-Identifier: Apache-2.0 */
/* MEAN, the REDUCE operations, ARGMAX, ARGMIN, LOG_SOFTMAX, INSTANCE_NORMALIZATION, BATCH_MATMUL,
   GROUPED_CONV_2D, TRANSPOSE_CONV_2D, RESIZE_NEAREST_NEIGHBOR, TOPK_V2. */
#include "tests/kit/op.h"

enum { B8 = ANEURALNETWORKS_TENSOR_BOOL8 };

/* x is [2,1,3]. */
static struct use *reduce(int32_t code, int32_t type, const double *x, uint32_t naxes, const double *axes, int keep) {
    struct use *u = use_new(code);
    use_in(u, type, D(2, 1, 3), x);
    if (nnv_is_quant(type)) use_quant(u, 0.5, type == Q8 ? 100 : -20);
    use_const(u, I32, D(naxes), axes);
    use_scalar(u, code == ANEURALNETWORKS_MEAN ? INT : BOOL, keep);
    use_out(u, type);
    if (nnv_is_quant(type)) use_quant(u, 0.5, type == Q8 ? 100 : -20);
    return u;
}

static void expect(int32_t code, int32_t type, const double *x, uint32_t naxes, const double *axes, int keep,
                   uint32_t rank, const uint32_t *dims, const double *y, int level) {
    struct use *u = reduce(code, type, x, naxes, axes, keep);
    use_expect(u, 0, rank, dims, y, 0);
    assert_int_equal(u->level, level < 3 ? 3 : level); /* the output has no rank */
    use_free(u);
}

static void mean(void **state) {
    (void)state;
    const double *x = V(1, 2, 6, -4, 10, 3);
    int32_t code = ANEURALNETWORKS_MEAN;
    expect(code, F32, x, 1, V(2), 0, D(2, 1), V(3, 3), 2);
    expect(code, F32, x, 2, V(-3, 0), 0, D(1, 3), V(-1.5, 6, 4.5), 2);
    expect(code, F32, x, 2, V(0, -1), 1, D(1, 1, 1), V(3), 2);
    expect(code, F32, x, 3, V(0, -1, 1), 0, D(1), V(3), 2);
    expect(code, F16, x, 1, V(0), -1, D(1, 3), V(-1.5, 6, 4.5), 3); /* only above 0 keeps */
    expect(code, Q8, V(0, 1, 3, 255, 250, 250), 1, V(2), 1, D(2, 1, 1), V(1, 252), 2);
    expect(code, Q8S, V(-1, -2, -5, 7, 8, 8), 1, V(2), 0, D(2, 1), V(-3, 8), 4);
}

static void mean_refusals(void **state) {
    (void)state;
    struct use *u = reduce(ANEURALNETWORKS_MEAN, F32, V(0, 0, 0, 0, 0, 0), 2, V(0, 3), 0);
    use_refuse(u, "axes: 3, at 1, is not an axis of a tensor of rank 3");
    use_free(u);
    u = reduce(ANEURALNETWORKS_MEAN, F32, V(0, 0, 0, 0, 0, 0), 1, V(-4), 0);
    use_refuse(u, "axes: -4, at 0");
    use_free(u);
    u = reduce(ANEURALNETWORKS_MEAN, Q8, V(0, 0, 0, 0, 0, 0), 1, V(0), 0);
    use_quant(u, 0.25, 100);
    use_refuse(u, "scale");
    use_free(u);
}

static void sum_and_product(void **state) {
    (void)state;
    const double *x = V(1, 2, 6, -4, 10, 3);
    expect(ANEURALNETWORKS_REDUCE_SUM, F32, x, 1, V(2), 0, D(2, 1), V(9, 9), 3);
    expect(ANEURALNETWORKS_REDUCE_SUM, F16, x, 2, V(0, 0), 1, D(1, 1, 3), V(-3, 12, 9), 3);
    expect(ANEURALNETWORKS_REDUCE_PROD, F32, x, 1, V(-1), 0, D(2, 1), V(12, -120), 3);
    expect(ANEURALNETWORKS_REDUCE_PROD, F16, x, 3, V(0, 1, 2), 0, D(1), V(-1440), 3);
    struct use *u = reduce(ANEURALNETWORKS_REDUCE_PROD, F32, x, 1, V(-1), 0);
    double spread = use_spread(u, 0); /* at most 4 roundings of 120 */
    assert_true(spread > 0 && spread < 4 * 120 * 0x1p-24 * 1.01);
    use_free(u);
    u = reduce(ANEURALNETWORKS_REDUCE_SUM, F32, x, 1, V(3), 0);
    use_refuse(u, "axes: 3, at 0");
    use_free(u);
}

static void extremes(void **state) {
    (void)state;
    const double *x = V(1, 2, 6, -4, 10, 3);
    expect(ANEURALNETWORKS_REDUCE_MAX, F32, x, 1, V(2), 1, D(2, 1, 1), V(6, 10), 3);
    expect(ANEURALNETWORKS_REDUCE_MAX, Q8, V(9, 200, 6, 10, 7, 3), 1, V(-3), 0, D(1, 3), V(10, 200, 6), 3);
    expect(ANEURALNETWORKS_REDUCE_MIN, F16, x, 1, V(2), 0, D(2, 1), V(1, -4), 3);
    expect(ANEURALNETWORKS_REDUCE_MIN, Q8S, V(9, -100, 6, 10, 7, 3), 3, V(0, 1, 2), 0, D(1), V(-100), 4);
    struct use *u = reduce(ANEURALNETWORKS_REDUCE_MAX, F32, x, 1, V(2), 0);
    assert_true(use_spread(u, 0) == 0);
    use_free(u);
    u = reduce(ANEURALNETWORKS_REDUCE_MIN, F32, x, 1, V(7), 0);
    use_refuse(u, "not an axis");
    use_free(u);
}

static void logical(void **state) {
    (void)state;
    const double *x = V(1, 0, 1, 1, 0, 0);
    expect(ANEURALNETWORKS_REDUCE_ALL, B8, x, 1, V(0), 0, D(1, 3), V(1, 0, 0), 3);
    expect(ANEURALNETWORKS_REDUCE_ANY, B8, x, 1, V(-3), 1, D(1, 1, 3), V(1, 0, 1), 3);
    expect(ANEURALNETWORKS_REDUCE_ALL, B8, V(1, 1, 1, 1, 1, 1), 2, V(0, 2), 0, D(1), V(1), 3);
    expect(ANEURALNETWORKS_REDUCE_ANY, B8, V(0, 0, 0, 0, 0, 0), 3, V(0, 1, 2), 0, D(1), V(0), 3);
    struct use *u = reduce(ANEURALNETWORKS_REDUCE_ALL, B8, x, 1, V(2), 0);
    assert_true(use_spread(u, 0) == 0);
    use_free(u);
    u = reduce(ANEURALNETWORKS_REDUCE_ANY, B8, x, 1, V(3), 0);
    use_refuse(u, "not an axis");
    use_free(u);
}

/* ------------------------------------------------------------------ ARGMAX, ARGMIN */

static struct use *arg(int32_t code, int32_t type, uint32_t rank, const uint32_t *dims, const double *x, int axis) {
    struct use *u = use_new(code);
    use_in(u, type, rank, dims, x);
    if (nnv_is_quant(type)) use_quant(u, 0.5, 10);
    use_scalar(u, INT, axis);
    use_out(u, I32);
    return u;
}

static void positions(void **state) {
    (void)state;
    const double *x = V(3, 7, 7, -9, 4, 4, -9, 8);
    struct use *u = arg(ANEURALNETWORKS_ARGMAX, F32, D(2, 4), x, -1);
    use_expect(u, 0, D(2), V(1, 3), 0); /* of equals the first; nothing may rely on it */
    assert_true(isnan(use_spread(u, 0)));
    assert_true(isnan(u->results[0].spread[0]) && u->results[0].spread[1] == 0);
    use_free(u);
    u = arg(ANEURALNETWORKS_ARGMIN, I32, D(2, 4), x, 0);
    use_expect(u, 0, D(4), V(0, 1, 1, 0), 0);
    use_free(u);
    u = arg(ANEURALNETWORKS_ARGMAX, Q8, D(2, 2, 2), V(3, 7, 7, 9, 4, 4, 9, 8), -2);
    use_expect(u, 0, D(2, 2), V(1, 1, 1, 1), 0);
    use_free(u);
    u = arg(ANEURALNETWORKS_ARGMIN, Q8S, D(3), V(3, -7, 9), 0);
    use_expect(u, 0, D(1), V(1), 0);
    assert_int_equal(u->level, 4);
    use_free(u);
    u = arg(ANEURALNETWORKS_ARGMIN, F16, D(2, 1), V(3, -7), 2);
    use_refuse(u, "2 is not an axis of a tensor of rank 2");
    use_free(u);
}

/* A relaxed model may round its inputs to float16: what lies closer is open. */
static void open_positions(void **state) {
    (void)state;
    struct use *u = arg(ANEURALNETWORKS_ARGMAX, F32, D(1, 3), V(1.0001, 1.0002, 0.5), 1);
    use_expect(u, 0, D(1), V(1), 0);
    assert_true(use_spread(u, 0) == 0);
    u->model.relaxed = true;
    assert_true(isnan(use_spread(u, 0)));
    use_free(u);
    u = arg(ANEURALNETWORKS_ARGMAX, F32, D(1, 3), V(1.0001, 1.1, 0.5), 1);
    u->model.relaxed = true;
    assert_true(use_spread(u, 0) == 0);
    use_free(u);
}

/* ------------------------------------------------------------------ LOG_SOFTMAX */

static struct use *log_softmax(int32_t type, uint32_t rank, const uint32_t *dims, const double *x, double beta,
                               int axis) {
    struct use *u = use_new(ANEURALNETWORKS_LOG_SOFTMAX);
    use_in(u, type, rank, dims, x);
    use_scalar(u, type == F16 ? HALF : FLT, beta);
    use_scalar(u, INT, axis);
    use_out(u, type);
    return u;
}

static void log_softmax_values(void **state) {
    (void)state;
    const double *y = V(-2.40760596444, -1.40760596444, -0.40760596444);
    struct use *u = log_softmax(F32, D(1, 3), V(1, 2, 3), 1, -1);
    use_expect(u, 0, D(1, 3), y, 3e-7);
    double spread = use_spread(u, 0);
    assert_true(spread > 0 && spread < 2e-6);
    use_free(u);
    u = log_softmax(F32, D(3, 1), V(1000.5, 1001, 1001.5), 2, 0); /* the maximum is subtracted */
    use_expect(u, 0, D(3, 1), y, 3e-7);
    use_free(u);
    u = log_softmax(F16, D(2, 2), V(1, 5, 2, 5), 1, -2);
    use_expect(u, 0, D(2, 2), V(-1.31326168752, -0.69314718056, -0.31326168752, -0.69314718056), 0.001);
    use_free(u);
    u = log_softmax(F32, D(2), V(0, 0), 1, 1);
    use_refuse(u, "1 is not an axis");
    use_free(u);
}

/* ------------------------------------------------------------------ INSTANCE_NORMALIZATION */

static void instance_normalization(void **state) {
    (void)state;
    /* Two channels: 0 0 4 4 (mean 2, variance 4) and 1 3 5 7 (mean 4, variance 5). */
    const double *nhwc = V(0, 1, 0, 3, 4, 5, 4, 7), *nchw = V(0, 0, 4, 4, 1, 3, 5, 7);
    double a = 2 / sqrt(4.25) * 1.5, b = 1 / sqrt(5.25) * 1.5;
    const double *want = V(-a, -3 * b, -a, -b, a, b, a, 3 * b);
    const double *turned = V(-a, -a, a, a, -3 * b, -b, b, 3 * b);
    for (int i = 0; i < 4; i++) {
        int32_t type = i < 2 ? F32 : F16;
        double y[8];
        for (int e = 0; e < 8; e++) y[e] = (i % 2 ? turned : want)[e] - 0.5;
        struct use *u = use_new(ANEURALNETWORKS_INSTANCE_NORMALIZATION);
        if (i % 2)
            use_in(u, type, D(1, 2, 2, 2), nchw);
        else
            use_in(u, type, D(1, 2, 2, 2), nhwc);
        use_scalar(u, i < 2 ? FLT : HALF, 1.5);
        use_scalar(u, i < 2 ? FLT : HALF, -0.5);
        use_scalar(u, i < 2 ? FLT : HALF, 0.25);
        use_scalar(u, BOOL, i % 2);
        use_out(u, type);
        use_expect(u, 0, D(1, 2, 2, 2), y, i < 2 ? 3e-7 : 0.002);
        double spread = use_spread(u, 0);
        assert_true(spread > 0 && spread < (i < 2 ? 3e-6 : 0.02));
        use_free(u);
    }
    struct use *u = use_new(ANEURALNETWORKS_INSTANCE_NORMALIZATION);
    use_in(u, F32, D(2, 2, 2), nhwc);
    for (int i = 0; i < 3; i++) use_scalar(u, FLT, 1);
    use_scalar(u, BOOL, 0);
    use_out(u, F32);
    use_refuse(u, "rank 3 is below 4");
    use_free(u);
}

/* ------------------------------------------------------------------ BATCH_MATMUL */

static struct use *matmul(int32_t type, uint32_t rank, const uint32_t *x_dims, const double *x, const uint32_t *y_dims,
                          const double *y, bool adj_x, bool adj_y) {
    struct use *u = use_new(ANEURALNETWORKS_BATCH_MATMUL);
    use_in(u, type, rank, x_dims, x);
    if (type == Q8S) use_quant(u, 0.5, 1);
    use_in(u, type, rank, y_dims, y);
    if (type == Q8S) use_quant(u, 0.25, -2);
    use_scalar(u, BOOL, adj_x);
    use_scalar(u, BOOL, adj_y);
    use_out(u, type);
    if (type == Q8S) use_quant(u, 0.5, 3);
    return u;
}

static void batch_matmul(void **state) {
    (void)state;
    /* [[1 2 3] [4 5 6]] times [[1 0 -1 2] [2 1 0 1] [0 3 1 -2]] */
    const double *x = V(1, 2, 3, 4, 5, 6), *xt = V(1, 4, 2, 5, 3, 6);
    const double *y = V(1, 0, -1, 2, 2, 1, 0, 1, 0, 3, 1, -2), *yt = V(1, 2, 0, 0, 1, 3, -1, 0, 1, 2, 1, -2);
    const double *z = V(5, 11, 2, -2, 14, 23, 2, 1);
    const uint32_t x_dims[2][2] = {{2, 3}, {3, 2}}, y_dims[2][2] = {{3, 4}, {4, 3}};
    const int32_t types[] = {F32, F16, I32};
    for (int i = 0; i < 12; i++) {
        bool adj_x = i & 1, adj_y = i & 2;
        struct use *u =
            matmul(types[i / 4], 2, x_dims[adj_x], adj_x ? xt : x, y_dims[adj_y], adj_y ? yt : y, adj_x, adj_y);
        use_expect(u, 0, D(2, 4), z, 0);
        assert_int_equal(u->level, 6);
        use_free(u);
    }
    struct use *u = matmul(F32, 3, (uint32_t[]){2, 1, 2}, V(1, 2, 3, 4), (uint32_t[]){2, 2, 1}, V(1, 1, 2, -1), 0, 0);
    use_expect(u, 0, D(2, 1, 1), V(3, 2), 0);
    double spread = use_spread(u, 0); /* sums of absolute values 3 and 10 */
    assert_true(spread > 0 && spread < (10 * sqrt(2) + 2) * 0x1p-24 * 1.01);
    use_free(u);
    /* Units (2 -4) and (6 8): -20 * 0.125 / 0.5 = -5 */
    u = matmul(Q8S, 2, (uint32_t[]){1, 2}, V(3, -3), (uint32_t[]){2, 1}, V(4, 6), 0, 0);
    use_expect(u, 0, D(1, 1), V(-2), 0);
    use_free(u);
}

static void batch_matmul_refusals(void **state) {
    (void)state;
    const double *v = V(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
    struct use *u = matmul(F32, 2, (uint32_t[]){2, 3}, v, (uint32_t[]){3, 4}, v, 1, 0);
    use_refuse(u, "lhs has rows of 2, but rhs has columns of 3");
    use_free(u);
    u = matmul(F32, 3, (uint32_t[]){2, 1, 3}, v, (uint32_t[]){1, 3, 1}, v, 0, 0);
    use_refuse(u, "extent 0 is 1, but the other inputs make it 2");
    use_free(u);
}

/* ------------------------------------------------------------------ GROUPED_CONV_2D */

/* x [1,2,2,2], filter [2,1,2,1], explicit padding. */
static struct use *grouped(int32_t type, const double *x, bool nchw, int right, int groups) {
    struct use *u = use_new(ANEURALNETWORKS_GROUPED_CONV_2D);
    use_in(u, type, D(1, 2, 2, 2), x);
    if (type == Q8) use_quant(u, 0.5, 10);
    use_const(u, type, D(2, 1, 2, 1), type == Q8 ? V(102, 98, 101, 103) : V(2, -2, 1, 3));
    if (type == Q8) use_quant(u, 1, 100);
    use_const(u, type == Q8 ? I32 : type, D(2), V(1, -1));
    if (type == Q8) use_quant(u, 0.5, 0);
    use_scalar(u, INT, 0);
    use_scalar(u, INT, right);
    for (int i = 0; i < 2; i++) use_scalar(u, INT, 0);
    for (int i = 0; i < 2; i++) use_scalar(u, INT, 1);
    use_scalar(u, INT, groups);
    use_scalar(u, INT, ANEURALNETWORKS_FUSED_RELU);
    use_scalar(u, BOOL, nchw);
    use_out(u, type);
    if (type == Q8) use_quant(u, 0.5, 3);
    return u;
}

static void grouped_conv(void **state) {
    (void)state;
    /* Channel 0: [[1 3] [-2 4]], channel 1: [[2 0] [5 -1]]; results before RELU -3 7 | 1 -1 and -11 9 | 1 -2. */
    const double *nhwc = V(1, 2, 3, 0, -2, 5, 4, -1), *nchw = V(1, 3, -2, 4, 2, 0, 5, -1);
    for (int i = 0; i < 2; i++) {
        struct use *u = grouped(i ? F16 : F32, nhwc, false, 1, 2);
        use_expect(u, 0, D(1, 2, 2, 2), V(0, 1, 7, 0, 0, 1, 9, 0), 0);
        use_free(u);
        u = grouped(i ? F16 : F32, nchw, true, 1, 2);
        use_expect(u, 0, D(1, 2, 2, 2), V(0, 7, 0, 9, 1, 0, 1, 0), 0);
        use_free(u);
    }
    struct use *u = grouped(Q8, V(11, 12, 13, 10, 8, 15, 14, 9), false, 0, 2);
    use_expect(u, 0, D(1, 2, 1, 2), V(3, 4, 3, 4), 0);
    use_free(u);
    u = grouped(F32, nhwc, false, 0, 1);
    use_refuse(u, "2 input channels are not 1 groups of 1");
    use_free(u);
    u = grouped(F32, nhwc, false, 0, 3);
    use_refuse(u, "2 output channels can't be divided into 3 groups");
    use_free(u);
}

/* ------------------------------------------------------------------ TRANSPOSE_CONV_2D */

/* x [1,1,2,1] = 1 2, filter [1,2,3,1] = [1 2 3] [4 5 6], stride 2 (width) and 1; all of it is [1,1,2,5,1]. */
static struct use *transposed(int32_t type, bool explicit, int left, int right, int scheme, int out_w, int numbers) {
    struct use *u = use_new(ANEURALNETWORKS_TRANSPOSE_CONV_2D);
    use_in(u, type, D(1, 1, 2, 1), type == Q8S ? V(-9, -8) : V(1, 2));
    if (type == Q8S) use_quant(u, 0.5, -10);
    use_const(u, type, D(1, 2, 3, 1), V(1, 2, 3, 4, 5, 6));
    if (type == Q8S) use_quant(u, 1, 0);
    use_const(u, type == Q8S ? I32 : type, D(1), V(-5));
    if (type == Q8S) use_quant(u, 0.5, 0);
    if (explicit) {
        use_scalar(u, INT, left);
        use_scalar(u, INT, right);
        use_scalar(u, INT, 0);
        use_scalar(u, INT, 0);
    } else {
        use_const(u, I32, D((uint32_t)numbers), V(1, 2, out_w, 1, 0));
        use_scalar(u, INT, scheme);
    }
    use_scalar(u, INT, 2);
    use_scalar(u, INT, 1);
    use_scalar(u, INT, ANEURALNETWORKS_FUSED_NONE);
    use_scalar(u, BOOL, 0);
    use_out(u, type);
    if (type == Q8S) use_quant(u, 0.5, 7);
    return u;
}

static void transpose_conv(void **state) {
    (void)state;
    const int32_t types[] = {F32, F16};
    for (int i = 0; i < 2; i++) {
        struct use *u = transposed(types[i], false, 0, 0, ANEURALNETWORKS_PADDING_VALID, 5, 4);
        use_expect(u, 0, D(1, 2, 5, 1), V(-4, -3, 0, -1, 1, -1, 0, 9, 5, 7), 0);
        double spread = use_spread(u, 0); /* sqrt(5) * (6 + 8 + 5), and the store of 9 */
        assert_true(spread > 0 && spread < (i ? 0.01 : 52 * 0x1p-24));
        use_free(u);
    }
    struct use *u = transposed(F32, true, 1, -1, 0, 0, 0); /* one column is lost, and one has only the bias */
    use_expect(u, 0, D(1, 2, 5, 1), V(-3, 0, -1, 1, -5, 0, 9, 5, 7, -5), 0);
    use_free(u);
    u = transposed(Q8S, true, 0, 2, 0, 0, 0); /* in units of 0.5, and the zero point */
    use_expect(u, 0, D(1, 2, 3, 1), V(3, 4, 7, 6, 7, 16), 0);
    use_free(u);
}

static void transpose_conv_same(void **state) {
    (void)state;
    /* The height would need 1; 2 rows out of 1 with stride 1 are refused. */
    struct use *u = transposed(F32, false, 0, 0, ANEURALNETWORKS_PADDING_SAME, 4, 4);
    use_refuse(u, "height: 1 elements, stride 1 and filter 2 give no output of 2");
    use_free(u);
    u = transposed(F32, false, 0, 0, ANEURALNETWORKS_PADDING_SAME, 4, 4);
    use_drop(u, 3);
    u->in[3] = u->model.main.noperands;
    use_operand(u, I32, 1, (uint32_t[]){4});
    struct nnv_operand *o = &u->operands[u->in[3]];
    int32_t shape[] = {1, 1, 4, 1};
    o->data = nnv_arena_copy(u->arena, shape, sizeof shape);
    o->bytes = sizeof shape;
    o->lifetime = NNV_CONSTANT_COPY;
    /* Of 5 columns the last is cut off; of 2 rows as well: total 1, head 0. */
    use_expect(u, 0, D(1, 1, 4, 1), V(-4, -3, 0, -1), 0);
    use_free(u);
}

static void transpose_conv_refusals(void **state) {
    (void)state;
    struct use *u = transposed(F32, false, 0, 0, ANEURALNETWORKS_PADDING_VALID, 5, 3);
    use_refuse(u, "output shape: extent 0 is 3, but the other inputs make it 4");
    use_free(u);
    u = transposed(F32, true, 3, 2, 0, 0, 0);
    use_refuse(u, "width: the output's extent would be 0");
    use_free(u);
    u = transposed(F32, true, -1, 2, 0, 0, 0);
    use_refuse(u, "padding left): -1 is negative");
    use_free(u);
}

/* ------------------------------------------------------------------ RESIZE_NEAREST_NEIGHBOR */

/* A line of `in` elements 10, 20, ... to `out`; flags: -1 absent. */
static struct use *nearest(int32_t type, uint32_t in, int out, bool nchw, int align, int half) {
    static const double x[] = {10, 20, 30, 40, 50, 60, 70, 80};
    struct use *u = use_new(ANEURALNETWORKS_RESIZE_NEAREST_NEIGHBOR);
    use_in(u, type, 4, nchw ? (uint32_t[]){1, 1, 1, in} : (uint32_t[]){1, 1, in, 1}, x);
    if (nnv_is_quant(type)) use_quant(u, 0.5, 7);
    use_scalar(u, INT, out);
    use_scalar(u, INT, 1);
    use_scalar(u, BOOL, nchw);
    if (align >= 0) use_scalar(u, BOOL, align);
    if (half >= 0) use_scalar(u, BOOL, half);
    use_out(u, type);
    if (nnv_is_quant(type)) use_quant(u, 0.5, 7);
    return u;
}

static void nearest_values(void **state) {
    (void)state;
    struct use *u = nearest(F32, 3, 5, false, -1, -1); /* 0 0.6 1.2 1.8 2.4 */
    use_expect(u, 0, D(1, 1, 5, 1), V(10, 10, 20, 20, 30), 0);
    assert_true(use_spread(u, 0) == 0);
    use_free(u);
    u = nearest(Q8, 3, 5, true, 0, 1); /* 0.3 0.9 1.5 2.1 2.7 */
    use_expect(u, 0, D(1, 1, 1, 5), V(10, 10, 20, 30, 30), 0);
    assert_int_equal(u->level, 4);
    use_free(u);
    u = nearest(F16, 3, 6, false, 1, -1); /* 0 0.4 0.8 1.2 1.6 2 */
    use_expect(u, 0, D(1, 1, 6, 1), V(10, 10, 20, 20, 30, 30), 0);
    use_free(u);
    u = nearest(Q8S, 2, 3, false, 1, 0); /* 0 0.5 1: a half goes up, and all of it is exact */
    use_expect(u, 0, D(1, 1, 3, 1), V(10, 20, 20), 0);
    assert_true(use_spread(u, 0) == 0);
    use_free(u);
    u = nearest(F32, 7, 2, false, -1, -1); /* 0 3.5 */
    use_expect(u, 0, D(1, 1, 2, 1), V(10, 40), 0);
    use_free(u);
}

static void nearest_open(void **state) {
    (void)state;
    /* 4 to 11, corners aligned: 3/10 of 5 is a half, but 0.3 is no float32 number. */
    struct use *u = nearest(F32, 4, 11, false, 1, -1);
    use_expect(u, 0, D(1, 1, 11, 1), V(10, 10, 20, 20, 20, 30, 30, 30, 30, 40, 40), 0);
    assert_true(use_spread(u, 0) == 10);
    use_free(u);
    u = nearest(F32, 4, 11, false, 1, 1);
    use_refuse(u, "exclude each other");
    use_free(u);
    u = nearest(F32, 4, 0, false, -1, -1);
    use_refuse(u, "0 is not above 0");
    use_free(u);
}

/* ------------------------------------------------------------------ TOPK_V2 */

static struct use *topk(int32_t type, uint32_t rank, const uint32_t *dims, const double *x, int k) {
    struct use *u = use_new(ANEURALNETWORKS_TOPK_V2);
    use_in(u, type, rank, dims, x);
    if (nnv_is_quant(type)) use_quant(u, 0.5, 4);
    use_scalar(u, INT, k);
    use_out(u, type);
    if (nnv_is_quant(type)) use_quant(u, 0.5, 4);
    use_out(u, I32);
    return u;
}

static void topk_values(void **state) {
    (void)state;
    const int32_t types[] = {F32, F16, I32, Q8, Q8S};
    for (int i = 0; i < 5; i++) {
        struct use *u = topk(types[i], D(2, 4), V(3, 7, 1, 9, 40, 20, 30, 10), 3);
        use_expect(u, 0, D(2, 3), V(9, 7, 3, 40, 30, 20), 0);
        use_expect(u, 1, D(2, 3), V(3, 1, 0, 0, 2, 1), 0);
        assert_true(use_spread(u, 0) == 0 && use_spread(u, 1) == 0);
        use_free(u);
    }
    struct use *u = topk(F32, D(3), V(3, 7, 1), 4);
    use_refuse(u, "k 4 is above 3");
    use_free(u);
    u = topk(F32, D(3), V(3, 7, 1), INT32_MAX);
    use_refuse(u, "k 2147483647 is above 3");
    use_free(u);
    u = topk(F32, D(3), V(3, 7, 1), 0);
    use_refuse(u, "0 is not above 0");
    use_free(u);
}

/* The order of equals is free: their values are compared, their indices are not; others' are. */
static void topk_ties(void **state) {
    (void)state;
    struct use *u = topk(I32, D(5), V(3, 7, 3, 9, 1), 3);
    use_expect(u, 0, D(3), V(9, 7, 3), 0);
    assert_true(use_spread(u, 0) == 0);
    assert_true(isnan(use_spread(u, 1)));
    assert_true(u->results[1].spread[0] == 0 && u->results[1].spread[1] == 0 && isnan(u->results[1].spread[2]));
    use_free(u);
    u = topk(F32, D(3), V(1.0001, 1.0002, 0.5), 3);
    u->model.relaxed = true; /* the first two may change places */
    double spread = use_spread(u, 0);
    assert_true(spread > 0 && spread < 0.002);
    const double *open = u->results[1].spread;
    assert_true(isnan(open[0]) && isnan(open[1]) && open[2] == 0);
    use_free(u);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mean),
        cmocka_unit_test(mean_refusals),
        cmocka_unit_test(sum_and_product),
        cmocka_unit_test(extremes),
        cmocka_unit_test(logical),
        cmocka_unit_test(positions),
        cmocka_unit_test(open_positions),
        cmocka_unit_test(log_softmax_values),
        cmocka_unit_test(instance_normalization),
        cmocka_unit_test(batch_matmul),
        cmocka_unit_test(batch_matmul_refusals),
        cmocka_unit_test(grouped_conv),
        cmocka_unit_test(transpose_conv),
        cmocka_unit_test(transpose_conv_same),
        cmocka_unit_test(transpose_conv_refusals),
        cmocka_unit_test(nearest_values),
        cmocka_unit_test(nearest_open),
        cmocka_unit_test(topk_values),
        cmocka_unit_test(topk_ties),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
