/* SPDX-License-Identifier: Apache-2.0 */
/** @file cpu.h The driver cpu, for drivers that stand over it. */
#ifndef COMMON_CPU_H
#define COMMON_CPU_H

#include "nnvts/driver.h"

/** Opens cpu from the folder that this driver lies in. A static string says why it can't; NULL: *out is open. */
const char *common_open_cpu(const char *options, struct nnvts_device **out);

#endif
