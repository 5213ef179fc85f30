/* SPDX-License-Identifier: Apache-2.0 */
/** Random samples: right ones pass, at the stated risk; wrong ones fail. */
#include <float.h>
#include <math.h>

#include "base/rng.h"
#include "harness/judge/multinomial.h"
#include "tests/kit/judging.h"

enum { MAX_CLASSES = 2048, MAX_SAMPLES = 70000 };

static double logits[MAX_CLASSES];
static int32_t samples[MAX_SAMPLES];
static struct nnv_comparison c;

/** Draws n samples by these logits: the inverse of the cumulative distribution. */
static void draw(struct nnv_rng *rng, const double *x, size_t classes, int32_t *to, size_t n) {
    double sum = 0;
    for (size_t i = 0; i < classes; i++) sum += exp(x[i]);
    for (size_t s = 0; s < n; s++) {
        double u = nnv_rng_unit(rng) * sum;
        size_t i = 0;
        while (i + 1 < classes && (u -= exp(x[i])) >= 0) i++;
        to[s] = (int32_t)i;
    }
}

/** Samples that are wrong, of rows of n; tolerance 0: by the test. */
static size_t wrong(size_t rows, size_t classes, size_t n, double tolerance) {
    struct nnv_source source = {.outer = rows, .n = classes, .inner = 1, .value = logits};
    assert_true(nnv_check_samples(&source, samples, n, tolerance, arena, &c));
    assert_int_equal(c.elems, rows * n);
    assert_int_equal(c.compared + c.not_compared, rows * n);
    assert_true((c.wrong > 0) == (c.note[0] != 0));
    return c.wrong;
}

/* -------------------------------------------------------------------- the bound */

static void chances(void **state) {
    (void)state;
    assert_true(nnv_multinomial_chance(5, 1) == 1); /* one cell: nothing can go wrong */
    assert_true(nnv_multinomial_chance(0, 3) == 1);
    assert_true(nnv_multinomial_chance(2, 3) == 1);
    assert_true(fabs(nnv_multinomial_chance(2, 2) - 0.735758882) < 1e-9);     /* 2/e */
    assert_true(fabs(nnv_multinomial_chance(20, 3) - 1.52299797e-6) < 1e-13); /* 100 e^-18 */
    assert_true(nnv_multinomial_chance(1e6, 5) == 0);
}

/* It holds where the asymptotic law does not: few samples, and a cell that expects 0.12 of them. */
static void bound_holds(void **state) {
    (void)state;
    enum { TRIALS = 40000, N = 12, K = 4 };
    const double p[K] = {0.01, 0.09, 0.3, 0.6}, x[K] = {log(0.01), log(0.09), log(0.3), log(0.6)};
    struct nnv_rng rng = nnv_rng_make(3, 1, 4);
    int below[3] = {0};
    for (int t = 0; t < TRIALS; t++) {
        double count[K] = {0}, half_g = 0;
        draw(&rng, x, K, samples, N);
        for (int i = 0; i < N; i++) count[samples[i]]++;
        for (int i = 0; i < K; i++) half_g += count[i] > 0 ? count[i] * log(count[i] / (N * p[i])) : 0;
        double chance = nnv_multinomial_chance(half_g, K);
        below[0] += chance < 0.5;
        below[1] += chance < 0.1;
        below[2] += chance < 0.01;
    }
    assert_true(below[0] <= TRIALS / 2 && below[1] <= TRIALS / 10 && below[2] <= TRIALS / 100);
    assert_true(below[1] > 0); /* nor is it empty */
}

/* ------------------------------------------------------------------ right and wrong */

static void skewed_logits(void) {
    static const double x[] = {-1, 2, 0.5, -3, 1, 0};
    memcpy(logits, x, sizeof x);
}

static void right_samples(void **state) {
    (void)state;
    for (uint64_t seed = 0; seed < 300; seed++) {
        struct nnv_rng rng = nnv_rng_make(seed, 2, 3);
        skewed_logits();
        size_t classes = (size_t)(2 + seed % 5), n = (size_t)(1 + seed * seed / 40);
        draw(&rng, logits, classes, samples, n);
        assert_int_equal(wrong(1, classes, n, 0), 0);
        assert_int_equal(c.compared, n);
        assert_true(c.worst_ratio < 1);
    }
}

static void constant_output(void **state) {
    (void)state;
    skewed_logits();
    for (int class = 0; class < 6; class ++) {
        for (int i = 0; i < 100; i++) samples[i] = class;
        assert_true(wrong(1, 6, 100, 0) > 0);
        assert_non_null(strstr(c.note, "row 0: G = "));
        assert_true(c.worst_ratio > 1);
    }
    logits[0] = logits[1] = 0; /* the least of cases: two equal classes, one of them never */
    for (int i = 0; i < 64; i++) samples[i] = 1;
    assert_int_equal(wrong(1, 2, 64, 0), 32); /* so many should be of the other class */
    assert_non_null(strstr(c.note, "row 0: G = 88.72 over 2 cells"));
    assert_true(c.worst_expected == 32 && c.worst_error == 32);
    assert_int_equal(wrong(1, 2, 16, 0), 0); /* 2^-15: chance may do that once in a while */
}

static void uniform_output(void **state) {
    (void)state;
    skewed_logits();
    for (int i = 0; i < 600; i++) samples[i] = i % 6;
    assert_true(wrong(1, 6, 600, 0) > 0);
    memset(logits, 0, sizeof logits); /* to which uniform is right */
    assert_int_equal(wrong(1, 6, 600, 0), 0);
}

static void off_by_one_class(void **state) {
    (void)state;
    struct nnv_rng rng = nnv_rng_make(5, 6, 7);
    skewed_logits();
    draw(&rng, logits, 6, samples, 1500);
    assert_int_equal(wrong(1, 6, 1500, 0), 0);
    for (int i = 0; i < 1500; i++) samples[i] = (samples[i] + 1) % 6;
    assert_true(wrong(1, 6, 1500, 0) > 0);
}

/* Logits of the wrong sign; of another temperature. */
static void wrong_distributions(void **state) {
    (void)state;
    enum { N = 1500 };
    double other[6];
    struct nnv_rng rng = nnv_rng_make(5, 6, 8);
    skewed_logits();
    for (int i = 0; i < 6; i++) other[i] = -logits[i];
    draw(&rng, other, 6, samples, N);
    assert_true(wrong(1, 6, N, 0) > 0);
    for (int i = 0; i < 6; i++) other[i] = logits[i] * 1.5; /* a temperature */
    draw(&rng, other, 6, samples, N);
    assert_true(wrong(1, 6, N, 0) > 0);
}

static void impossible_classes(void **state) {
    (void)state;
    struct nnv_rng rng = nnv_rng_make(1, 2, 4);
    skewed_logits();
    draw(&rng, logits, 6, samples, 1000);
    assert_int_equal(wrong(1, 6, 1000, 0), 0);
    samples[999] = 6;
    assert_int_equal(wrong(1, 6, 1000, 0), 1);
    assert_string_equal(c.note, "row 0, sample 999: class 6 does not exist");
    samples[3] = -1;
    assert_int_equal(wrong(1, 6, 1000, 0), 2);
    assert_int_equal(wrong(1, 6, 1000, 0.5), 2);
    for (int i = 0; i < 1000; i++) samples[i] = 1;
    for (int i = 0; i < 6; i++) logits[i] = i == 1 ? 7 : -INFINITY;
    assert_int_equal(wrong(1, 6, 1000, 0), 0);
    samples[5] = 2;
    assert_int_equal(wrong(1, 6, 1000, 0), 1);
    assert_string_equal(c.note, "row 0, sample 5: class 2 has the probability 0");
}

/* Each row by its own logits: two rows whose samples are exchanged are wrong, though not taken together. */
static void rows(void **state) {
    (void)state;
    enum { N = 800 };
    struct nnv_rng rng = nnv_rng_make(9, 9, 9);
    const double x[] = {0, 1, 2, 2, 1, 0};
    memcpy(logits, x, sizeof x);
    draw(&rng, x, 3, samples, N);
    draw(&rng, x + 3, 3, samples + N, N);
    assert_int_equal(wrong(2, 3, N, 0), 0);
    assert_int_equal(wrong(2, 3, N, 0.06), 0);
    draw(&rng, x, 3, samples + N, N);
    assert_true(wrong(2, 3, N, 0) > 0);
    assert_non_null(strstr(c.note, "row 1: G"));
    assert_int_equal(c.worst, N);
    assert_true(wrong(2, 3, N, 0.06) > 0);
    logits[4] = NAN; /* then nobody knows */
    assert_int_equal(wrong(2, 3, N, 0), 0);
    assert_int_equal(c.not_compared, N);
    logits[4] = INFINITY;
    assert_int_equal(wrong(2, 3, N, 0), 0);
    assert_int_equal(c.not_compared, N);
}

/* 1024 classes that expect a fraction of a sample each. */
static void many_classes(void **state) {
    (void)state;
    enum { K = 1024, N = 128 };
    for (uint64_t seed = 0; seed < 50; seed++) {
        struct nnv_rng rng = nnv_rng_make(seed, 9, 2);
        for (int i = 0; i < K; i++) logits[i] = nnv_rng_uniform(&rng, 0, 1);
        draw(&rng, logits, K, samples, N);
        assert_int_equal(wrong(1, K, N, 0), 0);
    }
    for (int i = 0; i < N; i++) samples[i] = 17;
    assert_true(wrong(1, K, N, 0) > 0);
    assert_true(wrong(1, K, N, 0.025) > 0);
    for (int i = 0; i < K; i++) logits[i] = i < K / 8 ? 4 : 0;
    for (int i = 0; i < N; i++) samples[i] = i * 8; /* uniform */
    assert_true(wrong(1, K, N, 0) > 0);
}

/* A long row is tested by its first 65536 samples, and looked through to its end. */
static void long_rows(void **state) {
    (void)state;
    enum { N = MAX_SAMPLES };
    struct nnv_rng rng = nnv_rng_make(3, 3, 3);
    skewed_logits();
    draw(&rng, logits, 6, samples, N);
    assert_int_equal(wrong(1, 6, N, 0), 0);
    for (int i = 65536; i < N; i++) samples[i] = 0;
    assert_int_equal(wrong(1, 6, N, 0), 0);
    samples[N - 1] = 6;
    assert_int_equal(wrong(1, 6, N, 0), 1);
}

/** AOSP's rule at its bound: 4 of 10 where 3 are expected. */
static void fixed_tolerance(void **state) {
    (void)state;
    const int32_t y[] = {0, 0, 0, 0, 1, 1, 1, 1, 1, 1};
    logits[0] = log(3);
    logits[1] = log(7);
    memcpy(samples, y, sizeof y);
    assert_int_equal(wrong(1, 2, 10, 0.1001), 0);
    assert_string_equal(c.rule, "|frequency - probability| <= 0.1001");
    assert_true(wrong(1, 2, 10, 0.0999) > 0);
    assert_non_null(strstr(c.note, "expected 0."));
}

/* ------------------------------------------------------------------- the judge */

/* clang-format off */
#define SPEC(members, output)                                                                              \
    "{\"format\":\"nnvts-spec/1\",\"name\":\"random\",\"min_version\":\"1.2\"," members                    \
    "\"main\":{\"operands\":["                                                                             \
    OPERAND("TENSOR_FLOAT32", "2,3", "SUBGRAPH_INPUT", DATA("0,1,3,2,1,-2")) ","                           \
    OPERAND("INT32", "", "CONSTANT_COPY", DATA("200")) ","                                                 \
    OPERAND("TENSOR_INT32", "2", "CONSTANT_COPY", DATA("37,42")) ","                                       \
    OPERAND("TENSOR_INT32", "2,200", "SUBGRAPH_OUTPUT", output) "],"                                       \
    "\"operations\":[{\"type\":\"RANDOM_MULTINOMIAL\",\"inputs\":[0,1,2],\"outputs\":[3]}],"               \
    "\"inputs\":[0],\"outputs\":[3]}}"
/* clang-format on */
#define TOLERANCE "\"multinomial_tolerance\":0.2,"
#define IGNORED ",\"ignored\":true"

static int judge_sample(const char *json, const int32_t *answer, int precision) {
    struct nnv_text text = {0};
    nnv_text_add(&text, "{\"base64\":\"");
    static const int32_t zeros[400];
    nnv_text_add_base64(&text, (const uint8_t *)zeros, sizeof zeros);
    nnv_text_add(&text, "\"}");
    const struct nnv_spec *spec = fake_spec(nnv_arena_printf(arena, json, text.data), arena);
    nnv_text_free(&text);
    fake.answer = answer;
    return judge(spec, (enum nnv_precision)precision);
}

static void verdicts(void **state) {
    (void)state;
    const double x[] = {0, 1, 3, 2, 1, -2};
    struct nnv_rng rng = nnv_rng_make(1, 1, 1);
    static int32_t right[400], constant[400], beyond[400];
    draw(&rng, x, 3, right, 200);
    draw(&rng, x + 3, 3, right + 200, 200);
    for (int i = 0; i < 400; i++) constant[i] = 1;
    memcpy(beyond, right, sizeof beyond);
    beyond[300] = 3;
    /* compared, whether the spec expects samples or ignores them and states a tolerance */
    const char *const specs[] = {SPEC("", ",\"data\":%s"), SPEC(TOLERANCE, ",\"data\":%s" IGNORED)};
    for (int s = 0; s < 2; s++)
        for (int p = 0; p < NNV_PRECISION_COUNT; p++) {
            assert_int_equal(judge_sample(specs[s], right, p), NNVTS_PASS);
            assert_int_equal(result.compared, 400);
            assert_int_equal(judge_sample(specs[s], constant, p), NNVTS_FAIL);
            assert_non_null(strstr(result.reason.data, "output 0 [2,200]: row "));
            assert_null(strstr(result.reason.data, "note"));
            assert_int_equal(judge_sample(specs[s], beyond, p), NNVTS_FAIL);
            assert_non_null(strstr(result.reason.data, "row 1, sample 100: class 3 does not exist"));
        }
    assert_int_equal(judge_sample(SPEC("", ",\"data\":%s" IGNORED), constant, NNV_PRECISION_NNAPI), NNVTS_PASS);
    assert_int_equal(result.values, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(chances),
        cmocka_unit_test(bound_holds),
        cmocka_unit_test(right_samples),
        cmocka_unit_test(constant_output),
        cmocka_unit_test(uniform_output),
        cmocka_unit_test(off_by_one_class),
        cmocka_unit_test(wrong_distributions),
        cmocka_unit_test(impossible_classes),
        cmocka_unit_test(rows),
        cmocka_unit_test(many_classes),
        cmocka_unit_test(long_rows),
        cmocka_unit_test(fixed_tolerance),
        cmocka_unit_test(verdicts),
    };
    return cmocka_run_group_tests(tests, start_judging, end_judging);
}
