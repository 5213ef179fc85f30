/* SPDX-License-Identifier: Apache-2.0 */
/** @file qos.h The ways to execute a prepared model, with deadlines. */
#ifndef NNV_SUITES_QOS_H
#define NNV_SUITES_QOS_H

#include "harness/suites/session.h"

enum nnv_way { NNV_WAY_SYNC, NNV_WAY_BURST, NNV_WAY_REUSABLE, NNV_WAY_ASYNC, NNV_WAY_FENCED, NNV_WAY_COUNT };
/** "sync", "burst", "reusable", "async", "fenced". */
const char *nnv_way_name(enum nnv_way way);

/** One execution in any of the ways. */
struct nnv_way_run {
    enum nnv_way way;
    struct nnvts_execution_config config;
    uint64_t duration_ns; /**< of a fenced execution; NNVTS_NO_TIME: none */
    enum nnvts_status status;
    uint64_t elapsed_ns; /**< from the call to the result */
};

/**
 * Executes on a fresh result in v and waits for the end. Writes status and elapsed_ns. False: the driver has no such
 * way (UNSUPPORTED), or its answer was not whole (FAIL). Values are not compared. The shapes of the request's outputs
 * must be known to the driver for NNV_WAY_FENCED.
 */
bool nnv_way_execute(struct nnv_session *s, struct nnvts_prepared_model *prepared, struct nnv_values *v,
                     struct nnv_way_run *run);

/** sum = first + step + step ... while the sum is below the limit: a spec whose inputs are first, limit and step. */
NNV_USE_RESULT enum nnv_status nnv_qos_loop(int32_t limit, int32_t step, struct nnv_arena *arena,
                                            struct nnv_spec **spec, struct nnv_err *err);

#endif
