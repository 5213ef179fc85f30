/* SPDX-License-Identifier: Apache-2.0 */
/** @file test_verify.c What nnvts verify finds in the folder of a run, and what it counts. */
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include "harness/journal/bundle/verify.h"
#include "harness/journal/record.h"
#include "tests/kit/report.h"

static struct nnv_text told;       /**< what is wrong, a line each */
static struct nnv_rejudged now;    /**< what a dump comes to when it is judged again */
static enum nnv_status now_status; /**< of that */
static char judged[PATH_MAX];      /**< the dump that was judged last */
static struct nnv_verified found;

static void hear(void *context, const char *text) {
    assert_ptr_equal(context, &told);
    nnv_text_addf(&told, "%s\n", text);
}

static enum nnv_status rejudge(const char *path, struct nnv_rejudged *out, struct nnv_err *err) {
    snprintf(judged, sizeof judged, "%s", path);
    *out = now;
    return now_status == NNV_OK ? NNV_OK : nnv_fail(err, now_status, "not judged");
}

static struct fx fx;

/** A run of these cases, of one letter each, with these records; more: further members of its first line. */
static void begin(const char *cases, const char *records, const char *more) {
    struct nnv_text list = {0}, journal = {0};
    struct nnv_case item[8];
    char names[8][2] = {{0}}, selection[17];
    const size_t n = strlen(cases);
    for (size_t i = 0; i < n; i++) {
        names[i][0] = cases[i];
        item[i] = (struct nnv_case){.name = names[i]};
        nnv_text_addf(&list, "%c\ts\t\t\t\n", cases[i]);
    }
    nnv_record_selection(item, n, selection);
    nnv_text_addf(&journal, "{\"nnvts\":\"1\",\"format\":\"nnvts-journal/1\",\"cases\":%zu,\"selection\":\"%s\"%s}\n%s",
                  n, selection, more, records);
    fx = fx_new();
    fx_put(&fx, "cases.tsv", list.data, list.len);
    fx_put(&fx, "journal.jsonl", journal.data, journal.len);
    nnv_text_free(&list);
    nnv_text_free(&journal);
}

static void end(void) {
    unlink(fx_path(&fx, "manifest.json"));
    unlink(fx_path(&fx, "dumps/a.json"));
    rmdir(fx_path(&fx, "dumps"));
    fx_remove(&fx);
}

static enum nnv_status verify(struct nnv_err *err) {
    nnv_text_clear(&told);
    *judged = '\0';
    return nnv_verify_run(&(struct nnv_verify){fx.folder, &told, hear, rejudge}, &found, err);
}

static void assert_told(const char *expected) {
    struct nnv_err err = {0};
    if (verify(&err) != NNV_OK) fail_msg("%s", err.text);
    assert_string_equal(told.len ? told.data : "", expected);
}

#define PASS(more) "{\"case\":\"a\",\"verdict\":\"PASS\",\"compared\":3" more "}\n"
#define FAIL(more) "{\"case\":\"a\",\"verdict\":\"FAIL\",\"compared\":3" more "}\n"
#define OUTPUT(compared, wrong, ratio) "{\"compared\":" compared ",\"wrong\":" wrong ",\"worst\":{\"ratio\":" ratio "}}"
#define OUTPUTS(list) ",\"outputs\":[" list "]"

/* A verdict against the comparisons of its record. */
static void records(void **state) {
    (void)state;
    static const struct {
        const char *record, *told;
    } row[] = {
        {PASS(""), ""},
        {PASS(OUTPUTS(OUTPUT("1", "0", "1") "," OUTPUT("2", "0", "0.5"))), ""},
        {PASS(OUTPUTS(OUTPUT("1", "0", "0") "," OUTPUT("3", "0", "0"))),
         "a: its outputs have more values than were compared\n"},
        {PASS(OUTPUTS(OUTPUT("1", "1", "2") "," OUTPUT("2", "2", "2"))), "a: PASS, but 3 values are wrong\n"},
        {PASS(OUTPUTS(OUTPUT("3", "0", "1.01"))),
         "a: its worst value is beyond its bound, yet no value is counted as wrong\n"},
        {PASS(OUTPUTS(OUTPUT("3", "0", "\"Infinity\""))), ""}, /* of a value that is not compared */
        {PASS(",\"reason\":\"x\""), "a: PASS, but with a reason to fail\n"},
        {FAIL(""), "a: FAIL, but nothing is wrong and no reason is given\n"},
        {FAIL(",\"reason\":\"x\""), ""},
        {FAIL(OUTPUTS(OUTPUT("3", "1", "2"))), ""},
        {FAIL(OUTPUTS(OUTPUT("3", "0", "2"))), "a: FAIL, but nothing is wrong and no reason is given\n"},
        {FAIL(",\"reason\":\"x\"" OUTPUTS(OUTPUT("3", "0", "2"))), ""},
        {"{\"case\":\"a\",\"verdict\":\"CRASH\"}\n", ""},
    };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        begin("a", row[i].record, "");
        assert_told(row[i].told);
        assert_int_equal(found.records, 1);
        assert_int_equal(found.from_tensors, 0);
        end();
    }
}

/* Which case a record is of. */
static void cases(void **state) {
    (void)state;
    begin("ab", PASS("") PASS("") "{\"case\":\"c\",\"verdict\":\"SKIP\"}\n", "");
    assert_told("a: has two records\nc: has a record, but was not selected\n");
    assert_int_equal(found.records, 3);
    assert_int_equal(found.verdicts[NNVTS_PASS], 2);
    assert_int_equal(found.verdicts[NNVTS_SKIP], 1);
    assert_int_equal(found.verdicts[NNVTS_NOTRUN], 1);
    assert_false(found.apart);
    assert_false(found.packed);
    end();
    /* behind a line that is none it goes on */
    struct nnv_text line = {0};
    begin("a", "{\"case\":\n" PASS(""), ",\"driver\":{\"argument\":\"host:cpu\"}");
    struct nnv_err err = {0};
    assert_int_equal(verify(&err), NNV_OK);
    nnv_text_addf(&line, "%s:2: not a record: ", fx_path(&fx, "journal.jsonl"));
    assert_ptr_equal(strstr(told.data, line.data), told.data);
    assert_int_equal(found.records, 1);
    assert_true(found.apart);
    nnv_text_free(&line);
    end();
}

static void lists(void **state) {
    (void)state;
    begin("ab", PASS(""), "");
    fx_put(&fx, "cases.tsv", "a\ts\t\t\t\n", 7);
    assert_told("cases.tsv: not the list of cases that the run was begun with\n"
                "cases.tsv: not as many cases as the journal says\n");
    fx_put(&fx, "cases.tsv", "a\ts\t\t\t\nc\ts\t\t\t\n", 14);
    assert_told("cases.tsv: not the list of cases that the run was begun with\n");
    struct nnv_err err = {0};
    fx_put(&fx, "cases.tsv", "a\n", 2);
    assert_int_equal(verify(&err), NNV_INVALID);
    unlink(fx_path(&fx, "journal.jsonl"));
    assert_int_equal(verify(&err), NNV_INVALID);
    assert_non_null(strstr(err.text, ": not the folder of a run: it has no journal.jsonl"));
    end();
}

static void summary(void **state) {
    (void)state;
    static const char right[] = "{\"verdicts\":{\"PASS\":1,\"FAIL\":0,\"NOTRUN\":1}}",
                      wrong[] = "{\"verdicts\":{\"PASS\":2,\"FAIL\":1}}";
    begin("ab", PASS(""), "");
    fx_put(&fx, "summary.json", right, strlen(right));
    assert_told("");
    fx_put(&fx, "summary.json", wrong, strlen(wrong));
    assert_told("summary.json: PASS: 2, but the journal has 1\nsummary.json: FAIL: 1, but the journal has 0\n"
                "summary.json: NOTRUN: 0, but the journal has 1\n");
    fx_put(&fx, "summary.json", "{}", 2);
    assert_told("");
    end();
}

static void dumps(void **state) {
    (void)state;
    struct nnv_err err = {0};
    begin("a", FAIL(",\"reason\":\"x\",\"dump\":\"dumps/a.json\""), "");
    assert_told("a: its dump is missing: dumps/a.json\n");
    mkdir(fx_path(&fx, "dumps"), 0777);
    fx_put(&fx, "dumps/a.json", "{}", 2);
    now = (struct nnv_rejudged){0};
    assert_told("");
    assert_string_equal(judged, fx_path(&fx, "dumps/a.json"));
    assert_int_equal(found.from_tensors, 0);
    now = (struct nnv_rejudged){.answered = true, .verdict = NNVTS_FAIL, .compared = 3};
    assert_told("");
    assert_int_equal(found.from_tensors, 1);
    assert_int_equal(found.passes_from_tensors, 0);
    now.compared = 4;
    assert_told("a: its tensors have another number of values than its record\n");
    now.verdict = NNVTS_PASS;
    assert_told("a: FAIL, but its tensors say PASS\n");
    now_status = NNV_IO;
    assert_int_equal(verify(&err), NNV_IO);
    now_status = NNV_OK;
    end();
    begin("a", PASS(",\"dump\":\"dumps/a.json\""), "");
    mkdir(fx_path(&fx, "dumps"), 0777);
    fx_put(&fx, "dumps/a.json", "{}", 2);
    now = (struct nnv_rejudged){.answered = true, .verdict = NNVTS_PASS, .compared = 3};
    assert_told("");
    assert_int_equal(found.passes_from_tensors, 1);
    end();
    /* what died is not judged by what it answered */
    begin("a", "{\"case\":\"a\",\"verdict\":\"CRASH\",\"dump\":\"dumps/a.json\"}\n", "");
    assert_told("");
    assert_string_equal(judged, "");
    end();
    static const char *const elsewhere[] = {"/bench.json", "dumps/../bench.json"};
    for (size_t i = 0; i < sizeof elsewhere / sizeof *elsewhere; i++) {
        char record[128], expected[128];
        snprintf(record, sizeof record, FAIL(",\"reason\":\"x\",\"dump\":\"%s\""), elsewhere[i]);
        snprintf(expected, sizeof expected, "a: its dump is missing: %s\n", elsewhere[i]);
        begin("a", record, "");
        fx_put(&fx, "bench.json", "{}", 2);
        mkdir(fx_path(&fx, "dumps"), 0777);
        assert_told(expected);
        assert_string_equal(judged, "");
        end();
    }
}

/* However long a name is, what is wrong with its case is told. */
static void long_names(void **state) {
    (void)state;
    enum { LONG = 3000 };
    char name[LONG + 1], line[LONG + 16], record[LONG + 64], expected[LONG + 64];
    memset(name, 'n', LONG);
    name[LONG] = '\0';
    snprintf(line, sizeof line, "%s\ts\t\t\t\n", name);
    snprintf(record, sizeof record, "{\"case\":\"%s\",\"verdict\":\"FAIL\"}\n", name);
    snprintf(expected, sizeof expected, "%s: FAIL, but nothing is wrong and no reason is given\n", name);
    struct nnv_text journal = {0};
    char selection[17];
    nnv_record_selection(&(struct nnv_case){.name = name}, 1, selection);
    nnv_text_addf(&journal, "{\"nnvts\":\"1\",\"format\":\"nnvts-journal/1\",\"cases\":1,\"selection\":\"%s\"}\n%s",
                  selection, record);
    fx = fx_new();
    fx_put(&fx, "cases.tsv", line, strlen(line));
    fx_put(&fx, "journal.jsonl", journal.data, journal.len);
    nnv_text_free(&journal);
    assert_told(expected);
    end();
}

static void manifests(void **state) {
    (void)state;
    static const char manifest[] = "{\"files\":[]}";
    begin("a", PASS(""), "");
    fx_put(&fx, "manifest.json", manifest, strlen(manifest));
    assert_told("cases.tsv: was not packed\njournal.jsonl: was not packed\n");
    assert_true(found.packed);
    assert_int_equal(found.records, 1);
    end();
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(records), cmocka_unit_test(cases),      cmocka_unit_test(lists),    cmocka_unit_test(summary),
        cmocka_unit_test(dumps),   cmocka_unit_test(long_names), cmocka_unit_test(manifests)};
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    nnv_text_free(&told);
    return failed;
}
