/* SPDX-License-Identifier: Apache-2.0 */
/* Expectations: what they say, which cases they mean, and what becomes of a verdict. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "harness/journal/expect/expect.h"
#include "harness/journal/expect/outcome.h"
#include "harness/runner/run.h"

#define FILE_OF(entries) "{\"format\":\"nnvts-expectations/1\",\n\"expectations\":[\n" entries "\n]}"

static const struct nnv_case cases[] = {
    {.name = "ops/ADD/float32/0", .suite = "ops", .op = "ADD", .type = "float32", .tags = ""},
    {.name = "ops/ADD/float32/1", .suite = "ops", .op = "ADD", .type = "float32", .tags = "edge"},
    {.name = "ops/MUL/quant8_asymm/0", .suite = "ops", .op = "MUL", .type = "quant8_asymm", .tags = ""},
    {.name = "exec/plain", .suite = "exec", .op = "", .type = "", .tags = ""},
};
enum { CASES = sizeof cases / sizeof *cases };

static const struct nnv_case_list all = {.item = (struct nnv_case *)cases, .count = CASES};

/** The expectations of the text, counted, bound, and applied to driver "npu" 2.1 of level 6 on 2026-06-15. */
static struct nnv_expectations read_text(const char *text) {
    struct nnv_expectations x = {0};
    struct nnv_err err = {0};
    if (nnv_expect_parse("k.json", text, strlen(text), &x, &err) != NNV_OK) fail_msg("%s", err.text);
    assert_int_equal(nnv_expect_count(&x, &all, nnv_known_names, &err), NNV_OK);
    assert_int_equal(nnv_expect_bind(&x, cases, CASES, &err), NNV_OK);
    nnv_expect_apply(&x, "./npu.so", "npu", "2.1", 6, "2026-06-15");
    return x;
}

static const uint32_t once[NNVTS_VERDICT_COUNT] = {0};

/* A run whose cases are all filtered away has expectations, too. */
static void no_cases(void **state) {
    (void)state;
    static const char text[] = FILE_OF("{\"cases\":\"ops/*\"}");
    struct nnv_expectations x = {0};
    struct nnv_err err = {0};
    if (nnv_expect_parse("k.json", text, strlen(text), &x, &err) != NNV_OK) fail_msg("%s", err.text);
    assert_int_equal(nnv_expect_bind(&x, cases, 0, &err), NNV_OK);
    assert_int_equal(x.links, 0);
    nnv_expect_free(&x);
}

static enum nnvts_outcome judge(const struct nnv_expectations *x, size_t i, enum nnvts_verdict v, const char *reason) {
    uint32_t entry = 99;
    const enum nnvts_outcome o = nnv_expect_judge(x, i, v, reason, strlen(reason), once, &entry);
    assert_true((o == NNVTS_OUTCOME_NONE) == (entry == 99) || entry < x->count);
    return o;
}

static void verdicts(void **state) {
    (void)state;
    struct nnv_expectations x = read_text(FILE_OF("{\"cases\":\"ops/ADD/*\",\"message\":\"wrong; * at [0\"},\n"
                                                  "{\"cases\":[\"op:MUL\",\"exec/plain\"],\"verdict\":[\"CRASH\","
                                                  "\"PASS\"]}"));
    assert_int_equal(x.count, 2);
    assert_string_equal(x.item[0].at, "k.json:3");
    assert_string_equal(x.item[1].at, "k.json:4");
    assert_int_equal(judge(&x, 0, NNVTS_FAIL, "3 wrong; worst at [0,1]"), NNVTS_OUTCOME_XFAIL);
    assert_int_equal(judge(&x, 1, NNVTS_FAIL, "3 wrong; worst at [0,1]\nmore"), NNVTS_OUTCOME_XFAIL);
    assert_int_equal(judge(&x, 0, NNVTS_FAIL, "3 wrong; worst at [1,0]"), NNVTS_OUTCOME_NONE);
    assert_int_equal(judge(&x, 0, NNVTS_CRASH, "3 wrong; worst at [0,1]"), NNVTS_OUTCOME_NONE);
    assert_int_equal(judge(&x, 0, NNVTS_ERROR, "3 wrong; worst at [0,1]"), NNVTS_OUTCOME_NONE);
    assert_int_equal(judge(&x, 0, NNVTS_PASS, ""), NNVTS_OUTCOME_XPASS);
    assert_int_equal(judge(&x, 0, NNVTS_UNSUPPORTED, ""), NNVTS_OUTCOME_XPASS);
    assert_int_equal(judge(&x, 0, NNVTS_SKIP, ""), NNVTS_OUTCOME_NONE);
    assert_int_equal(judge(&x, 2, NNVTS_CRASH, ""), NNVTS_OUTCOME_XFAIL);
    assert_int_equal(judge(&x, 3, NNVTS_CRASH, ""), NNVTS_OUTCOME_XFAIL);
    assert_int_equal(judge(&x, 2, NNVTS_PASS, ""), NNVTS_OUTCOME_NONE);
    nnv_expect_free(&x);
}

/** An entry that covers wins over one that does not; the number told is that of the one that covers. */
static void the_first_that_covers(void **state) {
    (void)state;
    struct nnv_expectations x = read_text(FILE_OF("{\"cases\":\"*\",\"verdict\":\"TIMEOUT\"},\n"
                                                  "{\"cases\":\"tag:edge\",\"verdict\":\"FAIL\"}"));
    uint32_t entry = 99;
    assert_int_equal(nnv_expect_judge(&x, 1, NNVTS_FAIL, "", 0, once, &entry), NNVTS_OUTCOME_XFAIL);
    assert_int_equal(entry, 1);
    assert_int_equal(nnv_expect_judge(&x, 0, NNVTS_FAIL, "", 0, once, &entry), NNVTS_OUTCOME_NONE);
    assert_int_equal(nnv_expect_judge(&x, 1, NNVTS_TIMEOUT, "", 0, once, &entry), NNVTS_OUTCOME_XFAIL);
    assert_int_equal(entry, 0);
    nnv_expect_free(&x);
}

static void states(void **state) {
    (void)state;
    static const struct {
        const char *entry;
        enum nnv_expected_state state;
        size_t matches;
    } row[] = {
        {"{\"cases\":\"op:ADD\"}", NNV_EXPECTED_ACTIVE, 2},
        {"{\"cases\":\"op:ADD\",\"expires\":\"2026-06-15\"}", NNV_EXPECTED_ACTIVE, 2},
        {"{\"cases\":\"op:ADD\",\"expires\":\"2026-06-14\"}", NNV_EXPECTED_EXPIRED, 2},
        {"{\"cases\":\"ops/ADD/float32/1\"}", NNV_EXPECTED_ACTIVE, 1},
        {"{\"cases\":\"ops/ADD/float32/7\"}", NNV_EXPECTED_UNMATCHED, 0},
        {"{\"cases\":\"op:NO_SUCH\"}", NNV_EXPECTED_UNMATCHED, 0},
        {"{\"cases\":\"op:ADD\",\"when\":{\"type\":\"quant*\"}}", NNV_EXPECTED_UNMATCHED, 0},
        {"{\"cases\":\"validate/x\"}", NNV_EXPECTED_INAPPLICABLE, 0},
        {"{\"cases\":\"validat/x\"}", NNV_EXPECTED_UNMATCHED, 0},
        {"{\"cases\":\"op:ADD\",\"when\":{\"driver\":\"npu\"}}", NNV_EXPECTED_ACTIVE, 2},
        {"{\"cases\":\"op:ADD\",\"when\":{\"driver\":\"./n*\"}}", NNV_EXPECTED_ACTIVE, 2},
        {"{\"cases\":\"op:ADD\",\"when\":{\"driver\":\"cpu\"}}", NNV_EXPECTED_INAPPLICABLE, 2},
        {"{\"cases\":\"op:ADD\",\"when\":{\"version\":\">=2.1 <2.2\"}}", NNV_EXPECTED_ACTIVE, 2},
        {"{\"cases\":\"op:ADD\",\"when\":{\"version\":\"<2.1\"}}", NNV_EXPECTED_INAPPLICABLE, 2},
        {"{\"cases\":\"op:ADD\",\"when\":{\"level\":\"6\"}}", NNV_EXPECTED_ACTIVE, 2},
        {"{\"cases\":\"op:ADD\",\"when\":{\"level\":\">6\"}}", NNV_EXPECTED_INAPPLICABLE, 2},
    };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        char text[512];
        snprintf(text, sizeof text, FILE_OF("%s"), row[i].entry);
        struct nnv_expectations x = read_text(text);
        if (x.item[0].state != row[i].state) fail_msg("%s: %s", row[i].entry, nnv_expect_state_name(x.item[0].state));
        assert_int_equal(x.item[0].matches, row[i].matches);
        const bool active = row[i].state == NNV_EXPECTED_ACTIVE;
        assert_int_equal(judge(&x, 1, NNVTS_FAIL, ""), active ? NNVTS_OUTCOME_XFAIL : NNVTS_OUTCOME_NONE);
        nnv_expect_free(&x);
    }
}

static void versions(void **state) {
    (void)state;
    static const struct {
        const char *version, *range;
        bool within;
    } row[] = {
        {"2.1", "", true},         {"2.1", "2.1", true},
        {"2.1", "=2.1.0", true},   {"2.1", "2.1.1", false},
        {"2.10", ">2.9", true},    {"2.10", "<2.9", false},
        {"2.1", ">=2.1", true},    {"2.1", ">2.1", false},
        {"2.1", "<=2.1", true},    {"2.1", ">=1, <3", true},
        {"3.0", ">=1, <3", false}, {"1.0b2", ">1.0b1", true},
        {"1.0b2", "<1.0c", true},  {"10", ">9", true},
        {"", ">=0", true},         {"99999999999999999999", ">1", true},
    };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++)
        if (nnv_version_within(row[i].version, row[i].range) != row[i].within)
            fail_msg("%s in %s", row[i].version, row[i].range);
    assert_null(nnv_version_bad(">=1 <2"));
    assert_null(nnv_version_bad(""));
    assert_string_equal(nnv_version_bad(">=1 ~2"), "~2");
    assert_string_equal(nnv_version_bad("<"), "<");
}

static void days(void **state) {
    (void)state;
    static const char *const good[] = {"2026-01-31", "2024-02-29", "2000-02-29",
                                       "9999-12-31", "2026-02-28", "2026-03-29"};
    static const char *const bad[] = {"",           "2026",       "2026-02-29", "1900-02-29",  "2026-00-10",
                                      "2026-13-01", "2026-04-31", "2026-1-1",   "2026-01-011", "26-01-01"};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) assert_true(nnv_is_day(good[i]));
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) assert_false(nnv_is_day(bad[i]));
}

/** 3 of 60: 95 % of the time the rate is above 1.3 % (exact binomial: P(X >= 3; 60, 0.0138) = 0.05). */
static void rates(void **state) {
    (void)state;
    struct nnv_expectations x = read_text(FILE_OF("{\"cases\":\"op:ADD\",\"max_rate\":0.05}"));
    uint32_t counts[NNVTS_VERDICT_COUNT] = {[NNVTS_PASS] = 57, [NNVTS_FAIL] = 3}, entry;
    assert_int_equal(nnv_expect_judge(&x, 0, NNVTS_FAIL, "", 0, counts, &entry), NNVTS_OUTCOME_XFAIL);
    counts[NNVTS_FAIL] = 12; /* of 69, 10.4 % at the least */
    assert_int_equal(nnv_expect_judge(&x, 0, NNVTS_FAIL, "", 0, counts, &entry), NNVTS_OUTCOME_NONE);
    assert_int_equal(judge(&x, 0, NNVTS_FAIL, ""), NNVTS_OUTCOME_XFAIL);
    assert_int_equal(judge(&x, 0, NNVTS_PASS, ""), NNVTS_OUTCOME_NONE);
    assert_false(nnv_rate_exceeds(3, 60, 0.0138));
    assert_true(nnv_rate_exceeds(3, 60, 0.0136));
    assert_false(nnv_rate_exceeds(0, 0, 0.5));
    nnv_expect_free(&x);
    x = read_text(FILE_OF("{\"cases\":\"op:ADD\",\"max_rate\":0.01}")); /* one run tells no rate, two do */
    for (uint32_t bad = 1; bad <= 2; bad++) {
        const uint32_t failed[NNVTS_VERDICT_COUNT] = {[NNVTS_FAIL] = bad};
        assert_int_equal(nnv_expect_judge(&x, 0, NNVTS_FAIL, "", 0, failed, &entry),
                         bad == 1 ? NNVTS_OUTCOME_XFAIL : NNVTS_OUTCOME_NONE);
    }
    nnv_expect_free(&x);
}

/** What is written is read back as the same. */
static void written_and_read(void **state) {
    (void)state;
    struct nnv_expectations x = read_text(
        FILE_OF("{\"cases\":[\"ops/ADD/float32/0\",\"op:MUL & !tag:edge\"],\"verdict\":[\"FAIL\",\"CRASH\"],"
                "\"message\":\"a \\\"b\\\"\",\"reason\":\"r\",\"owner\":\"o\",\"link\":\"l\",\"expires\":"
                "\"2030-01-01\",\"when\":{\"driver\":\"d\",\"version\":\">1\",\"level\":\"<9\",\"op\":\"A*\",\"type\":"
                "\"f*\"},\"max_rate\":0.25},\n{\"cases\":\"exec/plain\"}"));
    const struct nnv_expected *entry[] = {&x.item[0], &x.item[1]};
    struct nnv_text t = {0}, again = {0};
    char hash[17], same[17];
    nnv_expect_write_file(entry, 2, &t);
    struct nnv_expectations y = read_text(t.data);
    assert_int_equal(y.item[1].verdicts, 1u << NNVTS_FAIL);
    entry[0] = &y.item[0];
    entry[1] = &y.item[1];
    nnv_expect_write_file(entry, 2, &again);
    assert_string_equal(t.data, again.data);
    nnv_expect_hash(&x, hash);
    nnv_expect_hash(&y, same);
    assert_string_equal(hash, same);
    y.strict = true;
    nnv_expect_hash(&y, same);
    assert_string_not_equal(hash, same);
    nnv_expect_free(&x);
    nnv_expect_free(&y);
    nnv_text_free(&t);
    nnv_text_free(&again);
}

/** What cannot be an expectation is refused with its line, and with what would be right. */
static void refusals(void **state) {
    (void)state;
    static const struct {
        const char *entry, *words;
    } row[] = {
        {"{\"casse\":\"a/b\"}", "unknown member \"casse\" (did you mean \"cases\"?)"},
        {"{\"cases\":\"a/b\",\"qqqqqqq\":1}", "unknown member \"qqqqqqq\" (known: cases, verdict, message, reason, "
                                              "owner, link, expires, when, max_rate)"},
        {"{\"verdict\":\"FAIL\"}", "\"cases\" is to be a name, glob or selection of cases, or an array of them "
                                   "(\"ops/ADD/float32/*\")"},
        {"{\"cases\":[]}", "\"cases\" is to be a name, glob or selection of cases, or an array of them "
                           "(\"ops/ADD/float32/*\")"},
        {"{\"cases\":[\"a/b\",7]}", "\"cases\" holds something that is not a text"},
        {"{\"cases\":[\"a/b\",\"op:ADD &\"]}",
         "\"cases\": selection 'op:ADD &': column 9: expected a term, found the end"},
        {"{\"cases\":\"a/b\",\"verdict\":7}", "\"verdict\" is to be a text such as \"FAIL\", or an array of them"},
        {"{\"cases\":\"a/b\",\"verdict\":[]}", "\"verdict\" is to be a text such as \"FAIL\", or an array of them"},
        {"{\"cases\":\"a/b\",\"verdict\":[\"FAIL\",7]}", "\"verdict\" holds something that is not a text"},
        {"{\"cases\":\"a/b\",\"verdict\":\"FIAL\"}",
         "\"verdict\": \"FIAL\" is to be FAIL, CRASH, TIMEOUT, UNTRUSTED or PASS (did you mean FAIL?)"},
        {"{\"cases\":\"a/b\",\"verdict\":\"qqqqqqqqqqq\"}",
         "\"verdict\": \"qqqqqqqqqqq\" is to be FAIL, CRASH, TIMEOUT, UNTRUSTED or PASS"},
        {"{\"cases\":\"a/b\",\"verdict\":\"ERROR\"}",
         "\"verdict\": ERROR is a failure of nnvts itself, which nobody should expect of a driver"},
        {"{\"cases\":\"a/b\",\"verdict\":\"PASS\"}",
         "\"verdict\": PASS alone says nothing; what may it be besides (\"FAIL\")?"},
        {"{\"cases\":\"a/b\",\"message\":7}", "\"message\" is to be a text"},
        {"{\"cases\":\"a/b\",\"reason\":7}", "\"reason\" is to be a text"},
        {"{\"cases\":\"a/b\",\"owner\":7}", "\"owner\" is to be a text"},
        {"{\"cases\":\"a/b\",\"link\":7}", "\"link\" is to be a text"},
        {"{\"cases\":\"a/b\",\"expires\":7}", "\"expires\" is to be a text"},
        {"{\"cases\":\"a/b\",\"expires\":\"2027-02-29\"}",
         "\"expires\": '2027-02-29' is to be a day, the last on which it holds (\"2027-03-31\")"},
        {"{\"cases\":\"a/b\",\"when\":\"x\"}",
         "\"when\" is to be an object ({\"driver\": \"npu*\", \"version\": \"<2.1\"})"},
        {"{\"cases\":\"a/b\",\"when\":{\"drivr\":\"x\"}}", "unknown member \"drivr\" (did you mean \"driver\"?)"},
        {"{\"cases\":\"a/b\",\"when\":{\"op\":7}}", "\"op\" is to be a text"},
        {"{\"cases\":\"a/b\",\"when\":{\"version\":\">=2 ~3\"}}",
         "\"version\": '~3' is to be < <= > >= or = with a number (\">=2.0 <3\")"},
        {"{\"cases\":\"a/b\",\"when\":{\"level\":\"~3\"}}",
         "\"level\": '~3' is to be < <= > >= or = with a number (\">=2.0 <3\")"},
        {"{\"cases\":\"a/b\",\"max_rate\":0}",
         "\"max_rate\" is to be a number above 0 and up to 1 (0.05: fails at most once in 20 runs)"},
        {"{\"cases\":\"a/b\",\"max_rate\":1.01}",
         "\"max_rate\" is to be a number above 0 and up to 1 (0.05: fails at most once in 20 runs)"},
        {"{\"cases\":\"a/b\",\"max_rate\":\"1\"}",
         "\"max_rate\" is to be a number above 0 and up to 1 (0.05: fails at most once in 20 runs)"},
        {"7", NULL}, /* told with its number, for it has no line of its own */
    };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        char text[512], expected[512];
        struct nnv_expectations x = {0};
        struct nnv_err err = {0};
        snprintf(text, sizeof text, FILE_OF("{\"cases\":\"a/b\",\"max_rate\":1},\n%s"), row[i].entry);
        snprintf(expected, sizeof expected, "k.json:4: %s", row[i].words ? row[i].words : "");
        if (!row[i].words)
            snprintf(expected, sizeof expected, "k.json:3: expectation 2 of the file is to be an object");
        assert_int_equal(nnv_expect_parse("k.json", text, strlen(text), &x, &err), NNV_INVALID);
        assert_string_equal(err.text, expected);
        nnv_expect_free(&x);
    }
}

/** Any file that is cut or changed in one byte is read, or refused with its name. */
static void damaged_files(void **state) {
    (void)state;
    static const char text[] = FILE_OF("{\"cases\":\"op:ADD\",\"verdict\":\"FAIL\",\"expires\":\"2030-01-01\"},\n"
                                       "{\"cases\":[\"a/b\"],\"when\":{\"level\":\"<9\"},\"max_rate\":0.5}");
    char copy[sizeof text];
    for (size_t i = 0; i < sizeof text - 1; i++) {
        for (int change = 0; change < 4; change++) {
            struct nnv_expectations x = {0};
            struct nnv_err err = {0};
            memcpy(copy, text, sizeof text);
            if (change > 0) copy[i] = "\"{7"[change - 1];
            const enum nnv_status st = nnv_expect_parse("k.json", copy, change ? sizeof text - 1 : i, &x, &err);
            if (st != NNV_OK) assert_ptr_equal(strstr(err.text, "k.json:"), err.text);
            nnv_expect_free(&x);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_cases),      cmocka_unit_test(verdicts),         cmocka_unit_test(the_first_that_covers),
        cmocka_unit_test(states),        cmocka_unit_test(versions),         cmocka_unit_test(days),
        cmocka_unit_test(rates),         cmocka_unit_test(written_and_read), cmocka_unit_test(refusals),
        cmocka_unit_test(damaged_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
