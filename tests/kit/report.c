/* SPDX-License-Identifier: Apache-2.0 */
/** @file report.c See report.h. */
#include "tests/kit/report.h"

#include <libxml/xmlschemas.h>

#include <unistd.h>

char *fx_path(const struct fx *f, const char *name) {
    static char path[512];
    snprintf(path, sizeof path, "%s/%s", f->folder, name);
    return path;
}

void fx_put(const struct fx *f, const char *name, const void *data, size_t n) {
    struct nnv_err err = {0};
    if (nnv_file_write(fx_path(f, name), data, n, &err) != NNV_OK) fail_msg("%s", err.text);
}

char *fx_get(const struct fx *f, const char *name, size_t *n) {
    struct nnv_err err = {0};
    char *data = NULL;
    size_t size = 0;
    if (nnv_file_read(fx_path(f, name), (size_t)1 << 28, &data, &size, &err) != NNV_OK) fail_msg("%s", err.text);
    if (n != NULL) *n = size;
    return data;
}

struct fx fx_new(void) {
    struct fx f = {"/tmp/nnvts-report-XXXXXX", NULL};
    assert_non_null(mkdtemp(f.folder));
    return f;
}

void fx_remove(struct fx *f) {
    static const char *const names[] = {"cases.tsv",   "journal.jsonl", "summary.json",    "junit.xml",
                                        "report.html", "bench.json",    NNV_EXPLAINED_FILE};
    nnv_report_free(f->report);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) unlink(fx_path(f, names[i]));
    assert_int_equal(rmdir(f->folder), 0);
}

void fx_load(struct fx *f) {
    struct nnv_err err = {0};
    if (nnv_report_load(f->folder, &f->report, &err) != NNV_OK) fail_msg("%s", err.text);
}

struct fx fx_copy(const char *name) {
    static const char *const names[] = {"cases.tsv", "journal.jsonl"};
    struct fx f = fx_new();
    for (size_t i = 0; i < 2; i++) {
        char path[256];
        char *data = NULL;
        size_t n = 0;
        struct nnv_err err = {0};
        snprintf(path, sizeof path, "tests/reports/%s/%s", name, names[i]);
        if (nnv_file_read(path, 1 << 24, &data, &n, &err) != NNV_OK) fail_msg("%s", err.text);
        fx_put(&f, names[i], data, n);
        free(data);
    }
    return f;
}

struct fx fx_golden(const char *name) {
    struct fx f = fx_copy(name);
    fx_load(&f);
    return f;
}

struct fx fx_make(const char *cases, const char *records) {
    struct fx f = fx_new();
    struct nnv_text t = {0};
    int n = 0;
    for (const char *p = cases; *p != '\0'; p++) n += *p == '\n';
    nnv_text_addf(&t, FX_HEADER, n);
    nnv_text_add(&t, records);
    fx_put(&f, "cases.tsv", cases, strlen(cases));
    fx_put(&f, "journal.jsonl", t.data, t.len);
    nnv_text_free(&t);
    return f;
}

double fx_xpath(xmlDoc *doc, const char *expression) {
    xmlXPathContext *context = xmlXPathNewContext(doc);
    xmlXPathObject *value = xmlXPathEvalExpression((const xmlChar *)expression, context);
    if (value == NULL) fail_msg("XPath: %s", expression);
    double number = xmlXPathCastToNumber(value);
    xmlXPathFreeObject(value);
    xmlXPathFreeContext(context);
    return number;
}

void fx_once(xmlDoc *doc, const char *const *paths, size_t n) {
    for (size_t i = 0; i < n; i++) {
        char expression[600];
        snprintf(expression, sizeof expression, "count(%s)", paths[i]);
        if (fx_xpath(doc, expression) != 1) fail_msg("not there once: %s", paths[i]);
    }
}

xmlDoc *fx_xml(const struct fx *f, const char *name) {
    size_t n = 0;
    char *data = fx_get(f, name, &n);
    xmlDoc *doc = xmlReadMemory(data, (int)n, name, NULL, XML_PARSE_NONET | XML_PARSE_HUGE);
    if (doc == NULL) fail_msg("%s/%s is not well-formed", f->folder, name);
    free(data);
    return doc;
}

void fx_silent(void *context, const char *message, ...) {
    (void)context;
    (void)message;
}

int fx_junit_errors(xmlDoc *doc, bool quiet) {
    xmlSchemaParserCtxt *parser = xmlSchemaNewParserCtxt("tests/junit.xsd");
    xmlSchema *schema = parser ? xmlSchemaParse(parser) : NULL;
    if (!schema) fail_msg("tests/junit.xsd can't be read");
    xmlSchemaValidCtxt *context = xmlSchemaNewValidCtxt(schema);
    if (quiet) xmlSchemaSetValidErrors(context, fx_silent, fx_silent, NULL);
    const int errors = xmlSchemaValidateDoc(context, doc);
    xmlSchemaFreeValidCtxt(context);
    xmlSchemaFree(schema);
    xmlSchemaFreeParserCtxt(parser);
    return errors;
}
