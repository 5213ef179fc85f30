/* SPDX-License-Identifier: Apache-2.0 */
/** @file leaks.h What cases leave behind in their worker: a case that leaves more each time that it runs leaks. */
#ifndef NNV_HARNESS_LEAKS_H
#define NNV_HARNESS_LEAKS_H

#include "harness/runner/suite.h"
#include "harness/runner/worker/resources.h"

/**
 * Which cases are watched. By config->leaks: all; none; or some: of each suite the first case of each operation, and
 * one in so many by its name. A suite with few cases is watched wholly. watched has count entries. NNV_NO_MEMORY.
 */
NNV_USE_RESULT enum nnv_status nnv_leaks_choose(const struct nnv_run_config *config, const struct nnv_case *cases,
                                                size_t count, bool *watched, struct nnv_err *err);

/** Of a worker. Zero-initialise. */
struct nnv_leaks {
    uint64_t held[NNV_HELD_KINDS];
    unsigned known; /**< leaks that the run had found when the worker began */
    unsigned found; /**< here */
    unsigned pools; /**< cases in which memory grew for long, and then no more */
};

/** A case that is watched begins. */
void nnv_leaks_begin(struct nnv_leaks *l);
/**
 * It has ended with *r. Where the process holds more than before it, and nothing else is wrong, again() runs the case
 * anew, for as long as the growth goes on: a cache or a pool grows once, or until it is full. A case that leaves more
 * behind each time ends as FAIL. again() returns false if there can be no further run. A worker that has lost much is
 * to be replaced.
 */
void nnv_leaks_end(struct nnv_leaks *l, uint64_t timeout_ns, bool (*again)(void *context), void *context,
                   struct nnv_result *r);

#endif
