/* SPDX-License-Identifier: Apache-2.0 */
/** @file time_model.h How long a driver takes for a model, on inputs that are drawn. */
#ifndef NNV_BENCH_TIME_MODEL_H
#define NNV_BENCH_TIME_MODEL_H

#include "harness/bench/measure.h"

/** What came of measuring one model. */
struct nnv_timed {
    enum nnv_bench_state state;
    char reason[NNV_BENCH_REASON]; /**< empty for DONE */
    double us, low_us, high_us;    /**< median, and where it lies at 95 % */
    double round_trip_us;          /**< of a remote driver: median of what the caller waits; else NaN */
    uint32_t samples;
    bool steady;  /**< the warm-up came to an end by itself */
    double noise; /**< of this machine: 1 where nothing else runs, and of a remote driver, whose machine is another */
};

/** How a model is measured. */
struct nnv_timing_options {
    const char *path, *options; /**< of the driver */
    bool remote;                /**< on another machine: the driver's own time counts, not the way there and back */
    uint64_t time_ns;           /**< of measuring, at most */
    uint64_t timeout_ns;        /**< of everything */
};

/**
 * Measures one execution of a valid model whose shapes are known, on inputs that are drawn (integers are 0, which is an
 * index of anything), in a process of its own: warm-up until steady, then the median. NNV_INVALID: the driver can't be
 * opened.
 */
NNV_USE_RESULT enum nnv_status nnv_time_model(const struct nnv_model *model, const struct nnv_timing_options *options,
                                              struct nnv_timed *out, struct nnv_err *err);

#endif
