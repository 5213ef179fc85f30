/* SPDX-License-Identifier: Apache-2.0 */
/**
 * What is promised of an engine's arithmetic: an engine with just that passes, and no other does. Each engine here
 * computes by itself what the promise names.
 */
#include <float.h>
#include <math.h>
#include <string.h>

#include "harness/judge/judge.h"
#include "nnvts/result.h"
#include "reference/spec/spec.h"
#include "tests/kit/arena.h"

enum { N = 64 };

/* ------------------------------------------------------------------- specs */

/** An operand; quant: scale and zero point as JSON members, or "". */
static void operand(struct nnv_text *t, const char *type, const char *dims, const char *lifetime, const char *quant,
                    const double *v, size_t n) {
    nnv_text_addf(t, "%s{\"type\":\"%s\",\"dims\":[%s],\"lifetime\":\"%s\"%s,\"data\":[", t->len ? "," : "", type, dims,
                  lifetime, quant);
    for (size_t i = 0; i < n; i++) {
        if (i) nnv_text_add(t, ",");
        if (isinf(v[i]))
            nnv_text_add(t, v[i] > 0 ? "\"Infinity\"" : "\"-Infinity\"");
        else
            nnv_text_addf(t, "%.17g", v[i]);
    }
    nnv_text_add(t, "]}");
}

static void tensor(struct nnv_text *t, const char *type, const char *dims, const char *quant, const double *v,
                   size_t n) {
    operand(t, type, dims, "SUBGRAPH_INPUT", quant, v, n);
}

static void scalar(struct nnv_text *t, const char *type, double v) { operand(t, type, "", "CONSTANT_COPY", "", &v, 1); }

/** Operation op on the operands of t, of which tensors are inputs; the output has n elements. Frees t. */
static struct nnv_spec *spec_of(struct nnv_text *t, const char *op, int tensors, int scalars, const char *type,
                                const char *dims, const char *quant, size_t n) {
    static const double none[N];
    struct nnv_text all = {0};
    struct nnv_spec *spec;
    struct nnv_err err = {0};
    operand(t, type, dims, "SUBGRAPH_OUTPUT", quant, none, n);
    nnv_text_addf(&all, "{\"format\":\"nnvts-spec/1\",\"name\":\"arithmetic\",\"main\":{\"operands\":[%s],", t->data);
    nnv_text_addf(&all, "\"operations\":[{\"type\":\"%s\",\"inputs\":[", op);
    for (int i = 0; i < tensors + scalars; i++) nnv_text_addf(&all, "%s%d", i ? "," : "", i);
    nnv_text_addf(&all, "],\"outputs\":[%d]}],\"inputs\":[", tensors + scalars);
    for (int i = 0; i < tensors; i++) nnv_text_addf(&all, "%s%d", i ? "," : "", i);
    nnv_text_addf(&all, "],\"outputs\":[%d]}}", tensors + scalars);
    if (nnv_spec_parse(all.data, all.len, "test", arena, &spec, &err) != NNV_OK) fail_msg("%s", err.text);
    nnv_text_free(&all);
    nnv_text_free(t);
    return spec;
}

/** The verdict on the stored numbers v under a promise. */
static int judged(const struct nnv_spec *spec, const char *promise, const double *v) {
    struct nnv_arithmetic a;
    struct nnv_err err = {0};
    struct nnv_value *out = nnv_arena_copy(arena, spec->outputs, sizeof *out);
    struct nnv_case_env env = {.arithmetic = &a, .arena = arena};
    struct nnv_result r = {0};
    const int32_t type = spec->model.main.operands[spec->model.main.out[0]].type;
    if (nnv_arithmetic_parse(promise, &a, &err) != NNV_OK) fail_msg("%s", err.text);
    out->data = nnv_arena_alloc(arena, out->bytes, 64);
    nnv_store(type, v, out->bytes / nnv_type(type)->size, out->data);
    nnv_judge_answer(&env, spec, NNV_PRECISION_BUDGET, out, &r);
    nnv_text_free(&r.reason);
    nnv_text_free(&r.outputs);
    return r.verdict;
}

#define PASSES(spec, promise, v) assert_int_equal(judged(spec, promise, v), NNVTS_PASS)
#define FAILS(spec, promise, v) assert_int_equal(judged(spec, promise, v), NNVTS_FAIL)

static double half(double v) { return nnv_half_to_double(nnv_double_to_half(v)); }

/* ----------------------------------------------------------------- engines */

/** A sum that grows until float16 loses the last bits of each term. */
static struct nnv_spec *dense(double *x, double *w) {
    struct nnv_text t = {0};
    const double bias = 0.5;
    for (int i = 0; i < N; i++) {
        x[i] = 16.125;
        w[i] = 1;
    }
    tensor(&t, "TENSOR_FLOAT16", "1,64", "", x, N);
    tensor(&t, "TENSOR_FLOAT16", "1,64", "", w, N);
    tensor(&t, "TENSOR_FLOAT16", "1", "", &bias, 1);
    scalar(&t, "INT32", 0);
    return spec_of(&t, "FULLY_CONNECTED", 3, 1, "TENSOR_FLOAT16", "1,1", "", 1);
}

static void half_sums(void **state) {
    (void)state;
    double x[N], w[N], narrow = 0, exact = 0.5, missing;
    const struct nnv_spec *spec = dense(x, w);
    for (int i = 0; i < N; i++) {
        narrow = half(narrow + half(x[i] * w[i]));
        exact += x[i] * w[i];
    }
    narrow = half(narrow + 0.5);
    missing = half(exact - 3 * x[0] * w[0]);
    PASSES(spec, "strict", &exact);
    PASSES(spec, "sums=float16", &exact);
    FAILS(spec, "strict", &narrow);
    FAILS(spec, "android,sums=float32", &narrow);
    PASSES(spec, "sums=float16", &narrow);
    PASSES(spec, "android", &narrow);
    FAILS(spec, "sums=float16", &missing);
}

/** A quantised product of one unit each time so much. */
static void requantised(void **state) {
    (void)state;
    struct nnv_text t = {0};
    static const double x[] = {3, 5, 7, 11}, one[] = {1}, none[] = {0}, w[] = {1};
    double nearest[4], down[4], two[4];
    const double ratio = 0.4;
    for (int i = 0; i < 4; i++) {
        nearest[i] = floor(x[i] * ratio + 0.5);
        down[i] = floor(x[i] * ratio);
        two[i] = nearest[i] + 2;
    }
    (void)one;
    tensor(&t, "TENSOR_QUANT8_ASYMM", "4,1", ",\"scale\":1,\"zero_point\":0", x, 4);
    tensor(&t, "TENSOR_QUANT8_ASYMM", "1,1", ",\"scale\":1,\"zero_point\":0", w, 1);
    tensor(&t, "TENSOR_INT32", "1", ",\"scale\":1", none, 1);
    scalar(&t, "INT32", 0);
    const struct nnv_spec *spec =
        spec_of(&t, "FULLY_CONNECTED", 3, 1, "TENSOR_QUANT8_ASYMM", "4,1", ",\"scale\":2.5,\"zero_point\":0", 4);
    PASSES(spec, "strict", nearest);
    FAILS(spec, "strict", down);
    FAILS(spec, "rescale=1", down);
    FAILS(spec, "android", down);
    PASSES(spec, "requantise=1", down);
    FAILS(spec, "requantise=1.5", two);
}

static void rescaled(void **state) {
    (void)state;
    struct nnv_text t = {0};
    static const double x[] = {2, 3, 4, 5, 7, 9, 10, 12}, axis[] = {1};
    double nearest[2], down[2], three[2];
    for (int i = 0; i < 2; i++) {
        const double mean = (x[4 * i] + x[4 * i + 1] + x[4 * i + 2] + x[4 * i + 3] + (i ? 1 : 0)) / 4;
        nearest[i] = floor(mean - (i ? 0.25 : 0) + 0.5);
        down[i] = floor(mean - (i ? 0.25 : 0));
        three[i] = nearest[i] + 3;
    }
    tensor(&t, "TENSOR_QUANT8_ASYMM", "2,4", ",\"scale\":1,\"zero_point\":0", x, 8);
    operand(&t, "TENSOR_INT32", "1", "CONSTANT_COPY", "", axis, 1);
    scalar(&t, "INT32", 0);
    const struct nnv_spec *spec =
        spec_of(&t, "MEAN", 1, 2, "TENSOR_QUANT8_ASYMM", "2", ",\"scale\":1,\"zero_point\":0", 2);
    down[0] = 3, down[1] = 9; /* of 3.5 and 9.5 one is as near as the other: */
    nearest[0] = 4, nearest[1] = 10;
    PASSES(spec, "strict", nearest);
    PASSES(spec, "strict", down);
    down[0] = 2;
    FAILS(spec, "strict", down);
    FAILS(spec, "requantise=1", down);
    PASSES(spec, "rescale=1.5", down);
    PASSES(spec, "android", down);
    FAILS(spec, "android", three);
}

/** Float32 sums of equal terms, each of which is rounded to the same side: what one adds up in their order is right. */
static void equal_terms(void **state) {
    (void)state;
    enum { TERMS = 210, EQUAL = 66, ONES = 33 };
    static const struct {
        const char *op, *dims, *out;
        const double scalars[7];
        int ints, tensors;
    } sums[] = {{"MEAN", "1,14,15,1", "1,1,1,1", {1}, 1, 1},
                {"AVERAGE_POOL_2D", "1,14,15,1", "1,1,1,1", {2, 1, 1, 15, 14, 0}, 6, 0}};
    static const double axes[] = {1, 2};
    double x[TERMS] = {0};
    float sum = 0;
    for (int i = 0; i < ONES; i++) x[32 + i] = 1;
    for (int i = 0; i < EQUAL; i++) x[100 + i] = 0.21511998772621155;
    for (int i = 0; i < TERMS; i++) sum += (float)x[i];
    const double mean = (double)(sum / TERMS);
    for (size_t s = 0; s < sizeof sums / sizeof *sums; s++) {
        struct nnv_text t = {0};
        tensor(&t, "TENSOR_FLOAT32", sums[s].dims, "", x, TERMS);
        if (sums[s].tensors) operand(&t, "TENSOR_INT32", "2", "CONSTANT_COPY", "", axes, 2);
        for (int i = 0; i < sums[s].ints; i++) scalar(&t, "INT32", sums[s].scalars[i]);
        const struct nnv_spec *spec =
            spec_of(&t, sums[s].op, 1, sums[s].tensors + sums[s].ints, "TENSOR_FLOAT32", sums[s].out, "", 1);
        PASSES(spec, "strict", &mean);
        FAILS(spec, "strict", &(double){mean * (1 - 5e-5)});
    }
}

/** Two numbers that a unit of 2^-7 of the coarser scale does not tell apart. */
static void compared(void **state) {
    (void)state;
    struct nnv_text t = {0};
    static const double a[] = {100, 100}, b[] = {99, 90};
    static const double right[] = {1, 1}, near[] = {0, 1}, wrong[] = {1, 0};
    tensor(&t, "TENSOR_QUANT8_ASYMM", "2", ",\"scale\":0.5,\"zero_point\":0", a, 2);
    tensor(&t, "TENSOR_QUANT8_ASYMM", "2", ",\"scale\":0.505,\"zero_point\":0", b, 2);
    const struct nnv_spec *spec = spec_of(&t, "GREATER", 2, 0, "TENSOR_BOOL8", "2", "", 2);
    PASSES(spec, "strict", right);
    FAILS(spec, "strict", near);
    PASSES(spec, "rescale=1", near);
    FAILS(spec, "android", wrong);
}

static struct nnv_spec *unary(const char *op, const double *x, size_t n, const char *dims) {
    struct nnv_text t = {0};
    tensor(&t, "TENSOR_FLOAT32", dims, "", x, n);
    return spec_of(&t, op, 1, 0, "TENSOR_FLOAT32", dims, "", n);
}

static void functions(void **state) {
    (void)state;
    static const double x[] = {-2.5, 0.75, 3};
    double y[3], off[3], more[3];
    for (int i = 0; i < 3; i++) {
        y[i] = exp(x[i]);
        off[i] = y[i] * (1 + 24 * 0x1p-23);
        more[i] = y[i] * (1 + 200 * 0x1p-23);
    }
    const struct nnv_spec *spec = unary("EXP", x, 3, "3");
    PASSES(spec, "strict", y);
    FAILS(spec, "strict", off);
    FAILS(spec, "android", off);
    PASSES(spec, "functions=32", off);
    FAILS(spec, "functions=32", more);
}

/* A rational function that is as exact near 0 as it is near 1. */
static void logistic(void **state) {
    (void)state;
    static const double x[] = {-8, 0.25, 4};
    double y[3], off[3], more[3];
    for (int i = 0; i < 3; i++) {
        y[i] = 1 / (1 + exp(-x[i]));
        off[i] = y[i] - 9e-8;
        more[i] = y[i] - 4e-6;
    }
    const struct nnv_spec *spec = unary("LOGISTIC", x, 3, "3");
    PASSES(spec, "strict", y);
    FAILS(spec, "strict", off);
    PASSES(spec, "logistic=1e-7", off);
    PASSES(spec, "android", off);
    FAILS(spec, "android", more);
}

static void subnormals(void **state) {
    (void)state;
    static const double x[] = {-1, 1e-39, 2}, flushed[] = {0, 0, 2}, kept[] = {0, 1e-39, 2};
    const struct nnv_spec *spec = unary("RELU", x, 3, "3");
    PASSES(spec, "strict", flushed);
    PASSES(spec, "strict", kept);
    FAILS(spec, "subnormals=kept", flushed);
    PASSES(spec, "subnormals=kept", kept);
}

/** The maximum of each of four numbers alone. */
static const struct nnv_spec *maxima(const char *type, const double *x) {
    static const int window[] = {2, 1, 1, 1, 1, 0}; /* VALID, strides, extents, no activation */
    struct nnv_text t = {0};
    tensor(&t, type, "1,2,2,1", "", x, 4);
    for (int i = 0; i < 6; i++) scalar(&t, "INT32", window[i]);
    return spec_of(&t, "MAX_POOL_2D", 1, 6, type, "1,2,2,1", "", 4);
}

static void infinities(void **state) {
    (void)state;
    static const double x[] = {1, INFINITY, -INFINITY, 2}, kept[] = {1, INFINITY, -INFINITY, 2};
    static const double clamped[] = {1, FLT_MAX, -FLT_MAX, 2}, wrong[] = {1, 1e30, -FLT_MAX, 2};
    static const double turned[] = {1, -FLT_MAX, -FLT_MAX, 2};
    const struct nnv_spec *spec = maxima("TENSOR_FLOAT32", x);
    PASSES(spec, "strict", kept);
    FAILS(spec, "strict", clamped);
    PASSES(spec, "infinities=saturated", kept);
    PASSES(spec, "infinities=saturated", clamped);
    PASSES(spec, "android", clamped);
    FAILS(spec, "android", wrong);
    FAILS(spec, "android", turned);
    static const double half_most[] = {1, 65504, -65504, 2}; /* that of float16 stands for none of float32 */
    FAILS(spec, "infinities=saturated", half_most);
    const struct nnv_spec *half = maxima("TENSOR_FLOAT16", x);
    FAILS(half, "strict", half_most);
    PASSES(half, "infinities=saturated", kept);
    PASSES(half, "infinities=saturated", half_most);
}

/** float16 that is rounded after each step is right by strict, and not if it was promised to be rounded once. */
static void steps(void **state) {
    (void)state;
    struct nnv_text t = {0};
    double x[4] = {2.25, 2, 1.9, 2.3}, narrow[4], wide[4], sum = 0, exact = 0;
    for (int i = 0; i < 4; i++) x[i] = half(x[i]);
    tensor(&t, "TENSOR_FLOAT16", "1,4", "", x, 4);
    scalar(&t, "FLOAT16", 1.5);
    const struct nnv_spec *spec = spec_of(&t, "SOFTMAX", 1, 1, "TENSOR_FLOAT16", "1,4", "", 4);
    for (int i = 0; i < 4; i++) {
        narrow[i] = half(exp(half(half(x[i] - x[3]) * 1.5)) * (i == 0 ? 1 + 0x1.8p-8 : 1));
        sum += narrow[i];
        wide[i] = exp((x[i] - x[3]) * 1.5);
        exact += wide[i];
    }
    for (int i = 0; i < 4; i++) narrow[i] = half(narrow[i] / half(sum)), wide[i] /= exact;
    PASSES(spec, "strict", narrow);
    PASSES(spec, "strict", wide);
    PASSES(spec, "steps=float32", wide);
    FAILS(spec, "steps=float32", narrow);
}

/* A promise by which nothing is left to compare is no reason to blame anybody, nor one to praise. */
static void nothing_left(void **state) {
    (void)state;
    enum { MANY = 8192 };
    struct nnv_text t = {0};
    double *x = nnv_arena_alloc(arena, MANY * sizeof *x, 8), y = MANY, all = 0;
    for (int i = 0; i < MANY; i++) x[i] = 1;
    tensor(&t, "TENSOR_FLOAT16", "8192", "", x, MANY);
    operand(&t, "TENSOR_INT32", "1", "CONSTANT_COPY", "", &all, 1);
    scalar(&t, "BOOL", 1);
    const struct nnv_spec *spec = spec_of(&t, "REDUCE_SUM", 1, 2, "TENSOR_FLOAT16", "1", "", 1);
    PASSES(spec, "strict", &y);
    assert_int_equal(judged(spec, "sums=float16", &y), NNVTS_SKIP);
}

/* -------------------------------------------------------------------- text */

static void assert_text(const char *given, const char *expected) {
    struct nnv_arithmetic a;
    struct nnv_err err = {0};
    char text[NNV_ARITHMETIC_TEXT];
    if (nnv_arithmetic_parse(given, &a, &err) != NNV_OK) fail_msg("%s", err.text);
    nnv_arithmetic_text(&a, text);
    assert_string_equal(text, expected);
}

static void texts(void **state) {
    (void)state;
    struct nnv_arithmetic a, b;
    struct nnv_err err = {0};
#define KNOWN                                                                                                          \
    "expected strict, android, sums=, steps=, subnormals=, infinities=, requantise=, rescale=, logistic=, "            \
    "functions=, "                                                                                                     \
    "OPERATION/TYPE="
#define SCHEMES                                                                                                        \
    "exact-away, exact-even, exact-up, twice, fixed31, float-even, float-away, float-zero, fma-zero, dequantised, "    \
    "dequantised-zero, fixed24, "                                                                                      \
    "fixed16, fixed15, fixed8, fixed7, truncated, floor"
    static const struct {
        const char *text, *words;
    } wrong[] = {
        {"", "'': " KNOWN},
        {"loose", "'loose': " KNOWN},
        {"sums", "'sums': " KNOWN},
        {"sums=double", "sums=double: expected float32 or float16"},
        {"requantise=0.4", "requantise=0.4: expected a number from 0.5 to 4"},
        {"rescale=9", "rescale=9: expected a number from 0.5 to 4"},
        {"functions=-1", "functions=-1: expected a number from 0 to 1.04858e+06"},
        {"functions=x", "functions=x: expected a number from 0 to 1.04858e+06"},
        {"logistic=nan", "logistic=nan: expected a number from 0 to 1"},
        {"strict,", "'': " KNOWN},
        {"logistic=2", "logistic=2: expected a number from 0 to 1"},
        {"functions=", "functions=: expected a number from 0 to 1.04858e+06"},
        {"requantise=thrice", "thrice: expected a number, " SCHEMES},
        {"CONV_2D/float32=twice",
         "'CONV_2D/float32': expected an operation and a quantised type, as in CONV_2D/quant8_asymm"},
        {"CONV/quant8_asymm=twice",
         "'CONV/quant8_asymm': expected an operation and a quantised type, as in CONV_2D/quant8_asymm"},
        {"CONV_2D/quant8_asymm=", "CONV_2D/quant8_asymm=: expected " SCHEMES},
        {"CONV_2D/=twice", "'CONV_2D/': expected an operation and a quantised type, as in CONV_2D/quant8_asymm"},
        {"requantise=twice+", "twice+: expected a number, " SCHEMES},
        {"requantise=twice+twice", "twice+twice: expected a number, " SCHEMES},
        {"requantise=twice+floor+fixed8", "twice+floor+fixed8: expected a number, " SCHEMES},
        {"CONV_2D/quant8_asymm=+twice", "CONV_2D/quant8_asymm=+twice: expected " SCHEMES},
    };
    assert_text("strict", "strict");
    assert_text("requantise=0.5,sums=float32", "strict");
    assert_text("android", "android");
    assert_text("sums=float16,infinities=saturated,logistic=0.0000001,rescale=1.5", "android");
    assert_text("android,sums=float32", "infinities=saturated,rescale=1.5,logistic=1e-07");
    assert_text("functions=8,strict", "strict");
    assert_text("steps=float32,subnormals=kept,requantise=1", "steps=float32,subnormals=kept,requantise=1");
    assert_text("requantise=1,requantise=twice", "requantise=twice");
    assert_text("requantise=twice,requantise=1", "requantise=1");
    assert_text("requantise=exact-up+twice,MUL/quant8_asymm=twice+floor",
                "requantise=exact-up+twice,MUL/quant8_asymm=twice+floor");
    assert_text("android,requantise=fixed8",
                "sums=float16,infinities=saturated,rescale=1.5,logistic=1e-07,requantise=fixed8");
    assert_text("android,CONV_2D/quant8_asymm=twice", "android,CONV_2D/quant8_asymm=twice");
    assert_text("MUL/quant8_asymm=twice,requantise=floor,MUL/quant8_asymm=exact-up",
                "requantise=floor,MUL/quant8_asymm=exact-up");
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        if (nnv_arithmetic_parse(wrong[i].text, &a, &err) != NNV_INVALID) fail_msg("'%s' is accepted", wrong[i].text);
        assert_string_equal(err.text, wrong[i].words);
    }
    /* each key alone is weaker, a stronger one is not, and what is weak already is not weaker */
    assert_int_equal(nnv_arithmetic_parse("steps=float32,subnormals=kept", &a, &err), NNV_OK);
    assert_false(nnv_arithmetic_is_weak(&a));
    assert_int_equal(nnv_arithmetic_parse("requantise=twice", &b, &err), NNV_OK);
    assert_false(nnv_arithmetic_is_weak(&b));
    assert_string_equal(nnv_arithmetic_weaker(&b, 0, &b), "sums of products are requantised by any exact scheme");
    assert_int_equal(b.schemes.one, NNV_SCHEME_ANY);
    assert_int_equal(nnv_arithmetic_parse("MUL/quant8_asymm=twice+floor", &b, &err), NNV_OK);
    assert_true(nnv_arithmetic_is_weak(&b));
    assert_string_equal(nnv_arithmetic_weaker(&a, 0, &b), "sums are float16");
    assert_true(b.half_sums && b.wide_steps && !b.saturate);
    assert_true(nnv_arithmetic_is_weak(&b));
    assert_null(nnv_arithmetic_weaker(&a, 6, &b));
    assert_int_equal(nnv_arithmetic_parse("android", &a, &err), NNV_OK);
    assert_string_equal(nnv_arithmetic_weaker(&a, 0, &b), "sums of products are requantised within one unit");
    assert_null(nnv_arithmetic_weaker(&a, 2, &b));
    /* all that android has beside what is promised, which stays */
    assert_false(nnv_arithmetic_add_android(&a, &b));
    assert_int_equal(nnv_arithmetic_parse("steps=float32,rescale=3", &a, &err), NNV_OK);
    assert_true(nnv_arithmetic_add_android(&a, &b));
    assert_true(b.wide_steps && b.half_sums && b.saturate && b.rescale > 2 && b.logistic > 0);
    /* a graph that others compute a part of: no scheme, and a unit more where it was not exact */
    assert_int_equal(nnv_arithmetic_parse("functions=8,requantise=twice,MUL/quant8_asymm=exact-up", &a, &err), NNV_OK);
    b = nnv_arithmetic_of_any_scheme(&a);
    assert_true(b.schemes.one == NNV_SCHEME_ANY && b.uses == 0 && b.requantise == 0 && b.functions == 8);
    assert_int_equal(nnv_arithmetic_parse("requantise=0.75,MUL/quant8_asymm=twice+floor", &a, &err), NNV_OK);
    b = nnv_arithmetic_of_any_scheme(&a);
    assert_true(b.uses == 0 && b.requantise == 1);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {TEST(half_sums), TEST(requantised), TEST(rescaled),     TEST(compared),
                                       TEST(functions), TEST(logistic),    TEST(subnormals),   TEST(infinities),
                                       TEST(steps),     TEST(texts),       TEST(nothing_left), TEST(equal_terms)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
