/* SPDX-License-Identifier: Apache-2.0 */
/** @file suite_counts.h What the suites of a run came to. */
#ifndef NNV_REPORTS_SUITE_COUNTS_H
#define NNV_REPORTS_SUITE_COUNTS_H

#include "harness/journal/load.h"

struct nnv_suite_counts {
    size_t cases, verdicts[NNVTS_VERDICT_COUNT];
    uint64_t compared, not_compared;
    double ms; /**< sum over its cases */
};

/** One entry a suite, in the order of report->suites; malloc'ed, NULL when out of memory. */
struct nnv_suite_counts *nnv_suite_counts(const struct nnv_report *report);

#endif
