/* SPDX-License-Identifier: Apache-2.0 */
/** @file scenario.h Executions that arrive as a scenario says, each timed. */
#ifndef NNV_BENCH_SCENARIO_H
#define NNV_BENCH_SCENARIO_H

#include <stdatomic.h>

#include "harness/bench/stream.h"

/** Where timed executions go; may lie in shared memory. */
struct nnv_samples {
    _Atomic uint32_t count; /**< may pass room: what does not fit is dropped */
    uint32_t room;
    double *ns;
    uint64_t begin_ns, end_ns; /**< of all of them */
    double asked_rate;         /**< POISSON: arrivals a second */
    bool overrun;              /**< POISSON: they came faster than they could be served */
    uint32_t checked;          /**< of them, those whose answers were judged, when the clock stood */
    double error;              /**< how far these were from golden at most */
};

/** One execution of a stream: its latency in ns (stream->own_time: the driver's), or -1 if it failed. */
double nnv_bench_stream_time(struct nnv_bench_stream *stream, uint32_t set);

/** A fixed piece of work of about 20 microseconds: how long it takes now, in ns. */
double nnv_yardstick(void);

/** Reads and writes more memory than any cache holds, over as many pages as no TLB does. */
void nnv_empty_caches(void *memory, size_t bytes);

/** Runs the scenario until time or early stop; false if an execution failed, with the reason (NNV_BENCH_REASON). */
bool nnv_scenario_run(struct nnv_bench_stream *streams, const struct nnv_bench_options *options,
                      struct nnv_samples *samples, _Atomic uint32_t *part_permille, char *reason);

#endif
