/* SPDX-License-Identifier: Apache-2.0 */
/** @file clock.h Time. */
#ifndef NNV_BASE_CLOCK_H
#define NNV_BASE_CLOCK_H

#include <stdint.h>

/** Nanoseconds of CLOCK_MONOTONIC. */
uint64_t nnv_now_ns(void);
/** Nanoseconds of processor time of this process. */
uint64_t nnv_cpu_ns(void);

#endif
