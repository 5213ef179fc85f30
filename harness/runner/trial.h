/* SPDX-License-Identifier: Apache-2.0 */
/** @file trial.h Runs a dump again as `nnvts replay` would, so that a replay line is known to reproduce its failure. */
#ifndef NNV_HARNESS_TRIAL_H
#define NNV_HARNESS_TRIAL_H

#include "harness/runner/process.h"
#include "harness/runner/suite.h"
#include "nnvts/result.h"

/**
 * Starts a process that runs the dump (a path) on the run's driver, opened afresh in a worker of its own, with the
 * deadline of a case; nothing of what is printed is kept. Returns its pid, -1 if there can be none. When it has ended,
 * nnv_trial_verdict() knows how.
 */
pid_t nnv_trial_start(const struct nnv_run_config *config, const char *dump);
/** The verdict of a trial that has ended; NOTRUN: the driver could not be opened, or nnvts itself failed. */
enum nnvts_verdict nnv_trial_verdict(const struct nnv_end *end);
/** Ends a trial and its worker at once, and reaps it. */
void nnv_trial_stop(pid_t pid);
/** How long a trial may take at most, with all that it does about a driver that hangs when it is opened. */
uint64_t nnv_trial_limit(const struct nnv_run_config *config);

#endif
