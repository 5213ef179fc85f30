/* SPDX-License-Identifier: Apache-2.0 */
/** @file reached.h What a run reached of the driver's code, in words. */
#ifndef NNV_REPORTS_REACHED_H
#define NNV_REPORTS_REACHED_H

#include "harness/journal/load.h"

/**
 * Adds "812 of 1,034 edges (78.5 %), 300 of 340 lines (88.2 %), in 5 files" between before and behind; nothing where
 * the folder of the run does not say.
 */
void nnv_text_add_reached(struct nnv_text *t, const struct nnv_report *r, const char *before, const char *behind);

#endif
