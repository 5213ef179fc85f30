/* SPDX-License-Identifier: Apache-2.0 */
/** @file memory_desc.h A memory descriptor. */
#ifndef NNV_RUNTIME_MEMORY_DESC_H
#define NNV_RUNTIME_MEMORY_DESC_H

#include "reference/model/model.h"
#include "reference/runtime/api/memory.h"

struct ANeuralNetworksMemoryDesc {
    bool finished;
    uint32_t role_count;
    struct nnv_rt_role *roles;
    float *frequencies;
    uint32_t rank; /**< 0: unknown, or a scalar's */
    uint32_t dims[NNV_MAX_RANK];
};

#endif
