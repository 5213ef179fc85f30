/* SPDX-License-Identifier: Apache-2.0 */
/** @file test_report_bucket.c Which failures are taken as one bug; the words and numbers of reports. */
#include <math.h>

#include "base/words.h"
#include "harness/journal/verdict.h"
#include "tests/kit/report.h"

#include "harness/journal/causes/bucket.h"

static uint32_t add(struct nnv_buckets *b, enum nnvts_verdict v, const char *op, const char *type, const char *reason) {
    return nnv_buckets_add(
        b, &(struct nnv_bucket_case){.verdict = v, .op = op, .type = type, .reason = reason, .compared = 10});
}

static void numbers_do_not_divide_bugs(void **state) {
    (void)state;
    struct nnv_buckets b = {0};
    uint32_t n =
        add(&b, NNVTS_FAIL, "ADD", "float32", "output 0 [1,7,5]: 2 of 35 wrong; expected -1.5e-07, got 3 at 0x1F");
    assert_int_equal(n, 0);
    assert_string_equal(b.item[0].like, "output # [#]: # of # wrong; expected #, got # at #");
    assert_int_equal(
        add(&b, NNVTS_FAIL, "ADD", "float16", "output 12 [3]: 1 of 3 wrong; expected 7, got -0.25 at 0xab"), 0);
    assert_int_equal(
        add(&b, NNVTS_FAIL, "ADD", "float32", "output 1 [3, 4]: 1 of 3 wrong; expected 7, got +8 at 1\nmore"), 0);
    static const char *const no_numbers[] = {"nan", "-inf", "NaN"};
    for (size_t i = 0; i < 3; i++) {
        char reason[99];
        snprintf(reason, sizeof reason, "output 1 [3]: 1 of 3 wrong; expected 7, got %s at 1", no_numbers[i]);
        assert_int_equal(add(&b, NNVTS_FAIL, "ADD", "float32", reason), 0);
    }
    assert_int_equal(b.item[0].count, 6);
    assert_string_equal(b.item[0].family, "float");
    nnv_buckets_free(&b);
}

static uint32_t add_explained(struct nnv_buckets *b, const char *op, const char *type, const char *reason,
                              const char *explained, const char *explained_op) {
    return nnv_buckets_add(b, &(struct nnv_bucket_case){.verdict = NNVTS_FAIL,
                                                        .op = op,
                                                        .type = type,
                                                        .reason = reason,
                                                        .compared = 10,
                                                        .explained = explained,
                                                        .explained_op = explained_op});
}

/* What one mistake explains is one bug, whatever the reasons say; its operation and the mistake divide. */
static void explanations_make_bugs(void **state) {
    (void)state;
    struct nnv_buckets b = {0};
    assert_int_equal(add_explained(&b, "", "float32", "output 0: 3 wrong", "clamp ignored", "RELU6"), 0);
    assert_int_equal(add_explained(&b, "", "quant8_asymm", "wholly other words", "clamp ignored", "RELU6"), 0);
    assert_int_equal(add_explained(&b, "RELU6", "float32", "words", "clamp ignored", ""), 0);
    assert_int_equal(add_explained(&b, "", "float32", "output 0: 3 wrong", "clamp ignored", "RELU1"), 1);
    assert_int_equal(add_explained(&b, "", "float32", "output 0: 3 wrong", "axis swapped", "RELU6"), 2);
    assert_int_equal(add(&b, NNVTS_FAIL, "", "float32", "output 0: 3 wrong"), 3);
    assert_int_equal(b.item[0].count, 3);
    assert_true(b.item[0].explained && !b.item[3].explained);
    assert_string_equal(b.item[0].op, "RELU6");
    assert_string_equal(b.item[0].like, "clamp ignored");
    nnv_buckets_free(&b);
}

static void all_else_divides_them(void **state) {
    (void)state;
    struct nnv_buckets b = {0};
    assert_int_equal(add(&b, NNVTS_FAIL, "ADD", "float32", "1 wrong"), 0);
    assert_int_equal(add(&b, NNVTS_CRASH, "ADD", "float32", "1 wrong"), 1);
    assert_int_equal(add(&b, NNVTS_FAIL, "MUL", "float32", "1 wrong"), 2);
    assert_int_equal(add(&b, NNVTS_FAIL, "ADD", "quant8_asymm", "1 wrong"), 3);
    assert_int_equal(add(&b, NNVTS_FAIL, "ADD", "int32", "1 wrong"), 4);
    assert_int_equal(add(&b, NNVTS_FAIL, "ADD", "float32", "1 right"), 5);
    assert_int_equal(add(&b, NNVTS_FAIL, "ADD", "float32", "NaN wrong"), 0); /* a number like others */
    assert_int_equal(add(&b, NNVTS_FAIL, "ADD", "float32", "CONV_2D"), 6);
    assert_int_equal(add(&b, NNVTS_FAIL, "ADD", "float32", "CONV_3D"), 7);
    assert_int_equal(add(&b, NNVTS_FAIL, "ADD", "float32", ""), 8);
    assert_int_equal(add(&b, NNVTS_FAIL, "ADD", "quant8_symm", "2 wrong"), 3);
    nnv_buckets_free(&b);
}

static void reasons_of_any_length(void **state) {
    (void)state;
    struct nnv_buckets b = {0};
    char *reason = malloc(100001);
    memset(reason, 'a', 100000);
    reason[100000] = '\0';
    assert_int_equal(add(&b, NNVTS_FAIL, "ADD", "float32", reason), 0);
    reason[50000] = 'b';
    assert_int_equal(add(&b, NNVTS_FAIL, "ADD", "float32", reason), 0);
    free(reason);
    for (unsigned i = 0; i < 1000; i++) {
        char op[16];
        snprintf(op, sizeof op, "OP%u", i);
        assert_int_equal(add(&b, NNVTS_FAIL, op, "float32", "x"), i + 1);
    }
    assert_int_equal(b.map.count, 1001);
    nnv_buckets_free(&b);
}

static void buckets_of_a_run(void **state) {
    (void)state;
    struct fx f = fx_golden("every");
    struct nnv_buckets b = {0};
    struct nnv_err err = {0};
    uint32_t of[32];
    assert_int_equal(nnv_buckets_of(f.report, &b, of, &err), NNV_OK);
    assert_int_equal(b.map.count, 6);
    assert_string_equal(b.item[0].op, "DEPTHWISE_CONV_2D");
    assert_string_equal(b.item[0].family, "quant");
    assert_int_equal(b.item[0].count, 3);
    /* The smallest of the three has the smallest output. */
    assert_string_equal(f.report->item[b.item[0].smallest].name, "ops/DEPTHWISE_CONV_2D/quant8_asymm/dilation_2x3/2");
    for (size_t i = 0; i < f.report->count; i++) {
        assert_int_equal(of[i] != NNV_MAP_NONE, nnv_verdict_bad(f.report->item[i].verdict));
        if (of[i] == NNV_MAP_NONE) continue;
        assert_int_equal(b.item[of[i]].verdict, f.report->item[i].verdict);
        assert_string_equal(b.item[of[i]].op, f.report->ops.key[f.report->item[i].op]);
    }
    nnv_buckets_free(&b);
    fx_remove(&f);
}

static void verdicts_have_words(void **state) {
    (void)state;
    bool letters[128] = {false}, placed[NNVTS_VERDICT_COUNT] = {false};
    for (int i = 0; i < NNVTS_VERDICT_COUNT; i++) {
        enum nnvts_verdict v = (enum nnvts_verdict)i, back = NNVTS_VERDICT_COUNT;
        assert_true(*nnv_verdict_name(v) != '\0' && *nnv_verdict_word(v) != '\0' && *nnv_verdict_done(v) != '\0');
        assert_false(letters[(int)nnv_verdict_letter(v)]);
        letters[(int)nnv_verdict_letter(v)] = true;
        placed[nnv_verdict_order[i]] = true;
        assert_true(nnv_verdict_parse(nnv_verdict_name(v), &back));
        assert_int_equal(back, v);
    }
    for (int i = 0; i < NNVTS_VERDICT_COUNT; i++) assert_true(placed[i]);
    enum nnvts_verdict v;
    assert_false(nnv_verdict_parse("", &v));
    assert_false(nnv_verdict_parse("pass", &v));
    assert_false(nnv_verdict_parse("PAS", &v));
}

static void numbers_for_people(void **state) {
    (void)state;
    assert_string_equal(nnv_count(0).s, "0");
    assert_string_equal(nnv_count(999).s, "999");
    assert_string_equal(nnv_count(12480).s, "12,480");
    assert_string_equal(nnv_count(UINT64_MAX).s, "18,446,744,073,709,551,615");
    static const struct {
        double seconds;
        const char *text;
    } times[] = {{0.044, "0.04 s"},   {11.24, "11.2 s"}, {200, "3 min 20 s"},
                 {7500, "2 h 5 min"}, {-1, "0.00 s"},    {(double)NAN, "0.00 s"}};
    for (size_t i = 0; i < sizeof times / sizeof *times; i++) {
        struct nnv_text t = {0};
        nnv_text_add_seconds(&t, times[i].seconds);
        assert_string_equal(t.data, times[i].text);
        nnv_text_free(&t);
    }
}

static void shown_text_is_harmless(void **state) {
    (void)state;
    static const struct {
        const char *in, *out;
        size_t max;
    } cases[] = {
        {"plain \xc3\xa9 \xe4\xbd\xa0", "plain \xc3\xa9 \xe4\xbd\xa0", 100},
        {"\x1b[31m\r\n\x7f\t", "\\x1b[31m\\x0d\\x0a\\x7f ", 100},
        {"\xc2\x9b"
         "31m",
         "\\x9b31m", 100}, /* a control character of 8 bits */
        {"\xe2\x80\xae"
         "abc\xe2\x81\xa6",
         "\\u202eabc\\u2066", 100},                          /* marks that reorder text */
        {"\xff\xc3(\xe2\x82", "\\xff\\xc3(\\xe2\\x82", 100}, /* not UTF-8 */
        {"\xc0\xaf\xed\xa0\x80\xf4\x90\x80\x80", "\\xc0\\xaf\\xed\\xa0\\x80\\xf4\\x90\\x80\\x80", 100},
        {"abcdef", "abc...", 3},
        {"abc", "abc", 3},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct nnv_text t = {0};
        nnv_text_add_shown(&t, cases[i].in, strlen(cases[i].in), cases[i].max);
        assert_string_equal(t.data, cases[i].out);
        nnv_text_free(&t);
        if (cases[i].max == 100) assert_string_equal(nnv_shown(cases[i].in).s, cases[i].out);
    }
    char text[400] = "", shown[204];
    memset(text, 'x', sizeof text - 1);
    snprintf(shown, sizeof shown, "%.200s...", text);
    assert_string_equal(nnv_shown(text).s, shown);
    assert_string_equal(nnv_shown("").s, "");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(explanations_make_bugs), cmocka_unit_test(numbers_do_not_divide_bugs),
        cmocka_unit_test(all_else_divides_them),  cmocka_unit_test(reasons_of_any_length),
        cmocka_unit_test(buckets_of_a_run),       cmocka_unit_test(verdicts_have_words),
        cmocka_unit_test(numbers_for_people),     cmocka_unit_test(shown_text_is_harmless),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
