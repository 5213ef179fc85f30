/* SPDX-License-Identifier: Apache-2.0 */
/** @file suites.h The suites that the registry joins: one a file. */
#ifndef NNV_SUITES_SUITES_H
#define NNV_SUITES_SUITES_H

#include "harness/runner/suite.h"

#define X(name) extern const struct nnv_suite nnv_suite_##name;
#include "harness/suites/suites.def"
#undef X

#endif
