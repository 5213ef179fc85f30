/* SPDX-License-Identifier: Apache-2.0 */
/** @file audit.h The suites judged: do they catch planted bugs, and are they silent where there is none? */
#ifndef NNV_HARNESS_AUDIT_H
#define NNV_HARNESS_AUDIT_H

#include "harness/runner/suite.h"
#include "reports/audit.h"
#include "base/arena.h"
#include "nnvts/planted.h"

struct nnv_audit_options {
    const struct nnv_run_config *config; /**< but for the driver's fields */
    const struct nnv_case *cases;        /**< those of a suite together */
    size_t count;
    bool own;   /**< bugs and legal variants: only the suite that each is for, ops and device */
    bool quick; /**< bugs: the suite that each is for first, and no more suites once one has caught it */
    void *context;
    /** A subject is done. May be NULL. */
    void (*done)(void *context, const struct nnv_audit *a, const struct nnv_audit_subject *s);
};

/**
 * Runs the subjects of a, one after the other, in config->jobs worker processes, and fills their cells: controls and
 * legal variants whole, of bugs each suite until the first bad case unless a->full. The cases of a suite are run in an
 * order drawn by their names, so that neighbours, which are alike, don't come together. A control stands for what a
 * suite compares on a good driver: a suite that compares nothing of a bug has caught it; and what fails a control is
 * not run on bugs. Sets a->seconds. What is done so far is in a, also after an
 * error; after SIGINT (*interrupted) a holds the drivers that were judged, and no others.
 * nnv_audit_free() frees what it filled.
 */
NNV_USE_RESULT enum nnv_status nnv_audit_run(const struct nnv_audit_options *options, struct nnv_audit *a,
                                             bool *interrupted, struct nnv_err *err);
/** Frees the cells; subjects and suites are the caller's. */
void nnv_audit_free(struct nnv_audit *a);

struct nnv_planted {
    struct nnvts_planted *item; /**< arena's; texts are never NULL but survives and spoils */
    size_t count;
};

/** Reads the list of the driver at path, which has timeout_ns to tell it. NNV_INVALID: it has none. */
NNV_USE_RESULT enum nnv_status nnv_planted_read(const char *path, uint64_t timeout_ns, struct nnv_arena *arena,
                                                struct nnv_planted *out, struct nnv_err *err);

#endif
