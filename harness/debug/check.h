/* SPDX-License-Identifier: Apache-2.0 */
/** @file check.h A command of the user's own that says whether a spec has the property that is looked for. */
#ifndef NNV_DEBUG_CHECK_H
#define NNV_DEBUG_CHECK_H

#include "harness/debug/oracle.h"

/**
 * Has the command judge a spec: "{}" in it stands for the path of the spec; without one the path is put behind it. As
 * git bisect run has it: exit code 0 is PASS, 125 UNSUPPORTED (it cannot say), all others FAIL; CRASH and TIMEOUT where
 * a signal or the time ends it. What it prints is not shown. NNV_INVALID: the shell says by 126 or 127 that it cannot
 * run the command.
 */
NNV_USE_RESULT enum nnv_status nnv_check_judge(const char *command, const struct nnv_spec *spec, uint64_t timeout_ns,
                                               struct nnv_opinion *opinion, struct nnv_err *err);

#endif
