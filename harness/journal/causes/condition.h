/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file condition.h The conditions under which cases fail, as they are told: "only where stride is 2x2 and channels >=
 * 228 (not at 127) (57 of 60 such cases fail); in elements where input > 5".
 */
#ifndef NNV_JOURNAL_CAUSES_CONDITION_H
#define NNV_JOURNAL_CAUSES_CONDITION_H

#include <stdbool.h>
#include <stddef.h>

/** True if it is one of cases: "in all 12 cases" is none, nor is "in elements where input > 5". where may be NULL. */
bool nnv_condition_is(const char *where);
/**
 * The part of a condition behind `part`, the first one if that is NULL: "stride is 2x2", then "channels >= 228"; of
 * what is no "only where" all of it, without numbers of cases. *length of it. NULL: no more.
 */
const char *nnv_condition_part(const char *where, const char *part, size_t *length);
/** "in elements where input > 5" of a condition, without numbers of elements. NULL: it says nothing of elements. */
const char *nnv_condition_elements(const char *where, size_t *length);
/** True if it is one of its parts, or what it says of elements. */
bool nnv_condition_has(const char *where, const char *part, size_t length);

#endif
