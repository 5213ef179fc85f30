/* SPDX-License-Identifier: Apache-2.0 */
/** @file entry.c The driver "reference": the golden executor of reference/cpu as a shared object. */
#include "reference/cpu/executor.h"

const struct nnvts_driver *nnvts_driver_get(void) { return nnv_golden_driver(); }
