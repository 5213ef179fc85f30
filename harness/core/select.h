/* SPDX-License-Identifier: Apache-2.0 */
/** @file select.h Parts of the selection language that others need. */
#ifndef NNV_HARNESS_SELECT_H
#define NNV_HARNESS_SELECT_H

#include "base/text.h"

/**
 * True if s matches the glob of n bytes: * any characters ('/' too), ? one, [a-z] one of, [!a-z] none of, \ takes the
 * next one as it is. Takes time proportional to the product of the lengths.
 */
bool nnv_glob(const char *glob, size_t n, const char *s);
/** Appends an expression that selects the case of this name and no other. */
void nnv_select_exactly(const char *name, struct nnv_text *out);

#endif
