/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file trend.h Many runs in the order of time. The trend is a JSON object (docs/use/comparing.md); console and page
 * are made of it alone.
 */
#ifndef NNV_REPORTS_TREND_H
#define NNV_REPORTS_TREND_H

#include <jansson.h>
#include <stdio.h>

#include "base/text.h"
#include "nnvts/result.h"

/**
 * Reads the runs in the folders, each line by line, and puts them in order of when they started. *trend is a new
 * reference. NNV_INVALID: a folder is none of a run.
 */
NNV_USE_RESULT enum nnv_status nnv_trend(const char *const *folders, size_t count, json_t **trend, struct nnv_err *err);
/** Prints a line a run, the operations that failed, and those whose errors came nearer to their bounds than ever. */
void nnv_trend_print(const json_t *trend, FILE *to);
/** Writes the page. */
NNV_USE_RESULT enum nnv_status nnv_trend_html(const json_t *trend, const char *path, struct nnv_err *err);

/** A line of a plot. */
struct nnv_plot_series {
    const char *name, *colour; /**< colour: a variable of the style sheet, "--link" */
    const double *y;           /**< NaN: no point */
    bool dashed;
    const char *point; /**< what a point is of, by number; NULL: "run" */
};
/**
 * Adds an SVG with lines over n runs, from 0 upwards, and a legend. unit stands behind the numbers of the axis; limit:
 * a value that is marked by a line, NaN: none. x: what stands below the first and the last run.
 */
void nnv_plot_lines(struct nnv_text *t, const char *title, const struct nnv_plot_series *series, size_t count, size_t n,
                    const char *unit, double limit, const char *first, const char *last);
/** Adds an SVG with a bar for each of n runs, stacked of parts of these colours; names are for the legend. */
void nnv_plot_bars(struct nnv_text *t, const char *title, const struct nnv_plot_series *parts, size_t count, size_t n,
                   const char *first, const char *last);
/** Rules for the plots. */
extern const char *const nnv_plot_css;

#endif
