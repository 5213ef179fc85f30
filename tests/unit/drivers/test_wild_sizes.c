/* SPDX-License-Identifier: Apache-2.0 */
/** @file test_wild_sizes.c Planted bugs of broadcasts and sizes show under their condition. */
#include "tests/kit/trigger.h"

#define N(V) INT_SCALAR(V)
#define NO BOOL_SCALAR(0)

static void broadcasts(void **state) {
    const struct trigger triggers[] = {
        SHOWS("matmul-inner-batch", BATCH_MATMUL, X(T(F32, 1, 2, 3, 3), T(F32, 1, 2, 3, 3), NO, NO),
              Y(F32, OF(1, 2, 3, 3))),
        SPARED("matmul-inner-batch", BATCH_MATMUL, X(T(F32, 2, 3, 3), T(F32, 2, 3, 3), NO, NO), Y(F32, OF(2, 3, 3))),
        SHOWS("broadcast-middle-axis", ADD,
              X(T(F32, 2, 3, 4), {F32, OF(2, 1, 4), FLOATS(1, 2, 3, 4, 5, 6, 7, 8)}, N(0)), Y(F32, OF(2, 3, 4))),
        SPARED("broadcast-middle-axis", ADD, X(T(F32, 2, 3, 4), {F32, OF(1, 1, 4), FLOATS(1, 2, 3, 4)}, N(0)),
               Y(F32, OF(2, 3, 4))),
        SHOWS("broadcast-channel", ADD, X(T(F32, 2, 2, 3), {F32, OF(2, 1), FLOATS(1, 2)}, N(0)), Y(F32, OF(2, 2, 3))),
        SPARED("broadcast-channel", ADD, X(T(F32, 2, 2, 3), {F32, OF(2, 2, 1), FLOATS(1, 2, 3, 4)}, N(0)),
               Y(F32, OF(2, 2, 3))),
        SHOWS("broadcast-both-ways", MUL,
              X({F32, OF(1, 4), FLOATS(1, 2, 3, 4)}, {F32, OF(3, 1), FLOATS(5, 6, 7)}, N(0)), Y(F32, OF(3, 4))),
        SPARED("broadcast-both-ways", MUL, X(T(F32, 3, 4), {F32, OF(3, 1), FLOATS(5, 6, 7)}, N(0)), Y(F32, OF(3, 4))),
    };
    (void)state;
    check_triggers(triggers, sizeof triggers / sizeof *triggers);
}

/** The row that is added to a matrix moves on with the axis before its own: element [i,0,j] for [i,j,k]. */
static void broadcast_by_the_axis_before(void **state) {
    static const char *const options[] = {"broadcast-middle-axis,over=reference", "broadcast-middle-axis,over=cpu"};
    static const float zeros[24];
    (void)state;
    for (int k = 0; k < 2; k++) {
        struct nnvts_device *d = open_driver("faulty", options[k]);
        struct net n = {0};
        struct call c = {0};
        float got[24] = {0};
        const uint32_t x = input(&n, F32, OF(2, 3, 4)), b = input(&n, F32, OF(2, 1, 4)), none = integer(&n, 0),
                       y = output(&n, F32, OF(2, 3, 4));
        operation(&n, ANEURALNETWORKS_ADD, LIST(x, b, none), LIST(y));
        struct nnvts_prepared_model *p = prepare(d, &n);
        give(&c, zeros, sizeof zeros);
        give(&c, FLOATS(1, 2, 3, 4, 5, 6, 7, 8), 32);
        take(&c, got, sizeof got);
        assert_int_equal(execute(p, &c), NNVTS_STATUS_NONE);
        assert_memory_equal(got, FLOATS(1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 5, 5, 5, 5, 6, 6, 6, 6, 7, 7, 7, 7), 96);
        p->release(p);
        d->release(d);
    }
}

static void lengths(void **state) {
    const struct trigger triggers[] = {
        SHOWS("long-result-tail", ADD, X(T(F32, 1027), {F32, OF(1), FLOATS(1)}, N(0)), Y(F32, OF(1027))),
        SPARED("long-result-tail", ADD, X(T(F32, 1028), {F32, OF(1), FLOATS(1)}, N(0)), Y(F32, OF(1028))),
        SPARED("long-result-tail", ADD, X(T(F32, 1023), {F32, OF(1), FLOATS(1)}, N(0)), Y(F32, OF(1023))),
        SHOWS("dense-odd-rows", FULLY_CONNECTED, X(T(F32, 3, 4), C(F32, 2, 4), C(F32, 2), N(0)), Y(F32, OF(3, 2))),
        SPARED("dense-odd-rows", FULLY_CONNECTED, X(T(F32, 4, 4), C(F32, 2, 4), C(F32, 2), N(0)), Y(F32, OF(4, 2))),
        SHOWS("element-index-short", RELU, X(T(F32, 65600)), Y(F32, OF(65600))),
        SPARED("element-index-short", RELU, X(T(F32, 65536)), Y(F32, OF(65536))),
        SHOWS("matmul-deep", BATCH_MATMUL, X(T(F32, 2, 1100), T(F32, 1100, 2), NO, NO), Y(F32, OF(2, 2))),
        SPARED("matmul-deep", BATCH_MATMUL, X(T(F32, 2, 1024), T(F32, 1024, 2), NO, NO), Y(F32, OF(2, 2))),
        SHOWS("line-short", MEAN, X(T(F32, 4100), AXES(0), N(1)), Y(F32, OF(1))),
        SHOWS("line-short", MEAN, X(T(F32, 2, 4100), AXES(1), N(0)), Y(F32, OF(2))),
        SPARED("line-short", MEAN, X(T(F32, 2, 4096), AXES(1), N(0)), Y(F32, OF(2))),
    };
    (void)state;
    check_triggers(triggers, sizeof triggers / sizeof *triggers);
}

/** LSTM of two inputs and two units, without input gate, peepholes and projection: small numbers everywhere. */
static void lstm(struct net *n, uint32_t sequences, int32_t activation) {
    static const float w[] = {0.1f, -0.2f, 0.3f, 0.4f}, cells[] = {0.5f, -0.5f, -0.25f, 0.75f};
    uint32_t in[24];
    in[0] = input(n, F32, OF(sequences, 2));
    for (uint32_t i = 1; i <= 17; i++) {
        const bool matrix = i == 1 || i <= 8, none = i == 1 || i == 5 || (i >= 9 && i <= 12) || i >= 16;
        const uint32_t dims[] = {2, 2};
        in[i] =
            none ? tensor(n, NNVTS_NO_VALUE, F32, 0, NULL) : constant(n, F32, w, matrix ? 16 : 8, matrix ? 2 : 1, dims);
    }
    in[18] = constant(n, F32, w, 4 * 2 * sequences, OF(sequences, 2));
    in[19] = constant(n, F32, cells, 4 * 2 * sequences, OF(sequences, 2));
    in[20] = integer(n, activation);
    in[21] = real(n, 0);
    in[22] = real(n, 0);
    in[23] = UINT32_MAX;
    const uint32_t scratch = output(n, F32, OF(sequences, 6)), state = output(n, F32, OF(sequences, 2)),
                   cell = output(n, F32, OF(sequences, 2)), y = output(n, F32, OF(sequences, 2));
    operation(n, ANEURALNETWORKS_LSTM, in, LIST(scratch, state, cell, y));
}
static void lstm_of_two(struct net *n) { lstm(n, 2, 4); }
static void lstm_of_one(struct net *n) { lstm(n, 1, 4); }
static void linear_lstm(struct net *n) { lstm(n, 1, 0); }

static void recurrence(void **state) {
    const struct trigger triggers[] = {
        SHOWS_IN("lstm-first-cell", lstm_of_two),
        SPARED_IN("lstm-first-cell", lstm_of_one),
        SHOWS_IN("lstm-always-tanh", linear_lstm),
        SPARED_IN("lstm-always-tanh", lstm_of_one),
        SHOWS("rnn-first-state", RNN,
              X(T(F32, 2, 2), C(F32, 2, 2), C(F32, 2, 2), C(F32, 2), {F32, OF(2, 2), FLOATS(1, 2, 3, 4)}, N(0)),
              .out = OUTPUTS({F32, OF(2, 2), NULL}, {F32, OF(2, 2), NULL})),
        SPARED("rnn-first-state", RNN,
               X(T(F32, 1, 2), C(F32, 2, 2), C(F32, 2, 2), C(F32, 2), {F32, OF(1, 2), FLOATS(1, 2)}, N(0)),
               .out = OUTPUTS({F32, OF(1, 2), NULL}, {F32, OF(1, 2), NULL})),
        SHOWS(
            "rnn-square-sequence", UNIDIRECTIONAL_SEQUENCE_RNN,
            X(T(F32, 2, 2, 2), C(F32, 2, 2), C(F32, 2, 2), C(F32, 2), {F32, OF(2, 2), FLOATS(1, 2, 3, 4)}, N(0), N(1)),
            Y(F32, OF(2, 2, 2))),
        SPARED(
            "rnn-square-sequence", UNIDIRECTIONAL_SEQUENCE_RNN,
            X(T(F32, 3, 2, 2), C(F32, 2, 2), C(F32, 2, 2), C(F32, 2), {F32, OF(2, 2), FLOATS(1, 2, 3, 4)}, N(0), N(1)),
            Y(F32, OF(3, 2, 2))),
        SHOWS("svdf-batch-state", SVDF,
              X(T(F32, 2, 2), C(F32, 2, 2), C(F32, 2, 3), C(F32, 2),
                {F32, OF(2, 6), FLOATS(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12)}, N(1), N(0)),
              .out = OUTPUTS({F32, OF(2, 6), NULL}, {F32, OF(2, 2), NULL})),
    };
    (void)state;
    check_triggers(triggers, sizeof triggers / sizeof *triggers);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(broadcasts), cmocka_unit_test(broadcast_by_the_axis_before),
                                       cmocka_unit_test(lengths), cmocka_unit_test(recurrence)};
    return cmocka_run_group_tests_name("planted bugs of broadcasts and sizes", tests, NULL, NULL);
}
