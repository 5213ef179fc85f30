/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file dump.h Specs of cases that went wrong, written to dumps/ by processes without a driver, one after the other,
 * while the run goes on.
 */
#ifndef NNV_HARNESS_DUMP_H
#define NNV_HARNESS_DUMP_H

#include "harness/core/pool.h"

enum { NNV_DUMPS_MAX = 2000 }; /**< of a run */

struct nnv_dumper;

struct nnv_dumper_options {
    const struct nnv_run_config *config;
    const struct nnv_case *cases;
    const char *folder; /**< of the run */
    size_t before;      /**< dumps that the run has already */
    void *context;
    /** A case is dumped, or not, as dump (relative to folder, or NULL) and remark (or NULL) say. */
    enum nnv_status (*dumped)(void *context, const struct nnv_ended *e, const char *dump, const char *remark,
                              struct nnv_err *err);
};

/** NULL when out of memory. options are copied, what they point to is borrowed. */
struct nnv_dumper *nnv_dumper_new(const struct nnv_dumper_options *options);
/** Kills what still runs. NULL is allowed. */
void nnv_dumper_free(struct nnv_dumper *d);
/**
 * Takes over a case that has ended: calls dumped at once for one that is not to be dumped (it did not go wrong, its
 * suite has no specs, or there are dumps enough), else later from nnv_dumper_step().
 */
NNV_USE_RESULT enum nnv_status nnv_dumper_take(struct nnv_dumper *d, const struct nnv_ended *e, struct nnv_err *err);
/** Goes on as far as possible without waiting. */
NNV_USE_RESULT enum nnv_status nnv_dumper_step(struct nnv_dumper *d, struct nnv_err *err);
/** Waits until nothing is left; what is left after timeout_ns is not dumped. */
NNV_USE_RESULT enum nnv_status nnv_dumper_finish(struct nnv_dumper *d, uint64_t timeout_ns, struct nnv_err *err);
/**
 * The name of a case as a file name without suffix, '/' becomes '.', into buf (room for 256): of plain characters; a
 * hash is added where anything else had to be replaced or the name was cut to 200 bytes.
 */
void nnv_dump_name(const char *name, char *buf);

#endif
