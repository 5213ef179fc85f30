/* SPDX-License-Identifier: Apache-2.0 */
/** @file entry.c The symbol of the shared object; where the driver is linked in, this file is left out. */
#include "reference/runtime/device.h"

const struct nnvts_driver *nnvts_driver_get(void) { return nnv_rt_cpu_driver(); }
