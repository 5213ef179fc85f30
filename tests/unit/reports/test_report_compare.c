/* SPDX-License-Identifier: Apache-2.0 */
/* Two runs side by side, runs in order of time, and what changed since a baseline. */
#include <unistd.h>

#include "tests/kit/report.h"

#include <math.h>

#include "base/rng.h"
#include "reports/compare/compare.h"
#include "reports/compare/trend.h"

/** A run of that seed and start. */
static struct fx make(const char *cases, const char *records, int seed, const char *start) {
    struct fx f = fx_new();
    struct nnv_text t = {0};
    int n = 0;
    for (const char *p = cases; *p != '\0'; p++) n += *p == '\n';
    nnv_text_addf(
        &t,
        "{\"nnvts\":\"1.0.0\",\"format\":\"nnvts-journal/1\",\"driver\":{\"argument\":\"cpu\",\"version\":\"%d\"},"
        "\"seed\":%d,\"jobs\":1,\"precision\":\"default\",\"tier\":\"smoke\",\"start\":\"%s\",\"cases\":%d}\n",
        seed, seed, start, n);
    nnv_text_add(&t, records);
    fx_put(&f, "cases.tsv", cases, strlen(cases));
    fx_put(&f, "journal.jsonl", t.data, t.len);
    nnv_text_free(&t);
    return f;
}

static json_t *compare(const struct fx *a, const struct fx *b) {
    struct nnv_err err = {0};
    json_t *j = NULL;
    if (nnv_compare(a->folder, b->folder, &j, &err) != NNV_OK) fail_msg("%s", err.text);
    return j;
}

/** "name " of each entry of a list. */
static void has_list(const json_t *j, const char *member, const char *expected) {
    struct nnv_text t = {0};
    size_t i;
    const json_t *c;
    nnv_text_add(&t, "");
    json_array_foreach(json_object_get(j, member), i, c) nnv_text_addf(&t, "%s ", nnv_json_text(c, "case", "?"));
    if (strcmp(t.data != NULL ? t.data : "", expected) != 0) fail_msg("%s: '%s', not '%s'", member, t.data, expected);
    assert_int_equal(nnv_json_count(json_object_get(j, "counts"), member), i);
    nnv_text_free(&t);
}

static double value(const json_t *j, const char *member) {
    double v;
    return nnv_json_number(json_object_get(j, member), &v) ? v : (double)NAN;
}

static void near(double got, double want) {
    if (!(fabs(got - want) <= 1e-9 * fabs(want) + 1e-12)) fail_msg("%.17g is not %.17g", got, want);
}

static json_t *op_of(const json_t *part, const char *op) {
    size_t i;
    json_t *j;
    json_array_foreach(json_object_get(part, "operations"), i,
                       j) if (strcmp(nnv_json_text(j, "op", ""), op) == 0) return j;
    return NULL;
}

#define R(name, verdict, reason)                                                                                       \
    "{\"case\":\"" name "\",\"suite\":\"ops\",\"op\":\"ADD\",\"verdict\":\"" verdict "\",\"reason\":\"" reason "\"}\n"
#define L(name) name "\tops\tADD\tfloat32\t\n"

static void every_change(void **state) {
    (void)state;
    struct fx a = make(L("crash") L("fixed") L("gained") L("gone") L("lost") L("new") L("numbers") L("other") L("same")
                           L("stopped") L("unasked"),
                       R("same", "PASS", "") R("new", "PASS", "") R("fixed", "FAIL", "x") R("lost", "PASS", "")
                           R("gained", "UNSUPPORTED", "no") R("gone", "PASS", "") R("stopped", "PASS", "")
                               R("crash", "FAIL", "x") R("other", "FAIL", "3 of 4 wrong")
                                   R("numbers", "FAIL", "got -1.5e-07, not 3") R("unasked", "SKIP", "no"),
                       1, "2026-01-01T00:00:00Z");
    struct fx b = make(L("added") L("crash") L("fixed") L("gained") L("lost") L("new") L("newborn") L("numbers")
                           L("other") L("same") L("stopped") L("unasked"),
                       R("same", "PASS", "") R("new", "TIMEOUT", "late") R("fixed", "PASS", "")
                           R("lost", "UNSUPPORTED", "not any more") R("gained", "PASS", "") R("crash", "CRASH", "x")
                               R("other", "FAIL", "nothing written") R("numbers", "FAIL", "got 22, not -3.25")
                                   R("unasked", "SKIP", "other words") R("added", "PASS", "") R("newborn", "FAIL", "y"),
                       1, "2026-01-02T00:00:00Z");
    json_t *j = compare(&a, &b);
    has_list(j, "new_failures", "new newborn ");
    has_list(j, "fixed", "fixed ");
    has_list(j, "lost", "lost stopped ");
    has_list(j, "gained", "gained ");
    has_list(j, "changed", "crash other ");
    has_list(j, "added", "added ");
    has_list(j, "removed", "gone ");
    assert_int_equal(nnv_json_count(json_object_get(j, "counts"), "same"), 3);
    assert_true(nnv_compare_worse(j));
    assert_int_equal(json_array_size(json_object_get(j, "differ")), 0);
    struct nnv_text t = {0};
    nnv_compare_sentence(&t, j);
    assert_string_equal(t.data, "2 new failures, 2 no longer answered, 2 fail otherwise, 1 fixed, 1 newly answered, "
                                "1 case only in A, 1 case only in B");
    nnv_text_free(&t);
    json_decref(j);
    j = compare(&a, &a);
    assert_false(nnv_compare_worse(j));
    nnv_compare_sentence(&t, j);
    assert_string_equal(t.data, "no verdict changed");
    nnv_text_free(&t);
    json_decref(j);
    fx_remove(&a);
    fx_remove(&b);
}

/** More cases than a table begins with: each is found under its name. */
static void many_cases(void **state) {
    enum { CASES = 5000, WRONG = 4321 };
    struct nnv_text cases = {0}, good = {0}, bad = {0};
    (void)state;
    for (int i = 0; i < CASES; i++) {
        static const char record[] = "{\"case\":\"c%04d\",\"suite\":\"ops\",\"op\":\"ADD\",\"verdict\":\"%s\"}\n";
        nnv_text_addf(&cases, "c%04d\tops\tADD\tfloat32\t\n", i);
        nnv_text_addf(&good, record, i, "PASS");
        nnv_text_addf(&bad, record, i, i == WRONG ? "FAIL" : "PASS");
    }
    struct fx a = make(cases.data, good.data, 1, "2026-01-01T00:00:00Z");
    struct fx b = make(cases.data, bad.data, 1, "2026-01-02T00:00:00Z");
    json_t *j = compare(&a, &b);
    has_list(j, "new_failures", "c4321 ");
    assert_int_equal(nnv_json_count(json_object_get(j, "counts"), "same"), CASES - 1);
    json_decref(j);
    fx_remove(&a);
    fx_remove(&b);
    nnv_text_free(&cases);
    nnv_text_free(&good);
    nnv_text_free(&bad);
}

/** Worse is: fails, or was not run. Not: is said to be unsupported, fails as expected, is fixed. */
static void what_is_worse(void **state) {
    (void)state;
    static const struct {
        const char *a, *b;
        bool worse;
    } rows[] = {
        {R("x", "PASS", ""), R("x", "FAIL", "y"), true},
        {R("x", "PASS", ""), "", true},
        {R("x", "PASS", ""), R("x", "UNSUPPORTED", "y"), false},
        {R("x", "FAIL", "y"), R("x", "PASS", ""), false},
        {R("x", "FAIL", "y"), R("x", "CRASH", "y"), false},
        {"", R("x", "FAIL", "y"), true},
        {R("x", "SKIP", "y"), R("x", "ERROR", "y"), true},
        {R("x", "PASS", ""), "{\"case\":\"x\",\"verdict\":\"FAIL\",\"outcome\":\"XFAIL\"}\n", false},
        {"", "", false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct fx a = make(L("x"), rows[i].a, 1, "2026-01-01T00:00:00Z"),
                  b = make(L("x"), rows[i].b, 1, "2026-01-02T00:00:00Z");
        json_t *j = compare(&a, &b);
        if (nnv_compare_worse(j) != rows[i].worse) fail_msg("row %zu", i);
        json_decref(j);
        fx_remove(&a);
        fx_remove(&b);
    }
}

static void runs_that_are_not_alike_say_so(void **state) {
    (void)state;
    struct fx a = make("", "", 1, "2026-01-01T00:00:00Z"), b = make("", "", 2, "2026-01-02T00:00:00Z");
    json_t *j = compare(&a, &b);
    char *differ = json_dumps(json_object_get(j, "differ"), JSON_COMPACT);
    assert_string_equal(differ, "[\"version\",\"seed\"]");
    free(differ);
    json_decref(j);
    fx_remove(&a);
    fx_remove(&b);
}

/** n cases of an operation that take so long, times what `noise` makes of it. */
static void add_times(struct nnv_text *cases, struct nnv_text *records, const char *op, int n, double us, double noise,
                      uint64_t seed) {
    struct nnv_rng rng = nnv_rng_make(seed, nnv_hash_str(op), 1);
    for (int i = 0; i < n; i++) {
        if (cases) nnv_text_addf(cases, "%s/%d\tops\t%s\t\t\n", op, i, op);
        nnv_text_addf(records, "{\"case\":\"%s/%d\",\"op\":\"%s\",\"verdict\":\"PASS\",\"driver_us\":%.0f}\n", op, i,
                      op, floor(us * (1 + i % 7) * exp(noise * nnv_rng_normal(&rng))));
    }
}

static void time_beyond_noise(void **state) {
    (void)state;
    struct nnv_text cases = {0}, ra = {0}, rb = {0};
    add_times(&cases, &ra, "ADD", 200, 100, 0.3, 1);
    add_times(NULL, &rb, "ADD", 200, 100, 0.3, 2);
    add_times(&cases, &ra, "MUL", 60, 100, 0.3, 3);
    add_times(NULL, &rb, "MUL", 60, 200, 0.3, 4); /* twice as slow */
    add_times(&cases, &ra, "RELU", 200, 100, 0.3, 5);
    add_times(NULL, &rb, "RELU", 200, 104, 0.3, 6); /* 4 %, in noise of 30 % */
    add_times(&cases, &ra, "TINY", 40, 0.3, 0, 7);
    add_times(NULL, &rb, "TINY", 40, 0.6, 0, 8); /* twice as slow, but below the clock's unit, almost */
    add_times(&cases, &ra, "FEW", 5, 100, 0, 9);
    add_times(NULL, &rb, "FEW", 5, 900, 0, 10); /* too few to say */
    nnv_text_add(&cases, "one/slow\tops\tADD\t\t\n");
    nnv_text_add(&ra, "{\"case\":\"one/slow\",\"op\":\"ADD\",\"verdict\":\"PASS\",\"driver_us\":300}\n");
    nnv_text_add(&rb, "{\"case\":\"one/slow\",\"op\":\"ADD\",\"verdict\":\"PASS\",\"driver_us\":90000}\n");
    struct fx a = make(cases.data, ra.data, 1, "2026-01-01T00:00:00Z"),
              b = make(cases.data, rb.data, 1, "2026-01-02T00:00:00Z");
    json_t *j = compare(&a, &b), *time = json_object_get(j, "time"), *mul = op_of(time, "MUL");
    assert_non_null(mul);
    assert_true(json_is_true(json_object_get(mul, "slower")));
    assert_true(value(mul, "low") > 1.1 && value(mul, "ratio") > 1.5 && value(mul, "ratio") < 2.5);
    assert_int_equal(nnv_json_count(mul, "cases"), 60);
    assert_null(op_of(time, "ADD"));
    assert_null(op_of(time, "RELU"));
    assert_null(op_of(time, "TINY"));
    assert_null(op_of(time, "FEW"));
    assert_true(value(json_object_get(time, "all"), "low") < 1.2 && value(json_object_get(time, "all"), "high") > 1);
    assert_int_equal(json_array_size(json_object_get(time, "cases")), 1);
    assert_string_equal(nnv_json_text(json_array_get(json_object_get(time, "cases"), 0), "case", ""), "one/slow");
    assert_false(nnv_compare_worse(j)); /* that is for nnvts gate */
    json_decref(j);
    j = compare(&b, &a); /* the other way round: a gain is no loss; and a spike in A is none of B */
    time = json_object_get(j, "time");
    mul = op_of(time, "MUL");
    assert_true(mul != NULL && json_is_false(json_object_get(mul, "slower")) && value(mul, "high") < 0.9);
    assert_int_equal(json_array_size(json_object_get(time, "cases")), 0);
    json_decref(j);
    fx_remove(&a);
    fx_remove(&b);
    nnv_text_free(&cases);
    nnv_text_free(&ra);
    nnv_text_free(&rb);
}

#define E(name, op, ratio, mse)                                                                                        \
    "{\"case\":\"" name "\",\"op\":\"" op "\",\"verdict\":\"PASS\",\"outputs\":[{\"mse\":" mse                         \
    ",\"worst\":{\"ratio\":" ratio "}},{\"mse\":0,\"worst\":{\"ratio\":0.01}}]}\n"

static void errors_that_drift(void **state) {
    (void)state;
    const char *cases = "a\tops\tADD\t\t\nb\tops\tADD\t\t\nc\tops\tMUL\t\t\n";
    const char *before = E("a", "ADD", "0.1", "1e-8") E("b", "ADD", "0.3", "2e-8") E("c", "MUL", "0.5", "1");
    const char *after = E("a", "ADD", "0.2", "4e-8") E("b", "ADD", "0.9", "2e-8") E("c", "MUL", "0.51", "1");
    struct fx a = make(cases, before, 1, "2026-01-01T00:00:00Z"), b = make(cases, after, 1, "2026-01-02T00:00:00Z");
    struct fx other = make(cases, after, 2, "2026-01-02T00:00:00Z");
    json_t *j = compare(&a, &b), *error = json_object_get(j, "error"), *add = op_of(error, "ADD");
    assert_non_null(add);
    near(value(add, "a"), 0.3);
    near(value(add, "b"), 0.9);
    assert_int_equal(nnv_json_count(add, "rose"), 2);
    assert_int_equal(nnv_json_count(add, "fell"), 0);
    near(value(add, "mse_ratio"), 2); /* geometric mean of 4 and 1 */
    assert_null(op_of(error, "MUL")); /* 0.5 to 0.51 is no drift */
    const json_t *worst = json_array_get(json_object_get(error, "cases"), 0);
    assert_string_equal(nnv_json_text(worst, "case", ""), "b");
    near(value(worst, "b"), 0.9);
    json_decref(j);
    j = compare(&b, &a);
    assert_int_equal(nnv_json_count(op_of(json_object_get(j, "error"), "ADD"), "fell"), 2);
    assert_int_equal(json_array_size(json_object_get(json_object_get(j, "error"), "cases")), 0);
    json_decref(j);
    j = compare(&a, &other); /* other values: the operation alone */
    error = json_object_get(j, "error");
    assert_true(json_is_false(json_object_get(error, "same_values")));
    assert_int_equal(json_array_size(json_object_get(error, "cases")), 0);
    assert_int_equal(nnv_json_count(op_of(error, "ADD"), "rose"), 0);
    near(value(op_of(error, "ADD"), "b"), 0.9);
    json_decref(j);
    fx_remove(&a);
    fx_remove(&b);
    fx_remove(&other);
}

/** Pages are well-formed whatever the journals hold, and baselines show in the report. */
static void pages(void **state) {
    (void)state;
    static const char *const names[] = {"every", "hostile", "killed", "nothing"};
    struct nnv_err err = {0};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct fx a = fx_copy("pass"), b = fx_copy(names[i]);
        json_t *j = compare(&a, &b);
        assert_int_equal(nnv_compare_html(j, fx_path(&b, "bench.json"), &err), NNV_OK);
        xmlDoc *doc = fx_xml(&b, "bench.json");
        assert_true(fx_xpath(doc, "count(//*[local-name()='script'])") == 0);
        xmlFreeDoc(doc);
        json_decref(j);
        assert_int_equal(nnv_baseline_write(a.folder, b.folder, NULL, &err), NNV_OK);
        fx_load(&b);
        assert_int_equal(nnv_report_html(b.report, &err), NNV_OK);
        doc = fx_xml(&b, "report.html");
        assert_true(fx_xpath(doc, "count(//*[@id='baseline'])") == 1);
        xmlFreeDoc(doc);
        const char *const folders[] = {b.folder, a.folder};
        assert_int_equal(nnv_trend(folders, 2, &j, &err), NNV_OK);
        assert_int_equal(nnv_trend_html(j, fx_path(&b, "bench.json"), &err), NNV_OK);
        doc = fx_xml(&b, "bench.json");
        assert_true(fx_xpath(doc, "count(//*[local-name()='svg'])") >= 1);
        xmlFreeDoc(doc);
        json_decref(j);
        /* what is no comparison does not harm the report */
        fx_put(&b, NNV_BASELINE_FILE, "{\"form\":[]}", 11);
        assert_int_equal(nnv_report_html(b.report, &err), NNV_OK);
        doc = fx_xml(&b, "report.html");
        assert_true(fx_xpath(doc, "count(//*[@id='baseline'])") == 0);
        xmlFreeDoc(doc);
        unlink(fx_path(&b, NNV_BASELINE_FILE));
        fx_remove(&a);
        fx_remove(&b);
    }
}

static void benches(void **state) {
    (void)state;
#define ROW(network, driver, state, p50, low, high)                                                                    \
    "{\"network\":\"" network "\",\"driver\":\"" driver "\",\"failed\":false,\"latency\":{\"state\":\"" state          \
    "\",\"reason\":\"why\",\"quantiles\":{\"p50\":{\"ns\":" p50 ",\"low_ns\":" low ",\"high_ns\":" high "}}}}"
    const char *before = "{\"form\":\"nnvts-bench-1\",\"rows\":[" ROW("n1", "old", "done", "100", "99", "101") "," ROW(
        "n2", "cpu", "done", "100", "90", "110") "," ROW("n3", "cpu", "done", "1", "1", "1") "]}";
    const char *after = "{\"form\":\"nnvts-bench-1\",\"rows\":[" ROW("n1", "new", "done", "150", "149", "151") "," ROW(
        "n2", "cpu", "crashed", "105", "95", "115") "]}";
    struct fx a = fx_new(), b = fx_new();
    fx_put(&a, "bench.json", before, strlen(before));
    fx_put(&b, "bench.json", after, strlen(after));
    json_t *j = compare(&a, &b), *rows = json_object_get(j, "rows");
    has_list(j, "new_failures", "n2 on cpu ");
    has_list(j, "removed", "n3 on cpu ");
    assert_true(nnv_compare_worse(j));
    assert_int_equal(json_array_size(rows), 3);
    near(value(json_array_get(rows, 0), "ratio"), 1.5); /* the only drivers of n1, whatever their names */
    assert_string_equal(nnv_json_text(json_array_get(rows, 0), "speed", ""), "slower");
    assert_string_equal(nnv_json_text(json_array_get(rows, 1), "speed", ""), "same"); /* intervals meet */
    struct nnv_err err = {0};
    assert_int_equal(nnv_compare_html(j, fx_path(&b, "report.html"), &err), NNV_OK);
    xmlFreeDoc(fx_xml(&b, "report.html"));
    json_decref(j);
    struct fx run = fx_copy("pass");
    assert_int_equal(nnv_compare(a.folder, run.folder, &j, &err), NNV_INVALID);
    assert_non_null(strstr(err.text, "like is compared with like"));
    fx_remove(&a);
    fx_remove(&b);
    fx_remove(&run);
}

static void trends(void **state) {
    (void)state;
    const char *cases = "a\tops\tADD\t\t\nb\tops\tMUL\t\t\n";
    static const char *const ratios[] = {"0.2", "0.3", "0.25", "0.6"};
    struct fx f[4];
    const char *folders[4];
    for (int i = 0; i < 4; i++) {
        char start[32];
        struct nnv_text t = {0};
        snprintf(start, sizeof start, "2026-01-0%dT00:00:00Z", i + 1);
        nnv_text_addf(
            &t,
            "{\"case\":\"a\",\"op\":\"ADD\",\"verdict\":\"PASS\",\"ms\":500,\"driver_us\":2000,\"compared\":7,"
            "\"outputs\":[{\"worst\":{\"ratio\":%s}}]}\n",
            ratios[i]);
        if (i != 2) nnv_text_addf(&t, "{\"case\":\"b\",\"op\":\"MUL\",\"verdict\":\"%s\"}\n", i == 1 ? "FAIL" : "PASS");
        f[i] = make(cases, t.data, 1, start);
        folders[3 - i] = f[i].folder; /* given backwards */
        nnv_text_free(&t);
    }
    struct nnv_err err = {0};
    json_t *j = NULL;
    assert_int_equal(nnv_trend(folders, 4, &j, &err), NNV_OK);
    const json_t *runs = json_object_get(j, "runs");
    for (int i = 0; i < 4; i++) assert_string_equal(nnv_json_text(json_array_get(runs, i), "folder", ""), f[i].folder);
    const json_t *second = json_array_get(runs, 1), *third = json_array_get(runs, 2);
    assert_int_equal(nnv_json_count(json_object_get(second, "verdicts"), "FAIL"), 1);
    assert_int_equal(nnv_json_count(json_object_get(third, "verdicts"), "NOTRUN"), 1);
    assert_int_equal(nnv_json_count(second, "compared"), 7);
    near(value(second, "driver_ms"), 2);
    near(value(second, "seconds"), 0.5);
    near(value(second, "worst"), 0.3);
    char *failures = json_dumps(json_object_get(op_of(j, "MUL"), "failures"), JSON_COMPACT);
    assert_string_equal(failures, "[0,1,0,0]");
    free(failures);
    assert_true(json_is_true(json_object_get(op_of(j, "ADD"), "record"))); /* 0.6 after at most 0.3 */
    assert_true(json_is_false(json_object_get(op_of(j, "MUL"), "record")));
    assert_int_equal(nnv_trend_html(j, fx_path(&f[0], "report.html"), &err), NNV_OK);
    xmlDoc *doc = fx_xml(&f[0], "report.html");
    /* MUL failed in the second of four runs */
    assert_int_equal(fx_xpath(doc, "count(//tr[th = 'Operation' and th[2] = 1 and th[5] = 4 and count(th) = 5])"), 2);
    assert_int_equal(fx_xpath(doc, "count(//tr[th = 'MUL' and td[1] = 0 and td[2] = 1 and td[4] = 0])"), 1);
    xmlFreeDoc(doc);
    json_decref(j);
    assert_int_equal(nnv_trend(folders + 1, 3, &j, &err), NNV_OK); /* without the last run there is none */
    assert_true(json_is_false(json_object_get(op_of(j, "ADD"), "record")));
    json_decref(j);
    assert_int_equal(nnv_trend(folders, 0, &j, &err), NNV_INVALID);
    for (int i = 0; i < 4; i++) fx_remove(&f[i]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_change),
        cmocka_unit_test(many_cases),
        cmocka_unit_test(what_is_worse),
        cmocka_unit_test(runs_that_are_not_alike_say_so),
        cmocka_unit_test(time_beyond_noise),
        cmocka_unit_test(errors_that_drift),
        cmocka_unit_test(pages),
        cmocka_unit_test(benches),
        cmocka_unit_test(trends),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
