/* SPDX-License-Identifier: Apache-2.0 */
/** @file test_onnx.c ONNX models: operators with values worked by hand, whole networks, damaged files; with NNVTS_ONNX
 * ONNX's own node tests. With a folder as argument it writes the networks there. */
#include "base/file.h"
#include "reference/eval/eval.h"
#include "reference/model/validate.h"
#include "tests/kit/network.h"
#include "tests/kit/onnx_writer.h"

struct fixture {
    struct nnv_arena *arena;
    struct onnx_writer w;
    struct nnv_network net;
};

static int setup(void **state) {
    struct fixture *f = calloc(1, sizeof *f);
    f->arena = nnv_arena_new();
    ow_begin(&f->w, 17);
    *state = f;
    return f->arena == NULL;
}
static int teardown(void **state) {
    struct fixture *f = *state;
    ow_free(&f->w);
    nnv_arena_free(f->arena);
    free(f);
    return 0;
}

static struct onnx_writer *fresh(struct fixture *f, int64_t opset) {
    ow_free(&f->w);
    nnv_arena_reset(f->arena);
    ow_begin(&f->w, opset);
    return &f->w;
}

static void import_ok(struct fixture *f) {
    struct nnv_err err = {0};
    if (ow_import(&f->w, f->arena, &f->net, &err) != NNV_OK) fail_msg("%s", err.text);
}

static void import_bad(struct fixture *f, enum nnv_status status, const char *words) {
    struct nnv_err err = {0};
    assert_int_equal(ow_import(&f->w, f->arena, &f->net, &err), status);
    if (!strstr(err.text, words)) fail_msg("'%s' is not in '%s'", words, err.text);
}

static uint32_t uses(const struct fixture *f, int32_t code) { return count_operations(&f->net.model, code); }

static const double *run(struct fixture *f, const double *in, size_t *n) {
    return compute(&f->net.model, in, 0, n, f->arena);
}

static void expect(struct fixture *f, const double *in, size_t n, const double *want) {
    size_t got_n;
    import_ok(f);
    const double *got = run(f, in, &got_n);
    assert_int_equal(got_n, n);
    for (size_t i = 0; i < n; i++)
        if (!(fabs(got[i] - want[i]) <= 1e-5)) fail_msg("element %zu: %g, not %g", i, got[i], want[i]);
}
#define GIVEN(...) ((const double[]){__VA_ARGS__})
#define NUMBERS(...) sizeof((double[]){__VA_ARGS__}) / sizeof(double), GIVEN(__VA_ARGS__)
#define FLOATS NNV_ONNX_FLOAT

/** y = op(x) of a vector of three. */
static struct onnx_writer *of_three(struct fixture *f, int64_t opset, const char *op, int type) {
    struct onnx_writer *w = fresh(f, opset);
    ow_input(w, "x", type, OW_DIMS(3));
    ow_output(w, "y", type, OW_DIMS(3));
    ow_node(w, op, "x", "y");
    return w;
}

/* ------------------------------------------------------------------- operators */

static void functions(void **state) {
    static const struct {
        const char *op;
        double in[3], out[3];
    } rows[] = {{"Ceil", {1.5, -1.5, 2}, {2, -1, 2}},
                {"Round", {0.5, 1.5, -2.5}, {0, 2, -2}},
                {"Sign", {-3, 0, 1e-9}, {-1, 0, 1}},
                {"Erf", {0, 1, -0.5}, {0, 0.8427007929, -0.5204998778}},
                {"Gelu", {0, 1, -1}, {0, 0.8413447461, -0.1586552539}},
                {"Softplus", {0, 100, -100}, {0.6931471806, 100, 0}},
                {"Selu", {1, 0, -1}, {1.050700987, 0, -1.111330737}},
                {"Mish", {1, 0, -1}, {0.8650983882, 0, -0.3034014694}},
                {"Atanh", {0.5, 0, -0.5}, {0.5493061443, 0, -0.5493061443}},
                {"Asinh", {-100, 0, 100}, {-5.298342366, 0, 5.298342366}}};
    struct fixture *f = *state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        of_three(f, 20, rows[i].op, FLOATS);
        expect(f, rows[i].in, 3, rows[i].out);
    }
    /* 2 (e^(x / 2) - 1) below 0 */
    struct onnx_writer *w = of_three(f, 20, "Celu", FLOATS);
    ow_attr_float(w, "alpha", 2);
    expect(f, GIVEN(3, 0, -2), NUMBERS(3, 0, -1.264241118));
}

/** Bytes and words keep the low bits; quotients are cut off, remainders have the divisor's sign. */
static void integers(void **state) {
    static const struct {
        const char *op;
        int type;
        double a[3], b[3], out[3];
    } rows[] = {{"Add", NNV_ONNX_UINT8, {200, 1, 255}, {100, 2, 255}, {44, 3, 254}},
                {"Sub", NNV_ONNX_UINT16, {1, 65535, 5}, {2, 1, 5}, {65535, 65534, 0}},
                {"Mul", NNV_ONNX_INT8, {100, -128, 3}, {2, 2, -3}, {-56, 0, -9}},
                {"Div", NNV_ONNX_INT32, {7, -7, 7}, {2, 2, -2}, {3, -3, -3}},
                {"Mod", NNV_ONNX_INT64, {7, -7, 7}, {3, 3, -3}, {1, 2, -2}},
                {"Max", NNV_ONNX_INT16, {7, -7, 1}, {3, -3, 1}, {7, -3, 1}}};
    struct fixture *f = *state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        double both[6];
        struct onnx_writer *w = fresh(f, 14);
        ow_input(w, "a", rows[i].type, OW_DIMS(3));
        ow_input(w, "b", rows[i].type, OW_DIMS(3));
        ow_output(w, "y", rows[i].type, OW_DIMS(3));
        ow_node(w, rows[i].op, "a b", "y");
        memcpy(both, rows[i].a, sizeof rows[i].a);
        memcpy(both + 3, rows[i].b, sizeof rows[i].b);
        expect(f, both, 3, rows[i].out);
    }
}

/** Bounds that are known, or absent, decide for RELU and RELU6; others are a minimum and a maximum. */
static void clips(void **state) {
    static const struct {
        int64_t opset;
        const char *in;
        float low, high;
        int32_t code;
        double out[3];
    } rows[] = {{13, "x low", 0, 0, ANEURALNETWORKS_RELU, {0, 3, 9}},
                {13, "x low high", 0, 6, ANEURALNETWORKS_RELU6, {0, 3, 6}},
                {13, "x low high", 0, 7, ANEURALNETWORKS_MINIMUM, {0, 3, 7}},
                {13, "x low high", 1, 6, ANEURALNETWORKS_MAXIMUM, {1, 3, 6}},
                {6, "x", 0, INFINITY, ANEURALNETWORKS_RELU, {0, 3, 9}},
                {6, "x", 0, 6, ANEURALNETWORKS_RELU6, {0, 3, 6}}};
    struct fixture *f = *state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct onnx_writer *w = fresh(f, rows[i].opset);
        ow_input(w, "x", FLOATS, OW_DIMS(3));
        ow_output(w, "y", FLOATS, OW_DIMS(3));
        if (rows[i].opset > 6) {
            ow_number(w, "low", rows[i].low);
            ow_number(w, "high", rows[i].high);
        }
        ow_node(w, "Clip", rows[i].in, "y");
        if (rows[i].opset == 6) ow_attr_float(w, "min", rows[i].low);
        if (rows[i].opset == 6 && isfinite(rows[i].high)) ow_attr_float(w, "max", rows[i].high);
        expect(f, GIVEN(-4, 3, 9), 3, rows[i].out);
        assert_int_equal(uses(f, rows[i].code), 1);
    }
}

/** A 1-D convolution with pads on one side, by the definition; and what auto_pad and ceil_mode make of extents. */
static void windows(void **state) {
    struct fixture *f = *state;
    struct onnx_writer *w = fresh(f, 11);
    const float kernel[] = {1, 10, 100};
    ow_input(w, "x", FLOATS, OW_DIMS(1, 1, 5));
    ow_tensor(w, "w", FLOATS, OW_DIMS(1, 1, 3), kernel, sizeof kernel);
    ow_output(w, "y", FLOATS, OW_DIMS(1, 1, 3));
    ow_node(w, "Conv", "x w", "y");
    OW_ATTR(w, "pads", 2, 0);
    OW_ATTR(w, "strides", 2);
    expect(f, GIVEN(1, 2, 3, 4, 5), NUMBERS(100, 321, 543));
    w = fresh(f, 19);
    ow_input(w, "x", FLOATS, OW_DIMS(1, 1, 4, 4));
    ow_output(w, "y", FLOATS, OW_DIMS(1, 1, 2, 2));
    ow_node(w, "AveragePool", "x", "y");
    OW_ATTR(w, "kernel_shape", 3, 3);
    OW_ATTR(w, "strides", 2, 2);
    ow_attr_int(w, "ceil_mode", 1);
    ow_attr_int(w, "count_include_pad", 1);
    expect(f, GIVEN(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16), NUMBERS(6, 7.5, 12, 13.5));
    w = fresh(f, 12);
    ow_input(w, "x", FLOATS, OW_DIMS(1, 1, 4, 4));
    ow_output(w, "y", FLOATS, OW_DIMS(1, 1, 2, 2));
    ow_node(w, "MaxPool", "x", "y");
    OW_ATTR(w, "kernel_shape", 2, 2);
    OW_ATTR(w, "dilations", 2, 2);
    expect(f, GIVEN(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16), NUMBERS(11, 12, 15, 16));
    w = fresh(f, 13);
    ow_input(w, "x", FLOATS, OW_DIMS(1, 2, 3));
    ow_output(w, "y", FLOATS, OW_DIMS(1, 2, 1));
    ow_node(w, "GlobalAveragePool", "x", "y");
    expect(f, GIVEN(1, 2, 3, 10, 20, 60), NUMBERS(2, 30));
}

/** Tensors of five dimensions lie flat; their axes are moved past each other. */
static void many_dimensions(void **state) {
    struct fixture *f = *state;
    struct onnx_writer *w = fresh(f, 13);
    ow_input(w, "x", FLOATS, OW_DIMS(1, 2, 2, 1, 2));
    ow_output(w, "y", FLOATS, OW_DIMS(2, 1, 2, 2, 1));
    ow_node(w, "Transpose", "x", "y");
    OW_ATTR(w, "perm", 4, 3, 1, 2, 0);
    expect(f, GIVEN(0, 1, 2, 3, 4, 5, 6, 7), NUMBERS(0, 2, 4, 6, 1, 3, 5, 7));
}

/** Entries of a table by row and column, the last column by -1: taken, taken in each row, replaced. */
static void entries_by_tuples(void **state) {
    struct fixture *f = *state;
    const int64_t tuples[] = {1, 0, 0, -1}, columns[] = {1, -1};
    struct onnx_writer *w = fresh(f, 13);
    ow_input(w, "x", FLOATS, OW_DIMS(2, 3));
    ow_tensor(w, "at", NNV_ONNX_INT64, OW_DIMS(2, 2), tuples, sizeof tuples);
    ow_output(w, "y", FLOATS, OW_DIMS(2));
    ow_node(w, "GatherND", "x at", "y");
    expect(f, GIVEN(1, 2, 3, 4, 5, 6), NUMBERS(4, 3));
    w = fresh(f, 13);
    ow_input(w, "x", FLOATS, OW_DIMS(2, 3));
    ow_tensor(w, "at", NNV_ONNX_INT64, OW_DIMS(2, 1), columns, sizeof columns);
    ow_output(w, "y", FLOATS, OW_DIMS(2));
    ow_node(w, "GatherND", "x at", "y");
    ow_attr_int(w, "batch_dims", 1);
    expect(f, GIVEN(1, 2, 3, 4, 5, 6), NUMBERS(2, 6));
    w = fresh(f, 13);
    ow_input(w, "x", FLOATS, OW_DIMS(2, 3));
    ow_tensor(w, "at", NNV_ONNX_INT64, OW_DIMS(2, 2), tuples, sizeof tuples);
    ow_input(w, "new", FLOATS, OW_DIMS(2));
    ow_output(w, "y", FLOATS, OW_DIMS(2, 3));
    ow_node(w, "ScatterND", "x at new", "y");
    expect(f, GIVEN(1, 2, 3, 4, 5, 6, 70, 80), NUMBERS(1, 2, 80, 70, 5, 6));
}

/** There is no row 2 of two, no column 3 of three, and none before the first. */
static void tuples_that_lie_outside(void **state) {
    static const struct {
        int64_t at[2];
        const char *words;
    } rows[] = {{{2, 0}, "index 2"}, {{1, 3}, "index 3"}, {{0, -4}, "index -1"}, {{-3, 0}, "index -1"}};
    struct fixture *f = *state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct onnx_writer *w = fresh(f, 13);
        ow_input(w, "x", FLOATS, OW_DIMS(2, 3));
        ow_tensor(w, "at", NNV_ONNX_INT64, OW_DIMS(1, 2), rows[i].at, sizeof rows[i].at);
        ow_input(w, "new", FLOATS, OW_DIMS(1));
        ow_output(w, "y", FLOATS, OW_DIMS(2, 3));
        ow_node(w, "ScatterND", "x at new", "y");
        import_bad(f, NNV_INVALID, rows[i].words);
    }
}

/** Each sequence's first entries in reverse; and a network that reads from the end: its results are in order. */
static void sequences_backwards(void **state) {
    struct fixture *f = *state;
    struct onnx_writer *w = fresh(f, 14);
    const float one = 1;
    ow_input(w, "x", FLOATS, OW_DIMS(4, 2));
    ow_ints(w, "lengths", 2, (const int64_t[]){3, 2});
    ow_output(w, "y", FLOATS, OW_DIMS(4, 2));
    ow_node(w, "ReverseSequence", "x lengths", "y");
    expect(f, GIVEN(0, 1, 2, 3, 4, 5, 6, 7), NUMBERS(4, 3, 2, 1, 0, 5, 6, 7));
    w = fresh(f, 14);
    ow_input(w, "x", FLOATS, OW_DIMS(3, 1, 1));
    ow_tensor(w, "w", FLOATS, OW_DIMS(1, 1, 1), &one, sizeof one);
    ow_tensor(w, "r", FLOATS, OW_DIMS(1, 1, 1), &one, sizeof one);
    ow_output(w, "y", FLOATS, OW_DIMS(3, 1, 1, 1));
    ow_node(w, "RNN", "x w r", "y");
    ow_attr_int(w, "hidden_size", 1);
    ow_attr_string(w, "direction", "reverse");
    const double last = tanh(0.75), middle = tanh(-0.5 + last), first = tanh(0.25 + middle);
    expect(f, GIVEN(0.25, -0.5, 0.75), NUMBERS(first, middle, last));
}

/** With layout 1 the batch comes first everywhere: two sequences of two numbers, two units without memory. */
static void sequences_by_batch(void **state) {
    struct fixture *f = *state;
    const float zeros[4] = {0}, factors[] = {1, -2};
    const double x[2][2] = {{0.25, -0.5}, {0.75, 1}};
    double every[8], ends[4]; /* [batch, time, direction, unit], [batch, direction, unit] */
    for (uint32_t i = 0; i < 8; i++) every[i] = tanh((i % 2 ? -2 : 1) * x[i / 4][i / 2 % 2]);
    for (uint32_t i = 0; i < 4; i++) ends[i] = tanh((i % 2 ? -2 : 1) * x[i / 2][1]);
    for (int last = 0; last < 2; last++) {
        struct onnx_writer *w = fresh(f, 14);
        ow_input(w, "x", FLOATS, OW_DIMS(2, 2, 1));
        ow_tensor(w, "w", FLOATS, OW_DIMS(1, 2, 1), factors, sizeof factors);
        ow_tensor(w, "r", FLOATS, OW_DIMS(1, 2, 2), zeros, sizeof zeros);
        if (last)
            ow_output(w, "y", FLOATS, OW_DIMS(2, 1, 2));
        else
            ow_output(w, "y", FLOATS, OW_DIMS(2, 2, 1, 2));
        ow_node(w, "RNN", "x w r", last ? "- y" : "y");
        ow_attr_int(w, "hidden_size", 2);
        ow_attr_int(w, "layout", 1);
        expect(f, x[0], last ? 4 : 8, last ? ends : every);
    }
}

/** Shape arithmetic is done when the file is read: Shape, Gather, Concat, Reshape leave one RESHAPE. */
static void shape_arithmetic(void **state) {
    struct fixture *f = *state;
    struct onnx_writer *w = fresh(f, 13);
    ow_input(w, "x", FLOATS, OW_DIMS(-1, 2, 3));
    ow_ints(w, "first", OW_DIMS(0));
    ow_ints(w, "rest", OW_DIMS(-1));
    ow_output(w, "y", FLOATS, OW_DIMS(1, 6));
    ow_node(w, "Shape", "x", "shape");
    ow_node(w, "Gather", "shape first", "batch");
    ow_node(w, "Concat", "batch rest", "two");
    ow_attr_int(w, "axis", 0);
    ow_node(w, "Reshape", "x two", "y");
    expect(f, GIVEN(1, 2, 3, 4, 5, 6), NUMBERS(1, 2, 3, 4, 5, 6));
    assert_int_equal(f->net.model.main.noperations, 1);
}

/** A shape of more axes stands before the tensor's own; where either has one entry, the other counts. */
static void expansions(void **state) {
    struct fixture *f = *state;
    struct onnx_writer *w = fresh(f, 13);
    ow_input(w, "x", FLOATS, OW_DIMS(2, 1));
    ow_ints(w, "to", OW_DIMS(2, 1, 2));
    ow_output(w, "y", FLOATS, OW_DIMS(2, 2, 2));
    ow_node(w, "Expand", "x to", "y");
    expect(f, GIVEN(1, 2), NUMBERS(1, 1, 2, 2, 1, 1, 2, 2));
    w = fresh(f, 13);
    ow_input(w, "x", FLOATS, OW_DIMS(3));
    ow_ints(w, "to", OW_DIMS(1, 1, 1, 1, 1, 1, 1, 1, 3));
    ow_output(w, "y", FLOATS, OW_DIMS(1, 1, 1, 1, 1, 1, 1, 3));
    ow_node(w, "Expand", "x to", "y");
    import_bad(f, NNV_UNSUPPORTED, "Expand to rank 9 (1)");
}

/** Before version 13 Softmax is over all axes from one on. */
static void versions_differ(void **state) {
    struct fixture *f = *state;
    for (int64_t opset = 11; opset <= 13; opset += 2) {
        struct onnx_writer *w = fresh(f, opset);
        ow_input(w, "x", FLOATS, OW_DIMS(1, 2, 2));
        ow_output(w, "y", FLOATS, OW_DIMS(1, 2, 2));
        ow_node(w, "Softmax", "x", "y");
        const double part = opset == 11 ? 0.25 : 0.5;
        expect(f, GIVEN(1, 1, 1, 1), 4, GIVEN(part, part, part, part));
    }
}

static void bytes_and_numbers(void **state) {
    struct fixture *f = *state;
    struct onnx_writer *w = fresh(f, 13);
    ow_input(w, "x", FLOATS, OW_DIMS(3));
    ow_number(w, "s", 0.5f);
    ow_codes(w, "z", NNV_ONNX_UINT8, 10, 0, NULL);
    ow_output(w, "y", NNV_ONNX_UINT8, OW_DIMS(3));
    ow_node(w, "QuantizeLinear", "x s z", "y");
    expect(f, GIVEN(1, -100, 3), NUMBERS(12, 0, 16));
    w = fresh(f, 10);
    ow_input(w, "a", NNV_ONNX_UINT8, OW_DIMS(1, 2));
    ow_input(w, "b", NNV_ONNX_UINT8, OW_DIMS(2, 1));
    ow_codes(w, "z", NNV_ONNX_UINT8, 5, 0, NULL);
    ow_output(w, "y", NNV_ONNX_INT32, OW_DIMS(1, 1));
    ow_node(w, "MatMulInteger", "a b z", "y");
    expect(f, GIVEN(7, 3, 10, 100), NUMBERS(2 * 10 - 2 * 100));
    /* each column has its scale and its zero point */
    const float scales[] = {0.5f, 2};
    w = fresh(f, 13);
    ow_input(w, "x", FLOATS, OW_DIMS(2, 2));
    ow_tensor(w, "s", FLOATS, OW_DIMS(2), scales, sizeof scales);
    ow_tensor(w, "z", NNV_ONNX_UINT8, OW_DIMS(2), (const uint8_t[]){10, 20}, 2);
    ow_output(w, "y", NNV_ONNX_UINT8, OW_DIMS(2, 2));
    ow_node(w, "QuantizeLinear", "x s z", "y");
    expect(f, GIVEN(1, 2, -3, 8), NUMBERS(10 + 2, 20 + 1, 10 - 6, 20 + 4));
    /* codes become halves, but no integers */
    static const int types[] = {NNV_ONNX_FLOAT16, NNV_ONNX_INT32};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        w = fresh(f, 23);
        ow_input(w, "x", NNV_ONNX_UINT8, OW_DIMS(3));
        ow_number(w, "s", 0.5f);
        ow_codes(w, "z", NNV_ONNX_UINT8, 10, 0, NULL);
        ow_output(w, "y", types[i], OW_DIMS(3));
        ow_node(w, "DequantizeLinear", "x s z", "y");
        ow_attr_int(w, "output_dtype", types[i]);
        if (types[i] == NNV_ONNX_FLOAT16)
            expect(f, GIVEN(12, 0, 11), NUMBERS(1, -5, 0.5));
        else
            import_bad(f, NNV_UNSUPPORTED, "DequantizeLinear to INT32 (1)");
    }
    /* {1, -1} by {2, 1} is 1 */
    w = fresh(f, 10);
    ow_input(w, "a", NNV_ONNX_UINT8, OW_DIMS(1, 2));
    ow_input(w, "b", NNV_ONNX_UINT8, OW_DIMS(2, 1));
    ow_number(w, "half", 0.5f);
    ow_number(w, "quarter", 0.25f);
    ow_codes(w, "za", NNV_ONNX_UINT8, 5, 0, NULL);
    ow_codes(w, "zb", NNV_ONNX_UINT8, 2, 0, NULL);
    ow_codes(w, "zy", NNV_ONNX_UINT8, 3, 0, NULL);
    ow_output(w, "y", NNV_ONNX_UINT8, OW_DIMS(1, 1));
    ow_node(w, "QLinearMatMul", "a half za b quarter zb half zy", "y");
    expect(f, GIVEN(7, 3, 10, 6), NUMBERS(3 + 2));
}

/* A stack of one matrix is multiplied with each matrix of the other, whichever of the two it is. */
static void stacks_of_one_matrix(void **state) {
    struct fixture *f = *state;
    struct onnx_writer *w = fresh(f, 13);
    ow_input(w, "a", FLOATS, OW_DIMS(2, 1, 2));
    ow_input(w, "b", FLOATS, OW_DIMS(1, 2, 1));
    ow_output(w, "y", FLOATS, OW_DIMS(2, 1, 1));
    ow_node(w, "MatMul", "a b", "y");
    expect(f, GIVEN(1, 2, 3, 4, 10, 1), NUMBERS(12, 34));
    w = fresh(f, 13);
    ow_input(w, "a", FLOATS, OW_DIMS(1, 2));
    ow_input(w, "b", FLOATS, OW_DIMS(3, 2, 1));
    ow_output(w, "y", FLOATS, OW_DIMS(3, 1, 1));
    ow_node(w, "MatMul", "a b", "y");
    expect(f, GIVEN(10, 1, 1, 2, 3, 4, 5, 6), NUMBERS(12, 34, 56));
}

/* -------------------------------------------------------------------- refusals */

static void refusals_name_operator_and_reason(void **state) {
    struct fixture *f = *state;
    struct onnx_writer *w = of_three(f, 13, "Det", FLOATS);
    import_bad(f, NNV_UNSUPPORTED, "test: 1 operator is not supported: Det (1)");
    of_three(f, 13, "Exp", NNV_ONNX_DOUBLE);
    import_bad(f, NNV_UNSUPPORTED, "Exp of DOUBLE (1)");
    w = of_three(f, 13, "Relu", FLOATS);
    ow_attr_int(w, "novel", 1);
    import_bad(f, NNV_UNSUPPORTED, "Relu with the attribute novel (1)");
    w = fresh(f, 13);
    ow_input(w, "x", FLOATS, OW_DIMS(3));
    ow_input(w, "n", NNV_ONNX_INT64, OW_DIMS(1));
    ow_output(w, "y", FLOATS, OW_DIMS(3));
    ow_node(w, "Tile", "x n", "y");
    import_bad(f, NNV_UNSUPPORTED, "Tile with a computed input 1 (1)");
    w = fresh(f, 13);
    ow_input(w, "x", FLOATS, OW_DIMS(3));
    ow_output(w, "y", NNV_ONNX_INT64, OW_DIMS(1));
    ow_node(w, "Shape", "x", "y");
    import_bad(f, NNV_UNSUPPORTED, "known before it runs");
}

static void damage_is_told_with_its_place(void **state) {
    struct fixture *f = *state;
    struct onnx_writer *w = fresh(f, 13);
    ow_input(w, "x", FLOATS, OW_DIMS(3));
    ow_output(w, "y", FLOATS, OW_DIMS(3));
    ow_node(w, "Add", "x nothing", "y");
    import_bad(f, NNV_INVALID, "node 0 (Add): input 1, 'nothing', is computed by none before it");
    w = fresh(f, 13);
    ow_input(w, "x", FLOATS, OW_DIMS(3));
    ow_input(w, "b", FLOATS, OW_DIMS(2));
    ow_output(w, "y", FLOATS, OW_DIMS(3));
    ow_node(w, "Add", "x b", "y");
    import_bad(f, NNV_INVALID, "node 0 (Add): extents 3 and 2 do not fit");
    w = fresh(f, 13);
    ow_input(w, "x", FLOATS, OW_DIMS(1, 2));
    ow_input(w, "b", FLOATS, OW_DIMS(3, 1));
    ow_output(w, "y", FLOATS, OW_DIMS(1, 1));
    ow_node(w, "Gemm", "x b", "y");
    import_bad(f, NNV_INVALID, "node 0 (Gemm): its matrices do not fit");
    /* input, weights, weights of the state: none may be a matrix */
    static const int64_t stack[] = {1, 1, 1};
    for (int i = 0; i < 3; i++) {
        w = fresh(f, 14);
        ow_input(w, "x", FLOATS, 3 - (i == 0), stack);
        ow_weights(w, "w", 1, 3 - (i == 1), stack);
        ow_weights(w, "r", 1, 3 - (i == 2), stack);
        ow_output(w, "y", FLOATS, OW_DIMS(1, 1, 1, 1));
        ow_node(w, "RNN", "x w r", "y");
        import_bad(f, NNV_INVALID, "node 0 (RNN): its inputs are not of rank 3");
    }
    for (int first = 0; first < 2; first++) {
        w = fresh(f, 13);
        ow_input(w, "x", FLOATS, OW_DIMS(2, 2));
        ow_number(w, "s", 0.5f);
        ow_output(w, "y", FLOATS, OW_DIMS(2, 2));
        ow_node(w, "MatMul", first ? "s x" : "x s", "y");
        import_bad(f, NNV_INVALID, "node 0 (MatMul): a scalar");
    }
    w = fresh(f, 13);
    ow_input(w, "x", FLOATS, OW_DIMS(3));
    ow_tensor(w, "b", FLOATS, OW_DIMS(3), "1234", 4);
    ow_output(w, "y", FLOATS, OW_DIMS(3));
    ow_node(w, "Add", "x b", "y");
    import_bad(f, NNV_INVALID, "initializer 0: a tensor of 12 bytes holds 4");
    w = fresh(f, 13);
    ow_input(w, "x", FLOATS, OW_DIMS(3));
    ow_tensor(w, "b", NNV_ONNX_UNDEFINED, OW_DIMS(1), "1234", 4);
    ow_output(w, "y", FLOATS, OW_DIMS(3));
    ow_node(w, "Add", "x b", "y");
    import_bad(f, NNV_INVALID, "initializer 0: a tensor has no type");
}

/** A window that is scaled down and crops at once would reach over more entries than anybody waits for, or none. */
static void resizing_without_end_is_refused(void **state) {
    static const float scales[] = {1, 0x1p-100f}, windows[][4] = {{0, 0, 1, 0x1p100f}, {0, (float)NAN, 1, 1}};
    static const int64_t sizes[] = {1, 1};
    for (int i = 0; i < 2; i++) {
        struct onnx_writer *w = fresh(*state, 18);
        ow_input(w, "x", FLOATS, OW_DIMS(1, 1));
        ow_tensor(w, "roi", FLOATS, OW_DIMS(4), windows[i], sizeof windows[i]);
        ow_tensor(w, "scales", FLOATS, OW_DIMS(2), scales, sizeof scales);
        ow_ints(w, "sizes", 2, sizes);
        ow_output(w, "y", FLOATS, OW_DIMS(1, 1));
        ow_node(w, "Resize", i == 0 ? "x roi scales" : "x roi - sizes", "y");
        ow_attr_string(w, "coordinate_transformation_mode", "tf_crop_and_resize");
        ow_attr_string(w, "mode", "linear");
        ow_attr_int(w, "antialias", 1);
        import_bad(*state, NNV_UNSUPPORTED, i == 0 ? "Resize to an extent of 1" : "Resize with entries from outside");
    }
}

/** Whatever is cut off or changed, there is a sound network or one error. */
static void damaged_files(void **state) {
    struct fixture *f = *state;
    struct nnv_text model = {0};
    ow_network(fresh(f, 17), OW_ENCODER_INT8);
    ow_end(&f->w, &model);
    for (size_t i = 0; i < model.len; i += i < 4000 ? 37 : 997) {
        struct nnv_err err = {0};
        nnv_arena_reset(f->arena);
        enum nnv_status st = nnv_onnx_import(model.data, i, "cut", NULL, f->arena, &f->net, NULL, &err);
        assert_true(st == NNV_INVALID && err.text[0]);
        char *changed = nnv_arena_copy(f->arena, model.data, model.len);
        changed[i] = (char)(changed[i] ^ (1 << i % 8));
        err = (struct nnv_err){0};
        st = nnv_onnx_import(changed, model.len, "changed", NULL, f->arena, &f->net, NULL, &err);
        assert_true(st == NNV_OK || ((st == NNV_INVALID || st == NNV_UNSUPPORTED) && err.text[0]));
    }
    nnv_text_free(&model);
}

/* -------------------------------------------------------------------- networks */

static void whole_networks(void **state) {
    static const struct {
        int32_t code;
        uint32_t count;
    } has[OW_NETWORKS] = {{ANEURALNETWORKS_DEPTHWISE_CONV_2D, 6}, {ANEURALNETWORKS_CONV_2D, 20},
                          {ANEURALNETWORKS_FULLY_CONNECTED, 6},   {ANEURALNETWORKS_DEPTHWISE_CONV_2D, 4},
                          {ANEURALNETWORKS_CONV_2D, 11},          {ANEURALNETWORKS_QUANTIZE, 4}};
    struct fixture *f = *state;
    for (int i = 0; i < OW_NETWORKS; i++) {
        ow_network(fresh(f, 17), (enum ow_network)i);
        import_ok(f);
        assert_int_equal(uses(f, has[i].code), has[i].count);
        double *in = NNV_NEW(f->arena, double, 3 * 32 * 32), least = INFINITY, most = -INFINITY;
        for (int k = 0; k < 3 * 32 * 32; k++) in[k] = sin(k * 0.37);
        size_t n;
        const double *out = run(f, in, &n);
        for (size_t k = 0; k < n; k++) {
            assert_true(isfinite(out[k]));
            least = fmin(least, out[k]);
            most = fmax(most, out[k]);
        }
        assert_true(most > least + 1e-3); /* it says something */
    }
}

/** ONNX's own tests: each is converted to what gives its outputs, or refused by name; none is damaged. */
static void onnx_node_tests(void **state) {
    static const char *const suffixes[] = {"model.onnx", NULL};
    struct fixture *f = *state;
    const char *folder = getenv("NNVTS_ONNX");
    char **paths;
    size_t n, right = 0, refused = 0;
    struct nnv_err err = {0};
    if (!folder) {
        print_message("skipped: NNVTS_ONNX names no folder of ONNX's tests\n");
        skip();
    }
    assert_int_equal(nnv_file_list(folder, suffixes, &paths, &n, &err), NNV_OK);
    for (size_t i = 0; i < n; i++) {
        struct nnv_spec spec;
        nnv_arena_reset(f->arena);
        err = (struct nnv_err){0};
        const enum nnv_status st = nnv_onnx_test(paths[i], 0, f->arena, &spec, &err);
        if (st != NNV_OK && st != NNV_UNSUPPORTED) fail_msg("%s", err.text);
        right += st == NNV_OK;
        refused += st == NNV_UNSUPPORTED;
    }
    nnv_file_list_free(paths, n);
    print_message("%zu right, %zu refused\n", right, refused);
    assert_true(right > 5 * refused);
}

static int write_networks(const char *folder) {
    for (int i = 0; i < OW_NETWORKS; i++) {
        struct onnx_writer w;
        struct nnv_text model = {0};
        struct nnv_err err = {0};
        char path[4096];
        ow_begin(&w, 17);
        ow_network(&w, (enum ow_network)i);
        ow_end(&w, &model);
        snprintf(path, sizeof path, "%s/%s.onnx", folder, ow_network_names[i]);
        const enum nnv_status st = nnv_file_create(path, model.data, model.len, &err);
        nnv_text_free(&model);
        ow_free(&w);
        if (st != NNV_OK) return 1;
    }
    return 0;
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(functions, setup, teardown),
        cmocka_unit_test_setup_teardown(integers, setup, teardown),
        cmocka_unit_test_setup_teardown(clips, setup, teardown),
        cmocka_unit_test_setup_teardown(windows, setup, teardown),
        cmocka_unit_test_setup_teardown(many_dimensions, setup, teardown),
        cmocka_unit_test_setup_teardown(entries_by_tuples, setup, teardown),
        cmocka_unit_test_setup_teardown(tuples_that_lie_outside, setup, teardown),
        cmocka_unit_test_setup_teardown(sequences_backwards, setup, teardown),
        cmocka_unit_test_setup_teardown(sequences_by_batch, setup, teardown),
        cmocka_unit_test_setup_teardown(shape_arithmetic, setup, teardown),
        cmocka_unit_test_setup_teardown(expansions, setup, teardown),
        cmocka_unit_test_setup_teardown(versions_differ, setup, teardown),
        cmocka_unit_test_setup_teardown(bytes_and_numbers, setup, teardown),
        cmocka_unit_test_setup_teardown(stacks_of_one_matrix, setup, teardown),
        cmocka_unit_test_setup_teardown(refusals_name_operator_and_reason, setup, teardown),
        cmocka_unit_test_setup_teardown(damage_is_told_with_its_place, setup, teardown),
        cmocka_unit_test_setup_teardown(damaged_files, setup, teardown),
        cmocka_unit_test_setup_teardown(resizing_without_end_is_refused, setup, teardown),
        cmocka_unit_test_setup_teardown(whole_networks, setup, teardown),
        cmocka_unit_test_setup_teardown(onnx_node_tests, setup, teardown),
    };
    if (argc > 1) return write_networks(argv[1]);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
