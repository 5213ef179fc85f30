/* SPDX-License-Identifier: Apache-2.0 */
/* Operations that move values: slices, permutations, padding, tiles, blocks. */
#include "tests/kit/op.h"

enum { IOTA = 64 };

/* An input of 0, 1, 2, ... */
static void use_iota(struct use *u, int32_t type, uint32_t rank, const uint32_t *dims) {
    double iota[IOTA];
    for (int i = 0; i < IOTA; i++) iota[i] = i;
    use_in(u, type, rank, dims, iota);
    if (nnv_is_quant(type)) use_quant(u, 0.5, 7);
}

static void use_ints(struct use *u, uint32_t n, const double *values) { use_const(u, I32, 1, &n, values); }

static void use_same_out(struct use *u, int32_t type) {
    use_out(u, type);
    if (nnv_is_quant(type)) use_quant(u, 0.5, 7);
}

/* ---------------------------------------------------------- TRANSPOSE and the axes of extent 1 */

static void transpose(void **state) {
    (void)state;
    static const int32_t types[] = {F32, Q8, F16, Q8S};
    static const int levels[] = {3, 3, 3, 4};
    for (int i = 0; i < 4; i++) {
        struct use *u = use_new(ANEURALNETWORKS_TRANSPOSE);
        use_iota(u, types[i], D(1, 2, 3));
        use_ints(u, 3, V(2, 0, 1)); /* y[k, 0, j] = x[0, j, k] = 3 j + k */
        use_same_out(u, types[i]);
        use_expect(u, 0, D(3, 1, 2), V(0, 3, 1, 4, 2, 5), 0);
        assert_int_equal(u->level, levels[i]);
        assert_true(use_spread(u, 0) == 0);
        use_free(u);
    }
    for (int late = 0; late < 2; late++) {
        struct use *u = use_new(ANEURALNETWORKS_TRANSPOSE);
        use_iota(u, F32, D(2, 3));
        use_omit(u, I32, 1, late);
        use_out(u, F32);
        use_expect(u, 0, D(3, 2), V(0, 3, 1, 4, 2, 5), 0);
        use_free(u);
    }
    struct use *u = use_new(ANEURALNETWORKS_TRANSPOSE);
    use_iota(u, F32, D(2, 0));
    use_in(u, I32, D(2), V(1, 0));
    use_out(u, F32);
    use_expect(u, 0, D(0, 2), NULL, 0);
    use_free(u);
}

static void transpose_refusals(void **state) {
    (void)state;
    struct use *u = use_new(ANEURALNETWORKS_TRANSPOSE);
    use_iota(u, F32, D(1, 2, 3));
    use_omit(u, I32, 1, false);
    use_out(u, F32);
    use_refuse(u, "must have rank 2, not 3");
    use_free(u);
    static const double wrong[][3] = {{0, 1, 3}, {0, 1, 1}, {0, -1, 2}};
    for (int i = 0; i < 3; i++) {
        u = use_new(ANEURALNETWORKS_TRANSPOSE);
        use_iota(u, F32, D(1, 2, 3));
        use_ints(u, 3, wrong[i]);
        use_out(u, F32);
        use_refuse(u, "expected each of 0 to 2 once");
        use_free(u);
    }
    u = use_new(ANEURALNETWORKS_TRANSPOSE);
    use_iota(u, F32, D(1, 2, 3));
    use_ints(u, 2, V(0, 1));
    use_out(u, F32);
    use_refuse(u, "permutation: extent 0 is 2, but the other inputs make it 3");
    use_free(u);
}

static struct use *squeeze(uint32_t n, const double *axes) {
    struct use *u = use_new(ANEURALNETWORKS_SQUEEZE);
    use_iota(u, F32, D(1, 2, 1, 3));
    if (n)
        use_ints(u, n, axes);
    else
        use_omit(u, I32, 1, false);
    use_out(u, F32);
    return u;
}

static void squeeze_axes(void **state) {
    (void)state;
    struct use *u = squeeze(0, NULL);
    use_expect(u, 0, D(2, 3), V(0, 1, 2, 3, 4, 5), 0);
    use_free(u);
    u = squeeze(1, V(0));
    use_expect(u, 0, D(2, 1, 3), V(0, 1, 2, 3, 4, 5), 0);
    use_free(u);
    u = squeeze(3, V(-2, 2, -2));
    use_expect(u, 0, D(1, 2, 3), V(0, 1, 2, 3, 4, 5), 0);
    use_free(u);
    u = squeeze(1, V(1));
    use_refuse(u, "axis 1 has extent 2");
    use_free(u);
    u = squeeze(1, V(-5));
    use_refuse(u, "-5 is not an axis");
    use_free(u);
    u = use_new(ANEURALNETWORKS_SQUEEZE);
    use_in(u, Q8, D(1, 1), V(9));
    use_quant(u, 0.5, 7);
    use_omit(u, I32, 1, true);
    use_same_out(u, Q8);
    use_expect(u, 0, D(1), V(9), 0);
    use_free(u);
}

static void expand_dims(void **state) {
    (void)state;
    static const struct {
        int axis;
        uint32_t dims[3];
    } cases[] = {{0, {1, 2, 3}}, {1, {2, 1, 3}}, {2, {2, 3, 1}}, {-1, {2, 3, 1}}, {-2, {2, 1, 3}}, {-3, {1, 2, 3}}};
    for (int i = 0; i < 6; i++) {
        struct use *u = use_new(ANEURALNETWORKS_EXPAND_DIMS);
        use_iota(u, I32, D(2, 3));
        use_scalar(u, INT, cases[i].axis);
        use_out(u, I32);
        use_expect(u, 0, 3, cases[i].dims, V(0, 1, 2, 3, 4, 5), 0);
        use_free(u);
    }
    for (int axis = -4; axis < 4; axis += 7) {
        struct use *u = use_new(ANEURALNETWORKS_EXPAND_DIMS);
        use_iota(u, F32, D(2, 3));
        use_scalar(u, INT, axis);
        use_out(u, F32);
        use_refuse(u, "is not an axis of an output of rank 3");
        use_free(u);
    }
}

/* ------------------------------------------------------------------------- slices */

static struct use *slice(int32_t type, const double *begin, const double *size) {
    struct use *u = use_new(ANEURALNETWORKS_SLICE);
    use_iota(u, type, D(2, 4));
    use_ints(u, 2, begin);
    use_ints(u, 2, size);
    use_same_out(u, type);
    return u;
}

static void slice_parts(void **state) {
    (void)state;
    static const int32_t types[] = {F32, F16, I32, Q8, Q8S};
    for (int i = 0; i < 5; i++) {
        struct use *u = slice(types[i], V(1, 1), V(1, 2));
        use_expect(u, 0, D(1, 2), V(5, 6), 0);
        assert_int_equal(u->level, i == 4 ? 4 : 3);
        use_free(u);
    }
    struct use *u = slice(F32, V(0, 2), V(-1, -1));
    use_expect(u, 0, D(2, 2), V(2, 3, 6, 7), 0);
    use_free(u);
    u = slice(F32, V(0, 4), V(2, 0));
    use_expect(u, 0, D(2, 0), NULL, 0);
    use_free(u);
    u = slice(F32, V(0, 2), V(2, 3));
    use_refuse(u, "begin 2 and size 3 leave the extent 4");
    use_free(u);
    u = slice(F32, V(-1, 0), V(1, 1));
    use_refuse(u, "negative");
    use_free(u);
    u = slice(F32, V(0, 0), V(-2, 1));
    use_refuse(u, "below -1");
    use_free(u);
}

struct stride_case {
    double begin[2], end[2], strides[2];
    int masks[3];
    uint32_t rank, dims[2];
    double y[8];
    const char *refused;
};

/* Of [[0,1,2,3], [4,5,6,7]]. */
static const struct stride_case stride_cases[] = {
    {{0, 1}, {2, 4}, {1, 2}, {0, 0, 0}, 2, {2, 2}, {1, 3, 5, 7}, NULL},
    {{1, -1}, {-9, 0}, {-1, -2}, {0, 0, 0}, 2, {2, 2}, {7, 5, 3, 1}, NULL},
    {{0, -2}, {9, 9}, {1, 1}, {0, 0, 0}, 2, {2, 2}, {2, 3, 6, 7}, NULL},
    {{1, 3}, {0, 1}, {1, 1}, {3, 1, 0}, 2, {2, 1}, {0, 4}, NULL},  /* both from the start, rows to the end */
    {{0, 0}, {1, 0}, {1, -2}, {2, 2, 0}, 2, {1, 2}, {3, 1}, NULL}, /* backwards the start is the last */
    {{1, 0}, {2, 3}, {1, 1}, {0, 0, 1}, 1, {3}, {4, 5, 6}, NULL},
    {{1, -1}, {2, 4}, {1, 1}, {0, 0, 3}, 1, {1}, {7}, NULL},
    {{0, 2}, {2, 2}, {1, 1}, {0, 0, 0}, 2, {2, 0}, {0}, NULL},
    {{0, -1}, {2, 0}, {1, 1}, {0, 0, 2}, 0, {0}, {0}, "0 elements of an axis that is removed"},
    {{0, 1}, {2, 3}, {1, 1}, {0, 0, 2}, 0, {0}, {0}, "2 elements of an axis that is removed"},
    {{0, 1}, {2, 0}, {1, -1}, {0, 0, 2}, 0, {0}, {0}, "stride -1 of an axis that is removed"},
    {{0, 0}, {2, 2}, {1, 0}, {0, 0, 0}, 0, {0}, {0}, "axis 1: the stride is 0"},
};

static void strided_slice(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof stride_cases / sizeof *stride_cases; i++) {
        const struct stride_case *c = &stride_cases[i];
        struct use *u = use_new(ANEURALNETWORKS_STRIDED_SLICE);
        use_iota(u, Q8, D(2, 4));
        use_ints(u, 2, c->begin);
        use_ints(u, 2, c->end);
        use_ints(u, 2, c->strides);
        for (int m = 0; m < 3; m++) use_scalar(u, INT, c->masks[m]);
        use_same_out(u, Q8);
        if (c->refused)
            use_refuse(u, c->refused);
        else
            use_expect(u, 0, c->rank, c->dims, c->y, 0);
        use_free(u);
    }
}

/* -------------------------------------------------------------------- SPLIT, TILE */

static struct use *split(int axis, int count, int outputs) {
    struct use *u = use_new(ANEURALNETWORKS_SPLIT);
    use_iota(u, Q8S, D(2, 6));
    use_scalar(u, INT, axis);
    use_scalar(u, INT, count);
    for (int i = 0; i < outputs; i++) use_same_out(u, Q8S);
    return u;
}

static void split_pieces(void **state) {
    (void)state;
    static const double y[3][4] = {{0, 1, 6, 7}, {2, 3, 8, 9}, {4, 5, 10, 11}};
    for (int axis = -1; axis < 2; axis += 2) {
        struct use *u = split(axis, 3, 3);
        for (uint32_t i = 0; i < 3; i++) use_expect(u, i, D(2, 2), y[i], 0);
        assert_int_equal(u->level, 4);
        use_free(u);
    }
    struct use *u = split(0, 2, 2);
    use_expect(u, 0, D(1, 6), V(0, 1, 2, 3, 4, 5), 0);
    use_expect(u, 1, D(1, 6), V(6, 7, 8, 9, 10, 11), 0);
    use_free(u);
    u = split(0, 1, 1);
    use_expect(u, 0, D(2, 6), V(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11), 0);
    use_free(u);
    u = split(1, 4, 4);
    use_refuse(u, "extent 6 of the axis does not divide into 4");
    use_free(u);
    u = split(1, 3, 2);
    use_refuse(u, "3 splits, but 2 outputs");
    use_free(u);
    u = split(1, 0, 0);
    use_refuse(u, "0 outputs: expected at least 1");
    use_free(u);
    u = split(1, 2, 2);
    use_quant(u, 0.5, 8); /* of the last output */
    use_refuse(u, "output 1 (output): zero point 8, expected 7");
    use_free(u);
}

static struct use *tile(double a, double b) {
    struct use *u = use_new(ANEURALNETWORKS_TILE);
    use_iota(u, I32, D(2, 2));
    use_ints(u, 2, V(a, b));
    use_out(u, I32);
    return u;
}

static void tile_multiples(void **state) {
    (void)state;
    struct use *u = tile(1, 3);
    use_expect(u, 0, D(2, 6), V(0, 1, 0, 1, 0, 1, 2, 3, 2, 3, 2, 3), 0);
    use_free(u);
    u = tile(2, 1);
    use_expect(u, 0, D(4, 2), V(0, 1, 2, 3, 0, 1, 2, 3), 0);
    use_free(u);
    u = tile(0, 1);
    use_expect(u, 0, D(0, 2), NULL, 0);
    use_free(u);
    u = tile(1, -1);
    use_refuse(u, "axis 1: multiple -1 is negative");
    use_free(u);
    u = tile(1, 0x7fffffff);
    use_refuse(u, "too large");
    use_free(u);
}

/* ------------------------------------------------------------------------ padding */

static struct use *padded(int32_t code, int32_t type, const double *paddings) {
    struct use *u = use_new(code);
    use_in(u, type, D(2, 3), V(1, 2, 3, 4, 5, 6));
    if (nnv_is_quant(type)) use_quant(u, 0.5, 7);
    use_const(u, I32, D(2, 2), paddings);
    return u;
}

static void pad(void **state) {
    (void)state;
    static const int32_t types[] = {F32, F16, Q8, Q8S};
    for (int i = 0; i < 4; i++) {
        double z = nnv_is_quant(types[i]) ? 7 : 0;
        struct use *u = padded(ANEURALNETWORKS_PAD, types[i], V(1, 0, 0, 2));
        use_same_out(u, types[i]);
        use_expect(u, 0, D(3, 5), V(z, z, z, z, z, 1, 2, 3, z, z, 4, 5, 6, z, z), 0);
        assert_true(use_spread(u, 0) == 0);
        use_free(u);
    }
    struct use *u = padded(ANEURALNETWORKS_PAD, F32, V(0, 0, -1, 0));
    use_out(u, F32);
    use_refuse(u, "axis 1: padding -1 is negative");
    use_free(u);
    u = padded(ANEURALNETWORKS_PAD, F32, V(0, 0, 0, 0x7fffffff));
    use_out(u, F32);
    use_refuse(u, "too large");
    use_free(u);
    u = use_new(ANEURALNETWORKS_PAD);
    use_iota(u, F32, D(2, 3));
    use_const(u, I32, D(1, 2), V(0, 0));
    use_out(u, F32);
    use_refuse(u, "paddings: extent 0 is 1");
    use_free(u);
    u = use_new(ANEURALNETWORKS_PAD);
    use_iota(u, F32, D(2, 3));
    use_const(u, I32, D(2, 1), V(0, 0));
    use_out(u, F32);
    use_refuse(u, "paddings: extent 1 is 1");
    use_free(u);
}

/* A zero point other than 0 came with level 3. */
static void pad_level(void **state) {
    (void)state;
    for (int zero_point = 0; zero_point < 2; zero_point++) {
        struct use *u = use_new(ANEURALNETWORKS_PAD);
        use_in(u, Q8, D(2), V(5, 9));
        use_quant(u, 0.5, zero_point);
        use_const(u, I32, D(1, 2), V(1, 1));
        u->out[u->op.nout++] = u->model.main.noperands;
        use_operand(u, Q8, D(4))->lifetime = NNV_SUBGRAPH_OUTPUT;
        use_quant(u, 0.5, zero_point);
        use_expect(u, 0, D(4), V(zero_point, 5, 9, zero_point), 0);
        assert_int_equal(u->level, 2 + zero_point);
        use_free(u);
    }
}

static void pad_v2(void **state) {
    (void)state;
    static const struct {
        int32_t type, scalar;
        double value;
    } cases[] = {{F32, FLT, -1.5}, {F16, HALF, 0.25}, {Q8, INT, 255}, {Q8S, INT, -128}};
    for (int i = 0; i < 4; i++) {
        double v = cases[i].value;
        struct use *u = padded(ANEURALNETWORKS_PAD_V2, cases[i].type, V(0, 1, 1, 0));
        use_scalar(u, cases[i].scalar, v);
        use_same_out(u, cases[i].type);
        use_expect(u, 0, D(3, 4), V(v, 1, 2, 3, v, 4, 5, 6, v, v, v, v), 0);
        assert_true(use_spread(u, 0) == 0);
        use_free(u);
    }
    struct use *u = padded(ANEURALNETWORKS_PAD_V2, Q8, V(0, 1, 1, 0));
    use_scalar(u, INT, 300);
    use_same_out(u, Q8);
    use_refuse(u, "value 300 is not a code");
    use_free(u);
}

/* 0.1 is none of float16: a relaxed model may round it. */
static void pad_v2_relaxed(void **state) {
    (void)state;
    for (int relaxed = 0; relaxed < 2; relaxed++) {
        struct use *u = padded(ANEURALNETWORKS_PAD_V2, F32, V(0, 1, 0, 0));
        use_scalar(u, FLT, 0.1);
        use_out(u, F32);
        u->model.relaxed = relaxed;
        double spread = use_spread(u, 0);
        assert_true(relaxed ? spread > 1e-5 && spread < 1e-2 : spread == 0);
        use_free(u);
    }
}

static struct use *mirrored(int mode, const double *paddings) {
    struct use *u = padded(ANEURALNETWORKS_MIRROR_PAD, I32, paddings);
    use_scalar(u, INT, mode);
    use_out(u, I32);
    return u;
}

static void mirror_pad(void **state) {
    (void)state;
    struct use *u = mirrored(0, V(1, 0, 2, 1));
    use_expect(u, 0, D(3, 6), V(6, 5, 4, 5, 6, 5, 3, 2, 1, 2, 3, 2, 6, 5, 4, 5, 6, 5), 0);
    assert_int_equal(u->level, 7);
    use_free(u);
    u = mirrored(1, V(0, 1, 3, 1));
    use_expect(u, 0, D(3, 7), V(3, 2, 1, 1, 2, 3, 3, 6, 5, 4, 4, 5, 6, 6, 6, 5, 4, 4, 5, 6, 6), 0);
    use_free(u);
    u = mirrored(0, V(0, 0, 0, 3));
    use_refuse(u, "axis 1: padding 3 is above 2");
    use_free(u);
    u = mirrored(1, V(3, 0, 0, 0));
    use_refuse(u, "axis 0: padding 3 is above 2");
    use_free(u);
    u = mirrored(2, V(0, 0, 0, 0));
    use_refuse(u, "mode 2");
    use_free(u);
}

/* ------------------------------------------------- GATHER, REVERSE, PACK, CHANNEL_SHUFFLE */

static struct use *gather(int axis, uint32_t rank, const uint32_t *dims, const double *indices) {
    struct use *u = use_new(ANEURALNETWORKS_GATHER);
    use_iota(u, Q8, D(2, 3));
    use_scalar(u, INT, axis);
    use_in(u, I32, rank, dims, indices);
    use_same_out(u, Q8);
    return u;
}

static void gather_indices(void **state) {
    (void)state;
    struct use *u = gather(-1, D(2), V(2, 0));
    use_expect(u, 0, D(2, 2), V(2, 0, 5, 3), 0);
    assert_true(use_spread(u, 0) == 0);
    use_free(u);
    u = gather(0, D(3), V(1, 1, 0));
    use_expect(u, 0, D(3, 3), V(3, 4, 5, 3, 4, 5, 0, 1, 2), 0);
    use_free(u);
    u = gather(1, D(2, 2), V(0, 1, 2, 2));
    use_expect(u, 0, D(2, 2, 2), V(0, 1, 2, 2, 3, 4, 5, 5), 0);
    use_free(u);
    u = gather(1, D(2), V(0, 3));
    use_refuse(u, "index 1 is 3, but the axis has extent 3");
    use_free(u);
    u = gather(1, D(1), V(-1));
    use_refuse(u, "index 0 is -1");
    use_free(u);
    u = gather(2, D(1), V(0));
    use_refuse(u, "2 is not an axis");
    use_free(u);
}

static struct use *reverse(uint32_t n, const double *axis) {
    struct use *u = use_new(ANEURALNETWORKS_REVERSE);
    use_iota(u, F32, D(2, 3));
    use_ints(u, n, axis);
    use_out(u, F32);
    return u;
}

static void reverse_axis(void **state) {
    (void)state;
    struct use *u = reverse(1, V(1));
    use_expect(u, 0, D(2, 3), V(2, 1, 0, 5, 4, 3), 0);
    assert_int_equal(u->level, 7);
    use_free(u);
    u = reverse(1, V(0));
    use_expect(u, 0, D(2, 3), V(3, 4, 5, 0, 1, 2), 0);
    use_free(u);
    u = reverse(1, V(-1));
    use_refuse(u, "axis -1 is not in 0 to 1");
    use_free(u);
    u = reverse(2, V(0, 1));
    use_refuse(u, "axis: extent 0 is 2");
    use_free(u);
}

static struct use *pack(int axis, int zero_point, uint32_t columns) {
    struct use *u = use_new(ANEURALNETWORKS_PACK);
    use_scalar(u, INT, axis);
    use_in(u, Q8S, D(1, 2), V(1, 2));
    use_quant(u, 0.5, 7);
    use_in(u, Q8S, 2, (uint32_t[]){1, columns}, V(3, 4, 5));
    use_quant(u, 0.5, zero_point);
    use_in(u, Q8S, D(1, 2), V(5, 6));
    use_quant(u, 0.5, 7);
    use_same_out(u, Q8S);
    return u;
}

static void pack_axes(void **state) {
    (void)state;
    struct use *u = pack(0, 7, 2);
    use_expect(u, 0, D(3, 1, 2), V(1, 2, 3, 4, 5, 6), 0);
    assert_int_equal(u->level, 6);
    use_free(u);
    u = pack(1, 7, 2);
    use_expect(u, 0, D(1, 3, 2), V(1, 2, 3, 4, 5, 6), 0);
    use_free(u);
    u = pack(2, 7, 2);
    use_expect(u, 0, D(1, 2, 3), V(1, 3, 5, 2, 4, 6), 0);
    use_free(u);
    u = pack(3, 7, 2);
    use_refuse(u, "axis 3 is above the inputs' rank 2");
    use_free(u);
    u = pack(0, 8, 2);
    use_refuse(u, "zero point 8, expected 7");
    use_free(u);
    u = pack(0, 7, 3);
    use_refuse(u, "tensor 1: extent 1 is 3");
    use_free(u);
}

static void channel_shuffle(void **state) {
    (void)state;
    static const int32_t types[] = {F32, F16, Q8, Q8S};
    for (int i = 0; i < 4; i++) {
        struct use *u = use_new(ANEURALNETWORKS_CHANNEL_SHUFFLE);
        use_iota(u, types[i], D(1, 6)); /* three groups of two: 01 23 45 */
        use_scalar(u, INT, 3);
        use_scalar(u, INT, -1);
        use_same_out(u, types[i]);
        use_expect(u, 0, D(1, 6), V(0, 2, 4, 1, 3, 5), 0);
        use_free(u);
    }
    struct use *u = use_new(ANEURALNETWORKS_CHANNEL_SHUFFLE);
    use_iota(u, F32, D(4, 2));
    use_scalar(u, INT, 2);
    use_scalar(u, INT, 0);
    use_out(u, F32);
    use_expect(u, 0, D(4, 2), V(0, 1, 4, 5, 2, 3, 6, 7), 0);
    use_free(u);
    u = use_new(ANEURALNETWORKS_CHANNEL_SHUFFLE);
    use_iota(u, F32, D(4, 2));
    use_scalar(u, INT, 3);
    use_scalar(u, INT, 0);
    use_out(u, F32);
    use_refuse(u, "extent 4 of the axis does not divide into 3 groups");
    use_free(u);
}

/* --------------------------------------------------- SPACE_TO_BATCH_ND, BATCH_TO_SPACE_ND */

static struct use *to_batch(int32_t type, const double *block, const double *paddings, int nchw) {
    struct use *u = use_new(ANEURALNETWORKS_SPACE_TO_BATCH_ND);
    use_in(u, type, 4, nchw == 1 ? (uint32_t[]){1, 1, 2, 3} : (uint32_t[]){1, 2, 3, 1}, V(1, 2, 3, 4, 5, 6));
    if (nnv_is_quant(type)) use_quant(u, 0.5, 7);
    use_ints(u, 2, block);
    use_const(u, I32, D(2, 2), paddings);
    if (nchw >= 0) use_scalar(u, BOOL, nchw);
    use_same_out(u, type);
    return u;
}

static void space_to_batch(void **state) {
    (void)state;
    for (int nchw = -1; nchw < 2; nchw++) {
        /* Rows 7 1 2 3 and 7 4 5 6 by columns: block (u, v) takes row u and columns v, v + 2. */
        struct use *u = to_batch(Q8, V(2, 2), V(0, 0, 1, 0), nchw);
        const uint32_t nhwc_dims[] = {4, 1, 2, 1}, nchw_dims[] = {4, 1, 1, 2};
        use_expect(u, 0, 4, nchw == 1 ? nchw_dims : nhwc_dims, V(7, 2, 1, 3, 7, 5, 4, 6), 0);
        assert_int_equal(u->level, 3);
        use_free(u);
    }
    struct use *u = to_batch(F32, V(1, 2), V(1, 0, 0, 1), -1); /* rows 0 0 0 0, 1 2 3 0, 4 5 6 0 */
    use_expect(u, 0, D(2, 3, 2, 1), V(0, 0, 1, 3, 4, 6, 0, 0, 2, 0, 5, 0), 0);
    assert_true(use_spread(u, 0) == 0);
    use_free(u);
    u = to_batch(F32, V(2, 2), V(0, 0, 0, 0), -1);
    use_refuse(u, "padded width 3 is not a multiple of 2");
    use_free(u);
    u = to_batch(F32, V(0, 2), V(0, 0, 0, 1), -1);
    use_refuse(u, "block size 0");
    use_free(u);
    u = to_batch(F32, V(1, 1), V(0, 0, -1, 1), -1);
    use_refuse(u, "padding -1");
    use_free(u);
}

static struct use *to_space(uint32_t batches, double p, double q, int nchw) {
    struct use *u = use_new(ANEURALNETWORKS_BATCH_TO_SPACE_ND);
    use_iota(u, Q8S, 4, nchw == 1 ? (uint32_t[]){batches, 1, 1, 2} : (uint32_t[]){batches, 1, 2, 1});
    use_ints(u, 2, V(p, q));
    if (nchw >= 0) use_scalar(u, BOOL, nchw);
    use_same_out(u, Q8S);
    return u;
}

static void batch_to_space(void **state) {
    (void)state;
    struct use *u = to_space(4, 2, 2, -1);
    use_expect(u, 0, D(1, 2, 4, 1), V(0, 2, 1, 3, 4, 6, 5, 7), 0);
    use_free(u);
    u = to_space(4, 1, 2, 0); /* images of batches 0, 2 and 1, 3 */
    use_expect(u, 0, D(2, 1, 4, 1), V(0, 4, 1, 5, 2, 6, 3, 7), 0);
    use_free(u);
    u = to_space(2, 2, 1, 1);
    use_expect(u, 0, D(1, 1, 2, 2), V(0, 1, 2, 3), 0);
    use_free(u);
    u = to_space(4, 3, 1, -1);
    use_refuse(u, "4 batches are not a multiple of 3");
    use_free(u);
    u = to_space(4, 2, 0x40000000, -1);
    use_refuse(u, "too large");
    use_free(u);
}

/* ------------------------------------------------------- attributes from the request */

/* The model knows the ranks, the request gives the extents. */
static void attributes_as_inputs(void **state) {
    (void)state;
    struct use *u = use_new(ANEURALNETWORKS_SPACE_TO_BATCH_ND);
    use_in(u, F32, D(1, 2, 3, 1), V(1, 2, 3, 4, 5, 6));
    use_in(u, I32, D(2), V(2, 2));
    use_in(u, I32, D(2, 2), V(0, 0, 0, 1));
    use_out(u, F32);
    use_expect(u, 0, D(4, 1, 2, 1), V(1, 3, 2, 0, 4, 6, 5, 0), 0);
    use_free(u);
    u = use_new(ANEURALNETWORKS_PAD);
    use_iota(u, F32, D(2));
    use_in(u, I32, D(1, 2), V(0, 1));
    use_out(u, F32);
    use_expect(u, 0, D(3), V(0, 1, 0), 0);
    use_free(u);
    u = use_new(ANEURALNETWORKS_SQUEEZE);
    use_iota(u, F32, D(2, 1));
    use_in(u, I32, D(1), V(-1));
    use_out(u, F32);
    use_expect(u, 0, D(2), V(0, 1), 0);
    use_free(u);
    u = use_new(ANEURALNETWORKS_REVERSE);
    use_iota(u, F32, D(1, 1, 3));
    use_in(u, I32, D(1), V(2));
    use_out(u, F32);
    use_expect(u, 0, D(1, 1, 3), V(2, 1, 0), 0);
    use_free(u);
    u = use_new(ANEURALNETWORKS_TILE);
    use_iota(u, F32, D(1, 2));
    use_in(u, I32, D(2), V(2, -1));
    use_out(u, F32);
    use_refuse(u, "multiple -1");
    use_free(u);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(transpose),
        cmocka_unit_test(transpose_refusals),
        cmocka_unit_test(squeeze_axes),
        cmocka_unit_test(expand_dims),
        cmocka_unit_test(slice_parts),
        cmocka_unit_test(strided_slice),
        cmocka_unit_test(split_pieces),
        cmocka_unit_test(tile_multiples),
        cmocka_unit_test(pad),
        cmocka_unit_test(pad_level),
        cmocka_unit_test(pad_v2),
        cmocka_unit_test(pad_v2_relaxed),
        cmocka_unit_test(mirror_pad),
        cmocka_unit_test(gather_indices),
        cmocka_unit_test(reverse_axis),
        cmocka_unit_test(pack_axes),
        cmocka_unit_test(channel_shuffle),
        cmocka_unit_test(space_to_batch),
        cmocka_unit_test(batch_to_space),
        cmocka_unit_test(attributes_as_inputs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
