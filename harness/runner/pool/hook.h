/* SPDX-License-Identifier: Apache-2.0 */
/** @file hook.h The user's commands that reset or suspend the device during a run. */
#ifndef NNV_HARNESS_HOOK_H
#define NNV_HARNESS_HOOK_H

#include "base/status.h"

/**
 * Runs the command of an option ("--reset-hook") by /bin/sh, with $NNVTS_CASE and $NNVTS_WHAT naming the case and what
 * became of it ("CRASH", "TIMEOUT", "OPEN") or is to be done ("SUSPEND"); what it prints goes to stderr. Waits for it,
 * a minute at most. NNV_IO: it failed, and how.
 */
NNV_USE_RESULT enum nnv_status nnv_hook(const char *option, const char *command, const char *what, const char *name,
                                        struct nnv_err *err);

#endif
