/* SPDX-License-Identifier: Apache-2.0 */
/** @file reset.h The command that brings a device back after a driver has died or hung on it. */
#ifndef NNV_HARNESS_RESET_H
#define NNV_HARNESS_RESET_H

#include "base/status.h"

/**
 * Runs the command by /bin/sh, with $NNVTS_CASE and $NNVTS_WHAT naming the case and what became of it ("CRASH",
 * "TIMEOUT", "OPEN"); what it prints goes to stderr. Waits for it, a minute at most. NNV_IO: it failed, and how.
 */
NNV_USE_RESULT enum nnv_status nnv_reset(const char *command, const char *what, const char *name, struct nnv_err *err);

#endif
