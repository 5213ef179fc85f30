/* SPDX-License-Identifier: Apache-2.0 */
/** @file replay.h Runs a dump again as `nnvts replay` would, so that a replay line is known to reproduce its failure.
 */
#ifndef NNV_HARNESS_REPLAY_H
#define NNV_HARNESS_REPLAY_H

#include "harness/runner/ask.h"
#include "harness/runner/suite.h"
#include "nnvts/result.h"

/** An attempt to replay a dump. Zero-initialise. */
struct nnv_replay {
    struct nnv_run_config config; /**< of the attempt */
    struct nnv_ask ask;           /**< of the attempt's process */
    uint64_t until_ns;            /**< it is stopped then */
};

/**
 * Starts a process that runs the dump (a path) on the run's driver, opened afresh in a worker of its own, with the
 * deadline of a case; nothing of what is printed is kept. False: there can be no process.
 */
NNV_USE_RESULT bool nnv_replay_start(struct nnv_replay *r, const struct nnv_run_config *config, const char *dump);
/** True if the attempt has ended, or is stopped now because it took too long. Does not wait. */
bool nnv_replay_ended(struct nnv_replay *r);
/** The verdict of an attempt that has ended; NOTRUN: the driver could not be opened, or nnvts itself failed. */
enum nnvts_verdict nnv_replay_verdict(const struct nnv_replay *r);
/** Ends the attempt and its worker at once, where it still runs, and frees it. */
void nnv_replay_stop(struct nnv_replay *r);

#endif
