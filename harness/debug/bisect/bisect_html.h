/* SPDX-License-Identifier: Apache-2.0 */
/** @file bisect_html.h What bisect found as a page. */
#ifndef NNV_DEBUG_BISECT_HTML_H
#define NNV_DEBUG_BISECT_HTML_H

#include "base/text.h"
#include "harness/debug/bisect/bisect.h"

/** Appends an HTML page that needs nothing else: a plot of each operation's error over its budget, and a table. */
void nnv_bisect_html(const struct nnv_bisection *b, struct nnv_text *t);

#endif
