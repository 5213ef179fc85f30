/* SPDX-License-Identifier: Apache-2.0 */
/** @file test_tflite_moves.c Moves, choices and reductions of TensorFlow Lite as NNAPI's, with values worked by hand.
 */
#include "tests/kit/tflite.h"

#define L NNV_TFL_INT64

/* ------------------------------------------------------------------------- moves */

/** One input of 1 to 6, [2,3], and a second of constant int32. */
static void moved(struct fixture *f, int code, int tag, const int32_t *dims, uint32_t rank, const double *out, size_t n,
                  const int32_t *second, int32_t nsecond) {
    static const double x[] = {1, 2, 3, 4, 5, 6};
    static const int types[] = {F, Q, I}; /* whatever the type: NNAPI has some of these moves for numbers only */
    for (size_t t = 0; t < 3; t++) {
        struct writer *w = fresh(f);
        int32_t in[2] = {w_input(w, W_TENSOR(w, types[t], 2, 3)), 0};
        if (types[t] == Q) w_quant(w, in[0], 0.5, 0);
        if (nsecond) in[1] = w_data(w, W_TENSOR(w, I, nsecond), second, (size_t)nsecond * 4);
        int32_t y = w_output(w, w_add(w, types[t], rank, dims));
        if (types[t] == Q) w_quant(w, y, 0.5, 0);
        w_op(w, code, tag, nsecond ? 2 : 1, in, 1, &y);
        import_ok(f);
        expect_output(f, x, 0, n, out);
    }
}
#define MOVED(f, code, tag, dims, out, ...)                                                                            \
    moved((f), (code), (tag), (dims), sizeof(dims) / 4, (out), sizeof(out) / sizeof *(out),                            \
          (const int32_t[]){__VA_ARGS__}, (int32_t)W_COUNT(__VA_ARGS__))

static void moves(void **state) {
    struct fixture *f = *state;
    static const int32_t turned[] = {3, 2}, more[] = {2, 1, 3}, wider[] = {2, 6}, padded[] = {3, 4}, same[] = {2, 3},
                         flat[] = {6};
    static const double t[] = {1, 4, 2, 5, 3, 6}, r[] = {1, 2, 3, 4, 5, 6},
                        twice[] = {1, 2, 3, 1, 2, 3, 4, 5, 6, 4, 5, 6};
    static const double zeros[] = {0, 0, 0, 0, 0, 1, 2, 3, 0, 4, 5, 6}, back[] = {3, 2, 1, 6, 5, 4};
    MOVED(f, NNV_TFL_TRANSPOSE, 26, turned, t, 1, 0);
    MOVED(f, NNV_TFL_EXPAND_DIMS, 52, more, r, 1);
    MOVED(f, NNV_TFL_RESHAPE, 0, flat, r, 6);
    MOVED(f, NNV_TFL_TILE, 51, wider, twice, 1, 2);
    MOVED(f, NNV_TFL_REVERSE_V2, 81, same, back, -1);
    struct writer *w = fresh(f); /* PAD: a table of two columns */
    static const int32_t pads[] = {1, 0, 1, 0};
    const int x = w_input(w, W_TENSOR(w, F, 2, 3)), p = W_CONST(w, I, pads, 2, 2),
              y = w_output(w, w_add(w, F, 2, padded));
    W_OP(w, NNV_TFL_PAD, 22, y, x, p);
    import_ok(f);
    expect_output(f, r, 0, 12, zeros);
    w = fresh(f); /* along no axis nothing is reversed */
    const int in = w_input(w, W_TENSOR(w, F, 2, 3)), out = w_output(w, W_TENSOR(w, F, 2, 3));
    W_OP(w, NNV_TFL_REVERSE_V2, 81, out, in, w_data(w, W_TENSOR(w, I, 0), pads, 0));
    import_ok(f);
    expect_output(f, r, 0, 6, r);
}

static void paddings(void **state) {
    struct fixture *f = *state;
    static const int32_t pads[] = {1, 2};
    static const float value[] = {9};
    struct writer *w = fresh(f);
    int x = w_input(w, W_TENSOR(w, F, 3)), p = W_CONST(w, I, pads, 1, 2), v = w_data(w, W_SCALAR(w, F), value, 4);
    int y = w_output(w, W_TENSOR(w, F, 6));
    W_OP(w, NNV_TFL_PADV2, 43, y, x, p, v);
    import_ok(f);
    expect_output(f, GIVEN(1, 2, 3), 0, NUMBERS(9, 1, 2, 3, 9, 9));
    for (int symmetric = 0; symmetric < 2; symmetric++) {
        w = fresh(f);
        x = w_input(w, W_TENSOR(w, F, 3)), p = W_CONST(w, I, pads, 1, 2), y = w_output(w, W_TENSOR(w, F, 6));
        w_byte(W_OP(w, NNV_TFL_MIRROR_PAD, 77, y, x, p), 0, symmetric);
        import_ok(f);
        expect_output(f, GIVEN(1, 2, 3), 0, 6, symmetric ? GIVEN(1, 1, 2, 3, 3, 2) : GIVEN(2, 1, 2, 3, 2, 1));
    }
}

static void slices(void **state) {
    struct fixture *f = *state;
    static const double x[] = {1, 2, 3, 4, 5, 6};
    struct writer *w = fresh(f);
    int in = w_input(w, W_TENSOR(w, F, 2, 3)), y = w_output(w, W_TENSOR(w, F, 2, 2));
    W_OP(w, NNV_TFL_SLICE, 48, y, in, W_INTS(w, 0, 1), W_INTS(w, -1, 2));
    import_ok(f);
    expect_output(f, x, 0, NUMBERS(2, 3, 5, 6));

    w = fresh(f); /* x[1, ::-2]: the row goes away, backwards to the beginning */
    in = w_input(w, W_TENSOR(w, F, 2, 3)), y = w_output(w, W_TENSOR(w, F, 2));
    struct w_operator *o =
        W_OP(w, NNV_TFL_STRIDED_SLICE, 32, y, in, W_INTS(w, -1, 0), W_INTS(w, 0, 0), W_INTS(w, 1, -2));
    w_int(w_int(w_int(o, 0, 2), 1, 2), 4, 1);
    import_ok(f);
    expect_output(f, x, 0, NUMBERS(6, 4));

    w = fresh(f); /* x[..., newaxis, 1:3] of integers */
    in = w_input(w, W_TENSOR(w, I, 2, 3)), y = w_output(w, W_TENSOR(w, I, 2, 1, 2));
    o = W_OP(w, NNV_TFL_STRIDED_SLICE, 32, y, in, W_INTS(w, 0, 0, 1), W_INTS(w, 0, 0, 3), W_INTS(w, 1, 1, 1));
    w_int(w_int(o, 2, 1), 3, 2);
    import_ok(f);
    expect_output(f, x, 0, NUMBERS(2, 3, 5, 6));

    w = fresh(f);
    in = w_input(w, W_TENSOR(w, F, 2, 3)), y = w_output(w, W_TENSOR(w, F, 2, 3));
    W_OP(w, NNV_TFL_STRIDED_SLICE, 32, y, in, W_INTS(w, 0, 0), W_INTS(w, 2, 3), W_INTS(w, 1, 0));
    import_bad(f, NNV_INVALID, "subgraph 0, operator 0 (STRIDED_SLICE): stride 1 is 0");
}

static void joins_and_parts(void **state) {
    struct fixture *f = *state;
    static const int types[] = {F, I};
    for (size_t t = 0; t < 2; t++) {
        struct writer *w = fresh(f);
        int a = w_input(w, W_TENSOR(w, types[t], 2, 1)), b = w_input(w, W_TENSOR(w, types[t], 2, 2));
        int y = w_output(w, W_TENSOR(w, types[t], 2, 3));
        w_int(W_OP(w, NNV_TFL_CONCATENATION, 10, y, a, b), 0, -1);
        import_ok(f);
        expect_output(f, GIVEN(1, 2, 3, 4, 5, 6), 0, NUMBERS(1, 3, 4, 2, 5, 6));
        w = fresh(f);
        a = w_input(w, W_TENSOR(w, types[t], 2)), b = w_input(w, W_TENSOR(w, types[t], 2)),
        y = w_output(w, W_TENSOR(w, types[t], 2, 2));
        w_int(w_int(W_OP(w, NNV_TFL_PACK, 59, y, a, b), 0, 2), 1, 1);
        import_ok(f);
        expect_output(f, GIVEN(1, 2, 3, 4), 0, NUMBERS(1, 3, 2, 4));
        w = fresh(f);
        int32_t in[] = {W_INT(w, 1), w_input(w, W_TENSOR(w, types[t], 2, 2))};
        int32_t out[] = {w_output(w, W_TENSOR(w, types[t], 2, 1)), w_output(w, W_TENSOR(w, types[t], 2, 1))};
        w_int(w_op(w, NNV_TFL_SPLIT, 35, 2, in, 2, out), 0, 2);
        import_ok(f);
        expect_output(f, GIVEN(1, 2, 3, 4), 1, NUMBERS(2, 4));
        w = fresh(f);
        in[0] = w_input(w, W_TENSOR(w, types[t], 2, 2));
        out[0] = w_output(w, W_TENSOR(w, types[t], 2)), out[1] = w_output(w, W_TENSOR(w, types[t], 2));
        w_int(w_int(w_op(w, NNV_TFL_UNPACK, 64, 1, in, 2, out), 0, 2), 1, 1);
        import_ok(f);
        expect_output(f, GIVEN(1, 2, 3, 4), 0, NUMBERS(1, 3));
    }
    struct writer *w = fresh(f);
    const int32_t in[] = {w_input(w, W_TENSOR(w, F, 5)), W_INTS(w, 2, -1), W_INT(w, 0)};
    const int32_t out[] = {w_output(w, W_TENSOR(w, F, 2)), w_output(w, W_TENSOR(w, F, 3))};
    w_op(w, NNV_TFL_SPLIT_V, 79, 3, in, 2, out);
    import_ok(f);
    expect_output(f, GIVEN(1, 2, 3, 4, 5), 1, NUMBERS(3, 4, 5));
}

static void blocks(void **state) {
    struct fixture *f = *state;
    static const int32_t none[] = {0, 0, 0, 0}, crop[] = {0, 1};
    struct writer *w = fresh(f);
    int x = w_input(w, W_TENSOR(w, F, 1, 2, 2, 1)), y = w_output(w, W_TENSOR(w, F, 1, 1, 1, 4));
    w_int(W_OP(w, NNV_TFL_SPACE_TO_DEPTH, 19, y, x), 0, 2);
    import_ok(f);
    expect_output(f, GIVEN(1, 2, 3, 4), 0, NUMBERS(1, 2, 3, 4));
    w = fresh(f);
    x = w_input(w, W_TENSOR(w, F, 1, 1, 1, 4)), y = w_output(w, W_TENSOR(w, F, 1, 2, 2, 1));
    w_int(W_OP(w, NNV_TFL_DEPTH_TO_SPACE, 94, y, x), 0, 2);
    import_ok(f);
    expect_output(f, GIVEN(1, 2, 3, 4), 0, NUMBERS(1, 2, 3, 4));
    w = fresh(f);
    x = w_input(w, W_TENSOR(w, F, 1, 2, 2, 1)), y = w_output(w, W_TENSOR(w, F, 2, 2, 1, 1));
    W_OP(w, NNV_TFL_SPACE_TO_BATCH_ND, 25, y, x, W_INTS(w, 1, 2), W_CONST(w, I, none, 2, 2));
    import_ok(f);
    expect_output(f, GIVEN(1, 2, 3, 4), 0, NUMBERS(1, 3, 2, 4));
    w = fresh(f); /* one dimension of space, the last element cut off */
    x = w_input(w, W_TENSOR(w, F, 2, 2, 1)), y = w_output(w, W_TENSOR(w, F, 1, 3, 1));
    W_OP(w, NNV_TFL_BATCH_TO_SPACE_ND, 24, y, x, W_INTS(w, 2), W_CONST(w, I, crop, 1, 2));
    import_ok(f);
    expect_output(f, GIVEN(1, 2, 3, 4), 0, NUMBERS(1, 3, 2));
    w = fresh(f);
    x = w_input(w, W_TENSOR(w, F, 1, 3, 1)), y = w_output(w, W_TENSOR(w, F, 3));
    W_OP(w, NNV_TFL_SQUEEZE, 30, y, x);
    import_ok(f);
    expect_output(f, GIVEN(1, 2, 3), 0, NUMBERS(1, 2, 3));
    w = fresh(f);
    x = w_input(w, W_TENSOR(w, F, 2, 1)), y = w_output(w, W_TENSOR(w, F, 2, 2, 2));
    W_OP(w, NNV_TFL_BROADCAST_TO, 104, y, x, W_INTS(w, 2, 2, 2));
    import_ok(f);
    expect_output(f, GIVEN(1, 2), 0, NUMBERS(1, 1, 2, 2, 1, 1, 2, 2));
}

/* ------------------------------------------------------------ choices, reductions */

static void choices(void **state) {
    struct fixture *f = *state;
    struct writer *w = fresh(f);
    int x = w_input(w, W_TENSOR(w, F, 2, 2)), i = w_input(w, W_TENSOR(w, I, 3)), y = w_output(w, W_TENSOR(w, F, 2, 3));
    w_int(W_OP(w, NNV_TFL_GATHER, 23, y, x, i), 0, 1);
    import_ok(f);
    expect_output(f, GIVEN(1, 2, 3, 4, 1, 0, 1), 0, NUMBERS(2, 1, 2, 4, 3, 4));
    w = fresh(f);
    x = w_input(w, W_TENSOR(w, F, 2, 2)), i = w_input(w, W_TENSOR(w, I, 3, 2)), y = w_output(w, W_TENSOR(w, F, 3));
    W_OP(w, NNV_TFL_GATHER_ND, 83, y, x, i);
    import_ok(f);
    expect_output(f, GIVEN(1, 2, 3, 4, 1, 0, 0, 1, 1, 1), 0, NUMBERS(3, 2, 4));
    w = fresh(f); /* a condition for each row */
    int c = w_input(w, W_TENSOR(w, B, 2)), b = w_input(w, W_TENSOR(w, F, 2, 2));
    x = w_input(w, W_TENSOR(w, F, 2, 2)), y = w_output(w, W_TENSOR(w, F, 2, 2));
    W_OP(w, NNV_TFL_SELECT, 47, y, c, b, x);
    import_ok(f);
    expect_output(f, GIVEN(1, 0, 1, 2, 3, 4, 5, 6, 7, 8), 0, NUMBERS(1, 2, 7, 8));
    w = fresh(f); /* and for each column, as broadcasting has it */
    c = w_input(w, W_TENSOR(w, B, 2)), b = w_input(w, W_TENSOR(w, F, 1)), x = w_input(w, W_TENSOR(w, F, 2, 2));
    y = w_output(w, W_TENSOR(w, F, 2, 2));
    W_OP(w, NNV_TFL_SELECT_V2, 98, y, c, b, x);
    import_ok(f);
    expect_output(f, GIVEN(1, 0, 9, 5, 6, 7, 8), 0, NUMBERS(9, 6, 9, 8));
    w = fresh(f); /* what has the output's shape is not spread */
    c = w_input(w, W_TENSOR(w, B, 2)), b = w_input(w, W_TENSOR(w, F, 2)), x = w_input(w, W_TENSOR(w, F, 2));
    y = w_output(w, W_TENSOR(w, F, 2));
    W_OP(w, NNV_TFL_SELECT_V2, 98, y, c, b, x);
    import_ok(f);
    assert_int_equal(f->net.model.main.noperations, 1);
    expect_output(f, GIVEN(1, 0, 5, 6, 7, 8), 0, NUMBERS(5, 8));
    static const float on[] = {2}, off[] = {-1};
    w = fresh(f);
    i = w_input(w, W_TENSOR(w, I, 2)), y = w_output(w, W_TENSOR(w, F, 2, 3));
    W_OP(w, NNV_TFL_ONE_HOT, 61, y, i, W_INT(w, 3), w_data(w, W_SCALAR(w, F), on, 4),
         w_data(w, W_SCALAR(w, F), off, 4));
    w_int(&w->g->op[0], 0, -1);
    import_ok(f);
    expect_output(f, GIVEN(2, -7), 0, NUMBERS(-1, -1, 2, -1, -1, -1));
    for (int least = 0; least < 2; least++) { /* indices of 64 bits become 32 */
        w = fresh(f);
        x = w_input(w, W_TENSOR(w, F, 2, 3)), y = w_output(w, W_TENSOR(w, L, 2));
        W_OP(w, least ? NNV_TFL_ARG_MIN : NNV_TFL_ARG_MAX, least ? 57 : 40, y, x, W_INT(w, -1));
        import_ok(f);
        expect_output(f, GIVEN(1, 9, 3, 7, 5, 6), 0, 2, least ? GIVEN(0, 1) : GIVEN(1, 0));
    }
    static const int64_t wide[] = {1, INT32_MIN, INT32_MAX}; /* and so do constants, if their values fit */
    w = fresh(f);
    x = w_input(w, W_TENSOR(w, L, 3)), y = w_output(w, W_TENSOR(w, L, 3));
    W_OP(w, NNV_TFL_MAXIMUM, 39, y, x, W_CONST(w, L, wide, 3));
    import_ok(f);
    expect_output(f, GIVEN(-5, -7, 9), 0, NUMBERS(1, -7, INT32_MAX));
    static const int64_t wider[] = {1, 2, INT64_C(1) << 31};
    w = fresh(f);
    x = w_input(w, W_TENSOR(w, L, 3)), y = w_output(w, W_TENSOR(w, L, 3));
    W_OP(w, NNV_TFL_MAXIMUM, 39, y, x, W_CONST(w, L, wider, 3));
    import_bad(f, NNV_UNSUPPORTED, "INT64 constant beyond 32 bits");
    w = fresh(f);
    const int32_t in[] = {w_input(w, W_TENSOR(w, F, 4)), W_INT(w, 2)};
    const int32_t out[] = {w_output(w, W_TENSOR(w, F, 2)), w_output(w, W_TENSOR(w, I, 2))};
    w_op(w, NNV_TFL_TOPK_V2, 34, 2, in, 2, out);
    import_ok(f);
    expect_output(f, GIVEN(3, 9, 4, 1), 1, NUMBERS(1, 2));
    static const int8_t table[] = {1, 2, 3, 4}; /* hybrid: dequantised */
    w = fresh(f);
    i = w_input(w, W_TENSOR(w, I, 1)), y = w_output(w, W_TENSOR(w, F, 1, 2));
    W_OP(w, NNV_TFL_EMBEDDING_LOOKUP, 0, y, i, w_quant(w, W_CONST(w, Q, table, 2, 2), 0.5, 0));
    import_ok(f);
    expect_output(f, GIVEN(1), 0, NUMBERS(1.5, 2));
}

static void reductions(void **state) {
    struct fixture *f = *state;
    static const struct {
        int code;
        double out[2];
    } rows[] = {
        {NNV_TFL_MEAN, {2, 5}},       {NNV_TFL_SUM, {6, 15}},       {NNV_TFL_REDUCE_PROD, {6, 120}},
        {NNV_TFL_REDUCE_MAX, {3, 6}}, {NNV_TFL_REDUCE_MIN, {1, 4}},
    };
    static const int types[] = {F, Q};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (size_t t = 0; t < 2; t++) {
            struct writer *w = fresh(f);
            const int x = w_input(w, W_TENSOR(w, types[t], 2, 3)), y = w_output(w, W_TENSOR(w, types[t], 2, 1));
            if (types[t] == Q) w_quant(w, x, 1, 0), w_quant(w, y, 1, 0);
            w_byte(W_OP(w, rows[i].code, 27, y, x, W_INTS(w, -1, 1)), 0, 1);
            import_ok(f);
            expect_output(f, GIVEN(1, 2, 3, 4, 5, 6), 0, 2, rows[i].out);
        }
    for (int all = 0; all < 2; all++) {
        struct writer *w = fresh(f);
        const int x = w_input(w, W_TENSOR(w, B, 2, 2)), y = w_output(w, W_TENSOR(w, B, 2));
        W_OP(w, all ? NNV_TFL_REDUCE_ALL : NNV_TFL_REDUCE_ANY, 27, y, x, W_INTS(w, 1));
        import_ok(f);
        expect_output(f, GIVEN(0, 1, 1, 1), 0, 2, all ? GIVEN(0, 1) : GIVEN(1, 1));
    }
    static const double sums[4][3] = {{1, 3, 6}, {0, 1, 3}, {6, 5, 3}, {5, 3, 0}};
    for (int i = 0; i < 4; i++) {
        struct writer *w = fresh(f);
        const int x = w_input(w, W_TENSOR(w, F, 3)), y = w_output(w, W_TENSOR(w, F, 3));
        w_byte(w_byte(W_OP(w, NNV_TFL_CUMSUM, 102, y, x, W_INT(w, 0)), 0, i & 1), 1, i >> 1);
        import_ok(f);
        expect_output(f, GIVEN(1, 2, 3), 0, 3, sums[i]);
    }
}

/** A shape that is computed from another, as converters write it, leaves one RESHAPE. */
static void computed_shapes(void **state) {
    struct fixture *f = *state;
    struct writer *w = fresh(f);
    const int x = w_input(w, W_TENSOR(w, F, 2, 3)), y = w_output(w, W_TENSOR(w, F, 3, 2)), shape = W_TENSOR(w, I, 2);
    const int rows = W_TENSOR(w, I, 1), turned = W_TENSOR(w, I, 2), columns = W_TENSOR(w, I, 1);
    W_OP(w, NNV_TFL_SHAPE, 55, shape, x);
    w_int(W_OP(w, NNV_TFL_STRIDED_SLICE, 32, rows, shape, W_INTS(w, 0), W_INTS(w, 1), W_INTS(w, 1)), 0, 0);
    W_OP(w, NNV_TFL_STRIDED_SLICE, 32, columns, shape, W_INTS(w, 1), W_INTS(w, 2), W_INTS(w, 1));
    w_int(W_OP(w, NNV_TFL_CONCATENATION, 10, turned, columns, rows), 0, 0);
    W_OP(w, NNV_TFL_RESHAPE, 0, y, x, turned);
    import_ok(f);
    assert_int_equal(f->net.model.main.noperations, 1);
    expect_output(f, GIVEN(1, 2, 3, 4, 5, 6), 0, NUMBERS(1, 2, 3, 4, 5, 6));
    w = fresh(f); /* 0 1 2 by RANGE, cast, filled with RANK, added */
    const int in = w_input(w, W_TENSOR(w, F, 3)), range = W_TENSOR(w, I, 3), real = W_TENSOR(w, F, 3),
              out = w_output(w, W_TENSOR(w, F, 3));
    const int rank = W_SCALAR(w, I), full = W_TENSOR(w, I, 3), both = W_TENSOR(w, I, 3);
    W_OP(w, NNV_TFL_RANGE, 73, range, W_INT(w, 0), W_INT(w, 3), W_INT(w, 1));
    W_OP(w, NNV_TFL_RANK, 86, rank, in);
    W_OP(w, NNV_TFL_FILL, 68, full, W_INTS(w, 3), rank);
    W_OP(w, NNV_TFL_ADD, 11, both, range, full);
    W_OP(w, NNV_TFL_CAST, 37, real, both);
    W_OP(w, NNV_TFL_MUL, 21, out, in, real);
    import_ok(f);
    assert_int_equal(f->net.model.main.noperations, 1);
    expect_output(f, GIVEN(10, 10, 10), 0, NUMBERS(10, 20, 30));
}

static void changes_of_type(void **state) {
    struct fixture *f = *state;
    struct writer *w = fresh(f); /* uint8 to int8 of the same scale, as behind a model's input */
    int x = w_quant(w, w_input(w, W_TENSOR(w, U, 3)), 0.5, 128), y = w_quant(w, w_output(w, W_TENSOR(w, Q, 3)), 0.5, 0);
    W_OP(w, NNV_TFL_QUANTIZE, 0, y, x);
    import_ok(f);
    expect_output(f, GIVEN(0, 128, 255), 0, NUMBERS(-128, 0, 127));
    w = fresh(f);
    x = w_quant(w, w_input(w, W_TENSOR(w, Q, 3)), 0.5, 1), y = w_output(w, W_TENSOR(w, F, 3));
    W_OP(w, NNV_TFL_DEQUANTIZE, 0, y, x);
    import_ok(f);
    expect_output(f, GIVEN(-1, 1, 5), 0, NUMBERS(-1, 0, 2));
    w = fresh(f);
    x = w_input(w, W_TENSOR(w, B, 2)), y = w_output(w, W_TENSOR(w, F, 2));
    W_OP(w, NNV_TFL_CAST, 0, y, x);
    import_ok(f);
    expect_output(f, GIVEN(0, 1), 0, NUMBERS(0, 1));
    w = fresh(f);
    x = w_input(w, W_TENSOR(w, F, 3)), y = w_output(w, W_TENSOR(w, B, 3));
    W_OP(w, NNV_TFL_CAST, 0, y, x);
    import_ok(f);
    expect_output(f, GIVEN(0, -0.5, 2), 0, NUMBERS(0, 1, 1));
    w = fresh(f); /* to int8 numbers are cut off */
    x = w_input(w, W_TENSOR(w, F, 3)), y = w_output(w, W_TENSOR(w, Q, 3));
    W_OP(w, NNV_TFL_CAST, 0, y, x);
    import_ok(f);
    expect_output(f, GIVEN(2.75, -2.75, 100), 0, NUMBERS(2, -2, 100));
}

/** Quotients of integers: known ones above 0 are computed, others would be rounded differently. */
static void integer_quotients(void **state) {
    struct fixture *f = *state;
    struct writer *w = fresh(f);
    int x = w_input(w, W_TENSOR(w, I, 1)), q = W_TENSOR(w, I, 1), y = w_output(w, W_TENSOR(w, I, 1));
    W_OP(w, NNV_TFL_DIV, 29, q, W_INTS(w, 7), W_INTS(w, 2));
    W_OP(w, NNV_TFL_ADD, 11, y, x, q);
    import_ok(f);
    expect_output(f, GIVEN(10), 0, NUMBERS(13));
    w = fresh(f);
    x = w_input(w, W_TENSOR(w, I, 1)), y = w_output(w, W_TENSOR(w, I, 1));
    W_OP(w, NNV_TFL_DIV, 29, y, x, W_INTS(w, 2));
    import_bad(f, NNV_UNSUPPORTED, "DIV of INT32 (1)");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        CASE(moves),   CASE(paddings),   CASE(slices),          CASE(joins_and_parts), CASE(blocks),
        CASE(choices), CASE(reductions), CASE(computed_shapes), CASE(changes_of_type), CASE(integer_quotients),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
