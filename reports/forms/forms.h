/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file forms.h A run in the forms that other programs read: TAP 14, CSV, GitHub's annotations, Chrome's traces. Each
 * is written line by line as records come, whether the run goes on or ended long ago: both give the same bytes.
 */
#ifndef NNV_REPORTS_FORMS_H
#define NNV_REPORTS_FORMS_H

#include <stdio.h>

#include "harness/journal/reader.h"

enum nnv_report_form {
    NNV_FORM_TAP,    /**< Test Anything Protocol 14 */
    NNV_FORM_CSV,    /**< RFC 4180, a line a case */
    NNV_FORM_GITHUB, /**< ::error lines, one a bug */
    NNV_FORM_TRACE,  /**< Trace Event Format: workers as tracks, cases as slices */
    NNV_FORM_COUNT
};
/** "tap", "csv", "github", "trace", NULL. */
extern const char *const nnv_form_names[NNV_FORM_COUNT + 1];

/** A form being written. */
struct nnv_form_writer;

/** Ends the form and frees the writer. NNV_IO if something could not be written, NNV_NO_MEMORY. */
NNV_USE_RESULT enum nnv_status nnv_form_end(struct nnv_form_writer *w, struct nnv_err *err);

/** While a run goes on: begins a form with the first line of its journal. NULL when out of memory. */
struct nnv_form_writer *nnv_form_live(enum nnv_report_form form, FILE *to, const char *header);
/** A line of the journal, as it was written. */
void nnv_form_line(struct nnv_form_writer *w, const char *line);
/** The run is over: adds what its folder lists and has no record of, ends the form and frees the writer. */
NNV_USE_RESULT enum nnv_status nnv_form_finish(struct nnv_form_writer *w, const char *folder, struct nnv_err *err);

/** Writes the form of the run in the folder. Errors as nnv_reader_open(), nnv_reader_record() and nnv_form_end(). */
NNV_USE_RESULT enum nnv_status nnv_form_write(enum nnv_report_form form, const char *folder, FILE *to,
                                              struct nnv_err *err);

#endif
