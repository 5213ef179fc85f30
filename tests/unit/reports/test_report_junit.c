/* SPDX-License-Identifier: Apache-2.0 */
/** @file test_report_junit.c junit.xml: valid by tests/junit.xsd, and every count in it is right. */
#include <math.h>
#include <unistd.h>

#include "tests/kit/report.h"

/** junit.xml of the run: valid, and its totals are what is in it and what the run came to. */
static xmlDoc *junit_of(const struct fx *f) {
    struct nnv_err err = {0};
    if (nnv_report_junit(f->report, &err) != NNV_OK) fail_msg("%s", err.text);
    xmlDoc *doc = fx_xml(f, "junit.xml");
    assert_int_equal(fx_junit_errors(doc, false), 0);
    const struct nnv_report *r = f->report;
    size_t failures = r->verdicts[NNVTS_FAIL] + r->verdicts[NNVTS_UNTRUSTED];
    size_t errors =
        r->verdicts[NNVTS_CRASH] + r->verdicts[NNVTS_TIMEOUT] + r->verdicts[NNVTS_ERROR] + r->verdicts[NNVTS_NOTRUN];
    size_t skipped = r->verdicts[NNVTS_UNSUPPORTED] + r->verdicts[NNVTS_SKIP];
    assert_int_equal(fx_xpath(doc, "/testsuites/@tests"), r->count);
    assert_int_equal(fx_xpath(doc, "count(//testcase)"), r->count);
    assert_int_equal(fx_xpath(doc, "/testsuites/@failures"), failures);
    assert_int_equal(fx_xpath(doc, "count(//testcase/failure)"), failures);
    assert_int_equal(fx_xpath(doc, "/testsuites/@errors"), errors);
    assert_int_equal(fx_xpath(doc, "count(//testcase/error)"), errors);
    assert_int_equal(fx_xpath(doc, "count(//testcase/skipped)"), skipped);
    assert_int_equal(fx_xpath(doc, "sum(//testsuite/@skipped)"), skipped);
    assert_int_equal(fx_xpath(doc, "count(//testcase[not(failure|error|skipped)])"), r->verdicts[NNVTS_PASS]);
    assert_int_equal(fx_xpath(doc, "count(//testsuite)"), r->suites.count);
    assert_int_equal(fx_xpath(doc, "count(//testsuite[@tests != count(testcase)])"), 0);
    assert_int_equal(fx_xpath(doc, "count(//testsuite[@failures != count(testcase/failure)])"), 0);
    assert_int_equal(fx_xpath(doc, "count(//testsuite[@errors != count(testcase/error)])"), 0);
    assert_int_equal(fx_xpath(doc, "count(//testsuite[@skipped != count(testcase/skipped)])"), 0);
    /* Times are cut to milliseconds. */
    double all = fx_xpath(doc, "number(/testsuites/@time)"), cut = 0.001 * (double)(r->count + r->suites.count + 1);
    assert_true(fabs(all - fx_xpath(doc, "sum(//testsuite/@time)")) <= cut);
    assert_true(fabs(all - fx_xpath(doc, "sum(//testcase/@time)")) <= cut);
    return doc;
}

static void golden_runs_are_valid_and_counted(void **state) {
    (void)state;
    static const char *const names[] = {"pass", "every", "hostile", "empty", "cut", "killed", "nothing"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct fx f = fx_golden(names[i]);
        xmlFreeDoc(junit_of(&f));
        fx_remove(&f);
    }
}

static void the_schema_refuses(void **state) {
    (void)state;
    static const char *const wrong[] = {
        "<testsuites name='x' tests='0' failures='0' errors='0' time='-1'/>",
        "<testsuites name='x' tests='0' failures='0' errors='0'/>",
        "<testsuites name='x' tests='0' failures='0' errors='0' time='0'><testcase/></testsuites>",
        "<report/>",
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        xmlDoc *doc = xmlReadMemory(wrong[i], (int)strlen(wrong[i]), "x", NULL, XML_PARSE_NONET);
        assert_true(fx_junit_errors(doc, true) > 0);
        xmlFreeDoc(doc);
    }
}

static void verdicts_become_elements(void **state) {
    (void)state;
    struct fx f = fx_golden("every");
    xmlDoc *doc = junit_of(&f);
    static const char *const one[] = {
        "//testcase[@name='ops/SOFTMAX/float32/axis/0' and @classname='ops.SOFTMAX']/failure[@type='VALUES']"
        "[starts-with(@message, 'output 0 [4,10]') and not(contains(@message, 'second line'))]"
        "[contains(., 'and a second line') and contains(., 'again: nnvts replay nnvts-out/dumps/ops.SOFTMAX')]"
        "[contains(., '/dumps/ops.SOFTMAX.float32.axis.0.json')]",
        "//testcase[@name='ops/RELU/float32/0']/failure[@type='NOTHING_COMPARED']",
        "//testcase[@classname='validate.CONV_2D']/error[@type='DIED'][contains(., 'faulty_prepare')]",
        "//testcase[@classname='validate.CONV_2D']/system-out[. = 'about to crash\n']",
        "//testcase[@name='ops/MUL/float32/slow/0' and @time='30.000']/error[@type='NO_END']",
        "//testcase[@name='spec/broken' and @classname='spec']/error[@type='HARNESS']",
        "//testcase[@name='spec/never']/error[@type='NOTRUN' and @message='not run']",
        "//skipped[@type='FEATURE_LEVEL' and @message='needs feature level 6, the driver has 4']",
        "/testsuites[@time > 30 and @time < 60]",
        "//testsuite[@name='ops' and @timestamp='2026-03-14T09:26:53Z' and @hostname='bench-3']",
        "//testsuite[@name='ops']/properties/property[@name='driver' and @value='faulty:dilation-ignored']",
        "//testsuite[@name='ops']/properties/property[@name='driver.version' and @value='1.0.0']",
        "//testsuite[@name='ops']/properties/property[@name='seed' and @value='1']",
        "//testsuite[@name='ops']/properties/property[@name='nnvts' and @value='1.0.0']",
        "//testsuite[@name='ops']/properties/property[@name='arithmetic' and @value='strict']",
        "//testsuite[@name='ops']//property[@name='argv' and @value='nnvts run --driver faulty:dilation-ignored']",
    };
    fx_once(doc, one, sizeof one / sizeof *one);
    xmlFreeDoc(doc);
    fx_remove(&f);
}

static void a_killed_run_never_reads_as_passed(void **state) {
    (void)state;
    struct fx f = fx_golden("killed");
    xmlDoc *doc = junit_of(&f);
    assert_int_equal(fx_xpath(doc, "count(//error[@message='not run'])"), f.report->count);
    xmlFreeDoc(doc);
    fx_remove(&f);
}

static void hostile_text_is_text(void **state) {
    (void)state;
    struct fx f = fx_golden("hostile");
    xmlDoc *doc = junit_of(&f);
    char *text = fx_get(&f, "junit.xml", NULL);
    assert_null(strstr(text, "<script"));
    assert_null(strstr(text, "]]>"));
    assert_int_equal(fx_xpath(doc, "count(//script)"), 0);
    assert_int_equal(fx_xpath(doc, "count(//testcase[@classname='ops.<script>alert(1)</script>'])"), 1);
    assert_int_equal(fx_xpath(doc, "count(//property[@name='seed' and @value='18446744073709551615'])"), 2);
    assert_int_equal(fx_xpath(doc, "count(//testsuite/@timestamp)"), 0);
    free(text);
    xmlFreeDoc(doc);
    fx_remove(&f);
}

/** How many suites of a run that began then have a timestamp; the file must be valid. */
static int stamps(const char *start) {
    struct fx f = fx_make("a\ts\t\t\t\n", "");
    char header[300];
    int n = snprintf(header, sizeof header, "{\"format\":\"nnvts-journal/1\",\"cases\":1,\"start\":\"%s\"}\n", start);
    fx_put(&f, "journal.jsonl", header, (size_t)n);
    fx_load(&f);
    xmlDoc *doc = junit_of(&f);
    int count = (int)fx_xpath(doc, "count(//testsuite/@timestamp)");
    xmlFreeDoc(doc);
    fx_remove(&f);
    return count;
}

static void only_real_times_are_timestamps(void **state) {
    (void)state;
    assert_int_equal(stamps("2026-12-31T23:59:59Z"), 1);
    assert_int_equal(stamps("2024-02-28T00:00:00"), 1);
    static const char *const wrong[] = {"",
                                        "2026",
                                        "2026-13-01T00:00:00Z",
                                        "2026-00-01T00:00:00Z",
                                        "2026-02-30T00:00:00Z",
                                        "2026-01-00T00:00:00Z",
                                        "2026-01-01T24:00:00Z",
                                        "2026-01-01T00:60:00Z",
                                        "2026-01-01T00:00:60Z",
                                        "0000-01-01T00:00:00Z",
                                        "2026-01-01T00:00:00Zoo",
                                        "2026-01-01 00:00:00"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) assert_int_equal(stamps(wrong[i]), 0);
}

static void real_days_at_the_ends_of_months(void **state) {
    (void)state;
    assert_int_equal(stamps("2026-01-31T00:00:00Z"), 1);
    assert_int_equal(stamps("2026-04-30T00:00:00Z"), 1);
    assert_int_equal(stamps("2024-02-29T00:00:00Z"), 1);
    assert_int_equal(stamps("2026-02-29T00:00:00Z"), 0);
    assert_int_equal(stamps("2026-04-31T00:00:00Z"), 0);
    assert_int_equal(stamps("1900-02-29T00:00:00Z"), 0);
    assert_int_equal(stamps("2000-02-29T00:00:00Z"), 1);
}

static void cases_of_mixed_suites_are_gathered(void **state) {
    (void)state;
    struct fx f =
        fx_make("a1\ta\tX\t\t\nb1\tb\t\t\t\na2\ta\t\t\t\nb2\tb\t\t\t\n",
                "{\"case\":\"b2\",\"verdict\":\"FAIL\"}\n{\"case\":\"a2\",\"verdict\":\"PASS\",\"compared\":1}\n");
    fx_load(&f);
    xmlDoc *doc = junit_of(&f);
    assert_int_equal(fx_xpath(doc, "count(//testsuite[@name='a']/testcase)"), 2);
    assert_int_equal(fx_xpath(doc, "count(//testcase[@name='b2']/failure[@message='fail'])"), 1);
    xmlFreeDoc(doc);
    fx_remove(&f);
}

/**
 * Allocations of libxml2 until the one that fails, alone; below 0 none will. (libxml2 2.9 then loses some bytes of its
 * own: leaks that a leak checker shows in this test are its.)
 */
static int allocations_left = -1;

static bool may_allocate(void) { return allocations_left < 0 || allocations_left-- > 0; }
static void *short_malloc(size_t n) { return may_allocate() ? malloc(n) : NULL; }
static void *short_realloc(void *p, size_t n) { return may_allocate() ? realloc(p, n) : NULL; }
static char *short_strdup(const char *s) { return may_allocate() ? strdup(s) : NULL; }

static void no_memory_is_an_error(void **state) {
    (void)state;
    struct fx f = fx_golden("every");
    int failed = 0;
    xmlSetGenericErrorFunc(NULL, fx_silent);
    assert_int_equal(xmlMemSetup(free, short_malloc, short_realloc, short_strdup), 0);
    for (bool came_to_it = true; came_to_it; failed++) {
        struct nnv_err err = {0};
        allocations_left = failed;
        enum nnv_status s = nnv_report_junit(f.report, &err);
        came_to_it = allocations_left < 0;
        assert_int_equal(s, came_to_it ? NNV_NO_MEMORY : NNV_OK);
        assert_int_equal(access(fx_path(&f, "junit.xml"), F_OK), came_to_it ? -1 : 0);
    }
    allocations_left = -1;
    xmlSetGenericErrorFunc(NULL, NULL);
    assert_true(failed > 100);
    xmlFreeDoc(junit_of(&f));
    fx_remove(&f);
}

static void illegal_characters_are_replaced(void **state) {
    (void)state;
    struct fx f = fx_make(
        "a\ts\t\t\t\n",
        "{\"case\":\"a\",\"verdict\":\"FAIL\",\"reason\":\"x\\u0001y\\uffff<\",\"log\":\"\\u001b]]>&\\r\\n\"}\n");
    fx_load(&f);
    xmlDoc *doc = junit_of(&f);
    assert_int_equal(fx_xpath(doc, "count(//failure[@message='x\xEF\xBF\xBDy\xEF\xBF\xBD<'])"), 1);
    assert_int_equal(fx_xpath(doc, "count(//failure[. = 'x\xEF\xBF\xBDy\xEF\xBF\xBD<\n'])"), 1);
    assert_int_equal(fx_xpath(doc, "count(//system-out[. = '\xEF\xBF\xBD]]>&\r\n'])"), 1);
    xmlFreeDoc(doc);
    fx_remove(&f);
}

/* Files of a dump that there are, and no others, are linked behind what the driver printed. */
static void attachments(void **state) {
    (void)state;
    struct fx f = fx_make("a\ts\t\t\t\nb\ts\t\t\t\n",
                          "{\"case\":\"a\",\"verdict\":\"FAIL\",\"log\":\"words\",\"dump\":\"x.json\"}\n"
                          "{\"case\":\"b\",\"verdict\":\"FAIL\",\"dump\":\"gone.json\"}\n");
    struct nnv_text expected = {0};
    struct nnv_err err = {0};
    fx_put(&f, "x.json", "{}", 2);
    fx_put(&f, "x.c", " ", 1);
    fx_load(&f);
    assert_int_equal(nnv_report_junit(f.report, &err), NNV_OK);
    xmlDoc *doc = fx_xml(&f, "junit.xml");
    assert_int_equal(fx_junit_errors(doc, false), 0);
    nnv_text_addf(
        &expected,
        "count(//testcase[@name='a']/system-out[. = 'words\n[[ATTACHMENT|%s/x.json]]\n[[ATTACHMENT|%s/x.c]]\n'])",
        f.folder, f.folder);
    assert_int_equal(fx_xpath(doc, expected.data), 1);
    assert_int_equal(fx_xpath(doc, "count(//testcase[@name='b']/system-out)"), 0);
    nnv_text_free(&expected);
    xmlFreeDoc(doc);
    unlink(fx_path(&f, "x.json"));
    unlink(fx_path(&f, "x.c"));
    fx_remove(&f);
}

/* What a failure says is read from the journal again, of each case of a bug: none may lack it. */
static void a_changed_journal_is_an_error(void **state) {
    (void)state;
    static const char records[] = "{\"case\":\"o/0\",\"verdict\":\"FAIL\",\"why\":\"STATUS\",\"reason\":\"no\"}\n"
                                  "{\"case\":\"o/1\",\"verdict\":\"FAIL\",\"why\":\"STATUS\",\"reason\":\"no\"}\n";
    struct fx f = fx_make("o/0\to\tADD\tfloat32\t\no/1\to\tADD\tfloat32\t\n", records);
    struct nnv_err err = {0};
    size_t n;
    fx_load(&f);
    free(fx_get(&f, "journal.jsonl", &n));
    assert_int_equal(truncate(fx_path(&f, "journal.jsonl"), (off_t)n - 9), 0);
    assert_int_equal(nnv_report_junit(f.report, &err), NNV_IO);
    assert_non_null(strstr(err.text, "changed while it was read"));
    fx_remove(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(golden_runs_are_valid_and_counted),
        cmocka_unit_test(the_schema_refuses),
        cmocka_unit_test(verdicts_become_elements),
        cmocka_unit_test(a_killed_run_never_reads_as_passed),
        cmocka_unit_test(hostile_text_is_text),
        cmocka_unit_test(only_real_times_are_timestamps),
        cmocka_unit_test(real_days_at_the_ends_of_months),
        cmocka_unit_test(cases_of_mixed_suites_are_gathered),
        cmocka_unit_test(illegal_characters_are_replaced),
        cmocka_unit_test(no_memory_is_an_error),
        cmocka_unit_test(a_changed_journal_is_an_error),
        cmocka_unit_test(attachments),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
