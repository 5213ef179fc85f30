/* SPDX-License-Identifier: Apache-2.0 */
/** @file pool.h The supervisor: keeps the workers busy and finds out how each case ended. */
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
    /** Asked before a case that measures time begins: true while the caller has other work running beside the workers;
     * idle() is called until it has ended. May be NULL: there is none. */
    bool (*busy)(void *context);
    /** Asked when a worker could not open the driver: true if another process has it open, so that it is worth trying
     * again. May be NULL: none has. */
    bool (*opened)(void *context);
    /** Tells the user one line. May be NULL. */
    void (*note)(void *context, const char *text);
};

/**
 * Runs the cases in workers, but for those to skip. A worker that dies or hangs decides the verdict of the case in
 * progress and of no other: CRASH or TIMEOUT. If it died while nnvts itself was at work (building, comparing), or
 * another process killed it, the case runs again in a fresh worker: an earlier case may have done the damage. If a
 * driver writes over the memory that workers share, each case in progress runs again alone.
 * After SIGINT, SIGTERM or SIGHUP no case begins, running ones get two seconds, and *interrupted is set. The run ends
 * if the driver cannot be opened three times in a row, or if workers keep ending without taking a case; the cases left
 * are NOTRUN if the driver worked before, else ERROR.
 */
NNV_USE_RESULT enum nnv_status nnv_pool_run(const struct nnv_pool_options *options, bool *interrupted,
                                            struct nnv_err *err);

#endif
