/* SPDX-License-Identifier: Apache-2.0 */
/** @file audit.h The suites judged by planted bugs: what was found, and how it is shown. */
#ifndef NNV_REPORTS_AUDIT_H
#define NNV_REPORTS_AUDIT_H

#include <stdio.h>

#include "base/text.h"
#include "nnvts/result.h"

/** What one suite said of one driver. */
struct nnv_audit_cell {
    bool run;                   /**< the suite was run */
    enum nnvts_verdict verdict; /**< of the first case that was bad; PASS: none */
    bool nothing;               /**< no case compared anything, though on a good driver some do */
    char *first;                /**< name of the first bad case, malloc'ed, or NULL */
    size_t until;               /**< cases until then, itself included; cases run where none was bad */
    size_t bad;                 /**< bad cases: 1 where the suite was stopped at the first */
    size_t errors;              /**< cases in which nnvts itself failed: they catch nothing */
    uint64_t compared;          /**< values compared */
};

enum nnv_audit_kind { NNV_AUDIT_BUG, NNV_AUDIT_LEGAL, NNV_AUDIT_CONTROL };

/** A driver that was judged. Texts are the caller's. */
struct nnv_audit_subject {
    enum nnv_audit_kind kind;
    const char *name;     /**< of the bug, or the control's argument */
    const char *argument; /**< for --driver */
    const char *suite, *models, *fires;
    const char *survives;         /**< or NULL */
    const char *spoils;           /**< operations whose results are wrong, "*" for all, or NULL */
    struct nnv_audit_cell *cells; /**< one a suite */
    bool whole;                   /**< judged by all the suites that it was to be judged by */
};

struct nnv_audit {
    const char *driver, *tier;
    const char *const *suites;
    size_t suite_count;
    struct nnv_audit_subject *subjects;
    size_t count; /**< subjects */
    bool full;    /**< suites were not stopped at the first bad case */
    double seconds;
};

/** How it went. */
struct nnv_audit_totals {
    size_t bugs, caught, explained; /**< explained: survivors with a reason */
    size_t controls, alarms;        /**< controls and legal variants, and those that a suite complained of */
};

/** A suite found the subject bad. */
bool nnv_audit_cell_bad(const struct nnv_audit_cell *cell);
/** A suite did. */
bool nnv_audit_caught(const struct nnv_audit *a, const struct nnv_audit_subject *s);
struct nnv_audit_totals nnv_audit_count(const struct nnv_audit *a);
/** 0 if at least 95 % of the bugs are caught and no control raised an alarm, else 1. */
enum nnvts_exit nnv_audit_exit(const struct nnv_audit *a);

/** The heading of the columns, and a subject's line of the table, without newline. */
void nnv_audit_heading(const struct nnv_audit *a, struct nnv_text *t);
void nnv_audit_line(const struct nnv_audit *a, const struct nnv_audit_subject *s, struct nnv_text *t);
/** Survivors, false alarms and the closing line. */
void nnv_audit_closing(const struct nnv_audit *a, struct nnv_text *t);
/** audit.json. */
void nnv_audit_json(const struct nnv_audit *a, struct nnv_text *t);
/** audit.html: a page of its own. */
void nnv_audit_html(const struct nnv_audit *a, struct nnv_text *t);

/** One audit of one suite, by one profile. */
struct nnv_audit_profile {
    const char *name;
    struct nnv_audit audit;
};
/**
 * A section of docs/use/tolerances.md: cases until each bug is caught under each profile. The audits are of the same
 * subjects and of one suite of `cases` cases.
 */
void nnv_audit_profiles_markdown(const struct nnv_audit_profile *p, size_t count, size_t cases, struct nnv_text *t);

#endif
