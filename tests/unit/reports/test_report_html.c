/* SPDX-License-Identifier: Apache-2.0 */
/** @file test_report_html.c report.html: well-formed, whole, harmless, small. */
#include "tests/kit/report.h"

#include <png.h>

#include "base/rng.h"
#include "reports/html/error_map.h"

/** Calls f for the text of each node that an XPath expression gives. */
static void each(xmlDoc *doc, const char *expression, void (*f)(void *context, const char *text), void *to) {
    xmlXPathContext *context = xmlXPathNewContext(doc);
    xmlXPathObject *nodes = xmlXPathEvalExpression((const xmlChar *)expression, context);
    for (int i = 0; i < xmlXPathNodeSetGetLength(nodes->nodesetval); i++) {
        xmlChar *text = xmlNodeGetContent(nodes->nodesetval->nodeTab[i]);
        f(to, (const char *)text);
        xmlFree(text);
    }
    xmlXPathFreeObject(nodes);
    xmlXPathFreeContext(context);
}

static void count_lines(void *context, const char *text) {
    size_t *n = context;
    for (; *text != '\0'; text++) *n += *text == '\n';
}

/** Number of cases that the lists of the page name: each name stands on a line of its own. */
static size_t count_listed(xmlDoc *doc) {
    size_t n = 0;
    each(doc, "//section[@id='cases']//li/text()", count_lines, &n);
    return n;
}

struct ids {
    struct nnv_map map;
    struct nnv_arena *arena;
};

static void add_id(void *context, const char *text) {
    struct ids *ids = context;
    uint32_t before = ids->map.count;
    assert_int_equal(nnv_map_add(&ids->map, nnv_arena_strdup(ids->arena, text)), before); /* each once */
}

static void find_id(void *context, const char *text) {
    const struct ids *ids = context;
    if (*text == '#' && nnv_map_find(&ids->map, text + 1) == NNV_MAP_NONE) fail_msg("a link to nowhere: %s", text);
}

static void links_lead_somewhere(xmlDoc *doc) {
    struct ids ids = {.arena = nnv_arena_new()};
    each(doc, "//@id", add_id, &ids);
    each(doc, "//a/@href", find_id, &ids);
    nnv_map_free(&ids.map);
    nnv_arena_free(ids.arena);
}

/** report.html of the run: well-formed, without anything that runs or is fetched but what is ours. */
static xmlDoc *html_of(const struct fx *f) {
    struct nnv_err err = {0};
    if (nnv_report_html(f->report, &err) != NNV_OK) fail_msg("%s", err.text);
    xmlDoc *doc = fx_xml(f, "report.html");
    assert_int_equal(fx_xpath(doc, "count(//script)"), 1);
    assert_int_equal(fx_xpath(doc, "count(//style)"), 1);
    assert_int_equal(fx_xpath(doc, "count(//link|//iframe|//object|//embed|//form|//base)"), 0);
    assert_int_equal(fx_xpath(doc, "count(//@*[starts-with(name(), 'on')])"), 0);
    assert_int_equal(fx_xpath(doc, "count(//a/@href[not(starts-with(., '#') or starts-with(., 'dumps/'))])"), 0);
    assert_int_equal(fx_xpath(doc, "count(//a/@href[contains(., '..')])"), 0);
    assert_int_equal(fx_xpath(doc, "count(//img[not(starts-with(@src, 'data:image/png;base64,'))])"), 0);
    assert_int_equal(fx_xpath(doc, "count(//img[not(@alt)])"), 0);
    links_lead_somewhere(doc);
    assert_int_equal(count_listed(doc), f->report->count);
    return doc;
}

static void golden_runs_are_well_formed(void **state) {
    (void)state;
    static const char *const names[] = {"pass", "every", "hostile", "empty", "cut", "killed", "nothing"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct fx f = fx_golden(names[i]);
        xmlFreeDoc(html_of(&f));
        char *text = fx_get(&f, "report.html", NULL);
        assert_null(strstr(text, "://"));
        free(text);
        fx_remove(&f);
    }
}

/** The headline of a golden run must begin like that. */
static void headline(const char *run, const char *words) {
    struct fx f = fx_golden(run);
    xmlDoc *doc = html_of(&f);
    char expression[300];
    snprintf(expression, sizeof expression, "count(//h1[starts-with(., \"%s\")])", words);
    if (fx_xpath(doc, expression) != 1) fail_msg("%s: no headline '%s'", run, words);
    xmlFreeDoc(doc);
    fx_remove(&f);
}

static void the_headline_is_the_verdict(void **state) {
    (void)state;
    headline("pass", "Passed: 10 cases, 1 honestly unsupported");
    headline("every", "Failed: 6 bugs behind 8 failures, and 2 cases were not run");
    headline("killed", "Not finished: 11 of 11 cases were not run");
    headline("cut", "Not finished: 1 of 4 cases were not run");
    headline("nothing", "Nothing was compared");
    headline("empty", "Nothing was compared");
}

static void every_section_is_there(void **state) {
    (void)state;
    struct fx f = fx_golden("every");
    xmlDoc *doc = html_of(&f);
    static const char *const once[] = {
        "//dd[starts-with(., 'faulty:dilation-ignored (faulty) 1.0.0')]",
        "//dl[@class='facts']//code[. = 'nnvts run --driver faulty:dilation-ignored']",
        "//dl[@class='facts']//dd[starts-with(., 'Example CPU')]",
        "//section[@id='bugs']/article[1][contains(h3, 'DEPTHWISE_CONV_2D')]//code[@class='name' and contains(., "
        "'2x3/2')]",
        "//section[@id='bugs']/article[1]//code[@class='cmd' and starts-with(., 'nnvts replay "
        "nnvts-out/dumps/ops.DEP')]",
        "//section[@id='bugs']/article[1]//p[starts-with(., 'What it is for: every operation, type and parameter "
        "against the golden model; of DEPTHWISE_CONV_2D in ')]",
        "//section[@id='bugs']/article[1]//img",
        "//section[@id='bugs']/article[1]//td[@class='w x' and . = '219']",
        "//section[@id='bugs']/article[1]//td[@class='w x' and . = '161']",
        "//section[@id='bugs']//pre[contains(., 'and a second line')]",
        "//section[@id='bugs']//pre[contains(., 'faulty_prepare')]",
        "//section[@id='bugs']//pre[contains(., 'about to crash')]",
        "//section[@id='coverage']//tr[th = 'DEPTHWISE_CONV_2D']/td[@class='F' and a = 'F 3']",
        "//section[@id='coverage']//tr[th = 'LSTM']/td[@class='U' and a = 'U 1'][2]",
        "//section[@id='coverage']//tr[th = 'ADD']/td[@class='N' and a/@title = '4 pass, 1 not run']",
        "//section[@id='coverage']//tr[th = 'ADD']/td[@class='gap' and . = 'none']",
        "//section[@id='coverage']/details[contains(summary, '1 operation without')]/p[contains(., 'GATHER')]",
        "//section[@id='failures'][count(details) = 2]",
        "//section[@id='suites']//tr[th = 'validate'][contains(td[1], 'refused')]",
        "//section[@id='suites']//tr[th = 'LSTM'][contains(td[3], 'does not support')]",
        "//section[@id='suites']//tr[th = 'CAST'][contains(td[3], 'feature level 6')]",
        "(//section[@id='suites']//table)[last()]//tr[1][contains(td[1], 'ops/MUL/float32/slow/0')]",
        "//section[@id='environment']//tr[th = 'machine.host' and td = 'bench-3']",
        "//section[@id='environment']//tr[th = 'seed' and td = '1']",
        "//section[@id='environment']//tr[th = 'argv']/td/code[. = 'nnvts run --driver faulty:dilation-ignored']",
    };
    fx_once(doc, once, sizeof once / sizeof *once);
    assert_int_equal(fx_xpath(doc, "count(//section[@id='bugs']/article)"), 6);
    /* Values that are not finite are words, and wrong. */
    assert_true(fx_xpath(doc, "count(//td[contains(@class, 'w') and . = 'NaN'])") >= 1);
    xmlFreeDoc(doc);
    fx_remove(&f);
}

static void a_passing_run_has_no_bugs(void **state) {
    (void)state;
    struct fx f = fx_golden("pass");
    xmlDoc *doc = html_of(&f);
    assert_int_equal(fx_xpath(doc, "count(//section[@id='bugs' or @id='failures'])"), 0);
    assert_int_equal(fx_xpath(doc, "count(//header[@class='top P'])"), 1);
    xmlFreeDoc(doc);
    fx_remove(&f);
}

/* P is of values; what was refused, as it must be, is a rule that holds; of what the driver lacks nothing is green. */
static void green_is_what_was_compared(void **state) {
    (void)state;
    static const char cases[] = "o/0\to\tADD\tfloat32\t\no/1\to\tADD\tfloat32\t\n"
                                "o/2\to\tMUL\tfloat32\t\no/3\to\tABS\tfloat32\t\no/4\to\tABS\tfloat32\t\n";
    static const char records[] = "{\"case\":\"o/0\",\"verdict\":\"PASS\",\"compared\":7,\"values\":6}\n"
                                  "{\"case\":\"o/1\",\"verdict\":\"PASS\",\"compared\":1}\n"
                                  "{\"case\":\"o/2\",\"verdict\":\"PASS\",\"compared\":1}\n"
                                  "{\"case\":\"o/3\",\"verdict\":\"PASS\",\"compared\":1}\n"
                                  "{\"case\":\"o/4\",\"verdict\":\"UNSUPPORTED\",\"why\":\"OPERATION\"}\n";
    struct fx f = fx_make(cases, records);
    fx_load(&f);
    xmlDoc *doc = html_of(&f);
    assert_int_equal(fx_xpath(doc, "count(//tr[th = 'ADD']/td[@class='P' and a = 'P 1/2'])"), 1);
    assert_int_equal(fx_xpath(doc, "count(//tr[th = 'MUL']/td[@class='r' and a = 'r 1'])"), 1);
    assert_int_equal(fx_xpath(doc, "count(//tr[th = 'ABS']/td[@class='U' and a = 'U 1/2'])"), 1);
    xmlFreeDoc(doc);
    fx_remove(&f);
}

/* Twenty types have columns of their own, in their order; what lies beyond shares one that says so, if there is any. */
static void types_beyond_share_a_column(void **state) {
    (void)state;
    for (unsigned types = 20; types <= 22; types++) {
        struct nnv_text cases = {0};
        for (unsigned i = 0; i < types; i++) nnv_text_addf(&cases, "o/%u\to\tADD\ttype%02u\t\n", i, i);
        struct fx f = fx_make(cases.data, "");
        nnv_text_free(&cases);
        fx_load(&f);
        xmlDoc *doc = html_of(&f);
        const int shared = types > 20;
        assert_int_equal(fx_xpath(doc, "count(//table[contains(@class, 'matrix')]//th[. = 'other types'])"), shared);
        assert_int_equal(fx_xpath(doc, "count(//tr[th = 'ADD']/td)"), 20 + shared);
        assert_int_equal(fx_xpath(doc, "count(//tr[th = 'ADD']/td[a = 'N 1'])"), 20 + (types == 21));
        assert_int_equal(fx_xpath(doc, "count(//tr[th = 'ADD']/td[a = 'N 2'])"), types == 22);
        xmlFreeDoc(doc);
        fx_remove(&f);
    }
}

/** What an operation was tried with: a line for each thing in which its cases differ, however many they are. */
static void uses_are_axes(void **state) {
    (void)state;
    static const char cases[] = "o/0\to\tADD\tfloat32\t\no/1\to\tADD\tfloat32\t\no/2\to\tMUL\tfloat32\t\n";
    static const char records[] =
        "{\"case\":\"o/0\",\"verdict\":\"PASS\",\"compared\":7,\"values\":6,\"uses\":\"rank=1 layout=nchw\"}\n"
        "{\"case\":\"o/1\",\"verdict\":\"PASS\",\"compared\":7,\"values\":6,\"uses\":\"rank=2 layout=nchw\"}\n"
        "{\"case\":\"o/2\",\"verdict\":\"PASS\",\"compared\":7,\"values\":6,\"uses\":\"rank=1\"}\n";
    struct fx f = fx_make(cases, records);
    fx_load(&f);
    xmlDoc *doc = html_of(&f);
    static const char *const once[] = {
        "//details[summary = 'ADD 2 axes'][count(.//tr) = 2]",
        "//details[summary = 'ADD 2 axes']//tr[th = 'rank'][td[1] = 'P 1 1'][td[2] = 'P 1 2']",
        "//details[summary = 'ADD 2 axes']//tr[th = 'layout'][count(td) = 1][td = 'P 2 nchw']",
        "//details[summary = 'MUL 1 axis'][count(.//tr) = 1]",
    };
    fx_once(doc, once, sizeof once / sizeof *once);
    xmlFreeDoc(doc);
    fx_remove(&f);
}

/** An output of one row, or of one column, has a picture; one without rows has none. */
static void one_row_is_a_picture(void **state) {
    (void)state;
    /* three cells: 0, 0, 255 */
#define WRONG(number, rows, cols)                                                                                      \
    "{\"case\":\"o/" number                                                                                            \
    "\",\"verdict\":\"FAIL\",\"why\":\"VALUES\",\"compared\":3,\"outputs\":[{\"index\":0,\"dims\":"                    \
    "[3],\"compared\":3,\"wrong\":1,\"heat\":{\"rows\":" rows ",\"cols\":" cols ",\"data\":\"AAD/\"}}]}\n"
    static const char cases[] = "o/0\to\tADD\tfloat32\t\no/1\to\tMUL\tfloat32\t\no/2\to\tABS\tfloat32\t\n";
    struct fx f = fx_make(cases, WRONG("0", "1", "3") WRONG("1", "3", "1") WRONG("2", "0", "3"));
    fx_load(&f);
    xmlDoc *doc = html_of(&f);
    assert_int_equal(fx_xpath(doc, "count(//section[@id='bugs']/article)"), 3);
    assert_int_equal(fx_xpath(doc, "count(//figure[@class='errors'])"), 2);
    assert_int_equal(fx_xpath(doc, "count(//img[@alt='1 of 3 cells are beyond the bound'])"), 2);
    xmlFreeDoc(doc);
    fx_remove(&f);
}

/** What grew over time is told and drawn, also of a case that passed; what is no number is a dash. */
static void what_grows_is_drawn(void **state) {
    (void)state;
#define KIND(of, least, slope, grows)                                                                                  \
    "{\"of\":\"" of "\",\"seconds\":3600,\"judged_from\":1,\"least\":[" least "],\"slope\":" slope                     \
    ",\"low\":1.5,\"high\":\"Infinity\",\"grows\":" grows "}"
    static const char cases[] = "e/0\te\tADD\tfloat32\t\ne/1\te\tADD\tfloat32\t\ne/2\te\tADD\tfloat32\t\n";
    static const char records[] = "{\"case\":\"e/0\",\"verdict\":\"PASS\",\"compared\":7,\"drift\":[" KIND(
        "threads", "4,4,4,5", "0",
        "false") "," KIND("us", "9,8,null,8", "0",
                          "false") "]}\n"
                                   "{\"case\":\"e/"
                                   "1\",\"verdict\":\"FAIL\",\"why\":\"LEAK\",\"compared\":1,\"drift\":[7," KIND(
                                       "<b>", "100,110,120,130", "2.5",
                                       "true") "," KIND("us", "9,8,8,8", "0",
                                                        "false") "]}\n"
                                                                 "{\"case\":\"e/"
                                                                 "2\",\"verdict\":\"PASS\",\"compared\":1,\"drift\":"
                                                                 "\"none\"}\n";
    struct fx f = fx_make(cases, records);
    fx_load(&f);
    assert_true(f.report->item[0].drift && f.report->item[1].drift);
    xmlDoc *doc = html_of(&f);
    assert_int_equal(fx_xpath(doc, "count(//section[@id='drift']//tr/td[contains(., 'e/')])"), 4);
    assert_int_equal(fx_xpath(doc, "count(//section[@id='drift']/figure[.//*[local-name()='polyline']])"), 1);
    assert_int_equal(fx_xpath(doc, "count(//section[@id='drift']/details/figure[.//*[local-name()='polyline']])"), 3);
    assert_int_equal(fx_xpath(doc, "count(//tr[td[2] = '<b>' and td[3] = 110 and td[4] = 130 and td[5] = 2.5 and "
                                   "td[6] = 1.5 and td[7] = '\xe2\x80\x93'])"),
                     1);
    /* what is held is drawn above its least, time as it is */
    assert_int_equal(fx_xpath(doc, "count(//*[local-name()='title' and . = 'e/1, <b>, above the least, part 4: 30'])"),
                     1);
    assert_int_equal(fx_xpath(doc, "count(//*[local-name()='title' and . = 'e/0, us, part 4: 8'])"), 1);
    assert_int_equal(fx_xpath(doc, "count(//nav//a[@href = '#drift'])"), 1);
    xmlFreeDoc(doc);
    fx_remove(&f);
}

/* Of a long soak the first 256 parts are drawn: a point of each, and nothing behind them. */
static void long_soaks_are_cut(void **state) {
    (void)state;
    struct nnv_text record = {0};
    nnv_text_add(&record, "{\"case\":\"e/0\",\"verdict\":\"PASS\",\"compared\":7,\"drift\":[");
    for (int kind = 0; kind < 2; kind++) {
        nnv_text_addf(&record, "%s{\"of\":\"%s\",\"seconds\":3600,\"judged_from\":1,\"least\":[9", kind ? "," : "",
                      kind ? "us" : "threads");
        for (int i = 1; i < 300; i++) nnv_text_addf(&record, ",%d", 9 + i % 2);
        nnv_text_add(&record, "],\"slope\":0,\"low\":0,\"high\":0,\"grows\":false}");
    }
    nnv_text_add(&record, "]}\n");
    struct fx f = fx_make("e/0\te\tADD\tfloat32\t\n", record.data);
    nnv_text_free(&record);
    fx_load(&f);
    xmlDoc *doc = html_of(&f);
    static const char line[] = "//*[local-name()='polyline']/@points";
    char expression[200];
    snprintf(expression, sizeof expression, "count(%s)", line);
    assert_int_equal(fx_xpath(doc, expression), 2);
    for (int kind = 1; kind <= 2; kind++) { /* x,y x,y ... */
        snprintf(expression, sizeof expression, "string-length(translate((%s)[%d], ' .-0123456789', ''))", line, kind);
        assert_int_equal(fx_xpath(doc, expression), 256);
    }
    xmlFreeDoc(doc);
    fx_remove(&f);
}

static void hostile_text_is_text(void **state) {
    (void)state;
    struct fx f = fx_golden("hostile");
    xmlDoc *doc = html_of(&f);
    size_t n = 0;
    char *text = fx_get(&f, "report.html", &n);
    assert_int_equal(strlen(text), n);
    assert_null(strstr(text, "<script>alert"));
    assert_null(strstr(text, "onclick=\""));
    assert_null(strstr(text, "\xe2\x80\xae")); /* would turn the text beside it */
    assert_int_equal(fx_xpath(doc, "count(//a[contains(@href, 'passwd') or contains(@href, 'javascript')])"), 0);
    assert_true(fx_xpath(doc, "count(//code[contains(., '<script>alert(1)</script>')])") > 1);
    assert_int_equal(fx_xpath(doc, "count(//img)"), 0); /* no picture of a damaged heat map */
    free(text);
    xmlFreeDoc(doc);
    fx_remove(&f);
}

static void the_same_run_gives_the_same_bytes(void **state) {
    (void)state;
    struct fx f = fx_golden("every");
    xmlFreeDoc(html_of(&f));
    char *first = fx_get(&f, "report.html", NULL);
    xmlFreeDoc(html_of(&f));
    char *second = fx_get(&f, "report.html", NULL);
    assert_string_equal(first, second);
    free(first);
    free(second);
    fx_remove(&f);
}

/* ------------------------------------------------------------------ the size */

/** Adds n numbers as an array. */
static void add_numbers(struct nnv_text *t, const char *member, struct nnv_rng *r, int n) {
    nnv_text_addf(t, "\"%s\":[", member);
    for (int i = 0; i < n; i++) nnv_text_addf(t, "%s%.9g", i == 0 ? "" : ",", nnv_rng_uniform(r, -1, 1));
    nnv_text_add(t, "]");
}

/** Adds a record that fails with as many details as nnvts ever writes. */
static void add_failure(struct nnv_text *t, const char *name, struct nnv_rng *r, bool like) {
    static uint8_t heat[64 * 64];
    for (size_t i = 0; i < sizeof heat; i++) heat[i] = (uint8_t)nnv_rng_u64(r);
    nnv_text_addf(
        t,
        "{\"case\":\"%s\",\"verdict\":\"FAIL\",\"why\":\"%s\",\"compared\":4096,\"ms\":3,\"reason\":\"output 0: ", name,
        like ? "VALUES" : "EXPECTATION");
    if (like)
        nnv_text_add(t, "12 values wrong");
    else
        for (int i = 0; i < 8; i++) nnv_text_addf(t, "%c", (char)('a' + nnv_rng_int(r, 0, 25)));
    nnv_text_add(t, "\",\"log\":\"");
    for (int i = 0; i < 200; i++) nnv_text_add(t, "log of the driver ");
    nnv_text_addf(t,
                  "\",\"replay\":\"nnvts replay x/dumps/%s.json\",\"outputs\":[{\"index\":0,\"dims\":[64,64],"
                  "\"compared\":4096,\"wrong\":100,\"worst\":{\"at\":[3,3]},\"window\":{\"at\":[0,0],\"rows\":12,"
                  "\"cols\":12,",
                  name);
    add_numbers(t, "expected", r, 144);
    nnv_text_add(t, ",");
    add_numbers(t, "actual", r, 144);
    nnv_text_add(t, ",");
    add_numbers(t, "bound", r, 144);
    nnv_text_add(t, "},\"heat\":{\"rows\":64,\"cols\":64,\"data\":\"");
    nnv_text_add_base64(t, heat, sizeof heat);
    nnv_text_add(t, "\"}}]}\n");
}

/** The size of the report of 10,000 cases of which one in `every` fails (0: none). */
static size_t size_of_report(unsigned every, bool like) {
    static const char *const types[] = {"float32", "float16", "quant8_asymm", "quant8_asymm_signed", "int32"};
    struct nnv_rng r = nnv_rng_make(1, every, like);
    struct nnv_text cases = {0}, records = {0};
    for (unsigned i = 0; i < 10000; i++) {
        char name[96];
        const char *type = types[i / 4 % 5];
        snprintf(name, sizeof name, "ops/OPERATION_NUMBER_%u/%s/same_padding_%u/%u", i / 100, type, i % 4, i);
        nnv_text_addf(&cases, "%s\tops\tOPERATION_NUMBER_%u\t%s\t\n", name, i / 100, type);
        if (every > 0 && i % every == 0)
            add_failure(&records, name, &r, like);
        else
            nnv_text_addf(&records, "{\"case\":\"%s\",\"verdict\":\"%s\",\"compared\":9,\"ms\":1,\"reason\":\"no\"}\n",
                          name, i % 7 == 0 ? "UNSUPPORTED" : "PASS");
    }
    struct fx f = fx_make(cases.data, records.data);
    nnv_text_free(&cases);
    nnv_text_free(&records);
    fx_load(&f);
    xmlDoc *doc = html_of(&f);
    if (every > 0) assert_true(fx_xpath(doc, "count(//img)") > (like ? 0 : 20)); /* alike is one bug */
    xmlFreeDoc(doc);
    size_t n = 0;
    free(fx_get(&f, "report.html", &n));
    fx_remove(&f);
    return n;
}

static void ten_thousand_cases_stay_below_2_mb(void **state) {
    (void)state;
    assert_in_range(size_of_report(0, true), 100000, 1000000);
    assert_in_range(size_of_report(20, true), 100000, 2000000);
    assert_in_range(size_of_report(2, false), 100000, 2000000); /* 5,000 bugs */
}

/* --------------------------------------------------------------- the picture */

/** The pixels of a PNG as RGBA; malloc'ed. */
static uint8_t *pixels_of(const struct nnv_text *png, uint32_t rows, uint32_t cols) {
    png_image image = {.version = PNG_IMAGE_VERSION};
    assert_true(png_image_begin_read_from_memory(&image, png->data, png->len));
    assert_int_equal(image.height, rows);
    assert_int_equal(image.width, cols);
    image.format = PNG_FORMAT_RGBA;
    uint8_t *pixels = malloc(PNG_IMAGE_SIZE(image));
    assert_true(png_image_finish_read(&image, NULL, pixels, 0, NULL));
    return pixels;
}

static void heat_is_grey_within_and_red_beyond(void **state) {
    (void)state;
    static const uint8_t cells[6] = {0, 64, 128, 129, 192, 255};
    struct nnv_text png = {0};
    assert_true(nnv_error_map_png(&png, cells, 2, 3));
    uint8_t *p = pixels_of(&png, 2, 3);
    for (int i = 0; i < 3; i++) assert_true(p[4 * i] == p[4 * i + 1] && p[4 * i] == p[4 * i + 2]);
    assert_true(p[3] < p[7] && p[7] < p[11] && p[11] < 255); /* more error, less transparent */
    for (int i = 3; i < 6; i++) assert_true(p[4 * i] > p[4 * i + 1] && p[4 * i + 3] == 255);
    assert_true(p[13] > p[17] && p[17] > p[21]); /* more error, redder */
    free(p);
    nnv_text_free(&png);
    assert_false(nnv_error_map_png(&png, cells, 0, 3));
    assert_false(nnv_error_map_png(&png, cells, 3, 0));
    assert_false(nnv_error_map_png(&png, cells, 1, NNV_ERROR_MAP_SIDE_MAX + 1));
    nnv_text_free(&png);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(golden_runs_are_well_formed),
        cmocka_unit_test(the_headline_is_the_verdict),
        cmocka_unit_test(every_section_is_there),
        cmocka_unit_test(a_passing_run_has_no_bugs),
        cmocka_unit_test(green_is_what_was_compared),
        cmocka_unit_test(types_beyond_share_a_column),
        cmocka_unit_test(uses_are_axes),
        cmocka_unit_test(one_row_is_a_picture),
        cmocka_unit_test(what_grows_is_drawn),
        cmocka_unit_test(long_soaks_are_cut),
        cmocka_unit_test(hostile_text_is_text),
        cmocka_unit_test(the_same_run_gives_the_same_bytes),
        cmocka_unit_test(ten_thousand_cases_stay_below_2_mb),
        cmocka_unit_test(heat_is_grey_within_and_red_beyond),
    };
    int failures = cmocka_run_group_tests(tests, NULL, NULL);
    xmlCleanupParser();
    return failures;
}
