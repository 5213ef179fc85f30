/* SPDX-License-Identifier: Apache-2.0 */
/** How an engine computes, recognised: engines of which it is known, with one quirk each. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/type.h"
#include "harness/datasheet/numeric/numeric.h"
#include "reference/eval/eval.h"

/** An engine that does FULLY_CONNECTED, in its own way. */
struct engine {
    enum { SEQUENTIAL, BACKWARDS, PAIRWISE, INTERLEAVED, BLOCKED } order;
    size_t parts; /* INTERLEAVED, BLOCKED */
    int bits;     /* of the accumulator */
    bool fused;   /* products are not rounded */
    bool cut;     /* sums are rounded towards 0 */
    double most;  /* beyond it a sum is infinite; 0: never */
    double (*requantise)(int32_t accumulator, double multiplier);
    bool dequantised;                                            /* sums up numbers, not codes, in float32 */
    bool with_zero;                                              /* and adds the zero point to the sum */
    double (*with_relu)(int32_t accumulator, double multiplier); /* the same before RELU; NULL: not supported */
};

/** v with so many bits of mantissa. */
static double rounded(double v, int bits) {
    int exponent;
    const double m = frexp(v, &exponent);
    return bits >= 53 ? v : ldexp(rint(ldexp(m, bits)), exponent - bits);
}

static double add(const struct engine *e, double sum, double x, double w) {
    int exponent;
    const double exact = sum + (e->fused ? x * w : rounded(x * w, e->bits));
    if (e->most > 0 && fabs(exact) > e->most) return copysign(INFINITY, exact);
    if (!e->cut) return rounded(exact, e->bits);
    const double m = frexp(exact, &exponent);
    return ldexp(trunc(ldexp(m, e->bits)), exponent - e->bits);
}

static double pairwise(const struct engine *e, const double *x, const double *w, size_t n) {
    if (n == 1) return rounded(x[0] * w[0], e->bits);
    return rounded(pairwise(e, x, w, n / 2) + pairwise(e, x + n / 2, w + n / 2, n / 2), e->bits);
}

static double sum_up(const struct engine *e, const double *x, const double *w, size_t n) {
    double part[128] = {0}, sum = 0;
    if (e->order == PAIRWISE) return pairwise(e, x, w, n);
    for (size_t i = 0; i < n; i++) {
        const size_t k = e->order == BACKWARDS ? n - 1 - i : i;
        double *to = e->order == INTERLEAVED ? &part[k % e->parts] : e->order == BLOCKED ? &part[k / e->parts] : part;
        *to = add(e, *to, x[k], w[k]);
    }
    for (size_t i = 0; i < 128; i++) sum = rounded(sum + part[i], e->bits);
    return sum;
}

/** The number that the codes stand for, summed up in float32, in units of the output. */
static double float_sum(const double *x, const struct nnv_operand *xo, const double *w, const struct nnv_operand *wo,
                        size_t n, double bias) {
    volatile float sum = (float)bias * (xo->scale * wo->scale);
    for (size_t i = 0; i < n; i++) {
        const volatile float a = (float)(x[i] - xo->zero_point) * xo->scale,
                             b = (float)(w[i] - wo->zero_point) * wo->scale, product = a * b;
        sum = sum + product;
    }
    return (double)sum;
}

/** The code of a float32 sum in units of the output. */
static double code_of(const struct engine *e, double units, int32_t zero) {
    return e->with_zero ? (double)rintf((float)units + (float)zero) : zero + rint(units);
}

/** As two's complement has it. */
static int32_t accumulate(const double *x, int32_t zero_x, const double *w, int32_t zero_w, size_t n) {
    uint32_t sum = 0;
    for (size_t i = 0; i < n; i++) sum += (uint32_t)(((int32_t)x[i] - zero_x) * ((int32_t)w[i] - zero_w));
    return (int32_t)sum;
}

static bool execute(void *context, const struct nnv_spec *spec, struct nnv_arena *arena, struct nnv_value **outputs) {
    const struct engine *e = context;
    const struct nnv_subgraph *m = &spec->model.main;
    const struct nnv_operation *op = &m->operations[0];
    if (op->type != ANEURALNETWORKS_FULLY_CONNECTED) return false;
    const struct nnv_operand *xo = &m->operands[op->in[0]], *wo = &m->operands[op->in[1]],
                             *bo = &m->operands[op->in[2]], *yo = &m->operands[op->out[0]];
    const size_t rows = xo->dims[0], n = xo->dims[1], units = wo->dims[0];
    const bool relu = *(const int32_t *)m->operands[op->in[3]].data == ANEURALNETWORKS_FUSED_RELU;
    double (*requantise)(int32_t, double) = relu ? e->with_relu : e->requantise;
    if (!wo->data) return false;
    double *x = NNV_NEW(arena, double, rows *n), *w = NNV_NEW(arena, double, units *n),
           *bias = NNV_NEW(arena, double, units), *y = NNV_NEW(arena, double, rows *units);
    struct nnv_value *out = NNV_NEW(arena, struct nnv_value, 1);
    *out = spec->outputs[0];
    out->data = nnv_arena_alloc(arena, out->bytes, 1);
    nnv_load(xo->type, spec->inputs[0].data, rows * n, x);
    nnv_load(wo->type, wo->data, units * n, w);
    nnv_load(bo->type, bo->data, units, bias);
    for (size_t r = 0; r < rows; r++)
        for (size_t u = 0; u < units; u++) {
            double *to = &y[r * units + u];
            if (!nnv_is_quant(xo->type))
                *to = sum_up(e, x + r * n, w + u * n, n) + bias[u];
            else if (e->dequantised && !relu)
                *to =
                    code_of(e, float_sum(x + r * n, xo, w + u * n, wo, n, bias[u]) / (double)yo->scale, yo->zero_point);
            else if (requantise)
                *to = yo->zero_point +
                      requantise(accumulate(x + r * n, xo->zero_point, w + u * n, wo->zero_point, n) + (int32_t)bias[u],
                                 (double)xo->scale * (double)wo->scale / (double)yo->scale);
            else
                return false;
            if (relu) *to = fmax(*to, yo->zero_point);
        }
    nnv_store(yo->type, y, rows * units, (void *)out->data);
    *outputs = out;
    return true;
}

static struct nnv_numeric measured;

static void measure(struct engine engine, bool sums) {
    const struct nnv_numeric_engine e = {
        .execute = execute, .context = &engine, .arena = nnv_arena_new(), .out = &measured};
    measured = (struct nnv_numeric){0};
    if (sums) {
        nnv_measure_sums(&e, (struct nnv_sums){ANEURALNETWORKS_FULLY_CONNECTED, ANEURALNETWORKS_TENSOR_FLOAT32});
        nnv_measure_sums(&e, (struct nnv_sums){ANEURALNETWORKS_CONV_2D, ANEURALNETWORKS_TENSOR_FLOAT32});
    } else {
        nnv_measure_requantise(&e, (struct nnv_products){.op = ANEURALNETWORKS_FULLY_CONNECTED,
                                                         .type = ANEURALNETWORKS_TENSOR_QUANT8_ASYMM_SIGNED});
        nnv_numeric_settle(&measured);
    }
    nnv_arena_free(e.arena);
}

static void expect(const char *what, const char *is) {
    for (uint32_t i = 0; i < measured.count; i++)
        if (strcmp(measured.fact[i].what, what) == 0) {
            assert_string_equal(measured.fact[i].is, is);
            return;
        }
    fail_msg("nothing is said of: %s", what);
}

/** Each order with each accumulator: what an operation that is not there does is not told. */
static void test_sums(void **state) {
    static const struct {
        int order;
        size_t parts;
        const char *is;
    } orders[] = {{SEQUENTIAL, 0, "one after the other"},
                  {BACKWARDS, 0, "one after the other, from the last"},
                  {PAIRWISE, 0, "pairwise"},
                  {INTERLEAVED, 4, "4 interleaved partial sums"},
                  {INTERLEAVED, 32, "32 interleaved partial sums"},
                  {BLOCKED, 16, "blocks of 16 neighbours"}};
    static const struct {
        int bits;
        const char *is;
    } accumulators[] = {{8, "bfloat16"}, {11, "float16"}, {24, "float32"}, {53, "float64"}, {20, "of 20 bits"}};
    (void)state;
    for (size_t o = 0; o < 6; o++)
        for (size_t a = 0; a < 5; a++) {
            measure((struct engine){.order = orders[o].order, .parts = orders[o].parts, .bits = accumulators[a].bits},
                    true);
            expect("accumulator", accumulators[a].is);
            expect("order of summation", orders[o].is);
            for (uint32_t i = 0; i < measured.count; i++)
                assert_string_equal(measured.fact[i].about, "FULLY_CONNECTED float32");
        }
}

static void test_contraction(void **state) {
    (void)state;
    measure((struct engine){.bits = 24, .fused = true}, true);
    expect("products in sums", "not rounded before they are added (FMA)");
    measure((struct engine){.bits = 24}, true);
    expect("products in sums", "rounded before they are added");
}

static double away(int32_t a, double m) { return round(a * m); }
static double even(int32_t a, double m) { return rint(a * m); }
static double up(int32_t a, double m) { return floor(a * m + 0.5); }
static double down(int32_t a, double m) { return floor(a * m); }
static double cut(int32_t a, double m) { return trunc(a * m); }
static double in_float(int32_t a, double m) { return (double)rintf((float)a * (float)m); }
/** A multiplier of 8 and of 16 bits. */
static double eight(int32_t a, double m) {
    int e;
    const double f = frexp(m, &e);
    return floor(ldexp(a * round(f * 256), e - 8) + 0.5);
}
static double sixteen(int32_t a, double m) {
    int e;
    const double f = frexp(m, &e);
    return floor(ldexp(a * round(f * 65536), e - 16) + 0.5);
}
/** The product is rounded to an integer, then shifted and rounded again. */
static double doubled(int32_t a, double m) {
    int e;
    const double f = frexp(m, &e), high = floor(ldexp(a * round(ldexp(f, 31)), -31) + 0.5);
    return copysign(floor(ldexp(fabs(high), e) + 0.5), high);
}
static double strange(int32_t a, double m) { return floor(a * m + 0.3); }
/** The nearest, but of ties each third is rounded otherwise. */
static double some_up(int32_t a, double m) { return a % 3 == 0 ? up(a, m) : even(a, m); }

static void test_requantisation(void **state) {
    static const struct {
        double (*scheme)(int32_t, double);
        const char *is;
        const char *promise;
    } schemes[] = {{away, "exact, ties away from 0", "requantise=exact-away"},
                   {even, "exact, ties to even", "requantise=exact-even"},
                   {up, "exact, ties up", "requantise=exact-up"},
                   {down, "rounded down", "requantise=floor"},
                   {cut, "truncated", "requantise=truncated"},
                   {in_float, "float32, ties to even", "requantise=float-even"},
                   {eight, "fixed point of 8 bits", "requantise=fixed8"},
                   {sixteen, "fixed point of 16 bits", "requantise=fixed16"},
                   {doubled, "TensorFlow Lite's double rounding", "requantise=twice"},
                   {some_up, "a mixture: exact, ties to even; exact, ties up", "requantise=exact-even+exact-up"},
                   {strange, "not recognised; nearest: rounded down", "requantise=0.7"}};
    char text[NNV_ARITHMETIC_TEXT];
    (void)state;
    for (size_t i = 0; i < sizeof schemes / sizeof *schemes; i++) {
        measure((struct engine){.requantise = schemes[i].scheme}, false);
        expect("requantisation", schemes[i].is);
        nnv_arithmetic_text(&measured.arithmetic, text);
        assert_string_equal(text, schemes[i].promise);
    }
    measure((struct engine){0}, false);
    assert_int_equal(measured.count, 0);
    /* its roundings decide at the middles: no scheme gives the codes, but that it is so does */
    measure((struct engine){.dequantised = true}, false);
    expect("requantisation", "float32 sums of dequantised numbers, ties to even");
    nnv_arithmetic_text(&measured.arithmetic, text);
    assert_string_equal(text, "requantise=dequantised");
    measure((struct engine){.dequantised = true, .with_zero = true}, false);
    expect("requantisation", "float32 sums of dequantised numbers with the zero point, ties to even");
    nnv_arithmetic_text(&measured.arithmetic, text);
    assert_string_equal(text, "requantise=dequantised-zero");
}

static void measure_by(void (*part)(const struct nnv_numeric_engine *, struct nnv_sums), nnv_numeric_execute *how,
                       void *context, int32_t type) {
    const struct nnv_numeric_engine e = {
        .execute = how, .context = context, .arena = nnv_arena_new(), .out = &measured};
    measured = (struct nnv_numeric){0};
    part(&e, (struct nnv_sums){ANEURALNETWORKS_FULLY_CONNECTED, type});
    nnv_arena_free(e.arena);
}

/** Whatever the order, roundings to nearest have no bias; those towards 0 have, and fewer bits a larger deviation. */
static void test_drift(void **state) {
    static const struct {
        struct engine engine;
        const char *is;
        bool finding;
    } engines[] = {
        {{.bits = 24}, "unbiased, as exact as a float32 sum", false},
        {{.bits = 53}, "unbiased, as exact as a float32 sum", false},
        {{.bits = 24, .fused = true}, "unbiased, as exact as a float32 sum", false},
        {{.bits = 24, .order = PAIRWISE}, "unbiased, as exact as a float32 sum", false},
        {{.bits = 24, .order = INTERLEAVED, .parts = 8}, "unbiased, as exact as a float32 sum", false},
        {{.bits = 20}, "unbiased, less exact than a float32 sum", false},
        {{.bits = 24, .cut = true}, "biased towards 0", true},
        {{.bits = 24, .cut = true, .fused = true, .order = INTERLEAVED, .parts = 32}, "biased towards 0", true}};
    (void)state;
    for (size_t i = 0; i < sizeof engines / sizeof *engines; i++) {
        struct engine engine = engines[i].engine;
        measure_by(nnv_measure_drift, execute, &engine, ANEURALNETWORKS_TENSOR_FLOAT32);
        expect("errors of sums", engines[i].is);
        assert_int_equal(measured.fact[0].finding != 0, engines[i].finding);
    }
    measure_by(nnv_measure_drift, execute, &(struct engine){.bits = 24}, ANEURALNETWORKS_TENSOR_QUANT8_ASYMM);
    assert_int_equal(measured.count, 0);
}

/** Sums on the way to a small result that float16 does not hold. */
static void test_overflow(void **state) {
    (void)state;
    measure_by(nnv_measure_overflow, execute, &(struct engine){.bits = 24}, ANEURALNETWORKS_TENSOR_FLOAT16);
    expect("overflow of sums", "right beyond 65504");
    assert_false(measured.fact[0].finding);
    measure_by(nnv_measure_overflow, execute, &(struct engine){.bits = 11, .most = 65504},
               ANEURALNETWORKS_TENSOR_FLOAT16);
    expect("overflow of sums", "infinity beyond 65504");
    assert_true(measured.fact[0].finding);
    measure_by(nnv_measure_overflow, execute,
               &(struct engine){.bits = 11, .most = 65504, .order = BLOCKED, .parts = 64},
               ANEURALNETWORKS_TENSOR_FLOAT16);
    expect("overflow of sums", "NaN beyond 65504");
    /* of codes in 32 bits, and in float32 */
    measure_by(nnv_measure_overflow, execute, &(struct engine){.requantise = away},
               ANEURALNETWORKS_TENSOR_QUANT8_ASYMM_SIGNED);
    expect("overflow of sums", "wraps beyond 2^31");
    assert_false(measured.fact[0].finding);
    measure_by(nnv_measure_overflow, execute, &(struct engine){.dequantised = true},
               ANEURALNETWORKS_TENSOR_QUANT8_ASYMM_SIGNED);
    expect("overflow of sums", "is rounded beyond 2^24");
    assert_false(measured.fact[0].finding);
}

/** An engine that has another kernel where an activation is fused: both schemes are told, and either is right. */
static void test_kernels(void **state) {
    static const struct {
        double (*plain)(int32_t, double), (*with_relu)(int32_t, double);
        const char *is[2], *promise;
    } engines[] = {{even, even, {"exact, ties to even"}, "requantise=exact-even"},
                   {even, away, {"exact, ties to even", "exact, ties away from 0"}, "requantise=exact-even+exact-away"},
                   {in_float,
                    doubled,
                    {"float32, ties to even", "TensorFlow Lite's double rounding"},
                    "requantise=float-even+twice"},
                   {even, strange, {"exact, ties to even", "not recognised; nearest: truncated"}, "requantise=0.7"}};
    (void)state;
    for (size_t i = 0; i < sizeof engines / sizeof *engines; i++) {
        char text[NNV_ARITHMETIC_TEXT];
        measure((struct engine){.requantise = engines[i].plain, .with_relu = engines[i].with_relu}, false);
        assert_string_equal(measured.fact[0].about, "FULLY_CONNECTED quant8_asymm_signed");
        assert_string_equal(measured.fact[0].is, engines[i].is[0]);
        if (engines[i].is[1]) {
            assert_string_equal(measured.fact[1].about, "FULLY_CONNECTED quant8_asymm_signed with RELU");
            assert_string_equal(measured.fact[1].is, engines[i].is[1]);
        }
        assert_int_equal(measured.count, engines[i].is[1] ? 3 : 2);
        nnv_arithmetic_text(&measured.arithmetic, text);
        assert_string_equal(text, engines[i].promise);
    }
}

/** Computes by the golden kernels, in the arithmetic of the context. */
static bool evaluate(void *context, const struct nnv_spec *spec, struct nnv_arena *arena, struct nnv_value **outputs) {
    struct nnv_eval_options options = {.rows = 1, .k = 1.5};
    struct nnv_golden golden;
    if (nnv_arithmetic_parse(context, &options.arithmetic, NULL) != NNV_OK ||
        nnv_eval(&spec->model, spec->inputs, &options, arena, &golden, NULL) != NNV_OK)
        return false;
    *outputs = nnv_arena_copy(arena, &golden.value, sizeof golden.value);
    return *outputs != NULL;
}

/** Exact sums, rounded to the type by each layer: independent roundings. */
static void test_depth(void **state) {
    (void)state;
    for (int k = 0; k < 2; k++) {
        measure_by(nnv_measure_depth, evaluate, "requantise=exact-away",
                   k ? ANEURALNETWORKS_TENSOR_FLOAT16 : ANEURALNETWORKS_TENSOR_FLOAT32);
        expect("error over depth", "grows as the root of the depth");
    }
    measure_by(nnv_measure_overflow, evaluate, "requantise=exact-away", ANEURALNETWORKS_TENSOR_QUANT8_ASYMM);
    expect("overflow of sums", "right beyond 2^31");
}

/** Results that are rounded once are off by half a unit at most; of types that an operation has not nothing is said. */
static void test_functions(void **state) {
    const struct nnv_numeric_engine e = {
        .execute = evaluate, .context = "requantise=exact-away", .arena = nnv_arena_new(), .out = &measured};
    double ulps;
    (void)state;
    measured = (struct nnv_numeric){0};
    nnv_measure_function(&e, ANEURALNETWORKS_SQRT, ANEURALNETWORKS_TENSOR_INT32);
    assert_int_equal(measured.count, 0);
    nnv_measure_function(&e, ANEURALNETWORKS_SQRT, ANEURALNETWORKS_TENSOR_FLOAT32);
    nnv_arena_free(e.arena);
    assert_int_equal(measured.count, 1);
    assert_string_equal(measured.fact[0].about, "SQRT float32");
    assert_string_equal(measured.fact[0].what, "largest error");
    assert_int_equal(sscanf(measured.fact[0].is, "%lf ulp", &ulps), 1);
    assert_true(ulps > 0 && ulps <= 0.5);
    assert_true(measured.arithmetic.functions == 0);
}

/** Engines of one scheme, and of several: each operation and type has its own, which is what is promised. */
static void test_mixtures(void **state) {
    static const struct {
        const char *engine, *is;
    } engines[] = {{"requantise=float-even", "float32, ties to even"},
                   {"requantise=twice", "TensorFlow Lite's double rounding"},
                   {"requantise=exact-up,CONV_2D/quant8_asymm=twice", "2 schemes, and 0 not recognised"},
                   {"requantise=exact-away,MUL/quant8_asymm=exact-even,PRELU/quant8_asymm_signed=twice",
                    "3 schemes, and 0 not recognised"}};
    (void)state;
    for (size_t i = 0; i < sizeof engines / sizeof *engines; i++) {
        const struct nnv_numeric_engine e = {
            .execute = evaluate, .context = (void *)engines[i].engine, .arena = nnv_arena_new(), .out = &measured};
        struct nnv_arithmetic want;
        measured = (struct nnv_numeric){0};
        nnv_numeric_measure(&e);
        nnv_numeric_settle(&measured);
        nnv_arena_free(e.arena);
        const struct nnv_numeric_fact *all = &measured.fact[measured.count - 1];
        assert_string_equal(all->about, "all operations");
        assert_string_equal(all->is, engines[i].is);
        assert_true(strlen(all->evidence) + 1 < sizeof all->evidence); /* not cut */
        assert_int_equal(measured.products, 23);
        assert_int_equal(nnv_arithmetic_parse(engines[i].engine, &want, NULL), NNV_OK);
        for (uint32_t p = 0; p < measured.products; p++) {
            const struct nnv_products what = measured.product[p].what;
            assert_int_equal(nnv_arithmetic_schemes(&measured.arithmetic, what.op, what.type).one,
                             nnv_arithmetic_schemes(&want, what.op, what.type).one);
        }
    }
}

/* ------------------------------------------------------------------------------ tails */

/** The least result of SOFTMAX in tensors of two and of four axes. */
struct ends {
    double two, four;
    bool flush; /* less is 0; else it is that */
};

static bool soften(void *context, const struct nnv_spec *spec, struct nnv_arena *arena, struct nnv_value **outputs) {
    const struct ends *e = context;
    const struct nnv_operand *x = &spec->model.main.operands[spec->model.main.in[0]];
    const double end = x->rank == 2 ? e->two : e->four;
    const size_t n = x->dims[x->rank - 1];
    double sum = 0, *y = NNV_NEW(arena, double, n);
    struct nnv_value *out = NNV_NEW(arena, struct nnv_value, 1);
    *out = spec->outputs[0];
    out->data = nnv_arena_alloc(arena, out->bytes, 1);
    nnv_load(x->type, spec->inputs[0].data, n, y);
    for (size_t i = 0; i < n; i++) sum += exp(y[i]);
    for (size_t i = 0; i < n; i++) {
        y[i] = exp(y[i]) / sum;
        if (y[i] < end) y[i] = e->flush ? 0 : end;
    }
    nnv_store(x->type, y, n, (void *)out->data);
    *outputs = out;
    return true;
}

/** A promise that subnormals are kept holds for functions, too, and in tensors of any rank. */
static void test_tails(void **state) {
    static const struct {
        struct ends ends;
        const char *is;
        bool promised;
    } engines[] = {{{0, 0, true}, "kept", true},
                   {{0x1p-126, 0x1p-126, true}, "results are flushed to 0", false},
                   {{0, 0x1p-126, true}, "results are flushed to 0", false},
                   {{0, 0x1p-128, false}, "not kept", false},
                   {{0x1p-128, 0, false}, "not kept", false}};
    (void)state;
    for (size_t i = 0; i < sizeof engines / sizeof *engines; i++) {
        struct ends ends = engines[i].ends;
        const struct nnv_numeric_engine e = {
            .execute = soften, .context = &ends, .arena = nnv_arena_new(), .out = &measured};
        measured = (struct nnv_numeric){0};
        nnv_measure_subnormals(&e, ANEURALNETWORKS_SOFTMAX, ANEURALNETWORKS_TENSOR_FLOAT32);
        nnv_numeric_settle(&measured);
        nnv_arena_free(e.arena);
        expect("subnormals", engines[i].is);
        assert_int_equal(measured.arithmetic.keep_subnormals, engines[i].promised);
    }
}

/* --------------------------------------------------------------------- a choice */

/** Does nothing; counts the models, and those of another operation than TANH. */
struct asked {
    size_t models, others;
};

static bool count_asked(void *context, const struct nnv_spec *spec, struct nnv_arena *arena,
                        struct nnv_value **outputs) {
    struct asked *a = context;
    const struct nnv_subgraph *m = &spec->model.main;
    bool other = false;
    (void)arena, (void)outputs;
    for (uint32_t i = 0; i < m->noperations; i++) other |= m->operations[i].type != ANEURALNETWORKS_TANH;
    a->models++;
    a->others += other;
    return false;
}

static void test_choice(void **state) {
    struct asked asked = {0};
    const struct nnv_numeric_engine e = {
        .execute = count_asked, .context = &asked, .operations = "TANH", .arena = nnv_arena_new(), .out = &measured};
    (void)state;
    measured = (struct nnv_numeric){0};
    nnv_numeric_measure(&e);
    nnv_arena_free(e.arena);
    assert_true(measured.partial);
    assert_true(asked.models > 0);
    assert_int_equal(asked.others, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sums),    cmocka_unit_test(test_contraction), cmocka_unit_test(test_requantisation),
        cmocka_unit_test(test_kernels), cmocka_unit_test(test_mixtures),    cmocka_unit_test(test_drift),
        cmocka_unit_test(test_depth),   cmocka_unit_test(test_overflow),    cmocka_unit_test(test_tails),
        cmocka_unit_test(test_choice),  cmocka_unit_test(test_functions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
