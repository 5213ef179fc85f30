/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file page.h The frame of every page: one file, HTML and well-formed XML at once, nothing from outside. Only this
 * module writes <html>, the content security policy, style, script and the end; what it does to hostile text holds for
 * all pages. Text of drivers, cases and machines goes through nnv_text_add_xml.
 */
#ifndef NNV_REPORTS_PAGE_H
#define NNV_REPORTS_PAGE_H

#include "base/text.h"

struct nnv_page {
    const char *title, *kicker, *heading; /**< plain text; kicker: the small line above the heading */
    const char *css[2];                   /**< further rules, or NULL */
    const char *const *script;            /**< lines, the last NULL; such a page may show data: images, too */
    char verdict;                         /**< the letter that colours the heading; 0: none */
};

/** Begins the page up to its heading, within <header>; the caller goes on with facts, or </header> and <main>. */
void nnv_page_begin(struct nnv_text *t, const struct nnv_page *p);
/** Begins a table that may be wider than the page: a heading a column, those that begin with # over numbers; NULL ends.
 */
void nnv_page_table(struct nnv_text *t, const char *const *heads);
void nnv_page_table_end(struct nnv_text *t);
/** Adds s escaped, at most max bytes of it, and says so if it was longer. */
void nnv_html_cut(struct nnv_text *t, const char *s, size_t max);
/** Adds before, s escaped, and after, both HTML. */
void nnv_page_text(struct nnv_text *t, const char *before, const char *s, const char *after);
/** Adds before, s escaped and cut to max bytes, and after, both HTML. */
void nnv_page_put(struct nnv_text *t, const char *before, const char *s, size_t max, const char *after);
/** Ends <main> and the page. Marks that turn the direction of text are replaced in all of it. */
void nnv_page_end(struct nnv_text *t, const struct nnv_page *p);
/** Ends the page and writes it. NNV_IO, NNV_NO_MEMORY. */
NNV_USE_RESULT enum nnv_status nnv_page_write(struct nnv_text *t, const struct nnv_page *p, const char *path,
                                              struct nnv_err *err);

#endif
