/* SPDX-License-Identifier: Apache-2.0 */
/* QUANTIZED_16BIT_LSTM and QUANTIZED_LSTM, and the fixed-point arithmetic of both. */
#include "tests/kit/op.h"
#include "reference/ops/quant/fixed.h"

enum {
    Q8SYM = ANEURALNETWORKS_TENSOR_QUANT8_SYMM,
    Q16 = ANEURALNETWORKS_TENSOR_QUANT16_SYMM,
};

/* -------------------------------------------------------------------- fixed point */

static void fixed_rounding(void **state) {
    (void)state;
    assert_int_equal(nnv_fixed_shift(3, 1), 2);
    assert_int_equal(nnv_fixed_shift(-3, 1), -2); /* halves away from zero */
    assert_int_equal(nnv_fixed_shift(-5, 2), -1);
    assert_int_equal(nnv_fixed_shift(7, 0), 7);
    assert_int_equal(nnv_fixed_shift(7, 100), 0);
    assert_int_equal(nnv_fixed_mul16(16384, 3), 2);
    assert_int_equal(nnv_fixed_mul16(16384, -3), -1); /* halves up */
    assert_int_equal(nnv_fixed_mul16(-32768, -32768), 32767);
    assert_int_equal(nnv_saturate8(-129), -128);
    assert_int_equal(nnv_saturate16(32768), 32767);
    assert_int_equal(nnv_saturate32(INT64_MIN), INT32_MIN);
}

static void fixed_factors(void **state) {
    (void)state;
    struct nnv_fixed_factor half = nnv_fixed_factor(0.5), quarter = nnv_fixed_factor(0.25), six = nnv_fixed_factor(6);
    assert_int_equal(half.m, 1 << 30);
    assert_int_equal(half.e, 0);
    assert_int_equal(nnv_fixed_scale(3, half), 2);
    assert_int_equal(nnv_fixed_scale(-3, half), -1);
    assert_int_equal(nnv_fixed_scale(1, quarter), 1); /* 1/2 is rounded to 1, then 1/2 once more */
    assert_int_equal(nnv_fixed_scale(-7, six), -42);
    assert_true(nnv_fixed_real(six) == 6);
    assert_int_equal(nnv_fixed_scale(INT32_MAX, six), 0x5fffffff); /* 3/4 of what 8 times it saturates to */
    assert_int_equal(nnv_fixed_scale(-1, nnv_fixed_factor(1e30)), INT32_MIN);
    assert_int_equal(nnv_fixed_scale(1 << 30, nnv_fixed_factor(1e-30)), 0);
    assert_int_equal(nnv_fixed_scale(5, nnv_fixed_factor(INFINITY)), 0);
    assert_int_equal(nnv_fixed_scale(5, nnv_fixed_factor(NAN)), 0);
    assert_int_equal(nnv_fixed_factor(1 - 0x1p-40).m, 1 << 30); /* rounds up to 1 */
    assert_int_equal(nnv_fixed_factor(1 - 0x1p-40).e, 1);
}

static void fixed_rsqrt(void **state) {
    (void)state;
    struct nnv_fixed_factor one = nnv_fixed_rsqrt(0);
    assert_int_equal(one.m, INT32_MAX);
    assert_int_equal(one.e, 0);
    /* 1 / sqrt(10000): clz is 18, so 2^(31+4) / 100 and 4 to the right. */
    struct nnv_fixed_factor hundredth = nnv_fixed_rsqrt(10000);
    assert_int_equal(hundredth.m, 343597384);
    assert_int_equal(hundredth.e, -4);
    for (int64_t v = 2; v <= INT64_C(1) << 31; v = v * 5 / 4 + 1)
        assert_true(fabs(nnv_fixed_real(nnv_fixed_rsqrt(v)) * sqrt((double)v) - 1) < 1e-8);
}

/* All arguments: close to the functions, never out of range, and symmetric. */
static void fixed_functions(void **state) {
    (void)state;
    assert_int_equal(nnv_fixed_logistic(0, 3), 16384);
    assert_int_equal(nnv_fixed_tanh(0, 3), 0);
    for (int bits = 0; bits <= 6; bits++)
        for (int a = INT16_MIN; a <= INT16_MAX; a++) {
            double x = ldexp(a, bits - 15);
            int p = nnv_fixed_logistic(a, bits), t = nnv_fixed_tanh(a, bits);
            assert_true(fabs(p - 32768 / (1 + exp(-x))) < 6.8);
            assert_true(fabs(t - 32768 * tanh(x)) < 12.1);
            assert_in_range(p, 0, INT16_MAX);
            if (a == INT16_MIN || a == 0) continue;
            assert_int_equal(nnv_fixed_logistic(-a, bits), INT16_MAX - p);
            assert_int_equal(nnv_fixed_tanh(-a, bits), -t);
        }
}

/* ----------------------------------------------------------- QUANTIZED_16BIT_LSTM */

enum { GATES = 4, ZERO = 100 }; /* gates in the order of the inputs; zero point of the weights */
static const double WEIGHT = 1 / 64.0;

/* A cell of one batch: units by default 0; weights and biases in units, gate after gate. */
struct cell16 {
    uint32_t in, units;
    double x[4], h[4], c[4];
    double weights[GATES][16], recurrent[GATES][16], bias[GATES][4];
};

static void add_matrix(struct use *u, uint32_t rows, uint32_t columns, const double *units) {
    double codes[16];
    for (uint32_t i = 0; i < rows * columns; i++) codes[i] = units[i] + ZERO;
    use_const(u, Q8, D(rows, columns), codes);
    use_quant(u, WEIGHT, ZERO);
}

static void add_unit_128(struct use *u, uint32_t n, const double *units) {
    double codes[4];
    for (uint32_t i = 0; i < n; i++) codes[i] = units[i] + 128;
    use_in(u, Q8, D(1, n), codes);
    use_quant(u, 1 / 128.0, 128);
}

static struct use *lstm16(const struct cell16 *c) {
    struct use *u = use_new(ANEURALNETWORKS_QUANTIZED_16BIT_LSTM);
    add_unit_128(u, c->in, c->x);
    for (int g = 0; g < GATES; g++) add_matrix(u, c->units, c->in, c->weights[g]);
    for (int g = 0; g < GATES; g++) add_matrix(u, c->units, c->units, c->recurrent[g]);
    for (int g = 0; g < GATES; g++) {
        use_const(u, I32, D(c->units), c->bias[g]);
        use_quant(u, WEIGHT / 128, 0);
    }
    use_in(u, Q16, D(1, c->units), c->c);
    use_quant(u, 1 / 2048.0, 0);
    add_unit_128(u, c->units, c->h);
    use_out(u, Q16);
    use_quant(u, 1 / 2048.0, 0);
    use_out(u, Q8);
    use_quant(u, 1 / 128.0, 128);
    return u;
}

/* All gates 1/2: half of the cell state; 128 tanh(1/2) / 2 = 29.6. Half of -3 is -1 where halves go up. */
static void lstm16_halves(void **state) {
    (void)state;
    struct cell16 c = {.in = 1, .units = 3, .c = {2048, -3, 32767}};
    struct use *u = lstm16(&c);
    use_expect(u, 0, D(1, 3), V(1024, -1, 16384), 0);
    use_expect(u, 1, D(1, 3), V(128 + 30, 128, 128 + 64), 0);
    assert_int_equal(u->level, 3);
    use_free(u);
}

enum { INPUT, FORGET, CELL, OUTPUT, FULL = 128 * 64 * 8 }; /* a bias that saturates a sum at 8 */

/*
 * Gates nearly 1 (logistic(8) = .99966), no old state, one weight of 1: a unit in front of the column of the recurrent
 * weights meets x_0 = 1/2; the documented order would have it meet h. tanh(1/2) is 946 / 2048; .5 tanh again.
 */
static void lstm16_columns(void **state) {
    (void)state;
    struct cell16 c = {.in = 2, .units = 1, .x = {64, 0}, .recurrent = {[CELL] = {64}}};
    c.bias[INPUT][0] = c.bias[OUTPUT][0] = FULL;
    struct use *u = lstm16(&c);
    use_expect(u, 0, D(1, 1), V(946), 1);
    use_expect(u, 1, D(1, 1), V(128 + 55), 0); /* 128 tanh(.4619) .99966 */
    use_free(u);
    /* x_1 meets the first column of W, h the second one. */
    c = (struct cell16){.in = 2, .units = 1, .x = {0, 64}, .h = {32}, .weights = {[CELL] = {64, -64}}};
    c.bias[INPUT][0] = FULL;
    u = lstm16(&c);
    use_expect(u, 0, D(1, 1), V(501), 1); /* tanh(1/2 - 1/4) */
    use_free(u);
}

/* Cells in real numbers, as the documentation has them but for the order of columns. */
static void real16(const struct cell16 *c, double *c_out, double *h_out) {
    for (uint32_t u = 0; u < c->units; u++) {
        double z[GATES], a[GATES];
        for (int g = 0; g < GATES; g++) {
            z[g] = c->bias[g][u];
            for (uint32_t j = 0; j < c->in + c->units; j++)
                z[g] += (j < c->in ? c->x[j] : c->h[j - c->in]) *
                        (j < c->units ? c->recurrent[g][u * c->units + j] : c->weights[g][u * c->in + j - c->units]);
            z[g] *= WEIGHT / 128;
            a[g] = g == CELL ? tanh(z[g]) : 1 / (1 + exp(-z[g]));
        }
        double cell = a[FORGET] * c->c[u] / 2048 + a[INPUT] * a[CELL];
        c_out[u] = fmax(-32768, fmin(32767, round(cell * 2048)));
        h_out[u] = fmax(0, fmin(255, round(a[OUTPUT] * tanh(cell) * 128) + 128));
    }
}

/* An implementation in real numbers stays within the budget, and that is a few units. */
static void lstm16_real_numbers(void **state) {
    (void)state;
    struct nnv_rng rng = nnv_rng_make(1, 2, 3);
    double most = 0;
    for (int n = 0; n < 400; n++) {
        struct cell16 c = {.in = 3, .units = 2};
        double want[2][2], got[2];
        for (int g = 0; g < GATES; g++) {
            for (int i = 0; i < 6; i++) c.weights[g][i] = (double)nnv_rng_int(&rng, -100, 100);
            for (int i = 0; i < 4; i++) c.recurrent[g][i] = (double)nnv_rng_int(&rng, -100, 100);
            for (int i = 0; i < 2; i++) c.bias[g][i] = (double)nnv_rng_int(&rng, -8000, 8000);
        }
        for (int i = 0; i < 3; i++) c.x[i] = (double)nnv_rng_int(&rng, -128, 127);
        for (int i = 0; i < 2; i++) c.h[i] = (double)nnv_rng_int(&rng, -128, 127);
        for (int i = 0; i < 2; i++) c.c[i] = (double)nnv_rng_int(&rng, -8192, 8191);
        real16(&c, want[0], want[1]);
        struct use *u = lstm16(&c);
        u->rows = 64;
        if (use_run(u)) fail_msg("%s", u->err.text);
        for (int o = 0; o < 2; o++) {
            const struct nnv_golden *g = &u->results[o];
            nnv_load(u->operands[u->out[o]].type, g->value.data, 2, got);
            for (int e = 0; e < 2; e++) {
                if (fabs(got[e] - want[o][e]) > g->spread[e])
                    fail_msg("case %d, output %d: %g, in real numbers %g", n, o, got[e], want[o][e]);
                if (g->spread[e] > most) most = g->spread[e];
            }
        }
        use_free(u);
    }
    assert_true(most >= 2 && most <= 6);
}

static void lstm16_refusals(void **state) {
    (void)state;
    static const struct {
        int input;
        double scale;
        int32_t zero_point;
        const char *words;
    } cases[] = {
        {0, 1 / 64.0, 128, "input 0 (input): scale 0.015625, expected 0.0078125"},
        {6, 1 / 32.0, ZERO, "input 6 (recurrent-to-forget weights): scale 0.03125, expected 0.015625 as input 1 has"},
        {3, 1 / 64.0, 90, "zero point 90, expected 100 as input 1 has"},
        {10, 1 / 64.0, 0, "is not the product"},
        {13, 1 / 1024.0, 0, "the previous cell state: scale 0.0009765625, expected 1/2048"},
        {14, 1 / 128.0, 0, "zero point 0, expected 128"},
        {15, 1 / 4096.0, 0, "the new cell state: scale 0.000244140625, expected 1/2048"},
    };
    struct cell16 c = {.in = 2, .units = 3};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct use *u = lstm16(&c);
        u->operands[cases[i].input].scale = (float)cases[i].scale;
        u->operands[cases[i].input].zero_point = cases[i].zero_point;
        use_refuse(u, cases[i].words);
        use_free(u);
    }
    struct use *u = lstm16(&c);
    u->operands[2].dims = (uint32_t[]){2, 3}; /* turned round */
    use_refuse(u, "input-to-forget weights: extent 0 is 2, but the other inputs make it 3");
    use_free(u);
}

/* ------------------------------------------------------------------ QUANTIZED_LSTM */

/* Parts by position; those whose `given` is false are omitted. Scales are those of the test's comments. */
struct part {
    bool given;
    double values[8];
};

enum { W = 1, R = 5, P = 9, B = 12, PW = 16, PB = 17, N = 20 };

struct cell8 {
    uint32_t in, units, out;
    double x[4], h[4], c[4]; /* codes */
    double cell_scale, cell_clip, projection_clip, sum_scale, hidden_scale;
    int hidden_zero, out_zero;
    struct part part[24];
};

/* x: scale 1/2, zero point 3. Weights: 1/4. Projection: 1/64. Peephole: 2^-12. Normalisation: 2^-15. Output: 1/1024. */
static void add_part(struct use *u, const struct cell8 *c, int slot) {
    bool matrix = slot < P || slot == PW, bias = (slot >= B && slot < PW) || slot == PB;
    uint32_t rows = slot == PW || slot == PB ? c->out : c->units;
    uint32_t columns = slot < R ? c->in : slot == PW ? c->units : c->out;
    int32_t type = matrix ? Q8SYM : bias ? I32 : Q16;
    if (c->part[slot].given)
        use_const(u, type, matrix ? 2 : 1, (uint32_t[]){rows, columns}, c->part[slot].values);
    else
        use_omit(u, type, matrix ? 2 : 1, false);
    if (!bias) use_quant(u, slot == PW ? 1 / 64.0 : matrix ? 0.25 : slot < B ? 0x1p-12 : 0x1p-15, 0);
}

static void add_state(struct use *u, int32_t type, uint32_t n, const double *codes, double scale, int32_t zero) {
    use_in(u, type, D(1, n), codes);
    use_quant(u, scale, zero);
}

static struct use *lstm8(const struct cell8 *c) {
    struct use *u = use_new(ANEURALNETWORKS_QUANTIZED_LSTM);
    add_state(u, Q8S, c->in, c->x, 0.5, 3);
    for (int slot = W; slot < 18; slot++) add_part(u, c, slot);
    add_state(u, Q8S, c->out, c->h, 1 / 1024.0, c->out_zero);
    add_state(u, Q16, c->units, c->c, c->cell_scale, 0);
    for (int slot = N; slot < 24; slot++) add_part(u, c, slot);
    use_scalar(u, FLT, c->cell_clip);
    use_scalar(u, FLT, c->projection_clip);
    for (int g = 0; g < GATES; g++) use_scalar(u, FLT, c->sum_scale);
    use_scalar(u, INT, c->hidden_zero);
    use_scalar(u, FLT, c->hidden_scale);
    for (int i = 0; i < 3; i++) {
        use_out(u, i == 1 ? Q16 : Q8S);
        use_quant(u, i == 1 ? c->cell_scale : 1 / 1024.0, i == 1 ? 0 : c->out_zero);
    }
    return u;
}

/* Two units, one input of 0, all weights and biases 0, sums in units of 2^-12. */
static struct cell8 plain8(void) {
    struct cell8 c = {.in = 1, .units = 2, .out = 2, .x = {3}, .cell_scale = 0x1p-11, .sum_scale = 0x1p-12};
    c.hidden_scale = 1 / 128.0;
    for (int g = 0; g < GATES; g++) c.part[W + g].given = c.part[R + g].given = c.part[B + g].given = true;
    return c;
}

/* All gates 1/2: halves away from zero, c' = 1/2, 128 tanh(1/2) / 2 = 29.6 less the zero point, given unchanged. */
static void lstm8_halves(void **state) {
    (void)state;
    struct cell8 c = plain8();
    c.c[0] = 2048;
    c.c[1] = -3;
    c.hidden_zero = 5;
    c.out_zero = -7;
    struct use *u = lstm8(&c);
    use_expect(u, 1, D(1, 2), V(1024, -2), 0);
    use_expect(u, 0, D(1, 2), V(25, -5), 0);
    use_expect(u, 2, D(1, 2), V(25, -5), 0);
    assert_int_equal(u->level, 4);
    double spread = use_spread(u, 1);
    assert_true(spread == 3); /* twice the unit by which -3 / 2 may be rounded either way, and one */
    use_free(u);
    c.cell_clip = 0.25;
    u = lstm8(&c);
    use_expect(u, 1, D(1, 2), V(512, -2), 0);
    use_expect(u, 2, D(1, 2), V(11, -5), 0); /* 64 tanh(1/4) = 15.7 */
    use_free(u);
}

/*
 * x = 3.5, weights 4 and -1/8... in units 7 * 16 * 512 is beyond 16 bits: the sum is 8, tanh(8) is 1; the biases have
 * no part in it. The input gate is 1 - 1/2, coupled to the forget gate, or 1/2 of its own: 16383 or 16384 of 2^15.
 */
static void lstm8_coupled(void **state) {
    (void)state;
    for (int coupled = 0; coupled < 2; coupled++) {
        struct cell8 c = plain8();
        c.cell_scale = 0x1p-15;
        c.x[0] = 10;
        c.part[W + CELL] = (struct part){true, {16, -16}};
        c.part[B + CELL] = (struct part){true, {-30000, 30000}};
        if (coupled) c.part[W].given = c.part[R].given = c.part[B].given = false;
        struct use *u = lstm8(&c);
        double full = nnv_fixed_tanh(32767, 3), least = nnv_fixed_tanh(-32768, 3), i = coupled ? 16383 : 16384;
        assert_true(full > 32755 && least < -32755);
        use_expect(u, 1, D(1, 2), V(round(i * full / 32768), round(i * least / 32768)), 0);
        use_free(u);
    }
}

/* State and peephole: 2 * 8 / 4096 = 16 units of 2^-12, -3/2 * c = -1536; of the output gate c' = c / 2. */
static void lstm8_sums(void **state) {
    (void)state;
    struct cell8 c = plain8();
    c.h[0] = 16;
    c.c[0] = 512;
    c.part[R + FORGET] = (struct part){true, {32, 0, 0, 0}};
    c.part[P].given = true;
    c.part[P + 1] = (struct part){true, {-6144, 0}};
    c.part[P + 2] = (struct part){true, {24576, 0}};
    struct use *u = lstm8(&c);
    /* Recurrent: 16 * 32 / 4 / 1024 * 4096 = 512; peephole: -1.5 * .25 * 4096 = -1536. */
    double f = nnv_fixed_logistic(512 - 1536, 3), cell = round(f * 512 / 32768);
    assert_true(cell == 224); /* logistic(-1/4) = .4378 */
    use_expect(u, 1, D(1, 2), V(cell, 0), 0);
    /* 6 * 224 / 2048 = .65625 in the output gate: logistic .6584; tanh(224 / 2048) = .10894; 128 times that. */
    use_expect(u, 2, D(1, 2), V(9, 0), 0);
    c.cell_scale = 0x1p-10; /* the peepholes follow the unit of the state: twice as much */
    use_free(u);
    u = lstm8(&c);
    f = nnv_fixed_logistic(512 - 3072, 3);
    use_expect(u, 1, D(1, 2), V(round(f * 512 / 32768), 0), 0);
    /* 178 or 179 of 1024: 6 times that is 1.05, logistic .740; tanh .173; 128 times that. */
    use_expect(u, 2, D(1, 2), V(16, 0), 0);
    use_free(u);
}

/* The sum saturates part by part: 8, 1/8 more is 8, less 20000 / 4096; or 8, less 1/8, less 20000 / 4096. */
static void lstm8_saturated_sums(void **state) {
    (void)state;
    struct cell8 c = plain8();
    c.x[0] = 10;
    c.h[0] = 16;
    c.c[0] = c.c[1] = 16384;
    c.part[W + FORGET] = (struct part){true, {16, 16}};
    c.part[R + FORGET] = (struct part){true, {32, 0, -32, 0}};
    c.part[P].given = c.part[P + 2].given = true;
    c.part[P + 1] = (struct part){true, {-2500, -2500}};
    struct use *u = lstm8(&c);
    double f = nnv_fixed_logistic(32767 - 20000, 3), less = nnv_fixed_logistic(32767 - 512 - 20000, 3);
    use_expect(u, 1, D(1, 2), V(round(f / 2), round(less / 2)), 0);
    use_free(u);
}

/*
 * Sums 100 and -100: mean 0, deviation 100. Weight 1/2, bias 2^23 / 2^10 / 2^15 = 1/4: 3/4 and -1/4. The other gates'
 * sums are all 0, and so is what is made of them.
 */
static void lstm8_normalised(void **state) {
    (void)state;
    struct cell8 c = plain8();
    c.cell_scale = 0x1p-15;
    c.sum_scale = 0.125;
    c.x[0] = 13;
    c.part[W + CELL] = (struct part){true, {10, -10}};
    for (int g = 0; g < GATES; g++) c.part[N + g] = (struct part){true, {16384, 16384}};
    c.part[B + CELL] = (struct part){true, {8388608, 8388608}};
    struct use *u = lstm8(&c);
    double up = nnv_fixed_tanh(3072, 3), down = nnv_fixed_tanh(-1024, 3);
    use_expect(u, 1, D(1, 2), V(round(up / 2), round(down / 2)), 0);
    use_expect(u, 1, D(1, 2), V(16384 * tanh(0.75), 16384 * tanh(-0.25)), 7);
    use_free(u);
    c.part[N + CELL] = (struct part){true, {-16384, 8192}}; /* by unit: -1/2 + 1/4, -1/4 + 1/4 */
    u = lstm8(&c);
    use_expect(u, 1, D(1, 2), V(16384 * tanh(-0.25), 0), 7);
    use_free(u);
    c.part[N + CELL] = (struct part){true, {16384, 16384}};
    c.part[W + CELL] = (struct part){true, {30, 10}}; /* 300 and 100: mean 200, deviation 100 as before */
    u = lstm8(&c);
    use_expect(u, 1, D(1, 2), V(round(up / 2), round(down / 2)), 0);
    use_free(u);
}

/* Equal sums: nothing is left but the bias. -4096 / 1024 becomes -4.5, cut off -4; an eighth of that is rounded to -1.
 */
static void lstm8_normalised_bias(void **state) {
    (void)state;
    struct cell8 c = plain8();
    c.cell_scale = 0x1p-15;
    for (int g = 0; g < GATES; g++) c.part[N + g] = (struct part){true, {16384, 16384}};
    c.part[B + CELL] = (struct part){true, {-4096, 4096}};
    struct use *u = lstm8(&c);
    double least = nnv_fixed_tanh(1, 3);
    assert_true(least > 2);
    use_expect(u, 1, D(1, 2), V(round(-least / 2), round(least / 2)), 0);
    use_free(u);
}

/* Both hidden values are 30: 30 * 10 - 30 * 4 + 20 = 200, times 2^-6 2^-7 / 2^-10 = 25, and the zero point. */
static void lstm8_projection(void **state) {
    (void)state;
    struct cell8 c = plain8();
    c.out = 1;
    c.c[0] = c.c[1] = 2048;
    c.hidden_zero = 5; /* neither here nor there with a projection */
    c.out_zero = -7;
    c.part[PW] = (struct part){true, {10, -4}};
    c.part[PB] = (struct part){true, {20}};
    struct use *u = lstm8(&c);
    use_expect(u, 0, D(1, 1), V(18), 0);
    use_expect(u, 2, D(1, 1), V(18), 0);
    use_free(u);
    c.projection_clip = 0.25; /* 16 units of the weights */
    u = lstm8(&c);
    use_expect(u, 2, D(1, 1), V(16), 0);
    use_free(u);
    c.projection_clip = 0;
    c.part[PB].given = false;
    u = lstm8(&c);
    use_expect(u, 2, D(1, 1), V(16), 0); /* 22.5, half away from zero */
    use_free(u);
}

static void lstm8_refusals(void **state) {
    (void)state;
    static const struct {
        double cell_scale, sum_scale, cell_clip;
        int hidden_zero, drop;
        const char *words;
    } cases[] = {
        {0x1p-8, 1, 0, 0, 0, "none of 2^-15"},
        {0x1p-16, 1, 0, 0, 0, "none of 2^-15"},
        {0.0003, 1, 0, 0, 0, "none of 2^-15"},
        {0x1p-11, 0, 0, 0, 0, "input 26 (input gate sum scale): 0 is not above 0"},
        {0x1p-11, 1, -1, 0, 0, "input 24 (cell clip): -1 is negative"},
        {0x1p-11, 1, 0, 128, 0, "hidden state zero point 128"},
        {0x1p-11, 1, 0, 0, W, "input gate: "},
        {0x1p-11, 1, 0, 0, B + 1, "may not be omitted"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct cell8 c = plain8();
        c.cell_scale = cases[i].cell_scale;
        c.sum_scale = cases[i].sum_scale;
        c.cell_clip = cases[i].cell_clip;
        c.hidden_zero = cases[i].hidden_zero;
        struct use *u = lstm8(&c);
        if (cases[i].drop) use_drop(u, cases[i].drop);
        use_refuse(u, cases[i].words);
        use_free(u);
    }
    struct cell8 c = plain8();
    c.part[N + 1].given = true;
    struct use *u = lstm8(&c);
    use_refuse(u, "layer normalisation: ");
    use_free(u);
    c = plain8();
    c.part[PB].given = true;
    u = lstm8(&c);
    use_refuse(u, "projection bias");
    use_free(u);
    c = plain8();
    c.out = 1;
    u = lstm8(&c);
    use_refuse(u, "2 units cannot give 1 outputs");
    use_free(u);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fixed_rounding),       cmocka_unit_test(fixed_factors),
        cmocka_unit_test(fixed_rsqrt),          cmocka_unit_test(fixed_functions),
        cmocka_unit_test(lstm16_halves),        cmocka_unit_test(lstm16_columns),
        cmocka_unit_test(lstm16_real_numbers),  cmocka_unit_test(lstm16_refusals),
        cmocka_unit_test(lstm8_halves),         cmocka_unit_test(lstm8_coupled),
        cmocka_unit_test(lstm8_sums),           cmocka_unit_test(lstm8_normalised),
        cmocka_unit_test(lstm8_saturated_sums), cmocka_unit_test(lstm8_normalised_bias),
        cmocka_unit_test(lstm8_projection),     cmocka_unit_test(lstm8_refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
