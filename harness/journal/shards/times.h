/* SPDX-License-Identifier: Apache-2.0 */
/** @file times.h How long cases will take, by what an earlier run measured. */
#ifndef NNV_JOURNAL_TIMES_H
#define NNV_JOURNAL_TIMES_H

#include <stdbool.h>

#include "harness/journal/case.h"

struct nnv_times;

/** Reads the run in the folder. NNV_INVALID where nothing ran in it. *times ends with nnv_times_free(). */
NNV_USE_RESULT enum nnv_status nnv_times_read(const char *folder, struct nnv_times **times, struct nnv_err *err);
/**
 * Microseconds for the case: what it took (*measured), else the mean of its operation in its suite, else that of its
 * suite, else that of all that ran.
 */
double nnv_times_of(const struct nnv_times *times, const struct nnv_case *c, bool *measured);
/** NULL does nothing. */
void nnv_times_free(struct nnv_times *times);

#endif
