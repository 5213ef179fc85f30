/* SPDX-License-Identifier: Apache-2.0 */
/** @file test_expect_update.c What becomes of a file of expectations by a run: kept, cut down, dropped, added. */
#include <unistd.h>

#include "base/json.h"
#include "harness/journal/expect/expect.h"
#include "tests/kit/report.h"

#define HEADER                                                                                                         \
    "{\"nnvts\":\"1\",\"format\":\"nnvts-journal/1\",\"driver\":{\"argument\":\"cpu\",\"name\":\"cpu\",\"version\":"   \
    "\"1.0\",\"level\":7},\"cases\":17,\"start\":\"2026-06-15T09:26:53Z\"}\n"
#define RECORD(name, members) "{\"case\":\"s/" name "\"," members "}\n"
#define FAIL "\"verdict\":\"FAIL\",\"reason\":\"r\""
#define PASS "\"verdict\":\"PASS\""

static const char *const ops[] = {"ADD", "ADD", "MUL", "MUL", "NEG", "SUB", "SUB", "DIV", "DIV",
                                  "EXP", "EXP", "POW", "LOG", "NEG", "ABS", "SUB", "EXP"};
static const char records[] = RECORD("a", FAIL) RECORD("b", FAIL) RECORD("c", FAIL) RECORD("d", PASS) RECORD("e", PASS)
    RECORD("f", FAIL ",\"repeats\":{\"runs\":2,\"bad\":1}") RECORD("g", FAIL ",\"repeats\":{\"runs\":1,\"bad\":1}")
        RECORD("h", FAIL) RECORD("i", FAIL) RECORD("j", "\"verdict\":\"ERROR\",\"reason\":\"r\"") RECORD("l", FAIL)
            RECORD("m", FAIL) RECORD("n", PASS) RECORD("o", "\"verdict\":\"CRASH\"") RECORD("p", FAIL)
                RECORD("q", PASS);
static const char flakes[] = "{\"format\":\"nnvts-flakes/1\",\"cases\":[{\"case\":\"s/"
                             "g\",\"class\":\"flaky\",\"alone\":{\"runs\":60,\"bad\":3}},"
                             "{\"case\":\"s/p\",\"class\":\"unknown\"}]}";
static const char known[] = "{\"format\":\"nnvts-expectations/1\",\"expectations\":["
                            "{\"cases\":[\"s/a\",\"s/b\"],\"owner\":\"whole\"},"
                            "{\"cases\":[\"s/c\",\"s/d\"],\"owner\":\"cut\"},"
                            "{\"cases\":\"s/e\",\"owner\":\"repaired\"},"
                            "{\"cases\":\"s/e\",\"owner\":\"may pass\",\"max_rate\":0.5},"
                            "{\"cases\":\"s/k\",\"owner\":\"not run\"},"
                            "{\"cases\":\"s/l*\",\"owner\":\"another's\",\"when\":{\"driver\":\"npu\"}},"
                            "{\"cases\":\"s/m\",\"owner\":\"expired\",\"expires\":\"2026-06-14\"},"
                            "{\"cases\":\"s/n\",\"owner\":\"may pass\",\"verdict\":[\"FAIL\",\"PASS\"]},"
                            "{\"cases\":\"s/o\",\"owner\":\"of FAIL\"},"
                            "{\"cases\":[\"s/b\",\"s/c\"],\"owner\":\"told before\"},"
                            "{\"cases\":\"s/q\",\"owner\":\"expired and repaired\",\"expires\":\"2026-06-14\"}]}";

static struct fx fx;

static int begin(void **state) {
    (void)state;
    struct nnv_text list = {0}, journal = {0};
    for (int i = 0; i < 17; i++) nnv_text_addf(&list, "s/%c\ts\t%s\tfloat32\t\n", 'a' + i, ops[i]);
    nnv_text_addf(&journal, "%s%s", HEADER, records);
    fx = fx_new();
    fx_put(&fx, "cases.tsv", list.data, list.len);
    fx_put(&fx, "journal.jsonl", journal.data, journal.len);
    fx_put(&fx, "flakes.json", flakes, strlen(flakes));
    nnv_text_free(&list);
    nnv_text_free(&journal);
    return 0;
}

static int end(void **state) {
    (void)state;
    unlink(fx_path(&fx, "flakes.json"));
    unlink(fx_path(&fx, "known.json"));
    fx_remove(&fx);
    return 0;
}

/** Updates known.json and reads it: "CASES VERDICTS RATE OWNER\n" of each entry, malloc'ed; VERDICTS by first letters.
 */
static char *update(struct nnv_expect_updated *updated) {
    struct nnv_expectations x = {0};
    struct nnv_err err = {0};
    struct nnv_text t = {0};
    if (nnv_expect_update(fx.folder, fx_path(&fx, "known.json"), updated, &err) != NNV_OK) fail_msg("%s", err.text);
    if (nnv_expect_read(fx_path(&fx, "known.json"), &x, &err) != NNV_OK) fail_msg("%s", err.text);
    for (size_t i = 0; i < x.count; i++) {
        const struct nnv_expected *e = &x.item[i];
        for (size_t k = 0; k < e->case_count; k++) nnv_text_addf(&t, "%s%s", k ? "," : "", e->cases[k]);
        nnv_text_addf(&t, " %s%s%s", e->verdicts >> NNVTS_PASS & 1 ? "P" : "", e->verdicts >> NNVTS_FAIL & 1 ? "F" : "",
                      e->verdicts >> NNVTS_CRASH & 1 ? "C" : "");
        if (!isnan(e->max_rate)) nnv_text_addf(&t, " %g", e->max_rate);
        nnv_text_addf(&t, "%s%s\n", *e->owner ? " " : "", e->owner);
    }
    nnv_expect_free(&x);
    return t.data;
}

/* 1 of 2 runs leaves rates up to 98.7 % possible, 3 of 60 up to 13.9 %, and none any: in whole hundredths. */
#define FLAKY "s/f F 0.99\ns/g F 0.14\n"

static void a_new_file(void **state) {
    (void)state;
    struct nnv_expect_updated u;
    unlink(fx_path(&fx, "known.json"));
    char *text = update(&u);
    assert_string_equal(text, "s/a,s/b F\ns/c F\n" FLAKY "s/h,s/i F\ns/l F\ns/m F\ns/o C\ns/p F 1\n");
    free(text);
    assert_int_equal(u.kept, 0);
    assert_int_equal(u.dropped, 0);
    assert_int_equal(u.added, 9);
    assert_int_equal(u.expired, 0);
}

/* What stands there already stays with what people wrote, as far as it is still so; what is of another driver says
 * nothing of this run, whose failures are added. */
static void an_old_file(void **state) {
    (void)state;
    static const char all[] =
        "s/a,s/b F whole\ns/c F cut\ns/e F 0.5 may pass\n" FLAKY "s/h,s/i F\ns/k F not run\ns/l F\n"
        "s/l* F another's\ns/m F expired\ns/n PF may pass\ns/o C\ns/p F 1\n";
    struct nnv_expect_updated u;
    fx_put(&fx, "known.json", known, strlen(known));
    char *text = update(&u);
    assert_string_equal(text, all);
    free(text);
    assert_int_equal(u.kept, 7);
    assert_int_equal(u.dropped, 4);
    assert_int_equal(u.added, 6);
    assert_int_equal(u.expired, 1);
    /* once more: nothing changes */
    size_t before, after;
    char *first = fx_get(&fx, "known.json", &before);
    text = update(&u);
    assert_string_equal(text, all);
    free(text);
    char *second = fx_get(&fx, "known.json", &after);
    assert_string_equal(first, second);
    free(first);
    free(second);
    assert_int_equal(u.kept, 13);
    assert_int_equal(u.dropped, 0);
    assert_int_equal(u.added, 0);
}

static void what_cannot_be_read(void **state) {
    (void)state;
    struct nnv_expect_updated u;
    struct nnv_err err = {0};
    fx_put(&fx, "known.json", "{}", 2);
    assert_int_equal(nnv_expect_update(fx.folder, fx_path(&fx, "known.json"), &u, &err), NNV_INVALID);
    char *text = fx_get(&fx, "known.json", NULL);
    assert_string_equal(text, "{}"); /* it is left alone */
    free(text);
    unlink(fx_path(&fx, "known.json"));
    assert_int_equal(nnv_expect_update("/nowhere", fx_path(&fx, "known.json"), &u, &err), NNV_INVALID);
    assert_int_not_equal(access(fx_path(&fx, "known.json"), F_OK), 0);
}

static bool knows(bool operations, bool suites, nnv_select_see *see, void *context) {
    (void)operations, (void)suites, (void)see, (void)context;
    return true;
}

/** Every case that an entry is about has its outcome, the first and the last one, too. */
static void judged_anew(void **state) {
    (void)state;
    struct nnv_expectations x = {0};
    struct nnv_err err = {0};
    fx_put(&fx, "known.json", known, sizeof known - 1);
    assert_int_equal(nnv_expect_read(fx_path(&fx, "known.json"), &x, &err), NNV_OK);
    if (nnv_expect_anew(fx.folder, &x, knows, &err) != NNV_OK) fail_msg("%s", err.text);
    json_t *written = json_load_file(fx_path(&fx, "outcomes.json"), 0, NULL);
    const json_t *cases = json_object_get(written, "cases");
    static const char *const outcomes[][2] = {{"s/a", "XFAIL"}, {"s/b", "XFAIL"}, {"s/d", "XPASS"}, {"s/q", NULL}};
    for (size_t i = 0; i < sizeof outcomes / sizeof *outcomes; i++) {
        const char *is = nnv_json_text(json_object_get(cases, outcomes[i][0]), "outcome", "none");
        assert_string_equal(is, outcomes[i][1] ? outcomes[i][1] : "none");
    }
    assert_true(json_is_false(json_object_get(json_object_get(written, "expected"), "strict")));
    json_decref(written);
    nnv_expect_free(&x);
    unlink(fx_path(&fx, "outcomes.json"));
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_new_file), cmocka_unit_test(an_old_file),
                                       cmocka_unit_test(judged_anew), cmocka_unit_test(what_cannot_be_read)};
    return cmocka_run_group_tests(tests, begin, end);
}
