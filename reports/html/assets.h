/* SPDX-License-Identifier: Apache-2.0 */
/** @file assets.h Lines of the style sheet that all pages have, and of the script of report.html; NULL ends each. */
#ifndef NNV_REPORTS_ASSETS_H
#define NNV_REPORTS_ASSETS_H

extern const char *const nnv_html_css[];
extern const char *const nnv_html_js[];

#endif
