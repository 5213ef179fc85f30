/* SPDX-License-Identifier: Apache-2.0 */
/** @file test_report_bench.c Reports of a bench: what bench.json says is in them, and whatever it says, they are whole.
 */
#include <math.h>

#include "tests/kit/report.h"

#include "reports/bench.h"

#define QUANTILES                                                                                                      \
    "{\"p50\":{\"ns\":1500000,\"low_ns\":1400000,\"high_ns\":1600000},\"p90\":{\"ns\":1800000},\"p97\":{\"ns\":null}," \
    "\"p99\":{\"ns\":2500000}}"
#define LATENCY                                                                                                        \
    "{\"state\":\"done\",\"reason\":\"\",\"compile_ns\":12000000,\"compile_cached_ns\":null,\"first_ns\":4000000,"     \
    "\"steady\":true,\"count\":4,\"executions_per_second\":640.5,\"noise\":1.04,\"noisy\":false,\"peak_bytes\":"       \
    "15200000,\"quantiles\":" QUANTILES ",\"samples_ns\":[1400000,1500000,1600000,2500000]}"
#define SLOW                                                                                                           \
    "{\"state\":\"done\",\"noisy\":true,\"steady\":false,\"quantiles\":{\"p50\":{\"ns\":4500000}},\"samples_ns\":["    \
    "4400000,4500000]}"
#define ROW(network, driver, rest) "{\"network\":\"" network "\",\"driver\":\"" driver "\"," rest "}"
#define SHEET(rows) "{\"form\":\"nnvts-bench-1\",\"version\":\"9.8.7\",\"rows\":[" rows "]}"

/** A folder with that bench.json, its sheet and its pages. */
struct made {
    struct fx f;
    struct nnv_bench_sheet *sheet;
    xmlDoc *html, *junit;
    char *text; /* of report.html */
    size_t size;
};

static struct made make(const char *json) {
    struct made m = {.f = fx_new()};
    struct nnv_err err = {0};
    fx_put(&m.f, "bench.json", json, strlen(json));
    if (nnv_bench_load(m.f.folder, &m.sheet, &err) != NNV_OK) fail_msg("%s", err.text);
    if (nnv_bench_html(m.sheet, &err) != NNV_OK || nnv_bench_junit(m.sheet, &err) != NNV_OK) fail_msg("%s", err.text);
    m.html = fx_xml(&m.f, "report.html");
    m.junit = fx_xml(&m.f, "junit.xml");
    m.text = fx_get(&m.f, "report.html", &m.size);
    assert_int_equal(fx_junit_errors(m.junit, false), 0);
    assert_int_equal(fx_xpath(m.junit, "count(//testcase)"), m.sheet->count);
    assert_int_equal(fx_xpath(m.junit, "/testsuites/@tests"), m.sheet->count);
    assert_int_equal(fx_xpath(m.junit, "/testsuites/@failures"), fx_xpath(m.junit, "count(//failure)"));
    assert_int_equal(fx_xpath(m.junit, "/testsuites/@errors"), fx_xpath(m.junit, "count(//error)"));
    assert_int_equal(fx_xpath(m.junit, "sum(//testsuite/@skipped)"), fx_xpath(m.junit, "count(//skipped)"));
    return m;
}

static void end(struct made *m) {
    nnv_bench_free(m->sheet);
    xmlFreeDoc(m->html);
    xmlFreeDoc(m->junit);
    free(m->text);
    fx_remove(&m->f);
}

static void has(const struct made *m, const char *text) {
    if (!strstr(m->text, text)) fail_msg("no '%s' in report.html", text);
}

static void a_driver_beside_another(void **state) {
    (void)state;
    struct made m = make(SHEET(ROW("net", "cpu", "\"latency\":" LATENCY) "," ROW(
        "net", "npu",
        "\"failed\":true,\"gate\":\"its median latency is 3.00 "
        "times\",\"latency\":" SLOW) "," ROW("other", "cpu",
                                             "\"latency\":{\"state\":\"unsupported\","
                                             "\"reason\":\"no LSTM\"}")));
    assert_int_equal(m.sheet->networks.count, 2);
    assert_int_equal(nnv_bench_exit(m.sheet), NNVTS_EXIT_FAIL);
    has(&m, "Failed: 1 of 3 measured");
    has(&m, "1.50\xc2\xa0ms");
    has(&m, "1.40\xc2\xa0ms to 1.60\xc2\xa0ms");
    has(&m, "<td class=\"n\">3.00</td>"); /* 4.5 ms by 1.5 ms */
    has(&m, "15.2\xc2\xa0MB");
    has(&m, "its median latency is 3.00 times");
    has(&m, "no LSTM");
    has(&m, "the machine was noisy");
    assert_int_equal(fx_xpath(m.html, "count(//*[local-name()='svg'])"), 1);
    /* a row of bars for each driver: 4 different times, and 2 */
    assert_int_equal(fx_xpath(m.html, "count(//*[@class='h'])"), 2);
    assert_int_equal(fx_xpath(m.html, "count(//*[@class='m'])"), 2);
    assert_int_equal(fx_xpath(m.html, "count(//*[@class='q'])"), 2);
    assert_int_equal(fx_xpath(m.junit, "count(//failure[@message='its median latency is 3.00 times'])"), 1);
    assert_int_equal(fx_xpath(m.junit, "count(//testcase[@name='other/cpu']/skipped[@message='no LSTM'])"), 1);
    assert_true(fabs(fx_xpath(m.junit, "//testcase[@name='net/cpu']/@time") - 0.0015) < 1e-9);
    end(&m);
}

static void accuracy_beside_the_reference(void **state) {
    (void)state;
    struct made m = make(SHEET(ROW("net", "cpu",
                                   "\"failed\":true,\"gate\":\"worse\",\"accuracy\":{\"state\":\"done\",\"items\":1500,"
                                   "\"driver\":{\"top1\":0.875,\"top5\":1},\"reference\":{\"top1\":0.96875},"
                                   "\"agreement\":0.890625,\"p\":1.25e-7,\"worse\":true,\"largest_error\":0.5}")));
    has(&m, "87.50\xc2\xa0%");
    has(&m, "96.88\xc2\xa0%");
    has(&m, "89.06\xc2\xa0%");
    has(&m, "1.25e-07");
    has(&m, "worse, not by chance");
    assert_int_equal(fx_xpath(m.html, "count(//*[local-name()='svg'])"), 0);
    end(&m);
}

static void operation_by_operation(void **state) {
    (void)state;
    struct made m = make(SHEET(ROW(
        "net", "cpu",
        "\"failed\":true,\"gate\":\"operation 1\",\"layers\":{\"state\":\"done\",\"operations\":3,\"judged\":2,"
        "\"out_of_budget\":1,\"first\":1,\"worst\":[{\"operation\":1,\"name\":\"CONV_2D\",\"result\":\"float32 [2]\","
        "\"kind\":\"wrong\",\"compared\":2,\"wrong\":1,\"error\":0.25,\"ratio\":\"Infinity\",\"alone\":\"passes\"},"
        "{\"operation\":0,\"name\":\"ADD\",\"kind\":\"right\",\"compared\":2,\"wrong\":0,\"error\":1e-7,\"ratio\":"
        "0.125}]}")));
    has(&m, "3 operations, 2 judged, 1 out of budget");
    has(&m, "The first is operation 1.");
    has(&m, "1 CONV_2D");
    has(&m, "right as a model of its own");
    has(&m, "0.125");
    has(&m, "10<sup>6</sup>");
    end(&m);
}

#define RANGE(median, low, high) "{\"median\":" median ",\"low\":" low ",\"high\":" high "}"
#define STEP(number, name, operations, intensity, gops, ns)                                                            \
    "{\"operation\":" number ",\"name\":\"" name "\",\"result\":\"float32 [2]\",\"work\":{\"operations\":" operations  \
    ",\"bytes\":100,\"intensity\":" intensity "},\"roofline\":{\"peak_gops\":100,\"ns\":" RANGE(                       \
        ns, "1", "9e9") ",\"gops\":" RANGE(gops, "null", "null") ",\"percent\":" RANGE("42.5", "40", "45") "}}"

/** Operations under the roof: a circle for each that calculates, lines for the bandwidths of memory and caches. */
static void rooflines(void **state) {
    (void)state;
    static const char text[] =
        "{\"form\":\"nnvts-bench-1\",\"roof\":{\"bandwidth\":[{\"bytes\":1000,\"gbytes_per_second\":80},{\"bytes\":"
        "4000,"
        "\"gbytes_per_second\":10}]},\"rows\":[" ROW(
            "net", "cpu",
            "\"latency\":{\"state\":\"done\",\"roofline\":{\"gops\":" RANGE(
                "7.25", "7", "8") "}},\"layers\":{\"state\":"
                                  "\"done\",\"steps\":[" STEP("0", "RESHAPE", "0", "0", "0", "500") "," STEP(
                                      "1", "CONV_2D", "900", "9", "31", "3000") "," STEP("2", "ADD", "50", "0.5", "2",
                                                                                         "1000") "]}") "]}";
    struct made m = make(text);
    has(&m, "7.25<small>7 to 8</small>");
    has(&m, "Operations under the roof: cpu");
    has(&m, "42.5\xc2\xa0%<small>40 to 45</small>");
    has(&m, "Without a circle: 1 that do no arithmetic.");
    assert_int_equal(fx_xpath(m.html, "count(//*[local-name()='circle'])"), 2);
    assert_int_equal(fx_xpath(m.html, "count(//*[local-name()='path' and @class='r'])"), 2);
    assert_int_equal(fx_xpath(m.html, "count(//*[local-name()='path' and @class='c'])"), 1);
    assert_true(strstr(m.text, "1 CONV_2D</th>") < strstr(m.text, "2 ADD</th>")); /* the slowest first */
    end(&m);
    m = make("{\"form\":\"nnvts-bench-1\",\"roof\":{\"bandwidth\":[1e300,{}]},\"rows\":[" ROW(
        "net", "cpu",
        "\"layers\":{\"state\":\"done\",\"steps\":[[],1," STEP("-1", "</svg>", "1", "1e308", "1e308", "1e308") "," STEP(
            "2", "ADD", "50", "0.5", "2", "1e-300") "]}") "]}");
    assert_int_equal(fx_xpath(m.html, "count(//*[local-name()='circle'])"), 1);
    end(&m);
}

/** Whatever is missing is unknown, and what was not measured did not pass. */
static void missing_members(void **state) {
    (void)state;
    struct made m =
        make(SHEET("{}," ROW("", "", "\"latency\":{}") "," ROW("n", "d", "\"latency\":{\"state\":\"done\"}")));
    assert_int_equal(nnv_bench_exit(m.sheet), NNVTS_EXIT_FAIL);
    assert_int_equal(fx_xpath(m.junit, "count(//failure[@message='nothing was measured'])"), 1);
    assert_int_equal(fx_xpath(m.junit, "count(//error)"), 1);
    assert_int_equal(fx_xpath(m.junit, "count(//testcase[not(*)])"), 1);
    end(&m);
    m = make(SHEET(""));
    has(&m, "Nothing was measured");
    end(&m);
}

/** Hostile texts and numbers: the pages stay well-formed (make() parses them) and the text is text. */
static void hostile_values(void **state) {
    (void)state;
    struct made m = make(SHEET(ROW(
        "</style><script>alert(1)</script>", "\\u202e\\u0000\\u001b[2J\\ud83d\\ude00",
        "\"latency\":"
        "{\"state\":[],\"quantiles\":{\"p50\":{\"ns\":1e308,\"low_ns\":-1e308,\"high_ns\":1e300}},\"samples_"
        "ns\":"
        "[1e308,-1,0,1e-300,null,\"x\",5e299],\"peak_bytes\":9223372036854775807}") "," ROW("net", "twice",
                                                                                            "\"latency\":{"
                                                                                            "\"state\":"
                                                                                            "\"done\","
                                                                                            "\"samples_ns\":["
                                                                                            "1e-2,1e29],"
                                                                                            "\"quantiles\":{"
                                                                                            "\"p50\":"
                                                                                            "{\"ns\":1e29},"
                                                                                            "\"p99\":{\"ns\":"
                                                                                            "1e29}}},"
                                                                                            "\"accuracy\":[1]"
                                                                                            ",\"layers\":"
                                                                                            "\"x\"") "," ROW("net",
                                                                                                             "twic"
                                                                                                             "e",
                                                                                                             "\"lat"
                                                                                                             "ency"
                                                                                                             "\":{"
                                                                                                             "\"sta"
                                                                                                             "te\":"
                                                                                                             "\"don"
                                                                                                             "e\","
                                                                                                             "\"sam"
                                                                                                             "ples_"
                                                                                                             "ns\":"
                                                                                                             "{\"a"
                                                                                                             "\":1}"
                                                                                                             ",\"qu"
                                                                                                             "antil"
                                                                                                             "es\":"
                                                                                                             "7}") "," ROW("net",
                                                                                                                           "twice #2",
                                                                                                                           "\"latency\":{\"state\":\"done\"},\"layers\":{\"worst\":[1,{\"operation\":-5}],"
                                                                                                                           "\"operations\":-1,\"state\":\"done\"}")));
    assert_int_equal(fx_xpath(m.html, "count(//*[local-name()='script'])"), 0);
    has(&m, "&lt;/style&gt;&lt;script&gt;");
    assert_null(strchr(m.text, '\x1b'));
    assert_null(strstr(m.text, "\xe2\x80\xae"));
    assert_int_equal(fx_xpath(m.html, "count(//meta[@http-equiv='Content-Security-Policy'])"), 1);
    end(&m);
}

/** Many rows: the page ends in time. */
static void a_page_has_an_end(void **state) {
    (void)state;
    enum { ROWS = 6000 };
    struct nnv_text t = {0};
    nnv_text_add(&t, "{\"form\":\"nnvts-bench-1\",\"rows\":[");
    for (int i = 0; i < ROWS; i++) {
        nnv_text_addf(&t, "%s{\"network\":\"network number %d\",\"driver\":\"cpu\",\"latency\":", i ? "," : "", i / 2);
        nnv_text_add(&t, LATENCY "}");
    }
    nnv_text_add(&t, "]}");
    struct made m = make(t.data);
    assert_true(m.size < 2000000);
    has(&m, "4,000 more are in bench.json");
    has(&m, "more networks are in bench.json");
    end(&m);
    nnv_text_free(&t);
}

static void refuse(const char *json, const char *why) {
    struct fx f = fx_new();
    struct nnv_bench_sheet *sheet = NULL;
    struct nnv_err err = {0};
    fx_put(&f, "bench.json", json, strlen(json));
    assert_int_equal(nnv_bench_load(f.folder, &sheet, &err), NNV_INVALID);
    if (!strstr(err.text, why) || !strstr(err.text, "bench.json")) fail_msg("'%s', not '%s'", err.text, why);
    fx_remove(&f);
}

static void what_is_no_bench(void **state) {
    (void)state;
    refuse("", "not JSON");
    refuse("[]", "not an object");
    refuse("{\"form\":\"nnvts-bench-1\",\"rows\":[1e999]}", "not JSON");
    refuse("{\"form\":\"nnvts-bench-2\",\"rows\":[]}", "its form is 'nnvts-bench-2'");
    refuse("{\"rows\":[]}", "its form is ''");
    refuse("{\"form\":\"nnvts-bench-1\",\"rows\":{}}", "no array rows");
    refuse("{\"form\":\"nnvts-bench-1\",\"rows\":[{},7]}", "rows[1] is not an object");
}

static void a_folder_of_a_bench(void **state) {
    (void)state;
    struct fx f = fx_new();
    assert_false(nnv_bench_is(f.folder));
    fx_put(&f, "bench.json", "{}", 2);
    assert_true(nnv_bench_is(f.folder));
    fx_put(&f, "journal.jsonl", "", 0); /* a run in the same folder is newer, or stranger: it comes first */
    assert_false(nnv_bench_is(f.folder));
    fx_remove(&f);
}

static void times(void **state) {
    (void)state;
    static const struct {
        double ns;
        const char *text;
    } all[] = {{0, "0.00\xc2\xa0ns"},      {9.994, "9.99\xc2\xa0ns"},        {9.996, "10.0\xc2\xa0ns"},
               {999.4, "999\xc2\xa0ns"},   {999.6, "1.00\xc2\xa0\xc2\xb5s"}, {1.5e6, "1.50\xc2\xa0ms"},
               {99.96e6, "100\xc2\xa0ms"}, {12.3e9, "12.3\xc2\xa0s"},        {1e300, "1e+291\xc2\xa0s"},
               {INFINITY, "\xe2\x80\x93"}, {(double)NAN, "\xe2\x80\x93"}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        struct nnv_text t = {0};
        nnv_bench_add_time(&t, all[i].ns);
        assert_string_equal(t.data, all[i].text);
        nnv_text_free(&t);
    }
}

/** A bench of these medians; an end of an interval of 0 is not known. */
static struct made timed(void) {
    static const struct {
        const char *network, *driver;
        int ns, low, high;
    } rows[] = {{"won", "cpu", 1000, 900, 1100},
                {"won", "a", 3000, 2900, 3100},
                {"won", "b", 2000, 1900, 2100},
                {"even", "cpu", 1050, 900, 1150},
                {"even", "a", 1000, 950, 1100},
                {"lost", "cpu", 3000, 2900, 3100},
                {"lost", "a\\u001b[31m", 2000, 1900, 2100},
                {"open", "cpu", 3000, 0, 3100},
                {"open", "a", 1000, 900, 1100},
                {"close", "cpu", 1005, 1004, 1006},
                {"close", "a", 1000, 999, 1001},
                {"alone", "cpu", 3000, 2900, 3100}};
    struct nnv_text t = {0};
    nnv_text_add(&t, "{\"form\":\"nnvts-bench-1\",\"instructions\":\"avx2 <fma>\",\"rows\":[");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        nnv_text_addf(&t, "%s{\"network\":\"%s\",\"driver\":\"%s\",\"latency\":{\"state\":\"done\",", i ? "," : "",
                      rows[i].network, rows[i].driver);
        nnv_text_addf(&t, "\"device\":\"D<>\",\"version\":\"7.6\",\"noise\":1.25,\"quantiles\":{\"p50\":{\"ns\":%d,",
                      rows[i].ns);
        if (rows[i].low > 0) nnv_text_addf(&t, "\"low_ns\":%d,", rows[i].low);
        nnv_text_addf(&t, "\"high_ns\":%d}}}}", rows[i].high);
    }
    nnv_text_add(&t, "]}");
    struct made m = make(t.data);
    nnv_text_free(&t);
    return m;
}

/* Beside the fastest of the others, and behind only where chance does not explain it, and it is more than nothing. */
static void where_a_driver_stands(void **state) {
    (void)state;
    struct nnv_bench_standing one;
    struct nnv_text t = {0};
    struct made m = timed();
    assert_true(nnv_bench_stands(m.sheet, 0, &one));
    assert_string_equal(one.best->driver, "b");
    assert_float_equal(one.ratio, 0.5, 1e-9);
    assert_int_equal(one.behind, -1);
    assert_true(nnv_bench_stands(m.sheet, 1, &one));
    assert_int_equal(one.behind, 0);
    assert_true(nnv_bench_stands(m.sheet, 2, &one));
    assert_int_equal(one.behind, 1);
    assert_true(nnv_bench_stands(m.sheet, 3, &one));
    assert_int_equal(one.behind, 0);
    assert_true(nnv_bench_stands(m.sheet, 4, &one));
    assert_int_equal(one.behind, 0);
    assert_false(nnv_bench_stands(m.sheet, 5, &one));
    nnv_bench_standings(m.sheet, &t);
    assert_non_null(strstr(t.data, "ahead on 1, behind on 1, even on 3 of 5 networks"));
    assert_true(strstr(t.data, "BEHIND  1.50  lost") < strstr(t.data, "ahead   0.50  won"));
    assert_null(strchr(t.data, 27)); /* names move no terminal */
    nnv_text_free(&t);
    has(&m, "ahead on 1, behind on 1, even on 3 of 5 networks");
    has(&m, "<span class=\"bad\">behind</span>");
    has(&m, "avx2 &lt;fma&gt;");
    assert_int_equal(fx_xpath(m.html, "count(//small[starts-with(., 'cpu is D<> 7.6')])"), 1); /* of six lines */
    has(&m, "<dt>Noise</dt><dd>1.25");
    assert_int_equal(fx_xpath(m.html, "count(//*[@id='standing']//*[local-name()='tbody']/*)"), 5);
    end(&m);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_driver_beside_another), cmocka_unit_test(accuracy_beside_the_reference),
        cmocka_unit_test(operation_by_operation),  cmocka_unit_test(rooflines),
        cmocka_unit_test(missing_members),         cmocka_unit_test(hostile_values),
        cmocka_unit_test(a_page_has_an_end),       cmocka_unit_test(what_is_no_bench),
        cmocka_unit_test(a_folder_of_a_bench),     cmocka_unit_test(times),
        cmocka_unit_test(where_a_driver_stands),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
