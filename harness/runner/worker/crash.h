/* SPDX-License-Identifier: Apache-2.0 */
/** @file crash.h What a worker leaves behind when it dies of a signal: the signal and a backtrace, in its channel. */
#ifndef NNV_HARNESS_CRASH_H
#define NNV_HARNESS_CRASH_H

#include "harness/runner/worker/channel.h"

/**
 * Installs handlers, on a stack of their own, for the signals that a faulty driver dies of. They write a backtrace to
 * the channel and let the signal take its course. A further handler, for nnv_crash_probe_signal(), writes a backtrace
 * and returns: the supervisor asks a worker that hangs where it is. False when out of memory. Once a process.
 */
bool nnv_crash_install(struct nnv_channel *channel, struct nnv_hub *hub);
/** The signal that asks for a backtrace. */
int nnv_crash_probe_signal(void);

#endif
