/* SPDX-License-Identifier: Apache-2.0 */
/** @file report.h Run folders for the tests of reports: copies of tests/reports/ and ones made here. */
#ifndef KIT_REPORT_H
#define KIT_REPORT_H

#include <libxml/parser.h>
#include <libxml/xpath.h>

#include "base/file.h"
#include "base/text.h"
#include "harness/journal/load.h"
#include "reports/report.h"
#include "tests/kit/test.h"

/** A folder of its own; fx_remove() ends it. */
struct fx {
    char folder[64];
    struct nnv_report *report;
};

char *fx_path(const struct fx *f, const char *name);

void fx_put(const struct fx *f, const char *name, const void *data, size_t n);

char *fx_get(const struct fx *f, const char *name, size_t *n);

struct fx fx_new(void);

void fx_remove(struct fx *f);

/** Loads the folder. Fails the test if it cannot be loaded. */
void fx_load(struct fx *f);

/** A copy of tests/reports/NAME. */
struct fx fx_copy(const char *name);

/** A copy of tests/reports/NAME, loaded. */
struct fx fx_golden(const char *name);

#define FX_HEADER                                                                                                      \
    "{\"nnvts\":\"1.0.0\",\"format\":\"nnvts-journal/1\",\"driver\":{\"argument\":\"cpu\",\"name\":\"cpu\","           \
    "\"version\":\"1.0.0\",\"type\":\"CPU\",\"level\":7},\"seed\":1,\"jobs\":2,\"cases\":%d}\n"

/** A folder with that list of cases (lines) and those records (lines). */
struct fx fx_make(const char *cases, const char *records);

/** The number that an XPath expression gives for a document. */
double fx_xpath(xmlDoc *doc, const char *expression);
/** Fails unless each of the n paths leads to one node. */
void fx_once(xmlDoc *doc, const char *const *paths, size_t n);

/** A file of the folder, which must be well-formed XML. */
xmlDoc *fx_xml(const struct fx *f, const char *name);

/** How many rules of tests/junit.xsd a document breaks; quiet: without a word of them on the standard error. */
int fx_junit_errors(xmlDoc *doc, bool quiet);

/** For libxml2: its errors are not shown. */
__attribute__((format(printf, 2, 3))) void fx_silent(void *context, const char *message, ...);

#endif
