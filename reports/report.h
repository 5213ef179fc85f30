/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file report.h Reports: pure functions of a run folder (docs/use/journal.md). They know the journal record and
 * nothing else of nnvts.
 */
#ifndef NNV_REPORTS_REPORT_H
#define NNV_REPORTS_REPORT_H

#include <stdbool.h>
#include <stdio.h>

#include "base/status.h"
#include "nnvts/result.h"

struct nnv_report;

/** Writes FOLDER/summary.json. */
NNV_USE_RESULT enum nnv_status nnv_report_summary(const struct nnv_report *report, bool interrupted,
                                                  struct nnv_err *err);
/** Writes FOLDER/junit.xml. */
NNV_USE_RESULT enum nnv_status nnv_report_junit(const struct nnv_report *report, struct nnv_err *err);
/** Writes FOLDER/report.html. */
NNV_USE_RESULT enum nnv_status nnv_report_html(const struct nnv_report *report, struct nnv_err *err);

/** Writes all three. */
NNV_USE_RESULT enum nnv_status nnv_report_write(const struct nnv_report *report, bool interrupted, struct nnv_err *err);

/* ------------------------------------------------------------------ console */

/** The lines that a person sees while a run goes on. */
struct nnv_console;

struct nnv_console_style {
    bool live;    /**< one line that is redrawn: stdout is a terminal */
    bool colour;  /**< a terminal, and NO_COLOR is not set */
    bool quiet;   /**< only the closing lines */
    bool verbose; /**< a line for every case, a block for each failure */
};

/** A console on `to`; header: the first line of the journal. Prints the opening line. NULL when out of memory. */
struct nnv_console *nnv_console_new(FILE *to, struct nnv_console_style style, const char *header, const char *folder);
/** One case has ended: its journal line (terminated, without newline). Prints the first failure for each reason at
 * once. */
void nnv_console_case(struct nnv_console *c, const char *record);
/** Called a few times a second: redraws the live line. */
void nnv_console_tick(struct nnv_console *c);
/**
 * The closing lines: a line a suite, totals, where the reports are, the causes, what to do next. seconds: of the run;
 * explaining: what finding the causes took after it, 0: not said.
 */
void nnv_console_end(struct nnv_console *c, const struct nnv_report *report, double seconds, double explaining);
void nnv_console_free(struct nnv_console *c);

/** What a suite of a run came to. */
struct nnv_suite_counts {
    size_t cases, verdicts[NNVTS_VERDICT_COUNT];
    size_t first; /**< number of its first case */
    uint64_t compared;
    double ms; /**< sum over its cases */
};

/** One entry a suite, in the order of report->suites; malloc'ed, NULL when out of memory. */
struct nnv_suite_counts *nnv_suite_counts(const struct nnv_report *report);

#endif
