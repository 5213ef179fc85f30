/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file patience.h How many failures a run tolerates before it stops asking the driver, about one operation or at all.
 */
#ifndef NNV_HARNESS_PATIENCE_H
#define NNV_HARNESS_PATIENCE_H

#include "base/map.h"
#include "harness/journal/case.h"
#include "harness/journal/record.h"

enum nnv_patience_end {
    NNV_PATIENCE_LEFT,
    NNV_PATIENCE_OPERATION, /**< cases of the operation hung too often in one phase */
    NNV_PATIENCE_RUN,       /**< as many cases went wrong, or hung, as the run may have */
};

/** Zero-initialise but for the limits. */
struct nnv_patience {
    uint64_t max_failures, max_timeouts; /**< 0: no limit */
    uint64_t failures, timeouts;
    struct nnv_map hangs; /**< "CONV_2D in execute" */
    unsigned char *count; /**< by the number of the name in hangs */
    size_t room;
    char reason[256]; /**< of the last end that is not LEFT */
};

/** A case has ended. After NNV_PATIENCE_OPERATION that operation should not be asked again. */
enum nnv_patience_end nnv_patience_take(struct nnv_patience *p, const struct nnv_case *c, const struct nnv_ended *e);
void nnv_patience_free(struct nnv_patience *p);

#endif
