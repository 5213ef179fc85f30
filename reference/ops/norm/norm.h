/* SPDX-License-Identifier: Apache-2.0 */
/** @file norm.h What L2_NORMALIZATION and LOCAL_RESPONSE_NORMALIZATION share: input id 0 and an optional axis. */
#ifndef NNV_OPS_NORM_H
#define NNV_OPS_NORM_H

#include "reference/ops/common.h"

enum { NNV_NORM_X = 0 };

/** The trailing axis, the last one where it is absent. */
#define NNV_NORM_AXIS(ID)                                                                                              \
    {                                                                                                                  \
        .id = ID, .name = "axis", .var = NNV_FIXED, .type = ANEURALNETWORKS_INT32, .flags = NNV_SCALAR, .group = 1,    \
        .level = 3, .rule = NNV_AXIS, .dflt = -1                                                                       \
    }

/** Ranks below 4 came with level 3. */
int nnv_norm_level(const struct nnv_call *c);
/** "rank1" to "rank4", "axis". */
extern const char *const nnv_norm_variants[];
/** Sets input 0 and, for "axis", the axis: all axes of all ranks from either end, one an index. */
void nnv_norm_sample(struct nnv_sample *s, int axis);

#endif
