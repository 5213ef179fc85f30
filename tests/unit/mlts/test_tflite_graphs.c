/* SPDX-License-Identifier: Apache-2.0 */
/** @file test_tflite_graphs.c Whole files: states, control flow, outputs; and what is refused, with its place. */
#include "mlts/tflite/convert.h"
#include "tests/kit/tflite.h"

/* ----------------------------------------------------------- states, control flow */

static void states_are_inputs_and_outputs(void **state) {
    struct fixture *f = *state;
    static const float one[] = {1}, zero[] = {0}, two[] = {2};
    struct writer *w = fresh(f); /* h' = x + 2 h */
    const int x = w_input(w, W_TENSOR(w, F, 1, 1)), h = W_TENSOR(w, F, 1, 1), y = w_output(w, W_TENSOR(w, F, 1, 1));
    w->g->tensor[h].variable = true;
    W_OP(w, NNV_TFL_RNN, 7, y, x, W_CONST(w, F, one, 1, 1), W_CONST(w, F, two, 1, 1), W_CONST(w, F, zero, 1), h);
    import_ok(f);
    assert_int_equal(f->net.state_count, 1);
    assert_int_equal(f->net.states[0].input, 1);
    assert_int_equal(f->net.states[0].output, 1);
    expect_output(f, GIVEN(3, 10), 0, NUMBERS(23));
    expect_output(f, GIVEN(3, 10), 1, NUMBERS(23));
    w->g->tensor[h].variable = false;
    w_input(w, h);
    import_bad(f, NNV_INVALID, "input 4, a state, is not a variable");
}

/** A gate's weights and biases of one unit; the forget gate is open, the others are at 1/2 (their sums are 0). */
static void sequences(void **state) {
    struct fixture *f = *state;
    static const float zero[] = {0}, one[] = {1}, open[] = {100}, two[] = {2};
    struct writer *w = fresh(f);
    int32_t in[24];
    for (int i = 0; i < 24; i++) in[i] = -1;
    in[0] = w_input(w, W_TENSOR(w, F, 1, 2, 1));
    for (int i = 1; i <= 8; i++) in[i] = i == 3 ? W_CONST(w, F, one, 1, 1) : W_CONST(w, F, zero, 1, 1);
    for (int i = 12; i < 16; i++) in[i] = i == 13 ? W_CONST(w, F, open, 1) : W_CONST(w, F, zero, 1);
    in[18] = W_TENSOR(w, F, 1, 1), in[19] = W_TENSOR(w, F, 1, 1);
    w->g->tensor[in[18]].variable = w->g->tensor[in[19]].variable = true;
    const int32_t y = w_output(w, W_TENSOR(w, F, 1, 2, 1));
    w_byte(w_op(w, NNV_TFL_UNIDIRECTIONAL_SEQUENCE_LSTM, 71, 24, in, 1, &y), 0, 1); /* the activation is RELU */
    import_ok(f);
    assert_int_equal(f->net.state_count, 2);
    /* cell: 4 + 2/2 = 5, then 5 + 6/2 = 8; half of it goes out */
    expect_output(f, GIVEN(2, 6, 0, 4), 0, NUMBERS(2.5, 4));
    expect_output(f, GIVEN(2, 6, 0, 4), 2, NUMBERS(8));
    w = fresh(f); /* a step of h' = x + 2 h after another */
    const int x = w_input(w, W_TENSOR(w, F, 1, 3, 1)), h = W_TENSOR(w, F, 1, 1),
              z = w_output(w, W_TENSOR(w, F, 1, 3, 1));
    w->g->tensor[h].variable = true;
    W_OP(w, NNV_TFL_UNIDIRECTIONAL_SEQUENCE_RNN, 31, z, x, W_CONST(w, F, one, 1, 1), W_CONST(w, F, two, 1, 1),
         W_CONST(w, F, zero, 1), h);
    import_ok(f);
    expect_output(f, GIVEN(1, 1, 1, 0), 0, NUMBERS(1, 3, 7));
}

static void other_cells(void **state) {
    struct fixture *f = *state;
    static const float zero[] = {0}, one[] = {1}, open[] = {100}, two[] = {2}, five[] = {5};
    struct writer *w = fresh(f); /* one step of the cell above */
    int32_t in[24];
    for (int i = 0; i < 24; i++) in[i] = -1;
    in[0] = w_input(w, W_TENSOR(w, F, 1, 1));
    for (int i = 1; i <= 8; i++) in[i] = i == 3 ? W_CONST(w, F, one, 1, 1) : W_CONST(w, F, zero, 1, 1);
    for (int i = 12; i < 16; i++) in[i] = i == 13 ? W_CONST(w, F, open, 1) : W_CONST(w, F, zero, 1);
    in[18] = W_TENSOR(w, F, 1, 1), in[19] = W_TENSOR(w, F, 1, 1);
    w->g->tensor[in[18]].variable = w->g->tensor[in[19]].variable = true;
    int32_t y = w_output(w, W_TENSOR(w, F, 1, 1));
    w_byte(w_op(w, NNV_TFL_LSTM, 14, 24, in, 1, &y), 0, 1);
    import_ok(f);
    expect_output(f, GIVEN(2, 0, 4), 0, NUMBERS(2.5));
    w = fresh(f); /* features 2 x, weighed by 5 */
    int x = w_input(w, W_TENSOR(w, F, 1, 1)), h = W_TENSOR(w, F, 1, 1);
    y = w_output(w, W_TENSOR(w, F, 1, 1));
    w->g->tensor[h].variable = true;
    w_int(W_OP(w, NNV_TFL_SVDF, 6, y, x, W_CONST(w, F, two, 1, 1), W_CONST(w, F, five, 1, 1), -1, h), 0, 1);
    import_ok(f);
    expect_output(f, GIVEN(3, 0), 0, NUMBERS(30));
    w = fresh(f); /* h' = x + 2 h both ways */
    x = w_input(w, W_TENSOR(w, F, 1, 2, 1)), h = W_TENSOR(w, F, 1, 1);
    const int g = W_TENSOR(w, F, 1, 1), a = W_CONST(w, F, one, 1, 1), b = W_CONST(w, F, two, 1, 1);
    const int z = W_CONST(w, F, zero, 1);
    w->g->tensor[h].variable = w->g->tensor[g].variable = true;
    y = w_output(w, W_TENSOR(w, F, 1, 2, 2));
    w_byte(W_OP(w, NNV_TFL_BIDIRECTIONAL_SEQUENCE_RNN, 70, y, x, a, b, z, h, a, b, z, g, -1, -1, -1), 2, 1);
    import_ok(f);
    expect_output(f, GIVEN(1, 1, 0, 0), 0, NUMBERS(1, 3, 3, 1));
    assert_int_equal(f->net.state_count, 2);
}

static void conditions_and_loops(void **state) {
    struct fixture *f = *state;
    struct writer *w = fresh(f);
    const int32_t in[] = {w_input(w, W_SCALAR(w, B)), w_input(w, W_TENSOR(w, F, 2))};
    const int32_t y = w_output(w, W_TENSOR(w, F, 2));
    w_int(w_int(w_op(w, NNV_TFL_IF, 92, 2, in, 1, &y), 0, 1), 1, 2);
    for (int i = 0; i < 2; i++) { /* x + x, or x as it is */
        w_next_graph(w);
        const int x = w_input(w, W_TENSOR(w, F, 2));
        if (i == 0) {
            const int z = w_output(w, W_TENSOR(w, F, 2));
            W_OP(w, NNV_TFL_ADD, 11, z, x, x);
        } else {
            w_output(w, x);
        }
    }
    import_ok(f);
    expect_output(f, GIVEN(1, 3, 4), 0, NUMBERS(6, 8));
    expect_output(f, GIVEN(0, 3, 4), 0, NUMBERS(3, 4));
    static const float ten[] = {10};
    w = fresh(f); /* while x < 10: x = x + x */
    const int x = w_input(w, W_TENSOR(w, F, 1)), z = w_output(w, W_TENSOR(w, F, 1));
    w_int(w_int(W_OP(w, NNV_TFL_WHILE, 93, z, x), 0, 1), 1, 2);
    w_next_graph(w);
    int a = w_input(w, W_TENSOR(w, F, 1)), b = w_output(w, W_TENSOR(w, B, 1));
    W_OP(w, NNV_TFL_LESS, 41, b, a, W_CONST(w, F, ten, 1));
    w_next_graph(w);
    a = w_input(w, W_TENSOR(w, F, 1)), b = w_output(w, W_TENSOR(w, F, 1));
    W_OP(w, NNV_TFL_ADD, 11, b, a, a);
    import_ok(f);
    expect_output(f, GIVEN(3), 0, NUMBERS(12));
    w_int(&w->graph[0].op[0], 1, 0);
    import_bad(f, NNV_INVALID, "subgraph 0: expected 1 to 2");
    w->graph[2].op[0] = w->graph[0].op[0]; /* the body holds the loop */
    w_int(w_int(&w->graph[2].op[0], 0, 1), 1, 2);
    w_int(&w->graph[0].op[0], 1, 2);
    w->graph[2].op[0].in[0] = a, w->graph[2].op[0].out[0] = b;
    import_bad(f, NNV_INVALID, "subgraph 2 contains itself");
}

/* ------------------------------------------------------------- what is not taken */

static void unsupported_are_named_at_once(void **state) {
    struct fixture *f = *state;
    struct writer *w = fresh(f);
    const int x = w_input(w, W_TENSOR(w, F, 2)), y = W_TENSOR(w, F, 2), z = w_output(w, W_TENSOR(w, F, 2));
    const int a = W_TENSOR(w, F, 2), b = W_TENSOR(w, F, 2), s = w_input(w, W_TENSOR(w, NNV_TFL_INT16, 2)),
              r = W_TENSOR(w, NNV_TFL_INT16, 2);
    w_quant(w, s, 0.5, 0), w_quant(w, r, 0.5, 0);
    W_OP(w, NNV_TFL_STABLEHLO_SORT, 0, a, x);
    W_OP(w, NNV_TFL_CUSTOM, 0, b, a)->custom = "Flex\033";
    W_OP(w, NNV_TFL_STABLEHLO_SORT, 0, y, b);
    W_OP(w, NNV_TFL_ADD, 11, r, s, s);
    W_OP(w, NNV_TFL_RELU, 0, z, y); /* what it reads is not known: it is not blamed */
    import_bad(f, NNV_UNSUPPORTED,
               "t.tflite: 4 operators are not supported: STABLEHLO_SORT (2), CUSTOM Flex? (1), ADD of INT16 (1)");
}

static void wrong_uses_have_their_place(void **state) {
    static const float four_ones[] = {1, 1, 1, 1};
    struct fixture *f = *state;
    with_option(f, NNV_TFL_SOFTMAX, 9);
    import_bad(f, NNV_INVALID, "t.tflite: subgraph 0, operator 0 (SOFTMAX): beta is 0, not a number above 0");
    with_option(f, NNV_TFL_SOFTMAX, 0);
    import_bad(f, NNV_INVALID, "its options are missing");
    with_option(f, NNV_TFL_SOFTMAX, 11);
    import_bad(f, NNV_INVALID, "its options are those of another operator (type 11)");
    w_byte(with_option(f, NNV_TFL_RELU, 0), 0, 0)->nin = 0;
    import_bad(f, NNV_INVALID, "0 inputs, expected 1");
    struct writer *w = fresh(f);
    const int x = w_input(w, W_TENSOR(w, F, 1, 3, 3, 1)), k = W_CONST(w, F, four_ones, 1, 2, 2, 1);
    const int y = w_output(w, W_TENSOR(w, F, 1, 2, 2, 1));
    struct w_operator *o = w_int(w_int(w_byte(W_OP(w, NNV_TFL_CONV_2D, 1, y, x, k), 0, 1), 1, 1), 2, 0);
    import_bad(f, NNV_INVALID, "operator 0 (CONV_2D): stride_h is 0, not a number above 0");
    w_byte(w_int(o, 2, 1), 0, 2);
    import_bad(f, NNV_INVALID, "padding is 2, which the schema does not have");
    w_byte(w_byte(o, 0, 1), 3, 4);
    import_bad(f, NNV_UNSUPPORTED, "CONV_2D with the activation TANH (1)");
    w_byte(o, 3, 0);
    w->g->tensor[y].dims[1] = 3; /* another extent than the window gives */
    import_bad(f, NNV_INVALID, "does not fit NNAPI's CONV_2D");
    w->g->tensor[y].dims[1] = 2;
    import_ok(f);
}

/** An input that is an output, a constant output, and one tensor twice: NNAPI has none of these. */
static void outputs_are_computed(void **state) {
    struct fixture *f = *state;
    static const float k[] = {5};
    struct writer *w = fresh(f);
    const int x = w_output(w, w_input(w, W_TENSOR(w, F, 1))), c = w_output(w, W_CONST(w, F, k, 1)),
              y = w_output(w, w_output(w, W_TENSOR(w, F, 1)));
    W_OP(w, NNV_TFL_ADD, 11, y, x, c);
    import_ok(f);
    assert_int_equal(f->net.model.main.nout, 4);
    expect_output(f, GIVEN(2), 0, NUMBERS(2));
    expect_output(f, GIVEN(2), 1, NUMBERS(5));
    expect_output(f, GIVEN(2), 2, NUMBERS(7));
    expect_output(f, GIVEN(2), 3, NUMBERS(7));
}

/** A small file must not ask for much memory. */
static void much_from_little(void **state) {
    struct fixture *f = *state;
    struct writer *w = fresh(f);
    const int x = w_input(w, W_TENSOR(w, F, 1 << 22));
    for (int i = 0; i < 5; i++) { /* 80 MB */
        const int y = w_output(w, W_TENSOR(w, F, 1 << 22));
        W_OP(w, NNV_TFL_ZEROS_LIKE, 67, y, x);
    }
    import_bad(f, NNV_INVALID, "operator 4 (ZEROS_LIKE): constants of more than 67");
}

static void many_operators(void **state) {
    (void)state;
    const struct nnv_converters *const tables[] = {&nnv_cv_math,   &nnv_cv_window,    &nnv_cv_move, &nnv_cv_select,
                                                   &nnv_cv_reduce, &nnv_cv_recurrent, &nnv_cv_flow};
    bool seen[256] = {false};
    size_t count = 0;
    for (size_t t = 0; t < sizeof tables / sizeof *tables; t++)
        for (size_t i = 0; i < tables[t]->count; i++, count++) {
            assert_false(seen[tables[t]->row[i].code]); /* one row each */
            seen[tables[t]->row[i].code] = true;
        }
    print_message("%zu operators\n", count);
    assert_true(count >= 60);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        CASE(states_are_inputs_and_outputs),
        CASE(sequences),
        CASE(other_cells),
        CASE(conditions_and_loops),
        CASE(unsupported_are_named_at_once),
        CASE(wrong_uses_have_their_place),
        CASE(outputs_are_computed),
        CASE(much_from_little),
        CASE(many_operators),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
