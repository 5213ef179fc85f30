/* SPDX-License-Identifier: Apache-2.0 */
/* Elementwise operations beyond level 1: values worked by hand, levels, broadcasts, hazards, refusals. */
#include "tests/kit/op.h"

enum { B8 = ANEURALNETWORKS_TENSOR_BOOL8, PC = ANEURALNETWORKS_TENSOR_QUANT8_SYMM_PER_CHANNEL };

/* An operand's numbers, and its quantisation where it has one. */
struct side {
    int32_t type;
    const double *v;
    double scale;
    int32_t zero_point;
};

static void add_in(struct use *u, uint32_t rank, const uint32_t *dims, const struct side *s) {
    use_in(u, s->type, rank, dims, s->v);
    use_quant(u, s->scale, s->zero_point);
}

static void finish(struct use *u, uint32_t rank, const uint32_t *dims, const struct side *y, double tolerance,
                   int level) {
    use_out(u, y->type);
    use_quant(u, y->scale, y->zero_point);
    use_expect(u, 0, rank, dims, y->v, tolerance);
    assert_int_equal(u->level, level);
    use_free(u);
}

/* y = code(x) on four numbers. */
static void one(int32_t code, struct side x, struct side y, double tolerance, int level) {
    struct use *u = use_new(code);
    add_in(u, D(2, 2), &x);
    finish(u, D(2, 2), &y, tolerance, level);
}

static void one_float(int32_t code, const double *x, const double *y, double tolerance, int level) {
    one(code, (struct side){.type = F32, .v = x}, (struct side){.type = F32, .v = y}, tolerance, level);
    one(code, (struct side){.type = F16, .v = x}, (struct side){.type = F16, .v = y}, 0x1p-9, level);
}

/* y = code(a, b): a is [2,2], b is [2], broadcast. */
static struct use *two_use(int32_t code, const struct side *a, const struct side *b, bool act) {
    struct use *u = use_new(code);
    add_in(u, D(2, 2), a);
    add_in(u, D(2), b);
    if (act) use_scalar(u, INT, 0);
    return u;
}

static void two(int32_t code, struct side a, struct side b, struct side y, double tolerance, int level) {
    bool act = code == ANEURALNETWORKS_SUB || code == ANEURALNETWORKS_DIV;
    finish(two_use(code, &a, &b, act), D(2, 2), &y, tolerance, level);
}

#define F(...)                                                                                                         \
    (struct side) { .type = F32, .v = V(__VA_ARGS__) }
#define H(...)                                                                                                         \
    (struct side) { .type = F16, .v = V(__VA_ARGS__) }
#define I(...)                                                                                                         \
    (struct side) { .type = I32, .v = V(__VA_ARGS__) }
#define L(...)                                                                                                         \
    (struct side) { .type = B8, .v = V(__VA_ARGS__) }
#define Q(S, Z, ...)                                                                                                   \
    (struct side) { .type = Q8, .v = V(__VA_ARGS__), .scale = S, .zero_point = Z }
#define QS(S, Z, ...)                                                                                                  \
    (struct side) { .type = Q8S, .v = V(__VA_ARGS__), .scale = S, .zero_point = Z }

/* Rows with a spread: an operation on these inputs says nothing. */
static bool not_compared(struct use *u) {
    bool nan = isnan(use_spread(u, 0));
    use_free(u);
    return nan;
}

/* ------------------------------------------------------------------- arithmetic */

static void subtraction(void **state) {
    (void)state;
    two(ANEURALNETWORKS_SUB, F(5, -1, 2.5, 0), F(3, 0.5), F(2, -1.5, -0.5, -0.5), 0, 3);
    two(ANEURALNETWORKS_SUB, H(5, -1, 2.5, 0), H(3, 0.5), H(2, -1.5, -0.5, -0.5), 0, 3);
    two(ANEURALNETWORKS_SUB, I(5, -1, 2, 0), I(3, -4), I(2, 3, -1, 4), 0, 4);
    /* real a: 1 -2 4 0; b: 3 -0.5; y = 0.5 * (q - 100) */
    two(ANEURALNETWORKS_SUB, Q(0.5, 10, 12, 6, 18, 10), Q(0.25, 4, 16, 2), Q(0.5, 100, 96, 97, 102, 101), 0, 3);
    two(ANEURALNETWORKS_SUB, QS(0.5, -10, -8, -14, -2, -10), QS(0.25, 4, 16, 2), QS(0.5, 0, -4, -3, 2, 1), 0, 4);
    struct use *u = two_use(ANEURALNETWORKS_SUB, &I(1, 2, 3, 4), &I(1, 2), false);
    use_scalar(u, INT, 1);
    use_out(u, I32);
    use_refuse(u, "int32 tensors take none");
    use_free(u);
}

static void division(void **state) {
    (void)state;
    two(ANEURALNETWORKS_DIV, F(5, -1, 2.5, 0), F(2, 0.5), F(2.5, -2, 1.25, 0), 0, 3);
    two(ANEURALNETWORKS_DIV, H(5, -1, 2.5, 0), H(2, 0.5), H(2.5, -2, 1.25, 0), 0, 3);
    two(ANEURALNETWORKS_DIV, I(7, 7, -7, -7), I(2, -2), I(3, -4, -4, 3), 0, 4); /* towards minus infinity */
    struct use *u = two_use(ANEURALNETWORKS_DIV, &F(1, 2, 3, 4), &F(1, 0), true);
    use_out(u, F32);
    assert_true(not_compared(u));
    u = two_use(ANEURALNETWORKS_DIV, &I(1, 2, 3, 4), &I(1, 0), true);
    use_out(u, I32);
    assert_true(not_compared(u));
    u = two_use(ANEURALNETWORKS_DIV, &F(1, 2, 3, 4), &F(3, 7), true);
    use_out(u, F32);
    double spread = use_spread(u, 0); /* of 2/7 to 4/7: 3 units of 2^-24 and the store */
    assert_true(spread > 0x1p-24 && spread < 4 * 0x1p-24 * 1.01);
    use_free(u);
    u = two_use(ANEURALNETWORKS_DIV, &Q(1, 0, 1, 2, 3, 4), &Q(1, 0, 1, 2), true);
    use_out(u, Q8);
    use_quant(u, 1, 0);
    use_refuse(u, "TENSOR_QUANT8_ASYMM is not accepted here");
    use_free(u);
}

static void signs(void **state) {
    (void)state;
    one_float(ANEURALNETWORKS_ABS, V(-1.5, 2, 0, -0.25), V(1.5, 2, 0, 0.25), 0, 3);
    one(ANEURALNETWORKS_ABS, I(-5, 5, 0, -2147483647), I(5, 5, 0, 2147483647), 0, 4);
    one_float(ANEURALNETWORKS_NEG, V(-1.5, 2, 0, -0.25), V(1.5, -2, 0, 0.25), 0, 3);
    one(ANEURALNETWORKS_NEG, I(-5, 5, 0, 2147483647), I(5, -5, 0, -2147483647), 0, 3);
    struct use *u = use_new(ANEURALNETWORKS_NEG);
    use_in(u, I32, D(1), V(INT32_MIN));
    use_out(u, I32);
    assert_true(not_compared(u));
    u = use_new(ANEURALNETWORKS_ABS);
    use_in(u, Q8, D(1), V(1));
    use_quant(u, 1, 0);
    use_out(u, Q8);
    use_quant(u, 1, 0);
    use_refuse(u, "is not accepted here");
    use_free(u);
}

/* -------------------------------------------------------------------- functions */

static bool hazard_at(int32_t code, double x) {
    struct use *u = use_new(code);
    use_in(u, F32, D(1), &x);
    use_out(u, F32);
    return not_compared(u);
}

static void functions(void **state) {
    (void)state;
    one_float(ANEURALNETWORKS_EXP, V(0, 1, -1, 0.5), V(1, 2.718281828, 0.3678794412, 1.6487212707), 1.3e-7, 3);
    one_float(ANEURALNETWORKS_LOG, V(1, 2, 0.5, 10), V(0, 0.6931471806, -0.6931471806, 2.302585093), 1.3e-7, 3);
    one_float(ANEURALNETWORKS_SIN, V(0, 0.5, -1, 3), V(0, 0.4794255386, -0.8414709848, 0.1411200081), 6e-8, 3);
    one_float(ANEURALNETWORKS_SQRT, V(0, 4, 2, 0.25), V(0, 2, 1.4142135624, 0.5), 6e-8, 3);
    one_float(ANEURALNETWORKS_RSQRT, V(1, 4, 2, 0.25), V(1, 0.5, 0.7071067812, 2), 6e-8, 3);
    assert_true(hazard_at(ANEURALNETWORKS_LOG, 0) && hazard_at(ANEURALNETWORKS_LOG, -1));
    assert_true(hazard_at(ANEURALNETWORKS_SQRT, -1) && !hazard_at(ANEURALNETWORKS_SQRT, 0));
    assert_true(hazard_at(ANEURALNETWORKS_RSQRT, 0) && !hazard_at(ANEURALNETWORKS_RSQRT, 1e-30));
    static const int32_t codes[] = {ANEURALNETWORKS_EXP, ANEURALNETWORKS_LOG, ANEURALNETWORKS_SIN, ANEURALNETWORKS_SQRT,
                                    ANEURALNETWORKS_RSQRT};
    for (int i = 0; i < 5; i++) {
        struct use *u = use_new(codes[i]);
        use_in(u, I32, D(1), V(1));
        use_out(u, I32);
        use_refuse(u, "TENSOR_INT32 is not accepted here");
        use_free(u);
    }
}

static void rsqrt_quant8(void **state) {
    (void)state;
    /* real 4 1 0.25 0; the last one saturates */
    one(ANEURALNETWORKS_RSQRT, Q(0.25, 2, 18, 6, 3, 2), Q(0.0625, 3, 11, 19, 35, 255), 0, 7);
    one(ANEURALNETWORKS_RSQRT, QS(0.25, 2, 18, 6, 3, 2), QS(0.0625, -3, 5, 13, 29, 127), 0, 7);
}

static void elu(void **state) {
    (void)state;
    for (int half = 0; half < 2; half++) {
        struct use *u = use_new(ANEURALNETWORKS_ELU);
        use_in(u, half ? F16 : F32, D(4), V(-1, 0, 2, -3));
        use_scalar(u, half ? HALF : FLT, 2);
        use_out(u, half ? F16 : F32);
        use_expect(u, 0, D(4), V(-1.2642411177, 0, 2, -1.9004258633), half ? 0.001 : 1.3e-7);
        assert_int_equal(u->level, 4);
        use_free(u);
    }
    struct use *u = use_new(ANEURALNETWORKS_ELU);
    use_in(u, F16, D(2), V(1, -1));
    use_scalar(u, FLT, 2);
    use_out(u, F16);
    use_refuse(u, "input 1 (alpha)");
    use_free(u);
}

static void hard_swish(void **state) {
    (void)state;
    one_float(ANEURALNETWORKS_HARD_SWISH, V(-4, -1.5, 1.5, 5), V(0, -0.375, 1.125, 5), 0, 4);
    one(ANEURALNETWORKS_HARD_SWISH, Q(0.5, 20, 12, 17, 23, 30), Q(0.125, 7, 7, 4, 16, 47), 0, 4);
    one(ANEURALNETWORKS_HARD_SWISH, QS(0.5, -20, -28, -23, -17, -10), QS(0.125, 7, 7, 4, 16, 47), 0, 4);
    struct use *u = use_new(ANEURALNETWORKS_HARD_SWISH);
    use_in(u, F32, D(0, 3), NULL);
    use_out(u, F32);
    use_expect(u, 0, D(0, 3), NULL, 0);
    use_free(u);
    u = use_new(ANEURALNETWORKS_HARD_SWISH);
    use_in(u, F32, D(1), V(1));
    use_out(u, F16);
    use_refuse(u, "output 0");
    use_free(u);
}

/* ------------------------------------------------------------------ choice of two */

static void extrema(void **state) {
    (void)state;
    two(ANEURALNETWORKS_MAXIMUM, F(5, -1, 2.5, 0), F(3, -0.5), F(5, -0.5, 3, 0), 0, 3);
    two(ANEURALNETWORKS_MINIMUM, H(5, -1, 2.5, 0), H(3, -0.5), H(3, -1, 2.5, -0.5), 0, 3);
    two(ANEURALNETWORKS_MAXIMUM, I(5, -1, 2, 0), I(3, -4), I(5, -1, 3, 0), 0, 3);
    /* real a: 1 -2 4 0; b: 3 -0.5 */
    two(ANEURALNETWORKS_MAXIMUM, Q(0.5, 10, 12, 6, 18, 10), Q(0.25, 4, 16, 2), Q(0.5, 100, 106, 99, 108, 100), 0, 3);
    two(ANEURALNETWORKS_MINIMUM, QS(0.5, 10, 12, 6, 18, 10), QS(0.25, 4, 16, 2), QS(0.5, 100, 102, 96, 106, 99), 0, 4);
    struct use *u = two_use(ANEURALNETWORKS_MAXIMUM, &F(1, 2, 3, 4), &F(3, 1), false);
    use_out(u, F32);
    assert_true(use_spread(u, 0) == 0); /* exact */
    use_free(u);
    u = two_use(ANEURALNETWORKS_MINIMUM, &F(1, 2, 3, 4), &H(3, 1), false);
    use_out(u, F32);
    use_refuse(u, "input 1 (b)");
    use_free(u);
}

static void prelu(void **state) {
    (void)state;
    two(ANEURALNETWORKS_PRELU, F(5, -1, -2.5, 0), F(3, -0.5), F(5, 0.5, -7.5, 0), 0, 3);
    two(ANEURALNETWORKS_PRELU, H(5, -1, -2.5, 0), H(3, -0.5), H(5, 0.5, -7.5, 0), 0, 3);
    /* real x: 1 -2 -4 0; alpha: 3 -0.5 */
    two(ANEURALNETWORKS_PRELU, Q(0.5, 10, 12, 6, 2, 10), Q(0.25, 4, 16, 2), Q(0.5, 100, 102, 102, 76, 100), 0, 3);
    two(ANEURALNETWORKS_PRELU, QS(0.5, 10, 12, 6, 2, 10), QS(0.25, 4, 16, 2), QS(0.5, 0, 2, 2, -24, 0), 0, 4);
    struct use *u = two_use(ANEURALNETWORKS_PRELU, &I(1, 2, 3, 4), &I(1, 2), false);
    use_out(u, I32);
    use_refuse(u, "is not accepted here");
    use_free(u);
}

static void power(void **state) {
    (void)state;
    two(ANEURALNETWORKS_POW, F(4, 4, -3, 0.5), F(2, 0.5), F(16, 2, 9, 0.70710678), 6e-8, 3);
    two(ANEURALNETWORKS_POW, H(4, 4, -3, 0.5), H(2, 0.5), H(16, 2, 9, 0.70710678), 0.0003, 3);
    struct use *u = two_use(ANEURALNETWORKS_POW, &F(4, 1, 1, 0), &F(1, -1), false);
    use_out(u, F32);
    assert_true(not_compared(u));
    u = use_new(ANEURALNETWORKS_POW);
    use_in(u, F32, D(2, 3), V(1, 2, 3, 4, 5, 6));
    use_in(u, F32, D(2), V(1, 2));
    use_out(u, F32);
    use_refuse(u, "3");
    use_free(u);
}

/* ------------------------------------------------------------------ truth values */

static void comparisons(void **state) {
    (void)state;
    static const struct {
        int32_t code;
        double y[4]; /* of 1 ? 2, 2 ? 2, 3 ? 2, 2 ? 2 */
    } ops[] = {
        {ANEURALNETWORKS_EQUAL, {0, 1, 0, 1}},   {ANEURALNETWORKS_NOT_EQUAL, {1, 0, 1, 0}},
        {ANEURALNETWORKS_GREATER, {0, 0, 1, 0}}, {ANEURALNETWORKS_GREATER_EQUAL, {0, 1, 1, 1}},
        {ANEURALNETWORKS_LESS, {1, 0, 0, 0}},    {ANEURALNETWORKS_LESS_EQUAL, {1, 1, 0, 1}},
    };
    for (int i = 0; i < 6; i++) {
        struct side y = {.type = B8, .v = ops[i].y};
        two(ops[i].code, F(1, 2, 3, 2), F(2, 2), y, 0, 3);
        two(ops[i].code, H(1, 2, 3, 2), H(2, 2), y, 0, 3);
        two(ops[i].code, I(1, 2, 3, 2), I(2, 2), y, 0, 3);
        two(ops[i].code, Q(0.5, 10, 12, 14, 16, 14), Q(0.25, 4, 12, 12), y, 0, 3);
        two(ops[i].code, QS(0.5, 10, 12, 14, 16, 14), QS(0.25, 4, 12, 12), y, 0, 4);
        struct use *u = two_use(ops[i].code, &F(1, 2, 3, 2), &F(2, 2), false);
        use_out(u, B8);
        assert_true(use_spread(u, 0) == 0); /* known exactly: compared, equal ones too */
        use_free(u);
        u = two_use(ops[i].code, &F(1, 2, 3, 2), &F(2, 2), false);
        use_out(u, F32);
        use_refuse(u, "output 0");
        use_free(u);
    }
    two(ANEURALNETWORKS_EQUAL, L(0, 1, 1, 0), L(0, 1), L(1, 1, 0, 0), 0, 3);
    /* 3 * 0.1 and 1 * 0.3 are one float32 number, but differ: either answer is right. */
    struct use *u = two_use(ANEURALNETWORKS_EQUAL, &Q(0.1f, 0, 3, 3, 3, 3), &Q(0.3f, 0, 1, 1), false);
    use_out(u, B8);
    use_expect(u, 0, D(2, 2), V(1, 1, 1, 1), 0);
    assert_true(use_spread(u, 0) == 1);
    use_free(u);
}

/*
 * Float32 inputs of a relaxed model may be rounded to float16 first: near numbers compare either way. What float16 does
 * not hold may be off by its smallest normal, 2^-14, or twice that; and a difference below 2^-14 may vanish: together
 * 1.5 * 2^-13.
 */
static void comparison_near(void **state) {
    (void)state;
    static const struct {
        double a, b;
        bool near;
    } t[] = {{1.0001, 1.0002, true},
             {1.0001, 1.1, false},
             {0x1p-13, 2 * 0x1p-13 + 0x1p-30, true},
             {0x1p-13, 3 * 0x1p-13 + 0x1p-30, false}};
    for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
        struct use *u = use_new(ANEURALNETWORKS_LESS);
        use_in(u, F32, D(1), V(t[i].a));
        use_in(u, F32, D(1), V(t[i].b));
        use_out(u, B8);
        u->model.relaxed = true;
        assert_true(use_spread(u, 0) == (t[i].near ? 1 : 0));
        use_free(u);
    }
}

static void logic(void **state) {
    (void)state;
    two(ANEURALNETWORKS_LOGICAL_AND, L(0, 1, 1, 0), L(0, 1), L(0, 1, 0, 0), 0, 3);
    two(ANEURALNETWORKS_LOGICAL_OR, L(0, 1, 1, 0), L(0, 1), L(0, 1, 1, 1), 0, 3);
    one(ANEURALNETWORKS_LOGICAL_NOT, L(0, 1, 1, 0), L(1, 0, 0, 1), 0, 3);
    static const int32_t codes[] = {ANEURALNETWORKS_LOGICAL_AND, ANEURALNETWORKS_LOGICAL_OR,
                                    ANEURALNETWORKS_LOGICAL_NOT};
    for (int i = 0; i < 3; i++) {
        struct use *u = use_new(codes[i]);
        use_in(u, I32, D(1), V(1));
        if (i < 2) use_in(u, I32, D(1), V(1));
        use_out(u, I32);
        use_refuse(u, "expected TENSOR_BOOL8");
        use_free(u);
    }
}

static void selection(void **state) {
    (void)state;
    const struct side c = L(1, 0, 0, 1);
    const struct {
        struct side a, b, y;
        int level;
    } t[] = {
        {F(1, 2, 3, 4), F(5, 6, 7, 8), F(1, 6, 7, 4), 3},
        {H(1, 2, 3, 4), H(5, 6, 7, 8), H(1, 6, 7, 4), 3},
        {I(1, 2, 3, 4), I(5, 6, 7, 8), I(1, 6, 7, 4), 3},
        {Q(0.5, 10, 12, 1, 1, 18), Q(0.25, 4, 1, 16, 2, 1), Q(0.5, 100, 102, 106, 99, 108), 3},
        {QS(0.5, 10, 12, 1, 1, 18), QS(0.25, 4, 1, 16, 2, 1), QS(0.5, 0, 2, 6, -1, 8), 4},
    };
    for (int i = 0; i < 5; i++) {
        struct use *u = use_new(ANEURALNETWORKS_SELECT);
        add_in(u, D(2, 2), &c);
        add_in(u, D(2, 2), &t[i].a);
        add_in(u, D(2, 2), &t[i].b);
        finish(u, D(2, 2), &t[i].y, 0, t[i].level);
    }
    struct use *u = use_new(ANEURALNETWORKS_SELECT);
    use_in(u, B8, D(2), V(1, 0));
    use_in(u, F32, D(2), V(1, 2));
    use_in(u, F32, D(1), V(1));
    use_out(u, F32);
    use_refuse(u, "b: extent 0 is 1");
    use_free(u);
    u = use_new(ANEURALNETWORKS_SELECT);
    use_in(u, B8, D(2), V(1, 0));
    use_in(u, F32, D(1, 2), V(1, 2));
    use_in(u, F32, D(2), V(1, 2));
    use_out(u, F32);
    use_refuse(u, "a has rank 2");
    use_free(u);
}

/* -------------------------------------------------------------------- conversions */

static void quantize(void **state) {
    (void)state;
    one(ANEURALNETWORKS_QUANTIZE, F(1.2, -1000, 3.75, 1000), Q(0.5, 100, 102, 0, 108, 255), 0, 3);
    one(ANEURALNETWORKS_QUANTIZE, H(1.5, -1000, 3.8, 1000), QS(0.5, -10, -7, -128, -2, 127), 0, 4);
    struct use *u = use_new(ANEURALNETWORKS_QUANTIZE);
    use_in(u, F32, D(2), V(0.75, 1));
    use_out(u, Q8);
    use_quant(u, 0.5, 3);
    assert_true(use_spread(u, 0) == 1); /* 0.75 / 0.5 is a tie */
    use_free(u);
    u = use_new(ANEURALNETWORKS_QUANTIZE);
    use_in(u, I32, D(2), V(1, 2));
    use_out(u, Q8);
    use_quant(u, 0.5, 3);
    use_refuse(u, "input 0");
    use_free(u);
}

static void cast(void **state) {
    (void)state;
    one(ANEURALNETWORKS_CAST, F(1.9, -1.9, -0.5, 1e6), I(1, -1, 0, 1000000), 0, 3);
    one(ANEURALNETWORKS_CAST, H(255.9, 300, -0.5, 7.75), Q(0.5, 9, 255, 255, 0, 7), 0, 3);
    one(ANEURALNETWORKS_CAST, I(-3, 300, 2049, 16777217), F(-3, 300, 2049, 16777216), 0, 3);
    one(ANEURALNETWORKS_CAST, I(-3, 300, 7, 255), Q(0.5, 9, 0, 255, 7, 255), 0, 3);
    one(ANEURALNETWORKS_CAST, I(-3, 300, 2049, 2051), H(-3, 300, 2048, 2052), 0, 3);
    one(ANEURALNETWORKS_CAST, Q(0.25, 100, 0, 1, 200, 255), F(0, 1, 200, 255), 0, 3);
    one(ANEURALNETWORKS_CAST, Q(0.25, 100, 0, 1, 200, 255), Q(0.5, 3, 0, 1, 200, 255), 0, 3);
    one(ANEURALNETWORKS_CAST, QS(0.25, 100, 0, 1, -128, 127), QS(0.5, 3, 0, 1, -128, 127), 0, 4);
    one(ANEURALNETWORKS_CAST, L(0, 1, 1, 0), L(0, 1, 1, 0), 0, 4);
    struct use *u = use_new(ANEURALNETWORKS_CAST);
    use_in(u, F32, D(3), V(2, -0.999, 5.5));
    use_out(u, I32);
    assert_true(use_spread(u, 0) == 0); /* known exactly */
    use_free(u);
    u = use_new(ANEURALNETWORKS_CAST);
    use_in(u, F32, D(1), V(2.9999));
    use_out(u, I32);
    u->model.relaxed = true;
    assert_true(use_spread(u, 0) == 1); /* 3 in float16 */
    use_free(u);
    u = use_new(ANEURALNETWORKS_CAST);
    use_in(u, F32, D(1), V(3e9));
    use_out(u, I32);
    assert_true(not_compared(u));
    u = use_new(ANEURALNETWORKS_CAST);
    use_in(u, B8, D(1), V(1));
    use_out(u, F32);
    use_refuse(u, "output 0");
    use_free(u);
}

/* ------------------------------------------------------------------------- shapes */

static void fill(void **state) {
    (void)state;
    static const int32_t types[][2] = {{F32, FLT}, {F16, HALF}, {I32, INT}};
    for (int i = 0; i < 3; i++) {
        struct use *u = use_new(ANEURALNETWORKS_FILL);
        if (i == 1)
            use_in(u, I32, D(2), V(2, 3));
        else
            use_const(u, I32, D(2), V(2, 3));
        use_scalar(u, types[i][1], -7);
        use_out(u, types[i][0]);
        use_expect(u, 0, D(2, 3), V(-7, -7, -7, -7, -7, -7), 0);
        assert_int_equal(u->level, 4);
        use_free(u);
    }
    struct use *u = use_new(ANEURALNETWORKS_FILL);
    use_const(u, I32, D(2), V(2, -3));
    use_scalar(u, FLT, 1);
    use_out(u, F32);
    use_refuse(u, "dimension 1 is -3");
    use_free(u);
}

static void rank(void **state) {
    (void)state;
    struct use *u = use_new(ANEURALNETWORKS_RANK);
    use_in(u, PC, D(2, 1, 2), V(1, 2, 3, 4));
    u->operands[0].channel = (struct nnv_channel_quant){.dim = 2, .count = 2, .scales = (float[]){0.5f, 1}};
    use_out(u, INT);
    use_expect(u, 0, 0, NULL, V(3), 0);
    assert_int_equal(u->level, 4);
    use_free(u);
    u = use_new(ANEURALNETWORKS_RANK);
    use_in(u, B8, D(1, 1, 1, 1, 2), V(1, 0));
    use_out(u, INT);
    use_expect(u, 0, 0, NULL, V(5), 0);
    use_free(u);
    u = use_new(ANEURALNETWORKS_RANK);
    use_in(u, F32, D(1), V(1));
    use_out(u, I32);
    use_refuse(u, "output 0");
    use_free(u);
}

/* Denormals may be taken for 0, and a product of x and 6 may overflow: what depends on it is not compared. */
static void test_flushed_and_overflown(void **state) {
    (void)state;
    static const int32_t codes[] = {ANEURALNETWORKS_MUL, ANEURALNETWORKS_DIV, ANEURALNETWORKS_PRELU};
    static const double divisor[] = {0x1p100, 0x1p-100, -0x1p100};
    for (int i = 0; i < 3; i++) {
        const double x[] = {i == 2 ? -0x1p-140 : 0x1p-140, i == 2 ? -0x1p-20 : 0x1p-20}, y[] = {divisor[i], divisor[i]};
        struct use *u = use_new(codes[i]);
        add_in(u, D(2), &(struct side){.type = F32, .v = x});
        add_in(u, D(2), &(struct side){.type = F32, .v = y});
        if (i < 2) use_scalar(u, INT, 0);
        use_out(u, F32);
        (void)use_spread(u, 0);
        assert_true(isnan(u->results[0].spread[0]) && !isnan(u->results[0].spread[1]));
        use_free(u);
    }
    const double x[] = {0x1p126, 0x1p120};
    struct use *u = use_new(ANEURALNETWORKS_HARD_SWISH);
    add_in(u, D(2), &(struct side){.type = F32, .v = x});
    use_out(u, F32);
    (void)use_spread(u, 0);
    assert_true(isnan(u->results[0].spread[0]) && !isnan(u->results[0].spread[1]));
    use_free(u);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_flushed_and_overflown),
        cmocka_unit_test(subtraction),
        cmocka_unit_test(division),
        cmocka_unit_test(signs),
        cmocka_unit_test(functions),
        cmocka_unit_test(rsqrt_quant8),
        cmocka_unit_test(elu),
        cmocka_unit_test(hard_swish),
        cmocka_unit_test(extrema),
        cmocka_unit_test(prelu),
        cmocka_unit_test(power),
        cmocka_unit_test(comparisons),
        cmocka_unit_test(comparison_near),
        cmocka_unit_test(logic),
        cmocka_unit_test(selection),
        cmocka_unit_test(quantize),
        cmocka_unit_test(cast),
        cmocka_unit_test(fill),
        cmocka_unit_test(rank),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
