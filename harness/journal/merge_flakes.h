/* SPDX-License-Identifier: Apache-2.0 */
/** @file merge_flakes.h What shards found out about their failures, made one flakes.json. */
#ifndef NNV_HARNESS_MERGE_FLAKES_H
#define NNV_HARNESS_MERGE_FLAKES_H

#include <stddef.h>

#include "base/status.h"

/** Writes flakes.json of the whole run below out, if any of the folders has one. */
NNV_USE_RESULT enum nnv_status nnv_merge_flakes(const char *const *folders, size_t count, const char *out,
                                                struct nnv_err *err);

#endif
