/* SPDX-License-Identifier: Apache-2.0 */
/** @file junit.c junit.xml: the run for continuous-integration servers. The form is tests/junit.xsd. */
#include <ctype.h>
#include <libxml/xmlwriter.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/words.h"
#include "harness/journal/causes/bug.h"
#include "harness/journal/expect/outcome.h"
#include "harness/journal/journal.h"
#include "harness/journal/load.h"
#include "harness/journal/verdict.h"
#include "reports/report.h"

enum { NUMBER_TEXT = 400 }; /* any double with three decimals */

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

/** What JUnit makes of a case: an expected failure is skipped, an unexpected pass fails where that is strict. */
static enum kind kind_of(const struct nnv_report *r, const struct nnv_report_case *c) {
    if (c->outcome == NNVTS_OUTCOME_XFAIL) return KIND_SKIPPED;
    if (c->outcome == NNVTS_OUTCOME_XPASS && r->strict) return KIND_FAILURE;
    return forms[c->verdict].kind;
}

/** Cases of each kind, of a suite, or of all (NNV_MAP_NONE), with the stale expectations among all. */
static void count_kinds(const struct nnv_report *r, uint32_t suite, size_t *kinds) {
    memset(kinds, 0, (KIND_SKIPPED + 1) * sizeof *kinds);
    for (size_t i = 0; i < r->count; i++)
        if (suite == NNV_MAP_NONE || r->item[i].suite == suite) kinds[kind_of(r, &r->item[i])]++;
    if (suite == NNV_MAP_NONE) kinds[r->strict ? KIND_FAILURE : KIND_SKIPPED] += r->stale;
}

/** The document that is being written. What fails once stays failed, so only the end needs to ask. */
struct document {
    struct nnv_stream file;
    struct nnv_err *err;    /**< of the file */
    enum nnv_status status; /**< likewise */
    xmlTextWriter *writer;
    struct nnv_text legal; /**< scratch: a text whose every character XML 1.0 has */
    struct nnv_bugs bugs;
    bool failed;
};

/** Takes what a function of libxml2 returned: -1 is failure. */
static void check(struct document *d, int result) { d->failed = d->failed || (result < 0 && d->status == NNV_OK); }

static void close_document(struct document *d) {
    xmlFreeTextWriter(d->writer);
    nnv_stream_drop(&d->file);
    nnv_text_free(&d->legal);
}

/** What libxml2 has ready goes to the file. */
static int write_piece(void *context, const char *data, int n) {
    struct document *d = context;
    if (n == 0 || d->file.fd < 0) return n == 0 ? 0 : -1;
    if (d->status == NNV_OK) d->status = nnv_stream_add(&d->file, data, (size_t)n, d->err);
    return d->status == NNV_OK ? n : -1;
}

static int keep_open(void *context) {
    (void)context;
    return 0;
}

static void open_document(struct document *d, const char *path) {
    xmlResetLastError();
    d->status = nnv_stream_open(&d->file, path, d->err);
    if (d->status != NNV_OK) return;
    xmlOutputBuffer *out = xmlOutputBufferCreateIO(write_piece, keep_open, d, NULL);
    d->writer = out == NULL ? NULL : xmlNewTextWriter(out);
    if (d->writer == NULL) {
        if (out != NULL) xmlOutputBufferClose(out);
        d->failed = true;
        return;
    }
    check(d, xmlTextWriterSetIndent(d->writer, 1));
    check(d, xmlTextWriterSetIndentString(d->writer, BAD_CAST "  "));
    check(d, xmlTextWriterStartDocument(d->writer, NULL, "UTF-8", NULL));
}

/** Ends the document; it is complete if it has not failed. */
static void end_document(struct document *d) {
    check(d, xmlTextWriterEndDocument(d->writer));
    check(d, xmlTextWriterFlush(d->writer));
    /* Some of libxml2's functions only leave a word about it when memory runs out. */
    d->failed = d->failed || xmlGetLastError() != NULL;
}

static void open_element(struct document *d, const char *name) {
    check(d, xmlTextWriterStartElement(d->writer, BAD_CAST name));
}

static void end_element(struct document *d) { check(d, xmlTextWriterEndElement(d->writer)); }

/** s as libxml2 may have it; it lasts until the next call. */
static const xmlChar *legal(struct document *d, const char *s) {
    nnv_text_clear(&d->legal);
    nnv_text_add_legal(&d->legal, s);
    d->failed = d->failed || d->legal.failed || d->legal.len > INT_MAX;
    return d->failed ? BAD_CAST "" : BAD_CAST d->legal.data;
}

static void add_attribute(struct document *d, const char *name, const char *value) {
    check(d, xmlTextWriterWriteAttribute(d->writer, BAD_CAST name, legal(d, value)));
}

static void add_count(struct document *d, const char *name, size_t n) {
    check(d, xmlTextWriterWriteFormatAttribute(d->writer, BAD_CAST name, "%zu", n));
}

static void add_seconds(struct document *d, double ms) {
    char text[NUMBER_TEXT];
    snprintf(text, sizeof text, "%.3f", ms / 1000);
    check(d, xmlTextWriterWriteAttribute(d->writer, BAD_CAST "time", BAD_CAST text));
}

static void add_text(struct document *d, const char *s) { check(d, xmlTextWriterWriteString(d->writer, legal(d, s))); }

static void add_line(struct document *d, const char *what, const char *s) {
    add_text(d, what);
    add_text(d, s);
    add_text(d, "\n");
}

static void add_property(struct document *d, const char *name, const char *value) {
    open_element(d, "property");
    add_attribute(d, "name", name);
    add_attribute(d, "value", value);
    end_element(d);
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

/** Adds a property for each of the first bugs. */
static void add_bugs(struct document *d) {
    enum { MOST = 20 };
    for (uint32_t i = 0; i < d->bugs.count && i < MOST; i++) {
        const struct nnv_bug *b = &d->bugs.item[i];
        struct nnv_text name = {0}, value = {0};
        nnv_text_addf(&name, "bug.%u", i + 1);
        nnv_text_addf(&value, "%zu x %s%s%s", b->count, b->ops, *b->ops ? ": " : "", b->words);
        if (b->where) nnv_text_addf(&value, "; %s", b->where);
        d->failed = d->failed || name.failed || value.failed;
        if (!d->failed) add_property(d, name.data, value.data);
        nnv_text_free(&name);
        nnv_text_free(&value);
    }
}

static void add_properties(struct document *d, const json_t *header) {
    const json_t *driver = json_object_get(header, "driver");
    struct nnv_text seed = {0}, command = {0};
    nnv_header_add_seed(&seed, header);
    add_command(&command, json_object_get(header, "argv"));
    d->failed = d->failed || seed.failed || command.failed;
    open_element(d, "properties");
    add_property(d, "driver", nnv_json_text(driver, "argument", ""));
    add_property(d, "driver.name", nnv_json_text(driver, "name", ""));
    add_property(d, "driver.version", nnv_json_text(driver, "version", ""));
    add_property(d, "nnvts", nnv_json_text(header, "nnvts", ""));
    add_property(d, "seed", seed.data == NULL ? "" : seed.data);
    add_property(d, "arithmetic", nnv_json_text(header, "arithmetic", "strict"));
    add_property(d, "argv", command.data == NULL ? "" : command.data);
    add_bugs(d);
    end_element(d);
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
static void add_block(struct document *d, const struct nnv_report *r, const struct nnv_report_case *c,
                      const json_t *record) {
    add_text(d, nnv_json_text(record, "reason", c->more->reason));
    add_text(d, "\n");
    const char *words = nnv_json_text(nnv_flake_of(r, c), "words", "");
    if (*words != '\0') {
        add_line(d, "tried again: ", words);
    }
    const char *dump = nnv_json_text(record, "dump", NULL), *replay = nnv_json_text(record, "replay", NULL);
    const char *backtrace = nnv_json_text(record, "backtrace", NULL);
    if (dump != NULL) {
        struct nnv_text path = {0};
        nnv_text_add_path(&path, r->folder, dump);
        add_line(d, "dump ", path.failed ? dump : path.data);
        nnv_text_free(&path);
    }
    if (replay != NULL && *replay != '\0') {
        add_line(d, "again: ", replay);
    }
    if (backtrace != NULL) {
        add_line(d, "backtrace:\n", backtrace);
    }
}

/** Adds the files of a dump that there are, as Jenkins' and GitLab's readers of JUnit know them. */
static void add_attachments(struct nnv_text *t, const struct nnv_report *r, const char *dump) {
    const size_t tail = strlen(nnv_dump_files[0]);
    if (!nnv_ends_with(dump, nnv_dump_files[0])) return;
    for (size_t i = 0; i < NNV_DUMP_FILES; i++) {
        struct nnv_text path = {0};
        nnv_text_add_path(&path, r->folder, dump);
        if (!path.failed) path.len -= tail;
        nnv_text_add(&path, nnv_dump_files[i]);
        if (!path.failed && access(path.data, R_OK) == 0) nnv_text_addf(t, "[[ATTACHMENT|%s]]\n", path.data);
        t->failed = t->failed || path.failed;
        nnv_text_free(&path);
    }
}

/** Adds what the driver printed, and links to the files of the dump. */
static void add_output(struct document *d, const struct nnv_report *r, const json_t *record) {
    struct nnv_text t = {0};
    const char *log = nnv_json_text(record, "log", "");
    nnv_text_add(&t, log);
    if (t.len > 0 && log[t.len - 1] != '\n') nnv_text_add(&t, "\n");
    add_attachments(&t, r, nnv_json_text(record, "dump", ""));
    d->failed = d->failed || t.failed;
    if (!d->failed && t.len > 0) {
        open_element(d, "system-out");
        add_text(d, t.data);
        end_element(d);
    }
    nnv_text_free(&t);
}

/** Adds an outcome: what was expected, why, and what came. */
static void add_expected(struct document *d, const struct nnv_report *r, const struct nnv_report_case *c) {
    const bool xfail = c->outcome == NNVTS_OUTCOME_XFAIL;
    struct nnv_text why = {0};
    nnv_text_addf(&why, "%s: ", xfail ? "expected failure" : "expected to fail, but did not");
    nnv_outcome_add_why(&why, r, c->more->expectation);
    open_element(d, xfail ? "skipped" : "failure");
    if (!xfail) add_attribute(d, "type", "XPASS");
    add_attribute(d, "message", why.data != NULL ? why.data : "");
    end_element(d);
    if (xfail) {
        open_element(d, "system-out");
        add_text(d, nnv_verdict_name(c->verdict));
        add_text(d, ": ");
        add_text(d, c->more->reason);
        end_element(d);
    }
    d->failed = d->failed || why.failed;
    nnv_text_free(&why);
}

/** Adds the verdict of a case that did not pass. */
static enum nnv_status add_verdict(struct document *d, const struct nnv_report *r, size_t i, struct nnv_err *err) {
    const struct nnv_report_case *c = &r->item[i];
    if (c->outcome == NNVTS_OUTCOME_XFAIL || (c->outcome == NNVTS_OUTCOME_XPASS && r->strict)) {
        add_expected(d, r, c);
        return NNV_OK;
    }
    const char *message = c->more->reason;
    json_t *record = NULL;
    if (nnv_verdict_bad(c->verdict)) {
        enum nnv_status s = nnv_report_record(r, i, &record, err);
        if (s != NNV_OK) return s;
    }
    open_element(d, forms[c->verdict].element);
    add_attribute(d, "type", c->why != NNVTS_WHY_NONE ? nnv_why_name(c->why) : nnv_verdict_name(c->verdict));
    add_attribute(d, "message", *message == '\0' ? nnv_verdict_word(c->verdict) : message);
    if (nnv_verdict_bad(c->verdict)) add_block(d, r, c, record);
    end_element(d);
    add_output(d, r, record);
    json_decref(record);
    return NNV_OK;
}

static enum nnv_status add_case(struct document *d, const struct nnv_report *r, size_t i, struct nnv_err *err) {
    const struct nnv_report_case *c = &r->item[i];
    const char *suite = r->suites.key[c->suite], *op = r->ops.key[c->op];
    enum nnv_status s = NNV_OK;
    open_element(d, "testcase");
    check(d, xmlTextWriterStartAttribute(d->writer, BAD_CAST "classname"));
    add_text(d, suite);
    if (*op != '\0') {
        add_text(d, ".");
        add_text(d, op);
    }
    check(d, xmlTextWriterEndAttribute(d->writer));
    add_attribute(d, "name", c->name);
    add_seconds(d, nnv_case_ms(c));
    if (kind_of(r, c) != KIND_PASS) s = add_verdict(d, r, i, err);
    end_element(d);
    return s;
}

static void open_suite(struct document *d, const struct nnv_report *r, uint32_t suite,
                       const struct nnv_suite_counts *n) {
    const char *start = nnv_json_text(r->header, "start", "");
    const char *host = nnv_json_text(json_object_get(r->header, "machine"), "host", NULL);
    open_element(d, "testsuite");
    add_attribute(d, "name", r->suites.key[suite]);
    add_count(d, "tests", n->cases);
    size_t kinds[KIND_SKIPPED + 1];
    count_kinds(r, suite, kinds);
    add_count(d, "failures", kinds[KIND_FAILURE]);
    add_count(d, "errors", kinds[KIND_ERROR]);
    add_count(d, "skipped", kinds[KIND_SKIPPED]);
    add_seconds(d, n->ms);
    if (is_time(start)) add_attribute(d, "timestamp", start);
    if (host != NULL) add_attribute(d, "hostname", host);
    add_properties(d, r->header);
}

/** Adds a suite of the expectations that have expired or match nothing. */
static void add_stale_suite(struct document *d, const struct nnv_report *r) {
    open_element(d, "testsuite");
    add_attribute(d, "name", "expectations");
    add_count(d, "tests", r->stale);
    add_count(d, "failures", r->strict ? r->stale : 0);
    add_count(d, "errors", 0);
    add_count(d, "skipped", r->strict ? 0 : r->stale);
    add_seconds(d, 0);
    add_properties(d, r->header);
    const json_t *entry;
    for (uint32_t i = 0; (entry = nnv_expected_entry(r, i)) != NULL; i++) {
        if (!nnv_expected_stale(entry)) continue;
        struct nnv_text why = {0};
        nnv_outcome_add_stale(&why, entry);
        open_element(d, "testcase");
        add_attribute(d, "classname", "expectations");
        add_attribute(d, "name", nnv_json_text(entry, "at", "?"));
        add_seconds(d, 0);
        open_element(d, r->strict ? "failure" : "skipped");
        if (r->strict) add_attribute(d, "type", "STALE");
        add_attribute(d, "message", why.data != NULL ? why.data : "");
        end_element(d);
        end_element(d);
        d->failed = d->failed || why.failed;
        nnv_text_free(&why);
    }
    end_element(d);
}

static enum nnv_status add_run(struct document *d, const struct nnv_report *r, const struct nnv_suite_counts *suites,
                               struct nnv_err *err) {
    double ms = 0;
    size_t kinds[KIND_SKIPPED + 1];
    count_kinds(r, NNV_MAP_NONE, kinds);
    for (uint32_t s = 0; s < r->suites.count; s++) ms += suites[s].ms;
    open_element(d, "testsuites");
    add_attribute(d, "name", "nnvts");
    add_count(d, "tests", r->count + r->stale);
    add_count(d, "failures", kinds[KIND_FAILURE]);
    add_count(d, "errors", kinds[KIND_ERROR]);
    add_seconds(d, ms);
    enum nnv_status status = NNV_OK;
    for (uint32_t s = 0; s < r->suites.count && status == NNV_OK; s++) {
        open_suite(d, r, s, &suites[s]);
        /* Lists have the cases of a suite together, nearly always. */
        size_t left = suites[s].cases;
        for (size_t i = suites[s].first; left > 0 && status == NNV_OK; i++) {
            if (r->item[i].suite != s) continue;
            status = add_case(d, r, i, err);
            left--;
        }
        end_element(d);
    }
    if (r->stale > 0) add_stale_suite(d, r);
    end_element(d);
    end_document(d);
    return status;
}

enum nnv_status nnv_report_junit(const struct nnv_report *r, struct nnv_err *err) {
    struct nnv_suite_counts *suites = nnv_suite_counts(r);
    struct nnv_text path = {0};
    struct document d = {.file = NNV_STREAM_NONE, .err = err};
    nnv_text_add_path(&path, r->folder, "junit.xml");
    enum nnv_status s = NNV_OK;
    if (suites != NULL && !path.failed) {
        open_document(&d, path.data);
        if (d.status == NNV_OK && !d.failed) s = nnv_bugs_of(r, &d.bugs, err);
        if (s == NNV_OK && d.status == NNV_OK && !d.failed) s = add_run(&d, r, suites, err);
        if (s == NNV_OK) s = d.status;
    }
    if (s == NNV_OK && (suites == NULL || path.failed || d.failed))
        s = nnv_fail(err, NNV_NO_MEMORY, "%s: out of memory for junit.xml", r->folder);
    if (s == NNV_OK) s = nnv_stream_end(&d.file, err);
    close_document(&d);
    nnv_bugs_free(&d.bugs);
    nnv_text_free(&path);
    free(suites);
    return s;
}
