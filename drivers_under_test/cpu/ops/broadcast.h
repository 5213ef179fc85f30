/* SPDX-License-Identifier: Apache-2.0 */
/** @file broadcast.h Elementwise operations on inputs 0 and 1, which are broadcast to one shape of any rank. */
#ifndef CPU_BROADCAST_H
#define CPU_BROADCAST_H

#include "driver/op.h"

/** The shape that inputs 0 and 1 are broadcast to; an infer of a record. */
bool cpu_broadcast_infer(struct cpu_call *c);

/**
 * Computes n neighbouring values of y. A step is 1, or 0 for one value that stands for the whole row. The arrays don't
 * overlap.
 */
typedef void (*cpu_row_fn)(const void *arg, size_t n, const void *a, size_t a_step, const void *b, size_t b_step,
                           void *y);

/**
 * Output 0 from inputs 0 and 1, row by row, on all threads; value_ns: what a value costs on one. False: one is
 * absent.
 */
bool cpu_broadcast_run(const struct cpu_call *c, double value_ns, cpu_row_fn row, const void *arg);

#endif
