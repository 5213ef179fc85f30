/* SPDX-License-Identifier: Apache-2.0 */
/** @file priority.h Which cases to run first when there is not time for all. */
#ifndef NNV_HARNESS_PRIORITY_H
#define NNV_HARNESS_PRIORITY_H

#include "harness/runner/suite.h"

/**
 * Orders the cases by how likely they are to find a bug, for the time that they take: operations in which planted bugs
 * were found (priority.def, from the audit) come early, and of each suite, operation, type and group of cases first
 * one, then a second. The same list always gives the same order. NNV_NO_MEMORY.
 */
NNV_USE_RESULT enum nnv_status nnv_priority_order(struct nnv_case *cases, size_t count, struct nnv_err *err);

#endif
