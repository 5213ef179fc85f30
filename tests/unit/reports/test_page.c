/* SPDX-License-Identifier: Apache-2.0 */
/* Every page stands on one frame: its policy is there, and hostile names carry neither markup nor marks of direction.
 */
#include "tests/kit/report.h"

#include "harness/compiled/partition_html.h"
#include "harness/debug/bisect/bisect_html.h"
#include "reports/audit.h"
#include "reports/compare/compare.h"
#include "reports/compare/trend.h"
#include "reports/html/page.h"

#define EMBED "\xe2\x80\xae"   /* U+202E */
#define ISOLATE "\xe2\x81\xa6" /* U+2066 */
#define HOSTILE "</title></style><script>alert(1)</script><img src='x'/>]]>\" onload=\"x" EMBED ISOLATE "&evil;"

/** Well-formed, with the policy, and with nothing of HOSTILE but its text. */
static void harmless(const char *text, size_t n) {
    xmlDoc *doc = xmlReadMemory(text, (int)n, "page", NULL, XML_PARSE_NONET | XML_PARSE_HUGE);
    if (doc == NULL) fail_msg("not well-formed: %s", text);
    assert_int_equal(fx_xpath(doc, "count(/html/head/meta[@http-equiv='Content-Security-Policy'])"), 1);
    assert_int_equal(fx_xpath(doc, "count(//meta[starts-with(@content, \"default-src 'none'; style-src\")])"), 1);
    assert_int_equal(fx_xpath(doc, "count(//style)"), 1);
    assert_int_equal(fx_xpath(doc, "count(//script|//img)"), 0);
    assert_int_equal(fx_xpath(doc, "count(//@*[starts-with(name(), 'on')])"), 0);
    assert_true(fx_xpath(doc, "count(/html/body//*[contains(., 'alert(1)') or contains(@title, 'alert(1)')])") > 0);
    assert_null(memmem(text, n, EMBED, 3));
    assert_null(memmem(text, n, ISOLATE, 3));
    xmlFreeDoc(doc);
}

static void text_is_harmless(struct nnv_text *t) {
    assert_false(t->failed);
    harmless(t->data, t->len);
    nnv_text_free(t);
}

static void file_is_harmless(struct fx *f) {
    size_t n = 0;
    char *text = fx_get(f, "report.html", &n);
    harmless(text, n);
    free(text);
    fx_remove(f);
}

static void frames(void **state) {
    (void)state;
    struct nnv_text t = {0};
    struct nnv_page page = {.title = HOSTILE, .kicker = HOSTILE, .heading = HOSTILE, .css = {"b{color:red}\n"}};
    nnv_page_begin(&t, &page);
    nnv_text_add(&t, "</header>\n<main>\n<p>\xe2\x80\xaa\xe2\x80\xab\xe2\x80\xac\xe2\x80\xad\xe2\x81\xa7\xe2\x81\xa9|"
                     "\xe2\x80\xa9\xe2\x80\xaf\xe2\x81\xa5\xe2\x81\xaa</p>\n"); /* the last four stay */
    nnv_page_end(&t, &page);
#define GONE "\xef\xbf\xbd"
    assert_non_null(strstr(t.data, GONE GONE GONE GONE GONE GONE "|\xe2\x80\xa9\xe2\x80\xaf\xe2\x81\xa5\xe2\x81\xaa"));
    assert_non_null(strstr(t.data, "<header class=\"top -\">"));
    text_is_harmless(&t);
}

/** Only a page with a script of ours may run one, or show pictures. */
static void scripts_are_asked_for(void **state) {
    (void)state;
    static const char *const script[] = {"var x;\n", NULL};
    struct nnv_text t = {0};
    struct nnv_page page = {.title = "t", .kicker = "k", .heading = "h", .script = script, .verdict = 'F'};
    nnv_page_begin(&t, &page);
    nnv_text_add(&t, "</header>\n<main>\n");
    nnv_page_end(&t, &page);
    assert_non_null(strstr(t.data, "content=\"default-src 'none'; img-src data:; style-src 'unsafe-inline'; script-src "
                                   "'unsafe-inline'\""));
    assert_non_null(strstr(t.data, "</main>\n<script>/*<![CDATA[*/\nvar x;\n/*]]>*/</script>\n</body>"));
    assert_non_null(strstr(t.data, "<header class=\"top F\">"));
    nnv_text_free(&t);
}

static void of_audits(void **state) {
    (void)state;
    struct nnv_audit_cell cell = {.run = true, .verdict = NNVTS_FAIL, .bad = 1, .first = HOSTILE};
    struct nnv_audit_subject subjects[] = {{.kind = NNV_AUDIT_BUG,
                                            .name = HOSTILE,
                                            .argument = HOSTILE,
                                            .suite = "ops",
                                            .models = HOSTILE,
                                            .fires = HOSTILE,
                                            .cells = &cell},
                                           {.kind = NNV_AUDIT_CONTROL,
                                            .name = HOSTILE,
                                            .argument = HOSTILE,
                                            .models = HOSTILE,
                                            .fires = HOSTILE,
                                            .cells = &cell}};
    static const char *const suites[] = {"ops"};
    struct nnv_audit a = {
        .driver = HOSTILE, .tier = "smoke", .suites = suites, .suite_count = 1, .subjects = subjects, .count = 2};
    struct nnv_text t = {0};
    nnv_audit_html(&a, &t);
    text_is_harmless(&t);
}

static void of_bisections(void **state) {
    (void)state;
    struct nnv_spec spec = {.name = HOSTILE};
    struct nnv_bisection b = {.spec = &spec, .culprit = UINT32_MAX, .signature = {.verdict = NNVTS_FAIL}};
    b.signature.operation = -1;
    snprintf(b.signature.reason, sizeof b.signature.reason, "%s", HOSTILE);
    snprintf(b.shown, sizeof b.shown, "%s", HOSTILE);
    struct nnv_text t = {0};
    nnv_bisect_html(&b, &t);
    text_is_harmless(&t);
}

static void of_partitions(void **state) {
    (void)state;
    static const char *const targets[] = {HOSTILE};
    const char *ops[] = {HOSTILE};
    struct nnv_extracted cut = {.target = HOSTILE, .function = HOSTILE, .ops = ops, .nodes = ops, .n_ops = 1};
    struct nnv_partition partition = {.extracted = &cut, .n_extracted = 1};
    struct nnv_graph_node nodes[] = {{.kind = NNV_GRAPH_INPUT, .label = HOSTILE},
                                     {.kind = NNV_GRAPH_TARGET, .label = HOSTILE, .more = HOSTILE, .stands_for = 1}};
    struct nnv_graph_edge edge = {0, 1, 4};
    const struct nnv_partition_graph graph = {nodes, &edge, 2, 1};
    struct nnv_host_row host = {.op = HOSTILE, .reason = HOSTILE, .calls = 1};
    const struct nnv_partition_page page = {.title = HOSTILE,
                                            .targets = targets,
                                            .n_targets = 1,
                                            .partition = &partition,
                                            .before = graph,
                                            .after = graph,
                                            .host = &host,
                                            .n_host = 1};
    struct nnv_text t = {0};
    assert_int_equal(nnv_partition_html(&page, &t, NULL), NNV_OK);
    text_is_harmless(&t);
}

static void of_comparisons(void **state) {
    (void)state;
    struct fx f = fx_new();
    json_t *j = json_pack("{s:{s:s, s:s, s:s}, s:{s:s}}", "a", "folder", HOSTILE, "driver", HOSTILE, "version", HOSTILE,
                          "b", "folder", HOSTILE);
    assert_non_null(j);
    assert_int_equal(nnv_compare_html(j, fx_path(&f, "report.html"), NULL), NNV_OK);
    json_decref(j);
    file_is_harmless(&f);
}

static void of_trends(void **state) {
    (void)state;
    struct fx f = fx_new();
    json_t *j =
        json_pack("{s:[{s:s, s:s, s:s}], s:[{s:s, s:[i], s:[f], s:b}]}", "runs", "folder", HOSTILE, "driver", HOSTILE,
                  "seed", HOSTILE, "operations", "op", HOSTILE, "failures", 3, "worst", 0.5, "record", 1);
    assert_non_null(j);
    assert_int_equal(nnv_trend_html(j, fx_path(&f, "report.html"), NULL), NNV_OK);
    json_decref(j);
    file_is_harmless(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(frames),        cmocka_unit_test(scripts_are_asked_for), cmocka_unit_test(of_audits),
        cmocka_unit_test(of_bisections), cmocka_unit_test(of_partitions),         cmocka_unit_test(of_comparisons),
        cmocka_unit_test(of_trends),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
