/* SPDX-License-Identifier: Apache-2.0 */
/** @file suites.h The suites that the registry joins: one a file. */
#ifndef NNV_SUITES_SUITES_H
#define NNV_SUITES_SUITES_H

#include "harness/core/suite.h"

extern const struct nnv_suite nnv_suite_device;
extern const struct nnv_suite nnv_suite_ops;
extern const struct nnv_suite nnv_suite_spec;

#endif
