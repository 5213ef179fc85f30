/* SPDX-License-Identifier: Apache-2.0 */
/** @file way.h The ways to execute a prepared model: one function for all of them. */
#ifndef NNV_SUITES_WAY_H
#define NNV_SUITES_WAY_H

#include "harness/suites/kit/session.h"

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
/** The same on a request whose outputs the caller has laid out and reset. */
bool nnv_way_execute_as_it_is(struct nnv_session *s, struct nnvts_prepared_model *prepared, struct nnv_values *v,
                              struct nnv_way_run *run);

#endif
