/* SPDX-License-Identifier: Apache-2.0 */
/** @file executor.h The golden executor: the driver "reference", and the CPU device of the runtime. */
#ifndef NNV_REFERENCE_EXECUTOR_H
#define NNV_REFERENCE_EXECUTOR_H

#include "nnvts/driver.h"

/** The golden kernels behind the driver ABI; static, never NULL. */
const struct nnvts_driver *nnv_golden_driver(void);
/**
 * The same as the CPU device of NNAPI's runtime, which has checked signatures and graph of the models that it gives it:
 * rules beyond those are checked by an execution, GENERAL_FAILURE, and only of operations that it comes to.
 */
const struct nnvts_driver *nnv_runtime_cpu(void);

#endif
