/* SPDX-License-Identifier: Apache-2.0 */
/** @file test_wild_values.c Planted bugs of values show under their condition. */
#include "tests/kit/trigger.h"

#define N(V) INT_SCALAR(V)
#define R(V) REAL_SCALAR(V)
#define NO BOOL_SCALAR(0)
#define A(...)                                                                                                         \
    { F32, OF(sizeof FLOATS(__VA_ARGS__) / sizeof(float)), FLOATS(__VA_ARGS__) }
#define H(...)                                                                                                         \
    { F16, OF(sizeof HALVES(__VA_ARGS__) / sizeof(uint16_t)), HALVES(__VA_ARGS__) }
#define W(...)                                                                                                         \
    { I32, OF(sizeof INTS(__VA_ARGS__) / sizeof(int32_t)), INTS(__VA_ARGS__) }
#define ROW(...)                                                                                                       \
    { F32, OF(1, sizeof FLOATS(__VA_ARGS__) / sizeof(float)), FLOATS(__VA_ARGS__) }

static void tails(void **state) {
    const struct trigger triggers[] = {
        SHOWS("exp-range", EXP, X(A(1, 40)), Y(F32, OF(2))),
        SPARED("exp-range", EXP, X(A(1, -30)), Y(F32, OF(2))),
        SHOWS("tanh-range", TANH, X(A(1, 6)), Y(F32, OF(2))),
        SPARED("tanh-range", TANH, X(A(1, -3)), Y(F32, OF(2))),
        SHOWS("logistic-tail-zero", LOGISTIC, X(A(1, -9)), Y(F32, OF(2))),
        SPARED("logistic-tail-zero", LOGISTIC, X(A(9, -7)), Y(F32, OF(2))),
        SHOWS("logistic-half-tail", LOGISTIC, X(H(0x3c00, 0xca00)), Y(F16, OF(2))),
        SPARED("logistic-half-tail", LOGISTIC, X(A(1, -12)), Y(F32, OF(2))),
        SHOWS("softmax-not-shifted", SOFTMAX, X(ROW(100, 99), R(1)), Y(F32, OF(1, 2))),
        SPARED("softmax-not-shifted", SOFTMAX, X(ROW(80, -99), R(1)), Y(F32, OF(1, 2))),
        SHOWS("log-softmax-tail", LOG_SOFTMAX, X(ROW(100, 0), R(1), N(1)), Y(F32, OF(1, 2))),
        SPARED("log-softmax-tail", LOG_SOFTMAX, X(ROW(50, 0), R(1), N(1)), Y(F32, OF(1, 2))),
        SHOWS("rsqrt-of-zero", RSQRT, X(A(1, 0)), Y(F32, OF(2))),
        SPARED("rsqrt-of-zero", RSQRT, X(A(1, 1e-10f)), Y(F32, OF(2))),
        SHOWS("sqrt-of-zero", SQRT, X(A(1, 0)), Y(F32, OF(2))),
        SPARED("sqrt-of-zero", SQRT, X(A(1, 2)), Y(F32, OF(2))),
        SHOWS("half-subnormals-flushed", ADD, X(H(0x0100, 0x3c00), H(0, 0), N(0)), Y(F16, OF(2))),
        SPARED("half-subnormals-flushed", ADD, X(H(0x0400, 0x3c00), H(0, 0), N(0)), Y(F16, OF(2))),
        SHOWS("pow-negative-base", POW, X(A(2, -2), A(3, 3)), Y(F32, OF(2))),
        SPARED("pow-negative-base", POW, X(A(2, 2), A(-3, 3)), Y(F32, OF(2))),
        SHOWS("floor-through-int", FLOOR, X(A(1.5f, 1e10f)), Y(F32, OF(2))),
        SPARED("floor-through-int", FLOOR, X(A(1.5f, -1e9f)), Y(F32, OF(2))),
        SHOWS("sin-coarse-period", SIN, X(A(1, 1000)), Y(F32, OF(2))),
        SPARED("sin-coarse-period", SIN, X(A(1, 60)), Y(F32, OF(2))),
        SHOWS("elu-cancels", ELU, X(A(1, -3e-8f), R(1)), Y(F32, OF(2))),
        SPARED("elu-cancels", ELU, X(A(1, -1), R(1)), Y(F32, OF(2))),
    };
    (void)state;
    check_triggers(triggers, sizeof triggers / sizeof *triggers);
}

static void nan_and_integers(void **state) {
    const struct trigger triggers[] = {
        SHOWS("maximum-drops-nan", MAXIMUM, X(A(NAN, 1), A(1, 2)), Y(F32, OF(2))),
        SHOWS("maximum-drops-nan", MINIMUM, X(A(0, 1), A(1, NAN)), Y(F32, OF(2))),
        SPARED("maximum-drops-nan", MAXIMUM, X(A(INFINITY, 1), A(1, 2)), Y(F32, OF(2))),
        SHOWS("relu-drops-nan", RELU, X(A(NAN, 1)), Y(F32, OF(2))),
        SPARED("relu-drops-nan", RELU, X(A(-1, 1)), Y(F32, OF(2))),
        SHOWS("equal-nan", EQUAL, X(A(NAN, 1), A(NAN, 1)), Y(BOOL8, OF(2))),
        SPARED("equal-nan", EQUAL, X(A(NAN, 1), A(1, 1)), Y(BOOL8, OF(2))),
        SHOWS("compare-int-as-float", GREATER, X(W(16777217, 1), W(16777216, 1)), Y(BOOL8, OF(2))),
        SPARED("compare-int-as-float", GREATER, X(W(65537, 1), W(65536, 1)), Y(BOOL8, OF(2))),
        SHOWS("int-quotient-truncated", DIV, X(W(-7, 7, 7), W(2, -2, 2), N(0)), Y(I32, OF(3))),
        SPARED("int-quotient-truncated", DIV, X(W(-8, 7, -7), W(2, 2, -2), N(0)), Y(I32, OF(3))),
        SHOWS("cast-floors", CAST, X(A(-1.5f, 1.5f)), Y(I32, OF(2))),
        SPARED("cast-floors", CAST, X(A(-2, 1.5f)), Y(I32, OF(2))),
    };
    (void)state;
    check_triggers(triggers, sizeof triggers / sizeof *triggers);
}

/** Numbers near 4096 in rows that differ by halves. */
static const float *far_from_zero(void) {
    static float v[32];
    for (int i = 0; i < 32; i++) v[i] = 4096 + (float)(i % 7) / 2;
    return v;
}
static const uint16_t *halves_of(uint16_t bits) {
    static uint16_t v[4][128];
    static int next;
    uint16_t *to = v[next++ % 4];
    for (int i = 0; i < 128; i++) to[i] = bits;
    return to;
}

static void sums(void **state) {
    /* 128 products of 1024 and 1, then as many of -1 */
    static uint16_t signs[256];
    for (int i = 0; i < 256; i++) signs[i] = i < 128 ? 0x3c00 : 0xbc00;
    static uint16_t thousands[256];
    for (int i = 0; i < 256; i++) thousands[i] = 0x6400;
    const struct trigger triggers[] = {
        SHOWS("l2-norm-zero-row", L2_NORMALIZATION, X({F32, OF(2, 2), FLOATS(0, 0, 1, 2)}), Y(F32, OF(2, 2))),
        SPARED("l2-norm-zero-row", L2_NORMALIZATION, X({F32, OF(2, 2), FLOATS(0, 1, 1, 2)}), Y(F32, OF(2, 2))),
        SHOWS("instance-norm-one-pass", INSTANCE_NORMALIZATION,
              X({F32, OF(1, 4, 8, 1), far_from_zero()}, R(1), R(0), R(1e-3f), NO), Y(F32, OF(1, 4, 8, 1))),
        SHOWS("mean-half-sum", MEAN, X({F16, OF(1, 128), halves_of(0x6400)}, AXES(1), N(0)), Y(F16, OF(1))),
        SPARED("mean-half-sum", MEAN, X({F16, OF(1, 32), halves_of(0x6400)}, AXES(1), N(0)), Y(F16, OF(1))),
        SHOWS("dense-half-sum", FULLY_CONNECTED,
              X({F16, OF(1, 256), thousands}, {F16, CONSTANT | OF(1, 256), signs}, {F16, CONSTANT | OF(1), HALVES(0)},
                N(0)),
              Y(F16, OF(1, 1))),
        SPARED("dense-half-sum", FULLY_CONNECTED,
               X({F16, OF(1, 32), thousands}, {F16, CONSTANT | OF(1, 32), signs}, {F16, CONSTANT | OF(1), HALVES(0)},
                 N(0)),
               Y(F16, OF(1, 1))),
        SHOWS("prelu-steep", PRELU, X(A(-1, 1), A(2, 2)), Y(F32, OF(2))),
        SPARED("prelu-steep", PRELU, X(A(-1, 1), A(0.5f, 0.5f)), Y(F32, OF(2))),
    };
    (void)state;
    check_triggers(triggers, sizeof triggers / sizeof *triggers);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(tails), cmocka_unit_test(nan_and_integers),
                                       cmocka_unit_test(sums)};
    return cmocka_run_group_tests_name("planted bugs of values", tests, NULL, NULL);
}
