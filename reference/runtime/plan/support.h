/* SPDX-License-Identifier: Apache-2.0 */
/** @file support.h Which device supports what. */
#ifndef NNV_RUNTIME_SUPPORT_H
#define NNV_RUNTIME_SUPPORT_H

#include "reference/runtime/device.h"
#include "reference/runtime/api/model/model.h"

/**
 * Fills supported, [device][operation] of a graph in run order. A device is asked about the operations of its level;
 * one that is dead, or refuses to answer, supports nothing; the CPU reference is not asked unless there is an operation
 * of an extension. OUT_OF_MEMORY. arena is only needed during the call.
 */
int nnv_rt_supported(const struct ANeuralNetworksModel *model, uint32_t graph,
                     struct ANeuralNetworksDevice *const *devices, size_t device_count, struct nnv_arena *arena,
                     bool *supported);

#endif
