/* SPDX-License-Identifier: Apache-2.0 */
/** @file spec_c.h A spec as a C program that needs one header: the driver ABI's, or the NDK's. */
#ifndef NNV_DEBUG_SPEC_C_H
#define NNV_DEBUG_SPEC_C_H

#include "harness/judge/judge.h"

/** What the program calls. */
enum nnv_c_dialect {
    NNV_C_DRIVER, /**< <nnvts/driver.h>: a driver, whose path and options are its arguments */
    NNV_C_NDK     /**< <android/NeuralNetworks.h>: the library that it is linked with */
};

/** The dialect that suits this driver ("cpu", "ndk:PATH"). */
enum nnv_c_dialect nnv_c_dialect_of(const char *driver);

/**
 * Appends a C17 program that runs the spec's model on the spec's inputs, and compares each value with the bounds that
 * the profile gives: exit code 0 if all is well, 1 if not, 2 if it could not be judged. Outputs that are not judged by
 * their values one by one (random samples, choices among ties) are run and not compared. NNV_INVALID: a model that a
 * driver must refuse, or one without a golden result.
 */
NNV_USE_RESULT enum nnv_status nnv_spec_write_c(const struct nnv_spec *spec, enum nnv_precision precision,
                                                enum nnv_c_dialect dialect, struct nnv_arena *arena,
                                                struct nnv_text *out, struct nnv_err *err);

/** A dump in a further form: path.c, the C program that reproduces it. For nnv_run_options. */
enum nnv_status nnv_dump_also(const char *path, const char *driver, const struct nnv_spec *spec,
                              enum nnv_precision precision, struct nnv_arena *arena, struct nnv_err *err);

#endif
