/* SPDX-License-Identifier: Apache-2.0 */
/** @file page.h The frame of the smaller pages, in the style of report.html: one file, no script, nothing from outside.
 */
#ifndef NNV_REPORTS_PAGE_H
#define NNV_REPORTS_PAGE_H

#include "base/text.h"
#include "nnvts/result.h"

/** Begins a page up to its heading, within <header>. css: further rules, or NULL; v: the colour of the heading. */
void nnv_page_begin(struct nnv_text *t, const char *title, const char *css, enum nnvts_verdict v, const char *kicker,
                    const char *heading);
/** Ends the page and writes it. Marks that turn the direction of text are replaced. NNV_IO, NNV_NO_MEMORY. */
NNV_USE_RESULT enum nnv_status nnv_page_write(struct nnv_text *t, const char *path, struct nnv_err *err);

#endif
