/* SPDX-License-Identifier: Apache-2.0 */
/** @file vocabulary.h The operations and types that a driver supports: random graphs use only these. */
#ifndef NNV_SUITES_KIT_VOCABULARY_H
#define NNV_SUITES_KIT_VOCABULARY_H

#include "harness/runner/suite.h"

/**
 * The member `meet` of suites of random graphs: the driver is asked whether it supports small models of some uses of
 * operations, spread over all of them. If it lacks a quarter of these, it is asked for each operation and type, then
 * for all variants of those that it has, and graphs are made of what it has. A use that crashes the driver is left out;
 * one that hangs it ends the asking. said: "58 of 401 operations x types, in 214 of 1,630 variants".
 */
NNV_USE_RESULT enum nnv_status nnv_vocabulary_meet(const struct nnv_run_config *config, struct nnv_text *said,
                                                   struct nnv_err *err);

#endif
