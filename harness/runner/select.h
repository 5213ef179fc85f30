/* SPDX-License-Identifier: Apache-2.0 */
/** @file select.h Parts of the selection language that others need. */
#ifndef NNV_HARNESS_SELECT_H
#define NNV_HARNESS_SELECT_H

#include "base/text.h"
#include "harness/runner/suite.h"

/**
 * True if s matches the glob of n bytes: * any characters ('/' too), ? one, [a-z] one of, [!a-z] none of, \ takes the
 * next one as it is. Takes time proportional to the product of the lengths.
 */
bool nnv_glob(const char *glob, size_t n, const char *s);
/**
 * Calls see for the number of each case of the list that the expression selects (see nnv_select). any_word: an
 * operation, type or suite that nothing has selects nothing, and is no error. see may be NULL: only checks.
 */
NNV_USE_RESULT enum nnv_status nnv_select_each(const struct nnv_case_list *list, const char *expression, bool any_word,
                                               void (*see)(void *context, size_t i), void *context,
                                               struct nnv_err *err);
/** Appends an expression that selects the case of this name and no other. */
void nnv_select_exactly(const char *name, struct nnv_text *out);

#endif
