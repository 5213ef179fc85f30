/* SPDX-License-Identifier: Apache-2.0 */
/** @file coverage.h What the workers of a run have reached of the driver's code, and the file that says so. */
#ifndef NNV_COVERAGE_COVERAGE_H
#define NNV_COVERAGE_COVERAGE_H

#include <stddef.h>

#include "base/status.h"
#include "harness/runner/coverage/counters.h"

/** The sum over workers. Zero-initialise. */
struct nnv_coverage {
    struct nnv_coverage_sum *module; /**< count of them: shared objects */
    size_t count;
    uint64_t edges, reached; /**< of all of them */
    char *gcov;              /**< folder for the counts of a driver that was built with gcov; NULL: it was not */
};

/**
 * Before the driver runs: argument as on the command line, path of its file, edges that a probe found; out: folder of
 * the run. NNV_INVALID, with how to build it, where the driver does not count.
 */
NNV_USE_RESULT enum nnv_status nnv_coverage_begin(struct nnv_coverage *c, const char *argument, const char *path,
                                                  uint32_t edges, const char *out, struct nnv_err *err);
/** Adds what a worker told, which is copied; what cannot be is left out. */
NNV_USE_RESULT enum nnv_status nnv_coverage_add(struct nnv_coverage *c, const struct nnv_coverage_told *told,
                                                struct nnv_err *err);
/** Writes NNV_COVERAGE_FILE into the folder: edges and lines, by file of the source as far as addr2line knows it. */
NNV_USE_RESULT enum nnv_status nnv_coverage_write(const struct nnv_coverage *c, const char *folder,
                                                  struct nnv_err *err);
void nnv_coverage_free(struct nnv_coverage *c);

#endif
