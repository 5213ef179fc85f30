/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file test_cpu_driver_elementwise.c Operations of the driver "cpu" on single values and pairs: values worked by
 * hand, and models that are refused.
 */
#include "tests/kit/driver_op.h"

#define OP(NAME) ANEURALNETWORKS_##NAME
#define NONE INT_SCALAR(ANEURALNETWORKS_FUSED_NONE)
#define RELU INT_SCALAR(ANEURALNETWORKS_FUSED_RELU)

/* ----------------------------------------------------------------- arithmetic */

static void test_sub(void **state) {
    (void)state;
    check_op(OP(SUB), INPUTS({F32, DIMS(2, 2), FLOATS(1, 2, 3, 4)}, {F32, DIMS(2), FLOATS(0.5f, 3)}, RELU),
             OUTPUT(F32, DIMS(2, 2), FLOATS(0.5f, 0, 2.5f, 1)));
    check_op(OP(SUB), INPUTS({F32, DIMS(1), FLOATS(1)}, {F32, DIMS(3), FLOATS(0.5f, 3, -1)}, NONE),
             OUTPUT(F32, DIMS(3), FLOATS(0.5f, -2, 2)));
    /* (q - 10) * 0.5 - (3 - 1) * 0.25: halves go away from zero */
    check_op(OP(SUB), INPUTS({U8(0.5f, 10), DIMS(4), BYTES(10, 12, 14, 0)}, {U8(0.25f, 1), DIMS(1), BYTES(3)}, NONE),
             OUTPUT(U8(1, 100), DIMS(4), BYTES(99, 101, 102, 94)));
    check_op(OP(SUB), INPUTS({S8(1, -128), DIMS(2), SIGNED(-128, 127)}, {S8(1, 0), DIMS(2), SIGNED(5, -5)}, NONE),
             OUTPUT(S8(1, -5), DIMS(2), SIGNED(-10, 127)));
    check_op(OP(SUB), INPUTS({F16, DIMS(2), HALVES(0x4000, 0x3c01)}, {F16, DIMS(2), HALVES(0x3c00, 0x3c00)}, NONE),
             OUTPUT(F16, DIMS(2), HALVES(0x3c00, 0x1400)));
}

static void test_int32(void **state) {
    (void)state;
    const struct given *a = INPUTS({I32, DIMS(3), INTS(INT32_MAX, -7, 65536)}, {I32, DIMS(3), INTS(1, 2, 65536)}, NONE);
    check_op(OP(ADD), a, OUTPUT(I32, DIMS(3), INTS(INT32_MIN, -5, 131072)));
    check_op(OP(SUB), a, OUTPUT(I32, DIMS(3), INTS(INT32_MAX - 1, -9, 0)));
    check_op(OP(MUL), a, OUTPUT(I32, DIMS(3), INTS(INT32_MAX, -14, 0)));
    check_op(OP(DIV),
             INPUTS({I32, DIMS(7), INTS(7, -7, 7, -7, 6, 5, INT32_MIN)}, {I32, DIMS(7), INTS(2, 2, -2, -2, -3, 0, -1)},
                    NONE),
             OUTPUT(I32, DIMS(7), INTS(3, -4, -4, 3, -2, 0, INT32_MIN)));
}

static void test_div(void **state) {
    (void)state;
    check_op(OP(DIV),
             INPUTS({F32, DIMS(2, 1), FLOATS(1, -6)}, {F32, DIMS(2), FLOATS(4, -2)},
                    INT_SCALAR(ANEURALNETWORKS_FUSED_RELU1)),
             OUTPUT(F32, DIMS(2, 2), FLOATS(0.25f, -0.5f, -1, 1)));
    check_op(OP(DIV), INPUTS({F16, DIMS(1), HALVES(0x3c00)}, {F16, DIMS(1), HALVES(0x4200)}, NONE),
             OUTPUT(F16, DIMS(1), HALVES(0x3555))); /* 1 / 3 */
}

/** Rank 5, both broadcast, more than one chunk and thread: every element is checked. */
static void test_broadcast_large(void **state) {
    (void)state;
    enum { M = 300, N = 700 };
    static float a[M], b[N], expected[M * N];
    for (int i = 0; i < M; i++) a[i] = (float)(i % 17 - 8);
    for (int i = 0; i < N; i++) b[i] = (float)(i % 13 - 6);
    for (int i = 0; i < M * N; i++) expected[i] = fmaxf(a[i / N], b[i % N]);
    check_op(OP(MAXIMUM), INPUTS({F32, DIMS(1, M, 1, 1, 1), a}, {F32, DIMS(7, 100), b}),
             OUTPUT(F32, DIMS(1, M, 1, 7, 100), expected));
}

static void test_extremes(void **state) {
    (void)state;
    const struct given *f = INPUTS({F32, DIMS(4), FLOATS(1, -2, NAN, 3)}, {F32, DIMS(4), FLOATS(2, -3, 1, NAN)});
    check_op_near(OP(MAXIMUM), f, OUTPUT(F32, DIMS(4), FLOATS(2, -2, NAN, NAN)), 0);
    check_op_near(OP(MINIMUM), f, OUTPUT(F32, DIMS(4), FLOATS(1, -3, NAN, NAN)), 0);
    const struct given *i = INPUTS({I32, DIMS(2), INTS(INT32_MIN, 5)}, {I32, DIMS(1), INTS(-1)});
    check_op(OP(MAXIMUM), i, OUTPUT(I32, DIMS(2), INTS(-1, 5)));
    check_op(OP(MINIMUM), i, OUTPUT(I32, DIMS(2), INTS(INT32_MIN, -1)));
    /* 3.5 and 4, -1 and -2, 100 and 90 (which saturates) */
    const struct given *q = INPUTS({U8(0.5f, 2), DIMS(3), BYTES(9, 0, 202)}, {U8(1, 10), DIMS(3), BYTES(14, 8, 100)});
    check_op(OP(MAXIMUM), q, OUTPUT(U8(0.5f, 100), DIMS(3), BYTES(108, 98, 255)));
    check_op(OP(MINIMUM), q, OUTPUT(U8(1, 5), DIMS(3), BYTES(9, 3, 95)));
    check_op(OP(MAXIMUM), INPUTS({S8(1, 0), DIMS(2), SIGNED(-128, 4)}, {S8(2, -1), DIMS(2), SIGNED(-20, 0)}),
             OUTPUT(S8(1, 1), DIMS(2), SIGNED(-37, 5)));
}

static void test_pow(void **state) {
    (void)state;
    check_op_near(OP(POW),
                  INPUTS({F32, DIMS(11), FLOATS(2, 9, -2, 0, -2, 0, INFINITY, 1, 2, 2, 2)},
                         {F32, DIMS(11), FLOATS(3, 0.5f, 3, 0, 0.5f, -1, -1, NAN, INFINITY, -INFINITY, NAN)}),
                  OUTPUT(F32, DIMS(11), FLOATS(8, 3, -8, 1, NAN, INFINITY, 0, 1, INFINITY, 0, NAN)), ULPS(1));
    check_op_near(OP(POW), INPUTS({F32, DIMS(2, 1), FLOATS(10, 0.5f)}, {F32, DIMS(3), FLOATS(38, -1, 39)}),
                  OUTPUT(F32, DIMS(2, 3), FLOATS(1e38f, 0.1f, INFINITY, 0x1p-38f, 2, 0x1p-39f)), ULPS(1));
    check_op(OP(POW), INPUTS({F16, DIMS(2), HALVES(0x4000, 0xc000)}, {F16, DIMS(1), HALVES(0x4200)}),
             OUTPUT(F16, DIMS(2), HALVES(0x4800, 0xc800)));
}

static void test_prelu(void **state) {
    (void)state;
    check_op(OP(PRELU), INPUTS({F32, DIMS(2, 2), FLOATS(1, -2, -3, 4)}, {F32, DIMS(2), FLOATS(0.5f, -1)}),
             OUTPUT(F32, DIMS(2, 2), FLOATS(1, 2, -1.5f, 4)));
    /* 2, -2.5, -1 and 0.5 by -1.5: 2, 3.75, 1.5 and 0.5, in units of 0.5 (7.5 away from zero) */
    check_op(OP(PRELU), INPUTS({U8(0.5f, 5), DIMS(4), BYTES(9, 0, 3, 6)}, {U8(0.25f, 8), DIMS(1), BYTES(2)}),
             OUTPUT(U8(0.5f, 1), DIMS(4), BYTES(5, 9, 4, 2)));
    check_op(OP(PRELU), INPUTS({S8(1, -3), DIMS(2), SIGNED(-128, 2)}, {S8(0.5f, 0), DIMS(1), SIGNED(1)}),
             OUTPUT(S8(1, -60), DIMS(2), SIGNED(-123, -55))); /* -125 * 0.5 = -62.5 */
}

/* ------------------------------------------------------- comparisons and logic */

/** EQUAL, NOT_EQUAL, LESS, LESS_EQUAL, GREATER, GREATER_EQUAL of three pairs: below, equal, above. */
static void check_order(struct kind a_kind, struct kind b_kind, const void *a, const void *b) {
    static const struct {
        int32_t code;
        uint8_t expected[3];
    } cases[] = {
        {OP(EQUAL), {0, 1, 0}},      {OP(NOT_EQUAL), {1, 0, 1}}, {OP(LESS), {1, 0, 0}},
        {OP(LESS_EQUAL), {1, 1, 0}}, {OP(GREATER), {0, 0, 1}},   {OP(GREATER_EQUAL), {0, 1, 1}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        check_op(cases[i].code, INPUTS({a_kind, DIMS(3), a}, {b_kind, DIMS(3), b}),
                 OUTPUT(BOOL8, DIMS(3), cases[i].expected));
}

static void test_comparisons(void **state) {
    (void)state;
    check_order(F32, F32, FLOATS(-INFINITY, 0.0f, 2), FLOATS(1, -0.0f, 1.9999999f));
    check_order(F16, F16, HALVES(0x3c00, 0xbc00, 0x3c01), HALVES(0x3c01, 0xbc00, 0x3c00));
    check_order(I32, I32, INTS(16777216, INT32_MIN, 1), INTS(16777217, INT32_MIN, -1));
    check_order(U8(0.5f, 10), U8(0.25f, 2), BYTES(11, 12, 13), BYTES(6, 6, 6));  /* 0.5, 1, 1.5 and 1 */
    check_order(S8(1, -3), S8(2, 4), SIGNED(-128, -3, 127), SIGNED(-58, 4, 68)); /* -125, 0, 130; -124, 0, 128 */
    check_order(U8(0.1f, 0), U8(0.3f, 0), BYTES(2, 3, 4), BYTES(1, 1, 1));       /* 3 * 0.1f is 0.3f as float32 */
    check_op(OP(NOT_EQUAL), INPUTS({F32, DIMS(1), FLOATS(NAN)}, {F32, DIMS(1), FLOATS(NAN)}),
             OUTPUT(BOOL8, DIMS(1), BYTES(1)));
    check_op(OP(GREATER_EQUAL), INPUTS({F32, DIMS(1), FLOATS(NAN)}, {F32, DIMS(2), FLOATS(NAN, 1)}),
             OUTPUT(BOOL8, DIMS(2), BYTES(0, 0)));
}

/** Any byte but 0 is true. */
static void test_logic(void **state) {
    (void)state;
    const struct given *in = INPUTS({BOOL8, DIMS(4), BYTES(0, 0, 1, 2)}, {BOOL8, DIMS(4), BYTES(0, 7, 0, 1)});
    check_op(OP(LOGICAL_AND), in, OUTPUT(BOOL8, DIMS(4), BYTES(0, 0, 0, 1)));
    check_op(OP(LOGICAL_OR), in, OUTPUT(BOOL8, DIMS(4), BYTES(0, 1, 1, 1)));
    check_op(OP(EQUAL), in, OUTPUT(BOOL8, DIMS(4), BYTES(1, 0, 0, 1)));
    check_op(OP(GREATER), in, OUTPUT(BOOL8, DIMS(4), BYTES(0, 0, 1, 0)));
    check_op(OP(LOGICAL_NOT), INPUTS({BOOL8, DIMS(3), BYTES(0, 1, 128)}), OUTPUT(BOOL8, DIMS(3), BYTES(1, 0, 0)));
    check_op(OP(LOGICAL_OR), INPUTS({BOOL8, DIMS(1, 1), BYTES(0)}, {BOOL8, DIMS(3), BYTES(0, 4, 0)}),
             OUTPUT(BOOL8, DIMS(1, 3), BYTES(0, 1, 0)));
}

/* ------------------------------------------------------------------ functions */

static void test_signs(void **state) {
    (void)state;
    check_op(OP(ABS), INPUTS({F32, DIMS(3), FLOATS(-1.5f, 2, -INFINITY)}),
             OUTPUT(F32, DIMS(3), FLOATS(1.5f, 2, INFINITY)));
    check_op(OP(NEG), INPUTS({F16, DIMS(2), HALVES(0x3c00, 0xc000)}), OUTPUT(F16, DIMS(2), HALVES(0xbc00, 0x4000)));
    check_op(OP(ABS), INPUTS({I32, DIMS(3), INTS(-5, 5, INT32_MIN)}), OUTPUT(I32, DIMS(3), INTS(5, 5, INT32_MIN)));
    check_op(OP(NEG), INPUTS({I32, DIMS(3), INTS(-5, 5, INT32_MIN)}), OUTPUT(I32, DIMS(3), INTS(5, -5, INT32_MIN)));
}

static double hard_swish(double x) { return x * fmin(6, fmax(0, x + 3)) / 6; }
static double inverse_root(double x) { return 1 / sqrt(x); }
static double elu(double x) { return x < 0 ? 2 * expm1(x) : x; }

/** Against the C library in double: tiny, ordinary, huge and special arguments of either sign. */
static void test_functions(void **state) {
    (void)state;
    static const struct {
        int32_t code;
        double (*f)(double);
        double ulps;
    } cases[] = {{OP(EXP), exp, 2},
                 {OP(LOG), log, 1},
                 {OP(SIN), sin, 3},
                 {OP(SQRT), sqrt, 1},
                 {OP(ELU), elu, 4},
                 {OP(RSQRT), inverse_root, 2},
                 {OP(HARD_SWISH), hard_swish, 3}};
    enum { N = 2000 };
    static float x[N], y[N];
    for (int i = 0; i < N; i++) x[i] = (float)(ldexp(1 + i % 97 / 97.0, i % 41 - 20) * (i % 3 ? 1 : -1));
    const float special[] = {0, -0.0f, INFINITY, NAN, 0x1p-140f, 0x1p100f, -0x1p40f, 88.5f, -88.5f, 3.1415927f};
    memcpy(x, special, sizeof special);
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        for (int i = 0; i < N; i++) y[i] = (float)cases[c].f((double)x[i]);
        if (cases[c].code == OP(ELU))
            check_op_near(OP(ELU), INPUTS({F32, DIMS(N), x}, REAL_SCALAR(2)), OUTPUT(F32, DIMS(N), y), ULPS(4));
        else
            check_op_near(cases[c].code, INPUTS({F32, DIMS(N), x}), OUTPUT(F32, DIMS(N), y), ULPS(cases[c].ulps));
    }
}

static void test_functions_by_hand(void **state) {
    (void)state;
    check_op(OP(EXP), INPUTS({F32, DIMS(3), FLOATS(0, -INFINITY, 100)}), OUTPUT(F32, DIMS(3), FLOATS(1, 0, INFINITY)));
    check_op_near(OP(LOG), INPUTS({F32, DIMS(3), FLOATS(1, 0, -1)}), OUTPUT(F32, DIMS(3), FLOATS(0, -INFINITY, NAN)),
                  0);
    check_op(OP(HARD_SWISH), INPUTS({F32, DIMS(1, 1, 1, 1, 5), FLOATS(-4, -1.5f, 0, 3, 5)}),
             OUTPUT(F32, DIMS(1, 1, 1, 1, 5), FLOATS(-0.0f, -0.375f, 0, 3, 5)));
    check_op(OP(RSQRT), INPUTS({F16, DIMS(2), HALVES(0x4400, 0x3400)}), OUTPUT(F16, DIMS(2), HALVES(0x3800, 0x4000)));
    check_op(OP(ELU), INPUTS({F16, DIMS(2), HALVES(0x4400, 0xfc00)}, SCALAR(ANY(FLOAT16), HALVES(0x4000))),
             OUTPUT(F16, DIMS(2), HALVES(0x4400, 0xc000)));
    /* a negative alpha leaves 0 below 0, and takes from what is above: 1 - (e - 1) */
    check_op_near(OP(ELU), INPUTS({F32, DIMS(2), FLOATS(-1, 1)}, REAL_SCALAR(-1)),
                  OUTPUT(F32, DIMS(2), FLOATS(0, -0.71828183f)), ULPS(4));
}

static void test_quantised_functions(void **state) {
    (void)state;
    /* 1, 0.25, 0, -0.5: roots of 0 and of less saturate */
    check_op(OP(RSQRT), INPUTS({U8(0.25f, 2), DIMS(4), BYTES(6, 3, 2, 0)}),
             OUTPUT(U8(0.01f, 5), DIMS(4), BYTES(105, 205, 255, 255)));
    check_op(OP(RSQRT), INPUTS({S8(0.25f, -2), DIMS(3), SIGNED(2, -1, -128)}),
             OUTPUT(S8(0.02f, -100), DIMS(3), SIGNED(-50, 0, 127)));
    /* -1.5, 0, 1.5, 6: -0.375, 0, 1.125, 6 in units of 0.25 (-1.5, 4.5 away from zero) */
    check_op(OP(HARD_SWISH), INPUTS({S8(1.5f, 1), DIMS(4), SIGNED(0, 1, 2, 5)}),
             OUTPUT(S8(0.25f, -10), DIMS(4), SIGNED(-12, -10, -5, 14)));
}

/* ------------------------------------------------------------ other value types */

static void test_cast(void **state) {
    (void)state;
    const struct given *f = INPUTS({F32, DIMS(6), FLOATS(1.9f, -1.9f, 3e9f, -3e9f, NAN, 300)});
    check_op(OP(CAST), f, OUTPUT(I32, DIMS(6), INTS(1, -1, INT32_MAX, INT32_MIN, 0, 300)));
    check_op(OP(CAST), INPUTS({F32, DIMS(5), FLOATS(-0.5f, 255.9f, 300, NAN, 7.9f)}),
             OUTPUT(U8(0.5f, 9), DIMS(5), BYTES(0, 255, 255, 0, 7)));
    check_op(OP(CAST), INPUTS({F32, DIMS(2), FLOATS(1.00048828125f, 1e6f)}),
             OUTPUT(F16, DIMS(2), HALVES(0x3c00, 0x7c00)));
    check_op(OP(CAST), INPUTS({F16, DIMS(2), HALVES(0xc100, 0x5bf8)}), OUTPUT(I32, DIMS(2), INTS(-2, 255)));
    check_op(OP(CAST), INPUTS({F16, DIMS(2), HALVES(0xc100, 0x5bf8)}), OUTPUT(U8(1, 0), DIMS(2), BYTES(0, 255)));
    check_op(OP(CAST), INPUTS({F16, DIMS(1), HALVES(0xc100)}), OUTPUT(F32, DIMS(1), FLOATS(-2.5f)));
    const struct given *i = INPUTS({I32, DIMS(3), INTS(-7, 2049, 16777217)});
    check_op(OP(CAST), i, OUTPUT(F32, DIMS(3), FLOATS(-7, 2049, 16777216)));
    check_op(OP(CAST), i, OUTPUT(F16, DIMS(3), HALVES(0xc700, 0x6800, 0x7c00)));
    check_op(OP(CAST), i, OUTPUT(U8(3, 1), DIMS(3), BYTES(0, 255, 255)));
    const struct given *q = INPUTS({U8(0.5f, 7), DIMS(2), BYTES(0, 200)});
    check_op(OP(CAST), q, OUTPUT(F32, DIMS(2), FLOATS(0, 200)));
    check_op(OP(CAST), q, OUTPUT(I32, DIMS(2), INTS(0, 200)));
    check_op(OP(CAST), q, OUTPUT(U8(2, 3), DIMS(2), BYTES(0, 200)));
}

/** Types that are cast to themselves alone. */
static void test_cast_identity(void **state) {
    (void)state;
    const struct kind symm = {ANEURALNETWORKS_TENSOR_QUANT8_SYMM, 0.5f, 0};
    const struct kind symm16 = {ANEURALNETWORKS_TENSOR_QUANT16_SYMM, 0.5f, 0};
    const struct kind asymm16 = {ANEURALNETWORKS_TENSOR_QUANT16_ASYMM, 0.5f, 9};
    check_op(OP(CAST), INPUTS({S8(1, 3), DIMS(3), SIGNED(-128, 0, 127)}),
             OUTPUT(S8(2, -5), DIMS(3), SIGNED(-128, 0, 127)));
    check_op(OP(CAST), INPUTS({BOOL8, DIMS(3), BYTES(0, 1, 1)}), OUTPUT(BOOL8, DIMS(3), BYTES(0, 1, 1)));
    check_op(OP(CAST), INPUTS({symm, DIMS(2), SIGNED(-128, 127)}), OUTPUT(symm, DIMS(2), SIGNED(-128, 127)));
    check_op(OP(CAST), INPUTS({symm16, DIMS(2), HALVES(0x8000, 77)}), OUTPUT(symm16, DIMS(2), HALVES(0x8000, 77)));
    check_op(OP(CAST), INPUTS({asymm16, DIMS(2), HALVES(0xffff, 77)}), OUTPUT(asymm16, DIMS(2), HALVES(0xffff, 77)));
}

static void test_quantize(void **state) {
    (void)state;
    const float x[] = {0.25f, -0.25f, 0.2f, 100, -100, INFINITY, -INFINITY};
    check_op(OP(QUANTIZE), INPUTS({F32, DIMS(7), x}), OUTPUT(U8(0.5f, 10), DIMS(7), BYTES(11, 9, 10, 210, 0, 255, 0)));
    check_op(OP(QUANTIZE), INPUTS({F32, DIMS(7), x}),
             OUTPUT(S8(0.5f, -10), DIMS(7), SIGNED(-9, -11, -10, 127, -128, 127, -128)));
    check_op(OP(QUANTIZE), INPUTS({F16, DIMS(2), HALVES(0x3e00, 0xbe00)}), OUTPUT(S8(1, 0), DIMS(2), SIGNED(2, -2)));
}

static void test_select(void **state) {
    (void)state;
    const struct given condition = {BOOL8, DIMS(1, 3), BYTES(1, 0, 2)};
    check_op(OP(SELECT), INPUTS(condition, {F32, DIMS(1, 3), FLOATS(1, 2, 3)}, {F32, DIMS(1, 3), FLOATS(4, -5, 6)}),
             OUTPUT(F32, DIMS(1, 3), FLOATS(1, -5, 3)));
    check_op(OP(SELECT), INPUTS(condition, {I32, DIMS(1, 3), INTS(1, 2, 3)}, {I32, DIMS(1, 3), INTS(4, -5, 6)}),
             OUTPUT(I32, DIMS(1, 3), INTS(1, -5, 3)));
    check_op(OP(SELECT), INPUTS(condition, {F16, DIMS(1, 3), HALVES(1, 2, 3)}, {F16, DIMS(1, 3), HALVES(4, 5, 6)}),
             OUTPUT(F16, DIMS(1, 3), HALVES(1, 5, 3)));
    /* 1.5, 7, -1 in units of 1 */
    check_op(OP(SELECT),
             INPUTS(condition, {S8(0.5f, 1), DIMS(1, 3), SIGNED(4, 0, -1)}, {S8(1, -3), DIMS(1, 3), SIGNED(0, 4, 0)}),
             OUTPUT(S8(1, 10), DIMS(1, 3), SIGNED(12, 17, 9)));
}

static void test_fill_and_rank(void **state) {
    (void)state;
    check_op(OP(FILL), INPUTS(AXES(2, 1, 2), REAL_SCALAR(-2.5f)),
             OUTPUT(F32, DIMS(2, 1, 2), FLOATS(-2.5f, -2.5f, -2.5f, -2.5f)));
    check_op(OP(FILL), INPUTS(AXES(3), INT_SCALAR(-7)), OUTPUT(I32, DIMS(3), INTS(-7, -7, -7)));
    check_op(OP(FILL), INPUTS(AXES(2), SCALAR(ANY(FLOAT16), HALVES(0x3c01))),
             OUTPUT(F16, DIMS(2), HALVES(0x3c01, 0x3c01)));
    check_op(OP(RANK), INPUTS({BOOL8, DIMS(1, 2, 1), NULL}), OUTPUT(INT, 0, NULL, INTS(3)));
    check_op(OP(RANK), INPUTS({F16, DIMS(4), NULL}), OUTPUT(INT, 0, NULL, INTS(1)));
}

/** A shape that only the request knows is checked there. */
static void test_fill_at_run_time(void **state) {
    (void)state;
    for (int32_t extent = -1; extent <= 2; extent += 3) {
        struct net n = {0};
        const uint32_t d = input(&n, I32, DIMS(1)), y = output(&n, I32, DIMS(0));
        operation(&n, OP(FILL), LIST(d, integer(&n, 9)), LIST(y));
        struct nnvts_prepared_model *p = prepare(cpu, &n);
        struct call c = {0};
        int32_t out[2] = {0};
        give(&c, &extent, sizeof extent);
        take(&c, out, sizeof out);
        assert_int_equal(execute(p, &c), extent < 0 ? NNVTS_STATUS_GENERAL_FAILURE : NNVTS_STATUS_NONE);
        assert_int_equal(out[1], extent < 0 ? 0 : 9);
        p->release(p);
    }
}

/* ------------------------------------------------------------------- refusals */

static void test_pair_refusals(void **state) {
    (void)state;
    const struct given a = {F32, DIMS(2, 3), NULL}, five = {F32, DIMS(1, 1, 1, 2, 3), NULL};
    const struct given i = {I32, DIMS(2, 3), NULL}, q = {U8(1, 0), DIMS(2, 3), NULL}, b = {BOOL8, DIMS(2, 3), NULL};
    refuse_op("not broadcast", OP(SUB), INPUTS(a, {F32, DIMS(2), NULL}, NONE), OUTPUTS(a));
    refuse_op("rank 5", OP(DIV), INPUTS(five, a, NONE), OUTPUTS(five));
    refuse_op("activation", OP(SUB), INPUTS(a, a, INT_SCALAR(4)), OUTPUTS(a));
    refuse_op("activation of int32", OP(DIV), INPUTS(i, i, RELU), OUTPUTS(i));
    refuse_op("no activation", OP(SUB), INPUTS(a, a), OUTPUTS(a));
    refuse_op("quantised quotient", OP(DIV), INPUTS(q, q, NONE), OUTPUTS(q));
    refuse_op("two types", OP(MAXIMUM), INPUTS(a, i), OUTPUTS(a));
    refuse_op("type of the result", OP(MINIMUM), INPUTS(q, q), OUTPUTS(i));
    refuse_op("shape of the result", OP(MAXIMUM), INPUTS(a, a), OUTPUT(F32, DIMS(3, 2), NULL));
    refuse_op("rank of the result", OP(POW), INPUTS(a, a), OUTPUT(F32, DIMS(1, 2, 3), NULL));
    refuse_op("powers of integers", OP(POW), INPUTS(i, i), OUTPUTS(i));
    refuse_op("slopes of integers", OP(PRELU), INPUTS(i, i), OUTPUTS(i));
    refuse_op("comparison to float", OP(LESS), INPUTS(a, a), OUTPUTS(a));
    refuse_op("comparison of two types", OP(EQUAL), INPUTS(a, b), OUTPUTS(b));
    refuse_op("logic of numbers", OP(LOGICAL_AND), INPUTS(i, i), OUTPUTS(i));
    refuse_op("three inputs", OP(LOGICAL_OR), INPUTS(b, b, b), OUTPUTS(b));
    refuse_op("two results", OP(EQUAL), INPUTS(a, a), OUTPUTS(b, b));
}

static void test_refusals(void **state) {
    (void)state;
    const struct given a = {F32, DIMS(2, 3), NULL}, i = {I32, DIMS(2, 3), NULL}, q = {U8(1, 0), DIMS(2, 3), NULL};
    const struct given s = {S8(1, 0), DIMS(2, 3), NULL}, b = {BOOL8, DIMS(2, 3), NULL}, flat = {F32, DIMS(6), NULL};
    const struct given symm = {{ANEURALNETWORKS_TENSOR_QUANT16_SYMM, 1, 0}, DIMS(2, 3), NULL};
    refuse_op("shape", OP(EXP), INPUTS(a), OUTPUTS(flat));
    refuse_op("logarithm of integers", OP(LOG), INPUTS(i), OUTPUTS(i));
    refuse_op("quantised sine", OP(SIN), INPUTS(q), OUTPUTS(q));
    refuse_op("not a number", OP(LOGICAL_NOT), INPUTS(a), OUTPUTS(a));
    refuse_op("alpha missing", OP(ELU), INPUTS(a), OUTPUTS(a));
    refuse_op("alpha of another type", OP(ELU), INPUTS(a, SCALAR(ANY(FLOAT16), HALVES(1))), OUTPUTS(a));
    refuse_op("condition", OP(SELECT), INPUTS(i, a, a), OUTPUTS(a));
    refuse_op("condition's shape", OP(SELECT), INPUTS({BOOL8, DIMS(3), NULL}, a, a), OUTPUTS(a));
    refuse_op("condition's rank", OP(SELECT), INPUTS({BOOL8, DIMS(2, 3, 1), NULL}, a, a),
              OUTPUT(F32, DIMS(2, 3, 1), NULL));
    refuse_op("choices' shapes", OP(SELECT), INPUTS(b, a, {F32, DIMS(2, 1), NULL}), OUTPUTS(a));
    refuse_op("choices' types", OP(SELECT), INPUTS(b, q, s), OUTPUTS(q));
    refuse_op("cast from signed bytes", OP(CAST), INPUTS(s), OUTPUTS(a));
    refuse_op("cast to signed bytes", OP(CAST), INPUTS(i), OUTPUTS(s));
    refuse_op("cast to bool", OP(CAST), INPUTS(i), OUTPUTS(b));
    refuse_op("cast to a scalar", OP(CAST), INPUTS(a), OUTPUT(INT, 0, NULL, NULL));
    refuse_op("cast to a shape", OP(CAST), INPUTS(a), OUTPUTS(flat));
    refuse_op("quantised twice", OP(QUANTIZE), INPUTS(q), OUTPUTS(q));
    refuse_op("quantised to 16 bits", OP(QUANTIZE), INPUTS(a), OUTPUTS(symm));
    refuse_op("negative extent", OP(FILL), INPUTS(AXES(2, -3), REAL_SCALAR(1)), OUTPUTS(a));
    refuse_op("negative extent of a shape", OP(FILL), INPUTS(AXES(2, -1), REAL_SCALAR(1)), OUTPUT(F32, 0, NULL, NULL));
    refuse_op("another shape", OP(FILL), INPUTS(AXES(3, 2), REAL_SCALAR(1)), OUTPUTS(a));
    refuse_op("value's type", OP(FILL), INPUTS(AXES(2, 3), INT_SCALAR(1)), OUTPUTS(a));
    refuse_op("half a value", OP(FILL), INPUTS(AXES(2, 3), SCALAR(ANY(FLOAT16), HALVES(1))), OUTPUTS(a));
    refuse_op("filled with truth", OP(FILL), INPUTS(AXES(2, 3), BOOL_SCALAR(1)), OUTPUTS(b));
    refuse_op("extents' rank", OP(FILL), INPUTS({I32, CONSTANT | DIMS(1, 2), INTS(2, 3)}, REAL_SCALAR(1)), OUTPUTS(a));
    refuse_op("too deep", OP(FILL), INPUTS(AXES(1, 1, 1, 1, 1, 1, 1, 1, 1), INT_SCALAR(1)), OUTPUT(I32, 0, NULL, NULL));
    refuse_op("too large", OP(FILL), INPUTS(AXES(65536, 65536), INT_SCALAR(1)), OUTPUT(I32, 0, NULL, NULL));
    refuse_op("rank as a tensor", OP(RANK), INPUTS(a), OUTPUT(I32, DIMS(1), NULL));
    refuse_op("rank as a real number", OP(RANK), INPUTS(a), OUTPUT(ANY(FLOAT32), 0, NULL, NULL));
    refuse_op("rank of a scalar", OP(RANK), INPUTS(INT_SCALAR(1)), OUTPUT(INT, 0, NULL, NULL));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sub),
        cmocka_unit_test(test_int32),
        cmocka_unit_test(test_div),
        cmocka_unit_test(test_broadcast_large),
        cmocka_unit_test(test_extremes),
        cmocka_unit_test(test_pow),
        cmocka_unit_test(test_prelu),
        cmocka_unit_test(test_comparisons),
        cmocka_unit_test(test_logic),
        cmocka_unit_test(test_signs),
        cmocka_unit_test(test_functions),
        cmocka_unit_test(test_functions_by_hand),
        cmocka_unit_test(test_quantised_functions),
        cmocka_unit_test(test_cast),
        cmocka_unit_test(test_cast_identity),
        cmocka_unit_test(test_quantize),
        cmocka_unit_test(test_select),
        cmocka_unit_test(test_fill_and_rank),
        cmocka_unit_test(test_fill_at_run_time),
        cmocka_unit_test(test_pair_refusals),
        cmocka_unit_test(test_refusals),
    };
    return cmocka_run_group_tests(tests, open_cpu, close_cpu);
}
