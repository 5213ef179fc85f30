/* SPDX-License-Identifier: Apache-2.0 */
/* Operations that move values: CONCATENATION, DEPTH_TO_SPACE, SPACE_TO_DEPTH, RESHAPE, the lookups. */
#include "tests/kit/op.h"

/* ------------------------------------------------------------------ CONCATENATION */

static struct use *concat(int32_t type, uint32_t axis) {
    struct use *u = use_new(ANEURALNETWORKS_CONCATENATION);
    use_in(u, type, D(2, 1), V(1, 2));
    if (nnv_is_quant(type)) use_quant(u, 0.5, 0);
    use_in(u, type, 2, axis == 0 ? (uint32_t[]){1, 1} : (uint32_t[]){2, 2}, V(3, 4, 5, 6));
    if (nnv_is_quant(type)) use_quant(u, 1, -4);
    use_scalar(u, INT, axis);
    use_out(u, type);
    return u;
}

static void concat_axes(void **state) {
    (void)state;
    struct use *u = concat(F32, 0);
    use_expect(u, 0, D(3, 1), V(1, 2, 3), 0);
    assert_int_equal(u->level, 3); /* the output has no rank */
    use_free(u);
    u = concat(F16, 1);
    use_expect(u, 0, D(2, 3), V(1, 3, 4, 2, 5, 6), 0);
    assert_true(use_spread(u, 0) == 0);
    use_free(u);
}

static void concat_rescales(void **state) {
    (void)state;
    struct use *u = concat(Q8S, 1); /* real 0.5 1 and 7 8 9 10 */
    use_quant(u, 0.25, -10);
    use_expect(u, 0, D(2, 3), V(-8, 18, 22, -6, 26, 30), 0);
    assert_int_equal(u->level, 4);
    use_quant(u, 4, 3); /* 0.125 0.25 1.75 2 2.25 2.5: the last is a tie */
    use_expect(u, 0, D(2, 3), V(3, 5, 5, 3, 5, 6), 0);
    assert_true(use_spread(u, 0) == 1); /* and may go either way */
    use_free(u);
}

static struct use *concat_quant8(double scale, int32_t zero_point) {
    struct use *u = use_new(ANEURALNETWORKS_CONCATENATION);
    use_in(u, Q8, D(1), V(255));
    use_quant(u, 0.5, 3);
    use_in(u, Q8, D(2), V(0, 128));
    use_quant(u, scale, zero_point);
    use_scalar(u, INT, 0);
    u->out[u->op.nout++] = u->model.main.noperands;
    use_operand(u, Q8, D(3))->lifetime = NNV_SUBGRAPH_OUTPUT;
    use_quant(u, 0.5, 3);
    return u;
}

static void concat_level(void **state) {
    (void)state;
    struct use *u = concat_quant8(0.5, 3);
    use_expect(u, 0, D(3), V(255, 0, 128), 0);
    assert_int_equal(u->level, 1);
    use_free(u);
    u = concat_quant8(0.5, 4);
    use_expect(u, 0, D(3), V(255, 0, 127), 0); /* -4 units saturate at 0 */
    assert_int_equal(u->level, 3);
    use_free(u);
}

static void concat_one_and_empty(void **state) {
    (void)state;
    struct use *u = use_new(ANEURALNETWORKS_CONCATENATION);
    use_in(u, F32, D(2, 2), V(1, 2, 3, 4));
    use_scalar(u, INT, 1);
    use_out(u, F32);
    use_expect(u, 0, D(2, 2), V(1, 2, 3, 4), 0);
    use_free(u);
    u = use_new(ANEURALNETWORKS_CONCATENATION);
    use_in(u, F32, D(2, 0), NULL);
    use_in(u, F32, D(2, 1), V(5, 6));
    use_scalar(u, INT, 1);
    use_out(u, F32);
    use_expect(u, 0, D(2, 1), V(5, 6), 0);
    use_free(u);
}

static void concat_refusals(void **state) {
    (void)state;
    struct use *u = concat(F32, 2);
    use_refuse(u, "axis 2 is not below the rank 2");
    use_free(u);
    u = use_new(ANEURALNETWORKS_CONCATENATION);
    use_in(u, F32, D(2, 1), V(1, 2));
    use_in(u, F32, D(3, 1), V(1, 2, 3));
    use_scalar(u, INT, 1);
    use_out(u, F32);
    use_refuse(u, "extent 0 is 3, but another input has 2");
    use_free(u);
    u = use_new(ANEURALNETWORKS_CONCATENATION);
    use_in(u, F32, D(1), V(1));
    use_scalar(u, INT, -1);
    use_out(u, F32);
    use_refuse(u, "negative");
    use_free(u);
    u = use_new(ANEURALNETWORKS_CONCATENATION);
    use_in(u, F32, D(1), V(1));
    use_in(u, F32, D(1, 1), V(1));
    use_scalar(u, INT, 0);
    use_out(u, F32);
    use_refuse(u, "rank");
    use_free(u);
    u = use_new(ANEURALNETWORKS_CONCATENATION);
    use_in(u, F32, D(1, 1, 1, 1, 1), V(1));
    use_scalar(u, INT, 0);
    use_out(u, F32);
    use_refuse(u, "rank 5 is above 4");
    use_free(u);
}

/* ------------------------------------------------- DEPTH_TO_SPACE, SPACE_TO_DEPTH */

static struct use *block(int32_t code, uint32_t rank, const uint32_t *dims, double size, int nchw) {
    double iota[64];
    for (int i = 0; i < 64; i++) iota[i] = i;
    struct use *u = use_new(code);
    use_in(u, F32, rank, dims, iota);
    use_scalar(u, INT, size);
    if (nchw >= 0) use_scalar(u, BOOL, nchw);
    use_out(u, F32);
    return u;
}

static void depth_to_space(void **state) {
    (void)state;
    /* One pixel of depth 8, block 2: channel pairs (0,1) (2,3) / (4,5) (6,7) become four pixels. */
    struct use *u = block(ANEURALNETWORKS_DEPTH_TO_SPACE, D(1, 1, 2, 8), 2, -1);
    use_expect(u, 0, D(1, 2, 4, 2), V(0, 1, 2, 3, 8, 9, 10, 11, 4, 5, 6, 7, 12, 13, 14, 15), 0);
    use_free(u);
    /* NCHW: depth index (p*2+q)*2 + c: plane d of the input goes to plane d % 2. */
    u = block(ANEURALNETWORKS_DEPTH_TO_SPACE, D(1, 8, 1, 1), 2, 1);
    use_expect(u, 0, D(1, 2, 2, 2), V(0, 2, 4, 6, 1, 3, 5, 7), 0);
    assert_int_equal(u->level, 3);
    use_free(u);
    u = block(ANEURALNETWORKS_DEPTH_TO_SPACE, D(1, 1, 1, 9), 3, 0);
    use_expect(u, 0, D(1, 3, 3, 1), V(0, 1, 2, 3, 4, 5, 6, 7, 8), 0);
    use_free(u);
}

static void space_to_depth(void **state) {
    (void)state;
    struct use *u = block(ANEURALNETWORKS_SPACE_TO_DEPTH, D(1, 2, 4, 1), 2, 0);
    use_expect(u, 0, D(1, 1, 2, 4), V(0, 1, 4, 5, 2, 3, 6, 7), 0);
    use_free(u);
    u = block(ANEURALNETWORKS_SPACE_TO_DEPTH, D(1, 2, 2, 2), 2, 1); /* planes 0..3 and 4..7 */
    use_expect(u, 0, D(1, 8, 1, 1), V(0, 4, 1, 5, 2, 6, 3, 7), 0);
    use_free(u);
    u = block(ANEURALNETWORKS_SPACE_TO_DEPTH, D(1, 1, 2, 2), 1, -1);
    use_expect(u, 0, D(1, 1, 2, 2), V(0, 1, 2, 3), 0);
    use_free(u);
}

static void block_refusals(void **state) {
    (void)state;
    struct use *u = block(ANEURALNETWORKS_DEPTH_TO_SPACE, D(1, 1, 1, 6), 2, -1);
    use_refuse(u, "the depth 6 is not a multiple of 4");
    use_free(u);
    u = block(ANEURALNETWORKS_SPACE_TO_DEPTH, D(1, 4, 3, 1), 2, -1);
    use_refuse(u, "the width 3 is not a multiple of 2");
    use_free(u);
    u = block(ANEURALNETWORKS_SPACE_TO_DEPTH, D(1, 4, 3, 1), 2, 1); /* height 3 */
    use_refuse(u, "the height 3");
    use_free(u);
    u = block(ANEURALNETWORKS_DEPTH_TO_SPACE, D(1, 1, 1, 4), 0, -1);
    use_refuse(u, "above 0");
    use_free(u);
    u = block(ANEURALNETWORKS_DEPTH_TO_SPACE, D(1, 3, 1, 4), 0x7fffffff, -1);
    use_refuse(u, "too large");
    use_free(u);
    u = block(ANEURALNETWORKS_DEPTH_TO_SPACE, D(1, 1, 4), 2, -1);
    use_refuse(u, "rank 3 is below 4");
    use_free(u);
}

/* ------------------------------------------------------------------------ RESHAPE */

static struct use *reshape(int32_t type, uint32_t n, const double *shape) {
    struct use *u = use_new(ANEURALNETWORKS_RESHAPE);
    use_in(u, type, D(2, 3), V(1, 2, 3, 4, 5, 6));
    if (nnv_is_quant(type)) use_quant(u, 0.5, 7);
    use_const(u, I32, 1, &n, shape);
    use_out(u, type);
    if (nnv_is_quant(type)) use_quant(u, 0.5, 7);
    return u;
}

static void reshape_shapes(void **state) {
    (void)state;
    static const int32_t types[] = {F32, F16, Q8, Q8S, I32};
    static const int levels[] = {3, 3, 3, 4, 6}; /* an output without a rank is of level 3 */
    for (int i = 0; i < 5; i++) {
        struct use *u = reshape(types[i], 1, V(6));
        use_expect(u, 0, D(6), V(1, 2, 3, 4, 5, 6), 0);
        assert_int_equal(u->level, levels[i]);
        use_free(u);
    }
    struct use *u = reshape(F32, 3, V(3, -1, 1));
    use_expect(u, 0, D(3, 2, 1), V(1, 2, 3, 4, 5, 6), 0);
    use_free(u);
    u = reshape(F32, 4, V(-1, 1, 1, 6));
    use_expect(u, 0, D(1, 1, 1, 6), V(1, 2, 3, 4, 5, 6), 0);
    use_free(u);
}

static void reshape_by_input(void **state) {
    (void)state;
    struct use *u = use_new(ANEURALNETWORKS_RESHAPE);
    use_in(u, F32, D(4), V(1, 2, 3, 4));
    use_in(u, I32, D(2), V(2, -1));
    use_out(u, F32);
    use_expect(u, 0, D(2, 2), V(1, 2, 3, 4), 0);
    use_free(u);
}

static void reshape_refusals(void **state) {
    (void)state;
    static const struct {
        uint32_t n;
        double shape[5];
        const char *words;
    } cases[] = {
        {2, {2, 2}, "6 elements cannot take a shape of 4"},
        {2, {4, -1}, "a multiple of 4"},
        {2, {-1, -1}, "-1 at 0 and at 1"},
        {2, {-2, -3}, "extent -2"},
        {2, {0, 6}, "extent 0"},
        {5, {1, 1, 1, 2, 3}, "at most 4"},
        {3, {65536, 65536, 65536}, "too many elements"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct use *u = reshape(F32, cases[i].n, cases[i].shape);
        use_refuse(u, cases[i].words);
        use_free(u);
    }
    struct use *u = reshape(Q8, 1, V(6));
    use_quant(u, 0.5, 8);
    use_refuse(u, "zero point");
    use_free(u);
}

/* ------------------------------------------------------------------------ lookups */

static struct use *embedding(int32_t type, double row) {
    struct use *u = use_new(ANEURALNETWORKS_EMBEDDING_LOOKUP);
    use_in(u, I32, D(3), V(2, 0, row));
    use_in(u, type, D(3, 2, 1), V(1, 2, 3, 4, 5, 6));
    if (nnv_is_quant(type)) use_quant(u, 0.25, 9);
    use_out(u, type);
    if (nnv_is_quant(type)) use_quant(u, 0.25, 9);
    return u;
}

static void embedding_lookup(void **state) {
    (void)state;
    static const int32_t types[] = {F32, I32, Q8, F16, Q8S};
    static const int levels[] = {3, 3, 3, 4, 4};
    for (int i = 0; i < 5; i++) {
        struct use *u = embedding(types[i], 2);
        use_expect(u, 0, D(3, 2, 1), V(5, 6, 1, 2, 5, 6), 0);
        assert_int_equal(u->level, levels[i]);
        assert_true(use_spread(u, 0) == 0);
        use_free(u);
    }
    static const double outside[] = {3, -1};
    for (int i = 0; i < 2; i++) {
        struct use *u = embedding(F32, outside[i]);
        use_refuse(u, "lookup 2: row");
        use_free(u);
    }
    struct use *u = embedding(Q8, 1);
    use_quant(u, 0.5, 9);
    use_refuse(u, "as input 1 has");
    use_free(u);
}

static struct use *hashtable(int32_t type, double second_key) {
    struct use *u = use_new(ANEURALNETWORKS_HASHTABLE_LOOKUP);
    use_in(u, I32, D(5), V(12, -7, 11, 40, 99));
    use_in(u, I32, D(3), V(-7, second_key, 40));
    use_in(u, type, D(3, 2), V(1, 2, 3, 4, 5, 6));
    if (nnv_is_quant(type)) use_quant(u, 0.5, 100);
    use_out(u, type);
    if (nnv_is_quant(type)) use_quant(u, 0.5, 100);
    use_out(u, Q8);
    use_quant(u, 1, 0);
    return u;
}

static void hashtable_lookup(void **state) {
    (void)state;
    static const int32_t types[] = {F32, I32, Q8}; /* a miss is bytes of zero in all of them */
    for (int i = 0; i < 3; i++) {
        struct use *u = hashtable(types[i], 12);
        use_expect(u, 0, D(5, 2), V(3, 4, 1, 2, 0, 0, 5, 6, 0, 0), 0);
        use_expect(u, 1, D(5), V(1, 1, 0, 1, 0), 0);
        use_free(u);
    }
    struct use *u = hashtable(F32, 41);
    use_refuse(u, "keys must ascend");
    use_free(u);
    u = hashtable(F32, 12);
    use_quant(u, 2, 0);
    use_refuse(u, "scale 2, expected 1");
    use_free(u);
    u = hashtable(F16, 12);
    use_refuse(u, "TENSOR_FLOAT16");
    use_free(u);
}

static void hashtable_rows(void **state) {
    (void)state;
    struct use *u = use_new(ANEURALNETWORKS_HASHTABLE_LOOKUP);
    use_in(u, I32, D(1), V(1));
    use_in(u, I32, D(2), V(1, 2));
    use_in(u, F32, D(3, 1), V(1, 2, 3));
    use_out(u, F32);
    use_out(u, Q8);
    use_quant(u, 1, 0);
    use_refuse(u, "values: extent 0 is 3, but the other inputs make it 2");
    use_free(u);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(concat_axes),          cmocka_unit_test(concat_rescales),  cmocka_unit_test(concat_level),
        cmocka_unit_test(concat_one_and_empty), cmocka_unit_test(concat_refusals),  cmocka_unit_test(depth_to_space),
        cmocka_unit_test(space_to_depth),       cmocka_unit_test(block_refusals),   cmocka_unit_test(reshape_shapes),
        cmocka_unit_test(reshape_by_input),     cmocka_unit_test(reshape_refusals), cmocka_unit_test(embedding_lookup),
        cmocka_unit_test(hashtable_lookup),     cmocka_unit_test(hashtable_rows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
