/* SPDX-License-Identifier: Apache-2.0 */
/** @file cache.h Preparing one step, from the compilation cache where it is there. */
#ifndef NNV_RUNTIME_CACHE_H
#define NNV_RUNTIME_CACHE_H

#include "reference/runtime/plan/plan.h"

/**
 * The token under which a step is kept: SHA-256 of the application's token, the device's name and version, preference,
 * priority and attributes; and for a step of a plan that is not simple, the graph and the operations of the step.
 */
void nnv_rt_cache_token(const struct nnv_rt_plan *plan, uint32_t graph, const struct nnv_rt_step *step,
                        const struct nnv_rt_prepare_options *options, uint8_t token[static NNVTS_CACHE_TOKEN_BYTES]);
/**
 * Prepares a step: by prepare_from_cache where the files are there and fit; else by prepare_model, which is given the
 * files to fill, or none where they cannot be had. Writes step->prepared; else the driver's result.
 */
int nnv_rt_prepare_step(const struct nnv_rt_plan *plan, uint32_t graph, struct nnv_rt_step *step,
                        const struct nnv_rt_prepare_options *options);

#endif
