/* SPDX-License-Identifier: Apache-2.0 */
/** @file pressure.h Load on the machine while a run goes on: processes that use processors or memory. */
#ifndef NNV_HARNESS_PRESSURE_H
#define NNV_HARNESS_PRESSURE_H

#include <sys/types.h>

#include "base/status.h"

enum { NNV_PRESSURE_PROCESSES = 64 };

/** Zero-initialise. */
struct nnv_pressure {
    pid_t process[NNV_PRESSURE_PROCESSES];
    int count;
};

/**
 * Starts what the comma-separated kinds say: "cpu": a process that computes for each processor; "memory": one that
 * writes again and again to a quarter of the free memory, 2 GiB at most. They end with this process. NNV_INVALID: no
 * such kind; NNV_IO: a process can't be started.
 */
NNV_USE_RESULT enum nnv_status nnv_pressure_begin(struct nnv_pressure *p, const char *kinds, struct nnv_err *err);
/** Ends them. */
void nnv_pressure_end(struct nnv_pressure *p);

#endif
