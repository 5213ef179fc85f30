/* SPDX-License-Identifier: Apache-2.0 */
/** @file test_report_load.c Run folders: whole, killed, cut, damaged, foreign; exit codes and summary.json. */
#include <math.h>
#include <unistd.h>

#include "harness/journal/verdict.h"
#include "tests/kit/report.h"
#include "harness/journal/load.h"

static void loads_a_run(void **state) {
    (void)state;
    struct fx f = fx_golden("pass");
    assert_int_equal(f.report->count, 11);
    assert_int_equal(nnv_report_count(f.report, NNVTS_PASS), 10);
    assert_int_equal(nnv_report_count(f.report, NNVTS_UNSUPPORTED), 1);
    assert_int_equal(nnv_report_count(f.report, NNVTS_NOTRUN), 0);
    assert_int_equal(f.report->compared, 8 * 1234);
    assert_int_equal(nnv_report_exit(f.report), NNVTS_EXIT_PASS);
    assert_string_equal(f.report->suites.key[f.report->item[10].suite], "ops");
    assert_string_equal(f.report->ops.key[f.report->item[10].op], "ADD");
    assert_string_equal(f.report->types.key[f.report->item[10].type], "float16");
    assert_string_equal(f.report->item[10].more->reason, "the driver does not support operation 0 (ADD)");
    fx_remove(&f);
}

/* How operations were used, and by whom they were computed, is summed up over the records. */
static void sums_up_uses(void **state) {
    (void)state;
    struct fx f =
        fx_make("a\tops\tADD\tfloat32\t\nb\tops\tADD\tfloat32\t\nc\tops\tMUL\tfloat32\t\n",
                "{\"case\":\"a\",\"verdict\":\"PASS\",\"compared\":2,\"values\":2,\"uses\":\"rank=4 layout=nchw\","
                "\"devices\":\"npu=2 cpu=1\"}\n"
                "{\"case\":\"b\",\"verdict\":\"FAIL\",\"reason\":\"x\",\"uses\":\"rank=4\",\"devices\":\"cpu=5\"}\n"
                "{\"case\":\"c\",\"verdict\":\"PASS\",\"compared\":1,\"uses\":\"rank=4\"}\n");
    fx_load(&f);
    const struct nnv_uses *u = &f.report->uses;
    assert_int_equal(u->map.count, 3);
    assert_string_equal(nnv_use_at(u, 0)->words, "rank=4");
    assert_int_equal(nnv_use_at(u, 0)->verdicts[NNVTS_PASS], 1);
    assert_int_equal(nnv_use_at(u, 0)->verdicts[NNVTS_FAIL], 1);
    assert_int_equal(nnv_use_at(u, 0)->computed, 1);
    assert_string_equal(nnv_use_at(u, 1)->words, "layout=nchw");
    assert_string_equal(nnv_use_at(u, 2)->words, "rank=4"); /* of MUL, and nothing was compared */
    assert_int_equal(nnv_use_at(u, 2)->computed, 0);
    assert_int_equal(u->devices.count, 2);
    assert_string_equal(u->devices.key[1], "cpu");
    assert_int_equal(nnv_uses_computed(u, 0), 2);
    assert_int_equal(nnv_uses_computed(u, 1), 6);
    struct nnv_err err = {0};
    assert_int_equal(nnv_report_write(f.report, false, &err), NNV_OK);
    xmlDoc *doc = fx_xml(&f, "report.html");
    static const char *const there[] = {
        "//section[@id='coverage']/details/details[starts-with(summary, 'ADD')]//tr[th='rank']/td[@class='F' and "
        "b='F']",
        "//section[@id='coverage']/details/details[starts-with(summary, 'ADD')]//tr[th='layout']/td[@class='P' and "
        "small='nchw']",
        "//section[@id='coverage']/details/details[starts-with(summary, 'MUL')]//tr[th='rank']/td[@class='r']",
        "//section[@id='coverage']/p[contains(., '2 operations computed by npu, 6 operations computed by cpu')]"};
    for (size_t i = 0; i < sizeof there / sizeof *there; i++) {
        char count[256];
        snprintf(count, sizeof count, "count(%s)", there[i]);
        if (fx_xpath(doc, count) == 0) fail_msg("not there: %s", there[i]);
    }
    xmlFreeDoc(doc);
    size_t n;
    char *summary = fx_get(&f, "summary.json", &n);
    assert_non_null(strstr(summary, "\"devices\": {\"npu\": 2, \"cpu\": 6}"));
    free(summary);
    fx_remove(&f);
}

/* What explained.json says of a case is a help: a damaged one is left out, and the run is read all the same. */
static void damaged_explanations_are_left_out(void **state) {
    (void)state;
    static const char whole[] = "{\"a\":{\"words\":\"two rows are swapped\"}}";
    for (size_t cut = 0; cut < 2; cut++) {
        struct fx f = fx_make("a\tops\tADD\tfloat32\t\n", "{\"case\":\"a\",\"verdict\":\"FAIL\",\"reason\":\"x\"}\n");
        fx_put(&f, NNV_EXPLAINED_FILE, whole, strlen(whole) - cut);
        struct nnv_err err = {0};
        assert_int_equal(nnv_report_load(f.folder, &f.report, &err), NNV_OK);
        assert_int_equal(err.status, NNV_OK);
        assert_int_equal(nnv_report_count(f.report, NNVTS_FAIL), 1);
        const char *explained = f.report->item[0].more->cause->explained;
        if (cut == 0)
            assert_string_equal(explained, "two rows are swapped");
        else
            assert_null(explained);
        fx_remove(&f);
    }
}

/* What fails in each of its repeats is no flake, nor is what passes in one of them, or a failure that was expected. */
static void flakes_are_unsteady_failures(void **state) {
    (void)state;
    static const enum nnvts_outcome outcome[] = {NNVTS_OUTCOME_NONE, NNVTS_OUTCOME_FLAKY, NNVTS_OUTCOME_NONE,
                                                 NNVTS_OUTCOME_XFAIL};
    struct fx f = fx_make("a\tops\tADD\tfloat32\t\nb\tops\tADD\tfloat32\t\nc\tops\tADD\tfloat32\t\n"
                          "d\tops\tADD\tfloat32\t\n",
                          "{\"case\":\"a\",\"verdict\":\"FAIL\",\"repeats\":{\"runs\":3,\"bad\":3}}\n"
                          "{\"case\":\"b\",\"verdict\":\"FAIL\",\"repeats\":{\"runs\":3,\"bad\":2}}\n"
                          "{\"case\":\"c\",\"verdict\":\"PASS\",\"repeats\":{\"runs\":3,\"bad\":1}}\n"
                          "{\"case\":\"d\",\"verdict\":\"FAIL\",\"outcome\":\"XFAIL\","
                          "\"repeats\":{\"runs\":3,\"bad\":2}}\n");
    fx_load(&f);
    for (size_t i = 0; i < 4; i++) assert_int_equal(f.report->item[i].outcome, outcome[i]);
    fx_remove(&f);
}

static void reads_records_on_demand(void **state) {
    (void)state;
    struct fx f = fx_golden("every");
    struct nnv_err err = {0};
    json_t *record = NULL;
    for (size_t i = 0; i < f.report->count; i++) {
        assert_int_equal(nnv_report_record(f.report, i, &record, &err), NNV_OK);
        if (f.report->item[i].verdict == NNVTS_NOTRUN)
            assert_null(record);
        else
            assert_string_equal(nnv_json_text(record, "case", ""), f.report->item[i].name);
        json_decref(record);
    }
    for (int v = 0; v < NNVTS_VERDICT_COUNT; v++) assert_true(nnv_report_count(f.report, (enum nnvts_verdict)v) > 0);
    fx_remove(&f);
}

static void a_changed_journal_is_an_error(void **state) {
    (void)state;
    struct fx f = fx_golden("every");
    struct nnv_err err = {0};
    json_t *record = NULL;
    assert_int_equal(truncate(fx_path(&f, "journal.jsonl"), 1000), 0);
    assert_int_equal(nnv_report_record(f.report, 10, &record, &err), NNV_IO);
    assert_non_null(strstr(err.text, "changed while it was read"));
    fx_remove(&f);
}

static void a_killed_run_is_not_run(void **state) {
    (void)state;
    struct fx f = fx_golden("killed");
    assert_int_equal(nnv_report_count(f.report, NNVTS_NOTRUN), f.report->count);
    assert_int_equal(nnv_report_exit(f.report), NNVTS_EXIT_FAIL);
    fx_remove(&f);
}

static void a_cut_last_line_is_ignored(void **state) {
    (void)state;
    struct fx f = fx_golden("cut");
    assert_int_equal(nnv_report_count(f.report, NNVTS_PASS), 3);
    assert_int_equal(nnv_report_count(f.report, NNVTS_NOTRUN), 1);
    assert_int_equal(nnv_report_exit(f.report), NNVTS_EXIT_FAIL);
    fx_remove(&f);
}

static void a_run_without_cases_does_not_pass(void **state) {
    (void)state;
    struct fx f = fx_golden("empty");
    assert_int_equal(f.report->count, 0);
    assert_int_equal(nnv_report_exit(f.report), NNVTS_EXIT_FAIL);
    fx_remove(&f);
}

static void nothing_compared_does_not_pass(void **state) {
    (void)state;
    struct fx f = fx_golden("nothing");
    assert_int_equal(nnv_report_count(f.report, NNVTS_PASS), f.report->count);
    assert_int_equal(nnv_report_exit(f.report), NNVTS_EXIT_FAIL);
    fx_remove(&f);
}

/** The share of cases that were judged, in tenths of a percent, rounded down. */
static void what_was_judged(void **state) {
    (void)state;
    struct fx f = fx_make("a\ts\t\t\t\n", "{\"case\":\"a\",\"verdict\":\"PASS\",\"compared\":1}\n");
    fx_load(&f);
    assert_true(nnv_report_judged(f.report) == 100);
    fx_remove(&f);
    f = fx_make("a\ts\t\t\t\nb\ts\t\t\t\nc\ts\t\t\t\nd\ts\t\t\t\ne\ts\t\t\t\nf\ts\t\t\t\ng\ts\t\t\t\n",
                "{\"case\":\"a\",\"verdict\":\"PASS\",\"compared\":1}\n"
                "{\"case\":\"b\",\"verdict\":\"SKIP\",\"reason\":\"x\"}\n"
                "{\"case\":\"c\",\"verdict\":\"UNSUPPORTED\",\"reason\":\"x\"}\n"
                "{\"case\":\"d\",\"verdict\":\"SKIP\",\"reason\":\"x\"}\n"
                "{\"case\":\"e\",\"verdict\":\"FAIL\",\"reason\":\"x\"}\n"
                "{\"case\":\"f\",\"verdict\":\"PASS\",\"compared\":1}\n");
    fx_load(&f); /* g did not run */
    assert_true(nnv_report_judged(f.report) == 42.8);
    fx_remove(&f);
    f = fx_golden("empty");
    assert_true(nnv_report_judged(f.report) == 0);
    fx_remove(&f);
}

/** What a shard has not compared, another may have: the merged run is the one that proves something. */
static void a_shard_need_not_compare(void **state) {
    (void)state;
    static const struct {
        const char *shard;
        enum nnvts_exit code;
    } headers[] = {
        {"", NNVTS_EXIT_FAIL},
        {",\"shard\":{\"index\":1,\"count\":1}", NNVTS_EXIT_FAIL},
        {",\"shard\":{\"index\":1,\"count\":2}", NNVTS_EXIT_PASS},
    };
    for (size_t i = 0; i < sizeof headers / sizeof *headers; i++) {
        struct fx f = fx_make("a\ts\t\t\t\n", "");
        struct nnv_err err = {0};
        char journal[300];
        int n = snprintf(journal, sizeof journal,
                         "{\"format\":\"nnvts-journal/1\",\"cases\":1%s}\n{\"case\":\"a\",\"verdict\":\"PASS\"}\n",
                         headers[i].shard);
        fx_put(&f, "journal.jsonl", journal, (size_t)n);
        fx_load(&f);
        assert_int_equal(nnv_report_exit(f.report), headers[i].code);
        assert_int_equal(nnv_report_html(f.report, &err), NNV_OK);
        char *page = fx_get(&f, "report.html", NULL);
        assert_int_equal(strstr(page, "proves nothing") == NULL, headers[i].code == NNVTS_EXIT_PASS);
        free(page);
        fx_remove(&f);
    }
}

/** The exit code of a run with one compared pass and one case with that verdict. */
static enum nnvts_exit exit_with(const char *verdict) {
    struct nnv_text t = {0};
    nnv_text_add(&t, "{\"case\":\"a\",\"verdict\":\"PASS\",\"compared\":1}\n");
    if (verdict != NULL) nnv_text_addf(&t, "{\"case\":\"b\",\"verdict\":\"%s\"}\n", verdict);
    struct fx f = fx_make("a\ts\t\t\t\nb\ts\t\t\t\n", t.data);
    fx_load(&f);
    enum nnvts_exit code = nnv_report_exit(f.report);
    fx_remove(&f);
    nnv_text_free(&t);
    return code;
}

/** Records are taken in whatever order they come, each as its own case's. */
static void records_come_in_any_order(void **state) {
    (void)state;
    enum { CASES = 200, TURNS = 5 };
    static const int steps[TURNS] = {1, 199, 7, 33, 101}; /* each visits all */
    for (int t = 0; t < TURNS; t++) {
        struct nnv_text cases = {0}, records = {0};
        for (int i = 0; i < CASES; i++) nnv_text_addf(&cases, "case/%d\ts\tADD\tfloat32\t\n", i);
        for (int k = 0, i = 17; k < CASES; k++, i = (i + steps[t]) % CASES)
            nnv_text_addf(&records, "{\"case\":\"case/%d\",\"verdict\":\"PASS\",\"compared\":%d}\n", i, i + 1);
        struct fx f = fx_make(cases.data, records.data);
        fx_load(&f);
        for (uint32_t i = 0; i < CASES; i++) {
            assert_int_equal(nnv_case_compared(&f.report->item[i]), i + 1);
            assert_int_equal(nnv_report_find(f.report, f.report->item[i].name), i);
        }
        uint32_t next = 150;
        assert_int_equal(nnv_report_find(f.report, "case/"), NNV_MAP_NONE);
        assert_int_equal(nnv_report_find_next(f.report, "case/200", &next), NNV_MAP_NONE);
        assert_int_equal(next, 150);
        assert_int_equal(nnv_report_find_next(f.report, "case/199", &next), 199);
        assert_int_equal(next, CASES);
        assert_int_equal(nnv_report_find_next(f.report, "case/0", &next), 0);
        assert_int_equal(next, 1);
        nnv_text_free(&cases);
        nnv_text_free(&records);
        fx_remove(&f);
    }
}

static void exit_codes(void **state) {
    (void)state;
    static const char *const good[] = {"PASS", "UNSUPPORTED", "SKIP"};
    static const char *const bad[] = {"FAIL", "UNTRUSTED", "CRASH", "TIMEOUT"};
    for (size_t i = 0; i < 3; i++) assert_int_equal(exit_with(good[i]), NNVTS_EXIT_PASS);
    for (size_t i = 0; i < 4; i++) assert_int_equal(exit_with(bad[i]), NNVTS_EXIT_FAIL);
    assert_int_equal(exit_with("ERROR"), NNVTS_EXIT_ERROR);
    assert_int_equal(exit_with(NULL), NNVTS_EXIT_FAIL);
}

/** Loading the folder must fail with a message that has all of these in it. */
static void must_fail(struct fx f, const char *what, const char *where) {
    struct nnv_err err = {0};
    struct nnv_report *report = NULL;
    assert_int_not_equal(nnv_report_load(f.folder, &report, &err), NNV_OK);
    assert_null(report);
    if (strstr(err.text, what) == NULL || strstr(err.text, where) == NULL) fail_msg("unexpected: %s", err.text);
    assert_null(strchr(err.text, '\n'));
    fx_remove(&f);
}

static void damage_is_one_clear_error(void **state) {
    (void)state;
    static const char two[] = "a\ts\t\t\t\nb\ts\t\t\t\n";
    static const struct {
        const char *records, *what, *where;
    } damaged[] = {
        {"{\"case\":\"a\",\"verdict\":\"PASS\"}\n{\"case\n{\"case\":\"b\",\"verdict\":\"PASS\"}\n", "not a record",
         ":3: "},
        {"[]\n", "not an object", ":2: "},
        {"\n", "not a record", ":2: "},
        {"{\"case\":\"a\"}\n", "without case or verdict", ":2: "},
        {"{\"case\":1,\"verdict\":\"PASS\"}\n", "without case or verdict", ":2: "},
        {"{\"case\":\"c\",\"verdict\":\"PASS\"}\n", "'c' is not in cases.tsv", ":2: "},
        {"{\"case\":\"a\",\"verdict\":\"\"}\n", "unknown verdict", ":2: "},
        {"{\"case\":\"a\",\"verdict\":\"PASSED\"}\n", "unknown verdict 'PASSED'", ":2: "},
        {"{\"case\":\"a\",\"verdict\":\"PASS\"}\n{\"case\":\"a\",\"verdict\":\"FAIL\"}\n", "second record", ":3: "},
        {"{\"case\":\"a\",\"case\":\"b\",\"verdict\":\"PASS\"}\n", "duplicate", ":2: "},
        {"{\"case\":\"a\",\"verdict\":\"PASS\",\"compared\":-1}\n", "compared is not a count", ":2: "},
        {"{\"case\":\"a\",\"verdict\":\"PASS\",\"compared\":1.5}\n", "compared is not a count", ":2: "},
        {"{\"case\":\"a\",\"verdict\":\"PASS\",\"compared\":99999999999999999999}\n", "too big", ":2: "},
        {"{\"case\":\"a\",\"verdict\":\"PASS\",\"ms\":-1}\n", "ms is not a time", ":2: "},
        {"{\"case\":\"a\",\"verdict\":\"PASS\",\"ms\":\"NaN\"}\n", "ms is not a time", ":2: "},
        {"{\"case\":\"a\",\"verdict\":\"FAIL\",\"reason\":7}\n", "reason is not a string", ":2: "},
        {"{\"case\":\"a\",\"verdict\":\"FAIL\",\"reason\":\"\xff\"}\n", "not a record", ":2: "},
    };
    for (size_t i = 0; i < sizeof damaged / sizeof *damaged; i++)
        must_fail(fx_make(two, damaged[i].records), damaged[i].what, damaged[i].where);
}

static void a_damaged_list_is_one_clear_error(void **state) {
    (void)state;
    must_fail(fx_make("a\ts\t\t\t\nb\ts\n", ""), "not a case", "cases.tsv:2: ");
    must_fail(fx_make("a\ts\t\t\t\t\n", ""), "not a case", "cases.tsv:1: ");
    must_fail(fx_make("\ts\t\t\t\n", ""), "not a case", "cases.tsv:1: ");
    must_fail(fx_make("a\t\t\t\t\n", ""), "not a case", "cases.tsv:1: ");
    must_fail(fx_make("a\ts\t\t\t\n\n", ""), "not a case", "cases.tsv:2: ");
    must_fail(fx_make("a\ts\t\t\t\na\ts\t\t\t\n", ""), "listed twice", "cases.tsv:2: ");
    struct fx f = fx_make("a\ts\t\t\t\n", "");
    fx_put(&f, "cases.tsv", "a\0b", 3);
    must_fail(f, "not text", "cases.tsv");
}

static void foreign_files_are_refused(void **state) {
    (void)state;
    static const struct {
        const char *first, *what;
    } headers[] = {
        {"", "no whole first line"},
        {"{\"format\":\"nnvts-journal/1\",\"cases\":1}", "no whole first line"},
        {"\x7f"
         "ELF\n",
         "not a journal of nnvts"},
        {"{}\n", "not a journal of nnvts"},
        {"{\"format\":1}\n", "not a journal of nnvts"},
        {"{\"format\":\"nnvts-journal/2\",\"cases\":1}\n", "newer nnvts"},
        {"{\"format\":\"nnvts-journal/1\"}\n", "run of ? cases"},
        {"{\"format\":\"nnvts-journal/1\",\"cases\":2000}\n", "run of 2,000 cases, cases.tsv lists 1"},
    };
    for (size_t i = 0; i < sizeof headers / sizeof *headers; i++) {
        struct fx f = fx_make("a\ts\t\t\t\n", "");
        fx_put(&f, "journal.jsonl", headers[i].first, strlen(headers[i].first));
        must_fail(f, headers[i].what, "journal.jsonl:1: ");
    }
    must_fail(fx_copy("foreign"), "not a journal of nnvts", "journal.jsonl:1: ");
}

static void missing_files_are_named(void **state) {
    (void)state;
    must_fail(fx_new(), "is '", "cases.tsv");
    struct fx f = fx_make("a\ts\t\t\t\n", "");
    unlink(fx_path(&f, "journal.jsonl"));
    must_fail(f, "No such file", "journal.jsonl");
}

static void hostile_text_is_kept_apart(void **state) {
    (void)state;
    struct fx f = fx_golden("hostile");
    struct nnv_err err = {0};
    json_t *record = NULL;
    assert_int_equal(nnv_report_count(f.report, NNVTS_FAIL), 1);
    assert_int_equal(nnv_report_count(f.report, NNVTS_NOTRUN), 0);
    assert_int_equal(f.report->compared, UINT64_MAX); /* the sum overflows and stays there */
    assert_true(isfinite(f.report->seconds));
    assert_int_equal(nnv_report_record(f.report, 1, &record, &err), NNV_OK);
    assert_string_equal(nnv_json_text(record, "log", ""), "x\xef\xbf\xbdy");
    json_decref(record);
    fx_remove(&f);
}

static void long_reasons_are_cut_between_characters(void **state) {
    (void)state;
    struct nnv_text t = {0};
    nnv_text_add(&t, "{\"case\":\"a\",\"verdict\":\"FAIL\",\"reason\":\"x");
    for (int i = 0; i < 400; i++) nnv_text_add(&t, "\xc3\xa9");
    nnv_text_add(&t, "\"}\n");
    struct fx f = fx_make("a\ts\t\t\t\n", t.data);
    fx_load(&f);
    assert_int_equal(strlen(f.report->item[0].more->reason), NNV_REPORT_REASON_MAX - 1);
    fx_remove(&f);
    nnv_text_free(&t);
}

static void numbers_that_are_not_finite(void **state) {
    (void)state;
    double v = 0;
    json_t *array = json_pack("[s,s,s,f,i,s,n]", "NaN", "Infinity", "-Infinity", 1.5, 3, "nan", NULL);
    assert_true(nnv_json_number(json_array_get(array, 0), &v) && isnan(v));
    assert_true(nnv_json_number(json_array_get(array, 1), &v) && v > 0 && isinf(v));
    assert_true(nnv_json_number(json_array_get(array, 2), &v) && v < 0 && isinf(v));
    assert_true(nnv_json_number(json_array_get(array, 3), &v) && v == 1.5);
    assert_true(nnv_json_number(json_array_get(array, 4), &v) && v == 3);
    assert_false(nnv_json_number(json_array_get(array, 5), &v));
    assert_false(nnv_json_number(json_array_get(array, 6), &v));
    assert_false(nnv_json_number(NULL, &v));
    json_decref(array);
}

static void summary_says_what_the_run_was(void **state) {
    (void)state;
    struct fx f = fx_golden("every");
    struct nnv_err err = {0};
    assert_int_equal(nnv_report_summary(f.report, true, &err), NNV_OK);
    json_t *s = json_load_file(fx_path(&f, "summary.json"), JSON_REJECT_DUPLICATES, NULL);
    assert_non_null(s);
    assert_int_equal(json_integer_value(json_object_get(s, "exit_code")), 3);
    assert_int_equal(json_integer_value(json_object_get(s, "cases")), 18);
    assert_int_equal(nnv_json_count(s, "compared"), f.report->compared);
    assert_int_equal(json_integer_value(json_object_get(s, "seed")), 1);
    assert_true(json_is_true(json_object_get(s, "interrupted")));
    assert_true(json_number_value(json_object_get(s, "seconds")) >= 30.0);
    assert_string_equal(nnv_json_text(json_object_get(s, "driver"), "name", ""), "faulty");
    const json_t *verdicts = json_object_get(s, "verdicts");
    assert_int_equal(json_object_size(verdicts), NNVTS_VERDICT_COUNT);
    uint64_t sum = 0;
    for (int v = 0; v < NNVTS_VERDICT_COUNT; v++)
        sum += nnv_json_count(verdicts, nnv_verdict_name((enum nnvts_verdict)v));
    assert_int_equal(sum, 18);
    const json_t *ops = json_object_get(json_object_get(s, "suites"), "ops");
    assert_int_equal(nnv_json_count(ops, "FAIL"), 4);
    assert_null(json_object_get(ops, "CRASH"));
    json_decref(s);
    fx_remove(&f);
}

static void a_report_that_cannot_be_written_is_an_error(void **state) {
    (void)state;
    struct fx f = fx_golden("pass");
    struct nnv_err err = {0};
    char *folder = f.report->folder;
    f.report->folder = strdup("/nowhere/at/all");
    assert_int_not_equal(nnv_report_summary(f.report, false, &err), NNV_OK);
    assert_non_null(strstr(err.text, "/nowhere/at/all/summary.json"));
    assert_int_not_equal(nnv_report_junit(f.report, NULL), NNV_OK);
    assert_int_not_equal(nnv_report_html(f.report, NULL), NNV_OK);
    free(f.report->folder);
    f.report->folder = folder;
    fx_remove(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(loads_a_run),
        cmocka_unit_test(sums_up_uses),
        cmocka_unit_test(damaged_explanations_are_left_out),
        cmocka_unit_test(flakes_are_unsteady_failures),
        cmocka_unit_test(reads_records_on_demand),
        cmocka_unit_test(a_changed_journal_is_an_error),
        cmocka_unit_test(a_killed_run_is_not_run),
        cmocka_unit_test(a_cut_last_line_is_ignored),
        cmocka_unit_test(a_run_without_cases_does_not_pass),
        cmocka_unit_test(nothing_compared_does_not_pass),
        cmocka_unit_test(what_was_judged),
        cmocka_unit_test(a_shard_need_not_compare),
        cmocka_unit_test(records_come_in_any_order),
        cmocka_unit_test(exit_codes),
        cmocka_unit_test(damage_is_one_clear_error),
        cmocka_unit_test(a_damaged_list_is_one_clear_error),
        cmocka_unit_test(foreign_files_are_refused),
        cmocka_unit_test(missing_files_are_named),
        cmocka_unit_test(hostile_text_is_kept_apart),
        cmocka_unit_test(long_reasons_are_cut_between_characters),
        cmocka_unit_test(numbers_that_are_not_finite),
        cmocka_unit_test(summary_says_what_the_run_was),
        cmocka_unit_test(a_report_that_cannot_be_written_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
