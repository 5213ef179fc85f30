/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file gcov.h What is reached of a driver that was built with --coverage of gcc: processes that had it write counts
 * when they end in order, and gcov makes lines of them.
 */
#ifndef NNV_COVERAGE_GCOV_H
#define NNV_COVERAGE_GCOV_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"

/** The file names others for counts: it was so built. */
bool nnv_gcov_counts(const char *driver_path);
/** A folder for the counts of this run, below `out`: what an earlier one left there is removed. */
NNV_USE_RESULT enum nnv_status nnv_gcov_begin(const char *out, char **folder, struct nnv_err *err);
/** Counts of this process go to the folder. */
void nnv_gcov_write_to(const char *folder);
/**
 * Calls see for each line that has code, once or several times; false from it ends that. NNV_INVALID where gcov cannot
 * be run.
 */
NNV_USE_RESULT enum nnv_status nnv_gcov_each(const char *folder,
                                             bool (*see)(void *context, const char *file, uint32_t line, bool reached),
                                             void *context, struct nnv_err *err);

#endif
