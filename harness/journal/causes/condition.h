/* SPDX-License-Identifier: Apache-2.0 */
/** @file condition.h The parts of a condition under which cases fail: its situation, or its terms. */
#ifndef NNV_JOURNAL_CAUSES_CONDITION_H
#define NNV_JOURNAL_CAUSES_CONDITION_H

#include "harness/journal/load.h"

/** Part i, from 0; NULL: it has no more. A condition that counts cases alone has none. c may be NULL. */
const char *nnv_condition_part(const struct nnv_cause_condition *c, size_t i);
/** True if it is one of its parts. c may be NULL. */
bool nnv_condition_has(const struct nnv_cause_condition *c, const char *part);

#endif
