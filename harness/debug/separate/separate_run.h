/* SPDX-License-Identifier: Apache-2.0 */
/** @file separate_run.h For each cause of a run's failures the condition under which it fails. */
#ifndef NNV_DEBUG_SEPARATE_RUN_H
#define NNV_DEBUG_SEPARATE_RUN_H

#include "harness/debug/separate/telling.h"
#include "harness/journal/load.h"
#include "harness/runner/suite.h"
#include "reference/model/model.h"

/** The cases of a run, as they were selected: they are made again from this. */
struct nnv_run_cases {
    const struct nnv_run_config *config;
    const struct nnv_case *item;
    size_t count;
};

/** Failures that have one cause, as far as is known, and what separates them from cases that pass. */
struct nnv_separation {
    const char *op;         /**< the operation that it is about, or "" */
    bool steps;             /**< it is about the steps of executions, whatever is computed in them */
    const char *mistake;    /**< that is said to be the cause; NULL: none is */
    bool known;             /**< all is said of it: it is left as it is */
    bool alone;             /**< known: its cases pass when each runs alone */
    struct nnv_where where; /**< out: "only where stride is 2x2", the arena's */
    bool refuted;           /**< out: cases pass that the mistake would fail, and no condition tells which */
};

/** Tells whether a mistake would make a passing case fail. */
struct nnv_showing {
    bool (*shows)(void *context, const struct nnv_case *c, struct nnv_spec *spec, const char *mistake);
    void *context;
};

/**
 * A passing case is compared with failing ones if its driver had values to compute: refusing is another thing, and that
 * an extent is above 0 is no condition. The inputs of spec may be NULL.
 */
bool nnv_is_telling(const struct nnv_spec *spec);
/**
 * Compares the failing cases of each cause with the passing ones of the same suites, operations and families of types;
 * of one about steps, with those of the same suites. of[i]: the cause of case i of the report, NNV_MAP_NONE: not a
 * failing one. Causes come in the order of their weight, and get their parts of a bounded work in it.
 *
 * Where the cause is a mistake, passing cases are asked whether it would show in them. Where some say so, the condition
 * is what separates the failing cases from these; there must be one, or the mistake is refuted.
 */
NNV_USE_RESULT enum nnv_status nnv_separate_run(const struct nnv_report *r, const struct nnv_run_cases *cases,
                                                const uint32_t *of, struct nnv_separation *causes, uint32_t count,
                                                const struct nnv_showing *showing, struct nnv_arena *arena,
                                                struct nnv_err *err);

#endif
