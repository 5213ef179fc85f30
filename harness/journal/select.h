/* SPDX-License-Identifier: Apache-2.0 */
/** @file select.h The language that selects cases. */
#ifndef NNV_JOURNAL_SELECT_H
#define NNV_JOURNAL_SELECT_H

#include <stdbool.h>

#include "base/text.h"
#include "harness/journal/case.h"

/**
 * True if s matches the glob of n bytes: * any characters ('/' too), ? one, [a-z] one of, [!a-z] none of, \ takes the
 * next one as it is. Takes time proportional to the product of the lengths.
 */
bool nnv_glob(const char *glob, size_t n, const char *s);
/** Is shown a name; true ends the search. */
typedef bool nnv_select_see(void *context, const char *name);
/** Calls see for the names of all operations and of all suites, as asked, until it returns true. */
typedef bool nnv_select_names(bool operations, bool suites, nnv_select_see *see, void *context);

/**
 * Keeps the cases that the expression selects: globs over names ('ops/CONV_2D/' then '*'; * crosses slashes, ? is one
 * character, [a-z] one of, \ takes the next character as it is), and terms op:NAME, type:TAG, suite:NAME, tag:TAG,
 * name:GLOB, level:N, level<=N (also < > >=), combined with & | ! and parentheses. The values are globs, too; a type
 * may be the beginning of several (quant8). ~REGEX, in place of any glob, is a regular expression that is to be found
 * in the name or value (base/regex.h). A word without '/', ':' or '*' is a tag, an operation, a type or a suite.
 * NULL keeps all. NNV_INVALID shows the column of a syntax error. An unknown operation, type or suite is NNV_INVALID
 * with the nearest known one; names: NULL: it selects nothing, and is no error. An empty selection is no error here.
 */
NNV_USE_RESULT enum nnv_status nnv_select_keep(struct nnv_case_list *list, const char *expression,
                                               nnv_select_names *names, struct nnv_err *err);
/**
 * Calls see for the number of each case of the list that the expression selects (see nnv_select_keep()). see may be
 * NULL: only checks.
 */
NNV_USE_RESULT enum nnv_status nnv_select_each(const struct nnv_case_list *list, const char *expression,
                                               nnv_select_names *names, void (*see)(void *context, size_t i),
                                               void *context, struct nnv_err *err);
/** Appends an expression that selects the case of this name and no other. */
void nnv_select_exactly(const char *name, struct nnv_text *out);

#endif
