/* SPDX-License-Identifier: Apache-2.0 */
/** @file build.h Which build of nnvts judged which build of a driver. */
#ifndef NNV_HARNESS_BUILD_H
#define NNV_HARNESS_BUILD_H

#include "harness/runner/suite.h"

/** A hash of the file that tells builds apart, 16 hexadecimal digits into buf (room 17); "" if it can't be read. */
void nnv_build_hash(const char *path, char *buf);
/** The same for a driver and what its options name, and so on: "runtime:host:cpu" is three files. */
void nnv_build_hash_driver(const struct nnv_run_config *config, char *buf);

#endif
