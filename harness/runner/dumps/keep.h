/* SPDX-License-Identifier: Apache-2.0 */
/** @file keep.h Passes whose answers are kept, so that they can be judged again elsewhere: a sample that the seed
 * draws. */
#ifndef NNV_HARNESS_KEEP_H
#define NNV_HARNESS_KEEP_H

#include "harness/runner/suite.h"

/** The config's keep_below for so many of the cases; *below is 0 for none. */
NNV_USE_RESULT enum nnv_status nnv_keep_bound(uint64_t seed, const struct nnv_case *cases, size_t count,
                                              uint64_t wanted, uint64_t *below, struct nnv_err *err);
/** Is the case in the sample? */
bool nnv_keeps(const struct nnv_run_config *config, const struct nnv_case *c);

#endif
