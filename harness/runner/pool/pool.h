/* SPDX-License-Identifier: Apache-2.0 */
/** @file pool.h The supervisor's heart: keeps workers busy, and knows of each case how it ended. */
#ifndef NNV_HARNESS_POOL_H
#define NNV_HARNESS_POOL_H

#include "harness/journal/record.h"
#include "harness/runner/pool/running.h"
#include "harness/runner/suite.h"

struct nnv_pool_options {
    const struct nnv_run_config *config;
    const struct nnv_case *cases;
    size_t count;
    const bool *skip; /**< count entries: cases that are not to be run; may be NULL */
    const uint32_t
        *order; /**< count entries: the indices of the cases in the order in which they begin; NULL: as listed */
    const bool *watched;         /**< count entries: see nnv_leaks_choose(); NULL: none is watched */
    const unsigned char *last;   /**< count entries: see nnv_agenda_begin(); may be NULL */
    struct nnv_running *running; /**< where the cases that run are noted; may be NULL */
    uint32_t workers;            /**< numbers that are taken already: those of the run that is resumed */
    void *context;
    /** A case has ended; each case once. An error ends the run. */
    enum nnv_status (*ended)(void *context, const struct nnv_ended *e, struct nnv_err *err);
    /** Called between rounds of work, at least every 50 ms. An error ends the run. May be NULL. */
    enum nnv_status (*idle)(void *context, struct nnv_err *err);
    /** Asked before cases run that measure time: true while something of the caller's runs beside the workers, which
     * idle goes on with. May be NULL: nothing does. */
    bool (*busy)(void *context);
    /** Asked when a worker could not open the driver: true if somebody else has it open, which is no reason to give up.
     * May be NULL: nobody. */
    bool (*opened)(void *context);
    /** Something that the user should know, one line. May be NULL. */
    void (*note)(void *context, const char *text);
};

/**
 * Runs the cases that are not to be skipped in workers. What happens to a worker decides the verdict of the case in
 * progress and of no other: CRASH, TIMEOUT. A worker that dies while nnvts itself was at work (building, comparing)
 * may have been damaged by an earlier case, and one that is killed by SIGKILL by somebody else: the case is run again,
 * in a fresh worker. A driver that writes over what the workers share is found by running alone each case that was in
 * progress. SIGINT, SIGTERM, SIGHUP: no
 * case begins any more, running ones have two seconds to end; *interrupted is set. A driver that can't be opened
 * three times in a row ends the run, and so do workers that end again and again without taking a case: what is left is
 * NOTRUN where the driver did work before, else ERROR.
 */
NNV_USE_RESULT enum nnv_status nnv_pool_run(const struct nnv_pool_options *options, bool *interrupted,
                                            struct nnv_err *err);

#endif
