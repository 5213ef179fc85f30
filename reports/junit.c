/* SPDX-License-Identifier: Apache-2.0 */
/** @file junit.c junit.xml: the run for continuous-integration servers. The form is tests/junit.xsd. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "reports/load.h"
#include "reports/suite_counts.h"
#include "reports/words.h"

/** What JUnit makes of a verdict. */
enum kind { KIND_PASS, KIND_FAILURE, KIND_ERROR, KIND_SKIPPED };

static const struct {
    enum kind kind;
    const char *element;
} forms[NNVTS_VERDICT_COUNT] = {
    [NNVTS_ERROR] = {KIND_ERROR, "error"},    [NNVTS_PASS] = {KIND_PASS, NULL},
    [NNVTS_FAIL] = {KIND_FAILURE, "failure"}, [NNVTS_UNSUPPORTED] = {KIND_SKIPPED, "skipped"},
    [NNVTS_SKIP] = {KIND_SKIPPED, "skipped"}, [NNVTS_UNTRUSTED] = {KIND_FAILURE, "failure"},
    [NNVTS_CRASH] = {KIND_ERROR, "error"},    [NNVTS_TIMEOUT] = {KIND_ERROR, "error"},
    [NNVTS_NOTRUN] = {KIND_ERROR, "error"},
};

static size_t count_kind(const size_t *verdicts, enum kind kind) {
    size_t n = 0;
    for (int v = 0; v < NNVTS_VERDICT_COUNT; v++)
        if (forms[v].kind == kind) n += verdicts[v];
    return n;
}

static void add_attribute(struct nnv_text *t, const char *name, const char *value) {
    nnv_text_addf(t, " %s=\"", name);
    nnv_text_add_xml(t, value);
    nnv_text_add(t, "\"");
}

static void add_property(struct nnv_text *t, const char *name, const char *value) {
    nnv_text_add(t, "      <property");
    add_attribute(t, "name", name);
    add_attribute(t, "value", value);
    nnv_text_add(t, "/>\n");
}

/** Adds the command line as one would type it, near enough to read. */
static void add_command(struct nnv_text *t, const json_t *argv) {
    size_t i;
    const json_t *word;
    json_array_foreach(argv, i, word) {
        const char *s = json_string_value(word);
        if (s != NULL) nnv_text_addf(t, "%s%s", t->len == 0 ? "" : " ", s);
    }
}

static void add_properties(struct nnv_text *t, const json_t *header) {
    const json_t *driver = json_object_get(header, "driver");
    struct nnv_text seed = {0}, command = {0};
    nnv_report_add_seed(&seed, header);
    add_command(&command, json_object_get(header, "argv"));
    nnv_text_add(t, "    <properties>\n");
    add_property(t, "driver", nnv_json_text(driver, "argument", ""));
    add_property(t, "driver.name", nnv_json_text(driver, "name", ""));
    add_property(t, "driver.version", nnv_json_text(driver, "version", ""));
    add_property(t, "nnvts", nnv_json_text(header, "nnvts", ""));
    add_property(t, "seed", seed.data == NULL ? "" : seed.data);
    add_property(t, "argv", command.data == NULL ? "" : command.data);
    nnv_text_add(t, "    </properties>\n");
    t->failed = t->failed || seed.failed || command.failed;
    nnv_text_free(&seed);
    nnv_text_free(&command);
}

static int two_digits(const char *s) { return (s[0] - '0') * 10 + s[1] - '0'; }

/** True for a real "2026-01-31T12:00:00", with a Z behind it or nothing. */
static bool is_time(const char *s) {
    static const char form[] = "dddd-dd-ddTdd:dd:dd";
    for (size_t i = 0; form[i] != '\0'; i++)
        if (form[i] == 'd' ? !isdigit((unsigned char)s[i]) : s[i] != form[i]) return false;
    static const int days[] = {31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    int year = two_digits(s) * 100 + two_digits(s + 2), month = two_digits(s + 5), day = two_digits(s + 8);
    bool leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    if (year == 0 || month < 1 || month > 12 || day < 1 || day > days[month - 1] || (month == 2 && day == 29 && !leap))
        return false;
    if (two_digits(s + 11) > 23 || two_digits(s + 14) > 59 || two_digits(s + 17) > 59) return false;
    return s[19] == '\0' || strcmp(s + 19, "Z") == 0;
}

/** Adds what went wrong: the reason, where it died, the dump, and how to see it again. */
static void add_block(struct nnv_text *t, const struct nnv_report *r, const struct nnv_report_case *c,
                      const json_t *record) {
    nnv_text_add_xml(t, nnv_json_text(record, "reason", c->reason));
    nnv_text_add(t, "\n");
    const char *dump = nnv_json_text(record, "dump", NULL), *replay = nnv_json_text(record, "replay", NULL);
    const char *backtrace = nnv_json_text(record, "backtrace", NULL);
    if (dump != NULL) {
        struct nnv_text path = {0};
        nnv_text_add_path(&path, r->folder, dump);
        nnv_text_add(t, "dump ");
        nnv_text_add_xml(t, path.failed ? dump : path.data);
        nnv_text_add(t, "\n");
        nnv_text_free(&path);
    }
    if (replay != NULL && *replay != '\0') {
        nnv_text_add(t, "again: ");
        nnv_text_add_xml(t, replay);
        nnv_text_add(t, "\n");
    }
    if (backtrace != NULL) {
        nnv_text_add(t, "backtrace:\n");
        nnv_text_add_xml(t, backtrace);
        nnv_text_add(t, "\n");
    }
}

/** Adds the verdict of a case that did not pass. */
static enum nnv_status add_verdict(struct nnv_text *t, const struct nnv_report *r, size_t i, struct nnv_err *err) {
    const struct nnv_report_case *c = &r->item[i];
    const char *element = forms[c->verdict].element;
    const char *message = c->verdict == NNVTS_NOTRUN ? "not run" : c->reason;
    nnv_text_addf(t, "      <%s", element);
    if (forms[c->verdict].kind != KIND_SKIPPED) add_attribute(t, "type", nnv_verdict_name(c->verdict));
    add_attribute(t, "message", *message == '\0' ? nnv_verdict_word(c->verdict) : message);
    if (!nnv_verdict_bad(c->verdict)) {
        nnv_text_add(t, "/>\n");
        return NNV_OK;
    }
    json_t *record = NULL;
    enum nnv_status s = nnv_report_record(r, i, &record, err);
    if (s != NNV_OK) return s;
    nnv_text_add(t, ">");
    add_block(t, r, c, record);
    nnv_text_addf(t, "</%s>\n", element);
    const char *log = nnv_json_text(record, "log", "");
    if (*log != '\0') {
        nnv_text_add(t, "      <system-out>");
        nnv_text_add_xml(t, log);
        nnv_text_add(t, "</system-out>\n");
    }
    json_decref(record);
    return NNV_OK;
}

static enum nnv_status add_case(struct nnv_text *t, const struct nnv_report *r, size_t i, struct nnv_err *err) {
    const struct nnv_report_case *c = &r->item[i];
    nnv_text_add(t, "    <testcase classname=\"");
    nnv_text_add_xml(t, r->suites.key[c->suite]);
    if (*r->ops.key[c->op] != '\0') {
        nnv_text_add(t, ".");
        nnv_text_add_xml(t, r->ops.key[c->op]);
    }
    nnv_text_add(t, "\"");
    add_attribute(t, "name", c->name);
    nnv_text_addf(t, " time=\"%.3f\"", c->ms / 1000);
    if (forms[c->verdict].kind == KIND_PASS) {
        nnv_text_add(t, "/>\n");
        return NNV_OK;
    }
    nnv_text_add(t, ">\n");
    enum nnv_status s = add_verdict(t, r, i, err);
    nnv_text_add(t, "    </testcase>\n");
    return s;
}

static void open_suite(struct nnv_text *t, const struct nnv_report *r, uint32_t suite,
                       const struct nnv_suite_counts *n) {
    const char *start = nnv_json_text(r->header, "start", "");
    const char *host = nnv_json_text(json_object_get(r->header, "machine"), "host", NULL);
    nnv_text_add(t, "  <testsuite");
    add_attribute(t, "name", r->suites.key[suite]);
    nnv_text_addf(t, " tests=\"%zu\" failures=\"%zu\" errors=\"%zu\" skipped=\"%zu\" time=\"%.3f\"", n->cases,
                  count_kind(n->verdicts, KIND_FAILURE), count_kind(n->verdicts, KIND_ERROR),
                  count_kind(n->verdicts, KIND_SKIPPED), n->ms / 1000);
    if (is_time(start)) add_attribute(t, "timestamp", start);
    if (host != NULL) add_attribute(t, "hostname", host);
    nnv_text_add(t, ">\n");
    add_properties(t, r->header);
}

/** The cases of the run, suite by suite; malloc'ed, NULL when out of memory. */
static size_t *by_suite(const struct nnv_report *r, const struct nnv_suite_counts *suites) {
    size_t *order = malloc((r->count + 1) * sizeof *order);
    size_t *next = malloc((r->suites.count + (size_t)1) * sizeof *next);
    if (order != NULL && next != NULL) {
        size_t sum = 0;
        for (uint32_t s = 0; s < r->suites.count; s++) {
            next[s] = sum;
            sum += suites[s].cases;
        }
        for (size_t i = 0; i < r->count; i++) order[next[r->item[i].suite]++] = i;
    }
    bool ok = next != NULL;
    free(next);
    if (ok) return order;
    free(order);
    return NULL;
}

static enum nnv_status add_run(struct nnv_text *t, const struct nnv_report *r, const struct nnv_suite_counts *suites,
                               const size_t *order, struct nnv_err *err) {
    double ms = 0;
    for (uint32_t s = 0; s < r->suites.count; s++) ms += suites[s].ms;
    nnv_text_add(t, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"nnvts\"");
    nnv_text_addf(t, " tests=\"%zu\" failures=\"%zu\" errors=\"%zu\" time=\"%.3f\">\n", r->count,
                  count_kind(r->verdicts, KIND_FAILURE), count_kind(r->verdicts, KIND_ERROR), ms / 1000);
    enum nnv_status status = NNV_OK;
    size_t k = 0;
    for (uint32_t s = 0; s < r->suites.count && status == NNV_OK; s++) {
        open_suite(t, r, s, &suites[s]);
        for (size_t end = k + suites[s].cases; k < end && status == NNV_OK; k++) status = add_case(t, r, order[k], err);
        nnv_text_add(t, "  </testsuite>\n");
    }
    nnv_text_add(t, "</testsuites>\n");
    return status;
}

enum nnv_status nnv_report_junit(const struct nnv_report *r, struct nnv_err *err) {
    struct nnv_suite_counts *suites = nnv_suite_counts(r);
    size_t *order = suites == NULL ? NULL : by_suite(r, suites);
    struct nnv_text path = {0}, t = {0};
    nnv_text_add_path(&path, r->folder, "junit.xml");
    enum nnv_status s = NNV_OK;
    if (order != NULL) s = add_run(&t, r, suites, order, err);
    if (s == NNV_OK && (order == NULL || path.failed || t.failed))
        s = nnv_fail(err, NNV_NO_MEMORY, "%s: out of memory for junit.xml", r->folder);
    if (s == NNV_OK) s = nnv_file_write(path.data, t.data, t.len, err);
    nnv_text_free(&path);
    nnv_text_free(&t);
    free(order);
    free(suites);
    return s;
}
