/* SPDX-License-Identifier: Apache-2.0 */
/** @file conditions.h The conditions under which a run's cases failed, as the run has written them down. */
#ifndef NNV_DEBUG_CONDITIONS_H
#define NNV_DEBUG_CONDITIONS_H

#include "harness/journal/causes/bucket.h"
#include "harness/journal/load.h"

/** The run that was asked for last. Zero-initialise. */
struct nnv_conditions {
    char *folder;
    struct nnv_report *report; /**< NULL: the folder holds no run that can be read */
    struct nnv_buckets buckets;
    uint32_t *of;
};

/**
 * The condition under which the case failed ("only where stride is 2x2") whose dump lies at path, below a run's folder.
 * NULL: none is known. It lasts until the next call.
 */
const char *nnv_condition_of(struct nnv_conditions *c, const char *path, const char *name);
void nnv_conditions_free(struct nnv_conditions *c);

#endif
