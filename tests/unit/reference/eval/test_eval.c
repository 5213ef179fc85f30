/* SPDX-License-Identifier: Apache-2.0 */
/* The evaluator: rounding, budgets, forced branches, graphs. */
#include <float.h>

#include "tests/kit/op.h"

/* ------------------------------------------------------------ a small graph */

enum { G_MAX = 24 };

/* Operands and operations are added in order; indices are operand numbers. */
struct graph {
    struct nnv_arena *arena;
    struct nnv_model model;
    struct nnv_operand operands[G_MAX];
    struct nnv_operation operations[G_MAX];
    uint32_t in[G_MAX], out[G_MAX];
    struct nnv_value values[G_MAX];
    struct nnv_golden results[G_MAX];
    struct nnv_eval_options options;
    struct nnv_err err;
};

static struct graph *graph_new(int rows) {
    struct nnv_arena *a = nnv_arena_new();
    struct graph *g = NNV_NEW(a, struct graph, 1);
    g->arena = a;
    g->options = (struct nnv_eval_options){.rows = rows, .k = 2, .seed = 7};
    g->model.main.operands = g->operands;
    g->model.main.operations = g->operations;
    g->model.main.in = g->in;
    g->model.main.out = g->out;
    return g;
}

static uint32_t add_operand(struct graph *g, int32_t type, uint32_t n, enum nnv_lifetime lifetime) {
    struct nnv_operand *o = &g->operands[g->model.main.noperands];
    *o = (struct nnv_operand){.type = type, .rank = n ? 1 : 0, .lifetime = lifetime};
    o->dims = nnv_arena_copy(g->arena, &n, sizeof n);
    if (lifetime == NNV_SUBGRAPH_OUTPUT) g->out[g->model.main.nout++] = g->model.main.noperands;
    return g->model.main.noperands++;
}

static uint32_t add_input(struct graph *g, int32_t type, uint32_t n, const double *values) {
    uint32_t i = add_operand(g, type, n, NNV_SUBGRAPH_INPUT);
    struct nnv_value *v = &g->values[g->model.main.nin];
    g->in[g->model.main.nin++] = i;
    *v = (struct nnv_value){.rank = 1, .dims = {n}, .bytes = n * nnv_type(type)->size};
    v->data = nnv_arena_alloc(g->arena, v->bytes, 1);
    nnv_store(type, values, n, v->data);
    return i;
}

static uint32_t add_int(struct graph *g, int32_t value) {
    uint32_t i = add_operand(g, ANEURALNETWORKS_INT32, 0, NNV_CONSTANT_COPY);
    g->operands[i].data = nnv_arena_copy(g->arena, &value, sizeof value);
    g->operands[i].bytes = sizeof value;
    return i;
}

static void add_operation(struct graph *g, int32_t code, uint32_t nin, const uint32_t *in, uint32_t out) {
    struct nnv_operation *o = &g->operations[g->model.main.noperations++];
    *o = (struct nnv_operation){.type = code, .nin = nin, .nout = 1};
    o->in = nnv_arena_copy(g->arena, in, nin * sizeof *in);
    o->out = nnv_arena_copy(g->arena, &out, sizeof out);
}

/* A binary operation with an activation. */
static void add_binary(struct graph *g, int32_t code, uint32_t a, uint32_t b, int32_t act, uint32_t out) {
    add_operation(g, code, 3, (uint32_t[]){a, b, add_int(g, act)}, out);
}

static void quant(struct graph *g, uint32_t operand, double scale, int32_t zero_point) {
    g->operands[operand].scale = (float)scale;
    g->operands[operand].zero_point = zero_point;
}

static enum nnv_status run(struct graph *g) {
    int level;
    g->err = (struct nnv_err){0};
    enum nnv_status st = nnv_validate(&g->model, g->arena, &level, &g->err);
    return st ? st : nnv_eval(&g->model, g->values, &g->options, g->arena, g->results, &g->err);
}

static void must_run(struct graph *g) {
    if (run(g)) fail_msg("%s", g->err.text);
}

static double value(const struct graph *g, uint32_t out, size_t e) {
    int32_t type = g->operands[g->out[out]].type;
    double v;
    nnv_load(type, (const char *)g->results[out].value.data + e * nnv_type(type)->size, 1, &v);
    return v;
}

static void graph_free(struct graph *g) { nnv_arena_free(g->arena); }

/* y = a (code) b on n elements of a type. */
static struct graph *binary(int32_t code, int32_t type, int rows, uint32_t n, const double *a, const double *b,
                            int32_t act) {
    struct graph *g = graph_new(rows);
    uint32_t x = add_input(g, type, n, a), y = add_input(g, type, n, b);
    add_binary(g, code, x, y, act, add_operand(g, type, n, NNV_SUBGRAPH_OUTPUT));
    return g;
}

/* -------------------------------------------------------------------- float */

static void test_golden_is_rounded_once(void **state) {
    (void)state;
    struct graph *g = binary(ANEURALNETWORKS_ADD, F32, 0, 2, V(1, 1), V(0x1p-24, 0x1.8p-24), 0);
    must_run(g);
    assert_true(value(g, 0, 0) == 1 && value(g, 0, 1) == 1 + 0x1p-23);
    assert_true(g->results[0].exact[0] == 1 + 0x1p-24);
    assert_null(g->results[0].spread);
    graph_free(g);
}

static void test_float_spread(void **state) {
    (void)state;
    static const struct {
        int32_t type;
        bool relaxed;
        double u, eta;
    } types[] = {{F32, false, 0x1p-24, 0x1p-126}, {F16, false, 0x1p-11, 0x1p-14}, {F32, true, 0x1p-11, 0x1p-14}};
    for (size_t t = 0; t < 3; t++) {
        struct graph *g = binary(ANEURALNETWORKS_ADD, types[t].type, 8, 3, V(1, -2, 0), V(2, -4, 0), 0);
        g->model.relaxed = types[t].relaxed;
        must_run(g);
        const double *s = g->results[0].spread;
        assert_true(fabs(s[0] - (types[t].u * 3 + types[t].eta)) < 1e-12);
        assert_true(fabs(s[1] - (types[t].u * 6 + types[t].eta)) < 1e-12);
        assert_true(s[2] == 0); /* 0 + 0 is exact */
        graph_free(g);
    }
}

static void test_clamp_is_after_the_noise(void **state) {
    (void)state;
    struct graph *g = binary(ANEURALNETWORKS_ADD, F32, 8, 3, V(5, 3, -3), V(2, 2, 1), ANEURALNETWORKS_FUSED_RELU6);
    must_run(g);
    assert_true(value(g, 0, 0) == 6 && value(g, 0, 1) == 5 && value(g, 0, 2) == 0);
    assert_true(g->results[0].spread[0] == 0 && g->results[0].spread[1] > 0 && g->results[0].spread[2] == 0);
    assert_true(g->results[0].exact[0] == 6);
    graph_free(g);
    g = binary(ANEURALNETWORKS_ADD, F32, 8, 1, V(3), V(3), ANEURALNETWORKS_FUSED_RELU6); /* at the bound: to one side */
    must_run(g);
    assert_true(g->results[0].spread[0] > 0 && g->results[0].spread[0] < 1e-6);
    graph_free(g);
}

static void test_moving_values_is_exact(void **state) {
    (void)state;
    struct use *u = use_new(ANEURALNETWORKS_RELU);
    use_in(u, F32, D(4), V(0.1, -3, 1e-40, 7));
    use_out(u, F32);
    use_expect(u, 0, D(4), V((double)0.1f, 0, (double)1e-40f, 7), 0);
    assert_true(use_spread(u, 0) == 0);
    use_free(u);
}

/* The larger the sum, the larger the noise; row signs differ, so that 8 rows see both signs. */
static void test_rows_carry_correlation(void **state) {
    (void)state;
    struct graph *g = graph_new(16);
    uint32_t a = add_input(g, F32, 1, V(0.1)), b = add_input(g, F32, 1, V(0.3)), one = add_input(g, F32, 1, V(-1));
    uint32_t p = add_operand(g, F32, 1, NNV_TEMPORARY_VARIABLE), q = add_operand(g, F32, 1, NNV_TEMPORARY_VARIABLE);
    uint32_t twice = add_operand(g, F32, 1, NNV_SUBGRAPH_OUTPUT), zero = add_operand(g, F32, 1, NNV_SUBGRAPH_OUTPUT);
    add_binary(g, ANEURALNETWORKS_MUL, a, b, 0, p);
    add_binary(g, ANEURALNETWORKS_ADD, p, p, 0, twice); /* errors add up: 2 + 2 units of p */
    add_binary(g, ANEURALNETWORKS_MUL, p, one, 0, q);
    add_binary(g, ANEURALNETWORKS_ADD, p, q, 0, zero); /* they cancel: that of q is left */
    must_run(g);
    double unit = 0x1p-24 * 0.03;
    assert_true(g->results[0].spread[0] > 3.4 * unit && g->results[0].spread[0] < 5.1 * unit);
    assert_true(g->results[1].spread[0] > 0.9 * unit && g->results[1].spread[0] < 1.6 * unit);
    graph_free(g);
}

static void test_float16_overflow_is_not_compared(void **state) {
    (void)state;
    struct graph *g = binary(ANEURALNETWORKS_ADD, F16, 8, 3, V(60000, 60000, 65504), V(10000, 1000, 0), 0);
    must_run(g);
    assert_true(isinf(value(g, 0, 0)) && isnan(g->results[0].spread[0]));
    assert_true(isfinite(g->results[0].spread[1]) && g->results[0].spread[1] > 0);
    assert_true(isnan(g->results[0].spread[2]));
    graph_free(g);
    g = binary(ANEURALNETWORKS_ADD, F32, 8, 2, V((double)INFINITY, 3e38), V(1, 3e38), 0);
    must_run(g);
    assert_true(g->results[0].spread[0] == 0);   /* infinite in every row */
    assert_true(isnan(g->results[0].spread[1])); /* overflows: infinite or the largest number */
    graph_free(g);
}

/* Where results may saturate, an infinite one may be the largest number of what the operation computes in. */
static void test_infinity_may_be_the_largest_number(void **state) {
    (void)state;
    static const struct {
        int32_t type;
        bool relaxed;
        double largest;
    } types[] = {{F32, false, FLT_MAX}, {F16, false, 65504}, {F32, true, 65504}};
    for (size_t t = 0; t < sizeof types / sizeof *types; t++)
        for (int saturate = 0; saturate <= 1; saturate++) {
            struct graph *g = graph_new(8);
            const uint32_t x = add_input(g, types[t].type, 1, V(INFINITY)), zero = add_input(g, types[t].type, 1, V(0)),
                           largest = add_input(g, types[t].type, 1, V(types[t].largest)),
                           sum = add_operand(g, types[t].type, 1, NNV_TEMPORARY_VARIABLE),
                           half = add_input(g, types[t].type, 1, V(types[t].largest / 2)),
                           equal = add_operand(g, ANEURALNETWORKS_TENSOR_BOOL8, 1, NNV_SUBGRAPH_OUTPUT),
                           least = add_operand(g, types[t].type, 1, NNV_SUBGRAPH_OUTPUT);
            g->model.relaxed = types[t].relaxed;
            g->options.arithmetic.saturate = saturate;
            add_binary(g, ANEURALNETWORKS_ADD, x, zero, 0, sum);
            add_operation(g, ANEURALNETWORKS_EQUAL, 2, (uint32_t[]){sum, largest}, equal);
            add_operation(g, ANEURALNETWORKS_MINIMUM, 2, (uint32_t[]){sum, half}, least);
            must_run(g);
            assert_true(value(g, 0, 0) == 0);
            assert_int_equal(g->results[0].spread[0] != 0, saturate);
            assert_true(value(g, 1, 0) == types[t].largest / 2); /* which is less than either */
            assert_true(g->results[1].spread[0] == 0);
            graph_free(g);
        }
}

static void test_relaxed_inputs_may_be_float16(void **state) {
    (void)state;
    struct use *u = use_new(ANEURALNETWORKS_RELU);
    use_in(u, F32, D(3), V(0.1, 1.5, 70000));
    use_out(u, F32);
    u->model.relaxed = true;
    (void)use_spread(u, 0);
    const double *s = u->results[0].spread;
    assert_true(s[0] > 0x1p-12 * 0.1 && s[0] < 2e-4); /* 2^-11 of it and the smallest normal */
    assert_true(s[1] == 0 && isnan(s[2]));
    double v;
    nnv_load(F32, u->results[0].value.data, 1, &v);
    assert_true(v == (double)0.1f);
    use_free(u);
}

static void test_floor(void **state) {
    (void)state;
    struct use *u = use_new(ANEURALNETWORKS_FLOOR);
    use_in(u, F32, D(5), V(3, -0.5, 2.999999, -7, -1e-40));
    use_out(u, F32);
    use_expect(u, 0, D(5), V(3, -1, 2, -7, -1), 0);
    (void)use_spread(u, 0);
    const double *s = u->results[0].spread;
    assert_true(s[0] == 0 && s[1] == 0 && s[2] == 0 && s[3] == 0); /* inputs are exact */
    assert_true(s[4] == 1);                                        /* unless taken as 0 */
    use_free(u);
    struct graph *g = graph_new(8); /* 0.1 * 30 may come out on either side of 3, 0.1 * 25 is surely below it */
    uint32_t a = add_input(g, F32, 2, V(0.1, 0.1)), b = add_input(g, F32, 2, V(30, 25));
    uint32_t p = add_operand(g, F32, 2, NNV_TEMPORARY_VARIABLE), y = add_operand(g, F32, 2, NNV_SUBGRAPH_OUTPUT);
    add_binary(g, ANEURALNETWORKS_MUL, a, b, 0, p);
    add_operation(g, ANEURALNETWORKS_FLOOR, 1, &p, y);
    must_run(g);
    assert_true(value(g, 0, 0) == 3 && g->results[0].spread[0] == 1);
    assert_true(value(g, 0, 1) == 2 && g->results[0].spread[1] == 0);
    graph_free(g);
}

/* ---------------------------------------------------------------- quantised */

/* A one-operation graph on quant8 inputs of scale 1 and 0.5, zero points 128 and 10. */
static struct graph *quant8(int32_t code, uint32_t n, const double *a, const double *b, double scale, int32_t zp,
                            int32_t act) {
    struct graph *g = binary(code, Q8, 16, n, a, b, act);
    g->options.k = 1.5;
    quant(g, 0, 1, 128);
    quant(g, 1, 0.5, 10);
    quant(g, g->out[0], scale, zp);
    return g;
}

static void test_quantised_exact_results_have_no_spread(void **state) {
    (void)state;
    struct graph *g = quant8(ANEURALNETWORKS_ADD, 3, V(130, 0, 255), V(20, 10, 210), 0.5, 100, 0);
    must_run(g);
    assert_true(value(g, 0, 0) == 114 && value(g, 0, 1) == 0 && value(g, 0, 2) == 255); /* 7/.5, -128/.5, 227/.5 */
    assert_true(g->results[0].exact[1] == -128);
    for (size_t e = 0; e < 3; e++) assert_true(g->results[0].spread[e] == 0);
    graph_free(g);
}

static void test_quantised_ties_are_forced(void **state) {
    (void)state;
    /* 0.5 * (n - 10) units of 1: ties where n is odd, rounded away from zero in row 0. */
    struct graph *g = quant8(ANEURALNETWORKS_ADD, 4, V(128, 128, 128, 128), V(11, 12, 9, 255), 1, 100, 0);
    must_run(g);
    assert_true(value(g, 0, 0) == 101 && value(g, 0, 1) == 101 && value(g, 0, 2) == 99 && value(g, 0, 3) == 223);
    const double *s = g->results[0].spread;
    assert_true(s[0] == 1 && s[1] == 0 && s[2] == 1 && s[3] == 1);
    graph_free(g);
    g = quant8(ANEURALNETWORKS_ADD, 1, V(250), V(11), 1, 255, 0); /* a tie beyond the range saturates */
    must_run(g);
    assert_true(value(g, 0, 0) == 255 && g->results[0].spread[0] == 0);
    graph_free(g);
}

/* 2 - 1.5 in units of a 201st of 0.5: each term is 402 or 302 units, and rounded like these, though they cancel. */
static void test_terms_that_cancel_are_rounded_as_they_are(void **state) {
    (void)state;
    struct graph *g = quant8(ANEURALNETWORKS_ADD, 1, V(130), V(7), 0.5 / 100.4999, 100, 0);
    must_run(g);
    assert_true(value(g, 0, 0) == 200 && g->results[0].spread[0] == 1);
    graph_free(g);
    g = quant8(ANEURALNETWORKS_ADD, 1, V(128), V(11), 0.5 / 100.4999, 100, 0); /* 0 + 0.5: nothing cancels */
    must_run(g);
    assert_true(value(g, 0, 0) == 200 && g->results[0].spread[0] == 0);
    graph_free(g);
}

/* Double rounding may move a result by up to 2^(e-1) of a unit, where the multiplier is m * 2^e. */
static void test_linear_half_width(void **state) {
    (void)state;
    /* Multiplier 1 * 0.5 / 2 = 0.25 = 0.5 * 2^-1: half width 2^-2. Products of 1..4 in units of 0.25. */
    struct graph *g = quant8(ANEURALNETWORKS_MUL, 4, V(129, 129, 129, 129), V(11, 12, 13, 14), 2, 100, 0);
    must_run(g);
    const double *s = g->results[0].spread;
    assert_true(s[0] == 1 && s[1] == 1 && s[2] == 1 && s[3] == 0); /* 0.25 0.5 0.75 1 */
    assert_true(value(g, 0, 0) == 100 && value(g, 0, 1) == 101 && value(g, 0, 2) == 101 && value(g, 0, 3) == 101);
    graph_free(g);
    /* Multiplier 0.625 = 0.625 * 2^0: ties only. */
    g = quant8(ANEURALNETWORKS_MUL, 3, V(129, 129, 129), V(11, 12, 14), 0.8, 100, 0);
    must_run(g);
    s = g->results[0].spread;
    assert_true(s[0] == 0 && s[1] == 0 && s[2] == 1); /* 0.625 1.25 2.5 */
    graph_free(g);
}

/*
 * A multiplier that float arithmetic takes for 2^-6 though it is below: fixed point halves 2^31 and shifts by 5, so its
 * first rounding is half of 2^-5. 3935 of them are 95.4837; TensorFlow Lite gives 62 + 34 = 96.
 */
static void test_linear_half_width_below_a_power_of_two(void **state) {
    (void)state;
    const double scale = 0.5 * 64 * (1 + 0x1p-23); /* of the output: the multiplier is just below 2^-6 */
    struct graph *g = quant8(ANEURALNETWORKS_MUL, 2, V(128 + 15, 128 + 15), V(10 + 131, 10 + 129), scale, 100, 0);
    must_run(g); /* 15 * 131 = 1965 units: 30.703; 15 * 129 = 1935: 30.234 */
    assert_true(value(g, 0, 0) == 131 && g->results[0].spread[0] == 0);
    graph_free(g);
    g = quant8(ANEURALNETWORKS_MUL, 1, V(128 + 127), V(10 + 15), scale, 100, 0);
    must_run(g); /* 1905 units: 29.766 */
    assert_true(g->results[0].spread[0] == 0);
    graph_free(g);
    g = quant8(ANEURALNETWORKS_MUL, 1, V(128 + 5), V(10 + 211), scale, 100, 0);
    must_run(g); /* 1055 units: 16.4844, within 1/64 of the tie */
    assert_true(value(g, 0, 0) == 116 && g->results[0].spread[0] == 1);
    graph_free(g);
}

static void test_quantised_activation(void **state) {
    (void)state;
    struct graph *g =
        quant8(ANEURALNETWORKS_ADD, 3, V(120, 130, 140), V(10, 10, 10), 0.5, 20, ANEURALNETWORKS_FUSED_RELU6);
    must_run(g);
    assert_true(value(g, 0, 0) == 20 && value(g, 0, 1) == 24 && value(g, 0, 2) == 32);
    assert_true(g->results[0].exact[2] == 6);
    graph_free(g);
    /* 6 / 0.8 = 7.5 in float32, slightly less in double: the bound itself may be 7 or 8. */
    g = quant8(ANEURALNETWORKS_ADD, 2, V(140, 129), V(10, 10), 0.8, 20, ANEURALNETWORKS_FUSED_RELU6);
    must_run(g);
    assert_true(g->results[0].spread[0] == 1 && g->results[0].spread[1] == 0);
    graph_free(g);
}

static void test_moves_pass_branches_on(void **state) {
    (void)state;
    struct graph *g = graph_new(16); /* a tie of one unit stays one unit behind a RELU: no factor k */
    uint32_t a = add_input(g, Q8, 1, V(128)), b = add_input(g, Q8, 1, V(11));
    uint32_t p = add_operand(g, Q8, 1, NNV_TEMPORARY_VARIABLE), y = add_operand(g, Q8, 1, NNV_SUBGRAPH_OUTPUT);
    quant(g, a, 1, 128);
    quant(g, b, 0.5, 10);
    quant(g, p, 1, 3);
    quant(g, y, 1, 3);
    add_binary(g, ANEURALNETWORKS_ADD, a, b, 0, p);
    add_operation(g, ANEURALNETWORKS_RELU, 1, &p, y);
    must_run(g);
    assert_true(value(g, 0, 0) == 4 && g->results[0].spread[0] == 1);
    graph_free(g);
}

static void test_int32_is_exact(void **state) {
    (void)state;
    struct graph *g = binary(ANEURALNETWORKS_MUL, I32, 8, 2, V(46341, -3), V(46340, 7), 0);
    must_run(g);
    assert_true(value(g, 0, 0) == 46341.0 * 46340 && value(g, 0, 1) == -21 && g->results[0].spread[0] == 0);
    graph_free(g);
}

/* --------------------------------------------------------------- the machine */

static void test_same_seed_same_spread(void **state) {
    (void)state;
    double a[64], b[64];
    for (int i = 0; i < 64; i++) a[i] = 0.1 * i - 3, b[i] = 0.37 * i + 1;
    uint64_t hash[3];
    for (int i = 0; i < 3; i++) {
        struct graph *g = graph_new(8);
        uint32_t x = add_input(g, F32, 64, a), y = add_input(g, F32, 64, b);
        uint32_t p = add_operand(g, F32, 64, NNV_TEMPORARY_VARIABLE), z = add_operand(g, F32, 64, NNV_SUBGRAPH_OUTPUT);
        add_binary(g, ANEURALNETWORKS_MUL, x, y, 0, p);
        add_binary(g, ANEURALNETWORKS_ADD, p, x, 0, z);
        g->options.seed = i == 2 ? 8 : 7;
        must_run(g);
        hash[i] = nnv_hash_bytes(g->results[0].spread, 64 * sizeof(double));
        graph_free(g);
    }
    assert_true(hash[0] == hash[1] && hash[0] != hash[2]);
}

static void test_zero_sized(void **state) {
    (void)state;
    struct use *u = use_new(ANEURALNETWORKS_ADD);
    use_in(u, F32, D(2, 1), V(1, 2));
    use_in(u, F32, D(1, 0), V(0));
    u->operands[1].dims[1] = 0; /* declared unknown, at run time 0 */
    use_scalar(u, INT, 0);
    use_out(u, F32);
    use_expect(u, 0, D(2, 0), V(0), 0);
    assert_true(use_spread(u, 0) == 0);
    assert_non_null(u->results[0].value.data);
    use_free(u);
    u = use_new(ANEURALNETWORKS_FLOOR);
    use_in(u, F32, D(0), V(0));
    use_out(u, F32);
    use_refuse(u, "operation 0 (FLOOR): input 0 (input): dimension 0 is 0");
    use_free(u);
}

static void test_wrong_inputs_are_refused(void **state) {
    (void)state;
    struct graph *g = binary(ANEURALNETWORKS_ADD, F32, 0, 2, V(1, 2), V(3, 4), 0);
    g->values[1].bytes = 4;
    assert_int_equal(run(g), NNV_INVALID);
    assert_non_null(strstr(g->err.text, "input 1: its 4 bytes do not fit its shape"));
    g->values[1].bytes = 12;
    g->values[1].dims[0] = 3;
    assert_int_equal(run(g), NNV_INVALID);
    assert_non_null(strstr(g->err.text, "input 1: its shape is [3] but the model declares [2]"));
    g->values[1].bytes = 8;
    g->values[1].dims[0] = 2;
    g->options.rows = 65;
    assert_int_equal(run(g), NNV_INVALID);
    assert_null(g->results[0].value.data);
    graph_free(g);
}

/* Of a model that nobody has validated. */
static void test_outputs_must_be_written(void **state) {
    (void)state;
    struct graph *g = binary(ANEURALNETWORKS_ADD, F32, 0, 2, V(1, 2), V(3, 4), 0);
    add_operand(g, F32, 2, NNV_SUBGRAPH_OUTPUT);
    assert_int_equal(nnv_eval(&g->model, g->values, &g->options, g->arena, g->results, &g->err), NNV_INVALID);
    assert_string_equal(g->err.text, "output 1: no operation writes this output");
    graph_free(g);
}

static void test_run_time_shapes_are_checked(void **state) {
    (void)state;
    struct graph *g = binary(ANEURALNETWORKS_ADD, F32, 0, 2, V(1, 2), V(3, 4), 0);
    g->operands[0].dims[0] = g->operands[1].dims[0] = 0; /* unknown in the model */
    g->operands[g->out[0]].dims[0] = 3;
    assert_int_equal(run(g), NNV_INVALID);
    assert_non_null(strstr(g->err.text, "operation 0 (ADD): output 0 (sum): "));
    g->operands[g->out[0]].dims[0] = 0;
    must_run(g);
    assert_int_equal(g->results[0].value.dims[0], 2);
    graph_free(g);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_golden_is_rounded_once),
        cmocka_unit_test(test_float_spread),
        cmocka_unit_test(test_clamp_is_after_the_noise),
        cmocka_unit_test(test_moving_values_is_exact),
        cmocka_unit_test(test_rows_carry_correlation),
        cmocka_unit_test(test_float16_overflow_is_not_compared),
        cmocka_unit_test(test_infinity_may_be_the_largest_number),
        cmocka_unit_test(test_relaxed_inputs_may_be_float16),
        cmocka_unit_test(test_floor),
        cmocka_unit_test(test_quantised_exact_results_have_no_spread),
        cmocka_unit_test(test_quantised_ties_are_forced),
        cmocka_unit_test(test_terms_that_cancel_are_rounded_as_they_are),
        cmocka_unit_test(test_linear_half_width),
        cmocka_unit_test(test_linear_half_width_below_a_power_of_two),
        cmocka_unit_test(test_quantised_activation),
        cmocka_unit_test(test_moves_pass_branches_on),
        cmocka_unit_test(test_int32_is_exact),
        cmocka_unit_test(test_same_seed_same_spread),
        cmocka_unit_test(test_zero_sized),
        cmocka_unit_test(test_wrong_inputs_are_refused),
        cmocka_unit_test(test_outputs_must_be_written),
        cmocka_unit_test(test_run_time_shapes_are_checked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
