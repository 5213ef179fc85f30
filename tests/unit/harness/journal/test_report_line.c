/* SPDX-License-Identifier: Apache-2.0 */
/** @file test_report_line.c Lines read the quick way say what their tree says; what is rare or wrong is left to it. */
#include <inttypes.h>
#include <math.h>

#include "tests/kit/report.h"

#include "base/json.h"
#include "base/file.h"
#include "harness/journal/causes/bucket.h"
#include "harness/journal/line.h"

static bool scan(const char *line, struct nnv_line *l) { return nnv_line_scan(line, strlen(line), l); }

static void takes_what_is_asked_for(void **state) {
    (void)state;
    struct nnv_line l;
    assert_true(scan(
        "{\"case\":\"a/b\",\"suite\":\"s\",\"verdict\":\"UNSUPPORTED\",\"reason\":\"no, {\xc3\xa9}\",\"compared\":12,"
        "\"not_compared\":5,\"ms\":1.250,\"driver_us\":900,\"worker\":3,\"outputs\":[{\"a\":[1,-2.5e3,"
        "true,null,\"\\u00e9\\n\"]},[]]}",
        &l));
    assert_int_equal(l.name_bytes, 3);
    assert_memory_equal(l.name, "a/b", 3);
    assert_int_equal(l.reason_bytes, 8);
    assert_memory_equal(l.reason, "no, {\xc3\xa9}", 8);
    assert_int_equal(l.verdict, NNVTS_UNSUPPORTED);
    assert_int_equal(l.compared, 12);
    assert_int_equal(l.not_compared, 5);
    assert_true(l.ms == 1.25 && l.driver_us == 900);
    assert_true(scan("{\"verdict\":\"PASS\",\"case\":\"x\"}", &l));
    assert_null(l.reason);
    assert_true(l.compared == 0 && l.ms == 0);
    assert_true(scan("{\"verdict\":\"SKIP\",\"case\":\"x\",\"more\":{\"case\":\"y\"}}", &l));
    assert_memory_equal(l.name, "x", 1);
    assert_true(scan("{ \"case\":\"y\" ,\t\"verdict\" : \"PASS\" }", &l));
    assert_memory_equal(l.name, "y", 1);
}

/** All of these are read as trees: some are damage, some are sound and rare. */
static void leaves_the_rest(void **state) {
    (void)state;
    static const char *const left[] = {
        "",
        "{",
        "{}",
        "[]",
        "null",
        "{\"case\":\"a\"}",
        "{\"verdict\":\"PASS\"}",
        "{\"case\":\"\",\"verdict\":\"PASS\"}",
        "{\"case\":\"a\",\"verdict\":\"FAIL\"}",
        "{\"case\":\"a\",\"verdict\":\"ERROR\"}",
        "{\"case\":\"a\",\"verdict\":\"NOTRUN\"}",
        "{\"case\":\"a\",\"verdict\":\"pass\"}",
        "{\"case\":\"a\",\"verdict\":\"PASSED\"}",
        "{\"case\":\"a\",\"verdict\":\"UNSUPPORTED BUT LONG\"}",
        "{\"case\":\"a\\u0062\",\"verdict\":\"PASS\"}",
        "{\"case\":\"a\",\"verdict\":\"P\\u0041SS\"}",
        "{\"case\":\"a\",\"verdict\":\"SKIP\",\"reason\":\"a\\nb\"}",
        "{\"case\":\"a\",\"verdict\":\"SKIP\",\"reason\":7}",
        "{\"case\":7,\"verdict\":\"PASS\"}",
        "{\"case\":\"a\",\"verdict\":\"PASS\",\"c\\u0061se\":\"b\"}",
        "{\"case\":\"a\",\"case\":\"b\",\"verdict\":\"PASS\"}",
        "{\"case\":\"a\",\"verdict\":\"PASS\",\"ms\":1,\"ms\":1}",
        "{\"case\":\"a\",\"verdict\":\"PASS\",\"compared\":-1}",
        "{\"case\":\"a\",\"verdict\":\"PASS\",\"compared\":1.5}",
        "{\"case\":\"a\",\"verdict\":\"PASS\",\"compared\":01}",
        "{\"case\":\"a\",\"verdict\":\"PASS\",\"compared\":9999999999999999}",
        "{\"case\":\"a\",\"verdict\":\"PASS\",\"compared\":\"1\"}",
        "{\"case\":\"a\",\"verdict\":\"PASS\",\"ms\":1e3}",
        "{\"case\":\"a\",\"verdict\":\"PASS\",\"ms\":-1}",
        "{\"case\":\"a\",\"verdict\":\"PASS\",\"ms\":null}",
        "{\"case\":\"a\",\"verdict\":\"PASS\",\"ms\":00.5}",
        "{\"case\":\"a\",\"verdict\":\"PASS\"",
        "{\"case\":\"a\",\"verdict\":\"PASS\"}}",
        "{\"case\":\"a\",\"verdict\":\"PASS\",}",
        "{\"case\":\"a\",\"verdict\":\"PASS\"} ",
        "{\"case\":\"a\",\"verdict\":\"PASS\",\"o\":[1,2}",
        "{\"case\":\"a\",\"verdict\":\"PASS\",\"o\":tru}",
        "{\"case\":\"a\",\"verdict\":\"PASS\",\"o\":01}",
        "{\"case\":\"a\",\"verdict\":\"PASS\",\"o\":}",
        "{\"case\":\"a\",\"verdict\":\"PASS\",\"o\"}",
        "{\"case\":\"a\",\"verdict\":\"PASS\",\"o\":\"\xff\"}",
        "{\"case\":\"a\",\"verdict\":\"PASS\",\"o\":\"\t\"}",
        "{\"case\":\"a\x80\",\"verdict\":\"PASS\"}",
    };
    for (size_t i = 0; i < sizeof left / sizeof *left; i++) {
        struct nnv_line l;
        if (scan(left[i], &l)) fail_msg("taken: %s", left[i]);
    }
    struct nnv_line l;
    assert_false(nnv_line_scan("{\"case\":\"a\0b\",\"verdict\":\"PASS\"}", 31, &l));
}

/** Whatever becomes of a line when bytes of it change: what is taken is what the parser says, and nothing is read
 * beyond. */
static void agrees_with_the_parser(void **state) {
    (void)state;
    static const char line[] =
        "{\"case\":\"a/1\",\"verdict\":\"SKIP\",\"reason\":\"why\",\"compared\":10,\"ms\":0.5,\"o\":[{\"b\":1}]}";
    static const char bytes[] = "\"\\{}[]:,019.eE-+at \x01\x80\xc3";
    const size_t n = sizeof line - 1;
    size_t taken = 0;
    char *copy = malloc(n); /* not terminated: a sanitizer sees reads beyond it */
    for (size_t at = 0; at < n; at++)
        for (size_t b = 0; b < sizeof bytes; b++) {
            struct nnv_line l;
            json_error_t why;
            memcpy(copy, line, n);
            copy[at] = bytes[b];
            if (!nnv_line_scan(copy, n, &l)) continue;
            taken++;
            json_t *tree = nnv_record_parse(copy, n, &why);
            if (tree == NULL) fail_msg("taken, but no JSON: %.*s", (int)n, copy);
            assert_string_equal(nnv_json_text(tree, "verdict", ""), "SKIP");
            assert_int_equal(strlen(nnv_json_text(tree, "case", "")), l.name_bytes);
            assert_memory_equal(nnv_json_text(tree, "case", ""), l.name, l.name_bytes);
            assert_int_equal(nnv_json_count(tree, "compared"), l.compared);
            assert_true(json_number_value(json_object_get(tree, "ms")) == l.ms);
            json_decref(tree);
        }
    assert_true(taken > 100);
    for (size_t cut = 0; cut < n; cut++) {
        struct nnv_line l;
        char *part = malloc(cut + 1);
        memcpy(part, line, cut);
        part = realloc(part, cut == 0 ? 1 : cut);
        assert_false(nnv_line_scan(part, cut, &l));
        free(part);
    }
    free(copy);
}

static void reasons_are_kept_once(void **state) {
    (void)state;
    struct fx f =
        fx_make("a\ts\t\t\t\nb\ts\t\t\t\nc\ts\t\t\t\n",
                "{\"case\":\"a\",\"verdict\":\"SKIP\",\"reason\":\"one\"}\n{\"case\":\"b\",\"verdict\":\"FAIL\","
                "\"reason\":\"one\\nand more\"}\n{\"case\":\"c\",\"verdict\":\"SKIP\",\"reason\":\"other\"}\n");
    fx_load(&f);
    assert_string_equal(f.report->item[0].more->reason, "one");
    assert_ptr_equal(f.report->item[0].more->reason, f.report->item[1].more->reason);
    assert_string_equal(f.report->item[2].more->reason, "other");
    assert_int_equal(f.report->reason_bytes, 4 + 6);
    fx_remove(&f);
}

/** Numbers are what the journal has, to the bit, however large or fine they are; cases that are alike share the rest.
 */
static void numbers_are_exact(void **state) {
    (void)state;
    static const struct {
        double ms, driver_us;
        uint64_t compared;
        const char *text;
    } row[] = {
        {0, 0, 0, "\"ms\":0.000,\"driver_us\":0,\"compared\":0"},
        {12.345, 789, 360, "\"ms\":12.345,\"driver_us\":789,\"compared\":360"},
        {4294967.294, 4294967294, UINT32_MAX - 1,
         "\"ms\":4294967.294,\"driver_us\":4294967294,\"compared\":4294967294"},
        {4294967.295, 4294967295, UINT32_MAX, "\"ms\":4294967.295,\"driver_us\":4294967295,\"compared\":4294967295"},
        {12.3456, 0.5, INT64_MAX, "\"ms\":12.3456,\"driver_us\":0.5,\"compared\":9223372036854775807"},
        {1e12, 1e12, 1, "\"ms\":1e12,\"driver_us\":1e12,\"compared\":1"},
    };
    enum { ROWS = sizeof row / sizeof *row, EACH = 900 };
    struct nnv_text cases = {0}, records = {0};
    for (int i = 0; i < ROWS + EACH; i++) {
        char even[64];
        snprintf(even, sizeof even, "\"ms\":%d.%03d", i / 7, i);
        nnv_text_addf(&cases, "%d\ts\tADD\tfloat32\t\n", i);
        nnv_text_addf(&records, "{\"case\":\"%d\",\"verdict\":\"PASS\",%s}\n", i, i < ROWS ? row[i].text : even);
    }
    struct fx f = fx_make(cases.data, records.data);
    fx_load(&f);
    for (int i = 0; i < ROWS; i++) {
        const struct nnv_report_case *c = &f.report->item[i];
        if (nnv_case_ms(c) != row[i].ms || nnv_case_driver_us(c) != row[i].driver_us ||
            nnv_case_compared(c) != row[i].compared)
            fail_msg("%s: %.17g, %.17g, %" PRIu64, row[i].text, nnv_case_ms(c), nnv_case_driver_us(c),
                     nnv_case_compared(c));
    }
    for (int i = ROWS; i < ROWS + EACH; i++) {
        char even[64];
        snprintf(even, sizeof even, "%d.%03d", i / 7, i);
        assert_true(nnv_case_ms(&f.report->item[i]) == strtod(even, NULL));
        assert_ptr_equal(f.report->item[i].more, f.report->item[0].more);
    }
    assert_int_equal(f.report->alike.count, 3);
    nnv_text_free(&cases);
    nnv_text_free(&records);
    fx_remove(&f);
}

/** Very many different reasons are kept as what they have in common, which the bugs are told by. */
static void reasons_are_bounded(void **state) {
    (void)state;
    enum { CASES = 100000, LONG = 480 };
    struct nnv_text cases = {0}, records = {0};
    char filler[LONG + 1];
    memset(filler, 'x', LONG);
    filler[LONG] = '\0';
    for (int i = 0; i < CASES; i++) {
        nnv_text_addf(&cases, "%d\ts\tADD\tfloat32\t\n", i);
        nnv_text_addf(&records, "{\"case\":\"%d\",\"verdict\":\"FAIL\",\"reason\":\"%d wrong %s\"}\n", i, i, filler);
    }
    struct fx f = fx_make(cases.data, records.data);
    fx_load(&f);
    assert_in_range(f.report->reason_bytes, 32 << 20, (32 << 20) + 2048);
    assert_memory_equal(f.report->item[0].more->reason, "0 wrong", 7);
    assert_memory_equal(f.report->item[CASES - 1].more->reason, "# wrong", 7);
    struct nnv_buckets b = {0};
    struct nnv_err err = {0};
    assert_int_equal(nnv_buckets_of(f.report, &b, NULL, &err), NNV_OK);
    assert_int_equal(b.map.count, 1);
    assert_int_equal(b.item[0].count, CASES);
    nnv_buckets_free(&b);
    nnv_text_free(&cases);
    nnv_text_free(&records);
    fx_remove(&f);
}

static void what_is_alike_stays_alike(void **state) {
    (void)state;
    static const char *const reasons[] = {"output 0 [1,2, 3]: -4 of 5e-3 wrong", "float32 CONV_2D 0x1f", "# of #, 7",
                                          ""};
    for (size_t i = 0; i < sizeof reasons / sizeof *reasons; i++) {
        struct nnv_text once = {0}, twice = {0};
        nnv_text_add_like(&once, reasons[i]);
        nnv_text_add_like(&twice, once.data != NULL ? once.data : "");
        if (once.len > 0) assert_string_equal(once.data, twice.data);
        nnv_text_free(&once);
        nnv_text_free(&twice);
    }
}

/** A page of very many cases names those that went wrong, and counts the others. */
static void very_many_cases_are_not_listed(void **state) {
    (void)state;
    enum { CASES = 100001 };
    struct nnv_text cases = {0}, records = {0};
    struct nnv_err err = {0};
    for (int i = 0; i < CASES; i++) {
        nnv_text_addf(&cases, "ops/ADD/a_name_of_some_length/%d\tops\tADD\tfloat32\t\n", i);
        nnv_text_addf(&records, "{\"case\":\"ops/ADD/a_name_of_some_length/%d\",\"verdict\":\"%s\",\"compared\":1}\n",
                      i, i == 77777 ? "FAIL" : "PASS");
    }
    struct fx f = fx_make(cases.data, records.data);
    fx_load(&f);
    assert_int_equal(nnv_report_html(f.report, &err), NNV_OK);
    size_t size = 0;
    char *page = fx_get(&f, "report.html", &size);
    assert_true(size < 100000);
    assert_non_null(strstr(page, "77777"));
    assert_null(strstr(page, "77778"));
    assert_non_null(strstr(page, "100,000 not listed here"));
    xmlFreeDoc(fx_xml(&f, "report.html"));
    free(page);
    nnv_text_free(&cases);
    nnv_text_free(&records);
    fx_remove(&f);
}

static void streams_appear_when_they_are_whole(void **state) {
    (void)state;
    struct fx f = fx_new();
    struct nnv_err err = {0};
    struct nnv_stream s = NNV_STREAM_NONE;
    char block[5000];
    fx_put(&f, "bench.json", "old", 3);
    assert_int_equal(nnv_stream_open(&s, fx_path(&f, "bench.json"), &err), NNV_OK);
    for (int i = 0; i < 200; i++) {
        memset(block, 'a' + i % 26, sizeof block);
        assert_int_equal(nnv_stream_add(&s, block, sizeof block, &err), NNV_OK);
    }
    char *old = fx_get(&f, "bench.json", NULL);
    assert_string_equal(old, "old");
    free(old);
    assert_int_equal(nnv_stream_end(&s, &err), NNV_OK);
    size_t n = 0;
    char *whole = fx_get(&f, "bench.json", &n);
    assert_int_equal(n, 200 * sizeof block);
    for (size_t i = 0; i < n; i++) assert_int_equal(whole[i], 'a' + (char)(i / sizeof block % 26));
    free(whole);
    /* more at once than is kept back */
    char *large = calloc(1, 1 << 20);
    assert_int_equal(nnv_stream_open(&s, fx_path(&f, "bench.json"), &err), NNV_OK);
    assert_int_equal(nnv_stream_add(&s, "x", 1, &err), NNV_OK);
    assert_int_equal(nnv_stream_add(&s, large, 1 << 20, &err), NNV_OK);
    assert_int_equal(nnv_stream_end(&s, &err), NNV_OK);
    free(large);
    free(fx_get(&f, "bench.json", &n));
    assert_int_equal(n, (1 << 20) + 1);
    /* what is given up leaves nothing, and the old as it was: the folder can be removed */
    assert_int_equal(nnv_stream_open(&s, fx_path(&f, "bench.json"), &err), NNV_OK);
    nnv_stream_drop(&s);
    assert_int_equal(nnv_stream_open(&s, "/nowhere/at/all", &err), NNV_IO);
    assert_non_null(strstr(err.text, "/nowhere/at/all"));
    fx_remove(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(takes_what_is_asked_for),
        cmocka_unit_test(leaves_the_rest),
        cmocka_unit_test(agrees_with_the_parser),
        cmocka_unit_test(reasons_are_kept_once),
        cmocka_unit_test(numbers_are_exact),
        cmocka_unit_test(reasons_are_bounded),
        cmocka_unit_test(what_is_alike_stays_alike),
        cmocka_unit_test(very_many_cases_are_not_listed),
        cmocka_unit_test(streams_appear_when_they_are_whole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
