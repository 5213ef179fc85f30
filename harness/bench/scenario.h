/* SPDX-License-Identifier: Apache-2.0 */
/** @file scenario.h Executions arriving as a scenario has it, timed one by one. */
#ifndef NNV_BENCH_SCENARIO_H
#define NNV_BENCH_SCENARIO_H

#include <stdatomic.h>

#include "harness/bench/lane.h"

/** Where timed executions go; may lie in shared memory. */
struct nnv_samples {
    _Atomic uint32_t count; /**< may pass room: what does not fit is dropped */
    uint32_t room;
    double *ns;
    uint64_t begin_ns, end_ns; /**< of all of them */
};

/** One execution of a lane: its latency in ns, or -1 with *status. */
double nnv_lane_time(struct nnv_lane *lane, uint32_t set, enum nnvts_status *status);

/** A fixed piece of work of about 20 microseconds: how long it takes now, in ns. */
double nnv_yardstick(void);

/** Runs the scenario on streams lanes until time or early stop; NONE or what a driver answered. */
enum nnvts_status nnv_scenario_run(struct nnv_lane *lanes, const struct nnv_bench_options *options,
                                   struct nnv_samples *samples, _Atomic uint32_t *part_permille);

#endif
