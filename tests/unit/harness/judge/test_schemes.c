/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Judged by the scheme that an engine requantises by, an answer that is one unit off is wrong, though any exact scheme
 * may give it: planted in each operation and type that requantises sums of products.
 */
#include "harness/judge/judge.h"
#include "nnvts/result.h"
#include "randgraph/single/single.h"
#include "tests/kit/arena.h"

enum { KINDS = 3, CASES = 12, LEAST = 20 };

/** An engine of one scheme that has gone over to the other in one element. */
static const struct kind {
    const char *scheme, *planted;
    bool ties;
} kinds[KINDS] = {{"requantise=exact-away", "requantise=twice", false},
                  {"requantise=twice", "requantise=exact-away", false},
                  {"requantise=exact-away", "requantise=exact-even", true}};

static const int32_t ops[] = {ANEURALNETWORKS_CONV_2D,
                              ANEURALNETWORKS_DEPTHWISE_CONV_2D,
                              ANEURALNETWORKS_GROUPED_CONV_2D,
                              ANEURALNETWORKS_TRANSPOSE_CONV_2D,
                              ANEURALNETWORKS_FULLY_CONNECTED,
                              ANEURALNETWORKS_BATCH_MATMUL,
                              ANEURALNETWORKS_MUL,
                              ANEURALNETWORKS_PRELU};
enum { OPS = sizeof ops / sizeof *ops };

static struct nnv_arithmetic promise(const char *text) {
    struct nnv_arithmetic a;
    struct nnv_err err = {0};
    if (nnv_arithmetic_parse(text, &a, &err) != NNV_OK) fail_msg("%s", err.text);
    return a;
}

/** What an engine of this arithmetic answers. */
static struct nnv_value answer(const struct nnv_spec *spec, const char *arithmetic) {
    const struct nnv_eval_options options = {.rows = 1, .k = 1.5, .arithmetic = promise(arithmetic)};
    struct nnv_golden golden[4];
    struct nnv_err err = {0};
    if (nnv_eval(&spec->model, spec->inputs, &options, arena, golden, &err) != NNV_OK) fail_msg("%s", err.text);
    return golden[0].value;
}

static int judged(const struct nnv_spec *spec, const char *arithmetic, struct nnv_value *out) {
    const struct nnv_arithmetic a = promise(arithmetic);
    struct nnv_case_env env = {.arithmetic = &a, .arena = arena};
    struct nnv_result r = {0};
    nnv_judge_answer(&env, spec, NNV_PRECISION_BUDGET, out, &r);
    nnv_text_free(&r.reason);
    nnv_text_free(&r.outputs);
    return r.verdict;
}

/** Quantised by powers of two, and coarsely: many results lie halfway between two codes. */
static struct nnv_spec *build(const struct nnv_op *op, int sig, int index, bool ties) {
    struct nnv_spec *spec;
    struct nnv_err err = {0};
    const struct nnv_single what = {.op = op,
                                    .sig = sig,
                                    .variant = index % nnv_single_variants(op),
                                    .index = index,
                                    .mode = ties ? NNV_FILL_EXACT : NNV_FILL_NORMAL,
                                    .seed = 1,
                                    .name = "planted"};
    if (nnv_single_build(&what, arena, &spec, &err) != NNV_OK) fail_msg("%s: %s", op->name, err.text);
    if (ties) {
        spec->model.main.operands[spec->model.main.out[0]].scale = 4;
        spec->exact = false;
    }
    return spec;
}

/** Plants one unit in the first element where the schemes differ. False: they do not, or any scheme forbids it. */
static bool plant(const struct nnv_spec *spec, const struct kind *kind) {
    struct nnv_value right = answer(spec, kind->scheme), other = answer(spec, kind->planted);
    const unsigned char *to = other.data;
    unsigned char *from = right.data;
    size_t at = 0;
    assert_int_equal(judged(spec, kind->scheme, &right), NNVTS_PASS);
    while (at < right.bytes && from[at] == to[at]) at++;
    if (at == right.bytes) return false;
    from[at] = to[at];
    if (judged(spec, "strict", &right) != NNVTS_PASS) return false;
    assert_int_equal(judged(spec, kind->scheme, &right), NNVTS_FAIL);
    return true;
}

static void test_planted_units(void **state) {
    (void)state;
    int planted = 0;
    for (int o = 0; o < OPS; o++) {
        const struct nnv_op *op = nnv_op(ops[o]);
        for (int sig = 0; sig < op->nsigs; sig++) {
            if (!nnv_is_quant(op->sigs[sig].type[NNV_T])) continue;
            for (int k = 0; k < KINDS; k++) {
                bool found = false;
                for (int i = 0; i < CASES && !found; i++) {
                    nnv_arena_reset(arena);
                    found = plant(build(op, sig, i, kinds[k].ties), &kinds[k]);
                }
                if (!found) print_message("%s, signature %d: no %s\n", op->name, sig, kinds[k].planted);
                planted += found;
            }
        }
    }
    print_message("%d one-unit errors\n", planted);
    assert_true(planted >= LEAST);
}

/** Without rows nothing is judged, and no scheme is asked: results are the nearest codes. */
static void test_without_rows(void **state) {
    (void)state;
    int differ = 0;
    for (int o = 0; o < OPS; o++) {
        const struct nnv_op *op = nnv_op(ops[o]);
        int sig = 0;
        while (!nnv_is_quant(op->sigs[sig].type[NNV_T])) sig++;
        for (int i = 0; i < CASES; i++) {
            nnv_arena_reset(arena);
            const struct nnv_spec *spec = build(op, sig, i, true);
            const struct nnv_eval_options plain = {.k = 1.5, .arithmetic = promise("strict")},
                                          floor = {.k = 1.5, .arithmetic = promise("requantise=floor")};
            struct nnv_golden nearest[4], its[4];
            struct nnv_err err = {0};
            assert_int_equal(nnv_eval(&spec->model, spec->inputs, &plain, arena, nearest, &err), NNV_OK);
            assert_int_equal(nnv_eval(&spec->model, spec->inputs, &floor, arena, its, &err), NNV_OK);
            assert_memory_equal(its[0].value.data, nearest[0].value.data, its[0].value.bytes);
            const struct nnv_value with_rows = answer(spec, "requantise=floor");
            differ += memcmp(with_rows.data, its[0].value.data, with_rows.bytes) != 0;
        }
    }
    assert_true(differ > 0);
}

/** What one operation does says nothing of another, nor one type of another. */
static void test_of_one_operation(void **state) {
    (void)state;
    const struct nnv_op *op = nnv_op(ANEURALNETWORKS_FULLY_CONNECTED);
    int sig = 0;
    while (op->sigs[sig].type[NNV_T] != ANEURALNETWORKS_TENSOR_QUANT8_ASYMM) sig++;
    for (int i = 0; i < CASES; i++) {
        const struct nnv_spec *spec = build(op, sig, i, false);
        struct nnv_value right = answer(spec, "requantise=exact-away"), other = answer(spec, "requantise=twice");
        if (memcmp(right.data, other.data, right.bytes) == 0) continue;
        assert_int_equal(judged(spec, "requantise=exact-away", &other), NNVTS_FAIL);
        assert_int_equal(judged(spec, "requantise=exact-away,FULLY_CONNECTED/quant8_asymm=twice", &other), NNVTS_PASS);
        assert_int_equal(judged(spec, "FULLY_CONNECTED/quant8_asymm=twice", &right), NNVTS_FAIL);
        assert_int_equal(judged(spec, "FULLY_CONNECTED/quant8_asymm_signed=twice", &right), NNVTS_PASS);
        assert_int_equal(judged(spec, "CONV_2D/quant8_asymm=twice", &right), NNVTS_PASS);
        return;
    }
    fail_msg("the schemes do not differ");
}

/** An engine of two schemes is right by either, and by no other. */
static void test_either(void **state) {
    (void)state;
    const struct nnv_op *op = nnv_op(ANEURALNETWORKS_MUL);
    int differ = 0;
    for (int i = 0; i < 2 * CASES; i++) {
        const struct nnv_spec *spec = build(op, 1, i, true);
        struct nnv_value even = answer(spec, "requantise=exact-even"), up = answer(spec, "requantise=exact-up"),
                         floor = answer(spec, "requantise=floor");
        assert_true(nnv_is_quant(op->sigs[1].type[NNV_T]));
        if (memcmp(even.data, up.data, even.bytes) == 0 || memcmp(floor.data, up.data, even.bytes) == 0) continue;
        differ++;
        assert_int_equal(judged(spec, "requantise=exact-even", &up), NNVTS_FAIL);
        assert_int_equal(judged(spec, "requantise=exact-even+exact-up", &up), NNVTS_PASS);
        assert_int_equal(judged(spec, "requantise=exact-up+exact-even", &up), NNVTS_PASS);
        assert_int_equal(judged(spec, "MUL/quant8_asymm=exact-up+exact-even", &even), NNVTS_PASS);
        assert_int_equal(judged(spec, "requantise=exact-even+exact-up", &floor), NNVTS_FAIL);
    }
    assert_true(differ >= 4);
}

/** Sums of float32 numbers are not known to the last bit: a result halfway between two codes may fall to either. */
static void test_float_sums(void **state) {
    (void)state;
    const struct nnv_op *op = nnv_op(ANEURALNETWORKS_FULLY_CONNECTED);
    int sig = 0, differ = 0;
    while (op->sigs[sig].type[NNV_T] != ANEURALNETWORKS_TENSOR_QUANT8_ASYMM) sig++;
    for (int i = 0; i < 2 * CASES; i++) {
        const struct nnv_spec *spec = build(op, sig, i, true);
        struct nnv_value even = answer(spec, "requantise=exact-even"), up = answer(spec, "requantise=exact-up");
        if (memcmp(even.data, up.data, even.bytes) == 0) continue;
        differ++;
        assert_int_equal(judged(spec, "requantise=float-even", &up), NNVTS_FAIL);
        assert_int_equal(judged(spec, "requantise=dequantised", &up), NNVTS_PASS);
        assert_int_equal(judged(spec, "FULLY_CONNECTED/quant8_asymm=float-even+dequantised", &up), NNVTS_PASS);
    }
    assert_true(differ > 0);
}

/** Each scheme by its word; what it makes of accumulators around a tie. */
static void test_codes(void **state) {
    (void)state;
    static const struct {
        const char *word;
        double tie, minus, below; /* of 5 * 0.5, -5 * 0.5, 211 * 0.0123 = 2.5953 */
    } codes[] = {{"exact-away", 3, -3, 3},  {"exact-even", 2, -2, 3},       {"exact-up", 3, -2, 3},
                 {"twice", 3, -2, 3},       {"fixed31", 3, -2, 3},          {"float-even", 2, -2, 3},
                 {"float-away", 3, -3, 3},  {"float-zero", 2, -2, 3},       {"fma-zero", 2, -2, 3},
                 {"dequantised", 2, -2, 3}, {"dequantised-zero", 2, -2, 3}, {"fixed24", 3, -2, 3},
                 {"fixed16", 3, -2, 3},     {"fixed15", 3, -2, 3},          {"fixed8", 3, -2, 3},
                 {"fixed7", 3, -2, 3},      {"truncated", 2, -2, 2},        {"floor", 2, -3, 2}};
    assert_int_equal(sizeof codes / sizeof *codes, NNV_SCHEME_COUNT - 1);
    for (int i = 0; i + 1 < NNV_SCHEME_COUNT; i++) {
        const enum nnv_scheme s = nnv_scheme_by_word(codes[i].word, strlen(codes[i].word));
        assert_int_equal(s, i + 1);
        assert_string_equal(nnv_scheme_word(s), codes[i].word);
        assert_true(nnv_scheme_code(s, 5, 0.5, 0) == codes[i].tie);
        assert_true(nnv_scheme_code(s, -5, 0.5, 0) == codes[i].minus);
        assert_true(nnv_scheme_code(s, 211, 0.0123, 0) == codes[i].below);
        assert_true(isnan(nnv_scheme_code(s, NAN, 0.5, 0)));
        assert_true(nnv_scheme_code(s, 1e12, 3, 0) == 3e12);
    }
    assert_true(nnv_scheme_code(NNV_SCHEME_FIXED_8, 1, 300, 0) == 300);
    assert_true(nnv_scheme_code(NNV_SCHEME_TWICE, 4, 1.5, 0) == 6 && nnv_scheme_code(NNV_SCHEME_TWICE, 5, 1.5, 0) == 8);
    /* a multiplier that is rounded to a power of two has the smaller mantissa: 1/4 becomes 1/2, and that 1 */
    assert_true(nnv_scheme_code(NNV_SCHEME_TWICE, 1, 0.25 * (1 - 0x1p-34), 0) == 1);
    assert_int_equal(nnv_scheme_by_word("twic", 4), NNV_SCHEME_ANY);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {TEST(test_planted_units), TEST(test_without_rows), TEST(test_of_one_operation),
                                       TEST(test_either),        TEST(test_float_sums),   TEST(test_codes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
