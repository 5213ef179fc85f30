/* SPDX-License-Identifier: Apache-2.0 */
/* The forms that other programs read: TAP, CSV, GitHub's annotations, traces. */
#include "tests/kit/report.h"

#include "reports/forms/forms.h"

/** The form of the folder, malloc'ed. */
static char *form_of(const struct fx *f, enum nnv_report_form form) {
    struct nnv_err err = {0};
    char *data = NULL;
    size_t n = 0;
    FILE *to = open_memstream(&data, &n);
    assert_non_null(to);
    if (nnv_form_write(form, f->folder, to, &err) != NNV_OK) fail_msg("%s", err.text);
    fclose(to);
    return data;
}

/** The same while the run "goes on": line by line. */
static char *live_form_of(const struct fx *f, enum nnv_report_form form) {
    struct nnv_err err = {0};
    char *data = NULL, *journal = fx_get(f, "journal.jsonl", NULL), *rest = NULL;
    size_t n = 0;
    FILE *to = open_memstream(&data, &n);
    struct nnv_form_writer *w = nnv_form_live(form, to, strtok_r(journal, "\n", &rest));
    assert_non_null(w);
    for (char *line = strtok_r(NULL, "\n", &rest); line != NULL; line = strtok_r(NULL, "\n", &rest))
        nnv_form_line(w, line);
    if (nnv_form_finish(w, f->folder, &err) != NNV_OK) fail_msg("%s", err.text);
    fclose(to);
    free(journal);
    return data;
}

static void refuses(const struct fx *f, enum nnv_status status, const char *why) {
    struct nnv_err err = {0};
    FILE *to = fopen("/dev/null", "w");
    enum nnv_status s = nnv_form_write(NNV_FORM_CSV, f->folder, to, &err);
    fclose(to);
    assert_int_equal(s, status);
    if (strstr(err.text, why) == NULL) fail_msg("no '%s' in '%s'", why, err.text);
}

static size_t count(const char *s, const char *what) {
    size_t n = 0;
    for (const char *p = strstr(s, what); p != NULL; p = strstr(p + 1, what)) n++;
    return n;
}

#define RECORD(name, verdict, more)                                                                                    \
    "{\"case\":\"" name                                                                                                \
    "\",\"suite\":\"ops\",\"op\":\"ADD\",\"type\":\"float32\",\"tags\":\"\",\"verdict\":\"" verdict                    \
    "\",\"compared\":1,\"not_compared\":0,\"ms\":2.5,\"driver_us\":400" more "}\n"

static const char list[] = "ops/a#1\tops\tADD\tfloat32\t\nops/b\tops\tADD\tfloat32\texact edge\nops/c\tops\tADD\t\t\n"
                           "ops/d\tops\tADD\t\t\n";
static const char lines[] = RECORD("ops/a#1", "PASS", ",\"began_us\":1767225600000100,\"worker\":1")
    RECORD("ops/b", "FAIL",
           ",\"began_us\":1767225600000200,\"worker\":2,\"reason\":\"wrong, \\\"very\\\" # 50%\\nmore\","
           "\"dump\":\"dumps/b.json\",\"replay\":\"nnvts replay b\",\"outputs\":[{\"mse\":0.5,\"worst\":{\"ratio\":2}},"
           "{\"mse\":0.25,\"worst\":{\"ratio\":\"Infinity\"}}]")
        RECORD("ops/c", "UNSUPPORTED", ",\"reason\":\"no \\\\ such\\u001b[31m thing\"");

static void tap(void **state) {
    (void)state;
    struct fx f = fx_make(list, lines);
    char *t = form_of(&f, NNV_FORM_TAP);
    assert_string_equal(t, "TAP version 14\n"
                           "1..4\n"
                           "# nnvts 1.0.0, driver cpu 1.0.0, seed 1\n"
                           "ok 1 - ops/a\\#1\n"
                           "not ok 2 - ops/b\n"
                           "  ---\n"
                           "  message: \"wrong, \\\"very\\\" # 50%\\nmore\"\n"
                           "  severity: \"FAIL\"\n"
                           "  op: \"ADD\"\n"
                           "  type: \"float32\"\n"
                           "  dump: \"dumps/b.json\"\n"
                           "  again: \"nnvts replay b\"\n"
                           "  ...\n"
                           "ok 3 - ops/c # SKIP unsupported: no \\ such\\x1b[31m thing\n"
                           "not ok 4 - ops/d\n"
                           "  ---\n"
                           "  message: \"not run\"\n"
                           "  severity: \"NOTRUN\"\n"
                           "  ...\n");
    free(t);
    fx_remove(&f);
}

static void csv(void **state) {
    (void)state;
    struct fx f = fx_make(list, lines);
    char *t = form_of(&f, NNV_FORM_CSV);
    assert_string_equal(
        t, "case,suite,op,type,tags,verdict,outcome,compared,not_compared,ms,driver_us,began_us,worker,ratio,mse,"
           "signal,dump,reason\n"
           "ops/a#1,ops,ADD,float32,,PASS,,1,0,2.5,400,1767225600000100,1,,,,,\n"
           "ops/b,ops,ADD,float32,,FAIL,,1,0,2.5,400,1767225600000200,2,inf,0.5,,dumps/b.json,"
           "\"wrong, \"\"very\"\" # 50%\nmore\"\n"
           "ops/c,ops,ADD,float32,,UNSUPPORTED,,1,0,2.5,400,,,,,,,no \\ such?[31m thing\n"
           "ops/d,ops,ADD,,,NOTRUN,,,,,,,,,,,,\n");
    free(t);
    fx_remove(&f);
}

static void github(void **state) {
    (void)state;
    struct fx f = fx_make(list, lines);
    char *t = form_of(&f, NNV_FORM_GITHUB);
    assert_string_equal(
        t, "::error title=FAIL ADD float (1 case)::ops/b%0Awrong, \"very\" # 50%25%0Aagain: nnvts replay b\n"
           "::error title=nnvts::1 cases were not run\n"
           "::notice title=nnvts::1 passed, 1 failed, 1 unsupported, 1 not run\n");
    free(t);
    fx_remove(&f);
}

/** Twelve bugs of 1, 2, ... 12 cases: the server shows ten errors of a step. */
static void github_is_bounded(void **state) {
    (void)state;
    struct nnv_text cases = {0}, records = {0};
    for (int bug = 1; bug <= 12; bug++)
        for (int i = 0; i < bug; i++) {
            nnv_text_addf(&cases, "ops/%d/%d\tops\tOP%d\tfloat32\t\n", bug, i, bug);
            nnv_text_addf(
                &records,
                "{\"case\":\"ops/%d/%d\",\"suite\":\"ops\",\"op\":\"OP%d\",\"type\":\"float32\",\"tags\":\"\","
                "\"verdict\":\"CRASH\",\"compared\":%d,\"reason\":\"died: a, b\"}\n",
                bug, i, bug, 100 - i);
        }
    struct fx f = fx_make(cases.data, records.data);
    char *t = form_of(&f, NNV_FORM_GITHUB);
    assert_int_equal(count(t, "::error "), 9);
    assert_int_equal(strncmp(t, "::error title=CRASH OP12 float (12 cases)::ops/12/11%0Adied: a, b\n", 66), 0);
    assert_non_null(strstr(t, "title=CRASH OP4 float (4 cases)::ops/4/3%0A"));
    assert_non_null(strstr(t, "::warning title=nnvts::3 more bugs are in the report\n"));
    assert_non_null(strstr(t, "::notice title=nnvts::78 crashed\n"));
    free(t);
    fx_remove(&f);
    nnv_text_free(&cases);
    nnv_text_free(&records);
}

/** A property ends at a colon or comma, so they are escaped there, and only there. */
static void github_properties(void **state) {
    (void)state;
    struct fx f = fx_make("ops/b\tops\tA:B,C\t\t\n",
                          "{\"case\":\"ops/b\",\"op\":\"A:B,C\",\"verdict\":\"FAIL\",\"reason\":\"x: y\"}\n");
    char *t = form_of(&f, NNV_FORM_GITHUB);
    assert_non_null(strstr(t, "::error title=FAIL A%3AB%2CC  (1 case)::ops/b%0Ax: y\n"));
    free(t);
    fx_remove(&f);
}

static void expected_failures(void **state) {
    (void)state;
    struct fx f = fx_make("a\tops\tADD\t\t\nb\tops\tADD\t\t\n",
                          RECORD("a", "FAIL", ",\"outcome\":\"XFAIL\"") RECORD("b", "PASS", ",\"outcome\":\"XPASS\""));
    char *t = form_of(&f, NNV_FORM_TAP);
    assert_non_null(strstr(t, "\nnot ok 1 - a # TODO expected to fail\n"));
    assert_non_null(strstr(t, "\nok 2 - b # TODO expected to fail, and does not\n"));
    free(t);
    t = form_of(&f, NNV_FORM_GITHUB);
    assert_string_equal(t, "::notice title=nnvts::1 passed, 1 failed; 1 of the failures were expected\n");
    free(t);
    fx_remove(&f);
}

static const json_t *event(const json_t *trace, const char *name) {
    size_t i;
    json_t *e;
    json_array_foreach(json_object_get(trace, "traceEvents"), i,
                       e) if (strcmp(nnv_json_text(e, "name", ""), name) == 0) return e;
    fail_msg("no event '%s'", name);
    return NULL;
}

static void trace(void **state) {
    (void)state;
    struct fx f = fx_make(list, lines);
    /* the fixture's first line has no start: times are those since 1970 */
    char *t = form_of(&f, NNV_FORM_TRACE);
    json_t *j = json_loads(t, JSON_REJECT_DUPLICATES, NULL);
    assert_non_null(j);
    const json_t *a = event(j, "ops/a#1"), *b = event(j, "ops/b"), *driver = event(j, "driver");
    assert_int_equal(json_array_size(json_object_get(j, "traceEvents")), 1 + 2 + 2 + 2); /* names, cases, driver */
    assert_true(json_integer_value(json_object_get(a, "ts")) == 1767225600000100);
    assert_true(json_integer_value(json_object_get(b, "ts")) - json_integer_value(json_object_get(a, "ts")) == 100);
    assert_int_equal(json_integer_value(json_object_get(a, "dur")), 2500);
    assert_int_equal(json_integer_value(json_object_get(b, "tid")), 2);
    assert_string_equal(nnv_json_text(json_object_get(b, "args"), "verdict", ""), "FAIL");
    assert_int_equal(json_integer_value(json_object_get(driver, "dur")), 400);
    assert_true(json_equal(json_object_get(driver, "ts"), json_object_get(a, "ts")));
    const json_t *other = json_object_get(j, "otherData");
    assert_int_equal(json_integer_value(json_object_get(other, "without_time")), 1);
    assert_int_equal(json_integer_value(json_object_get(other, "not_run")), 1);
    json_decref(j);
    free(t);
    fx_remove(&f);
}

static void times(void **state) {
    (void)state;
    assert_true(nnv_time_us("1970-01-02T00:00:01Z") == INT64_C(86401000000));
    assert_true(nnv_time_us("2026-01-01T00:00:00Z") == INT64_C(1767225600000000));
    assert_true(nnv_time_us("2026-01-01") == -1);
    assert_true(nnv_time_us("2026-01-01T00:00:00Zulu") == -1);
    assert_true(nnv_time_us("") == -1);
}

/** Whatever a journal holds, a form is whole, and the same while the run goes on. */
static void live_and_later_are_the_same(void **state) {
    (void)state;
    static const char *const names[] = {"every", "killed", "hostile", "nothing", "pass", "cut"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct fx f = fx_copy(names[i]);
        for (int form = 0; form < NNV_FORM_COUNT; form++) {
            char *later = form_of(&f, (enum nnv_report_form)form);
            if (strcmp(names[i], "cut") != 0) { /* its last line is none */
                char *live = live_form_of(&f, (enum nnv_report_form)form);
                assert_string_equal(live, later);
                free(live);
            }
            if (form == NNV_FORM_TRACE) {
                json_t *j = json_loads(later, JSON_REJECT_DUPLICATES, NULL);
                assert_non_null(j);
                json_decref(j);
            }
            if (form == NNV_FORM_TAP) {
                size_t plan = strtoul(strstr(later, "1..") + 3, NULL, 10);
                assert_int_equal(count(later, "\nok ") + count(later, "\nnot ok "), plan);
                for (const char *p = later; *p != '\0'; p++) assert_true((unsigned char)*p >= 0x20 || *p == '\n');
            }
            free(later);
        }
        fx_remove(&f);
    }
}

static void damaged_folders(void **state) {
    (void)state;
    struct fx f = fx_make("a\tops\tADD\t\t\n", RECORD("a", "PASS", "") RECORD("a", "FAIL", ""));
    refuses(&f, NNV_INVALID, "journal.jsonl:3: case 'a' has a second record");
    fx_remove(&f);
    f = fx_make("a\tops\tADD\t\t\n", RECORD("a", "FINE", ""));
    refuses(&f, NNV_INVALID, "journal.jsonl:2: unknown verdict 'FINE' of case 'a'");
    fx_remove(&f);
    f = fx_make("a\tops\tADD\t\t\n", "{\"case\":\n");
    refuses(&f, NNV_INVALID, "journal.jsonl:2: not a record");
    fx_remove(&f);
    f = fx_make("a\tops\tADD\n", "");
    refuses(&f, NNV_INVALID, "cases.tsv:1: not a case");
    fx_remove(&f);
    f = fx_copy("foreign");
    refuses(&f, NNV_INVALID, "not a journal of nnvts");
    fx_remove(&f);
    f = fx_new();
    refuses(&f, NNV_INVALID, "is '/tmp/nnvts-report-");
    fx_remove(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tap),
        cmocka_unit_test(csv),
        cmocka_unit_test(github),
        cmocka_unit_test(github_is_bounded),
        cmocka_unit_test(github_properties),
        cmocka_unit_test(expected_failures),
        cmocka_unit_test(trace),
        cmocka_unit_test(times),
        cmocka_unit_test(live_and_later_are_the_same),
        cmocka_unit_test(damaged_folders),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
