/* SPDX-License-Identifier: Apache-2.0 */
/** @file burst.h Bursts: for each step of a plan a burst of its driver, and the temporaries of all executions. */
#ifndef NNV_RUNTIME_BURST_H
#define NNV_RUNTIME_BURST_H

#include "reference/runtime/run/run.h"

/** The driver's burst of a step; NULL: it has none, and executes without. */
struct nnvts_burst *nnv_rt_burst_at(const ANeuralNetworksBurst *burst, uint32_t graph, uint32_t step);
/** The name of a memory in bursts: above 0, the same as long as it lives, and never another's. */
int64_t nnv_rt_burst_token(const struct ANeuralNetworksMemory *memory);
/** A memory is about to be freed: the drivers forget it. */
void nnv_rt_burst_forget(const struct ANeuralNetworksMemory *memory);
/** BAD_STATE while another execution has it; until nnv_rt_burst_leave(). */
int nnv_rt_burst_enter(ANeuralNetworksBurst *burst);
void nnv_rt_burst_leave(ANeuralNetworksBurst *burst);
const ANeuralNetworksCompilation *nnv_rt_burst_compilation(const ANeuralNetworksBurst *burst);
/** Of the main graph. */
struct nnv_rt_activation *nnv_rt_burst_activation(const ANeuralNetworksBurst *burst);

#endif
