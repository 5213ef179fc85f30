/* SPDX-License-Identifier: Apache-2.0 */
/** @file reach.h Tests that cannot fail: does some fault of its operation make a case fail? */
#ifndef NNV_DEBUG_REACH_H
#define NNV_DEBUG_REACH_H

#include "harness/runner/suite.h"

/** The cases of the suites `ops` and `spec` among those asked for. */
struct nnv_reach {
    size_t cases;      /**< with values that faults were tried on */
    size_t other;      /**< that are judged without values: models to refuse, outputs without elements */
    size_t count;      /**< cases that no fault reaches */
    const char **item; /**< their names */
    size_t shown;      /**< cases of `spec` that a fault reaches */
    struct nnv_reached {
        const char *name, *fault;
    } * by; /**< which */
    double seconds;
};

/**
 * Plants the faults of the catalogue that can happen to the spec's first operation, one after the other, into the
 * golden answer, until the judge says that it is wrong. *fault: the name of that fault, or NULL. No driver runs.
 */
NNV_USE_RESULT enum nnv_status nnv_reach_spec(const struct nnv_spec *spec, enum nnv_precision precision,
                                              struct nnv_arena *arena, const char **fault, struct nnv_err *err);
/** The same for a case. *values: false if it is judged without values; then nothing is tried. */
NNV_USE_RESULT enum nnv_status nnv_reach_case(const struct nnv_run_config *config, const struct nnv_case *c,
                                              struct nnv_arena *arena, const char **fault, bool *values,
                                              struct nnv_err *err);
/** All cases of the suites `ops` and `spec` of a list; item and by are arena's. */
NNV_USE_RESULT enum nnv_status nnv_reach_of(const struct nnv_run_config *config, const struct nnv_case *cases,
                                            size_t count, struct nnv_arena *arena, struct nnv_reach *reach,
                                            struct nnv_err *err);

#endif
