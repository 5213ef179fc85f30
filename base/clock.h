/* SPDX-License-Identifier: Apache-2.0 */
/** @file clock.h Time. */
#ifndef NNV_BASE_CLOCK_H
#define NNV_BASE_CLOCK_H

#include <stdint.h>

/** Nanoseconds of CLOCK_MONOTONIC. */
uint64_t nnv_now_ns(void);
/** The moment that nnv_now_ns() gave, as microseconds since 1970 (UTC): as the clock on the wall sees it now. */
uint64_t nnv_wall_us(uint64_t moment_ns);

#endif
