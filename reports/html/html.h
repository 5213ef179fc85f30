/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file html.h The parts of report.html. The page is HTML and well-formed XML at once, so that a strict parser can
 * check it. All text of drivers, cases and machines goes through nnv_text_add_xml.
 */
#ifndef NNV_REPORTS_HTML_H
#define NNV_REPORTS_HTML_H

#include "harness/journal/causes/bug.h"
#include "harness/journal/load.h"
#include "reports/html/page.h"
#include "reports/networks.h"
#include "reports/reached.h"
#include "reports/report.h"

enum { NNV_HTML_BUGS_MAX = 300 }; /**< bugs in the report; the cases of the others are listed only */

/** A page being written. */
struct nnv_html {
    const struct nnv_report *r;
    const struct nnv_suite_counts *suites;
    struct nnv_bugs bugs;
    struct nnv_networks networks;
    size_t further; /**< bad cases that no bug shows as its smallest */
    struct nnv_text t;
    size_t full_cases, full_bytes; /**< cases with all their details so far, and what they took */
};

/** The bugs, each with the case that shows it best. */
NNV_USE_RESULT enum nnv_status nnv_html_bugs(struct nnv_html *h, struct nnv_err *err);
/** What was expected: failures by entry, unexpected passes, stale entries; and flakes. Nothing if there is none. */
void nnv_html_expected(struct nnv_html *h);
/** True if there is such a section. */
bool nnv_html_has_expected(const struct nnv_report *r);
/** The networks that the cases are of: what of their operations is right. Nothing if they are of none. */
void nnv_html_networks(struct nnv_html *h);
/** All other failing cases: some with their details, some in a line, the rest counted. */
NNV_USE_RESULT enum nnv_status nnv_html_failures(struct nnv_html *h, struct nnv_err *err);
/** Operation by type. */
NNV_USE_RESULT enum nnv_status nnv_html_matrix(struct nnv_html *h, struct nnv_err *err);
/**
 * Below that, folded: the ranks, layouts and attributes of each operation, in the order of these numbers of them. False
 * when out of memory.
 */
bool nnv_html_uses(struct nnv_html *h, const uint32_t *op);
/** Suites, slowest cases, and what the driver says that it does not support. */
NNV_USE_RESULT enum nnv_status nnv_html_suites(struct nnv_html *h, struct nnv_err *err);
/** Clauses of NNAPI that failed, that no case could judge, and without a case; nothing if the folder does not say. */
void nnv_html_clauses(struct nnv_html *h);
/** What was reached of the driver's code, by file; nothing if the folder does not say. */
void nnv_html_reached(struct nnv_html *h);
/** What grew while cases ran for long, and what did not; nothing if no record says. */
NNV_USE_RESULT enum nnv_status nnv_html_drift(struct nnv_html *h, struct nnv_err *err);
/** True if there is such a section. */
bool nnv_html_has_drift(const struct nnv_report *r);
/** Every case of the run by its name, in few bytes. */
NNV_USE_RESULT enum nnv_status nnv_html_cases(struct nnv_html *h, struct nnv_err *err);
/** What changed since the baseline, if the folder says so: a line for the top, and the section. */
void nnv_html_baseline_line(struct nnv_html *h);
void nnv_html_baseline(struct nnv_html *h);

/** Adds the details of a case from its record: reason, replay line, comparisons with pictures, log, backtrace. */
void nnv_html_case_body(struct nnv_html *h, const struct nnv_report_case *c, const json_t *record);

/** Adds the one-letter sign of a verdict. */
void nnv_html_sign(struct nnv_text *t, enum nnvts_verdict v);
/** Adds "12 pass, 3 fail" of the verdicts that occur. */
void nnv_html_counts(struct nnv_text *t, const size_t *verdicts);
/** The verdict that stands for a group of cases: the worst of them, and pass before unsupported. */
enum nnvts_verdict nnv_html_worst(const size_t *verdicts);
/** How operations and types are called where they have no name. */
const char *nnv_html_name(const char *s);

#endif
