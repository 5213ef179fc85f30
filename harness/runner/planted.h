/* SPDX-License-Identifier: Apache-2.0 */
/** @file planted.h The list of planted bugs of a driver, read in a process of its own. */
#ifndef NNV_HARNESS_PLANTED_H
#define NNV_HARNESS_PLANTED_H

#include "base/arena.h"
#include "nnvts/planted.h"

struct nnv_planted {
    struct nnvts_planted *item; /**< arena's; texts are never NULL but survives and spoils */
    size_t count;
};

/** Reads the list of the driver at path, which has timeout_ns to tell it. NNV_INVALID: it has none. */
NNV_USE_RESULT enum nnv_status nnv_planted_read(const char *path, uint64_t timeout_ns, struct nnv_arena *arena,
                                                struct nnv_planted *out, struct nnv_err *err);

#endif
